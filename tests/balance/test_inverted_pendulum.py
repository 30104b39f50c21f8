"""Inverted pendulum: COG profile against exact integration and closed forms; stability of its control."""

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from scipy.integrate import solve_ivp
from scipy.linalg import expm

from simbench.balance.inverted_pendulum import (
    CogZmpGains,
    choose_gains,
    cog_profile,
    commanded_velocity,
    natural_frequency,
)
from simbench.errors import BalanceError

OMEGA = 3.45


def test_the_natural_frequency_of_mahru():
    # √(9.81 / 0.82)
    assert natural_frequency(0.82) == pytest.approx(3.4588, abs=1e-4)


@pytest.mark.parametrize("height", [0.0, -0.8, np.nan])
def test_a_cog_on_the_floor_is_refused(height):
    with pytest.raises(BalanceError):
        natural_frequency(height)


@settings(max_examples=30, deadline=None)
@example(seed=0, count=3, timestep=0.001, omega=2.0, offset=None)
@example(seed=0, count=2, timestep=0.001, omega=2.0, offset=(0.01, 0.0))
@given(
    seed=st.integers(0, 10**6),
    count=st.integers(2, 400),
    timestep=st.sampled_from([0.001, 0.002, 0.005, 0.05]),
    omega=st.floats(2.0, 5.0),
    offset=st.none() | st.tuples(st.floats(-0.05, 0.05), st.floats(-0.05, 0.05)),
)
def test_every_step_is_the_pendulum_s_exact_motion(seed, count, timestep, omega, offset):
    zmp = np.random.default_rng(seed).uniform(-0.2, 0.2, (count, 2))
    start = None if offset is None else zmp[0] + offset
    cog, velocity, acceleration = cog_profile(zmp, timestep, omega, start)
    # State: c, ċ, p, ṗ; p is a ramp in each step.
    rates = np.zeros((4, 4))
    rates[0, 1] = rates[2, 3] = 1.0
    rates[1, [0, 2]] = omega**2, -(omega**2)
    step = expm(rates * timestep)
    slope = np.diff(zmp, axis=0) / timestep
    state = np.stack([cog[:-1], velocity[:-1], zmp[:-1], slope])
    after = np.tensordot(step, state, axes=1)
    np.testing.assert_allclose(after[0], cog[1:], rtol=0, atol=1e-9)
    np.testing.assert_allclose(after[1], velocity[1:], rtol=0, atol=1e-9)
    np.testing.assert_allclose(cog - acceleration / omega**2, zmp, rtol=0, atol=1e-12)
    np.testing.assert_allclose(cog[0], zmp[0] if start is None else start, rtol=0, atol=1e-15)
    np.testing.assert_array_equal(cog[-1], zmp[-1])


def test_a_step_of_the_zmp_is_anticipated():
    timestep, size = 0.001, np.array([0.1, -0.2])
    time = timestep * np.arange(10001)
    zmp = np.where(time[:, None] > 5.0, size, 0.0)
    cog, velocity, _ = cog_profile(zmp, timestep, OMEGA)
    # The ramp's middle is half a sample late.
    away = time[:, None] - 5.0 - 0.5 * timestep
    decay = 0.5 * size * np.exp(-OMEGA * np.abs(away))
    np.testing.assert_allclose(cog, np.where(away < 0, decay, size - decay), rtol=0, atol=1e-6)
    np.testing.assert_allclose(velocity, OMEGA * decay, rtol=0, atol=1e-6)


def test_a_swaying_zmp_carries_a_smaller_sway_of_the_cog():
    time = 0.001 * np.arange(20001)
    sway = 2.0
    zmp = 0.1 * np.sin(sway * time)[:, None] * [1.0, 0.5]
    cog, velocity, _ = cog_profile(zmp, 0.001, OMEGA)
    share = 1.0 / (1.0 + (sway / OMEGA) ** 2)
    inside = slice(6000, 14000)
    np.testing.assert_allclose(cog[inside], share * zmp[inside], rtol=0, atol=1e-7)
    expected = share * 0.1 * sway * np.cos(sway * time)[:, None] * [1.0, 0.5]
    np.testing.assert_allclose(velocity[inside], expected[inside], rtol=0, atol=1e-7)


