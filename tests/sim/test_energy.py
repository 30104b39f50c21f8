"""Energies of a run against closed forms, an integration of the equations of motion, and the balance."""

import dataclasses

import numpy as np
import pinocchio as pin
import pytest
import scenes
from scipy.integrate import solve_ivp

from simbench.balance.leg_ik import stand
from simbench.retargeting.reference.reference import Reference
from simbench.robot.drives import Friction
from simbench.robot.robot import load_robot
from simbench.sim.energy import mechanism_model
from simbench.sim.engine import GRAVITY, open_engine
from simbench.sim.fixtures.furniture import drawer_mechanism
from simbench.sim.loop import LoopOptions, Simulation, simulate
from simbench.sim.recorder import Recorder

BASE = np.array([0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 1.0])
MASS, LENGTH, ABOUT_CENTRE, ROTOR = 2.0, 0.5, 0.03, 0.04  # kg, m, kg·m², kg·m²
COULOMB, VISCOUS = 0.3, 0.2  # N·m, N·m·s/rad
INERTIA = MASS * LENGTH**2 + ABOUT_CENTRE + ROTOR
engines = pytest.mark.parametrize("engine", ["bullet", "mujoco"])


@pytest.fixture(scope="module")
def pendulum(tmp_path_factory):
    """A pendulum about the y axis with a geared motor: at 0 it hangs along -z."""
    folder = tmp_path_factory.mktemp("pendulum")
    (folder / "pendulum.urdf").write_text(
        f"""<robot name="pendulum"><link name="stand"/>
        <link name="rod"><inertial><origin xyz="0 0 {-LENGTH}"/><mass value="{MASS}"/><inertia
          ixx="{ABOUT_CENTRE}" iyy="{ABOUT_CENTRE}" izz="{ABOUT_CENTRE}"
          ixy="0" ixz="0" iyz="0"/></inertial></link>
        <joint name="hinge" type="revolute"><parent link="stand"/><child link="rod"/><axis xyz="0 1 0"/>
          <limit lower="-9" upper="9" effort="100" velocity="90"/></joint></robot>"""
    )
    (folder / "robot.yaml").write_text(
        "name: pendulum\nurdf: pendulum.urdf\nbase: fixed\ngroups: {}\ngains: auto\nself_collision: []\n"
        f"motors:\n  hinge: {{reflected_inertia: {ROTOR}}}\n"
    )
    return load_robot(folder)


def run(engine, robot, start, feedforward, timestep, base=BASE, gains=0.0, energies=True):
    """Simulate a robot under feed-forward torques (N, n), with its gains or none; every step is a sample."""
    factor = gains * np.ones(len(start))
    motors = dataclasses.replace(
        robot.motors, stiffness=factor * robot.motors.stiffness, damping=factor * robot.motors.damping
    )
    robot = dataclasses.replace(robot, motors=motors)
    steps = len(feedforward)
    still, hold = np.zeros((steps, len(start))), np.tile(start, (steps, 1))
    reference = Reference(hold, still, feedforward, still, np.zeros((steps, len(robot.hands)), dtype=bool))
    recorder = Recorder(steps, robot, energies=energies)
    with open_engine(engine).open_world(timestep) as world:
        body = world.add_robot(robot, base, start)
        simulate(Simulation(body, reference), recorder, LoopOptions(1))
    return recorder


@engines
def test_a_driven_pendulum_with_friction_does_the_works_of_its_equation_of_motion(engine, pendulum):
    """∫ τ q̇, −∫ (c |q̇| + d q̇²), ½ I q̇² and m g l (1 − cos q) by SciPy, but for errors of the step."""
    friction = Friction(np.array([COULOMB]), np.array([VISCOUS]), np.array([COULOMB]))
    robot = dataclasses.replace(pendulum, friction=friction)

    def rates(time, state):
        q, speed, *_ = state
        torque, rubbing = 6.0 * np.cos(4.0 * time), COULOMB * np.sign(speed) + VISCOUS * speed
        acceleration = (torque - rubbing - MASS * GRAVITY * LENGTH * np.sin(q)) / INERTIA
        return speed, acceleration, torque * speed, abs(torque * speed), -rubbing * speed

    timestep, end = 1e-3, 0.9
    time = timestep * (np.arange(round(end / timestep)) + 0.5)
    log = run(engine, robot, np.array([0.5]), 6.0 * np.cos(4.0 * time)[:, None], timestep)
    exact = solve_ivp(
        rates, (0.0, log.time[-1]), [0.5, 0.0, 0.0, 0.0, 0.0], rtol=1e-9, atol=1e-10, max_step=2e-3
    )
    q, speed, motor, absolute, rubbed = exact.y[:, -1]
    kinetic = 0.5 * INERTIA * speed**2
    height = MASS * GRAVITY * LENGTH * (np.cos(0.5) - np.cos(q))
    expected = {"motor": motor, "motor_absolute": absolute, "friction": rubbed, "kinetic": kinetic}
    for name, value in {**expected, "potential": height}.items():
        assert log[f"energy_{name}"][-1] == pytest.approx(value, abs=0.02), name
    assert absolute > 4.0
    assert rubbed < -0.5
    assert kinetic > 0.1
    assert np.abs(log["energy_residual"]).max() < 2e-3 * absolute


