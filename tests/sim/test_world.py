import numpy as np
import pinocchio as pin
import pytest

from simbench.robot.robot import load_robot
from simbench.sim.bullet import open_world
from simbench.sim.bullet.bullet_bodies import bullet
from simbench.sim.control.joint_controller import JointController
from simbench.sim.engine import GRAVITY
from simbench.sim.rendering.scene_renderer import show_simulation
from simbench.sim.rendering.scene_view import Camera
from simbench.sim.state import empty_state

LIFT = 0.2
FELL = 0.5  # of the height that the pelvis had


def test_worlds_in_one_process_do_not_disturb_each_other(romeo, random_state, set_state):
    """What happens in a world is the same, bit for bit, whatever is opened, stepped and closed beside it."""
    q, v = random_state(1)

    def fall(world, beside=None):
        body = world.add_robot(romeo, q[:7], q[7:])
        set_state(body, q, v)
        for _ in range(100):
            world.step()
            if beside is not None:
                beside.step()
        state = empty_state(body.robot)
        body.read_state(state)
        return state

    with open_world() as first, open_world() as second:
        assert first.client != second.client
        bullet.setGravity(0, 0, 5.0, physicsClientId=second.client)
        other = second.add_robot(romeo, q[:7], q[7:])
        beside = fall(first, second)
        rising, _ = bullet.getBaseVelocity(other.handle, physicsClientId=second.client)
    with open_world() as only:
        alone = fall(only)
    np.testing.assert_array_equal(beside.q, alone.q)
    np.testing.assert_array_equal(beside.v, alone.v)
    # 0.1 s from rest.
    np.testing.assert_allclose(rising, [0.0, 0.0, 0.5], atol=1e-6)


def test_a_world_that_is_left_is_closed_and_the_others_stay():
    seen = []

    def fail_inside():
        with open_world() as world:
            seen.append(world)
            assert world.scratch.is_dir()
            raise ZeroDivisionError

    with open_world() as kept:
        with pytest.raises(ZeroDivisionError):
            fail_inside()
        assert not seen[0].scratch.exists()
        assert not bullet.isConnected(seen[0].client)
        assert bullet.isConnected(kept.client)
        kept.step()


def test_bullet_prints_nothing(romeo, capfd):
    with open_world() as world:
        world.add_robot(romeo, np.array([0, 0, 1.0, 0, 0, 0, 1]), romeo.postures["standing"])
    print("ours")
    assert capfd.readouterr() == ("ours\n", "")


@pytest.mark.parametrize("friction", [0.3, 0.8])
def test_floor_friction_is_coulomb_s_with_a_body_of_friction_1(friction):
    """A brick on the floor; gravity is tilted by 45 degrees: a = g (sin − µ cos)."""
    with open_world(floor_friction=friction) as world:
        client = world.client
        shape = bullet.createCollisionShape(
            bullet.GEOM_BOX, halfExtents=[0.2, 0.2, 0.02], physicsClientId=client
        )
        brick = bullet.createMultiBody(1.0, shape, basePosition=[0, 0, 0.02], physicsClientId=client)
        bullet.changeDynamics(
            brick, -1, lateralFriction=1.0, linearDamping=0, angularDamping=0, physicsClientId=client
        )
        share = GRAVITY * np.sqrt(0.5)
        bullet.setGravity(share, 0, -share, physicsClientId=client)
        for _ in range(200):
            world.step()
        velocity, _ = bullet.getBaseVelocity(brick, physicsClientId=client)
    assert velocity[0] == pytest.approx(share * (1.0 - friction) * 0.2, rel=0.01)


def test_a_lifted_robot_falls_freely_until_its_soles_reach_the_floor(romeo, standing):
    """Nothing is pinned. Bullet's steps give z = z₀ − g dt² n (n + 1) / 2 exactly."""
    with open_world() as world:
        base = standing(world, romeo).stance.base
    start = base.copy()
    start[2] += LIFT
    with open_world() as world:
        body = world.add_robot(romeo, start, romeo.postures["standing"])
        state = empty_state(body.robot)
        landing = None
        for step in range(1, 2001):
            world.step()
            if landing is None and bullet.getContactPoints(body.handle, physicsClientId=world.client):
                landing = step * world.timestep
            body.read_state(state)
            if step <= 200:
                height = start[2] - 0.5 * GRAVITY * world.timestep**2 * step * (step + 1)
                np.testing.assert_allclose(state.q[:7], [*start[:2], height, *start[3:]], atol=1e-5)
                assert state.v[2] == pytest.approx(-GRAVITY * step * world.timestep, rel=1e-5)
    assert landing == pytest.approx(np.sqrt(2.0 * LIFT / GRAVITY), abs=0.003)
    # Its joints are slack: it collapses, and the floor carries it.
    assert 0.03 < state.q[2] + com_height(romeo, state) < FELL * base[2]


