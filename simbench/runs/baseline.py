"""Baselines: what the metrics of a scenario were, kept in a file, and whether they still are."""

import json
import math
import os
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Literal, TypeGuard

from pydantic import ConfigDict, NonNegativeFloat, TypeAdapter, ValidationError
from pydantic.dataclasses import dataclass as validated

from simbench.errors import BaselineError
from simbench.runs.tolerances import SPREADS, Better, metric_direction, usual_tolerance

Metric = float | bool | str | None
Outcome = Literal["holds", "worse", "better", "missing", "new"]

_DIGITS = 6
"""Significant digits of a value that a file keeps."""


@validated(frozen=True, config=ConfigDict(strict=True, extra="forbid", allow_inf_nan=False))
class Expectation:
    """What a metric was, and what its file says about it beyond the tables of `runs/tolerances.py`.

    Parameters
    ----------
    value : float, bool, str or None
        None where it was not a finite number.
    spread : float or None
        How far rounding alone was seen to move it, where `SPREADS` times that is more than its usual
        tolerance; else 0. None if it changed its kind, such as a time that became none: nothing can be
        expected of it.
    tolerance : float, optional
        How far it may be from its value, said by hand: spread and tables do not count.
    better : str, optional
        Which way it is better, said by hand: `lower`, `higher`, `same` or `ignored`.
    """

    value: float | bool | str | None
    spread: NonNegativeFloat | None = 0.0
    tolerance: NonNegativeFloat | None = None
    better: Better | None = None


Baseline = dict[str, Expectation]
_FILE = TypeAdapter(Baseline)


@dataclass(frozen=True)
class Verdict:
    """A metric beside its baseline.

    Parameters
    ----------
    name : str
        Of the metric.
    was, now : float, bool, str or None
        Baseline and run; None also where there is none.
    tolerance : float
        How far `now` may be from `was`, in the metric's unit; infinite where nothing is expected.
    better : str
        Which way is better.
    outcome : str
        `holds`; `worse` or `better` by more than the tolerance; `missing` in the run; `new` in it.
    """

    name: str
    was: Metric
    now: Metric
    tolerance: float
    better: Better
    outcome: Outcome

    @property
    def failed(self) -> bool:
        """Whether this is drift."""
        return self.outcome in ("worse", "missing")


def read_baseline(path: Path) -> Baseline | None:
    """Read a baseline, None if there is no such file.

    Raises
    ------
    BaselineError
        In one line: which file and metric, what is wrong.
    """
    try:
        text = path.read_bytes()
    except FileNotFoundError:
        return None
    except OSError as error:
        raise BaselineError(f"{path}: cannot read the baseline: {error.strerror}") from None
    try:
        return _FILE.validate_json(text)
    except ValidationError as error:
        details = error.errors(include_url=False)[0]
        place = ".".join(str(step) for step in details["loc"])
        raise BaselineError(f"{path}: {place + ': ' if place else ''}{details['msg']}") from None


def write_baseline(path: Path, baseline: Baseline) -> None:
    """Write a baseline, a line for each metric, whole or not at all.

    Raises
    ------
    BaselineError
        If it cannot be written.
    """
    lines = [f"  {json.dumps(name)}: {_entry(baseline[name])}" for name in sorted(baseline)]
    working = path.with_name(path.name + ".incomplete")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        working.write_text("{\n" + ",\n".join(lines) + "\n}\n", encoding="utf-8")
        os.replace(working, path)
    except OSError as error:
        with suppress(OSError):
            working.unlink()
        raise BaselineError(f"{path}: cannot write the baseline: {error.strerror}") from None


def _entry(expected: Expectation) -> str:
    said: dict[str, Metric] = {"value": expected.value}
    if expected.spread != 0.0:
        said["spread"] = expected.spread
    if expected.tolerance is not None:
        said["tolerance"] = expected.tolerance
    if expected.better is not None:
        said["better"] = expected.better
    return json.dumps(said, ensure_ascii=False, allow_nan=False)


def compare(baseline: Baseline, metrics: Mapping[str, Metric]) -> tuple[Verdict, ...]:
    """Put a run beside its baseline.

    Parameters
    ----------
    baseline : {name: Expectation}
    metrics : mapping of str to float, bool, str or None
        Of the run, finite.

    Returns
    -------
    tuple of Verdict
        By name; ignored metrics are left out.
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
        tolerance = tolerance_of(name, expected)
        was, now = expected.value, metrics.get(name)
        outcome: Outcome = "missing"
        if math.isinf(tolerance):
            outcome = "holds"
        elif name in metrics:
            outcome = _outcome(was, now, tolerance, better)
        verdicts.append(Verdict(name, was, now, tolerance, better, outcome))
    return tuple(verdicts)


def tolerance_of(name: str, expected: Expectation) -> float:
    """Find how far a metric may be from its baseline, in its unit; infinitely where nothing is expected."""
    if expected.tolerance is not None:
        return expected.tolerance
    if expected.spread is None:
        return math.inf
    value = expected.value
    usual = usual_tolerance(name, value) if _is_number(value) else 0.0
    return max(usual, SPREADS * expected.spread)


def _outcome(was: Metric, now: Metric, tolerance: float, better: Better) -> Outcome:
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
    gained = -change if better == "lower" else change
    return "better" if better != "same" and gained > 0.0 else "worse"


def measure_baseline(runs: Sequence[Mapping[str, Metric]], before: Baseline | None) -> Baseline:
    """Make a baseline of a run, and of what rounding made of it in others.

    Parameters
    ----------
    runs : sequence of mapping of str to float, bool, str or None
        Metrics: of the scenario, then of the same with inputs that differ by rounding.
    before : {name: Expectation}, optional
        The baseline that this one replaces. What was said by hand there stays.

    Returns
    -------
    {name: Expectation}
    """
    first, *others = runs
    made: Baseline = {}
    for name, value in first.items():
        by_hand = (before or {}).get(name, Expectation(None))
        if by_hand.better is None and metric_direction(name) == "ignored":
            continue
        plain = Expectation(_rounded(value), 0.0, by_hand.tolerance, by_hand.better)
        spread = _spread(value, [run.get(name) for run in others])
        usual = tolerance_of(name, replace(plain, tolerance=None))
        if spread is None or SPREADS * spread > usual:
            plain = replace(plain, spread=spread)
        made[name] = plain
    return made


def _spread(value: Metric, others: Sequence[Metric]) -> float | None:
    """Greatest distance of the others from a value, rounded up to two digits; None if their kinds differ."""
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
