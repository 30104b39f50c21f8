"""Which layout the joints of an array have: by their number, and by how human its bones are."""

from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import NamedTuple

import numpy as np

from simbench.errors import MotionError
from simbench.kinematics.arrays import Array
from simbench.motion.readers.joint_layouts import LAYOUTS, layout_names
from simbench.motion.readers.joint_words import canonical_joint_names
from simbench.robot.sides import SIDES

# Lengths between joint centres as fractions of the stature (Winter 2009, table 4.1; the shoulders and hips
# are joint centres, nearer to each other than the bones' ends).
UPPER_ARM, FOREARM, THIGH, SHANK, TRUNK, SHOULDERS, HIPS = 0.172, 0.148, 0.240, 0.246, 0.285, 0.20, 0.12
LIMB_BONES = {
    ("shoulder", "elbow"): UPPER_ARM,
    ("elbow", "wrist"): FOREARM,
    ("hip", "knee"): THIGH,
    ("knee", "ankle"): SHANK,
}
# A misfit above the first number is no person; a second layout whose misfit is less than the second number
# worse may as well be meant. Right layouts of clean data have about 0.15, of noisy keypoints 0.3, wrong
# ones above 1.
LARGEST_MISFIT, CLEAR_DIFFERENCE = 0.7, 0.15
# At most this many frames are looked at.
SAMPLES = 200


class LayoutGuess(NamedTuple):
    """The layout that an array's joints have."""

    layout: str  # Name of the layout.
    names: tuple[str, ...]  # Names of the first joints, empty for points without a meaning for a body.
    # How much the bones differ from a person's: variation over time, difference of the sides and relative
    # differences of the proportions, added.
    misfit: float
    rivals: tuple[tuple[str, float], ...]  # Other layouts that fit nearly as well, with their misfits.


def guess_layout(positions: Array, source: str) -> LayoutGuess:
    """Find the layout in which the joints have the bones of a person.

    `positions` (T, J, 3): positions of the joints, in any unit and axes; NaN where a joint was not seen;
    `source`: name of the recording, for messages. Returns the layout with the smallest misfit.
    """
    count = positions.shape[1]
    candidates = {layout: names for layout in LAYOUTS if (names := layout_names(layout, count)) is not None}
    if not candidates:
        raise MotionError(
            f"{source}: {count} joints without names, and no known skeleton has so many; name them in a "
            "file, one a line (--skeleton FILE)"
        )
    # A layout with the very number of joints says more than one that ignores the last joints.
    exact = {k: v for k, v in candidates.items() if len(v) == count} or candidates
    some = positions[:: max(1, len(positions) // SAMPLES)]
    misfits = sorted((measure_misfit(some, names), layout) for layout, names in exact.items())
    (least, best), others = misfits[0], misfits[1:]
    if not least <= LARGEST_MISFIT:
        tried = ", ".join(f"{layout} ({misfit:.2g})" for misfit, layout in misfits)
        raise MotionError(
            f"{source}: {count} joints without names, whose bones are no person's in any known order: "
            f"{tried}; at most {LARGEST_MISFIT:g} is taken; declare the order (--skeleton NAME or FILE)"
        )
    rivals = tuple((layout, misfit) for misfit, layout in others if misfit < least + CLEAR_DIFFERENCE)
    return LayoutGuess(best, exact[best], least, rivals)


def measure_misfit(positions: Array, names: Sequence[str]) -> float:
    """Measure how much the bones between named joints differ from those of a person.

    `positions` (T, J, 3): positions of the joints, in any unit and axes; NaN where a joint was not seen;
    `names`: names of the first joints. Returns sum of the mean relative variation of the limbs over time, the
    mean difference between the sides and the mean difference of the proportions, both as logarithms of
    ratios; infinite without an arm.
    """
    index = {name: k for k, name in enumerate(names) if name}
    tracks = {name: positions[:, index[old]] for old, name in canonical_joint_names(index).items()}
    bones: dict[str, tuple[Array, float]] = {}
    for side in SIDES:
        for (proximal, distal), expected in LIMB_BONES.items():
            ends = f"{side}_{proximal}", f"{side}_{distal}"
            if all(end in tracks for end in ends):
                bones[f"{side} {proximal}"] = _lengths(tracks[ends[0]], tracks[ends[1]]), expected
    limbs = tuple(bones)
    for joint, expected in (("shoulder", SHOULDERS), ("hip", HIPS)):
        if f"left_{joint}" in tracks and f"right_{joint}" in tracks:
            bones[joint] = _lengths(tracks[f"left_{joint}"], tracks[f"right_{joint}"]), expected
    if "shoulder" in bones and "hip" in bones:
        upper, lower = (
            (tracks[f"left_{joint}"] + tracks[f"right_{joint}"]) / 2 for joint in ("shoulder", "hip")
        )
        bones["trunk"] = _lengths(upper, lower), TRUNK
    medians = {name: float(np.median(lengths)) for name, (lengths, _) in bones.items() if lengths.size}
    if not any(name in medians for name in limbs) or min(medians.values()) <= 0.0:
        return float("inf")
    variation = np.mean([bones[name][0].std() / medians[name] for name in limbs if name in medians])
    sides = [
        abs(np.log(medians[name] / medians[other]))
        for name in limbs
        if name.startswith("left") and (other := name.replace("left", "right")) in medians and name in medians
    ]
    ratios = np.log([medians[name] / bones[name][1] for name in medians])
    proportions = np.abs(ratios - np.median(ratios)).mean()
    return float(variation + (np.mean(sides) if sides else 0.0) + proportions)


def measure_arm(tracks: Mapping[str, Array]) -> float | None:
    """Measure the mean length of the recorded arms from shoulder over elbow to wrist.

    `tracks` mapping of str to (T, 3) array: positions of the joints by name, in any unit; NaN where a joint
    was not seen. Returns sum of the median lengths of upper arm and forearm; None without a complete arm that
    was ever seen.
    """
    arms = []
    for side in SIDES:
        ends = [f"{side}_{joint}" for joint in ("shoulder", "elbow", "wrist")]
        if all(end in tracks for end in ends):
            bones = [_lengths(tracks[a], tracks[b]) for a, b in pairwise(ends)]
            if all(bone.size for bone in bones):
                arms.append(sum(float(np.median(bone)) for bone in bones))
    return float(np.mean(arms)) if arms else None


def _lengths(one: Array, other: Array) -> Array:
    """Distances of two joints in the frames in which both were seen."""
    lengths = np.linalg.norm(one - other, axis=1)
    return np.asarray(lengths[np.isfinite(lengths)])
