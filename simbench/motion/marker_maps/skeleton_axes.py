"""The reference posture of a skeleton, and the anatomical axes of its segments in the joints' axes."""

from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from simbench.kinematics.arrays import Array
from simbench.motion.marker_maps.map_evaluation import normalise
from simbench.motion.marker_maps.skeleton_roles import Roles
from simbench.motion.marker_maps.skeleton_tree import COINCIDING, NameVote, SkeletonGeometry, angles_between
from simbench.motion.recordings import RecordedPose
from simbench.robot.sides import SIDES

# A posture is upright when each leg is within this angle of the trunk's line, degrees; CMU's legs are spread
# by 20 degrees.
LEG_ANGLE = 35.0
# Straight arms and legs, degrees of flexion, in the rest pose; A-poses of game characters bend the elbows.
REST_FLEXION, FRAME_FLEXION = 40.0, 15.0
# Angle between the arm and the trunk's line down, degrees: hanging below the first, T above the second.
HANGING, SPREAD, RAISED = 20.0, 65.0, 115.0
# Arms point to the side: most of the component forward or backward, and difference of the two sides, degrees.
FORWARD_SINE, ASYMMETRY = 0.4, 20.0
# Shoulders and hips are parallel, and square to the trunk, within this angle, degrees.
TWIST = 15.0
# Joints of the front of the foot. Bends count where their squared sines of flexion have this mean at least,
# and a direction tells forward from backward from this mean cosine on.
TOES, FLEXED_SHARE, SHOWN = ("toe", "big_toe", "foot_index", "foot"), 0.01, 0.2
# Within this angle, degrees, a direction of a posture is the file's axis next to it.
SNAP_ANGLE = 15.0


class ReferencePosture(NamedTuple):
    """A pose of a skeleton and the body's directions in it."""

    kind: str  # `T-pose`, `A-pose`, `hanging arms`, or empty if no pose of the recording is known.
    where: str  # `hierarchy` for the rest pose, `frame N`, or `the pose before the motion`.
    positions: Array  # (J, 3): positions of the joints in it, in the file's axes and unit.
    rotations: Array  # (J, 3, 3): rotations from the joints' axes to the file's in it.
    axes: Array  # (3, 3): columns: forward, left and up of the body, in the file's axes.


def find_reference_pose(roles: Roles, before: RecordedPose | None = None) -> ReferencePosture:
    """Find a pose in which the body's directions are known.

    The rest pose of the hierarchy is taken if it is one that a person takes: upright, legs down, straight
    arms to the sides or hanging, both alike. Otherwise the frame of the motion is taken that is most like a
    T-pose or an A-pose, with stricter limits. If there is none, the rest pose is returned without a `kind`.
    `roles`: the joints of a person in a skeleton; `before`: A pose that the file holds before the motion.
    """
    skeleton = roles.skeleton
    kinds, _, axes = judge_poses(skeleton.rest[None], roles, REST_FLEXION)
    identity = np.tile(np.eye(3), (len(skeleton.names), 1, 1))
    if kinds[0]:
        return ReferencePosture(kinds[0], "hierarchy", skeleton.rest, identity, snap_axes(axes[0], both=True))
    positions, rotations, frames = skeleton.positions, skeleton.rotations, skeleton.frames
    if before is not None:
        positions = np.concatenate([before.positions[None], positions])
        rotations = np.concatenate([before.rotations[None], rotations])
        frames = np.concatenate([[-1], frames])
    kinds, flexion, axes = judge_poses(positions, roles, FRAME_FLEXION)
    spread = [k for k, kind in enumerate(kinds) if kind in ("T-pose", "A-pose")]
    if spread:
        best = min(spread, key=lambda k: (kinds[k] != "T-pose", flexion[k]))
        return ReferencePosture(
            kinds[best],
            f"frame {frames[best]}" if frames[best] >= 0 else "the pose before the motion",
            positions[best],
            rotations[best],
            snap_axes(axes[best], both=False),
        )
    return ReferencePosture("", "hierarchy", skeleton.rest, identity, np.eye(3))


