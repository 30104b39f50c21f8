"""Balance in whole runs: a short walk, the same again, and with other masses; bad input in one line."""

import json
from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pinocchio as pin
import pytest
import shapely
import xarray as xr

from simbench.cli.main import main
from simbench.options import PushSection, SteppingSection
from simbench.robot.robot import load_robot
from simbench.robot.sides import SIDES
from simbench.runs import pipeline
from simbench.runs.log import open_run
from simbench.runs.pipeline import run_scenario
from simbench.runs.scenario.loading import load_scenario
from simbench.sim.balance_loop import balance_run, build_standing_reference
from simbench.sim.state import RobotState

# Two steps, one forward and one that closes up, in four seconds.
SHORT = [
    "stepping.commands=[{forward_m: 0.1}]",
    "stepping.settle_s=1.0",
    "simulation.settle_s=0.2",
    "robot.heading_rad=0.5",
    "checks={fell: false}",
]


@pytest.fixture(scope="module")
def mahru():
    return load_robot("mahru")


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    """Make a run of the short walk and open it."""

    def make(*overrides):
        folder = tmp_path_factory.mktemp("walk") / "run"
        run_scenario(load_scenario("mahru_walk", [*SHORT, *overrides]), folder)
        metrics = json.loads((folder / "metrics.json").read_text(encoding="utf-8"))
        return SimpleNamespace(folder=folder, log=open_run(folder), metrics=metrics)

    return make


@pytest.fixture(scope="module")
def walk(run):
    return run()


@pytest.fixture(scope="module")
def heavier(run):
    """The simulated robot's links are up to 5 % heavier or lighter."""
    return run("variation.mass_fraction=0.05", "seed=1")


def placed(robot, log, sample):
    """The COG and the feet's places of a robot as the log has it, by Pinocchio."""
    q = np.concatenate([log["base_pose"].values[sample], log["joint_position"].values[sample]])
    data = robot.model.createData()
    cog = pin.centerOfMass(robot.model, data, q).copy()
    pin.updateFramePlacements(robot.model, data)
    frames = {side: robot.model.getFrameId(robot.frames[f"{side}_foot"]) for side in SIDES}
    return SimpleNamespace(cog=cog, feet={side: data.oMf[frame].copy() for side, frame in frames.items()})


def test_the_log_says_what_balance_wanted_and_measured_with_units(walk):
    log = walk.log
    for name in ("cog_desired", "zmp_desired", "cog_measured", "zmp_measured"):
        assert log[name].dims == ("time", "xy")
        assert log[name].attrs["units"] == "m"
        # The last sample's tick is yet to come.
        assert np.isfinite(log[name].values[:-1]).all(), name
    assert log["contact_planned"].dims == ("time", "foot")
    assert log["contact_planned"].dtype == bool
    lifted = log["contact_planned"].values[:-1] & ~log["contact_planned"].values[1:]
    assert lifted.sum(axis=0).tolist() == [1, 1]
    # Single support of 0.6 s each, first the left foot.
    swinging = ~log["contact_planned"].values
    np.testing.assert_allclose(swinging.sum(axis=0) * 0.005, 0.6, atol=0.011)
    assert swinging[:, 0].argmax() < swinging[:, 1].argmax()
    assert walk.metrics["steps.count"] == 2.0


def test_the_wanted_cog_is_nearly_that_of_an_inverted_pendulum_over_the_wanted_zmp(walk, mahru):
    """By second differences: c − c̈ / ω² = p, but for the angular momentum that all bodies have beside it."""
    # Every 10 ms, for which ticks of 2 ms are whole.
    cog, zmp = walk.log["cog_desired"].values[::2], walk.log["zmp_desired"].values[::2]
    height = placed(mahru, walk.log, 0).cog[2]
    bend = (cog[2:] - 2.0 * cog[1:-1] + cog[:-2]) / 0.01**2
    pendulum = cog[1:-1] - bend * height / 9.81
    assert np.abs(pendulum - zmp[1:-1]).max() < 0.015
    # It says something only because the ZMP leaves the COG by more than the momentum makes up.
    assert np.linalg.norm(zmp - cog, axis=1).max() > 0.03
    assert np.sqrt(np.mean((pendulum - zmp[1:-1]) ** 2)) < 0.2 * np.sqrt(np.mean((zmp - cog) ** 2))


