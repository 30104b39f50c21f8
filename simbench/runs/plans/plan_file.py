"""A plan as bytes: arrays as NumPy writes them, sealed with a SHA-256; reading them executes no code."""

import hashlib
import io
import json
import zipfile
from collections.abc import Mapping
from dataclasses import fields, is_dataclass
from typing import Any

import numpy as np

from simbench.balance.controller.whole_body import WholeBodyPlan
from simbench.balance.gait.gait import Gait
from simbench.errors import RunError
from simbench.files.json_document import parse_json
from simbench.kinematics.arrays import Array
from simbench.retargeting.contact.hand_plan import HandPlan
from simbench.retargeting.reference.reference import FollowedSteps, Reference, Timeline
from simbench.runs.plans.plan import Plan

_CLASSES = {
    each.__name__: each for each in (Plan, Timeline, Reference, HandPlan, WholeBodyPlan, Gait, FollowedSteps)
}
"""Classes that a file may name."""
_STRUCTURE = "structure"
"""Name of the array that holds the JSON text of everything but arrays."""
_DIGEST_SIZE = hashlib.sha256().digest_size


class DamagedPlanError(Exception):
    """The bytes are not a whole plan."""


def encode_plan(plan: Plan) -> bytes:
    """Write a plan as bytes. Returns SHA-256 of the rest, then a NumPy archive."""
    arrays: list[Array] = []
    structure = json.dumps(_flatten(plan, arrays))
    named: dict[str, Any] = {str(number): array for number, array in enumerate(arrays)}
    named[_STRUCTURE] = np.frombuffer(structure.encode(), dtype=np.uint8)
    body = io.BytesIO()
    np.savez(body, **named)
    content = body.getvalue()
    return hashlib.sha256(content).digest() + content


def decode_plan(content: bytes) -> Plan:
    """Read a plan from bytes.

    `content`: result of `encode_plan`. Returns the plan; its arrays have the same values and memory layouts.
    """
    body = content[_DIGEST_SIZE:]
    if hashlib.sha256(body).digest() != content[:_DIGEST_SIZE]:
        raise DamagedPlanError("truncated or damaged")
    try:
        with np.load(io.BytesIO(body), allow_pickle=False) as archive:
            text = archive[_STRUCTURE].tobytes().decode()
            structure = parse_json(text, "structure of a plan", RunError, non_finite="kept")
            plan = _rebuild(structure, archive)
    except (ValueError, LookupError, TypeError, zipfile.BadZipFile, EOFError, OSError, RunError) as error:
        raise DamagedPlanError(f"of another form: {error}") from error
    if not isinstance(plan, Plan):
        raise DamagedPlanError("not a plan")
    return plan


def _flatten(value: Any, arrays: list[Array]) -> Any:
    """Turn a value into what JSON can hold; arrays are appended to a list and replaced by their numbers."""
    if isinstance(value, np.generic):
        value = value.item()
    if isinstance(value, np.ndarray):
        arrays.append(value)
        return {"array": len(arrays) - 1}
    if is_dataclass(value) and not isinstance(value, type):
        content = {field.name: _flatten(getattr(value, field.name), arrays) for field in fields(value)}
        return {"class": type(value).__name__, "fields": content}
    if isinstance(value, Mapping):
        return {"mapping": {name: _flatten(each, arrays) for name, each in value.items()}}
    if isinstance(value, tuple):
        return {"tuple": [_flatten(each, arrays) for each in value]}
    return value


def _rebuild(value: Any, arrays: Mapping[str, Array]) -> Any:
    """Make a value of what `_flatten` returned."""
    if not isinstance(value, dict):
        return value
    if "array" in value:
        return arrays[str(value["array"])]
    if "mapping" in value:
        return {name: _rebuild(each, arrays) for name, each in value["mapping"].items()}
    if "tuple" in value:
        return tuple(_rebuild(each, arrays) for each in value["tuple"])
    content = {name: _rebuild(each, arrays) for name, each in value["fields"].items()}
    return _CLASSES[value["class"]](**content)
