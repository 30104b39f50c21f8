import dataclasses

import imageio.v3 as iio
import numpy as np
import pytest
import yourdfpy

from simbench.balance.leg_ik import stand
from simbench.errors import RetargetError, RunError
from simbench.robot.robot import load_robot
from simbench.sim.bullet import bullet_world
from simbench.sim.rendering import camera as camera_module
from simbench.sim.rendering.camera import draw_pictures
from simbench.sim.rendering.portrait import (
    BAND,
    FILLED,
    GAP,
    LEFT,
    MARGIN,
    MIDDLE,
    RIGHT,
    draw_portrait,
    frame_cameras,
    link_hulls,
    natural_posture,
    panel_size,
    robot_points,
)
from simbench.sim.rendering.scene_renderer import moving_region, open_scene
from simbench.sim.rendering.scene_view import Frames, project

# A red crane of primitives on a green post: the boom is level at zero and upright in the middle of its range.
CRANE = """<robot name="crane">
  <material name="red"><color rgba="0.9 0.1 0.1 1"/></material>
  <material name="green"><color rgba="0.1 0.7 0.1 1"/></material>
  <link name="post"><visual><origin xyz="0 0 0.5"/><geometry><box size="0.2 0.2 1.0"/></geometry>
    <material name="green"/></visual></link>
  <link name="boom"><inertial><origin xyz="0.4 0 0"/><mass value="2"/>
    <inertia ixx="0.01" iyy="0.1" izz="0.1"/></inertial>
    <visual><origin xyz="0.4 0 0" rpy="0 1.5707963 0"/>
    <geometry><cylinder radius="0.08" length="0.8"/></geometry><material name="red"/></visual></link>
  <joint name="luff" type="revolute"><parent link="post"/><child link="boom"/><origin xyz="0 0 1.08"/>
    <axis xyz="0 1 0"/><limit lower="-2.5707963" upper="-0.5707963" effort="9" velocity="9"/></joint>
</robot>"""


@pytest.fixture
def crane(tmp_path):
    (tmp_path / "crane.urdf").write_text(CRANE, encoding="utf-8")
    (tmp_path / "robot.yaml").write_text(
        "name: crane\nurdf: crane.urdf\nbase: fixed\ngroups: {}\ngains: {luff: [100, 10]}\n", encoding="utf-8"
    )
    return load_robot(tmp_path)


def panels(picture):
    """Cut the four pictures out of a portrait, without captions; also return the number in a row."""
    height, width = picture.shape[:2]
    columns = 4 if height < 0.75 * width else 2
    wide = (width - 2 * MARGIN + GAP) // columns - GAP
    rows = 4 // columns
    tall = (height - BAND - MARGIN) // rows - BAND
    lefts = [MARGIN + column * (wide + GAP) for column in range(columns)]
    tops = [BAND + 8 + row * (tall + BAND) for row in range(rows)]
    return [picture[top : top + tall - 8, left : left + wide].astype(int) for top in tops for left in lefts]


def test_romeo_is_in_all_four_pictures(romeo, tmp_path):
    draw_portrait(romeo, tmp_path / "romeo.png")
    picture = iio.imread(tmp_path / "romeo.png")
    assert 1200 <= picture.shape[1] <= 1600
    parts = panels(picture)
    assert len(parts) == 4
    for part in parts:
        # Visor, neck and joints are darker than floor and shadow; they lie between the picture's edges.
        rows, columns = np.nonzero(part.max(axis=2) < 100)
        assert 0.005 < len(rows) / part[..., 0].size < 0.2
        height, width = part.shape[:2]
        assert 0.6 * height < np.ptp(rows) < 0.95 * height
        assert columns.min() > 0.02 * width
        assert columns.max() < 0.98 * width
    assert np.mean(np.abs(parts[0] - parts[2]) > 30) > 0.03
    assert np.mean(np.abs(parts[0] - parts[1]) > 30) > 0.03
    # Title and captions.
    assert (picture[: BAND - 4] < 100).any()
    assert (picture[-BAND:] < 150).any()


