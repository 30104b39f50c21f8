"""Pushes: the impulse of the sampled half sine, and the momentum that it gives a free robot in Bullet."""

import numpy as np
import pinocchio as pin
import pytest

from simbench.sim.bullet import open_world
from simbench.sim.bullet.bullet_bodies import bullet
from simbench.sim.push import apply_pushes
from simbench.sim.state import empty_state

DT = 0.001


def test_a_free_robot_gains_the_impulse(romeo):
    """In the air without gravity: the momentum of all links, by Pinocchio, is the impulse."""
    push = 12.0, 0.6, 3, 37
    with open_world(DT) as world:
        bullet.setGravity(0.0, 0.0, 0.0, physicsClientId=world.client)
        body = world.add_robot(romeo, np.array([0, 0, 2.0, 0, 0, 0, 1.0]), romeo.postures["standing"])
        total, loads = np.zeros(6), []
        for step in range(45):
            loads.clear()
            total += DT * apply_pushes(body, [push], step, loads)
            assert len(loads) == (1 if 3 <= step < 40 else 0)
            world.step()
        state = empty_state(body.robot)
        body.read_state(state)
    expected = 12.0 * np.array([np.cos(0.6), np.sin(0.6), 0.0])
    np.testing.assert_allclose(total[:3], expected, rtol=1e-12, atol=1e-12)
    momentum = pin.computeCentroidalMomentum(romeo.model, romeo.model.createData(), state.q, state.v)
    np.testing.assert_allclose(momentum.linear, expected, atol=0.02)


def test_the_controllers_prediction_gets_the_same_force(romeo):
    """The load in the root joint's frame, with the robot turned, is the world's wrench carried there."""
    base = np.concatenate([[0.3, -0.2, 2.0], pin.Quaternion(pin.exp3(np.array([0.3, -0.5, 1.1]))).coeffs()])
    with open_world(DT) as world:
        body = world.add_robot(romeo, base, romeo.postures["standing"])
        loads = []
        wrench = apply_pushes(body, [(5.0, -1.0, 0, 11)], 5, loads)
    joint, force = loads[0]
    placed = pin.XYZQUATToSE3(base).act(pin.Force(np.array(force)))
    assert joint == 1
    np.testing.assert_allclose(np.concatenate([placed.linear, placed.angular]), wrench, atol=1e-3)
    # The middle of eleven samples is the crest: (π / 2) J / T but for the sampling.
    assert np.linalg.norm(wrench[:3]) == pytest.approx(0.5 * np.pi * 5.0 / 0.011, rel=0.005)
