"""The command line: parse, call, print.

What a command needs is imported when it is called, so that `--help` and errors in the arguments come at once.
"""

from __future__ import annotations

import errno
import io
import logging
import os
import signal
import sys
import warnings
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, nullcontext, suppress
from typing import Annotated, Any, TextIO

import typer

import simbench
from simbench.cli.calibrate import calibrate
from simbench.cli.check import check_scenarios
from simbench.cli.compare_engines import compare_engines
from simbench.cli.completion import whole_words
from simbench.cli.console import GuardedStream
from simbench.cli.convert import convert
from simbench.cli.explain import explain
from simbench.cli.html_pages import report, trend
from simbench.cli.installation import cache, samples, schema, warmup
from simbench.cli.listing import list_
from simbench.cli.motion import motion_app
from simbench.cli.place import place
from simbench.cli.replay import replay, video
from simbench.cli.retarget import retarget
from simbench.cli.robot_command import robot_app
from simbench.cli.run import run
from simbench.cli.shared_options import example
from simbench.cli.skills import skills
from simbench.cli.sweep import sweep
from simbench.cli.verdict import verdict
from simbench.errors import Interrupted, SimbenchError
from simbench.plugins.entry_points import ALLOWED
from simbench.system.portable import PORTABLE, choose_portable_kernels
from simbench.system.termination import describe_signal, orderly_termination

# typer exports one kind of usage error; this is the base of all of them.
_UsageError: type[Exception] = typer.BadParameter.__mro__[1]

_BAD_INPUT, _INTERRUPTED = 2, 130
BROKEN_PIPE = 141  # Exit status that a shell shows for a program that was ended by SIGPIPE, 128 + 13.
_OUTPUT_NAME = "standard output"  # Name of the file in errors of the standard output.
_VIDEO_QUALITIES = {"full": ("--video",), "preview": ("--video", "--fast")}

app = typer.Typer(
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
    epilog=example("simbench list scenarios", "simbench run drawer --video"),
)
app.add_typer(robot_app, name="robot")
app.add_typer(motion_app, name="motion")


@contextmanager
def guarded_streams() -> Iterator[None]:
    """Open the standard streams, and escape control characters in everything that the body prints.

    Streams that the caller closed are opened: the next file that is opened gets the lowest free descriptor, a
    log could become the standard error, and a library's messages would be written into it. Consoles from
    `make_console` write past the guard, because they move the cursor and set colours; they escape what they
    are given.
    """
    streams = sys.stdout, sys.stderr
    for number in range(3):
        try:
            os.fstat(number)
        except OSError:
            # The lowest free descriptor is this one.
            os.open(os.devnull, os.O_RDWR)
    if sys.stderr is None:
        sys.stderr = os.fdopen(2, "w", encoding="utf-8", closefd=False)
    # A test may capture the output.
    if sys.stdout is None or sys.stdout is sys.__stdout__:
        encoding = getattr(sys.stdout, "encoding", "utf-8")
        raw = io.BufferedWriter(_Output(1, "wb", closefd=False))
        sys.stdout = io.TextIOWrapper(raw, encoding, line_buffering=os.isatty(1))
    for stream in (sys.stdout, sys.stderr):
        # A terminal without Unicode shows `?` for `✓`.
        stream.reconfigure(errors="replace")  # type: ignore[union-attr]
    sys.stdout, sys.stderr = GuardedStream(sys.stdout), GuardedStream(sys.stderr)
    try:
        yield
    finally:
        sys.stdout, sys.stderr = streams


