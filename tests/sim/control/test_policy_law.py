"""Control laws of policies."""

import json
import os
import signal
import sys
import threading
from dataclasses import replace
from pathlib import Path

import numpy as np
import pinocchio as pin
import pytest
import yaml
from scipy.spatial.transform import Rotation

from simbench import PolicyError, load_scenario, run_scenario
from simbench.errors import SimbenchError
from simbench.robot.robot import load_robot
from simbench.runs.log import open_run
from simbench.runs.run_directory import shielded_from_interrupt
from simbench.sim.control.laws import PdLaw
from simbench.sim.control.policy_contract import PolicyContract, read_contract, tracking_contract
from simbench.sim.control.policy_law import PolicyLaw, load_onnx
from simbench.sim.control.policy_observer import TERMS
from simbench.sim.state import RobotState

EXAMPLES = Path(__file__).resolve().parents[3] / "examples" / "policies"
DT = 1e-3


@pytest.fixture(scope="module")
def puma():
    return load_robot("puma560")


@pytest.fixture(scope="module")
def romeo():
    return load_robot("romeo")


def contract(made_for, terms=("joint_position",), **keys):
    given = {
        "joints": list(made_for.joint_names),
        "observation": [{"term": term} if isinstance(term, str) else term for term in terms],
        "action": {"kind": "position_target"},
        **keys,
    }
    return PolicyContract.model_validate(given)


def random_state(robot, rng):
    """A state, a row of the reference, and its parts."""
    model = robot.model
    q, v = pin.integrate(model, pin.neutral(model), rng.normal(0.0, 0.3, model.nv)), rng.normal(size=model.nv)
    rows = rng.normal(size=(4, len(robot.joint_names)))
    return RobotState(q, v), rows


def test_terms_of_the_base_are_in_its_frame(romeo):
    state, rows = random_state(romeo, np.random.default_rng(0))
    names = ("projected_gravity", "base_linear_velocity", "base_angular_velocity", "base_height")
    law = PolicyLaw(romeo, contract(romeo, names), DT)
    observed = law.observe(state, rows.ravel())
    turned = Rotation.from_quat(state.q[3:7])
    np.testing.assert_allclose(observed[:3], turned.inv().apply([0.0, 0.0, -1.0]), atol=1e-12)
    # Velocities of the frame by Pinocchio, in its own axes.
    data = romeo.model.createData()
    pin.forwardKinematics(romeo.model, data, state.q, state.v)
    np.testing.assert_allclose(observed[3:9], data.v[1].vector, atol=1e-12)
    assert observed[9] == state.q[2]


def test_the_planned_base_is_seen_from_the_base(romeo):
    rng = np.random.default_rng(1)
    state, rows = random_state(romeo, rng)
    planned, _ = random_state(romeo, rng)
    law = PolicyLaw(romeo, contract(romeo, ("reference_base_position", "reference_base_orientation")), DT)
    law._base_now = lambda: planned.q[:7]
    observed = law.observe(state, rows.ravel())
    base, plan = (pin.XYZQUATToSE3(each.q[:7]) for each in (state, planned))
    between = base.actInv(plan)
    np.testing.assert_allclose(observed[:3], between.translation, atol=1e-12)
    # Row by row of the first two columns, as Isaac Lab and mjlab write them.
    expected = [between.rotation[row, column] for row in range(3) for column in range(2)]
    np.testing.assert_allclose(observed[3:], expected, atol=1e-12)
    tilt, height = law.base_errors(state)
    assert tilt == pytest.approx(np.linalg.norm(pin.log3(between.rotation)))
    assert height == pytest.approx(planned.q[2] - state.q[2])


