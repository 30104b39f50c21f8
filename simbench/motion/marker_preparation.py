"""Preparation of a recording of markers for its map: what the body's joints need is made whole."""

from collections.abc import Collection, Mapping
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from simbench.errors import MotionError
from simbench.kinematics.arrays import Array
from simbench.motion.human_motion import Gap
from simbench.motion.joint_estimates import estimate_missing_joints, turn_upright
from simbench.motion.marker_gaps import (
    Bridge,
    KnownSegments,
    Mask,
    bridge_by_direction,
    bridge_by_limb_ends,
    bridge_by_segment,
    fill_gaps,
    find_runs,
    interpolate,
)
from simbench.motion.marker_maps.map_choice import guess_map
from simbench.motion.marker_maps.map_library import (
    describe_missing_names,
    find_aliases,
    find_needs,
    find_persons,
    list_fitting_maps,
)
from simbench.motion.marker_maps.map_schema import MarkerMap
from simbench.motion.read_options import ReadOptions
from simbench.motion.recordings import MarkerRecording
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


# Longest gap, s, that is bridged between the two ends of a limb, and by one end or by a spline alone. In a
# second a hand can reach somewhere and come back.
LIMB_LIMIT, SPLINE_LIMIT = 3.0, 1.0
# The person is in view when at least this fraction of the needed markers is seen.
IN_VIEW = 0.5
# At most this many markers are listed in a line.
LISTED = 12


def prepare_markers(
    recording: MarkerRecording, options: ReadOptions, marker_map: MarkerMap | None = None
) -> tuple[MarkerRecording, tuple[Gap, ...]]:
    """Make a recording whole: bridge the gaps of needed markers, and leave out what cannot be used.

    Which markers are needed follows from the marker map: those of the arms, then of trunk, pelvis, legs and
    head. The others may be missing. A gap up to `options.longest_gap` is filled by a spline; a longer one in
    a needed marker by the other markers of its rigid segment, else by the limb between two markers that keep
    their distance (up to `LIMB_LIMIT`), else at constant distance from one or by a spline (up to
    `SPLINE_LIMIT`). What remains cuts the recording, or leaves out a part of the body. With `options.strict`,
    `fill_gaps` alone is applied. `recording`: marker tracks, with NaN where a marker was not seen; `options`:
    what the user declares; `marker_map`: the map; None chooses the one that fits the names. Returns
    `recording`: tracks without NaN, time from 0, with what was done as notes and doubts; `gaps`: the gaps
    that were filled, as samples of the returned recording. Raises MotionError no marker was ever seen, no map
    fits, or no arm is left: the message names the marker that is missing.
    """
    if options.strict:
        return fill_gaps(recording, options.longest_gap)
    absent = np.asarray(np.isnan(recording.positions).any(axis=2))
    seen = np.asarray(~absent.all(axis=0))
    if not seen.any() or len(recording.time) < 2:
        return fill_gaps(recording, options.longest_gap)
    notes, doubts = [*recording.notes], [*recording.doubts]
    if not seen.all():
        never = [name for name, known in zip(recording.names, seen, strict=True) if not known]
        notes.append(f"{len(never)} markers never seen ignored: {_listed(never)}")
        recording = replace(
            recording,
            names=tuple(name for name, known in zip(recording.names, seen, strict=True) if known),
            positions=recording.positions[:, seen],
        )
    if marker_map is None:
        marker_map = _find_map(recording, options)
    persons = find_persons(recording.names)
    if persons:
        doubts.append(
            f"{len(persons)} persons are recorded ({', '.join(persons)}): only {persons[0]} is read"
        )
    spelled = dict(find_aliases(recording.names, marker_map))
    other = [f"{name} = {spelling}" for name, spelling in spelled.items() if name.lower() != spelling.lower()]
    if other:
        notes.append(f"names in the file of the map's markers: {_listed(other)}")
    recording = replace(recording, notes=tuple(notes), doubts=tuple(doubts))
    recording, gaps = bridge_gaps(recording, marker_map, spelled, options)
    recording = estimate_missing_joints(recording, marker_map, spelled, options)
    return turn_upright(recording, marker_map, spelled, options), gaps


