"""Surfaces and poses of bodies for our own renderer."""

import numpy as np
import pinocchio as pin
import pytest
import scenes
import trimesh
from PIL import Image

from simbench.robot.robot import load_robot
from simbench.sim.engine import open_engine
from simbench.sim.fixtures.furniture import drawer_mechanism
from simbench.sim.rendering.painting import link_poses, mechanism_poses
from simbench.sim.rendering.scene_view import UndrawableShapeError
from simbench.sim.rendering.solids import (
    PLAIN_COLOUR,
    make_solid,
    read_robot_meshes,
    robot_solids,
    simplify_together,
)

DRAWER = drawer_mechanism(
    scenes.drawer_section(
        position_m=(0.56, 0.1, 0.0), heading_rad=0.3, friction_n=2.0, damping_ns_m=5.0, grip_clearance_m=0.003
    )
)


def volume(solid):
    corners = solid.points[solid.triangles].astype(float)
    return np.einsum("ti,ti->", corners[:, 0], np.cross(corners[:, 1], corners[:, 2])) / 6.0


def test_closed_surfaces_are_turned_outward():
    sphere = trimesh.creation.icosphere(subdivisions=3, radius=0.5)
    inverted = trimesh.Trimesh(sphere.vertices, sphere.faces[:, ::-1], process=False)
    for mesh in (sphere, inverted):
        solid = make_solid(mesh, (1.0, 0.0, 0.0))
        assert len(solid.triangles) == len(mesh.faces)
        assert volume(solid) == pytest.approx(sphere.volume, rel=1e-5)
        np.testing.assert_allclose(solid.normals, solid.points / 0.5, atol=0.05)
        assert (solid.colours == [255, 0, 0]).all()


def test_open_surfaces_get_a_back_and_sharp_edges_stay():
    square = trimesh.Trimesh([[0, 0, 0], [1, 0, 0], [1, 1, 0], [0, 1, 0]], [[0, 1, 2], [0, 2, 3]])
    solid = make_solid(square, (1.0, 1.0, 1.0))
    assert len(solid.triangles) == 4
    assert sorted(solid.normals[solid.triangles[:, 0], 2].tolist()) == [-1.0, -1.0, 1.0, 1.0]
    box = make_solid(trimesh.creation.box((1.0, 2.0, 3.0)), (1.0, 1.0, 1.0))
    assert np.abs(box.normals).max(axis=1) == pytest.approx(1.0)


def test_simpler_meshes_keep_their_shape():
    ball = trimesh.creation.icosphere(subdivisions=5, radius=0.3)
    far = ball.copy().apply_translation([7.0, 0.0, -2.0])
    first, second = simplify_together([ball, far], 2000)
    assert len(first.faces) + len(second.faces) == pytest.approx(2000, rel=0.05)
    np.testing.assert_allclose(np.linalg.norm(first.vertices, axis=1), 0.3, rtol=0.01)
    np.testing.assert_allclose(np.linalg.norm(second.vertices - [7.0, 0.0, -2.0], axis=1), 0.3, rtol=0.01)
    assert first.volume == pytest.approx(ball.volume, rel=0.02)
    assert simplify_together([ball], 10**6)[0] is ball


def test_links_are_where_bullet_has_them():
    robot = load_robot("romeo")
    rng = np.random.default_rng(3)
    joints = robot.postures["standing"] + rng.uniform(-0.2, 0.2, len(robot.joint_names))
    quaternion = rng.normal(size=4)
    base = np.array([0.3, -0.2, 0.9, *quaternion / np.linalg.norm(quaternion)])
    links = list(robot_solids(read_robot_meshes(robot), 10**6))
    poses = link_poses(robot, base[None], joints[None], links)[0]
    with open_engine().open_world() as world:
        body = world.add_robot(robot, base, joints)
        for name, pose in zip(links, poses, strict=True):
            motion = body.link_motions([body.links[name]])[0]
            expected = pin.XYZQUATToSE3(np.array([*motion[1], *motion[2]])).homogeneous
            np.testing.assert_allclose(pose, expected, atol=2e-6)


def test_parts_are_where_bullet_has_them():
    with open_engine().open_world() as world:
        fixture = world.add_fixture(DRAWER)
        fixture.place(np.array([0.17]), None)
        poses = mechanism_poses(DRAWER, np.array([[0.17]]), None)[0]
        for part, pose in zip(DRAWER.parts, poses, strict=True):
            shift = fixture.link_motions([fixture.links[part.name]])[0][1]
            joint = DRAWER.joints[DRAWER.column(part.joint)] if part.joint else None
            origin = joint.origin if joint else (0.0, 0.0, 0.0)
            np.testing.assert_allclose((pose @ [*origin, 1.0])[:3], shift, atol=1e-6)


