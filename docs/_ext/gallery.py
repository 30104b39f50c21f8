"""The gallery: every shipped scenario with its picture, the numbers of its baseline, and its command."""

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml
from markdown_text import code, escape_text, table, write_if_changed

from simbench.runs.baseline import Baseline, read_baseline
from simbench.runs.metric_catalogue import Metric, format_value, unit_of
from simbench.runs.scenario.loading import load_scenario
from simbench.runs.scenario.scenario_files import find_scenario, list_scenarios
from simbench.runs.scenario.schema import Scenario

NOTES = Path(__file__).parents[1] / "gallery" / "notes.yaml"
LAWS = NOTES.parent / "results" / "puma560_laws.json"
WHEEL_ROBOTS = {"g1": "Unitree G1", "talos": "Talos", "panda": "Panda", "ur5": "UR5"}
ROBOTS = {"romeo": "ROMEO", "mahru": "Mahru", "puma560": "PUMA 560", **WHEEL_ROBOTS}
WHEEL_GROUP = "Robots of example-robot-data"
GROUPS = (
    "ROMEO with equipment",
    "Mahru with equipment",
    "PUMA 560",
    "Free motions",
    "Balance and walking",
    "Redundancy by weights",
    WHEEL_GROUP,
)
RESULTS = {
    "push.survived_ns": "survives",
    "drawer.travel_ratio": "travel ratio",
    "valves.left_turn_ratio": "turn ratio, left",
    "valves.right_turn_ratio": "turn ratio, right",
    "hand_drill.turn_ratio": "turn ratio",
    "knife.travel_ratio": "travel ratio",
    "grater.travel_ratio": "travel ratio",
    "paddles.turn_ratio": "turn ratio",
    "steering_wheel.angle_ratio": "angle ratio",
    "pump.stroke_ratio": "stroke ratio",
    "steps.count": "steps",
}
"""Metrics that say what the robot achieved, with their labels; the first of a scenario is its result."""
QUALITY = {
    "retarget.slow_down": "slowed by",
    "tracking.rms_rad": "tracking error",
    "zmp.min_margin_m": "ZMP margin",
    "hands.rms_m": "hand error",
}
"""Metrics by which scenarios are compared, with their labels."""
MORE = {
    "retarget.similarity": "similarity of the posture to the person's, S",
    "tracking.arms_rms_rad": "tracking error of the arms",
    "cog.rms_m": "COG error",
    "fidelity.step_position_rms_m": "footsteps against the person's, scaled",
    "fidelity.step_time_rms_s": "their times against the person's",
    "base.forward_m": "forward",
    "base.left_m": "to the left",
    "base.turn_rad": "rotation",
    "push.rest_s": "longest time to stand still",
    "knife.cut_depth_m": "depth of the cut",
    "knife.cut_ratio": "cut, ratio to the person's",
    "knife.moved_m": "displacement of the box",
    "grater.cut_ratio": "grated, ratio to the person's",
    "grater.moved_m": "displacement of the grater",
    "hand_drill.moved_m": "displacement of the drill",
    "seat.least_force_n": "least force on the seat",
    "seat.slip_m": "slip on the seat",
    "limits.torque_ratio": "largest torque, of its limit",
    "limits.speed_ratio": "largest speed, of its limit",
    "contact.equipment_unintended_count": "unintended contacts with equipment",
}
"""Further metrics of a scenario, with their labels."""
WALKING = ("base.forward_m", "base.left_m", "base.turn_rad")
FREE = ("limits.torque_ratio", "limits.speed_ratio")


@dataclass(frozen=True)
class Entry:
    """A scenario of the gallery.

    Parameters
    ----------
    scenario : Scenario
        The scenario.
    group : str
        One of `GROUPS`.
    numbers : {metric: value}
        Metrics of its baseline that the gallery shows, in the order of their labels.
    note : str
        What is said of it beyond its summary, in Markdown; empty for nothing.
    commands : {command: explanation}
        Its own command, then others to try.
    """

    scenario: Scenario
    group: str
    numbers: dict[str, Metric]
    note: str
    commands: dict[str, str]


