"""Every number of a scenario, tiny, huge and odd: it gives a finite scene, or one line."""

import copy
import re
import types
import warnings
from functools import cache
from typing import Annotated, Union, get_args, get_origin

import numpy as np
import pytest
from pydantic import ValidationError

from simbench.errors import ScenarioError
from simbench.options import ActorTaskKeys, RobotSection, ScenarioSection, SimulationSection
from simbench.robot.robot import load_robot
from simbench.runs.motion_source import perform_on_fixture
from simbench.runs.retargeted_reference import build_sweep_reference
from simbench.runs.scenario.loading import load_scenario, scenario_mechanisms
from simbench.runs.scenario.schema import Scenario
from simbench.sim.fixtures.declared import DeclaredMechanism, declared_mechanism

ENDLESS = ("1e30", "-1e308", ".nan")
SMALL = ("5e-324", "-5e-324", "0")
SCENARIOS = {
    **{"CanoePaddles": "canoe_paddles", "Drawer": "drawer", "Grater": "grater", "HandDrill": "hand_drill"},
    **{"KnifeAndBox": "knife", "Pump": "pump", "SteeringWheel": "steering_wheel", "Stool": "pump"},
    **{"Valves": "valves", "stepping": "mahru_walk", "push": "push"},
}
"""A scenario that has the section or fixture; `puma560_sweep` for all others."""


def numbers(kind, path):
    """Key path of every number in a type; an index stands for a list's item, a class for a fixture."""
    origin = get_origin(kind)
    if origin is Annotated:
        yield from numbers(get_args(kind)[0], path)
    elif origin in (Union, types.UnionType):
        for each in get_args(kind):
            yield from numbers(each, path)
    elif origin is tuple:
        items = [each for each in get_args(kind) if each is not Ellipsis]
        for index, each in enumerate(items):
            yield from numbers(each, (*path, index))
    elif origin is dict:
        yield from numbers(get_args(kind)[1], (*path, "NAME"))
    elif kind is DeclaredMechanism:
        # Its keys have names that the user chooses: tests of its own.
        return
    elif isinstance(kind, type) and issubclass(kind, ScenarioSection):
        above = (*path, kind) if "type" in kind.model_fields else path
        for name, entry in kind.model_fields.items():
            yield from numbers(entry.annotation, (*above, name))
    elif kind in (int, float):
        yield path


NUMBERS = list(dict.fromkeys(numbers(Scenario, ())))


def section_of(path):
    return path[2].__name__ if path[0] == "fixtures" else path[0]


@cache
def shipped(name):
    """A scenario as it ships, which the tests only read; each number is set in many ways."""
    return load_scenario(name)


def override(path, value):
    """The name of a scenario, and the `--set` that sets a number of it."""
    name = SCENARIOS.get(section_of(path), "puma560_sweep")
    scenario = shipped(name)
    if path[0] == "checks":
        return name, f"checks.tracking.rms_rad.{path[-1]}={value}"
    if path[:2] == ("motion", "task"):
        return name, f"motion.task.speed_rad_s={value}"
    if path[:2] == ("stepping", "commands"):
        return name, f"stepping.commands=[{{{path[-1]}: {value}}}]"
    section, key = scenario, ""
    if path[0] == "fixtures":
        index = next(k for k, fixture in enumerate(scenario.fixtures) if isinstance(fixture, path[2]))
        section, key, path = scenario.fixtures[index], f"fixtures.{index}.", path[3:]
    if isinstance(path[-1], int):
        for step in path[:-1]:
            section = getattr(section, step)
        items = [value if k == path[-1] else str(item) for k, item in enumerate(section)]
        path, value = path[:-1], f"[{', '.join(items)}]"
    return name, f"{key}{'.'.join(path)}={value}"


def load(path, value):
    """Load the scenario with this number, and build its equipment; None if it is refused in one line."""
    name, text = override(path, value)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        try:
            scenario = load_scenario(name, [text])
        except ScenarioError as error:
            message = str(error)
        else:
            return scenario_mechanisms(scenario)
    assert message.startswith(("--set ", name)) or "scenarios/" in message
    assert "\n" not in message
    return None


def test_the_numbers_are_those_of_the_schema():
    assert len(NUMBERS) > 200
    assert {section_of(path) for path in NUMBERS} >= {*SCENARIOS, "balance", "simulation", "camera", "checks"}


@pytest.mark.parametrize("section", sorted({section_of(path) for path in NUMBERS}))
def test_numbers_that_overflow_are_refused(section):
    for path in NUMBERS:
        # Whoever performs the task checks its numbers; a metric may be of any size.
        if section_of(path) == section and section != "checks" and path[:2] != ("motion", "task"):
            for value in ENDLESS:
                assert load(path, value) is None, (path, value)


@pytest.mark.parametrize("section", sorted({section_of(path) for path in NUMBERS}))
def test_tiny_and_odd_numbers_give_a_scene_or_one_line(section):
    for path in NUMBERS:
        if section_of(path) == section:
            for value in SMALL:
                load(path, value)


