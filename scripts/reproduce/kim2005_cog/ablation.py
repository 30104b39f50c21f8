"""Kim, Choi, Oh & You (ICCAS 2005): what each part of embedding is worth.

python scripts/reproduce/kim2005_cog/ablation.py [--engines bullet,mujoco] [--motions NAME,...] [--own]
    [--jobs 2] [--results FILE.json]

Balance takes the arms' motion into account at four places, the keys of `balance.embedding`: as a term of
the COG Jacobian (what the paper embeds), in the COG (measured, and of the Jacobian), in the feed-forward
torques, and in the plan of COG and ZMP. Each is left out alone, the first together with the plan, and all of
them. Both motions of the paper are run at their own speed, faster until the robot falls or a joint's speed
limit slows the motion, and with pushes on the pelvis. Exit status 1 if a bound is not met.
"""

import argparse
import os
import sys
import tempfile
from collections.abc import Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from itertools import product
from multiprocessing import get_context
from pathlib import Path
from typing import NamedTuple

from rich.console import Console
from rich.progress import Progress
from rich.table import Table

sys.path.insert(0, str(Path(__file__).parents[1]))
from results import Results, add_results_option, begin_results, write_results

from simbench.errors import BalanceError, SimbenchError
from simbench.runs.log import open_run
from simbench.runs.metrics import run_metrics
from simbench.runs.pipeline import run_scenario
from simbench.runs.plots.balance_plot import until_fall
from simbench.runs.scenario.loading import load_scenario

MOTIONS = {"mahru_arms_forward": "arms forward", "mahru_wave": "wave"}
ALL = ("jacobian", "cog", "feedforward", "plan")
VARIANTS: dict[str, tuple[str, ...]] = {
    "all embedded": (),
    "not in the Jacobian": ("jacobian",),
    "not in the COG": ("cog",),
    "not in the feed-forward": ("feedforward",),
    "not in the plan": ("plan",),
    "neither in Jacobian nor plan": ("jacobian", "plan"),
    "nowhere": ALL,
}
SPEEDS = (1.0, 1.25, 1.5, 2.0, 4.0)
SLOWER = (0.75, 0.5, 0.25)
"""Tried where the robot falls at the motion's own speed."""
SHOWN_SPEEDS = 4
"""Speeds that have columns of their own; the others are tried to find the fall."""
PUSHES = (8.0, 16.0, 24.0, 32.0, 40.0, 48.0, 56.0)
"""Impulses, N·s. Each is given four times, 1.9 s apart: at four phases of the steps, which take 0.7 s."""
PUSH = "push={{first_ns: {impulse:g}, count: 4, start_s: 3.0, interval_s: 1.9, direction_rad: {direction:g}}}"
STEPS = 16
"""Steps on the spot: the last one comes after the arms have come to rest."""
PUSH_DIRECTION = {"mahru_arms_forward": 0.0, "mahru_wave": -1.5707963}
"""The direction in which the arms already carry the COG: forward; to the right, where the arm waves."""
MOST_RMS = 0.015
"""Largest COG error of the embedded runs at the motions' own speed, m: the bound of the shipped scenarios."""


class Outcome(NamedTuple):
    """A run until its fall: motion's speed, COG error (m), least ZMP margin (m), time of the fall (s)."""

    speed: float
    cog_rms: float
    margin: float
    fell_s: float | None


class Case(NamedTuple):
    """One cell of the study: motion, engine, and the variant's name."""

    motion: str
    engine: str
    variant: str


