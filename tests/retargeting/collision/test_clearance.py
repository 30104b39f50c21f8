"""Distances between the robot's own links, their Jacobians, paths that go round them, and legs that move."""

import os
import subprocess
import sys
from itertools import product

import coal
import numpy as np
import pinocchio as pin
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from scipy.optimize import brentq

from simbench.balance.leg_ik import leg_columns, stand
from simbench.retargeting.collision.avoidance import avoid_collisions, clear_path, is_clear
from simbench.retargeting.collision.clearance import (
    AT_ORIGIN,
    BodyShapes,
    PairWorkspace,
    add_self_pairs,
    body_shapes,
    clearance_rows,
    convex_shapes,
    link_of,
    pair_distance,
    possible_pairs,
    release_legs,
)
from simbench.robot.robot import load_robot
from simbench.robot.robot_limbs import upper_body

RADIUS = 0.05
ARM = 0.4
UNIT = st.floats(-1.0, 1.0)
WIDE = (-9.0, 9.0)
"""Limits that no path comes to, rad."""


@pytest.fixture(scope="module")
def romeo_shapes(romeo):
    return body_shapes(romeo, romeo.postures["standing"])


@pytest.fixture(scope="module")
def two_arms():
    """Two balls of 5 cm on arms of 0.4 m that turn about vertical axes 0.5 m apart, on a floating base."""
    model = pin.Model()
    root = model.addJoint(0, pin.JointModelFreeFlyer(), pin.SE3.Identity(), "root_joint")
    geometry = pin.GeometryModel()
    for name, x in (("a", 0.0), ("b", 0.5)):
        place = pin.SE3(np.eye(3), np.array([x, 0.0, 0.0]))
        joint = model.addJoint(root, pin.JointModelRZ(), place, name)
        tip = pin.SE3(np.eye(3), np.array([0.0, ARM, 0.0]))
        geometry.addGeometryObject(pin.GeometryObject(f"{name}_0", joint, joint, tip, coal.Sphere(RADIUS)))
    geometry.addCollisionPair(pin.CollisionPair(0, 1))
    return BodyShapes(model, geometry)


def gap(joints):
    """Distance of the two balls in closed form."""
    (a, b), tips = joints, []
    for angle, x in ((a, 0.0), (b, 0.5)):
        tips.append(np.array([x - ARM * np.sin(angle), ARM * np.cos(angle)]))
    return np.linalg.norm(tips[0] - tips[1]) - 2 * RADIUS


def rows(shapes, joints, margin):
    return clearance_rows(PairWorkspace(shapes.model, shapes.geometry), np.asarray(joints), margin)


@settings(max_examples=50, deadline=None)
@given(joints=st.lists(st.floats(-3.0, 3.0), min_size=2, max_size=2))
def test_two_balls_in_closed_form(two_arms, joints):
    joints = np.array(joints)
    distance = gap(joints)
    assume(distance > -1.9 * RADIUS)
    jacobian, missing = rows(two_arms, joints, 2.0)
    assert missing == pytest.approx([2.0 - distance], abs=1e-6)
    h = 1e-6
    slope = [(gap(joints + h * unit) - gap(joints - h * unit)) / (2 * h) for unit in np.eye(2)]
    np.testing.assert_allclose(jacobian, [slope], atol=1e-4)


def test_pairs_beyond_the_margin_give_no_row(two_arms):
    joints = np.array([0.3, -0.3])
    assert gap(joints) == pytest.approx(0.5 + 2 * ARM * np.sin(0.3) - 2 * RADIUS)
    jacobian, missing = rows(two_arms, joints, gap(joints) - 1e-6)
    assert jacobian.shape == (0, 2)
    assert missing.shape == (0,)
    assert rows(two_arms, joints, gap(joints) + 1e-3)[0].shape == (1, 2)


