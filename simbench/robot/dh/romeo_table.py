"""ROMEO's upper body as an idealised table of 25 joints (Tomić 2018, appendix D)."""

from dataclasses import dataclass
from math import pi

from simbench.robot.dh.dh import BASE, DhJoint, DhRow, DhTable, Sigma

BASE_JOINTS = ("BaseZ", "BaseY", "BaseX", "BaseYaw", "BaseRoll", "BasePitch")
HEAD_JOINTS = ("NeckYaw", "NeckPitch", "HeadPitch", "HeadRoll")
ARM_JOINTS = (
    "ShoulderPitch",
    "ShoulderYaw",
    "ElbowRoll",
    "ElbowYaw",
    "WristRoll",
    "WristYaw",
    "WristPitch",
)


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


def romeo_table(lengths: UpperBodyLengths) -> DhTable:
    """Build the table of ROMEO's upper body on six virtual joints for legs and spine.

    The thesis prints row 6 with q5 instead of q6. At zero joint positions the arms are horizontal forward,
    palms down (the *basic configuration*), and the frames of the trunk and of both hands are parallel to the
    world's. `lengths`: lengths L1 to L9, m. Returns the 25 joints in the thesis's order, then the fixed
    frames `l_hand` and `r_hand`.
    """
    half = pi / 2
    base_rows = (
        (DhRow(), Sigma.PRISMATIC),
        (DhRow(alpha=-half, theta=-half), Sigma.PRISMATIC),
        (DhRow(alpha=-half, theta=-half), Sigma.PRISMATIC),
        (DhRow(alpha=-half), Sigma.REVOLUTE),
        (DhRow(alpha=half, theta=half), Sigma.REVOLUTE),
        (DhRow(alpha=half, theta=half), Sigma.REVOLUTE),
    )
    base = [
        DhJoint(name, parent, row, sigma)
        for name, parent, (row, sigma) in zip(BASE_JOINTS, (BASE, *BASE_JOINTS), base_rows, strict=False)
    ]
    return DhTable((*base, *upper_body_joints(lengths, BASE_JOINTS[-1], DhRow(alpha=half))))


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
