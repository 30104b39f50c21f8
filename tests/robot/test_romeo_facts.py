"""The published numbers kept in ROMEO's robot.yaml against the built URDF, row by row, to 1e-6."""

import xml.etree.ElementTree as ET

import numpy as np
import pytest
import yaml

from simbench.resources import resource_dir

FOLDER = resource_dir("robots") / "romeo"
FACTS = yaml.safe_load((FOLDER / "robot.yaml").read_text(encoding="utf-8"))
URDF = ET.parse(FOLDER / "romeo.urdf").getroot()
LINKS = {link.get("name"): link for link in URDF.findall("link")}
JOINTS = {joint.get("name"): joint for joint in URDF.findall("joint")}
AXES = {"x": [1, 0, 0], "y": [0, 1, 0], "z": [0, 0, 1]}
# Palm and fingers together have the published numbers of the wrist: tests/robot/test_romeo.py.
CARVED = {"l_wrist", "r_wrist"}


def right(name):
    """The right-hand name of a left-hand one, None for a name in the middle."""
    if name.startswith("l_"):
        return "r_" + name[2:]
    return "R" + name[1:] if name[0] == "L" and name[1].isupper() else None


def both(section, mirror):
    """Rows of both sides: the right one, where it is not written out, is the left one's mirror image."""
    rows = dict(FACTS[section])
    for name, row in FACTS[section].items():
        if right(name) and right(name) not in rows:
            rows[right(name)] = mirror(row)
    return rows


def mirrored_link(row):
    # YAML takes `1e-5`, without a point, for text.
    (x, y, z), (xx, yy, zz, xy, xz, yz) = (map(float, row[key]) for key in ("cog", "inertia"))
    return {**row, "cog": [x, -y, z], "inertia": [xx, yy, zz, -xy, xz, -yz]}


def mirrored_place(row):
    (x, y, z), (roll, pitch, yaw) = row["xyz"], row.get("rpy", [0, 0, 0])
    low, high = row.get("limits", [0, 0])
    names = {key: right(row[key]) or row[key] for key in ("parent", "child") if key in row}
    turned = [low, high] if row.get("axis") == "y" else [-high, -low]
    return {**row, **names, "xyz": [x, -y, z], "rpy": [-roll, pitch, -yaw], "limits": turned}


LINK_ROWS = both("links", mirrored_link)
JOINT_ROWS = both("joints", mirrored_place)
FRAME_ROWS = both("fixed_frames", mirrored_place)


def numbers(text):
    return [float(number) for number in text.split()]


def test_nothing_is_missing_and_nothing_else_has_mass():
    assert set(JOINTS) == {*JOINT_ROWS, *(f"{name}_joint" for name in FRAME_ROWS)}
    assert {name for name in LINKS if name not in LINK_ROWS} == set(FRAME_ROWS)
    for name in FRAME_ROWS:
        assert float(LINKS[name].find("inertial/mass").get("value")) == 0.0
    assert len(LINK_ROWS) == 34
    total = sum(float(link.find("inertial/mass").get("value")) for link in LINKS.values())
    # The sum of the published masses; the fingers' are taken out of the wrists'.
    published = sum(row["mass"] for row in LINK_ROWS.values() if "carved_from" not in row)
    assert total == pytest.approx(published, abs=1e-6)
    assert total == pytest.approx(40.52937, abs=1e-6)


@pytest.mark.parametrize("name", sorted(set(LINK_ROWS) - CARVED))
def test_a_link_has_its_published_mass_centre_and_inertia(name):
    row, inertial = LINK_ROWS[name], LINKS[name].find("inertial")
    assert float(inertial.find("mass").get("value")) == pytest.approx(row["mass"], abs=1e-6)
    origin, inertia = inertial.find("origin"), inertial.find("inertia")
    np.testing.assert_allclose(numbers(origin.get("xyz")), np.array(row["cog"], dtype=float), atol=1e-6)
    np.testing.assert_array_equal(numbers(origin.get("rpy")), 0.0)
    entries = [float(inertia.get(entry)) for entry in ("ixx", "iyy", "izz", "ixy", "ixz", "iyz")]
    np.testing.assert_allclose(entries, np.array(row["inertia"], dtype=float), atol=1e-6)


@pytest.mark.parametrize("name", sorted(JOINT_ROWS))
def test_a_joint_has_its_published_place_axis_and_limits(name):
    row, joint = JOINT_ROWS[name], JOINTS[name]
    assert joint.get("type") == "revolute"
    assert joint.find("parent").get("link") == row["parent"]
    assert joint.find("child").get("link") == row["child"]
    origin, limit = joint.find("origin"), joint.find("limit")
    np.testing.assert_allclose(numbers(origin.get("xyz")), row["xyz"], atol=1e-6)
    np.testing.assert_allclose(numbers(origin.get("rpy")), row.get("rpy", [0, 0, 0]), atol=1e-6)
    np.testing.assert_array_equal(numbers(joint.find("axis").get("xyz")), AXES[row["axis"]])
    found = [float(limit.get(entry)) for entry in ("lower", "upper", "velocity", "effort")]
    np.testing.assert_allclose(found, [*row["limits"], row["velocity"], row["effort"]], atol=1e-6)


@pytest.mark.parametrize("name", sorted(FRAME_ROWS))
def test_a_fixed_frame_has_its_published_place(name):
    row, joint = FRAME_ROWS[name], JOINTS[f"{name}_joint"]
    assert joint.get("type") == "fixed"
    assert joint.find("parent").get("link") == row["parent"]
    origin = joint.find("origin")
    np.testing.assert_allclose(numbers(origin.get("xyz")), row["xyz"], atol=1e-6)
    np.testing.assert_allclose(numbers(origin.get("rpy")), row.get("rpy", [0, 0, 0]), atol=1e-6)
