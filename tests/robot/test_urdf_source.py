"""Any URDF, made ready for both simulators: what is kept, what is changed and said, what is refused."""

import importlib.util
import xml.etree.ElementTree as ET
from itertools import pairwise
from pathlib import Path

import numpy as np
import pinocchio as pin
import pybullet
import pybullet_data
import pytest

from simbench.errors import RobotError
from simbench.resources import resource_dir
from simbench.robot.urdf_source import read_urdf

_spec = importlib.util.spec_from_file_location("urdf_texts", Path(__file__).with_name("urdf_texts.py"))
texts = importlib.util.module_from_spec(_spec)
_spec.loader.exec_module(texts)
link, joint, mesh, robot, write = texts.link, texts.joint, texts.mesh, texts.robot, texts.write

BULLET_DATA = Path(pybullet_data.getDataPath())
ROMEO = resource_dir("robots") / "romeo" / "romeo.urdf"


@pytest.fixture
def bullet(tmp_path):
    """Load URDF text from a file in a folder of its own; returns body and client."""
    client = pybullet.connect(pybullet.DIRECT)
    count = iter(range(1000))

    def load(text, **options):
        path = tmp_path / f"loaded{next(count)}" / "scratch.urdf"
        path.parent.mkdir()
        path.write_text(text, encoding="utf-8")
        flags = pybullet.URDF_USE_INERTIA_FROM_FILE
        return pybullet.loadURDF(str(path), flags=flags, physicsClientId=client, **options), client

    yield load
    pybullet.disconnect(client)


def test_a_shipped_robot_stays_as_it_is():
    source = read_urdf(ROMEO, floating=True)
    assert source.notes == ()
    before, after = ET.parse(ROMEO).getroot(), ET.fromstring(source.text)
    for element in after.iter("mesh"):
        path = Path(element.get("filename"))
        assert path.is_absolute()
        element.set("filename", str(path.relative_to(ROMEO.parent)))
    assert ET.canonicalize(ET.tostring(before), strip_text=True) == ET.canonicalize(
        ET.tostring(after), strip_text=True
    )


@pytest.mark.parametrize("floating", [False, True])
@pytest.mark.parametrize(
    "name",
    [
        "a1/a1.urdf",
        "laikago/laikago_toes.urdf",
        "franka_panda/panda.urdf",
        "pr2_gripper.urdf",
        "r2d2.urdf",
        "kuka_iiwa/model_free_base.urdf",
        "xarm/xarm6_with_gripper.urdf",
        "quadruped/minitaur.urdf",
    ],
)
def test_both_simulators_read_the_same_robot(name, floating, bullet):
    source = read_urdf(BULLET_DATA / name, floating=floating)
    model = pin.buildModelFromXML(source.text)
    body, client = bullet(source.text)
    infos = [
        pybullet.getJointInfo(body, i, physicsClientId=client)
        for i in range(pybullet.getNumJoints(body, physicsClientId=client))
    ]
    moving = {info[1].decode(): info for info in infos if info[2] != pybullet.JOINT_FIXED}
    assert set(moving) == set(model.names[1:])
    assert model.nq == model.nv == len(moving)
    masses = [pybullet.getDynamicsInfo(body, i, physicsClientId=client)[0] for i in range(-1, len(infos))]
    assert sum(masses) == pytest.approx(sum(inertia.mass for inertia in model.inertias))
    assert masses[0] > 0 or not floating
    for index, name in enumerate(model.names[1:]):
        low, high = model.lowerPositionLimit[index], model.upperPositionLimit[index]
        assert low <= high
        assert moving[name][8:12] == pytest.approx(
            (low, high, model.effortLimit[index], model.velocityLimit[index])
        )


def folder_of(tmp_path, *parts):
    folder = tmp_path.joinpath(*parts)
    folder.mkdir(parents=True, exist_ok=True)
    return folder


