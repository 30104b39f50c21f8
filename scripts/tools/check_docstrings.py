"""Check the docstrings of everything public in simbench with numpydoc's own validation.

python scripts/tools/check_docstrings.py [MODULE ...]

Every public function, class, method and property needs a summary, and a description of each parameter and of
what it returns. A command's parameters are described by the help of its options instead. Modules are named as
they are imported (`simbench.balance`); with none, all of simbench is checked. Exit status 1 if something is
missing.
"""

import os

# A compiled function hides its signature.
os.environ["NUMBA_DISABLE_JIT"] = "1"

import argparse
import enum
import importlib
import inspect
import pkgutil
import sys
import typing
from collections.abc import Iterator

import typer
from numpydoc.docscrape import NumpyDocString
from numpydoc.validate import validate
from pydantic import BaseModel

import simbench
from simbench.cli.main import app

CHECKS = ("GL08", "PR01", "PR02", "PR07", "RT03", "SS01")
# The plugin is pytest's to import, __main__ runs the command line, and a script writes the generated models.
LEFT_OUT = ("simbench.__main__", "simbench.pytest_plugin", "simbench.dynamics.generated")


def public_objects(modules: list[str]) -> Iterator[tuple[str, object]]:
    """Yield the import path and the object of every public function, class and method below some modules."""
    for found in pkgutil.walk_packages(simbench.__path__, "simbench."):
        wanted = any(found.name == name or found.name.startswith(f"{name}.") for name in modules)
        if not wanted or found.name.startswith(LEFT_OUT):
            continue
        module = importlib.import_module(found.name)
        for name, value in vars(module).items():
            own = getattr(value, "__module__", None) == found.name
            if name.startswith("_") or not own or not (inspect.isfunction(value) or inspect.isclass(value)):
                continue
            yield f"{found.name}.{name}", value
            if inspect.isclass(value):
                yield from _members(f"{found.name}.{name}", value)


def _members(path: str, owner: type) -> Iterator[tuple[str, object]]:
    """Yield the import path and the object of every public method and property of a class."""
    for name, value in list(vars(owner).items()):
        function = value.fget if isinstance(value, property) else getattr(value, "__func__", value)
        if (
            not name.startswith("_")
            and inspect.isfunction(function)
            and function.__module__ == owner.__module__
        ):
            yield f"{path}.{name}", value


def faults(path: str, value: object) -> list[str]:
    """List what is missing in one docstring."""
    options = _options(value)
    # Fields of a section are described by strings below them, which numpydoc does not see.
    fields = inspect.isclass(value) and issubclass(value, BaseModel | enum.Enum | Exception)
    # numpydoc takes the constructor of a protocol, which nobody calls, for one with any arguments.
    fields = fields or getattr(value, "_is_protocol", False)
    found = []
    for code, message in validate(path)["errors"]:
        ignored = code.startswith("PR") and (options or fields or typing.is_typeddict(value))
        if code in CHECKS and not ignored:
            found.append(f"{path}: {code} {message}")
    # numpydoc passes over parameters whose type is a set of values in braces.
    described = NumpyDocString(inspect.getdoc(value) or "")["Parameters"]
    found += [
        f'{path}: PR07 Parameter "{part.name}" has no description'
        for part in described
        if part.type.startswith("{") and not part.desc
    ]
    found += [f"{path}: option {name} has no help" for name, described in options.items() if not described]
    return found


def _commands(group: typer.Typer) -> list[object]:
    """List the functions that a command line calls, including those of its sub-commands."""
    own = [command.callback for command in group.registered_commands]
    return own + [each for part in group.registered_groups for each in _commands(part.typer_instance)]


def _options(value: object) -> dict[str, bool]:
    """Find the parameters of a command, and whether each has a help text; none if it is not a command."""
    if value not in _commands(app):
        return {}
    hints = typing.get_type_hints(value, include_extras=True)
    infos = {
        name: info
        for name, hint in hints.items()
        for info in getattr(hint, "__metadata__", ())
        if isinstance(info, typer.models.ParameterInfo)
    }
    return {name: bool(info.help) for name, info in infos.items()}


def main() -> int:
    """Print what is missing; return the exit status."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("modules", nargs="*", default=["simbench"], metavar="MODULE")
    objects = list(public_objects(parser.parse_args().modules))
    missing = [fault for path, value in objects for fault in faults(path, value)]
    print("\n".join(missing))
    print(f"{len(objects)} public objects, {len(missing)} faults")
    return 1 if missing else 0


if __name__ == "__main__":
    sys.exit(main())
