"""Dynamics of an arm from what it was seen doing: no torque is measured, a control law is assumed.

The law's torque equals the arm's, which is linear in the base parameters: filtered channels, robust least
squares, and how sure each parameter is.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from simbench.dynamics.arm import Arm
from simbench.dynamics.calibration.arm_motion import ArmMotion, Feedback
from simbench.dynamics.calibration.base_parameters import BaseParameters, base_parameters
from simbench.dynamics.calibration.regressor import parameters, torque_regressor, with_parameters
from simbench.dynamics.calibration.robust_least_squares import KNOWN, robust_least_squares
from simbench.dynamics.calibration.smoothing import smoothed
from simbench.dynamics.newton_euler import inverse_dynamics
from simbench.errors import CalibrationError
from simbench.kinematics.arrays import Array

Integers = NDArray[np.int64]

MOST_SAMPLES = 6_000
"""That enter the least squares: filtered, their neighbours say nothing new."""
_BLOCKS = 100
_ROUNDS = 5
_LEAST = 1e-9
"""rad."""
_AT_REST = 1e-6
"""rad/s."""
_NEAR = 1e-4
"""rad."""
_CHANNELS = ("q", "velocity", "acceleration")


@dataclass(frozen=True)
class DynamicCalibration:
    """What an arm's motions say about its dynamics.

    Parameters
    ----------
    base : BaseParameters
    values : (b,) array
        Of the base parameters, SI units; NaN where the motions do not determine one.
    deviations : (b,) array
        Their standard deviations, by what the residuals are; a wrong law is not among it.
    residual : (n,) array
        RMS of the torque that is left over, N·m.
    samples : int
        That entered.
    """

    base: BaseParameters
    values: Array
    deviations: Array
    residual: Array
    samples: int

    @property
    def unidentifiable(self) -> tuple[str, ...]:
        """Names of the base parameters that the motions do not determine."""
        return tuple(
            name for name, value in zip(self.base.names, self.values, strict=True) if np.isnan(value)
        )


def with_drives(arm: Arm) -> Arm:
    """Return an arm each of whose joints has a motor: its inertia is then among what a calibration finds.

    It is on the diagonal of A alone, where no link's is, and where a law's k_a is: a law whose k_a nobody
    knows is found with it.
    """
    return replace(arm, motor=np.where(arm.motor == 0.0, 1.0, arm.motor))


def calibrate_dynamics(arm: Arm, motions: Sequence[ArmMotion], law: Feedback) -> DynamicCalibration:
    """Find the base parameters of an arm by robust least squares on filtered motions.

    Parameters
    ----------
    arm : Arm
        Its table and gravity, and which joints have a motor of their own; its masses are not used.
    motions : sequence of ArmMotion
    law : Feedback
        That is taken to have driven it: torques and parameters are in proportion to its gains.

    Returns
    -------
    DynamicCalibration

    Raises
    ------
    CalibrationError
        No motion, or one of an arm with other joints.
    """
    base = base_parameters(arm)
    filtered = [smoothed(each) for each in motions]
    seen, noise = [motion for motion, _ in filtered], np.array([left for _, left in filtered])
    rng = np.random.default_rng(0)
    other = [replace(each, q=each.q + left * rng.normal(size=each.q.shape)) for each, left in filtered]
    matrix = stacked(arm, base, seen, law).matrix
    errors = stacked(arm, base, other, law).matrix - matrix
    offsets, values = np.zeros_like(noise), np.zeros(len(base.names))
    for _ in range(_ROUNDS):
        moved = [replace(each, q=each.q + by) for each, by in zip(seen, offsets, strict=True)]
        rows = stacked(arm, base, moved, law)
        slopes = _slopes(calibrated_arm(arm, base, np.nan_to_num(values)), moved, law, rows)
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
    residual = np.array([_rms(left[joints == joint]) for joint in range(arm.joints)])
    deviations = np.where(np.isnan(values), np.nan, np.sqrt(np.diag(covariance)))
    return DynamicCalibration(base, values, deviations, residual, count)


@dataclass(frozen=True)
class Rows:
    """Regressor and torque of all motions below each other, without joints at rest.

    Parameters
    ----------
    matrix : (m, b) array
    torque : (m,) array
        Of the law, N·m.
    joints, times, motions : (m,) int array
        Joint, sample and motion of each row.
    """

    matrix: Array
    torque: Array
    joints: Integers
    times: Integers
    motions: Integers


def stacked(arm: Arm, base: BaseParameters, motions: Sequence[ArmMotion], law: Feedback) -> Rows:
    """Put regressor and torque of all motions below each other, without joints at rest.

    Friction of a joint at rest is whatever holds it: its torque says nothing.

    Parameters
    ----------
    arm : Arm
    base : BaseParameters
    motions : sequence of ArmMotion
        At most `MOST_SAMPLES` of their samples are taken, at even distances.
    law : Feedback

    Returns
    -------
    Rows

    Raises
    ------
    CalibrationError
        No motion, or one of an arm with other joints.
    """
    if not motions:
        raise CalibrationError("calibration: no motion; allowed: at least one")
    for motion in motions:
        if motion.q.shape[1] != arm.joints:
            raise CalibrationError(f"motion of {motion.q.shape[1]} joints; allowed: {arm.joints}, the arm's")
    kept = _kept(motions)
    states = [(each.q[kept], each.velocity[kept], each.acceleration[kept]) for each in motions]
    matrix = np.concatenate([torque_regressor(arm, *state)[..., base.columns] for state in states])
    torque = np.concatenate([law.torque(motion)[kept] for motion in motions])
    moving = np.concatenate([np.abs(state[1]) > _AT_REST for state in states])
    times, joints = np.nonzero(moving)
    which = np.repeat(np.arange(len(states)), [len(state[0]) for state in states])
    return Rows(matrix[moving], torque[moving], joints, times, which[times])


def _kept(motions: Sequence[ArmMotion]) -> slice:
    return slice(None, None, -(-sum(len(motion.q) for motion in motions) // MOST_SAMPLES))


def _slopes(arm: Arm, motions: Sequence[ArmMotion], law: Feedback, rows: Rows) -> Array:
    """Compute what an offset of each joint's angle adds to model less law (m, n), N·m/rad."""
    kept = _kept(motions)
    state = [np.concatenate([getattr(each, name)[kept] for each in motions]) for name in _CHANNELS]
    slopes = np.empty((len(rows.torque), arm.joints))
    for joint, way in enumerate(_NEAR * np.eye(arm.joints)):
        beyond, before = (inverse_dynamics(arm, state[0] + side * way, *state[1:]) for side in (1.0, -1.0))
        slopes[:, joint] = ((beyond - before) / (2.0 * _NEAR))[rows.times, rows.joints]
    slopes[np.arange(len(slopes)), rows.joints] += law.position
    return slopes


def _with_offsets(
    rows: Rows, errors: Array, slopes: Array, offsets: Array, noise: Array
) -> tuple[Array, Array, Array, Integers, Integers]:
    """Add to the unknowns by how much each motion's angles are off (k, n), which their noise bounds.

    All samples of a motion share it: it would not average out, and pass for friction.
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


def calibrated_arm(arm: Arm, base: BaseParameters, values: Array) -> Arm:
    """Return an arm with these base parameters; the others, which change nothing, are those of `arm`.

    Raises
    ------
    CalibrationError
        If one is not known.
    """
    unknown = [name for name, value in zip(base.names, values, strict=True) if np.isnan(value)]
    if unknown:
        raise CalibrationError(
            f"the arm is not known whole: {', '.join(unknown)} not determined by its motions"
        )
    full = parameters(arm)
    full[base.columns] = 0.0
    full[base.columns] = values - base.regroup @ full
    return with_parameters(arm, full)


def _rms(values: Array) -> float:
    return float(np.sqrt(np.mean(values**2))) if len(values) else float("nan")
