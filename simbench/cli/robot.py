"""The command line's `simbench robot`: parse, call, print."""

from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console

from simbench.errors import RunError

robot_app = typer.Typer(help="Look at a robot: its numbers, and what it looks like.")


@robot_app.command("inspect")
def inspect_(
    robot: Annotated[str, typer.Argument(metavar="PATH", help="A URDF, a robot.yaml, or a robot's name.")],
) -> None:
    """Show joints, links and everything doubtful; exit status 1 if it cannot be simulated."""
    from simbench.display_robot import doubt_lines, joint_table, link_table, summary_lines, tree_table
    from simbench.robot.inspection.inspection import inspect

    inspection = inspect(robot)
    for line in summary_lines(inspection):
        print(line)
    console = Console(markup=False, emoji=False)
    for table in (joint_table(inspection), tree_table(inspection), link_table(inspection)):
        print()
        console.print(table)
    print()
    for line in doubt_lines(inspection):
        print(line)
    raise typer.Exit(1 if inspection.refusals else 0)


@robot_app.command("render")
def render(
    robot: Annotated[str, typer.Argument(metavar="NAME", help="A robot's name, or path of a robot.yaml.")],
    out: Annotated[
        Path | None, typer.Option(metavar="FILE", help="By default NAME.png in the current directory.")
    ] = None,
) -> None:
    """Draw a robot from the front and from the side, at zero and in a natural posture."""
    if out is not None and (out.is_dir() or not out.parent.is_dir()):
        raise RunError(f"{out}: must be a file in a directory that exists")
    from simbench.robot.robot import load_robot
    from simbench.sim.rendering.portrait import draw_portrait

    loaded = load_robot(robot)
    path = out or Path(f"{loaded.name}.png")
    renderer = draw_portrait(loaded, path)
    print(f"picture  {path}  (drawn by {renderer})")
