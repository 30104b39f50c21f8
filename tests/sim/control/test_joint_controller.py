import numpy as np
import pinocchio as pin
import pytest

from simbench.sim.bullet import open_world
from simbench.sim.bullet.bullet_bodies import bullet
from simbench.sim.control.joint_controller import GROUND_MASS, JointController
from simbench.sim.state import RobotState, empty_state

DT = 1e-3
UNLIMITED = np.full(33, 1e9)


@pytest.fixture
def drive(random_state, set_state):
    """Drive a robot in the air for some steps from a random state; what was before and after each step.

    Yields (state before, command, joint accelerations that Bullet made of it, state after).
    """

    def run(robot, steps=3, seed=0, *, reference=None, speed=None, feedforward=None, load=None, still=False):
        q, v = random_state(seed, speed=0.0 if still else 1.0)
        count = len(robot.joint_names)
        rng = np.random.default_rng(seed)
        reference = q[7:] + rng.uniform(-0.2, 0.2, count) if reference is None else reference(q)
        speed = rng.normal(size=count) if speed is None else speed
        feedforward = np.zeros(count) if feedforward is None else feedforward
        with open_world(DT) as world:
            body = world.add_robot(robot, q[:7], q[7:])
            set_state(body, q, v)
            controller, state = JointController(body), empty_state(body.robot)
            for _ in range(steps):
                body.read_state(state)
                before = RobotState(state.q.copy(), state.v.copy(), state.root.copy())
                loads = [] if load is None else [load(body, before)]
                command = controller.step(state, controller.demand(reference, speed, feedforward), loads)
                world.step()
                body.read_state(state)
                yield before, command, (state.v - before.v)[6:] / DT, state

    return run


def accelerations(robot, state, motor, forces=None):
    """Joint accelerations by Pinocchio, rotors included."""
    model = robot.model
    assert model.armature[6:].max() > 0.03
    forces = forces or pin.StdVec_Force([pin.Force.Zero() for _ in range(model.njoints)])
    torque = np.concatenate([np.zeros(6), motor])
    return pin.aba(model, model.createData(), state.q, state.v, torque, forces)[6:]


def law(robot, reference, speed, feedforward, state):
    motors = robot.motors
    return motors.stiffness * (reference - state.q[7:]) + motors.damping * (speed - state.v[6:]) + feedforward


@pytest.mark.parametrize("seed", [0, 1, 2])
def test_rotors_are_felt_exactly(romeo, with_motors, drive, seed):
    """Bullet knows no rotor inertia, yet moves as the articulated-body algorithm with armature says.

    Rotors count: without them the same torques would give accelerations that differ by hundreds of rad/s².
    """
    nothing = np.zeros(33)
    robot = with_motors(romeo, stiffness=nothing, damping=nothing)
    torque = np.random.default_rng(seed).uniform(-0.8, 0.8, 33) * romeo.motors.torque_limit
    for before, command, measured, _ in drive(robot, seed=seed, feedforward=torque):
        np.testing.assert_array_equal(command.motor, torque)
        expected = accelerations(robot, before, torque)
        np.testing.assert_allclose(measured, expected, atol=1e-6 * np.abs(expected).max())
        rotor = romeo.motors.reflected_inertia * expected
        np.testing.assert_allclose(command.joint, torque - rotor, atol=1e-6)
        assert np.abs(rotor).max() > 1.0


