"""Every code block of the README and the site is executed, or says why not; this file finds them."""

import re
import shlex
import textwrap
from pathlib import Path

import pages
import pytest
from typer.main import get_command

import simbench
from simbench.cli.main import app
from simbench.runs.scenario.loading import load_scenario
from simbench.runs.scenario.scenario_files import list_scenarios

EVERYWHERE = [pages.ROOT / "README.md", *sorted(pages.DOCS.rglob("*.md"))]
SITE = [path for path in EVERYWHERE if not {"_build", "generated"} & set(path.parts)]


@pytest.mark.parametrize("page", SITE, ids=lambda page: str(page.relative_to(pages.ROOT)))
def test_every_block_is_run_or_says_why_not(page):
    for block in pages.read_blocks(page):
        if block.language in pages.OUTPUT:
            continue
        if "not run" in block.marks:
            assert len(block.marks["not run"]) > 10, f"{block.place}: no reason"
        elif "ci" in block.marks:
            assert f"readme_command {block.marks['ci']}" in (pages.ROOT / ".ci" / "run").read_text()
        elif block.language not in ("sh", "python"):
            assert "file" in block.marks, f"{block.place}: neither a file nor `not run`"


def find_command(words):
    """The command that the words of a line name, what it is called, and its arguments."""
    command, name, rest = get_command(app), "simbench", words[1:]
    while rest and rest[0] in getattr(command, "commands", {}):
        command, name, rest = command.commands[rest[0]], f"{name} {rest[0]}", rest[1:]
    return command, name, rest


NOT_RUN = [
    (block.place, line)
    for page in SITE
    for block in pages.read_blocks(page)
    if block.language == "sh" and {"not run", "ci"} & set(block.marks)
    for line in pages.commands(block)
    if re.match(r"(\.venv/bin/)?simbench ", line)
]


@pytest.mark.parametrize(("place", "line"), NOT_RUN, ids=[place for place, _ in NOT_RUN])
def test_a_command_that_is_not_run_has_the_options_that_it_shows(place, line):
    """What takes minutes is at least understood, and its overrides fit the scenario that it names."""
    command, name, arguments = find_command(shlex.split(line, comments=True))
    # Raises for an option or a value that the command does not know.
    given = command.make_context(name, list(arguments)).params
    scenarios = given.get("scenarios") or [given.get("scenario")]
    for scenario in set(scenarios) & set(list_scenarios()):
        load_scenario(scenario, given.get("overrides") or ())


def test_a_command_with_a_wrong_option_is_noticed():
    command, name, arguments = find_command(["simbench", "motion", "inspect", "walk.trc", "--unit"])
    with pytest.raises(Exception, match="--unit"):
        command.make_context(name, arguments)
    command, name, arguments = find_command(["simbench", "run", "drawer", "--no-such-option"])
    with pytest.raises(Exception, match="--no-such-option"):
        command.make_context(name, arguments)


def test_every_page_is_run_by_a_test():
    """A folder of pages that no test executes would be read by nobody."""
    files = Path(__file__).parent.glob("test_*pages*.py")
    tests = "".join(path.read_text(encoding="utf-8") for path in files)
    run = set(re.findall(r'pages\.pages\("([^"]+)"\)', tests))
    folders = {str(page.parent.relative_to(pages.DOCS)) for page in SITE if pages.DOCS in page.parents}
    assert folders <= run


def test_blocks_are_found_with_their_marks(tmp_path):
    page = tmp_path / "page.md"
    page.write_text(
        textwrap.dedent("""\
        <!-- run with: --set a=1 -->
        <!-- exit status: 1 -->
        ```sh
        simbench run x   # comment
        simbench report \\
            runs/x
        ```

        ````{note}
        ```text
        output
        ```
        ````

        - item
          <!-- file: a.yaml -->
          ```yaml
          a: 1
          ```

        ```{code-block} python
        :caption: title
        print(1)
        ```

        ```{include} other.md
        ```
        """),
        encoding="utf-8",
    )
    first, output, listed, directive = pages.read_blocks(page)
    assert first.marks == {"run with": "--set a=1", "exit status": "1"}
    assert pages.commands(first) == ["simbench run x   # comment", "simbench report      runs/x"]
    assert (output.language, output.text) == ("text", "output\n")
    assert (listed.marks, listed.text) == ({"file": "a.yaml"}, "a: 1\n")
    assert (directive.language, directive.text) == ("python", "print(1)\n")


@pytest.mark.parametrize(
    ("block", "said"),
    [
        ("```sh\nsimbench run nothing_like_it\n```\n", "unknown scenario"),
        ("```sh\nfalse\n```\n", "ended with 1"),
        ("```yaml\na: 1\n```\n", "neither file nor"),
        ("```python\nassert 1 == 2, 'not equal'\n```\n", "not equal"),
        ("<!-- exit status: 2 -->\n```sh\nsimbench list robots\n```\n", "ended with 0"),
    ],
)
def test_a_page_that_is_wrong_fails(tmp_path, monkeypatch, block, said):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(pages, "ROOT", tmp_path)
    page = tmp_path / "page.md"
    page.write_text(block, encoding="utf-8")
    with pytest.raises(AssertionError, match=said):
        pages.run_page(page, tmp_path, lambda: tmp_path)


@pytest.mark.parametrize("page", SITE, ids=lambda page: str(page.relative_to(pages.ROOT)))
def test_examples_import_only_public_names_from_the_package(page):
    for block in pages.read_blocks(page):
        for names in re.findall(r"^from simbench import (.+)$", block.text, flags=re.MULTILINE):
            imported = {name.strip() for name in names.strip("()").split(",")}
            assert imported <= set(simbench.__all__), block.place
