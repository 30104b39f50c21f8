"""The package that a robot's URDF is in, found without importing what reads robots."""

from pathlib import Path

from simbench.errors import RobotError
from simbench.files.yaml_document import read_yaml
from simbench.robot.meshes.mesh_files import find_file
from simbench.robot.names import shipped_robots
from simbench.robot.packages import split_package_name


def needed_package(robot: str) -> str | None:
    """Name the package that has to be installed before a robot that ships with simbench can be loaded.

    `robot`: name or path of a robot. Returns name of the package that its URDF is in; None if nothing is
    missing, or another robot is meant. Raises RobotError if the robot's description is not YAML.
    """
    path = shipped_robots().get(robot)
    content = None if path is None else read_yaml(path, RobotError).value
    return find_missing_package(str(content.get("urdf", ""))) if isinstance(content, dict) else None


def find_missing_package(urdf: str) -> str | None:
    """Name the package of a URDF that is not installed.

    `urdf`: `package://PACKAGE/PATH`, or the path of a URDF. Returns name of the package; None if the URDF can
    be found without it.
    """
    inside = split_package_name(urdf)
    return inside[0] if inside is not None and find_file(urdf, Path()) is None else None
