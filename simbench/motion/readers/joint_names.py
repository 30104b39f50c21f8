"""Names of the joints of an array: layouts, names that the user declares, names in words, or by the bones.

A layout is the order in which body models, data sets and pose estimators number their joints. Sources: SMPL,
SMPL-H and SMPL-X (the `JOINT_NAMES` of the smplx package); Human3.6M in its 17 joints (Martinez et al. 2017,
VideoPose3D) and all 32; MPI-INF-3DHP; COCO keypoints and COCO-WholeBody; Halpe; OpenPose BODY_25 and COCO;
MediaPipe Pose; CMU Panoptic; Kinect v2 (also NTU RGB+D) and Azure Kinect; KIT-ML; LAFAN1; OptiTrack.
"""

import re
from collections.abc import Iterable, Mapping, Sequence
from itertools import pairwise
from pathlib import Path
from typing import NamedTuple

import numpy as np

from simbench.errors import MotionError
from simbench.files.text import read_text
from simbench.files.yaml_document import parse_yaml, read_yaml
from simbench.kinematics.arrays import Array
from simbench.motion.marker_maps.map_evaluation import normalise
from simbench.motion.marker_maps.skeleton_axes import facing_agreement
from simbench.motion.readers.marker_tables import quote
from simbench.motion.readers.smpl_parameters import BODY_COUNT, SMPL, SMPL_H, SMPL_X
from simbench.robot.sides import SIDES

_TABLES = read_yaml(Path(__file__).with_suffix(".yaml"), MotionError).value
ARM, LEG = ("shoulder", "elbow", "wrist"), ("hip", "knee", "ankle")
# Points without a meaning for a body have the empty name.
LAYOUTS: dict[str, tuple[tuple[str, ...], ...]] = {
    "smpl": (tuple(SMPL.parent), tuple(SMPL.parent)[:BODY_COUNT], (*SMPL.parent, *_TABLES["smpl_vertices"])),
    "smplh": (tuple(SMPL_H.parent),),
    "smplx": (tuple("" if name.endswith("_eye") else name for name in SMPL_X.parent),),
    **{layout: tuple(map(tuple, sizes)) for layout, sizes in _TABLES["layouts"].items()},
}
ALIASES, SIDE_WORDS, SIDED, UNSIDED = (_TABLES[key] for key in ("aliases", "side_words", "sided", "unsided"))
ARM_CONVENTIONS, LEG_CONVENTIONS = _TABLES["arm_conventions"], _TABLES["leg_conventions"]
# With these layouts, joints beyond the last named one are regressed from the body's surface and may be left
# out.
EXTENDED = ("smpl", "smplh", "smplx")
# How a list of names writes that a joint has none.
UNNAMED_WORDS = ("-", "none", "")
# A word, a run of capitals, or a number.
WORDS = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+")
_SIDED_WORDS = {word for words in (*ARM_CONVENTIONS, *LEG_CONVENTIONS) for word in words} | {*SIDED}
# Lengths between joint centres as fractions of the stature (Winter 2009, table 4.1; the shoulders and hips
# are joint centres, nearer to each other than the bones' ends).
LIMB_BONES = {
    ("shoulder", "elbow"): 0.172,
    ("elbow", "wrist"): 0.148,
    ("hip", "knee"): 0.240,
    ("knee", "ankle"): 0.246,
}
TRUNK, WIDTHS = 0.285, {"shoulder": 0.20, "hip": 0.12}
# A misfit above the first number is no person; a second layout whose misfit is less than the second number
# worse may as well be meant. The joints of 28 real recordings in right layouts have 0.05 to 0.17, of a person
# in closed form 0.04, with noise of 50 mm on every coordinate 0.25 to 0.33; in wrong layouts 0.65 and more,
# OptiTrack's 26 joints read as Halpe's 0.54, and the best of 20 random orders of each layout 0.47.
LARGEST_MISFIT, CLEAR_DIFFERENCE = 0.4, 0.15
REACH = _TABLES["reach"]
# Variation of the lengths of bones relative to their length: at most that of a body model's; at least that of
# bones between joints that were exchanged, such as ankle and toe, and above that of a knee whose axis moves.
RIGID, NOT_RIGID, MOVING_AXIS = 5e-4, 3e-3, 0.02
# At most this many frames are looked at.
SAMPLES = 200


