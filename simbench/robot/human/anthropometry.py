"""The anthropometric measures of a person from which the modified Hanavan body is built."""

from dataclasses import dataclass, fields

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