def run_case(case: Case, speed: float = 1.0, impulse: float = 0.0) -> Outcome:
    """Run a motion `speed` times as fast as in its scenario, with pushes of an impulse (N·s)."""
    own = load_scenario(case.motion)
    changes = [f"simulation.engine={case.engine}", f"motion.speed={speed * own.motion.speed:g}"]
    changes.append("simulation.energy=false")
    changes += [f"stepping.commands.0.march={STEPS}"]
    changes += [f"balance.embedding.{part}=false" for part in VARIANTS[case.variant]]
    if impulse:
        changes.append(PUSH.format(impulse=impulse, direction=PUSH_DIRECTION[case.motion]))
    with tempfile.TemporaryDirectory() as folder:
        result = run_scenario(load_scenario(case.motion, changes), Path(folder) / "run", on_progress=False)
        log = open_run(result.directory).load()
    standing = until_fall(log)
    metrics = run_metrics(standing)
    fell = float(standing.time[-1]) if standing.sizes["time"] < log.sizes["time"] else None
    faster = speed / float(result.metrics["retarget.slow_down"] or 1.0)
    return Outcome(faster, float(metrics["cog.rms_m"]), float(metrics["zmp.min_margin_m"]), fell)


def run_speeds(case: Case) -> list[Outcome]:
    """Run a motion faster and faster, until the robot falls or the motion does not become faster.

    If it falls at the first, slower and slower, as long as it falls.
    """
    outcomes: list[Outcome] = []
    for speed in SPEEDS:
        try:
            outcome = run_case(case, speed)
        except BalanceError:
            # The legs cannot make what the plan asks of them: no faster.
            break
        if outcomes and outcome.speed < 1.01 * outcomes[-1].speed:
            break
        outcomes.append(outcome)
        if outcome.fell_s is not None:
            break
    if len(outcomes) == 1 and outcomes[0].fell_s is not None:
        for speed in SLOWER:
            slower = run_case(case, speed)
            if slower.fell_s is None:
                break
            outcomes.append(slower)
    return outcomes


def largest_push(case: Case) -> float:
    """Find the largest of the impulses that the robot withstands, by bisection, N·s; 0 if none."""
    low, high = -1, len(PUSHES)
    while high - low > 1:
        middle = (low + high) // 2
        if run_case(case, impulse=PUSHES[middle]).fell_s is None:
            low = middle
        else:
            high = middle
    return PUSHES[low] if low >= 0 else 0.0


def measure(case: Case, own: bool) -> tuple[Case, list[Outcome], float | None]:
    """Run a case; a function of this module, so that another process can call it."""
    if own:
        return case, [run_case(case)], None
    return case, run_speeds(case), largest_push(case)


def said(outcome: Outcome) -> str:
    """Say how large the COG error was, mm, or when the robot fell."""
    return f"{1e3 * outcome.cog_rms:.1f}" if outcome.fell_s is None else f"fell, {outcome.fell_s:.1f} s"


def limit_said(outcomes: Sequence[Outcome]) -> str:
    """Say from which speed on the robot falls."""
    last = outcomes[-1]
    if last.fell_s is None:
        return f"not up to {last.speed:.2f}"
    return f"at {last.speed:.2f} already" if last.speed < 1.0 else f"{last.speed:.2f}"


def tables(
    found: Mapping[Case, tuple[list[Outcome], float | None]], engine: str, results: Results
) -> list[Table]:
    """Lay out what an engine gave: one table of errors and margins, one of speeds, one of pushes."""
    cases = {(case.motion, case.variant): value for case, value in found.items() if case.engine == engine}
    motions = {name: shown for name, shown in MOTIONS.items() if any(name == motion for motion, _ in cases)}
    made = []
    table = Table(title=f"Own speed, {engine}: COG error (rms) and least distance of the ZMP from the edge")
    for heading in (
        "arms' motion",
        *(f"{name}: {what}" for name in motions.values() for what in ("COG", "ZMP")),
    ):
        table.add_column(heading)
    for variant in VARIANTS:
        cells = []
        for motion in motions:
            own = cases[motion, variant][0][0]
            cells += [said(own), f"{1e3 * own.margin:.1f}"]
        table.add_row(variant, *cells)
    made.append(results.add(table, unit="mm", note="A robot that falls is measured until it does."))
    if any(push is None for _, push in cases.values()):
        return made
    for motion, name in motions.items():
        table = Table(title=f"Faster, {engine}, {name}: COG error (rms) at times the motion's own speed")
        for heading in ("arms' motion", *(f"{speed:g}" for speed in SPEEDS[:SHOWN_SPEEDS]), "falls from"):
            table.add_column(heading)
        for variant in VARIANTS:
            outcomes = cases[motion, variant][0]
            row = [said(each) for each in outcomes[:SHOWN_SPEEDS] if each.speed > 0.99]
            row += ["-"] * (SHOWN_SPEEDS - len(row))
            table.add_row(variant, *row, limit_said(outcomes))
        note = "A dash: the robot falls at a lower speed, or joints' speed limits slow the motion."
        made.append(results.add(table, unit="mm", note=note))
    table = Table(title=f"Pushes, {engine}: largest impulse that the robot withstands four times")
    for heading in ("arms' motion", *motions.values()):
        table.add_column(heading)
    for variant in VARIANTS:
        pushes = [cases[motion, variant][1] for motion in motions]
        table.add_row(variant, *(f"{push:g}" if push else f"less than {PUSHES[0]:g}" for push in pushes))
    note = (
        f"Tried: {', '.join(f'{each:g}' for each in PUSHES)}; forward, and to the right while the arm waves."
    )
    made.append(results.add(table, unit="N·s", note=note))
    return made


