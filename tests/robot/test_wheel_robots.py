"""Role files of robots whose URDFs are in a wheel: bodies, frames, soles, postures."""

import xml.etree.ElementTree as ET
from pathlib import Path

import numpy as np
import pinocchio as pin
import pybullet
import pytest
from shapely import Polygon
from wheel_robots import robot_parameters

from simbench.robot.robot import Robot, load_robot

MIRROR = np.diag([1.0, -1.0, 1.0])


@pytest.fixture(scope="module", params=robot_parameters("g1", "talos"))
def walker(request: pytest.FixtureRequest) -> Robot:
    return load_robot(request.param)


@pytest.fixture(scope="module", params=robot_parameters("panda", "ur5"))
def fixed_arm(request: pytest.FixtureRequest) -> Robot:
    return load_robot(request.param)


def place(robot: Robot, joints: np.ndarray) -> dict[str, pin.SE3]:
    """All frames of a robot at joint positions, its root at the origin."""
    data = robot.model.createData()
    q = np.concatenate([pin.neutral(robot.model)[: robot.root_q], joints])
    pin.framesForwardKinematics(robot.model, data, q)
    return {frame.name: data.oMf[i] for i, frame in enumerate(robot.model.frames)}


def mirrored(name: str) -> str:
    return name.replace("left", "right")


def swap_sides(name: str) -> str:
    return name.replace("left", "RIGHT").replace("right", "left").replace("RIGHT", "right")


def test_the_mass_is_the_sum_of_the_urdf(walker: Robot) -> None:
    masses = [float(each.get("value", "nan")) for each in ET.parse(walker.urdf).iter("mass")]
    assert pin.computeTotalMass(walker.model) == pytest.approx(sum(masses), rel=1e-12)
    published = {"g1": 35.0, "talos": 95.0}[walker.name]
    assert pin.computeTotalMass(walker.model) == pytest.approx(published, rel=0.03)


def test_frames_motors_and_gains_of_both_sides_are_mirror_images(walker: Robot) -> None:
    at = place(walker, np.zeros(len(walker.joint_names)))
    for role, name in walker.frames.items():
        if not role.startswith("left_"):
            continue
        left, right = at[name], at[walker.frames[mirrored(role)]]
        # The URDF of G1 places its hips and shoulders to a tenth of a millimetre.
        np.testing.assert_allclose(right.translation, MIRROR @ left.translation, atol=2e-5)
        if role.endswith(("hand", "foot")):
            np.testing.assert_allclose(right.rotation, MIRROR @ left.rotation @ MIRROR, atol=3e-5)
    for name in walker.joint_names:
        if "left" in name:
            i, j = walker.joint_names.index(name), walker.joint_names.index(mirrored(name))
            motors = walker.motors
            for values in (motors.reflected_inertia, motors.stiffness, motors.damping, motors.torque_limit):
                assert values[i] == values[j] > 0, name
    pairs = set(map(frozenset, walker.self_collision_pairs))
    for pair in pairs:
        assert frozenset(swap_sides(link) for link in pair) in pairs, pair


def test_standing_is_balanced_on_flat_level_soles(walker: Robot) -> None:
    standing = walker.postures["standing"]
    at = place(walker, standing)
    q = np.concatenate([pin.neutral(walker.model)[:7], standing])
    cog = pin.centerOfMass(walker.model, walker.model.createData(), q)
    soles = {role: at[walker.frames[role]] for role in walker.feet}
    corners = np.array([[sole.act(corner) for corner in walker.soles[role]] for role, sole in soles.items()])
    assert np.ptp(corners[..., 2]) < 1e-4
    middle = corners.reshape(-1, 3).mean(axis=0)
    assert np.hypot(*(cog - middle)[:2]) < 5e-4
    assert np.linalg.norm(soles["left_foot"].rotation - np.eye(3)) < 1e-6
    knee = walker.joint_names.index(walker.groups["left_leg"][3])
    assert standing[knee] == 0.5


def lowest_points(urdf: Path, link: str) -> np.ndarray:
    """Lowest points of the boxes and spheres of a link, in its frame, without rotation."""
    points = []
    (element,) = (each for each in ET.parse(urdf).iter("link") if each.get("name") == link)
    for shape in element.findall("collision"):
        centre = np.array([float(part) for part in shape.find("origin").get("xyz").split()])
        assert shape.find("origin").get("rpy") == "0 0 0"
        form = shape.find("geometry")[0]
        if form.tag == "sphere":
            points.append(centre - [0, 0, float(form.get("radius"))])
        else:
            size = np.array([float(part) for part in form.get("size").split()])
            points += [centre + 0.5 * size * [x, y, -1] for x, y in ((-1, -1), (1, -1), (1, 1), (-1, 1))]
    return np.array(points)


def test_soles_are_within_those_of_the_collision_shapes_by_at_most_5_mm(walker: Robot) -> None:
    at = place(walker, np.zeros(len(walker.joint_names)))
    for role in walker.feet:
        ankle = walker.model.frames[walker.model.getFrameId(walker.frames[role])].parentJoint
        carrier = next(
            frame.name
            for frame in walker.model.frames
            if frame.parentJoint == ankle and frame.type == pin.FrameType.BODY
        )
        points = lowest_points(walker.urdf, carrier)
        assert np.ptp(points[:, 2]) == 0
        corners = np.array([at[walker.frames[role]].act(corner) for corner in walker.soles[role]])
        corners = np.array([at[carrier].actInv(corner) for corner in corners])
        np.testing.assert_allclose(corners[:, 2], points[0, 2], atol=1e-9)
        outline = Polygon(points[:, :2]).convex_hull
        assert outline.buffer(1e-9).covers(Polygon(corners[:, :2]))
        assert max(min(np.linalg.norm(corner - point) for corner in corners) for point in points) < 5.01e-3


