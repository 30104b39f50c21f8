"""Joint names in words, whatever their spelling: `LeftShoulder`, `shoulder_l`, `left upper arm`."""

import re
from collections.abc import Iterable

# A word, a run of capitals, or a number.
WORDS = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+")
SIDE_WORDS = {
    "left": "left", "l": "left", "lft": "left", "lt": "left",
    "right": "right", "r": "right", "rgt": "right", "rt": "right",
}  # fmt: skip
# Words that say nothing about which joint it is.
EMPTY_WORDS = {
    "joint",
    "jnt",
    "jc",
    "centre",
    "center",
    "pos",
    "position",
    "kp",
    "keypoint",
    "mixamorig",
    "skeleton",
}
# Names of the three joints of a limb, proximal to distal, in the conventions that are in use: by the joint,
# by the bone that begins there. The first whose three names are all there is meant.
ARM_CONVENTIONS = (
    ("shoulder", "elbow", "wrist"),
    ("shoulder", "elbow", "hand"),
    ("arm", "forearm", "hand"),
    ("upperarm", "forearm", "wrist"),
    ("upperarm", "forearm", "hand"),
    ("upperarm", "lowerarm", "hand"),
    ("uarm", "farm", "hand"),
    ("sho", "elb", "wri"),
)
LEG_CONVENTIONS = (
    ("hip", "knee", "ankle"),
    ("hip", "knee", "foot"),
    ("upleg", "leg", "foot"),
    ("upperleg", "lowerleg", "foot"),
    ("thigh", "calf", "foot"),
    ("thigh", "shin", "foot"),
    ("thigh", "shank", "foot"),
    ("hip", "kne", "ank"),
)
ARM_JOINTS, LEG_JOINTS = ("shoulder", "elbow", "wrist"), ("hip", "knee", "ankle")
# Other joints with a side: by the words that name them.
SIDED = {
    "toe": "toe", "toebase": "toe", "toes": "toe", "ball": "toe",
    "bigtoe": "big_toe", "smalltoe": "small_toe", "heel": "heel", "footindex": "foot_index",
    "index": "index", "pinky": "pinky", "thumb": "thumb", "ear": "ear",
    "eye": "eye", "collar": "collar", "clavicle": "collar",
}  # fmt: skip
UNSIDED = {
    "pelvis": "pelvis", "hips": "pelvis", "hip": "pelvis", "midhip": "pelvis", "hipcenter": "pelvis",
    "spine": "spine", "thorax": "thorax", "chest": "chest", "neck": "neck", "head": "head", "nose": "nose",
}  # fmt: skip


def canonical_joint_names(names: Iterable[str]) -> dict[str, str]:
    """Find the joints that names in words stand for.

    `names`: names of points, without repetitions. Returns joint, as `left_shoulder` or `pelvis`, by the name
    it has in the file; empty if no arm's three joints are among the names.
    """
    found: dict[tuple[str | None, str], str] = {}
    for name in names:
        found.setdefault(_parse(name), name)
    joints: dict[str, str] = {}
    for side in ("left", "right"):
        for conventions, limb in ((ARM_CONVENTIONS, ARM_JOINTS), (LEG_CONVENTIONS, LEG_JOINTS)):
            words = next((c for c in conventions if all((side, word) in found for word in c)), ())
            for word, joint in zip(words, limb, strict=False):
                joints[found[side, word]] = f"{side}_{joint}"
        for word, joint in SIDED.items():
            if (side, word) in found:
                joints.setdefault(found[side, word], f"{side}_{joint}")
        if (side, "foot") in found:
            # A foot that is not the ankle is the ball of the foot.
            joints.setdefault(found[side, "foot"], f"{side}_foot")
        if (side, "hand") in found:
            joints.setdefault(found[side, "hand"], f"{side}_hand")
    if not any(f"{side}_wrist" in joints.values() for side in ("left", "right")):
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


def _parse(name: str) -> tuple[str | None, str]:
    """Split a name into its side, if it has one, and the remaining words without blanks, in small letters."""
    words = [word.lower() for word in WORDS.findall(name.rpartition(":")[2])]
    words = [word for word in words if word not in EMPTY_WORDS]
    # `LShoulder` is read as one run of capitals and a word, `lshoulder` and `LSHO` as one word.
    side = next((SIDE_WORDS[word] for word in words if word in SIDE_WORDS), None)
    if side is not None:
        words.remove(next(word for word in words if word in SIDE_WORDS))
    else:
        whole = "".join(words)
        for mark in ("left", "right", "l", "r"):
            if whole.startswith(mark) and whole[len(mark) :] in _SIDED_WORDS:
                return SIDE_WORDS[mark], whole[len(mark) :]
    return side, "".join(words)


_SIDED_WORDS = {word for words in (*ARM_CONVENTIONS, *LEG_CONVENTIONS) for word in words} | {*SIDED}
