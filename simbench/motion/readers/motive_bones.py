"""Bones of a skeleton of Motive: names in its conventions, rest pose, and axes of its T-pose."""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.interpolate import interp1d
from scipy.spatial.transform import Rotation, Slerp

from simbench.errors import MotionError
from simbench.kinematics.arrays import Array
from simbench.motion.marker_maps.map_evaluation import normalise
from simbench.motion.read_options import UNITS, ReadOptions
from simbench.motion.readers.joint_words import name_joints
from simbench.motion.readers.skeleton_kinematics import compute_world_poses, find_parent
from simbench.motion.recordings import MarkerRecording, SkeletonRecording

# Bones of Motive's own convention by the bone that carries them, parents first.
PARENTS = {
    "Hip": "", "Ab": "Hip", "Chest": "Ab", "Neck": "Chest", "Head": "Neck",
    **{f"{side}{bone}": parent.format(side) for side in "LR" for bone, parent in (
        ("Shoulder", "Chest"), ("UArm", "{}Shoulder"), ("FArm", "{}UArm"), ("Hand", "{}FArm"),
        ("Thigh", "Hip"), ("Shin", "{}Thigh"), ("Foot", "{}Shin"), ("Toe", "{}Foot"))},
}  # fmt: skip
# Names in the other conventions that Motive exports: of FBX, of BVH and of Unreal.
CONVENTIONS = (
    {
        "Hips": "Hip", "Spine": "Ab", "Spine1": "Chest", "Neck": "Neck",
        "Head": "Head", "{Side}Shoulder": "{S}Shoulder", "{Side}Arm": "{S}UArm", "{Side}ForeArm": "{S}FArm",
        "{Side}Hand": "{S}Hand", "{Side}UpLeg": "{S}Thigh", "{Side}Leg": "{S}Shin", "{Side}Foot": "{S}Foot",
        "{Side}ToeBase": "{S}Toe",
    },
    {
        "Hips": "Hip", "Chest": "Ab", "Chest2": "Chest", "Neck": "Neck",
        "Head": "Head", "{Side}Collar": "{S}Shoulder", "{Side}Shoulder": "{S}UArm", "{Side}Elbow": "{S}FArm",
        "{Side}Wrist": "{S}Hand", "{Side}Hip": "{S}Thigh", "{Side}Knee": "{S}Shin", "{Side}Ankle": "{S}Foot",
        "{Side}Toe": "{S}Toe",
    },
    {
        "pelvis": "Hip", "spine_01": "Ab", "spine_03": "Chest", "neck_01": "Neck",
        "head": "Head", "clavicle_{s}": "{S}Shoulder", "upperarm_{s}": "{S}UArm", "lowerarm_{s}": "{S}FArm",
        "hand_{s}": "{S}Hand", "thigh_{s}": "{S}Thigh", "calf_{s}": "{S}Shin", "foot_{s}": "{S}Foot",
        "ball_{s}": "{S}Toe",
    },
)  # fmt: skip
NEEDED = ("Hip", "LUArm", "LFArm", "LHand", "RUArm", "RFArm", "RHand")
# A rest pose is a T-pose if legs, trunk and arms are within the angle of this cosine of their axes; its
# axes are those of the file's world if they are nearer to them than the second cosine.
TPOSE_COSINE, AXIS_COSINE = 0.8, 0.96
# Largest variation of a joint's place in the bone before it, m, of rotations that fit the positions.
LOOSE = 0.02
# A quaternion of another length than 1 by more than this is none.
UNIT_LENGTH = 0.02


class BoneTracks(NamedTuple):
    """Poses of bones as the file has them."""

    time: Array  # (T,): times of the frames, s.
    names: tuple[str, ...]  # Names of the J bones in the file.
    positions: Array  # (T, J, 3): positions of their origins, in the file's unit; NaN where there is none.
    # (T, J, 4) or (T, J, 3) array: quaternions x, y, z, w, or Euler angles about x, y and z in degrees.
    angles: Array
    order: str  # Order of the Euler angles, such as `XYZ`; empty for quaternions.
    local: bool  # Whether positions and rotations are in the axes of the bone before.


