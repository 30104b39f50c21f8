"""Rules that infer a strategy from a motion, as data: terms, Tomić (2018), tables 5.1 to 5.4, and our own."""

from dataclasses import dataclass

SPEEDS = ("vShoulderPitch", "vShoulderYaw", "vElbowYaw", "vTrunkPitch", "vShoulderRoll")
"""Mean speeds of joints, in the order of table 5.1's columns."""
DISTANCES = ("ergonomyShoulderPitch", "ergonomyShoulderYaw", "ergonomyElbowYaw")
"""Distances of joints from their ergonomic position, in the order of table 5.3's columns."""
TRUNK = "ergonomyTrunk"
"""Distance of the trunk from upright; neither the thesis nor any rule by hand looks at it."""
INPUTS = (*SPEEDS, *DISTANCES, TRUNK)
OUTPUTS = ("energy", "velocity", "ergonomy")
"""Criteria that rules decide between: none concludes manipulability (§5.2.1)."""

INPUT_TERMS: dict[str, tuple[str, ...]] = {
    **dict.fromkeys(SPEEDS, ("XS", "M", "XB")),
    "vTrunkPitch": ("XS", "XB"),
    **dict.fromkeys(DISTANCES, ("XS", "S")),
}
"""Terms of the first inputs, in ascending order: extra small, small, medium, big, extra big."""
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


def _activity(number: int, terms: str, conclusion: tuple[str, str, str] = _ENERGY) -> Rule:
    """Read a row of tables 5.1 and 5.2: a term for each of the first of `SPEEDS`, `-` for none."""
    given = tuple(each for each in zip(SPEEDS, terms.split(), strict=False) if each[1] != "-")
    return Rule(number, given, conclusion, _ACTIVITY_PRIORITY)


def _near(number: int, term: str) -> Rule:
    """Read a row of table 5.3."""
    return Rule(number, tuple((name, term) for name in DISTANCES), _ERGONOMY, _ERGONOMY_PRIORITY)


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
    # The thesis gives no priority to the rule by which energy and ergonomics share the weight: with the lower
    # one ergonomics would never get a share, for rules 1 and 8 then conclude energy just as strongly.
    Rule(
        17,
        (
            ("vShoulderPitch", "XS"),
            ("vShoulderYaw", "XS"),
            ("vElbowYaw", "XB"),
            ("ergonomyElbowYaw", "XS"),
        ),
        ("XB", "XS", "XB"),
        _ERGONOMY_PRIORITY,
    ),
)
"""The 17 rules of tables 5.1 to 5.4."""

# Least joint motion turns what reaches far, trunk and shoulder, and spares the elbow, which the thesis's
# rules of velocity want fast; least kinetic energy leaves the heavy trunk still, which the thesis's rule 10
# wants fast. Both follow from the law: velocity weighs all joints alike, energy by what they carry.
OWN_RULES: tuple[Rule, ...] = (
    Rule(18, (("vElbowYaw", "XS"),), _VELOCITY, _OWN_PRIORITY),
    Rule(19, (("vTrunkPitch", "XS"),), _ENERGY, _OWN_PRIORITY),
)
"""Rules that the thesis does not have, between its two priorities."""

RULES = THESIS_RULES + OWN_RULES
"""What simbench decides by, beside examples (`fuzzy.examples`)."""
