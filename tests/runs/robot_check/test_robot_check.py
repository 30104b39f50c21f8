"""`check_robot`: verdicts against numbers that are computed here in another way."""

import json
from dataclasses import replace

import numpy as np
import pinocchio as pin
import pytest
import shapely

from simbench.cli.main import main
from simbench.options import BalanceSection, RobotSection, SimulationSection, SteppingSection
from simbench.robot.description import Bandwidth, Hand
from simbench.robot.drives import choose_gains, light_foot_fraction
from simbench.robot.robot import load_robot
from simbench.robot.robot_limbs import sole_gaps
from simbench.runs.retargeted_reference import build_sweep_reference, moved_by_sweep
from simbench.runs.robot_check import abilities
from simbench.runs.robot_check.abilities import check_robot, try_sweep
from simbench.runs.robot_check.findings import Finding, Limits
from simbench.runs.robot_check.offers import offer_steps
from simbench.runs.robot_check.palm_reach import check_reaching, palm_poses
from simbench.runs.robot_check.statics import check_commands, check_standing, check_stepping, check_tracking
from simbench.runs.scenario.loading import load_scenario
from simbench.sim.balance_loop import balance_run, build_standing_reference
from tests.robot.scaffold.synthetic import Humanoid


@pytest.fixture(scope="module")
def mahru():
    return load_robot("mahru")


@pytest.fixture(scope="module")
def puma():
    return load_robot("puma560")


def _named(findings: list[Finding]) -> dict[str, Finding]:
    return {finding.name: finding for finding in findings}


def _value(findings: list[Finding], name: str) -> float:
    value = _named(findings)[name].value
    assert value is not None
    return value


def _with_motors(robot, **factors):
    motors = {name: factor * getattr(robot.motors, name) for name, factor in factors.items()}
    return replace(robot, motors=replace(robot.motors, **motors))


@pytest.mark.parametrize(
    ("good", "bad", "value", "verdict"),
    [
        (0.95, 0.7, 0.95, "yes"),
        (0.95, 0.7, 0.9, "marginal"),
        (0.95, 0.7, 0.69, "no"),
        (0.8, 1.0, 0.8, "yes"),
        (0.8, 1.0, 0.99, "marginal"),
        (0.8, 1.0, 1.01, "no"),
        (1.0, 0.0, np.nan, "no"),
    ],
)
def test_limits_hold_in_both_directions(good, bad, value, verdict):
    assert Limits(good, bad).judge(value) == verdict


def test_the_margin_of_the_cog_is_its_distance_from_the_edge_of_the_hull_of_the_soles(mahru):
    findings, stance = check_standing(mahru)
    assert stance is not None
    corners = [stance.soles[side].act(c)[:2] for side in stance.soles for c in mahru.soles[f"{side}_foot"]]
    q = np.concatenate([stance.base, stance.joints])
    cog = pin.centerOfMass(mahru.model, mahru.model.createData(), q)
    hull = shapely.MultiPoint(corners).convex_hull
    distance = hull.exterior.distance(shapely.Point(cog[:2]))
    assert _value(findings, "cog_margin_m") == pytest.approx(distance, abs=1e-9)


def test_a_cog_beside_the_soles_does_not_stand(mahru):
    soles = {role: corners + np.array([0.2, 0.0, 0.0]) for role, corners in mahru.soles.items()}
    findings, _ = check_standing(replace(mahru, soles=soles))
    assert _named(findings)["cog_margin_m"].verdict == "no"
    assert _value(findings, "cog_margin_m") < 0.0


def test_torques_of_standing_grow_against_weaker_motors(mahru):
    usual, weak = (
        _named(check_standing(_with_motors(mahru, torque_limit=factor))[0])["torque_fraction"]
        for factor in (1.0, 0.1)
    )
    assert (usual.verdict, weak.verdict) == ("yes", "no")
    assert weak.value == pytest.approx(10.0 * usual.value)


