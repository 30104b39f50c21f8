"""The tree of a skeleton: what the names of its joints say, and its geometry in rest and in motion."""

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from functools import cache, cached_property
from typing import Any, NamedTuple

import numpy as np

from simbench.errors import MotionError
from simbench.files.yaml_document import read_yaml
from simbench.kinematics.arrays import Array
from simbench.motion.marker_maps.map_evaluation import normalise
from simbench.motion.recordings import SkeletonRecording
from simbench.resources import resource_dir

# A prefix that this part of the joints share belongs to the file and not to the joints.
COMMON_PREFIX = 0.9
_NUMBERED = re.compile(r"finger[\W_]*(\d)", re.IGNORECASE)
_WORDS = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+|[^\W\d_A-Za-z]+")


class NameVote(NamedTuple):
    """What one name says."""

    side: str  # `left`, `right`, or empty.
    # Weight of the name's vote, 0 to 1, for each joint of a person that it may be.
    roles: Mapping[str, float]
    helper: bool  # Whether the name is that of a twist joint, a finger, a part of the face or another helper.
    finger: str  # `thumb`, `index`, `middle`, `ring`, `pinky`, or empty.


@cache
def name_table() -> Mapping[str, Any]:
    """Read the table of names that ships with simbench.

    Returns the sections of `marker_maps/skeletons/names.yaml`.
    """
    table: Mapping[str, Any] = read_yaml(
        resource_dir("marker_maps") / "skeletons" / "names.yaml", MotionError
    ).value
    return table


def read_names(names: Sequence[str], is_end: Sequence[bool]) -> list[NameVote]:
    """Read what the names of the joints say.

    `names`: names of all joints and end sites; `is_end`: whether each of them is the end of a bone that no
    joint moves; an end has no vote. Returns the votes in the order of the names.
    """
    short = strip_prefixes(names)
    numbers = [int(match[1]) for name in short if (match := _NUMBERED.search(name))]
    # Some count the thumb as finger 0, some as finger 1; then there is a fifth.
    first = 1 if 5 in numbers and 0 not in numbers else 0
    return [
        NameVote("", {}, True, "") if end else _read_name(name, first)
        for name, end in zip(short, is_end, strict=True)
    ]


def strip_prefixes(names: Sequence[str]) -> list[str]:
    """Remove namespaces and the prefix that most names share.

    `names`: names as the file writes them. Returns names without `mixamorig:`, `Character1_`, `Bip01 ` and
    the like.
    """
    short = [re.split(r"[:|/]", name)[-1].strip() or name for name in names]
    # The root alone may lack the prefix.
    counts = Counter(
        name[:k]
        for name in short
        for k in range(2, min(len(name), 24))
        # A word ends before the character number k.
        if name[k - 1] in " _.-" or (name[k - 1].islower() and name[k].isupper())
    )
    shared = (prefix for prefix, count in counts.items() if count >= COMMON_PREFIX * len(short) and count > 3)
    prefix = max(shared, key=len, default="")
    return [
        name[len(prefix) :] if name.startswith(prefix) and len(name) > len(prefix) else name for name in short
    ]


def find_dialect(names: Sequence[str]) -> str:
    """Find the naming convention that a skeleton follows.

    `names`: names as the file writes them. Returns name of the dialect, or `unknown names`.
    """
    known = {*names, *strip_prefixes(names)}
    for dialect, signs in name_table()["dialects"].items():
        prefix = signs.get("prefix", "")
        if all(name in known for name in signs["names"]) and (
            not prefix or any(prefix in name for name in names)
        ):
            return str(dialect)
    return "unknown names"


def find_animal_parts(names: Sequence[str]) -> list[str]:
    """Find the joints whose names are those of an animal's parts. `names`: names as the file writes them."""
    animal = set(name_table()["animal"])
    return [name for name in names if animal.intersection(_words(name))]


def _words(name: str) -> list[str]:
    """Split a name at separators, capitals and digits into lower-case words."""
    return [word.lower() for part in re.split(r"[\W_]+", name) for word in _WORDS.findall(part)]


def _read_name(name: str, first_finger: int) -> NameVote:
    """Read one name without its prefix, in a file that counts the fingers from a number on."""
    table = name_table()
    side, words = _find_side(_words(name))
    numbered = "".join(words)
    whole = "".join(word for word in words if not word.isdigit())
    words = [word for word in words if word not in table["noise"]] or words
    key = "".join(word for word in words if not word.isdigit())
    # The finger that the words of the name, written together, belong to.
    finger = next(
        (
            str(finger)
            for finger, spellings in table["fingers"].items()
            for spelling in spellings
            if (at := numbered.find(spelling)) >= 0
            and (len(spelling) > 3 or numbered[:at] in ("", "hand", "f", "finger"))
        ),
        "",
    )
    if (match := _NUMBERED.search(name)) and not finger:
        fingers = list(table["fingers"])
        number = int(match[1]) - first_finger
        finger = fingers[number] if 0 <= number < len(fingers) else ""
    helpers = table["helpers"]
    helper = (
        bool(finger)
        or any(part in whole for part in helpers["parts"])
        or any(word in helpers["words"] for word in words)
    )
    votes = {role: weights[key] for role, weights in table["roles"].items() if key in weights}
    if not votes and not side and key[:1] in ("l", "r"):
        # `lhand`, `rfemur`: the side is written together with the joint.
        rest = key[1:]
        votes = {role: weights[rest] for role, weights in table["roles"].items() if rest in weights}
        side = ("left" if key[0] == "l" else "right") if votes else ""
    if "hip" in votes and "pelvis" in votes:
        votes.pop("hip" if not side else "pelvis")
    return NameVote(side, {} if helper else votes, helper, finger)


