"""Trunk and arms of a robot that follows a person's steps: their posture relative to its root."""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from simbench.balance.standing.standing import Stance
from simbench.errors import RetargetError
from simbench.kinematics.arrays import Array
from simbench.kinematics.bounded_path import AccelerationRows
from simbench.motion.human_motion import HumanMotion
from simbench.options import RetargetSection
from simbench.retargeting.collision.clearance import BodyShapes, ClearanceScene, body_shapes
from simbench.retargeting.imitation.imitation import imitation_metrics
from simbench.retargeting.stand.standing_plan import imitate_person, position_limits, preferred_posture
from simbench.retargeting.timing.preserve import (
    Dynamics,
    UpperBody,
    keep_tempo,
    knot_samples,
    tempo_bounds,
    zmp_inertia,
)
from simbench.robot.robot import Robot

FIRST_INERTIA = 0.02
"""Weight of the ZMP's shift by accelerations before anything is known of the steps: a shift of 10 cm costs as
much as 5 mm at the hands."""


class FollowedUpperBody(NamedTuple):
    """Motion of trunk and arms.

    Parameters
    ----------
    joints : (T, n) array
        Positions of all joints of the robot; those of legs and head as at rest, rad.
    columns : (m,) int array
        Columns of trunk and arms.
    preferred : (T, m) array
        Positions of trunk and arms that imitate the person inside the limits of position alone, rad.
    body : UpperBody
        Trunk and arms with their limits.
    shapes : BodyShapes
        Collision shapes of the robot, the legs at rest.
    metrics : dict of str to float
        Metrics `imitation.*`.
    """

    joints: Array
    columns: NDArray[np.int64]
    preferred: Array
    body: UpperBody
    shapes: BodyShapes
    metrics: dict[str, float]

    def with_arms(self, arms: Array) -> "FollowedUpperBody":
        """Replace the positions of trunk and arms.

        Parameters
        ----------
        arms : (T, m) array
            Their positions, rad.

        Returns
        -------
        FollowedUpperBody
            The same with these positions.
        """
        joints = self.joints.copy()
        joints[:, self.columns] = arms
        return self._replace(joints=joints)


def follow_upper_body(
    robot: Robot, motion: HumanMotion, settings: RetargetSection, stance: Stance
) -> FollowedUpperBody:
    """Imitate a person with trunk and arms, at the recorded tempo and within all limits of these joints.

    The whole motion is one bounded problem (`keep_tempo`): where the person is too fast, amplitude gives way.

    Parameters
    ----------
    robot : Robot
        Robot of human form.
    motion : HumanMotion
        Recording seen from the robot's root (`seen_from_root`), T samples.
    settings : RetargetSection
        Method, margins and smoothing.
    stance : Stance
        How the robot stands.

    Returns
    -------
    FollowedUpperBody
        Positions, speeds and accelerations inside the joints' limits.

    Raises
    ------
    RetargetError
        If the scenario has criteria for hands that hold something, or there is no motion within the limits.
    """
    if settings.weights is not None:
        raise RetargetError("retarget.weights: hands hold nothing with retarget.physics: steps")
    imitation, shapes = imitate_person(robot, motion, settings), body_shapes(robot, stance.joints)
    preferred = preferred_posture(robot, motion, imitation, settings, shapes)
    columns = np.array([robot.joint_names.index(name) for name in imitation.actor.model.names[2:]])
    speed = np.asarray(robot.model.velocityLimit)[6 + columns] * settings.speed_limit_fraction
    bounds = tempo_bounds(robot, columns, position_limits(imitation, settings), speed)
    base = np.tile(stance.base, (len(motion.time), 1))
    body = UpperBody(robot, imitation.actor, ClearanceScene(shapes, base), columns, bounds)
    metrics = imitation_metrics(imitation, motion)
    joints = np.tile(stance.joints, (len(motion.time), 1))
    upper = FollowedUpperBody(joints, columns, preferred, body, shapes, metrics).with_arms(preferred)
    knots = knot_samples(motion.time)
    weight = np.full(len(knots), FIRST_INERTIA)
    dynamics = Dynamics(
        preferred[knots],
        0.0,
        1.0,
        zmp_inertia(body, base[knots], upper.joints[knots], weight),
        no_torque_limits(len(knots), len(columns)),
    )
    arms, _ = keep_clock(body, motion.time, preferred, dynamics)
    return upper.with_arms(arms)


def no_torque_limits(knots: int, joints: int) -> AccelerationRows:
    """Limit no combination of accelerations.

    Parameters
    ----------
    knots : int
        Number K of knots.
    joints : int
        Number m of joints.

    Returns
    -------
    AccelerationRows
        No rows.
    """
    return AccelerationRows(np.empty((knots, 0, joints)), np.empty((knots, 0)), np.empty((knots, 0)))


def keep_clock(body: UpperBody, time: Array, preferred: Array, dynamics: Dynamics) -> tuple[Array, float]:
    """Find the motion of trunk and arms within their limits, as `keep_tempo` does.

    Parameters
    ----------
    body : UpperBody
        Joints, their limits and the scaled model.
    time : (T,) array
        Time of the samples, s.
    preferred : (T, m) array
        Preferred positions of trunk and arms, rad, inside their limits.
    dynamics : Dynamics
        What else the motion costs.

    Returns
    -------
    joints : (T, m) array
        Positions of trunk and arms, rad.
    missing : float
        Largest deficit of the links' clearance, m.

    Raises
    ------
    RetargetError
        If there is no such motion.
    """
    try:
        return keep_tempo(body, time, preferred, dynamics)
    except ArithmeticError as error:
        raise RetargetError(f"{body.robot.name}: no motion at the recorded tempo: {error}") from None
