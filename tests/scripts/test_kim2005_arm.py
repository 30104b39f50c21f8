"""The script that adapts arm motion within bounds, on a short recording."""

import sys

import numpy as np
import pinocchio as pin
import pytest
from script_modules import loaded_script

from simbench.kinematics.path_solver import PathBounds
from simbench.robot.robot import load_robot


@pytest.fixture(scope="module")
def script():
    with loaded_script("reproduce/kim2005_arm/kim2005_arm.py") as module:
        yield module


def test_violations_are_counted_by_backward_differences_from_rest(script):
    ones = np.ones(1)
    bounds = PathBounds(lower=-ones, upper=ones, speed=30.0 * ones, acceleration=3000.0 * ones)
    # At 60 Hz: 0.6 rad in a frame are 36 rad/s, and from rest 2160 rad/s²; the way back is 3 times that.
    assert script.violations(np.array([[0.0], [0.6], [-0.6]]), bounds) == (0, 2, 1)
    assert script.violations(np.array([[0.9], [1.1], [1.1]]), bounds) == (2, 0, 0)


def test_no_bound_is_violated_and_the_tables_are_kept(script, capsys):
    short = script.faster(script.perform_in_session(2018, 1, "waving").motion, 12)
    results = script.begin_results(script.__file__, [])
    script.report(load_robot("mahru"), dict.fromkeys(script.FIGURES, short), results)
    assert "It gives no numbers" in capsys.readouterr().out
    errors, findings, stress, simulated = results.tables
    assert [row[0] for row in errors.rows[::6]] == ["waving (54)", "signing (54)", "signing ×4 (14)"]
    bounded = [row for row in errors.rows if row[1] == "springs, accelerations bounded"]
    assert [row[7:10] for row in bounded] == [("0", "0", "0")] * 3
    assert len(findings.rows) == 6
    assert [row[3:] for row in stress.rows] == [("0", "0", "0")] * 2
    assert [row[0] for row in simulated.rows[::6]] == ["waving", "signing"]
    assert [row[2] for row in simulated.rows] == ["left", "right"] * 6
    # Every 12th frame: motion that is too fast to follow, but the controller does.
    assert results.checks[0].holds
    assert results.checks[0].what == "violations of bounds that were set: 0"


def test_pid_control_carries_the_weight_of_an_arm(script, tmp_path):
    """The integral brings a joint back to a reference that stays, without a model of the robot."""
    robot = script.held_robot("mahru", tmp_path)
    names = script.arm_joints(robot, "right")
    path = np.tile([0.2, -0.3, 0.1, -1.0, 0.2, 0.1], (120, 1))
    q, torque = script.simulate_pid(robot, names, path, 60.0)
    assert np.abs(q - path).max() > np.radians(0.3)
    assert np.abs(q[-1] - path[-1]).max() < np.radians(0.05)
    model, data = robot.model, robot.model.createData()
    full = robot.postures["basic"].copy()
    columns = [robot.joint_names.index(name) for name in names]
    full[columns] = path[-1]
    weight = pin.computeGeneralizedGravity(model, data, full)[columns]
    friction = robot.friction.coulomb[columns]
    assert (np.abs(torque[-1] - weight) <= friction + 0.05 * np.abs(weight) + 0.02).all()


def test_pictures(script, tmp_path):
    rng, time = np.random.default_rng(0), np.arange(20) / 60
    arms = {side: rng.normal(size=(20, 4, 3)) for side in ("left", "right")}
    figures = sys.modules["figures"]
    figures.draw_strip(tmp_path / "strip.png", time, [0, 10], arms, arms)
    figures.draw_hand(tmp_path / "hand.png", time, arms["left"][:, :3], 0.01 * arms["right"][:, :3])
    bounds = script.joint_bounds(load_robot("mahru"), ("RElbowPitch",))
    q = -0.5 - 0.1 * rng.random((20, 1))
    figures.draw_joints(tmp_path / "joints.png", time, ("RElbowPitch",), q, bounds, q)
    assert len(list(tmp_path.glob("*.png"))) == 3
