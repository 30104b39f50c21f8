import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from simbench.errors import MotionError
from simbench.motion.human_motion import transform
from simbench.motion.phases import normalise_frames, normalise_time

TIME = np.arange(0, 401) / 100
CUTS = np.array([0.5, 1.25, 3.0])


def test_each_primitive_is_sampled_at_its_own_phase():
    values = np.stack([TIME, np.sin(3 * TIME), TIME**2], axis=1).reshape(-1, 3, 1)
    result = normalise_time(values, TIME, CUTS, samples=11)
    assert result.shape == (2, 11, 3, 1)
    for row, (start, end) in zip(result[..., 0], ((0.5, 1.25), (1.25, 3.0)), strict=True):
        moments = np.linspace(start, end, 11)
        expected = np.stack([moments, np.sin(3 * moments), moments**2], axis=1)
        assert row == pytest.approx(expected, abs=1e-7)


def test_the_same_movement_at_two_speeds_becomes_one():
    phase = np.where(TIME < 1.0, TIME, 1.0 + (TIME - 1.0) / 3.0)
    values = np.cos(2 * np.pi * phase)
    fast = normalise_time(values, TIME, np.array([0.0, 1.0]))[0]
    slow = normalise_time(values, TIME, np.array([1.0, 4.0]))[0]
    assert slow == pytest.approx(fast, abs=2e-3)


def test_frames_turn_along_geodesics_and_stay_rigid():
    axis = np.array([0.6, 0.0, 0.8])
    frames = transform(
        Rotation.from_rotvec((0.7 * TIME)[:, None] * axis).as_matrix(), np.outer(TIME, [1.0, 2.0, 3.0])
    )
    result = normalise_frames(frames[::10], TIME[::10], CUTS, samples=7)
    moments = np.linspace(1.25, 3.0, 7)
    assert result.shape == (2, 7, 4, 4)
    assert result[1, :, :3, 3] == pytest.approx(np.outer(moments, [1.0, 2.0, 3.0]), abs=1e-12)
    turns = Rotation.from_matrix(result[1, :, :3, :3]).as_rotvec()
    assert turns == pytest.approx(np.outer(0.7 * moments, axis), abs=1e-12)


@pytest.mark.parametrize(
    ("cuts", "samples", "message"),
    [
        ([0.5], 5, r"boundaries \[0.5\]: at least two increasing times"),
        ([1.0, 1.0], 5, r"increasing"),
        ([0.5, np.nan], 5, r"increasing"),
        ([-0.5, 1.0], 5, r"from -0.500 to 1.000 s: the recording has 0.000 to 4.000 s"),
        ([1.0, 4.5], 5, r"recording has"),
        ([1.0, 2.0], 1, r"1 sample"),
    ],
)
def test_boundaries_that_cut_nothing_are_refused(cuts, samples, message):
    with pytest.raises(MotionError, match=message):
        normalise_time(TIME, TIME, np.array(cuts), samples)
    with pytest.raises(MotionError, match=message):
        normalise_frames(np.tile(np.eye(4), (len(TIME), 1, 1)), TIME, np.array(cuts), samples)
