"""Standing is held by statics, over the middle between the feet, until the last push is over."""

import numpy as np
import pinocchio as pin
import pytest

from simbench.options import PushSection, RobotSection, SimulationSection
from simbench.robot.robot import load_robot
from simbench.sim.balance_loop import build_standing_reference

PLACE = RobotSection(name="mahru", position_m=(0.4, -0.3), heading_rad=0.6, height_m=-0.05)
STANDING_SETTINGS = SimulationSection(timestep_s=0.002, settle_s=0.5, hold_s=0.75)


@pytest.fixture(scope="module")
def mahru():
    return load_robot("mahru")


@pytest.fixture(scope="module")
def timeline(mahru):
    return build_standing_reference(mahru, PLACE, STANDING_SETTINGS, None, "inverse_dynamics")


def test_it_rests_over_the_middle_between_its_feet_and_lasts_as_long_as_asked(mahru, timeline):
    reference = timeline.reference
    assert len(reference.position) == len(timeline.cog) == len(timeline.zmp) == 625
    assert not reference.velocity.any()
    assert not reference.acceleration.any()
    assert not reference.grip.any()
    assert (np.ptp(reference.position, axis=0) == 0.0).all()
    model, data = mahru.model, mahru.model.createData()
    cog = pin.centerOfMass(model, data, np.concatenate([timeline.base, reference.position[0]]))
    pin.updateFramePlacements(model, data)
    soles = [data.oMf[model.getFrameId(mahru.frames[f"{side}_foot"])] for side in ("left", "right")]
    corners = np.vstack(
        [
            [sole.act(corner) for corner in mahru.soles[f"{side}_foot"]]
            for sole, side in zip(soles, ("left", "right"), strict=True)
        ]
    )
    np.testing.assert_allclose(corners[:, 2], 0.0, atol=1e-5)
    np.testing.assert_allclose(
        0.5 * (soles[0].translation + soles[1].translation)[:2], (0.4, -0.3), atol=1e-5
    )
    # Corners of both soles alike: their mean is the middle of the support polygon.
    np.testing.assert_allclose(timeline.cog[[0, -1]], [cog, cog], atol=1e-12)
    np.testing.assert_allclose(cog[:2], timeline.zmp[0], atol=1e-4)
    np.testing.assert_allclose(timeline.zmp[0], corners[:, :2].mean(axis=0), atol=1e-4)


def test_it_lasts_until_the_last_push_has_had_its_interval(mahru):
    push = PushSection(first_ns=5.0, count=3, start_s=0.25, interval_s=0.5)
    timeline = build_standing_reference(mahru, PLACE, STANDING_SETTINGS, push, "inverse_dynamics")
    assert len(timeline.reference.position) == round((0.5 + 0.75 + 0.25 + 3 * 0.5) / 0.002)
    np.testing.assert_allclose(timeline.time, [0.5, 3.0])


def test_the_torques_hold_arms_and_legs_with_the_floor_s_push_through_the_soles(mahru, timeline):
    """Whatever the feet's shares: torques of the joints are gravity's less what two foot wrenches give."""
    model, data = mahru.model, mahru.model.createData()
    q = np.concatenate([timeline.base, timeline.reference.position[0]])
    gravity = pin.computeGeneralizedGravity(model, data, q)
    pin.computeJointJacobians(model, data, q)
    pin.updateFramePlacements(model, data)
    feet = [
        pin.getFrameJacobian(
            model, data, model.getFrameId(mahru.frames[f"{side}_foot"]), pin.ReferenceFrame.WORLD
        )
        for side in ("left", "right")
    ]
    torque = timeline.reference.feedforward[0]
    rest = gravity - np.concatenate([np.zeros(6), torque])
    wrench, *_ = np.linalg.lstsq(np.vstack(feet).T, rest, rcond=None)
    np.testing.assert_allclose(np.vstack(feet).T @ wrench, rest, atol=1e-6)
    weight = pin.computeTotalMass(model) * 9.81
    assert wrench[2] + wrench[8] == pytest.approx(weight, rel=1e-6)
    for side in ("left", "right"):
        arm = [6 + mahru.joint_names.index(name) for name in mahru.groups[f"{side}_arm"]]
        np.testing.assert_allclose(torque[np.array(arm) - 6], gravity[arm], atol=1e-9)
        assert np.abs(gravity[arm]).max() > 1.0


@pytest.mark.parametrize(("kind", "same"), [("gravity", True), ("none", False)])
def test_feedforward_is_what_the_scenario_says(mahru, timeline, kind, same):
    torque = build_standing_reference(mahru, PLACE, STANDING_SETTINGS, None, kind).reference.feedforward
    np.testing.assert_array_equal(torque, timeline.reference.feedforward if same else 0.0 * torque)
