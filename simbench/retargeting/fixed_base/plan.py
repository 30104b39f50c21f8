"""Plan the motion of an arm on a fixed base: its flange reproduces the motion of the person's hand."""

from dataclasses import dataclass, replace

import numpy as np
import pinocchio as pin

from simbench.errors import RetargetError, ScenarioError
from simbench.kinematics.arrays import Array
from simbench.kinematics.time_scaling import time_scaling_factor
from simbench.motion.human_motion import HumanMotion
from simbench.motion.trajectory import JointTrajectory
from simbench.options import RetargetSection, RobotSection
from simbench.retargeting.collision.interference import Interference, find_interference
from simbench.retargeting.contact.arm_hands import plan_arm_hands
from simbench.retargeting.contact.equipment import Equipment
from simbench.retargeting.contact.hand_plan import HandPlan
from simbench.retargeting.contact.transfer import PreferredPath, follow_palms
from simbench.retargeting.fixed_base.base import arm_joints, base_pose, rest_posture
from simbench.retargeting.placement.spot import BasePlacement
from simbench.retargeting.whole_body.stance import (
    OnProgress,
    blend_into_reach,
    choose_placement,
    measure_grip_error,
)
from simbench.robot.pedestal import on_pedestal
from simbench.robot.robot import Robot, placed_robot

_REACH_TOLERANCE = 0.002
"""Distance from a handle, m, up to which a flange still grips it: balance does not move it, as it moves
a palm."""
_USED_KEYS = {
    "joint_limit_margin_rad",
    "speed_limit_fraction",
    "contact_distance_m",
    "transition_distance_m",
    "transition_time_s",
}
"""Keys of `RetargetSection` that mean something to such a robot."""


@dataclass(frozen=True)
class ArmPlan:
    """Planned motion of an arm on a fixed base, before it is simulated.

    Parameters
    ----------
    trajectory : JointTrajectory
        All joints of the robot, slowed so that speed limits hold.
    base : (7,) array
        Pose of the root link in the world frame: position, m, and quaternion.
    home : (n,) array
        Posture at rest, rad.
    hands : HandPlan
        Desired motion of the hands that hold something, at the samples of `trajectory`.
    interferences : tuple of Interference
        Links that penetrate each other or the equipment.
    metrics : dict of str to float
        Metrics `retarget.*`.
    """

    trajectory: JointTrajectory
    base: Array
    home: Array
    hands: HandPlan
    interferences: tuple[Interference, ...]
    metrics: dict[str, float]


def plan_arm(
    robot: Robot,
    motion: HumanMotion,
    section: RobotSection,
    settings: RetargetSection,
    equipment: Equipment,
    on_progress: OnProgress,
) -> ArmPlan:
    """Let the hands of a robot with a fixed base do on the equipment what the person's did.

    Such an arm has no human form to imitate: only the palms' paths on the equipment, and near it, are the
    person's. The inverse-kinematics branch of elbow and wrist is chosen once, for all of the handles' path,
    where it keeps farthest from joint limits (`evaluate_placement`); away from the equipment the arm prefers
    its posture at rest.

    Parameters
    ----------
    robot : Robot
        Robot with a fixed base.
    motion : HumanMotion
        Recording, resampled, in the world frame of the scene.
    section : RobotSection
        Base placement, or that one is to be found, and the posture at rest.
    settings : RetargetSection
        Margins of limits, and distances and times of contact.
    equipment : Equipment
        Equipment that the person's hands hold. Handles of hands that the robot lacks are left alone.
    on_progress : callable (stage, done, total)
        Called as planning proceeds.

    Returns
    -------
    ArmPlan
        Motion of all joints, at speeds that the robot is capable of.

    Raises
    ------
    ScenarioError
        If a key is set that means nothing to such a robot.
    RetargetError
        If the equipment is out of reach, or only with a jump from one posture to another.
    """
    _require_used_keys(robot, settings)
    home = rest_posture(robot, section)
    handles = {side: handle for side, handle in equipment.handles.items() if f"{side}_hand" in robot.hands}
    equipment = replace(equipment, handles=handles)
    on_progress("transfer", 0, 3)
    base_placement = choose_placement(robot, section, settings, handles, on_progress)
    base = base_pose(base_placement.position, base_placement.heading, base_placement.height)
    scene = placed_robot(on_pedestal(robot, base_placement.height), base)
    hands = _plan_hands(scene, motion, equipment, settings, home)
    on_progress("transfer", 1, 3)
    problem = _ArmProblem(robot, motion, section, settings, equipment, base_placement, base)
    joints = _follow_hands(problem, hands, home)
    on_progress("transfer", 2, 3)
    error = _require_reach(scene, joints, hands, motion)
    factor = time_scaling_factor(
        motion.time, joints, np.asarray(robot.model.velocityLimit) * settings.speed_limit_fraction
    )
    trajectory = JointTrajectory(motion.time * factor, joints, robot.joint_names, None)
    interferences = find_interference(scene, trajectory, equipment.find_obstacles(hands))
    on_progress("transfer", 3, 3)
    metrics = {
        "retarget.hand_max_m": error,
        "retarget.slow_down": factor,
        "retarget.duration_s": float(trajectory.time[-1]),
        "retarget.interference_count": float(len(interferences)),
    }
    return ArmPlan(trajectory, base, home, hands, interferences, metrics)