def main(arguments: Sequence[str] | None = None) -> int:
    """Print the tables; return the exit status."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--engines", default="bullet,mujoco", metavar="NAMES")
    parser.add_argument("--motions", default=",".join(MOTIONS), metavar="NAMES")
    parser.add_argument("--jobs", type=int, default=2, help="processes at the same time")
    parser.add_argument("--own", action="store_true", help="only the motions' own speed, without pushes")
    add_results_option(parser)
    given = parser.parse_args(arguments)
    engines, motions = given.engines.split(","), given.motions.split(",")
    scope = "own speed only" if given.own else "speeds and pushes"
    moving = " and ".join(MOTIONS[each] for each in motions)
    results = begin_results(__file__, arguments, scope=f"{moving}, {' and '.join(engines)}, {scope}")
    cases = [Case(*each) for each in product(motions, engines, VARIANTS)]
    # OpenBLAS reads this when numpy is loaded: in a new process before any line of this script runs.
    os.environ["OPENBLAS_NUM_THREADS"] = "1"
    found: dict[Case, tuple[list[Outcome], float | None]] = {}
    try:
        bar = Progress(console=Console(stderr=True))
        with ProcessPoolExecutor(given.jobs, get_context("spawn")) as pool, bar as progress:
            task = progress.add_task("ablation", total=len(cases))
            for done in as_completed([pool.submit(measure, case, given.own) for case in cases]):
                case, outcomes, push = done.result()
                found[case] = outcomes, push
                progress.advance(task)
                progress.console.print(
                    f"{' '.join(case)}: {', '.join(said(each) for each in outcomes)}; push {push}"
                )
    except SimbenchError as error:
        print(f"error: {error}", file=sys.stderr)
        return 2
    console = Console(width=130)
    for engine in engines:
        for table in tables(found, engine, results):
            console.print(table)
    for motion, engine in product(motions, engines):
        own = {variant: found[Case(motion, engine, variant)][0][0] for variant in VARIANTS}
        falls = ", ".join(variant for variant, each in own.items() if each.fell_s is not None)
        remark = (
            f"{MOTIONS[motion]}, {engine}: without the arms' term in the Jacobian alone the COG error is "
        )
        remark += f"{said(own['not in the Jacobian'])} mm instead of {said(own['all embedded'])} mm. "
        console.print(
            results.remark(f"{remark}At the motion's own speed the robot falls: {falls or 'never'}.")
        )
        embedded = own["all embedded"]
        held = embedded.fell_s is None and embedded.cog_rms <= MOST_RMS
        results.check(f"{motion}, {engine}: all embedded, COG error {said(embedded)} mm, at most 15", held)
    write_results(given.results, results)
    return 0 if all(each.holds for each in results.checks) else 1


if __name__ == "__main__":
    sys.exit(main())
