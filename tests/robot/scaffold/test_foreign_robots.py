"""Robots as other people write them: free bases, few joints, fingers, wrong units; and corrections."""

from pathlib import Path

import numpy as np
import pinocchio as pin
import pytest

from simbench.balance.leg_ik import stand
from simbench.cli.main import main
from simbench.errors import RobotError
from simbench.robot.robot import load_robot
from simbench.robot.scaffold.limb_chains import Correction
from simbench.robot.scaffold.scaffold import Scaffold, scaffold_robot
from simbench.robot.scaffold.writing import write_scaffold
from simbench.robot.urdf.source import build_model, move_root, read_urdf
from tests.robot.scaffold.synthetic import ARM, LEG, Humanoid

_LIMBS = ("left_leg", "right_leg", "left_arm", "right_arm")
_SIX = "".join(
    f'<link name="w{k}"/><joint name="base{k}" type="{kind}"><parent link="w{k}"/><child link="w{k + 1}"/>'
    f'<axis xyz="{axis}"/><limit lower="-9" upper="9" effort="1" velocity="1"/></joint>'
    for k, (kind, axis) in enumerate(
        (kind, axis) for kind in ("prismatic", "revolute") for axis in ("1 0 0", "0 1 0", "0 0 1")
    )
)
# What carries the pelvis, whose link is put in.
_ROOTS = {
    "a frame on the floor": '<link name="base_footprint"/><joint name="up" type="fixed">'
    '<parent link="base_footprint"/><child link="PELVIS"/><origin xyz="0 0 0.78"/></joint>',
    "a floating joint": '<link name="world"/><joint name="free" type="floating"><parent link="world"/>'
    '<child link="PELVIS"/></joint>',
    "six joints": _SIX + '<link name="w6"/><joint name="last" type="fixed"><parent link="w6"/>'
    '<child link="PELVIS"/></joint>',
}


def _guess(humanoid: Humanoid, folder: Path, text: str = "", **corrections: Correction) -> Scaffold:
    path = folder / "invented.urdf"
    path.write_text(text or humanoid.urdf())
    return scaffold_robot(path, corrections=corrections)


@pytest.mark.parametrize("root", _ROOTS)
def test_a_root_that_is_no_body_makes_no_difference(tmp_path, root):
    plain = Humanoid(1.0, 21)
    text = plain.urdf()
    above = _ROOTS[root].replace("PELVIS", plain.names["pelvis"][1])
    expected = _guess(plain, tmp_path, text).description
    found = _guess(plain, tmp_path, text.replace("</robot>", above + "</robot>")).description
    assert found.base == "floating"
    assert found.groups == expected.groups
    assert found.frames == expected.frames
    robot = load_robot(write_scaffold(_guess(plain, tmp_path, text), tmp_path / "out"))
    assert len(robot.joint_names) == 2 * (len(LEG) + len(ARM)) + 3
    stand(robot, (0.0, 0.0), 0.0, "standing")


@pytest.mark.parametrize("dropped", [(4, 5), (2, 4, 5), (5,), (4,)])
def test_the_elbow_of_arms_with_few_joints_is_where_the_bones_meet(tmp_path, dropped):
    """Also where it is the last joint, and the hand is one with the forearm."""
    fixed = tuple(f"{side}_arm{k}" for side in ("left", "right") for k in dropped)
    humanoid = Humanoid(1.0, 22, fixed=fixed)
    found = _guess(humanoid, tmp_path)
    description, robot = found.description, load_robot(write_scaffold(found, tmp_path / "out"))
    data = robot.model.createData()
    pin.framesForwardKinematics(robot.model, data, pin.neutral(robot.model))
    for side, sign in (("left", 1.0), ("right", -1.0)):
        joints = {humanoid.names[f"{side}_arm{k}"][0] for k in range(6) if k not in dropped}
        assert set(description.groups[f"{side}_arm"]) == joints
        elbow, wrist = (
            data.oMf[robot.model.getFrameId(robot.frames[f"{side}_{role}"])].translation
            for role in ("elbow", "wrist")
        )
        np.testing.assert_allclose(elbow, [0.0, sign * 0.22, 0.12 + 0.34 - 0.27], atol=1e-6)
        np.testing.assert_allclose(wrist[:2], elbow[:2], atol=0.02)
        assert 0.2 < elbow[2] - wrist[2] < 0.28


@pytest.mark.parametrize("dropped", [(5,), (0, 5), (0,)])
def test_legs_of_few_joints_stand_on_level_soles(tmp_path, dropped):
    fixed = tuple(f"{side}_leg{k}" for side in ("left", "right") for k in dropped)
    robot = load_robot(write_scaffold(_guess(Humanoid(1.0, 23, fixed=fixed), tmp_path), tmp_path / "out"))
    assert len(robot.groups["left_leg"]) == 6 - len(dropped)
    stance = stand(robot, (0.0, 0.0), 0.0, "standing")  # Refuses soles that are not level.
    cog = pin.centerOfMass(
        robot.model, robot.model.createData(), np.concatenate([stance.base, stance.joints])
    )
    assert np.linalg.norm(cog[:2] - stance.target) < 2e-3


def test_fingers_that_move_to_both_sides_are_no_arm(tmp_path):
    humanoid = Humanoid(1.0, 24, fingers=True)
    description = _guess(humanoid, tmp_path).description
    for side in ("left", "right"):
        assert set(description.groups[f"{side}_arm"]) == humanoid.joint_names(f"{side}_arm", 6)
        assert set(description.groups[f"{side}_grip"]) == humanoid.joint_names(f"{side}_finger", 2)