def judge_poses(positions: Array, roles: Roles, most_flexion: float) -> tuple[list[str], Array, Array]:
    """Tell which poses are reference postures.

    `positions` (F, J, 3): poses of the skeleton; `roles`: the joints of a person in it; `most_flexion`: most
    flexion of elbows and knees, degrees. Returns `kinds`: `T-pose`, `A-pose`, `hanging arms` or nothing for
    each pose; `flexion` (F,): largest flexion of the elbows, degrees; `axes` (F, 3, 3): columns: forward,
    left and up of the body.
    """
    count = len(positions)
    axes, good = body_axes(positions, roles)
    flexion = np.zeros(count)
    slopes = []
    sides = [side for side in SIDES if roles.has(f"{side}_shoulder")]
    for side in sides:
        shoulder, elbow, wrist = (
            positions[:, roles.joints[f"{side}_{part}"]] for part in ("shoulder", "elbow", "wrist")
        )
        flexion = np.maximum(flexion, angles_between(elbow - shoulder, wrist - elbow))
        arm = np.einsum("fji,fj->fi", axes, normalise(wrist - shoulder))
        outward = arm[:, 1] if side == "left" else -arm[:, 1]
        slope = angles_between(arm, np.array([0.0, 0.0, -1.0]))
        good &= np.abs(arm[:, 0]) < FORWARD_SINE
        good &= (outward > 0.0) | (slope < HANGING)
        slopes.append(slope)
    good &= flexion < most_flexion
    slope = np.mean(slopes, axis=0)
    if len(slopes) == 2:
        good &= np.abs(slopes[0] - slopes[1]) < ASYMMETRY
    for side in SIDES:
        if not roles.has(f"{side}_hip"):
            continue
        hip, knee, ankle = (positions[:, roles.joints[f"{side}_{part}"]] for part in ("hip", "knee", "ankle"))
        good &= angles_between(ankle - hip, -axes[:, :, 2]) < LEG_ANGLE
        good &= angles_between(knee - hip, ankle - knee) < most_flexion
    names = np.where(slope < HANGING, "hanging arms", np.where(slope < SPREAD, "A-pose", "T-pose"))
    names = np.where(good & (slope < RAISED), names, "")
    return [str(name) for name in names], flexion, axes


def body_axes(positions: Array, roles: Roles) -> tuple[Array, NDArray[np.bool_]]:
    """Compute forward, left and up of the body from shoulders and hips.

    `positions` (F, J, 3): poses of the skeleton; `roles`: the joints of a person in it. Returns `axes` (F, 3,
    3): columns: forward, left and up; `square` (F,) bool: whether shoulders and hips are parallel and square
    to the trunk, so that the axes mean something.
    """
    lines = [
        positions[:, roles.joints[f"left_{part}"]] - positions[:, roles.joints[f"right_{part}"]]
        for part in ("shoulder", "hip")
        if roles.has(f"left_{part}", f"right_{part}")
    ]
    above, below = roles.both("shoulder"), roles.both("hip")
    start = (
        positions[:, below].mean(axis=1)
        if len(below) == 2
        else positions[:, roles.joints.get("pelvis", roles.joints["chest"])]
    )
    end = (
        positions[:, above].mean(axis=1)
        if len(above) == 2
        else positions[:, roles.joints.get("neck", roles.joints["chest"])]
    )
    up = normalise(end - start)
    if not lines:
        return np.tile(np.eye(3), (len(positions), 1, 1)), np.zeros(len(positions), dtype=bool)
    square: NDArray[np.bool_] = np.all(
        [np.abs(angles_between(line, up) - 90.0) < TWIST for line in lines], axis=0
    )
    if len(lines) == 2:
        square &= angles_between(lines[0], lines[1]) < TWIST
    left = np.sum([normalise(line) for line in lines], axis=0)
    left = normalise(left - (left * up).sum(axis=1, keepdims=True) * up)
    square &= np.linalg.norm(left, axis=1) > 0.5
    return np.stack([np.cross(left, up), left, up], axis=2), square


