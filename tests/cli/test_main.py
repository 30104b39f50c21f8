import os
import signal
import subprocess
import sys
from datetime import datetime
from types import SimpleNamespace

import pytest

from simbench.cli.main import main
from simbench.errors import MotionError
from simbench.runs.baseline import check_metrics
from simbench.runs.run_directory import MARKER, incomplete_path, run_directory


@pytest.fixture
def pipeline(monkeypatch, tmp_path):
    """A pipeline that simulates nothing; tests change what it measures or raises."""
    fake = SimpleNamespace(
        metrics={"fell": False, "tracking.rms_rad": 0.0123456}, raises=None, calls=[], doubts=()
    )

    def run_scenario(scenario, folder, *, video, fast, gui, cache, on_progress, on_doubts):
        fake.calls.append((scenario, folder, video, fast, gui))
        with run_directory(folder, {"scenario.yaml": ""}) as working:
            on_doubts(fake.doubts)
            on_progress("simulate", 1, 2)
            (working / "log.nc").touch()
            if fake.raises is not None:
                raise fake.raises
        checks = check_metrics(
            {name: bound for name, bound in scenario.checks.items() if name in fake.metrics}, fake.metrics
        )
        return SimpleNamespace(
            directory=folder,
            metrics=fake.metrics,
            checks=checks,
            passed=all(check.passed for check in checks),
            video_file=folder / "video.mp4" if video else None,
            renderer="TinyRenderer" if video else None,
            diverged=None,
            robot=None,
            notes=(),
        )

    fake.run_scenario = run_scenario
    monkeypatch.setitem(sys.modules, "simbench.runs.pipeline", fake)
    monkeypatch.chdir(tmp_path)
    return fake


def test_a_run_that_holds_its_checks_prints_metrics_and_returns_0(pipeline, capsys, tmp_path):
    assert main(["run", "drawer", "--out", "a", "--video", "--set", "seed=3"]) == 0
    printed = capsys.readouterr()
    (row,) = (line for line in printed.out.splitlines() if "tracking.rms_rad" in line)
    assert row.split() == ["tracking.rms_rad", "0.01235", "rad", "✓", "≤", "0.03"]
    assert "run    a\n" in printed.out
    assert "video  a/video.mp4  (drawn by TinyRenderer)\n" in printed.out
    assert printed.err == ""
    (scenario, _, video, fast, gui), *_ = pipeline.calls
    assert (scenario.seed, video, fast, gui) == (3, True, False, False)


def test_a_failed_check_returns_1_and_is_named_with_value_and_bound(pipeline, capsys):
    pipeline.metrics = {"fell": True, "tracking.rms_rad": 0.01}
    assert main(["run", "drawer", "--out", "a"]) == 1
    printed = capsys.readouterr()
    assert printed.err == "check failed: fell is true, must be false\n"
    assert "✗ false" in printed.out


def test_plots_are_drawn_into_the_run_when_asked_for(pipeline, monkeypatch, capsys):
    drawn = []
    monkeypatch.setattr(
        "simbench.runs.plots.run_plots.draw_plots", lambda folder, on_progress: drawn.append(folder)
    )
    assert main(["run", "drawer", "--out", "a"]) == 0
    assert drawn == []
    assert main(["run", "drawer", "--out", "b", "--plots"]) == 0
    assert [str(folder) for folder in drawn] == ["b"]
    assert capsys.readouterr().out.endswith("plots  b/plots\n")


def test_runs_of_the_same_second_have_directories_of_their_own(pipeline, monkeypatch, tmp_path):
    monkeypatch.setattr(
        "simbench.runs.run_directory.datetime", SimpleNamespace(now=lambda: datetime(1969, 7, 20, 20, 17))
    )
    for _ in range(3):
        assert main(["run", "dance"]) == 0
    names = ["dance-19690720-201700", "dance-19690720-201700-2", "dance-19690720-201700-3"]
    assert sorted(path.name for path in (tmp_path / "runs").iterdir()) == names


def test_a_name_that_another_process_takes_first_is_left_to_it(pipeline, monkeypatch, tmp_path, capsys):
    """Between the choice of a name and its use; a name that the user gave is refused."""
    run_scenario = pipeline.run_scenario

    def taken_first(scenario, folder, **given):
        pipeline.run_scenario = run_scenario
        (folder / "other").mkdir(parents=True)
        return run_scenario(scenario, folder, **given)

    pipeline.run_scenario = taken_first
    monkeypatch.setattr(
        "simbench.runs.run_directory.datetime", SimpleNamespace(now=lambda: datetime(2030, 1, 2))
    )
    assert main(["run", "dance"]) == 0
    assert sorted(path.name for path in (tmp_path / "runs").iterdir()) == [
        "dance-20300102-000000",
        "dance-20300102-000000-2",
    ]
    pipeline.run_scenario = taken_first
    capsys.readouterr()
    assert main(["run", "dance", "--out", "a"]) == 2
    assert capsys.readouterr().err == "error: a: exists and is not empty; a run needs a new directory\n"


