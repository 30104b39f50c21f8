"""A robot given as MJCF is loaded, simulated and described like one given as URDF."""

import numpy as np
import pinocchio as pin
import pytest
import yaml

from simbench.cli.main import main
from simbench.errors import RobotError
from simbench.robot.mjcf.kept_conversion import convert_kept
from simbench.robot.robot import load_robot
from simbench.runs.scenario.loading import robot_files
from simbench.sim.engine import open_engine

mujoco = pytest.importorskip("mujoco")

ARM = """
<mujoco model="my arm">
  <compiler angle="radian"/>
  <default><joint armature="0.05" damping="0.2" frictionloss="0.3"/></default>
  <worldbody>
    <geom type="plane" size="1 1 1"/>
    <body name="base"><geom type="cylinder" size="0.08 0.05" mass="3"/>
      <body name="turret" pos="0 0 0.1"><joint name="yaw" axis="0 0 1" range="-2.5 2.5"/>
        <geom type="capsule" size="0.04 0.08" mass="1.5"/>
        <body name="upper" pos="0 0 0.15"><joint name="shoulder" axis="0 1 0" range="-2 2"/>
          <geom type="capsule" fromto="0 0 0 0.3 0 0" size="0.04" mass="1.2"/>
          <body name="lower" pos="0.3 0 0"><joint name="elbow" axis="0 1 0" range="-2 2" armature="0.01"/>
            <geom type="capsule" fromto="0 0 0 0.25 0 0" size="0.03" mass="0.8"/>
            <body name="tool" pos="0.25 0 0">
              <joint name="wrist" axis="0 1 0" range="-1.0471975511965976 1.5"/>
              <geom type="box" size="0.05 0.02 0.01" pos="0.05 0 0" mass="0.2"/>
            </body></body></body></body></body>
  </worldbody>
  <actuator>
    <position joint="yaw" kp="100" kv="5" forcerange="-40 40"/>
    <position joint="shoulder" kp="100" kv="5" forcerange="-40 40"/>
    <position joint="elbow" kp="80" kv="4" forcerange="-20 20"/>
    <position joint="wrist" kp="20" kv="1" forcerange="-5 5"/>
  </actuator>
  <keyframe>
    <key name="home" qpos="0.5 0.4 -0.3 -1.0471975511965976"/>
    <key name="ready" qpos="0 0 0 0"/>
  </keyframe>
</mujoco>
"""


