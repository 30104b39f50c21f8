"""The command line's `simbench list`: tables that fit a terminal; in a pipe a line an entry, name first."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import Annotated, Literal, NamedTuple, get_args

from simbench.cli.console import is_terminal, make_console
from simbench.cli.shared_options import argument

_INDENT = 4  # Columns before the description of an entry.
_BETWEEN = 2  # Columns between those of a table.
_LEAST_WIDTH = 20  # Columns that a description has at least, whatever the width of the terminal.

# Kinds of things that `simbench list` lists.
Kind = Literal["robots", "scenarios", "tasks", "motions", "plugins"]


class Listing(NamedTuple):
    """A table of named things, a description below each."""

    headings: tuple[str, ...]  # Heading of each column, `name` first.
    rows: Sequence[tuple[str, ...]]  # Cells of each entry.
    descriptions: Sequence[str]  # What is said of each entry below its cells; empty for nothing.


def list_(kind: Annotated[Kind | None, argument("All kinds if omitted.")] = None) -> None:
    """List what is available."""
    table = is_terminal()
    for number, shown in enumerate(get_args(Kind) if kind is None else (kind,)):
        if table:
            if number:
                print()
            print_listing(make_listing(shown))
            continue
        if kind is None:
            print(f"{shown}:")
        for line in plain_lines(shown):
            print(line if kind else f"  {line}")


def plain_lines(kind: Kind) -> list[str]:
    """List one kind of things for a pipe. Returns A line for each, its name first."""
    if kind == "robots":
        return _robot_names()
    listing = make_listing(kind)
    # Scenarios have kept this width since scripts read them.
    width = 16 if kind == "scenarios" else max((len(row[0]) for row in listing.rows), default=0) + 1
    described = zip(listing.rows, listing.descriptions, strict=True)
    return [f"{row[0]:{width}} {description}".rstrip() for row, description in described]


def make_listing(kind: Kind) -> Listing:
    """List one kind of things with what is known of each, without planning or simulating.

    Robots have their base, scenarios robot, kind, planned duration and summary; installed plug-ins are not
    imported. Returns the table.
    """
    if kind == "robots":
        from simbench.robot.packages import shipped_robots
        from simbench.runs.scenario.scenario_files import has_fixed_base

        names, shipped = _robot_names(), shipped_robots()
        bases = [
            "–" if name not in shipped else "fixed" if has_fixed_base(name) else "free" for name in names
        ]
        rows: list[tuple[str, ...]] = list(zip(names, bases, strict=True))
        return Listing(("robot", "base"), rows, [_missing_package(name) for name in names])
    if kind == "scenarios":
        from simbench.runs.scenario.scenario_files import list_scenarios, summarise_scenario

        rows, described = [], []
        for name in list_scenarios():
            robot, motion, duration, summary = summarise_scenario(name)
            rows.append((name, robot, motion, "–" if duration is None else f"{duration:.1f} s"))
            described.append(f"{summary} {_missing_package(robot)}".rstrip())
        return Listing(("scenario", "robot", "kind", "duration"), rows, described)
    if kind == "plugins":
        from simbench.plugins.entry_points import GROUPS, find_entry_points

        points = [(group, point) for group in GROUPS for point in find_entry_points(group).values()]
        rows = [
            (point.name, f"simbench.{group}", point.dist.name if point.dist else "–", point.value)
            for group, point in points
        ]
        described = [f"for {GROUPS[group].key}" for group, _ in points]
        return Listing(("plug-in", "group", "package", "code"), rows, described)
    from simbench.motion.shipped import list_motion_sources, list_tasks

    if kind == "tasks":
        names = list_tasks()
        return Listing(("task",), [(name,) for name in names], [""] * len(names))
    sources = {
        **list_motion_sources(),
        "joints:sweep": "no recording: a robot with a fixed base swings its joints",
    }
    return Listing(("motion",), [(name,) for name in sources], list(sources.values()))


def _robot_names() -> list[str]:
    """List the robots that ship with simbench, and those of plug-ins."""
    from simbench.robot.packages import find_plug_ins, shipped_robots

    return sorted({*shipped_robots(), *find_plug_ins()})


@lru_cache
def _missing_package(robot: str) -> str:
    """Say in brackets what a robot needs that is not installed."""
    from simbench.robot.packages import describe_missing_package, needed_package

    package = needed_package(robot)
    return f"({describe_missing_package(package)})" if package else ""


def print_listing(listing: Listing) -> None:
    """Print a table for a terminal: lines that fit its width, and in which no word is broken."""
    console = make_console()
    for text, style in listing_lines(listing, console.width):
        # A name that is wider than the terminal goes on in its next line.
        console.print(text, style=style, highlight=False, soft_wrap=True)


def listing_lines(listing: Listing, width: int) -> list[tuple[str, str]]:
    """Lay out a table for a terminal.

    A name that is too long for its column has a line of its own. Descriptions are broken between words.
    `width`: width of the terminal, characters. Returns each line with its style for `rich`.
    """
    import textwrap

    cells = [listing.headings, *listing.rows]
    name_width, *others = (max(len(row[column]) for row in cells) for column in range(len(cells[0])))
    beside = sum(others) + _BETWEEN * len(others)
    name_width = min(name_width, max(width - beside, _LEAST_WIDTH))

    def columns(row: tuple[str, ...]) -> list[str]:
        name, *rest = row
        padded = "".join(f"{'':{_BETWEEN}}{cell:{wide}}" for cell, wide in zip(rest, others, strict=True))
        if len(name) > name_width and rest:
            return [name, f"{'':{name_width}}{padded}".rstrip()]
        return [f"{name:{name_width}}{padded}".rstrip()]

    indent = " " * _INDENT
    wrapper = textwrap.TextWrapper(max(width, _INDENT + _LEAST_WIDTH), indent, indent)
    wrapper.break_long_words = wrapper.break_on_hyphens = False
    lines = [(line, "bold") for line in columns(listing.headings)]
    for row, description in zip(listing.rows, listing.descriptions, strict=True):
        lines += [(line, "") for line in columns(row)]
        lines += [(line, "dim") for line in wrapper.wrap(description)]
    return lines
