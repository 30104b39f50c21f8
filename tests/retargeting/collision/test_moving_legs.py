"""Legs as obstacles that move with a planned motion."""

import numpy as np
import pinocchio as pin
import pytest

from simbench.balance.standing.standing import leg_columns, stand
from simbench.retargeting.collision.avoidance import avoid_collisions
from simbench.retargeting.collision.clearance import body_shapes, convex_shapes, link_of, release_legs
from simbench.robot.upper_body import upper_body, upper_body_joints


@pytest.fixture(scope="module")
def stance(romeo):
    return stand(romeo, (0.0, 0.0), 0.0, "standing")


def motion(romeo, stance, samples=3):
    """Hips that bend more and more, with everything else still."""
    joints = np.tile(stance.joints, (samples, 1))
    columns = [romeo.joint_names.index(f"{side}HipPitch") for side in "LR"]
    joints[:, columns] -= np.linspace(0.0, 0.6, samples)[:, None]
    return np.tile(stance.base, (samples, 1)), joints


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
    arms = upper_body_joints(romeo, upper_body(romeo), stance.joints)
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
