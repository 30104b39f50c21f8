"""The guessed description of a URDF that has none, kept from the last time."""

import hashlib
from pathlib import Path

from simbench.errors import RobotError
from simbench.resources import user_cache_dir
from simbench.robot.meshes.mesh_files import find_file
from simbench.robot.scaffold.scaffold import scaffold_robot
from simbench.robot.scaffold.writing import write_scaffold
from simbench.robot.urdf.elements import parse_urdf

_RULES = 2
"""Number of the rules of guessing; a change of them makes kept descriptions obsolete."""


def guessed_description(urdf: Path) -> Path:
    """Guess the description of a robot from its URDF, or take the one that was guessed the last time.

    It is kept in the user's cache folder by the content that it follows from, because the search for pairs of
    links that collide takes some seconds. Returns A `robot.yaml`.
    """
    cache = user_cache_dir()
    if cache is None:
        raise RobotError(
            f"{urdf}: a URDF without robot.yaml needs a cache folder for its guessed description (set "
            "XDG_CACHE_HOME), or a robot.yaml: simbench robot scaffold writes it"
        )
    folder = cache / "simbench" / "descriptions" / _content_key(urdf)
    # Its robot.yaml is written last, and under its name only when whole.
    if not (folder / "robot.yaml").is_file():
        write_scaffold(scaffold_robot(urdf), folder, force=True)
    return folder / "robot.yaml"


def _content_key(urdf: Path) -> str:
    """Digest of a URDF, of its place, and of sizes and times of its meshes."""
    root = parse_urdf(urdf)
    digest = hashlib.sha256(f"{_RULES} {urdf.resolve()}".encode() + urdf.read_bytes())
    for mesh in root.iter("mesh"):
        path = find_file(mesh.get("filename", ""), urdf.parent)
        if path is not None:
            state = path.stat()
            digest.update(f"{path} {state.st_size} {state.st_mtime_ns}".encode())
    return digest.hexdigest()[:32]
