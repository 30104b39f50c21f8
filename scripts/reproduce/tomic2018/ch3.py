"""Reproduce figures 3.7-3.10 of Tomić (2018) as tables: what three methods of imitation miss.

python scripts/reproduce/tomic2018/ch3.py [--recordings FOLDER] [--files FILE ...] [--limited] [--jobs N]
    [--results FILE.json]

Virtual actors perform the paper's seven tasks, or FOLDER holds what `simbench motion session --out FOLDER`
wrote. The clips that come with simbench, and files of one's own, stand beside them. `mean` is the mean of the
recordings' means, `worst` the greatest of them, `peak` the greatest error of any sample. The last table puts
the paper's numbers beside ours; exit status 1 if a bar is missed.
"""

import argparse
import csv
import os
import sys
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from dataclasses import dataclass, replace
from functools import cache
from multiprocessing import get_context
from pathlib import Path
from typing import NamedTuple

import numpy as np
from rich.console import Console
from rich.table import Table

sys.path.insert(0, str(Path(__file__).parents[1]))
from results import add_results_option, begin_results, write_results

from simbench.cli.console import progress_bars
from simbench.errors import MotionError, SimbenchError
from simbench.motion.actors.people import session_people
from simbench.motion.actors.session import perform_in_session
from simbench.motion.actors.tasks import PLACES
from simbench.motion.human_motion import ARM_JOINTS, HumanMotion, resample
from simbench.motion.readers import read_motion
from simbench.motion.shipped import clip_names
from simbench.retargeting.body_errors import rotation_angle
from simbench.retargeting.imitation.imitation import METHODS, imitate, imitation_errors, model_poses, smooth
from simbench.retargeting.imitation.scaled_model import calibrate
from simbench.robot.robot import Robot, load_robot
from simbench.robot.sides import SIDES

TASKS = tuple(task for task in PLACES if task != "hand_drill")
"""The hand drill is the paper's test of chapter 5 only."""
RATE = 200.0
"""Hz, to which `simbench retarget` resamples slower recordings; the session keeps the paper's 100 Hz."""
FILTER = (31, 5)
"""Window, samples, and order of the paper's Savitzky-Golay filter."""

# Title, which of the errors, part of the body, factor to the unit of the table.
QUANTITIES = {
    "hand": ("Fig. 3.8 b, position of the hands (wrists), mm", "joints", "wrist", 1e3),
    "raw hand": ("Before the Savitzky-Golay filter: position of the hands, mm", "joints", "wrist", 1e3),
    "elbow": ("Fig. 3.8 b, position of the elbows, mm", "joints", "elbow", 1e3),
    "shoulder": ("Fig. 3.8 b, position of the shoulders, mm", "joints", "shoulder", 1e3),
    "turn": ("Fig. 3.8 a, orientation of the hand markers, degrees", "hands", "hand", 180.0 / np.pi),
    "hand marker": ("Fig. 3.9, position of the hand markers, mm", "markers", "hand", 1e3),
    "forearm marker": ("Fig. 3.9, position of the forearm markers, mm", "markers", "forearm", 1e3),
    "upper arm marker": ("Fig. 3.9, position of the upper arm markers, mm", "markers", "upper_arm", 1e3),
}

# The parts of `ImitationErrors`.
ERRORS = ("initial", "joints", "markers", "hands")
EXTENTS = "mean: mean of the recordings' means; worst: greatest of them; peak: greatest error of any sample"


class Source(NamedTuple):
    """A recording: of the session when it has an actor's number, of a file or clip when it has a place."""

    name: str
    actor: int = 0
    place: str = ""
    seed: int = 0


class Extent(NamedTuple):
    """Error over all samples and both sides, in the unit of its table."""

    mean: float
    peak: float


@dataclass(frozen=True)
class Study:
    """One recording: errors of the initial configuration, mm and degrees; extents by method and quantity."""

    source: Source
    initial: Mapping[str, float]
    initial_turn: float
    errors: Mapping[tuple[str, str], Extent]