def layout_names(layout: str, count: int) -> tuple[str, ...] | None:
    """Name the joints of an array in a layout.

    `layout`: name of the layout, a key of `LAYOUTS`; `count`: number of joints of the array. Returns one name
    for each of the first joints, empty for points without a meaning for a body; None if the layout has no
    such number of joints. Body models may be followed by further joints, which get no name.
    """
    known = {len(names): names for names in LAYOUTS[layout]}
    if count in known:
        return known[count]
    shorter = [size for size in known if size < count] if layout in EXTENDED else []
    return known[max(shorter)] if shorter else None


class JointNaming(NamedTuple):
    """Names of the joints of an array."""

    names: tuple[str, ...]  # Names of the first joints in the array's order, empty for those without one.
    notes: tuple[str, ...]  # `notes`, `doubts`: how they were found, and what is doubtful about them.
    doubts: tuple[str, ...] = ()


def read_declared_names(skeleton: str, count: int, source: str) -> JointNaming:
    """Name the joints of an array as the user declares.

    `skeleton`: name of a layout such as `smpl`, or path of a file that lists the joints: YAML, JSON, or text
    with one name a line; `count`: number of joints of the array; `source`: name of the recording, for
    messages.
    """
    word = skeleton.lower()
    layout = ALIASES.get(word, word)
    if layout in LAYOUTS:
        known = layout_names(layout, count)
        if known is None:
            sizes = " or ".join(str(len(each)) for each in LAYOUTS[layout])
            raise MotionError(
                f"{source}: {count} joints, but skeleton {layout} has {sizes}; declare another (--skeleton)"
            )
        return JointNaming(known, (f"skeleton {layout}, as declared",))
    if not any(mark in skeleton for mark in "./\\"):
        raise MotionError(
            f"skeleton {quote(skeleton)}: unknown; known: {', '.join(LAYOUTS)}, or the path of a file that "
            "lists the joints"
        )
    path = Path(skeleton)
    text = read_text(path, MotionError)
    value: object
    if path.suffix.lower() in (".json", ".yaml", ".yml"):
        value = parse_yaml(text, str(path), MotionError).value
        if isinstance(value, dict) and len(value) == 1:
            value = next(iter(value.values()))
    else:
        lines = [line.strip() for line in text.splitlines() if line.strip() and line.strip()[0] != "#"]
        value = [word.strip() for word in lines[0].split(",")] if len(lines) == 1 else lines
    if not isinstance(value, list) or not value or not all(isinstance(name, str) for name in value):
        raise MotionError(
            f"{path}: no list of names; one for each joint in the array's order is needed (- for none)"
        )
    names = tuple("" if name.lower() in UNNAMED_WORDS else name for name in value)
    twice = next((name for name in names if name and names.count(name) > 1), None)
    if twice is not None:
        raise MotionError(f"{path}: {quote(twice)} is there twice; names must differ")
    if len(names) > count:
        raise MotionError(f"{source}: {count} joints, but {skeleton} names {len(names)}")
    return JointNaming(name_joints(names), (f"joints named by {skeleton}",))


