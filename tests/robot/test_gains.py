"""Gains from a bandwidth: J ω² and 2 ζ J ω with J by closed forms and the parallel-axis theorem."""

from pathlib import Path

import numpy as np
import pinocchio as pin
import pytest
import urdf_texts as texts

from simbench.robot.description import Bandwidth
from simbench.robot.drives import choose_gains
from simbench.robot.robot import Robot, load_robot

OMEGA = 2.0 * np.pi * 6.0


def described(folder: Path, *elements: str, lines: str = "") -> Robot:
    texts.write(folder, *elements)
    text = "name: test\nurdf: robot.urdf\ngroups: {}\ngains: auto\n" + lines
    (folder / "robot.yaml").write_text(text, encoding="utf-8")
    return load_robot(folder)


@pytest.mark.parametrize("elbow", [0.0, 0.9])
def test_an_arm_of_two_links_has_its_closed_form(tmp_path: Path, elbow: float) -> None:
    """Centres of gravity at 0.2 and 0.15 m on links 0.5 m long:

    J₁ = I₁ + m₁ r₁² + I₂ + m₂ (l₁² + r₂² + 2 l₁ r₂ cos q₂) + I_m1 and J₂ = I₂ + m₂ r₂² + I_m2.
    """
    robot = described(
        tmp_path,
        texts.link("base"),
        texts.joint("one", "base", "upper", axis="0 0 1", xyz="0.1 0.2 0.3"),
        texts.link("upper", 3.0, (0.01, 0.05, 0.06), cog="0.2 0 0.07"),
        texts.joint("two", "upper", "fore", axis="0 0 1", xyz="0.5 0 0"),
        texts.link("fore", 2.0, (0.01, 0.02, 0.03), cog="0.15 0 -0.04"),
        lines=f"base: fixed\npostures: {{bent: {{two: {elbow}}}, other: {{two: 0.3}}}}\n"
        "motors: {one: {reflected_inertia: 0.4}, two: [100, 20]}\n",
    )
    second = 0.03 + 2.0 * 0.15**2
    first = 0.06 + 3.0 * 0.2**2 + second + 2.0 * (0.5**2 + 2 * 0.5 * 0.15 * np.cos(elbow))
    inertia = np.array([first + 0.4, second + 0.02])
    # 6 Hz and 0.7 of critical damping by default.
    np.testing.assert_allclose(robot.motors.stiffness, inertia * OMEGA**2, rtol=1e-9)
    np.testing.assert_allclose(robot.motors.damping, 1.4 * inertia * OMEGA, rtol=1e-9)


def test_a_robot_of_one_joint_has_gains(tmp_path: Path) -> None:
    robot = described(
        tmp_path,
        texts.link("base"),
        texts.joint("hinge", "base", "door", axis="0 0 1", xyz="0.1 0 0.3"),
        texts.link("door", 5.0, (0.1, 0.1, 0.2), cog="0.3 0.4 0.1"),
        lines="base: fixed\nbandwidth: {limb_hz: 2.0, damping_ratio: 1.0}\n",
    )
    inertia, omega = 0.2 + 5.0 * 0.5**2, 2.0 * np.pi * 2.0
    np.testing.assert_allclose(robot.motors.stiffness, [inertia * omega**2], rtol=1e-9)
    np.testing.assert_allclose(robot.motors.damping, [2.0 * inertia * omega], rtol=1e-9)


