"""Where a robot comes from: an own path, simbench itself, a plug-in, or a package of descriptions."""

import difflib
import importlib
import importlib.util
import os
import re
from contextlib import suppress
from dataclasses import dataclass, replace
from importlib import metadata
from pathlib import Path
from typing import Literal, NamedTuple

from simbench.errors import RobotError
from simbench.files.text import require_regular_file
from simbench.plugins.entry_points import require_allowed
from simbench.resources import resource_dir
from simbench.robot.description import Description, read_description
from simbench.robot.packages import (
    DESCRIPTION_FILE,
    EXTRAS,
    SCHEME,
    InstalledPackage,
    describe_missing_package,
    find_file,
    find_missing_package,
    find_package_of,
    find_plug_ins,
    find_share_folder,
    shipped_robots,
)
from simbench.robot.urdf.elements import USD_SUFFIXES, parse_urdf

PACKAGE = "robot_descriptions"
_PREFIX = f"{PACKAGE}:"
_SUFFIX = "_description"
_MENAGERIE = "mujoco_menagerie"
_NEEDS = "it needs git, and the network when a robot is used for the first time"


def find_description(name: str) -> str | None:
    """Find the module of a robot in `robot_descriptions`, without cloning anything.

    Returns name of the module; None if there is none, or the package is not installed.
    """
    if not name.isidentifier() or importlib.util.find_spec(PACKAGE) is None:
        return None
    # Those with `_mj` have an MJCF.
    candidates = (name, f"{name}{_SUFFIX}", f"{name}_mj{_SUFFIX}") if not name.endswith(_SUFFIX) else (name,)
    modules = (f"{PACKAGE}.{each}" for each in candidates if each.endswith(_SUFFIX))
    return next((module for module in modules if importlib.util.find_spec(module) is not None), None)


def fetch_description(name: str) -> Path:
    """Find the URDF of a robot of `robot_descriptions`, else its MJCF; it is cloned if it is not there yet.

    A module that has only a xacro file expands it itself (`get_urdf_path`). `name`: name of the robot, with
    or without `_description`.
    """
    where = f"{PACKAGE}:{name}"
    if importlib.util.find_spec(PACKAGE) is None:
        raise RobotError(f"{where}: the package is not installed; pip install {PACKAGE}; {_NEEDS}")
    module = find_description(name)
    if module is None:
        raise RobotError(f"{where}: {PACKAGE} has no module {name}{_SUFFIX} or {name}")
    # What Python and GitPython, with which the package clones, raise.
    failures: tuple[type[Exception], ...] = (ImportError, OSError, ValueError, RuntimeError, AttributeError)
    with suppress(ImportError):
        failures = (*failures, importlib.import_module("git.exc").GitError)
    try:
        described = importlib.import_module(module)
        path = getattr(described, "URDF_PATH", None)
        if path is None and hasattr(described, "XACRO_PATH"):
            path = importlib.import_module(f"{PACKAGE}._xacro").get_urdf_path(described)
    except failures as error:
        reason = " ".join(str(error).split())[:200]
        raise RobotError(f"{where}: cannot be fetched: {reason}; {_NEEDS}") from error
    path = path or getattr(described, "MJCF_PATH", None)
    if path is None:
        raise RobotError(f"{where}: {PACKAGE} has no URDF, xacro or MJCF of it")
    return Path(path)


def menagerie_robots() -> list[str]:
    """List the robots of the package `mujoco-menagerie`; none if it is not installed."""
    if importlib.util.find_spec(_MENAGERIE) is None:
        return []
    names: list[str] = importlib.import_module(_MENAGERIE).names()
    return names


def fetch_menagerie(name: str) -> Path:
    """Find the MJCF of a robot of `mujoco-menagerie`; it is downloaded if it is not there yet.

    `name`: name of the robot, or NAME/ENTRY for another of its files than the robot alone.
    """
    where, (robot, _, entry) = f"{_MENAGERIE}:{name}", name.partition("/")
    known = menagerie_robots()
    if not known:
        raise RobotError(f"{where}: the package is not installed; pip install mujoco-menagerie")
    if robot not in known:
        close = difflib.get_close_matches(robot, known, n=1)
        hint = f" (did you mean `{close[0]}`?)" if close else ""
        raise RobotError(f"{where}: unknown robot{hint}; allowed: {', '.join(known)}")
    package = importlib.import_module(_MENAGERIE)
    try:
        described = package.get(robot)
        return Path(described.xml(entry or described.default_model))
    except (package.MenagerieError, OSError) as error:
        reason = " ".join(str(error).split())[:200]
        raise RobotError(f"{where}: cannot be fetched: {reason}; it needs the network once") from error


