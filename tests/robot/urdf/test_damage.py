"""Damaged URDFs and odd notations: refused in one line, or read by all libraries without a word."""

import re
import xml.etree.ElementTree as ET

import pinocchio as pin
import pybullet
import pytest
import urdf_texts as texts

from simbench.errors import RobotError
from simbench.robot.robot import load_robot
from simbench.robot.robot_inspection import RobotInspection
from simbench.robot.urdf.elements import parse_numbers
from simbench.robot.urdf.source import read_urdf
from simbench.sim.engine import open_engine

link, joint, robot, write = texts.link, texts.joint, texts.robot, texts.write

LIMITS = '<limit lower="-1" upper="1" effort="10" velocity="5"/>'
SHAPE = "<{role}><origin xyz='0 0 0' rpy='0 0 0'/><geometry>{form}</geometry>{rest}</{role}>"
SPHERE = SHAPE.format(role="collision", form="<sphere radius='0.1'/>", rest="")
RED = "<material name='red'><color rgba='1 0 0 1'/></material>"
BOX = SHAPE.format(role="visual", form="<box size='0.1 0.2 0.3'/>", rest=RED)
WHOLE = robot(link("base", inside=BOX), link("arm", inside=SPHERE), joint("elbow", "base", "arm"))


NO_NUMBERS = (
    *("nan", "-NaN", "inf", "-Infinity", "1e999", "1_000", "٣", "１", "0x10", "0x1p3", "nan(1)", "1,5", ""),
    *(" ", "1e", "--1", "- 1", "1f", "1d0", "1\u00a02", "1;2", "abc", "${m}", "+", ".", "e5"),
)


@pytest.mark.parametrize("text", NO_NUMBERS)
def test_what_is_no_plain_finite_number_is_none(text):
    assert parse_numbers(text) == ()


@pytest.mark.parametrize(
    ("text", "values"),
    [
        ("1 2\t3\r\n4", (1.0, 2.0, 3.0, 4.0)),
        ("  +1.5e-3 ", (0.0015,)),
        (".5 5.", (0.5, 5.0)),
        ("1e-310 -4e-324 1e-400", (0.0, 0.0, 0.0)),
        ("9" * 300, (float("9" * 300),)),
    ],
)
def test_plain_numbers_are_read(text, values):
    assert parse_numbers(text) == values


def attributes_with_numbers():
    """Every attribute of a whole URDF that holds numbers, by the number of its element."""
    root = ET.fromstring(WHOLE)
    for number, element in enumerate(root.iter()):
        for key, value in element.attrib.items():
            if key not in ("name", "type", "link", "filename"):
                yield pytest.param(number, key, len(value.split()), id=f"{number}-{element.tag}-{key}")


