"""Results of the scripts that reproduce papers: the same rows are printed and written as JSON.

A file of results is read by docs/_ext/validation.py. Its keys: `paper`, `script`, `command`, `simbench`
(version), `date`, `duration_s` and `timed` (seconds, and of what), `scope` (what was computed),
`computed_from` (digests of code and data, dependencies.py; `renewed`: date of the reduced run by which the
digest of the code is a newer one), `checks` (a list of `what` and `holds`),
`remarks` (lines of text) and `tables` (`title`, `source`, `unit`, `columns`, `rows`, `note`). Cells are
texts, as printed.
"""

import argparse
import atexit
import json
import os
import re
import resource
import shlex
import sys
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from datetime import datetime, timezone
from pathlib import Path
from typing import Any

from dependencies import KEY, describe, digest_of, end_watch, opened_data, watch_by_arguments, watch_opened
from parts import prerequisites
from rich.table import Table

import simbench

ROOT = Path(__file__).parents[2]
OPTION = "--results"
PROCESSES, JOBS = "processor time of all processes", "sum of the durations of all jobs"
watch_by_arguments(OPTION)


@dataclass(frozen=True)
class Check:
    """A bound that a script holds its results to."""

    what: str
    holds: bool


@dataclass(frozen=True)
class ResultTable:
    """Table of texts.

    Parameters
    ----------
    title : str
        Title as printed.
    columns : tuple of str
        Headings.
    rows : tuple of tuple of str
        Cells; every row has one for each column.
    source : str
        Table or figure of the paper; empty if the paper has none.
    unit : str
        Unit of all numbers, if it is one and the title does not say it.
    note : str
        Explanation below the table.
    """

    title: str
    columns: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    source: str = ""
    unit: str = ""
    note: str = ""


@dataclass
class Results:
    """What a script found, in the order in which it is printed.

    Parameters
    ----------
    paper : str
        Name of the paper: the folder of the script.
    script : str
        Path of the script.
    arguments : sequence of str
        Arguments of the command.
    scope : str
        What was computed, where it is less than the script can do.
    duration_s : float or None
        Duration, s; by default the processor time of this process and its children.
    timed : str
        What the duration is: `PROCESSES` or `JOBS`.
    """

    paper: str
    script: str
    arguments: Sequence[str]
    scope: str = ""
    duration_s: float | None = None
    timed: str = PROCESSES
    tables: list[ResultTable] = field(default_factory=list)
    checks: list[Check] = field(default_factory=list)
    remarks: list[str] = field(default_factory=list)

    def add(self, table: Table, source: str = "", unit: str = "", note: str = "") -> Table:
        """Keep a table; return it, to be printed."""
        self.tables.append(table_of_texts(table, source, unit, note))
        return table

    def remark(self, text: str) -> str:
        """Keep a line of text; return it, to be printed."""
        self.remarks.append(" ".join(text.split()))
        return text

    def check(self, what: str, holds: bool) -> None:
        """Keep a bound and whether it is met."""
        self.checks.append(Check(what, bool(holds)))


def add_results_option(parser: argparse.ArgumentParser) -> None:
    """Let a script write a file of its results."""
    parser.add_argument(
        OPTION,
        type=_watched,
        metavar="FILE.json",
        help="also write the tables, as the documentation shows them",
    )


def add_session_options(
    parser: argparse.ArgumentParser, actors: Sequence[int], tasks: Sequence[str] = ()
) -> None:
    """Let a script choose recordings of a virtual session; these actors and tasks by default.

    Without tasks there is no option for them.
    """
    parser.add_argument("--session", type=int, default=2018, help="its seed")
    parser.add_argument(
        "--actors",
        type=lambda text: [int(part) for part in text.split(",")],
        default=actors,
        metavar="1,2,...",
    )
    if tasks:
        parser.add_argument("--tasks", type=lambda text: text.split(","), default=tasks, metavar="NAME,...")


def _watched(text: str) -> Path:
    """Note which data is read from now on."""
    watch_opened(Path(text))
    return Path(text)


def begin_results(script: str, arguments: Sequence[str] | None = None, scope: str = "") -> Results:
    """Begin the results of a script, given its `__file__` and arguments (by default those of the process)."""
    path = Path(script).resolve()
    given = list(sys.argv[1:] if arguments is None else arguments)
    return Results(path.parent.name, path.relative_to(ROOT).as_posix(), given, scope)


