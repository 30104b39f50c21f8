"""Reproduce chapter 4 of Tomić (2018): which criteria are behind people's motion, paper beside ours.

python scripts/reproduce/tomic2018/ch4.py [--model own|thesis|both] [--actors 1,2,...] [--tasks NAME,...]
    [--method NAME] [--skeleton person|romeo] [--no-general] [--out DIR] [--finished] [--results FILE.json]

Inverse optimal control over a virtual session of 15 actors and seven tasks: tables 4.1 and 4.2, figure 4.1,
and figures 4.4 to 4.10 as counts of dominant criteria, each with what is hidden in the virtual actors. What
dominates has the greatest share whatever the frame rate (`criterion_shares`); of k itself, as the thesis has
it, ergonomy is the greatest wherever fitness is flat along it, which the last column of the figures shows.
Laws start every repetition from the posture recorded there, or with --whole only the first. They move the
person's own joints, or with --skeleton romeo the thesis's model of a person. --model thesis is the thesis's
own analysis as printed: that skeleton, p = 10⁶, the genetic algorithm, one repetition; --model both puts it
beside ours (DIR/thesis keeps its results). DIR
keeps every result (`table.parquet`, whose columns `skill_study.study_mixture` explains,
and `timing.parquet`) and a picture of all weights, `weights.png`; the same command goes on after a kill.
--finished computes nothing: it reads from DIR the actors who are finished in all tasks. Exit status 1 if a
bar is missed.
"""

import argparse
import os
import sys
from collections import Counter
from collections.abc import Mapping, Sequence
from functools import partial
from pathlib import Path

import numpy as np
from matplotlib.figure import Figure
from rich.console import Console
from rich.table import Table

sys.path.insert(0, str(Path(__file__).parents[1]))
from results import JOBS, add_results_option, add_session_options, begin_results, write_results
from skill_study import (
    EVERYBODY,
    MODELS,
    OWN,
    THESIS,
    THESIS_ACTORS,
    THESIS_TASKS,
    MixtureSearch,
    skill_items,
    study_mixture,
)

from simbench.cli.console import progress_bars
from simbench.errors import SimbenchError, SkillError
from simbench.kinematics.redundancy_criteria import CRITERIA
from simbench.plotting import save_png
from simbench.runs.execution import run_isolated
from simbench.runs.provenance import fingerprint
from simbench.runs.study import Item, StudyRow, read_row, run_study
from simbench.skills.anatomical_motion import SKELETONS
from simbench.skills.weight_search import METHODS

TABLE_41 = {
    "valves": 0.0466,
    "canoe_paddles": 0.0413,
    "steering_wheel": 0.0127,
    "pump": 0.0096,
    "knife": 0.0043,
    "grater": 0.0029,
    "drawer": 0.0206,
}
"""Average fitness per sample, m."""
TABLE_42 = {
    "valves": (0.0, 0.3916, 0.0, 0.6084),
    "canoe_paddles": (0.2862, 0.2223, 0.2833, 0.2082),
    "steering_wheel": (0.4448, 0.0683, 0.4869, 0.0),
    "pump": (0.7987, 0.1942, 0.0, 0.0070),
    "knife": (0.0, 1.0, 0.0, 0.0),
    "grater": (0.4384, 0.0942, 0.4673, 0.0001),
    "drawer": (0.0, 0.9989, 0.0007, 0.0003),
}
FIGURES = {
    "drawer": {"velocity": 9, "manipulability": 6},
    "valves": {"manipulability": 9, "velocity": 4, "ergonomy": 2},
    "steering_wheel": {"energy": 8, "energy+ergonomy": 5, "velocity": 2},
    "pump": {"energy": 9, "velocity": 2, "ergonomy": 2, "manipulability": 2},
    "knife": {"velocity": 10, "manipulability": 2, "ergonomy": 2},
    "grater": {"energy": 10, "ergonomy": 4, "manipulability": 1},
    "canoe_paddles": {"velocity": 5, "manipulability": 3, "energy": 3, "ergonomy": 2, "mixed": 2},
}
"""Figures 4.4 to 4.10: how many of 15 actors were dominated by what."""
AGREE = 0.80
"""Share of recordings in which what is found to dominate has to be what is hidden in the actor."""
COLOURS = {"energy": "#3b6fb6", "velocity": "#c8453b", "ergonomy": "#b657a8", "manipulability": "#4c9a57"}
"""As the thesis has them."""

LOST = "inf: by this law the hands of at least one actor cannot be kept on their path"

Rows = Mapping[str, Sequence[StudyRow]]


def weights_of(row: StudyRow, name: str = "{}") -> list[float]:
    return [float(row.values[name.format(criterion)]) for criterion in CRITERIA]


