"""The command line's reference page, from the application that the command runs."""

import typing
from collections.abc import Iterator
from pathlib import Path
from types import NoneType, UnionType
from typing import Any, Literal

from markdown_text import code, escape_text, table, write_if_changed
from typer.main import get_command

from simbench.cli.main import app
from simbench.cli.shared_options import read_examples

_TYPES = {int: "N", float: "NUMBER", str: "TEXT", Path: "PATH"}
"""Placeholder for an option's value where the command names none."""


def command_page() -> str:
    """Write the reference of all commands.

    Returns
    -------
    str
        Markdown with a heading for each command, its arguments and its options.
    """
    root = get_command(app)
    commands = sorted(root.commands.items())  # type: ignore[attr-defined]
    return "".join(text for name, command in commands for text in _describe(f"simbench {name}", command))


def _describe(name: str, command: Any, level: int = 2) -> Iterator[str]:
    """Describe a command, then the commands that it groups."""
    yield f"{'#' * level} {name}\n\n"
    yield "".join(f"{escape_text(part)}\n\n" for part in (command.help or "").split("\n\n"))
    grouped = getattr(command, "commands", {})
    if not grouped:
        yield f"```text\n{_usage(name, command)}\n```\n\n"
    hints = typing.get_type_hints(command.callback, include_extras=False) if command.callback else {}
    shown = [each for each in command.params if not getattr(each, "hidden", False)]
    arguments = [each for each in shown if not _is_option(each)]
    options = [each for each in shown if _is_option(each)]
    if arguments:
        rows = [(code(_argument(each)), _explain(each, hints)) for each in arguments]
        yield table(("argument", "meaning"), rows)
    if options:
        rows = [(code(_option(each, hints)), _explain(each, hints)) for each in options]
        yield table(("option", "meaning"), rows)
    commands = read_examples(command.epilog)
    if commands:
        yield "```sh\n" + "\n".join(commands) + "\n```\n\n"
    for sub, each in sorted(grouped.items()):
        yield from _describe(f"{name} {sub}", each, level + 1)


def _is_option(parameter: Any) -> bool:
    return parameter.opts[0].startswith("-")


def _usage(name: str, command: Any) -> str:
    """Write the line that shows how a command is called."""
    words = [name]
    for parameter in command.params:
        if _is_option(parameter):
            continue
        word = _argument(parameter)
        words.append(word if parameter.required else f"[{word}]")
    return " ".join([*words, "[OPTIONS]"])


def _argument(parameter: Any) -> str:
    word = parameter.metavar or parameter.name.upper()
    many = parameter.multiple or parameter.nargs == -1
    return f"{word}..." if many and not word.endswith("...") else word


def _option(parameter: Any, hints: dict[str, Any]) -> str:
    names = ", ".join([*parameter.opts, *parameter.secondary_opts])
    if getattr(parameter, "is_flag", False):
        return names
    return f"{names} {parameter.metavar or _placeholder(hints.get(parameter.name))}"


def _plain_type(hint: Any) -> Any:
    """Find the type of one value: without None, and inside a list."""
    while typing.get_origin(hint) in (list, tuple, typing.Union, UnionType):
        hint = next(each for each in typing.get_args(hint) if each not in (NoneType, ...))
    return hint


def _placeholder(hint: Any) -> str:
    kind = _plain_type(hint)
    if typing.get_origin(kind) is Literal:
        return "|".join(typing.get_args(kind))
    return _TYPES.get(kind, "VALUE")


def _explain(parameter: Any, hints: dict[str, Any]) -> str:
    """Write what a parameter is, what it may be, and its default."""
    text = escape_text(parameter.help or "")
    kind = _plain_type(hints.get(parameter.name))
    if typing.get_origin(kind) is Literal:
        text += f" One of {', '.join(map(code, typing.get_args(kind)))}."
    low, high = getattr(parameter, "min", None), getattr(parameter, "max", None)
    if low is not None or high is not None:
        bounds = [
            f"{word} {bound:g}" for word, bound in (("from", low), ("up to", high)) if bound is not None
        ]
        text += f" Allowed: {' '.join(bounds)}."
    if parameter.required:
        text += " **Required.**"
    default = parameter.default
    if default not in (None, False, (), [], "") and not callable(default):
        text += f" Default: {code(str(default))}."
    return text.strip()


def setup(application: Any) -> dict[str, bool]:
    """Write the page before Sphinx reads its sources."""

    def write(application: Any) -> None:
        write_if_changed(Path(application.srcdir) / "generated" / "cli.md", command_page())

    application.connect("builder-inited", write)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
