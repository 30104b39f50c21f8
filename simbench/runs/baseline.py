"""Expected metrics: bounds of a scenario's checks, and baselines in files."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal, TypeGuard

from pydantic import ConfigDict, Field, TypeAdapter, ValidationError
from pydantic.dataclasses import dataclass as validated

from simbench.errors import BaselineError
from simbench.files.json_document import parse_json
from simbench.files.storage import make_folder, write_whole
from simbench.files.text import read_text
from simbench.runs.metric_catalogue import (
    SPREADS,
    Better,
    Metric,
    find_metric,
    metric_direction,
    usual_tolerance,
)
from simbench.runs.run_directory import plain_value

if TYPE_CHECKING:
    from simbench.options import Bound

# Metric of a run whose physics diverged: when, s. Other runs do not have it.
DIVERGED = "simulation.diverged_s"
Outcome = Literal["holds", "worse", "better", "missing", "new"]
_DIGITS = 6  # Significant digits of a value in a file.
# Largest number in a baseline: beyond it, sums and products of tolerances could become infinite.
_LARGEST = 1e15
Deviation = Annotated[float, Field(ge=0.0, le=_LARGEST)]


@dataclass(frozen=True)
class Check:
    """Outcome of one check."""

    name: str  # Name of the metric.
    passed: bool  # Whether the metric is within its bound.
    bound: str  # What the metric must be, such as `≤ 0.03`.
    reason: str = ""  # Why the metric was not measured; empty if it was.
    value: Metric = None  # Value of the metric.


def check_metrics(checks: Mapping[str, bool | Bound], metrics: Mapping[str, Metric]) -> tuple[Check, ...]:
    """Compare metrics with the bounds of a scenario.

    `metrics`: metrics of a run by name. Returns in the order of `checks`. A metric that is absent, not a
    number or of another kind than its bound does not pass; the check says why it was not measured. A run
    whose physics diverged has one check, which it does not pass.
    """
    if metrics.get(DIVERGED) is not None:
        return (
            Check(
                DIVERGED, False, "absent: the physics must not diverge", value=plain_value(metrics[DIVERGED])
            ),
        )
    found = []
    for name, bound in checks.items():
        value, reason = metrics.get(name), ""
        if isinstance(bound, bool):
            passed, words = isinstance(value, bool) and value == bound, str(bound).lower()
        else:
            least = -math.inf if bound.min is None else bound.min
            most = math.inf if bound.max is None else bound.max
            passed = _is_number(value) and least <= value <= most
            words = f"≥ {bound.min:g}" if bound.min is not None else f"≤ {bound.max:g}"
            if bound.min is not None and bound.max is not None:
                words = f"{bound.min:g} to {bound.max:g}"
        if value is None:
            entry = find_metric(name)
            if entry is None:
                reason = "no run measures it"
            elif name in metrics:
                reason = f"not measured: `simbench explain {name}` says when"
            elif entry.present and not entry.present.startswith("every"):
                reason = f"not measured: only {entry.present} have it"
            else:
                reason = "not measured"
        found.append(Check(name, passed, words, reason, plain_value(value)))
    return tuple(found)


@validated(frozen=True, config=ConfigDict(strict=True, extra="forbid", allow_inf_nan=False))
class Expectation:
    """A metric's expected value, with what its file says beyond the tables of `runs/metric_catalogue.py`."""

    # Value of the metric; None where it was not a finite number.
    value: Annotated[float, Field(ge=-_LARGEST, le=_LARGEST)] | bool | str | None
    # Largest change that rounding alone was seen to cause, where `SPREADS` times it exceeds the usual
    # tolerance; else 0. None if the kind of value changed, such as a time that became none: nothing can be
    # expected of the metric then.
    spread: Deviation | None = 0.0
    # Allowed deviation set by hand, in the metric's unit: it replaces spread and tables.
    tolerance: Deviation | None = None
    # Direction in which the metric improves, set by hand: `lower`, `higher`, `same` or `ignored`.
    better: Better | None = None


Baseline = dict[str, Expectation]
_FILE = TypeAdapter(Baseline)


@dataclass(frozen=True)
class Verdict:
    """A metric compared with its baseline."""

    name: str
    was: Metric  # Value in the baseline; None also where there is none.
    now: Metric  # Value in the run; None also where there is none.
    # Allowed difference between `now` and `was`, in the metric's unit; infinite where nothing is expected.
    tolerance: float
    better: Better  # Direction in which the metric improves.
    # `holds`; `worse` or `better` by more than the tolerance; `missing` in the run; `new` in it.
    outcome: Outcome

    @property
    def failed(self) -> bool:
        """Whether the metric is worse than its baseline or missing."""
        return self.outcome in ("worse", "missing")


def baseline_path(scenario_file: Path, name: str, engine: str) -> Path:
    """Find the file of a scenario's baseline: each physics engine has its own.

    `engine`: physics engine, `simulation.engine`. Returns `baselines/NAME.json` beside the scenario's file
    for Bullet, `baselines/ENGINE/NAME.json` for others.
    """
    # Who only checks metrics need not import an engine.
    from simbench.sim.engine import BULLET

    folder = scenario_file.parent / "baselines"
    return (folder if engine == BULLET else folder / engine) / f"{name}.json"


