"""Dynamics of an arm estimated from its motions: no torque is measured, a control law is assumed.

The law's torque equals the arm's, which is linear in the base parameters: the combinations of an arm's
parameters that its torques depend on. They are estimated by robust least squares on filtered channels, with
their standard deviations; the static friction from the torque that held a joint at rest (Ohtsuki, §4: F_i).
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from simbench.calibration.arm_recording import ArmMotion, Feedback
from simbench.calibration.noise_filter import KNOWN, filter_channels, filter_motion, robust_least_squares
from simbench.dynamics.arm import (
    Arm,
    inverse_dynamics,
    parameter_names,
    parameter_vector,
    torque_regressor,
    with_parameters,
)
from simbench.errors import CalibrationError
from simbench.kinematics.arrays import Array
from simbench.robot.dh import Sigma

Integers = NDArray[np.int64]

# Samples that enter the least squares: filtered, their neighbours carry no new information.
MOST_SAMPLES = 6_000
_BLOCKS = 100  # Stretches of time whose residuals are taken to be independent.
_ROUNDS = 5  # Iterations for the offsets of the angles.
_LEAST = 1e-9  # Least noise and smallest change of an angle's offset, rad.
_AT_REST = 1e-6  # Speed at which a joint stands still, rad/s.
_NEAR = 1e-4  # Step of the central differences with respect to an angle, rad.
_CHANNELS = ("q", "velocity", "acceleration")
_STILL = 0.1  # Shortest time of standing still, s: a joint that only reverses stands for less.
_NOISES = 3.0  # A joint stands if its speed is below so many deviations of its noise plus `_AT_REST`.
_STATES = 200  # Random states in which the regressor is evaluated.
_DEPENDENT = 1e-9  # Rounding residual of a dependent column, as a fraction of the greatest one.


class BaseParameters:
    """The base parameters of an arm, by QR of its regressor in random states (Gautier 1991).

    Column by column from the base: a column that depends on earlier ones is grouped with them. `arm`: arm
    whose table and gravity are used; its masses are not. `names`: sums of `parameter_names`, such as
    `joint1.izz + 0.0625 joint2.m`; `columns` (b,) int: column of the regressor that each base parameter
    multiplies; `regroup` (b, p): matrix that maps an arm's full parameter vector to its base parameters.
    """

    def __init__(self, arm: Arm) -> None:
        rng, n = np.random.default_rng(0), arm.joints
        revolute = np.array([joint.sigma == Sigma.REVOLUTE for joint in arm.table.joints])
        q = rng.uniform(-1.0, 1.0, (_STATES, n)) * np.where(revolute, np.pi, 1.0)
        velocity, acceleration = rng.normal(size=(2, _STATES, n))
        names = parameter_names(arm)
        matrix = torque_regressor(arm, q, velocity, acceleration).reshape(-1, len(names))
        pivots = np.abs(np.diag(np.linalg.qr(matrix, mode="r")))
        independent = pivots > _DEPENDENT * pivots.max()
        columns = np.flatnonzero(independent)
        regroup = np.asarray(np.linalg.lstsq(matrix[:, columns], matrix, rcond=None)[0], dtype=np.float64)
        regroup[np.abs(regroup) < _DEPENDENT] = 0.0
        sums = []
        for row in regroup:
            text = ""
            for factor, name in zip(row, names, strict=True):
                if factor != 0.0:
                    size = f"{abs(factor):.4g}"
                    sign = " - " if factor < 0.0 else " + "
                    text += (
                        (sign if text or factor < 0.0 else "") + ("" if size == "1" else f"{size} ") + name
                    )
            sums.append(text.strip())
        self.names, self.columns, self.regroup = tuple(sums), columns, regroup


@dataclass(frozen=True)
class DynamicCalibration:
    """Base parameters of an arm estimated from its motions."""

    base: BaseParameters  # Definition of the base parameters.
    values: Array  # (b,): estimated base parameters, SI units; NaN where the motions do not determine one.
    # (b,): standard deviations of the estimates, from the residuals; the error of a wrong control law is not
    # included.
    deviations: Array
    residual: Array  # (n,): RMS of the unexplained torque of each joint, N·m.
    samples: int  # Number of equations used.

    @property
    def unidentifiable(self) -> tuple[str, ...]:
        """Names of the base parameters that the motions do not determine."""
        return tuple(
            name for name, value in zip(self.base.names, self.values, strict=True) if np.isnan(value)
        )


def with_motors(arm: Arm) -> Arm:
    """Give every joint of an arm a motor, so that calibration estimates the motor's inertia.

    That inertia is on the diagonal of A alone, where no link's is and where a law's k_a is: an unmodelled
    acceleration gain k_a is absorbed into this estimate. `arm`: arm whose joints may lack a motor. Returns
    the same arm with a motor inertia of 1 kg·m² where there was none.
    """
    return replace(arm, motor=np.where(arm.motor == 0.0, 1.0, arm.motor))


def calibrate_dynamics(arm: Arm, motions: Sequence[ArmMotion], law: Feedback) -> DynamicCalibration:
    """Estimate the base parameters of an arm by robust least squares on filtered motions.

    Parameters
    ----------
    arm : Arm
        Arm whose table, gravity and choice of joints with a motor are used; its masses are not.
    motions : sequence of ArmMotion
        Recorded motions.
    law : Feedback
        Control law assumed to have driven the arm: torques and parameters are proportional to its gains.

    Returns
    -------
    DynamicCalibration
        Estimates with their standard deviations.

    Raises
    ------
    CalibrationError
        If there is no motion, or one has another number of joints.
    """
    base = BaseParameters(arm)
    filtered = [filter_motion(each) for each in motions]
    seen, noise = [motion for motion, _ in filtered], np.array([left for _, left in filtered])
    rng = np.random.default_rng(0)
    other = [replace(each, q=each.q + left * rng.normal(size=each.q.shape)) for each, left in filtered]
    matrix = StackedEquations(arm, base, seen, law).matrix
    errors = StackedEquations(arm, base, other, law).matrix - matrix
    offsets, values = np.zeros_like(noise), np.zeros(len(base.names))
    for _ in range(_ROUNDS):
        moved = [replace(each, q=each.q + by) for each, by in zip(seen, offsets, strict=True)]
        rows = StackedEquations(arm, base, moved, law)
        slopes = _slopes(make_calibrated_arm(arm, base, np.nan_to_num(values)), moved, law, rows)
        solution, covariance = robust_least_squares(
            *_with_offsets(rows, errors, slopes, offsets, np.maximum(noise, _LEAST))
        )
        values, change = solution[: len(values)], solution[len(values) :].reshape(offsets.shape)
        offsets = offsets + np.nan_to_num(change)
        if np.abs(np.nan_to_num(change)).max() < _LEAST:
            break
    covariance = covariance[: len(values), : len(values)]
    matrix, torque, joints, count = rows.matrix, rows.torque, rows.joints, len(rows.torque)
    left = torque - matrix @ np.nan_to_num(values)
    residual = np.full(arm.joints, np.nan)
    for joint in np.unique(joints):
        residual[joint] = np.sqrt(np.mean(left[joints == joint] ** 2))
    deviations = np.where(np.isnan(values), np.nan, np.sqrt(np.diag(covariance)))
    return DynamicCalibration(base, values, deviations, residual, count)


class StackedEquations:
    """Regressor and torque of all motions stacked, one row for each joint that moves at a sample.

    Friction of a joint at rest is whatever holds it, so its torque carries no information. `arm`: arm whose
    table and gravity are used; `base`: columns of the regressor to keep; `motions`: recorded motions, of
    which at most `MOST_SAMPLES` evenly spaced samples are used; `law`: control law assumed to have driven the
    arm. `matrix` (m, b): columns of the regressor that the base parameters multiply; `torque` (m,): torque of
    the control law, N·m; `joints`, `times`, `motions` (m,) int: joint, sample within its motion, and motion
    of each row.
    """

    def __init__(self, arm: Arm, base: BaseParameters, motions: Sequence[ArmMotion], law: Feedback) -> None:
        if not motions:
            raise CalibrationError("calibration: no motion; allowed: at least one")
        for motion in motions:
            if motion.q.shape[1] != arm.joints:
                raise CalibrationError(
                    f"motion of {motion.q.shape[1]} joints; allowed: {arm.joints}, the arm's"
                )
        kept = _kept(motions)
        states = [(each.q[kept], each.velocity[kept], each.acceleration[kept]) for each in motions]
        matrix = np.concatenate([torque_regressor(arm, *state)[..., base.columns] for state in states])
        torque = np.concatenate([law.torque(motion)[kept] for motion in motions])
        moving = np.concatenate([np.abs(state[1]) > _AT_REST for state in states])
        self.matrix, self.torque = matrix[moving], torque[moving]
        self.times, self.joints = np.nonzero(moving)
        self.motions = np.repeat(np.arange(len(states)), [len(state[0]) for state in states])[self.times]


def _kept(motions: Sequence[ArmMotion]) -> slice:
    return slice(None, None, -(-sum(len(motion.q) for motion in motions) // MOST_SAMPLES))


def _slopes(arm: Arm, motions: Sequence[ArmMotion], law: Feedback, rows: StackedEquations) -> Array:
    """Differentiate model torque minus law torque by an offset of each joint's angle: (m, n), N·m/rad."""
    kept = _kept(motions)
    state = [np.concatenate([getattr(each, name)[kept] for each in motions]) for name in _CHANNELS]
    slopes = np.empty((len(rows.torque), arm.joints))
    for joint, step in enumerate(_NEAR * np.eye(arm.joints)):
        beyond, before = (inverse_dynamics(arm, state[0] + side * step, *state[1:]) for side in (1.0, -1.0))
        slopes[:, joint] = ((beyond - before) / (2.0 * _NEAR))[rows.times, rows.joints]
    slopes[np.arange(len(slopes)), rows.joints] += law.position
    return slopes


