"""Motors, friction and hands of a `robot.yaml`: what its short forms mean, and what is refused."""

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
import urdf_texts as texts

from simbench.errors import RobotError
from simbench.robot.description import Drive, JointDescription
from simbench.robot.drives import GRAM_SQUARE_CENTIMETRE
from simbench.robot.robot import Robot, load_robot

HEAD = "name: test\nurdf: robot.urdf\nbase: fixed\n"
NO_GAINS = "gains: {LArm: [0, 0], RArm: [0, 0], Neck: [0, 0]}\n"
Load = Callable[..., Robot]


@pytest.fixture
def load(tmp_path: Path) -> Load:
    """Two arms and a neck on a trunk, with the given lines of a description."""
    texts.write(
        tmp_path,
        texts.link("trunk"),
        texts.joint("LArm", "trunk", "l_arm", xyz="0 0.2 0"),
        texts.link("l_arm"),
        texts.joint("RArm", "trunk", "r_arm", xyz="0 -0.2 0"),
        texts.link("r_arm"),
        texts.joint("Neck", "trunk", "head", xyz="0 0 0.3"),
        texts.link("head"),
    )

    def run(lines: str, *, gains: str = NO_GAINS, groups: str = "groups: {}\n") -> Robot:
        head = HEAD.replace("base: fixed\n", "") if lines.startswith("base:") else HEAD
        (tmp_path / "robot.yaml").write_text(head + groups + gains + lines, encoding="utf-8")
        return load_robot(tmp_path)

    return run


def by_name(robot: Robot, values: np.ndarray) -> dict[str, float]:
    return dict(zip(robot.joint_names, values.tolist(), strict=True))


def test_a_rotor_is_felt_by_the_square_of_the_reduction_in_whatever_form_it_is_given(load: Load) -> None:
    """1 g·cm² is 1e-3 kg · (1e-2 m)²: 100² · 30 g·cm² = 0.03 kg·m²."""
    assert pytest.approx(1e-3 * 1e-2**2, rel=1e-12) == GRAM_SQUARE_CENTIMETRE
    robot = load(
        "motors:\n"
        "  LArm: [100, 30]\n"
        "  RArm: {reduction: 50, rotor: 40}\n"
        "  Neck: {reduction: 62.61, reflected_inertia: 1.14}\n"
    )
    reflected = by_name(robot, robot.motors.reflected_inertia)
    assert reflected == pytest.approx({"LArm": 0.03, "RArm": 0.01, "Neck": 1.14}, rel=1e-12)
    assert by_name(robot, robot.motors.reduction) == {"LArm": 100.0, "RArm": 50.0, "Neck": 62.61}
    # The model carries them, so that every computation does.
    np.testing.assert_array_equal(robot.model.armature, robot.motors.reflected_inertia)


def test_without_motors_nothing_is_felt_and_no_reduction_known(load: Load) -> None:
    robot = load("")
    assert not robot.motors.reflected_inertia.any()
    assert not robot.motors.reduction.any()
    assert not robot.model.armature.any()


def test_friction_and_gains_of_the_left_are_the_right_ones_too_unless_given(load: Load) -> None:
    sides = "mirror: {L: R}\n"
    robot = load(
        sides + "friction: {LArm: {coulomb: 2, viscous: 0.5, breakaway: 3}}\n",
        gains="gains: {LArm: [400, 20], Neck: [30, 1]}\n",
    )
    assert by_name(robot, robot.friction.coulomb) == {"LArm": 2.0, "RArm": 2.0, "Neck": 0.0}
    assert by_name(robot, robot.friction.viscous) == {"LArm": 0.5, "RArm": 0.5, "Neck": 0.0}
    assert by_name(robot, robot.friction.breakaway) == {"LArm": 3.0, "RArm": 3.0, "Neck": 0.0}
    assert by_name(robot, robot.motors.stiffness) == {"LArm": 400.0, "RArm": 400.0, "Neck": 30.0}
    assert by_name(robot, robot.motors.damping) == {"LArm": 20.0, "RArm": 20.0, "Neck": 1.0}
    other = load(sides + "friction: {LArm: {viscous: 0.5}, RArm: {viscous: 0.7}}\n")
    assert by_name(other, other.friction.viscous) == {"LArm": 0.5, "RArm": 0.7, "Neck": 0.0}
    # Without `mirror`, left is left.
    alone = load("friction: {LArm: {viscous: 0.5}}\n")
    assert by_name(alone, alone.friction.viscous) == {"LArm": 0.5, "RArm": 0.0, "Neck": 0.0}


