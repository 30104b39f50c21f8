"""Code blocks of the README and of the site's pages: found with their marks, and executed in order.

A mark is an HTML comment on the line before a block: `<!-- not run: REASON -->`, `<!-- file: NAME -->`,
`<!-- run with: ARGUMENTS -->`, `<!-- exit status: N -->`, `<!-- ci:NAME -->`.
"""

import contextlib
import io
import os
import re
import shlex
import shutil
import subprocess
import sys
import unittest.mock
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

from run_here import run_here

from simbench.cli.main import main
from simbench.runs import execution, regression

ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs"
OUTPUT = ("text", "")
"""Languages of blocks that show what a program prints."""
_OPENING = re.compile(r"^(\s*)(`{3,}|~{3,})\s*(\{code-block\}\s*)?([\w+-]*)\s*$")
_DIRECTIVE = re.compile(r"^\s*(`{3,}|~{3,})\{(?!code-block)")
_MARK = re.compile(r"<!--\s*(not run|file|run with|exit status|ci):\s*(.*?)\s*-->")
_SHELL = re.compile(r"[|>&$;`*]")


class Block(NamedTuple):
    """A code block of a page: its language, text, marks by name, and the line where it begins."""

    page: Path
    line: int
    language: str
    text: str
    marks: dict[str, str]

    @property
    def place(self) -> str:
        """File and line, for messages."""
        return f"{self.page.relative_to(ROOT)}:{self.line}"


def read_blocks(page: Path) -> list[Block]:
    """Find the fenced code blocks of a Markdown page; directives such as `{note}` are looked into."""
    lines, blocks, directives, number = page.read_text(encoding="utf-8").splitlines(), [], [], 0
    while number < len(lines):
        line = lines[number]
        if _DIRECTIVE.match(line):
            directives.append(_DIRECTIVE.match(line)[1])
        elif directives and _closes(line, directives[-1]):
            directives.pop()
        elif opened := _OPENING.match(line):
            end = next(at for at in range(number + 1, len(lines)) if _closes(lines[at], opened[2]))
            blocks.append(_make_block(page, lines, number, end))
            number = end
        number += 1
    return blocks


def _closes(line: str, fence: str) -> bool:
    return line.strip().startswith(fence) and not line.strip().strip(fence[0])


def _make_block(page: Path, lines: list[str], start: int, end: int) -> Block:
    """Read a block between its fences, and the marks above it."""
    indent, _, directive, language = _OPENING.match(lines[start]).groups()
    inside = [line.removeprefix(indent) for line in lines[start + 1 : end]]
    if directive:
        inside = [line for line in inside if not re.match(r":[\w-]+:", line)]
    marks, above = {}, start - 1
    while above >= 0 and (found := _MARK.search(lines[above])):
        marks[found[1]] = found[2]
        above -= 1
    return Block(page, start + 1, language, "\n".join(inside).strip("\n") + "\n", marks)


def pages(folder: str) -> list[Path]:
    """List the pages of a folder of the site; only those directly in it."""
    return sorted((DOCS / folder).glob("*.md"))


def run_page(page: Path, folder: Path, drawer_run: Callable[[], Path]) -> None:
    """Execute the blocks of a page one after another in a folder, which must be the current one.

    Runs of a study are made in this process: one of its own would import everything anew for each.
    """
    with (
        unittest.mock.patch.object(execution, "run_isolated", run_here),
        unittest.mock.patch.object(regression, "run_isolated", run_here),
    ):
        _run_blocks(page, folder, drawer_run)


def _run_blocks(page: Path, folder: Path, drawer_run: Callable[[], Path]) -> None:
    namespace: dict[str, Any] = {"__name__": "__main__"}
    for block in read_blocks(page):
        if "not run" in block.marks or "ci" in block.marks or block.language in OUTPUT:
            continue
        if "file" in block.marks:
            target = folder / block.marks["file"]
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_text(block.text, encoding="utf-8")
        elif block.language == "python":
            exec(compile(block.text, block.place, "exec"), namespace)
        elif block.language == "sh":
            _run_commands(block, drawer_run)
        else:
            raise AssertionError(f"{block.place}: a block of {block.language} says neither file nor not run")


def commands(block: Block) -> list[str]:
    """List a block's commands, without comments; lines that end in a backslash are joined."""
    text = block.text.replace("\\\n", " ")
    found = (shlex.split(line, comments=True) and line.strip() for line in text.splitlines())
    return [line for line in found if line and not line.startswith("#")]


def _run_commands(block: Block, drawer_run: Callable[[], Path]) -> None:
    lines = commands(block)
    for number, line in enumerate(lines):
        last = number == len(lines) - 1
        expected = int(block.marks.get("exit status", 0)) if last else 0
        status, said = _run(line, shlex.split(block.marks.get("run with", "")), drawer_run)
        assert status == expected, f"{block.place}: `{line}` ended with {status}\n{said}"


def _run(line: str, extra: list[str], drawer_run: Callable[[], Path]) -> tuple[int, str]:
    """Run one line of a shell, simbench in this process where that gives the same."""
    line, words = line.partition(" #")[0], shlex.split(line, comments=True)
    if words[0] == "cd":
        os.chdir(words[1])
        return 0, ""
    if words[0] != "simbench" or _SHELL.search(re.sub(r"'[^']*'", "", line)):
        return _run_shell(" ".join([line, *map(shlex.quote, extra)]))
    arguments = [*words[1:], *extra]
    if arguments[:2] == ["run", "drawer"] and "--set" not in arguments and "--plots" not in arguments:
        out = arguments[arguments.index("--out") + 1] if "--out" in arguments else "runs/drawer-1"
        shutil.copytree(drawer_run(), out)
        return 0, ""
    said = io.StringIO()
    with contextlib.redirect_stdout(said), contextlib.redirect_stderr(said):
        # A stream without a buffer has no encoding to change.
        said.reconfigure = lambda **_: None  # type: ignore[attr-defined]
        status = main(arguments)
    return status, said.getvalue()


def _run_shell(line: str) -> tuple[int, str]:
    """Run a line in a shell whose `python`, `pytest` and `simbench` are those of this environment."""
    define = "".join(
        f'{name}() {{ "{sys.executable}" {module} "$@"; }}; '
        for name, module in (("python", ""), ("pytest", "-m pytest"), ("simbench", "-m simbench"))
    )
    done = subprocess.run(
        ["bash", "-euc", define + line], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
    )
    return done.returncode, done.stdout