def fetching_package() -> InstalledPackage | None:
    """Say which version of `robot_descriptions` is installed.

    Returns name and version; None if no version is known.
    """
    try:
        return InstalledPackage(PACKAGE, metadata.version(PACKAGE))
    except metadata.PackageNotFoundError:
        return None


Origin = Literal["own path", "shipped", "plug-in", "wheel", "robot_descriptions", "mujoco_menagerie"]
YAML_SUFFIXES = (".yaml", ".yml")
_MODELS = (".urdf", ".xacro", ".xml", ".mjcf")
_ROOT = re.compile(rb"<(?:robot|mujoco)[\s>]")
_INCLUDE = re.compile(rb"""<(?:xacro:)?include\b[^>]*?\bfile(?:name)?\s*=\s*["']([^"']+)["']""")


@dataclass(frozen=True)
class RobotFile:
    """The file that a robot's name stands for."""

    origin: Origin
    path: Path  # A robot.yaml, or a URDF, xacro or MJCF without one.
    package: InstalledPackage | None = None  # Package of a plug-in or wheel.
    guessed: bool = False  # Whether the robot.yaml was guessed from a URDF that has none.


@dataclass(frozen=True)
class RobotSource:
    """Where the files of a loaded robot are from."""

    origin: Origin
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

    A text with a slash, or that ends in `.yaml`, `.yml`, `.urdf`, `.xacro`, `.xml` or `.mjcf`, is a path. A
    plain name means the robot of that name that ships with simbench, else a file of that name or a folder
    with a robot.yaml, else a robot of a plug-in (entry points of group `simbench.robots`), else the URDF of
    that name in a wheel of descriptions, else a folder with one robot, else the robot of that name of the
    package `mujoco-menagerie`, which downloads it, or `robot_descriptions`, which clones it. `name_or_path`:
    name; path of a robot.yaml, of a URDF, xacro or MJCF, or of the folder that contains one robot;
    `package://PACKAGE/PATH`; `robot_descriptions:NAME`; or `mujoco_menagerie:NAME`. Returns the file, and
    where it is from.
    """
    text = os.fspath(name_or_path)
    if text.startswith(SCHEME):
        path = find_urdf(text, Path(), "robot")
        return RobotFile("wheel", path, find_package_of(path))
    if text.startswith(_PREFIX):
        return RobotFile(
            "robot_descriptions", fetch_description(text.removeprefix(_PREFIX)), fetching_package()
        )
    if text.startswith(f"{_MENAGERIE}:"):
        return _menagerie_file(text.removeprefix(f"{_MENAGERIE}:"))
    given = find_given_robot(text)
    if given is not None:
        return given
    if os.sep not in text:
        points = find_plug_ins()
        if text in points:
            require_allowed("robots", text)
            point = points[text]
            where = f"plug-in `{text}` ({point.value})"
            try:
                named = point.load()
            except (ImportError, AttributeError) as error:
                raise RobotError(f"{where}: cannot be imported: {error}") from error
            if not isinstance(named, str | os.PathLike):
                raise RobotError(f"{where}: must be the path of a robot.yaml or of its folder, not {named!r}")
            path = Path(named) / DESCRIPTION_FILE if os.path.isdir(named) else Path(named)
            if not os.path.isfile(path):
                raise RobotError(f"{where}: there is no file {path}")
            package = InstalledPackage(point.dist.name, point.dist.version) if point.dist else None
            return RobotFile("plug-in", path, package)
        urdf = find_wheel_urdfs().get(text)
        if urdf is not None:
            return RobotFile("wheel", urdf, find_package_of(urdf))
        if os.path.isdir(text) and list_models(Path(text)):
            return RobotFile("own path", find_only_model(Path(text)))
        if text in menagerie_robots():
            return _menagerie_file(text)
        if find_description(text) is not None:
            return RobotFile("robot_descriptions", fetch_description(text), fetching_package())
    plug_ins, wheel = find_plug_ins(), find_wheel_urdfs()
    close = difflib.get_close_matches(text.lower(), [*shipped_robots(), *plug_ins, *wheel], n=1)
    hint = f" (did you mean `{close[0]}`?)" if close else ""
    extra = "" if wheel else f', more with pip install -e ".[{next(iter(EXTRAS.values()))}]"'
    known = ", ".join([*shipped_robots(), *plug_ins])
    raise RobotError(
        f"unknown robot `{text}`; known: {known}{hint}; all: simbench robot list{extra}; or give the path of "
        f"a URDF, xacro, MJCF or a {DESCRIPTION_FILE}"
    )


def _menagerie_file(name: str) -> RobotFile:
    """Find the file of a robot of `mujoco-menagerie`, and which version of the package named it."""
    path = fetch_menagerie(name)
    package = InstalledPackage(_MENAGERIE, metadata.version("mujoco-menagerie"))
    return RobotFile("mujoco_menagerie", path, package)


def describe_robot(file: RobotFile) -> tuple[RobotFile, Description]:
    """Read the description of a robot, or guess that of a URDF that has none.

    `file`: the robot.yaml or URDF. Returns `file`: the same, or the robot.yaml that was guessed;
    `description`: its content. Raises RobotError if the file cannot be read, or is malformed.
    """
    if file.path.suffix not in YAML_SUFFIXES:
        # It takes half a second to import.
        from simbench.robot.scaffold.writing import guessed_description

        file = replace(file, path=guessed_description(file.path), guessed=True)
    return file, read_description(file.path)


def find_given_robot(text: str) -> RobotFile | None:
    """Find the file that a text names: one of the user's, or one that ships with simbench.

    `text`: name or path. Returns the file; None for a name that is neither. A file in the current directory
    never takes the place of a robot of the same name that ships with simbench. Of a folder the robot in it is
    taken. Raises RobotError for a path of a robot.yaml that is no regular file, and for a folder with several
    robots, or with none if its name has a slash.
    """
    path, shipped = Path(text), resource_dir("robots") / text / DESCRIPTION_FILE
    if path.suffix in YAML_SUFFIXES:
        return RobotFile("own path", require_regular_file(path, RobotError))
    if path.suffix.lower() in (*_MODELS, *USD_SUFFIXES):
        return RobotFile("own path", path)
    if os.sep not in text and text not in ("", ".", "..") and os.path.isfile(shipped):
        return RobotFile("shipped", shipped)
    if os.path.isfile(path / DESCRIPTION_FILE):
        return RobotFile("own path", path / DESCRIPTION_FILE)
    if os.sep in text and os.path.isdir(path):
        return RobotFile("own path", find_only_model(path))
    return RobotFile("own path", path) if os.path.isfile(path) else None


def find_only_model(folder: Path) -> Path:
    """Find the one URDF, xacro or MJCF of a folder. Raises RobotError if there are several, or none."""
    models = list_models(folder)
    if not models:
        allowed = f"a folder with a {DESCRIPTION_FILE}, URDF, xacro or MJCF"
        raise RobotError(f"{folder}: has no robot; allowed: {allowed}")
    if len(models) > 1:
        names = ", ".join(str(model.relative_to(folder)) for model in models)
        raise RobotError(f"{folder}: has {len(models)} robots; allowed: one of {names}")
    return models[0]


def list_models(folder: Path) -> list[Path]:
    """List the URDFs, xacros and MJCFs in a folder and in those directly in it.

    Left out are files that others include, scenes with an MJCF beside them, and xacros beside their URDF.
    """
    contents = {
        path: path.read_bytes()
        for pattern in ("*", "*/*")
        for path in sorted(folder.glob(pattern))
        if path.suffix.lower() in _MODELS and path.is_file()
    }
    models = {path: content for path, content in contents.items() if _ROOT.search(content)}
    included = {
        os.path.basename(name.decode(errors="replace"))
        for path, content in models.items()
        if "scene" not in path.stem
        for name in _INCLUDE.findall(content)
    }
    kept = [path for path in models if path.name not in included]
    robots = [path for path in kept if "scene" not in path.stem]
    urdfs = {path.stem for path in robots if path.suffix == ".urdf"}
    return [
        path
        for path in robots or kept
        if path.suffix != ".xacro" or path.name.removesuffix(".xacro").removesuffix(".urdf") not in urdfs
    ]


def find_urdf(name: str, folder: Path, where: str) -> Path:
    """Find the URDF that a robot.yaml names.

    `name`: path relative to `folder`, or `package://PACKAGE/PATH`; `where`: file and key, for messages.
    Returns the URDF; a relative path is not looked for.
    """
    if not name.startswith(SCHEME):
        return folder / name
    path = find_file(name, folder)
    if path is not None:
        return path
    package, _, inside = name.removeprefix(SCHEME).partition("/")
    share = find_share_folder(package)
    if share is None:
        raise RobotError(f"{where}: `{name}` not found: {describe_missing_package(package)}")
    raise RobotError(f"{where}: `{name}` not found: {share} has no file {inside}")


def find_wheel_urdfs() -> dict[str, Path]:
    """Find the URDFs in the wheels of robot descriptions that are installed.

    Returns URDFs by file name without `.urdf`, in alphabetical order.
    """
    shares = [share for share in map(find_share_folder, EXTRAS) if share is not None]
    found = sorted(path for share in shares for path in share.rglob("*.urdf"))
    return dict(sorted((path.stem, path) for path in found))


_UNKNOWN = "?"


class RobotEntry(NamedTuple):
    """A robot that can be named."""

    name: str
    origin: Origin  # `shipped`, `plug-in` or `wheel`.
    # `humanoid`, `two-armed`, `arm` or `robot`; for a URDF without a robot.yaml, how many joints move.
    kind: str
    license: str  # Licence of its URDF and meshes; `?` where none is stated.
    summary: str  # First line of its robot.yaml, or the package it is from.
    missing: str  # Package that must be installed before it can be used; empty if nothing is missing.


def list_robots() -> list[RobotEntry]:
    """List the robots that ship with simbench, those of plug-ins, and those of wheels of descriptions.

    Returns the robots, in the order in which a name is looked for; of two with one name, the first.
    """
    entries = {
        name: _described_entry(name, RobotFile("shipped", path)) for name, path in shipped_robots().items()
    }
    for name in sorted(find_plug_ins().keys() - entries.keys()):
        try:
            entries[name] = _described_entry(name, find_robot(name))
        except RobotError as error:
            entries[name] = RobotEntry(name, "plug-in", "robot", _UNKNOWN, str(error), "")
    for name, urdf in find_wheel_urdfs().items():
        if name in entries:
            continue
        package = find_package_of(urdf)
        origin = f"{package.name} {package.version}, no robot.yaml" if package else "no robot.yaml"
        try:
            joints = parse_urdf(urdf).findall("joint")
            kind = f"{sum(joint.get('type') not in ('fixed', None) for joint in joints)} joints"
        except RobotError:
            kind = "unreadable"
        # The licence that a README of its folder or the one above states in a line of its own.
        readmes = [folder / "README.md" for folder in list(urdf.parents)[:2]]
        texts = (readme.read_text(encoding="utf-8") for readme in readmes if readme.is_file())
        stated = (re.search(r"^license:\s*(.+)$", text, re.MULTILINE | re.IGNORECASE) for text in texts)
        license_name = next((found[1].strip() for found in stated if found), _UNKNOWN)
        entries[name] = RobotEntry(name, "wheel", kind, license_name, origin, "")
    return list(entries.values())


def robot_kind(description: Description) -> str:
    """Say what a robot is by the limbs that its description names.

    Returns `humanoid` (free base, two legs), `two-armed`, `arm`, or `robot`.
    """
    limbs = {group for group, joints in description.groups.items() if joints}
    if description.base == "floating" and {"left_leg", "right_leg"} <= limbs:
        return "humanoid"
    if {"left_arm", "right_arm"} <= limbs:
        return "two-armed"
    return "arm" if limbs & {"left_arm", "right_arm"} else "robot"


def _described_entry(name: str, file: RobotFile) -> RobotEntry:
    """Describe a robot that has a robot.yaml, by its first comment that is no instruction to an editor."""
    description = read_description(file.path)
    summary = ""
    for line in file.path.read_text(encoding="utf-8").splitlines():
        text = line.lstrip("# ").rstrip()
        if not line.startswith("#"):
            break
        if text and not text.startswith("yaml-language-server"):
            summary = text
            break
    return RobotEntry(
        name,
        file.origin,
        robot_kind(description),
        description.license or _UNKNOWN,
        summary,
        find_missing_package(description.urdf) or "",
    )
