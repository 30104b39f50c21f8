"""A robot that is described by its URDF alone does what the one with a hand-written description does."""

import json

from simbench.robot.robot import load_robot
from simbench.robot.scaffold.scaffold import scaffold_robot
from simbench.robot.scaffold.writing import write_scaffold
from simbench.runs.pipeline import run_scenario
from simbench.runs.scenario.loading import load_scenario


def test_a_guessed_arm_opens_the_drawer_and_touches_nothing_else(tmp_path):
    """The straight way back from the drawer passes through it."""
    write_scaffold(scaffold_robot(load_robot("puma560").urdf), tmp_path / "guessed")
    robot = tmp_path / "guessed" / "robot.yaml"
    run_scenario(load_scenario("puma560_drawer", [f"robot.name={robot}"]), tmp_path / "run")
    metrics = json.loads((tmp_path / "run" / "metrics.json").read_text(encoding="utf-8"))
    assert metrics["contact.equipment_unintended_count"] == 0
    assert metrics["drawer.travel_ratio"] > 0.95