def com_height(robot, state):
    """Height of the pelvis's centre of mass above its frame, m."""
    return (pin.Quaternion(state.q[3:7]).matrix() @ robot.model.inertias[1].lever)[2]


@pytest.mark.parametrize(("part", "falls"), [(0.7, False), (1.7, True)])
@pytest.mark.parametrize("direction", [(1.0, 0.0), (-1.0, 0.0), (0.0, 1.0)])
def test_a_strong_push_topples_and_a_weak_one_does_not(romeo, standing, momentum, direction, part, falls):
    """The linear inverted pendulum says which is which: a push that gives the COG the velocity v moves the
    capture point by v √(h / g), and the robot, which does not step, falls when that leaves its soles."""
    with open_world() as world:
        robot = standing(world, romeo)
        for _ in range(100):
            robot.step()
        _, cog = momentum(romeo, robot.state)
        corners = [
            robot.stance.soles[side].act(corner)[:2]
            for side in ("left", "right")
            for corner in romeo.soles[f"{side}_foot"]
        ]
        reach = (np.array(corners) @ direction).max() - cog[:2] @ direction
        limit = pin.computeTotalMass(romeo.model) * reach * np.sqrt(GRAVITY / cog[2])
        force = part * limit / 0.1 * np.array([*direction, 0.0])
        for _ in range(100):
            robot.step(force, cog)
        for _ in range(1500):
            robot.step()
        height = robot.state.q[2] / robot.stance.base[2]
        tilt = np.arccos(pin.Quaternion(robot.state.q[3:7]).matrix()[2, 2])
    assert (height < FELL) == falls
    if not falls:
        assert height > 0.98
        assert tilt < 0.05


def test_a_robot_in_free_space_keeps_momentum_and_spin(romeo, weightless, random_state, set_state, momentum):
    """Bullet's damping of 0.04 would take 4 % in a second. Motors only act between links."""
    q, v = random_state(2, speed=0.0)
    v[:6] = [0.5, -0.2, 0.3, 1.5, -2.0, 1.0]
    with open_world() as world:
        bullet.setGravity(0, 0, 0, physicsClientId=world.client)
        body = world.add_robot(weightless(romeo), q[:7], q[7:])
        set_state(body, q, v)
        controller, state = JointController(body), empty_state(body.robot)
        body.read_state(state)
        before, start = momentum(romeo, state)
        still = np.zeros(len(body.joints))
        for _ in range(1000):
            body.read_state(state)
            controller.step(state, controller.demand(q[7:], still, still))
            world.step()
        body.read_state(state)
        after, end = momentum(romeo, state)
    mass = pin.computeTotalMass(romeo.model)
    np.testing.assert_allclose(after[:3], before[:3], atol=5e-4 * np.linalg.norm(before[:3]))
    np.testing.assert_allclose(after[3:], before[3:], atol=2e-3 * np.linalg.norm(before[3:]))
    np.testing.assert_allclose(end - start, before[:3] / mass, atol=1e-3)


def test_only_the_listed_pairs_of_links_collide(romeo):
    """In many postures links overlap; a listed pair then has contacts, another never."""
    rng = np.random.default_rng(0)
    low, high = romeo.model.lowerPositionLimit[7:], romeo.model.upperPositionLimit[7:]
    listed = {frozenset(pair) for pair in romeo.self_collision_pairs}
    found = set()
    with open_world() as world:
        base = np.array([0.0, 0.0, 4.0, 0.0, 0.0, 0.0, 1.0])
        body = world.add_robot(romeo, base, romeo.postures["standing"])
        names = {link: name for name, link in body.links.items()}

        def pairs(points):
            return {frozenset((names[p[3]], names[p[4]])) for p in points if p[8] < -0.002 and p[3] != p[4]}

        for _ in range(200):
            body.place(base, rng.uniform(low, high))
            bullet.performCollisionDetection(physicsClientId=world.client)
            both = body.handle, body.handle
            touching = pairs(bullet.getContactPoints(*both, physicsClientId=world.client))
            overlapping = pairs(bullet.getClosestPoints(*both, 0.0, physicsClientId=world.client))
            assert touching == overlapping & listed
            found |= overlapping
    # Otherwise the test says nothing.
    assert len(found & listed) > 10
    assert len(found - listed) > 3


