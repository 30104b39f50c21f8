"""Height of the COG of a robot that follows a person's ups and downs."""

import numpy as np

from simbench.balance.inverted_pendulum import GRAVITY
from simbench.balance.standing.pelvis_height import leg_length
from simbench.balance.standing.standing import Stance, height_range
from simbench.kinematics.arrays import Array
from simbench.retargeting.legs.body import low_pass
from simbench.retargeting.legs.task import Person, StepFollowingOptions
from simbench.retargeting.reference.trajectory_steps import cog_heights
from simbench.robot.robot import Robot

_HEIGHT_BANDWIDTHS = (3.0, 2.4, 1.9, 1.5, 1.2, 0.9, 0.7, 0.5, 0.3)
"""Bandwidths of the pelvis' height that are tried in turn, Hz; the first is twice the frequency of steps."""
_MAX_LIFT = 0.25
"""Largest vertical acceleration of the COG, as a part of gravity: the pendulum's height is taken to be
constant, and the soles keep their grip."""
_STANDING_QUANTILE = 0.9
"""Quantile of the pelvis' heights at which the person is taken to stand upright."""
_HEIGHT_FRACTION = 0.7
"""Fraction used of the heights that the legs allow: the rest is for steps and sway."""
_DEEPEST_SQUAT = 0.2
"""Largest lowering of the root as a part of its height: at 0.3 a robot counts as fallen, and legs bend
further for long steps."""


def follow_pelvis_height(
    robot: Robot, person: Person, options: StepFollowingOptions, stance: Stance
) -> Array:
    """Follow the pelvis' ups and downs, scaled by the legs' lengths, as far as the robot's legs allow.

    Parameters
    ----------
    robot : Robot
        Robot with two legs.
    person : Person
        The recording, T samples.
    options : StepFollowingOptions
        Posture and height of the robot, and the part of the pelvis' motion that it follows.
    stance : Stance
        How it stands.

    Returns
    -------
    (T,) array
        Height of the COG, m. Its acceleration is bounded by a quarter of gravity: ups and downs are smoothed.
    """
    standing = float(cog_heights(robot, np.concatenate([stance.base, stance.joints])[None])[0])
    raised = person.body.pelvis[:, 2]
    scale = options.retarget.pelvis_height_follow * leg_length(robot) / person.recorded.leg
    height = options.section.height_m or 0.0
    low, high = (_HEIGHT_FRACTION * (end - height) for end in height_range(robot, options.section.posture))
    low = max(low, -_DEEPEST_SQUAT * float(stance.base[2]))
    for bandwidth in _HEIGHT_BANDWIDTHS:
        moved = low_pass(raised, bandwidth, person.motion.rate) - np.quantile(raised, _STANDING_QUANTILE)
        limit = np.maximum(np.abs(np.where(moved < 0.0, low, high)), 1e-9)
        heights = np.asarray(standing + limit * np.tanh(scale * moved / limit))
        if np.abs(_second_difference(person.motion.time, heights)).max() <= _MAX_LIFT * GRAVITY:
            break
    return heights


def _second_difference(time: Array, values: Array) -> Array:
    """Second derivative (T,) by central differences."""
    return np.asarray(np.gradient(np.gradient(values, time), time))
