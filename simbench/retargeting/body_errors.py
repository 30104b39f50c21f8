"""Errors of a robot's motion against the person's, its joints at limits, and the points of both bodies."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray
from scipy.spatial.transform import Rotation

from simbench.errors import RetargetError
from simbench.kinematics.arrays import Array
from simbench.kinematics.foot_contact import SOLE_THRESHOLDS, FootMeasures, Jerk, measure_feet, measure_jerk
from simbench.kinematics.rotation import wrap_angle
from simbench.kinematics.tree import frame_poses, kinematic_tree
from simbench.motion.human_motion import HumanMotion
from simbench.motion.trajectory import JointTrajectory
from simbench.retargeting.match.body import arm_lengths, hand_aims, match_body, place_points
from simbench.robot.robot import Robot
from simbench.robot.sides import SIDES

HAND, UPPER_ARM, FOREARM, HAND_ORIENTATION = "hand", "upper arm", "forearm", "hand orientation"
TRUNK, HEAD, THIGH, SHANK = "trunk", "head", "thigh", "shank"
ROOT, ROOT_HEIGHT, HEADING = "root", "root height", "heading"
# What is compared of trunk and arms, in the order of tables.
QUANTITIES = (HAND, UPPER_ARM, FOREARM, HAND_ORIENTATION, TRUNK)
# What is compared of the whole body, in the order of tables.
BODY_QUANTITIES = (*QUANTITIES, HEAD, THIGH, SHANK, ROOT, ROOT_HEIGHT, HEADING)
# Those of them that are directions of parts of the body.
DIRECTIONS = (UPPER_ARM, FOREARM, TRUNK, HEAD, THIGH, SHANK)

# Distance from the limit that a plan keeps within which a joint is at it, rad or m: beyond what smoothing and
# interpolation move it.
NEAR_LIMIT = 0.01

_AT_ORIGIN = np.array([0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 1.0])
_ARM, _LEG = ("shoulder", "elbow", "wrist"), ("hip", "knee", "ankle")
# Points of a body that stick figures connect, named as the joints of a recording.
POINT_NAMES = (
    *("pelvis", "neck", "head"),
    *(f"{side}_{joint}" for side in SIDES for joint in (*_ARM, *_LEG, "toe")),
)


@dataclass(frozen=True)
class ErrorTrack:
    """One error of the robot over time."""

    quantity: str  # One of `BODY_QUANTITIES`.
    side: str  # `left` or `right`; empty for the trunk, the head and the root.
    # (K,) int: samples of the recording at which the robot is compared with the person.
    samples: NDArray[np.int64]
    values: Array  # (K,): error at these samples: m for `hand`, `root` and `root height`, rad for the others.


@dataclass(frozen=True)
class RobotErrors:
    """Errors of a robot's motion against the person."""

    tracks: tuple[ErrorTrack, ...]  # The errors over time, in the order of `BODY_QUANTITIES`.
    # {side: float}: length of the robot's arms, m: shoulder to wrist, or to the palm where an arm only
    # follows a hand.
    arm_lengths: Mapping[str, float]
    # {side: (T,) bool array}: samples of the recording at which each hand holds equipment: there the arm
    # follows the handle.
    held: Mapping[str, NDArray[np.bool_]] = field(default_factory=dict)

    @property
    def held_fraction(self) -> float:
        """Fraction of the samples at which a hand holds equipment."""
        return float(np.any(list(self.held.values()), axis=0).mean()) if self.held else 0.0


@dataclass(frozen=True)
class ErrorSummary:
    """One error, summarised over time and both sides."""

    quantity: str  # Name for tables: of the robot's, one of `BODY_QUANTITIES`.
    unit: str  # m or rad; empty for a fraction of the arm's length.
    mean: float  # `mean`, `percentile_95`, `maximum`: mean, 95th percentile and largest value, in this unit.
    percentile_95: float
    maximum: float
    sample: int = 0  # Sample of the recording at which it is largest.
    side: str = ""  # Side on which it is largest: `left`, `right`, or empty.


