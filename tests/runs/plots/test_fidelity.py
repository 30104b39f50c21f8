"""The picture of a robot beside the person: what it shows, and which logs cannot be drawn."""

from dataclasses import replace

import numpy as np
from PIL import Image

from simbench.runs.plots.fidelity_plot import (
    Comparison,
    choose_moments,
    draw_comparison,
    panel_size,
)

TIME = np.arange(61) / 30.0
BODY = ("left_hip", "left_knee", "left_ankle", "left_shoulder", "left_elbow", "left_wrist", "right_shoulder")


def points(swing=1.0, forward=0.0):
    """A body whose left wrist swings up and back twice, and that goes forward."""
    at = {name: np.tile([0.0, 0.1 * k, 0.2 * k], (len(TIME), 1)) for k, name in enumerate(BODY)}
    at["left_wrist"] = at["left_elbow"] + 0.3 * swing * np.column_stack(
        [np.sin(2.0 * np.pi * TIME), 0.0 * TIME, -np.cos(2.0 * np.pi * TIME)]
    )
    return {name: values + np.outer(TIME, [forward, 0.0, 0.0]) for name, values in at.items()}


def comparison(**changes):
    made = Comparison(
        "by hand",
        TIME,
        2.0 + 1.5 * TIME,
        points(),
        points(0.5, 1.0),
        {
            "left_forearm": 0.3 + 0.1 * np.sin(TIME),
            "right_forearm": np.full(len(TIME), 0.1),
            "head": 0.2 * TIME,
        },
        np.array([0, 15, 30, 60]),
    )
    return replace(made, **changes)


def test_moments_are_of_different_postures_and_of_the_whole_duration():
    moments = choose_moments(points(), TIME, 4)
    assert len(set(moments.tolist())) == 4
    assert (np.diff(moments) > 0).all()
    wrist = points()["left_wrist"][moments] - points()["left_elbow"][moments]
    assert np.ptp(wrist[:, 2]) > 0.55
    assert np.ptp(TIME[moments]) > 1.0
    # Where a body goes is no posture.
    np.testing.assert_array_equal(choose_moments(points(forward=2.0), TIME, 4), moments)
    assert choose_moments(points(), TIME, 100).tolist() == list(range(61))
    assert len(choose_moments(points(0.0), TIME, 3)) == 3


def test_the_picture_has_a_panel_for_each_moment_of_both(tmp_path):
    width, height = panel_size(4)
    # A colour that nothing else has.
    drawn = [np.full((height, width, 3), (10, 200, 90), np.uint8)] * 4
    path = tmp_path / "c.png"
    draw_comparison(comparison(pictures=drawn), path)
    image = np.asarray(Image.open(path).convert("RGB")).astype(int)
    green = np.abs(image - (10, 200, 90)).max(axis=2) < 8
    assert image.shape[1] == 1200
    assert green.sum() > 0.97 * 4 * width * height
    assert [entry.name for entry in tmp_path.iterdir()] == ["c.png"]
    # The second clock takes room.
    draw_comparison(comparison(robot_time=TIME), tmp_path / "same.png")
    assert Image.open(tmp_path / "same.png").size[1] < image.shape[0]