def test_the_base_is_fixed_where_the_description_says_so_and_floats_otherwise(load: Load) -> None:
    fixed = load("")
    assert (fixed.floating, fixed.model.nq, fixed.model.nv) == (False, 3, 3)
    source = fixed.urdf.parent / "robot.yaml"
    source.write_text(source.read_text(encoding="utf-8").replace("base: fixed\n", ""), encoding="utf-8")
    free = load_robot(source)
    assert (free.floating, free.model.nq, free.model.nv) == (True, 10, 9)
    assert free.joint_names == fixed.joint_names


def test_a_hand_may_be_a_palm_alone(load: Load) -> None:
    robot = load("frames: {right_hand: r_arm}\nhands: {right_hand: {palm: r_arm}}\n")
    hand = robot.hands["right_hand"]
    assert (hand.palm, hand.fingers, hand.joints) == ("r_arm", (), ())


@pytest.mark.parametrize(
    ("lines", "gains", "message"),
    [
        ("motors: {LArm: [1, 2], Neck: [1, 2]}\n", NO_GAINS, r"motors: no row for RArm; every joint"),
        ("motors: {Nick: [1, 2]}\n", NO_GAINS, r"motors: unknown joint `Nick`; allowed: LArm, Neck, RArm"),
        ("", "gains: some\n", r"`gains\.auto`: Input should be 'auto'"),
        ("", "gains: {Neck: [1]}\n", r"`gains\.rows\.Neck\.1`: Field required"),
        (
            "friction: {Neck: {coulomb: 2, breakaway: 1.5}}\n",
            NO_GAINS,
            r"`friction\.Neck`: .*breakaway 1\.5 must not be less than coulomb 2",
        ),
        (
            "friction: {Neck: {viscous: -1}}\n",
            NO_GAINS,
            r"`friction\.Neck\.viscous`: .*greater than or equal",
        ),
        ("motors: {Neck: {reduction: 50}}\n", NO_GAINS, r"`motors\.Neck`: .*give \[reduction, rotor"),
        (
            "motors: {Neck: {reduction: 50, rotor: 1, reflected_inertia: 1}}\n",
            NO_GAINS,
            r"`motors\.Neck`: .*or reflected_inertia in kg·m²",
        ),
        (
            "frames: {right_hand: r_arm}\nhands: {right_hand: {palm: r_hand}}\n",
            NO_GAINS,
            r"hands\.right_hand: unknown link `r_hand`; allowed: .*r_arm",
        ),
    ],
)
def test_mistakes_are_named_in_one_line(load: Load, lines: str, gains: str, message: str) -> None:
    with pytest.raises(RobotError, match=message) as caught:
        load(lines, gains=gains)
    assert "\n" not in str(caught.value)
    assert "robot.yaml" in str(caught.value)


@pytest.mark.parametrize("key", ["xyz: [0, 0, 1]", "rpy: [0, 0, 1]", "axis: y"])
def test_a_joint_is_placed_by_a_row_or_by_hand_not_both(load: Load, key: str) -> None:
    joint = "parent: a, child: b, limits: [-1, 1], velocity: 1, effort: 1"
    with pytest.raises(RobotError, match=rf"`joints\.j`: .*give dh or {key[: key.index(':')]}, not both"):
        load(f"joints: {{j: {{{joint}, dh: {{d: 0.3}}, {key}}}}}\n")
    link = "{mass: 1, cog: [0, 0, 0], inertia: [1, 1, 1, 0, 0, 0]}"
    load(f"root: a\nlinks: {{a: {link}, b: {link}}}\njoints: {{j: {{{joint}, dh: {{d: 0.3}}}}}}\n")


def test_a_row_turns_about_z() -> None:
    given = {"parent": "a", "child": "b", "limits": (-1, 1), "velocity": 1, "effort": 1}
    joint = JointDescription.model_validate({**given, "dh": {"alpha": 0.2, "d": 0.3}})
    assert joint.dh is not None
    assert (joint.dh.alpha, joint.dh.d, joint.dh.a, joint.axis) == (0.2, 0.3, 0.0, "z")


def test_a_drive_in_short_is_the_same_as_in_full() -> None:
    short, full = (Drive.model_validate(data) for data in ([120, 3.5], {"reduction": 120, "rotor": 3.5}))
    assert short == full
    assert short.reflected_inertia is None