@pytest.mark.parametrize(
    ("name", "place"),
    [
        ("meshes/a b.obj", "robots/arm_description/urdf/meshes/a b.obj"),
        ("../meshes/a.obj", "robots/arm_description/meshes/a.obj"),
        ("file://{root}/else/a%20b.obj", "else/a b.obj"),
        ("{root}/else/a.obj", "else/a.obj"),
        ("package://arm_description/meshes/a.obj", "robots/arm_description/meshes/a.obj"),
        ("package://hand_description/meshes/a.obj", "robots/hand_description/meshes/a.obj"),
        ("package://sensors/meshes/a.obj", "ros/share/sensors/meshes/a.obj"),
        ("package://itself/meshes/a.obj", "ros/itself/meshes/a.obj"),
        ("package://lidar/meshes/a.obj", "ament/share/lidar/meshes/a.obj"),
        ("package://renamed/meshes/a.obj", "robots/meshes/a.obj"),
        ("model://arm_description/meshes/a.obj", "robots/arm_description/meshes/a.obj"),
    ],
)
def test_meshes_are_found(tmp_path, monkeypatch, bullet, name, place):
    monkeypatch.setenv("ROS_PACKAGE_PATH", f"{tmp_path}/ros/share:{tmp_path}/ros/itself")
    monkeypatch.setenv("AMENT_PREFIX_PATH", f"{tmp_path}/nothing:{tmp_path}/ament")
    urdf = write(
        folder_of(tmp_path, "robots", "arm_description", "urdf"),
        link("base", inside=mesh(name.format(root=tmp_path))),
    )
    file = tmp_path / place
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_bytes((BULLET_DATA / "cube.obj").read_bytes())
    source = read_urdf(urdf, floating=True)
    assert source.notes == ()
    assert ET.fromstring(source.text).find(".//mesh").get("filename") == str(file.resolve())
    body, client = bullet(source.text)
    (shape,) = pybullet.getVisualShapeData(body, physicsClientId=client)
    assert shape[4].decode() == str(file.resolve())


def test_shapes_that_cannot_be_shown_are_left_out_and_said(tmp_path, bullet):
    (tmp_path / "text.stl").write_text("solid a\nendsolid a\n", encoding="utf-8")
    (tmp_path / "cloud.ply").write_text("ply\n", encoding="utf-8")
    shapes = (
        mesh("package://nowhere/a.stl")
        + mesh("text.stl", "collision")
        + mesh("cloud.ply")
        + "<collision><geometry><cone radius='1'/></geometry></collision>"
        + "<visual/>"
        + "<visual><geometry><capsule radius='0.1' length='0.4'/></geometry></visual>"
    )
    source = read_urdf(write(tmp_path, link("base", inside=shapes)), floating=True)
    assert source.notes == (
        "link `base`: visual left out: mesh `package://nowhere/a.stl` not found",
        "link `base`: collision left out: mesh `text.stl`: an STL in text form; only binary ones are read",
        "link `base`: visual left out: mesh `cloud.ply`: format `.ply` is none of .obj, .stl, .dae",
        "link `base`: collision left out: geometry `cone` is none of box, sphere, cylinder, capsule, mesh",
        "link `base`: visual left out: has no geometry",
    )
    body, client = bullet(source.text)
    (shape,) = pybullet.getVisualShapeData(body, physicsClientId=client)
    assert shape[2] == pybullet.GEOM_CAPSULE


def test_every_format_said_to_be_readable_is_read_by_bullet(tmp_path, bullet):
    trimesh = pytest.importorskip("trimesh")
    box = trimesh.creation.box((0.2, 0.4, 0.6))
    for name, form in (("a.obj", "obj"), ("a.STL", "stl"), ("a.dae", "dae")):
        box.export(tmp_path / name, file_type=form)
        source = read_urdf(write(tmp_path, link("base", inside=mesh(name, "collision"))), floating=True)
        assert source.notes == ()
        body, client = bullet(source.text)
        low, high = pybullet.getAABB(body, physicsClientId=client)
        np.testing.assert_allclose(np.subtract(high, low), [0.2, 0.4, 0.6], atol=0.01)


def test_joints_are_completed_and_said(tmp_path):
    names = "abcdefgh"
    inside = {
        "a": ("continuous", "<limit effort='3' velocity='4'/>"),
        "b": ("continuous", ""),
        "c": ("revolute", ""),
        "d": ("revolute", "<limit lower='1' upper='-1' effort='0' velocity='2'/>"),
        "e": ("prismatic", "<limit upper='0.2' effort='7' velocity='-1'/>"),
        "f": ("revolute", f"{texts.LIMIT}<mimic joint='e'/><dynamics damping='0.5' friction='0.0'/>"),
        "g": ("revolute", f"{texts.LIMIT}<dynamics damping='0.0'/>"),
    }
    elements = [link(name) for name in names] + [
        joint(
            f"to_{child}",
            parent,
            child,
            *inside[parent],
            axis="0 0 2" if parent == "g" else "0 0.70711 0.70711",
        )
        for parent, child in pairwise(names)
    ]
    source = read_urdf(write(tmp_path, *elements), floating=False)
    assert source.notes == (
        "joint `to_c`: no limits of effort, velocity given; taken as unlimited",
        "joint `to_d`: no limits of travel, effort, velocity given; taken as unlimited",
        "joint `to_e`: lower limit 1 is above the upper -1; taken as unlimited",
        "joint `to_e`: effort limit is 0; taken as unlimited",
        "joint `to_f`: velocity limit is -1; taken as unlimited",
        "joint `to_g`: mimics `e`; taken as a joint that moves by itself",
        "joint `to_h`: axis has length 2; made 1",
        "joints `to_g`: <dynamics> damping and friction are left out",
    )
    model = pin.buildModelFromXML(source.text)
    assert model.nq == model.nv == 7
    np.testing.assert_array_equal(model.lowerPositionLimit, [-1e4, -1e4, -1e4, -1e4, 0.0, -1.0, -1.0])
    np.testing.assert_array_equal(model.upperPositionLimit, [1e4, 1e4, 1e4, 1e4, 0.2, 1.0, 1.0])
    np.testing.assert_array_equal(model.effortLimit, [3.0, 1e6, 1e6, 1e6, 7.0, 10.0, 10.0])
    np.testing.assert_array_equal(model.velocityLimit, [4.0, 1e4, 1e4, 2.0, 1e4, 5.0, 5.0])
    axes = np.array([j.get("xyz").split() for j in ET.fromstring(source.text).iter("axis")], dtype=float)
    np.testing.assert_allclose(np.linalg.norm(axes, axis=1), 1.0, atol=1e-9)