def _require_used_keys(robot: Robot, settings: RetargetSection) -> None:
    """Refuse keys that say how to imitate a person's posture, or how legs move with the hands."""
    usual = RetargetSection()
    for key in RetargetSection.model_fields:
        if getattr(settings, key) != getattr(usual, key) and key not in _USED_KEYS:
            raise ScenarioError(
                f"retarget.{key}: says nothing to {robot.name}, whose base is fixed; allowed: "
                f"{getattr(usual, key)!r}"
            )


def _plan_hands(
    scene: Robot, motion: HumanMotion, equipment: Equipment, settings: RetargetSection, home: Array
) -> HandPlan:
    """Plan the hands of a placed robot; refuse a motion in which none comes to its handle."""
    data = scene.model.createData()
    pin.framesForwardKinematics(scene.model, data, home)
    home_poses = {
        side: data.oMf[scene.model.getFrameId(scene.frames[f"{side}_hand"])].homogeneous
        for side in equipment.handles
    }
    hands = plan_arm_hands(motion, equipment.handles, home_poses, settings)
    if not any(touching.any() for touching in hands.contact.values()):
        raise RetargetError(
            f"{scene.name}: nothing to do: {motion.source} brings no hand that it has within "
            f"retarget.contact_distance_m ({settings.contact_distance_m:g}) of its handle"
        )
    return hands


@dataclass(frozen=True)
class _ArmProblem:
    """Constants of the inverse kinematics of one plan."""

    robot: Robot
    motion: HumanMotion
    section: RobotSection
    settings: RetargetSection
    equipment: Equipment
    base_placement: BasePlacement
    base: Array


def _follow_hands(problem: _ArmProblem, hands: HandPlan, home: Array) -> Array:
    """Bring the hands to their targets, elsewhere near the posture at rest: joints (T, n), rad."""
    robot, time, margin = problem.robot, problem.motion.time, problem.settings.joint_limit_margin_rad
    lower, upper = robot.model.lowerPositionLimit + margin, robot.model.upperPositionLimit - margin
    # What is no joint of an arm, such as the fingers of a gripper, stays as it is at rest.
    still = np.array([name not in arm_joints(robot) for name in robot.joint_names])
    lower, upper = np.where(still, home, lower), np.where(still, home, upper)
    resting = np.tile(np.clip(home, lower, upper), (len(time), 1))
    preferred, start = blend_into_reach(
        robot,
        problem.base_placement,
        problem.section,
        problem.equipment.handles,
        time,
        resting,
        robot.joint_names,
        hands,
    )
    bases = np.tile(problem.base, (len(time), 1))
    path = PreferredPath(time, np.clip(preferred, lower, upper), bases, lower, upper)
    return follow_palms(robot.model, robot.frames, path, hands, np.clip(start, lower, upper))


def _require_reach(scene: Robot, joints: Array, hands: HandPlan, motion: HumanMotion) -> float:
    """Refuse a plan whose hand misses its handle; return the greatest distance, m."""
    error, when = measure_grip_error(scene, np.empty((len(joints), 0)), joints, hands, motion.time)
    if error > _REACH_TOLERANCE:
        raise RetargetError(
            f"{scene.name}: out of reach: its hand misses the equipment by {1000 * error:.0f} mm at "
            f"{when:.2f} s of the recording (allowed: {1000 * _REACH_TOLERANCE:.0f} mm)"
        )
    return error
