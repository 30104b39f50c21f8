"""Checksum at the end of an HDF5 file, checked before the HDF5 library reads it."""

import hashlib
from enum import Enum
from pathlib import Path

# Separator between the HDF5 file, whose own header says where it ends, and the checksum of its bytes.
SEAL = b"simbench checksum "
_DIGITS = 64  # Hexadecimal digits of a checksum.
_BLOCK = 1 << 20  # Bytes that are read at a time.


class SealState(Enum):
    """State of the checksum at the end of a file.

    `ABSENT` is a file of an older version, of another program, or one that was cut off; `BROKEN` one whose
    bytes have changed since they were written.
    """

    INTACT = "intact"
    ABSENT = "absent"
    BROKEN = "broken"


def checksum(content: bytes) -> bytes:
    """Compute the checksum that stands at the end of a file.

    `content`: bytes of the HDF5 file. Returns SHA-256 of the content in hexadecimal digits.
    """
    return hashlib.sha256(content).hexdigest().encode()


def seal(content: bytes) -> bytes:
    """Append its checksum to the bytes of an HDF5 file.

    HDF5 ignores bytes after the end that its header declares, and cuts them off when it changes the file.
    """
    return content + SEAL + checksum(content)


def inspect_seal(path: Path) -> SealState:
    """Compare the bytes of a file with the checksum at its end.

    `path`: HDF5 file. Returns whether there is a checksum, and whether it fits. Raises OSError if the file
    cannot be read.
    """
    length = path.stat().st_size - len(SEAL) - _DIGITS
    if length < 0:
        return SealState.ABSENT
    digest = hashlib.sha256()
    with path.open("rb") as file:
        file.seek(length)
        tail = file.read()
        if not tail.startswith(SEAL):
            return SealState.ABSENT
        file.seek(0)
        while length > 0 and (block := file.read(min(_BLOCK, length))):
            digest.update(block)
            length -= len(block)
    intact = tail[len(SEAL) :] == digest.hexdigest().encode()
    return SealState.INTACT if intact else SealState.BROKEN