def test_a_link_without_inertial_has_no_mass_in_bullet_either(tmp_path, bullet):
    urdf = write(tmp_path, link("base", 2.0), link("tip", None), joint("tip_joint", "base", "tip", "fixed"))
    body, client = bullet(read_urdf(urdf, floating=True).text)
    assert pybullet.getDynamicsInfo(body, 0, physicsClientId=client)[0] == 0.0
    assert pybullet.getDynamicsInfo(body, -1, physicsClientId=client)[0] == 2.0


def test_a_massless_root_gives_way_and_everything_keeps_its_place(tmp_path, bullet):
    urdf = write(
        tmp_path,
        link("footprint", None),
        link("base", None),
        link("imu", 0.01),
        link("pelvis", 5.0),
        link("leg"),
        joint("up", "footprint", "base", "fixed", xyz="0.1 0 0.5", rpy="0 0 0.4"),
        joint("to_imu", "base", "imu", "fixed", xyz="0 0.2 0"),
        joint("to_pelvis", "base", "pelvis", "fixed", xyz="0.1 0.2 0.3", rpy="0.3 -0.5 0.7"),
        joint("hip", "pelvis", "leg"),
    )
    (note,) = read_urdf(urdf, floating=True).notes
    assert note == "link `footprint`: has no mass; `pelvis`, which is fixed to it, is the root"
    source = read_urdf(urdf, floating=True)
    assert read_urdf(urdf, floating=False).notes == ()

    def frames(model):
        data = model.createData()
        q = np.full(model.nq, 0.4)
        pin.framesForwardKinematics(model, data, q)
        pelvis = data.oMf[model.getFrameId("pelvis")]
        bodies = ("footprint", "base", "imu", "pelvis", "leg")
        return {name: (pelvis.inverse() * data.oMf[model.getFrameId(name)]).homogeneous for name in bodies}

    before, after = (
        frames(pin.buildModelFromXML(text)) for text in (urdf.read_text(encoding="utf-8"), source.text)
    )
    for name, pose in before.items():
        np.testing.assert_allclose(after[name], pose, atol=1e-10, err_msg=name)
    body, client = bullet(source.text)
    assert pybullet.getBodyInfo(body, physicsClientId=client)[0] == b"pelvis"
    pybullet.setGravity(0, 0, -10, physicsClientId=client)
    for _ in range(24):
        pybullet.stepSimulation(physicsClientId=client)
    speed = pybullet.getBaseVelocity(body, physicsClientId=client)[0]
    assert speed[2] == pytest.approx(-1.0, abs=0.02)