def test_before_it_is_corrected_the_wanted_cog_is_that_of_the_inverted_pendulum(run, mahru, monkeypatch):
    monkeypatch.setattr("simbench.sim.balance_loop._CORRECTIONS", 0)
    log = run().log
    cog, zmp = log["cog_desired"].values[::2], log["zmp_desired"].values[::2]
    bend = (cog[2:] - 2.0 * cog[1:-1] + cog[:-2]) / 0.01**2
    pendulum = cog[1:-1] - bend * placed(mahru, log, 0).cog[2] / 9.81
    np.testing.assert_allclose(pendulum, zmp[1:-1], atol=5e-4)


def test_what_balance_measures_is_what_is(walk, mahru):
    """COG by Pinocchio from the simulated robot's pose, ZMP from the forces on its feet."""
    log = walk.log
    for sample in range(60, len(log.time) - 1, 40):
        cog = placed(mahru, log, sample).cog[:2]
        np.testing.assert_allclose(log["cog"].values[sample, :2], cog, atol=1e-6)
        np.testing.assert_allclose(log["cog_measured"].values[sample], cog, atol=0.008)
    # The sensors' low-pass lags; standing it does not matter.
    still = slice(0.5, 1.0)
    np.testing.assert_allclose(log["zmp_measured"].sel(time=still), log["zmp"].sel(time=still), atol=0.002)


def test_metrics_are_those_of_the_log(walk, mahru):
    log = walk.log
    settled = np.flatnonzero(log.time.values >= 0.2 - 1e-9)
    off = [placed(mahru, log, sample).cog[:2] - log["cog_desired"].values[sample] for sample in settled]
    rms = np.sqrt(np.mean(np.sum(np.square(off), axis=1)))
    assert walk.metrics["cog.rms_m"] == pytest.approx(rms, rel=1e-4)
    ground = log["foot_wrench"].values.sum(axis=1)[settled]
    zmp = np.stack([-ground[:, 4], ground[:, 3]], axis=1) / ground[:, 2:3]
    away = np.linalg.norm(zmp - log["zmp_desired"].values[settled], axis=1)
    assert walk.metrics["zmp.rms_m"] == pytest.approx(np.sqrt(np.mean(away**2)), rel=1e-6)
    points = log["foot_points"].values[settled]
    hulls = [shapely.MultiPoint(row[~np.isnan(row[..., 0])]).convex_hull for row in points]
    inside = [hull.contains(shapely.Point(*spot)) for hull, spot in zip(hulls, zmp, strict=True)]
    assert walk.metrics["zmp.inside_fraction"] == pytest.approx(np.mean(inside))
    assert walk.metrics["fell"] is False
    assert walk.metrics["balance.gave_up"] is False
    assert 0.0 < walk.metrics["timing.balance_share"] < 1.0


def test_feet_end_where_the_footsteps_are(walk, mahru):
    """Both 0.1 m along the heading, flat on the floor, and still parallel."""
    start, end = placed(mahru, walk.log, 0), placed(mahru, walk.log, -1)
    ahead = 0.1 * np.array([np.cos(0.5), np.sin(0.5), 0.0])
    for side in SIDES:
        before, after = start.feet[side], end.feet[side]
        np.testing.assert_allclose(after.translation - before.translation, ahead, atol=0.006)
        np.testing.assert_allclose(pin.log3(before.rotation.T @ after.rotation), 0.0, atol=0.02)
    assert walk.metrics["base.forward_m"] == pytest.approx(0.1, abs=0.008)
    assert abs(walk.metrics["base.left_m"]) < 0.006
    assert abs(walk.metrics["base.turn_rad"]) < 0.02


def test_from_its_own_directory_a_run_is_repeated_bit_for_bit(walk, tmp_path):
    run_scenario(load_scenario(walk.folder / "scenario.yaml"), tmp_path / "again")
    xr.testing.assert_identical(walk.log, open_run(tmp_path / "again"))


