"""x"""

import errno
import math
import re

import pytest

from simbench.errors import BaselineError
from simbench.options import Bound
from simbench.runs.baseline import (
    DIVERGED,
    Expectation,
    check_metrics,
    compare,
    find_tolerance,
    measure_baseline,
    read_baseline,
    write_baseline,
)
from simbench.runs.metric_catalogue import usual_tolerance


def outcome(name, expected, now):
    (verdict,) = compare({name: expected}, {} if now == "absent" else {name: now})
    return verdict.outcome


@pytest.mark.parametrize(
    ("name", "was", "now", "expected"),
    [
        ("tracking.rms_rad", 0.0100, 0.01009, "holds"),
        ("tracking.rms_rad", 0.0100, 0.01011, "worse"),
        ("tracking.rms_rad", 0.0100, 0.00989, "better"),
        ("tracking.rms_rad", 0.0, 2.1e-6, "worse"),
        ("zmp.min_margin_m", 0.050, 0.0506, "better"),
        ("zmp.inside_fraction", 1.0, 0.98, "worse"),
        ("torque.rms_nm", 13.0, 12.8, "worse"),
        ("base.forward_m", -2.0, -2.03, "worse"),
        ("contact.self_count", 0.0, 1.0, "worse"),
        ("steps.count", 20.0, 21.0, "worse"),
        ("fell", False, True, "worse"),
        ("fell", True, False, "better"),
        ("fell", False, 0.0, "worse"),
        ("push.rest_s", 1.0, None, "worse"),
        ("push.rest_s", None, 1.0, "better"),
        ("push.rest_s", None, None, "holds"),
        ("tracking.rms_rad", 0.01, "absent", "missing"),
    ],
)
def test_a_metric_is_judged_by_its_name(name, was, now, expected):
    assert outcome(name, Expectation(was), now) == expected


def test_what_rounding_did_widens_the_tolerance_five_times():
    expected = Expectation(300.0, spread=10.0)
    assert find_tolerance("contact.peak_force_n", expected) == 50.0
    assert outcome("contact.peak_force_n", expected, 349.0) == "holds"
    assert outcome("contact.peak_force_n", expected, 351.0) == "worse"


def test_what_rounding_decides_is_not_compared():
    for now in (None, True, 3.0, "absent"):
        assert outcome("push.rest_s", Expectation(1.0, spread=None), now) == "holds"


def test_what_is_said_by_hand_counts_before_tables_and_spread():
    by_hand = Expectation(0.01, spread=1.0, tolerance=0.002, better="higher")
    assert outcome("tracking.rms_rad", by_hand, 0.0079) == "worse"
    assert outcome("tracking.rms_rad", by_hand, 0.0081) == "holds"
    assert outcome("tracking.rms_rad", by_hand, 0.0121) == "better"
    assert compare({"tracking.rms_rad": Expectation(0.01, better="ignored")}, {"tracking.rms_rad": 9.0}) == ()


def test_only_worse_and_missing_fail_and_times_of_the_machine_do_not_count():
    baseline = {name: Expectation(1.0) for name in ("a.rms_m", "hands.rms_m", "cog.rms_m", "zmp.rms_m")}
    now = {"a.rms_m": 1.0, "hands.rms_m": 2.0, "cog.rms_m": 0.5, "grip.new_m": 1.0, "timing.share": 1.0}
    assert [(verdict.name, verdict.outcome, verdict.failed) for verdict in compare(baseline, now)] == [
        ("a.rms_m", "holds", False),
        ("cog.rms_m", "better", False),
        ("grip.new_m", "new", False),
        ("hands.rms_m", "worse", True),
        ("zmp.rms_m", "missing", True),
    ]


def test_a_baseline_is_measured_from_runs_that_rounding_tells_apart():
    runs = [
        {"fell": False, "cog.rms_m": 0.0123456789, "contact.peak_force_n": 300.0, "timing.share": 0.5},
        {"fell": False, "cog.rms_m": 0.0123456790, "contact.peak_force_n": 287.66, "timing.share": 0.6},
    ]
    runs[0] |= {"push.rest_s": 1.0, "tracking.max_rad": None, "balance.gave_up": True}
    runs[1] |= {"push.rest_s": None, "tracking.max_rad": None, "balance.gave_up": False}
    made = measure_baseline(
        runs, {"cog.rms_m": Expectation(1.0, spread=0.5, tolerance=0.1), "gone.rms_m": Expectation(1.0)}
    )
    assert made == {
        "fell": Expectation(False),
        "cog.rms_m": Expectation(0.0123457, tolerance=0.1),
        # 12.34, rounded up.
        "contact.peak_force_n": Expectation(300.0, spread=13.0),
        "push.rest_s": Expectation(1.0, spread=None),
        "tracking.max_rad": Expectation(None),
        "balance.gave_up": Expectation(True, spread=None),
    }
    # Both runs hold what they made.
    for run in runs:
        assert not any(verdict.failed for verdict in compare(made, run))


def test_a_metric_that_only_some_of_the_runs_have_is_not_compared():
    made = measure_baseline([{"fell_s": 4.0}, {}], None)
    assert made == {"fell_s": Expectation(4.0, spread=None)}
    assert [verdict.outcome for verdict in compare(made, {})] == ["holds"]


