"""`simbench check` of a short sweep of PUMA 560: but for one, in this process, which has imported all."""

import io
import json
import tempfile
from contextlib import redirect_stdout
from pathlib import Path

import numpy as np
import pytest

from simbench.cli.main import main
from simbench.errors import RunError, ScenarioError
from simbench.runs import dossier
from simbench.runs import regression as checking
from simbench.runs.check_history import read_history
from simbench.runs.execution import JobResult
from simbench.runs.scenario.loading import load_scenario

UNTRACED = "without a trace, metrics only: short; --update --only traces writes one"
SHORT = """
name: {name}
robot: {{name: puma560, posture: ready}}
motion: {{source: "joints:sweep", task: {{amplitude_rad: 0.1, speed_rad_s: 0.5}}}}
control: {{law: computed_torque}}
simulation: {{settle_s: 0.1, hold_s: 0.1}}
checks: {{tracking.max_rad: {{max: 0.02}}}}
"""


def run_here(function, work, jobs, variables=()):
    for index, arguments in enumerate(work):
        try:
            yield index, JobResult(function(*arguments))
        except ScenarioError as error:
            yield index, JobResult(error=str(error))


@pytest.fixture
def short(tmp_path, monkeypatch):
    """A place with a short scenario, whose baseline takes two runs."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(checking, "run_isolated", run_here)
    monkeypatch.setattr(checking, "_DISPLACEMENTS", (1e-12,))
    (tmp_path / "short.yaml").write_text(SHORT.format(name="short"), encoding="utf-8")
    return tmp_path


@pytest.fixture(scope="module")
def measured(tmp_path_factory):
    """What `--update` writes, and says."""
    folder = tmp_path_factory.mktemp("measured")
    (folder / "short.yaml").write_text(SHORT.format(name="short"), encoding="utf-8")
    with pytest.MonkeyPatch.context() as patch, redirect_stdout(io.StringIO()) as said:
        patch.setattr(checking, "run_isolated", run_here)
        patch.setattr(checking, "_DISPLACEMENTS", (1e-12,))
        # `main` sets how a stream treats what it cannot show; this one shows all.
        patch.setattr(said, "reconfigure", lambda **_: None, raising=False)
        assert main(["check", str(folder / "short.yaml"), "--update"]) == 0
    baselines = folder / "baselines"
    return (
        (baselines / "short.json").read_bytes(),
        said.getvalue(),
        (baselines / "short.trace.nc").read_bytes(),
    )


@pytest.fixture
def baseline(short, measured):
    """The baseline of the short scenario."""
    path = short / "baselines" / "short.json"
    path.parent.mkdir()
    path.write_bytes(measured[0])
    return path


@pytest.fixture
def trace(baseline, measured):
    """The trace beside the baseline."""
    path = baseline.with_name("short.trace.nc")
    path.write_bytes(measured[2])
    return path


def rows(printed):
    """Split the lines of a table at its columns' gaps."""
    return [[cell.strip() for cell in line.split("  ") if cell.strip()] for line in printed.splitlines()]


def test_update_writes_what_a_check_then_holds(baseline, measured, capsys):
    written = json.loads(measured[0])
    assert f"{len(written)} metrics" in measured[1]
    assert main(["check", "short.yaml", "--out", "kept"]) == 0
    assert rows(capsys.readouterr().out) == [
        ["scenario", "metric", "baseline", "now", "tolerance", "verdict"],
        ["short", f"{len(written)} metrics", "holds"],
        [UNTRACED],
    ]
    metrics = json.loads(Path("kept/short/metrics.json").read_text(encoding="utf-8"))
    assert metrics["tracking.rms_rad"] == pytest.approx(written["tracking.rms_rad"]["value"], rel=1e-5)
    errors = {"energy.residual_j", "energy.rotor_j"}
    assert {name for name in metrics if not name.startswith("timing.")} - errors == set(written)
    assert main(["check", "short.yaml", "--out", "kept"]) == 2
    assert "kept: exists and is not empty" in capsys.readouterr().err


