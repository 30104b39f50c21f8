"""Torque limits and the ZMP as constraints on the rate at which a path is followed.

Along a path q(s) with v = V ṡ, the effort RNEA(q, v, v̇) is M V s̈ + (M V′ + h(q, V)) ṡ² + g(q): linear in s̈
and ṡ², as are the foot wrenches and torques that follow from it, and the ground's force and moment.
"""

from collections.abc import Mapping
from typing import NamedTuple

import numpy as np
import pinocchio as pin
from numpy.typing import NDArray

from simbench.balance.standing.ground_reaction import (
    carried_model,
    find_moving_coordinates,
    supported_torque,
)
from simbench.balance.standing.standing import Stance
from simbench.balance.standing.support import support_polygons
from simbench.kinematics.arrays import Array
from simbench.kinematics.derivatives import differentiate
from simbench.kinematics.floating_base import free_flyer_derivatives
from simbench.kinematics.time_optimal import PathConstraints
from simbench.robot.robot import Robot

TORQUE_FRACTION = 0.8
"""Fraction of the motors' torques that a motion may need; control and balance need the rest."""
TORQUE_RESERVE = 0.1
"""The fraction that it may need beyond what the weight needs in the same posture."""
_ZMP_MARGIN = 0.02
"""Distance of the ZMP from the edge of the soles, inside, m: what balance leaves of disturbances."""
_ZMP_RESERVE = 0.01
"""Distance, m, that the ZMP may go beyond where it is at rest, where that is nearer to the edge."""
_RATE = 50.0
"""Rate, Hz, at which dynamics are computed: ten times the frequency of people's arms."""


class Effort(NamedTuple):
    """Constant, s̈ and ṡ² parts of an effort along a path.

    Parameters
    ----------
    still : (S, k) array
        What is needed at rest.
    acceleration : (S, k) array
        Coefficients of s̈.
    square : (S, k) array
        Coefficients of ṡ².
    """

    still: Array
    acceleration: Array
    square: Array


class PathVelocity(NamedTuple):
    """A path in Pinocchio's coordinates, and its derivatives by the path parameter.

    Parameters
    ----------
    q : (S, nq) array
        Configurations.
    first : (S, nv) array
        V, per second of the recording; the root's in its own frame.
    second : (S, nv) array
        V′.
    """

    q: Array
    first: Array
    second: Array


def dynamics_samples(time: Array) -> NDArray[np.int64]:
    """Choose the samples at which dynamics are computed.

    Parameters
    ----------
    time : (T,) array
        Recorded time of the samples, s, evenly spaced.

    Returns
    -------
    (S,) int array
        Samples at 50 Hz or less, the first and the last among them.
    """
    stride = max(1, int((len(time) - 1) / (time[-1] - time[0]) / _RATE + 1e-6))
    return np.append(np.arange(0, len(time) - 1, stride), len(time) - 1)


def path_velocity(time: Array, base: Array | None, joints: Array) -> PathVelocity:
    """Differentiate a path twice by the recording's time.

    Parameters
    ----------
    time : (T,) array
        Recorded time of the samples, s, T ≥ 5.
    base : (T, 7) array or None
        Pose of the root link in the world frame: position, m, and quaternion; None for a fixed base.
    joints : (T, n) array
        Joint positions, rad.

    Returns
    -------
    PathVelocity
        At the same samples.
    """
    if base is None:
        found = differentiate(time, joints)
        return PathVelocity(found.position, found.velocity, found.acceleration)
    found = differentiate(time, np.hstack([base, joints]), 7)
    return PathVelocity(*free_flyer_derivatives(found.position, found.velocity, found.acceleration))


def fixed_base_constraints(
    robot: Robot, time: Array, joints: Array
) -> tuple[Array, PathConstraints, tuple[str, ...]]:
    """Constrain the rate of a fixed-base robot's path by its motors' torques.

    Parameters
    ----------
    robot : Robot
        Robot with a fixed base.
    time : (T,) array
        Recorded time of the samples, s.
    joints : (T, n) array
        Joint positions, rad.

    Returns
    -------
    times : (S,) array
        Recorded times of the constraints, s.
    constraints : PathConstraints
        Two rows a joint with a torque limit.
    names : tuple of str
        Name of each row.
    """
    samples = dynamics_samples(time)
    path = PathVelocity(*(each[samples] for each in path_velocity(time, None, joints)))
    model, data = robot.model, robot.model.createData()
    parts = np.array([_effort(model, data, *each) for each in zip(*path, strict=True)])
    return time[samples], *torque_constraints(robot, Effort(*np.moveaxis(parts, 1, 0)))


