"""Whole runs: the two scenarios that ship, in full, and what goes wrong."""

import contextlib
import io
import itertools
import json
import os
import re
import shutil
import signal
import subprocess
import sys
from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pinocchio as pin
import pytest
from scipy.signal import butter, sosfiltfilt
from scipy.spatial import ConvexHull

import simbench
from simbench.balance.leg_ik import stand
from simbench.cli.main import main
from simbench.motion.readers import read_motion
from simbench.motion.shipped import clip_folder
from simbench.resources import resource_dir
from simbench.retargeting.api import retarget_motion
from simbench.runs import motion_source
from simbench.runs import pipeline as api
from simbench.runs.baseline import check_metrics
from simbench.runs.log import open_run
from simbench.runs.pipeline import run_scenario
from simbench.runs.preparation import complete_scenario
from simbench.runs.run_directory import MARKER, incomplete_path
from simbench.runs.scenario.loading import load_scenario, scenario_mechanisms
from simbench.sim.fixtures.mechanism import handle_poses

FILES = ["log.nc", "metrics.json", "provenance.json", "scenario.yaml"]
# A few seconds instead of ten.
SHORT = [
    "motion.end_s=0.4",
    "retarget.method=analytical",
    "retarget.timing=uniform",
    "simulation.lead_in_s=0.6",
    "simulation.hold_s=0.1",
]


def opened(folder):
    metrics = json.loads((folder / "metrics.json").read_text(encoding="utf-8"))
    return SimpleNamespace(folder=folder, log=open_run(folder), metrics=metrics)


@pytest.fixture(scope="session")
def drawer(drawer_run):
    """The scenario `drawer` in full, by the command line."""
    return opened(drawer_run())


@pytest.fixture(scope="session")
def dance(tmp_path_factory):
    """The scenario `dance` in full, by the Python interface."""
    folder = tmp_path_factory.mktemp("dance") / "run"
    seen = []
    result = run_scenario(
        load_scenario("dance"),
        folder,
        on_progress=lambda stage, done, total: seen.append((stage, done, total)),
    )
    return SimpleNamespace(result=result, seen=seen, **vars(opened(folder)))


# What the two scenarios have to show, whatever their files check.
BOTH = {
    "imitation.hand_mean_m": 0.003,
    "imitation.hand_max_m": 0.010,
    "limits.position_violation_rad": 0.0,
    "limits.speed_ratio": 1.0,
    "limits.torque_ratio": 1.0,
    "zmp.still_difference_rms_m": 0.005,
    "feet.still_load_error_fraction": 0.01,
    "contact.equipment_unintended_count": 0.0,
    "contact.floor_unintended_count": 0.0,
    "contact.self_count": 0.0,
}
MOST = {
    "drawer": BOTH | {"tracking.rms_rad": 0.03, "hands.rms_m": 0.010, "grip.lost": 0.0},
    "dance": BOTH | {"tracking.rms_rad": 0.05},
}
LEAST = {
    "drawer": {"drawer.travel_ratio": 0.95, "zmp.inside_fraction": 1.0},
    "dance": {"zmp.inside_fraction": 1.0},
}


@pytest.mark.parametrize("name", ["drawer", "dance"])
def test_the_scenario_holds_every_bound(request, name):
    run = request.getfixturevalue(name)
    metrics = run.metrics
    assert metrics["fell"] is False
    too_much = {key: metrics[key] for key, bound in MOST[name].items() if not metrics[key] <= bound}
    too_little = {key: metrics[key] for key, bound in LEAST[name].items() if not metrics[key] >= bound}
    assert not too_much
    assert not too_little
    assert metrics["timing.realtime_factor"] > 0.0
    assert metrics["timing.step_overhead"] > 1.0


def test_all_checks_of_the_drawer_hold(drawer):
    """As the command's status says too."""
    checks = check_metrics(load_scenario("drawer").checks, drawer.metrics)
    assert {check.name for check in checks if check.passed} == set(load_scenario("drawer").checks)


