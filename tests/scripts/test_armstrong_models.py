"""The paper's symbolic derivation and counted recursion, against Pinocchio and closed forms."""

import dataclasses

import numpy as np
import pinocchio as pin
import pytest
from script_modules import loaded_script
from serial_arms import make_arm, odd_arms

from simbench.dynamics.arm import arm_model, read_arm
from simbench.dynamics.explicit_model import compile_parts, make_evaluator
from simbench.dynamics.puma560_explicit import Puma560Full
from simbench.robot.dh import DhRow

MOTORS = np.array([1.14, 4.71, 0.827, 0.200, 0.179, 0.193])
KINDS = ("beta", "lengthened", "sliding", "leaning")


@pytest.fixture(scope="module")
def script():
    with loaded_script("reproduce/armstrong1986/armstrong1986.py") as module:
        yield module


@pytest.fixture(scope="module")
def puma():
    return read_arm("puma560")


@pytest.fixture(scope="module")
def full(script, puma):
    return script.derive_explicit_model(puma)


@pytest.fixture(scope="module")
def short(script, full):
    return script.abbreviate_model(full)


@pytest.fixture(scope="module")
def derive():
    """Script that writes the model that ships."""
    with loaded_script("reproduce/armstrong1986/derive_explicit_models.py") as module:
        yield module


@pytest.fixture(scope="module")
def derived(derive):
    """Function from an arm to its derived model, as generated code with the arm's numbers."""

    def evaluator(arm):
        names = {}
        exec(derive.model_source("arm", {"Derived": derive.derive_explicit_model(arm)}), names)
        return make_evaluator(names["Derived"], arm)

    return evaluator


@pytest.fixture(scope="module")
def sizes():
    with loaded_script("reproduce/armstrong1986/armstrong_sizes.py") as module:
        yield module


def states(joints, count, seed=560):
    rng = np.random.default_rng(seed)
    spans = ((-np.pi, np.pi), (-4, 4), (-20, 20))
    return [rng.uniform(*span, (count, joints)) for span in spans]


def pinocchio_torques(arm, q, velocity, acceleration):
    model = arm_model(arm)
    data = model.createData()
    return np.array([pin.rnea(model, data, *each) for each in zip(q, velocity, acceleration, strict=True)])


def terms_of_pinocchio(script, model, q):
    """A by composite bodies, the others by Pinocchio's own recursion with single velocities."""
    n, data = model.nv, model.createData()
    inertia = pin.crba(model, data, q)
    gravity = pin.computeGeneralizedGravity(model, data, q)
    bias = {
        pair: pin.nonLinearEffects(model, data, q, np.isin(np.arange(n), pair).astype(float)) - gravity
        for pair in [*((i,) for i in range(n)), *script.velocity_products(n)]
    }
    squares = np.array([bias[(i,)] for i in range(n)]).T
    products = [bias[i, j] - bias[(i,)] - bias[(j,)] for i, j in script.velocity_products(n)]
    coriolis = np.array(products).T if products else np.zeros((n, 0))
    return np.triu(inertia) + np.triu(inertia, 1).T, coriolis, squares, gravity


def test_the_recursion_is_pinocchios(script, puma):
    state = states(6, 10_000)
    bare = dataclasses.replace(puma, viscous=np.zeros(6), coulomb=np.zeros(6))
    found = script.inverse_dynamics(bare, *state)
    np.testing.assert_allclose(found, pinocchio_torques(puma, *state), rtol=0, atol=1e-9)


@pytest.mark.parametrize("kind", ["puma", *KINDS])
def test_recursion_of_any_row_and_any_joint(script, puma, kind):
    arm = puma if kind == "puma" else odd_arms()[kind]
    state, none = states(arm.joints, 50), np.zeros(arm.joints)
    bare = dataclasses.replace(arm, viscous=none, coulomb=none)
    np.testing.assert_allclose(
        script.inverse_dynamics(bare, *state), pinocchio_torques(arm, *state), rtol=0, atol=1e-9
    )
    for i, terms in enumerate(zip(*script.dynamics_terms(arm, state[0]), strict=True)):
        expected = terms_of_pinocchio(script, arm_model(arm), state[0][i])
        for ours, theirs in zip(terms, expected, strict=True):
            np.testing.assert_allclose(ours, theirs, rtol=0, atol=1e-9)


def test_motors_are_on_the_diagonal_of_a_and_nowhere_else(script, puma):
    q = states(6, 5)[0]
    bare = dataclasses.replace(puma, motor=np.zeros(6))
    terms = (script.dynamics_terms(arm, q) for arm in (puma, bare))
    differences = [a - b for a, b in zip(*terms, strict=True)]
    np.testing.assert_allclose(differences[0], np.tile(np.diag(MOTORS), (5, 1, 1)), atol=1e-12)
    assert not any(each.any() for each in differences[1:])


