"""Parser for the parameter section of a C3D file, which checks every record.

A record is: length of the name (negative when locked), number of the group (negative for the group itself,
positive for its parameters), name, offset of the next record, contents, length of the description,
description.
"""

from dataclasses import dataclass
from math import prod

import numpy as np
from numpy.typing import NDArray

from simbench.errors import MotionError
from simbench.motion.readers.slips import Slips

INTEL, DEC, MIPS = 84, 85, 86
CHARACTERS, BYTES, INTEGERS, FLOATS = -1, 1, 2, 4
# Records in a section: real files have a few hundred.
MAX_RECORDS = 20_000


@dataclass(frozen=True)
class Parameter:
    """One named array of a C3D file."""

    kind: int  # Type of the values: `CHARACTERS`, `BYTES`, `INTEGERS` (of 16 bits) or `FLOATS` (of 32).
    shape: tuple[int, ...]  # Its dimensions, of which the first one varies fastest.
    values: NDArray[np.float64]  # (N,): the numbers, or the codes of the characters, in the file's order.


Parameters = dict[tuple[str, str], Parameter]


def walk_parameters(content: bytes, start: int, processor: int, slips: Slips) -> Parameters:
    """Read every parameter of a C3D file that can be read.

    `content`: bytes of the whole file; `start`: index of the byte at which the first record begins;
    `processor`: number format of the file, `INTEL`, `DEC` or `MIPS`; `slips`: takes what is malformed and
    left out. Returns parameters by group and name, both in capitals.
    """
    groups: dict[int, str] = {}
    found: dict[tuple[int, str], Parameter] = {}
    at: int | None = start
    for _ in range(MAX_RECORDS):
        if at is None or content[at : at + 1] in (b"", b"\0"):
            break
        if not _is_record(content, at):
            slips.doubt(
                f"byte {at}: {content[at + 2 : at + 22]!r} is no parameter; the section is damaged",
                "the parameters behind it are ignored",
            )
            break
        at = _read_record(content, at, processor, (groups, found), slips)
    if at is not None and at >= len(content):
        raise MotionError(
            f"{slips.source}: truncated: the parameters are not complete at byte {len(content)}, the file's "
            "end"
        )
    return {(groups[group], name): value for (group, name), value in found.items() if group in groups}


def read_floats(data: bytes, processor: int) -> NDArray[np.float64]:
    """Decode 32-bit floats.

    Those of DEC machines have swapped halves and an exponent bias greater by two, those of MIPS machines have
    the most significant byte first. `data`: 4 N bytes; `processor`: number format of the file, `INTEL`, `DEC`
    or `MIPS`. Returns (N,): the numbers.
    """
    # Arbitrary bits may be a signalling NaN, whose conversion gives a warning.
    with np.errstate(invalid="ignore"):
        if processor == DEC:
            words = np.frombuffer(data, dtype="<u2").reshape(-1, 2)[:, ::-1]
            return np.frombuffer(words.tobytes(), dtype="<f4").astype(np.float64) / 4
        return np.frombuffer(data, dtype=">f4" if processor == MIPS else "<f4").astype(np.float64)


def read_words(data: bytes, processor: int) -> list[int]:
    """Decode unsigned integers of 16 bits.

    `data`: 2 N bytes; `processor`: number format of the file, `INTEL`, `DEC` or `MIPS`. Returns the numbers.
    """
    return [int(word) for word in np.frombuffer(data, dtype=">u2" if processor == MIPS else "<u2")]


def read_texts(parameters: Parameters, group: str, name: str) -> list[str]:
    """Read the texts of a parameter and of its continuations (`LABELS2`, ...), without surrounding blanks.

    `group`, `name`: group and name, in capitals. Returns the texts, empty where there are none.
    """
    texts: list[str] = []
    number = 1
    while (
        found := parameters.get((group, name if number == 1 else f"{name}{number}"))
    ) is not None and found.kind == CHARACTERS:
        width = found.shape[0] if found.shape else 1
        data = found.values.astype(np.uint8).tobytes()
        pieces = [data[k : k + width] for k in range(0, len(data), width)] if width else []
        texts += [_decode(piece) for piece in pieces]
        number += 1
    return texts