def test_a_leg_that_stands_carries_half_of_what_is_above_it(tmp_path: Path) -> None:
    """Two straight legs of 0.4 m below a pelvis; every joint turns about y.

    The hip moves all but its own leg, the ankle all but its own foot; each foot stands for half of it.
    """
    sole = "soles: {left_foot: {x: [-0.1, 0.1], y: [-0.05, 0.05]}}\n"
    legs = []
    for side, y in (("L", 0.1), ("R", -0.1)):
        legs += [
            texts.joint(f"{side}Hip", "pelvis", f"{side}_leg", xyz=f"0 {y} 0"),
            texts.link(f"{side}_leg", 4.0, (0.06, 0.05, 0.01), cog="0.01 0 -0.2"),
            texts.joint(f"{side}Ankle", f"{side}_leg", f"{side}_foot", xyz="0 0 -0.4"),
            texts.link(f"{side}_foot", 1.0, (0.001, 0.002, 0.002), cog="0.03 0 -0.05"),
        ]
    robot = described(
        tmp_path,
        texts.link("pelvis", 10.0, (0.2, 0.15, 0.1), cog="0.02 0 0.1"),
        *legs,
        texts.joint("Neck", "pelvis", "head", xyz="0 0 0.5"),
        texts.link("head", 2.0, (0.01, 0.012, 0.01), cog="0 0 0.1"),
        lines="frames: {left_foot: L_foot, right_foot: R_foot}\n"
        + sole
        + "bandwidth: {limb_hz: 5.0, stance_hz: 2.0, damping_ratio: 0.5}\n",
    )
    # Mass, own iyy, x and z from the pelvis.
    pelvis, head = (10.0, 0.15, 0.02, 0.1), (2.0, 0.012, 0.0, 0.6)
    leg, foot = (4.0, 0.05, 0.01, -0.2), (1.0, 0.002, 0.03, -0.45)

    def about(height: float, *bodies: tuple[float, float, float, float]) -> float:
        return sum(iyy + mass * (x**2 + (z - height) ** 2) for mass, iyy, x, z in bodies)

    hip = 0.5 * about(0.0, pelvis, head, leg, foot)
    ankle = 0.5 * about(-0.4, pelvis, head, leg, leg, foot)
    neck = 0.012 + 2.0 * 0.1**2
    stance, limb = 2.0 * np.pi * 2.0, 2.0 * np.pi * 5.0
    expected = {"LHip": hip, "LAnkle": ankle, "RHip": hip, "RAnkle": ankle, "Neck": neck}
    for column, name in enumerate(robot.joint_names):
        omega = limb if name == "Neck" else stance
        assert robot.motors.stiffness[column] == pytest.approx(expected[name] * omega**2, rel=1e-9), name
        assert robot.motors.damping[column] == pytest.approx(expected[name] * omega, rel=1e-9), name


def test_a_humanoid_joint_by_joint(humanoid: Robot) -> None:
    """In any attitude, J by Steiner's theorem: Σ aᵀ R I Rᵀ a + m |a × (c − p)|² of what a joint moves."""
    model, data = humanoid.model, humanoid.model.createData()
    q = np.concatenate([[0.3, -0.2, 0.9, 0.1, 0.2, -0.3, np.sqrt(0.86)], humanoid.postures["standing"]])
    feet = [model.frames[model.getFrameId(humanoid.frames[role])].parentJoint for role in humanoid.feet]
    stiffness, damping = choose_gains(model, q, feet, Bandwidth())
    pin.forwardKinematics(model, data, q)

    def moment(bodies: set[int], joint: int) -> float:
        turn = data.oMi[joint].rotation
        # Joints turn about their own x, y or z.
        axis = turn[:, "XYZ".index(model.joints[joint].shortname()[-1])]
        total = 0.0
        for body in bodies:
            own, place = model.inertias[body], data.oMi[body]
            spin = place.rotation.T @ axis
            arm = np.cross(axis, place.act(own.lever) - data.oMi[joint].translation)
            total += spin @ own.inertia @ spin + own.mass * arm @ arm
        return total

    names = list(humanoid.joint_names)
    everything, standing = set(range(1, model.njoints)), 0
    for column, name in enumerate(names):
        joint = model.getJointId(name)
        below, other = {joint}, joint + 1
        while other < model.njoints:  # children come after their parents
            if model.parents[other] in below:
                below.add(other)
            other += 1
        stands = any(part in name for part in ("Hip", "Knee", "Ankle"))
        standing += stands
        moved = 0.5 * moment(everything - below, joint) if stands else moment(below, joint)
        inertia = moved + humanoid.motors.reflected_inertia[column]
        omega = 2.0 * np.pi * (2.5 if stands else 6.0)
        assert stiffness[column] == pytest.approx(inertia * omega**2, rel=1e-9), name
        assert damping[column] == pytest.approx(1.4 * inertia * omega, rel=1e-9), name
    assert standing == 12


def test_the_posture_is_standing_or_else_the_first(tmp_path: Path) -> None:
    """Gains of the two-link arm follow its elbow as it is in `standing`, wherever that comes in the list."""
    arm = (
        texts.link("base"),
        texts.joint("one", "base", "upper", axis="0 0 1"),
        texts.link("upper", 1.0, cog="0.2 0 0"),
        texts.joint("two", "upper", "fore", axis="0 0 1", xyz="0.5 0 0"),
        texts.link("fore", 2.0, cog="0.3 0 0"),
    )

    def shoulder(postures: str) -> float:
        robot = described(tmp_path, *arm, lines=f"base: fixed\npostures: {postures}\n")
        return float(robot.motors.stiffness[0]) / OMEGA**2

    def closed(elbow: float) -> float:
        return 0.1 + 0.04 + 0.1 + 2.0 * (0.25 + 0.09 + 0.3 * np.cos(elbow))

    assert shoulder("{first: {two: 0.5}, standing: {two: 0.8}}") == pytest.approx(closed(0.8))
    assert shoulder("{first: {two: 0.5}, last: {two: 0.8}}") == pytest.approx(closed(0.5))
    assert shoulder("{}") == pytest.approx(closed(0.0))
