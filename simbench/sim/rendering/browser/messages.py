"""What the process that simulates and the one that serves the scene say to each other."""

from typing import Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from simbench.sim.rendering.opengl.content import Solid
from simbench.sim.rendering.scene_view import Camera


class SceneMessage(NamedTuple):
    """The bodies of a scene, at the beginning.

    Parameters
    ----------
    title : str
        Name of the run.
    host : str
        Address to listen on.
    port : int
        First port to try.
    solids : tuple of Solid
        Surface of each body.
    camera : Camera
        Where the scene is seen from at first.
    duration : float
        Time that the run is to last, s.
    """

    title: str
    host: str
    port: int
    solids: tuple[Solid, ...]
    camera: Camera
    duration: float


class FramesMessage(NamedTuple):
    """Frames that have been simulated since the last message.

    Parameters
    ----------
    times : (F,) array
        Time of each frame, s.
    records : (F,) array of `record_type`
        Poses of all bodies, COG, ZMP and support polygon.
    """

    times: NDArray[np.float64]
    records: NDArray[np.void]


class EndMessage(NamedTuple):
    """The run has ended.

    Parameters
    ----------
    words : str
        What came of it, in one line.
    wait : bool
        Whether to go on for a browser that has not come yet.
    """

    words: str
    wait: bool


class Status(NamedTuple):
    """What the serving process says, as a line of its output.

    Parameters
    ----------
    kind : {"ready", "failed"}
        Whether the scene is served, or cannot be.
    words : str
        Its address, or the reason.
    """

    kind: Literal["ready", "failed"]
    words: str