def snap_axes(axes: Array, both: bool) -> Array:
    """Turn the body's directions in an upright posture onto the file's axes that are next to them.

    `axes` (3, 3): columns: forward, left and up; `both`: whether the left axis is turned as well; else only
    the one that points up. Returns (3, 3): the columns, at right angles.
    """
    up, left = snap(axes[:, 2]), axes[:, 1]
    left = normalise(left - (left @ up) * up)
    if both:
        left = snap(left)
        left = normalise(left - (left @ up) * up)
    return np.stack([np.cross(left, up), left, up], axis=1)


def snap(direction: Array) -> Array:
    """Replace a direction by the axis next to it, if that is close.

    `direction` (3,): unit vector. Returns (3,): the axis within `SNAP_ANGLE`, else the direction itself.
    """
    k = int(np.abs(direction).argmax())
    axis = np.zeros(3)
    axis[k] = np.sign(direction[k])
    return axis if angles_between(axis, direction) < SNAP_ANGLE else direction


def facing_agreement(tracks: Mapping[str, Array], forward: Array) -> tuple[float, str]:
    """Compare the body's forward direction, from its left and up, with that of feet, face, knees and elbows.

    `tracks` mapping of str to (T, 3) array: positions of the joints by name, in any unit; NaN where a joint
    was not seen; `forward` (T, 3): unit vectors, left cross up. Returns `agreement`: mean cosine between
    both, from -1 to 1; negative if left and right are swapped or the axes mirrored, and about zero if nothing
    tells; `evidence`: `toes`, `nose`, `knees`, `elbows` or nothing.
    """
    # Vectors that point forward and their weights, the most telling first.
    found: dict[str, list[tuple[Array, Array]]] = {"toes": [], "nose": [], "knees": [], "elbows": []}
    always = np.ones(len(forward))
    for side in SIDES:
        toe = next((tracks[name] for part in TOES if (name := f"{side}_{part}") in tracks), None)
        if toe is not None and f"{side}_ankle" in tracks:
            found["toes"].append((toe - tracks[f"{side}_ankle"], always))
        for parts, sign, evidence in (
            (("hip", "knee", "ankle"), 1.0, "knees"),
            (("shoulder", "elbow", "wrist"), -1.0, "elbows"),
        ):
            if all(f"{side}_{part}" in tracks for part in parts):
                a, b, c = (tracks[f"{side}_{part}"] for part in parts)
                flexion = np.sin(np.radians(angles_between(b - a, c - b))) ** 2
                found[evidence].append((sign * (b - (a + c) / 2.0), flexion))
    behind = [tracks[name] for name in ("left_ear", "right_ear", "head", "thorax", "neck") if name in tracks]
    if "nose" in tracks and behind:
        found["nose"].append((tracks["nose"] - behind[0], always))
    for evidence, vectors in found.items():
        cosines = [(normalise(vector) * forward).sum(axis=1) for vector, _ in vectors]
        weights = np.concatenate([*(weight for _, weight in vectors), np.empty(0)])
        every = np.concatenate([*cosines, np.empty(0)])
        seen = np.isfinite(every) & np.isfinite(weights)
        if seen.any() and weights[seen].sum() > FLEXED_SHARE * seen.sum():
            agreement = float(np.average(every[seen], weights=weights[seen]))
            if abs(agreement) > SHOWN:
                return agreement, evidence
    return 0.0, ""


# The elbow tells an axis if its squared sine of flexion is this large on average (10 degrees) and the axes of
# all frames agree to this length of their mean.
FLEXED, CONCENTRATED = 0.03, 0.85
# Angle between the thumb's side by the elbow's plane and by the reference posture, degrees: beyond it the
# posture is not what it seems, and the elbow is believed.
CONTRADICTION = 60.0
# No bone of a hand is longer than so many forearms; a hand itself is 0.74 of one (Drillis and Contini 1966).
LONGEST_HAND = 1.0
# Bones of an arm whose directions in the rest pose differ by less than this are straight, degrees.
STRAIGHT = 12.0
# Palms down have the thumbs within this angle of forward, degrees.
PALM_ANGLE = 50.0
# Constants of a map are rounded to this many decimals, a millionth of a radian, so that they can be read.
DECIMALS = 6


