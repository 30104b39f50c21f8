"""Recorded human motion: joint positions, segment frames and handles over time, and its validation."""

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field, replace
from itertools import combinations, product

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.interpolate import CubicSpline
from scipy.spatial.transform import Rotation, RotationSpline

from simbench.errors import MotionError
from simbench.files.text import is_plain_name
from simbench.kinematics.arrays import Array
from simbench.robot.sides import SIDES
from simbench.system.limits import require_steps

# Columns: x (distal), y and z (lateral) of the frames of upper arm, forearm and hand in the trunk's axes
# (forward, left, up) while the arm hangs and the palm faces the thigh. At the hand z is dorsal, x along the
# fingers.
HANGING_LIMB = {
    "left": np.array([[0.0, -1.0, 0.0], [0.0, 0.0, 1.0], [-1.0, 0.0, 0.0]]),
    "right": np.array([[0.0, 1.0, 0.0], [0.0, 0.0, -1.0], [-1.0, 0.0, 0.0]]),
}

# Palm centre from the wrist centre in the hand frame, m: L8 and L9 of ROMEO's hand (Tomić 2018, table D.1).
PALM_OFFSET = np.array([0.09, 0.0, -0.02])


def transform(rotation: Array, position: Array) -> Array:
    """Build homogeneous transforms from rotations and positions, which broadcast against each other.

    `rotation` (..., 3, 3): rotation matrices; `position` (..., 3): positions of the origins, m. Returns (...,
    4, 4).
    """
    shape = np.broadcast_shapes(rotation.shape[:-2], position.shape[:-1])
    frames = np.zeros((*shape, 4, 4))
    frames[..., :3, :3], frames[..., :3, 3], frames[..., 3, 3] = rotation, position, 1.0
    return frames


def mean_frame(frames: Array) -> Array:
    """Average homogeneous transforms: mean position and chordal mean of the rotations.

    `frames` (T, 4, 4). Returns (4, 4).
    """
    rotation = Rotation.from_matrix(frames[:, :3, :3]).mean().as_matrix()
    return transform(rotation, frames[:, :3, 3].mean(axis=0))


# Largest deviation from 1 of the length of an axis.
UNIT = 1e-3


@dataclass(frozen=True)
class HandlePath:
    """A handle that one hand holds, as poses of the palm along the path on which the equipment guides it."""

    # (K, 4, 4): poses of the palm that holds the handle, in the world frame, m, in order along the path:
    # origin at the palm's centre, x along the fingers, z dorsal. A single pose for a handle that does not
    # move; the first equals the last where the path is a circle.
    poses: NDArray[np.float64]
    # (3,) or None: unit vector in the palm's axes about which the hand may turn on the handle; None where the
    # grasp is rigid.
    turn_axis: NDArray[np.float64] | None = None
    start: int | None = None  # Index of the pose in which a hand finds the handle; None if that is not known.


def path_length(handle: HandlePath) -> float:
    """Measure the length of a handle's path.

    Returns length of the path of the palm's centre from one end to the other (once around a circle), m.
    """
    steps = np.diff(handle.poses[:, :3, 3], axis=0)
    return float(np.linalg.norm(steps, axis=1).sum())


def check_handles(handles: Mapping[str, HandlePath], source: str) -> None:
    """Check that handles have known sides, the right shapes and finite numbers.

    `handles`: the handles by the side of the hand that holds them, `left` or `right`; `source`: name of the
    recording they belong to, for messages.
    """
    for side, handle in handles.items():
        if side not in SIDES:
            raise MotionError(f"{source}: handle {side}: unknown side; allowed: {', '.join(SIDES)}")
        where, poses, axis = f"{source}: {side} handle", handle.poses, handle.turn_axis
        if poses.ndim != 3 or poses.shape[1:] != (4, 4) or not len(poses):
            raise MotionError(f"{where}: poses have shape {poses.shape}; it must be (K, 4, 4), K at least 1")
        bad = np.flatnonzero(~np.isfinite(poses).all(axis=(1, 2)))
        if bad.size:
            raise MotionError(f"{where}: pose {bad[0]} is NaN or infinite; every number must be finite")
        if axis is None:
            continue
        if axis.shape != (3,):
            raise MotionError(f"{where}: turn axis has shape {axis.shape}; it must be (3,)")
        length = float(np.linalg.norm(axis))
        if not abs(length - 1.0) <= UNIT:
            raise MotionError(f"{where}: turn axis is {length:.4g} long; it must be a unit vector")


