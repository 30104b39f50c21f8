"""Errors of the robot's planned motion, inside its limits, against the person: hands, arms, trunk."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray
from scipy.spatial.transform import Rotation

from simbench.errors import RetargetError
from simbench.kinematics.arrays import Array
from simbench.kinematics.tree import frame_poses
from simbench.motion.human_motion import HumanMotion
from simbench.motion.trajectory import JointTrajectory
from simbench.retargeting.imitation.errors import rotation_angle
from simbench.retargeting.match.body import match_body
from simbench.retargeting.match.points import arm_lengths, place_points
from simbench.robot.robot import Robot
from simbench.robot.sides import SIDES

HAND, UPPER_ARM, FOREARM, HAND_ORIENTATION, TRUNK = (
    "hand",
    "upper arm",
    "forearm",
    "hand orientation",
    "trunk",
)
QUANTITIES = (HAND, UPPER_ARM, FOREARM, HAND_ORIENTATION, TRUNK)
"""What is compared, in the order of tables."""


_AT_ORIGIN = np.array([0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 1.0])


@dataclass(frozen=True)
class ErrorTrack:
    """One error of the robot over time.

    Parameters
    ----------
    quantity : str
        One of `QUANTITIES`.
    side : str
        `left` or `right`; empty for the trunk.
    samples : (K,) int array
        Samples of the recording at which the robot is compared with the person.
    values : (K,) array
        Error at these samples: m for `hand`, rad for the others.
    """

    quantity: str
    side: str
    samples: NDArray[np.int64]
    values: Array

    @property
    def name(self) -> str:
        """Name of the part of the body, as in logs: `left_upper_arm`, `trunk`."""
        return "_".join(filter(None, (self.side, *self.quantity.split())))


@dataclass(frozen=True)
class RobotErrors:
    """Errors of a robot's planned motion against the person.

    Parameters
    ----------
    tracks : tuple of ErrorTrack
        The errors over time.
    arm_lengths : {side: float}
        Length of the robot's arms, m: shoulder to wrist, or to the palm where an arm only follows a hand.
    held : {side: (T,) bool array}
        Samples of the recording at which each hand holds equipment: there the arm follows the handle.
    """

    tracks: tuple[ErrorTrack, ...]
    arm_lengths: Mapping[str, float]
    held: Mapping[str, NDArray[np.bool_]] = field(default_factory=dict)

    @property
    def held_fraction(self) -> float:
        """Fraction of the samples at which a hand holds equipment."""
        return float(np.any(list(self.held.values()), axis=0).mean()) if self.held else 0.0


@dataclass(frozen=True)
class RobotErrorSummary:
    """One error of the robot, summarised over time and both sides.

    Parameters
    ----------
    quantity : str
        One of `QUANTITIES`.
    unit : str
        m or rad; empty for a fraction of the arm's length.
    mean, percentile_95, maximum : float
        Mean, 95th percentile and largest value, in this unit.
    sample : int
        Sample of the recording at which it is largest.
    side : str
        Side on which it is largest: `left`, `right`, or empty for the trunk.
    """

    quantity: str
    unit: str
    mean: float
    percentile_95: float
    maximum: float
    sample: int
    side: str


def compare_with_person(
    robot: Robot,
    trajectory: JointTrajectory,
    motion: HumanMotion,
    *,
    heading: float = 0.0,
    held: Mapping[str, NDArray[np.bool_]] | None = None,
) -> RobotErrors:
    """Measure how far a robot that imitates a person with trunk and arms is from them.

    Directions are compared in the world frame, turned back by the robot's heading. The hand's aim is that of
    the person's arm with the robot's lengths,

        p = L_upper (elbow − shoulder) / ‖elbow − shoulder‖ + L_fore (wrist − elbow) / ‖wrist − elbow‖,

    and its error the distance of the robot's wrist, relative to its own shoulder, from p: 0 where both
    directions are the person's, whatever the proportions. The trunk is the line from the middle of the hips
    to the middle of the shoulders; where hips are not recorded, it is compared as the hands are: by the
    rotation out of the initial posture, arms horizontal forward and palms down, which is the robot's posture
    `basic`.

    Parameters
    ----------
    robot : Robot
        Robot of human form.
    trajectory : JointTrajectory
        Its planned motion, however slow: sample k is that of sample k of the recording.
    motion : HumanMotion
        The recording with T samples.
    heading : float
        Direction of the robot's x axis in the world frame, rad about z.
    held : {side: (T,) bool array}, optional
        Samples at which each hand holds equipment.

    Returns
    -------
    RobotErrors
        Errors at all samples.

    Raises
    ------
    RetargetError
        If trajectory and recording have different numbers of samples.
    """
    count = len(motion.time)
    if len(trajectory.time) != count:
        raise RetargetError(
            f"the trajectory has {len(trajectory.time)} samples, the recording {count}; they must be as many"
        )
    body = match_body(robot)
    path = path_without_heading(trajectory, heading)
    reached = dict(zip(body.names, np.moveaxis(place_points(body, path).points, 1, 0), strict=True))
    samples = np.arange(count)
    aims, tracks = hand_aims(robot, motion), []
    for side in SIDES:
        shoulder, elbow, wrist = (f"{side}_{joint}" for joint in ("shoulder", "elbow", "wrist"))
        for quantity, start, end in ((UPPER_ARM, shoulder, elbow), (FOREARM, elbow, wrist)):
            person = motion.joints[end] - motion.joints[start]
            angle = angle_between(reached[end] - reached[start], person)
            tracks.append(ErrorTrack(quantity, side, samples, angle))
        missed = reached[wrist] - reached[shoulder] - aims[side]
        tracks.append(ErrorTrack(HAND, side, samples, np.linalg.norm(missed, axis=1)))
    ends = [f"{side}_{joint}" for joint in ("hip", "shoulder") for side in SIDES]
    if all(name in motion.joints and name in reached for name in ends):
        person, own = (
            (place[ends[2]] + place[ends[3]]) - (place[ends[0]] + place[ends[1]])
            for place in (motion.joints, reached)
        )
        tracks.append(ErrorTrack(TRUNK, "", samples, angle_between(own, person)))
    tracks += _compare_orientations(robot, path, motion, trunk=TRUNK not in [t.quantity for t in tracks])
    tracks.sort(key=lambda track: QUANTITIES.index(track.quantity))
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
    """Measure how far the hands of a robot without human form are from the person's.

    Parameters
    ----------
    reached : {side: (T, 4, 4) array}
        Poses of the robot's palms in the world frame, m.
    wanted : {side: (T, 4, 4) array}
        Poses that they would have if they went exactly as the person's, m.
    samples : {side: (K,) int array}
        Samples at which they are compared.
    arm_lengths : {side: float}
        Length of the robot's arms, m; empty for a robot whose arms have no length like a person's.
    held : {side: (T,) bool array}, optional
        Samples at which each hand holds equipment.
    turn_axes : {side: (3,) array or None}, optional
        Axis of the palm about which a hand may turn freely on what it holds; None if it may not.

    Returns
    -------
    RobotErrors
        Errors of position and orientation at these samples; none of a hand without samples.
    """
    tracks = []
    for side, chosen in samples.items():
        if not chosen.size:
            continue
        first, second = reached[side][chosen], wanted[side][chosen]
        apart = np.linalg.norm(first[:, :3, 3] - second[:, :3, 3], axis=1)
        axis = (turn_axes or {}).get(side)
        # A hand that may turn about an axis is right if the axis is.
        angle = (
            rotation_angle(first, second)
            if axis is None
            else angle_between(first[:, :3, :3] @ axis, second[:, :3, :3] @ axis)
        )
        tracks.append(ErrorTrack(HAND, side, chosen, apart))
        tracks.append(ErrorTrack(HAND_ORIENTATION, side, chosen, angle))
    tracks.sort(key=lambda track: QUANTITIES.index(track.quantity))
    return RobotErrors(tuple(tracks), arm_lengths, held or {})


def summarise_robot(errors: RobotErrors) -> tuple[RobotErrorSummary, ...]:
    """Compute mean, 95th percentile and largest value of each error, and when it is largest.

    Parameters
    ----------
    errors : RobotErrors
        Errors of a robot.

    Returns
    -------
    tuple of RobotErrorSummary
        In the order of `QUANTITIES`; the hand's is there twice, in m and as a fraction of the arm's length.
    """
    found: list[RobotErrorSummary] = []
    for quantity in QUANTITIES:
        tracks = [track for track in errors.tracks if track.quantity == quantity]
        if not tracks:
            continue
        found.append(summarise_tracks(tracks, "m" if quantity == HAND else "rad", [1.0] * len(tracks)))
        if quantity == HAND and all(track.side in errors.arm_lengths for track in tracks):
            found.append(
                summarise_tracks(tracks, "", [1.0 / errors.arm_lengths[track.side] for track in tracks])
            )
    return tuple(found)


def robot_error_metrics(errors: RobotErrors) -> dict[str, float]:
    """Compute the metrics of a robot's errors.

    Parameters
    ----------
    errors : RobotErrors
        Errors of a robot.

    Returns
    -------
    dict of str to float
        Mean and maximum of each: `retarget.robot_hand_mean_m`, `retarget.robot_upper_arm_max_rad`, ...
    """
    return {
        f"retarget.robot_{summary.quantity.replace(' ', '_')}_{kind}_{summary.unit}": value
        for summary in summarise_robot(errors)
        if summary.unit
        for kind, value in (("mean", summary.mean), ("max", summary.maximum))
    }


def hand_aims(robot: Robot, motion: HumanMotion) -> dict[str, Array]:
    """Compute where the robot's wrists would be if its arms had the person's directions.

    Parameters
    ----------
    robot : Robot
        Robot of human form, of which only the lengths of its arms count.
    motion : HumanMotion
        The recording with T samples.

    Returns
    -------
    {side: (T, 3) array}
        Position of each wrist relative to its shoulder, in the recording's axes, m.
    """
    body, aims = match_body(robot), {}
    for side in SIDES:
        lengths = arm_lengths(body, side)
        shoulder, elbow, wrist = (
            motion.joints[f"{side}_{joint}"] for joint in ("shoulder", "elbow", "wrist")
        )
        aims[side] = sum(
            length * line / np.linalg.norm(line, axis=1, keepdims=True)
            for length, line in (
                (lengths[0], elbow - shoulder),
                (lengths[1], wrist - elbow),
            )
        )
    return aims


def path_without_heading(trajectory: JointTrajectory, heading: float) -> Array:
    """Turn a robot's motion back by its heading, to the axes of the recording.

    Parameters
    ----------
    trajectory : JointTrajectory
        T samples of a robot's motion with n joints.
    heading : float
        Direction of the robot's x axis in the world frame, rad about z.

    Returns
    -------
    (T, 7 + n) array
        Poses of the root link, turned back about the world's z axis, and joint positions, as for
        `frame_poses`. A fixed base, which has no pose of its own, is at the origin.
    """
    if trajectory.base is None:
        return np.hstack([np.tile(_AT_ORIGIN, (len(trajectory.time), 1)), trajectory.q])
    back = Rotation.from_euler("z", -heading)
    turned = back * Rotation.from_quat(trajectory.base[:, 3:])
    return np.hstack([back.apply(trajectory.base[:, :3]), turned.as_quat(), trajectory.q])


def basic_path(robot: Robot) -> Array:
    """Place a robot upright at the origin in its initial posture: arms horizontal forward, palms down.

    Parameters
    ----------
    robot : Robot
        Robot of human form, with n joints.

    Returns
    -------
    (1, 7 + n) array
        Pose of the root link, and joint positions of the posture `basic`.
    """
    return np.concatenate([_AT_ORIGIN, robot.postures["basic"]])[None]


def _compare_orientations(
    robot: Robot, path: Array, motion: HumanMotion, *, trunk: bool
) -> Iterator[ErrorTrack]:
    """Compare the rotation of hands, and of the trunk, out of the initial posture with the person's."""
    names = [*(f"{side}_hand" for side in SIDES), *(["trunk"] if trunk else [])]
    # A hand that was not recorded is only assumed in line with its forearm.
    recorded = [name for name in names if name in motion.initial.segments and name not in motion.missing]
    frames = [robot.model.getFrameId(robot.frames[name]) for name in recorded]
    poses, basic = (frame_poses(robot.model, frames, each) for each in (path, basic_path(robot)))
    for name, moving, first in zip(recorded, poses, basic, strict=True):
        initial = motion.initial.segments[name][:3, :3]
        wanted = motion.segments[name][:, :3, :3] @ initial.T @ first[0, :3, :3]
        quantity, side = (TRUNK, "") if name == "trunk" else (HAND_ORIENTATION, name.partition("_")[0])
        yield ErrorTrack(quantity, side, np.arange(len(path)), rotation_angle(moving, wanted))


