"""A sweep: a study of a scenario in which some keys vary, with a run for every combination of values."""

import functools
import hashlib
import itertools
import math
import re
import shutil
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from simbench.errors import ScenarioError, StudyError
from simbench.files.storage import scratch_folder
from simbench.files.yaml_document import parse_yaml_list
from simbench.runs.regression import run_once
from simbench.runs.run_directory import incomplete_path
from simbench.runs.scenario.files import resolve_paths, scenario_files
from simbench.runs.scenario.loading import Scenario, load_scenario
from simbench.runs.study.study import Item

MOST = 10_000
"""Runs of one sweep, limited because the scenario of each is checked before the first begins."""
_RANGE = re.compile(
    r"(?P<stem>.*[a-z]{2}.*?|)(?P<first>[0-9]+|(?<!.)-[0-9]+)\.\.(?P<last>-?[0-9]+)", re.IGNORECASE
)

_LONGEST_RANGE, _MOST_DIGITS = 1000, 18
"""Characters of a range, and of each of its ends."""

CHECKS_HOLD, FAILED_CHECKS = "checks_hold", "failed_checks"
_LONGEST_NAME = 80


@dataclass(frozen=True)
class ScenarioSweep:
    """Runs of a scenario in which some keys vary."""

    base: Scenario  # The scenario without variation.
    keys: tuple[str, ...]  # Varied keys.
    combinations: tuple[tuple[Any, ...], ...]  # A value for each key; the last key varies fastest.
    scenarios: tuple[Scenario, ...]  # The scenario of each combination.


def plan_sweep(name_or_path: str | Path, vary: Sequence[str], overrides: Sequence[str] = ()) -> ScenarioSweep:
    """Read and check the scenario of every run of a sweep.

    `name_or_path`: scenario, as for `load_scenario`; `vary`: varied keys and their values, as for
    `parse_vary`; every combination of values is a run; `overrides`: overrides of every run, as for
    `load_scenario`; the varied values are set after them. Raises SimbenchError if a scenario is not valid,
    before anything is run.
    """
    varied = [parse_vary(text) for text in vary]
    keys = [each.key for each in varied]
    for key in keys:
        if keys.count(key) > 1:
            raise StudyError(f"--vary {key}: given twice; all values of a key go into one list")
    count = math.prod(len(each.values) for each in varied)
    if count > MOST:
        raise StudyError(f"--vary: {count} combinations; at most {MOST} runs are one sweep")
    base = resolve_paths(load_scenario(name_or_path, overrides))
    written = itertools.product(*([f"{each.key}={text}" for text in each.texts] for each in varied))
    scenarios = tuple(_load(name_or_path, overrides, texts) for texts in written)
    return ScenarioSweep(
        base, tuple(keys), tuple(itertools.product(*(each.values for each in varied))), scenarios
    )


def sweep_items(sweep: ScenarioSweep, kept: Path | None = None, *, cache: bool = True) -> list[Item]:
    """Make the jobs of a sweep.

    `sweep`: the checked scenarios; `kept`: folder for the run directories; None keeps none; `cache`: whether
    runs take their plans from the cache, which changes no result. Returns jobs for `run_varied`. A run is
    identified by its scenario and the content of the files that it names. Raises RobotError if a user's robot
    cannot be read.
    """
    digest = functools.cache(_digest)
    items = []
    for number, (scenario, values) in enumerate(zip(sweep.scenarios, sweep.combinations, strict=True), 1):
        varied = dict(zip(sweep.keys, values, strict=True))
        folder = None if kept is None else kept / _run_name(number, varied)
        identity = (scenario, {str(path): digest(path) for path in scenario_files(scenario)})
        items.append(Item(varied, (scenario, folder, cache), identity))
    return items


def run_varied(scenario: Scenario, folder: Path | None, cache: bool = True) -> dict[str, Any]:
    """Run a scenario for a row of a sweep's table.

    `folder`: run directory to make, replacing what an earlier attempt left; None keeps none; `cache`: whether
    the plan may come from the cache. Returns the metrics; `checks_hold`, whether all checks of the scenario
    hold; `failed_checks`, names of the others in one text.
    """
    with scratch_folder() as scratch:
        directory = folder or scratch / scenario.name
        for leftover in (directory, incomplete_path(directory)):
            shutil.rmtree(leftover, ignore_errors=True)
        metrics, checks = run_once(scenario, directory, cache)
    failed = [check.name for check in checks if not check.passed]
    return {**metrics, CHECKS_HOLD: not failed, FAILED_CHECKS: ", ".join(failed)}


def _load(name_or_path: str | Path, overrides: Sequence[str], texts: Sequence[str]) -> Scenario:
    try:
        return resolve_paths(load_scenario(name_or_path, [*overrides, *texts]))
    except ScenarioError as error:
        line = str(error)
    # The scenario's reader names the option `--set`.
    for text in texts:
        line = line.replace(f"--set {text}", f"--vary {text}")
    raise ScenarioError(line)


def _run_name(number: int, varied: Mapping[str, Any]) -> str:
    text = ",".join(f"{key.rpartition('.')[2]}={value}" for key, value in varied.items())
    return f"{number:04d}-{re.sub(r'[^A-Za-z0-9_.,=+-]+', '_', text)[:_LONGEST_NAME]}"


def _digest(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()


@dataclass(frozen=True)
class Varied:
    """A varied key of a scenario and its values."""

    key: str  # Dotted, such as `fixtures.0.mass_kg`.
    texts: tuple[str, ...]  # Values as written, which is how overrides are given.
    values: tuple[Any, ...]  # Values as YAML reads them.


def parse_vary(text: str) -> Varied:
    """Parse the argument of `--vary`.

    `text`: `key=a,b,c`, each a YAML value. A range of whole numbers, both ends included, stands for its
    values: `seed=1..20`, `motion.source=actor:valves:1..19`. Returns key and values.
    """
    key, equals, listed = text.partition("=")
    key = key.strip()
    if not equals or not all(key.split(".")):
        raise StudyError(f"--vary {text}: must be key=a,b,c or key=a..b, for example seed=1..20")
    listed_values = parse_yaml_list(listed, f"--vary {text}", StudyError)
    pairs = [pair for each in listed_values for pair in _expand_range(text, *each)]
    if not pairs:
        raise StudyError(f"--vary {text}: gives no value")
    return Varied(key, tuple(written for written, _ in pairs), tuple(value for _, value in pairs))


def _expand_range(text: str, written: str, value: Any) -> Iterator[tuple[str, Any]]:
    """Yield the values of a range; any other value, also one in quotes, is yielded as it is."""
    # The pattern takes time with the square of the length.
    found = _RANGE.fullmatch(written) if len(written) <= _LONGEST_RANGE else None
    if found is None or written != value:
        yield written, value
        return
    stem, ends = found["stem"], (found["first"], found["last"])
    first, last = map(int, ends) if max(map(len, ends)) <= _MOST_DIGITS else (0, -1)
    if not 0 <= last - first < MOST:
        raise StudyError(f"--vary {text}: {written} must go up, by at most {MOST} values")
    for number in range(first, last + 1):
        yield f"{stem}{number}", f"{stem}{number}" if stem else number
