"""The command line's `simbench samples`: parse, call, print."""

from pathlib import Path
from typing import Annotated

import typer

from simbench.resources import copy_resources


def samples(
    folder: Annotated[Path, typer.Argument(metavar="DIR", help="Where they go; created if it is missing.")],
    force: Annotated[bool, typer.Option("--force", help="Replace files there that differ.")] = False,
) -> None:
    """Write sample files: recordings, calibration data, an arm's URDF, a scenario; see their README.md."""
    for path in copy_resources("samples", folder, force):
        print(f"sample  {path}")
