"""Signals and states."""

import numpy as np
import pinocchio as pin
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from simbench.robot.robot import load_robot
from simbench.runs.log import open_run
from simbench.runs.pipeline import run_scenario
from simbench.runs.scenario.loading import load_scenario
from simbench.sim.bullet import open_world
from simbench.sim.bullet.bullet_bodies import bullet
from simbench.sim.control import command
from simbench.sim.recorder import Recorder
from simbench.sim.state import Signal, empty_state


def test_a_signal_declared_once_reaches_the_log(tmp_path, monkeypatch):
    """The torque that the limits take away, declared beside the command that it is measured on."""
    clipped = Signal(
        "torque_clipped",
        ("joint",),
        "N m",
        "Requested torque that the motor cannot give.",
        lambda given: given.requested - given.motor,
    )
    monkeypatch.setattr(command, "COMMAND_SIGNALS", (*command.COMMAND_SIGNALS, clipped))
    run_scenario(load_scenario("puma560_sweep", ["simulation.hold_s=0.1"]), tmp_path / "run")
    log = open_run(tmp_path / "run")
    variable = log["torque_clipped"]
    assert variable.dims == ("time", "joint")
    assert variable.attrs["units"] == "N m"
    np.testing.assert_array_equal(variable, log["torque_requested"] - log["torque_motor"])
    assert len(variable) == len(log["time"]) > 100


def test_arrays_follow_the_declarations(romeo):
    recorder = Recorder(7, romeo)
    joints = len(romeo.joint_names)
    assert recorder["torque_motor"].shape == (7, joints)
    assert recorder["foot_points"].shape == (7, 2, 4, 2)
    assert np.isnan(recorder["foot_points"]).all()
    assert recorder["grip_engaged"].dtype == bool
    assert all(signal.description.endswith(".") for signal in recorder.signals.values())


def test_a_sample_goes_to_the_next_row(romeo):
    recorder = Recorder(3, romeo)
    recorder.count = 1
    joints = len(romeo.joint_names)
    recorder.record(recorder.reference, np.arange(joints))
    np.testing.assert_array_equal(recorder["joint_reference"][1], np.arange(joints))
    assert not recorder["joint_reference"][[0, 2]].any()


def test_the_base_is_sampled_only_if_it_moves(romeo):
    fixed = Recorder(1, load_robot("puma560"))
    assert len(Recorder(1, romeo).state) == 4
    assert len(fixed.state) == 2
    assert "base_pose" in fixed.signals


ROOT = 7
TOLERANCE = 5e-6  # Bullet keeps inertial frames in single precision.


@pytest.fixture(scope="module")
def body(romeo):
    with open_world() as world:
        yield world.add_robot(romeo, np.array([0, 0, 4.0, 0, 0, 0, 1.0]), romeo.postures["standing"])


@settings(max_examples=25, deadline=None)
@given(seed=st.integers(0, 2**32 - 1))
def test_every_link_is_where_pinocchio_has_it_and_moves_as_it_says(
    romeo, body, random_state, set_state, seed
):
    """Bullet's own link poses and velocities against those that Pinocchio computes from q and v."""
    q, v = random_state(seed, speed=2.0)
    set_state(body, q, v)
    state = empty_state(body.robot)
    body.read_state(state)
    model, data = romeo.model, romeo.model.createData()
    pin.forwardKinematics(model, data, state.q, state.v)
    pin.updateFramePlacements(model, data)
    for name, link in body.links.items():
        frame = model.getFrameId(name)
        pose = data.oMf[frame]
        if link < 0:
            com, _ = bullet.getBasePositionAndOrientation(body.handle, physicsClientId=body.world.client)
            linear, angular = bullet.getBaseVelocity(body.handle, physicsClientId=body.world.client)
        else:
            com, _, _, _, position, quaternion, linear, angular = bullet.getLinkState(
                body.handle,
                link,
                computeLinkVelocity=1,
                computeForwardKinematics=1,
                physicsClientId=body.world.client,
            )
            np.testing.assert_allclose(pose.translation, position, atol=TOLERANCE, err_msg=name)
            turn = np.reshape(bullet.getMatrixFromQuaternion(quaternion), (3, 3))
            np.testing.assert_allclose(pose.rotation, turn, atol=TOLERANCE, err_msg=name)
        velocity = pin.getFrameVelocity(model, data, frame, pin.ReferenceFrame.LOCAL_WORLD_ALIGNED)
        # Bullet's linear velocity is that of the link's centre of mass.
        at_com = velocity.linear + np.cross(velocity.angular, np.array(com) - pose.translation)
        np.testing.assert_allclose(at_com, linear, atol=10 * TOLERANCE, err_msg=name)
        np.testing.assert_allclose(velocity.angular, angular, atol=10 * TOLERANCE, err_msg=name)


