"""An MJCF is converted to a URDF with the same dynamics: Pinocchio's model of it against MuJoCo's own."""

import xml.etree.ElementTree as ET
from pathlib import Path

import numpy as np
import pinocchio as pin
import pytest
import trimesh
from hypothesis import given, settings
from hypothesis import strategies as st

from simbench.errors import RobotError
from simbench.robot.mjcf import kept_conversion
from simbench.robot.mjcf.kept_conversion import convert_kept, read_extension
from simbench.robot.urdf.elements import parse_urdf
from simbench.robot.urdf.source import build_model, read_urdf

mujoco = pytest.importorskip("mujoco")

FEATURES = """
<mujoco model="odd robot">
  <compiler angle="degree" eulerseq="XYZ" autolimits="true"/>
  <default>
    <joint damping="0.3" armature="0.02" frictionloss="0.1"/>
    <geom density="700"/>
    <default class="seen"><geom contype="0" conaffinity="0" group="2" rgba="0.2 0.4 0.6 1"/></default>
    <default class="solid"><geom group="3"/></default>
  </default>
  <asset>
    <mesh name="wedge" vertex="0 0 0  1 0 0  0 1 0  0 0 1" scale="0.1 0.2 0.3"/>
    <material name="painted" rgba="1 0 0 1"/>
  </asset>
  <worldbody>
    <light pos="0 0 3"/>
    <geom name="floor" type="plane" size="5 5 0.1"/>
    <body name="table" pos="2 0 0"><geom type="box" size="0.5 0.5 0.5"/></body>
    <body name="ball" pos="1 0 1"><freejoint/><geom size="0.1"/></body>
    <body name="root" pos="0 0 1" euler="10 20 30">
      <freejoint name="root_joint"/>
      <geom class="seen" type="box" size="0.1 0.2 0.05" material="painted"/>
      <geom class="solid" type="capsule" size="0.05 0.2"/>
      <body name="two joints" pos="0.1 0.2 0" euler="0 90 0">
        <inertial pos="0.01 0.02 0.03" mass="1.2" fullinertia="0.02 0.03 0.025 0.001 0.002 -0.003"/>
        <joint name="first" axis="0 1 0" pos="0 0 0.1" range="-60 45" ref="15"/>
        <joint name="second" type="slide" axis="1 0 1" range="-0.1 0.2" ref="0.05"/>
        <geom class="solid" type="ellipsoid" size="0.03 0.04 0.05"/>
        <body name="tip" pos="0 0 0.3" quat="0.5 0.5 0.5 -0.5">
          <inertial pos="0 0 0.1" quat="0.8 0.6 0 0" mass="0.5" diaginertia="0.004 0.003 0.002"/>
          <joint name="third" axis="1 1 0" pos="0.02 0 0"/>
          <geom class="seen" type="mesh" mesh="wedge" pos="0.1 0 0" euler="0 0 45"/>
          <site name="grip"/>
        </body>
      </body>
      <body name="welded" pos="0 -0.2 0" axisangle="0 0 1 45"><geom type="cylinder" size="0.03 0.1"/>
        <body name="follower" pos="0 0 0.1"><joint name="fourth" axis="0 0 1" stiffness="2"/>
          <geom size="0.05"/></body>
      </body>
    </body>
  </worldbody>
  <contact><exclude body1="root" body2="tip"/></contact>
  <equality><joint joint1="fourth" joint2="third" polycoef="0.1 -2 0 0 0"/></equality>
  <actuator>
    <position joint="first" kp="50" kv="2" gear="2" forcerange="-7 9"/>
    <motor joint="second" gear="3" ctrlrange="-4 4"/>
    <motor joint="third" ctrlrange="-1 1"/>
  </actuator>
  <keyframe>
    <key name="home" qpos="0 0 0 1 0 0 0  0 0 1 1 0 0 0  0.5 0.1 0 0"/>
    <key name="bad" qpos="0 0 0 1 0 0 0  0 0 1 1 0 0 0  9 0 0 0"/>
  </keyframe>
</mujoco>
"""


@pytest.fixture(autouse=True)
def cache(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))