def test_palms_of_the_basic_posture_point_forward_and_down(walker: Robot) -> None:
    at = place(walker, walker.postures["basic"])
    for side, sign in (("left", 1), ("right", -1)):
        shoulder, elbow, wrist, palm = (
            at[walker.frames[f"{side}_{part}"]] for part in ("shoulder", "elbow", "wrist", "hand")
        )
        # The right shoulder of G1 is mounted 6e-5 rad off the mirror image of the left one.
        np.testing.assert_allclose(palm.rotation, np.eye(3), atol=5e-4)
        forearm = wrist.translation - elbow.translation
        assert forearm[0] / np.linalg.norm(forearm) > 0.9999
        assert palm.translation[0] - shoulder.translation[0] > 0.45
        assert sign * palm.translation[1] > 0.1


def test_fingers_begin_at_the_palm_and_close_toward_its_inner_side(walker: Robot) -> None:
    for side in ("left", "right"):
        hand = walker.hands[f"{side}_hand"]
        opened, closed = np.zeros(len(walker.joint_names)), np.zeros(len(walker.joint_names))
        for joint in hand.joints:
            column = walker.joint_names.index(joint)
            lower, upper = (
                limits[walker.root_q + column]
                for limits in (walker.model.lowerPositionLimit, walker.model.upperPositionLimit)
            )
            closed[column] = upper if upper > -lower else lower
        assert set(hand.joints) <= set(walker.groups[f"{side}_grip"])
        spread = []
        for joints in (opened, closed):
            at = place(walker, joints)
            palm = at[walker.frames[f"{side}_hand"]]
            tips = [palm.actInv(at[finger]).translation for finger in hand.fingers]
            spread.append(np.ptp([tip[2] for tip in tips]))
            assert max(np.linalg.norm(tip) for tip in tips) < 0.2
        assert spread[0] > 0.04
        assert spread[1] < spread[0]


def test_every_joint_is_in_one_group(walker: Robot, fixed_arm: Robot) -> None:
    for robot in (walker, fixed_arm):
        grouped = [name for names in robot.groups.values() for name in names]
        assert sorted(grouped) == sorted(robot.joint_names)


def test_arms_begin_level_and_forward_far_from_their_limits(fixed_arm: Robot) -> None:
    masses = [float(each.get("value", "nan")) for each in ET.parse(fixed_arm.urdf).iter("mass")]
    base = fixed_arm.model.inertias[0].mass
    assert pin.computeTotalMass(fixed_arm.model) + base == pytest.approx(sum(masses), rel=1e-12)
    drawn_back, ready = (fixed_arm.postures[name] for name in ("drawn_back", "ready"))
    palm = place(fixed_arm, drawn_back)[fixed_arm.frames["right_hand"]]
    np.testing.assert_allclose(palm.rotation, np.eye(3), atol=1e-9)
    down = place(fixed_arm, ready)[fixed_arm.frames["right_hand"]].rotation[:, 0]
    np.testing.assert_allclose(down, [0, 0, -1], atol=1e-9)
    arm = [fixed_arm.joint_names.index(name) for name in fixed_arm.groups["right_arm"]]
    for posture in (drawn_back, ready):
        lower, upper = fixed_arm.model.lowerPositionLimit[arm], fixed_arm.model.upperPositionLimit[arm]
        assert np.min(np.minimum(posture[arm] - lower, upper - posture[arm])) > 0.45


@pytest.mark.parametrize("posture", ["standing", "basic"])
def test_links_that_can_collide_are_apart(walker: Robot, posture: str, tmp_path: Path) -> None:
    apart(walker, posture, tmp_path)


@pytest.mark.parametrize("posture", ["ready", "drawn_back"])
def test_links_of_an_arm_that_can_collide_are_apart(fixed_arm: Robot, posture: str, tmp_path: Path) -> None:
    apart(fixed_arm, posture, tmp_path)


def apart(robot: Robot, posture: str, folder: Path) -> None:
    """Assert that no listed pair of links is nearer than 5 mm, and that each has a collision shape."""
    client = pybullet.connect(pybullet.DIRECT)
    path = folder / "robot.urdf"
    path.write_text(robot.urdf_text, encoding="utf-8")
    body = pybullet.loadURDF(str(path), useFixedBase=True, physicsClientId=client)
    infos = [
        pybullet.getJointInfo(body, i, physicsClientId=client)
        for i in range(pybullet.getNumJoints(body, physicsClientId=client))
    ]
    root = pybullet.getBodyInfo(body, physicsClientId=client)[0].decode()
    links = {root: -1} | {info[12].decode(): info[0] for info in infos}
    joints = {info[1].decode(): info[0] for info in infos}
    for name, value in zip(robot.joint_names, robot.postures[posture], strict=True):
        pybullet.resetJointState(body, joints[name], value, physicsClientId=client)
    near = [
        (first, second)
        for first, second in robot.self_collision_pairs
        if pybullet.getClosestPoints(body, body, 0.005, links[first], links[second], physicsClientId=client)
    ]
    shapes = {
        link
        for link in {each for pair in robot.self_collision_pairs for each in pair}
        if pybullet.getCollisionShapeData(body, links[link], physicsClientId=client)
    }
    pybullet.disconnect(client)
    assert near == []
    assert shapes == {link for pair in robot.self_collision_pairs for link in pair}
