"""What another size of the equipment brings, planned."""

import pytest

from simbench import load_robot
from simbench.runs.preparation import arm_ratio, plan_placements
from simbench.runs.scenario.loading import load_scenario


def quiet(stage, done, total):
    """Report no progress."""


def test_smaller_equipment_lets_shorter_arms_do_as_the_person():
    robot, scenario = load_robot("mahru"), load_scenario("mahru_drawer", ["motion.end_s=8.0"])
    ratio = arm_ratio(robot, scenario)
    assert ratio == pytest.approx(0.89, abs=0.01)
    scales = [1.0, round(ratio, 2), 0.3]
    own, small, tiny = plan_placements(robot, scenario, scales, quiet, places=("given",))
    forearm = "retarget.robot_forearm_mean_rad"
    assert small.metrics[forearm] < 0.7 * own.metrics[forearm]
    assert own.base == pytest.approx(small.base, abs=0.02)
    assert tiny.fault
    assert not tiny.metrics


def test_without_human_arms_there_is_no_ratio():
    assert arm_ratio(load_robot("ur5"), load_scenario("ur5_drawer")) is None