def compare_with_person(
    robot: Robot,
    trajectory: JointTrajectory,
    motion: HumanMotion,
    *,
    heading: float = 0.0,
    held: Mapping[str, NDArray[np.bool_]] | None = None,
) -> RobotErrors:
    """Measure how far a robot of human form is from the person that it follows, at each of T samples.

    Sample k of the trajectory, however slow, is that of sample k of the recording. Directions are compared in
    the world frame, turned back by the robot's heading, rad about z. The hand's aim is that of the person's
    arm with the robot's lengths,

        p = L_upper (elbow − shoulder) / ‖elbow − shoulder‖ + L_fore (wrist − elbow) / ‖wrist − elbow‖,

    and its error the distance of the robot's wrist, relative to its own shoulder, from p: 0 where both
    directions are the person's, whatever the proportions. The trunk is the line from the middle of the hips
    to the middle of the shoulders; where hips are not recorded, it is compared as the hands are: by the
    rotation out of the initial posture, arms horizontal forward and palms down, which is the robot's posture
    `basic`. Head, thighs, shanks and root are compared as far as both the recording and the robot have them.
    """
    samples = np.arange(len(motion.time))
    if len(trajectory.time) != len(samples):
        raise RetargetError(
            f"the trajectory has {len(trajectory.time)} samples, the recording {len(samples)}; "
            "they must be as many"
        )
    path = path_without_heading(trajectory, heading)
    body, recorded, aims = match_body(robot), motion.joints, hand_aims(robot, motion)
    reached = dict(zip(body.names, np.moveaxis(place_points(body, path).points, 1, 0), strict=True))
    tracks, pairs = [], [(UPPER_ARM, "shoulder", "elbow"), (FOREARM, "elbow", "wrist")]
    if robot.floating:
        pairs += [(THIGH, "hip", "knee"), (SHANK, "knee", "ankle")]
    for quantity, start, end in pairs:
        for side in SIDES:
            a, b = f"{side}_{start}", f"{side}_{end}"
            if all(name in points for name in (a, b) for points in (recorded, reached)):
                angle = angle_between(reached[b] - reached[a], recorded[b] - recorded[a])
                tracks.append(ErrorTrack(quantity, side, samples, angle))
    for side in SIDES:
        missed = reached[f"{side}_wrist"] - reached[f"{side}_shoulder"] - aims[side]
        tracks.append(ErrorTrack(HAND, side, samples, np.linalg.norm(missed, axis=1)))
    ends = [f"{side}_{joint}" for joint in ("hip", "shoulder") for side in SIDES]
    trunk = all(name in points for name in ends for points in (recorded, reached))
    if trunk:
        person, own = (
            (points[ends[2]] + points[ends[3]]) - (points[ends[0]] + points[ends[1]])
            for points in (recorded, reached)
        )
        tracks.append(ErrorTrack(TRUNK, "", samples, angle_between(own, person)))

    # Rotations of hands, head and, where hips are not recorded, the trunk out of the initial posture. A hand
    # that was not recorded is only assumed in line with its forearm.
    initial, names = motion.initial, [*(f"{side}_hand" for side in SIDES), *([] if trunk else ["trunk"])]
    names = [name for name in names if name in initial.segments and name not in motion.missing]
    if "head" in robot.frames and all(
        name in joints for name in ("neck", "head") for joints in (recorded, initial.joints)
    ):
        names.append("head")
    frames = [robot.model.getFrameId(robot.frames[name]) for name in names]
    upright = np.concatenate([_AT_ORIGIN, robot.postures["basic"]])[None]
    poses, basic = (frame_poses(robot.model, frames, each) for each in (path, upright))
    for name, moving, (first,) in zip(names, poses, basic, strict=True):
        if name == "head":
            # It carries along the line d₀ from neck to head of the person's initial posture: the error is the
            # angle between R(t) R₀ᵀ d₀ and the person's line d(t), R₀ its rotation in the posture `basic`.
            own, person = (joints["head"] - joints["neck"] for joints in (initial.joints, recorded))
            error = angle_between(moving[:, :3, :3] @ (first[:3, :3].T @ own), person)
        else:
            turned = motion.segments[name][:, :3, :3] @ initial.segments[name][:3, :3].T
            error = rotation_angle(moving, turned @ first[:3, :3])
        side, _, hand = name.rpartition("_")
        tracks.append(ErrorTrack(HAND_ORIENTATION if side else hand, side, samples, error))
    if robot.floating and all(name in points for name in ends[:2] for points in (recorded, reached)):
        tracks += _compare_root(reached, motion)
    tracks.sort(key=lambda track: BODY_QUANTITIES.index(track.quantity))
    arms = {side: sum(arm_lengths(body, side)) for side in SIDES}
    return RobotErrors(tuple(tracks), arms, held or {})