def test_joints_are_in_the_contracts_order_clipped_then_scaled(puma):
    state, rows = random_state(puma, np.random.default_rng(2))
    names = list(puma.joint_names)[::-1]
    terms = [
        {"term": "joint_velocity", "clip": 0.5, "offset": 1.0, "scale": [1, 2, 3, 4, 5, 6]},
        {"term": "position_error"},
    ]
    law = PolicyLaw(puma, contract(puma, terms, joints=names), DT)
    observed = law.observe(state, rows.ravel())
    np.testing.assert_allclose(observed[:6], (np.clip(state.v[::-1], -0.5, 0.5) + 1.0) * np.arange(1, 7))
    np.testing.assert_allclose(observed[6:], (rows[0] - state.q)[::-1])
    assert law.observer.names[:2] == (f"joint_velocity.{names[0]}", f"joint_velocity.{names[1]}")


@pytest.mark.parametrize("order", ["by_term", "by_step"])
def test_the_past_is_observed_oldest_first(puma, order):
    terms = [{"term": "time", "history": 3}, {"term": "joint_position", "history": 3}]
    law = PolicyLaw(puma, contract(puma, terms, history_order=order), DT)
    torque, rows = np.zeros(6), np.zeros((4, 6))
    seen = []
    for step in range(4):
        state = RobotState(np.full(6, float(step)), np.zeros(6))
        seen.append(law.observe(state, rows.ravel()))
        law.torque(state, rows.ravel(), torque)
    if order == "by_term":
        np.testing.assert_allclose(seen[0][:3], 0.0)
        np.testing.assert_allclose(seen[3][:3], [0.001, 0.002, 0.003])
        np.testing.assert_allclose(seen[3][3:], np.repeat([1.0, 2.0, 3.0], 6))
    else:
        np.testing.assert_allclose(seen[3].reshape(3, 7)[:, 0], [0.001, 0.002, 0.003])
        np.testing.assert_allclose(seen[3].reshape(3, 7)[:, 1:], np.repeat([[1.0], [2.0], [3.0]], 6, axis=1))
        assert law.observer.names[0] == "time.0@-2"


def test_observations_are_normalised_and_clipped(puma):
    given = contract(puma, normalisation={"mean": 1.0, "std": [0.1] * 6, "clip": 5.0})
    observed = PolicyLaw(puma, given, DT).observe(RobotState(np.full(6, 1.2), np.zeros(6)), np.zeros(24))
    np.testing.assert_allclose(observed, 2.0)
    observed = PolicyLaw(puma, given, DT).observe(RobotState(np.full(6, 9.0), np.zeros(6)), np.zeros(24))
    np.testing.assert_allclose(observed, 5.0)


@pytest.mark.parametrize("name", ["puma560", "romeo"])
def test_a_residual_of_nothing_is_the_pd_law(name):
    robot = load_robot(name)
    state, rows = random_state(robot, np.random.default_rng(3))
    law, usual = PolicyLaw(robot, tracking_contract(robot), DT), PdLaw(robot, DT)
    torques = np.zeros((2, len(robot.joint_names)))
    position, velocity, acceleration, feedforward = rows
    demands = [each.demand(position, velocity, feedforward, acceleration) for each in (law, usual)]
    for each, demand, out in zip((law, usual), demands, torques, strict=True):
        each.torque(state, demand, out)
    np.testing.assert_allclose(*torques, rtol=1e-12)
    np.testing.assert_array_equal(law.implicit, usual.implicit)


def test_actions_become_torques_as_the_equations_say(puma):
    state, rows = random_state(puma, np.random.default_rng(4))
    a, k, d = np.linspace(-1.0, 1.0, 6), 50.0, 3.0
    names, default = list(puma.joint_names), np.full(6, 0.1)
    gains = {"stiffness": k, "damping": [d] * 6, "scale": 0.5}
    out = np.zeros(6)

    def torque(kind, **more):
        given = contract(
            puma, action={"kind": kind, **gains, **more}, default_position_rad=dict.fromkeys(names, 0.1)
        )
        law = PolicyLaw(puma, given, DT)
        law.set_action(a)
        law.torque(state, rows.ravel(), out)
        return out.copy(), law.implicit

    held, implicit = torque("position_target")
    np.testing.assert_allclose(held, k * (default + 0.5 * a - state.q - DT * state.v) - d * state.v)
    np.testing.assert_allclose(implicit, d * DT + k * DT**2)
    held, _ = torque("residual", clip=0.4)
    target = rows[0] + 0.5 * np.clip(a, -0.4, 0.4)
    expected = k * (target - state.q - DT * state.v) + d * (rows[1] - state.v) + rows[3]
    np.testing.assert_allclose(held, expected)
    held, implicit = torque("torque")
    np.testing.assert_allclose(held, 0.5 * a)
    np.testing.assert_array_equal(implicit, 0.0)