# A relaxed arm is flexed a little at the elbow, rad.
ELBOW_FLEXION = 0.25


def hang_arm(
    axes: NDArray[np.float64], side: str, shoulder: NDArray[np.float64], upper: float, fore: float
) -> tuple[dict[str, NDArray[np.float64]], dict[str, NDArray[np.float64]]]:
    """Let an arm hang beside a body, palm at the thigh.

    `axes` (T, 3, 3): the body's axes, x forward, y left, z up, as columns; `shoulder` (T, 3): its centre, m;
    `upper`, `fore`: lengths of the arm, m. Returns `joints` (T, 3), m, and `rotations` (T, 3, 3) of upper
    arm, forearm and hand, by name.
    """
    # Flexion turns the hanging forearm forward, about the axis to the right.
    cosine, sine = np.cos(ELBOW_FLEXION), np.sin(ELBOW_FLEXION)
    flexion = np.array([[cosine, 0.0, -sine], [0.0, 1.0, 0.0], [sine, 0.0, cosine]])
    upper_arm, forearm = axes @ HANGING_LIMB[side], axes @ flexion @ HANGING_LIMB[side]
    elbow = shoulder + upper * upper_arm[:, :, 0]
    places = (shoulder, elbow, elbow + fore * forearm[:, :, 0])
    joints = {
        f"{side}_{joint}": place for joint, place in zip(("shoulder", "elbow", "wrist"), places, strict=True)
    }
    turned = {"upper_arm": upper_arm, "forearm": forearm, "hand": forearm}
    return joints, {f"{side}_{segment}": rotation for segment, rotation in turned.items()}


ARM_JOINTS = tuple(f"{side}_{joint}" for side in SIDES for joint in ("shoulder", "elbow", "wrist"))
ARM_SEGMENTS = tuple(f"{side}_{part}" for side in SIDES for part in ("upper_arm", "forearm", "hand"))
# Allowed lengths of limbs, m, from a small child to a giant: wide, because their purpose is to catch
# positions in millimetres and swapped markers.
LENGTH_RANGES = {
    ("shoulder", "elbow"): ("upper arm", 0.10, 0.60),
    ("elbow", "wrist"): ("forearm", 0.08, 0.50),
}


@dataclass(frozen=True)
class Actor:
    """The person who moved, as far as their body is known."""

    name: str  # Name or label of the person.
    height: float  # Stature, m.
    mass: float | None = None  # Body mass, kg.
    sex: str | None = None  # `female` or `male`.
    age: float | None = None  # Age, years.


@dataclass(frozen=True)
class Gap:
    """A stretch in which a marker was not seen and its track was filled."""

    marker: str  # Name of the marker.
    first: int  # `first`, `last`: index of the first and of the last sample of the gap.
    last: int


@dataclass(frozen=True)
class InitialPose:
    """The actor's initial configuration: arms horizontal forward, palms down.

    It is the mean over the samples of the initial configuration phase (ICP) if the recording has one, else
    the same posture computed from the skeleton.
    """

    # Mapping of str to (3,) array: joint positions in the world frame, m.
    joints: Mapping[str, NDArray[np.float64]]
    # Mapping of str to (4, 4) array: poses of the segments' marker frames in the world frame, m.
    segments: Mapping[str, NDArray[np.float64]]


