"""Contact of a person's feet with the floor, and jerk of hands and feet, in a recording."""

from collections.abc import Mapping
from dataclasses import replace

import numpy as np

from simbench.kinematics.arrays import Array
from simbench.kinematics.foot_contact import (
    ANKLE_THRESHOLDS,
    PERSON_THRESHOLDS,
    ContactThresholds,
    Flags,
    FootMeasures,
    Jerk,
    estimate_floor,
    find_point_contacts,
    measure_feet,
    measure_jerk,
    point_speeds,
)
from simbench.motion.body_measures import FOOT_WORDS
from simbench.motion.human_motion import HumanMotion
from simbench.robot.sides import SIDES

_HEEL_BEHIND = 0.05
"""Distance of the heel behind the ankle, m: a fifth of a foot's length."""


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
    return measure_feet(motion.time, feet, person_thresholds(motion), floor=heights)


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


def person_thresholds(motion: HumanMotion) -> ContactThresholds:
    """Choose the thresholds of contact for the joints that are recorded of the feet.

    Returns those of ankles where nothing else is recorded.
    """
    return ANKLE_THRESHOLDS if has_only_ankles(motion) else PERSON_THRESHOLDS


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
    floor, thresholds = standing_heights(motion) if heights is None else heights, person_thresholds(motion)
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
