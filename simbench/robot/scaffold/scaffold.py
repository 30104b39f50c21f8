"""A robot's description from its URDF alone."""

from collections.abc import Collection, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import pinocchio as pin

from simbench.errors import SimbenchError
from simbench.robot.description import Description
from simbench.robot.scaffold.arms import ArmGuesses, guess_arms
from simbench.robot.scaffold.body_roles import BodyRoles, elbow_link, find_body_roles, joint_link, main_link
from simbench.robot.scaffold.collision_pairs import (
    find_fixed_parts,
    group_pairs,
    link_pairs,
    sample_collisions,
)
from simbench.robot.scaffold.limb_chains import LimbChain, Limbs, find_chain, find_limbs
from simbench.robot.scaffold.robot_tree import Array, Confidence, Guess, RobotTree, read_tree
from simbench.robot.scaffold.sides import Orientation, find_orientation
from simbench.robot.scaffold.standing import StanceGuesses, guess_stance
from simbench.robot.sides import SIDES
from simbench.robot.urdf.elements import parse_numbers, read_xml
from simbench.robot.urdf.normalise import UNLIMITED_EFFORT, UNLIMITED_VELOCITY


@dataclass(frozen=True)
class Scaffold:
    """A guessed description and what speaks for it."""

    description: Description  # Description as `robot.yaml` holds it; its `urdf` is the path that was given.
    guesses: tuple[Guess, ...]  # Each guess with its reason and confidence, in the order of the description.
    missing: tuple[str, ...]  # What the robot lacks or what could not be found, one line each.
    # The URDF with its root link turned so that x points forward and z upward, meshes by absolute path; to be
    # used instead of the given file. None if it need not be turned.
    urdf_text: str | None = None


_LIFT = 0.9
"""Part of its range at which a lift in the trunk stays."""
_FACING = np.cos(np.radians(1.0))
"""Cosine of the angle between the robot's front and x of the root link from which the root is turned."""


def scaffold_robot(urdf: Path, name: str | None = None) -> Scaffold:
    """Guess the description of a robot from the graph and the geometry of its URDF.

    Names of links and joints only raise the confidence or break a tie. The same URDF gives the same
    description. `name`: name of the robot; by default that in the URDF. Returns description, guesses, and
    what is missing. Raises RobotError if the file is not a URDF or describes nothing that can be simulated.
    """
    tree, limbs, turn = _upright(urdf)
    legs, arms = _chains(tree, limbs)
    orientation = find_orientation(tree, legs, arms)
    if orientation.forward[0] < _FACING:
        yaw = -float(np.arctan2(orientation.forward[1], orientation.forward[0]))
        turn = pin.utils.rotate("z", yaw) @ turn
        tree = read_tree(urdf, turn)
        orientation = replace(orientation, forward=np.eye(3)[0], left=np.eye(3)[1])
    turned = not np.allclose(turn, np.eye(3), atol=1e-6)
    legs, arms = _left_first(tree, legs, orientation), _left_first(tree, arms, orientation)
    roles = find_body_roles(tree, legs, arms, orientation.left)
    together = [frozenset((arm.joints[-1], *arm.fingers)) for arm in arms]
    collisions = sample_collisions(tree, together, _mirrored_joints(tree, legs, arms, orientation.left))
    # The arms hang beside bent legs, whose posture depends on the arms' weight, but little.
    bent = guess_stance(tree, legs, tree.rest, orientation).standing
    arm_guesses = guess_arms(tree, arms, orientation, collisions, tree.rest if bent is None else bent)
    stance = guess_stance(tree, legs, arm_guesses.hanging, orientation)
    postures = _lifted(tree, roles, _postures(tree, limbs, arm_guesses, stance))
    pairs = link_pairs(collisions, postures.values())
    groups, hands, fixed = _groups(tree, legs, arms, roles), arm_guesses.hands, None
    if arms and not limbs.feet_count:
        # What neither arm nor trunk needs is fixed: it would have to be driven, joint by joint.
        groups = {name: joints for name, joints in groups.items() if not name.endswith("_grip")}
        fixed = find_fixed_parts(tree, arms, {joint for joints in groups.values() for joint in joints})
        hands = {role: {"palm": fixed.carriers[hand["palm"]]} for role, hand in hands.items()}
        pairs = fixed.merged(pairs)
    left_out = fixed.positions if fixed else {}
    data = {
        "name": name or _plain(tree.urdf.name) or urdf.stem,
        "urdf": str(urdf),
        "base": "floating" if limbs.feet_count else "fixed",
        "groups": groups,
        "fixed_joints": left_out,
        "frames": _frames(tree, legs, arms, roles) | arm_guesses.frames | stance.frames,
        "soles": stance.soles,
        "hands": hands,
        "postures": {key: _without(_named(tree, q), left_out) for key, q in postures.items()},
        "motors": _without(_motors(tree), left_out),
        "gains": "auto",
        "self_collision": group_pairs(pairs),
        "fixed_frames": arm_guesses.fixed_frames | stance.fixed_frames,
    }
    description = Description.model_validate(
        {key: value for key, value in data.items() if value or key == "groups"}
    )
    guesses = [
        *_limb_guesses(tree, limbs, legs, arms, orientation),
        *_role_guesses(tree, roles, legs, arms),
        *arm_guesses.guesses,
        *stance.guesses,
        *_other_guesses(tree, description, len(pairs)),
        *_fixed_guesses(left_out),
    ]
    missing = (
        *_missing_limbs(tree, limbs),
        *_contradictions(orientation, turned),
        *arm_guesses.missing,
        *stance.missing,
        *_missing_data(tree),
    )
    return Scaffold(description, tuple(guesses), missing, tree.text if turned else None)


