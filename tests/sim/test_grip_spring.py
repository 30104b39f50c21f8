"""What a grip tells the controller is the same wrench, on the joint that carries the palm, in its frame."""

import numpy as np
import pinocchio as pin
import pytest

from simbench.sim.grasp import PIVOT, RIGID, SLIDE, GripSpring, spring_wrench


def flat(pose):
    """Position and quaternion x, y, z, w of a pose, as floats."""
    numbers = pin.SE3ToXYZQUAT(pose).tolist()
    return tuple(numbers[:3]), tuple(numbers[3:])


def moving(pose, rng):
    """A link's motion at a pose, with its centre of mass off its origin."""
    position, quaternion = flat(pose)
    com = pose.act(rng.normal(size=3) * 0.05)
    return (
        tuple(com.tolist()),
        position,
        quaternion,
        tuple(rng.normal(size=3).tolist()),
        tuple(rng.normal(size=3).tolist()),
    )


@pytest.mark.parametrize("free", [RIGID, PIVOT, SLIDE])
@pytest.mark.parametrize("seed", [0, 1, 2])
def test_the_load_is_the_wrench_carried_to_a_joint_away_from_the_palm(seed, free):
    rng = np.random.default_rng(seed)
    palm, handle, on_joint = pin.SE3.Random(), pin.SE3.Random(), pin.SE3.Random()
    axis = rng.normal(size=3)
    spring = GripSpring(
        2000.0,
        30.0,
        20.0,
        0.5,
        tuple((0.1 * rng.normal(size=3)).tolist()),
        free,
        tuple((axis / np.linalg.norm(axis)).tolist()),
        flat(on_joint),
    )
    rest = flat(handle.actInv(palm) * pin.SE3(pin.exp3(0.3 * rng.normal(size=3)), 0.1 * rng.normal(size=3)))
    force, torque, point, load = spring_wrench(moving(palm, rng), moving(handle, rng), rest, spring)
    about_origin = pin.Force(np.array(force), np.array(torque) + np.cross(point, force))
    joint = palm * on_joint.inverse()
    expected = joint.actInv(about_origin).vector
    np.testing.assert_allclose(load, expected, rtol=1e-9, atol=1e-9)
    # The lever of the palm on its joint counts.
    assert np.linalg.norm(np.cross(on_joint.translation, expected[:3])) > 1.0