def test_drift_names_scenario_and_metric_and_returns_1(baseline, capsys):
    assert main(["check", "short.yaml", "--set", "control.bandwidth_hz=5", "--no-dossier"]) == 1
    (row,) = (row for row in rows(capsys.readouterr().out) if row[1:2] == ["tracking.rms_rad"])
    assert (row[0], row[-1]) == ("short", "worse")
    was = json.loads(baseline.read_text(encoding="utf-8"))["tracking.rms_rad"]["value"]
    assert float(row[2]) == pytest.approx(was, rel=1e-4)
    assert row[4] == f"+ {0.01 * was:.2g}"
    # Half the bandwidth is a quarter of the stiffness.
    assert float(row[3]) > 2.0 * was


def test_signals_that_hold_are_counted_and_only_the_trace_is_rewritten(trace, capsys):
    before, baseline = trace.read_bytes(), trace.with_name("short.json")
    baseline.write_text(baseline.read_text(encoding="utf-8") + "\n", encoding="utf-8")
    kept = baseline.read_bytes()
    trace.unlink()
    assert main(["check", "short.yaml", "--update", "--only", "traces"]) == 0
    (row,) = rows(capsys.readouterr().out)
    assert row[:2] == ["trace", "baselines/short.trace.nc"]
    # The same scenario, seed and machine give the same file.
    assert trace.read_bytes() == before
    assert baseline.read_bytes() == kept
    assert main(["check", "short.yaml"]) == 0
    _, row = rows(capsys.readouterr().out)
    assert row[1].endswith(" metrics, 24 channels")
    assert row[-1] == "holds"


def test_a_signal_that_diverges_fails_although_all_metrics_are_better(trace, capsys, monkeypatch):
    monkeypatch.setattr(dossier, "RATE", 5)
    arguments = ["check", "short.yaml", "--set", "control.bandwidth_hz=20"]
    assert main([*arguments, "--no-traces"]) == 0
    assert "better; --update keeps it" in capsys.readouterr().out
    assert main([*arguments, "--artifacts", "kept"]) == 1
    printed = capsys.readouterr().out.splitlines()
    assert any("diverged: " in line for line in printed)
    (line,) = (line for line in printed if "first divergence: " in line)
    found = json.loads(Path("kept/short/divergence.json").read_text(encoding="utf-8"))["diverged"][0]
    assert found["channel"] in line
    assert f"at {found['time']:.3f} s, {found['ratio']:.3g} times its envelope" in line
    assert found["time"] == min(
        each["time"] for each in json.loads(Path("kept/short/divergence.json").read_bytes())["diverged"]
    )
    assert abs(found["now"] - found["was"]) == pytest.approx(found["ratio"] * found["tolerance"])
    assert printed[-1] == "short: dossier: kept/short"
    names = {path.name for path in Path("kept/short").iterdir()}
    expected = {"report.html", "metrics_diff.md", "metrics_diff.json", "reproduce.txt", "run", "plots"}
    assert expected <= names
    # Without a renderer there is no clip, and a note says so.
    assert ("clip.mp4" in names) != any("no clip: " in each for each in printed)
    command = Path("kept/short/reproduce.txt").read_text(encoding="utf-8")
    assert command == "simbench check short.yaml --set control.bandwidth_hz=20\n"
    assert line.partition(": ")[2] in Path("kept/short/report.html").read_text(encoding="utf-8")


def test_a_dossier_replaces_no_other_files_and_a_missing_clip_hides_nothing(trace, capsys, monkeypatch):
    def undrawable(*arguments):
        raise RunError("there is no renderer here")

    monkeypatch.setattr(dossier, "write_clip", undrawable)
    arguments = ["check", "short.yaml", "--set", "control.bandwidth_hz=20"]
    assert main(arguments) == 1
    printed = capsys.readouterr().out
    assert "first divergence: " in printed
    assert "short: no clip: there is no renderer here\n" in printed
    precious = Path("failures/short/notes.txt")
    precious.write_text("mine", encoding="utf-8")
    # Before anything is run.
    assert main(arguments) == 2
    assert "failures/short: holds more than a dossier; move or delete it first" in capsys.readouterr().err
    assert precious.read_text(encoding="utf-8") == "mine"
    precious.unlink()
    assert main(arguments) == 1
    assert "short: dossier: failures/short\n" in capsys.readouterr().out


