"""The reader of XML: regular files of a bounded size and depth, without entities of their own."""

import xml.etree.ElementTree as ET
from pathlib import Path
from xml.parsers import expat

from simbench.errors import SimbenchError
from simbench.files.text import require_regular_file

# Largest file, bytes. Meshes are files of their own: the largest URDFs have a few megabytes.
LARGEST_FILE = 20_000_000
DEEPEST = 50  # Largest depth of nested elements; a URDF needs seven.
UTF_16_MARKS = (b"\xff\xfe", b"\xfe\xff")


def read_xml(path: Path, error: type[SimbenchError], largest: int = LARGEST_FILE) -> ET.Element:
    """Read an XML file.

    `error`: class of the error that is raised; `largest`: largest size that is read, bytes. Returns the
    outermost element; names in a namespace have the form `{namespace}name`.
    """
    try:
        with require_regular_file(path, error).open("rb") as file:
            content = file.read(largest + 1)
    except OSError as reason:
        raise error(f"{path}: cannot be read: {reason.strerror}") from reason
    if len(content) > largest:
        raise error(f"{path}: larger than {largest // 1_000_000} MB; meshes belong in other files")
    if not content.startswith(UTF_16_MARKS):
        # Other readers accept blanks before the XML declaration and a zero byte at the end.
        content = content.strip(b"\0 \t\r\n")
    parser = expat.ParserCreate(namespace_separator="}")
    parser.buffer_text = True
    parser.ordered_attributes = False
    builder = ET.TreeBuilder()
    depth = 0

    def start(tag: str, attributes: dict[str, str]) -> None:
        nonlocal depth
        depth += 1
        if depth > DEEPEST:
            raise ValueError(
                f"line {parser.CurrentLineNumber}: <{tag}> is nested more than {DEEPEST} elements deep"
            )
        # Names in a namespace are written as ElementTree does.
        names = {name: "{" + name if "}" in name else name for name in (tag, *attributes)}
        builder.start(names[tag], {names[key]: value for key, value in attributes.items()})

    def end(tag: str) -> None:
        nonlocal depth
        depth -= 1
        builder.end("{" + tag if "}" in tag else tag)

    def declare_type(*_declaration: object) -> None:
        raise ValueError(
            f"line {parser.CurrentLineNumber}: a document type declaration is not allowed; "
            "write what its entities stand for"
        )

    parser.StartElementHandler = start
    parser.EndElementHandler = end
    parser.CharacterDataHandler = builder.data
    parser.StartDoctypeDeclHandler = declare_type
    try:
        parser.Parse(content, True)
    except (expat.ExpatError, LookupError, ValueError) as reason:
        raise error(f"{path}: not XML: {reason}") from reason
    return builder.close()
