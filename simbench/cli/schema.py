"""The command line's `simbench schema`: parse, call, print."""

import json
from enum import Enum
from pathlib import Path
from typing import Annotated

import typer

from simbench.errors import ScenarioError
from simbench.resources import resource_dir


class SchemaKind(str, Enum):
    """Kinds of files that have a JSON Schema."""

    scenario = "scenario"
    robot = "robot"


def schema(
    kind: Annotated[SchemaKind, typer.Argument(help="File that the schema describes.")],
    plugins_of: Annotated[
        Path | None,
        typer.Option("--for", metavar="FILE.yaml", help="With the keys of the plug-ins that it names."),
    ] = None,
) -> None:
    """Print the JSON Schema of a scenario or a robot.yaml, for an editor."""
    if plugins_of is not None:
        print(_schema_for(kind, plugins_of))
        return
    # Written from the models by scripts/tools/write_schemas.py; a test compares them.
    path = resource_dir("schemas") / f"{kind.value}.json"
    print(path.read_text(encoding="utf-8"), end="")


def _schema_for(kind: SchemaKind, scenario: Path) -> str:
    """Write the schema of one scenario."""
    from simbench.runs.explain.schemas import scenario_schema_for
    from simbench.runs.scenario.loading import read_scenario_values

    if kind is not SchemaKind.scenario:
        raise ScenarioError("--for: is about a scenario; allowed: simbench schema scenario --for FILE.yaml")
    return json.dumps(scenario_schema_for(read_scenario_values(scenario)), indent=1, ensure_ascii=False)
