"""Writer of BVH files: a recording as a skeleton that animation programs open.

Positions are in centimetres; x is forward, y up, z to the right, as the ISB recommends. Recorded joint
centres move relative to each other with the skin, so every node has three position channels and three
rotation channels, and nothing is lost. A node with the name of a joint has its position and the orientation
of the segment that begins there; a node with the name of a segment has the pose of its marker frame
(`pelvis_segment` where a joint has the segment's name). In the rest pose all rotations are zero: upright,
arms forward.
"""

from pathlib import Path
from typing import NamedTuple

import numpy as np

from simbench.errors import MotionError
from simbench.kinematics.arrays import Array
from simbench.motion.anatomy import transform
from simbench.motion.human_motion import HumanMotion
from simbench.robot.sides import SIDES

CENTIMETRES = 100.0
# Rows: axes x, y, z of the file (forward, up, right) in those of the world frame (forward, left, up).
Y_UP = np.array([[1.0, 0.0, 0.0], [0.0, 0.0, 1.0], [0.0, -1.0, 0.0]])
# Root that does not move, for a recording without a pelvis.
WORLD = "world"
# Node, parents first: its parent, and the segment that begins at the node.
TREE: dict[str, tuple[str, str]] = {
    "pelvis": (WORLD, "pelvis"),
    "trunk": ("pelvis", "trunk"),
    "chest": ("trunk", "trunk"),
    "neck": ("trunk", ""),
    "head": ("neck", "head"),
}
for _side in SIDES:
    TREE |= {
        f"{_side}_shoulder": ("trunk", f"{_side}_upper_arm"),
        f"{_side}_elbow": (f"{_side}_shoulder", f"{_side}_forearm"),
        f"{_side}_wrist": (f"{_side}_elbow", f"{_side}_hand"),
        f"{_side}_hip": ("pelvis", f"{_side}_thigh"),
        f"{_side}_knee": (f"{_side}_hip", f"{_side}_shank"),
        f"{_side}_ankle": (f"{_side}_knee", f"{_side}_foot"),
    }
# Vector from the end of a chain to its End Site in the file's axes, cm: distally, upward at the head.
END, END_UPWARD = np.array([10.0, 0.0, 0.0]), np.array([0.0, 10.0, 0.0])
# Fraction of the sampling interval by which samples may deviate from a constant rate.
UNEVEN = 0.05


class _Node(NamedTuple):
    """A node of the tree: its parent (None for the root) and its poses (T, 4, 4) in the world frame."""

    parent: str | None
    frames: Array


def write_bvh(motion: HumanMotion, path: Path) -> None:
    """Write joints and segments of a recording as BVH.

    The file reproduces the motion to 1e-8 m and 1e-8 rad. Markers, the initial pose, handles and the actor
    cannot be stored in the format. Raises OSError if the file cannot be written.
    """
    count = len(motion.time)
    step = float(motion.time[-1] - motion.time[0]) / (count - 1)
    off = np.abs(motion.time - motion.time[0] - step * np.arange(count))
    if off.max() > UNEVEN * step:
        raise MotionError(
            f"{motion.source}: frame {off.argmax()} is {off.max():.2g} s off a constant rate; a BVH file has "
            "one frame time, resample the motion first"
        )
    nodes = _nodes(motion)
    depths = _depth_first(nodes)
    positions, angles = _local_coordinates({name: nodes[name] for name in depths})
    header = [
        *_hierarchy(depths, positions.mean(axis=0)),
        "MOTION",
        f"Frames: {count}",
        f"Frame Time: {step!r}",
    ]
    table = np.concatenate([positions, angles], axis=2).reshape(count, -1)
    with path.open("w", encoding="utf-8", newline="\n") as file:
        file.write("\n".join(header) + "\n")
        np.savetxt(file, table, fmt="%.8f")


