"""Recordings and actors that come with simbench, with descriptions, listed without reading them in full."""

import inspect
from importlib.util import find_spec
from pathlib import Path

from simbench.errors import MotionError
from simbench.files.json_document import read_json_object
from simbench.resources import resource_dir

LARGEST_CLIP = 64_000_000  # Size of the largest clip that is read, bytes: about 40 min at 30 Hz.
# Formats of sample recordings; without a suffix, a name means the first of these that exists.
FORMATS = (".c3d", ".bvh", ".trc")


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


def list_motion_sources() -> dict[str, str]:
    """List the virtual actors, sample recordings and clips that come with simbench.

    Returns source as `read_motion` takes it, and one line that describes it. Raises MotionError A clip is
    damaged.
    """
    listed: dict[str, str] = dict(
        read_json_object(resource_dir("schemas") / "names.json", MotionError)["actors"]
    )
    formats: dict[str, list[str]] = {}
    for path in list_sample_recordings():
        formats.setdefault(f"sample:{path.stem}", []).append(path.suffix)
    for source, suffixes in formats.items():
        listed[source] = f"A virtual actor's recording as a file: {', '.join(suffixes)}"
    folder = clip_folder()
    if folder is None:
        return listed
    for name in clip_names():
        path = folder / f"{name}.txt"
        content = read_json_object(path, MotionError, max_bytes=LARGEST_CLIP)
        try:
            # The first number of a frame is its duration; the last frame only ends the clip.
            durations = [float(frame[0]) for frame in content["Frames"][:-1]]
            duration = sum(durations)
            listed[f"deepmimic:{name}"] = f"{duration:.2f} s at {len(durations) / duration:.0f} Hz"
        except (ValueError, LookupError, TypeError, ZeroDivisionError) as error:
            raise MotionError(f"{path}: not a DeepMimic clip: {error}") from error
    return listed


def list_tasks() -> list[str]:
    """List what virtual actors of a session perform. Returns names of tasks and free motions, sorted."""
    names = read_json_object(resource_dir("schemas") / "names.json", MotionError)
    return list(names["tasks"])


def describe_actors() -> dict[str, str]:
    """Describe what virtual actors perform, by the second paragraphs of the functions' docstrings.

    Returns source as `read_motion` takes it, and one line that describes it.
    """
    # Their import takes a second: they are listed from a file that scripts/tools/write_schemas.py writes.
    from simbench.motion.actors.free_motions import FREE, OUTSIDE_SESSION
    from simbench.motion.actors.tasks import PLACES

    performed = PLACES | FREE | OUTSIDE_SESSION
    return {
        f"actor:{name}": (inspect.getdoc(perform) or "").split("\n")[2].rstrip(".")
        for name, perform in performed.items()
    }
