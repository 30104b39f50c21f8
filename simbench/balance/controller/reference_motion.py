"""The kernel of the balance controller: pose errors of soles, trunk and COG in, joint velocities out."""

from typing import NamedTuple

import numpy as np

from simbench.balance.controller.embedded_motion import compute_embedded_motion, singular_section
from simbench.balance.controller.sections import SectionColumns
from simbench.balance.inverted_pendulum import CogZmpGains, commanded_velocity
from simbench.kinematics.arrays import Array
from simbench.kinematics.compiled import compiled
from simbench.kinematics.rotation import matrix_to_quaternion, quaternion_to_matrix


class ReferenceKinematics(NamedTuple):
    """Kinematics of the reference posture, all in the world frame."""

    # (6, nv): Pinocchio's `data.J`: the joints' spatial Jacobian, linear then angular, at the world's origin.
    jacobian: Array
    cog_jacobian: Array  # (3, nv): Pinocchio's `data.Jcom`: Jacobian of the COG, m.
    cog: Array  # (3,): position of the COG, m.
    trunk_rotation: Array  # (3, 3): rotation of the root link.
    left_rotation: Array  # (3, 3): rotation of the left sole frame.
    left_position: Array  # (3,): position of the left sole frame, m.
    right_rotation: Array  # (3, 3): rotation of the right sole frame.
    right_position: Array  # (3,): position of the right sole frame, m.


class SoleTargets(NamedTuple):
    """Poses that the soles have to reach at the end of a tick, in the world frame."""

    # (2, 3): target positions of the left and the right sole frame at the start of the tick, m.
    previous_position: Array
    position: Array  # (2, 3): target positions of the left and the right sole frame at its end, m.
    yaw: Array  # (2,): target rotation of the soles about the vertical, rad; both lie flat.


class PlannedMotion(NamedTuple):
    """Motion that is planned, N samples."""

    rate: float  # Samples per second, 1/s.
    joints: Array  # (N, n): joint positions, rad.
    cog_height: Array  # (N,): height of the COG above the floor, m.
    cog: Array  # (N, 2): horizontal position of the COG in the world frame, m.
    cog_velocity: Array  # (N, 2): horizontal velocity of the COG, m/s.
    zmp: Array  # (N, 2): ZMP on the floor in the world frame, m.


class Measurement(NamedTuple):
    """Measured COG and ZMP; rows of samples that are still to come do not count."""

    cog: Array  # (N, 2): horizontal position of the COG in the world frame, m.
    zmp: Array  # (N, 2): ZMP on the floor in the world frame, m.


class TickInputs(NamedTuple):
    """What `solve_reference_motion` reads in a tick.

    It is built once: the arrays are written in place from tick to tick.
    """

    kinematics: ReferenceKinematics  # Jacobians and poses in the configuration of the reference.
    targets: SoleTargets  # Poses of the soles at the end of the tick.
    plan: PlannedMotion  # Planned joints, COG and ZMP.
    measurement: Measurement  # Measured COG and ZMP.
    gains: CogZmpGains  # Gains of the COG-ZMP control, 1/s.
    # One leg is the base section, the other one is C-busy, all other joints are J-busy.
    columns: SectionColumns


class ReferenceVelocities(NamedTuple):
    """Velocity vectors that `solve_reference_motion` writes: the root's in its own axes, then the joints'."""

    planned: Array  # (nv,): velocity of the plan, m/s and rad/s.
    commanded: Array  # (nv,): velocity with the feedback of COG and ZMP, m/s and rad/s.


@compiled
def solve_reference_motion(
    now: int,
    then: int,
    feedback_rate: float,
    configuration: Array,
    trunk: Array,
    inputs: TickInputs,
    velocities: ReferenceVelocities,
) -> bool:
    """Find the velocities of all joints in a tick of the balance loop.

    Soles and trunk follow `pose_error_twists`, the COG's height z follows ż = feedback_rate (z_then − z) +
    (rate − feedback_rate) (z_then − z_now), and J-busy joints reach their planned positions at the tick's
    end. The COG's horizontal velocity is that of the plan in one solution, and that of `commanded_velocity`
    in the other. `compute_embedded_motion` gives the joint velocities. `now`: sample of the plan at the start
    of the tick; `then`: sample of the plan at its end; `feedback_rate`: proportional gain on the pose error,
    1/s; `configuration` (nq,): configuration of the reference: pose of the root link in the world frame (m
    and quaternion x, y, z, w), then joint positions, rad; `trunk` (4,): target orientation of the root link
    at the end of the tick, quaternion x, y, z, w; `inputs`: kinematics, targets of the soles, plan and
    measurement; `velocities`: overwritten. Returns false, with nothing overwritten, if a leg is singular.
    """
    kinematics, plan, columns = inputs.kinematics, inputs.plan, inputs.columns
    sole_twists, task = np.zeros((2, 6)), np.zeros(6)
    pose_error_twists(feedback_rate, plan.rate, kinematics, inputs.targets, trunk, sole_twists, task[3:])
    height = plan.cog_height
    task[0], task[1] = plan.cog_velocity[now, 0], plan.cog_velocity[now, 1]
    task[2] = feedback_rate * (height[then] - kinematics.cog[2]) + (plan.rate - feedback_rate) * (
        height[then] - height[now]
    )
    points, known = np.empty((2, 3)), np.zeros(kinematics.jacobian.shape[1])
    for row in range(2):
        for i in range(3):
            left_first = columns.ends[row] == 0
            points[row, i] = kinematics.left_position[i] if left_first else kinematics.right_position[i]
    for column in columns.given:
        known[column] = plan.rate * (plan.joints[then, column - 6] - configuration[column + 1])
    embedded = compute_embedded_motion(
        kinematics.jacobian, kinematics.cog_jacobian, points, columns, known, sole_twists
    )
    if singular_section(embedded.joint_speeds) >= 0:
        return False
    measurement = inputs.measurement
    command = commanded_velocity(
        inputs.gains,
        plan.cog_velocity[now],
        plan.cog[now],
        plan.zmp[now],
        measurement.cog[now],
        measurement.zmp[now],
    )
    _write_velocities(embedded.response, embedded.carried, task, command, velocities)
    return True


