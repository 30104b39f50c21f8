"""Find scenarios, and read the summaries of those that ship with simbench, without validating them."""

import difflib
from collections.abc import Mapping
from functools import lru_cache
from pathlib import Path
from typing import Any, NamedTuple

from simbench.errors import BaselineError, ScenarioError
from simbench.files.json_document import read_json_object
from simbench.files.text import require_regular_file
from simbench.files.yaml_document import YamlDocument, read_yaml
from simbench.resources import resource_dir
from simbench.robot.names import shipped_robots

USUAL_ROBOT = "romeo"
"""Robot of a scenario that names none."""

ROBOT_SUFFIXES = (".csv", ".nc", ".npz", ".pkl", ".pickle")
"""Suffixes of files of robot motions."""
PERSON_SUFFIXES = (".bvh", ".c3d", ".trc", ".mvnx", ".txt", ".npy")
"""Suffixes of files that hold a person's recording only."""


def list_scenarios() -> list[str]:
    """Return the names of the scenarios that ship with simbench. Returns names, sorted."""
    return sorted(path.stem for path in resource_dir("scenarios").glob("*.yaml"))


class ScenarioSummary(NamedTuple):
    """What can be said of a scenario without validating or planning it."""

    name: str
    robot: str  # Name of its robot, as the scenario gives it.
    # `push`, `walking`, `stepping` (on the spot), `following steps` (the person's), `seated`, `standing`, or
    # `fixed arm`.
    kind: str
    # Planned duration of the motion that it retargets, as its baseline has it, s; None without one.
    duration_s: float | None
    summary: str  # Its `summary`, in one line; empty if it has none.


def summarise_scenario(name: str) -> ScenarioSummary:
    """Read what a scenario that ships with simbench is, without validating it.

    `name`: A name from `list_scenarios`. Returns robot, kind, duration and summary. Raises ScenarioError if
    the file is not valid YAML.
    """
    path = find_scenario(name)
    data = _read_mapping(path)
    robot = _section(data, "robot")
    robot_name = str(robot.get("name", USUAL_ROBOT))
    return ScenarioSummary(
        name,
        robot_name,
        _scenario_kind(data, robot_name),
        _planned_duration(path),
        " ".join(str(data.get("summary", "")).split()),
    )


def _scenario_kind(data: Mapping[str, Any], robot: str) -> str:
    """Say what a robot does in a scenario, by the sections that the scenario has."""
    if has_fixed_base(robot):
        return "fixed arm"
    if "push" in data:
        return "push"
    commands = _section(data, "stepping").get("commands")
    if isinstance(commands, list) and commands:
        on_the_spot = all(isinstance(each, dict) and set(each) == {"march"} for each in commands)
        return "stepping" if on_the_spot else "walking"
    if _section(data, "retarget").get("physics") == "steps":
        return "following steps"
    return "seated" if _section(data, "robot").get("posture") == "seated" else "standing"


@lru_cache
def has_fixed_base(robot: str) -> bool:
    """Say whether a robot that ships with simbench has a fixed base, without reading its URDF.

    `robot`: name of the robot. Returns whether its robot.yaml says so; False for a robot that does not ship
    with simbench.
    """
    path = shipped_robots().get(robot)
    return path is not None and _read_mapping(path).get("base") == "fixed"


def _planned_duration(path: Path) -> float | None:
    """Planned duration of a scenario's motion in its baseline, s; None without baseline or such a motion."""
    baseline = path.parent / "baselines" / f"{path.stem}.json"
    try:
        expected = read_json_object(baseline, BaselineError)["retarget.duration_s"]["value"]
    except (OSError, BaselineError, LookupError, TypeError):
        # A list says what is known; `simbench check` says what is wrong with a baseline.
        return None
    return float(expected) if isinstance(expected, (int, float)) else None


def _read_mapping(path: Path) -> Mapping[str, Any]:
    """Read a YAML file that ships with simbench; empty if it does not hold a mapping."""
    data = read_yaml(path, ScenarioError).value
    return data if isinstance(data, dict) else {}


def _section(data: Mapping[str, Any], name: str) -> Mapping[str, Any]:
    """Section of a scenario; empty if it has none."""
    section = data.get(name)
    return section if isinstance(section, dict) else {}


def read_scenario(name_or_path: str | Path) -> YamlDocument:
    """Read the file of a scenario without validating it.

    `name_or_path`: name of a scenario that ships with simbench, or path of a file. Returns values and their
    positions. Raises ScenarioError as of `find_scenario`, or if the file is not valid YAML.
    """
    return read_yaml(find_scenario(name_or_path), ScenarioError)


def find_scenario(name_or_path: str | Path) -> Path:
    """Find the file of a scenario.

    `name_or_path`: name of a scenario that ships with simbench, or path of a file.
    """
    path = Path(name_or_path)
    if path.suffix in (".yaml", ".yml") or len(path.parts) > 1:
        return require_regular_file(path, ScenarioError)
    names = list_scenarios()
    if path.name not in names:
        close = difflib.get_close_matches(path.name, names, n=1)
        hint = f" (did you mean '{close[0]}'?)" if close else ""
        raise ScenarioError(
            f"unknown scenario '{name_or_path}'{hint}; "
            f"available: {', '.join(names)}, or the path of a .yaml file"
        )
    return resource_dir("scenarios") / f"{path.name}.yaml"


def is_motion_file(text: str) -> bool:
    """Say whether an argument names a file of a motion and not a scenario.

    `text`: argument of the command line. Returns whether its suffix is one of motions.
    """
    return Path(text).suffix.lower() in (*ROBOT_SUFFIXES, *PERSON_SUFFIXES)