def test_the_python_interface_returns_what_it_wrote(dance):
    assert all(check.passed for check in dance.result.checks)
    assert {check.name for check in dance.result.checks} == set(load_scenario("dance").checks)
    assert dance.result.directory == dance.folder
    assert dance.result.video_file is None
    assert dance.result.metrics == dance.metrics


@pytest.mark.parametrize("name", ["drawer", "dance"])
def test_a_run_directory_holds_what_a_repetition_needs(request, romeo, name):
    run = request.getfixturevalue(name)
    record = json.loads((run.folder / "provenance.json").read_text(encoding="utf-8"))
    video = ["video.mp4"] if "--video" in record["command"] else []
    assert sorted(path.name for path in run.folder.iterdir()) == FILES + video
    assert not incomplete_path(run.folder).exists()
    completed, _ = complete_scenario(romeo, load_scenario(name))
    assert load_scenario(run.folder / "scenario.yaml") == completed
    assert record["seed"] == load_scenario(name).seed
    assert record["robot"]["origin"] == "shipped"
    assert [path.split("/")[-1] for path in record["robot"]["files"]] == ["robot.yaml", "romeo.urdf"]
    assert {"pybullet", "pin"} <= {package.replace("-arm64", "") for package in record["packages"]}


@pytest.mark.parametrize("name", ["drawer", "dance"])
def test_every_variable_of_the_log_has_units_and_a_shape_with_names(request, romeo, name):
    log = request.getfixturevalue(name).log
    assert [key for key, data in log.data_vars.items() if "units" not in data.attrs] == []
    assert log["time"].attrs["units"] == "s"
    np.testing.assert_allclose(np.diff(log.time), 0.005, atol=1e-12)
    assert log["joint_position"].dims == ("time", "joint")
    assert log["foot_wrench"].dims == ("time", "foot", "axis6")
    assert list(log["joint"].values) == list(romeo.joint_names)
    for key in ("joint_position", "torque_motor", "base_pose", "cog", "foot_wrench", "zmp_from_momentum"):
        assert np.isfinite(log[key].values).all(), key


@pytest.mark.parametrize(("name", "lean"), [("drawer", 0.05), ("dance", 0.2)])
def test_the_zmp_stays_within_the_real_soles_and_the_robot_upright(request, romeo, name, lean):
    """From the logged forces and the sole rectangles, without the points that the contacts report.

    The dancer's trunk leans, and the pelvis with it.
    """
    log = request.getfixturevalue(name).log.sel(time=slice(0.5, None))
    scenario = load_scenario(name)
    stance = stand(romeo, scenario.robot.position_m, scenario.robot.heading_rad, scenario.robot.posture)
    corners = [
        stance.soles[side].act(corner)[:2]
        for side in ("left", "right")
        for corner in romeo.soles[f"{side}_foot"]
    ]
    ground = log["foot_wrench"].values.sum(axis=1)
    zmp = np.stack([-ground[:, 4], ground[:, 3]], axis=1) / ground[:, 2:3]
    np.testing.assert_allclose(log["zmp"], zmp, atol=1e-9)
    outside = zmp @ ConvexHull(corners).equations[:, :2].T + ConvexHull(corners).equations[:, 2]
    assert outside.max() < -0.01
    # As measured by the contact points, to a millimetre or two.
    np.testing.assert_allclose(log["zmp_margin"], -outside.max(axis=1), atol=0.003)
    pose = log["base_pose"].values
    assert pose[:, 2].min() > 0.97 * pose[0, 2]
    upright = [pin.Quaternion(quaternion).matrix()[2, 2] for quaternion in pose[:, 3:]]
    assert min(upright) > np.cos(lean)


@pytest.mark.parametrize(
    ("name", "rms", "most", "away"), [("drawer", 0.003, 0.007, 0.005), ("dance", 0.0003, 0.0025, 0.01)]
)
def test_two_ways_to_the_zmp_agree_all_the_time(request, name, rms, most, away):
    """From contact forces, and from the robot's motion with the forces of grips, by Newton and Euler.

    The latter is the momentum's difference over 10 ms: the mean force of that time, so the former's mean is
    what it is compared with.
    """
    log = request.getfixturevalue(name).log.sel(time=slice(0.5, None))
    contacts = log["zmp"].values
    mean = 0.25 * contacts[:-2] + 0.5 * contacts[1:-1] + 0.25 * contacts[2:]
    difference = np.linalg.norm(mean - log["zmp_from_momentum"].values[1:-1], axis=1)
    assert np.sqrt(np.mean(difference**2)) < rms
    assert difference.max() < most
    # It says something only because the ZMP leaves the COG's projection.
    assert np.linalg.norm(log["zmp"].values - log["cog"].values[:, :2], axis=1).max() > away