@dataclass(frozen=True)
class HumanMotion:
    """A recording in SI units, world frame z up, x forward from the actor's start.

    Parameters
    ----------
    time : (T,) array
        Times of the samples, s, strictly increasing from 0.
    joints : mapping of str to (T, 3) array
        Joint centres in the world frame, m. At least shoulder, elbow and wrist of one arm; others (`pelvis`,
        `neck`, `left_ankle`, ...) when recorded.
    segments : mapping of str to (T, 4, 4) array
        Poses of the segments' marker frames in the world frame as homogeneous transforms, m. At least upper
        arm, forearm and hand of each arm whose joints are given; `trunk` when recorded.
    initial : InitialPose
        The calibration posture.
    source : str
        Where the recording is from: its file, or its name as `scheme:name`.
    actor : Actor or None
        The person who moved, where the source says so.
    strokes : (N, 2) int array or None
        First and last sample of each repetition of the periodic phase, when known.
    notes : tuple of str
        What was left out or assumed in reading, as text for the user.
    doubts : tuple of str
        Those assumptions that may well be wrong, one line each: `inspect`, `retarget` and `run` repeat them.
    markers : mapping of str to (T, 3) array
        Tracks of the markers that the motion was derived from, in the world frame, m, gaps filled; empty
        where the source has none.
    missing : tuple of str
        Joints and segments among `ARM_JOINTS`, `ARM_SEGMENTS`, `trunk`, `pelvis`, and of the legs that the
        source does not hold. A hand that is listed here and yet present in `segments` is assumed in line with
        its forearm.
    filled : tuple of Gap
        Gaps in marker tracks that were filled.
    handles : mapping of str to HandlePath
        Handles that the hands hold, by side, where the pose of the equipment is known; empty in free motion.
    """

    time: NDArray[np.float64]
    joints: Mapping[str, NDArray[np.float64]]
    segments: Mapping[str, NDArray[np.float64]]
    initial: InitialPose
    source: str
    actor: Actor | None = None
    strokes: NDArray[np.int64] | None = None
    notes: tuple[str, ...] = ()
    markers: Mapping[str, NDArray[np.float64]] = field(default_factory=dict)
    missing: tuple[str, ...] = ()
    filled: tuple[Gap, ...] = ()
    handles: Mapping[str, HandlePath] = field(default_factory=dict)
    doubts: tuple[str, ...] = ()

    @property
    def rate(self) -> float:
        """Mean sampling rate, Hz."""
        return float((len(self.time) - 1) / (self.time[-1] - self.time[0]))


