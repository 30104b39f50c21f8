"""Parser for the parameter section of a C3D file, which checks every record.

A record is: length of the name (negative when locked), number of the group (negative for the group itself,
positive for its parameters), name, offset of the next record, contents, length of the description,
description.
"""

from dataclasses import dataclass
from io import BytesIO
from math import prod

import numpy as np
from numpy.typing import NDArray

from simbench.errors import MotionError

INTEL, DEC, MIPS = 84, 85, 86
CHARACTERS, BYTES, INTEGERS, FLOATS = -1, 1, 2, 4


@dataclass(frozen=True)
class Parameter:
    """One named array of a C3D file.

    Parameters
    ----------
    kind : int
        Type of the values: `CHARACTERS`, `BYTES`, `INTEGERS` (of 16 bits) or `FLOATS` (of 32).
    values : (N,) array
        The numbers, or the codes of the characters, in the file's order.
    """

    kind: int
    values: NDArray[np.float64]


def walk_parameters(
    content: bytes, start: int, processor: int, source: str
) -> dict[tuple[str, str], Parameter]:
    """Read every parameter of a C3D file.

    Parameters
    ----------
    content : bytes
        Bytes of the whole file.
    start : int
        Index of the byte at which the first record begins.
    processor : int
        Number format of the file, `INTEL` or `DEC`.
    source : str
        Name of the file, for messages.

    Returns
    -------
    dict of (str, str) to Parameter
        Parameters by group and name, both in capitals.

    Raises
    ------
    MotionError
        The section extends beyond the end of the file, or its records do not follow each other.
    """
    groups: dict[int, str] = {}
    found: dict[tuple[int, str], Parameter] = {}
    stream = BytesIO(content)
    stream.seek(start)
    while True:
        begin = stream.tell()
        length = _integer(stream, 1, source)
        if length == 0:
            break
        group = _integer(stream, 1, source)
        name = _take(stream, abs(length), source).decode("latin-1").upper()
        if group == 0 or not name.isascii() or not name.isprintable() or name != name.strip():
            raise MotionError(
                f"{source}: byte {begin}: {name!r} of group {group} is no parameter; the section is damaged"
            )
        counted = stream.tell()
        offset = int.from_bytes(_take(stream, 2, source), "little")
        if group > 0:
            known = (group, name) in found
            found[group, name] = _read_parameter(stream, processor, name, source)
        else:
            known = -group in groups or name in groups.values()
            groups[-group] = name
        if known:
            raise MotionError(f"{source}: byte {begin}: {name} is there twice; names must differ")
        _take(stream, _take(stream, 1, source)[0], source)
        if offset == 0:
            break
        if counted + offset != stream.tell():
            raise MotionError(
                f"{source}: byte {begin}: {name} should end at byte {counted + offset} and ends at "
                f"{stream.tell()}; the parameter section is damaged"
            )
    return {(groups[group], name): value for (group, name), value in found.items() if group in groups}


def read_floats(data: bytes, processor: int) -> NDArray[np.float64]:
    """Decode 32-bit floats; those of DEC machines have swapped halves and an exponent bias greater by two.

    Parameters
    ----------
    data : bytes
        4 N bytes.
    processor : int
        Number format of the file, `INTEL` or `DEC`.

    Returns
    -------
    (N,) array
        The numbers.
    """
    words = np.frombuffer(data, dtype="<u2").reshape(-1, 2)
    if processor == DEC:
        words = words[:, ::-1]
    # Arbitrary bits may be a signalling NaN, whose conversion gives a warning.
    with np.errstate(invalid="ignore"):
        values = np.frombuffer(words.tobytes(), dtype="<f4").astype(np.float64)
    return values / 4 if processor == DEC else values


def _take(stream: BytesIO, count: int, source: str) -> bytes:
    """Read `count` bytes, which must be there."""
    piece = stream.read(count)
    if len(piece) < count:
        raise MotionError(
            f"{source}: truncated: the parameters are not complete at byte {stream.tell()}, the file's end"
        )
    return piece


def _integer(stream: BytesIO, count: int, source: str) -> int:
    """Read a signed integer of `count` bytes."""
    return int.from_bytes(_take(stream, count, source), "little", signed=True)


def _read_parameter(stream: BytesIO, processor: int, name: str, source: str) -> Parameter:
    """Read type, dimensions and values of a parameter."""
    kind = _integer(stream, 1, source)
    shape = tuple(_take(stream, _take(stream, 1, source)[0], source))
    # The other dimensions of an empty array may be anything, and ezc3d loops over them all.
    bad_shape = len(shape) > 7 or prod(max(n, 1) for n in shape) > 1 << 16
    if kind not in (CHARACTERS, BYTES, INTEGERS, FLOATS) or bad_shape or (kind == CHARACTERS and not shape):
        raise MotionError(
            f"{source}: parameter {name} has type {kind} and dimensions {shape}; allowed are types "
            f"{CHARACTERS}, {BYTES}, {INTEGERS}, {FLOATS}, and at most 7 dimensions of 65536 values in all"
        )
    data = _take(stream, prod(shape) * abs(kind), source)
    if kind == FLOATS:
        return Parameter(kind, read_floats(data, processor))
    return Parameter(kind, np.frombuffer(data, "<u2" if kind == INTEGERS else "u1").astype(np.float64))
