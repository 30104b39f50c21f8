"""Gains chosen from a robot's inertia, weight and motors, against closed forms and a simulated free leg."""

from pathlib import Path

import numpy as np
import pinocchio as pin
import pytest
import urdf_texts as texts

from simbench.robot.description import Bandwidth
from simbench.robot.drives import choose_gains
from simbench.robot.robot import Robot, load_robot

OMEGA = 2.0 * np.pi * 6.0
STEP = 0.001


def described(folder: Path, *elements: str, lines: str = "") -> Robot:
    texts.write(folder, *elements)
    text = "name: test\nurdf: robot.urdf\ngroups: {}\ngains: auto\nself_collision: []\n" + lines
    (folder / "robot.yaml").write_text(text, encoding="utf-8")
    return load_robot(folder)


def limit(travel: float = 2.0, effort: float = 1e6) -> str:
    return f'<limit lower="{-travel}" upper="{travel}" effort="{effort}" velocity="5"/>'


def automatic(robot: Robot, **bandwidth: float) -> tuple[np.ndarray, np.ndarray]:
    """Gains that the rule chooses for a robot, whatever its description says."""
    model, root = robot.model, pin.neutral(robot.model)[: robot.root_q]
    names = sorted(robot.postures, key=lambda name: name != "standing")
    feet = tuple(model.getFrameId(robot.frames[role]) for role in robot.feet)
    grips = tuple(model.getJointId(joint) for hand in robot.hands.values() for joint in hand.joints)
    postures = [np.concatenate([root, robot.postures[name]]) for name in names]
    return choose_gains(model, postures, feet, grips, Bandwidth(**bandwidth))


def leg_columns(robot: Robot, side: str) -> np.ndarray:
    return np.array([robot.joint_names.index(name) for name in robot.groups[f"{side}_leg"]])


def test_a_weak_joint_is_as_stiff_as_its_motor_allows(tmp_path: Path) -> None:
    """J ω² of a door of 1.45 kg·m² is 2061 N·m/rad; 10 N·m at 0.02 rad allow 500, at 0.001 rad 10000."""
    door = (
        texts.link("base"),
        texts.joint("hinge", "base", "door", axis="0 0 1", inside=limit(effort=10.0)),
        texts.link("door", 5.0, (0.1, 0.1, 0.2), cog="0.3 0.4 0.1"),
    )
    inertia = 0.2 + 5.0 * 0.5**2
    weak = described(tmp_path, *door, lines="base: fixed\n")
    assert weak.motors.stiffness == pytest.approx([500.0], rel=1e-9)
    assert weak.motors.damping == pytest.approx([1.4 * np.sqrt(500.0 * inertia)], rel=1e-9)
    lines = "base: fixed\nbandwidth: {saturation_error_rad: 0.001, damping_ratio: 1.0}\n"
    strong = described(tmp_path, *door, lines=lines)
    assert strong.motors.stiffness == pytest.approx([inertia * OMEGA**2], rel=1e-9)
    assert strong.motors.damping == pytest.approx([2.0 * inertia * OMEGA], rel=1e-9)


def test_the_free_response_of_a_limb_has_the_frequency_and_the_damping_asked_for(tmp_path: Path) -> None:
    """x(t) = e^(-ζωt) (cos ω_d t + ζ ω / ω_d sin ω_d t), integrated from the equation of motion."""
    lines = "base: fixed\nbandwidth: {limb_hz: 3.0, damping_ratio: 0.2, saturation_error_rad: 0.001}\n"
    robot = described(
        tmp_path,
        texts.link("base"),
        texts.joint("hinge", "base", "door", axis="0 0 1", inside=limit()),
        texts.link("door", 2.0, (0.1, 0.1, 0.05), cog="0.3 0 0"),
        lines=lines,
    )
    inertia, (stiffness,), (damping,) = 0.05 + 2.0 * 0.09, robot.motors.stiffness, robot.motors.damping
    position, speed, crossings, step = 1.0, 0.0, [], 1e-5
    for k in range(100_000):
        speed -= step * (stiffness * position + damping * speed) / inertia
        before, position = position, position + step * speed
        if before > 0.0 >= position or before < 0.0 <= position:
            crossings.append(k * step)
    assert np.diff(crossings) == pytest.approx(1.0 / (2.0 * 3.0 * np.sqrt(1.0 - 0.2**2)), rel=1e-3)


def test_an_arm_that_hangs_straight_is_held_as_firmly_as_it_needs_bent(tmp_path: Path) -> None:
    """About its own axis a straight arm has 0.01 kg·m², bent by a right angle 1 kg · (0.5 m)² more."""
    robot = described(
        tmp_path,
        texts.link("base"),
        texts.joint("roll", "base", "upper", axis="1 0 0", inside=limit()),
        texts.link("upper", 1.0, (0.002, 0.1, 0.1)),
        texts.joint("elbow", "upper", "fore", axis="0 0 1", xyz="0.5 0 0", inside=limit(travel=1.5708)),
        texts.link("fore", 1.0, (0.008, 0.02, 0.02), cog="0.5 0 0"),
        lines="base: fixed\nbandwidth: {saturation_error_rad: 0.0001}\n",
    )
    inertia = robot.motors.stiffness[0] / OMEGA**2
    assert 0.2 < inertia <= 0.002 + 0.02 + 0.25 + 1e-9


