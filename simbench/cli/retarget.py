"""The command line's `simbench retarget`: parse, call, print."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, get_args

import numpy as np
import typer
from rich.console import Console
from rich.table import Table

from simbench.cli.console import metrics_table, progress_bars
from simbench.cli.motion import LongestGap, Map, Source, Unit, Up
from simbench.errors import RunError
from simbench.options import RetargetSection

if TYPE_CHECKING:
    from simbench.retargeting.imitation.errors import ErrorSummary
    from simbench.retargeting.imitation.joint_use import JointUse


# Range of a joint that stands still, rad or m: the width of rounding.
STILL = 1e-6

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


def error_table(summaries: Sequence[ErrorSummary]) -> Table:
    """Lay out how far the scaled model is from the recording.

    Parameters
    ----------
    summaries : sequence of ErrorSummary

    Returns
    -------
    rich.table.Table
    """
    table = _table("model against recording", "mean", "95 %", "max", "unit")
    table.columns[4].justify = "left"
    for summary in summaries:
        numbers = (summary.mean, summary.percentile_95, summary.maximum)
        shown, unit = (
            (np.multiply(numbers, 1000.0), "mm") if summary.unit == "m" else (np.degrees(numbers), "°")
        )
        table.add_row(summary.name, *(f"{value:.2f}" for value in shown), unit)
    return table


def joint_table(uses: Sequence[JointUse]) -> Table:
    """Lay out the joints that move: range and speed against their limits.

    Parameters
    ----------
    uses : sequence of JointUse

    Returns
    -------
    rich.table.Table
        In degrees; a joint that slides in mm.
    """
    table = _table("joint", "from", "to", "limits", "nearest", "speed", "limit", "of it", "unit")
    table.columns[8].justify = "left"
    for use in uses:
        if not moves(use):
            continue
        scale, unit = (180.0 / np.pi, "°, °/s") if use.unit == "rad" else (1000.0, "mm, mm/s")
        limits = f"{scale * use.lower:.0f} to {scale * use.upper:.0f}"
        table.add_row(
            use.name,
            f"{scale * use.lowest:.1f}",
            f"{scale * use.highest:.1f}",
            limits,
            f"{scale * use.clearance:.1f}",
            f"{scale * use.speed:.0f}",
            f"{scale * use.speed_limit:.0f}",
            f"{use.speed / use.speed_limit:.0%}",
            unit,
        )
    return table


def still_line(uses: Sequence[JointUse]) -> str:
    """Say how many joints the table leaves out."""
    return f"joints that stand still: {sum(not moves(use) for use in uses) or 'none'}"


def moves(use: JointUse) -> bool:
    """Whether a joint is worth a line."""
    return use.highest - use.lowest > STILL


def _table(*headings: str) -> Table:
    """Build a table of a name and numbers."""
    table = Table(*headings, box=None, pad_edge=False)
    for column in table.columns[1:]:
        column.justify, column.no_wrap = "right", True
    table.columns[0].overflow = "fold"
    return table
