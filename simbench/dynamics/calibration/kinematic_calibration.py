"""Kinematics of an arm from joint angles and tip positions: the table's numbers, and how sure each is."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np
from scipy.optimize import approx_fprime, least_squares

from simbench.dynamics.calibration.robust_least_squares import robust_least_squares
from simbench.dynamics.calibration.smoothing import noise_of, smooth
from simbench.errors import CalibrationError
from simbench.kinematics.arrays import Array
from simbench.robot.dh.dh import DhTable, HayatiRow, table_frames

MOST_SAMPLES = 10_000
_BLOCKS = 100
_FEWEST = 20
_MILD = 2.0
"""Standard deviations from where a residual counts less: 99 % as good as least squares on normal noise."""
_NORMAL = 0.6744897501960817
_NEAR = 1e-6
"""rad, m."""
_UNLIKE = 1e-3
"""Least noise of a direction over the greatest of all: one that is exact must not drown the others."""


@dataclass(frozen=True)
class TipMotion:
    """One recorded motion of an arm's tip.

    Parameters
    ----------
    rate : float
        Hz.
    q : (T, n) array
        Joint variables, rad, or m of joints that slide.
    tip : (T, 3) array
        In the base, m.

    Raises
    ------
    CalibrationError
        If the arrays do not fit each other, hold gaps, or are shorter than 20 samples.
    """

    rate: float
    q: Array
    tip: Array

    def __post_init__(self) -> None:
        if self.q.ndim != 2 or self.tip.shape != (len(self.q), 3):
            raise CalibrationError(
                f"motion: q {self.q.shape}, tip {self.tip.shape}; allowed: (samples, joints) and (samples, 3)"
            )
        if not (np.isfinite(self.q).all() and np.isfinite(self.tip).all()):
            raise CalibrationError("motion: has gaps; allowed: a number in every sample")
        if len(self.q) < _FEWEST:
            raise CalibrationError(f"motion: {len(self.q)} samples; allowed: at least {_FEWEST}")


@dataclass(frozen=True)
class KinematicCalibration:
    """What tip positions say about an arm's table.

    Parameters
    ----------
    names : tuple of str
        `joint.number`, as asked for.
    values, deviations : (p,) array
        rad and m, and their standard deviations; NaN where the motions do not determine one.
    residual : float
        RMS distance of the filtered tip from the calibrated one, m.
    """

    names: tuple[str, ...]
    values: Array
    deviations: Array
    residual: float

    @property
    def unidentifiable(self) -> tuple[str, ...]:
        """Names of the numbers that the motions do not determine."""
        return tuple(name for name, value in zip(self.names, self.values, strict=True) if np.isnan(value))


def table_numbers(table: DhTable) -> tuple[str, ...]:
    """Name all numbers of a table, `joint.alpha` and so on; of a Hayati row d or beta, whichever is used.

    Not all of them show in a tip's position.
    """
    names = []
    for joint in table.joints:
        if isinstance(joint.row, HayatiRow):
            kinds: tuple[str, ...] = ("alpha", "beta" if joint.row.d == 0.0 else "d", "theta", "a")
        else:
            kinds = ("alpha", "a", "theta", "d")
        names += [f"{joint.name}.{kind}" for kind in kinds]
    return tuple(names)


def values_of(table: DhTable, names: Sequence[str]) -> Array:
    """Return numbers of a table (p,), rad and m, by names among `table_numbers`."""
    rows = {joint.name: joint.row for joint in table.joints}
    places = (name.rsplit(".", 1) for name in names)
    return np.array([getattr(rows[joint], kind) for joint, kind in places], dtype=float)


def with_numbers(table: DhTable, names: Sequence[str], values: Array) -> DhTable:
    """Return a table with other numbers.

    Parameters
    ----------
    table : Table
    names : sequence of str
        Among `table_numbers`.
    values : (p,) array
        rad, m.

    Raises
    ------
    CalibrationError
        If it has no such number.
    """
    allowed = table_numbers(table)
    for name in names:
        if name not in allowed:
            raise CalibrationError(f"table: no number `{name}`; allowed: {', '.join(allowed)}")
    given = dict(zip(names, np.asarray(values, dtype=float).tolist(), strict=True))
    joints = []
    for joint in table.joints:
        own = {
            name.split(".")[-1]: value
            for name, value in given.items()
            if name.rsplit(".", 1)[0] == joint.name
        }
        joints.append(replace(joint, row=replace(joint.row, **own)))
    return DhTable(tuple(joints))


def tip_position(table: DhTable, q: Array) -> Array:
    """Compute the tip (..., 3), the origin of the last row's frame, in the base, m (Ohtsuki, eq. 2)."""
    return table_frames(table, q)[table.joints[-1].name][..., :3, 3]