def test_variation_changes_the_robot_and_not_what_balance_believes(walk, heavier, mahru):
    weight = pin.computeTotalMass(mahru.model)
    assert walk.log.attrs["mass_kg"] == pytest.approx(weight)
    assert 0.001 < abs(heavier.log.attrs["mass_kg"] / weight - 1.0) < 0.05
    # In the same posture its COG is elsewhere; balance wants and sees the same.
    first = [log.isel(time=0) for log in (walk.log, heavier.log)]
    np.testing.assert_array_equal(*(log["joint_position"] for log in first))
    assert np.linalg.norm(first[0]["cog"] - first[1]["cog"]) > 1e-4
    np.testing.assert_array_equal(*(log["cog_measured"] for log in first))
    for name in ("cog_desired", "zmp_desired", "contact_planned"):
        np.testing.assert_array_equal(walk.log[name], heavier.log[name])
    believed = placed(mahru, heavier.log, 300).cog[:2]
    seen = heavier.log.isel(time=300)
    assert np.linalg.norm(seen["cog_measured"] - believed) < 0.5 * np.linalg.norm(seen["cog"][:2] - believed)


@pytest.mark.parametrize("control", [False, True])
def test_without_control_the_reference_follows_the_plan_whatever_is_measured(mahru, control):
    """Balance is told that the robot leans, its COG by some 8 mm off, and follows all the same."""
    scenario = load_scenario("mahru_walk", [*SHORT, f"balance.control={str(control).lower()}"])
    timeline = build_standing_reference(mahru, scenario.robot, scenario.simulation, None, "inverse_dynamics")
    assert scenario.stepping is not None
    balanced = balance_run(mahru, timeline, scenario.balance, scenario.stepping, scenario.simulation)
    balancer, reference = balanced.balancer, balanced.timeline.reference
    whole, gait = balancer.whole, balancer.gait
    half = np.zeros((2, 6))
    half[:, 2] = 0.5 * 9.81 * pin.computeTotalMass(mahru.model)
    ankles = [mahru.joint_names.index(f"{side}AnklePitch") for side in "LR"]
    data, off = mahru.model.createData(), []
    for tick in range(len(gait.zmp) - 1 if not control else 300):
        leaning = whole.configuration.copy()
        leaning[7 + np.array(ankles)] += 0.012
        balancer.command(
            tick * balancer.every, RobotState(leaning, np.zeros(mahru.model.nv)), half, reference
        )
        row = (tick + 1) * balancer.every - 1
        np.testing.assert_array_equal(
            reference.position[row, whole.legs], whole.configuration[7 + whole.legs]
        )
        if tick % 25 == 0:
            cog = pin.centerOfMass(mahru.model, data, whole.configuration)[:2]
            off.append(np.linalg.norm(cog - gait.cog[tick + 1]))
    if control:
        # Half of the 8 mm, and more with time.
        assert max(off) > 0.003
    else:
        assert max(off) < 1e-3


def test_a_plan_for_resting_arms_is_that_of_a_robot_whose_arms_rest(mahru):
    """Both arms rise to the side in the other plan: its COG is another by millimetres."""
    scenario = load_scenario("mahru_walk", SHORT)
    still = build_standing_reference(mahru, scenario.robot, scenario.simulation, None, "none")
    rising = replace(still, reference=replace(still.reference, position=still.reference.position.copy()))
    for name in ("LShoulderPitch", "RShoulderPitch"):
        rising.reference.position[:, mahru.joint_names.index(name)] -= np.linspace(
            0.0, 1.0, len(still.reference.position)
        )

    def planned_cog(timeline, *overrides):
        balance = load_scenario("mahru_walk", [*SHORT, *overrides]).balance
        balanced = balance_run(mahru, timeline, balance, scenario.stepping, scenario.simulation)
        return balanced.balancer.gait.cog

    rest = planned_cog(still)
    np.testing.assert_array_equal(planned_cog(rising, "balance.embedding.plan=false"), rest)
    assert np.abs(planned_cog(rising) - rest).max() > 1e-3


