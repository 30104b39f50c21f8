"""The plug-ins of a scenario: which it names, where they came from, and the metrics that they compute."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any, Protocol, TypedDict

import numpy as np

from simbench.errors import PluginError, SimbenchError
from simbench.motion.readers import SCHEMES, SUFFIXES
from simbench.motion.readers.plugin import find_reader
from simbench.options import BALANCE_CONTROLLERS, CONTROL_LAWS, RETARGETING_METHODS
from simbench.plugins.declarations import is_plugin, plugin_maker
from simbench.plugins.loading import give_reference, load_plugin
from simbench.runs.scenario.loading import override_scenario
from simbench.runs.scenario.schema import Scenario
from simbench.sim.fixtures import TYPES

if TYPE_CHECKING:
    import xarray as xr


class MetricPlugin(Protocol):
    """A plug-in of group `simbench.metrics`: a section with keys that has this method."""

    def measure(self, log: xr.Dataset) -> float | bool | None:
        """Compute the metric.

        Parameters
        ----------
        log : xarray.Dataset
            Log of the run, as `open_run` returns it.

        Returns
        -------
        float, bool or None
            Its value; None if it cannot be measured.
        """


class GivenPlugins(TypedDict, total=False):
    """What a Python program may pass to a run instead of naming it in the scenario.

    Each is a function of the arguments that its group has (`plugins.groups`), or a section with the method of
    that group: a class, or an instance with values.
    """

    control_law: Any
    """Makes the control law from (robot, timestep), as a plug-in of `simbench.control_laws`."""
    balancer: Any
    """Makes the balance controller from (robot, plan, timestep), as one of `simbench.balance_controllers`."""
    retargeter: Any
    """Converts (robot, motion) to joint positions, as one of `simbench.retargeters`."""


_KEYS = {
    "control_law": ("control.law", "control.options"),
    "balancer": ("balance.controller", "balance.options"),
    "retargeter": ("retarget.method", "retarget.options"),
}
"""Keys of a scenario that name what is given, and its options."""


def name_given(scenario: Scenario, given: GivenPlugins) -> Scenario:
    """Write into a scenario what a Python program passes.

    `given`: what is passed; None counts as nothing. Returns names each by `FILE.py:NAME` if a file defines it
    at its top level, so that the scenario can be run again without the program, otherwise by `python:NAME`.
    Raises ScenarioError if one of them is not what it has to be.
    """
    changes: dict[str, Any] = {}
    for name, value in given.items():
        if value is not None:
            key, options = _KEYS[name]
            changes |= {key: give_reference(value), options: None}
    return override_scenario(scenario, changes)


def describe_plugins(scenario: Scenario) -> list[dict[str, Any]]:
    """Describe where the plug-ins of a scenario came from.

    Returns ready for JSON, one for each: `group`, `reference`, `package` and `version` of the distribution,
    `file`, and `sha256` of that file, or of all Python files of its package.
    """
    used = dict.fromkeys(_named(scenario))
    return [load_plugin(group, reference).origin._asdict() for group, reference in used]


def _named(scenario: Scenario) -> Iterator[tuple[str, str]]:
    """List group and reference of everything that a scenario names."""
    motion = scenario.motion
    candidates = [
        ("control_laws", scenario.control.law, CONTROL_LAWS),
        ("balance_controllers", scenario.balance.controller, BALANCE_CONTROLLERS),
        ("retargeters", scenario.retarget.method, RETARGETING_METHODS),
        ("marker_maps", motion.marker_map, ()),
        ("policies", scenario.control.policy and scenario.control.policy.callable, ()),
        *(("fixtures", fixture.type, TYPES) for fixture in scenario.fixtures),
        *(("metrics", section.plugin, ()) for section in scenario.metrics.values()),
    ]
    for group, reference, shipped in candidates:
        if is_plugin(group, reference, shipped):
            yield group, str(reference)
    own = motion.source.partition(":")[0] in SCHEMES or motion.source.endswith(tuple(SUFFIXES))
    reader = find_reader(motion.source, motion.reader) if motion.reader or not own else None
    if reader is not None:
        yield "readers", reader


def plugin_metrics(
    log: xr.Dataset, scenario: Scenario
) -> tuple[Mapping[str, float | bool | None], tuple[str, ...]]:
    """Compute the metrics of a scenario's plug-ins.

    A plug-in that fails costs no run: its metric is null, so that a check of it fails, and a note says why.
    Returns `metrics`: metrics by name; `notes`: what went wrong, one line each.
    """
    metrics: dict[str, float | bool | None] = {}
    notes = []
    for name, section in scenario.metrics.items():
        measure = plugin_maker("metrics", section.plugin, section.options)
        try:
            metrics[name] = _as_number(section.plugin, measure(log))
        except SimbenchError as error:
            metrics[name] = None
            notes.append(f"metrics.{name} is null: {error}")
    return metrics, tuple(notes)


def _as_number(reference: str, value: Any) -> float | bool | None:
    """Take the value of a metric: a finite number, true or false, or none."""
    if value is None or isinstance(value, bool):
        return value
    array = np.asarray(value)
    if array.dtype == bool and array.ndim == 0:
        return bool(array)
    if array.ndim != 0 or array.dtype.kind not in "iuf" or not math.isfinite(float(array)):
        raise PluginError(
            f"{reference}: returned {' '.join(repr(value).split())[:60]}; "
            "allowed: a finite number, true or false, or None"
        )
    return float(array)
