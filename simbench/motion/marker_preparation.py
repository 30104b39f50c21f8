"""Preparation of a recording of markers for its map: what the body's joints need is made whole."""

from collections.abc import Collection, Mapping
from contextlib import suppress
from dataclasses import replace
from itertools import chain

import numpy as np

from simbench.errors import MotionError
from simbench.kinematics.arrays import Array
from simbench.motion.human_motion import Gap
from simbench.motion.joint_estimates import estimate_missing_joints
from simbench.motion.marker_gaps import (
    Bridge,
    Mask,
    bridge_by_direction,
    bridge_by_limb_ends,
    bridge_by_segment,
    cut_recording,
    fill_gaps,
    find_runs,
    interpolate,
)
from simbench.motion.marker_maps.map_choice import guess_map
from simbench.motion.marker_maps.map_evaluation import RecordedBody
from simbench.motion.marker_maps.map_library import (
    describe_missing_names,
    find_aliases,
    find_needs,
    find_persons,
    list_fitting_maps,
)
from simbench.motion.marker_maps.map_schema import MarkerMap
from simbench.motion.marker_maps.marker_places import name_by_place
from simbench.motion.read_options import AXES, ReadOptions
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


def find_part_needs(
    marker_map: MarkerMap, recorded: Collection[str], part: Part, whole: bool
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
) -> tuple[dict[str, str], tuple[int, int], tuple[str, str] | None]:
    """Choose the parts of the body and the frames that are used.

    `usable` mapping of str to (T,) array of bool: for each recorded marker, in the map's spelling, the frames
    in which its place is known; `whole_arms`: whether an arm needs all its joints. Returns parts or joints
    that are recorded and not used, with the markers whose gaps are the reason; the first frame, and the one
    behind the last; and, if no arm is usable in two frames, an arm and the marker that is the reason. If the
    markers of no arm are recorded, nothing is left out.
    """
    everything = np.ones(len(next(iter(usable.values()))), dtype=bool)
    legs = {name: part for name, part in PARTS.items() if name.endswith("leg")}
    arms: dict[str, tuple[Mask, str]] = {}
    for limbs in (ARMS, legs):
        ways = (
            (name, _best_way(marker_map, usable, part, everything, whole_arms))
            for name, part in limbs.items()
        )
        arms = arms or {name: way for name, way in ways if way is not None}
    if not arms:
        # The map's conversion says which markers no arm can do without.
        return {}, (0, len(everything)), None
    lengths = {name: _length(mask) for name, (mask, _) in arms.items()}
    best = max(lengths, key=lambda name: lengths[name])
    mask, worst = arms[best]
    if lengths[best] < min(2, len(everything)):
        return {}, (0, 0), (best, worst)
    used = {best}
    for name, (own, _) in arms.items():
        if name != best and _length(mask & own) >= max(SHARE_OF_ARMS * lengths[best], 2):
            used.add(name)
            mask = mask & own
    for name, part in PARTS.items():
        if name.endswith("hand") and name.replace("hand", "arm") not in used:
            continue
        way = _best_way(marker_map, usable, part, mask, False)
        if way is not None and _length(mask & way[0]) >= SHARE_OF_PART * _length(mask):
            mask = mask & way[0]
    window = longest_window(mask)
    there = {name for name, mask in usable.items() if mask[slice(*window)].all()}
    left_out: dict[str, str] = {}
    for name, (joints, frames) in (*ARMS.items(), *PARTS.items()):
        targets: list[tuple[list[str], list[str]]] = [([joint], []) for joint in joints]
        targets += [([], [frame]) for frame in frames]
        given = [each for each in targets if not find_needs(marker_map, usable, *each).lacking]
        lost = [each for each in given if find_needs(marker_map, there, *each).lacking]
        if lost:
            lost_joints, lost_frames = ([*chain.from_iterable(each)] for each in zip(*lost, strict=True))
            whole = len(lost) == len(given)
            named = name if whole else ", ".join(target for each in lost for target in (*each[0], *each[1]))
            left_out[named] = ", ".join(find_needs(marker_map, there, lost_joints, lost_frames).lacking)
    return left_out, window, None


def _length(mask: Mask) -> int:
    """Count the frames of the longest stretch."""
    begin, end = longest_window(mask)
    return end - begin


