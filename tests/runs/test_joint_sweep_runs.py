"""Whole runs of a robot with a fixed base that sweeps its joints."""

import itertools
import json
from types import SimpleNamespace

import numpy as np
import pinocchio as pin
import pytest
import sweep_by_hand as sweep

from simbench.cli.main import main
from simbench.robot.robot import load_robot
from simbench.runs.baseline import Expectation, check_metrics
from simbench.runs.log import open_run
from simbench.runs.pipeline import run_scenario
from simbench.runs.regression import evaluate_run
from simbench.runs.scenario.loading import load_scenario
from simbench.sim.bullet.bullet_bodies import BulletRobot

DT = 1e-3


@pytest.fixture(scope="module")
def puma():
    return load_robot("puma560")


@pytest.fixture(scope="module")
def laws(tmp_path_factory):
    """The scenario that ships under its own law and under PD."""
    made = {}
    changes = {
        "pd": ["control.law=pd", "control.feedforward=none"],
        "pd + gravity": ["control.law=pd", "control.feedforward=gravity"],
        "computed torque": [],
    }
    for name, overrides in changes.items():
        folder = tmp_path_factory.mktemp("sweep") / "run"
        result = run_scenario(load_scenario("puma560_sweep", overrides), folder)
        made[name] = SimpleNamespace(folder=folder, log=open_run(folder), result=result)
    return made


def true_errors(log, robot):
    """Reference by its closed form, at the time of the sample, minus position, (T, 6)."""
    wanted, _, _ = sweep.closed_form(log["time"].values, robot.postures["ready"])
    return wanted - log["joint_position"].values


def test_the_laws_rank_as_theory_says(laws, puma):
    """Weight is what only joints 2, 3 and 5 feel; friction is what computed torque stiffens against."""
    rms = {
        name: np.sqrt(np.mean(true_errors(run.log, puma)[100:] ** 2, axis=0)) for name, run in laws.items()
    }
    pd, gravity, computed = rms["pd"], rms["pd + gravity"], rms["computed torque"]
    assert (gravity[[1, 2]] < 0.7 * pd[[1, 2]]).all()
    # Joint 1 is vertical and joints 4 and 6 carry next to nothing.
    np.testing.assert_allclose(gravity[[0, 3, 5]], pd[[0, 3, 5]], rtol=0.02)
    assert (computed < 0.7 * gravity).all()
    whole = [float(np.sqrt(np.mean(values**2))) for values in (computed, gravity, pd)]
    assert whole[0] < 0.5 * whole[1] < 0.5 * 0.95 * whole[2]
    logged = [run.result.metrics["tracking.rms_rad"] for run in laws.values()]
    assert logged == sorted(logged, reverse=True)
    assert logged[-1] <= 0.005


def test_what_is_left_is_friction_over_the_laws_stiffness(laws, puma):
    """Joint 6 turns hardly more than its rotor, and no weight: at the greatest speed, where a_r passes zero,

    e = τ / (J ω²) (1 + ω dt)² for computed torque, τ its friction. PD does not know a_r either, and its error
    is (a_r − 2 a_r' / ω) / ω² more, with a_r' = −30 A / T³ there.
    """
    friction = puma.friction.coulomb[5] + puma.friction.viscous[5] * 1.0
    middle, inertia = 0.5 + 0.5 * 1.875, 0.193 + 4e-5
    slow, fast = 2.0 * np.pi * np.array([6.0, 10.0])
    expected = {
        "pd + gravity": friction / (inertia * slow**2) + 60.0 / 1.875**3 / slow**3,
        "computed torque": friction / (inertia * fast**2) * (1.0 + fast * DT) ** 2,
    }
    for name, value in expected.items():
        log = laws[name].log
        row = int(np.argmin(np.abs(log["time"].values - middle)))
        assert true_errors(log, puma)[row, 5] == pytest.approx(value, rel=0.01), name


def test_at_rest_stiffness_and_friction_carry_the_weight(laws, puma):
    """At the end PD alone holds still: K (q_r − q) + friction = weight, by the potential energy's slope."""
    last = laws["pd"].log.isel(time=-1)
    q = last["joint_position"].values
    weight = pin.computeGeneralizedGravity(puma.model, puma.model.createData(), q)
    spring = puma.motors.stiffness * (puma.postures["ready"] - q)
    np.testing.assert_allclose(spring + last["torque_friction"].values, weight, rtol=0, atol=1e-3)
    assert (np.abs(last["torque_friction"]) <= puma.friction.breakaway + 1e-9).all()
    assert np.abs(weight).max() > 20.0
    assert np.abs(last["joint_velocity"]).max() < 1e-6


