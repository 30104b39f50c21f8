"""The command line's `simbench retarget`: parse, call, print."""

from pathlib import Path
from typing import Annotated, get_args

import typer
from rich.console import Console

from simbench.cli.console import metrics_table, progress_bars
from simbench.cli.motion import LongestGap, Map, Source, Unit, Up
from simbench.errors import RunError
from simbench.runs.scenario.schema import RetargetSection

# Not from where it is used: that imports Pinocchio, which takes a second that help need not wait for.
_METHODS = ", ".join(get_args(RetargetSection.model_fields["method"].annotation))


def retarget(
    motion: Source,
    robot: Annotated[str, typer.Option(help="Name, or path of a robot.yaml.")] = "romeo",
    method: Annotated[
        str, typer.Option(help=f"How the model follows the person: {_METHODS}.")
    ] = "analytical",
    free: Annotated[
        bool, typer.Option("--free", help="Leave out equipment that the recording knows of.")
    ] = False,
    unit: Unit = None,
    up: Up = None,
    marker_map: Map = None,
    longest_gap: LongestGap = 0.2,
    out: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Write the trajectory as .csv or .nc (NetCDF).")
    ] = None,
    plot: Annotated[
        Path | None, typer.Option(metavar="FILE.png", help="Draw errors, and joints between their limits.")
    ] = None,
) -> None:
    """Turn a human motion into a joint trajectory, without simulating it."""
    from simbench.motion.trajectory_file import trajectory_suffix, write_trajectory

    if out is not None:
        trajectory_suffix(out)
        _check_target(out)
    if plot is not None:
        if plot.suffix.lower() != ".png":
            raise RunError(f"{plot}: a picture's name must end in .png")
        _check_target(plot)
    from simbench.display_retarget import error_table, joint_table, still_line
    from simbench.motion.read_options import ReadOptions
    from simbench.retargeting.api import retarget_motion
    from simbench.retargeting.collision.interference import describe_interference
    from simbench.retargeting.imitation.errors import imitation_errors, summarise
    from simbench.retargeting.imitation.joint_use import joint_units, joint_uses

    reading = ReadOptions(unit, up, marker_map, longest_gap)
    with progress_bars(Console(stderr=True)) as on_progress:
        made = retarget_motion(motion, robot, method, reading=reading, free=free, on_progress=on_progress)
    trajectory = made.plan.trajectory
    errors = imitation_errors(made.plan.imitation, made.motion)
    uses = joint_uses(made.robot, trajectory)
    if out is not None:
        attributes: dict[str, str | float] = {
            "source": made.motion.source,
            "robot": made.robot.name,
            "method": made.method,
            "slow_down": made.plan.metrics["retarget.slow_down"],
        }
        write_trajectory(trajectory, out, joint_units(made.robot), attributes)
    if plot is not None:
        from simbench.retargeting.plot import draw_retargeting

        draw_retargeting(made, errors, plot)
    console = Console(markup=False, emoji=False)
    for table in (metrics_table(made.plan.metrics), error_table(summarise(errors)), joint_table(uses)):
        console.print(table)
        print()
    print(still_line(uses))
    for interference in made.plan.interferences:
        print(f"interference  {describe_interference(interference)}")
    if out is not None:
        print(f"trajectory  {out}")
    if plot is not None:
        print(f"picture  {plot}")


def _check_target(path: Path) -> None:
    """Refuse before anything is read what could not be written after it."""
    if path.is_dir() or not path.parent.is_dir():
        raise RunError(f"{path}: must be a file in a directory that exists")
