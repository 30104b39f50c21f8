"""Find a base placement for each of eight tasks and three robots: joint-limit margins, or remaining errors.

python scripts/studies/place_tasks.py [--participant N] [--seed N] [--robot NAME]... [--task NAME]...
                              [--turn] [--brute N]

PUMA 560 uses the right hand's handle. For each case without a placement, --turn also tests grips in which the
hand can rotate freely about the handle, and --brute N runs an independent search from N random starts: see
place_brute_force.py.
"""

import argparse
import time
from dataclasses import replace

import numpy as np
from place_brute_force import Attempt, brute_force, pose_problem
from rich.console import Console
from rich.table import Table

from simbench.cli.console import progress_bars
from simbench.motion.actors.session import perform_in_session
from simbench.motion.actors.tasks import PLACES
from simbench.motion.human_motion import HandlePath
from simbench.retargeting.placement.placement import (
    BasePlacement,
    Placed,
    choose_posture,
    evaluate_placement,
    find_spot,
    handles_for,
)
from simbench.robot.robot import load_robot

ROBOTS = ("romeo", "mahru", "puma560")
TURN_AXES = {
    "along the fingers": (1.0, 0.0, 0.0),
    "across the palm": (0.0, 1.0, 0.0),
    "out of the palm": (0.0, 0.0, 1.0),
}


def describe(placed: Placed) -> str:
    """Format the margin and its joint, or what makes the placement infeasible."""
    found = placed.placement
    return f"{found.margin:.3f} rad {found.tightest}" if found.feasible else found.fault


def describe_attempts(tries: list[Attempt]) -> str:
    """Format the remaining errors of the best random start."""
    best = tries[0]
    same = sum(other.cost < 1.1 * best.cost + 1e-9 for other in tries)
    return (
        f"brute force from {len(tries)} starts: {1000 * best.off:.1f} mm and {np.degrees(best.turned):.1f}° "
        f"missing, feet {1000 * best.feet:.1f} mm or mrad, COG {1000 * best.cog:.1f} mm outside, links "
        f"{1000 * best.depth:.1f} mm inside each other, steps {best.jump:.2f} rad too long; "
        f"{same} starts came as near"
    )


def with_rotating_grips(handles: dict[str, HandlePath]) -> dict[str, dict[str, HandlePath]]:
    """Give handles grips about which the hands can rotate, by the direction of the axis."""
    return {
        name: {
            side: handle if handle.turn_axis is not None else replace(handle, turn_axis=np.array(axis))
            for side, handle in handles.items()
        }
        for name, axis in TURN_AXES.items()
    }


def main() -> None:
    """Print the tables."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--participant", type=int, default=3)
    parser.add_argument("--seed", type=int, default=2018)
    parser.add_argument("--robot", action="append", choices=ROBOTS)
    parser.add_argument("--task", action="append", choices=list(PLACES))
    parser.add_argument("--turn", action="store_true")
    parser.add_argument("--brute", type=int, default=0, metavar="N")
    given = parser.parse_args()
    console = Console()
    table = Table(
        "task",
        "robot",
        "as the actor stood",
        "place x, y (m), heading (rad), height (m)",
        "COG follows, advances, leans",
        "margin or missing",
        "s",
    )
    with progress_bars(Console(stderr=True)) as on_progress:
        for task in given.task or PLACES:
            recorded = perform_in_session(given.seed, given.participant, task).motion.handles
            for name in given.robot or ROBOTS:
                robot = load_robot(name)
                posture, handles = choose_posture(robot), handles_for(robot, recorded)
                start = time.perf_counter()
                here = evaluate_placement(robot, handles, BasePlacement(), posture)
                found = find_spot(robot, handles, BasePlacement(), posture, on_progress)
                seconds = time.perf_counter() - start
                spot = found.spot
                where = (
                    f"{spot.position[0]:.3f}, {spot.position[1]:.3f}, {spot.heading:.2f}, {spot.height:.3f}"
                )
                follow = (
                    f"{spot.follow:.2f}, {spot.advance:.2f}, {1000 * spot.lean:.0f} mm"
                    if robot.floating
                    else ""
                )
                table.add_row(task, name, describe(here), where, follow, describe(found), f"{seconds:.1f}")
                if found.placement.feasible:
                    continue
                if given.turn:
                    for grip, free in with_rotating_grips(handles).items():
                        other = find_spot(robot, free, BasePlacement(), posture, on_progress)
                        console.print(f"{task}, {name}, hands that may turn {grip}: {describe(other)}")
                if given.brute:
                    tries = brute_force(
                        pose_problem(robot, handles),
                        given.brute,
                        lambda done, total: on_progress("brute", done, total),
                    )
                    console.print(f"{task}, {name}, {describe_attempts(tries)}")
    console.print(table)


if __name__ == "__main__":
    main()