@engines
def test_energies_are_left_out_and_change_nothing(engine, pendulum):
    torque = 2.0 * np.sin(np.linspace(0.0, 6.0, 500))[:, None]
    with_them, without = (
        run(engine, pendulum, np.array([0.4]), torque, 1e-3, energies=each) for each in (True, False)
    )
    assert not [name for name in without.signals if name.startswith("energy_")]
    np.testing.assert_array_equal(without["joint_position"], with_them["joint_position"])


@engines
def test_an_unforced_arm_conserves_energy_up_to_the_error_of_the_step(engine):
    """PUMA falls without motors and friction: the residual is all that is left, and halves with the step."""
    robot = load_robot("puma560")
    nothing = np.zeros(6)
    robot = dataclasses.replace(robot, friction=Friction(nothing, nothing, nothing))
    start = np.array([0.3, -0.6, 0.5, 0.2, 0.4, -0.3])
    residuals = []
    for timestep in (1e-3, 5e-4):
        log = run(engine, robot, start, np.zeros((round(0.3 / timestep), 6)), timestep)
        assert not log["energy_motor_absolute"].any()
        assert not log["energy_friction"].any()
        assert log["energy_kinetic"].max() > 5.0
        total = log["energy_kinetic"] + log["energy_potential"]
        np.testing.assert_allclose(log["energy_residual"], total - log["energy_rotor"], atol=1e-9)
        residuals.append(np.abs(log["energy_residual"]).max() / log["energy_kinetic"].max())
    assert residuals[0] < 5e-3
    assert residuals[1] == pytest.approx(0.5 * residuals[0], rel=0.1)


@engines
def test_a_robot_that_drops_onto_its_feet_loses_in_contacts_what_the_balance_needs(engine):
    """Contacts are measured by themselves, point by point: a wrong one leaves a residual."""
    robot = load_robot("romeo")
    stance = stand(robot, (0.0, 0.0), 0.0, "standing")
    base = stance.base.copy()
    base[2] += 0.02
    nothing = np.zeros((250, len(stance.joints)))
    log = run(engine, robot, stance.joints, nothing, 1e-3, base, gains=1.0)
    lost = -log["energy_contact"][-1]
    assert lost > 1.0
    assert log["foot_wrench"][..., 2].max() > 300.0
    # Gravity acts along the speed after a step, and the balance counts along the mean: half a step of it.
    ahead = 0.5e-3 * GRAVITY * pin.computeTotalMass(robot.model) * log["cog_velocity"][:, 2]
    assert ahead.min() < -0.1
    np.testing.assert_allclose(log["energy_residual"], ahead, atol=5e-3 * lost)
    assert abs(log["energy_residual"][-1]) < 1e-3 * lost


def test_a_drawers_model_weighs_and_moves_what_the_mechanism_says():
    drawer = drawer_mechanism(scenes.drawer_section())
    model = mechanism_model(drawer)
    data, speed = model.createData(), 0.7
    moving = sum(part.mass for part in drawer.parts if part.joint)
    kinetic = pin.computeKineticEnergy(model, data, np.array([0.1]), np.array([speed]))
    assert kinetic == pytest.approx(0.5 * moving * speed**2)
    potential = [pin.computePotentialEnergy(model, data, np.array([q])) for q in (0.0, 0.1)]
    assert potential[0] == pytest.approx(potential[1])
