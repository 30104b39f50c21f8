"""The COG of a gait for which all bodies of a robot, not a point mass, put the ZMP where it is desired."""

import numpy as np
import pinocchio as pin
import pytest

from simbench.balance.gait import Command, plan_footsteps
from simbench.balance.inverted_pendulum import natural_frequency
from simbench.balance.leg_ik import stand
from simbench.balance.step_planning import correct_cog, plan_gait, sole_centres
from simbench.balance.whole_body import WholeBodyPlan, check_gait_feasibility
from simbench.robot.robot import load_robot

TICK = 0.01
TIMING = dict(single_support_s=0.6, double_support_s=0.2, lift_m=0.03, settle_s=1.2)


@pytest.fixture(scope="module")
def mahru():
    return load_robot("mahru")


@pytest.fixture(scope="module")
def walk(mahru):
    """Two steps of 0.2 m with still arms."""
    stance = stand(mahru, (0.0, 0.0), 0.0, "standing", -0.05)
    q = np.concatenate([stance.base, stance.joints])
    height = float(pin.centerOfMass(mahru.model, mahru.model.createData(), q)[2])
    steps = plan_footsteps(mahru, stance, [Command("forward", 0.4, 0.2)])
    gait = plan_gait(stance.soles, steps, TICK, natural_frequency(height), sole_centres(mahru), **TIMING)
    count = len(gait.zmp)
    upright = np.tile([0.0, 0.0, 0.0, 1.0], (count, 1))
    joints = np.tile(stance.joints, (count, 1))
    return WholeBodyPlan(gait, joints, stance.base, np.full(count, height), upright), height


def zmp_by_inverse_dynamics(robot, path):
    """ZMP of a path of configurations, from the wrench on the root that RNEA asks of the ground."""
    model, data = robot.model, robot.model.createData()
    velocity = [pin.difference(model, a, b) / (2 * TICK) for a, b in zip(path[:-2], path[2:], strict=True)]
    acceleration = np.gradient(np.array(velocity), TICK, axis=0)
    points = []
    for q, v, a in zip(path[1:-1], velocity, acceleration, strict=True):
        wrench = pin.Force(pin.rnea(model, data, q, v, a)[:6])
        ground = pin.XYZQUATToSE3(q[:7]) * wrench
        points.append(np.array([-ground.angular[1], ground.angular[0]]) / ground.linear[2])
    return np.array(points)


def test_the_zmp_of_all_bodies_comes_to_where_it_is_desired(mahru, walk):
    plan, height = walk
    path = check_gait_feasibility(mahru, plan)
    corrected = correct_cog(mahru, plan.gait, path, height)
    after = check_gait_feasibility(
        mahru, WholeBodyPlan(corrected, plan.joints, plan.base, plan.cog_height, plan.body)
    )
    errors = [
        np.sqrt(np.mean((zmp_by_inverse_dynamics(mahru, rows) - plan.gait.zmp[1:-1]) ** 2))
        for rows in (path, after)
    ]
    # A swinging leg of Mahru is a fifth of its mass.
    assert errors[0] > 0.01
    assert errors[1] < 0.4 * errors[0]


def test_the_cog_moves_as_its_rates_say_and_rests_at_both_ends(mahru, walk):
    plan, height = walk
    gait = correct_cog(mahru, plan.gait, check_gait_feasibility(mahru, plan), height)
    np.testing.assert_allclose(np.gradient(gait.cog, TICK, axis=0), gait.cog_velocity, atol=2e-3)
    np.testing.assert_allclose(gait.cog[[0, -1]], plan.gait.cog[[0, -1]], atol=1e-3)
    np.testing.assert_array_equal(gait.zmp, plan.gait.zmp)
