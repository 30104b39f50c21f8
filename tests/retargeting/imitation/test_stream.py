"""Imitation as a stream: the same as all at once, whatever comes and however long."""

import pickle

import numpy as np
import pytest

from simbench.errors import MotionError
from simbench.retargeting.imitation.imitation import METHODS, start_imitation
from simbench.retargeting.imitation.stream import follow_frames
from simbench.retargeting.imitation.tasks import imitation_targets


def frames(actor, motion, stream, count):
    return tuple(target[:count] for target in imitation_targets(actor, motion, stream.weights))


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("limited", [False, True])
def test_frame_by_frame_is_all_at_once(drawer_actor, drawer_motion, method, limited):
    one = start_imitation(drawer_actor, drawer_motion, method=method, limited=limited)
    other = start_imitation(drawer_actor, drawer_motion, method=method, limited=limited)
    points, turns = frames(drawer_actor, drawer_motion, one, 150)
    together, _ = follow_frames(one, points, turns)
    single = [follow_frames(other, points[t : t + 1], turns[t : t + 1])[0][0] for t in range(150)]
    np.testing.assert_array_equal(np.array(single), together)
    np.testing.assert_allclose(np.linalg.norm(together[:, 3:7], axis=1), 1.0, atol=1e-12)
    if limited:
        model = drawer_actor.model
        assert (together[:, 7:] >= model.lowerPositionLimit[7:]).all()
        assert (together[:, 7:] <= model.upperPositionLimit[7:]).all()


@pytest.mark.parametrize(
    ("spoil", "message"),
    [
        (lambda points, turns: (points[:, :5], turns), r"points \(1, 5, 3\) and rotations"),
        (lambda points, turns: (points * np.nan, turns), r"frame 0: targets must be finite"),
        (lambda points, turns: (points + np.inf, turns), r"within 1000 m"),
        (lambda points, turns: (points + 5000.0, turns), r"within 1000 m"),
        (lambda points, turns: (points, turns * np.nan), r"finite rotations"),
    ],
)
def test_a_frame_that_cannot_be_is_refused_and_forgotten(drawer_actor, drawer_motion, spoil, message):
    stream = start_imitation(drawer_actor, drawer_motion)
    points, turns = frames(drawer_actor, drawer_motion, stream, 1)
    before = stream.q.copy()
    with pytest.raises(MotionError, match=message):
        follow_frames(stream, *spoil(points, turns))
    np.testing.assert_array_equal(stream.q, before)
    assert np.isfinite(follow_frames(stream, points, turns)[0]).all()


def test_a_long_stream_keeps_no_more_than_a_short_one(drawer_actor, drawer_motion):
    """The whole stream, with its workspace, written out: it is all that one frame leaves to the next."""
    stream = start_imitation(drawer_actor, drawer_motion)
    points, turns = frames(drawer_actor, drawer_motion, stream, 1000)
    sizes = []
    for t in range(1000):
        follow_frames(stream, points[t][None], turns[t][None])
        if t in (0, 10, 999):
            sizes.append(len(pickle.dumps(stream)))
    assert sizes == [sizes[0]] * 3
