"""The option `--picture`, and the names that it had before."""

from __future__ import annotations

import sys
from pathlib import Path

import typer

from simbench.errors import SimbenchError


def deprecated_option(name: str, instead: str = "--picture FILE") -> typer.models.OptionInfo:
    """Declare an option that still works under an old name, and that no help shows.

    `name`: the old name, such as `--plot`; `instead`: what stands for it now. Returns declaration for an
    annotation.
    """
    return typer.Option(name, metavar="FILE.png", hidden=True, help=f"Old name of {instead}.")


def renamed_picture(
    picture: Path | None,
    old: Path | None,
    name: str,
    error: type[SimbenchError],
    instead: str = "--picture FILE",
) -> Path | None:
    """Choose the file of a picture that may have been given under an old name.

    `picture`: value of the option under its name; `old`: value of the option under its old name; `error`:
    error to raise; `instead`: what stands for the old name now. Raises SimbenchError of the given type, if
    both are given.
    """
    if old is not None and picture is not None:
        raise error(f"{name} is the old name of {instead}: give one of them")
    return picture if old is None else old


def report_old_name(old: Path | None, name: str, instead: str = "--picture FILE") -> None:
    """Say on the standard error what stands for an old name, if it was used.

    A command says so when it has done its work: what ends it with an error is a single line. `old`: value of
    the option under its old name; `instead`: what stands for it now.
    """
    if old is not None:
        print(f"deprecated: {name} is {instead} now", file=sys.stderr)
