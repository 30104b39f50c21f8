"""Recordings that ship with simbench or with a library: where they are, listed without reading them."""

from importlib.util import find_spec
from pathlib import Path

from simbench.resources import resource_dir

LARGEST_CLIP = 64_000_000
"""Size of the largest clip that is read, bytes: about 40 min at 30 Hz."""
FORMATS = (".c3d", ".bvh", ".trc")
"""Formats of sample recordings; without a suffix, a name means the first of these that exists."""


def clip_folder() -> Path | None:
    """Find the folder of the clips in the pybullet wheel, without importing it.

    Returns the folder; None if pybullet is not installed.
    """
    spec = find_spec("pybullet_data")
    if spec is None or spec.origin is None:
        return None
    return Path(spec.origin).parent / "data" / "motions"


def clip_names() -> list[str]:
    """List the human clips in the installed pybullet wheel.

    Returns their names, sorted; empty if pybullet is not installed.
    """
    folder = clip_folder()
    return [] if folder is None else sorted(path.stem for path in folder.glob("humanoid3d_*.txt"))


def list_sample_recordings() -> list[Path]:
    """List the files of the sample recordings. Returns files, by name, each in the order of `FORMATS`."""
    found = (path for path in resource_dir("samples").glob("*") if path.suffix in FORMATS)
    return sorted(found, key=lambda path: (path.stem, FORMATS.index(path.suffix)))
