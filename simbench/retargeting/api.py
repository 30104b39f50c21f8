"""From a recording and a robot's name to a plan: retargeting on its own, without a scenario."""

from dataclasses import dataclass, replace

from simbench.errors import RetargetError
from simbench.motion.human_motion import HumanMotion, complete_arms, resample
from simbench.motion.motion_inspection import find_doubts
from simbench.motion.person_body import hang_missing_arm
from simbench.motion.read_options import ReadOptions
from simbench.motion.readers import read_motion
from simbench.options import (
    KINEMATIC,
    BalanceSection,
    RetargetSection,
    RobotSection,
    SimulationSection,
    require_choices,
    resolve_method,
)
from simbench.retargeting.arm.fixed_base import ArmPlan
from simbench.retargeting.arm.on_equipment import plan_fixed_base
from simbench.retargeting.contact.hand_plan import Equipment
from simbench.retargeting.imitate.plan import KinematicPlan, plan_kinematic
from simbench.retargeting.stand.standing_plan import MotionPlan, plan_motion
from simbench.retargeting.steps.step_candidates import StepFollowingOptions
from simbench.retargeting.steps.step_following import StepFollowingPlan, plan_step_following
from simbench.robot.robot import Robot, load_robot
from simbench.system.progress import Progress, shown_progress

# One Gauss-Newton step a frame follows a person's fastest motion at this rate (Hz) within a few mm.
_IMITATION_RATE = 200.0


@dataclass(frozen=True)
class Retargeting:
    """A recording, retargeted.

    Parameters
    ----------
    robot : Robot
        Robot that the motion is for.
    motion : HumanMotion
        The recording at the rate of the plan.
    plan : KinematicPlan, MotionPlan, StepFollowingPlan or ArmPlan
        Planned motion of the robot: a `KinematicPlan` where balance is left out, a `StepFollowingPlan` if its
        legs follow the person's steps, an `ArmPlan` for a fixed base.
    method : str
        Method of retargeting, one of `options.RETARGETING_METHODS`.
    recording : HumanMotion
        The recording as it was read, with everything doubtful about it.
    physics : str
        Level of physics, one of `options.PHYSICS`.
    """

    robot: Robot
    motion: HumanMotion
    plan: KinematicPlan | MotionPlan | StepFollowingPlan | ArmPlan
    method: str
    recording: HumanMotion
    physics: str

    @property
    def doubts(self) -> tuple[str, ...]:
        """Everything about the recording that may well be wrong, one line each: those of `motion inspect`."""
        return self.recording.doubts


def retarget_motion(
    source: str,
    robot_name: str,
    *,
    physics: str | None = None,
    method: str = "auto",
    reading: ReadOptions | None = None,
    free: bool = False,
    timing: str = "auto",
    on_progress: Progress = None,
) -> Retargeting:
    """Retarget a recording to a robot: free motion, or on equipment whose handles are known.

    A robot with a fixed base and two arms imitates with both; one with a single arm follows one hand.

    Parameters
    ----------
    source : str
        Name or path of the recording, as in `read_motion`.
    robot_name : str
        Name of the robot or path of its URDF, as in `load_robot`.
    physics : str or None
        Level of physics: `kinematic`, the person's motion within the robot's limits, without balance;
        `stand`, both feet planted and balanced; `steps`, the person's steps, balanced. None for `kinematic`,
        but `stand` where hands hold equipment, the base is fixed or another method is asked for.
    method : str
        One of `options.RETARGETING_METHODS`; `kinematic` has `bones` only. `auto` is `bones`, but
        `analytical` where hands hold equipment or the base is fixed.
    reading : ReadOptions, optional
        Declarations about the recording: units, axes, marker map.
    free : bool
        Whether to ignore the equipment that the hands held.
    timing : str
        What gives way where the person is faster than the robot, one of `options.TIMINGS`, as in
        `RetargetSection`. `kinematic` and `steps` keep the recorded clock in any case.
    on_progress : callable (stage, done, total), bool or None
        Called as planning proceeds; or whether progress is shown on the standard error, None for in a
        terminal or a notebook only.

    Returns
    -------
    Retargeting
        The recording, the robot and the planned motion.

    Raises
    ------
    SimbenchError
        If the physics, the method or the timing is unknown, the recording or the robot cannot be read, or the
        one cannot follow the other.
    """
    require_choices(method, timing, physics)
    with shown_progress(on_progress) as tell:
        robot = load_robot(robot_name)
        tell("read", 0, 1)
        reading = reading or ReadOptions()
        recording = read_motion(source, reading)
        recording = replace(recording, doubts=find_doubts(recording))
        both_arms = {"left_arm", "right_arm"} <= robot.groups.keys()
        if both_arms and not reading.strict and len(complete_arms(recording.joints)) == 1:
            recording = hang_missing_arm(recording)
        equipment = Equipment({} if free else recording.handles)
        if physics is None:
            simple = method in ("auto", "bones") and timing in ("auto", "preserve")
            physics = KINEMATIC if simple and robot.floating and not equipment.handles else "stand"
        if physics != "stand":
            if not robot.floating:
                raise RetargetError(f"physics `{physics}`: {robot.name} has a fixed base; allowed: stand")
            if equipment.handles:
                raise RetargetError(
                    f"physics `{physics}`: {recording.source}: hands hold equipment; allowed: stand, "
                    "or free motion (--free)"
                )
        tell("read", 1, 1)
        settings = RetargetSection.model_validate(
            {"method": method, "timing": timing, "physics": "stand" if physics == KINEMATIC else physics}
        )
        settings = resolve_method(
            settings, floating=robot.floating, both_arms=both_arms, holds_equipment=bool(equipment.handles)
        )
        plan: KinematicPlan | MotionPlan | StepFollowingPlan | ArmPlan
        if physics == KINEMATIC:
            motion = recording
            plan = plan_kinematic(robot, motion, settings, tell)
        else:
            motion = resample(recording, max(recording.rate, _IMITATION_RATE))
            if physics == "steps":
                options = StepFollowingOptions(
                    RobotSection(), settings, SimulationSection(), BalanceSection().rate_hz, "none"
                )
                plan = plan_step_following(robot, motion, options, tell)
            else:
                # Where hands hold something, a base placement is found from which the robot can too.
                place = RobotSection(place="auto" if equipment.handles else "given")
                make_plan = plan_motion if robot.floating else plan_fixed_base
                plan = make_plan(robot, motion, place, settings, equipment, tell)
    return Retargeting(robot, motion, plan, settings.method, recording, physics)
