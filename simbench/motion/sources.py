"""What can be read without a file of one's own, and what each of it is, found without reading all of it."""

import inspect
import json
from pathlib import Path

from simbench.errors import MotionError
from simbench.motion.actors.free import FREE
from simbench.motion.actors.tasks import PLACES
from simbench.motion.readers.deepmimic import clip_folder, clip_names


def motion_sources() -> dict[str, str]:
    """List the recordings that come with simbench.

    Returns
    -------
    dict of str to str
        What `read_motion` takes, and a line on what it is.

    Raises
    ------
    MotionError
        A clip is damaged.
    """
    people = {f"actor:{name}": _task(perform) for name, perform in (PLACES | FREE).items()}
    folder = clip_folder()
    if folder is None:
        return people
    return people | {f"deepmimic:{name}": _clip(folder / f"{name}.txt") for name in clip_names()}


def _task(place: object) -> str:
    """First line of the module that is the task."""
    text = inspect.getdoc(inspect.getmodule(place)) or ""
    return text.partition("\n")[0].rstrip(".")


def _clip(path: Path) -> str:
    """Duration and rate: a frame's first number is how long it lasts, and the last frame ends the clip."""
    try:
        durations = [float(frame[0]) for frame in json.loads(path.read_bytes())["Frames"][:-1]]
        duration = sum(durations)
        return f"{duration:.2f} s at {len(durations) / duration:.0f} Hz"
    except (ValueError, LookupError, TypeError, ZeroDivisionError) as error:
        raise MotionError(f"{path}: not a DeepMimic clip: {error}") from error