def _upright(urdf: Path) -> tuple[RobotTree, Limbs, Array]:
    """Read a robot, with its root link turned if it has legs and arms only along another axis than z."""
    tree = read_tree(urdf)
    limbs = find_limbs(tree)
    if limbs.feet_count or not limbs.clusters:
        return tree, limbs, np.eye(3)
    for axis, angle in (("x", 90), ("y", -90), ("x", -90), ("y", 90), ("x", 180)):
        turn = pin.utils.rotate(axis, np.radians(angle))
        turned = read_tree(urdf, turn)
        found = find_limbs(turned)
        if found.legs and found.arms:
            return turned, found, turn
    return tree, limbs, np.eye(3)


def _plain(name: str) -> str:
    return name.strip().replace("/", "_")


def _chains(tree: RobotTree, limbs: Limbs) -> tuple[tuple[LimbChain, ...], tuple[LimbChain, ...]]:
    """Legs and arms with their parts."""
    legs = tuple(find_chain(tree, joint, arm=False) for joint in limbs.legs)
    single = len(limbs.arms) == 1
    arms = tuple(find_chain(tree, joint, arm=True, turret=single) for joint in limbs.arms)
    return legs, arms


def _left_first(
    tree: RobotTree, pair: tuple[LimbChain, ...], orientation: Orientation
) -> tuple[LimbChain, ...]:
    """Sort two limbs, the left one first."""
    return tuple(
        sorted(
            pair,
            key=lambda limb: -sum(float(tree.poses[j].translation @ orientation.left) for j in limb.joints),
        )
    )


def _sides_of(pair: tuple[LimbChain, ...]) -> tuple[str, ...]:
    """Sides of the arms: a single one is a right one."""
    return SIDES if len(pair) == 2 else SIDES[1:][: len(pair)]


def _mirrored_joints(
    tree: RobotTree, legs: tuple[LimbChain, ...], arms: tuple[LimbChain, ...], left: Array
) -> list[tuple[int, int, float]]:
    """List left and right joints with the sign with which the right one mirrors the left one."""
    mirror = np.eye(3) - 2.0 * np.outer(left, left)
    return [
        (a, b, float(-np.sign((mirror @ tree.axis(a)) @ tree.axis(b)) or 1.0))
        for pair in (legs, arms)
        if len(pair) == 2
        for a, b in zip(pair[0].joints, pair[1].joints, strict=False)
    ]


def _groups(
    tree: RobotTree, legs: tuple[LimbChain, ...], arms: tuple[LimbChain, ...], roles: BodyRoles
) -> dict[str, list[str]]:
    """Joints of each part of the body."""
    names = tree.model.names
    groups: dict[str, list[str]] = {}
    for part, joints in (("trunk", roles.trunk_joints), ("head", roles.neck_joints)):
        if joints:
            groups[part] = [names[joint] for joint in joints]
    for part, limbs in (("arm", arms), ("leg", legs)):
        for side, limb in zip(_sides_of(limbs), limbs, strict=True):
            groups[f"{side}_{part}"] = [names[joint] for joint in limb.joints]
            if limb.fingers:
                groups[f"{side}_grip"] = [names[joint] for joint in limb.fingers]
    return groups