@pytest.mark.parametrize("link", ["body", "l_wrist", "RKneePitchLink"])
def test_known_loads_are_part_of_the_prediction(romeo, with_motors, drive, link):
    """A wrench on a link, told to the controller, leaves the rotors exact; untold, it does not."""
    force, torque, lever = (
        np.array([40.0, -25.0, 15.0]),
        np.array([1.0, -2.0, 0.5]),
        np.array([0.05, 0.1, -0.1]),
    )
    robot = with_motors(romeo, torque_limit=UNLIMITED)
    model = robot.model
    joint = model.frames[model.getFrameId(link)].parentJoint
    told = {}

    def load(body, state):
        data = model.createData()
        pin.forwardKinematics(model, data, state.q)
        place = data.oMi[joint]
        point = place.translation + lever
        client = body.world.client
        body.link_motions([0])
        where = body.handle, body.links[link]
        bullet.applyExternalForce(*where, force, point, bullet.WORLD_FRAME, physicsClientId=client)
        bullet.applyExternalTorque(*where, torque, bullet.WORLD_FRAME, physicsClientId=client)
        turn = place.rotation.T
        told["wrench"] = pin.Force(turn @ force, turn @ (torque + np.cross(lever, force)))
        return joint, tuple(told["wrench"].vector)

    for before, command, measured, _ in drive(robot, load=load):
        forces = pin.StdVec_Force([pin.Force.Zero() for _ in range(model.njoints)])
        forces[joint] = told["wrench"]
        expected = accelerations(robot, before, command.motor, forces)
        np.testing.assert_allclose(measured, expected, atol=1e-5 * np.abs(expected).max())
        without = accelerations(robot, before, command.motor)
        assert np.abs(measured - without).max() > 10.0


@pytest.mark.parametrize("seed", [0, 1, 2])
def test_the_law_holds_at_the_end_of_the_step(romeo, with_motors, drive, seed):
    """τ = K (q_r − q⁺) + D (v_r − v⁺) + τ_ff with the positions and speeds that Bullet then has."""
    robot = with_motors(romeo, torque_limit=UNLIMITED)
    rng = np.random.default_rng(seed)
    reference, speed, feedforward = rng.uniform(-0.3, 0.3, 33), rng.normal(size=33), rng.normal(size=33)
    given = {"reference": lambda q: reference, "speed": speed, "feedforward": feedforward}
    for before, command, _, after in drive(robot, seed=seed, **given):
        expected = law(robot, reference, speed, feedforward, after)
        np.testing.assert_allclose(command.requested, expected, atol=1e-4)
        np.testing.assert_array_equal(command.motor, command.requested)
        assert command.saturated == 0
        # An explicit law is another one.
        explicit = law(robot, reference, speed, feedforward, before)
        assert np.abs(explicit - expected).max() > 1.0


def test_a_saturated_motor_gives_its_limit_and_the_others_follow_the_law(romeo, with_motors, drive):
    """Three joints are asked for more than their motors have; the prediction knows that they give less."""
    weak = [romeo.joint_names.index(name) for name in ("LShoulderPitch", "RElbowRoll", "NeckYaw")]
    offset, still = np.zeros(33), np.zeros(33)
    offset[weak] = [0.3, -0.3, 0.3]
    full = np.zeros(33, dtype=bool)
    full[weak] = True
    limit = np.where(full, romeo.motors.torque_limit, UNLIMITED)
    robot = with_motors(romeo, torque_limit=limit)
    asked = {}

    def far(q):
        asked["reference"] = q[7:] + offset
        return asked["reference"]

    for before, command, measured, after in drive(robot, steps=15, reference=far, speed=still, still=True):
        np.testing.assert_allclose(command.motor[full], np.sign(offset[full]) * limit[full])
        assert command.saturated == 3
        expected = law(romeo, asked["reference"], still, still, after)
        assert (np.abs(expected[full]) > 1.5 * limit[full]).all()
        np.testing.assert_allclose(command.motor[~full], expected[~full], atol=1e-4)
        moved = accelerations(romeo, before, command.motor)
        np.testing.assert_allclose(measured, moved, atol=1e-6 * np.abs(moved).max())


@pytest.mark.parametrize("seed", [0, 1, 2])
def test_torque_limits_hold_when_most_motors_saturate(romeo, drive, seed):
    """Most references 0.6 rad away: no motor exceeds its limit, and the rotors stay felt within 2 %."""
    offset = np.random.default_rng(seed).choice([-0.6, 0.0, 0.6], 33)
    still = np.zeros(33)
    given = {"reference": lambda q: q[7:] + offset, "speed": still}
    for before, command, measured, _ in drive(romeo, steps=10, seed=seed, still=True, **given):
        assert command.saturated > 20
        assert (np.abs(command.motor) <= romeo.motors.torque_limit).all()
        moved = accelerations(romeo, before, command.motor)
        np.testing.assert_allclose(measured, moved, atol=0.02 * np.abs(moved).max())


