"""Measures of a person from which the modified Hanavan body is built, measured or of the average."""

from dataclasses import dataclass, fields
from math import sqrt
from typing import Literal

from simbench.errors import RobotError

LONGEST = 3.0  # m, more than any measure of any person: a larger number is not in metres


@dataclass(frozen=True)
class Measures:
    """Measures of a person, m, with their numbers in Tomić (2018), table B.1.

    P1 (hand length), P10 (upper trunk length) and P31 (hand width) of that table enter no equation and are
    left out; P41 is `hip_to_chin`. Raises RobotError if a measure is not above 0 and at most 3 m.
    """

    # `wrist_to_knuckle_length`, `forearm_length`, `upper_arm_length`: P2, P3, P4; forearm and upper arm from
    # joint to joint.
    wrist_to_knuckle_length: float
    forearm_length: float
    upper_arm_length: float
    elbow_to_acromion_length: float  # P5.
    # `foot_length`, `shank_length`, `thigh_length`, `head_length`: P6, P7, P8, P9; the head length is from
    # the intersection of chin and neck to the vertex.
    foot_length: float
    shank_length: float
    thigh_length: float
    head_length: float
    xiphion_to_acromion_length: float  # P11, vertical distance to the level of the acromion.
    # `middle_trunk_length`, `lower_trunk_length`: P12, P13: xiphion to omphalion (navel), omphalion to hip.
    middle_trunk_length: float
    lower_trunk_length: float
    # `fist_circumference`, `wrist_circumference`, `forearm_circumference`, `elbow_circumference`: P14, P15,
    # P16, P17.
    fist_circumference: float
    wrist_circumference: float
    forearm_circumference: float
    elbow_circumference: float
    axillary_arm_circumference: float  # P18.
    # `foot_circumference`, `ball_of_foot_circumference`, `toe_circumference`, `ankle_circumference`: P19,
    # P20, P21, P22.
    foot_circumference: float
    ball_of_foot_circumference: float
    toe_circumference: float
    ankle_circumference: float
    # `shank_circumference`, `knee_circumference`, `upper_thigh_circumference`: P23, P24, P25.
    shank_circumference: float
    knee_circumference: float
    upper_thigh_circumference: float
    # `head_circumference`, `chest_circumference`, `xiphion_circumference`, `omphalion_circumference`: P26,
    # P27, P28, P29.
    head_circumference: float
    chest_circumference: float
    xiphion_circumference: float
    omphalion_circumference: float
    buttock_circumference: float  # P30.
    wrist_width: float  # `wrist_width`, `foot_width`, `toe_width`, `hip_depth`: P32, P33, P34, P35.
    foot_width: float
    toe_width: float
    hip_depth: float
    # `chest_width`, `xiphion_width`, `omphalion_width`, `coxae_width`: P36, P37, P38, P39 (the table prints
    # the last as a second 38).
    chest_width: float
    xiphion_width: float
    omphalion_width: float
    coxae_width: float
    xiphion_to_chin_length: float  # P40, to the intersection of chin and neck.

    def __post_init__(self) -> None:
        for field in fields(self):
            value = getattr(self, field.name)
            if not 0.0 < value <= LONGEST:
                raise RobotError(
                    f"measures.{field.name}: {value:g} m; allowed: above 0, at most {LONGEST:g} m (in metres)"
                )

    @property
    def hip_to_chin(self) -> float:
        """P41, from the hip to the intersection of chin and neck, m: P12 + P13 + P40."""
        return self.middle_trunk_length + self.lower_trunk_length + self.xiphion_to_chin_length


Sex = Literal["female", "male"]

# Lengths as fractions of stature: Drillis & Contini (1966), in Winter (2009), figure 4.1.
CHIN_HEIGHT, SHOULDER_HEIGHT, HIP_HEIGHT, KNEE_HEIGHT, ANKLE_HEIGHT = 0.870, 0.818, 0.530, 0.285, 0.039
# Fractions of stature for lengths that table B.1 does not contain. Shoulder width: Drillis & Contini (1966),
# in Winter (2009), figure 4.1. The others are estimates: height of the base of the neck above the shoulders,
# and of the head's joint above the base of the neck.
SHOULDER_WIDTH = 2 * 0.129
NECK_BASE, NECK = 0.032, 0.060
UPPER_ARM, FOREARM = 0.186, 0.146
# Lengths of upper, middle and lower trunk, which divide the distance from shoulder to hip: De Leva (1996),
# table 4, mm.
TRUNK_PARTS = {"female": (142.5, 205.3, 181.5), "male": (170.7, 215.5, 145.7)}
# Wrist to knuckle as a fraction of stature: the same table, wrist joint centre to third metacarpale, mm.
WRIST_TO_KNUCKLE = {"female": 78.0 / 1735.0, "male": 86.2 / 1741.0}

