"""PUMA 560 clamps a drawer's front with its bare flange, pulls it open and lets go."""

from types import SimpleNamespace

import numpy as np
import pinocchio as pin
import pytest
import scenes

from simbench.options import GripSection
from simbench.retargeting.reference.reference import Reference
from simbench.robot.robot import load_robot, placed_robot
from simbench.sim.bullet import open_world
from simbench.sim.control.laws import ComputedTorqueLaw
from simbench.sim.fixtures.furniture import drawer_mechanism
from simbench.sim.fixtures.mechanism import handle_poses
from simbench.sim.grasp import Grip
from simbench.sim.loop import LoopOptions, Simulation, simulate
from simbench.sim.recorder import Recorder

DT = 1e-3
HEADING = 0.4
BASE = np.array([0.1, -0.2, 0.0, 0.0, 0.0, np.sin(HEADING / 2), np.cos(HEADING / 2)])
# Elbow up, flange level: q2 + q3 + q5 = 90 degrees. The wrist is away from its singularity, q5 = 0.
REACHED = np.array([0.3, -0.9, 3.1, 0.0, np.pi / 2 - 2.2, 0.0])
MASS, FRICTION, DAMPING = 2.5, 3.0, 5.0
PANEL, OPENING = 0.018, 0.10
STIFFNESS = 2000.0
GRIP = GripSection(stiffness_n_m=STIFFNESS)
# The flange's face comes to the front's face from outside, 1 cm below the edge on which the handle is, and
# would end 1 mm inside.
TOUCH = np.array([-0.5 * PANEL, 0.0, -0.010])
AWAY, INSIDE = 0.006, 0.001
PULL, BACK_OFF = 0.060, 0.020
PULLING, RELEASED, END = (0.5, 1.7), 2.0, 2.6


def drawer_at(handle):
    """A drawer whose right handle is at a level pose when it is open by `OPENING`."""
    heading = float(np.arctan2(handle.rotation[1, 0], handle.rotation[0, 0]))

    def mechanism(position, height):
        design = scenes.drawer_section(
            position_m=position,
            heading_rad=heading,
            table_height_m=height,
            panel_thickness_m=PANEL,
            start_opening_m=OPENING,
            mass_kg=MASS,
            friction_n=FRICTION,
            damping_ns_m=DAMPING,
            handle_convergence_rad=0.0,
        )
        return drawer_mechanism(design)

    def right_handle(drawer):
        return pin.SE3(handle_poses(drawer, np.array([[OPENING]]))["right"][0])

    off = handle.translation - right_handle(mechanism((0.0, 0.0, 0.0), 0.4)).translation
    made = mechanism((float(off[0]), float(off[1]), 0.0), 0.4 + float(off[2]))
    assert right_handle(made).isApprox(handle, 1e-6)
    return made


def smooth(time, start, end):
    """Minimum jerk from 0 to 1."""
    s = np.clip((time - start) / (end - start), 0.0, 1.0)
    return s**3 * (10.0 + s * (6.0 * s - 15.0))


def followed(robot, frame, poses):
    """Joint angles with the flange at poses, each by two Newton steps from the one before."""
    model, data = robot.model, robot.model.createData()
    q, path = REACHED.copy(), []
    for wanted in poses:
        for _ in range(2):
            pin.framesForwardKinematics(model, data, q)
            error = pin.log6(data.oMf[frame].actInv(wanted)).vector
            jacobian = pin.computeFrameJacobian(model, data, q, frame)
            q = q + np.linalg.solve(jacobian, error)
        path.append(q.copy())
    assert np.abs(error).max() < 1e-9
    return np.array(path)


@pytest.fixture(scope="module")
def pulled():
    """What was recorded at every step of approaching, pulling, holding, letting go and backing off."""
    robot = load_robot("puma560")
    scene = placed_robot(robot, BASE)
    frame = scene.model.getFrameId(scene.frames["right_hand"])
    data = scene.model.createData()
    pin.framesForwardKinematics(scene.model, data, REACHED)
    handle = data.oMf[frame].copy()
    drawer = drawer_at(handle)
    inward = handle.rotation[:, 0]

    time = DT * np.arange(1, round(END / DT) + 1)
    depth = -AWAY + (AWAY + INSIDE) * smooth(time, 0.0, 0.3)
    depth -= (PULL + INSIDE) * smooth(time, *PULLING) + BACK_OFF * smooth(time, RELEASED, END - 0.1)
    poses = [pin.SE3(handle.rotation, handle.act(TOUCH) + x * inward) for x in depth]
    position = followed(scene, frame, poses)
    velocity = np.gradient(position, DT, axis=0)
    reference = Reference(
        position,
        velocity,
        np.zeros_like(position),
        np.gradient(velocity, DT, axis=0),
        (time < RELEASED)[:, None],
    )
    recorder = Recorder(len(time), robot, [drawer])
    with open_world(DT) as world:
        fixture = world.add_fixture(drawer)
        body = world.add_robot(robot, BASE, position[0])
        grip = Grip(body, "right", fixture, GRIP)
        law = ComputedTorqueLaw(robot, DT, 10.0)
        simulate(Simulation(body, reference, [fixture], [grip], law=law), recorder, LoopOptions(1))
    return SimpleNamespace(log=recorder, robot=scene, outward=-inward, time=recorder.time, frame=frame)


