"""Corke's PUMA 560 beside the paper's: his published A and g, and what the difference consists of."""

import numpy as np
import pinocchio as pin
import pytest
from script_modules import loaded_script

from simbench.dynamics.arm import arm_model


@pytest.fixture(scope="module")
def script():
    with loaded_script("reproduce/armstrong1986/armstrong1986.py") as module:
        import corke_parameters

        yield module, corke_parameters


def in_standard_frames(corke, q):
    """A and g by the kinetic and potential energy in frames of the standard convention."""
    frame, axes, total = np.eye(4), [], np.diag(corke.ROTOR * corke.RATIO**2)
    gravity = np.zeros(6)
    for i, (d, a, alpha) in enumerate(corke.ROWS):
        axes.append((frame[:3, 2].copy(), frame[:3, 3].copy()))
        turn, slide = np.eye(4), np.eye(4)
        turn[:3, :3] = pin.utils.rotate("z", q[i])
        slide[:3, :3] = pin.utils.rotate("x", alpha)
        slide[:3, 3] = [a, 0.0, d]
        frame = frame @ turn @ slide
        centre = frame[:3, 3] + frame[:3, :3] @ corke.CENTRE[i]
        linear, angular = np.zeros((3, 6)), np.zeros((3, 6))
        for j, (axis, point) in enumerate(axes):
            linear[:, j], angular[:, j] = np.cross(axis, centre - point), axis
        spin = frame[:3, :3].T @ angular
        total = total + corke.MASS[i] * linear.T @ linear + spin.T @ np.diag(corke.INERTIA[i]) @ spin
        gravity += 9.81 * corke.MASS[i] * linear[2]
    return total, gravity


def test_corkes_parameters_give_his_published_terms(script):
    module, corke = script
    arm = module.printed_arm()
    assert corke.published_differences(arm)[1] <= corke.ROUNDING
    model = arm_model(corke.corke_arm(arm))
    for q in (corke.POSTURE, np.random.default_rng(0).uniform(-3, 3, 6)):
        inertia, gravity = in_standard_frames(corke, q)
        upper = np.triu(pin.crba(model, model.createData(), q))
        np.testing.assert_allclose(upper, np.triu(inertia), atol=1e-12)
        held = pin.computeGeneralizedGravity(model, model.createData(), q)
        np.testing.assert_allclose(held, gravity, atol=1e-12)


def test_named_parameters_explain_the_whole_difference(script):
    module, corke = script
    table, left = corke.decomposition(module.printed_arm(), 50)
    assert left < corke.EXACT
    inertia, gravity = ([float(cell) for cell in table.columns[k].cells] for k in (1, 3))
    # 2.6 N·m only as long as the arms are mirror images; motor 2's inertia is the 2.4 kg·m².
    assert gravity[0] > 2.0
    assert gravity[1] < 0.3
    assert inertia[1] - inertia[2] > 1.9
    # A millimetre and a half on 1.25 kg.
    assert gravity[4] == pytest.approx(0.0013 * 1.25 * 9.81, rel=0.05)
