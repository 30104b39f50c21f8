from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pinocchio as pin
import pytest
import scenes

from simbench.balance.ground_reaction import standing_torques
from simbench.balance.leg_ik import stand
from simbench.retargeting.reference.reference import Reference
from simbench.robot.robot import load_robot
from simbench.sim.bullet import open_world
from simbench.sim.bullet.bullet_bodies import bullet
from simbench.sim.engine import GRAVITY
from simbench.sim.fixtures.furniture import drawer_mechanism
from simbench.sim.fixtures.mechanism import handle_poses
from simbench.sim.grasp import Grip
from simbench.sim.loop import LoopOptions, Simulation, simulate
from simbench.sim.recorder import Recorder

DT = 1e-3
DESIGN = scenes.drawer_section()
DRAWER = drawer_mechanism(DESIGN)
GRIP = scenes.SOFT_GRIP
SIGNALS = list(Recorder(1, load_robot("romeo")).signals)


def waving(robot, posture, steps, feedforward=None, amplitude=0.3):
    """Trunk and arms swing about a posture, each joint at a pace of its own; nobody grips."""
    time = DT * np.arange(1, steps + 1)[:, None]
    swings = ("Shoulder", "Elbow", "Wrist", "Hand", "Trunk")
    moving = np.array(
        [amplitude * any(part in name for part in swings) for name in robot.joint_names], dtype=float
    )
    pace = 2.0 * np.pi * np.linspace(0.7, 1.6, len(moving))
    # Away from the body, and from rest: both the offset and its rate begin at zero.
    moving[[name[1:] == "ShoulderPitch" for name in robot.joint_names]] *= -2.0
    moving[[name[1:] in ("WristRoll", "Hand") for name in robot.joint_names]] *= -1.0
    position = posture + moving * 0.5 * (1.0 - np.cos(pace * time))
    velocity = moving * 0.5 * pace * np.sin(pace * time)
    torque = np.zeros_like(position) if feedforward is None else np.tile(feedforward, (steps, 1))
    acceleration = np.gradient(velocity, DT, axis=0)
    return Reference(position, velocity, torque, acceleration, np.zeros((steps, 2), dtype=bool))


@pytest.fixture(scope="module")
def stance(romeo):
    """ROMEO standing with its fingers half closed, away from every joint limit, and the torques for that."""
    made = stand(romeo, (0.0, 0.0), 0.0, "standing")
    joints = made.joints.copy()
    for hand in romeo.hands.values():
        joints[romeo.joint_names.index(hand.joints[0])] = 0.6
    twice = np.tile(made.base, (2, 1)), np.tile(joints, (2, 1))
    torque = standing_torques(romeo, np.array([0.0, 0.01]), *twice, inertia=False)[0]
    return SimpleNamespace(base=made.base, joints=joints, torque=torque)


