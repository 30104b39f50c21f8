"""Compute the numbers of the validation pages: what is stale, parts by name, or everything.

python scripts/reproduce [NAME ...] [--all] [--quick] [--compare] [--again] [--jobs N] [--out DIR] [--check]

Without NAME and options: lists the parts with their pages, what they cost, and whether their results are
stale, that is, older than the code, robots, scenarios or recordings that they were computed from. NAME is a
part, or a page with all of its parts. Parts run side by side; what they print is in DIR/work. An interrupted
run goes on where it was when it is started again: a part whose results are there and not stale is not run
(--again: all the same). Results go to docs/validation/results, or to DIR.

--quick runs reduced sizes (few people, few draws), into a folder of its own. Its results are no page's, and
some bounds speak of averages over all people or draws: those are shown as not judged and do not count. A part
that fails, and any other bound that is missed, make the exit status 1, as in full.
--compare runs parts again, and compares every cell with the committed results of the same size: a difference
of more than one unit of the last printed digit, in a whole number any, is named, and makes the exit status 1.
The committed files stay.
--renew is for stale parts of which code has changed, or data that a reduced run reads, too: they are run
reduced. If that gives what it gave before, the results are noted as current; if not, the differences are
named, and exit status is 1.
--check names each page with stale results, and what these are older than; exit status 1 if there is one.

Exit status 0: all that was run holds its bounds; 1: a part failed, a bound is missed, results are stale or
differ; 2: a wrong argument.
"""

import argparse
import os
import signal
import sys
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path

from comparison import differences
from dependencies import ROOT, say_changes, stale_results
from parts import PARTS, Part
from renewal import REDUCED, obstacles, renew, to_renew
from rich.console import Console
from rich.progress import Progress, SpinnerColumn, TaskID, TextColumn, TimeElapsedColumn
from rich.table import Table
from running import FULL, QUICK, Outcome, Place, alone, is_done, judge, read_results, run_parts

COMMITTED = ROOT / "docs" / "validation" / "results"
RUNS = ROOT / "runs" / "reproduce"


def page_of(part: Part) -> str:
    return Path(part.script).parts[0]


def cost_of(part: Part) -> float:
    """Processor time of the committed results, s."""
    return float(read_results(COMMITTED / f"{part.name}.json").get("duration_s", 0.0))


def chosen_parts(names: Sequence[str]) -> list[Part]:
    """Find parts by their names and those of their pages; ValueError if there is none."""
    found = []
    for name in names:
        matching = [part for part in PARTS if name in (part.name, page_of(part))]
        if not matching:
            allowed = dict.fromkeys(each for part in PARTS for each in (page_of(part), part.name))
            raise ValueError(f"NAME {name}: no part; allowed: {', '.join(allowed)}")
        found += matching
    return list(dict.fromkeys(found))


def check(parts: Sequence[Part]) -> int:
    """Name the pages with stale results; return the exit status."""
    stale = stale_results(COMMITTED)
    status = 0
    for part in parts:
        page = f"docs/validation/{page_of(part)}.md"
        again = f"run: python scripts/reproduce {part.name}"
        if part.name not in stale:
            print(f"{page}: there are no results of {part.name}; {again}")
        elif stale[part.name]:
            date = read_results(COMMITTED / f"{part.name}.json")["date"]
            print(f"{page}: results of {date} are older than {say_changes(stale[part.name])}; {again}")
        status |= bool(stale.get(part.name, True))
    return status


def list_parts(console: Console) -> None:
    """Show the parts, and what their committed results are."""
    stale = stale_results(COMMITTED)
    table = Table("part", "page", "processor time", "bounds", "results", box=None, pad_edge=False)
    for part in PARTS:
        checks = read_results(COMMITTED / f"{part.name}.json").get("checks", [])
        changed = stale.get(part.name)
        state = "none" if changed is None else f"older than {say_changes(changed)}" if changed else "current"
        held = f"{sum(each['holds'] for each in checks)} of {len(checks)}"
        table.add_row(part.name, f"docs/validation/{page_of(part)}.md", f"{cost_of(part):.0f} s", held, state)
    console.print(table)
    console.print("\nrun: python scripts/reproduce NAME ..., or --all, --quick, --renew; --help says more")


def report(console: Console, outcome: Outcome, place: Place, compared: bool, note: str = "") -> bool:
    """Print how a part ended; return whether it is well."""
    name = outcome.part.name
    if outcome.failure:
        console.print(f"{name}: FAILED: {outcome.failure}")
        return False
    held = outcome.bounds - len(outcome.missed)
    console.print(f"{name}: {held} of {outcome.bounds} bounds hold; {note or f'{outcome.seconds:.0f} s'}")
    for each in outcome.missed:
        console.print(f"  {'not judged at this size' if each in outcome.unjudged else 'MISSED'}: {each}")
    found = []
    if compared:
        beside = COMMITTED if place.size == FULL else COMMITTED / REDUCED
        committed, again = (read_results(folder / f"{name}.json") for folder in (beside, place.results))
        found = (
            differences(committed, again, outcome.part.unsteady) if committed else ["nothing to compare with"]
        )
        for each in found:
            console.print(f"  docs/validation/{page_of(outcome.part)}.md: {each}")
    return outcome.good and not found


