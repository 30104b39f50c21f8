"""Palms put onto handles: nearest places of a mechanism's way, turns that a handle leaves free."""

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from simbench.motion.anatomy import transform
from simbench.motion.handles import HandlePath
from simbench.retargeting.contact.handle_path import grip_path

RADIUS = 0.1


def on_circle(angles, sign=1.0):
    """Palms on a circle about a vertical axis, fingers along x, thumb up."""
    angles = np.asarray(angles, dtype=float)
    places = np.stack(
        [0.5 - RADIUS * np.cos(angles), sign * (0.16 + RADIUS * np.sin(angles)), np.ones(len(angles))], axis=1
    )
    upright = Rotation.from_euler("x", -90 * sign, degrees=True).as_matrix()
    return transform(np.broadcast_to(upright, (len(angles), 3, 3)), places)


def valve(sign=1.0, count=200):
    return HandlePath(on_circle(np.linspace(0.0, 2 * np.pi, count), sign), np.array([0.0, 1.0, 0.0]))


def test_noise_beside_a_circle_goes_and_the_turn_about_the_handle_stays():
    rng = np.random.default_rng(1)
    angles = np.linspace(0.0, 9.0, 300)
    turn = Rotation.from_rotvec(np.outer(0.4 * np.sin(angles), [0.0, 1.0, 0.0]))
    true = on_circle(angles)
    true[:, :3, :3] = true[:, :3, :3] @ turn.as_matrix()
    seen = true.copy()
    seen[:, :3, 3] += rng.normal(scale=0.003, size=(300, 3))
    seen[:, :3, :3] = (
        seen[:, :3, :3] @ Rotation.from_rotvec(rng.normal(scale=0.02, size=(300, 3))).as_matrix()
    )
    held = grip_path({"left": seen}, {"left": np.ones(300, bool)}, {"left": valve()})["left"]
    radius = np.hypot(held[:, 0, 3] - 0.5, held[:, 1, 3] - 0.16)
    # The spline through 200 places of the circle is a circle to a micrometre, all around.
    np.testing.assert_allclose(radius, RADIUS, atol=1e-6)
    np.testing.assert_allclose(held[:, 2, 3], 1.0, atol=1e-9)
    # The place is the foot of the perpendicular from the palm that was seen.
    out = np.stack([seen[:, 0, 3] - 0.5, seen[:, 1, 3] - 0.16], axis=1)
    foot = RADIUS * out / np.linalg.norm(out, axis=1, keepdims=True)
    np.testing.assert_allclose(held[:, :2, 3] - [0.5, 0.16], foot, atol=2e-5)
    # The axis stands upright again, and the turn about it is the actor's to the noise.
    np.testing.assert_allclose(held[:, :3, 1], np.tile([0.0, 0.0, -1.0], (300, 1)), atol=1e-6)
    apart = Rotation.from_matrix(held[:, :3, :3].transpose(0, 2, 1) @ true[:, :3, :3]).as_rotvec()
    assert np.abs(apart[:, 1]).max() < 0.08
    assert np.abs(apart[:, [0, 2]]).max() < 1e-6


def test_hands_on_one_mechanism_are_at_the_same_place_of_its_way():
    way = np.linspace(0.0, 0.3, 101)
    turned = Rotation.from_rotvec(np.radians([[0, 0, 15], [0, 0, -15]])).as_matrix()
    poses = {
        side: transform(
            np.broadcast_to(turned[k], (101, 3, 3)),
            np.stack([0.6 - way, np.full(101, y), np.full(101, 0.97)], axis=1),
        )
        for k, (side, y) in enumerate((("left", 0.2), ("right", -0.2)))
    }
    handles = {side: HandlePath(pose) for side, pose in poses.items()}
    travel = 0.15 - 0.1 * np.cos(np.linspace(0.0, 6.0, 80))
    palms, contact = {}, {side: np.arange(80) >= 20 for side in poses}
    for side, ahead in (("left", 0.004), ("right", -0.002)):
        palms[side] = np.tile(poses[side][0], (80, 1, 1))
        palms[side][:, 0, 3] = 0.6 - travel + ahead
    held = grip_path(palms, contact, handles)
    both = contact["left"]
    # Their mean difference, once for both: no squeezing of what they hold.
    for side in poses:
        np.testing.assert_allclose(held[side][both, 0, 3], 0.6 - travel[both] + 0.001, atol=1e-9)
        np.testing.assert_allclose(held[side][both, :3, :3], poses[side][:60, :3, :3], atol=1e-9)
        np.testing.assert_array_equal(held[side][~both], palms[side][~both])


def test_ways_end_and_still_handles_stay():
    poses = np.tile(np.eye(4), (5, 1, 1))
    poses[:, 0, 3] = np.linspace(0.0, 0.1, 5)
    palm = np.tile(np.eye(4), (3, 1, 1))
    palm[:, 0, 3] = (-0.02, 0.06, 0.13)
    touching = {"right": np.ones(3, bool)}
    held = grip_path({"right": palm}, touching, {"right": HandlePath(poses)})["right"]
    np.testing.assert_allclose(held[:, 0, 3], (0.0, 0.06, 0.1), atol=1e-9)
    held = grip_path({"right": palm}, touching, {"right": HandlePath(poses[2:3])})["right"]
    np.testing.assert_allclose(held[:, 0, 3], 0.05)


@pytest.mark.parametrize("angle", [0.0, 1.0, 2.0 * np.pi - 0.01])
def test_a_closed_way_has_no_end(angle):
    seen = on_circle([angle])
    held = grip_path({"left": seen}, {"left": np.ones(1, bool)}, {"left": valve()})["left"]
    np.testing.assert_allclose(held, seen, atol=1e-6)
