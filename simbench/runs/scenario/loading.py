"""Scenarios: validated, overridden and written; the files that they name; and those of robot motions."""

import os
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import yaml
from pydantic import ValidationError

from simbench.errors import ScenarioError, closest_name
from simbench.files.text import require_regular_file
from simbench.files.yaml_document import EXPONENT, KeyPath, YamlDocument, format_key_path, read_yaml
from simbench.options import TRAJECTORY
from simbench.plugins.declarations import FINISHED
from simbench.plugins.entry_points import code_file, is_code, require_trusted
from simbench.resources import resource_dir
from simbench.runs.metric_catalogue import metric_entries
from simbench.runs.run_directory import PROVENANCE
from simbench.runs.scenario.scenario_files import (
    PERSON_SUFFIXES,
    Overrides,
    YamlSource,
    apply_override,
    apply_values,
    find_scenario,
)
from simbench.runs.scenario.schema import Scenario
from simbench.sim.fixtures import fixture_mechanism
from simbench.sim.fixtures.declared import DeclaredMechanism
from simbench.sim.fixtures.fixture_section import FixtureSection
from simbench.sim.fixtures.mechanism import Mechanism, scale_mechanism

_KEYS = (
    ("robot", "name"),
    ("motion", "source"),
    ("motion", "marker_map"),
    ("motion", "skeleton"),
    ("motion", "body_model"),
    ("motion", "joint_order"),
)
_FILE_KEYS = (*_KEYS, ("control", "policy", "contract"), ("control", "policy", "model"))
_SOURCE = ("motion", "source")
_CODE_SECTIONS = (("control",), ("control", "policy"), ("balance",), ("retarget",), ("motion",))
_CODE_KEYS = ("callable", "law", "controller", "method", "reader", "marker_map", "type", "plugin")
_WORDING = {
    "Input should ": "must ",
    "String should ": "must ",
    "Tuple should ": "must ",
    " after validation": "",
    "a valid tuple": "a list",
    "a valid dictionary or object to extract fields from": "a section",
    "a valid dictionary": "a section",
}
_LEAD_IN_S = 1.0  # Time from the robot's posture to the file's first sample, and back after its last one, s.


class _Dumper(yaml.SafeDumper):
    """SafeDumper that writes a vector on one line."""


_Dumper.add_representer(
    list,
    lambda dumper, values: dumper.represent_sequence(
        "tag:yaml.org,2002:seq",
        values,
        flow_style=not any(isinstance(value, dict | list) for value in values),
    ),
)
# Text that would be parsed as a number is written in quotes.
_Dumper.add_implicit_resolver(*EXPONENT)


def load_scenario(name_or_path: str | Path, overrides: Overrides = ()) -> Scenario:
    """Read and validate a scenario.

    Parameters
    ----------
    name_or_path : str or Path
        A name from `list_scenarios`, or the path of a YAML file. Files that it names are looked for beside
        it first, then in the current directory.
    overrides : sequence of str, or mapping of str to object
        `key=value` texts applied in order, such as `fixtures.0.mass_kg=3`, whose value is read as YAML; or
        values by dotted or nested keys, `{"fixtures.0.mass_kg": 3, "control": {"law": "pd"}}`.

    Returns
    -------
    Scenario
        The validated scenario.

    Raises
    ------
    ScenarioError
        In one line: which file and line (or override), which key, what is wrong, what is allowed.
    """
    path = find_scenario(name_or_path)
    source = make_source(read_yaml(path, ScenarioError))
    _resolve_files(source.data, path.parent)
    return validate_source(source, overrides)


def load_finished(folder: Path, overrides: Overrides = ()) -> Scenario:
    """Read the scenario of a run that is over; no code that it names is loaded.

    `folder`: run directory. Returns the scenario as it was run: not to be run again. Raises ScenarioError as
    `load_scenario`.
    """
    source = make_source(read_yaml(folder / "scenario.yaml", ScenarioError))
    return validate_source(source, overrides, finished=True)


def read_scenario_values(path: Path) -> dict[str, Any]:
    """Read a scenario's values, with files beside it by their paths, without validating them.

    `path`: YAML file. Returns values by key. Raises ScenarioError if the file cannot be read, or holds no
    keys.
    """
    source = make_source(read_yaml(path, ScenarioError))
    _resolve_files(source.data, path.parent)
    return source.data


