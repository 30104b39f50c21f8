"""Which of Bullet's renderers works here."""

import functools
import importlib.util
import subprocess
import sys

_PROBE = """
import sys, pybullet as bullet
client = bullet.connect(bullet.DIRECT)
plugin = bullet.loadPlugin(sys.argv[1], "_eglRendererPlugin", physicsClientId=client)
matrix = [1.0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1]
width = bullet.getCameraImage(16, 16, matrix, matrix, physicsClientId=client)[0]
sys.exit(0 if plugin >= 0 and width == 16 else 1)
"""


@functools.cache
def choose_renderer() -> str:
    """Choose EGL where it works, TinyRenderer elsewhere.

    The plugin ends the whole process where there is no EGL library or display, so a process of its own tries.
    Returns name of the renderer.
    """
    plugin = egl_plugin()
    if plugin is None:
        return "TinyRenderer"
    try:
        probe = subprocess.run(
            [sys.executable, "-c", _PROBE, plugin], capture_output=True, timeout=60.0, check=False
        )
    except subprocess.TimeoutExpired:
        return "TinyRenderer"
    return "EGL" if probe.returncode == 0 else "TinyRenderer"


def egl_plugin() -> str | None:
    """Find the EGL plugin, which not every wheel has. Returns path of the plugin."""
    spec = importlib.util.find_spec("eglRenderer")
    return None if spec is None else spec.origin
