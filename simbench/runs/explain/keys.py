"""Every key of a scenario and of a robot.yaml, from their JSON Schemas."""

import re
from collections.abc import Callable, Iterator, Mapping
from functools import lru_cache
from typing import Any, NamedTuple

import yaml

from simbench.errors import SimbenchError
from simbench.files.json_document import read_json_object
from simbench.files.text import parse_whole_number
from simbench.resources import resource_dir

Schema = dict[str, Any]

NAME = "<name>"
"""Placeholder of a name that the user chooses, such as that of a joint."""


class KeyEntry(NamedTuple):
    """Everything that the reference says about a key."""

    # Dotted key; a fixture's type stands for its number, and `<name>` for a name that the user chooses.
    name: str
    type: str  # Type of the value.
    unit: str  # Unit; empty for what has none.
    default: str  # Default value, as in YAML; `required` if there must be one, empty for a section.
    range: str  # Allowed values; empty if the type says all.
    description: str


class SectionEntry(NamedTuple):
    """A section of a file."""

    name: str  # Dotted name, such as `fixtures.drawer`; empty for the top level.
    description: str
    keys: tuple[KeyEntry, ...]  # Its keys in the order of the schema.


@lru_cache(maxsize=1)
def scenario_key_entries() -> tuple[SectionEntry, ...]:
    """List the keys of a scenario by section. Returns the top level first, then sections in their order."""
    return tuple(_sections(_read_schema("scenario")))


@lru_cache(maxsize=1)
def robot_key_entries() -> tuple[SectionEntry, ...]:
    """List the keys of a robot.yaml by section. Returns the top level first, then sections in their order."""
    return tuple(_sections(_read_schema("robot")))


def _read_schema(kind: str) -> Schema:
    """Read a schema that scripts/tools/write_schemas.py wrote; to make it from the models takes longer."""
    return read_json_object(resource_dir("schemas") / f"{kind}.json", SimbenchError)


KINDS: Mapping[str, Callable[[], tuple[SectionEntry, ...]]] = {
    "scenario": scenario_key_entries,
    "robot.yaml": robot_key_entries,
}
"""Function that lists the keys of each kind of file."""


def find_keys(sections: tuple[SectionEntry, ...], name: str) -> tuple[KeyEntry, ...]:
    """Find the keys that a name may mean.

    `sections`: sections of the file; `name`: dotted key as in a file or an override, such as
    `fixtures.0.mass_kg` or `joints.LElbowRoll.limits`. Returns keys of that name; of several fixtures, if the
    name gives the number of one.
    """
    entries = [entry for section in sections for entry in section.keys]
    exact = tuple(dict.fromkeys(entry for entry in entries if entry.name == name))
    found = exact or tuple(dict.fromkeys(entry for entry in entries if _means(name, entry.name)))
    above = name.rpartition(".")[0]
    if not found and above:
        # The name of a joint, posture or metric below a key that holds values by name.
        found = tuple(entry for entry in find_keys(sections, above) if entry.type.startswith("by name"))
    return found


def _means(name: str, pattern: str) -> bool:
    """Tell whether a name as in a file is that of a key."""
    steps, own = name.split("."), pattern.split(".")
    if own[0] == "checks" and len(own) > 1:
        # Names of metrics contain dots.
        bound = steps[-1] in ("min", "max") and len(steps) > 2
        return steps[0] == "checks" and len(steps) > 1 and (own[-1] == steps[-1] if bound else len(own) == 2)
    if "." in name and own[0] == "fixtures":
        return steps[0] == "fixtures" and parse_whole_number(steps[1]) is not None and steps[2:] == own[2:]
    without_numbers = [step for step in steps if parse_whole_number(step) is None]
    return len(without_numbers) == len(own) and all(
        mine in (given, NAME) for given, mine in zip(without_numbers, own, strict=True)
    )


def _sections(schema: Schema) -> Iterator[SectionEntry]:
    """Walk through a schema from its top level."""
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
            entries.append(_key(key, node, definitions, required=required, parent=bool(below)))
        yield SectionEntry(path, section.get("description", ""), tuple(entries))
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


def _key(name: str, node: Schema, definitions: Schema, *, required: bool, parent: bool) -> KeyEntry:
    """Describe a key."""
    unit = str(node.get("unit", ""))
    default = node.get("default")
    written = "required" if required else "" if default is None and parent else _yaml(default)
    written = "the task's own" if name.startswith("motion.task.") and default is None else written
    description = str(node.get("description", "")).removesuffix(f"Unit: {unit}.").strip()
    return KeyEntry(name, _type(node, definitions), unit, written, _range(node), description)


_TYPES = {
    "number": "number",
    "integer": "whole number",
    "string": "text",
    "boolean": "true or false",
}


def _type(node: Schema, definitions: Schema) -> str:
    """Say of which type a value is."""
    node = _resolved(node, definitions)
    kind = node.get("type", "")
    # That a value may be null, its default says.
    kinds = [each for each in (kind if isinstance(kind, list) else [kind]) if each != "null"]
    if "const" in node or "enum" in node:
        return "text"
    return " or ".join(dict.fromkeys(_one_type(each, node, definitions) for each in kinds))


def _one_type(kind: str, node: Schema, definitions: Schema) -> str:
    """Say what one of the types of a value is."""
    if kind in _TYPES:
        return _TYPES[kind]
    inner = [choice["then"] for choice in node.get("allOf", ()) if choice.get("if") == {"type": kind}]
    node = _resolved(inner[0], definitions) if inner else node
    if kind == "object":
        values = node.get("additionalProperties")
        return f"by name: {_type(values, definitions)}" if isinstance(values, dict) else "section"
    if "prefixItems" in node:
        types = dict.fromkeys(_type(each, definitions) for each in node["prefixItems"])
        return f"list of {len(node['prefixItems'])}: {', '.join(types)}"
    return f"list, each {_type(node.get('items', {}), definitions)}"


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


def _yaml(value: Any) -> str:
    """Write a value as in a YAML file."""
    if value is None:
        return "none"
    text = yaml.safe_dump(value, default_flow_style=True, allow_unicode=True, width=1000)
    return re.sub(r"\n(\.\.\.)?", "", text).strip()