def test_the_torque_of_standing_carries_half_the_weight_of_the_legs_knees(mahru):
    """A knee of a symmetric stance holds what is above it: force times lever arm, within what ankles add."""
    findings, stance = check_standing(mahru)
    model, data = mahru.model, mahru.model.createData()
    q = np.concatenate([stance.base, stance.joints])
    pin.centerOfMass(model, data, q)
    knee = model.getJointId("LKneePitch")
    above = data.mass[0] - 2.0 * data.mass[knee]
    both = data.mass[0] * data.com[0] - 2.0 * data.mass[knee] * data.oMi[knee].act(data.com[knee])
    lever = abs(both[0] / above - data.oMi[knee].translation[0])
    expected = 0.5 * above * 9.81 * lever / mahru.motors.torque_limit[mahru.joint_names.index("LKneePitch")]
    assert _value(findings, "torque_fraction") == pytest.approx(expected, rel=0.05)


def test_soft_legs_topple_and_stiffness_counts_linearly(mahru):
    usual, soft = (
        _named(check_standing(_with_motors(mahru, stiffness=factor))[0])["stiffness_ratio"]
        for factor in (1.0, 0.02)
    )
    assert (usual.verdict, soft.verdict) == ("yes", "no")
    assert usual.value == pytest.approx(50.0 * soft.value)


def test_a_robot_of_one_joint_per_leg_topples_at_m_g_h(mahru):
    """With all joints rigid but the ankles' pitch, the ratio is 2 K / (m g h) of what is above the ankles."""
    stiffness = np.full(len(mahru.joint_names), 1e9)
    ankles = [mahru.joint_names.index(name) for name in ("LAnklePitch", "RAnklePitch")]
    stiffness[ankles] = 400.0
    robot = replace(mahru, motors=replace(mahru.motors, stiffness=stiffness))
    findings, stance = check_standing(robot)
    model, data = mahru.model, mahru.model.createData()
    q = np.concatenate([stance.base, stance.joints])
    pin.centerOfMass(model, data, q)
    ankle = model.getJointId("LAnklePitch")
    above = data.mass[0] - 2.0 * data.mass[ankle]
    feet = 2.0 * data.mass[ankle] * data.oMi[ankle].act(data.com[ankle])[2]
    moment = data.mass[0] * data.com[0][2] - feet - above * data.oMi[ankle].translation[2]
    assert _value(findings, "stiffness_ratio") == pytest.approx(800.0 / (9.81 * moment), rel=1e-3)


def test_soles_lie_on_the_shapes_of_the_feet(mahru):
    assert sole_gaps(mahru) == pytest.approx({"left_foot": 0.0, "right_foot": 0.0}, abs=1e-6)
    model = mahru.model
    sole, ankle = (model.frames[model.getFrameId(name)] for name in ("l_sole", "l_foot"))
    height = ankle.placement.actInv(sole.placement).translation[2]
    raised = replace(mahru, frames={**mahru.frames, "left_foot": "l_foot"})
    assert height < -0.02
    assert sole_gaps(raised)["left_foot"] == pytest.approx(height, abs=1e-6)


def test_palm_paths_are_of_a_person(mahru):
    for side in ("left", "right"):
        poses = palm_poses(side)
        distance = np.linalg.norm(poses[:, :3, 3], axis=1)
        assert 0.3 < distance.min() < distance.max() < 1.05
        assert np.allclose(poses[:, :3, :3] @ poses[:, :3, :3].transpose(0, 2, 1), np.eye(3), atol=1e-6)


def test_an_arm_with_locked_joints_reaches_little(puma):
    posture = puma.postures["ready"]
    free = _value(check_reaching(puma, posture), "right_hand_fraction")
    model = puma.model.copy()
    for joint in range(3):
        model.lowerPositionLimit[joint] = posture[joint] - 0.05
        model.upperPositionLimit[joint] = posture[joint] + 0.05
    locked = _named(check_reaching(replace(puma, model=model), posture))["right_hand_fraction"]
    assert free > 0.7
    assert locked.verdict == "no"
    assert locked.value < 0.3