def test_bones_are_drawn_on_the_side_where_they_are(romeo, tmp_path):
    draw_portrait(romeo, tmp_path / "romeo.png", fast=True, bones=True)
    for front in panels(iio.imread(tmp_path / "romeo.png"))[::2]:
        middle = front.shape[1] // 2
        # Seen from the front, the left limbs are on the right.
        for colour, half in ((LEFT, front[:, middle:]), (RIGHT, front[:, :middle])):
            rows, _ = np.nonzero((front == colour).all(axis=2))
            assert (half == colour).all(axis=2).sum() == len(rows)
            assert np.ptp(rows) > 0.5 * front.shape[0]
        assert (front == MIDDLE).all(axis=2).any()


def test_a_robot_without_limbs_has_no_bones_to_draw(crane, tmp_path):
    with pytest.raises(RetargetError):
        draw_portrait(crane, tmp_path / "crane.png", bones=True)
    assert not (tmp_path / "crane.png").exists()


def test_a_robot_with_a_fixed_base_stands_on_the_floor(crane, tmp_path, monkeypatch):
    monkeypatch.setattr(camera_module, "choose_renderer", lambda: "TinyRenderer")
    assert draw_portrait(crane, tmp_path / "crane.png") == "TinyRenderer"
    zero_front, zero_side, raised_front, raised_side = panels(iio.imread(tmp_path / "crane.png"))

    def extent(part, color):
        rows, columns = np.nonzero(2 * part[..., color] - part.sum(axis=2) + part[..., color] > 80)
        return np.ptp(columns), np.ptp(rows), rows.max()

    # One scale and one line on which all stand; from the front the post is farther away than the boom.
    front, side, front_again, side_again = (
        extent(part, 1)[1:] for part in (zero_front, zero_side, raised_front, raised_side)
    )
    np.testing.assert_allclose([front, side], [front_again, side_again], atol=3)
    np.testing.assert_allclose(front, side, rtol=0.08)
    length, thickness, _ = extent(zero_side, 0)
    # 0.8 m long, 0.16 m thick: level at zero, upright in the middle of its range, an end from the front.
    assert length / thickness == pytest.approx(5.0, rel=0.1)
    raised_width, raised_height, _ = extent(raised_side, 0)
    assert raised_height / raised_width == pytest.approx(5.0, rel=0.1)
    front_width, front_height, _ = extent(zero_front, 0)
    # Seen 9° from above: the end, and some of the length behind it.
    seen = 0.16 * np.cos(np.radians(9.0)) + 0.8 * np.sin(np.radians(9.0))
    assert front_height / front_width == pytest.approx(seen / 0.16, rel=0.15)


def test_the_natural_posture_is_chosen_in_order(romeo, crane):
    posture, name = natural_posture(romeo)
    assert name == "standing"
    np.testing.assert_array_equal(posture, romeo.postures["standing"])
    posture, name = natural_posture(crane)
    assert name == "middle of the joint ranges"
    np.testing.assert_allclose(posture, [-0.5 * np.pi])
    named = dataclasses.replace(crane, postures={"basic": np.zeros(1), "ready": np.array([-1.0])})
    assert natural_posture(named)[1] == "ready"


def test_points_end_where_yourdfpy_s_scene_does(romeo):
    other = yourdfpy.URDF.load(str(romeo.urdf))
    posture = np.random.default_rng(3).uniform(
        romeo.model.lowerPositionLimit[7:], romeo.model.upperPositionLimit[7:]
    )
    other.update_cfg(dict(zip(romeo.joint_names, posture, strict=True)))
    points = robot_points(romeo, link_hulls(romeo), posture)
    # The box of the scene is made of boxes of meshes: it may only be larger.
    vertices = np.vstack(
        [
            mesh.vertices @ other.scene.graph.get(node)[0][:3, :3].T + other.scene.graph.get(node)[0][:3, 3]
            for node in other.scene.graph.nodes_geometry
            for mesh in (other.scene.geometry[other.scene.graph.get(node)[1]],)
        ]
    )
    np.testing.assert_allclose(points.min(axis=0), vertices.min(axis=0), atol=1e-6)
    np.testing.assert_allclose(points.max(axis=0), vertices.max(axis=0), atol=1e-6)


