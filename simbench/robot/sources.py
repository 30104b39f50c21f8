"""Where a robot comes from: a path of the user's, simbench itself, a plug-in, or a wheel of descriptions."""

import difflib
import os
from dataclasses import dataclass
from importlib import metadata
from pathlib import Path
from typing import Literal

from simbench.errors import RobotError
from simbench.files.text import is_regular_file, require_regular_file
from simbench.plugins.loading import require_allowed
from simbench.resources import resource_dir
from simbench.robot.description import Description
from simbench.robot.fetched import fetch_urdf, fetching_package, find_description, named_description
from simbench.robot.meshes.mesh_files import find_file
from simbench.robot.names import DESCRIPTION_FILE, find_plug_ins, shipped_robots
from simbench.robot.needed_package import find_missing_package
from simbench.robot.packages import (
    EXTRAS,
    InstalledPackage,
    describe_missing_package,
    find_package_of,
    find_share_folder,
    split_package_name,
)

Origin = Literal["own path", "shipped", "plug-in", "wheel", "robot_descriptions"]
_YAML = (".yaml", ".yml")
_URDF = (".urdf", ".xacro", ".xml")


@dataclass(frozen=True)
class RobotFile:
    """The file that a robot's name stands for."""

    origin: Origin  # `own path`, `shipped`, `plug-in`, `wheel` or `robot_descriptions`.
    path: Path  # A robot.yaml, or a URDF without one.
    package: InstalledPackage | None = None  # Package of a plug-in or wheel.
    guessed: bool = False  # Whether the robot.yaml was guessed from a URDF that has none.

    @property
    def is_urdf(self) -> bool:
        """Whether it is a URDF without a robot.yaml."""
        return self.path.suffix not in _YAML


@dataclass(frozen=True)
class RobotSource:
    """Where the files of a loaded robot are from."""

    origin: Origin  # `own path`, `shipped`, `plug-in`, `wheel` or `robot_descriptions`.
    package: InstalledPackage | None  # Package of a plug-in or wheel.
    description: Path | None  # The robot.yaml; None for a URDF without one.
    urdf: Path
    # Package that installed the URDF; None for one that no package installed.
    urdf_package: InstalledPackage | None
    guessed: bool = False  # Whether the description was guessed from the URDF.

    def __str__(self) -> str:
        """Write the source as one line."""
        own = self.urdf if self.guessed else self.description or self.urdf
        shown = {"shipped": "shipped with simbench", "own path": f"own path {own}"}
        text = shown.get(self.origin, self.origin)
        if self.package is not None:
            text += f" {self.package.name} {self.package.version}"
        if self.urdf_package not in (None, self.package):
            assert self.urdf_package is not None
            text += f", URDF from {self.urdf_package.name} {self.urdf_package.version}"
        if self.guessed:
            text += f", description guessed: {self.description}"
        return text


def find_robot(name_or_path: str | Path) -> RobotFile:
    """Find the file that a robot's name or path stands for.

    A text with a slash, or that ends in `.yaml`, `.yml` or `.urdf`, is a path. A plain name means the robot
    of that name that ships with simbench, else a folder or file of that name, else a robot of a plug-in
    (entry points of group `simbench.robots`), else the URDF of that name in a wheel of descriptions, else
    that of the package `robot_descriptions`, which clones it. `name_or_path`: name; path of a robot.yaml, of
    the folder that contains one, or of a URDF; `package://PACKAGE/PATH`; or `robot_descriptions:NAME`.
    Returns the file, and where it is from.
    """
    text = os.fspath(name_or_path)
    if split_package_name(text) is not None:
        path = find_urdf(text, Path(), "robot")
        return RobotFile("wheel", path, find_package_of(path))
    fetched = named_description(text)
    if fetched is not None:
        return RobotFile("robot_descriptions", fetch_urdf(fetched), fetching_package())
    own = find_own_robot(text)
    if own is not None:
        return RobotFile("own path", own)
    if os.sep not in text:
        shipped = _shipped_path(text)
        if shipped is not None:
            return RobotFile("shipped", shipped)
        points = find_plug_ins()
        if text in points:
            require_allowed("robots", text)
            return _plug_in_robot(points[text])
        urdf = find_wheel_urdfs().get(text)
        if urdf is not None:
            return RobotFile("wheel", urdf, find_package_of(urdf))
        if find_description(text) is not None:
            return RobotFile("robot_descriptions", fetch_urdf(text), fetching_package())
    raise RobotError(_describe_unknown(text))


