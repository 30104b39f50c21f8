"""A robot's description from its URDF alone."""

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import pinocchio as pin
from pydantic import ValidationError

from simbench.errors import RobotError, SimbenchError
from simbench.files.xml_document import read_xml
from simbench.robot.description import Description
from simbench.robot.mjcf.kept_conversion import MjcfExtension
from simbench.robot.scaffold.arms import frame_entry, guess_arms
from simbench.robot.scaffold.body_roles import (
    BodyRoles,
    Orientation,
    elbow_link,
    find_body_roles,
    find_orientation,
    main_link,
)
from simbench.robot.scaffold.collision_pairs import (
    find_fixed_parts,
    group_pairs,
    link_pairs,
    sample_collisions,
)
from simbench.robot.scaffold.doubts import find_doubts, find_limb_doubts, fingers_alone, listed
from simbench.robot.scaffold.limb_chains import Correction, LimbChain, Limbs, find_limbs, lone_leg
from simbench.robot.scaffold.robot_tree import Array, Confidence, Guess, RobotTree
from simbench.robot.scaffold.standing import guess_stance
from simbench.robot.sides import SIDES
from simbench.robot.urdf.elements import parse_numbers
from simbench.robot.urdf.normalise import UNLIMITED_EFFORT, UNLIMITED_VELOCITY

_LIFT = 0.9  # Part of its range at which a lift in the trunk stays.
# Cosine of the angle between the robot's front and x of the root link from which the root is turned.
_FACING = np.cos(np.radians(1.0))
# Longer of two bones of a limb, as a part of the robot's size, and the shorter as a part of the longer, below
# which elbow or knee are doubted. People's forearms have 0.8 of their upper arms' length.
_SHORTEST_BONE, _MOST_UNLIKE = 0.06, 0.5
# Time in which a drive's largest torque brings its own inertia to its largest speed, s.
#
# J ω / τ of published drives, geometric means: 9 ms for 11 joints with gears of 36:1 to 201:1 (Tomić
# 2018), 28 ms for the 6 joints of an industrial arm (Armstrong, Khatib, Burdick 1986), 4 ms for quasi-direct
# drives of 25 to 139 N·m (armatures in the configuration published with BeyondMimic, 2025). The mean of the
# three is 10 ms, from which each differs by a factor of 2.7 at most. A power of the torque alone misses the
# quasi-direct drives by a factor of 50.
RUN_UP_TIME = 0.01
# Postures with a meaning of their own, which a keyframe of the same name need not have.
RESERVED_POSTURES = ("standing", "basic", "ready", "rest", "seated")


@dataclass(frozen=True)
class Scaffold:
    """A guessed description and what speaks for it."""

    description: Description  # Description as `robot.yaml` holds it; its `urdf` is the path that was given.
    guesses: tuple[Guess, ...]  # Each guess with its reason and confidence, in the order of the description.
    missing: tuple[str, ...]  # What the robot lacks or what could not be found, one line each.
    # The URDF with its root link turned so that x points forward and z upward, and with the collision shapes
    # that were made, meshes by absolute path; to be used instead of the given file. None if nothing differs.
    urdf_text: str | None = None