def build_skeleton(
    tracks: BoneTracks,
    found: tuple[str, tuple[str, ...], tuple[str, ...]],
    source: str,
    options: ReadOptions,
) -> MarkerRecording | SkeletonRecording:
    """Build the recording of a skeleton whose axes in its T-pose are x left, y up, z forward.

    `found`: unit of length, a key of `UNITS`, notes and doubts; `source`: name of the recording, for
    messages; `options`: what the user declares. Returns the bones by Motive's own names; as points without
    rotations if the bones' axes are not those of a T-pose.
    """
    unit, notes, doubts = found
    names = _motive_names(tracks.names)
    kept = [names.index(name) for name in PARENTS if name in names]
    names = tuple(names[k] for k in kept)
    missing = [name for name in NEEDED if name not in names]
    if len([name for name in missing if name[0] == "L"]) and len([n for n in missing if n[0] == "R"]):
        raise MotionError(f"{source}: no complete arm: the skeleton lacks {', '.join(missing)}")
    parents = np.array([find_parent(name, names, PARENTS) for name in names])
    whole, filled = _whole_frames(tracks, kept, source, options.longest_gap)
    poses = [_world_poses(tracks, whole, kept, parents, order, source) for order in _orders(tracks.order)]
    rests = [_rest(parents, *each) for each in poses]
    best = int(np.argmin([looseness for _, looseness in rests]))
    offsets, looseness = rests[best]
    time, positions, rotations = _interpolate(tracks.time, whole, *poses[best])
    further = len(tracks.names) - len(kept)
    notes += filled + ((f"{further} further bones ignored",) if further else ())
    axes = _rest_axes(names, offsets)
    if axes is None or looseness * UNITS[unit] > LOOSE:
        reason = (
            "the axes of its bones are not those of a T-pose" if axes is None else "its rotations do not fit"
        )
        joints = name_joints(tuple(tracks.names[k] for k in kept))
        return MarkerRecording(
            time=time,
            names=joints,
            positions=UNITS[unit] * positions,
            source=source,
            up=options.up,
            unit=unit,
            notes=notes,
            doubts=(*doubts, f"only the positions of the skeleton are used: {reason}"),
        )
    return SkeletonRecording(
        time=time,
        names=names,
        parents=parents,
        offsets=offsets @ axes,
        positions=positions,
        rotations=rotations @ axes,
        source=source,
        unit=unit,
        up=options.up or _vertical(axes),
        notes=notes,
        doubts=doubts,
    )


def _motive_names(names: tuple[str, ...]) -> tuple[str, ...]:
    """Write bones' names in Motive's own convention, where the file has another one."""
    best = names
    for convention in CONVENTIONS:
        known = {
            _fill_side(name, side): _fill_side(bone, side)
            for name, bone in convention.items()
            for side in ("left", "right")
        }
        written = tuple(known.get(name, f"{name} ") for name in names)
        if len(set(written) & set(PARENTS)) > len(set(best) & set(PARENTS)):
            best = written
    return best


def _fill_side(text: str, side: str) -> str:
    """Fill the placeholders of a side."""
    for mark, value in (("{Side}", side.capitalize()), ("{S}", side[0].upper()), ("{s}", side[0])):
        text = text.replace(mark, value)
    return text


def _orders(order: str) -> tuple[str, ...]:
    """Conventions that an order of Euler angles may mean: about the turned axes, or about those at rest."""
    return (order, order.lower()) if order else ("",)


def _whole_frames(
    tracks: BoneTracks, kept: list[int], source: str, longest: float
) -> tuple[NDArray[np.int64], tuple[str, ...]]:
    """Find the frames that show all bones, between which are only short gaps; and notes."""
    values = np.concatenate([tracks.positions[:, kept], tracks.angles[:, kept]], axis=2)
    seen = np.asarray(np.isfinite(values).all(axis=2))
    whole = np.flatnonzero(seen.all(axis=1))
    if len(whole) < 2:
        bone = tracks.names[kept[int(seen.sum(axis=0).argmin())]]
        raise MotionError(f"{source}: fewer than 2 frames show all bones; {bone[:40]} is seen least")
    time = tracks.time[whole]
    interval = (tracks.time[-1] - tracks.time[0]) / (len(tracks.time) - 1)
    gap = int(np.diff(time).argmax())
    if time[gap + 1] - time[gap] - interval > longest * (1 + 1e-6):
        k = whole[gap] + 1
        bone = tracks.names[kept[int(np.argmin(seen[k]))]]
        raise MotionError(
            f"{source}: bone {bone[:40]} is not seen from frame {k} ({tracks.time[k]:.3f} s) on for "
            f"{time[gap + 1] - time[gap] - interval:.3g} s; gaps up to {longest:g} s are filled"
        )
    lost = int(whole[-1] - whole[0] + 1 - len(whole))
    cut = len(tracks.time) - lost - len(whole)
    notes = [f"{lost} frames in which a bone is not seen interpolated"] if lost else []
    if cut:
        notes.append(f"cut, because not every bone is seen there: {cut} frames at the ends")
    return whole, tuple(notes)


