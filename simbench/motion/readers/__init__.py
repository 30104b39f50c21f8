"""Recordings from any source as `HumanMotion`: one file a format, one registry.

A source is `scheme:name`, or the path of a file whose suffix says its format. A new format is one module with
a function from the name or path to a validated `HumanMotion`, and one line below.
"""

from collections.abc import Callable
from pathlib import Path

from simbench.errors import MotionError
from simbench.motion.actors import read_actor
from simbench.motion.human_motion import HumanMotion
from simbench.motion.readers.deepmimic import read_deepmimic

SCHEMES: dict[str, Callable[[str], HumanMotion]] = {
    "actor": read_actor,
    "deepmimic": read_deepmimic,
}
SUFFIXES: dict[str, str] = {
    ".txt": "deepmimic",
}


def read_motion(source: str | Path) -> HumanMotion:
    """Read a recording, or have a virtual actor perform one.

    Parameters
    ----------
    source : str or pathlib.Path
        `deepmimic:humanoid3d_dance_b`, `actor:drawer`, or the path of a file.

    Returns
    -------
    HumanMotion

    Raises
    ------
    MotionError
        Unknown scheme, name or file format, missing file, or a recording that is not usable.
    """
    text = str(source)
    scheme, colon, name = text.partition(":")
    # One letter before a colon is a Windows drive.
    if colon and len(scheme) > 1 and "/" not in scheme:
        if scheme not in SCHEMES:
            known = ", ".join(SCHEMES)
            raise MotionError(f"{text}: unknown motion source {scheme!r}; known: {known}, or a file's path")
        return SCHEMES[scheme](name)
    suffix = Path(text).suffix.lower()
    if suffix not in SUFFIXES:
        kinds = ", ".join(f"{scheme}:NAME" for scheme in SCHEMES)
        raise MotionError(
            f"{text}: no reader for {suffix or 'a name without suffix'}; give {kinds}, or a file ending in "
            f"{', '.join(SUFFIXES)}"
        )
    try:
        found = Path(text).is_file()
    except OSError as error:
        raise MotionError(f"{text}: cannot be read: {error.strerror}") from error
    if not found:
        raise MotionError(f"{text}: no such file")
    return SCHEMES[SUFFIXES[suffix]](text)
