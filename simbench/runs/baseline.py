"""Baselines: expected metrics of a scenario, kept in a file, and the comparison of a run with them."""

import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Annotated, Literal, TypeGuard

from pydantic import ConfigDict, Field, TypeAdapter, ValidationError
from pydantic.dataclasses import dataclass as validated

from simbench.errors import BaselineError
from simbench.files.json_document import parse_json
from simbench.files.storage import write_whole
from simbench.files.text import read_text
from simbench.runs.tolerances import SPREADS, Better, metric_direction, usual_tolerance
from simbench.sim.engines import BULLET

Metric = float | bool | str | None
Outcome = Literal["holds", "worse", "better", "missing", "new"]

_DIGITS = 6
"""Significant digits of a value in a file."""
_LARGEST = 1e15
"""Largest number in a baseline: beyond it, sums and products of tolerances could become infinite."""
Deviation = Annotated[float, Field(ge=0.0, le=_LARGEST)]


@validated(frozen=True, config=ConfigDict(strict=True, extra="forbid", allow_inf_nan=False))
class Expectation:
    """A metric's expected value, with what its file says beyond the tables of `runs/tolerances.py`."""

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
    lines = [f"  {json.dumps(name)}: {_entry(baseline[name])}" for name in sorted(baseline)]
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        write_whole(path, "{\n" + ",\n".join(lines) + "\n}\n")
    except OSError as error:
        raise BaselineError(f"{path}: cannot write the baseline: {error.strerror}") from None


def _entry(expected: Expectation) -> str:
    """Write an expectation as JSON, without the entries that have their default."""
    entry: dict[str, Metric] = {"value": expected.value}
    if expected.spread != 0.0:
        entry["spread"] = expected.spread
    if expected.tolerance is not None:
        entry["tolerance"] = expected.tolerance
    if expected.better is not None:
        entry["better"] = expected.better
    return json.dumps(entry, ensure_ascii=False, allow_nan=False)


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
        outcome: Outcome = "missing"
        if math.isinf(tolerance):
            outcome = "holds"
        elif name in metrics:
            outcome = _outcome(was, now, tolerance, better)
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


def _outcome(was: Metric, now: Metric, tolerance: float, better: Better) -> Outcome:
    """Decide whether a metric holds, or is better or worse than its baseline."""
    if was == now and isinstance(was, bool) == isinstance(now, bool):
        return "holds"
    if was is None and _is_number(now):
        return "worse" if better == "same" else "better"
    if isinstance(was, bool) and isinstance(now, bool):
        change = float(now) - float(was)
    elif _is_number(was) and _is_number(now):
        change = now - was
    else:
        return "worse"
    if abs(change) <= tolerance:
        return "holds"
    improvement = -change if better == "lower" else change
    return "better" if better != "same" and improvement > 0.0 else "worse"


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
        plain = Expectation(_rounded(value), 0.0, by_hand.tolerance, by_hand.better)
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
    distances = [abs(other - value) if _is_number(other) else None for other in others]
    greatest = 0.0
    for distance in distances:
        if distance is None:
            return None
        greatest = max(greatest, distance)
    if greatest == 0.0:
        return 0.0
    step = 10.0 ** (math.floor(math.log10(greatest)) - 1)
    return float(f"{math.ceil(greatest / step) * step:.1e}")


def _rounded(value: Metric) -> Metric:
    return float(f"{value:.{_DIGITS}g}") if _is_number(value) else value


def _is_number(value: Metric) -> TypeGuard[float]:
    return isinstance(value, int | float) and not isinstance(value, bool)