@pytest.mark.parametrize("name", ["drawer", "dance"])
def test_joints_stay_within_the_limits_of_the_urdf_and_on_their_reference(request, romeo, name):
    run = request.getfixturevalue(name)
    log, model = run.log, romeo.model
    position, velocity = log["joint_position"].values, log["joint_velocity"].values
    assert (log["lowest_position"].values <= position.min(axis=0)).all()
    assert (log["lowest_position"].values >= model.lowerPositionLimit[7:]).all()
    assert (log["highest_position"].values >= position.max(axis=0)).all()
    assert (log["highest_position"].values <= model.upperPositionLimit[7:]).all()
    assert (log["highest_speed"].values >= np.abs(velocity).max(axis=0)).all()
    assert (log["highest_speed"].values <= model.velocityLimit[6:]).all()
    assert (np.abs(log["torque_motor"].values) <= model.effortLimit[6:]).all()
    # The speeds are those of the positions, to what 200 Hz resolve.
    seen = (position[2:] - position[:-2]) / 0.01
    assert np.sqrt(np.mean((seen - velocity[1:-1]) ** 2)) < 0.01
    grips = [romeo.joint_names.index(joint) for hand in romeo.hands.values() for joint in hand.joints]
    error = np.delete(position - log["joint_reference"].values, grips, axis=1)[log.time.values >= 0.5]
    assert run.metrics["tracking.rms_rad"] == pytest.approx(np.sqrt(np.mean(error**2)), rel=1e-9)


def test_the_dance_moves_the_upper_body(dance):
    """The clip's arms swing: some joints turn by more than a radian."""
    position = dance.log["joint_position"].to_pandas()
    travel = position.max() - position.min()
    assert (
        travel[[f"{side}{joint}" for side in "LR" for joint in ("ShoulderPitch", "ElbowRoll")]] > 0.3
    ).all()
    assert (travel > 1.0).sum() >= 4
    assert dance.metrics["retarget.duration_s"] > 2.0


def test_the_palms_are_on_the_drawer_that_they_move(drawer, romeo):
    """Palms by forward kinematics of the logged joints, handles from the logged opening: no log of a palm."""
    log = drawer.log
    [mechanism] = scenario_mechanisms(load_scenario("drawer"))
    handles = handle_poses(mechanism, log["drawer_travel"].values[:, None])
    data = romeo.model.createData()
    frames = [romeo.model.getFrameId(romeo.frames[f"{side}_hand"]) for side in ("left", "right")]
    held = log["grip_engaged"].values.all(axis=1)
    assert held.sum() * 0.005 > 10.0
    apart = []
    for sample in np.flatnonzero(held)[::10]:
        q = np.concatenate([log["base_pose"].values[sample], log["joint_position"].values[sample]])
        pin.framesForwardKinematics(romeo.model, data, q)
        for row, side in enumerate(("left", "right")):
            palm = data.oMf[frames[row]].translation
            np.testing.assert_allclose(log["palm_position"].values[sample, row], palm, atol=1e-9)
            apart.append(np.linalg.norm(palm - handles[side][sample, :3, 3]))
    assert max(apart) < 0.010
    # While in contact the wood pushes back: the grips' forces along the slide move the drawer.
    assert 2.0 < np.abs(log["grip_wrench"].values[held][:, :, 0].sum(axis=1)).max() < 30.0


