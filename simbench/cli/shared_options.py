"""Options that several commands share, declared once as the parameters of a function."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any

_TYPES_AT_RUN_TIME = {"ReadOptions": object, "TrajectoryOptions": object}
"""Types of the annotations of commands that are imported only for the type checker."""


def takes_options(
    declare: Callable[..., Any], keyword: str, *left_out: str
) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Give a command the options of a function, and what the function returns for them as an argument.

    `declare`: function whose parameters are options of typer; `keyword`: name of the command's keyword
    argument that gets what `declare` returns; `*left_out`: parameters of `declare` that the command does not
    take, because it has options of these names. Returns decorator that makes, of a command with that keyword
    argument, the command for typer.
    """

    def decorate(command: Callable[..., Any]) -> Callable[..., Any]:
        # typer reads the signature: the annotations, which are texts, are evaluated where they were written.
        own = inspect.signature(command, eval_str=True, locals=_TYPES_AT_RUN_TIME)
        shared = inspect.signature(declare, eval_str=True, locals=_TYPES_AT_RUN_TIME).parameters
        # By keyword only, so that a command can take the options of several functions.
        added = [
            parameter.replace(kind=inspect.Parameter.KEYWORD_ONLY)
            for name, parameter in shared.items()
            if name not in left_out
        ]
        parameters: list[inspect.Parameter] = []
        for name, parameter in own.parameters.items():
            parameters += added if name == keyword else [parameter]

        def with_options(**values: Any) -> Any:
            declared = declare(**{each.name: values.pop(each.name) for each in added})
            return command(**values, **{keyword: declared})

        with_options.__name__, with_options.__doc__ = command.__name__, command.__doc__
        with_options.__module__ = command.__module__
        with_options.__signature__ = own.replace(parameters=parameters)  # type: ignore[attr-defined]
        with_options.__annotations__ = {each.name: each.annotation for each in parameters}
        return with_options

    return decorate
