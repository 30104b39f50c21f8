"""A person's body: heading, lean and COG, contact of the feet, and an arm that was not recorded."""

from collections.abc import Mapping
from dataclasses import replace
from itertools import pairwise

import numpy as np
from scipy.ndimage import gaussian_filter1d

from simbench.errors import MotionError
from simbench.kinematics.arrays import Array
from simbench.kinematics.foot_contact import (
    ANKLE_THRESHOLDS,
    PERSON_THRESHOLDS,
    Flags,
    FootMeasures,
    Jerk,
    estimate_floor,
    find_point_contacts,
    measure_feet,
    measure_jerk,
    point_speeds,
)
from simbench.motion.human_motion import HumanMotion, InitialPose, complete_arms, hang_arm, transform
from simbench.motion.motion_inspection import FOOT_WORDS
from simbench.robot.sides import SIDES

# Part of the body's mass in the trunk with head and neck, and where on it from pelvis to shoulders its centre
# is; the same for the limbs (the forearm with the hand, the shank with the foot), each from its proximal to
# its distal joint (Winter 2009, table 4.1).
_TRUNK_MASS, _TRUNK_CENTRE = 0.578, 0.5
_LIMBS = (
    (0.028, 0.436, "shoulder", "elbow"),
    (0.022, 0.682, "elbow", "wrist"),
    (0.100, 0.433, "hip", "knee"),
    (0.061, 0.606, "knee", "ankle"),
)
# Bandwidths of the person's heading, Hz: a turn takes half a second, the pelvis' rotation in a step less; and
# of the trunk's lean.
_HEADING_BANDWIDTH, _LEAN_BANDWIDTH = 2.0, 3.0


class PersonBody:
    """Motion of a person's body as a whole."""

    def __init__(self, motion: HumanMotion) -> None:
        """Measure heading, lean and centre of gravity.

        The centre of gravity is that of the segments that are recorded. It is a `MotionError` if neither hips
        nor a pelvis with its orientation are.
        """
        joints = motion.joints
        shoulders = np.mean([joints[f"{side}_shoulder"] for side in SIDES], axis=0)
        if all(f"{side}_hip" in joints for side in SIDES):
            pelvis = np.mean([joints[f"{side}_hip"] for side in SIDES], axis=0)
            left = joints["left_hip"] - joints["right_hip"]
            heading = np.unwrap(np.arctan2(-left[:, 0], left[:, 1]))
        elif "pelvis" in joints and "pelvis" in motion.segments:
            pelvis = joints["pelvis"]
            forward = motion.segments["pelvis"][:, :3, 0]
            heading = np.unwrap(np.arctan2(forward[:, 1], forward[:, 0]))
        else:
            raise MotionError(
                f"{motion.source}: the recording lacks left_hip and right_hip, from which the person's "
                "heading is taken; retarget.physics: steps needs them"
            )
        # Middle of the hips (T, 3), or the pelvis where no hips are recorded, in the world frame, m.
        self.pelvis = pelvis
        total, mass = _TRUNK_MASS * (pelvis + _TRUNK_CENTRE * (shoulders - pelvis)), _TRUNK_MASS
        for part, along, proximal, distal in _LIMBS:
            for side in SIDES:
                begin, end = joints.get(f"{side}_{proximal}"), joints.get(f"{side}_{distal}")
                if begin is not None and end is not None:
                    total, mass = total + part * (begin + along * (end - begin)), mass + part
        # Centre of gravity (T, 3), m.
        self.cog = total / mass
        # Vector (T, 3) from the pelvis to the neck, m, or between the shoulders where no neck is recorded.
        self.up = up = joints.get("neck", shoulders) - pelvis
        ahead = np.cos(heading) * up[:, 0] + np.sin(heading) * up[:, 1]
        across = -np.sin(heading) * up[:, 0] + np.cos(heading) * up[:, 1]
        height = np.maximum(up[:, 2], 0.05)
        # Lean (T,) of the trunk in the frame of the heading, rad: forward, and to the right.
        self.pitch = low_pass(np.arctan2(ahead, height), _LEAN_BANDWIDTH, motion.rate)
        self.roll = low_pass(-np.arctan2(across, height), _LEAN_BANDWIDTH, motion.rate)
        # Direction (T,) in which the pelvis looks, rad about the vertical, without jumps.
        self.heading = low_pass(heading, _HEADING_BANDWIDTH, motion.rate)


