import xml.etree.ElementTree as ET
from dataclasses import replace

import numpy as np
import pinocchio as pin
import pytest
import shapely

from simbench.sim.bullet import open_world
from simbench.sim.bullet.bullet_bodies import bullet
from simbench.sim.engine import GRAVITY
from simbench.sim.sensing import ContactSensor, count_foot_points

DT = 1e-3
WEIGHT = np.array([0.0, 0.0, -GRAVITY])


def wrench_at(force, point):
    """A force and its moment about the world origin, (6,)."""
    return np.concatenate([force, np.cross(point, force)])


def zero_moment_point(wrench):
    return np.array([-wrench[4], wrench[3]]) / wrench[2]


def settle(robot, time=0.5, **push):
    for _ in range(round(time / DT)):
        robot.step(**push)


def test_feet_carry_the_weight_and_the_zmp_is_below_the_cog(romeo, standing, momentum):
    mass = pin.computeTotalMass(romeo.model)
    with open_world(DT) as world:
        robot = standing(world, romeo)
        settle(robot)
        for _ in range(50):
            before, _ = momentum(romeo, robot.state)
            robot.step()
            after, cog = momentum(romeo, robot.state)
            ground = robot.wrenches.sum(axis=0)
            assert ground[2] == pytest.approx(mass * GRAVITY, rel=1e-3)
            # Both feet carry a half, on its own side.
            np.testing.assert_allclose(robot.wrenches[:, 2], 0.5 * mass * GRAVITY, rtol=0.01)
            assert robot.wrenches[0, 3] > 10.0 > -10.0 > robot.wrenches[1, 3]
            np.testing.assert_allclose(ground[:2], 0.0, atol=0.5)
            zmp = zero_moment_point(ground)
            np.testing.assert_allclose(zmp, cog[:2], atol=5e-4)
            # Euler about the world origin, without any contact.
            inertial = (after - before) / DT - wrench_at(mass * WEIGHT, cog)
            np.testing.assert_allclose(zmp, zero_moment_point(inertial), atol=1e-4)
            assert not robot.others.any()


def test_a_known_load_shifts_the_zmp_by_the_law_of_the_lever(romeo, standing, momentum):
    mass = pin.computeTotalMass(romeo.model)
    load, place = np.array([0.0, 0.0, -80.0]), np.array([0.09, 0.05, 0.9])
    with open_world(DT) as world:
        robot = standing(world, romeo)
        for step in range(2000):
            # Slowly, or it sways.
            share = 0.5 - 0.5 * np.cos(np.pi * min(1.0, step / 1800))
            robot.step(push=share * load, point=place)
        _, cog = momentum(romeo, robot.state)
        ground = robot.wrenches.sum(axis=0)
    expected = (mass * GRAVITY * cog[:2] + 80.0 * place[:2]) / (mass * GRAVITY + 80.0)
    assert ground[2] == pytest.approx(mass * GRAVITY + 80.0, rel=1e-3)
    np.testing.assert_allclose(zero_moment_point(ground), expected, atol=5e-4)
    assert np.linalg.norm(expected - cog[:2]) > 0.005


@pytest.mark.parametrize("push", [(20.0, -8.0, 0.0), (-15.0, 0.0, 0.0), (0.0, 25.0, 10.0)])
def test_ground_reaction_balances_a_push_by_newton_and_euler(romeo, standing, momentum, push):
    """Weight, push and the measured ground reaction make the momentum, linear and angular, that is seen.

    The horizontal parts say that friction has the right sign and side.
    """
    mass = pin.computeTotalMass(romeo.model)
    friction = []
    with open_world(DT) as world:
        robot = standing(world, romeo)
        settle(robot)
        before, cog = momentum(romeo, robot.state)
        for _ in range(300):
            point, _ = robot.step(push=push)
            after, moved = momentum(romeo, robot.state)
            outside = wrench_at(np.array(push), point) + wrench_at(mass * WEIGHT, cog)
            ground = robot.wrenches.sum(axis=0)
            np.testing.assert_allclose(ground, (after - before) / DT - outside, atol=0.01)
            friction.append(ground[:2])
            before, cog = after, moved
        settle(robot, 1.0, push=push)
    # Later the robot stands still again, against the push.
    np.testing.assert_allclose(robot.wrenches.sum(axis=0)[:2], [-push[0], -push[1]], atol=1.5)
    assert np.abs(friction).max() > 10.0


def add_ball(world, place, velocity, radius=0.05, mass=0.5):
    client = world.client
    shape = bullet.createCollisionShape(bullet.GEOM_SPHERE, radius=radius, physicsClientId=client)
    ball = bullet.createMultiBody(mass, shape, basePosition=place, physicsClientId=client)
    bullet.changeDynamics(
        ball, -1, lateralFriction=1.0, linearDamping=0, angularDamping=0, physicsClientId=client
    )
    bullet.resetBaseVelocity(ball, velocity, [0.0, 8.0, 3.0], physicsClientId=client)
    return ball


