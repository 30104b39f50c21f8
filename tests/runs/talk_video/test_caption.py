"""What captions say: the time, and values of that moment or of the whole run."""

import numpy as np
import pytest
import run_by_hand as by_hand
from talk_runs import write_run_with_flags

from simbench.errors import RunError
from simbench.runs.log import open_run
from simbench.runs.talk_video.caption import OVER_TIME, Caption, caption_names, caption_texts, title_card


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    return write_run_with_flags(tmp_path_factory.mktemp("caption") / "run")


def test_a_metric_has_its_value_at_each_moment(run):
    times = np.array([0.0, 0.5, 1.25])
    clock, error, wave = caption_texts(run, open_run(run), ("tracking.rms_rad", "wave"), times)
    assert clock == ["t = 0.00 s", "t = 0.50 s", "t = 1.25 s"]
    # Every joint is behind by the same.
    assert error == [f"joint error, RMS {1000.0 * by_hand.ERROR:.2f} mrad"] * 3
    assert wave == ["wave 0.00 m", "wave 1.00 m", "wave 2.50 m"]


def test_a_value_that_is_not_defined_has_no_unit(run):
    log = open_run(run).load()
    log["wave"].values[50] = np.nan
    assert caption_texts(run, log, ("wave",), np.array([0.5, 0.6]))[1] == ["wave none", "wave 1.20 m"]


def test_a_metric_without_a_form_over_time_is_of_the_whole_run(run):
    _, share = caption_texts(run, open_run(run), ("torque.saturated_fraction",), np.zeros(2))
    assert share == ["torque.saturated_fraction 0 (whole run)"] * 2


def test_a_name_that_is_neither_is_refused(run):
    with pytest.raises(RunError, match=r"--caption zmp\.rms_m: no such metric or signal; allowed: .*, wave$"):
        caption_texts(run, open_run(run), ("zmp.rms_m",), np.zeros(1))


@pytest.mark.parametrize("given", [("a,b,c",), ("a", "b", "c"), ("a,",), ("",)])
def test_other_than_one_or_two_names_are_refused(given):
    with pytest.raises(RunError, match="allowed: one or two names"):
        caption_names(given)
    assert caption_names(("a, b",)) == caption_names(("a", "b")) == ("a", "b")


def test_hand_errors_are_those_of_hands_in_contact(drawer_log):
    for name, reduce in (("hands.rms_m", lambda d: np.sqrt(np.mean(d**2))), ("hands.max_m", np.max)):
        found = OVER_TIME[name].compute(drawer_log)
        for sample in range(3):
            touching = drawer_log["hand_contact"].values[sample]
            distance = np.linalg.norm(drawer_log["palm_position"].values[sample][touching], axis=1)
            expected = reduce(distance) if touching.any() else np.nan
            assert found[sample] == pytest.approx(expected, nan_ok=True)


@pytest.fixture
def drawer_log():
    """Three samples of two palms: both, one and none in contact."""
    import xarray as xr

    palms = np.random.default_rng(3).normal(size=(3, 2, 3))
    return xr.Dataset(
        {
            "palm_position": (("time", "hand", "xyz"), palms),
            "palm_actor": (("time", "hand", "xyz"), np.zeros((3, 2, 3))),
            "hand_contact": (("time", "hand"), np.array([[True, True], [False, True], [False, False]])),
        }
    )


@pytest.mark.parametrize(("width", "height"), [(640, 360), (1920, 1080), (319, 360)])
def test_a_caption_is_legible_in_small_and_large_pictures(width, height):
    """Its letters are bright on dark along the lower edge, within the picture, and at least 8 pixels high."""
    items = [["t = 12.34 s"], ["ZMP margin 123.4 mm"], ["joint error, RMS 12.34 mrad"]]
    grey = np.full((height, width, 3), 200, np.uint8)
    Caption(items, width, height).draw(grey, 0)
    bar = np.nonzero((grey != 200).all(axis=(1, 2)))[0]
    assert bar[-1] == height - 1
    assert len(bar) < 0.3 * height
    rows, columns = np.nonzero(grey.min(axis=2) > 225)
    assert rows.min() > bar[0]
    assert columns.min() > 0
    assert columns.max() < width - 1
    line = np.nonzero((grey[:, : width // 3].min(axis=2) > 225).any(axis=1))[0]
    assert np.ptp(line) + 1 >= 8
    # In proportion to the picture, but for the least height.
    assert np.ptp(rows) >= 0.02 * height


def test_a_long_title_is_broken_into_lines_within_the_card():
    card = title_card("Whole-body imitation of a person who opens a drawer five times", 320, 180)
    rows, columns = np.nonzero(card.max(axis=2) < 120)
    assert columns.min() > 0.05 * 320
    assert columns.max() < 0.95 * 320
    inked = np.isin(np.arange(180), rows)
    assert (np.diff(inked.astype(int)) == 1).sum() >= 2