def write(folder: Path, text: str, name: str = "robot.xml") -> Path:
    path = folder / name
    path.write_text(text, encoding="utf-8")
    return path


def compared(path: Path, seed: int = 0) -> None:
    """Compare the dynamics of the robot, floating or fixed as in the file, with MuJoCo's to 1e-9."""
    mjcf = read_extension(parse_urdf(path))
    model = build_model(read_urdf(path, floating=mjcf.floating)[0], path, floating=mjcf.floating)
    reference = mujoco.MjModel.from_xml_path(str(path))
    rng, data, own = np.random.default_rng(seed), mujoco.MjData(reference), model.createData()
    names = [name for name in model.names[1:] if name != "root_joint"]
    joints = [reference.joint(name) for name in names]
    at = 6 if mjcf.floating else 0
    model.armature[at:] = [mjcf.motors[name]["reflected_inertia"] for name in names]
    columns = [int(joint.dofadr[0]) for joint in joints]
    q = pin.neutral(model)
    # In a URDF a body is turned about x, y and z of its own, in MuJoCo it moves in the world's axes.
    to_local = np.eye(model.nv)
    if mjcf.floating:
        root = next(f.name for f in model.frames if f.type == pin.FrameType.BODY)
        free = reference.joint(int(reference.body(root).jntadr[0]))
        quaternion = rng.normal(size=4)
        quaternion /= np.linalg.norm(quaternion)
        q[:7] = *rng.normal(size=3), *np.roll(quaternion, -1)
        data.qpos[int(free.qposadr[0]) : int(free.qposadr[0]) + 7] = *q[:3], *quaternion
        columns = [*range(int(free.dofadr[0]), int(free.dofadr[0]) + 6), *columns]
        to_local[:3, :3] = pin.Quaternion(q[3:7]).matrix().T
    for number, joint in enumerate(joints):
        value = rng.uniform(*(joint.range if reference.jnt_limited[joint.id] else (-2.0, 2.0)))
        data.qpos[int(joint.qposadr[0])] = q[(7 if mjcf.floating else 0) + number] = value
    mujoco.mj_forward(reference, data)
    full = np.zeros((reference.nv, reference.nv))
    mujoco.mj_fullM(reference, data, full)
    matrix = pin.crba(model, own, q).reshape(model.nv, model.nv)
    matrix = to_local.T @ (np.triu(matrix) + np.triu(matrix, 1).T) @ to_local
    np.testing.assert_allclose(matrix, full[np.ix_(columns, columns)], atol=1e-9)
    weight = to_local.T @ pin.computeGeneralizedGravity(model, own, q)
    np.testing.assert_allclose(weight, data.qfrc_bias[columns], atol=1e-9)
    speed = rng.normal(size=len(names))
    data.qvel[columns[at:]] = speed
    mujoco.mj_forward(reference, data)
    viscous = np.array([mjcf.friction.get(name, {}).get("viscous", 0.0) for name in names])
    damper = getattr(data, "qfrc_damper", data.qfrc_passive)[columns[at:]]
    np.testing.assert_allclose(-viscous * speed, damper, atol=1e-9)


def test_the_dynamics_are_those_of_mujoco(tmp_path):
    path = write(tmp_path, FEATURES)
    for seed in range(4):
        compared(path, seed)


def test_joints_have_limits_drives_friction_and_gains(tmp_path):
    robot = parse_urdf(write(tmp_path, FEATURES))
    joints = {joint.get("name"): joint for joint in robot.findall("joint")}
    limit = joints["first"].find("limit")
    assert float(limit.get("lower")) == pytest.approx(np.radians(-60.0))
    assert float(limit.get("upper")) == pytest.approx(np.radians(45.0))
    assert float(limit.get("effort")) == pytest.approx(18.0)  # The larger side, times gear.
    assert float(joints["second"].find("limit").get("effort")) == pytest.approx(12.0)
    assert [joints[name].get("type") for name in ("second", "third")] == ["prismatic", "continuous"]
    # fourth = 0.1 - 2 third, both from their references, which are 0.
    assert joints["fourth"].find("mimic").attrib == {"joint": "third", "multiplier": "-2.0", "offset": "0.1"}
    mjcf = read_extension(robot)
    assert mjcf.floating
    assert mjcf.motors["third"] == {"reflected_inertia": 0.02}
    assert mjcf.friction["third"] == {"coulomb": 0.1, "viscous": 0.3, "breakaway": 0.1}
    assert mjcf.gains == {"first": (200.0, 8.0)}
    assert mjcf.postures == {"home": {"first": 0.5, "second": 0.1, "third": 0.0, "fourth": 0.0}}
    assert mjcf.excluded == {frozenset(("root", "tip"))}