def _best_way(
    marker_map: MarkerMap, usable: Mapping[str, Mask], part: Part, within: Mask, whole: bool
) -> tuple[Mask, str] | None:
    """Frames in which all markers for a part are known, and the marker that is known least.

    A marker that costs frames is left out if the map has another way that costs fewer.
    """
    best: tuple[Mask, str] | None = None
    names = set(usable)
    while needed := find_part_needs(marker_map, names, part, whole):
        mask = np.logical_and.reduce([usable[name] for name in needed])
        counts = {name: int((usable[name] & within).sum()) for name in sorted(needed)}
        least = min(counts, key=lambda name: counts[name])
        length = _length(mask & within)
        if best is None or length > 1.1 * _length(best[0] & within):
            best = mask, least
        if counts[least] == int(within.sum()) or length > SHARE_OF_PART * _length(within):
            break
        names.discard(least)
    return best


# Longest gap, s, that is bridged between the two ends of a limb, and by one end or by a spline alone. In a
# second a hand can reach somewhere and come back.
LIMB_LIMIT, SPLINE_LIMIT = 3.0, 1.0
# The person is in view when at least this fraction of the needed markers is seen.
IN_VIEW = 0.5
# At most this many markers are listed in a line.
LISTED = 12
# A trunk is upright along an axis when it is within 37 degrees of it (cosine) in this fraction of the frames.
ALIGNED_COSINE, MAJORITY = 0.8, 0.9
# Frames that are looked at for that.
MOST_FRAMES = 500


