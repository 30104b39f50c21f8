"""The options of all commands that read a file of a robot's motion, declared once."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from simbench.cli.completion import complete_words
from simbench.cli.shared_options import takes_options

if TYPE_CHECKING:
    from simbench.motion.trajectory_files.stored_motion import TrajectoryOptions


def trajectory_options(
    joint_order: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="Names of the file's joint columns: one a line, or a YAML list."),
    ] = None,
    quaternion: Annotated[
        str | None,
        typer.Option(
            metavar="xyzw|wxyz",
            help="Order of the parts of the base's quaternion.",
            autocompletion=complete_words("xyzw", "wxyz"),
        ),
    ] = None,
    fps: Annotated[
        float | None, typer.Option(metavar="HZ", help="Samples a second of a file that does not say it.")
    ] = None,
    format: Annotated[
        str | None, typer.Option("--format", metavar="NAME", help="Format, by default found out.")
    ] = None,
) -> TrajectoryOptions:
    """Build the declarations about a robot's motion from the options of a command."""
    from simbench.motion.trajectory_files.stored_motion import TrajectoryOptions

    return TrajectoryOptions(
        joint_order=None if joint_order is None else str(joint_order),
        quaternion=quaternion,
        fps=fps,
        format=format,
    )


def reads_trajectory(*left_out: str) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Give a command the options of `trajectory_options`, and their values as its argument `declared`.

    `*left_out`: parameters of `trajectory_options` that the command does not take, because it has options of
    these names. Returns decorator that makes, of a command with a keyword argument `declared`, the command
    for typer.
    """
    return takes_options(trajectory_options, "declared", *left_out)
