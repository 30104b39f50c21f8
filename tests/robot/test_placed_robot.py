"""A robot's model in the scene, and how its coordinates begin."""

import numpy as np
import pinocchio as pin
import pytest

from simbench.robot.robot import Robot, load_robot, placed_robot

# Yaw 0.7 after roll 0.3: any attitude, as of a robot that hangs askew.
PLACE = pin.SE3(pin.utils.rotate("z", 0.7) @ pin.utils.rotate("x", 0.3), np.array([0.4, -0.3, 1.2]))
BASE = pin.SE3ToXYZQUAT(PLACE)


def some(robot: Robot) -> np.ndarray:
    low, high = robot.model.lowerPositionLimit, robot.model.upperPositionLimit
    return low + (high - low) * np.random.default_rng(1).uniform(0.3, 0.7, len(low))


def test_every_frame_moves_with_the_root(arm: Robot) -> None:
    placed, q = placed_robot(arm, BASE), some(arm)
    before, after = arm.model.createData(), placed.model.createData()
    pin.framesForwardKinematics(arm.model, before, q)
    pin.framesForwardKinematics(placed.model, after, q)
    names = [frame.name for frame in arm.model.frames if frame.name != "universe"]
    # The pedestal and what else is fixed to the world too.
    assert any(arm.model.frames[arm.model.getFrameId(name)].parentJoint == 0 for name in names)
    for name in names:
        there = after.oMf[placed.model.getFrameId(name)].homogeneous
        here = before.oMf[arm.model.getFrameId(name)].homogeneous
        np.testing.assert_allclose(there, PLACE.homogeneous @ here, atol=1e-9, err_msg=name)


def test_gravity_stays_that_of_the_scene_and_inertia_stays(arm: Robot) -> None:
    """A tilted arm is pulled along another direction of its own: that of a model with turned gravity."""
    placed, q = placed_robot(arm, BASE), some(arm)
    tilted = arm.model.copy()
    tilted.gravity = pin.Motion(PLACE.rotation.T @ np.array([0.0, 0.0, -9.81]), np.zeros(3))
    pull = pin.computeGeneralizedGravity(placed.model, placed.model.createData(), q)
    expected = pin.computeGeneralizedGravity(tilted, tilted.createData(), q)
    np.testing.assert_allclose(pull, expected, atol=1e-9)
    level = pin.computeGeneralizedGravity(arm.model, arm.model.createData(), q)
    assert np.abs(pull - level).max() > 1.0
    # Rotors are in both.
    first, second = (np.triu(pin.crba(m, m.createData(), q)) for m in (arm.model, placed.model))
    np.testing.assert_allclose(first, second, atol=1e-9)
    np.testing.assert_array_equal(placed.model.armature, arm.model.armature)


def test_placing_leaves_the_robot_itself_where_it_was(arm: Robot) -> None:
    q = some(arm)
    before = pin.computeGeneralizedGravity(arm.model, arm.model.createData(), q)
    placements = [joint.homogeneous.copy() for joint in arm.model.jointPlacements]
    placed = placed_robot(arm, BASE)
    assert placed.name == arm.name
    assert placed.motors is arm.motors
    for joint, own in zip(arm.model.jointPlacements, placements, strict=True):
        np.testing.assert_array_equal(joint.homogeneous, own)
    np.testing.assert_array_equal(pin.computeGeneralizedGravity(arm.model, arm.model.createData(), q), before)


def test_a_robot_that_floats_is_placed_by_its_configuration(humanoid: Robot) -> None:
    assert placed_robot(humanoid, BASE) is humanoid


@pytest.mark.parametrize(
    ("name", "root_q", "root_v", "feet"),
    [
        ("romeo", 7, 6, ("left_foot", "right_foot")),
        ("mahru", 7, 6, ("left_foot", "right_foot")),
        ("puma560", 0, 0, ()),
        ("direct_drive_arm", 0, 0, ()),
    ],
)
def test_the_joints_coordinates_come_after_the_roots(
    name: str, root_q: int, root_v: int, feet: tuple[str, ...]
) -> None:
    robot = load_robot(name)
    assert (robot.root_q, robot.root_v, robot.feet) == (root_q, root_v, feet)
    assert robot.floating == (root_q == 7)
    for number, joint in enumerate(robot.joint_names):
        found = robot.model.joints[robot.model.getJointId(joint)]
        assert (found.idx_q, found.idx_v) == (root_q + number, root_v + number)
    assert robot.model.nq == root_q + len(robot.joint_names)
    assert robot.model.nv == root_v + len(robot.joint_names)
