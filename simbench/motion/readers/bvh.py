"""Reader of BVH (Biovision hierarchy): a tree of joints with Euler angles, as animation programs exchange it.

The parser is written here because no maintained library reads what the programs write: pybvh refuses position
channels away from the root (Blender's exporter writes them on every joint), bvhio computes in single
precision and waits forever at the end of a truncated file. Position channels replace the joint's offset, as
in Blender.
"""

from pathlib import Path

import numpy as np
from scipy.spatial.transform import Rotation

from simbench.errors import MotionError
from simbench.files.documents.number_text import parse_finite_number
from simbench.kinematics.arrays import Array
from simbench.motion.read_options import ReadOptions
from simbench.motion.readers.bvh_hierarchy import Node, parse_hierarchy
from simbench.motion.readers.skeleton_kinematics import compute_world_poses
from simbench.motion.readers.text_table import LARGEST_NUMBER, quote, read_lines, read_numbers
from simbench.motion.recordings import SkeletonRecording

# Most poses that are read: two hours of a body with fingers at 30 Hz, two gigabytes of poses.
MAX_POSES = 20_000_000
# A rest pose that was put before the motion: the joints move this many times farther from it than in any
# other step.
REST_POSE_JUMP = 5.0


def read_bvh(path: Path, options: ReadOptions) -> SkeletonRecording:
    """Read a BVH file.

    Parameters
    ----------
    path : pathlib.Path
        The file.
    options : ReadOptions
        What the user declares. The format knows neither unit nor vertical axis, so they are the ones declared
        here.

    Returns
    -------
    SkeletonRecording
        Joints in the file's order, with positions in the file's unit; an end site is named after its joint,
        `LeftHand_end`. A rest pose that some converters put before the first frame is dropped, with a note.

    Raises
    ------
    MotionError
        The file is not a BVH file of one skeleton; the message names the line.
    """
    source = str(path)
    lines = read_lines(path)
    nodes, motion = parse_hierarchy(lines, source)
    count, step, first = _motion_header(lines, motion, source)
    channels = sum(len(node.channels or ()) for node in nodes)
    if channels == 0:
        raise MotionError(f"{source}: no joint has a channel; nothing moves in this file")
    values = read_numbers(lines, first, channels, source)
    if len(values) != count:
        raise MotionError(
            f"{source}, line {first}: {count} frames are declared, but {len(values)} lines of numbers follow"
        )
    if len(nodes) * len(values) > MAX_POSES:
        raise MotionError(
            f"{source}: {len(nodes)} joints in {len(values)} frames; at most {MAX_POSES} poses are read"
        )
    if len(values) * step > LARGEST_NUMBER:
        raise MotionError(f"{source}: {len(values)} frames of {step:g} s each; no recording is that long")
    parents = np.array([node.parent for node in nodes], dtype=np.int64)
    offsets = np.array([node.offset for node in nodes], dtype=np.float64)
    local_positions, local_rotations = _local_poses(nodes, offsets, values)
    positions, rotations = compute_world_poses(parents, local_positions, local_rotations)
    start = int(_starts_with_rest_pose(offsets, local_positions, local_rotations, positions))
    return SkeletonRecording(
        time=step * np.arange(len(values) - start, dtype=np.float64),
        names=_names(nodes),
        parents=parents,
        offsets=offsets,
        positions=positions[start:],
        rotations=rotations[start:],
        source=source,
        unit=options.unit,
        up=options.up,
        notes=("the first frame is the rest pose, not motion: dropped",) if start else (),
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


def _motion_header(lines: list[str], motion: int, source: str) -> tuple[int, float, int]:
    """Read the number of frames, the duration of one, s, and the index of the first line after both."""
    filled = (k for k in range(motion + 1, len(lines)) if lines[k].strip())
    last = len(lines) - 1
    k = next(filled, last)
    count = _labelled_number(lines[k], "Frames", f"{source}, line {k + 1}")
    if count != int(count):
        raise MotionError(f"{source}, line {k + 1}: {count:g} frames; their count must be a whole number")
    k = next(filled, last)
    return int(count), _labelled_number(lines[k], "Frame Time", f"{source}, line {k + 1}"), k + 1


def _labelled_number(line: str, label: str, where: str) -> float:
    """Read a positive number after its label and a colon."""
    found, colon, text = line.partition(":")
    if not colon or found.lower().split() != label.lower().split():
        raise MotionError(
            f"{where}: {quote(line.strip())}; '{label}:' and a positive number must follow here"
        )
    value = parse_finite_number(text)
    if value is None or not 1.0 / LARGEST_NUMBER <= value <= LARGEST_NUMBER:
        raise MotionError(f"{where}: {label} {quote(text.strip())}; it must be a positive number")
    return value


def _local_poses(nodes: list[Node], offsets: Array, values: Array) -> tuple[Array, Array]:
    """Positions (T, J, 3) and rotations (T, J, 3, 3) of the joints in their parents' axes."""
    positions = np.tile(offsets, (len(values), 1, 1))
    rotations = np.tile(np.eye(3), (len(values), len(nodes), 1, 1))
    column = 0
    for joint, node in enumerate(nodes):
        channels = node.channels or []
        columns = values[:, column : column + len(channels)]
        column += len(channels)
        order = "".join(axis for kind, axis in channels if kind == "rotation")
        for k, (kind, axis) in enumerate(channels):
            if kind == "position":
                positions[:, joint, "XYZ".index(axis)] = columns[:, k]
        if order:
            angles = columns[:, [k for k, (kind, _) in enumerate(channels) if kind == "rotation"]]
            rotations[:, joint] = Rotation.from_euler(order, angles, degrees=True).as_matrix()
    return positions, rotations


def _starts_with_rest_pose(
    offsets: Array, local_positions: Array, local_rotations: Array, positions: Array
) -> bool:
    """Tell whether the first frame is the rest pose and the motion begins with a jump from it."""
    if len(positions) < 3:
        return False
    at_rest = np.allclose(local_rotations[0], np.eye(3), atol=1e-6) and np.allclose(
        local_positions[0, 1:], offsets[1:]
    )
    steps = np.linalg.norm(np.diff(positions, axis=0), axis=2).max(axis=1)
    return bool(at_rest and steps[0] > REST_POSE_JUMP * steps[1:].max())
