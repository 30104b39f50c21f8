"""The loader of YAML: plain values with the position of each key, within limits of size and depth.

It reads from the parser's events, so no text can make it recurse deeply, construct an object or fail in a
constructor. Scalars are read as YAML 1.1 and 1.2 both read them, except that `yes`, `no`, `on` and `off` are
booleans, as in YAML 1.1, and `1e-3` is a number, as in YAML 1.2. Other scalars that the two versions read
differently, such as `017`, `1:30` and dates, are text.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, NoReturn

import yaml

from simbench.errors import SimbenchError
from simbench.files.documents.text_file import MAX_BYTES, read_text, text_position

KeyPath = tuple[str | int, ...]
"""Keys and list indices that lead to a value."""

MAX_DEPTH = 20
"""Levels of nesting."""
MAX_NODES = 100_000
"""Number of keys and values, those that aliases repeat included."""

_PARSER: type = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
_UNPRINTABLE = re.compile("[^\t\n\r -~\x85\xa0-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
"""Characters that YAML does not allow."""

_CONSTANTS: dict[str, bool | float | None] = {
    **dict.fromkeys(("", "~", "null", "Null", "NULL"), None),
    **dict.fromkeys(("true", "True", "TRUE", "yes", "Yes", "YES", "on", "On", "ON"), True),
    **dict.fromkeys(("false", "False", "FALSE", "no", "No", "NO", "off", "Off", "OFF"), False),
    **dict.fromkeys((".inf", ".Inf", ".INF", "+.inf", "+.Inf", "+.INF"), float("inf")),
    **dict.fromkeys(("-.inf", "-.Inf", "-.INF"), float("-inf")),
    **dict.fromkeys((".nan", ".NaN", ".NAN"), float("nan")),
}
_INTEGER = re.compile(r"[-+]?(0|[1-9][0-9]*(_[0-9]+)*)")
_HEXADECIMAL = re.compile(r"[-+]?0x[0-9a-fA-F]{1,40}")
_FLOAT = re.compile(r"[-+]?([0-9]+(_[0-9]+)*\.?[0-9]*|\.[0-9]+)([eE][-+]?[0-9]+)?")
EXPONENT = (
    "tag:yaml.org,2002:float",
    re.compile(r"[-+]?([0-9]+\.?[0-9]*|\.[0-9]+)[eE][-+]?[0-9]+$"),
    list("-+.0123456789"),
)
"""Tag, pattern and first characters of numbers with an exponent, text to a writer of YAML 1.1."""
_OCTAL = re.compile(r"[-+]?0[0-9_]+")
"""An octal number in YAML 1.1, a decimal one in YAML 1.2."""
_MAX_DIGITS = 40
"""Digits of the longest integer that is read as one; longer ones are read as floating-point numbers."""

_MERGE = "<<"


@dataclass(frozen=True)
class YamlDocument:
    """Values of a YAML text with their positions."""

    name: str  # Name of the file for messages.
    value: Any  # Plain Python values: dict, list, str, int, float, bool or None.
    # Line and column of each key and list item, counted from 1. A value that an alias repeats has the
    # position at which it is written.
    positions: Mapping[KeyPath, tuple[int, int]]


def read_yaml(path: Path, error: type[SimbenchError], max_bytes: int = MAX_BYTES) -> YamlDocument:
    """Read a YAML file.

    `error`: class of the error that is raised; `max_bytes`: size of the largest file that is read. Returns
    values and their positions. Raises SimbenchError of the given class, in one line, as of `read_text` and
    `parse_yaml`.
    """
    return parse_yaml(read_text(path, error, max_bytes), str(path), error)


def parse_yaml(text: str, name: str, error: type[SimbenchError]) -> YamlDocument:
    """Parse one YAML document.

    `name`: name of the file for messages; `error`: class of the error that is raised. Returns values and
    their positions; the value of an empty text is None. Raises SimbenchError of the given class, in one line
    that begins with file, line and column: malformed YAML, an explicit tag, a key that is not text or is
    given twice, a second document, or more than the limits allow.
    """
    positions: dict[KeyPath, tuple[int, int]] = {}
    try:
        root = _read_tree(text)
        value = None if root is None else _construct(root, (), positions)
    except _Problem as problem:
        raise error(f"{name}:{problem.line}:{problem.column}: {problem.text}") from None
    return YamlDocument(name, value, positions)


def parse_yaml_value(text: str, origin: str, error: type[SimbenchError]) -> Any:
    """Parse a YAML value of the command line.

    `origin`: name of the option for messages; `error`: class of the error that is raised. Returns plain
    Python values. Raises SimbenchError of the given class, in one line that begins with `origin`, as of
    `parse_yaml`.
    """
    try:
        root = _read_tree(text)
        return None if root is None else _construct(root, (), {})
    except _Problem as problem:
        raise error(f"{origin}: '{_shortened(text)}' is not a YAML value: {problem.text}") from None


def parse_yaml_list(text: str, origin: str, error: type[SimbenchError]) -> list[tuple[str, Any]]:
    """Parse a list `a, b, c` of YAML values; commas inside brackets and quotes do not separate.

    `origin`: name of the option for messages; `error`: class of the error that is raised. Returns each value
    as written, and as YAML reads it. Raises SimbenchError of the given class, in one line that begins with
    `origin`: it is not such a list.
    """
    inside = f"[{text}]"
    try:
        root = _read_tree(inside)
        if root is None or root.kind != "list" or root.end != len(inside):
            raise _Problem(1, 1, "brackets do not match")
        return [(inside[each.start : each.end], _construct(each, (), {})) for _, each in root.children]
    except _Problem as problem:
        raise error(f"{origin}: '{_shortened(text)}' is not a list of YAML values: {problem.text}") from None


class _Problem(Exception):
    """What is wrong with a text, and where."""

    def __init__(self, line: int, column: int, text: str) -> None:
        super().__init__(text)
        self.line, self.column, self.text = line, column, text


@dataclass(slots=True)
class _Node:
    """A value as it is written: its place, and its content.

    `size` and `height` are the number of nodes in it and its levels of nesting, those of aliases included.
    """

    kind: Literal["scalar", "list", "mapping"]
    line: int
    column: int
    start: int
    end: int
    anchor: str | None = None
    scalar: Any = None
    plain: bool = False
    children: Sequence[tuple["_Node | None", "_Node"]] = ()
    """Keys and values; the items of a list have no keys."""
    size: int = 1
    height: int = 0


def _read_tree(text: str) -> _Node | None:
    """Read a text's only document from the parser's events; None if it is empty."""
    found = _UNPRINTABLE.search(text)
    if found:
        code = f"U+{ord(found.group()):04X}"
        raise _Problem(*text_position(text, found.start()), f"not valid YAML: control character {code}")
    tree = _TreeBuilder()
    try:
        for event in yaml.parse(text, Loader=_PARSER):
            tree.add(event)
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        position = (mark.line + 1, mark.column + 1) if mark else (1, 1)
        raise _Problem(*position, f"not valid YAML: {_shortened(error.problem)}") from None
    except yaml.YAMLError as error:
        raise _Problem(1, 1, f"not valid YAML: {_shortened(error)}") from None
    return tree.root


class _TreeBuilder:
    """Makes the tree of nodes from the parser's events."""

    def __init__(self) -> None:
        self.root: _Node | None = None
        self._open: list[_Node] = []
        """The collections around the next event, from the outermost one."""
        self._keys: list[_Node | None] = []
        """Of each of them, the key whose value comes next."""
        self._children: list[list[tuple[_Node | None, _Node]]] = []
        """Of each of them, the keys and values so far."""
        self._anchors: dict[str, _Node | None] = {}
        self._nodes = 0

    def add(self, event: Any) -> None:
        """Take the next event."""
        if isinstance(event, yaml.ScalarEvent):
            node = self._begin("scalar", event)
            node.plain = event.implicit[0]
            node.scalar = _read_scalar(event.value) if node.plain else event.value
            if isinstance(node.scalar, str):
                _require_text(node)
            self._attach(node, node)
        elif isinstance(event, yaml.CollectionStartEvent):
            self._begin_collection(event)
        elif isinstance(event, yaml.CollectionEndEvent):
            self._end_collection(event)
        elif isinstance(event, yaml.AliasEvent):
            self._add_alias(event)
        elif isinstance(event, yaml.DocumentStartEvent) and self.root is not None:
            _refuse(event, "a second document begins here; a file has one")

    def _begin(self, kind: Literal["scalar", "list", "mapping"], event: Any) -> _Node:
        """Make a node of an event."""
        mark = event.start_mark
        if event.tag is not None:
            tag = _shortened(event.tag.replace("tag:yaml.org,2002:", "!!"))
            _refuse(event, f"not valid YAML: tag {tag}; tags are not allowed")
        if event.anchor is not None:
            if event.anchor in self._anchors:
                _refuse(event, f"not valid YAML: anchor '&{_shortened(event.anchor)}' is given twice")
            self._anchors[event.anchor] = None
        return _Node(kind, mark.line + 1, mark.column + 1, mark.index, event.end_mark.index, event.anchor)

    def _begin_collection(self, event: Any) -> None:
        if len(self._open) >= MAX_DEPTH:
            _refuse(event, f"nested more than {MAX_DEPTH} deep")
        if self._open and self._open[-1].kind == "mapping" and self._keys[-1] is None:
            _refuse(event, "a key must be plain text")
        is_mapping = isinstance(event, yaml.MappingStartEvent)
        node = self._begin("mapping" if is_mapping else "list", event)
        node.height = 1
        self._open.append(node)
        self._keys.append(None)
        self._children.append([])

    def _end_collection(self, event: Any) -> None:
        node = self._open.pop()
        self._keys.pop()
        node.children = self._children.pop()
        node.end = event.end_mark.index
        self._attach(node, node)

    def _add_alias(self, event: Any) -> None:
        name = _shortened(event.anchor)
        if event.anchor not in self._anchors:
            _refuse(event, f"not valid YAML: alias '*{name}' has no anchor")
        target = self._anchors[event.anchor]
        if target is None:
            _refuse(event, f"alias '*{name}' is nested in its own anchor")
        if len(self._open) + target.height > MAX_DEPTH:
            _refuse(event, f"nested more than {MAX_DEPTH} deep")
        mark = event.start_mark
        written = _Node("scalar", mark.line + 1, mark.column + 1, mark.index, event.end_mark.index)
        self._attach(target, written)

    def _attach(self, node: _Node, written: _Node) -> None:
        """Give a complete node to the collection around it; `written` is the node or its alias."""
        if node.anchor is not None:
            self._anchors[node.anchor] = node
        # The nodes of a collection have been counted one by one, those of an alias have not.
        self._nodes += node.size if written is not node else 1
        if self._nodes > MAX_NODES:
            raise _Problem(written.line, written.column, f"more than {MAX_NODES} keys and values")
        if not self._open:
            self.root = node
            return
        parent = self._open[-1]
        parent.size += node.size
        parent.height = max(parent.height, node.height + 1)
        if parent.kind == "list":
            self._children[-1].append((None, node))
        elif self._keys[-1] is not None:
            self._children[-1].append((self._keys[-1], node))
            self._keys[-1] = None
        elif isinstance(node.scalar, str):
            self._keys[-1] = node
        else:
            shown = "" if node.kind != "scalar" else f" {node.scalar!r:.60}"
            raise _Problem(written.line, written.column, f"key{shown} must be plain text; quote it")