def find_segment_recipes(
    roles: Roles, posture: ReferencePosture
) -> tuple[dict[str, Any], list[str], list[str], list[str]]:
    """Find the axes of trunk, pelvis, arms and hands, as recipes of a marker map.

    `roles`: the joints of a person in a skeleton; `posture`: A pose in which the body's directions are known,
    or one with an empty `kind`. Returns recipes by segment, with constant directions in the axes of the
    joints with which the segments turn; what was found out; what may be wrong; and the segments that were
    assumed.
    """
    recipes: dict[str, Any] = {}
    notes: list[str] = []
    doubts: list[str] = []
    unsure: list[str] = []
    skeleton = roles.skeleton
    # The pelvis turns with the joint that carries both hips.
    hips = roles.both("hip")
    below = skeleton.common_ancestor(hips) if len(hips) == 2 else roles.joints.get("pelvis")
    for body, joint, parts in (
        ("trunk", roles.joints["chest"], ("shoulder", "hip")),
        ("pelvis", below, ("hip", "shoulder")),
    ):
        if joint is None:
            continue
        if posture.kind:
            columns = posture.rotations[joint].T @ posture.axes
        else:
            part = next((part for part in parts if roles.has(f"left_{part}", f"right_{part}")), None)
            if part is None:
                continue
            # The body's directions are averaged over the motion; near the joint's axes they are those.
            turned = skeleton.rotations[:, joint]
            one, other = (skeleton.positions[:, roles.joints[f"{side}_{part}"]] for side in SIDES)
            left = snap(normalise(np.einsum("fji,fj->fi", turned, normalise(one - other)).mean(axis=0)))
            upward = body_axes(skeleton.positions, roles)[0][:, :, 2]
            up = np.einsum("fji,fj->fi", turned, upward).mean(axis=0)
            up = snap(normalise(up - (up @ left) * left))
            up = normalise(up - (up @ left) * left)
            columns = np.stack([np.cross(left, up), left, up], axis=1)
        axes = {"z": _constant(columns[:, 2]), "x": _constant(columns[:, 0])}
        recipes[body] = {"turns_with": skeleton.names[joint], "axes": axes}
    for side in SIDES:
        if not roles.has(f"{side}_shoulder"):
            continue
        for part, joint, along, thumb in _find_arm_axes(roles, posture, side, notes, doubts):
            name = f"{side}_{part}"
            across = np.zeros(3) if thumb is None else _across(thumb, along)
            if np.any(across):
                directions = {"along": _constant(along), "thumb": _constant(across)}
                recipes[name] = {"turns_with": skeleton.names[joint], **directions}
                continue
            unsure.append(name)
            ends = ("shoulder", "elbow") if part == "upper_arm" else ("elbow", "wrist")
            recipes[name] = {
                "along": [f"{side}_{end}" for end in ends],
                "bends_at": [f"{side}_{end}" for end in ("shoulder", "elbow", "wrist")],
                "note": f"{name.replace('_', ' ')}: its axial rotation is not known, taken from the plane of "
                "the elbow",
            }
    return recipes, notes, doubts, unsure


def _constant(vector: Array) -> list[float]:
    """Write a direction as constants of a map, rounded so that they can be read."""
    return [round(float(value), DECIMALS) + 0.0 for value in vector]