def test_the_run_directory_is_whole(laws):
    run = laws["computed torque"]
    assert sorted(path.name for path in run.folder.iterdir()) == [
        "log.nc", "metrics.json", "provenance.json", "scenario.yaml",
    ]  # fmt: skip
    assert all(check.passed for check in run.result.checks)
    assert len(run.result.checks) == 4
    metrics = json.loads((run.folder / "metrics.json").read_text(encoding="utf-8"))
    assert metrics == run.result.metrics
    assert "fell" not in metrics
    assert not any(key.startswith(("zmp", "cog", "standing", "hands", "grip", "retarget")) for key in metrics)
    assert {"tracking.rms_rad", "tracking.max_rad", "limits.speed_ratio"} < metrics.keys()
    assert metrics.pop("engine") == "bullet"
    assert np.isfinite(list(metrics.values())).all()
    assert load_scenario(run.folder / "scenario.yaml") == load_scenario("puma560_sweep")


def test_the_log_is_that_of_a_robot_without_feet(laws, puma):
    log = laws["computed torque"].log
    # 0.5 s of settling, two ways of 1.875 s, two pauses of 0.25 s, 0.5 s of hold, at 200 Hz.
    assert dict(log.sizes) | {"foot": 0, "joint": 6, "hand": 1, "time": 1050, "contact": 0} == dict(log.sizes)
    assert not [name for name in log.data_vars if name.startswith(("zmp", "support"))]
    np.testing.assert_array_equal(log["base_pose"].values, np.tile([0, 0, 0, 0, 0, 0, 1.0], (1050, 1)))
    assert not log["base_velocity"].values.any()
    numeric = [name for name, data in log.data_vars.items() if data.dtype.kind == "f"]
    assert all(np.isfinite(log[name].values).all() for name in numeric)
    # COG of what moves, not of the pedestal: by hand from Pinocchio's frames.
    model, data = puma.model, puma.model.createData()
    row = 400
    q = log["joint_position"].values[row]
    pin.framesForwardKinematics(model, data, q)
    moments = np.zeros(3)
    for own, place in zip(model.inertias[1:], list(data.oMi)[1:], strict=True):
        moments = moments + own.mass * place.act(own.lever)
    assert log.attrs["mass_kg"] == pytest.approx(36.45)
    np.testing.assert_allclose(log["cog"].values[row], moments / 36.45, atol=1e-6)


def test_friction_is_logged_and_works_against_the_motion(laws, puma):
    friction, speed = (
        laws["computed torque"].log[name].values for name in ("torque_friction", "joint_velocity")
    )
    moving = np.abs(speed) > 0.02
    assert moving.mean() > 0.5
    assert (friction[moving] * speed[moving] < 0.0).all()
    expected = -np.sign(speed) * puma.friction.coulomb - puma.friction.viscous * speed
    # Friction is that of the step that follows the sample.
    accelerating = puma.friction.viscous * 2.5 * DT
    assert (np.abs(friction - expected) <= accelerating + 1e-6)[moving].all()


def test_the_robot_stands_where_the_scenario_puts_it(tmp_path, laws):
    """Turned by 0.7 rad and moved: palm, COG and base do the same, and the joints move alike."""
    overrides = ["robot.position_m=[0.4,-0.3]", "robot.heading_rad=0.7"]
    run_scenario(load_scenario("puma560_sweep", overrides), tmp_path / "run")
    placed, usual = open_run(tmp_path / "run"), laws["computed torque"].log
    turn = np.array([[np.cos(0.7), -np.sin(0.7), 0], [np.sin(0.7), np.cos(0.7), 0], [0, 0, 1]])
    place = np.array([0.4, -0.3, 0.0])
    for name in ("palm_position", "cog"):
        expected = usual[name].values @ turn.T + place
        np.testing.assert_allclose(placed[name].values, expected, atol=1e-5)
    base = [0.4, -0.3, 0.0, 0.0, 0.0, np.sin(0.35), np.cos(0.35)]
    np.testing.assert_allclose(placed["base_pose"].values, np.tile(base, (1050, 1)), atol=1e-7)
    np.testing.assert_allclose(placed["joint_position"].values, usual["joint_position"].values, atol=1e-5)


