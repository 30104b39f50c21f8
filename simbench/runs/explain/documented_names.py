"""Names that a user meets in files, read from `schemas/`: keys of scenarios and robot.yaml, entries of logs.

The files are written by scripts/tools/write_schemas.py from the models, and from what the modules declare
that write logs; to import these takes a second.
"""

import re
from collections.abc import Callable, Iterator, Mapping
from functools import lru_cache
from typing import Any, NamedTuple, TypeAlias

import yaml

from simbench.errors import SimbenchError
from simbench.files.json_document import read_json_object
from simbench.files.text import parse_whole_number
from simbench.resources import resource_dir

Schema = dict[str, Any]

NAME = "<name>"  # Placeholder of a name that the user chooses, such as that of a joint.
FIXTURE, JOINT = "<fixture>", "<joint>"  # Placeholders of a fixture's and its joint's name.


class KeyEntry(NamedTuple):
    """Everything that the reference says about a key."""

    # Dotted key; a fixture's type stands for its number, and `<name>` for a name that the user chooses.
    name: str
    type: str  # Type of the value.
    unit: str  # Unit; empty for what has none.
    default: str  # Default value, as in YAML; `required` if there must be one, empty for a section.
    range: str  # Allowed values; empty if the type says all.
    description: str


# A section of a file: its dotted name, such as `fixtures.drawer`, empty for the top level; its description;
# and its keys in the order of the schema.
SectionEntry: TypeAlias = tuple[str, str, tuple[KeyEntry, ...]]


@lru_cache(maxsize=1)
def scenario_key_entries() -> tuple[SectionEntry, ...]:
    """List the keys of a scenario by section. Returns the top level first, then sections in their order."""
    return tuple(_sections("scenario"))


@lru_cache(maxsize=1)
def robot_key_entries() -> tuple[SectionEntry, ...]:
    """List the keys of a robot.yaml by section. Returns the top level first, then sections in their order."""
    return tuple(_sections("robot"))


# Function that lists the keys of each kind of file.
KINDS: Mapping[str, Callable[[], tuple[SectionEntry, ...]]] = {
    "scenario": scenario_key_entries,
    "robot.yaml": robot_key_entries,
}


def find_keys(sections: tuple[SectionEntry, ...], name: str) -> tuple[KeyEntry, ...]:
    """Find the keys that a name may mean.

    `sections`: sections of the file; `name`: dotted key as in a file or an override, such as
    `fixtures.0.mass_kg` or `joints.LElbowRoll.limits`. Returns keys of that name; of several fixtures, if the
    name gives the number of one.
    """
    entries = list(dict.fromkeys(entry for _, _, keys in sections for entry in keys))
    found = [entry for entry in entries if entry.name == name]
    steps = name.split(".")
    without_numbers = [step for step in steps if parse_whole_number(step) is None]
    for entry in () if found else entries:
        own = entry.name.split(".")
        if own[0] == "checks" and len(own) > 1:
            # Names of metrics contain dots.
            bound = steps[-1] in ("min", "max") and len(steps) > 2
            fits = own[-1] == steps[-1] if bound else len(own) == 2
            fits = fits and steps[0] == "checks" and len(steps) > 1
        elif len(steps) > 1 and own[0] == "fixtures":
            fits = (
                steps[0] == "fixtures" and parse_whole_number(steps[1]) is not None and steps[2:] == own[2:]
            )
        else:
            fits = len(without_numbers) == len(own) and all(
                mine in (given, NAME) for given, mine in zip(without_numbers, own, strict=True)
            )
        if fits:
            found.append(entry)
    if not found and len(steps) > 1:
        # The name of a joint, posture or metric below a key that holds values by name.
        above = find_keys(sections, name.rpartition(".")[0])
        found = [entry for entry in above if entry.type.startswith("by name")]
    return tuple(found)