def scaffold_robot(
    urdf: Path,
    xacro: Mapping[str, str] | None = None,
    corrections: Mapping[str, Correction] | None = None,
    *,
    make_shapes: bool = True,
) -> Scaffold:
    """Guess the description of a robot from the graph and the geometry of its URDF, xacro or MJCF.

    Names of links and joints only raise the confidence or break a tie. The same URDF gives the same
    description. Drives, friction, gains and keyframes of an MJCF are taken as they are. `xacro`: arguments of
    a xacro file; `corrections`: what is known of the limbs of a side, `left` or `right`, and need not be
    guessed; what follows from it still is; `make_shapes`: whether bodies without collision shapes get convex
    ones made from their visual shapes. Returns description, guesses, and what is missing. Raises RobotError
    if the file is none of these or describes nothing that can be simulated, or what is said to be known is
    not there.
    """
    tree, limbs, turn, root = _upright(urdf, xacro, make_shapes)
    legs = tuple(LimbChain(tree, joint, arm=False) for joint in limbs.legs)
    single = len(limbs.arms) == 1
    arms = tuple(LimbChain(tree, joint, arm=True, turret=single) for joint in limbs.arms)
    orientation = find_orientation(tree, legs, arms)
    if orientation.forward[0] < _FACING:
        yaw = -float(np.arctan2(orientation.forward[1], orientation.forward[0]))
        turn = pin.utils.rotate("z", yaw) @ turn
        tree = RobotTree(urdf, turn, root, xacro, make_shapes)
        orientation = replace(orientation, forward=np.eye(3)[0], left=np.eye(3)[1])
    turned = not np.allclose(turn, np.eye(3), atol=1e-6) or bool(root)
    copied = turned or bool(tree.made)
    left = orientation.left
    legs, arms = (
        tuple(
            sorted(pair, key=lambda limb: -sum(float(tree.poses[j].translation @ left) for j in limb.joints))
        )
        for pair in (legs, arms)
    )
    whole = [list(limb.joints) for limb in (*legs, *arms)]
    tree.shared = tree.find_shared([*whole, *(tree.model.supports[limb[0]] for limb in whole)])
    known = {side: (corrections or {}).get(side, Correction()) for side in SIDES}
    legs = tuple(LimbChain(tree, leg.first, arm=False, said=known[side]) for side, leg in _sided(legs))
    arms = tuple(
        LimbChain(tree, arm.first, arm=True, turret=single, said=known[side]) for side, arm in _sided(arms)
    )
    roles = find_body_roles(tree, legs, arms, left)
    # Left and right joints with the sign with which the right one mirrors the left one.
    mirror = np.eye(3) - 2.0 * np.outer(left, left)
    mirrored = [
        (a, b, float(-np.sign((mirror @ tree.axis(a)) @ tree.axis(b)) or 1.0))
        for pair in (legs, arms)
        if len(pair) == 2
        for a, b in zip(pair[0].joints, pair[1].joints, strict=False)
    ]
    together = [frozenset((arm.joints[-1], *arm.fingers)) for arm in arms]
    collisions = sample_collisions(tree, together, mirrored)
    # The arms hang beside bent legs, whose posture depends on the arms' weight, but little.
    bent = guess_stance(tree, legs, tree.rest, orientation).standing
    held = guess_arms(tree, arms, orientation, collisions, tree.rest if bent is None else bent)
    stance = guess_stance(tree, legs, held.hanging, orientation)
    ready = None if limbs.legs else held.ready
    named = {"standing": stance.standing, "basic": held.basic, "ready": ready}
    postures = {key: q for key, q in named.items() if q is not None} or {"rest": tree.rest}
    # Sliding joints of the trunk are where shoulders are high, so that hanging arms are off the floor.
    for joint in roles.trunk_joints:
        if not tree.is_rotation(joint):
            lower, upper = tree.limits(joint)
            part = _LIFT if float(tree.axis(joint)[2]) > 0.0 else 1.0 - _LIFT
            for posture in postures.values():
                posture[joint - 1] = lower + part * (upper - lower)
    pairs = link_pairs(tree, collisions, postures.values())
    mjcf = tree.mjcf
    pairs = tuple(pair for pair in pairs if frozenset(pair) not in mjcf.excluded)
    parts = {"trunk": roles.trunk_joints, "head": roles.neck_joints}
    for kind, pair in (("arm", arms), ("leg", legs)):
        for side, limb in _sided(pair):
            parts[f"{side}_{kind}"] = limb.joints
            if limb.fingers:
                parts[f"{side}_grip"] = limb.fingers
    names = tree.model.names
    shared = tree.shared | tree.find_shared([roles.neck_joints])
    parts = {part: tuple(each for each in joints if each not in shared) for part, joints in parts.items()}
    groups = {part: [names[joint] for joint in joints] for part, joints in parts.items() if joints}
    hands = held.hands
    left_out: dict[str, float] = {}
    if arms and not limbs.feet_count:
        # What neither arm nor trunk needs is fixed: it would have to be driven, joint by joint.
        groups = {part: joints for part, joints in groups.items() if not part.endswith("_grip")}
        moving = {*(names[joint] for joint in shared), *(each for own in groups.values() for each in own)}
        moving |= {name for name, (leader, *_) in tree.couplings.items() if leader in moving}
        left_out, carriers, movers = find_fixed_parts(tree, arms, moving)
        hands = {role: {"palm": carriers[hand["palm"]]} for role, hand in hands.items()}
        # Of the pairs whose links are still moved against each other.
        kept = ((carriers[a], carriers[b]) for a, b in pairs)
        pairs = tuple(dict.fromkeys((a, b) for a, b in kept if movers[a] != movers[b]))
    moved = [joint for joint in names[1:] if joint not in left_out]
    bounds = tree.model.lowerPositionLimit, tree.model.upperPositionLimit
    couplings = {
        # Without the numbers that are usual.
        name: {"joint": leader}
        | ({} if ratio == 1.0 else {"multiplier": ratio})
        | ({} if shift == 0.0 else {"offset": shift})
        for name, (leader, ratio, shift) in tree.couplings.items()
        if {name, leader} <= {*moved}
    }
    given = _given_by_mjcf(mjcf, moved, couplings)
    keyframes = given.pop("postures")
    positions = {
        # Within the limits.
        key: dict(zip(names[1:], np.clip(np.round(q, 6), *bounds).tolist(), strict=True))
        for key, q in postures.items()
    } | keyframes
    # Without those at zero, and those of joints that are fixed or that others move.
    own = {*moved} - {*couplings}
    positions = {
        key: {joint: value for joint, value in values.items() if value and joint in own}
        for key, values in positions.items()
    }
    frames, wrists, role_guesses = _roles(tree, legs, arms, roles)
    drives, sources = _drives(tree)
    data = {
        "name": tree.urdf.name.strip().replace("/", "_") or urdf.stem,
        "urdf": str(urdf),
        # The copy whose root link is turned, or that has more shapes, is a URDF.
        "xacro": {} if copied else dict(xacro or {}),
        "base": "floating" if limbs.feet_count else "fixed",
        "groups": groups,
        "fixed_joints": left_out,
        "coupled_joints": couplings,
        "frames": frames | held.frames | stance.frames,
        "soles": stance.soles,
        "hands": hands,
        "postures": positions,
        "motors": {joint: drive for joint, drive in drives.items() if joint not in left_out},
        "gains": "auto",
        "self_collision": group_pairs(pairs),
        "fixed_frames": wrists | held.fixed_frames | stance.fixed_frames,
        **given,
    }
    try:
        filled = {key: value for key, value in data.items() if value or key == "groups"}
        description = Description.model_validate(filled)
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        key, got = ".".join(map(str, first["loc"])), first["input"]
        raise RobotError(
            f"{urdf}: {key} would be {got}: {first['msg'].lower()}; are lengths in metres?"
        ) from None
    guesses = [
        *_limb_guesses(tree, limbs, legs, arms, orientation),
        *role_guesses,
        *held.guesses,
        *stance.guesses,
        *_other_guesses(description, sources, len(pairs)),
        *(Guess(f"postures.{key}", "given", "keyframe of the MJCF", "high") for key in keyframes),
    ]
    missing = [
        *find_limb_doubts(tree, limbs, legs, arms, orientation),
        *find_doubts(tree),
        *held.missing,
        *stance.missing,
        *_mjcf_notes(mjcf, description),
        *_joint_notes(tree, shared, sources),
    ]
    if root:
        missing.append(
            f"urdf: the root link does not carry the legs; `{root}`, which does, is the root in a copy"
        )
    elif turned:
        missing.append(
            "urdf: the root link's x axis is not forward or its z axis not up; it is turned in a copy"
        )
    return Scaffold(description, tuple(guesses), tuple(missing), tree.text if copied else None)


