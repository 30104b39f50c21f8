"""Forces that a motion needs: the wrench of the floor, its distribution over the soles, and joint torques."""

from dataclasses import dataclass

import numpy as np
import pinocchio as pin
from scipy.optimize import nnls

from simbench.kinematics.arrays import Array
from simbench.runs.verdict.motion_state import Flags, MotionState
from simbench.runs.verdict.thresholds import FLAT, FRICTION

_LEVER = 0.1
"""Moments count as forces at this lever, m: half a sole."""
_BALANCE_WEIGHT = 1e3
"""Weight of the equations of motion of the root against the least torques: they hold to a millionth."""
_FORCE_WEIGHT = 1e-3
"""Weight of the forces themselves, relative to the robot's weight: it makes the solution unique."""


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


def compute_forces(state: MotionState) -> GroundForces:
    """Compute the wrench of the floor and the joint torques of a motion by inverse dynamics.

    The root's part of RNEA(q, v, a) is what the floor must exert. It is distributed over the corners of the
    soles in contact, each with a force within a pyramid inside its friction cone: of all distributions the
    one with the least joint torques relative to their limits (non-negative least squares). What no
    distribution gives is returned as missing; the torques are then those of the best one.
    """
    robot, model = state.robot, state.robot.model
    data = model.createData()
    count, root = len(state.time), robot.root_v
    weight = float(pin.computeTotalMass(model) * np.linalg.norm(model.gravity.linear))
    bearing = _bearing_corners(state)
    frames = [model.getFrameId(robot.frames[role]) for role in state.feet.roles]
    effort, cog = np.empty((count, model.nv)), np.empty((count, 3))
    missing = np.zeros(count)
    scale = _joint_scale(robot.motors.torque_limit)
    generators = _friction_pyramid(FRICTION.value)
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
                levers = state.feet.corners[k, foot, bearing[k, foot]] - state.feet.origin[k, foot]
                columns.append(_generalised_forces(jacobian, levers, generators))
        gained = np.hstack(columns) * weight
        forces, missing[k] = _distribute(gained, effort[k], scale, weight)
        effort[k, root:] -= (gained @ forces)[root:]
    force, moment = _root_wrench(state, effort)
    return GroundForces(weight, force, moment, cog, bearing, effort[:, root:], missing)


def _bearing_corners(state: MotionState) -> Flags:
    """Corners that can bear load, (T, F, 4): all of a foot in contact that is flat, or those that touch."""
    feet = state.feet
    flat = feet.normal[..., 2] > np.cos(FLAT.value)
    return feet.touching | (feet.contact & flat)[..., None]


def _root_wrench(state: MotionState, effort: Array) -> tuple[Array, Array]:
    """Force and moment about the world's origin, (T, 3) each, of the root's part of RNEA, in its frame."""
    if not state.robot.floating:
        none = np.zeros((len(effort), 3))
        return none, none
    rotation = np.array([pin.Quaternion(*row[[6, 3, 4, 5]]).matrix() for row in state.q])
    force = np.einsum("tij,tj->ti", rotation, effort[:, :3])
    moment = np.einsum("tij,tj->ti", rotation, effort[:, 3:6]) + np.cross(state.q[:, :3], force)
    return force, moment


def _joint_scale(limits: Array) -> Array:
    """Weights (n,) of the joint torques: one over the limit; joints without a limit count little."""
    finite = np.isfinite(limits) & (limits > 0.0)
    return np.where(finite, 1.0 / np.where(finite, limits, 1.0), 1e-3)


def _friction_pyramid(friction: float) -> Array:
    """Edges (4, 3) of a pyramid within the friction cone about z, vertical part 1."""
    side = friction / np.sqrt(2.0)
    return np.array([(x, y, 1.0) for x in (-side, side) for y in (-side, side)])


def _generalised_forces(jacobian: Array, levers: Array, generators: Array) -> Array:
    """Generalised forces (nv, C · 4) of unit forces along the pyramid's edges at C points of a foot."""
    forces = np.tile(generators, (len(levers), 1))
    moments = np.cross(np.repeat(levers, len(generators), axis=0), forces)
    return np.asarray(jacobian.T @ np.hstack([forces, moments]).T)


def _distribute(gained: Array, effort: Array, scale: Array, weight: float) -> tuple[Array, float]:
    """Distribute the root's wrench; forces along the edges in units of the weight, and what is missing."""
    balance = np.repeat([1.0, 1.0 / _LEVER], 3) / weight
    loaded = np.flatnonzero(np.abs(gained[6:]).any(axis=1))
    rows = np.concatenate([_BALANCE_WEIGHT * balance, scale[loaded]])
    chosen = np.concatenate([np.arange(6), 6 + loaded])
    matrix = np.vstack([rows[:, None] * gained[chosen], _FORCE_WEIGHT * np.eye(gained.shape[1])])
    target = np.concatenate([rows * effort[chosen], np.zeros(gained.shape[1])])
    forces, _ = nnls(matrix, target)
    gap = balance * (effort[:6] - gained[:6] @ forces)
    return forces, float(np.linalg.norm(gap))
