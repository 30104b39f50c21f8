"""Finding the mesh files that a URDF names, and telling which of them Bullet reads."""

import os
import struct
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import unquote

FORMATS = (".obj", ".stl", ".dae")
STL_HEADER, STL_TRIANGLE = 84, 50  # bytes


def find_file(name: str, folder: Path) -> Path | None:
    """Find a mesh or picture that a URDF names.

    Parameters
    ----------
    name : str
        A path, relative to the URDF's folder or absolute; `file://PATH`; or `package://PACKAGE/REST`.
        A package is searched as an ancestor of the URDF's folder or a child of one, then in
        `ROS_PACKAGE_PATH` and `AMENT_PREFIX_PATH`; last, REST is tried in every ancestor.
    folder : Path
        Where the URDF lies.

    Returns
    -------
    Path or None
        Absolute; None if there is no such file.
    """
    folder = folder.resolve()
    found = (place for place in _places(name.strip(), folder) if place.is_file())
    path = next(found, None)
    return None if path is None else path.resolve()


def _places(name: str, folder: Path) -> Iterator[Path]:
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
        for entry in _environment_folders("ROS_PACKAGE_PATH"):
            if entry.name == package:
                yield entry / inside
            yield entry / package / inside
        for entry in _environment_folders("AMENT_PREFIX_PATH"):
            yield entry / "share" / package / inside
        for ancestor in ancestors:
            yield ancestor / inside


def _environment_folders(variable: str) -> list[Path]:
    return [Path(entry) for entry in os.environ.get(variable, "").split(os.pathsep) if entry]


def find_mesh_format_error(path: Path) -> str | None:
    """Say why Bullet cannot read a mesh file, None if it can.

    Parameters
    ----------
    path : Path

    Returns
    -------
    str or None
    """
    suffix = path.suffix.lower()
    if suffix not in FORMATS:
        return f"format `{path.suffix}` is none of {', '.join(FORMATS)}"
    if suffix == ".stl" and not _is_binary_stl(path):
        # Bullet takes a text STL for an empty mesh, without a word.
        return "an STL in text form; only binary ones are read"
    return None


def _is_binary_stl(path: Path) -> bool:
    with path.open("rb") as file:
        header = file.read(STL_HEADER)
    if len(header) < STL_HEADER:
        return False
    (triangles,) = struct.unpack_from("<I", header, STL_HEADER - 4)
    return path.stat().st_size == STL_HEADER + STL_TRIANGLE * triangles
