"""The command line's `simbench verdict`: parse, call, print."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from typer import Option

from simbench.cli.completion import complete_robot
from simbench.cli.console import make_console, number_table, progress_bars
from simbench.cli.shared_options import argument, option, output, reads_trajectory
from simbench.errors import RunError
from simbench.runs.run_directory import require_new_directory

if TYPE_CHECKING:
    from simbench.motion.trajectory_files.stored_motion import TrajectoryOptions

_MARKS = {"pass": ("✓", "green"), "fail": ("✗", "bold red"), "not applicable": ("–", "dim")}


@reads_trajectory()
def verdict(
    file: Annotated[Path, argument("The robot's motion: joints and base over time.", "FILE")],
    robot: Annotated[
        str, option("Name (simbench robot list), or path of a robot.yaml or a URDF.", "ROBOT", complete_robot)
    ],
    no_run: Annotated[bool, Option("--no-run", help="Without the simulated run.")] = False,
    floor: Annotated[float, option("Height of the floor in the file's world.", "M")] = 0.0,
    as_json: Annotated[
        Path | None, output("Also write JSON; - for the output alone.", "FILE|-", name="--json")
    ] = None,
    picture: Annotated[Path | None, output("Draw every check over time.", "FILE.png")] = None,
    out: Annotated[Path | None, output("Keep the simulated run here.", "DIR")] = None,
    *,
    declared: TrajectoryOptions,
) -> None:
    """Say whether a robot's motion is physically possible; exit status 1 if a check fails."""
    from rich.text import Text

    only_json = as_json == Path("-")
    if no_run and out is not None:
        raise RunError("--out keeps the simulated run, which --no-run leaves out; give one of them")
    require_new_directory(out)
    with progress_bars(make_console(stderr=True)) as on_progress:
        from simbench.runs.verdict.file_verdict import judge_file

        judged = judge_file(
            file, robot, declared, floor=floor, simulate=not no_run, folder=out, on_progress=on_progress
        )
    if picture is not None:
        from simbench.runs.verdict.verdict_plot import draw_verdict

        draw_verdict(judged, picture)
    text = json.dumps(judged.as_dict(), indent=2, ensure_ascii=False)
    if as_json is not None and not only_json:
        from simbench.files.storage import write_whole

        write_whole(as_json, text + "\n")
    if only_json:
        print(text)
    else:
        rows: list[tuple[str | Text, ...]] = []
        for check in judged.checks:
            numbers = (check.value, check.limit)
            worst, limit = ("" if each is None else f"{each + 0.0:.3g}" for each in numbers)
            moments = (check.worst, check.first)
            times = ["" if each is None else f"{each.time:.2f} s, frame {each.frame}" for each in moments]
            where = "; ".join(filter(None, (check.where, check.reason)))
            rows.append((check.name, Text(*_MARKS[check.outcome]), worst, limit, check.unit, *times, where))
        heads = ("check", "", "worst", "limit", "unit", "when", "first fails", "where")
        table = number_table(*heads, rows=rows, left=(1, 4, 7))
        table.columns[7].no_wrap = False
        make_console(wide=True).print(table)
        print()
        for line in judged.notes:
            print(f"note: {line}")
        for line in judged.doubts:
            print(f"doubt: {line}")
        for kind, written in (("run", out), ("json", as_json), ("picture", picture)):
            if written is not None:
                print(f"{kind}  {written}")
        print(judged.summary)
    sys.stdout.flush()
    raise typer.Exit(0 if judged.passed else 1)
