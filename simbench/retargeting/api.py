"""From a recording and a robot's name to a plan: retargeting on its own, without a scenario."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import get_args

from simbench.errors import RetargetError
from simbench.motion.human_motion import HumanMotion, resample
from simbench.motion.read_options import ReadOptions
from simbench.motion.readers import read_motion
from simbench.options import RetargetSection, RobotSection
from simbench.retargeting.contact.equipment import Equipment
from simbench.retargeting.whole_body.plan import MotionPlan, plan_motion
from simbench.robot.robot import Robot, load_robot

OnProgress = Callable[[str, int, int], None]

METHODS: tuple[str, ...] = get_args(RetargetSection.model_fields["method"].annotation)

_IMITATION_RATE = 200.0
"""One Gauss-Newton step a frame follows a person's fastest motion at this rate (Hz) within a few mm."""


@dataclass(frozen=True)
class Retargeting:
    """A recording, retargeted.

    Parameters
    ----------
    robot : Robot
    motion : HumanMotion
        The recording at the rate of the imitation.
    plan : MotionPlan
    method : str
    """

    robot: Robot
    motion: HumanMotion
    plan: MotionPlan
    method: str


def _silent(stage: str, done: int, total: int) -> None:
    del stage, done, total


def retarget_motion(
    source: str,
    robot_name: str,
    method: str,
    *,
    reading: ReadOptions = ReadOptions(),  # noqa: B008
    free: bool = False,
    on_progress: OnProgress = _silent,
) -> Retargeting:
    """Retarget a recording to a robot that stands: free motion, or on equipment where its place is known.

    Parameters
    ----------
    source : str
        As in `read_motion`.
    robot_name : str
        As in `load_robot`.
    method : str
        One of `METHODS`.
    reading : ReadOptions
        What is declared about the recording.
    free : bool
        Leave out what the hands held.
    on_progress : callable (stage, done, total)

    Returns
    -------
    Retargeting

    Raises
    ------
    SimbenchError
        If the method is unknown, the recording or the robot cannot be read, or the one cannot follow the
        other.
    """
    if method not in METHODS:
        raise RetargetError(f"unknown method `{method}`; allowed: {', '.join(METHODS)}")
    robot = load_robot(robot_name)
    on_progress("read", 0, 1)
    motion = read_motion(source, reading)
    motion = resample(motion, max(motion.rate, _IMITATION_RATE))
    on_progress("read", 1, 1)
    settings = RetargetSection.model_validate({"method": method})
    handles = {} if free else motion.handles
    # Where hands hold something, the robot stands where it can too.
    place = RobotSection(place="auto" if handles else "given")
    plan = plan_motion(robot, motion, place, settings, Equipment(handles), on_progress)
    return Retargeting(robot, motion, plan, method)
