"""MuJoCo behind the interface of engines: the same robots, equipment, contacts and control as in Bullet."""

import dataclasses

import numpy as np
import pinocchio as pin
import pytest
from wheel_robots import robot_parameters

from simbench.errors import RobotError, RunError
from simbench.robot.robot import load_robot
from simbench.runs.preparation import tilt_base
from simbench.runs.scenario.loading import load_scenario, scenario_mechanisms
from simbench.sim.control.joint_controller import JointController
from simbench.sim.engine import GRAVITY, is_installed, open_engine
from simbench.sim.fixtures.shapes import compute_inertia
from simbench.sim.loop import make_controller
from simbench.sim.sensing import contact_wrench
from simbench.sim.state import empty_state

mujoco = pytest.importorskip("mujoco")

DT = 1e-3
ABOVE = np.array([0.0, 0.0, 5.0, 0.0, 0.0, 0.0, 1.0])


def open_world(**settings):
    return open_engine("mujoco").open_world(**{"timestep": DT, **settings})


def put_state(body, q, v):
    """Give a robot in MuJoCo a configuration and a velocity, in Pinocchio's coordinates."""
    floating = body.robot.floating
    body.place(q[:7] if floating else ABOVE, q[7:] if floating else q)
    data = body.scene.data
    if floating:
        at = body.root_columns[1]
        data.qvel[at : at + 3] = pin.Quaternion(q[3:7]).matrix() @ v[:3]
        data.qvel[at + 3 : at + 6] = v[3:6]
    data.qvel[body.velocity_columns] = v[6 if floating else 0 :]
    body.scene.state_changed()


def random_motion(robot, seed):
    """Any attitude in the air, joints in the middle of their range, any velocity."""
    rng = np.random.default_rng(seed)
    q, v = pin.neutral(robot.model), rng.normal(size=robot.model.nv)
    if robot.floating:
        turn = rng.normal(size=4)
        q[:7] = *rng.uniform([-1.0, -1.0, 3.0], [1.0, 1.0, 5.0]), *(turn / np.linalg.norm(turn))
    low, high = robot.model.lowerPositionLimit[robot.root_q :], robot.model.upperPositionLimit[robot.root_q :]
    low, high = np.maximum(low, -3.0), np.minimum(high, 3.0)
    q[robot.root_q :] = low + (high - low) * rng.uniform(0.4, 0.6, len(low))
    return q, v


@pytest.mark.parametrize("name", robot_parameters("romeo", "puma560", "g1"))
def test_masses_and_rotors_are_those_of_pinocchio(name):
    robot = load_robot(name)
    with open_world() as world:
        body = world.add_robot(robot, ABOVE, np.zeros(len(robot.joint_names)))
        q, v = random_motion(robot, 1)
        put_state(body, q, v)
        scene, root = body.scene, body.root_columns
        data = scene.locate_links()
        mujoco.mj_forward(scene.model, data)
        # Of each column, what unit accelerations of MuJoCo's coordinates need: M, rotors included.
        order = [*(range(root[1], root[1] + 6) if root else ()), *body.velocity_columns]
        theirs = np.empty((len(order), len(order)))
        for column, coordinate in enumerate(order):
            unit, needed = np.zeros(scene.model.nv), np.zeros(scene.model.nv)
            unit[coordinate] = 1.0
            mujoco.mj_mulM(scene.model, data, needed, unit)
            theirs[column] = needed[order]
        model = body.robot.model
        ours = pin.crba(model, model.createData(), q)
        ours = np.triu(ours) + np.triu(ours, 1).T
        change = np.eye(len(ours))
        if root:
            # MuJoCo has the root's linear velocity in world axes.
            change[:3, :3] = pin.Quaternion(q[3:7]).matrix().T
    np.testing.assert_allclose(theirs, change.T @ ours @ change, atol=1e-9 * np.abs(ours).max())


