"""A physics testbed for people who turn recorded human motion into robot motion.

The names below are the public Python API; each is imported when it is first used. A run in three lines::

    from simbench import load_scenario, open_run, run_scenario
    result = run_scenario(load_scenario("drawer"), "runs/drawer")
    log = open_run("runs/drawer")

Units are SI and radians, the world's z axis points up, and quaternions are x, y, z, w.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from simbench.errors import (
    BalanceError,
    BaselineError,
    CalibrationError,
    DynamicsError,
    Interrupted,
    MotionError,
    RetargetError,
    RobotError,
    RunError,
    ScenarioError,
    SimbenchError,
    SkillError,
    StudyError,
)

if TYPE_CHECKING:
    from simbench.motion.human_motion import HumanMotion
    from simbench.motion.read_options import ReadOptions
    from simbench.motion.readers import read_motion
    from simbench.motion.trajectory import JointTrajectory
    from simbench.motion.trajectory_file import read_trajectory
    from simbench.retargeting.api import Retargeting, retarget_motion
    from simbench.retargeting.imitation.calibration import calibrate
    from simbench.retargeting.imitation.imitation import start_imitation
    from simbench.retargeting.imitation.stream import follow_frames
    from simbench.retargeting.imitation.tasks import imitation_targets
    from simbench.retargeting.reference.reference import Reference
    from simbench.robot.robot import Robot, load_robot
    from simbench.runs.log import open_run
    from simbench.runs.pipeline import RunResult, run_scenario
    from simbench.runs.scenario.loading import load_scenario
    from simbench.runs.scenario.schema import Scenario

__version__ = "0.1.0"

__all__ = [
    "BalanceError",
    "BaselineError",
    "CalibrationError",
    "DynamicsError",
    "HumanMotion",
    "Interrupted",
    "JointTrajectory",
    "MotionError",
    "ReadOptions",
    "Reference",
    "RetargetError",
    "Retargeting",
    "Robot",
    "RobotError",
    "RunError",
    "RunResult",
    "Scenario",
    "ScenarioError",
    "SimbenchError",
    "SkillError",
    "StudyError",
    "calibrate",
    "follow_frames",
    "imitation_targets",
    "load_robot",
    "load_scenario",
    "open_run",
    "read_motion",
    "read_trajectory",
    "retarget_motion",
    "run_scenario",
    "start_imitation",
]

_MODULE_OF = {
    "HumanMotion": "simbench.motion.human_motion",
    "JointTrajectory": "simbench.motion.trajectory",
    "ReadOptions": "simbench.motion.read_options",
    "Reference": "simbench.retargeting.reference.reference",
    "Retargeting": "simbench.retargeting.api",
    "Robot": "simbench.robot.robot",
    "RunResult": "simbench.runs.pipeline",
    "Scenario": "simbench.runs.scenario.schema",
    "calibrate": "simbench.retargeting.imitation.calibration",
    "follow_frames": "simbench.retargeting.imitation.stream",
    "imitation_targets": "simbench.retargeting.imitation.tasks",
    "load_robot": "simbench.robot.robot",
    "load_scenario": "simbench.runs.scenario.loading",
    "open_run": "simbench.runs.log",
    "read_motion": "simbench.motion.readers",
    "read_trajectory": "simbench.motion.trajectory_file",
    "retarget_motion": "simbench.retargeting.api",
    "run_scenario": "simbench.runs.pipeline",
    "start_imitation": "simbench.retargeting.imitation.imitation",
}


def __getattr__(name: str) -> Any:
    # Importing Pinocchio takes a second, which `simbench list` need not wait for.
    if name not in _MODULE_OF:
        raise AttributeError(f"module 'simbench' has no attribute '{name}'")
    return getattr(import_module(_MODULE_OF[name]), name)


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
