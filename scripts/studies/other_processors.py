"""Does a baseline that one processor made hold on others?

python scripts/studies/other_processors.py [SCENARIO ...] [--engines NAME,...] [--settings NAME,...]
    [--made NAME,...] [--folder DIR] [--jobs N] [--json FILE]

Runs `simbench check` of each scenario, by default every shipped one with a baseline, as processors of other
makes do: with other kernels of OpenBLAS, NumPy and the C library, other machine code of numba, other numbers
of threads, hash seeds, and cold caches. Each setting keeps its runs; baselines are made under each of
`--made` with `check --update`, beside the shipped ones, and every run is compared with every baseline.
Prints, for each baseline and setting, failed scenarios, warnings, and scenarios whose log is the same bit for
bit. Exit status 1 if a scenario fails anywhere. `A+B` in `--settings` and `--made` is both settings at once.

A folder that exists is continued: settings whose runs are complete are not run again.
"""

import argparse
import json
import os
import shutil
import subprocess
import sys
import tempfile
from collections import ChainMap
from collections.abc import Mapping, Sequence
from contextlib import nullcontext
from dataclasses import replace
from pathlib import Path

from log_digest import log_digest
from rich.console import Console
from rich.table import Table

from simbench.runs.baseline import baseline_path, check_metrics
from simbench.runs.regression import CaseResult, compare_signals, evaluate_run, find_cases, headline
from simbench.runs.run_directory import read_metrics
from simbench.runs.scenario.scenario_files import find_scenario, list_scenarios

ROOT = Path(__file__).resolve().parents[2]
NO_FMA = "glibc.cpu.hwcaps=-AVX2,-FMA,-FMA4,-AVX2_Usable,-FMA_Usable"
SCALAR = {"NUMBA_CPU_NAME": "generic", "NUMBA_CPU_FEATURES": "-fma,-avx,-avx2,-avx512f"}
THREADS = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "NUMBA_NUM_THREADS")
SETTINGS: dict[str, dict[str, str]] = {
    "as it is": {},
    "SIMBENCH_PORTABLE=0": {"SIMBENCH_PORTABLE": "0"},
    "OpenBLAS Nehalem": {"OPENBLAS_CORETYPE": "Nehalem", "NPY_DISABLE_CPU_FEATURES": ""},
    "OpenBLAS Haswell": {"OPENBLAS_CORETYPE": "Haswell"},
    "OpenBLAS SkylakeX": {"OPENBLAS_CORETYPE": "SkylakeX"},
    "OpenBLAS Zen": {"OPENBLAS_CORETYPE": "Zen"},
    "numba generic": {"NUMBA_CPU_NAME": "generic"},
    "numba without FMA and AVX": SCALAR,
    "C library without FMA": {"GLIBC_TUNABLES": NO_FMA},
    "1 thread": dict.fromkeys(THREADS, "1"),
    "2 threads": dict.fromkeys(THREADS, "2"),
    "7 threads": dict.fromkeys(THREADS, "7"),
    "hash seed 1": {"PYTHONHASHSEED": "1"},
    "hash seed 2": {"PYTHONHASHSEED": "2"},
    "cold caches": {},
}


def run_command(arguments: Sequence[str], variables: Mapping[str, str], *, cold: bool) -> str:
    """Run simbench with environment variables; return what it printed. Status 2 ends the study."""
    with tempfile.TemporaryDirectory() if cold else nullcontext() as folder:
        caches = {} if folder is None else {"NUMBA_CACHE_DIR": folder, "SIMBENCH_CACHE_DIR": folder}
        done = subprocess.run(
            [sys.executable, "-m", "simbench", *arguments],
            env={**os.environ, "PYTHONPATH": str(ROOT), **variables, **caches},
            capture_output=True,
            text=True,
            check=False,
        )
    if done.returncode not in (0, 1):
        sys.exit(f"{' '.join(arguments)}: {done.stderr.strip()}")
    return done.stdout


def compare_runs(names: Sequence[str], engine: str, runs: Path) -> list[CaseResult]:
    """Compare kept runs with the baselines beside the scenarios' files."""
    results = []
    for case in find_cases(names, [f"simulation.engine={engine}"]):
        run = runs / case.scenario.name
        metrics = read_metrics(run)
        verdicts, failed = evaluate_run(case.baseline, metrics, check_metrics(case.scenario.checks, metrics))
        result = CaseResult(case, verdicts, failed, run=run)
        if case.trace is not None:
            divergences, growth = compare_signals(case.trace, run)
            result = replace(result, divergences=divergences, growth=growth)
        results.append(result)
    return results