def test_a_reference_without_feedforward_gets_none_from_balance(mahru):
    scenario = load_scenario("mahru_walk", SHORT)
    for kind in ("none", "inverse_dynamics"):
        timeline = build_standing_reference(mahru, scenario.robot, scenario.simulation, None, kind)
        balanced = balance_run(mahru, timeline, scenario.balance, None, scenario.simulation, feedforward=kind)
        balancer, reference = balanced.balancer, balanced.timeline.reference
        wrench = np.zeros((2, 6))
        state = RobotState(balancer.whole.configuration.copy(), np.zeros(mahru.model.nv))
        balancer.command(0, state, wrench, reference)
        assert reference.feedforward[0].any() == (kind != "none")


@pytest.mark.parametrize("name", ["mahru_wave", "mahru_arms_forward"])
def test_with_and_without_embedding_differ_in_nothing_else(name):
    with_it, without = (load_scenario(each).model_dump() for each in (name, f"{name}_without_embedding"))
    assert all(with_it["balance"].pop("embedding").values())
    left_out = without["balance"].pop("embedding")
    assert [part for part, embedded in left_out.items() if not embedded] == ["jacobian"]
    for key in ("name", "summary", "checks"):
        assert with_it.pop(key) != without.pop(key)
    assert with_it == without


@pytest.fixture
def refused(monkeypatch, capsys, tmp_path, mahru):
    """Run with overrides, and return the one line that says what is wrong; nothing stays on the disk."""
    known = {"mahru": mahru}
    monkeypatch.setattr(
        pipeline, "load_robot", lambda name: known[name] if name in known else load_robot(name)
    )

    def run(scenario, *overrides):
        arguments = [text for override in overrides for text in ("--set", override)]
        assert main(["run", scenario, *arguments, "--out", str(tmp_path / "deep" / "run")]) == 2
        printed = capsys.readouterr()
        assert printed.out == ""
        assert printed.err.startswith("error: ")
        assert printed.err.count("\n") == 1
        assert not any(tmp_path.iterdir())
        return printed.err

    return run


@pytest.mark.parametrize(
    ("overrides", "parts"),
    [
        (["balance.gain_cog=2"], ["balance.gain_cog: 2", "ω = 3.5", "< gain_cog"]),
        (["robot.name=puma560"], ["stepping: puma560 has a fixed base", "allowed: a robot on two legs"]),
        (["robot.name=puma560", "stepping=null"], ["puma560: balance needs two legs", "left_leg, right_leg"]),
        (["stepping.step_length_m=0.9"], ["stepping: step 1 (left): 0.667 m", "allowed: 0.5"]),
        (
            ["stepping.commands=[{turn_rad: 1.5}]", "stepping.step_turn_rad=1.5"],
            ["stepping: step 1 (left): its sole comes over the other", "allowed: soles beside each other"],
        ),
        (["stepping.commands=[{forward_m: 0}]"], ["stepping: command 1 (forward): 0 m", "allowed: a finite"]),
        (
            ["stepping.settle_s=0.3"],
            ["simulation.settle_s + stepping.settle_s: 0.8", "allowed: at least 1.13"],
        ),
        (["stepping.double_support_s=0.001"], ["stepping.double_support_s: 0.001", "allowed: at least 0.02"]),
        (
            ["stepping.commands=[{forward_m: 0.6}]", "stepping.step_length_m=0.3", "robot.height_m=0"],
            ["mahru: step 1 (left) is out of reach at", "KneePitch", "allowed:"],
        ),
    ],
)
def test_what_a_robot_cannot_do_is_refused_in_one_line(refused, overrides, parts):
    message = refused("mahru_walk", *overrides)
    assert all(part in message for part in parts), message


def test_sections_made_in_python_are_checked_as_in_files():
    assert SteppingSection(commands=[{"march": 3}]).commands[0].march == 3
    assert PushSection(first_ns=5.0).interval_s >= PushSection(first_ns=5.0).duration_s
