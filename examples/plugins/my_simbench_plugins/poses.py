"""A reader: a text file with a line for each frame and marker, `time name x y z`, in millimetres, z up.

And a marker map: the path of its YAML file, here the one that ships with simbench for such names.
"""

from pathlib import Path

import numpy as np

from simbench.errors import MotionError
from simbench.motion.read_options import ReadOptions
from simbench.motion.recordings import MarkerRecording
from simbench.resources import resource_dir

MARKER_MAP = resource_dir("marker_maps") / "anatomical.yaml"


def read_poses(path: Path, options: ReadOptions) -> MarkerRecording:
    """Read the file; what it lacks is told with its line."""
    tracks: dict[str, dict[float, list[float]]] = {}
    for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
        words = line.split()
        try:
            time, name, *place = words
            tracks.setdefault(name, {})[float(time)] = [1e-3 * float(word) for word in place]
            assert len(place) == 3
        except (ValueError, AssertionError):
            raise MotionError(f"{path}:{number}: {line[:40]!r}; allowed: time name x y z") from None
    times = sorted({time for track in tracks.values() for time in track})
    missing = [np.nan] * 3
    positions = np.array([[track.get(time, missing) for track in tracks.values()] for time in times])
    time = np.array(times) - times[0]
    return MarkerRecording(time, tuple(tracks), positions, str(path), up="z", unit="mm")
