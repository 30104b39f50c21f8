"""Measures of an average woman or man of given stature and mass, for a person who has not been measured."""

from math import sqrt
from typing import Literal

from simbench.errors import RobotError
from simbench.robot.human.anthropometry import Measures

Sex = Literal["female", "male"]

# Lengths as fractions of stature: Drillis & Contini (1966), in Winter (2009), figure 4.1.
CHIN_HEIGHT, SHOULDER_HEIGHT, HIP_HEIGHT, KNEE_HEIGHT, ANKLE_HEIGHT = 0.870, 0.818, 0.530, 0.285, 0.039
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
