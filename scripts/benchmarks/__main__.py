"""Measure speed as ratios within one run.

python scripts/benchmarks/__main__.py [--repeat N] [--only loop|imitation|balance|skills|dynamics]
                            [--scenarios NAME ...] [--jobs N] [--peers FOLDER]

loop: what control, sensing and logging add to the bare physics step, of scenarios (drawer and dance, or those
named, or all), one at a time or more. imitation: frames a second of our methods beside Pink, mink and PlaCo,
same robot (ROMEO, 25 coordinates), same frames, same targets, joint limits kept, one core. balance: a tick of
the balance loop, alone and in a run. skills: steps and rollouts of the weighted law, and how far each
criterion alone is from the person. dynamics: torques of PUMA's explicit models beside Pinocchio's RNEA called
from Python, same states. The peers live in an environment of their own, made in FOLDER at the first run.
"""

import argparse
import tempfile
from pathlib import Path

import numpy as np
from balance import balance_table
from dynamics import dynamics_table
from imitation import (
    PEERS,
    load_problems,
    one_core,
    peers_python,
    run_peer,
    time_ours,
    write_urdf,
)
from loop import USUAL, loop_table
from rich.console import Console
from rich.table import Table
from skills import skills_table


def imitation_table(repeat: int, peers: Path) -> Table:
    """Compare imitation with other libraries; the time of the analytical method in one call is 1."""
    python = peers_python(peers)
    one_core()
    robot, model, problems = load_problems()
    table = Table(
        "imitation", "frames/s", "time, analytical = 1", "wrists off, mm", "99 % of single calls within"
    )
    for title, problem in problems.items():
        table.add_section()
        table.add_row(title, "", "", "", "")
        with tempfile.TemporaryDirectory() as name:
            folder = Path(name)
            np.savez(folder / "problem.npz", **problem)
            write_urdf(robot, model, problem["frames"], folder / "robot.urdf")
            unit = 0.0
            for method, rounds in (("analytical", 0), ("numerical", 60)):
                seconds, off, calls = time_ours(model, problem, repeat, rounds)
                unit = unit or seconds
                late = f"{1e6 * np.quantile(calls, 0.99):.0f} µs"
                table.add_row(*_row(method, seconds, unit, off), late)
                each = float(np.median(calls))
                table.add_row(*_row(f"{method}, frame by frame", each, unit, off), late)
            for peer in PEERS:
                found = run_peer(peer, python, folder, repeat)
                if found is not None:
                    table.add_row(*_row(peer, found["seconds"], unit, found["wrists_m"]), "")
    return table


def _row(name: str, seconds: float, unit: float, off: float) -> tuple[str, str, str, str]:
    return f"  {name}", f"{1.0 / seconds:,.0f}", f"{seconds / unit:.2f}", f"{1e3 * off:.4f}"


def main() -> None:
    """Print the tables."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--repeat", type=int, default=3, metavar="N", help="runs of each")
    parser.add_argument("--only", choices=("loop", "imitation", "balance", "skills", "dynamics"))
    parser.add_argument("--scenarios", nargs="+", default=USUAL, metavar="NAME", help="of loop; all: all")
    parser.add_argument("--jobs", type=int, default=1, metavar="N", help="runs of loop at a time")
    parser.add_argument(
        "--peers", type=Path, default=Path("build/peers"), metavar="FOLDER", help="environment of the peers"
    )
    given = parser.parse_args()
    console = Console()
    if given.only in (None, "loop"):
        console.print(loop_table(given.scenarios, given.repeat, given.jobs))
    if given.only in (None, "balance"):
        console.print(balance_table())
    if given.only in (None, "skills"):
        console.print(skills_table(given.repeat))
    if given.only in (None, "dynamics"):
        console.print(dynamics_table(given.repeat))
    if given.only in (None, "imitation"):
        console.print(imitation_table(given.repeat, given.peers))


if __name__ == "__main__":
    main()
