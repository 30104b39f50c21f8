"""A new logged signal is one declaration: array, log variable and file follow from it."""

import numpy as np

from simbench.robot.robot import load_robot
from simbench.runs.log import open_run
from simbench.runs.pipeline import run_scenario
from simbench.runs.scenario.loading import load_scenario
from simbench.sim.control import command
from simbench.sim.recorder import Recorder
from simbench.sim.state import Signal


def test_a_signal_declared_once_reaches_the_log(tmp_path, monkeypatch):
    """The torque that the limits take away, declared beside the command that it is measured on."""
    clipped = Signal(
        "torque_clipped",
        ("joint",),
        "N m",
        "Requested torque that the motor cannot give.",
        lambda given: given.requested - given.motor,
    )
    monkeypatch.setattr(command, "COMMAND_SIGNALS", (*command.COMMAND_SIGNALS, clipped))
    run_scenario(load_scenario("puma560_sweep", ["simulation.hold_s=0.1"]), tmp_path / "run")
    log = open_run(tmp_path / "run")
    variable = log["torque_clipped"]
    assert variable.dims == ("time", "joint")
    assert variable.attrs["units"] == "N m"
    np.testing.assert_array_equal(variable, log["torque_requested"] - log["torque_motor"])
    assert len(variable) == len(log["time"]) > 100


def test_arrays_follow_the_declarations(romeo):
    recorder = Recorder(7, romeo)
    joints = len(romeo.joint_names)
    assert recorder["torque_motor"].shape == (7, joints)
    assert recorder["foot_points"].shape == (7, 2, 4, 2)
    assert np.isnan(recorder["foot_points"]).all()
    assert recorder["grip_engaged"].dtype == bool
    assert all(signal.description.endswith(".") for signal in recorder.signals.values())


def test_a_sample_goes_to_the_next_row(romeo):
    recorder = Recorder(3, romeo)
    recorder.count = 1
    joints = len(romeo.joint_names)
    recorder.record(recorder.reference, np.arange(joints))
    np.testing.assert_array_equal(recorder["joint_reference"][1], np.arange(joints))
    assert not recorder["joint_reference"][[0, 2]].any()


def test_the_base_is_sampled_only_if_it_moves(romeo):
    fixed = Recorder(1, load_robot("puma560"))
    assert len(Recorder(1, romeo).state) == 4
    assert len(fixed.state) == 2
    assert "base_pose" in fixed.signals
