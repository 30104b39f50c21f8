"""`simbench sweep` of a short sweep of PUMA 560: but where it is killed, in this process."""

import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from scenes import SHORT_SWEEP

from simbench.cli.main import main
from simbench.errors import StudyError
from simbench.runs import execution as processes
from simbench.runs.execution import capture_result
from simbench.runs.scenario_sweep import MOST, parse_vary, plan_sweep, sweep_items
from simbench.runs.study import TABLE, TIMING, finished_rows

parquet = pytest.importorskip("pyarrow.parquet")

SHORT = SHORT_SWEEP + "checks: {tracking.max_rad: {max: 0.02}}\n"
KILLED = """
import os
import signal

from simbench.cli.main import main
from simbench.runs import execution as local

run_isolated = local.run_isolated


def run_and_be_killed(function, work, jobs):
    for done, answer in enumerate(run_isolated(function, work, jobs)):
        if done == 1:
            os.kill(os.getpid(), signal.SIGKILL)
        yield answer


local.run_isolated = run_and_be_killed
main()
"""
"""The command line, killed when one row is written and the second is not."""
LAWS = ["--vary", "control.law=pd,computed_torque", "--vary", "motion.task.speed_rad_s=0.5,1"]


@pytest.fixture
def short(tmp_path, monkeypatch):
    """A place with a short scenario; runs are made in this process, which has imported all."""

    def run_here(function, work, jobs):
        for index, arguments in enumerate(work):
            yield index, capture_result(function, arguments)

    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(processes, "run_isolated", run_here)
    (tmp_path / "short.yaml").write_text(SHORT, encoding="utf-8")
    return tmp_path


def rows(printed):
    """Split the lines of a table at its columns' gaps."""
    return [[cell.strip() for cell in line.split("  ") if cell.strip()] for line in printed.splitlines()]


def test_every_combination_is_a_row_of_metrics(short, capsys):
    assert main(["sweep", "short.yaml", *LAWS, "--out", "a"]) == 0
    printed = capsys.readouterr()
    table = parquet.read_table("a/table.parquet").to_pydict()
    assert table["control.law"] == ["pd", "pd", "computed_torque", "computed_torque"]
    assert table["motion.task.speed_rad_s"] == [0.5, 1.0, 0.5, 1.0]
    assert table["checks_hold"] == [True] * 4
    assert table["error"] == [None] * 4
    # By computed torque PUMA 560 follows better, and better slowly.
    pd_slow, pd_fast, torque_slow, torque_fast = table["tracking.max_rad"]
    assert torque_slow < torque_fast < pd_slow < pd_fast
    assert not any(name.startswith("timing.") for name in table)
    timing = parquet.read_table(f"a/{TIMING}").to_pydict()
    assert {"seconds", "timing.realtime_factor"} <= timing.keys()
    head, *lines, _, last = rows(printed.out)
    assert head == ["control.law", "motion.task.speed_rad_s", "tracking.max_rad, rad", "outcome"]
    assert lines == [
        [law, speed, f"{worst:.4g}", "holds"]
        for law, speed, worst in zip(
            table["control.law"], ["0.5", "1", "0.5", "1"], table["tracking.max_rad"], strict=True
        )
    ]
    assert last == ["table", "a/table.parquet", "(4 runs, all hold)"]
    assert all(line.startswith("runs: ") for line in printed.err.splitlines())
    assert {path.name for path in Path("a").iterdir()} == {
        "lock",
        "provenance.json",
        "rows",
        "scenario.yaml",
        "study.json",
        TABLE,
        TIMING,
    }


def test_a_run_that_fails_and_a_check_that_fails_are_told_and_the_others_go_on(short, capsys):
    vary = ["--vary", "motion.task.speed_rad_s=9,0.5", "--vary", "checks.tracking.max_rad.max=0.02,1e-6"]
    assert main(["sweep", "short.yaml", *vary, "--out", "a", "--show", "tracking.rms_rad"]) == 1
    printed = rows(capsys.readouterr().out)
    beyond = "failed: motion.task.speed_rad_s: 9 is beyond the speed limit of joint1, 1.431 rad/s"
    assert [line[-1] for line in printed[1:5]] == [beyond, beyond, "holds", "check failed: tracking.max_rad"]
    assert printed[0][2] == "tracking.rms_rad, rad"
    assert printed[-1][-1] == "(4 runs, 3 failed)"
    table = parquet.read_table("a/table.parquet").to_pydict()
    assert table["checks_hold"] == [None, None, True, False]
    assert table["failed_checks"] == [None, None, "", "tracking.max_rad"]
    assert [error is None for error in table["error"]] == [False, False, True, True]
    assert table["tracking.max_rad"][0] is None


