"""History of checks, JSON Lines, and the changes of metrics over it: steps and drifts that are not noise.

A series of n values is compared with shapes that change at one place: a level that holds from value i until
value j (a step, or a step and its return), and a ramp from value i to the last one (a drift). The shape that
leaves the least sum of squares is tested by Student's t with n - 2 degrees of freedom; the parts before,
within and after a level are then searched on their own, as in circular binary segmentation (Olshen et al.
2004, doi:10.1093/biostatistics/kxh008). The probability of chance is multiplied by the number of shapes and
by the number of series that are looked at together (Bonferroni), so that a single false mark among all of
them has at most the probability `FALSE_ALARM_RATE` where noise is normal and independent.
"""

from __future__ import annotations

import json
import math
import os
import re
import subprocess
from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime, timezone
from functools import lru_cache
from importlib import metadata
from itertools import pairwise
from pathlib import Path
from typing import Any, Literal, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray
from scipy.special import stdtr

from simbench.errors import BaselineError
from simbench.files.json_document import parse_json
from simbench.files.text import read_text
from simbench.runs.baseline import find_tolerance
from simbench.runs.metric_catalogue import Metric, metric_direction, usual_tolerance
from simbench.runs.regression import CaseResult
from simbench.runs.run_directory import read_metrics, read_provenance

_DISTRIBUTION = "simbench-robotics"
# Size of the largest history that is read: a check of all shipped scenarios adds about 250 kB.
_MAX_BYTES = 400_000_000
_OUTCOMES = ("holds", "failed", "error")
FALSE_ALARM_RATE = 0.001  # Largest probability of any false mark in all series that are looked at together.
FEWEST = 8  # Number of values below which nothing is looked for.
# Number of values, the last ones, in which changes are looked for: the shapes grow with its square.
LONGEST = 400

_SHORTEST_LEVEL = 4  # Number of values that a new level must have held for.
_SHORTEST_DRIFT = 6  # Number of values that a ramp must have.
_ROUNDING = 1e-12  # Part of a sum of squares that may be rounding alone.

Array = NDArray[np.float64]
Effect = Literal["better", "worse", "changed"]


class HistoryRecord(NamedTuple):
    """What a check found of one scenario."""

    scenario: str  # Name of the scenario.
    date: str  # When it was checked, ISO 8601 with a time zone.
    # Commit of the repository in whose folder the check ran, ending in `-dirty` when files differ from it;
    # empty outside a repository.
    commit: str
    outcome: str  # `holds`, `failed`, or `error` if there are no metrics.
    metrics: Mapping[str, Metric]  # Metrics of the run.
    # Tolerances that the baseline has beyond the usual ones; None where nothing is expected of a metric.
    tolerances: Mapping[str, float | None]
    versions: Mapping[str, str]  # Versions of simbench, Python and the packages that simbench requires.
    # Run directory, if it was kept, from the history's folder; or address of the job that ran the check.
    run: str = ""
    error: str = ""  # What ended the run, in one line.


def make_records(
    results: Sequence[CaseResult], runs: Path, history: Path, kept: Path | None
) -> list[HistoryRecord]:
    """Make the lines that a check adds to a history.

    `results`: outcomes of the check; `runs`: folder of the run directories, each with its scenario's name;
    `history`: file to which they will be added; `kept`: folder in which the run directories will stay; None
    if they do not. Returns one for each scenario.
    """
    # A folder of somebody else may name a program in its configuration.
    git = ["git", "-c", "core.fsmonitor=", "--no-optional-locks"]
    describe = [*git, "describe", "--always", "--dirty", "--abbrev=40", "--exclude=*"]
    try:
        commit = subprocess.run(describe, capture_output=True, text=True, check=True).stdout.strip()
    except (OSError, subprocess.CalledProcessError):
        # Outside a repository.
        commit = ""
    now = datetime.now(timezone.utc).isoformat(timespec="seconds")
    records = []
    for result in results:
        name = result.case.scenario.name
        folder = runs / name
        outcome = "error" if result.error else "failed" if result.failed else "holds"
        metrics = {} if result.error else read_metrics(folder)
        versions: dict[str, str] = {}
        if not result.error:
            provenance = read_provenance(folder)
            packages: dict[str, str] = provenance["packages"]
            try:
                required = metadata.requires(_DISTRIBUTION) or []
            except metadata.PackageNotFoundError:
                required = list(packages)
            names = {_plain_name(re.split(r"[^\w.-]", requirement)[0]) for requirement in required}
            versions = {"simbench": provenance["simbench"], "python": provenance["python"]}
            versions |= {each: packages[each] for each in packages if _plain_name(each) in names}
        # Tolerances of the baseline that differ from the usual ones of the same values.
        own: dict[str, float | None] = {}
        for metric, expected in (result.case.baseline or {}).items():
            value = expected.value
            if isinstance(value, bool) or not isinstance(value, (int, float)):
                continue
            tolerance = find_tolerance(metric, expected)
            if expected.better == "ignored" or math.isinf(tolerance):
                own[metric] = None
            elif tolerance != usual_tolerance(metric, value):
                own[metric] = tolerance
        records.append(
            HistoryRecord(
                name,
                now,
                commit,
                outcome,
                metrics,
                own,
                versions,
                job_address(os.environ) if kept is None else os.path.relpath(kept / name, history.parent),
                result.error,
            )
        )
    return records