def canonical_joint_names(names: Iterable[str]) -> dict[str, str]:
    """Find the joints that names in words stand for.

    `names`: names of points, without repetitions. Returns joint, as `left_shoulder` or `pelvis`, by the name
    it has in the file; empty if no arm's three joints are among the names.
    """
    found: dict[tuple[str | None, str], str] = {}
    for name in names:
        words = [word.lower() for word in WORDS.findall(name.rpartition(":")[2])]
        words = [word for word in words if word not in _TABLES["empty_words"]]
        written = next((word for word in words if word in SIDE_WORDS), None)
        if written is not None:
            words.remove(written)
        whole = "".join(words)
        if written is None:
            # `LShoulder` is read as one run of capitals and a word, `lshoulder` and `LSHO` as one word.
            for mark in ("left", "right", "l", "r"):
                if whole.startswith(mark) and whole[len(mark) :] in _SIDED_WORDS:
                    written, whole = mark, whole[len(mark) :]
                    break
        found.setdefault((SIDE_WORDS.get(written or ""), whole), name)
    joints: dict[str, str] = {}
    for side in SIDES:
        for conventions, limb in ((ARM_CONVENTIONS, ARM), (LEG_CONVENTIONS, LEG)):
            chosen = next((c for c in conventions if all((side, word) in found for word in c)), ())
            for word, joint in zip(chosen, limb, strict=False):
                joints[found[side, word]] = f"{side}_{joint}"
        # A foot that is not the ankle is the ball of the foot.
        for word, joint in (*SIDED.items(), ("foot", "foot"), ("hand", "hand")):
            if (side, word) in found:
                joints.setdefault(found[side, word], f"{side}_{joint}")
    if not any(f"{side}_wrist" in joints.values() for side in SIDES):
        return {}
    for word, joint in UNSIDED.items():
        if (None, word) in found and joint not in joints.values():
            joints[found[None, word]] = joint
    return joints


def name_joints(names: tuple[str, ...]) -> tuple[str, ...]:
    """Write the names of joints as the marker maps do, where they are understood.

    `names`: names as a file has them; empty ones stay empty. Returns `left_shoulder` and the like; other
    names as they are.
    """
    known = canonical_joint_names(name for name in names if name)
    written = tuple(known.get(name, name) for name in names)
    named = [name for name in written if name]
    return written if len(set(named)) == len(named) else names


