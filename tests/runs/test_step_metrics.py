"""Where commands lead, and how far a robot ended from there."""

import math

import numpy as np
import pinocchio as pin
import pytest
from hypothesis import given
from hypothesis import strategies as st

from simbench.options import SteppingSection
from simbench.runs.metrics import commanded_displacement, step_metrics
from simbench.runs.scenario.loading import list_scenarios, load_scenario

FOLLOWS = {
    "base.forward_m": "stepping",
    "base.left_m": "stepping",
    "base.turn_rad": "stepping",
    "steps.count": "stepping",
    "push.survived_ns": "push",
    "push.survived_count": "push",
}
"""Metrics whose value follows from commands of a section, which a user may change with --set."""

DISTANCE = st.floats(-3.0, 3.0)
COMMAND = st.one_of(
    st.builds(lambda count: {"march": count}, st.integers(1, 9)),
    st.builds(lambda distance: {"forward_m": distance}, DISTANCE),
    st.builds(lambda distance: {"sideways_m": distance}, DISTANCE),
    st.builds(lambda angle: {"turn_rad": angle}, DISTANCE),
)


def section(*commands):
    return SteppingSection(commands=commands)


@given(st.lists(COMMAND, min_size=1, max_size=6))
def test_commands_are_composed_as_rigid_motions(commands):
    """Each in the frame where the one before ends: products of homogeneous transforms."""
    pose = pin.SE3.Identity()
    for command in commands:
        step = np.array([command.get("forward_m", 0.0), command.get("sideways_m", 0.0), 0.0])
        pose = pose * pin.SE3(pin.utils.rotate("z", command.get("turn_rad", 0.0)), step)
    forward, left, rotation = commanded_displacement(section(*commands).commands)
    np.testing.assert_allclose([forward, left], pose.translation[:2], atol=1e-12)
    assert math.remainder(rotation - math.atan2(pose.rotation[1, 0], pose.rotation[0, 0]), math.tau) == (
        pytest.approx(0.0, abs=1e-12)
    )


def test_whole_turns_are_counted():
    assert commanded_displacement(section({"turn_rad": 5.0}, {"turn_rad": 5.0}).commands) == (0.0, 0.0, 10.0)


def test_errors_are_distances_from_the_command():
    """The quarter turn makes the second metre one to the left."""
    measured = {"base.forward_m": 0.97, "base.left_m": 1.02, "base.turn_rad": 1.5, "steps.count": 18.0}
    commands = section({"forward_m": 1.0}, {"turn_rad": math.pi / 2}, {"forward_m": 1.0})
    errors = step_metrics(measured, commands, 20)
    assert errors == pytest.approx(
        {
            "base.forward_error_m": 0.03,
            "base.left_error_m": 0.02,
            "base.turn_error_rad": math.pi / 2 - 1.5,
            "steps.missed_count": 2.0,
        }
    )


def test_no_scenario_checks_a_number_that_its_commands_decide():
    """Otherwise the same scenario with other commands ends with a failed check, however well it went."""
    stepping = pushed = 0
    for name in list_scenarios():
        scenario = load_scenario(name)
        stepping += scenario.stepping is not None
        pushed += scenario.push is not None
        for metric, decides in FOLLOWS.items():
            assert getattr(scenario, decides) is None or metric not in scenario.checks, (name, metric)
    assert stepping >= 3
    assert pushed >= 2
