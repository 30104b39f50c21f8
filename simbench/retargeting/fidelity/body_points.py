"""Points of a person's and a robot's body that stick figures connect."""

from typing import NamedTuple

import numpy as np

from simbench.kinematics.arrays import Array
from simbench.kinematics.tree import frame_poses
from simbench.motion.human_motion import HumanMotion
from simbench.motion.trajectory import JointTrajectory
from simbench.retargeting.imitation.robot_errors import path_without_heading
from simbench.retargeting.match.body import match_body
from simbench.retargeting.match.points import place_points
from simbench.robot.robot import Robot
from simbench.robot.sides import SIDES

_ARM, _LEG = ("shoulder", "elbow", "wrist"), ("hip", "knee", "ankle", "toe")
POINT_NAMES = (
    "pelvis",
    "neck",
    "head",
    *(f"{side}_{joint}" for side in SIDES for joint in (*_ARM, *_LEG)),
)
"""Points of a body, named as the joints of a recording."""


class StickLine(NamedTuple):
    """A line of a stick figure.

    Parameters
    ----------
    side : str
        `left`, `right`, or empty for the middle of the body.
    points : (T, N, 3) array
        Positions of the N points that it connects, m.
    """

    side: str
    points: Array


def person_points(motion: HumanMotion) -> dict[str, Array]:
    """Select the points of a person's body that are recorded.

    Parameters
    ----------
    motion : HumanMotion
        The recording with T samples.

    Returns
    -------
    {str: (T, 3) array}
        Positions in the recording's world frame, m, by names among `POINT_NAMES`.
    """
    return {name: motion.joints[name] for name in POINT_NAMES if name in motion.joints}


def robot_points(robot: Robot, trajectory: JointTrajectory, *, heading: float = 0.0) -> dict[str, Array]:
    """Compute the points of a robot's body that correspond to a person's.

    Parameters
    ----------
    robot : Robot
        The robot.
    trajectory : JointTrajectory
        T samples of its motion.
    heading : float
        Direction of the robot's x axis in the world frame, rad about z, by which it is turned back.

    Returns
    -------
    {str: (T, 3) array}
        Positions, m, in the world frame turned back by the heading, or in the frame of a fixed base, by names
        among `POINT_NAMES`: a toe is the middle of a sole's front edge. The neck is left out.
    """
    path = path_without_heading(trajectory, heading)
    body = match_body(robot)
    points = {
        name: values
        for name, values in zip(body.names, np.moveaxis(place_points(body, path).points, 1, 0), strict=True)
        if name in POINT_NAMES
    }
    roles = [name for name in ("pelvis", "head") if name in robot.frames]
    soles = [role for role in robot.feet if role in robot.soles]
    frames = [robot.model.getFrameId(robot.frames[role]) for role in (*roles, *soles)]
    poses = dict(zip((*roles, *soles), frame_poses(robot.model, frames, path), strict=True))
    points |= {role: poses[role][:, :3, 3] for role in roles}
    for role in soles:
        corners = robot.soles[role]
        front = np.array([corners[:, 0].max(), corners[:, 1].mean(), 0.0])
        points[role.replace("foot", "toe")] = poses[role][:, :3, :3] @ front + poses[role][:, :3, 3]
    return points


def stick_lines(points: dict[str, Array]) -> list[StickLine]:
    """Connect the points of a body by lines.

    Parameters
    ----------
    points : {str: (T, 3) array}
        Positions by names among `POINT_NAMES`, as many as there are, m.

    Returns
    -------
    list of StickLine
        Spine, girdles, legs and arms, as far as their points are there.
    """
    known = dict(points)
    for joint in ("hip", "shoulder"):
        pair = [points[f"{side}_{joint}"] for side in SIDES if f"{side}_{joint}" in points]
        if len(pair) == len(SIDES):
            known[f"mid_{joint}"] = 0.5 * (pair[0] + pair[1])
    chains: list[tuple[str, tuple[str, ...]]] = [("", ("mid_hip", "pelvis", "mid_shoulder", "neck", "head"))]
    chains += [("", tuple(f"{side}_{joint}" for side in SIDES)) for joint in ("hip", "shoulder")]
    chains += [(side, tuple(f"{side}_{joint}" for joint in _LEG)) for side in SIDES]
    chains += [(side, tuple(f"{side}_{joint}" for joint in _ARM)) for side in SIDES]
    lines = []
    for side, names in chains:
        found = [known[name] for name in names if name in known]
        if len(found) > 1:
            lines.append(StickLine(side, np.stack(found, axis=1)))
    return lines
