import re

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from simbench.errors import ScenarioError
from simbench.options import Bound, RobotSection
from simbench.runs.scenario.loading import load_scenario, override_scenario, resolved_yaml
from simbench.runs.scenario.scenario_files import USUAL_ROBOT, list_scenarios, summarise_scenario
from simbench.runs.scenario.schema import Scenario

MINIMAL = "name: own\nmotion:\n  source: actor:drawer\n"


@pytest.fixture
def write(tmp_path):
    def _write(text):
        path = tmp_path / "own.yaml"
        path.write_text(text, encoding="utf-8")
        return path

    return _write


def refusal(name_or_path, *overrides):
    """The message of the error, after checking that it is one line."""
    with pytest.raises(ScenarioError) as caught:
        load_scenario(name_or_path, overrides)
    message = str(caught.value)
    assert "\n" not in message
    return message


def test_every_scenario_that_ships_loads_and_is_named_after_its_file():
    names = list_scenarios()
    assert {"drawer", "dance"} <= set(names)
    assert [load_scenario(name).name for name in names] == names


def test_resolved_yaml_loads_to_the_same_scenario(write):
    scenario = load_scenario("drawer", ["fixtures.0.mass_kg=3", "motion.task.stroke_m=0.15", "seed=7"])
    assert load_scenario(write(resolved_yaml(scenario))) == scenario


def test_overrides_reach_sections_lists_and_metric_names():
    overrides = [
        "fixtures.0.mass_kg=3",
        "camera.target_m=[0, 1, 2]",
        "simulation.timestep_s=5e-4",
        "checks.tracking.rms_rad.max=0.5",
        "checks.zmp.min_margin_m={min: 1}",
        "checks.fell=true",
        "motion.task.stroke_m=0.15",
        "motion.end_s=4",
    ]
    scenario = load_scenario("drawer", overrides)
    assert scenario.fixtures[0].mass_kg == 3.0
    assert scenario.camera.target_m == (0.0, 1.0, 2.0)
    assert scenario.simulation.timestep_s == 0.0005
    assert scenario.checks["tracking.rms_rad"] == Bound(max=0.5)
    assert scenario.checks["zmp.min_margin_m"] == Bound(min=1.0)
    assert scenario.checks["fell"] is True
    assert scenario.motion.task["stroke_m"] == 0.15
    assert scenario.motion.end_s == 4.0


def test_a_file_named_in_a_scenario_is_found_beside_it(write, tmp_path, monkeypatch):
    for name in ("clip.txt", "my_map.yaml"):
        (tmp_path / name).write_text("", encoding="utf-8")
    path = write("name: own\nmotion:\n  source: clip.txt\n  marker_map: my_map.yaml\n")
    monkeypatch.chdir("/")
    motion = load_scenario(path).motion
    assert motion.source == str(tmp_path / "clip.txt")
    assert motion.marker_map == str(tmp_path / "my_map.yaml")


@pytest.mark.parametrize(
    ("override", "parts"),
    [
        ("seed=x", ["seed:", "integer", "'x'"]),
        ("seed=-1", ["seed:", "greater than or equal to 0", "-1"]),
        ("seed", ["key=value"]),
        ("seed.x=1", ["'seed' is a single value"]),
        ("fixtures.0.mass_kg=0", ["fixtures.0.mass_kg:", "greater than or equal to 0.000001"]),
        ("fixtures.0.mas_kg=1", ["fixtures.0.mas_kg:", "did you mean 'mass_kg'", "travel_m"]),
        ("fixtures.1.mass_kg=1", ["'1' must be an index of 'fixtures', 0 to 0"]),
        ("fixtures.0.type=lathe", ["fixtures.0.type: must be one of", "'drawer'", "got 'lathe'"]),
        ("fixtures=[{name: a}]", ["fixtures.0.type: required key is missing"]),
        ("fixtures=[3]", ["fixtures.0: must be a section, got 3"]),
        ("fixtures.0.start_opening_m=1", ["fixtures.0:", "at most travel_m"]),
        ("camera=3", ["camera:", "target_m"]),
        ("camera.target_m=[1, 2]", ["camera.target_m.2:", "missing"]),
        ("simulation.timestep_s=.nan", ["simulation.timestep_s:", "finite"]),
        ("simulation.log_rate_hz=300", ["simulation.timestep_s (1000)", "simulation.log_rate_hz (300)"]),
        ("balance.rate_hz=333", ["simulation.timestep_s (1000)", "whole multiple", "balance.rate_hz (333)"]),
        ("stepping={commands: [{march: 2}]}", ["stepping:", "fixtures", "allowed:"]),
        ("push={first_ns: 5, interval_s: 0.05}", ["push: interval_s must be at least duration_s, 0.1"]),
        ("retarget.smoothing_window=30", ["retarget:", "odd"]),
        ("checks.fell={}", ["checks.fell:", "min, max"]),
        ("checks.fell={min: 2, max: 1}", ["min must be at most max"]),
        ("name=a b", ["name:", "match"]),
    ],
)
def test_a_bad_override_is_named_with_its_key_and_what_is_allowed(override, parts):
    message = refusal("drawer", override)
    assert message.startswith(f"--set {override}: ")
    assert all(part in message for part in parts), message


