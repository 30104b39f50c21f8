"""The command line's `simbench robot`: parse, call, print."""

from __future__ import annotations

import json
import math
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from typer import Option

from simbench.cli.completion import complete_robot
from simbench.cli.console import make_console, progress_bars
from simbench.cli.shared_options import argument, example, option, output
from simbench.errors import RobotError
from simbench.robot.sides import SIDES

if TYPE_CHECKING:
    from rich.table import Table

    from simbench.robot.robot_inspection import RobotInspection
    from simbench.runs.robot_check.findings import RobotCheck

_MARKS = {"yes": "✓", "marginal": "~", "no": "✗"}
_AXES = {"1 0 0": "x", "0 1 0": "y", "0 0 1": "z", "-1 0 0": "-x", "0 -1 0": "-y", "0 0 -1": "-z"}

_FILES = "a URDF, xacro or MJCF"
_Xacro = Annotated[
    list[str] | None,
    Option(
        "--xacro", metavar="NAME:=VALUE", help="An argument of the xacro file; may be given several times."
    ),
]

robot_app = typer.Typer(
    help="Look at a robot: its numbers, and what it looks like; or describe a new one.",
    epilog=example("simbench robot inspect mahru"),
)


@robot_app.command("check", epilog=example("simbench robot check mahru --no-simulate"))
def check(
    robot: Annotated[
        str, argument(f"A robot's name, a robot.yaml, its folder, {_FILES}.", "ROBOT", complete_robot)
    ],
    no_simulate: Annotated[bool, Option("--no-simulate", help="Without the short simulations.")] = False,
    as_json: Annotated[bool, Option("--json", help="Print JSON.")] = False,
) -> None:
    """Say by numbers whether a robot can stand, reach, step and track; exit status 1 if it cannot."""
    from simbench.runs.robot_check.abilities import check_robot

    with progress_bars(make_console(stderr=True)) as on_progress:
        checked = check_robot(robot, simulate=not no_simulate, on_progress=on_progress)
    if as_json:
        print(json.dumps(checked.as_dict(), indent=2, ensure_ascii=False))
    else:
        print(*check_lines(checked), sep="\n")
    raise typer.Exit(0 if checked.passed else 1)


@robot_app.command("inspect", epilog=example("simbench robot inspect mahru"))
def inspect_(
    robot: Annotated[str, argument(f"A robot's name, a robot.yaml, {_FILES}.", "PATH", complete_robot)],
    xacro: _Xacro = None,
) -> None:
    """Show joints, links and everything doubtful; exit status 1 if it cannot be simulated."""
    from simbench.robot.robot_inspection import RobotInspection

    inspection = RobotInspection(robot, _xacro_arguments(xacro))
    print(*summary_lines(inspection), sep="\n")
    console = make_console()
    for table in inspection_tables(inspection):
        print()
        console.print(table)
    print()
    print(*warning_lines(inspection), sep="\n")
    raise typer.Exit(1 if inspection.errors else 0)


@robot_app.command("render", epilog=example("simbench robot render puma560 --picture puma560.png"))
def render(
    robot: Annotated[
        str, argument(f"A robot's name, or path of a robot.yaml, {_FILES}.", "NAME", complete_robot)
    ],
    picture: Annotated[
        Path | None, output("By default NAME.png in the current directory.", "FILE.png")
    ] = None,
    fast: Annotated[bool, Option("--fast", help="Without shadows.")] = False,
    bones: Annotated[bool, Option("--bones", help="Draw over it the bones that imitate a person's.")] = False,
) -> None:
    """Draw a robot from the front and from the side, at zero and in a natural posture."""
    from simbench.robot.robot import load_robot
    from simbench.sim.rendering.portrait import draw_portrait

    loaded = load_robot(robot)
    path = picture or Path(f"{loaded.name}.png")
    renderer = draw_portrait(loaded, path, fast=fast, bones=bones)
    print(f"picture  {path}  (drawn by {renderer})")


