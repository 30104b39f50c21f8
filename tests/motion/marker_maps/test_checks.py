"""Units, axes and sides that the body contradicts are found out and said; strictly, they are refused.

What the user declares is never overruled.
"""

from dataclasses import replace

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from simbench.errors import MotionError
from simbench.motion.marker_maps import to_human_motion
from simbench.motion.read_options import UNITS, ReadOptions


@pytest.fixture
def recording(person, make_recording):
    return make_recording(person, "plug_in_gait")


def refused(recording, words, options=None):
    with pytest.raises(MotionError, match=words) as error:
        to_human_motion(recording, options or ReadOptions())
    assert "\n" not in str(error.value)


STRICT = ReadOptions(strict=True)
# Joints whose errors are compared: the same to a rounding error in every reading of one recording.
COMPARED = ("left_wrist", "right_elbow", "pelvis", "neck", "left_ankle", "right_shoulder")


def assert_same_motion(found, wanted):
    for name in COMPARED:
        np.testing.assert_allclose(found.joints[name], wanted.joints[name], atol=1e-9)
    for name, frames in wanted.segments.items():
        np.testing.assert_allclose(found.segments[name], frames, atol=1e-7)


@pytest.mark.parametrize(
    ("true", "called"), [("mm", "m"), ("m", "mm"), ("cm", "m"), ("mm", "cm"), ("cmu", "in")]
)
def test_a_wrong_unit_of_the_file_is_found_and_said_and_the_users_is_refused(recording, true, called):
    scaled = recording.positions * UNITS[called] / UNITS[true]
    wrong = replace(recording, positions=scaled, unit=called)
    words = (
        rf"tall by the bones with lengths in {called}; .* 1\.\d\d m in {true}: declare that unit \(--unit\)"
    )
    refused(wrong, words, STRICT)
    refused(wrong, words, ReadOptions(unit=called))
    found = to_human_motion(wrong, ReadOptions())
    assert_same_motion(found, to_human_motion(recording, ReadOptions()))
    assert any(doubt.startswith(f"unit {true}, in which the person is 1.") for doubt in found.doubts)
    declared = to_human_motion(wrong, ReadOptions(unit=true))
    assert_same_motion(declared, found)
    assert declared.doubts == ()


def test_a_body_no_unit_makes_human_is_scaled_and_said(recording):
    giant = replace(recording, positions=recording.positions * 0.3, unit="m")
    refused(giant, r"no known unit \(m, cm, mm, in, cmu\) makes it human: declare its size", STRICT)
    found = to_human_motion(giant, ReadOptions())
    assert any("scaled to 1.7 m" in doubt for doubt in found.doubts)
    # Bones of 0.30, 0.26, 0.42 and 0.40 m are those of a person of 1.38 / 0.823 m; the map's offsets are in
    # metres, so that elbows of a body that was 0.3 of its size are not quite at their places.
    thigh = np.linalg.norm(found.joints["left_knee"] - found.joints["left_hip"], axis=1)
    assert thigh == pytest.approx(0.42 * 1.7 / (1.38 / 0.823), rel=0.12)


@pytest.mark.parametrize("options", [ReadOptions(scale=0.5), ReadOptions(stature=0.838)])
def test_a_body_is_scaled_as_the_user_says(recording, options):
    full, half = to_human_motion(recording, ReadOptions()), to_human_motion(recording, options)
    for name in COMPARED:
        first, second = (motion.joints[name] - motion.joints["pelvis"][0] for motion in (full, half))
        np.testing.assert_allclose(second, first / 2.0, atol=2e-3)
    assert any("scaled" in note for note in half.notes)


def swapped_names(recording):
    swap = {"L": "R", "R": "L"}
    return replace(recording, names=tuple(swap[n[0]] + n[1:] if n[0] in swap else n for n in recording.names))


def test_sides_swapped_by_name_are_exchanged_and_said(recording):
    refused(swapped_names(recording), "left and right are swapped, or the axes are left-handed", STRICT)
    found = to_human_motion(swapped_names(recording), ReadOptions())
    assert_same_motion(found, to_human_motion(recording, ReadOptions()))
    assert any(doubt.startswith("left and right are exchanged") for doubt in found.doubts)


