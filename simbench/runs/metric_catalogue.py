"""Metrics: the unit, direction and tolerance that a name says, a value as text, and the catalogue of them.

The effect of rounding was measured on eleven scenarios, each run again with the robot moved by 1e-12 m and
1e-12 rad. Most metrics changed by less than a millionth of their value, where hands hold a handle by up to
0.8 %, for which `RELATIVE` leaves room. The absolute tolerances are for values near zero. Chaotic quantities,
such as the peak force of an impact or how a robot falls, changed by 10 % and more. A table could allow for
that only with tolerances that hide real changes elsewhere, so this spread is measured for every scenario and
kept in its baseline.
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from fnmatch import fnmatchcase
from functools import cache
from importlib.resources import files
from typing import Literal, NamedTuple, TypeAlias

from simbench.errors import RunError
from simbench.files.yaml_document import parse_yaml

Metric: TypeAlias = "float | bool | str | None"
# Direction in which a metric improves; for `same` every change counts as worse, for `ignored` none does.
Better = Literal["lower", "higher", "same", "ignored"]

# The longest suffix that fits counts: `_nm_rad` is not `_rad`.
# Unit by the suffix of a metric's or a scenario key's name, longest suffix first.
UNITS = {
    "_nms_rad": "N·m·s/rad",
    "_nm_rad": "N·m/rad",
    "_kg_m2": "kg·m²",
    "_j_m3": "J/m³",
    "_j_m2": "J/m²",
    "_rad_s": "rad/s",
    "_m_s2": "m/s²",
    "_ns_m": "N·s/m",
    "_n_m": "N/m",
    "_m_s": "m/s",
    "_j_m": "J/m",
    "_nms": "N·m·s",
    "_rad": "rad",
    "_deg": "°",
    "_nm": "N·m",
    "_ns": "N·s",
    "_hz": "Hz",
    "_kg": "kg",
    "_m": "m",
    "_n": "N",
    "_s": "s",
    "_w": "W",
    "_j": "J",
}


RELATIVE = 0.01  # Allowed difference from the baseline as a fraction of its value.

SPREADS = 5.0  # Allowed difference from the baseline as a multiple of what rounding was seen to cause.

# The first matching pattern counts; a metric without one must stay the same.
_DIRECTIONS: tuple[tuple[Better, str], ...] = (
    # Signed errors, whose size is in the fraction.
    ("ignored", "timing.* energy.residual_j energy.rotor_j"),
    ("lower", "energy.residual_fraction"),
    ("higher", "follow.scale"),
    ("lower", "follow.changed_step_count"),
    ("same", "follow.*_count"),
    ("lower", "follow.*"),
    # Which of two nearly equal errors is the largest is chance.
    ("ignored", "fidelity.*_at_s fidelity.*_at_robot_s"),
    ("higher", "fidelity.executed_fraction"),
    ("same", "fidelity.steps_wanted fidelity.steps_landed fidelity.lag_s"),
    ("lower", "fidelity.*"),
    ("higher", "*margin* *.inside_fraction *.held_fraction *.contact_agreement_fraction push.survived_*"),
    ("lower", "push.rest_s"),
    ("higher", "simulation.diverged_s"),
    (
        "lower",
        "fell *.gave_up *.lost contact.*_count steps.missed_count retarget.slow_down* "
        "retarget.stretched_fraction retarget.tempo_* retarget.amplitude_lost_* *interference_count "
        "*violation* *saturated_fraction *error* *difference* tracking.* imitation.* retarget.hand_* "
        "retarget.robot_* motion.doubt_count retarget.similarity hands.* cog.rms_m zmp.rms_m "
        "feet.slip_m feet.turn_rad seat.slip_m seat.tilt_rad",
    ),
)
BETTER = tuple((pattern, better) for better, patterns in _DIRECTIONS for pattern in patterns.split())

# The first matching suffix counts: `_rad_s` is not `_s`.
# Allowed difference by the unit that a metric's name ends in, in that unit; zero for other names.
ABSOLUTE: tuple[tuple[str, float], ...] = (
    ("_count", 0.0),
    ("_fraction", 1e-3),
    ("_ratio", 1e-3),
    ("_rad_s", 1e-3),
    ("_m_s", 1e-3),
    ("_rad", 2e-6),
    ("_nm", 1e-2),
    ("_ns", 1e-2),
    ("_kg", 1e-3),
    ("_m", 1e-5),
    ("_n", 0.1),
    # Two samples of a log at 200 Hz.
    ("_s", 1e-2),
    ("_j", 1e-2),
)
_CATALOGUE = "metric_catalogue.yaml"
_ERROR_SAMPLES = "samples of the recording, at the robot's time"
_ERROR_VARIABLES = "joint_position, base_pose, recording_robot_time"
_KINDS = {"mean": "Mean", "p95": "95th percentile", "max": "Largest value"}
_WILDCARDS = {"<fixture>": r"[A-Za-z0-9_-]+", "<joint>": r"[A-Za-z0-9_]+"}


class MetricEntry(NamedTuple):
    """Everything that the reference says about a metric."""

    name: str  # Name of the metric, or a pattern with `<fixture>` and `<joint>`.
    definition: str  # What it is, with its formula.
    unit: str  # Unit; empty for a plain number.
    kind: str  # `number`, `true or false`, or `name`.
    samples: str  # Samples it is taken over.
    # Direction in which it improves: `lower`, `higher`, `same` (every change counts as worse) or `ignored`.
    better: Better
    tolerance: str  # Usual allowed difference from a baseline.
    advice: str  # Why it matters, and what to do about a bad value.
    # Variables and attributes of the log from which it is computed; empty if it comes from the plan.
    variables: tuple[str, ...]
    present: str  # When a run has this metric.


def unit_of(name: str) -> str:
    """Read the unit of a metric or a scenario key from the suffix of its name.

    `name`: name of the metric, `group.name_unit`, or of the key. Returns the unit; empty for a plain number.
    """
    return next((unit for suffix, unit in UNITS.items() if name.endswith(suffix)), "")


def format_value(value: Metric) -> str:
    """Write a metric's value with four significant digits. Returns text; `none` for None and NaN."""
    if value is None or (isinstance(value, float) and math.isnan(value)):
        return "none"
    if isinstance(value, bool):
        return str(value).lower()
    return value if isinstance(value, str) else f"{value:.4g}"