def compare_hands(
    reached: Mapping[str, Array],
    wanted: Mapping[str, Array],
    samples: Mapping[str, NDArray[np.int64]],
    arm_lengths: Mapping[str, float],
    *,
    held: Mapping[str, NDArray[np.bool_]] | None = None,
    turn_axes: Mapping[str, Array | None] | None = None,
) -> RobotErrors:
    """Measure how far the hands of a robot without human form are from the person's, by side.

    `reached` are poses (T, 4, 4) of the robot's palms in the world frame, m, and `wanted` those that they
    would have if they went exactly as the person's; they are compared at `samples`. `arm_lengths` is empty
    for a robot whose arms have no length like a person's. `turn_axes` are axes (3,) of the palm about which a
    hand may turn freely on what it holds: it is right if the axis is.
    """
    tracks = []
    for side, chosen in samples.items():
        if not chosen.size:
            continue
        first, second = reached[side][chosen], wanted[side][chosen]
        axis = (turn_axes or {}).get(side)
        angle = rotation_angle(first, second)
        if axis is not None:
            angle = angle_between(first[:, :3, :3] @ axis, second[:, :3, :3] @ axis)
        apart = np.linalg.norm(first[:, :3, 3] - second[:, :3, 3], axis=1)
        tracks += [ErrorTrack(HAND, side, chosen, apart), ErrorTrack(HAND_ORIENTATION, side, chosen, angle)]
    tracks.sort(key=lambda track: QUANTITIES.index(track.quantity))
    return RobotErrors(tuple(tracks), arm_lengths, held or {})


def _compare_root(reached: Mapping[str, Array], motion: HumanMotion) -> Iterator[ErrorTrack]:
    """Compare the path of the middle between the hips, and the direction of the line between them.

    Displacements are from the first sample, the person's scaled by the ratio of the legs' lengths from hip to
    ankle, the mean over both legs of the median over time. The person's heading is that out of the initial
    posture.
    """
    hips, samples = [f"{side}_hip" for side in SIDES], np.arange(len(motion.time))
    lengths, paths, headings = [], [], []
    for points in (reached, motion.joints):
        legs = []
        for side in SIDES:
            if all(f"{side}_{joint}" in points for joint in _LEG):
                hip, knee, ankle = (points[f"{side}_{joint}"] for joint in _LEG)
                parts = np.linalg.norm(knee - hip, axis=1) + np.linalg.norm(ankle - knee, axis=1)
                legs.append(float(np.median(parts)))
        lengths.append(float(np.mean(legs)) if legs else None)
        both = np.stack([points[name] for name in hips], axis=1)
        paths.append(both.mean(axis=1) - both[0].mean(axis=0))
        across = both[:, 0] - both[:, 1]
        headings.append(np.arctan2(-across[:, 0], across[:, 1]))
    own, person = lengths
    if own is not None and person is not None:
        missed = paths[0] - own / person * paths[1]
        yield ErrorTrack(ROOT, "", samples, np.linalg.norm(missed[:, :2], axis=1))
        yield ErrorTrack(ROOT_HEIGHT, "", samples, np.abs(missed[:, 2]))
    left, right = (motion.initial.joints.get(name) for name in hips)
    first = 0.0
    if left is not None and right is not None:
        x, y, _ = left - right
        first = float(np.arctan2(-x, y))
    yield ErrorTrack(HEADING, "", samples, np.abs(wrap_angle(headings[0] - (headings[1] - first))))


