"""JSON Schemas with which editors complete keys of scenario.yaml and robot.yaml, and flag errors.

They come from the pydantic models; `scripts/tools/write_schemas.py` writes those of simbench's own to
`schemas/`. What pydantic writes is rearranged so that an error is reported at the key
that is wrong: a union of types becomes a condition on the value's type, and the fixtures a condition on their
key `type`.
"""

import inspect
from collections.abc import Mapping
from typing import Any

from pydantic import BaseModel

from simbench.errors import PluginError
from simbench.files.json_document import read_json_object
from simbench.options import BALANCE_CONTROLLERS, CONTROL_LAWS, RETARGETING_METHODS
from simbench.plugins.declarations import is_plugin, require_plugin
from simbench.resources import resource_dir
from simbench.runs.metric_catalogue import UNITS, unit_of
from simbench.sim.fixtures import TYPES

Schema = dict[str, Any]

# Sections with options of a plug-in: key that names it, its group, and simbench's own names.
_OPTIONS = {
    "control": ("law", "control_laws", CONTROL_LAWS),
    "balance": ("controller", "balance_controllers", BALANCE_CONTROLLERS),
    "retarget": ("method", "retargeters", RETARGETING_METHODS),
}
# Endings that are written by mistake instead of a unit; the name without a unit is one too.
_WRONG_UNITS = {
    "_m": "mm cm km in ft",
    "_rad": "deg degrees",
    "_deg": "rad",
    "_kg": "g mg t lb",
    "_s": "ms us min h",
    "_hz": "khz rpm s ms",
    "_n": "kn lbf nm",
    "_nm": "nmm ncm knm n",
    "_ns": "n knms",
    "_rad_s": "deg_s rpm",
    "_n_m": "n_mm kn_m n",
    "_ns_m": "ns_mm n_m",
    "_nm_rad": "nm_deg nm",
    "_nms": "nm nms_rad",
    "_nms_rad": "nms nms_deg",
    "_kg_m2": "kg_cm2 g_cm2 g_mm2 kgm2",
    "_j_m3": "j_cm3 j_mm3",
    "_j_m2": "j_cm2 j_mm2",
    "_j_m": "j_mm j_cm",
}


def scenario_schema_for(data: Mapping[str, Any]) -> Schema:
    """Make the JSON Schema of one scenario, with the sections of the plug-ins that it names.

    `data`: the scenario's values; they need not be valid. Returns schema in JSON Schema 2020-12. Raises
    PluginError if a plug-in cannot be loaded.
    """
    schema = read_json_object(resource_dir("schemas") / "scenario.json", PluginError)
    definitions, choice = schema["$defs"], schema["properties"]["fixtures"]["items"]
    fixtures = data.get("fixtures")
    for fixture in fixtures if isinstance(fixtures, list) else ():
        kind = fixture.get("type") if isinstance(fixture, dict) else None
        if is_plugin("fixtures", kind, TYPES):
            reference = _define(definitions, require_plugin("fixtures", str(kind)).value)
            choice["properties"]["type"]["then"]["enum"].append(kind)
            condition = {"properties": {"type": {"const": kind}}, "required": ["type"]}
            choice["allOf"].append({"if": condition, "then": reference})
    for section, (key, group, shipped) in _OPTIONS.items():
        given = data.get(section)
        name = given.get(key) if isinstance(given, dict) else None
        value = require_plugin(group, str(name)).value if is_plugin(group, name, shipped) else None
        if inspect.isclass(value) and issubclass(value, BaseModel):
            properties = definitions[f"{section.capitalize()}Section"]["properties"]
            properties["options"] = _define(definitions, value)
    return schema


def _define(definitions: Schema, section: type[BaseModel]) -> Schema:
    """Add a plug-in's section to the definitions; return the reference to it."""
    made = rearrange(section.model_json_schema())
    definitions.update(
        {name: each for name, each in made.pop("$defs", {}).items() if name not in definitions}
    )
    finish_section(made)
    name = f"plugin.{section.__name__}"
    definitions[name] = made
    return {"$ref": f"#/$defs/{name}"}


