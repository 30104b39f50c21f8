"""What a policy can observe: each term a function of the robot's state and its reference.

m joints in the contract's order. The base frame is that of the robot's root link; the world's z axis is up.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from simbench.kinematics.arrays import Array


@dataclass
class Snapshot:
    """What terms are computed from at one moment."""

    time: float  # Time, s.
    duration: float  # Duration of the run, s.
    position: Array  # `position`, `velocity` (m,): measured joint positions and velocities, rad and rad/s.
    velocity: Array
    default: Array  # (m,): default positions, rad.
    # `reference_position`, `reference_velocity`, `reference_acceleration` (m,): reference at the end of the
    # physics step, rad, rad/s, rad/s².
    reference_position: Array
    reference_velocity: Array
    reference_acceleration: Array
    feedforward: Array  # (m,): feed-forward torque of the plan, N·m.
    last_action: Array  # (m,): last action as the policy returned it; 0 at first.
    base_position: Array  # (3,): position of the base in the world, m.
    base_rotation: Array  # (3, 3): rotation from the base frame to the world.
    base_velocity: Array  # (6,): linear (m/s) and angular (rad/s) velocity of the base in the base frame.
    planned_position: Array  # (3,): planned position of the base in the world, m.
    planned_rotation: Array  # (3, 3): planned rotation from the base frame to the world.


class Term(NamedTuple):
    """A term of an observation."""

    compute: Callable[[Snapshot], Array]  # Its value.
    size: int | None  # Number of entries; None for one of each joint.
    unit: str  # Unit of an entry, of a revolute joint where it is one of a joint.
    meaning: str  # What it is, with its frame.
    base: bool = False  # Whether it needs a floating base.


def project_gravity(now: Snapshot) -> Array:
    """Compute the direction of gravity in the base frame: Rᵀ (0, 0, −1).

    `now`: state. Returns (3,): unit vector.
    """
    return -now.base_rotation[2]


def planned_orientation(now: Snapshot) -> Array:
    """Compute the planned orientation of the base in the base frame: the first two columns of Rᵀ R_planned.

    `now`: state and plan. Returns (6,): the columns side by side, row by row.
    """
    return np.ravel((now.base_rotation.T @ now.planned_rotation)[:, :2])


TERMS: Mapping[str, Term] = {
    "joint_position": Term(lambda now: now.position, None, "rad", "joint positions"),
    "joint_position_relative": Term(
        lambda now: now.position - now.default, None, "rad", "joint positions from the default ones"
    ),
    "joint_velocity": Term(lambda now: now.velocity, None, "rad/s", "joint velocities"),
    "reference_position": Term(
        lambda now: now.reference_position, None, "rad", "planned joint positions at the end of the step"
    ),
    "reference_velocity": Term(
        lambda now: now.reference_velocity, None, "rad/s", "planned joint velocities at the end of the step"
    ),
    "reference_acceleration": Term(
        lambda now: now.reference_acceleration, None, "rad/s²", "planned joint accelerations"
    ),
    "feedforward": Term(lambda now: now.feedforward, None, "N·m", "feed-forward torques of the plan"),
    "position_error": Term(
        lambda now: now.reference_position - now.position, None, "rad", "planned minus measured positions"
    ),
    "velocity_error": Term(
        lambda now: now.reference_velocity - now.velocity, None, "rad/s", "planned minus measured velocities"
    ),
    "last_action": Term(lambda now: now.last_action, None, "1", "the last action, as the policy returned it"),
    "time": Term(lambda now: np.array([now.time]), 1, "s", "time of the run"),
    "phase": Term(
        lambda now: np.array([min(now.time / now.duration, 1.0)]),
        1,
        "1",
        "time over the run's duration, 0 to 1",
    ),
    "base_linear_velocity": Term(
        lambda now: now.base_velocity[:3], 3, "m/s", "velocity of the base, in the base frame", base=True
    ),
    "base_angular_velocity": Term(
        lambda now: now.base_velocity[3:],
        3,
        "rad/s",
        "angular velocity of the base, in the base frame",
        base=True,
    ),
    "projected_gravity": Term(
        project_gravity, 3, "1", "unit vector of gravity, in the base frame", base=True
    ),
    "base_height": Term(
        lambda now: now.base_position[2:], 1, "m", "height of the base above the world's origin", base=True
    ),
    "reference_base_position": Term(
        lambda now: now.base_rotation.T @ (now.planned_position - now.base_position),
        3,
        "m",
        "planned minus measured position of the base, in the base frame",
        base=True,
    ),
    "reference_base_orientation": Term(
        planned_orientation,
        6,
        "1",
        "planned orientation of the base in the base frame: two columns of its matrix, row by row",
        base=True,
    ),
}
"""Name of each term to what it is."""
