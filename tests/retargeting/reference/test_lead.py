"""A way to the motion that no duration brings within the speed limits is refused, not sought for ever."""

import pytest

from simbench.errors import RetargetError
from simbench.retargeting.contact.equipment import Equipment
from simbench.retargeting.reference.whole_body import build_whole_body_reference
from simbench.retargeting.whole_body.plan import plan_motion
from simbench.robot.robot import load_robot
from simbench.runs.motion_source import scenario_motion
from simbench.runs.scenario.loading import load_scenario


def test_a_motion_that_begins_faster_than_allowed_is_refused():
    robot = load_robot("mahru")
    scenario = load_scenario("dance", ["motion.end_s=0.1", "simulation.lead_in_s=0.02"])
    motion = scenario_motion(scenario, [])
    plan = plan_motion(robot, motion, scenario.robot, scenario.retarget, Equipment(), lambda *_: None)
    with pytest.raises(RetargetError, match=r"way to the motion a joint is \d+\.\d\d times .* begin and end"):
        build_whole_body_reference(robot, plan, scenario.simulation, feedforward="none", speed_fraction=1e-3)