def test_steps_fit_the_legs_and_need_speed(mahru, monkeypatch):
    findings, steps = check_stepping(mahru, RobotSection(name="mahru"))
    assert {finding.verdict for finding in findings} == {"yes"}
    assert steps is not None
    length = 0.25 + 0.35
    assert 0.15 * length < steps[1].step_length_m < 0.4 * length
    # One length of steps at one height: each that fails takes a third of a second.
    monkeypatch.setattr("simbench.sim.starting_pose._SHORTER", (1.0,))
    monkeypatch.setattr("simbench.sim.starting_pose.pelvis_heights", lambda *_: (0.0,))
    model = mahru.model.copy()
    model.velocityLimit = 0.02 * model.velocityLimit
    slow, none = check_stepping(replace(mahru, model=model), RobotSection(name="mahru"))
    assert none is None
    assert [finding.verdict for finding in slow] == ["no"]
    assert "would turn at" in slow[0].reason


def test_tracking_counts_gravity_frequency_and_acceleration(puma):
    posture = puma.postures["ready"]
    findings = check_tracking(puma, posture)
    inertia = np.diag(pin.crba(puma.model, puma.model.createData(), posture))
    frequency = np.sqrt(puma.motors.stiffness / inertia).min() / (2.0 * np.pi)
    assert _value(findings, "natural_frequency_hz") == pytest.approx(frequency)
    gravity = np.abs(pin.rnea(puma.model, puma.model.createData(), posture, 0.0 * posture, 0.0 * posture))
    assert _value(findings, "gravity_fraction") == pytest.approx((gravity / puma.motors.torque_limit).max())
    weak = _named(check_tracking(_with_motors(puma, torque_limit=0.02), posture))
    assert weak["gravity_fraction"].verdict == "no"
    assert weak["acceleration_rad_s2"].verdict == "no"


def test_gains_that_are_chosen_keep_light_feet_still(mahru):
    q = np.concatenate([pin.neutral(mahru.model)[:7], mahru.postures["standing"]])
    feet = [mahru.model.getFrameId(mahru.frames[role]) for role in mahru.feet]
    gains = choose_gains(mahru.model, [q], feet, (), Bandwidth())
    chosen = light_foot_fraction(mahru.model, q, feet[0], gains, 0.001)
    assert chosen <= 0.9 + 1e-6
    doubled = light_foot_fraction(mahru.model, q, feet[0], (2.0 * gains[0], 2.0 * gains[1]), 0.001)
    assert doubled == pytest.approx(2.0 * chosen)


def test_a_sweep_of_a_sound_arm_is_tracked(puma):
    findings = try_sweep(puma, RobotSection(name="puma560", posture="ready"))
    assert {finding.name: finding.verdict for finding in findings}["tracking.rms_rad"] == "yes"
    assert all(finding.simulated for finding in findings)


def test_an_arm_is_asked_for_reach_and_tracking_only(capsys):
    assert main(["robot", "check", "puma560", "--no-simulate", "--json"]) == 0
    printed = json.loads(capsys.readouterr().out)
    assert printed["kind"] == "arm"
    assert list(printed["verdicts"]) == ["reach", "track"]
    assert {finding["simulated"] for finding in printed["findings"]} == {False}
    assert any("not simulated" in note for note in printed["notes"])


