"""What the process that simulates and the one that serves the scene say to each other."""

from typing import Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from simbench.sim.rendering.opengl.content import Solid
from simbench.sim.rendering.scene_view import Camera


class SceneMessage(NamedTuple):
    """The bodies of a scene, at the beginning."""

    title: str  # Name of the run.
    host: str  # Address to listen on.
    port: int  # First port to try.
    solids: tuple[Solid, ...]  # Surface of each body.
    camera: Camera  # Where the scene is seen from at first.
    duration: float  # Time that the run is to last, s.


class FramesMessage(NamedTuple):
    """Frames that have been simulated since the last message."""

    times: NDArray[np.float64]  # (F,): time of each frame, s.
    records: NDArray[np.void]  # (F,) of `record_type`: poses of all bodies, COG, ZMP and support polygon.


class EndMessage(NamedTuple):
    """The run has ended."""

    words: str  # What came of it, in one line.
    wait: bool  # Whether to go on for a browser that has not come yet.


class Status(NamedTuple):
    """What the serving process says, as a line of its output."""

    kind: Literal["ready", "failed"]  # Whether the scene is served, or cannot be.
    words: str  # Its address, or the reason.
