"""Physics that explodes: states that no motion of a robot or of equipment reaches."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from simbench.kinematics.arrays import Array
from simbench.robot.robot import Robot
from simbench.sim.engine import Fixture
from simbench.sim.state import RobotState

SPEED_BOUND = 99.0
"""Speed of a joint or of the base that only an explosion reaches, rad/s or m/s.

Bullet cuts all speeds off at 100, so that a state there is not a solution of the equations of motion.
"""
FARTHEST = 1000.0
"""Distance of the base from the origin that only an explosion reaches, m."""


class Divergence(NamedTuple):
    """When and where physics diverged."""

    time: float  # Time of the first state that is not a motion, s.
    cause: str  # What reached it first, and how: `joint LElbow (speed 100 rad/s)`.

    def __str__(self) -> str:
        """Say what happened in one line, with what to try."""
        return (
            f"physics diverged at {self.time:.3f} s: {self.cause} first; "
            "try a smaller simulation.timestep_s, lower gains, or a start without penetration"
        )


def find_divergence(robot: Robot, states: RobotState, *, fallen: bool = False) -> tuple[int, str] | None:
    """Find the first of several states that no motion reaches.

    The impact of a fall drives light joints, such as wrists, to the speed where Bullet cuts them off: after a
    fall only what is not finite counts. `robot`: robot in these states; `states`: K states: q (K, nq) and v
    (K, nv); `fallen`: whether the robot has fallen. Returns index of the state, and what reached it first;
    None if all states are motions.
    """
    q, v, bound = states.q, states.v, np.inf if fallen else SPEED_BOUND
    if not len(q) or (_is_within(v, bound) and _is_within(q, FARTHEST)):
        return None
    speed = np.where(np.isfinite(v), np.abs(v), np.inf)
    beyond = ~np.isfinite(q)
    if robot.floating:
        beyond[:, :3] |= np.abs(q[:, :3]) >= FARTHEST
    rows = (speed >= bound).any(axis=1) | beyond.any(axis=1)
    if not rows.any():
        return None
    row = int(rows.argmax())
    column = int(speed[row].argmax())
    if speed[row, column] >= bound:
        return row, _describe_speed(robot, column, float(v[row, column]))
    column = int(beyond[row].argmax())
    if column < robot.root_q:
        return row, f"the base (position {q[row, min(column, 2)]:.3g} m)"
    return row, f"joint {robot.joint_names[column - robot.root_q]} (position {q[row, column]:.3g})"


def _is_within(values: Array, bound: float) -> bool:
    """Tell whether all values are smaller than a bound; the extremes of what contains NaN are NaN."""
    return bool(
        np.maximum.reduce(values, axis=None) < bound and np.minimum.reduce(values, axis=None) > -bound
    )


def find_fixture_divergence(fixtures: Sequence[Fixture]) -> str | None:
    """Find a fixture whose present state no motion reaches.

    `fixtures`: all equipment of the world. Returns fixture, joint and how it moves; None if all states are
    motions.
    """
    for fixture in fixtures:
        position, velocity, stand = fixture.read_state()
        for joint, place, speed in zip(fixture.mechanism.joints, position, velocity, strict=True):
            if not (abs(speed) < SPEED_BOUND and np.isfinite(place)):
                unit = f"{joint.unit}/s"
                return f"joint {joint.name} of {fixture.mechanism.name} (speed {abs(speed):.3g} {unit})"
        if not (np.abs(np.asarray(stand)[:3]) < FARTHEST).all():
            return f"{fixture.mechanism.name} (position {np.abs(np.asarray(stand)[:3]).max():.3g} m)"
    return None


def _describe_speed(robot: Robot, column: int, speed: float) -> str:
    """Name the coordinate of the velocity that is too large."""
    if column < robot.root_v:
        return f"the base (speed {abs(speed):.3g} {'m/s' if column < 3 else 'rad/s'})"
    name = robot.joint_names[column - robot.root_v]
    prismatic = robot.model.joints[robot.model.getJointId(name)].shortname().startswith("JointModelP")
    return f"joint {name} (speed {abs(speed):.3g} {'m/s' if prismatic else 'rad/s'})"


def first_rows(states: RobotState, count: int) -> RobotState:
    """Take the first of several states.

    `states`: buffers of states: q (K, nq) and v (K, nv); `count`: number of states to take. Returns views of
    the first `count` states.
    """
    return RobotState(states.q[:count], states.v[:count], states.root)
