"""Detours: the smallest smooth change of a joint path that keeps clear, with held palms where they are."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType

import numpy as np
import pinocchio as pin
from numpy.typing import NDArray

from simbench.kinematics.damped_ik import PostureBounds, solve_damped_ik
from simbench.retargeting.collision.clearance import BodyShapes, clearance_rows, link_of
from simbench.retargeting.collision.clearance_qp import (
    Clearances,
    QpTerms,
    clearance_qp_step,
    shape_cost,
    shape_pull,
)
from simbench.retargeting.collision.obstacles import (
    Obstacle,
    add_obstacles,
    place_obstacles,
    require_obstacles,
)
from simbench.retargeting.collision.pair_distances import PairWorkspace, pair_workspace

_HOLD = 1e-6
"""What a radian away from the path costs, squared, against a missing metre."""
_SMOOTHING_TIME = 0.1
"""In which a bend comes and goes, s: a bend costs as much as its second derivative times this squared."""
_NEIGHBOURHOOD = 0.4
"""Before and after an interference, in which the path may change, s."""
_PALM_WEIGHT = 1e4
"""What a metre or radian of a held palm costs, squared, against a missing metre."""
_ROUNDS, _BOLD_ROUNDS = 60, 10
"""At most, and how many of them take their whole share of a step; then steps shrink as 1 / round."""
_FORESIGHT = 0.01
"""Beyond the margin, m, within which a pair may come too near by a step."""
_STEP_SHARE, _STEP_LIMIT = 0.6, 0.2
"""Of a full step, and rad at most: nearest points go from face to face of a shape."""
_SETTLED, _NEARLY_SETTLED = 1e-5, 1e-3
"""Largest step, rad, after which the iteration ends: in any case, and when just the margin is kept."""
_INSISTENCE, _PATIENCE, _MOST_INSISTENCE = 0.3, 1e-3, 0.01
"""Part of what is missing that a round adds to the margin asked for, of how much at most, and m in all."""
_SPARE = 5e-4
"""More than the margin, m, so that what the iteration leaves is not missing."""
_INSET = 3e-4
"""Within the limits, rad, so that what a step takes too much of them is still inside."""
_EXACT, _PALM_TOLERANCE = 1e-9, 1e-5
"""Where putting a palm back ends, and how far off it may still be, m and rad."""


@dataclass(frozen=True)
class CollisionFreePath:
    """A path that keeps clear as far as it can.

    Parameters
    ----------
    joints : (T, n) array
        Trunk and arms, rad.
    missing : (T,) array
        What the nearest pair still lacks to the margin, m; 0 where all is clear.
    """

    joints: NDArray[np.float64]
    missing: NDArray[np.float64]


def avoid_collisions(
    shapes: BodyShapes,
    time: NDArray[np.float64],
    joints: NDArray[np.float64],
    base: NDArray[np.float64],
    held: Mapping[str, NDArray[np.bool_]],
    lower: NDArray[np.float64],
    upper: NDArray[np.float64],
    margin: float,
    obstacles: Sequence[Obstacle] = (),
    turn_axes: Mapping[str, NDArray[np.float64] | None] = MappingProxyType({}),
) -> CollisionFreePath:
    """Bend a joint path where it comes too near the robot's own links or obstacles, and only there.

    With the bend b, the distances d and the held palms' error e the interferences of a neighbourhood solve

        min Σ_t ‖b_t‖² + τ⁴‖b̈_t‖² + w_d Σ_pairs max(0, margin − d(q_t + b_t))² + w_e ‖e(q_t + b_t)‖²

    inside the limits, b and its velocity 0 at both ends. Where palms are held this moves the arms in their
    null space: elbows swivel, and hands turn on round handles. Damped Gauss-Newton over all samples at once;
    then held palms are put back exactly. An end of the whole path is free.

    Parameters
    ----------
    shapes : BodyShapes
    time : (T,) array
        s.
    joints : (T, n) array
        Trunk and arms inside the limits, rad.
    base : (T, 7) array
        Pose of the root link in the world.
    held : {palm frame: (T,) bool array}
        When a palm's pose must not change.
    lower, upper : (n,) array
        rad.
    margin : float
        m.
    obstacles : sequence of Obstacle
    turn_axes : {palm frame: (3,) array or None}, optional
        Unit vector in a palm's axes about which it may turn when it is held; None, or nothing, if it may not.

    Returns
    -------
    CollisionFreePath
        Samples that are clear, and not near one that is not, are the same as before.

    Raises
    ------
    RetargetError
        If an obstacle does not fit the robot or the path.
    """
    scene = _scene(shapes, base, tuple(obstacles), len(time))
    missing = _missing(scene, joints, range(len(time)), margin)
    joints = joints.copy()
    for start, end in _windows(time, missing > 0.0):
        here = np.arange(start, end)
        holding = {frame: samples[here] for frame, samples in held.items()}
        joints[here] = _bent(scene, time, joints[here], here, holding, turn_axes, lower, upper, margin)
        missing[here] = _missing(scene, joints[here], here, margin)
    return CollisionFreePath(joints, missing)


@dataclass(frozen=True)
class _Palm:
    """Where a palm is held, and the axis in the palm's axes about which it may turn."""

    pose: pin.SE3
    axis: NDArray[np.float64] | None

    def turned(self, pose: pin.SE3) -> pin.SE3:
        """Where it is held, turned about its axis as far as a pose is."""
        if self.axis is None:
            return self.pose
        turn = pin.Quaternion(self.pose.rotation.T @ pose.rotation)
        angle = 2.0 * np.arctan2(self.axis @ turn.coeffs()[:3], turn.w)
        return self.pose * pin.SE3(pin.exp3(angle * self.axis), np.zeros(3))