def low_pass(values: Array, bandwidth: float, rate: float) -> Array:
    """Filter even samples (T, ...) at a rate, Hz, by a Gaussian without delay.

    The bandwidth, Hz, is the frequency at which half of an amplitude is left.
    """
    width = np.sqrt(np.log(4.0)) / (2.0 * np.pi * bandwidth) * rate
    return np.asarray(gaussian_filter1d(values, width, axis=0, mode="nearest"))


def leg_segments(motion: HumanMotion) -> float:
    """Measure thigh and shank together, hip to ankle: the median over time and the mean of both legs, m."""
    lengths = []
    for side in SIDES:
        hip, knee, ankle = (motion.joints[f"{side}_{name}"] for name in ("hip", "knee", "ankle"))
        lengths.append(np.median(np.linalg.norm(hip - knee, axis=1) + np.linalg.norm(knee - ankle, axis=1)))
    return float(np.mean(lengths))


_HEEL_BEHIND = 0.05  # Distance of the heel behind the ankle, m: a fifth of a foot's length.


def measure_person_feet(motion: HumanMotion) -> FootMeasures | None:
    """Measure how a person's feet touch the floor.

    `motion`: the recording. Returns support, skating, penetration and flight, from the joints of ankles,
    heels and toes; None where a foot is not recorded.
    """
    motion = with_heels(motion)
    feet = person_feet(motion)
    if not feet:
        return None
    floor = standing_heights(motion)
    heights = {side: np.array([floor[name] for name in foot_points(motion, side)]) for side in SIDES}
    thresholds = ANKLE_THRESHOLDS if has_only_ankles(motion) else PERSON_THRESHOLDS
    return measure_feet(motion.time, feet, thresholds, floor=heights)


def person_feet(motion: HumanMotion) -> dict[str, Array]:
    """Collect the tracks of the joints of both feet.

    `motion`: the recording. Returns {side: (T, P, 3) array}: positions of the joints that `foot_points`
    lists, in the world frame, m; empty where a foot is not recorded.
    """
    names = {side: foot_points(motion, side) for side in SIDES}
    if not all(names.values()):
        return {}
    return {side: np.stack([motion.joints[name] for name in of], axis=1) for side, of in names.items()}


def with_heels(motion: HumanMotion, heights: Mapping[str, float] | None = None) -> HumanMotion:
    """Add the heels of feet of which only ankle and toe are recorded: a person lands on the heel.

    The heel is on the floor, 5 cm behind the ankle, while the foot stands, and rotates with the line from
    ankle to toe. `heights` {str: float}: heights of the joints over z = 0 while a foot stands, m; those of
    `standing_heights` by default. Returns the same recording, with `left_heel` and `right_heel` where they
    can be found.
    """
    heights, joints = standing_heights(motion) if heights is None else heights, dict(motion.joints)
    for side in SIDES:
        ankle, toe = (motion.joints.get(f"{side}_{part}") for part in ("ankle", "toe"))
        if ankle is None or toe is None or f"{side}_heel" in motion.joints:
            continue
        along = toe - ankle
        level = np.linalg.norm(along[:, :2], axis=1)
        standing = heights[f"{side}_toe"] - heights[f"{side}_ankle"]
        length = float(np.median(np.linalg.norm(along, axis=1)))
        pitch = np.arctan2(along[:, 2], level) - np.arctan2(
            standing, max(length**2 - standing**2, 1e-6) ** 0.5
        )
        back, down = _HEEL_BEHIND, heights[f"{side}_ankle"]
        horizontal = -back * np.cos(pitch) + down * np.sin(pitch)
        vertical = -back * np.sin(pitch) - down * np.cos(pitch)
        forward = along[:, :2] / np.maximum(level, 1e-6)[:, None]
        joints[f"{side}_heel"] = ankle + np.column_stack([horizontal[:, None] * forward, vertical])
    return replace(motion, joints=joints)


