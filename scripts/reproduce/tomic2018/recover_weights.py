"""Find known weights again: motions that the weighted law made, searched by several methods.

python scripts/reproduce/tomic2018/recover_weights.py [--count 50] [--methods lattice,genetic]
    [--span FIRST LAST] [--seed N] [--results FILE.json]

Random mixtures, uniform on the simplex, move a recorded person along the recorded path of the hands; each
method then has to find the mixture from shoulders and elbows alone. A weight counts as identifiable by a
method where mixtures that miss the motion by no more than that method's rule to stop leaves (RESOLUTION)
differ from it by less than 0.02. Exit status 1 if an identifiable weight is missed by more than that, or an
error is above 0.1 mm per sample.
"""

import argparse
import sys
import time
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
from numpy.typing import ArrayLike
from rich.console import Console
from rich.table import Table

sys.path.insert(0, str(Path(__file__).parents[1]))
from results import add_results_option, begin_results, write_results

from simbench.errors import SimbenchError
from simbench.kinematics.redundancy_criteria import CRITERIA
from simbench.motion.actors.session import perform_in_session
from simbench.skills.inverse_optimal_control import Flatness, Mixture, make_fitness
from simbench.skills.law_motion import follow_path, place_points
from simbench.skills.task_motion import GAIN, TaskMotion, prepare_romeo_motion
from simbench.skills.weight_search import GENETIC, LATTICE

NEAR = 0.02
"""How well identifiable weights have to be recovered."""
CLOSE = 1e-4
"""Mean error, m, that the recovered mixture may have."""
RESOLUTION = {LATTICE: 3e-6, GENETIC: 2e-5}
"""Mean error, m, below which a method does not tell mixtures apart: the genetic algorithm stops when 50
generations have not bettered fitness by 1e-6 m·s, which mostly leaves some µm, once in 50 runs 21. A motion
that is made has no noise."""


def generate_motion(task: TaskMotion, weights: ArrayLike) -> TaskMotion:
    """Let the weighted law perform a recorded task, and take that for the recording.

    Inverse optimal control of such a motion has to find its weights again: its shoulders and elbows are where
    the law has them, so that these weights have fitness 0.
    """
    motion = follow_path(task, weights)
    points = place_points(task, motion)
    return replace(task, path=task.path._replace(points=points), imitated=motion, source="law")


def identifiable(made: TaskMotion, weights: np.ndarray, resolution: float) -> np.ndarray:
    """Tell which of the weights behind a motion it shows."""
    fitness = make_fitness(made)
    flat = Flatness(
        lambda k: fitness(k) / made.duration,
        weights,
        0.0,
        resolution,
        np.empty((0, len(weights))),
        made.constants.period,
    )
    return np.maximum(flat.highest - weights, weights - flat.lowest) < NEAR


def recover(
    made: TaskMotion, weights: np.ndarray, known: np.ndarray, method: str, seed: int
) -> dict[str, float]:
    """Find the weights of a motion that was made with them: how far off, and at what cost."""
    started = time.process_time()
    mixture = Mixture([made], method, seed)
    seconds = time.process_time() - started
    missed = np.abs(mixture.weights - weights)
    return {
        "fitness": mixture.fitness,
        "known": float(known.sum()),
        "missed": float(missed[known].max(initial=0.0)),
        "missed anyhow": float(missed.max()),
        "evaluations": float(len(mixture.values)),
        "seconds": seconds,
    }


def summary(found: dict[str, list[dict[str, float]]]) -> Table:
    columns = (
        "method",
        "mixtures",
        "identifiable\nweights of 4",
        "of these\nwithin 0.02",
        "worst of these",
        "any weight:\nmedian, worst",
        "mm per sample:\nmedian, worst",
        "evaluations",
        "s",
    )
    title = "Weights of motions that the weighted law generated, found again"
    table = Table(*columns, box=None, pad_edge=False, title=title, title_justify="left")
    for method, rows in found.items():

        def each(name: str, rows: list[dict[str, float]] = rows) -> np.ndarray:
            return np.array([row[name] for row in rows])

        table.add_row(
            method,
            str(len(rows)),
            f"{each('known').mean():.2f}",
            f"{np.mean(each('missed') <= NEAR):.0%}",
            f"{each('missed').max():.4f}",
            f"{np.median(each('missed anyhow')):.4f}, {each('missed anyhow').max():.4f}",
            f"{1e3 * np.median(each('fitness')):.2g}, {1e3 * each('fitness').max():.2g}",
            f"{each('evaluations').mean():.0f}",
            f"{each('seconds').mean():.1f}",
        )
    return table


def main(arguments: Sequence[str] | None = None) -> int:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--count", type=int, default=50, help="random mixtures")
    parser.add_argument("--methods", type=lambda text: text.split(","), default=[LATTICE, GENETIC])
    parser.add_argument("--seed", type=int, default=8)
    parser.add_argument("--actor", type=int, default=2)
    parser.add_argument("--task", default="pump")
    parser.add_argument("--span", type=float, nargs=2, default=(3.4, 5.7), metavar="S")
    parser.add_argument("--gain", type=float, default=GAIN, help="p of the manipulability criterion")
    add_results_option(parser)
    given = parser.parse_args(arguments)
    results = begin_results(__file__, arguments, f"{given.count} random mixtures, {', '.join(given.methods)}")
    found: dict[str, list[dict[str, float]]] = {method: [] for method in given.methods}
    try:
        motion = perform_in_session(2018, given.actor, given.task).motion
        task = prepare_romeo_motion(motion, span=tuple(given.span), gain=given.gain)
        mixtures = np.random.default_rng(given.seed).dirichlet(np.ones(len(CRITERIA)), given.count)
        for number, weights in enumerate(mixtures):
            made = generate_motion(task, weights)
            for method in given.methods:
                known = identifiable(made, weights, RESOLUTION.get(method, RESOLUTION[LATTICE]))
                found[method].append(recover(made, weights, known, method, number))
                row = ", ".join(f"{name} {value:.3g}" for name, value in found[method][-1].items())
                said = f"{number + 1} {method} {weights.round(4).tolist()}: {row}"
                print(said, file=sys.stderr, flush=True)
    except SimbenchError as error:
        print(f"error: {error}", file=sys.stderr)
        return 2
    Console(width=150).print(results.add(summary(found)))
    every = [row for rows in found.values() for row in rows]
    results.check(
        f"every identifiable weight found to within {NEAR:g}", all(row["missed"] <= NEAR for row in every)
    )
    results.check(
        f"mean error at most {1e3 * CLOSE:g} mm per sample", all(row["fitness"] <= CLOSE for row in every)
    )
    write_results(given.results, results)
    return 0 if all(check.holds for check in results.checks) else 1


if __name__ == "__main__":
    sys.exit(main())
