"""Our own renderer: positions, colours, shadows and transparency against what geometry says."""

import dataclasses

import moderngl
import numpy as np
import pytest
import trimesh

from simbench.sim.rendering.painter import open_opengl, paint_frames
from simbench.sim.rendering.scene_view import (
    BACKGROUND,
    GHOST_COLOUR,
    SUPPORT,
    ZMP,
    Camera,
    Content,
    light_direction,
    project,
    record_type,
    view_matrix,
)
from simbench.sim.rendering.solids import make_solid, tint_solid

CAMERA = Camera((0.0, 0.0, 0.5), 3.0, 20.0, -25.0, 45.0, 320, 180, 30)
RED = (0.8, 0.1, 0.1)
BALL = make_solid(trimesh.creation.icosphere(subdivisions=4, radius=0.2), RED)
LUMA = np.array([65.481, 128.553, 24.966]) / 255.0


@pytest.fixture(scope="module")
def opengl():
    try:
        with open_opengl() as context:
            yield context
    # What is raised where there is no graphics library has no class of its own.
    except Exception as error:
        if isinstance(error, moderngl.Error) or type(error) is Exception:
            pytest.skip(f"no OpenGL here: {error}")
        raise


def records(places, **marks):
    """Place bodies without rotation: (F, B, 3) positions, m."""
    places = np.asarray(places, dtype=float)
    found = np.zeros(len(places), record_type(places.shape[1]))
    found["poses"][..., :3] = np.eye(3)
    found["poses"][..., 3] = places
    for name in ("cog", "zmp", "support"):
        found[name] = np.nan
    for name, value in marks.items():
        found[name] = value
    return found


