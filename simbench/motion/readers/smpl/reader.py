"""From the pose parameters of a person to the poses of the joints."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from simbench.errors import MotionError
from simbench.kinematics.arrays import Array
from simbench.motion.human_motion import Actor
from simbench.motion.read_options import AXES, UP_AXES, ReadOptions
from simbench.motion.readers.skeleton_kinematics import compute_world_poses
from simbench.motion.readers.smpl.average_skeleton import average_joints, average_stature
from simbench.motion.readers.smpl.body_model import read_rest_body
from simbench.motion.readers.smpl.layouts import BODY_COUNT, SMPL, Layout
from simbench.motion.readers.smpl.parameters import PoseParameters, read_parameters
from simbench.motion.readers.smpl.persons import find_persons
from simbench.motion.recordings import SkeletonRecording

DEFAULT_RATE = 30.0
"""Rate of most cameras, Hz, for a file that does not say its own."""
# Fingers and face are kept while all poses together take less than half a gigabyte; no robot here has them.
MAX_POSES_WITH_FINGERS = 5_000_000
# Most poses that are read: two gigabytes, four hours of a body at 60 Hz.
MAX_POSES = 20_000_000
# Frames that are computed at a time, so that intermediate arrays stay small.
CHUNK = 4096
# The trunk points along an axis in a frame within 37 degrees of it, as `find_vertical_axis` counts; the
# archive's convention is doubted when it points along another one in so many frames.
ALIGNED_COSINE, MAJORITY = 0.8, 0.9


def read_smpl(content: Mapping[str, Any], source: str, options: ReadOptions) -> SkeletonRecording:
    """Compute the poses of the joints of the person in an archive of the SMPL family.

    The rotation of a joint is the product of those from the pelvis to it; its position follows from the joint
    places in the T-pose. The pelvis is at its place in the T-pose plus the translation, because the model
    rotates about the pelvis. Without a body model the pelvis is at the translation itself: the difference is
    constant in the world, about 0.3 m, so that it is gone when the floor is placed below the feet. `content`:
    arrays by name, as `load_arrays` returns them. `source`: name of the recording in messages. `options`:
    what the user declares: `body_model`, `stature` and `fps` count here. Without a body model the skeleton
    has the stature that is declared, so that nothing is left to be scaled. Returns joints with the names of
    the SMPL family, m; rest pose: T-pose, x left, y up, z forward.
    """
    persons = find_persons(content)
    if not persons:
        raise MotionError(f"{source}: no pose parameters of the SMPL family")
    person = max(persons, key=lambda person: person.frames)
    parameters = read_parameters(person, source)
    notes, doubts = list(parameters.notes), list(parameters.doubts)
    if len(persons) > 1:
        notes.append(f"{len(persons)} persons: {person.name or 'the first'} taken, the longest or first")
    rest, actor = _rest_joints(parameters, options, notes, doubts)
    rate = _sampling_rate(parameters, options, doubts)
    count = _kept_joints(parameters, source, notes)
    layout = SMPL if parameters.body_only else parameters.layout
    rest, names, parents = rest[:count], layout.names[:count], layout.parents[:count]
    offsets = rest.copy()
    offsets[1:] -= rest[parents[1:]]
    positions, rotations = _world_poses(parameters, offsets, layout, count)
    up = _vertical_axis(parameters, positions, notes, doubts)
    if options.strict and doubts:
        raise MotionError(f"{source}: {doubts[0]}; with --strict nothing is assumed")
    return SkeletonRecording(
        time=np.arange(len(positions)) / rate,
        names=names,
        parents=parents,
        offsets=offsets,
        positions=positions,
        rotations=rotations,
        source=source,
        unit="m",
        up=up,
        actor=actor,
        notes=tuple(notes),
        doubts=tuple(doubts),
    )


def _rest_joints(
    parameters: PoseParameters, options: ReadOptions, notes: list[str], doubts: list[str]
) -> tuple[Array, Actor]:
    """Joints (J, 3) in the T-pose, m, the first with the model's offset, and the person."""
    layout, sex = (SMPL if parameters.body_only else parameters.layout), parameters.sex
    if options.body_model is not None:
        path = Path(options.body_model)
        body = read_rest_body(path, parameters.betas, layout, parameters.body_only)
        notes.append(
            f"joint places: body model {path.name}, {body.used} of {len(parameters.betas)} shape parameters; "
            f"the person is {body.stature:.3f} m tall"
        )
        joints = body.joints
        if parameters.body_only:
            joints = _with_hands(joints, body.stature)
        return joints, Actor(name="SMPL", height=body.stature, sex=sex)
    stature = options.stature or average_stature(sex)
    whose = "as declared" if options.stature else f"the average of {sex or 'adult'}s"
    notes.append(
        f"joint places: average proportions at {stature:.3g} m ({whose}); shape parameters are not used"
    )
    doubts.append(
        "joint places approximate: no body model (--body-model); bone lengths are those of an average person "
        f"{stature:.2f} m tall" + ("" if options.stature else " (--height declares another)")
    )
    return average_joints(layout, stature), Actor(name="SMPL", height=stature, sex=sex)


