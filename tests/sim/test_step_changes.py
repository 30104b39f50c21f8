"""Options that errors about steps name: given back to the scenario, they are allowed."""

import re

import numpy as np
import pytest

from simbench.balance.inverted_pendulum import choose_gains
from simbench.balance.leg_ik import stand
from simbench.errors import BalanceError, LegReachError, StepReachError
from simbench.options import RobotSection, StepCommand, SteppingSection
from simbench.robot.robot import load_robot
from simbench.runs.preparation import Planning, complete_scenario, prepare
from simbench.runs.scenario.loading import load_scenario
from simbench.sim.step_changes import step_changes


@pytest.fixture(scope="module")
def mahru():
    return load_robot("mahru")


def _prepare(robot, overrides):
    scenario, _ = complete_scenario(robot, load_scenario("mahru_walk", overrides))
    return prepare(robot, scenario, Planning(), lambda *_: None)


SHORT = ["stepping.commands=[{forward_m: 0.6}]"]


@pytest.mark.parametrize("given", [["stepping.step_length_m=0.5"], ["robot.height_m=-0.6"]])
def test_options_that_an_error_names_are_allowed(mahru, given):
    with pytest.raises((LegReachError, StepReachError)) as caught:
        _prepare(mahru, [*SHORT, *given])
    named = re.findall(r"--set (\S+)", str(caught.value))
    assert named
    assert _prepare(mahru, [*SHORT, *given, *named]).balanced is not None


def test_both_ends_of_the_allowed_heights_are_allowed(mahru):
    with pytest.raises(LegReachError) as caught:
        stand(mahru, (0.0, 0.0), 0.0, "standing", -0.6)
    low, high = map(float, re.search(r"allowed: (\S+) to (\S+) m", str(caught.value)).groups())
    for height in (low, high):
        stance = stand(mahru, (0.0, 0.0), 0.0, "standing", height)
        assert np.all(stance.joints >= mahru.model.lowerPositionLimit[7:])
    with pytest.raises(LegReachError):
        stand(mahru, (0.0, 0.0), 0.0, "standing", low - 2e-3)


@pytest.mark.parametrize("omega", [2.0, 4.747, 9.0])
def test_gains_that_an_error_names_are_stable(omega):
    with pytest.raises(BalanceError) as caught:
        choose_gains(0.9 * omega, None, omega)
    cog, zmp = (
        float(re.search(rf"balance.{key}=(\S+)", str(caught.value))[1]) for key in ("gain_cog", "gain_zmp")
    )
    assert 0.0 < zmp < omega < cog
    assert choose_gains(cog, zmp, omega) == (cog, zmp)


def test_each_change_differs_in_what_its_options_name(mahru):
    section = RobotSection(name="mahru", posture="standing", height_m=-0.02)
    commands = (StepCommand(forward_m=0.4),)
    stepping = SteppingSection(commands=commands, step_length_m=0.2, step_width_m=0.1)
    changes = list(step_changes(mahru, section, stepping))
    options = [dict(option.split("=") for option in each.options(section, stepping)) for each in changes]
    assert all(options)
    # The command goes forward: steps sideways are not made.
    assert not any("stepping.step_width_m" in each for each in options)
    slower = [each for each, change in zip(options, changes, strict=True) if change.kind == "slower steps"]
    assert {*slower[0]} == {"stepping.single_support_s", "stepping.double_support_s"}
    assert float(slower[0]["stepping.single_support_s"]) > stepping.single_support_s