@pytest.fixture
def arm(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.chdir(tmp_path)
    (tmp_path / "arm").mkdir()
    path = tmp_path / "arm" / "arm.xml"
    path.write_text(ARM, encoding="utf-8")
    return path


def test_drives_friction_gains_and_keyframes_are_those_of_the_file(arm):
    robot = load_robot(arm)
    assert robot.name == "my_arm"
    assert not robot.floating
    assert robot.joint_names == ("yaw", "shoulder", "elbow", "wrist")
    np.testing.assert_array_equal(robot.motors.reflected_inertia, [0.05, 0.05, 0.01, 0.05])
    np.testing.assert_array_equal(robot.model.armature, [0.05, 0.05, 0.01, 0.05])
    np.testing.assert_array_equal(robot.motors.torque_limit, [40.0, 40.0, 20.0, 5.0])
    np.testing.assert_array_equal(robot.motors.stiffness, [100.0, 100.0, 80.0, 20.0])
    np.testing.assert_array_equal(robot.motors.damping, [5.0, 5.0, 4.0, 1.0])
    np.testing.assert_array_equal(robot.friction.viscous, [0.2] * 4)
    np.testing.assert_array_equal(robot.friction.coulomb, [0.3] * 4)
    np.testing.assert_array_equal(robot.friction.breakaway, [0.3] * 4)
    # A posture at a limit that has more digits than the file stays there.
    np.testing.assert_allclose(robot.postures["home"], [0.5, 0.4, -0.3, -np.pi / 3.0], atol=1e-12)
    assert any("no limits of speed" in note for note in robot.urdf_notes)


def test_the_world_of_mujoco_has_the_mass_matrix_of_the_file(arm):
    robot = load_robot(arm)
    q = np.array([0.3, -0.6, 1.1, 0.2])
    reference = mujoco.MjModel.from_xml_path(str(arm))
    data = mujoco.MjData(reference)
    data.qpos[:] = q
    mujoco.mj_forward(reference, data)
    expected = np.zeros((4, 4))
    mujoco.mj_fullM(reference, data, expected)
    with open_engine("mujoco").open_world() as world:
        placed = world.add_robot(robot, np.array([0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 1.0]), q)
        model, state = world.scene.model, world.scene.data
        mujoco.mj_forward(model, state)
        found = np.zeros((model.nv, model.nv))
        mujoco.mj_fullM(model, state, found)
        columns = placed.velocity_columns
        np.testing.assert_allclose(found[np.ix_(columns, columns)], expected, atol=1e-9)
        np.testing.assert_allclose(state.qfrc_bias[columns], data.qfrc_bias, atol=1e-9)


def test_scaffold_writes_a_robot_yaml_that_names_the_mjcf(arm, capsys):
    # The folder has one robot.
    assert main(["robot", "scaffold", "./arm", "--out", "mine"]) == 0
    assert "keyframe `ready`: a posture of this name has a meaning of its own" in capsys.readouterr().out
    written = yaml.safe_load((arm.parents[1] / "mine" / "robot.yaml").read_text(encoding="utf-8"))
    assert written["urdf"] == "../arm/arm.xml"
    assert written["gains"]["elbow"] == [80, 4]
    assert written["friction"]["yaw"] == {"coulomb": 0.3, "viscous": 0.2, "breakaway": 0.3}
    assert main(["robot", "inspect", "mine"]) == 0
    np.testing.assert_array_equal(
        load_robot("./mine").motors.reflected_inertia, load_robot(arm).motors.reflected_inertia
    )


def test_a_description_without_motors_and_friction_takes_those_of_the_mjcf(arm):
    text = "name: own\nurdf: arm.xml\nbase: fixed\ngains: auto\n"
    text += "groups: {right_arm: [yaw, shoulder, elbow, wrist]}\n"
    path = arm.parent / "own.yaml"
    path.write_text(text, encoding="utf-8")
    robot = load_robot(path)
    np.testing.assert_array_equal(robot.motors.reflected_inertia, [0.05, 0.05, 0.01, 0.05])
    np.testing.assert_array_equal(robot.friction.coulomb, [0.3] * 4)
    path.write_text(text + "friction: {yaw: {viscous: 1.0}}\n", encoding="utf-8")
    np.testing.assert_array_equal(load_robot(path).friction.viscous, [1.0, 0.0, 0.0, 0.0])


def test_the_files_of_the_robot_change_with_what_the_mjcf_includes(arm):
    files = robot_files(str(arm))
    assert arm in files
    assert convert_kept(arm) in files


LEG = """<body name="{0}_thigh" pos="0 {1} -0.1"><joint name="{0}_hip" axis="0 1 0" range="-1 1"/>
  <geom type="capsule" fromto="0 0 0 0 0 -0.4" size="0.05"/><body name="{0}_shin" pos="0 0 -0.4">
  <joint name="{0}_knee" axis="0 1 0" range="0 2"/><geom type="capsule" fromto="0 0 0 0 0 -0.4" size="0.04"/>
  <body name="{0}_foot" pos="0 0 -0.4"><joint name="{0}_ankle" axis="0 1 0" range="-1 1"/>
  <geom type="box" size="0.1 0.04 0.02" pos="0.04 0 -0.03"/></body></body></body>"""


def test_a_walker_on_sliding_joints_of_the_world_is_described_and_loaded(arm):
    joints = '<joint name="rootx" type="slide" axis="1 0 0"/><joint name="rooty" axis="0 1 0"/>'
    legs = LEG.format("left", 0.1) + LEG.format("right", -0.1)
    arm.write_text(
        f'<mujoco><compiler angle="radian"/><default><joint armature="0.01"/></default><worldbody>'
        f'<body name="torso" pos="0 0 1">{joints}<geom type="box" size="0.1 0.15 0.2" pos="0 0 0.1"/>'
        f"{legs}</body>"
        "</worldbody></mujoco>",
        encoding="utf-8",
    )
    robot = load_robot(arm)
    assert robot.floating
    assert set(robot.joint_names) == {
        f"{side}_{joint}" for side in ("left", "right") for joint in ("hip", "knee", "ankle")
    }


def test_a_folder_with_several_robots_lists_them(arm, capsys):
    (arm.parent / "other.xml").write_text(ARM, encoding="utf-8")
    (arm.parent / "scene.xml").write_text('<mujoco><include file="arm.xml"/></mujoco>', encoding="utf-8")
    (arm.parent / "package.xml").write_text("<package/>", encoding="utf-8")
    with pytest.raises(RobotError, match=r"has 2 robots; allowed: one of arm\.xml, other\.xml$"):
        load_robot(arm.parent)
    assert main(["robot", "list", "./arm"]) == 0
    assert capsys.readouterr().out == "arm/arm.xml\narm/other.xml\n"
    (arm.parents[1] / "empty").mkdir()
    with pytest.raises(
        RobotError, match=r"has no robot; allowed: a folder with a robot\.yaml, URDF, xacro or"
    ):
        load_robot("./empty")


def test_usd_is_named_and_how_to_convert_it(arm, capsys):
    (arm.parent / "arm.usda").write_text("#usda 1.0\n", encoding="utf-8")
    assert main(["robot", "inspect", "arm/arm.usda"]) == 2
    (line,) = capsys.readouterr().err.splitlines()
    assert "USD is not read: convert it to a URDF" in line


def test_gravity_of_the_loaded_robot_is_that_of_the_file(arm):
    robot, q = load_robot(arm), np.array([0.1, 0.2, 0.3, 0.4])
    reference = mujoco.MjModel.from_xml_path(str(arm))
    data = mujoco.MjData(reference)
    data.qpos[:] = q
    mujoco.mj_forward(reference, data)
    weight = pin.computeGeneralizedGravity(robot.model, robot.model.createData(), q)
    np.testing.assert_allclose(weight, data.qfrc_bias, atol=1e-9)
