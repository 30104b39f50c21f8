"""Options that several commands share, declared once, and the examples at the end of every `--help`."""

from __future__ import annotations

import errno
import inspect
import json
import os
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

from typer import Argument, CallbackParam, Context, Option

from simbench.cli import completion
from simbench.errors import MotionError, RunError
from simbench.files.storage import typed_output

if TYPE_CHECKING:
    from simbench.motion.read_options import ReadOptions
    from simbench.motion.trajectory_files.stored_motion import TrajectoryOptions

_Complete = Callable[[str], list[str]]  # Lists the words that complete what has been typed.


def argument(help: str, metavar: str | None = None, complete: _Complete | None = None) -> Any:
    """Declare an argument of a command in an annotation."""
    return Argument(help=help, metavar=metavar, autocompletion=complete)


def option(
    help: str,
    metavar: str | None = None,
    complete: _Complete | None = None,
    *,
    name: str | None = None,
    min: int | None = None,
    max: int | None = None,
) -> Any:
    """Declare an option of a command in an annotation; its name is that of the parameter unless given."""
    names = () if name is None else (name,)
    return Option(*names, help=help, metavar=metavar, autocompletion=complete, min=min, max=max)


_LONGEST_NAME = 255  # Bytes of a name that file systems allow.


def output(help: str, metavar: str = "FILE", *, name: str | None = None, positional: bool = False) -> Any:
    """Declare a file or, with the metavar `DIR`, a directory to write, in an annotation."""
    names = () if name is None else (name,)
    kind = Argument if positional else Option
    return kind(*names, help=help, metavar=metavar, callback=_check_output)


def _check_output(context: Context, parameter: CallbackParam, path: Path | None) -> Path | None:
    """Resolve an output that was typed, and refuse what cannot be written; a default stays as it is."""
    source, wanted = context.get_parameter_source(parameter.name or ""), parameter.metavar or ""
    if path is None or source is None or source.name != "COMMANDLINE":
        return path
    path, suffix = typed_output(path), Path(wanted).suffix
    # What has to exist already, or the nearest of what does.
    places = (path, *path.parents) if wanted == "DIR" else (path.parent,)
    place = next((each for each in places if os.path.lexists(each)), path)
    is_new_file = path.name not in ("", "..") and (path.is_file() or not os.path.exists(path))
    if os.path.realpath(path) == os.path.sep:
        wrong = "is the root of all directories; allowed: a name in one of them"
    elif len(os.fsencode(path.name)) > _LONGEST_NAME:
        wrong = f"the name is longer than {_LONGEST_NAME} bytes"
    elif wanted != "DIR" and not (is_new_file and place.is_dir()):
        wrong = "must be a file in a directory that exists"
    elif suffix and path.suffix.lower() != suffix:
        wrong = f"the file's name must end in {suffix}"
    elif not place.is_dir():
        wrong = "must be a directory" if place == path else f"{place} is no directory"
    elif not os.access(place, os.W_OK | os.X_OK):
        wrong = f"cannot be written: {os.strerror(errno.EACCES)}"
    else:
        return path
    raise RunError(f"{path}: {wrong}")


# Types of the annotations of commands that are imported only for the type checker.
_TYPES_AT_RUN_TIME = {"ReadOptions": object, "TrajectoryOptions": object}

Source = Annotated[
    str, argument("actor:TASK, deepmimic:CLIP, sample:NAME, or a file.", complete=completion.complete_motion)
]
Robot = Annotated[
    str | None,
    option(
        "Take another robot: a name (simbench robot list), URDF or robot.yaml; "
        "as --set robot.name=ROBOT does.",
        "ROBOT",
        completion.complete_robot,
    ),
]
Engine = Annotated[
    Literal["bullet", "mujoco"] | None,
    option("Physics engine, in place of the scenario's (simulation.engine)."),
]
Jobs = Annotated[int | None, option("Runs at a time, by default one a core.", "N", min=1)]
NoCache = Annotated[bool, Option("--no-cache", help="Plan anew, and keep no plan; the results are the same.")]
Fast = Annotated[bool, Option("--fast", help="A preview: 640 pixels wide, 15 frames a second, no shadows.")]

# Not from the writers, which import Pinocchio: `--help` need not wait for it. A test compares them.
FORMATS = "csv, unitree, gmr, npz, nc"
Format = Annotated[
    str | None,
    option(
        f"Format, by default of the file's suffix: {FORMATS}.",
        "NAME",
        completion.complete_words(*FORMATS.split(", ")),
        name="--format",
    ),
]
Rate = Annotated[float | None, option("Samples a second of the file, by default as they are.", "HZ")]


def set_option(
    help: str, metavar: str = "KEY=VALUE", autocompletion: Any = completion.complete_scenario_key
) -> Any:
    """Declare `--set` for an annotation. `help`: what it overrides."""
    return option(help, metavar, autocompletion, name="--set")


def list_overrides(
    overrides: Sequence[str] | None, robot: str | None, engine: str | None = None
) -> list[str]:
    """List the values to override in a scenario.

    `overrides`: `key=value` texts of `--set`. Returns `key=value` texts in the order in which they apply:
    `--set` wins over `--robot` and `--engine`.
    """
    # JSON is YAML, in which a name such as `1.0` or `~` would be no text.
    named = [] if robot is None else [f"robot.name={json.dumps(robot, ensure_ascii=False)}"]
    named += [] if engine is None else [f"simulation.engine={engine}"]
    return [*named, *(overrides or ())]


def example(*commands: str) -> str:
    """Write what a command's help ends with.

    `*commands`: command lines that can be typed as they are. Returns text whose lines the help leaves as they
    are.
    """
    noun = "Example" if len(commands) == 1 else "Examples"
    # The first line keeps the parser from filling the paragraph.
    return "\n".join(["\b", f"{noun}:", *(f"  {command}" for command in commands)])


