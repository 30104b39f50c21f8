"""The command line's `simbench robot check`: parse, call, print."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import TYPE_CHECKING, Annotated

import typer

from simbench.cli.completion import complete_robot

if TYPE_CHECKING:
    from simbench.runs.robot_check.findings import RobotCheck

_MARKS = {"yes": "✓", "marginal": "~", "no": "✗"}


def check(
    robot: Annotated[
        str,
        typer.Argument(
            metavar="ROBOT",
            help="A robot's name, a robot.yaml, its folder, or a URDF.",
            autocompletion=complete_robot,
        ),
    ],
    no_simulate: Annotated[
        bool, typer.Option("--no-simulate", help="Without the short simulations.")
    ] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> None:
    """Say by numbers whether a robot can stand, reach, step and track; exit status 1 if it cannot."""
    from simbench.cli.console import make_console, progress_bars
    from simbench.runs.robot_check.abilities import check_robot

    with progress_bars(make_console(stderr=True)) as on_progress:
        checked = check_robot(robot, simulate=not no_simulate, on_progress=on_progress)
    if as_json:
        print(json.dumps(checked.as_dict(), indent=2, ensure_ascii=False))
    else:
        for line in heading_lines(checked):
            print(line)
        print()
        for line in finding_lines(checked):
            print(line)
        print()
        for line in verdict_lines(checked):
            print(line)
    raise typer.Exit(0 if checked.passed else 1)


def heading_lines(checked: RobotCheck) -> Iterator[str]:
    """Say what was checked. `checked`: outcome of a check."""
    yield f"robot   {checked.robot}"
    yield f"source  {checked.source}"
    only = "" if "stand" in checked.expected else ": it does not stand on legs, and need not"
    yield f"kind    {checked.kind}{only}"
    yield from (f"bones   {line}" for line in checked.bones)


def finding_lines(checked: RobotCheck) -> Iterator[str]:
    """Write what was looked at: number and limit, and under them what the number is.

    `checked`: outcome of a check.
    """
    width = max(len(f"{finding.ability}.{finding.name}") for finding in checked.findings)
    for finding in checked.findings:
        value = "" if finding.value is None else f"{finding.value:.3g}"
        name = f"{finding.ability}.{finding.name}"
        kind = "simulated: " if finding.simulated else ""
        yield f"{_MARKS[finding.verdict]} {name:{width}}  {value:8}  {finding.limit}".rstrip()
        yield f"    {kind}{finding.reason}"


def verdict_lines(checked: RobotCheck) -> Iterator[str]:
    """Say what the robot can do, with the reason for what it cannot. `checked`: outcome of a check."""
    for note in checked.notes:
        yield f"note    {note}"
    for ability in checked.expected:
        why = checked.why(ability)
        yield f"{ability:8}{checked.verdicts[ability]}{f': {why}' if why else ''}"
