import dataclasses
import subprocess

import imageio.v3 as iio
import numpy as np
import pinocchio as pin
import pytest
import scenes

from simbench.errors import RunError
from simbench.robot.robot import load_robot
from simbench.sim.bullet.bullet_bodies import bullet
from simbench.sim.fixtures.furniture import drawer_mechanism
from simbench.sim.fixtures.mechanism import Mechanism, Part
from simbench.sim.fixtures.shapes import WARM, Board
from simbench.sim.rendering import camera as camera_module
from simbench.sim.rendering.camera import choose_renderer, draw_pictures, picture_strip, render_video
from simbench.sim.rendering.scene_renderer import (
    draw_frames,
    moving_region,
    open_scene,
    pose_scene,
    take_picture,
)
from simbench.sim.rendering.scene_view import (
    FAR,
    NEAR,
    Camera,
    Frames,
    floor_depth,
    project,
    projection_matrix,
    view_matrix,
)

CAMERA = Camera(
    target_m=(0.25, 0.0, 0.75),
    distance_m=2.4,
    yaw_deg=25.0,
    pitch_deg=-22.0,
    fov_deg=45.0,
    width=320,
    height=180,
    fps=30,
)
DESIGN = scenes.drawer_section(
    position_m=(0.56, 0.0, 0.0), heading_rad=0.0, friction_n=2.0, damping_ns_m=5.0, grip_clearance_m=0.003
)
DRAWER = drawer_mechanism(DESIGN)
OPEN_FLOOR, UNDER_A_SHOE = np.array([0.1, -0.6]), np.array([0.02, -0.096])


@pytest.fixture(scope="module")
def robot():
    return load_robot("romeo")


@pytest.fixture(scope="module")
def arm():
    """Fewer and smaller shapes than a humanoid's, where the subject is not the robot."""
    return load_robot("puma560")


def frames_of(robot, count, balance=None):
    base = np.tile([0.0, 0.0, 0.86 if robot.floating else 0.0, 0.0, 0.0, 0.0, 1.0], (count, 1))
    joints = np.tile(robot.postures["standing" if robot.floating else "ready"], (count, 1))
    return Frames(base, joints, {"drawer": np.linspace(0.0, 0.3, count)[:, None]}, balance)


def silent(stage, done, total):
    pass


def test_matrices_are_bullet_s():
    view = bullet.computeViewMatrixFromYawPitchRoll(CAMERA.target_m, 2.4, 25.0, -22.0, 0.0, 2)
    np.testing.assert_allclose(view_matrix(CAMERA), np.reshape(view, (4, 4)).T, atol=1e-6)
    projection = bullet.computeProjectionMatrixFOV(45.0, 320 / 180, NEAR * 2.4, FAR * 2.4)
    np.testing.assert_allclose(projection_matrix(CAMERA), np.reshape(projection, (4, 4)).T, atol=1e-5)


def test_parts_of_the_picture_fit_together():
    """A point seen through a part's matrix lands where the whole picture's matrix says."""
    point = view_matrix(CAMERA) @ np.array([0.3, 0.2, 0.1, 1.0])
    whole = projection_matrix(CAMERA) @ point
    x, y = 0.5 + 0.5 * whole[0] / whole[3], 0.5 - 0.5 * whole[1] / whole[3]
    part = (0.4, 0.5, 0.8, 1.0)
    seen = projection_matrix(CAMERA, part) @ point
    assert part[0] + (0.5 + 0.5 * seen[0] / seen[3]) * 0.4 == pytest.approx(x)
    assert part[1] + (0.5 - 0.5 * seen[1] / seen[3]) * 0.5 == pytest.approx(y)
    np.testing.assert_allclose(project(CAMERA, np.array([[0.3, 0.2, 0.1]])), [[320 * x, 180 * y]])


