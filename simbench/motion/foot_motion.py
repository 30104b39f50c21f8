"""Contact of a person's feet with the floor, and jerk of hands and feet, in a recording."""

import numpy as np

from simbench.kinematics.arrays import Array
from simbench.kinematics.foot_contact import PERSON_THRESHOLDS
from simbench.kinematics.foot_measures import FootMeasures, Jerk, measure_feet, measure_jerk
from simbench.motion.body_measures import FOOT_WORDS
from simbench.motion.human_motion import HumanMotion
from simbench.robot.sides import SIDES


def measure_person_feet(motion: HumanMotion) -> FootMeasures | None:
    """Measure how a person's feet touch the floor.

    Parameters
    ----------
    motion : HumanMotion
        The recording.

    Returns
    -------
    FootMeasures or None
        Support, skating, penetration and flight, from the joints of ankles, heels and toes; None where a foot
        is not recorded.
    """
    names = {side: foot_points(motion, side) for side in SIDES}
    if not all(names.values()):
        return None
    feet = {side: np.stack([motion.joints[name] for name in of], axis=1) for side, of in names.items()}
    return measure_feet(motion.time, feet, PERSON_THRESHOLDS)


def measure_person_jerks(motion: HumanMotion) -> dict[str, Jerk]:
    """Measure the jerk of a person's wrists, and of one point of each foot.

    Parameters
    ----------
    motion : HumanMotion
        The recording.

    Returns
    -------
    {str: Jerk}
        Jerks of `left hand`, `right hand`, `left foot` and `right foot`, as far as they are recorded.
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

    Parameters
    ----------
    motion : HumanMotion
        The recording.

    Returns
    -------
    bool
        True if ankles are recorded, and no heel or toe.
    """
    points = [name for side in SIDES for name in foot_points(motion, side)]
    return bool(points) and all(name.endswith("_ankle") for name in points)


def foot_points(motion: HumanMotion, side: str) -> tuple[str, ...]:
    """List the joints of a foot that are recorded, the ankle first.

    Parameters
    ----------
    motion : HumanMotion
        The recording.
    side : str
        left or right.

    Returns
    -------
    tuple of str
        Names of the joints.
    """
    names = [
        name
        for name in motion.joints
        if name.startswith(f"{side}_") and any(word in name for word in FOOT_WORDS)
    ]
    return tuple(sorted(names, key=lambda name: (name != f"{side}_ankle", name)))