def standing_constraints(
    robot: Robot,
    stance: Stance,
    time: Array,
    base: Array,
    joints: Array,
    loads: Mapping[str, Array],
    moving: Array,
) -> tuple[Array, PathConstraints, tuple[str, ...]]:
    """Constrain the rate of a standing robot's path by its motors' torques and by its ZMP.

    The torques are those of `standing_torques`, with the wrench of the equipment on the hands; a seated robot
    has no ZMP to keep.

    Parameters
    ----------
    robot : Robot
        Robot with a floating base.
    stance : Stance
        Poses of its soles.
    time : (T,) array
        Recorded time of the samples, s.
    base : (T, 7) array
        Pose of the root link in the world frame: position, m, and quaternion.
    joints : (T, n) array
        Joint positions, rad.
    loads : {side: (T, 6) array}
        Wrench of the equipment on each hand that moves it, force (N) and moment about the world's origin
        (N·m), in the world frame.
    moving : (T,) array
        Part of the inertia that counts for the ZMP, 0 to 1: at both ends, lead-in and lead-out accelerate
        the robot.

    Returns
    -------
    times : (S,) array
        Recorded times of the constraints, s.
    constraints : PathConstraints
        Two rows a joint with a torque limit, and one an edge of the support polygon.
    names : tuple of str
        Name of each row.
    """
    samples = dynamics_samples(time)
    path = PathVelocity(*(each[samples] for each in path_velocity(time, base, joints)))
    loads = {side: wrench[samples] for side, wrench in loads.items()}
    torque, ground = _standing_efforts(robot, stance, path, loads)
    rows, names = torque_constraints(robot, torque)
    if stance.seated:
        return time[samples], rows, names
    edges = _zmp_constraints(robot, stance, moving[samples, None], ground)
    both = PathConstraints(*(np.hstack(pair) for pair in zip(rows, edges, strict=True)))
    return time[samples], both, (*names, *(edges.a.shape[1] * ["ZMP"]))


def torque_constraints(robot: Robot, torque: Effort) -> tuple[PathConstraints, tuple[str, ...]]:
    """Bound joint torques by 80 % of the motors', or by what the weight needs and 10 % of the motors'.

    Parameters
    ----------
    robot : Robot
        Robot with n joints.
    torque : Effort
        Joint torques along its path, n columns, N·m.

    Returns
    -------
    constraints : PathConstraints
        Two rows a joint with a torque limit.
    names : tuple of str
        Name of each row.
    """
    limit = np.asarray(robot.motors.torque_limit)
    known = np.flatnonzero(np.isfinite(limit) & (limit > 0.0))
    limit = limit[known]
    still, a, b = (each[:, known] for each in torque)
    signed = np.hstack([still, -still])
    limits = np.hstack([limit, limit])
    room = np.maximum(TORQUE_FRACTION * limits - signed, TORQUE_RESERVE * limits)
    names = tuple(2 * [f"torque of {robot.joint_names[column]}" for column in known])
    return PathConstraints(np.hstack([a, -a]) / room, np.hstack([b, -b]) / room), names


def _effort(model: pin.Model, data: pin.Data, q: Array, first: Array, second: Array) -> Array:
    """Still, s̈ and ṡ² parts (3, nv) of RNEA at a point of a path."""
    none = np.zeros(model.nv)
    effort = np.empty((3, model.nv))
    effort[0] = pin.rnea(model, data, q, none, none)
    effort[1] = pin.rnea(model, data, q, none, first)
    effort[2] = pin.rnea(model, data, q, first, second)
    effort[1:] -= effort[0]
    return effort


def _standing_efforts(
    robot: Robot, stance: Stance, path: PathVelocity, loads: Mapping[str, Array]
) -> tuple[Effort, Effort]:
    """Joint torques (S, n), and the ground's force and moment about the world's origin (S, 6)."""
    model, frames = carried_model(robot, seated=stance.seated)
    data = model.createData()
    moves, both = find_moving_coordinates(model, frames), np.ones(2)
    hands = find_moving_coordinates(model, [model.getFrameId(robot.frames[f"{side}_hand"]) for side in loads])
    torque, ground = np.empty((3, len(path.q), model.nv - 6)), np.empty((3, len(path.q), 6))
    for sample, (q, first, second) in enumerate(zip(*path, strict=True)):
        effort = _effort(model, data, q, first, second)
        pin.computeJointJacobians(model, data, q)
        left, right = (pin.updateFramePlacement(model, data, frame).translation for frame in frames)
        for moved, wrench in zip(hands, loads.values(), strict=True):
            effort[0] -= np.where(moved, wrench[sample] @ data.J, 0.0)
        root = data.oMi[1]
        for part in range(3):
            torque[part, sample] = supported_torque(effort[part], data.J, left, right, moves, both)
            force = root.rotation @ effort[part, :3]
            ground[part, sample, :3] = force
            ground[part, sample, 3:] = root.rotation @ effort[part, 3:6] + np.cross(root.translation, force)
    return Effort(*torque), Effort(*ground)


def _zmp_constraints(robot: Robot, stance: Stance, moving: Array, ground: Effort) -> PathConstraints:
    """Keep the ZMP inside the soles by a margin: one row an edge of their convex hull.

    n·p ≤ d with the ZMP p = (−N_y, N_x) / F_z, times the vertical force.
    """
    corners = np.concatenate(
        [
            robot.soles[f"{side}_foot"] @ sole.rotation.T + sole.translation
            for side, sole in stance.soles.items()
        ]
    )[:, :2]
    polygon = support_polygons(corners[None])[0]
    polygon = polygon[~np.isnan(polygon[:, 0])]
    along = np.roll(polygon, -1, axis=0) - polygon
    normal = np.stack([along[:, 1], -along[:, 0]], axis=1) / np.linalg.norm(along, axis=1, keepdims=True)
    distance = (normal * polygon).sum(axis=1)
    still, a, b = (
        np.stack([-each[:, 4], each[:, 3]], axis=1) @ normal.T - (distance - _ZMP_MARGIN) * each[:, 2:3]
        for each in ground
    )
    room = np.maximum(-still, _ZMP_RESERVE * ground.still[:, 2:3])
    return PathConstraints(moving * a / room, moving * b / room)