DOOR = """
<robot name="door">
  <link name="frame"/>
  <link name="leaf">
    <inertial>
      <origin xyz="0.4 0 1"/><mass value="20"/>
      <inertia ixx="7" ixy="0" ixz="0" iyy="8" iyz="0" izz="1.1"/>
    </inertial>
  </link>
  <joint name="hinge" type="revolute">
    <parent link="frame"/><child link="leaf"/><axis xyz="0 0 1"/>
    <limit lower="-0.5" upper="2.5" effort="100" velocity="2"/>
  </joint>
</robot>
"""


@pytest.mark.parametrize("law", ["pd", "computed_torque"])
def test_a_robot_of_one_joint_without_hands_sweeps_too(tmp_path, law):
    """1.1 + 20 · 0.4² = 4.3 kg·m² about the hinge: torque = 4.3 q̈, without weight and friction."""
    (tmp_path / "door.urdf").write_text(DOOR, encoding="utf-8")
    (tmp_path / "robot.yaml").write_text(
        "name: door\nurdf: door.urdf\nbase: fixed\ngroups: {}\ngains: auto\npostures: {shut: {}}\n",
        encoding="utf-8",
    )
    overrides = [f"robot.name={tmp_path / 'robot.yaml'}", "robot.posture=shut", f"control.law={law}"]
    result = run_scenario(load_scenario("puma560_sweep", overrides), tmp_path / "run")
    log = open_run(tmp_path / "run")
    assert (log.sizes["joint"], log.sizes["hand"]) == (1, 0)
    # Logged torques belong to the step after the sample.
    _, _, acceleration = sweep.closed_form(log["time"].values + 0.5 * DT, np.zeros(6))
    torque = log["torque_motor"].values[:, 0]
    # Within what the greatest jerk, 60 A / T³, makes of it in a step.
    np.testing.assert_allclose(torque, 4.3 * acceleration[:, 0], rtol=0, atol=4.3 * 60 / 1.875**3 * DT)
    assert np.abs(torque).max() > 5.0
    assert result.metrics["contact.self_count"] == 0.0


@pytest.fixture(scope="module")
def exploded(tmp_path_factory):
    """A run whose state is no number from 0.3 s on."""
    read_state = BulletRobot.read_state
    reads = itertools.count()

    def broken(self, state):
        read_state(self, state)
        if next(reads) >= 300:
            state.v[2] = np.nan

    folder = tmp_path_factory.mktemp("exploded") / "run"
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(BulletRobot, "read_state", broken)
        status = main(["run", "puma560_sweep", "--out", str(folder)])
    return status, folder


def test_a_run_that_explodes_fails_and_keeps_what_came_before(exploded):
    status, folder = exploded
    assert status == 1
    metrics = json.loads((folder / "metrics.json").read_text(encoding="utf-8"))
    assert metrics["simulation.diverged_s"] == pytest.approx(0.3)
    assert {name.partition(".")[0] for name in metrics} == {"engine", "simulation", "timing"}
    assert None not in metrics.values()
    log = open_run(folder)
    assert log["time"].values[-1] == pytest.approx(0.295)
    for name, variable in log.data_vars.items():
        if name not in ("palm_target", "palm_actor") and variable.dtype.kind == "f":
            assert np.isfinite(variable.values).all(), name
    assert log.attrs["diverged"].startswith(
        "physics diverged at 0.300 s: joint joint3 (speed nan rad/s) first"
    )


def test_a_run_that_explodes_is_no_new_baseline_and_fails_a_check(exploded):
    metrics = json.loads((exploded[1] / "metrics.json").read_text(encoding="utf-8"))
    scenario = load_scenario("puma560_sweep")
    baseline = {name: Expectation(1.0) for name in ("tracking.rms_rad", "torque.rms_nm")}
    verdicts, failed = evaluate_run(baseline, metrics, check_metrics(scenario.checks, metrics))
    assert verdicts == ()
    assert [check.name for check in failed] == ["simulation.diverged_s"]