def test_joints_outside_the_contract_follow_the_plan(puma):
    state, rows = random_state(puma, np.random.default_rng(5))
    given = contract(puma, joints=[puma.joint_names[2]], action={"kind": "torque"})
    law, usual, out, expected = PolicyLaw(puma, given, DT), PdLaw(puma, DT), np.zeros(6), np.zeros(6)
    law.set_action(np.array([7.0]))
    law.torque(state, rows.ravel(), out)
    usual.torque(state, usual.demand(rows[0], rows[1], rows[3]), expected)
    expected[2] = 7.0
    np.testing.assert_allclose(out, expected)


def test_every_term_has_its_size(romeo):
    state, rows = random_state(romeo, np.random.default_rng(6))
    for name, term in TERMS.items():
        law = PolicyLaw(romeo, contract(romeo, (name,)), DT)
        assert law.observe(state, rows.ravel()).shape == (term.size or len(romeo.joint_names),)
        assert len(law.observer.names) == law.observer.size


@pytest.mark.parametrize(
    ("keys", "message"),
    [
        ({"joints": ["joint1", "knob"]}, r"contract: joints: puma560 has no joint"),
        ({"robot": "mahru"}, "robot: made for mahru, not for puma560"),
        ({"rate_hz": 300.0}, "rate_hz: 300; allowed: 1000 Hz of the physics divided by a whole number"),
        (
            {"observation": [{"term": "joint_positon"}]},
            r"unknown term joint_positon \(did you mean 'joint_position'",
        ),
        ({"observation": [{"term": "base_height"}]}, r"base_height: the base of puma560 is fixed"),
        ({"observation_size": 7}, r"observation_size: 7; allowed: 6, of joint_position 6"),
        ({"observation": [{"term": "time", "scale": [1, 2]}]}, r"scale: 2 numbers; allowed: one, or 1"),
        ({"default_position_rad": [0.0]}, r"default_position_rad: 1 numbers; allowed: 6"),
        ({"default_position_rad": [99.0] * 6}, r"default_position_rad: \S+ at 99; allowed: "),
        (
            {"action": {"kind": "torque", "stiffness": {"knob": 1.0}}},
            r"stiffness: knob is none of the contract's",
        ),
    ],
)
def test_a_contract_that_does_not_suit_is_refused_by_name(puma, keys, message):
    if "joints" in keys:
        keys = {**keys, "joints": [puma.joint_names[0], "knob"]}
    with pytest.raises(PolicyError, match=message):
        PolicyLaw(puma, contract(puma, **keys), DT)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("joints: [a, a]\nobservation: [{term: time}]\naction: {kind: torque}\n", "joints: a is there twice"),
        ("joints: [a]\nobservation: [{term: time}]\naction: {kind: push}\n", r"c\.yaml:3: action\.kind"),
        ("joints: [a]\nobservations: []\n", r"observations: unknown key \(did you mean 'observation'"),
        (
            "joints: [a]\nobservation: [{term: time}]\naction: {kind: torque}\naction_size: 2\n",
            "number of joints, 1",
        ),
    ],
)
def test_a_mistake_in_a_contract_is_told_with_its_line(tmp_path, text, message):
    (tmp_path / "c.yaml").write_text(text, encoding="utf-8")
    with pytest.raises(PolicyError, match=message):
        read_contract(tmp_path / "c.yaml")


