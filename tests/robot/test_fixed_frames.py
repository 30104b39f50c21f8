"""Massless frames that a robot.yaml adds to a URDF from elsewhere; keys that would have no effect."""

from pathlib import Path

import numpy as np
import pinocchio as pin
import pytest
import urdf_texts as texts

from simbench.errors import RobotError
from simbench.robot.robot import Robot, load_robot

HEAD = "name: own\nurdf: robot.urdf\ngroups: {left_arm: [l_arm_joint], right_arm: [r_arm_joint]}\n"


def load(folder: Path, lines: str, gains: str = "gains: auto\n", base: str = "fixed") -> Robot:
    texts.write(
        folder,
        texts.link("trunk"),
        texts.joint("l_arm_joint", "trunk", "l_arm", xyz="0 0.2 0.1"),
        texts.link("l_arm"),
        texts.joint("r_arm_joint", "trunk", "r_arm", xyz="0 -0.2 0.1"),
        texts.link("r_arm"),
    )
    (folder / "robot.yaml").write_text(f"{HEAD}base: {base}\n{gains}{lines}", encoding="utf-8")
    return load_robot(folder)


@pytest.mark.parametrize("base", ["fixed", "floating"])
def test_frames_are_where_the_description_puts_them(tmp_path: Path, base: str) -> None:
    lines = (
        "mirror: {l_: r_}\n"
        "frames: {left_hand: l_palm, right_hand: r_palm}\n"
        "fixed_frames:\n"
        "  l_palm: {parent: l_arm, xyz: [0.1, 0.02, -0.3], rpy: [0.3, -0.4, 0.5]}\n"
        "  l_tip: {parent: l_palm, xyz: [0.05, 0, 0]}\n"
    )
    robot, plain = load(tmp_path, lines, base=base), load(tmp_path, "", base=base)
    q = pin.neutral(robot.model)
    q[-2:] = 0.7, -0.4
    data = robot.model.createData()
    pin.framesForwardKinematics(robot.model, data, q)

    def at(name: str) -> pin.SE3:
        return data.oMf[robot.model.getFrameId(name)]

    # Extrinsic rotations about x, y and z, written out.
    cx, cy, cz, sx, sy, sz = *np.cos([0.3, -0.4, 0.5]), *np.sin([0.3, -0.4, 0.5])
    about_x = np.array([[1, 0, 0], [0, cx, -sx], [0, sx, cx]])
    about_y = np.array([[cy, 0, sy], [0, 1, 0], [-sy, 0, cy]])
    about_z = np.array([[cz, -sz, 0], [sz, cz, 0], [0, 0, 1]])
    rotation = about_z @ about_y @ about_x
    left = at("l_arm").actInv(at("l_palm"))
    np.testing.assert_allclose(left.rotation, rotation, atol=1e-12)
    np.testing.assert_allclose(left.translation, [0.1, 0.02, -0.3], atol=1e-12)
    mirror = np.diag([1.0, -1.0, 1.0])
    right = at("r_arm").actInv(at("r_palm"))
    np.testing.assert_allclose(right.rotation, mirror @ rotation @ mirror, atol=1e-12)
    np.testing.assert_allclose(right.translation, [0.1, -0.02, -0.3], atol=1e-12)
    np.testing.assert_allclose(at("l_palm").actInv(at("l_tip")).translation, [0.05, 0, 0], atol=1e-12)
    assert pin.computeTotalMass(robot.model) == pin.computeTotalMass(plain.model)
    np.testing.assert_allclose(
        pin.crba(robot.model, data, q), pin.crba(plain.model, plain.model.createData(), q), atol=1e-12
    )


@pytest.mark.parametrize(
    ("lines", "message"),
    [
        (
            "fixed_frames: {palm: {parent: arm, xyz: [0, 0, 0]}}",
            r"fixed_frames\.palm: unknown link `arm`; allowed: l_",
        ),
        (
            "fixed_frames: {l_arm: {parent: trunk, xyz: [0, 0, 0]}}",
            r"fixed_frames\.l_arm: the URDF has a link or joint",
        ),
        (
            "links: {a: {mass: 1, cog: [0, 0, 0], inertia: [1, 1, 1, 0, 0, 0]}}",
            r"links: not used: .* needs `root`",
        ),
        ("root: trunk", r"root: not used: it builds a URDF, which needs `links` too"),
        (
            "mirror: {left_: right_}",
            r"mirror\.left_: not used: no name of a link, joint, frame, motor or gain",
        ),
        (
            "frames: {left_palm: l_arm}",
            r"frames\.left_palm: not used; allowed: pelvis, trunk, head, left_shoulder",
        ),
        (
            "frames: {left_hand: l_arm}\nsoles: {left_hand: {x: [0, 1], y: [0, 1]}}",
            r"soles\.left_hand: not used; allowed: left_foot, right_foot",
        ),
    ],
)
def test_what_has_no_effect_is_refused_in_one_line(tmp_path: Path, lines: str, message: str) -> None:
    with pytest.raises(RobotError, match=message) as caught:
        load(tmp_path, lines + "\n")
    assert "\n" not in str(caught.value)
