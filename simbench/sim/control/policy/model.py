"""What maps observations to actions: an ONNX graph, or a Python function."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from simbench.errors import PolicyError
from simbench.files.text import require_regular_file
from simbench.kinematics.arrays import Array
from simbench.plugins.declarations import call_plugin, plugin_maker
from simbench.robot.robot import Robot
from simbench.sim.control.policy.law import Act, PolicyLaw

_TYPES = {"tensor(float)": np.float32, "tensor(double)": np.float64}
"""Types of an ONNX graph's input and output."""
MISSING = "control.policy: ONNX files need onnxruntime: install simbench's extra `onnx`"


def load_onnx(path: Path, law: PolicyLaw) -> Act:
    """Load an ONNX graph with one input and one output, and compare its sizes with a contract.

    `path`: ONNX file. Returns maps an observation to an action, on one thread.
    """
    try:
        import onnxruntime
    except ImportError:
        raise PolicyError(MISSING) from None
    if not require_regular_file(path, PolicyError).exists():
        raise PolicyError(f"{path}: no such file")
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = options.inter_op_num_threads = 1
    options.log_severity_level = 4
    try:
        session = onnxruntime.InferenceSession(str(path), options, providers=["CPUExecutionProvider"])
    except Exception as error:
        raise PolicyError(f"{path}: no ONNX graph: {' '.join(str(error).split())[:120]}") from None
    inputs, outputs = session.get_inputs(), session.get_outputs()
    for what, found in (("input", inputs), ("output", outputs)):
        if len(found) != 1:
            names = ", ".join(each.name for each in found)
            raise PolicyError(f"{path}: has {len(found)} {what}s ({names}); allowed: one")
        if found[0].type not in _TYPES:
            kinds = ", ".join(_TYPES)
            raise PolicyError(f"{path}: {what} {found[0].name} is {found[0].type}; allowed: {kinds}")
    size = law.observer.size
    _require_size(path, f"input {inputs[0].name}", inputs[0].shape, size, law.observer.describe_size())
    count = len(law.joints)
    _require_size(path, f"output {outputs[0].name}", outputs[0].shape, count, f"{count}, one for each joint")
    kind, name, flat = _TYPES[inputs[0].type], inputs[0].name, len(inputs[0].shape) == 1

    def act(observation: Array) -> Array:
        given = observation.astype(kind)
        (answer,) = session.run(None, {name: given if flat else given[None]})
        return np.asarray(answer, dtype=float).ravel()

    return act


def load_callable(reference: str, robot: Robot) -> Act:
    """Load a policy of Python code: a function of the robot that returns the function of observations.

    `reference`: `MODULE:NAME`, `FILE.py:NAME`, or the name of a plug-in of group `simbench.policies`. Returns
    maps an observation to an action. Raises PluginError if it cannot be loaded, or fails.
    """
    made: Any = plugin_maker("policies", reference, None)(robot)
    if not callable(made):
        raise PolicyError(f"{reference}: makes a value of type {type(made).__name__}; allowed: a function")
    return lambda observation: call_plugin(reference, made, observation)


def _require_size(path: Path, what: str, shape: list[Any], size: int, described: str) -> None:
    """Refuse another number of entries; a name in a shape stands for any number."""
    batch, entries = (shape[0], shape[-1]) if len(shape) == 2 else (1, shape[-1] if shape else None)
    fits = not isinstance(entries, int) or entries == size
    if len(shape) not in (1, 2) or (isinstance(batch, int) and batch != 1) or not fits:
        raise PolicyError(f"{path}: {what} has the shape {shape}; the contract's is {described}")