def _upright(
    urdf: Path, xacro: Mapping[str, str] | None, make_shapes: bool
) -> tuple[RobotTree, Limbs, Array, str]:
    """Read a robot with its root link upright, and at the pelvis if it stands.

    The root link is turned if the robot has legs and arms only along another axis than z. Returns tree and
    limbs, the turn of the root link (3, 3), and the link that was made the root; empty if none was.
    """
    tree, turn = RobotTree(urdf, xacro=xacro, make_shapes=make_shapes), np.eye(3)
    limbs = find_limbs(tree)
    sideways = limbs.clusters and not limbs.feet_count
    for axis, angle in (("x", 90), ("y", -90), ("x", -90), ("y", 90), ("x", 180)) if sideways else ():
        tried = pin.utils.rotate(axis, np.radians(angle))
        turned = RobotTree(urdf, tried, xacro=xacro, make_shapes=make_shapes)
        found = find_limbs(turned)
        if found.legs and found.arms:
            tree, limbs, turn = turned, found, tried
            break
    pelvis = int(tree.model.parents[limbs.legs[0]]) if limbs.legs else 0
    root = tree.joint_link(pelvis) if pelvis else ""
    if root:
        # What was upward stays upward.
        turn = tree.poses[pelvis].rotation
        tree = RobotTree(urdf, turn, root, xacro, make_shapes)
        limbs = find_limbs(tree)
    return tree, limbs, turn, root


