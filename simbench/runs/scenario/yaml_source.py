"""YAML parsed with the position of each key, so that an error can name file, line and key."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import yaml

from simbench.errors import ScenarioError

KeyPath = tuple[str | int, ...]
_MAX_DEPTH = 20
"""Levels of nesting; the limit ends the traversal of a YAML anchor that contains itself."""


class _Loader(yaml.SafeLoader):
    """SafeLoader with YAML 1.2's numbers and without dates."""


# YAML 1.1 reads `1e-3` as text and `2026-11-21` as a date object.
_Loader.yaml_implicit_resolvers = {
    first: [(tag, pattern) for tag, pattern in resolvers if tag != "tag:yaml.org,2002:timestamp"]
    for first, resolvers in yaml.SafeLoader.yaml_implicit_resolvers.items()
}
EXPONENT = (
    "tag:yaml.org,2002:float",
    re.compile(r"[-+]?(\d+\.?\d*|\.\d+)[eE][-+]?\d+$"),
    list("-+.0123456789"),
)
"""Tag, pattern and first characters of numbers with an exponent."""
_Loader.add_implicit_resolver(*EXPONENT)


@dataclass
class YamlSource:
    """Parsed YAML with the origin of its keys.

    Parameters
    ----------
    name : str
        File name for messages.
    data : dict
        Plain Python values.
    lines : mapping of key path to int
        Line of each key, counted from 1.
    overrides : mapping of key path to str
        Text `key=value` that last set a key.
    """

    name: str
    data: dict[str, Any]
    lines: dict[KeyPath, int]
    overrides: dict[KeyPath, str]

    def origin(self, path: KeyPath) -> str:
        """Say where a key, or the nearest section around it, was written.

        Parameters
        ----------
        path : tuple of str or int
            Key path.

        Returns
        -------
        str
            `file:line`, or the `--set` that set it.
        """
        for set_path, text in reversed(self.overrides.items()):
            if path[: len(set_path)] == set_path or set_path[: len(path)] == path:
                return f"--set {text}"
        while path and path not in self.lines:
            path = path[:-1]
        return f"{self.name}:{self.lines.get(path, 1)}"


def parse_yaml(text: str, name: str) -> YamlSource:
    """Parse a YAML mapping.

    Parameters
    ----------
    text : str
        YAML text.
    name : str
        File name for messages.

    Returns
    -------
    YamlSource
        Values and the lines of their keys.

    Raises
    ------
    ScenarioError
        Malformed YAML, a key that is not text, a duplicate key, or no mapping at the top.
    """
    lines: dict[KeyPath, int] = {}
    try:
        loader = _Loader(text)
        node = loader.get_single_node()
        _index_lines(node, (), lines, name)
        data = {} if node is None else loader.construct_document(node)
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        line = mark.line + 1 if mark else 1
        raise ScenarioError(f"{name}:{line}: not valid YAML: {_one_line(error.problem)}") from None
    except yaml.YAMLError as error:
        raise ScenarioError(f"{name}: not valid YAML: {_one_line(error)}") from None
    if not isinstance(data, dict):
        raise ScenarioError(f"{name}:1: must hold 'key: value' lines, not {_one_line(repr(data))}")
    return YamlSource(name, data, lines, {})


def _index_lines(node: yaml.Node | None, path: KeyPath, lines: dict[KeyPath, int], name: str) -> None:
    if len(path) > _MAX_DEPTH:
        raise ScenarioError(f"{name}:{lines[path]}: nested more than {_MAX_DEPTH} deep")
    if isinstance(node, yaml.SequenceNode):
        children: list[tuple[Any, yaml.Node, yaml.Node]] = [(i, v, v) for i, v in enumerate(node.value)]
    elif isinstance(node, yaml.MappingNode):
        children = [(key.value, key, value) for key, value in node.value]
    else:
        return
    for step, key_node, value in children:
        line = key_node.start_mark.line + 1
        if isinstance(node, yaml.MappingNode) and key_node.tag != "tag:yaml.org,2002:str":
            raise ScenarioError(f"{name}:{line}: key {_one_line(step)!r} must be plain text")
        child = (*path, step)
        if child in lines:
            raise ScenarioError(
                f"{name}:{line}: duplicate key '{format_key_path(child)}', first given in line {lines[child]}"
            )
        lines[child] = line
        _index_lines(value, child, lines, name)