def main(arguments: Sequence[str] | None = None) -> int:
    """Run all settings and print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("scenarios", nargs="*", metavar="SCENARIO")
    parser.add_argument("--engines", default="bullet,mujoco", metavar="NAME,...")
    parser.add_argument("--settings", default=",".join(SETTINGS), metavar="NAME,...")
    parser.add_argument("--made", default="", metavar="NAME,...", help="settings that make baselines, too")
    parser.add_argument("--folder", type=Path, metavar="DIR", help="keep the runs here")
    parser.add_argument("--jobs", type=int, default=2, metavar="N", help="runs at a time")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write the table")
    given = parser.parse_args(arguments)
    settings, made = given.settings.split(","), given.made.split(",") if given.made else []
    asked = {name: name.split("+") for name in (*settings, *made)}
    if unknown := [part for parts in asked.values() for part in parts if part not in SETTINGS]:
        print(f"error: no setting {unknown[0]!r}; there are {', '.join(SETTINGS)}", file=sys.stderr)
        return 2
    variables = {name: dict(ChainMap(*(SETTINGS[part] for part in parts))) for name, parts in asked.items()}
    found: dict[str, dict[str, str]] = {}
    said: list[str] = []
    with tempfile.TemporaryDirectory() if given.folder is None else nullcontext(given.folder) as place:
        folder = Path(place)
        for engine in given.engines.split(","):
            # A scenario that does not run in an engine has no baseline there.
            names = given.scenarios or [
                each
                for each in list_scenarios()
                if baseline_path(find_scenario(each), each, engine).is_file()
            ]
            options = ["--engine", engine, "--jobs", str(given.jobs)]
            for setting in settings:
                runs = folder / f"{engine} {setting}"
                if not runs.exists():
                    kept = runs.with_name(f"{runs.name}.part")
                    shutil.rmtree(kept, ignore_errors=True)
                    check = ["check", *names, *options, "--no-dossier", "--out", str(kept)]
                    run_command(check, variables[setting], cold="cold caches" in asked[setting])
                    kept.rename(runs)
                print(f"{engine}, {setting}: run", file=sys.stderr, flush=True)
            baselines = {"shipped": names}
            for setting in made:
                copies = folder / f"baselines {engine} {setting}"
                copies.mkdir(parents=True, exist_ok=True)
                files = [shutil.copy(find_scenario(name), copies) for name in names]
                baselines[f"made with {setting}"] = [str(file) for file in files]
                if not (copies / "complete").exists():
                    update = ["check", *map(str, files), "--update", *options]
                    run_command(update, variables[setting], cold=False)
                    (copies / "complete").touch()
                print(f"{engine}, {setting}: baselines", file=sys.stderr, flush=True)
            exact = folder / f"{engine} {settings[0]}"
            for title, files in baselines.items():
                for setting in settings:
                    runs = folder / f"{engine} {setting}"
                    results = compare_runs(files, engine, runs)
                    same = sum(
                        log_digest(runs / result.case.scenario.name)
                        == log_digest(exact / result.case.scenario.name)
                        for result in results
                    )
                    failed = [result for result in results if result.failed]
                    warned = [result for result in results if result.rounded]
                    found[f"{engine}, {title}, {setting}"] = {
                        "engine": engine,
                        "baseline": title,
                        "checked": setting,
                        "same bits": f"{same} of {len(results)}",
                        "warnings": str(len(warned)),
                        "failed": str(len(failed)),
                    }
                    said += [f"{engine}, {title}, {setting}: {headline(each)}" for each in (*failed, *warned)]
    table = Table("engine", "baseline", "checked with", "same bits", "warnings", "failed", box=None)
    for row in found.values():
        table.add_row(*row.values())
    Console(markup=False, emoji=False, width=150).print(table)
    for line in said:
        print(line)
    if given.json:
        given.json.write_text(json.dumps(list(found.values()), indent=1))
    return 1 if any(row["failed"] != "0" for row in found.values()) else 0


if __name__ == "__main__":
    sys.exit(main())
