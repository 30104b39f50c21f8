"""Files of traces: their size, what is read back, and what is refused."""

import numpy as np
import pytest

from simbench.errors import BaselineError
from simbench.resources import resource_dir
from simbench.runs.traces.trace_file import LARGEST_FILE, encode_trace, fit_trace, read_trace, write_trace
from simbench.runs.traces.trace_signals import TOLERANCES, Channel, Samples


def humanoid(seconds, joints):
    """Joints that move at random, which nothing compresses: a trace of the largest size."""
    rng = np.random.default_rng(3)
    time = np.arange(int(200 * seconds)) / 200.0
    channels = tuple(Channel("joint_position", f"joint_{number}", "rad") for number in range(joints))
    channels += (Channel("zmp", "x", "m"),)
    values = np.cumsum(rng.normal(0.0, 0.01, (len(time), joints + 1)), axis=0)
    values[100:140, -1] = np.nan
    other = values + rng.normal(0.0, 1e-3, values.shape)
    return [Samples(time, channels, values), Samples(time, channels, other)]


def test_what_is_read_back_differs_by_less_than_a_tenth_of_the_tolerance(tmp_path):
    trace, content = fit_trace(humanoid(4.0, 10))
    path = tmp_path / "baselines" / "made.trace.nc"
    write_trace(path, content)
    back = read_trace(path)
    assert back.channels == trace.channels
    assert back.time.tolist() == trace.time.tolist()
    assert (np.isnan(back.values) == np.isnan(trace.values)).all()
    absolute = np.array([TOLERANCES[channel.unit].absolute for channel in trace.channels])
    assert np.nanmax(np.abs(back.values - trace.values) / absolute) < 0.1
    assert (np.isinf(back.envelope) == np.isinf(trace.envelope)).all()
    finite = np.isfinite(trace.envelope)
    ratio = back.envelope[finite & (trace.envelope > 0.0)] / trace.envelope[finite & (trace.envelope > 0.0)]
    # Rounded up, so that no alarm comes from it.
    assert ratio.min() >= 1.0 - 1e-9
    assert ratio.max() < 1.1
    assert encode_trace(trace) == content
    assert read_trace(tmp_path / "none.trace.nc") is None


def test_the_rate_gives_way_to_the_size():
    short, long = fit_trace(humanoid(2.0, 60)), fit_trace(humanoid(30.0, 60))
    for _, content in (short, long):
        assert len(content) <= LARGEST_FILE
    assert len(short[0].time) / 2.0 == pytest.approx(25.0)
    assert 1.0 < len(long[0].time) / 30.0 < 12.5


def test_damage_is_one_line(tmp_path):
    _, content = fit_trace(humanoid(1.0, 3))
    path = tmp_path / "made.trace.nc"
    changed = bytearray(content)
    changed[len(content) // 2] ^= 0xFF
    for damaged in (bytes(changed), content[:1000], b"no such thing"):
        path.write_bytes(damaged)
        with pytest.raises(BaselineError) as raised:
            read_trace(path)
        assert str(raised.value).startswith(f"{path}: ")
        assert "\n" not in str(raised.value)


def test_shipped_traces_are_small_and_readable():
    paths = list((resource_dir("scenarios") / "baselines").glob("*.trace.nc"))
    assert paths
    for path in paths:
        assert path.stat().st_size <= LARGEST_FILE
        trace = read_trace(path)
        assert {"joint_position", "base", "torque_fraction"} <= set(trace.signals)
        assert path.with_name(path.name.replace(".trace.nc", ".json")).is_file()
