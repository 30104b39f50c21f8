"""The option `--robot` of commands that take a scenario: short for one `--set`."""

import json
from collections.abc import Sequence
from typing import Annotated, Literal

import typer

from simbench.cli.completion import complete_robot

Robot = Annotated[
    str | None,
    typer.Option(
        metavar="ROBOT",
        help="Take another robot: a name (simbench robot list), URDF or robot.yaml; "
        "as --set robot.name=ROBOT does.",
        autocompletion=complete_robot,
    ),
]


Engine = Annotated[
    Literal["bullet", "mujoco"] | None,
    typer.Option(help="Physics engine, in place of the scenario's (simulation.engine)."),
]


def list_overrides(
    overrides: Sequence[str] | None, robot: str | None, engine: str | None = None
) -> list[str]:
    """List the values to override in a scenario.

    `overrides`: `key=value` texts of `--set`. Returns `key=value` texts in the order in which they apply:
    `--set` wins over `--robot` and `--engine`.
    """
    # JSON is YAML, in which a name such as `1.0` or `~` would be no text.
    named = [] if robot is None else [f"robot.name={json.dumps(robot, ensure_ascii=False)}"]
    named += [] if engine is None else [f"simulation.engine={engine}"]
    return [*named, *(overrides or ())]
