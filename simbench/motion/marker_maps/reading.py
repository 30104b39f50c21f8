"""How a recording is read: the marker map whose frames fit the body, its unit and scale, and its sides."""

import re
from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import replace
from functools import partial
from typing import NamedTuple

import numpy as np

from simbench.errors import MotionError
from simbench.kinematics.arrays import Array
from simbench.motion.marker_maps.body_parts import (
    compute_arm_joints,
    compute_known_joints,
    compute_segment_frames,
    find_complete_arms,
)
from simbench.motion.marker_maps.body_size import BodySize, estimate_stature, find_body_size
from simbench.motion.marker_maps.evaluation import RecordedBody
from simbench.motion.marker_maps.fit import Misfit, find_misfits
from simbench.motion.marker_maps.library import describe_missing_names, find_aliases, list_fitting_maps
from simbench.motion.marker_maps.schema import MarkerMap
from simbench.motion.marker_maps.world import MAJORITY, find_backward_share
from simbench.motion.read_options import UNITS, ReadOptions
from simbench.motion.recordings import MarkerRecording, SkeletonRecording

Recording = MarkerRecording | SkeletonRecording
# Frames on which maps are compared: enough for every posture of a recording, however long it is.
MOST_FRAMES = 400
# What may be the side in a name: a word, or a letter at the beginning or the end of a word.
SIDE_WORD = re.compile(r"left|right|(?<![a-z])[lr]|[lr](?![a-z])", re.IGNORECASE)
OTHER_SIDE = {"left": "right", "right": "left", "l": "r", "r": "l"}


class GuessedMap(NamedTuple):
    """A marker map that was guessed for a recording."""

    name: str  # What it was guessed from, for the note that says which map was used.
    marker_map: MarkerMap
    # `notes`, `doubts`: how it was guessed, for the user; doubts are what may be wrong.
    notes: tuple[str, ...] = ()
    doubts: tuple[str, ...] = ()


class Reading(NamedTuple):
    """How a recording is read."""

    # The recording, with the names of its sides exchanged where they contradict the body.
    recording: Recording
    map_name: str  # Name of the marker map, or its path.
    marker_map: MarkerMap
    size: BodySize  # Unit and scale.
    misfits: tuple[Misfit, ...]  # Where the map contradicts the body.
    backward: float  # Fraction of the frames in which the body faces backward.
    # `notes`, `doubts`: what was found out or assumed, for the user; doubts are what may be wrong.
    notes: tuple[str, ...] = ()
    doubts: tuple[str, ...] = ()


Guess = Callable[[Recording], GuessedMap]


def find_reading(recording: Recording, options: ReadOptions, guess: Guess) -> Reading:
    """Find the marker map that fits the names and the geometry of a recording, its unit and its sides.

    Shipped maps whose names fit are tried first, those with the most names first, then the guess. The first
    one that no geometry contradicts is taken, else the one with the fewest contradictions, which are doubts.
    `recording`: the recording, without gaps; `options`: what the user declares; `guess`: function that
    guesses a marker map from a recording; it raises `MotionError` where there is none. Returns how the
    recording is read.
    """
    reading = _best_reading(recording, options, guess)
    if reading.backward > MAJORITY and not reading.marker_map.in_place:
        reading = _with_sides_exchanged(reading, options, guess)
    wrong = [misfit for misfit in reading.misfits if misfit.impossible or options.strict]
    if wrong and not reading.marker_map.in_place:
        raise MotionError(
            f"{recording.source}: read by the marker map {reading.map_name}, {wrong[0].text}; declare "
            "another map (--map); `simbench motion map` writes one to begin with"
        )
    texts = tuple(misfit.text for misfit in reading.misfits)
    return reading._replace(doubts=(*reading.doubts, *texts))