def test_the_drawer_goes_along_with_all_five_strokes(drawer):
    log = drawer.log
    strokes = log["strokes"].values
    assert strokes.shape == (5, 2)
    shares = []
    for start, end in strokes:
        during = log.sel(time=slice(start, end))
        travel = np.ptp(during["drawer_travel"].values)
        wanted = np.ptp(during["drawer_travel_actor"].values)
        # The person's stroke: 110 mm, varied by a few percent.
        assert wanted == pytest.approx(0.11, rel=0.1)
        shares.append(travel / wanted)
        # At each moment it is where the person had it.
        behind = (during["drawer_travel"] - during["drawer_travel_actor"]).values
        assert np.abs(behind).max() < 0.006
    assert min(shares) >= 0.95
    assert max(shares) < 1.05
    assert drawer.metrics["drawer.travel_ratio"] == pytest.approx(min(shares), abs=1e-9)
    # Between strokes it is back where it was.
    closed = log["drawer_travel"].interp(time=strokes[:, 0]).values
    np.testing.assert_allclose(closed, 0.12, atol=0.006)


def test_only_hands_touch_the_equipment_and_only_feet_the_floor(drawer):
    log = drawer.log
    pairs = set(zip(log["contact_first"].values.tolist(), log["contact_second"].values.tolist(), strict=True))
    hands = {f"romeo/{side}_{part}" for side in "lr" for part in ("wrist", "fingers")}
    assert {first for first, second in pairs if second == "drawer/drawer"} <= hands
    assert {second for _, second in pairs} == {"floor", "drawer/drawer"}
    assert {first for first, second in pairs if second == "floor"} == {"romeo/l_ankle", "romeo/r_ankle"}
    left, right = (
        {first for first, _ in pairs} & {f"romeo/{side}_wrist", f"romeo/{side}_fingers"} for side in "lr"
    )
    assert left
    assert right


@pytest.fixture(scope="module")
def variants(tmp_path_factory):
    """The beginning of the dance with each kind of feed-forward; the last fails a check."""
    made = {}
    for kind in ("none", "gravity"):
        folder = tmp_path_factory.mktemp("feedforward") / kind
        run_scenario(load_scenario("dance", [*SHORT, f"control.feedforward={kind}"]), folder)
        made[kind] = opened(folder)
    folder = tmp_path_factory.mktemp("feedforward") / "inverse_dynamics"
    overrides = [*SHORT, "control.feedforward=inverse_dynamics", "checks.tracking.rms_rad.max=1e-9"]
    arguments = [text for override in overrides for text in ("--set", override)]
    with contextlib.redirect_stderr(io.TextIOWrapper(io.BytesIO(), encoding="utf-8")) as errors:
        status = main(["run", "dance", "--out", str(folder), *arguments])
    errors.seek(0)
    made["inverse_dynamics"] = SimpleNamespace(status=status, errors=errors.read(), **vars(opened(folder)))
    return made


def test_without_feedforward_joints_sag_by_their_weight_over_the_stiffness(variants, romeo):
    """Standing still, K (q_r − q) is the torque that gravity asks of an arm: statics by Pinocchio."""
    arms = [
        column for column, name in enumerate(romeo.joint_names) if name[1:4] in ("Sho", "Elb", "Wri", "Nec")
    ]
    errors = {}
    for kind, run in variants.items():
        rest = run.log.sel(time=0.5, method="nearest")
        q = np.concatenate([rest["base_pose"].values, rest["joint_position"].values])
        weight = pin.computeGeneralizedGravity(romeo.model, romeo.model.createData(), q)[6:][arms]
        sag = (rest["joint_reference"] - rest["joint_position"]).values[arms]
        errors[kind] = np.abs(sag).max()
        if kind == "none":
            stiffness = romeo.motors.stiffness[arms]
            np.testing.assert_allclose(stiffness * sag, weight, atol=0.02)
            assert np.abs(weight).max() > 0.5
        else:
            assert errors[kind] < 1e-3
    assert errors["none"] > 2e-3


def test_each_kind_of_feedforward_follows_better_than_the_one_before(variants):
    rms = {kind: run.metrics["tracking.rms_rad"] for kind, run in variants.items()}
    assert rms["inverse_dynamics"] < 0.8 * rms["gravity"] < 0.8 * 0.5 * rms["none"]
    assert not any(run.metrics["fell"] for run in variants.values())