@pytest.mark.parametrize("key", ["amplitude_rad", "speed_rad_s", "repetitions", "pause_s"])
@pytest.mark.parametrize("value", [1e308, 1e30, 5e-324, 1e-320, 1e-5, 0.0, -1.0])
def test_numbers_of_a_sweep_give_a_reference_or_one_line(key, value):
    settings = SimulationSection(settle_s=0.0, hold_s=0.0)
    robot, place = load_robot("puma560"), RobotSection(name="puma560", posture="ready")
    task = {"amplitude_rad": 0.01, key: value}
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        try:
            timeline = build_sweep_reference(robot, place, task, settings, "none")
        except ScenarioError as error:
            message = str(error)
        else:
            assert np.isfinite(timeline.reference.acceleration).all()
            return
    assert re.match(r"motion\.task(\.\w+)?: .*", message)


MAY_BE_ZERO = ("variation", "initial_duration_s", "grasp_duration_s", "turning_pause_s", "rest_duration_s")


@pytest.mark.parametrize("key", sorted(ActorTaskKeys.model_fields))
@pytest.mark.parametrize("value", [1e308, 1e30, -1e308, 5e-324, -5e-324, -1.0])
def test_numbers_of_a_task_that_cannot_be_performed_are_refused(key, value):
    scenario = load_scenario("drawer", [f"motion.task.{key}={value}"])
    if key == "stroke_rad":
        said = "unknown key"
    elif abs(value) == 5e-324 and ((value > 0.0 and key in MAY_BE_ZERO) or key.startswith("approach")):
        return
    else:
        said = "allowed"
    with pytest.raises(ScenarioError, match=rf"^motion\.task.*: .*{said}") as caught:
        perform_on_fixture(scenario, scenario_mechanisms(scenario))
    assert len(str(caught.value)) < 500


DECLARED = {
    "type": "mechanism",
    "name": "it",
    "position_m": [0.0, 0.0, 0.0],
    "heading_rad": 0.0,
    "standing": True,
    "parts": {
        "root": {
            "mass_kg": 1.0,
            "shapes": [
                {"kind": "box", "size_m": [1.0, 1.0, 1.0], "center_m": [0, 0, 0], "rotation_rad": [0.1, 0, 0]}
            ],
        },
        "slider": {
            "mass_kg": 1.0,
            "joint": "slide",
            "shapes": [{"kind": "cylinder", "start_m": [0, 0, 0], "end_m": [1.0, 0, 0], "radius_m": 0.1}],
        },
        "wheel": {"mass_kg": 1.0, "joint": "turn", "shapes": [{"kind": "box", "size_m": [1.0, 1.0, 1.0]}]},
    },
    "joints": {
        "slide": {
            "kind": "slide", "axis": [1, 0, 0], "origin_m": [0, 0, 0], "lowest_m": -1.0, "highest_m": 1.0,
            "start_m": 0.0, "friction_n": 1.0, "damping_ns_m": 1.0, "back_damping_ns_m": 2.0,
            "stiffness_n_m": 1.0, "rest_m": 0.0,
        },
        "turn": {
            "kind": "turn", "axis": [0, 1, 0], "origin_m": [0, 0, 0], "lowest_rad": -1.0, "highest_rad": 1.0,
            "start_rad": 0.0, "friction_nm": 1.0, "damping_nms": 1.0, "back_damping_nms": 2.0,
            "stiffness_nm_rad": 1.0, "rest_rad": 0.0, "parent": "slide",
        },
    },
    "handles": {
        "left": {
            "part": "wheel", "position_m": [0, 0, 0], "fingers": [1, 0, 0], "dorsal": [0, 0, 1],
            "grip": "pivot", "axis": [0, 1, 0], "held_m": [0, 0, 0], "approach_m": [0.1, 0, 0],
        }
    },
    "latches": [{"joint": "slide", "released_by": "turn", "beyond": 0.5}],
    "moves": [{"to": {"turn": 0.5}, "duration_s": 1.0}],
    "cut": {"joint": "slide", "work_per_depth_j_m": 10.0},
}  # fmt: skip
"""Equipment with every number that equipment of one's own can have."""


def leaves(value, path=()):
    """Key path of every number in a value."""
    if isinstance(value, dict | list):
        for key, each in value.items() if isinstance(value, dict) else enumerate(value):
            yield from leaves(each, (*path, key))
    elif isinstance(value, int | float) and not isinstance(value, bool):
        yield path


@pytest.mark.parametrize("path", list(leaves(DECLARED)), ids=lambda path: ".".join(map(str, path)))
def test_numbers_of_declared_equipment_give_a_mechanism_or_one_line(path):
    for value in (1e308, -1e308, 1e30, float("nan"), float("inf"), 10**400, 5e-324, -5e-324, 1e-5, 0, 0.0):
        design = copy.deepcopy(DECLARED)
        place = design
        for step in path[:-1]:
            place = place[step]
        place[path[-1]] = value
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            try:
                section = DeclaredMechanism.model_validate(design)
            except ValidationError:
                continue
            assert abs(value) < 1.0, (path, value)
            assert np.isfinite(declared_mechanism(section).latch_stiffness).all()
