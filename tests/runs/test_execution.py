"""Another process can import the functions: they are the standard library's or those of `study_units`."""

import multiprocessing
import operator
import os
import platform
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from threadpoolctl import threadpool_info

from simbench.runs.execution import run_isolated
from simbench.runs.scenario.loading import load_scenario
from simbench.system.portable import other_kernels

IMPORTABLE = Path(__file__).parents[1] / "helpers" / "importable"


def blas_kernels():
    import scipy.linalg  # noqa: F401

    return [each["architecture"] for each in threadpool_info() if each["internal_api"] == "openblas"]


def answers(function, work, jobs=2):
    return [answer for _, answer in sorted(run_isolated(function, work, jobs), key=operator.itemgetter(0))]


def test_each_piece_of_work_gives_its_value_or_its_error():
    quarter, nothing = answers(operator.truediv, [(1.0, 4.0), (1.0, 0.0)])
    assert (quarter.value, quarter.error) == (0.25, "")
    assert nothing.error.startswith("ZeroDivisionError: ")
    assert "\n" not in nothing.error


def test_an_error_of_input_is_its_own_words():
    (unknown,) = answers(load_scenario, [("drawr",)])
    assert unknown.error.startswith("unknown scenario 'drawr' (did you mean 'drawer'?)")


def test_a_process_that_dies_is_told_of():
    (died,) = answers(os._exit, [(3,)])
    assert died.error == "its process died, exit status 3"


def test_each_process_has_one_thread(monkeypatch):
    monkeypatch.delenv("OMP_NUM_THREADS", raising=False)
    (threads,) = answers(os.getenv, [("OMP_NUM_THREADS",)])
    assert threads.value == "1"
    assert "OMP_NUM_THREADS" not in os.environ


def test_each_process_has_the_environment_and_the_folder_of_the_moment(monkeypatch, tmp_path):
    for value in ("first", "second"):
        folder = tmp_path / value
        folder.mkdir()
        monkeypatch.setenv("SIMBENCH_TEST", value)
        monkeypatch.chdir(folder)
        assert [answer.value for answer in answers(os.getenv, [("SIMBENCH_TEST",)])] == [value]
        assert [answer.value for answer in answers(os.getcwd, [()])] == [str(folder)]
    monkeypatch.delenv("SIMBENCH_TEST")
    assert [answer.value for answer in answers(os.getenv, [("SIMBENCH_TEST",)])] == [None]


def test_variables_of_a_call_are_there_before_libraries_are_loaded(monkeypatch):
    monkeypatch.delenv("OPENBLAS_CORETYPE", raising=False)
    kernels = [{}, *({"OPENBLAS_CORETYPE": each["OPENBLAS_CORETYPE"]} for each in other_kernels()[:2])]
    found = dict(run_isolated(blas_kernels, [()] * len(kernels), 1, kernels))
    assert "OPENBLAS_CORETYPE" not in os.environ
    for number, variables in enumerate(kernels):
        if variables and platform.machine() == "x86_64":
            assert set(found[number].value) == set(variables.values())


@pytest.mark.skipif(sys.platform != "linux", reason="processes are forked on Linux only")
def test_what_a_run_imports_is_imported_once_for_all_processes(monkeypatch):
    monkeypatch.syspath_prepend(str(IMPORTABLE))
    from study_units import is_imported

    (imported, nothing) = answers(is_imported, [("simbench.runs.pipeline",), ("nothing",)])
    assert (imported.value, nothing.value) == (True, False)


def test_what_is_under_way_ends_when_nobody_waits_for_it(tmp_path, monkeypatch):
    monkeypatch.syspath_prepend(str(IMPORTABLE))
    from study_units import square

    (tmp_path / "slow").touch()
    finished = run_isolated(square, [(number, str(tmp_path)) for number in (1, 2, 3)], 2)
    assert next(finished)[0] == 0
    finished.close()
    assert multiprocessing.active_children() == []
    # A process that nobody interrupts would wait for the file to go.
    assert [path.name for path in tmp_path.glob("done-*")] == ["done-1"]


INTERRUPTED = """
import os, signal
from multiprocessing import forkserver
from simbench.runs.execution import run_isolated

def then_interrupt(start=forkserver.ensure_running):
    start()
    os.killpg(0, signal.SIGINT)

if {early}:
    forkserver.ensure_running = then_interrupt
try:
    list(run_isolated(exec, [("import os, signal; os.killpg(0, signal.SIGINT); signal.pause()",)], 1))
except KeyboardInterrupt:
    print("interrupted")
"""


@pytest.mark.skipif(sys.platform != "linux", reason="processes are forked on Linux only")
@pytest.mark.parametrize("early", [True, False])
def test_ctrl_c_reaches_all_processes_and_one_tells_of_it(early):
    done = subprocess.run(
        [sys.executable, "-c", INTERRUPTED.format(early=early)],
        capture_output=True,
        text=True,
        start_new_session=True,
        # In the background of a script an interrupt is ignored, and the program would inherit that.
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.default_int_handler),
    )
    assert (done.stdout, done.stderr, done.returncode) == ("interrupted\n", "", 0)
