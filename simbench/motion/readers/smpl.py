"""From the pose parameters of a person of the SMPL family to the poses of the joints.

The joint places in the T-pose are those of the user's own model file, by NumPy alone, or of an average
person: published anthropometry as fractions of stature; none is from a body model's data.
"""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from simbench.errors import MotionError
from simbench.files.arrays import read_array_file
from simbench.files.arrays.data_pickle import SparseMatrix
from simbench.kinematics.arrays import Array
from simbench.motion.human_motion import Actor
from simbench.motion.read_options import AXES, UP_AXES, ReadOptions
from simbench.motion.readers.smpl_parameters import (
    BODY_COUNT,
    CHUNK,
    FINGERS,
    LAYOUTS,
    SMPL,
    SMPL_X,
    Layout,
    PoseParameters,
    find_persons,
)
from simbench.motion.recordings import SkeletonRecording, compute_world_poses
from simbench.robot.anthropometry import (
    ANKLE_HEIGHT,
    FOREARM,
    HIP_HEIGHT,
    KNEE_HEIGHT,
    NECK,
    NECK_BASE,
    SHOULDER_HEIGHT,
    SHOULDER_WIDTH,
    SURVEY,
    UPPER_ARM,
    WRIST_TO_KNUCKLE,
)
from simbench.robot.sides import SIDES

DEFAULT_RATE = 30.0  # Rate of most cameras, Hz, for a file that does not say its own.
# Fingers and face are kept while all poses together take less than half a gigabyte; no robot here has them.
MAX_POSES_WITH_FINGERS = 5_000_000
# Most poses that are read: two gigabytes, four hours of a body at 60 Hz.
MAX_POSES = 20_000_000
# The trunk points along an axis in a frame within 37 degrees of it, as `find_vertical_axis` counts; the
# archive's convention is doubted when it points along another one in so many frames.
ALIGNED_COSINE, MAJORITY = 0.8, 0.9
# Stature of a person whose sex is not known, m: midway between these means, rounded to a centimetre.
NEUTRAL_STATURE = 1.70
# Half the distance of the hip joints' centres: 0.36 of the distance of the anterior superior iliac spines:
# each lies 14 % of it medial of its spine (Bell et al. 1989); that is about 0.127 of stature, an estimate.
HIP_HALF_WIDTH = 0.046
# Heights of L5/S1, of the middle between it and T12/L1, of T12/L1 and of the middle of the thorax. Estimates
# that only distribute the trunk's motion, as in simbench's virtual actors.
PELVIS, SPINE = 0.580, {"spine1": 0.615, "spine2": 0.650, "spine3": 0.720}
# Distance of the sternoclavicular joint from the midline, an estimate; at the height of the shoulders.
STERNOCLAVICULAR = 0.012
# The ball of the foot before the ankle: 0.47 of the foot's length, which is 0.152 of stature (Drillis &
# Contini 1966); and its height above the sole, an estimate.
BALL_FORWARD, BALL_HEIGHT = 0.47 * 0.152, 0.012
# Jaw and eyes before the head's joint and above it: estimates.
FACE = {"jaw": (0.0, 0.000, 0.020), "left_eye": (0.018, 0.030, 0.050), "right_eye": (-0.018, 0.030, 0.050)}
# Lengths of metacarpal, proximal and middle phalanx, mm, of adults (Buryanov & Kotiuk 2010), who are taken to
# be 1.70 m tall; and the distance of the knuckle from the hand's axis towards the thumb, mm, an estimate. The
# thumb has no middle phalanx: its first joint is that of its metacarpal with the wrist.
FINGER_LENGTHS = {
    "index": (68.1, 39.8, 22.4, 24.0),
    "middle": (64.6, 44.6, 26.3, 3.0),
    "ring": (58.0, 41.4, 25.7, -16.0),
    "pinky": (53.7, 32.7, 18.1, -33.0),
    "thumb": (0.0, 46.2, 31.6, 25.0),
}
HAND_STATURE_MM = 1700.0
KEYS = ("J_regressor", "v_template", "shapedirs", "kintree_table")
# The published models have at most 10475 vertices.
MAX_VERTICES = 200_000
# Larger than any number of a model: its lengths are metres, its weights at most 1, and betas a few units.
LARGEST_NUMBER = 1e3
# A body is this tall, m, from an infant to a giant; lengths in other units are not.
STATURES = (0.4, 3.0)
# Shape comes before expression in `shapedirs` of SMPL-X: 300 dimensions where there are at least that many,
# else 10.
SMPL_X_SHAPE, SMPL_X_SHORT_SHAPE = 300, 10