def _read_scalar(text: str) -> Any:
    """Read a scalar without quotes; what is no number and no constant is text."""
    if text in _CONSTANTS:
        return _CONSTANTS[text]
    if text[0] not in "+-.0123456789":
        return text
    if _INTEGER.fullmatch(text) and len(text) <= _MAX_DIGITS:
        return int(text)
    if _HEXADECIMAL.fullmatch(text):
        return int(text, 16)
    if _FLOAT.fullmatch(text) and not _OCTAL.fullmatch(text):
        return float(text)
    return text


def _require_text(node: _Node) -> None:
    """Refuse text in which an escape sequence makes a character that neither files nor paths can hold."""
    found = _UNPRINTABLE.search(node.scalar)
    if found:
        raise _Problem(node.line, node.column, f"text with the control character U+{ord(found.group()):04X}")


def _construct(node: _Node, path: KeyPath, positions: dict[KeyPath, tuple[int, int]]) -> Any:
    """Make plain values of a node, and note the positions of what is in it. Aliases give separate copies."""
    if node.kind == "scalar":
        return node.scalar
    if node.kind == "list":
        items = []
        for index, (_, value) in enumerate(node.children):
            child = (*path, index)
            positions[child] = (value.line, value.column)
            items.append(_construct(value, child, positions))
        return items
    values = {}
    for key, value in _entries(node, path):
        child = (*path, key.scalar)
        positions[child] = (key.line, key.column)
        values[key.scalar] = _construct(value, child, positions)
    return values


