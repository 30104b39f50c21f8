"""Logs are made as a run makes them, from a recorder that has recorded nothing."""

from types import SimpleNamespace

import numpy as np
import pytest

from simbench.retargeting.contact.hand_plan import HandPlan
from simbench.retargeting.reference.reference import Timeline
from simbench.robot.robot import load_robot
from simbench.runs.explain import documented_names
from simbench.runs.explain.documented_names import find_log_entry, log_entries
from simbench.runs.log import open_run, write_log
from simbench.runs.log_builder import build_log
from simbench.runs.scenario.loading import load_scenario, scenario_mechanisms
from simbench.sim.recorder import Recorder

COUNT = 3


def log_of(name):
    scenario = load_scenario(name)
    robot, mechanisms = load_robot(scenario.robot.name), scenario_mechanisms(scenario)
    seat = next((each for each in mechanisms if each.seat), None)
    recorder = Recorder(COUNT, robot, mechanisms)
    recorder.count, recorder.steps = COUNT, COUNT
    recorder.time[:] = np.arange(COUNT)
    sides = [role.removesuffix("_hand") for role in robot.hands]
    poses = {side: np.tile(np.eye(4), (2, 1, 1)) for side in sides}
    blend = {side: np.ones(2) for side in sides}
    contact = {side: np.ones(2, dtype=bool) for side in sides}
    hands = HandPlan(blend, contact, blend, poses, poses, dict.fromkeys(sides))
    timeline = Timeline(None, np.zeros(7), 0.0, np.array([0.0, 1.0]), hands)
    asked = {each.name: np.zeros((2, len(each.joints))) for each in mechanisms}
    gait = SimpleNamespace(
        timestep=1.0,
        zmp=np.zeros((COUNT, 2)),
        cog=np.zeros((COUNT, 2)),
        contact=np.ones((COUNT, 2), dtype=bool),
        steps=0,
    )
    whole = SimpleNamespace(
        cog=np.zeros((COUNT, 2)),
        zmp=np.zeros((COUNT, 2)),
        gave_up=None,
        recovery=None,
        landing=SimpleNamespace(early=0),
    )
    balancer = SimpleNamespace(gait=gait, whole=whole)
    prepared = SimpleNamespace(
        scenario=SimpleNamespace(
            simulation=SimpleNamespace(settle_s=0.0, timestep_s=1.0), fixtures=scenario.fixtures
        ),
        course=SimpleNamespace(asked=asked, strokes=np.array([[0, 1]])),
        timeline=timeline,
        mechanisms=mechanisms,
        seat=seat,
        balanced=SimpleNamespace(balancer=balancer) if robot.feet and seat is None else None,
        followed=None,
    )
    return build_log(prepared, robot, recorder)


@pytest.fixture(scope="module", params=["drawer", "knife", "pump", "puma560_valves"])
def log(request):
    """A humanoid with a drawer, with a freely standing fixture that is cut, on a stool; an arm."""
    return log_of(request.param)


def missing(log):
    """Names without an entry; that of a fixture counts only for what begins with a fixture's name."""
    known = {entry.name for entry in documented_names.log_entries()}
    fixtures = ("drawer", "knife", "pump", "stool", "valves")
    return [
        str(name)
        for name in (*log.variables, *log.attrs)
        if find_log_entry(name) is None or (name not in known and not name.startswith(fixtures))
    ]


def test_everything_in_a_log_has_an_entry_with_its_dimensions_and_unit(log):
    assert missing(log) == []
    for name, variable in log.variables.items():
        entry = find_log_entry(name)
        assert entry.dims == ", ".join(variable.dims), name
        units = [each.strip() for each in entry.unit.split(";")]
        assert variable.attrs.get("units", "").partition(";")[0] in (
            each.partition(" for ")[0] for each in units
        )
        assert variable.attrs["description"] == entry.description


def test_the_lists_hold_nothing_that_no_log_has(log):
    """Of what every run has, this log has everything."""
    names = {entry.name for entry in log_entries() if entry.present == "every run"}
    assert names - {str(name) for name in (*log.variables, *log.attrs)} == set()


def test_descriptions_are_in_the_file_and_logs_without_them_open(tmp_path):
    log = log_of("puma560_valves")
    write_log(log, tmp_path / "log.nc")
    assert open_run(tmp_path)["joint_position"].attrs["description"] == "Joint positions."
    for variable in log.variables.values():
        variable.attrs.pop("description", None)
    write_log(log, tmp_path / "log.nc")
    assert "description" not in open_run(tmp_path)["joint_position"].attrs


@pytest.mark.parametrize(
    ("name", "pattern"),
    [
        ("valves_left_turn", "<fixture>_<joint>"),
        ("valves_left_turn_velocity", "<fixture>_<joint>_velocity"),
        ("my-box_travel_actor", "<fixture>_<joint>_actor"),
        ("knife_cut_actor", "<fixture>_cut_actor"),
        ("grater_stand", "<fixture>_stand"),
    ],
)
def test_a_fixtures_variable_has_the_entry_of_the_longest_pattern(name, pattern):
    descriptions = {entry.name: entry.description for entry in log_entries()}
    assert find_log_entry(name).description == descriptions[pattern]
