"""Explicit models that control uses, against Pinocchio."""

import dataclasses

import numpy as np
import pinocchio as pin
import pytest
from serial_arms import odd_arms

from simbench.dynamics.arm import arm_model, read_arm
from simbench.dynamics.explicit_model import (
    ModelEvaluator,
    PinocchioElements,
    explicit_model_of,
    explicit_torques,
    make_evaluator,
)
from simbench.dynamics.puma560_explicit import Puma560Full
from simbench.errors import DynamicsError, RobotError
from simbench.resources import resource_dir
from simbench.robot.robot import load_robot


def states(joints, count, seed=560):
    rng = np.random.default_rng(seed)
    spans = ((-np.pi, np.pi), (-4, 4), (-20, 20))
    return [rng.uniform(*span, (count, joints)) for span in spans]


def pinocchio_torques(arm, q, velocity, acceleration):
    model = arm_model(arm)
    data = model.createData()
    return np.array([pin.rnea(model, data, *each) for each in zip(q, velocity, acceleration, strict=True)])


def test_torques_of_ten_thousand_states_are_pinocchios():
    state = states(6, 10_000)
    found = explicit_torques(explicit_model_of("puma560"), *state)
    np.testing.assert_allclose(found, pinocchio_torques(read_arm("puma560"), *state), rtol=0, atol=1e-9)


def test_other_numbers_of_the_same_arm():
    """Such as the paper's own table, or an arm whose motors are off."""
    puma = read_arm("puma560")
    inertia = puma.inertia.copy()
    inertia[2, 2, 2] = 0.086
    other = dataclasses.replace(puma, inertia=inertia, mass=1.3 * puma.mass, motor=np.zeros(6))
    state = states(6, 20)
    found = explicit_torques(make_evaluator(Puma560Full, other), *state)
    np.testing.assert_allclose(found, pinocchio_torques(other, *state), rtol=0, atol=1e-9)


@pytest.mark.parametrize("kind", ["beta", "lengthened", "sliding", "leaning"])
def test_any_serial_arm(kind):
    arm = odd_arms()[kind]
    model, state = ModelEvaluator(PinocchioElements(arm), np.zeros(0), arm.joints), states(arm.joints, 50)
    found = explicit_torques(model, *state)
    np.testing.assert_allclose(found, pinocchio_torques(arm, *state), rtol=0, atol=1e-9)


def test_abbreviated_torques_are_within_two_percent_of_the_motors():
    robot = load_robot("puma560")
    rng = np.random.default_rng(1)
    limits, speeds = robot.model.lowerPositionLimit, robot.model.velocityLimit
    q = rng.uniform(limits, robot.model.upperPositionLimit, (2000, 6))
    velocity, acceleration = rng.uniform(-speeds, speeds, (2, 2000, 6))
    state, model = (q, velocity, acceleration), explicit_model_of("puma560", abbreviated=True)
    off = explicit_torques(model, *state) - pinocchio_torques(read_arm("puma560"), *state)
    assert 0 < np.abs(off / robot.motors.torque_limit).max() < 0.02


def test_what_a_model_is_not_for_is_refused():
    puma = read_arm("puma560")
    with pytest.raises(DynamicsError):
        make_evaluator(Puma560Full, odd_arms()["beta"])
    heavier = puma.centre.copy()
    heavier[4, 0] = 0.01
    with pytest.raises(DynamicsError):
        make_evaluator(Puma560Full, dataclasses.replace(puma, centre=heavier))
    with pytest.raises(RobotError):
        explicit_torques(make_evaluator(Puma560Full, puma), np.zeros(7), np.zeros(6), np.zeros(6))


def test_abbreviated_model_of_a_file_with_pumas_structure(tmp_path):
    """Such as PUMA without friction, which the paper's script simulates."""
    source = resource_dir("robots") / "puma560" / "robot.yaml"
    text = source.read_text(encoding="utf-8").replace("urdf: ", f"urdf: {source.parent}/")
    file = tmp_path / "other.yaml"
    file.write_text(text.replace("mass: 17.40", "mass: 15.0"), encoding="utf-8")
    arm, state = read_arm(file), states(6, 20)
    assert arm.mass[1] == 15.0
    full = explicit_torques(explicit_model_of(file), *state)
    np.testing.assert_allclose(full, pinocchio_torques(arm, *state), rtol=0, atol=1e-9)
    short = explicit_torques(explicit_model_of(file, abbreviated=True), *state)
    assert 0 < np.abs(short - full).max() < 0.02 * np.abs(full).max()


def test_models_by_name():
    state = states(2, 20)
    found = explicit_torques(explicit_model_of("direct_drive_arm"), *state)
    expected = pinocchio_torques(read_arm("direct_drive_arm"), *state)
    np.testing.assert_allclose(found, expected, rtol=0, atol=1e-12)
    with pytest.raises(DynamicsError):
        explicit_model_of("direct_drive_arm", abbreviated=True)
    with pytest.raises(RobotError):
        explicit_model_of("mahru")
