"""Rewards of the tracking task: each term between 0 and 1, 1 where the robot is where the plan has it."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from simbench.kinematics.arrays import Array


class RewardInputs(NamedTuple):
    """What rewards are computed from, after an action; n joints, J joints of equipment."""

    # `position_error`, `velocity_error` (n,): planned minus measured joint positions and velocities, rad and
    # rad/s.
    position_error: Array
    velocity_error: Array
    tilt: float  # Angle between the planned and the measured orientation of the base, rad; 0 of a fixed base.
    height_error: float  # Planned minus measured height of the base, m; 0 of a fixed base.
    # (J,): where the person moved the equipment minus where it is, m or rad; empty without.
    equipment_error: Array
    action_change: Array  # (m,): action minus the one before.


@dataclass(frozen=True)
class RewardWeights:
    """Weight w_i of each term; the reward is Σ w_i r_i / Σ w_i over the terms that a scenario has."""

    position: float = 1.0  # `position`, `velocity`: of the joints' positions and velocities.
    velocity: float = 0.25
    tilt: float = 0.5  # `tilt`, `height`: of the base's orientation and height.
    height: float = 0.25
    equipment: float = 0.5  # of the equipment's joints.
    smoothness: float = 0.1  # of actions that change little.


POSITION_SCALE, VELOCITY_SCALE = 0.1, 1.0
"""Root mean square errors at which a term is 1/e, rad and rad/s."""
TILT_SCALE, HEIGHT_SCALE, EQUIPMENT_SCALE, CHANGE_SCALE = 0.2, 0.05, 0.05, 1.0
"""The same of the base's angle (rad) and height (m), equipment (m or rad), and actions."""


def near(error: Array | float, scale: float) -> float:
    """Compute exp(−mean(e²) / σ²): 1 without error.

    `error`: errors e; `scale`: σ, in the same unit. Returns between 0 and 1.
    """
    return float(np.exp(-np.mean(np.square(error)) / scale**2))


def compute_terms(now: RewardInputs, *, floating: bool) -> dict[str, float]:
    """Compute the terms of the reward.

    `now`: errors after an action; `floating`: whether the base is free. Returns value of each term of
    `RewardWeights` that there is.
    """
    terms = {
        "position": near(now.position_error, POSITION_SCALE),
        "velocity": near(now.velocity_error, VELOCITY_SCALE),
        "smoothness": near(now.action_change, CHANGE_SCALE),
    }
    if floating:
        terms |= {"tilt": near(now.tilt, TILT_SCALE), "height": near(now.height_error, HEIGHT_SCALE)}
    if now.equipment_error.size:
        terms["equipment"] = near(now.equipment_error, EQUIPMENT_SCALE)
    return terms


def add_up(terms: Mapping[str, float], weights: RewardWeights) -> float:
    """Compute Σ w_i r_i / Σ w_i. Returns reward, between 0 and 1."""
    given = {name: float(getattr(weights, name)) for name in terms}
    total = sum(given.values())
    return sum(given[name] * value for name, value in terms.items()) / total if total else 0.0
