import pytest
from pydantic import BaseModel

from simbench.runs.explain.documented_names import find_keys, robot_key_entries, scenario_key_entries
from simbench.runs.scenario.loading import load_scenario
from simbench.runs.scenario.scenario_files import list_scenarios
from simbench.runs.scenario.schema import Scenario

LISTS = {"scenario": scenario_key_entries, "robot": robot_key_entries}


@pytest.fixture(scope="module")
def sections():
    return {kind: entries() for kind, entries in LISTS.items()}


def dotted(section: BaseModel, path=""):
    """Keys of a scenario as `--set` takes them."""
    for name in type(section).model_fields:
        value, key = getattr(section, name), f"{path}{name}"
        yield key
        if isinstance(value, BaseModel):
            yield from dotted(value, f"{key}.")
        elif isinstance(value, tuple) and value and isinstance(value[0], BaseModel):
            for number, each in enumerate(value):
                yield from dotted(each, f"{key}.{number}.")
        elif isinstance(value, dict):
            yield from (f"{key}.{each}" for each in value)


def test_every_key_of_every_shipped_scenario_is_found(sections):
    keys = {key for name in list_scenarios() for key in dotted(load_scenario(name))}
    assert {"checks.fell", "fixtures.0.mass_kg", "motion.task.stroke_m"} <= keys
    assert [key for key in keys if not find_keys(sections["scenario"], key)] == []


def test_defaults_are_those_of_the_models(sections):
    own = Scenario.model_validate({"name": "own", "motion": {"source": "a.c3d"}})
    entries = {entry.name: entry for _, _, keys in sections["scenario"] for entry in keys}
    assert entries["retarget.pelvis_follow"].default == str(own.retarget.pelvis_follow)
    assert entries["robot.position_m"].default == str(list(own.robot.position_m))
    assert entries["fixtures.drawer.position_m"].default == "required"
    assert entries["fixtures.drawer.mass_kg"] == (
        "fixtures.drawer.mass_kg",
        "number",
        "kg",
        "2.5",
        "≥ 1e-06, ≤ 1000",
        "Mass of the moving drawer.",
    )


@pytest.mark.parametrize(
    ("kind", "name", "found"),
    [
        ("scenario", "fixtures.drawer.mass_kg", ["fixtures.drawer.mass_kg"]),
        ("scenario", "checks.zmp.min_margin_m.min", ["checks.<name>.min"]),
        ("scenario", "retarget.nothing", []),
        ("robot", "joints.LElbowRoll.limits", ["joints.<name>.limits"]),
        ("robot", "nothing.LElbowRoll", []),
    ],
)
def test_a_key_is_found_by_its_name_in_a_file(sections, kind, name, found):
    assert [entry.name for entry in find_keys(sections[kind], name)] == found