@robot_app.command("scaffold", epilog=example("simbench robot scaffold my_robot.urdf --out my_robot"))
def scaffold(
    urdf: Annotated[str, argument(f"The robot: {_FILES}, a folder with one, or a name.", "FILE")],
    out: Annotated[
        Path | None, output("By default a folder named after the robot in the current directory.", "DIR")
    ] = None,
    force: Annotated[bool, Option("--force", help="Overwrite a robot.yaml that exists.")] = False,
    picture: Annotated[
        Path | None, output("Draw the robot with the bones that were found.", "FILE.png")
    ] = None,
    elbow: Annotated[list[str] | None, option("Joint that bends the arm.", "SIDE=JOINT")] = None,
    wrist: Annotated[list[str] | None, option("Joint at the wrist.", "SIDE=JOINT")] = None,
    hand: Annotated[
        list[str] | None, option("Joint that moves the hand as a whole; fingers follow it.", "SIDE=JOINT")
    ] = None,
    palm: Annotated[
        list[str] | None,
        option("Link whose frame is the palm's: x along the fingers, z out of the back.", "SIDE=LINK"),
    ] = None,
    sole: Annotated[
        list[str] | None, option("Link that is the sole: its shapes, or its frame, z upward.", "SIDE=LINK")
    ] = None,
    xacro: _Xacro = None,
    no_shapes: Annotated[
        bool, Option("--no-shapes", help="Make no collision shapes for bodies that have none.")
    ] = False,
) -> None:
    """Guess a robot.yaml from URDF, xacro or MJCF, and print each guess with its reason and confidence.

    What is known is given, such as --elbow left=joint3 --elbow right=joint10; what follows from it is guessed
    anew.
    """
    from simbench.robot.robot_sources import YAML_SUFFIXES, find_robot
    from simbench.robot.scaffold.limb_chains import Correction
    from simbench.robot.scaffold.scaffold import scaffold_robot
    from simbench.robot.scaffold.writing import write_scaffold

    file = find_robot(urdf).path
    if file.suffix in YAML_SUFFIXES:
        raise RobotError(f"{file}: describes the robot already; allowed: {_FILES}")
    known: dict[str, dict[str, str]] = {side: {} for side in SIDES}
    given = {"elbow": elbow, "wrist": wrist, "hand": hand, "palm": palm, "sole": sole}
    for key, texts in given.items():
        for text in texts or ():
            side, equals, name = text.partition("=")
            if side not in known or not equals or not name:
                raise RobotError(f"--{key} {text}: allowed: left=NAME or right=NAME")
            known[side][key] = name
    corrections = {side: Correction(**names) for side, names in known.items()}
    found = scaffold_robot(file, _xacro_arguments(xacro), corrections, make_shapes=not no_shapes)
    path = write_scaffold(found, out or Path(found.description.name), force=force)
    if picture is not None:
        from simbench.robot.robot import load_robot
        from simbench.sim.rendering.portrait import draw_portrait

        draw_portrait(load_robot(path), picture, bones=True)
    table = _table("key", "guess", "confidence", "reason")
    for column in table.columns:
        column.no_wrap, column.overflow = column.header == "confidence", "fold"
    for guess in found.guesses:
        table.add_row(guess.key, guess.value, guess.confidence, guess.reason)
    make_console().print(table)
    print()
    for line in found.missing:
        print(f"note  {line}")
    if picture is not None:
        print(f"picture  {picture}")
    print(f"robot  {path}")


@robot_app.command("list", epilog=example("simbench robot list panda"))
def list_(
    part: Annotated[
        str, argument("Only robots with this in their name; or a folder.", "[PART]", complete_robot)
    ] = "",
) -> None:
    """List all robots by where they are from, with what they are and the licence of their files."""
    from simbench.robot.packages import describe_missing_package
    from simbench.robot.robot_sources import list_models, list_robots

    if "/" in part and Path(part).is_dir():
        models = list_models(Path(part))
        if not models:
            raise RobotError(f"{part}: has no URDF, xacro or MJCF")
        print(*models, sep="\n")
        return
    shown = [entry for entry in list_robots() if part.lower() in entry.name.lower()]
    if not shown:
        raise RobotError(f"no robot has `{part}` in its name; simbench robot list prints all")
    headings = {"shipped": "shipped with simbench", "plug-in": "of plug-ins", "wheel": "of installed wheels"}
    widths = [max(len(entry[column]) for entry in shown) for column in (0, 2, 3)]
    origin = ""
    for entry in shown:
        if entry.origin != origin:
            origin = entry.origin
            print(f"{headings[origin]}:")
        cells = zip((entry.name, entry.kind, entry.license), widths, strict=True)
        missing = f" ({describe_missing_package(entry.missing)})" if entry.missing else ""
        columns = "  ".join(f"{cell:{width}}" for cell, width in cells)
        print(f"  {columns}  {entry.summary}{missing}".rstrip())


def _xacro_arguments(texts: list[str] | None) -> dict[str, str]:
    """Read options `--xacro NAME:=VALUE`."""
    arguments = {}
    for text in texts or ():
        name, mark, value = text.partition(":=")
        if not (name and mark):
            raise RobotError(f"--xacro {text}: allowed: NAME:=VALUE")
        arguments[name] = value
    return arguments


def summary_lines(inspection: RobotInspection) -> Iterator[str]:
    """Describe a robot as a whole. `inspection`: what `inspect` found in the robot's description."""
    base = {True: "floating", False: "fixed", None: "not said"}[inspection.floating]
    yield f"robot               {inspection.name}"
    yield f"source              {inspection.source}"
    yield f"urdf                {inspection.urdf}"
    yield f"base                {base}"
    yield f"degrees of freedom  {inspection.degrees_of_freedom}{' + 6' if inspection.floating else ''}"
    yield f"mass                {_number(inspection.mass, '.6g')} kg"
    yield f"meshes              {inspection.meshes_found} found, {inspection.meshes_missing} missing"
    if inspection.pairs_derived:
        links = len({link for pair in inspection.collision_pairs for link in pair})
        yield f"self-collision      {len(inspection.collision_pairs)} pairs of {links} links, derived"
    elif inspection.collision_pairs:
        yield f"self-collision      {len(inspection.collision_pairs)} pairs, listed"


