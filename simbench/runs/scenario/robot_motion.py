"""The scenario that a file of a robot's motion is run with when no scenario names it."""

import re
from pathlib import Path

from simbench.errors import ScenarioError
from simbench.files.text import require_regular_file
from simbench.files.yaml_document import YamlDocument
from simbench.options import TRAJECTORY
from simbench.robot.robot import load_robot
from simbench.runs.scenario.library import PERSON_SUFFIXES
from simbench.runs.scenario.loading import Scenario, validate_source
from simbench.runs.scenario.yaml_source import Overrides, make_source

_LEAD_IN_S = 1.0
"""Time from the robot's posture to the file's first sample, and back after its last one, s."""


def motion_file_scenario(path: Path, robot: str | None, overrides: Overrides = ()) -> Scenario:
    """Make the scenario of a file of a robot's motion.

    It is named after the file. The robot stands, gets into the motion and back in a second, and must not
    fall; everything else has the defaults of scenarios. `robot`: the robot: a name, or the path of a
    robot.yaml or a URDF; `overrides`: `key=value` texts applied in order, or values by key, as for a
    scenario. Returns the validated scenario. Raises RobotError if there is no such robot.
    """
    require_regular_file(path, ScenarioError)
    if path.suffix.lower() in PERSON_SUFFIXES:
        raise ScenarioError(
            f"{path}: a person's recording; `simbench retarget {path}` makes a robot's motion of it, and a "
            "scenario with it as motion.source simulates it"
        )
    if robot is None:
        raise ScenarioError(
            f"{path}: to run a robot's motion, say of which robot: --robot NAME (simbench robot list), or "
            "the path of a URDF; a person's recording needs a scenario with it as motion.source"
        )
    data = {
        "name": re.sub(r"[^A-Za-z0-9_-]+", "_", path.stem) or "motion",
        "summary": f"A robot's motion made elsewhere, {path.name}.",
        "robot": {"name": robot},
        "motion": {"source": f"{TRAJECTORY}{path.resolve()}"},
        "simulation": {"lead_in_s": _LEAD_IN_S},
        "checks": {"fell": False} if load_robot(robot).floating else {},
    }
    return validate_source(make_source(YamlDocument(str(path), data, {})), overrides)