def _find_map(recording: MarkerRecording, options: ReadOptions) -> MarkerMap:
    """Find the map whose names a recording has, or guess one."""
    fitting = list_fitting_maps(recording.names, options.marker_map, skeleton=False)
    if fitting:
        return fitting[0][1]
    if options.marker_map is None:
        return guess_map(recording).marker_map
    raise MotionError(
        f"{recording.source}: {describe_missing_names(recording.names, options.marker_map, skeleton=False)}"
    )


def bridge_gaps(
    recording: MarkerRecording, marker_map: MarkerMap, spelled: Mapping[str, str], options: ReadOptions
) -> tuple[MarkerRecording, tuple[Gap, ...]]:
    """Bridge the gaps of the markers that a map needs, and cut what cannot be bridged.

    `recording`: tracks of markers each of which is seen at some time; `spelled`: names in the recording of
    the map's points that have another name there; `options`: what the user declares. Returns `recording`:
    tracks without NaN, time from 0; `gaps`: the gaps that were filled, as samples of the returned recording.
    Raises MotionError no arm is left: the message names the marker that is missing, where, and how long.
    """
    index = {name: k for k, name in enumerate(recording.names)}
    columns = {**index, **{point: index[name] for point, name in spelled.items()}}
    absent = np.asarray(np.isnan(recording.positions).any(axis=2))
    if not absent.any():
        return recording, ()
    positions = np.where(absent[..., None], np.nan, recording.positions)
    needed = set().union(
        *(
            find_part_needs(marker_map, columns, part, False) or ()
            for part in (*ARMS.values(), *PARTS.values())
        )
    )
    wanted = sorted({columns[name] for name in needed})
    notes, doubts = [*recording.notes], [*recording.doubts]
    runs = find_runs(absent)
    _fill_short(positions, recording.time, runs, options.longest_gap)
    said = _bridge_long(positions, recording, runs, set(wanted))
    notes += (
        [f"gaps bridged by other markers of the same rigid segment: {_listed(said[0])}"] if said[0] else []
    )
    doubts += [f"gaps bridged between the ends of the limb: {_listed(said[1])}"] if said[1] else []
    doubts += [f"gaps bridged by interpolation: {_listed(said[2])}"] if said[2] else []
    usable = {name: ~np.isnan(positions[:, column, 0]) for name, column in columns.items()}
    choice = choose_parts(marker_map, usable, not options.estimate)
    if choice is None:
        # The map's conversion says which markers no arm can do without.
        choice = Choice({}, {}, (0, len(recording.time)))
    if not isinstance(choice, Choice):
        raise _refusal(recording, choice, columns[choice[1]], runs)
    first, stop = choice.window
    part_notes = [
        f"{part}: left out, for {marker} is not seen long enough" for part, marker in choice.left_out.items()
    ]
    doubts += part_notes
    _say_cut(recording, (first, stop), absent[:, wanted], options.longest_gap, (notes, doubts))
    kept = np.asarray(~np.isnan(positions[first:stop, :, 0]).any(axis=0))
    dropped = [name for k, name in enumerate(recording.names) if not kept[k]]
    if dropped:
        notes.append(f"{len(dropped)} markers with gaps that no used joint needs ignored: {_listed(dropped)}")
    start = float(recording.time[first])
    gaps = tuple(
        Gap(recording.names[marker], max(begin, first) - first, min(last, stop - 1) - first)
        for marker, begin, last in runs
        if begin < stop and last >= first and kept[marker]
    )
    return replace(
        recording,
        time=recording.time[first:stop] - start,
        names=tuple(name for k, name in enumerate(recording.names) if kept[k]),
        positions=positions[first:stop, kept],
        events=tuple((label, time - start) for label, time in recording.events),
        notes=tuple(notes),
        doubts=tuple(doubts),
    ), gaps


def _fill_short(positions: Array, time: Array, runs: list[tuple[int, int, int]], longest: float) -> None:
    """Fill the gaps up to `longest` s that have samples on both sides, in place, by each marker's spline."""
    interval = _interval(time)
    short: dict[int, list[tuple[int, int]]] = {}
    for marker, first, last in runs:
        inside = first > 0 and last < len(time) - 1
        if inside and (last - first + 1) * interval <= longest * (1 + 1e-6):
            short.setdefault(marker, []).append((first, last))
    for marker, stretches in short.items():
        frames = np.concatenate([np.arange(first, last + 1) for first, last in stretches])
        positions[frames, marker] = interpolate(time, positions[:, marker], frames)


