"""Readers of recordings from any source as `HumanMotion`: one module for each format, and a registry.

A source is `scheme:name`, or the path of a file whose suffix names its format. A new format needs one module
with a function from a name or path and `ReadOptions` to what the format holds (a `MarkerRecording`, a
`SkeletonRecording`, or a `HumanMotion` that simbench wrote), and one line below; a plug-in's needs none.
"""

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Protocol

from simbench.errors import MotionError, PluginError
from simbench.files.text import MAX_FILE_BYTES, require_regular_file
from simbench.motion.human_motion import HumanMotion
from simbench.motion.marker_maps import to_human_motion
from simbench.motion.marker_preparation import prepare_markers
from simbench.motion.read_options import ReadOptions
from simbench.motion.readers.acclaim import read_amc, read_asf
from simbench.motion.readers.bvh_reader import read_bvh
from simbench.motion.readers.c3d_reader import read_c3d
from simbench.motion.readers.csv_reader import read_csv
from simbench.motion.readers.deepmimic import read_deepmimic
from simbench.motion.readers.fbx import read_fbx
from simbench.motion.readers.gltf import read_gltf
from simbench.motion.readers.joint_array import read_archive
from simbench.motion.readers.landmarks import read_landmarks
from simbench.motion.readers.mvnx import read_mvnx
from simbench.motion.readers.netcdf_reader import read_netcdf
from simbench.motion.readers.opensim_motion import MODEL_ADVICE, read_opensim_motion
from simbench.motion.readers.qualisys import read_tsv
from simbench.motion.readers.trc import read_trc
from simbench.motion.recordings import MarkerRecording, SkeletonRecording
from simbench.motion.shipped import list_sample_recordings
from simbench.plugins.declarations import call_plugin, require_plugin
from simbench.plugins.entry_points import find_entry_points
from simbench.system.limits import require_steps

Recording = MarkerRecording | SkeletonRecording | HumanMotion


def _read_sample(name: str, options: ReadOptions) -> Recording:
    """Read a sample recording by its file name, `walk.bvh`, or its stem, which is its source, not a path."""
    files = list_sample_recordings()
    path = next((path for path in files if name in (path.name, path.stem)), None)
    if path is None:
        known = ", ".join(path.name for path in files) or "none: the folder is missing"
        raise MotionError(f"sample:{name}: unknown sample recording; known: {known}")
    return replace(SUFFIXES[path.suffix](path, options), source=f"sample:{path.name}")


def _read_actor(task: str) -> HumanMotion:
    """Let a virtual actor perform a task."""
    # Their model takes a third of a second to import.
    from simbench.motion.actors import read_actor

    return read_actor(task)


