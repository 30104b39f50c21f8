"""The option `--robot` of commands that take a scenario: short for one `--set`."""

import json
from collections.abc import Sequence
from typing import Annotated

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


def list_overrides(overrides: Sequence[str] | None, robot: str | None) -> list[str]:
    """List the values to override in a scenario.

    Parameters
    ----------
    overrides : sequence of str or None
        `key=value` texts of `--set`.
    robot : str or None
        Value of `--robot`.

    Returns
    -------
    list of str
        `key=value` texts in the order in which they apply: `--set` wins over `--robot`.
    """
    # JSON is YAML, in which a name such as `1.0` or `~` would be no text.
    named = [] if robot is None else [f"robot.name={json.dumps(robot, ensure_ascii=False)}"]
    return [*named, *(overrides or ())]
