import io
import os
import re
import signal
import subprocess
import sys
from datetime import datetime
from types import SimpleNamespace

import pytest
from rich.console import Console

from simbench.cli.console import metrics_table, progress_bars
from simbench.cli.main import main
from simbench.errors import MotionError
from simbench.options import Bound
from simbench.runs.baseline import check_metrics
from simbench.runs.run_directory import MARKER, incomplete_path, run_directory
from simbench.runs.video import View


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


@pytest.mark.parametrize(
    ("options", "video", "fast"),
    [
        ([], False, False),
        (["--video=full"], True, False),
        (["--video=preview"], True, True),
        (["--fast"], True, True),
        (["--video", "--fast"], True, True),
    ],
)
def test_the_quality_of_a_video(pipeline, options, video, fast):
    assert main(["run", *options, "drawer", "--out", "a"]) == 0
    assert pipeline.calls[0][2:4] == (video, fast)


def test_an_unknown_quality_of_a_video_is_refused(pipeline, capsys):
    assert main(["run", "drawer", "--video=tiny"]) == 2
    assert capsys.readouterr().err == "error: --video=tiny: allowed: full, preview\n"
    assert not pipeline.calls


def test_a_failed_check_returns_1_and_is_named_with_value_and_bound(pipeline, capsys):
    pipeline.metrics = {"fell": True, "tracking.rms_rad": 0.01}
    assert main(["run", "drawer", "--out", "a"]) == 1
    printed = capsys.readouterr()
    assert printed.err == "check failed: fell is true, must be false\n"
    assert "✗ false" in printed.out


def test_doubts_are_lines_of_the_standard_error_before_the_run_is_simulated(pipeline, capsys):
    pipeline.doubts = ("left forearm is 0.400 m long", "feet sink")
    pipeline.raises = MotionError("while simulating")
    assert main(["run", "drawer", "--out", "a"]) == 2
    printed = capsys.readouterr()
    assert printed.out == ""
    assert printed.err == "doubt: left forearm is 0.400 m long\ndoubt: feet sink\nerror: while simulating\n"


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


def test_the_default_run_directory_is_named_after_scenario_and_time(pipeline, tmp_path):
    assert main(["run", "dance"]) == 0
    (made,) = (tmp_path / "runs").iterdir()
    assert made.name.startswith("dance-20")


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


def test_a_missing_module_of_simbench_is_a_bug(pipeline):
    pipeline.raises = ModuleNotFoundError("No module named 'simbench.x'", name="simbench.x")
    with pytest.raises(ModuleNotFoundError):
        main(["run", "drawer", "--out", "a"])


def test_an_interrupted_run_says_where_its_part_is_kept(pipeline, capsys, tmp_path):
    pipeline.raises = KeyboardInterrupt()
    assert main(["run", "drawer", "--out", "a"]) == 130
    kept = incomplete_path(tmp_path / "a")
    assert capsys.readouterr().err == f"interrupted: partial run kept in {kept}\n"
    assert {path.name for path in kept.iterdir()} == {"scenario.yaml", "log.nc", MARKER}


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
    assert ended.stderr == "error: standard output: No space left on device\n"
    assert ended.returncode == 2


def test_ctrl_c_outside_a_run_is_one_word(monkeypatch, capsys):
    def stop(*_, **__):
        raise KeyboardInterrupt

    monkeypatch.setattr("simbench.runs.talk_video.render_talk_video", stop)
    assert main(["video", "a"]) == 130
    assert capsys.readouterr().err.strip() == "interrupted"


def test_a_bug_is_not_disguised_as_bad_input(pipeline):
    pipeline.raises = ZeroDivisionError("bug")
    with pytest.raises(ZeroDivisionError):
        main(["run", "drawer", "--out", "a"])