def _best_reading(recording: Recording, options: ReadOptions, guess: Guess) -> Reading:
    """Find the reading with the fewest contradictions."""
    best: Reading | None = None
    fault: MotionError | None = None
    rejected: list[str] = []
    few = thin_out(recording)
    for make in _candidates(recording, options, guess):
        try:
            candidate = make()
            reading = _examine(few, candidate, options)
        except MotionError as error:
            fault = fault or error
            continue
        if best is None or _badness(reading) < _badness(best):
            best = reading
        if not reading.misfits or candidate.marker_map.in_place:
            break
        rejected.append(f"marker map {candidate.name} fits by name, but {reading.misfits[0].text}")
    if best is None:
        kind = isinstance(recording, SkeletonRecording)
        missing = describe_missing_names(recording.names, options.marker_map, kind)
        raise fault or MotionError(f"{recording.source}: {missing}")
    notes = tuple(text for text in rejected if f"marker map {best.map_name} " not in text)
    return best._replace(recording=recording, notes=(*best.notes, *notes))


def _badness(reading: Reading) -> tuple[int, int]:
    """Order readings: first by what is impossible, then by what is doubtful."""
    return sum(misfit.impossible for misfit in reading.misfits), len(reading.misfits)


def _candidates(
    recording: Recording, options: ReadOptions, guess: Guess
) -> Iterator[Callable[[], GuessedMap]]:
    """Makers of the maps to try, in order."""
    skeleton = isinstance(recording, SkeletonRecording)
    fitting = list_fitting_maps(recording.names, options.marker_map, skeleton)
    # Strictly, the map that fits the names best is the only one, and nothing is guessed.
    for name, marker_map in fitting[:1] if options.strict else fitting:
        yield partial(GuessedMap, name, marker_map)
    if options.marker_map is None and not options.strict:
        yield partial(guess, recording)


def _examine(recording: Recording, candidate: GuessedMap, options: ReadOptions) -> Reading:
    """Read some frames by a map, and compare what it gives with the body."""
    marker_map = candidate.marker_map
    size = _find_size(recording, marker_map, options)
    body = make_body(recording, marker_map, size.unit)
    joints = compute_known_joints(body)
    segments = compute_segment_frames(body, joints, find_complete_arms(joints, recording.source))
    assumed = frozenset(name for name in segments if body.frame(name) is None)
    return Reading(
        recording,
        candidate.name,
        marker_map,
        size,
        find_misfits(joints, segments, assumed=assumed),
        find_backward_share(joints, find_facing(body)),
        candidate.notes,
        candidate.doubts,
    )


def _find_size(recording: Recording, marker_map: MarkerMap, options: ReadOptions) -> BodySize:
    """Find unit and scale of a recording read by a map."""

    def stature_in(unit: str) -> float:
        body = make_body(recording, marker_map, unit)
        return estimate_stature(compute_arm_joints(body) | compute_known_joints(body))

    declared = recording.unit or marker_map.unit
    if marker_map.in_place:
        unit = options.unit or declared or "m"
        return BodySize(unit, 1.0, stature_in(unit))
    return find_body_size(stature_in, declared, options, recording.source)


def make_body(recording: Recording, marker_map: MarkerMap, unit: str) -> RecordedBody:
    """Convert the points of a recording to metres and apply a marker map to them.

    `unit`: unit of the recording, a key of `UNITS`. Returns the body at its recorded size, in the file's
    axes.
    """
    index = {name: k for k, name in enumerate(recording.names)}
    for known, alias in find_aliases(recording.names, marker_map):
        index[known] = index[alias]
    rate = (len(recording.time) - 1) / (recording.time[-1] - recording.time[0])
    metres = UNITS[unit]
    rotations: dict[str, Array] = {}
    rest: dict[str, Array] = {}
    if isinstance(recording, SkeletonRecording):
        rotations = {name: recording.rotations[:, k] for name, k in index.items()}
        positions = np.array(recording.offsets)
        for k, parent in enumerate(recording.parents):
            if parent >= 0:
                positions[k] += positions[parent]
        rest = {name: metres * positions[k] for name, k in index.items()}
    else:
        metres /= UNITS[recording.unit]
    points = _Tracks(index, recording.positions, metres)
    return RecordedBody(marker_map, points, rate, recording.source, rotations, rest)