def test_floor_depth_is_the_depth_of_points_on_the_floor():
    points = np.array([[0.0, 0.0, 0.0], [1.0, 1.0, 0.0], [-0.4, 0.7, 0.0]])
    depth = floor_depth(CAMERA)
    clip = (projection_matrix(CAMERA) @ view_matrix(CAMERA) @ np.column_stack([points, np.ones(3)]).T).T
    for (x, y), corner in zip(project(CAMERA, points), clip, strict=True):
        expected = 0.5 + 0.5 * corner[2] / corner[3]
        row_step = float(abs(depth[-1, 0] - depth[-2, 0]))
        assert depth[int(y), int(x)] == pytest.approx(expected, abs=row_step)


def test_the_renderer_s_depth_is_the_floor_s(robot):
    with open_scene(robot, [DRAWER], CAMERA) as scene:
        frames = frames_of(robot, 1)
        pose_scene(scene, frames, 0)
        depth = take_picture(scene).depth
    floor = floor_depth(CAMERA)
    # Lower left: nothing but floor.
    corner = np.s_[-20:, :40]
    tolerance = 2.0**-16 + 0.6 * abs(floor[-1, 0] - floor[-2, 0])
    assert np.abs(depth - floor)[corner].max() < tolerance
    # Robot and table hide some of it.
    assert 0.1 < np.mean(floor - depth > tolerance) < 0.6


def test_drawing_only_what_moves_shows_the_same(robot):
    """Compare frames whose moving region is redrawn with frames drawn completely."""
    still = frames_of(robot, 4)
    joints = still.joints.copy()
    joints[:, robot.joint_names.index("LShoulderPitch")] = [1.77, 1.0, 0.0, -1.0]
    joints[:, robot.joint_names.index("HeadRoll")] = [0.0, 0.1, 0.2, 0.3]
    frames = dataclasses.replace(still, joints=joints)
    drawn = list(draw_frames(robot, [DRAWER], frames, CAMERA, range(4)))
    with open_scene(robot, [DRAWER], CAMERA) as scene:
        region = moving_region(scene, frames, range(4))
        left, top, right, bottom = region
        area = (right - left) * (bottom - top)
        assert 0.02 < area / (CAMERA.width * CAMERA.height) < 0.5
        for index in range(4):
            pose_scene(scene, frames, index)
            whole = take_picture(scene).rgb
            assert np.mean(np.abs(whole.astype(int) - drawn[index]) > 8) < 0.001
        assert np.mean(np.abs(whole.astype(int) - drawn[0]) > 8) > 0.005
        assert moving_region(scene, frames, [1, 1]) == (0, 0, 0, 0)


def test_free_standing_equipment_is_drawn_at_the_pose_of_each_frame(robot):
    """The block moves; the furniture that carries it does not."""
    block = Part("block", (Board((-0.1, -0.1, 0.8), (0.1, 0.1, 0.9), WARM),), 2.0)
    top = Part("top", (Board((-0.5, -0.4, 0.76), (0.5, 0.4, 0.8), WARM),), 20.0)
    pose = pin.SE3(np.eye(3), np.array([0.6, 0.0, 0.0]))
    stood = Mechanism("block", pose, (block,), furniture=(top,), standing=True)
    stands = np.tile(pin.SE3ToXYZQUAT(pose), (3, 1))
    stands[1, :3] += [0.1, -0.05, 0.0]
    stands[2, 3:] = [0.0, 0.0, np.sin(0.4), np.cos(0.4)]
    still = frames_of(robot, 3)
    frames = dataclasses.replace(still, fixtures={"block": np.empty((3, 0))}, stands={"block": stands})
    with open_scene(robot, [stood], CAMERA) as scene:
        fixture, client = scene.fixtures["block"], scene.stage.client
        before = bullet.getBasePositionAndOrientation(fixture.furniture, physicsClientId=client)
        for index in (2, 0, 1):
            pose_scene(scene, frames, index)
            np.testing.assert_allclose(fixture.read_state().stand, stands[index], atol=1e-6)
        assert bullet.getBasePositionAndOrientation(fixture.furniture, physicsClientId=client) == before
        # Only the block moves: by 10 cm, and it is 28 cm from corner to corner.
        left, top, right, bottom = moving_region(scene, frames, range(3))
        corners = project(CAMERA, np.array([[0.6, 0.0, 0.8], [0.7, -0.05, 0.9]]))
        assert (corners > [left, top]).all()
        assert (corners < [right, bottom]).all()
        assert right - left < 0.35 * CAMERA.width