def _sided(pair: tuple[LimbChain, ...]) -> Iterator[tuple[str, LimbChain]]:
    """Two arms or legs with their sides; a single arm is a right one."""
    return zip(SIDES if len(pair) == 2 else SIDES[1:][: len(pair)], pair, strict=True)


def _drives(tree: RobotTree) -> tuple[dict[str, dict[str, float]], dict[str, str]]:
    """Inertia of all drives, from `<rotor_params>` of SRDF files near the URDF, else from the joint limits.

    An MJCF has them itself. Returns the drives by joint as `motors` has them, none if nothing is known of
    any; and by joint where its drive is known from: `mjcf`, `srdf`, `limits` or `unknown`.
    """
    if tree.mjcf.given:
        # A joint that moves no inertia is fixed.
        given = {name: tree.mjcf.motors[name] for name in tree.model.names[1:]}
        known = any(drive["reflected_inertia"] for drive in given.values())
        return (given if known else {}), dict.fromkeys(given, "mjcf")
    rotors: dict[str, tuple[float, float]] = {}
    for folder in (tree.path.parent, tree.path.parent.parent / "srdf"):
        for path in sorted(folder.glob("*.srdf")):
            try:
                root = read_xml(path, RobotError)
            except SimbenchError:
                continue
            for element in root.iterfind(".//rotor_params/joint"):
                ratio, inertia = (parse_numbers(element.get(key, "")) for key in ("gear_ratio", "mass"))
                if len(ratio) == len(inertia) == 1 and ratio[0] > 0 and inertia[0] >= 0:
                    rotors.setdefault(element.get("name", ""), (ratio[0], inertia[0]))
    drives: dict[str, dict[str, float]] = {}
    sources = {}
    for joint in range(1, tree.model.njoints):
        name, effort, speed = (
            tree.model.names[joint],
            float(tree.model.effortLimit[joint - 1]),
            float(tree.model.velocityLimit[joint - 1]),
        )
        drives[name], sources[name] = {"reflected_inertia": 0.0}, "unknown"
        if name in tree.couplings:
            sources[name] = "limits"
            continue
        if name in rotors:
            reduction, rotor = rotors[name]
            drives[name] = {"reduction": reduction, "reflected_inertia": reduction**2 * rotor}
            sources[name] = "srdf"
        elif effort < UNLIMITED_EFFORT and speed < UNLIMITED_VELOCITY:
            drives[name] = {"reflected_inertia": float(f"{RUN_UP_TIME * effort / speed:.3g}")}
            sources[name] = "limits"
    return (drives if any(drive["reflected_inertia"] for drive in drives.values()) else {}), sources


