"""Check of the structure of a C3D file before it is passed to a library that trusts it.

ezc3d indexes and allocates by the counts in a file: a damaged file crashes the interpreter or takes
gigabytes. Here header, parameters and sizes are compared with each other and with the file's length, in time
and memory proportional to that length. Layout and terms are those of the C3D user guide (c3d.org).
"""

import struct
from dataclasses import dataclass

import numpy as np

from simbench.errors import MotionError
from simbench.motion.readers.c3d_parameters import (
    DEC,
    FLOATS,
    INTEGERS,
    INTEL,
    MIPS,
    Parameter,
    read_floats,
    walk_parameters,
)

BLOCK = 512
KEY = 0x50
# Parameters of which ezc3d takes the first value without checking that there is one, and the types it
# accepts.
SCALARS = {
    ("POINT", "USED"): (INTEGERS,),
    ("POINT", "SCALE"): (FLOATS,),
    ("POINT", "RATE"): (FLOATS,),
    ("POINT", "FRAMES"): (INTEGERS, FLOATS),
    ("POINT", "DATA_START"): (INTEGERS,),
    ("ANALOG", "USED"): (INTEGERS,),
    ("ANALOG", "RATE"): (FLOATS,),
    ("ANALOG", "GEN_SCALE"): (FLOATS,),
    ("ROTATION", "USED"): (INTEGERS,),
    ("ROTATION", "DATA_START"): (INTEGERS,),
    ("ROTATION", "RATIO"): (INTEGERS,),
    ("ROTATION", "RATE"): (FLOATS,),
}
# The counters have 16 bits, and ezc3d reads some of them as signed.
MAX_FRAMES, MAX_POINTS = 65535, 32767
# Samples between two frames: if they are announced without channels, they take memory but no byte of the
# file.
MAX_SUBFRAMES, MAX_ROTATIONS_PER_FRAME = 5_000_000, 100

Parameters = dict[tuple[str, str], Parameter]


@dataclass(frozen=True)
class C3dCounts:
    """Counts on which header, parameters and length of a C3D file agree.

    Parameters
    ----------
    points : int
        Number of points in each frame.
    frames : int
        Number of frames.
    """

    points: int
    frames: int


def check_structure(content: bytes, source: str) -> C3dCounts:
    """Check that header, parameters and length of a C3D file agree.

    Parameters
    ----------
    content : bytes
        Bytes of the whole file.
    source : str
        Name of the file, for messages.

    Returns
    -------
    C3dCounts
        Number of points and frames.

    Raises
    ------
    MotionError
        Not a C3D file, truncated, counts that disagree, parameters that are missing or of the wrong type,
        no frames or points.
    """
    if len(content) < 2 or content[1] != KEY or content[0] < 2:
        raise MotionError(
            f"{source}: not a C3D file, whose first bytes are 2 and 80 (found {[*content[:2]]})"
        )
    start = (content[0] - 1) * BLOCK
    if len(content) < start + 4:
        raise MotionError(
            f"{source}: truncated: the parameters begin at byte {start}, the file has {len(content)}"
        )
    processor = content[start + 3]
    # Qualisys leaves the first two bytes zero.
    if processor not in (INTEL, DEC) or content[start : start + 2] not in (b"\x01\x50", b"\0\0"):
        kind = " (MIPS)" if processor == MIPS else ""
        raise MotionError(
            f"{source}: the parameter section begins with {[*content[start : start + 4]]}{kind}; allowed are "
            f"1, 80 or 0, 0, then any, then {INTEL} (Intel) or {DEC} (DEC)"
        )
    parameters = walk_parameters(content, start + 4, processor, source)
    for key, kinds in SCALARS.items():
        parameter = parameters.get(key)
        if parameter is not None and (parameter.kind not in kinds or not len(parameter.values)):
            raise MotionError(
                f"{source}: {':'.join(key)} has type {parameter.kind} and {len(parameter.values)} values; "
                f"it must be a number of type {' or '.join(map(str, kinds))}"
            )
    return _check_counts(content, source, processor, parameters)


def _number(parameters: Parameters, group: str, name: str, default: float) -> float:
    """First value of a parameter."""
    parameter = parameters.get((group, name))
    return default if parameter is None else float(parameter.values[0])


