"""The passes of a frame, in OpenGL. Rows are counted from the top, as in the pictures.

The shaders write colours in the space of the picture: RGB, or luma and chroma of a video. Light is added and
multiplied in linear light, and encoded by the exponent 1 / GAMMA. Either space is affine in encoded colours:
`base` is black and `base + white` is white. A power of a product is the product of the powers: so the shadow
on the floor is a factor in either space, and a video needs no pass that converts it.
"""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import moderngl
import numpy as np
from numpy.typing import NDArray

from simbench.kinematics.arrays import Array
from simbench.sim.rendering import scene_view as look
from simbench.sim.rendering.regions import SEARCH, LightWindow, Marks, Rectangle, View, to_pixels
from simbench.sim.rendering.scene_view import MOST_CORNERS, Content, Solid

GROUP = 256  # Number of bodies whose poses are in one block of uniforms: OpenGL guarantees 16 KiB.
_POSE_BYTES = 48
_SHADERS = Path(__file__).with_name("shaders")


_VERTEX = np.dtype(
    [
        ("position", np.float32, 3),
        ("normal", np.int8, 3),
        ("_", np.int8),
        ("colour", np.uint8, 3),
        ("__", np.uint8),
        ("body", np.int32),
    ]
)


class Meshes:
    """All bodies in the graphics library's memory.

    `solids`: surface of each body; `poses`: buffer of the poses of all bodies, first three rows of each
    body's transformation to the world.
    """

    def __init__(self, context: moderngl.Context, solids: Sequence[Solid], poses: moderngl.Buffer) -> None:
        starts = np.cumsum([0, *(len(solid.points) for solid in solids)])
        vertices = np.zeros(starts[-1], _VERTEX)
        for number, solid in enumerate(solids):
            part = vertices[starts[number] : starts[number + 1]]
            part["position"], part["colour"], part["body"] = solid.points, solid.colours, number
            part["normal"] = np.rint(127.0 * solid.normals)
        triangles = [solid.triangles + start for solid, start in zip(solids, starts, strict=False)]
        # First index of each body, and the number of all.
        self._first = np.cumsum([0, *(3 * len(each) for each in triangles)]).tolist()
        self._context, self._poses = context, poses
        self._vertices = context.buffer(vertices.tobytes())
        self._indices = context.buffer(np.concatenate(triangles).astype(np.int32).tobytes())

    def connect(self, program: moderngl.Program) -> moderngl.VertexArray:
        """Connect bodies to a shader, with the inputs `position`, `body` and perhaps `normal`, `colour`."""
        layout: tuple[Any, ...] = ("3f 3i1 1x1 3f1 1x1 1i", "position", "normal", "colour", "body")
        if "normal" not in program:
            layout = ("3f 8x1 1i", "position", "body")
        return self._context.vertex_array(program, [(self._vertices, *layout)], self._indices)

    def draw(self, array: moderngl.VertexArray, shown: Sequence[bool]) -> None:
        """Draw bodies with the poses in their buffer. `array`: from `connect`."""
        count = len(shown)
        for group in range(0, count, GROUP):
            self._poses.bind_to_uniform_block(0, offset=group * _POSE_BYTES, size=GROUP * _POSE_BYTES)
            array.program["first_body"] = group
            body, last = group, min(group + GROUP, count)
            while body < last:
                end = body
                while end < last and shown[end]:
                    end += 1
                if end > body:
                    start = self._first[body]
                    array.render(vertices=self._first[end] - start, first=start)
                body = end + 1


def box_corners(solids: Sequence[Solid]) -> Array:
    """Compute the bounding boxes of bodies.

    `solids`: surface of each body. Returns (B, 8, 3): corners in each body's frame, m.
    """
    bounds = np.array([[solid.points.min(axis=0), solid.points.max(axis=0)] for solid in solids], dtype=float)
    signs = np.array([(i, j, k) for i in (0, 1) for j in (0, 1) for k in (0, 1)])
    return bounds[:, signs, np.arange(3)]


# Rec. 601 in studio range: what a player assumes that is told nothing else.
LUMA_CHROMA = (
    np.array([[65.481, 128.553, 24.966], [-37.797, -74.203, 112.0], [112.0, -93.786, -18.214]]) / 255.0
)
BLACK = np.array([16.0, 128.0, 128.0]) / 255.0