def test_a_failed_check_returns_1_and_keeps_the_whole_run(variants):
    run = variants["inverse_dynamics"]
    assert run.status == 1
    assert sorted(path.name for path in run.folder.iterdir()) == FILES
    # What took a second has a line, too.
    (line,) = (line for line in run.errors.splitlines() if line.startswith("check failed"))
    found = re.fullmatch(r"check failed: tracking\.rms_rad is (\S+), must be ≤ 1e-09", line)
    assert found
    rms = run.metrics["tracking.rms_rad"]
    assert float(found[1]) == pytest.approx(rms, rel=1e-3)
    assert rms > 1e-9


def test_retargeting_alone_keeps_limits_and_balance(romeo):
    plan = retarget_motion("deepmimic:dance_b", "romeo", method="analytical", timing="uniform").plan
    trajectory = plan.trajectory
    assert trajectory.joint_names == romeo.joint_names
    assert trajectory.base.shape == (len(trajectory.time), 7)
    assert (np.diff(trajectory.time) > 0.0).all()
    assert (trajectory.q >= romeo.model.lowerPositionLimit[7:]).all()
    assert (trajectory.q <= romeo.model.upperPositionLimit[7:]).all()
    speed = np.abs(np.gradient(trajectory.q, trajectory.time, axis=0))
    assert (speed <= romeo.model.velocityLimit[6:]).all()
    assert plan.metrics["imitation.hand_max_m"] < 0.01
    # The ZMP, by finite differences of momentum, rests in the middle of the soles up to 3 Hz. It would not
    # if the COG did: without its sway, ZMP and COG are apart by several times as much.
    target = stand(romeo, (0.0, 0.0), 0.0, "standing").target
    model, data, step = romeo.model, romeo.model.createData(), trajectory.time[1] - trajectory.time[0]
    q = np.hstack([trajectory.base, trajectory.q])
    v = [pin.difference(model, before, after) / step for before, after in itertools.pairwise(q)]
    momentum = []
    for before, velocity in zip(q[:-1], v, strict=True):
        middle = pin.integrate(model, before, 0.5 * step * velocity)
        momentum.append(pin.computeCentroidalMomentum(model, data, middle, velocity).vector)
    force, moment = np.hsplit(np.diff(momentum, axis=0) / step, 2)
    upward = force[:, 2:] + 9.81 * pin.computeTotalMass(model)
    cog = np.array([pin.centerOfMass(model, data, each) for each in q[1:-1]])
    away = -(cog[:, 2:] * force[:, :2] + np.stack([moment[:, 1], -moment[:, 0]], axis=1)) / upward
    slow = butter(2, 3.0, fs=1.0 / step, output="sos")
    off = sosfiltfilt(slow, cog[:, :2] + away - target, axis=0)[10:-10]
    assert np.linalg.norm(off, axis=1).max() < 4e-4
    assert np.linalg.norm(sosfiltfilt(slow, away, axis=0)[10:-10], axis=1).max() > 1e-3


@pytest.fixture
def bad_clip(tmp_path):
    """A clip of the wheel whose third frame has a NaN."""
    clip = json.loads((clip_folder() / "humanoid3d_dance_b.txt").read_text(encoding="utf-8"))
    clip["Frames"][3][30] = float("nan")
    path = tmp_path / "clip.txt"
    path.write_text(json.dumps(clip), encoding="utf-8")
    return path


@pytest.fixture
def bad_robot(tmp_path):
    """A copy of ROMEO whose trunk names a joint that it does not have."""
    folder = shutil.copytree(resource_dir("robots") / "romeo", tmp_path / "romeo")
    text = (folder / "robot.yaml").read_text(encoding="utf-8")
    assert "trunk: [TrunkYaw]" in text
    (folder / "robot.yaml").write_text(
        text.replace("trunk: [TrunkYaw]", "trunk: [TrunkJaw]"), encoding="utf-8"
    )
    return folder / "robot.yaml"


