"""Reader of FBX: animated skeletons in binary and text files, by the library ufbx in a process of its own."""

import importlib.util
import subprocess
import sys
from pathlib import Path
from typing import IO, Any, cast

import numpy as np

from simbench.errors import MotionError
from simbench.files.json_document import parse_json
from simbench.files.text import printable, require_regular_file
from simbench.motion.read_options import ReadOptions
from simbench.motion.readers import fbx_process
from simbench.motion.readers.animated_nodes import (
    MOST_NODES,
    Scene,
    find_sample_times,
    make_skeleton_recording,
    round_rate,
)
from simbench.motion.readers.marker_tables import quote
from simbench.motion.recordings import SkeletonRecording
from simbench.system.limits import require_at_most

MISSING = "FBX files need ufbx: `pip install ufbx`, or install simbench's extra `animation`"
# Axes by ufbx's numbers: right, up and front of a scene.
AXES = {number: sign * np.eye(3)[k] for k in range(3) for number, sign in ((2 * k, 1.0), (2 * k + 1, -1.0))}
# Keys are denser than frames above this ratio of their rates.
DENSER = 1.01
UP = ("x", "-x", "y", "-y", "z", "-z")


def read_fbx(path: Path, options: ReadOptions) -> SkeletonRecording:
    """Read the longest take of an FBX file.

    It is sampled at the file's frame rate, or at `fps` of the options. `options`: what the user declares.
    Returns the joints of the largest skeleton.
    """
    source = str(path)
    if importlib.util.find_spec("ufbx") is None:
        raise MotionError(f"{source}: {MISSING}")
    if not require_regular_file(path, MotionError).exists():
        raise MotionError(f"{source}: no such file")
    command, pipe = [sys.executable, fbx_process.__file__, source], subprocess.PIPE
    with subprocess.Popen(command, stdin=pipe, stdout=pipe, stderr=pipe) as process:
        line = cast(IO[bytes], process.stdout).readline()
        said: dict[str, Any] = {}
        time = np.empty(0)
        if line.endswith(b"\n"):
            said = parse_json(line.decode(), source, MotionError, non_finite="kept")
            names, moved, rate = said["names"], said["moved"], said["rate"]
            # Motion capture is denser than the frames of a film.
            said_by = "its frame rate"
            if said["keys"] > DENSER * rate:
                rate, said_by = (
                    round_rate(said["keys"]),
                    f"as its keys are spaced; its frame rate is {rate:g}",
                )
            if options.fps is not None:
                rate, said_by = options.fps, "as declared"
            require_at_most(len(names), MOST_NODES, f"{source}: nodes", MotionError)
            time = find_sample_times(said["begin"], said["end"], rate, source, len(names))
        data, errors = process.communicate(time.tobytes())
    if not said or len(data) != 80 * len(time) * len(moved):
        reason = printable(" ".join(errors.decode(errors="replace").split()))[:200]
        raise MotionError(f"{source}: {reason or f'damaged: ufbx ended with status {process.returncode}'}")
    right, up, front = (AXES.get(axis, np.zeros(3)) for axis in said["axes"])
    if np.cross(right, up) @ front < 0.0:
        raise MotionError(f"{source}: its axes are left-handed; export it with right-handed ones")
    tracks = np.frombuffer(data).reshape(len(time), len(moved), 10)
    is_joint, bound = np.zeros(len(names), dtype=bool), np.full((len(names), 4, 4), np.nan)
    is_joint[said["joints"]] = True
    for node, *columns in said["bound"]:
        bound[node, :3], bound[node, 3] = np.transpose(columns), (0.0, 0.0, 0.0, 1.0)
    scene = Scene(names, np.array(said["parents"]), is_joint, np.array(said["still"]), bound)
    notes = [f"sampled at {rate:.6g} Hz, {said_by}"]
    if len(said["takes"]) > 1:
        notes.append(f"{len(said['takes'])} takes: {quote(said['take'])} is read, the longest")
    vertical = options.up or (UP[said["axes"][1]] if up.any() else None)
    recording = make_skeleton_recording(
        scene,
        {node: tracks[:, k] for k, node in enumerate(moved)},
        time,
        source,
        options.unit or "m",
        vertical,
        tuple(notes),
    )
    # A unit that the user declares overrules the file's.
    for lengths in () if options.unit else (recording.positions, recording.offsets):
        lengths *= said["unit"]
    return recording
