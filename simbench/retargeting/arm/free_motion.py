"""Plan the motion of a robot on a fixed base without equipment: two arms imitate, a single hand follows."""

from dataclasses import replace
from itertools import product

import numpy as np
import pinocchio as pin
from scipy.spatial.transform import Rotation

from simbench.errors import MotionError, RetargetError
from simbench.kinematics.tree import first_joint
from simbench.motion.human_motion import PALM_OFFSET, HumanMotion, require_both_arms, transform
from simbench.motion.joint_use import joint_units
from simbench.motion.trajectory import JointTrajectory
from simbench.options import RetargetSection, RobotSection
from simbench.retargeting.arm.fixed_base import (
    ArmPlan,
    choose_rest,
    floor_obstacle,
    free_hands,
    limits_of_motion,
    place_on_base,
    plan_metrics,
    require_used_keys,
    scale_time,
)
from simbench.retargeting.body_errors import compare_hands, compare_with_person
from simbench.retargeting.collision.avoidance import avoid_collisions
from simbench.retargeting.collision.clearance import body_shapes
from simbench.retargeting.collision.interference import find_interference
from simbench.retargeting.contact.hand_plan import HandPlan, recorded_palms
from simbench.retargeting.contact.transfer import PreferredPath, follow_palms
from simbench.retargeting.imitation.imitation import imitation_metrics
from simbench.retargeting.imitation.scaled_model import require_human_form
from simbench.retargeting.stand.standing_plan import (
    given_placement,
    imitate_person,
    position_limits,
    preferred_posture,
)
from simbench.robot.robot import Robot
from simbench.robot.sides import SIDES
from simbench.robot.urdf.source import build_model
from simbench.system.progress import OnProgress

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
    imitation = imitate_person(free, motion, settings)
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
    plan = ArmPlan(
        trajectory, pose, home, free_hands(scene, joints), interferences, metrics, errors, imitation
    )
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
            errors = compare_hands(
                reached.actor, recorded_path, {side: samples}, {side: _arm_length(scene, side)}
            )
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