def test_what_is_left_out_is_said(tmp_path):
    notes = "\n".join(read_extension(parse_urdf(write(tmp_path, FEATURES))).notes)
    for said in (
        "bodies `table`, `ball`: not of the robot",
        "1 geoms of the world",
        "joints `fourth`: springs",
        "keyframe `bad`: `first` outside the limits",
        "1 sites, 1 lights: left out",
        "joints `fourth`: no actuator limits their torque",
    ):
        assert said in notes


def test_actuator_limits_in_newton_metres_come_before_controls(tmp_path):
    text = """<mujoco><worldbody><body name="a"><geom size="0.1"/><body name="b"><geom size="0.1"/>
      <joint name="turn" actuatorfrcrange="-88 88"/></body></body></worldbody>
      <actuator><motor joint="turn" ctrlrange="-1 1"/></actuator></mujoco>"""
    robot = parse_urdf(write(tmp_path, text))
    assert float(robot.find("joint/limit").get("effort")) == 88.0
    assert any("ctrlrange allows less" in note for note in read_extension(robot).notes)


def test_shapes_are_where_mujoco_has_them(tmp_path):
    cube = trimesh.creation.box(
        (0.2, 0.3, 0.5), transform=trimesh.transformations.rotation_matrix(0.4, (1, 2, 3))
    )
    cube.apply_translation((0.1, 0.2, 0.3))
    (tmp_path / "meshes").mkdir()
    cube.export(tmp_path / "meshes" / "cube.stl")
    text = """<mujoco><compiler meshdir="meshes"/><asset><mesh name="cube" file="cube.stl" scale="1 2 -3"/>
      <mesh name="moved" file="cube.stl" refpos="0.1 0 0" refquat="0.6 0.8 0 0"/></asset>
      <worldbody><body name="a"><geom size="0.1"/>
      <body name="b" pos="0 0 1"><joint name="turn" pos="0.3 0 0"/>
      <geom type="mesh" mesh="cube" pos="0.1 0.2 0.3" euler="30 40 50"/>
      <geom type="mesh" mesh="moved" pos="0 0 1"/></body></body></worldbody></mujoco>"""
    path = write(tmp_path, text)
    robot, reference = parse_urdf(path), mujoco.MjModel.from_xml_path(str(path))
    data = mujoco.MjData(reference)
    mujoco.mj_forward(reference, data)
    model = build_model(read_urdf(path, floating=False)[0], path)
    own = model.createData()
    pin.framesForwardKinematics(model, own, pin.neutral(model))
    frame = own.oMf[model.getFrameId("b")]
    shapes = robot.find("link[@name='b']").findall("collision")
    for geom, shape in zip((1, 2), shapes, strict=True):
        mesh = int(reference.geom_dataid[geom])
        first, count = reference.mesh_vertadr[mesh], reference.mesh_vertnum[mesh]
        rotation = data.geom_xmat[geom].reshape(3, 3)
        expected = reference.mesh_vert[first : first + count] @ rotation.T + data.geom_xpos[geom]
        element, origin = shape.find("geometry/mesh"), shape.find("origin")
        scale = np.array([float(each) for each in element.get("scale", "1 1 1").split()])
        xyz, rpy = (np.array([float(each) for each in origin.get(key).split()]) for key in ("xyz", "rpy"))
        placed = frame * pin.SE3(pin.rpy.rpyToMatrix(rpy), xyz)
        vertices = trimesh.load(element.get("filename")).vertices * scale
        found = vertices @ placed.rotation.T + placed.translation
        order = [np.lexsort(np.round(points, 4).T) for points in (expected, found)]
        np.testing.assert_allclose(found[order[1]], expected[order[0]], atol=1e-5)
    assert shapes[0].find("geometry/mesh").get("filename") == str(tmp_path / "meshes" / "cube.stl")


