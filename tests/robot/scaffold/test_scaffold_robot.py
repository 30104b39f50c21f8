"""Descriptions guessed from URDFs of which every role is known."""

import importlib.metadata
import xml.etree.ElementTree as ET
from pathlib import Path

import numpy as np
import pinocchio as pin
import pytest

from simbench.balance.leg_ik import stand
from simbench.errors import RobotError
from simbench.resources import resource_dir
from simbench.retargeting.imitation.scaled_model import require_human_form
from simbench.robot.robot import Robot, load_robot
from simbench.robot.scaffold.scaffold import Scaffold, scaffold_robot
from simbench.robot.scaffold.writing import scaffold_text, write_scaffold
from simbench.robot.urdf.source import turn_root
from tests.robot.scaffold.synthetic import ANKLE, SOLE, Humanoid


def _require_wheel() -> None:
    try:
        importlib.metadata.distribution("example-robot-data")
    except importlib.metadata.PackageNotFoundError:
        pytest.skip("needs example-robot-data")


def _scaffold(humanoid: Humanoid, folder: Path) -> Scaffold:
    path = folder / "invented.urdf"
    path.write_text(humanoid.urdf())
    return scaffold_robot(path)


@pytest.mark.parametrize(("scale", "seed"), [(0.3, 0), (1.0, 1), (1.0, 2), (3.0, 3)])
def test_a_humanoid_with_meaningless_names_gets_every_role(tmp_path: Path, scale: float, seed: int) -> None:
    humanoid = Humanoid(scale, seed)
    found = _scaffold(humanoid, tmp_path)
    description = found.description
    assert description.base == "floating"
    for limb in ("left_leg", "right_leg", "left_arm", "right_arm"):
        assert set(description.groups[limb]) == humanoid.joint_names(limb, 6), limb
    assert description.groups["trunk"] == (humanoid.names["waist"][0],)
    assert set(description.groups["head"]) == humanoid.joint_names("neck", 2)
    links = {
        role: humanoid.names[part][1]
        for role, part in (("pelvis", "pelvis"), ("trunk", "waist"), ("head", "neck1"))
    }
    for side in ("left", "right"):
        links[f"{side}_elbow"] = humanoid.names[f"{side}_arm3"][1]
        links[f"{side}_wrist"] = humanoid.names[f"{side}_arm5"][1]
        links[f"{side}_thigh"] = humanoid.names[f"{side}_leg2"][1]
    assert {role: description.frames[role] for role in links} == links


@pytest.mark.parametrize(("scale", "seed"), [(0.3, 4), (3.0, 5)])
def test_the_written_file_loads_and_stands(tmp_path: Path, scale: float, seed: int) -> None:
    robot = load_robot(write_scaffold(_scaffold(Humanoid(scale, seed), tmp_path), tmp_path / "out"))
    require_human_form(robot)
    stance = stand(robot, (0.0, 0.0), 0.0, "standing")
    q = np.concatenate([stance.base, stance.joints])
    cog = pin.centerOfMass(robot.model, robot.model.createData(), q)
    assert np.linalg.norm(cog[:2] - stance.target[:2]) < 1e-4 * scale
    toe, width = (scale * np.array(limits) for limits in SOLE)
    for side, middle in (("left", 0.1 * scale), ("right", -0.1 * scale)):
        corners = (
            _zero_pose(robot, robot.frames[f"{side}_foot"])
            @ np.column_stack([robot.soles[f"{side}_foot"], np.ones(4)]).T
        )
        np.testing.assert_allclose([corners[0].min(), corners[0].max()], toe, atol=2e-4)
        np.testing.assert_allclose([corners[1].min(), corners[1].max()], middle + width, atol=2e-4)
        np.testing.assert_allclose(corners[2], -(0.7 + ANKLE) * scale, atol=1e-5)


def test_palms_point_forward_and_down_in_the_posture_basic(tmp_path: Path) -> None:
    robot = load_robot(write_scaffold(_scaffold(Humanoid(1.0, 6), tmp_path), tmp_path / "out"))
    data = robot.model.createData()
    q = np.concatenate([pin.neutral(robot.model)[:7], robot.postures["basic"]])
    pin.framesForwardKinematics(robot.model, data, q)
    for side in ("left", "right"):
        palm = data.oMf[robot.model.getFrameId(robot.frames[f"{side}_hand"])]
        shoulder = data.oMf[robot.model.getFrameId(robot.frames[f"{side}_shoulder"])]
        np.testing.assert_allclose(palm.rotation, np.eye(3), atol=0.1)
        assert palm.translation[0] - shoulder.translation[0] > 0.5
        # The centre of the hand's box is 9 cm from the wrist, its palm side half its thickness below.
        wrist = data.oMf[robot.model.getFrameId(robot.frames[f"{side}_wrist"])]
        np.testing.assert_allclose(wrist.actInv(palm.translation) @ _axis(wrist, palm, 0), 0.09, atol=1e-3)


def _axis(wrist: pin.SE3, palm: pin.SE3, column: int) -> np.ndarray:
    return wrist.rotation.T @ palm.rotation[:, column]


