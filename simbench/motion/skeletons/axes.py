"""Anatomical axes of a skeleton's segments as constant directions in the axes of its joints."""

from dataclasses import dataclass, field

import numpy as np

from simbench.kinematics.arrays import Array
from simbench.motion.skeletons.geometry import COINCIDING, SkeletonGeometry, angles_between, unit_vectors
from simbench.motion.skeletons.names import NameVote
from simbench.motion.skeletons.posture import ReferencePosture, body_axes, snap
from simbench.motion.skeletons.roles import Roles
from simbench.robot.sides import SIDES

# The elbow tells an axis if its squared sine of flexion is this large on average (10 degrees) and the axes of
# all frames agree to this length of their mean.
FLEXED, CONCENTRATED = 0.03, 0.85
# Angle between the thumb's side by the elbow's plane and by the reference posture, degrees: beyond it the
# posture is not what it seems, and the elbow is believed.
CONTRADICTION = 60.0
# Bones of an arm whose directions in the rest pose differ by less than this are straight, degrees.
STRAIGHT = 12.0
# Palms down have the thumbs within this angle of forward, degrees.
PALM_ANGLE = 50.0
DIGITS = 6


@dataclass
class SegmentAxes:
    """Constant directions of segments in the axes of the joints with which they turn."""

    # `trunk`, `pelvis` (3, 3) or None: columns forward, left and up of the trunk in the axes of the joint
    # `chest`, of the pelvis in those of `pelvis_carrier`; None if they are not known.
    trunk: Array | None = None
    pelvis: Array | None = None
    # `along`, `thumb` dict of str to (3,) array: distal direction and direction of the thumb's side, by
    # segment, such as `left_forearm`.
    along: dict[str, Array] = field(default_factory=dict)
    thumb: dict[str, Array] = field(default_factory=dict)
    # Index of the joint with which each segment turns.
    turns_with: dict[str, int] = field(default_factory=dict)
    # `notes`, `doubts`, `unsure`: what was found out, what may be wrong, and the segments that were assumed.
    notes: list[str] = field(default_factory=list)
    doubts: list[str] = field(default_factory=list)
    unsure: list[str] = field(default_factory=list)


def find_segment_axes(
    skeleton: SkeletonGeometry, roles: Roles, votes: list[NameVote], posture: ReferencePosture
) -> SegmentAxes:
    """Find the axes of trunk, pelvis, arms and hands.

    `roles`: the joints of a person in it; `votes`: what the names of the joints say; `posture`: A pose in
    which the body's directions are known, or one with an empty `kind`. Returns constant directions in the
    joints' axes.
    """
    axes = SegmentAxes()
    _add_trunk(axes, skeleton, roles, posture)
    for side in SIDES:
        if roles.has(f"{side}_shoulder"):
            _add_arm(axes, skeleton, roles, votes, posture, side)
    return axes


def pelvis_carrier(skeleton: SkeletonGeometry, roles: Roles) -> int | None:
    """Find the joint with which the pelvis turns: the one that carries both hips.

    `roles`: the joints of a person in it. Returns its index; None without a pelvis.
    """
    hips = roles.both("hip")
    return skeleton.common_ancestor(hips) if len(hips) == 2 else roles.joints.get("pelvis")


def _add_trunk(
    axes: SegmentAxes, skeleton: SkeletonGeometry, roles: Roles, posture: ReferencePosture
) -> None:
    """Find the axes of trunk and pelvis."""
    carriers = {"trunk": roles.joints["chest"]}
    below = pelvis_carrier(skeleton, roles)
    if below is not None:
        carriers["pelvis"] = below
    for name, joint in carriers.items():
        axes.turns_with[name] = joint
        if posture.kind:
            found = posture.rotations[joint].T @ posture.axes
        else:
            found = _mean_axes(skeleton, roles, joint, name)
        setattr(axes, name, found)


def _mean_axes(skeleton: SkeletonGeometry, roles: Roles, joint: int, name: str) -> Array | None:
    """Average the body's directions over the motion, in the axes of a joint; near its axes, those."""
    body, _ = body_axes(skeleton.positions, roles)
    part = "hip" if name == "pelvis" else "shoulder"
    if not roles.has(f"left_{part}", f"right_{part}"):
        part = "shoulder" if name == "pelvis" else "hip"
    if not roles.has(f"left_{part}", f"right_{part}"):
        return None
    turned = skeleton.rotations[:, joint]
    line = (
        skeleton.positions[:, roles.joints[f"left_{part}"]]
        - skeleton.positions[:, roles.joints[f"right_{part}"]]
    )
    left = snap(unit_vectors(np.einsum("fji,fj->fi", turned, unit_vectors(line)).mean(axis=0)))
    up = np.einsum("fji,fj->fi", turned, body[:, :, 2]).mean(axis=0)
    up = snap(unit_vectors(up - (up @ left) * left))
    up = unit_vectors(up - (up @ left) * left)
    return np.stack([np.cross(left, up), left, up], axis=1)


