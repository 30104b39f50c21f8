"""How a verdict is summed up and written."""

import json

import numpy as np
import pytest

from simbench.runs.verdict.verdict_outcome import (
    Check,
    Moment,
    Verdict,
    judge,
    lasting_excess,
    not_applicable,
)

TIME = np.arange(20) / 10.0


def verdict(*checks):
    return Verdict("romeo", "motion.csv", 1.9, 20, checks, ("a note",), ("a doubt",), TIME)


def test_the_worst_value_and_the_first_failure_are_told_apart():
    values = np.zeros((20, 2))
    values[5:8, 0], values[12, 1] = 2.0, 3.0
    check = judge("speed", TIME, values, ("elbow", "knee"), limit=1.0, unit="rad/s")
    assert (check.outcome, check.value, check.worst) == ("fail", 3.0, Moment(1.2, 12))
    assert (check.first, check.where) == (Moment(0.5, 5), "elbow")
    calm = judge("speed", TIME, values, ("elbow", "knee"), limit=3.0, unit="rad/s")
    assert (calm.outcome, calm.first, calm.where) == ("pass", None, "knee")


def test_values_that_are_not_known_are_not_judged():
    values = np.full((20, 1), np.nan)
    assert judge("speed", TIME, values, ("elbow",), limit=1.0, unit="").outcome == "not applicable"
    values[3] = 0.5
    check = judge("speed", TIME, values, ("elbow",), limit=1.0, unit="")
    assert (check.outcome, check.worst.frame) == ("pass", 3)


def test_an_excess_must_last():
    time = np.arange(100) * 1e-3
    values = np.full((100, 1), 0.5)
    values[10:15], values[50:75] = 1.5, 1.5
    # 0.5 of the limit for 5 ms and for 25 ms: 2.5 and 12.5 ms.
    assert np.flatnonzero(lasting_excess(time, values, 1.0)[:, 0]).tolist() == list(range(50, 75))


def test_failures_are_listed_in_the_order_in_which_they_begin():
    late = Check("foot skate", "fail", 0.05, 0.02, "m", None, Moment(1.2, 12), "left_foot")
    early = Check("ZMP", "fail", 0.1, 0.01, "m", None, Moment(0.3, 3))
    run = Check("run: completed", "fail", reason="it did not stand")
    judged = verdict(run, late, early, Check("jump", "pass", 0.0), not_applicable("flight", "no flight"))
    assert not judged.passed
    assert judged.summary == (
        "fails 3 of 4 checks: ZMP from 0.30 s (frame 3); foot skate (left_foot) from 1.20 s (frame 12); "
        "run: completed"
    )
    assert verdict(Check("jump", "pass", 0.0)).summary == "passes all 1 checks"
    with pytest.raises(KeyError):
        judged.check("no such check")


def test_json_has_plain_finite_numbers():
    check = Check("ZMP", "fail", np.inf, 0.01, "m", None, Moment(0.3, 3), series=np.zeros(20))
    written = json.loads(json.dumps(verdict(check).as_dict(), allow_nan=False))
    assert written["checks"][0]["first"] == {"time": 0.3, "frame": 3}
    assert written["checks"][0]["value"] is None
    assert "series" not in written["checks"][0]
    assert (written["passed"], written["notes"], written["doubts"]) == (False, ["a note"], ["a doubt"])


def test_an_excess_begins_with_a_short_one_from_which_the_value_hardly_sinks():
    time = np.arange(0.0, 1.0, 0.01)
    values = np.full((100, 1), 0.5)
    values[20:22], values[22:30], values[30:60] = 1.02, 0.95, 1.2
    assert np.flatnonzero(lasting_excess(time, values, 1.0)[:, 0]).tolist() == [20, 21, *range(30, 60)]
    values[25] = 0.8
    assert np.flatnonzero(lasting_excess(time, values, 1.0)[:, 0]).tolist() == list(range(30, 60))