def apply_override(source: YamlSource, override: str, dotted_sections: Sequence[str] = ()) -> None:
    """Set one key of a source in place from a `key=value` text.

    Parameters
    ----------
    source : YamlSource
        Source to change.
    override : str
        Dotted key, list indices allowed, and a YAML value: `fixtures.0.mass_kg=3`.
    dotted_sections : sequence of str
        Top-level sections whose own keys contain dots, such as metric names.

    Raises
    ------
    ScenarioError
        If the text has no `=`, its value is not YAML, or its key leads through something that is not a
        section.
    """
    key, equals, text = override.partition("=")
    key = key.strip()
    if not equals or not all(key.split(".")):
        raise ScenarioError(f"--set {override}: must be key=value, for example seed=1")
    try:
        value = yaml.load(text, Loader=_Loader)
    except yaml.YAMLError:
        raise ScenarioError(f"--set {override}: '{_one_line(text)}' is not a YAML value") from None
    path: KeyPath = ()
    target: Any = source.data
    steps = _split_key(key, dotted_sections)
    for number, step in enumerate(steps):
        if isinstance(target, list):
            if not step.isdecimal() or int(step) >= len(target):
                raise ScenarioError(
                    f"--set {override}: '{step}' must be an index of '{format_key_path(path)}', "
                    + (f"0 to {len(target) - 1}" if target else "which is empty")
                )
            path = (*path, int(step))
        elif isinstance(target, dict):
            path = (*path, step)
        else:
            raise ScenarioError(
                f"--set {override}: '{format_key_path(path)}' is a single value, not a section"
            )
        if number == len(steps) - 1:
            target[path[-1]] = value
        elif isinstance(target, list):
            target = target[int(step)]
        else:
            if target.get(step) is None:
                target[step] = {}
            target = target[step]
    source.overrides.pop(path, None)
    source.overrides[path] = override


def parse_list(text: str) -> list[tuple[str, Any]]:
    """Parse a list `a, b, c` of YAML values; commas inside brackets and quotes do not separate.

    Parameters
    ----------
    text : str
        The list.

    Returns
    -------
    list of (str, object)
        Each value as written, and as YAML reads it.

    Raises
    ------
    ScenarioError
        If it is not such a list.
    """
    inside = f"[{text}]"
    try:
        loader = _Loader(inside)
        node = loader.get_single_node()
        values = node.value if isinstance(node, yaml.SequenceNode) else []
        return [
            (inside[each.start_mark.index : each.end_mark.index], loader.construct_object(each, deep=True))
            for each in values
        ]
    except yaml.YAMLError:
        raise ScenarioError(f"'{_one_line(text)}' is not a list of YAML values") from None


def _split_key(key: str, dotted_sections: Sequence[str]) -> list[str]:
    section, *rest = key.split(".")
    if section not in dotted_sections or not rest:
        return [section, *rest]
    tail = [rest.pop()] if len(rest) > 1 and rest[-1] in ("min", "max") else []
    return [section, ".".join(rest), *tail]


def format_key_path(path: KeyPath) -> str:
    """Write a key path as `fixtures.0.mass_kg`.

    Parameters
    ----------
    path : tuple of str or int
        Key path.

    Returns
    -------
    str
        Keys joined by dots.
    """
    return ".".join(str(step) for step in path)


def find_value(data: Any, path: KeyPath) -> Any:
    """Return the value at a key path.

    Parameters
    ----------
    data : object
        Nested mappings and lists.
    path : tuple of str or int
        Key path.

    Returns
    -------
    object
        The value; None if there is none.
    """
    for step in path:
        if isinstance(data, Mapping):
            data = data.get(step)
        elif isinstance(data, list) and isinstance(step, int) and step < len(data):
            data = data[step]
        else:
            return None
    return data


def _one_line(text: object) -> str:
    return " ".join(str(text).split())
