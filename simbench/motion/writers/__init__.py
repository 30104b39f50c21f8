"""Writers of recordings as files that other programs open: one module for each format, and a registry.

A new format needs one module with a function of a motion and a path, and one line below.
"""

from collections.abc import Callable
from pathlib import Path

from simbench.errors import MotionError
from simbench.files.storage import whole_file
from simbench.motion.human_motion import HumanMotion
from simbench.motion.writers.bvh import write_bvh
from simbench.motion.writers.c3d import write_c3d
from simbench.motion.writers.csv import write_motion_csv
from simbench.motion.writers.netcdf import write_netcdf

SUFFIXES: dict[str, Callable[[HumanMotion, Path], None]] = {
    ".bvh": write_bvh,
    ".c3d": write_c3d,
    ".csv": write_motion_csv,
    ".nc": write_netcdf,
}


def write_motion(motion: HumanMotion, path: str | Path) -> None:
    """Write a recording in the format that the path's suffix names.

    The file appears under its name only when it is complete: the function of a format writes to a temporary
    name. `path`: file to write; the suffix of its name chooses the format.
    """
    path = Path(path)
    suffix = path.suffix.lower()
    if suffix not in SUFFIXES:
        raise MotionError(
            f"{path}: no writer for {suffix or 'a name without suffix'}; "
            f"give a name ending in {', '.join(SUFFIXES)}"
        )
    try:
        # Some libraries choose the format by the suffix.
        with whole_file(path, keep_suffix=True) as part:
            SUFFIXES[suffix](motion, part)
    except OSError as error:
        raise MotionError(f"{path}: cannot be written: {error.strerror}") from error