SCHEMES: dict[str, Callable[[str, ReadOptions], Recording]] = {
    "actor": lambda task, _: _read_actor(task),
    "deepmimic": lambda clip, _: read_deepmimic(clip),
    "sample": _read_sample,
}
SUFFIXES: dict[str, Callable[[Path, ReadOptions], Recording]] = {
    ".amc": read_amc,
    ".asf": read_asf,
    ".bvh": read_bvh,
    ".c3d": read_c3d,
    ".csv": read_csv,
    ".fbx": read_fbx,
    ".glb": read_gltf,
    ".gltf": read_gltf,
    ".json": read_landmarks,
    ".mot": read_opensim_motion,
    ".mvnx": read_mvnx,
    ".nc": read_netcdf,
    ".npy": read_archive,
    ".npz": read_archive,
    ".pickle": read_archive,
    ".pkl": read_archive,
    ".pt": read_archive,
    ".pth": read_archive,
    ".sto": read_opensim_motion,
    ".trc": read_trc,
    ".tsv": read_tsv,
    ".txt": lambda path, _: read_deepmimic(path),
    ".vrm": read_gltf,
    ".vrma": read_gltf,
}
# Size, bytes, of the largest file of a format that is read in blocks and of which only poses are kept.
LARGEST_STREAMS = {".bvh": 10_000_000_000}
# Formats that are not read, and what to do about them, by their suffixes.
REFUSED = {
    ".osim": MODEL_ADVICE,
    **dict.fromkeys(
        (".mp4", ".mov", ".avi", ".mkv", ".webm"),
        "a video; estimate the pose in it, with GVHMR, WHAM or MediaPipe, and give what these write",
    ),
    **dict.fromkeys((".tak", ".cal"), "a take of OptiTrack's Motive; export BVH, FBX, C3D or CSV from it"),
    ".qtm": "a file of Qualisys Track Manager; export C3D, TSV or FBX from it",
    ".mvn": "a file of Xsens' MVN; export MVNX, BVH or C3D from it",
    **dict.fromkeys(
        (".x2d", ".vsk", ".mcp"), "a file of Vicon's; export C3D, or FBX, of the labelled markers"
    ),
    **dict.fromkeys(
        (".blend", ".ma", ".mb", ".max", ".c4d", ".dae", ".usd", ".usda", ".usdc", ".usdz", ".abc", ".bip"),
        "a file of a 3D editor; export FBX, GLB or BVH from it, as Blender does",
    ),
    ".vmd": "a motion of MikuMikuDance; import it in Blender (MMD Tools) and export BVH",
    **dict.fromkeys((".xlsx", ".xls"), "a spreadsheet; save the sheet of positions as CSV"),
    **dict.fromkeys((".h5", ".hdf5", ".mat"), "named arrays; save those of one motion with numpy.savez"),
}
# Group of the plug-ins that read a file format, or a source with its own prefix.
GROUP = "readers"


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


def read_motion(source: str | Path, options: ReadOptions | None = None) -> HumanMotion:
    """Read a recording, or let a virtual actor perform one.

    Markers and skeletons are converted to human motion by a marker map, after the gaps in the tracks of the
    markers that it needs have been bridged.

    Parameters
    ----------
    source : str or pathlib.Path
        `deepmimic:humanoid3d_dance_b`, `actor:drawer`, `sample:walk`, or the path of a file.
    options : ReadOptions, optional
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
    options = options or ReadOptions()
    recording = read_recording(str(source), options)
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
    scheme, colon, name = source.partition(":")
    suffix = Path(source).suffix.lower()
    if options.reader is not None or not (scheme in SCHEMES if colon else suffix in SUFFIXES):
        plugin = find_reader(source, options.reader)
        if plugin is not None:
            read: Callable[[Path, ReadOptions], Recording] = require_plugin(GROUP, plugin).value
            made = call_plugin(plugin, read, Path(source.removeprefix(f"{plugin}:")), options)
            if not isinstance(made, Recording):
                raise PluginError(
                    f"{plugin}: returned a value of type {type(made).__name__}; "
                    "allowed: MarkerRecording, SkeletonRecording or HumanMotion"
                )
            return replace(made, source=source)
    # A single letter before a colon is a Windows drive.
    if colon and len(scheme) > 1 and "/" not in scheme:
        if scheme not in SCHEMES:
            known = ", ".join(SCHEMES)
            raise MotionError(f"{source}: unknown motion source {scheme!r}; known: {known}, or a file's path")
        return SCHEMES[scheme](name, options)
    path = Path(source)
    if suffix in REFUSED:
        raise MotionError(f"{source}: {REFUSED[suffix]}")
    if suffix not in SUFFIXES:
        kinds = ", ".join(f"{scheme}:NAME" for scheme in SCHEMES)
        raise MotionError(
            f"{source}: no reader for {suffix or 'a name without suffix'}; give {kinds}, or a file ending in "
            f"{', '.join(SUFFIXES)}"
        )
    largest = LARGEST_STREAMS.get(suffix, MAX_FILE_BYTES)
    if not require_regular_file(path, MotionError, largest).exists():
        raise MotionError(f"{source}: no such file")
    recording = SUFFIXES[suffix](path, options)
    require_steps(recording.time, source, MotionError)
    return recording