def _sections(kind: str) -> Iterator[SectionEntry]:
    """Walk through a file's schema from its top level."""
    schema = read_json_object(resource_dir("schemas") / f"{kind}.json", SimbenchError)
    definitions = schema["$defs"]
    waiting: list[tuple[str, Schema]] = [("", schema)]
    while waiting:
        path, section = waiting.pop(0)
        within, entries = [], []
        for name, written in section.get("properties", {}).items():
            node = {**_resolved(written, definitions), **{k: v for k, v in written.items() if k != "$ref"}}
            key = f"{path}.{name}" if path else name
            below = list(_below(key, node, definitions))
            within += below
            required = name in section.get("required", ()) or (
                path.startswith("fixtures.") and name == "type"
            )
            unit, default = str(node.get("unit", "")), node.get("default")
            if path == "motion.task" and default is None:
                shown = "the task's own"
            elif required:
                shown = "required"
            elif default is None:
                shown = "" if below else "none"
            else:
                text = yaml.safe_dump(default, default_flow_style=True, allow_unicode=True, width=1000)
                shown = re.sub(r"\n(\.\.\.)?", "", text).strip()
            description = str(node.get("description", "")).removesuffix(f"Unit: {unit}.").strip()
            entries.append(KeyEntry(key, _type(node, definitions), unit, shown, _range(node), description))
        yield path, section.get("description", ""), tuple(entries)
        waiting = within + waiting


def _below(path: str, node: Schema, definitions: Schema) -> Iterator[tuple[str, Schema]]:
    """Find the sections that the value of a key is made of."""
    node = _resolved(node, definitions)
    if "properties" in node and "type" in node["properties"] and "allOf" in node and "required" in node:
        for choice in node["allOf"]:
            kind = choice["if"]["properties"]["type"]["const"]
            yield f"{path}.{kind}", _resolved(choice["then"], definitions)
        return
    if node.get("properties"):
        yield path, node
    for choice in node.get("allOf", ()):
        if "then" in choice and "source" not in choice["if"].get("properties", {}):
            yield from _below(path, choice["then"], definitions)
    if path == "motion.task":
        for keys in ("ActorTaskKeys", "SweepTaskKeys"):
            yield path, definitions[keys]
    if isinstance(node.get("additionalProperties"), dict):
        yield from _below(f"{path}.{NAME}", node["additionalProperties"], definitions)
    if isinstance(node.get("items"), dict):
        yield from _below(path, node["items"], definitions)


def _resolved(node: Schema, definitions: Schema) -> Schema:
    """Follow a reference."""
    return definitions[node["$ref"].rpartition("/")[2]] if "$ref" in node else node


_TYPES = {"number": "number", "integer": "whole number", "string": "text", "boolean": "true or false"}


def _type(node: Schema, definitions: Schema) -> str:
    """Say of which type a value is."""
    node = _resolved(node, definitions)
    if "const" in node or "enum" in node:
        return "text"
    kind = node.get("type", "")
    types = []
    for each in kind if isinstance(kind, list) else [kind]:
        inner = [choice["then"] for choice in node.get("allOf", ()) if choice.get("if") == {"type": each}]
        value = _resolved(inner[0], definitions) if inner else node
        if each == "null":
            # That a value may be null, its default says.
            continue
        if each in _TYPES:
            types.append(_TYPES[each])
        elif each == "object":
            values = value.get("additionalProperties")
            types.append(f"by name: {_type(values, definitions)}" if isinstance(values, dict) else "section")
        elif "prefixItems" in value:
            items = dict.fromkeys(_type(item, definitions) for item in value["prefixItems"])
            types.append(f"list of {len(value['prefixItems'])}: {', '.join(items)}")
        else:
            types.append(f"list, each {_type(value.get('items', {}), definitions)}")
    return " or ".join(dict.fromkeys(types))


def _range(node: Schema) -> str:
    """Say which values are allowed."""
    if "enum" in node or "const" in node:
        return ", ".join(str(value) for value in node.get("enum", [node.get("const")]) if value is not None)
    if "plugins" in node:
        return ", ".join([*node["examples"], f"a plug-in of {node['plugins']}"])
    items = node.get("prefixItems")
    if items:
        ranges = list(dict.fromkeys(_range(item) for item in items))
        return f"each {ranges[0]}" if len(ranges) == 1 and ranges[0] else ""
    words = {"minimum": "≥", "exclusiveMinimum": ">", "maximum": "≤", "exclusiveMaximum": "<"}
    parts = [f"{sign} {node[word]:g}" for word, sign in words.items() if word in node]
    if node.get("multipleOf") == 2:
        parts.append("even")
    if "pattern" in node:
        parts.append("letters, digits, _ and -")
    return ", ".join(parts)


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
    names = read_json_object(resource_dir("schemas") / "names.json", SimbenchError)
    return tuple(LogEntry(**entry) for entry in names["log"])


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
    return tuple(read_json_object(resource_dir("schemas") / "names.json", SimbenchError)["joints"])