def _with_offsets(
    rows: StackedEquations, errors: Array, slopes: Array, offsets: Array, noise: Array
) -> tuple[Array, Array, Array, Integers, Integers]:
    """Add each motion's offset of the angles (k, n) to the unknowns, bounded by the angles' noise.

    All samples of a motion share the offset: it would not average out, and be taken for friction.
    """
    count, sure = len(rows.torque), offsets.size
    n = offsets.shape[1]
    wide = np.zeros((count + sure, rows.matrix.shape[1] + sure))
    wide[:count, : rows.matrix.shape[1]] = rows.matrix
    for joint in range(n):
        wide[np.arange(count), rows.matrix.shape[1] + rows.motions * n + joint] = slopes[:, joint]
    wide[count:, rows.matrix.shape[1] :] = np.diag(1.0 / noise.ravel())
    wrong = np.zeros_like(wide)
    wrong[:count, : rows.matrix.shape[1]] = errors
    values = np.concatenate([rows.torque, -(offsets / noise).ravel()])
    groups = np.concatenate([rows.joints, np.full(sure, KNOWN)])
    blocks = rows.times * _BLOCKS // (int(rows.times.max(initial=0)) + 1)
    return wide, wrong, values, groups, np.concatenate([blocks, _BLOCKS + np.arange(sure)])