def pair_distances(shapes, joints):
    """Distance of every pair by itself, in the world frame, from placements by hand."""
    model, data = shapes.model, shapes.model.createData()
    pin.forwardKinematics(model, data, np.r_[pin.neutral(model)[:7], joints])
    distances = []
    for pair in shapes.geometry.collisionPairs:
        placed = []
        for index in (pair.first, pair.second):
            shape = shapes.geometry.geometryObjects[index]
            pose = data.oMi[shape.parentJoint] * shape.placement
            placed += [shape.geometry, coal.Transform3s(pose.rotation, pose.translation)]
        result = coal.DistanceResult()
        distances.append(coal.distance(*placed, coal.DistanceRequest(), result))
    return np.array(distances)


@settings(max_examples=30, deadline=None)
@given(shares=st.lists(UNIT, min_size=15, max_size=15))
def test_rows_are_the_slopes_of_the_distances(romeo_shapes, shares):
    model = romeo_shapes.model
    lower, upper = model.lowerPositionLimit[7:], model.upperPositionLimit[7:]
    joints = 0.5 * (lower + upper) + 0.5 * np.array(shares) * (upper - lower)
    margin = 0.15
    distance = pair_distances(romeo_shapes, joints)
    near = distance < margin
    jacobian, missing = rows(romeo_shapes, joints, margin)
    assert jacobian.shape == (near.sum(), 15)
    apart = distance[near] > 1e-3
    np.testing.assert_allclose(margin - missing[apart], distance[near][apart], atol=1e-6)
    h = 1e-4
    after, before = (
        np.array([pair_distances(romeo_shapes, joints + sign * h * unit) for unit in np.eye(15)])
        for sign in (1, -1)
    )
    slope = ((after - before) / (2 * h))[:, near].T[apart]
    # Where the nearest points jump from one edge to another the distance has a kink: no slope to compare.
    bend = np.abs(after + before - 2 * distance)[:, near].T[apart] / h
    smooth = (bend < 1e-3).all(axis=1)
    np.testing.assert_allclose(jacobian[apart][smooth], slope[smooth], atol=2e-3)


def test_pairs_are_the_robots_own(romeo, romeo_shapes):
    objects = romeo_shapes.geometry.geometryObjects
    wanted = {frozenset(pair) for pair in romeo.self_collision_pairs}
    found = {
        frozenset(objects[index].name.rpartition("_")[0] for index in (pair.first, pair.second))
        for pair in romeo_shapes.geometry.collisionPairs
    }
    assert found <= wanted
    assert frozenset(("l_wrist", "r_wrist")) in found
    assert frozenset(("l_wrist", "LHipPitchLink")) in found
    # Between links that no joint of trunk and arms moves against each other there is nothing to do.
    assert frozenset(("LKneePitchLink", "RKneePitchLink")) not in found


def test_standing_is_clear_and_legs_are_where_the_posture_puts_them(romeo, romeo_shapes):
    columns = [romeo.joint_names.index(name) for name in romeo_shapes.model.names[2:]]
    joints = romeo.postures["standing"][columns]
    assert pair_distances(romeo_shapes, joints).min() > 0.03
    data = romeo.model.createData()
    pin.forwardKinematics(romeo.model, data, np.r_[pin.neutral(romeo.model)[:7], romeo.postures["standing"]])
    hip = data.oMi[romeo.model.getJointId("LHipPitch")]
    # The thigh's shape in the reduced model, and in the whole robot.
    small = romeo_shapes.model.createData()
    pin.forwardKinematics(romeo_shapes.model, small, np.r_[pin.neutral(romeo_shapes.model)[:7], joints])
    text = romeo.urdf.read_text().replace('filename="', f'filename="{romeo.urdf.parent}/')
    whole = pin.buildGeomFromUrdfString(romeo.model, text, pin.GeometryType.COLLISION)
    name = next(s.name for s in whole.geometryObjects if s.name.startswith("LHipPitchLink_"))
    shape = romeo_shapes.geometry.geometryObjects[romeo_shapes.geometry.getGeometryId(name)]
    expected = hip * whole.geometryObjects[whole.getGeometryId(name)].placement
    np.testing.assert_allclose(
        (small.oMi[shape.parentJoint] * shape.placement).homogeneous, expected.homogeneous, atol=1e-9
    )


