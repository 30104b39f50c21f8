"""What a robot's hands reach from where its root is: handles as points, arms inside limits, no collision."""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import pinocchio as pin

from simbench.errors import RetargetError
from simbench.kinematics.arrays import Array
from simbench.kinematics.task_matrix import Tasks, Workspace, make_workspace
from simbench.kinematics.tree import KinematicTree, first_joint, frame_on_body, kinematic_tree
from simbench.motion.handles import HandlePath
from simbench.retargeting.collision.clearance import add_self_pairs, convex_shapes
from simbench.retargeting.collision.pair_distances import (
    PairWorkspace,
    pair_distance,
    pair_workspace,
    place_shapes,
    sphere_gaps,
)
from simbench.retargeting.placement.com_compensation import ComCompensation, com_compensation
from simbench.retargeting.placement.elbow_branches import bent_boxes
from simbench.robot.grips import close_hands
from simbench.robot.robot import Robot
from simbench.robot.sides import SIDES

LEVER = 0.15
_LEVER_WEIGHT = 0.5
"""A palm's direction is given by points this far (m) from its middle; they weigh less than the middle, so
that a palm that cannot have both is in its place rather than turned right."""


@dataclass(frozen=True)
class ReachabilityModel:
    """A robot's trunk and arms with what its hands are to hold.

    Parameters
    ----------
    robot : Robot
    model : pinocchio.Model
        Trunk and those arms that hold something; all else is locked where the posture has it.
    tree : KinematicTree
    work : Workspace
    tasks : Tasks
        Points of the palms: the middle, then those that show its direction.
    columns : {side: slice}
        The points of each hand.
    free : {side: bool}
        Whether the hand may turn about its handle.
    boxes : tuple of (2, n) arrays
        Least and greatest positions of the joints, rad; one for each way the elbows may bend.
    limits : (2, n) array
        Of the joints themselves, rad.
    pairs : PairWorkspace
        Links that could collide.
    counter : ComCompensation
        How the root sways against the arms.
    """

    robot: Robot
    model: pin.Model
    tree: KinematicTree
    work: Workspace
    tasks: Tasks
    columns: Mapping[str, slice]
    free: Mapping[str, bool]
    boxes: tuple[Array, ...]
    limits: Array
    pairs: PairWorkspace
    counter: ComCompensation


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
    handles : {side: HandlePath}
        What each of the robot's hands holds.
    joints : (n,) array
        Posture of everything but trunk and those arms, and one in which the root does not sway, rad.
    sway_gain : (float, float)
        How far the root goes, along its x and y, for each metre that it is to take the COG.

    Returns
    -------
    ReachabilityModel

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
        body, turn, middle = frame_on_body(model, model.getFrameId(robot.frames[f"{side}_hand"]))
        start = len(rows)
        rows.append((body, middle, 1.0))
        rows += [(body, middle + LEVER * turn @ axis, _LEVER_WEIGHT) for axis in _axes(handles[side])]
        columns[side] = slice(start, len(rows))
    tree = kinematic_tree(model)
    tasks = Tasks(
        np.array([body for body, _, _ in rows], dtype=np.int64),
        np.array([place for _, place, _ in rows]),
        np.array([weight for _, _, weight in rows]),
        np.empty(0, dtype=np.int64),
        np.empty((0, 3, 3)),
        np.empty(0),
    )
    limits = np.stack([model.lowerPositionLimit, model.upperPositionLimit])[:, robot.root_q :]
    return ReachabilityModel(
        robot=robot,
        model=model,
        tree=tree,
        work=make_workspace(tree),
        tasks=tasks,
        columns=columns,
        free={side: handles[side].turn_axis is not None for side in sides},
        boxes=bent_boxes(robot, model, limits, sides),
        limits=limits,
        pairs=pair_workspace(model, geometry),
        counter=com_compensation(model, _own(robot, model, joints), sway_gain),
    )


def handle_way_points(handles: Mapping[str, HandlePath]) -> Array:
    """Places of the palms' points along the way of the handles.

    Parameters
    ----------
    handles : {side: HandlePath}
        Moving together: pose k of one with pose k of the other; one that stands still has a single pose.

    Returns
    -------
    (K, P, 3) array
        m, world, in the order of `ReachabilityModel.tasks`.

    Raises
    ------
    RetargetError
        If two handles move in different numbers of poses.
    """
    counts = {side: len(handle.poses) for side, handle in handles.items() if len(handle.poses) > 1}
    if len(set(counts.values())) > 1:
        told = ", ".join(f"{side} {count}" for side, count in counts.items())
        raise RetargetError(f"handles that move together need as many poses each; given: {told}")
    count = max(counts.values(), default=1)
    points = []
    for side in SIDES:
        if side in handles:
            offsets = np.vstack([np.zeros((1, 3)), LEVER * _axes(handles[side])])
            poses = handles[side].poses
            placed = poses[:, None, :3, 3] + np.einsum("kij,pj->kpi", poses[:, :3, :3], offsets)
            points.append(np.broadcast_to(placed, (count, *placed.shape[1:])))
    return np.concatenate(points, axis=1)


def least_clearance(reach: ReachabilityModel, joints: Array) -> float:
    """Least distance between links that could collide, m; negative: the depth of penetration.

    Parameters
    ----------
    reach : ReachabilityModel
    joints : (K, n) array
        rad.

    Returns
    -------
    float
        Infinite where no links come near each other.
    """
    root = pin.neutral(reach.model)[: reach.robot.root_q]
    least = np.inf
    for q in joints:
        middles, _ = place_shapes(reach.pairs, np.concatenate([root, q]))
        near = np.flatnonzero(sphere_gaps(reach.pairs, middles) < min(least, 0.0))
        least = min([least, *(pair_distance(reach.pairs, pair) for pair in near.tolist())])
    return least


def arm_length(reach: ReachabilityModel) -> float:
    """Distance from a shoulder to its palm along the arm, m; of the longer arm."""
    model, data = reach.model, reach.model.createData()
    pin.framesForwardKinematics(model, data, pin.neutral(model))
    lengths = []
    for side in reach.columns:
        places = [data.oMf[model.getFrameId(reach.robot.frames[role])].translation for role in _roles(side)]
        lengths.append(float(np.linalg.norm(np.diff(places, axis=0), axis=1).sum()))
    return max(lengths)


def counter_way(reach: ReachabilityModel, joints: Array) -> Array:
    """How far the joints take the COG, in the root's axes, times what the root goes against it.

    Parameters
    ----------
    reach : ReachabilityModel
    joints : (K, n) array
        rad.

    Returns
    -------
    (K, 3) array
        m; zero for a root that does not sway.
    """
    model, data = reach.model, reach.model.createData()
    root = pin.neutral(model)[: reach.robot.root_q]
    cogs = np.array([pin.centerOfMass(model, data, np.concatenate([root, q]))[:2] for q in joints])
    way = np.zeros((len(joints), 3))
    way[:, :2] = reach.counter.gain * (cogs - reach.counter.middle)
    return way


def _own(robot: Robot, model: pin.Model, joints: Array) -> Array:
    """Take those of a robot's joint positions that a reduced model has."""
    return joints[[robot.joint_names.index(name) for name in model.names[first_joint(model) :]]]


def _roles(side: str) -> list[str]:
    return [f"{side}_{part}" for part in ("shoulder", "elbow", "wrist", "hand")]


def _axes(handle: HandlePath) -> Array:
    """Directions in the palm that the handle settles (p, 3)."""
    return np.eye(3) if handle.turn_axis is None else handle.turn_axis[None]