def override_scenario(scenario: Scenario, overrides: Overrides) -> Scenario:
    """Set values of a scenario and validate it again.

    `scenario`: the scenario; it stays as it is; `overrides`: as for `load_scenario`. Returns the changed
    scenario; the same one if there is nothing to set. Raises ScenarioError as `load_scenario`.
    """
    if not overrides:
        return scenario
    data = scenario.model_dump(mode="json")
    return validate_source(YamlSource(scenario.name, data, {}, {}), overrides)


def validate_source(source: YamlSource, overrides: Overrides = (), *, finished: bool = False) -> Scenario:
    """Apply overrides to a scenario's values and validate them.

    `source`: values of the scenario with their origins; changed in place; `overrides`: `key=value` texts
    applied in order, or values by key; `finished`: whether it will not be run, so that the code that it names
    need not be there.
    """
    if isinstance(overrides, str):
        overrides = (overrides,)
    if isinstance(overrides, Mapping):
        apply_values(source, overrides, dotted_sections=("checks",))
    else:
        for override in overrides:
            apply_override(source, override, dotted_sections=("checks",))
    try:
        scenario = Scenario.model_validate(source.data, context={FINISHED: finished})
    except ValidationError as error:
        raise ScenarioError(_describe(error, source)) from None
    if finished or (not scenario.checks and not scenario.metrics):
        return scenario
    names = [entry.name for entry in metric_entries()]
    # Those of fixtures are patterns.
    filled = [
        name.replace("<fixture>", mechanism.name).replace("<joint>", joint)
        for name in names
        if "<" in name
        for mechanism in scenario_mechanisms(scenario)
        for joint in ([each.name for each in mechanism.joints] if "<joint>" in name else ("",))
    ]
    known = [*dict.fromkeys([*(name for name in names if "<" not in name), *filled]), *scenario.metrics]
    for name in scenario.metrics:
        if known.count(name) > 1:
            where = source.origin(("metrics", name))
            raise ScenarioError(
                f"{where}: metrics.{name}: simbench has a metric of this name; allowed: another"
            )
    for name in scenario.checks:
        if name not in known:
            hint = closest_name(name, known)
            raise ScenarioError(
                f"{source.origin(('checks', name))}: checks.{name}: unknown metric{hint}; "
                "`simbench explain METRIC` describes those of a run"
            )
    return scenario


def resolved_yaml(scenario: Scenario) -> str:
    """Write a scenario as YAML that spells out every value. Returns YAML that loads to an equal scenario."""
    data = scenario.model_dump(mode="json")
    return yaml.dump(data, Dumper=_Dumper, sort_keys=False, allow_unicode=True, width=110)


def make_source(document: YamlDocument) -> YamlSource:
    """Make a source without overrides from a document that holds a mapping.

    `document`: values and their positions. Returns the same values, with the lines of their keys.
    """
    data = {} if document.value is None else document.value
    if not isinstance(data, dict):
        shown = " ".join(repr(data).split())
        raise ScenarioError(f"{document.name}:1: must hold 'key: value' lines, not {shown:.60}")
    lines = {path: line for path, (line, _) in document.positions.items()}
    return YamlSource(document.name, data, lines, {})


def find_value(data: Any, path: KeyPath) -> Any:
    """Return the value at a key path.

    `data`: nested mappings and lists. Returns the value; None if there is none.
    """
    for step in path:
        if isinstance(data, Mapping):
            data = data.get(step)
        elif isinstance(data, list) and isinstance(step, int) and step < len(data):
            data = data[step]
        else:
            return None
    return data


def _resolve_meshes(data: Any, folder: Path) -> None:
    """Replace the files of meshes that are beside a scenario, or beside equipment, by their paths."""
    if isinstance(data, list):
        for value in data:
            _resolve_meshes(value, folder)
    if not isinstance(data, dict):
        return
    file = data.get("file")
    if data.get("kind") == "mesh" and isinstance(file, str) and os.path.isfile(folder / file):
        data["file"] = str((folder / file).resolve())
    for value in data.values():
        _resolve_meshes(value, folder)


