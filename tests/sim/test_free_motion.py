"""A second of free motion: Bullet under our control layer against Pinocchio's own, step by step."""

import dataclasses
import xml.etree.ElementTree as ET

import numpy as np
import pinocchio as pin
import pytest
from wheel_robots import robot_parameters

from simbench.resources import resource_dir
from simbench.robot.robot import load_robot
from simbench.sim.bullet import open_world
from simbench.sim.bullet.bullet_bodies import bullet
from simbench.sim.control.joint_controller import JointController
from simbench.sim.state import empty_state

DT = 1e-3
STEPS = 1000


@pytest.fixture(scope="module")
def upper_body(tmp_path_factory):
    """ROMEO cut at the hips: pelvis fixed to the world, legs welded straight."""
    folder = tmp_path_factory.mktemp("upper_body")
    source = resource_dir("robots") / "romeo"
    tree = ET.parse(source / "romeo.urdf")
    for joint in tree.getroot().findall("joint"):
        if any(part in joint.get("name") for part in ("Hip", "Knee", "Ankle")):
            joint.set("type", "fixed")
    for shape in tree.getroot().iter("mesh"):
        shape.set("filename", str(source / shape.get("filename")))
    tree.write(folder / "upper.urdf")
    romeo = load_robot("romeo")
    kept = [name for name in romeo.joint_names if not any(part in name for part in ("Hip", "Knee", "Ankle"))]
    rotor = dict(zip(romeo.joint_names, romeo.motors.reflected_inertia, strict=True))
    motors = "".join(f"  {name}: {{reflected_inertia: {float(rotor[name])!r}}}\n" for name in kept)
    (folder / "robot.yaml").write_text(
        "name: upper_body\nurdf: upper.urdf\nbase: fixed\ngroups: {}\ngains: auto\nself_collision: []\n"
        f"motors:\n{motors}"
    )
    return load_robot(folder)


@pytest.fixture(scope="module")
def free_motion():
    """Drive a robot by smooth torques; joint angles by Bullet and by Pinocchio, (STEPS, n) each."""

    def run(robot, torques, start):
        still = np.zeros(len(robot.joint_names))
        quiet = dataclasses.replace(robot.motors, stiffness=still, damping=still)
        robot = dataclasses.replace(robot, motors=quiet)
        base = np.array([0.0, 0.0, 2.0, 0.0, 0.0, 0.0, 1.0])
        ours = np.empty((STEPS, len(start)))
        with open_world(DT) as world:
            body = world.add_robot(robot, base, start)
            for joint in body.joints:
                # Travel stops are contacts, and free motion has none.
                stops = {"jointLowerLimit": -1e3, "jointUpperLimit": 1e3}
                bullet.changeDynamics(body.handle, joint, physicsClientId=world.client, **stops)
            controller, state = JointController(body), empty_state(body.robot)
            for step in range(STEPS):
                body.read_state(state)
                command = controller.step(state, controller.demand(still, still, torques[step]))
                assert command.saturated == 0
                world.step()
                body.read_state(state)
                ours[step] = state.q
        model, data = body.robot.model.copy(), body.robot.model.createData()
        # Viscous friction at the end of the step, as the scheme has it: d (v + dt a).
        model.armature = model.armature + DT * robot.friction.viscous
        theirs = np.empty_like(ours)
        q, v = start.copy(), still.copy()
        for step in range(STEPS):
            v = v + DT * pin.aba(model, data, q, v, torques[step] - robot.friction.viscous * v)
            q = q + DT * v
            theirs[step] = q
        return ours, theirs

    return run


def smooth_torques(robot, start, seed, size):
    """What holds the weight at the start, and three random sinusoids of `size` times the inertia, N·m."""
    model, data = robot.model, robot.model.createData()
    rng = np.random.default_rng(seed)
    time = DT * np.arange(STEPS)[:, None, None]
    pace = 2.0 * np.pi * rng.uniform(0.5, 2.5, (1, len(start), 3))
    waves = np.sin(pace * time + rng.uniform(0.0, 2.0 * np.pi, pace.shape)) * rng.normal(size=pace.shape)
    inertia = np.diag(pin.crba(model, data, start))
    return pin.computeGeneralizedGravity(model, data, start) + size * inertia * waves.sum(axis=2)


