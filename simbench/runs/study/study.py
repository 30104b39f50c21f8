"""A study: one function, many arguments, one table; it can be killed at any time and continues later."""

import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from simbench.errors import StorageError, StudyError
from simbench.runs.execution import Execute, JobResult, capture_result
from simbench.runs.provenance import fingerprint, own_source_fingerprint, sources_fingerprint
from simbench.runs.run_directory import plain_value
from simbench.runs.study.directory import read_row, study_directory, write_row
from simbench.runs.study.table import StudyRow, require_tables, write_tables

_OWN_COLUMNS = ("error", "seconds")


@dataclass(frozen=True)
class Item:
    """One job of a study.

    Parameters
    ----------
    varied : mapping of str to object
        Values that distinguish the job from the others; they become columns of the table.
    arguments : tuple
        Arguments of the study's function.
    identity : object
        Everything that determines the result, for `fingerprint`; the arguments if None.
    """

    varied: Mapping[str, Any]
    arguments: tuple[Any, ...]
    identity: Any = None


def run_study(
    function: Callable[..., Mapping[str, Any]],
    items: Sequence[Item],
    folder: Path,
    *,
    execute: Execute,
    inputs: Mapping[str, str] | None = None,
    retry: bool = False,
    on_progress: Callable[[str, int, int], None] = lambda stage, done, total: None,
) -> list[StudyRow]:
    """Call a function for every item and write its results as a table with a row for each item.

    A row that is counted as done is on the disk. After a kill, Ctrl-C or the loss of a cluster, the same call
    continues with the rows that are missing; the table is the same as without the interruption, in whatever
    order the rows are finished. An error of the function is recorded in its row and does not affect the
    others. Where a process died, or a disk was full, the row says so, and the next call tries again.

    Parameters
    ----------
    function : callable
        Function of a module, so that another process can import it. It returns numbers, texts, bools and
        Nones by name; numbers that are not finite become None. Values named `timing.*` need not be
        reproducible.
    items : sequence of Item
        Jobs of the study.
    folder : Path
        New directory, or that of the same study: the same function, items and sources (those of simbench and
        the function's file). It holds `study.json`, each row in `rows`, and in the end `table.parquet` and
        `timing.parquet`.
    execute : Execute
        How the jobs are run: `run_isolated`, or a cluster.
    inputs : mapping of str to str, optional
        Content of files that are written when the study begins, by name.
    retry : bool
        Also run again the jobs that ended with an error.
    on_progress : callable (stage, done, total)
        Callback that receives the progress.

    Returns
    -------
    list of StudyRow
        Rows in the order of `items`.

    Raises
    ------
    StudyError
        If two items are equal, the folder holds something else or is in use, or the sources change meanwhile.
    """
    require_tables()
    sources = sources_fingerprint()
    keys = _keys(function, items)
    _require_rows(items, keys)
    with study_directory(folder, _manifest(function, items, keys, sources), inputs or {}):
        found = {k: read_row(folder, key, items[k].varied) for k, key in enumerate(keys)}
        rows = {k: row for k, row in found.items() if row is not None and not (retry and row.error)}
        missing = [k for k in range(len(items)) if k not in rows]
        on_progress("runs", len(rows), len(items))
        work = [(sources, function, tuple(items[k].varied), items[k].arguments) for k in missing]
        with closing(execute(_measure, work)) as results:
            for number, result in results:
                index = missing[number]
                rows[index] = _row(items[index], result, folder)
                if not result.crashed:
                    write_row(folder, keys[index], rows[index])
                on_progress("runs", len(rows), len(items))
        ordered = [rows[k] for k in range(len(items))]
        write_tables(ordered, folder)
    return ordered


def study_key(function: Callable[..., Any], items: Sequence[Item]) -> str:
    """Digest everything that determines a study, with the sources of simbench, for its directory's name.

    `items`: jobs of the study. Returns 8 hexadecimal digits.
    """
    sources = (sources_fingerprint(), own_source_fingerprint(function))
    return fingerprint((_keys(function, items), sources))[:8]


def _keys(function: Callable[..., Any], items: Sequence[Item]) -> list[str]:
    """Digest everything but the sources that determines each item's result."""
    return [
        fingerprint((function, item.arguments if item.identity is None else item.identity)) for item in items
    ]


def _manifest(
    function: Callable[..., Any], items: Sequence[Item], keys: Sequence[str], sources: str
) -> dict[str, Any]:
    return {
        "function": getattr(function, "__qualname__", repr(function)),
        "runs": len(items),
        "varied": list(dict.fromkeys(name for item in items for name in item.varied)),
        "items": fingerprint(list(keys)),
        "sources": fingerprint((sources, own_source_fingerprint(function))),
    }


def _require_rows(items: Sequence[Item], keys: Sequence[str]) -> None:
    """Refuse items that would not be distinct rows of one table."""
    if not items:
        raise StudyError("a study without runs")
    for name in _OWN_COLUMNS:
        if any(name in item.varied for item in items):
            raise StudyError(f"{name}: cannot be varied by this name, which is that of another column")
    first: dict[str, Item] = {}
    for item, key in zip(items, keys, strict=True):
        if first.setdefault(key, item) is not item:
            one, other = (
                ", ".join(f"{name}={value}" for name, value in each.varied.items())
                for each in (first[key], item)
            )
            raise StudyError(f"{one} and {other} are the same run")


def _measure(
    sources: str, function: Callable[..., Any], varied: tuple[str, ...], arguments: tuple[Any, ...]
) -> tuple[dict[str, Any], float, str] | None:
    """Call the function in its process: values, seconds and error; None where the sources differ."""
    if sources_fingerprint() != sources:
        return None
    begin = time.perf_counter()
    result = capture_result(function, arguments)
    seconds = time.perf_counter() - begin
    if result.crashed:
        raise StorageError(result.error)
    if result.error:
        return {}, seconds, result.error
    values = {name: plain_value(value) for name, value in result.value.items()}
    for name, value in values.items():
        if name in (*varied, *_OWN_COLUMNS) or not (value is None or isinstance(value, int | float | str)):
            raise StudyError(
                f"{name}: the study's function returns {value!r} by this name, which cannot be a column"
            )
    return values, seconds, ""


def _row(item: Item, result: JobResult, folder: Path) -> StudyRow:
    """Make a row from the outcome of a job."""
    if result.error:
        return StudyRow(item.varied, {}, None, result.error)
    if result.value is None:
        raise StudyError(
            f"{folder}: the sources of simbench have changed since the study began, or are others on a "
            "worker; finished runs are kept"
        )
    values, seconds, error = result.value
    return StudyRow(item.varied, values, seconds, error)
