"""Errors of a robot's head, legs and root against the person's, beside those of its arms and trunk."""

from collections.abc import Iterator, Mapping

import numpy as np

from simbench.kinematics.arrays import Array
from simbench.kinematics.rotation import wrap_angle
from simbench.kinematics.tree import frame_poses
from simbench.motion.human_motion import HumanMotion
from simbench.motion.trajectory import JointTrajectory
from simbench.retargeting.imitation.robot_errors import (
    FOREARM,
    QUANTITIES,
    TRUNK,
    UPPER_ARM,
    ErrorTrack,
    angle_between,
    basic_path,
    path_without_heading,
)
from simbench.retargeting.match.body import match_body
from simbench.retargeting.match.points import place_points
from simbench.robot.robot import Robot
from simbench.robot.sides import SIDES

HEAD, THIGH, SHANK, ROOT, ROOT_HEIGHT, HEADING = (
    "head",
    "thigh",
    "shank",
    "root",
    "root height",
    "heading",
)
BODY_QUANTITIES = (*QUANTITIES, HEAD, THIGH, SHANK, ROOT, ROOT_HEIGHT, HEADING)
"""What is compared of the whole body, in the order of tables."""
DIRECTIONS = (UPPER_ARM, FOREARM, TRUNK, HEAD, THIGH, SHANK)
"""Those of them that are directions of parts of the body."""

_LEG = ("hip", "knee", "ankle")


def compare_body(
    robot: Robot, trajectory: JointTrajectory, motion: HumanMotion, *, heading: float = 0.0
) -> tuple[ErrorTrack, ...]:
    """Measure how far a robot's head, legs and root are from the person's.

    The head carries along the line from neck to head that the person has in the initial posture d₀; its error
    is the angle between R(t) R₀ᵀ d₀ and the person's line d(t), R₀ the rotation of the robot's head in its
    posture `basic`. Thighs and shanks are compared by the lines between hip, knee and ankle; the root by the
    middle between the hips, displaced from the first sample, with the person's displacement scaled by the
    ratio of the legs' lengths; the heading by the direction of the line between the hips, the person's out of
    the initial posture.

    Parameters
    ----------
    robot : Robot
        Robot of human form.
    trajectory : JointTrajectory
        Its motion: sample k is that of sample k of the recording.
    motion : HumanMotion
        The recording with T samples.
    heading : float
        Direction of the robot's x axis in the world frame, rad about z, as it was placed.

    Returns
    -------
    tuple of ErrorTrack
        Errors of `HEAD`, `THIGH`, `SHANK`, `ROOT`, `ROOT_HEIGHT` and `HEADING`, as far as both the recording
        and the robot have them; rad, but `ROOT` and `ROOT_HEIGHT` in m.
    """
    path = path_without_heading(trajectory, heading)
    body = match_body(robot)
    points = dict(zip(body.names, np.moveaxis(place_points(body, path).points, 1, 0), strict=True))
    legs = points if robot.floating else {}
    return (
        *_compare_head(robot, path, motion),
        *_compare_legs(legs, motion),
        *_compare_root(legs, motion),
    )


def _compare_head(robot: Robot, path: Array, motion: HumanMotion) -> Iterator[ErrorTrack]:
    """Compare the line from neck to head that the robot's head carries along with the person's."""
    recorded = all(
        name in joints for name in ("neck", "head") for joints in (motion.joints, motion.initial.joints)
    )
    if not recorded or "head" not in robot.frames or "basic" not in robot.postures:
        return
    frame = [robot.model.getFrameId(robot.frames["head"])]
    (poses,), (basic,) = (frame_poses(robot.model, frame, each) for each in (path, basic_path(robot)))
    initial = motion.initial.joints["head"] - motion.initial.joints["neck"]
    carried = poses[:, :3, :3] @ (basic[0, :3, :3].T @ initial)
    angle = angle_between(carried, motion.joints["head"] - motion.joints["neck"])
    yield ErrorTrack(HEAD, "", np.arange(len(path)), angle)


def _compare_legs(points: Mapping[str, Array], motion: HumanMotion) -> Iterator[ErrorTrack]:
    """Compare the directions of thighs and shanks."""
    for quantity, start, end in ((THIGH, "hip", "knee"), (SHANK, "knee", "ankle")):
        for side in SIDES:
            a, b = f"{side}_{start}", f"{side}_{end}"
            if all(name in place for name in (a, b) for place in (motion.joints, points)):
                person = motion.joints[b] - motion.joints[a]
                angle = angle_between(points[b] - points[a], person)
                yield ErrorTrack(quantity, side, np.arange(len(person)), angle)


def _compare_root(points: Mapping[str, Array], motion: HumanMotion) -> Iterator[ErrorTrack]:
    """Compare the path of the middle between the hips, and the direction of the line between them."""
    hips = [f"{side}_hip" for side in SIDES]
    if not all(name in place for name in hips for place in (motion.joints, points)):
        return
    samples = np.arange(len(motion.time))
    robot, person = (np.stack([place[n] for n in hips], axis=1) for place in (points, motion.joints))
    length, own = leg_length(motion.joints), leg_length(points)
    if length is not None and own is not None:
        moved, wanted = (each.mean(axis=1) - each[0].mean(axis=0) for each in (robot, person))
        missed = moved - own / length * wanted
        yield ErrorTrack(ROOT, "", samples, np.linalg.norm(missed[:, :2], axis=1))
        yield ErrorTrack(ROOT_HEIGHT, "", samples, np.abs(missed[:, 2]))
    initial = [motion.initial.joints.get(name) for name in hips]
    first = 0.0 if any(each is None for each in initial) else float(_hip_heading(np.array(initial)))
    turned = _hip_heading(robot) - (_hip_heading(person) - first)
    yield ErrorTrack(HEADING, "", samples, np.abs(wrap_angle(turned)))


def leg_length(points: Mapping[str, Array]) -> float | None:
    """Measure the length of a leg from hip to ankle, m; None if no leg has hip, knee and ankle.

    It is the mean over both legs of the median over time of points (T, 3).
    """
    lengths = []
    for side in SIDES:
        names = [f"{side}_{joint}" for joint in _LEG]
        if all(name in points for name in names):
            hip, knee, ankle = (points[name] for name in names)
            parts = np.linalg.norm(knee - hip, axis=1) + np.linalg.norm(ankle - knee, axis=1)
            lengths.append(float(np.median(parts)))
    return float(np.mean(lengths)) if lengths else None


def _hip_heading(hips: Array) -> Array:
    """Direction in which hips (..., 2, 3), left and right, look, rad about z."""
    across = hips[..., 0, :] - hips[..., 1, :]
    return np.asarray(np.arctan2(-across[..., 0], across[..., 1]))
