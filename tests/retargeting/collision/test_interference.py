"""Interference over trajectories: closed forms, convex bodies by supporting planes, moving obstacles."""

from dataclasses import replace

import numpy as np
import pinocchio as pin
import pytest
from scipy.spatial import ConvexHull

from simbench.errors import RetargetError
from simbench.kinematics.obstacles import box_obstacle, cylinder_obstacle
from simbench.motion.trajectory import JointTrajectory
from simbench.retargeting.collision import interference
from simbench.retargeting.collision.clearance import convex_shapes
from simbench.retargeting.collision.interference import Interference, describe_interference, find_interference

RADIUS = 0.05
SLIDERS = """<robot name="sliders"><link name="rail"/>{}</robot>""".format(
    "".join(
        f"""<link name="{name}"><collision><origin xyz="0 {y} 0"/>
        <geometry><sphere radius="{RADIUS}"/></geometry></collision></link>
        <joint name="{name}" type="prismatic"><parent link="rail"/><child link="{name}"/><axis xyz="1 0 0"/>
        <limit lower="-9" upper="9" effort="1" velocity="9"/></joint>"""
        for name, y in (("near", 0.0), ("far", 0.06))
    )
)


@pytest.fixture(scope="module")
def sliders(romeo):
    """Two balls of 5 cm on rails 6 cm apart."""
    return replace(
        romeo,
        name="sliders",
        model=pin.buildModelFromXML(SLIDERS),
        floating=False,
        joint_names=("far", "near"),
        urdf_text=SLIDERS,
        self_collision_pairs=(("near", "far"),),
    )


def path(robot, time, q, base=None):
    return JointTrajectory(np.asarray(time), np.asarray(q), robot.joint_names, base)


def at(x, y, z, turn=0.0):
    pose = np.eye(4)
    pose[:3, :3], pose[:3, 3] = pin.utils.rotate("z", turn), (x, y, z)
    return pose


def test_balls_that_pass_between_two_samples(sliders):
    """At 5 m/s and 10 Hz every sample is 25 cm from the meeting; the balls overlap for 32 ms."""
    assert sliders.joint_names == tuple(sliders.model.names[1:])
    time = np.arange(11) * 0.1
    q = np.column_stack([np.zeros(11), -2.25 + 5.0 * time])
    (found,) = find_interference(sliders, path(sliders, time, q))
    assert (found.first, found.second) == ("near", "far")
    half = np.sqrt((2 * RADIUS) ** 2 - 0.06**2) / 5.0
    # Instants are so near that no more than 2 mm is travelled between two of them.
    assert found.start == pytest.approx(0.45 - half, abs=0.5e-3)
    assert found.end == pytest.approx(0.45 + half, abs=0.5e-3)
    assert found.time == pytest.approx(0.45, abs=0.5e-3)
    assert found.distance == pytest.approx(0.06 - 2 * RADIUS, abs=1e-3)


def test_a_margin_in_closed_form(sliders):
    time = np.linspace(0.0, 1.0, 21)
    q = np.column_stack([np.zeros(21), 0.2 * np.cos(4 * np.pi * time)])
    margin = 0.03
    found = find_interference(sliders, path(sliders, time, q), margin=margin)
    assert len(found) == 4
    bound = np.sqrt((2 * RADIUS + margin) ** 2 - 0.06**2)
    fine = np.linspace(0.0, 1.0, 100001)
    near = np.abs(np.interp(fine, time, q[:, 1])) < bound
    edges = fine[1:][np.diff(near.astype(int)) != 0].reshape(-1, 2)
    np.testing.assert_allclose([(one.start, one.end) for one in found], edges, atol=1e-3)
    far = find_interference(sliders, path(sliders, time, q + np.array([0.0, 1.0])), margin=margin)
    assert far == ()


