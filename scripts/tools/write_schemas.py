"""Write the JSON Schemas of scenarios and robots, which editors read, and other names to schemas/.

python scripts/tools/write_schemas.py
"""

import inspect
import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Literal, get_args

import pinocchio as pin
from pydantic import BaseModel

from simbench.motion.actors import TASKS
from simbench.motion.shipped import describe_actors
from simbench.options import STILL, SWEEP, ActorTaskKeys, SweepTaskKeys
from simbench.robot.description import Description
from simbench.robot.robot import load_robot
from simbench.runs import log_builder, log_schema
from simbench.runs.explain.documented_names import FIXTURE, JOINT, LogEntry
from simbench.runs.explain.schemas import Schema, finish_section, rearrange
from simbench.runs.scenario.schema import Scenario
from simbench.sim.fixtures import MECHANISMS
from simbench.sim.fixtures.declared import DeclaredMechanism
from simbench.sim.fixtures.mechanism import Cut, Mechanism, MechanismJoint
from simbench.sim.recorder import Recorder
from simbench.sim.state import Signal

Kind = Literal["scenario", "robot"]

FOLDER = Path(__file__).resolve().parents[2] / "schemas"
_ADDRESS = "https://simbench-robotics.github.io/simbench/schemas"
_DIALECT = "https://json-schema.org/draft/2020-12/schema"
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
        made = definitions[keys.__name__] = rearrange(keys.model_json_schema())
        for key in made["properties"].values():
            # What a task does not give is left out, not null.
            if isinstance(key["type"], list):
                key["type"] = key["type"][0]
                del key["default"]
        finish_section(made)
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
    made = rearrange(model.model_json_schema())
    for section in (made, *made["$defs"].values()):
        finish_section(section)
    return {"$schema": _DIALECT, "$id": f"{_ADDRESS}/{kind}.json", "title": title, **made}


def declared_entries() -> tuple[LogEntry, ...]:
    """Collect everything that a run's log can hold from the modules that write it.

    Returns coordinates, variables, those of fixtures as patterns, and attributes.
    """
    # A fixture that has everything, with placeholders for names.
    joint = MechanismJoint(JOINT, "slide", (1.0, 0.0, 0.0))
    fixture = Mechanism(FIXTURE, pin.SE3.Identity(), (), (joint,), standing=True, cut=Cut(JOINT, 1.0))
    declared = Recorder(0, load_robot("romeo"), [fixture]).signals
    sampled = tuple(signal for name, signal in declared.items() if not name.startswith(FIXTURE))
    *of_fixture, contacts = (signal for name, signal in declared.items() if name.startswith(FIXTURE))
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
    found += _entries("variable", "runs with equipment of plug-ins", (log_schema.EQUIPMENT,))
    found += _entries("variable", _FEET, (*log_builder.ZMP_SIGNALS, *log_builder.SUPPORT_SIGNALS), time)
    found += _entries("variable", _BALANCED, log_builder.BALANCE_SIGNALS, time)
    found += _entries("variable", _FOLLOWED, (log_builder.JOINT_TRAJECTORY,), time)
    found += _entries("variable", _FOLLOWED_ON_FEET, log_builder.TRAJECTORY_SIGNALS, time)
    found += _entries("variable", _IMITATED, log_schema.PERSON_SIGNALS)
    signals: tuple[Signal[Any], ...] = (*of_fixture, *log_builder.actor_signals(fixture), contacts)
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


def main() -> None:
    FOLDER.mkdir(exist_ok=True)
    for kind in SCHEMAS:
        (FOLDER / f"{kind}.json").write_text(schema_text(kind), encoding="utf-8")
    (FOLDER / "names.json").write_text(names_text(), encoding="utf-8")


if __name__ == "__main__":
    main()