def test_the_prediction_knows_that_the_ground_holds_the_feet(romeo, standing):
    """Standing and swinging an arm, the law still holds at the end of the step, and rotors are still felt.

    Without the ground's reaction the prediction is wrong by 16 N·m in the legs and by 0.14 N·m in the arms,
    with held feet that are not carried by 2 and 0.1 N·m.
    """
    legs = [column for column, name in enumerate(romeo.joint_names) if name[1:4] in ("Hip", "Kne", "Ank")]
    arms = [column for column, name in enumerate(romeo.joint_names) if name[1:4] in ("Sho", "Elb", "Wri")]
    shoulder = romeo.joint_names.index("LShoulderPitch")
    rotor = romeo.motors.reflected_inertia
    errors, rotors, effort = [], [], 0.0
    with open_world(DT) as world:
        robot = standing(world, romeo)
        for step in range(600):
            time = max(0.0, DT * (step + 1) - 0.3)
            reference, speed = robot.stance.joints.copy(), np.zeros(33)
            reference[shoulder] -= 0.15 * (1.0 - np.cos(4.0 * np.pi * time))
            speed[shoulder] = -0.6 * np.pi * np.sin(4.0 * np.pi * time)
            before = robot.state.v[6:].copy()
            _, command = robot.step(reference=reference, speed=speed)
            difference = np.abs(law(romeo, reference, speed, robot.hold, robot.state) - command.requested)
            errors.append([difference[legs].max(), difference[arms].max()])
            felt = rotor * (robot.state.v[6:] - before) / DT
            rotors.append(np.abs(command.motor - command.joint - felt)[arms].max())
            effort = max(effort, np.abs(felt).max())
    still, moving = np.array(errors[200:300]), np.array(errors[300:])
    assert (still.max(axis=0) < [0.005, 0.001]).all(), still.max(axis=0)
    assert (moving.max(axis=0) < [0.3, 0.02]).all(), moving.max(axis=0)
    assert max(rotors[200:300]) < 0.001
    assert max(rotors[300:]) < 0.1
    assert effort > 0.3


def test_damping_far_beyond_the_explicit_limit_is_stable_in_the_air(
    romeo, weightless, with_motors, set_state
):
    """D dt / I of the wrists and fingers is above 2, where v⁺ = v − dt D v / I would grow at every step."""
    robot = with_motors(
        weightless(romeo),
        stiffness=50.0 * romeo.motors.stiffness,
        damping=50.0 * romeo.motors.damping,
        torque_limit=UNLIMITED,
    )
    model, q = robot.model, np.concatenate([[0, 0, 4.0, 0, 0, 0, 1], romeo.postures["standing"]])
    inertia = np.diag(pin.crba(model, model.createData(), q))[6:]
    assert (robot.motors.damping * DT / inertia > 2.0).sum() > 10
    with open_world(DT) as world:
        bullet.setGravity(0, 0, 0, physicsClientId=world.client)
        body = world.add_robot(robot, q[:7], q[7:])
        v = np.zeros(model.nv)
        v[6:] = 2.0 * np.random.default_rng(0).normal(size=33)
        set_state(body, q, v)
        controller, state = JointController(body), empty_state(body.robot)
        peaks = []
        for _ in range(300):
            body.read_state(state)
            controller.step(state, controller.demand(q[7:], np.zeros(33), np.zeros(33)))
            world.step()
            peaks.append(np.abs(state.v[6:]).max())
        body.read_state(state)
    assert max(peaks) <= 1.5 * peaks[0]
    assert peaks[-1] < 1e-2 * peaks[0]
    np.testing.assert_allclose(state.q[7:], q[7:], atol=0.01)