def _resolve_files(data: dict[str, Any], folder: Path) -> None:
    """Replace names of files beside the scenario by their paths, and equipment's files by their content.

    Keys that the scenario gives a fixture beside `file` replace those of the file.
    """
    # Of plug-ins, such as `./my_law.py:make`.
    places = [find_value(data, section) for section in _CODE_SECTIONS]
    fixtures, metrics = data.get("fixtures"), data.get("metrics")
    places += [*(fixtures if isinstance(fixtures, list) else ()), metrics]
    places += list(metrics.values()) if isinstance(metrics, dict) else []
    for place in places:
        for key, value in place.items() if isinstance(place, dict) else ():
            names_code = key in _CODE_KEYS or place is metrics
            if names_code and is_code(value) and os.path.lexists(folder / PROVENANCE):
                require_trusted(value, folder)
            written = code_file(value) if names_code else None
            if written is not None and os.path.isfile(folder / written):
                place[key] = f"{(folder / written).resolve()}{value.removeprefix(written)}"
    equipment = fixtures if isinstance(fixtures, list) else []
    for number, fixture in enumerate(equipment):
        if not isinstance(fixture, dict) or fixture.get("type") != "mechanism" or "file" not in fixture:
            continue
        written = fixture["file"]
        if not isinstance(written, str):
            raise ScenarioError(f"fixtures.{number}.file: {written!r:.60}; allowed: the path of a YAML file")
        path = folder / written
        source = make_source(read_yaml(path if os.path.isfile(path) else Path(written), ScenarioError))
        if "file" in source.data:
            raise ScenarioError(
                f"{source.origin(('file',))}: file: equipment of another file; allowed: parts"
            )
        _resolve_meshes(source.data, path.parent)
        given = {key: value for key, value in fixture.items() if key != "file"}
        source.data = {**source.data, **given}
        try:
            DeclaredMechanism.model_validate(source.data)
        except ValidationError as error:
            raise ScenarioError(_describe(error, source)) from None
        equipment[number] = source.data
    _resolve_meshes(fixtures, folder)
    for *section, key in _FILE_KEYS:
        value = find_value(data, (*section, key))
        if not isinstance(value, str):
            continue
        # The file of a robot's motion stands behind a prefix.
        prefix = TRAJECTORY if (*section, key) == _SOURCE and value.startswith(TRAJECTORY) else ""
        path = folder / value.removeprefix(prefix)
        if os.path.isfile(path):
            find_value(data, tuple(section))[key] = f"{prefix}{path.resolve()}"


def _describe(error: ValidationError, source: YamlSource) -> str:
    """Write pydantic's first error as one line.

    A value that fits no alternative of a union gives an error for each: those at the deepest key are the most
    specific.
    """
    found: list[tuple[KeyPath, str]] = []
    for details in error.errors(include_url=False):
        context, kind, message = details.get("ctx", {}), details["type"], details["msg"]
        path: KeyPath = ()
        for number, step in enumerate(details["loc"]):
            # Names of the members of a union are no keys; that of a missing key, the last one, is.
            value = find_value(source.data, path)
            present = (
                step in value
                if isinstance(value, dict)
                else isinstance(value, list) and isinstance(step, int)
            )
            if present or (kind == "missing" and number == len(details["loc"]) - 1):
                path = (*path, step)
        if kind == "unknown_key":
            path = (*path, context["key"])
        elif kind in ("union_tag_invalid", "union_tag_not_found"):
            # The key that distinguishes the members of a union, which pydantic quotes.
            path = (*path, context["discriminator"].strip("'"))
        if kind == "value_error":
            message = str(context["error"])
        elif kind == "union_tag_invalid":
            message = f"must be one of {context['expected_tags']}"
        elif kind in ("missing", "union_tag_not_found"):
            message = "a number is missing" if isinstance(path[-1], int) else "required key is missing"
        for original, replacement in _WORDING.items():
            message = message.replace(original, replacement)
        found.append((path, message))
    first = found[0][0]
    path = max((path for path, _ in found if path[: len(first)] == first), key=len)
    message = " or ".join(dict.fromkeys(message for other, message in found if other == path))
    value = find_value(source.data, path)
    said = "unknown key" in message or (isinstance(value, str) and len(value) > 1 and value in message)
    if value is not None and not isinstance(value, dict | list) and not said:
        message += f", got {' '.join(repr(value).split())[:60]}"
    key = f"{format_key_path(path)}: " if path else ""
    return f"{source.origin(path)}: {key}{message}"


