"""When a push makes a step necessary, and when a planned one is none."""

import numpy as np
import pinocchio as pin
import pytest

from simbench.balance.gait import Command, plan_footsteps
from simbench.balance.inverted_pendulum import natural_frequency
from simbench.balance.leg_ik import stand
from simbench.balance.recovery import Recovery
from simbench.balance.step_planning import Landing, plan_gait, sole_centres

TICK = 0.01
LOAD = np.array([200.0, 200.0])


@pytest.fixture(scope="module")
def marching(romeo):
    stance = stand(romeo, (0.0, 0.0), 0.0, "standing")
    start = np.concatenate([stance.base, stance.joints])
    height = float(pin.centerOfMass(romeo.model, romeo.model.createData(), start)[2])
    omega = natural_frequency(height)
    steps = plan_footsteps(romeo, stance, [Command("march", 4)])
    timing = dict(single_support_s=0.8, double_support_s=0.4, lift_m=0.03, settle_s=1.5)
    gait = plan_gait(stance.soles, steps, TICK, omega, sole_centres(romeo, 0.0), **timing)
    return gait, np.full(len(gait.zmp), height), omega, start


@pytest.fixture
def recovery(romeo, marching):
    gait, height, omega, start = marching
    return Recovery(romeo, gait, height, omega, start, 40.0)


def between_feet(gait, row):
    return gait.foot_position[row, 1, :2] - gait.foot_position[row, 0, :2]


def test_a_planned_march_calls_for_no_recovery(marching, recovery):
    gait = marching[0]
    landing = Landing(gait, 40.0)
    for row in range(len(gait.zmp) - 1):
        changed = recovery.update(
            row, gait.cog[row], gait.cog_velocity[row], landing, LOAD, between_feet(gait, row)
        )
        assert not changed
        landing.advance(row + 1, LOAD * gait.contact[row + 1])
    assert recovery.steps == 0


def test_a_push_beyond_the_soles_calls_for_a_step_there(marching, recovery):
    gait, _, omega, _ = marching
    row = len(gait.zmp) - 100
    landing = Landing(gait, 40.0)
    landing.position[:] = gait.foot_position[row]
    # The soles end 0.13 m ahead of the ankles.
    edge = gait.foot_position[row, :, 0].max() + 0.13
    inside, beyond = ((edge + d - gait.cog[row, 0]) * omega for d in (-0.01, 0.05))
    assert not recovery.update(
        row, gait.cog[row], np.array([inside, 0.0]), landing, LOAD, between_feet(gait, row)
    )
    assert recovery.update(
        row, gait.cog[row], np.array([beyond, 0.0]), landing, LOAD, between_feet(gait, row)
    )
    assert recovery.steps == 1
    assert recovery.step.target[0] > gait.foot_position[row, 0, 0] + 0.05
