"""Find scenarios, and read the summaries of those that ship with simbench, without validating them."""

import difflib
from pathlib import Path

from simbench.errors import ScenarioError
from simbench.files.documents.yaml_document import YamlDocument, read_yaml
from simbench.files.input_files import require_regular_file
from simbench.resources import resource_dir

USUAL_ROBOT = "romeo"
"""Robot of a scenario that names none."""

ROBOT_SUFFIXES = (".csv", ".nc", ".npz", ".pkl", ".pickle")
"""Suffixes of files of robot motions."""
PERSON_SUFFIXES = (".bvh", ".c3d", ".trc", ".mvnx", ".txt", ".npy")
"""Suffixes of files that hold a person's recording only."""


def list_scenarios() -> list[str]:
    """Return the names of the scenarios that ship with simbench.

    Returns
    -------
    list of str
        Names, sorted.
    """
    return sorted(path.stem for path in resource_dir("scenarios").glob("*.yaml"))


def read_summary(name: str) -> str:
    """Read what a scenario that ships with simbench says of itself, without validating it.

    Parameters
    ----------
    name : str
        A name from `list_scenarios`.

    Returns
    -------
    str
        Its `summary`, in one line; empty if it has none.

    Raises
    ------
    ScenarioError
        If the file is not valid YAML.
    """
    data = read_scenario(name).value
    return str(data.get("summary", "")) if isinstance(data, dict) else ""


def read_robot(name: str) -> str:
    """Read which robot a scenario that ships with simbench is for, without validating it.

    Parameters
    ----------
    name : str
        A name from `list_scenarios`.

    Returns
    -------
    str
        Its `robot.name`, or that of a scenario that names none.

    Raises
    ------
    ScenarioError
        If the file is not valid YAML.
    """
    data = read_scenario(name).value
    robot = data.get("robot") if isinstance(data, dict) else None
    return str(robot.get("name", USUAL_ROBOT)) if isinstance(robot, dict) else USUAL_ROBOT


def read_scenario(name_or_path: str | Path) -> YamlDocument:
    """Read the file of a scenario without validating it.

    Parameters
    ----------
    name_or_path : str or Path
        Name of a scenario that ships with simbench, or path of a file.

    Returns
    -------
    YamlDocument
        Values and their positions.

    Raises
    ------
    ScenarioError
        As of `find_scenario`, or if the file is not valid YAML.
    """
    return read_yaml(find_scenario(name_or_path), ScenarioError)


def find_scenario(name_or_path: str | Path) -> Path:
    """Find the file of a scenario.

    Parameters
    ----------
    name_or_path : str or Path
        Name of a scenario that ships with simbench, or path of a file.

    Returns
    -------
    Path
        The file.

    Raises
    ------
    ScenarioError
        For a name that no scenario has, or a path of something that is not a regular file.
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

    Parameters
    ----------
    text : str
        Argument of the command line.

    Returns
    -------
    bool
        Whether its suffix is one of motions.
    """
    return Path(text).suffix.lower() in (*ROBOT_SUFFIXES, *PERSON_SUFFIXES)