def test_actions_of_another_size_or_not_finite_are_refused(puma):
    law = PolicyLaw(puma, contract(puma), DT)
    with pytest.raises(PolicyError):
        law.set_action(np.zeros(5))
    with pytest.raises(PolicyError, match=f"action of {puma.joint_names[1]} is no finite number at 0 s"):
        law.set_action(np.array([0.0, np.nan, 0.0, 0.0, 0.0, 0.0]))


def graph(path, *, inputs=(("o", 1, [1, 6]),), outputs=(("a", 1, [1, 6]),)):
    """An ONNX graph that adds up its inputs; types 1 float, 11 double, 7 integer."""
    onnx = pytest.importorskip("onnx")
    helper = onnx.helper
    nodes = [helper.make_node("Sum", [name for name, *_ in inputs], [name]) for name, *_ in outputs]
    made = helper.make_graph(
        nodes,
        "g",
        [helper.make_tensor_value_info(*each) for each in inputs],
        [helper.make_tensor_value_info(*each) for each in outputs],
    )
    onnx.save(helper.make_model(made, opset_imports=[helper.make_opsetid("", 17)], ir_version=9), path)
    return path


@pytest.mark.parametrize(
    ("given", "message"),
    [
        (
            {"inputs": (("o", 1, [1, 7]),), "outputs": (("a", 1, [1, 7]),)},
            r"input o has the shape \[1, 7\]; .* 6",
        ),
        ({"outputs": (("a", 1, [1, 6]), ("b", 1, [1, 6]))}, r"has 2 outputs \(a, b\); allowed: one"),
        ({"inputs": (("o", 1, [1, 6]), ("t", 1, [1, 6]))}, r"has 2 inputs \(o, t\); allowed: one"),
    ],
)
def test_graphs_that_do_not_suit_are_refused(puma, tmp_path, given, message):
    pytest.importorskip("onnxruntime")
    with pytest.raises(PolicyError, match=message):
        load_onnx(graph(tmp_path / "g.onnx", **given), PolicyLaw(puma, contract(puma), DT))


def test_files_that_are_no_graphs_are_refused(puma, tmp_path):
    pytest.importorskip("onnxruntime")
    law = PolicyLaw(puma, contract(puma), DT)
    with pytest.raises(PolicyError):
        load_onnx(tmp_path / "gone.onnx", law)
    (tmp_path / "text.onnx").write_text("no graph", encoding="utf-8")
    with pytest.raises(PolicyError):
        load_onnx(tmp_path / "text.onnx", law)


def endless(path):
    """An ONNX graph whose loop never ends."""
    onnx = pytest.importorskip("onnx")
    helper, value = onnx.helper, onnx.helper.make_tensor_value_info
    nodes = [helper.make_node("Identity", ["go"], ["on"]), helper.make_node("Add", ["x", "x"], ["y"])]
    given, made = [value("k", 7, []), value("go", 9, []), value("x", 1, [1, 6])], [value("on", 9, [])]
    body = helper.make_graph(nodes, "body", given, [*made, value("y", 1, [1, 6])])
    whole = helper.make_graph(
        [helper.make_node("Loop", ["", "true", "o"], ["a"], body=body)],
        "g",
        [value("o", 1, [1, 6])],
        [value("a", 1, [1, 6])],
        [helper.make_tensor("true", 9, [], [True])],
    )
    onnx.save(helper.make_model(whole, opset_imports=[helper.make_opsetid("", 17)], ir_version=9), path)
    return path


def test_a_graph_that_does_not_end_is_ended(puma, tmp_path):
    pytest.importorskip("onnxruntime")
    law = PolicyLaw(puma, contract(puma), DT)
    act = load_onnx(endless(tmp_path / "loop.onnx"), law, limit=0.01)
    with pytest.raises(
        PolicyError, match=r"loop.onnx: the policy took more than 0.01 s for one step; allowed"
    ):
        act(np.zeros(6))
    with pytest.raises(PolicyError, match=r"the policy took more than 1e-06 s to load; allowed"):
        load_onnx(tmp_path / "loop.onnx", law, load_limit=1e-6)


