"""Maps with wrong names and numbers give a motion or one line, and no warning of the arithmetic."""

import warnings
from pathlib import Path

import hypothesis.strategies as st
import numpy as np
import pytest
import yaml
from hypothesis import given, settings

from simbench.errors import MotionError
from simbench.motion.marker_maps import to_human_motion
from simbench.motion.read_options import ReadOptions
from simbench.resources import resource_dir

SECTIONS = ("joints", "points", "frames", "segments", "feet", "facing")
# Among them what overflows in a square, and what does so in the square of a square.
NUMBERS = (0.0, -1.0, 1e-9, 999.0, 1e300, float("nan"))
MARKER_SETS = ("kim2005", "plug_in_gait", "rajagopal")


def read_map(name):
    return yaml.safe_load((resource_dir("marker_maps") / f"{name}.yaml").read_text(encoding="utf-8"))


def convert(recording, data, folder):
    path = folder / "map.yaml"
    path.write_text(yaml.safe_dump(data), encoding="utf-8")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        return to_human_motion(recording, ReadOptions(marker_map=str(path)))


def leaves(value, path=()):
    """Paths of all names and numbers of a map, with their values."""
    if isinstance(value, dict | list):
        for key, item in value.items() if isinstance(value, dict) else enumerate(value):
            yield from leaves(item, (*path, key))
    elif path[-1] != "note":
        yield path, value


def put(data, path, value):
    for key in path[:-1]:
        data = data[key]
    data[path[-1]] = value


@pytest.fixture(scope="module")
def folder(tmp_path_factory) -> Path:
    return tmp_path_factory.mktemp("maps")


@pytest.mark.parametrize("name", MARKER_SETS)
@settings(max_examples=40)
@given(edits=st.lists(st.tuples(st.integers(0, 10**4), st.integers(0, 10**4)), min_size=1, max_size=6))
def test_a_motion_or_one_line(person, make_recording, folder, name, edits):
    """Points in the places of others, and numbers that are no lengths of a body."""
    data = read_map(name)
    found = list(leaves({section: data[section] for section in SECTIONS if section in data}))
    names = [value for _, value in found if isinstance(value, str)]
    for where, what in edits:
        path, old = found[where % len(found)]
        put(data, path, names[what % len(names)] if isinstance(old, str) else NUMBERS[what % len(NUMBERS)])
    try:
        motion = convert(make_recording(person, name), data, folder)
    except MotionError as error:
        lines = str(error).splitlines()
    else:
        lines = []
        for frames in motion.segments.values():
            turned = frames[:, :3, :3]
            np.testing.assert_allclose(
                turned @ turned.transpose(0, 2, 1), np.tile(np.eye(3), (40, 1, 1)), atol=1e-9
            )
    assert len(lines) <= 1


@pytest.mark.parametrize(
    ("frame", "recipe", "when"),
    [
        (
            "trunk",
            {"axes": {"z": ["pelvis", "neck"], "x": ["neck", "pelvis"]}, "origin": "neck"},
            "at frame 0",
        ),
        ("trunk", {"axes": {"z": [0, 0, 1], "x": [0, 0, -2]}, "origin": "neck"}, "at frame 0"),
        ("trunk", {"axes": {"z": [0, 0, 1], "x": [0, 0, 0]}, "origin": "neck"}, "at frame 0"),
        (
            "left_hand",
            {"along": ["left_elbow", "left_wrist"], "thumb": ["left_wrist", "left_elbow"]},
            "at frame 0",
        ),
        ("left_hand", {"along": [0, 0, 0], "lateral": [1, 0, 0]}, "at frame 0"),
    ],
)
def test_directions_that_give_no_frame_are_told_by_its_name(
    person, make_recording, folder, frame, recipe, when
):
    data = read_map("plug_in_gait")
    data["segments"][frame] = recipe
    words = (
        f"directions that the marker map gives for the frame {frame} are parallel {when}; they must differ"
    )
    with pytest.raises(MotionError, match=words):
        convert(make_recording(person, "plug_in_gait"), data, folder)


@pytest.mark.parametrize("number", [1001.0, 1e300, float("inf"), float("nan")])
@pytest.mark.parametrize(
    ("key", "recipe"),
    [
        ("by", {"start": "C7", "frame": "trunk", "by": [0, 0, None]}),
        ("offset", {"proximal": "C7", "marker": "LSHO", "wand": "T10", "offset": None}),
        ("weights", {"mean": ["C7", "CLAV"], "weights": [1, None]}),
    ],
)
def test_a_number_that_is_no_length_of_a_body_is_refused_at_its_key(
    person, make_recording, folder, number, key, recipe
):
    data = read_map("plug_in_gait")
    value = recipe[key]
    data["joints"]["neck"] = recipe | {key: [*value[:-1], number] if isinstance(value, list) else number}
    with pytest.raises(MotionError, match=rf"joints\.neck\.0\..*{key}"):
        convert(make_recording(person, "plug_in_gait"), data, folder)


def test_weights_that_cancel_are_refused(person, make_recording, folder):
    """0.1 + 0.2 - 0.3 is 5.6e-17."""
    data = read_map("plug_in_gait")
    data["joints"]["neck"] = {"mean": ["C7", "CLAV", "T10"], "weights": [0.1, 0.2, -0.3]}
    with pytest.raises(MotionError):
        convert(make_recording(person, "plug_in_gait"), data, folder)