def inspection_tables(inspection: RobotInspection) -> Iterator[Table]:
    """Lay out the joints that move, with their limbs, how joints connect links, and the links' masses.

    `inspection`: what `inspect` found in the robot's description. Links have a line if they have a mass: with
    centre of gravity and principal moments of inertia.
    """
    from simbench.robot.robot_inspection import DEGREES_OF_FREEDOM, principal_moments

    table = _table("joint", "axis", "lower", "upper", "", "velocity", "effort", "group")
    for number in (2, 3, 5, 6):
        table.columns[number].justify = "right"
    limb = {joint: group for group, joints in inspection.groups.items() for joint in joints}
    for joint in inspection.joints:
        if joint.kind in DEGREES_OF_FREEDOM:
            axis = " ".join(_number(part + 0.0, ".2g") for part in joint.axis)
            limits = (joint.lower, joint.upper, joint.velocity, joint.effort)
            lower, upper, *dynamic = ("none" if each is None else _number(each, ".4g") for each in limits)
            unit = "m" if joint.kind == "prismatic" else "rad"
            group = limb.get(joint.name, "")
            table.add_row(joint.name, _AXES.get(axis, axis), lower, upper, unit, *dynamic, group)
    yield table
    table = _table("joint", "type", "parent", "child")
    for joint in inspection.joints:
        table.add_row(joint.name, joint.kind, joint.parent, joint.child)
    yield table
    table = _table("link", "mass kg", "x", "y", "z m", "I₁", "I₂", "I₃ kg·m²")
    table.collapse_padding = True
    for column in table.columns[1:]:
        column.justify = "right"
    for link in inspection.links.values():
        cog = (_number(round(value, 3) + 0.0, ".3f") for value in link.cog)
        moments = (_number(moment, ".3g") for moment in principal_moments(link).tolist())
        table.add_row(link.name, _number(link.mass, ".4g"), *cog, *moments)
    yield table


def warning_lines(inspection: RobotInspection) -> Iterator[str]:
    """List what prevents a robot from being simulated, and what else is doubtful.

    `inspection`: what `inspect` found in the robot's description. Yields A line, however long.
    """
    reasons = len(inspection.errors)
    if reasons:
        yield "cannot be simulated:"
        yield from (f"  {reason}" for reason in inspection.errors)
    doubts = inspection.warnings[reasons:]
    yield f"doubts: {len(doubts) or 'none'}"
    yield from (f"  {doubt}" for doubt in doubts)


def check_lines(checked: RobotCheck) -> Iterator[str]:
    """Say what was checked, what was looked at, what the robot can do, and why it cannot do the rest.

    Each finding has number and limit, and under them what the number is. `checked`: outcome of a check.
    """
    yield f"robot   {checked.robot}"
    yield f"source  {checked.source}"
    only = "" if "stand" in checked.expected else ": it does not stand on legs, and need not"
    yield f"kind    {checked.kind}{only}"
    yield from (f"bones   {line}" for line in checked.bones)
    yield ""
    width = max(len(f"{finding.ability}.{finding.name}") for finding in checked.findings)
    for finding in checked.findings:
        value = "" if finding.value is None else f"{finding.value:.3g}"
        name = f"{finding.ability}.{finding.name}"
        kind = "simulated: " if finding.simulated else ""
        yield f"{_MARKS[finding.verdict]} {name:{width}}  {value:8}  {finding.limit}".rstrip()
        yield f"    {kind}{finding.reason}"
    yield ""
    for note in checked.notes:
        yield f"note    {note}"
    for ability in checked.expected:
        why = checked.why(ability)
        yield f"{ability:8}{checked.verdicts[ability]}{f': {why}' if why else ''}"
        for offer in checked.offers:
            if offer.ability == ability:
                tried = "simulated" if offer.simulated else "planned"
                help_ = "what comes nearest" if offer.verdict == "no" else offer.verdict
                numbers = f": {offer.reason}" if offer.reason else ""
                yield f"        {help_} with {offer.change} ({tried}){numbers}"
                yield f"            {' '.join(f'--set {option}' for option in offer.options)}"


def _table(*headings: str) -> Table:
    """Build a table in which names may be broken and numbers may not."""
    from rich.table import Table

    table = Table(*headings, box=None, pad_edge=False)
    words = {"joint", "link", "parent", "child"}
    for column in table.columns:
        column.no_wrap = column.header not in words
        column.overflow = "fold"
    return table


def _number(value: float, style: str) -> str:
    """Write a number; `?` stands for one that the file does not hold, which the errors name."""
    return "?" if math.isnan(value) else format(value, style)
