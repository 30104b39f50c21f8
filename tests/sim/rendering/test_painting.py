"""Bodies of a figure: where its balls and bars are."""

import numpy as np

from simbench.sim.rendering.painting import figure_poses
from simbench.sim.rendering.scene_view import Figure


def test_bars_reach_from_ball_to_ball():
    points = np.array([[[0.1, 0.2, 0.3], [0.4, -0.1, 0.9], [0.4, -0.1, 1.5], [1.4, -0.1, 1.5]]])
    bars = ((0, 1), (1, 2), (2, 3))
    poses = figure_poses(Figure(points, bars, (0.04,) * 4 + (0.03,) * 3))
    np.testing.assert_allclose(poses[:, :4, :3, 3], points)
    for (first, last), pose in zip(bars, poses[0, 4:], strict=True):
        np.testing.assert_allclose(pose[:3, 3], points[0, first])
        np.testing.assert_allclose(pose[:3, 3] + pose[:3, 2], points[0, last])
        # The other axes are unit vectors across it, in a right-handed order.
        length = np.linalg.norm(pose[:3, 2])
        np.testing.assert_allclose(np.cross(pose[:3, 0], pose[:3, 1]), pose[:3, 2] / length, atol=1e-12)


def test_a_bar_without_length_hides_nothing_else():
    points = np.zeros((2, 2, 3))
    points[1, 1] = [0.0, 0.0, 0.5]
    poses = figure_poses(Figure(points, ((0, 1),), (0.04, 0.04, 0.03)))
    assert np.isfinite(poses).all()
    np.testing.assert_allclose(poses[0, 2, :3, 2], 0.0)
