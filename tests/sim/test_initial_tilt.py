import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from simbench.balance.leg_ik import stand
from simbench.robot.robot import load_robot
from simbench.sim.engines import open_engine
from simbench.sim.initial_tilt import INITIAL_TILT, tilt_base


@pytest.mark.parametrize("heading", [0.0, 0.4, 3.0])
def test_the_root_link_turns_about_the_robots_own_horizontal_axis(heading):
    base = np.array([0.3, -0.2, 0.8, *Rotation.from_rotvec([0.0, 0.0, heading]).as_quat()])
    tilted = tilt_base(base)
    np.testing.assert_array_equal(tilted[:3], base[:3])
    turned = (Rotation.from_quat(tilted[3:]) * Rotation.from_quat(base[3:]).inv()).as_rotvec()
    assert np.linalg.norm(turned) == pytest.approx(INITIAL_TILT, rel=1e-6)
    assert turned[2] == pytest.approx(0.0, abs=1e-15)
    assert np.arctan2(turned[1], turned[0]) == pytest.approx(
        np.angle(np.exp(1j * (heading + np.arctan2(2, 1)))), abs=1e-6
    )


def settled(robot, base, posture):
    """Pose of the root link of a robot without motors, 50 ms after it is put on the floor."""
    with open_engine().open_world(0.001, floor_friction=0.8) as world:
        body = world.add_robot(robot, base, posture)
        for _ in range(50):
            world.step()
        return body.root_pose()


@pytest.mark.parametrize(("place", "heading"), [((-0.37, 0.21), 0.0), ((0.3, 0.2), 0.3)])
def test_rounding_does_not_decide_which_corner_of_a_foot_touches_first(place, heading):
    robot = load_robot("romeo")
    stance = stand(robot, place, heading, "standing")
    poses = []
    for seed in range(8):
        moved = stance.base + 1e-12 * np.random.default_rng(seed).standard_normal(7) * [1, 1, 0, 0, 0, 1, 0]
        poses.append(settled(robot, tilt_base(moved), stance.joints))
    # Those of a robot that is not tilted are 6e-7 and 1.5e-6 m apart.
    assert np.ptp(poses, axis=0).max() < 1e-10