def read_smpl(content: Mapping[str, Any], source: str, options: ReadOptions) -> SkeletonRecording:
    """Compute the poses of the joints of the person in an archive of the SMPL family.

    The rotation of a joint is the product of those from the pelvis to it; its position follows from the joint
    places in the T-pose. The pelvis is at its place in the T-pose plus the translation, because the model
    rotates about the pelvis. Without a body model the pelvis is at the translation itself: the difference is
    constant in the world, about 0.3 m, so that it is gone when the floor is placed below the feet. `content`:
    arrays by name, as `read_array_file` returns them. `source`: name of the recording in messages. `options`:
    what the user declares: `body_model`, `stature` and `fps` count here. Without a body model the skeleton
    has the stature that is declared, so that nothing is left to be scaled. Returns joints with the names of
    the SMPL family, m; rest pose: T-pose, x left, y up, z forward.
    """
    persons = find_persons(content)
    if not persons:
        raise MotionError(f"{source}: no pose parameters of the SMPL family")
    person = max(persons, key=lambda person: person.frames)
    parameters = PoseParameters(person, source)
    notes, doubts = list(parameters.notes), list(parameters.doubts)
    if len(persons) > 1:
        notes.append(f"{len(persons)} persons: {person.name or 'the first'} taken, the longest or first")
    layout = SMPL if parameters.body_only else parameters.layout
    rest, actor = _rest_joints(parameters, layout, options, notes, doubts)
    rate = options.fps or parameters.rate
    if rate is None:
        rate = DEFAULT_RATE
        doubts.append(f"the file does not say its rate: {DEFAULT_RATE:g} frames a second assumed (--fps)")
    # From the pelvis on: without fingers and face in long recordings.
    frames, count = len(parameters.translation), len(layout.names)
    if frames * count > MAX_POSES_WITH_FINGERS and count > BODY_COUNT:
        notes.append(f"{frames} frames: only the joints of the body are read, without fingers and face")
        count = BODY_COUNT
    if frames * count > MAX_POSES:
        raise MotionError(
            f"{source}: {count} joints in {frames} frames; at most {MAX_POSES} poses are read: cut the file"
        )
    offsets, names, parents = rest[:count].copy(), layout.names[:count], layout.parents[:count]
    offsets[1:] -= rest[parents[1:]]
    positions, rotations = np.empty((frames, count, 3)), np.empty((frames, count, 3, 3))
    for first in range(0, frames, CHUNK):
        last = min(first + CHUNK, frames)
        local = np.tile(offsets, (last - first, 1, 1))
        local[:, 0] += parameters.translation[first:last]
        positions[first:last], rotations[first:last] = compute_world_poses(
            parents, local, parameters.local_rotations(first, last, count)
        )
    up = _vertical_axis(parameters, positions, notes, doubts)
    if options.strict and doubts:
        raise MotionError(f"{source}: {doubts[0]}; with --strict nothing is assumed")
    time, bodies = np.arange(len(positions)) / rate, (parents, offsets, positions, rotations)
    return SkeletonRecording(
        time, names, *bodies, source, "m", up, actor, notes=tuple(notes), doubts=tuple(doubts)
    )


