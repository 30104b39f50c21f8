"""Reproduce chapter 5 of Tomić (2018): do fuzzy rules find the criterion that optimisation finds?

python scripts/reproduce/tomic2018/ch5.py [--sessions SEED ...] [--table FILE ...] [--out DIR] [--ship]
    [--results FILE.json]

Optimisation is the study of inverse optimal control over virtual sessions, seven tasks and the hand drill.
Recordings that no FILE has (a table of ch4.py) are studied in DIR, which goes on after a
kill. The terms of the rules are tuned, and examples taken, on part of the actors of all sessions, and judged
on the others, until every actor was one of the others; then with other parts. The hand drill is never tuned
on. As in the thesis, recordings that manipulability dominates are left out, for no rule speaks of it: its
numbers of cases are 15 less those of chapter 4 (but for valves, 7). What they would make of our numbers
stands beside.

DIR receives the terms tuned on all actors, `memberships.yaml`, the examples, `examples.csv`, pictures of the
terms, of one inference and of the agreement; --ship also puts terms and examples into simbench.
Exit status 1 if optimisation and simbench's rules agree less often than in the paper.
"""

import argparse
import os
import sys
from collections.abc import Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from functools import partial
from multiprocessing import get_context
from pathlib import Path
from typing import Any

import numpy as np
from matplotlib.figure import Figure
from numpy.typing import NDArray
from rich.console import Console
from rich.table import Table

sys.path.insert(0, str(Path(__file__).parents[1]))
from fuzzy_plot import draw_inference, draw_memberships
from fuzzy_tuning import (
    NOT_CONCLUDED,
    LabelledRecordings,
    Validation,
    compute_agreement,
    cross_validate,
    fit_rules,
    write_examples,
    write_memberships,
)
from results import add_results_option, begin_results, write_results
from skill_study import THESIS_ACTORS, THESIS_TASKS, MixtureSearch, skill_items, study_mixture

from simbench import skills
from simbench.cli.console import progress_bars
from simbench.errors import SimbenchError, SkillError
from simbench.kinematics.redundancy_criteria import CRITERIA
from simbench.motion.actors.session import perform_in_session
from simbench.plotting import save_png
from simbench.runs.execution import run_isolated
from simbench.runs.study import TABLE, run_study
from simbench.skills.anatomical_motion import prepare_motion
from simbench.skills.fuzzy_rules import OUTPUTS, THESIS_RULES
from simbench.skills.fuzzy_strategy import compute_fuzzy_inputs, detect_strategy

SHIPPED = Path(skills.__file__).parent
UNSEEN = "hand_drill"
PAPER = {
    "valves": 0.85,
    "grater": 0.85,
    "drawer": 0.88,
    "pump": 0.85,
    "canoe_paddles": 0.75,
    "knife": 0.61,
    "steering_wheel": 0.60,
    UNSEEN: 0.50,
}
"""Fraction of the actors in whom rules and optimisation have the same dominant criterion."""
SPLITS = (1, 2, 3)
NAMES = tuple(CRITERIA)
VELOCITY = OUTPUTS.index("velocity")
EXAMPLE = ("grater", 10)
"""The thesis shows this task's actor, too (fig. 5.4, 5.6)."""

Array = NDArray[np.float64]
Row = Mapping[str, Any]
"""Of the table that `study_mixture` explains."""


def agreement_table(
    recordings: LabelledRecordings, validations: Sequence[Validation], whose: str = "simbench's rules"
) -> tuple[Table, bool]:
    """Rules tuned on other actors, and whether they agree as often as in the paper."""
    table = Table(
        "task",
        "paper",
        *(f"split {split}" for split in SPLITS),
        "mean",
        "",
        "of",
        "most frequent\nof the task",
        "among\nrivals",
        "manipulability\nas velocity",
        "as a miss",
        title=f"Same dominant criterion, actors not used for tuning: {whose}",
    )
    held, dominant = True, recordings.dominant
    for task in PAPER:
        if task == UNSEEN:
            table.add_section()
        chosen = recordings.task == task
        counted = chosen & recordings.decidable
        shares = [compute_agreement(each.predicted, recordings, task) for each in validations]
        good = np.mean(shares) >= PAPER[task]
        held &= bool(good)
        among = [
            np.mean([OUTPUTS[each.predicted[k]] in recordings.rivals[k] for k in np.flatnonzero(counted)])
            for each in validations
        ]
        velocity = np.where(dominant == NOT_CONCLUDED, VELOCITY, dominant)
        table.add_row(
            task,
            f"{PAPER[task]:.0%}",
            *(f"{value:.0%}" for value in shares),
            f"{np.mean(shares):.0%}",
            "ok" if good else "MISSED",
            f"{np.count_nonzero(counted)}",
            f"{np.bincount(dominant[counted], minlength=1).max() / max(np.count_nonzero(counted), 1):.0%}",
            f"{np.mean(among):.0%}",
            *(
                f"{np.mean([(each.predicted == wanted)[chosen].mean() for each in validations]):.0%}"
                for wanted in (velocity, dominant)
            ),
        )
    table.add_row("tuned on", "", *(f"{each.training_agreement:.0%}" for each in validations))
    return table, held