def test_signals_that_diverge_as_by_rounding_are_a_warning_and_fail_when_strict(trace, capsys, monkeypatch):
    read = checking.read_samples

    def drifting(log):
        """Joint positions that go away from 1e-12 on, tenfold every tenth of a second."""
        run = read(log)
        size = np.minimum(1e-12 * 10.0 ** (10.0 * run.time), 1.0)
        place = [channel.name for channel in run.channels].index("joint_position.joint2")
        run.values[:, place] += size
        return run._replace(sums=run.sums + np.stack([0.0 * size, size], axis=1))

    monkeypatch.setattr(checking, "read_samples", drifting)
    assert main(["check", "short.yaml"]) == 0
    printed = capsys.readouterr().out
    assert "diverged: 1 of 24 channels, as by rounding: a warning; --strict fails" in printed
    assert "looks like rounding: measured joint positions differ by 1.0e-12 from 0.000 s on" in printed
    assert main(["check", "short.yaml", "--strict", "--no-dossier"]) == 1
    assert "as by rounding" not in capsys.readouterr().out


def test_better_is_told_and_is_no_failure(baseline, capsys):
    assert main(["check", "short.yaml", "--set", "control.bandwidth_hz=11"]) == 0
    (row,) = (row for row in rows(capsys.readouterr().out) if row[1:2] == ["tracking.rms_rad"])
    assert row[-1] == "better; --update keeps it"


def test_metrics_that_come_and_go_are_told(baseline, capsys):
    entries = json.loads(baseline.read_text(encoding="utf-8"))
    del entries["torque.saturated_fraction"]
    baseline.write_text(json.dumps({**entries, "gone.rms_m": {"value": 1.0}}), encoding="utf-8")
    assert main(["check", "short.yaml", "--no-dossier"]) == 1
    table = rows(capsys.readouterr().out)
    assert table[1] == ["short", "gone.rms_m", "1", "± 0.01", "missing in the run"]
    assert table[2] == ["short", "torque.saturated_fraction", "0", "not in the baseline; --update adds it"]
    assert main(["check", "short.yaml", "--update"]) == 0
    table = rows(capsys.readouterr().out)
    assert table[1] == ["short", "gone.rms_m", "1", "0.01", "gone"]
    assert table[2] == ["short", "torque.saturated_fraction", "0", "0.001"]
    assert table[4] == ["baseline", "baselines/short.json"]
    assert table[5][:2] == ["trace", "baselines/short.trace.nc"]
    assert len(table) == 6
    assert json.loads(baseline.read_text(encoding="utf-8")) == {
        **entries,
        "torque.saturated_fraction": {"value": 0.0},
    }


def test_several_new_metrics_take_one_line(baseline, capsys):
    entries = json.loads(baseline.read_text(encoding="utf-8"))
    del entries["torque.saturated_fraction"], entries["tracking.rms_rad"]
    baseline.write_text(json.dumps(entries), encoding="utf-8")
    assert main(["check", "short.yaml"]) == 0
    said = rows(capsys.readouterr().out)
    assert said[1][:2] == ["short", "2 metrics"]
    names = "torque.saturated_fraction, tracking.rms_rad"
    assert said[1][2] == f"not in the baseline: {names}; --update adds them"