def _rest_joints(
    parameters: PoseParameters, layout: Layout, options: ReadOptions, notes: list[str], doubts: list[str]
) -> tuple[Array, Actor]:
    """Joints (J, 3) in the T-pose, m, the first with the model's offset, and the person."""
    sex = parameters.sex
    if options.body_model is not None:
        path = Path(options.body_model)
        joints, stature, used = read_rest_body(path, parameters.betas, layout, parameters.body_only)
        notes.append(
            f"joint places: body model {path.name}, {used} of {len(parameters.betas)} shape parameters; "
            f"the person is {stature:.3f} m tall"
        )
        if parameters.body_only:
            # The hands of an average person, along the forearms.
            average = average_joints(SMPL, stature)
            for side in SIDES:
                elbow, wrist, hand = (
                    SMPL.names.index(f"{side}_{part}") for part in ("elbow", "wrist", "hand")
                )
                along = joints[wrist] - joints[elbow]
                length = np.linalg.norm(average[hand] - average[wrist])
                place = joints[wrist] + along * length / max(np.linalg.norm(along), 1e-6)
                joints = np.vstack([joints, place])
        return joints, Actor(name="SMPL", height=stature, sex=sex)
    mean = SURVEY[sex][0] if sex in ("female", "male") else NEUTRAL_STATURE
    stature = options.stature or mean
    whose = "as declared" if options.stature else f"the average of {sex or 'adult'}s"
    notes.append(
        f"joint places: average proportions at {stature:.3g} m ({whose}); shape parameters are not used"
    )
    doubts.append(
        "joint places approximate: no body model (--body-model); bone lengths are those of an average person "
        f"{stature:.2f} m tall" + ("" if options.stature else " (--height declares another)")
    )
    return average_joints(layout, stature), Actor(name="SMPL", height=stature, sex=sex)


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


def average_joints(layout: Layout, stature: float) -> Array:
    """Compute the joints (J, 3) of an average person in the T-pose relative to the pelvis, m.

    x left, y up, z forward, palms down.
    """
    places = {"pelvis": (0.0, PELVIS, 0.0), "neck": (0.0, SHOULDER_HEIGHT + NECK_BASE, 0.0)}
    places |= {name: (0.0, height, 0.0) for name, height in SPINE.items()}
    head = SHOULDER_HEIGHT + NECK_BASE + NECK
    places["head"] = (0.0, head, 0.0)
    places |= {name: (x, head + y, z) for name, (x, y, z) in FACE.items()}
    knuckle = float(np.mean(list(WRIST_TO_KNUCKLE.values())))
    # The wrist's bones are what lies between the wrist's centre and the third metacarpal.
    carpus = knuckle - FINGER_LENGTHS["middle"][0] / HAND_STATURE_MM
    for side, sign in zip(SIDES, (1.0, -1.0), strict=True):
        hip, shoulder = sign * HIP_HALF_WIDTH, sign * SHOULDER_WIDTH / 2
        wrist = shoulder + sign * (UPPER_ARM + FOREARM)
        found = {
            "hip": (hip, HIP_HEIGHT, 0.0),
            "knee": (hip, KNEE_HEIGHT, 0.0),
            "ankle": (hip, ANKLE_HEIGHT, 0.0),
            "foot": (hip, BALL_HEIGHT, BALL_FORWARD),
            "collar": (sign * STERNOCLAVICULAR, SHOULDER_HEIGHT, 0.0),
            "shoulder": (shoulder, SHOULDER_HEIGHT, 0.0),
            "elbow": (shoulder + sign * UPPER_ARM, SHOULDER_HEIGHT, 0.0),
            "wrist": (wrist, SHOULDER_HEIGHT, 0.0),
            "hand": (wrist + sign * knuckle, SHOULDER_HEIGHT, 0.0),
        }
        for finger in FINGERS:
            *phalanges, towards_thumb = FINGER_LENGTHS[finger]
            for k, along in enumerate(carpus + np.cumsum(phalanges) / HAND_STATURE_MM):
                place = (wrist + sign * float(along), SHOULDER_HEIGHT, towards_thumb / HAND_STATURE_MM)
                found[f"{finger}{k + 1}"] = place
        places |= {f"{side}_{name}": place for name, place in found.items()}
    index = np.array([places[name] for name in layout.names])
    return np.asarray(stature * (index - index[0]))


