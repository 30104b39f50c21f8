"""Robots of the package `robot_descriptions`, which clones their repositories when they are first used."""

import importlib
import importlib.util
from importlib import metadata
from pathlib import Path

from simbench.errors import RobotError
from simbench.robot.packages import InstalledPackage

PACKAGE = "robot_descriptions"
_PREFIX = f"{PACKAGE}:"
_SUFFIX = "_description"
_NEEDS = "it needs git, and the network when a robot is used for the first time"


def named_description(name: str) -> str | None:
    """Take the name of a robot of `robot_descriptions` out of the form `robot_descriptions:NAME`.

    Returns NAME; None for a name of another form.
    """
    return name.removeprefix(_PREFIX) if name.startswith(_PREFIX) else None


def find_description(name: str) -> str | None:
    """Find the module of a robot in `robot_descriptions`, without cloning anything.

    Returns name of the module; None if there is none, or the package is not installed.
    """
    if not name.isidentifier() or importlib.util.find_spec(PACKAGE) is None:
        return None
    candidates = (name, f"{name}{_SUFFIX}") if not name.endswith(_SUFFIX) else (name,)
    modules = (f"{PACKAGE}.{each}" for each in candidates if each.endswith(_SUFFIX))
    return next((module for module in modules if importlib.util.find_spec(module) is not None), None)


def fetch_urdf(name: str) -> Path:
    """Find the URDF of a robot of `robot_descriptions`; its repository is cloned if it is not there yet.

    `name`: name of the robot, with or without `_description`.
    """
    if importlib.util.find_spec(PACKAGE) is None:
        raise RobotError(
            f"robot_descriptions:{name}: the package is not installed; pip install {PACKAGE}; {_NEEDS}"
        )
    module = find_description(name)
    if module is None:
        raise RobotError(f"robot_descriptions:{name}: {PACKAGE} has no module {name}{_SUFFIX} or {name}")
    # What Python and GitPython, with which the package clones, raise.
    failures: tuple[type[Exception], ...] = (ImportError, OSError, ValueError, RuntimeError, AttributeError)
    try:
        described = importlib.import_module(module)
    except failures + _git_errors() as error:
        reason = " ".join(str(error).split())[:200]
        raise RobotError(f"robot_descriptions:{name}: cannot be fetched: {reason}; {_NEEDS}") from error
    path = getattr(described, "URDF_PATH", None)
    if path is None:
        raise RobotError(
            f"robot_descriptions:{name}: {PACKAGE} has no URDF of it (its other formats are not read)"
        )
    return Path(path)


def fetching_package() -> InstalledPackage | None:
    """Say which version of `robot_descriptions` is installed.

    Returns name and version; None if no version is known.
    """
    try:
        return InstalledPackage(PACKAGE, metadata.version(PACKAGE))
    except metadata.PackageNotFoundError:
        return None


def _git_errors() -> tuple[type[Exception], ...]:
    """Exceptions of GitPython, with which the package clones; none if it is not installed."""
    try:
        return (importlib.import_module("git.exc").GitError,)
    except ImportError:
        return ()