def test_a_moving_box_and_a_resting_cylinder(sliders):
    """The balls rest; a box of 10 cm comes from above at 0.5 m/s, turning about its vertical axis."""
    time = np.linspace(0.0, 1.0, 26)
    q = np.tile([3.0, 0.0], (26, 1))
    poses = np.array([at(0.0, 0.0, 0.5 - 0.5 * t, turn=t) for t in time])
    pole = cylinder_obstacle("pole", 0.02, 1.0, at(3.0, 0.06 + 0.065, 0.0))
    (pole_found, found) = find_interference(
        sliders, path(sliders, time, q), (box_obstacle("lid", (0.2, 0.2, 0.1), poses), pole)
    )
    # Lower face on the ball's top: 0.5 − 0.5 t − 0.05 = 0.05. In the end the middles are one.
    assert (found.first, found.second) == ("near", "lid")
    assert found.start == pytest.approx(0.8, abs=5e-3)
    assert (found.end, found.time) == (1.0, 1.0)
    assert found.distance == pytest.approx(-0.1, abs=1e-5)
    assert (pole_found.first, pole_found.second, pole_found.start) == ("far", "pole", 0.0)
    # The cylinder is a prism about it, of 32 sides: an edge faces the ball.
    edge = 0.02 / np.cos(np.pi / 32.0)
    assert pole_found.distance == pytest.approx(0.065 - edge - RADIUS, abs=1e-5)


def depth(first, second):
    """Penetration of two convex point sets: least overlap along normals of faces and of pairs of edges."""
    directions, edges = [], []
    for points in (first, second):
        hull = ConvexHull(points)
        directions.append(hull.equations[:, :3])
        sides = np.sort(np.vstack([hull.simplices[:, pair] for pair in ([0, 1], [1, 2], [0, 2])]), axis=1)
        start, end = np.unique(sides, axis=0).T
        edges.append(points[end] - points[start])
    directions.append(np.cross(edges[0][:, None], edges[1][None]).reshape(-1, 3))
    directions = np.vstack(directions)
    length = np.linalg.norm(directions, axis=1)
    directions = directions[length > 1e-9] / length[length > 1e-9, None]
    shadows = [points @ directions.T for points in (first, second)]
    overlap = [shadows[a].max(axis=0) - shadows[1 - a].min(axis=0) for a in (0, 1)]
    return np.minimum(*overlap).min()


def link_depth(robot, q, first, second):
    geometry, data = convex_shapes(robot), robot.model.createData()
    pin.forwardKinematics(robot.model, data, q)
    bodies = {first: [], second: []}
    for shape in geometry.geometryObjects:
        link = shape.name.rpartition("_")[0]
        if link in bodies:
            body = shape.geometry
            if hasattr(body, "halfSide"):
                points = np.array(np.meshgrid(*[[-1, 1]] * 3)).reshape(3, -1).T * body.halfSide
            else:
                points = np.array(body.points())
            pose = data.oMi[shape.parentJoint] * shape.placement
            bodies[link].append(points @ pose.rotation.T + pose.translation)
    return max(depth(a, b) for a in bodies[first] for b in bodies[second])


@pytest.fixture(scope="module")
def crossing(romeo):
    """ROMEO's arms go from its sides into each other and its chest and back, standing at an angle."""
    crossed = romeo.postures["basic"].copy()
    for name, value in (
        ("ShoulderPitch", 1.4),
        ("ShoulderYaw", 0.42),
        ("ElbowRoll", -0.2),
        ("ElbowYaw", 1.5),
        ("WristRoll", 2.1),
    ):
        sign = 1.0 if name == "ShoulderPitch" else -1.0
        crossed[romeo.joint_names.index(f"R{name}")] = value
        crossed[romeo.joint_names.index(f"L{name}")] = sign * value
    time = np.linspace(0.0, 1.0, 41)
    standing = romeo.postures["standing"]
    q = standing + np.sin(np.pi * time[:, None]) ** 2 * (crossed - standing)
    turn = pin.Quaternion(pin.utils.rotate("z", 0.7) @ pin.utils.rotate("x", 0.2)).coeffs()
    return path(romeo, time, q, np.tile(np.concatenate([(0.4, -0.2, 0.9), turn]), (41, 1)))


def test_romeos_crossed_arms_by_supporting_planes(romeo, crossing):
    found = find_interference(romeo, crossing)
    hit = {(one.first, one.second) for one in found}
    assert len(found) >= 3
    assert any(second == "torso" for _, second in hit)
    q = np.concatenate([crossing.base[20], crossing.q[20]])
    for one in found:
        sample = one.time / 0.025
        before, after = int(np.floor(sample)), int(np.ceil(sample))
        there = (1 - sample % 1) * crossing.q[before] + (sample % 1) * crossing.q[after]
        deep = link_depth(romeo, np.concatenate([crossing.base[0], there]), one.first, one.second)
        assert -one.distance == pytest.approx(deep, abs=1e-5)
    # What is apart in the middle of the motion, by that computation, is not reported there.
    for pair in romeo.self_collision_pairs[::10]:
        reported = any((one.first, one.second) == pair and one.start <= 0.5 <= one.end for one in found)
        assert reported == (link_depth(romeo, q, *pair) > 0.0), pair