def metric_direction(name: str) -> Better:
    """Find the direction in which a metric improves.

    Parameters
    ----------
    name : str
        Name of the metric, `group.name_unit`.

    Returns
    -------
    str
        `lower`, `higher`, `same` or `ignored`.
    """
    return next((better for pattern, better in BETTER if fnmatchcase(name, pattern)), "same")


def usual_tolerance(name: str, value: float) -> float:
    """Find how far a metric may be from its baseline unless rounding moves it further.

    Parameters
    ----------
    name : str
        Name of the metric, `group.name_unit`.
    value : float
        Value of the baseline, in the metric's unit.

    Returns
    -------
    float
        Tolerance in the metric's unit.
    """
    absolute = next((tolerance for suffix, tolerance in ABSOLUTE if name.endswith(suffix)), 0.0)
    return max(absolute, RELATIVE * abs(value))


@cache
def metric_entries() -> tuple[MetricEntry, ...]:
    """List every metric that a run can produce, in the groups in which runs have them.

    Returns metrics with a fixed name first; those of fixtures, which are patterns, last.
    """
    text = files("simbench.runs").joinpath(_CATALOGUE).read_text(encoding="utf-8")
    entries = []
    for group in parse_yaml(text, _CATALOGUE, RunError).value:
        metrics: dict[str, Mapping[str, str]] = {}
        for error, words in group.get("errors", {}).items():
            name = f"fidelity.{error}"
            definitions = {
                f"{name}_{kind}_{words['unit']}": (f"{what} of the {words['definition']}.", words["advice"])
                for kind, what in _KINDS.items()
            }
            largest, look = (
                f"`{name}_max_{words['unit']}`",
                "Look there in the video and in the picture of the report.",
            )
            definitions[f"{name}_max_at_s"] = (
                f"Time in the recording, from its first sample that is used, of {largest}.",
                look,
            )
            definitions[f"{name}_max_at_robot_s"] = f"Time in the run of {largest}.", look
            for metric, (definition, advice) in definitions.items():
                metrics[metric] = {
                    "samples": _ERROR_SAMPLES,
                    "variables": _ERROR_VARIABLES,
                    "definition": definition,
                    "advice": advice,
                }
        for name, words in {**metrics, **group.get("metrics", {})}.items():
            unit, kind, better = unit_of(name), words.get("kind", "number"), metric_direction(name)
            if better == "ignored":
                tolerance = "ignored"
            elif kind == "name":
                tolerance = "none: it must stay the same"
            elif kind != "number":
                tolerance = "none: it must not change for the worse"
            else:
                absolute, tolerance = (
                    usual_tolerance(name, 0.0),
                    f"{100.0 * RELATIVE:g} % of the baseline's value",
                )
                tolerance += f", at least {f'{absolute:g} {unit}'.strip()}" if absolute else ""
                tolerance += (
                    f"; {SPREADS:g} times the spread that rounding was seen to cause, where that is more"
                )
            entries.append(
                MetricEntry(
                    name,
                    words["definition"],
                    unit,
                    kind,
                    words["samples"],
                    better,
                    tolerance,
                    words["advice"],
                    tuple(each for each in words.get("variables", "").split(", ") if each),
                    group["present"],
                )
            )
    return tuple(entries)


def find_metric(name: str) -> MetricEntry | None:
    """Find the entry of a metric.

    `name`: name of the metric as a run gives it, such as `drawer.travel_ratio`. Returns its entry, with the
    metric's own name in place of a pattern; None if no run produces such a metric.
    """
    entries = metric_entries()
    fixed = {entry.name: entry for entry in entries if "<" not in entry.name}
    if name in fixed:
        return fixed[name]
    groups = {known.partition(".")[0] for known in fixed}
    for entry in entries:
        if entry.name == name:
            return entry
        parts = re.split("(<fixture>|<joint>)", entry.name)
        pattern = "".join(
            f"({_WILDCARDS[part]})" if part in _WILDCARDS else re.escape(part) for part in parts
        )
        found = re.fullmatch(pattern, name)
        values = (
            dict(zip((part for part in parts if part in _WILDCARDS), found.groups(), strict=True))
            if found
            else {}
        )
        if values and values["<fixture>"] not in groups:
            return entry._replace(
                name=name,
                definition=_fill(entry.definition, values),
                advice=_fill(entry.advice, values),
                variables=tuple(_fill(each, values) for each in entry.variables),
            )
    return None


def _fill(text: str, values: Mapping[str, str]) -> str:
    """Write a fixture's and a joint's name into a text with placeholders."""
    for placeholder, name in values.items():
        text = text.replace(placeholder, name)
    return text
