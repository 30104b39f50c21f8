"""JSON Schemas of scenario.yaml and robot.yaml, with which editors complete keys and flag errors.

They come from the pydantic models. What pydantic writes is rearranged so that an error is reported at the key
that is wrong: a union of types becomes a condition on the value's type, and the fixtures a condition on their
key `type`.
"""

import inspect
import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, Literal, get_args

import pinocchio as pin
from pydantic import BaseModel

from simbench.motion.actors.session import TASKS
from simbench.motion.shipped import describe_actors
from simbench.options import (
    BALANCE_CONTROLLERS,
    CONTROL_LAWS,
    RETARGETING_METHODS,
    STILL,
    SWEEP,
    ActorTaskKeys,
    SweepTaskKeys,
)
from simbench.plugins.declarations import is_plugin, require_plugin
from simbench.robot.description import Description
from simbench.runs import log_builder, log_schema, metrics
from simbench.runs.explain.documented_names import FIXTURE, JOINT, LogEntry
from simbench.runs.metric_catalogue import UNITS, unit_of
from simbench.runs.scenario.schema import Scenario
from simbench.sim import grasp, push, recorder, sensing, state
from simbench.sim.control import command
from simbench.sim.fixtures import MECHANISMS, TYPES
from simbench.sim.fixtures.declared import DeclaredMechanism
from simbench.sim.fixtures.mechanism import Cut, Mechanism, MechanismJoint
from simbench.sim.state import Signal

Schema = dict[str, Any]
Kind = Literal["scenario", "robot"]

_OPTIONS = {
    "control": ("law", "control_laws", CONTROL_LAWS),
    "balance": ("controller", "balance_controllers", BALANCE_CONTROLLERS),
    "retarget": ("method", "retargeters", RETARGETING_METHODS),
}
"""Sections with options of a plug-in: key that names it, its group, and simbench's own names."""
_ADDRESS = "https://simbench-robotics.github.io/simbench/schemas"
_DIALECT = "https://json-schema.org/draft/2020-12/schema"
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
"""Endings that are written by mistake instead of a unit; the name without a unit is one too."""
_EVERY = "every run"
_FEET = "robots on their feet"
_BALANCED = "balanced robots: on two feet, not seated"
_DIVERGED = "runs whose physics diverged"
_PLANNED = "runs that follow a recording on equipment"
_FOLLOWED = "runs that follow a robot's trajectory"
_FOLLOWED_ON_FEET = "runs on free feet that follow a robot's trajectory"
_IMITATED = "robots with two arms that follow a recording"
_CUT = "fixtures that are cut (knife, grater)"
_STANDING = "fixtures that stand freely (knife, grater, hand_drill)"
_JOINTS = "fixtures with joints"
_SLIDING = {"rad": "m", "rad/s": "m/s", "N m": "N"}
"""Unit of a prismatic joint by that of a revolute one."""


def scenario_schema() -> Schema:
    """Make the JSON Schema of a scenario. Returns schema in JSON Schema 2020-12."""
    schema = _schema(Scenario, "scenario", "Scenario of simbench")
    definitions = schema["$defs"]
    for keys in (ActorTaskKeys, SweepTaskKeys):
        made = definitions[keys.__name__] = _rearrange(keys.model_json_schema())
        for key in made["properties"].values():
            # What a task does not give is left out, not null.
            if isinstance(key["type"], list):
                key["type"] = key["type"][0]
                del key["default"]
        _finish_section(made)
    # Each kind of motion source has its own keys of `motion.task`.
    motion = definitions["MotionSection"]
    motion["properties"]["task"].pop("additionalProperties")
    actor = {"pattern": "^actor:[A-Za-z0-9_-]+$"}
    motion["allOf"] += [
        {
            "if": {"properties": {"source": source}, "required": ["source"]},
            "then": {"properties": {"task": task}},
        }
        for source, task in (
            (actor, {"$ref": "#/$defs/ActorTaskKeys"}),
            ({"const": SWEEP}, {"$ref": "#/$defs/SweepTaskKeys"}),
            ({"not": {"anyOf": [actor, {"const": SWEEP}]}, "type": "string"}, {"maxProperties": 0}),
        )
    ]
    motion["properties"]["source"]["examples"] = [SWEEP, STILL]
    step = definitions["StepCommand"]
    # Keys that are null count as absent.
    step["oneOf"] = [
        {"required": [key], "properties": {key: {"not": {"type": "null"}}}} for key in step["properties"]
    ]
    definitions["Bound"]["anyOf"] = [
        {"required": [key], "properties": {key: {"type": "number"}}} for key in ("min", "max")
    ]
    weights = definitions["WeightsSection"]
    weights["anyOf"] = [
        {"required": [key], "properties": {key: {"exclusiveMinimum": 0}}} for key in weights["properties"]
    ]
    return schema


