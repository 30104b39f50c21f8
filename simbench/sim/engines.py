"""The choice of the physics engine: the only module that knows where an engine is."""

from importlib import import_module
from typing import cast

from simbench.sim.engine import Engine

ENGINES = {"bullet": "simbench.sim.bullet", "mujoco": "simbench.sim.mujoco"}
"""Module of each engine. A new engine is one folder that implements `Engine`, and one line here."""


def open_engine(name: str = "bullet") -> Engine:
    """Load a physics engine.

    Parameters
    ----------
    name : str
        One of `ENGINES`.

    Returns
    -------
    Engine
        Functions of the engine's module.
    """
    return cast(Engine, import_module(ENGINES[name]))
