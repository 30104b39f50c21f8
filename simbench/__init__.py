"""A physics testbed for people who turn recorded human motion into robot motion.

The names below are the public Python API; each is imported when it is first used. Two runs, compared::

    import simbench
    usual = simbench.run("drawer")
    stiff = simbench.run("drawer", {"control.stiffness_scale": 2})
    print(simbench.compare(usual, stiff))
    simbench.compare(usual, stiff).plot().savefig("stiffness.png")

Units are SI and radians, the world's z axis points up, and quaternions are x, y, z, w.
"""

import os
from importlib import import_module
from typing import TYPE_CHECKING, Any

from simbench.errors import (
    BalanceError,
    BaselineError,
    CalibrationError,
    DynamicsError,
    Interrupted,
    LegReachError,
    MotionError,
    PluginError,
    PolicyError,
    RetargetError,
    RobotError,
    RunError,
    ScenarioError,
    SimbenchError,
    SkillError,
    StepReachError,
    StorageError,
    StudyError,
)
from simbench.system.portable import PORTABLE, choose_portable_kernels

if TYPE_CHECKING:
    from simbench.motion.human_motion import HumanMotion
    from simbench.motion.read_options import ReadOptions
    from simbench.motion.readers import read_motion
    from simbench.motion.trajectory import JointTrajectory
    from simbench.motion.trajectory_files.native import read_trajectory
    from simbench.retargeting.api import Retargeting, retarget_motion
    from simbench.retargeting.imitate.plan import ImitationStream
    from simbench.retargeting.imitation.imitation import follow_frames, imitation_targets, start_imitation
    from simbench.retargeting.imitation.scaled_model import calibrate
    from simbench.retargeting.reference.reference import Reference
    from simbench.robot.robot import Robot, load_robot
    from simbench.runs.log import open_run
    from simbench.runs.pipeline import run, run_scenario
    from simbench.runs.result import Comparison, RunResult, compare, load_run
    from simbench.runs.robot_check.abilities import check_robot
    from simbench.runs.robot_check.findings import RobotCheck
    from simbench.runs.scenario.loading import load_scenario
    from simbench.runs.scenario.schema import Scenario
    from simbench.runs.verdict.physical_checks import check_trajectory
    from simbench.runs.verdict.verdict_outcome import Verdict

__version__ = "0.1.0"

if os.environ.get(PORTABLE) == "1":
    choose_portable_kernels()

__all__ = [
    "BalanceError",
    "BaselineError",
    "CalibrationError",
    "Comparison",
    "DynamicsError",
    "HumanMotion",
    "ImitationStream",
    "Interrupted",
    "JointTrajectory",
    "LegReachError",
    "MotionError",
    "PluginError",
    "PolicyError",
    "ReadOptions",
    "Reference",
    "RetargetError",
    "Retargeting",
    "Robot",
    "RobotCheck",
    "RobotError",
    "RunError",
    "RunResult",
    "Scenario",
    "ScenarioError",
    "SimbenchError",
    "SkillError",
    "StepReachError",
    "StorageError",
    "StudyError",
    "Verdict",
    "calibrate",
    "check_robot",
    "check_trajectory",
    "compare",
    "follow_frames",
    "imitation_targets",
    "load_robot",
    "load_run",
    "load_scenario",
    "open_run",
    "read_motion",
    "read_trajectory",
    "retarget_motion",
    "run",
    "run_scenario",
    "start_imitation",
]

_MODULE_OF = {
    "Comparison": "simbench.runs.result",
    "HumanMotion": "simbench.motion.human_motion",
    "ImitationStream": "simbench.retargeting.imitate.plan",
    "JointTrajectory": "simbench.motion.trajectory",
    "ReadOptions": "simbench.motion.read_options",
    "Reference": "simbench.retargeting.reference.reference",
    "Retargeting": "simbench.retargeting.api",
    "Robot": "simbench.robot.robot",
    "RobotCheck": "simbench.runs.robot_check.findings",
    "RunResult": "simbench.runs.result",
    "Scenario": "simbench.runs.scenario.schema",
    "Verdict": "simbench.runs.verdict.verdict_outcome",
    "calibrate": "simbench.retargeting.imitation.scaled_model",
    "check_robot": "simbench.runs.robot_check.abilities",
    "check_trajectory": "simbench.runs.verdict.physical_checks",
    "compare": "simbench.runs.result",
    "follow_frames": "simbench.retargeting.imitation.imitation",
    "imitation_targets": "simbench.retargeting.imitation.imitation",
    "load_robot": "simbench.robot.robot",
    "load_run": "simbench.runs.result",
    "load_scenario": "simbench.runs.scenario.loading",
    "open_run": "simbench.runs.log",
    "read_motion": "simbench.motion.readers",
    "read_trajectory": "simbench.motion.trajectory_files.native",
    "retarget_motion": "simbench.retargeting.api",
    "run": "simbench.runs.pipeline",
    "run_scenario": "simbench.runs.pipeline",
    "start_imitation": "simbench.retargeting.imitation.imitation",
}


def __getattr__(name: str) -> Any:
    # Importing Pinocchio takes a second, which `simbench list` need not wait for.
    if name not in _MODULE_OF:
        raise AttributeError(f"module 'simbench' has no attribute '{name}'")
    return getattr(import_module(_MODULE_OF[name]), name)


def __dir__() -> list[str]:
    return sorted({*__all__, *(name for name in globals() if name.startswith("__"))})
