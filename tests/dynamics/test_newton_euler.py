"""The recursion against Pinocchio: torques, and A, B, C and g one by one; and what it costs."""

import dataclasses

import numpy as np
import pinocchio as pin
import pytest

from simbench.dynamics.arm import arm_model, read_arm
from simbench.dynamics.newton_euler import dynamics_terms, inverse_dynamics, velocity_products
from simbench.dynamics.operation_count import Operations, count_newton_euler, count_operations
from simbench.errors import RobotError
from simbench.robot.dh import DhRow
from simbench.robot.robot import load_robot

MOTORS = np.array([1.14, 4.71, 0.827, 0.200, 0.179, 0.193])


def terms_of_pinocchio(model, q):
    """A by composite bodies, the others by Pinocchio's own recursion with single velocities."""
    n, data = model.nv, model.createData()
    inertia = pin.crba(model, data, q)
    gravity = pin.computeGeneralizedGravity(model, data, q)
    bias = {
        pair: pin.nonLinearEffects(model, data, q, np.isin(np.arange(n), pair).astype(float)) - gravity
        for pair in [*((i,) for i in range(n)), *velocity_products(n)]
    }
    squares = np.array([bias[(i,)] for i in range(n)]).T
    products = [bias[i, j] - bias[(i,)] - bias[(j,)] for i, j in velocity_products(n)]
    coriolis = np.array(products).T if products else np.zeros((n, 0))
    return np.triu(inertia) + np.triu(inertia, 1).T, coriolis, squares, gravity


def states(arm, count, seed=1986):
    rng = np.random.default_rng(seed)
    n = arm.joints
    return (
        rng.uniform(-np.pi, np.pi, (count, n)),
        rng.uniform(-4, 4, (count, n)),
        rng.uniform(-20, 20, (count, n)),
    )


def rubbing(arm, velocity):
    return arm.viscous * velocity + arm.coulomb * np.sign(velocity)


def test_torques_of_ten_thousand_states_are_pinocchios(puma):
    q, velocity, acceleration = states(puma, 10_000)
    model = load_robot("puma560").model
    data = model.createData()
    expected = [pin.rnea(model, data, *state) for state in zip(q, velocity, acceleration, strict=True)]
    found = inverse_dynamics(puma, q, velocity, acceleration) - rubbing(puma, velocity)
    # The URDF has its numbers with fewer digits than the table.
    np.testing.assert_allclose(found, expected, rtol=0, atol=1e-5)
    model = arm_model(puma)
    data = model.createData()
    expected = [pin.rnea(model, data, *state) for state in zip(q, velocity, acceleration, strict=True)]
    np.testing.assert_allclose(found, expected, rtol=0, atol=1e-9)


def test_each_of_a_b_c_and_g_is_pinocchios(puma):
    q = states(puma, 200)[0]
    found, model = dynamics_terms(puma, q), arm_model(puma)
    for i, each in enumerate(q):
        for ours, theirs in zip(found, terms_of_pinocchio(model, each), strict=True):
            np.testing.assert_allclose(ours[i], theirs, rtol=0, atol=1e-9)


def test_motors_are_on_the_diagonal_of_a_and_nowhere_else(puma):
    q = states(puma, 5)[0]
    bare = dataclasses.replace(puma, motor=np.zeros(6))
    differences = [a - b for a, b in zip(dynamics_terms(puma, q), dynamics_terms(bare, q), strict=True)]
    np.testing.assert_allclose(differences[0], np.tile(np.diag(MOTORS), (5, 1, 1)), atol=1e-12)
    assert not any(each.any() for each in differences[1:])


@pytest.mark.parametrize("kind", ["beta", "lengthened", "sliding", "leaning"])
def test_any_row_and_any_joint(odd_arms, kind):
    arm = odd_arms[kind]
    q, velocity, acceleration = states(arm, 50)
    model = arm_model(arm)
    data = model.createData()
    expected = [pin.rnea(model, data, *state) for state in zip(q, velocity, acceleration, strict=True)]
    found = inverse_dynamics(arm, q, velocity, acceleration)
    np.testing.assert_allclose(found - rubbing(arm, velocity), expected, rtol=0, atol=1e-9)
    for i, terms in enumerate(zip(*dynamics_terms(arm, q), strict=True)):
        for ours, theirs in zip(terms, terms_of_pinocchio(model, q[i]), strict=True):
            np.testing.assert_allclose(ours, theirs, rtol=0, atol=1e-9)


def test_friction_is_that_of_moving_joints():
    arm = read_arm("direct_drive_arm")
    none = np.zeros(2)
    np.testing.assert_array_equal(inverse_dynamics(arm, none, none, none), none)
    moving = inverse_dynamics(arm, none, [1e-9, -2.0], none) - inverse_dynamics(
        dataclasses.replace(arm, viscous=none, coulomb=none), none, [1e-9, -2.0], none
    )
    np.testing.assert_allclose(moving, [0.010918, -2 * 0.000311], atol=1e-10)


def test_a_count_is_what_was_done():
    # (x y + z) − 2 z, and what constants 0, 1 and −1 leave to do.
    assert count_operations(lambda x: (x[0] * x[1] + x[2]) - 2 * x[2], 3) == Operations(2, 2)
    assert count_operations(lambda x: 0 * x[0] + 1 * x[1] + -1 * np.sin(x[2]) + 0, 3) == Operations(0, 1)


def test_count_of_the_recursion(puma, make_arm):
    # The paper's 1560 is without leaving out what is zero in this arm.
    assert 500 < count_newton_euler(puma).total < 1560
    # One weightless link on its axis: I_zz q̈, and I_zz q̇ to find that nothing turns it over.
    one = make_arm([DhRow()], full=False)
    one = dataclasses.replace(one, mass=np.zeros(1), centre=np.zeros((1, 3)))
    assert count_newton_euler(one) == Operations(2, 0)


def test_bad_input_is_said(puma, odd_arms):
    with pytest.raises(RobotError, match=r"velocity of shape \(5,\); allowed: \(\.\.\., 6\)"):
        inverse_dynamics(puma, np.zeros(6), np.zeros(5), np.zeros(6))
    with pytest.raises(RobotError, match=r"arm, mass: shape \(2,\); allowed: \(6,\)"):
        dataclasses.replace(puma, mass=np.ones(2))
    with pytest.raises(RobotError, match="no row"):
        read_arm("romeo")