def validate_motion(motion: HumanMotion) -> HumanMotion:
    """Check everything about a motion that later steps rely on; all readers end with this.

    Returns the same object. Raises MotionError fewer than two frames, no complete arm, an arm without its
    segments, wrong shapes, NaN or infinite values, time that does not increase, rotations that are not
    orthonormal, coinciding arm joints, limb lengths that no human has, handles with an unknown side.
    """
    time = motion.time
    initial = motion.initial
    names = (*motion.joints, *motion.segments, *motion.markers, *initial.joints, *initial.segments)
    strange = next((name for name in names if not is_plain_name(name)), None)
    if strange is not None:
        raise MotionError(f"{motion.source}: the name {strange!r} must not have control characters")
    check_time(time, motion.source)
    arms = complete_arms(motion.joints)
    joints, segments = (
        tuple(name for name in names if name.partition("_")[0] in arms) or names
        for names in (ARM_JOINTS, ARM_SEGMENTS)
    )
    # Presence, shape and finiteness.
    for kind, tracks, required, shape in (
        ("joint", motion.joints, joints, (len(time), 3)),
        ("segment", motion.segments, segments, (len(time), 4, 4)),
        ("marker", motion.markers, (), (len(time), 3)),
        ("initial joint", initial.joints, joints, (3,)),
        ("initial segment", initial.segments, segments, (4, 4)),
    ):
        missing = [name for name in required if name not in tracks]
        if missing:
            raise MotionError(
                f"{motion.source}: {kind}s missing: {', '.join(missing)}; needed: {', '.join(required)}"
            )
        for name, values in tracks.items():
            if values.shape != shape:
                raise MotionError(
                    f"{motion.source}: {kind} {name} has shape {values.shape}; it must be {shape}"
                )
            single = kind.startswith("initial")
            bad = np.flatnonzero(~np.isfinite(values.reshape(1 if single else len(time), -1)).all(axis=1))
            if bad.size:
                when = "" if single else f" at frame {bad[0]} ({time[bad[0]]:.3f} s)"
                raise MotionError(
                    f"{motion.source}: {kind} {name} is NaN or infinite{when}, {bad.size} frame(s) in all; "
                    "every sample must be a finite number"
                )
    check_handles(motion.handles, motion.source)
    # Homogeneous transforms with a proper rotation.
    for what, frames, moving in (
        *((f"segment {name}", frames, True) for name, frames in motion.segments.items()),
        *((f"initial segment {name}", frame[None], False) for name, frame in initial.segments.items()),
        *((f"{side} handle", handle.poses, False) for side, handle in motion.handles.items()),
    ):
        rotation = frames[:, :3, :3]
        error = np.abs(rotation @ rotation.transpose(0, 2, 1) - np.eye(3)).max(axis=(1, 2))
        error = np.maximum(error, np.abs(np.linalg.det(rotation) - 1.0))
        error = np.maximum(error, np.abs(frames[:, 3] - np.array([0.0, 0.0, 0.0, 1.0])).max(axis=1))
        wrong = np.flatnonzero(error > 1e-3)
        if wrong.size:
            first = wrong[0]
            when = f" at frame {first} ({time[first]:.3f} s)" if moving else ""
            raise MotionError(
                f"{motion.source}: {what}: not a rigid transform{when} (off by {error[first]:.2g}); the "
                "rotation must be orthonormal and right-handed to 0.001, the last row 0 0 0 1"
            )
    # Joints of the arms that are apart, and limbs of human lengths.
    at_start = {name: position[None] for name, position in initial.joints.items()}
    for where, tracks in ((motion.source, motion.joints), (f"{motion.source}: initial pose", at_start)):
        for first, second in combinations([name for name in ARM_JOINTS if name in tracks], 2):
            close = np.flatnonzero(np.linalg.norm(tracks[first] - tracks[second], axis=1) < 1e-6)
            if close.size:
                frame = close[0]
                when = "" if tracks is at_start else f" at frame {frame} ({time[frame]:.3f} s)"
                raise MotionError(f"{where}: joints {first} and {second} coincide{when}; they must be apart")
        for side, (ends, (limb, low, high)) in product(complete_arms(tracks), LENGTH_RANGES.items()):
            proximal, distal = (f"{side}_{end}" for end in ends)
            length = float(np.median(np.linalg.norm(tracks[proximal] - tracks[distal], axis=1)))
            if not low <= length <= high:
                mistaken = not 0.1 < length / low < 50
                unit = "; probably a unit mistake, positions must be in metres" if mistaken else ""
                raise MotionError(
                    f"{where}: the {side} {limb} ({proximal} to {distal}) is {length:.4g} m long; allowed "
                    f"{low} to {high} m{unit}"
                )
    return motion


def check_time(time: NDArray[np.float64], source: str) -> None:
    """Check that time increases from sample to sample.

    `time` (T,): times of the samples, s; `source`: name of the recording, for messages.
    """
    if time.ndim != 1 or len(time) < 2:
        raise MotionError(f"{source}: {time.size} frame(s) found; a motion needs at least 2 frames")
    bad = np.flatnonzero(~np.isfinite(time))
    if bad.size:
        raise MotionError(f"{source}: time is {time[bad[0]]} at frame {bad[0]}; it must be finite")
    bad = np.flatnonzero(np.diff(time) <= 0.0)
    if bad.size:
        k = int(bad[0]) + 1
        kind = "goes back" if time[k] < time[k - 1] else "repeats"
        raise MotionError(
            f"{source}: time {kind} at frame {k} ({time[k - 1]:.6g} s, then {time[k]:.6g} s); "
            "it must increase strictly"
        )
    require_steps(time, source, MotionError)