TREE = "<mujoco><worldbody>{}</worldbody></mujoco>"
ARM = (
    '<body name="{0}" pos="0 {1} 0" {2}><geom size="0.1"/>{3}<body name="{0} hand" pos="0.3 0 0">'
    '<joint name="{0} turn" axis="0 1 0"/><geom size="0.1"/></body></body>'
)


@pytest.mark.parametrize(
    ("bodies", "root", "joints"),
    [
        (ARM.format("arm", 0, "", ""), "arm", ["arm turn"]),
        # Gravity acts on a tilted arm as in the file.
        (ARM.format("arm", 0, 'euler="0 90 0"', ""), "world", ["arm turn"]),
        (
            ARM.format("left", 1, "", "") + ARM.format("right", -1, "", ""),
            "world",
            ["left turn", "right turn"],
        ),
        (ARM.format("arm", 0, "", '<joint name="base" type="slide"/>'), "world", ["base", "arm turn"]),
        (ARM.format("arm", 0, "", "<freejoint/>") + ARM.format("other", 1, "", ""), "arm", ["arm turn"]),
    ],
    ids=["fixed", "tilted", "two arms", "sliding base", "the first of two"],
)
def test_the_robot_is_the_tree_with_the_most_joints(tmp_path, bodies, root, joints):
    path = write(tmp_path, TREE.format(bodies))
    robot = parse_urdf(path)
    children = {child.get("link") for child in robot.findall("joint/child")}
    assert [link.get("name") for link in robot.findall("link") if link.get("name") not in children] == [root]
    moving = [joint.get("name") for joint in robot.findall("joint") if joint.get("type") != "fixed"]
    assert moving == joints
    compared(path)


def test_a_ball_joint_becomes_three_revolute_ones(tmp_path):
    text = TREE.format(
        '<body name="a"><geom size="0.1"/><body name="b"><joint name="ball" type="ball" range="0 50"/>'
        '<geom size="0.1" pos="0.2 0 0"/></body></body>'
    )
    robot = parse_urdf(write(tmp_path, text))
    axes = [joint.find("axis").get("xyz") for joint in robot.findall("joint")]
    assert axes == ["1.0 0.0 0.0", "0.0 1.0 0.0", "0.0 0.0 1.0"]
    assert {joint.find("limit").get("upper") for joint in robot.findall("joint")} == {
        repr(float(np.radians(50.0)))
    }
    assert "ball joints" in "\n".join(read_extension(robot).notes)


def test_the_same_file_gives_the_same_bytes_and_is_converted_once(tmp_path, monkeypatch):
    path = write(tmp_path, FEATURES)
    first = convert_kept(path)
    content = first.read_bytes()
    # What is kept needs no MuJoCo.
    find = kept_conversion.importlib.util.find_spec
    monkeypatch.setattr(
        kept_conversion.importlib.util, "find_spec", lambda name: None if name == "mujoco" else find(name)
    )
    assert convert_kept(path) == first
    path.write_text(FEATURES.replace('mass="1.2"', 'mass="1.3"'), encoding="utf-8")
    with pytest.raises(
        RobotError, match=r"MJCF is read by MuJoCo, which is not installed: pip install mujoco"
    ):
        convert_kept(path)
    monkeypatch.undo()
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "other"))
    path.write_text(FEATURES, encoding="utf-8")
    ET.fromstring(content)
    assert convert_kept(path).read_bytes().replace(b"other/", b"cache/") == content


