"""Robots on a fixed base: their plan and its parts, and motion without equipment.

Two arms imitate, and the hand of a single one follows a hand.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from itertools import product

import numpy as np
import pinocchio as pin
from numpy.typing import NDArray
from scipy.spatial.transform import Rotation

from simbench.errors import MotionError, RetargetError, ScenarioError
from simbench.kinematics.arrays import Array
from simbench.kinematics.derivatives import SHORTEST_WINDOW
from simbench.kinematics.obstacles import Obstacle, box_obstacle
from simbench.kinematics.time_optimal import time_scaling_factor
from simbench.kinematics.tree import first_joint
from simbench.motion.human_motion import PALM_OFFSET, HumanMotion, require_both_arms, transform
from simbench.motion.trajectory import JointTrajectory
from simbench.motion.trajectory_files.joint_order import joint_units
from simbench.options import RetargetSection, RobotSection
from simbench.retargeting.body_errors import RobotErrors, compare_hands, compare_with_person, robot_metrics
from simbench.retargeting.collision.avoidance import avoid_collisions
from simbench.retargeting.collision.clearance import body_shapes
from simbench.retargeting.collision.interference import Interference, find_interference
from simbench.retargeting.contact.hand_plan import HandPlan, recorded_palms
from simbench.retargeting.contact.transfer import PreferredPath, follow_palms
from simbench.retargeting.imitation.imitation import Imitation, imitation_metrics
from simbench.retargeting.imitation.limited_posture import position_limits, preferred_posture
from simbench.retargeting.imitation.scaled_model import require_human_form
from simbench.retargeting.placement.placement import BasePlacement, given_placement
from simbench.retargeting.stand import standing_plan
from simbench.retargeting.timing import stretch
from simbench.robot.robot import Robot, on_pedestal, placed_robot
from simbench.robot.robot_limbs import estimated_accelerations
from simbench.robot.sides import SIDES
from simbench.robot.urdf.source import build_model
from simbench.system.progress import OnProgress

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
    settings = stretch.resolve_timing(settings, holds_equipment=True, standing=False, sample_count=len(time))
    speed = np.asarray(robot.model.velocityLimit) * settings.speed_limit_fraction
    factor = time_scaling_factor(time, joints, speed)
    if settings.timing != "local" or len(time) < SHORTEST_WINDOW:
        return time * factor, {"retarget.slow_down": factor}, ()
    names = robot.joint_names
    acceleration = estimated_accelerations(robot, names)
    torques = stretch.fixed_base_constraints(robot, time, joints)
    limits = stretch.PathLimits(time, joints, speed, acceleration, names, torques)
    tempo = stretch.slow_for_accelerations(limits, stretch.fit_tempo(limits), time, joints, acceleration)
    stretched = tempo(time)
    # A cubic spline through stretched samples is not quite the stretched spline.
    stretched = stretched * time_scaling_factor(stretched, joints, speed)
    metrics, note = stretch.measure_stretch(limits, tempo)
    if metrics["retarget.slow_down_max"] > stretch.MOST_STRETCH:
        return time * factor, {"retarget.slow_down": factor}, (stretch.UNIFORM_INSTEAD,)
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


# Distance that links keep from each other, m.
_CLEARANCE = 0.02
# Fractions of the ratio of the arms' lengths by which the hand's path is scaled, the first that serves.
_SCALES = (1.0, 0.8, 0.65, 0.5, 0.4, 0.3, 0.2)
# Fractions of the hand's rotation that are reproduced, the first that serves.
_TURNS = (1.0, 0.5, 0.0)
# Largest errors of the palm, m and rad.
_POSITION_TOLERANCE, _ROTATION_TOLERANCE = 0.005, 0.1
# Largest slow-downs that are accepted, the first with which any scale serves.
_SLOW_DOWNS = (2.0, 6.0)
_AT_ORIGIN = np.array([0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 1.0])
# Rate, Hz, at which scales are tried before the whole motion is planned.
_PREVIEW_RATE = 20.0


def plan_two_arms(
    robot: Robot,
    motion: HumanMotion,
    section: RobotSection,
    settings: RetargetSection,
    on_progress: OnProgress,
) -> ArmPlan:
    """Let trunk and arms of a robot with a fixed base imitate a person's free motion.

    The scaled model is that of a robot on legs (`plan_motion`): the robot's trunk and arms with the person's
    lengths, its root free. Of the posture that follows, trunk and arms are the robot's, whose base stays.
    There is no lead-in: the robot begins in the motion's first posture and stays in its last.
    """
    require_human_form(robot, standing=False)
    require_both_arms(motion)
    home = robot.postures[choose_rest(robot, section.posture)]
    scene, pose = place_on_base(robot, given_placement(robot, section, settings))
    free = with_free_base(scene)
    on_progress("imitate", 0, 1)
    imitation = standing_plan.imitate_person(free, motion, settings)
    on_progress("imitate", 1, 1)
    on_progress("transfer", 0, 2)
    names = imitation.actor.model.names[first_joint(imitation.actor.model) :]
    columns = np.array([robot.joint_names.index(name) for name in names])
    limits = np.stack(position_limits(imitation, settings))
    # A lift is nothing that a person has: it stays where it is at rest.
    lifts = np.array(joint_units(robot))[columns] == "m"
    limits[:, lifts] = home[columns][lifts]
    shapes = body_shapes(free, home)
    # On a fixed base, `bones` is imitation with the scaled model.
    scaled_model = settings.model_copy(update={"method": "analytical"})
    chosen = scaled_model if settings.method == "bones" else settings
    posture = preferred_posture(free, motion, imitation, chosen, shapes, (limits[0], limits[1]))
    floor, base = floor_obstacle(free), np.tile(pose, (len(motion.time), 1))
    joints = np.tile(home, (len(motion.time), 1))
    joints[:, columns], _ = avoid_collisions(
        shapes, motion.time, posture, base, limits, _CLEARANCE, obstacles=(floor,)
    )
    on_progress("transfer", 1, 2)
    time, scaled, notes = scale_time(robot, motion.time, joints, settings)
    trajectory = JointTrajectory(time, joints, robot.joint_names, None)
    interferences = find_interference(scene, trajectory, (floor,))
    on_progress("transfer", 2, 2)
    errors = compare_with_person(robot, trajectory, motion)
    metrics = {
        **imitation_metrics(imitation, motion),
        **scaled,
        **plan_metrics(robot, trajectory, settings, interferences, errors),
    }
    hands = free_hands(scene, joints)
    plan = ArmPlan(trajectory, pose, home, hands, interferences, metrics, errors, imitation)
    return replace(plan, leads=False, upper=columns, limits=limits, notes=notes)


def with_free_base(robot: Robot) -> Robot:
    """Give the model of a robot with a fixed base a free root, as the imitation of a person's trunk needs.

    The joints and links stay the same. It is not for simulation.
    """
    model = build_model(robot.urdf_text, robot.urdf, floating=True)
    model.armature = np.concatenate([np.zeros(6), robot.model.armature])
    return replace(robot, model=model, floating=True)


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
    scene, pose = place_on_base(robot, given_placement(robot, section, settings))
    palms = recorded_palms(motion, [side])[side]
    length, names = _arm_length(robot, side), [f"{side}_{part}" for part in ("shoulder", "elbow", "wrist")]
    missing = [name for name in names if name not in motion.joints]
    if missing:
        raise MotionError(f"{motion.source}: the recording lacks joint {missing[0]}")
    limbs = np.linalg.norm(np.diff([motion.joints[name] for name in names], axis=0), axis=2)
    ratio = length / float(limbs.sum(axis=0).mean() + np.linalg.norm(PALM_OFFSET))
    data = scene.model.createData()
    pin.framesForwardKinematics(scene.model, data, home)
    rest = data.oMf[scene.model.getFrameId(scene.frames[f"{side}_hand"])]
    position, recorded = palms[:, :3, 3], Rotation.from_matrix(palms[:, :3, :3])
    moved = position - 0.5 * (position.min(axis=0) + position.max(axis=0))
    # Rotations about axes of the world, so that the hand turns where the person's turns.
    turned = (recorded * recorded.mean().inv()).as_rotvec()
    lower, upper = limits_of_motion(scene, home, settings.joint_limit_margin_rad)
    samples = np.arange(len(motion.time))
    few = samples[:: max(1, round(motion.rate / _PREVIEW_RATE))]
    total = len(_SLOW_DOWNS) * len(_SCALES) * len(_TURNS)
    for number, (slowest, scale, turn) in enumerate(product(_SLOW_DOWNS, _SCALES, _TURNS)):
        on_progress("transfer", number, total)
        rotation = Rotation.from_rotvec(turn * turned).as_matrix() @ rest.rotation
        wanted = transform(rotation, rest.translation + ratio * scale * moved)
        for part in (few, samples):
            targets, count = {side: wanted[part]}, len(part)
            ones = {side: np.ones(count)}
            hands = HandPlan(ones, {side: np.ones(count, dtype=bool)}, ones, targets, targets, {side: None})
            resting = np.tile(np.clip(home, lower, upper), (count, 1))
            # The model of the scene is placed already.
            path = PreferredPath(motion.time[part], resting, np.tile(_AT_ORIGIN, (count, 1)), lower, upper)
            joints = follow_palms(scene.model, scene.frames, path, hands)
            reached = free_hands(scene, joints)
            palm, aim = reached.actor[side], wanted[part]
            apart = float(np.linalg.norm(palm[:, :3, 3] - aim[:, :3, 3], axis=1).max())
            between = Rotation.from_matrix(np.einsum("tji,tjk->tik", palm[:, :3, :3], aim[:, :3, :3]))
            time, scaled, notes = scale_time(scene, motion.time[part], joints, settings)
            trajectory = JointTrajectory(time, joints, scene.joint_names, None)
            if not (
                apart <= _POSITION_TOLERANCE
                and between.magnitude().max() <= _ROTATION_TOLERANCE
                and scaled["retarget.slow_down"] <= slowest
                and not find_interference(scene, trajectory, (floor_obstacle(scene),))
            ):
                break
        else:
            on_progress("transfer", total, total)
            # What had to be reduced counts as an error: the person's hand goes all of the way.
            whole = Rotation.from_rotvec(turned).as_matrix() @ rest.rotation
            recorded_path = {side: transform(whole, rest.translation + ratio * moved)}
            arm_lengths = {side: _arm_length(scene, side)}
            errors = compare_hands(reached.actor, recorded_path, {side: samples}, arm_lengths)
            metrics = {
                "retarget.hand_max_m": apart,
                "retarget.path_scale": ratio * scale,
                "retarget.rotation_fraction": turn,
                **scaled,
                **plan_metrics(scene, trajectory, settings, (), errors),
            }
            return ArmPlan(trajectory, pose, home, reached, (), metrics, errors, notes=notes)
    raise RetargetError(
        f"{robot.name}: its hand cannot follow the {side} hand of {motion.source} about its posture at "
        f"rest, even scaled to {100 * _SCALES[-1]:.0f} % of its arm; another robot.posture may have more room"
    )


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