def error_growth(gains, omega):
    """Rates at which the closed loop's errors grow: ċ = u with p = c − c̈/ω², no plan to follow."""
    zero, unit = np.zeros(2), np.array([1.0, 0.0])
    per_cog = commanded_velocity(gains, zero, zero, zero, unit, zero)[0]
    per_zmp = commanded_velocity(gains, zero, zero, zero, zero, unit)[0]
    # ċ = per_cog c + per_zmp (c − c̈/ω²)
    bend = omega**2 / per_zmp
    return np.linalg.eigvals([[0.0, 1.0], [(per_cog + per_zmp) * bend, -bend]])


@settings(max_examples=30, deadline=None)
@given(omega=st.floats(2.0, 5.0), low=st.floats(0.01, 0.999), high=st.floats(1.001, 10.0))
def test_allowed_gains_are_stable(omega, low, high):
    gains = choose_gains(high * omega, low * omega, omega)
    assert gains == (high * omega, low * omega)
    assert error_growth(gains, omega).real.max() < 0


@pytest.mark.parametrize(
    ("cog", "zmp", "stable"),
    [
        (OMEGA + 0.01, OMEGA - 0.01, True),
        (OMEGA - 0.01, OMEGA + 0.01, False),
        (6.0, 0.01, True),
        (6.0, -0.01, False),
        # Beyond the bounds the loop without disturbances may still be stable: only k_p < k_c counts.
        (6.0, OMEGA + 1.0, True),
        (6.0, 5.99, True),
        (6.0, 6.01, False),
    ],
)
def test_where_stability_ends(cog, zmp, stable):
    gains = CogZmpGains(cog, zmp)
    assert (error_growth(gains, OMEGA).real.max() < 0) == stable
    if not stable:
        with pytest.raises(BalanceError, match=r"allowed: 0 < gain_zmp < 3.45 < gain_cog"):
            choose_gains(cog, zmp, OMEGA)


@pytest.mark.parametrize(
    ("cog", "zmp", "message"),
    [
        (6.0, 4.0, r"^balance\.gain_zmp: 4 is not below ω = 3\.45 1/s of the robot's inverted pendulum; "),
        (6.0, 0.0, r"^balance\.gain_zmp: 0 is not above 0; allowed: 0 < gain_zmp < 3\.45 < gain_cog, "),
        (3.45, 2.0, r"^balance\.gain_cog: 3\.45 is not above ω = 3\.45 1/s"),
        (6.0, np.nan, r"^balance\.gain_zmp: nan"),
        (np.inf, 2.0, r"^balance\.gain_cog: inf"),
    ],
)
def test_gains_out_of_bounds_are_refused(cog, zmp, message):
    with pytest.raises(BalanceError, match=message):
        choose_gains(cog, zmp, OMEGA)


@pytest.mark.parametrize(("cog", "zmp", "shrinks"), [(6.0, 2.0, True), (3.0, 3.3, False)])
def test_the_pendulum_under_control_returns_to_its_plan(cog, zmp, shrinks):
    gains = CogZmpGains(cog, zmp)
    time = 0.01 * np.arange(301)
    planned_zmp = 0.09 * np.sin(2.0 * time)[:, None] * [0.3, 1.0]
    planned, velocity, _ = cog_profile(planned_zmp, 0.01, OMEGA)

    def plan(t):
        return (
            np.array([np.interp(t, time, course) for course in table.T])
            for table in (planned, velocity, planned_zmp)
        )

    def motion(t, state):
        """The acceleration at which the controller, that measures the ZMP it makes, asks for ċ."""
        c_d, v_d, p_d = plan(t)
        c, v = state[:2], state[2:]
        still = commanded_velocity(gains, v_d, c_d, p_d, c, c)
        accelerated = commanded_velocity(gains, v_d, c_d, p_d, c, c - 1.0 / OMEGA**2)
        return np.r_[v, (v - still) / (accelerated - still)]

    off = np.array([0.02, -0.03])
    run = solve_ivp(
        motion, (0.0, 3.0), np.r_[planned[0] + off, velocity[0]], rtol=1e-7, atol=1e-9, max_step=0.02
    )
    error = run.y[:2, -1] - planned[-1]
    # k_p/ω² ë + ė + (k_c − k_p) e = 0 from rest.
    rates = np.roots([zmp / OMEGA**2, 1.0, cog - zmp])
    weights = np.linalg.solve([[1.0, 1.0], rates], [1.0, 0.0])
    expected = off * (weights @ np.exp(3.0 * rates)).real
    np.testing.assert_allclose(error, expected, rtol=1e-2, atol=2e-5)
    assert (np.linalg.norm(error) < 1e-4) == shrinks
    assert shrinks or np.linalg.norm(error) > np.linalg.norm(off)
