"""Plan the motion of a robot with two arms on a fixed base: it imitates the person with trunk and arms."""

from dataclasses import replace

import numpy as np

from simbench.kinematics.arrays import Array
from simbench.kinematics.tree import first_joint
from simbench.motion.human_motion import HumanMotion, require_both_arms
from simbench.motion.trajectory import JointTrajectory
from simbench.options import RETARGETING_METHODS, RetargetSection, RobotSection
from simbench.retargeting.arm_adaptation.arm_adaptation import adapted_posture
from simbench.retargeting.body_errors import compare_with_person
from simbench.retargeting.collision.avoidance import UpperBodyPath, avoid_collisions
from simbench.retargeting.collision.clearance import BodyShapes, body_shapes
from simbench.retargeting.collision.interference import find_interference
from simbench.retargeting.fixed_base.arm_plan import ArmPlan, free_hands
from simbench.retargeting.fixed_base.base import base_pose, choose_rest
from simbench.retargeting.fixed_base.surroundings import floor_obstacle
from simbench.retargeting.fixed_base.tempo import scale_time
from simbench.retargeting.imitation.imitation import METHODS, Imitation, imitate, imitation_metrics
from simbench.retargeting.imitation.limited_posture import (
    limited_posture,
    plugged_posture,
    rescale_into_limits,
)
from simbench.retargeting.imitation.scaled_model import calibrate, require_human_form
from simbench.retargeting.motion_fidelity import joint_units, robot_metrics
from simbench.retargeting.placement.base_height import base_height
from simbench.retargeting.whole_body.stance import OnProgress
from simbench.robot.pedestal import on_pedestal
from simbench.robot.robot import Robot, placed_robot
from simbench.robot.urdf.model import build_model

_CLEARANCE = 0.02
"""Distance that links keep from each other, m."""


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

    Parameters
    ----------
    robot : Robot
        Robot with a fixed base and two arms.
    motion : HumanMotion
        Recording, resampled, in the world frame of the scene.
    section : RobotSection
        Base placement and the posture at rest.
    settings : RetargetSection
        Method, limits' margins and smoothing.
    on_progress : callable (stage, done, total)
        Called as planning proceeds.

    Returns
    -------
    ArmPlan
        Motion of all joints, at speeds that the robot is capable of.

    Raises
    ------
    MotionError
        If an arm was not recorded.
    RetargetError
        If the robot lacks a part of an arm.
    """
    require_human_form(robot, standing=False)
    require_both_arms(motion)
    home = robot.postures[choose_rest(robot, section.posture)]
    pose = base_pose(section.position_m, section.heading_rad, base_height(robot, section))
    standing = on_pedestal(robot, float(pose[2]))
    free = with_free_base(standing)
    on_progress("imitate", 0, 1)
    imitation = imitate(
        calibrate(free, motion),
        motion,
        # Where a plug-in or the arms' adaptation does the rest, the scaled model follows as by default.
        method=settings.method if settings.method in METHODS else "analytical",
        smoothing_window=settings.smoothing_window,
        smoothing_order=settings.smoothing_order,
    )
    on_progress("imitate", 1, 1)
    on_progress("transfer", 0, 2)
    model, margin = imitation.actor.model, settings.joint_limit_margin_rad
    columns = np.array([robot.joint_names.index(name) for name in model.names[first_joint(model) :]])
    limits = np.stack([model.lowerPositionLimit[7:] + margin, model.upperPositionLimit[7:] - margin])
    # A lift is nothing that a person has: it stays where it is at rest.
    lifts = np.array(joint_units(robot))[columns] == "m"
    limits[:, lifts] = home[columns][lifts]
    shapes = body_shapes(free, home)
    posture = _follow(free, motion, imitation, settings, shapes, limits)
    path = UpperBodyPath(motion.time, posture, np.tile(pose, (len(motion.time), 1)))
    floor = floor_obstacle(free)
    posture = avoid_collisions(shapes, path, limits, _CLEARANCE, obstacles=(floor,)).joints
    on_progress("transfer", 1, 2)
    joints = np.tile(home, (len(motion.time), 1))
    joints[:, columns] = posture
    scaled = scale_time(robot, motion.time, joints, settings)
    trajectory = JointTrajectory(scaled.time, joints, robot.joint_names, None)
    scene = placed_robot(standing, pose)
    interferences = find_interference(scene, trajectory, (floor,))
    on_progress("transfer", 2, 2)
    metrics = {
        **imitation_metrics(imitation, motion),
        "retarget.slow_down": scaled.slow_down,
        "retarget.duration_s": float(trajectory.time[-1]),
        "retarget.interference_count": float(len(interferences)),
        **scaled.metrics,
    }
    compared = compare_with_person(robot, trajectory, motion)
    metrics |= robot_metrics(robot, trajectory, compared, margin)
    hands = free_hands(scene, joints)
    plan = ArmPlan(trajectory, pose, home, hands, interferences, metrics, compared)
    return replace(plan, imitation=imitation, leads=False, upper=columns, limits=limits, notes=scaled.notes)


def with_free_base(robot: Robot) -> Robot:
    """Give the model of a robot with a fixed base a free root, as the imitation of a person's trunk needs.

    Parameters
    ----------
    robot : Robot
        Robot with a fixed base.

    Returns
    -------
    Robot
        The same joints and links on a free-flyer joint. It is not for simulation.

    Raises
    ------
    RobotError
        If Pinocchio cannot read the robot.
    """
    model = build_model(robot.urdf_text, robot.urdf, floating=True)
    model.armature = np.concatenate([np.zeros(6), robot.model.armature])
    return replace(robot, model=model, floating=True)


def _follow(
    robot: Robot,
    motion: HumanMotion,
    imitation: Imitation,
    settings: RetargetSection,
    shapes: BodyShapes,
    limits: Array,
) -> Array:
    """Follow the recording with trunk and arms (T, m), rad, inside the limits."""
    if settings.method == "arm_adaptation":
        return adapted_posture(robot, motion, margin=settings.joint_limit_margin_rad)
    if settings.method not in RETARGETING_METHODS:
        names = imitation.actor.model.names[first_joint(imitation.actor.model) :]
        return plugged_posture(robot, motion, settings, names, (limits[0], limits[1]))
    if settings.posture == "rescaled":
        return rescale_into_limits(motion.time, imitation.q[:, 7:], *limits)
    return limited_posture(imitation, motion, shapes, *limits)