def _bridge_long(
    positions: Array, recording: MarkerRecording, runs: list[tuple[int, int, int]], wanted: set[int]
) -> tuple[list[str], list[str], list[str]]:
    """Bridge the long gaps of needed markers, in place; say which by segment, limb and interpolation."""
    time, names = recording.time, recording.names
    interval = _interval(time)
    segment: dict[int, list[tuple[float, Bridge]]] = {}
    limb: dict[int, list[tuple[float, Bridge]]] = {}
    alone: dict[int, list[float]] = {}

    def open_runs() -> list[tuple[int, int, int]]:
        return [run for run in runs if run[0] in wanted and np.isnan(positions[run[1], run[0], 0])]

    known = KnownSegments({}, {})
    # A marker that was bridged helps to bridge another one.
    for _ in range(2):
        for marker, first, last in open_runs():
            bridge = bridge_by_segment(positions, marker, first, last, known)
            if bridge is not None:
                positions[first : last + 1, marker] = bridge.track
                segment.setdefault(marker, []).append(((last - first + 1) * interval, bridge))
    for marker, first, last in open_runs():
        length = (last - first + 1) * interval
        if first == 0 or last == len(time) - 1 or length > LIMB_LIMIT:
            continue
        bridge = bridge_by_limb_ends(positions, marker, first, last)
        if bridge is not None:
            positions[first : last + 1, marker] = bridge.track
            limb.setdefault(marker, []).append((length, bridge))
            continue
        if length > SPLINE_LIMIT:
            continue
        bridge = bridge_by_direction(positions, time, marker, first, last)
        if bridge is not None:
            positions[first : last + 1, marker] = bridge.track
        else:
            frames = np.arange(first, last + 1)
            positions[frames, marker] = interpolate(time, positions[:, marker], frames)
        alone.setdefault(marker, []).append(length)
    said = [
        [
            f"{names[marker]} up to {max(length for length, _ in each):.3g} s by "
            f"{', '.join(names[mate] for mate in each[0][1].mates)} "
            f"({1000 * max(bridge.residual for _, bridge in each):.0f} mm)"
            for marker, each in found.items()
        ]
        for found in (segment, limb)
    ]
    return said[0], said[1], [f"{names[marker]} up to {max(each):.3g} s" for marker, each in alone.items()]


def _refusal(
    recording: MarkerRecording, reason: tuple[str, str], marker: int, runs: list[tuple[int, int, int]]
) -> MotionError:
    """Error for a recording without a usable arm, which names the longest gap of the marker."""
    part, _ = reason
    time = recording.time
    _, first, last = max((run for run in runs if run[0] == marker), key=lambda run: run[2] - run[1])
    return MotionError(
        f"{recording.source}: no arm can be used: the {part} needs marker {recording.names[marker]}, which "
        f"is not seen from frame {first} ({time[first]:.3f} s) to frame {last} ({time[last]:.3f} s), "
        f"{(last - first + 1) * _interval(time):.3g} s, and no other markers bridge it"
    )


def _say_cut(
    recording: MarkerRecording,
    window: tuple[int, int],
    absent: Array,
    longest: float,
    told: tuple[list[str], list[str]],
) -> None:
    """Say what was cut at the ends: a doubt if it is long and the person was in view."""
    time = recording.time
    first, stop = window
    notes, doubts = told
    lost = [
        f"{count} frames at the {end}"
        for count, end in ((first, "start"), (len(time) - stop, "end"))
        if count
    ]
    if not lost:
        return
    line = f"cut, because not every marker is seen there: {', '.join(lost)}"
    outside = np.concatenate([np.arange(first), np.arange(stop, len(time))])
    viewed = (~absent[outside]).mean(axis=1) >= IN_VIEW
    if viewed.sum() * _interval(time) > longest:
        doubts.append(f"{line}; {time[stop - 1] - time[first]:.2f} of {time[-1] - time[0]:.2f} s are left")
    else:
        notes.append(line)


def _interval(time: Array) -> float:
    """Mean sampling interval, s."""
    return float(time[-1] - time[0]) / max(len(time) - 1, 1)


def _listed(names: list[str]) -> str:
    """List names, shortened."""
    more = f" and {len(names) - LISTED} more" if len(names) > LISTED else ""
    return f"{', '.join(names[:LISTED])}{more}"
