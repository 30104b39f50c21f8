"""A scenario's values with the origin of each key: a line of its file, or an override."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import Enum
from os import PathLike, fspath
from typing import Any

import numpy as np

from simbench.errors import ScenarioError
from simbench.files.text import parse_whole_number
from simbench.files.yaml_document import MAX_DEPTH, KeyPath, YamlDocument, format_key_path, parse_yaml_value

Overrides = Sequence[str] | Mapping[str, Any]
"""Values to set in a scenario: `key=value` texts, or values by dotted or nested keys."""


@dataclass
class YamlSource:
    """Parsed YAML with the origin of its keys."""

    name: str  # File name for messages.
    data: dict[str, Any]  # Plain Python values.
    lines: dict[KeyPath, int]  # Line of each key, counted from 1.
    overrides: dict[KeyPath, str]  # What last set a key, as messages say it: `--set seed=1`.

    def origin(self, path: KeyPath) -> str:
        """Say where a key, or the nearest section around it, was written.

        Returns `file:line`, or the `--set` that set it.
        """
        for set_path, text in reversed(self.overrides.items()):
            if path[: len(set_path)] == set_path or set_path[: len(path)] == path:
                return text
        while path and path not in self.lines:
            path = path[:-1]
        return f"{self.name}:{self.lines.get(path, 1)}"


def make_source(document: YamlDocument) -> YamlSource:
    """Make a source without overrides from a document that holds a mapping.

    `document`: values and their positions. Returns the same values, with the lines of their keys.
    """
    data = {} if document.value is None else document.value
    if not isinstance(data, dict):
        shown = " ".join(repr(data).split())
        raise ScenarioError(f"{document.name}:1: must hold 'key: value' lines, not {shown:.60}")
    lines = {path: line for path, (line, _) in document.positions.items()}
    return YamlSource(document.name, data, lines, {})


def apply_override(source: YamlSource, override: str, dotted_sections: Sequence[str] = ()) -> None:
    """Set one key of a source in place from a `key=value` text.

    `source`: source to change; `override`: dotted key, list indices allowed, and a YAML value:
    `fixtures.0.mass_kg=3`; `dotted_sections`: top-level sections whose own keys contain dots, such as metric
    names.
    """
    key, equals, text = override.partition("=")
    key, origin = key.strip(), f"--set {override}"
    if not equals or not all(key.split(".")):
        raise ScenarioError(f"{origin}: must be key=value, for example seed=1")
    value = parse_yaml_value(text, origin, ScenarioError)
    _set_value(source, _split_key(key, dotted_sections), value, origin)


def apply_values(source: YamlSource, values: Mapping[str, Any], dotted_sections: Sequence[str] = ()) -> None:
    """Set keys of a source in place from a mapping.

    `source`: source to change. `values`: values by dotted keys, `{"fixtures.0.mass_kg": 3}`, by nested ones,
    `{"control": {"law": "pd"}}`, or both. A mapping sets the keys in it and keeps the others of its section.
    A value is a number, text, path, True, False, None, or a list, tuple or array of those. `dotted_sections`:
    top-level sections whose own keys contain dots, such as metric names. Raises ScenarioError if a key is not
    text, a value is of another kind, or a key leads through something that is not a section.
    """
    for key, value in _flat_values(values, ""):
        origin = f"override {key}"
        _set_value(source, _split_key(key, dotted_sections), _plain_value(value, origin), origin)


def _flat_values(values: Mapping[str, Any], before: str) -> Iterator[tuple[str, Any]]:
    """List the values of nested mappings by their dotted keys."""
    for key, value in values.items():
        if not isinstance(key, str) or not all(key.split(".")):
            raise ScenarioError(f"override {before}{key!r}: must be a key such as 'control.law'")
        if isinstance(value, Mapping) and value:
            yield from _flat_values(value, f"{before}{key}.")
        else:
            yield f"{before}{key}", value


def _plain_value(value: Any, origin: str) -> Any:
    """Make what YAML could hold of a value of Python or NumPy."""
    if isinstance(value, Enum):
        value = value.value
    if isinstance(value, np.ndarray | np.generic):
        value = value.tolist()
    if isinstance(value, PathLike):
        value = fspath(value)
    if value is None or isinstance(value, bool | int | float | str):
        return value
    if isinstance(value, Mapping):
        return {str(key): _plain_value(part, origin) for key, part in value.items()}
    if isinstance(value, list | tuple):
        return [_plain_value(part, origin) for part in value]
    raise ScenarioError(
        f"{origin}: must be a number, text, a path, true, false, None, a list or a mapping of those, "
        f"not {type(value).__name__}"
    )


def _set_value(source: YamlSource, steps: Sequence[str], value: Any, origin: str) -> None:
    """Set the value at a key path of a source, and remember what set it."""
    path: KeyPath = ()
    target: Any = source.data
    if len(steps) > MAX_DEPTH:
        raise ScenarioError(f"{origin}: the key is nested more than {MAX_DEPTH} deep")
    for number, step in enumerate(steps):
        if isinstance(target, list):
            index = parse_whole_number(step, len(target) - 1)
            if index is None:
                raise ScenarioError(
                    f"{origin}: '{step}' must be an index of '{format_key_path(path)}', "
                    + (f"0 to {len(target) - 1}" if target else "which is empty")
                )
            path = (*path, index)
        elif isinstance(target, dict):
            path = (*path, step)
        else:
            raise ScenarioError(f"{origin}: '{format_key_path(path)}' is a single value, not a section")
        if number == len(steps) - 1:
            target[path[-1]] = value
        else:
            if isinstance(target, dict) and target.get(step) is None:
                target[step] = {}
            target = target[path[-1]]
    source.overrides.pop(path, None)
    source.overrides[path] = origin


def _split_key(key: str, dotted_sections: Sequence[str]) -> list[str]:
    section, *rest = key.split(".")
    if section not in dotted_sections or not rest:
        return [section, *rest]
    tail = [rest.pop()] if len(rest) > 1 and rest[-1] in ("min", "max") else []
    return [section, ".".join(rest), *tail]


def find_value(data: Any, path: KeyPath) -> Any:
    """Return the value at a key path.

    `data`: nested mappings and lists. Returns the value; None if there is none.
    """
    for step in path:
        if isinstance(data, Mapping):
            data = data.get(step)
        elif isinstance(data, list) and isinstance(step, int) and step < len(data):
            data = data[step]
        else:
            return None
    return data
