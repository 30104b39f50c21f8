"""What the names of a skeleton's joints say: side, joint of a person, finger, helper; and their dialect."""

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from functools import cache
from typing import Any, NamedTuple

from simbench.errors import MotionError
from simbench.files.yaml_document import read_yaml
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
    prefix = max(_prefixes(short), key=len, default="")
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


def _prefixes(names: Sequence[str]) -> list[str]:
    """Prefixes that nearly all names share and that end before a new word."""
    # The root alone may lack the prefix.
    counts = Counter(
        name[:k] for name in names for k in range(2, min(len(name), 24)) if _ends_word(name[:k], name[k])
    )
    return [prefix for prefix, count in counts.items() if count >= COMMON_PREFIX * len(names) and count > 3]


def _ends_word(prefix: str, following: str) -> bool:
    """Tell whether a word ends between a prefix and the character that follows it."""
    return prefix[-1] in " _.-" or (prefix[-1].islower() and following.isupper())


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
    finger = _find_finger(numbered, table)
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


def _find_finger(numbered: str, table: Mapping[str, Any]) -> str:
    """Find the finger that the words of a name, written together, belong to."""
    for finger, spellings in table["fingers"].items():
        for spelling in spellings:
            at = numbered.find(spelling)
            if at >= 0 and (len(spelling) > 3 or numbered[:at] in ("", "hand", "f", "finger")):
                return str(finger)
    return ""


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
