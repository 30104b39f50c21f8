"""From a recording and a robot's name to a plan: retargeting on its own, without a scenario."""

from dataclasses import dataclass

from simbench.errors import RetargetError
from simbench.motion.human_motion import HumanMotion, resample
from simbench.motion.inspection import with_doubts
from simbench.motion.missing_arm import hang_missing_arm
from simbench.motion.read_options import ReadOptions
from simbench.motion.readers import read_motion
from simbench.options import BalanceSection, RetargetSection, RobotSection, SimulationSection
from simbench.retargeting.choices import require_choices
from simbench.retargeting.contact.equipment import Equipment
from simbench.retargeting.fixed_base.arm_plan import ArmPlan
from simbench.retargeting.fixed_base.choice import plan_fixed_base
from simbench.retargeting.legs.plan import StepFollowingPlan, plan_step_following
from simbench.retargeting.legs.task import StepFollowingOptions
from simbench.retargeting.whole_body.plan import MotionPlan, plan_motion
from simbench.retargeting.whole_body.stance import OnProgress
from simbench.robot.robot import Robot, load_robot
from simbench.robot.upper_body import has_both_arms
from simbench.system.progress import Progress, shown_progress

_IMITATION_RATE = 200.0
"""One Gauss-Newton step a frame follows a person's fastest motion at this rate (Hz) within a few mm."""


@dataclass(frozen=True)
class Retargeting:
    """A recording, retargeted.

    Parameters
    ----------
    robot : Robot
        Robot that the motion is for.
    motion : HumanMotion
        The recording at the rate of the imitation.
    plan : MotionPlan, StepFollowingPlan or ArmPlan
        Planned motion of the robot; a `StepFollowingPlan` if its legs follow the person's steps, an `ArmPlan`
        for a fixed base.
    method : str
        Method of retargeting, one of `choices.METHODS`.
    recording : HumanMotion
        The recording as it was read, with everything doubtful about it.
    """

    robot: Robot
    motion: HumanMotion
    plan: MotionPlan | StepFollowingPlan | ArmPlan
    method: str
    recording: HumanMotion

    @property
    def doubts(self) -> tuple[str, ...]:
        """Everything about the recording that may well be wrong, one line each: those of `motion inspect`."""
        return self.recording.doubts


def retarget_motion(
    source: str,
    robot_name: str,
    method: str,
    *,
    reading: ReadOptions = ReadOptions(),  # noqa: B008
    free: bool = False,
    timing: str = "auto",
    legs: str = "stand",
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
    method : str
        One of `choices.METHODS`.
    reading : ReadOptions
        Declarations about the recording: units, axes, marker map.
    free : bool
        Whether to ignore the equipment that the hands held.
    timing : str
        What gives way where the person is faster than the robot, one of `choices.TIMINGS`, as in
        `RetargetSection`. Legs that follow keep the recorded clock in any case.
    legs : str
        What the legs do, one of `choices.LEGS`: `stand`, or `follow` the person's steps.
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
        If the method, the timing or what the legs do is unknown, the recording or the robot cannot be read,
        or the one cannot follow the other.
    """
    require_choices(method, timing, legs)
    with shown_progress(on_progress) as tell:
        robot = load_robot(robot_name)
        tell("read", 0, 1)
        recording = with_doubts(read_motion(source, reading))
        if has_both_arms(robot) and not reading.strict:
            recording = hang_missing_arm(recording)
        motion = resample(recording, max(recording.rate, _IMITATION_RATE))
        tell("read", 1, 1)
        settings = RetargetSection.model_validate({"method": method, "timing": timing, "legs": legs})
        handles = {} if free else motion.handles
        plan = _make_plan(robot, motion, settings, Equipment(handles), tell)
    return Retargeting(robot, motion, plan, method, recording)


def _make_plan(
    robot: Robot, motion: HumanMotion, settings: RetargetSection, equipment: Equipment, tell: OnProgress
) -> MotionPlan | StepFollowingPlan | ArmPlan:
    """Plan with the planner for the robot's base and legs."""
    if settings.legs == "follow":
        if not robot.floating:
            raise RetargetError(f"legs `follow`: {robot.name} has a fixed base; allowed: stand")
        if equipment.handles:
            raise RetargetError(
                f"legs `follow`: {motion.source}: hands hold equipment; allowed: stand, or free motion "
                "(--free)"
            )
        options = StepFollowingOptions(
            RobotSection(), settings, SimulationSection(), BalanceSection().rate_hz, "none"
        )
        return plan_step_following(robot, motion, options, tell)
    # Where hands hold something, a base placement is found from which the robot can too.
    place = RobotSection(place="auto" if equipment.handles else "given")
    make_plan = plan_motion if robot.floating else plan_fixed_base
    return make_plan(robot, motion, place, settings, equipment, tell)
