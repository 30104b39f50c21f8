"""The history of checks: JSON Lines, a line for each scenario that was checked."""

from __future__ import annotations

import json
import math
import os
import re
import subprocess
from collections.abc import Mapping, Sequence
from datetime import datetime, timezone
from importlib import metadata
from pathlib import Path
from typing import Any, NamedTuple

from simbench.errors import BaselineError
from simbench.files.json_document import parse_json
from simbench.files.text import read_text
from simbench.runs.baseline import find_tolerance
from simbench.runs.checks import Metric
from simbench.runs.regression import CaseResult
from simbench.runs.run_records import read_metrics, read_provenance
from simbench.runs.tolerances import usual_tolerance

_DISTRIBUTION = "simbench-robotics"
_MAX_BYTES = 400_000_000
"""Size of the largest history that is read: a check of all shipped scenarios adds about 250 kB."""
_OUTCOMES = ("holds", "failed", "error")


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
    commit, now = _working_commit(), datetime.now(timezone.utc).isoformat(timespec="seconds")
    records = []
    for result in results:
        name = result.case.scenario.name
        folder = runs / name
        outcome = "error" if result.error else "failed" if result.failed else "holds"
        metrics = {} if result.error else read_metrics(folder)
        records.append(
            HistoryRecord(
                name,
                now,
                commit,
                outcome,
                metrics,
                _own_tolerances(result),
                {} if result.error else _versions(read_provenance(folder)),
                _job_address(os.environ) if kept is None else os.path.relpath(kept / name, history.parent),
                result.error,
            )
        )
    return records


def append_history(path: Path, records: Sequence[HistoryRecord]) -> None:
    """Add lines to a history; the file is made if it is missing."""
    lines = "".join(
        json.dumps(_as_dict(record), ensure_ascii=False, allow_nan=False) + "\n" for record in records
    )
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
        if line.strip():
            records.append(_read_record(line, path, number))
    return sorted(records, key=lambda record: datetime.fromisoformat(record.date))


def _as_dict(record: HistoryRecord) -> dict[str, Any]:
    """Write a record as its line holds it: what is empty is left out, and every value is one of JSON."""
    values = {name: value for name, value in record._asdict().items() if value not in ("", {})}
    return values | {"metrics": {name: _plain(value) for name, value in record.metrics.items()}}


def _plain(value: Metric) -> Metric:
    """Write a number that is not finite as none, as `metrics.json` does."""
    return None if isinstance(value, float) and not math.isfinite(value) else value


def _read_record(line: str, path: Path, number: int) -> HistoryRecord:
    """Read a line of a history."""
    try:
        data = parse_json(line, "line", BaselineError)
        return _validate(data)
    except BaselineError as error:
        # Of one line, the line within it says nothing.
        reason = re.sub(r"^line:1:(\d+): ", r"column \1: ", str(error))
        raise BaselineError(
            f"{path}:{number}: {reason}; simbench check --history writes such lines"
        ) from None


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


def _own_tolerances(result: CaseResult) -> dict[str, float | None]:
    """List the tolerances of a scenario's baseline that differ from the usual ones of the same values."""
    own: dict[str, float | None] = {}
    for name, expected in (result.case.baseline or {}).items():
        value = expected.value
        if isinstance(value, bool) or not isinstance(value, (int, float)):
            continue
        tolerance = find_tolerance(name, expected)
        if expected.better == "ignored" or math.isinf(tolerance):
            own[name] = None
        elif tolerance != usual_tolerance(name, value):
            own[name] = tolerance
    return own


def _versions(provenance: Mapping[str, Any]) -> dict[str, str]:
    """Take the versions of simbench, Python and the packages that simbench requires from a provenance."""
    packages: dict[str, str] = provenance["packages"]
    try:
        required = metadata.requires(_DISTRIBUTION) or []
    except metadata.PackageNotFoundError:
        required = list(packages)
    names = {_plain_name(re.split(r"[^\w.-]", requirement)[0]) for requirement in required}
    chosen = {name: version for name, version in packages.items() if _plain_name(name) in names}
    return {"simbench": provenance["simbench"], "python": provenance["python"], **chosen}


def _plain_name(name: str) -> str:
    """Write the name of a package as package indexes compare it."""
    return re.sub(r"[-_.]+", "-", name).lower()


def _working_commit() -> str:
    """Find the commit of the repository in which the command runs; empty outside one."""
    try:
        described = subprocess.run(
            ["git", "--no-optional-locks", "describe", "--always", "--dirty", "--abbrev=40", "--exclude=*"],
            capture_output=True,
            text=True,
            check=True,
        )
    except (OSError, subprocess.CalledProcessError):
        return ""
    return described.stdout.strip()


def _job_address(environment: Mapping[str, str]) -> str:
    """Find the address of the job of GitHub Actions that runs the command; empty elsewhere."""
    parts = [environment.get(f"GITHUB_{name}", "") for name in ("SERVER_URL", "REPOSITORY", "RUN_ID")]
    return f"{parts[0]}/{parts[1]}/actions/runs/{parts[2]}" if all(parts) else ""


def require_history(path: Path) -> None:
    """Refuse a file that is no history, before a check begins whose results would be added to it.

    `path`: the file; it may be missing. Raises SimbenchError as of `read_history`.
    """
    if path.exists():
        read_history(path)
