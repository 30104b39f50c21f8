"""Checks on the feet: skate, penetration, float, and the angle of the soles."""

import numpy as np

from simbench.kinematics.arrays import Array
from simbench.kinematics.foot_contact import (
    contact_intervals,
    measure_float,
    measure_foot_skate,
    measure_penetration,
    measure_sole_angle,
)
from simbench.runs.verdict.dynamics import GroundForces
from simbench.runs.verdict.judging import judge, not_applicable, since_onset
from simbench.runs.verdict.motion_state import Flags, MotionState
from simbench.runs.verdict.outcome import Check
from simbench.runs.verdict.thresholds import FLOAT, FLOAT_HEIGHT, ONSET, PENETRATION, SKATE, SOLE_ANGLE

FOOT_CHECKS = ("foot skate", "floor penetration", "float", "sole angle")

_LEAST_LOAD = 0.25
"""Vertical force as a fraction of the weight above which a robot does not fall freely."""
_SLOW, _FAST = 0.005, 0.02
"""Bounds of the speed from which a foot counts as sliding when a slide is dated, m/s."""
_PAUSE = 0.03
"""Interruptions of a slide that are closed when it is dated, s."""


def check_feet(state: MotionState, forces: GroundForces) -> list[Check]:
    """Check the feet of a motion.

    `forces`: forces that it needs. Returns foot skate, floor penetration, float, sole angle.
    """
    feet = state.feet
    if not feet.roles:
        reason = "the base is fixed" if not state.robot.floating else "the robot has no soles"
        return [not_applicable(name, reason) for name in FOOT_CHECKS]
    columns = range(len(feet.roles))
    contact = feet.contact
    heights = feet.corners[..., 2]
    depth = np.stack([measure_penetration(heights[:, foot]) for foot in columns], axis=1)
    angle = np.stack([measure_sole_angle(feet.normal[:, foot], contact[:, foot]) for foot in columns], axis=1)
    return [
        _check_skate(state),
        judge(
            FOOT_CHECKS[1],
            state.time,
            depth,
            feet.roles,
            limit=PENETRATION.value,
            unit="m",
            failing=since_onset(depth, PENETRATION.value, depth > ONSET.value),
        ),
        _check_float(state, forces),
        judge(FOOT_CHECKS[3], state.time, angle, feet.roles, limit=SOLE_ANGLE.value, unit="rad"),
    ]


def _check_skate(state: MotionState) -> Check:
    """How far feet slide while they are in contact."""
    feet = state.feet
    skates = [
        measure_foot_skate(state.time, feet.corners[:, foot], feet.touching[:, foot])
        for foot in range(len(feet.roles))
    ]
    displacement = np.stack([skate.displacement for skate in skates], axis=1)
    sliding = np.stack([_is_sliding(state.time, skate.speed) for skate in skates], axis=1)
    return judge(
        FOOT_CHECKS[0],
        state.time,
        displacement,
        feet.roles,
        limit=SKATE.value,
        unit="m",
        failing=since_onset(displacement, SKATE.value, sliding),
    )


def _is_sliding(time: Array, speed: Array) -> Flags:
    """Tell in which samples a foot slides, with short pauses closed; noise of the samples is no slide."""
    touching = speed[speed > 0.0]
    noise = 4.0 * float(np.median(touching)) if len(touching) else 0.0
    sliding = speed > np.clip(noise, _SLOW, _FAST)
    for first, last in contact_intervals(~sliding):
        if first > 0 and last < len(time) - 1 and time[last + 1] - time[first] < _PAUSE:
            sliding[first : last + 1] = True
    return sliding


def _check_float(state: MotionState, forces: GroundForces) -> Check:
    """How high the lowest sole is while no foot is in contact and the motion is not one of free fall."""
    feet = state.feet
    heights = feet.corners[..., 2].reshape(len(state.time), -1)
    height = measure_float(heights, ~feet.airborne)
    for first, last in contact_intervals(height > 0.0):
        if height[first : last + 1].max() > FLOAT_HEIGHT.value:
            height[first : last + 1] = 0.0
    carried = (forces.force[:, 2] > _LEAST_LOAD * forces.weight) & state.smooth
    height = np.where(carried, height, 0.0)
    return judge(FOOT_CHECKS[2], state.time, height[:, None], ("feet",), limit=FLOAT.value, unit="m")
