"""Collision avoidance: the smallest smooth change of a joint path that keeps clear, with held palms fixed."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType

import numpy as np
import pinocchio as pin
from numpy.typing import NDArray

from simbench.kinematics.arrays import Array
from simbench.kinematics.damped_ik import PostureBounds, solve_damped_ik
from simbench.retargeting.collision.clearance import BodyShapes
from simbench.retargeting.collision.clearance_qp import (
    Clearances,
    QpTerms,
    clearance_qp_step,
    multiply_smoothness,
    smoothness_matrix,
)
from simbench.retargeting.collision.obstacles import Obstacle
from simbench.retargeting.collision.scene import ClearanceScene, clearance_scene

_PATH_WEIGHT = 1e-6
"""Squared weight of a radian away from the path, against a missing metre of clearance."""
_SMOOTHING_TIME = 0.1
"""Time constant τ of the displacement, s: its second derivative counts τ² times as much as itself."""
_NEIGHBOURHOOD = 0.4
"""Time before and after a penetration of the margin in which the path may change, s."""
_PALM_WEIGHT = 1e4
"""Squared weight of a metre or radian of a held palm's error, against a missing metre of clearance."""
_MAX_ROUNDS, _FULL_STEP_ROUNDS = 60, 10
"""Most Gauss-Newton rounds, and how many of them take their whole step; then steps shrink as 1 / round."""
_ACTIVATION_DISTANCE = 0.01
"""Distance beyond the margin, m, within which a pair is part of the problem: a step may bring it too near."""
_STEP_FRACTION, _MAX_STEP = 0.6, 0.2
"""Fraction of a full step that is taken, and the largest, rad: nearest points go from face to face of a
shape."""
_CONVERGED, _NEARLY_CONVERGED = 1e-5, 1e-3
"""Largest step, rad, after which the iteration ends: in any case, and when just the margin is kept."""
_MARGIN_GAIN, _MAX_MARGIN_UPDATE, _MAX_EXTRA_MARGIN = 0.3, 1e-3, 0.01
"""Integral action on the margin: fraction of the deficit that a round adds to the margin aimed at, the
largest deficit that counts for it, and the most that is added in all, m."""
_SPARE_MARGIN = 5e-4
"""Distance aimed at beyond the margin, m, so that what the iteration leaves does not violate it."""
_LIMIT_INSET = 3e-4
"""Distance kept from joint limits, rad, so that a step that passes it is still inside them."""
_IK_TOLERANCE, _PALM_TOLERANCE = 1e-9, 1e-5
"""Error at which putting a palm back ends, and the most that may be left, m and rad."""


@dataclass(frozen=True)
class UpperBodyPath:
    """Path of trunk and arms with the base they are on.

    Parameters
    ----------
    time : (T,) array
        Time of each sample, s.
    joints : (T, n) array
        Positions of trunk and arms, rad.
    base : (T, 7) array
        Pose of the root link in the world frame: position, m, and quaternion.
    """

    time: Array
    joints: Array
    base: Array


@dataclass(frozen=True)
class HeldPalm:
    """When a palm is held, and how.

    Parameters
    ----------
    held : (T,) bool array
        Samples at which the palm's pose must not change.
    rotation_axis : (3,) array, optional
        Unit vector in the palm's axes about which it may rotate nevertheless.
    """

    held: NDArray[np.bool_]
    rotation_axis: Array | None = None


@dataclass(frozen=True)
class CollisionFreePath:
    """Path that keeps clear as far as it can.

    Parameters
    ----------
    joints : (T, n) array
        Positions of trunk and arms, rad.
    missing : (T,) array
        Clearance deficit: margin minus the distance of the nearest pair, m; 0 where all is clear.
    """

    joints: Array
    missing: Array


