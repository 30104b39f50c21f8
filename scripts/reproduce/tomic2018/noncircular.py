"""Chapter 4 of Tomić (2018) where what makes a motion is not what reads it: is the hidden criterion found?

python scripts/reproduce/tomic2018/noncircular.py [--actors 1,2,...] [--tasks NAME,...] [--results FILE.json]

One repetition of each recording of a virtual session is moved again, hands on their path, by the actor's own
weights: by the law that reads it; by the same law with another metric (bodies half to twice as heavy; the
unit matrix instead of the inertia matrix), on another skeleton (limbs up to 5 % longer or shorter, axes
turned by up to 5°), seen with noise and delay (markers that drift by some mm, shoulders and elbows 50 ms
late); and by no criterion at all: joints interpolated with minimum jerk between the postures recorded at the
stops, hands corrected. Inverse optimal control, which knows none of that, then names criterion and weights.

Real recordings, the clips that come with simbench, have no hidden weights; the sample recordings, which are
simulated, stand beside them. Weights found on every second piece of a recording have to predict shoulders and
elbows in the others better than equal weights, each criterion alone, and the single criterion that is best on
the same pieces.
"""

import argparse
import sys
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from rich.console import Console
from rich.table import Table
from scipy.ndimage import gaussian_filter1d
from scipy.optimize import least_squares
from scipy.spatial.transform import Rotation

sys.path.insert(0, str(Path(__file__).parents[1]))
from recover_weights import generate_motion
from results import add_results_option, add_session_options, begin_results, write_results
from skill_study import THESIS_TASKS, MixtureSearch, analysed_parts

from simbench.errors import SimbenchError, SkillError
from simbench.kinematics.redundancy_body import (
    SkillBody,
    compute_hand_errors,
    update_body_poses,
    update_clavicles,
)
from simbench.kinematics.redundancy_criteria import CRITERIA
from simbench.kinematics.redundancy_law import (
    Scratch,
    apply_prescribed,
    make_scratch,
    set_step_problem,
    take_step,
)
from simbench.motion.actors.session import perform_in_session
from simbench.motion.human_motion import Actor, HumanMotion
from simbench.motion.readers import read_motion
from simbench.motion.shipped import clip_names
from simbench.skills.analysis import compute_point_spread
from simbench.skills.anatomical_motion import prepare_motion
from simbench.skills.inverse_optimal_control import (
    Mixture,
    compute_criterion_shares,
    make_mean_fitness,
    mean_duration,
)
from simbench.skills.law_motion import place_points
from simbench.skills.task_motion import TaskMotion, cut_repetitions

Array = NDArray[np.float64]
Generator = Callable[[TaskMotion, Array, np.random.Generator], TaskMotion]

NAMES = tuple(CRITERIA)
PIECES = 4
"""Pieces of equal duration into which a recording without repetitions is cut."""
SAMPLES = ("wave.bvh", "walk.c3d")
"""Of virtual actors."""
STATURE = 1.7
"""m, of a person whose file does not say it."""


def with_body(task: TaskMotion, weights: Array, body: SkillBody) -> TaskMotion:
    """Let the law move another body along the same path of the hands; the reader keeps the person's own."""
    made = generate_motion(replace(task, body=body), weights)
    return refit(replace(made, body=task.body), task)


def refit(made: TaskMotion, task: TaskMotion) -> TaskMotion:
    """Start from the posture that the reader sees: hands on their path, shoulders and elbows nearest."""
    body, path = task.body, made.path
    one = replace(task, path=path._replace(points=path.points[:1]))
    scratch, error = make_scratch(body), np.empty(6 * len(body.hand_body))

    def miss(free: Array) -> Array:
        q = path.start.copy()
        q[body.resolved] = free
        update_clavicles(body.anatomy, q)
        points = place_points(one, q[None])[0] - path.points[0]
        update_body_poses(body, q, scratch.work)
        compute_hand_errors(body, scratch.work, path.hand_rotation[0], path.hand_position[0], error)
        return np.concatenate([points.ravel(), 1e3 * error])

    start = task.imitated[0].copy()
    start[body.resolved] = least_squares(miss, start[body.resolved]).x
    update_clavicles(body.anatomy, start)
    return replace(made, path=path._replace(start=start))


def by_the_law(task: TaskMotion, weights: Array, rng: np.random.Generator) -> TaskMotion:
    return generate_motion(task, weights)


def other_masses(task: TaskMotion, weights: Array, rng: np.random.Generator) -> TaskMotion:
    masses = task.body.masses
    factor = 2.0 ** rng.uniform(-1.0, 1.0, len(masses.mass))
    heavier = masses._replace(mass=factor * masses.mass, inertia=factor[:, None, None] * masses.inertia)
    return with_body(task, weights, task.body._replace(masses=heavier))


def unit_metric(task: TaskMotion, weights: Array, rng: np.random.Generator) -> TaskMotion:
    """No masses, and rotors of 1 kg·m²: A is the unit matrix."""
    body = task.body
    masses = body.masses._replace(mass=0.0 * body.masses.mass, inertia=0.0 * body.masses.inertia)
    return with_body(
        task, weights, body._replace(masses=masses, rotor_inertia=np.ones_like(body.rotor_inertia))
    )


