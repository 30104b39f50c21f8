"""Any URDF, made ready for both simulators: what is kept, what is changed and said, what is refused."""

import xml.etree.ElementTree as ET
from itertools import pairwise
from pathlib import Path

import numpy as np
import pinocchio as pin
import pybullet
import pybullet_data
import pytest
import urdf_texts as texts

from simbench.errors import RobotError
from simbench.resources import resource_dir
from simbench.robot.robot_inspection import RobotInspection
from simbench.robot.urdf.source import read_urdf

link, joint, mesh, write = texts.link, texts.joint, texts.mesh, texts.write

BULLET_DATA = Path(pybullet_data.getDataPath())
ROMEO = resource_dir("robots") / "romeo" / "romeo.urdf"


def test_a_shipped_robot_stays_as_it_is():
    made, notes = read_urdf(ROMEO, floating=True)
    assert notes == ()
    before, after = ET.parse(ROMEO).getroot(), ET.fromstring(made)
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
def test_both_simulators_read_the_same_robot(name, floating, load_text):
    made, _ = read_urdf(BULLET_DATA / name, floating=floating)
    model = pin.buildModelFromXML(made)
    body, client = load_text(made)
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


def test_shapes_that_cannot_be_shown_are_left_out_and_said(tmp_path, load_text):
    (tmp_path / "text.stl").write_text("solid a\nendsolid a\n", encoding="utf-8")
    (tmp_path / "cloud.step").write_text("ISO-10303-21;\n", encoding="utf-8")
    shapes = (
        mesh("package://nowhere/a.stl")
        + mesh("text.stl", "collision")
        + mesh("cloud.step")
        + "<collision><geometry><cone radius='1'/></geometry></collision>"
        + "<visual/>"
        + "<visual><geometry><capsule radius='0.1' length='0.4'/></geometry></visual>"
    )
    made, notes = read_urdf(write(tmp_path, link("base", inside=shapes)), floating=True)
    assert notes == (
        "link `base`: visual left out: mesh `package://nowhere/a.stl` not found",
        "link `base`: collision left out: mesh `text.stl`: 19 bytes are no STL file, which begins with 84",
        "link `base`: visual left out: mesh `cloud.step`: format `.step` is none of "
        ".obj, .stl, .dae, .ply, .glb",
        "link `base`: collision left out: geometry `cone` is none of box, sphere, cylinder, capsule, mesh",
        "link `base`: visual left out: has no geometry",
    )
    body, client = load_text(made)
    (shape,) = pybullet.getVisualShapeData(body, physicsClientId=client)
    assert shape[2] == pybullet.GEOM_CAPSULE


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
    made, notes = read_urdf(write(tmp_path, *elements), floating=False)
    assert notes == (
        "joint `to_c`: no limits of effort, velocity given; taken as unlimited",
        "joint `to_d`: no limits of travel, effort, velocity given; taken as unlimited",
        "joint `to_e`: lower limit 1 is above the upper -1; taken as unlimited",
        "joint `to_e`: effort limit is 0; taken as unlimited",
        "joint `to_f`: velocity limit is -1; taken as unlimited",
        "joint `to_g`: mimics `e`; taken as a joint that moves by itself",
        "joint `to_h`: axis has length 2; made 1",
        "joints `to_g`: <dynamics> damping and friction are left out",
    )
    model = pin.buildModelFromXML(made)
    assert model.nq == model.nv == 7
    np.testing.assert_array_equal(model.lowerPositionLimit, [-1e4, -1e4, -1e4, -1e4, 0.0, -1.0, -1.0])
    np.testing.assert_array_equal(model.upperPositionLimit, [1e4, 1e4, 1e4, 1e4, 0.2, 1.0, 1.0])
    np.testing.assert_array_equal(model.effortLimit, [3.0, 1e6, 1e6, 1e6, 7.0, 10.0, 10.0])
    np.testing.assert_array_equal(model.velocityLimit, [4.0, 1e4, 1e4, 2.0, 1e4, 5.0, 5.0])
    axes = np.array([j.get("xyz").split() for j in ET.fromstring(made).iter("axis")], dtype=float)
    np.testing.assert_allclose(np.linalg.norm(axes, axis=1), 1.0, atol=1e-9)


@pytest.mark.parametrize(("length", "told"), [(0.998, True), (0.9992, False), (1.0008, False), (1.002, True)])
def test_an_axis_that_is_not_a_unit_vector_is_told_beyond_a_thousandth_and_made_one(tmp_path, length, told):
    text = joint("to_b", "a", "b", "revolute", texts.LIMIT, axis=f"0 {length} 0")
    made, notes = read_urdf(write(tmp_path, link("a"), link("b"), text), floating=False)
    assert notes == ((f"joint `to_b`: axis has length {length}; made 1",) if told else ())
    (axis,) = (element.get("xyz") for element in ET.fromstring(made).iter("axis"))
    assert axis == "0 1 0"


def test_a_link_without_inertial_has_no_mass_in_bullet_either(tmp_path, load_text):
    urdf = write(tmp_path, link("base", 2.0), link("tip", None), joint("tip_joint", "base", "tip", "fixed"))
    body, client = load_text(read_urdf(urdf, floating=True)[0])
    assert pybullet.getDynamicsInfo(body, 0, physicsClientId=client)[0] == 0.0
    assert pybullet.getDynamicsInfo(body, -1, physicsClientId=client)[0] == 2.0