def deepest(found):
    """Least distance of each pair, but for those that hardly touch."""
    least = {}
    for one in found:
        pair = (one.first, one.second)
        least[pair] = min(one.distance, least.get(pair, 0.0))
    return {pair: distance for pair, distance in least.items() if distance < -0.001}


def test_obstacles_move_with_the_frame(romeo, crossing):
    """Robot and obstacle moved together: the same interferences; hands may touch, the rest may not."""
    hands = ("l_wrist", "l_fingers", "r_wrist", "r_fingers")
    inside = at(0.1, 0.0, -0.15)
    place = pin.XYZQUATToSE3(crossing.base[0]).homogeneous
    moved = find_interference(romeo, crossing, (box_obstacle("board", (0.3, 0.8, 0.02), place @ inside),))
    origin = replace(crossing, base=None)
    rest = find_interference(romeo, origin, (box_obstacle("board", (0.3, 0.8, 0.02), inside),))
    assert len(deepest(rest)) > 5
    assert deepest(moved) == pytest.approx(deepest(rest), abs=1e-5)
    touching = find_interference(romeo, origin, (box_obstacle("board", (0.3, 0.8, 0.02), inside, hands),))
    on_board = {one.first for one in rest if one.second == "board"}
    assert on_board & set(hands)
    assert {one.first for one in touching if one.second == "board"} == on_board - set(hands)


def test_a_line_for_each():
    one = Interference("l_wrist", "torso", 1.23, 1.41, -0.0041, 1.3)
    assert describe_interference(one) == "l_wrist and torso from 1.23 to 1.41 s, 4 mm deep at 1.30 s"
    one = replace(one, distance=0.012)
    assert describe_interference(one) == "l_wrist and torso from 1.23 to 1.41 s, 12 mm apart at 1.30 s"


def test_what_does_not_fit_is_refused(sliders):
    two = path(sliders, [0.0, 1.0], np.zeros((2, 2)))
    with pytest.raises(RetargetError):
        find_interference(sliders, two, (box_obstacle("lid", (1, 1, 1), np.tile(np.eye(4), (3, 1, 1))),))
    with pytest.raises(RetargetError, match=r"sliders has no link `palm`"):
        find_interference(sliders, two, (box_obstacle("lid", (1, 1, 1), np.eye(4), ("palm",)),))
    with pytest.raises(RetargetError):
        find_interference(sliders, JointTrajectory(two.time, two.q[:, :1], ("near",)))
    with pytest.raises(RetargetError):
        cylinder_obstacle("pole", 1.0, 0.0, np.eye(4))
    with pytest.raises(RetargetError):
        box_obstacle("lid", (1, 1, 1), np.eye(3))
    with pytest.raises(RetargetError):
        box_obstacle("lid", (1, 1, 1), 2.0 * np.eye(4))


def test_one_sample(sliders):
    (found,) = find_interference(sliders, path(sliders, [0.5], [[0.0, 0.0]]))
    assert (found.start, found.end, found.time) == (0.5, 0.5, 0.5)
    assert found.distance == pytest.approx(-0.04, abs=1e-6)


def test_blocks_of_samples_change_nothing(sliders, monkeypatch):
    """A long recording is examined block by block: interferences over their borders stay in one piece."""
    time = np.linspace(0.0, 2.0, 41)
    q = np.column_stack([np.zeros(41), 0.2 * np.cos(4 * np.pi * time)])
    q[17:24, 1] = 0.01 * np.arange(7)
    whole = find_interference(sliders, path(sliders, time, q), margin=0.03)
    assert max(one.end - one.start for one in whole) > 0.3
    for size in (1, 2, 7):
        monkeypatch.setattr(interference, "_BLOCK", size)
        assert find_interference(sliders, path(sliders, time, q), margin=0.03) == whole
