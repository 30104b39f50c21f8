"""Joint positions of a file in radians and metres and in the order of a robot."""

import re
from collections.abc import Mapping
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from simbench.errors import MotionError
from simbench.kinematics.tree import frame_poses
from simbench.motion.trajectory_files.joint_order import (
    body_joints,
    joint_limits,
    match_joint_names,
    read_joint_order,
    resting_posture,
    sliding_joints,
    usual_orders,
)
from simbench.motion.trajectory_files.options import TrajectoryOptions
from simbench.motion.trajectory_files.sole_heights import foot_poses
from simbench.motion.trajectory_files.stored_motion import StoredMotion
from simbench.robot.robot import Robot

Array = NDArray[np.float64]

_BEYOND_LIMIT = 0.1
"""Excess over a joint's limit that retargeters leave, rad or m; more of it speaks against an order."""
_FEW = 0.05
"""Share of the samples that may be wrong for reasons of their own."""
# Departures that each count one in the cost of an order of the joints.
_VIOLATIONS, _SOLE_ANGLE, _LINK_ERROR = 0.005, 0.1, 0.01
_MARGIN = 1.0
"""Least difference of the costs of two orders by which one is told from the other."""
_SAMPLES = 200
"""Samples on which orders are compared."""
_UNIT = {"rad": 1.0, "deg": np.pi / 180.0, "m": 1.0, "cm": 0.01, "mm": 0.001}


class AssignedJoints(NamedTuple):
    """Joint positions in the robot's order, and what was found out about them."""

    q: Array  # (T, n): joint positions in the order of the robot, rad or m.
    columns: tuple[int, ...]  # Index in the robot's order of each column of the file.
    are_degrees: bool  # Whether the file's angles are in degrees.
    notes: tuple[str, ...]  # `notes`, `doubts`: one line each.
    doubts: tuple[str, ...]


def assign_joints(
    stored: StoredMotion, robot: Robot, options: TrajectoryOptions, where: str
) -> AssignedJoints:
    """Bring the joints into the robot's order and into radians; those that the file lacks stay at rest.

    `stored`: content of the file; `robot`: robot whose motion it is; `options`: what the user declares; its
    joint order overrules the names in the file; `where`: the file, for messages.
    """
    names, notes, doubts = stored.joint_names, [*stored.notes], [*stored.doubts]
    if options.joint_order is not None:
        names = read_joint_order(options.joint_order)
        if len(names) != stored.joints.shape[1]:
            raise MotionError(
                f"{where}: {stored.joints.shape[1]} joints, of which {options.joint_order} names "
                f"{len(names)}; the numbers must be the same"
            )
    if names is not None and len(names) != stored.joints.shape[1]:
        raise MotionError(
            f"{where}: {stored.joints.shape[1]} joints and {len(names)} names of joints; the numbers must be "
            "the same"
        )
    if names is not None and all(re.fullmatch(r"\d+", name) for name in names):
        names = None
    factors, are_degrees = _unit_factors(stored, robot)
    joints = stored.joints * factors
    if are_degrees:
        notes.append("angles in degrees, converted: in radians they would be far beyond the joints' limits")
    if names is None:
        choice = _choose_order(stored, joints, robot, where)
        names = choice.names
        notes += choice.notes
        doubts += choice.doubts
    columns = match_joint_names(names, robot, where)
    q = _complete(joints, columns, robot)
    missing = [name for index, name in enumerate(robot.joint_names) if index not in set(columns)]
    if missing:
        some = ", ".join(missing[:4]) + (f" and {len(missing) - 4} more" if len(missing) > 4 else "")
        notes.append(f"not in the file, held at rest: {some}")
    return AssignedJoints(q, columns, are_degrees, tuple(notes), (*doubts, *_limit_doubts(q, robot)))


class _Order(NamedTuple):
    """An order of joints that was chosen, and why."""

    names: tuple[str, ...]
    notes: tuple[str, ...]
    doubts: tuple[str, ...]


def _unit_factors(stored: StoredMotion, robot: Robot) -> tuple[Array, bool]:
    """Factor of each column to rad or m, and whether the angles are found to be degrees without saying it."""
    count = stored.joints.shape[1]
    units = stored.joint_units or ("",) * count
    declared = np.array([_UNIT.get(unit, 1.0) for unit in units])
    if any(units) or not len(stored.joints) or sliding_joints(robot).any():
        return declared, False
    lower, upper = joint_limits(robot)
    widest = float(np.abs([lower, upper])[np.isfinite([lower, upper])].max(initial=np.pi))
    # All angles of a motion in degrees together rarely stay within three degrees of zero.
    largest = np.abs(stored.joints).max(axis=1)
    beyond = np.mean(largest > 1.2 * widest + 0.3)
    fits = np.mean(np.radians(largest) > widest + 0.3) < _FEW
    if beyond > 1.0 - 10 * _FEW and fits:
        return np.full(count, _UNIT["deg"]), True
    return declared, False


