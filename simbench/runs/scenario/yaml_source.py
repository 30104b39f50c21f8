"""A scenario's values with the origin of each key: a line of its file, or an override."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from simbench.errors import ScenarioError
from simbench.files.documents.number_text import parse_whole_number
from simbench.files.documents.yaml_document import (
    MAX_DEPTH,
    KeyPath,
    YamlDocument,
    format_key_path,
    parse_yaml_value,
)


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


def make_source(document: YamlDocument) -> YamlSource:
    """Make a source without overrides from a document that holds a mapping.

    Parameters
    ----------
    document : YamlDocument
        Values and their positions.

    Returns
    -------
    YamlSource
        The same values, with the lines of their keys.

    Raises
    ------
    ScenarioError
        If the document holds something else.
    """
    data = {} if document.value is None else document.value
    if not isinstance(data, dict):
        shown = " ".join(repr(data).split())
        raise ScenarioError(f"{document.name}:1: must hold 'key: value' lines, not {shown:.60}")
    lines = {path: line for path, (line, _) in document.positions.items()}
    return YamlSource(document.name, data, lines, {})


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
    value = parse_yaml_value(text, f"--set {override}", ScenarioError)
    path: KeyPath = ()
    target: Any = source.data
    steps = _split_key(key, dotted_sections)
    if len(steps) > MAX_DEPTH:
        raise ScenarioError(f"--set {override}: the key is nested more than {MAX_DEPTH} deep")
    for number, step in enumerate(steps):
        if isinstance(target, list):
            index = parse_whole_number(step, len(target) - 1)
            if index is None:
                raise ScenarioError(
                    f"--set {override}: '{step}' must be an index of '{format_key_path(path)}', "
                    + (f"0 to {len(target) - 1}" if target else "which is empty")
                )
            path = (*path, index)
        elif isinstance(target, dict):
            path = (*path, step)
        else:
            raise ScenarioError(
                f"--set {override}: '{format_key_path(path)}' is a single value, not a section"
            )
        if number == len(steps) - 1:
            target[path[-1]] = value
        else:
            if isinstance(target, dict) and target.get(step) is None:
                target[step] = {}
            target = target[path[-1]]
    source.overrides.pop(path, None)
    source.overrides[path] = override


def _split_key(key: str, dotted_sections: Sequence[str]) -> list[str]:
    section, *rest = key.split(".")
    if section not in dotted_sections or not rest:
        return [section, *rest]
    tail = [rest.pop()] if len(rest) > 1 and rest[-1] in ("min", "max") else []
    return [section, ".".join(rest), *tail]


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
