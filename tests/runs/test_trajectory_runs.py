"""Whole runs of robots' motions made elsewhere."""

import json

import numpy as np
import pytest
import sweep_by_hand as sweep

from simbench.balance.leg_ik import stand
from simbench.cli.main import main
from simbench.errors import ScenarioError
from simbench.robot.robot import load_robot
from simbench.runs.log import open_run
from simbench.runs.metrics import trajectory_metrics
from simbench.runs.motion_source import plan_scenario_trajectory
from simbench.runs.pipeline import run_scenario
from simbench.runs.scenario.loading import load_scenario, resolve_paths, scenario_files

RATE = 50.0


def write_table(path, robot, time, q, base=None):
    """Write simbench's own table by hand."""
    poses = ["base_x_m", "base_y_m", "base_z_m", "base_qx", "base_qy", "base_qz", "base_qw"]
    header = ["time_s", *(poses if base is not None else ()), *(f"{name}_rad" for name in robot.joint_names)]
    table = np.column_stack([time, q] if base is None else [time, base, q])
    np.savetxt(path, table, delimiter=",", header=",".join(header), comments="", fmt="%.9f")


@pytest.fixture(scope="module")
def puma_run(tmp_path_factory):
    """A sweep of PUMA 560 in closed form, as a table, run from the command line."""
    folder = tmp_path_factory.mktemp("puma")
    robot = load_robot("puma560")
    time = np.arange(0.0, 1.5, 1.0 / RATE)
    q, _, _ = sweep.closed_form(time, robot.postures["ready"], amplitude=0.3, settle=0.0)
    write_table(folder / "my sweep.csv", robot, time, q)
    status = main(["run", str(folder / "my sweep.csv"), "--robot", "puma560", "--out", str(folder / "run")])
    return folder, status


def test_an_arms_table_is_tracked_as_it_is(puma_run):
    folder, status = puma_run
    assert status == 0
    log = open_run(folder / "run")
    time = log["time"].values - log.attrs["motion_start_s"]
    used = (time >= 0.0) & (time <= 1.4)
    ready = load_robot("puma560").postures["ready"]
    wanted, _, _ = sweep.closed_form(time[used], ready, amplitude=0.3, settle=0.0)
    np.testing.assert_allclose(log["joint_trajectory"].values[used], wanted, atol=2e-4)
    np.testing.assert_allclose(log["joint_position"].values[used], wanted, atol=0.02)
    metrics = json.loads((folder / "run" / "metrics.json").read_text())
    inside = (time >= 0.0) & (time <= 1.48 + 1e-9)
    error = log["joint_position"].values[inside] - sweep.closed_form(time[inside], ready, 0.3, settle=0.0)[0]
    assert metrics["trajectory.joint_error_rms_rad"] == pytest.approx(np.sqrt(np.mean(error**2)), rel=0.02)


def test_the_default_scenario_is_named_after_the_file_and_keeps_its_digest(puma_run):
    folder, _ = puma_run
    scenario = load_scenario(folder / "run" / "scenario.yaml")
    assert scenario.name == "my_sweep"
    assert scenario.motion.source == f"trajectory:{folder / 'my sweep.csv'}"
    provenance = json.loads((folder / "run" / "provenance.json").read_text())
    assert provenance["trajectory"]["file"] == str(folder / "my sweep.csv")
    assert len(provenance["trajectory"]["sha256"]) == 64


def test_a_scenario_may_displace_the_robots_motion_by_as_little_as_rounding(puma_run):
    path = puma_run[0] / "run" / "scenario.yaml"
    plain, rounded = (
        plan_scenario_trajectory(load_robot("puma560"), load_scenario(path, overrides), lambda *_: None)
        for overrides in ((), ("variation.rounding_seed=4",))
    )
    moved = rounded.timeline.reference.position - plain.timeline.reference.position
    assert 0.0 < np.abs(moved).max() < 1e-10