def read_baseline(path: Path) -> Baseline | None:
    """Read a baseline.

    `path`: file of the baseline. Returns expected metrics by name; None if there is no such file.
    """
    if not path.exists():
        return None
    text = read_text(path, BaselineError)
    # Pydantic's own parser takes NaN, and of names that are given twice the last.
    parse_json(text, str(path), BaselineError)
    try:
        return _FILE.validate_json(text)
    except ValidationError as error:
        details = error.errors(include_url=False)[0]
        key = ".".join(str(step) for step in details["loc"])
        raise BaselineError(f"{path}: {key + ': ' if key else ''}{details['msg']}") from None


def write_baseline(path: Path, baseline: Baseline) -> None:
    """Write a baseline with a line for each metric, whole or not at all.

    `path`: file to write; its folder is made; `baseline`: expected metrics by name.
    """
    lines = []
    for name, expected in sorted(baseline.items()):
        # Entries that have their default are left out.
        entry: dict[str, Metric] = {"value": expected.value}
        if expected.spread != 0.0:
            entry["spread"] = expected.spread
        if expected.tolerance is not None:
            entry["tolerance"] = expected.tolerance
        if expected.better is not None:
            entry["better"] = expected.better
        lines.append(f"  {json.dumps(name)}: {json.dumps(entry, ensure_ascii=False, allow_nan=False)}")
    try:
        make_folder(path.parent)
        write_whole(path, "{\n" + ",\n".join(lines) + "\n}\n")
    except OSError as error:
        raise BaselineError(f"{path}: cannot write the baseline: {error.strerror}") from None


def compare(baseline: Baseline, metrics: Mapping[str, Metric]) -> tuple[Verdict, ...]:
    """Compare a run's metrics with a baseline.

    `baseline` {name: Expectation}: expected metrics by name; `metrics`: metrics of the run; None where not
    finite. Returns verdicts by name; ignored metrics are left out.
    """
    verdicts = []
    for name in sorted({*baseline, *metrics}):
        expected = baseline.get(name)
        better = (expected and expected.better) or metric_direction(name)
        if better == "ignored":
            continue
        if expected is None:
            verdicts.append(Verdict(name, None, metrics[name], math.inf, better, "new"))
            continue
        tolerance = find_tolerance(name, expected)
        was, now = expected.value, metrics.get(name)
        outcome: Outcome = "worse"
        if math.isinf(tolerance):
            outcome = "holds"
        elif name not in metrics:
            outcome = "missing"
        elif was == now and isinstance(was, bool) == isinstance(now, bool):
            outcome = "holds"
        elif was is None and _is_number(now):
            outcome = "worse" if better == "same" else "better"
        elif isinstance(was, str | None) or isinstance(now, str | None):
            outcome = "worse"
        elif isinstance(was, bool) == isinstance(now, bool):
            change = float(now) - float(was)
            if abs(change) <= tolerance:
                outcome = "holds"
            elif better != "same" and (change < 0.0 if better == "lower" else change > 0.0):
                outcome = "better"
        verdicts.append(Verdict(name, was, now, tolerance, better, outcome))
    return tuple(verdicts)


def find_tolerance(name: str, expected: Expectation) -> float:
    """Find how far a metric may be from its baseline.

    `name`: name of the metric, `group.name_unit`; `expected`: its entry in the baseline. Returns tolerance in
    the metric's unit; infinite where nothing is expected.
    """
    if expected.tolerance is not None:
        return expected.tolerance
    if expected.spread is None:
        return math.inf
    value = expected.value
    usual = usual_tolerance(name, value) if _is_number(value) else 0.0
    return max(usual, SPREADS * expected.spread)


def measure_baseline(runs: Sequence[Mapping[str, Metric]], before: Baseline | None) -> Baseline:
    """Make a baseline from a run and from repetitions whose inputs differ by rounding.

    `runs`: metrics of the scenario, then of its repetitions; `before` {name: Expectation}: baseline that is
    replaced; tolerances and directions set by hand in it stay. Returns {name: Expectation}: expected metrics
    by name.
    """
    first, *others = runs
    made: Baseline = {}
    for name, value in first.items():
        by_hand = (before or {}).get(name, Expectation(None))
        if by_hand.better is None and metric_direction(name) == "ignored":
            continue
        rounded = float(f"{value:.{_DIGITS}g}") if _is_number(value) else value
        plain = Expectation(rounded, 0.0, by_hand.tolerance, by_hand.better)
        spread = _spread(value, [run.get(name) for run in others])
        usual = find_tolerance(name, replace(plain, tolerance=None))
        if spread is None or SPREADS * spread > usual:
            plain = replace(plain, spread=spread)
        made[name] = plain
    return made


def _spread(value: Metric, others: Sequence[Metric]) -> float | None:
    """Compute the greatest distance of others from a value, rounded up to two digits; None if kinds vary."""
    if not _is_number(value):
        return 0.0 if all(type(other) is type(value) and other == value for other in others) else None
    numbers = [other for other in others if _is_number(other)]
    if len(numbers) < len(others):
        return None
    greatest = max((abs(other - value) for other in numbers), default=0.0)
    if greatest == 0.0:
        return 0.0
    step = 10.0 ** (math.floor(math.log10(greatest)) - 1)
    return float(f"{math.ceil(greatest / step) * step:.1e}")


def _is_number(value: Metric) -> TypeGuard[float]:
    return isinstance(value, int | float) and not isinstance(value, bool)