def table_of_texts(table: Table, source: str = "", unit: str = "", note: str = "") -> ResultTable:
    """Take title, headings and cells of a table that is printed."""
    cells = [[_text(cell) for cell in column.cells] for column in table.columns]
    return ResultTable(
        title=_text(table.title),
        columns=tuple(_text(column.header) for column in table.columns),
        rows=tuple(zip(*cells, strict=True)),
        source=source,
        unit=unit,
        note=" ".join(part for part in (_text(table.caption), note) if part),
    )


def _text(cell: Any) -> str:
    """Put a cell on one line."""
    return re.sub(r"\s+", " ", str(cell or "")).strip()


def write_results(path: Path | None, results: Results) -> None:
    """Write a file of results, which appears under its name when it is whole; without a path, nothing."""
    if path is None:
        return
    path.parent.mkdir(parents=True, exist_ok=True)
    beside = path.with_name(f".{path.name}.{os.getpid()}")
    beside.write_text(results_text(results, _computed_from(path, results)), encoding="utf-8")
    beside.replace(path)
    # Until it ends, a script may read and write more.
    atexit.register(end_watch, path)


def _computed_from(path: Path, results: Results) -> dict[str, Any]:
    """Digest the code and data of results, and other results beside the file that they were made from."""
    after = {}
    for name in prerequisites(results.script):
        other = path.with_name(f"{name}.json")
        if other.is_file():
            after[name] = digest_of(json.loads(other.read_text(encoding="utf-8")))
    return describe(results.script, opened_data(path), after)


def results_text(results: Results, computed_from: Mapping[str, Any]) -> str:
    """Format results as JSON."""
    return format_results(
        {
            "paper": results.paper,
            "script": results.script,
            "command": shlex.join(["python", results.script, *without_option(results.arguments)]),
            "simbench": simbench.__version__,
            "date": datetime.now(timezone.utc).date().isoformat(),
            "duration_s": round(processor_time() if results.duration_s is None else results.duration_s),
            "timed": results.timed,
            "scope": results.scope,
            KEY: computed_from,
            "checks": [asdict(each) for each in results.checks],
            "remarks": results.remarks,
            "tables": [asdict(each) for each in results.tables],
        }
    )


def format_results(content: Mapping[str, Any]) -> str:
    """Format what a file of results holds, with a line for each row of a table and each file of `KEY`."""
    lines = []
    for name, value in content.items():
        if name == "tables":
            text = "[" + ",".join(f"\n  {_table_text(each)}" for each in value) + "\n ]"
        elif isinstance(value, Mapping):
            text = _mapping(value, 2)
        else:
            text = _listed(value, 1) if isinstance(value, list) else _dump(value)
        lines.append(f" {_dump(name)}: {text}")
    return "{\n" + ",\n".join(lines) + "\n}\n"


def without_option(arguments: Sequence[str]) -> list[str]:
    """Remove the option that names the file of results from arguments."""
    kept, skip = [], False
    for each in arguments:
        if not skip and each != OPTION and not each.startswith(OPTION + "="):
            kept.append(each)
        skip = each == OPTION
    return kept


def processor_time() -> float:
    """Measure the processor time of this process and the children that have ended, s."""
    used = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return sum(each.ru_utime + each.ru_stime for each in used)


def _table_text(table: Mapping[str, Any]) -> str:
    lines = [f'"{name}": {_dump(table[name])}' for name in ("title", "source", "unit", "columns")]
    lines += [f'"rows": {_listed(table["rows"], 3)}', f'"note": {_dump(table["note"])}']
    return "{\n   " + ",\n   ".join(lines) + "\n  }"


def _listed(values: Iterable[Any], depth: int) -> str:
    lines = [" " * (depth + 1) + _dump(value) for value in values]
    return "[\n" + ",\n".join(lines) + "\n" + " " * depth + "]" if lines else "[]"


def _mapping(values: Mapping[str, Any], depth: int) -> str:
    """Write mappings in mappings, a line for each other value."""
    lines = [
        f"{_dump(name)}: {_mapping(value, depth + 1) if isinstance(value, Mapping) else _dump(value)}"
        for name, value in values.items()
    ]
    indent = "\n" + " " * depth
    return "{" + indent + f",{indent}".join(lines) + indent[:-1] + "}" if lines else "{}"


def _dump(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False)