def append_history(path: Path, records: Sequence[HistoryRecord]) -> None:
    """Add lines to a history; the file is made if it is missing."""
    lines = ""
    for record in records:
        # What is empty is left out; a number that is not finite becomes none, as in `metrics.json`.
        values = {name: value for name, value in record._asdict().items() if value not in ("", {})}
        metrics = {
            name: None if isinstance(value, float) and not math.isfinite(value) else value
            for name, value in record.metrics.items()
        }
        lines += json.dumps(values | {"metrics": metrics}, ensure_ascii=False, allow_nan=False) + "\n"
    with path.open("a+b") as file:
        if file.tell() > 0:
            # What another program wrote last need not end its line.
            file.seek(-1, os.SEEK_END)
            lines = lines if file.read(1) == b"\n" else "\n" + lines
        # At once: two checks that end together add their lines one after the other.
        file.write(lines.encode("utf-8"))


def read_history(path: Path) -> list[HistoryRecord]:
    """Read a history.

    `path`: JSON Lines file that `simbench check --history` wrote. Returns records in the order of their
    dates. Raises BaselineError in one line, with file and line: a line that is not JSON or lacks something.
    """
    records = []
    for number, line in enumerate(read_text(path, BaselineError, _MAX_BYTES).split("\n"), 1):
        if not line.strip():
            continue
        try:
            records.append(_validate(parse_json(line, "line", BaselineError)))
        except BaselineError as error:
            # Of one line, the line within it says nothing.
            reason = re.sub(r"^line:1:(\d+): ", r"column \1: ", str(error))
            raise BaselineError(
                f"{path}:{number}: {reason}; simbench check --history writes such lines"
            ) from None
    return sorted(records, key=lambda record: datetime.fromisoformat(record.date))


def _validate(data: Any) -> HistoryRecord:
    """Check what a line holds, and make a record of it."""
    if not isinstance(data, dict):
        raise BaselineError("must hold a JSON object, {…}")
    for name in ("scenario", "date", "outcome"):
        if not isinstance(data.get(name), str) or not data[name]:
            raise BaselineError(f"{name}: must be a text that is not empty")
    for name in ("commit", "run", "error"):
        if not isinstance(data.get(name, ""), str):
            raise BaselineError(f"{name}: must be a text")
    if data["outcome"] not in _OUTCOMES:
        raise BaselineError(f"outcome: must be one of {', '.join(_OUTCOMES)}")
    try:
        has_zone = datetime.fromisoformat(data["date"]).tzinfo is not None
    except ValueError:
        has_zone = False
    if not has_zone:
        raise BaselineError("date: must be a time with its zone, such as 2026-01-31T12:00:00+00:00")
    metrics = _mapping(
        data, "metrics", (bool, int, float, str, type(None)), "a number, true, false, text or null"
    )
    tolerances = _mapping(data, "tolerances", (int, float, type(None)), "a number or null")
    versions = _mapping(data, "versions", (str,), "a text")
    return HistoryRecord(
        data["scenario"],
        data["date"],
        data.get("commit", ""),
        data["outcome"],
        metrics,
        tolerances,
        versions,
        data.get("run", ""),
        data.get("error", ""),
    )


