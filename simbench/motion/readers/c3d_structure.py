"""Where the points of a C3D file lie, from its header, its parameters and its length.

The same counts stand in the header and in the parameters, and programs that crop or merge files often change
only one of them. Where they disagree, the layout is taken that fills the file: what is announced last never
decides against the data that is there. Layout and terms are those of the C3D user guide (c3d.org). Time and
memory are proportional to the file's length.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from itertools import product

import numpy as np

from simbench.errors import MotionError
from simbench.motion.readers.c3d_parameters import (
    CHARACTERS,
    DEC,
    FLOATS,
    INTEGERS,
    INTEL,
    MIPS,
    Parameters,
    read_floats,
    read_texts,
    read_values,
    read_words,
    walk_parameters,
)
from simbench.motion.readers.slips import Slips

BLOCK = 512
KEY = 0x50
# Parameters on which the layout depends, and their types.
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
# The counters have 16 bits; longer recordings say their frames elsewhere.
MAX_FRAMES, MAX_POINTS = 65535, 32767
MAX_SUBFRAMES, MAX_ROTATIONS_PER_FRAME = 5_000_000, 100
# Rates of motion capture, Hz.
RATES = (1.0, 100_000.0)


@dataclass(frozen=True)
class C3dLayout:
    """Where the points of a C3D file lie."""

    points: int  # Number of points in each frame.
    frames: int  # Number of whole frames in the file.
    start: int  # First byte of the first frame.
    frame_size: int  # Bytes of a frame: its points, then its analog samples.
    processor: int  # Number format of the file, `INTEL`, `DEC` or `MIPS`.
    scale: float  # Units of length per count of integer coordinates; 0 if coordinates are floats.
    rate: float  # Frames a second, Hz.
    first_frame: int  # Number of the first stored frame, from 1.
    parameters: Parameters


@dataclass(frozen=True)
class _Announced:
    """What header and parameters say, in the order in which they are believed."""

    starts: list[int]
    points: list[int]
    frames: list[int]
    samples: list[int]
    widths: list[int]


def find_layout(content: bytes, fps: float | None, slips: Slips) -> C3dLayout:
    """Find where the points of a C3D file lie.

    `content`: bytes of the whole file; `fps`: frame rate that the user declares, Hz; `slips`: takes the
    disagreements. Returns the layout; all its frames are inside the file.
    """
    source = slips.source
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
    if processor not in (INTEL, DEC, MIPS) or content[start : start + 2] not in (b"\x01\x50", b"\0\0"):
        slips.doubt(
            f"the parameter section begins with {[*content[start : start + 4]]}; allowed are 1, 80 or 0, 0, "
            f"then any, then {INTEL} (Intel), {DEC} (DEC) or {MIPS} (MIPS)",
            "read as usual",
        )
        processor = processor if processor in (INTEL, DEC, MIPS) else INTEL
    parameters = walk_parameters(content, start + 4, processor, slips)
    for key, kinds in SCALARS.items():
        parameter = parameters.get(key)
        if parameter is not None and (parameter.kind not in kinds or not len(parameter.values)):
            slips.note(
                f"{':'.join(key)} has type {parameter.kind} and {len(parameter.values)} values; it must be a "
                f"number of type {' or '.join(map(str, kinds))}",
                "its number is taken where it has one",
            )
            if parameter.kind == CHARACTERS or not len(parameter.values):
                del parameters[key]
    header = read_words(content[:BLOCK].ljust(BLOCK, b"\0"), processor)
    rate = _find_rate(content, processor, parameters, fps, slips)
    announced = _read_announced(content, header, processor, parameters, rate, slips)
    _check_auxiliary(content, header, parameters, rate, announced, slips)
    return _fit_layout(content, header, processor, parameters, (rate, announced), slips)


def _number(parameters: Parameters, group: str, name: str) -> float | None:
    """First number of a parameter, None if there is none that is finite."""
    values = read_values(parameters, group, name)[:1]
    return float(values[0]) if values.size and np.isfinite(values[0]) else None


def _counts(candidates: Iterable[float | None], largest: int) -> list[int]:
    """Those of the candidates that are whole numbers from 1 on, each once, in order."""
    whole = [int(c) for c in candidates if c is not None and 1 <= c <= largest and c == int(c)]
    return list(dict.fromkeys(whole))


def _find_rate(
    content: bytes, processor: int, parameters: Parameters, fps: float | None, slips: Slips
) -> float:
    """Frame rate, Hz: the user's, the parameters', the header's."""
    in_header = float(read_floats(content[20:24].ljust(4, b"\0"), processor)[0])
    in_parameters = read_values(parameters, "POINT", "RATE")[:1]
    written = float(in_parameters[0]) if in_parameters.size else in_header
    low, high = RATES
    usable = [rate for rate in (written, in_header) if np.isfinite(rate) and low <= rate <= high]
    if not (np.isfinite(written) and written > 0 and abs(in_header - written) <= 0.01 * written):
        what = (
            f"the frame rate is {in_header:g} Hz by the header and {written:g} Hz by the parameters; they "
            "must be one positive number"
        )
        if fps is None and not usable:
            raise MotionError(f"{slips.source}: {what}; declare it (--fps)")
        if fps is None and len(usable) == 2:
            slips.doubt(what, f"{usable[0]:g} Hz taken")
        elif fps is None:
            slips.note(what, f"{usable[0]:g} Hz taken")
    if fps is None and not usable:
        raise MotionError(f"{slips.source}: the frame rate is {written:g} Hz; declare it (--fps)")
    return usable[0] if fps is None else fps