def summarise_errors(errors: RobotErrors) -> tuple[ErrorSummary, ...]:
    """Compute mean, 95th percentile and largest value of each error, and when it is largest.

    In the order of `BODY_QUANTITIES`; the hand's is there in m and, where the length of the arms is known, as
    a fraction of it.
    """
    found = []
    for quantity in BODY_QUANTITIES:
        tracks = [track for track in errors.tracks if track.quantity == quantity]
        scales = {"m" if quantity in (HAND, ROOT, ROOT_HEIGHT) else "rad": [1.0] * len(tracks)}
        if quantity == HAND and all(track.side in errors.arm_lengths for track in tracks):
            scales[""] = [1.0 / errors.arm_lengths[track.side] for track in tracks]
        for unit, factors in scales.items() if tracks else ():
            scaled = [factor * track.values for track, factor in zip(tracks, factors, strict=True)]
            worst = int(np.argmax([each.max() for each in scaled]))
            values, sample = np.concatenate(scaled), tracks[worst].samples[int(scaled[worst].argmax())]
            numbers = float(values.mean()), float(np.quantile(values, 0.95)), float(values.max())
            found.append(ErrorSummary(quantity, unit, *numbers, int(sample), tracks[worst].side))
    return tuple(found)


def limit_stays(
    robot: Robot, trajectory: JointTrajectory, margin: float
) -> list[tuple[float, str, str, float, str, int, int]]:
    """Find the joints of trunk and arms that are at a limit at any sample, the longest stay first.

    A joint is at its limit within the margin that plans keep, and 0.01 rad (m) more. Joints with a range of
    less than four times that are left out, and sliding joints that stand still, such as a lift. Each with
    the fraction of the samples at which it is there, its name, `lower` or `upper`, that limit, `rad` or `m`,
    and first and last sample of its longest stay.
    """
    near, stays, model = margin + NEAR_LIMIT, [], robot.model
    limbs = {name for group in ("trunk", "left_arm", "right_arm") for name in robot.groups.get(group, ())}
    limits = model.lowerPositionLimit[robot.root_q :], model.upperPositionLimit[robot.root_q :]
    rows = zip(trajectory.joint_names, kinematic_tree(model).sliding, *limits, trajectory.q.T, strict=True)
    for name, slides, lower, upper, q in rows:
        if name not in limbs or upper - lower < 4.0 * near or (slides and not np.ptp(q)):
            continue
        for end, limit, there in (("lower", lower, q <= lower + near), ("upper", upper, q >= upper - near)):
            if there.any():
                edges = np.flatnonzero(np.diff(np.concatenate([[False], there, [False]])))
                longest = 2 * int(np.diff(edges)[::2].argmax())
                run = int(edges[longest]), int(edges[longest + 1]) - 1
                stays.append((float(there.mean()), name, end, float(limit), "m" if slides else "rad", *run))
    return sorted(stays, key=lambda stay: -stay[0])


def robot_metrics(
    robot: Robot, trajectory: JointTrajectory, errors: RobotErrors, margin: float
) -> dict[str, float]:
    """Compute mean and maximum of the errors of trunk and arms, and of joints that stay at a limit.

    `retarget.robot_hand_mean_m`, `retarget.robot_upper_arm_max_rad`, ..., and
    `retarget.robot_at_limit_fraction`: the largest fraction of the samples at which one joint is at one of
    its limits, within the margin of `limit_stays`.
    """
    metrics = {}
    for summary in summarise_errors(errors):
        if summary.unit and summary.quantity in QUANTITIES:
            name = f"retarget.robot_{summary.quantity.replace(' ', '_')}"
            metrics[f"{name}_mean_{summary.unit}"] = summary.mean
            metrics[f"{name}_max_{summary.unit}"] = summary.maximum
    fractions = [stay[0] for stay in limit_stays(robot, trajectory, margin)]
    return {**metrics, "retarget.robot_at_limit_fraction": max(fractions, default=0.0)}


