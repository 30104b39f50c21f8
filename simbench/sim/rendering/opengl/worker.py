"""Process that draws by OpenGL. It imports little, so that it can begin soon.

The graphics library may print or end the process, and neither must affect the caller.
"""

import sys
from collections.abc import Iterator
from typing import Any

import numpy as np

from simbench.sim.rendering.frame_ring import run_jobs
from simbench.sim.rendering.opengl.content import Content, record_type
from simbench.sim.rendering.opengl.painter import open_opengl, paint_frames
from simbench.system.restricted_pickle import load_pickle


def main() -> None:
    """Draw the frames of jobs.

    The arguments are file descriptors: of the pictures, of the status, and two of each job: a pickled
    `Content`, and the records of its frames.
    """
    output, status, *inputs = (int(argument) for argument in sys.argv[1:])
    jobs = list(zip(inputs[::2], inputs[1::2], strict=True))
    run_jobs(len(jobs), lambda number: _draw(*jobs[number]), output, status)


def _draw(what: int, frames: int) -> Iterator[Any]:
    """Draw the frames of a job; yield None when the graphics library is ready."""
    with open(what, "rb", closefd=False) as stream:
        content = load_pickle(stream)
    with open(frames, "rb", closefd=False) as stream, open_opengl() as context:
        yield from paint_frames(context, content, _records(stream, content))


def _records(stream: Any, content: Content) -> Iterator[np.void]:
    """Read the records of frames, until the input ends."""
    kind = record_type(len(content.solids))
    while len(data := stream.read(kind.itemsize)) == kind.itemsize:
        yield np.frombuffer(data, kind)[0]


if __name__ == "__main__":
    main()
