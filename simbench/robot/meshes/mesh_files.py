"""Search for the mesh files that a URDF names, and check of whether Bullet can read them."""

import os
import struct
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import unquote

from simbench.input_files import is_regular_file

FORMATS = (".obj", ".stl", ".dae")
STL_HEADER, STL_TRIANGLE = 84, 50  # bytes


def find_file(name: str, folder: Path) -> Path | None:
    """Find a mesh or picture that a URDF names.

    Parameters
    ----------
    name : str
        A path, relative to the URDF's folder or absolute; `file://PATH`; or `package://PACKAGE/REST`.
        A package is searched for as an ancestor of the URDF's folder or a child of one, then in
        `ROS_PACKAGE_PATH` and `AMENT_PREFIX_PATH`; last, REST is tried in every ancestor.
    folder : Path
        Folder of the URDF.

    Returns
    -------
    Path or None
        Absolute path; None if there is no such file.
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
    """Find out why Bullet cannot read a mesh file.

    Parameters
    ----------
    path : Path
        The file.

    Returns
    -------
    str or None
        The reason; None if Bullet can read it.
    """
    suffix = path.suffix.lower()
    if suffix not in FORMATS:
        return f"format `{path.suffix}` is none of {', '.join(FORMATS)}"
    if suffix == ".stl" and not _is_binary_stl(path):
        # Bullet reads a text STL as an empty mesh, without a message.
        return "an STL in text form; only binary ones are read"
    return None


def _is_binary_stl(path: Path) -> bool:
    """Tell whether the size of an STL file is that of a binary one."""
    with path.open("rb") as file:
        header = file.read(STL_HEADER)
    if len(header) < STL_HEADER:
        return False
    (triangles,) = struct.unpack_from("<I", header, STL_HEADER - 4)
    return path.stat().st_size == STL_HEADER + STL_TRIANGLE * triangles