def _check_counts(content: bytes, source: str, processor: int, parameters: Parameters) -> C3dCounts:
    """Check that the counts of points, frames and bytes agree."""
    points, samples, first, last = struct.unpack_from("<4H", content, 2)
    data_block, subframes = struct.unpack_from("<2H", content, 16)
    frames = last - first + 1
    for what, header, parameter in (
        ("points", points, _number(parameters, "POINT", "USED", 0)),
        ("frames", frames, _number(parameters, "POINT", "FRAMES", frames)),
        ("the first block of data", data_block, _number(parameters, "POINT", "DATA_START", data_block)),
    ):
        if header != parameter:
            raise MotionError(f"{source}: {what}: {header} by the header, {parameter:g} by the parameters")
    if frames < 1 or not 1 <= points <= MAX_POINTS:
        raise MotionError(
            f"{source}: {points} points in {max(frames, 0)} frames; there must be 1 to {MAX_POINTS} points "
            "and at least 1 frame"
        )
    rate, scale = _check_floats(content, source, processor, parameters)
    width = 4 if scale < 0 else 2
    ratio = _number(parameters, "ANALOG", "RATE", 0.0) / rate
    channels = _number(parameters, "ANALOG", "USED", 0)
    if not (np.isfinite(ratio) and 0 <= ratio * frames <= MAX_SUBFRAMES):
        raise MotionError(
            f"{source}: ANALOG:RATE is {ratio:g} times POINT:RATE, too much for {frames} frames"
        )
    if channels:
        _check_analogs(source, parameters, channels, samples, subframes, ratio)
    # A point is x, y, z, and as many bytes as one of them for the residual and the cameras.
    frame_size = points * 4 * width + (samples * width if channels else 0)
    needed = (data_block - 1) * BLOCK + frames * frame_size
    if data_block < 2 or needed > len(content):
        raise MotionError(
            f"{source}: truncated: {frames} frames of {points} points from block {data_block} on end at byte "
            f"{needed}, the file has {len(content)}"
        )
    if frames == MAX_FRAMES and needed + frame_size <= len(content):
        raise MotionError(f"{source}: more than {MAX_FRAMES} frames, the most this format counts")
    _check_rotations(content, source, parameters, rate, frames)
    return C3dCounts(points, frames)


def _check_floats(content: bytes, source: str, processor: int, parameters: Parameters) -> tuple[float, float]:
    """Frame rate, Hz, and scale of the points, whose sign says whether coordinates are floats."""
    header_scale, header_rate = read_floats(content[12:16] + content[20:24], processor)
    rate = _number(parameters, "POINT", "RATE", header_rate)
    if not (np.isfinite(rate) and rate > 0 and abs(header_rate - rate) <= 0.01 * rate):
        raise MotionError(
            f"{source}: the frame rate is {header_rate:g} Hz by the header and {rate:g} Hz by the "
            "parameters; they must be one positive number"
        )
    scales = [v.values for (group, name), v in parameters.items() if (group, name[:5]) == ("POINT", "SCALE")]
    values = np.concatenate([[header_scale], *scales])
    if not (np.isfinite(values).all() and ((values < 0).all() or (values > 0).all())):
        raise MotionError(
            f"{source}: the scales of points by the header and the parameters are {values[:3]}; all must be "
            "negative (coordinates are floats) or positive (integers)"
        )
    return rate, float(values[-1])


def _check_analogs(
    source: str, parameters: Parameters, channels: float, samples: int, subframes: int, ratio: float
) -> None:
    """Check counts and scales of the analog channels, which are stored between the points of two frames."""
    if samples != channels * subframes or subframes != int(ratio):
        raise MotionError(
            f"{source}: {samples} analog samples a frame by the header, {channels:g} channels at {ratio:g} "
            "times the rate of points by the parameters"
        )
    for name, kind in (("SCALE", FLOATS), ("OFFSET", INTEGERS)):
        found = [v for (group, key), v in parameters.items() if group == "ANALOG" and key.startswith(name)]
        count = sum(len(value.values) for value in found)
        if count < channels or any(value.kind != kind for value in found):
            raise MotionError(
                f"{source}: ANALOG:{name} has {count} values for {channels:g} channels; each needs a number"
            )


def _check_rotations(content: bytes, source: str, parameters: Parameters, rate: float, frames: int) -> None:
    """Check the size of the rotations that some programs store after the points."""
    used = _number(parameters, "ROTATION", "USED", 0)
    ratio = _number(parameters, "ROTATION", "RATIO", _number(parameters, "ROTATION", "RATE", 0.0) / rate)
    begin = (_number(parameters, "ROTATION", "DATA_START", 0) - 1) * BLOCK
    # Each is a matrix of 16 floats and its reliability.
    inside = begin >= BLOCK and begin + used * ratio * frames * 17 * 4 <= len(content)
    if not 0 <= ratio <= MAX_ROTATIONS_PER_FRAME or (used and not inside):
        raise MotionError(
            f"{source}: truncated: {used:g} rotations, {ratio:g} times a frame, do not lie inside the file"
        )