def test_a_humanoid_is_simulated_and_each_number_has_its_limit(monkeypatch):
    def plan_forward(robot, section):
        findings, (place, stepping) = check_stepping(robot, section)
        return findings, (place, stepping.model_copy(update={"commands": stepping.commands[:1]}))

    # Of what is planned in full, half a second of standing is simulated, and the first steps.
    monkeypatch.setattr(abilities, "_STILL", {"settle_s": 0.2, "hold_s": 0.3})
    monkeypatch.setattr(abilities, "check_stepping", plan_forward)
    checked = check_robot("mahru", on_progress=False)
    assert (checked.kind, checked.passed) == ("humanoid", True)
    assert list(checked.verdicts) == ["stand", "reach", "step", "track"]
    simulated = {(each.ability, each.name) for each in checked.findings if each.simulated}
    assert {("stand", "zmp.inside_fraction"), ("step", "fell")} <= simulated
    assert all(each.limit for each in checked.findings if each.value is not None)


def test_what_has_other_than_two_legs_does_not_stand(tmp_path, monkeypatch, capsys):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    path = tmp_path / "three.urdf"
    path.write_text(Humanoid(1.0, 2, third_leg=True).urdf())
    assert main(["robot", "check", str(path)]) == 1
    lines = capsys.readouterr().out.splitlines()
    assert "note    legs: 3 similar limbs reach the floor; simbench balances robots on two legs" in lines
    assert any(line.startswith("stand   no: ") and "left_leg" in line for line in lines)


def test_a_sweep_leaves_the_joints_that_close_a_hand(puma):
    hand = Hand(palm="link6", joints=("joint6",), fingers=("link6",))
    gripping = replace(puma, hands={"right_hand": hand})
    np.testing.assert_array_equal(moved_by_sweep(gripping), [True] * 5 + [False])
    section, task = RobotSection(name="puma560", posture="ready"), {"amplitude_rad": 0.2}
    timeline = build_sweep_reference(gripping, section, task, SimulationSection(), "none")
    travel = np.ptp(timeline.reference.position, axis=0)
    np.testing.assert_allclose(travel, [0.2] * 5 + [0.0], atol=1e-6)


@pytest.fixture(scope="module")
def weak():
    """Mahru with motors that are a little too weak for its steps, and the steps that were checked."""
    robot = load_robot("mahru")
    section = RobotSection(name="mahru", posture="standing")
    share = _value(check_stepping(robot, section)[0], "torque_fraction")
    weak = _with_motors(robot, torque_limit=share / 1.03)
    return weak, section, check_stepping(weak, section)


def test_offered_steps_are_within_the_torque_limits(weak):
    robot, section, (findings, steps) = weak
    assert _named(findings)["torque_fraction"].verdict == "no"
    offers = offer_steps(robot, section, steps, None)
    assert offers
    for offer in offers:
        assert offer.verdict != "no"
        assert not offer.simulated
        # The options as a scenario reads them, and its plan by the joints' torques at every tick.
        scenario = load_scenario("mahru_walk", [*offer.options])
        asked = SteppingSection(commands=check_commands(robot))
        keys = {
            each.partition("=")[0].removeprefix("stepping.") for each in offer.options if "stepping." in each
        }
        steps = asked.model_copy(update={key: getattr(scenario.stepping, key) for key in keys})
        place = section.model_copy(update={"height_m": scenario.robot.height_m})
        timeline = build_standing_reference(robot, place, SimulationSection(), None, "none")
        run = balance_run(robot, timeline, BalanceSection(), steps, SimulationSection())
        whole, largest = run.balancer.whole, 0.0
        for tick in range(len(run.balancer.gait.zmp) - 1):
            whole.tick(tick, None, None)
            largest = max(largest, float(np.abs(whole.torque / robot.motors.torque_limit).max()))
        assert largest <= 1.0


def test_an_offer_that_falls_in_simulation_is_none(weak):
    robot, section, (_, steps) = weak
    fell = Finding("step", "fell", "no", 1.0, "≤ 0", "it fell while walking", True)
    (offer,) = offer_steps(robot, section, steps, lambda *_: [fell])
    assert (offer.verdict, offer.simulated) == ("no", True)
    assert "fell" in offer.reason
