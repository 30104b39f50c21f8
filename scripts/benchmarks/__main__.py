"""Measure speed as ratios within one run.

python scripts/benchmarks [--repeat N] [--only loop|imitation|balance|skills|dynamics|drawing]
                          [--scenarios NAME ...] [--engines NAME ...] [--jobs N] [--peers FOLDER]
                          [--runs FOLDER]

loop: time that control, sensing and logging add to the bare physics step, for scenarios (drawer and dance, or
those named, or all) in one engine or several, one or several at a time. imitation: frames per second of
simbench's methods and of Pink, mink and PlaCo, with the same robot (ROMEO, 25 coordinates), frames and
targets, within joint limits, on one core; and of the same for the whole body of a G1, with simbench's own
stream beside it, which keeps limits of acceleration, links and the floor too. balance: time of a control step
of the balance controller, alone and in a run. skills: time of steps and rollouts of the weighted law, and the
distance of the person's motion from that of each criterion alone.
dynamics: torques of PUMA's explicit models and of Pinocchio's RNEA called from Python, for the same states.
drawing: CPU time of a frame of a video by renderer, size and scene, relative to a bare frame of the scene,
and of pyrender, VTK and MuJoCo for the same triangles. The other libraries are installed in separate
environments in FOLDER at the first run.
"""

import argparse
import tempfile
from pathlib import Path

import numpy as np
from balance import balance_table
from drawing import drawing_table
from dynamics import dynamics_table
from imitation import (
    PEERS,
    WHOLE_BODY,
    load_problems,
    one_core,
    peers_python,
    run_peer,
    time_ours,
    time_stream,
    whole_body_problem,
    write_urdf,
)
from loop import USUAL, loop_table
from rich.console import Console
from rich.table import Table
from skills import skills_table


def imitation_table(repeat: int, peers: Path) -> Table:
    """Tabulate the speed of imitation and of other libraries relative to the analytical method."""
    python = peers_python(peers)
    one_core()
    romeo, upper_body, problems = load_problems()
    table = Table(
        "imitation", "frames/s", "time, analytical = 1", "mean error, mm", "99th percentile of single calls"
    )
    cases = [(title, romeo, upper_body, problem) for title, problem in problems.items()]
    for title, robot, model, problem in (*cases, (WHOLE_BODY, *whole_body_problem())):
        table.add_section()
        table.add_row(title, "", "", "", "")
        with tempfile.TemporaryDirectory() as name:
            folder = Path(name)
            np.savez(folder / "problem.npz", **problem)
            write_urdf(robot, model, problem["frames"], folder / "robot.urdf")
            unit = 0.0
            for method, rounds in (("analytical", 0), ("numerical", 60)):
                seconds, error, calls = time_ours(model, problem, repeat, rounds)
                unit = unit or seconds
                late = f"{1e6 * np.quantile(calls, 0.99):.0f} µs"
                table.add_row(*_row(method, seconds, unit, error), late)
                single = float(np.median(calls))
                table.add_row(*_row(f"{method}, frame by frame", single, unit, error), late)
            if title == WHOLE_BODY:
                seconds, error, calls = time_stream(robot, problem, repeat)
                late = f"{1e6 * np.quantile(calls, 0.99):.0f} µs"
                table.add_row(*_row("bones, frame by frame (ImitationStream)", seconds, unit, error), late)
            for peer in PEERS:
                found = run_peer(peer, python, folder, repeat)
                if found is not None:
                    table.add_row(*_row(peer, found["seconds"], unit, found["points_m"]), "")
    return table


def _row(name: str, seconds: float, unit: float, error: float) -> tuple[str, str, str, str]:
    """Format time per frame, s, in absolute terms and relative to a unit, and the mean error, m."""
    return f"  {name}", f"{1.0 / seconds:,.0f}", f"{seconds / unit:.2f}", f"{1e3 * error:.4f}"


def main() -> None:
    """Print the tables of the selected benchmarks."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--repeat", type=int, default=3, metavar="N", help="repetitions of each measurement")
    parser.add_argument("--only", choices=("loop", "imitation", "balance", "skills", "dynamics", "drawing"))
    parser.add_argument(
        "--scenarios", nargs="+", default=USUAL, metavar="NAME", help="scenarios of loop, or all"
    )
    parser.add_argument(
        "--engines", nargs="+", default=("bullet",), metavar="NAME", help="physics engines of loop"
    )
    parser.add_argument("--jobs", type=int, default=1, metavar="N", help="simultaneous runs of loop")
    parser.add_argument(
        "--peers",
        type=Path,
        default=Path("build/peers"),
        metavar="FOLDER",
        help="environment of the other libraries",
    )
    parser.add_argument("--runs", type=Path, metavar="FOLDER", help="runs that drawing shows")
    given = parser.parse_args()
    console = Console()
    if given.only in (None, "loop"):
        console.print(loop_table(given.scenarios, given.engines, given.repeat, given.jobs))
    if given.only in (None, "balance"):
        console.print(balance_table())
    if given.only in (None, "skills"):
        console.print(skills_table(given.repeat))
    if given.only in (None, "dynamics"):
        console.print(dynamics_table(given.repeat))
    if given.only in (None, "drawing"):
        console.print(drawing_table(given.repeat, given.runs, given.peers))
    if given.only in (None, "imitation"):
        console.print(imitation_table(given.repeat, given.peers))


if __name__ == "__main__":
    main()