def test_it_is_converted_anew_when_a_file_that_it_includes_changes(tmp_path):
    (tmp_path / "parts").mkdir()
    part = write(tmp_path, f"<mujocoinclude>{ARM.format('arm', 0, '', '')}</mujocoinclude>", "parts/arm.xml")
    path = write(tmp_path, '<mujoco><worldbody><include file="parts/arm.xml"/></worldbody></mujoco>')
    first = convert_kept(path)
    part.write_text(part.read_text(encoding="utf-8").replace("0.3", "0.4"), encoding="utf-8")
    assert convert_kept(path) != first
    with pytest.raises(RobotError, match="<mujocoinclude>; a part of an MJCF is not read"):
        parse_urdf(part)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (TREE.format(""), "no joint moves"),
        (TREE.format("<body><joint/></body>"), "not an MJCF that MuJoCo can read: mass and inertia"),
        (
            "<mujoco><worldbody><box/></worldbody></mujoco>",
            "not an MJCF that MuJoCo can read: .*unrecognized",
        ),
        (
            TREE.format('<replicate count="1000"><replicate count="999"/></replicate>'),
            "repeats elements 999000 times",
        ),
        ('<mujoco><include file="none.xml"/></mujoco>', "not an MJCF that MuJoCo can read: .*none.xml"),
    ],
)
def test_what_mujoco_refuses_is_one_line(tmp_path, text, message):
    with pytest.raises(RobotError, match=message) as error:
        parse_urdf(write(tmp_path, text))
    assert str(tmp_path) in str(error.value)
    assert "\n" not in str(error.value)


def test_warnings_of_mujoco_are_notes(tmp_path, recwarn):
    text = FEATURES.replace("<compiler", '<compiler settotalmass="5"')
    robot = parse_urdf(write(tmp_path, text))
    masses = [float(mass.get("value")) for mass in robot.findall("link/inertial/mass")]
    # Those of the other bodies are in the total.
    assert sum(masses) < 5.0
    # From version 4 on MuJoCo warns of it.
    assert not recwarn.list
    warned = any(note.startswith("MuJoCo: ") for note in read_extension(robot).notes)
    assert warned or int(mujoco.__version__.split(".")[0]) < 4


def test_missing_meshes_and_textures_are_left_out(tmp_path):
    text = FEATURES.replace(
        "<material",
        '<mesh name="gone" file="gone.stl"/><texture name="gone" type="2d" file="gone.png"/>'
        '<material texture="gone"',
    ).replace('<site name="grip"/>', '<geom type="mesh" mesh="gone" contype="0" conaffinity="0"/>')
    robot = parse_urdf(write(tmp_path, text))
    assert "meshes `gone.stl`: not found; left out" in read_extension(robot).notes


@st.composite
def trees(draw: st.DrawFn) -> str:
    """A random tree of up to six bodies, each with up to three joints anywhere, on a fixed or free root."""
    number = st.floats(-1.0, 1.0).map(lambda value: round(value, 3))
    vector = st.tuples(number, number, number).map(lambda values: " ".join(map(str, values)))
    direction = vector.filter(lambda text: sum(float(part) ** 2 for part in text.split()) > 0.01)
    parents, children = [-1], {}
    for body in range(1, draw(st.integers(2, 6))):
        children.setdefault(draw(st.integers(0, body - 1)), []).append(body)
        parents.append(body)

    def body(index: int) -> str:
        joints = "".join(
            f'<joint name="j{index}_{k}" type="{draw(st.sampled_from(["hinge", "slide"]))}" '
            f'axis="{draw(direction)}" pos="{draw(vector)}" ref="{draw(number)}" '
            f'armature="{abs(draw(number))}" damping="{abs(draw(number))}"/>'
            for k in range(draw(st.integers(0 if index != 1 else 1, 3)) if index else 0)
        )
        free = "<freejoint/>" if index == 0 and draw(st.booleans()) else ""
        inside = "".join(body(child) for child in children.get(index, ()))
        return (
            f'<body name="b{index}" pos="{draw(vector)}" euler="{draw(vector)}">{free}{joints}'
            f'<geom type="box" size="0.1 0.2 0.3" pos="{draw(vector)}" euler="{draw(vector)}"/>'
            f"{inside}</body>"
        )

    return f'<mujoco><compiler angle="radian"/><worldbody>{body(0)}</worldbody></mujoco>'


@settings(max_examples=25, deadline=None)
@given(text=trees())
def test_any_tree_has_the_dynamics_of_mujoco(tmp_path_factory, text):
    compared(write(tmp_path_factory.mktemp("tree"), text))
