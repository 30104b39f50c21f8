"""What is said about a robot, against independent readers, and about one with every error there is."""

from pathlib import Path

import numpy as np
import pybullet
import pybullet_data
import pytest
import yourdfpy

from simbench.errors import RobotError
from simbench.resources import resource_dir
from simbench.robot.robot_inspection import RobotInspection, principal_moments

BULLET_DATA = Path(pybullet_data.getDataPath())
ROMEO = resource_dir("robots") / "romeo"

BROKEN = """<robot name="broken">
  <link name="world"/>
  <link name="base">
    <inertial><mass value="5"/><inertia ixx="0.1" iyy="0.1" izz="0.5" ixy="0" ixz="0" iyz="0"/></inertial>
    <visual><geometry><mesh filename="package://lost/base.dae"/></geometry></visual>
    <collision><geometry><mesh filename="meshes/base.stl"/></geometry></collision>
  </link>
  <link name="left_arm">
    <inertial><mass value="-1"/><inertia ixx="0.1" iyy="0.1" izz="0.1"/></inertial>
  </link>
  <link name="right_arm">
    <inertial><origin xyz="0 0 nan"/><mass value="1"/><inertia ixx="0.1" iyy="0.1" izz="0.1"/></inertial>
  </link>
  <link name="left_hand">
    <inertial><mass value="0.5"/><inertia ixx="0" iyy="0" izz="0"/></inertial>
    <collision><geometry><sphere radius="0.05"/></geometry></collision>
  </link>
  <link name="right_hand">
    <inertial><origin xyz="0 0 0.5"/><mass value="0.6"/><inertia ixx="0.5" iyy="0.5" izz="0.5"/></inertial>
    <collision><geometry><sphere radius="0.05"/></geometry></collision>
  </link>
  <link name="head">
    <inertial><mass value="2"/><inertia ixx="-0.1" iyy="0.1" izz="0.1"/></inertial>
  </link>
  <link name="brick">
    <inertial><mass value="3"/><inertia ixx="1e-6" iyy="1e-6" izz="1e-6"/></inertial>
    <collision><geometry><box size="0.2 0.2 0.2"/></geometry></collision>
  </link>
  <link name="ghost"><visual><geometry><sphere radius="0.05"/></geometry></visual></link>
  <joint name="mount" type="fixed"><parent link="world"/><child link="base"/></joint>
  <joint name="left_shoulder" type="revolute"><parent link="base"/><child link="left_arm"/>
    <axis xyz="0 0 3"/><limit lower="1" upper="-1" effort="0" velocity="0"/></joint>
  <joint name="right_shoulder" type="revolute"><parent link="base"/><child link="right_arm"/>
    <axis xyz="0 0 0"/></joint>
  <joint name="left_wrist" type="revolute"><parent link="left_arm"/><child link="left_hand"/>
    <limit lower="0.5" upper="1" effort="1" velocity="1"/></joint>
  <joint name="right_wrist" type="revolute"><parent link="right_arm"/><child link="right_hand"/>
    <limit lower="-2" upper="1" effort="1" velocity="1"/><mimic joint="left_wrist"/></joint>
  <joint name="neck" type="ball"><parent link="base"/><child link="head"/></joint>
  <joint name="stuck" type="prismatic"><parent link="base"/><child link="brick"/>
    <limit lower="0" upper="0" effort="1" velocity="1"/></joint>
  <joint name="halo" type="fixed"><parent link="head"/><child link="ghost"/></joint>
</robot>"""


