"""Places of the joints of an average person in the T-pose, for archives that are read without a body model.

All are from published anthropometry, as fractions of stature; none is from a body model's data.
"""

import numpy as np

from simbench.kinematics.arrays import Array
from simbench.motion.readers.smpl.layouts import FINGERS, Layout
from simbench.robot.anthropometry import (
    ANKLE_HEIGHT,
    FOREARM,
    HIP_HEIGHT,
    KNEE_HEIGHT,
    SHOULDER_HEIGHT,
    SURVEY,
    UPPER_ARM,
    WRIST_TO_KNUCKLE,
)
from simbench.robot.human_skeleton import NECK, NECK_BASE, SHOULDER_WIDTH
from simbench.robot.sides import SIDES

STATURES = {"female": SURVEY["female"][0], "male": SURVEY["male"][0]}
"""Mean statures, m, of the survey that simbench's average measures are from."""
NEUTRAL_STATURE = 1.70
"""Stature of a person whose sex is not known, m: midway between these means, rounded to a centimetre."""

# Half the distance of the hip joints' centres: 0.36 of the distance of the anterior superior iliac spines:
# each lies 14 % of it medial of its spine (Bell et al. 1989); that is about 0.127 of stature, an estimate.
HIP_HALF_WIDTH = 0.046
# Heights of L5/S1, of the middle between it and T12/L1, of T12/L1 and of the middle of the thorax. Estimates
# that only distribute the trunk's motion, as in simbench's virtual actors.
PELVIS, SPINE = 0.580, {"spine1": 0.615, "spine2": 0.650, "spine3": 0.720}
# Distance of the sternoclavicular joint from the midline, an estimate; at the height of the shoulders.
STERNOCLAVICULAR = 0.012
# The ball of the foot before the ankle: 0.47 of the foot's length, which is 0.152 of stature (Drillis &
# Contini 1966); and its height above the sole, an estimate.
BALL_FORWARD, BALL_HEIGHT = 0.47 * 0.152, 0.012
# Jaw and eyes before the head's joint and above it: estimates.
FACE = {"jaw": (0.0, 0.000, 0.020), "left_eye": (0.018, 0.030, 0.050), "right_eye": (-0.018, 0.030, 0.050)}
# Lengths of metacarpal, proximal and middle phalanx, mm, of adults (Buryanov & Kotiuk 2010), who are taken to
# be 1.70 m tall; and the distance of the knuckle from the hand's axis towards the thumb, mm, an estimate. The
# thumb has no middle phalanx: its first joint is that of its metacarpal with the wrist.
FINGER_LENGTHS = {
    "index": (68.1, 39.8, 22.4, 24.0),
    "middle": (64.6, 44.6, 26.3, 3.0),
    "ring": (58.0, 41.4, 25.7, -16.0),
    "pinky": (53.7, 32.7, 18.1, -33.0),
    "thumb": (0.0, 46.2, 31.6, 25.0),
}
HAND_STATURE_MM = 1700.0


def average_stature(sex: str | None) -> float:
    """Stature of an average adult.

    `sex`: `female`, `male`, or None where it is not known. Returns stature, m.
    """
    return STATURES.get(sex or "", NEUTRAL_STATURE)


def average_joints(layout: Layout, stature: float) -> Array:
    """Compute the joints of an average person in the T-pose.

    `layout`: joints that are asked for; `stature`: stature, m. Returns (J, 3): positions relative to the
    pelvis, m; x left, y up, z forward, palms down.
    """
    places = {"pelvis": (0.0, PELVIS, 0.0), "neck": (0.0, SHOULDER_HEIGHT + NECK_BASE, 0.0)}
    places |= {name: (0.0, height, 0.0) for name, height in SPINE.items()}
    head = SHOULDER_HEIGHT + NECK_BASE + NECK
    places["head"] = (0.0, head, 0.0)
    places |= {name: (x, head + y, z) for name, (x, y, z) in FACE.items()}
    for side, sign in zip(SIDES, (1.0, -1.0), strict=True):
        places |= {f"{side}_{name}": place for name, place in _limbs(sign).items()}
    index = np.array([places[name] for name in layout.names])
    return np.asarray(stature * (index - index[0]))


def _limbs(sign: float) -> dict[str, tuple[float, float, float]]:
    """Joints of one side as fractions of stature; `sign` is 1 on the left."""
    hip, shoulder = sign * HIP_HALF_WIDTH, sign * SHOULDER_WIDTH / 2
    wrist = shoulder + sign * (UPPER_ARM + FOREARM)
    knuckle = float(np.mean(list(WRIST_TO_KNUCKLE.values())))
    found = {
        "hip": (hip, HIP_HEIGHT, 0.0),
        "knee": (hip, KNEE_HEIGHT, 0.0),
        "ankle": (hip, ANKLE_HEIGHT, 0.0),
        "foot": (hip, BALL_HEIGHT, BALL_FORWARD),
        "collar": (sign * STERNOCLAVICULAR, SHOULDER_HEIGHT, 0.0),
        "shoulder": (shoulder, SHOULDER_HEIGHT, 0.0),
        "elbow": (shoulder + sign * UPPER_ARM, SHOULDER_HEIGHT, 0.0),
        "wrist": (wrist, SHOULDER_HEIGHT, 0.0),
        "hand": (wrist + sign * knuckle, SHOULDER_HEIGHT, 0.0),
    }
    # The wrist's bones are what lies between the wrist's centre and the third metacarpal.
    carpus = knuckle - FINGER_LENGTHS["middle"][0] / HAND_STATURE_MM
    for finger in FINGERS:
        metacarpal, proximal, middle, towards_thumb = FINGER_LENGTHS[finger]
        along = carpus + np.cumsum([metacarpal, proximal, middle]) / HAND_STATURE_MM
        for k, distance in enumerate(along):
            place = (wrist + sign * float(distance), SHOULDER_HEIGHT, towards_thumb / HAND_STATURE_MM)
            found[f"{finger}{k + 1}"] = place
    return found
