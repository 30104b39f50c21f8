"""From a recording to the joints of an arm on a fixed base, whose flange does what the person's hand did."""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import pinocchio as pin
from numpy.typing import NDArray

from simbench.errors import RetargetError, ScenarioError
from simbench.kinematics.time_scaling import time_scaling_factor
from simbench.motion.handles import Handle
from simbench.motion.human_motion import HumanMotion
from simbench.motion.trajectory import JointTrajectory
from simbench.options import RetargetSection, RobotSection
from simbench.retargeting.collision.interference import Interference, find_interference
from simbench.retargeting.contact.arm_hands import plan_arm_hands
from simbench.retargeting.contact.hand_plan import HandPlan
from simbench.retargeting.contact.transfer import Path, follow_palms
from simbench.retargeting.fixed_base.base import base_pose, rest_posture
from simbench.retargeting.whole_body.plan import Progress, Surroundings
from simbench.retargeting.whole_body.stance import choose_spot, guide_posture, missed_grip
from simbench.robot.robot import Robot, placed_robot

_REACH_TOLERANCE = 0.002
"""Distance from a handle, m, up to which a flange still grips it: no COG moves it off, as one does a palm."""
_USED = {
    "joint_limit_margin_rad",
    "speed_limit_fraction",
    "contact_distance_m",
    "transition_distance_m",
    "transition_time_s",
}
"""Of `RetargetSection`."""


@dataclass(frozen=True)
class ArmPlan:
    """What an arm on a fixed base is to do, before it is simulated.

    Parameters
    ----------
    trajectory : JointTrajectory
        All joints of the robot, slowed so that speed limits hold.
    base : (7,) array
        Pose of the root link.
    home : (n,) array
        Posture at rest, rad.
    hands : HandPlan
        At the samples of `trajectory`; of the hands that hold something.
    interferences : tuple of Interference
        Links that come into each other or into the equipment.
    metrics : dict of str to float
        `retarget.*`.
    """

    trajectory: JointTrajectory
    base: NDArray[np.float64]
    home: NDArray[np.float64]
    hands: HandPlan
    interferences: tuple[Interference, ...]
    metrics: dict[str, float]


def plan_arm(
    robot: Robot,
    motion: HumanMotion,
    place: RobotSection,
    settings: RetargetSection,
    handles: Mapping[str, Handle],
    progress: Progress,
    surroundings: Surroundings = lambda hands: (),
) -> ArmPlan:
    """Let the hands of a robot with a fixed base do on the equipment what the person's did.

    Such an arm has no form to imitate: only the palms' paths on the equipment, and near it, are the
    person's. Which way elbow and wrist bend is chosen once, for all of the handles' way, where it keeps
    farthest from joint limits (`judge_spot`); away from the equipment the arm prefers its posture at rest.

    Parameters
    ----------
    robot : Robot
    motion : HumanMotion
        Resampled, in the world frame of the scene.
    place : RobotSection
    settings : RetargetSection
    handles : {side: Handle}
        What each of the person's hands holds. Those of hands that the robot lacks are left alone.
    progress : callable (stage, done, total)
    surroundings : callable (HandPlan) -> sequence of Obstacle
        What the robot must not come into.

    Returns
    -------
    ArmPlan

    Raises
    ------
    ScenarioError
        If a key is set that says nothing to such a robot.
    RetargetError
        If the equipment is out of reach, or only with a jump from one posture to another.
    """
    _require_used_keys(robot, settings)
    home = rest_posture(robot, place)
    handles = {side: handle for side, handle in handles.items() if f"{side}_hand" in robot.hands}
    for role, hand in robot.hands.items():
        if hand.joints:
            raise RetargetError(f"{robot.name}: hands.{role} has joints; an arm on a fixed base allows none")
    progress("transfer", 0, 3)
    spot = choose_spot(robot, place, settings, handles, progress)
    base = base_pose(spot.position, spot.heading)
    scene = placed_robot(robot, base)
    data = scene.model.createData()
    pin.framesForwardKinematics(scene.model, data, home)
    hands = plan_arm_hands(
        motion,
        handles,
        {
            side: data.oMf[scene.model.getFrameId(robot.frames[f"{side}_hand"])].homogeneous
            for side in handles
        },
        contact_distance=settings.contact_distance_m,
        transition_distance=settings.transition_distance_m,
        transition_time=settings.transition_time_s,
    )
    if not any(touching.any() for touching in hands.contact.values()):
        raise RetargetError(
            f"{robot.name}: nothing to do: {motion.source} brings no hand that it has within "
            f"retarget.contact_distance_m ({settings.contact_distance_m:g}) of its handle"
        )
    progress("transfer", 1, 3)
    margin = settings.joint_limit_margin_rad
    lower, upper = robot.model.lowerPositionLimit + margin, robot.model.upperPositionLimit - margin
    resting = np.tile(np.clip(home, lower, upper), (len(motion.time), 1))
    preferred, start = guide_posture(
        robot, spot, place, handles, motion.time, resting, robot.joint_names, hands
    )
    bases = np.tile(base, (len(motion.time), 1))
    path = Path(motion.time, np.clip(preferred, lower, upper), bases, lower, upper)
    joints = follow_palms(robot.model, robot.frames, path, hands, np.clip(start, lower, upper))
    progress("transfer", 2, 3)
    missed, when = missed_grip(scene, np.empty((len(joints), 0)), joints, hands, motion.time)
    if missed > _REACH_TOLERANCE:
        raise RetargetError(
            f"{robot.name}: out of reach: its hand misses the equipment by {1000 * missed:.0f} mm at "
            f"{when:.2f} s of the recording (allowed: {1000 * _REACH_TOLERANCE:.0f} mm)"
        )
    factor = time_scaling_factor(
        motion.time, joints, np.asarray(robot.model.velocityLimit) * settings.speed_limit_fraction
    )
    trajectory = JointTrajectory(motion.time * factor, joints, robot.joint_names, None)
    interferences = find_interference(scene, trajectory, surroundings(hands))
    progress("transfer", 3, 3)
    metrics = {
        "retarget.hand_max_m": missed,
        "retarget.slow_down": factor,
        "retarget.duration_s": float(trajectory.time[-1]),
        "retarget.interference_count": float(len(interferences)),
    }
    return ArmPlan(trajectory, base, home, hands, interferences, metrics)


def _require_used_keys(robot: Robot, settings: RetargetSection) -> None:
    """Refuse what says how to imitate a person's posture, or how legs go along."""
    usual = RetargetSection()
    for key in RetargetSection.model_fields:
        if getattr(settings, key) != getattr(usual, key) and key not in _USED:
            raise ScenarioError(
                f"retarget.{key}: says nothing to {robot.name}, whose base is fixed; allowed: "
                f"{getattr(usual, key)!r}"
            )