def test_a_massless_root_gives_way_and_everything_keeps_its_place(tmp_path, load_text):
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
    (note,) = read_urdf(urdf, floating=True)[1]
    assert note == "link `footprint`: has no mass; `pelvis`, which is fixed to it, is the root"
    made, _ = read_urdf(urdf, floating=True)
    assert read_urdf(urdf, floating=False)[1] == ()

    def frames(model):
        data = model.createData()
        q = np.full(model.nq, 0.4)
        pin.framesForwardKinematics(model, data, q)
        pelvis = data.oMf[model.getFrameId("pelvis")]
        bodies = ("footprint", "base", "imu", "pelvis", "leg")
        return {name: (pelvis.inverse() * data.oMf[model.getFrameId(name)]).homogeneous for name in bodies}

    before, after = (frames(pin.buildModelFromXML(text)) for text in (urdf.read_text(encoding="utf-8"), made))
    for name, pose in before.items():
        np.testing.assert_allclose(after[name], pose, atol=1e-10, err_msg=name)
    body, client = load_text(made)
    assert pybullet.getBodyInfo(body, physicsClientId=client)[0] == b"pelvis"
    pybullet.setGravity(0, 0, -10, physicsClientId=client)
    for _ in range(24):
        pybullet.stepSimulation(physicsClientId=client)
    speed = pybullet.getBaseVelocity(body, physicsClientId=client)[0]
    assert speed[2] == pytest.approx(-1.0, abs=0.02)


def test_materials_are_what_both_simulators_read(tmp_path, load_text):
    (tmp_path / "wood.png").write_bytes((BULLET_DATA / "tex256.png").read_bytes())
    shape = "<visual><geometry><box size='1 1 1'/></geometry>{}</visual>"
    urdf = write(
        tmp_path,
        "<material name='wooden'><texture filename='wood.png'/></material>",
        "<material name='lost'><color rgba='1 0 0 1'/><texture filename='lost.png'/></material>",
        link("a", inside=shape.format("<material><color rgba='0 0 1 1'/></material>")),
        link("b", inside=shape.format("<material name='odd'><color rgba='1 0 0'/></material>")),
        joint("to_b", "a", "b", "fixed"),
    )
    made, notes = read_urdf(urdf, floating=True)
    assert notes == (
        "material `lost`: texture `lost.png` not found; left out",
        'material `odd`: rgba="1 0 0" is not 4 finite numbers; made grey',
    )
    assert ET.fromstring(made).find("material/texture").get("filename") == str(tmp_path / "wood.png")
    body, client = load_text(made)
    colors = [shape[7] for shape in pybullet.getVisualShapeData(body, physicsClientId=client)]
    np.testing.assert_allclose(colors, [(0, 0, 1, 1), (0.7, 0.7, 0.7, 1)], atol=1e-6)


def test_contact_parameters_are_left_out_and_said(tmp_path):
    contact = "<contact><lateral_friction value='0.3'/></contact>"
    urdf = write(
        tmp_path,
        *(link(name, inside=contact) for name in "abcd"),
        *(joint(f"to_{child}", "a", child, "fixed") for child in "bcd"),
    )
    made, notes = read_urdf(urdf, floating=True)
    assert notes == ("links `a` and 3 more: <contact> parameters, which only Bullet knows, are left out",)
    assert "contact" not in made


VALUES = ("", "nan", "-1", "0", "1e308", "abc", "1 2", "0 0 0", "revolute", "fixed", "base", "[x]", "ü")


def test_whatever_is_broken_is_refused_or_the_same_robot_in_both_simulators(tmp_path, load_text):
    """Files spoiled at random: attributes lost or replaced, elements lost, doubled or renamed."""
    random = np.random.default_rng(7)
    originals = [
        (BULLET_DATA / name).read_bytes().strip()
        for name in ("cartpole.urdf", "TwoJointRobot_w_fixedJoints.urdf", "pendulum5.urdf", "sphere2.urdf")
    ]
    outcomes = {"refused": 0, "read": 0}
    for _ in range(150):
        tree = ET.fromstring(originals[random.integers(len(originals))])
        for _ in range(random.integers(1, 4)):
            pairs = [(parent, child) for parent in tree.iter() for child in parent]
            parent, child = pairs[random.integers(len(pairs))]
            keys = sorted(child.attrib)
            deed = random.integers(5 if keys else 3)
            if deed == 0:
                parent.remove(child)
            elif deed == 1:
                parent.append(child)
            elif deed == 2:
                child.tag = ("link", "joint", "mass", "mesh")[random.integers(4)]
            elif deed == 3:
                del child.attrib[keys[random.integers(len(keys))]]
            else:
                child.set(keys[random.integers(len(keys))], VALUES[random.integers(len(VALUES))])
        path = tmp_path / "spoiled.urdf"
        path.write_bytes(ET.tostring(tree))
        inspection, made, problem = None, None, ""
        try:
            inspection = RobotInspection(path)
            made, _ = read_urdf(path, floating=False)
        except RobotError as error:
            problem = str(error)
        if made is None:
            assert "\n" not in problem
            assert inspection is None or inspection.errors
            outcomes["refused"] += 1
            continue
        outcomes["read"] += 1
        model = pin.buildModelFromXML(made)
        body, client = load_text(made)
        kinds = [
            pybullet.getJointInfo(body, index, physicsClientId=client)[2]
            for index in range(pybullet.getNumJoints(body, physicsClientId=client))
        ]
        moving = sum(kind != pybullet.JOINT_FIXED for kind in kinds)
        assert model.nv == moving == inspection.degrees_of_freedom
        assert sum(inertia.mass for inertia in model.inertias) == pytest.approx(inspection.mass)
    assert min(outcomes.values()) > 20