def read_rest_body(path: Path, betas: Array, layout: Layout, body_only: bool) -> tuple[Array, float, int]:
    """Compute the joints of a person in the T-pose: J = J_regressor (v_template + shapedirs betas).

    `path`: `.npz` or `.pkl` file of the body model; `betas` (n,): shape parameters of the person; more than
    the model has are left out; `layout`: joints of the motion, which the model must have; `body_only`:
    whether the motion has no hands, so that a model of any layout will do; then the joints are those of the
    body. Returns the joints (J, 3) in the model's axes, m, x left, y up, z forward; the height from the
    lowest to the highest vertex, m; and the number of shape parameters that were used.
    """
    content = read_array_file(path, MotionError, KEYS)
    missing = [key for key in KEYS if key not in content]
    if missing:
        found = ", ".join(list(content)[:8]) or "none of these"
        raise MotionError(
            f"{path}: not a body model of the SMPL family: lacks {', '.join(missing)} (found: {found})"
        )
    vertices = _numbers(content["v_template"], 2, "v_template", path)
    directions = _numbers(content["shapedirs"], 3, "shapedirs", path)
    count = len(vertices)
    if vertices.shape[1] != 3 or not 0 < count <= MAX_VERTICES or directions.shape[:2] != (count, 3):
        raise MotionError(
            f"{path}: v_template has shape {vertices.shape} and shapedirs {directions.shape}; "
            "they must be (V, 3) and (V, 3, n)"
        )
    # The matrix (J, V) that gives joints from vertices.
    matrix = content["J_regressor"]
    if not isinstance(matrix, SparseMatrix):
        matrix = _numbers(matrix, 2, "J_regressor", path)
    if matrix.shape[1] != count or (
        isinstance(matrix, SparseMatrix) and matrix.shape[0] > 100 * len(LAYOUTS)
    ):
        raise MotionError(f"{path}: J_regressor has shape {matrix.shape}; it must be (J, {count})")
    try:
        regressor = matrix.to_dense() if isinstance(matrix, SparseMatrix) else matrix
    except ValueError as reason:
        raise MotionError(f"{path}: J_regressor: {reason}") from None
    model = LAYOUTS.get(len(regressor))
    if model is None:
        known = ", ".join(f"{number} ({each.model})" for number, each in LAYOUTS.items())
        raise MotionError(f"{path}: a body model with {len(regressor)} joints; known: {known}")
    tree = _numbers(content["kintree_table"], 2, "kintree_table", path)
    # The parent of the root is written as the largest unsigned number, or -1.
    if tree.shape != (2, len(regressor)) or not np.array_equal(tree[0, 1:], model.parents[1:]):
        raise MotionError(f"{path}: kintree_table is not that of {model.model}: other parents of the joints")
    if body_only:
        regressor = regressor[:BODY_COUNT]
    elif model.model != layout.model:
        raise MotionError(
            f"{path}: a {model.model} model ({len(model.names)} joints), but the poses are those of "
            f"{layout.model} ({len(layout.names)} joints); give the file of a {layout.model} model"
        )
    dimensions = directions.shape[2]
    if model is SMPL_X:
        dimensions = min(dimensions, SMPL_X_SHAPE if dimensions >= SMPL_X_SHAPE else SMPL_X_SHORT_SHAPE)
    used = min(dimensions, len(betas))
    for name, part in (
        ("v_template", vertices),
        ("shapedirs", directions[:, :, :used]),
        ("J_regressor", regressor),
        ("betas", betas),
    ):
        if not (np.abs(part) <= LARGEST_NUMBER).all():
            raise MotionError(
                f"{path}: {name} has a number that is NaN, infinite or beyond {LARGEST_NUMBER:g}"
            )
    shaped = vertices + directions[:, :, :used] @ betas[:used]
    joints = regressor @ shaped
    stature = float(np.ptp(shaped[:, 1]))
    low, high = STATURES
    farthest = float(np.abs(joints).max())
    if not low <= stature <= high or farthest > high:
        raise MotionError(
            f"{path}: the body is {stature:.3g} m tall along y, its farthest joint {farthest:.3g} m "
            f"from the origin; allowed: {low} to {high} m tall, y up, in metres"
        )
    return joints, stature, used


def _numbers(value: Any, dimensions: int, name: str, path: Path) -> Array:
    """Check that a value is an array of numbers with so many dimensions."""
    if not isinstance(value, np.ndarray) or value.ndim != dimensions or value.dtype.kind not in "iuf":
        raise MotionError(f"{path}: {name} must be an array of numbers with {dimensions} dimensions")
    return value.astype(np.float64) if value.size < 10_000_000 else np.asarray(value)