def gallery_entries() -> list[Entry]:
    """Read the shipped scenarios with their baselines and notes, in the order of their groups.

    Returns
    -------
    list of Entry
        One for each scenario.
    """
    notes = _read_notes()
    entries = [_read_entry(name, notes["scenarios"].get(name, {})) for name in list_scenarios()]
    return sorted(entries, key=lambda entry: GROUPS.index(entry.group))


def gallery_page(entries: Iterable[Entry], groups: Mapping[str, str]) -> str:
    """Write the gallery.

    Parameters
    ----------
    entries : iterable of Entry
        Scenarios in the order of their groups.
    groups : {group: text}
        What is said of each group, in Markdown.

    Returns
    -------
    str
        Markdown for a page in a folder beside `pictures`: a table of all scenarios, then each of them.
    """
    entries = list(entries)
    text = _comparison(entries)
    for group in GROUPS:
        members = [entry for entry in entries if entry.group == group]
        if members:
            text += f"## {group}\n\n{groups[group].strip()}\n\n"
            text += laws_table(LAWS) if group == "PUMA 560" else ""
            text += "".join(map(_describe, members))
    return text


def laws_table(results: Path) -> str:
    """Write the errors of PUMA 560 under each control law.

    Parameters
    ----------
    results : Path
        Result file of `scripts/studies/puma560_laws.py`.

    Returns
    -------
    str
        Markdown table with a row for each scenario; empty if the study has no result yet.
    """
    if not results.is_file():
        return ""
    found = json.loads(results.read_text(encoding="utf-8"))
    laws = list(next(iter(found.values())))
    rows = [
        (code(name), *(", ".join(format_number(*metric) for metric in errors[law].items()) for law in laws))
        for name, errors in found.items()
    ]
    intro = "RMS joint error, and RMS error of the flange where it holds equipment "
    return f"{intro}(`python scripts/studies/puma560_laws.py`):\n\n" + table(("scenario", *laws), rows)


def _read_notes() -> dict[str, Any]:
    return dict(yaml.safe_load(NOTES.read_text(encoding="utf-8")))


def _read_entry(name: str, note: Mapping[str, Any]) -> Entry:
    scenario = load_scenario(name)
    baseline = read_baseline(find_scenario(name).parent / "baselines" / f"{name}.json") or {}
    commands = {f"simbench run {name} --video": "", **note.get("try", {})}
    numbers = _chosen_numbers(scenario, baseline)
    return Entry(scenario, _group_of(scenario), numbers, note.get("note", "").strip(), commands)


def _group_of(scenario: Scenario) -> str:
    if scenario.retarget.weights is not None:
        return "Redundancy by weights"
    if scenario.robot.name in WHEEL_ROBOTS:
        return WHEEL_GROUP
    if scenario.robot.name == "puma560":
        return "PUMA 560"
    if scenario.fixtures:
        return f"{ROBOTS[scenario.robot.name]} with equipment"
    return "Balance and walking" if _is_balancing(scenario) else "Free motions"


def _is_balancing(scenario: Scenario) -> bool:
    follows = scenario.retarget.physics == "steps"
    return follows or scenario.push is not None or scenario.stepping is not None


def _chosen_numbers(scenario: Scenario, baseline: Baseline) -> dict[str, Metric]:
    """Choose the metrics that say something about this kind of scenario, if a value can be expected."""
    shown = {}
    for name in (*RESULTS, *QUALITY, *MORE):
        expected = baseline.get(name)
        if expected is None or expected.value is None or expected.spread is None:
            continue
        if _says_something(name, scenario):
            shown[name] = expected.value
    return shown


