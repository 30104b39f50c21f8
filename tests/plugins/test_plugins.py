"""Plug-ins: found, loaded when a scenario names them, validated, told, recorded."""

import json
from pathlib import Path

import numpy as np
import pytest
import yaml

from simbench import PluginError, ScenarioError, load_run, load_scenario, run_scenario
from simbench.cli.main import main
from simbench.errors import SimbenchError
from simbench.plugins.entry_points import GROUPS, _given, find_entry_points, give_reference, load_plugin
from simbench.retargeting.imitation.limited_posture import plugged_posture
from simbench.robot.robot import load_robot
from simbench.runs.log import open_run

LAW = """
import numpy as np
from simbench.options import ScenarioSection

class Stiff(ScenarioSection):
    stiffness_nm_rad: float = 2000.0

    def control_law(self, robot, timestep):
        k = self.stiffness_nm_rad
        def law(now):
            return k * (now.reference_position - now.position) - 60.0 * now.velocity + now.feedforward
        law.implicit = np.full(len(robot.joint_names), 60.0 * timestep + k * timestep**2)
        return law

def plain(robot, timestep):
    return Stiff().control_law(robot, timestep)

def wrong_arguments(robot):
    return None

def no_law(robot, timestep):
    return 3

def short(robot, timestep):
    return lambda now: now.position[:2]

def nan(robot, timestep):
    return lambda now: now.position * float("nan")

def fails(robot, timestep):
    return lambda now: 1 / 0

class NoMethod(ScenarioSection):
    stiffness: float = 1.0
"""


def write(folder: Path, **sections) -> Path:
    """A scenario of PUMA's sweep, short, beside laws.py."""
    (folder / "laws.py").write_text(LAW, encoding="utf-8")
    scenario = {
        "name": "sweep",
        "robot": {"name": "puma560", "posture": "ready"},
        "motion": {"source": "joints:sweep", "task": {"amplitude_rad": 0.05}},
        "simulation": {"settle_s": 0.05, "hold_s": 0.05},
        **sections,
    }
    (folder / "s.yaml").write_text(yaml.safe_dump(scenario), encoding="utf-8")
    return folder / "s.yaml"


def test_a_law_beside_the_scenario_runs_and_is_recorded(tmp_path, capsys, monkeypatch):
    path = write(tmp_path, control={"law": "./laws.py:Stiff", "options": {"stiffness_nm_rad": 3000.0}})
    scenario = load_scenario(path)
    result = run_scenario(scenario, tmp_path / "run")
    assert result.metrics["tracking.rms_rad"] < 0.01
    written = yaml.safe_load((tmp_path / "run" / "scenario.yaml").read_text(encoding="utf-8"))
    assert written["control"]["law"] == f"{tmp_path / 'laws.py'}:Stiff"
    assert written["control"]["options"] == {"stiffness_nm_rad": 3000.0}
    [origin] = json.loads((tmp_path / "run" / "provenance.json").read_text(encoding="utf-8"))["plugins"]
    assert (origin["group"], origin["file"]) == ("control_laws", str(tmp_path / "laws.py"))
    assert len(origin["sha256"]) == 64
    # Again from what was written: the same, bit for bit.
    with pytest.raises(PluginError, match=r"laws\.py:Stiff: code that .*run names, .* `simbench --plugins"):
        load_scenario(tmp_path / "run" / "scenario.yaml")
    monkeypatch.setenv("SIMBENCH_PLUGINS", "1")
    again = run_scenario(load_scenario(tmp_path / "run" / "scenario.yaml"), tmp_path / "again")
    logs = [open_run(each.directory)["joint_position"].values for each in (result, again)]
    np.testing.assert_array_equal(*logs)
    assert capsys.readouterr().err.count("plug-in: a control law") == 1


