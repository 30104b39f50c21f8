"""C3D files: the points of a recording, for motion-capture programs."""

from pathlib import Path

from simbench.errors import MotionError
from simbench.motion.human_motion import HumanMotion


def write_c3d(motion: HumanMotion, path: Path) -> None:
    """Write a recording as C3D."""
    raise MotionError(f"{path}: not yet")
