import numpy as np
import pytest

from simbench.motion.phases import HandTrajectory, find_repetitions

PERIOD = 40


def strokes(count, seed=0):
    """A hand that goes out and back with pauses at both ends, and the samples of its stops."""
    time = np.arange(count * PERIOD + 1) / 50.0
    # Out and back along a bow, so that the two ways differ.
    angle = 2.0 * np.pi * np.arange(len(time)) / PERIOD
    points = np.stack([-0.2 * np.cos(angle), 0.05 * np.sin(angle) ** 3, 0.0 * angle], axis=1)
    points += 1e-4 * np.random.default_rng(seed).normal(size=points.shape)
    speed = 0.2 * 2.0 * np.pi * 50.0 / PERIOD * np.abs(np.sin(angle))
    stops = np.arange(0, len(time), PERIOD // 2)
    hands = HandTrajectory(time, points, points, speed)
    return hands, stops


@pytest.mark.parametrize("count", [3, 70, 400])
def test_every_stroke_is_a_repetition_however_many_there_are(count):
    hands, stops = strokes(count)
    chain = find_repetitions(hands, stops)
    # Those from one end cover all strokes, those from the other one less.
    np.testing.assert_array_equal(chain, np.arange(0, 2 * count + 1, 2))


def test_candidates_may_be_examined_in_any_blocks(monkeypatch):
    hands, stops = strokes(30, seed=1)
    whole = find_repetitions(hands, stops)
    monkeypatch.setattr("simbench.motion.phases.BLOCK", 1)
    np.testing.assert_array_equal(find_repetitions(hands, stops), whole)


def test_what_never_recurs_has_no_repetitions():
    hands, stops = strokes(5)
    away = np.linspace(0.0, 30.0, len(hands.time))[:, None] * [0.0, 0.0, 1.0]
    moving = HandTrajectory(hands.time, hands.points + away, hands.smooth + away, hands.speed + 3.0)
    assert len(find_repetitions(moving, stops)) == 0