def mean(rows: Sequence[StudyRow], column: str) -> float:
    """Mean over rows; infinite where a law could not keep the hands on their path."""
    return float(np.mean([np.inf if row.values[column] is None else row.values[column] for row in rows]))


def agreement(rows: Sequence[StudyRow], column: str = "dominant") -> float:
    """Share of rows in which the hidden dominant criterion is (among) those of a column."""
    return float(np.mean([row.values["hidden_dominant"] in row.values[column].split(", ") for row in rows]))


def agreement_by_weight(rows: Sequence[StudyRow]) -> float:
    """Share of rows in which the greatest weight k itself is of the same criterion, found and hidden."""
    pairs = [(np.argmax(weights_of(row)), np.argmax(weights_of(row, "hidden_{}"))) for row in rows]
    return float(np.mean([found == hidden for found, hidden in pairs]))


def fitness_table(own: Rows) -> Table:
    """Table 4.1 and figure 4.1."""
    table = _table(
        "Table 4.1 and fig. 4.1: mean error over time, mm",
        "task",
        "paper",
        "ours",
        *(f"{name}\nalone" for name in CRITERIA),
        "best single /\ncombination",
    )
    for task, rows in own.items():
        single = [mean(rows, f"single_{name}_m") for name in CRITERIA]
        ours = mean(rows, "fitness_m")
        cells = (f"{1e3 * value:.1f}" for value in (ours, *single))
        table.add_row(task, f"{1e3 * TABLE_41[task]:.1f}", *cells, f"{min(single) / ours:.2f}")
    return table


def dominance_table(own: Rows) -> Table:
    """Figures 4.4 to 4.10."""
    table = _table(
        "Figures 4.4-4.10: how many actors are dominated by what",
        "task",
        "paper, of 15",
        "hidden",
        "found",
        "found by\ngreatest k",
        "found = hidden",
        "hidden among\nthe rivals",
        "greatest k\nthe same",
    )
    for task, rows in own.items():
        table.add_row(
            task,
            _said(FIGURES[task]),
            _said(Counter(row.values["hidden_dominant"] for row in rows)),
            _said(Counter(row.values["dominant"] for row in rows)),
            _said(Counter(list(CRITERIA)[int(np.argmax(weights_of(row)))] for row in rows)),
            f"{100 * agreement(rows):.0f} %",
            f"{100 * agreement(rows, 'rivals'):.0f} %",
            f"{100 * agreement_by_weight(rows):.0f} %",
        )
    every = [row for rows in own.values() for row in rows]
    table.add_section()
    shares = (agreement(every), agreement(every, "rivals"), agreement_by_weight(every))
    table.add_row("all", "", "", "", "", *(f"{100 * share:.0f} %" for share in shares))
    return table


def general_table(general: Mapping[str, StudyRow]) -> Table:
    """Table 4.2."""
    table = _table(
        f"Table 4.2: one mixture for all actors ({', '.join(CRITERIA)})",
        "task",
        "paper",
        "hidden, mean",
        "found",
        "mm",
        "not told apart",
    )
    for task, row in general.items():
        table.add_row(
            task,
            _numbers(TABLE_42[task]),
            _numbers(weights_of(row, "hidden_{}")),
            _numbers(weights_of(row)),
            f"{1e3 * row.values['fitness_m']:.1f}",
            row.values["confused"],
        )
    return table


SETTINGS = (
    ("skeleton", "the person's own: spine, clavicles, r = 17", "ROMEO's at the person's size, r = 15"),
    ("habit, 1/s", "0.6 to the posture the task began in", "none"),
    ("near joint limits", "stiffer, slower, then stopped", "nothing: no limits"),
    ("where a law starts", "each of five repetitions from the recorded posture", "one repetition, the third"),
    ("p of manipulability", "400", "10⁶"),
    ("search", "lattice, then descents", "genetic algorithm, 40 individuals, 50 generations without 1e-6"),
)
"""What tells the two models apart: setting, ours, the thesis's."""


def settings_table() -> Table:
    table = _table("The two models of a person", "", "own", "thesis's")
    for row in SETTINGS:
        table.add_row(*row)
    return table