def without_friction(robot):
    none = np.zeros(len(robot.joint_names))
    return dataclasses.replace(
        robot, friction=dataclasses.replace(robot.friction, coulomb=none, breakaway=none)
    )


@pytest.mark.parametrize("seed", [0, 1, 2])
def test_puma_moves_as_its_equations_say(free_motion, seed):
    """Armature of all six motors and viscous friction; Coulomb friction has a test of its own."""
    robot = without_friction(load_robot("puma560"))
    start = robot.postures["ready"]
    ours, theirs = free_motion(robot, smooth_torques(robot, start, seed, 6.0), start)
    assert np.abs(ours - start).max() > 0.5
    np.testing.assert_allclose(ours, theirs, atol=1e-3)
    # The rest is rounding, not an approximation.
    np.testing.assert_allclose(ours, theirs, atol=1e-6)


@pytest.mark.parametrize("seed", [0, 1, 2])
def test_the_upper_body_moves_as_its_equations_say(upper_body, free_motion, seed):
    rows = upper_body.motors.reflected_inertia
    assert np.count_nonzero(rows) == 18
    middle = 0.5 * (upper_body.model.lowerPositionLimit + upper_body.model.upperPositionLimit)
    ours, theirs = free_motion(upper_body, smooth_torques(upper_body, middle, seed, 3.0), middle)
    assert np.abs(ours - middle).max() > 0.3
    np.testing.assert_allclose(ours, theirs, atol=1e-3)


def free_legs(name):
    """Load a walking robot without gains, friction and collision pairs, and torques for its joints."""
    robot = load_robot(name)
    still = np.zeros(len(robot.joint_names))
    robot = dataclasses.replace(
        robot,
        motors=dataclasses.replace(robot.motors, stiffness=still, damping=still),
        friction=dataclasses.replace(robot.friction, coulomb=still, viscous=still, breakaway=still),
        self_collision_pairs=(),
    )
    rng = np.random.default_rng(0)
    size = np.where(robot.motors.reflected_inertia > 0.0, 30.0 * robot.motors.reflected_inertia, 0.02)
    time = DT * np.arange(300)[:, None]
    return robot, size * np.sin(6.0 * np.pi * time + rng.uniform(0.0, 2.0 * np.pi, (1, len(still))))


@pytest.mark.parametrize("name", robot_parameters("mahru", "g1"))
def test_rotors_that_turn_with_the_links_of_the_legs_are_an_armature_while_nothing_touches_them(name):
    """A walking robot falls freely; its feet weigh a fraction of their rotors."""
    robot, torques = free_legs(name)
    still, base = np.zeros(len(robot.joint_names)), np.array([0.0, 0.0, 5.0, 0.0, 0.0, 0.0, 1.0])
    start = robot.postures["standing"]
    with open_world(DT) as world:
        body = world.add_robot(robot, base, start)
        assert len(body.rotors) == 12
        for joint in body.joints:
            stops = {"jointLowerLimit": -1e3, "jointUpperLimit": 1e3}
            bullet.changeDynamics(body.handle, joint, physicsClientId=world.client, **stops)
        controller, state = JointController(body), empty_state(body.robot)
        model, data = body.robot.model, body.robot.model.createData()
        body.read_state(state)
        q, v = state.q.copy(), state.v.copy()
        for torque in torques:
            body.read_state(state)
            assert controller.step(state, controller.demand(still, still, torque)).saturated == 0
            world.step()
            v = v + DT * pin.aba(model, data, q, v, np.concatenate([np.zeros(6), torque]))
            q = pin.integrate(model, q, DT * v)
        body.read_state(state)
    assert np.abs(state.q[7:] - start).max() > 0.3
    np.testing.assert_allclose(state.q[7:], q[7:], atol=1e-8)
    # Bullet integrates the velocity of the root's centre of mass, Pinocchio that of its frame.
    np.testing.assert_allclose(state.q[:7], q[:7], atol=2e-4)
