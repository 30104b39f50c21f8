"""Hints from the names of links and joints: sides and parts of the body, in the styles of many makers."""

import re
from typing import Literal

Side = Literal["left", "right"]

_SIDES: dict[str, Side] = {
    **dict.fromkeys(("left", "l", "lf", "lh", "fl", "hl", "rl", "bl", "lft"), "left"),
    **dict.fromkeys(("right", "r", "rf", "rh", "fr", "hr", "rr", "br", "rgt"), "right"),
}
_PARTS = {
    "leg": ("leg", "hip", "knee", "ankle", "foot", "feet", "thigh", "shin", "shank", "calf", "toe", "sole"),
    "arm": ("arm", "shoulder", "elbow", "wrist", "forearm", "upperarm", "clavicle", "shldr"),
    "head": ("head", "neck", "skull", "gaze"),
    "trunk": ("torso", "trunk", "waist", "chest", "spine", "body", "abdomen", "back"),
    "grip": ("gripper", "finger", "fingers", "thumb", "jaw", "knuckle", "grip", "claw"),
    "hand": ("hand", "palm", "flange", "tool", "tcp", "ee", "effector"),
    "sole": ("sole",),
    "wheel": ("wheel", "caster", "castor"),
}
_WORDS = {word: part for part, words in _PARTS.items() for word in words}
_WORD = re.compile(r"[A-Z]+(?=[A-Z][a-z])|[A-Z]?[a-z]+|[A-Z]+")


def words_of(name: str) -> tuple[str, ...]:
    """Split a name into lower-case words, at capitals, digits and other signs.

    `name`: name of a link or joint. Returns the words; a side that is written before a word without a sign,
    as in `LLEG`, is a word of its own.
    """
    found: list[str] = []
    for word in _WORD.findall(name):
        lower = word.lower()
        if lower[:1] in "lr" and lower not in _WORDS and lower[1:] in _WORDS:
            found += [lower[0], lower[1:]]
        else:
            found.append(lower)
    return tuple(found)


def side_in_name(name: str) -> Side | None:
    """Find the side that a name says.

    `name`: name of a link or joint. Returns `left`, `right`; None if it says none, or both.
    """
    sides = {_SIDES[word] for word in words_of(name) if word in _SIDES}
    return sides.pop() if len(sides) == 1 else None


def parts_in_name(name: str) -> frozenset[str]:
    """Find the parts of a body that a name says.

    `name`: name of a link or joint. Returns of `leg`, `arm`, `head`, `trunk`, `grip`, `hand`, `wheel`.
    """
    return frozenset(_WORDS[word] for word in words_of(name) if word in _WORDS)
