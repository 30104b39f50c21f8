"""The renderer that draws pictures on this machine."""

import importlib.util

from simbench.sim.engines import open_picture_engine

Renderer = str
"""Name of a renderer, as it appears in outputs."""
OPENGL = "OpenGL"
"""Our own renderer; the others are the physics engine's."""
OPENGL_WORKER = "simbench.sim.rendering.opengl.worker"
"""Module of the processes that draw by our own renderer."""


class RendererUnavailableError(Exception):
    """A renderer that does not work on this machine, with the reason."""


class UndrawableShapeError(Exception):
    """A shape that our own renderer cannot draw, with the reason."""


def choose_renderer() -> Renderer:
    """Choose the renderer to try first: our own where its library is installed, else the engine's best.

    Returns name of the renderer.
    """
    if importlib.util.find_spec("moderngl") is None:
        return choose_engine_renderer()
    return OPENGL


def choose_engine_renderer() -> Renderer:
    """Find the best of the engine's renderers that works on this machine. Returns name of the renderer."""
    return open_picture_engine("drawing without OpenGL").choose_renderer()
