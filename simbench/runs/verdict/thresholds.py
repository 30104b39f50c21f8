"""Thresholds of the verdict, each with its unit and the reason for its value."""

from typing import NamedTuple


class Threshold(NamedTuple):
    """A bound of a check.

    Parameters
    ----------
    value : float
        Largest value that passes.
    unit : str
        Its unit.
    reason : str
        Why it is what it is.
    """

    value: float
    unit: str
    reason: str


POSITION = Threshold(1e-3, "rad or m", "rounding in files with three digits")
SPEED = Threshold(1.02, "of the limit", "error of the differentiation at 30 Hz")
TORQUE = Threshold(1.0, "of the limit", "torque limits are those of the motors, without the joints' friction")
JUMP_STEP = Threshold(0.1, "rad or m", "less is no other branch of the inverse kinematics")
JUMP_ACCELERATION = Threshold(
    300.0, "rad/s²", "a step of one frame that is more is beyond any motor of a limb"
)
BASE_JUMP_STEP = Threshold(0.02, "m", "of the base: less is the noise of a recording")
BASE_JUMP_ACCELERATION = Threshold(30.0, "m/s²", "of the base: three times gravity within one frame")
JUMP_RATIO = Threshold(4.0, "of the steps beside it", "a fast motion has fast neighbours, a jump has not")
SKATE = Threshold(0.02, "m", "rolling and landing move a touching point of a good walk by up to 1 cm")
ONSET = Threshold(1e-3, "m", "displacement or depth from which a fault that passes its bound is dated")
PENETRATION = Threshold(0.01, "m", "soles give, and heights in retargeted data are known to 1 cm")
FLOAT = Threshold(0.01, "m", "the height at which a sole no longer touches")
FLOAT_HEIGHT = Threshold(0.05, "m", "feet that are higher without weight on them are in flight")
SOLE_ANGLE = Threshold(0.35, "rad", "heel strike of people; beyond, a rigid foot stands on an edge")
FLAT = Threshold(0.09, "rad", "a foot tilted by less than 5° counts with its whole sole: the rubber gives")
COLLISION = Threshold(0.01, "m", "convex hulls of the links are larger than the links")
ZMP = Threshold(0.01, "m", "error of the ZMP from differentiation, and of the moment of touch-down")
CAPTURE_SHIFT = Threshold(
    0.02, "m", "capture-point shift by the ZMP's time outside that a balance controller makes up for"
)
COG_TIME = Threshold(0.8, "s", "outside for longer, the distance grows by cosh(ωt), more than 8 times")
FRICTION = Threshold(0.8, "", "the floor of the simulation, rubber on dry floor")
PULL = Threshold(0.0, "of the weight", "a floor does not hold a foot down")
FLIGHT = Threshold(
    0.25, "of the weight", "error of twice differentiated motions while no foot is on the floor"
)
WRENCH = Threshold(0.05, "of the weight", "part of the wrench that no forces of the soles give")
RUN_JOINT = Threshold(0.2, "rad", "the balance controller moves the legs by up to 0.1 rad to keep upright")
RUN_HEIGHT = Threshold(0.3, "of the height", "the robot has fallen, as `fell` of all runs says")
RUN_BASE = Threshold(
    0.1, "m", "half a foot's length off the path: contacts are no longer where they are meant"
)
RUN_SLIP = Threshold(0.02, "m", "as foot skate")
RUN_EDGE_TIME = Threshold(0.4, "s", "a robot that tips about an edge for longer than it takes to fall")
RUN_SATURATION = Threshold(0.1, "s", "shorter peaks are those of touch-down")
