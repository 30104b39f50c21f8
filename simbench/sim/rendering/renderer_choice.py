"""The renderer that draws pictures on this machine."""

from simbench.sim.engines import open_engine

Renderer = str
"""Name of one of the engine's renderers, as it appears in outputs."""


def choose_renderer() -> Renderer:
    """Find the best of the engine's renderers that works on this machine.

    Returns
    -------
    str
        Name of the renderer.
    """
    return open_engine().choose_renderer()