def _given_by_mjcf(
    mjcf: MjcfExtension, joints: Sequence[str], coupled: Collection[str]
) -> dict[str, dict[str, Any]]:
    """Sections of a description that an MJCF gives: keyframes, friction, and gains if it has all of them.

    `joints`: names of the joints that move; `coupled`: those of them that others move.
    """
    postures = {
        key: {joint: q[joint] for joint in joints if q[joint]}
        for key, q in mjcf.postures.items()
        if key not in RESERVED_POSTURES
    }
    sections: dict[str, dict[str, Any]] = {"postures": postures}
    sections["friction"] = {joint: mjcf.friction[joint] for joint in joints if joint in mjcf.friction}
    if joints and mjcf.gains.keys() >= {*joints} - {*coupled}:
        sections["gains"] = {joint: mjcf.gains.get(joint, (0.0, 0.0)) for joint in joints}
    return sections


def _mjcf_notes(mjcf: MjcfExtension, description: Description) -> Iterator[str]:
    """Say what of an MJCF is left out, and where the guesses differ from it."""
    yield from (f"mjcf: {note}" for note in mjcf.notes)
    for key in RESERVED_POSTURES:
        if key in mjcf.postures:
            yield f"mjcf: keyframe `{key}`: a posture of this name has a meaning of its own; left out"
    if mjcf.given and mjcf.floating != (description.base == "floating"):
        root = "a free joint" if mjcf.floating else "no free joint"
        yield f"base: {description.base} by the limbs, but the root link of the MJCF has {root}"


def _joint_notes(tree: RobotTree, shared: frozenset[int], sources: Mapping[str, str]) -> Iterator[str]:
    """Say which joints of limbs are not moved, and of which motors nothing is known."""
    if shared:
        names = listed([tree.model.names[joint] for joint in sorted(shared)])
        yield (
            f"coupled_joints: {names} share motors: they stay as the posture has them, and limbs do without "
            "what they would give"
        )
    unknown = [joint for joint, source in sources.items() if source == "unknown"]
    if unknown:
        yield (
            f"motors: no limits of torque or speed for {listed(unknown)}; their reflected inertia is "
            "unknown, 0"
        )


def _limb_guesses(
    tree: RobotTree,
    limbs: Limbs,
    legs: tuple[LimbChain, ...],
    arms: tuple[LimbChain, ...],
    orientation: Orientation,
) -> Iterator[Guess]:
    """Guesses about base, limbs and sides."""
    if limbs.feet_count:
        reason = f"{limbs.feet_count} limbs reach the lowest point of the robot"
        yield Guess("base", "floating", reason, "high" if limbs.feet_count == 2 else "medium")
    else:
        reason = "no limbs reach the lowest point of the robot"
        yield Guess("base", "fixed", reason, "medium" if arms and not lone_leg(tree, limbs) else "low")
    names = tree.model.names
    confidence: Confidence = "high" if limbs.sure else "medium"
    if fingers_alone(tree, limbs):
        confidence = "low"
    for part, pair, reason in (("arm", arms, limbs.arm_reason), ("leg", legs, limbs.leg_reason)):
        for side, limb in _sided(pair):
            value = f"{names[limb.joints[0]]} … {names[limb.joints[-1]]} ({len(limb.joints)} joints)"
            yield Guess(f"groups.{side}_{part}", value, reason, confidence)
            if limb.fingers and limbs.feet_count:
                fingers = ", ".join(names[joint] for joint in limb.fingers)
                why = "short or sliding joints beyond the last joint that moves the hand as a whole"
                yield Guess(f"groups.{side}_grip", fingers, why, "medium")
    if len(legs) == 2 or len(arms) == 2:
        axis = " ".join(f"{value:g}" for value in np.round(orientation.left, 3) + 0.0)
        against = f"; against it: {', '.join(orientation.against)}" if orientation.against else ""
        reason = f"{', '.join(orientation.evidence)}{against}"
        sure = orientation.sure
        yield Guess("left", f"along ({axis}) of the root link", reason, "high" if sure else "low")


