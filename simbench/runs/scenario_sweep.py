"""A sweep: a study of a scenario in which some keys vary, with a run for every combination of values."""

import hashlib
import itertools
import math
import re
import shutil
from collections.abc import Sequence
from pathlib import Path
from typing import Any, TypeAlias

from simbench.errors import ScenarioError, StudyError
from simbench.files.storage import scratch_folder
from simbench.files.yaml_document import parse_yaml_list
from simbench.runs.isolated_runs import run_once
from simbench.runs.run_directory import incomplete_path
from simbench.runs.scenario.loading import load_scenario, resolve_paths, scenario_files
from simbench.runs.scenario.schema import Scenario
from simbench.runs.study import Item

MOST = 10_000  # Runs of one sweep, limited because the scenario of each is checked before the first begins.
_RANGE = re.compile(
    r"(?P<stem>.*[a-z]{2}.*?|)(?P<first>[0-9]+|(?<!.)-[0-9]+)\.\.(?P<last>-?[0-9]+)", re.IGNORECASE
)

_LONGEST_RANGE, _MOST_DIGITS = 1000, 18  # Characters of a range, and of each of its ends.

CHECKS_HOLD, FAILED_CHECKS = "checks_hold", "failed_checks"
_LONGEST_NAME = 80


# The scenario without variation, the varied keys, a value for each key of every run, and its scenario.
Sweep: TypeAlias = "tuple[Scenario, tuple[str, ...], tuple[tuple[Any, ...], ...], tuple[Scenario, ...]]"


def plan_sweep(name_or_path: str | Path, vary: Sequence[str], overrides: Sequence[str] = ()) -> Sweep:
    """Read and check the scenario of every run of a sweep.

    `name_or_path`: scenario, as for `load_scenario`; `vary`: varied keys and their values, as for
    `parse_vary`; every combination of values is a run; `overrides`: overrides of every run, as for
    `load_scenario`; the varied values are set after them. The last key varies fastest. Raises SimbenchError
    if a scenario is not valid, before anything is run.
    """
    varied = [parse_vary(text) for text in vary]
    keys = [key for key, _, _ in varied]
    for key in keys:
        if keys.count(key) > 1:
            raise StudyError(f"--vary {key}: given twice; all values of a key go into one list")
    count = math.prod(len(values) for _, _, values in varied)
    if count > MOST:
        raise StudyError(f"--vary: {count} combinations; at most {MOST} runs are one sweep")
    base = resolve_paths(load_scenario(name_or_path, overrides))
    scenarios = []
    for texts in itertools.product(*([f"{key}={text}" for text in texts] for key, texts, _ in varied)):
        try:
            scenarios.append(resolve_paths(load_scenario(name_or_path, [*overrides, *texts])))
        except ScenarioError as error:
            line = str(error)
            # The scenario's reader names the option `--set`.
            for text in texts:
                line = line.replace(f"--set {text}", f"--vary {text}")
            raise ScenarioError(line) from None
    combinations = itertools.product(*(values for _, _, values in varied))
    return base, tuple(keys), tuple(combinations), tuple(scenarios)


def sweep_items(sweep: Sweep, kept: Path | None = None, *, cache: bool = True) -> list[Item]:
    """Make the jobs of a sweep.

    `sweep`: the checked scenarios; `kept`: folder for the run directories; None keeps none; `cache`: whether
    runs take their plans from the cache, which changes no result. Returns jobs for `run_varied`. A run is
    identified by its scenario and the content of the files that it names. Raises RobotError if a user's robot
    cannot be read.
    """
    digests: dict[Path, str] = {}
    items = []
    _, keys, combinations, scenarios = sweep
    for number, (scenario, values) in enumerate(zip(scenarios, combinations, strict=True), 1):
        varied = dict(zip(keys, values, strict=True))
        text = ",".join(f"{key.rpartition('.')[2]}={value}" for key, value in varied.items())
        name = f"{number:04d}-{re.sub(r'[^A-Za-z0-9_.,=+-]+', '_', text)[:_LONGEST_NAME]}"
        folder = None if kept is None else kept / name
        files = scenario_files(scenario)
        for path in files:
            if path not in digests:
                digests[path] = hashlib.sha256(path.read_bytes()).hexdigest()
        identity = (scenario, {str(path): digests[path] for path in files})
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


def parse_vary(text: str) -> tuple[str, tuple[str, ...], tuple[Any, ...]]:
    """Parse the argument of `--vary`.

    `text`: `key=a,b,c`, each a YAML value. A range of whole numbers, both ends included, stands for its
    values: `seed=1..20`, `motion.source=actor:valves:1..19`. Returns the dotted
    key, the values as written, which is how overrides are given, and as YAML reads them.
    """
    key, equals, listed = text.partition("=")
    key = key.strip()
    if not equals or not all(key.split(".")):
        raise StudyError(f"--vary {text}: must be key=a,b,c or key=a..b, for example seed=1..20")
    texts: list[str] = []
    values: list[Any] = []
    for written, value in parse_yaml_list(listed, f"--vary {text}", StudyError):
        # The pattern takes time with the square of the length.
        found = _RANGE.fullmatch(written) if len(written) <= _LONGEST_RANGE else None
        if found is None or written != value:
            # No range; also a text in quotes.
            texts.append(written)
            values.append(value)
            continue
        stem, ends = found["stem"], (found["first"], found["last"])
        first, last = map(int, ends) if max(map(len, ends)) <= _MOST_DIGITS else (0, -1)
        if not 0 <= last - first < MOST:
            raise StudyError(f"--vary {text}: {written} must go up, by at most {MOST} values")
        texts += [f"{stem}{number}" for number in range(first, last + 1)]
        values += [f"{stem}{number}" if stem else number for number in range(first, last + 1)]
    if not texts:
        raise StudyError(f"--vary {text}: gives no value")
    return key, tuple(texts), tuple(values)
