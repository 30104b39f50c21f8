"""Reader of BVH (Biovision hierarchy): a tree of joints with Euler angles, as animation programs exchange it.

The parser is written here because no maintained library reads what the programs write: pybvh refuses position
channels away from the root (Blender's exporter writes them on every joint), bvhio computes in single
precision and waits forever at the end of a truncated file. Position channels replace the joint's offset, as
in Blender. Frames are read in blocks, so that a long file needs no more memory than its poses.
"""

import re
from collections.abc import Iterator
from itertools import chain
from itertools import count as count_from
from pathlib import Path
from typing import NamedTuple, TextIO

import numpy as np
from numpy.typing import NDArray
from scipy.spatial.transform import Rotation

from simbench.errors import MotionError
from simbench.kinematics.arrays import Array
from simbench.motion.marker_maps.skeleton_tree import read_names
from simbench.motion.read_options import ReadOptions
from simbench.motion.readers.bvh_hierarchy import Node, parse_hierarchy
from simbench.motion.readers.bvh_motion import FrameRows, read_motion_header
from simbench.motion.readers.skeleton_kinematics import compute_world_poses
from simbench.motion.readers.text_table import LARGEST_NUMBER
from simbench.motion.recordings import RecordedPose, SkeletonRecording

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
_MOTION = re.compile(r"(?:^|\})\s*MOTION\b", re.IGNORECASE)
_COMMENT = ("#", "//")


class _Poses(NamedTuple):
    """Poses of the kept joints: positions (T, K, 3) and rotations (T, K, 3, 3)."""

    positions: Array
    rotations: Array


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
        with path.open(encoding=_encoding(path), errors="replace") as file:
            return _read(_bounded_lines(file, source), large, options, source)
    except (OSError, ValueError) as error:
        raise MotionError(f"{path}: cannot be read: {error}") from error


