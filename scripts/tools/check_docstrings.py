"""Check the docstrings of everything public in simbench with numpydoc's own validation.

python scripts/tools/check_docstrings.py [MODULE ...]

Every public function, class, method and property needs a summary, and describes no parameter that it does not
have. What users call or implement also describes each parameter, what it returns and what it raises: names in
`simbench.__all__` and their methods, Protocols, and what the pages in docs/reference/api list. A command's
parameters are described by the help of its options instead. Modules are named as they are imported
(`simbench.balance`); with none, all of simbench is checked. Exit status 1 if something is missing.
"""

import os

# A compiled function hides its signature.
os.environ["NUMBA_DISABLE_JIT"] = "1"

import argparse
import ast
import enum
import importlib
import inspect
import pkgutil
import re
import sys
import textwrap
import typing
from collections.abc import Iterator
from pathlib import Path

import typer
from numpydoc.docscrape import NumpyDocString
from numpydoc.validate import validate
from pydantic import BaseModel

import simbench
from simbench.cli.main import app

BRIEF = ("GL08", "PR02", "SS01")
FULL = (*BRIEF, "PR01", "PR07", "RT01", "RT03")
PAGES = Path(__file__).parents[2] / "docs" / "reference" / "api"
DIRECTIVE = re.compile(r"^\.\. auto(function|class|exception|module):: (\S+)\n((?:   :.*\n)*)", re.MULTILINE)
# __main__ runs the command line, and a script writes the generated models.
LEFT_OUT = ("simbench.__main__", "simbench.dynamics.puma560_explicit")


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


def used_by_others(objects: list[tuple[str, object]]) -> set[str]:
    """Find the import paths, among those of all public objects, of what users call or implement."""
    listed = {f"simbench.{name}": True for name in simbench.__all__}
    modules = set()
    for page in sorted(PAGES.glob("*.md")):
        for kind, name, options in DIRECTIVE.findall(page.read_text(encoding="utf-8")):
            if kind == "module":
                modules.add(name)
            else:
                listed[name] = listed.get(name, False) or ":no-members:" not in options
    found = set()
    for name, with_members in listed.items():
        module, _, attribute = name.rpartition(".")
        value = getattr(importlib.import_module(module), attribute)
        path = f"{value.__module__}.{value.__qualname__}"
        found.add(path)
        if with_members and inspect.isclass(value):
            found.update(member for member, _ in _members(path, value))
    for path, value in objects:
        if getattr(value, "__module__", None) in modules:
            found.add(path)
        if getattr(value, "_is_protocol", False):
            found.add(path)
            found.update(member for member, _ in _members(path, value))
    return found


def faults(path: str, value: object, full: bool) -> list[str]:
    """List what is missing in one docstring: a full one, or a brief one with at least a summary."""
    options = _options(value)
    # Fields of a section are described by strings below them, which numpydoc does not see.
    fields = inspect.isclass(value) and issubclass(value, BaseModel | enum.Enum | Exception)
    # numpydoc takes the constructor of a protocol, which nobody calls, for one with any arguments.
    fields = fields or getattr(value, "_is_protocol", False)
    found = []
    for code, message in validate(path)["errors"]:
        ignored = code.startswith("PR") and (options or fields or typing.is_typeddict(value))
        if code in (FULL if full else BRIEF) and not ignored:
            found.append(f"{path}: {code} {message}")
    docstring = NumpyDocString(inspect.getdoc(value) or "")
    if full:
        # numpydoc passes over parameters whose type is a set of values in braces, and over what is raised.
        found += [
            f'{path}: PR07 Parameter "{part.name}" has no description'
            for part in docstring["Parameters"]
            if part.type.startswith("{") and not part.desc
        ]
        if not docstring["Raises"] and _raises(value):
            found.append(f"{path}: raises errors, but has no section Raises")
    found += [f"{path}: option {name} has no help" for name, described in options.items() if not described]
    return found


def _raises(value: object) -> bool:
    """Whether a function raises an error by a statement of its own, not only through what it calls."""
    function = value.fget if isinstance(value, property) else getattr(value, "__func__", value)
    if not inspect.isfunction(function):
        return False
    source = ast.parse(textwrap.dedent(inspect.getsource(function)))
    raised = [node.exc for node in ast.walk(source) if isinstance(node, ast.Raise) and node.exc is not None]
    # An abstract method's is not an error that its callers see.
    return any(not ast.unparse(error).startswith("NotImplementedError") for error in raised)


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
    full = used_by_others(objects)
    missing = [fault for path, value in objects for fault in faults(path, value, path in full)]
    print("\n".join(missing))
    users = sum(path in full for path, _ in objects)
    print(f"{len(objects)} public objects, {users} of them for users, {len(missing)} faults")
    return 1 if missing else 0


if __name__ == "__main__":
    sys.exit(main())
