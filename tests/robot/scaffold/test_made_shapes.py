"""Collision shapes that the scaffold makes, against solids whose form is known."""

import xml.etree.ElementTree as ET
from pathlib import Path

import numpy as np
import pytest
import trimesh
from scipy.spatial import ConvexHull

from simbench.robot.robot import load_robot
from simbench.robot.robot_limbs import describe_bare_mass, links_with_collision_shape
from simbench.robot.scaffold.made_shapes import MOST_CORNERS, split_convex
from simbench.robot.scaffold.robot_tree import RobotTree
from simbench.robot.scaffold.scaffold import scaffold_robot
from simbench.robot.scaffold.writing import write_scaffold
from tests.robot.scaffold.synthetic import Humanoid


def _outside(points, pieces):
    """Distance (N,) of points from the nearest of the convex hulls of pieces; negative inside."""
    planes = [ConvexHull(corners).equations for corners, *_ in pieces]
    return np.min([(points @ each[:, :3].T + each[:, 3]).max(axis=1) for each in planes], axis=0)


def test_a_ball_is_one_piece_whose_shortfall_is_told():
    ball = trimesh.creation.icosphere(subdivisions=4, radius=0.1)
    ((corners, excess, shortfall),) = split_convex(ball)
    assert len(corners) <= MOST_CORNERS
    # Planes through corners of a ball are inside it by its radius less their distance from the middle.
    inside = 0.1 - float(np.abs(ConvexHull(corners).equations[:, 3]).min())
    assert 0.5 * inside < shortfall <= inside
    # The hull is the mesh: nothing but the distance of the samples on it.
    assert excess < 3e-3


def test_an_angle_is_cut_into_pieces_that_cover_it_and_leave_its_hollow_free():
    arms = [trimesh.creation.box(bounds=[[0, 0, 0], [0.3, 0.05, 0.05]])]
    arms.append(trimesh.creation.box(bounds=[[0, 0, 0], [0.05, 0.3, 0.05]]))
    angle = trimesh.util.concatenate(arms)
    pieces = split_convex(angle)
    assert 1 < len(pieces) <= 8
    surface = trimesh.sample.sample_surface(angle, 4000, seed=1)[0]
    worst = max(each[2] for each in pieces)
    assert _outside(surface, pieces).max() <= worst + 1e-6
    # One hull would fill the triangle between the arms: its middle is 0.1 m from both.
    assert _outside(np.array([[0.16, 0.16, 0.025]]), pieces)[0] > 0.03
    assert _outside(np.array([[0.16, 0.16, 0.025]]), [(angle.vertices,)])[0] < 0.0
    size = float(np.linalg.norm(np.ptp(angle.vertices, axis=0)))
    assert max(each[1] for each in pieces) < 0.06 * size + 0.01


def _without_shapes(text: str, keep: set[str], folder: Path) -> str:
    """Replace collision shapes by visual meshes of the same form, but those of some links."""
    robot = ET.fromstring(text)
    for number, link in enumerate(robot.findall("link")):
        for shape in link.findall("collision") if link.get("name") not in keep else ():
            shape.tag = "visual"
            box = shape.find("geometry/box")
            sides = [float(side) for side in box.get("size").split()]
            trimesh.creation.box(sides).export(folder / f"{number}.stl")
            shape.find("geometry").remove(box)
            ET.SubElement(shape.find("geometry"), "mesh", filename=f"{number}.stl")
    return ET.tostring(robot, encoding="unicode")


@pytest.fixture
def robots(tmp_path):
    """A humanoid with collision shapes, and files of it with those of the feet alone."""
    humanoid = Humanoid(1.0, 7)
    whole = tmp_path / "whole.urdf"
    whole.write_text(humanoid.urdf())
    feet = {humanoid.names[f"{side}_leg5"][1] for side in ("left", "right")}
    bare = tmp_path / "bare.urdf"
    bare.write_text(_without_shapes(whole.read_text(), feet, tmp_path))
    return humanoid, whole, bare


def test_shapes_made_of_meshes_collide_as_those_they_were_made_like(robots, tmp_path):
    _, whole, bare = robots
    expected = load_robot(write_scaffold(scaffold_robot(whole), tmp_path / "a"))
    path = write_scaffold(scaffold_robot(bare), tmp_path / "b")
    made = load_robot(path)
    assert {frozenset(pair) for pair in made.self_collision_pairs} == {
        frozenset(pair) for pair in expected.self_collision_pairs
    }
    assert links_with_collision_shape(made) == links_with_collision_shape(expected)
    # Nothing is needed of the cache: the pieces lie beside the copy.
    meshes = ET.parse(path.parent / made.urdf.name).getroot().findall("link/collision/geometry/mesh")
    names = [mesh.get("filename", "") for mesh in meshes]
    assert names
    assert all((path.parent / name).is_file() and not Path(name).is_absolute() for name in names)
    assert describe_bare_mass(made) == ""


def test_what_was_made_is_said_and_can_be_left_out(robots, tmp_path):
    humanoid, _, bare = robots
    (note,) = (line for line in scaffold_robot(bare).missing if "convex" in line)
    assert f"{len(humanoid.links) - 2} links" in note
    plain = scaffold_robot(bare, make_shapes=False)
    assert plain.urdf_text is None
    robot = load_robot(write_scaffold(plain, tmp_path / "plain"))
    masses = {
        link.get("name"): float(link.find("inertial/mass").get("value"))
        for link in ET.parse(bare).getroot().findall("link")
        if link.find("inertial/mass") is not None
    }
    feet = sum(masses[name] for name in links_with_collision_shape(robot))
    said = describe_bare_mass(robot)
    assert f"{100 * feet / sum(masses.values()):.0f} % of the mass" in said


def test_a_hand_beyond_a_wrist_gets_shapes_but_no_cover_and_nothing_at_the_floor(tmp_path):
    humanoid = Humanoid(1.0, 7, plain_names=True)
    robot = ET.fromstring(humanoid.urdf())
    added = {"hand": ("left_arm5_b", 0.2), "cover": ("right_arm5_b", 0.01), "toe": ("left_leg5_b", 0.3)}
    for name, (parent, reach) in added.items():
        link = ET.SubElement(robot, "link", name=name)
        visual = ET.SubElement(link, "visual")
        ET.SubElement(visual, "origin", xyz=f"{reach} 0 0")
        ET.SubElement(ET.SubElement(visual, "geometry"), "sphere", radius="0.01")
        joint = ET.SubElement(robot, "joint", name=f"{name}_joint", type="fixed")
        ET.SubElement(joint, "parent", link=parent)
        ET.SubElement(joint, "child", link=name)
    path = tmp_path / "hands.urdf"
    ET.ElementTree(robot).write(path)
    assert {each.link for each in RobotTree(path, make_shapes=True).made} == {"hand"}