def refused(arguments, capsys, tmp_path, *parts):
    """Bad input: one line on stderr, status 2, and nothing new on the disk."""
    before = sorted(tmp_path.rglob("*"))
    status = main(["run", *arguments])
    printed = capsys.readouterr()
    assert status == 2
    assert printed.out == ""
    # Before it, stages that took long on a busy machine say so.
    *progress, error = printed.err.splitlines()
    assert error.startswith("error: ")
    assert all(": done in " in line for line in progress)
    for part in parts:
        assert part in printed.err
    assert sorted(tmp_path.rglob("*")) == before


def test_a_nan_in_a_motion_is_refused(bad_clip, capsys, tmp_path):
    arguments = ["dance", "--set", f"motion.source={bad_clip}", "--out", str(tmp_path / "run")]
    refused(arguments, capsys, tmp_path, "clip.txt", "frame 3")


def test_a_wrong_joint_in_a_group_is_refused(bad_robot, capsys, tmp_path):
    arguments = ["drawer", "--set", f"robot.name={bad_robot}", "--out", str(tmp_path / "deep" / "run")]
    refused(arguments, capsys, tmp_path, "groups.trunk", "`TrunkJaw`", "TrunkYaw")


@pytest.mark.parametrize(
    ("override", "parts"),
    [
        ("fixtures.0.weight_kg=2", ["unknown key", "mass_kg"]),
        ("motion.source=deepmimic:dance_b", ["motion.task", "actor:<task>"]),
        ("robot.posture=lotus", ["lotus", "standing"]),
    ],
)
def test_bad_values_are_refused(override, parts, capsys, tmp_path):
    refused(["drawer", "--set", override, "--out", str(tmp_path / "a" / "run")], capsys, tmp_path, *parts)


@pytest.mark.parametrize(
    ("source", "parts"),
    [
        ("deepmimic:nope", ["nope", "humanoid3d_dance_b"]),
        ("actor:nope", ["nope", "drawer"]),
        ("nowhere.txt", ["nowhere.txt", "no such file"]),
    ],
)
def test_a_motion_that_is_not_there_is_refused(source, parts, capsys, tmp_path):
    arguments = ["dance", "--set", f"motion.source={source}", "--out", str(tmp_path / "run")]
    refused(arguments, capsys, tmp_path, *parts)


@pytest.mark.parametrize("place", ["file", "file/run", "full"])
def test_a_place_that_cannot_be_written_is_refused_before_anything_is_computed(
    place, capsys, tmp_path, monkeypatch
):
    (tmp_path / "file").touch()
    (tmp_path / "full").mkdir()
    (tmp_path / "full" / "thesis.tex").touch()
    monkeypatch.setattr("simbench.runs.pipeline.load_robot", lambda name: pytest.fail("the run began"))
    refused(["drawer", "--out", str(tmp_path / place)], capsys, tmp_path, place)


WAITING = """
import os
import signal
import sys

from simbench.cli.main import main
from simbench.sim.bullet.bullet_world import BulletWorld

reader, writer = os.pipe()
os.set_blocking(writer, False)
signal.set_wakeup_fd(writer)
step, steps = BulletWorld.step, 0


def step_or_wait(world):
    global steps
    steps += 1
    if steps == 3000:
        os.read(reader, 1)
    step(world)


BulletWorld.step = step_or_wait
sys.exit(main())
"""
"""The command line; a step of the simulation waits for a signal, and goes on at once if there was one."""