def test_objects_of_a_program_are_recorded_and_can_be_run_again(tmp_path):
    def own(robot, timestep):
        def law(now):
            return 2000.0 * (now.reference_position - now.position) - 60.0 * now.velocity + now.feedforward

        law.implicit = np.full(len(robot.joint_names), 60.0 * timestep + 2000.0 * timestep**2)
        return law

    scenario = load_scenario(write(tmp_path, control={"law": "pd"}))
    result = run_scenario(scenario, tmp_path / "given", control_law=own)
    written = yaml.safe_load((tmp_path / "given" / "scenario.yaml").read_text(encoding="utf-8"))
    assert written["control"]["law"].startswith("python:")
    # What is over needs no code.
    _given.clear()
    assert load_run(tmp_path / "given").metrics == result.metrics
    assert main(["report", str(tmp_path / "given")]) == 0
    named = run_scenario(
        load_scenario(write(tmp_path, control={"law": "./laws.py:plain"})), tmp_path / "named"
    )
    logs = [open_run(each.directory)["joint_position"].values for each in (result, named)]
    np.testing.assert_array_equal(*logs)


def test_what_only_a_program_had_is_refused_elsewhere(tmp_path):
    with pytest.raises(ScenarioError):
        load_scenario(write(tmp_path, control={"law": "python:gone.law"}))


def test_a_reference_of_a_function_of_a_file_names_the_file():
    assert give_reference(write) == f"{Path(__file__).resolve()}:write"


@pytest.mark.parametrize(
    ("law", "message"),
    [
        ("nothing", r"s\.yaml:\d+: control\.law: must be 'pd', .* or \./FILE\.py:NAME, got 'nothing'"),
        ("./gone.py:law", r"control\.law: \./gone\.py: cannot be read: No such file"),
        ("no_such_module:law", r"control\.law: no_such_module: no such module"),
        ("./laws.py:nothing", r"laws\.py: has no nothing; it has: NoMethod, Stiff, fails"),
        ("./laws.py:NoMethod", r"NoMethod has no method control_law\(self, robot, timestep\)"),
        ("./laws.py:wrong_arguments", r"takes other arguments; allowed: \(robot, timestep\)"),
        ("./laws.py:np", r"is no control law; allowed: a function of \(robot, timestep\), or a class"),
    ],
)
def test_what_is_no_law_is_told_before_anything_runs(tmp_path, law, message):
    with pytest.raises(ScenarioError, match=message):
        load_scenario(write(tmp_path, control={"law": law}))


@pytest.mark.parametrize(
    ("law", "message"),
    [
        ("no_law", "makes a value of type int; allowed: a function of ControlInputs"),
        ("short", r"torques of shape \(2,\); allowed: \(6,\)"),
        ("nan", "torque of .* is no finite number at 0 s"),
        ("fails", r"ZeroDivisionError: division by zero \(laws\.py, line \d+\)"),
    ],
)
def test_a_law_that_fails_ends_the_run_in_one_line(tmp_path, law, message):
    scenario = load_scenario(write(tmp_path, control={"law": f"./laws.py:{law}"}))
    with pytest.raises(PluginError, match=message):
        run_scenario(scenario, tmp_path / "run")
    assert not (tmp_path / "run").exists()


def test_options_are_checked_by_the_plug_ins_section(tmp_path):
    with pytest.raises(ScenarioError, match=r"s\.yaml:\d+: control\.options\.stiff: unknown key"):
        load_scenario(write(tmp_path, control={"law": "./laws.py:Stiff", "options": {"stiff": 1.0}}))
    with pytest.raises(ScenarioError):
        load_scenario(write(tmp_path, control={"law": "./laws.py:plain", "options": {"k": 1.0}}))
    with pytest.raises(ScenarioError):
        load_scenario(write(tmp_path, control={"law": "pd", "options": {"k": 1.0}}))


def test_a_mistake_in_the_code_is_told_with_its_line(tmp_path):
    path = write(tmp_path, control={"law": "./broken.py:law"})
    (tmp_path / "broken.py").write_text("x = 1\ndef law(:\n", encoding="utf-8")
    with pytest.raises(ScenarioError, match=r"broken\.py: line 2"):
        load_scenario(path)
    (tmp_path / "broken.py").write_text("import not_there\n", encoding="utf-8")
    with pytest.raises(ScenarioError):
        load_scenario(path)


def test_plug_ins_can_be_forbidden(tmp_path, monkeypatch, capsys):
    # The command sets the variable for its workers; this one is restored.
    monkeypatch.setenv("SIMBENCH_PLUGINS", "")
    path = write(tmp_path, control={"law": "./laws.py:plain"})
    assert main(["--no-plugins", "run", str(path), "--out", str(tmp_path / "run")]) == 2
    assert "--no-plugins forbids those" in capsys.readouterr().err