def _entries(node: _Node, path: KeyPath) -> Iterator[tuple[_Node, _Node]]:
    """List a mapping's keys and values: its own, then those that it takes over by the merge key `<<`."""
    own: dict[str, _Node] = {}
    merged: list[_Node] = []
    for key, value in node.children:
        assert key is not None
        if key.plain and key.scalar == _MERGE:
            sources = [source for _, source in value.children] if value.kind == "list" else [value]
            if any(source.kind != "mapping" for source in sources):
                raise _Problem(key.line, key.column, "merge key '<<' must have a mapping or a list of them")
            merged += sources
            continue
        if key.scalar in own:
            raise _Problem(
                key.line,
                key.column,
                f"duplicate key '{_shortened(format_key_path((*path, key.scalar)))}', "
                f"first given in line {own[key.scalar].line}",
            )
        own[key.scalar] = key
        yield key, value
    for source in merged:
        for key, value in _entries(source, path):
            if key.scalar not in own:
                own[key.scalar] = key
                yield key, value


def format_key_path(path: KeyPath) -> str:
    """Write a key path as `fixtures.0.mass_kg`. Returns keys joined by dots."""
    return ".".join(str(step) for step in path)


def _refuse(event: Any, text: str) -> NoReturn:
    raise _Problem(event.start_mark.line + 1, event.start_mark.column + 1, text)


def _shortened(text: object) -> str:
    line = " ".join(str(text).split())
    return line if len(line) <= 80 else line[:77] + "..."