BASE, ARM = link("base"), link("arm")
GOOD = joint("elbow", "base", "arm")


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("<robot", "not XML: "),
        ("", "not XML: "),
        ("<sdf/>", "expected <robot> as the outermost element, found <sdf>"),
        ("<robot name='a'/>", "has no <link>"),
        (
            '<robot xmlns:xacro="http://ros.org/wiki/xacro"><xacro:property name="a" value="1"/></robot>',
            "a xacro file, not yet a URDF; expand it: xacro robot.urdf > robot.urdf",
        ),
        (
            robot(BASE, ARM, joint("ball", "base", "arm", "spherical")),
            "joint `ball`: type `spherical` is not",
        ),
        (robot(BASE, ARM, joint("free", "base", "arm", "floating")), "joint `free`: type `floating` is not"),
        (robot(BASE, ARM, joint("slab", "base", "arm", "planar")), "joint `slab`: type `planar` is not"),
        (
            robot(BASE, ARM, joint("odd", "base", "arm", "hinge")),
            "joint `odd`: unknown type `hinge`; allowed: rev",
        ),
        (robot(BASE, ARM), "links `base`, `arm`: have no parent; exactly one root is allowed"),
        (robot(BASE, BASE), "link `base`: 2 have this name"),
        (robot(BASE, ARM, link("b"), GOOD, joint("elbow", "arm", "b")), "joint `elbow`: 2 have this name"),
        (
            robot(BASE, joint("elbow", "base", "hand")),
            "joint `elbow`: child `hand` is not a link of this file",
        ),
        (robot(BASE, ARM, joint("elbow", "", "arm")), "joint `elbow`: names no parent link"),
        (robot(BASE, "<link/>"), "link: 1 without a name"),
        (
            robot(BASE, ARM, link("b"), GOOD, joint("to_b", "base", "b"), joint("shut", "b", "arm")),
            r"link `arm`: is the child of several joints (elbow, shut); closed loops",
        ),
        (
            robot(BASE, ARM, link("b"), joint("to_b", "arm", "b"), joint("back", "b", "arm")),
            "links `arm`, `b`: form a loop that hangs on no root",
        ),
        (robot(BASE, ARM, joint("elbow", "base", "arm", axis="0 0 0")), "joint `elbow`: axis has no length"),
        (
            robot(BASE, ARM, joint("root_joint", "base", "arm")),
            "joint `root_joint`: Pinocchio keeps this name",
        ),
        (robot(BASE, link("arm", -1.0), GOOD), "link `arm`: mass -1 kg is negative"),
        (robot(BASE, link("arm", "nan"), GOOD), 'link `arm`: mass: value="nan" is not a finite number'),
        (
            robot(BASE, ARM, joint("elbow", "base", "arm", xyz="0 1")),
            'joint `elbow`: origin: xyz="0 1" is not 3 fi',
        ),
        (
            robot(BASE, ARM, joint("elbow", "base", "arm", inside="<limit lower='a' effort='1'/>")),
            'joint `elbow`: limit: lower="a" is not a finite number',
        ),
        (
            robot(link("base", inside="<visual><geometry><sphere/></geometry></visual>")),
            "link `base`: visual: `radius` is missing",
        ),
        (
            robot('<link name="base"><inertial><mass value="1"/></inertial></link>'),
            "inertia: `ixx` is missing",
        ),
        (robot(BASE, link("arm", None), GOOD), "joint `elbow`: moves links without mass and inertia only"),
        (
            robot(BASE, link("arm", 1.0, (0, 0, 0), cog="0 1 0"), GOOD),
            "joint `elbow`: moves links without mass and inertia only",
        ),
        (
            robot(link("base", None), ARM, GOOD),
            "root link `base`: has no mass, nor has a link fixed to it: it could not float",
        ),
    ],
)
def test_refusals_are_one_line_with_file_and_element(tmp_path, content, message):
    path = tmp_path / "robot.urdf"
    path.write_text(content, encoding="utf-8")
    with pytest.raises(RobotError) as caught:
        read_urdf(path, floating=True)
    assert str(caught.value).startswith(f"{path}: ")
    assert message in str(caught.value)
    assert "\n" not in str(caught.value)


def test_a_missing_file_is_said(tmp_path):
    with pytest.raises(RobotError, match=r"none\.urdf: cannot be read: No such file"):
        read_urdf(tmp_path / "none.urdf", floating=True)


def test_links_without_mass_between_moving_ones_are_fine(tmp_path, bullet):
    """Two axes in one point, as a wrist has; Bullet accelerates as Pinocchio says."""
    urdf = write(
        tmp_path,
        link("base"),
        link("cross", None),
        link("arm", cog="0.1 0 -0.4"),
        joint("first", "base", "cross", axis="1 0 0"),
        joint("second", "cross", "arm", axis="0 1 0", xyz="0 0 0"),
    )
    source = read_urdf(urdf, floating=False)
    body, client = bullet(source.text, useFixedBase=True)
    model = pin.buildModelFromXML(source.text)
    q, step = np.array([0.5, 0.3]), 1e-4
    pybullet.setGravity(0, 0, -9.81, physicsClientId=client)
    pybullet.setTimeStep(step, physicsClientId=client)
    for index in (0, 1):
        pybullet.resetJointState(body, index, q[index], physicsClientId=client)
        pybullet.setJointMotorControl2(
            body, index, pybullet.VELOCITY_CONTROL, force=0, physicsClientId=client
        )
        pybullet.changeDynamics(body, index, linearDamping=0, angularDamping=0, physicsClientId=client)
    pybullet.stepSimulation(physicsClientId=client)
    speeds = [pybullet.getJointState(body, index, physicsClientId=client)[1] for index in (0, 1)]
    expected = pin.aba(model, model.createData(), q, np.zeros(2), np.zeros(2))
    np.testing.assert_allclose(np.array(speeds) / step, expected, rtol=1e-4)