def test_a_file_that_changes_is_loaded_anew(tmp_path):
    file = tmp_path / "it.py"
    file.write_text("def measure(log):\n    return 1.0\n", encoding="utf-8")
    first = load_plugin("metrics", f"{file}:measure")
    file.write_text("def measure(log):\n    return 2.0\n", encoding="utf-8")
    second = load_plugin("metrics", f"{file}:measure")
    assert (first.value(None), second.value(None)) == (1.0, 2.0)
    assert first.origin.sha256 != second.origin.sha256


def test_the_template_has_a_plug_in_of_every_group(template):
    found = {group: find_entry_points(group) for group in GROUPS}
    # A robot is data: docs/how_to/robot.md has its template.
    assert {group for group, points in found.items() if not points} == {"robots"}
    for group, points in found.items():
        for name in points:
            assert load_plugin(group, name).origin.package == "my-simbench-plugins"


def test_a_fixture_a_law_a_reader_and_a_metric_of_a_package_in_one_scenario(template, tmp_path, capsys):
    status = main(["run", str(template / "metronome.yaml"), "--out", str(tmp_path / "run")])
    output = capsys.readouterr()
    assert status == 0, output.err
    assert "3 of 3 checks hold" in output.out
    told = [line for line in output.err.splitlines() if line.startswith("plug-in:")]
    assert ["my-simbench-plugins 1.0" in line for line in told] == [True] * 4
    plugins = json.loads((tmp_path / "run" / "provenance.json").read_text(encoding="utf-8"))["plugins"]
    assert {each["group"] for each in plugins} == {"fixtures", "control_laws", "metrics", "readers"}
    metrics = json.loads((tmp_path / "run" / "metrics.json").read_text(encoding="utf-8"))
    # 2π √(I / k) of a rod of 0.5 kg, 0.2 m about its end on a spring of 2 N·m/rad.
    inertia = 0.5 * (0.2**2 / 3.0 + 0.01**2 / 4.0)
    assert metrics["metronome.beat_s"] == pytest.approx(2.0 * np.pi * np.sqrt(inertia / 2.0), rel=2e-3)


def test_a_retargeter_gives_the_joints_of_trunk_and_arms(template):
    robot = load_robot("romeo")
    from simbench.motion.readers import read_motion
    from simbench.options import RetargetSection

    motion = read_motion("sample:wave.bvh")
    settings = RetargetSection.model_validate({"method": "shoulders_only"})
    names = ("LShoulderPitch", "RElbowRoll")
    low, high = np.array([-0.5, -0.1]), np.array([0.5, 0.1])
    found = plugged_posture(robot, motion, settings, names, (low, high))
    arm = motion.joints["left_elbow"] - motion.joints["left_shoulder"]
    np.testing.assert_allclose(found[:, 0], np.clip(np.arctan2(-arm[:, 2], arm[:, 0]), -0.5, 0.5))
    assert found.shape == (len(motion.time), 2)


METRICS = """
def one(log):
    return 1.0
def fails(log):
    raise KeyError("nothing")
def text(log):
    return "much"
"""


def test_a_metric_that_fails_costs_no_run(tmp_path):
    path = write(
        tmp_path,
        metrics={"own_m": "./m.py:one", "bad": "./m.py:fails", "words": {"plugin": "./m.py:text"}},
        checks={"own_m": {"max": 2.0}, "bad": {"max": 1.0}},
    )
    (tmp_path / "m.py").write_text(METRICS, encoding="utf-8")
    result = run_scenario(load_scenario(path), tmp_path / "run")
    assert (result.metrics["own_m"], result.metrics["bad"], result.metrics["words"]) == (1.0, None, None)
    assert {check.name: check.passed for check in result.checks} == {"own_m": True, "bad": False}
    assert any("metrics.bad is null" in note and "KeyError" in note for note in result.notes)


@pytest.mark.parametrize(
    ("metrics", "message"),
    [
        ({"tracking.rms_rad": "./m.py:one"}, "simbench has a metric of this name"),
        ({"a b": "./m.py:one"}, "must be letters, digits"),
        ({"own": "./m.py:none"}, "has no none"),
    ],
)
def test_wrong_metrics_are_refused(tmp_path, metrics, message):
    path = write(tmp_path, metrics=metrics)
    (tmp_path / "m.py").write_text(METRICS, encoding="utf-8")
    with pytest.raises(ScenarioError, match=message):
        load_scenario(path)


