"""The picture of a recording: what is where on it, read back from its pixels."""

from dataclasses import replace

import numpy as np
import pytest
from pictures import coloured, pixels

from simbench.motion.motion_inspection import inspect_motion
from simbench.motion.skeleton_plot import COLOURS, plot_recording


def standing(motion):
    places = {"pelvis": (0, 0, 0.95), "neck": (0, 0, 1.45), "head": (0, 0, 1.65)}
    for side, y in (("left", 0.1), ("right", -0.1)):
        for joint, x, z in (("hip", 0, 0.9), ("knee", 0, 0.5), ("ankle", 0, 0.08), ("toe", 0.15, 0.02)):
            places[f"{side}_{joint}"] = (x, y, z)
    tracks = {name: np.tile(place, (len(motion.time), 1)) for name, place in places.items()}
    return replace(motion, joints={**motion.joints, **tracks})


def test_a_metre_is_as_wide_as_high(swing, tmp_path):
    count = len(swing.time)
    still = {name: np.tile(track[0], (count, 1)) for name, track in standing(swing).joints.items()}
    # The left arm points to the side, the right one hangs; both hands are hidden in the line of the arm.
    still["left_elbow"], still["left_wrist"] = (still["left_shoulder"] + [0, y, 0] for y in (0.3, 0.55))
    segments = {name: np.tile(np.eye(4), (count, 1, 1)) for name in swing.segments}
    segments["left_hand"][:, :3, :2] = [[0, -1], [1, 0], [0, 0]]
    segments["right_hand"][:, :3, [0, 2]] = [[0, 1], [0, 0], [-1, 0]]
    path = tmp_path / "a.png"
    plot_recording(inspect_motion(replace(swing, joints=still, segments=segments)), path)
    figures = pixels(path)[60:440]
    rows, columns = np.nonzero(coloured(figures, COLOURS["left"])[:120])
    # The first figure's arm: its columns follow each other without a break.
    present = np.unique(columns)
    across = np.flatnonzero(np.diff(present) > 1)[0]
    rows, columns = np.nonzero(coloured(figures, COLOURS["right"]))
    thick = np.median(np.unique(columns, return_counts=True)[1])
    down = np.ptp(rows[columns < present[0]])
    assert thick > 0
    assert across / down == pytest.approx(np.cos(np.radians(40)), rel=0.03)