def test_a_signal_ends_a_graph_that_does_not_end(puma, tmp_path):
    """Where it is held back from everything else, until what is simulated is written."""
    pytest.importorskip("onnxruntime")
    act = load_onnx(endless(tmp_path / "loop.onnx"), PolicyLaw(puma, contract(puma), DT), limit=1e6)

    def send():
        while sys._current_frames()[threading.main_thread().ident].f_code.co_name != "act":
            pass
        os.kill(os.getpid(), signal.SIGTERM)

    def run():
        with shielded_from_interrupt():
            act(np.zeros(6))

    before = signal.signal(signal.SIGTERM, signal.default_int_handler)
    threading.Thread(target=send).start()
    try:
        with pytest.raises(KeyboardInterrupt):
            run()
    finally:
        signal.signal(signal.SIGTERM, before)


def test_observations_and_actions_pass_unchanged_and_what_fails_is_told(puma, tmp_path):
    pytest.importorskip("onnxruntime")
    helper, law = pytest.importorskip("onnx").helper, PolicyLaw(puma, contract(puma), DT)
    given = np.random.default_rng(0).normal(size=6)
    double = graph(tmp_path / "g.onnx", inputs=(("o", 11, [6]),), outputs=(("a", 11, ["m"]),))
    np.testing.assert_array_equal(load_onnx(double, law)(given), given)
    made = helper.make_graph(
        [helper.make_node("Concat", ["o", "o"], ["a"], axis=1)],
        "g",
        [helper.make_tensor_value_info("o", 1, [1, "n"])],
        [helper.make_tensor_value_info("a", 1, [1, "m"])],
    )
    model = helper.make_model(made, opset_imports=[helper.make_opsetid("", 17)], ir_version=9)
    (tmp_path / "twice.onnx").write_bytes(model.SerializeToString())
    with pytest.raises(PolicyError, match=r"twice.onnx: an action of 12 numbers; allowed: 6 \(at 0 s\)"):
        load_onnx(tmp_path / "twice.onnx", law)(given)


SWEEP = {"motion.task": {"amplitude_rad": 0.1}, "simulation.settle_s": 0.05, "simulation.hold_s": 0.05}


def test_the_pd_law_as_a_graph_moves_the_arm_as_the_built_in_one(tmp_path):
    pytest.importorskip("onnxruntime")
    pytest.importorskip("onnx")
    sys.path.insert(0, str(EXAMPLES))
    try:
        from export_pd import export_pd
    finally:
        sys.path.remove(str(EXAMPLES))
    usual = run_scenario(load_scenario("puma560_sweep", {**SWEEP, "control.law": "pd"}), tmp_path / "pd")
    before = open_run(usual.directory)["joint_position"].values
    for rate, furthest in ((1000.0, 1e-9), (50.0, 0.02)):
        export_pd("puma560", tmp_path / f"pd{rate:g}", rate)
        policy = {
            "contract": str(tmp_path / f"pd{rate:g}_contract.yaml"),
            "model": str(tmp_path / f"pd{rate:g}.onnx"),
        }
        scenario = load_scenario("puma560_sweep", {**SWEEP, "control": {"law": "policy", "policy": policy}})
        result = run_scenario(scenario, tmp_path / f"run{rate:g}")
        away = np.abs(open_run(result.directory)["joint_position"].values - before).max()
        assert away < furthest
    written = json.loads((result.directory / "provenance.json").read_text(encoding="utf-8"))["policy"]
    assert set(written) == set(policy.values())
    # Held for 20 ms, the target is late: it is not the same.
    assert away > 1e-4


def test_the_trained_network_runs_its_scenario(tmp_path):
    pytest.importorskip("onnxruntime")
    result = run_scenario(load_scenario(EXAMPLES / "puma_mlp.yaml"), tmp_path / "run")
    assert all(check.passed for check in result.checks)