def test_update_keeps_the_baseline_of_a_scenario_that_fails_its_own_checks(baseline, capsys):
    Path("short.yaml").write_text(SHORT.format(name="short").replace("0.02", "0.0"), encoding="utf-8")
    before = baseline.read_bytes()
    assert main(["check", "short.yaml", "--no-dossier"]) == 1
    assert "check failed: must be ≤ 0" in capsys.readouterr().out
    assert main(["check", "short.yaml", "--update"]) == 1
    assert "not updated:" in capsys.readouterr().out
    assert baseline.read_bytes() == before


def test_a_scenario_that_raises_fails_and_the_others_go_on(baseline, capsys):
    Path("pushed.yaml").write_text(SHORT.format(name="pushed") + "push: {first_ns: 10}\n", encoding="utf-8")
    (baseline.parent / "pushed.json").write_text("{}", encoding="utf-8")
    assert main(["check", "pushed.yaml", "short.yaml"]) == 1
    _, pushed, held, _ = rows(capsys.readouterr().out)
    assert pushed[0] == "pushed"
    assert pushed[1].startswith("failed: push: puma560 has a fixed base")
    assert (held[0], held[-1]) == ("short", "holds")


def test_what_is_not_named_and_has_no_baseline_is_not_checked(baseline, capsys, monkeypatch):
    Path("other.yaml").write_text(SHORT.format(name="other"), encoding="utf-8")
    monkeypatch.setattr(checking, "list_scenarios", lambda: ["short.yaml", "other.yaml"])
    assert main(["check"]) == 0
    _, short, other, _ = rows(capsys.readouterr().out)
    assert (short[0], short[-1]) == ("short", "holds")
    assert other == ["other", "not checked: no baseline; --update writes one"]
    baseline.unlink()
    assert main(["check"]) == 2
    assert capsys.readouterr().err == "error: no baselines in baselines; --update writes them\n"


def test_a_scenario_whose_robot_is_in_a_package_that_is_missing_is_not_checked(baseline, capsys, monkeypatch):
    Path("other.yaml").write_text(SHORT.format(name="other"), encoding="utf-8")
    monkeypatch.setattr(checking, "list_scenarios", lambda: ["short.yaml", "other.yaml"])
    missing = iter([None, "example-robot-data"])
    monkeypatch.setattr(checking, "needed_package", lambda robot: next(missing))
    assert main(["check"]) == 0
    _, short, other, _ = rows(capsys.readouterr().out)
    assert (short[0], short[-1]) == ("short", "holds")
    assert other[0] == "other"
    assert other[1].startswith("not checked: needs example-robot-data: pip install example-robot-data")


@pytest.mark.parametrize("update", [[], ["--update"]])
def test_a_named_scenario_says_which_package_its_robot_needs(baseline, capsys, monkeypatch, update):
    before = baseline.read_bytes()
    monkeypatch.setattr(checking, "needed_package", lambda robot: "example-robot-data")
    assert main(["check", "short.yaml", *update]) == 2
    printed = capsys.readouterr()
    assert printed.out == ""
    assert printed.err.startswith("error: short: needs example-robot-data: pip install example-robot-data")
    assert baseline.read_bytes() == before


def test_a_changed_scenario_has_a_baseline_by_a_name_of_its_own(baseline, capsys):
    override = ["--set", "control.bandwidth_hz=5", "--set", "name=slack"]
    assert main(["check", "short.yaml", *override, "--update"]) == 0
    assert main(["check", "short.yaml", *override]) == 0
    assert {path.name for path in baseline.parent.iterdir()} == {"short.json", "slack.json", "slack.trace.nc"}


