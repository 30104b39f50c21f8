"""Damage everything that simbench reads, thousands of times, and count how it ends.

Prints a table of inputs × outcomes and the unique failures by place. Input and number repeat a case:

    python scripts/studies/fuzz.py --cases 20000 --jobs 2
    python scripts/studies/fuzz.py --repeat=robot.yaml:17

With --in-process the readers of motions read --cases damaged files of each of their valid ones, many in one
process; what fails is repeated in a process of its own, by the command line:

    python scripts/studies/fuzz.py --in-process --cases 300 --jobs 2
"""

import argparse
import json
import os
import random
import shutil
import sys
import tempfile
import time
from collections import Counter, defaultdict
from collections.abc import Iterator
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parents[2] / "tests" / "helpers"))
sys.path.insert(0, str(Path(__file__).parents[2] / "tests" / "fuzz"))

from in_process import READERS, list_cases, make_reader_case, require_valid, run_cases
from inputs import CALLS, INPUTS
from oracle import find_failures
from sandbox import Case, Outcome, clear, run_case
from seeds import ReaderSeeds, Seeds, make_reader_seeds, make_seeds

CPU_LIMIT = 20
"""Processor time after which a case counts as hanging, s."""
_ENOUGH = 100
"""Cases of an input of which some must be accepted."""


def main() -> int:
    """Run the study; return 1 if anything failed."""
    options = _options()
    folder = Path(tempfile.mkdtemp(prefix="fuzz-", dir=options.folder))
    began = time.perf_counter()
    try:
        seed_folder = folder / "seeds"
        seed_folder.mkdir()
        before = Path.cwd()
        os.chdir(seed_folder)
        if options.in_process:
            return _run_in_process(options, folder)
        seeds = make_seeds(seed_folder)
        os.chdir(before)
        print(f"valid files made in {time.perf_counter() - began:.0f} s", file=sys.stderr)
        if options.repeat:
            return _repeat(options.seed, options.repeat, seeds, folder)
        cases = list(_numbered(options.cases, options.only))
        records = _in_parallel(options.seed, cases, seeds, folder, options.jobs)
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    seconds = time.perf_counter() - began
    _print_table(records)
    unique = _print_failures(records) + _print_never_accepted(records)
    print(f"\n{len(records)} cases, seed {options.seed}, {options.jobs} at a time, {seconds:.0f} s: ", end="")
    print(f"{len(records) / seconds:.1f} cases/s, unique failures {unique}")
    if options.json:
        options.json.write_text(json.dumps(records, indent=1))
    return 1 if unique else 0


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--cases", type=int, default=2000, help="number of cases over all inputs")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--jobs", type=int, default=1, help="processes that work at a time")
    parser.add_argument("--only", choices=[*INPUTS, *READERS], nargs="+", help="only these inputs or readers")
    parser.add_argument("--in-process", action="store_true", help="many cases in one process, readers only")
    parser.add_argument("--json", type=Path, help="write every case's outcome here")
    parser.add_argument("--folder", type=Path, help="where the cases work; best in memory, /dev/shm")
    parser.add_argument("--repeat", metavar="INPUT:NUMBER", help="show one case; --repeat=--set:17 works too")
    return parser.parse_args()


def _run_in_process(options: argparse.Namespace, folder: Path) -> int:
    """Let the readers of motions read many damaged files in few processes; return 1 if anything failed."""
    began = time.perf_counter()
    seeds = make_reader_seeds(Path.cwd())
    require_valid(seeds)
    print(f"valid files made in {time.perf_counter() - began:.0f} s", file=sys.stderr)
    cases = list(list_cases(options.cases, options.only))
    began = time.perf_counter()
    pids = []
    for job in range(options.jobs):
        pid = os.fork()
        if pid == 0:
            status = 1
            try:
                records = run_cases(options.seed, cases[job :: options.jobs], seeds, folder / f"job{job}")
                (folder / f"records{job}").write_text(json.dumps(records))
                status = 0
            finally:
                os._exit(status)
        pids.append(pid)
    if any(os.waitpid(pid, 0)[1] for pid in pids):
        raise SystemExit("a worker of this study ended early")
    records = [
        record for job in range(options.jobs) for record in json.loads((folder / f"records{job}").read_text())
    ]
    seconds = time.perf_counter() - began
    _print_readers(records)
    failed = [record for record in records if record["failure"]]
    _print_repeated(failed, options.seed, seeds, folder)
    print(f"\n{len(records)} cases, seed {options.seed}, {options.jobs} at a time, {seconds:.0f} s", end="")
    print(f": {len(records) / seconds:.1f} cases/s, {len(failed)} failed")
    if options.json:
        options.json.write_text(json.dumps(records, indent=1))
    return 1 if failed else 0


