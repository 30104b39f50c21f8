"""Reader of BVH (Biovision hierarchy): a tree of joints with Euler angles, as animation programs exchange it.

The parser is written here because no maintained library reads what the programs write: pybvh refuses position
channels away from the root (Blender's exporter writes them on every joint), bvhio computes in single
precision and waits forever at the end of a truncated file. Position channels replace the joint's offset, as
in Blender. Frames are read in blocks, so that a long file needs no more memory than its poses.
"""

import re
from collections.abc import Iterator
from itertools import chain, islice
from itertools import count as count_from
from pathlib import Path
from typing import TextIO

import numpy as np
from numpy.typing import NDArray
from scipy.spatial.transform import Rotation

from simbench.errors import MotionError
from simbench.files.text import parse_finite_number
from simbench.kinematics.arrays import Array
from simbench.motion.marker_maps.skeleton_tree import read_names
from simbench.motion.read_options import ReadOptions
from simbench.motion.readers.bvh_hierarchy import Node, parse_hierarchy
from simbench.motion.readers.marker_tables import LARGEST_NUMBER, quote, read_numbers
from simbench.motion.recordings import RecordedPose, SkeletonRecording, compute_world_poses

# Most poses that are kept: an hour at 120 Hz of a body with fingers whose names say nothing, three gigabytes.
MAX_POSES = 30_000_000
# Of a file of more bytes than this (about three minutes with fingers at 120 Hz), only the joints are kept
# that a person's motion needs: no phalanges beyond the first, no face.
LARGE_FILE = 40_000_000
# Most poses of a file that is not large. Three numbers of a pose take at least six bytes, so only joints that
# nothing moves can make more of it.
MAX_SMALL_POSES = 6_000_000
# So many poses are computed at once, a hundred megabytes.
BLOCK_POSES = 1_000_000
# Room is made for this many times the frames that are there already.
GROWTH = 1.1
# Most characters of a line, and most lines before the frames: ten thousand joints have less. Without these
# limits a file that is no BVH file is held in memory as a whole.
LONGEST_LINE, LONGEST_HEADER = 10_000_000, 200_000
# A pose that was put before the motion: the joints move this many times farther from it than in any other
# step; and, if it is not the rest pose, by this part of the skeleton's size. At most so many frames hold it.
REST_POSE_JUMP, POSE_JUMP, MOST_POSE_FRAMES = 5.0, 0.3, 30
# So many numbers, or characters, are read at once: a few megabytes of text.
BLOCK_NUMBERS, BLOCK_CHARACTERS = 500_000, 20_000_000
# Frames of half a second or longer are rather frames per second in the wrong place.
LONGEST_FRAME = 0.5
_MOTION = re.compile(r"(?:^|\})\s*MOTION\b", re.IGNORECASE)
_COMMENT = ("#", "//")
_FRAMES = re.compile(r"frames\s*[:=]?\s*(.*)", re.IGNORECASE)
_FRAME_TIME = re.compile(r"frame\s*time\s*[:=]?\s*(.*)", re.IGNORECASE)
NumberedLine = tuple[int, str]


def read_bvh(path: Path, options: ReadOptions) -> SkeletonRecording:
    """Read a BVH file.

    What programs write against the format is read and noted: a wrong number of frames, a truncated last line,
    columns at the end that no channel has, joints of the same name, a second skeleton, a missing brace. With
    `options.strict` it is refused. `options`: what the user declares. The format knows neither unit nor
    vertical axis, so they are the ones declared here; `fps` overrules the file's frame time. Returns joints
    in the file's order, with positions in the file's unit; an end site is named after its joint,
    `LeftHand_end`. A pose that some converters put before the first frame is dropped, with a note.
    """
    source = str(path)
    try:
        large = path.stat().st_size > LARGE_FILE
        with path.open("rb") as start:
            encoding = "utf-16" if start.read(2) in (b"\xff\xfe", b"\xfe\xff") else "utf-8-sig"
        with path.open(encoding=encoding, errors="replace") as file:
            return _read(_bounded_lines(file, source), large, options, source)
    except (OSError, ValueError) as error:
        raise MotionError(f"{path}: cannot be read: {error}") from error


def _bounded_lines(file: TextIO, source: str) -> Iterator[str]:
    """Read the lines of a file, none of which may be too long to be one."""
    for number in count_from(1):
        line = file.readline(LONGEST_LINE)
        if len(line) == LONGEST_LINE and not line.endswith("\n"):
            raise MotionError(f"{source}, line {number}: longer than {LONGEST_LINE} characters; no BVH file")
        if not line:
            return
        yield line


