"""Reader of MVNX, the XML format in which Xsens MVN exports the segments of a person.

A frame holds the orientation of every segment, w x y z, and the position of its origin, the proximal joint,
in m, z up; all orientations are the identity while the person stands in T-pose facing x. The file is parsed
as a stream: sensors, velocities and joint angles, most of its bytes, are passed over.
"""

from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from scipy.spatial.transform import Rotation

from simbench.errors import MotionError
from simbench.kinematics.arrays import Array
from simbench.motion.read_options import ReadOptions
from simbench.motion.readers.mvnx_stream import MvnxContent, parse_mvnx
from simbench.motion.readers.skeleton_kinematics import compute_world_poses, find_parent
from simbench.motion.readers.text_table import LARGEST_NUMBER
from simbench.motion.recordings import SkeletonRecording

# Segments by the one that carries them; each begins at the joint between the two.
PARENTS = {
    "L5": "Pelvis", "L3": "L5", "T12": "L3", "T8": "T12", "Neck": "T8", "Head": "Neck",
    **{f"{side}{segment}": parent.format(side) for side in ("Right", "Left") for segment, parent in (
        ("Shoulder", "T8"), ("UpperArm", "{}Shoulder"), ("ForeArm", "{}UpperArm"), ("Hand", "{}ForeArm"),
        ("UpperLeg", "Pelvis"), ("LowerLeg", "{}UpperLeg"), ("Foot", "{}LowerLeg"), ("Toe", "{}Foot"))},
}  # fmt: skip
ORDER = {name: k for k, name in enumerate(("Pelvis", *PARENTS))}
# A quaternion of another length than 1 by more than this is none; MVN writes six digits.
UNIT_LENGTH = 0.02
# Angle between a segment and the axes of the world in the T-pose of the file above which it is told, rad.
TPOSE_ANGLE = 0.35


def read_mvnx(path: Path, options: ReadOptions) -> SkeletonRecording:
    """Read an MVNX file of version 3 or 4.

    `options`: what the user declares; the format itself says unit (m) and vertical axis (z), and the file its
    rate. Returns one joint for each segment, at its origin. Frames of the poses `identity`, `tpose`, `npose`
    are no motion: they are left out.
    """
    source = str(path)
    content = parse_mvnx(path)
    if not content.segments or not len(content.orientations):
        missing = "orientations of segments in its frames" if content.segments else "segments"
        raise MotionError(f"{source}: no {missing}; export segment orientations and positions from MVN")
    if len(set(content.segments)) < len(content.segments):
        raise MotionError(f"{source}: two segments have the same name; names must differ")
    # Props and other additions are no part of the body.
    kept = [k for k, name in enumerate(content.segments) if name in ORDER] or [*range(len(content.segments))]
    kept.sort(key=lambda k: ORDER.get(content.segments[k], k))
    names = tuple(content.segments[k] for k in kept)
    parents = np.array([find_parent(name, names, PARENTS) for name in names])
    rotations = _rotations(content, kept, source)
    positions, offsets, doubts = _positions(content, kept, parents, rotations, source)
    further = len(content.segments) - len(kept)
    return SkeletonRecording(
        time=_times(content, options, source),
        names=names,
        parents=parents,
        offsets=offsets,
        positions=positions,
        rotations=rotations,
        source=source,
        unit=options.unit or "m",
        up=options.up or "z",
        notes=(*content.notes, *((f"{further} further segments ignored",) if further else ())),
        doubts=(*doubts, *_doubt_tpose(content, kept)),
    )


def _rotations(content: MvnxContent, kept: list[int], source: str) -> Array:
    """Rotations (T, J, 3, 3) of segments."""
    quaternions = content.orientations.reshape(len(content.orientations), -1, 4)[:, kept]
    # Squares of larger numbers may overflow.
    length = np.linalg.norm(np.clip(quaternions, -LARGEST_NUMBER, LARGEST_NUMBER), axis=2)
    wrong = np.argwhere(np.abs(length - 1.0) > UNIT_LENGTH)
    if len(wrong):
        frame, segment = wrong[0]
        raise MotionError(
            f"{source}: {content.segments[kept[segment]]} in frame {frame + 1}: a quaternion of length "
            f"{length[frame, segment]:.4g}; it must be 1 to {UNIT_LENGTH:g}"
        )
    matrices = Rotation.from_quat(quaternions[..., [1, 2, 3, 0]].reshape(-1, 4)).as_matrix()
    return np.asarray(matrices.reshape(*quaternions.shape[:2], 3, 3))


