"""ZMP of a planned motion against inverse dynamics, and sway of a pendulum against closed forms."""

import numpy as np
import pinocchio as pin
import pytest

from simbench.balance.standing.standing_profile import ground_wrench, lipm_com_offset, planned_zmp

HEIGHT = 0.67
OMEGA = np.sqrt(9.81 / HEIGHT)


@pytest.fixture(scope="module")
def wild(romeo):
    """All joints and the root's place on sines: time, position, velocity, acceleration."""
    random = np.random.default_rng(3)
    size = 3 + len(romeo.joint_names)
    rest = np.r_[0.1, -0.2, 0.7, romeo.postures["standing"]]
    reach = np.r_[np.full(3, 0.03), np.full(size - 3, 0.2)] * random.uniform(-1, 1, size)
    rate, phase = random.uniform(2.0, 8.0, size), random.uniform(0, 6, size)
    time = np.linspace(0.0, 0.3, 301)
    angle = time[:, None] * rate + phase
    return (
        time,
        rest + reach * np.sin(angle),
        reach * rate * np.cos(angle),
        -reach * rate**2 * np.sin(angle),
    )


def path_of(place):
    """Root poses, without a turn, and joints."""
    upright = np.tile([0.0, 0.0, 0.0, 1.0], (len(place), 1))
    return np.hstack([place[:, :3], upright]), place[:, 3:]


def test_zmp_and_wrench_are_those_of_inverse_dynamics(romeo, wild):
    time, place, velocity, acceleration = wild
    base, joints = path_of(place)
    zmp, cog = planned_zmp(romeo, time, base, joints)
    wrench, _ = ground_wrench(romeo, time, base, joints)
    model, data = romeo.model, romeo.model.createData()
    still = np.zeros(3)
    furthest = 0.0
    for k in range(5, 296, 10):
        v = np.r_[velocity[k, :3], still, velocity[k, 3:]]
        a = np.r_[acceleration[k, :3], still, acceleration[k, 3:]]
        q = np.r_[base[k], joints[k]]
        root = pin.rnea(model, data, q, v, a)[:6]
        moment = root[3:] + np.cross(base[k, :3], root[:3])
        expected = np.array([-moment[1], moment[0]]) / root[2]
        np.testing.assert_allclose(zmp[k], expected, atol=2e-5)
        np.testing.assert_allclose(wrench[k], np.r_[root[:3], moment], atol=0.03)
        np.testing.assert_allclose(cog[k], pin.centerOfMass(model, data, q), atol=1e-12)
        furthest = max(furthest, np.abs(expected - cog[k, :2]).max())
    assert furthest > 0.02


def test_where_inertia_does_not_count_the_zmp_is_below_the_cog(romeo, wild):
    time, place, _, _ = wild
    base, joints = path_of(place)
    moving = np.r_[np.zeros(100), np.ones(201)]
    zmp, cog = planned_zmp(romeo, time, base, joints, None, moving)
    np.testing.assert_allclose(zmp[:100], cog[:100, :2], atol=1e-12)
    np.testing.assert_array_equal(zmp[100:], planned_zmp(romeo, time, base, joints)[0][100:])


def test_a_pull_on_the_hand_moves_the_zmp_by_its_moment_over_the_weight(romeo):
    posture = romeo.postures["standing"]
    base, joints = np.tile([0.1, 0.2, 0.6, 0, 0, 0, 1], (4, 1)), np.tile(posture, (4, 1))
    force, point = np.array([4.0, -3.0, 20.0]), np.array([0.5, 0.3, 0.97])
    load = np.tile(np.r_[force, np.cross(point, force)], (4, 1))
    zmp, cog = planned_zmp(romeo, np.arange(4.0), base, joints, load)
    weight = 9.81 * sum(inertia.mass for inertia in romeo.model.inertias)
    # Moments about the ZMP: weight at the COG, the force at its point, and what carries both.
    carried = weight - force[2]
    expected = (weight * cog[0, :2] - force[2] * point[:2] + point[2] * force[:2]) / carried
    np.testing.assert_allclose(zmp, np.tile(expected, (4, 1)), atol=1e-12)


@pytest.mark.parametrize(("frequency", "passed"), [(0.5, 0.5**0.01), (1.0, 0.5**0.04), (5.0, 0.5)])
def test_a_swinging_zmp_is_followed_by_what_a_pendulum_gives(frequency, passed):
    """Of a cosine 1 / (1 + (2πf/ω)²) is left, and by the filter 0.5^(f²/25) of that, half at 5 Hz."""
    time = np.linspace(3.0, 5.0, 401)
    wave = np.cos(2 * np.pi * frequency * (time - 3.0))[:, None] * [0.02, -0.01]
    middle = np.array([0.001, 0.0])
    sway = lipm_com_offset(time, wave + middle, HEIGHT)
    ratio = passed / (1 + (2 * np.pi * frequency / OMEGA) ** 2)
    # Where the mirrored motion is cut off exp(−8) of it is felt.
    np.testing.assert_allclose(sway, ratio * wave + middle, atol=0.02 * np.exp(-8) + 2e-3 * ratio * 0.02)


def test_a_sway_is_at_rest_at_both_ends():
    time = np.linspace(0.0, 1.0, 401)
    step = np.where(time < 0.2, 0.03, -0.02)[:, None] * np.ones(2)
    sway = lipm_com_offset(time, step, HEIGHT)
    speed = np.gradient(sway, time, axis=0, edge_order=2)
    assert np.abs(speed[[0, -1]]).max() < 1e-3 * np.abs(speed).max()


def test_two_samples_are_enough():
    zmp = np.full((2, 2), 0.01)
    np.testing.assert_allclose(lipm_com_offset(np.array([0.0, 0.004]), zmp, HEIGHT), zmp, atol=1e-9)