def test_a_file_has_a_line_for_each_metric_and_says_only_what_differs(tmp_path):
    path = tmp_path / "baselines" / "drawer.json"
    baseline = {
        "tracking.rms_rad": Expectation(0.00121463),
        "contact.peak_force_n": Expectation(300.0, spread=13.0),
        "push.rest_s": Expectation(None, spread=None),
        "fell": Expectation(False, tolerance=0.5, better="same"),
    }
    write_baseline(path, baseline)
    assert path.read_text(encoding="utf-8") == (
        "{\n"
        '  "contact.peak_force_n": {"value": 300.0, "spread": 13.0},\n'
        '  "fell": {"value": false, "tolerance": 0.5, "better": "same"},\n'
        '  "push.rest_s": {"value": null, "spread": null},\n'
        '  "tracking.rms_rad": {"value": 0.00121463}\n'
        "}\n"
    )
    assert read_baseline(path) == baseline
    assert [entry.name for entry in path.parent.iterdir()] == ["drawer.json"]
    assert read_baseline(tmp_path / "none.json") is None


@pytest.mark.parametrize(
    ("text", "part"),
    [
        ("{", "JSON"),
        ('{"fell": false}', "fell"),
        ('{"a_m": {"value": 1.0, "tolerence": 1}}', "a_m.tolerence"),
        ('{"a_m": {"value": 1.0, "tolerance": -1}}', "a_m.tolerance"),
        ('{"a_m": {"value": 1.0, "tolerance": NaN}}', "NaN is not a finite number"),
        ('{"a_m": {"value": 1.0, "spread": "1"}}', "a_m.spread"),
        ('{"a_m": {"value": 1e300}}', "a_m.value"),
        ('{"a_m": null}', "a_m"),
        ('{"a_m": {"value": 1.0, "better": "more"}}', "'lower', 'higher', 'same' or 'ignored'"),
    ],
)
def test_a_malformed_file_is_named_with_the_metric(tmp_path, text, part):
    path = tmp_path / "drawer.json"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(BaselineError) as raised:
        read_baseline(path)
    assert re.match(rf"{re.escape(str(path))}(:\d+:\d+)?: ", str(raised.value))
    assert part in str(raised.value)
    assert "\n" not in str(raised.value)


def test_a_baseline_that_cannot_be_written_leaves_the_old_one(tmp_path, monkeypatch):
    def full(*_):
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr("os.replace", full)
    (tmp_path / "drawer.json").write_text('{"a_m": {"value": 1.0}}', encoding="utf-8")
    with pytest.raises(BaselineError):
        write_baseline(tmp_path / "drawer.json", {"a_m": Expectation(2.0)})
    assert read_baseline(tmp_path / "drawer.json") == {"a_m": Expectation(1.0)}
    assert [path.name for path in tmp_path.iterdir()] == ["drawer.json"]


def test_numbers_in_baselines_are_finite():
    with pytest.raises(ValueError, match="finite"):
        Expectation(math.nan)


@pytest.mark.parametrize(
    ("name", "allowed"),
    [
        ("contact.unwanted_count", 0.0),
        ("zmp.inside_fraction", 1e-3),
        ("drawer.travel_ratio", 1e-3),
        ("joints.peak_rad_s", 1e-3),
        ("hands.peak_m_s", 1e-3),
        ("tracking.rms_rad", 2e-6),
        ("joints.peak_nm", 1e-2),
        ("push.impulse_ns", 1e-2),
        ("robot.mass_kg", 1e-3),
        ("cog.rms_m", 1e-5),
        ("contact.peak_n", 0.1),
        ("fall.time_s", 1e-2),
        ("retarget.similarity", 0.0),
    ],
)
def test_what_a_metric_near_zero_may_differ_by_follows_from_its_unit(name, allowed):
    assert usual_tolerance(name, 0.0) == allowed


@pytest.mark.parametrize(
    ("bound", "value", "passed"),
    [
        (False, False, True),
        (False, True, False),
        (False, 0.0, False),
        (Bound(max=0.03), 0.03, True),
        (Bound(max=0.03), 0.0301, False),
        (Bound(min=0.95), 0.95, True),
        (Bound(min=0.95), 0.9, False),
        (Bound(min=1.0, max=2.0), 1.5, True),
        (Bound(min=1.0, max=2.0), 2.5, False),
        (Bound(max=1.0), math.nan, False),
        (Bound(max=1.0), None, False),
        (Bound(max=1.0), False, False),
        (Bound(max=1.0), "text", False),
    ],
)
def test_a_metric_passes_exactly_when_it_is_within_its_bound(bound, value, passed):
    (check,) = check_metrics({"group.name": bound}, {"group.name": value})
    assert check.passed is passed


def test_a_check_of_a_metric_that_no_run_made_fails():
    (check,) = check_metrics({"no.such": Bound(max=1.0)}, {"fell": False})
    assert (check.name, check.passed, check.bound) == ("no.such", False, "≤ 1")


@pytest.mark.parametrize("checks", [{}, {"fell": False}, {"timing.step_overhead": Bound(min=0.0)}])
def test_a_run_whose_physics_diverged_fails_whatever_is_checked(checks):
    metrics = {DIVERGED: 0.0, "fell": False, "timing.step_overhead": 1.0}
    (check,) = check_metrics(checks, metrics)
    assert (check.name, check.passed) == (DIVERGED, False)
    assert check_metrics(checks, {**metrics, DIVERGED: None}) == check_metrics(
        checks, {"fell": False, "timing.step_overhead": 1.0}
    )


@pytest.mark.parametrize(
    ("metrics", "reason"),
    [
        ({"hands.rms_m": 0.001}, ""),
        ({"hands.rms_m": None}, "not measured: `simbench explain hands.rms_m` says when"),
        ({}, "not measured: only runs in which an actor's hand is in contact with equipment have it"),
    ],
)
def test_a_check_says_why_its_metric_was_not_measured(metrics, reason):
    (check,) = check_metrics({"hands.rms_m": Bound(max=0.01)}, metrics)
    assert check.reason == reason
    assert check.passed is bool(metrics.get("hands.rms_m"))
