"""Robots given as xacro: macros, files that it includes, packages, and arguments."""

import sys
from pathlib import Path

import pytest
import yaml

from simbench.cli.main import main
from simbench.errors import RobotError
from simbench.robot.robot import load_robot
from simbench.robot.urdf import xacro_files
from simbench.robot.urdf.elements import UrdfTree, parse_urdf
from simbench.runs.scenario.loading import robot_files

pytest.importorskip("xacro")

NAMESPACE = 'xmlns:xacro="http://www.ros.org/wiki/xacro"'
LIMB = f"""<robot {NAMESPACE}>
  <xacro:macro name="limb" params="name parent length">
    <link name="${{name}}"><inertial><origin xyz="0 0 ${{length / 2}}"/><mass value="${{2 * length}}"/>
      <inertia ixx="0.01" iyy="0.01" izz="0.01"/></inertial>
      <collision><origin xyz="0 0 ${{length / 2}}"/>
        <geometry><box size="0.05 0.05 ${{length}}"/></geometry></collision></link>
    <joint name="${{name}}_joint" type="revolute"><parent link="${{parent}}"/><child link="${{name}}"/>
      <origin xyz="0 0 0.2"/><axis xyz="0 1 0"/>
      <limit lower="${{-pi / 2}}" upper="${{pi / 2}}" effort="20" velocity="3"/></joint>
  </xacro:macro>
</robot>"""
ARM = f"""<robot name="arm" {NAMESPACE}>
  <xacro:arg name="hand" default="true"/>
  <xacro:include filename="$(find my_arm)/urdf/limb.xacro"/>
  <link name="base"><inertial><mass value="1"/><inertia ixx="0.1" iyy="0.1" izz="0.1"/></inertial></link>
  <xacro:limb name="upper" parent="base" length="0.3"/>
  <xacro:limb name="lower" parent="upper" length="$(arg length)"/>
  <xacro:if value="$(arg hand)"><xacro:limb name="hand" parent="lower" length="0.1"/></xacro:if>
</robot>"""


@pytest.fixture
def arm(tmp_path, monkeypatch):
    """A package of ROS with a xacro file that needs an argument."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.chdir(tmp_path)
    folder = tmp_path / "my_arm" / "urdf"
    folder.mkdir(parents=True)
    (folder / "limb.xacro").write_text(LIMB, encoding="utf-8")
    (folder / "arm.urdf.xacro").write_text(ARM, encoding="utf-8")
    return folder / "arm.urdf.xacro"


def test_it_is_expanded_with_its_arguments(arm):
    tree = UrdfTree(parse_urdf(arm, {"length": "0.4", "hand": "false"}))
    assert [link.name for link in tree.links] == ["base", "upper", "lower"]
    assert tree.links[2].mass == pytest.approx(0.8)
    assert tree.joints[0].upper == pytest.approx(1.5707963267948966)
    assert len(UrdfTree(parse_urdf(arm, {"length": "0.4"})).links) == 4


def test_a_package_is_found_whose_folder_has_another_name(arm):
    (arm.parents[1] / "package.xml").write_text("<package><name>my_arm</name></package>", encoding="utf-8")
    moved = arm.parents[1].rename(arm.parents[2] / "checkout") / "urdf" / arm.name
    assert len(UrdfTree(parse_urdf(moved, {"length": "0.4"})).links) == 4


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({}, "Undefined substitution argument length; give it by --xacro length:=VALUE or `xacro` in robot"),
        ({"length": "0.4", "size": "1"}, "xacro argument `size` is unknown; allowed: hand, length"),
        ({"length": "long"}, "xacro cannot be expanded: "),
    ],
)
def test_what_is_wrong_is_one_line(arm, arguments, message):
    with pytest.raises(RobotError) as error:
        parse_urdf(arm, arguments)
    assert message in str(error.value)
    assert "\n" not in str(error.value)


def test_arguments_are_for_xacro_only(tmp_path, arm):
    path = tmp_path / "plain.urdf"
    path.write_text('<robot name="a"><link name="b"/></robot>', encoding="utf-8")
    with pytest.raises(RobotError, match="no xacro file; arguments of xacro are allowed for a"):
        parse_urdf(path, {"length": "1"})


def test_a_missing_package_is_one_line(arm, monkeypatch):
    monkeypatch.setattr(xacro_files.importlib.util, "find_spec", lambda name: None)
    with pytest.raises(RobotError, match="a xacro file, not yet a URDF: pip install xacro"):
        parse_urdf(arm, {"length": "0.4"})


def test_scaffold_keeps_the_arguments_for_later(arm, capsys):
    given = ["--xacro", "length:=0.4", "--xacro", "hand:=false"]
    assert main(["robot", "inspect", str(arm), *given]) == 0
    assert main(["robot", "scaffold", str(arm), *given, "--out", "mine"]) == 0
    written = yaml.safe_load(Path("mine/robot.yaml").read_text(encoding="utf-8"))
    assert written["xacro"] == {"length": "0.4", "hand": "false"}
    robot = load_robot("./mine")
    assert robot.joint_names == ("upper_joint", "lower_joint")
    assert arm.parent / "limb.xacro" in robot_files("./mine")
    assert main(["robot", "inspect", "mine"]) == 0
    capsys.readouterr()
    assert main(["robot", "inspect", "mine", *given]) == 2
    assert "its key `xacro` says them" in capsys.readouterr().err
    assert main(["robot", "inspect", str(arm), "--xacro", "length=0.4"]) == 2
    assert "--xacro length=0.4: allowed: NAME:=VALUE" in capsys.readouterr().err


def test_yaml_may_hold_numbers_and_truth_values(arm):
    path = arm.parents[2] / "robot.yaml"
    path.write_text(
        "name: own\nurdf: my_arm/urdf/arm.urdf.xacro\nxacro: {length: 0.4, hand: false}\nbase: fixed\n"
        "groups: {right_arm: [upper_joint, lower_joint]}\ngains: auto\n",
        encoding="utf-8",
    )
    assert load_robot(path).joint_names == ("upper_joint", "lower_joint")


def test_nothing_is_printed(arm, capfd):
    text = ARM.replace(
        '<link name="base">', '<xacro:property name="a" value="${sorted([2, 1])}"/><link name="base">'
    )
    arm.write_text(text, encoding="utf-8")
    parse_urdf(arm, {"length": "0.4"})
    assert capfd.readouterr() == ("", "")
    assert "ament_index_python" not in sys.modules