def test_a_finger_is_soft_and_slow(humanoid: Robot) -> None:
    """Stopped anywhere on its way, a finger keeps below its torque; let go, below its speed limit."""
    stiffness, damping = automatic(humanoid)
    model = humanoid.model
    checked = 0
    for hand in humanoid.hands.values():
        for joint in hand.joints:
            column = humanoid.joint_names.index(joint)
            travel = model.upperPositionLimit[7 + column] - model.lowerPositionLimit[7 + column]
            assert stiffness[column] * travel <= model.effortLimit[6 + column] * (1.0 + 1e-9)
            # Without inertia the finger would move at K e / D.
            assert stiffness[column] * travel / damping[column] <= model.velocityLimit[6 + column] * 1.001
            checked += 1
    assert checked >= 2


def test_legs_carry_the_body_many_times(humanoid: Robot) -> None:
    """Ankles hold 16 m g h together unless their motors would saturate; never below 4 m g h."""
    model, data = humanoid.model, humanoid.model.createData()
    stiffness, _ = automatic(humanoid)
    q = np.concatenate([pin.neutral(model)[:7], humanoid.postures["standing"]])
    pin.framesForwardKinematics(model, data, q)
    sole = data.oMf[model.getFrameId(humanoid.frames["left_foot"])].translation[2]
    height = pin.centerOfMass(model, data, q)[2] - sole
    load = pin.computeTotalMass(model) * 9.81 * height
    legs = np.concatenate([leg_columns(humanoid, side) for side in ("left", "right")])
    assert np.all(stiffness[legs] <= humanoid.motors.torque_limit[legs] / 0.02 * (1.0 + 1e-9))
    for name in ("AnklePitch", "AnkleRoll"):
        both = sum(stiffness[humanoid.joint_names.index(side + name)] for side in "LR")
        torque = sum(humanoid.motors.torque_limit[humanoid.joint_names.index(side + name)] for side in "LR")
        assert 4.0 * load < both <= min(16.0 * load, torque / 0.02) * 1.001


@pytest.mark.parametrize("scale", [1.0, 3.0])
def test_a_leg_in_the_air_is_stable_under_torques_of_the_last_state(humanoid: Robot, scale: float) -> None:
    """The discrete closed loop of a free leg, driven as if the floor held its foot, has no growing mode.

    x⁺ = A x with v⁺ = v − Δt M⁻¹ (K (q + Δt v) + D v), q⁺ = q + Δt v⁺. Gains three times those chosen for
    damping and stiffness diverge, so the bound is near, unless rotors weigh much more than the feet.
    """
    stiffness, damping = automatic(humanoid)
    model = humanoid.model.copy()
    model.armature = np.zeros(model.nv)
    for side in ("left", "right"):
        leg = leg_columns(humanoid, side)
        model.armature[6 + leg] = humanoid.motors.reflected_inertia[leg]
    light = not model.armature.any()
    q = np.concatenate([pin.neutral(model)[:7], humanoid.postures["standing"]])
    inverse = np.linalg.inv(np.array(pin.crba(model, model.createData(), q)))
    for side in ("left", "right"):
        leg = leg_columns(humanoid, side)
        block = inverse[np.ix_(6 + leg, 6 + leg)]
        k, d = np.diag(scale * stiffness[leg]), np.diag(scale * damping[leg])
        one = np.eye(len(leg))
        speed = np.hstack([-STEP * block @ k, one - STEP * block @ (d + STEP * k)])
        position = np.hstack([one, 0.0 * one]) + STEP * speed
        radius = np.abs(np.linalg.eigvals(np.vstack([position, speed]))).max()
        assert radius <= 1.0 + 1e-9 or scale > 1.0
        assert radius > 1.0 or scale == 1.0 or not light


def test_a_longer_step_allows_less_damping_of_the_legs_and_no_less_of_the_arms(humanoid: Robot) -> None:
    leg = leg_columns(humanoid, "left")
    _, usual = automatic(humanoid)
    # Rotors of Mahru's size keep the legs stable at much longer steps.
    rotors = humanoid.motors.reflected_inertia[leg].any()
    _, fine = automatic(humanoid, timestep_s=0.01 if rotors else 0.004)
    assert fine[leg].sum() < (0.7 if rotors else 0.6) * usual[leg].sum()
    arm = humanoid.joint_names.index("LShoulderPitch")
    assert fine[arm] == usual[arm]


def test_the_frequency_of_standing_can_be_given(humanoid: Robot) -> None:
    """Half the frequency is a quarter of the stiffness, if neither motors nor the swing leg decide."""
    knee = humanoid.joint_names.index("LKneePitch")
    wide = {"saturation_error_rad": 1e-6, "limb_hz": 0.1, "timestep_s": 1e-6}
    first, _ = automatic(humanoid, stance_hz=2.0, **wide)
    second, _ = automatic(humanoid, stance_hz=1.0, **wide)
    assert first[knee] == pytest.approx(4.0 * second[knee], rel=1e-9)