def read_examples(text: str | None) -> list[str]:
    """Read the command lines of what `example` has written.

    `text`: what a command's help ends with; None for nothing.
    """
    lines = (text or "").splitlines()
    return [line.strip() for line in lines if line.startswith("  ")]


def reading_options(
    unit: Annotated[
        str | None,
        option(
            "The file's unit of length: m, cm, mm, in, cmu.",
            complete=completion.complete_words("m", "cm", "mm", "in", "cmu"),
        ),
    ] = None,
    up: Annotated[
        str | None,
        option(
            "The file's vertical axis: x, y, z, -x, -y, -z.",
            complete=completion.complete_words("x", "y", "z", "-x", "-y", "-z"),
        ),
    ] = None,
    marker_map: Annotated[
        str | None,
        option(
            "Marker map, by default the one that fits.",
            "NAME|FILE",
            completion.complete_marker_map,
            name="--map",
        ),
    ] = None,
    longest_gap: Annotated[
        float, option("Longest gap in a marker's track that is interpolated.", "SECONDS")
    ] = 0.2,
    strict: Annotated[
        bool, Option("--strict", help="Refuse what would have to be assumed about the file.")
    ] = False,
    estimate: Annotated[
        bool, Option("--estimate", help="Estimate an elbow or a wrist that was not recorded.")
    ] = False,
    scale: Annotated[float | None, option("Scale the recorded body by this factor.", "FACTOR")] = None,
    stature: Annotated[
        float | None, option("The person's height: the recorded body is scaled to it.", "M", name="--height")
    ] = None,
    skeleton: Annotated[
        str | None,
        option(
            "Names of the joints of an array: smpl, h36m, coco, ...",
            "NAME|FILE",
            completion.complete_marker_map,
        ),
    ] = None,
    body_model: Annotated[
        Path | None, option("Your SMPL, SMPL-H, SMPL-X or OpenSim model file, for joint places.", "FILE")
    ] = None,
    fps: Annotated[float | None, option("Frames a second of a file that does not say it.", "HZ")] = None,
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


def trajectory_options(
    joint_order: Annotated[
        Path | None, option("Names of the file's joint columns: one a line, or a YAML list.", "FILE")
    ] = None,
    quaternion: Annotated[
        str | None,
        option(
            "Order of the parts of the base's quaternion.",
            "xyzw|wxyz",
            completion.complete_words("xyzw", "wxyz"),
        ),
    ] = None,
    fps: Annotated[float | None, option("Samples a second of a file that does not say it.", "HZ")] = None,
    format: Annotated[str | None, option("Format, by default found out.", "NAME", name="--format")] = None,
) -> TrajectoryOptions:
    """Build the declarations about a robot's motion from the options of a command."""
    from simbench.motion.trajectory_files.stored_motion import TrajectoryOptions

    order = None if joint_order is None else str(joint_order)
    return TrajectoryOptions(joint_order=order, quaternion=quaternion, fps=fps, format=format)


def reads_recording(*left_out: str) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Give a command the options of `reading_options`, and their values as its argument `reading`.

    Its errors say that a file looks like a robot's motion. `*left_out`: parameters that the command does not
    take, because it has options of these names. Returns decorator that makes, of a command with a keyword
    argument `reading`, the command for typer.
    """
    return takes_options(reading_options, "reading", *left_out)


def reads_trajectory(*left_out: str) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Give a command the options of `trajectory_options`, and their values as its argument `declared`.

    `*left_out`: as of `reads_recording`. Returns decorator that makes, of a command with a keyword argument
    `declared`, the command for typer.
    """
    return takes_options(trajectory_options, "declared", *left_out)


def takes_options(
    declare: Callable[..., Any], keyword: str, *left_out: str
) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Give a command the options of a function, and what the function returns for them as an argument.

    `declare`: function whose parameters are options of typer; `keyword`: name of the command's keyword
    argument that gets what `declare` returns; `*left_out`: parameters of `declare` that the command does not
    take. Returns decorator that makes, of a command with that keyword argument, the command for typer.
    """

    def decorate(command: Callable[..., Any]) -> Callable[..., Any]:
        # typer reads the signature: the annotations, which are texts, are evaluated where they were written.
        own = inspect.signature(command, eval_str=True, locals=_TYPES_AT_RUN_TIME)
        shared = inspect.signature(declare, eval_str=True, locals=_TYPES_AT_RUN_TIME).parameters
        added = [
            each.replace(kind=inspect.Parameter.KEYWORD_ONLY)
            for name, each in shared.items()
            if name not in left_out
        ]
        kept = [each for name, each in own.parameters.items() if name != keyword]

        def with_options(**values: Any) -> Any:
            declared = declare(**{each.name: values.pop(each.name) for each in added})
            try:
                return command(**values, **{keyword: declared})
            except MotionError as error:
                # The reader of arrays says it itself.
                if keyword != "reading" or "of a robot" in str(error):
                    raise
                from simbench.motion.trajectory_files import is_robot_motion

                sources = [Path(value) for value in values.values() if isinstance(value, str)]
                hint = "; it looks like a robot's motion: simbench convert reads it and says what it holds"
                raise MotionError(f"{error}{hint if any(map(is_robot_motion, sources)) else ''}") from None

        with_options.__name__, with_options.__doc__ = command.__name__, command.__doc__
        with_options.__module__ = command.__module__
        with_options.__signature__ = own.replace(parameters=[*kept, *added])  # type: ignore[attr-defined]
        with_options.__annotations__ = {each.name: each.annotation for each in (*kept, *added)}
        return with_options

    return decorate