@pytest.fixture(scope="module")
def record(romeo, stance):
    """Simulate a robot that waves its arms, standing by default, and return what was recorded."""

    def run(*, robot=romeo, base=None, steps=400, log_every=1, progress=None, samples=None, **options):
        reference = waving(robot, stance.joints, steps, stance.torque if base is None else None)
        recorder = Recorder(samples or -(-steps // log_every), robot, [])
        with open_world(DT) as world:
            body = world.add_robot(robot, stance.base if base is None else base, stance.joints)
            if progress is not None:
                options["progress"] = progress
            try:
                simulate(Simulation(body, reference), recorder, LoopOptions(log_every, **options))
            except KeyboardInterrupt:
                recorder.interrupted = True
        return recorder, reference

    return run


@pytest.fixture(scope="module")
def every_step(record):
    return record()


def bullets_model(robot):
    """What Bullet knows of a robot: the links alone, without rotors."""
    model = robot.model.copy()
    model.armature = np.zeros(model.nv)
    return model


def test_a_sample_holds_the_state_at_its_time_and_the_torques_from_then_on(romeo, stance, record):
    """In free fall every sample explains the next one by Pinocchio's forward dynamics."""
    high = np.array([0.3, -0.2, 5.0, 0.1, 0.2, -0.3, np.sqrt(1 - 0.14)])
    log, reference = record(base=high, steps=150)
    model, data = bullets_model(romeo), romeo.model.createData()
    np.testing.assert_allclose(log.time, DT * np.arange(150), atol=1e-12)
    np.testing.assert_allclose(log["base_pose"][0], high, atol=1e-6)
    np.testing.assert_allclose(log["joint_position"][0], stance.joints)
    # Row k of a reference holds for the end of step k.
    np.testing.assert_array_equal(log["joint_reference"][1:], reference.position[:-1])
    np.testing.assert_array_equal(log["joint_reference"][0], reference.position[0])
    assert not log["foot_wrench"].any()
    for now in range(149):
        q = np.concatenate([log["base_pose"][now], log["joint_position"][now]])
        v = np.concatenate([log["base_velocity"][now], log["joint_velocity"][now]])
        torque = np.concatenate([np.zeros(6), log["torque_joint"][now]])
        expected = pin.aba(model, data, q, v, torque)[6:]
        measured = (log["joint_velocity"][now + 1] - log["joint_velocity"][now]) / DT
        np.testing.assert_allclose(measured, expected, atol=1e-5 * max(10.0, np.abs(expected).max()))
        moved = (log["joint_position"][now + 1] - log["joint_position"][now]) / DT
        np.testing.assert_allclose(moved, log["joint_velocity"][now + 1], atol=1e-9)
        own = pin.computeCentroidalMomentum(model, data, q, v)
        np.testing.assert_allclose(log["cog"][now], pin.centerOfMass(model, data, q), atol=1e-9)
        mass = pin.computeTotalMass(model)
        np.testing.assert_allclose(mass * log["cog_velocity"][now], own.linear, atol=1e-9)
        np.testing.assert_allclose(log["angular_momentum"][now], own.angular, atol=1e-9)
        pin.framesForwardKinematics(model, data, q)
        for row, side in enumerate(("left", "right")):
            palm = data.oMf[model.getFrameId(romeo.frames[f"{side}_hand"])].translation
            np.testing.assert_allclose(log["palm_position"][now, row], palm, atol=1e-9)
    # The COG falls, whatever the arms do.
    fallen = 0.5 * GRAVITY * DT**2 * np.arange(150) * np.arange(1, 151)
    np.testing.assert_allclose(log["cog"][0, 2] - log["cog"][:, 2], fallen, atol=2e-4)
    assert np.abs(log["joint_velocity"]).max() > 1.0


def test_foot_forces_of_a_sample_are_those_of_the_step_that_ended_there(romeo, every_step):
    log, _ = every_step
    mass = pin.computeTotalMass(romeo.model)
    ground = log["foot_wrench"].sum(axis=1)
    assert not ground[0].any()
    needed = mass * (np.diff(log["cog_velocity"], axis=0) / DT + [0.0, 0.0, GRAVITY])
    np.testing.assert_allclose(ground[1:, :3], needed, atol=0.1)
    # One step earlier or later would be another force.
    assert np.abs(np.diff(ground[100:, :3], axis=0)).max() > 0.1
    touching = (~np.isnan(log["foot_points"][..., 0])).sum(axis=2)
    assert (touching[200:] == 4).all()
    assert not log["other_wrench"].any()


def test_the_log_rate_changes_nothing_but_the_samples(record, every_step):
    """Logging less often keeps the motion bit for bit, and the extremes, which are taken at every step."""
    full, reference = every_step
    for log_every in (5, 40):
        log, _ = record(log_every=log_every)
        assert log.count == 400 // log_every
        np.testing.assert_array_equal(log.time, full.time[::log_every])
        for name in SIGNALS:
            if name != "joint_reference":
                np.testing.assert_array_equal(log[name], full[name][::log_every], err_msg=name)
        before = np.maximum(np.arange(0, len(reference.position), log_every) - 1, 0)
        np.testing.assert_array_equal(log["joint_reference"], reference.position[before])
        np.testing.assert_array_equal(log.highest_position, full["joint_position"].max(axis=0))
        np.testing.assert_array_equal(log.lowest_position, full["joint_position"].min(axis=0))
        np.testing.assert_array_equal(log.highest_speed, np.abs(full["joint_velocity"]).max(axis=0))
        assert (log.highest_speed > np.abs(log["joint_velocity"]).max(axis=0)).any()


def test_two_runs_are_identical_bit_for_bit(record, every_step):
    first, _ = every_step
    second, _ = record()
    for name in ("time", "highest_position", "lowest_position", "highest_speed"):
        np.testing.assert_array_equal(getattr(first, name), getattr(second, name), err_msg=name)
    for name in SIGNALS:
        np.testing.assert_array_equal(first[name], second[name], err_msg=name)
    assert first.events == second.events
    assert len(first.events) >= 2
    assert "foot_wrench" in SIGNALS
    assert first.steps == second.steps == 400


def test_an_interrupt_keeps_the_samples_before_it(record, every_step):
    full, _ = every_step
    seen = []

    def stop(done, total):
        seen.append((done, total))
        if done == 185:
            raise KeyboardInterrupt

    log, _ = record(log_every=5, progress=stop)
    assert log.interrupted
    assert seen == [(step, 400) for step in range(0, 186, 5)]
    assert log.count == 37
    assert log.steps == 185
    np.testing.assert_array_equal(log.time[:37], full.time[:185:5])
    for name in ("joint_position", "base_pose", "foot_wrench", "torque_motor", "cog"):
        np.testing.assert_array_equal(log[name][:37], full[name][:185:5], err_msg=name)
    assert not log["torque_motor"][37:].any()
    assert {event.first for event in log.events} == {"romeo/l_ankle", "romeo/r_ankle"}
    assert log.wall_time >= log.step_time > 0.0
    # The extremes are those of the steps that were made.
    np.testing.assert_array_equal(log.highest_position, full["joint_position"][:185].max(axis=0))


def test_progress_ends_with_all_steps_done(record):
    seen = []
    record(steps=23, log_every=10, progress=lambda done, total: seen.append((done, total)))
    assert seen == [(0, 23), (10, 23), (20, 23), (23, 23)]


def test_saturated_motors_are_counted_at_every_step(romeo, with_motors, record):
    weak = with_motors(romeo, torque_limit=0.15 * romeo.motors.torque_limit)
    high = np.array([0, 0, 5.0, 0, 0, 0, 1.0])
    log, _ = record(robot=weak, base=high, steps=200)
    limit = weak.motors.torque_limit
    assert log.saturated_steps == np.count_nonzero(np.abs(log["torque_requested"]) > limit) > 10
    assert (np.abs(log["torque_motor"]) <= limit).all()
    rarely, _ = record(robot=weak, base=high, steps=200, log_every=50)
    assert rarely.saturated_steps == log.saturated_steps


class FakeClock:
    """A clock that advances by `tick` whenever it is read, and by as much as it is asked to sleep."""

    def __init__(self, tick):
        self.time, self.tick, self.slept = 0.0, tick, []

    def perf_counter(self):
        self.time += self.tick
        return self.time

    def sleep(self, duration):
        assert duration >= 0.0
        self.time += duration
        self.slept.append(duration)


@pytest.mark.parametrize(("tick", "waits"), [(1e-5, True), (DT, False)])
def test_realtime_waits_for_the_clock(record, monkeypatch, tick, waits):
    """The clock is read at least twice a step: at a tick of one time step the simulation is always late."""
    clock = FakeClock(tick)
    monkeypatch.setattr("simbench.sim.loop.clock", clock)
    record(steps=150, log_every=50, realtime=True)
    assert len(clock.slept) == 150
    if waits:
        assert 149 * DT <= clock.time < 151 * DT
        assert max(clock.slept) < DT
    else:
        assert not any(clock.slept[1:])


def hold_the_drawer(robot, stance, design, *, amplitude, steps, release):
    """Float with the left palm at the drawer's handle, grip it, and swing trunk and arms.

    Returns the recorder and the step in which the grip engaged; from then on hand and drawer do not collide,
    so that nothing but the grip acts between them.
    """
    wave = waving(robot, stance.joints, steps, amplitude=amplitude)
    grip = np.zeros((steps, 2), dtype=bool)
    grip[3:release, 0] = True
    reference = replace(wave, grip=grip)
    data = robot.model.createData()
    pin.framesForwardKinematics(robot.model, data, np.concatenate([[0, 0, 0, 0, 0, 0, 1], stance.joints]))
    palm = data.oMf[robot.model.getFrameId(robot.frames["left_hand"])]
    touching = pin.SE3(np.eye(3), np.array([0.0, 0.0, -0.001]))
    handle = pin.SE3(handle_poses(DRAWER, np.array([[0.12]]))["left"][0])
    base = handle * touching * palm.inverse()
    recorder, engaged_at = Recorder(steps, robot, [DRAWER]), []
    with open_world(DT) as world:
        bullet.setGravity(0, 0, 0, physicsClientId=world.client)
        drawer = world.add_fixture(DRAWER)
        body = world.add_robot(robot, pin.SE3ToXYZQUAT(base), stance.joints)
        grips = [Grip(body, side, drawer, design) for side in ("left", "right")]

        def touch(*allowed):
            for link in body.links.values():
                for other in (*drawer.links.values(), -1):
                    bullet.setCollisionFilterPair(
                        body.handle,
                        drawer.handle,
                        link,
                        other,
                        int(link in allowed),
                        physicsClientId=world.client,
                    )

        def follow(done, total):
            if grips[0].engaged and not engaged_at:
                engaged_at.append(done)
                touch()

        hand = robot.hands["left_hand"]
        touch(body.links[hand.palm], *(body.links[link] for link in hand.fingers))
        simulate(Simulation(body, reference, [drawer], grips), recorder, LoopOptions(1, progress=follow))
    return recorder, engaged_at[0]


def test_grips_and_equipment_are_logged_as_they_act(romeo, weightless, stance):
    """Every sample explains the next one by forward dynamics, the logged grip wrench included."""
    robot, steps, release = weightless(romeo), 300, 250
    log, start = hold_the_drawer(robot, stance, GRIP, amplitude=0.06, steps=steps, release=release)
    assert start <= 5
    assert log["grip_engaged"][start:release, 0].all()
    assert not log["grip_engaged"][:start, 0].any()
    assert not log["grip_engaged"][release:].any()
    assert not log["grip_engaged"][:, 1].any()
    assert not log["grip_wrench"][release:].any()
    assert log.grips_lost == 0
    model, data = bullets_model(robot), robot.model.createData()
    joint = model.frames[model.getFrameId(robot.frames["left_hand"])].parentJoint
    outward = -pin.utils.rotate("z", DESIGN.heading_rad)[:, 0]
    for now in range(start + 2, steps - 1):
        q = np.concatenate([log["base_pose"][now], log["joint_position"][now]])
        v = np.concatenate([log["base_velocity"][now], log["joint_velocity"][now]])
        force, torque = np.split(log["grip_wrench"][now, 0], 2)
        pin.forwardKinematics(model, data, q)
        wrist = data.oMi[joint]
        moment = torque + np.cross(log["grip_point"][now, 0] - wrist.translation, force)
        forces = pin.StdVec_Force([pin.Force.Zero() for _ in range(model.njoints)])
        forces[joint] = pin.Force(wrist.rotation.T @ force, wrist.rotation.T @ moment)
        motors = np.concatenate([np.zeros(6), log["torque_joint"][now]])
        expected = pin.aba(model, model.createData(), q, v, motors, forces)[6:]
        measured = (log["joint_velocity"][now + 1] - log["joint_velocity"][now]) / DT
        np.testing.assert_allclose(measured, expected, atol=0.05)
        faster = (log["drawer_travel_velocity"][now + 1] - log["drawer_travel_velocity"][now]) / DT
        assert DESIGN.mass_kg * faster == pytest.approx(-force @ outward, abs=1e-5)
        moved = (log["drawer_travel"][now + 1] - log["drawer_travel"][now]) / DT
        assert moved == pytest.approx(log["drawer_travel_velocity"][now + 1], abs=1e-9)
    assert np.linalg.norm(log["grip_wrench"][:, 0, :3], axis=1).max() > 5.0
    events = {(event.first, event.second) for event in log.events}
    assert ("romeo/l_wrist", "drawer/drawer") in events


def test_a_lost_grip_is_counted_and_stays_open(romeo, weightless, stance):
    weak = GRIP.model_copy(update={"max_force_n": 2.0})
    log, start = hold_the_drawer(weightless(romeo), stance, weak, amplitude=0.06, steps=200, release=200)
    assert log.grips_lost == 1
    held = np.flatnonzero(log["grip_engaged"][:, 0])
    assert held[0] == start
    assert held[-1] < 190
    assert len(held) == held[-1] - held[0] + 1
    assert np.linalg.norm(log["grip_wrench"][:, 0, :3], axis=1).max() <= 2.0
