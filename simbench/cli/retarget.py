"""The command line's `simbench retarget`: parse, call, print."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from simbench.cli.completion import complete_robot
from simbench.cli.convert import Format, Rate, write_motion_file
from simbench.cli.reading import Source, reads_recording
from simbench.errors import RunError

if TYPE_CHECKING:
    from rich.table import Table

    from simbench.motion.read_options import ReadOptions
    from simbench.retargeting.imitation.errors import ErrorSummary
    from simbench.retargeting.imitation.joint_use import JointUse


_STILL = 1e-6
"""Range of a joint that stands still, rad or m: rounding."""

# Not from the section's model, which imports pydantic: `--help` need not wait for it. A test compares them.
_METHODS = "analytical, numerical, ude, arm_adaptation"


@reads_recording()
def retarget(
    motion: Source,
    robot: Annotated[
        str,
        typer.Option(
            help="Name (simbench robot list), or path of a robot.yaml or a URDF.",
            autocompletion=complete_robot,
        ),
    ] = "romeo",
    method: Annotated[
        str, typer.Option(help=f"How the model follows the person: {_METHODS}.")
    ] = "analytical",
    free: Annotated[
        bool, typer.Option("--free", help="Leave out equipment that the recording knows of.")
    ] = False,
    out: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Write the trajectory: .csv, .nc, .npz or .pkl (GMR).")
    ] = None,
    format: Format = None,
    rate: Rate = None,
    plot: Annotated[
        Path | None, typer.Option(metavar="FILE.png", help="Draw errors, and joints between their limits.")
    ] = None,
    *,
    reading: ReadOptions,
) -> None:
    """Turn a human motion into a joint trajectory, without simulating it."""
    from simbench.cli.console import make_console, metrics_table, progress_bars, require_output_file

    name = ""
    if out is not None:
        from simbench.motion.trajectory_files.write import choose_format

        name = choose_format(out, format)
        require_output_file(out, RunError)
    elif format is not None or rate is not None:
        raise RunError("--format and --rate are of the file that --out FILE names")
    if plot is not None:
        require_output_file(plot, RunError, ".png", "a picture")

    from simbench.retargeting.api import retarget_motion
    from simbench.retargeting.collision.interference import describe_interference
    from simbench.retargeting.imitation.errors import imitation_errors, summarise
    from simbench.retargeting.imitation.joint_use import joint_uses

    with progress_bars(make_console(stderr=True)) as on_progress:
        made = retarget_motion(motion, robot, method, reading=reading, free=free, on_progress=on_progress)
    trajectory = made.plan.trajectory
    imitation = made.plan.imitation
    errors = None if imitation is None else imitation_errors(imitation, made.motion)
    if plot is not None:
        from simbench.retargeting.plot import require_model

        require_model(made)
    uses = joint_uses(made.robot, trajectory)
    if out is not None:
        attributes: dict[str, str | float] = {
            "source": made.motion.source,
            "robot": made.robot.name,
            "method": made.method,
            "slow_down": made.plan.metrics["retarget.slow_down"],
        }
        written = write_motion_file(trajectory, made.robot, out, name, rate, attributes)
    if plot is not None and errors is not None:
        from simbench.retargeting.plot import draw_retargeting

        draw_retargeting(made, errors, plot)
    console = make_console()
    tables = [metrics_table(made.plan.metrics), joint_table(uses)]
    if errors is not None:
        tables.insert(1, error_table(summarise(errors)))
    for table in tables:
        console.print(table)
        print()
    print(still_joints_line(uses))
    for interference in made.plan.interferences:
        print(f"interference  {describe_interference(interference)}")
    if out is not None:
        print(f"trajectory  {out}" + (f"  ({written})" if rate is not None or name == "unitree" else ""))
    if plot is not None:
        print(f"picture  {plot}")


def error_table(summaries: Sequence[ErrorSummary]) -> Table:
    """Lay out the distance of the scaled model from the recording.

    Parameters
    ----------
    summaries : sequence of ErrorSummary
        Mean, 95th percentile and maximum of each error.

    Returns
    -------
    rich.table.Table
        One line for each error, in mm or degrees.
    """
    import numpy as np

    from simbench.cli.console import number_table

    table = number_table("model against recording", "mean", "95 %", "max", "unit")
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
        Range and speed of each joint.

    Returns
    -------
    rich.table.Table
        One line for each moving joint, in degrees; in mm for sliding joints.
    """
    import numpy as np

    from simbench.cli.console import number_table

    table = number_table("joint", "from", "to", "limits", "nearest", "speed", "limit", "of it", "unit")
    table.columns[8].justify = "left"
    for use in uses:
        if not does_move(use):
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


def still_joints_line(uses: Sequence[JointUse]) -> str:
    """Say how many joints the table of joints leaves out.

    Parameters
    ----------
    uses : sequence of JointUse
        Range and speed of each joint.

    Returns
    -------
    str
        The line.
    """
    return f"joints that stand still: {sum(not does_move(use) for use in uses) or 'none'}"


def does_move(use: JointUse) -> bool:
    """Return whether a joint moves more than rounding errors.

    Parameters
    ----------
    use : JointUse
        Range and speed of the joint.

    Returns
    -------
    bool
        True if it has a line in the table.
    """
    return use.highest - use.lowest > _STILL
