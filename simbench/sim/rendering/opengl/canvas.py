"""The passes of a frame, in OpenGL. Rows are counted from the top, as in the pictures."""

from dataclasses import dataclass
from typing import Any

import moderngl
import numpy as np
from numpy.typing import NDArray

from simbench.kinematics.arrays import Array
from simbench.sim.rendering.opengl import shaders
from simbench.sim.rendering.opengl.content import MOST_CORNERS, Content
from simbench.sim.rendering.opengl.light import LightWindow
from simbench.sim.rendering.opengl.meshes import (
    GROUP,
    connect_meshes,
    draw_bodies,
    load_meshes,
    load_poses,
)
from simbench.sim.rendering.opengl.regions import SEARCH, Marks, Rectangle, View, to_pixels
from simbench.sim.rendering.scene_look import (
    BACKGROUND,
    COG,
    DISC_RADIUS,
    FILL,
    HIDDEN,
    HORIZON_HALF,
    LINE_WIDTH,
    PLAIN,
    SUPPORT,
    TEXTURE_HALF,
    TILE,
    ZMP,
    floor_middle,
)

# Rec. 601 in studio range: what a player assumes that is told nothing else.
LUMA_CHROMA = (
    np.array([[65.481, 128.553, 24.966], [-37.797, -74.203, 112.0], [112.0, -93.786, -18.214]]) / 255.0
)
BLACK = np.array([16.0, 128.0, 128.0]) / 255.0

GHOST_OPACITY = 0.5
SHADOW_PIXELS = 640
"""Width and height of the shadow map."""

_CONSTANTS: dict[str, float] = {
    "BODIES": GROUP,
    "AMBIENT": 0.693,
    "DIFFUSE": 0.35,
    "DIMMED": 0.3,
    "HIGHLIGHT": 0.08,
    "UMBRA": 0.80,
    "TILE": TILE,
    "JOINT": 0.0065,
    "FADED": TEXTURE_HALF,
    "PLAIN": PLAIN,
    "BACKGROUND": BACKGROUND / 255.0,
    "FILL": FILL / 255.0,
    "DISC_RADIUS": DISC_RADIUS,
    "CORNERS": MOST_CORNERS,
    "SEARCH": SEARCH,
}
_SHADOW, _GHOST_SHADOW, _PICTURE = 0, 1, 2
"""Texture units."""
_TO_TEXTURE = np.array([[0.5, 0, 0, 0.5], [0, 0.5, 0, 0.5], [0, 0, 0.5, 0.5], [0, 0, 0, 1]])
_SQUARE = np.array([(0, 0), (1, 0), (0, 1), (1, 1)], dtype=np.float32)


@dataclass(frozen=True)
class _Targets:
    """Drawing surfaces: the picture, its depth alone, the planes of a video's frame, and the shadow maps."""

    front: moderngl.Framebuffer
    depth: moderngl.Framebuffer
    picture: moderngl.Texture
    luma: moderngl.Framebuffer | None
    chroma: moderngl.Framebuffer | None
    shadows: tuple[moderngl.Framebuffer, ...]