@pytest.mark.parametrize("axis", [0, 1])
def test_left_handed_axes_give_the_mirror_image_and_that_is_said(recording, axis):
    mirror = np.ones(3)
    mirror[axis] = -1.0
    mirrored = replace(recording, positions=recording.positions * mirror)
    refused(mirrored, "left-handed", STRICT)
    found, true = to_human_motion(mirrored, ReadOptions()), to_human_motion(recording, ReadOptions())
    # The right wrist of the person is the left one of the mirror image, in the heading's axes.
    np.testing.assert_allclose(
        found.joints["left_wrist"], true.joints["right_wrist"] * [1.0, -1.0, 1.0], atol=1e-9
    )
    assert any("mirror image" in doubt for doubt in found.doubts)


@pytest.mark.parametrize("axis", ["x", "y", "-x", "-y", "-z"])
@pytest.mark.parametrize("declared", ["z", None])
def test_the_vertical_axis_is_found_from_the_body_and_said(recording, axis, declared):
    # Rows: the laboratory's axes, of which the third is vertical, in the file's.
    turn = np.roll(np.eye(3), "xyz".index(axis[-1]) - 2, axis=0)
    turn = turn if axis[0] != "-" else turn @ np.diag([1.0, -1.0, -1.0])
    moved = replace(recording, positions=recording.positions @ turn.T, up=declared)
    assert np.linalg.det(turn) == pytest.approx(1.0)
    if declared:
        refused(moved, rf"z is declared vertical, yet the trunk points along {axis} in 100%.*--up", STRICT)
    found = to_human_motion(moved, ReadOptions())
    assert_same_motion(found, to_human_motion(recording, ReadOptions()))
    said = found.doubts if declared else found.notes
    assert any(text.startswith(f"vertical axis {axis}") for text in said)
    assert_same_motion(to_human_motion(moved, ReadOptions(up=axis)), found)


def test_oblique_axes_are_said(recording):
    tilt = Rotation.from_euler("y", 35.0, degrees=True).as_matrix()
    tilted = replace(recording, positions=recording.positions @ tilt.T)
    assert any("leans 3" in doubt for doubt in to_human_motion(tilted, ReadOptions()).doubts)
    assert to_human_motion(recording, ReadOptions()).doubts == ()


def test_who_really_lies_may_if_the_user_says_so(recording):
    # On the back: forward is up.
    on_back = np.array([[0.0, 0.0, -1.0], [0.0, 1.0, 0.0], [1.0, 0.0, 0.0]])
    lying = replace(recording, positions=recording.positions @ on_back.T, up="z")
    refused(lying, "z is declared vertical, yet the trunk points along -x in 100%.*--up z", STRICT)
    assert any("if the person lies: --up z" in text for text in to_human_motion(lying, ReadOptions()).doubts)
    motion = to_human_motion(lying, ReadOptions(up="z"))
    heights = [motion.joints[name][:, 2].mean() for name in ("neck", "pelvis", "left_ankle", "right_ankle")]
    assert np.ptp(heights) < 0.25
    np.testing.assert_allclose(motion.segments["pelvis"][0, :3, 1], [0.0, 1.0, 0.0], atol=0.2)


def test_a_doubtful_floor_is_corrected_and_a_calibrated_one_kept(recording):
    kept = to_human_motion(recording, ReadOptions())
    assert any("laboratory's zero" in note for note in kept.notes)
    lifted = to_human_motion(
        replace(recording, positions=recording.positions + np.array([0, 0, 0.8])), ReadOptions()
    )
    lowest = min(lifted.markers[name][:, 2].min() for name in ("LHEE", "RHEE", "LTOE", "RTOE"))
    assert lowest == pytest.approx(0.0, abs=1e-12)


def test_names_no_map_has_are_refused_with_the_closest_map(person, make_recording, make_markers):
    markers = make_markers(person, "plug_in_gait")
    few = {k: v for k, v in markers.items() if k[1:] not in ("SHO", "ELB", "WRA", "WRB", "KNE")}
    refused(
        make_recording(person, few), "plug_in_gait comes closest and lacks LSHO, LELB, LWRA; ready maps: "
    )
    strange = {f"M{k:03d}": track for k, track in enumerate(markers.values())}
    refused(make_recording(person, strange), r"M000, M001, M002, M003, M004, M005 and \d+ more; ready maps")
    refused(make_recording(person, few), "marker map kim2005 does not fit", ReadOptions(marker_map="kim2005"))
    refused(
        make_recording(person, few),
        "'vicon': unknown; known: acclaim, anatomical, cmu",
        ReadOptions(marker_map="vicon"),
    )