def _positions(
    content: MvnxContent, kept: list[int], parents: NDArray[np.int64], rotations: Array, source: str
) -> tuple[Array, Array, tuple[str, ...]]:
    """Positions (T, J, 3) of the segments' origins, offsets (J, 3) from their parents, m, and doubts."""
    names = [content.segments[k] for k in kept]
    if len(content.positions):
        positions = content.positions.reshape(len(content.positions), -1, 3)[:, kept]
        if np.abs(positions).max() > LARGEST_NUMBER:
            raise MotionError(f"{source}: positions beyond {LARGEST_NUMBER:g} m; no person is there")
        offsets = np.zeros((len(kept), 3))
        for joint, parent in enumerate(parents):
            away = positions[:, joint] - (positions[:, parent] if parent >= 0 else 0.0)
            carrier = rotations[:, parent] if parent >= 0 else np.eye(3)[None]
            offsets[joint] = (
                np.mean(np.einsum("tji,tj->ti", carrier, away), axis=0) if parent >= 0 else away[0]
            )
        return positions, offsets, ()
    offsets = np.zeros((len(kept), 3))
    ends = {(one.partition("/")[0], other.partition("/")[0]): (one, other) for one, other in content.joints}
    for joint, parent in enumerate(parents):
        if parent < 0:
            continue
        one, other = ends.get((names[parent], names[joint]), ("", ""))
        if one not in content.points or other not in content.points:
            raise MotionError(
                f"{source}: no positions of segments, and no points from which that of {names[joint]} "
                "follows; export segment positions from MVN"
            )
        offsets[joint] = content.points[one] - content.points[other]
    local = rotations.copy()
    for joint, parent in enumerate(parents):
        if parent >= 0:
            local[:, joint] = rotations[:, parent].transpose(0, 2, 1) @ rotations[:, joint]
    positions, _ = compute_world_poses(parents, np.tile(offsets, (len(rotations), 1, 1)), local)
    doubt = (
        "the file has no positions: they follow from the segments' lengths, the pelvis stays and feet slide"
    )
    return positions, offsets, (doubt,)


def _times(content: MvnxContent, options: ReadOptions, source: str) -> Array:
    """Compute the times of the frames, s, by their numbers where these increase."""
    rate = options.fps or content.rate
    if rate is None:
        raise MotionError(f"{source}: the subject has no frameRate; declare it (--fps)")
    if not 1.0 <= rate <= 10_000.0:
        raise MotionError(f"{source}: frameRate is {rate:g}; allowed: 1 to 10000 Hz, or declare it (--fps)")
    numbers = content.indices - content.indices[0]
    lost = numbers[-1] - (len(numbers) - 1)
    if not (np.diff(numbers) > 0).all() or not 0 <= lost <= len(numbers):
        numbers = np.arange(len(numbers), dtype=np.float64)
    return np.asarray(numbers / rate)


def _doubt_tpose(content: MvnxContent, kept: list[int]) -> tuple[str, ...]:
    """Doubt segments that are turned against the pelvis in the T-pose of the file."""
    if content.tpose is None or len(content.tpose) != 4 * len(content.segments):
        return ()
    quaternions = np.clip(content.tpose.reshape(-1, 4)[kept][:, [1, 2, 3, 0]], -2.0, 2.0)
    if not (np.abs(np.linalg.norm(quaternions, axis=1) - 1.0) < UNIT_LENGTH).all():
        return ()
    turned = Rotation.from_quat(quaternions)
    angles = (turned[0].inv() * turned).magnitude()
    worst = int(angles.argmax())
    if angles[worst] <= TPOSE_ANGLE:
        return ()
    name = content.segments[kept[worst]]
    return (f"{name} is turned by {np.rad2deg(angles[worst]):.0f} degrees in the file's own T-pose",)