@pytest.mark.parametrize("bad", ["nan", "1e999", "1_0", ""])
@pytest.mark.parametrize(("number", "key", "count"), [*attributes_with_numbers()])
@pytest.mark.filterwarnings("error")
def test_a_number_that_cannot_be_true_is_refused_or_said_with_its_element(
    tmp_path, capfd, number, key, count, bad
):
    root = ET.fromstring(WHOLE)
    list(root.iter())[number].set(key, " ".join([bad, *["1"] * (count - 1)]))
    path = tmp_path / "robot.urdf"
    path.write_bytes(ET.tostring(root, encoding="utf-8"))
    inspection = RobotInspection(path)
    said = [line for line in inspection.warnings if re.search(r"link `(base|arm)`|joint `|material `", line)]
    assert any(key in line or "too large" in line or "left out" in line for line in said) or (
        # An effort or speed limit that stands for none is said by its name.
        any(key in line for line in inspection.warnings)
    )
    assert all("\n" not in line for line in inspection.warnings)
    assert capfd.readouterr() == ("", "")


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("<!DOCTYPE robot [<!ENTITY a 'b'>]>" + WHOLE, "line 1: a document type declaration is not allowed"),
        (
            "<!DOCTYPE robot SYSTEM 'file:///etc/passwd'>" + WHOLE,
            "a document type declaration is not allowed",
        ),
        (
            WHOLE.replace("</robot>", "<a>" * 60 + "</a>" * 60 + "</robot>"),
            "<a> is nested more than 50 elements",
        ),
        (WHOLE.replace("</robot>", "&nothing;</robot>"), "undefined entity"),
        ("<?xml version='1.0' encoding='klingon'?>" + WHOLE, "not XML: "),
        (WHOLE.replace("base", "a\0b"), "not XML: "),
        (
            WHOLE.replace('mass value="1.0"', 'mass value="${mass}"', 1),
            "xacro cannot be expanded: name 'mass' is not defined",
        ),
        (WHOLE.replace("</robot>", f"<!--{'x' * 20_000_000}--></robot>"), "larger than 20 MB"),
    ],
    ids=lambda value: value[:20],
)
def test_xml_that_no_urdf_needs_is_refused_in_one_line(tmp_path, content, message):
    path = tmp_path / "robot.urdf"
    path.write_text(content, encoding="utf-8")
    with pytest.raises(RobotError, match=re.escape(message)) as caught:
        RobotInspection(path)
    assert len(str(caught.value)) < 1000
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "latin-1"])
def test_the_declared_encoding_is_used(tmp_path, encoding):
    declared = "" if encoding.startswith("utf") else f'<?xml version="1.0" encoding="{encoding}"?>'
    path = tmp_path / "robot.urdf"
    path.write_bytes((declared + WHOLE.replace("elbow", "gelenk_ü")).encode(encoding))
    assert [each.name for each in RobotInspection(path).joints] == ["gelenk_ü"]


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("x" * 256, "the name has 256 bytes; allowed are 255"),
        ("ü" * 128, "the name has 256 bytes; allowed are 255"),
        ("x" * 10_000, "the name has 10000 bytes"),
        ("a&#10;b", "the name has characters that cannot be printed"),
        ("a\x9b31mb", "the name has characters that cannot be printed"),
        ("\u202eb", "the name has characters that cannot be printed"),
    ],
)
def test_names_that_overrun_bullet_or_a_terminal_are_refused(tmp_path, name, message):
    for place in ("base", "elbow"):
        path = tmp_path / "robot.urdf"
        path.write_text(WHOLE.replace(f'"{place}"', f'"{name}"'), encoding="utf-8")
        with pytest.raises(RobotError, match=message) as caught:
            read_urdf(path, floating=False)
        assert str(caught.value).isprintable()
        assert len(str(caught.value)) < 1200


@pytest.mark.parametrize("name", ["x" * 255, 'it\'s "b"', "机器人", "<b>&", "%s%n"])
def test_odd_names_reach_both_simulators_unchanged(tmp_path, load_text, name):
    root = ET.fromstring(WHOLE.replace("elbow", "ELBOW"))
    root.find("joint").set("name", name)
    path = tmp_path / "robot.urdf"
    path.write_bytes(ET.tostring(root, encoding="utf-8"))
    text = read_urdf(path, floating=False)[0]
    assert list(pin.buildModelFromXML(text).names) == ["universe", name]
    body, client = load_text(text)
    assert pybullet.getJointInfo(body, 0, physicsClientId=client)[1].decode() == name


def test_a_urdf_on_one_line_is_what_it_is_on_many(tmp_path, load_text):
    """Bullet breaks lines after 1023 bytes, in the middle of a word."""
    chain = [link(f"link_{number}") for number in range(30)]
    chain += [joint(f"joint_{number}", f"link_{number}", f"link_{number + 1}") for number in range(29)]
    path = write(tmp_path, *chain)
    assert b"\n" not in path.read_bytes()
    body, client = load_text(read_urdf(path, floating=False)[0])
    names = [pybullet.getJointInfo(body, index, physicsClientId=client)[1].decode() for index in range(29)]
    assert sorted(names) == sorted(f"joint_{number}" for number in range(29))