@pytest.mark.parametrize(
    ("arguments", "part"),
    [
        (["run"], "Missing argument"),
        (["run", "drawr"], "available: canoe_paddles, canoe_paddles_by_weights, dance, drawer"),
        (["run", "drawer", "--set", "seed=x"], "--set seed=x: seed:"),
        (["run", "drawer", "--set", "sed=1"], "did you mean 'seed'"),
        (["run", "drawer", "--nope"], "--nope"),
        (["run", "drawer", "--out"], "--out"),
        (["run", "drawer", "--out", "file/a"], "file"),
        (["run", "drawer", "--out", "file"], "file: must be a directory"),
        (["dance"], "dance"),
        (["list", "robot"], "'robots'"),
        (["list", "robots", "more"], "more"),
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


@pytest.mark.parametrize(
    "raised", [MotionError("clip.txt: NaN in\nframe 3"), PermissionError(13, "Permission denied", "/root/x")]
)
def test_errors_of_input_and_of_files_are_one_line(pipeline, capsys, raised):
    pipeline.raises = raised
    assert main(["run", "drawer", "--out", "a"]) == 2
    assert capsys.readouterr().err in (
        "error: clip.txt: NaN in frame 3\n",
        "error: /root/x: Permission denied\n",
    )


def test_list_names_what_there_is(capsys):
    assert main(["list"]) == 0
    lines = capsys.readouterr().out.splitlines()
    for expected in ("robots:", "  romeo", "scenarios:"):
        assert expected in lines
    names = [line.split()[0] for line in lines]
    for expected in ("actor:drawer", "deepmimic:humanoid3d_dance_b", "joints:sweep"):
        assert expected in names
    assert main(["list", "robots"]) == 0
    assert "romeo" in capsys.readouterr().out.splitlines()


def test_the_module_runs_in_a_terminal_without_unicode():
    environment = {**os.environ, "PYTHONIOENCODING": "ascii"}
    command = [sys.executable, "-m", "simbench", "run", "drawer", "--set", "name=é"]
    finished = subprocess.run(command, capture_output=True, text=True, env=environment, check=False)
    assert finished.returncode == 2
    assert finished.stdout == ""
    assert finished.stderr.startswith("error: --set name=")
    assert finished.stderr.count("\n") == 1


def test_metrics_are_grouped_with_units_and_a_missing_checked_metric_is_shown():
    metrics = {"zmp.inside_fraction": 1.0, "fell": False, "grip.left_nm": 1.5, "tracking.max_rad_s": 2.0}
    table = metrics_table(metrics, check_metrics({"no.such_m": Bound(max=1)}, metrics))
    console = Console(file=io.StringIO(), width=100)
    console.print(table)
    lines = console.file.getvalue().splitlines()
    rows = [line.split() for line in lines if line.strip()]
    reason = "(not measured: only fixtures with joints have it)"
    assert rows == [
        ["metric", "value", "unit", "check"],
        ["fell", "false"],
        ["grip.left_nm", "1.5", "N·m"],
        ["no.such_m", "none", "m", "✗", "≤", "1", *reason.split()],
        ["tracking.max_rad_s", "2", "rad/s"],
        ["zmp.inside_fraction", "1"],
    ]


def test_progress_is_a_bar_on_a_terminal():
    console = Console(file=io.StringIO(), force_terminal=True, width=100)
    with progress_bars(console) as on_progress:
        on_progress("simulate", 1, 2)
        on_progress("simulate", 2, 2)
    printed = console.file.getvalue()
    assert "simulate" in printed
    assert "100%" in printed


def test_progress_is_a_line_for_each_stage_in_a_pipe(monkeypatch):
    monkeypatch.setattr("simbench.system.progress._SHORT", 0.0)
    console = Console(file=io.StringIO(), force_terminal=False, width=100)
    with progress_bars(console) as on_progress:
        on_progress("read", 0, 1)
        on_progress("read", 1, 1)
        for done in range(1001):
            on_progress("simulate", done, 1000)
    lines = [line for line in console.file.getvalue().splitlines() if " left" not in line]
    assert [re.sub(r"[0-9.]+ s$", "T", line) for line in lines] == ["read: done in T", "simulate: done in T"]


def test_a_video_is_of_the_whole_run_at_its_own_speed_unless_asked(monkeypatch, tmp_path):
    views = []

    def render_video(folder, out, view, *rest, **options):
        views.append(view)
        raise MotionError("enough")

    monkeypatch.setattr("simbench.runs.talk_video.render_talk_video", render_video)
    assert main(["video", str(tmp_path)]) == 2
    assert views == [View(overrides=(), speed=1.0, start=0.0, end=None, ghost=None, fast=False)]
    assert main(["video", str(tmp_path), "--fast"]) == 2
    assert views[1].fast


@pytest.mark.parametrize(
    ("file", "line"), [(["/full/x"], "/full/x: No space left on device"), ([], "No space left on device")]
)
def test_an_error_of_the_system_says_the_file_and_the_reason(monkeypatch, capsys, file, line):
    def app(*_, **__):
        raise OSError(28, "No space left on device", *file)

    monkeypatch.setattr(sys.modules["simbench.cli.main"], "app", app)
    assert main(["list"]) == 2
    assert capsys.readouterr().err == f"error: {line}\n"
