"""How a robot with a fixed base follows a recording: on the equipment, with both arms, or with one hand."""

from simbench.errors import RetargetError
from simbench.motion.human_motion import HumanMotion
from simbench.options import RETARGETING_METHODS, RetargetSection, RobotSection
from simbench.retargeting.contact.hand_plan import Equipment
from simbench.retargeting.fixed_base.arm_plan import ArmPlan
from simbench.retargeting.fixed_base.free_hand import plan_free_hand
from simbench.retargeting.fixed_base.plan import plan_arm
from simbench.retargeting.fixed_base.two_arms import plan_two_arms
from simbench.retargeting.whole_body.stance import OnProgress
from simbench.robot.robot import Robot
from simbench.robot.upper_body import has_both_arms


def plan_fixed_base(
    robot: Robot,
    motion: HumanMotion,
    section: RobotSection,
    settings: RetargetSection,
    equipment: Equipment,
    on_progress: OnProgress,
) -> ArmPlan:
    """Plan the motion of a robot with a fixed base that follows a recording.

    Where its hands have handles, they do on the equipment what the person's did (`plan_arm`). Without
    equipment, two arms imitate the person's (`plan_two_arms`), and a single one follows one hand
    (`plan_free_hand`).

    Parameters
    ----------
    robot : Robot
        Robot with a fixed base.
    motion : HumanMotion
        Recording, resampled, in the world frame of the scene.
    section : RobotSection
        Base placement and the posture at rest.
    settings : RetargetSection
        Margins of limits, method, distances and times of contact.
    equipment : Equipment
        Equipment that the person's hands hold.
    on_progress : callable (stage, done, total)
        Called as planning proceeds.

    Returns
    -------
    ArmPlan
        Motion of all joints, at speeds that the robot is capable of.

    Raises
    ------
    SimbenchError
        If the robot cannot follow the recording.
    """
    holds = any(f"{side}_hand" in robot.hands for side in equipment.handles)
    if settings.method not in RETARGETING_METHODS and (holds or not has_both_arms(robot)):
        raise RetargetError(
            f"retarget.method: {settings.method}: {robot.name} follows hands, not arms; "
            f"allowed: {', '.join(RETARGETING_METHODS)}"
        )
    if holds:
        return plan_arm(robot, motion, section, settings, equipment, on_progress)
    if has_both_arms(robot):
        return plan_two_arms(robot, motion, section, settings, on_progress)
    return plan_free_hand(robot, motion, section, settings, on_progress)