def _roles(
    tree: RobotTree, legs: tuple[LimbChain, ...], arms: tuple[LimbChain, ...], roles: BodyRoles
) -> tuple[dict[str, str], dict[str, Any], list[Guess]]:
    """Link of each role, new frames, and why; hands and feet are added by others."""
    found: list[tuple[str, str, str, Confidence]] = []
    fixed: dict[str, Any] = {}
    if roles.pelvis is not None:
        found.append(("pelvis", main_link(tree, roles.pelvis), "carries both legs", "high"))
    if legs or arms:
        # What carries no arms is not said.
        carries = ("", "carries the arm", "carries both arms")[len(arms)]
        found.append(("trunk", main_link(tree, roles.trunk), carries, "high"))
    if roles.head_link is not None:
        sure: Confidence = "high" if roles.neck_joints else "medium"
        found.append(("head", roles.head_link, "highest above the shoulders", sure))
    for side, arm in _sided(arms):
        reason = "last gap between the axes before the elbow"
        found.append((f"{side}_shoulder", tree.joint_link(arm.start), reason, "medium"))
        lengths = f"upper arm {arm.lengths[0]:.3f} m, forearm {arm.lengths[1]:.3f} m"
        reason = f"its joint's axis is farthest from shoulder and wrist; {lengths}"
        doubt = "" if arm.said.elbow else _doubt_bones(tree, arm.lengths)
        reason = f"as was said; {lengths}" if arm.said.elbow else reason
        found.append((f"{side}_elbow", elbow_link(tree, arm), reason + doubt, "low" if doubt else "high"))
        link, reason = (
            tree.joint_link(arm.wrist or arm.joints[-1]),
            "moved by the last joint before the fingers",
        )
        if not arm.wrist:
            link, reason = tree.free_name(f"{side}_wrist"), "new: no joint follows the elbow; as far as "
            reason += "the shoulder is from it, or at the end of the arm"
            fixed[link] = frame_entry(tree, arm.joints[-1], pin.SE3(np.eye(3), arm.end))
        found.append((f"{side}_wrist", link, reason, "high" if arm.wrist else "medium"))
    for side, leg in _sided(legs):
        if len(leg.joints) > 2:
            link = tree.joint_link(int(tree.model.parents[leg.middle]))
            reason = f"above the knee; thigh {leg.lengths[0]:.3f} m, shank {leg.lengths[1]:.3f} m"
            doubt = _doubt_bones(tree, leg.lengths)
            found.append((f"{side}_thigh", link, reason + doubt, "low" if doubt else "high"))
    guesses = [Guess(f"frames.{role}", link, why, confidence) for role, link, why, confidence in found if why]
    return {role: link for role, link, _, _ in found}, fixed, guesses


def _doubt_bones(tree: RobotTree, lengths: tuple[float, float]) -> str:
    """Say what speaks against an elbow or knee between bones of such lengths, m; empty if nothing does."""
    short, long = sorted(lengths)
    if long < _SHORTEST_BONE * tree.size:
        return "; both are short for the robot"
    return "; one is much longer than the other" if short < _MOST_UNLIKE * long else ""


def _other_guesses(description: Description, sources: Mapping[str, str], pairs: int) -> Iterator[Guess]:
    """Guesses about drives, gains, collision pairs and joints that are fixed."""
    counts = [[*sources.values()].count(source) for source in ("srdf", "limits", "mjcf")]
    if description.motors and counts[2]:
        yield Guess("motors", f"{counts[2]} joints", "armature of the MJCF", "high")
    if description.friction:
        reason = "damping and friction loss of the MJCF"
        yield Guess("friction", f"{len(description.friction)} joints", reason, "high")
    if description.motors and counts[0]:
        yield Guess("motors", f"{counts[0]} joints", "<rotor_params> of an SRDF near the URDF", "high")
    if description.motors and counts[1]:
        reason = (
            "assumed: the largest torque brings the rotor to the largest speed in 10 ms; off by 2.7 times"
        )
        yield Guess("motors", f"{counts[1]} joints", reason, "low")
    if description.gains == "auto":
        yield Guess("gains", "auto", "from the inertia that each joint moves", "medium")
    else:
        reason = "stiffness and damping of the MJCF's position actuators"
        yield Guess("gains", f"{len(description.gains)} joints", reason, "high")
    reason = "links that touch in some random configurations, not in all, and not in the postures"
    yield Guess("self_collision", f"{pairs} pairs", reason, "high" if pairs else "medium")
    if description.fixed_joints:
        reason = "of no trunk, arm or head; fingers are open about a bar"
        yield Guess("fixed_joints", listed([*description.fixed_joints]), reason, "medium")
