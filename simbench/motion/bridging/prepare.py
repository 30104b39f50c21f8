"""Preparation of a recording of markers for its map: gaps are bridged by what the body's joints need."""

from collections.abc import Mapping
from dataclasses import replace

import numpy as np

from simbench.errors import MotionError
from simbench.kinematics.arrays import Array
from simbench.motion.bridging.estimate import estimate_missing_joints
from simbench.motion.bridging.limb import bridge_by_direction, bridge_by_limb_ends
from simbench.motion.bridging.parts import ARMS, PARTS, Choice, choose_parts, find_part_needs
from simbench.motion.bridging.rigid import Bridge, KnownSegments, bridge_by_segment
from simbench.motion.bridging.upright import turn_upright
from simbench.motion.gaps import fill_gaps, find_runs, interpolate
from simbench.motion.human_motion import Gap
from simbench.motion.marker_maps.guessing import guess_map
from simbench.motion.marker_maps.library import describe_missing_names, find_aliases, list_fitting_maps
from simbench.motion.marker_maps.schema import MarkerMap
from simbench.motion.marker_maps.spelling import find_persons
from simbench.motion.read_options import ReadOptions
from simbench.motion.recordings import MarkerRecording

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