def study(source: Source, limited: bool) -> Study:
    """Calibrate on a recording and imitate it by every method."""
    motion = _open(source)
    robot = _romeo()
    actor = calibrate(robot, motion)
    errors = {}
    for method in METHODS:
        raw = imitate(actor, motion, method=method, limited=limited, smoothing_window=1)
        missed = imitation_errors(replace(raw, q=smooth(raw.q, *FILTER)), motion)
        unfiltered = imitation_errors(raw, motion)
        for name, (_, field, part, scale) in QUANTITIES.items():
            found = (unfiltered if name == "raw hand" else missed)[ERRORS.index(field)]
            tracks = scale * np.stack([found[f"{side}_{part}"] for side in SIDES])
            errors[method, name] = Extent(float(tracks.mean()), float(tracks.max()))
    basic = np.concatenate([[0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 1.0], actor.basic])
    poses = model_poses(actor, np.stack([basic, actor.q]))
    turned = [rotation_angle(pose[:1], pose[1:])[0] for pose in (poses[f"{side}_wrist"] for side in SIDES)]
    initial = {name: 1e3 * error for name, error in missed[0].items()}
    return Study(source, initial, float(np.degrees(np.max(turned))), errors)


def _open(source: Source) -> HumanMotion:
    if source.place:
        motion = read_motion(source.place)
        return motion if source.actor else resample(motion, max(motion.rate, RATE))
    return perform_in_session(source.seed, source.actor, source.name).motion


@cache
def _romeo() -> Robot:
    return load_robot("romeo")


def session(folder: Path, actors: Sequence[int], tasks: Sequence[str]) -> list[Source]:
    """List the recordings of a session's folder."""
    try:
        with (folder / "session.csv").open(encoding="utf-8", newline="") as file:
            rows = [
                (row["task"], int(row["actor"]), str(folder / row["file"])) for row in csv.DictReader(file)
            ]
    except (OSError, KeyError, ValueError) as error:
        raise MotionError(f"{folder}: not a session that simbench recorded: {error}") from error
    found = [Source(*row) for row in rows if row[0] in tasks and row[1] in actors]
    if not found:
        raise MotionError(f"{folder}: holds none of the tasks {', '.join(tasks)} by these actors")
    return found


def real_recordings(files: Sequence[str]) -> list[Source]:
    """List files of one's own, then the clips that come with simbench."""
    clips = [Source(name.removeprefix("humanoid3d_"), place=f"deepmimic:{name}") for name in clip_names()]
    return [Source(Path(file).stem, place=file) for file in files] + clips


def study_all(sources: Sequence[Source], limited: bool, jobs: int, console: Console) -> list[Study]:
    """Study recordings in several processes, in the order given."""
    # Read where numpy is loaded, which in a fresh process is before any of our lines runs.
    os.environ["OPENBLAS_NUM_THREADS"] = "1"
    with progress_bars(console) as on_progress, ProcessPoolExecutor(jobs, get_context("spawn")) as pool:
        on_progress("imitate", 0, len(sources))
        running = [pool.submit(study, source, limited) for source in sources]
        try:
            for done, future in enumerate(as_completed(running), 1):
                future.result()
                on_progress("imitate", done, len(sources))
        except BaseException:
            pool.shutdown(wait=False, cancel_futures=True)
            raise
        return [future.result() for future in running]


def mean_of(studies: Sequence[Study], method: str, name: str) -> float:
    return float(np.mean([each.errors[method, name].mean for each in studies]))


def worst_of(studies: Sequence[Study], method: str, name: str) -> float:
    return max(each.errors[method, name].mean for each in studies)


def peak_of(studies: Sequence[Study], method: str, name: str) -> float:
    return max(each.errors[method, name].peak for each in studies)


def by_actor(studies: Sequence[Study]) -> dict[int, list[Study]]:
    actors: dict[int, list[Study]] = {}
    for each in studies:
        actors.setdefault(each.source.actor, []).append(each)
    return dict(sorted(actors.items()))


def initial_table(studies: Sequence[Study]) -> Table:
    """Figure 3.7: μ(E_j), a joint's mean over the motions of an actor; here its mean and greatest value."""
    table = _table(
        "Fig. 3.7, initial configuration", "joint", "mean over actors", "greatest of an actor", "unit"
    )
    for name in ARM_JOINTS:
        means = [np.mean([each.initial[name] for each in own]) for own in by_actor(studies).values()]
        table.add_row(name.replace("_", " "), f"{np.mean(means):.2f}", f"{np.max(means):.2f}", "mm")
    means = [np.mean([each.initial_turn for each in own]) for own in by_actor(studies).values()]
    table.add_row("orientation of the hands", f"{np.mean(means):.3f}", f"{np.max(means):.3f}", "degrees")
    return table


