"""What a robot's hands reach from where its root is: handles as points, arms inside limits, no collision."""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import pinocchio as pin

from simbench.errors import RetargetError
from simbench.kinematics.arrays import Array
from simbench.kinematics.rotation import ROTATION_WEIGHT
from simbench.kinematics.task_matrix import Tasks, make_workspace
from simbench.kinematics.tree import first_joint, frame_on_body, kinematic_tree
from simbench.motion.handles import HandlePath
from simbench.retargeting.collision.clearance import (
    PairWorkspace,
    add_self_pairs,
    convex_shapes,
    pair_distance,
    possible_pairs,
)
from simbench.retargeting.placement.com_compensation import CompensatedTree, make_com_compensation
from simbench.retargeting.placement.elbow_branches import bent_boxes
from simbench.robot.grips import close_hands
from simbench.robot.robot import Robot
from simbench.robot.sides import SIDES

_DIRECTION_WEIGHT = 0.5
"""A palm's direction is given by points at `ROTATION_WEIGHT` metres from its middle; they weigh so much less
than the middle, so that a palm that cannot have both is in the right place rather than rotated right."""


@dataclass(frozen=True)
class ReachabilityModel:
    """A robot's trunk and arms with what its hands are to hold.

    Parameters
    ----------
    robot : Robot
        The whole robot.
    model : pinocchio.Model
        Trunk and those arms that hold something; all else is locked where the posture has it.
    hands : CompensatedTree
        The same as a tree, whose root sways against the arms. Its tasks are the points of the palms: the
        middle, then those that show its direction.
    columns : {side: slice}
        The points of each hand.
    free : {side: bool}
        Whether the hand may turn about its handle.
    boxes : tuple of (2, n) arrays
        Least and greatest positions of the joints, rad; one for each branch of the elbows.
    limits : (2, n) array
        Limits of the joints themselves, rad.
    pairs : PairWorkspace
        Links that could collide.
    """

    robot: Robot
    model: pin.Model
    hands: CompensatedTree
    columns: Mapping[str, slice]
    free: Mapping[str, bool]
    boxes: tuple[Array, ...]
    limits: Array
    pairs: PairWorkspace


def make_reachability_model(
    robot: Robot,
    handles: Mapping[str, HandlePath],
    joints: Array,
    sway_gain: tuple[float, float] = (0.0, 0.0),
) -> ReachabilityModel:
    """Prepare to ask what a robot's hands reach.

    Parameters
    ----------
    robot : Robot
        Robot with the arms that hold the handles.
    handles : {side: HandlePath}
        Path of the handle that each of the robot's hands holds.
    joints : (n,) array
        Posture of everything but trunk and those arms, and one in which the root does not sway, rad.
    sway_gain : (float, float)
        How far the root goes, along its x and y, for each metre that it is to take the COG.

    Returns
    -------
    ReachabilityModel
        For one search at a time, as its workspaces are overwritten.

    Raises
    ------
    RetargetError
        If there is no handle, or the robot has no such arm.
    """
    if not handles:
        raise RetargetError(f"{robot.name}: no handles to reach for: the recording says of no equipment")
    sides = [side for side in SIDES if side in handles]
    for side in sides:
        lacks = [f"frame {role}" for role in _roles(side) if role not in robot.frames]
        lacks += [] if f"{side}_arm" in robot.groups else [f"group {side}_arm"]
        if lacks:
            raise RetargetError(f"{robot.name}: cannot reach with its {side} hand; it lacks {lacks[0]}")
    moving = {
        *robot.groups.get("trunk", ()),
        *(name for side in sides for name in robot.groups[f"{side}_arm"]),
    }
    locked = [joint for joint in range(first_joint(robot.model), robot.model.njoints)]
    locked = [joint for joint in locked if robot.model.names[joint] not in moving]
    reference = np.concatenate([pin.neutral(robot.model)[: robot.root_q], close_hands(robot, joints, sides)])
    model, (geometry,) = pin.buildReducedModel(robot.model, [convex_shapes(robot)], locked, reference)
    add_self_pairs(robot, geometry)
    rows: list[tuple[int, Array, float]] = []
    columns = {}
    for side in sides:
        body, rotation, middle = frame_on_body(model, model.getFrameId(robot.frames[f"{side}_hand"]))
        start = len(rows)
        rows.append((body, middle, 1.0))
        rows += [
            (body, middle + ROTATION_WEIGHT * rotation @ axis, _DIRECTION_WEIGHT)
            for axis in _axes(handles[side])
        ]
        columns[side] = slice(start, len(rows))
    tree = kinematic_tree(model)
    tasks = Tasks(
        np.array([body for body, _, _ in rows], dtype=np.int64),
        np.array([point for _, point, _ in rows]),
        np.array([weight for _, _, weight in rows]),
        np.empty(0, dtype=np.int64),
        np.empty((0, 3, 3)),
        np.empty(0),
    )
    limits = np.stack([model.lowerPositionLimit, model.upperPositionLimit])[:, robot.root_q :]
    return ReachabilityModel(
        robot=robot,
        model=model,
        hands=CompensatedTree(
            tree,
            tasks,
            make_com_compensation(model, _select_joints(robot, model, joints), sway_gain),
            make_workspace(tree),
        ),
        columns=columns,
        free={side: handles[side].turn_axis is not None for side in sides},
        boxes=bent_boxes(robot, model, limits, sides),
        limits=limits,
        pairs=PairWorkspace(model, geometry),
    )


