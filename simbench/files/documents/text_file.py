"""Text read from files: size and encoding are checked, and errors name file, line and column."""

import codecs
from pathlib import Path

from simbench.errors import SimbenchError
from simbench.files.input_files import require_regular_file

MAX_BYTES = 10_000_000
"""Size of the largest file that is read."""

_OTHER_ENCODINGS = {
    codecs.BOM_UTF32_LE: "UTF-32",
    codecs.BOM_UTF32_BE: "UTF-32",
    codecs.BOM_UTF16_LE: "UTF-16",
    codecs.BOM_UTF16_BE: "UTF-16",
}
"""Encodings by the byte-order marks that files in them begin with. UTF-32's begin like UTF-16's."""


def read_text(path: Path, error: type[SimbenchError], max_bytes: int = MAX_BYTES) -> str:
    """Read a text file in UTF-8; a byte-order mark at its beginning is left out.

    `error`: class of the error that is raised; `max_bytes`: size of the largest file that is read. Returns
    the text, with the file's own line breaks. Raises SimbenchError of the given class, in one line: the file
    cannot be read, is too large or is not in UTF-8.
    """
    try:
        with require_regular_file(path, error).open("rb") as file:
            data = file.read(max_bytes + 1)
    except OSError as reason:
        raise error(f"{path}: cannot be read: {reason.strerror}") from None
    if len(data) > max_bytes:
        raise error(f"{path}: larger than {max_bytes / 1e6:g} MB, the largest file that is read here")
    return decode_text(data, str(path), error)


def decode_text(data: bytes, name: str, error: type[SimbenchError]) -> str:
    """Decode UTF-8; a byte-order mark at the beginning is left out.

    `data`: encoded text; `name`: name of the file for messages; `error`: class of the error that is raised.
    Raises SimbenchError of the given class, in one line, with line and column of the first byte that is not
    UTF-8.
    """
    for mark, encoding in _OTHER_ENCODINGS.items():
        if data.startswith(mark):
            raise error(f"{name}:1:1: not a text file in UTF-8, but in {encoding}")
    try:
        return data.decode("utf-8").removeprefix("\ufeff")
    except UnicodeDecodeError as reason:
        line, column = text_position(data[: reason.start].decode("utf-8"), None)
        raise error(
            f"{name}:{line}:{column}: not a text file in UTF-8: byte 0x{data[reason.start]:02x}"
        ) from None


def text_position(text: str, index: int | None) -> tuple[int, int]:
    """Find line and column of a character.

    `index`: index of the character; None is the end of the text. Returns `line`: line, counted from 1;
    `column`: column, counted from 1.
    """
    end = len(text) if index is None else index
    return text.count("\n", 0, end) + 1, end - text.rfind("\n", 0, end)