GHOST_OPACITY = 0.5
SAMPLES = 4  # Number of samples of each pixel of a video (multisample anti-aliasing).
SHADOW_PIXELS = 640  # Width and height of the shadow map.

_CONSTANTS: dict[str, float] = {
    "BODIES": GROUP,
    "GAMMA": 2.2,
    "SKY": 0.44,
    "GROUND": 0.16,
    "FILL_LIGHT": 0.12,
    "KEY": 0.70,
    "HIGHLIGHT": 0.10,
    "UMBRA": 0.42,
    "SHADOW_PIXELS": float(SHADOW_PIXELS),
    "SEARCH_SAMPLES": 8,
    "SHADE_SAMPLES": 16,
    "TILE": look.TILE,
    "JOINT": 0.0065,
    "FADED": look.TEXTURE_HALF,
    "PLAIN": look.PLAIN,
    "BACKGROUND": look.BACKGROUND / 255.0,
    "FILL": look.FILL / 255.0,
    "DISC_RADIUS": look.DISC_RADIUS,
    "CORNERS": MOST_CORNERS,
    "SEARCH": SEARCH,
}
_SHADOW, _GHOST_SHADOW, _PICTURE, _SHADOW_DEPTH, _GHOST_DEPTH, _BACKDROP = 0, 1, 2, 3, 4, 5  # Texture units.
_TO_TEXTURE = np.array([[0.5, 0, 0, 0.5], [0, 0.5, 0, 0.5], [0, 0, 0.5, 0.5], [0, 0, 0, 1]])
_SQUARE = np.array([(0, 0), (1, 0), (0, 1), (1, 1)], dtype=np.float32)