def standing_heights(motion: HumanMotion) -> dict[str, float]:
    """Estimate how high each joint of the feet is while its foot stands.

    A foot that hardly rests in the recording says little about it, so that a joint stands as high as that of
    the other foot if that one's estimate is lower. Returns {str: float}: heights over z = 0, m, by the
    joint's name; empty where no foot is recorded.
    """
    lowest: dict[str, float] = {}
    names = [name for side in SIDES for name in foot_points(motion, side)]
    for name in names:
        track = motion.joints[name][:, None]
        height = float(estimate_floor(track[..., 2], point_speeds(motion.time, track))[0])
        part = name.partition("_")[2]
        lowest[part] = min(lowest.get(part, height), height)
    return {name: lowest[name.partition("_")[2]] for name in names}


def find_person_contacts(motion: HumanMotion, heights: Mapping[str, float] | None = None) -> dict[str, Flags]:
    """Find when each joint of a person's feet touches the floor.

    `motion`: the recording; `heights` {str: float}: heights of the joints over z = 0 while a foot stands, m;
    those of `standing_heights` by default. Returns {side: (T, P) array of bool}: whether each joint that
    `foot_points` lists touches the floor; empty where a foot is not recorded. A foot is in contact while any
    of its joints is.
    """
    floor = standing_heights(motion) if heights is None else heights
    thresholds = ANKLE_THRESHOLDS if has_only_ankles(motion) else PERSON_THRESHOLDS
    return {
        side: find_point_contacts(
            motion.time,
            points[..., 2],
            point_speeds(motion.time, points),
            np.array([floor[name] for name in foot_points(motion, side)]),
            thresholds,
        )
        for side, points in person_feet(motion).items()
    }


def measure_person_jerks(motion: HumanMotion) -> dict[str, Jerk]:
    """Measure the jerk of a person's wrists, and of one point of each foot.

    `motion`: the recording. Returns {str: Jerk}: jerks of `left hand`, `right hand`, `left foot` and `right
    foot`, as far as they are recorded.
    """
    paths: dict[str, Array] = {}
    for side in SIDES:
        if f"{side}_wrist" in motion.joints:
            paths[f"{side} hand"] = motion.joints[f"{side}_wrist"]
        points = foot_points(motion, side)
        if points:
            paths[f"{side} foot"] = motion.joints[points[0]]
    found = {name: measure_jerk(motion.time, path) for name, path in sorted(paths.items())}
    return {name: jerk for name, jerk in found.items() if jerk is not None}


def has_only_ankles(motion: HumanMotion) -> bool:
    """Tell whether the ankles are all that is recorded of the feet, so that a raised heel is a lifted foot.

    Returns true if ankles are recorded, and no heel or toe.
    """
    points = [name for side in SIDES for name in foot_points(motion, side)]
    return bool(points) and all(name.endswith("_ankle") for name in points)


def foot_points(motion: HumanMotion, side: str) -> tuple[str, ...]:
    """List the joints of a foot that are recorded, the ankle first.

    `side`: left or right. Returns names of the joints.
    """
    names = [
        name
        for name in motion.joints
        if name.startswith(f"{side}_") and any(word in name for word in FOOT_WORDS)
    ]
    return tuple(sorted(names, key=lambda name: (name != f"{side}_ankle", name)))


# Distance of a shoulder's centre from the middle of the body, as a fraction of the arm, shoulder to wrist:
# half the biacromial breadth of 0.259 statures for an arm of 0.332 (Drillis and Contini 1966).
SHOULDER_SHARE = 0.5 * 0.259 / 0.332
# Points in the middle of the body, the nearest to the shoulders first.
MIDDLE = ("neck", "chest", "pelvis")
SEGMENTS = ("upper_arm", "forearm", "hand")
# Mirroring in the plane between left and right; the axes of a limb's frame keep their signs in it.
MIRROR = np.diag([1.0, -1.0, 1.0])


