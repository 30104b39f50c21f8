"""Steps that follow from a robot's legs."""

from dataclasses import replace

import numpy as np
import pinocchio as pin
import pytest

from simbench.balance.leg_ik import leg_length, pelvis_heights
from simbench.errors import BalanceError
from simbench.options import BalanceSection, RobotSection, SimulationSection, SteppingSection
from simbench.robot.robot import load_robot
from simbench.sim.step_fitting import fit_steps

SETTINGS = SimulationSection(settle_s=0.5)
WALK = SteppingSection(commands=[{"forward_m": 0.5}])


@pytest.fixture(scope="module")
def mahru():
    return load_robot("mahru")


def fit(robot, stepping=WALK, **section):
    return fit_steps(robot, RobotSection(name=robot.name, **section), BalanceSection(), stepping, SETTINGS)


def limited(robot, column, upper):
    """The robot with another upper limit of a joint."""
    model = robot.model.copy()
    limit = model.upperPositionLimit.copy()
    limit[7 + column] = upper
    model.upperPositionLimit = limit
    return replace(robot, model=model)


def test_the_length_of_a_leg_is_the_height_of_the_first_joint_over_the_sole_when_it_is_straight(mahru):
    data = mahru.model.createData()
    pin.framesForwardKinematics(mahru.model, data, pin.neutral(mahru.model))
    hip = data.oMi[mahru.model.getJointId(mahru.groups["left_leg"][0])].translation
    sole = data.oMf[mahru.model.getFrameId(mahru.frames["left_foot"])].translation
    assert leg_length(mahru) == pytest.approx(hip[2] - sole[2], abs=1e-6)


def test_a_given_height_is_the_only_one(mahru):
    assert pelvis_heights(mahru, -0.03) == (-0.03,)
    heights = pelvis_heights(mahru, None)
    assert heights[0] == 0.0
    assert (np.diff(heights) < 0.0).all()


def test_what_is_given_stays(mahru):
    given = WALK.model_copy(
        update={"step_length_m": 0.15, "step_width_m": 0.1, "step_turn_rad": 0.3, "lift_m": 0.03}
    )
    section, stepping = fit(mahru, given, height_m=-0.05)
    assert stepping == given
    assert section.height_m == -0.05


def test_steps_are_in_proportion_to_the_legs(mahru):
    _, stepping = fit(mahru)
    assert 0.1 < stepping.step_length_m <= 0.26 * leg_length(mahru) + 1e-3
    assert stepping.step_width_m == pytest.approx(0.5 * stepping.step_length_m, rel=0.01)


def test_ankles_of_less_range_make_shorter_steps(mahru):
    sideways = SteppingSection(commands=[{"sideways_m": -0.2}])
    _, usual = fit(mahru, sideways)
    stiff = mahru
    for name in ("LAnkleRoll", "RAnkleRoll", "LHipRoll", "RHipRoll"):
        stiff = limited(stiff, stiff.joint_names.index(name), 0.15)
    _, shorter = fit(stiff, sideways)
    assert shorter.step_width_m < usual.step_width_m


def test_legs_that_cannot_step_say_why(mahru):
    stuck = mahru
    for name in ("LKneePitch", "RKneePitch"):
        stuck = limited(stuck, stuck.joint_names.index(name), 0.505)
    with pytest.raises(BalanceError, match=r"KneePitch would go to"):
        fit(stuck)