@pytest.mark.parametrize(
    ("arguments", "part"),
    [
        (["short.yaml"], "short: no baseline baselines/short.json; --update writes one"),
        (["short.yaml", "--update", "--set", "seed=1"], "--set name="),
        (["short.yaml", "short.yaml"], "'short' and so the baseline of short.yaml"),
        (["shrt.yaml"], "shrt.yaml: cannot be read: No such file"),
        (["short.yaml", "--set", "sed=1"], "did you mean 'seed'"),
        (["short.yaml", "--jobs", "0"], "--jobs"),
        (["short.yaml", "--only", "traces"], "goes with --update"),
        (["short.yaml", "--update", "--only", "traces", "--no-traces"], "nothing is left"),
    ],
)
def test_bad_input_is_one_line_and_nothing_is_written(short, capsys, arguments, part):
    assert main(["check", *arguments]) == 2
    printed = capsys.readouterr()
    assert printed.out == ""
    assert printed.err.startswith("error: ")
    assert printed.err.count("\n") == 1
    assert part in printed.err
    assert [path.name for path in short.iterdir()] == ["short.yaml"]


def test_ctrl_c_leaves_baselines_alone_and_nothing_behind(baseline, capsys, monkeypatch, tmp_path):
    def interrupted(function, work, jobs, variables):
        yield 0, JobResult(function(*work[0]))
        raise KeyboardInterrupt

    before = baseline.read_bytes()
    temporary = tmp_path / "temporary"
    temporary.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(temporary))
    monkeypatch.setattr(checking, "run_isolated", interrupted)
    assert main(["check", "short.yaml", "--update", "--set", "name=short"]) == 130
    assert capsys.readouterr().err == "interrupted\n"
    assert baseline.read_bytes() == before
    assert list(temporary.iterdir()) == []


def test_the_perturbed_scenario_is_elsewhere_by_less_than_anyone_could_measure():
    scenario = load_scenario("drawer")
    places = set()
    for number in (1, 2, 3):
        perturbed = checking.perturb_scenario(scenario, number)
        assert perturbed.variation.rounding_seed == number
        moved = perturbed.robot
        assert perturbed == checking.perturb_scenario(scenario, number)
        x, y = (a - b for a, b in zip(moved.position_m, scenario.robot.position_m, strict=True))
        assert [abs(x), abs(y), abs(moved.heading_rad)] == pytest.approx([1e-12] * 3, rel=1e-3)
        places.add((*moved.position_m, moved.heading_rad))
    assert len(places) > 1


def test_runs_in_processes_of_their_own_say_the_same(baseline, capsys, monkeypatch):
    monkeypatch.undo()
    assert main(["check", str(baseline.parent.parent / "short.yaml"), "--jobs", "2"]) == 0
    assert "holds" in capsys.readouterr().out


def test_a_check_adds_to_a_history_and_to_a_summary(baseline, short, capsys):
    history, summary = short / "history.jsonl", short / "summary.md"
    options = ["--history", str(history), "--summary", str(summary)]
    assert main(["check", "short.yaml", *options, "--out", "kept"]) == 0
    assert main(["check", "short.yaml", *options, "--set", "control.law=pd"]) == 1
    capsys.readouterr()
    first, second = read_history(history)
    assert (first.scenario, first.outcome, first.run) == ("short", "holds", "kept/short")
    assert first.metrics == json.loads((short / "kept" / "short" / "metrics.json").read_text("utf-8"))
    assert first.versions["pybullet-arm64" if "pybullet-arm64" in first.versions else "pybullet"]
    assert {"simbench", "python", "numpy"} <= set(first.versions)
    assert second.outcome == "failed"
    assert second.metrics["tracking.rms_rad"] > first.metrics["tracking.rms_rad"]
    held, failed = summary.read_text(encoding="utf-8").split("### ")[1:]
    assert "✅" in held
    assert "`tracking.rms_rad`" in failed
    assert "failures/short" in failed
    assert "failures" not in held


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (["--history", "h.txt"], "h.txt: the file's name must end in .jsonl"),
        (["--history", "no/h.jsonl"], "no/h.jsonl: must be a file in a directory that exists"),
        (["--summary", "no/s.md"], "no/s.md: must be a file in a directory that exists"),
    ],
)
def test_files_to_which_nothing_can_be_added_are_refused_before_a_run(baseline, capsys, options, said):
    assert main(["check", "short.yaml", *options]) == 2
    assert capsys.readouterr().err == f"error: {said}\n"