def ball_momentum(world, ball):
    """Linear momentum and angular momentum about the world origin, (6,)."""
    place, _ = bullet.getBasePositionAndOrientation(ball, physicsClientId=world.client)
    linear, spin = bullet.getBaseVelocity(ball, physicsClientId=world.client)
    mass, _, inertia = bullet.getDynamicsInfo(ball, -1, physicsClientId=world.client)[:3]
    own = mass * np.array(linear)
    return np.concatenate([own, np.cross(place, own) + inertia[0] * np.array(spin)]), np.array(place)


@pytest.mark.parametrize("first", ["ball", "robot"])
def test_what_a_spinning_ball_gets_the_robot_gets_opposite(romeo, standing, first):
    """A ball thrown at the chest, created before or after the robot: its own momentum tells the force."""
    where, speed = [0.45, 0.02, 1.14], [-2.0, 0.3, 0.6]
    with open_world(DT) as world:
        if first == "ball":
            ball = add_ball(world, where, speed)
            robot = standing(world, romeo, {ball: ("ball", {})})
        else:
            robot = standing(world, romeo)
            ball = add_ball(world, where, speed)
            robot.sensor = ContactSensor(robot.body, {world.floor: ("floor", {}), ball: ("ball", {})})
        assert (ball < robot.body.handle) == (first == "ball")
        before, place = ball_momentum(world, ball)
        peaks, sideways, hits = [], 0.0, []
        for step in range(1, 301):
            robot.step()
            after, moved = ball_momentum(world, ball)
            felt = wrench_at(0.5 * WEIGHT, place) - (after - before) / DT
            np.testing.assert_allclose(robot.others, felt, atol=2e-3 * max(1.0, np.abs(felt).max()))
            if robot.others.any():
                hits.append(step * DT)
                peaks.append(np.linalg.norm(felt[:3]))
                sideways = max(sideways, np.abs(felt[1:3]).max())
            before, place = after, moved
    # 0.5 kg at 2 m/s stopped within a step or two.
    assert max(peaks) > 300.0
    assert sideways > 30.0
    (event, *_) = (event for event in robot.sensor.events if event.second == "ball")
    assert event.first == "romeo/torso"
    assert event.start == pytest.approx(hits[0], abs=1e-9)
    # The event counts normal forces alone.
    assert 0.7 * max(peaks) < event.peak_force <= max(peaks) + 1e-6


def test_the_floor_counts_as_other_where_it_touches_no_foot(romeo):
    """ROMEO on its back: the floor carries it, but not by the feet."""
    joints = romeo.postures["standing"]
    lying = np.concatenate([[0.0, 0.0, 0.16], pin.Quaternion(pin.utils.rotate("y", -np.pi / 2)).coeffs()])
    with open_world(DT) as world:
        body = world.add_robot(romeo, lying, joints)
        sensor = ContactSensor(body, {world.floor: ("floor", {})})
        feet, others = sensor.foot_wrench, sensor.other_wrench
        # What was there before is overwritten.
        feet[:], others[:], sensor.foot_points[:] = 1.0, 1.0, 1.0
        seen = []
        for step in range(400):
            world.step()
            sensor.sample(step * DT, world.read_contacts())
            seen.append(others[2] + feet[:, 2].sum())
    names = {event.first for event in sensor.events if event.second == "floor"}
    assert "romeo/torso" in names
    assert others[2] > 0.5 * pin.computeTotalMass(romeo.model) * GRAVITY
    # Over the fall, the floor's impulse stops what gravity has given: on average it carries the weight.
    assert np.mean(seen) == pytest.approx(pin.computeTotalMass(romeo.model) * GRAVITY, rel=0.15)


def test_landing_is_an_event_of_each_foot_with_start_end_and_peak(romeo, standing):
    """Dropped from 20 mm, standing, lifted again: times of the closed form, forces of Bullet's points."""
    lift, period = 0.02, 5
    with open_world(DT) as world:
        robot = standing(world, romeo)
        stance = robot.stance
        robot.body.place(stance.base + lift * np.eye(7)[2], stance.joints)
        sensor = ContactSensor(robot.body, {world.floor: ("floor", {})})
        wrenches, points = sensor.foot_wrench, sensor.foot_points
        peaks = np.zeros(2)
        feet = [robot.body.links["l_ankle"], robot.body.links["r_ankle"]]
        for step in range(1, 301):
            robot.step()
            if step % period == 0:
                sensor.sample(step * DT, world.read_contacts())
                for side, link in enumerate(feet):
                    found = bullet.getContactPoints(
                        robot.body.handle, world.floor, link, physicsClientId=world.client
                    )
                    peaks[side] = max(peaks[side], sum(point[9] for point in found))
                if not any(wrenches[:, 2]):
                    assert np.isnan(points).all()
        lasting = [(event.start, event.end) for event in sensor.events]
        robot.body.place(stance.base + 0.5 * np.eye(7)[2], stance.joints)
        world.step()
        sensor.sample(0.301, world.read_contacts())
        assert not wrenches.any()
        assert np.isnan(points).all()
    first = {event.first: event for event in reversed(sensor.events)}
    assert set(first) == {"romeo/l_ankle", "romeo/r_ankle"}
    landing = np.sqrt(2.0 * lift / GRAVITY)
    for event in first.values():
        assert event.second == "floor"
        assert landing - DT <= event.start <= landing + period * DT + DT
    assert max(end for _, end in lasting) == pytest.approx(0.3)
    # Nothing is seen in the air: no event was extended or begun.
    assert [(event.start, event.end) for event in sensor.events] == lasting
    highest = [
        max(event.peak_force for event in sensor.events if event.first == f"romeo/{name}")
        for name in ("l_ankle", "r_ankle")
    ]
    np.testing.assert_allclose(highest, peaks, rtol=1e-9)
    assert min(highest) > 1.5 * 0.5 * pin.computeTotalMass(romeo.model) * GRAVITY