@guarded_streams()
def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line and return its exit status.

    `arguments`: arguments without the program's name; `sys.argv` if None. Returns 0 done and all checks hold,
    1 a check failed, 2 bad input (said in one line), 130 interrupted, 129 or 143 ended by SIGHUP or SIGTERM.
    """
    if arguments is None:
        # Before NumPy is imported: sums that threads split are rounded otherwise, and a plan at the recorded
        # tempo that takes many rounds then ends elsewhere.
        os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
        if os.environ.get(PORTABLE) != "0":
            # A baseline is to hold wherever it is checked, with whatever kernels others prefer.
            command = next((each for each in sys.argv[1:] if not each.startswith("-")), "")
            choose_portable_kernels(always=command == "check")
        # Processes that this one starts import nothing from the current directory: it may be a received run.
        os.environ["PYTHONSAFEPATH"] = "1"
        # Warnings are for who writes the program; who runs it gets errors, in one line.
        warnings.simplefilter("ignore")
        # Such as where matplotlib keeps its fonts.
        logging.disable(logging.WARNING)
    with orderly_termination() as signals:
        try:
            completing = os.environ.get("_SIMBENCH_COMPLETE") == "complete_bash"
            with whole_words() if completing else nullcontext():
                outcome = _call(arguments)
        except BaseException:
            # Compiled code that a signal interrupts may turn it into any other error.
            if not signals:
                raise
            outcome = _INTERRUPTED, ""
    status, message = outcome
    if status == _INTERRUPTED or (signals and status == _BAD_INPUT):
        number = signals[0] if signals else signal.SIGINT
        # Of an interrupted command the message says what it kept.
        kept = message if status == _INTERRUPTED else ""
        status, message = 128 + number, describe_signal(number) + kept
    return end_output(status, message)


def _call(arguments: Sequence[str] | None) -> tuple[int, str]:
    """Run a command, and turn its errors into one line; return the exit status and a line for the stderr."""
    output = sys.stdout
    try:
        arguments = spell_out_video_quality(sys.argv[1:] if arguments is None else arguments)
        status = app(arguments, prog_name="simbench", standalone_mode=False)
        # A full disk behind a redirection is noticed when the last text is written.
        sys.stdout.flush()
        return int(status or 0), ""
    except _UsageError as error:
        # Some versions of typer keep pydantic's own prefix.
        message = error.format_message().replace(": Value error, ", ": ")  # type: ignore[attr-defined]
    except SimbenchError as error:
        message = str(error)
    except OSError as error:
        if is_broken_pipe(error):
            return BROKEN_PIPE, ""
        # A library that cannot be loaded, as where memory is limited, has a text alone.
        reason = error.strerror or str(error)
        message = f"{error.filename}: {reason}" if error.filename else reason
        try:
            os.getcwd()
        except OSError:
            if not error.filename:
                message = "the current directory does not exist any more; change to one that does"
    except MemoryError:
        message = "not enough memory; raise the limit (ulimit -v), or ask for less"
    except ImportError as error:
        if isinstance(error, ModuleNotFoundError) and (error.name or "").startswith("simbench"):
            raise
        # A limit of memory or of open files, or a damaged installation.
        message = f"cannot load {error.name or 'a library'}: {error}"
    except SystemExit:
        # Of typer, which wraps the output when its reader has gone.
        if sys.stdout is output:
            raise
        sys.stdout = output
        return BROKEN_PIPE, ""
    except Interrupted as interruption:
        return _INTERRUPTED, f": {interruption}"
    except (KeyboardInterrupt, typer.Abort):
        return _INTERRUPTED, ""
    return _BAD_INPUT, "error: " + " ".join(message.split())


def spell_out_video_quality(arguments: Sequence[str]) -> list[str]:
    """Replace `--video=QUALITY`, an option with a value that may be left out, by options that have none.

    The parser would take what follows an option whose value may be left out, such as the scenario's name, for
    its value. `arguments`: arguments of the command line. Returns arguments with `--video` and `--fast`
    instead.
    """
    spelled: list[str] = []
    for position, argument in enumerate(arguments):
        if argument == "--":
            return [*spelled, *arguments[position:]]
        name, separator, quality = argument.partition("=")
        if name != "--video" or not separator:
            spelled.append(argument)
        elif quality in _VIDEO_QUALITIES:
            spelled += _VIDEO_QUALITIES[quality]
        else:
            raise SimbenchError(f"--video={quality}: allowed: {', '.join(_VIDEO_QUALITIES)}")
    return spelled


def _show_version(requested: bool) -> None:
    """Print the version and leave, for `--version`."""
    if requested:
        print(f"simbench {simbench.__version__}")
        raise typer.Exit


@app.callback(invoke_without_command=True)
def _top(
    context: typer.Context,
    version: Annotated[
        bool, typer.Option("--version", callback=_show_version, is_eager=True, help="Show the version.")
    ] = False,
    plugins: Annotated[
        bool | None,
        typer.Option(help="Run code of others that a received run names, too; or none that is named."),
    ] = None,
) -> None:
    """Turn recorded human motion into robot motion, and say in numbers whether it works."""
    if plugins is not None:
        # Workers inherit it.
        os.environ[ALLOWED] = str(int(plugins))
    if context.invoked_subcommand is None:
        print(context.get_help())


_COMMANDS: dict[Callable[..., None], str] = {
    list_: example("simbench list scenarios"),
    run: example(
        "simbench run drawer --video",
        "simbench run dance --robot mahru --set motion.speed=0.5 --out runs/slow",
    ),
    retarget: example(
        "simbench retarget actor:drawer --robot romeo --out drawer.csv --picture drawer.png",
        "simbench retarget deepmimic:humanoid3d_walk --robot mahru --physics steps --out walk.csv",
    ),
    convert: example("simbench convert runs/drawer drawer.npz --rate 50"),
    verdict: example("simbench verdict drawer.csv --robot romeo --picture verdict.png"),
    place: example("simbench place actor:valves --robot mahru"),
    check_scenarios: example(
        "simbench check drawer --history history.jsonl", "simbench check my_scenario.yaml --update"
    ),
    compare_engines: example("simbench compare-engines drawer mahru_walk --jobs 2"),
    trend: example("simbench trend history.jsonl --out trend.html"),
    sweep: example("simbench sweep drawer --vary fixtures.0.mass_kg=1,2,5 --jobs 2"),
    skills: example("simbench skills actor:knife:4 --picture knife.png"),
    calibrate: example(
        "simbench calibrate samples/motion1.csv samples/motion2.csv --model direct_drive_arm --kp 9.5"
    ),
    video: example("simbench video runs/drawer --speed 0.5 --start 3 --end 6 --out drawer.mp4"),
    replay: example("simbench replay runs/drawer --ghost --loop"),
    report: example("simbench report runs/drawer", "simbench report runs/a runs/b --out compared.html"),
    cache: example("simbench cache info"),
    warmup: example("simbench warmup drawer --jobs 2"),
    samples: example("simbench samples samples"),
    schema: example("simbench schema scenario"),
}
for _function, _epilog in _COMMANDS.items():
    app.command({check_scenarios: "check", list_: "list"}.get(_function), epilog=_epilog)(_function)
# A message may contain what looks like an option.
app.command(
    context_settings={"ignore_unknown_options": True}, epilog=example("simbench explain zmp.min_margin_m")
)(explain)


class _Output(io.FileIO):
    """The standard output; its errors say that they are its."""

    def write(self, data: Any) -> int:
        try:
            return super().write(data)
        except OSError as error:
            raise OSError(error.errno, error.strerror, _OUTPUT_NAME) from None


def is_broken_pipe(error: OSError) -> bool:
    """Return whether an error says that nobody reads the standard output any more.

    Returns false for the pipe to another program.
    """
    return error.errno == errno.EPIPE and error.filename == _OUTPUT_NAME


def end_output(status: int, message: str) -> int:
    """Write what the standard output still holds, then a message; leave nothing that Python could fail at.

    `status`: exit status of the command; `message`: line for the standard error; none if empty. Returns the
    same status; 2 if the output cannot be written, or `BROKEN_PIPE` if nobody reads it any more.
    """
    try:
        sys.stdout.flush()
    except OSError as error:
        _discard(sys.stdout)
        if is_broken_pipe(error):
            status = status or BROKEN_PIPE
        elif not message:
            status, message = 2, f"error: {error.filename or _OUTPUT_NAME}: {error.strerror}"
    try:
        if message:
            print(message, file=sys.stderr)
        sys.stderr.flush()
    except OSError:
        _discard(sys.stderr)
    return status


def _discard(stream: TextIO) -> None:
    """Lead a stream to nowhere, and what it still holds."""
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, stream.fileno())
    os.close(nowhere)
    with suppress(OSError):
        stream.flush()