@pytest.mark.parametrize(
    "name",
    [
        "kuka_iiwa/model.urdf",
        "franka_panda/panda.urdf",
        "a1/a1.urdf",
        "laikago/laikago_toes.urdf",
        "r2d2.urdf",
    ],
)
def test_totals_are_those_of_independent_readers(name):
    inspection = RobotInspection(BULLET_DATA / name)
    other = yourdfpy.URDF.load(str(BULLET_DATA / name), load_meshes=False, build_scene_graph=False)
    weighed = {link.name: link.inertial for link in other.robot.links if link.inertial is not None}
    assert inspection.mass == pytest.approx(sum(inertial.mass for inertial in weighed.values()))
    for link, inertial in weighed.items():
        body = inspection.links[link]
        assert body.mass == pytest.approx(inertial.mass)
        np.testing.assert_allclose(principal_moments(body), np.linalg.eigvalsh(inertial.inertia), atol=1e-12)
        if inertial.origin is not None:
            np.testing.assert_allclose(body.cog, inertial.origin[:3, 3])
    client = pybullet.connect(pybullet.DIRECT)
    body = pybullet.loadURDF(str(BULLET_DATA / name), physicsClientId=client)
    infos = [
        pybullet.getJointInfo(body, index, physicsClientId=client)
        for index in range(pybullet.getNumJoints(body, physicsClientId=client))
    ]
    pybullet.disconnect(client)
    assert inspection.degrees_of_freedom == sum(info[2] != pybullet.JOINT_FIXED for info in infos)
    assert [joint.name for joint in inspection.joints if joint.kind == "fixed"] == [
        joint.name for joint in other.robot.joints if joint.type == "fixed"
    ]
    assert inspection.errors == ()
    assert (inspection.floating, inspection.meshes_missing) == (None, 0)


def test_limbs_of_a_bare_urdf_are_its_chains():
    legs = RobotInspection(BULLET_DATA / "a1" / "a1.urdf").groups
    assert sorted(legs.values()) == [
        tuple(f"{leg}_{joint}_joint" for joint in ("hip", "upper", "lower"))
        for leg in ("FL", "FR", "RL", "RR")
    ]
    # The fingers branch off the end of the arm.
    arm, *fingers = RobotInspection(BULLET_DATA / "franka_panda" / "panda.urdf").groups.values()
    assert arm == tuple(f"panda_joint{number}" for number in range(1, 8))
    assert fingers == [("panda_finger_joint1",), ("panda_finger_joint2",)]


def test_a_shipped_robot_has_its_own_limbs_and_no_warnings(romeo):
    inspection = RobotInspection("romeo")
    assert (inspection.name, inspection.floating, inspection.errors) == ("romeo", True, ())
    assert inspection.groups == romeo.groups
    assert inspection.mass == pytest.approx(40.52937)
    assert inspection.degrees_of_freedom == len(romeo.joint_names)
    assert inspection.meshes_found == len(list(ROMEO.glob("meshes/*.obj")))
    assert inspection.warnings == ()


def test_every_error_is_reported_and_no_exception_is_raised(tmp_path):
    path = tmp_path / "broken.urdf"
    path.write_text(BROKEN, encoding="utf-8")
    inspection = RobotInspection(path)
    assert inspection.errors == (
        "joint `right_shoulder`: axis has no length",
        "joint `neck`: unknown type `ball`; allowed: revolute, continuous, prismatic, fixed",
        'link `right_arm`: inertial: origin: xyz="0 0 nan" is not 3 finite numbers',
        "link `left_arm`: mass -1 kg is negative",
    )
    assert inspection.warnings[:4] == inspection.errors
    assert inspection.warnings[4:] == (
        "link `base`: visual left out: mesh `package://lost/base.dae` not found",
        "link `base`: collision left out: mesh `meshes/base.stl` not found",
        "joint `left_shoulder`: axis has length 3; made 1",
        "joint `left_shoulder`: lower limit 1 is above the upper -1; taken as unlimited",
        "joint `left_shoulder`: effort limit is 0; taken as unlimited",
        "joint `left_shoulder`: velocity limit is 0; taken as unlimited",
        "joint `right_shoulder`: no limits of travel, effort, velocity given; taken as unlimited",
        "joint `right_wrist`: mimics `left_wrist`; moves with it",
        "link `base`: no rigid body has principal moments of 0.1, 0.1, 0.5 kg·m²: "
        "the largest exceeds the sum of the others",
        "link `left_hand`: has a mass of 0.5 kg but no inertia",
        # sqrt(3 · 0.5 / (2 · 0.6)) = 1.12 m; the box's far corner is at (0.05, 0.05, -0.55) from the COG.
        "link `right_hand`: inertia is too large: 0.6 kg at 1.1 m from their centre, "
        "where the geometry ends at 0.55 m",
        "link `right_hand`: centre of gravity lies 0.45 m outside its geometry",
        "link `head`: inertia is not positive definite (principal moments -0.1, 0.1, 0.1 kg·m²)",
        # sqrt(3e-6 / 6) = 0.0007 m; half the cube's diagonal is 0.17 m.
        "link `brick`: inertia is too small: 3 kg at 0.00071 m from their centre, "
        "while the geometry reaches 0.17 m",
        "link `ghost`: has a shape but no mass",
        "joint `left_wrist`: zero is outside its limits 0.5..1",
        "joint `stuck`: both limits are 0: it cannot move",
        "links `left_arm`, `right_arm`: masses differ: -1, 1 kg",
        "links `left_hand`, `right_hand`: masses differ: 0.5, 0.6 kg",
        "joints `left_wrist`, `right_wrist`: travel differs: 0.5, 3",
    )
    assert (inspection.meshes_found, inspection.meshes_missing) == (0, 2)
    assert inspection.degrees_of_freedom == 5