def _print_readers(records: list[dict[str, Any]]) -> None:
    """Print how the cases of each reader ended."""
    kinds = ("read", "refused", "failed")
    print(f"{'reader':17}{'files':>6}{'cases':>7}" + "".join(f"{kind:>9}" for kind in kinds), end="")
    print(f"{'slowest s':>11}{'peak MB':>9}")
    names = [*READERS, "all"]
    for name in names:
        own = [record for record in records if name in ("all", record["reader"])]
        if not own:
            continue
        outcomes = Counter(record["outcome"] for record in own)
        files = len({(record["reader"], record["file"]) for record in own})
        print(f"{name:17}{files:6}{len(own):7}" + "".join(f"{outcomes[kind]:9}" for kind in kinds), end="")
        print(f"{max(r['cpu'] for r in own):11.2f}{max(r['memory'] for r in own) / 2**20:9.0f}")


def _print_repeated(failed: list[dict[str, Any]], seed: int, seeds: ReaderSeeds, folder: Path) -> None:
    """Print each kind of failure once, with what the command line does in that case."""
    kinds: dict[str, list[dict[str, Any]]] = defaultdict(list)
    for record in failed:
        kinds[record["failure"][:60]].append(record)
    for shown in kinds.values():
        reader, file, number = (shown[0][key] for key in ("reader", "file", "number"))
        case = make_reader_case(seed, reader, file, number, seeds)
        outcome = run_case(case, folder / "case", CALLS, CPU_LIMIT)
        clear(folder / "case")
        given = " ".join(case.arguments) + b" ".join(case.files.values()).decode("utf-8", "replace").lower()
        print(f"\n{len(shown)} × {shown[0]['failure']}")
        print(f"  {reader}, {file}, {number}; by the command line:", *find_failures(case, outcome, given))
        print("  simbench", *case.arguments)
        print("  " + outcome.err.strip()[-300:].replace("\n", "\n  "))


def _numbered(cases: int, only: list[str] | None) -> Iterator[tuple[str, int]]:
    """Yield input and number of each case; every input has at least one."""
    chosen = {name: each for name, each in INPUTS.items() if not only or name in only}
    total = sum(each.share for each in chosen.values())
    for name, each in chosen.items():
        for number in range(max(1, round(cases * each.share / total))):
            yield name, number


def _make_case(seed: int, name: str, number: int, seeds: Seeds) -> Case:
    return INPUTS[name].make(random.Random(f"{seed}:{name}:{number}"), seeds)


def _examine(seed: int, name: str, number: int, seeds: Seeds, folder: Path) -> dict[str, Any]:
    """Run a case and judge it."""
    case = _make_case(seed, name, number, seeds)
    outcome = run_case(case, folder, CALLS, CPU_LIMIT)
    clear(folder)
    given = " ".join(case.arguments) + b" ".join(case.files.values()).decode("utf-8", "replace").lower()
    failures = find_failures(case, outcome, given)
    return {
        "input": name,
        "number": number,
        "outcome": _name(outcome, bool(failures)),
        "cpu": round(outcome.cpu, 3),
        "memory": outcome.memory,
        "failures": failures,
        "err": outcome.err[-600:] if failures else "",
    }


def _name(outcome: Outcome, failed: bool) -> str:
    return "failed" if failed else str(outcome.status)


