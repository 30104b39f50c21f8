"""Search for the mesh files that a URDF names, and check of whether Bullet can read them."""

import os
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import unquote

from simbench.files.text import is_regular_file
from simbench.robot.packages import find_share_folder

FORMATS = (".obj", ".stl", ".dae", ".ply", ".glb")
LONGEST_PATH = 800
"""Longest path of a mesh, bytes. Bullet reads lines, and keeps paths, of at most 1023 bytes."""


def find_file(name: str, folder: Path) -> Path | None:
    """Find a mesh or picture that a URDF names.

    `name`: A path, relative to the URDF's folder or absolute; `file://PATH`; or `package://PACKAGE/REST`. A
    package is searched for as an ancestor of the URDF's folder or a child of one, then in the `share` folders
    of installed wheels, in `ROS_PACKAGE_PATH` and in `AMENT_PREFIX_PATH`; last, REST is tried in every
    ancestor. Returns absolute path; None if there is no such file.
    """
    folder = folder.resolve()
    found = (candidate for candidate in _candidates(name.strip(), folder) if is_regular_file(candidate))
    path = next(found, None)
    return None if path is None else path.resolve()


def _candidates(name: str, folder: Path) -> Iterator[Path]:
    """Paths at which a file may be, in the order in which they are tried."""
    scheme, separator, rest = name.partition("://")
    if not separator:
        yield folder / name
    elif scheme == "file":
        yield folder / unquote(rest)
    elif scheme in ("package", "model"):
        package, _, inside = rest.partition("/")
        ancestors = [folder, *folder.parents]
        for ancestor in ancestors:
            if ancestor.name == package:
                yield ancestor / inside
            yield ancestor / package / inside
        share = find_share_folder(package)
        if share is not None:
            yield share / inside
        for entry in _environment_folders("ROS_PACKAGE_PATH"):
            if entry.name == package:
                yield entry / inside
            yield entry / package / inside
        for entry in _environment_folders("AMENT_PREFIX_PATH"):
            yield entry / "share" / package / inside
        for ancestor in ancestors:
            yield ancestor / inside


def _environment_folders(variable: str) -> list[Path]:
    """Folders that an environment variable lists."""
    return [Path(entry) for entry in os.environ.get(variable, "").split(os.pathsep) if entry]


def find_mesh_format_error(path: Path) -> str | None:
    """Find out why Bullet cannot read a mesh file, nor one that is made from it.

    Returns the reason; None if there is a file that Bullet can read.
    """
    if path.suffix.lower() not in FORMATS:
        return f"format `{path.suffix}` is none of {', '.join(FORMATS)}"
    if len(os.fsencode(path)) > LONGEST_PATH:
        return f"its path is longer than {LONGEST_PATH} bytes"
    # It imports numpy, which to find a file takes none of.
    from simbench.robot.meshes.mesh_content import check_mesh

    return check_mesh(path).error