def task_table(studies: Sequence[Study], name: str) -> Table:
    """Figures 3.8 and 3.9: one quantity, task by task, method by method."""
    headings = (f"{m}\n{k}" for m in METHODS for k in ("mean", "worst", "peak"))
    table = _table(QUANTITIES[name][0], "task", *headings)
    for task in dict.fromkeys(each.source.name for each in studies):
        table.add_row(task, *_cells([each for each in studies if each.source.name == task], name))
    table.add_section()
    table.add_row("all", *_cells(studies, name))
    return table


def _cells(studies: Sequence[Study], name: str) -> Iterator[str]:
    for method in METHODS:
        for number in (mean_of, worst_of, peak_of):
            yield f"{number(studies, method, name):.2f}"


def actor_table(studies: Sequence[Study]) -> Table:
    """Figure 3.10: μ(E), the mean hand error of an actor over all motions."""
    table = _table("Fig. 3.10, mean hand error, mm", "actor", *METHODS, "ude / analytical")
    for number, own in by_actor(studies).items():
        means = [mean_of(own, method, "hand") for method in METHODS]
        table.add_row(str(number), *(f"{mean:.2f}" for mean in means), f"{means[2] / means[0]:.1f}")
    return table


def real_table(studies: Sequence[Study]) -> Table:
    """Figures 3.7-3.9 of real recordings: mean and, in brackets, peak."""
    title = "Real recordings: mean (peak), mm and degrees"
    table = _table(title, "recording", "method", "initial", *(name.replace(" ", "\n") for name in QUANTITIES))
    for each in studies:
        for method in METHODS:
            extents = (each.errors[method, name] for name in QUANTITIES)
            cells = [f"{extent.mean:.1f} ({extent.peak:.0f})" for extent in extents]
            values = list(each.initial.values())
            first = method == METHODS[0]
            initial = f"{np.mean(values):.1f} ({np.max(values):.0f})" if first else ""
            table.add_row(each.source.name if first else "", method, initial, *cells)
        table.add_section()
    return table


class Line(NamedTuple):
    """A number of the paper, ours, and the bar that ours is held to."""

    what: str
    paper: str
    ours: float
    unit: str = "mm"
    low: float = -np.inf
    high: float = np.inf


def compare(studies: Sequence[Study]) -> Iterator[Line]:
    """Put the paper's numbers beside ours."""
    shoulders = [v for each in studies for name, v in each.initial.items() if name.endswith("shoulder")]
    yield Line("initial configuration, mean", "< 2", initial_mean(studies), high=2.0)
    yield Line("initial configuration, greatest at a shoulder", "about 12", max(shoulders), high=12.0)
    for method in ("analytical", "numerical"):
        yield Line(f"hands, {method}, mean", "about 3", mean_of(studies, method, "hand"), high=3.0)
        worst = max(mean_of(own, method, "hand") for own in by_actor(studies).values())
        yield Line(f"hands, {method}, mean of the worst actor", "about 5", worst)
    drawer = [each for each in studies if each.source.name == "drawer"]
    if drawer:
        peak = peak_of(drawer, "numerical", "hand")
        yield Line("hands, numerical, drawer, peak", "about 5 (one actor)", peak)
        peak = max(peak_of(drawer, "analytical", joint) for joint in ("elbow", "shoulder"))
        yield Line("elbows and shoulders, analytical, drawer, peak", "about 30 (one actor)", peak)
    analytical, numerical, ude = (mean_of(studies, method, "hand") for method in METHODS)
    # A thousandth: both miss the noise that the filter takes away, which may favour either by less than that.
    yield Line("hands, numerical / analytical", "about the same", numerical / analytical, "", high=1.001)
    yield Line("hands, ude / analytical", "bigger", ude / analytical, "", low=5.0)
    ratios = [each.errors["ude", "hand"].mean / each.errors["analytical", "hand"].mean for each in studies]
    yield Line("hands, ude / analytical, least of a recording", "", min(ratios), "")
    markers = [name for name in QUANTITIES if name.endswith("marker")]
    ours, theirs = (sum(mean_of(studies, method, name) for name in markers) for method in METHODS[::2])
    yield Line("markers, ude / analytical", "smaller", theirs / ours, "", high=1.0)


