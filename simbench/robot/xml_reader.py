"""Reader of XML files that other people wrote: bounded in size and depth, without entities of their own."""

import xml.etree.ElementTree as ET
from pathlib import Path
from xml.parsers import expat

from simbench.errors import RobotError
from simbench.files.text import require_regular_file

LARGEST_FILE = 20_000_000
"""Largest file, bytes. Meshes are files of their own: the largest URDFs have a few megabytes."""
DEEPEST = 50
"""Largest depth of nested elements; a URDF needs seven."""
UTF_16_MARKS = (b"\xff\xfe", b"\xfe\xff")


class _NotAllowedError(Exception):
    """Something that XML allows and these files do not need."""


def read_xml(path: Path, largest: int = LARGEST_FILE) -> ET.Element:
    """Read an XML file.

    `largest`: largest size that is read, bytes. Returns the outermost element; names in a namespace have the
    form `{namespace}name`.
    """
    try:
        with require_regular_file(path, RobotError).open("rb") as file:
            content = file.read(largest + 1)
    except OSError as error:
        raise RobotError(f"{path}: cannot be read: {error.strerror}") from error
    if len(content) > largest:
        raise RobotError(f"{path}: larger than {largest // 1_000_000} MB; meshes belong in other files")
    if not content.startswith(UTF_16_MARKS):
        # Other readers accept blanks before the XML declaration and a zero byte at the end.
        content = content.strip(b"\0 \t\r\n")
    try:
        return _parse(content)
    except (expat.ExpatError, _NotAllowedError, LookupError, ValueError) as error:
        raise RobotError(f"{path}: not XML: {error}") from error


def _parse(content: bytes) -> ET.Element:
    """Build the elements of an XML text."""
    parser = expat.ParserCreate(namespace_separator="}")
    parser.buffer_text = True
    parser.ordered_attributes = False
    builder = ET.TreeBuilder()
    depth = 0

    def start(tag: str, attributes: dict[str, str]) -> None:
        nonlocal depth
        depth += 1
        if depth > DEEPEST:
            raise _NotAllowedError(
                f"line {parser.CurrentLineNumber}: <{tag}> is nested more than {DEEPEST} elements deep"
            )
        builder.start(_qualified(tag), {_qualified(key): value for key, value in attributes.items()})

    def end(tag: str) -> None:
        nonlocal depth
        depth -= 1
        builder.end(_qualified(tag))

    def declare_type(*_declaration: object) -> None:
        raise _NotAllowedError(
            f"line {parser.CurrentLineNumber}: a document type declaration is not allowed; "
            "write what its entities stand for"
        )

    parser.StartElementHandler = start
    parser.EndElementHandler = end
    parser.CharacterDataHandler = builder.data
    parser.StartDoctypeDeclHandler = declare_type
    parser.Parse(content, True)
    return builder.close()


def _qualified(name: str) -> str:
    """Write a name in a namespace as ElementTree does."""
    return "{" + name if "}" in name else name
