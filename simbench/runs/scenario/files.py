"""The user's files that a scenario reads."""

import re
from pathlib import Path

from simbench.files.input_files import is_regular_file
from simbench.resources import resource_dir
from simbench.robot.description import read_description
from simbench.robot.meshes.mesh_files import find_file
from simbench.runs.scenario.loading import Scenario

_KEYS = (("robot", "name"), ("motion", "source"), ("motion", "marker_map"))


def resolve_paths(scenario: Scenario) -> Scenario:
    """Make the paths of files in a scenario absolute, so that it works from any directory.

    Parameters
    ----------
    scenario : Scenario
        Scenario whose paths are relative to the current directory.

    Returns
    -------
    Scenario
        The same scenario with absolute paths.
    """
    for name, key in _KEYS:
        section = getattr(scenario, name)
        path = _user_file(name, getattr(section, key))
        if path is not None:
            resolved = section.model_copy(update={key: str(path.resolve())})
            scenario = scenario.model_copy(update={name: resolved})
    return scenario


def scenario_files(scenario: Scenario) -> list[Path]:
    """List the user's files that a scenario reads: recording, marker map, and robot with its URDF and meshes.

    Parameters
    ----------
    scenario : Scenario
        The scenario.

    Returns
    -------
    list of Path
        Files, without those that ship with simbench.

    Raises
    ------
    RobotError
        If the robot's description cannot be read.
    """
    recording, marker_map = (
        _user_file("motion", name) for name in (scenario.motion.source, scenario.motion.marker_map)
    )
    robot = _user_file("robot", scenario.robot.name)
    return [
        *(path for path in (recording, marker_map) if path is not None),
        *(robot_files(scenario.robot.name) if robot is not None else ()),
    ]


def robot_files(name: str) -> list[Path]:
    """List the files that describe a robot: its robot.yaml, URDF and meshes.

    Parameters
    ----------
    name : str
        Name of a robot that ships with simbench, or path of a robot.yaml or of its folder.

    Returns
    -------
    list of Path
        The files.

    Raises
    ------
    RobotError
        If the robot's description cannot be read.
    """
    path = _user_file("robot", name) or resource_dir("robots") / name
    source = path / "robot.yaml" if path.is_dir() else path
    urdf = source.parent / read_description(source).urdf
    names = re.findall(r'filename="([^"]+)"', urdf.read_text(encoding="utf-8"))
    meshes = (find_file(name, urdf.parent) for name in dict.fromkeys(names))
    return [source, urdf, *(mesh for mesh in meshes if mesh is not None)]


def _user_file(section: str, text: str | None) -> Path | None:
    """Return the file that a value names, None if it names something that ships with simbench."""
    if text is None or (section == "robot" and is_regular_file(resource_dir("robots") / text / "robot.yaml")):
        return None
    path = Path(text)
    described = section == "robot" and is_regular_file(path / "robot.yaml")
    return path if described or is_regular_file(path) else None