def test_the_root_is_the_link_frame_not_its_centre_of_mass(romeo, body, random_state, set_state):
    """ROMEO's pelvis has its centre of mass 0.21 m below its frame: spinning, both move differently."""
    q, v = random_state(5)
    v[:] = 0.0
    v[3:6] = [0.0, 4.0, 0.0]
    set_state(body, q, v)
    state = empty_state(body.robot)
    body.read_state(state)
    np.testing.assert_allclose(state.v[:6], v[:6], atol=TOLERANCE)
    linear, _ = bullet.getBaseVelocity(body.handle, physicsClientId=body.world.client)
    assert np.linalg.norm(linear) == pytest.approx(4.0 * np.hypot(0.00932, 0.2119), rel=1e-4)


@settings(max_examples=25, deadline=None)
@given(seed=st.integers(0, 2**32 - 1))
def test_what_is_placed_is_read(romeo, body, random_state, seed):
    q, _ = random_state(seed)
    body.place(q[:ROOT], q[ROOT:])
    state = empty_state(body.robot)
    body.read_state(state)
    np.testing.assert_allclose(pin.difference(romeo.model, q, state.q)[:6], 0.0, atol=TOLERANCE)
    np.testing.assert_array_equal(state.q[ROOT:], q[ROOT:])
    assert not state.v.any()


def test_a_step_moves_the_configuration_along_the_velocity(romeo, body, random_state, set_state):
    """q⁺ = q ⊕ dt v⁺; on the root up to second order, since Bullet moves its centre of mass so."""
    q, v = random_state(6, speed=1.0)
    set_state(body, q, v)
    before, after = empty_state(body.robot), empty_state(body.robot)
    body.read_state(before)
    body.world.step()
    body.read_state(after)
    moved = pin.difference(romeo.model, before.q, after.q) / body.world.timestep
    np.testing.assert_allclose(moved[6:], after.v[6:], atol=1e-9)
    np.testing.assert_allclose(moved[:6], after.v[:6], atol=5e-3)
    assert np.abs(after.v[:6]).min() > 0.1


@pytest.mark.parametrize("name", ["puma560", "direct_drive_arm"])
def test_a_fixed_robots_links_are_where_its_placed_model_has_them(name):
    """State without a root; poses and velocities by Bullet against those of Pinocchio in the scene's axes."""
    robot = load_robot(name)
    count = len(robot.joint_names)
    heading = 0.7
    base = np.array([0.4, -0.3, 0.2, 0.0, 0.0, np.sin(heading / 2), np.cos(heading / 2)])
    rng = np.random.default_rng(4)
    low, high = robot.model.lowerPositionLimit, robot.model.upperPositionLimit
    positions, speeds = low + (high - low) * rng.uniform(0.3, 0.7, count), rng.normal(size=count)
    with open_world() as world:
        body = world.add_robot(robot, base, positions)
        client = world.client
        for joint, position, speed in zip(body.joints, positions, speeds, strict=True):
            bullet.resetJointState(body.handle, joint, position, speed, physicsClientId=client)
        state, many = empty_state(body.robot), empty_state(body.robot, 5)
        body.read_state(state)
        np.testing.assert_allclose(body.root_pose(), base, atol=1e-7)
        assert (state.q.shape, state.v.shape) == ((count,), (count,))
        assert (many.q.shape, many.v.shape) == ((5, count), (5, count))
        np.testing.assert_array_equal(state.q, positions)
        np.testing.assert_allclose(state.v, speeds, atol=1e-12)
        model = body.robot.model
        data = model.createData()
        pin.forwardKinematics(model, data, state.q, state.v)
        pin.updateFramePlacements(model, data)
        for link, index in body.links.items():
            frame = model.getFrameId(link)
            if index < 0:
                np.testing.assert_allclose(pin.SE3ToXYZQUAT(data.oMf[frame]), base, atol=1e-9)
                continue
            com, _, _, _, position, quaternion, linear, angular = bullet.getLinkState(
                body.handle, index, computeLinkVelocity=1, computeForwardKinematics=1, physicsClientId=client
            )
            pose = data.oMf[frame]
            np.testing.assert_allclose(pose.translation, position, atol=TOLERANCE, err_msg=link)
            turn = np.reshape(bullet.getMatrixFromQuaternion(quaternion), (3, 3))
            np.testing.assert_allclose(pose.rotation, turn, atol=TOLERANCE, err_msg=link)
            axes = pin.ReferenceFrame.LOCAL_WORLD_ALIGNED
            velocity = pin.getFrameVelocity(model, data, frame, axes)
            at_com = velocity.linear + np.cross(velocity.angular, np.array(com) - pose.translation)
            np.testing.assert_allclose(at_com, linear, atol=10 * TOLERANCE, err_msg=link)
            np.testing.assert_allclose(velocity.angular, angular, atol=10 * TOLERANCE, err_msg=link)
        # It is bolted down: no step moves its root.
        for _ in range(50):
            world.step()
        np.testing.assert_allclose(body.root_pose(), base, atol=1e-7)
