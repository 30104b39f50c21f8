"""The files of the user's own that decide what a scenario's run gives."""

import re
from pathlib import Path

from simbench.resources import resource_dir
from simbench.robot.description import read_description
from simbench.robot.meshes.mesh_files import find_file
from simbench.runs.scenario.loading import Scenario

_KEYS = (("robot", "name"), ("motion", "source"), ("motion", "marker_map"))


def with_whole_paths(scenario: Scenario) -> Scenario:
    """Let a scenario name its files from anywhere, not only from the current directory.

    Parameters
    ----------
    scenario : Scenario

    Returns
    -------
    Scenario
    """
    for section, key in _KEYS:
        inside = getattr(scenario, section)
        path = _own_file(section, getattr(inside, key))
        if path is not None:
            named = inside.model_copy(update={key: str(path.resolve())})
            scenario = scenario.model_copy(update={section: named})
    return scenario


def scenario_files(scenario: Scenario) -> list[Path]:
    """List the recording, the marker map, and the robot with its URDF and meshes, where they are files.

    Parameters
    ----------
    scenario : Scenario

    Returns
    -------
    list of Path
        Without what ships with simbench.

    Raises
    ------
    RobotError
        If the robot's description cannot be read.
    """
    recording, marker_map = (
        _own_file("motion", name) for name in (scenario.motion.source, scenario.motion.marker_map)
    )
    robot = _own_file("robot", scenario.robot.name)
    return [
        *(path for path in (recording, marker_map) if path is not None),
        *(_robot_files(robot) if robot is not None else ()),
    ]


def _own_file(section: str, text: str | None) -> Path | None:
    if text is None or (section == "robot" and (resource_dir("robots") / text / "robot.yaml").is_file()):
        return None
    path = Path(text)
    return path if path.is_file() or (section == "robot" and (path / "robot.yaml").is_file()) else None


def _robot_files(named: Path) -> list[Path]:
    source = named / "robot.yaml" if named.is_dir() else named
    urdf = source.parent / read_description(source).urdf
    names = re.findall(r'filename="([^"]+)"', urdf.read_text(encoding="utf-8"))
    meshes = (find_file(name, urdf.parent) for name in dict.fromkeys(names))
    return [source, urdf, *(mesh for mesh in meshes if mesh is not None)]