def run(parts: Sequence[Part], place: Place, given: argparse.Namespace, console: Console) -> int:
    """Run what is not done and report all; return the exit status."""
    needed = {name for part in parts for name in part.after}
    good, todo = True, []
    for part in (each for each in PARTS if each in parts or each.name in needed):
        if given.again and part in parts:
            (place.work / f"{part.name}.state").unlink(missing_ok=True)
        elif is_done(part, place):
            if part in parts:
                good &= report(console, judge(part, place), place, given.compare, "not stale, not run")
            continue
        elif part not in parts:
            console.print(f"{part.name}: is run, for others read from its folder")
        todo.append(part)
    # What others wait for comes first, then what takes all processes, then the longest.
    todo.sort(key=lambda part: (part.name not in needed, not part.jobs, -cost_of(part)))
    columns = (SpinnerColumn(), TextColumn("{task.description}"), TimeElapsedColumn())
    with Progress(*columns, console=console, transient=True, disable=not console.is_terminal) as progress:
        bars: dict[str, TaskID] = {}

        def show(running: Mapping[str, float]) -> None:
            for name in {*bars} - {*running}:
                progress.remove_task(bars.pop(name))
            for name in {*running} - {*bars}:
                bars[name] = progress.add_task(name, total=None)

        for outcome in run_parts(todo, place, given.jobs, show):
            good &= report(console, outcome, place, given.compare)
    return 0 if good else 1


def renew_all(parts: Sequence[Part], given: argparse.Namespace, console: Console) -> int:
    """Run stale parts reduced, and renew those whose numbers are as before; return the exit status."""
    place = Place(QUICK, RUNS / QUICK, RUNS / QUICK / "work")

    def say(part: Part, reasons: Sequence[str]) -> int:
        for each in reasons:
            console.print(f"docs/validation/{page_of(part)}.md: {part.name}: {each}")
        console.print(f"  run: python scripts/reproduce {part.name}" if reasons else f"{part.name}: current")
        return bool(reasons)

    with alone(place):
        stale = {part: obstacles(part, COMMITTED) for part in to_renew(parts, COMMITTED)}
        status = max((say(part, reasons) for part, reasons in stale.items() if reasons), default=0)
        todo = [part for part, reasons in stale.items() if not reasons]
        status |= run(todo, place, given, console)
        return status | max((say(part, renew(part, COMMITTED, place.results)) for part in todo), default=0)


def parse(arguments: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        "python scripts/reproduce", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("names", nargs="*", metavar="NAME", help="a part, or a page with all of its parts")
    parser.add_argument("--all", action="store_true", help="all parts")
    parser.add_argument("--quick", action="store_true", help="reduced sizes, of all parts or those named")
    parser.add_argument("--compare", action="store_true", help="with the committed results, cell by cell")
    parser.add_argument("--renew", action="store_true", help="what stale code gives as before is current")
    parser.add_argument("--again", action="store_true", help="also what is done and not stale")
    parser.add_argument(
        "--jobs", type=int, default=len(os.sched_getaffinity(0)), metavar="N", help="processes at once"
    )
    parser.add_argument("--out", type=Path, metavar="DIR", help="for results, and in work what parts leave")
    parser.add_argument("--check", action="store_true", help="only say what is stale")
    return parser.parse_args(arguments)


def main(arguments: Sequence[str] | None = None) -> int:
    """Do what the arguments say; return the exit status."""
    given = parse(arguments)
    # Into a pipe or a file lines go whole.
    width = None if sys.stdout.isatty() else 200
    console = Console(highlight=False, markup=False, soft_wrap=True, width=width)
    try:
        if given.all and given.names:
            raise ValueError("--all: with NAME; allowed: one of them")
        chosen = [f"--{name}" for name in ("quick", "compare", "again", "out") if getattr(given, name)]
        if given.renew and chosen:
            raise ValueError(f"--renew: with {chosen[0]}; allowed: one of them")
        if given.compare and not (given.names or given.all or given.quick):
            raise ValueError("--compare: allowed: with NAME, --all or --quick")
        if given.jobs < 1:
            raise ValueError(f"--jobs {given.jobs}: allowed: 1 and more")
        parts = chosen_parts(given.names) if given.names else list(PARTS)
        if given.check:
            return check(parts)
        if not (given.names or given.all or given.quick or given.renew):
            list_parts(console)
            return 0
        size = QUICK if given.quick or given.renew else FULL
        folder = given.out or RUNS / ("compared" if given.compare else size)
        results = folder if given.out or given.quick or given.compare else COMMITTED
        if results.resolve() == COMMITTED and (given.quick or given.compare):
            raise ValueError(f"--out {given.out}: holds the committed results; allowed: another folder")
        if any(each.exists() and not each.is_dir() for each in (folder, *folder.parents)):
            raise ValueError(f"--out {folder}: is no folder")
        place = Place(size, results.resolve(), folder.resolve() / "work")
        signal.signal(signal.SIGTERM, signal.default_int_handler)
        if given.renew:
            return renew_all(parts, given, console)
        with alone(place):
            status = run(parts, place, given, console)
        if results == COMMITTED:
            given.again = False
            status |= renew_all(parts, given, console)
        return status
    except BlockingIOError:
        print(f"--out {folder}: another run is at work there", file=sys.stderr)
    except (ValueError, OSError) as error:
        print(error, file=sys.stderr)
    except KeyboardInterrupt:
        print("interrupted; the same command goes on", file=sys.stderr)
        return 130
    return 2


if __name__ == "__main__":
    with suppress(BrokenPipeError):
        sys.exit(main())