def guess_layout(positions: Array, source: str) -> JointNaming:
    """Name the joints in the layout in which they have the bones of a person.

    `positions` (T, J, 3): positions of the joints, in any unit and axes; NaN where a joint was not seen;
    `source`: name of the recording, for messages. The layout is the one with the smallest misfit: how much
    the bones differ from a person's, variation over time, difference of the sides and relative differences of
    the proportions, added.
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
        tried = ", ".join(
            f"{layout} ({misfit:.2g})" if np.isfinite(misfit) else f"{layout} (joints out of place)"
            for misfit, layout in misfits
        )
        raise MotionError(
            f"{source}: {count} joints without names, whose bones are no person's in any known order: "
            f"{tried}; at most {LARGEST_MISFIT:g} is taken; declare the order (--skeleton NAME or FILE)"
        )
    doubts = _check_guess(_joint_tracks(some, exact[best]), best, source)
    note = (
        f"skeleton {best}: in its order, the bones of the {count} joints are a person's (misfit {least:.2f})"
    )
    close = [(layout, misfit) for misfit, layout in others if misfit < least + CLEAR_DIFFERENCE]
    rivals = ", ".join(f"{layout} ({misfit:.2f})" for layout, misfit in close)
    if rivals:
        doubts += (f"skeleton {best} ({least:.2f}) is a guess; as likely: {rivals} (--skeleton)",)
    return JointNaming(exact[best], (note,), doubts)


def _check_guess(tracks: Mapping[str, Array], layout: str, source: str) -> tuple[str, ...]:
    """Refuse tracks (T, 3) named by a layout that face backward or whose bones change; return doubts."""
    doubts: tuple[str, ...] = ()
    if all(f"{side}_{joint}" in tracks for side in SIDES for joint in WIDTHS):
        ends = [[tracks[f"{side}_{joint}"] for joint in WIDTHS] for side in SIDES]
        (left_shoulder, left_hip), (right_shoulder, right_hip) = ends
        across = normalise(left_shoulder - right_shoulder), normalise(left_hip - right_hip)
        up = left_shoulder + right_shoulder - left_hip - right_hip
        cosines = (across[0] * across[1]).sum(axis=1)
        agreement, evidence = facing_agreement(tracks, normalise(np.cross(across[0] + across[1], up)))
        if np.sum(cosines, where=np.isfinite(cosines)) < 0.0:
            agreement, evidence = -1.0, "hips or shoulders"
        if agreement < 0.0:
            raise MotionError(
                f"{source}: the bones of the joints are a person's in the order of {layout}, but by its "
                f"{evidence} it faces backward: left and right are exchanged, or the axes are mirrored; "
                "negate one axis of the array, or declare the order (--skeleton FILE)"
            )
        if not evidence:
            doubts = (f"nothing shows whether left and right are those of skeleton {layout} (--skeleton)",)
    varied = {
        name: float(lengths.std() / np.median(lengths))
        for name, (lengths, _) in _limb_lengths(tracks).items()
        if lengths.size
    }
    worst = max(varied, key=lambda name: varied[name])
    if np.quantile([*varied.values()], 0.25) < RIGID and varied[worst] > NOT_RIGID:
        fault = (
            f"the bone from the {worst} on changes its length by {varied[worst]:.1%} in the order of "
            f"{layout}, while others keep theirs: the joints may have another order (--skeleton FILE)"
        )
        if varied[worst] > MOVING_AXIS:
            raise MotionError(f"{source}: {fault}")
        doubts += (fault,)
    return doubts


def measure_misfit(positions: Array, names: Sequence[str]) -> float:
    """Measure how much the bones between named joints differ from those of a person.

    `positions` (T, J, 3): positions of the joints, in any unit and axes; NaN where a joint was not seen;
    `names`: names of the first joints. Returns sum of the mean relative variation of the limbs over time, the
    mean difference between the sides and the mean difference of the proportions, both as logarithms of
    ratios; infinite without an arm, or where a joint is farther from its limb than people's are.
    """
    tracks = _joint_tracks(positions, names)
    bones = _limb_lengths(tracks)
    limbs = tuple(bones)
    middles = {}
    for joint, expected in WIDTHS.items():
        if f"left_{joint}" in tracks and f"right_{joint}" in tracks:
            left, right = tracks[f"left_{joint}"], tracks[f"right_{joint}"]
            bones[joint] = _lengths(left, right), expected
            middles[joint] = (left + right) / 2
    if len(middles) == 2:
        bones["trunk"] = _lengths(*middles.values()), TRUNK
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
    stature = np.exp(np.median(ratios))
    for place, limits in REACH.items():
        for joint, most in limits.items():
            for side in ("", *SIDES):
                name = f"{side}_{joint}" if side else joint
                anchor = middles.get(place, tracks.get(f"{side}_{place}"))
                if name in tracks and anchor is not None:
                    lengths = _lengths(tracks[name], anchor)
                    if lengths.size and np.median(lengths) > most * stature:
                        return float("inf")
    proportions = np.abs(ratios - np.median(ratios)).mean()
    return float(variation + (np.mean(sides) if sides else 0.0) + proportions)


def _limb_lengths(tracks: Mapping[str, Array]) -> dict[str, tuple[Array, float]]:
    """Lengths (T,) of the limbs' bones by side and proximal joint, and their fractions of the stature."""
    return {
        f"{side} {proximal}": (_lengths(tracks[f"{side}_{proximal}"], tracks[f"{side}_{distal}"]), expected)
        for side in SIDES
        for (proximal, distal), expected in LIMB_BONES.items()
        if f"{side}_{proximal}" in tracks and f"{side}_{distal}" in tracks
    }


def _joint_tracks(positions: Array, names: Sequence[str]) -> dict[str, Array]:
    """Tracks (T, 3) of an array's joints by name, also by the names that marker maps have for them."""
    index = {name: k for k, name in enumerate(names) if name}
    known = {new: index[old] for old, new in canonical_joint_names(index).items()}
    return {name: positions[:, k] for name, k in (index | known).items()}


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