def models_table(people: Mapping[str, Rows], general: Mapping[str, Mapping[str, StudyRow]]) -> Table:
    """Tables 4.1 and 4.2, and what the dominant criterion is by both measures, of both models."""
    table = _table(
        "Tables 4.1 and 4.2 by both models",
        "task",
        "model",
        "mean error,\nmm",
        f"one mixture for all\n({', '.join(CRITERIA)})",
        "its error,\nmm",
        "found = hidden by\ncontribution",
        "by greatest k",
    )
    for task in next(iter(people.values())):
        table.add_row(task, "paper", f"{1e3 * TABLE_41[task]:.1f}", _numbers(TABLE_42[task]), "", "", "")
        for model, rows in people.items():
            everybody = general[model].get(task)
            table.add_row(
                "",
                model,
                f"{1e3 * mean(rows[task], 'fitness_m'):.1f}",
                _numbers(weights_of(everybody)) if everybody else "",
                f"{1e3 * everybody.values['fitness_m']:.1f}" if everybody else "",
                f"{100 * agreement(rows[task]):.0f} %",
                f"{100 * agreement_by_weight(rows[task]):.0f} %",
            )
    table.add_section()
    for model, rows in people.items():
        every = [row for each in rows.values() for row in each]
        shares = (agreement(every), agreement_by_weight(every))
        table.add_row("all", model, "", "", "", *(f"{100 * share:.0f} %" for share in shares))
    return table


def confusion_table(own: Rows) -> Table:
    """Count pairs of hidden and found dominant criteria, and what could not be told apart."""
    table = _table("Hidden (rows) and found (columns) dominant criteria", "", *CRITERIA)
    pairs = Counter(
        (row.values["hidden_dominant"], row.values["dominant"]) for rows in own.values() for row in rows
    )
    for hidden in CRITERIA:
        table.add_row(hidden, *(str(pairs[hidden, found]) for found in CRITERIA))
    confused = Counter(
        pair for rows in own.values() for row in rows for pair in row.values["confused"].split(", ") if pair
    )
    table.caption = f"not told apart: {_said(confused) or 'none'}"
    return table


def draw_weights(own: Rows, path: Path) -> None:
    """Draw the weights of every actor and task, found above hidden."""
    figure = Figure(figsize=(14.0, 1.9 * len(own) + 0.6), dpi=80, layout="constrained")
    axes = figure.subplots(len(own), 2, squeeze=False, sharey=True)
    for line, (task, rows) in zip(axes, own.items(), strict=True):
        actors = [str(row.varied["actor"]) for row in rows]
        for place, name, title in zip(line, ("{}", "hidden_{}"), ("found", "hidden"), strict=True):
            stacked = np.array([weights_of(row, name) for row in rows])
            bottom = np.zeros(len(rows))
            for criterion, part in zip(CRITERIA, stacked.T, strict=True):
                place.bar(actors, part, bottom=bottom, color=COLOURS[criterion], label=criterion)
                bottom += part
            place.set_title(f"{task.replace('_', ' ')}, {title}", fontsize=9, loc="left")
            place.tick_params(labelsize=7)
            place.set_ylim(0.0, 1.0)
    figure.legend(*axes[0, 0].get_legend_handles_labels(), loc="outside lower center", ncols=4, frameon=False)
    save_png(figure, path)


def bars(own: Rows) -> list[tuple[str, bool]]:
    """What has to hold."""
    share = agreement([row for rows in own.values() for row in rows])
    held = [(f"found = hidden in {100 * share:.0f} % of recordings, at least 80 %", share >= AGREE)]
    for task, rows in own.items():
        single = min(mean(rows, f"single_{name}_m") for name in CRITERIA)
        held.append(
            (f"{task}: combination better than the best single criterion", mean(rows, "fitness_m") < single)
        )
    return held


def finished_rows(items: Sequence[Item], folder: Path) -> list[StudyRow]:
    """Read the rows of a study that are finished, of the actors that are finished in all tasks."""
    keys = [fingerprint((study_mixture, item.arguments)) for item in items]
    rows = [read_row(folder, key, item.varied) for key, item in zip(keys, items, strict=True)]
    lacking = {item.varied["actor"] for item, row in zip(items, rows, strict=True) if row is None}
    found = [row for row in rows if row is not None and row.varied["actor"] not in lacking]
    if not any(row.varied["actor"] != EVERYBODY for row in found):
        raise SkillError(f"{folder}: no actor of this study is finished in all tasks")
    return found


def _is_whole(row: StudyRow) -> bool:
    return row.varied["actor"] == EVERYBODY


def _by_task(rows: Sequence[StudyRow], tasks: Sequence[str]) -> Rows:
    """The single actors' rows of the thesis's tasks."""
    done = [row for row in rows if not row.error and not _is_whole(row)]
    own = {task: [row for row in done if row.varied["task"] == task] for task in tasks}
    return {task: found for task, found in own.items() if found and task in TABLE_41}


def _said(counts: Mapping[str, int]) -> str:
    return ", ".join(f"{name} {count}" for name, count in sorted(counts.items(), key=lambda each: -each[1]))