FIXTURES = """
from simbench.options import ScenarioSection
from simbench.sim.fixtures.fixture_section import FixtureSection

class Post(FixtureSection):
    height_m: float = 1.0
    def mechanism(self):
        return 3

class Loose(ScenarioSection):
    def mechanism(self):
        return None

def function(design):
    return None
"""


@pytest.mark.parametrize(
    ("fixture", "message"),
    [
        ({"type": "./f.py:Post"}, r"fixtures\.0\.name: required key is missing"),
        (
            {"type": "./f.py:Post", "name": "p", "hight_m": 1.0},
            r"hight_m: unknown key \(did you mean 'height_m'",
        ),
        ({"type": "./f.py:Loose", "name": "p"}, "must be derived from FixtureSection"),
        ({"type": "./f.py:function", "name": "p"}, "is no fixture; allowed: a class"),
        ({"type": "./f.py:Post", "name": "p"}, "builds a value of type int; allowed: Mechanism"),
    ],
)
def test_wrong_fixtures_are_refused(tmp_path, fixture, message):
    path = write(tmp_path, fixtures=[fixture], checks={"tracking.rms_rad": {"max": 1.0}})
    (tmp_path / "f.py").write_text(FIXTURES, encoding="utf-8")
    with pytest.raises(SimbenchError, match=message):
        load_scenario(path)


def test_plug_ins_are_listed_without_being_imported(template, capsys):
    import sys

    assert main(["list", "plugins"]) == 0
    assert "metronome" in capsys.readouterr().out
    assert "my_simbench_plugins.metronome" not in sys.modules


STILL = {"name": "still", "motion": {"source": "joints:still"}, "simulation": {"hold_s": 0.2}}


def test_a_balance_controller_may_build_upon_simbenchs_own(template, tmp_path):
    (tmp_path / "still.yaml").write_text(yaml.safe_dump(STILL), encoding="utf-8")
    usual = run_scenario(load_scenario(tmp_path / "still.yaml"), tmp_path / "usual")
    logs = [open_run(usual.directory)["joint_position"].values]
    for share in (1.0, 0.1):
        calm = {"controller": "calm", "options": {"share": share}}
        scenario = load_scenario(tmp_path / "still.yaml", {"balance": calm})
        run_scenario(scenario, tmp_path / f"calm{share}")
        logs.append(open_run(tmp_path / f"calm{share}")["joint_position"].values)
    # All of the correction is simbench's own, to rounding; a tenth of it is not.
    np.testing.assert_allclose(logs[1], logs[0], atol=1e-6)
    assert np.abs(logs[2] - logs[0]).max() > 1e-6
    with pytest.raises(SimbenchError):
        run_scenario(load_scenario("puma560_sweep", {"balance.controller": "calm"}), tmp_path / "arm")


def test_a_balancer_of_a_program_that_writes_no_numbers_is_refused(tmp_path):
    class Wild:
        every = 2

        def command(self, step, state, foot_wrench, reference):
            reference.position[step] = np.nan

    (tmp_path / "still.yaml").write_text(yaml.safe_dump(STILL), encoding="utf-8")
    scenario = load_scenario(tmp_path / "still.yaml")
    with pytest.raises(PluginError, match="wrote a position at step 0 that is not finite"):
        run_scenario(scenario, tmp_path / "run", balancer=lambda robot, plan, timestep: Wild())
    with pytest.raises(PluginError):
        run_scenario(scenario, tmp_path / "run", balancer=lambda robot, plan, timestep: 3)


def test_a_scenario_goes_to_other_processes_as_its_values(tmp_path):
    """Its plug-in's class is of a module that only this process has imported."""
    import pickle
    import sys

    from simbench.plugins.entry_points import _import_content

    path = write(tmp_path, control={"law": "./laws.py:Stiff", "options": {"stiffness_nm_rad": 3.0}})
    scenario = load_scenario(path)
    sent = pickle.dumps(scenario)
    del sys.modules[type(scenario.control.options).__module__]
    _import_content.cache_clear()
    received = pickle.loads(sent)
    assert received.model_dump() == scenario.model_dump()
    assert received.control.options.stiffness_nm_rad == 3.0