def make_calibrated_arm(arm: Arm, base: BaseParameters, values: Array) -> Arm:
    """Return an arm with the given base parameters.

    Parameters that do not influence the torques keep the values of `arm`. `arm`: arm to start from; `base`:
    definition of the base parameters; `values` (b,): base parameters, SI units. Returns the arm with these
    dynamics.
    """
    unknown = [name for name, value in zip(base.names, values, strict=True) if np.isnan(value)]
    if unknown:
        raise CalibrationError(
            f"the arm is not fully known: {', '.join(unknown)} not determined by its motions"
        )
    full = parameter_vector(arm)
    full[base.columns] = 0.0
    full[base.columns] = values - base.regroup @ full
    return with_parameters(arm, full)


def bound_static_friction(arm: Arm, motions: Sequence[ArmMotion], law: Feedback) -> Array:
    """Find the greatest torque by which friction held each joint while it stood still.

    The static friction is at least that torque, and equals it if the joint then broke away. `arm`: calibrated
    arm, from which the torque of the links is computed; `motions`: recorded motions; `law`: control law
    assumed to have driven the arm. Returns (n,): torque of each joint, N·m; NaN for joints that never stood
    still.
    """
    held = np.full(arm.joints, np.nan)
    for motion in motions:
        clean, _ = filter_motion(motion)
        speed, noise = filter_channels(motion.velocity, motion.rate)
        still = np.abs(speed) <= _NOISES * noise + _AT_REST
        for joint in range(arm.joints):
            edges = np.flatnonzero(np.diff(np.concatenate([[False], still[:, joint], [False]]).astype(int)))
            rest = np.zeros(len(still), dtype=bool)
            for start, end in edges.reshape(-1, 2):
                rest[start:end] = end - start >= int(np.ceil(_STILL * motion.rate))
            if rest.any():
                velocity, acceleration = clean.velocity[rest].copy(), clean.acceleration[rest].copy()
                velocity[:, joint] = acceleration[:, joint] = 0.0
                needed = inverse_dynamics(arm, clean.q[rest], velocity, acceleration)[:, joint]
                friction = np.abs(law.torque(clean)[rest, joint] - needed)
                held[joint] = np.fmax(held[joint], friction.max())
    return held