def test_a_count_is_what_was_done(script):
    # (x y + z) − 2 z, and what constants 0, 1 and −1 leave to do.
    assert script.count_operations(lambda x: (x[0] * x[1] + x[2]) - 2 * x[2], 3) == script.Operations(2, 2)
    assert script.count_operations(
        lambda x: 0 * x[0] + 1 * x[1] + -1 * np.sin(x[2]) + 0, 3
    ) == script.Operations(0, 1)


def test_count_of_the_recursion(script, puma):
    # The paper's 1560 is without leaving out what is zero in this arm.
    assert 500 < script.count_newton_euler(puma).total < 1560
    # One weightless link on its axis: I_zz q̈, and I_zz q̇ to find that nothing turns it over.
    one = make_arm([DhRow()], full=False)
    one = dataclasses.replace(one, mass=np.zeros(1), centre=np.zeros((1, 3)))
    assert script.count_newton_euler(one) == script.Operations(2, 0)


def test_what_ships_is_what_is_derived(derive):
    path = derive.FOLDER / "puma560_explicit.py"
    assert path.read_text(encoding="utf-8") == derive.derived_source("puma560"), (
        "run derive_explicit_models.py"
    )


def test_a_b_c_and_g_of_ten_thousand_states_are_those_of_the_recursion(script, puma):
    q = states(6, 10_000)[0]
    found = script.explicit_terms(make_evaluator(Puma560Full, puma), q)
    for ours, theirs in zip(found, script.dynamics_terms(puma, q), strict=True):
        np.testing.assert_allclose(ours, theirs, rtol=0, atol=1e-9)


@pytest.mark.parametrize("kind", KINDS)
def test_any_serial_arm(script, derived, kind):
    arm = odd_arms()[kind]
    model, state = derived(arm), states(arm.joints, 50)
    expected = pinocchio_torques(arm, *state)
    np.testing.assert_allclose(script.many_torques(model, *state), expected, rtol=0, atol=1e-9)
    compute, combine = compile_parts(model.module)
    elements, torque = np.empty(len(model.module.ELEMENTS)), np.empty(arm.joints)
    compute(model.constants, state[0][0], elements)
    combine(elements, state[1][0], state[2][0], torque)
    np.testing.assert_allclose(torque, expected[0], rtol=0, atol=1e-9)


def test_two_links_are_the_textbooks(script, derived):
    """Ohtsuki: M11 = I1 + m2 L1² + I2 + 2 m2 L1 (s2x C2 − s2y S2), horizontal: no gravity torques."""
    arm = read_arm("direct_drive_arm")
    model = derived(arm)
    angle = np.linspace(-2, 2, 9)
    inertia, coriolis, centrifugal, gravity = script.explicit_terms(
        model, np.stack([0 * angle, angle], axis=1)
    )
    along = 0.25 * (1.718632 * np.cos(angle) - 0.181763 * np.sin(angle))
    across = 0.25 * (1.718632 * np.sin(angle) + 0.181763 * np.cos(angle))
    np.testing.assert_allclose(inertia[:, 0, 0], 1.986076 + 0.471209 + 2 * along, atol=1e-6)
    np.testing.assert_allclose(inertia[:, 0, 1], 0.471209 + along, atol=1e-6)
    np.testing.assert_allclose(coriolis[:, 0, 0], -2 * across, atol=1e-6)
    np.testing.assert_allclose(centrifugal[:, 1, 0], across, atol=1e-6)
    assert not gravity.any()


def test_it_is_no_larger_than_the_papers(script, full, short):
    whole, brief = script.count_model(full), script.count_model(short)
    assert whole.expanded["A"].total <= 278
    assert whole.total(whole.expanded).total <= 1165
    assert brief.expanded["A"].total <= 25
    assert brief.total(brief.factored).total <= 305
    assert len(full.constant_values()) <= 34
    assert sum(len(place) == 3 for place in full.elements) <= 39
    for counts in (whole, brief):
        totals = [counts.total(way).total for way in (counts.expanded, counts.factored, counts.shared)]
        assert totals == sorted(totals, reverse=True)


def test_christoffel_symbols_by_the_general_relations_alone(sizes):
    """A pair of joints leaves two, a triple two; without the last joint's angle ten and ten fewer."""
    places = sizes.christoffel_indices(6)
    assert len(places) == 126
    assert sizes.count_unique(sizes.christoffel_symbol(place) for place in places) == 2 * 15 + 2 * 20
    assert sizes.count_unique(sizes.christoffel_symbol(place, lost=(6,)) for place in places) == 70 - 10 - 10


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


def test_equations_read_as_the_papers(script, full):
    lines = script.equations(full)
    assert "a26 = I22 S4 S5" in lines
    assert "a55 = Im5 + I17" in lines
    assert "w4 = g5 S23 S4 S5" in lines
    assert "c23 = 1/2 b223" in lines
    assert "b336 = b126" not in lines