@pytest.mark.parametrize("name", robot_parameters("romeo", "puma560", "talos"))
def test_links_are_where_pinocchio_has_them_and_move_as_it_says(name):
    robot = load_robot(name)
    with open_world() as world:
        body = world.add_robot(robot, ABOVE, np.zeros(len(robot.joint_names)))
        q, v = random_motion(robot, 2)
        put_state(body, q, v)
        state = empty_state(body.robot)
        body.read_state(state)
        np.testing.assert_allclose(state.v, v, atol=1e-12)
        np.testing.assert_allclose(np.abs(state.q), np.abs(q), atol=1e-12)
        model, data = body.robot.model, body.robot.model.createData()
        pin.forwardKinematics(model, data, q, v)
        pin.updateFramePlacements(model, data)
        names = [each for each in body.links if model.existFrame(each)]
        motions = body.link_motions([body.links[each] for each in names])
        for each, (com, origin, quaternion, linear, angular) in zip(names, motions, strict=True):
            frame = model.getFrameId(each)
            pose = data.oMf[frame]
            twist = pin.getFrameVelocity(model, data, frame, pin.ReferenceFrame.LOCAL_WORLD_ALIGNED)
            np.testing.assert_allclose(origin, pose.translation, atol=1e-9)
            np.testing.assert_allclose(
                pin.Quaternion(np.array(quaternion)).matrix(), pose.rotation, atol=1e-9
            )
            np.testing.assert_allclose(angular, twist.angular, atol=1e-9)
            at_com = twist.linear + np.cross(twist.angular, np.array(com) - origin)
            np.testing.assert_allclose(linear, at_com, atol=1e-9)


def quiet(robot):
    """A robot without gains, friction and collision pairs."""
    still = np.zeros(len(robot.joint_names))
    return dataclasses.replace(
        robot,
        motors=dataclasses.replace(robot.motors, stiffness=still, damping=still),
        friction=dataclasses.replace(robot.friction, coulomb=still, viscous=still, breakaway=still),
        self_collision_pairs=(),
    )


def free_motion(robot, torques, start, *, emulated):
    """Drive a robot by torques; its joint angles, with rotors by MuJoCo or by the joint control."""
    still = np.zeros(len(start))
    with open_world() as world:
        body = world.add_robot(robot, ABOVE, start)
        model = body.scene.model
        model.jnt_limited[:] = 0
        if emulated:
            model.dof_armature[:] = 0.0
            mujoco.mj_setConst(model, body.scene.data)
            body.place(ABOVE, start)
            body.has_armature = False
        controller, state = make_controller(body), empty_state(body.robot)
        ours = []
        for torque in torques:
            body.read_state(state)
            command = controller.step(state, controller.demand(still, still, torque))
            assert command.saturated == 0
            world.step()
            body.read_state(state)
            ours.append(state.q.copy())
    return np.array(ours)


@pytest.mark.parametrize("name", robot_parameters("puma560", "mahru"))
def test_free_motion_is_pinocchios_whoever_delivers_the_rotors(name):
    """MuJoCo's own armature, the joint control's emulation of it, and Pinocchio's equations agree."""
    robot = quiet(load_robot(name))
    start = next(iter(robot.postures.values()))
    rng, count = np.random.default_rng(0), len(start)
    inertia = robot.motors.reflected_inertia
    size = np.where(inertia > 0.0, 20.0 * inertia, 0.02)
    time = DT * np.arange(300)[:, None]
    torques = size * np.sin(6.0 * np.pi * time + rng.uniform(0.0, 2.0 * np.pi, (1, count)))
    native, emulated = (free_motion(robot, torques, start, emulated=each) for each in (False, True))
    assert np.abs(native[-1, -count:] - start).max() > 0.1
    # Rounding, and of the emulation a step of rotors that MuJoCo does not know in its solution.
    np.testing.assert_allclose(native, emulated, atol=1e-8)
    with open_world() as world:
        body = world.add_robot(robot, ABOVE, start)
        state = empty_state(body.robot)
        body.read_state(state)
        model, q, v = body.robot.model, state.q.copy(), state.v.copy()
    data = model.createData()
    for torque in torques:
        effort = np.concatenate([np.zeros(robot.root_v), torque])
        v = v + DT * pin.aba(model, data, q, v, effort)
        q = pin.integrate(model, q, DT * v)
    np.testing.assert_allclose(native[-1, -count:], q[-count:], atol=1e-8 if not robot.floating else 1e-6)


