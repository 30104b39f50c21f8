"""Observations of a policy: terms in the contract's order, their history, normalised.

m joints in the contract's order. The base frame is that of the robot's root link; the world's z axis is up.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import NamedTuple

import numpy as np

from simbench.errors import PolicyError, closest_name
from simbench.kinematics.arrays import Array
from simbench.robot.robot import Robot
from simbench.sim.control.policy_contract import Numbers, PolicyContract
from simbench.sim.state import RobotState
from simbench.system.limits import MOST_OBSERVATIONS, require_at_most


def rotation_matrix(quaternion: Array) -> Array:
    """Rotation matrix (3, 3) of a unit quaternion x, y, z, w."""
    x, y, z, w = quaternion.tolist()
    return np.array(
        [
            [1.0 - 2.0 * (y * y + z * z), 2.0 * (x * y - z * w), 2.0 * (x * z + y * w)],
            [2.0 * (x * y + z * w), 1.0 - 2.0 * (x * x + z * z), 2.0 * (y * z - x * w)],
            [2.0 * (x * z - y * w), 2.0 * (y * z + x * w), 1.0 - 2.0 * (x * x + y * y)],
        ]
    )


class Snapshot:
    """What terms are computed from at one moment.

    `time`: time, s; `duration`: duration of the run, s; `state`: measured state; `demand` (4 n,): reference
    at the end of the physics step: positions, velocities, accelerations and feed-forward torques of all
    joints, rad, rad/s, rad/s², N·m; `joints` (m,): columns of the contract's joints; `base`, `planned` (7,):
    measured and planned pose of the base in the world; `default` (m,): default positions, rad;
    `last_action` (m,): last action as the policy returned it; 0 at first.
    """

    def __init__(
        self,
        time: float,
        duration: float,
        state: RobotState,
        demand: Array,
        joints: Array,
        base: Array,
        planned: Array,
        default: Array,
        last_action: Array,
    ) -> None:
        self.time, self.duration, self.default, self.last_action = time, duration, default, last_action
        rows = demand.reshape(4, -1)
        self.reference_position, self.reference_velocity, self.reference_acceleration, self.feedforward = (
            row[joints] for row in rows
        )
        count = rows.shape[1]
        self.position, self.velocity = state.q[-count:][joints], state.v[-count:][joints]
        # Position, m, and rotation to the world, measured and planned.
        self.base_position, self.base_rotation = base[:3], rotation_matrix(base[3:])
        self.planned_position, self.planned_rotation = planned[:3], rotation_matrix(planned[3:])
        # Linear (m/s) and angular (rad/s) velocity of a free base in the base frame.
        self.base_velocity = state.v[:-count]


class Term(NamedTuple):
    """A term of an observation."""

    compute: Callable[[Snapshot], Array]  # Its value.
    size: int | None  # Number of entries; None for one of each joint.
    unit: str  # Unit of an entry, of a revolute joint where it is one of a joint.
    meaning: str  # What it is, with its frame.
    base: bool = False  # Whether it needs a floating base.


# Name of each term to what it is.
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
        # Rᵀ (0, 0, −1).
        lambda now: -now.base_rotation[2],
        3,
        "1",
        "unit vector of gravity, in the base frame",
        base=True,
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
        # The first two columns of Rᵀ R_planned.
        lambda now: np.ravel((now.base_rotation.T @ now.planned_rotation)[:, :2]),
        6,
        "1",
        "planned orientation of the base in the base frame: two columns of its matrix, row by row",
        base=True,
    ),
}


class Observer:
    """Computes the observations that a contract asks for.

    `where`: file of the contract, for messages. Raises PolicyError if a term is unknown or needs a floating
    base, or a size does not agree.
    """

    def __init__(self, contract: PolicyContract, robot: Robot, where: str) -> None:
        count = len(contract.joints)
        self._terms = contract.observation
        self._by_step = contract.history_order == "by_step"
        for number, section in enumerate(self._terms):
            term, key = section.term, f"{where}: observation.{number}.term"
            if term not in TERMS:
                hint = closest_name(term, TERMS)
                raise PolicyError(f"{key}: unknown term {term}{hint}; allowed: {', '.join(TERMS)}")
            if TERMS[term].base and not robot.floating:
                raise PolicyError(
                    f"{key}: {term}: the base of {robot.name} is fixed; allowed: terms of joints"
                )
        sizes = [TERMS[section.term].size or count for section in self._terms]
        whole = sum(section.history * size for section, size in zip(self._terms, sizes, strict=True))
        require_at_most(whole, MOST_OBSERVATIONS, f"{where}: observation: numbers", PolicyError)
        self._scaling = [
            (
                spread(f"{where}: observation.{number}.offset", section.offset, size),
                spread(f"{where}: observation.{number}.scale", section.scale, size),
                np.inf if section.clip is None else section.clip,
            )
            for number, (section, size) in enumerate(zip(self._terms, sizes, strict=True))
        ]
        self._history = [
            np.zeros((section.history, size)) for section, size in zip(self._terms, sizes, strict=True)
        ]
        named = []
        for section, rows in zip(self._terms, self._history, strict=True):
            entries = contract.joints if TERMS[section.term].size is None else range(rows.shape[1])
            ages = range(len(rows) - 1, -1, -1)
            named.append(
                [[f"{section.term}.{e}" + (f"@-{age}" if age else "") for e in entries] for age in ages]
            )
        # One step after the other needs the same history of all terms, and the contract has it.
        steps = [each for past in (zip(*named, strict=True) if self._by_step else named) for each in past]
        # Name of each entry, such as `joint_velocity.LKneePitch`, with `@-1` for the value before.
        self.names = tuple(name for step in steps for name in step)
        self.size = len(self.names)  # Number of entries.
        if contract.observation_size not in (None, self.size):
            raise PolicyError(
                f"{where}: observation_size: {contract.observation_size}; allowed: {self.describe_size()}"
            )
        self._mean, self._std, self._clip = np.zeros(self.size), np.ones(self.size), np.inf
        if contract.normalisation is not None:
            given = contract.normalisation
            self._mean = spread(f"{where}: normalisation.mean", given.mean, self.size)
            self._std = spread(f"{where}: normalisation.std", given.std, self.size)
            self._clip = np.inf if given.clip is None else given.clip
        self._empty = True

    def describe_size(self) -> str:
        """Say how many entries each term has. Returns such as `12, of joint_velocity 6 × 2`."""
        parts = [
            f"{section.term} {len(rows[0])}" + (f" × {len(rows)}" if len(rows) > 1 else "")
            for section, rows in zip(self._terms, self._history, strict=True)
        ]
        return f"{self.size}, of {', '.join(parts)}"

    def reset(self) -> None:
        """Forget what was observed: the next observation is the first of a run."""
        self._empty = True

    def observe(self, now: Snapshot) -> Array:
        """Compute the next observation; to be called once for each of the policy's ticks.

        `now`: state, reference and plan. Returns (size,): entries in the order of `names`.
        """
        for section, (offset, scale, clip), rows in zip(
            self._terms, self._scaling, self._history, strict=True
        ):
            value = np.clip(TERMS[section.term].compute(now), -clip, clip)
            rows[:-1] = rows[1:]
            rows[-1] = (value + offset) * scale
            if self._empty:
                rows[:] = rows[-1]
        self._empty = False
        if self._by_step:
            steps = range(len(self._history[0]))
            whole = np.concatenate([rows[step] for step in steps for rows in self._history])
        else:
            whole = np.concatenate([rows.ravel() for rows in self._history])
        return np.asarray(np.clip((whole - self._mean) / self._std, -self._clip, self._clip))


def spread(where: str, given: Numbers, size: int) -> Array:
    """Make an array of one number for all entries, or one for each.

    `where`: file and key, for the message. Returns (size,).
    """
    values = np.asarray(given, dtype=float)
    if values.ndim == 1 and len(values) != size:
        raise PolicyError(f"{where}: {len(values)} numbers; allowed: one, or {size}")
    return np.full(size, values) if values.ndim == 0 else values