def _frames(
    tree: RobotTree, legs: tuple[LimbChain, ...], arms: tuple[LimbChain, ...], roles: BodyRoles
) -> dict[str, str]:
    """Link of each role; hands and feet are added by others."""
    frames: dict[str, str] = {}
    if roles.pelvis is not None:
        frames["pelvis"] = main_link(tree, roles.pelvis)
    if legs or arms:
        frames["trunk"] = main_link(tree, roles.trunk)
    if roles.head_link is not None:
        frames["head"] = roles.head_link
    for side, arm in zip(_sides_of(arms), arms, strict=True):
        frames[f"{side}_shoulder"] = joint_link(tree, arm.start)
        frames[f"{side}_elbow"] = elbow_link(tree, arm)
        frames[f"{side}_wrist"] = joint_link(tree, arm.joints[-1])
    for side, leg in zip(_sides_of(legs), legs, strict=True):
        if len(leg.joints) > 2:
            frames[f"{side}_thigh"] = joint_link(tree, leg.joints[leg.joints.index(leg.middle) - 1])
    return frames


def _postures(tree: RobotTree, limbs: Limbs, arms: ArmGuesses, stance: StanceGuesses) -> dict[str, Array]:
    """Named postures: positions of all joints."""
    postures = {}
    if stance.standing is not None:
        postures["standing"] = stance.standing
    if arms.basic is not None:
        postures["basic"] = arms.basic
    if arms.ready is not None and not limbs.legs:
        postures["ready"] = arms.ready
    return postures or {"rest": tree.rest}


def _lifted(tree: RobotTree, roles: BodyRoles, postures: dict[str, Array]) -> dict[str, Array]:
    """Put sliding joints of the trunk where shoulders are high, so that hanging arms are off the floor."""
    for joint in roles.trunk_joints:
        if not tree.is_rotation(joint):
            lower, upper = tree.limits(joint)
            part = _LIFT if float(tree.axis(joint)[2]) > 0.0 else 1.0 - _LIFT
            for posture in postures.values():
                posture[joint - 1] = lower + part * (upper - lower)
    return postures


def _named(tree: RobotTree, q: Array) -> dict[str, float]:
    """Positions by joint, within the limits, without those at zero."""
    low, high = tree.model.lowerPositionLimit, tree.model.upperPositionLimit
    rounded = np.clip(np.round(q, 6), low, high)
    return {
        tree.model.names[joint]: float(rounded[joint - 1])
        for joint in range(1, tree.model.njoints)
        if abs(rounded[joint - 1]) > 0.0
    }


def _without(values: Mapping[str, Any], left_out: Collection[str]) -> dict[str, Any]:
    """Leave out the values of joints that are fixed."""
    return {name: value for name, value in values.items() if name not in left_out}


def _motors(tree: RobotTree) -> dict[str, Any]:
    """Drives by joint; none if nothing is known of any."""
    drives = guess_drives(tree)
    if not any(drive.reflected_inertia for drive in drives.values()):
        return {}
    return {
        name: {"reduction": drive.reduction, "reflected_inertia": drive.reflected_inertia}
        if drive.reduction
        else {"reflected_inertia": drive.reflected_inertia}
        for name, drive in drives.items()
    }


def _limb_guesses(
    tree: RobotTree,
    limbs: Limbs,
    legs: tuple[LimbChain, ...],
    arms: tuple[LimbChain, ...],
    orientation: Orientation,
) -> list[Guess]:
    """Guesses about base, limbs and sides."""
    sure: Confidence = "high" if limbs.sure else "medium"
    floating = f"{limbs.feet_count} limbs reach the lowest point of the robot"
    guesses = [
        Guess("base", "floating", floating, "high" if limbs.feet_count == 2 else "medium")
        if limbs.feet_count
        else Guess(
            "base", "fixed", "no limbs reach the lowest point of the robot", "medium" if arms else "low"
        )
    ]
    names = tree.model.names
    reasons = {"arm": limbs.arm_reason, "leg": limbs.leg_reason}
    for part, pair in (("arm", arms), ("leg", legs)):
        for side, limb in zip(_sides_of(pair), pair, strict=True):
            value = f"{names[limb.joints[0]]} … {names[limb.joints[-1]]} ({len(limb.joints)} joints)"
            guesses.append(Guess(f"groups.{side}_{part}", value, reasons[part], sure))
            if limb.fingers and limbs.feet_count:
                fingers = ", ".join(names[joint] for joint in limb.fingers)
                reason = "short or sliding joints beyond the last joint that moves the hand as a whole"
                guesses.append(Guess(f"groups.{side}_grip", fingers, reason, "medium"))
    if len(legs) == 2 or len(arms) == 2:
        axis = " ".join(f"{value:g}" for value in np.round(orientation.left, 3) + 0.0)
        against = f"; against it: {', '.join(orientation.against)}" if orientation.against else ""
        reason = f"{', '.join(orientation.evidence)}{against}"
        guesses.append(
            Guess("left", f"along ({axis}) of the root link", reason, "high" if orientation.sure else "low")
        )
    return guesses


