"""The picture of a recording: what is where on it, read back from its pixels."""

import errno
import os
from dataclasses import replace

import numpy as np
import pytest
from pictures import coloured, pixels

from simbench.errors import MotionError
from simbench.motion import skeleton_plot
from simbench.motion.human_motion import Gap
from simbench.motion.motion_inspection import inspect_motion
from simbench.motion.phases import Phases
from simbench.motion.skeleton_plot import COLOURS, PHASE_COLOURS, build_stick_figure, plot_recording

ROW = slice(72, 1180)


def standing(motion):
    places = {"pelvis": (0, 0, 0.95), "neck": (0, 0, 1.45), "head": (0, 0, 1.65)}
    for side, y in (("left", 0.1), ("right", -0.1)):
        for joint, x, z in (("hip", 0, 0.9), ("knee", 0, 0.5), ("ankle", 0, 0.08), ("toe", 0.15, 0.02)):
            places[f"{side}_{joint}"] = (x, y, z)
    tracks = {name: np.tile(place, (len(motion.time), 1)) for name, place in places.items()}
    return replace(motion, joints={**motion.joints, **tracks})


def one_arm(motion):
    return replace(
        motion,
        joints={name: track for name, track in motion.joints.items() if name.startswith("left")},
        segments={name: track for name, track in motion.segments.items() if name.startswith("left")},
    )


def test_the_camera_sees_the_actor_from_the_front_and_the_left(swing):
    chains = {(side, arm): image for side, arm, *image in build_stick_figure(standing(swing))}
    left, right = chains["left", True], chains["right", True]
    # 40 degrees from the front: 0.18 m to the side are 0.138 m across, and forward is to the left.
    np.testing.assert_allclose(left[0][0, 0], 0.18 * np.cos(np.radians(40)), atol=1e-12)
    np.testing.assert_allclose(right[0][:, 0], -left[0][:, 0], atol=1e-12)
    forward = swing.joints["left_wrist"][:, 0]
    np.testing.assert_allclose(left[0][:, 2] - left[0][:, 0], -np.sin(np.radians(40)) * forward, atol=1e-12)
    np.testing.assert_allclose(left[1][:, 2], swing.joints["left_wrist"][:, 2])


@pytest.mark.parametrize("body", [lambda motion: motion, standing, one_arm])
def test_a_picture_is_small_and_nothing_is_cut_off(swing, tmp_path, body):
    path = tmp_path / "a.png"
    plot_recording(inspect_motion(body(swing)), path)
    assert 10_000 < path.stat().st_size < 80_000
    image = pixels(path)
    assert image.shape[1] == 1200
    assert 350 <= image.shape[0] <= 750
    for border in (image[:4], image[-4:], image[:, :4], image[:, -4:]):
        assert (border == 255).all()
    assert coloured(image, COLOURS["left"]).sum() > 500
    assert (coloured(image, COLOURS["right"]).sum() > 500) == (body is not one_arm)


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


def test_phases_and_gaps_lie_at_their_times(swing, tmp_path):
    path = tmp_path / "a.png"
    phases = Phases((0.0, 0.1), (0.1, 0.3), (0.3, 0.8), (0.8, 1.0), np.array([0.3, 0.5, 0.8]))
    motion = replace(
        swing, markers={"C7": np.zeros((len(swing.time), 3))}, filled=(Gap("C7", 21, 24), Gap("C7", 41, 44))
    )
    plot_recording(replace(inspect_motion(motion), phases=phases), path)
    speeds = pixels(path)[-210:, ROW]
    width = speeds.shape[1]
    for name, start, end in (("icp", 0, 0.1), ("tgp", 0.1, 0.3), ("pmp", 0.3, 0.8), ("rest", 0.8, 1.0)):
        columns = np.flatnonzero(coloured(speeds, PHASE_COLOURS[name]).sum(axis=0) > 20)
        assert columns.min() / width == pytest.approx(start, abs=0.005)
        assert columns.max() / width == pytest.approx(end, abs=0.005)
    columns = np.flatnonzero(coloured(speeds, skeleton_plot.GAP_COLOUR).sum(axis=0) > 3) / width
    # From the sample before the gap to the one after it, at 50 Hz.
    assert columns.min() == pytest.approx(0.4, abs=0.005)
    assert columns.max() == pytest.approx(0.9, abs=0.005)
    assert len(columns) / width == pytest.approx(0.2, abs=0.01)


def test_a_name_is_text_whatever_it_holds(swing, tmp_path):
    plot_recording(inspect_motion(replace(swing, source=r"$\frac{$ _^" + 80 * "n")), tmp_path / "a.png")
    image = pixels(tmp_path / "a.png")
    assert (image[:40, -4:] == 255).all()


def test_a_full_disk_leaves_the_old_picture_and_nothing_else(swing, tmp_path, monkeypatch):
    path = tmp_path / "a.png"
    path.write_bytes(b"old")

    def full(*_):
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(os, "replace", full)
    with pytest.raises(MotionError):
        plot_recording(inspect_motion(swing), path)
    assert path.read_bytes() == b"old"
    assert list(tmp_path.iterdir()) == [path]