def test_a_robot_is_placed_at_rest_where_it_is_told(romeo, random_state, set_state):
    q, v = random_state(3)
    target, _ = random_state(4)
    with open_world() as world:
        body = world.add_robot(romeo, q[:7], q[7:])
        set_state(body, q, v)
        world.step()
        body.place(target[:7], target[7:])
        state = empty_state(body.robot)
        body.read_state(state)
    np.testing.assert_allclose(state.q[:3], target[:3], atol=1e-6)
    np.testing.assert_allclose(state.q[3:7] * np.sign(state.q[6] * target[6]), target[3:7], atol=1e-6)
    np.testing.assert_allclose(state.q[7:], target[7:], atol=1e-12)
    assert not state.v.any()


def test_an_impossible_inertia_is_the_same_for_bullet(tmp_path):
    """Bullet makes a point of a link whose largest moment exceeds the sum of the others."""
    (tmp_path / "odd.urdf").write_text(
        """<robot name="odd"><link name="base"/><link name="arm"><inertial>
        <origin xyz="0.2 0.1 0" rpy="0.1 0.2 0.3"/><mass value="1"/>
        <inertia ixx="0.1" iyy="0.1" izz="0.3" ixy="0.02" ixz="0.01" iyz="0"/></inertial></link>
        <joint name="hinge" type="revolute"><parent link="base"/><child link="arm"/><axis xyz="0.6 0 0.8"/>
        <limit lower="-3" upper="3" effort="9" velocity="9"/></joint></robot>"""
    )
    (tmp_path / "robot.yaml").write_text(
        "name: odd\nurdf: odd.urdf\nbase: fixed\ngroups: {}\ngains: {hinge: [0, 0]}\n"
    )
    robot = load_robot(tmp_path)
    tensor = np.array([[0.1, 0.02, 0.01], [0.02, 0.1, 0.0], [0.01, 0.0, 0.3]])
    turn = pin.rpy.rpyToMatrix(0.1, 0.2, 0.3)
    axis, lever = np.array([0.6, 0.0, 0.8]), np.array([0.2, 0.1, 0.0])
    expected = axis @ turn @ tensor @ turn.T @ axis + np.sum(np.cross(axis, lever) ** 2)
    with open_world() as world:
        body = world.add_robot(robot, np.array([0, 0, 0, 0, 0, 0, 1.0]), np.zeros(1))
        bullet.setGravity(0, 0, 0, physicsClientId=world.client)
        hinge = {"jointIndex": body.joints[0], "controlMode": bullet.TORQUE_CONTROL, "force": 2.0}
        bullet.setJointMotorControl2(body.handle, physicsClientId=world.client, **hinge)
        world.step()
        speed = bullet.getJointState(body.handle, body.joints[0], physicsClientId=world.client)[1]
        theirs = 2.0 * world.timestep / speed
    ours = pin.crba(robot.model, robot.model.createData(), np.array([0.3]))[0, 0]
    assert ours == pytest.approx(expected, rel=1e-9)
    assert theirs == pytest.approx(expected, rel=1e-6)


def test_the_floor_that_a_window_shows_carries_nothing(romeo):
    """Without a window the same calls change no picture; a robot falls onto the floor's body as before."""
    start, ended = np.array([0.0, 0.0, 0.9, 0.0, 0.0, 0.0, 1.0]), []
    for shown in (False, True):
        with open_world() as world:
            body = world.add_robot(romeo, start, np.zeros(len(romeo.joint_names)))
            if shown:
                camera = Camera((0.0, 0.0, 0.8), 2.0, 45.0, -15.0, 45.0, 160, 120, 30)
                show_simulation(world, body, camera)
            for _ in range(150):
                world.step()
            state = empty_state(romeo)
            body.read_state(state)
            ended.append(state)
    np.testing.assert_array_equal(ended[0].q, ended[1].q)
