"""Rules that infer a strategy from a motion, as data: Tomić (2018), tables 5.1 to 5.4, and our own.

The membership parameters of their terms are in a readable file.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import Any

from simbench.errors import SkillError
from simbench.files.yaml_document import YamlDocument, parse_yaml, read_yaml

# Mean speeds of joints, in the order of table 5.1's columns.
SPEEDS = ("vShoulderPitch", "vShoulderYaw", "vElbowYaw", "vTrunkPitch", "vShoulderRoll")
# Distances of joints from their ergonomic position, in the order of table 5.3's columns.
DISTANCES = ("ergonomyShoulderPitch", "ergonomyShoulderYaw", "ergonomyElbowYaw")
# Distance of the trunk from upright; neither the thesis nor any rule by hand looks at it.
TRUNK = "ergonomyTrunk"
INPUTS = (*SPEEDS, *DISTANCES, TRUNK)
# Criteria that rules decide between: none concludes manipulability (§5.2.1).
OUTPUTS = ("energy", "velocity", "ergonomy")

# Terms of the first inputs, in ascending order: extra small, small, medium, big, extra big.
INPUT_TERMS: dict[str, tuple[str, ...]] = {
    **dict.fromkeys(SPEEDS, ("XS", "M", "XB")),
    "vTrunkPitch": ("XS", "XB"),
    **dict.fromkeys(DISTANCES, ("XS", "S")),
}
OUTPUT_TERMS = ("XS", "S", "M", "B", "XB")


@dataclass(frozen=True)
class Rule:
    """A fuzzy rule: if all conditions hold, the outputs have the concluded terms."""

    number: int  # Number of the rule; up to 17 as in the thesis.
    conditions: tuple[tuple[str, str], ...]  # Inputs and their terms; joined by ∧ = min.
    conclusion: tuple[str, str, str]
    priority: float  # Factor of the rule's strength (§5.2.2).


_ENERGY, _VELOCITY, _ERGONOMY = ("XB", "XS", "XS"), ("XS", "XB", "XS"), ("XS", "XS", "XB")
_ACTIVITY_PRIORITY, _OWN_PRIORITY, _ERGONOMY_PRIORITY = 0.1, 0.3, 0.7
# The thesis prints no priority of rule 17. Its example (§5.3.1) has all four conditions, yet the rule is not
# among those satisfied and Kergonomy is small: more than a hundredth of the energy rules' would be seen.
_UNHEARD_PRIORITY = 0.0


def _activity(number: int, terms: str, conclusion: tuple[str, str, str] = _ENERGY) -> Rule:
    """Read a row of tables 5.1 and 5.2: a term for each of the first of `SPEEDS`, `-` for none."""
    given = tuple(each for each in zip(SPEEDS, terms.split(), strict=False) if each[1] != "-")
    return Rule(number, given, conclusion, _ACTIVITY_PRIORITY)


def _near(number: int, term: str) -> Rule:
    """Read a row of table 5.3."""
    return Rule(number, tuple((name, term) for name in DISTANCES), _ERGONOMY, _ERGONOMY_PRIORITY)


# The 17 rules of tables 5.1 to 5.4.
THESIS_RULES: tuple[Rule, ...] = (
    _activity(1, "XS XS XB"),
    _activity(2, "XS -  XS"),
    _activity(3, "XB -  XS"),
    _activity(4, "XB XS XS"),
    _activity(5, "XB M  XS"),
    _activity(6, "M  XS XB"),
    _activity(7, "M  XB M ", ("XB", "S", "XS")),
    _activity(8, "XS -  XB"),
    _activity(9, "M  M  XB -  M"),
    _activity(10, "- -  -  XB"),
    _activity(11, "- XB XB", _VELOCITY),
    _activity(12, "XB - XB", _VELOCITY),
    _activity(13, "XB XB XB", _VELOCITY),
    _activity(14, "M  M  XB", _VELOCITY),
    _near(15, "S"),
    _near(16, "XS"),
    Rule(
        17,
        (("vShoulderPitch", "XS"), ("vShoulderYaw", "XS"), ("vElbowYaw", "XB"), ("ergonomyElbowYaw", "XS")),
        ("XB", "XS", "XB"),
        _UNHEARD_PRIORITY,
    ),
)

# Least joint motion turns what reaches far, trunk and shoulder, and spares the elbow, which the thesis's
# rules of velocity want fast; least kinetic energy leaves the heavy trunk still, which the thesis's rule 10
# wants fast. Both follow from the law: velocity weighs all joints alike, energy by what they carry.
# Rules that the thesis does not have, between its two priorities.
OWN_RULES: tuple[Rule, ...] = (
    Rule(18, (("vElbowYaw", "XS"),), _VELOCITY, _OWN_PRIORITY),
    Rule(19, (("vTrunkPitch", "XS"),), _ENERGY, _OWN_PRIORITY),
)

# What simbench decides by, beside examples. With the priority of the ergonomy rules rule 17 does what it
# says: energy and ergonomy share the weight.
RULES = (*THESIS_RULES[:-1], replace(THESIS_RULES[-1], priority=_ERGONOMY_PRIORITY), *OWN_RULES)


# Least width of a Gaussian and of the fall of a Z-shape: narrower, a term would single out one recording.
NARROWEST = 0.05
# Sets of terms: the thesis's own, with its 17 rules; and those tuned on virtual people, with all rules.
THESIS, TUNED = "thesis", "tuned"
TERM_SETS = (TUNED, THESIS)


@dataclass(frozen=True)
class Memberships:
    """Parameters of the membership functions of all terms, in the order of INPUT_TERMS and OUTPUT_TERMS."""

    # Two parameters of each term: centre and width of a Gaussian for speeds; for distances the values at
    # which a Z-shape leaves 1 and reaches 0.
    inputs: Mapping[str, tuple[tuple[float, float], ...]]
    outputs: Mapping[str, tuple[float, ...]]  # Peak of each term.


@cache
def read_shipped_memberships(terms: str = TUNED) -> Memberships:
    """Read memberships that come with simbench; the file says where its numbers are from.

    `terms`: one of `TERM_SETS`. Returns parameters of all terms.
    """
    if terms not in TERM_SETS:
        raise SkillError(f"terms {terms}: unknown; known: {', '.join(TERM_SETS)}")
    name = f"memberships_{terms}.yaml"
    text = files("simbench.skills").joinpath(name).read_text(encoding="utf-8")
    return _parse_memberships(parse_yaml(text, name, SkillError))


def read_memberships(path: Path) -> Memberships:
    """Read a file of memberships.

    `path`: YAML file. Returns parameters of all terms. Raises SkillError
    the file cannot be read, an input, output or term is missing or unknown, or a number is not possible.
    """
    return _parse_memberships(read_yaml(path, SkillError))


def _parse_memberships(document: YamlDocument) -> Memberships:
    """Check the content of a file of memberships."""
    source = document.name
    parts = _members(document.value, ("inputs", "outputs"), source)
    inputs, outputs = (
        _members(parts["inputs"], tuple(INPUT_TERMS), f"{source}: inputs"),
        _members(parts["outputs"], OUTPUTS, f"{source}: outputs"),
    )
    terms, peaks = {}, {}
    for name in INPUT_TERMS:
        location = f"{source}: inputs.{name}"
        given = _members(inputs[name], INPUT_TERMS[name], location)
        pairs = []
        for term in INPUT_TERMS[name]:
            pair, place = given[term], f"{location}.{term}"
            if not isinstance(pair, list) or len(pair) != 2:
                raise SkillError(f"{place}: must be two numbers")
            first, second = (_unit(number, place) for number in pair)
            if (second - first if name in DISTANCES else second) < NARROWEST - 1e-9:
                raise SkillError(f"{place}: {pair} is narrower than {NARROWEST}")
            pairs.append((first, second))
        terms[name] = tuple(pairs)
    for name in OUTPUTS:
        location = f"{source}: outputs.{name}"
        given = _members(outputs[name], OUTPUT_TERMS, location)
        peaks[name] = tuple(_unit(given[term], f"{location}.{term}") for term in OUTPUT_TERMS)
        if not 0.0 < peaks[name][0] < peaks[name][-1] or sorted(peaks[name]) != list(peaks[name]):
            raise SkillError(f"{location}: peaks must be above 0 and ascend from {' to '.join(OUTPUT_TERMS)}")
    return Memberships(terms, peaks)


def _members(content: Any, names: tuple[str, ...], location: str) -> dict[str, Any]:
    """Check that content is a mapping with exactly these keys."""
    if not isinstance(content, dict) or set(content) != set(names):
        raise SkillError(f"{location}: must have exactly {', '.join(names)}")
    return content


def _unit(number: Any, location: str) -> float:
    if isinstance(number, bool) or not isinstance(number, int | float) or not 0.0 <= number <= 1.0:
        raise SkillError(f"{location}: {number!r} is not a number from 0 to 1")
    return float(number)
