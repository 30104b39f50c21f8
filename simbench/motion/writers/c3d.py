"""Writer of C3D files by ezc3d: markers, joints and segment frames as points, for motion-capture programs.

A joint centre is a point with the name of the joint. The frame of a segment is three points, as
motion-capture programs export it: `left_hand_o` at its origin, `left_hand_x` and `left_hand_y` 0.1 m along
its axes.
"""

import errno
import os
from collections.abc import Mapping
from pathlib import Path

import ezc3d
import numpy as np
from numpy.typing import NDArray

from simbench.errors import MotionError
from simbench.motion.human_motion import HumanMotion

# The format counts frames with 16 bits, events and the bytes of a text with 8.
MAX_FRAMES, MAX_EVENTS, LONGEST_TEXT = 65535, 255, 255
AXIS_LENGTH = 0.1
MILLIMETRES = 1000.0
# Largest difference between two sampling intervals, relative to their mean, for which the rate is constant.
UNEVEN = 1e-3


def write_c3d(motion: HumanMotion, path: Path) -> None:
    """Write markers, joints and segment frames as points of a C3D file: millimetres, float, z up.

    The repetitions are written as events `stroke start` and `stroke end`, the actor in the groups SUBJECTS
    and PROCESSING, as Vicon does. Handles cannot be stored in the format. `path`: file to write; its name
    must end in `.c3d`.
    """
    steps = np.diff(motion.time)
    if np.ptp(steps) > UNEVEN * steps.mean():
        raise MotionError(
            f"{motion.source}: C3D has one frame rate, the samples lie {steps.min():.6g} to "
            f"{steps.max():.6g} s apart; resample the motion first"
        )
    strokes = np.zeros((0, 2), dtype=np.int64) if motion.strokes is None else motion.strokes
    for what, count, most in (
        ("frames", len(motion.time), MAX_FRAMES),
        ("events", strokes.size, MAX_EVENTS),
    ):
        if count > most:
            raise MotionError(f"{motion.source}: {count} {what}; C3D holds at most {most}")
    points = _points(motion)
    file = ezc3d.c3d()
    group = file["parameters"]["POINT"]
    group["RATE"]["value"] = [motion.rate]
    group["UNITS"]["value"] = ["mm"]
    group["LABELS"]["value"] = list(points)
    file.add_parameter("POINT", "X_SCREEN", ["+X"])
    file.add_parameter("POINT", "Y_SCREEN", ["+Z"])
    file["data"]["points"] = MILLIMETRES * np.stack(list(points.values())).transpose(2, 0, 1)
    file.add_parameter("TRIAL", "DESCRIPTION", [_short(motion.source)])
    _add_actor(file, motion)
    _add_events(file, motion.time[strokes] - motion.time[0])
    # ezc3d reports neither a missing folder nor a full disk.
    path.write_bytes(b"")
    file.write(str(path))
    if path.stat().st_size < 16 * len(points) * len(motion.time):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), str(path))


def _points(motion: HumanMotion) -> Mapping[str, NDArray[np.float64]]:
    """All points by name, (T, 3) each, m, in the world frame."""
    triads = {}
    for name, frames in motion.segments.items():
        origin = frames[:, :3, 3]
        triads[f"{name}_o"] = origin
        triads[f"{name}_x"] = origin + AXIS_LENGTH * frames[:, :3, 0]
        triads[f"{name}_y"] = origin + AXIS_LENGTH * frames[:, :3, 1]
    points = {**motion.markers, **motion.joints, **triads}
    if len(points) < len(motion.markers) + len(motion.joints) + len(triads):
        twice = next(name for name in motion.markers if name in motion.joints or name in triads)
        raise MotionError(
            f"{motion.source}: marker {twice} has the name of a joint or frame; names must differ"
        )
    return points


def _add_actor(file: ezc3d.c3d, motion: HumanMotion) -> None:
    """Write the actor, as far as known, to the groups SUBJECTS and PROCESSING."""
    actor = motion.actor
    file.add_parameter("SUBJECTS", "USED", [0 if actor is None else 1])
    if actor is None:
        return
    file.add_parameter("SUBJECTS", "NAMES", [_short(actor.name)])
    if actor.sex is not None:
        file.add_parameter("SUBJECTS", "SEX", [_short(actor.sex)])
    file.add_parameter("PROCESSING", "HEIGHT", [MILLIMETRES * actor.height])
    if actor.mass is not None:
        file.add_parameter("PROCESSING", "BODYMASS", [float(actor.mass)])
    if actor.age is not None:
        file.add_parameter("PROCESSING", "AGE", [float(actor.age)])


def _short(text: str) -> str:
    """Text shortened to the bytes that the format holds."""
    return text.encode()[:LONGEST_TEXT].decode(errors="ignore")


def _add_events(file: ezc3d.c3d, strokes: NDArray[np.float64]) -> None:
    """Write the start and end of each repetition, (N, 2), s, as events."""
    times = strokes.ravel()
    if not times.size:
        return
    file.add_parameter("EVENT", "USED", int(times.size))
    file.add_parameter("EVENT", "CONTEXTS", ["General"] * times.size)
    file.add_parameter("EVENT", "LABELS", ["stroke start", "stroke end"] * len(strokes))
    # The rows are minutes and seconds.
    file.add_parameter("EVENT", "TIMES", np.stack([times // 60, times % 60]))