def _zero_pose(robot: Robot, frame: str) -> np.ndarray:
    data = robot.model.createData()
    pin.framesForwardKinematics(robot.model, data, pin.neutral(robot.model))
    return data.oMf[robot.model.getFrameId(frame)].homogeneous


def test_collision_pairs_join_hands_but_no_neighbours(tmp_path: Path) -> None:
    humanoid = Humanoid(1.0, 7)
    robot = load_robot(write_scaffold(_scaffold(humanoid, tmp_path), tmp_path / "out"))
    pairs = {frozenset(pair) for pair in robot.self_collision_pairs}
    link = {part: names[1] for part, names in humanoid.names.items()}
    assert frozenset((link["left_arm5"], link["right_arm5"])) in pairs
    assert frozenset((link["left_leg5"], link["right_leg5"])) in pairs
    assert frozenset((link["left_arm5"], link["waist"])) in pairs
    assert frozenset((link["left_leg2"], link["left_leg3"])) not in pairs
    assert frozenset((link["left_leg5"], link["neck1"])) not in pairs


def test_the_same_urdf_gives_the_same_text(tmp_path: Path) -> None:
    first = _scaffold(Humanoid(1.0, 8), tmp_path)
    assert scaffold_text(first, "robot.urdf") == scaffold_text(
        scaffold_robot(tmp_path / "invented.urdf"), "robot.urdf"
    )


def test_swapped_names_do_not_swap_the_sides_and_are_told(tmp_path: Path) -> None:
    humanoid = Humanoid(1.0, 9, swapped_names=True)
    found = _scaffold(humanoid, tmp_path)
    assert set(found.description.groups["left_leg"]) == humanoid.joint_names("left_leg", 6)
    assert any("names say left for what lies on the right" in line for line in found.missing)


def test_three_legs_are_no_biped(tmp_path: Path) -> None:
    found = _scaffold(Humanoid(1.0, 10, third_leg=True), tmp_path)
    assert "left_leg" not in found.description.groups
    assert any(line.startswith("legs: 3 similar limbs reach the floor") for line in found.missing)


def test_feet_without_collision_shapes_are_told(tmp_path: Path) -> None:
    humanoid = Humanoid(1.0, 11, shapes=False)
    found = _scaffold(humanoid, tmp_path)
    assert set(found.description.groups["left_leg"]) == humanoid.joint_names("left_leg", 6)
    assert not found.description.soles
    assert any("the foot would touch nothing" in line for line in found.missing)
    assert any("no link has a collision shape" in line for line in found.missing)


def test_joints_without_limits_still_have_roles(tmp_path: Path) -> None:
    humanoid = Humanoid(1.0, 12, limits=False)
    found = _scaffold(humanoid, tmp_path)
    assert {*found.description.groups["left_leg"], *found.description.groups["right_leg"]} == (
        humanoid.joint_names("left_leg", 6) | humanoid.joint_names("right_leg", 6)
    )


@pytest.mark.parametrize("name", ["romeo", "mahru", "puma560"])
def test_shipped_robots_get_the_roles_written_by_hand(tmp_path: Path, name: str) -> None:
    by_hand = load_robot(name)
    guessed = load_robot(write_scaffold(scaffold_robot(by_hand.urdf), tmp_path))
    assert guessed.floating == by_hand.floating
    assert {group: set(joints) for group, joints in guessed.groups.items()} == {
        group: set(joints) for group, joints in by_hand.groups.items()
    }
    poses = [robot.model.createData() for robot in (by_hand, guessed)]
    for robot, data in zip((by_hand, guessed), poses, strict=True):
        pin.framesForwardKinematics(robot.model, data, pin.neutral(robot.model))
    for role, frame in by_hand.frames.items():
        expected = poses[0].oMf[by_hand.model.getFrameId(frame)]
        found = poses[1].oMf[guessed.model.getFrameId(guessed.frames[role])]
        np.testing.assert_allclose(found.translation, expected.translation, atol=0.02, err_msg=role)
    for role, corners in by_hand.soles.items():
        np.testing.assert_allclose(guessed.soles[role], corners, atol=1e-3)


@pytest.mark.parametrize("name", ["talos", "panda", "ur5"])
def test_robots_of_the_wheel_get_the_groups_and_soles_written_by_hand(tmp_path: Path, name: str) -> None:
    _require_wheel()
    by_hand = load_robot(name)
    guessed = load_robot(write_scaffold(scaffold_robot(by_hand.urdf), tmp_path))
    assert {group: set(joints) for group, joints in guessed.groups.items()} == {
        group: set(joints) for group, joints in by_hand.groups.items()
    }
    poses = [robot.model.createData() for robot in (by_hand, guessed)]
    for robot, data in zip((by_hand, guessed), poses, strict=True):
        pin.framesForwardKinematics(robot.model, data, pin.neutral(robot.model))
    for role in by_hand.soles:
        expected, found = (
            robot.soles[role] @ pose.rotation.T + pose.translation
            for robot, pose in (
                (robot, data.oMf[robot.model.getFrameId(robot.frames[role])])
                for robot, data in zip((by_hand, guessed), poses, strict=True)
            )
        )
        np.testing.assert_allclose(found, expected, atol=0.005)
    # Palms lie between the tips of jaws, not between their motors.
    for role in by_hand.hands:
        expected, found = (
            data.oMf[robot.model.getFrameId(robot.frames[role])]
            for robot, data in zip((by_hand, guessed), poses, strict=True)
        )
        np.testing.assert_allclose(found.translation, expected.translation, atol=0.02, err_msg=role)
        # The back of a round flange is where the posture wants it.
        np.testing.assert_allclose(found.rotation[:, 0], expected.rotation[:, 0], atol=1e-3, err_msg=role)