def _interpolate(
    time: Array, whole: NDArray[np.int64], positions: Array, rotations: Array
) -> tuple[Array, Array, Array]:
    """Interpolate poses that are known at some of the times; return times from 0 on with them."""
    new = time[whole[0] : whole[-1] + 1]
    if len(new) > len(whole):
        known = time[whole]
        positions = interp1d(known, positions, axis=0)(new)
        rotations = np.stack(
            [
                Slerp(known, Rotation.from_matrix(rotations[:, k]))(new).as_matrix()
                for k in range(rotations.shape[1])
            ],
            axis=1,
        )
    return new - new[0], positions, rotations


def _rotation(angles: Array, order: str, source: str) -> Rotation:
    """Rotations of quaternions x, y, z, w (N, 4), or of angles about x, y, z (N, 3), degrees."""
    if order:
        return Rotation.from_euler(
            order, angles[:, ["XYZ".index(axis) for axis in order.upper()]], degrees=True
        )
    # Squares of larger numbers may overflow.
    length = np.linalg.norm(np.clip(angles, -1e6, 1e6), axis=1)
    wrong = np.flatnonzero(np.abs(length - 1.0) > UNIT_LENGTH)
    if wrong.size:
        raise MotionError(
            f"{source}: a quaternion of length {length[wrong[0]]:.4g}; it must be 1 to {UNIT_LENGTH:g}"
        )
    return Rotation.from_quat(angles)


def _world_poses(
    tracks: BoneTracks,
    whole: NDArray[np.int64],
    kept: list[int],
    parents: NDArray[np.int64],
    order: str,
    source: str,
) -> tuple[Array, Array]:
    """Positions (T, J, 3) and rotations (T, J, 3, 3) of the bones in the file's world, in whole frames."""
    angles = tracks.angles[whole][:, kept]
    matrices = _rotation(angles.reshape(-1, angles.shape[2]), order, source).as_matrix()
    rotations = np.asarray(matrices.reshape(*angles.shape[:2], 3, 3))
    positions = tracks.positions[whole][:, kept]
    return compute_world_poses(parents, positions, rotations) if tracks.local else (positions, rotations)


def _rest(parents: NDArray[np.int64], positions: Array, rotations: Array) -> tuple[Array, float]:
    """Offsets (J, 3) of the bones from the ones before at rest, and their variation, in the file's unit."""
    offsets, spread = np.zeros((len(parents), 3)), 0.0
    for joint, parent in enumerate(parents):
        if parent < 0:
            continue
        away = np.einsum("tji,tj->ti", rotations[:, parent], positions[:, joint] - positions[:, parent])
        offsets[joint] = np.median(away, axis=0)
        spread = max(spread, float(np.linalg.norm(away.std(axis=0))))
    return offsets, spread


def _rest_axes(names: tuple[str, ...], offsets: Array) -> Array | None:
    """Axes left, up, forward (columns) of a T-pose at rest; None if the rest pose is none."""
    at = dict(zip(names, offsets, strict=True))
    legs = [at[bone] for bone in ("LShin", "LFoot", "RShin", "RFoot") if bone in at]
    trunk = [at[bone] for bone in ("Ab", "Chest", "Neck") if bone in at]
    if not legs and not trunk:
        return None
    up = normalise(sum(trunk, np.zeros(3)) - sum(legs, np.zeros(3)))
    arms = [
        (sign, at[f"{side}{bone}"])
        for side, sign in (("L", 1.0), ("R", -1.0))
        for bone in ("FArm", "Hand")
        if f"{side}{bone}" in at
    ]
    left = sum((sign * bone for sign, bone in arms), np.zeros(3))
    if np.linalg.norm(np.cross(left, up)) < 1e-6:
        return None
    left = normalise(left - up * (left @ up))
    upright = all(-normalise(leg) @ up > TPOSE_COSINE for leg in legs)
    spread = all(sign * normalise(bone) @ left > TPOSE_COSINE for sign, bone in arms)
    if not upright or not spread:
        return None
    axes = np.stack([left, up, np.cross(left, up)], axis=1)
    nearest = np.round(axes)
    # The axes of the world are exact, those of the limbs depend on the person's build.
    is_near = np.linalg.det(nearest) == 1.0 and (axes * nearest).sum(axis=0).min() > AXIS_COSINE
    return np.asarray(nearest if is_near else axes)


def _vertical(axes: Array) -> str | None:
    """Axis of the file that is up in the T-pose, if it is one."""
    up = axes[:, 1]
    k = int(np.abs(up).argmax())
    return "xyz"[k] if up[k] > AXIS_COSINE else None