def _find_arm_axes(
    roles: Roles, posture: ReferencePosture, side: str, notes: list[str], doubts: list[str]
) -> list[tuple[str, int, Array, Array | None]]:
    """Find joint, distal direction, and direction of the thumb, where known, of each segment of an arm."""
    skeleton, votes = roles.skeleton, roles.votes
    shoulder, elbow, wrist = (roles.joints[f"{side}_{part}"] for part in ("shoulder", "elbow", "wrist"))
    carrier = hand_carrier(skeleton, votes, wrist)
    upper, fore = _direction(skeleton, shoulder, elbow), _direction(skeleton, elbow, wrist)
    length = float(np.median(np.linalg.norm(np.diff(skeleton.positions[:, [elbow, wrist]], axis=1), axis=2)))
    palm = _hand_direction(skeleton, votes, carrier, posture, LONGEST_HAND * length)
    if palm is None:
        palm = posture.rotations[carrier].T @ posture.rotations[elbow] @ fore
    bones = {"upper_arm": (shoulder, upper), "forearm": (elbow, fore), "hand": (carrier, palm)}
    fingers, exact = _finger_direction(skeleton, votes, wrist, carrier, posture)
    bends: dict[str, Array | None] = {
        part: elbow_thumb(skeleton, (shoulder, elbow, wrist), *bones[part])
        for part in ("upper_arm", "forearm")
    }
    # In an arm that is straight in the rest pose, the thumb's side is the same direction for all segments.
    shared = None
    if not any(angles_between(upper, along) > STRAIGHT for _, along in bones.values()):
        shared = bends["upper_arm"] if bends["upper_arm"] is not None else bends["forearm"]
        shared = None if shared is None else snap(shared)
    # Direction of the thumb in the reference posture, in the file's axes.
    outward = posture.axes[:, 0]
    found: list[tuple[str, int, Array, Array | None]] = []
    for part, (joint, along) in bones.items():
        bend = bends.get(part)
        if not posture.kind:
            thumb = fingers if part == "hand" else None
            thumb = bend if thumb is None and shared is None else thumb
            found.append((part, joint, along, shared if thumb is None else thumb))
            continue
        thumb = posture.rotations[joint].T @ outward
        if part == "hand" and fingers is not None:
            off = float(angles_between(_across(fingers, along), _across(thumb, along)))
            thumb = fingers if exact or off > PALM_ANGLE else thumb
        elif part == "forearm" and fingers is not None:
            radial = posture.rotations[joint].T @ posture.rotations[carrier] @ fingers
            if angles_between(_across(radial, along), _across(thumb, along)) > PALM_ANGLE:
                thumb = radial
                notes.append(
                    f"{side} hand: the palm does not face down or the thigh in the reference posture, as its "
                    "fingers show"
                )
        elif part == "upper_arm" and bend is not None:
            off = float(angles_between(bend, _across(thumb, along)))
            if off > CONTRADICTION:
                thumb = bend
                # Without fingers the whole arm is taken as turned alike.
                outward = posture.rotations[joint] @ bend if fingers is None else outward
                doubts.append(
                    f"{side} upper arm: the elbow bends {off:.0f}° from where it would by the reference "
                    "posture; the axes follow the elbow"
                )
        found.append((part, joint, along, thumb))
    return found


def elbow_thumb(
    skeleton: SkeletonGeometry, arm: tuple[int, int, int], joint: int, along: Array
) -> Array | None:
    """Find the thumb's side of a segment from the plane in which the elbow bends.

    `arm`: indices of shoulder, elbow and wrist; `joint`: index of the joint with which the segment turns;
    `along` (3,): direction of the segment in that joint's axes. Returns (3,) or None: unit vector in that
    joint's axes, at a right angle to `along`; None if the elbow hardly bends, or bends about an axis that is
    not constant there.
    """
    tracks = skeleton.positions[:, list(arm)]
    normal = np.cross(normalise(tracks[:, 1] - tracks[:, 0]), normalise(tracks[:, 2] - tracks[:, 1]))
    sine = np.linalg.norm(normal, axis=1)
    if (sine**2).mean() < FLEXED:
        return None
    local = np.einsum("fji,fj->fi", skeleton.rotations[:, joint], normal)
    mean = (local * sine[:, None]).sum(axis=0) / (sine**2).sum()
    if np.linalg.norm(mean) < CONCENTRATED:
        return None
    return np.asarray(normalise(np.cross(_across(mean, along), along)))