def path_without_heading(trajectory: JointTrajectory, heading: float) -> Array:
    """Turn a robot's motion back by its heading, rad about z, to the axes of the recording: (T, 7 + n).

    Poses of the root link, turned back about the world's z axis, and joint positions, as for `frame_poses`. A
    fixed base, which has no pose of its own, is at the origin.
    """
    if trajectory.base is None:
        return np.hstack([np.tile(_AT_ORIGIN, (len(trajectory.time), 1)), trajectory.q])
    back = Rotation.from_euler("z", -heading)
    turned = back * Rotation.from_quat(trajectory.base[:, 3:])
    return np.hstack([back.apply(trajectory.base[:, :3]), turned.as_quat(), trajectory.q])


def rotation_angle(first: Array, second: Array) -> Array:
    """Compute the angles of the rotations between frames (T, 4, 4) or (T, 3, 3), 0 to π rad.

    Accurate also where it is small, unlike the arc cosine of the trace.
    """
    difference = first[:, :3, :3] - second[:, :3, :3]
    # ‖R₁ − R₂‖ = 2√2 sin(θ/2), and less than 1 by rounding only.
    half = np.linalg.norm(difference, axis=(1, 2)) / np.sqrt(8.0)
    return 2.0 * np.arcsin(np.minimum(half, 1.0))


def angle_between(first: Array, second: Array) -> Array:
    """Compute the angles between vectors (T, 3) of any length, 0 to π rad.

    Accurate also near 0 and π, where the arc cosine is not.
    """
    return np.arctan2(np.linalg.norm(np.cross(first, second), axis=1), np.sum(first * second, axis=1))


def robot_points(robot: Robot, trajectory: JointTrajectory, *, heading: float = 0.0) -> dict[str, Array]:
    """Compute the points (T, 3), m, of a robot's body that correspond to a person's `POINT_NAMES`.

    In the world frame turned back by the heading, rad about z, or in the frame of a fixed base. A toe is the
    middle of a sole's front edge. The neck is left out.
    """
    path, body = path_without_heading(trajectory, heading), match_body(robot)
    placed = np.moveaxis(place_points(body, path).points, 1, 0)
    points = {name: each for name, each in zip(body.names, placed, strict=True) if name in POINT_NAMES}
    roles = [name for name in ("pelvis", "head") if name in robot.frames]
    roles += [role for role in robot.feet if role in robot.soles]
    frames = [robot.model.getFrameId(robot.frames[role]) for role in roles]
    for role, pose in zip(roles, frame_poses(robot.model, frames, path), strict=True):
        points[role.replace("foot", "toe")] = pose[:, :3, 3]
        if role in robot.soles:
            corners = robot.soles[role]
            front = np.array([corners[:, 0].max(), corners[:, 1].mean(), 0.0])
            points[role.replace("foot", "toe")] = pose[:, :3, :3] @ front + pose[:, :3, 3]
    return points


def measure_robot_feet(
    robot: Robot, trajectory: JointTrajectory
) -> tuple[FootMeasures | None, dict[str, Jerk]]:
    """Measure how a robot's soles touch the floor in a planned motion, and the jerk of its hands and feet.

    Support, skating, penetration and flight of the soles' corners, None for a robot without two soles; jerks
    at the robot's pace, by name: `left hand`, ...
    """
    roles = sorted({*robot.hands, *robot.feet})
    still = np.tile([0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 1.0], (len(trajectory.time), 1))
    path = np.hstack([still if trajectory.base is None else trajectory.base, trajectory.q])
    frames = [robot.model.getFrameId(robot.frames[role]) for role in roles]
    poses = dict(zip(roles, frame_poses(robot.model, frames, path), strict=True))
    jerks = {}
    for role, pose in poses.items():
        jerk = measure_jerk(trajectory.time, pose[:, :3, 3])
        if jerk is not None:
            jerks[role.replace("_", " ")] = jerk
    feet = [role for role in robot.feet if role in robot.soles]
    if trajectory.base is None or len(feet) != 2:
        return None, jerks
    corners = {}
    for role in feet:
        turned = np.einsum("tij,cj->tci", poses[role][:, :3, :3], robot.soles[role])
        corners[role] = turned + poses[role][:, None, :3, 3]
    return measure_feet(trajectory.time, corners, SOLE_THRESHOLDS, floor=0.0), jerks