@dataclass(frozen=True)
class _Scene:
    """What can come near what, and where root and obstacles are at each sample."""

    workspace: PairWorkspace
    base: NDArray[np.float64]
    obstacles: tuple[Obstacle, ...]
    placed: tuple[int, ...]

    def rows(
        self, sample: int, joints: NDArray[np.float64], margin: float
    ) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """`clearance_rows` at a sample."""
        place_obstacles(self.workspace.geometry, self.placed, self.obstacles, sample)
        return clearance_rows(self.workspace, joints, margin, self.base[sample])


def _scene(
    shapes: BodyShapes, base: NDArray[np.float64], obstacles: tuple[Obstacle, ...], samples: int
) -> _Scene:
    """Pair what trunk and arms move with the obstacles; legs and pelvis stay as they are."""
    links = [frame.name for frame in shapes.model.frames if frame.type == pin.FrameType.BODY]
    require_obstacles("the robot", links, obstacles, samples)
    geometry = shapes.geometry.copy()
    moved = [
        (index, link_of(shape.name))
        for index, shape in enumerate(geometry.geometryObjects)
        if shape.parentJoint > 1
    ]
    placed = tuple(add_obstacles(geometry, obstacles))
    for obstacle, index in zip(obstacles, placed, strict=True):
        for shape, link in moved:
            if link not in obstacle.touching:
                geometry.addCollisionPair(pin.CollisionPair(shape, index))
    return _Scene(pair_workspace(shapes.model, geometry), base, obstacles, placed)


def _missing(
    scene: _Scene, joints: NDArray[np.float64], samples: Sequence[int] | NDArray[np.int64], margin: float
) -> NDArray[np.float64]:
    """Most that is missing to the margin at each sample, m."""
    return np.array(
        [
            scene.rows(int(sample), at, margin)[1].max(initial=0.0)
            for sample, at in zip(samples, joints, strict=True)
        ]
    )


def _windows(time: NDArray[np.float64], near: NDArray[np.bool_]) -> list[tuple[int, int]]:
    """First sample and one past the last of each neighbourhood of samples that are too near."""
    windows: list[tuple[int, int]] = []
    for at in time[near]:
        start, end = np.searchsorted(time, (at - _NEIGHBOURHOOD, at + _NEIGHBOURHOOD)).tolist()
        if windows and start <= windows[-1][1]:
            start = windows.pop()[0]
        windows.append((start, end))
    return windows


