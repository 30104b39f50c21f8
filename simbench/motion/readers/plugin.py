"""Readers of plug-ins (group `simbench.readers`): of a file format, or of a source with its own prefix."""

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Protocol

from simbench.errors import PluginError
from simbench.motion.human_motion import HumanMotion
from simbench.motion.read_options import ReadOptions
from simbench.motion.recordings import MarkerRecording, SkeletonRecording
from simbench.plugins.declarations import call_plugin, require_plugin
from simbench.plugins.loading import find_entry_points

GROUP = "readers"
Recording = MarkerRecording | SkeletonRecording | HumanMotion


class ReaderPlugin(Protocol):
    """What a plug-in of group `simbench.readers` is."""

    def __call__(self, path: Path, options: ReadOptions) -> Recording:
        """Read a recording.

        `path`: the file; of a source `NAME:TEXT`, the text; `options`: unit, vertical axis and rate that the
        user declares. Returns markers or a skeleton, to which a marker map is applied; or a person's joints
        and segments.
        """


def find_reader(source: str, reader: str | None) -> str | None:
    """Find the plug-in that reads a source.

    `source`: `NAME:TEXT`, or the path of a file; `reader`: how the user names the reader, if at all. Returns
    reference of the plug-in: what the user names, else an installed one called as the source's prefix, or as
    the file's suffix with its dot; None if there is none.
    """
    if reader is not None:
        return reader
    installed = find_entry_points(GROUP)
    prefix, colon, _ = source.partition(":")
    names = (prefix if colon else "", Path(source).suffix.lower())
    return next((name for name in names if name in installed), None)


def read_by_plugin(reference: str, source: str, options: ReadOptions) -> Recording:
    """Read a source by a plug-in.

    `reference`: from `find_reader`; `source`: the source; the prefix of a plug-in of its name is taken off;
    `options`: what the user declares.
    """
    read: Callable[[Path, ReadOptions], Recording] = require_plugin(GROUP, reference).value
    path = Path(source.removeprefix(f"{reference}:"))
    made = call_plugin(reference, read, path, options)
    if not isinstance(made, Recording):
        raise PluginError(
            f"{reference}: returned a value of type {type(made).__name__}; "
            "allowed: MarkerRecording, SkeletonRecording or HumanMotion"
        )
    return replace(made, source=source)
