"""What following a person's steps starts from: the scenario's sections, and what was found of the person."""

from typing import NamedTuple

from scipy.spatial.transform import Rotation

from simbench.kinematics.arrays import Array
from simbench.motion.human_motion import HumanMotion
from simbench.options import RetargetSection, RobotSection, SimulationSection
from simbench.retargeting.legs.body import PersonBody
from simbench.retargeting.legs.contacts import RecordedSteps
from simbench.retargeting.legs.upper_body import FollowedUpperBody


class StepFollowingOptions(NamedTuple):
    """Sections of a scenario that decide how a robot follows a person's steps.

    Parameters
    ----------
    section : RobotSection
        Place, heading and posture of the robot.
    retarget : RetargetSection
        Method, margins, and whether unlike steps are refused.
    settings : SimulationSection
        Physics step, and times to settle, lead in and hold.
    rate : float
        Rate of the balance controller, Hz.
    feedforward : str
        Feed-forward torque, as in `ControlSection`.
    """

    section: RobotSection
    retarget: RetargetSection
    settings: SimulationSection
    rate: float
    feedforward: str


class Person(NamedTuple):
    """What was found out about the person.

    Parameters
    ----------
    motion : HumanMotion
        The recording, T samples.
    body : PersonBody
        Heading, lean and centre of gravity.
    recorded : RecordedSteps
        Contacts of the feet.
    """

    motion: HumanMotion
    body: PersonBody
    recorded: RecordedSteps


class BodyMotion(NamedTuple):
    """What the robot does beside its steps, at the recording's T samples.

    Parameters
    ----------
    upper : FollowedUpperBody
        Trunk and arms.
    rotation : scipy.spatial.transform.Rotation
        Orientation of the root that the person's heading and lean ask for, in the recording's world frame.
    heights : (T,) array
        Height of the COG, m.
    lean : float
        Part of the person's lean that is followed.
    """

    upper: FollowedUpperBody
    rotation: Rotation
    heights: Array
    lean: float
