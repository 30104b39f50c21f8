"""A made-up run against the trace that was measured of it: what differs, when, and by how much."""

from dataclasses import replace

import numpy as np
import pytest

from simbench.runs.traces.trace_comparison import (
    compare_trace,
    describe_divergence,
    describe_growth,
    measure_growth,
)
from simbench.runs.traces.trace_file import measure_trace
from simbench.runs.traces.trace_signals import Channel, Samples

RATE = 200.0
TIME = np.arange(1600) / RATE
CHANNELS = (
    Channel("joint_position", "elbow", "rad"),
    Channel("joint_position", "wrist", "rad"),
    Channel("foot_load", "left", "N"),
)


def samples(shift=0.0, time=TIME):
    """An arm that swings from 1 s on, while a foot carries a load."""
    t = time - shift
    moving = np.where(t > 1.0, 1.0 - np.cos(2.0 * (t - 1.0)), 0.0)
    return Samples(time, CHANNELS, np.stack([0.4 * moving, -0.2 * moving, 300.0 + 20.0 * moving], axis=1))


def noisy(seed, size):
    """The same arm; the load differs by a bounded chaos that begins at 4 s."""
    run = samples()
    noise = size * np.random.default_rng(seed).uniform(-1.0, 1.0, len(TIME)) * (TIME > 4.0)
    run.values[:, 2] += noise
    return run


@pytest.fixture(scope="module")
def trace():
    return measure_trace([samples(), *(noisy(seed, 3.0) for seed in range(5))], 25.0)


def test_the_run_itself_and_other_perturbed_ones_hold(trace):
    assert compare_trace(trace, samples()) == ()
    for seed in range(100, 110):
        assert compare_trace(trace, noisy(seed, 3.0)) == ()


def test_the_envelope_is_where_perturbed_runs_differ(trace):
    assert len(trace.time) == 200
    load = trace.envelope[:, 2]
    assert (load[trace.time < 3.7] == 0.0).all()
    # Of 5 draws every 5 ms over 0.4 s the greatest is near the bound of the noise.
    assert load[trace.time > 4.3] == pytest.approx(3.0, rel=0.1)
    assert (trace.envelope[:, :2] == 0.0).all()


def test_the_first_sample_outside_is_named_with_its_ratio(trace):
    run = samples()
    run.values[TIME >= 3.0, 1] += 0.004
    run.values[TIME >= 5.0, 0] += 0.1
    compared = compare_trace(trace, run)
    first = compared[0]
    assert (first.channel.name, first.outcome, first.time) == (
        "joint_position.wrist",
        "left its envelope",
        pytest.approx(3.0),
    )
    # The tolerance is 0.2 mrad, or half a thousandth of the range of 0.4 rad.
    assert first.ratio == pytest.approx(0.004 / 0.0002, rel=0.02)
    assert [each.channel.label for each in compared] == ["wrist", "elbow"]
    assert describe_divergence(first).startswith(
        "joint_position.wrist at 3.000 s, 20 times its envelope (now "
    )


def test_a_deviation_that_rounding_explains_holds_where_it_does_only(trace):
    late, early = samples(), samples()
    late.values[(TIME > 5.0) & (TIME < 5.3), 2] += 10.0
    assert compare_trace(trace, late) == ()
    early.values[(TIME > 2.0) & (TIME < 2.3), 2] += 10.0
    assert compare_trace(trace, early)[0].time == pytest.approx(2.04)


@pytest.mark.parametrize(("shift", "outcome"), [(0.005, "lags"), (-0.005, "leads"), (0.05, "lags")])
def test_a_signal_that_is_late_is_said_to_be(trace, shift, outcome):
    first = compare_trace(trace, samples(shift))[0]
    assert first.outcome == outcome
    assert first.lag == pytest.approx(shift, rel=0.02)
    assert f"{outcome} by {1e3 * abs(shift):.2g} ms" in describe_divergence(first)


def test_a_lag_of_less_than_a_fifth_of_a_sample_holds(trace):
    run = samples(0.0008)
    assert np.abs(run.values[::8, 0] - trace.values[:, 0]).max() > trace.tolerance[0, 0]
    assert compare_trace(trace, run) == ()


def test_what_is_undefined_missing_or_over_too_early_diverges(trace):
    run = samples()
    run.values[TIME >= 2.0, 2] = np.nan
    first = compare_trace(trace, run)[0]
    assert (first.outcome, first.time, first.channel.name) == ("undefined", 2.0, "foot_load.left")
    assert describe_divergence(first) == ("foot_load.left at 2.000 s is not defined, but is in the baseline")
    part = Samples(run.time, CHANNELS[:2], samples().values[:, :2])
    first = compare_trace(trace, part)[0]
    assert describe_divergence(first) == "foot_load.left is missing in the run"
    short = samples(time=TIME[TIME < 6.0])
    first = compare_trace(trace, short)[0]
    assert describe_divergence(first) == "the run ends at 5.995 s, before its baseline"


def test_nothing_is_expected_where_rounding_decides_whether_there_is_a_value():
    first, other = samples(), samples()
    other.values[(TIME > 2.0) & (TIME < 2.1), 2] = np.nan
    trace = measure_trace([first, other], 25.0)
    assert compare_trace(trace, first) == ()
    assert compare_trace(trace, other) == ()
    later = samples()
    later.values[(TIME > 5.0) & (TIME < 5.1), 2] = np.nan
    assert compare_trace(trace, later)[0].time == pytest.approx(5.04)


def test_another_rate_of_the_log_is_compared_at_the_same_instants(trace):
    assert compare_trace(trace, samples(time=np.arange(8000) / 1000.0)) == ()
    tight = replace(trace, envelope=np.zeros_like(trace.envelope))
    assert compare_trace(tight, samples(time=np.arange(8000) / 1000.0)) == ()


def away(size):
    """A run whose sums of positions differ from those of `samples` by `size` (T,)."""
    sums = np.stack([np.sin(TIME), np.cos(TIME) + size], axis=1)
    return samples()._replace(sums=sums)


@pytest.mark.parametrize(
    ("size", "rounding", "part"),
    [
        # Exponentially from the last digit on; a motion that changes its last digit and no more.
        (1e-13 * 10.0 ** (2.0 * TIME), True, "ten times as much every 0.5 s"),
        (1e-13 * (TIME > 1.0), True, "from 1.040 s on"),
        # At once; at a contact, after rounding had its way; slowly from a per cent of a per cent.
        (np.full(len(TIME), 1e-5), False, "differ by 1.0e-05 from 0.000 s on"),
        (np.where(TIME < 3.0, 1e-12, 1e-4), False, "at 3.000 s by 1.0e-04, 1e+08 times as much"),
        (np.maximum(1e-8, 1e-8 * 10.0**TIME), False, "differ by 1.0e-08"),
        # As 1 % more friction begins.
        (1e-9 * 10.0**TIME, False, "differ by 1.0e-09"),
    ],
)
def test_what_grows_from_rounding_is_told_from_what_jumps(size, rounding, part):
    trace = measure_trace([away(0.0)], 25.0)
    growth = measure_growth(trace, away(size))
    assert growth.rounding == rounding
    assert part in describe_growth(growth)
    assert describe_growth(growth).startswith("looks like rounding") == rounding


def test_equal_runs_and_traces_without_sums_do_not_grow():
    trace = measure_trace([away(0.0)], 25.0)
    assert measure_growth(trace, away(0.0)) is None
    assert measure_growth(measure_trace([samples()], 25.0), away(1.0)) is None
