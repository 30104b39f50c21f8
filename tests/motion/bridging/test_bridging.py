"""Tracks that were lost come back, from a person in closed form, within the error that is said."""

from dataclasses import replace

import numpy as np
import pytest
from marker_people import MARKER_SETS, make_body, record_markers

from simbench.errors import MotionError
from simbench.motion.human_motion import Gap
from simbench.motion.marker_gaps import bridge_by_segment
from simbench.motion.marker_maps import to_human_motion
from simbench.motion.marker_preparation import prepare_markers
from simbench.motion.read_options import ReadOptions


@pytest.fixture(scope="module")
def whole():
    """Six seconds of Plug-in Gait with a third marker of the upper arm."""
    body = make_body(count=600)
    markers = dict(MARKER_SETS["plug_in_gait"](body))
    for side in ("left", "right"):
        elbow, turn = body.joints[f"{side}_elbow"], body.rotations[f"{side}_upper_arm"]
        markers[f"{side[0].upper()}UPA"] = elbow + turn @ [-0.15, 0.02, 0.05]
    for name, share in (("THI", 0.5), ("KNE", 1.0), ("TIB", 1.4), ("ANK", 1.7), ("HEE", 1.8), ("TOE", 1.9)):
        # The legs swing as in marching; knees and hips are no subject here.
        for side, sign in (("L", 1.0), ("R", -1.0)):
            swing = sign * share * 0.15 * np.sin(2 * np.pi * 0.9 * body.time)
            markers[f"{side}{name}"] = markers[f"{side}{name}"] + swing[:, None] * [1.0, 0.0, 0.0]
    return record_markers(body, markers)


def lose(recording, **runs):
    """The recording without some markers in stretches (first, last)."""
    positions = recording.positions.copy()
    for name, (first, last) in runs.items():
        positions[first : last + 1, recording.names.index(name)] = np.nan
    return replace(recording, positions=positions)


def error_of(found, truth, name):
    """Largest error of a marker, m."""
    difference = found.positions[:, found.names.index(name)] - truth.positions[:, truth.names.index(name)]
    return float(np.linalg.norm(difference, axis=1).max())


def test_a_segments_other_markers_bridge_a_gap_of_any_length(whole):
    # Pelvis: four markers, the fourth is lost for half of the recording.
    found, gaps = prepare_markers(lose(whole, LASI=(150, 449)), ReadOptions())
    assert gaps == (Gap("LASI", 150, 449),)
    assert error_of(found, whole, "LASI") < 1e-9
    note = next(note for note in found.notes if "same rigid segment" in note)
    assert "LASI up to 3 s by" in note
    assert "(0 mm)" in note
    assert found.doubts == ()


@pytest.mark.parametrize("run", [(0, 299), (300, 599)])
def test_a_gap_at_an_end_is_bridged_by_the_segment(whole, run):
    found, gaps = prepare_markers(lose(whole, RPSI=run), ReadOptions())
    assert gaps == (Gap("RPSI", *run),)
    assert len(found.time) == 600
    assert error_of(found, whole, "RPSI") < 1e-9


def test_skin_that_moves_is_followed_and_its_residual_said(whole):
    rng = np.random.default_rng(5)
    # 3 mm of slow motion on the skin.
    phase = rng.uniform(0, 6, size=(1, *whole.positions.shape[1:]))
    moving = replace(whole, positions=whole.positions + 0.003 * np.sin(whole.time[:, None, None] + phase))
    found, _ = prepare_markers(lose(moving, LASI=(200, 399)), ReadOptions())
    assert 0.0 < error_of(found, moving, "LASI") < 0.012
    note = next(note for note in found.notes if "same rigid segment" in note)
    assert 1 <= int(note.rpartition("(")[2].partition(" mm")[0]) <= 6


def test_a_segment_that_is_not_rigid_bridges_nothing(whole):
    wrist = whole.names.index("LWRA")
    broken = lose(whole, LWRA=(200, 260))
    # Elbow, and the trunk's markers, are not on the forearm's end.
    keep = [k for k, name in enumerate(whole.names) if name in ("LWRA", "C7", "CLAV", "RWRA", "LASI", "LHEE")]
    assert bridge_by_segment(broken.positions[:, keep], keep.index(wrist), 200, 260, {}, {}) is None


