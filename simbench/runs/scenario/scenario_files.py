"""Files of scenarios: found, summarised without validation, and read with the origin of each key."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import Enum
from functools import lru_cache
from os import PathLike, fspath
from pathlib import Path
from typing import Any

from simbench.errors import BaselineError, ScenarioError, closest_name
from simbench.files.json_document import read_json_object
from simbench.files.text import parse_whole_number, require_regular_file
from simbench.files.yaml_document import (
    MAX_DEPTH,
    KeyPath,
    YamlDocument,
    format_key_path,
    parse_yaml_value,
    read_yaml,
)
from simbench.resources import resource_dir
from simbench.robot.packages import shipped_robots

USUAL_ROBOT = "romeo"  # Robot of a scenario that names none.

ROBOT_SUFFIXES = (".csv", ".nc", ".npz", ".pkl", ".pickle")  # Suffixes of files of robot motions.
# Suffixes of files that hold a person's recording only.
PERSON_SUFFIXES = (".amc", ".bvh", ".c3d", ".fbx", ".glb", ".gltf", ".trc", ".mvnx", ".txt", ".npy", ".vrma")
# Values to set in a scenario: `key=value` texts, or values by dotted or nested keys.
Overrides = Sequence[str] | Mapping[str, Any]


def list_scenarios() -> list[str]:
    """Return the names of the scenarios that ship with simbench. Returns names, sorted."""
    return sorted(path.stem for path in resource_dir("scenarios").glob("*.yaml"))


def summarise_scenario(name: str) -> tuple[str, str, float | None, str]:
    """Read what a scenario that ships with simbench is, without validating it.

    `name`: A name from `list_scenarios`. Returns the name of its robot, as the scenario gives it; its kind:
    `push`, `walking`, `stepping` (on the spot), `following steps` (the person's), `seated`, `standing`, or
    `fixed arm`; the planned duration of the motion that it retargets, as its baseline has it, s, None without
    one; its `summary` in one line, empty if it has none. Raises ScenarioError if the file is not valid YAML.
    """
    path = find_scenario(name)
    data = _read_mapping(path)
    section, commands = _section(data, "robot"), _section(data, "stepping").get("commands")
    robot = str(section.get("name", USUAL_ROBOT))
    kind = "seated" if section.get("posture") == "seated" else "standing"
    if has_fixed_base(robot):
        kind = "fixed arm"
    elif "push" in data:
        kind = "push"
    elif isinstance(commands, list) and commands:
        on_the_spot = all(isinstance(each, dict) and set(each) == {"march"} for each in commands)
        kind = "stepping" if on_the_spot else "walking"
    elif _section(data, "retarget").get("physics") == "steps":
        kind = "following steps"
    try:
        baseline = path.parent / "baselines" / f"{path.stem}.json"
        expected = read_json_object(baseline, BaselineError)["retarget.duration_s"]["value"]
    except (OSError, BaselineError, LookupError, TypeError):
        # A list says what is known; `simbench check` says what is wrong with a baseline.
        expected = None
    duration = float(expected) if isinstance(expected, (int, float)) else None
    return robot, kind, duration, " ".join(str(data.get("summary", "")).split())


@lru_cache
def has_fixed_base(robot: str) -> bool:
    """Say whether a robot that ships with simbench has a fixed base, without reading its URDF.

    `robot`: name of the robot. Returns whether its robot.yaml says so; False for a robot that does not ship
    with simbench.
    """
    path = shipped_robots().get(robot)
    return path is not None and _read_mapping(path).get("base") == "fixed"


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
        hint = closest_name(path.name, names)
        raise ScenarioError(
            f"unknown scenario '{name_or_path}'{hint}; "
            f"available: {', '.join(names)}, or the path of a .yaml file"
        )
    return resource_dir("scenarios") / f"{path.name}.yaml"


@dataclass
class YamlSource:
    """Parsed YAML with the origin of its keys."""

    name: str  # File name for messages.
    data: dict[str, Any]  # Plain Python values.
    lines: dict[KeyPath, int]  # Line of each key, counted from 1.
    overrides: dict[KeyPath, str]  # What last set a key, as messages say it: `--set seed=1`.

    def origin(self, path: KeyPath) -> str:
        """Say where a key, or the nearest section around it, was written.

        Returns `file:line`, or the `--set` that set it.
        """
        for set_path, text in reversed(self.overrides.items()):
            if path[: len(set_path)] == set_path or set_path[: len(path)] == path:
                return text
        while path and path not in self.lines:
            path = path[:-1]
        return f"{self.name}:{self.lines.get(path, 1)}"


def apply_override(source: YamlSource, override: str, dotted_sections: Sequence[str] = ()) -> None:
    """Set one key of a source in place from a `key=value` text.

    `source`: source to change; `override`: dotted key, list indices allowed, and a YAML value:
    `fixtures.0.mass_kg=3`; `dotted_sections`: top-level sections whose own keys contain dots, such as metric
    names.
    """
    key, equals, text = override.partition("=")
    key, origin = key.strip(), f"--set {override}"
    if not equals or not all(key.split(".")):
        raise ScenarioError(f"{origin}: must be key=value, for example seed=1")
    value = parse_yaml_value(text, origin, ScenarioError)
    _set_value(source, _split_key(key, dotted_sections), value, origin)


def apply_values(source: YamlSource, values: Mapping[str, Any], dotted_sections: Sequence[str] = ()) -> None:
    """Set keys of a source in place from a mapping.

    `source`: source to change. `values`: values by dotted keys, `{"fixtures.0.mass_kg": 3}`, by nested ones,
    `{"control": {"law": "pd"}}`, or both. A mapping sets the keys in it and keeps the others of its section.
    A value is a number, text, path, True, False, None, or a list, tuple or array of those. `dotted_sections`:
    top-level sections whose own keys contain dots, such as metric names. Raises ScenarioError if a key is not
    text, a value is of another kind, or a key leads through something that is not a section.
    """
    for key, value in _flat_values(values, ""):
        origin = f"override {key}"
        _set_value(source, _split_key(key, dotted_sections), _plain_value(value, origin), origin)


def _flat_values(values: Mapping[str, Any], before: str) -> Iterator[tuple[str, Any]]:
    """List the values of nested mappings by their dotted keys."""
    for key, value in values.items():
        if not isinstance(key, str) or not all(key.split(".")):
            raise ScenarioError(f"override {before}{key!r}: must be a key such as 'control.law'")
        if isinstance(value, Mapping) and value:
            yield from _flat_values(value, f"{before}{key}.")
        else:
            yield f"{before}{key}", value


def _plain_value(value: Any, origin: str) -> Any:
    """Make what YAML could hold of a value of Python or NumPy."""
    if isinstance(value, Enum):
        value = value.value
    # NumPy's arrays and numbers, without its import.
    if hasattr(value, "tolist"):
        value = value.tolist()
    if isinstance(value, PathLike):
        value = fspath(value)
    if value is None or isinstance(value, bool | int | float | str):
        return value
    if isinstance(value, Mapping):
        return {str(key): _plain_value(part, origin) for key, part in value.items()}
    if isinstance(value, list | tuple):
        return [_plain_value(part, origin) for part in value]
    raise ScenarioError(
        f"{origin}: must be a number, text, a path, true, false, None, a list or a mapping of those, "
        f"not {type(value).__name__}"
    )


def _set_value(source: YamlSource, steps: Sequence[str], value: Any, origin: str) -> None:
    """Set the value at a key path of a source, and remember what set it."""
    path: KeyPath = ()
    target: Any = source.data
    if len(steps) > MAX_DEPTH:
        raise ScenarioError(f"{origin}: the key is nested more than {MAX_DEPTH} deep")
    for number, step in enumerate(steps):
        if isinstance(target, list):
            index = parse_whole_number(step, len(target) - 1)
            if index is None:
                raise ScenarioError(
                    f"{origin}: '{step}' must be an index of '{format_key_path(path)}', "
                    + (f"0 to {len(target) - 1}" if target else "which is empty")
                )
            path = (*path, index)
        elif isinstance(target, dict):
            path = (*path, step)
        else:
            raise ScenarioError(f"{origin}: '{format_key_path(path)}' is a single value, not a section")
        if number == len(steps) - 1:
            target[path[-1]] = value
        else:
            if isinstance(target, dict) and target.get(step) is None:
                target[step] = {}
            target = target[path[-1]]
    source.overrides.pop(path, None)
    source.overrides[path] = origin


def _split_key(key: str, dotted_sections: Sequence[str]) -> list[str]:
    section, *rest = key.split(".")
    if section not in dotted_sections or not rest:
        return [section, *rest]
    tail = [rest.pop()] if len(rest) > 1 and rest[-1] in ("min", "max") else []
    return [section, ".".join(rest), *tail]