def other_skeleton(task: TaskMotion, weights: Array, rng: np.random.Generator) -> TaskMotion:
    body, tree = task.body, task.body.tree
    turned = tree.axis.copy()
    for k in body.resolved:
        about = np.radians(5.0) * rng.uniform(-1.0, 1.0, 3) / np.sqrt(3.0)
        turned[k] = Rotation.from_rotvec(about).apply(tree.axis[k])
    longer = 1.0 + 0.05 * rng.uniform(-1.0, 1.0, (len(turned), 1))
    longer[: body.resolved[0]] = 1.0
    moved = body._replace(tree=tree._replace(axis=turned, translation=longer * tree.translation))
    # Of this body, too, the hands have to begin on their path.
    start = refit(replace(task, body=moved), replace(task, body=moved)).path.start
    imitated = np.vstack([start, task.imitated[1:]])
    path = task.path._replace(start=start)
    return with_body(replace(task, imitated=imitated, path=path), weights, moved)


def noise_and_delay(task: TaskMotion, weights: Array, rng: np.random.Generator) -> TaskMotion:
    made = generate_motion(task, weights)
    period = task.constants.period
    late = np.maximum(np.arange(len(made.time)) - round(0.05 / period), 0)
    drift = gaussian_filter1d(rng.normal(size=made.path.points.shape), 0.1 / period, axis=0)
    points = made.path.points[late] + 3e-3 * drift / drift.std()
    return refit(replace(made, path=made.path._replace(points=points)), task)