def test_a_robot_whose_root_is_its_trunk_stands_by_its_pelvis(tmp_path):
    humanoid = Humanoid(1.0, 25)
    path = tmp_path / "plain.urdf"
    path.write_text(humanoid.urdf())
    text, _ = read_urdf(path, floating=False)
    moved = move_root(text, humanoid.names["waist"][1])
    expected, found = (_guess(humanoid, tmp_path, each) for each in (text, moved))
    assert found.description.groups == expected.description.groups
    assert found.description.frames == expected.description.frames
    assert any("is the root in a copy" in note for note in found.missing)
    robot = load_robot(write_scaffold(found, tmp_path / "out"))
    assert robot.model.frames[2].name == humanoid.names["pelvis"][1]
    stand(robot, (0.0, 0.0), 0.0, "standing")


@pytest.mark.parametrize("part", ["waist", "left_arm3", "right_leg5"])
def test_a_moved_root_leaves_the_robot_as_it_is(tmp_path, part):
    """Places of all masses against the new root, in a random posture."""
    humanoid = Humanoid(1.0, 26)
    path = tmp_path / "plain.urdf"
    path.write_text(humanoid.urdf())
    text, _ = read_urdf(path, floating=False)
    link = humanoid.names[part][1]
    random, values = np.random.default_rng(3), {}
    centres = []
    for each in (text, move_root(text, link)):
        model = build_model(each, path)
        data, q = model.createData(), np.zeros(model.nq)
        for joint in range(1, model.njoints):
            q[joint - 1] = values.setdefault(model.names[joint], random.uniform(-1.0, 1.0))
        pin.framesForwardKinematics(model, data, q)
        root = data.oMf[model.getFrameId(link, pin.FrameType.BODY)]
        bodies = [
            (inertia.mass, *root.actInv(data.oMi[joint].act(inertia.lever)))
            for joint, inertia in enumerate(model.inertias)
        ]
        centres.append(np.array(sorted(bodies)))
    np.testing.assert_allclose(centres[0], centres[1], atol=1e-9)


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (lambda text: text.replace('velocity="6"', 'velocity="6"'), ""),
        (lambda text: _scaled(text, "lower", "upper", factor=57.3), "are limits in degrees?"),
        (lambda text: _scaled(text, "value", factor=1000.0), "are masses in grams?"),
    ],
)
def test_units_that_cannot_be_meant_are_doubted(tmp_path, change, said):
    found = _guess(Humanoid(1.0, 27), tmp_path, change(Humanoid(1.0, 27).urdf()))
    doubts = [line for line in found.missing if line.startswith("units: ")]
    assert len(doubts) == bool(said)
    assert all(said in line for line in doubts)


def _scaled(text: str, *keys: str, factor: float) -> str:
    for key in keys:
        parts = text.split(f'{key}="')
        rest = [part.split('"', 1) for part in parts[1:]]
        text = parts[0] + "".join(f'{key}="{factor * float(number):.12g}"{tail}' for number, tail in rest)
    return text


def test_a_correction_changes_what_follows_from_it(tmp_path):
    humanoid = Humanoid(1.0, 28, fingers=True)
    text = humanoid.urdf()
    elbow, wrist, hand = (humanoid.names[f"left_arm{k}"][0] for k in (3, 4, 4))
    plain = _guess(humanoid, tmp_path, text).description
    left = Correction(elbow=elbow, wrist=wrist, hand=hand)
    found = _guess(humanoid, tmp_path, text, left=left)
    description = found.description
    assert set(description.groups["left_arm"]) == humanoid.joint_names("left_arm", 5)
    assert humanoid.names["left_arm5"][0] in description.groups["left_grip"]
    assert description.frames["left_elbow"] == plain.frames["left_elbow"]
    assert description.frames["left_wrist"] == humanoid.names["left_arm4"][1]
    assert description.groups["right_arm"] == plain.groups["right_arm"]
    sole = humanoid.names["left_leg5"][1]
    palm = humanoid.names["left_arm5"][1]
    known = _guess(humanoid, tmp_path, text, left=Correction(palm=palm, sole=sole)).description
    assert known.frames["left_hand"] == palm
    assert known.soles["left_foot"] == plain.soles["left_foot"]
    assert known.postures["basic"] != plain.postures["basic"]


@pytest.mark.parametrize("key", ["elbow", "wrist", "hand", "palm", "sole"])
def test_what_is_said_to_be_known_must_be_there(tmp_path, key):
    with pytest.raises(RobotError, match=rf"{key} nowhere: no .* allowed: "):
        _guess(Humanoid(1.0, 29), tmp_path, left=Correction(**{key: "nowhere"}))


def test_the_command_takes_corrections_and_draws_the_guess(tmp_path, capsys):
    humanoid = Humanoid(1.0, 30, plain_names=True)
    path = tmp_path / "invented.urdf"
    path.write_text(humanoid.urdf())
    out, picture = tmp_path / "out", tmp_path / "guess.png"
    options = ["--out", str(out), "--elbow", "left=left_arm2_j", "--picture", str(picture)]
    assert main(["robot", "scaffold", str(path), *options]) == 0
    assert "as was said" in " ".join(capsys.readouterr().out.split())
    assert load_robot(out).frames["left_elbow"] != load_robot(out).frames["left_wrist"]
    assert picture.read_bytes().startswith(b"\x89PNG")
    assert main(["robot", "scaffold", str(path), "--out", str(tmp_path / "no"), "--palm", "up=x"]) == 2
    assert capsys.readouterr().err == "error: --palm up=x: allowed: left=NAME or right=NAME\n"
    assert not (tmp_path / "no").exists()