@pytest.mark.parametrize(
    ("override", "parts"),
    [
        ("stepping.commands=[{hop: 3}]", ["commands.0.hop: unknown key", "march, forward_m, sideways_m"]),
        ("stepping.commands=[{march: 3, forward_m: 1}]", ["commands.0: must have one of the keys march,"]),
        ("stepping.commands=[{march: 1}, {march: 0}]", ["commands.1.march:", "greater than or equal to 1"]),
        ("stepping.commands=[]", ["stepping.commands: must have at least 1 item, not 0"]),
        ("stepping.lift_m=-0.01", ["stepping.lift_m:", "greater than or equal to 0.00001"]),
        ("control.feedforward=gravity", ["control.feedforward:", "steps", "inverse_dynamics, none"]),
    ],
)
def test_bad_steps_are_named_with_their_key_and_what_is_allowed(override, parts):
    message = refusal("mahru_walk", override)
    assert message.startswith(f"--set {override}: ")
    assert all(part in message for part in parts), message


def test_resolved_steps_and_pushes_load_to_the_same_scenario(write):
    """A command is written with all its keys, of which one has a value."""
    for overrides in ([], ["stepping=null", "push={first_ns: 5, count: 3}", "balance.recovery=step"]):
        scenario = load_scenario("mahru_walk", overrides)
        assert load_scenario(write(resolved_yaml(scenario))) == scenario


@pytest.mark.parametrize(
    ("text", "line", "parts"),
    [
        (MINIMAL + "foo: 1\n", 4, ["foo: unknown key", "allowed: name, summary"]),
        (MINIMAL + "seed: 1\nseed: 2\n", 5, ["duplicate key 'seed'", "line 4"]),
        (MINIMAL + "fixtures:\n  - type: drawer\n", 5, ["fixtures.0.position_m: required key"]),
        (MINIMAL + "camera: &c\n  target_m: *c\n", 4, ["nested"]),
        ("name: own\n", 1, ["motion: required key"]),
        ("- 1\n", 1, ["key: value"]),
        ("3: 4\n", 1, ["plain text"]),
        ("name: [\n", 2, ["not valid YAML"]),
    ],
)
def test_a_bad_file_is_named_with_line_and_key(write, text, line, parts):
    path = write(text)
    message = refusal(path)
    assert re.match(rf"{re.escape(str(path))}:{line}(:\d+)?: ", message), message
    assert all(part in message for part in parts), message


def test_unreadable_files_are_refused(tmp_path):
    assert "No such file" in refusal(tmp_path / "nowhere.yaml")
    assert "directory" in refusal(tmp_path)
    (tmp_path / "binary.yaml").write_bytes(b"name: \xff")
    assert "UTF-8" in refusal(tmp_path / "binary.yaml")


@given(
    mass=st.floats(1e-6, 1e3),
    target=st.tuples(*[st.floats(-100.0, 100.0)] * 3),
    summary=st.text(st.characters(exclude_categories=["C", "Z"]), max_size=200),
    seed=st.integers(0, 2**63),
)
@example(mass=1.0, target=(0.0, 0.0, 0.0), summary="1e100", seed=0)
def test_any_valid_scenario_survives_writing_and_reading(tmp_path_factory, mass, target, summary, seed):
    scenario = Scenario.model_validate(
        {
            "name": "own",
            "summary": summary,
            "seed": seed,
            "motion": {"source": "actor:drawer", "task": {"a": 1, "b": 0.5}},
            "fixtures": [{"type": "drawer", "position_m": [0.4, 0, 0], "mass_kg": mass}],
            "camera": {"target_m": target},
            "checks": {"fell": False, "cog.rms_m": {"min": -mass}},
        }
    )
    path = tmp_path_factory.mktemp("scenario") / "own.yaml"
    path.write_text(resolved_yaml(scenario), encoding="utf-8")
    assert load_scenario(path) == scenario


@pytest.mark.parametrize(
    ("name", "meant"),
    [
        ("feel", "fell"),
        ("drawer.travel_ration", "drawer.travel_ratio"),
        ("zmp.inside", "zmp.inside_fraction"),
    ],
)
def test_a_check_of_no_metric_is_refused_before_anything_runs(name, meant):
    with pytest.raises(ScenarioError, match=f"checks.{name}: unknown metric .did you mean '{meant}'"):
        load_scenario("drawer", [f"checks.{name}={{min: 1}}"])


def test_metrics_of_fixtures_are_known_by_the_scenarios_own_fixtures():
    assert "drawer.travel_ratio" in load_scenario("drawer").checks
    with pytest.raises(ScenarioError):
        load_scenario("dance", ["checks.drawer.travel_ratio={min: 1}"])


def test_the_robot_of_a_scenario_can_be_read_without_validating_it():
    for name in list_scenarios():
        assert summarise_scenario(name)[0] == load_scenario(name).robot.name
    assert RobotSection().name == USUAL_ROBOT


@pytest.mark.parametrize(
    ("values", "texts"),
    [
        ({"fixtures": {"0": {"mass_kg": np.float32(5.0)}}}, ["fixtures.0.mass_kg=5"]),
        ({"robot.position_m": np.array([0.1, 0.2])}, ["robot.position_m=[0.1, 0.2]"]),
        ({"checks": {"tracking.rms_rad": {"max": 0.5}}}, ["checks.tracking.rms_rad.max=0.5"]),
        ({"camera.overlays": False, "seed": np.int64(3)}, ["camera.overlays=false", "seed=3"]),
    ],
)
def test_values_of_python_set_what_texts_set(values, texts):
    assert load_scenario("drawer", values) == load_scenario("drawer", texts)


def test_an_override_leaves_the_scenario_that_it_changes_as_it_was():
    scenario = load_scenario("drawer")
    changed = override_scenario(scenario, {"seed": 7})
    assert (scenario.seed, changed.seed) == (0, 7)
    assert override_scenario(changed, {"seed": 0}) == scenario