def test_a_contact_that_comes_back_is_a_new_event(romeo, standing):
    with open_world(DT) as world:
        robot = standing(world, romeo)
        sensor = ContactSensor(robot.body, {world.floor: ("floor", {})})
        for sample, lift in enumerate([0.0, 0.0, 0.3, 0.3, 0.0, 0.0, 0.0]):
            robot.body.place(robot.stance.base + lift * np.eye(7)[2], robot.stance.joints)
            for _ in range(5):
                robot.step()
            sensor.sample(0.1 * sample, world.read_contacts())
    for name in ("romeo/l_ankle", "romeo/r_ankle"):
        times = [(event.start, event.end) for event in sensor.events if event.first == name]
        np.testing.assert_allclose(times, [(0.0, 0.1), (0.4, 0.6)])


def test_touching_points_are_the_corners_of_the_soles(romeo, standing):
    with open_world(DT) as world:
        robot = standing(world, romeo)
        settle(robot)
        for row, side in enumerate(("left", "right")):
            corners = [robot.stance.soles[side].act(corner)[:2] for corner in romeo.soles[f"{side}_foot"]]
            for corner in corners:
                distance = np.linalg.norm(robot.points[row] - corner, axis=1)
                assert distance.min() < 5e-4, (side, corner)


def test_self_contact_is_an_event_and_no_outer_force(romeo):
    """Hands pressed against each other in the air: both links are named, nothing comes from outside."""
    names = romeo.joint_names
    joints = romeo.postures["basic"].copy()
    for name, value in {"LShoulderYaw": -0.3, "RShoulderYaw": 0.3}.items():
        joints[names.index(name)] = value
    with open_world(DT) as world:
        bullet.setGravity(0, 0, 0, physicsClientId=world.client)
        body = world.add_robot(romeo, np.array([0, 0, 3.0, 0, 0, 0, 1]), joints)
        sensor = ContactSensor(body, {world.floor: ("floor", {})})
        others = sensor.other_wrench
        for turn in np.linspace(0.0, 0.3, 61):
            joints[names.index("LShoulderYaw")] = -0.3 - turn
            joints[names.index("RShoulderYaw")] = 0.3 + turn
            body.place(np.array([0, 0, 3.0, 0, 0, 0, 1]), joints)
            world.step()
            sensor.sample(turn, world.read_contacts())
            assert not others.any()
            if sensor.events:
                break
    event = sensor.events[0]
    listed = {frozenset(pair) for pair in romeo.self_collision_pairs}
    pair = frozenset(name.removeprefix("romeo/") for name in (event.first, event.second))
    assert event.first.startswith("romeo/")
    assert event.second.startswith("romeo/")
    assert pair in listed
    assert event.peak_force > 0.0


def test_a_foot_of_several_shapes_stands_on_all_of_them(romeo, standing):
    """Four small boxes in the corners of each foot, as of force sensors, support what one large box does."""
    root = ET.fromstring(romeo.urdf_text)
    for name in ("l_ankle", "r_ankle"):
        foot = next(link for link in root.findall("link") if link.get("name") == name)
        [whole] = foot.findall("collision")
        x, y, z = map(float, whole.find("origin").get("xyz").split())
        length, width, height = map(float, whole.find("geometry/box").get("size").split())
        foot.remove(whole)
        for forward in (-1, 1):
            for left in (-1, 1):
                shape = ET.SubElement(foot, "collision")
                at = x + forward * (length / 2 - 0.01), y + left * (width / 2 - 0.01), z
                ET.SubElement(shape, "origin", xyz=" ".join(map(str, at)))
                ET.SubElement(ET.SubElement(shape, "geometry"), "box", size=f"0.02 0.02 {height}")
    boxes = replace(romeo, urdf_text=ET.tostring(root, encoding="unicode"))
    assert (count_foot_points(romeo), count_foot_points(boxes)) == (4, 16)
    hulls = []
    with open_world(DT) as world:
        robot = standing(world, boxes)
        settle(robot)
        for foot in robot.points:
            points = foot[~np.isnan(foot[:, 0])]
            hulls.append(shapely.convex_hull(shapely.multipoints(points)).area)
    assert hulls == pytest.approx([length * width] * 2, rel=0.05)