class Canvas:
    """Draws the bodies of a drawing process.

    `context`: openGL; `content`: what stays the same in all frames; `view`: the camera, with the size of the
    drawing surface; `light` (3,): unit vector to the light; `scale`: ratio of the drawing surface's size to
    the picture's.
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
        self._poses = context.buffer(reserve=-(-count // GROUP) * GROUP * _POSE_BYTES)
        self._meshes = Meshes(context, content.solids, self._poses)
        self._casters = Meshes(context, content.casters, self._poses) if content.shadows else self._meshes
        self._square = context.buffer(_SQUARE.tobytes())
        self._floor = context.buffer(reserve=_SQUARE.nbytes)
        self._scale = scale
        # Whether edges are smoothed in the picture: a preview has one sample a pixel.
        self.smooths_edges = content.video and not content.shadows
        self._samples = SAMPLES if content.video and content.shadows else 0
        self._programs = self._compile()
        corners = {"tiles": self._floor, "marks": self._floor, "shade": self._floor}
        self._arrays: dict[str, moderngl.VertexArray] = {}  # What draws by each shader.
        for name, program in self._programs.items():
            if name in ("solid", "caster"):
                meshes = self._meshes if name == "solid" else self._casters
                self._arrays[name] = meshes.connect(program)
            else:
                source = corners.get(name, self._square)
                self._arrays[name] = context.vertex_array(program, [(source, "2f", "corner")])
        self._set_light(light)
        self._make_targets()
        self._has_background = False
        self.set_view(view, content.camera.target_m)
        self._front.use()
        self._draw_floor()
        width, height = self._size
        self._resolve(Rectangle(0, 0, width, height))
        drawn = self._resolved.read(components=4)
        # The floor and what is beyond it: colours (height, width, 4).
        self.background = np.frombuffer(drawn, np.uint8).reshape(height, width, 4)
        self._has_background = True
        if self._samples:
            backdrop = context.texture(self._size, 4, self.background.tobytes())
            backdrop.use(_BACKDROP)
            self._backdrop = backdrop

    def set_view(self, view: View, target: Sequence[float]) -> None:
        """Move the camera; the floor is then drawn anew in every frame.

        `view`: the camera, with the same size of the drawing surface; `target`: point that it looks at, world
        frame, m.
        """
        self._view, self._has_background = view, False
        clip = _column_major(np.diag([1.0, -1.0, 1.0, 1.0]) @ view.clip)
        # The point around which tiles are seen: it follows a camera that moves without a step.
        middle = float(target[0]), float(target[1])
        if tuple(target) == tuple(self._content.camera.target_m):
            middle = look.floor_middle(target[:2])
        values = {
            "eye": view.eye.tolist(),
            # From below, the floor is not there.
            "above_floor": float(view.eye[2] > 0.0),
            "middle": middle,
        }
        for name, program in self._programs.items():
            for key, value in values.items():
                if key in program:
                    program[key] = value
            if "clip" in program and name != "caster":
                _write(program, "clip", clip)
        self._horizon = (
            (np.array(middle) + look.HORIZON_HALF * (2.0 * _SQUARE - 1.0)).astype(np.float32).tobytes()
        )

    def set_poses(self, poses: NDArray[np.float32], window: LightWindow, casting: NDArray[np.bool_]) -> None:
        """Take the poses of all bodies, and draw what the light sees.

        `poses` (B, 3, 4): first three rows of each body's transformation to the world; `window`: the light's
        view of them; `casting` (B,) of bool: bodies whose shadows may be seen.
        """
        self._poses.write(np.ascontiguousarray(poses).tobytes())
        if not self._content.shadows:
            return
        to_texture = _column_major(_TO_TEXTURE @ window.clip)
        for name in ("solid", "shade"):
            _write(self._programs[name], "to_light", to_texture)
        self._programs["solid"]["offset"] = window.offset
        self._programs["shade"]["softness"] = window.softness
        _write(self._programs["caster"], "clip", _column_major(window.clip))
        self._gl.enable_only(moderngl.DEPTH_TEST | moderngl.CULL_FACE)
        self._gl.front_face, self._gl.depth_func = "ccw", "<"
        for target, shown in zip(self._shadows, (self._figures, self._ghosts), strict=False):
            target.use()
            target.clear(depth=1.0)
            self._casters.draw(self._arrays["caster"], (casting & shown).tolist())

    def draw_front(
        self, region: Rectangle, visible: NDArray[np.bool_], window: LightWindow, marks: Marks | None
    ) -> None:
        """Draw the picture within a rectangle.

        `visible` (B,) of bool: bodies that may be in it; `window`: the light's view; `marks`: COG, ZMP and
        support polygon.
        """
        context, target = self._gl, self._front
        rows, columns = slice(region.top, region.bottom), slice(region.left, region.right)
        if self._has_background and not self._samples:
            part = self.background[rows, columns]
            self._picture.write(part.tobytes(), viewport=region.viewport)
        # A mask that was set back takes effect when the surface is used again: else nothing is cleared.
        self._depth.use()
        self._depth.clear(depth=1.0)
        target.use()
        target.scissor = region.viewport
        if not self._has_background:
            self._draw_floor()
        elif self._samples:
            context.enable_only(moderngl.NOTHING)
            target.depth_mask = False
            self._arrays["backdrop"].render(moderngl.TRIANGLE_STRIP)
            target.depth_mask = True
            target.use()
        context.enable_only(moderngl.DEPTH_TEST | moderngl.CULL_FACE)
        context.front_face, context.depth_func = "cw", "<"
        shown = (visible & self._figures).tolist()
        self._meshes.draw(self._arrays["solid"], shown)
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
        self._resolve(region)

    def _resolve(self, region: Rectangle) -> None:
        """Average the samples of each pixel of a rectangle."""
        if self._samples:
            resolved = self._resolved
            resolved.scissor = region.viewport
            resolved.use()
            self._gl.copy_framebuffer(resolved, self._front)

    def read_rgb(self, region: Rectangle) -> NDArray[np.uint8]:
        """Read a rectangle of the picture. Returns (height, width, 3) of uint8: red, green and blue."""
        _, _, width, height = region.viewport
        data = self._front.read(viewport=region.viewport, components=3, alignment=1)
        return np.frombuffer(data, np.uint8).reshape(height, width, 3)

    def read_planes(self, region: Rectangle) -> tuple[NDArray[np.uint8], NDArray[np.uint8]]:
        """Smooth the edges in a rectangle of the picture of a video, and read it.

        `region`: what to read; its edges are even. Returns `luma` (height, width) of uint8: studio range;
        `chroma` (height / 2, width / 2, 2) of uint8: blue and red difference, 128 for grey.
        """
        luma, chroma, context = self._luma, self._chroma, self._gl
        assert luma is not None
        assert chroma is not None
        left, top, width, height = region.viewport
        half = left // 2, top // 2, width // 2, height // 2
        luma.use()
        luma.scissor = region.viewport
        if self.smooths_edges:
            context.enable_only(moderngl.DEPTH_TEST)
            context.depth_func = "1"
            self._arrays["edges"].render(moderngl.TRIANGLE_STRIP)
            context.depth_func, luma.depth_mask = "<", False
            self._arrays["smooth"].render(moderngl.TRIANGLE_STRIP)
            luma.depth_mask = True
            luma.use()
        else:
            context.enable_only(moderngl.NOTHING)
            self._arrays["luma"].render(moderngl.TRIANGLE_STRIP)
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

    def _compile(self) -> dict[str, moderngl.Program]:
        """Compile the shaders that are needed: each a fragment shader of its name, with a vertex shader."""
        vertices = {"solid": "solid", "tiles": "floor", "marks": "floor"}
        flags: list[str] = []
        if self._content.shadows:
            flags = ["SHADOWS", "GHOSTS"] if self._content.ghosts else ["SHADOWS"]
            vertices |= {"caster": "caster", "shade": "floor"}
        if self._content.video:
            smoothing = ("edges", "smooth") if self.smooths_edges else ("luma", "backdrop")
            vertices |= dict.fromkeys(("chroma", *smoothing), "square")
        constants = {**_CONSTANTS, "LINE_WIDTH": look.LINE_WIDTH * self._scale}
        lines = [f"#define {name} {value!r}" for name, value in constants.items()]
        lines += [f"#define {name}" for name in flags]

        def source(*names: str) -> str:
            text = "".join((_SHADERS / f"{name}.glsl").read_text(encoding="utf-8") for name in names)
            version, _, rest = text.partition("\n")
            return "\n".join([version, *lines, rest])

        return {
            name: self._gl.program(
                source(*(["bodies"] if name in ("solid", "caster") else []), f"{vertex}_vertex"),
                source(f"{name}_fragment"),
            )
            for name, vertex in vertices.items()
        }

    def _set_light(self, light: Array) -> None:
        """Set what the light and the space of colours determine."""
        white = self._space @ np.ones(3)
        values = {
            "light": light.tolist(),
            "base": self._base.tolist(),
            "white": white.tolist(),
            "opacity": 1.0,
            "shadow": _SHADOW,
            "ghost_shadow": _GHOST_SHADOW,
            "backdrop": _BACKDROP,
            "shadow_depth": _SHADOW_DEPTH,
            "ghost_depth": _GHOST_DEPTH,
            "picture": _PICTURE,
        }
        for program in self._programs.values():
            for key, value in values.items():
                if key in program:
                    program[key] = value
            if "space" in program:
                _write(program, "space", _column_major(self._space))
        tones = np.array([look.SUPPORT, look.COG, look.ZMP]) / 255.0 @ self._space.T + self._base
        _write(self._programs["marks"], "tones", tones.astype(np.float32).tobytes())

    def _make_targets(self) -> None:
        """Make the drawing surfaces.

        Several samples of each pixel, their mean, their depth alone, the picture, the planes of a video's
        frame, and the shadow maps.
        """
        context, (width, height) = self._gl, self._size
        picture = context.texture(self._size, 4)
        picture.repeat_x = picture.repeat_y = False
        picture.use(_PICTURE)
        resolved = context.framebuffer([picture])
        depths = context.depth_renderbuffer(self._size, samples=self._samples)
        drawn = context.renderbuffer(self._size, 4, samples=self._samples) if self._samples else picture
        front, depth = context.framebuffer([drawn], depths), context.framebuffer(depth_attachment=depths)
        luma = chroma = None
        if self._content.video:
            luma = context.framebuffer(
                [context.texture(self._size, 1)], context.depth_renderbuffer(self._size)
            )
            chroma = context.framebuffer([context.texture((width // 2, height // 2), 2)])
        maps = []
        if self._content.shadows:
            units = ((_SHADOW, _SHADOW_DEPTH), (_GHOST_SHADOW, _GHOST_DEPTH))
            # Depths themselves, where the texture gives the result of comparing with them.
            plain = context.sampler(
                repeat_x=False, repeat_y=False, filter=(moderngl.NEAREST, moderngl.NEAREST), compare_func=""
            )
            for unit, depth_unit in units[: 2 if self._content.ghosts else 1]:
                shadow = context.depth_texture((SHADOW_PIXELS, SHADOW_PIXELS))
                shadow.compare_func, shadow.repeat_x, shadow.repeat_y = "<=", False, False
                shadow.filter = moderngl.LINEAR, moderngl.LINEAR
                shadow.use(unit)
                shadow.use(depth_unit)
                plain.use(depth_unit)
                maps.append(context.framebuffer(depth_attachment=shadow))
        self._front, self._resolved, self._depth, self._picture = front, resolved, depth, picture
        self._luma, self._chroma, self._shadows = luma, chroma, maps

    def _draw_floor(self) -> None:
        """Draw the floor and what is beyond it within the scissor's rectangle; depths stay as they are."""
        sky = self._base + look.BACKGROUND / 255.0 * self._space @ np.ones(3)
        self._gl.enable_only(moderngl.NOTHING)
        red, green, blue = sky.tolist()
        front = self._front
        front.depth_mask = False
        front.use()
        front.clear(red, green, blue, 1.0)
        if self._view.eye[2] > 0.0:
            self._floor.write(self._horizon)
            self._arrays["tiles"].render(moderngl.TRIANGLE_STRIP)
        front.depth_mask = True
        front.use()

    def _draw_marks(self, marks: Marks) -> None:
        """Draw COG, ZMP and support polygon: fully where the floor is seen, faintly where it is hidden."""
        program, context = self._programs["marks"], self._gl
        points, vertices, floor, _ = marks
        self._floor.write(floor.astype(np.float32).tobytes())
        polygon = np.zeros((MOST_CORNERS, 2), np.float32)
        count = min(len(vertices), MOST_CORNERS)
        pixels = to_pixels(self._view, np.column_stack([vertices, np.zeros(len(vertices))]))
        polygon[:count] = pixels[:count]
        _write(program, "polygon", polygon.tobytes())
        program["corners"] = count
        _write(program, "points", points.astype(np.float32).tobytes())
        context.blend_func = moderngl.ONE, moderngl.ONE_MINUS_SRC_ALPHA
        for order, strength in (("<=", 1.0), (">", look.HIDDEN)):
            context.depth_func, program["strength"] = order, strength
            self._arrays["marks"].render(moderngl.TRIANGLE_STRIP)

    def _draw_ghosts(self, region: Rectangle, shown: list[bool]) -> None:
        """Draw the nearest surface of half transparent bodies over what is there."""
        context, target, program = self._gl, self._front, self._programs["solid"]
        context.enable_only(moderngl.DEPTH_TEST | moderngl.CULL_FACE)
        context.depth_func = "<"
        self._depth.use()
        self._depth.scissor = region.viewport
        self._meshes.draw(self._arrays["solid"], shown)
        self._depth.scissor = 0, 0, *self._size
        target.use()
        context.enable_only(moderngl.DEPTH_TEST | moderngl.CULL_FACE | moderngl.BLEND)
        context.depth_func = "=="
        context.blend_func = moderngl.SRC_ALPHA, moderngl.ONE_MINUS_SRC_ALPHA
        program["opacity"] = GHOST_OPACITY
        self._meshes.draw(self._arrays["solid"], shown)
        program["opacity"] = 1.0


def _write(program: moderngl.Program, name: str, data: bytes) -> None:
    """Set a matrix or an array of a shader."""
    uniform: Any = program[name]
    uniform.write(data)


def _column_major(matrix: Array) -> bytes:
    """Write a matrix as OpenGL takes it."""
    return np.ascontiguousarray(matrix.T, dtype=np.float32).tobytes()