def rearrange(node: Any, *, names: bool = False) -> Any:
    """Rewrite what pydantic made; `names` says that the keys of a mapping are names, not keywords."""
    if isinstance(node, list):
        return [rearrange(each) for each in node]
    if not isinstance(node, dict):
        return node
    result = {
        key: value if key == "default" else rearrange(value, names=key in ("properties", "$defs"))
        for key, value in node.items()
        if names or key != "title"
    }
    if names:
        return result
    if "$ref" in result or isinstance(result.get("default"), dict):
        # A section's defaults are those of its keys.
        result.pop("default", None)
    if "description" in result:
        result["description"] = " ".join(result["description"].partition("\n\nParameters\n")[0].split())
    if "discriminator" in result:
        return _split_by_type(result)
    for keyword in ("anyOf", "oneOf"):
        if keyword in result:
            return _split_union(result, result.pop(keyword))
    return result


def _split_by_type(schema: Schema) -> Schema:
    """Make the choice among the kinds of fixtures depend on their key `type`."""
    schema = dict(schema)
    mapping = schema.pop("discriminator")["mapping"]
    schema.pop("oneOf")
    return {
        "type": "object",
        "required": ["type"],
        # With a colon it names code of a plug-in.
        "properties": {"type": {"if": {"not": {"pattern": ":"}}, "then": {"enum": list(mapping)}}},
        "allOf": [
            {
                "if": {"properties": {"type": {"const": name}}, "required": ["type"]},
                "then": {"$ref": reference},
            }
            for name, reference in mapping.items()
        ],
        **schema,
    }


def _split_union(schema: Schema, alternatives: list[Schema]) -> Schema:
    """Make the choice among alternatives depend on the type of the value."""
    types = ["object" if "$ref" in each else each["type"] for each in alternatives]
    if set(types) == {"integer", "number"}:
        return {**schema, "type": "number"}
    if types[1:] == ["null"] and types[0] != "object":
        simple = dict(alternatives[0])
        if "enum" in simple:
            simple["enum"] = [*simple["enum"], None]
        return {**schema, **simple, "type": [types[0], "null"]}
    conditions = [
        {"if": {"type": kind}, "then": each}
        for kind, each in zip(types, alternatives, strict=True)
        if set(each) != {"type"}
    ]
    return {**schema, "type": types, "allOf": conditions}


def finish_section(section: Schema) -> None:
    """Say the unit of each key, and flag names with a wrong unit or none."""
    properties: Mapping[str, Schema] = section.get("properties", {})
    for name, schema in properties.items():
        units = {item.get("unit", "") for item in schema.get("prefixItems", [])}
        # All numbers of a list may have the same unit.
        unit = schema.get("unit") or (str(units.pop()) if len(units) == 1 else "") or unit_of(name)
        if unit:
            schema["description"] = f"{schema.get('description', '')} Unit: {unit}.".strip()
            schema["unit"] = unit
    wrong = {}
    for name in properties:
        suffix = next((suffix for suffix in UNITS if name.endswith(suffix)), "")
        stem = name.removesuffix(suffix)
        if not suffix or not stem:
            continue
        endings = [f"_{ending}" for ending in _WRONG_UNITS.get(suffix, "").split()]
        mistakes = [ending for ending in endings if stem + ending not in properties]
        bare = "" if stem in properties else "?"
        if mistakes:
            # No value is this text, and every validator quotes it.
            message = f"write {name}: its unit is {UNITS[suffix]}"
            wrong[f"^{stem}({'|'.join(mistakes)}){bare}$"] = {"const": message}
    if wrong and section.get("additionalProperties") is False:
        # Inside `allOf` they do not count as allowed names.
        section["allOf"] = [{"patternProperties": wrong}]