def angle_between(first: Array, second: Array) -> Array:
    """Compute the angles between vectors.

    Parameters
    ----------
    first : (T, 3) array
        Vectors of any length.
    second : (T, 3) array
        Vectors to compare with.

    Returns
    -------
    (T,) array
        0 to π, rad; accurate also near 0 and π, where the arc cosine is not.
    """
    return np.arctan2(np.linalg.norm(np.cross(first, second), axis=1), np.sum(first * second, axis=1))


def summarise_tracks(tracks: Sequence[ErrorTrack], unit: str, scales: Sequence[float]) -> RobotErrorSummary:
    """Summarise one error over its tracks.

    Parameters
    ----------
    tracks : sequence of ErrorTrack
        Tracks of the same quantity, at least one.
    unit : str
        Unit of the summary.
    scales : sequence of float
        Factor of each track.

    Returns
    -------
    RobotErrorSummary
        Mean, 95th percentile and largest value over all tracks, and where it is largest.
    """
    scaled = [scale * track.values for track, scale in zip(tracks, scales, strict=True)]
    values = np.concatenate(scaled)
    worst = max(range(len(tracks)), key=lambda number: float(scaled[number].max()))
    at = int(scaled[worst].argmax())
    return RobotErrorSummary(
        tracks[0].quantity,
        unit,
        float(values.mean()),
        float(np.quantile(values, 0.95)),
        float(values.max()),
        int(tracks[worst].samples[at]),
        tracks[worst].side,
    )
