"""Skeletons in animated scenes, as FBX and glTF hold them: trees of nodes that move, turn and scale."""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.spatial.transform import Rotation

from simbench.errors import MotionError
from simbench.files.text import printable
from simbench.kinematics.arrays import Array
from simbench.motion.readers.marker_tables import LARGEST_NUMBER, quote
from simbench.motion.recordings import SkeletonRecording, compute_world_poses
from simbench.system.limits import RATES, require_at_most

# Most nodes of a scene; and most poses of nodes: half an hour with fingers at 60 Hz, a gigabyte.
MOST_NODES, MOST_POSES = 20_000, 6_000_000
# Joints of a limb, as a part of those of the skeleton.
PART_OF_BODY = 0.5
# So many poses are computed at once, a hundred megabytes.
BLOCK_POSES = 200_000
# A time is a sample's within this part of the step, and a rate a whole number within this part of it.
ROUNDING = 5e-4
# Entries of a matrix of axes that are at right angles and of one length are within this of a rotation's.
RIGHT_ANGLES = 1e-6
# Volume that the axes of a joint span below which they have no directions; files scale by down to 0.001.
FLAT = 1e-15


class Scene(NamedTuple):
    """The N nodes of a scene, parents before children."""

    names: list[str]
    parents: NDArray[np.int64]  # (N,): index of each node's parent, -1 for a root.
    is_joint: NDArray[np.bool_]  # (N,): whether a node is a joint of a skeleton.
    # (N, 10): translation in the parent's axes, quaternion x y z w and scales of each node, unless animated.
    still: Array
    # (N, 4, 4): from each joint's axes to the scene's, in the pose in which it was bound to a surface; NaN
    # where there is none.
    bound: Array


def round_rate(rate: float) -> float:
    """Replace a rate, Hz, that was found from times in single precision by a whole number next to it."""
    return round(rate) if abs(rate - round(rate)) < ROUNDING * rate else rate


def find_sample_times(first: float, last: float, rate: float, source: str, nodes: int) -> Array:
    """Find the times (T,), s, at which an animation from `first` to `last` is sampled at a rate, Hz."""
    if not RATES[0] <= rate <= RATES[1]:
        raise MotionError(
            f"{source}: a rate of {rate:g} Hz; allowed: {RATES[0]:g} to {RATES[1]:g} Hz (--fps)"
        )
    if not max(abs(first), abs(last)) <= LARGEST_NUMBER:
        raise MotionError(f"{source}: an animation from {first:g} to {last:g} s; no recording is that long")
    count = (last - first) * rate + ROUNDING
    require_at_most((count + 1.0) * nodes, MOST_POSES, f"{source}: poses of nodes", MotionError)
    return np.asarray(first + np.arange(int(max(count, 0.0)) + 1) / rate)


def choose_skeleton(scene: Scene, source: str) -> tuple[list[int], NDArray[np.int64], tuple[str, ...]]:
    """Choose the skeleton of a scene with the most joints.

    Returns the indices of its J joints; (J,) index of each joint's parent among them, -1 for the root; and
    what was left out.
    """
    is_joint = scene.is_joint.copy()
    for _ in range(2):
        near: list[int] = []  # The node itself if it is a joint, else the next joint above it; -1 for none.
        roots: list[int] = []  # The root of the skeleton of that joint.
        for k, parent in enumerate(scene.parents):
            above = near[parent] if parent >= 0 else -1
            near.append(k if is_joint[k] else above)
            roots.append(roots[parent] if above >= 0 else k)
        joints = np.flatnonzero(is_joint)
        if not joints.size:
            raise MotionError(f"{source}: no skeleton: none of its {len(near)} nodes is a joint")
        found, counts = np.unique(np.array(roots)[joints], return_counts=True)
        root = int(found[counts.argmax()])
        carrier = int(scene.parents[root])
        # A pelvis may not be marked as a joint: spine and legs begin at it. Other persons are as large.
        beside = (scene.parents[found] == carrier) & (counts < PART_OF_BODY * counts.max())
        if carrier < 0 or scene.parents[carrier] < 0 or not beside.any():
            break
        is_joint[carrier] = True
    chosen = [int(k) for k in joints if roots[k] == root]
    index = {joint: at for at, joint in enumerate(chosen)}
    parents = [-1 if k == root else index[near[scene.parents[k]]] for k in chosen]
    more = f"{len(found)} skeletons: {quote(scene.names[root])} is read, the one with the most joints"
    return chosen, np.array(parents, dtype=np.int64), (more,) if len(found) > 1 else ()


