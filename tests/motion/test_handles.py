"""Handles: circles in closed form, through every step a recording goes."""

from dataclasses import replace

import h5py
import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from simbench.cli.motion import summary_lines
from simbench.errors import MotionError
from simbench.motion.human_motion import HandlePath, path_length, resample, transform, validate_motion
from simbench.motion.motion_inspection import inspect_motion
from simbench.motion.readers import read_motion
from simbench.motion.writers import write_motion

RADIUS = 0.12
KNIFE = np.array([np.cos(0.9), np.sin(0.9), 0.0])


def circle(count=200, axis=None):
    """Palms on a circle about y that keep an orientation no short decimal gives."""
    angle = np.linspace(0.0, 2.0 * np.pi, count)
    places = [0.4, 0.2, 1.0] + RADIUS * np.stack([np.cos(angle), 0.0 * angle, np.sin(angle)], axis=1)
    rotation = Rotation.from_rotvec([0.1, 0.2, 1.0 / 3.0]).as_matrix()
    return HandlePath(transform(rotation[None], places), axis)


@pytest.fixture
def crank(swing):
    """The left hand holds something still, the right turns a crank with a knob."""
    return replace(swing, handles={"left": HandlePath(circle().poses[:1]), "right": circle(axis=KNIFE)})


def same(first, second):
    assert list(first) == list(second)
    for side, handle in first.items():
        assert handle.poses.tobytes() == second[side].poses.tobytes()
        assert (handle.turn_axis is None) == (second[side].turn_axis is None)
        if handle.turn_axis is not None:
            assert handle.turn_axis.tobytes() == second[side].turn_axis.tobytes()


def test_the_way_around_a_circle_is_its_circumference():
    # A polygon of 199 sides.
    assert path_length(circle()) == pytest.approx(2 * 199 * RADIUS * np.sin(np.pi / 199), rel=1e-12)
    assert path_length(circle()) == pytest.approx(2 * np.pi * RADIUS, rel=1e-4)
    assert path_length(HandlePath(circle().poses[:1])) == 0.0


def test_handles_stay_where_they_are_at_another_rate(crank):
    same(crank.handles, resample(crank, 31.0).handles)


def test_handles_come_back_from_a_file_bit_for_bit(tmp_path, crank):
    write_motion(crank, tmp_path / "crank.nc")
    same(crank.handles, read_motion(tmp_path / "crank.nc").handles)
    with h5py.File(tmp_path / "crank.nc") as file:
        assert file["right_handle_position"].attrs["units"] == "m"
        assert "left_handle_turn_axis" not in file
    only_right = replace(crank, handles={"right": crank.handles["right"]})
    write_motion(only_right, tmp_path / "right.nc")
    same(only_right.handles, read_motion(tmp_path / "right.nc").handles)


@pytest.mark.parametrize("suffix", [".nc", ".csv", ".c3d"])
def test_a_file_without_handles_has_none(tmp_path, swing, crank, suffix):
    write_motion(swing if suffix == ".nc" else crank, tmp_path / f"bare{suffix}")
    assert dict(read_motion(tmp_path / f"bare{suffix}").handles) == {}


def test_inspection_says_how_far_handles_go_and_how_hands_turn_on_them(swing, crank):
    def line(motion):
        (line,) = (line for line in summary_lines(inspect_motion(motion)) if line.startswith("handles"))
        return line.removeprefix("handles").strip()

    assert line(swing) == "not known"
    assert line(crank) == (
        "left still, held fully; right 0.75 m long, free to turn about the palm's (0.62, 0.78, 0.00)"
    )
    about_y = replace(crank, handles={"right": circle(axis=np.array([0.0, 1.0, 0.0]))})
    assert line(about_y) == "right 0.75 m long, free to turn about the palm's y"


def with_number(row, column, number):
    poses = circle().poses
    poses[7, row, column] = number
    return {"left": HandlePath(poses)}


@pytest.mark.parametrize(
    ("handles", "words"),
    [
        ({"middle": circle()}, "handle middle: unknown side; allowed: left, right"),
        ({"left": HandlePath(circle().poses[0])}, r"left handle: poses have shape \(4, 4\)"),
        (with_number(0, 3, np.nan), "left handle: pose 7 is NaN"),
        (with_number(0, 0, 2.0), "left handle: not a rigid transform"),
        ({"left": circle(axis=np.array([1.0, 1.0, 0.0]))}, "left handle: turn axis is 1.414 long"),
        ({"left": circle(axis=np.eye(3))}, r"left handle: turn axis has shape \(3, 3\)"),
    ],
)
def test_handles_that_no_hand_can_hold_are_refused(swing, handles, words):
    with pytest.raises(MotionError, match=words) as caught:
        validate_motion(replace(swing, handles=handles))
    assert "\n" not in str(caught.value)