def tip_residuals(table: DhTable, names: Sequence[str], q: Array, tip: Array) -> Callable[[Array], Array]:
    """Make what tips (m, 3) miss, m, as a function of a table's numbers: (3 m,) of (p,)."""

    def missed(values: Array) -> Array:
        return (tip_position(with_numbers(table, names, values), q) - tip).ravel()

    return missed


def calibrate_kinematics(
    table: DhTable, names: Sequence[str], motions: Sequence[TipMotion]
) -> KinematicCalibration:
    """Find numbers of a table by robust least squares on filtered motions.

    Angles enter the tip nonlinearly: their noise would shorten the arm by exp(−σ²/2), 3 % at 15°. Filtered
    first, it does not. A direction in which a posture's angles move the tip counts by their noise as well as
    by the tip's: σ_t² E + J diag(σ_q²) Jᵀ, which is as sure as such data allow (Fuller 1987, §3.1).

    Parameters
    ----------
    table : Table
        Where the search begins, and the numbers that are known.
    names : sequence of str
        To be found: among `table_numbers`.
    motions : sequence of TipMotion

    Returns
    -------
    KinematicCalibration

    Raises
    ------
    CalibrationError
        No motion, one of other joints, or no such number.
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
        filtered, left = smooth(motion.q, motion.rate)
        angles.append(filtered[::stride])
        others.append(angles[-1] + left * rng.normal(size=angles[-1].shape))
        # Of what is slow, as the arm is, a filter leaves all noise: channels compare as they were recorded.
        noise = np.concatenate([noise_of(motion.q), noise_of(motion.tip)])
        noises.append(np.broadcast_to(noise, (len(angles[-1]), joints + 3)))
    q = np.concatenate(angles)
    tip = np.concatenate([smooth(each.tip, each.rate, together=True)[0][::stride] for each in motions])
    missed = tip_residuals(table, names, q, tip)
    start = values_of(table, names)
    plain = least_squares(missed, start, x_scale="jac", xtol=1e-15, ftol=1e-15, gtol=1e-15)
    even = _whitening(with_numbers(table, names, plain.x), q, np.concatenate(noises))
    weighed = _weighed(missed, even)
    values = least_squares(weighed, plain.x, x_scale="jac", xtol=1e-15, ftol=1e-15, gtol=1e-15).x
    scale = _MILD * float(np.median(np.abs(weighed(values)))) / _NORMAL + 1e-15
    values = least_squares(
        weighed, values, x_scale="jac", loss="huber", f_scale=scale, xtol=1e-15, ftol=1e-15, gtol=1e-15
    ).x
    rest = missed(values)
    blocks = np.repeat(np.arange(len(q)) * _BLOCKS // len(q), 3)
    slope = approx_fprime(values, weighed, 1e-7)
    elsewhere = tip_residuals(table, names, np.concatenate(others), tip)
    other = approx_fprime(values, _weighed(elsewhere, even), 1e-7)
    step, covariance = robust_least_squares(
        slope, other - slope, -weighed(values), np.zeros(len(rest), dtype=np.int64), blocks
    )
    values[np.isnan(step)] = np.nan
    deviations = np.where(np.isnan(step), np.nan, np.sqrt(np.diag(covariance)))
    return KinematicCalibration(tuple(names), values, deviations, float(np.sqrt(np.mean(rest**2) * 3.0)))


def _whitening(table: DhTable, q: Array, noise: Array) -> Array:
    """Make of each sample the matrix (m, 3, 3) that leaves its tip's directions equally sure, the least 1.

    Noise (m, n + 3) is that of angles and tip.
    """
    joints = q.shape[1]
    slope = np.stack(
        [
            (tip_position(table, q + _NEAR * way) - tip_position(table, q - _NEAR * way)) / (2.0 * _NEAR)
            for way in np.eye(joints)
        ],
        axis=-1,
    )
    moved = slope * noise[:, None, :joints]
    spread = moved @ moved.swapaxes(1, 2) + noise[:, joints:, None] ** 2 * np.eye(3)
    greatest = float(np.linalg.eigvalsh(spread).max())
    if greatest == 0.0:
        return np.broadcast_to(np.eye(3), spread.shape)
    sure = np.linalg.cholesky(spread / greatest + _UNLIKE**2 * np.eye(3))
    return np.asarray(np.linalg.inv(sure))


def _weighed(missed: Callable[[Array], Array], even: Array) -> Callable[[Array], Array]:
    return lambda values: np.einsum("tij,tj->ti", even, missed(values).reshape(-1, 3)).ravel()
