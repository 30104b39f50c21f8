"""The explicit model against recursion and Pinocchio, its size against the paper's."""

import dataclasses
import importlib.util
from pathlib import Path
from types import ModuleType

import numpy as np
import pinocchio as pin
import pytest

from simbench.dynamics.abbreviation import abbreviate_model
from simbench.dynamics.arm import arm_model, read_arm
from simbench.dynamics.christoffel import christoffel_indices, christoffel_symbol, count_unique
from simbench.dynamics.equations import count_model, equations
from simbench.dynamics.evaluation import compile_torques, explicit_terms, explicit_torques, make_evaluator
from simbench.dynamics.explicit_model import derive_explicit_model
from simbench.dynamics.generated import puma560_abbreviated, puma560_full
from simbench.dynamics.model_module import model_module
from simbench.dynamics.newton_euler import dynamics_terms
from simbench.dynamics.sine_cosine import sines_and_cosines
from simbench.errors import DynamicsError, RobotError
from simbench.robot.robot import load_robot

SCRIPT = Path(__file__).parents[2] / "scripts" / "tools" / "derive_explicit_models.py"


@pytest.fixture(scope="module")
def full(puma):
    return derive_explicit_model(puma)


@pytest.fixture(scope="module")
def short(full):
    return abbreviate_model(full)


def states(joints, count, seed=560):
    rng = np.random.default_rng(seed)
    spans = ((-np.pi, np.pi), (-4, 4), (-20, 20))
    return [rng.uniform(*span, (count, joints)) for span in spans]


def pinocchio_torques(arm, q, velocity, acceleration):
    model = arm_model(arm)
    data = model.createData()
    return np.array([pin.rnea(model, data, *each) for each in zip(q, velocity, acceleration, strict=True)])


def plain_torques(model, q, velocity, acceleration):
    """By NumPy alone, states along the last axis."""
    code = model.module
    elements = code.configuration(model.constants, code.trigonometry(q.T))
    return np.array(code.torque(elements, velocity.T, acceleration.T)).T


def module_of(model):
    module = ModuleType("derived")
    exec(model_module(model, "Derived."), module.__dict__)
    return module


def test_torques_of_ten_thousand_states_are_pinocchios(puma):
    q, velocity, acceleration = states(6, 10_000)
    model = make_evaluator(puma560_full, puma)
    expected = pinocchio_torques(puma, q, velocity, acceleration)
    found = explicit_torques(model, q, velocity, acceleration)
    np.testing.assert_allclose(found, expected, rtol=0, atol=1e-9)
    np.testing.assert_allclose(plain_torques(model, q, velocity, acceleration), expected, rtol=0, atol=1e-9)


def test_a_b_c_and_g_of_ten_thousand_states_are_those_of_the_recursion(puma):
    # Which are Pinocchio's: test_newton_euler.
    q = states(6, 10_000)[0]
    found = explicit_terms(make_evaluator(puma560_full, puma), q)
    for ours, theirs in zip(found, dynamics_terms(puma, q), strict=True):
        np.testing.assert_allclose(ours, theirs, rtol=0, atol=1e-9)


def test_other_numbers_of_the_same_arm(puma):
    """Such as the paper's own table, or an arm whose motors are off."""
    inertia = puma.inertia.copy()
    inertia[2, 2, 2] = 0.086
    other = dataclasses.replace(puma, inertia=inertia, mass=1.3 * puma.mass, motor=np.zeros(6))
    q = states(6, 20)[0]
    found = explicit_terms(make_evaluator(puma560_full, other), q)
    for ours, theirs in zip(found, dynamics_terms(other, q), strict=True):
        np.testing.assert_allclose(ours, theirs, rtol=0, atol=1e-9)


def test_what_ships_is_what_is_derived(full, short):
    spec = importlib.util.spec_from_file_location("derive_explicit_models", SCRIPT)
    script = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(script)
    for name, text in script.modules("puma560").items():
        assert (script.FOLDER / name).read_text(encoding="utf-8") == text, f"{name}: run {SCRIPT.name}"


@pytest.mark.parametrize("kind", ["beta", "lengthened", "sliding", "leaning"])
def test_any_serial_arm(odd_arms, kind):
    arm = odd_arms[kind]
    model = make_evaluator(module_of(derive_explicit_model(arm)), arm)
    state = states(arm.joints, 50)
    expected = pinocchio_torques(arm, *state)
    np.testing.assert_allclose(plain_torques(model, *state), expected, rtol=0, atol=1e-9)
    for ours, theirs in zip(explicit_terms(model, state[0]), dynamics_terms(arm, state[0]), strict=True):
        np.testing.assert_allclose(ours, theirs, rtol=0, atol=1e-9)


