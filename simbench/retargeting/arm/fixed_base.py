"""Robots on a fixed base: their plan, base pose, posture at rest, the joints that move, torques and time."""

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
import pinocchio as pin
from numpy.typing import NDArray

from simbench.errors import RetargetError, ScenarioError
from simbench.kinematics.arrays import Array
from simbench.kinematics.derivatives import SHORTEST_WINDOW
from simbench.kinematics.obstacles import Obstacle, box_obstacle
from simbench.kinematics.time_optimal import time_scaling_factor
from simbench.motion.trajectory import JointTrajectory
from simbench.options import RetargetSection
from simbench.retargeting.body_errors import RobotErrors, robot_metrics
from simbench.retargeting.collision.interference import Interference
from simbench.retargeting.contact.hand_plan import HandPlan
from simbench.retargeting.imitation.imitation import Imitation
from simbench.retargeting.placement.placement import BasePlacement
from simbench.retargeting.timing.stretch import (
    MOST_STRETCH,
    UNIFORM_INSTEAD,
    fit_tempo,
    fixed_base_constraints,
    kinematic_limits,
    measure_stretch,
    resolve_timing,
    slow_for_accelerations,
    with_constraints,
)
from simbench.robot.robot import Robot, placed_robot
from simbench.robot.robot_limbs import estimated_accelerations
from simbench.robot.robot_variants import on_pedestal

# The posture from which an arm begins its work.
_READY = "ready"
_FLOOR_SIZE = (10.0, 10.0, 1.0)
# Keys of `RetargetSection` that mean something to a robot whose hand follows a person's.
_USED_KEYS = {
    "joint_limit_margin_rad",
    "speed_limit_fraction",
    "contact_distance_m",
    "transition_distance_m",
    "transition_time_s",
    "timing",
}


@dataclass(frozen=True)
class ArmPlan:
    """Planned motion of a robot on a fixed base, before it is simulated."""

    trajectory: JointTrajectory  # All joints of the robot, slowed so that speed limits hold.
    base: Array  # (7,): pose of the root link in the world frame: position, m, and quaternion.
    home: Array  # (n,): posture at rest, rad.
    hands: HandPlan  # Desired motion of the hands at the samples of `trajectory`.
    interferences: tuple[Interference, ...]  # Links that penetrate each other or the equipment.
    metrics: dict[str, float]  # Metrics `retarget.*`, and `imitation.*` of two arms.
    # Errors of the hands against the person, and of arms and trunk that imitate, at the same samples.
    errors: RobotErrors
    imitation: Imitation | None = None  # Motion of the scaled model that two arms imitate.
    # Whether the robot comes from its posture at rest and returns to it; otherwise it begins in the motion's
    # first posture and stays in its last.
    leads: bool = True
    # (2, S, n): displacement of the joints, rad, on the way to the motion and on the way back, at evenly
    # spaced fractions of a lead's duration from rest on; empty (2, 0, n) for straight ways.
    detours: Array = field(default_factory=lambda: np.zeros((2, 0, 0)))
    # (m,) int: columns of the trunk and the arms that imitate, in the trajectory.
    upper: NDArray[np.int64] = field(default_factory=lambda: np.zeros(0, dtype=np.int64))
    # (2, m): lower and upper limits of those joints, margin included, rad.
    limits: Array = field(default_factory=lambda: np.zeros((2, 0)))
    notes: tuple[str, ...] = ()  # What slows the motion, one line each.


def require_used_keys(robot: Robot, settings: RetargetSection) -> None:
    """Refuse keys that say how to imitate a person's posture, or how legs move with the hands."""
    usual = RetargetSection()
    for key in RetargetSection.model_fields:
        if getattr(settings, key) != getattr(usual, key) and key not in _USED_KEYS:
            raise ScenarioError(
                f"retarget.{key}: says nothing to {robot.name}, whose base is fixed; allowed: "
                f"{getattr(usual, key)!r}"
            )


def base_pose(position: tuple[float, float], heading: float, height: float = 0.0) -> Array:
    """Compute the pose (7,) of a root link on the floor or on a pedestal: position, m, quaternion x, y, z, w.

    The position is x and y in the world frame, m; the heading a rotation about the world's z axis, rad; the
    height is above the floor, m.
    """
    pose = pin.SE3(pin.utils.rotate("z", heading), np.array([*position, height]))
    return np.asarray(pin.SE3ToXYZQUAT(pose))


def place_on_base(robot: Robot, spot: BasePlacement) -> tuple[Robot, Array]:
    """Put a robot into the scene, on a pedestal if need be; return it and its `base_pose`."""
    pose = base_pose(spot.position, spot.heading, spot.height)
    return placed_robot(on_pedestal(robot, spot.height), pose), pose


def choose_rest(robot: Robot, name: str) -> str:
    """Choose the posture in which a robot with a fixed base rests: the named one, `ready`, or its first."""
    if name in robot.postures:
        return name
    if not robot.postures:
        raise ScenarioError(f"robot.posture: {robot.name} has no posture; its robot.yaml needs one")
    return _READY if _READY in robot.postures else next(iter(robot.postures))


