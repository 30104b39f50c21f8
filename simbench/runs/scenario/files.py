"""The user's files that a scenario reads."""

import re
from pathlib import Path

from simbench.errors import RobotError
from simbench.files.text import is_regular_file
from simbench.options import TRAJECTORY
from simbench.resources import resource_dir
from simbench.robot.meshes.mesh_files import find_file
from simbench.robot.robot import describe_robot
from simbench.robot.sources import find_own_robot, find_robot, find_urdf
from simbench.runs.scenario.loading import Scenario

_KEYS = (
    ("robot", "name"),
    ("motion", "source"),
    ("motion", "marker_map"),
    ("motion", "skeleton"),
    ("motion", "body_model"),
    ("motion", "joint_order"),
)


def resolve_paths(scenario: Scenario) -> Scenario:
    """Make the paths of files in a scenario absolute, so that it works from any directory.

    `scenario`: scenario whose paths are relative to the current directory. Returns the same scenario with
    absolute paths.
    """
    for name, key in _KEYS:
        section = getattr(scenario, name)
        value = getattr(section, key)
        path = _user_file(name, value)
        if path is not None:
            prefix = TRAJECTORY if value.startswith(TRAJECTORY) else ""
            resolved = section.model_copy(update={key: f"{prefix}{path.resolve()}"})
            scenario = scenario.model_copy(update={name: resolved})
    return scenario


def scenario_files(scenario: Scenario) -> list[Path]:
    """List the user's files that a scenario reads: motion, marker map, and robot with its URDF and meshes.

    Returns files, without those that ship with simbench. Raises RobotError if the robot's description cannot
    be read.
    """
    keys = [key for section, key in _KEYS if section == "motion"]
    named = (_user_file("motion", getattr(scenario.motion, key)) for key in keys)
    shipped = resource_dir("robots")
    robot = (path for path in robot_files(scenario.robot.name) if shipped not in path.parents)
    return [*(path for path in named if path is not None), *robot]


def robot_files(name: str) -> list[Path]:
    """List the files that describe a robot: its robot.yaml, URDF and meshes.

    `name`: name of a robot, or path of a robot.yaml, of its folder, or of a URDF.
    """
    file = find_robot(name)
    file, description = describe_robot(file)
    urdf = find_urdf(description.urdf, file.path.parent, f"{file.path}: urdf")
    try:
        text = urdf.read_text(encoding="utf-8")
    except OSError as error:
        raise RobotError(f"{urdf}: cannot be read: {error.strerror}") from error
    names = re.findall(r'filename="([^"]+)"', text)
    meshes = (find_file(name, urdf.parent) for name in dict.fromkeys(names))
    found = [file.path, urdf, *(mesh for mesh in meshes if mesh is not None)]
    return list(dict.fromkeys(found))


def _user_file(section: str, text: str | None) -> Path | None:
    """Return the file that a value names, None if it names something that ships with simbench."""
    if text is None:
        return None
    path = Path(text.removeprefix(TRAJECTORY))
    if section == "robot":
        own = find_own_robot(text)
        return path if own is not None and is_regular_file(own) else None
    return path if is_regular_file(path) else None
