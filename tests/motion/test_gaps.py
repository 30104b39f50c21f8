from dataclasses import replace
from itertools import groupby

import hypothesis.strategies as st
import numpy as np
import pytest
from hypothesis import assume, given, settings

from simbench.errors import MotionError
from simbench.motion.human_motion import Gap
from simbench.motion.marker_gaps import fill_gaps
from simbench.motion.recordings import MarkerRecording

RATE = 100.0


def recording(frames=200, markers=3, **gaps):
    """Markers on known tracks, sines of 0.5 m at 0.5 Hz with a phase each; gaps as (first, last)."""
    time = np.arange(frames) / RATE
    phase = np.arange(3 * markers).reshape(markers, 3)
    positions = 0.5 * np.sin(np.pi * time[:, None, None] + phase)
    names = tuple("abcdefgh"[:markers])
    for name, runs in gaps.items():
        for first, last in runs:
            positions[first : last + 1, names.index(name)] = np.nan
    return MarkerRecording(time=time, names=names, positions=positions, source="sines")


def test_a_whole_recording_stays_as_it_is():
    whole = recording()
    filled, gaps = fill_gaps(whole, 0.2)
    np.testing.assert_array_equal(filled.positions, whole.positions)
    np.testing.assert_array_equal(filled.time, whole.time)
    assert gaps == ()
    assert filled.notes == ()


def test_gaps_are_filled_close_to_the_known_track_and_nothing_else_changes():
    broken = recording(a=[(50, 69)], b=[(10, 12), (60, 60), (120, 139)])
    filled, gaps = fill_gaps(broken, 0.2)
    assert gaps == (Gap("a", 50, 69), Gap("b", 10, 12), Gap("b", 60, 60), Gap("b", 120, 139))
    truth = recording().positions
    # A cubic over h = 0.21 s misses sin by at most 5/384 h^4 times its fourth derivative, 0.5 pi^4.
    bound = 5 / 384 * 0.21**4 * 0.5 * np.pi**4
    assert bound < 1.3e-3
    assert np.abs(filled.positions - truth).max() < bound
    seen = ~np.isnan(broken.positions)
    np.testing.assert_array_equal(filled.positions[seen], broken.positions[seen])


def test_a_gap_of_exactly_the_allowed_length_is_filled_and_one_frame_more_is_refused():
    fill_gaps(recording(b=[(100, 119)]), 0.2)
    message = (
        r"sines: marker b is not seen from frame 100 \(1\.000 s\) to frame 120 \(1\.200 s\), 0\.21 s; "
        r"gaps up to 0\.2 s are filled$"
    )
    with pytest.raises(MotionError, match=message):
        fill_gaps(recording(b=[(100, 120)]), 0.2)


def test_nothing_is_extrapolated_the_ends_are_cut():
    broken = recording(a=[(0, 4), (198, 199)], b=[(0, 9), (50, 54)], c=[(7, 12), (190, 199)])
    broken = MarkerRecording(**{**broken.__dict__, "events": (("start", 0.5),)})
    filled, gaps = fill_gaps(broken, 0.2)
    # b begins at frame 10, c ends at frame 189.
    assert len(filled.time) == 180
    np.testing.assert_allclose(filled.time, np.arange(180) / RATE, atol=1e-12)
    np.testing.assert_allclose(filled.positions, recording().positions[10:190], atol=1e-4)
    assert gaps == (Gap("b", 40, 44), Gap("c", 0, 2))
    assert filled.events == (("start", pytest.approx(0.4)),)
    assert filled.notes == (
        "cut, because not every marker is seen there: 10 frames at the start, 10 frames at the end",
    )


def test_too_much_missing_at_an_end_is_refused():
    with pytest.raises(MotionError, match=r"marker a is not seen from frame 0 .* to frame 20 .*, 0\.21 s"):
        fill_gaps(recording(a=[(0, 20)]), 0.2)
    with pytest.raises(MotionError, match=r"marker a is not seen from frame 170"):
        fill_gaps(recording(a=[(170, 199)]), 0.2)


def test_a_marker_that_is_never_seen_is_dropped_with_a_note():
    filled, _ = fill_gaps(recording(b=[(0, 199)]), 0.2)
    assert filled.names == ("a", "c")
    np.testing.assert_array_equal(filled.positions, recording().positions[:, [0, 2]])
    assert filled.notes == ("1 markers never seen ignored: b",)


def test_one_coordinate_missing_is_a_marker_missing():
    broken = recording()
    broken.positions[30, 1, 2] = np.nan
    filled, gaps = fill_gaps(broken, 0.2)
    assert gaps == (Gap("b", 30, 30),)
    np.testing.assert_allclose(filled.positions[30], recording().positions[30], atol=1e-6)


@settings(max_examples=60)
@given(masks=st.lists(st.lists(st.booleans(), min_size=9, max_size=9), min_size=2, max_size=2))
def test_gaps_are_the_runs_of_missing_frames_between_the_cut_ends(masks):
    """Gaps at, before and across the cuts, and a single sample before or after one."""
    seen = {name: [k for k in range(9) if mask[k]] for name, mask in zip("ab", masks, strict=True)}
    assume(all(seen.values()))
    first, last = max(frames[0] for frames in seen.values()), min(frames[-1] for frames in seen.values())
    broken = recording(frames=9, markers=2)
    for marker, mask in enumerate(masks):
        broken.positions[~np.array(mask), marker] = np.nan
    if last - first < 1:
        with pytest.raises(MotionError):
            fill_gaps(broken, 1.0)
        return
    filled, gaps = fill_gaps(broken, 1.0)
    expected = []
    for name, frames in seen.items():
        missing = [k for k in range(last - first + 1) if k + first not in frames]
        # Frames in a row have the same difference from their number in the list.
        for _, numbered in groupby(enumerate(missing), lambda pair: pair[1] - pair[0]):
            run = [frame for _, frame in numbered]
            expected.append(Gap(name, run[0], run[-1]))
    assert list(gaps) == expected
    np.testing.assert_allclose(filled.time, np.arange(last - first + 1) / RATE, atol=1e-12)
    known = np.array(masks).T[first : last + 1]
    np.testing.assert_array_equal(filled.positions[known], broken.positions[first : last + 1][known])
    assert np.isfinite(filled.positions).all()


def test_two_frames_are_enough_and_one_is_not():
    filled, _ = fill_gaps(recording(frames=10, a=[(0, 3)], b=[(6, 9)]), 0.2)
    np.testing.assert_array_equal(filled.positions, recording(frames=10).positions[4:6])
    with pytest.raises(MotionError):
        fill_gaps(recording(frames=10, a=[(0, 3)], b=[(5, 9)]), 0.2)


def test_lengths_of_gaps_do_not_depend_on_when_the_recording_begins():
    late = replace(recording(b=[(100, 119)]), time=5.0 + np.arange(200) / RATE)
    filled, gaps = fill_gaps(late, 0.2)
    assert gaps == (Gap("b", 100, 119),)
    np.testing.assert_allclose(filled.time, np.arange(200) / RATE, atol=1e-12)
