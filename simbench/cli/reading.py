"""The options of all commands that read a recording, declared once."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import wraps
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from simbench.cli.completion import complete_marker_map, complete_motion, complete_words
from simbench.cli.shared_options import takes_options
from simbench.errors import MotionError

if TYPE_CHECKING:
    from simbench.motion.read_options import ReadOptions

Source = Annotated[
    str,
    typer.Argument(
        help="actor:TASK, deepmimic:CLIP, sample:NAME, or a file.", autocompletion=complete_motion
    ),
]


def reading_options(
    unit: Annotated[
        str | None,
        typer.Option(
            help="The file's unit of length: m, cm, mm, in, cmu.",
            autocompletion=complete_words("m", "cm", "mm", "in", "cmu"),
        ),
    ] = None,
    up: Annotated[
        str | None,
        typer.Option(
            help="The file's vertical axis: x, y, z, -x, -y, -z.",
            autocompletion=complete_words("x", "y", "z", "-x", "-y", "-z"),
        ),
    ] = None,
    marker_map: Annotated[
        str | None,
        typer.Option(
            "--map",
            metavar="NAME|FILE",
            help="Marker map, by default the one that fits.",
            autocompletion=complete_marker_map,
        ),
    ] = None,
    longest_gap: Annotated[
        float, typer.Option(metavar="SECONDS", help="Longest gap in a marker's track that is interpolated.")
    ] = 0.2,
    strict: Annotated[
        bool, typer.Option("--strict", help="Refuse what would have to be assumed about the file.")
    ] = False,
    estimate: Annotated[
        bool, typer.Option("--estimate", help="Estimate an elbow or a wrist that was not recorded.")
    ] = False,
    scale: Annotated[
        float | None, typer.Option(metavar="FACTOR", help="Scale the recorded body by this factor.")
    ] = None,
    stature: Annotated[
        float | None,
        typer.Option("--height", metavar="M", help="The person's height: the recorded body is scaled to it."),
    ] = None,
    skeleton: Annotated[
        str | None,
        typer.Option(
            metavar="NAME|FILE",
            help="Names of the joints of an array: smpl, h36m, coco, ...",
            autocompletion=complete_marker_map,
        ),
    ] = None,
    body_model: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="Your SMPL, SMPL-H or SMPL-X model file, for joint places."),
    ] = None,
    fps: Annotated[
        float | None, typer.Option(metavar="HZ", help="Frames a second of a file that does not say it.")
    ] = None,
) -> ReadOptions:
    """Build the declarations about a recording from the options of a command."""
    from simbench.motion.read_options import ReadOptions

    return ReadOptions(
        unit,
        up,
        marker_map,
        longest_gap,
        strict=strict,
        estimate=estimate,
        scale=scale,
        stature=stature,
        skeleton=skeleton,
        body_model=None if body_model is None else str(body_model),
        fps=fps,
    )


def reads_recording(*left_out: str) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Give a command the options of `reading_options`, and their values as its argument `reading`.

    `*left_out`: parameters of `reading_options` that the command does not take, because it has options of
    these names. Returns decorator that makes, of a command with a keyword argument `reading`, the command for
    typer.
    """

    def decorate(command: Callable[..., Any]) -> Callable[..., Any]:
        return takes_options(reading_options, "reading", *left_out)(_hinting(command))

    return decorate


def _hinting(command: Callable[..., Any]) -> Callable[..., Any]:
    """Let the errors of a command say that a file looks like a robot's motion."""

    @wraps(command)
    def hinting(**values: Any) -> Any:
        try:
            return command(**values)
        except MotionError as error:
            # The reader of arrays says it itself.
            hint = "" if "of a robot" in str(error) else _robot_motion_hint(values)
            raise MotionError(f"{error}{hint}") from None

    return hinting


def _robot_motion_hint(values: Mapping[str, Any]) -> str:
    """Say that a file which could not be read as a recording looks like a robot's motion, if it does."""
    from simbench.motion.trajectory_files import is_robot_motion

    sources = [value for value in values.values() if isinstance(value, str)]
    if not any(is_robot_motion(Path(source)) for source in sources):
        return ""
    return "; it looks like a robot's motion: simbench convert reads it and says what it holds"
