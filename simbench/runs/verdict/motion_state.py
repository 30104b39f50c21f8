"""Derivatives, feet and contacts of a robot's motion, computed once for all checks."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.ndimage import binary_dilation

from simbench.errors import MotionError
from simbench.kinematics.arrays import Array
from simbench.kinematics.derivatives import SHORTEST_WINDOW, differentiate
from simbench.kinematics.foot_contact import find_point_contacts, point_speeds
from simbench.kinematics.rotation import continuous_quaternions, free_flyer_derivatives
from simbench.kinematics.tree import frame_poses
from simbench.motion.trajectory import JointTrajectory
from simbench.robot.robot import Robot
from simbench.runs.verdict.jumps import Jumps, find_jumps

Flags = NDArray[np.bool_]

_FEWEST = 10
"""Samples of the shortest motion that is judged: two windows of the derivatives."""


@dataclass(frozen=True)
class Feet:
    """Soles of a robot over a motion of T samples; F feet, none for a robot without soles."""

    roles: tuple[str, ...]  # Roles of the feet that have soles, such as left_foot.
    corners: Array  # (T, F, 4, 3): corners of each sole in the world frame, m; heights are above the floor.
    origin: Array  # (T, F, 3): origin of each foot frame in the world frame, m, its height above the floor.
    normal: Array  # (T, F, 3): upward unit normal of each sole in the world frame.
    touching: Flags  # (T, F, 4) of bool: which corners touch the floor.

    @property
    def contact(self) -> Flags:
        """Whether each foot is in contact, (T, F)."""
        return np.asarray(self.touching.any(axis=2))

    @property
    def airborne(self) -> Flags:
        """Whether no foot is in contact, (T,)."""
        return np.asarray(~self.touching.any(axis=(1, 2)))


@dataclass(frozen=True)
class MotionState:
    """A motion with its derivatives and contacts."""

    robot: Robot
    time: Array  # (T,): times of the samples, s.
    joints: Array  # (T, n): joint positions as they were given, rad or m.
    q: Array  # (T, nq): configurations of the model, smoothed, the floor at z = 0.
    velocity: Array  # (T, nv): velocities of the model.
    acceleration: Array  # (T, nv): accelerations of the model, as Pinocchio's RNEA takes them.
    window: int  # Samples of the window of the derivatives.
    # (T,) of bool: samples whose derivatives are meaningful: not at both ends, and not within a window of a
    # jump.
    smooth: Flags
    jumps: Jumps  # Jumps of joints and base.
    feet: Feet  # The soles.


def examine_motion(robot: Robot, trajectory: JointTrajectory, floor: float = 0.0) -> MotionState:
    """Differentiate a motion, find its jumps, and where its soles are on the floor.

    `trajectory`: motion of all the robot's joints in their order, with the base of a floating robot; `floor`:
    height of the floor in the trajectory's world, m. Returns the motion, with the floor at z = 0.
    """
    time, joints = trajectory.time, trajectory.q
    if trajectory.joint_names != robot.joint_names:
        raise MotionError(
            f"the trajectory has {len(trajectory.joint_names)} joints that are not the "
            f"{len(robot.joint_names)} of {robot.name} in their order"
        )
    if len(time) < _FEWEST:
        raise MotionError(f"the trajectory has {len(time)} samples; a verdict needs {_FEWEST} or more")
    base = np.empty((len(time), 0))
    if robot.floating:
        if trajectory.base is None:
            raise MotionError(f"the trajectory has no base, and that of {robot.name} floats")
        base = trajectory.base - np.array([0.0, 0.0, floor, 0.0, 0.0, 0.0, 0.0])
        base[:, 3:] = continuous_quaternions(base[:, 3:])
    jumps = find_jumps(time, base, joints)
    found = differentiate(time, np.hstack([base, joints]), base.shape[1])
    q, velocity, acceleration = found.position, found.velocity, found.acceleration
    if robot.floating:
        q, velocity, acceleration = free_flyer_derivatives(q, velocity, acceleration)
    half = found.window // 2
    smooth = (
        ~binary_dilation(jumps.frames, iterations=half) if jumps.frames.any() else np.ones(len(time), bool)
    )
    # The frame before a jump belongs to it; the polynomials at both ends lean on one side.
    smooth[:-half] &= ~binary_dilation(jumps.frames, iterations=half)[half:] if half else True
    smooth[: SHORTEST_WINDOW // 2] = smooth[-(SHORTEST_WINDOW // 2) :] = False
    feet = _place_feet(robot, time, np.hstack([base, joints]))
    return MotionState(robot, time, joints, q, velocity, acceleration, found.window, smooth, jumps, feet)


def _place_feet(robot: Robot, time: Array, q: Array) -> Feet:
    """Compute the soles in the world, and where they touch."""
    roles = tuple(role for role in robot.feet if role in robot.soles) if robot.floating else ()
    count = len(time)
    if not roles:
        none = np.empty((count, 0, 3))
        return Feet((), np.empty((count, 0, 4, 3)), none, none, np.empty((count, 0, 4), bool))
    frames = [robot.model.getFrameId(robot.frames[role]) for role in roles]
    poses = np.stack(frame_poses(robot.model, frames, q), axis=1)
    soles = np.array([robot.soles[role] for role in roles])
    corners = np.einsum("tfij,fcj->tfci", poses[..., :3, :3], soles) + poses[:, :, None, :3, 3]
    touching = np.stack(
        [
            find_point_contacts(time, foot[..., 2], point_speeds(time, foot), 0.0)
            for foot in np.moveaxis(corners, 1, 0)
        ],
        axis=1,
    )
    return Feet(roles, corners, poses[..., :3, 3], poses[..., :3, 2], touching)
