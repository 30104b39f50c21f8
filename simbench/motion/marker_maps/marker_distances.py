"""Where markers are on a person's body, and how well the distances of a marker to others fit a place.

Markers keep their distances to others on the same segment. Where the other side has the same markers, these
distances are known from it; else from a table of where markers are on a person. Places are the points of the
map `anatomical`.
"""

from collections.abc import Callable, Mapping
from functools import cache
from itertools import combinations
from pathlib import Path
from typing import NamedTuple

import numpy as np

from simbench.errors import MotionError
from simbench.files.yaml_document import read_yaml
from simbench.kinematics.arrays import Array
from simbench.robot.sides import SIDES

# A place is known by two distances, or by one that is the other side's or that of a marker with a twin there.
FEWEST_DISTANCES = 2
# Few distances count as one that is off by this part of its spread, divided by their number.
FEW_DISTANCES = 0.5
# Two sides of a body differ by this fraction of the stature.
ASYMMETRY = 0.018
# Distances on a person that tell the size, as a fraction of the stature.
LONG = 0.06
# Median and standard deviation, m, of the distance of two markers by name.
Measure = Callable[[str, str], tuple[float, float]]


class Fit(NamedTuple):
    """How a marker fits a place."""

    cost: float  # Root mean square deviation of its distances to known markers, over their spread.
    off: float  # Root mean square deviation, m.


def measure_distances(positions: Array, index: Mapping[str, int]) -> Measure:
    """Measure distances between markers when they are first asked for; NaN if never seen together.

    `positions` (T, M, 3): tracks of the markers, m; NaN where one was not seen; `index`: their columns.
    """

    @cache
    def measure(one: str, other: str) -> tuple[float, float]:
        apart = np.linalg.norm(positions[:, index[one]] - positions[:, index[other]], axis=1)
        apart = apart[~np.isnan(apart)]
        return (float(np.median(apart)), float(apart.std())) if apart.size else (np.nan, np.nan)

    return measure


def fit_place(
    place: str, name: str, known: Mapping[str, str], measure: Measure, *, twin: bool, mirrored: bool = True
) -> Fit:
    """Compare the distances of a marker to the known ones, by place, with those that a place has.

    `twin`: whether there is a marker of the same name on the other side; `mirrored`: whether the other side's
    distances count, where its markers are known.
    """
    positions, segments = _read_body()

    def on_person(one: str, other: str) -> float:
        return float(np.linalg.norm(positions[one] - positions[other]))

    ratios = [
        measure(known[one], known[other])[0] / apart
        for _, names in segments
        for one, other in combinations(sorted(names & known.keys()), 2)
        if (apart := on_person(one, other)) > LONG
    ]
    stature = float(np.nanmedian(ratios)) if np.isfinite(ratios).any() else np.nan
    deviations, offs, certain = [], [], int(twin)
    for spread, names in segments:
        for other in sorted(names & known.keys()) if place in names else ():
            apart, moving = measure(name, known[other])
            expected, size = stature * on_person(place, other), spread
            twins = other_side(place), other_side(other)
            if mirrored and known.keys() >= {*twins} and twins != (other, place):
                expected, size = measure(known[twins[0]], known[twins[1]])[0], ASYMMETRY
                certain += 1
            if np.isfinite(apart - expected):
                offs.append(apart - expected)
                deviations += [offs[-1] / (size * stature), moving / (spread * stature)]
    if not offs or len(offs) + certain < FEWEST_DISTANCES:
        return Fit(np.inf, np.inf)
    cost, off = (float(np.sqrt(np.mean(np.square(each)))) for each in (deviations, offs))
    return Fit(cost + FEW_DISTANCES / len(offs), off)


def other_side(place: str) -> str:
    """Name the same place of the other side; of one in the middle itself."""
    side, _, name = place.partition("_")
    return {"left": f"right_{name}", "right": f"left_{name}"}.get(side, place)


@cache
def _read_body() -> tuple[Mapping[str, Array], tuple[tuple[float, frozenset[str]], ...]]:
    """Read where markers are on a person, and which keep their distances, with the spread of these."""
    content = read_yaml(Path(__file__).with_suffix(".yaml"), MotionError).value
    positions = {}
    for place, at in content["positions"].items():
        positions[place] = np.array(at)
        positions[other_side(place)] = np.array(at) * ([1.0, -1.0, 1.0] if "_" in place else 1.0)
    segments = []
    for segment in content["segments"]:
        for sides in [SIDES] if segment.get("both") else [(side,) for side in SIDES]:
            names = {place.replace("{side}", side) for place in segment["places"] for side in sides}
            segments.append((segment["spread"], frozenset(names)))
    return positions, tuple(segments)
