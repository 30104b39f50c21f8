"""What a run looks like on a terminal: the table of metrics and the progress bars."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager

from rich.console import Console
from rich.progress import BarColumn, Progress, TaskID, TaskProgressColumn, TextColumn, TimeElapsedColumn
from rich.table import Table
from rich.text import Text

from simbench.runs.checks import Check, Metric
from simbench.runs.metric_format import format_value, unit_of

OnProgress = Callable[[str, int, int], None]


def metrics_table(metrics: Mapping[str, Metric], checks: Sequence[Check] = ()) -> Table:
    """Lay out metrics by group, with the unit that each name ends in and the check it is held to.

    Parameters
    ----------
    metrics : mapping of str to float, bool, str or None
        `group.name_unit` to value.
    checks : sequence of Check

    Returns
    -------
    rich.table.Table
    """
    outcome = {check.name: check for check in checks}
    names = sorted({*metrics, *outcome}, key=lambda name: ("." in name, name))
    table = Table("metric", "value", "unit", "check", box=None, pad_edge=False)
    table.columns[1].justify = "right"
    for column in table.columns:
        column.no_wrap = True
    group = None
    for name in names:
        head = name.rpartition(".")[0]
        if group is not None and head != group:
            table.add_row()
        group = head
        table.add_row(name, format_value(metrics.get(name)), unit_of(name), _check_text(outcome.get(name)))
    return table


def _check_text(check: Check | None) -> Text:
    if check is None:
        return Text("")
    mark, style = ("✓", "green") if check.passed else ("✗", "bold red")
    return Text(f"{mark} {check.bound}", style=style)


@contextmanager
def progress_bars(console: Console) -> Iterator[OnProgress]:
    """Show one bar a stage while the body runs, on a terminal; show nothing in a pipe.

    Parameters
    ----------
    console : rich.console.Console

    Yields
    ------
    callable (stage, done, total)
    """
    if not console.is_terminal:
        yield lambda stage, done, total: None
        return
    bars = Progress(
        TextColumn("{task.description:10}"),
        BarColumn(),
        TaskProgressColumn(),
        TimeElapsedColumn(),
        console=console,
    )
    stages: dict[str, TaskID] = {}

    def on_progress(stage: str, done: int, total: int) -> None:
        if stage not in stages:
            stages[stage] = bars.add_task(stage)
        bars.update(stages[stage], completed=done, total=total)

    with bars:
        yield on_progress
