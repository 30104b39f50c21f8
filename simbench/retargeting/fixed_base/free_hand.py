"""Plan the motion of a single arm that follows one hand of a person, without equipment."""

from dataclasses import dataclass
from itertools import product

import numpy as np
import pinocchio as pin
from numpy.typing import NDArray
from scipy.spatial.transform import Rotation

from simbench.errors import MotionError, RetargetError
from simbench.kinematics.arrays import Array
from simbench.motion.anatomy import PALM_OFFSET, transform
from simbench.motion.human_motion import HumanMotion
from simbench.motion.trajectory import JointTrajectory
from simbench.options import RetargetSection, RobotSection
from simbench.retargeting.body_errors import compare_hands
from simbench.retargeting.collision.interference import Interference, find_interference
from simbench.retargeting.contact.arm_hands import recorded_palms
from simbench.retargeting.contact.hand_plan import HandPlan
from simbench.retargeting.contact.transfer import PreferredPath, follow_palms
from simbench.retargeting.fixed_base.arm_plan import ArmPlan, free_hands
from simbench.retargeting.fixed_base.base import base_pose, choose_rest, limits_of_motion
from simbench.retargeting.fixed_base.plan import require_used_keys
from simbench.retargeting.fixed_base.surroundings import floor_obstacle
from simbench.retargeting.fixed_base.tempo import ScaledTime, scale_time
from simbench.retargeting.motion_fidelity import robot_metrics
from simbench.retargeting.placement.base_height import base_height
from simbench.retargeting.whole_body.stance import OnProgress
from simbench.robot.pedestal import on_pedestal
from simbench.robot.robot import Robot, placed_robot
from simbench.robot.sides import SIDES

_SCALES = (1.0, 0.8, 0.65, 0.5, 0.4, 0.3, 0.2)
"""Fractions of the ratio of the arms' lengths by which the hand's path is scaled, the first that serves."""
_TURNS = (1.0, 0.5, 0.0)
"""Fractions of the hand's rotation that are reproduced, the first that serves."""
_POSITION_TOLERANCE, _ROTATION_TOLERANCE = 0.005, 0.1
"""Largest errors of the palm, m and rad."""
_SLOW_DOWNS = (2.0, 6.0)
"""Largest slow-downs that are accepted, the first with which any scale serves."""
_AT_ORIGIN = np.array([0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 1.0])
_PREVIEW_RATE = 20.0
"""Rate, Hz, at which scales are tried before the whole motion is planned."""


def plan_free_hand(
    robot: Robot,
    motion: HumanMotion,
    section: RobotSection,
    settings: RetargetSection,
    on_progress: OnProgress,
) -> ArmPlan:
    """Let the hand of a single arm go as one hand of the person does.

    The middle of the person's path is put where the robot's hand is at rest, their mean orientation on its
    orientation there. Displacements are scaled by the ratio of the arms' lengths, and less, and rotations
    reduced, until the arm can follow within 5 mm and 0.1 rad without touching itself, at half the pace at
    least; only where that cannot be, slower.

    Parameters
    ----------
    robot : Robot
        Robot with a fixed base and one arm.
    motion : HumanMotion
        Recording, resampled, in the world frame of the scene.
    section : RobotSection
        Base placement and the posture at rest.
    settings : RetargetSection
        Margins of limits.
    on_progress : callable (stage, done, total)
        Called as planning proceeds.

    Returns
    -------
    ArmPlan
        Motion of all joints, at speeds that the robot is capable of.

    Raises
    ------
    ScenarioError
        If a key is set that means nothing to such a robot.
    MotionError
        If the hand or its arm was not recorded.
    RetargetError
        If the robot has no hand, or cannot follow even a fifth of the motion.
    """
    require_used_keys(robot, settings)
    sides = [side for side in SIDES if f"{side}_hand" in robot.hands]
    if not sides:
        raise RetargetError(
            f"{robot.name}: follows a hand of a person with its own; it lacks hands.right_hand"
        )
    if section.place == "auto":
        raise RetargetError(f"{robot.name}: robot.place auto needs equipment whose handles are known")
    side = sides[-1]
    home = robot.postures[choose_rest(robot, section.posture)]
    pose = base_pose(section.position_m, section.heading_rad, base_height(robot, section))
    scene = placed_robot(on_pedestal(robot, float(pose[2])), pose)
    problem = _HandProblem(scene, side, motion.time, recorded_palms(motion, [side])[side], home, settings)
    ratio = _arm_length(robot, side) / _person_arm_length(motion, side)
    samples = np.arange(len(motion.time))
    few = samples[:: max(1, round(motion.rate / _PREVIEW_RATE))]
    total = len(_SLOW_DOWNS) * len(_SCALES) * len(_TURNS)
    for number, (slowest, scale, turn) in enumerate(product(_SLOW_DOWNS, _SCALES, _TURNS)):
        on_progress("transfer", number, total)
        if not _follow(problem, few, ratio * scale, turn).serves(slowest):
            continue
        found = _follow(problem, samples, ratio * scale, turn)
        if found.serves(slowest):
            on_progress("transfer", total, total)
            return _make_plan(problem, found, pose, ratio, (scale, turn))
    raise RetargetError(
        f"{robot.name}: its hand cannot follow the {side} hand of {motion.source} about its posture at "
        f"rest, even scaled to {100 * _SCALES[-1]:.0f} % of its arm; another robot.posture may have more room"
    )


@dataclass(frozen=True)
class _HandProblem:
    """Constants of the motion of one hand."""

    scene: Robot
    side: str
    time: Array
    palms: Array
    home: Array
    settings: RetargetSection


