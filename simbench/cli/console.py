"""What commands share: the table of metrics, progress bars, consoles, and checks of output files.

rich is imported where it is used: `--help` need not wait for it.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TextIO

from simbench.files.text import printable
from simbench.runs.metric_catalogue import format_value, unit_of
from simbench.system.progress import OnProgress, stage_text, ticking

if TYPE_CHECKING:
    from rich.console import Console, ConsoleOptions, RenderableType
    from rich.progress import TaskID
    from rich.segment import Segment
    from rich.table import Table
    from rich.text import Text

    from simbench.runs.baseline import Check
    from simbench.runs.metric_catalogue import Metric

_PIPE_WIDTH = 200  # Columns of tables that go into a pipe or a file.


@dataclass(eq=False)
class GuardedStream:
    """Standard output or error that escapes control characters, which only names from files can hold."""

    stream: TextIO  # Stream that gets the text.

    def __getattr__(self, name: str) -> Any:
        """Return whatever else the stream has."""
        return getattr(self.stream, name)

    def write(self, text: str) -> int:
        """Write a text; its control characters become escapes. Returns length of the given text."""
        self.stream.write(printable(text))
        return len(text)

    def writelines(self, lines: Iterable[str]) -> None:
        """Write texts one after another."""
        for line in lines:
            self.write(line)


def is_terminal(*, stderr: bool = False) -> bool:
    """Return whether a person reads the output, and not a program or a file.

    `stderr`: ask about the standard error instead of the standard output. Returns whether the stream is a
    terminal.
    """
    return (sys.stderr if stderr else sys.stdout).isatty()


def metrics_table(metrics: Mapping[str, Metric], checks: Sequence[Check] = ()) -> Table:
    """Lay out metrics by group, with their unit and the check on each.

    `metrics`: values by name, `group.name_unit`; `checks`: outcome of the scenario's checks. Returns table of
    metric, value, unit and check.
    """
    from rich.table import Table
    from rich.text import Text

    outcome = {}
    for check in checks:
        mark, style = ("✓", "green") if check.passed else ("✗", "bold red")
        why = f" ({check.reason})" if check.reason else ""
        outcome[check.name] = Text(f"{mark} {check.bound}{why}", style=style)
    names = sorted({*metrics, *outcome}, key=lambda name: ("." in name, name))
    table = Table("metric", "value", "unit", "check", box=None, pad_edge=False)
    table.columns[1].justify = "right"
    for column in table.columns[1:3]:
        column.no_wrap = True
    # Of words, only a name that is wider than the terminal may be broken.
    table.columns[0].overflow = "fold"
    group = None
    for name in names:
        head = name.rpartition(".")[0]
        if group is not None and head != group:
            table.add_row()
        group = head
        table.add_row(name, format_value(metrics.get(name)), unit_of(name), outcome.get(name, Text()))
    return table


@contextmanager
def progress_bars(console: Console, *, transient: bool = False) -> Iterator[OnProgress]:
    """Show one bar for each stage while the body runs; in a pipe, plain lines.

    A bar shows how long its stage has taken and may still take. Compiling has a line of its own. A pipe gets
    a line for each stage that took a second, and one every five seconds. `console`: console of the standard
    error; `transient`: remove the bars when the body has ended, so that they take no lines from what follows.
    """
    if not console.is_terminal:
        with stage_text(console.file, in_place=False) as on_progress:
            yield on_progress
        return
    from rich import progress

    bars = progress.Progress(
        progress.TextColumn("{task.description:10}", markup=False),
        progress.BarColumn(),
        progress.TaskProgressColumn(),
        progress.TimeElapsedColumn(),
        progress.TimeRemainingColumn(),
        console=console,
        transient=transient,
    )
    stages: dict[str, TaskID] = {}

    def show_stage(stage: str, done: int, total: int) -> None:
        # Of a stage in one piece nobody knows how much is done: its bar moves to and fro.
        length = total if total > 1 or done >= total else None
        if stage not in stages:
            stages[stage] = bars.add_task(stage, total=length)
        bars.update(stages[stage], completed=done, total=length)

    compiling: list[TaskID] = []

    def show_compiling(text: str) -> None:
        if text and not compiling:
            compiling.append(bars.add_task(text, total=None))
        elif text:
            bars.update(compiling[0], description=text)
        elif compiling:
            bars.remove_task(compiling.pop())

    with bars, ticking(show_compiling):
        yield show_stage


def make_console(*, stderr: bool = False, wide: bool = False) -> Console:
    """Make a console that shows text as it is: markup is not interpreted, and control characters are escaped.

    `stderr`: write to the standard error instead of the standard output; `wide`: for tables of many columns,
    whose lines are not broken at 80 columns in a pipe. Returns console without markup and emoji.
    """
    from rich.console import Console

    class PlainConsole(Console):
        def render_str(self, text: str, **options: Any) -> Text:
            # It is measured as it will be shown.
            return super().render_str(printable(text), **options)

        def render(self, item: RenderableType, options: ConsoleOptions | None = None) -> Iterable[Segment]:
            for segment in super().render(item, options):
                yield segment if segment.control else segment._replace(text=printable(segment.text))

    stream = sys.stderr if stderr else sys.stdout
    raw = stream.stream if isinstance(stream, GuardedStream) else stream
    console = PlainConsole(file=raw, stderr=stderr, markup=False, emoji=False)
    if wide and not console.is_terminal:
        console.width = _PIPE_WIDTH
    return console


def number_table(
    *headings: str, rows: Iterable[Sequence[str | Text]] = (), left: Sequence[int] = ()
) -> Table:
    """Make a table of a name, which may be broken, and numbers, which may not.

    `*headings`: heading of each column; `rows`: cells of each row; `left`: numbers of the columns of texts
    beside the first.
    """
    from rich.table import Table

    table = Table(*headings, box=None, pad_edge=False)
    for number, column in enumerate(table.columns[1:], start=1):
        column.justify, column.no_wrap = "left" if number in left else "right", True
    table.columns[0].overflow = "fold"
    for cells in rows:
        table.add_row(*cells)
    return table