def test_python_code_can_be_the_policy(tmp_path):
    (tmp_path / "follow.py").write_text("def make(robot):\n    return lambda o: o\n", encoding="utf-8")
    robot = load_robot("puma560")
    text = yaml.safe_dump(
        {
            "joints": list(robot.joint_names),
            "rate_hz": 500.0,
            "observation": [{"term": "reference_position"}],
            "action": {"kind": "position_target", "offset": "none"},
        }
    )
    (tmp_path / "c.yaml").write_text(text, encoding="utf-8")
    scenario = {
        "name": "s",
        "robot": {"name": "puma560", "posture": "ready"},
        "motion": {"source": "joints:sweep", "task": {"amplitude_rad": 0.1}},
        "control": {"law": "policy", "policy": {"contract": "c.yaml", "callable": "./follow.py:make"}},
    }
    (tmp_path / "s.yaml").write_text(yaml.safe_dump(scenario), encoding="utf-8")
    result = run_scenario(load_scenario(tmp_path / "s.yaml"), tmp_path / "run")
    assert result.metrics["tracking.rms_rad"] < 0.05
    (tmp_path / "follow.py").write_text("def make(robot):\n    return lambda o: o[:2]\n", encoding="utf-8")
    with pytest.raises(SimbenchError, match=r"an action of shape \(2,\); allowed: \(6,\)"):
        run_scenario(load_scenario(tmp_path / "s.yaml"), tmp_path / "short")


@pytest.mark.parametrize("name", ["isaac_lab_tracker", "mjlab_tracker"])
def test_the_templates_suit_their_robots(name):
    given = read_contract(EXAMPLES / f"{name}.yaml")
    robot = load_robot(given.robot)
    law = PolicyLaw(robot, given, DT, name, robot.postures["standing"])
    m = len(given.joints)
    assert law.observer.size == 5 * m + 3 + 6 + 3 + 3
    assert law.every == 20


def test_gains_by_joint_and_group_replace_the_robots(romeo):
    from simbench.options import ControlSection
    from simbench.sim.control.torque_law import apply_gains

    control = ControlSection.model_validate(
        {
            "stiffness": {"LElbowRoll": 7.0, "left_arm": 5.0},
            "damping": 0.5,
            "stiffness_scale": {"right_arm": 2.0},
        }
    )
    motors = apply_gains(romeo, control).motors
    index = {name: k for k, name in enumerate(romeo.joint_names)}
    expected = romeo.motors.stiffness.copy()
    for name in romeo.groups["left_arm"]:
        expected[index[name]] = 5.0
    expected[index["LElbowRoll"]] = 7.0
    for name in romeo.groups["right_arm"]:
        expected[index[name]] *= 2.0
    np.testing.assert_allclose(motors.stiffness, expected)
    np.testing.assert_array_equal(motors.damping, 0.5)
    wrong = control.model_copy(update={"damping": {"left_arn": 1.0}})
    with pytest.raises(SimbenchError, match=r"control\.damping\.left_arn: romeo has no such .*'left_arm'"):
        apply_gains(replace(romeo), wrong)


def test_without_onnxruntime_the_extra_is_named(puma, tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "onnxruntime", None)
    with pytest.raises(PolicyError):
        load_onnx(tmp_path / "g.onnx", PolicyLaw(puma, contract(puma), DT))


def test_terms_may_look_back_over_different_times(puma):
    law = PolicyLaw(puma, contract(puma, [{"term": "time", "history": 3}, "joint_position"]), DT)
    names = [f"joint_position.{name}" for name in puma.joint_names]
    assert list(law.observer.names) == ["time.0@-2", "time.0@-1", "time.0", *names]
    observed = law.observe(RobotState(np.arange(6.0), np.zeros(6)), np.zeros(24))
    np.testing.assert_allclose(observed, [0.0, 0.0, 0.0, *range(6)])
