from dataclasses import replace

import ezc3d
import numpy as np
import pytest

from simbench.errors import MotionError
from simbench.motion.human_motion import Actor
from simbench.motion.read_options import ReadOptions
from simbench.motion.readers.c3d_reader import read_c3d
from simbench.motion.writers import write_motion

# Coordinates below 2048 mm as 32-bit floats are rounded by at most half of 2**-13 mm.
PRECISION = 2**-14 * 1e-3 * 1.001


@pytest.fixture
def motion(swing):
    marker = swing.joints["left_wrist"] + [0.02, 0.03, 0.04]
    actor = Actor("Zoë", height=1.712, mass=61.5, sex="female", age=29)
    return replace(swing, markers={"LWRA": marker}, actor=actor)


def test_what_another_program_finds_in_the_file(motion, tmp_path):
    write_motion(motion, tmp_path / "swing.c3d")
    file = ezc3d.c3d(str(tmp_path / "swing.c3d"))
    group, points = file["parameters"]["POINT"], file["data"]["points"]
    labels = group["LABELS"]["value"]
    assert group["UNITS"]["value"] == ["mm"]
    assert [group[name]["value"] for name in ("X_SCREEN", "Y_SCREEN")] == [["+X"], ["+Z"]]
    assert group["RATE"]["value"][0] == pytest.approx(50)
    assert points.shape == (4, 1 + 6 + 3 * 6, 51)
    hand = motion.segments["right_hand"]
    for name, expected in (
        ("LWRA", motion.markers["LWRA"]),
        ("right_elbow", motion.joints["right_elbow"]),
        ("right_hand_o", hand[:, :3, 3]),
        ("right_hand_x", hand[:, :3, 3] + 0.1 * hand[:, :3, 0]),
        ("right_hand_y", hand[:, :3, 3] + 0.1 * hand[:, :3, 1]),
    ):
        track = points[:3, labels.index(name)].T
        np.testing.assert_allclose(track, 1000 * expected, rtol=0, atol=1000 * PRECISION)
    assert file["parameters"]["EVENT"]["LABELS"]["value"] == ["stroke start", "stroke end"] * 2
    np.testing.assert_allclose(file["parameters"]["EVENT"]["TIMES"]["value"][1], [0, 0.5, 0.5, 1.0])


def test_our_reader_gives_it_back_to_the_precision_of_32_bit_floats(motion, tmp_path):
    write_motion(motion, tmp_path / "swing.c3d")
    recording = read_c3d(tmp_path / "swing.c3d", ReadOptions())
    assert (recording.unit, recording.up, recording.notes) == ("mm", "z", ())
    np.testing.assert_allclose(recording.time, motion.time, rtol=0, atol=1e-9)
    tracks = dict(zip(recording.names, recording.positions.transpose(1, 0, 2), strict=True))
    for name, expected in {**motion.joints, **motion.markers}.items():
        np.testing.assert_allclose(tracks[name], expected, rtol=0, atol=PRECISION)
    for name, frames in motion.segments.items():
        x, y = (10 * (tracks[f"{name}_{axis}"] - tracks[f"{name}_o"]) for axis in "xy")
        # Two roundings over 0.1 m.
        np.testing.assert_allclose(x, frames[:, :3, 0], rtol=0, atol=20 * PRECISION)
        np.testing.assert_allclose(y, frames[:, :3, 1], rtol=0, atol=20 * PRECISION)
    details = {"actor": "Zoë", "sex": "female", "height": "1.712", "mass": "61.5", "age": "29"}
    assert dict(recording.details) == {**details, "description": "swing"}
    starts = [time for label, time in recording.events if label == "stroke start"]
    np.testing.assert_allclose(starts, motion.time[motion.strokes[:, 0]], atol=1e-6)


def test_the_same_motion_gives_the_same_bytes(motion, tmp_path):
    for name in ("one.c3d", "two.c3d"):
        write_motion(motion, tmp_path / name)
    assert (tmp_path / "one.c3d").read_bytes() == (tmp_path / "two.c3d").read_bytes()


def test_events_after_a_minute(swinging_arms, tmp_path):
    long = replace(swinging_arms(duration=130.0), strokes=np.array([[100, 6200]]))
    write_motion(long, tmp_path / "long.c3d")
    events = read_c3d(tmp_path / "long.c3d", ReadOptions()).events
    assert events == (("stroke start", pytest.approx(2.0)), ("stroke end", pytest.approx(124.0)))


def test_uneven_time_and_too_many_repetitions_are_refused_and_nothing_is_left(motion, tmp_path):
    uneven = motion.time.copy()
    uneven[20:] += 0.004
    with pytest.raises(MotionError, match=r"one frame rate, the samples lie 0\.02 to 0\.024 s apart"):
        write_motion(replace(motion, time=uneven), tmp_path / "swing.c3d")
    with pytest.raises(MotionError):
        write_motion(replace(motion, strokes=np.tile([[0, 9]], (128, 1))), tmp_path / "swing.c3d")
    markers = {"left_elbow": motion.markers["LWRA"]}
    with pytest.raises(MotionError):
        write_motion(replace(motion, markers=markers), tmp_path / "swing.c3d")
    assert list(tmp_path.iterdir()) == []