def hang_missing_arm(motion: HumanMotion) -> HumanMotion:
    """Add the arm that a recording lacks, hanging beside the trunk, and say so.

    Its bones are as long as those of the recorded arm, and its shoulder is the mirror image of the other one.
    `motion`: the recording, in the world frame, with one complete arm. Returns the recording with both arms;
    `missing` still lists the parts that were not recorded.
    """
    (own,) = complete_arms(motion.joints)
    side = SIDES[1 - SIDES.index(own)]
    joints = motion.joints
    # Rotations (T, 3, 3) about the vertical to where the trunk faces, or else the body.
    heading = np.tile(np.eye(3), (len(motion.time), 1, 1))
    trunk = motion.segments.get("trunk", motion.segments.get("pelvis"))
    if trunk is not None:
        angle = np.arctan2(-trunk[:, 0, 1], trunk[:, 1, 1])
        heading[:, 0, 0] = heading[:, 1, 1] = np.cos(angle)
        heading[:, 1, 0] = np.sin(angle)
        heading[:, 0, 1] = -heading[:, 1, 0]
    # It hangs from the mirror image of the other shoulder, palm at the thigh.
    upper, fore = (
        float(np.median(np.linalg.norm(joints[f"{own}_{b}"] - joints[f"{own}_{a}"], axis=1)))
        for a, b in pairwise(("shoulder", "elbow", "wrist"))
    )
    shoulder = joints.get(f"{side}_shoulder")
    if shoulder is None:
        left = heading[:, :, 1]
        middle = next((joints[name] for name in MIDDLE if name in joints), None)
        if middle is None:
            inward = (-1.0 if own == "left" else 1.0) * SHOULDER_SHARE * (upper + fore) * left
        else:
            inward = ((middle - joints[f"{own}_shoulder"]) * left).sum(axis=1)[:, None] * left
        shoulder = joints[f"{own}_shoulder"] + 2.0 * inward
    arm, turned = hang_arm(heading, side, shoulder, upper, fore)
    elbow, wrist = arm[f"{side}_elbow"], arm[f"{side}_wrist"]
    middles = ((shoulder + elbow) / 2.0, (elbow + wrist) / 2.0, wrist)
    initial_joints, initial_segments = _mirror_initial_arm(motion.initial, own, side)
    doubt = f"the {side} arm was not recorded: it hangs, and only the {own} arm follows the person"
    return replace(
        motion,
        joints={**joints, **arm},
        segments={
            **motion.segments,
            **{
                name: transform(rotation, middle)
                for (name, rotation), middle in zip(turned.items(), middles, strict=True)
            },
        },
        initial=InitialPose(
            {**motion.initial.joints, **initial_joints}, {**motion.initial.segments, **initial_segments}
        ),
        doubts=(*motion.doubts, doubt),
    )


def _mirror_initial_arm(
    initial: InitialPose, own: str, side: str
) -> tuple[dict[str, Array], dict[str, Array]]:
    """Mirror the recorded arm of the initial posture, which faces along x, in the middle of the body."""
    known = initial.joints
    shoulder, elbow, wrist = (known[f"{own}_{name}"] for name in ("shoulder", "elbow", "wrist"))
    arm = float(np.linalg.norm(elbow - shoulder)) + float(np.linalg.norm(wrist - elbow))
    outward = (1.0 if own == "left" else -1.0) * SHOULDER_SHARE * arm
    middle = next((known[name][1] for name in MIDDLE if name in known), shoulder[1] - outward)
    offset = np.array([0.0, 2.0 * middle, 0.0])
    joints = {
        f"{side}_shoulder": MIRROR @ shoulder + offset,
        f"{side}_elbow": MIRROR @ elbow + offset,
        f"{side}_wrist": MIRROR @ wrist + offset,
    }
    segments = {}
    for name in SEGMENTS:
        frame = initial.segments[f"{own}_{name}"]
        rotation = MIRROR @ frame[:3, :3] @ MIRROR
        segments[f"{side}_{name}"] = transform(rotation, MIRROR @ frame[:3, 3] + offset)
    return joints, segments