def make_skeleton_recording(
    scene: Scene,
    moved: dict[int, Array],
    time: Array,
    source: str,
    unit: str,
    up: str | None,
    notes: tuple[str, ...],
) -> SkeletonRecording:
    """Compute the poses of the largest skeleton of a scene.

    `moved`: translation, quaternion and scales (T, 10) of each animated node; `time` (T,): times of the
    samples, s; `unit`, `up`, `source`, `notes`: as in the recording. All rotations are the identity in the
    pose in which the joints were bound to a surface, or else where nothing moves them.
    """
    joints, parents, more = choose_skeleton(scene, source)
    needed = {*joints}
    for k in range(len(scene.names) - 1, -1, -1):
        if k in needed and scene.parents[k] >= 0:
            needed.add(int(scene.parents[k]))
    nodes = sorted(needed)
    index = {node: at for at, node in enumerate(nodes)}
    chain = np.array([index.get(int(scene.parents[node]), -1) for node in nodes], dtype=np.int64)
    places = [index[joint] for joint in joints]
    tracks = (scene.still[nodes], *(moved[node] for node in nodes if node in moved))
    if not all(np.abs(track).max() <= LARGEST_NUMBER for track in tracks):
        raise MotionError(f"{source}: a node has numbers that are not finite, or beyond {LARGEST_NUMBER:g}")
    # The pose of rest.
    still, axes = _split(scene.still[nodes])
    for at, (node, parent) in enumerate(zip(nodes, chain, strict=True)):
        if np.isfinite(scene.bound[node]).all():
            still[at], axes[at] = scene.bound[node, :3, 3], scene.bound[node, :3, :3]
        elif parent >= 0:
            still[at], axes[at] = still[parent] + axes[parent] @ still[at], axes[parent] @ axes[at]
    still, axes = still[places], axes[places]
    offsets = still - np.where(parents[:, None] >= 0, still[parents], 0.0)
    flat = np.abs(np.linalg.det(axes)) < FLAT
    axes[flat] = np.eye(3)
    inverse = np.linalg.inv(axes)
    positions = np.empty((len(time), len(joints), 3))
    rotations = np.empty((len(time), len(joints), 3, 3))
    block = max(1, BLOCK_POSES // len(nodes))
    for start in range(0, len(time), block):
        part = slice(start, start + block)
        local = np.tile(scene.still[nodes], (len(time[part]), 1, 1))
        for node, track in moved.items():
            if node in index:
                local[:, index[node]] = track[part]
        # The axes of a node are those of its parent times its rotation times its scales.
        all_positions, all_axes = compute_world_poses(chain, *_split(local))
        positions[part] = all_positions[:, places]
        turned = all_axes[:, places] @ inverse
        volume = np.linalg.det(turned)
        flat |= (volume < FLAT).any(axis=0)
        turned[volume < FLAT] = np.eye(3)
        turned /= np.cbrt(np.linalg.det(turned))[..., None, None]
        oblique = np.abs(turned @ turned.swapaxes(-1, -2) - np.eye(3)).max(axis=(-1, -2)) > RIGHT_ANGLES
        left, _, right = np.linalg.svd(turned[oblique])
        turned[oblique] = left @ right
        rotations[part] = turned
    names: dict[str, int] = {}
    for joint in joints:
        name = base = printable(scene.names[joint]) or "joint"
        while name in names:
            names[base] += 1
            name = f"{base}_{names[base]}"
        names[name] = 1
    shown = ", ".join(quote(name) for name, each in zip(names, flat, strict=True) if each)[:80]
    doubts = (f"{flat.sum()} joints are scaled to nothing or mirrored, their axes unknown: {shown}",)
    return SkeletonRecording(
        time=time - time[0],
        names=tuple(names),
        parents=parents,
        offsets=offsets,
        positions=positions,
        rotations=rotations,
        source=source,
        unit=unit,
        up=up,
        notes=(*notes, *more),
        doubts=doubts if flat.any() else (),
    )


def _split(local: Array) -> tuple[Array, Array]:
    """Split poses (..., 10) into translations (..., 3), and rotations times scales (..., 3, 3)."""
    turns = local[..., 3:7].reshape(-1, 4)
    # A quaternion of no length is that of no rotation.
    turns = np.where(np.abs(turns).max(axis=1, keepdims=True) > FLAT, turns, [0.0, 0.0, 0.0, 1.0])
    axes = Rotation.from_quat(turns).as_matrix().reshape(*local.shape[:-1], 3, 3)
    return local[..., :3].copy(), axes * local[..., None, 7:]
