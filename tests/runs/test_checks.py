import math

import pytest

from simbench.options import Bound
from simbench.runs.baseline import DIVERGED, check_metrics


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
