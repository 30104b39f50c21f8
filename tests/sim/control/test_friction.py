"""Friction of coupled joints at one step, against enumeration of all their states and closed forms."""

from itertools import product

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from simbench.sim.control.joint_controller import friction_torque

DT = 1e-3


def coupled(seed, count):
    """Inverse of a random mass matrix, accelerations, velocities and Coulomb limits."""
    rng = np.random.default_rng(seed)
    root = rng.normal(size=(count, count))
    mass = root @ root.T + 0.2 * np.eye(count)
    limit = rng.uniform(0.1, 2.0, count)
    velocity = rng.choice([0.0, 1.0], count) * rng.normal(size=count) * 10.0 ** rng.uniform(-4, 0, count)
    return np.linalg.inv(mass), rng.normal(size=count) * 3.0, velocity, limit


def enumerated(response, acceleration, velocity, limit):
    """The one consistent state among all 3ⁿ, for break-away equal to Coulomb friction."""
    count = len(limit)
    free = velocity + DT * acceleration
    found = []
    for signs in product((-1.0, 0.0, 1.0), repeat=count):
        direction = np.array(signs)
        rest = direction == 0.0
        torque = -direction * limit
        if rest.any():
            left = free[rest] + DT * response[rest] @ torque
            torque[rest] = np.linalg.solve(response[np.ix_(rest, rest)], -left) / DT
        after = free + DT * response @ torque
        if (np.abs(torque) <= limit * (1 + 1e-12)).all() and (direction * after >= -1e-15).all():
            found.append(torque)
    return found


@settings(max_examples=200, deadline=None)
@given(st.integers(0, 2**32 - 1), st.integers(1, 4))
@example(2200, 3)  # Moving all joints to their other state at once goes in circles here.
def test_states_are_those_that_enumeration_finds(seed, count):
    response, acceleration, velocity, limit = coupled(seed, count)
    torque = friction_torque(acceleration, response, velocity, DT, limit, limit)
    found = enumerated(response, acceleration, velocity, limit)
    assert len(found) >= 1
    np.testing.assert_allclose(torque, found[0], rtol=1e-7, atol=1e-9)


@settings(max_examples=200, deadline=None)
@given(st.integers(0, 2**32 - 1), st.integers(1, 6), st.floats(1.0, 2.0))
def test_limits_hold_and_friction_takes_energy(seed, count, ratio):
    """With break-away above Coulomb friction: never above break-away, never along the motion."""
    response, acceleration, velocity, limit = coupled(seed, count)
    torque = friction_torque(acceleration, response, velocity, DT, limit, ratio * limit)
    after = velocity + DT * (acceleration + response @ torque)
    assert (np.abs(torque) <= ratio * limit + 1e-9).all()
    moving = np.abs(after) > 1e-9
    assert (torque[moving] * after[moving] < 0.0).all()


def test_a_joint_rests_up_to_break_away_and_slides_with_coulomb_beyond():
    inertia, coulomb, breakaway = 0.5, 0.8, 1.0
    for load, expected in ((0.5, -0.5), (-0.999, 0.999), (1.001, -0.8), (-3.0, 0.8)):
        torque = friction_torque(
            np.array([load / inertia]),
            np.array([[1 / inertia]]),
            np.zeros(1),
            DT,
            np.array([coulomb]),
            np.array([breakaway]),
        )
        assert torque[0] == pytest.approx(expected, abs=1e-12)


def test_a_sliding_joint_stops_within_the_step_and_stays():
    """v = 1 mm/s of speed that Coulomb friction could turn around is taken away exactly, not more."""
    inertia, velocity = 0.5, np.array([1e-3])
    one = np.array([1.0])
    torque = friction_torque(np.zeros(1), np.array([[1 / inertia]]), velocity, DT, one, one)
    assert torque[0] == pytest.approx(-inertia * 1e-3 / DT)
    assert velocity + DT * torque / inertia == pytest.approx(0.0, abs=1e-18)