def test_video_has_every_frame_in_order(robot, tmp_path):
    path = tmp_path / "video.mp4"
    calls = []
    frames = frames_of(robot, 9)
    render_video(path, robot, [DRAWER], frames, CAMERA, lambda *call: calls.append(call), processes=2)
    assert calls == [("video", done, 9) for done in range(1, 10)]
    assert [entry.name for entry in tmp_path.iterdir()] == ["video.mp4"]
    meta = iio.immeta(path, plugin="FFMPEG")
    assert (meta["codec"], meta["fps"], tuple(meta["size"])) == ("h264", 30.0, (320, 180))
    assert meta["pix_fmt"].startswith("yuv420p")
    film = iio.imread(path, plugin="FFMPEG").astype(int)
    assert film.shape == (9, 180, 320, 3)
    # The drawer opens steadily: every frame is nearest to its neighbours.
    distance = np.abs(film[:, None] - film[None, :]).mean(axis=(2, 3, 4))
    assert (np.diff(distance[0]) > 0.0).all()
    picture_strip(tmp_path / "strip.png", robot, [DRAWER], frames, CAMERA, [0, 8], 2)
    strip = iio.imread(tmp_path / "strip.png").astype(int)
    assert strip.shape == (180, 640, 3)
    assert np.abs(strip[:, :320] - film[0]).mean() < 3.0
    assert np.abs(strip[:, 320:] - film[8]).mean() < 3.0


def test_overlays_are_where_they_belong(robot, tmp_path):
    support = np.array([[-0.04, -0.14], [0.14, -0.14], [0.14, 0.14], [-0.04, 0.14]])
    nothing = np.empty((0, 2))
    balance = (
        np.array([OPEN_FLOOR, OPEN_FLOOR, OPEN_FLOOR]),
        np.array([OPEN_FLOOR, UNDER_A_SHOE, [np.nan, np.nan]]),
        (support, nothing, nothing),
    )
    sharp = dataclasses.replace(CAMERA, width=960, height=540)
    frames = frames_of(robot, 3, balance)
    # The same drawer in each, so that only what is drawn differs.
    frames.fixtures["drawer"][:] = 0.1
    picture_strip(tmp_path / "strip.png", robot, [DRAWER], frames, sharp, [0, 1, 2], 1)
    first, second, third = np.split(iio.imread(tmp_path / "strip.png").astype(int), 3)

    def at(image, spot):
        x, y = project(sharp, np.array([[*spot, 0.0]]))[0]
        return image[int(y), int(x)]

    red, green, blue = at(first, OPEN_FLOOR)
    assert red > 200
    assert max(green, blue) < 60
    red, green, blue = at(second, OPEN_FLOOR)
    assert blue > 200
    assert red < 60
    np.testing.assert_array_equal(at(second, OPEN_FLOOR), at(third, OPEN_FLOOR))
    # A disc behind the shoe only shines through.
    change = at(second, UNDER_A_SHOE) - at(third, UNDER_A_SHOE)
    assert 10 < np.abs(change).max() < 80
    greener = (first - third) @ [-1, 2, -1] > 60
    rows, columns = np.nonzero(greener)
    corners = project(sharp, np.column_stack([support, np.zeros(4)]))
    assert columns.min() == pytest.approx(corners[:, 0].min(), abs=3)
    assert columns.max() == pytest.approx(corners[:, 0].max(), abs=3)
    assert rows.max() == pytest.approx(corners[:, 1].max(), abs=3)


def test_tinyrenderer_is_used_if_the_probe_fails(arm, tmp_path, monkeypatch):
    monkeypatch.setattr(camera_module, "choose_renderer", lambda: "TinyRenderer")
    frames = frames_of(arm, 1)
    assert picture_strip(tmp_path / "a.png", arm, [DRAWER], frames, CAMERA, [0], 1) == "TinyRenderer"
    picture = iio.imread(tmp_path / "a.png")
    # Pale floor, brown wood.
    assert picture.shape == (180, 320, 3)
    red, blue = picture[..., 0].astype(int), picture[..., 2].astype(int)
    assert 0.03 < np.mean(red - blue > 40) < 0.4