class _Tracks(Mapping[str, Array]):
    """Tracks (T, 3) of a recording's points, m, by name: converted from the file's unit when asked for.

    A map needs few of the points, and all of them at once would double the memory of a long recording.
    """

    def __init__(self, index: Mapping[str, int], positions: Array, metres: float) -> None:
        self._index, self._positions, self._metres = index, positions, metres

    def __getitem__(self, name: str) -> Array:
        return np.asarray(self._metres * self._positions[:, self._index[name]])

    def __iter__(self) -> Iterator[str]:
        return iter(self._index)

    def __len__(self) -> int:
        return len(self._index)


def find_facing(body: RecordedBody) -> list[Array]:
    """Collect the forward vectors of a body that its marker map names.

    Returns list of (T, 3) arrays: vectors in the file's axes, m.
    """
    ends = ((body.point(start), body.point(end)) for start, end in body.marker_map.facing)
    return [end - start for start, end in ends if start is not None and end is not None]


def thin_out(recording: Recording) -> Recording:
    """Select frames of a recording, evenly over time, on which maps are compared.

    Returns at most `MOST_FRAMES` of its frames.
    """
    step = -(-len(recording.time) // MOST_FRAMES)
    if step == 1:
        return recording
    part = slice(None, None, step)
    time, positions = recording.time[part], recording.positions[part]
    if isinstance(recording, SkeletonRecording):
        return replace(recording, time=time, positions=positions, rotations=recording.rotations[part])
    return replace(recording, time=time, positions=positions)


def _with_sides_exchanged(reading: Reading, options: ReadOptions, guess: Guess) -> Reading:
    """Read a recording whose sides contradict the body with their names exchanged."""
    recording, share = reading.recording, f"{reading.backward:.0%}"
    fault = MotionError(
        f"{recording.source}: the body faces backward in {share} of the frames: left and right are swapped, "
        "or the axes are left-handed (a mirrored body); they must be right-handed"
    )
    known = set(recording.names)
    pairs = {name: _mirrored_name(name, known) for name in known}
    pairs |= {left: right for left, right in _other_sides(reading.marker_map).items() if right in known}
    other = {name: mirrored for name, mirrored in pairs.items() if mirrored is not None}
    names = tuple(other.get(name, name) for name in recording.names)
    if options.strict or names == recording.names or set(names) != set(recording.names):
        raise fault
    exchanged = _best_reading(replace(recording, names=names), options, guess)
    if exchanged.backward > MAJORITY:
        raise fault
    doubt = (
        f"left and right are exchanged: by the names, the body would face backward in {share} of the frames; "
        "if the file's axes are left-handed instead, the motion is a mirror image of the person's"
    )
    return exchanged._replace(doubts=(doubt, *exchanged.doubts))


def _mirrored_name(name: str, known: Collection[str]) -> str | None:
    """Find the name, among the known ones, that differs in the side only."""
    for found in SIDE_WORD.finditer(name):
        other = OTHER_SIDE[found[0].lower()]
        other = (
            other.upper() if found[0].isupper() else other.capitalize() if found[0][0].isupper() else other
        )
        mirrored = name[: found.start()] + other + name[found.end() :]
        if mirrored in known:
            return mirrored
    return None


def _other_sides(marker_map: MarkerMap) -> Mapping[str, str]:
    """Names of points by that of the same point on the other side, from the map's entries for both sides."""
    pairs: dict[str, str] = {}
    for section in (marker_map.joints, marker_map.points, marker_map.frames, marker_map.segments):
        for name, recipes in section.items():
            side, _, part = name.partition("_")
            if side != "left" or f"right_{part}" not in section:
                continue
            lefts = [point for recipe in recipes for point in recipe.named_points()]
            rights = [point for recipe in section[f"right_{part}"] for point in recipe.named_points()]
            for left, right in zip(lefts, rights, strict=False):
                if left != right:
                    pairs |= {left: right, right: left}
    ends = {f"{left}_end": f"{right}_end" for left, right in pairs.items()}
    aliases = {
        alias: other
        for known, others in marker_map.aliases.items()
        if known in pairs
        for alias, other in zip(others, marker_map.aliases.get(pairs[known], []), strict=False)
    }
    return {**ends, **aliases, **pairs}
