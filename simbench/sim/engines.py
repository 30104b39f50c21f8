"""The choice of the physics engine: the only module that knows where an engine is."""

from importlib import import_module
from importlib.util import find_spec
from typing import NamedTuple, cast

from simbench.errors import RunError
from simbench.sim.engine import Engine, PictureEngine


class EngineLibrary(NamedTuple):
    """Where an engine is, and what it needs."""

    module: str  # Module whose functions implement `Engine`.
    library: str  # Library that has to be installed, as it is imported.
    title: str  # Its name.
    install: str


BULLET, MUJOCO = "bullet", "mujoco"
ENGINES = {
    BULLET: EngineLibrary(
        "simbench.sim.bullet",
        "pybullet",
        "PyBullet",
        'pip install pybullet (pybullet-arm64 from Python 3.12 on), or in a clone pip install -e ".[bullet]"',
    ),
    MUJOCO: EngineLibrary(
        "simbench.sim.mujoco",
        "mujoco",
        "MuJoCo",
        'pip install mujoco, or in a clone pip install -e ".[mujoco]"',
    ),
}
"""Every engine by its name. A new one is a folder that implements `Engine`, and an entry here."""


def is_installed(name: str) -> bool:
    """Tell whether the library of a physics engine is installed. Returns true if worlds can be opened."""
    return find_spec(ENGINES[name].library) is not None


def usual_engine() -> str:
    """Choose the engine of a simulation for which nobody names one.

    Returns Bullet where it is installed, or nothing is; else MuJoCo.
    """
    return MUJOCO if is_installed(MUJOCO) and not is_installed(BULLET) else BULLET


def open_engine(name: str | None = None) -> Engine:
    """Load a physics engine.

    `name`: one of `ENGINES`; by default the usual one. Returns functions of the engine's module.
    """
    name = usual_engine() if name is None else name
    if not is_installed(name):
        others = [other for other in ENGINES if other != name and is_installed(other)]
        instead = f"; or choose --engine {others[0]}" if others else ""
        _, _, title, install = ENGINES[name]
        raise RunError(f"simulation.engine: {name} needs {title}, which is not installed: {install}{instead}")
    return cast(Engine, import_module(ENGINES[name].module))


def open_picture_engine(purpose: str) -> PictureEngine:
    """Load the engine that draws pictures where our own renderer cannot, and that has a window.

    `purpose`: what it is for, for the message: `simbench replay`. Returns functions of the engine's module,
    whatever engine simulates.
    """
    if not is_installed(BULLET):
        _, _, title, install = ENGINES[BULLET]
        raise RunError(f"{purpose} needs {title}, which is not installed: {install}")
    return cast(PictureEngine, import_module(ENGINES[BULLET].module))
