"""A robot's motion as the checks need it: derivatives, jumps, soles and contacts, and the forces it needs."""

from dataclasses import dataclass

import numpy as np
import pinocchio as pin
from scipy.ndimage import binary_dilation
from scipy.optimize import nnls

from simbench.errors import MotionError
from simbench.kinematics.arrays import Array
from simbench.kinematics.derivatives import SHORTEST_WINDOW, differentiate
from simbench.kinematics.foot_contact import find_point_contacts, point_speeds
from simbench.kinematics.rotation import continuous_quaternions, free_flyer_derivatives
from simbench.kinematics.tree import frame_poses
from simbench.motion.trajectory import JointTrajectory
from simbench.robot.robot import Robot
from simbench.runs.verdict import thresholds
from simbench.runs.verdict.verdict_outcome import Flags

_BESIDE = 2  # Steps on either side with which a step is compared.
_FEWEST = 10  # Samples of the shortest motion that is judged: two windows of the derivatives.
_LEVER = 0.1  # Moments count as forces at this lever, m: half a sole.
# Weight of the equations of motion of the root against the least torques: they hold to a millionth.
_BALANCE_WEIGHT = 1e3
# Weight of the forces themselves, relative to the robot's weight: it makes the solution unique.
_FORCE_WEIGHT = 1e-3


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
    # (T, 2 + n): steps that are jumps, less the steps beside them, rad or m: of the base's position and of
    # its orientation, then of the joints; 0 elsewhere.
    jumps: Array
    feet: Feet  # The soles.