def _role_guesses(
    tree: RobotTree, roles: BodyRoles, legs: tuple[LimbChain, ...], arms: tuple[LimbChain, ...]
) -> list[Guess]:
    """Guesses about pelvis, trunk, head, elbows and knees."""
    guesses = []
    if roles.pelvis is not None:
        guesses.append(Guess("frames.pelvis", main_link(tree, roles.pelvis), "carries both legs", "high"))
    if arms:
        carries = "carries both arms" if len(arms) == 2 else "carries the arm"
        guesses.append(Guess("frames.trunk", main_link(tree, roles.trunk), carries, "high"))
    if roles.head_link is not None:
        sure: Confidence = "high" if roles.neck_joints else "medium"
        guesses.append(Guess("frames.head", roles.head_link, "highest above the shoulders", sure))
    for side, arm in zip(_sides_of(arms), arms, strict=True):
        reason = "last gap between the axes before the elbow"
        guesses.append(Guess(f"frames.{side}_shoulder", joint_link(tree, arm.start), reason, "medium"))
        reason = "its joint changes the distance from shoulder to wrist most"
        guesses.append(Guess(f"frames.{side}_elbow", elbow_link(tree, arm), reason, "high"))
        reason = "moved by the last joint before the fingers"
        guesses.append(Guess(f"frames.{side}_wrist", joint_link(tree, arm.joints[-1]), reason, "high"))
    for side, leg in zip(_sides_of(legs), legs, strict=True):
        if len(leg.joints) > 2:
            link = joint_link(tree, leg.joints[leg.joints.index(leg.middle) - 1])
            reason = "above the joint that changes the distance from hip to ankle most"
            guesses.append(Guess(f"frames.{side}_thigh", link, reason, "high"))
    return guesses


def _other_guesses(tree: RobotTree, description: Description, pairs: int) -> list[Guess]:
    """Guesses about drives, gains and collision pairs."""
    drives = guess_drives(tree)
    sources = [drive.source for drive in drives.values()]
    guesses = []
    if description.motors:
        known, estimated = sources.count("srdf"), sources.count("limits")
        if known:
            guesses.append(
                Guess("motors", f"{known} joints", "<rotor_params> of an SRDF near the URDF", "high")
            )
        if estimated:
            reason = (
                "assumed: the largest torque brings the rotor to the largest speed in 10 ms; off by 2.7 times"
            )
            guesses.append(Guess("motors", f"{estimated} joints", reason, "low"))
    guesses.append(Guess("gains", "auto", "from the inertia that each joint moves", "medium"))
    reason = "links that touch in some random configurations, not in all, and not in the postures"
    guesses.append(Guess("self_collision", f"{pairs} pairs", reason, "high" if pairs else "medium"))
    return guesses


def _fixed_guesses(positions: Mapping[str, float]) -> list[Guess]:
    """Guess about joints that are fixed."""
    if not positions:
        return []
    listed = ", ".join(list(positions)[:3]) + (
        f" and {len(positions) - 3} more" if len(positions) > 3 else ""
    )
    return [Guess("fixed_joints", listed, "of no trunk, arm or head; fingers are open about a bar", "medium")]


def _missing_limbs(tree: RobotTree, limbs: Limbs) -> list[str]:
    """Say what the robot is not."""
    missing = []
    if limbs.feet_count > 2:
        missing.append(
            f"legs: {limbs.feet_count} similar limbs reach the floor; simbench balances robots on two legs"
        )
    elif not limbs.legs:
        missing.append("legs: no two similar chains of joints reach the floor; it does not stand on legs")
    if not limbs.arms:
        hand = (
            "; similar chains on one body may be fingers" if limbs.clusters and not limbs.feet_count else ""
        )
        missing.append(f"arms: no chain of joints that could be an arm{hand}")
    elif len(limbs.arms) == 1:
        missing.append("arms: a single one, which counts as a right one; it imitates one hand, not a person")
    return missing


