"""Sections of a humanoid, its limbs, and the motion that each has to make (Kim, Choi, Oh & You 2005)."""

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from enum import Enum
from typing import NamedTuple

import numpy as np
import pinocchio as pin
from numpy.typing import NDArray

from simbench.errors import BalanceError
from simbench.robot.robot import Robot

LEGS = ("left_leg", "right_leg")

_ENDS = {
    "left_leg": "left_foot",
    "right_leg": "right_foot",
    "left_arm": "left_hand",
    "right_arm": "right_hand",
}
FULL_LEG = 6  # Joints that a section needs to control the position and the orientation of its end.
LEAST_LEG = 4  # Joints with which a leg still bends and carries: hip, knee and ankle.
# Error of a sole, m or rad, that legs of fewer than six joints may leave: soles of a posture differ as much.
SOLE_TOLERANCE = 1e-4


class Role(Enum):
    """What is known of a section's motion."""

    BASE = "base"
    """It carries the robot: the motion of its end is given, its joints move the COG."""
    C_BUSY = "C-busy"
    """The motion of its end is given."""
    J_BUSY = "J-busy"
    """The motion of its joints is given."""
    HELD = "held"
    """Idle, its joints at rest."""
    USED = "used"
    """Idle, its joints free to help the base section."""


@dataclass(frozen=True)
class LimbSection:
    """A limb: joints between the body or another section and an end."""

    name: str  # Name of the group of joints, as in `robot.groups`.
    columns: tuple[int, ...]  # Columns of its joints in the model's velocity vector.
    frame: int  # Pinocchio's id of the frame of its end, or -1 if it has none.


class SectionColumns(NamedTuple):
    """Columns of the velocity vector by what is known of them, for compiled code."""

    # (n,) of int: columns whose velocity is unknown: of the base section, then of the sections that are used.
    free: NDArray[np.int64]
    given: NDArray[np.int64]  # (g,) of int: columns of the J-busy sections, whose joint velocities are given.
    # (b,) of int: columns of the C-busy sections, one after another; section k has `busy[start[k] : start[k +
    # 1]]`.
    busy: NDArray[np.int64]
    # (C + 1,) of int: where the columns of each C-busy section begin in `busy`, and where the last one's end.
    start: NDArray[np.int64]
    # (1 + C,) of int: indices of the sections with ends whose motion is given: the base section, then the
    # C-busy ones.
    ends: NDArray[np.int64]
    # (1 + C, nv) of bool: which joints move those ends, of the section itself and of those between it and the
    # body.
    moves: NDArray[np.bool_]
    short: bool  # Whether one of those sections has fewer than six joints: its end does not go everywhere.


def limb_sections(robot: Robot) -> tuple[LimbSection, ...]:
    """Take a robot's groups of joints as sections, the legs first, the left one before the right one.

    Legs end in the feet's frames, arms in the hands'; trunk, head and grips have no end. `robot`: robot with
    two legs and a free root.
    """
    missing = [leg for leg in LEGS if not robot.groups.get(leg)]
    if missing:
        groups = f"group{'s' * (len(missing) > 1)} {', '.join(missing)} {'are' if len(missing) > 1 else 'is'}"
        raise BalanceError(f"{robot.name}: balance needs two legs; {groups} missing")
    footless = [_ENDS[leg] for leg in LEGS if _ENDS[leg] not in robot.frames]
    if footless:
        raise BalanceError(
            f"{robot.name}: balance needs the frames of both feet; missing: {', '.join(footless)}"
        )
    if not robot.floating:
        raise BalanceError(f"{robot.name}: balance needs a free root; allowed: base: floating")
    names = [*LEGS, *(group for group, joints in robot.groups.items() if joints and group not in LEGS)]
    owner: dict[str, str] = {}
    for name in names:
        for joint in robot.groups[name]:
            if joint in owner:
                raise BalanceError(f"{robot.name}: joint {joint} is in two groups, {owner[joint]} and {name}")
            owner[joint] = name
    model = robot.model
    return tuple(
        LimbSection(
            name,
            tuple(model.joints[model.getJointId(joint)].idx_v for joint in robot.groups[name]),
            model.getFrameId(robot.frames[_ENDS[name]]) if _ENDS.get(name) in robot.frames else -1,
        )
        for name in names
    )


def assign(
    model: pin.Model, sections: tuple[LimbSection, ...], roles: Mapping[str, Role], contacts: Collection[str]
) -> tuple[tuple[int, ...], SectionColumns]:
    """Give every section its role, and sort the velocity vector's columns by it.

    Joints of the model that are in no section are held. `model`: model with a free-flyer root; `sections`:
    sections of the robot, from `limb_sections`; `roles` {name: Role}: role of each section by its name:
    exactly one is the base; those not named are J-busy; `contacts`: names of the sections whose ends are in
    contact with the ground. Returns Pinocchio's ids of the frames of the base section's end,
    then of the C-busy ones', and the columns by what is known of them.
    """
    by_name = {section.name: section for section in sections}
    # Those that can control position and orientation of their ends; legs of few joints as far as they can.
    least = {each.name: LEAST_LEG if each.name in LEGS else FULL_LEG for each in sections}
    capable = {each.name for each in sections if each.frame >= 0 and len(each.columns) >= least[each.name]}
    for name in roles:
        if name not in by_name:
            raise BalanceError(f"unknown section {name}; allowed: {', '.join(by_name)}")
    role = {name: roles.get(name, Role.J_BUSY) for name in by_name}
    bases = [name for name in by_name if role[name] is Role.BASE]
    standing = [name for name in by_name if name in contacts and name in capable]
    allowed = f"allowed: {', '.join(standing) or 'none, no leg has contact'}"
    if len(bases) != 1:
        raise BalanceError(f"base sections: {', '.join(bases) or 'none'}; it has to be one; {allowed}")
    if bases[0] not in contacts:
        raise BalanceError(f"base section {bases[0]} has no contact with the ground; {allowed}")
    names = (*bases, *(name for name in by_name if role[name] is Role.C_BUSY))
    ends = [by_name[name] for name in names]
    columns = {
        each: [column for name in by_name if role[name] is each for column in by_name[name].columns]
        for each in Role
    }
    moves = np.zeros((len(ends), model.nv), bool)
    for row, end in enumerate(ends):
        if end.name not in capable:
            raise BalanceError(
                f"{role[end.name].value} section {end.name} has {len(end.columns)} joints and "
                f"{'no' if end.frame < 0 else 'an'} end; allowed: an end and at least "
                f"{least[end.name]} joints"
            )
        joint = model.frames[end.frame].parentJoint
        while joint > 1:
            first = model.joints[joint].idx_v
            moves[row, first : first + model.joints[joint].nv] = True
            joint = model.parents[joint]
        carriers = np.flatnonzero(moves[row])
        for other in ends:
            if other is not end and np.isin(other.columns, carriers).any():
                raise BalanceError(
                    f"section {end.name} hangs on {other.name}, which is {role[other.name].value}; "
                    "allowed for that: J-busy, held, used"
                )
    section_columns = SectionColumns(
        free=np.array(columns[Role.BASE] + columns[Role.USED], np.int64),
        given=np.array(columns[Role.J_BUSY], np.int64),
        busy=np.array(columns[Role.C_BUSY], np.int64),
        start=np.cumsum([0, *(len(end.columns) for end in ends[1:])]).astype(np.int64),
        ends=np.array([sections.index(end) for end in ends], np.int64),
        moves=moves,
        short=any(len(end.columns) < FULL_LEG for end in ends),
    )
    return tuple(end.frame for end in ends), section_columns
