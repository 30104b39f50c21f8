"""Thresholds of the verdict, each with its unit and the reason for its value."""

from typing import NamedTuple


class Threshold(NamedTuple):
    """A bound of a check."""

    check: str  # Name of the check that uses it.
    what: str
    value: float  # Largest value that passes.
    unit: str  # Its unit; empty for a ratio of two forces.
    reason: str  # Why it is what it is.


POSITION = Threshold(
    "joint position", "distance beyond a limit", 5e-3, "rad or m", "rounding and noise: a third of a degree"
)
JUMP_STEP = Threshold(
    "jump",
    "step of a joint, or of the base's orientation, less the steps beside it",
    0.1,
    "rad or m",
    "another branch is farther away",
)
JUMP_ACCELERATION = Threshold(
    "jump", "… and the acceleration that it needs", 300.0, "rad/s²", "no motor of a limb gives more"
)
BASE_JUMP_STEP = Threshold(
    "jump",
    "step of the base's position, less the steps beside it",
    0.02,
    "m",
    "less is the noise of a recording",
)
BASE_JUMP_ACCELERATION = Threshold(
    "jump", "… and the acceleration that it needs", 20.0, "m/s²", "twice gravity within a frame"
)
JUMP_RATIO = Threshold(
    "jump",
    "… and its ratio to the spread of the two steps on either side",
    4.0,
    "times",
    "in a fast motion steps change gradually",
)
SPEED = Threshold("joint speed", "speed", 1.02, "of limit", "error of differentiation at 30 Hz")
TORQUE = Threshold(
    "joint torque", "torque", 1.0, "of limit", "the motor's limit; the joint's friction comes on top"
)
SKATE = Threshold(
    "foot skate",
    "horizontal displacement of a touching point within a contact",
    0.02,
    "m",
    "lifting and landing move a touching point of a good walk by up to 1 cm",
)
PENETRATION = Threshold(
    "floor penetration",
    "depth of the lowest corner of a sole",
    0.01,
    "m",
    "soles give, and heights in retargeted data are known to 1 cm",
)
ONSET = Threshold(
    "floor penetration", "depth from which it is dated", 1e-3, "m", "heights are not known better"
)
FLOAT = Threshold(
    "float",
    "height of the lowest sole without contact",
    0.01,
    "m",
    "the height at which a sole no longer touches",
)
FLOAT_HEIGHT = Threshold(
    "float", "height up to which it is float, not flight", 0.05, "m", "feet are higher in a jump"
)
SOLE_ANGLE = Threshold(
    "sole angle",
    "tilt of a sole in contact",
    0.35,
    "rad",
    "people's heel strike; beyond, a rigid foot stands on an edge",
)
COLLISION = Threshold(
    "self-collision",
    "depth of two links' convex hulls in each other",
    0.01,
    "m",
    "hulls are larger than links",
)
ZMP = Threshold(
    "ZMP",
    "distance outside the support polygon",
    0.01,
    "m",
    "error from differentiation and from the moment of touch-down",
)
CAPTURE_SHIFT = Threshold(
    "ZMP",
    "… and the shift of the capture point meanwhile, ω ∫ d dt",
    0.02,
    "m",
    "a balance controller makes up for it",
)
FLAT = Threshold(
    "ZMP", "tilt up to which a foot counts with its whole sole", 0.09, "rad", "5°: the rubber gives"
)
COG_TIME = Threshold(
    "COG",
    "time outside the support polygon without a break",
    0.8,
    "s",
    "longer, the distance grows by cosh(ωt), more than 8 times; a step is shorter",
)
FLIGHT = Threshold(
    "flight",
    "force that is needed while no foot is on the floor",
    0.25,
    "of weight",
    "error of twice differentiated motions",
)
PULL = Threshold(
    "pull", "downward force on a foot in contact", 0.0, "of weight", "a floor holds no foot down"
)
FRICTION = Threshold(
    "friction", "horizontal over vertical force", 0.8, "", "the floor of simulations: rubber on a dry floor"
)
WRENCH = Threshold(
    "contact wrench",
    "part of the wrench that no forces at the soles give",
    0.05,
    "of weight",
    "what is left is the moment about the vertical; soles turn by little before they slip",
)
RUN_JOINT = Threshold(
    "run: joint error",
    "distance of a joint from the motion",
    0.2,
    "rad",
    "balance moves the legs by up to 0.1 rad",
)
RUN_HEIGHT = Threshold(
    "run: height", "how much lower the root is than in the motion", 0.3, "of height", "the robot has fallen"
)
RUN_BASE = Threshold(
    "run: base",
    "horizontal distance of the root from the motion",
    0.1,
    "m",
    "half a foot's length: contacts are no longer where they are meant",
)
RUN_SLIP = Threshold("run: foot slip", "slip of a foot that carries load", 0.02, "m", "as foot skate")
RUN_EDGE_TIME = Threshold(
    "run: ZMP at the edge",
    "time at the edge of the soles without a break",
    0.4,
    "s",
    "a robot that tips for longer falls",
)
RUN_SATURATION = Threshold(
    "run: torque saturation",
    "time of a motor at its limit without a break",
    0.1,
    "s",
    "shorter peaks are those of touch-down",
)

THRESHOLDS: tuple[Threshold, ...] = (
    *(POSITION, JUMP_STEP, JUMP_ACCELERATION, BASE_JUMP_STEP, BASE_JUMP_ACCELERATION, JUMP_RATIO),
    *(SPEED, TORQUE, SKATE, PENETRATION, ONSET, FLOAT, FLOAT_HEIGHT, SOLE_ANGLE, COLLISION),
    *(ZMP, CAPTURE_SHIFT, FLAT, COG_TIME, FLIGHT, PULL, FRICTION, WRENCH),
    *(RUN_JOINT, RUN_HEIGHT, RUN_BASE, RUN_SLIP, RUN_EDGE_TIME, RUN_SATURATION),
)
"""All thresholds, in the order of the checks."""