def _mapping(data: Mapping[str, Any], name: str, kinds: tuple[type, ...], allowed: str) -> dict[str, Any]:
    """Read an object of a line, whose values are of some kinds; empty if it is missing."""
    found = data.get(name, {})
    if not isinstance(found, dict):
        raise BaselineError(f"{name}: must be an object, {{…}}")
    for key, value in found.items():
        if not isinstance(value, kinds) or (bool not in kinds and isinstance(value, bool)):
            raise BaselineError(f"{name}: {key}: must be {allowed}")
    return found


def _plain_name(name: str) -> str:
    """Write the name of a package as package indexes compare it."""
    return re.sub(r"[-_.]+", "-", name).lower()


def job_address(environment: Mapping[str, str]) -> str:
    """Find the address of the job of GitHub Actions that runs the command; empty elsewhere."""
    parts = [environment.get(f"GITHUB_{name}", "") for name in ("SERVER_URL", "REPOSITORY", "RUN_ID")]
    return f"{parts[0]}/{parts[1]}/actions/runs/{parts[2]}" if all(parts) else ""


def require_history(path: Path) -> None:
    """Refuse a file that is no history, before a check begins whose results would be added to it.

    `path`: the file; it may be missing. Raises SimbenchError as of `read_history`.
    """
    if path.exists():
        read_history(path)


class Change(NamedTuple):
    """A step or a drift in a series."""

    # `step`, from one value to the next, or `drift`, from one value to the last.
    kind: Literal["step", "drift"]
    # Index of the first value at the new level; of a drift, of the last one before it begins to change.
    first: int
    last: int  # Index of the last value of the new level or of the drift.
    # `before`, `after`: level before and after a step; of a drift, its fit at its beginning and at its end.
    before: float
    after: float
    chance: float  # Largest probability that noise alone makes such a change in any of the series.


# A metric; its value in each record, None where it has none or it is no finite number; and its steps and
# drifts, whose indices are those of the values.
Series: TypeAlias = tuple[str, tuple[float | None, ...], tuple[Change, ...]]
# Name of a scenario, its records in the order of time, and its metrics, those with changes first.
Trend: TypeAlias = tuple[str, tuple[HistoryRecord, ...], tuple[Series, ...]]


def find_trends(records: Sequence[HistoryRecord]) -> tuple[Trend, ...]:
    """Arrange a history by scenario and metric, and find the changes.

    Metrics that baselines ignore, such as times of the machine, are drawn but not tested. The tests of all
    metrics of all scenarios share one probability of a false mark. `records`: records in the order of time.
    Returns scenarios by name.
    """
    by_scenario: dict[str, list[HistoryRecord]] = {}
    for record in records:
        by_scenario.setdefault(record.scenario, []).append(record)
    values = {
        (scenario, metric): tuple(
            # True is 1; text, and what is not finite, is left out.
            None if value is None or isinstance(value, str) or not math.isfinite(value) else float(value)
            for value in (record.metrics.get(metric) for record in own)
        )
        for scenario, own in sorted(by_scenario.items())
        for metric in dict.fromkeys(name for record in own for name in record.metrics)
    }
    drawn = {key: found for key, found in values.items() if any(value is not None for value in found)}
    tested = []
    for (scenario, metric), found in drawn.items():
        expected = by_scenario[scenario][-1].tolerances.get(metric, 0.0)
        ignored = metric_direction(metric) == "ignored" or expected is None
        if not ignored and sum(value is not None for value in found) >= FEWEST:
            tested.append((scenario, metric, expected or 0.0))
    changes: dict[tuple[str, str], tuple[Change, ...]] = {}
    for scenario, metric, expected in tested:
        found = drawn[scenario, metric]
        known = [index for index, value in enumerate(found) if value is not None]
        numbers = [value for value in found if value is not None]
        # That of the smallest value: nothing that a check would notice is left out.
        tolerance = max(usual_tolerance(metric, min(map(abs, numbers))), expected)
        changes[scenario, metric] = tuple(
            each._replace(first=known[each.first], last=known[each.last])
            for each in find_changes(numbers, tolerance, len(tested))
        )
    trends = []
    for scenario, own in sorted(by_scenario.items()):
        series = [
            (metric, found, changes.get((name, metric), ()))
            for (name, metric), found in drawn.items()
            if name == scenario
        ]
        series.sort(key=lambda each: (not each[2], each[0]))
        trends.append((scenario, tuple(own), tuple(series)))
    return tuple(trends)