def hand_carrier(skeleton: SkeletonGeometry, votes: list[NameVote], wrist: int) -> int:
    """Find the joint with which the hand turns: the wrist, or one at the same place that carries the hand.

    `votes`: what the names of the joints say; `wrist`: index of the wrist. Returns index of the joint.
    """
    joint = wrist
    while True:
        inside = [
            k
            for k in skeleton.children[joint]
            if np.linalg.norm(skeleton.offsets[k]) < COINCIDING * skeleton.size
            and skeleton.children[k]
            and votes[k].finger != "thumb"
            and "twist" not in skeleton.names[k].lower()
        ]
        # One that never turns leaves the wrist's rotation as it is.
        if len(inside) != 1:
            return joint
        joint = inside[0]


def _hand_direction(
    skeleton: SkeletonGeometry, votes: list[NameVote], carrier: int, posture: ReferencePosture, longest: float
) -> Array | None:
    """Direction from the wrist along the fingers in the axes of the hand's joint; None if there is none.

    `longest`: length of a bone beyond which it is none of a hand's.
    """
    below = [
        k
        for k in skeleton.subtree(carrier)[1:]
        if "thumb" not in {votes[a].finger for a in (k, *skeleton.ancestors[k])}
        and COINCIDING * skeleton.size < np.linalg.norm(skeleton.offsets[k]) <= longest
    ]
    middle = [k for k in below if votes[k].finger == "middle"]
    ends = middle[:1] or [k for k in below if skeleton.parents[k] == carrier] or below
    if not ends:
        return None
    if posture.kind:
        vector = posture.positions[ends].mean(axis=0) - posture.positions[carrier]
        vector = posture.rotations[carrier].T @ vector
    else:
        vector = np.mean([_direction(skeleton, carrier, k) for k in ends], axis=0)
    return np.asarray(normalise(vector)) if np.any(vector) else None


def _finger_direction(
    skeleton: SkeletonGeometry, votes: list[NameVote], wrist: int, carrier: int, posture: ReferencePosture
) -> tuple[Array | None, bool]:
    """Direction of the thumb's side in the hand joint's axes, and whether it is more than roughly known."""
    found: dict[str, int] = {}
    for k in skeleton.subtree(wrist)[1:]:
        if votes[k].finger and np.linalg.norm(skeleton.rest[k] - skeleton.rest[wrist]) > (
            COINCIDING * skeleton.size
        ):
            found.setdefault(votes[k].finger, k)
    positions, rotation = posture.positions, posture.rotations[carrier]
    if not posture.kind:
        positions, rotation = skeleton.rest, np.eye(3)
    spread = 4.0 * COINCIDING * skeleton.size
    for radial, ulnar in (("index", "pinky"), ("index", "ring"), ("middle", "pinky"), ("thumb", "middle")):
        if radial in found and ulnar in found:
            vector = positions[found[radial]] - positions[found[ulnar]]
            if radial == "thumb":
                along = normalise(positions[found[ulnar]] - positions[carrier])
                vector = vector - (vector @ along) * along
            if np.linalg.norm(vector) > spread / 2.0:
                # A thumb is on the palm's side of the other fingers as well.
                return np.asarray(rotation.T @ normalise(vector)), radial != "thumb"
    return None, False


def _direction(skeleton: SkeletonGeometry, start: int, end: int) -> Array:
    """Mean direction from a joint to one below it, in the upper joint's axes."""
    vectors = skeleton.positions[:, end] - skeleton.positions[:, start]
    local = np.einsum("fji,fj->fi", skeleton.rotations[:, start], vectors)
    return np.asarray(normalise(np.median(local, axis=0)))


def _across(vector: Array, along: Array) -> Array:
    """Part of a vector at a right angle to a unit vector, of length one, or zero."""
    part = vector - (vector @ along) * along
    return np.asarray(normalise(part)) if np.linalg.norm(part) > 0.05 else np.zeros(3)