def session_table(recordings: LabelledRecordings, validations: Sequence[Validation]) -> Table:
    """The same agreement session by session, mean of the splits, and of how many recordings."""
    sessions = np.unique(recordings.session).tolist()
    table = Table("task", *map(str, sessions), title="The people of single sessions")
    for task in PAPER:
        cells = []
        for session in sessions:
            chosen = (recordings.task == task) & (recordings.session == session) & recordings.decidable
            right = np.mean([(each.predicted == recordings.dominant)[chosen].mean() for each in validations])
            cells.append(f"{right:.0%} of {np.count_nonzero(chosen)}")
        table.add_row(task, *cells)
    return table


def confusion_table(recordings: LabelledRecordings, validations: Sequence[Validation]) -> Table:
    """What the rules say where optimisation says something, mean number of recordings over the splits."""
    table = Table("task", "optimisation", *OUTPUTS, title="What the rules say (actors not used for tuning)")
    for task in (*THESIS_TASKS, UNSEEN):
        for place, name in enumerate(NAMES):
            chosen = (recordings.task == task) & (recordings.dominant == place)
            if chosen.any():
                counts = np.mean(
                    [np.bincount(each.predicted[chosen], minlength=len(OUTPUTS)) for each in validations],
                    axis=0,
                )
                table.add_row(task, name, *(f"{count:.1f}" for count in counts))
    return table


def draw_agreement(recordings: LabelledRecordings, validations: Sequence[Validation], path: Path) -> None:
    """Draw the paper's agreement beside ours, a point for each split."""
    figure = Figure(figsize=(9.0, 4.0), dpi=100, layout="constrained")
    axes = figure.add_subplot()
    places = np.arange(len(PAPER))
    ours = np.array(
        [[compute_agreement(each.predicted, recordings, task) for each in validations] for task in PAPER]
    )
    axes.bar(places - 0.2, list(PAPER.values()), 0.4, color="#b0b0b0", label="paper")
    axes.bar(places + 0.2, ours.mean(axis=1), 0.4, color="#0072b2", label="ours, actors not used for tuning")
    for split in range(ours.shape[1]):
        axes.plot(places + 0.2, ours[:, split], "k.", label="one split" if split == 0 else None)
    axes.set_xticks(places, list(PAPER), rotation=20, ha="right")
    axes.set_ylim(0.0, 1.18)
    axes.set_ylabel("same dominant criterion")
    axes.legend(loc="upper right", ncols=3, frameon=False)
    axes.spines[["top", "right"]].set_visible(False)
    save_png(figure, path)


def read_rows(path: Path, console: Console) -> list[Row]:
    """Read what optimisation found of single recordings, and say which it could not be asked about."""
    from pyarrow import ArrowException, parquet

    try:
        rows = [row for row in parquet.read_table(path).to_pylist() if row["actor"] > 0]
        named = [(row, f"{row['task']}, actor {row['actor']} of session {row['session']}") for row in rows]
    except (OSError, ArrowException, KeyError) as error:
        raise SkillError(f"{path}: no table of the study: {str(error).splitlines()[0]}") from None
    for row, name in named:
        if row["error"]:
            console.print(f"left out: {name}: {row['error']}", markup=False)
    return [row for row in rows if not row["error"]]