def _bent(
    scene: _Scene,
    time: NDArray[np.float64],
    joints: NDArray[np.float64],
    here: NDArray[np.int64],
    held: Mapping[str, NDArray[np.bool_]],
    turn_axes: Mapping[str, NDArray[np.float64] | None],
    lower: NDArray[np.float64],
    upper: NDArray[np.float64],
    margin: float,
) -> NDArray[np.float64]:
    """Path of the samples of a neighbourhood, bent; as it was if its palms would have to give way."""
    model, data = scene.workspace.model, scene.workspace.data
    palms = [
        _held_palms(model, data, np.concatenate([scene.base[sample], at]), held, turn_axes, number)
        for number, (sample, at) in enumerate(zip(here, joints, strict=True))
    ]
    wanted = margin + _SPARE
    shape = _HOLD * shape_cost(time, int(here[0]), int(here[-1]) + 1, _SMOOTHING_TIME)
    bend, asked = np.zeros_like(joints), np.full(len(here), wanted)
    for turn in range(_ROUNDS):
        at = joints + bend
        blocks, pull, clearances, lacks = _linearised(scene, here, at, asked, palms)
        step = clearance_qp_step(
            QpTerms(
                shape,
                blocks,
                pull - shape_pull(shape, bend),
                clearances,
                np.minimum(lower + _INSET, joints) - at,
                np.maximum(upper - _INSET, joints) - at,
            )
        )
        lacks += wanted - asked
        too_much = ((asked > wanted) & (lacks < -_SPARE)).any()
        asked = (asked + _INSISTENCE * lacks.clip(max=_PATIENCE)).clip(wanted, wanted + _MOST_INSISTENCE)
        share = _STEP_SHARE * min(1.0, _BOLD_ROUNDS / (turn + 1))
        change = step * min(share, _STEP_LIMIT / max(float(np.abs(step).max()), 1e-12))
        bend += change
        good = lacks.max() <= _SPARE and not too_much
        if np.abs(change).max() < (_NEARLY_SETTLED if good else _SETTLED):
            break
    bent = np.clip(joints + bend, lower, upper)
    for number, sample in enumerate(here):
        if not palms[number]:
            continue
        q = np.concatenate([scene.base[sample], bent[number]])
        pin.framesForwardKinematics(model, data, q)
        targets = {frame: palm.turned(data.oMf[frame]) for frame, palm in palms[number].items()}
        bounds = PostureBounds(q[7:], lower, upper)
        q = solve_damped_ik(model, data, q, targets, bounds, iterations=20, tolerance=_EXACT)
        pin.forwardKinematics(model, data, q)
        if np.abs(_palm_rows(model, data, palms[number])[1]).max() > _PALM_TOLERANCE:
            return joints
        bent[number] = q[7:]
    return bent


def _linearised(
    scene: _Scene,
    here: NDArray[np.int64],
    joints: NDArray[np.float64],
    asked: NDArray[np.float64],
    palms: Sequence[Mapping[int, _Palm]],
) -> tuple[NDArray[np.float64], NDArray[np.float64], Clearances, NDArray[np.float64]]:
    """Matrices (S, n, n) and pull (S, n) of palms; clearances; what lacks to the asked margins (S,), m."""
    blocks, pull = np.empty((*joints.shape, joints.shape[1])), np.empty_like(joints)
    away, missing = [], []
    for number, sample in enumerate(here):
        rows, short = scene.rows(int(sample), joints[number], asked[number] + _FORESIGHT)
        away.append(rows)
        missing.append(short - _FORESIGHT)
        turns, errors = _palm_rows(scene.workspace.model, scene.workspace.data, palms[number])
        blocks[number] = _PALM_WEIGHT * turns.T @ turns
        pull[number] = _PALM_WEIGHT * errors @ turns
    owner = np.repeat(np.arange(len(here)), [len(short) for short in missing])
    lacks = np.array([short.max(initial=-_FORESIGHT) for short in missing])
    return blocks, pull, Clearances(owner, np.concatenate(away), np.concatenate(missing)), lacks


def _held_palms(
    model: pin.Model,
    data: pin.Data,
    q: NDArray[np.float64],
    held: Mapping[str, NDArray[np.bool_]],
    turn_axes: Mapping[str, NDArray[np.float64] | None],
    number: int,
) -> dict[int, _Palm]:
    """Frames of the palms that are held at a sample, and how."""
    pin.framesForwardKinematics(model, data, q)
    frames = {model.getFrameId(name): name for name, samples in held.items() if samples[number]}
    return {frame: _Palm(data.oMf[frame].copy(), turn_axes.get(name)) for frame, name in frames.items()}


def _palm_rows(
    model: pin.Model, data: pin.Data, palms: Mapping[int, _Palm]
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Jacobian (6 k, n) and error (6 k,) of palms, m and rad in world axes, where `data` has the joints."""
    rows, errors = np.empty((6 * len(palms), model.nv - 6)), np.empty(6 * len(palms))
    if palms:
        pin.computeJointJacobians(model, data)
    for number, (frame, palm) in enumerate(palms.items()):
        own = slice(6 * number, 6 * number + 6)
        pose = pin.updateFramePlacement(model, data, frame)
        target = palm.turned(pose)
        rows[own] = pin.getFrameJacobian(model, data, frame, pin.ReferenceFrame.LOCAL_WORLD_ALIGNED)[:, 6:]
        errors[own][:3] = target.translation - pose.translation
        errors[own][3:] = pin.log3(target.rotation @ pose.rotation.T)
        if palm.axis is not None:
            axis = pose.rotation @ palm.axis
            rows[own][3:] -= np.outer(axis, axis @ rows[own][3:])
    return rows, errors
