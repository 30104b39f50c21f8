"""Base placements and inverse-kinematics branches from which an arm can follow its handles."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np
import pinocchio as pin

from simbench.kinematics.arrays import Array
from simbench.kinematics.tree import first_joint
from simbench.motion.handles import HandlePath
from simbench.retargeting.placement.placement import BasePlacement
from simbench.retargeting.placement.reach_model import ReachabilityModel, arm_length, make_hand_path
from simbench.retargeting.placement.root_placement import (
    COARSE,
    NominalPosture,
    ReachProblem,
    ReachTolerances,
    sample_indices,
)
from simbench.robot.robot import Robot

_DISTANCES = (0.4, 0.5, 0.6, 0.7, 0.8)
"""Horizontal distances of a base from the middle of the handles' path, as parts of the arm's length."""
_DIRECTIONS = (0.0, 0.4, -0.4, 0.8, -0.8, 1.2, -1.2)
"""Directions in which it is seen from there, from straight behind, rad."""
_SHOULDER_HEIGHTS = (0.0, -0.25, 0.25, -0.5)
"""Heights of the shoulder above the handles on a pedestal, as parts of the arm's length."""
_RANDOM_POSTURES = 10
_RANDOM_RANGE = 2.0
"""Postures to look from are within this distance, rad, of the posture at rest in every joint."""
_DIFFERENT = 0.3
"""Distance of a joint's mean positions, rad, from which on two candidates are different."""


@dataclass(frozen=True)
class ArmChoice:
    """A base placement, and the branch of the inverse kinematics on which an arm follows its handles.

    Parameters
    ----------
    spot : BasePlacement
        Base placement of the robot.
    nominal : NominalPosture or None
        Posture near which the arm follows; None for that with the largest joint-limit margin.
    poses : (S,) int array
        Poses of the handles' path at which `postures` are known.
    postures : (S, n) array
        Positions of `joint_names` in these poses, rad.
    joint_names : tuple of str
        Joints of trunk and arms.
    duration : float
        Time that the joints take at full speed from rest and along the path, s.
    """

    spot: BasePlacement
    nominal: NominalPosture | None = None
    poses: Array = field(default_factory=lambda: np.zeros(0))
    postures: Array = field(default_factory=lambda: np.zeros((0, 0)))
    joint_names: tuple[str, ...] = ()
    duration: float = np.inf


def spread_spots(
    robot: Robot, handles: Mapping[str, HandlePath], start: BasePlacement, home: Array, *, any_height: bool
) -> list[BasePlacement]:
    """Spread base placements behind the handles.

    Parameters
    ----------
    robot : Robot
        Robot with a fixed base.
    handles : {side: HandlePath}
        Handle that each hand holds.
    start : BasePlacement
        Gives the heading, and the height unless any will do.
    home : (n,) array
        Posture at rest, rad.
    any_height : bool
        Whether the robot stands on a pedestal of any height.

    Returns
    -------
    list of BasePlacement
        Placements at several distances, directions and heights.
    """
    reach = ReachabilityModel(robot, handles, home)
    length = arm_length(reach)
    path = np.vstack([handle.poses[:, :3, 3] for handle in handles.values()])
    middle = 0.5 * (path.min(axis=0) + path.max(axis=0))
    heights = [start.height]
    if any_height:
        shoulder = _shoulder_height(reach, handles)
        levels = [middle[2] + part * length - shoulder for part in _SHOULDER_HEIGHTS]
        heights = sorted({max(0.0, round(float(level), 2)) for level in levels}, key=levels.__contains__)
    spots = []
    for height in heights:
        for direction in _DIRECTIONS:
            ahead = np.array([np.cos(start.heading + direction), np.sin(start.heading + direction)])
            for part in _DISTANCES:
                x, y = (middle[:2] - part * length * ahead).tolist()
                spots.append(replace(start, position=(x, y), height=height))
    return spots


def find_choices(
    robot: Robot, handles: Mapping[str, HandlePath], spots: Iterable[BasePlacement], home: Array
) -> list[ArmChoice]:
    """Find on which branches an arm can follow its handles from several base placements.

    Parameters
    ----------
    robot : Robot
        Robot with a fixed base.
    handles : {side: HandlePath}
        Handle that each hand holds.
    spots : iterable of BasePlacement
        Base placements.
    home : (n,) array
        Posture at rest, rad.

    Returns
    -------
    list of ArmChoice
        Those for which the joints take the least time from rest and along the path come first.
    """
    reach = ReachabilityModel(robot, handles, home)
    names = tuple(reach.model.names[first_joint(reach.model) :])
    columns = [robot.joint_names.index(name) for name in names]
    speed = np.asarray(robot.model.velocityLimit)[columns]
    problem = ReachProblem(reach, make_hand_path(reach, handles), ReachTolerances())
    poses = sample_indices(len(problem.hand_path.points), COARSE)
    problem = problem.at_few_poses(COARSE)
    nominals = _nominal_postures(reach, home[columns])
    choices = []
    for spot in spots:
        base = np.array([*spot.position, spot.height, spot.heading, 0.0, 0.0])
        found: list[Array] = []
        for nominal in nominals:
            solved = problem.solve(base, nominal, problem.tolerances.least_margin)
            postures = solved.joints
            if solved.margin < 0.0 or not _is_new(postures, found):
                continue
            found.append(postures)
            travel = np.abs(np.diff(postures, axis=0)).sum(axis=0) + np.abs(postures[0] - home[columns])
            duration = float((travel / speed).max())
            near = NominalPosture(nominal.box, postures.mean(axis=0))
            choices.append(ArmChoice(spot, near, poses.astype(float), postures, names, duration))
    return sorted(choices, key=lambda choice: choice.duration)


def _is_new(postures: Array, found: Sequence[Array]) -> bool:
    """Whether a path of postures is on another branch than those that were found."""
    mean = postures.mean(axis=0)
    return all(np.abs(mean - other.mean(axis=0)).max() > _DIFFERENT for other in found)


def _nominal_postures(reach: ReachabilityModel, home: Array) -> list[NominalPosture]:
    """Postures from which paths are looked for: near the posture at rest, on every branch of the elbow."""
    random = np.random.default_rng(0)
    around = [home, *(home + random.uniform(-_RANDOM_RANGE, _RANDOM_RANGE, (_RANDOM_POSTURES, len(home))))]
    return [
        NominalPosture(number, np.clip(posture, box[0], box[1]))
        for posture in around
        for number, box in enumerate(reach.boxes)
    ]


def _shoulder_height(reach: ReachabilityModel, handles: Mapping[str, HandlePath]) -> float:
    """Height of the shoulders above the root link, m."""
    data = reach.model.createData()
    pin.framesForwardKinematics(reach.model, data, pin.neutral(reach.model))
    frames = [reach.model.getFrameId(reach.robot.frames[f"{side}_shoulder"]) for side in handles]
    return float(np.mean([data.oMf[frame].translation[2] for frame in frames]))