@pytest.mark.parametrize(
    ("raised", "line"),
    [
        (MemoryError(), "not enough memory"),
        (ImportError("x.so: failed to map segment", name="x"), "cannot load x: x.so: failed to map segment"),
        (ModuleNotFoundError("No module named 'x'", name="x"), "cannot load x: No module named 'x'"),
    ],
)
def test_what_the_machine_lacks_is_one_line(pipeline, capsys, raised, line):
    pipeline.raises = raised
    assert main(["run", "drawer", "--out", "a"]) == 2
    printed = capsys.readouterr().err
    assert printed.startswith(f"error: {line}")
    assert printed.count("\n") == 1


def test_a_current_directory_that_was_deleted_is_named(pipeline, monkeypatch, capsys, tmp_path):
    gone = tmp_path / "gone"
    gone.mkdir()
    monkeypatch.chdir(gone)
    gone.rmdir()
    assert main(["run", "drawer", "--out", "a"]) == 2
    assert capsys.readouterr().err.startswith("error: the current directory does not exist any more")
    assert main(["run", "drawer", "--out", str(tmp_path / "a")]) == 0


@pytest.mark.parametrize(("number", "status"), [(signal.SIGTERM, 143), (signal.SIGHUP, 129)])
@pytest.mark.parametrize("turned_into", [None, ZeroDivisionError("a signal"), MotionError("a signal")])
def test_a_signal_ends_a_run_in_good_order(
    pipeline, capsys, tmp_path, monkeypatch, number, status, turned_into
):
    def receive(scenario, folder, **_):
        with run_directory(folder, {"scenario.yaml": ""}) as working:
            (working / "log.nc").touch()
            try:
                os.kill(os.getpid(), number)
            except KeyboardInterrupt:
                # Compiled code may do this.
                if turned_into is None:
                    raise
                raise turned_into from None

    pipeline.run_scenario = receive
    before = signal.signal(number, signal.SIG_DFL)
    try:
        assert main(["run", "drawer", "--out", "a"]) == status
    finally:
        signal.signal(number, before)
    kept = incomplete_path(tmp_path / "a")
    said = "" if turned_into else f": partial run kept in {kept}"
    assert capsys.readouterr().err == f"ended by {number.name}{said}\n"
    assert (kept / MARKER).exists()


def test_a_run_that_was_interrupted_is_replaced_and_that_is_said(pipeline, capsys, tmp_path):
    pipeline.raises = KeyboardInterrupt()
    main(["run", "drawer", "--out", "a"])
    capsys.readouterr()
    pipeline.raises = None
    assert main(["run", "drawer", "--out", "a"]) == 0
    kept = incomplete_path(tmp_path / "a")
    said = f"{kept}: left by a run that did not finish (interrupted); it is replaced\n"
    assert capsys.readouterr().err == said
    assert not kept.exists()


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="needs a device that is always full")
@pytest.mark.parametrize("command", [["schema", "scenario"], ["list"], ["samples", "out"], ["--help"]])
def test_a_full_disk_behind_a_redirection_is_one_line(tmp_path, command):
    with open("/dev/full", "w") as full:
        ended = subprocess.run(
            [sys.executable, "-m", "simbench", *command],
            stdout=full,
            stderr=subprocess.PIPE,
            text=True,
            cwd=tmp_path,
            env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)},
            check=False,
        )
    assert ended.stderr == "error: No space left on device\n"
    assert ended.returncode == 2


def test_a_bug_is_not_disguised_as_bad_input(pipeline):
    pipeline.raises = ZeroDivisionError("bug")
    with pytest.raises(ZeroDivisionError):
        main(["run", "drawer", "--out", "a"])


@pytest.mark.parametrize(
    ("arguments", "part"),
    [
        (["run", "drawr"], "available: canoe_paddles, canoe_paddles_by_weights, dance, drawer"),
        (["run", "drawer", "--set", "seed=x"], "--set seed=x: seed:"),
        (["run", "drawer", "--out", "file/a"], "file"),
        (["run", "drawer", "--out", "file"], "is a file"),
        (["dance"], "dance"),
    ],
)
def test_bad_input_is_one_line_on_stderr_and_returns_2(pipeline, capsys, tmp_path, arguments, part):
    (tmp_path / "file").touch()
    assert main(arguments) == 2
    printed = capsys.readouterr()
    assert printed.out == ""
    assert printed.err.startswith("error: ")
    assert printed.err.count("\n") == 1
    assert part in printed.err
    assert [path.name for path in tmp_path.iterdir()] == ["file"]


def test_the_module_runs_in_a_terminal_without_unicode():
    environment = {**os.environ, "PYTHONIOENCODING": "ascii"}
    command = [sys.executable, "-m", "simbench", "run", "drawer", "--set", "name=é"]
    finished = subprocess.run(command, capture_output=True, text=True, env=environment, check=False)
    assert finished.returncode == 2
    assert finished.stdout == ""
    assert finished.stderr.startswith("error: --set name=")
    assert finished.stderr.count("\n") == 1