def _read(file: Iterator[str], large: bool, options: ReadOptions, source: str) -> SkeletonRecording:
    """Read skeleton and frames from the lines of a file."""
    header, words = [], 0
    for line in file:
        header.append("" if line.lstrip().startswith(_COMMENT) else line.rstrip("\r\n"))
        if _MOTION.search(line):
            break
        if len(header) >= LONGEST_HEADER or (words := words + len(line)) > LONGEST_LINE:
            raise MotionError(f"{source}, line {len(header)}: no MOTION up to here; it is no BVH file")
    nodes, root, notes = parse_hierarchy(header, source, options.strict)
    filled = (
        (number, text)
        for number, text in enumerate(file, start=len(header) + 1)
        if text.strip() and not text.lstrip().startswith(_COMMENT)
    )
    motion = _MotionPart(filled, options, source, notes)
    declared, step, where = motion.read_header(len(header))
    columns = sum(len(node.channels or ()) for node in nodes)
    if columns == 0:
        raise MotionError(f"{source}: no joint has a channel; nothing moves in this file")
    names = _names(nodes)
    # Of a large file only the joints are kept that a motion needs.
    votes = read_names(names, [node.name is None for node in nodes]) if large else []
    inside = [False] * len(nodes)
    for k, node in enumerate(nodes):
        inside[k] = k == root or (node.parent >= 0 and inside[node.parent])
        if inside[k] and large and node.parent >= 0:
            parent = votes[node.parent]
            # The first phalanges say how the palm is turned.
            inside[k] = not parent.finger and not (
                parent.helper and not parent.roles and votes[k].helper and nodes[node.parent].name is not None
            )
    kept = [k for k, keep in enumerate(inside) if keep]
    most = MAX_POSES if large else MAX_SMALL_POSES
    positions, rotations, at_rest = motion.read_poses(nodes, kept, most)
    count = len(positions)
    if declared is not None and count != declared:
        if options.strict:
            raise MotionError(
                f"{source}, line {where}: {declared} frames are declared, but {count} lines of numbers follow"
            )
        notes.append(f"{declared} frames are declared, {count} are there and were read")
    if count * step > LARGEST_NUMBER:
        raise MotionError(f"{source}: {count} frames of {step:g} s each; no recording is that long")
    if large:
        notes.append(f"a large file: {len(kept)} of {len(nodes)} joints were kept, without fingers and face")
    start, note = _first_frame_of_motion(positions, at_rest)
    index = {joint: k for k, joint in enumerate(kept)}
    rate = f"if that is a rate, declare it (--fps {step:g})"
    return SkeletonRecording(
        time=step * np.arange(count - start, dtype=np.float64),
        names=tuple(names[joint] for joint in kept),
        parents=np.array([index.get(nodes[joint].parent, -1) for joint in kept], dtype=np.int64),
        offsets=np.array([nodes[joint].offset for joint in kept], dtype=np.float64),
        positions=positions[start:],
        rotations=rotations[start:],
        source=source,
        unit=options.unit,
        up=options.up,
        notes=(*notes, *note),
        doubts=(f"a frame lasts {step:g} s by the file: {rate}",) if step >= LONGEST_FRAME else (),
        pose_before=RecordedPose(positions[0].copy(), rotations[0].copy()) if start else None,
    )


def _names(nodes: list[Node]) -> tuple[str, ...]:
    """Names of all nodes; an end site is named after its joint, with a name different from all others."""
    names: list[str] = []
    taken = {node.name for node in nodes}
    ends: dict[str, int] = {}
    for node in nodes:
        name = node.name
        while name is None:
            joint = names[node.parent]
            ends[joint] = ends.get(joint, 0) + 1
            name = f"{joint}_end{ends[joint] if ends[joint] > 1 else ''}"
            name = None if name in taken else name
        taken.add(name)
        names.append(name)
    return tuple(names)


