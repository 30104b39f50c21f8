"""The half transparent second figure of a robot in pictures."""

import numpy as np
import pytest

from simbench.robot.robot import load_robot
from simbench.sim.rendering.scene_renderer import draw_frames
from simbench.sim.rendering.scene_view import GHOST_COLOUR, Camera, Frames, project

CAMERA = Camera((0.0, 0.0, 0.5), 3.5, 0.0, -10.0, 45.0, 240, 160, 30)
STILL = np.tile([0.0] * 6 + [1.0], (3, 1))


@pytest.fixture(scope="module")
def pictures():
    """Draw a robot that stands still, and the same with a ghost that moves on its right."""
    robot = load_robot("puma560")
    joints = np.tile(robot.postures["ready"], (3, 1))
    places = STILL.copy()
    places[:, 0] = (0.7, 0.9, 1.1)

    def drawn(ghost, indices):
        frames = Frames(STILL, joints, {}, None, ghost=ghost)
        return [picture.astype(int) for picture in draw_frames(robot, [], frames, CAMERA, indices)]

    ghost = places, joints
    return drawn(None, [0])[0], drawn(ghost, [0, 1, 2]), drawn(ghost, [1])[0]


def test_the_ghost_is_transparent_and_hides_nothing(pictures):
    plain, haunted, _ = pictures
    changed = np.abs(haunted[0] - plain).max(axis=2) > 3
    columns = np.nonzero(changed)[1]
    middle = project(CAMERA, np.array([[0.7, 0.0, 0.3]]))[0, 0]
    assert np.median(columns) == pytest.approx(middle, abs=10)
    # Twice the mean less what is behind is the figure alone: lit, but of its colour.
    alone = (2 * haunted[0] - plain)[changed]
    shares = alone / alone.max(axis=1, keepdims=True)
    assert np.mean(np.abs(shares - GHOST_COLOUR).max(axis=1) < 0.1) > 0.9
    # The robot itself is as before.
    left = np.s_[:, : int(middle) - 60]
    np.testing.assert_array_equal(haunted[0][left], plain[left])


def test_the_ghost_is_complete_wherever_it_moves(pictures):
    """Only the region of a picture in which something moves is redrawn."""
    _, haunted, alone = pictures
    assert np.abs(haunted[1] - alone).max() <= 1
