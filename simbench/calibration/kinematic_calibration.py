"""Kinematics of an arm from joint angles and tip positions: the numbers of its Denavit-Hartenberg table.

`calibrate_kinematics` estimates chosen numbers, with their standard deviations; `calibrate_table` all numbers
of a robot's table that recorded positions of a point of its last link can determine.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np
from scipy.optimize import approx_fprime, least_squares

from simbench.calibration.arm_recording import TipMotion
from simbench.calibration.noise_filter import estimate_noise, filter_channels, robust_least_squares
from simbench.errors import CalibrationError
from simbench.kinematics.arrays import Array
from simbench.robot.dh import DhJoint, DhRow, DhTable, HayatiRow, Sigma, table_frames

MOST_SAMPLES = 10_000  # Samples that enter the least squares.
_BLOCKS = 100  # Stretches of time whose residuals are taken to be independent.
# Standard deviations beyond which a residual counts less: 99 % as efficient as least squares on normal noise.
_HUBER = 2.0
_NORMAL_MEDIAN = 0.6744897501960817  # Median of the absolute value of normal noise of 1.
_STEP = 1e-6  # Step of the central differences with respect to a joint position, rad or m.
# Least noise of a direction over the greatest of all: an exact direction must not outweigh the others.
_NOISE_RATIO = 1e-3
TIP = "tip"
# Random postures, and the step of the central differences in them, rad or m.
_POSTURES, _TABLE_STEP = 200, 1e-5
# Rounding residual of a dependent column of differences, as a fraction of the greatest one.
_DEPENDENT = 1e-7
# Least initial distance of the tip from the last axis, m: on it that joint's offset would have no effect.
_OFF_AXIS = 1e-3
# Allowed travel of the tip over the sum of the arm's lengths, and allowed residual over that travel.
_LARGEST_TRAVEL, _LARGEST_ERROR = 10.0, 0.03


@dataclass(frozen=True)
class KinematicCalibration:
    """Numbers of an arm's Denavit-Hartenberg table estimated from tip positions."""

    names: tuple[str, ...]  # Estimated numbers, `joint.number`, as requested.
    values: Array  # (p,): estimates, rad and m; NaN where the motions do not determine one.
    deviations: Array  # (p,): standard deviations of the estimates, rad and m; NaN likewise.
    residual: float  # RMS distance between the filtered tip and that of the calibrated arm, m.

    @property
    def unidentifiable(self) -> tuple[str, ...]:
        """Names of the numbers that the motions do not determine."""
        return tuple(name for name, value in zip(self.names, self.values, strict=True) if np.isnan(value))


def table_numbers(table: DhTable) -> tuple[str, ...]:
    """Name all numbers of a Denavit-Hartenberg table.

    Of a Hayati row d or beta is named, whichever is used. Not all numbers influence the tip's position.
    Returns `joint.alpha` and so on, in the order of the rows.
    """
    names = []
    for joint in table.joints:
        if isinstance(joint.row, HayatiRow):
            kinds: tuple[str, ...] = ("alpha", "beta" if joint.row.d == 0.0 else "d", "theta", "a")
        else:
            kinds = ("alpha", "a", "theta", "d")
        names += [f"{joint.name}.{kind}" for kind in kinds]
    return tuple(names)


def read_numbers(table: DhTable, names: Sequence[str]) -> Array:
    """Return numbers of a table by their names.

    `names`: names among `table_numbers`. Returns (p,): their values, rad and m.
    """
    rows = {joint.name: joint.row for joint in table.joints}
    keys = (name.rsplit(".", 1) for name in names)
    return np.array([getattr(rows[joint], kind) for joint, kind in keys], dtype=float)


def replace_numbers(table: DhTable, names: Sequence[str], values: Array) -> DhTable:
    """Return a copy of a table in which some numbers are replaced.

    `names`: numbers to replace, among `table_numbers`; `values` (p,): new values, rad and m. Returns the
    changed table.
    """
    allowed = table_numbers(table)
    for name in names:
        if name not in allowed:
            raise CalibrationError(f"table: no number `{name}`; allowed: {', '.join(allowed)}")
    given = dict(zip(names, np.asarray(values, dtype=float).tolist(), strict=True))
    joints = []
    for joint in table.joints:
        numbers = {
            name.split(".")[-1]: value
            for name, value in given.items()
            if name.rsplit(".", 1)[0] == joint.name
        }
        joints.append(replace(joint, row=replace(joint.row, **numbers)))
    return DhTable(tuple(joints))


def tip_position(table: DhTable, q: Array) -> Array:
    """Compute the tip's position: the origin of the last row's frame (Ohtsuki, eq. 2).

    `table`: Denavit-Hartenberg table of the arm; `q` (..., n): joint positions, rad, or m. Returns (..., 3):
    position of the tip in the base frame, m.
    """
    return table_frames(table, q)[table.joints[-1].name][..., :3, 3]