def _in_parallel(
    seed: int, cases: list[tuple[str, int]], seeds: Seeds, folder: Path, jobs: int
) -> list[dict[str, Any]]:
    """Share the cases among forked processes, which pass their records in files."""
    workers = []
    for job in range(jobs):
        pid = os.fork()
        if pid == 0:
            _work(seed, cases[job::jobs], seeds, folder / f"job{job}")
        workers.append(pid)
    for pid in workers:
        _, status = os.waitpid(pid, 0)
        if status:
            raise SystemExit("a worker of this study ended early")
    texts = [(folder / f"job{job}" / "records").read_text().splitlines() for job in range(jobs)]
    return [json.loads(line) for lines in texts for line in lines]


def _work(seed: int, cases: list[tuple[str, int]], seeds: Seeds, folder: Path) -> None:
    folder.mkdir()
    status = 1
    try:
        with (folder / "records").open("w") as records:
            for index, (name, number) in enumerate(cases):
                record = _examine(seed, name, number, seeds, folder / "case")
                records.write(json.dumps(record) + "\n")
                if record["failures"]:
                    print(name, number, *record["failures"], file=sys.stderr, flush=True)
                if index % 500 == 499:
                    print(f"{index + 1} of {len(cases)}", file=sys.stderr, flush=True)
        status = 0
    finally:
        os._exit(status)


def _print_table(records: list[dict[str, Any]]) -> None:
    outcomes: dict[str, Counter[str]] = defaultdict(Counter)
    for record in records:
        outcomes[record["input"]][record["outcome"]] += 1
    kinds = ("0", "1", "2", "failed")
    print(f"{'input':14}{'cases':>7}" + "".join(f"{kind:>8}" for kind in kinds) + f"{'cpu s':>8}{'MB':>7}")
    for name, counts in outcomes.items():
        own = [record for record in records if record["input"] == name]
        greatest = max(record["cpu"] for record in own), max(record["memory"] for record in own) / 2**20
        numbers = "".join(f"{counts[kind]:8}" for kind in kinds)
        print(f"{name:14}{len(own):7}{numbers}{greatest[0]:8.1f}{greatest[1]:7.0f}")
    sums = Counter(record["outcome"] for record in records)
    print(f"{'all':14}{len(records):7}" + "".join(f"{sums[kind]:8}" for kind in kinds), end="")
    print(f"{max(r['cpu'] for r in records):8.1f}{max(r['memory'] for r in records) / 2**20:7.0f}")


def _print_failures(records: list[dict[str, Any]]) -> int:
    """Print unique failures with a case that shows each; return their number."""
    found: dict[tuple[str, str], list[dict[str, Any]]] = defaultdict(list)
    for record in records:
        for kind, place in record["failures"]:
            found[kind, place].append(record)
    for (kind, place), shown in sorted(found.items(), key=lambda item: -len(item[1])):
        print(f"\n{len(shown)} × {kind}: {place}")
        print(f"  --repeat='{shown[0]['input']}:{shown[0]['number']}'")
        print("  " + shown[0]["err"].strip()[-400:].replace("\n", "\n  "))
    return len(found)


def _print_never_accepted(records: list[dict[str, Any]]) -> int:
    """Print the inputs of which nothing was accepted: what is damaged was not valid; return their number."""
    cases = Counter(record["input"] for record in records)
    accepted = {record["input"] for record in records if record["outcome"] in ("0", "1")}
    never = [name for name, count in cases.items() if count >= _ENOUGH and name not in accepted]
    for name in never:
        print(f"\n{name}: none of {cases[name]} cases was accepted; its valid files are not valid")
    return len(never)


def _repeat(seed: int, place: str, seeds: Seeds, folder: Path) -> int:
    """Show a case: its arguments, its damaged files, and what it prints."""
    name, _, number = place.rpartition(":")
    if name not in INPUTS or not number.isdecimal():
        raise SystemExit(f"--repeat {place}: give INPUT:NUMBER, with one of {', '.join(INPUTS)}")
    case = _make_case(seed, name, int(number), seeds)
    kept = Path(tempfile.mkdtemp(prefix="fuzz-case-"))
    outcome = run_case(case, kept / "case", CALLS, CPU_LIMIT)
    print("simbench" if not case.call else case.call, *map(repr, case.arguments))
    print("files", kept / "case" / "work")
    print(outcome.out, outcome.err, f"status {outcome.status} signal {outcome.signal}", sep="\n")
    print("left", outcome.left, "changed", outcome.changed, f"cpu {outcome.cpu:.2f} s")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
