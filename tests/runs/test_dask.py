"""A Dask cluster of two workers on this machine."""

import logging
import os
import signal
import subprocess
import sys
from contextlib import contextmanager
from functools import partial
from pathlib import Path

import pytest

from simbench.cli.main import main
from simbench.errors import StudyError
from simbench.runs import execution as processes
from simbench.runs.execution import capture_result, dask_cluster, run_in_subprocess, run_isolated
from simbench.runs.study import TABLE, Item, run_study
from tests.helpers.waiting import wait_until

dask = pytest.importorskip("dask")
distributed = pytest.importorskip("distributed")
IMPORTABLE = Path(__file__).parents[1] / "helpers" / "importable"
SHORT = [
    *("motion.task.amplitude_rad=0.1", "simulation.settle_s=0.1", "simulation.hold_s=0.1"),
    "motion.task.speed_rad_s=1",
]


@contextmanager
def patient():
    """Let scheduler, workers and clients wait an hour for each other: a busy machine is slow to answer."""
    connecting = {"distributed.comm.timeouts.connect": "1h", "distributed.comm.timeouts.tcp": "1h"}
    with dask.config.set(connecting), pytest.MonkeyPatch.context() as patch:
        patch.setattr("simbench.runs.execution._CONNECT_TIMEOUT", 3600.0)
        yield


@pytest.fixture(scope="module")
def cluster():
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(str(IMPORTABLE))
        with (
            patient(),
            distributed.LocalCluster(
                n_workers=2, threads_per_worker=2, dashboard_address=":0", silence_logs=logging.CRITICAL
            ) as running,
        ):
            yield running


@pytest.fixture
def items(tmp_path, monkeypatch):
    monkeypatch.syspath_prepend(str(IMPORTABLE))
    folder = tmp_path / "calls"
    folder.mkdir()
    return [Item({"number": number}, (number, str(folder)), number) for number in range(8)]


def worker_processes(cluster):
    with distributed.Client(cluster.scheduler_address, set_as_default=False) as client:
        return list(client.run(os.getpid).values())


def test_a_worker_that_is_killed_under_load_loses_nothing(cluster, items, tmp_path):
    from study_units import square

    killed = []

    def kill_one(stage, done, total):
        if done == 2:
            killed.extend(worker_processes(cluster)[:1])
            os.kill(killed[0], signal.SIGKILL)

    with dask_cluster(cluster.scheduler_address) as execute:
        rows = run_study(square, items, tmp_path / "dask", execute=execute, on_progress=kill_one)
    assert [row.error for row in rows] == [""] * 8
    assert killed[0] not in worker_processes(cluster)
    run_study(square, items, tmp_path / "local", execute=partial(run_isolated, jobs=2))
    assert (tmp_path / "dask" / TABLE).read_bytes() == (tmp_path / "local" / TABLE).read_bytes()


def test_what_had_finished_when_every_worker_was_lost_is_computed_again(cluster, items):
    from study_units import square

    with (
        dask_cluster(cluster.scheduler_address) as execute,
        distributed.Client(cluster.scheduler_address, set_as_default=False) as client,
    ):

        def count_results():
            return sum(map(len, client.has_what().values()))

        results = execute(square, [item.arguments for item in items[:4]])
        outcomes = dict([next(results)])
        wait_until(lambda: count_results() == 3)
        for process in worker_processes(cluster):
            os.kill(process, signal.SIGKILL)
        wait_until(lambda: count_results() == 0)
        outcomes.update(results)
    assert [outcomes[number].value["square"] for number in range(4)] == [0, 1, 4, 9]


def test_a_sweep_gives_the_same_table_as_here(cluster, tmp_path, capsys, monkeypatch):
    def run_here(function, work, jobs):
        return ((index, capture_result(function, arguments)) for index, arguments in enumerate(work))

    monkeypatch.setattr(processes, "run_isolated", run_here)
    command = ["sweep", "puma560_sweep", "--vary", "control.law=pd,computed_torque", "--out"]
    overrides = [part for text in SHORT for part in ("--set", text)]
    assert main([*command, str(tmp_path / "dask"), "--dask", cluster.scheduler_address, *overrides]) == 0
    assert main([*command, str(tmp_path / "local"), *overrides]) == 0
    assert "(2 runs, all hold)" in capsys.readouterr().out
    assert (tmp_path / "dask" / TABLE).read_bytes() == (tmp_path / "local" / TABLE).read_bytes()


def test_errors_are_rows_on_a_cluster_too(cluster, items, tmp_path):
    from study_units import fragile

    (tmp_path / "calls" / "ill").touch()
    with dask_cluster(cluster.scheduler_address) as execute:
        rows = run_study(fragile, items[:3], tmp_path / "a", execute=execute)
    assert [row.error.partition(" (")[0] for row in rows] == [
        "",
        "ValueError: one is not wanted",
        "its process died, exit status 7",
    ]


def test_a_cluster_that_goes_away_keeps_what_is_done(items, tmp_path):
    from study_units import square

    running = distributed.LocalCluster(
        n_workers=1,
        threads_per_worker=1,
        processes=False,
        dashboard_address=":0",
        silence_logs=logging.CRITICAL,
    )

    # From the third on, none is finished before the cluster is closed.
    slow = tmp_path / "calls" / "slow"
    slow.touch()

    def close(stage, done, total):
        if done == 1:
            running.close()

    with (
        pytest.raises(StudyError, match="the cluster is gone; what is finished is kept"),
        dask_cluster(running.scheduler_address) as execute,
    ):
        run_study(square, items, tmp_path / "a", execute=execute, on_progress=close)
    slow.unlink()
    assert 1 <= len(list((tmp_path / "a" / "rows").iterdir())) <= 2


def test_what_the_work_prints_is_no_part_of_its_answer():
    import pickle

    assert run_in_subprocess(pickle.dumps((print, ("hello",)))).value is None
    assert run_in_subprocess(pickle.dumps((os.getenv, ("OMP_NUM_THREADS",)))).value == "1"
    assert run_in_subprocess(b"no pickle").crashed


def test_the_process_ends_when_nobody_waits_for_its_answer():
    """As when a worker is killed: its end of the pipe closes."""
    begin = "from simbench.runs.execution import _answer_pipe; _answer_pipe()"
    work = b"\x80\x04ctime\nsleep\nM\x58\x02\x85\x86."
    process = subprocess.Popen([sys.executable, "-c", begin], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    process.stdin.write(work)
    process.stdin.close()
    assert process.wait() == 1
    assert process.stdout.read() == b""
