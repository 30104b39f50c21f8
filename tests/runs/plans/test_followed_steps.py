"""What a scenario with legs that follow the person's steps asks for in vain is refused or told."""

from types import SimpleNamespace

import pytest

from simbench.cli.main import main
from simbench.robot.robot import load_robot
from simbench.runs import run_plan as plans
from simbench.runs.motion_source import scenario_motion
from simbench.runs.scenario.loading import load_scenario


@pytest.mark.parametrize(
    ("scenario", "told"),
    [
        ("mahru_drawer", "hands hold nothing; allowed: a scenario without fixtures"),
        ("mahru_walk", "stepping: the legs follow the person's steps; allowed"),
        ("g1_wave", "lacks left_knee, right_knee, left_ankle, right_ankle; allowed: stand"),
    ],
)
def test_what_legs_cannot_follow_is_refused_in_one_line(scenario, told, tmp_path, capsys):
    out = tmp_path / "run"
    assert main(["run", scenario, "--set", "retarget.physics=steps", "--out", str(out)]) == 2
    error = capsys.readouterr().err.strip().splitlines()[-1]
    assert error.startswith("error: ")
    assert told in error
    assert not out.exists()


def test_settings_without_effect_are_told(monkeypatch):
    overrides = ["retarget.timing=local", "balance.embedding=false"]
    scenario = load_scenario("mahru_imitates_walk", overrides)
    robot = load_robot("mahru")
    inputs = plans.collect_inputs(robot, scenario, [], scenario_motion(scenario, []))
    nothing = SimpleNamespace(timeline=None, metrics={}, whole=None, notes=("planned",), doubts=())
    monkeypatch.setattr(plans, "plan_step_following", lambda *_: nothing)
    notes = plans.make_plan(robot, inputs, lambda *_: None).notes
    assert [note.partition(" ")[0] for note in notes] == ["retarget.timing:", "balance.embedding:", "planned"]
