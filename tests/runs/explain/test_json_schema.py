import os

import jsonschema
import pytest
from script_modules import loaded_script

from simbench.errors import RobotError, ScenarioError
from simbench.files.yaml_document import parse_yaml
from simbench.motion.actors.tasks import PLACES
from simbench.resources import resource_dir
from simbench.robot.description import read_description
from simbench.runs.motion_source import _timing
from simbench.runs.scenario.loading import load_scenario
from simbench.runs.scenario.scenario_files import list_scenarios

LINE = "# yaml-language-server: $schema="
SCENARIO = """\
name: own
motion:
  source: actor:drawer
  task: {repetitions: 2}
fixtures:
  - type: drawer
    position_m: [0.5, 0, 0]
"""


@pytest.fixture(scope="module")
def script():
    with loaded_script("tools/write_schemas.py") as module:
        yield module


@pytest.fixture(scope="module")
def validators(script):
    for make in script.SCHEMAS.values():
        jsonschema.Draft202012Validator.check_schema(make())
    return {kind: jsonschema.Draft202012Validator(make()) for kind, make in script.SCHEMAS.items()}


def robots():
    return sorted(path.parent.name for path in resource_dir("robots").glob("*/robot.yaml"))


def errors(validator, text):
    """Path and message of each error."""
    data = parse_yaml(text, "own.yaml", ScenarioError).value
    return {(error.json_path, error.message) for error in validator.iter_errors(data)}


@pytest.mark.parametrize("kind", ["scenario", "robot"])
def test_the_shipped_schema_is_the_one_of_the_models(script, kind):
    """Otherwise: python scripts/tools/write_schemas.py"""
    assert (resource_dir("schemas") / f"{kind}.json").read_text(encoding="utf-8") == script.schema_text(kind)


def test_the_shipped_names_are_those_that_the_modules_declare(script):
    """Otherwise: python scripts/tools/write_schemas.py"""
    assert (resource_dir("schemas") / "names.json").read_text(encoding="utf-8") == script.names_text()


@pytest.mark.parametrize("name", list_scenarios())
def test_a_shipped_scenario_is_valid_and_names_its_schema(validators, name):
    path = resource_dir("scenarios") / f"{name}.yaml"
    text = path.read_text(encoding="utf-8")
    assert errors(validators["scenario"], text) == set()
    first = text.splitlines()[0]
    assert os.path.samefile(path.parent / first.removeprefix(LINE), resource_dir("schemas") / "scenario.json")


@pytest.mark.parametrize("name", robots())
def test_a_shipped_robot_is_valid_and_names_its_schema(validators, name):
    path = resource_dir("robots") / name / "robot.yaml"
    text = path.read_text(encoding="utf-8")
    assert errors(validators["robot"], text) == set()
    first = text.splitlines()[0]
    assert os.path.samefile(path.parent / first.removeprefix(LINE), resource_dir("schemas") / "robot.json")


UNEXPECTED = "Additional properties are not allowed ({} unexpected)"


@pytest.mark.parametrize(
    ("old", "new", "path", "message", "refused"),
    [
        (
            "[0.5, 0, 0]",
            "[0.5, 0, 0]\n    mass_g: 2500",
            "$.fixtures[0].mass_g",
            "'write mass_kg: its unit is kg' was expected",
            "unknown key (did you mean 'mass_kg'?)",
        ),
        (
            "[0.5, 0, 0]",
            "[0.5, 0, 0]\n    mass_kg: 2.5 kg",
            "$.fixtures[0].mass_kg",
            "'2.5 kg' is not of type 'number'",
            "must be a valid number, got '2.5 kg'",
        ),
        (
            "[0.5, 0, 0]",
            "[0.5, 0, 0]\n    mass_kg: 2500",
            "$.fixtures[0].mass_kg",
            "2500 is greater than the maximum of 1000.0",
            "must be less than or equal to 1000, got 2500",
        ),
        (
            "source: actor:drawer",
            "source: actor:drawer\n  unit: meters",
            "$.motion.unit",
            "'meters' is not one of ['m', 'cm', 'mm', 'in', 'cmu', None]",
            "must be 'm', 'cm', 'mm', 'in' or 'cmu', got 'meters'",
        ),
        (
            "fixtures:",
            "robott: {}\nfixtures:",
            "$",
            UNEXPECTED.format("'robott' was"),
            "unknown key (did you mean 'robot'?)",
        ),
        (
            "    position_m: [0.5, 0, 0]\n",
            "",
            "$.fixtures[0]",
            "'position_m' is a required property",
            "fixtures.0.position_m: required key is missing",
        ),
        (
            "[0.5, 0, 0]",
            "[0.5, 0]",
            "$.fixtures[0].position_m",
            "[0.5, 0] is too short",
            "a number is missing",
        ),
        (
            "fixtures:",
            "camera: {width: 641}\nfixtures:",
            "$.camera.width",
            "641 is not a multiple of 2",
            "must be a multiple of 2, got 641",
        ),
        (
            "fixtures:",
            "control:\nfixtures:",
            "$.control",
            "None is not of type 'object'",
            "must be a section with the keys",
        ),
        (
            "fixtures:",
            "checks: {fell: {}}\nfixtures:",
            "$.checks.fell",
            "{} is not valid under any of the given schemas",
            "must give min, max or both",
        ),
    ],
)
def test_a_broken_scenario_is_flagged_where_simbench_refuses_it(
    validators, tmp_path, old, new, path, message, refused
):
    assert old in SCENARIO
    text = SCENARIO.replace(old, new)
    assert (path, message) in errors(validators["scenario"], text)
    (tmp_path / "own.yaml").write_text(text, encoding="utf-8")
    with pytest.raises(ScenarioError) as raised:
        load_scenario(tmp_path / "own.yaml")
    assert refused in str(raised.value)