def test_a_joint_swings_with_rotor_and_link_inertia(romeo, weightless, with_motors):
    """One soft joint, all others stiff: J a = −K (x + dt v⁺) − D v⁺ with J from Pinocchio, rotor included."""
    column = romeo.joint_names.index("LWristRoll")
    stiffness, damping = np.full(33, 1e6), np.full(33, 1e4)
    stiffness[column], damping[column] = 40.0, 0.4
    robot = with_motors(weightless(romeo), stiffness=stiffness, damping=damping, torque_limit=UNLIMITED)
    model = robot.model
    q = np.concatenate([[0, 0, 4.0, 0, 0, 0, 1], romeo.postures["standing"]])
    rest = q[7:].copy()
    q[7 + column] += 0.05
    # The robot floats: what the motor moves is the inverse of an element of the inverse of the mass matrix.
    moved = [*range(6), 6 + column]
    upper = np.triu(pin.crba(model, model.createData(), q))
    matrix = (upper + np.triu(upper, 1).T)[np.ix_(moved, moved)]
    inertia = 1.0 / np.linalg.inv(matrix)[6, 6]
    rotor = romeo.motors.reflected_inertia[column]
    assert rotor > 0.5 * inertia
    path, expected = [], []
    x, v = 0.05, 0.0
    with open_world(DT) as world:
        bullet.setGravity(0, 0, 0, physicsClientId=world.client)
        body = world.add_robot(robot, q[:7], q[7:])
        controller, state = JointController(body), empty_state(body.robot)
        still = np.zeros(33)
        for _ in range(300):
            body.read_state(state)
            controller.step(state, controller.demand(rest, still, still))
            world.step()
            path.append(state.q[7 + column] - rest[column])
            expected.append(x)
            v = (inertia * v - DT * 40.0 * x) / (inertia + DT * 0.4 + DT**2 * 40.0)
            x += DT * v
    np.testing.assert_allclose(path, expected, atol=2e-4)
    # It swings through: the natural frequency of 40 N·m/rad on J.
    zeros = np.flatnonzero(np.diff(np.sign(path)))
    assert len(zeros) >= 3
    assert np.diff(zeros[:3]).mean() * DT == pytest.approx(np.pi * np.sqrt(inertia / 40.0), rel=0.1)


@pytest.mark.parametrize("seed", [0, 1, 2])
def test_the_mass_added_to_a_held_foot_has_no_weight_however_the_foot_is_turned(
    romeo, random_state, set_state, monkeypatch, seed
):
    """With the forces that the prediction gets, a tilted robot weighs as much as without the added mass."""
    predict, given = pin.aba, []

    def spy(model, data, q, v, torque, forces):
        copies = pin.StdVec_Force([pin.Force(force.vector.copy()) for force in forces])
        given.append((model.copy(), q.copy(), copies))
        return predict(model, data, q, v, torque, forces)

    monkeypatch.setattr(pin, "aba", spy)
    q, v = random_state(seed, speed=0.0)
    with open_world(DT) as world:
        upright = pin.neutral(romeo.model)
        body = world.add_robot(romeo, upright[:7], upright[7:])
        controller, state = JointController(body), empty_state(body.robot)
        set_state(body, q, v)
        body.read_state(state)
        for held in ([False, False], [True, True]):
            # The state stays: the feet are where the prediction before found them.
            controller.hold_feet(held)
            controller.step(state, controller.demand(q[7:], np.zeros(33), np.zeros(33)))
    model, at, forces = given[-1]
    added = pin.computeTotalMass(model) - pin.computeTotalMass(romeo.model)
    assert added == pytest.approx(2 * GROUND_MASS)
    still = np.zeros(model.nv)
    borne = pin.rnea(model, model.createData(), at, still, still, forces)
    weight = pin.computeGeneralizedGravity(romeo.model, romeo.model.createData(), at)
    # Of a weight of two million newtons.
    np.testing.assert_allclose(borne, weight, atol=1e-3)
