"""Arms: regressor times parameters is inverse dynamics, base parameters the closed form of two links."""

import dataclasses

import numpy as np
import pytest
from serial_arms import odd_arms

from simbench.calibration.dynamic_calibration import BaseParameters
from simbench.dynamics.arm import (
    inverse_dynamics,
    parameter_names,
    parameter_vector,
    read_arm,
    torque_regressor,
    with_parameters,
)


def states(arm, count=40, seed=7):
    rng = np.random.default_rng(seed)
    return rng.uniform(-3, 3, (3, count, arm.joints))


@pytest.mark.parametrize("kind", ["puma", "beta", "sliding", "leaning"])
def test_regressor_times_parameters_is_newton_euler(kind):
    arm = read_arm("puma560") if kind == "puma" else odd_arms()[kind]
    state = states(arm)
    torque = torque_regressor(arm, *state) @ parameter_vector(arm)
    np.testing.assert_allclose(torque, inverse_dynamics(arm, *state), rtol=0, atol=1e-10)


@pytest.mark.parametrize("kind", ["puma", "beta", "sliding", "leaning"])
def test_base_parameters_are_all_that_torques_depend_on(kind):
    arm = read_arm("puma560") if kind == "puma" else odd_arms()[kind]
    base, state = BaseParameters(arm), states(arm, seed=8)
    columns = torque_regressor(arm, *state)[..., base.columns]
    torque = columns @ (base.regroup @ parameter_vector(arm))
    np.testing.assert_allclose(torque, inverse_dynamics(arm, *state), rtol=0, atol=1e-9)
    matrix = columns.reshape(-1, len(base.names))
    assert np.linalg.matrix_rank(matrix) == len(base.names)


def test_base_parameters_of_the_direct_drive_arm_are_the_papers():
    arm = read_arm("direct_drive_arm")
    base = BaseParameters(arm)
    assert base.names == (
        "joint1.izz + 0.0625 joint2.m",
        "joint1.viscous",
        "joint1.coulomb",
        "joint2.izz",
        "joint2.mx",
        "joint2.my",
        "joint2.viscous",
        "joint2.coulomb",
    )
    values = base.regroup @ parameter_vector(arm)
    np.testing.assert_allclose(values[[0, 3, 4, 5]], [1.986076, 0.471209, 1.718632, 0.181763], atol=1e-9)


def test_puma_has_the_base_parameters_of_the_literature():
    """36 of its links (Mayeda, Yoshida & Osuka 1990), and motors 3 to 6, which no link equals."""
    base = BaseParameters(read_arm("puma560"))
    assert len([name for name in base.names if "viscous" not in name and "coulomb" not in name]) == 36 + 4


def test_an_arm_with_its_own_parameters_moves_as_itself():
    puma = read_arm("puma560")
    state = states(puma, seed=9)
    same = with_parameters(puma, parameter_vector(puma))
    np.testing.assert_allclose(inverse_dynamics(same, *state), inverse_dynamics(puma, *state), atol=1e-10)
    doubled = with_parameters(puma, 2.0 * parameter_vector(puma))
    np.testing.assert_allclose(
        inverse_dynamics(doubled, *state), 2.0 * inverse_dynamics(puma, *state), atol=1e-10
    )
    assert len(parameter_names(puma)) == 6 * 13
    direct = dataclasses.replace(puma, motor=np.zeros(6))
    assert len(parameter_names(direct)) == 6 * 12


def test_friction_is_that_of_moving_joints():
    arm = read_arm("direct_drive_arm")
    none = np.zeros(2)
    np.testing.assert_array_equal(inverse_dynamics(arm, none, none, none), none)
    moving = inverse_dynamics(arm, none, [1e-9, -2.0], none) - inverse_dynamics(
        dataclasses.replace(arm, viscous=none, coulomb=none), none, [1e-9, -2.0], none
    )
    np.testing.assert_allclose(moving, [0.010918, -2 * 0.000311], atol=1e-10)
