"""The lengths of ROMEO's skeleton at the size of a person."""

from math import pi

import numpy as np
import pinocchio as pin
from numpy.typing import NDArray

from simbench.robot.dh.dh import BASE
from simbench.robot.dh.romeo_table import UpperBodyLengths
from simbench.robot.human.anthropometry import Measures
from simbench.robot.human.body_segments import HanavanBody
from simbench.robot.human.body_solids import solid_length
from simbench.robot.sides import SIDES

# Axes of the segments (columns x, y, z) in those of the root: x forward, y left, z up.
DOWN = np.array([[0.0, 1.0, 0.0], [1.0, 0.0, 0.0], [0.0, 0.0, -1.0]])
UP = np.eye(3)
FORWARD = np.array([[0.0, 0.0, 1.0], [1.0, 0.0, 0.0], [0.0, 1.0, 0.0]])
# The ankle lies about a quarter of the foot's length in front of the heel, and as high above the sole:
# Drillis & Contini (1966) have it 0.039 of stature high and the foot 0.152 long.
ANKLE = 0.25
# The lower trunk is the pelvis, which the spine turns on; middle and upper trunk turn with it. As on ROMEO
# the upper arm hangs on the shoulder's yaw and the forearm on the elbow's, before the rolls that turn them
# about their own axes: with the upper arm beyond the elbow's roll nothing would have mass between three axes,
# and the inertia matrix would be singular wherever the first and the last are parallel (arm sideways). The
# legs stand: they are part of the root.
CARRIERS = {
    "lower_trunk": BASE,
    "middle_trunk": "TrunkYaw",
    "upper_trunk": "TrunkYaw",
    "head": "HeadRoll",
    **{f"{side}_{name}": BASE for side in SIDES for name in ("thigh", "shank", "foot")},
    **{
        f"{side}_{segment}": side[0].upper() + joint
        for side in SIDES
        for segment, joint in (("upper_arm", "ShoulderYaw"), ("forearm", "ElbowYaw"), ("hand", "WristPitch"))
    },
}

# Fractions of stature for what table B.1 does not measure. Shoulder width: Drillis & Contini (1966), in
# Winter (2009), figure 4.1. Estimates: the joint of the head on the neck above the base of the neck, and that
# above the shoulders.
SHOULDER_WIDTH = 2 * 0.129
NECK_BASE, NECK = 0.032, 0.060
# The hand frame from the wrist, m: that of ROMEO's hand (Tomić 2018, table D.1), as in the recordings.
PALM_FORWARD, PALM_BELOW = 0.09, 0.02


def skeleton_lengths(measures: Measures, stature: float) -> UpperBodyLengths:
    """Take the lengths of the skeleton from a person's measures.

    A recording gives better ones for the arms (Tomić 2018, §3.3.2): put them in with `dataclasses.replace`.

    Parameters
    ----------
    measures : Measures
    stature : float
        m.

    Returns
    -------
    UpperBodyLengths
        On a root midway between the hips; the shoulders lie over it, at the height of the acromion.
    """
    return UpperBodyLengths(
        shoulder_height=measures.lower_trunk_length
        + measures.middle_trunk_length
        + measures.xiphion_to_acromion_length,
        neck_base=NECK_BASE * stature,
        neck=NECK * stature,
        shoulder_width=SHOULDER_WIDTH * stature,
        shoulder_offset=0.0,
        upper_arm=measures.upper_arm_length,
        forearm=measures.forearm_length,
        palm_forward=PALM_FORWARD,
        palm_below=PALM_BELOW,
    )


def basic_placements(body: HanavanBody, lengths: UpperBodyLengths) -> dict[str, pin.SE3]:
    """Place all segments in the root while the person stands in the basic configuration.

    Parameters
    ----------
    body : Body
    lengths : UpperBodyLengths
        Of the skeleton: shoulders, elbows and wrists may be a little off the ends of the segments, for they
        are measured by other means.

    Returns
    -------
    dict of str to pinocchio.SE3
        By segment. The root lies midway between the hips. The arms stretch forward, palms down; each hand is
        a fist at the wrist. A thigh hangs under the middle of its half of the pelvis.
    """
    p = body.measures
    waist = p.lower_trunk_length
    chest = waist + p.middle_trunk_length
    places = {
        "lower_trunk": _place(DOWN, 0.0, 0.0, waist),
        "middle_trunk": _place(DOWN, 0.0, 0.0, chest),
        "upper_trunk": _place(DOWN, 0.0, 0.0, chest + p.xiphion_to_acromion_length),
        "head": _place(UP, 0.0, 0.0, p.hip_to_chin),
    }
    elbow = lengths.shoulder_offset + lengths.upper_arm
    foot_axis = p.foot_circumference / (2 * pi) - ANKLE * p.foot_length - p.shank_length - p.thigh_length
    for side, sign in zip(SIDES, (1.0, -1.0), strict=True):
        shoulder, hip = sign * lengths.shoulder_width / 2, sign * p.coxae_width / 4
        arm = solid_length(body.segments[f"{side}_upper_arm"].solid)
        places |= {
            f"{side}_upper_arm": _place(FORWARD, elbow - arm, shoulder, lengths.shoulder_height),
            f"{side}_forearm": _place(FORWARD, elbow, shoulder, lengths.shoulder_height),
            f"{side}_hand": _place(FORWARD, elbow + lengths.forearm, shoulder, lengths.shoulder_height),
            f"{side}_thigh": _place(DOWN, 0.0, hip, 0.0),
            f"{side}_shank": _place(DOWN, 0.0, hip, -p.thigh_length),
            f"{side}_foot": _place(FORWARD, -ANKLE * p.foot_length, hip, foot_axis),
        }
    return places


def _place(axes: NDArray[np.float64], x: float, y: float, z: float) -> pin.SE3:
    return pin.SE3(axes, np.array([x, y, z]))