class _MotionPart:
    """The part of a file that follows MOTION: the frame time, and rows of numbers.

    `lines`: numbers and texts of the lines that hold something; `notes`: takes what was left out or assumed.
    """

    def __init__(
        self, lines: Iterator[NumberedLine], options: ReadOptions, source: str, notes: list[str]
    ) -> None:
        self.lines, self.options, self.source, self.notes = lines, options, source, notes
        self.strict = options.strict

    def read_header(self, after: int) -> tuple[int | None, float, int]:
        """Read the number of frames and their duration.

        `after`: number of the line with MOTION. `fps` of the options overrules the file; with `strict`, both
        lines must be as the format says. Returns the declared number of frames, None if the file does not say
        one that can be; the duration of a frame, s; and the number of the line with it.
        """
        ahead = list(islice(self.lines, 2))
        number, text = ahead[0] if ahead else (after, "")
        where, text = f"{self.source}, line {number}", text.strip()
        count = None
        match = _FRAMES.fullmatch(text)
        if match is None:
            if self.options.strict or _FRAME_TIME.fullmatch(text) is None:
                raise MotionError(f"{where}: {quote(text)}; 'Frames:' and a positive number must follow here")
            self.notes.append("the number of frames is not declared: those that are there were read")
        else:
            ahead, value = ahead[1:], parse_finite_number(match[1])
            if value is not None and 1.0 <= value <= LARGEST_NUMBER and value == int(value):
                count = int(value)
            elif self.options.strict:
                raise MotionError(
                    f"{where}: {value:g} frames; their count must be a whole number"
                    if value is not None and value > 0.0
                    else f"{where}: Frames {quote(match[1].strip())}; it must be a positive number"
                )
            else:
                self.notes.append(f"Frames {quote(match[1].strip())}: the frames that are there were read")
        number, text = ahead[0] if ahead else (number, "")
        where, text = f"{self.source}, line {number}", text.strip()
        match = _FRAME_TIME.fullmatch(text)
        if match is None and self.options.fps is None:
            raise MotionError(
                f"{where}: {quote(text)}; 'Frame Time:' and a positive number must follow here, or declare "
                "the rate (--fps)"
            )
        said = "" if match is None else match[1].strip()
        declared = parse_finite_number(said)
        ahead = ahead if match is None else ahead[1:]
        step = (
            declared if declared is not None and 1.0 / LARGEST_NUMBER <= declared <= LARGEST_NUMBER else None
        )
        if self.options.fps is None and step is None:
            raise MotionError(
                f"{where}: Frame Time {quote(said)}; it must be a positive number, or declare the rate "
                "(--fps)"
            )
        if self.options.fps is not None:
            if step is None or abs(1.0 / self.options.fps - step) > 1e-3 / self.options.fps:
                said = "no frame time" if match is None else f"a frame time of {said[:20]} s"
                self.notes.append(f"{self.options.fps:g} Hz, as declared; the file says {said}")
            step = 1.0 / self.options.fps
        # Of the two lines some belong to the frames already.
        self.lines = chain(ahead, self.lines)
        return count, step or 0.0, number

    def read_blocks(self, columns: int, most: int) -> Iterator[NDArray[np.float64]]:
        """Read rows of numbers in blocks.

        `columns`: numbers of a row; `most`: most rows at a time. A truncated last line and columns at the end
        that no channel has are refused with `strict`. Yields (B, columns): the next rows. Raises MotionError
        A row that is not as long as the others, or holds something else than finite numbers.
        """
        spare = -1
        while True:
            block, characters = [], 0
            for line in islice(self.lines, max(1, min(most, BLOCK_NUMBERS // columns))):
                block.append(line)
                characters += len(line[1])
                if characters > BLOCK_CHARACTERS:
                    break
            if not block:
                return
            texts = [text for _, text in block]
            if spare < 0:
                spare = 0 if self.strict else max(0, len(texts[0].split()) - columns)
            width = columns + spare
            try:
                values = np.loadtxt(texts, dtype=np.float64, comments=None, ndmin=2)
            except ValueError:
                values = np.empty((0, 0))
            # False for what is no number.
            if values.shape != (len(texts), width) or not bool((np.abs(values) <= LARGEST_NUMBER).all()):
                words, number = len(texts[-1].split()), block[-1][0]
                if not self.strict and words < width and len(block) > 1 and next(self.lines, None) is None:
                    self.notes.append(
                        f"line {number}, the last one, is truncated ({words} of {width} values): left out"
                    )
                    block = block[:-1]
                # The parser whose errors name the line of the file.
                numbers = [number for number, _ in block]
                values = read_numbers(texts[: len(block)], 0, width, self.source, numbers=numbers)
            if spare:
                what = "numbers that belong to no channel" if values[:, columns:].any() else "zeros"
                note = f"{spare} column(s) at the end of each row were left out: {what}"
                if note not in self.notes:
                    self.notes.append(note)
            if len(values):
                yield values[:, :columns]

    def read_poses(
        self, nodes: list[Node], kept: list[int], most: int
    ) -> tuple[Array, Array, tuple[float, float] | None]:
        """Read positions (T, K, 3) and rotations (T, K, 3, 3) of the kept joints.

        The third value is how far the first frame is from the rest pose in rotation and place.
        """
        # The poses of others cannot be computed without the joints above them.
        chosen = set(kept)
        for joint in kept:
            while nodes[joint].parent >= 0 and nodes[joint].parent not in chosen:
                joint = nodes[joint].parent
                chosen.add(joint)
        needed = sorted(chosen)
        offsets = np.array([node.offset for node in nodes], dtype=np.float64)
        index = {joint: k for k, joint in enumerate(needed)}
        parents = np.array([index.get(nodes[joint].parent, -1) for joint in needed], dtype=np.int64)
        places: slice | list[int] = (
            slice(None) if len(kept) == len(needed) else [index[joint] for joint in kept]
        )
        positions, rotations = _Frames((len(kept), 3)), _Frames((len(kept), 3, 3))
        count = 0
        at_rest: tuple[float, float] | None = None
        columns = sum(len(node.channels or ()) for node in nodes)
        for values in self.read_blocks(columns, max(1, BLOCK_POSES // len(needed))):
            count += len(values)
            if len(kept) * count > most:
                count += sum(1 for _ in self.lines)
                raise MotionError(
                    f"{self.source}: {len(kept)} joints in {count} frames; at most {most} poses are read"
                )
            local_positions, local_rotations = _local_poses(nodes, needed, offsets, values)
            if at_rest is None:
                at_rest = (
                    float(np.abs(local_rotations[0] - np.eye(3)).max(initial=0.0)),
                    float(np.abs(local_positions[0, 1:] - offsets[needed[1:]]).max(initial=0.0)),
                )
            block = compute_world_poses(parents, local_positions, local_rotations)
            positions.append(block[0][:, places])
            rotations.append(block[1][:, places])
        return positions.finish(), rotations.finish(), at_rest


class _Frames:
    """Frames that are appended in blocks; none is held twice, as it would be if blocks were joined."""

    def __init__(self, shape: tuple[int, ...]) -> None:
        self._values, self._count = np.empty((0, *shape)), 0

    def append(self, block: Array) -> None:
        """Append frames (B, ...)."""
        end = self._count + len(block)
        if end > len(self._values):
            # The system moves the pages of a large array, and not its content.
            room = max(end, int(GROWTH * self._count))
            self._values.resize((room, *self._values.shape[1:]), refcheck=False)
        self._values[self._count : end] = block
        self._count = end

    def finish(self) -> Array:
        """Return all frames (T, ...)."""
        self._values.resize((self._count, *self._values.shape[1:]), refcheck=False)
        return self._values


def _local_poses(nodes: list[Node], needed: list[int], offsets: Array, values: Array) -> tuple[Array, Array]:
    """Positions (T, K, 3) and rotations (T, K, 3, 3) of the needed joints in their parents' axes."""
    positions = np.tile(offsets[needed], (len(values), 1, 1))
    rotations = np.tile(np.eye(3), (len(values), len(needed), 1, 1))
    index = {joint: k for k, joint in enumerate(needed)}
    column = 0
    for number, node in enumerate(nodes):
        channels = node.channels or []
        columns = values[:, column : column + len(channels)]
        column += len(channels)
        if number not in index:
            continue
        joint = index[number]
        order = "".join(axis for kind, axis in channels if kind == "rotation")
        for k, (kind, axis) in enumerate(channels):
            if kind == "position":
                positions[:, joint, "XYZ".index(axis)] = columns[:, k]
        if order:
            angles = columns[:, [k for k, (kind, _) in enumerate(channels) if kind == "rotation"]]
            rotations[:, joint] = Rotation.from_euler(order, angles, degrees=True).as_matrix()
    return positions, rotations


def _first_frame_of_motion(
    positions: Array, at_rest: tuple[float, float] | None
) -> tuple[int, tuple[str, ...]]:
    """Find the first frame of the motion, after a pose that was put before it, and say what was dropped."""
    if len(positions) < 3 or at_rest is None:
        return 0, ()
    head = positions[: MOST_POSE_FRAMES + 2]
    steps = np.linalg.norm(np.diff(head, axis=0), axis=2).max(axis=1)
    jump = int(steps.argmax())
    if jump >= min(MOST_POSE_FRAMES, len(positions) - 2) or (
        jump and steps[:jump].max() > 0.01 * steps[jump]
    ):
        return 0, ()
    # Farthest that any joint moves in one step of the motion, in blocks that stay small.
    count, size = jump + 1, 4096
    others = 0.0
    for k in range(count, len(positions) - 1, size):
        others = max(
            others, float(np.linalg.norm(np.diff(positions[k : k + size + 1], axis=0), axis=2).max())
        )
    if not steps[jump] > REST_POSE_JUMP * others:
        return 0, ()
    frames = "first frame is" if count == 1 else f"first {count} frames are"
    if at_rest[0] < 1e-6 and at_rest[1] < 1e-5:
        return count, (f"the {frames} the rest pose, not motion: dropped",)
    size_of_body = np.ptp(head[0], axis=0).max()
    if steps[jump] > POSE_JUMP * size_of_body and others > 0.0:
        return count, (f"the {frames} a pose from which the motion jumps away: dropped",)
    return 0, ()