def test_two_links_are_the_textbooks():
    """Ohtsuki: M11 = I1 + m2 L1² + I2 + 2 m2 L1 (s2x C2 − s2y S2), horizontal: no gravity torques."""
    arm = read_arm("direct_drive_arm")
    model = make_evaluator(module_of(derive_explicit_model(arm)), arm)
    angle = np.linspace(-2, 2, 9)
    inertia, coriolis, centrifugal, gravity = explicit_terms(model, np.stack([0 * angle, angle], axis=1))
    along = 0.25 * (1.718632 * np.cos(angle) - 0.181763 * np.sin(angle))
    across = 0.25 * (1.718632 * np.sin(angle) + 0.181763 * np.cos(angle))
    np.testing.assert_allclose(inertia[:, 0, 0], 1.986076 + 0.471209 + 2 * along, atol=1e-6)
    np.testing.assert_allclose(inertia[:, 0, 1], 0.471209 + along, atol=1e-6)
    np.testing.assert_allclose(coriolis[:, 0, 0], -2 * across, atol=1e-6)
    np.testing.assert_allclose(centrifugal[:, 1, 0], across, atol=1e-6)
    assert not gravity.any()


def test_it_is_no_larger_than_the_papers(full, short):
    whole, brief = count_model(full), count_model(short)
    assert whole.expanded["A"].total <= 278
    assert whole.total(whole.expanded).total <= 1165
    assert brief.expanded["A"].total <= 25
    assert brief.total(brief.factored).total <= 305
    assert len(full.constant_values()) <= 34
    assert sum(len(place) == 3 for place in full.elements) <= 39
    for counts in (whole, brief):
        totals = [counts.total(way).total for way in (counts.expanded, counts.factored, counts.shared)]
        assert totals == sorted(totals, reverse=True)


def test_christoffel_symbols_by_the_general_relations_alone():
    """A pair of joints leaves two, a triple two; without the last joint's angle ten and ten fewer."""
    places = christoffel_indices(6)
    assert len(places) == 126
    assert count_unique(christoffel_symbol(place) for place in places) == 2 * 15 + 2 * 20
    assert count_unique(christoffel_symbol(place, lost=(6,)) for place in places) == 70 - 10 - 10


def test_gravity_constants_are_the_published_ones(full):
    # The paper's appendix, N·m, signs aside: ± 0.5, 0.20, 0.50, 0.025, 0.0056.
    values = full.constant_values()
    for name, published, tolerance in (
        ("g1", 37.2, 0.5),
        ("g2", 8.44, 0.20),
        ("g3", 1.02, 0.50),
        ("g4", 0.249, 0.025),
        ("g5", 0.0282, 0.0056),
    ):
        assert abs(values[name]) == pytest.approx(published, abs=0.1 * tolerance)


def test_equations_read_as_the_papers(full):
    lines = equations(full)
    assert "a26 = I22 S4 S5" in lines
    assert "a55 = Im5 + I17" in lines
    assert "w4 = g5 S23 S4 S5" in lines
    assert "c23 = 1/2 b223" in lines
    assert "b336 = b126" not in lines


def test_abbreviated_torques_are_within_two_percent_of_the_motors(puma):
    robot = load_robot("puma560")
    rng = np.random.default_rng(1)
    limits, speeds = robot.model.lowerPositionLimit, robot.model.velocityLimit
    q = rng.uniform(limits, robot.model.upperPositionLimit, (2000, 6))
    velocity, acceleration = rng.uniform(-speeds, speeds, (2, 2000, 6))
    model = make_evaluator(puma560_abbreviated, puma)
    off = plain_torques(model, q, velocity, acceleration)
    off -= pinocchio_torques(puma, q, velocity, acceleration)
    assert 0 < np.abs(off / robot.motors.torque_limit).max() < 0.02
    one, out = compile_torques(puma560_abbreviated)[0], np.empty(6)
    one(model.constants, q[0], velocity[0], acceleration[0], out)
    np.testing.assert_allclose(
        out, plain_torques(model, q[:1], velocity[:1], acceleration[:1])[0], rtol=0, atol=1e-12
    )


@pytest.mark.parametrize("span", [1.0, 1e4, 1e9])
def test_sines_and_cosines(span):
    angle = np.random.default_rng(0).uniform(-span, span, 10_000)
    angle[:100] = np.arange(-50, 50) * (np.pi / 4)
    sine, cosine = np.empty_like(angle), np.empty_like(angle)
    sines_and_cosines(angle, sine, cosine, len(angle))
    np.testing.assert_allclose(sine, np.sin(angle), rtol=0, atol=2.3e-16)
    np.testing.assert_allclose(cosine, np.cos(angle), rtol=0, atol=2.3e-16)


def test_what_a_model_is_not_for_is_refused(puma, odd_arms):
    with pytest.raises(DynamicsError, match="puma560_full: the arm has"):
        make_evaluator(puma560_full, odd_arms["beta"])
    heavier = puma.centre.copy()
    heavier[4, 0] = 0.01
    with pytest.raises(DynamicsError, match="the arm's x5 is not zero; derive a model of its own"):
        make_evaluator(puma560_full, dataclasses.replace(puma, centre=heavier))
    with pytest.raises(RobotError, match=r"q of shape \(7,\); allowed: \(\.\.\., 6\)"):
        explicit_torques(make_evaluator(puma560_full, puma), np.zeros(7), np.zeros(6), np.zeros(6))