def read_values(parameters: Parameters, group: str, name: str) -> NDArray[np.float64]:
    """Read the numbers of a parameter.

    `group`, `name`: group and name, in capitals. Returns (N,): its numbers; empty if it is missing or a text.
    """
    found = parameters.get((group, name))
    return np.empty(0) if found is None or found.kind == CHARACTERS else found.values


def _decode(piece: bytes) -> str:
    """Text without padding, in UTF-8 or the code of Western Windows."""
    try:
        text = piece.decode("utf-8")
    except UnicodeDecodeError:
        text = piece.decode("latin-1")
    return text.strip().strip("\0").strip()


def _is_record(content: bytes, at: int) -> bool:
    """Tell whether a record can begin at a byte: the section's end, or a name of printable characters."""
    head = content[at : at + 2]
    if head[:1] == b"\0":
        return True
    if len(head) < 2 or head[1] == 0:
        return False
    length = abs(int.from_bytes(head[:1], "little", signed=True))
    name = content[at + 2 : at + 2 + length].decode("latin-1")
    return len(name) == length and name.isascii() and name.isprintable() and name == name.strip()


def _read_record(
    content: bytes,
    begin: int,
    processor: int,
    known: tuple[dict[int, str], dict[tuple[int, str], Parameter]],
    slips: Slips,
) -> int | None:
    """Read one record into `known`; return the next one's first byte, or None if it is the last."""
    groups, found = known
    length = abs(int.from_bytes(content[begin : begin + 1], "little", signed=True))
    group = int.from_bytes(content[begin + 1 : begin + 2], "little", signed=True)
    counted = begin + 2 + length
    name = content[begin + 2 : counted].decode("latin-1").upper()
    if counted + 2 > len(content):
        return len(content)
    offset = read_words(content[counted : counted + 2], processor)[0]
    if group > 0:
        twice = (group, name) in found
        end, value, problem = _read_parameter(content, counted + 2, processor)
        if problem is not None:
            if end >= len(content) and counted + offset >= len(content):
                return len(content)
            slips.doubt(f"parameter {name} has {problem}", "it is ignored")
        elif not twice and value is not None:
            found[group, name] = value
    else:
        twice = -group in groups or name in groups.values()
        groups.setdefault(-group, name)
        end = counted + 2
    if twice:
        slips.doubt(f"byte {begin}: {name} is there twice; names must differ", "the first is taken")
    # Behind the contents is the description, and its length.
    end += 1 + (content[end] if end < len(content) else 0)
    if offset == 0:
        return None
    if counted + offset != end:
        ends = f"byte {begin}: {name} should end at byte {counted + offset} and ends at {end}; the parameter"
        if offset >= 2 and counted + offset < len(content) and _is_record(content, counted + offset):
            end = counted + offset
            slips.note(f"{ends} section is damaged", "the next one was found where it is announced")
        else:
            slips.doubt(f"{ends} section is damaged", "read on behind its contents")
    return end


def _read_parameter(content: bytes, at: int, processor: int) -> tuple[int, Parameter | None, str | None]:
    """Read type, dimensions and values: the byte behind them, the parameter, and what is wrong with it."""
    if at + 2 > len(content):
        return len(content), None, "no type"
    kind = int.from_bytes(content[at : at + 1], "little", signed=True)
    count = content[at + 1]
    shape = tuple(content[at + 2 : at + 2 + count])
    begin = at + 2 + count
    size = prod(shape) * abs(kind)
    # The other dimensions of an empty array may be anything.
    bad_shape = len(shape) < count or len(shape) > 7 or prod(max(n, 1) for n in shape) > 1 << 16
    if kind not in (CHARACTERS, BYTES, INTEGERS, FLOATS) or bad_shape or (kind == CHARACTERS and not shape):
        return (
            begin,
            None,
            f"type {kind} and dimensions {shape}; allowed are types {CHARACTERS}, {BYTES}, {INTEGERS}, "
            f"{FLOATS}, and at most 7 dimensions of 65536 values in all",
        )
    if begin + size > len(content):
        return len(content), None, f"{size} bytes of values beyond the end of the file; it is truncated"
    data = content[begin : begin + size]
    if kind == FLOATS:
        values = read_floats(data, processor)
    elif kind == INTEGERS:
        values = np.array(read_words(data, processor), dtype=np.float64)
    else:
        values = np.frombuffer(data, "u1").astype(np.float64)
    return begin + size, Parameter(kind, shape, values), None