def test_interruption_leaves_nothing_behind(arm, tmp_path, monkeypatch):
    path = tmp_path / "video.mp4"
    path.write_bytes(b"the previous video")
    workers = []
    start = subprocess.Popen
    monkeypatch.setattr(subprocess, "Popen", lambda *a, **k: workers.append(start(*a, **k)) or workers[-1])

    scratch = tmp_path / "scratch"
    scratch.mkdir()
    monkeypatch.setenv("TMPDIR", str(scratch))

    def interrupt(stage, done, total):
        if done == 2:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        render_video(path, arm, [DRAWER], frames_of(arm, 6), CAMERA, interrupt, processes=2)
    assert sorted(entry.name for entry in tmp_path.iterdir()) == ["scratch", "video.mp4"]
    assert not list(scratch.iterdir())
    assert path.read_bytes() == b"the previous video"
    assert workers
    assert all(worker.poll() is not None for worker in workers)


def test_failures_are_one_line(arm, tmp_path, monkeypatch):
    frames = dataclasses.replace(frames_of(arm, 2), fixtures={})
    monkeypatch.setattr(camera_module, "choose_renderer", lambda: "TinyRenderer")
    with pytest.raises(RunError, match="drawing failed: KeyError: 'drawer'"):
        render_video(tmp_path / "a.mp4", arm, [DRAWER], frames, CAMERA, silent, processes=1)
    with pytest.raises(RunError):
        render_video(tmp_path / "no" / "a.mp4", arm, [DRAWER], frames_of(arm, 2), CAMERA, silent)
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("failing", ["simbench.nothing", "simbench.sim.rendering.scene_renderer"])
def test_the_engine_draws_where_our_renderer_does_not_work(arm, tmp_path, monkeypatch, failing):
    """Its process cannot begin, or ends when it gets what to draw."""
    monkeypatch.setattr(camera_module, "OPENGL_WORKER", failing)
    path = tmp_path / "a.png"
    assert picture_strip(path, arm, [DRAWER], frames_of(arm, 1), CAMERA, [0], 1) == "TinyRenderer"
    assert iio.imread(path).shape == (180, 320, 3)


def test_the_engine_draws_where_no_graphics_library_is_found(arm, monkeypatch):
    """Without libEGL, or a driver for it."""
    for name in ("__EGL_VENDOR_LIBRARY_DIRS", "__EGL_VENDOR_LIBRARY_FILENAMES", "LIBGL_DRIVERS_PATH"):
        monkeypatch.setenv(name, "/none")
    pictures, renderer = draw_pictures(arm, [DRAWER], frames_of(arm, 1), CAMERA, [0])
    assert renderer == "TinyRenderer"
    assert [picture.shape for picture in pictures] == [(180, 320, 3)]


def test_the_engine_draws_where_the_library_is_missing(monkeypatch):
    monkeypatch.setattr(camera_module.importlib.util, "find_spec", lambda name: None)
    assert choose_renderer() == "TinyRenderer"


def test_both_renderers_show_the_same_scene(robot, monkeypatch):
    """Where the robot is, where the table is, and how bright they are."""
    if choose_renderer() != "OpenGL":
        pytest.skip("no OpenGL here")
    frames = frames_of(robot, 2)
    ours, name = draw_pictures(robot, [DRAWER], frames, CAMERA, [1])
    if name != "OpenGL":
        pytest.skip("no OpenGL here")
    monkeypatch.setattr(camera_module, "choose_renderer", lambda: "TinyRenderer")
    theirs, _ = draw_pictures(robot, [DRAWER], frames, CAMERA, [1])
    first, second = ours[0].astype(int), theirs[0].astype(int)
    # Hue, not brightness: only ours darkens surfaces that are turned away from the light or in shadow.
    brown = [each[..., 0] - each[..., 2] > 0.25 * each[..., 0] for each in (first, second)]
    assert (brown[0] & brown[1]).sum() > 0.93 * (brown[0] | brown[1]).sum()
    assert np.median(np.abs(first - second)) <= 3