def test_the_same_arguments_find_the_same_directory_and_run_nothing_again(short, capsys, monkeypatch):
    assert main(["sweep", "short.yaml", *LAWS]) == 0
    first = capsys.readouterr().out
    (folder,) = (short / "runs").iterdir()
    assert folder.name.startswith("short-sweep-")
    before = (folder / TABLE).read_bytes()
    monkeypatch.setattr(processes, "run_isolated", lambda function, work, jobs: (once for once in work))
    (folder / TABLE).unlink()
    # A list written otherwise is the same study.
    assert main(["sweep", "short.yaml", LAWS[0], "control.law=pd, computed_torque", *LAWS[2:]]) == 0
    assert capsys.readouterr().out == first
    assert (folder / TABLE).read_bytes() == before
    assert main(["sweep", "short.yaml", *LAWS, "--set", "seed=1", "--out", str(folder)]) == 2
    assert "holds another study, 4 runs over control.law, motion.task.speed_rad_s" in capsys.readouterr().err


def test_killed_in_the_middle_the_same_command_goes_on_to_the_same_table(short, capsys):
    command = ["sweep", "short.yaml", *LAWS[:2], "--jobs", "1", "--out"]
    killed = subprocess.run([sys.executable, "-c", KILLED, *command, "a"])
    assert killed.returncode == -signal.SIGKILL
    assert finished_rows(short / "a") == 1
    kept = {path: path.stat().st_mtime_ns for path in (short / "a" / "rows").glob("*.json")}
    assert main([*command, "a"]) == 0
    assert {path: path.stat().st_mtime_ns for path in kept} == kept
    assert main([*command, "unbroken"]) == 0
    # The rows of the one were made in processes of their own, those of the other in this one.
    assert (short / "a" / TABLE).read_bytes() == (short / "unbroken" / TABLE).read_bytes()


def test_ctrl_c_says_what_is_kept(short, capsys, monkeypatch):
    def interrupted(function, work, jobs):
        yield 0, capture_result(function, work[0])
        raise KeyboardInterrupt

    monkeypatch.setattr(processes, "run_isolated", interrupted)
    assert main(["sweep", "short.yaml", *LAWS, "--out", "a"]) == 130
    last = capsys.readouterr().err.splitlines()[-1]
    assert last == "interrupted: 1 of 4 runs are kept in a; the same command goes on"
    assert finished_rows(short / "a") == 1


def test_run_directories_are_kept_where_asked_for(short, monkeypatch):
    temporary = short / "temporary"
    temporary.mkdir()
    monkeypatch.setattr("tempfile.tempdir", str(temporary))
    left = short / "a" / "runs" / "0001-seed=3.incomplete"
    assert main(["sweep", "short.yaml", "--vary", "seed=3..4", "--out", "a", "--keep"]) == 0
    assert {path.name for path in (short / "a" / "runs").iterdir()} == {"0001-seed=3", "0002-seed=4"}
    metrics = json.loads((short / "a" / "runs" / "0002-seed=4" / "metrics.json").read_text())
    table = parquet.read_table("a/table.parquet").to_pydict()
    assert table["tracking.rms_rad"][1] == metrics["tracking.rms_rad"]
    # What a killed run left is in nobody's way.
    (short / "a" / "runs" / "0001-seed=3").rename(left)
    for path in (short / "a" / "rows").iterdir():
        path.unlink()
    assert main(["sweep", "short.yaml", "--vary", "seed=3..4", "--out", "a", "--keep"]) == 0
    assert {path.name for path in (short / "a" / "runs").iterdir()} == {"0001-seed=3", "0002-seed=4"}
    assert list(temporary.iterdir()) == []


