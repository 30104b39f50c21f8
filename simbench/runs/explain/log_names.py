"""Every variable, coordinate and attribute of a log, read from `schemas/names.json`.

The file is written by scripts/tools/write_schemas.py from what the modules declare that write logs; to import
them takes a second.
"""

import re
from functools import lru_cache
from typing import Any, NamedTuple

from simbench.errors import SimbenchError
from simbench.files.json_document import read_json_object
from simbench.resources import resource_dir

FIXTURE, JOINT = "<fixture>", "<joint>"
"""Placeholders of a fixture's and its joint's name."""


class LogEntry(NamedTuple):
    """Everything that the reference says about an entry of a log."""

    name: str  # Name in the log, or a pattern with `<fixture>` and `<joint>`.
    kind: str  # `variable`, `coordinate` or `attribute`.
    dims: str  # Dimensions, separated by commas; empty for an attribute.
    unit: str  # Unit, and the frame where there is one; empty for what has none.
    description: str
    present: str


@lru_cache(maxsize=1)
def log_entries() -> tuple[LogEntry, ...]:
    """List everything that a run's log can hold.

    Returns coordinates, variables, those of fixtures as patterns, and attributes.
    """
    return tuple(LogEntry(**entry) for entry in _read_names()["log"])


def find_log_entry(name: str) -> LogEntry | None:
    """Find the entry of a variable, coordinate or attribute.

    `name`: name as in a log, such as `drawer_travel_actor`. Returns its entry, named as asked; None if no log
    has it.
    """
    entries = log_entries()
    for entry in entries:
        if entry.name == name:
            return entry
    # Longer patterns first: `drawer_travel_actor` is no joint `travel_actor`.
    for entry in sorted(entries, key=lambda entry: -len(entry.name.replace(JOINT, "").replace(FIXTURE, ""))):
        expression = re.escape(entry.name)
        expression = expression.replace(re.escape(FIXTURE), "[A-Za-z0-9_-]+?")
        # Any word with an underscore could be a joint of some fixture.
        expression = expression.replace(re.escape(JOINT), f"(?:{'|'.join(shipped_joints())})")
        if "<" in entry.name and re.fullmatch(expression, name):
            return entry._replace(name=name)
    return None


@lru_cache(maxsize=1)
def shipped_joints() -> tuple[str, ...]:
    """List the names of the joints of all kinds of fixtures. Returns names, such as `travel`."""
    return tuple(_read_names()["joints"])


def _read_names() -> dict[str, Any]:
    return read_json_object(resource_dir("schemas") / "names.json", SimbenchError)
