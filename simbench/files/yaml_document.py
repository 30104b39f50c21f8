"""The loader of YAML: plain values with the position of each key, within limits of size and depth.

It constructs values of composed nodes itself, so no text can make it recurse deeply, construct an object or
fail in a constructor. Scalars are read as YAML 1.1 and 1.2 both read them, except that `yes`, `no`, `on` and
`off` are booleans, as in YAML 1.1, and `1e-3` is a number, as in YAML 1.2. Other scalars that the two
versions read differently, such as `017`, `1:30` and dates, are text.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NoReturn

import yaml

from simbench.errors import SimbenchError
from simbench.files.text import MAX_TEXT_BYTES, read_text, text_position

KeyPath = tuple[str | int, ...]  # Keys and list indices that lead to a value.

MAX_DEPTH = 20  # Levels of nesting.
MAX_NODES = 100_000  # Number of keys and values, those that aliases repeat included.

_PARSER: type = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
# Characters that YAML does not allow.
_UNPRINTABLE = re.compile("[^\t\n\r -~\x85\xa0-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")

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
# Tag, pattern and first characters of numbers with an exponent, text to a writer of YAML 1.1.
EXPONENT = (
    "tag:yaml.org,2002:float",
    re.compile(r"[-+]?([0-9]+\.?[0-9]*|\.[0-9]+)[eE][-+]?[0-9]+$"),
    list("-+.0123456789"),
)
_OCTAL = re.compile(r"[-+]?0[0-9_]+")  # An octal number in YAML 1.1, a decimal one in YAML 1.2.
# Digits of the longest integer that is read as one; longer ones are read as floating-point numbers.
_MAX_DIGITS = 40
_BARE_TAG = re.compile(r"(&\S+(\s|#.*\n)+)?!")
_PLAIN, _QUOTED, _COLLECTION = "plain", "quoted", "collection"  # Tags of nodes to which the text gives none.
# Messages of PyYAML that need another wording.
_PROBLEMS = {
    "but found another document": "a second document begins here; a file has one",
    "second occurrence": "not valid YAML: an anchor is given twice",
}


@dataclass(frozen=True)
class YamlDocument:
    """Values of a YAML text with their positions."""

    name: str  # Name of the file for messages.
    value: Any  # Plain Python values: dict, list, str, int, float, bool or None.
    # Line and column of each key and list item, counted from 1. A value that an alias repeats has the
    # position at which it is written.
    positions: Mapping[KeyPath, tuple[int, int]]


def read_yaml(path: Path, error: type[SimbenchError], max_bytes: int = MAX_TEXT_BYTES) -> YamlDocument:
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
    try:
        loader = _Loader(text)
        return YamlDocument(name, loader.construct(loader.root), loader.positions)
    except _Problem as problem:
        raise error(f"{name}:{problem.line}:{problem.column}: {problem.text}") from None


def parse_yaml_value(text: str, origin: str, error: type[SimbenchError]) -> Any:
    """Parse a YAML value of the command line.

    `origin`: name of the option for messages; `error`: class of the error that is raised. Returns plain
    Python values. Raises SimbenchError of the given class, in one line that begins with `origin`, as of
    `parse_yaml`.
    """
    try:
        loader = _Loader(text)
        return loader.construct(loader.root)
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
        loader = _Loader(inside)
        root = loader.root
        if not isinstance(root, yaml.SequenceNode) or root.end_mark.index != len(inside):
            raise _Problem(1, 1, "brackets do not match")
        return [
            (inside[each.start_mark.index : each.end_mark.index], loader.construct(each))
            for each in root.value
        ]
    except _Problem as problem:
        raise error(f"{origin}: '{_shortened(text)}' is not a list of YAML values: {problem.text}") from None


class _Problem(Exception):
    """What is wrong with a text, and where."""

    def __init__(self, line: int, column: int, text: str) -> None:
        super().__init__(text)
        self.line, self.column, self.text = line, column, text


class _Loader(_PARSER):  # type: ignore[misc]
    """Composes the nodes of a text's only document, and constructs plain values within the limits."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.positions: dict[KeyPath, tuple[int, int]] = {}
        self.root: yaml.Node | None = None
        """The document; None if the text is empty."""
        self._depth = self._count = 0
        found = _UNPRINTABLE.search(text)
        if found:
            code = f"U+{ord(found.group()):04X}"
            raise _Problem(*text_position(text, found.start()), f"not valid YAML: control character {code}")
        try:
            super().__init__(text)
            self.root = self.get_single_node()
        except yaml.MarkedYAMLError as error:
            mark = error.problem_mark or error.context_mark
            position = (mark.line + 1, mark.column + 1) if mark else (1, 1)
            problem = f"not valid YAML: {_shortened(error.problem)}"
            raise _Problem(*position, _PROBLEMS.get(str(error.problem), problem)) from None
        except yaml.YAMLError as error:
            raise _Problem(1, 1, f"not valid YAML: {_shortened(error)}") from None
        self._depth = self._count = 0

    def descend_resolver(self, parent: yaml.Node | None, index: Any) -> None:
        """Begin a node while the document is composed; end what is too deep or too large for memory."""
        self._depth += 1
        if parent is not None:
            self._require_limits(parent, self._depth - 1)

    def ascend_resolver(self) -> None:
        """End a node while the document is composed."""
        self._depth -= 1

    def resolve(self, kind: type[yaml.Node], value: Any, implicit: Any) -> str:
        """Return as a node's tag how it is written, unless the text gives the tag."""
        if kind is yaml.ScalarNode:
            return _PLAIN if implicit[0] else _QUOTED
        return _COLLECTION if implicit else "!"

    def _require_limits(self, node: yaml.Node, depth: int) -> None:
        """Count a node; refuse one inside so many collections, itself included, or after so many others."""
        self._count += 1
        if depth > MAX_DEPTH:
            _refuse(node, f"nested more than {MAX_DEPTH} deep")
        if self._count > MAX_NODES:
            _refuse(node, f"more than {MAX_NODES} keys and values")

    def construct(self, node: yaml.Node | None, path: KeyPath = ()) -> Any:
        """Make plain values of a node, and note the positions of what is in it. Aliases give copies.

        A scalar without quotes that is no number and no constant is text.
        """
        if node is None:
            return None
        is_scalar = isinstance(node, yaml.ScalarNode)
        self._depth += not is_scalar
        self._require_limits(node, self._depth)
        tagged = node.tag not in (_PLAIN, _QUOTED, _COLLECTION)
        # libyaml does not say it of `! text`, the source does.
        if tagged or _BARE_TAG.match(self.text, node.start_mark.index):
            tag = _shortened(node.tag.replace("tag:yaml.org,2002:", "!!")) if tagged else "!"
            _refuse(node, f"not valid YAML: tag {tag}; tags are not allowed")
        if is_scalar:
            text: str = node.value
            if node.tag == _PLAIN:
                if text in _CONSTANTS:
                    return _CONSTANTS[text]
                if _INTEGER.fullmatch(text) and len(text) <= _MAX_DIGITS:
                    return int(text)
                if _HEXADECIMAL.fullmatch(text):
                    return int(text, 16)
                if _FLOAT.fullmatch(text) and not _OCTAL.fullmatch(text):
                    return float(text)
            found = _UNPRINTABLE.search(text)
            if found:
                # An escape sequence makes a character that neither files nor paths can hold.
                _refuse(node, f"text with the control character U+{ord(found.group()):04X}")
            return text
        content: dict[str, Any] | list[Any]
        if isinstance(node, yaml.SequenceNode):
            content = []
            for index, value in enumerate(node.value):
                place: KeyPath = (*path, index)
                self.positions[place] = value.start_mark.line + 1, value.start_mark.column + 1
                content.append(self.construct(value, place))
        else:
            content = {}
            for name, (key, value) in self._entries(node, path).items():
                place = (*path, name)
                self.positions[place] = key.start_mark.line + 1, key.start_mark.column + 1
                content[name] = self.construct(value, place)
        self._depth -= 1
        return content

    def _entries(self, node: yaml.Node, path: KeyPath) -> dict[str, tuple[yaml.Node, yaml.Node]]:
        """List a mapping's keys and values: its own, then those that it takes over by the merge key `<<`."""
        own: dict[str, tuple[yaml.Node, yaml.Node]] = {}
        merged: list[yaml.Node] = []
        for key, value in node.value:
            if not isinstance(key, yaml.ScalarNode):
                _refuse(key, "a key must be plain text")
            name = self.construct(key)
            if not isinstance(name, str):
                _refuse(key, f"key {name!r:.60} must be plain text; quote it")
            if key.tag == _PLAIN and name == "<<":
                sources = value.value if isinstance(value, yaml.SequenceNode) else [value]
                if not all(isinstance(source, yaml.MappingNode) for source in sources):
                    _refuse(key, "merge key '<<' must have a mapping or a list of them")
                merged += sources
            elif name in own:
                shown, first = _shortened(format_key_path((*path, name))), own[name][0].start_mark.line + 1
                _refuse(key, f"duplicate key '{shown}', first given in line {first}")
            else:
                own[name] = key, value
        self._depth += 1
        for source in merged:
            self._require_limits(source, self._depth)
            for name, entry in self._entries(source, path).items():
                own.setdefault(name, entry)
        self._depth -= 1
        return own


def format_key_path(path: KeyPath) -> str:
    """Write a key path as `fixtures.0.mass_kg`. Returns keys joined by dots."""
    return ".".join(str(step) for step in path)


def _refuse(node: yaml.Node, text: str) -> NoReturn:
    raise _Problem(node.start_mark.line + 1, node.start_mark.column + 1, text)


def _shortened(text: object) -> str:
    line = " ".join(str(text).split())
    return line if len(line) <= 80 else line[:77] + "..."