def find_own_robot(text: str) -> Path | None:
    """Find the robot.yaml or URDF of the user's that a text names.

    `text`: name or path. Returns the file; None for a name that is no path. A file in the current directory
    never takes the place of a robot of the same name that ships with simbench. Raises RobotError for a path
    of a robot.yaml that is no regular file.
    """
    path = Path(text)
    if path.suffix in _YAML:
        return require_regular_file(path, RobotError)
    if path.suffix in _URDF:
        return path
    if os.sep not in text and _shipped_path(text) is not None:
        return None
    if is_regular_file(path / DESCRIPTION_FILE):
        return path / DESCRIPTION_FILE
    return path if is_regular_file(path) else None


def find_urdf(name: str, folder: Path, where: str) -> Path:
    """Find the URDF that a robot.yaml names.

    `name`: path relative to `folder`, or `package://PACKAGE/PATH`; `where`: file and key, for messages.
    Returns the URDF; a relative path is not looked for.
    """
    inside = split_package_name(name)
    if inside is None:
        return folder / name
    path = find_file(name, folder)
    if path is not None:
        return path
    share = find_share_folder(inside[0])
    if share is None:
        raise RobotError(f"{where}: `{name}` not found: {describe_missing_package(inside[0])}")
    raise RobotError(f"{where}: `{name}` not found: {share} has no file {inside[1]}")


def describe_source(file: RobotFile, urdf: Path) -> RobotSource:
    """Put together where the files of a robot are from. `file`: where the robot was found."""
    description = None if file.is_urdf else file.path
    return RobotSource(file.origin, file.package, description, urdf, find_package_of(urdf), file.guessed)


def missing_package(description: Description) -> str | None:
    """Name the package that a robot's URDF is in, if it is not installed.

    Returns name of the package; None if the URDF can be found without it.
    """
    return find_missing_package(description.urdf)


def find_wheel_urdfs() -> dict[str, Path]:
    """Find the URDFs in the wheels of robot descriptions that are installed.

    Returns URDFs by file name without `.urdf`, in alphabetical order.
    """
    shares = [share for share in map(find_share_folder, EXTRAS) if share is not None]
    found = sorted(path for share in shares for path in share.rglob("*.urdf"))
    return dict(sorted((path.stem, path) for path in found))


def _shipped_path(name: str) -> Path | None:
    """Path of the robot.yaml of a robot that ships with simbench."""
    path = resource_dir("robots") / name / DESCRIPTION_FILE
    return path if name not in ("", ".", "..") and is_regular_file(path) else None


def _plug_in_robot(point: metadata.EntryPoint) -> RobotFile:
    """Find the robot.yaml that an entry point names."""
    where = f"plug-in `{point.name}` ({point.value})"
    try:
        named = point.load()
    except (ImportError, AttributeError) as error:
        raise RobotError(f"{where}: cannot be imported: {error}") from error
    if not isinstance(named, str | os.PathLike):
        raise RobotError(f"{where}: must be the path of a robot.yaml or of its folder, not {named!r}")
    path = Path(named)
    path = path / DESCRIPTION_FILE if os.path.isdir(path) else path
    if not is_regular_file(path):
        raise RobotError(f"{where}: there is no file {path}")
    package = InstalledPackage(point.dist.name, point.dist.version) if point.dist is not None else None
    return RobotFile("plug-in", path, package)


def _describe_unknown(name: str) -> str:
    """Say in one line that there is no such robot, and which there are."""
    shipped, plug_ins, wheel = shipped_robots(), find_plug_ins(), find_wheel_urdfs()
    close = difflib.get_close_matches(name.lower(), [*shipped, *plug_ins, *wheel], n=1)
    hint = f" (did you mean `{close[0]}`?)" if close else ""
    extra = "" if wheel else f', more with pip install -e ".[{next(iter(EXTRAS.values()))}]"'
    known = ", ".join([*shipped, *plug_ins])
    return (
        f"unknown robot `{name}`; known: {known}{hint}; all: simbench robot list{extra}; or give the path of "
        f"a URDF or a {DESCRIPTION_FILE}"
    )
