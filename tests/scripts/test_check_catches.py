"""Faults that the tool inserts can still be inserted, and what `simbench check` prints is understood."""

import subprocess

import pytest
import script_modules

PRINTED = """\
scenario  metric            baseline     now  tolerance  verdict
drawer    tracking.rms_rad     0.001   0.002    + 1e-05  worse
drawer    cog.rms_m            0.002   0.001    + 1e-05  better; --update keeps it
drawer    signals                                        diverged: 4 of 87 channels
valves    12 metrics, 3 channels                         holds
drawer: first divergence: zmp.x at 0.050 s, lags by 5 ms, 4.7 times its envelope (now 1, baseline 2 m)
"""


@pytest.fixture(scope="module")
def tool():
    with script_modules.loaded_script("tools/check_catches.py") as module:
        yield module


def test_every_text_that_a_fault_replaces_is_there_once(tool):
    names = [fault.name for fault in tool.FAULTS]
    assert len(set(names)) == len(names)
    for fault in tool.FAULTS:
        text = (tool.ROOT / fault.file).read_text(encoding="utf-8")
        for before, after in fault.changes:
            assert text.count(before) == 1, f"{fault.name}: {before}"
            assert after != before


def test_metrics_and_first_divergences_are_read_from_a_check(tool, monkeypatch):
    def run(command, **options):
        said = f"{tool.ROOT}/simbench/__init__.py\n" if command[1] == "-c" else PRINTED
        return subprocess.CompletedProcess(command, 0 if command[1] == "-c" else 1, said, "")

    monkeypatch.setattr(tool.subprocess, "run", run)
    said = tool.run_check(tool.ROOT, ["drawer", "valves"])
    assert said.failures == (("drawer", "tracking.rms_rad"),)
    assert said.divergences == (
        ("drawer", "zmp.x at 0.050 s, lags by 5 ms, 4.7 times its envelope (now 1, baseline 2 m)"),
    )
    assert said.detects
    equal = next(fault for fault in tool.FAULTS if fault.changes_nothing)
    assert not tool.as_demanded(tool.Trial(equal.name, (), equal), said)
    assert tool.as_demanded(tool.Trial(equal.name, (), equal), tool.Said(0, ()))
