"""The command line's `simbench schema`: parse, call, print."""

from enum import Enum
from typing import Annotated

import typer


class SchemaKind(str, Enum):
    """Kinds of files that have a JSON Schema."""

    scenario = "scenario"
    robot = "robot"


def schema(
    kind: Annotated[SchemaKind, typer.Argument(help="File that the schema describes.")],
) -> None:
    """Print the JSON Schema of a scenario or a robot.yaml, for an editor."""
    from simbench.runs.explain.json_schema import schema_text

    print(schema_text(kind.value), end="")