def test_a_clear_path_stays_as_it_is(two_arms):
    s = np.linspace(0, 1, 50)[:, None]
    path = (1 - s) * np.array([1.0, 0.5]) + s * np.array([1.5, -1.5])
    assert min(gap(at) for at in path) > 0.1
    np.testing.assert_allclose(clear_path(two_arms, path, 0.05, WIDE), path, atol=1e-12)


def test_a_path_is_clear_down_to_its_least_gap_or_that_of_its_nearer_end(two_arms):
    s = np.linspace(0, 1, 101)[:, None]
    path = (1 - s) * np.array([-0.65, -1.5]) + s * np.array([-0.65, 0.1])
    least = min(gap(at) for at in path)
    assert gap(path[-1]) == pytest.approx(least)
    assert is_clear(two_arms, path, least + 0.01)
    further = np.vstack([path, path[-2::-1]])
    assert is_clear(two_arms, further, least - 0.001)
    assert not is_clear(two_arms, further, least + 0.001)


def test_a_collision_is_gone_round_with_the_ends_kept(two_arms):
    s = np.linspace(0, 1, 80)[:, None]
    # The right ball sweeps over the left one's place.
    path = (1 - s) * np.array([-0.65, -1.5]) + s * np.array([-0.65, 2.2])
    before = np.array([gap(at) for at in path])
    cleared = clear_path(two_arms, path, 0.03, WIDE)
    after = np.array([gap(at) for at in cleared])
    assert before.min() < -0.08
    assert after.min() > 0.029
    np.testing.assert_allclose(cleared[[0, -1]], path[[0, -1]], atol=1e-6)


def test_a_way_round_keeps_the_limits_instead_of_being_cut_off_by_them(two_arms):
    s = np.linspace(0, 1, 80)[:, None]
    path = (1 - s) * np.array([-0.65, -1.5]) + s * np.array([-0.65, 2.2])
    free = clear_path(two_arms, path, 0.03, WIDE)
    first = free[:, 0] - path[:, 0]
    bound = path[0, 0] + 0.5 * np.array([first.min(), first.max()])
    limits = (np.array([bound[0], -4.0]), np.array([bound[1], 4.0]))
    cut = min(gap(at) for at in np.clip(free, *limits))
    cleared = clear_path(two_arms, path, 0.03, limits)
    assert (cleared >= limits[0] - 1e-9).all()
    assert (cleared <= limits[1] + 1e-9).all()
    # Both pass the same narrowest place, of which their samples see the lowest point or one beside it.
    assert min(gap(at) for at in cleared) >= cut - 1e-4


def test_an_end_inside_the_margin_is_left_gradually(two_arms):
    share = np.linspace(0, 1, 201)[:, None]
    # The right ball comes from afar to rest 1 cm from the left one.
    rest = np.array([-0.65, 0.0])
    rest[1] = brentq(lambda angle: gap(np.array([rest[0], angle])) - 0.01, -1.5, 0.7)
    path = rest + (1 - share) ** 3 * np.array([0.0, -1.2])
    cleared = clear_path(two_arms, path, 0.03, WIDE)
    np.testing.assert_array_equal(cleared[[0, -1]], path[[0, -1]])
    after = np.array([gap(at) for at in cleared])
    assert after[:150].min() > 0.029
    # A sample further nothing has happened yet: 2 cm at once would be 0.05 rad.
    assert np.abs(cleared[-2] - path[-1]).max() < 0.001


