"""Machine code that is kept: for these sources, not for others."""

import os
import subprocess
import sys
from typing import NamedTuple

import numba.core.event
import numpy as np
import pytest
from numba import njit

from simbench.kinematics.compiled import compile_for, compile_timer

CALLED = """from simbench.kinematics.compiled import compiled


@compiled
def step(x):
    return x + {}
"""
CALLER = """from called import step
from simbench.kinematics.compiled import compiled


@compiled
def twice(x):
    return step(step(x))
"""
MAIN = """
import sys
from pathlib import Path
sys.path.insert(0, sys.argv[1])
from simbench.kinematics.compiled import keep_by_sources
folder = keep_by_sources(Path(sys.argv[1]))[0]
from caller import twice
print(twice(1.0), folder.name, sum(twice.stats.cache_hits.values()))
"""


@pytest.fixture
def answer(tmp_path):
    """What a process of its own computes, where it keeps machine code, and how often it found some."""
    environment = {name: value for name, value in os.environ.items() if name != "NUMBA_CACHE_DIR"}

    def run():
        command = [sys.executable, "-c", MAIN, str(tmp_path)]
        done = subprocess.run(command, env=environment, capture_output=True, text=True, check=True)
        value, folder, hits = done.stdout.split()
        return float(value), folder, int(hits)

    return run


def test_a_function_follows_a_change_of_one_that_it_calls_from_another_file(answer, tmp_path):
    (tmp_path / "caller.py").write_text(CALLER)
    (tmp_path / "called.py").write_text(CALLED.format("1.0"))
    first, before, found = answer()
    again, same, found_again = answer()
    assert (first, again) == (3.0, 3.0)
    assert before == same
    assert (found, found_again) == (0, 1)
    (tmp_path / "called.py").write_text(CALLED.format("10.0"))
    changed, after, _ = answer()
    assert changed == 21.0
    assert after != before


def test_time_of_compiling_is_told_and_only_that(monkeypatch):
    """On a clock that advances by a second when compiling ends, and otherwise when it is told to."""
    now = [100.0]
    monkeypatch.setattr(numba.core.event, "timer", lambda: now[0])

    class Clock(numba.core.event.Listener):
        def on_start(self, event):
            pass

        def on_end(self, event):
            now[0] += 1.0

    @njit
    def doubled(x):
        return 2.0 * x

    with numba.core.event.install_listener("numba:compiler_lock", Clock()), compile_timer() as compiling:
        assert compiling() == 0.0
        doubled(1.0)
        compiled = compiling()
        assert compiled == now[0] - 100.0 >= 1.0
        now[0] += 5.0
        doubled(2.0)
        assert compiling() == compiled
        doubled(2)
        assert compiling() == now[0] - 105.0 > compiled


def test_a_kernel_compiled_for_types_writes_into_its_arrays_and_refuses_other_types():
    class Inputs(NamedTuple):
        factor: float
        values: np.ndarray

    @njit
    def scale(count, inputs, out):
        for i in range(count):
            out[i] = inputs.factor * inputs.values[i]
        return count

    inputs, out = Inputs(2.0, np.arange(3.0)), np.zeros(3)
    fast = compile_for(scale, 0, inputs, out)
    inputs.values[0] = 5.0
    assert fast(2, inputs, out) == 2
    np.testing.assert_array_equal(out, [10.0, 2.0, 0.0])
    with pytest.raises(TypeError):
        fast(2, inputs, out.astype(np.float32))


def test_without_numba_there_is_nothing_to_compile():
    def double(x):
        return 2.0 * x

    assert compile_for(double, 1.0) is double