@dataclass(frozen=True)
class GroundForces:
    """Forces that a motion needs, and what the soles can give."""

    weight: float  # Weight of the robot, N.
    force: Array  # (T, 3): force that the floor must exert, world axes, N.
    moment: Array  # (T, 3): its moment about the world's origin on the floor, N·m.
    cog: Array  # (T, 3): COG in the world frame, m.
    # (T, F, 4) of bool: corners of the soles that can bear load: those that touch, and all of a flat foot
    # that is in contact.
    bearing: Flags
    torque: Array  # (T, n): joint torques with the forces at the soles that load the joints least, N·m.
    # (T,): part of the wrench that no forces of the soles within the friction cones give, as a fraction of
    # the weight.
    missing: Array


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
    after_jump, jumps = find_jumps(time, base, joints)
    found = differentiate(time, np.hstack([base, joints]), base.shape[1])
    q, velocity, acceleration = found.position, found.velocity, found.acceleration
    if robot.floating:
        q, velocity, acceleration = free_flyer_derivatives(q, velocity, acceleration)
    half = found.window // 2
    near_jump = binary_dilation(after_jump, iterations=half) if after_jump.any() else after_jump
    smooth = ~near_jump
    # The frame before a jump belongs to it; the polynomials at both ends lean on one side.
    smooth[:-half] &= ~near_jump[half:]
    smooth[: SHORTEST_WINDOW // 2] = smooth[-(SHORTEST_WINDOW // 2) :] = False
    roles = tuple(role for role in robot.feet if role in robot.soles) if robot.floating else ()
    count = len(time)
    if roles:
        frames = [robot.model.getFrameId(robot.frames[role]) for role in roles]
        poses = np.stack(frame_poses(robot.model, frames, np.hstack([base, joints])), axis=1)
        soles = np.array([robot.soles[role] for role in roles])
        corners = np.einsum("tfij,fcj->tfci", poses[..., :3, :3], soles) + poses[:, :, None, :3, 3]
        touches = [
            find_point_contacts(time, foot[..., 2], point_speeds(time, foot), 0.0)
            for foot in np.moveaxis(corners, 1, 0)
        ]
        touching = np.stack(touches, axis=1)
        feet = Feet(roles, corners, poses[..., :3, 3], poses[..., :3, 2], touching)
    else:
        none = np.empty((count, 0, 3))
        feet = Feet((), np.empty((count, 0, 4, 3)), none, none, np.empty((count, 0, 4), bool))
    return MotionState(robot, time, joints, q, velocity, acceleration, found.window, smooth, jumps, feet)


def find_jumps(time: Array, base: Array, joints: Array) -> tuple[Flags, Array]:
    """Find jumps of a floating base and of joints.

    A step is a jump if it differs from the mean of the two steps on either side by at least 0.1 rad or m, by
    more than four times what these differ from it, and by what would need an acceleration of 300 rad/s² or
    m/s². Of the base's position 2 cm and 20 m/s² are enough. `time` (T,): times of the samples, s; `base` (T,
    7) or (T, 0) array: pose of the base: position, m, and continuous quaternion; or nothing; `joints` (T, n).
    Returns (T,) of bool, samples that come after a jump, and (T, 2 + n), the jumps that `MotionState` holds.
    """
    excess, spread = _excess_of_steps(time, joints)
    if base.shape[1]:
        of_base = [_excess_of_steps(time, base[:, :3])]
        # The chord of a unit quaternion is half the angle.
        of_base.append(_excess_of_steps(time, 2.0 * base[:, 3:]))
        excess = np.column_stack([*(each.max(axis=1) for each, _ in of_base), excess])
        spread = np.column_stack([*(each.max(axis=1) for _, each in of_base), spread])
    else:
        none = np.zeros((len(excess), 2))
        excess, spread = np.hstack([none, excess]), np.hstack([none, spread])
    least = np.full(excess.shape[1], thresholds.JUMP_STEP)
    hardest = np.full(excess.shape[1], thresholds.JUMP_ACCELERATION)
    least[0], hardest[0] = thresholds.BASE_JUMP_STEP, thresholds.BASE_JUMP_ACCELERATION
    jumping = (
        (excess >= least)
        & (excess > thresholds.JUMP_RATIO * spread)
        & (excess >= hardest * np.diff(time)[:, None] ** 2)
    )
    found = np.vstack([np.zeros((1, excess.shape[1])), np.where(jumping, excess, 0.0)])
    return np.asarray((found > 0.0).any(axis=1)), found


def _excess_of_steps(time: Array, values: Array) -> tuple[Array, Array]:
    """How much each step differs from the mean of those beside it, and how much these do, (T - 1, N) each."""
    interval = np.diff(time)[:, None]
    rates = np.diff(values, axis=0) / interval
    # At both ends the nearest steps stand in for those that are missing.
    padded = np.pad(rates, ((_BESIDE, _BESIDE), (0, 0)), mode="edge")
    count = len(rates)
    beside = np.stack([padded[k : k + count] for k in range(2 * _BESIDE + 1) if k != _BESIDE])
    mean = beside.mean(axis=0)
    return np.abs(rates - mean) * interval, np.abs(beside - mean).max(axis=0) * interval


def compute_forces(state: MotionState) -> GroundForces:
    """Compute the wrench of the floor and the joint torques of a motion by inverse dynamics.

    The root's part of RNEA(q, v, a) is what the floor must exert. It is distributed over the corners of the
    soles in contact, each with a force within a pyramid inside its friction cone: of all distributions the
    one with the least joint torques relative to their limits (non-negative least squares). What no
    distribution gives is returned as missing; the torques are then those of the best one.
    """
    robot, model, feet = state.robot, state.robot.model, state.feet
    data = model.createData()
    count, root = len(state.time), robot.root_v
    weight = float(pin.computeTotalMass(model) * np.linalg.norm(model.gravity.linear))
    flat = feet.normal[..., 2] > np.cos(thresholds.FLAT)
    bearing = feet.touching | (feet.contact & flat)[..., None]
    frames = [model.getFrameId(robot.frames[role]) for role in feet.roles]
    effort, cog = np.empty((count, model.nv)), np.empty((count, 3))
    missing = np.zeros(count)
    limits = robot.motors.torque_limit
    limited = np.isfinite(limits) & (limits > 0.0)
    # Weights of the joint torques: one over the limit; joints without a limit count little.
    scale = np.where(limited, 1.0 / np.where(limited, limits, 1.0), 1e-3)
    side = thresholds.FRICTION / np.sqrt(2.0)
    # Edges of a pyramid within the friction cone about z, vertical part 1.
    generators = np.array([(x, y, 1.0) for x in (-side, side) for y in (-side, side)])
    balance = np.repeat([1.0, 1.0 / _LEVER], 3) / weight
    for k in range(count):
        q = state.q[k]
        effort[k] = pin.rnea(model, data, q, state.velocity[k], state.acceleration[k])
        cog[k] = pin.centerOfMass(model, data, q)
        # Without derivatives there is nothing to distribute.
        if not state.smooth[k] or not bearing[k].any():
            missing[k] = float(root > 0 and state.smooth[k])
            continue
        pin.computeJointJacobians(model, data, q)
        columns = []
        for foot, frame in enumerate(frames):
            if bearing[k, foot].any():
                jacobian = pin.getFrameJacobian(model, data, frame, pin.LOCAL_WORLD_ALIGNED)
                levers = feet.corners[k, foot, bearing[k, foot]] - feet.origin[k, foot]
                unit_forces = np.tile(generators, (len(levers), 1))
                moments = np.cross(np.repeat(levers, len(generators), axis=0), unit_forces)
                columns.append(np.asarray(jacobian.T @ np.hstack([unit_forces, moments]).T))
        # Generalised forces of forces of the robot's weight along each edge at each corner.
        gained = np.hstack(columns) * weight
        loaded = np.flatnonzero(np.abs(gained[6:]).any(axis=1))
        rows = np.concatenate([_BALANCE_WEIGHT * balance, scale[loaded]])
        chosen = np.concatenate([np.arange(6), 6 + loaded])
        matrix = np.vstack([rows[:, None] * gained[chosen], _FORCE_WEIGHT * np.eye(gained.shape[1])])
        target = np.concatenate([rows * effort[k, chosen], np.zeros(gained.shape[1])])
        forces, _ = nnls(matrix, target)
        missing[k] = np.linalg.norm(balance * (effort[k, :6] - gained[:6] @ forces))
        effort[k, root:] -= (gained @ forces)[root:]
    force = moment = np.zeros((count, 3))
    if robot.floating:
        # The root's part of RNEA is in the root's frame; the moment becomes that about the world's origin.
        rotation = np.array([pin.Quaternion(*row[[6, 3, 4, 5]]).matrix() for row in state.q])
        force = np.einsum("tij,tj->ti", rotation, effort[:, :3])
        moment = np.einsum("tij,tj->ti", rotation, effort[:, 3:6]) + np.cross(state.q[:, :3], force)
    return GroundForces(weight, force, moment, cog, bearing, effort[:, root:], missing)
