"""Recordings whose unit, axes or sides the body contradicts are refused in one line that says what to do."""

from dataclasses import replace

import numpy as np
import pytest

from simbench.errors import MotionError
from simbench.motion.marker_maps import to_human_motion
from simbench.motion.read_options import UNITS, ReadOptions

# x -> y -> z -> x.
CYCLE = np.roll(np.eye(3), 1, axis=0)


@pytest.fixture
def recording(person, make_recording):
    return make_recording(person, "plug_in_gait")


def refused(recording, words, options=None):
    with pytest.raises(MotionError, match=words) as error:
        to_human_motion(recording, options or ReadOptions())
    assert "\n" not in str(error.value)


@pytest.mark.parametrize(
    ("true", "called"), [("mm", "m"), ("m", "mm"), ("cm", "m"), ("mm", "cm"), ("cmu", "in")]
)
def test_a_wrong_unit_is_refused_and_the_right_one_named(recording, true, called):
    scaled = recording.positions * UNITS[called] / UNITS[true]
    wrong = replace(recording, positions=scaled, unit=called)
    refused(
        wrong, rf"with lengths in {called}; human arms .* 0\.5\d\d m in {true}: declare that unit \(--unit\)"
    )


def test_arms_no_unit_makes_human_are_refused(recording):
    refused(replace(recording, positions=recording.positions * 1e6), r"no known unit \(m, cm, mm, in, cmu\)")


def test_sides_swapped_by_name_are_refused(recording):
    swap = {"L": "R", "R": "L"}
    names = tuple(swap[n[0]] + n[1:] if n[0] in swap else n for n in recording.names)
    refused(replace(recording, names=names), "left and right are swapped, or the axes are left-handed")


@pytest.mark.parametrize("axis", [0, 1])
def test_left_handed_axes_are_refused(recording, axis):
    mirror = np.ones(3)
    mirror[axis] = -1.0
    refused(replace(recording, positions=recording.positions * mirror), "left-handed")


def test_a_wrong_vertical_axis_is_refused_and_the_right_one_named(recording):
    # The body now stands along x, and the file says z.
    moved = replace(recording, positions=recording.positions @ CYCLE.T, up="z")
    refused(moved, r"z is declared vertical, yet the trunk points along x in 100%.*--up x")
    found = to_human_motion(moved, ReadOptions(up="x"))
    assert found.joints["neck"][:, 2].min() > 1.2


def test_a_body_upside_down_is_refused(recording):
    turned = recording.positions * [1.0, -1.0, -1.0]
    refused(replace(recording, positions=turned), "-z cannot be vertical")


def test_who_really_lies_may_if_the_user_says_so(recording):
    # On the back: forward is up.
    on_back = np.array([[0.0, 0.0, -1.0], [0.0, 1.0, 0.0], [1.0, 0.0, 0.0]])
    lying = replace(recording, positions=recording.positions @ on_back.T, up="z")
    refused(lying, "z is declared vertical, yet the trunk points along -x in 100%.*--up z")
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
    few = {k: v for k, v in markers.items() if k[1:] not in ("SHO", "ELB", "WRA", "WRB")}
    refused(
        make_recording(person, few), "plug_in_gait comes closest and lacks LSHO, LELB, LWRA; ready maps: "
    )
    strange = {f"M{k:03d}": track for k, track in enumerate(markers.values())}
    refused(make_recording(person, strange), r"M000, M001, M002, M003, M004, M005 and \d+ more; ready maps")
    refused(make_recording(person, few), "marker map kim2005 does not fit", ReadOptions(marker_map="kim2005"))
    refused(
        make_recording(person, few),
        "'vicon': unknown; known: anatomical, cmu",
        ReadOptions(marker_map="vicon"),
    )


def test_coinciding_markers_are_refused_by_name_and_frame(recording):
    positions = recording.positions.copy()
    index = {name: k for k, name in enumerate(recording.names)}
    positions[7, index["LWRA"]] = positions[7, index["LWRB"]]
    refused(replace(recording, positions=positions), "LWRB and LWRA coincide at frame 7")


def test_one_frame_is_no_motion(recording):
    one = replace(recording, time=recording.time[:1], positions=recording.positions[:1])
    refused(one, "at least 2 frames")
