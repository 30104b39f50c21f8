"""Names of the robots that ship with simbench and of those of plug-ins; without importing what reads them."""

from importlib import metadata
from pathlib import Path

from simbench.resources import resource_dir

PLUG_INS = "simbench.robots"
"""Group of entry points that name robots of other packages: the path of a robot.yaml, or of its folder."""
DESCRIPTION_FILE = "robot.yaml"


def shipped_robots() -> dict[str, Path]:
    """Find the robots that ship with simbench.

    Returns the robot.yaml of each by name, in alphabetical order.
    """
    found = sorted(resource_dir("robots").glob(f"*/{DESCRIPTION_FILE}"))
    return {path.parent.name: path for path in found}


def find_plug_ins() -> dict[str, metadata.EntryPoint]:
    """Find the robots that other packages provide.

    Returns entry points of group `simbench.robots` by name; nothing is imported.
    """
    return {point.name: point for point in metadata.entry_points(group=PLUG_INS)}