def _nodes(motion: HumanMotion) -> dict[str, _Node]:
    """Joints and segments as a tree, parents first."""
    joints, segments = motion.joints, motion.segments
    nodes: dict[str, _Node] = {}
    if "pelvis" not in joints:
        nodes[WORLD] = _Node(None, np.tile(np.eye(4), (len(motion.time), 1, 1)))
    chain = [name for name in TREE if name in joints or (name == "trunk" and name in segments)]
    for name in [*chain, *(name for name in joints if name not in TREE)]:
        above = _nearest_ancestor(name, nodes)
        if name in joints:
            carrier = segments.get(TREE[name][1] if name in TREE else "")
            if carrier is None:
                carrier = nodes[above].frames if above else np.eye(4)[None]
            nodes[name] = _Node(above, transform(carrier[:, :3, :3], joints[name]))
        else:
            nodes[name] = _Node(above, segments[name])
    begins = {segment: name for name, (_, segment) in TREE.items() if name in joints}
    for name, frames in segments.items():
        label = f"{name}_segment" if name in joints else name
        if label not in chain:
            nodes[label] = _Node(begins.get(name) or _nearest_ancestor(name, nodes), frames)
    return nodes


def _nearest_ancestor(name: str, nodes: dict[str, _Node]) -> str | None:
    """Nearest recorded ancestor of a node; None for the root, which is the first node."""
    while name in TREE:
        name = TREE[name][0]
        if name in nodes:
            return name
    return next(iter(nodes), None)


def _local_coordinates(nodes: dict[str, _Node]) -> tuple[Array, Array]:
    """Positions (T, N, 3), cm, and angles (T, N, 3) about z, y, x, degrees, in the axes of the parent."""
    positions, angles = [], []
    for above, frames in nodes.values():
        position, rotation = frames[:, :3, 3], frames[:, :3, :3]
        if above is not None:
            parent = nodes[above].frames
            inverse = parent[:, :3, :3].transpose(0, 2, 1)
            position = (inverse @ (position - parent[:, :3, 3])[..., None])[..., 0]
            rotation = inverse @ rotation
        positions.append(CENTIMETRES * position @ Y_UP.T)
        angles.append(_euler_angles(Y_UP @ rotation @ Y_UP.T))
    return np.stack(positions, axis=1), np.stack(angles, axis=1)


def _euler_angles(rotation: Array) -> Array:
    """Angles (T, 3), degrees, about z, then the new y, then the new x, continuous in time.

    SciPy's angles lose precision near the singularity, in which a forearm may well be. Here the last angle
    completes the rotation that the first two leave.
    """
    z = np.arctan2(rotation[:, 1, 0], rotation[:, 0, 0])
    y = np.arctan2(-rotation[:, 2, 0], np.hypot(rotation[:, 0, 0], rotation[:, 1, 0]))
    sine, cosine = np.sin(z), np.cos(z)
    x = np.arctan2(
        sine * rotation[:, 0, 2] - cosine * rotation[:, 1, 2],
        cosine * rotation[:, 1, 1] - sine * rotation[:, 0, 1],
    )
    return np.degrees(np.unwrap(np.stack([z, y, x], axis=1), axis=0))


def _depth_first(nodes: dict[str, _Node]) -> dict[str, int]:
    """Depth of each node, in the order of the file (depth first)."""
    depths: dict[str, int] = {}
    waiting = [next(iter(nodes))]
    while waiting:
        name = waiting.pop()
        above = nodes[name].parent
        depths[name] = depths[above] + 1 if above is not None else 0
        waiting += [child for child in reversed(nodes) if nodes[child].parent == name]
    return depths


def _hierarchy(depths: dict[str, int], offsets: Array) -> list[str]:
    """Lines of the skeleton, with the mean positions (N, 3) of its nodes as offsets, cm."""
    lines = ["HIERARCHY"]
    following = [*list(depths.values())[1:], 0]
    for (name, depth), after, offset in zip(depths.items(), following, offsets, strict=True):
        tab = "\t" * depth
        lines += [
            f"{tab}{'JOINT' if depth else 'ROOT'} {name}",
            f"{tab}{{",
            f"{tab}\t{_offset(offset)}",
            f"{tab}\tCHANNELS 6 Xposition Yposition Zposition Zrotation Yrotation Xrotation",
        ]
        if after <= depth:
            end = END_UPWARD if name in ("neck", "head") else END
            lines += [f"{tab}\tEnd Site", f"{tab}\t{{", f"{tab}\t\t{_offset(end)}", f"{tab}\t}}"]
        lines += ["\t" * level + "}" for level in range(depth, after - 1, -1)]
    return lines


def _offset(position: Array) -> str:
    """Line of an offset, cm."""
    return "OFFSET " + " ".join(f"{value:.8f}" for value in position)