def _add_arm(
    axes: SegmentAxes,
    skeleton: SkeletonGeometry,
    roles: Roles,
    votes: list[NameVote],
    posture: ReferencePosture,
    side: str,
) -> None:
    """Find the axes of one arm's segments."""
    shoulder, elbow, wrist = (roles.joints[f"{side}_{part}"] for part in ("shoulder", "elbow", "wrist"))
    carrier = hand_carrier(skeleton, votes, wrist)
    bones = {
        "upper_arm": (shoulder, _direction(skeleton, shoulder, elbow)),
        "forearm": (elbow, _direction(skeleton, elbow, wrist)),
    }
    palm = _hand_direction(skeleton, votes, carrier, posture)
    if palm is None:
        palm = posture.rotations[carrier].T @ posture.rotations[elbow] @ bones["forearm"][1]
    bones["hand"] = (carrier, palm)
    fingers, exact = _finger_direction(skeleton, votes, wrist, carrier, posture)
    elbow_thumbs = {
        "upper_arm": elbow_thumb(skeleton, (shoulder, elbow, wrist), shoulder, bones["upper_arm"][1]),
        "forearm": elbow_thumb(skeleton, (shoulder, elbow, wrist), elbow, bones["forearm"][1]),
    }
    shared = _shared_thumb(bones, elbow_thumbs)
    # Direction of the thumb in the reference posture, in the file's axes.
    outward = posture.axes[:, 0]
    for part, (joint, along) in bones.items():
        name = f"{side}_{part}"
        axes.turns_with[name], axes.along[name] = joint, along
        if posture.kind:
            thumb = posture.rotations[joint].T @ outward
            measured = elbow_thumbs.get(part)
            if part == "hand" and fingers is not None:
                off = float(angles_between(_across(fingers, along), _across(thumb, along)))
                thumb = fingers if exact or off > PALM_ANGLE else thumb
            elif part == "forearm" and fingers is not None:
                radial = posture.rotations[joint].T @ posture.rotations[carrier] @ fingers
                if angles_between(_across(radial, along), _across(thumb, along)) > PALM_ANGLE:
                    thumb = radial
                    axes.notes.append(
                        f"{side} hand: the palm does not face down or the thigh in the reference posture, "
                        "as its fingers show"
                    )
            elif part == "upper_arm" and measured is not None:
                off = float(angles_between(measured, _across(thumb, along)))
                if off > CONTRADICTION:
                    thumb = measured
                    # Without fingers the whole arm is taken as turned alike.
                    outward = posture.rotations[joint] @ measured if fingers is None else outward
                    axes.doubts.append(
                        f"{side} upper arm: the elbow bends {off:.0f}° from where it would by the reference "
                        "posture; the axes follow the elbow"
                    )
        else:
            thumb = fingers if part == "hand" and fingers is not None else None
            thumb = elbow_thumbs.get(part) if thumb is None and shared is None else thumb
            thumb = shared if thumb is None else thumb
            if thumb is None:
                axes.unsure.append(name)
                continue
        across = _across(thumb, along)
        if not np.any(across):
            axes.unsure.append(name)
            continue
        axes.thumb[name] = across


def _shared_thumb(bones: dict[str, tuple[int, Array]], thumbs: dict[str, Array | None]) -> Array | None:
    """Thumb's side of an arm that is straight in the rest pose: the same direction for all its segments."""
    first = bones["upper_arm"][1]
    if any(angles_between(first, along) > STRAIGHT for _, along in bones.values()):
        return None
    thumb = thumbs["upper_arm"] if thumbs["upper_arm"] is not None else thumbs["forearm"]
    return None if thumb is None else snap(thumb)


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
    normal = np.cross(unit_vectors(tracks[:, 1] - tracks[:, 0]), unit_vectors(tracks[:, 2] - tracks[:, 1]))
    sine = np.linalg.norm(normal, axis=1)
    if (sine**2).mean() < FLEXED:
        return None
    local = np.einsum("fji,fj->fi", skeleton.rotations[:, joint], normal)
    mean = (local * sine[:, None]).sum(axis=0) / (sine**2).sum()
    if np.linalg.norm(mean) < CONCENTRATED:
        return None
    return np.asarray(unit_vectors(np.cross(_across(mean, along), along)))


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
    skeleton: SkeletonGeometry, votes: list[NameVote], carrier: int, posture: ReferencePosture
) -> Array | None:
    """Direction from the wrist along the fingers in the axes of the hand's joint; None if there is none."""
    below = [
        k
        for k in skeleton.subtree(carrier)[1:]
        if votes[k].finger != "thumb"
        and "thumb" not in {votes[a].finger for a in skeleton.ancestors[k]}
        and np.linalg.norm(skeleton.offsets[k]) > COINCIDING * skeleton.size
    ]
    middle = [k for k in below if votes[k].finger == "middle"]
    first = middle or [k for k in below if skeleton.parents[k] == carrier] or below
    if not first:
        return None
    ends = first[:1] if middle else first
    vector = (
        posture.rotations[carrier].T @ (posture.positions[ends].mean(axis=0) - posture.positions[carrier])
        if posture.kind
        else np.mean([_direction(skeleton, carrier, k) for k in ends], axis=0)
    )
    return None if not np.any(vector) else np.asarray(unit_vectors(vector))


def _finger_direction(
    skeleton: SkeletonGeometry,
    votes: list[NameVote],
    wrist: int,
    carrier: int,
    posture: ReferencePosture,
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
                along = unit_vectors(positions[found[ulnar]] - positions[carrier])
                vector = vector - (vector @ along) * along
            if np.linalg.norm(vector) > spread / 2.0:
                # A thumb is on the palm's side of the other fingers as well.
                return np.asarray(rotation.T @ unit_vectors(vector)), radial != "thumb"
    return None, False


def _direction(skeleton: SkeletonGeometry, start: int, end: int) -> Array:
    """Mean direction from a joint to one below it, in the upper joint's axes."""
    vectors = skeleton.positions[:, end] - skeleton.positions[:, start]
    local = np.einsum("fji,fj->fi", skeleton.rotations[:, start], vectors)
    return np.asarray(unit_vectors(np.median(local, axis=0)))


def _across(vector: Array, along: Array) -> Array:
    """Part of a vector at a right angle to a unit vector, of length one, or zero."""
    part = vector - (vector @ along) * along
    return np.asarray(unit_vectors(part)) if np.linalg.norm(part) > 0.05 else np.zeros(3)
