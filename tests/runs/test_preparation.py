"""What a robot decides of a scenario is written into it before it is planned."""

import pytest

from simbench.errors import RetargetError
from simbench.options import RetargetSection, resolve_method
from simbench.retargeting.api import retarget_motion
from simbench.robot.robot import load_robot
from simbench.runs.preparation import Planning, arm_ratio, complete_scenario, plan_placements, prepare
from simbench.runs.scenario.loading import load_scenario


@pytest.mark.parametrize(
    ("name", "overrides", "method"),
    [
        ("mahru_wave", {}, "bones"),
        ("mahru_imitates_walk", {}, "bones"),
        ("mahru_wave", {"retarget.method": "ude"}, "ude"),
        ("mahru_wave", {"retarget.posture": "rescaled"}, "analytical"),
        ("drawer", {}, "analytical"),
        ("puma560_drawer", {}, "auto"),
        ("puma560_sweep", {}, "auto"),
    ],
)
def test_the_method_is_chosen_by_what_the_robot_does(name, overrides, method):
    scenario = load_scenario(name, overrides)
    completed, _ = complete_scenario(load_robot(scenario.robot.name), scenario)
    assert completed.retarget.method == method


def test_two_free_arms_above_a_fixed_base_are_imitated_by_the_scaled_model():
    section = RetargetSection()
    found = resolve_method(section, floating=False, both_arms=True, holds_equipment=False)
    assert found.method == "analytical"


def test_bones_need_a_robot_on_its_feet():
    with pytest.raises(RetargetError):
        retarget_motion("sample:wave", "ur5", method="bones", physics="stand")


def test_a_trunk_that_leans_is_followed_by_the_pelvis():
    trunk = []
    for share in (0.0, 1.0):
        settings = ["robot.name=mahru", "motion.source=deepmimic:humanoid3d_jump"]
        scenario = load_scenario("dance", [*settings, f"retarget.pelvis_turn_follow={share}"])
        robot = load_robot("mahru")
        completed, _ = complete_scenario(robot, scenario)
        course = prepare(robot, completed, Planning(cache=False), lambda *stage: None).course
        trunk.append(course.metrics["retarget.robot_trunk_mean_rad"])
        assert course.metrics["retarget.tempo_violation_fraction"] == 0.0
    assert trunk[1] < 0.75 * trunk[0]


def quiet(stage, done, total):
    """Report no progress."""


def test_smaller_equipment_lets_shorter_arms_do_as_the_person():
    robot, scenario = load_robot("mahru"), load_scenario("mahru_drawer", ["motion.end_s=4.0"])
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
