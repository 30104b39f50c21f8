"""What a robot's trunk and arms are to do: imitate the person inside their limits of position."""

from typing import NamedTuple

import numpy as np

from simbench.kinematics.arrays import Array
from simbench.kinematics.tree import first_joint
from simbench.motion.human_motion import HumanMotion
from simbench.options import RETARGETING_METHODS, RetargetSection
from simbench.retargeting.collision.clearance import BodyShapes
from simbench.retargeting.imitate.plan import imitate_upper_body
from simbench.retargeting.imitation.imitation import METHODS, Imitation, imitate
from simbench.retargeting.imitation.limited_posture import (
    limited_posture,
    plugged_posture,
    rescale_into_limits,
)
from simbench.retargeting.imitation.scaled_model import calibrate
from simbench.robot.robot import Robot


class PositionLimits(NamedTuple):
    """Limits of the m joints of trunk and arms, margin included.

    Parameters
    ----------
    lower : (m,) array
        Least positions, rad.
    upper : (m,) array
        Greatest positions, rad.
    """

    lower: Array
    upper: Array


def imitate_person(robot: Robot, motion: HumanMotion, settings: RetargetSection) -> Imitation:
    """Let the scaled model follow a recording.

    Parameters
    ----------
    robot : Robot
        Robot of human form.
    motion : HumanMotion
        Recording.
    settings : RetargetSection
        Method and smoothing.

    Returns
    -------
    Imitation
        Motion of the scaled model, without the robot's limits.
    """
    return imitate(
        calibrate(robot, motion),
        motion,
        # Hands that hold something follow the scaled model's even where the arms are adapted, or come from a
        # plug-in.
        method=settings.method if settings.method in METHODS else "analytical",
        smoothing_window=settings.smoothing_window,
        smoothing_order=settings.smoothing_order,
    )


def position_limits(imitation: Imitation, settings: RetargetSection) -> PositionLimits:
    """Find the limits of trunk and arms.

    Parameters
    ----------
    imitation : Imitation
        Motion of the scaled model, which has the robot's limits.
    settings : RetargetSection
        Margin.

    Returns
    -------
    PositionLimits
        Limits, rad.
    """
    model, margin = imitation.actor.model, settings.joint_limit_margin_rad
    return PositionLimits(
        np.asarray(model.lowerPositionLimit[7:]) + margin, np.asarray(model.upperPositionLimit[7:]) - margin
    )


def preferred_posture(
    robot: Robot,
    motion: HumanMotion,
    imitation: Imitation,
    settings: RetargetSection,
    shapes: BodyShapes,
) -> Array:
    """Imitate a person with trunk and arms inside their limits of position, as if without equipment.

    Parameters
    ----------
    robot : Robot
        Robot of human form.
    motion : HumanMotion
        Recording, T samples.
    imitation : Imitation
        Motion of the scaled model at these samples.
    settings : RetargetSection
        Method, margin, and how the posture is brought inside the limits.
    shapes : BodyShapes
        Collision shapes of the robot.

    Returns
    -------
    (T, m) array
        Positions of trunk and arms, rad.
    """
    lower, upper = position_limits(imitation, settings)
    if settings.method == "bones":
        names = imitation.actor.model.names[first_joint(imitation.actor.model) :]
        return imitate_upper_body(robot, motion, settings, names)
    if settings.method == "arm_adaptation":
        # A paper's method, of which nothing else knows.
        from simbench.retargeting.arm_adaptation import adapted_posture

        return adapted_posture(robot, motion, margin=settings.joint_limit_margin_rad)
    if settings.method not in RETARGETING_METHODS:
        names = imitation.actor.model.names[first_joint(imitation.actor.model) :]
        return plugged_posture(robot, motion, settings, names, (lower, upper))
    if settings.posture == "rescaled":
        return rescale_into_limits(motion.time, imitation.q[:, 7:], lower, upper)
    return limited_posture(imitation, motion, shapes, lower, upper)
