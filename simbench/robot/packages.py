"""Packages with robot descriptions that pip installs: their `share` folders, and who installed a file."""

import functools
import os
import sys
from importlib import metadata
from pathlib import Path
from typing import NamedTuple

SCHEME = "package://"
"""Beginning of the name of a file inside a package."""
EXTRAS = {"example-robot-data": "robots"}
"""Extra of simbench that installs a package, by the package's name."""
_CMEEL = "cmeel.prefix"
"""Folder beside the Python packages in which the wheels of the cmeel family install their files."""


class InstalledPackage(NamedTuple):
    """A package that pip installed."""

    name: str
    version: str


def find_share_folder(package: str) -> Path | None:
    """Find the folder `share/PACKAGE` that a wheel installed.

    `package`: name of the package, as in `package://PACKAGE/...`. Returns the folder; None if no wheel has
    installed it.
    """
    return _find_share_folder(package, tuple(sys.path), sys.prefix)


@functools.lru_cache(maxsize=64)
def _find_share_folder(package: str, search_path: tuple[str, ...], prefix: str) -> Path | None:
    """Find the folder of a package by its own list of files, else in the folders that wheels share."""
    if package in ("", ".", ".."):
        return None
    own = _own_share_folder(package)
    shared = [Path(entry) / _CMEEL / "share" / package for entry in search_path if entry]
    candidates = [*([own] if own else []), *shared, Path(prefix) / "share" / package]
    return next((folder for folder in candidates if os.path.isdir(folder)), None)


def _own_share_folder(package: str) -> Path | None:
    """Folder `share/PACKAGE` among the files of the distribution of the same name."""
    try:
        distribution = metadata.distribution(package)
    except (metadata.PackageNotFoundError, ValueError):
        return None
    for file in distribution.files or ():
        for depth in range(len(file.parts) - 2):
            if file.parts[depth : depth + 2] == ("share", package):
                return Path(str(distribution.locate_file("/".join(file.parts[: depth + 2]))))
    return None


def split_package_name(name: str) -> tuple[str, str] | None:
    """Split the name of a file inside a package.

    `name`: `package://PACKAGE/REST`, or any other file name. Returns package, and path inside it; None for
    another file name.
    """
    if not name.startswith(SCHEME):
        return None
    package, _, inside = name.removeprefix(SCHEME).partition("/")
    return package, inside


def find_package_of(path: Path) -> InstalledPackage | None:
    """Find out which package installed a file into its own `share` folder.

    Returns the package; None if the file belongs to none that pip installed.
    """
    for folder in path.parents:
        share = find_share_folder(folder.name) if folder.parent.name == "share" else None
        if share is not None and share.resolve() == folder.resolve():
            try:
                return InstalledPackage(folder.name, metadata.version(folder.name))
            except metadata.PackageNotFoundError:
                return None
    return None


def describe_missing_package(package: str) -> str:
    """Say that a package is missing, and how to install it.

    `package`: name of a package that is not installed. Returns part of a message.
    """
    extra = EXTRAS.get(package)
    if extra is None:
        return f"no wheel and no folder of ROS_PACKAGE_PATH or AMENT_PREFIX_PATH has the package {package}"
    return f'needs {package}: pip install {package}, or in a clone pip install -e ".[{extra}]"'