def test_a_bend_does_not_depend_on_the_number_of_samples(two_arms):
    bends = []
    for samples in (81, 321):
        share = np.linspace(0, 1, samples)[:, None]
        path = np.array([-0.65, -1.5]) + share * np.array([0.0, 3.7])
        bends.append((clear_path(two_arms, path, 0.03, WIDE) - path)[:: (samples - 1) // 80])
    assert np.abs(bends[0]).max() > 0.2
    np.testing.assert_allclose(bends[0], bends[1], atol=0.03)


def least_distance(shapes, joints):
    data, pairs = shapes.model.createData(), shapes.geometry.createData()
    pin.computeDistances(
        shapes.model, data, shapes.geometry, pairs, np.r_[pin.neutral(shapes.model)[:7], joints]
    )
    return min(result.min_distance for result in pairs.distanceResults)


@pytest.mark.parametrize(("least", "most", "count"), [(-0.06, 0.0, 4), (-0.12, -0.08, 1)])
def test_romeos_arms_are_led_round_its_body(romeo_shapes, least, most, count):
    """Straight lines between clear postures that pass through the body."""
    model = romeo_shapes.model
    lower, upper = model.lowerPositionLimit[7:], model.upperPositionLimit[7:]
    rng = np.random.default_rng(0)
    share = np.linspace(0, 1, 60)[:, None]
    found = 0
    while found < count:
        start, end = rng.uniform(lower, upper, (2, 15))
        if min(least_distance(romeo_shapes, joints) for joints in (start, end)) < 0.05:
            continue
        path = (1 - share) * start + share * end
        if not least < min(least_distance(romeo_shapes, joints) for joints in path) < most:
            continue
        found += 1
        cleared = clear_path(romeo_shapes, path, 0.03, WIDE)
        assert min(least_distance(romeo_shapes, joints) for joints in cleared) > 0.02
        np.testing.assert_allclose(cleared[[0, -1]], path[[0, -1]], atol=1e-6)


@settings(max_examples=30, deadline=None)
@given(shares=st.lists(UNIT, min_size=15, max_size=15), margin=st.floats(-0.05, 0.2))
def test_no_near_pair_is_left_out_by_its_spheres(romeo_shapes, shares, margin):
    model = romeo_shapes.model
    lower, upper = model.lowerPositionLimit[7:], model.upperPositionLimit[7:]
    joints = 0.5 * (lower + upper) + 0.5 * np.array(shares) * (upper - lower)
    workspace = PairWorkspace(model, romeo_shapes.geometry)
    q = np.r_[pin.neutral(model)[:7], joints]
    possible = possible_pairs(workspace, q, margin)
    near = np.flatnonzero(pair_distances(romeo_shapes, joints) < margin)
    assert set(near) <= set(possible)
    assert len(possible) < len(romeo_shapes.geometry.collisionPairs)


def test_boxes_have_their_own_size_whatever_a_process_looks_at_first():
    """Two boxes of 2 m, their middles 3 m apart along x: the first distance of a process."""
    script = (
        "import simbench.retargeting.collision.clearance, coal, numpy; box = coal.Box(2.0, 2.0, 2.0);"
        "place = [coal.Transform3s(numpy.eye(3), numpy.array([x, 0.0, 0.0])) for x in (0.0, 3.0)];"
        "request, result = coal.DistanceRequest(), coal.DistanceResult();"
        "print(coal.distance(box, place[0], box, place[1], request, result) - 1.0)"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert abs(float(done.stdout)) < 1e-14


CLOSED = """
import numpy as np
from simbench.retargeting.collision.clearance import body_shapes
from simbench.robot.robot import load_robot
robot = load_robot("romeo")
shapes = body_shapes(robot, np.asarray(robot.postures["standing"]), ("left", "right"))
print(*(shape.name for shape in shapes.geometry.geometryObjects))
"""


@pytest.mark.parametrize("fill", ["", "165"])
def test_no_shape_is_read_from_memory_that_was_freed(fill):
    """Freed memory is overwritten at once, by the C library where it can."""
    environment = {**os.environ, "MALLOC_PERTURB_": fill or "0"}
    done = subprocess.run([sys.executable, "-c", CLOSED], env=environment, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    names = done.stdout.split()
    assert len(set(names)) == len(names)
    assert [name for name in names if "_closed" in name] == ["l_fingers_closed0", "r_fingers_closed0"]


def test_the_deficits_change_no_faster_than_their_derivative_says(romeo_shapes):
    """Arms across the body, some links in touch: an inexact normal would jump with the last digit."""
    workspace, rng = PairWorkspace(romeo_shapes.model, romeo_shapes.geometry), np.random.default_rng(2)
    lower, upper = romeo_shapes.model.lowerPositionLimit[7:], romeo_shapes.model.upperPositionLimit[7:]

    def slope(joints):
        jacobian, missing = clearance_rows(workspace, joints, 0.03)
        return jacobian.T @ missing

    changes = []
    for joints in rng.uniform(lower, upper, (60, len(lower))):
        changes.append(np.abs(slope(joints + rng.choice([-1e-10, 1e-10], len(joints))) - slope(joints)).max())
    assert max(changes) > 0.0
    assert max(changes) < 1e-7


def test_a_depth_is_found_where_the_most_exact_search_gives_up():
    """A hull in a cylinder: in one of 500 places Coal gives up, and reports the least number there is."""
    rng = np.random.default_rng(0)
    points = coal.StdVec_Vec3s()
    points.extend(list(0.05 * rng.normal(size=(40, 3))))
    model, geometry = pin.Model(), pin.GeometryModel()
    parent = 0
    for name, shape in (
        ("hull", coal.Convex.convexHull(points, True, "Qt")),
        ("rod", coal.Cylinder(0.02, 0.1)),
    ):
        parent = model.addJoint(parent, pin.JointModelFreeFlyer(), pin.SE3.Identity(), name)
        geometry.addGeometryObject(pin.GeometryObject(name, parent, parent, pin.SE3.Identity(), shape))
    geometry.addCollisionPair(pin.CollisionPair(0, 1))
    workspace, given_up = PairWorkspace(model, geometry), 0
    for _ in range(3000):
        turn = rng.normal(size=4)
        place = [0.05 * rng.normal(size=3), turn / np.linalg.norm(turn)]
        q = np.concatenate([pin.neutral(model)[:7], *place])
        pin.updateGeometryPlacements(model, workspace.data, geometry, workspace.placed, q)
        distance = pair_distance(workspace, 0)
        assert -1.0 < distance < 1.0
        pin.computeDistance(geometry, workspace.placed, 0)
        given_up += not workspace.results[0].min_distance > -1.0
    assert given_up > 0


@pytest.fixture(scope="module")
def stance(romeo):
    return stand(romeo, (0.0, 0.0), 0.0, "standing")


def motion(romeo, stance, samples=3):
    """Hips that bend more and more, with everything else still."""
    joints = np.tile(stance.joints, (samples, 1))
    columns = [romeo.joint_names.index(f"{side}HipPitch") for side in "LR"]
    joints[:, columns] -= np.linspace(0.0, 0.6, samples)[:, None]
    return np.tile(stance.base, (samples, 1)), joints


@pytest.mark.parametrize("name", ["mahru", "talos"])
def test_distances_of_polyhedra_are_exact_and_do_not_hang_on_the_last_digit(name):
    """No plane separates two bodies by more than their distance, and the plane of the normal by as much."""
    robot = load_robot(name)
    geometry = convex_shapes(robot)
    add_self_pairs(robot, geometry)
    workspace, draw, seen = PairWorkspace(robot.model, geometry), np.random.default_rng(0), 0
    low, high = robot.model.lowerPositionLimit[7:], robot.model.upperPositionLimit[7:]

    def corners(index):
        shape, pose = geometry.geometryObjects[index].geometry, workspace.placed.oMg[index]
        own = (
            np.array([*product(*zip(-shape.halfSide, shape.halfSide, strict=True))])
            if isinstance(shape, coal.Box)
            else np.array([*shape.points()])
        )
        return own @ pose.rotation.T + pose.translation

    for _ in range(30):
        joints = draw.uniform(-0.6, 0.6, len(low)).clip(low, high)
        found = []
        for moved in (1e-12 * draw.standard_normal(len(low)), np.zeros(len(low))):
            q = np.concatenate([AT_ORIGIN, joints + moved])
            found.append(
                {
                    pair: (pair_distance(workspace, pair), workspace.results[pair].normal.copy())
                    for pair in possible_pairs(workspace, q, 0.03)
                }
            )
        for pair in found[0].keys() & found[1].keys():
            distance, normal = found[1][pair]
            assert distance == pytest.approx(found[0][pair][0], abs=1e-10)
            np.testing.assert_allclose(normal, found[0][pair][1], rtol=0.0, atol=1e-7)
            first, second = (corners(int(each[pair])) for each in (workspace.first, workspace.second))
            assert (second @ normal).min() - (first @ normal).max() == pytest.approx(distance, abs=1e-8)
            seen += 1
    assert seen > 300


def test_obstacles_are_where_the_legs_are(romeo, stance):
    base, joints = motion(romeo, stance)
    _, obstacles = release_legs(romeo, body_shapes(romeo, stance.joints), base, joints)
    legs = {column for side in ("left", "right") for column in leg_columns(romeo, side)}
    assert obstacles
    model, data = romeo.model, romeo.model.createData()
    offsets = {link_of(o.name): o.placement for o in convex_shapes(romeo).geometryObjects}
    for obstacle in obstacles:
        frame = model.getFrameId(obstacle.name)
        joint = model.frames[frame].parentJoint
        assert romeo.joint_names.index(model.names[joint]) in legs
        for sample, q in enumerate(np.hstack([base, joints])):
            pin.forwardKinematics(model, data, q)
            expected = data.oMi[joint] * offsets[obstacle.name]
            np.testing.assert_allclose(obstacle.pose[sample], expected.homogeneous, atol=1e-12)


def test_every_pair_of_an_arm_and_a_leg_is_kept_as_that_of_an_arm_and_an_obstacle(romeo, stance):
    base, joints = motion(romeo, stance)
    shapes = body_shapes(romeo, stance.joints)
    released, obstacles = release_legs(romeo, shapes, base, joints)
    links = {link_of(o.name) for o in shapes.geometry.geometryObjects}

    def pairs(geometry):
        names = [link_of(o.name) for o in geometry.geometryObjects]
        return {frozenset((names[p.first], names[p.second])) for p in geometry.collisionPairs}

    kept = pairs(released.geometry)
    with_obstacles = {frozenset((o.name, link)) for o in obstacles for link in links - o.touching}
    assert not kept & with_obstacles
    assert kept | with_obstacles == pairs(shapes.geometry)


def test_a_hand_gives_way_to_a_thigh_that_is_raised(romeo, stance):
    samples = 41
    base, joints = motion(romeo, stance, samples)
    arms = stance.joints[[romeo.joint_names.index(name) for name in upper_body(romeo).names[2:]]]
    path = (np.linspace(0.0, 2.0, samples), np.tile(arms, (samples, 1)), base)
    model = upper_body(romeo)
    limits = np.stack([model.lowerPositionLimit[7:], model.upperPositionLimit[7:]])
    shapes = body_shapes(romeo, stance.joints)
    still, _ = avoid_collisions(shapes, *path, limits, 0.05)
    released, legs = release_legs(romeo, shapes, base, joints)
    moving, missing = avoid_collisions(released, *path, limits, 0.05, obstacles=legs)
    # As the hips bend, the thighs come nearer to the hands than they are in the stance.
    assert np.abs(still[-1] - arms).max() < np.abs(moving[-1] - arms).max()
    assert missing.max() < 1e-3