def _find_side(words: list[str]) -> tuple[str, list[str]]:
    """Find the side that a name's words say, and the words without it."""
    for side, spellings in name_table()["sides"].items():
        for spelling in spellings:
            if spelling in words:
                k = words.index(spelling)
                return side, [*words[:k], *words[k + 1 :]]
    for side, spellings in name_table()["sides"].items():
        for spelling in spellings:
            for k, word in enumerate(words):
                # A single letter within a word is no side, a written-out word is.
                if (len(spelling) > 3 or not spelling.isascii()) and len(word) > len(spelling):
                    if word.startswith(spelling):
                        return side, [*words[:k], word[len(spelling) :], *words[k + 1 :]]
                    if word.endswith(spelling):
                        return side, [*words[:k], word[: -len(spelling)], *words[k + 1 :]]
    return "", words


# So many frames, spread evenly, show how a skeleton moves.
SAMPLED_FRAMES = 120
# Joints that are closer than this part of the skeleton's size are at the same place.
COINCIDING = 0.004


class SkeletonGeometry:
    """A skeleton in at most `SAMPLED_FRAMES` frames, the first among them, with its rest pose."""

    def __init__(self, recording: SkeletonRecording) -> None:
        # Names of the J joints and end sites, parents before children; index of each joint's parent (J,), -1
        # for the root.
        self.names, self.parents = recording.names, recording.parents
        count = len(recording.time)
        # Indices (F,) of the frames in the recording; -1 for a pose that was cut off before its start.
        frames = np.unique(np.linspace(0, count - 1, min(count, SAMPLED_FRAMES)).astype(np.int64))
        # Positions (F, J, 3) in the file's axes and unit, rotations (F, J, 3, 3) from the joints' axes to the
        # file's.
        positions, rotations = recording.positions[frames], recording.rotations[frames]
        # Where a file animates the places of joints, the offsets of its rest pose may be anything.
        above = np.maximum(self.parents, 0)
        local = np.einsum("fjki,fjk->fji", rotations[:, above], positions - positions[:, above])
        # Median position (J, 3) of each joint in its parent's axes, in the file's unit.
        self.offsets: Array = np.median(local, axis=0)
        self.offsets[self.parents < 0] = 0.0
        self.frames, self.positions, self.rotations = frames, positions, rotations

    @cached_property
    def children(self) -> list[list[int]]:
        """Indices of the children of each joint."""
        children: list[list[int]] = [[] for _ in self.names]
        for joint, parent in enumerate(self.parents):
            if parent >= 0:
                children[parent].append(joint)
        return children

    @cached_property
    def ancestors(self) -> list[list[int]]:
        """Indices of the ancestors of each joint, the parent first."""
        ancestors: list[list[int]] = []
        for parent in self.parents:
            ancestors.append([int(parent), *ancestors[parent]] if parent >= 0 else [])
        return ancestors

    @cached_property
    def rest(self) -> Array:
        """Positions (J, 3) in the rest pose, in which all rotations are the identity, in the file's unit."""
        rest = np.array(self.offsets)
        rest[self.parents < 0] = 0.0
        for joint, parent in enumerate(self.parents):
            if parent >= 0:
                rest[joint] += rest[parent]
        return rest

    @cached_property
    def top(self) -> int:
        """Index of the first joint with two children: what is above it only places the body in the world."""
        joint = 0
        while len(self.children[joint]) == 1:
            joint = self.children[joint][0]
        return joint

    @cached_property
    def size(self) -> float:
        """Length of the longest chain of bones from the top of the tree, in the file's unit."""
        reach = np.zeros(len(self.names))
        for joint in range(self.top + 1, len(self.names)):
            if self.top in self.ancestors[joint]:
                reach[joint] = reach[self.parents[joint]] + np.linalg.norm(self.offsets[joint])
        return float(reach.max())

    def is_end(self) -> list[bool]:
        """Tell for each joint whether it is an end site: a leaf whose name ends like a reader's for those.

        Returns one value for each joint.
        """
        return [
            not self.children[k] and name.startswith(f"{self.names[self.parents[k]]}_end")
            for k, name in enumerate(self.names)
        ]

    def common_ancestor(self, joints: Sequence[int]) -> int:
        """Find the joint from which all given joints descend.

        `joints`: indices of joints of one tree. Returns index of the nearest common ancestor, which may be
        one of the joints.
        """
        lines = [[joint, *self.ancestors[joint]] for joint in joints]
        return next(joint for joint in lines[0] if all(joint in line for line in lines[1:]))

    def subtree(self, joint: int) -> list[int]:
        """List a joint and all that descend from it.

        `joint`: index of the joint. Returns indices, parents first.
        """
        return [k for k in range(joint, len(self.names)) if k == joint or joint in self.ancestors[k]]


def angles_between(first: Array, second: Array) -> Array:
    """Compute the angles between vectors.

    `first`, `second` (..., 3): vectors; one of no length is at a right angle to all. Returns (...,): angles,
    degrees.
    """
    cosine = (normalise(first) * normalise(second)).sum(axis=-1)
    return np.asarray(np.degrees(np.arccos(np.clip(cosine, -1.0, 1.0))))
