"""Feed-forward torques: weight by the planned ZMP, and virtual power of a moving robot."""

from dataclasses import replace

import numpy as np
import pinocchio as pin
import pytest

from simbench.balance.gait import standing_gait
from simbench.balance.leg_ik import stand
from simbench.balance.whole_body import FeedForward, foot_load_fractions
from simbench.robot.sides import SIDES

TICK = 0.002


@pytest.fixture(scope="module")
def stance(romeo):
    return stand(romeo, (0.0, 0.0), 0.0, "standing")


@pytest.fixture(scope="module")
def gait(romeo, stance):
    """The ZMP goes from the left sole's middle to the right one's and beyond; then the left foot lifts."""
    left, right = (stance.soles[side].act(romeo.soles[f"{side}_foot"].mean(axis=0))[:2] for side in SIDES)
    zmp = np.array([left, 0.75 * left + 0.25 * right, right, 2.0 * right - left, 0.5 * (left + right)])
    planned = standing_gait(stance.soles, np.zeros(2), zmp, TICK, 5)
    contact = planned.contact.copy()
    contact[4, 0] = False
    return replace(planned, contact=contact)


def test_feet_share_the_weight_by_the_lever_rule(romeo, gait):
    expected = [[1.0, 0.0], [0.75, 0.25], [0.0, 1.0], [0.0, 1.0], [0.0, 1.0]]
    np.testing.assert_allclose(foot_load_fractions(romeo, gait, 0), expected, atol=1e-12)
    np.testing.assert_allclose(foot_load_fractions(romeo, gait, 3), expected[3:], atol=1e-12)


def torque(feed, robot, data, now, q, velocity):
    pin.computeJointJacobians(robot.model, data, q)
    for side in SIDES:
        pin.updateFramePlacement(robot.model, data, robot.model.getFrameId(robot.frames[f"{side}_foot"]))
    return feed.torque(now, q, velocity)


def test_on_one_foot_it_is_inverse_dynamics_with_that_foot_s_wrench(romeo, stance, gait):
    """Pinocchio, given the wrench as an external force on the right ankle, needs nothing at the root."""
    model = romeo.model
    frames = [model.getFrameId(romeo.frames[f"{side}_foot"]) for side in SIDES]
    posture = model.createData()
    feed, q = FeedForward(romeo, gait, frames, posture), np.concatenate([stance.base, stance.joints])
    first, second = np.random.default_rng(1).normal(0.0, 0.05, (2, model.nv))
    torque(feed, romeo, posture, 2, q, first)
    found = torque(feed, romeo, posture, 3, q, second)
    data = model.createData()
    effort = pin.rnea(model, data, q, second, (second - first) / TICK)
    pin.forwardKinematics(model, data, q)
    ankle = model.frames[frames[1]].parentJoint
    forces = pin.StdVec_Force([pin.Force.Zero() for _ in range(model.njoints)])
    forces[ankle] = data.oMi[ankle].actInv(data.oMi[1].act(pin.Force(effort[:6])))
    expected = pin.rnea(model, data, q, second, (second - first) / TICK, forces)
    np.testing.assert_allclose(expected[:6], 0.0, atol=1e-9)
    np.testing.assert_allclose(found, expected[6:], atol=1e-8)


def test_a_plan_that_jumps_goes_on_with_its_acceleration(romeo, stance, gait):
    frames = [romeo.model.getFrameId(romeo.frames[f"{side}_foot"]) for side in SIDES]
    q, still = np.concatenate([stance.base, stance.joints]), np.zeros(romeo.model.nv)
    posture = romeo.model.createData()
    feed = FeedForward(romeo, gait, frames, posture)
    at_rest = torque(feed, romeo, posture, 1, q, still)
    feed.replan(1)
    jumped = np.zeros(romeo.model.nv)
    jumped[0] = 0.3
    np.testing.assert_allclose(torque(feed, romeo, posture, 1, q, jumped), at_rest, atol=1e-9)
    # From then on it counts: a stop within a tick takes mass · 150 m/s² at the root.
    assert np.abs(torque(feed, romeo, posture, 1, q, still) - at_rest).max() > 100.0