def complete_arms(joints: Collection[str]) -> tuple[str, ...]:
    """Find the sides of the arms of which shoulder, elbow and wrist are among the names of joints."""
    parts = ("shoulder", "elbow", "wrist")
    return tuple(side for side in SIDES if all(f"{side}_{part}" in joints for part in parts))


def require_both_arms(motion: HumanMotion) -> None:
    """Refuse a recording that retargeting to two arms cannot use."""
    absent = [name for name in ARM_JOINTS if name not in motion.joints]
    if absent:
        raise MotionError(
            f"{motion.source}: the recording lacks {', '.join(absent)}; retargeting needs both arms"
        )


def scale_motion(motion: HumanMotion, factor: float) -> HumanMotion:
    """Scale a recording about the world's origin, handles and markers too: a smaller or larger person.

    Also the initial posture and the actor's height; angles and times stay.
    """

    def moved(poses: NDArray[np.float64]) -> NDArray[np.float64]:
        scaled = poses.copy()
        scaled[..., :3, 3] *= factor
        return scaled

    def scaled(points: Mapping[str, NDArray[np.float64]]) -> dict[str, NDArray[np.float64]]:
        return {name: factor * each for name, each in points.items()}

    initial, actor = motion.initial, motion.actor
    return replace(
        motion,
        joints=scaled(motion.joints),
        segments={name: moved(each) for name, each in motion.segments.items()},
        initial=InitialPose(
            scaled(initial.joints), {name: moved(each) for name, each in initial.segments.items()}
        ),
        actor=None if actor is None else replace(actor, height=factor * actor.height),
        markers=scaled(motion.markers),
        handles={side: replace(each, poses=moved(each.poses)) for side, each in motion.handles.items()},
    )


def resample(motion: HumanMotion, rate: float) -> HumanMotion:
    """Sample the same motion at another rate, by twice continuously differentiable interpolation.

    Positions are interpolated by cubic splines, orientations by rotation splines. There is no low-pass
    filter: lowering the rate of a noisy recording aliases its noise. `rate`: new sampling rate, Hz. Returns
    the motion with samples every 1/rate from the first time on, the last one at most 1/rate before the
    original end; `strokes` moved to the nearest samples.
    """
    if not (np.isfinite(rate) and rate > 0):
        raise MotionError(f"{motion.source}: cannot resample at {rate} Hz; the rate must be positive")
    start, duration = motion.time[0], motion.time[-1] - motion.time[0]
    count = int(np.floor(duration * rate + 1e-6)) + 1
    if count < 2:
        raise MotionError(
            f"{motion.source}: {rate} Hz leaves {count} sample of {duration:.3g} s; "
            f"the rate must be at least {1 / duration:.3g} Hz"
        )
    time = start + np.arange(count) / rate
    # The last sample may exceed the end by rounding only: stay inside the data.
    inside = np.minimum(time, motion.time[-1])
    joints = {name: CubicSpline(motion.time, p)(inside) for name, p in motion.joints.items()}
    segments = {}
    for name, frames in motion.segments.items():
        rotation = RotationSpline(motion.time, Rotation.from_matrix(frames[:, :3, :3]))
        new = np.tile(np.eye(4), (count, 1, 1))
        new[:, :3, :3] = rotation(inside).as_matrix()
        new[:, :3, 3] = CubicSpline(motion.time, frames[:, :3, 3])(inside)
        segments[name] = new
    markers = {name: CubicSpline(motion.time, p)(inside) for name, p in motion.markers.items()}

    def nearest(samples: ArrayLike) -> NDArray[np.int64]:
        """Find the new samples that are nearest to old ones."""
        new = np.rint((motion.time[np.asarray(samples)] - start) * rate)
        return np.clip(new, 0, count - 1).astype(np.int64)

    return replace(
        motion,
        time=time,
        joints=joints,
        segments=segments,
        markers=markers,
        strokes=None if motion.strokes is None else nearest(motion.strokes),
        filled=tuple(Gap(gap.marker, *nearest([gap.first, gap.last]).tolist()) for gap in motion.filled),
    )