def test_a_missing_mesh_and_a_mimic_joint_are_survived(tmp_path: Path) -> None:
    text = (resource_dir("robots") / "puma560" / "puma560.urdf").read_text()
    text = text.replace("<limit", '<mimic joint="joint1"/><limit', 1)
    (tmp_path / "arm.urdf").write_text(text)
    found = scaffold_robot(tmp_path / "arm.urdf")
    assert found.description.groups["right_arm"] == tuple(f"joint{index}" for index in range(1, 7))
    assert any(line.startswith("shapes:") and "cannot be read" in line for line in found.missing)


def test_hips_that_share_a_motor_stay_and_fingers_that_share_one_move_together(tmp_path: Path) -> None:
    humanoid = Humanoid(1.0, 3, plain_names=True, fingers=True)
    root = ET.fromstring(humanoid.urdf())
    right = next(joint for joint in root.iter("joint") if joint.get("name") == "right_leg0_j")
    ET.SubElement(right, "mimic", joint="left_leg0_j", multiplier="-1")
    path = tmp_path / "hips.urdf"
    ET.ElementTree(root).write(path)
    found = scaffold_robot(path)
    description = found.description
    couplings = {name: (each.joint, each.multiplier) for name, each in description.coupled_joints.items()}
    assert couplings == {
        "right_leg0_j": ("left_leg0_j", -1.0),
        "left_finger1_j": ("left_finger0_j", -1.0),
        "right_finger1_j": ("right_finger0_j", -1.0),
    }
    for side in ("left", "right"):
        assert set(description.groups[f"{side}_leg"]) == {f"{side}_leg{index}_j" for index in range(1, 6)}
        assert set(description.groups[f"{side}_grip"]) == {f"{side}_finger{index}_j" for index in (0, 1)}
    assert any("left_leg0_j" in note and "share motors" in note for note in found.missing)
    robot = load_robot(write_scaffold(found, tmp_path / "out"))
    assert robot.frames["pelvis"] == "pelvis_b"
    soles = stand(robot, (0.0, 0.0), 0.0, "standing").soles
    np.testing.assert_allclose([soles[side].translation[2] for side in ("left", "right")], 0.0, atol=1e-6)
    motors = robot.motors
    one, other = (robot.joint_names.index(f"{side}_leg0_j") for side in ("left", "right"))
    assert motors.stiffness[one] > 0.0 == motors.stiffness[other]


def test_a_last_joint_that_opens_to_one_side_is_a_grip_that_stays_open(tmp_path: Path) -> None:
    text = (resource_dir("robots") / "puma560" / "puma560.urdf").read_text()
    root = ET.fromstring(text)
    for joint in root.findall("joint"):
        if joint.get("name") == "joint6":
            joint.find("limit").set("lower", "0")
            joint.find("limit").set("upper", "1.2")
    ET.ElementTree(root).write(tmp_path / "arm.urdf")
    description = scaffold_robot(tmp_path / "arm.urdf").description
    assert dict(description.fixed_joints) == {"joint6": 0.0}
    assert len(description.groups["right_arm"]) == 5


def test_a_root_that_faces_backward_is_turned_in_a_copy(tmp_path: Path) -> None:
    humanoid = Humanoid(1.0, 13, plain_names=True)
    path = tmp_path / "backward.urdf"
    path.write_text(turn_root(humanoid.urdf(), pin.utils.rotate("z", np.pi)))
    found = scaffold_robot(path)
    assert found.urdf_text is not None
    robot = load_robot(write_scaffold(found, tmp_path / "out"))
    assert _zero_pose(robot, robot.frames["left_foot"])[1, 3] == pytest.approx(0.1, abs=1e-6)
    assert stand(robot, (0.0, 0.0), 0.0, "standing").soles["left"].rotation[0, 0] == pytest.approx(1.0)


def test_an_existing_file_is_kept(tmp_path: Path) -> None:
    found = scaffold_robot(resource_dir("robots") / "puma560" / "puma560.urdf")
    (tmp_path / "robot.yaml").write_text("mine")
    with pytest.raises(RobotError):
        write_scaffold(found, tmp_path)
    assert (tmp_path / "robot.yaml").read_text() == "mine"
    assert [path.name for path in tmp_path.iterdir()] == ["robot.yaml"]