def change_effect(metric: str, change: Change) -> Effect:
    """Say whether a change is an improvement.

    Returns `better`, `worse`, or `changed` for a metric that has no better direction.
    """
    better = metric_direction(metric)
    if better not in ("lower", "higher"):
        return "changed"
    return "better" if (change.after < change.before) == (better == "lower") else "worse"


def find_changes(values: Sequence[float], tolerance: float, series: int = 1) -> tuple[Change, ...]:
    """Find the steps and drifts of a series that are neither noise nor smaller than a tolerance.

    `values`: values in the order of time, all finite; `tolerance`: smallest change that counts, in the unit
    of the values; `series`: number of series that are looked at together. Returns changes in the order of
    time; none for fewer than `FEWEST` values.
    """
    array = np.asarray(values, dtype=np.float64)
    skipped = max(len(array) - LONGEST, 0)
    found = _search(array[skipped:], 0, tolerance, series)
    shifted = (each._replace(first=each.first + skipped, last=each.last + skipped) for each in found)
    return tuple(sorted(shifted, key=lambda change: change.first))


def _search(values: Array, offset: int, tolerance: float, series: int) -> Iterator[Change]:
    """Find the changes of a part of a series that begins at an index, and of what they divide it into."""
    if len(values) < FEWEST:
        return
    centred = values - values.mean()
    total = float(centred @ centred)
    starts, stops, norms, ramps = _shapes(len(values))
    # A level from i until j: the sum of its values, over the square root of the centred indicator's norm.
    sums = np.concatenate(([0.0], np.cumsum(centred)))
    explained = np.concatenate([(sums[stops] - sums[starts]) ** 2 / norms, (ramps @ centred) ** 2])
    # The shape that explains most, and how probable that is by chance.
    best = int(explained.argmax())
    left = max(total - float(explained[best]), _ROUNDING * total)
    freedom = len(values) - 2
    # Of a constant series nothing is left to explain.
    statistic = np.sqrt(explained[best] * freedom / left) if left > 0.0 else 0.0
    chance = min(1.0, 2.0 * float(stdtr(freedom, -statistic)) * len(explained))
    chance = min(1.0, chance * series)
    if chance > FALSE_ALARM_RATE:
        return
    inner = []
    if best >= len(starts):
        start = best - len(starts)
        bounds = [0, start]
        time = np.maximum(np.arange(len(values)) - start, 0.0)
        slope, level = np.polyfit(time, values, 1)
        last = len(values) - 1
        if abs(slope * time[-1]) > tolerance:
            inner.append(Change("drift", start, last, float(level), float(level + slope * time[-1]), chance))
    else:
        # One step, or a step and its return.
        bounds = [0, int(starts[best]), int(stops[best]), len(values)]
        parts = [(begin, end) for begin, end in pairwise(bounds) if end > begin]
        levels = [float(values[begin:end].mean()) for begin, end in parts]
        for (begin, end), before, after in zip(parts[1:], levels, levels[1:], strict=False):
            if abs(after - before) > tolerance:
                inner.append(Change("step", begin, end - 1, before, after, chance))
    if not inner:
        return
    yield from (each._replace(first=each.first + offset, last=each.last + offset) for each in inner)
    for begin, end in pairwise(bounds):
        yield from _search(values[begin:end], offset + begin, tolerance, series)


@lru_cache(maxsize=8)
def _shapes(count: int) -> tuple[NDArray[np.intp], NDArray[np.intp], Array, Array]:
    """List the shapes that a series of a length is compared with.

    Returns first and last values of levels, the sum of squares of each level's indicator without its mean,
    and ramps without their mean, of unit length, (shapes, n).
    """
    pairs = np.array(
        [
            (start, stop)
            for start in range(count)
            for stop in range(start + _SHORTEST_LEVEL, count + 1)
            # What is left beside a level is long enough to have a level of its own, or nothing after it; a
            # level from the first value on is the same as one until the last.
            if start >= _SHORTEST_LEVEL and (stop == count or count - stop >= _SHORTEST_LEVEL)
        ],
        dtype=np.intp,
    )
    lengths = pairs[:, 1] - pairs[:, 0]
    time = np.arange(count, dtype=np.float64)
    ramps = np.array([np.maximum(time - start, 0.0) for start in range(count - _SHORTEST_DRIFT + 1)])
    ramps -= ramps.mean(axis=1, keepdims=True)
    ramps /= np.linalg.norm(ramps, axis=1, keepdims=True)
    return pairs[:, 0], pairs[:, 1], lengths * (1.0 - lengths / count), ramps