def test_the_lowest_point_of_a_standing_robot_is_its_sole(romeo):
    points = robot_points(romeo, link_hulls(romeo), romeo.postures["standing"])
    base = stand(romeo, (0.0, 0.0), 0.0, "standing").base
    assert points[:, 2].min() == pytest.approx(-base[2], abs=0.002)


def test_cameras_hold_all_points_at_one_scale(romeo):
    hulls = link_hulls(romeo)
    clouds = [robot_points(romeo, hulls, posture) for posture in romeo.postures.values()][:2]
    columns, width, height = panel_size(np.vstack(clouds))
    assert columns == 4
    cameras = frame_cameras(clouds, [90.0, 0.0], width, height)
    assert cameras[0].distance_m == cameras[1].distance_m
    filled = []
    for camera, cloud in zip(cameras, clouds, strict=True):
        pixels = project(camera, cloud)
        share = np.ptp(pixels, axis=0) / [width, height]
        filled.append(share.max())
        assert pixels[:, 0].min() + pixels[:, 0].max() == pytest.approx(width, abs=1.0)
        assert pixels.min() > 0
        assert (pixels.max(axis=0) < [width, height]).all()
    assert 0.9 * FILLED < max(filled) < 1.01 * FILLED


def test_a_robot_without_shapes_is_refused(romeo, tmp_path):
    bare = dataclasses.replace(
        romeo, urdf_text=romeo.urdf_text.replace("<visual>", "<!--").replace("</visual>", "-->")
    )
    bare = dataclasses.replace(
        bare, urdf_text=bare.urdf_text.replace("<collision>", "<!--").replace("</collision>", "-->")
    )
    with pytest.raises(RunError):
        draw_portrait(bare, tmp_path / "a.png")


def test_frames_of_a_robot_of_primitives_are_drawn(crane):
    frames = Frames(np.tile([0.0] * 6 + [1.0], (2, 1)), np.array([[0.0], [-1.5]]), {}, None)
    (camera,) = frame_cameras([np.array([[-0.2, -0.2, 0.0], [0.9, 0.2, 2.0]])], [0.0], 160, 120)
    (first, second), _ = draw_pictures(crane, [], frames, camera, [0, 1])
    assert np.mean(np.abs(first.astype(int) - second) > 30) > 0.02


@pytest.mark.parametrize("pitch", [-40.0, -9.0, 15.0])
def test_a_cloud_fills_the_picture_seen_from_any_height(pitch):
    cloud = np.random.default_rng(0).uniform((-0.2, -0.2, 0.0), (0.9, 0.2, 2.0), (50, 3))
    (camera,) = frame_cameras([cloud], [30.0], 160, 120, pitch)
    assert camera.pitch_deg == pitch
    pixels = project(camera, cloud) / (camera.width, camera.height)
    assert np.ptp(pixels, axis=0).max() == pytest.approx(FILLED, abs=0.005)
    assert 0.5 * (pixels.min(axis=0) + pixels.max(axis=0)) == pytest.approx([0.5, 0.5], abs=0.02)


def test_meshes_that_cannot_be_measured_may_move_anywhere(romeo, monkeypatch):
    monkeypatch.setattr(bullet_world, "mesh_points", lambda path: None)
    base = np.tile([0.0, 0.0, 0.9, 0.0, 0.0, 0.0, 1.0], (2, 1))
    frames = Frames(base, np.zeros((2, len(romeo.joint_names))), {}, None)
    (camera,) = frame_cameras([np.array([[-0.2, -0.2, 0.0], [0.9, 0.2, 2.0]])], [0.0], 160, 120)
    with open_scene(romeo, [], camera) as scene:
        assert moving_region(scene, frames, [0, 1]) == (0, 0, camera.width, camera.height)
