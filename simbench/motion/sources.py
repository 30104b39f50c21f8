"""The motion sources that come with simbench, with descriptions, listed without reading them in full."""

import inspect
from pathlib import Path

from simbench.errors import MotionError
from simbench.files.json_document import read_json_object
from simbench.motion.shipped import LARGEST_CLIP, clip_folder, clip_names, list_sample_recordings
from simbench.resources import resource_dir


def list_motion_sources() -> dict[str, str]:
    """List the virtual actors, sample recordings and clips that come with simbench.

    Returns source as `read_motion` takes it, and one line that describes it. Raises MotionError A clip is
    damaged.
    """
    names = read_json_object(resource_dir("schemas") / "names.json", MotionError)
    listed: dict[str, str] = names["actors"] | _list_samples()
    folder = clip_folder()
    if folder is None:
        return listed
    return listed | {f"deepmimic:{name}": _describe_clip(folder / f"{name}.txt") for name in clip_names()}


def list_tasks() -> list[str]:
    """List what virtual actors of a session perform. Returns names of tasks and free motions, sorted."""
    names = read_json_object(resource_dir("schemas") / "names.json", MotionError)
    return list(names["tasks"])


def describe_actors() -> dict[str, str]:
    """Describe what virtual actors perform, from the modules that define it.

    Returns source as `read_motion` takes it, and one line that describes it.
    """
    # Their import takes a second: they are listed from a file that scripts/tools/write_schemas.py writes.
    from simbench.motion.actors.free import FREE, OUTSIDE_SESSION
    from simbench.motion.actors.tasks import PLACES

    performed = PLACES | FREE | OUTSIDE_SESSION
    return {f"actor:{name}": _describe_task(perform) for name, perform in performed.items()}


def _list_samples() -> dict[str, str]:
    """List the sample recordings without their suffixes, each with its formats."""
    formats: dict[str, list[str]] = {}
    for path in list_sample_recordings():
        formats.setdefault(f"sample:{path.stem}", []).append(path.suffix)
    return {
        source: f"A virtual actor's recording as a file: {', '.join(suffixes)}"
        for source, suffixes in formats.items()
    }


def _describe_task(perform: object) -> str:
    """Describe a task by the first line of the docstring of its module."""
    text = inspect.getdoc(inspect.getmodule(perform)) or ""
    return text.partition("\n")[0].rstrip(".")


def _describe_clip(path: Path) -> str:
    """Describe a clip by duration and rate.

    The first number of a frame is its duration; the last frame only ends the clip.
    """
    content = read_json_object(path, MotionError, max_bytes=LARGEST_CLIP)
    try:
        durations = [float(frame[0]) for frame in content["Frames"][:-1]]
        duration = sum(durations)
        return f"{duration:.2f} s at {len(durations) / duration:.0f} Hz"
    except (ValueError, LookupError, TypeError, ZeroDivisionError) as error:
        raise MotionError(f"{path}: not a DeepMimic clip: {error}") from error