def _read_announced(
    content: bytes, header: list[int], processor: int, parameters: Parameters, rate: float, slips: Slips
) -> _Announced:
    """Read the counts of points, frames and samples by header and parameters; disagreements are slips."""
    for what, in_header, name in (
        ("points", header[1], "USED"),
        ("frames", header[4] - header[3] + 1, "FRAMES"),
        ("the first block of data", header[8], "DATA_START"),
    ):
        number = _number(parameters, "POINT", name)
        long = what == "frames" and MAX_FRAMES in (in_header, number)
        if number is not None and number != in_header and not long:
            slips.note(
                f"{what}: {in_header} by the header, {number:g} by the parameters",
                "the data in the file decide",
            )
        elif number is None and what == "points":
            slips.note("points: not in the parameters (POINT:USED)", "the header's count is taken")
    field = [read_values(parameters, "TRIAL", f"ACTUAL_{end}_FIELD") for end in ("START", "END")]
    trial = None
    if all(len(value) >= 2 for value in field):
        # Low and high word of a number of 32 bits.
        first, last = (value[0] + 65536.0 * value[1] for value in field)
        trial = last - first + 1
    used = _number(parameters, "ANALOG", "USED")
    ratio = int((_number(parameters, "ANALOG", "RATE") or 0.0) / rate)
    samples = [header[2], None if used is None else used * max(header[9], 1), (used or 0) * ratio]
    if not used and "USED" in {name for group, name in parameters if group == "ANALOG"}:
        # Without channels nothing lies between the points, whatever the header says.
        samples = [0, header[2]]
    scales = [float(read_floats(content[12:16].ljust(4, b"\0"), processor)[0])]
    scales = [*read_values(parameters, "POINT", "SCALE")[:1].tolist(), *scales]
    valid = [scale for scale in scales if np.isfinite(scale) and scale != 0.0]
    if len(valid) < len(scales) or (len(valid) == 2 and (valid[0] < 0) != (valid[1] < 0)):
        slips.note(
            f"the scales of points by the header and the parameters are {scales}; all must be negative "
            "(coordinates are floats) or positive (integers)",
            "the data in the file decide",
        )
    widths = list(dict.fromkeys([*(4 if scale < 0 else 2 for scale in valid), 4, 2]))
    counted = _counts((header[1], _number(parameters, "POINT", "USED")), MAX_POINTS)
    if len(counted) == 2 or (not counted and _number(parameters, "POINT", "USED") is None):
        counted = _counts((*counted, len(read_texts(parameters, "POINT", "LABELS"))), MAX_POINTS)
    behind = (content[0] - 1 + content[(content[0] - 1) * BLOCK + 2]) * BLOCK
    blocks = _counts((header[8], _number(parameters, "POINT", "DATA_START")), 65535)
    starts = [(block - 1) * BLOCK for block in blocks if block >= 2]
    return _Announced(
        starts=list(dict.fromkeys([*starts, behind])),
        points=counted,
        frames=_counts(
            (
                trial if MAX_FRAMES in (header[4], _number(parameters, "POINT", "FRAMES")) else None,
                _number(parameters, "POINT", "LONG_FRAMES"),
                header[4] - header[3] + 1,
                _number(parameters, "POINT", "FRAMES"),
                trial,
            ),
            2**31,
        ),
        samples=list(dict.fromkeys(int(n) for n in (*samples, 0) if n is not None and n >= 0)),
        widths=widths,
    )


