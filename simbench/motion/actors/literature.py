"""Measurements on people, with sources: hand speeds, ranges of motion, motion of skin against bone."""

from collections.abc import Mapping
from dataclasses import dataclass


@dataclass(frozen=True)
class Range:
    """Values of a quantity that were measured on people."""

    low: float  # `low`, `high`: least and greatest value, in the unit.
    high: float
    unit: str  # Unit of both.
    source: str  # Author, year, journal, and what was measured.


_GATES = "Gates et al. 2016, Am J Occup Ther 70(1), doi 10.5014/ajot.2016.015487: eight daily activities"
_SARDELLI = "Sardelli et al. 2011, J Bone Joint Surg Am 93:471, doi 10.2106/JBJS.I.01633: functional tasks"
_RYU = "Ryu et al. 1991, J Hand Surg Am 16:409, doi 10.1016/0363-5023(91)90006-w: all daily tasks"
_TABLE = "goniometric norms of adults, table A.1 of Norkin & White (the book from memory): "
_DRINKING = (
    "de los Reyes-Guzmán et al. 2010, J NeuroEng Rehabil 7:41, table 2: medians of 0.63 to 0.72 in 8 people "
    "who drank from a glass; here 0.69, whose quartiles are 0.23 apart, three standard deviations to either "
    "side; 0.4 for moving a mug (Freire et al. 2024, J Mot Behav, doi 10.1080/00222895.2024.2324903)"
)
_ULNA = (
    "cluster on the upper arm against one on the proximal ulna, slopes 0.64 ± 0.10, 0.74 ± 0.05, 0.73 ± 0.04"
    " (PubMed 40222145; authors and year not seen)"
)
_HAMMING = (
    "Hamming et al. 2012, J Biomech 45:1161, PMC3327809: a cuff against bone pins, 5 degrees in elevation to "
    "nearly 30 at the ends of axial rotation"
)
_WARNER = (
    "Warner & Heller 2025, J Biomech, doi 10.1016/j.jbiomech.2025.112893: the range of axial rotation "
    "underestimated by twelve markers on the arm; 25.9 by the distal ones"
)
_CLUSTERS = "clusters reduce the range by 14.9 to 43.2 % (Proc IMechE H 2019, doi 10.1177/0954411919872400)"
_MCHUGH = (
    "McHugh et al. 2021, J Biomech 120:110362: skin against bone in doorknob pronation, bias -4.9 degrees, "
    "95 % limits of agreement 17.9 degrees apart"
)
_PINS = (
    "largest marker-to-bone residuals 14.7 to 24.2 mm at the shank (Andersen et al. 2012, J Biomech, bone "
    "pins), taken as the arm's upper bound; the arm's own, 1 to 20 mm, from memory"
)

USUAL: Mapping[str, Range] = {
    "elbow flexion": Range(0.0, 142.0, "°", f"0 {_GATES}; 142 ± 3 {_SARDELLI}"),
    "humeral plane": Range(-65.0, 105.0, "°", _GATES),
    "humeral elevation": Range(0.0, 108.0, "°", _GATES),
    "humeral rotation": Range(-55.0, 79.0, "°", _GATES),
    "forearm pronation": Range(-77.0, 65.0, "°", f"supination 77 ± 13, pronation 65 ± 8: {_SARDELLI}"),
    "wrist flexion": Range(-60.0, 54.0, "°", _RYU),
    "wrist radial deviation": Range(-40.0, 17.0, "°", _RYU),
    "trunk flexion": Range(-30.0, 59.0, "°", f"{_GATES}; backward the norm of the spine"),
    "trunk bend": Range(-23.0, 23.0, "°", _GATES),
    "trunk twist": Range(-32.0, 32.0, "°", _GATES),
    "upper arm skin lag": Range(0.26, 0.36, "1", _ULNA),
    "upper arm skin rotation": Range(0.0, 30.0, "°", _HAMMING),
}
"""What the mean over many participants should be within, as these sources give means over theirs."""

LIMITS: Mapping[str, Range] = {
    "hand speed, transition": Range(0.18, 1.20, "m/s", _DRINKING),
    "hand speed, work": Range(0.18, 1.20, "m/s", _DRINKING),
    "elbow flexion": Range(0.0, 150.0, "°", f"{_TABLE}AAOS"),
    # Norms are of an arm raised to the horizontal; below, the trunk and adduction itself are the limits.
    "horizontal adduction": Range(-65.0, 130.0, "°", f"{_GATES}; 130: Kurz, norms of joints"),
    "shoulder abduction": Range(
        -45.0, 180.0, "°", "AAOS, from memory: adduction across the front of the body"
    ),
    "humeral elevation": Range(0.0, 180.0, "°", f"{_TABLE}AAOS"),
    "shoulder internal rotation": Range(-108.0, 94.0, "°", f"{_TABLE}Macedo & Magee, women of 18 to 59"),
    "forearm pronation": Range(-96.0, 92.0, "°", f"{_TABLE}Macedo & Magee, women of 18 to 59; AAOS 80"),
    "wrist flexion": Range(-86.0, 93.0, "°", f"{_TABLE}Macedo & Magee"),
    "wrist radial deviation": Range(-41.0, 25.0, "°", f"{_TABLE}Macedo & Magee; Greene & Wolf"),
    "spine flexion": Range(-30.0, 75.0, "°", "Kurz, norms of the lumbar spine"),
    "spine bend": Range(-35.0, 35.0, "°", "Kurz, norms of the lumbar spine"),
    "spine twist": Range(-45.0, 45.0, "°", "AAOS, from memory"),
    "upper arm skin lag": Range(0.16, 0.56, "1", f"{_ULNA}; two standard deviations"),
    "upper arm skin rotation": Range(0.0, 48.7, "°", _WARNER),
    "forearm skin lag": Range(
        0.05, 0.432, "1", f"{_MCHUGH}, of 90 degrees (the 90 from memory); {_CLUSTERS}"
    ),
    "forearm skin rotation": Range(0.0, 13.9, "°", _MCHUGH),
    "upper arm skin shift": Range(0.5, 24.2, "mm", _PINS),
    "forearm skin shift": Range(0.5, 24.2, "mm", _PINS),
    "hand skin shift": Range(0.5, 24.2, "mm", _PINS),
}
"""What each single participant should be within: anatomy, or the spread between people."""

_GESTURES = Range(0.3, 2.5, "m/s", "peak speeds of the hand in signing, from memory")
FREE_LIMITS: Mapping[str, Range] = {
    **LIMITS,
    "hand speed, transition": _GESTURES,
    "hand speed, work": _GESTURES,
}
"""The same for motions without equipment, which are faster."""

_DOWN = "the handle has the palms face down, more than a keyboard does"
_AHEAD = "the hands are as far apart as the shoulders, the forearms parallel"
_RIGID = "the hands turn with what they hold without regrasping"
BEYOND_USUAL: Mapping[str, Mapping[str, str]] = {
    "valves": {"wrist radial deviation": _RIGID, "humeral rotation": _AHEAD},
    "drawer": {"forearm pronation": _DOWN},
    "canoe_paddles": {"forearm pronation": _DOWN, "humeral rotation": _AHEAD},
    "steering_wheel": {"wrist radial deviation": _RIGID, "humeral rotation": _RIGID, "humeral plane": _RIGID},
    "pump": {"forearm pronation": _DOWN, "humeral rotation": _AHEAD},
    "knife": {"forearm pronation": _DOWN},
    "grater": {"forearm pronation": _DOWN},
    "hand_drill": {"forearm pronation": _DOWN},
}
"""Task to quantities in which its equipment asks for more than daily life does: anatomy is their range."""
