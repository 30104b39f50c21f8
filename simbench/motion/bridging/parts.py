"""The parts of a body, the markers each of them needs, and what of a recording is used."""

from collections.abc import Collection, Mapping
from typing import NamedTuple

import numpy as np

from simbench.motion.bridging.rigid import Mask
from simbench.motion.marker_maps.dependencies import find_needs
from simbench.motion.marker_maps.schema import MarkerMap
from simbench.robot.sides import SIDES

Part = tuple[tuple[str, ...], tuple[str, ...]]
# Joints and segment frames of each part, most important first.
ARMS: dict[str, Part] = {
    f"{side} arm": (
        tuple(f"{side}_{joint}" for joint in ("shoulder", "elbow", "wrist")),
        (f"{side}_upper_arm", f"{side}_forearm"),
    )
    for side in SIDES
}
PARTS: dict[str, Part] = {
    "trunk": (("neck", "chest"), ("trunk",)),
    "pelvis": (("pelvis",), ("pelvis",)),
    **{f"{side} hand": ((), (f"{side}_hand",)) for side in SIDES},
    **{f"{side} leg": (tuple(f"{side}_{joint}" for joint in ("hip", "knee", "ankle")), ()) for side in SIDES},
    **{f"{side} foot": ((f"{side}_heel", f"{side}_toe"), ()) for side in SIDES},
    "head": (("head",), ()),
}
# Both arms are used if that leaves at least this fraction of the frames that one leaves; another part is used
# if it leaves at least the second fraction.
SHARE_OF_ARMS, SHARE_OF_PART = 0.5, 0.8


class Choice(NamedTuple):
    """What of a recording is used."""

    # Parts that are used, and the markers each needs, in the map's spelling.
    parts: dict[str, frozenset[str]]
    # Parts or joints that are recorded and not used, and the markers whose gaps are the reason.
    left_out: dict[str, str]
    window: tuple[int, int]  # First frame, and the one behind the last.


def find_part_needs(
    marker_map: MarkerMap,
    recorded: Collection[str],
    part: Part,
    whole: bool,
) -> frozenset[str] | None:
    """Find the markers that a part needs.

    `recorded`: names that are recorded, in the map's spelling; `part`: joints and segment frames of the part;
    `whole`: whether all of them are needed; otherwise those that the recording can give. Returns names of the
    markers; None if the recording cannot give the part.
    """
    joints, frames = part
    needs = [
        *(find_needs(marker_map, recorded, [name]) for name in joints if name in marker_map.joints),
        *(find_needs(marker_map, recorded, [], [name]) for name in frames if name in marker_map.segments),
    ]
    given = [each for each in needs if not each.lacking]
    if not given or (whole and len(given) < len(needs)):
        return None
    return frozenset().union(*(each.used for each in given))


def longest_window(usable: Mask) -> tuple[int, int]:
    """Find the longest stretch of usable frames.

    `usable` (T,) of bool: whether a frame is usable. Returns its first frame, and the one behind its last;
    equal if none is usable.
    """
    edges = np.diff(np.pad(usable.astype(np.int8), 1))
    begins, ends = np.flatnonzero(edges == 1), np.flatnonzero(edges == -1)
    if not begins.size:
        return 0, 0
    longest = int((ends - begins).argmax())
    return int(begins[longest]), int(ends[longest])


def choose_parts(
    marker_map: MarkerMap, usable: Mapping[str, Mask], whole_arms: bool = True
) -> Choice | tuple[str, str] | None:
    """Choose the parts of the body and the frames that are used.

    `usable` mapping of str to (T,) array of bool: for each recorded marker, in the map's spelling, the frames
    in which its place is known; `whole_arms`: whether an arm needs all its joints. Returns the choice; or, if
    no arm is usable in two frames, an arm and the marker that is the reason; None if the markers of no arm
    are recorded.
    """
    arms: dict[str, tuple[frozenset[str], Mask]] = {}
    worst: dict[str, str] = {}
    everything = np.ones(len(next(iter(usable.values()))), dtype=bool)
    for name, part in ARMS.items():
        found = _best_way(marker_map, usable, part, everything, whole_arms)
        if found is None:
            continue
        arms[name] = found[0], found[1]
        worst[name] = found[2]
    if not arms:
        return None
    lengths = {name: _length(mask) for name, (_, mask) in arms.items()}
    best = max(lengths, key=lambda name: lengths[name])
    if lengths[best] < min(2, len(everything)):
        return best, worst[best]
    used = {best: arms[best][0]}
    mask = arms[best][1]
    for name, (needed, own) in arms.items():
        if name != best and _length(mask & own) >= max(SHARE_OF_ARMS * lengths[best], 2):
            used[name], mask = needed, mask & own
    for name, part in PARTS.items():
        if name.endswith("hand") and name.replace("hand", "arm") not in used:
            continue
        found = _best_way(marker_map, usable, part, mask, False)
        if found is not None and _length(mask & found[1]) >= SHARE_OF_PART * _length(mask):
            used[name], mask = found[0], mask & found[1]
    window = longest_window(mask)
    return Choice(used, _find_left_out(marker_map, usable, window), window)


def _find_left_out(
    marker_map: MarkerMap, usable: Mapping[str, Mask], window: tuple[int, int]
) -> dict[str, str]:
    """Find the parts that are recorded and not in all of a window, and the markers they lack there."""
    there = {name for name, mask in usable.items() if mask[slice(*window)].all()}
    left_out: dict[str, str] = {}
    for name, (joints, frames) in (*ARMS.items(), *PARTS.items()):
        targets = [([joint], ()) for joint in joints] + [((), [frame]) for frame in frames]
        given = [each for each in targets if not find_needs(marker_map, usable, *each).lacking]
        lost = [each for each in given if find_needs(marker_map, there, *each).lacking]
        if not lost:
            continue
        lacking = find_needs(
            marker_map,
            there,
            [joint for each in lost for joint in each[0]],
            [f for each in lost for f in each[1]],
        ).lacking
        part = (
            name
            if len(lost) == len(given)
            else ", ".join(target for each in lost for target in (*each[0], *each[1]))
        )
        left_out[part] = ", ".join(lacking)
    return left_out


def _length(mask: Mask) -> int:
    """Count the frames of the longest stretch."""
    begin, end = longest_window(mask)
    return end - begin


def _best_way(
    marker_map: MarkerMap,
    usable: Mapping[str, Mask],
    part: Part,
    within: Mask,
    whole: bool,
) -> tuple[frozenset[str], Mask, str] | None:
    """Markers for a part, frames in which all are known, and the marker that is known least.

    A marker that costs frames is left out if the map has another way that costs fewer.
    """
    best: tuple[frozenset[str], Mask, str] | None = None
    names = set(usable)
    while True:
        needed = find_part_needs(marker_map, names, part, whole)
        if not needed:
            return best
        mask = np.logical_and.reduce([usable[name] for name in needed])
        counts = {name: int((usable[name] & within).sum()) for name in sorted(needed)}
        least = min(counts, key=lambda name: counts[name])
        if best is None or _length(mask & within) > 1.1 * _length(best[1] & within):
            best = needed, mask, least
        if counts[least] == int(within.sum()) or _length(mask & within) > SHARE_OF_PART * _length(within):
            return best
        names.discard(least)
