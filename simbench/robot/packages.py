"""Names and files of robots and of the packages they are in, found without importing what reads them."""

import functools
import os
import sys
from collections.abc import Iterator
from contextlib import suppress
from importlib import metadata
from pathlib import Path
from typing import NamedTuple
from urllib.parse import unquote

from simbench.errors import RobotError
from simbench.files.yaml_document import read_yaml
from simbench.resources import resource_dir

# Group of entry points that name robots of other packages: the path of a robot.yaml, or of its folder.
PLUG_INS = "simbench.robots"
DESCRIPTION_FILE = "robot.yaml"


def shipped_robots() -> dict[str, Path]:
    """Find the robots that ship with simbench.

    Returns the robot.yaml of each by name, in alphabetical order.
    """
    found = sorted(resource_dir("robots").glob(f"*/{DESCRIPTION_FILE}"))
    return {path.parent.name: path for path in found}


def find_plug_ins() -> dict[str, metadata.EntryPoint]:
    """Find the robots that other packages provide.

    Returns entry points of group `simbench.robots` by name; nothing is imported.
    """
    return {point.name: point for point in metadata.entry_points(group=PLUG_INS)}


SCHEME = "package://"  # Beginning of the name of a file inside a package.
EXTRAS = {"example-robot-data": "robots"}  # Extra of simbench that installs a package, by the package's name.
# Folder beside the Python packages in which the wheels of the cmeel family install their files.
_CMEEL = "cmeel.prefix"


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
    own: list[Path] = []
    with suppress(metadata.PackageNotFoundError, ValueError):
        # Among the files of the distribution of the same name.
        distribution = metadata.distribution(package)
        own = [
            Path(str(distribution.locate_file("/".join(file.parts[: depth + 2]))))
            for file in distribution.files or ()
            for depth in range(len(file.parts) - 2)
            if file.parts[depth : depth + 2] == ("share", package)
        ][:1]
    shared = [Path(entry) / _CMEEL / "share" / package for entry in search_path if entry]
    candidates = [*own, *shared, Path(prefix) / "share" / package]
    return next((folder for folder in candidates if os.path.isdir(folder)), None)


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


def find_file(name: str, folder: Path) -> Path | None:
    """Find a mesh or picture that a URDF names.

    `name`: A path, relative to the URDF's folder or absolute; `file://PATH`; or `package://PACKAGE/REST`. A
    package is searched for as an ancestor of the URDF's folder or a child of one, then in the `share` folders
    of installed wheels, in `ROS_PACKAGE_PATH` and in `AMENT_PREFIX_PATH`; last, REST is tried in every
    ancestor. Returns absolute path; None if there is no such file.
    """
    folder = folder.resolve()
    scheme, separator, rest = name.strip().partition("://")
    candidates: list[Path] = []
    if not separator:
        candidates = [folder / name.strip()]
    elif scheme == "file":
        candidates = [folder / unquote(rest)]
    elif scheme in ("package", "model"):
        package, _, inside = rest.partition("/")
        candidates = [root / inside for root in _package_folders(package, folder)]
        candidates += [ancestor / inside for ancestor in (folder, *folder.parents)]
    path = next(filter(os.path.isfile, candidates), None)
    return None if path is None else path.resolve()


def find_package_folder(package: str, folder: Path) -> Path | None:
    """Find the folder of a package of ROS, as `find_file` does; else the nearest ancestor with a package.xml.

    `folder`: folder of the file that names the package. Returns absolute path; None if there is none.
    """
    folder = folder.resolve()
    manifests = (root for root in (folder, *folder.parents) if os.path.isfile(root / "package.xml"))
    found = filter(os.path.isdir, _package_folders(package, folder))
    return next(found, None) or next(manifests, None)


def _package_folders(package: str, folder: Path) -> Iterator[Path]:
    """Yield the folders that a package of ROS may have, seen from a folder; they need not exist."""
    ancestors, share = [folder, *folder.parents], find_share_folder(package)
    roots, prefixes = (
        [Path(entry) for entry in os.environ.get(variable, "").split(os.pathsep) if entry]
        for variable in ("ROS_PACKAGE_PATH", "AMENT_PREFIX_PATH")
    )
    for folders in (ancestors, roots):
        for root in folders:
            if root.name == package:
                yield root
            yield root / package
        if folders is ancestors and share is not None:
            yield share
    yield from (prefix / "share" / package for prefix in prefixes)


def needed_package(robot: str) -> str | None:
    """Name the package that has to be installed before a robot that ships with simbench can be loaded.

    `robot`: name or path of a robot. Returns name of the package that its URDF is in; None if nothing is
    missing, or another robot is meant. Raises RobotError if the robot's description is not YAML.
    """
    path = shipped_robots().get(robot)
    content = None if path is None else read_yaml(path, RobotError).value
    return find_missing_package(str(content.get("urdf", ""))) if isinstance(content, dict) else None


def find_missing_package(urdf: str) -> str | None:
    """Name the package of a URDF that is not installed.

    `urdf`: `package://PACKAGE/PATH`, or the path of a URDF. Returns name of the package; None if the URDF can
    be found without it.
    """
    if not urdf.startswith(SCHEME) or find_file(urdf, Path()) is not None:
        return None
    return urdf.removeprefix(SCHEME).partition("/")[0]