def _numbers(weights: Sequence[float]) -> str:
    return " ".join(f"{weight:.3f}" for weight in weights)


def _table(title: str, *headings: str) -> Table:
    return Table(*headings, title=title, title_justify="left", box=None, pad_edge=False)


def main(arguments: Sequence[str] | None = None) -> int:
    """Print the tables."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    add_session_options(parser, THESIS_ACTORS, THESIS_TASKS)
    parser.add_argument("--model", default=OWN, choices=(*MODELS, "both"))
    parser.add_argument("--method", help=f"instead of the model's: {', '.join(METHODS)}")
    parser.add_argument("--seed", type=int, default=0, help="of the search")
    parser.add_argument("--span", type=float, nargs=2, metavar="S", help="instead of all periodic motion")
    parser.add_argument(
        "--whole", action="store_true", help="all repetitions in one go, in which a law drifts"
    )
    parser.add_argument("--skeleton", help=f"instead of the model's: {', '.join(SKELETONS)}")
    parser.add_argument("--no-general", action="store_true", help="only single actors, not table 4.2")
    parser.add_argument("--jobs", type=int, default=len(os.sched_getaffinity(0)))
    parser.add_argument("--out", type=Path, default=Path("runs/tomic2018-ch4"), metavar="DIR")
    parser.add_argument("--finished", action="store_true", help="compute nothing, take what --out has")
    add_results_option(parser)
    given = parser.parse_args(arguments)
    models = tuple(MODELS) if given.model == "both" else (given.model,)
    rows: dict[str, list[StudyRow]] = {}
    try:
        for model in models:
            search = MixtureSearch(
                session=given.session,
                seed=given.seed,
                span=tuple(given.span) if given.span else None,
                whole=given.whole,
                **MODELS[model] | {k: v for k in ("method", "skeleton") if (v := getattr(given, k))},
            )
            items = skill_items(given.tasks, given.actors, search, general=not given.no_general)
            folder = given.out if model == OWN else given.out / model
            with progress_bars(Console(stderr=True)) as on_progress:
                rows[model] = (
                    finished_rows(items, folder)
                    if given.finished
                    else run_study(
                        study_mixture,
                        items,
                        folder,
                        execute=partial(run_isolated, jobs=given.jobs),
                        on_progress=on_progress,
                    )
                )
    except SimbenchError as error:
        print(f"error: {error}", file=sys.stderr)
        return 2
    every = [row for found in rows.values() for row in found]
    for row in every:
        if row.error:
            print(f"{row.varied['task']} {row.varied['actor']}: {row.error}", file=sys.stderr)
    people = {model: _by_task(found, given.tasks) for model, found in rows.items()}
    general = {
        model: {row.varied["task"]: row for row in found if _is_whole(row) and not row.error}
        for model, found in rows.items()
    }
    own = people[models[0]]
    console = Console(width=170)
    actors = {row.varied["actor"] for found in own.values() for row in found}
    results = begin_results(
        __file__,
        # The same tables result if the study is finished first.
        [each for each in (sys.argv[1:] if arguments is None else arguments) if each != "--finished"],
        f"{len(actors)} of {len(given.actors)} virtual actors of session {given.session}, {len(own)} tasks"
        + (f"; table 4.2 of all {len(given.actors)}" if general[models[0]] else ""),
    )
    # This process may only have read what others computed.
    results.duration_s = sum(row.seconds or 0.0 for row in every)
    results.timed = JOBS
    tables = [
        (fitness_table(own), "table 4.1, figure 4.1"),
        (dominance_table(own), "figures 4.4 to 4.10"),
        (confusion_table(own), ""),
        (general_table(general[models[0]]), "table 4.2"),
    ]
    if given.model == "both":
        tables = [
            (settings_table(), ""),
            (models_table(people, general), "tables 4.1 and 4.2"),
            (fitness_table(people[THESIS]), "table 4.1, figure 4.1"),
            (dominance_table(people[THESIS]), "figures 4.4 to 4.10"),
        ]
        for table, _ in tables[2:]:
            table.title += ", by the thesis's model"
    for table, source in tables:
        if table.row_count:
            note = LOST if table.title.startswith("Table 4.1") else ""
            console.print(results.add(table, source, note=note), "")
    draw_weights(own, given.out / "weights.png")
    held = bars(own)
    for what, holds in held:
        console.print(f"{'✓' if holds else 'MISSED'}  {what}")
        results.check(what, holds)
    write_results(given.results, results)
    return 0 if all(holds for _, holds in held) and not any(row.error for row in every) else 1


if __name__ == "__main__":
    sys.exit(main())