@pytest.fixture(scope="module")
def romeo_run(tmp_path_factory):
    """ROMEO stands and moves a shoulder by 0.3 rad; the file's world is turned, shifted and 3 cm too low."""
    folder = tmp_path_factory.mktemp("romeo")
    robot = load_robot("romeo")
    time = np.arange(0.0, 1.2, 1.0 / RATE)
    share = sweep.minimum_jerk(time, 1.0)[0]
    q = np.tile(robot.postures["standing"], (len(time), 1))
    q[:, robot.joint_names.index("LShoulderPitch")] += 0.3 * share
    base = np.tile(stand(robot, (2.0, -1.0), 1.2, "standing").base, (len(time), 1))
    base[:, 2] -= 0.03
    write_table(folder / "wave.csv", robot, time, q, base)
    text = (
        "name: wave\nrobot: {name: romeo}\nmotion: {source: 'trajectory:wave.csv'}\nchecks: {fell: false}\n"
    )
    (folder / "wave.yaml").write_text(text)
    return folder, run_scenario(load_scenario(folder / "wave.yaml"), folder / "run")


def test_a_standing_motion_stands(romeo_run):
    _, result = romeo_run
    metrics = result.metrics
    assert not metrics["fell"]
    assert metrics["zmp.inside_fraction"] == 1.0
    assert metrics["feet.slip_m"] < 1e-3
    assert metrics["steps.count"] == 0
    assert metrics["trajectory.contact_agreement_fraction"] == 1.0
    assert metrics["trajectory.base_error_max_m"] < 0.01
    assert metrics["trajectory.floor_shift_m"] == pytest.approx(0.03, abs=1e-6)
    assert any("0.030 m below the floor" in note for note in result.notes)


def test_the_metrics_are_of_the_log(romeo_run):
    folder, result = romeo_run
    log = open_run(folder / "run")
    measured = trajectory_metrics(log)
    used = np.isfinite(log["joint_trajectory"].values[:, 0])
    apart = (log["base_pose"].values - log["base_trajectory"].values)[used, :2]
    assert measured["trajectory.base_error_mean_m"] == pytest.approx(np.hypot(*apart.T).mean(), rel=1e-9)
    off = (log["foot_pose"].values[..., :2] - log["foot_trajectory"].values[..., :2])[used]
    assert measured["trajectory.foot_error_max_m"] == pytest.approx(np.hypot(off[..., 0], off[..., 1]).max())
    for name, value in measured.items():
        assert result.metrics[name] == pytest.approx(value, rel=1e-6), name
    # The shoulder has moved by 0.3 rad at the end of the file.
    shoulder = log["joint_position"].sel(joint="LShoulderPitch").values
    start = load_robot("romeo").postures["standing"][load_robot("romeo").joint_names.index("LShoulderPitch")]
    assert shoulder[used][-1] - start == pytest.approx(0.3, abs=0.005)


def test_studies_depend_on_the_file(romeo_run, monkeypatch):
    folder, _ = romeo_run
    monkeypatch.chdir(folder)
    scenario = load_scenario("puma560_sweep", ["motion.source=trajectory:wave.csv", "motion.task={}"])
    resolved = resolve_paths(scenario)
    assert resolved.motion.source == f"trajectory:{folder / 'wave.csv'}"
    assert folder / "wave.csv" in scenario_files(resolved)


@pytest.mark.parametrize(
    ("arguments", "line"),
    [
        (["missing.csv", "--robot", "puma560"], "no such file"),
        (["wave.csv"], "say of which robot: --robot NAME"),
        (["wave.csv", "--robot", "romeo", "--set", "motion.unit=mm"], "unit is for a person's recording"),
        (["wave.csv", "--robot", "romeo", "--set", "motion.start_s=9"], "0 samples between motion.start_s"),
    ],
)
def test_bad_input_is_one_line(romeo_run, monkeypatch, capsys, arguments, line):
    folder, _ = romeo_run
    monkeypatch.chdir(folder)
    (folder / "person.bvh").write_text("HIERARCHY\n")
    assert main(["run", *arguments, "--out", "never"]) == 2
    said = capsys.readouterr().err.strip().splitlines()
    assert any(part in said[-1] for part in line.split("|")), said
    assert said[-1].startswith("error: ")
    assert not (folder / "never").exists()


def test_keys_of_trajectories_need_one():
    with pytest.raises(ScenarioError):
        load_scenario("g1_wave", ["motion.quaternion=xyzw"])
