"""Markers with names that no map knows are found by where they are, or named near what is missing."""

from dataclasses import replace

import numpy as np
import pytest
from marker_people import MARKER_SETS, make_body, record_markers

from simbench.errors import MotionError
from simbench.motion.marker_maps import to_human_motion
from simbench.motion.marker_preparation import prepare_markers
from simbench.motion.read_options import ReadOptions

SETS = ("plug_in_gait", "rajagopal", "kim2005")


@pytest.fixture(scope="module")
def body():
    return make_body(count=200)


def read(recording, **options):
    given = ReadOptions(**options)
    whole, filled = prepare_markers(recording, given)
    return to_human_motion(whole, given, filled)


def renamed(recording, **new):
    return replace(recording, names=tuple(new.get(name, name) for name in recording.names))


@pytest.mark.parametrize("name", SETS)
def test_one_unknown_name_changes_nothing(body, name):
    recording = record_markers(body, name)
    whole = read(recording)
    rng = np.random.default_rng(1)
    for marker in recording.names:
        token = "".join(rng.choice([*"abcdefghijkmnopqstuvwxyzABCDEFGHIJKMNOPQSTUVWXYZ0123456789"], 5))
        motion = read(renamed(recording, **{marker: token}))
        assert {*motion.joints} == {*whole.joints}, (marker, token)
        for joint, track in whole.joints.items():
            off = np.linalg.norm(motion.joints[joint] - track, axis=1).max()
            # A marker that is not found leaves a joint at its other ones.
            found = any(f"marker {token} is read as {marker}" in doubt for doubt in motion.doubts)
            assert off < (1e-9 if found else 0.065), (marker, token, joint)


@pytest.mark.parametrize("order", [("1", "2"), ("2", "1")])
def test_wrists_under_unknown_names_are_told_apart_by_how_they_turn(body, order):
    recording = record_markers(body, "plug_in_gait")
    new = {f"{side}WR{letter}": f"{side}W{k}" for side in "LR" for letter, k in zip("AB", order, strict=True)}
    motion, whole = read(renamed(recording, **new)), read(recording)
    for old, name in new.items():
        assert any(f"marker {name} is read as {old}" in doubt for doubt in motion.doubts), motion.doubts
    for segment in ("left_forearm", "right_forearm"):
        np.testing.assert_allclose(motion.segments[segment], whole.segments[segment], atol=1e-9)


def test_what_is_not_there_is_not_found_in_other_markers(body):
    markers = MARKER_SETS["plug_in_gait"](body)
    gone = {name: track for name, track in markers.items() if name not in ("LELB", "RELB")}
    upper = {
        f"{side}Q{k}": (1.0 - 0.2 * k) * markers[f"{side}SHO"] + 0.2 * k * markers[f"{side}ELB"]
        for side in "LR"
        for k in (1, 2, 3)
    }
    with pytest.raises(
        MotionError, match=r"left arm: LELB; right arm: RELB\).*near where LELB should be: LQ3 \(\d+ mm\)"
    ):
        read(record_markers(body, gone | upper))


def test_a_name_that_says_another_place_is_not_taken(body):
    recording = record_markers(body, "plug_in_gait")
    with pytest.raises(MotionError, match="left arm: LSHO, LELB; right arm: RSHO, RELB") as error:
        read(renamed(recording, LELB="LTIB7", RELB="RTIB7", LSHO="L_Thigh_Rear", RSHO="R_Thigh_Rear"))
    assert "TIB7" not in str(error.value)


def test_estimate_does_not_advise_itself(body):
    markers = {
        k: v for k, v in MARKER_SETS["plug_in_gait"](body).items() if k[1:] not in ("ELB", "WRA", "WRB")
    }
    with pytest.raises(MotionError) as error:
        read(record_markers(body, markers), estimate=True)
    assert "--estimate" not in str(error.value)


def test_strictly_no_name_is_found(body):
    recording = renamed(record_markers(body, "plug_in_gait"), LELB="X7")
    assert "left_elbow" not in read(recording, strict=True).joints


@pytest.mark.parametrize(
    ("lost", "said"),
    [
        ("C7", "neck: without C7"),
        ("LHEE", "left_heel: not given, without LHEE"),
        ("LPSI", "pelvis: without LPSI"),
    ],
)
def test_what_a_missing_marker_costs_is_said(body, lost, said):
    markers = {k: v for k, v in MARKER_SETS["plug_in_gait"](body).items() if k != lost}
    assert said in read(record_markers(body, markers)).notes


def test_legs_that_lack_a_marker_are_refused_by_its_name(body):
    kept = ("ASI", "PSI", "KNE", "ANK", "HEE", "TOE")
    markers = {k: v for k, v in MARKER_SETS["plug_in_gait"](body).items() if k[1:] in kept and k != "LPSI"}
    with pytest.raises(MotionError, match=r"no arm, and no complete legs: markers are missing \(LPSI\)"):
        read(record_markers(body, markers))
