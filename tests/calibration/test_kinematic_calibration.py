"""Kinematics from tips and angles, and the paper's three searches on the same residuals."""

import numpy as np
from scipy.optimize import approx_fprime
from script_modules import loaded_script

from simbench.calibration.arm_recording import TipMotion
from simbench.calibration.kinematic_calibration import (
    _whitening,
    calibrate_kinematics,
    tip_position,
    tip_residuals,
)
from simbench.robot.dh import BASE, DhJoint, DhRow, DhTable, HayatiRow

with loaded_script("reproduce/ohtsuki/paper_searches.py") as searches:
    genetic_search, nelder_mead = searches.genetic_search, searches.nelder_mead
    newton_raphson = searches.newton_raphson

NAMES = ("joint1.a", "joint2.alpha", "joint2.a", "joint2.beta")
TRUE = np.array([0.25, 0.0, 0.30, 0.0])


def planar(a1, alpha2, a2, beta2):
    second = HayatiRow(alpha=alpha2, beta=beta2, a=a2)
    return DhTable((DhJoint("joint1", BASE, HayatiRow(a=a1)), DhJoint("joint2", "joint1", second)))


def seen(table, joints, angle_noise=0.0, tip_noise=0.0, seed=0):
    """Return six motions of 5 s at 1 kHz, each from one posture to another."""
    rng, clock = np.random.default_rng(seed), np.arange(0, 5, 0.001)[:, None]
    way = (1 - np.cos(np.pi * clock / 5)) / 2
    motions = []
    for _ in range(6):
        start, end = rng.uniform(-2, 2, (2, joints))
        q = start + way * (end - start)
        tip = tip_position(table, q) + tip_noise * rng.normal(size=(len(q), 3))
        motions.append(TipMotion(1000.0, q + angle_noise * rng.normal(size=q.shape), tip))
    return motions


def test_kinematics_are_exact_without_noise_from_a_bad_start():
    found = calibrate_kinematics(planar(1.0, 0.3, 0.1, -0.2), NAMES, seen(planar(*TRUE), 2))
    np.testing.assert_allclose(found.values, TRUE, rtol=0, atol=1e-10)
    assert found.unidentifiable == ()


def test_noise_of_the_angles_does_not_shorten_the_arm():
    """At 15° plain least squares would lose 3 % of each length, 8 mm: exp(−σ²/2)."""
    motions = seen(planar(*TRUE), 2, angle_noise=np.radians(15), tip_noise=0.01)
    found = calibrate_kinematics(planar(*TRUE), NAMES, motions)
    assert np.abs(found.values - TRUE)[[0, 2]].max() < 2e-3
    assert (np.abs(found.values - TRUE) < 5 * found.deviations).all()


def test_lengths_are_as_sure_as_the_data_allow():
    """RMS of 20 draws over the Cramér-Rao bound; with all directions alike it would be 1.6 (3σ: 1.47)."""
    angle_noise, tip_noise, near = np.radians(10), 0.001, 1e-6
    clean = [(each.q[::10], each.tip[::10]) for each in seen(planar(*TRUE), 2)]
    q = np.concatenate([each for each, _ in clean])
    changed = [
        [tip_position(planar(*(TRUE + way)), q) for way in (sign * near * np.eye(4)[[0, 2]])]
        for sign in (1, -1)
    ]
    moved = [[tip_position(planar(*TRUE), q + sign * near * way) for way in np.eye(2)] for sign in (1, -1)]
    by_lengths, by_angles = (
        np.stack([(a - b) / (2 * near) for a, b in zip(*each, strict=True)], -1) for each in (changed, moved)
    )
    spread = tip_noise**2 * np.eye(3) + angle_noise**2 * by_angles @ by_angles.swapaxes(1, 2)
    sure = np.einsum("tia,tij,tjb->ab", by_lengths, np.linalg.inv(spread), by_lengths)
    bound = np.sqrt(np.diag(np.linalg.inv(sure)))
    errors = []
    for seed in range(20):
        rng = np.random.default_rng([1, seed])
        motions = [
            TipMotion(
                100.0,
                each + angle_noise * rng.normal(size=each.shape),
                tip + tip_noise * rng.normal(size=tip.shape),
            )
            for each, tip in clean
        ]
        errors.append((calibrate_kinematics(planar(*TRUE), NAMES, motions).values - TRUE)[[0, 2]])
    assert (np.sqrt(np.mean(np.square(errors), axis=0)) < 1.47 * bound).all()


def test_numbers_that_no_tip_shows_are_named():
    rows = (DhRow(d=0.4), DhRow(alpha=1.2, a=0.1), DhRow(alpha=-0.5, a=0.3, d=0.2), DhRow(alpha=0.9, a=0.25))
    names = [BASE, "one", "two", "three", "four"]
    table = DhTable(tuple(DhJoint(names[i + 1], names[i], row) for i, row in enumerate(rows)))
    asked = ("two.a", "three.a", "one.d", "two.d", "four.theta", "four.d")
    found = calibrate_kinematics(table, asked, seen(table, 4))
    # The origin of the last row's frame lies on its axis: turning about it moves nothing.
    assert found.unidentifiable == ("four.theta",)
    known = ~np.isnan(found.values)
    np.testing.assert_allclose(found.values[known], [0.1, 0.3, 0.4, 0.0, 0.0], atol=1e-8)


def test_genetic_algorithm_and_nelder_mead_find_what_newton_finds_from_near():
    motions = seen(planar(*TRUE), 2)
    q, tip = (np.concatenate([getattr(each, name)[::300] for each in motions]) for name in ("q", "tip"))
    missed = tip_residuals(planar(*TRUE), NAMES, q, tip)
    best, history = genetic_search(
        lambda unknowns: np.array([np.sum(missed(each) ** 2) for each in unknowns]),
        [0.0, -0.5, 0.0, -0.5],
        [1.0, 0.5, 1.0, 0.5],
        15,
        seed=1,
    )
    assert (np.diff(history) <= 0.0).all()
    assert np.abs(best - TRUE)[[0, 2]].max() < 0.1
    simplex = nelder_mead(lambda x: float(np.sum(missed(x) ** 2)), best)
    np.testing.assert_allclose(simplex, TRUE, atol=1e-5)
    newton = newton_raphson(missed, lambda x: approx_fprime(x, missed, 1e-7), best)
    np.testing.assert_allclose(newton, TRUE, atol=1e-9)


def test_an_exact_direction_weighs_a_thousand_times_the_most_uncertain_one():
    """Noise of one angle moves the tip of a planar arm along one line."""
    q, noise = np.zeros((1, 2)), np.array([[0.1, 0.0, 0.0, 0.0, 0.0]])
    weights = np.linalg.svd(_whitening(planar(*TRUE), q, noise)[0], compute_uv=False)
    np.testing.assert_allclose(weights, [1e3, 1e3, 1.0], rtol=1e-5)