def _check_auxiliary(
    content: bytes,
    header: list[int],
    parameters: Parameters,
    rate: float,
    announced: _Announced,
    slips: Slips,
) -> None:
    """Note what is wrong with analog channels and rotations, which hold no points."""
    frames = max(announced.frames, default=0)
    channels = _number(parameters, "ANALOG", "USED") or 0
    ratio = (_number(parameters, "ANALOG", "RATE") or 0.0) / rate
    ignored = "they are not read"
    if not 0 <= ratio * frames <= MAX_SUBFRAMES:
        slips.note(f"ANALOG:RATE is {ratio:g} times POINT:RATE, too much for {frames} frames", ignored)
    if channels:
        if header[2] != channels * header[9] or header[9] != int(ratio):
            slips.note(
                f"{header[2]} analog samples a frame by the header, {channels:g} channels at {ratio:g} times "
                "the rate of points by the parameters",
                "the data in the file decide",
            )
        for name, kind in (("SCALE", FLOATS), ("OFFSET", INTEGERS)):
            found = [
                v for (group, key), v in parameters.items() if group == "ANALOG" and key.startswith(name)
            ]
            count = sum(len(value.values) for value in found)
            if count < channels or any(value.kind != kind for value in found):
                slips.note(
                    f"ANALOG:{name} has {count} values for {channels:g} channels; each needs a number of "
                    f"type {kind}",
                    ignored,
                )
    used = _number(parameters, "ROTATION", "USED") or 0
    turns = _number(parameters, "ROTATION", "RATIO")
    turns = (_number(parameters, "ROTATION", "RATE") or 0.0) / rate if turns is None else turns
    begin = ((_number(parameters, "ROTATION", "DATA_START") or 0) - 1) * BLOCK
    # Each is a matrix of 16 floats and its reliability.
    inside = begin >= BLOCK and begin + used * turns * frames * 17 * 4 <= len(content)
    if not 0 <= turns <= MAX_ROTATIONS_PER_FRAME or (used and not inside):
        slips.note(
            f"truncated: {used:g} rotations, {turns:g} times a frame, do not lie inside the file", ignored
        )


def _fit_layout(
    content: bytes,
    header: list[int],
    processor: int,
    parameters: Parameters,
    told: tuple[float, _Announced],
    slips: Slips,
) -> C3dLayout:
    """Choose, of the layouts that are announced, the first one that fills the file."""
    rate, announced = told
    if not announced.frames or not announced.points:
        raise MotionError(
            f"{slips.source}: {max(announced.points, default=0)} points in "
            f"{max(announced.frames, default=0)} frames; there must be 1 to {MAX_POINTS} points and at least "
            "1 frame"
        )

    def size(points: int, samples: int, width: int) -> int:
        # A point is x, y, z, and as many bytes as one of them for the residual and the cameras.
        return (4 * points + samples) * width

    def rest(start: int, points: int, samples: int, width: int, frames: int) -> int:
        return len(content) - start - frames * size(points, samples, width)

    orders = (announced.starts, announced.points, announced.samples, announced.widths, announced.frames)
    first = tuple(order[0] for order in orders)
    agreed = len(announced.starts) == len(announced.points) == len(announced.frames) == 1
    if agreed and len({n for n in announced.samples if n}) <= 1:
        # Other data may lie behind the points, and a truncated file is no reason to doubt the counts.
        widths = announced.widths[: 1 + (rest(*first) >= BLOCK)]
        orders = ([first[0]], [first[1]], [first[2]], widths, [first[4]])
    whole = (option for option in product(*orders) if 0 <= rest(*option) < BLOCK)
    as_told = product(*orders[:2], [first[2]], [first[3]], orders[4])
    inside = (option for option in as_told if rest(*option) >= 0)
    start, points, samples, width, frames = next(whole, next(inside, first))
    # The longest that is announced and there, unless all that it has more is padding.
    for more in sorted(
        {f for f in announced.frames if f > frames and rest(start, points, samples, width, f) >= 0}
    ):
        begin, end = (start + count * size(points, samples, width) for count in (frames, more))
        frames = more if any(content[begin:end]) else frames
    if width != first[3]:
        slips.doubt(
            f"the scale of points says {'integers' if width == 4 else 'floats'}",
            f"the file's length fits {'floats' if width == 4 else 'integers'}, which is taken",
        )
    frame_size = size(points, samples, width)
    held = max(len(content) - start, 0) // frame_size
    needed = start + frames * frame_size
    if held < frames:
        slips.doubt(
            f"truncated: {frames} frames of {points} points from block {start // BLOCK + 1} on end at byte "
            f"{needed}, the file has {len(content)}",
            f"the {held} whole frames in it are read",
        )
    elif frames == MAX_FRAMES and held > frames:
        slips.note(f"more than {MAX_FRAMES} frames, the most this format counts", f"all {held} are read")
        frames = held
    if min(held, frames) < 1:
        raise MotionError(f"{slips.source}: truncated: the file has no whole frame of {points} points")
    scale = _number(parameters, "POINT", "SCALE")
    if scale is None or scale == 0.0:
        scale = float(read_floats(content[12:16], processor)[0])
    return C3dLayout(
        points=points,
        frames=min(held, frames),
        start=start,
        frame_size=frame_size,
        processor=processor,
        scale=abs(scale) if width == 2 else 0.0,
        rate=rate,
        first_frame=header[3],
        parameters=parameters,
    )