def _contradictions(orientation: Orientation, turned: bool) -> list[str]:
    """Say what in the URDF speaks against the guessed sides."""
    lines = []
    if orientation.names_opposed:
        lines.append(
            "sides: the names say left for what lies on the right; left and right follow the geometry"
        )
    if turned:
        lines.append(
            "urdf: the root link's x axis is not forward or its z axis not up; it is turned in a copy"
        )
    return lines


def _missing_data(tree: RobotTree) -> list[str]:
    """Say what the URDF lacks."""
    lines = []
    drives = [name for name, drive in guess_drives(tree).items() if drive.source == "unknown"]
    if drives:
        listed = ", ".join(drives[:3]) + (f" and {len(drives) - 3} more" if len(drives) > 3 else "")
        lines.append(
            f"motors: no limits of torque or speed for {listed}; their reflected inertia is unknown, 0"
        )
    if not any(tree.collides):
        lines.append("shapes: no link has a collision shape; the robot would touch nothing")
    meshes = [note for note in tree.notes if "left out: mesh" in note]
    if meshes:
        lines.append(f"shapes: {len(meshes)} meshes cannot be read: {meshes[0]}")
    mimics = [note for note in tree.notes if ": mimics " in note]
    if mimics:
        more = f", and {len(mimics) - 1} more like it" if len(mimics) > 1 else ""
        lines.append(f"joints: {mimics[0]}{more}")
    return lines


RUN_UP_TIME = 0.01
"""Time in which a drive's largest torque brings its own inertia to its largest speed, s.

J ω / τ of published drives, geometric means: 9 ms for 11 joints with gears of 36:1 to 201:1 (Tomić
2018), 28 ms for the 6 joints of an industrial arm (Armstrong, Khatib, Burdick 1986), 4 ms for quasi-direct
drives of 25 to 139 N·m (armatures in the configuration published with BeyondMimic, 2025). The mean of the
three is 10 ms, from which each differs by a factor of 2.7 at most. A power of the torque alone misses the
quasi-direct drives by a factor of 50.
"""


@dataclass(frozen=True)
class DriveGuess:
    """Inertia of a joint's drive."""

    # Inertia as the joint feels it, kg·m², or kg for a sliding joint; 0 where nothing is known.
    reflected_inertia: float
    reduction: float  # Ratio of the gear; 0 where it is not known.
    source: str  # `srdf`, `limits` or `unknown`.


def guess_drives(tree: RobotTree) -> dict[str, DriveGuess]:
    """Guess the inertia of all drives. Returns drives by joint."""
    rotors = _read_rotors(tree.path)
    drives = {}
    for joint in range(1, tree.model.njoints):
        name = tree.model.names[joint]
        effort = float(tree.model.effortLimit[joint - 1])
        speed = float(tree.model.velocityLimit[joint - 1])
        if name in rotors:
            reduction, rotor = rotors[name]
            drives[name] = DriveGuess(reduction**2 * rotor, reduction, "srdf")
        elif effort < UNLIMITED_EFFORT and speed < UNLIMITED_VELOCITY:
            drives[name] = DriveGuess(float(f"{RUN_UP_TIME * effort / speed:.3g}"), 0.0, "limits")
        else:
            drives[name] = DriveGuess(0.0, 0.0, "unknown")
    return drives


def _read_rotors(urdf: Path) -> dict[str, tuple[float, float]]:
    """Read gear ratio and rotor inertia, kg·m², by joint, from `<rotor_params>` of SRDF files near a URDF."""
    rotors: dict[str, tuple[float, float]] = {}
    folders = [urdf.parent, urdf.parent.parent / "srdf"]
    for path in [path for folder in folders for path in sorted(folder.glob("*.srdf"))]:
        try:
            root = read_xml(path)
        except SimbenchError:
            continue
        for joint in root.iterfind(".//rotor_params/joint"):
            ratio, inertia = (parse_numbers(joint.get(key, "")) for key in ("gear_ratio", "mass"))
            if len(ratio) == len(inertia) == 1 and ratio[0] > 0 and inertia[0] >= 0:
                rotors.setdefault(joint.get("name", ""), (ratio[0], inertia[0]))
    return rotors
