"""The ergonomic posture: joint angles in the middle of a person's ranges of comfort."""

import numpy as np

from simbench.robot.dh.romeo_table import ARM_JOINTS

# q_erg of Tomić (2018, §4.1.3), left arm, degrees; the right arm mirrors what is no pitch. The thesis prints
# -80 for the right wrist's yaw, which neither mirrors the left one nor is within the joint's range: 0.
ERGONOMIC_ARM = dict(zip(ARM_JOINTS, (20.0, 5.0, 10.0, -80.0, 30.0, 0.0, 15.0), strict=True))


def ergonomic_angle(name: str) -> float:
    """q_erg of a coordinate, rad."""
    side, joint = name[0], name[1:]
    if joint not in ERGONOMIC_ARM:
        return 0.0
    sign = -1.0 if side == "R" and not joint.endswith("Pitch") else 1.0
    return float(np.radians(sign * ERGONOMIC_ARM[joint]))