def prepare_markers(
    recording: MarkerRecording, options: ReadOptions
) -> tuple[MarkerRecording, tuple[Gap, ...]]:
    """Make a recording whole: bridge the gaps of needed markers, and leave out what cannot be used.

    Which markers are needed follows from the marker map: those of the arms, then of trunk, pelvis, legs and
    head. The others may be missing. A gap up to `options.longest_gap` is filled by a spline; a longer one in
    a needed marker by the other markers of its rigid segment, else by the limb between two markers that keep
    their distance (up to `LIMB_LIMIT`), else at constant distance from one or by a spline (up to
    `SPLINE_LIMIT`). What remains cuts the recording, or leaves out a part of the body. With `options.strict`,
    `fill_gaps` alone is applied. `recording`: marker tracks, with NaN where a marker was not seen; `options`:
    what the user declares. Returns `recording`: tracks without NaN, time from 0, with what was done as notes
    and doubts; `gaps`: the gaps that were filled, as samples of the returned recording. Raises MotionError no
    marker was ever seen, no map fits, or no arm is left: the message names the marker that is missing.
    """
    absent = np.asarray(np.isnan(recording.positions).any(axis=2))
    seen = np.asarray(~absent.all(axis=0))
    if options.strict or not seen.any() or len(recording.time) < 2:
        return fill_gaps(recording, options.longest_gap)
    notes, doubts = [], []
    if not seen.all():
        never = [name for name, known in zip(recording.names, seen, strict=True) if not known]
        notes.append(f"{len(never)} markers never seen ignored: {_list_names(never)}")
        recording = replace(
            recording,
            names=tuple(name for name, known in zip(recording.names, seen, strict=True) if known),
            positions=recording.positions[:, seen],
        )
    recording, hints = name_by_place(recording, options.marker_map)
    try:
        marker_map = _choose_map(recording, options)
    except MotionError as error:
        raise MotionError(f"{error}{hints}") from error
    persons = find_persons(recording.names)
    if persons:
        doubts.append(
            f"{len(persons)} persons are recorded ({', '.join(persons)}): only {persons[0]} is read"
        )
    spelled = dict(find_aliases(recording.names, marker_map))
    other = [f"{name} = {spelling}" for name, spelling in spelled.items() if name.lower() != spelling.lower()]
    if other:
        notes.append(f"names in the file of the map's markers: {_list_names(other)}")
    recording = replace(recording, notes=(*recording.notes, *notes), doubts=(*recording.doubts, *doubts))
    gaps: tuple[Gap, ...] = ()
    if np.isnan(recording.positions).any():
        recording, gaps = bridge_gaps(recording, marker_map, spelled, options)
    recording = estimate_missing_joints(recording, marker_map, spelled, options, hints)

    # Without a pelvis, the vertical axis is the one along which the trunk stands, unless the user declares
    # it; with one, the line from it to the shoulders decides when the person is placed in the world.
    trunk = None
    if options.up is None and not marker_map.in_place and len(recording.time) > 1:
        index = {name: k for k, name in enumerate(recording.names)}
        index |= {point: index[name] for point, name in spelled.items() if name in index}
        step = max(len(recording.time) // MOST_FRAMES, 1)
        points = {name: recording.positions[::step, k] for name, k in index.items()}
        body = RecordedBody(marker_map, points, 1.0, recording.source)
        if body.point("pelvis") is None and body.point("left_hip") is None:
            trunk = body.frame("trunk")
    if trunk is not None:
        shares = np.asarray((trunk[0][:, :, 2] > ALIGNED_COSINE).mean(axis=0))
        share, seeming, declared = shares.max(), AXES[int(shares.argmax())], marker_map.up or recording.up
        if share >= MAJORITY and seeming != declared:
            said = "no axis is declared" if declared is None else f"{declared} is the file's"
            shown = f"the trunk points along it in {share:.0%} of the frames"
            doubt = f"vertical axis {seeming}: {shown} ({said})"
            recording = replace(recording, up=seeming, doubts=(*recording.doubts, doubt))
    return recording, gaps


def _choose_map(recording: MarkerRecording, options: ReadOptions) -> MarkerMap:
    """Choose the fitting map by which an arm is complete, else the one that fits best; or guess one."""
    maps = [each for _, each in list_fitting_maps(recording.names, options.marker_map, skeleton=False)]
    if options.marker_map is None:
        with suppress(MotionError):
            maps.append(guess_map(recording).marker_map)
    if not maps:
        missing = describe_missing_names(recording.names, options.marker_map, skeleton=False)
        raise MotionError(f"{recording.source}: {missing}")
    for marker_map in maps:
        recorded = {*recording.names, *(known for known, _ in find_aliases(recording.names, marker_map))}
        if any(not find_needs(marker_map, recorded, *part).lacking for part in ARMS.values()):
            return marker_map
    return maps[0]


def bridge_gaps(
    recording: MarkerRecording, marker_map: MarkerMap, spelled: Mapping[str, str], options: ReadOptions
) -> tuple[MarkerRecording, tuple[Gap, ...]]:
    """Bridge the gaps of the markers that a map needs, and cut what cannot be bridged.

    `recording`: tracks of markers each of which is seen at some time; `spelled`: names in the recording of
    the map's points that have another name there; `options`: what the user declares. Returns `recording`:
    tracks without NaN, time from 0; `gaps`: the gaps that were filled, as samples of the returned recording.
    Raises MotionError no arm is left: the message names the marker that is missing, where, and how long.
    """
    time, names, longest = recording.time, recording.names, options.longest_gap
    interval = float(time[-1] - time[0]) / max(len(time) - 1, 1)
    index = {name: k for k, name in enumerate(names)}
    columns = {**index, **{point: index[name] for point, name in spelled.items()}}
    absent = np.asarray(np.isnan(recording.positions).any(axis=2))
    positions = np.where(absent[..., None], np.nan, recording.positions)
    parts = (*ARMS.values(), *PARTS.values())
    needed = set().union(*(find_part_needs(marker_map, columns, part, False) or () for part in parts))
    wanted = sorted({columns[name] for name in needed})
    notes, doubts = [*recording.notes], [*recording.doubts]
    runs = find_runs(absent)
    # Short gaps that have samples on both sides are filled by each marker's spline.
    short: dict[int, list[tuple[int, int]]] = {}
    for marker, first, last in runs:
        inside = first > 0 and last < len(time) - 1
        if inside and (last - first + 1) * interval <= longest * (1 + 1e-6):
            short.setdefault(marker, []).append((first, last))
    for marker, stretches in short.items():
        frames = np.concatenate([np.arange(first, last + 1) for first, last in stretches])
        positions[frames, marker] = interpolate(time, positions[:, marker], frames)
    by_segment, by_limb, alone = _bridge_long(positions, recording, [run for run in runs if run[0] in wanted])
    if by_segment:
        notes.append(f"gaps bridged by other markers of the same rigid segment: {_list_names(by_segment)}")
    doubts += [f"gaps bridged between the ends of the limb: {_list_names(by_limb)}"] if by_limb else []
    doubts += [f"gaps bridged by interpolation: {_list_names(alone)}"] if alone else []
    usable = {name: ~np.isnan(positions[:, column, 0]) for name, column in columns.items()}
    left_out, (first, stop), refusal = choose_parts(marker_map, usable, not options.estimate)
    if refusal is not None:
        part, marker = refusal[0], columns[refusal[1]]
        _, first, last = max((run for run in runs if run[0] == marker), key=lambda run: run[2] - run[1])
        raise MotionError(
            f"{recording.source}: no arm can be used: the {part} needs marker {names[marker]}, which is not "
            f"seen from frame {first} ({time[first]:.3f} s) to frame {last} ({time[last]:.3f} s), "
            f"{(last - first + 1) * interval:.3g} s, and no other markers bridge it"
        )
    doubts += [f"{part}: left out, for {marker} is not seen long enough" for part, marker in left_out.items()]
    ends = ((first, "start"), (len(time) - stop, "end"))
    if lost := ", ".join(f"{count} frames at the {end}" for count, end in ends if count):
        line = f"cut, because not every marker is seen there: {lost}"
        outside = np.concatenate([np.arange(first), np.arange(stop, len(time))])
        # A long cut while the person was in view is a doubt.
        viewed = (~absent[outside][:, wanted]).mean(axis=1) >= IN_VIEW
        if viewed.sum() * interval > longest:
            doubts.append(
                f"{line}; {time[stop - 1] - time[first]:.2f} of {time[-1] - time[0]:.2f} s are left"
            )
        else:
            notes.append(line)
    kept = np.asarray(~np.isnan(positions[first:stop, :, 0]).any(axis=0))
    dropped = [name for k, name in enumerate(names) if not kept[k]]
    if dropped:
        notes.append(
            f"{len(dropped)} markers with gaps that no used joint needs ignored: {_list_names(dropped)}"
        )
    left = {k: name for k, name in enumerate(names) if kept[k]}
    return cut_recording(recording, positions[first:stop, kept], left, runs, first, notes, doubts)


def _bridge_long(
    positions: Array, recording: MarkerRecording, runs: list[tuple[int, int, int]]
) -> tuple[list[str], list[str], list[str]]:
    """Bridge the long gaps of needed markers, in place; say which by segment, limb and interpolation."""
    time, names = recording.time, recording.names
    interval = float(time[-1] - time[0]) / max(len(time) - 1, 1)
    segment: dict[int, list[tuple[float, Bridge]]] = {}
    limb: dict[int, list[tuple[float, Bridge]]] = {}
    alone: dict[int, list[float]] = {}

    def open_runs() -> list[tuple[int, int, int]]:
        return [run for run in runs if np.isnan(positions[run[1], run[0], 0])]

    distances: dict[int, tuple[Array, Array]] = {}
    fits: dict[tuple[int, ...], tuple[float, Array] | None] = {}
    # A marker that was bridged helps to bridge another one.
    for marker, first, last in (run for _ in range(2) for run in open_runs()):
        bridge = bridge_by_segment(positions, marker, first, last, distances, fits)
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
        elif length <= SPLINE_LIMIT:
            bridge = bridge_by_direction(positions, time, marker, first, last)
            frames = np.arange(first, last + 1)
            positions[frames, marker] = (
                interpolate(time, positions[:, marker], frames) if bridge is None else bridge.track
            )
            alone.setdefault(marker, []).append(length)
    by_segment, by_limb = (
        [
            f"{names[marker]} up to {max(length for length, _ in each):.3g} s by "
            f"{', '.join(names[mate] for mate in each[0][1].mates)} "
            f"({1000 * max(bridge.residual for _, bridge in each):.0f} mm)"
            for marker, each in found.items()
        ]
        for found in (segment, limb)
    )
    return by_segment, by_limb, [f"{names[k]} up to {max(each):.3g} s" for k, each in alone.items()]


def _list_names(names: list[str]) -> str:
    """List names, shortened."""
    more = f" and {len(names) - LISTED} more" if len(names) > LISTED else ""
    return f"{', '.join(names[:LISTED])}{more}"
