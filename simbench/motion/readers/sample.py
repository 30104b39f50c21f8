"""Reader of the sample recordings that ship with simbench: `sample:walk`, `sample:walk.bvh`."""

from pathlib import Path

from simbench.errors import MotionError
from simbench.motion.shipped import list_sample_recordings


def find_sample_recording(name: str) -> Path:
    """Find the file of a sample recording. `name`: file name, such as `walk.bvh`, or its stem, `walk`."""
    files = list_sample_recordings()
    for path in files:
        if name in (path.name, path.stem):
            return path
    known = ", ".join(path.name for path in files) or "none: the folder is missing"
    raise MotionError(f"sample:{name}: unknown sample recording; known: {known}")
