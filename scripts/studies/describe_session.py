"""Compare a recorded session with the literature: one table per task, exit status 1 if a value is out of
range.

python scripts/studies/describe_session.py FOLDER [--seed N]

FOLDER was written by `simbench motion session --out FOLDER`. The mean over the actors is compared with means
that studies report for daily life (joint angles: of the periodic phase); each actor is compared with the
limits given by anatomy or by the spread between people, over the whole recording.
"""

import argparse
import csv
import sys
from collections.abc import Mapping
from pathlib import Path

import h5py
import numpy as np
from actor_quantities import BEYOND_USUAL, FREE_LIMITS, LIMITS, USUAL, Extents, Range, measure
from rich.console import Console
from rich.table import Table

from simbench.errors import SimbenchError
from simbench.motion.actors.free_motions import FREE
from simbench.motion.actors.human_model import HumanModel
from simbench.motion.actors.people import ActorPerformance, Person, session_people
from simbench.motion.read_options import ReadOptions
from simbench.motion.readers.netcdf_reader import read_netcdf
from simbench.robot.sides import SIDES

# Tolerance for the rounding of numbers in files, and for a joint that rests on its limit.
TOLERANCE = 1e-6
# Smallest number of actors whose mean is compared.
ENOUGH = 5


def load(path: Path, person: Person) -> ActorPerformance:
    """Read a recording with its ground truth as a performance."""
    motion = read_netcdf(path, ReadOptions())
    if motion.actor != person.actor:
        raise SimbenchError(f"{path}: {motion.actor} is not {person.actor} of this seed; give --seed")
    human = HumanModel(person.actor, person.proportions, person.lift)
    # `read_truth` gives the same with labels, but takes three times as long.
    with h5py.File(path, "r") as file:
        truth = {name: variable[...] for name, variable in file["truth"].items()}
    q = np.zeros((len(motion.time), human.model.nq))
    q[:, :7] = truth["pelvis_pose"]
    for name, angle in zip(truth["coordinate"], truth["joint_angle"].T, strict=True):
        q[:, human.model.joints[human.model.getJointId(name.decode())].idx_q] = angle
    palms = {}
    for side in SIDES:
        palms[side] = np.tile(np.eye(4), (len(q), 1, 1))
        palms[side][:, :3] = truth[f"{side}_palm"]
    return ActorPerformance(
        motion=motion,
        human=human,
        q=q,
        palms=palms,
        phases={
            name.decode(): (int(first), int(last))
            for name, (first, last) in zip(truth["phase"], truth["phases"], strict=True)
        },
        boundaries=truth["boundaries"],
        contact_start=None,
        travel=truth["travel"],
        strategy=None,
    )


def add_rows(
    table: Table, found: list[Extents], ranges: Mapping[str, Range], whom: str, excused: Mapping[str, str]
) -> list[str]:
    """Add one row per quantity; return the values that are out of range."""
    misses = []
    for name, allowed in ranges.items():
        extents = np.array([extent[name] for extent in found if name in extent])
        if not len(extents):
            continue
        mean, extremes = extents.mean(axis=0), (extents[:, 0].min(), extents[:, 1].max())
        low, high = mean if whom == "mean" else extremes
        mark = ""
        if low < allowed.low - TOLERANCE or high > allowed.high + TOLERANCE:
            mark = "beyond daily life" if name in excused else "OUTSIDE"
        if mark == "OUTSIDE":
            misses.append(f"{name} ({whom} {low:.2f} to {high:.2f}, not {allowed.low:g} to {allowed.high:g})")
        cells = [f"{m:.2f} ({e:.2f})" for m, e in zip(mean, extremes, strict=True)]
        table.add_row(f"{name}, {allowed.unit}", *cells, whom, f"{allowed.low:g} to {allowed.high:g}", mark)
    return misses


def main() -> int:
    """Print the tables; return the exit status."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--seed", type=int, default=2018, help="of the session")
    given = parser.parse_args()
    console = Console(width=120)
    people = session_people(given.seed)
    recordings: dict[str, list[tuple[Extents, Extents]]] = {}
    try:
        with (given.folder / "session.csv").open(encoding="utf-8", newline="") as file:
            for row in csv.DictReader(file):
                performance = load(given.folder / row["file"], people[int(row["actor"]) - 1])
                recordings.setdefault(row["task"], []).append(measure(performance))
    except (SimbenchError, OSError) as error:
        print(f"error: {error}", file=sys.stderr)
        return 2
    misses = []
    for task, measured in recordings.items():
        usual, limits = ([both[k] for both in measured] for k in (0, 1))
        excused = BEYOND_USUAL.get(task, {})
        table = Table(
            "quantity",
            "least",
            "greatest",
            "judged",
            "literature",
            "",
            title=f"{task}, {len(measured)} actors",
        )
        outside = add_rows(table, usual, USUAL, "mean", excused) if len(measured) >= ENOUGH else []
        outside += add_rows(table, limits, FREE_LIMITS if task in FREE else LIMITS, "each", {})
        console.print(table)
        for name, reason in excused.items():
            console.print(f"{name} may be beyond daily life: {reason}.")
        misses += [f"{task}: {miss}" for miss in outside]
    console.print("Least and greatest: mean over the actors, the extreme one in brackets. Sources:")
    for name, allowed in [*USUAL.items(), *LIMITS.items()]:
        console.print(f"{name}, {allowed.low:g} to {allowed.high:g} {allowed.unit}: {allowed.source}")
    console.print("\n".join(["Outside:", *misses]) if misses else "Nothing is outside.")
    return 1 if misses else 0


if __name__ == "__main__":
    sys.exit(main())
