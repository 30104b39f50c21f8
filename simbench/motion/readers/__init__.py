"""Readers of recordings from any source as `HumanMotion`: one module for each format, and a registry.

A source is `scheme:name`, or the path of a file whose suffix names its format. A new format needs one module
with a function from a name or path and `ReadOptions` to what the format holds (a `MarkerRecording`, a
`SkeletonRecording`, or a `HumanMotion` that simbench wrote), and one line below; a plug-in's needs none.
"""

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

from simbench.errors import MotionError
from simbench.files.arrays.plain_values import TORCH_ADVICE
from simbench.files.text import MAX_FILE_BYTES, require_regular_file
from simbench.motion.actors import read_actor
from simbench.motion.bridging import prepare_markers
from simbench.motion.human_motion import HumanMotion
from simbench.motion.marker_maps import to_human_motion
from simbench.motion.read_options import ReadOptions
from simbench.motion.readers.bvh import read_bvh
from simbench.motion.readers.c3d import read_c3d
from simbench.motion.readers.csv import read_csv
from simbench.motion.readers.deepmimic import read_deepmimic
from simbench.motion.readers.mvnx import read_mvnx
from simbench.motion.readers.netcdf import read_netcdf
from simbench.motion.readers.numpy_archive import read_archive
from simbench.motion.readers.plugin import find_reader, read_by_plugin
from simbench.motion.readers.sample import find_sample_recording
from simbench.motion.readers.trc import read_trc
from simbench.motion.recordings import MarkerRecording, SkeletonRecording

Recording = MarkerRecording | SkeletonRecording | HumanMotion

SCHEMES: dict[str, Callable[[str, ReadOptions], Recording]] = {
    "actor": lambda task, _: read_actor(task),
    "deepmimic": lambda clip, _: read_deepmimic(clip),
    "sample": lambda name, options: _read_sample(name, options),
}
SUFFIXES: dict[str, Callable[[Path, ReadOptions], Recording]] = {
    ".bvh": read_bvh,
    ".c3d": read_c3d,
    ".csv": read_csv,
    ".mvnx": read_mvnx,
    ".nc": read_netcdf,
    ".npy": read_archive,
    ".npz": read_archive,
    ".pickle": read_archive,
    ".pkl": read_archive,
    ".trc": read_trc,
    ".txt": lambda path, _: read_deepmimic(path),
}
# Size, bytes, of the largest file of a format that is read in blocks and of which only poses are kept.
LARGEST_STREAMS = {".bvh": 10_000_000_000}
# Formats that are not read, and what to do about them.
REFUSED = {".pt": TORCH_ADVICE, ".pth": TORCH_ADVICE}


def read_motion(source: str | Path, options: ReadOptions = ReadOptions()) -> HumanMotion:  # noqa: B008
    """Read a recording, or let a virtual actor perform one.

    Markers and skeletons are converted to human motion by a marker map, after the gaps in the tracks of the
    markers that it needs have been bridged.

    Parameters
    ----------
    source : str or pathlib.Path
        `deepmimic:humanoid3d_dance_b`, `actor:drawer`, `sample:walk`, or the path of a file.
    options : ReadOptions
        Unit, vertical axis, marker map and longest gap that the user declares.

    Returns
    -------
    HumanMotion
        The validated motion.

    Raises
    ------
    MotionError
        Unknown scheme, name or file format, missing file, or a recording that is not usable.
    """
    recording = _recording(str(source), options)
    if isinstance(recording, HumanMotion):
        return recording
    if isinstance(recording, SkeletonRecording):
        return to_human_motion(recording, options)
    whole, filled = prepare_markers(recording, options)
    return to_human_motion(whole, options, filled)


def read_recording(source: str, options: ReadOptions) -> Recording:
    """Read a recording as its file holds it, before a marker map is applied.

    `source`: as in `read_motion`; `options`: unit, vertical axis and rate that the user declares. Returns
    markers or a skeleton; a motion where the format holds a person's joints already. Raises MotionError
    unknown scheme, name or file format, missing file, or a recording that is not usable.
    """
    return _recording(source, options)


def _read_sample(name: str, options: ReadOptions) -> Recording:
    """Read a sample recording; its source is its name and not a path of this machine."""
    path = find_sample_recording(name)
    return replace(SUFFIXES[path.suffix](path, options), source=f"sample:{path.name}")


def _recording(text: str, options: ReadOptions) -> Recording:
    """Read what the source holds, by its scheme or suffix, or by a plug-in."""
    scheme, colon, name = text.partition(":")
    suffix = Path(text).suffix.lower()
    if options.reader is not None or not (scheme in SCHEMES if colon else suffix in SUFFIXES):
        plugin = find_reader(text, options.reader)
        if plugin is not None:
            return read_by_plugin(plugin, text, options)
    # A single letter before a colon is a Windows drive.
    if colon and len(scheme) > 1 and "/" not in scheme:
        if scheme not in SCHEMES:
            known = ", ".join(SCHEMES)
            raise MotionError(f"{text}: unknown motion source {scheme!r}; known: {known}, or a file's path")
        return SCHEMES[scheme](name, options)
    path = Path(text)
    if suffix in REFUSED:
        raise MotionError(f"{text}: {REFUSED[suffix]}")
    if suffix not in SUFFIXES:
        kinds = ", ".join(f"{scheme}:NAME" for scheme in SCHEMES)
        raise MotionError(
            f"{text}: no reader for {suffix or 'a name without suffix'}; give {kinds}, or a file ending in "
            f"{', '.join(SUFFIXES)}"
        )
    largest = LARGEST_STREAMS.get(suffix, MAX_FILE_BYTES)
    if not require_regular_file(path, MotionError, largest).exists():
        raise MotionError(f"{text}: no such file")
    return SUFFIXES[suffix](path, options)
