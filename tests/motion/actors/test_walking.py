"""The walking actor: the numbers of gait, and that no session contains it."""

import numpy as np
import pytest

from simbench.errors import MotionError
from simbench.motion.actors import perform_average, read_actor
from simbench.motion.actors.session import TASKS
from simbench.motion.phases import find_phases


@pytest.fixture(scope="module")
def walk():
    return perform_average("walking")


def steady(performance):
    """Samples of the strides at full speed."""
    first, last = performance.motion.strokes[[1, -1], [0, 0]]
    return slice(first, last)


def test_the_pelvis_moves_as_in_natural_walking(walk):
    pelvis, strides = walk.q[:, :3], walk.motion.strokes
    during = steady(walk)
    speed = np.gradient(pelvis[during, 0], 1 / 60)
    assert speed.min() > 1.2
    assert speed.max() < 1.45
    # Standing at both ends, four strides apart.
    assert np.abs(np.gradient(pelvis[:60, 0], 1 / 60)).max() < 0.02
    length = (pelvis[-1, 0] - pelvis[0, 0]) / 4
    assert length == pytest.approx(0.83 * 1.70, rel=0.05)
    assert np.ptp(pelvis[during, 2]) == pytest.approx(0.046, abs=0.002)
    assert 0.040 < np.ptp(pelvis[during, 1]) < 0.055
    # The pelvis never rises above its height in standing, and is lowest at the contacts of the heels.
    assert pelvis[:, 2].max() <= pelvis[0, 2] + 1e-9
    for contact in strides[1:, 0]:
        assert pelvis[contact, 2] == pytest.approx(pelvis[during, 2].min(), abs=0.001)


def test_the_arms_swing_against_each_other_and_once_a_stride(walk):
    during = steady(walk)
    left, right = (np.degrees(walk.q[during][:, walk.human.arms[side]]) for side in ("left", "right"))
    for arm in (left, right):
        assert np.ptp(arm[:, 0]) == pytest.approx(32.0, abs=0.5)
        assert arm[:, 0].max() == pytest.approx(8.0, abs=0.5)
    assert np.corrcoef(left[:, 0], right[:, 0])[0, 1] < -0.99
    # As the left heel touches the ground, the right arm is in front.
    assert right[0, 0] == pytest.approx(right[:, 0].max(), abs=0.5)
    pelvis, trunk = (walk.motion.segments[name][during, :2, 0] for name in ("pelvis", "trunk"))
    yaw = [np.arctan2(axis[:, 1], axis[:, 0]) for axis in (pelvis, trunk)]
    assert np.corrcoef(*yaw)[0, 1] < -0.9


def test_the_recording_begins_in_the_initial_configuration_and_its_strides_are_found(walk):
    assert any(note.startswith("initial posture: held") for note in walk.motion.notes)
    assert len(walk.motion.strokes) == 4
    phases = find_phases(walk.motion)
    assert phases.icp[1] == pytest.approx(1.0, abs=0.05)
    # The strides at full speed are found; hands pass each other at other instants than heels touch.
    assert np.diff(phases.boundaries) == pytest.approx(1.08, abs=0.1)


def test_no_session_contains_it():
    assert "walking" not in TASKS
    with pytest.raises(MotionError):
        read_actor("walking:1")
    with pytest.raises(MotionError):
        read_actor("running")
