"""Expansion of xacro files to URDF, by the package `xacro`."""

import ast
import contextlib
import importlib.util
import io
import os
import re
import threading
import xml.etree.ElementTree as ET
from collections.abc import Mapping
from pathlib import Path
from unittest import mock
from xml.parsers.expat import ExpatError

from simbench.errors import RobotError
from simbench.robot.packages import find_package_folder

# What declares an argument, or uses one that is declared nowhere.
_ARGUMENT = re.compile(r"""<xacro:arg\b[^>]*?\bname\s*=\s*["']([^"']+)["']|\$\(arg\s+([^)\s]+)\s*\)""")
# By these attributes an expression would get from a generator to the interpreter's modules.
_FRAMES = ("gi_frame", "gi_code", "f_back", "f_globals", "f_locals", "f_builtins", "f_code")
_LOCK = threading.Lock()  # The package keeps its state in its module.


def is_xacro(path: Path, robot: ET.Element) -> bool:
    """Tell whether a file has to be expanded: by its name, or by elements and values of xacro in it."""
    return path.suffix == ".xacro" or any(
        "xacro" in element.tag
        or any(mark in value for value in element.attrib.values() for mark in ("${", "$("))
        for element in robot.iter()
    )


def _require_harmless(expression: str, *, scopes: bool) -> None:
    """Refuse an expression of Python that could do more than compute values; raise ValueError.

    `scopes`: whether lambdas and comprehensions are allowed, whose names are looked up elsewhere.
    """
    for node in ast.walk(ast.parse(expression.strip(), mode="eval")):
        name = node.attr if isinstance(node, ast.Attribute) else node.id if isinstance(node, ast.Name) else ""
        own_scope = isinstance(
            node, ast.Lambda | ast.ListComp | ast.SetComp | ast.DictComp | ast.GeneratorExp
        )
        if name.startswith("_") or name in _FRAMES or (own_scope and not scopes):
            raise ValueError(f"`{expression}`: {name or 'an inner scope'} is not allowed")


def expand_xacro(path: Path, arguments: Mapping[str, str]) -> ET.Element:
    """Expand a xacro file.

    Its expressions can compute values, and nothing else: a file may be somebody else's. `$(find PACKAGE)` is
    searched for as `package://PACKAGE` is. `arguments`: values of its `<xacro:arg>`, by
    name. Returns the element `<robot>`, with an element `<xacro>` for each file that was included. Raises
    RobotError if the package is not installed, the file or one that it includes has an error, or an argument
    is unknown or missing.
    """
    if importlib.util.find_spec("xacro") is None:
        raise RobotError(
            f"{path}: a xacro file, not yet a URDF: pip install xacro, or in a clone pip install -e "
            f'".[xacro]"; or expand it elsewhere: xacro {path.name} > robot.urdf'
        )
    import xacro
    import xacro.substitution_args

    def find(package: str) -> str:
        folder = find_package_folder(package, path.parent)
        if folder is None:
            raise xacro.substitution_args.SubstitutionException(
                f"no folder above the file, of ROS_PACKAGE_PATH or of AMENT_PREFIX_PATH has package {package}"
            )
        return str(folder)

    class Names(xacro.substitution_args._DictWrapper):  # type: ignore[misc]
        """Names in `$(eval ...)`; what is unknown is not looked for among Python's own functions."""

        def __getitem__(self, key: str) -> object:
            try:
                return super().__getitem__(key)
            except KeyError:
                raise ValueError(f"name `{key}` is not defined") from None

    evaluate, evaluate_argument = xacro.safe_eval, xacro.substitution_args._eval

    def safe_eval(expression: str, *scope: object) -> object:
        _require_harmless(expression, scopes=True)
        return evaluate(expression, *scope)

    def eval_argument(expression: str, context: object) -> object:
        _require_harmless(expression, scopes=False)
        return evaluate_argument(expression, context)

    # What xacro and the expressions in a file raise.
    failures = (xacro.XacroException, xacro.substitution_args.SubstitutionException, ExpatError)
    errors = (ValueError, TypeError, OSError, LookupError, AttributeError, ArithmeticError, RecursionError)
    printed = io.StringIO()
    with _LOCK, contextlib.redirect_stderr(printed), contextlib.redirect_stdout(printed):
        xacro.all_includes.clear()
        try:
            with (
                mock.patch.multiple(
                    xacro.substitution_args, _eval_find=find, _eval=eval_argument, _DictWrapper=Names
                ),
                mock.patch.object(xacro, "safe_eval", safe_eval),
                mock.patch.dict(xacro._global_symbols["python"]),
            ):
                # It reaches the attributes that are refused above.
                xacro._global_symbols["python"].pop("vars", None)
                document = xacro.process_file(os.fspath(path), mappings=dict(arguments))
            robot = ET.fromstring(document.toxml())
        except (*failures, *errors, ET.ParseError) as error:
            said = " ".join(str(error).split())[:300]
            missing = re.search(r"Undefined substitution argument (\S+)", said)
            hint = f"; give it by --xacro {missing[1]}:=VALUE or `xacro` in robot.yaml" if missing else ""
            raise RobotError(f"{path}: xacro cannot be expanded: {said}{hint}") from error
        files = [path, *map(Path, xacro.all_includes)]
    texts = (file.read_text(encoding="utf-8", errors="replace") for file in files if file.is_file())
    known = dict.fromkeys(name or used for text in texts for name, used in _ARGUMENT.findall(text))
    for name in arguments:
        if name not in known:
            allowed = ", ".join(known) or "none; it has no arguments"
            raise RobotError(f"{path}: xacro argument `{name}` is unknown; allowed: {allowed}")
    for file in dict.fromkeys(files[1:]):
        ET.SubElement(robot, "xacro", file=str(file))
    return robot