def test_task_keys_are_those_that_actors_know(script):
    properties = script.SCHEMAS["scenario"]()["$defs"]["ActorTaskKeys"]["properties"]
    known = set()
    for name, unit in (("drawer", "m"), *((name, "rad") for name in PLACES)):
        scenario = load_scenario("drawer", ["motion.task.no_key=1"])

        class Task:
            timing = type("Timing", (), {"moves": ((1.0, 1.0), (0.0, 1.0))})

        Task.name, Task.unit = name, unit
        with pytest.raises(ScenarioError) as raised:
            _timing(Task, scenario)
        known |= set(str(raised.value).partition("allowed: ")[2].split(", "))
    assert set(properties) == known


def test_a_sweep_has_keys_of_its_own(validators):
    text = "name: own\nmotion: {source: 'joints:sweep', task: {amplitude_rad: 1, repetitions: 2}}\n"
    assert errors(validators["scenario"], text) == set()
    wrong = text.replace("amplitude_rad", "stroke_m")
    assert errors(validators["scenario"], wrong) == {("$.motion.task", UNEXPECTED.format("'stroke_m' was"))}
    walk = text.replace("joints:sweep", "walk.c3d")
    assert {path for path, _ in errors(validators["scenario"], walk)} == {"$.motion.task"}


@pytest.mark.parametrize(
    "section",
    [
        "motion: {source: a.c3d, start_s: null, end_s: 3}",
        "retarget: {weights: {energy: 1}}",
        "stepping: {commands: [{march: 2}, {turn_rad: 1, march: null}]}",
        "checks: {fell: false, zmp.min_margin_m: {min: 0, max: null}}",
    ],
)
def test_what_simbench_accepts_is_valid(validators, tmp_path, section):
    text = f"name: own\n{section}\n" + ("" if section.startswith("motion") else "motion: {source: a.c3d}\n")
    (tmp_path / "own.yaml").write_text(text, encoding="utf-8")
    load_scenario(tmp_path / "own.yaml")
    assert errors(validators["scenario"], text) == set()


ROBOT = """\
name: own
urdf: own.urdf
groups: {left_arm: [a]}
gains: {a: [100, 1]}
motors: {a: [50, 13.9]}
links: {arm: {mass: 1.0, cog: [0, 0, 0], inertia: [1, 1, 1, 0, 0, 0]}}
joints: {a: {parent: base, child: arm, limits: [-1.5, 1.5], velocity: 3, effort: 20}}
"""


def refusal(tmp_path, text):
    (tmp_path / "robot.yaml").write_text(text, encoding="utf-8")
    try:
        read_description(tmp_path / "robot.yaml")
    except RobotError as error:
        return str(error)
    return ""


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("{a: [100, 1]}", "auto"),
        ("[50, 13.9]", "{reduction: 50, rotor: 13.9, reflected_inertia: null}"),
        ("child: arm", "child: arm, dh: {a: 0.4, alpha: 1.57}"),
        ("name: own", "name: own\ncollision: {arm: [{box: [0.1, 0.2, 0.3]}, {sphere: 0.1}]}"),
    ],
)
def test_a_robot_that_simbench_accepts_is_valid(validators, tmp_path, old, new):
    text = ROBOT.replace(old, new)
    assert refusal(tmp_path, text) == ""
    assert errors(validators["robot"], text) == set()


@pytest.mark.parametrize(
    ("old", "new", "path", "message"),
    [
        ("gains: {a: [100, 1]}", "gains: automatic", "$.gains", "'auto' was expected"),
        ("[100, 1]", "[100]", "$.gains.a", "[100] is too short"),
        ("[100, 1]", "[-100, 1]", "$.gains.a[0]", "-100 is less than the minimum of 0"),
        ("mass: 1.0", "mass_kg: 1.0", "$.links.arm", UNEXPECTED.format("'mass_kg' was")),
        ("parent: base", "base: base", "$.joints.a", "'parent' is a required property"),
        (
            "child: arm",
            "child: arm, xyz: [0, 0, 0], dh: {a: 0.4}",
            "$.joints.a.xyz",
            "'leave out xyz: dh places the joint' was expected",
        ),
    ],
)
def test_a_broken_robot_is_flagged_where_simbench_refuses_it(validators, tmp_path, old, new, path, message):
    assert old in ROBOT
    text = ROBOT.replace(old, new)
    message = message or "'write limb_hz: its unit is Hz' was expected"
    assert (path, message) in errors(validators["robot"], text)
    assert refusal(tmp_path, text) != ""