def compare_real(studies: Sequence[Study]) -> Iterator[Line]:
    """Hold real recordings to the same bars, but for Ude: most have computed markers, which never slip."""
    yield Line("real: initial configuration, mean", "", initial_mean(studies), high=2.0)
    worst = max(initial_mean([each]) for each in studies)
    yield Line("real: initial configuration, mean of the worst recording", "", worst)
    for method in ("analytical", "numerical"):
        yield Line(f"real: hands, {method}, mean", "", mean_of(studies, method, "hand"), high=3.0)
        yield Line(f"real: hands, {method}, worst recording", "", worst_of(studies, method, "hand"))


def initial_mean(studies: Sequence[Study]) -> float:
    return float(np.mean([list(each.initial.values()) for each in studies]))


def comparison_table(lines: Sequence[Line]) -> Table:
    table = _table("Against the paper", "", "paper", "ours", "unit", "bar", "")
    for line in lines:
        bar = bar_of(line)
        mark = ("✓" if holds(line) else "MISSED") if bar else ""
        table.add_row(line.what, line.paper, f"{line.ours:.2f}", line.unit, bar, mark)
    return table


def bar_of(line: Line) -> str:
    """Write the bound that a number is held to; empty if there is none."""
    return f"≤ {line.high:g}" if line.high < np.inf else f"≥ {line.low:g}" if line.low > -np.inf else ""


def holds(line: Line) -> bool:
    return line.low <= line.ours <= line.high


def _table(title: str, *headings: str) -> Table:
    table = Table(*headings, title=title, title_justify="left", box=None, pad_edge=False)
    for column in table.columns[1:]:
        column.justify, column.no_wrap = "right", True
    return table


def _numbers(text: str) -> list[int]:
    return [int(part) for part in text.split(",")]


def _count(text: str) -> int:
    if int(text) < 1:
        raise argparse.ArgumentTypeError("at least 1")
    return int(text)


def main(arguments: Sequence[str] | None = None) -> int:
    """Print the tables."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--seed", type=int, default=2018, help="of the session")
    parser.add_argument("--jobs", type=_count, default=os.cpu_count(), help="processes at once")
    parser.add_argument("--actors", type=_numbers, metavar="1,2,...", help="by default all")
    parser.add_argument("--tasks", type=lambda text: text.split(","), default=TASKS, metavar="NAME,...")
    parser.add_argument("--recordings", type=Path, metavar="FOLDER", help="a recorded session")
    parser.add_argument("--files", nargs="+", default=[], metavar="FILE", help="further real recordings")
    parser.add_argument("--limited", action="store_true", help="keep the robot's joint limits")
    add_results_option(parser)
    given = parser.parse_args(arguments)
    console = Console(width=140)
    actors = given.actors or range(1, len(session_people(given.seed)) + 1)
    try:
        if given.recordings:
            people = session(given.recordings, actors, given.tasks)
        else:
            people = [Source(task, number, seed=given.seed) for number in actors for task in given.tasks]
        real = real_recordings(given.files)
        # The files first: what is wrong with them is known at once.
        studies = study_all([*real, *people], given.limited, given.jobs, Console(stderr=True))
    except SimbenchError as error:
        print(f"error: {error}", file=sys.stderr)
        return 2
    recorded, performed = studies[: len(real)], studies[len(real) :]
    results = begin_results(
        __file__,
        arguments,
        f"{len(by_actor(performed))} virtual actors, {len({each.source.name for each in performed})} tasks; "
        f"{len(recorded)} recordings of real people",
    )
    console.print(results.add(initial_table(performed), "figure 3.7"), "")
    for name, (title, *_) in QUANTITIES.items():
        source = title.partition(",")[0].replace("Fig.", "figure") if title.startswith("Fig.") else ""
        console.print(results.add(task_table(performed, name), source, note=EXTENTS), "")
    console.print(results.add(actor_table(performed), "figure 3.10"), "")
    lines = list(compare(performed))
    if recorded:
        console.print(results.add(real_table(recorded)), "")
        lines += compare_real(recorded)
    console.print(results.add(comparison_table(lines), "§3.6"))
    for line in lines:
        if np.isfinite([line.low, line.high]).any():
            results.check(
                f"{line.what}: {line.ours:.2f} {line.unit}".rstrip() + f", {bar_of(line)}", holds(line)
            )
    write_results(given.results, results)
    return 0 if all(map(holds, lines)) else 1


if __name__ == "__main__":
    sys.exit(main())