@pytest.mark.parametrize(("count", "allowed"), [(127, True), (128, False)])
def test_no_more_joints_than_bullet_has_room_for(tmp_path, load_text, count, allowed):
    children = [link(f"l{number}", 0.01, (1e-5,) * 3) for number in range(count)]
    joints = [joint(f"j{number}", "base", f"l{number}") for number in range(count)]
    path = write(tmp_path, link("base"), *children, *joints)
    if not allowed:
        names = ", ".join(f"j{number}: 0" for number in range(count))
        (tmp_path / "robot.yaml").write_text(
            f"name: many\nurdf: {path.name}\nbase: fixed\ngroups: {{}}\ngains: auto\n"
            f"postures: {{zero: {{{names}}}}}\n"
        )
        robot = load_robot(tmp_path)
        with pytest.raises(RobotError):
            open_engine("bullet").require_robot(robot)
        return
    body, client = load_text(read_urdf(path, floating=False)[0])
    assert pybullet.getJointState(body, count - 1, physicsClientId=client)[0] == 0.0


MATERIALS = {
    "undefined": ("", "<material name='blue'/>", "material `blue`: is not defined; left out"),
    "twice": (RED + RED, "", "material `red`: defined several times; only the first definition counts"),
    "bright": (RED.replace("1 0", "1e38 0"), "", "is not 4 numbers from 0 to 1; made grey"),
    "long": (RED.replace("red", "r" * 5000), "", ""),
}


@pytest.mark.parametrize(("outside", "inside", "note"), MATERIALS.values(), ids=MATERIALS)
def test_materials_that_a_parser_would_refuse_or_print_about(
    tmp_path, capfd, load_text, outside, inside, note
):
    shape = SHAPE.format(role="visual", form="<box size='1 1 1'/>", rest=inside)
    made, notes = read_urdf(write(tmp_path, outside, link("base", inside=shape)), floating=True)
    assert len(notes) == bool(note)
    assert all(note in line for line in notes)
    assert pin.buildModelFromXML(made, pin.JointModelFreeFlyer()).nv == 6
    assert capfd.readouterr() == ("", "")
    body, client = load_text(made)
    assert len(pybullet.getVisualShapeData(body, physicsClientId=client)) == 1


@pytest.mark.parametrize(
    ("form", "note"),
    [
        ("<box size='0 1 1'/>", 'box: size="0 1 1" is not positive'),
        ("<box size='1 -1 1'/>", 'box: size="1 -1 1" is not positive'),
        ("<sphere radius='-1'/>", 'sphere: radius="-1" is not positive'),
        ("<cylinder radius='1' length='0'/>", 'cylinder: length="0" is not positive'),
        ("<plane/>", "geometry `plane` is none of"),
    ],
)
def test_shapes_without_a_size_are_left_out_and_said(tmp_path, form, note):
    shape = SHAPE.format(role="collision", form=form, rest="")
    made, notes = read_urdf(write(tmp_path, link("base", inside=shape)), floating=True)
    assert len(notes) == 1
    assert f"link `base`: collision left out: {note}" in notes[0]
    assert "collision" not in made


def test_what_is_given_twice_counts_once_and_is_said(tmp_path):
    twice = link("base").replace('<mass value="1.0"/>', '<mass value="1.0"/><mass value="5"/>')
    limits = joint("elbow", "base", "arm", inside=LIMITS + LIMITS.replace("10", "99"))
    made, notes = read_urdf(write(tmp_path, twice, link("arm"), limits), floating=False)
    assert notes == (
        "link `base`: inertial: 2 <mass>; only the first counts",
        "joint `elbow`: 2 <limit>; only the first counts",
    )
    model = pin.buildModelFromXML(made)
    assert model.effortLimit[0] == 10.0


def test_only_what_simulators_read_is_handed_on(tmp_path):
    odd = "<gazebo reference='base'><a b='c'/></gazebo><transmission name='t'/><sdf/>text"
    extra = WHOLE.replace("</robot>", f"{odd}</robot>").replace("<joint ", "<joint group='a' concave='yes' ")
    path = tmp_path / "robot.urdf"
    path.write_text(extra, encoding="utf-8")
    made, _ = read_urdf(path, floating=False)
    plain = tmp_path / "plain.urdf"
    plain.write_text(WHOLE, encoding="utf-8")
    assert made == read_urdf(plain, floating=False)[0]