def urdf_robot(visual, materials=""):
    """Bring a robot whose second link has a visual shape."""
    text = f"""<robot name="brought">{materials}
    <link name="base"><inertial><mass value="1"/>
    <inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/></inertial></link>
    <link name="arm"><inertial><mass value="1"/>
    <inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/></inertial>{visual}</link>
    <joint name="j" type="revolute"><parent link="base"/><child link="arm"/><axis xyz="0 0 1"/>
    <limit lower="-1" upper="1" velocity="1" effort="1"/></joint></robot>"""

    class Brought:
        urdf_text = text

    return Brought()


def test_a_mirrored_mesh_stays_outward_and_takes_its_colour(tmp_path):
    path = tmp_path / "cone.stl"
    cone = trimesh.creation.cone(0.1, 0.4)
    cone.export(path)
    visual = f"""<visual><origin xyz="0 0 1" rpy="0 0 0"/><geometry>
    <mesh filename="{path}" scale="-2 1 1"/></geometry><material name="leaf"/></visual>"""
    materials = '<material name="leaf"><color rgba="0 0.5 0 1"/></material>'
    solids = robot_solids(read_robot_meshes(urdf_robot(visual, materials)), 10**6)
    assert list(solids) == ["arm"]
    assert volume(solids["arm"]) == pytest.approx(2.0 * cone.volume, rel=1e-4)
    assert solids["arm"].points[:, 2].min() == pytest.approx(1.0, abs=1e-6)
    assert (solids["arm"].colours == [0, 128, 0]).all()


@pytest.mark.parametrize(
    ("visual", "materials"),
    [
        ('<visual><geometry><mesh filename="/nowhere/a.stl"/></geometry></visual>', ""),
        (
            '<visual><geometry><sphere radius="0.1"/></geometry><material name="m"/></visual>',
            '<material name="m"><texture filename="/nowhere/a.png"/></material>',
        ),
    ],
)
def test_what_cannot_be_drawn_is_left_to_the_engine(visual, materials):
    with pytest.raises(UndrawableShapeError):
        read_robot_meshes(urdf_robot(visual, materials))


def write_textured(folder):
    """A square of 1 m, one half red, the other blue; a quarter of the picture is blue."""
    pixels = np.zeros((8, 8, 3), np.uint8)
    pixels[:, :6], pixels[:, 6:] = (255, 0, 0), (0, 0, 255)
    picture = Image.fromarray(pixels)
    points = [[0, 0, 0], [0.5, 0, 0], [0.5, 1, 0], [0, 1, 0]]
    right = [[x + 0.5, y, z] for x, y, z in points]
    uv = [[0.1, 0.1], [0.4, 0.1], [0.4, 0.9], [0.1, 0.9], [0.9, 0.1], [0.95, 0.1], [0.95, 0.9], [0.9, 0.9]]
    square = trimesh.Trimesh(points + right, [[0, 1, 2], [0, 2, 3], [4, 5, 6], [4, 6, 7]], process=False)
    square.visual = trimesh.visual.TextureVisuals(uv=uv, image=picture)
    square.export(folder / "square.obj")
    picture.save(folder / "picture.png")
    return folder / "square.obj", folder / "picture.png"


def test_a_texture_becomes_its_mean_colour_where_that_is_asked_for(tmp_path):
    mesh, picture = write_textured(tmp_path)
    of_mesh = urdf_robot(f'<visual><geometry><mesh filename="{mesh}"/></geometry></visual>', "")
    of_material = urdf_robot(
        '<visual><geometry><sphere radius="0.1"/></geometry><material name="m"/></visual>',
        f'<material name="m"><texture filename="{picture}"/></material>',
    )
    for robot, share in ((of_mesh, 0.5), (of_material, 0.75)):
        with pytest.raises(UndrawableShapeError):
            read_robot_meshes(robot)
        [(_, colour)] = read_robot_meshes(robot, average_textures=True)["arm"]
        assert colour[:3] == pytest.approx([share, 0.0, 1.0 - share], abs=0.01)


def test_a_texture_without_a_picture_gives_the_usual_colour():
    robot = urdf_robot(
        '<visual><geometry><sphere radius="0.1"/></geometry><material name="m"/></visual>',
        '<material name="m"><texture filename="/nowhere/a.png"/></material>',
    )
    [(_, colour)] = read_robot_meshes(robot, average_textures=True)["arm"]
    assert tuple(colour) == PLAIN_COLOUR
