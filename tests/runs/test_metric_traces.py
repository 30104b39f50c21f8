"""Signals behind metrics: their extremes and means are the metrics, and failures are found where they are."""

import math

import numpy as np
import pytest
import run_by_hand as by_hand
import xarray as xr

from simbench.options import Bound
from simbench.runs.baseline import check_metrics
from simbench.runs.log import open_run
from simbench.runs.metric_traces import EXTREMES, MEANS, find_failure_times, lost_grips, metric_trace
from simbench.runs.metrics import contact_kinds, run_metrics


@pytest.fixture(scope="module")
def drawer(drawer_run):
    log = open_run(drawer_run())
    return log, run_metrics(log)


SMALLEST = ("zmp.min_margin_m",)
FRACTIONS = ("torque.saturated_fraction", "zmp.inside_fraction")
# The metric counts physics steps, the signal has logged samples.
STEPS = ("limits.speed_ratio", "limits.position_violation_rad")


def test_extremes_of_signals_are_the_metrics(drawer):
    log, metrics = drawer
    checked = 0
    for name in EXTREMES:
        if name not in metrics or name in FRACTIONS:
            continue
        value = metric_trace(name, log).value
        found = np.nanmin(value) if name in SMALLEST else np.nanmax(value)
        if name in STEPS:
            assert 0.9 * metrics[name] <= found <= metrics[name] + 1e-12
        else:
            assert found == pytest.approx(metrics[name], rel=1e-9, abs=1e-12), name
        checked += 1
    assert checked >= 8


def test_means_of_signals_have_their_largest_sample(drawer):
    log, metrics = drawer
    for name, make in MEANS.items():
        value = make(log).value
        # The signal has the worst joint of each sample, so that it is at least the mean over all joints.
        assert metrics[name] <= np.nanmax(value)
    error = MEANS["cog.rms_m"](log).value
    assert math.sqrt(np.mean(error**2)) == pytest.approx(metrics["cog.rms_m"])


def failure(log, name, bound, value):
    checks = check_metrics({name: bound}, {name: value})
    return find_failure_times(checks, {name: bound}, {name: value}, log).get(name)


def test_a_peak_fails_at_its_first_sample_and_names_its_joint(drawer):
    log, _ = drawer
    position = log["joint_position"].copy(deep=True)
    position[2000:2100, 5] += 0.3
    found = failure(log.assign(joint_position=position), "tracking.max_rad", Bound(max=0.2), 0.3)
    assert found.time == pytest.approx(float(log.time[2000]))
    assert found.words == f"first beyond the bound, {log['joint'].values[5]}"


def test_a_mean_fails_with_its_largest_sample(drawer):
    log, _ = drawer
    position = log["joint_position"].copy(deep=True)
    position[1500, 7] += 0.9
    found = failure(log.assign(joint_position=position), "tracking.rms_rad", Bound(max=0.001), 0.01)
    assert (found.time, found.words) == (float(log.time[1500]), f"largest, {log['joint'].values[7]}")


def test_the_zmp_fails_where_it_leaves_the_support(drawer):
    log, _ = drawer
    margin = log["zmp_margin"].copy(deep=True)
    margin[[900, 1200]] = np.array([-0.01, -math.inf])
    found = failure(log.assign(zmp_margin=margin), "zmp.inside_fraction", Bound(min=1.0), 0.99)
    assert found.time == float(log.time[900])


def test_a_fall_and_a_divergence_have_a_time(drawer):
    log, _ = drawer
    pose = log["base_pose"].copy(deep=True)
    pose[1000:, 2] = 0.1
    checks = check_metrics({"fell": False}, {"fell": True})
    found = find_failure_times(checks, {"fell": False}, {"fell": True}, log.assign(base_pose=pose))
    assert found["fell"].time == float(log.time[1000])
    diverged = {"simulation.diverged_s": 1.25}
    assert (
        find_failure_times(check_metrics({}, diverged), {}, diverged, log)["simulation.diverged_s"].time
        == 1.25
    )


def test_a_stroke_that_is_too_short_fails_at_its_end(drawer):
    log, _ = drawer
    start, end = log["strokes"].values[2]
    travel = log["drawer_travel"].copy(deep=True)
    inside = (log.time >= start) & (log.time <= end)
    travel[inside.values] = 0.2 + 0.5 * (travel[inside.values] - 0.2)
    found = failure(log.assign(drawer_travel=travel), "drawer.travel_ratio", Bound(min=0.95), 0.5)
    assert found.time == pytest.approx(end)
    assert "stroke 3" in found.words


def contacts(*events):
    first, second, start = zip(*events, strict=True)
    return xr.Dataset(
        {
            "contact_first": ("contact", list(first)),
            "contact_second": ("contact", list(second)),
            "contact_start": ("contact", list(start)),
        },
        attrs={
            "robot": "r",
            "hand_links": "hand",
            "foot_links": "foot",
            "thigh_links": "thigh",
            "seat": "stool",
        },
    )


def test_the_first_contact_beyond_the_number_allowed_fails():
    log = contacts(
        ("r/foot", "floor", 0.0),
        ("r/hand", "table/top", 1.0),
        ("r/arm", "table/top", 3.0),
        ("r/arm", "r/leg", 2.5),
        ("r/arm", "table/leg", 2.0),
        ("r/knee", "floor", 4.0),
        ("r/thigh", "stool/seat", 0.1),
    )
    equipment = "equipment_unintended"
    assert contact_kinds(log).tolist() == ["", "", equipment, "self", equipment, "floor_unintended", ""]
    name = "contact.equipment_unintended_count"
    assert failure(log, name, Bound(max=0), 2.0) == (2.0, "contact of r/arm on table/leg")
    assert failure(log, name, Bound(max=1), 2.0) == (3.0, "contact of r/arm on table/top")
    assert failure(log, "contact.self_count", Bound(max=0), 1.0).time == 2.5


def test_a_grip_is_lost_where_it_opens_while_the_hand_is_to_hold():
    held = np.array([[0, 0], [1, 1], [1, 1], [0, 1], [0, 0], [0, 0]], dtype=bool)
    wanted = np.array([[1, 1], [1, 1], [1, 1], [1, 1], [1, 0], [0, 0]], dtype=bool)
    log = xr.Dataset(
        {"grip_engaged": (("time", "hand"), held), "hand_contact": (("time", "hand"), wanted)},
        {"time": 0.1 * np.arange(6), "hand": ["left", "right"]},
        {"grips_lost": 1},
    )
    ((time, hand),) = lost_grips(log)
    assert (time, hand) == (pytest.approx(0.3), "left hand")
    assert lost_grips(log.assign_attrs(grips_lost=0)) == []


def test_nothing_is_said_where_nothing_can_be_found():
    log = by_hand.puma_log()
    # This log has no arms, and no log tells when a plan was slowed down.
    for name in ("tracking.arms_rms_rad", "retarget.slow_down"):
        assert failure(log, name, Bound(max=0.0), 1.0) is None
