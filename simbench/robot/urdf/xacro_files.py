"""Expansion of xacro files to URDF, by the package `xacro`."""

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
_LOCK = threading.Lock()  # The package keeps its state in its module.


def is_xacro(path: Path, robot: ET.Element) -> bool:
    """Tell whether a file has to be expanded: by its name, or by elements and values of xacro in it."""
    return path.suffix == ".xacro" or any(
        "xacro" in element.tag
        or any(mark in value for value in element.attrib.values() for mark in ("${", "$("))
        for element in robot.iter()
    )


def expand_xacro(path: Path, arguments: Mapping[str, str]) -> ET.Element:
    """Expand a xacro file.

    `$(find PACKAGE)` is searched for as `package://PACKAGE` is. `arguments`: values of its `<xacro:arg>`, by
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

    # What xacro and the expressions in a file raise.
    failures = (xacro.XacroException, xacro.substitution_args.SubstitutionException, ExpatError)
    errors = (ValueError, TypeError, OSError, LookupError, AttributeError, ArithmeticError, RecursionError)
    printed = io.StringIO()
    with _LOCK, contextlib.redirect_stderr(printed), contextlib.redirect_stdout(printed):
        xacro.all_includes.clear()
        try:
            with mock.patch.object(xacro.substitution_args, "_eval_find", find):
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