# Means of the 1988 survey of US Army personnel (Gordon et al., Natick/TR-89/044), rounded to 5 mm, which is
# less than such means differ between surveys. Its women measure 1.629 m and 62.0 kg, its men 1.756 m and 78.5
# kg.
SURVEY = {"female": (1.629, 62.0), "male": (1.756, 78.5)}
# These depend on the bones: they are scaled with stature.
LENGTHS = {
    "elbow_to_acromion_length": (0.310, 0.340),
    "foot_length": (0.245, 0.270),
    "head_circumference": (0.545, 0.570),
}
# These depend on the soft tissue: the volume of a segment is its girth squared times a length, so at equal
# density they are scaled with the square root of mass over stature.
GIRTHS = {
    "wrist_circumference": (0.150, 0.175),
    "forearm_circumference": (0.255, 0.300),  # measured with the muscles tense
    "foot_width": (0.090, 0.100),
    "ball_of_foot_circumference": (0.225, 0.250),
    "ankle_circumference": (0.205, 0.220),
    "shank_circumference": (0.355, 0.380),
    "knee_circumference": (0.365, 0.385),
    "upper_thigh_circumference": (0.580, 0.595),
    "chest_circumference": (0.905, 0.990),
    "omphalion_circumference": (0.790, 0.860),
    "buttock_circumference": (0.965, 0.985),
    "hip_depth": (0.225, 0.240),
    "chest_width": (0.280, 0.320),
    "omphalion_width": (0.290, 0.310),
    "coxae_width": (0.345, 0.340),
}
# Estimates, because that survey has no such measure or only a neighbouring one. Fist: hand circumference
# times 1.37, the ratio for men of Hertzberg et al. (1954). Elbow and axilla: between the survey's forearm
# and flexed upper arm. Foot: round the instep, a little more than the ball. Toes: 0.85 of the ball.
# Wrist width: of the bones, a third of the circumference. Xiphion: midway between chest and navel.
ESTIMATES = {
    "fist_circumference": (0.255, 0.295),
    "elbow_circumference": (0.240, 0.275),
    "axillary_arm_circumference": (0.285, 0.330),
    "foot_circumference": (0.235, 0.260),
    "toe_circumference": (0.190, 0.210),
    "wrist_width": (0.050, 0.058),
    "toe_width": (0.075, 0.085),
    "xiphion_circumference": (0.850, 0.925),
    "xiphion_width": (0.285, 0.315),
}


def average_measures(sex: Sex, stature: float, mass: float) -> Measures:
    """Estimate all measures of a person from sex, stature and mass.

    `sex`: `female` or `male`; `stature`: stature, m; `mass`: body mass, kg. Returns measures: lengths
    proportional to stature; girths, widths and depths proportional to the square root of mass over stature.
    """
    if sex not in SURVEY:
        raise RobotError(f"sex `{sex}`: no average is known; allowed: {', '.join(SURVEY)}")
    if not (1.2 <= stature <= 2.3 and 30.0 <= mass <= 250.0):
        raise RobotError(
            f"average {sex}: stature {stature:g} m, mass {mass:g} kg; allowed: 1.2-2.3 m, 30-250 kg (adults)"
        )
    survey_stature, survey_mass = SURVEY[sex]
    column = ("female", "male").index(sex)
    length_scale = stature / survey_stature
    girth_scale = sqrt((mass / survey_mass) / length_scale)
    upper, middle, lower = (
        (SHOULDER_HEIGHT - HIP_HEIGHT) * stature * part / sum(TRUNK_PARTS[sex]) for part in TRUNK_PARTS[sex]
    )
    lengths = {
        "wrist_to_knuckle_length": WRIST_TO_KNUCKLE[sex] * stature,
        "forearm_length": FOREARM * stature,
        "upper_arm_length": UPPER_ARM * stature,
        "shank_length": (KNEE_HEIGHT - ANKLE_HEIGHT) * stature,
        "thigh_length": (HIP_HEIGHT - KNEE_HEIGHT) * stature,
        "head_length": (1.0 - CHIN_HEIGHT) * stature,
        "xiphion_to_acromion_length": upper,
        "middle_trunk_length": middle,
        "lower_trunk_length": lower,
        "xiphion_to_chin_length": upper + (CHIN_HEIGHT - SHOULDER_HEIGHT) * stature,
    }
    lengths |= {name: length_scale * values[column] for name, values in LENGTHS.items()}
    girths = {name: girth_scale * values[column] for name, values in (GIRTHS | ESTIMATES).items()}
    return Measures(**lengths, **girths)
