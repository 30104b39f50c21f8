"""Text of files and of users: regular files of a bounded size in UTF-8, numbers, what can be shown."""

import codecs
import math
import os
import re
import stat
import sys
import unicodedata
from pathlib import Path

from simbench.errors import SimbenchError

MAX_FILE_BYTES = 500_000_000  # Size of the largest file that is read.

_KINDS = {
    stat.S_IFDIR: "a directory",
    stat.S_IFCHR: "a device",
    stat.S_IFBLK: "a device",
    stat.S_IFIFO: "a pipe",
    stat.S_IFSOCK: "a socket",
}


def require_regular_file(path: Path, error: type[SimbenchError], max_bytes: int = MAX_FILE_BYTES) -> Path:
    """Refuse, before it is opened, what is not a regular file, or too large.

    Opening a pipe waits for a writer, reading a device may never end, and a sparse file that takes no room on
    the disk may be larger than the memory. A name that is not text could not be written into logs or reports.
    `path`: file that will be read; `error`: class of the error that is raised; `max_bytes`: size of the
    largest file that is read. Returns the same path. A file that does not exist is left to whoever opens it.
    Raises SimbenchError of the given class, in one line.
    """
    try:
        str(path).encode()
    except UnicodeEncodeError:
        encoding = sys.getfilesystemencoding()
        raise error(f"{path}: the name is not text in {encoding}; rename it, or set PYTHONUTF8=1") from None
    try:
        found = os.stat(path)
    except FileNotFoundError:
        return path
    except OSError as reason:
        raise error(f"{path}: cannot be read: {reason.strerror}") from None
    except ValueError:
        # Python refuses a null character before the system is asked.
        raise error(f"{str(path)!r}: cannot be read: not the name of a file") from None
    if not stat.S_ISREG(found.st_mode):
        kind = _KINDS.get(stat.S_IFMT(found.st_mode), "not a regular file")
        raise error(f"{path}: cannot be read: is {kind}; give a file")
    if found.st_size > max_bytes:
        raise error(f"{path}: larger than {max_bytes / 1e6:g} MB, the largest file that is read here")
    return path


MAX_TEXT_BYTES = 10_000_000  # Size of the largest text file that is read.

# Encodings by the byte-order marks that files in them begin with. UTF-32's begin like UTF-16's.
_OTHER_ENCODINGS = {
    codecs.BOM_UTF32_LE: "UTF-32",
    codecs.BOM_UTF32_BE: "UTF-32",
    codecs.BOM_UTF16_LE: "UTF-16",
    codecs.BOM_UTF16_BE: "UTF-16",
}


def read_text(path: Path, error: type[SimbenchError], max_bytes: int = MAX_TEXT_BYTES) -> str:
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


_WHOLE = re.compile(r"[0-9]{1,18}")


def parse_whole_number(text: str, largest: int = 10**18 - 1) -> int | None:
    """Read a whole number from 0 on.

    `text`: text of ASCII digits alone; `largest`: largest number that is allowed. Returns the number; None if
    the text is no such number or it is larger.
    """
    number = int(text) if _WHOLE.fullmatch(text) else largest + 1
    return number if number <= largest else None


def parse_finite_number(text: str) -> float | None:
    """Read a finite number in decimal notation, with or without an exponent, between blanks or none.

    `text`: text of ASCII characters, without the underscores that Python allows between digits. Returns the
    number; None if the text is none, or one that is too large for a floating-point number.
    """
    if not text.isascii() or "_" in text:
        return None
    try:
        number = float(text)
    except ValueError:
        return None
    return number if math.isfinite(number) else None


_KEPT = ("\n", "\t")
# Soft hyphen and joiners, which ordinary words of some languages have.
_JOINERS = ("\u00ad", "\u200c", "\u200d")
# Categories of control characters, halves of pairs, separators of lines, and marks of direction.
_UNSAFE = ("Cc", "Cs", "Zl", "Zp", "Cf")


def printable(text: str) -> str:
    r"""Write control characters, line separators and marks of direction of a text as escapes, such as `\x1b`.

    Line feed and tab stay. `text`: any text, such as a name from a file. Returns the text without characters
    that control a terminal or change the order in which a line is shown.
    """
    if text.isascii() and text.isprintable():
        return text
    return "".join(
        character.encode("unicode_escape", "surrogatepass").decode("ascii")
        if unicodedata.category(character) in _UNSAFE and character not in _KEPT + _JOINERS
        else character
        for character in text
    )


def is_plain_name(name: str) -> bool:
    """Return whether a name has no line feed, tab or other character that `printable` would escape.

    `name`: name of a joint, a marker, or the like. Returns true if it can be shown as it is.
    """
    return printable(name) == name and not any(blank in name for blank in _KEPT)