def _encoding(path: Path) -> str:
    """Find the encoding of a text file by its first bytes."""
    with path.open("rb") as file:
        return "utf-16" if file.read(2) in (b"\xff\xfe", b"\xfe\xff") else "utf-8-sig"


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
    skeleton = parse_hierarchy(header, source, options.strict)
    filled = (
        (number, text)
        for number, text in enumerate(file, start=len(header) + 1)
        if text.strip() and not text.lstrip().startswith(_COMMENT)
    )
    motion, ahead = read_motion_header(filled, len(header), options, source)
    nodes = skeleton.nodes
    columns = sum(len(node.channels or ()) for node in nodes)
    if columns == 0:
        raise MotionError(f"{source}: no joint has a channel; nothing moves in this file")
    rows = FrameRows(chain(ahead, filled), columns, options.strict, source)
    names = _names(nodes)
    kept = _kept_joints(nodes, names, skeleton.root, large)
    poses, at_rest = _read_poses(rows, nodes, kept, MAX_POSES if large else MAX_SMALL_POSES, source)
    count = len(poses.positions)
    notes = [*skeleton.notes, *motion.notes, *rows.notes]
    if motion.declared is not None and count != motion.declared:
        if options.strict:
            raise MotionError(
                f"{source}, line {motion.line}: {motion.declared} frames are declared, but {count} lines of "
                "numbers follow"
            )
        notes.append(f"{motion.declared} frames are declared, {count} are there and were read")
    if count * motion.step > LARGEST_NUMBER:
        raise MotionError(f"{source}: {count} frames of {motion.step:g} s each; no recording is that long")
    if large:
        notes.append(f"a large file: {len(kept)} of {len(nodes)} joints were kept, without fingers and face")
    start, note = _first_frame_of_motion(poses, at_rest)
    before = RecordedPose(poses.positions[0].copy(), poses.rotations[0].copy()) if start else None
    index = {joint: k for k, joint in enumerate(kept)}
    return SkeletonRecording(
        time=motion.step * np.arange(count - start, dtype=np.float64),
        names=tuple(names[joint] for joint in kept),
        parents=np.array([index.get(nodes[joint].parent, -1) for joint in kept], dtype=np.int64),
        offsets=np.array([nodes[joint].offset for joint in kept], dtype=np.float64),
        positions=poses.positions[start:],
        rotations=poses.rotations[start:],
        source=source,
        unit=options.unit,
        up=options.up,
        notes=(*notes, *note),
        doubts=motion.doubts,
        pose_before=before,
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


def _kept_joints(nodes: list[Node], names: tuple[str, ...], root: int, large: bool) -> list[int]:
    """Choose the joints of the skeleton that are kept: all, or of a large file those a motion needs."""
    inside = [False] * len(nodes)
    votes = read_names(names, [node.name is None for node in nodes]) if large else []
    for k, node in enumerate(nodes):
        inside[k] = k == root or (node.parent >= 0 and inside[node.parent])
        if inside[k] and large and node.parent >= 0:
            parent = votes[node.parent]
            # The first phalanges say how the palm is turned.
            inside[k] = not parent.finger and not (
                parent.helper and not parent.roles and votes[k].helper and nodes[node.parent].name is not None
            )
    return [k for k, keep in enumerate(inside) if keep]


def _read_poses(
    rows: FrameRows, nodes: list[Node], kept: list[int], most: int, source: str
) -> tuple[_Poses, tuple[float, float] | None]:
    """Read all frames; and how far the first one is from the rest pose in rotation and place."""
    needed = _with_ancestors(nodes, kept)
    offsets = np.array([node.offset for node in nodes], dtype=np.float64)
    index = {joint: k for k, joint in enumerate(needed)}
    parents = np.array([index.get(nodes[joint].parent, -1) for joint in needed], dtype=np.int64)
    places = [index[joint] for joint in kept]
    whole = len(places) == len(needed)
    positions, rotations = _Frames((len(kept), 3)), _Frames((len(kept), 3, 3))
    count = 0
    at_rest: tuple[float, float] | None = None
    for values in rows.blocks(max(1, BLOCK_POSES // len(needed))):
        count += len(values)
        if len(kept) * count > most:
            count += rows.count_rest()
            raise MotionError(
                f"{source}: {len(kept)} joints in {count} frames; at most {most} poses are read"
            )
        local_positions, local_rotations = _local_poses(nodes, needed, offsets, values)
        if at_rest is None:
            at_rest = (
                float(np.abs(local_rotations[0] - np.eye(3)).max(initial=0.0)),
                float(np.abs(local_positions[0, 1:] - offsets[needed[1:]]).max(initial=0.0)),
            )
        block = compute_world_poses(parents, local_positions, local_rotations)
        positions.append(block[0] if whole else block[0][:, places])
        rotations.append(block[1] if whole else block[1][:, places])
    return _Poses(positions.finish(), rotations.finish()), at_rest


class _Frames:
    """Frames that are appended in blocks; none is held twice, as it would be if blocks were joined."""

    def __init__(self, shape: tuple[int, ...]) -> None:
        self._values, self._count = np.empty((0, *shape)), 0

    def append(self, block: Array) -> None:
        """Append frames (B, ...)."""
        end = self._count + len(block)
        if end > len(self._values):
            # The system moves the pages of a large array, and not its content.
            self._resize(max(end, int(GROWTH * self._count)))
        self._values[self._count : end] = block
        self._count = end

    def finish(self) -> Array:
        """Return all frames (T, ...)."""
        self._resize(self._count)
        return self._values

    def _resize(self, count: int) -> None:
        """Make room for so many frames."""
        self._values.resize((count, *self._values.shape[1:]), refcheck=False)


def _with_ancestors(nodes: list[Node], kept: list[int]) -> list[int]:
    """Add the joints without which the poses of others cannot be computed."""
    needed = set(kept)
    for joint in kept:
        while nodes[joint].parent >= 0 and nodes[joint].parent not in needed:
            joint = nodes[joint].parent
            needed.add(joint)
    return sorted(needed)


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


def _first_frame_of_motion(poses: _Poses, at_rest: tuple[float, float] | None) -> tuple[int, tuple[str, ...]]:
    """Find the first frame of the motion, after a pose that was put before it, and say what was dropped."""
    positions: NDArray[np.float64] = poses.positions
    if len(positions) < 3 or at_rest is None:
        return 0, ()
    head = positions[: MOST_POSE_FRAMES + 2]
    steps = np.linalg.norm(np.diff(head, axis=0), axis=2).max(axis=1)
    jump = int(steps.argmax())
    if jump >= min(MOST_POSE_FRAMES, len(positions) - 2) or (
        jump and steps[:jump].max() > 0.01 * steps[jump]
    ):
        return 0, ()
    others = _largest_step(positions[jump + 1 :])
    if not steps[jump] > REST_POSE_JUMP * others:
        return 0, ()
    count = jump + 1
    frames = "first frame is" if count == 1 else f"first {count} frames are"
    if at_rest[0] < 1e-6 and at_rest[1] < 1e-5:
        return count, (f"the {frames} the rest pose, not motion: dropped",)
    size = np.ptp(head[0], axis=0).max()
    if steps[jump] > POSE_JUMP * size and others > 0.0:
        return count, (f"the {frames} a pose from which the motion jumps away: dropped",)
    return 0, ()


def _largest_step(positions: Array) -> float:
    """Farthest that any joint moves in one step, in the file's unit."""
    if len(positions) < 2:
        return 0.0
    size = 4096
    return max(
        float(np.linalg.norm(np.diff(positions[k : k + size + 1], axis=0), axis=2).max())
        for k in range(0, len(positions) - 1, size)
    )