def test_the_floor_carries_the_weight_below_the_cog(romeo, standing, momentum):
    with open_world() as world:
        robot = standing(world, romeo)
        for _ in range(500):
            robot.step()
        weight = GRAVITY * pin.computeTotalMass(romeo.model)
        total = robot.wrenches.sum(axis=0)
        _, cog = momentum(romeo, robot.state)
    assert total[2] == pytest.approx(weight, rel=1e-5)
    assert abs(total[:2]).max() < 1e-3 * weight
    np.testing.assert_allclose([-total[4] / total[2], total[3] / total[2]], cog[:2], atol=1e-4)
    # Every corner of both soles touches.
    assert np.isfinite(robot.points).all()


def test_contacts_are_told_as_each_of_both_feels_them(romeo):
    """A drawer that lies on a robot: forces on one are the opposite of those on the other, at one place."""
    (mechanism, *_) = scenario_mechanisms(load_scenario("hand_drill"))
    with open_world() as world:
        fixture = world.add_fixture(mechanism)
        body = world.add_robot(
            romeo, np.array([0.0, 0.0, 0.9, 0.0, 0.0, 0.0, 1.0]), romeo.postures["standing"]
        )
        stand = fixture.read_state().stand.copy()
        stand[:3] = 0.0, 0.0, 2.0
        fixture.place(mechanism.start, stand)
        found = np.zeros(6)
        for _ in range(1500):
            world.step()
            contacts = world.read_contacts()
            on_fixture = np.array(contact_wrench(contacts, fixture.handle, body.handle))
            on_robot = np.array(contact_wrench(contacts, body.handle, fixture.handle))
            # The places of a penetrating contact on both surfaces are as far apart as it is deep.
            np.testing.assert_allclose(on_fixture, -on_robot, atol=2e-2 * (1.0 + np.abs(on_robot).max()))
            found = np.maximum(found, np.abs(on_robot))
    assert found[2] > 5.0


@pytest.mark.parametrize("name", ["romeo"])
def test_only_the_listed_pairs_of_links_collide(name):
    robot = load_robot(name)
    rng = np.random.default_rng(0)
    low, high = robot.model.lowerPositionLimit[7:], robot.model.upperPositionLimit[7:]
    listed = {frozenset(pair) for pair in robot.self_collision_pairs}
    touched = set()
    with open_world() as world:
        body = world.add_robot(robot, ABOVE, robot.postures["standing"])
        names = {link: name for name, link in body.links.items()}
        for _ in range(150):
            body.place(ABOVE, rng.uniform(low, high))
            world.step()
            for link, other, other_link, *_ in world.read_contacts().on(body.handle):
                assert other == body.handle
                touched.add(frozenset((names[link], names[other_link])))
    assert touched <= listed
    assert len(touched) > 10


def test_what_is_added_in_flight_leaves_what_is_there_as_it_was(romeo):
    (mechanism,) = scenario_mechanisms(load_scenario("drawer"))
    ended, state = [], empty_state(romeo)
    for late in (False, True):
        with open_world() as world:
            body = world.add_robot(romeo, ABOVE, romeo.postures["standing"])
            for _ in range(50):
                world.step()
            body.read_state(state)
            before = np.concatenate([state.q, state.v])
            if late:
                world.add_fixture(mechanism)
                body.read_state(state)
                np.testing.assert_array_equal(np.concatenate([state.q, state.v]), before)
            for _ in range(50):
                world.step()
            body.read_state(state)
            ended.append(np.concatenate([state.q, state.v]))
    # How long MuJoCo iterates depends on all masses of the world.
    np.testing.assert_allclose(*ended, atol=1e-6)


def test_worlds_in_one_process_do_not_disturb_each_other(romeo):
    ended = []
    with open_world() as beside:
        other = beside.add_robot(romeo, ABOVE, romeo.postures["standing"])
        for disturbed in (True, False):
            with open_world() as world:
                body = world.add_robot(romeo, tilt_base(ABOVE - [0, 0, 4.2, 0, 0, 0, 0]), np.zeros(33))
                for _ in range(200):
                    world.step()
                    if disturbed:
                        other.apply_force(other.root, (100.0, 0.0, 0.0), (0.0, 0.0, 5.0))
                        beside.step()
                state = empty_state(body.robot)
                body.read_state(state)
                ended.append(np.concatenate([state.q, state.v]))
    np.testing.assert_array_equal(*ended)