def draw(context, frames, solids=(BALL,), *, ghosts=0, video=False, shadows=True, camera=CAMERA):
    """Draw frames: RGB pictures, or luma and chroma of frames of a video."""
    content = Content(tuple(solids), tuple(solids), ghosts, camera, video, shadows)
    drawn = [each.copy() for each in paint_frames(context, content, iter(frames)) if each is not None]
    if not video:
        return [each.astype(int) for each in drawn]
    pixels = camera.width * camera.height
    return [
        (
            each[:pixels].reshape(camera.height, camera.width).astype(int),
            each[pixels:].reshape(camera.height // 2, camera.width // 2, 2).astype(int),
        )
        for each in drawn
    ]


def is_red(picture):
    return picture[..., 0] - picture[..., 1] > 60


def test_a_ball_covers_the_pixels_of_its_silhouette(opengl):
    center = np.array([0.3, -0.2, 0.7])
    (picture,) = draw(opengl, records([[center]]))
    # A ray meets the ball if its angle to the direction of the centre is at most that of the tangent.
    rows, columns = np.mgrid[: CAMERA.height, : CAMERA.width]
    slope = np.tan(0.5 * np.radians(CAMERA.fov_deg))
    rays = np.stack(
        [
            (2.0 * (columns + 0.5) / CAMERA.width - 1.0) * slope * CAMERA.width / CAMERA.height,
            (1.0 - 2.0 * (rows + 0.5) / CAMERA.height) * slope,
            -np.ones(rows.shape),
        ],
        axis=-1,
    )
    local = (view_matrix(CAMERA) @ [*center, 1.0])[:3]
    angle = np.arccos(rays @ local / np.linalg.norm(local) / np.linalg.norm(rays, axis=-1))
    inside = angle < np.arcsin(0.2 / np.linalg.norm(local))
    assert inside.sum() > 500
    assert (is_red(picture) != inside).sum() < 0.15 * np.sqrt(inside.sum()) * np.pi


def test_light_and_shadow_are_where_geometry_says(opengl):
    center = np.array([0.0, 0.0, 0.8])
    (plain,) = draw(opengl, records([[center]]), shadows=False)
    (shaded,) = draw(opengl, records([[center]]))
    light = light_direction(CAMERA)
    dark = center - center[2] / light[2] * light
    x, y = project(CAMERA, dark[None])[0].astype(int)
    ratio = shaded[y, x].sum() / plain[y, x].sum()
    # Without the lamp, 0.42 of the light is left, which encoded is 0.42 ** (1 / 2.2).
    assert ratio == pytest.approx(0.674, abs=0.02)
    # Nothing else of the floor is darker: the ball's shadow is an ellipse as wide as the ball.
    changed = np.argwhere((plain - shaded).sum(axis=2) > 20)
    middle = project(CAMERA, dark[None])[0][::-1]
    width = np.ptp(changed[:, 1])
    edges = project(CAMERA, dark + 0.2 * np.array([[1.0, 0.0, 0.0], [-1.0, 0.0, 0.0]]))
    assert np.linalg.norm(changed.mean(axis=0) - middle) < 3.0
    assert width == pytest.approx(abs(edges[0, 0] - edges[1, 0]), rel=0.25)
    # The side towards the light is brighter than the other.
    top, bottom = (
        project(CAMERA, (center + np.array([0.0, 0.0, dz]))[None])[0].astype(int) for dz in (0.14, -0.14)
    )
    assert shaded[top[1], top[0], 0] > shaded[bottom[1], bottom[0], 0] + 15


def test_a_nearer_body_hides_a_farther_one(opengl):
    blue = tint_solid(BALL, (0.1, 0.1, 0.8))
    eye = np.linalg.inv(view_matrix(CAMERA))[:3, 3]
    near = np.array([0.0, 0.0, 0.5])
    far = near + 0.5 * (near - eye) / np.linalg.norm(near - eye)
    for first, second in ((near, far), (far, near)):
        (picture,) = draw(opengl, records([[first, second]]), (BALL, blue))
        x, y = project(CAMERA, near[None])[0].astype(int)
        assert is_red(picture)[y, x] == (first is near)


def test_a_ghost_is_the_mean_of_itself_and_what_is_behind(opengl):
    ghost = tint_solid(BALL, GHOST_COLOUR)
    place = [[[0.0, 0.0, 0.5]]]
    (behind,) = draw(opengl, records([[[9.0, 9.0, 90.0]]]))
    (alone,) = draw(opengl, records(place), (ghost,), shadows=False)
    (mixed,) = draw(opengl, records(place), (ghost,), ghosts=1, shadows=False)
    solid = alone[..., 2] - alone[..., 0] > 60
    assert solid.sum() > 300
    np.testing.assert_allclose(mixed[solid], 0.5 * (alone + behind)[solid], atol=3)


def test_a_video_shows_what_a_picture_shows(opengl):
    """Luma of a frame is that of the picture by Rec. 601, and its chroma that of the ball and of grey."""
    frame = records([[[0.0, 0.0, 0.5]]])
    (picture,), ((luma, chroma),) = draw(opengl, frame), draw(opengl, frame, video=True)
    expected = 16.0 + picture @ LUMA
    assert np.mean(np.abs(luma - expected) > 3) < 0.03
    x, y = project(CAMERA, np.array([[0.0, 0.0, 0.5]]))[0].astype(int)
    red, green, blue = picture[y, x] / 255.0
    np.testing.assert_allclose(
        chroma[y // 2, x // 2],
        [
            128.0 - 37.797 * red - 74.203 * green + 112.0 * blue,
            128.0 + 112.0 * red - 93.786 * green - 18.214 * blue,
        ],
        atol=2,
    )
    np.testing.assert_allclose(chroma[2, 2], 128, atol=1)
    assert luma[1, 1] == pytest.approx(16.0 + 219.0 * BACKGROUND / 255.0, abs=1)


@pytest.mark.parametrize(("shadows", "ghosts"), [(True, 0), (False, 0), (True, 1), (False, 1)])
def test_frames_do_not_depend_on_those_before(opengl, shadows, ghosts):
    """Only what has changed is drawn anew; the result is that of a process that begins with the frame."""
    angle = np.linspace(0.0, 1.0, 5)
    moving = np.stack([0.4 * np.cos(angle), 0.4 * np.sin(angle), 0.5 + 0.2 * angle], axis=1)
    places = np.stack([moving, np.tile([-0.5, 0.1, 0.2], (5, 1))], axis=1)
    zmp = np.stack([0.1 * angle, -0.2 + 0.0 * angle], axis=1)
    frames = records(places, zmp=zmp)
    options = {"video": True, "shadows": shadows, "ghosts": ghosts}
    together = draw(opengl, frames, (BALL, BALL), **options)
    for number in (1, 4):
        ((luma, chroma),) = draw(opengl, frames[number : number + 1], (BALL, BALL), **options)
        assert np.mean(np.abs(together[number][0] - luma) > 1) < 1e-4
        assert np.mean(np.abs(together[number][1] - chroma) > 1) < 1e-4
    assert np.mean(np.abs(together[1][0] - together[4][0]) > 8) > 0.01


def test_equal_frames_are_equal(opengl):
    frames = records(np.tile([[0.0, 0.0, 0.5]], (2, 1, 1)))
    first, second = draw(opengl, frames, video=True)
    np.testing.assert_array_equal(first[0], second[0])


def test_edges_are_smooth(opengl):
    """Luma passes through values between those of the ball and of the floor."""
    frame = records([[[0.0, 0.0, 0.7]]])
    ((luma, _),) = draw(opengl, frame, video=True, shadows=False)
    (picture,) = draw(opengl, frame, shadows=False)
    outline = is_red(picture)
    edge = outline & ~(np.roll(outline, 1, 0) & np.roll(outline, -1, 0))
    ball = np.median(luma[outline & ~edge])
    between = (luma > ball + 15) & (luma < luma.max() - 25)
    assert between.sum() > 0.5 * edge.sum()


@pytest.mark.parametrize("video", [False, True])
def test_the_outermost_pixels_are_like_their_neighbours(opengl, video):
    """Smoothing must not mix in what is outside; but for lines of the floor, all is even there."""
    (drawn,) = draw(opengl, records([[[0.0, 0.0, 0.5]]]), video=video)
    luma = drawn[0] if video else drawn @ LUMA
    for rim, beside in ((0, 1), (-1, -2)):
        assert np.median(np.abs(luma[rim] - luma[beside])) < 2
        assert np.median(np.abs(luma[:, rim] - luma[:, beside])) < 2


def test_marks_are_on_the_floor_and_shine_through(opengl):
    square = np.full((32, 2), np.nan)
    square[:4] = [(-0.3, -0.3), (0.3, -0.3), (0.3, 0.3), (-0.3, 0.3)]
    sharp = dataclasses.replace(CAMERA, width=960, height=540)
    away = [[[0.0, 0.0, 50.0]]]
    frame = records(away, zmp=[0.1, -0.1], support=square)
    (picture,) = draw(opengl, frame, camera=sharp)
    (bare,) = draw(opengl, records(away), camera=sharp)
    x, y = project(sharp, np.array([[0.1, -0.1, 0.0]]))[0].astype(int)
    np.testing.assert_allclose(picture[y, x], ZMP, atol=3)
    corners = project(sharp, np.column_stack([square[:4], np.zeros(4)]))
    rows, columns = np.nonzero(np.abs(picture - bare).max(axis=2) > 10)
    assert columns.min() == pytest.approx(corners[:, 0].min(), abs=3)
    assert columns.max() == pytest.approx(corners[:, 0].max(), abs=3)
    assert rows.max() == pytest.approx(corners[:, 1].max(), abs=3)
    # The area is lightly covered.
    x, y = project(sharp, np.array([[-0.1, 0.1, 0.0]]))[0].astype(int)
    np.testing.assert_allclose(
        picture[y, x], bare[y, x] + 70 / 255 * (np.array(SUPPORT) - bare[y, x]), atol=3
    )
    # Behind a body the disc is a quarter as strong.
    eye = np.linalg.inv(view_matrix(sharp))[:3, 3]
    disc = np.array([0.1, -0.1, 0.0])
    before = [[disc + 0.4 * (eye - disc)]]
    (hidden,) = draw(opengl, records(before, zmp=[0.1, -0.1]), camera=sharp)
    (covered,) = draw(opengl, records(before), camera=sharp)
    x, y = project(sharp, disc[None])[0].astype(int)
    expected = covered[y, x] + 0.25 * (np.array(ZMP) - covered[y, x])
    np.testing.assert_allclose(hidden[y, x], expected, atol=3)


def test_many_bodies_and_odd_sizes(opengl):
    """More bodies than one block of uniforms holds, and a picture that no video could have."""
    camera = dataclasses.replace(CAMERA, width=321, height=181)
    small = make_solid(trimesh.creation.icosphere(subdivisions=1, radius=0.02), RED)
    places = np.full((1, 300, 3), 50.0)
    places[0, 280] = (0.0, 0.0, 0.5)
    (picture,) = draw(opengl, records(places), [small] * 300, camera=camera)
    assert picture.shape == (181, 321, 3)
    rows, columns = np.nonzero(is_red(picture))
    np.testing.assert_allclose([columns.mean() + 0.5, rows.mean() + 0.5], [160.5, 90.5], atol=1.5)


@pytest.mark.parametrize("video", [False, True])
def test_a_camera_that_moves_with_a_ball_keeps_it_in_the_middle(opengl, video):
    """Frames do not depend on those before; without a shift the ball leaves the middle."""
    places = np.array([[[0.3 * k, 0.2 * k, 0.5]] for k in range(3)])
    still, moving = records(places), records(places, shift=places[:, 0] - np.array(CAMERA.target_m))
    for number, frames in ((0, still), (2, moving)):
        drawn = draw(opengl, frames, video=video)
        luma = drawn[number][0] if video else drawn[number] @ LUMA
        rows, columns = np.nonzero(luma < (95 if video else 80))
        assert np.median(columns) == pytest.approx(160, abs=4)
        assert np.median(rows) == pytest.approx(90, abs=6)
    (alone,) = draw(opengl, moving[2:], video=True)
    np.testing.assert_array_equal(draw(opengl, moving, video=True)[2][0], alone[0])
    luma = draw(opengl, still)[2] @ LUMA
    assert abs(np.median(np.nonzero(luma < 80)[1]) - 160) > 30


def test_shadows_are_softer_farther_from_what_casts_them(opengl):
    """The penumbra of a ball 1.6 m above the floor is wider than that of one at 0.3 m."""
    sharp = dataclasses.replace(CAMERA, width=640, height=360, pitch_deg=-60.0, distance_m=5.0)
    light = light_direction(CAMERA) / np.linalg.norm(light_direction(CAMERA))
    widths = []
    for height in (0.3, 1.6):
        # The shadow is at the middle of the picture, the ball elsewhere.
        place = [[height / light[2] * light]]
        options = {"camera": dataclasses.replace(sharp, target_m=(0.0, 0.0, 0.0))}
        (lit,), (shaded,) = (draw(opengl, records(place), shadows=on, **options) for on in (False, True))
        share = (shaded.sum(axis=2) / lit.sum(axis=2))[180]
        around = share[220:420]
        dark = around.min()
        widths.append(np.sum((around > dark + 0.06) & (around < 0.98)))
    assert widths[1] > 1.6 * widths[0] > 0


def test_an_edge_has_several_shades_in_a_video_with_shadows(opengl):
    """Four samples of each pixel: between the ball and the sky there are values of a quarter, a half, ..."""
    frame = records([[[0.0, 0.0, 0.9]]])
    ((luma, _),) = draw(opengl, frame, video=True)
    (picture,) = draw(opengl, frame)
    # A picture has four samples as well, in another pattern.
    expected = 16.0 + picture @ LUMA
    assert np.mean(np.abs(luma - expected) > 24) < 0.002
    assert np.mean((luma > 110) & (luma < 190)) > 0.0005