def test_an_elbow_is_bridged_between_shoulder_and_wrist(whole):
    # Without the marker of the upper arm, no segment has three others.
    names = tuple(name for name in whole.names if name != "LUPA")
    kept = [whole.names.index(name) for name in names]
    small = replace(whole, names=names, positions=whole.positions[:, kept])
    found, gaps = prepare_markers(lose(small, LELB=(200, 259)), ReadOptions())
    assert gaps == (Gap("LELB", 200, 259),)
    # A spline over 0.6 s of a swing of 0.8 Hz misses by 30 mm and more.
    assert error_of(found, small, "LELB") < 0.02
    joined = np.linalg.norm(np.diff(found.positions[195:265, names.index("LELB")], axis=0), axis=1)
    assert (
        joined.max()
        < 1.5 * np.linalg.norm(np.diff(small.positions[:, names.index("LELB")], axis=0), axis=1).max()
    )
    assert any("between the ends of the limb: LELB up to 0.6 s by" in doubt for doubt in found.doubts)


def test_markers_that_no_joint_needs_may_be_missing(whole):
    broken = lose(whole, LUPA=(100, 500), RUPA=(0, 400))
    found, gaps = prepare_markers(broken, ReadOptions())
    assert set(whole.names) - set(found.names) == {"LUPA", "RUPA"}
    assert len(found.time) == 600
    assert gaps == ()
    assert found.doubts == ()
    assert any(
        note.startswith("2 markers with gaps that no used joint needs ignored: ") for note in found.notes
    )


def test_another_recipe_is_taken_before_the_recording_is_cut(whole):
    # The trunk of Plug-in Gait does without T10; without STRN its other two markers cannot bridge it.
    names = tuple(name for name in whole.names if name not in ("STRN",))
    kept = [whole.names.index(name) for name in names]
    small = replace(whole, names=names, positions=whole.positions[:, kept])
    found, _ = prepare_markers(lose(small, T10=(0, 450)), ReadOptions())
    assert len(found.time) == 600
    assert to_human_motion(found, ReadOptions()).segments["trunk"].shape == (600, 4, 4)


def test_a_leg_that_is_lost_is_left_out_and_an_arm_that_is_lost_leaves_the_other(whole):
    ends = ("RKNE", "RTIB", "RANK", "RHEE", "RTOE", "RTHI")
    found, _ = prepare_markers(lose(whole, **dict.fromkeys(ends, (100, 599))), ReadOptions())
    motion = to_human_motion(found, ReadOptions())
    assert len(motion.time) == 600
    assert "right_knee" in motion.missing
    assert "left_knee" not in motion.missing
    assert any(doubt.startswith("right_knee, right_ankle: left out, for RKNE") for doubt in found.doubts)
    arm = ("RELB", "RUPA", "RWRA", "RWRB", "RFIN")
    found, _ = prepare_markers(lose(whole, **dict.fromkeys(arm, (100, 599))), ReadOptions())
    motion = to_human_motion(found, ReadOptions())
    assert {"right_elbow", "right_wrist"} <= set(motion.missing)
    assert len(motion.time) == 600
    assert any(
        doubt.startswith("right_elbow, right_wrist, right_upper_arm, right_forearm: left out, for RELB")
        for doubt in found.doubts
    )


def test_a_person_out_of_view_is_cut_at_any_length(whole):
    positions = whole.positions.copy()
    positions[:200] = np.nan
    positions[550:] = np.nan
    found, gaps = prepare_markers(replace(whole, positions=positions, events=(("x", 3.0),)), ReadOptions())
    np.testing.assert_array_equal(found.positions, whole.positions[200:550])
    assert gaps == ()
    assert found.events == (("x", pytest.approx(1.0)),)
    assert found.doubts == ()
    assert found.notes == (
        "cut, because not every marker is seen there: 200 frames at the start, 50 frames at the end",
    )


def test_both_arms_lost_is_refused_by_marker_place_and_length(whole):
    arms = [name for name in whole.names if name[1:] in ("ELB", "UPA", "WRA", "WRB", "FIN", "SHO")]
    broken = lose(whole, **dict.fromkeys(arms, (1, 599)))
    message = (
        r"no arm can be used: the \w+ arm needs marker [LR]\w+, which is not seen from frame 1 .* 5\.99 s"
    )
    with pytest.raises(MotionError, match=message):
        prepare_markers(broken, ReadOptions())


def test_strict_refuses_as_before(whole):
    with pytest.raises(MotionError, match=r"marker LUPA is not seen from frame 100 .* gaps up to 0\.2 s"):
        prepare_markers(lose(whole, LUPA=(100, 500)), ReadOptions(strict=True))


def test_short_gaps_are_filled_as_before_and_what_is_seen_stays(whole):
    broken = lose(whole, LELB=(100, 119), RWRA=(300, 305), LUPA=(50, 55))
    found, gaps = prepare_markers(broken, ReadOptions())
    strict, expected = prepare_markers(broken, ReadOptions(strict=True))
    assert gaps == expected
    np.testing.assert_array_equal(found.positions, strict.positions)
