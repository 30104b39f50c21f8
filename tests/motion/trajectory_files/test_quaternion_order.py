"""1000 random walks in both orders of the quaternion: recognised, or asked for; never misread."""

import numpy as np
import pytest
from robot_walks import make_walks
from scipy.spatial.transform import Rotation

from simbench.motion.trajectory_files.base_assignment import find_quaternion_order
from simbench.motion.trajectory_files.joint_order import FootPoses, foot_poses

ARRAYS = ("q", "position", "quaternion")
COLUMNS = {"xyzw": [0, 1, 2, 3], "wxyz": [3, 0, 1, 2]}


def found_orders(robot, walks, order, number_of_feet=2, favoured=None):
    """What is found for each of several walks that are stored in one order."""
    count, samples = walks.q.shape[:2]
    feet = foot_poses(robot, walks.q.reshape(count * samples, -1))
    found = []
    for number in range(count):
        part = slice(number * samples, (number + 1) * samples)
        own = FootPoses(*(each[:, part] for each in feet)) if number_of_feet else None
        stored = walks.quaternion[number][:, COLUMNS[order]]
        found.append(find_quaternion_order(stored, walks.position[number], walks.time, own, favoured))
    return found


@pytest.fixture(scope="module")
def random_walks(g1):
    return make_walks(g1, 1000, rng=np.random.default_rng(11))


@pytest.mark.parametrize("order", COLUMNS)
def test_all_of_a_thousand_walks_are_recognised(g1, random_walks, order):
    assert found_orders(g1, random_walks, order) == [order] * 1000


@pytest.mark.parametrize("order", COLUMNS)
@pytest.mark.parametrize("heading", [0.0, np.pi, 0.02, -3.1])
def test_near_the_headings_at_which_both_are_upright_none_is_misread(g1, order, heading):
    walks = make_walks(g1, 100, rng=np.random.default_rng(12), heading=heading)
    found = found_orders(g1, walks, order)
    assert set(found) <= {order, None}
    assert found.count(order) >= 95


@pytest.mark.parametrize("order", COLUMNS)
@pytest.mark.parametrize("noise", [0.01, 0.03])
def test_noise_makes_some_doubtful_but_none_is_misread(g1, random_walks, order, noise):
    rng = np.random.default_rng(13)
    # Of one and of three degrees in the orientation, of samples that are independent of each other.
    walks = random_walks._replace(**{name: getattr(random_walks, name)[:300] for name in ARRAYS})
    turned = walks.quaternion + rng.normal(0.0, noise, walks.quaternion.shape)
    turned /= np.linalg.norm(turned, axis=-1, keepdims=True)
    moved = walks.position + rng.normal(0.0, noise / 3.0, walks.position.shape)
    found = found_orders(g1, walks._replace(quaternion=turned, position=moved), order)
    assert set(found) <= {order, None}
    assert found.count(order) >= 270


@pytest.mark.parametrize("order", COLUMNS)
def test_standing_upright_is_asked_for_only_where_both_readings_stand(g1, order):
    straight = make_walks(g1, 20, rng=np.random.default_rng(14), heading=0.0, stride=0.0, lean=0.0)
    found = set(found_orders(g1, straight, order))
    # As x, y, z, w the stored numbers (1, 0, 0, 0) are upside down; (0, 0, 0, 1) stands in both readings.
    assert found == ({None} if order == "xyzw" else {"wxyz"})


@pytest.mark.parametrize("order", COLUMNS)
def test_without_soles_the_upright_base_and_its_travel_decide(g1, random_walks, order):
    walks = random_walks._replace(**{name: getattr(random_walks, name)[:300] for name in ARRAYS})
    found = found_orders(g1, walks, order, number_of_feet=0)
    assert set(found) <= {order, None}
    assert found.count(order) >= 240


@pytest.mark.parametrize("heading", [0.0, np.pi])
def test_nearly_standing_still_the_usual_order_needs_less_evidence(g1, heading):
    walks = make_walks(g1, 100, rng=np.random.default_rng(16), heading=heading, stride=0.02, lean=0.2)
    found = {order: found_orders(g1, walks, order, favoured="xyzw") for order in COLUMNS}
    assert found["xyzw"] == ["xyzw"] * 100
    assert set(found["wxyz"]) <= {"wxyz", None}


def test_a_walk_backwards_is_not_taken_for_one_forwards(g1):
    """The feet tell the direction; the heading along the path would be wrong."""
    forwards = make_walks(g1, 50, rng=np.random.default_rng(15), heading=0.0)
    reverse = forwards._replace(
        q=forwards.q[:, ::-1], position=forwards.position[:, ::-1], quaternion=forwards.quaternion[:, ::-1]
    )
    for order in COLUMNS:
        assert set(found_orders(g1, reverse, order)) <= {order, None}


def test_the_walks_themselves_are_physical(g1, random_walks):
    """By Pinocchio: the lower sole of each sample is level at z = 0."""
    feet = foot_poses(g1, random_walks.q.reshape(-1, len(g1.joint_names)))
    turned = Rotation.from_quat(random_walks.quaternion.reshape(-1, 4)).as_matrix()
    heights = np.einsum("tj,ftcj->ftc", turned[:, 2], feet.corners)
    heights += random_walks.position.reshape(-1, 3)[:, 2, None]
    assert abs(heights.min(axis=(0, 2))).max() < 0.06
    assert np.median(abs(heights.min(axis=(0, 2)))) < 0.01