def scenario_schema_for(data: Mapping[str, Any]) -> Schema:
    """Make the JSON Schema of one scenario, with the sections of the plug-ins that it names.

    `data`: the scenario's values; they need not be valid. Returns schema in JSON Schema 2020-12. Raises
    PluginError if a plug-in cannot be loaded.
    """
    schema = scenario_schema()
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
    made = _rearrange(section.model_json_schema())
    definitions.update(
        {name: each for name, each in made.pop("$defs", {}).items() if name not in definitions}
    )
    _finish_section(made)
    name = f"plugin.{section.__name__}"
    definitions[name] = made
    return {"$ref": f"#/$defs/{name}"}


def robot_schema() -> Schema:
    """Make the JSON Schema of a robot.yaml. Returns schema in JSON Schema 2020-12."""
    schema = _schema(Description, "robot", "Robot of simbench")
    definitions = schema["$defs"]
    drive = definitions["Drive"]
    numbers = drive["properties"]
    reduction, rotor = numbers["reduction"], {"type": "number", "minimum": 0}
    pair = {
        "type": "array",
        "prefixItems": [{"type": "number", "minimum": reduction["minimum"]}, rotor],
        "minItems": 2,
        "maxItems": 2,
    }
    drive["oneOf"] = [
        {"required": [key], "properties": {key: {"type": "number"}}} for key in ("rotor", "reflected_inertia")
    ]
    description = drive["description"]
    definitions["DriveSection"] = drive
    definitions["Drive"] = {
        "description": description,
        "type": ["array", "object"],
        "allOf": [
            {"if": {"type": "array"}, "then": pair},
            {"if": {"type": "object"}, "then": {"$ref": "#/$defs/DriveSection"}},
        ],
    }
    for name, forms in (("Shell", ("loft", "patch")), ("CollisionShape", ("box", "sphere", "loft"))):
        definitions[name]["oneOf"] = [
            {"required": [form], "properties": {form: {"not": {"type": "null"}}}} for form in forms
        ]
    for name in definitions["DhRow"]["properties"].values():
        name["unit"] = "rad" if name["description"].startswith("Angle") else "m"
        name["description"] += f" Unit: {name['unit']}."
    joint = definitions["JointDescription"]
    joint["if"] = {"required": ["dh"]}
    joint["then"] = {
        "properties": {
            key: {"const": f"leave out {key}: dh places the joint"} for key in ("xyz", "rpy", "axis")
        }
    }
    return schema


SCHEMAS: Mapping[Kind, Callable[[], Schema]] = {"scenario": scenario_schema, "robot": robot_schema}
"""Function that makes each schema."""


def schema_text(kind: Kind) -> str:
    """Write a JSON Schema as `simbench schema` prints it and `schemas/` holds it.

    `kind`: `scenario` or `robot`. Returns JSON with a line break at its end.
    """
    return json.dumps(SCHEMAS[kind](), indent=1, ensure_ascii=False) + "\n"


def _schema(model: type[BaseModel], kind: Kind, title: str) -> Schema:
    """Make the schema of a model and its sections."""
    made = _rearrange(model.model_json_schema())
    for section in (made, *made["$defs"].values()):
        _finish_section(section)
    return {"$schema": _DIALECT, "$id": f"{_ADDRESS}/{kind}.json", "title": title, **made}