@pytest.mark.parametrize(
    ("arguments", "part"),
    [
        (["short.yaml"], "--vary"),
        (["short.yaml", "--vary", "sed=1,2"], "--vary sed=1: sed: unknown key (did you mean 'seed'?)"),
        (["short.yaml", "--vary", "seed=1,2", "--set", "sed=1"], "--set sed=1: sed: unknown key"),
        (["short.yaml", "--vary", "seed=1,2", "--vary", "seed=3"], "--vary seed: given twice"),
        (["short.yaml", "--vary", "control.bandwidth_hz=10,10.0"], "bandwidth_hz=10.0 are the same run"),
        (
            ["short.yaml", "--vary", "seed=1..200", "--vary", "name=a,b", "--vary", "summary=1..100"],
            "at most",
        ),
        (
            ["short.yaml", "--vary", "seed=1,2", "--jobs", "2", "--dask", "tcp://127.0.0.1:1"],
            "--jobs: a cluster",
        ),
    ],
)
def test_bad_input_is_one_line_and_nothing_is_written(short, capsys, arguments, part):
    assert main(["sweep", *arguments]) == 2
    printed = capsys.readouterr()
    assert printed.out == ""
    assert printed.err.startswith("error: ")
    assert printed.err.count("\n") == 1
    assert part in printed.err
    assert [path.name for path in short.iterdir()] == ["short.yaml"]


def test_the_content_of_files_that_a_scenario_names_decides_too(short):
    """A recording and a robot of the user's own, with its URDF and a mesh."""
    (short / "take.trc").write_text("one")
    (short / "arm.stl").write_text("mesh")
    (short / "arm.urdf").write_text('<robot name="arm"><mesh filename="arm.stl"/></robot>')
    (short / "arm.yaml").write_text("{name: arm, urdf: arm.urdf, base: fixed, groups: {}, gains: auto}")
    overrides = ["motion.source=take.trc", "motion.task={}", "robot.name=arm.yaml"]

    def identity():
        plan = plan_sweep("short.yaml", ["seed=1"], overrides)
        assert Path(plan[3][0].motion.source).is_absolute()
        (item,) = sweep_items(plan)
        return item.identity

    before = identity()
    assert {os.path.basename(path) for path in before[1]} == {"take.trc", "arm.yaml", "arm.urdf", "arm.stl"}
    for name in ("take.trc", "arm.stl"):
        (short / name).write_text("other")
        after = identity()
        assert after != before
        before = after


@pytest.mark.parametrize(
    ("listed", "texts", "values"),
    [
        ("1,2.5, 1e-3", ("1", "2.5", "1e-3"), (1, 2.5, 0.001)),
        ("true,null", ("true", "null"), (True, None)),
        ("[0, 0.1],[0.2, 0]", ("[0, 0.1]", "[0.2, 0]"), ([0, 0.1], [0.2, 0])),
        ("'a,b',\"1..3\"", ("'a,b'", '"1..3"'), ("a,b", "1..3")),
        ("-2..1,7", ("-2", "-1", "0", "1", "7"), (-2, -1, 0, 1, 7)),
        ("actor:valves:2..3", ("actor:valves:2", "actor:valves:3"), ("actor:valves:2", "actor:valves:3")),
        ("../take-1..2", ("../take-1", "../take-2"), ("../take-1", "../take-2")),
        ("0.1..5", ("0.1..5",), ("0.1..5",)),
    ],
)
def test_values_are_read_as_yaml_and_kept_as_written(listed, texts, values):
    key, written, read = parse_vary(f"a.0.b={listed}")
    assert (key, written, read) == ("a.0.b", texts, values)
    assert list(map(type, read)) == list(map(type, values))


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("seed", "must be key=a,b,c or key=a..b"),
        ("a..b=1", "must be key=a,b,c or key=a..b"),
        ("seed=", "gives no value"),
        ("seed=1],[2", "is not a list of YAML values"),
        ("seed=5..1", "5..1 must go up"),
        (f"seed=1..{MOST + 1}", f"by at most {MOST} values"),
    ],
)
def test_what_is_no_list_is_refused(text, said):
    with pytest.raises(StudyError) as refused:
        parse_vary(text)
    assert str(refused.value).startswith(f"--vary {text}: ")
    assert said in str(refused.value)