def test_spherical_joints_are_refused_and_counted():
    inspection = RobotInspection(BULLET_DATA / "humanoid" / "humanoid.urdf")
    assert len(inspection.errors) == 8
    assert inspection.errors[0].startswith("joint `chest`: type `spherical` is not supported")
    # 8 of three freedoms; knees and elbows of one.
    assert inspection.degrees_of_freedom == 8 * 3 + 4
    assert inspection.mass == pytest.approx(45.0, abs=0.001)


def test_a_bare_urdf_says_what_a_floating_base_would_change():
    assert "root link `lbr_iiwa_link_0`: has no mass, nor has a link fixed to it: it could not float" in (
        RobotInspection(BULLET_DATA / "kuka_iiwa" / "model.urdf").warnings
    )
    assert (
        "link `world`: has no mass; `link_base`, which is fixed to it, is the root if the base is floating"
        in RobotInspection(BULLET_DATA / "xarm" / "xarm6_robot.urdf").warnings
    )


def test_a_description_that_does_not_fit_its_urdf_is_refused(tmp_path):
    text = (ROMEO / "robot.yaml").read_text(encoding="utf-8")
    text = text.replace("urdf: romeo.urdf", f"urdf: {ROMEO}/romeo.urdf").replace(
        "trunk: torso", "trunk: chest"
    )
    (tmp_path / "robot.yaml").write_text(text, encoding="utf-8")
    inspection = RobotInspection(tmp_path)
    (error,) = inspection.errors
    assert "frames.trunk: unknown frame `chest`" in error
    assert inspection.mass == pytest.approx(40.52937)


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("rome", "unknown robot `rome`; known: .*romeo"),
        ("rome.urdf", r"rome\.urdf: cannot be read: No such file"),
        ("rome.yaml", r"rome\.yaml: cannot be read: No such file"),
    ],
)
def test_what_is_no_robot_at_all_is_one_line(name, message):
    with pytest.raises(RobotError, match=message) as caught:
        RobotInspection(name)
    assert "\n" not in str(caught.value)


def test_a_mesh_file_without_a_mesh_is_said(tmp_path):
    (tmp_path / "a.obj").write_bytes(b"\x00\xff not a mesh")
    path = tmp_path / "a.urdf"
    path.write_text(
        '<robot name="a"><link name="base"><inertial><mass value="1"/>'
        '<inertia ixx="1" iyy="1" izz="1"/></inertial>'
        '<visual><geometry><mesh filename="a.obj"/></geometry></visual></link></robot>',
        encoding="utf-8",
    )
    assert RobotInspection(path).warnings == (
        "link `base`: visual left out: mesh `a.obj`: contains zero bytes: not a text file",
    )