@pytest.mark.parametrize("scenario", ["drawer", "hand_drill", "pump", "steering_wheel", "mahru_valves"])
def test_parts_of_equipment_weigh_and_start_as_described(scenario):
    for mechanism in scenario_mechanisms(load_scenario(scenario)):
        with open_world() as world:
            fixture = world.add_fixture(mechanism)
            model = fixture.scene.model
            for part in mechanism.parts:
                link = fixture.links[part.name]
                axes = np.zeros(9)
                mujoco.mju_quat2Mat(axes, model.body_iquat[link])
                axes = axes.reshape(3, 3)
                tensor = axes @ np.diag(model.body_inertia[link]) @ axes.T
                expected = compute_inertia(part.shapes, part.mass)
                assert model.body_mass[link] == pytest.approx(part.mass, rel=1e-12)
                np.testing.assert_allclose(tensor, expected.inertia, atol=1e-9 * expected.inertia.max())
            position, velocity, stand = fixture.read_state()
            np.testing.assert_array_equal(position, mechanism.start)
            assert not velocity.any()
            np.testing.assert_allclose(stand, pin.SE3ToXYZQUAT(mechanism.pose), atol=1e-12)


def test_friction_end_stops_and_damping_of_a_joint(romeo):
    """The drawer's own numbers: it rests below its friction, slides above it, and stops at its end."""
    (mechanism,) = scenario_mechanisms(load_scenario("drawer"))
    (joint,) = mechanism.joints
    mass = sum(part.mass for part in mechanism.parts if part.joint == joint.name)
    with open_world() as world:
        drawer = world.add_fixture(mechanism)
        for _ in range(300):
            drawer.apply_joint_effort(0, 0.95 * joint.friction)
            world.step()
        assert abs(drawer.joint_state(0)[0] - joint.start) < 1e-6
        pull = joint.friction + 2.0
        for _ in range(300):
            drawer.apply_joint_effort(0, pull)
            world.step()
        time = 300 * DT
        # m v̇ = F − F_c − d v from rest
        rate = joint.damping / mass
        expected = 2.0 / joint.damping * (1.0 - np.exp(-rate * time))
        assert drawer.joint_state(0)[1] == pytest.approx(expected, rel=0.01)
        for _ in range(3000):
            drawer.apply_joint_effort(0, 3.0 * pull)
            world.step()
        assert drawer.joint_state(0)[0] == pytest.approx(joint.highest, abs=1e-4)
        assert abs(drawer.joint_state(0)[1]) < 1e-6


def test_a_push_gives_a_free_robot_its_impulse(romeo, momentum):
    robot = quiet(romeo)
    with open_world() as world:
        body = world.add_robot(robot, ABOVE, robot.postures["standing"])
        state = empty_state(body.robot)
        for _ in range(100):
            com, _ = body.root_com_frame()
            body.apply_force(body.root, (50.0, 0.0, 0.0), com)
            world.step()
        body.read_state(state)
        after, _ = momentum(robot, state)
    weight = pin.computeTotalMass(robot.model) * GRAVITY
    # Limbs that swing are integrated to the first order.
    np.testing.assert_allclose(after[:3], [5.0, 0.0, -0.1 * weight], atol=2e-4 * weight)


def test_the_unknown_contact_torque_of_free_motion_is_nothing(romeo):
    """What the controller takes for contacts is what MuJoCo moves otherwise than its own model."""
    robot = quiet(romeo)
    q, v = random_motion(robot, 3)
    still = np.zeros(len(robot.joint_names))
    with open_world() as world:
        body = world.add_robot(robot, q[:7], q[7:])
        body.scene.model.jnt_limited[:] = 0
        put_state(body, q, v)
        controller, state = JointController(body), empty_state(body.robot)
        controller.hold_feet([False, False])
        for _ in range(50):
            body.read_state(state)
            felt = controller._contact.of_last_step(state, controller._forces, controller.command.joint)
            np.testing.assert_allclose(felt, 0.0, atol=1e-7)
            controller.step(state, controller.demand(still, still, still))
            world.step()