@pytest.mark.skipif(sys.platform == "win32", reason="needs a terminal of its own")
def test_ctrl_c_keeps_what_was_simulated_in_a_log_that_opens(tmp_path):
    """The real program in a terminal; interrupted when its progress bar shows a percent simulated.

    It waits in its 3000th step, of 61 000, so that it is not at the end before it is interrupted.
    """
    folder = tmp_path / "run"
    terminal, its_side = os.openpty()
    command = [sys.executable, "-c", WAITING, "run", "dance", "--out", str(folder)]
    for override in [*SHORT[:-1], "simulation.hold_s=60"]:
        command += ["--set", override]
    program = subprocess.Popen(
        command,
        stdout=subprocess.DEVNULL,
        stderr=its_side,
        # In the background of a script an interrupt is ignored, and the program would inherit that.
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),
    )
    os.close(its_side)
    shown = b""
    try:
        while not re.search(rb"simulate[^%]*?[1-9]\d*%", shown):
            shown += os.read(terminal, 1024)
        program.send_signal(signal.SIGINT)
        shown = b""
        while True:
            try:
                shown += os.read(terminal, 1024)
            except OSError:
                break
        status = program.wait()
    finally:
        program.kill()
        os.close(terminal)
    kept = incomplete_path(folder)
    text = " ".join(shown.decode().split())
    assert status == 130, text
    assert "interrupted: partial run kept in" in text
    assert "Traceback" not in text
    assert not folder.exists()
    assert sorted(path.name for path in kept.iterdir()) == [
        MARKER,
        "log.nc",
        "provenance.json",
        "scenario.yaml",
    ]
    log = open_run(kept)
    assert 20 < len(log.time) < 60 * 200
    np.testing.assert_allclose(np.diff(log.time), 0.005, atol=1e-12)
    assert np.isfinite(log["joint_position"].values).all()
    assert np.isfinite(log["zmp"].values[1:]).all()
    assert log.sizes["contact"] >= 2


def test_a_clip_of_a_few_samples_is_refused(tmp_path, capsys):
    assert main(["run", "dance", "--set", "motion.end_s=0.012", "--out", str(tmp_path / "short")]) == 2
    (line,) = capsys.readouterr().err.splitlines()
    assert "3 samples" in line
    assert not any(tmp_path.iterdir())


def test_doubts_are_told_before_the_plan_and_kept_with_the_run(tmp_path, monkeypatch):
    """A recording with a foot in the floor, and with a doubt of its reader."""

    def read(source, reading):
        motion = read_motion(source, reading)
        sunk = {**motion.joints, "left_toe": np.tile([0.0, 0.0, -0.08], (len(motion.time), 1))}
        return replace(motion, joints=sunk, doubts=("the unit was guessed",))

    monkeypatch.setattr(motion_source, "read_motion", read)
    told = []
    result = run_scenario(
        load_scenario("dance", SHORT),
        tmp_path / "run",
        on_progress=lambda stage, done, total: told.append(stage),
        on_doubts=told.append,
    )
    doubts = ("the unit was guessed", "feet sink 0.080 m into the floor at 0.00 s")
    assert result.doubts == doubts
    assert "imitate" not in told[: told.index(doubts)]
    assert {"imitate", "simulate"} <= set(told[told.index(doubts) :])
    record = json.loads((tmp_path / "run" / "provenance.json").read_text(encoding="utf-8"))
    assert record["doubts"] == list(doubts)
    assert result.metrics["motion.doubt_count"] == 2.0


SHORT_DRAWER = {"motion.task.amplitude_rad": 0.05, "motion": {"task": {"speed_rad_s": 1.0}}, "checks": {}}


def test_a_run_without_a_directory_goes_to_runs(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    result = simbench.run("puma560_sweep", SHORT_DRAWER, on_progress=False)
    assert result.directory.parent == type(result.directory)("runs")
    assert result.directory.name.startswith("puma560_sweep-")
    assert os.listdir("runs") == [result.directory.name]
    scenario = simbench.load_scenario(result.directory / "scenario.yaml")
    assert scenario.motion.task["amplitude_rad"] == 0.05
    assert simbench.load_run(result.directory).metrics == result.metrics


@pytest.mark.parametrize(
    "overrides",
    [
        {"control.law": "pd", "control.stiffness_scale": np.float64(2.0)},
        {"control": {"law": "pd", "stiffness_scale": 2}},
        ["control.law=pd", "control.stiffness_scale=2"],
    ],
)
@pytest.mark.parametrize("loaded", [False, True])
def test_values_are_set_by_dotted_keys_nested_keys_or_texts(overrides, loaded, monkeypatch, tmp_path):
    runs = []
    monkeypatch.setattr(api, "run_scenario", lambda scenario, out, **_: runs.append((scenario, out)))
    given = simbench.load_scenario("puma560_sweep") if loaded else "puma560_sweep"
    simbench.run(given, overrides, out=tmp_path)
    ((scenario, out),) = runs
    assert scenario.control.stiffness_scale == 2.0
    assert out == tmp_path