def arm_joints(robot: Robot) -> tuple[str, ...]:
    """List the joints of trunk and arms, in the model's order; all but grips' and head's if none is named."""
    named = {name for group in ("trunk", "left_arm", "right_arm") for name in robot.groups.get(group, ())}
    grips = {name for hand in robot.hands.values() for name in hand.joints}
    grips |= {name for group in ("left_grip", "right_grip", "head") for name in robot.groups.get(group, ())}
    return tuple(name for name in robot.joint_names if (name in named if named else name not in grips))


def limits_of_motion(robot: Robot, home: Array, margin: float) -> tuple[Array, Array]:
    """Find the least and greatest positions (n,), rad, that a planned motion may use, a margin inside limits.

    What is no joint of trunk or arm, such as a finger of a gripper, stays as it is at rest.
    """
    lower, upper = robot.model.lowerPositionLimit + margin, robot.model.upperPositionLimit - margin
    moving = np.isin(robot.joint_names, arm_joints(robot)) & (lower < upper)
    return np.where(moving, lower, home), np.where(moving, upper, home)


def scale_time(
    robot: Robot, time: Array, joints: Array, settings: RetargetSection
) -> tuple[Array, dict[str, float], tuple[str, ...]]:
    """Slow a path (T, n), rad, down until limits hold, all of it or locally, as the settings say.

    By one factor speed limits hold; locally also accelerations and torques. The recorded clock cannot be
    kept, for amplitudes of arms on fixed bases are not reduced. Returns `time` (T,): the robot's time of each
    sample, s; `metrics`: `retarget.slow_down`, the ratio of the robot's duration to the recording's, and,
    where time is stretched locally, how much and where; `notes`: what stretches it.
    """
    if settings.timing == "preserve":
        raise RetargetError(
            f"retarget.timing: {robot.name} has a fixed base; allowed: auto, local, uniform, got preserve"
        )
    settings = resolve_timing(settings, holds_equipment=True, standing=False, sample_count=len(time))
    speed = np.asarray(robot.model.velocityLimit) * settings.speed_limit_fraction
    factor = time_scaling_factor(time, joints, speed)
    if settings.timing != "local" or len(time) < SHORTEST_WINDOW:
        return time * factor, {"retarget.slow_down": factor}, ()
    names = robot.joint_names
    acceleration = estimated_accelerations(robot, names)
    limits = kinematic_limits(time, joints, speed, acceleration, names)
    limits = with_constraints(limits, *fixed_base_constraints(robot, time, joints))
    tempo = slow_for_accelerations(limits, fit_tempo(limits), time, joints, acceleration)
    stretched = tempo(time)
    # A cubic spline through stretched samples is not quite the stretched spline.
    stretched = stretched * time_scaling_factor(stretched, joints, speed)
    metrics, note = measure_stretch(limits, tempo)
    if metrics["retarget.slow_down_max"] > MOST_STRETCH:
        return time * factor, {"retarget.slow_down": factor}, (UNIFORM_INSTEAD,)
    ratio = float((stretched[-1] - stretched[0]) / (time[-1] - time[0]))
    return stretched, {"retarget.slow_down": ratio, **metrics}, (note,) if note else ()


def plan_metrics(
    robot: Robot,
    trajectory: JointTrajectory,
    settings: RetargetSection,
    interferences: Sequence[Interference],
    errors: RobotErrors,
) -> dict[str, float]:
    """Compute the metrics that the plans of all robots on fixed bases have."""
    return {
        "retarget.duration_s": float(trajectory.time[-1]),
        "retarget.interference_count": float(len(interferences)),
        **robot_metrics(robot, trajectory, errors, settings.joint_limit_margin_rad),
    }


def free_hands(scene: Robot, joints: Array) -> HandPlan:
    """Describe the motion of hands that hold nothing: the palms' paths of a placed robot's joints (T, n)."""
    model, data = scene.model, scene.model.createData()
    sides = [role.removesuffix("_hand") for role in scene.hands]
    frames = {side: model.getFrameId(scene.frames[f"{side}_hand"]) for side in sides}
    palms = {side: np.empty((len(joints), 4, 4)) for side in sides}
    for sample, q in enumerate(joints):
        pin.framesForwardKinematics(model, data, q)
        for side, frame in frames.items():
            palms[side][sample] = data.oMf[frame].homogeneous
    none = {side: np.zeros(len(joints)) for side in sides}
    contact = {side: np.zeros(len(joints), dtype=bool) for side in sides}
    return HandPlan(none, contact, none, palms, palms, dict.fromkeys(sides))


def floor_obstacle(robot: Robot) -> Obstacle:
    """Describe the floor as an obstacle, a box's upper face, for what the joints of a robot move.

    Links that no joint moves may touch it, as wheels do. The model of a robot on a fixed base may have a free
    root for planning.
    """
    root = robot.model.joints[1].id if robot.floating else 0
    still = [
        frame.name
        for frame in robot.model.frames
        if frame.type == pin.FrameType.BODY and frame.parentJoint in (0, root)
    ]
    pose = np.eye(4)
    pose[2, 3] = -0.5 * _FLOOR_SIZE[2]
    return box_obstacle("floor", _FLOOR_SIZE, pose, still)