def optimised(
    sessions: Sequence[int], tables: Sequence[Path], folder: Path, jobs: int, console: Console
) -> list[Row]:
    """Read tables of the study, and make what they lack of the sessions, or go on with it."""
    rows = [row for path in tables for row in read_rows(path, console)]
    foreign = sorted({row["session"] for row in rows} - set(sessions))
    if foreign:
        raise SkillError(
            f"--table: of session {', '.join(map(str, foreign))}, which --sessions does not name"
        )
    for session in sessions:
        known = {row["task"] for row in rows if row["session"] == session}
        lacking = [task for task in (*THESIS_TASKS, UNSEEN) if task not in known]
        if lacking:
            items = skill_items(lacking, THESIS_ACTORS, MixtureSearch(session=session), general=False)
            own = folder / f"optimised_{session}"
            with progress_bars(console) as on_progress:
                execute = partial(run_isolated, jobs=jobs)
                run_study(study_mixture, items, own, execute=execute, on_progress=on_progress)
            rows += read_rows(own / TABLE, console)
    return rows


def recorded(rows: Sequence[Row], jobs: int, console: Console) -> LabelledRecordings:
    """Compute the rules' inputs of the recordings that were optimised."""
    with (
        progress_bars(console) as on_progress,
        ProcessPoolExecutor(jobs, get_context("spawn")) as pool,
    ):
        inputs = []
        arguments = [(row["session"], row["actor"], row["task"]) for row in rows]
        for found in pool.map(recorded_inputs, *zip(*arguments, strict=True)):
            inputs.append(found)
            on_progress("inputs", len(inputs), len(rows))
    return LabelledRecordings(
        np.array([row["session"] for row in rows]),
        np.array([row["task"] for row in rows]),
        np.array([row["actor"] for row in rows]),
        np.array(inputs),
        np.array([[row[f"share_{name}"] for name in NAMES] for row in rows]),
        tuple(frozenset(str(row["rivals"]).split(", ")) for row in rows),
    )


def recorded_inputs(session: int, actor: int, task: str) -> Array:
    return compute_fuzzy_inputs(prepare_motion(perform_in_session(session, actor, task).motion))


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--sessions", type=int, nargs="+", default=[2018], metavar="SEED")
    parser.add_argument("--table", type=Path, nargs="+", default=[], help="of the study over these sessions")
    parser.add_argument("--out", type=Path, default=Path("tomic2018_ch5"))
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    parser.add_argument("--ship", action="store_true", help="make the tuned terms simbench's own")
    add_results_option(parser)
    given = parser.parse_args(arguments)
    results = begin_results(
        __file__, arguments, f"sessions {', '.join(map(str, given.sessions))}, {len(SPLITS)} partitions"
    )
    console = Console()
    try:
        given.out.mkdir(parents=True, exist_ok=True)
        rows = optimised(given.sessions, given.table, given.out, given.jobs, console)
        recordings = recorded(rows, given.jobs, console)
        theirs = [cross_validate(recordings, split, UNSEEN, THESIS_RULES, examples=False) for split in SPLITS]
        thesis = agreement_table(recordings, theirs, "the thesis's 17 rules alone")[0]
        console.print(results.add(thesis, "§5.3, §5.4"))
        validations = [cross_validate(recordings, split, UNSEEN) for split in SPLITS]
        table, held = agreement_table(recordings, validations)
        console.print(results.add(table, "§5.3, §5.4"))
        console.print(results.add(session_table(recordings, validations)))
        console.print(results.add(confusion_table(recordings, validations)))
        results.check("optimisation and simbench's rules agree at least as often as in the paper", held)
        rules = fit_rules(recordings, recordings.decidable & (recordings.task != UNSEEN))
        note = (
            "Made by scripts/reproduce/tomic2018/ch5.py from the actors of session "
            f"{', '.join(map(str, given.sessions))}."
        )
        write_memberships(rules.memberships, given.out / "memberships.yaml", note)
        write_examples(rules.examples, given.out / "examples.csv", note)
        if given.ship:
            write_memberships(rules.memberships, SHIPPED / "memberships.yaml", note)
            write_examples(rules.examples, SHIPPED / "examples.csv", note)
        draw_memberships(rules.memberships, "Terms of the fuzzy rules, tuned", given.out / "memberships.png")
        task, actor = EXAMPLE
        motion = perform_in_session(given.sessions[0], actor, task).motion
        strategy = detect_strategy(prepare_motion(motion), rules.memberships, rules.examples)
        title = f"{task}, actor {actor}"
        draw_inference(strategy, rules.memberships, title, given.out / "inference.png")
        draw_agreement(recordings, validations, given.out / "agreement.png")
    except (SimbenchError, OSError) as error:
        print(error, file=sys.stderr)
        return 2
    write_results(given.results, results)
    return 0 if held else 1


if __name__ == "__main__":
    sys.exit(main())