def _rearrange(node: Any, *, names: bool = False) -> Any:
    """Rewrite what pydantic made; `names` says that the keys of a mapping are names, not keywords."""
    if isinstance(node, list):
        return [_rearrange(each) for each in node]
    if not isinstance(node, dict):
        return node
    result = {
        key: value if key == "default" else _rearrange(value, names=key in ("properties", "$defs"))
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


def _finish_section(section: Schema) -> None:
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


def declared_entries() -> tuple[LogEntry, ...]:
    """Collect everything that a run's log can hold from the modules that write it.

    Returns coordinates, variables, those of fixtures as patterns, and attributes.
    """
    sampled: tuple[Signal[Any], ...] = (
        *state.root_and_joint_signals(7, 6),
        *recorder.REFERENCE_SIGNALS,
        *command.COMMAND_SIGNALS,
        *recorder.DERIVED_SIGNALS,
        *sensing.CONTACT_SIGNALS,
        *push.PUSH_SIGNALS,
        *grasp.GRIP_SIGNALS,
    )
    time = ("time",)
    found = [
        *_entries("coordinate", _EVERY, log_schema.COORDINATE_SIGNALS),
        *_entries("coordinate", _IMITATED, log_schema.PERSON_COORDINATES),
        *_entries("variable", _EVERY, sampled, time),
    ]
    for signal in log_builder.HAND_SIGNALS:
        present = _EVERY if signal.name == "hand_contact" else _PLANNED
        found += _entries("variable", present, (signal,), time)
    found += _entries("variable", _EVERY, log_builder.LIMIT_SIGNALS)
    found += _entries("variable", _EVERY, (log_schema.STROKES, *log_schema.CONTACT_EVENT_SIGNALS))
    found += _entries("variable", _FEET, (*log_builder.ZMP_SIGNALS, *metrics.SUPPORT_SIGNALS), time)
    found += _entries("variable", _BALANCED, log_builder.BALANCE_SIGNALS, time)
    found += _entries("variable", _FOLLOWED, (log_builder.JOINT_TRAJECTORY,), time)
    found += _entries("variable", _FOLLOWED_ON_FEET, log_builder.TRAJECTORY_SIGNALS, time)
    found += _entries("variable", _IMITATED, log_schema.PERSON_SIGNALS)
    # A fixture that has everything, with placeholders for names.
    joint = MechanismJoint(JOINT, "slide", (1.0, 0.0, 0.0))
    fixture = Mechanism(FIXTURE, pin.SE3.Identity(), (), (joint,), standing=True, cut=Cut(JOINT, 1.0))
    signals: tuple[Signal[Any], ...] = (
        *state.fixture_signals(fixture),
        *log_builder.actor_signals(fixture),
        sensing.contact_wrench_signal(FIXTURE),
    )
    of_fixtures = {"cut": _CUT, "cut_actor": _CUT, "stand": _STANDING, "contact_wrench": "every fixture"}
    for signal in signals:
        suffix = signal.name.removeprefix(f"{FIXTURE}_")
        (entry,) = _entries("variable", of_fixtures.get(suffix, _JOINTS), (signal,), time)
        if JOINT in signal.name:
            turning = f"{entry.unit.replace('m', 'rad')} for a revolute joint"
            entry = entry._replace(unit=f"{entry.unit}; {turning}")
        found.append(entry)
    found += _entries("attribute", _EVERY, log_schema.ATTRIBUTE_SIGNALS)
    found += _entries("attribute", _BALANCED, log_builder.BALANCE_ATTRIBUTES)
    found += _entries("attribute", _DIVERGED, log_builder.DIVERGENCE_ATTRIBUTES)
    return tuple(found)


def _entries(
    kind: str, present: str, signals: Sequence[Signal[Any]], sampled: tuple[str, ...] = ()
) -> Iterator[LogEntry]:
    """Write declarations as entries."""
    for signal in signals:
        dims = ", ".join((*sampled, *signal.dims))
        unit = signal.unit
        # An arm may have joints that slide; the log's attribute is the unit of the robots that ship.
        if signal.dims == ("joint",) and unit:
            unit = f"{unit}; {_SLIDING[unit]} for a prismatic joint"
        yield LogEntry(signal.name, kind, dims, unit, signal.description, present)


def declared_joints() -> tuple[str, ...]:
    """Collect the names of the joints of all kinds of fixtures. Returns names, such as `travel`."""
    names = []
    for design, make_mechanism in MECHANISMS.items():
        if design is DeclaredMechanism:
            # Its joints are named by whoever declares it.
            continue
        (kind,) = get_args(inspect.get_annotations(design)["type"])
        mechanism = make_mechanism(design(type=kind, position_m=(0.5, 0.0, 0.0)))
        names += [joint.name for joint in mechanism.joints]
    return tuple(dict.fromkeys(names))


def names_text() -> str:
    """Write the entries of logs, the joints of fixtures, and what virtual actors perform.

    Returns JSON with a line break at its end.
    """
    names = {
        "log": [entry._asdict() for entry in declared_entries()],
        "joints": declared_joints(),
        "tasks": sorted(TASKS),
        "actors": describe_actors(),
    }
    return json.dumps(names, indent=1, ensure_ascii=False) + "\n"
