"""The command line's `simbench schema`: parse, call, print."""

from enum import Enum
from typing import Annotated

import typer

from simbench.resources import resource_dir


class SchemaKind(str, Enum):
    """Kinds of files that have a JSON Schema."""

    scenario = "scenario"
    robot = "robot"


def schema(
    kind: Annotated[SchemaKind, typer.Argument(help="File that the schema describes.")],
) -> None:
    """Print the JSON Schema of a scenario or a robot.yaml, for an editor."""
    # Written from the models by scripts/tools/write_schemas.py; a test compares them.
    path = resource_dir("schemas") / f"{kind.value}.json"
    print(path.read_text(encoding="utf-8"), end="")
