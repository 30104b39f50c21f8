"""The gallery shows every shipped scenario, with its picture, its numbers and commands that work."""

import json
import re
import shlex

import pages
import pytest
from gallery import (
    MORE,
    NOTES,
    QUALITY,
    RESULTS,
    format_number,
    gallery_entries,
    gallery_page,
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