class Canvas:
    """Draws the bodies of a drawing process.

    Parameters
    ----------
    context : moderngl.Context
        OpenGL.
    content : Content
        What stays the same in all frames.
    view : View
        The camera, with the size of the drawing surface.
    light : (3,) array
        Unit vector to the light.
    scale : int
        Ratio of the drawing surface's size to the picture's.
    """

    def __init__(
        self, context: moderngl.Context, content: Content, view: View, light: Array, scale: int
    ) -> None:
        self._gl, self._content, self._view = context, content, view
        self._size: tuple[int, int] = tuple(view.size.astype(int).tolist())
        self._space, self._base = (LUMA_CHROMA, BLACK) if content.video else (np.eye(3), np.zeros(3))
        count = len(content.solids)
        self._ghosts = [body >= count - content.ghosts for body in range(count)]
        self._figures = [not ghost for ghost in self._ghosts]
        self._poses = load_poses(context, count)
        self._meshes = load_meshes(context, content.solids, self._poses)
        self._casters = (
            load_meshes(context, content.casters, self._poses) if content.shadows else self._meshes
        )
        self._square = context.buffer(_SQUARE.tobytes())
        self._floor = context.buffer(reserve=_SQUARE.nbytes)
        self._programs = self._compile(scale)
        self._arrays = self._connect()
        self._set_view(light)
        self._targets = self._make_targets()
        self.background = self._draw_background()

    def set_poses(self, poses: NDArray[np.float32], window: LightWindow, casting: NDArray[np.bool_]) -> None:
        """Take the poses of all bodies, and draw what the light sees.

        Parameters
        ----------
        poses : (B, 3, 4) array
            First three rows of each body's transformation to the world.
        window : LightWindow
            The light's view of them.
        casting : (B,) array of bool
            Bodies whose shadows may be seen.
        """
        self._poses.write(np.ascontiguousarray(poses).tobytes())
        if not self._content.shadows:
            return
        to_texture = _column_major(_TO_TEXTURE @ window.clip)
        for name in ("solid", "shade"):
            _write(self._programs[name], "to_light", to_texture)
        self._programs["solid"]["offset"] = window.offset
        _write(self._programs["caster"], "clip", _column_major(window.clip))
        self._gl.enable_only(moderngl.DEPTH_TEST | moderngl.CULL_FACE)
        self._gl.front_face, self._gl.depth_func = "ccw", "<"
        for target, shown in zip(self._targets.shadows, (self._figures, self._ghosts), strict=False):
            target.use()
            target.clear(depth=1.0)
            draw_bodies(self._arrays["caster"], self._casters, (casting & shown).tolist())

    def draw_front(
        self, region: Rectangle, visible: NDArray[np.bool_], window: LightWindow, marks: Marks | None
    ) -> None:
        """Draw the picture within a rectangle.

        Parameters
        ----------
        region : Rectangle
            What to draw.
        visible : (B,) array of bool
            Bodies that may be in it.
        window : LightWindow
            The light's view.
        marks : Marks or None
            COG, ZMP and support polygon.
        """
        context, target = self._gl, self._targets.front
        rows, columns = slice(region.top, region.bottom), slice(region.left, region.right)
        self._targets.picture.write(self.background[rows, columns].tobytes(), viewport=region.viewport)
        # A mask that was set back takes effect when the surface is used again: else nothing is cleared.
        self._targets.depth.use()
        self._targets.depth.clear(depth=1.0)
        target.use()
        target.scissor = region.viewport
        context.enable_only(moderngl.DEPTH_TEST | moderngl.CULL_FACE)
        context.front_face, context.depth_func = "cw", "<"
        shown = (visible & self._figures).tolist()
        draw_bodies(self._arrays["solid"], self._meshes, shown)
        context.enable_only(moderngl.DEPTH_TEST | moderngl.BLEND)
        target.depth_mask = False
        if self._content.shadows:
            self._floor.write(window.floor.astype(np.float32).tobytes())
            context.blend_func = moderngl.ONE, moderngl.SRC_ALPHA
            self._arrays["shade"].render(moderngl.TRIANGLE_STRIP)
        if marks is not None:
            self._draw_marks(marks)
        target.depth_mask = True
        target.use()
        if self._content.ghosts:
            self._draw_ghosts(region, (visible & self._ghosts).tolist())

    def read_rgb(self, region: Rectangle) -> NDArray[np.uint8]:
        """Read a rectangle of the picture.

        Parameters
        ----------
        region : Rectangle
            What to read.

        Returns
        -------
        (height, width, 3) array of uint8
            Red, green and blue.
        """
        _, _, width, height = region.viewport
        data = self._targets.front.read(viewport=region.viewport, components=3, alignment=1)
        return np.frombuffer(data, np.uint8).reshape(height, width, 3)

    def read_planes(self, region: Rectangle) -> tuple[NDArray[np.uint8], NDArray[np.uint8]]:
        """Smooth the edges in a rectangle of the picture of a video, and read it.

        Parameters
        ----------
        region : Rectangle
            What to read; its edges are even.

        Returns
        -------
        luma : (height, width) array of uint8
            Studio range.
        chroma : (height / 2, width / 2, 2) array of uint8
            Blue and red difference, 128 for grey.
        """
        luma, chroma, context = self._targets.luma, self._targets.chroma, self._gl
        assert luma is not None
        assert chroma is not None
        left, top, width, height = region.viewport
        half = left // 2, top // 2, width // 2, height // 2
        context.enable_only(moderngl.DEPTH_TEST)
        luma.use()
        luma.scissor = region.viewport
        context.depth_func = "1"
        self._arrays["edges"].render(moderngl.TRIANGLE_STRIP)
        context.depth_func, luma.depth_mask = "<", False
        self._arrays["smooth"].render(moderngl.TRIANGLE_STRIP)
        luma.depth_mask = True
        luma.use()
        context.enable_only(moderngl.NOTHING)
        chroma.use()
        chroma.scissor = half
        self._arrays["chroma"].render(moderngl.TRIANGLE_STRIP)
        brightness = luma.read(viewport=region.viewport, components=1, alignment=1)
        colour = chroma.read(viewport=half, components=2, alignment=1)
        return (
            np.frombuffer(brightness, np.uint8).reshape(height, width),
            np.frombuffer(colour, np.uint8).reshape(height // 2, width // 2, 2),
        )

    def _compile(self, scale: int) -> dict[str, moderngl.Program]:
        """Compile the shaders that are needed."""
        constants = {**_CONSTANTS, "LINE_WIDTH": LINE_WIDTH * scale}
        flags: tuple[str, ...] = ("SHADOWS",) if self._content.shadows else ()
        sources = {
            "solid": (shaders.SOLID_VERTEX, shaders.SOLID_FRAGMENT),
            "tiles": (shaders.FLOOR_VERTEX, shaders.TILES_FRAGMENT),
            "marks": (shaders.FLOOR_VERTEX, shaders.MARKS_FRAGMENT),
        }
        if self._content.shadows:
            flags += ("GHOSTS",) if self._content.ghosts else ()
            sources["caster"] = shaders.CASTER_VERTEX, shaders.CASTER_FRAGMENT
            sources["shade"] = shaders.FLOOR_VERTEX, shaders.SHADE_FRAGMENT
        if self._content.video:
            sources["edges"] = shaders.SQUARE_VERTEX, shaders.EDGES_FRAGMENT
            sources["smooth"] = shaders.SQUARE_VERTEX, shaders.SMOOTH_FRAGMENT
            sources["chroma"] = shaders.SQUARE_VERTEX, shaders.CHROMA_FRAGMENT
        return {
            name: self._gl.program(
                shaders.with_constants(vertex, constants, flags),
                shaders.with_constants(fragment, constants, flags),
            )
            for name, (vertex, fragment) in sources.items()
        }

    def _connect(self) -> dict[str, moderngl.VertexArray]:
        """Connect each shader with what it draws."""
        corners = {"tiles": self._floor, "marks": self._floor, "shade": self._floor}
        arrays = {}
        for name, program in self._programs.items():
            if name in ("solid", "caster"):
                meshes = self._meshes if name == "solid" else self._casters
                arrays[name] = connect_meshes(self._gl, program, meshes)
            else:
                arrays[name] = self._gl.vertex_array(
                    program, [(corners.get(name, self._square), "2f", "corner")]
                )
        return arrays

    def _set_view(self, light: Array) -> None:
        """Set what the camera, the light and the space of colours determine."""
        clip = np.diag([1.0, -1.0, 1.0, 1.0]) @ self._view.clip
        white = self._space @ np.ones(3)
        values = {
            "light": light.tolist(),
            "eye": self._view.eye.tolist(),
            "base": self._base.tolist(),
            "white": white.tolist(),
            "opacity": 1.0,
            # From below, the floor is not there.
            "above_floor": float(self._view.eye[2] > 0.0),
            "middle": floor_middle(self._content.camera.target_m[:2]),
            "shadow": _SHADOW,
            "ghost_shadow": _GHOST_SHADOW,
            "picture": _PICTURE,
        }
        for name, program in self._programs.items():
            for key, value in values.items():
                if key in program:
                    program[key] = value
            if "clip" in program and name != "caster":
                _write(program, "clip", _column_major(clip))
            if "space" in program:
                _write(program, "space", _column_major(self._space))
        tones = np.array([SUPPORT, COG, ZMP]) / 255.0 @ self._space.T + self._base
        _write(self._programs["marks"], "tones", tones.astype(np.float32).tobytes())

    def _make_targets(self) -> _Targets:
        """Make the drawing surfaces."""
        context, (width, height) = self._gl, self._size
        picture = context.texture(self._size, 4)
        picture.repeat_x = picture.repeat_y = False
        picture.use(_PICTURE)
        depths = context.depth_renderbuffer(self._size)
        front, depth = context.framebuffer([picture], depths), context.framebuffer(depth_attachment=depths)
        luma = chroma = None
        if self._content.video:
            luma = context.framebuffer(
                [context.texture(self._size, 1)], context.depth_renderbuffer(self._size)
            )
            chroma = context.framebuffer([context.texture((width // 2, height // 2), 2)])
        maps = []
        if self._content.shadows:
            for unit in (_SHADOW, _GHOST_SHADOW)[: 2 if self._content.ghosts else 1]:
                shadow = context.depth_texture((SHADOW_PIXELS, SHADOW_PIXELS))
                shadow.compare_func, shadow.repeat_x, shadow.repeat_y = "<=", False, False
                shadow.filter = moderngl.LINEAR, moderngl.LINEAR
                shadow.use(unit)
                maps.append(context.framebuffer(depth_attachment=shadow))
        return _Targets(front, depth, picture, luma, chroma, tuple(maps))

    def _draw_background(self) -> NDArray[np.uint8]:
        """Draw the floor and what is beyond it; return colours (height, width, 4)."""
        context, target = self._gl, self._targets.front
        sky = self._base + BACKGROUND / 255.0 * self._space @ np.ones(3)
        context.enable_only(moderngl.NOTHING)
        target.use()
        red, green, blue = sky.tolist()
        target.clear(red, green, blue, 1.0)
        if self._view.eye[2] > 0.0:
            middle = np.array(floor_middle(self._content.camera.target_m[:2]))
            corners = middle + HORIZON_HALF * (2.0 * _SQUARE - 1.0)
            self._floor.write(corners.astype(np.float32).tobytes())
            self._arrays["tiles"].render(moderngl.TRIANGLE_STRIP)
        width, height = self._size
        return np.frombuffer(target.read(components=4), np.uint8).reshape(height, width, 4)

    def _draw_marks(self, marks: Marks) -> None:
        """Draw COG, ZMP and support polygon: fully where the floor is seen, faintly where it is hidden."""
        program, context = self._programs["marks"], self._gl
        self._floor.write(marks.floor.astype(np.float32).tobytes())
        polygon = np.zeros((MOST_CORNERS, 2), np.float32)
        count = min(len(marks.polygon), MOST_CORNERS)
        pixels = to_pixels(self._view, np.column_stack([marks.polygon, np.zeros(len(marks.polygon))]))
        polygon[:count] = pixels[:count]
        _write(program, "polygon", polygon.tobytes())
        program["corners"] = count
        _write(program, "points", marks.points.astype(np.float32).tobytes())
        context.blend_func = moderngl.ONE, moderngl.ONE_MINUS_SRC_ALPHA
        for order, strength in (("<=", 1.0), (">", HIDDEN)):
            context.depth_func, program["strength"] = order, strength
            self._arrays["marks"].render(moderngl.TRIANGLE_STRIP)

    def _draw_ghosts(self, region: Rectangle, shown: list[bool]) -> None:
        """Draw the nearest surface of half transparent bodies over what is there."""
        context, target, program = self._gl, self._targets.front, self._programs["solid"]
        context.enable_only(moderngl.DEPTH_TEST | moderngl.CULL_FACE)
        context.depth_func = "<"
        self._targets.depth.use()
        self._targets.depth.scissor = region.viewport
        draw_bodies(self._arrays["solid"], self._meshes, shown)
        self._targets.depth.scissor = 0, 0, *self._size
        target.use()
        context.enable_only(moderngl.DEPTH_TEST | moderngl.CULL_FACE | moderngl.BLEND)
        context.depth_func = "=="
        context.blend_func = moderngl.SRC_ALPHA, moderngl.ONE_MINUS_SRC_ALPHA
        program["opacity"] = GHOST_OPACITY
        draw_bodies(self._arrays["solid"], self._meshes, shown)
        program["opacity"] = 1.0


def _write(program: moderngl.Program, name: str, data: bytes) -> None:
    """Set a matrix or an array of a shader."""
    uniform: Any = program[name]
    uniform.write(data)


def _column_major(matrix: Array) -> bytes:
    """Write a matrix as OpenGL takes it."""
    return np.ascontiguousarray(matrix.T, dtype=np.float32).tobytes()