def handle_path_points(handles: Mapping[str, HandlePath]) -> Array:
    """Compute where the palms' points are to be along the path of the handles.

    Parameters
    ----------
    handles : {side: HandlePath}
        Moving together: pose k of one with pose k of the other; one that stands still has a single pose.

    Returns
    -------
    (K, P, 3) array
        Positions in the world, m, in the order of the tasks of `ReachabilityModel`.

    Raises
    ------
    RetargetError
        If two handles move in different numbers of poses.
    """
    counts = {side: len(handle.poses) for side, handle in handles.items() if len(handle.poses) > 1}
    if len(set(counts.values())) > 1:
        counted = ", ".join(f"{side} {count}" for side, count in counts.items())
        raise RetargetError(f"handles that move together need as many poses each; given: {counted}")
    count = max(counts.values(), default=1)
    points = []
    for side in SIDES:
        if side in handles:
            offsets = np.vstack([np.zeros((1, 3)), ROTATION_WEIGHT * _axes(handles[side])])
            poses = handles[side].poses
            placed = poses[:, None, :3, 3] + np.einsum("kij,pj->kpi", poses[:, :3, :3], offsets)
            points.append(np.broadcast_to(placed, (count, *placed.shape[1:])))
    return np.concatenate(points, axis=1)


def least_clearance(reach: ReachabilityModel, joints: Array) -> float:
    """Find the least distance between links that could collide.

    Parameters
    ----------
    reach : ReachabilityModel
        Reachability model of the robot.
    joints : (K, n) array
        Joint positions along a path, rad.

    Returns
    -------
    float
        Distance, m; negative: the depth of penetration. Infinite where no links come near each other.
    """
    root = pin.neutral(reach.model)[: reach.robot.root_q]
    least = np.inf
    for q in joints:
        near = possible_pairs(reach.pairs, np.concatenate([root, q]), min(least, 0.0))
        least = min([least, *(pair_distance(reach.pairs, pair) for pair in near)])
    return least


def arm_length(reach: ReachabilityModel) -> float:
    """Measure the longer arm from its shoulder to its palm.

    Parameters
    ----------
    reach : ReachabilityModel
        Reachability model of the robot.

    Returns
    -------
    float
        Length along the arm, m.
    """
    model, data = reach.model, reach.model.createData()
    pin.framesForwardKinematics(model, data, pin.neutral(model))
    lengths = []
    for side in reach.columns:
        positions = [
            data.oMf[model.getFrameId(reach.robot.frames[role])].translation for role in _roles(side)
        ]
        lengths.append(float(np.linalg.norm(np.diff(positions, axis=0), axis=1).sum()))
    return max(lengths)


def root_sway_path(reach: ReachabilityModel, joints: Array) -> Array:
    """Compute how far the joints take the COG, in the root's axes, times what the root goes against it.

    Parameters
    ----------
    reach : ReachabilityModel
        Reachability model of the robot.
    joints : (K, n) array
        Joint positions along a path, rad.

    Returns
    -------
    (K, 3) array
        Displacement, m; zero for a root that does not sway.
    """
    model, data, compensation = reach.model, reach.model.createData(), reach.hands.compensation
    root = pin.neutral(model)[: reach.robot.root_q]
    coms = np.array([pin.centerOfMass(model, data, np.concatenate([root, q]))[:2] for q in joints])
    displacement = np.zeros((len(joints), 3))
    displacement[:, :2] = compensation.gain * (coms - compensation.reference)
    return displacement


def _select_joints(robot: Robot, model: pin.Model, joints: Array) -> Array:
    """Take those of a robot's joint positions that a reduced model has."""
    return joints[[robot.joint_names.index(name) for name in model.names[first_joint(model) :]]]


def _roles(side: str) -> list[str]:
    """Roles of the frames along an arm."""
    return [f"{side}_{part}" for part in ("shoulder", "elbow", "wrist", "hand")]


def _axes(handle: HandlePath) -> Array:
    """Directions in the palm that the handle determines (p, 3)."""
    return np.eye(3) if handle.turn_axis is None else handle.turn_axis[None]