def free(pulled):
    """Steps in which the grip holds and nothing touches: the spring has pulled the flange off the wood."""
    touching = np.zeros(len(pulled.time), dtype=bool)
    for event in pulled.log.events:
        touching |= (pulled.time >= event.start - 0.006) & (pulled.time <= event.end + 0.006)
    return np.flatnonzero(pulled.log["grip_engaged"][:-1, 0] & ~touching[:-1])


def engagement(pulled):
    """The first step with the grip closed."""
    return int(np.flatnonzero(pulled.log["grip_engaged"][:, 0])[0])


def test_it_engages_by_contact_of_flange_and_front(pulled):
    """Bullet's contacts begin, still without force, 2 mm before the shapes meet: it rounds them by 1 mm."""
    log, first = pulled.log, engagement(pulled)
    # Before, the drawer has not moved, and the flange began `AWAY` from its front.
    gap = AWAY + (log["palm_position"][first, 0] - log["palm_position"][0, 0]) @ pulled.outward
    assert 0.0 < gap < 0.0025
    assert log["drawer_travel"][first] == OPENING
    pairs = {(event.first, event.second) for event in log.events}
    assert pairs == {("puma560/link6", "drawer/drawer")}
    pressed = min(event.start for event in log.events)
    assert 0.0 <= pressed - pulled.time[first] < 0.05
    # From then on until it is told to let go.
    assert log["grip_engaged"][first : round(RELEASED / DT) - 1].all()
    assert log.grips_lost == 0


def test_the_drawer_goes_where_the_flange_goes(pulled):
    """As far as the flange went, less what the force stretches the grip's spring."""
    log, held = pulled.log, slice(engagement(pulled), round((RELEASED - 0.01) / DT))
    opened = log["drawer_travel"][held] - log["drawer_travel"][held.start]
    moved = (log["palm_position"][held, 0] - log["palm_position"][held.start, 0]) @ pulled.outward
    assert np.abs(opened - moved).max() < 0.003
    assert opened[-1] == pytest.approx(PULL, abs=0.005)
    # At rest: the force is that of the spring alone, and no more than what the slide's friction holds.
    force = -log["grip_wrench"][held.stop - 1, 0, :3] @ pulled.outward
    assert force == pytest.approx(STIFFNESS * (moved - opened)[-1], abs=0.01)
    assert 1.0 < force <= FRICTION


def test_the_logged_wrench_moves_the_drawer(pulled):
    """Along the slide m v̇ = −F − friction − damping v, step by step, while only the grip acts on it."""
    log, steps = pulled.log, free(pulled)
    steps = steps[log["drawer_travel_velocity"][steps] > 0.01]
    assert len(steps) > 800
    force = -log["grip_wrench"][steps, 0, :3] @ pulled.outward
    speed, after = log["drawer_travel_velocity"][steps], log["drawer_travel_velocity"][steps + 1]
    expected = MASS * (after - speed) / DT + FRICTION + DAMPING * speed
    np.testing.assert_allclose(force, expected, rtol=0, atol=1e-6)
    assert force.max() > FRICTION + DAMPING * 1.875 * PULL / (PULLING[1] - PULLING[0])


def test_the_arm_feels_the_logged_wrench(pulled):
    """Inverse dynamics of the links as they moved is what the joints received and the wrench at its point."""
    log, model = pulled.log, pulled.robot.model.copy()
    model.armature = np.zeros(6)
    data = model.createData()
    largest = 0.0
    for step in free(pulled)[::20]:
        q, v = log["joint_position"][step], log["joint_velocity"][step]
        acceleration = (log["joint_velocity"][step + 1] - v) / DT
        needed = pin.rnea(model, data, q, v, acceleration)
        axes = pin.ReferenceFrame.LOCAL_WORLD_ALIGNED
        pin.framesForwardKinematics(model, data, q)
        palm = data.oMf[pulled.frame].translation.copy()
        jacobian = pin.computeFrameJacobian(model, data, q, pulled.frame, axes)
        force, torque = log["grip_wrench"][step, 0, :3], log["grip_wrench"][step, 0, 3:]
        moment = torque + np.cross(log["grip_point"][step, 0] - palm, force)
        felt = jacobian.T @ np.concatenate([force, moment])
        np.testing.assert_allclose(needed, log["torque_joint"][step] + felt, rtol=0, atol=0.01)
        largest = max(largest, np.abs(felt).max())
    assert largest > 1.0


def test_it_lets_go_when_told_and_the_drawer_stays(pulled):
    log, after = pulled.log, slice(round(RELEASED / DT), None)
    assert not log["grip_engaged"][after].any()
    assert not log["grip_wrench"][after].any()
    assert np.ptp(log["drawer_travel"][after]) < 1e-3
    backed = (log["palm_position"][-1, 0] - log["palm_position"][after.start, 0]) @ pulled.outward
    assert backed == pytest.approx(BACK_OFF, abs=0.003)