def _with_hands(joints: Array, stature: float) -> Array:
    """Add the hands of an average person to the joints of a body, along its forearms."""
    average = average_joints(SMPL, stature)
    hands = []
    for side in ("left", "right"):
        elbow, wrist, hand = (SMPL.names.index(f"{side}_{part}") for part in ("elbow", "wrist", "hand"))
        along = joints[wrist] - joints[elbow]
        length = np.linalg.norm(average[hand] - average[wrist])
        hands.append(joints[wrist] + along * length / max(np.linalg.norm(along), 1e-6))
    return np.vstack([joints, hands])


def _sampling_rate(parameters: PoseParameters, options: ReadOptions, doubts: list[str]) -> float:
    """Choose the sampling rate, Hz: declared, else the file's, else assumed."""
    if options.fps is not None:
        return options.fps
    if parameters.rate is not None:
        return parameters.rate
    doubts.append(f"the file does not say its rate: {DEFAULT_RATE:g} frames a second assumed (--fps)")
    return DEFAULT_RATE


def _kept_joints(parameters: PoseParameters, source: str, notes: list[str]) -> int:
    """Count the joints to compute, from the pelvis on: without fingers and face in long recordings."""
    layout = SMPL if parameters.body_only else parameters.layout
    frames, count = len(parameters.translation), len(layout.names)
    if frames * count > MAX_POSES_WITH_FINGERS and count > BODY_COUNT:
        notes.append(f"{frames} frames: only the joints of the body are read, without fingers and face")
        count = BODY_COUNT
    if frames * count > MAX_POSES:
        raise MotionError(
            f"{source}: {count} joints in {frames} frames; at most {MAX_POSES} poses are read: cut the file"
        )
    return count


def _world_poses(
    parameters: PoseParameters, offsets: Array, layout: Layout, count: int
) -> tuple[Array, Array]:
    """Compute positions (T, J, 3), m, and rotations (T, J, 3, 3) of the joints in the file's axes."""
    frames = len(parameters.translation)
    positions, rotations = np.empty((frames, count, 3)), np.empty((frames, count, 3, 3))
    for first in range(0, frames, CHUNK):
        last = min(first + CHUNK, frames)
        local = np.tile(offsets, (last - first, 1, 1))
        local[:, 0] += parameters.translation[first:last]
        positions[first:last], rotations[first:last] = compute_world_poses(
            layout.parents[:count], local, parameters.local_rotations(first, last, count)
        )
    return positions, rotations


def _vertical_axis(
    parameters: PoseParameters, positions: Array, notes: list[str], doubts: list[str]
) -> str | None:
    """Vertical axis by the archive's convention, where the body does not contradict it."""
    if parameters.camera:
        notes.append("the axes are a camera's, in which y usually points down: the body decides what is up")
    if not parameters.amass or parameters.camera:
        return None
    trunk = positions[:, SMPL.names.index("neck")] - positions[:, 0]
    cosine = trunk / np.maximum(np.linalg.norm(trunk, axis=1, keepdims=True), 1e-9)
    for name in UP_AXES:
        sign = -1.0 if name.startswith("-") else 1.0
        share = float((sign * cosine[:, AXES.index(name[-1])] > ALIGNED_COSINE).mean())
        if name != "z" and share >= MAJORITY:
            doubts.append(
                f"AMASS archives have z up, yet the trunk points along {name} in {share:.0%} of the frames: "
                f"{name} is taken for up, unless --up says otherwise"
            )
            return None
    return "z"