ODD = """<robot name="odd"><link name="base"/><link name="arm"><inertial><origin xyz="0.2 0 0"/>
<mass value="1"/><inertia ixx="0.1" iyy="0.1" izz="{izz}" ixy="0" ixz="0" iyz="0"/></inertial></link>
<joint name="hinge" type="revolute"><parent link="base"/><child link="arm"/><axis xyz="0 0 1"/>
<limit lower="-3" upper="3" effort="9" velocity="9"/></joint></robot>"""


@pytest.mark.parametrize("izz", [0.2, 0.2 * (1.0 + 1e-9), 0.9])
def test_a_plate_is_taken_and_an_inertia_that_no_body_has_kept(tmp_path, izz):
    robot = odd_robot(tmp_path, izz)
    with open_world() as world:
        body = world.add_robot(robot, np.array([0, 0, 0, 0, 0, 0, 1.0]), np.zeros(1))
        world.step()
        body.apply_joint_torques(np.array([2.0]))
        world.step()
        state = empty_state(body.robot)
        body.read_state(state)
    assert 2.0 * DT / state.v[0] == pytest.approx(izz + 0.04, rel=1e-6)


def test_a_negative_moment_of_inertia_is_refused_in_one_line(tmp_path):
    with pytest.raises(RobotError, match=r"link `arm`: moments of inertia -0\.03, 0\.1, 0\.1"):
        open_engine("mujoco").require_robot(odd_robot(tmp_path, -0.03))


def test_a_robot_of_more_joints_than_bullet_has_room_for(tmp_path):
    links = "".join(
        f'<link name="l{k}"><inertial><mass value="0.1"/><inertia ixx="1e-3" iyy="1e-3" izz="1e-3" ixy="0" '
        f'ixz="0" iyz="0"/></inertial></link><joint name="j{k}" type="revolute"><parent link="base"/>'
        f'<child link="l{k}"/>'
        '<axis xyz="0 0 1"/><limit lower="-1" upper="1" effort="1" velocity="1"/></joint>'
        for k in range(128)
    )
    (tmp_path / "many.urdf").write_text(f'<robot name="many"><link name="base"/>{links}</robot>')
    (tmp_path / "robot.yaml").write_text(
        "name: many\nurdf: many.urdf\nbase: fixed\ngroups: {}\ngains: auto\n"
    )
    robot = load_robot(tmp_path)
    if is_installed("bullet"):
        with pytest.raises(
            RobotError, match=r"128 joints that move; allowed by Bullet: 127;.*--engine mujoco"
        ):
            open_engine("bullet").require_robot(robot)
    open_engine("mujoco").require_robot(robot)
    with open_world() as world:
        assert len(world.add_robot(robot, ABOVE, np.zeros(128)).position_columns) == 128


def odd_robot(folder, izz):
    (folder / "odd.urdf").write_text(ODD.format(izz=repr(izz)))
    (folder / "robot.yaml").write_text(
        "name: odd\nurdf: odd.urdf\nbase: fixed\ngroups: {}\ngains: {hinge: [0, 0]}\n"
    )
    return load_robot(folder)


def test_a_world_has_room_for_thirty_bodies():
    with open_world() as world:
        for _ in range(30):
            world.add_rigid_body(1.0, np.ones(3), (0.0, 0.0, 0.0, 1.0))
        with pytest.raises(RunError):
            world.add_rigid_body(1.0, np.ones(3), (0.0, 0.0, 0.0, 1.0))


def test_physics_that_diverges_goes_on_and_leaves_no_file(romeo, tmp_path, monkeypatch, capfd):
    """MuJoCo would write MUJOCO_LOG.TXT into the current folder, and start anew."""
    monkeypatch.chdir(tmp_path)
    with open_world() as world:
        body = world.add_robot(romeo, ABOVE, romeo.postures["standing"])
        body.scene.data.qvel[:] = 1e12
        for _ in range(20):
            world.step()
        state = empty_state(body.robot)
        body.read_state(state)
    assert not np.isfinite(state.v).all() or np.abs(state.v).max() > 1e3
    assert list(tmp_path.iterdir()) == []
    assert capfd.readouterr() == ("", "")
