"""The page of the command line lists what the program has."""

import contextlib
import io
import re

import pages
import pytest
from command_line import command_page

from simbench.cli.main import main


@pytest.fixture(scope="module")
def page():
    return command_page()


def shown_help(*command):
    """What `simbench COMMAND --help` prints."""
    said = io.StringIO()
    said.reconfigure = lambda **_: None
    with contextlib.redirect_stdout(said):
        assert main([*command, "--help"]) == 0
    return said.getvalue()


@pytest.fixture(scope="module")
def listed():
    """Names of the commands that `simbench --help` lists."""
    return re.findall(r"^  ([\w-]+) ", shown_help().partition("Commands:")[2], flags=re.MULTILINE)


@pytest.mark.parametrize("command", ["run", "sweep", "motion inspect", "robot render"])
def test_every_option_of_the_help_is_on_the_page(page, command):
    part = re.split(r"^##+ ", page.partition(f" simbench {command}\n")[2], maxsplit=1, flags=re.MULTILINE)[0]
    options = set(re.findall(r"^  (--[\w-]+)", shown_help(*command.split()), flags=re.MULTILINE)) - {"--help"}
    assert options == set(re.findall(r"^\| `(--[\w-]+)", part, flags=re.MULTILINE))


def test_every_command_of_the_pages_exists(listed):
    shown = {
        words[1]
        for path in (pages.ROOT / "README.md", *pages.DOCS.rglob("*.md"))
        for block in pages.read_blocks(path)
        if block.language == "sh"
        for line in pages.commands(block)
        if (words := line.split())[0] == "simbench" and len(words) > 1
    }
    assert shown
    assert shown - {"--help", "--version", "COMMAND"} <= set(listed)