@dataclass(frozen=True)
class _Followed:
    """Joints that follow a hand, and what they miss."""

    joints: Array
    position_error: float
    rotation_error: float
    scaled: ScaledTime
    interferences: tuple[Interference, ...]

    def serves(self, slowest: float) -> bool:
        """Whether the hand is followed, slowed down by no more than a factor."""
        return (
            self.position_error <= _POSITION_TOLERANCE
            and self.rotation_error <= _ROTATION_TOLERANCE
            and self.scaled.slow_down <= slowest
            and not self.interferences
        )


def _follow(problem: _HandProblem, samples: NDArray[np.int64], scale: float, turn: float) -> _Followed:
    """Follow a hand's scaled path at some samples."""
    scene, time, home = problem.scene, problem.time[samples], problem.home
    targets = _targets(problem, scale, turn)[samples]
    ones = {problem.side: np.ones(len(time))}
    hands = HandPlan(
        ones,
        {problem.side: np.ones(len(time), dtype=bool)},
        ones,
        {problem.side: targets},
        {problem.side: targets},
        {problem.side: None},
    )
    lower, upper = limits_of_motion(scene, home, problem.settings.joint_limit_margin_rad)
    resting = np.tile(np.clip(home, lower, upper), (len(time), 1))
    # The model of the scene is placed already.
    path = PreferredPath(time, resting, np.tile(_AT_ORIGIN, (len(time), 1)), lower, upper)
    joints = follow_palms(scene.model, scene.frames, path, hands)
    reached = free_hands(scene, joints).actor[problem.side]
    apart = np.linalg.norm(reached[:, :3, 3] - targets[:, :3, 3], axis=1)
    turned = Rotation.from_matrix(
        np.einsum("tji,tjk->tik", reached[:, :3, :3], targets[:, :3, :3])
    ).magnitude()
    scaled = scale_time(scene, time, joints, problem.settings)
    found: tuple[Interference, ...] = ()
    if apart.max() <= _POSITION_TOLERANCE:
        trajectory = JointTrajectory(scaled.time, joints, scene.joint_names, None)
        found = find_interference(scene, trajectory, (floor_obstacle(scene),))
    return _Followed(joints, float(apart.max()), float(turned.max()), scaled, found)


def _targets(problem: _HandProblem, scale: float, turn: float) -> Array:
    """Poses (T, 4, 4) of the robot's hand that are those of the person's, moved, turned and scaled."""
    model, data = problem.scene.model, problem.scene.model.createData()
    pin.framesForwardKinematics(model, data, problem.home)
    rest = data.oMf[model.getFrameId(problem.scene.frames[f"{problem.side}_hand"])]
    position, recorded = problem.palms[:, :3, 3], Rotation.from_matrix(problem.palms[:, :3, :3])
    middle = 0.5 * (position.min(axis=0) + position.max(axis=0))
    mean = recorded.mean()
    # Rotations about axes of the world, so that the hand turns where the person's turns.
    turned = Rotation.from_rotvec(turn * (recorded * mean.inv()).as_rotvec()).as_matrix()
    moved = rest.translation + scale * (position - middle)
    return transform(turned @ rest.rotation, moved)


def _make_plan(
    problem: _HandProblem, found: _Followed, base: Array, ratio: float, reduced: tuple[float, float]
) -> ArmPlan:
    """Make the plan of a hand that is followed, with fractions of its displacements and its rotations."""
    scene, side, (scale, turn) = problem.scene, problem.side, reduced
    time = found.scaled.time
    trajectory = JointTrajectory(time, found.joints, scene.joint_names, None)
    hands = free_hands(scene, found.joints)
    # What had to be reduced counts as an error: the person's hand goes all of the way.
    errors = compare_hands(
        hands.actor,
        {side: _targets(problem, ratio, 1.0)},
        {side: np.arange(len(time))},
        {side: _arm_length(scene, side)},
    )
    metrics = {
        "retarget.hand_max_m": found.position_error,
        "retarget.path_scale": ratio * scale,
        "retarget.rotation_fraction": turn,
        "retarget.slow_down": found.scaled.slow_down,
        "retarget.duration_s": float(time[-1]),
        "retarget.interference_count": 0.0,
        **found.scaled.metrics,
        **robot_metrics(scene, trajectory, errors, problem.settings.joint_limit_margin_rad),
    }
    return ArmPlan(trajectory, base, problem.home, hands, (), metrics, errors, notes=found.scaled.notes)


def _arm_length(robot: Robot, side: str) -> float:
    """Length of a robot's arm from its shoulder to its palm, m."""
    model, data = robot.model, robot.model.createData()
    roles = [f"{side}_{part}" for part in ("shoulder", "elbow", "wrist", "hand")]
    lacking = [role for role in roles if role not in robot.frames]
    if lacking:
        raise RetargetError(
            f"{robot.name}: follows a hand of a person with its own; it lacks frames.{lacking[0]}"
        )
    pin.framesForwardKinematics(model, data, pin.neutral(model))
    places = [data.oMf[model.getFrameId(robot.frames[role])].translation for role in roles]
    return float(np.linalg.norm(np.diff(places, axis=0), axis=1).sum())


def _person_arm_length(motion: HumanMotion, side: str) -> float:
    """Length of a person's arm from the shoulder to the palm, m."""
    names = [f"{side}_{part}" for part in ("shoulder", "elbow", "wrist")]
    missing = [name for name in names if name not in motion.joints]
    if missing:
        raise MotionError(f"{motion.source}: the recording lacks joint {missing[0]}")
    places = np.array([motion.joints[name] for name in names])
    return float(
        np.linalg.norm(np.diff(places, axis=0), axis=2).sum(axis=0).mean() + np.linalg.norm(PALM_OFFSET)
    )