def _says_something(name: str, scenario: Scenario) -> bool:
    """Whether a metric describes what this kind of scenario is about."""
    if scenario.push is not None:
        return name.startswith("push.") or name == "steps.count"
    if scenario.stepping is not None:
        walks = any(command.march is None for command in scenario.stepping.commands)
        skipped = (*FREE, *(("retarget.slow_down", "tracking.arms_rms_rad") if walks else WALKING))
        return name not in skipped
    if scenario.retarget.physics == "steps":
        return name not in ("retarget.slow_down", *FREE)
    imposed = ("steps.count", "tracking.arms_rms_rad", "cog.rms_m", *WALKING)
    return name not in imposed and (not scenario.fixtures or name != "limits.speed_ratio")


def _comparison(entries: Iterable[Entry]) -> str:
    """Write the table of all scenarios, one group after the other."""
    header = ["scenario", *(_with_unit(label, unit_of(name)) for name, label in QUALITY.items()), "result"]
    rows = []
    for entry in entries:
        name = entry.scenario.name
        cells = [_cell(entry.numbers, metric) for metric in QUALITY]
        # Long names may break, so that the table fits the page.
        shown = escape_text(name).replace("_", "_<wbr>")
        rows.append([f"[{shown}](#scenario-{name})", *cells, _result(entry.numbers)])
    return "## All scenarios\n\n" + table(header, rows)


def _with_unit(label: str, unit: str) -> str:
    return f"{label}, {unit}" if unit else label


def _cell(numbers: Mapping[str, Metric], name: str) -> str:
    return format_value(numbers[name]) if name in numbers else ""


def _result(numbers: Mapping[str, Metric]) -> str:
    """Write the first result of a scenario, as briefly as the table's width asks for."""
    found = next((name for name in RESULTS if name in numbers), None)
    if found is None:
        return ""
    label = "ratio" if found.endswith("_ratio") else RESULTS[found]
    return f"{label} {format_number(found, numbers[found])}"


def format_number(name: str, value: Metric) -> str:
    """Write the value of a metric with its unit.

    Parameters
    ----------
    name : str
        Name of the metric, `group.name_unit`.
    value : float, bool, str or None
        Its value.

    Returns
    -------
    str
        Value and unit.
    """
    return f"{format_value(value)} {unit_of(name)}".strip()


def _describe(entry: Entry) -> str:
    """Write one scenario: summary, picture, note, numbers and commands."""
    scenario, labels = entry.scenario, {**RESULTS, **QUALITY, **MORE}
    summary = escape_text(scenario.summary)
    robot = ROBOTS[scenario.robot.name]
    kinds = ", ".join(fixture.type.replace("_", " ") for fixture in scenario.fixtures)
    source = f"Robot: {robot}; motion: {code(scenario.motion.source)}" + (
        f"; equipment: {kinds}" if kinds else ""
    )
    rows = [(labels[name], format_number(name, value), code(name)) for name, value in entry.numbers.items()]
    numbers = table(("", "value", "metric"), rows) if rows else "No baseline yet.\n\n"
    width = max(map(len, entry.commands))
    lines = [
        f"{command:<{width}}  # {meaning}".rstrip() if meaning else command
        for command, meaning in entry.commands.items()
    ]
    return (
        f"(scenario-{scenario.name})=\n### {code(scenario.name)}\n\n{summary}\n\n"
        f"![{summary}](../pictures/{scenario.name}.png)\n\n"
        + (f"{entry.note}\n\n" if entry.note else "")
        + f"{source}.\n\n{numbers}```sh\n"
        + "\n".join(lines)
        + "\n```\n\n"
    )


def setup(application: Any) -> dict[str, bool]:
    """Write the page before Sphinx reads its sources."""

    def write(application: Any) -> None:
        text = gallery_page(gallery_entries(), _read_notes()["groups"])
        write_if_changed(Path(application.srcdir) / "generated" / "gallery.md", text)

    application.connect("builder-inited", write)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