def _complete(joints: Array, columns: tuple[int, ...], robot: Robot) -> Array:
    """Joints of a file in the robot's order, all others at rest."""
    q = np.tile(resting_posture(robot), (len(joints), 1))
    q[:, columns] = joints
    return q


def _choose_order(stored: StoredMotion, joints: Array, robot: Robot, where: str) -> _Order:
    """Choose an order for joints without names: that under which limits, soles and links fit."""
    count = joints.shape[1]
    orders = usual_orders(robot, count)
    if not orders:
        own, body = len(robot.joint_names), len(body_joints(robot))
        without = f", {body} without those of its hands" if body != own else ""
        raise MotionError(
            f"{where}: {count} joints without names; {robot.name} has {own} joints{without}; give the names "
            "of the columns with --joint-order FILE"
        )
    costs = _order_costs(orders, stored, joints, robot)
    ranked = sorted(orders, key=lambda order: costs[order])
    usual = next(iter(orders))
    best = usual if costs[usual] < costs[ranked[0]] + _MARGIN else ranked[0]
    rivals = [order for order in orders if order != best and costs[order] < costs[best] + _MARGIN]
    note = f"joints without names: order taken is {best}"
    if not rivals:
        others = len(orders) - 1
        why = ", the only usual one under which limits and soles fit" if others else ""
        return _Order(orders[best], (note + why,), ())
    doubt = (
        f"the order of the joints is not certain: {best} was taken, but {' and '.join(rivals)} fits as well; "
        "declare it with --joint-order FILE"
    )
    return _Order(orders[best], (note,), (doubt,))


def _order_costs(
    orders: Mapping[str, tuple[str, ...]], stored: StoredMotion, joints: Array, robot: Robot
) -> dict[str, float]:
    """Sum of the departures under each order, in units of what right ones show."""
    chosen = np.unique(np.linspace(0, len(joints) - 1, _SAMPLES).astype(int))
    lower, upper = joint_limits(robot)
    costs = {}
    for description, names in orders.items():
        columns = tuple(robot.joint_names.index(name) for name in names)
        q = _complete(joints[chosen], columns, robot)
        beyond = np.maximum(lower - q, q - upper) > _BEYOND_LIMIT
        cost = float(beyond.mean()) / _VIOLATIONS
        feet = foot_poses(robot, q)
        if feet is not None:
            angles = np.arccos(np.clip(feet.rotation[..., 2, 2], -1.0, 1.0))
            cost += float(np.median(angles.min(axis=0))) / _SOLE_ANGLE
        if stored.bodies is not None:
            cost += _link_error(stored.bodies[chosen], q, robot) / _LINK_ERROR
        costs[description] = cost
    return costs


def _link_error(bodies: Array, q: Array, robot: Robot) -> float:
    """Median error of the links' distances from the first link, m, whichever links they are."""
    model = robot.model
    frames = [index for index, frame in enumerate(model.frames) if frame.name != "universe"]
    root = np.zeros((len(q), 7)) if robot.floating else np.zeros((len(q), 0))
    root[:, -1:] = 1.0
    poses = np.array(frame_poses(model, frames, np.hstack([root, q])))
    own = np.linalg.norm(poses[..., :3, 3], axis=-1)
    told = np.linalg.norm(bodies - bodies[:, :1], axis=-1)
    errors = np.abs(own[:, :, None] - told[None]).mean(axis=1)
    return float(np.median(errors.min(axis=0)))


def _limit_doubts(q: Array, robot: Robot) -> tuple[str, ...]:
    """Say which joint is beyond its limits in many samples."""
    lower, upper = joint_limits(robot)
    excess = np.maximum(lower - q, q - upper)
    share = (excess > _BEYOND_LIMIT).mean(axis=0) if len(q) else np.zeros(q.shape[1])
    worst = int(share.argmax()) if share.size else 0
    if not share.size or share[worst] < _FEW:
        return ()
    return (
        f"{robot.joint_names[worst]} is up to {excess[:, worst].max():.2g} beyond its limits, in "
        f"{share[worst]:.0%} of the samples: order, unit or robot may be another",
    )