def scenario_mechanisms(scenario: Scenario, stored: Mapping[str, Mechanism] | None = None) -> list[Mechanism]:
    """Make the mechanisms of a scenario's fixtures, in their order.

    `stored`: of a run that is over, equipment of plug-ins from its log, by name. Returns one for each
    fixture, in the size that the scenario asks for.
    """
    mechanisms = []
    fixtures: tuple[Any, ...] = scenario.fixtures
    for design in fixtures:
        if type(design) is not FixtureSection:
            mechanisms.append(scale_mechanism(fixture_mechanism(design), scenario.equipment_scale))
        elif stored and design.name in stored:
            mechanisms.append(stored[design.name])
        else:
            raise ScenarioError(
                f"fixtures: the log has no shapes of {design.name}, which {design.type} made; run it again"
            )
    return mechanisms


def resolve_paths(scenario: Scenario) -> Scenario:
    """Make the paths of files in a scenario absolute, so that it works from any directory.

    `scenario`: scenario whose paths are relative to the current directory. Returns the same scenario with
    absolute paths.
    """
    for name, key in _KEYS:
        section = getattr(scenario, name)
        value = getattr(section, key)
        path = _user_file(name, value)
        if path is not None:
            prefix = TRAJECTORY if value.startswith(TRAJECTORY) else ""
            resolved = section.model_copy(update={key: f"{prefix}{path.resolve()}"})
            scenario = scenario.model_copy(update={name: resolved})
    return scenario


def scenario_files(scenario: Scenario) -> list[Path]:
    """List the user's files that a scenario reads: motion, marker map, and robot with its URDF and meshes.

    Returns files, without those that ship with simbench. Raises RobotError if the robot's description cannot
    be read.
    """
    keys = [key for section, key in _KEYS if section == "motion"]
    named = (_user_file("motion", getattr(scenario.motion, key)) for key in keys)
    shipped = resource_dir("robots")
    robot = (path for path in robot_files(scenario.robot.name) if shipped not in path.parents)
    return [*(path for path in named if path is not None), *robot]


def robot_files(name: str) -> list[Path]:
    """List the files that describe a robot: its robot.yaml, URDF and meshes.

    Of a xacro file also those that it includes, of an MJCF the URDF that it was converted to. `name`: name of
    a robot, or path of a robot.yaml, of its folder, or of a URDF, xacro or MJCF.
    """
    # Importing Pinocchio takes a second, which reading a scenario need not wait for.
    from simbench.robot.mjcf.kept_conversion import convert_kept
    from simbench.robot.packages import find_file
    from simbench.robot.robot_sources import describe_robot, find_robot, find_urdf
    from simbench.robot.urdf.elements import parse_urdf

    file = find_robot(name)
    file, description = describe_robot(file)
    urdf = find_urdf(description.urdf, file.path.parent, f"{file.path}: urdf")
    root = parse_urdf(urdf, description.xacro)
    included = [Path(each.get("file", "")) for each in root.findall("xacro")]
    included += [] if root.find("mjcf") is None else [convert_kept(urdf)]
    names = [element.get("filename", "") for element in root.iter() if "filename" in element.attrib]
    meshes = (find_file(name, urdf.parent) for name in dict.fromkeys(names))
    found = [file.path, urdf, *included, *(mesh for mesh in meshes if mesh is not None)]
    return list(dict.fromkeys(found))


def _user_file(section: str, text: str | None) -> Path | None:
    """Return the file that a value names, None if it names something that ships with simbench."""
    if text is None:
        return None
    path = Path(text.removeprefix(TRAJECTORY))
    if section == "robot":
        from simbench.robot.robot_sources import find_given_robot

        given = find_given_robot(text)
        own = given is not None and given.origin == "own path" and os.path.isfile(given.path)
        return path if own else None
    return path if os.path.isfile(path) else None


def motion_file_scenario(path: Path, robot: str | None, overrides: Overrides = ()) -> Scenario:
    """Make the scenario of a file of a robot's motion.

    It is named after the file. The robot stands, gets into the motion and back in a second, and must not
    fall; everything else has the defaults of scenarios. `robot`: the robot: a name, or the path of a
    robot.yaml or a URDF; `overrides`: `key=value` texts applied in order, or values by key, as for a
    scenario. Returns the validated scenario. Raises RobotError if there is no such robot.
    """
    from simbench.robot.robot import load_robot

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
