"""ROMEO's upper body as a table of joints (Tomić 2018, appendix D), and at the size of a person."""

from dataclasses import dataclass
from math import pi

import numpy as np
import pinocchio as pin
from numpy.typing import NDArray

from simbench.robot.anthropometry import NECK, NECK_BASE, SHOULDER_WIDTH, Measures
from simbench.robot.body_segments import HanavanBody, solid_length
from simbench.robot.dh import BASE, DhJoint, DhRow, Sigma
from simbench.robot.sides import SIDES

BASE_JOINTS = ("BaseZ", "BaseY", "BaseX", "BaseYaw", "BaseRoll", "BasePitch")
HEAD_JOINTS = ("NeckYaw", "NeckPitch", "HeadPitch", "HeadRoll")
ARM_JOINTS = ("ShoulderPitch", "ShoulderYaw", "ElbowRoll", "ElbowYaw", "WristRoll", "WristYaw", "WristPitch")


@dataclass(frozen=True)
class UpperBodyLengths:
    """The lengths L1 to L9 of the table, m."""

    shoulder_height: float  # L1, from the base up to the shoulders.
    neck_base: float  # L2, from the shoulders up to the neck's joints.
    neck: float  # L3, from the neck's joints up to the head's.
    shoulder_width: float  # L4, from shoulder to shoulder.
    shoulder_offset: float  # L5, from the trunk's axis forward to the shoulders.
    upper_arm: float  # `upper_arm`, `forearm`: L6, from shoulder to elbow, and L7, from elbow to wrist.
    forearm: float
    # `palm_forward`, `palm_below`: L8 and L9, from the wrist to the hand frame, along the fingers and out of
    # the palm.
    palm_forward: float
    palm_below: float


def upper_body_joints(lengths: UpperBodyLengths, root: str, trunk: DhRow) -> tuple[DhJoint, ...]:
    """Build rows 7 to 26 of the table: trunk yaw, neck and head, both arms, both hand frames.

    `lengths`: lengths L1 to L9, m; `root`: name of the joint that carries the trunk, or `base`; `trunk`: row
    7, of the trunk yaw; on a base whose z axis points up it is `DhRow()`. Returns the joints, parents before
    children.
    """
    half = pi / 2
    head_rows = (
        DhRow(d=lengths.shoulder_height + lengths.neck_base),
        DhRow(alpha=-half, theta=-half),
        DhRow(a=lengths.neck),
        DhRow(alpha=-half),
    )
    head = [
        DhJoint(name, parent, row)
        for name, parent, row in zip(HEAD_JOINTS, ("TrunkYaw", *HEAD_JOINTS), head_rows, strict=False)
    ]
    arms: list[DhJoint] = []
    hands: list[DhJoint] = []
    for side, sign in (("L", 1.0), ("R", -1.0)):
        rows = (
            DhRow(
                b=lengths.shoulder_height,
                alpha=-half,
                a=lengths.shoulder_offset,
                d=sign * lengths.shoulder_width / 2,
            ),
            DhRow(alpha=half, theta=half),
            DhRow(alpha=half, d=lengths.upper_arm),
            DhRow(alpha=-half),
            DhRow(alpha=half, d=lengths.forearm),
            DhRow(alpha=-half, theta=-half),
            DhRow(alpha=-half),
        )
        names = [side + name for name in ARM_JOINTS]
        arms += [
            DhJoint(name, parent, row)
            for name, parent, row in zip(names, ("TrunkYaw", *names), rows, strict=False)
        ]
        palm = DhRow(alpha=half, a=lengths.palm_forward, d=-lengths.palm_below)
        hands.append(DhJoint(f"{side.lower()}_hand", names[-1], palm, Sigma.FIXED))
    return (DhJoint("TrunkYaw", root, trunk), *head, *arms, *hands)


# Axes of the segments (columns x, y, z) in those of the root: x forward, y left, z up.
DOWN = np.array([[0.0, 1.0, 0.0], [1.0, 0.0, 0.0], [0.0, 0.0, -1.0]])
UP = np.eye(3)
FORWARD = np.array([[0.0, 0.0, 1.0], [1.0, 0.0, 0.0], [0.0, 1.0, 0.0]])
# The ankle is about a quarter of the foot's length in front of the heel, and at the same height above the
# sole: by Drillis & Contini (1966) its height is 0.039 of the stature and the foot's length 0.152.
ANKLE = 0.25
# Joint that carries each segment. The lower trunk is the pelvis, on which the spine rotates; middle and upper
# trunk rotate with the spine. As on ROMEO the upper arm is attached to the shoulder's yaw joint and the
# forearm to the elbow's, before the roll joints that rotate them about their own axes: if the upper arm came
# after the elbow's roll, there would be no mass between three axes, and the inertia matrix would be singular
# wherever the first and the last are parallel (arm sideways). The legs do not move: they are part of the
# root.
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

# Position of the hand frame relative to the wrist, m: that of ROMEO's hand (Tomić 2018, table D.1), as in the
# recordings.
PALM_FORWARD, PALM_BELOW = 0.09, 0.02


def skeleton_lengths(measures: Measures, stature: float) -> UpperBodyLengths:
    """Estimate the lengths of the skeleton from a person's measures.

    A recording gives better lengths of the arms (Tomić 2018, §3.3.2): insert them with `dataclasses.replace`.
    `stature`: stature of the person, m. Returns lengths of the skeleton on a root midway between the hips;
    the shoulders are above the root, at the height of the acromion.
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
    """Compute the placements of all segments in the root for a person in the basic configuration.

    `lengths`: lengths of the skeleton: shoulders, elbows and wrists may deviate a little from the ends of the
    segments, because they are measured in another way. Returns placements by segment. The root is midway
    between the hips. The arms are horizontal forward, palms down; each hand is a fist at the wrist. A thigh
    is under the middle of its half of the pelvis.
    """
    p = body.measures
    waist = p.lower_trunk_length
    chest = waist + p.middle_trunk_length
    placements = {
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
        placements |= {
            f"{side}_upper_arm": _place(FORWARD, elbow - arm, shoulder, lengths.shoulder_height),
            f"{side}_forearm": _place(FORWARD, elbow, shoulder, lengths.shoulder_height),
            f"{side}_hand": _place(FORWARD, elbow + lengths.forearm, shoulder, lengths.shoulder_height),
            f"{side}_thigh": _place(DOWN, 0.0, hip, 0.0),
            f"{side}_shank": _place(DOWN, 0.0, hip, -p.thigh_length),
            f"{side}_foot": _place(FORWARD, -ANKLE * p.foot_length, hip, foot_axis),
        }
    return placements


def _place(axes: NDArray[np.float64], x: float, y: float, z: float) -> pin.SE3:
    """Placement with given axes and origin, m."""
    return pin.SE3(axes, np.array([x, y, z]))
