"""Fingers that close: where grip joints are then, and where that takes the fingers."""

import numpy as np
import pinocchio as pin
import pytest

from simbench.retargeting.collision.clearance import body_shapes, link_of
from simbench.robot.robot import load_robot
from simbench.robot.robot_limbs import close_hands, grip_range


def test_open_is_as_near_to_0_as_the_limits_allow_and_closed_the_farther_limit(romeo):
    # robots/romeo/robot.yaml: 0 to 1.7 rad, on both sides.
    assert grip_range(romeo, "LHand") == pytest.approx((0.02, 1.68))
    assert grip_range(romeo, "RHand") == pytest.approx((0.02, 1.68))


def test_only_the_hands_that_hold_close(romeo):
    joints = close_hands(romeo, np.zeros((3, len(romeo.joint_names))), ["left"])
    moved = np.zeros(len(romeo.joint_names))
    moved[romeo.joint_names.index("LHand")] = 1.68
    np.testing.assert_allclose(joints, np.tile(moved, (3, 1)))
    puma = load_robot("puma560")
    np.testing.assert_array_equal(close_hands(puma, np.ones(6), ["left", "right"]), np.ones(6))


def test_fingers_of_a_hand_that_holds_are_both_open_and_closed(romeo):
    joints = romeo.postures["standing"]
    usual, holding = body_shapes(romeo, joints), body_shapes(romeo, joints, ["right"])
    extra = holding.geometry.geometryObjects.tolist()[len(usual.geometry.geometryObjects) :]
    assert [link_of(shape.name) for shape in extra] == ["r_fingers"]
    # A plate whose middle is 37.5 mm from the knuckles, at (118, 0, -8) mm of the wrist, turned by 1.68 rad.
    middle = np.array([0.118, 0.0, -0.008]) + 0.0375 * np.array([np.cos(1.68), 0.0, -np.sin(1.68)])
    wrist = holding.model.frames[holding.model.getFrameId("r_wrist")]
    assert extra[0].parentJoint == wrist.parentJoint
    found = wrist.placement.actInv(extra[0].placement * _middle(extra[0].geometry))
    np.testing.assert_allclose(found.translation, middle, atol=1e-6)
    # It can hit what the open fingers can hit.
    more = len(holding.geometry.collisionPairs) - len(usual.geometry.collisionPairs)
    (index,) = (
        i for i, shape in enumerate(usual.geometry.geometryObjects) if link_of(shape.name) == "r_fingers"
    )
    assert more == sum(index in (pair.first, pair.second) for pair in usual.geometry.collisionPairs) > 0


def _middle(shape):
    shape.computeLocalAABB()
    return pin.SE3(np.eye(3), shape.aabb_center)