def tip_residuals(table: DhTable, names: Sequence[str], q: Array, tip: Array) -> Callable[[Array], Array]:
    """Make the function that gives the tip's error for given numbers of a table.

    `table`: Denavit-Hartenberg table of the arm; `names`: numbers that vary, among `table_numbers`; `q` (m,
    n): joint positions, rad, or m; `tip` (m, 3): measured positions of the tip in the base frame, m. Returns
    function of the numbers (p,) that returns predicted minus measured positions (3 m,), m.
    """

    def residuals(values: Array) -> Array:
        return (tip_position(replace_numbers(table, names, values), q) - tip).ravel()

    return residuals


def calibrate_kinematics(
    table: DhTable, names: Sequence[str], motions: Sequence[TipMotion]
) -> KinematicCalibration:
    """Estimate numbers of a Denavit-Hartenberg table by robust least squares on filtered motions.

    The tip is a nonlinear function of the angles: their noise would shorten the arm by exp(−σ²/2), 3 % at
    15°. Filtering them first avoids that. Each direction of the tip is weighted by the noise that the angles
    cause in it and by the tip's own, σ_t² E + J diag(σ_q²) Jᵀ, which makes the estimate as precise as such
    data allow (Fuller 1987, §3.1). `table`: initial guess, and the values of the numbers that are known;
    `names`: numbers to estimate, among `table_numbers`; `motions`: recorded motions. Returns estimates with
    their standard deviations.
    """
    if not motions:
        raise CalibrationError("calibration: no motion; allowed: at least one")
    joints = len(table.moving)
    for motion in motions:
        if motion.q.shape[1] != joints:
            raise CalibrationError(f"motion of {motion.q.shape[1]} joints; allowed: {joints}, the table's")
    stride = -(-sum(len(motion.q) for motion in motions) // MOST_SAMPLES)
    rng = np.random.default_rng(0)
    angles, others, noises = [], [], []
    for motion in motions:
        filtered, left = filter_channels(motion.q, motion.rate)
        angles.append(filtered[::stride])
        others.append(angles[-1] + left * rng.normal(size=angles[-1].shape))
        # A filter leaves all of the slow noise, at the arm's own speed: channels are compared as recorded.
        noise = np.concatenate([estimate_noise(motion.q), estimate_noise(motion.tip)])
        noises.append(np.broadcast_to(noise, (len(angles[-1]), joints + 3)))
    q = np.concatenate(angles)
    tip = np.concatenate(
        [filter_channels(each.tip, each.rate, together=True)[0][::stride] for each in motions]
    )
    residuals = tip_residuals(table, names, q, tip)
    start = read_numbers(table, names)
    plain = least_squares(residuals, start, x_scale="jac", xtol=1e-15, ftol=1e-15, gtol=1e-15)
    whitening = _whitening(replace_numbers(table, names, plain.x), q, np.concatenate(noises))
    weighted = _weighted(residuals, whitening)
    values = least_squares(weighted, plain.x, x_scale="jac", xtol=1e-15, ftol=1e-15, gtol=1e-15).x
    scale = _HUBER * float(np.median(np.abs(weighted(values)))) / _NORMAL_MEDIAN + 1e-15
    values = least_squares(
        weighted, values, x_scale="jac", loss="huber", f_scale=scale, xtol=1e-15, ftol=1e-15, gtol=1e-15
    ).x
    rest = residuals(values)
    blocks = np.repeat(np.arange(len(q)) * _BLOCKS // len(q), 3)
    slope = approx_fprime(values, weighted, 1e-7)
    elsewhere = tip_residuals(table, names, np.concatenate(others), tip)
    other = approx_fprime(values, _weighted(elsewhere, whitening), 1e-7)
    step, covariance = robust_least_squares(
        slope, other - slope, -weighted(values), np.zeros(len(rest), dtype=np.int64), blocks
    )
    values[np.isnan(step)] = np.nan
    # Rounding may make a variance of nothing negative.
    deviations = np.where(np.isnan(step), np.nan, np.sqrt(np.maximum(np.diag(covariance), 0.0)))
    return KinematicCalibration(tuple(names), values, deviations, float(np.sqrt(np.mean(rest**2) * 3.0)))


def _whitening(table: DhTable, q: Array, noise: Array) -> Array:
    """Compute the matrices (m, 3, 3) that give the tip's error equal deviations in all directions.

    Noise (m, n + 3) is that of the angles and the tip; the greatest deviation stays as it is.
    """
    joints = q.shape[1]
    slope = np.stack(
        [
            (tip_position(table, q + _STEP * unit) - tip_position(table, q - _STEP * unit)) / (2.0 * _STEP)
            for unit in np.eye(joints)
        ],
        axis=-1,
    )
    moved = slope * noise[:, None, :joints]
    spread = moved @ moved.swapaxes(1, 2) + noise[:, joints:, None] ** 2 * np.eye(3)
    greatest = float(np.linalg.eigvalsh(spread).max())
    if greatest == 0.0:
        return np.broadcast_to(np.eye(3), spread.shape)
    root = np.linalg.cholesky(spread / greatest + _NOISE_RATIO**2 * np.eye(3))
    return np.asarray(np.linalg.inv(root))


def _weighted(residuals: Callable[[Array], Array], whitening: Array) -> Callable[[Array], Array]:
    """Multiply each sample's residual by its whitening matrix."""
    return lambda values: np.einsum("tij,tj->ti", whitening, residuals(values).reshape(-1, 3)).ravel()


def calibrate_table(
    table: DhTable, motions: Sequence[TipMotion]
) -> tuple[KinematicCalibration, Array, tuple[str, ...]]:
    """Estimate a robot's Denavit-Hartenberg table from positions of a point of its last link.

    The point is an additional row `tip`: its a and d, and the last joint's theta, place it anywhere on the
    link.

    Parameters
    ----------
    table : DhTable
        A chain of joints: initial guess.
    motions : sequence of TipMotion
        Recorded joint and tip positions.

    Returns
    -------
    found : KinematicCalibration
        Estimates of all numbers that tip positions can determine.
    model : (p,) array
        The same numbers in the robot's own table, rad and m; NaN for the tip's.
    repeated : tuple of str
        Numbers that keep the model's value because they move the tip only in combination with others, such as
        all but one d of parallel axes.

    Raises
    ------
    CalibrationError
        As `calibrate_kinematics`; or the tips are in another unit than metres, or of another arm.
    """
    if not motions:
        raise CalibrationError("calibration: no motion; allowed: at least one")
    tips = np.concatenate([each.tip for each in motions])
    reach = sum(abs(joint.row.a) + abs(joint.row.d) for joint in table.joints)
    travel = float(np.ptp(tips, axis=0).max())
    if travel > _LARGEST_TRAVEL * reach > 0.0:
        raise CalibrationError(
            f"tip: moves over {travel:.3g} m, the arm's lengths add up to {reach:.3g} m (millimetres?); "
            "allowed: SI units"
        )
    # The row `tip` starts at the mean position of the tips in the frame of the table's last link.
    last = table.joints[-1]
    frames = table_frames(table, np.concatenate([each.q for each in motions]))[last.name]
    x, y, z = np.einsum("tji,tj->ti", frames[:, :3, :3], tips - frames[:, :3, 3]).mean(axis=0)
    row = replace(last.row, theta=last.row.theta + float(np.arctan2(y, x)))
    tip = DhRow(a=max(float(np.hypot(x, y)), _OFF_AXIS), d=float(z))
    start = DhTable((*table.joints[:-1], replace(last, row=row), DhJoint(TIP, last.name, tip, Sigma.FIXED)))
    shown, repeated = _split(start)
    found = calibrate_kinematics(start, shown, motions)
    if found.residual > _LARGEST_ERROR * travel:
        raise CalibrationError(
            f"tip: misses the calibrated arm by {found.residual:.3g} m, RMS, its travel is {travel:.3g} m; "
            "allowed: tips and joint positions (rad, or m) of this arm, in its order"
        )
    shared = [name for name in shown if not name.startswith(f"{TIP}.")]
    model = dict(zip(shared, read_numbers(table, shared), strict=True))
    return found, np.array([model.get(name, np.nan) for name in shown]), repeated


def _split(table: DhTable) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Split a table's numbers into those that tips determine and those that repeat them, the tip's first."""
    names = [f"{TIP}.a", f"{TIP}.d"] + [
        name for name in table_numbers(table) if not name.startswith(f"{TIP}.")
    ]
    q = np.random.default_rng(0).uniform(-np.pi, np.pi, (_POSTURES, len(table.moving)))
    values = read_numbers(table, names)

    def tip(change: Array) -> Array:
        return tip_position(replace_numbers(table, names, values + change), q).ravel()

    slopes = np.stack(
        [tip(_TABLE_STEP * unit) - tip(-_TABLE_STEP * unit) for unit in np.eye(len(names))], axis=1
    )
    pivots = np.abs(np.diag(np.linalg.qr(slopes, mode="r")))
    free = pivots > _DEPENDENT * pivots.max()
    return (
        tuple(name for name, each in zip(names, free, strict=True) if each),
        tuple(name for name, each in zip(names, free, strict=True) if not each),
    )