def minimum_jerk(task: TaskMotion, weights: Array, rng: np.random.Generator) -> TaskMotion:
    """Move joints with minimum jerk between the postures at start, middle and end; correct the hands."""
    body, path = task.body, task.path
    count = len(task.time)
    knots = np.array([0, count // 2, count - 1])
    scratch, q = make_scratch(body), path.start.copy()
    moved = np.empty_like(task.imitated)
    moved[0] = q
    update_body_poses(body, q, scratch.work)
    for t in range(1, count):
        first = 0 if t <= knots[1] else 1
        x = (t - knots[first]) / (knots[first + 1] - knots[first])
        part = x**3 * (10.0 - 15.0 * x + 6.0 * x**2)
        wanted = (1.0 - part) * task.imitated[knots[first]] + part * task.imitated[knots[first + 1]]
        step(task, t, wanted, q, scratch)
        moved[t] = q
    points = place_points(task, moved)
    return replace(task, path=path._replace(points=points), imitated=moved, source="minimum jerk")


def step(task: TaskMotion, t: int, wanted: Array, q: Array, scratch: Scratch) -> None:
    """Go on to sample t: joints as wanted as far as the hands allow, in the unit metric."""
    body, path = task.body, task.path
    apply_prescribed(body, path, task.constants, t, q, scratch)
    # Writes the Jacobian of the hands; what it says of criteria is overwritten.
    set_step_problem(body, task.constants, np.array([0.0, 1.0, 0.0, 0.0]), q, scratch)
    scratch.problem.weight[:] = np.eye(len(body.resolved))
    scratch.problem.linear_term[:] = (wanted - q)[body.resolved]
    left = take_step(body, task.constants, path.hand_rotation[t], path.hand_position[t], q, scratch)
    if not left < 1e-6:
        raise SkillError(f"{task.source}: the hands cannot follow their path at {task.time[t]:.2f} s")


GENERATORS: dict[str, Generator] = {
    "the law that reads it": by_the_law,
    "bodies half to twice as heavy": other_masses,
    "unit matrix instead of A": unit_metric,
    "limbs ± 5 %, axes ± 5°": other_skeleton,
    "noise of 3 mm, 50 ms late": noise_and_delay,
    "no criterion: minimum jerk": minimum_jerk,
}


def recover(made: TaskMotion, weights: Array) -> dict[str, object]:
    """What inverse optimal control says of a motion, beside the weights that are hidden in it."""
    mixture, period = Mixture([made]), made.constants.period
    hidden = compute_criterion_shares(weights, period)
    return {
        "dominant": mixture.dominant,
        "agrees": mixture.dominant == NAMES[int(np.argmax(hidden))],
        "greatest k": int(np.argmax(mixture.weights)) == int(np.argmax(weights)),
        "missed": float(np.abs(mixture.shares - hidden).max()),
        "error": mixture.fitness,
        "single": float(mixture.single.min()),
        "spread": compute_point_spread(made),
    }


def generated_table(found: Mapping[str, Sequence[Mapping[str, object]]], failed: Counter[str]) -> Table:
    columns = (
        "moved by",
        "motions",
        "found = hidden by\ncontribution",
        "by greatest k",
        "contribution missed\nby, median",
        "mean error,\nmm",
        "best single\ncriterion, mm",
        "spread of the\npoints, mm",
        "found",
    )
    table = _table("Motions that another law made than the one that reads them", *columns)
    for name, rows in found.items():
        if not rows:
            continue

        def mean(key: str, rows: Sequence[Mapping[str, object]] = rows) -> float:
            return float(np.mean([row[key] for row in rows]))

        hidden = name != "no criterion: minimum jerk"
        counts = Counter(row["dominant"] for row in rows)
        table.add_row(
            name,
            f"{len(rows)}" + (f" ({failed[name]} not possible)" if failed[name] else ""),
            f"{100 * mean('agrees'):.0f} %" if hidden else "",
            f"{100 * mean('greatest k'):.0f} %" if hidden else "",
            f"{np.median([row['missed'] for row in rows]):.2f}" if hidden else "",
            *(f"{1e3 * mean(key):.1f}" for key in ("error", "single", "spread")),
            ", ".join(f"{key} {count}" for key, count in counts.most_common()),
        )
    return table


def read_real(source: str) -> HumanMotion:
    motion = read_motion(source)
    if motion.actor is None:
        motion = replace(motion, actor=Actor("unnamed", STATURE, None, None))
    return motion


def cross_validate(motion: HumanMotion) -> dict[str, float]:
    """Mean errors, m, on pieces that the weights were not found on, both halves taken in turn."""
    task = prepare_motion(motion, span=(float(motion.time[0]), float(motion.time[-1])))
    cuts = np.linspace(task.time[0], task.time[-1], PIECES + 1)
    parts = cut_repetitions(task, cuts)
    errors: dict[str, list[float]] = {}
    for first in (0, 1):
        learnt, tested = parts[first::2], parts[1 - first :: 2]
        mixture = Mixture(learnt)
        laws = np.vstack([mixture.weights, np.full(4, 0.25), np.eye(4)])
        values = make_mean_fitness(tested)(laws) / mean_duration(tested)
        columns = dict(zip(("found", "equal", *NAMES), values, strict=True))
        columns["best single"] = values[2 + int(np.argmin(mixture.single))]
        columns["learnt"] = mixture.fitness
        for name, value in columns.items():
            errors.setdefault(name, []).append(float(value))
    spread = float(np.mean([compute_point_spread(part) for part in parts]))
    return {**{name: float(np.mean(each)) for name, each in errors.items()}, "spread": spread}


def real_table(found: Mapping[str, Mapping[str, float]]) -> Table:
    columns = ("learnt", "found", "best single", "equal", *NAMES, "spread")
    headings = ("where it\nwas found", "elsewhere", "best single\nelsewhere", "equal k", *NAMES, "spread")
    title = "Real recordings: error on pieces that the weights were not found on, mm"
    table = _table(title, "recording", *headings)
    for name, row in found.items():
        table.add_row(name, *(f"{1e3 * row[column]:.1f}" for column in columns))
    table.add_section()
    better = ["" if c in ("learnt", "found", "spread") else _better(found, c) for c in columns]
    table.add_row("found better than this in", *better)
    return table


def _better(found: Mapping[str, Mapping[str, float]], column: str) -> str:
    wins = sum(row["found"] < row[column] for row in found.values())
    return f"{wins} of {len(found)}"


def _table(title: str, *headings: str) -> Table:
    return Table(*headings, title=title, title_justify="left", box=None, pad_edge=False)


def main(arguments: Sequence[str] | None = None) -> int:
    """Print the tables."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    add_session_options(parser, [1, 2, 3, 4, 5], THESIS_TASKS)
    parser.add_argument("--seed", type=int, default=0, help="of masses, skeletons and noise")
    add_results_option(parser)
    given = parser.parse_args(arguments)
    found: dict[str, list[dict[str, object]]] = {name: [] for name in GENERATORS}
    failed: Counter[str] = Counter()
    search = MixtureSearch(session=given.session, primitive=2)
    for actor in given.actors:
        for task in given.tasks:
            performed = perform_in_session(given.session, actor, task)
            (part,) = analysed_parts(search, performed.motion)
            weights = np.array(performed.strategy.weights)
            for number, (name, generate) in enumerate(GENERATORS.items()):
                rng = np.random.default_rng([given.seed, actor, number])
                try:
                    found[name].append(recover(generate(part, weights, rng), weights))
                except SkillError:
                    failed[name] += 1
            print(f"{task} {actor}", file=sys.stderr, flush=True)
    real: dict[str, dict[str, float]] = {}
    sources = {name.removeprefix("humanoid3d_"): f"deepmimic:{name}" for name in clip_names()}
    sources |= {f"{name} (simulated)": str(Path(__file__).parents[3] / "samples" / name) for name in SAMPLES}
    for name, source in sources.items():
        try:
            real[name] = cross_validate(read_real(source))
            print(name, file=sys.stderr, flush=True)
        except SimbenchError as error:
            print(f"{name}: {error}", file=sys.stderr)
    results = begin_results(
        __file__,
        arguments,
        f"{len(given.actors)} virtual actors of session {given.session}, {len(given.tasks)} tasks, one "
        f"repetition each; {len(real)} of {len(sources)} real recordings",
    )
    console = Console(width=190)
    console.print(results.add(generated_table(found, failed)), "")
    console.print(results.add(real_table(real)))
    write_results(given.results, results)
    return 0


if __name__ == "__main__":
    sys.exit(main())
