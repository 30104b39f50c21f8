"""A physics testbed for people who turn recorded human motion into robot motion."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from simbench.motion.readers import read_motion as read_motion
    from simbench.motion.trajectory_file import read_trajectory as read_trajectory
    from simbench.retargeting.api import retarget_motion as retarget_motion
    from simbench.robot.robot import load_robot as load_robot
    from simbench.runs.log import open_run as open_run
    from simbench.runs.pipeline import run_scenario as run_scenario
    from simbench.runs.scenario.loading import load_scenario as load_scenario

__version__ = "0.1.0"

_HOME = {
    "load_robot": "simbench.robot.robot",
    "load_scenario": "simbench.runs.scenario.loading",
    "open_run": "simbench.runs.log",
    "read_motion": "simbench.motion.readers",
    "read_trajectory": "simbench.motion.trajectory_file",
    "retarget_motion": "simbench.retargeting.api",
    "run_scenario": "simbench.runs.pipeline",
}


def __getattr__(name: str) -> Any:
    # Importing Pinocchio takes a second, which `simbench list` need not wait for.
    if name not in _HOME:
        raise AttributeError(f"module 'simbench' has no attribute '{name}'")
    return getattr(import_module(_HOME[name]), name)