def avoid_collisions(
    shapes: BodyShapes,
    path: UpperBodyPath,
    limits: Array,
    margin: float,
    palms: Mapping[str, HeldPalm] = MappingProxyType({}),
    obstacles: Sequence[Obstacle] = (),
) -> CollisionFreePath:
    """Change a joint path where it comes too near the robot's own links or obstacles, and only there.

    With the displacement b, the distances d and the held palms' error e the penetrations of a neighbourhood
    solve

        min Σ_t ‖b_t‖² + τ⁴‖b̈_t‖² + w_d Σ_pairs max(0, margin − d(q_t + b_t))² + w_e ‖e(q_t + b_t)‖²

    inside the limits, b and its velocity 0 at both ends. Where palms are held this moves the arms in their
    null space: elbows swivel, and hands turn on round handles. Damped Gauss-Newton over all samples at once;
    then held palms are put back exactly. An end of the whole path is free.

    Parameters
    ----------
    shapes : BodyShapes
        Collision shapes of the upper body, with the pairs that can collide.
    path : UpperBodyPath
        Path with T samples, joints inside the limits.
    limits : (2, n) array
        Lower and upper joint limits, rad.
    margin : float
        Least distance of a pair, m.
    palms : {frame: HeldPalm}
        When the palm of this frame is held.
    obstacles : sequence of Obstacle
        Obstacles at rest, or with a pose at each of the T samples.

    Returns
    -------
    CollisionFreePath
        Samples that are clear, and not near one that is not, are the same as before.

    Raises
    ------
    RetargetError
        If an obstacle does not fit the robot or the path.
    """
    scene = clearance_scene(shapes, path.base, obstacles)
    missing = _find_deficits(scene, path.joints, range(len(path.time)), margin)
    joints = path.joints.copy()
    for start, end in _find_windows(path.time, missing > 0.0):
        samples = np.arange(start, end)
        smoothness = _PATH_WEIGHT * smoothness_matrix(path.time, start, end, _SMOOTHING_TIME)
        window = _Window(
            scene, samples, joints[samples], _held_palms(scene, path, samples, palms), smoothness, limits
        )
        changed = _restore_palms(window, _optimise_displacement(window, margin))
        if changed is not None:
            joints[samples] = changed
        missing[samples] = _find_deficits(scene, joints[samples], samples, margin)
    return CollisionFreePath(joints, missing)


@dataclass(frozen=True)
class _PalmPose:
    """Pose at which a palm is held, and the axis in the palm's axes about which it may rotate."""

    pose: pin.SE3
    axis: Array | None

    def rotated_like(self, pose: pin.SE3) -> pin.SE3:
        """Rotate the held pose about its axis as far as another pose is."""
        if self.axis is None:
            return self.pose
        rotation = pin.Quaternion(self.pose.rotation.T @ pose.rotation)
        angle = 2.0 * np.arctan2(self.axis @ rotation.coeffs()[:3], rotation.w)
        return self.pose * pin.SE3(pin.exp3(angle * self.axis), np.zeros(3))


@dataclass(frozen=True)
class _Window:
    """Stretch of S samples that is changed together: joints (S, n), palms held, smoothness (3, S), limits."""

    scene: ClearanceScene
    samples: NDArray[np.int64]
    joints: Array
    palms: Sequence[Mapping[int, _PalmPose]]
    smoothness: Array
    limits: Array


def _find_deficits(
    scene: ClearanceScene, joints: Array, samples: Sequence[int] | NDArray[np.int64], margin: float
) -> Array:
    """Largest clearance deficit at each sample, m."""
    return np.array(
        [
            scene.rows(int(sample), at, margin)[1].max(initial=0.0)
            for sample, at in zip(samples, joints, strict=True)
        ]
    )


def _find_windows(time: Array, near: NDArray[np.bool_]) -> list[tuple[int, int]]:
    """First sample and one past the last of each neighbourhood of samples that are too near."""
    windows: list[tuple[int, int]] = []
    for at in time[near]:
        start, end = np.searchsorted(time, (at - _NEIGHBOURHOOD, at + _NEIGHBOURHOOD)).tolist()
        if windows and start <= windows[-1][1]:
            start = windows.pop()[0]
        windows.append((start, end))
    return windows


def _held_palms(
    scene: ClearanceScene, path: UpperBodyPath, samples: NDArray[np.int64], palms: Mapping[str, HeldPalm]
) -> list[dict[int, _PalmPose]]:
    """Poses of the palms that are held at each sample, by frame id."""
    model, data = scene.workspace.model, scene.workspace.data
    poses = []
    for sample in samples:
        pin.framesForwardKinematics(model, data, np.concatenate([path.base[sample], path.joints[sample]]))
        frames = {model.getFrameId(name): palm for name, palm in palms.items() if palm.held[sample]}
        poses.append(
            {frame: _PalmPose(data.oMf[frame].copy(), palm.rotation_axis) for frame, palm in frames.items()}
        )
    return poses


