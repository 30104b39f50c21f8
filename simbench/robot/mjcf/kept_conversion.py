"""The URDF of an MJCF file, converted once and kept; and what the file says beyond a URDF."""

import hashlib
import importlib.util
import math
import re
import tempfile
import xml.etree.ElementTree as ET
from dataclasses import dataclass
from pathlib import Path

from simbench.errors import RobotError
from simbench.files.storage import make_folder, write_whole
from simbench.resources import user_cache_dir

_RULES = 2  # Number of the rules of conversion; a change of them makes kept conversions obsolete.
_FILE = re.compile(rb"""\bfile\s*=\s*["']([^"']+)["']""")
_COUNT = re.compile(rb"""\bcount\s*=\s*["']([0-9\s]+)["']""")
_MOST_COPIES = 100_000  # Largest product of the counts of `<replicate>` and `<composite>` in a file.
_DIRECTORY = re.compile(rb"""\b(?:asset|mesh|texture)dir\s*=\s*["']([^"']*)["']""")


def convert_kept(path: Path) -> Path:
    """Convert an MJCF file to a URDF, or take the one that was converted the last time.

    Returns the URDF, with meshes by absolute path, in the user's cache folder. Raises RobotError if MuJoCo is
    needed and not installed, or refuses the file.
    """
    digest = hashlib.sha256(f"{_RULES} {path.resolve()}".encode())
    # All files that the MJCF and the files it includes name: other MJCFs by content, meshes by size and time.
    xmls, folders = [path.resolve()], [path.resolve().parent]
    for xml in xmls:
        content = xml.read_bytes()
        digest.update(content)
        copies = math.prod(int(number) for found in _COUNT.findall(content) for number in found.split()[:3])
        if copies > _MOST_COPIES:
            raise RobotError(f"{xml}: repeats elements {copies:.6g} times; allowed: {_MOST_COPIES}")
        folders += [
            path.resolve().parent / name.decode(errors="replace") for name in _DIRECTORY.findall(content)
        ]
        for name in sorted(set(_FILE.findall(content))):
            for parent in dict.fromkeys([xml.parent, *folders]):
                named = parent / name.decode(errors="replace")
                if not named.is_file():
                    continue
                if named.suffix.lower() in (".xml", ".mjcf"):
                    xmls += [named] if named not in xmls else []
                else:
                    state = named.stat()
                    digest.update(f"{named} {state.st_size} {state.st_mtime_ns}".encode())
    name, cache = f"{path.stem}.urdf", user_cache_dir()
    folder = None if cache is None else cache / "simbench" / "mjcf" / digest.hexdigest()[:32]
    # The URDF is written last, and under its name only when whole.
    if folder is not None and (folder / name).is_file():
        return folder / name
    if importlib.util.find_spec("mujoco") is None:
        raise RobotError(
            f"{path}: MJCF is read by MuJoCo, which is not installed: pip install mujoco, or in a clone "
            'pip install -e ".[mujoco]"; or give the robot as a URDF'
        )
    # It takes a quarter of a second to import.
    from simbench.robot.mjcf.conversion import convert_mjcf

    folder = folder or Path(tempfile.mkdtemp(prefix="simbench-mjcf-"))
    text, meshes = convert_mjcf(path, folder)
    try:
        make_folder(folder)
        for mesh, triangles in meshes.items():
            write_whole(folder / mesh, triangles)
        write_whole(folder / name, text)
    except OSError as error:
        raise RobotError(f"{folder}: cannot be written: {error.strerror}") from error
    return folder / name


@dataclass(frozen=True)
class MjcfExtension:
    """Drives, friction, gains and postures of the joints of an MJCF, in the form of `robot.yaml`."""

    given: bool  # Whether the robot is from an MJCF; if not, nothing else is given.
    floating: bool  # Whether the root link has a free joint.
    motors: dict[str, dict[str, float]]  # Reflected inertia (armature) of every joint, kg·m².
    friction: dict[str, dict[str, float]]  # Damping and friction loss of the joints that have any.
    gains: dict[str, tuple[float, float]]  # Stiffness and damping of the joints with a position servo.
    postures: dict[str, dict[str, float]]  # Keyframes within the limits: positions by joint, rad or m.
    excluded: frozenset[frozenset[str]]  # Pairs of links without contacts.
    notes: tuple[str, ...]  # What was left out, a line each.


def read_extension(robot: ET.Element) -> MjcfExtension:
    """Read the extension of the element `<robot>`, which is empty for a robot that is no MJCF."""
    extension = robot.find("mjcf")
    given = extension is not None
    extension = ET.Element("mjcf") if extension is None else extension
    numbers = {
        joint.get("name", ""): {key: float(value) for key, value in joint.items() if key != "name"}
        for joint in extension.findall("joint")
    }
    friction = {}
    for name, values in numbers.items():
        # MuJoCo holds a joint at rest by as much as it brakes a moving one.
        loss = values["frictionloss"]
        entry = {"coulomb": loss, "viscous": values["damping"], "breakaway": loss}
        if any(entry.values()):
            friction[name] = {key: value for key, value in entry.items() if value}
    return MjcfExtension(
        given=given,
        floating=extension.get("floating") == "true",
        motors={name: {"reflected_inertia": values["armature"]} for name, values in numbers.items()},
        friction=friction,
        gains={name: (values["kp"], values["kv"]) for name, values in numbers.items() if "kp" in values},
        postures={
            posture.get("name", ""): {
                joint.get("name", ""): float(joint.get("position", "0")) for joint in posture
            }
            for posture in extension.findall("posture")
        },
        excluded=frozenset(
            frozenset((pair.get("link1", ""), pair.get("link2", ""))) for pair in extension.findall("exclude")
        ),
        notes=tuple(note.text or "" for note in extension.findall("note")),
    )
