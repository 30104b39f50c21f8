"""The gallery shows every shipped scenario, with its picture, its numbers and commands that work."""

import json
import re
import shlex

import pages
import pytest
from gallery import (
    GROUPS,
    MORE,
    NOTES,
    QUALITY,
    RESULTS,
    format_number,
    gallery_entries,
    gallery_page,
    laws_table,
)
from PIL import Image
from yaml import safe_load

from simbench.cli.shared_options import list_overrides
from simbench.runs.scenario.loading import load_scenario
from simbench.runs.scenario.scenario_files import find_scenario, list_scenarios

PICTURES = pages.DOCS / "pictures"
LABELS = {**RESULTS, **QUALITY, **MORE}
NAMES = list_scenarios()


@pytest.fixture(scope="module")
def entries():
    return {entry.scenario.name: entry for entry in gallery_entries()}


@pytest.fixture(scope="module")
def page(entries):
    return gallery_page(entries.values(), safe_load(NOTES.read_text(encoding="utf-8"))["groups"])


def section(page, name):
    """The part of the page about one scenario."""
    return re.search(rf"^### `{name}`$(.*?)(?=^#|\Z)", page, flags=re.MULTILINE | re.DOTALL)[1]


def baseline(name):
    path = find_scenario(name).parent / "baselines" / f"{name}.json"
    return {key: each["value"] for key, each in json.loads(path.read_text(encoding="utf-8")).items()}


def test_every_shipped_scenario_has_a_section_and_a_row(page):
    assert sorted(re.findall(r"^### `(\w+)`$", page, flags=re.MULTILINE)) == sorted(NAMES)
    assert sorted(re.findall(r"^\| \[[^]]+\]\(#scenario-(\w+)\)", page, flags=re.MULTILINE)) == sorted(NAMES)


def test_every_group_has_members_and_is_explained(page):
    assert tuple(re.findall(r"^## (.*)$", page, flags=re.MULTILINE)) == ("All scenarios", *GROUPS)
    assert sorted(safe_load(NOTES.read_text(encoding="utf-8"))["groups"]) == sorted(GROUPS)


@pytest.mark.parametrize("name", NAMES)
def test_its_picture_exists_and_is_small(page, name):
    (picture,) = re.findall(r"!\[[^\]]*\]\(\.\./pictures/([^)]+)\)", section(page, name))
    path = PICTURES / picture
    assert path.stem == name
    assert path.stat().st_size <= 300_000
    with Image.open(path) as image:
        assert image.width >= 900
        image.verify()


@pytest.mark.parametrize("name", NAMES)
def test_its_numbers_are_those_of_its_baseline(page, name):
    rows = re.findall(r"^\| ([^|]+) \| ([^|]+) \| `([^`]+)` \|$", section(page, name), flags=re.MULTILINE)
    expected = baseline(name)
    assert rows
    assert rows == [(LABELS[key], format_number(key, expected[key]), key) for _, _, key in rows]


@pytest.mark.parametrize("name", NAMES)
def test_the_table_shows_the_same_numbers(page, name):
    (row,) = re.findall(rf"^\| \[[^]]+\]\(#scenario-{name}\) \| (.*) \|$", page, flags=re.MULTILINE)
    *cells, result = row.split(" | ")
    expected = baseline(name)
    text = section(page, name)
    for key, cell in zip(QUALITY, cells, strict=True):
        assert cell.strip() == ("" if f"`{key}`" not in text else f"{expected[key]:.4g}")
    first = next((key for key in RESULTS if f"`{key}`" in text), None)
    value = "" if first is None else format_number(first, expected[first])
    assert result.strip().endswith(value)
    assert bool(result.strip()) == (first is not None)


@pytest.mark.parametrize("name", NAMES)
def test_its_commands_are_accepted(page, name):
    (block,) = re.findall(r"```sh\n(.*?)```", section(page, name), flags=re.DOTALL)
    commands = [shlex.split(line, comments=True) for line in block.splitlines()]
    assert commands[0] == ["simbench", "run", name, "--video"]
    for program, command, scenario, *options in commands:
        assert (program, command) == ("simbench", "run")
        plain = [option for option in options if option != "--video"]
        given = list(zip(plain[::2], plain[1::2], strict=True))
        assert {option for option, _ in given} <= {"--set", "--robot"}
        overrides = [value for option, value in given if option == "--set"]
        load_scenario(scenario, list_overrides(overrides, dict(given).get("--robot")))


def test_a_scenario_is_shown_by_what_it_is_about(entries):
    """Kinds of scenarios differ in what is worth knowing of them."""
    shown = {name: set(entry.numbers) for name, entry in entries.items()}
    assert {"retarget.slow_down", "zmp.min_margin_m", "hands.rms_m", "drawer.travel_ratio"} <= shown["drawer"]
    assert {"seat.least_force_n", "pump.stroke_ratio"} <= shown["pump"]
    assert "zmp.min_margin_m" not in shown["pump"]
    assert {"push.survived_ns", "push.rest_s"} == shown["push"] - {"steps.count"}
    assert "base.forward_m" in shown["mahru_walk"]
    assert "base.forward_m" not in shown["mahru_wave"] | shown["drawer"]
    assert "cog.rms_m" in shown["mahru_wave_without_embedding"]
    assert "retarget.similarity" in shown["drawer_by_weights"]


def test_the_errors_of_control_laws_are_a_table(tmp_path):
    results = tmp_path / "laws.json"
    assert laws_table(results) == ""
    errors = {"tracking.rms_rad": 0.00320567, "hands.rms_m": 0.00437762}
    found = {"a": {"PD": errors, "computed torque": {"tracking.rms_rad": 0.001}}}
    results.write_text(json.dumps(found), encoding="utf-8")
    _, _, header, _, row, *_ = laws_table(results).splitlines()
    assert header == "| scenario | PD | computed torque |"
    assert row == "| `a` | 0.003206 rad, 0.004378 m | 0.001 rad |"


def test_notes_are_about_scenarios_that_ship():
    assert set(safe_load(NOTES.read_text(encoding="utf-8"))["scenarios"]) <= set(NAMES)


def test_the_moving_picture_moves_repeats_and_is_small():
    path = PICTURES / "simbench.webp"
    assert path.stat().st_size <= 3_000_000
    with Image.open(path) as image:
        assert image.is_animated
        assert image.n_frames >= 60
        assert image.info["loop"] == 0
        image.seek(1)
        first = image.convert("RGB").tobytes()
        image.seek(image.n_frames // 2)
        assert image.convert("RGB").tobytes() != first
    with Image.open(path.with_suffix(".png")) as still, Image.open(path) as image:
        assert still.size == image.size