@compiled
def pose_error_twists(
    feedback_rate: float,
    rate: float,
    kinematics: ReferenceKinematics,
    targets: SoleTargets,
    trunk: Array,
    sole_twists: Array,
    trunk_velocity: Array,
) -> None:
    """Write the pose-error twists of the soles and the trunk, the task velocities of the balance controller.

    With the target x_d,now → x_d,then of the tick, v = feedback_rate (x_d,then − x) + (rate − feedback_rate)
    (x_d,then − x_d,now): the target's own velocity and a proportional feedback of the error. Orientations are
    fed back only: ω = feedback_rate log(R_d Rᵀ). `feedback_rate`: proportional gain on the pose error, 1/s;
    equal to `rate`, the error is gone at the tick's end; `rate`: 1 / the tick's duration, 1/s; `targets`:
    poses that the soles have to reach; `trunk` (4,): orientation that the root link has to reach, quaternion
    x, y, z, w; `sole_twists` (2, 6): overwritten: linear (m/s) and angular velocity (rad/s) of the left and
    the right sole frame, world axes; `trunk_velocity` (3,): overwritten: angular velocity of the root link,
    world axes, rad/s.
    """
    target = np.zeros((3, 3))
    target[2, 2] = 1.0
    for foot in range(2):
        position = kinematics.left_position if foot == 0 else kinematics.right_position
        target[0, 0] = target[1, 1] = np.cos(targets.yaw[foot])
        target[1, 0] = np.sin(targets.yaw[foot])
        target[0, 1] = -target[1, 0]
        for i in range(3):
            displacement = targets.position[foot, i] - targets.previous_position[foot, i]
            error = targets.position[foot, i] - position[i]
            sole_twists[foot, i] = feedback_rate * error + (rate - feedback_rate) * displacement
        rotation = kinematics.left_rotation if foot == 0 else kinematics.right_rotation
        _rotation_error(target, rotation, feedback_rate, sole_twists[foot, 3:])
    quaternion_to_matrix(trunk[0], trunk[1], trunk[2], trunk[3], target)
    _rotation_error(target, kinematics.trunk_rotation, feedback_rate, trunk_velocity)


@compiled
def _write_velocities(
    response: Array, carried: Array, task: Array, command: Array, velocities: ReferenceVelocities
) -> None:
    """Write carried + response · task, and the same with the COG's commanded horizontal velocity."""
    along, across = command[0] - task[0], command[1] - task[1]
    for row in range(len(carried)):
        gain = response[row]
        velocities.planned[row] = carried[row] + (
            gain[0] * task[0]
            + gain[1] * task[1]
            + gain[2] * task[2]
            + gain[3] * task[3]
            + gain[4] * task[4]
            + gain[5] * task[5]
        )
        velocities.commanded[row] = velocities.planned[row] + gain[0] * along + gain[1] * across


@compiled
def _rotation_error(target: Array, rotation: Array, rate: float, velocity: Array) -> None:
    """Write rate · log(target · rotationᵀ), the angular velocity in world axes that reduces the error."""
    error = np.zeros((3, 3))
    for i in range(3):
        for j in range(3):
            for k in range(3):
                error[i, j] += target[i, k] * rotation[j, k]
    x, y, z, w = matrix_to_quaternion(error)
    sine = np.sqrt(x * x + y * y + z * z)
    # Of the two quaternions of a rotation the one of the smaller angle; 2 is the limit at a small angle.
    scale = 2.0 * np.arctan2(sine, abs(w)) / sine if sine > 0.0 else 2.0
    scale = -rate * scale if w < 0.0 else rate * scale
    velocity[0], velocity[1], velocity[2] = scale * x, scale * y, scale * z