def _optimise_displacement(window: _Window, margin: float) -> Array:
    """Minimise the cost of `avoid_collisions` over a window: joints (S, n), rad, palms nearly in place."""
    joints, (lower, upper) = window.joints, window.limits
    target = margin + _SPARE_MARGIN
    displacement, margins = np.zeros_like(joints), np.full(len(joints), target)
    for number in range(_MAX_ROUNDS):
        at = joints + displacement
        blocks, descent, clearances, deficits = _linearise(window, at, margins)
        step = clearance_qp_step(
            QpTerms(
                window.smoothness,
                blocks,
                descent - multiply_smoothness(window.smoothness, displacement),
                clearances,
                np.minimum(lower + _LIMIT_INSET, joints) - at,
                np.maximum(upper - _LIMIT_INSET, joints) - at,
            )
        )
        deficits += target - margins
        too_far = ((margins > target) & (deficits < -_SPARE_MARGIN)).any()
        margins = margins + _MARGIN_GAIN * deficits.clip(max=_MAX_MARGIN_UPDATE)
        margins = margins.clip(target, target + _MAX_EXTRA_MARGIN)
        fraction = _STEP_FRACTION * min(1.0, _FULL_STEP_ROUNDS / (number + 1))
        change = step * min(fraction, _MAX_STEP / max(float(np.abs(step).max()), 1e-12))
        displacement += change
        good = deficits.max() <= _SPARE_MARGIN and not too_far
        if np.abs(change).max() < (_NEARLY_CONVERGED if good else _CONVERGED):
            break
    return np.clip(joints + displacement, lower, upper)


def _restore_palms(window: _Window, joints: Array) -> Array | None:
    """Put the held palms of joints (S, n) back exactly; None if a palm would have to give way."""
    model, data = window.scene.workspace.model, window.scene.workspace.data
    lower, upper = window.limits
    for number, sample in enumerate(window.samples):
        palms = window.palms[number]
        if not palms:
            continue
        q = np.concatenate([window.scene.base[sample], joints[number]])
        pin.framesForwardKinematics(model, data, q)
        targets = {frame: palm.rotated_like(data.oMf[frame]) for frame, palm in palms.items()}
        bounds = PostureBounds(q[7:], lower, upper)
        q = solve_damped_ik(model, data, q, targets, bounds, iterations=20, tolerance=_IK_TOLERANCE)
        pin.forwardKinematics(model, data, q)
        if np.abs(_linearise_palms(model, data, palms)[1]).max() > _PALM_TOLERANCE:
            return None
        joints[number] = q[7:]
    return joints


def _linearise(window: _Window, joints: Array, margins: Array) -> tuple[Array, Array, Clearances, Array]:
    """Gauss-Newton terms of a window at joints (S, n) and margins (S,), m.

    Matrices (S, n, n) and descent directions (S, n) of the palms; clearances; deficits (S,), m.
    """
    scene = window.scene
    blocks, descent = np.empty((*joints.shape, joints.shape[1])), np.empty_like(joints)
    gradients, missing = [], []
    for number, sample in enumerate(window.samples):
        rows, short = scene.rows(int(sample), joints[number], margins[number] + _ACTIVATION_DISTANCE)
        gradients.append(rows)
        missing.append(short - _ACTIVATION_DISTANCE)
        jacobian, errors = _linearise_palms(scene.workspace.model, scene.workspace.data, window.palms[number])
        blocks[number] = _PALM_WEIGHT * jacobian.T @ jacobian
        descent[number] = _PALM_WEIGHT * errors @ jacobian
    owner = np.repeat(np.arange(len(joints)), [len(short) for short in missing])
    deficits = np.array([short.max(initial=-_ACTIVATION_DISTANCE) for short in missing])
    return blocks, descent, Clearances(owner, np.concatenate(gradients), np.concatenate(missing)), deficits


def _linearise_palms(model: pin.Model, data: pin.Data, palms: Mapping[int, _PalmPose]) -> tuple[Array, Array]:
    """Jacobian (6 k, n) and error (6 k,) of palms, m and rad in world axes, where `data` has the joints."""
    jacobian, errors = np.empty((6 * len(palms), model.nv - 6)), np.empty(6 * len(palms))
    if palms:
        pin.computeJointJacobians(model, data)
    for number, (frame, palm) in enumerate(palms.items()):
        rows = slice(6 * number, 6 * number + 6)
        pose = pin.updateFramePlacement(model, data, frame)
        target = palm.rotated_like(pose)
        axes = pin.ReferenceFrame.LOCAL_WORLD_ALIGNED
        jacobian[rows] = pin.getFrameJacobian(model, data, frame, axes)[:, 6:]
        errors[rows][:3] = target.translation - pose.translation
        errors[rows][3:] = pin.log3(target.rotation @ pose.rotation.T)
        if palm.axis is not None:
            axis = pose.rotation @ palm.axis
            jacobian[rows][3:] -= np.outer(axis, axis @ jacobian[rows][3:])
    return jacobian, errors
