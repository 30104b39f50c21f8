"""Metrics and provenance as they are read back from a run directory: every value is checked."""

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from simbench.errors import RunError
from simbench.files.json_document import read_json_object
from simbench.runs.checks import Metric


def _is_text(value: Any) -> bool:
    return value is None or isinstance(value, str)


def _is_whole_number(value: Any) -> bool:
    return value is None or (isinstance(value, int) and not isinstance(value, bool))


def _is_list_of_text(value: Any) -> bool:
    return isinstance(value, list) and all(isinstance(each, str) for each in value)


def _is_text_by_name(value: Any) -> bool:
    return isinstance(value, dict) and all(isinstance(each, str) for each in value.values())


_PROVENANCE: Mapping[str, tuple[Callable[[Any], bool], str]] = {
    **dict.fromkeys(
        ("simbench", "git_commit", "date", "python", "platform", "processor"), (_is_text, "text or null")
    ),
    **dict.fromkeys(("seed", "cores"), (_is_whole_number, "a whole number or null")),
    "command": (_is_list_of_text, "a list of text"),
    "packages": (_is_text_by_name, "an object of text"),
}
"""Entries of `provenance.json` that are read: whether a value is allowed, and what is."""


_OPTIONAL: Mapping[str, tuple[Callable[[Any], bool], str]] = {"doubts": (_is_list_of_text, "a list of text")}
"""Entries that not every run has."""


def read_metrics(folder: Path) -> dict[str, Metric]:
    """Read the metrics of a complete run.

    `folder`: run directory. Returns metrics by name; None where a number was not finite.
    """
    content = _read(folder, "metrics.json")
    for name, value in content.items():
        if not (value is None or isinstance(value, bool | int | float | str)):
            raise RunError(f"{folder / 'metrics.json'}: {name}: must be a number, true, false, text or null")
    return content


def read_provenance(folder: Path) -> dict[str, Any]:
    """Read the provenance of a run.

    `folder`: run directory. Returns entries by name, as `collect_provenance` makes them.
    """
    content = _read(folder, "provenance.json")
    for name, (is_allowed, allowed) in {**_PROVENANCE, **_OPTIONAL}.items():
        if name not in content and name in _OPTIONAL:
            continue
        if name not in content:
            raise RunError(f"{folder / 'provenance.json'}: {name} is missing")
        if not is_allowed(content[name]):
            raise RunError(f"{folder / 'provenance.json'}: {name}: must be {allowed}")
    return content


def _read(folder: Path, name: str) -> dict[str, Any]:
    if not (folder / name).is_file():
        raise RunError(f"{folder}: is not a whole run directory: it has no {name}")
    return read_json_object(folder / name, RunError)
