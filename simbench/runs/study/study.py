"""A study: one function, many arguments, one table; it can be killed at any time and goes on where it was."""

import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from simbench.errors import StudyError
from simbench.runs.execution.local import Execute, JobResult, answer_of
from simbench.runs.run_directory import plain_value
from simbench.runs.study.directory import read_row, study_directory, write_row
from simbench.runs.study.fingerprint import fingerprint, own_source_fingerprint, sources_fingerprint
from simbench.runs.study.table import Row, require_tables, write_tables

_OWN_COLUMNS = ("error", "seconds")


@dataclass(frozen=True)
class Item:
    """One piece of a study's work.

    Parameters
    ----------
    varied : mapping of str to object
        What tells it from the others: plain values, which become columns of the table.
    arguments : tuple
        Of the study's function.
    identity : object
        What decides the result, as `fingerprint` takes it; the arguments if None.
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
) -> list[Row]:
    """Call a function for every item, and write what it returns as a table, a row an item.

    A row that is counted as done is on the disk. After a kill, Ctrl-C or the loss of a cluster, the same
    call goes on with the rows that are missing; the table is the same as if nothing had happened, in
    whatever order the rows come. An error of the function is its row's and ends nothing else. Where a
    process died the row says so, and the next call tries again.

    Parameters
    ----------
    function : callable
        Of a module, so that another process can import it. Returns numbers, texts, bools and Nones by name;
        numbers that are not finite become None. Values named `timing.*` need not be reproducible.
    items : sequence of Item
    folder : Path
        A new directory, or that of the same study: the same function, items and sources (those of simbench
        and the function's file). Holds `study.json`, each row in `rows`, and in the end `table.parquet` and
        `timing.parquet`.
    execute : Execute
    inputs : mapping of str to str, optional
        File name to content, written when the study begins.
    retry : bool
        Also run again what ended with an error.
    on_progress : callable (stage, done, total)

    Returns
    -------
    list of Row
        In the order of `items`.

    Raises
    ------
    StudyError
        If two items are one, the folder holds something else or is at work, or the sources change meanwhile.
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
        with closing(execute(_measure, work)) as answers:
            for number, answer in answers:
                index = missing[number]
                rows[index] = _row(items[index], answer, folder)
                if not answer.crashed:
                    write_row(folder, keys[index], rows[index])
                on_progress("runs", len(rows), len(items))
        ordered = [rows[k] for k in range(len(items))]
        write_tables(ordered, folder)
    return ordered


def study_key(function: Callable[..., Any], items: Sequence[Item]) -> str:
    """Digest what a study is of, the sources of simbench included, for a name: 8 hexadecimal digits."""
    sources = (sources_fingerprint(), own_source_fingerprint(function))
    return fingerprint((_keys(function, items), sources))[:8]


def _keys(function: Callable[..., Any], items: Sequence[Item]) -> list[str]:
    """Digest what decides each item's result but for the sources."""
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
    """Refuse items that would not be rows of one table, each different from the others."""
    if not items:
        raise StudyError("a study of nothing")
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
    """Call the function in its process: values, seconds and error; None where the sources are others."""
    if sources_fingerprint() != sources:
        return None
    begin = time.perf_counter()
    answer = answer_of(function, arguments)
    seconds = time.perf_counter() - begin
    if answer.error:
        return {}, seconds, answer.error
    values = {name: plain_value(value) for name, value in answer.value.items()}
    for name, value in values.items():
        if name in (*varied, *_OWN_COLUMNS) or not (value is None or isinstance(value, int | float | str)):
            raise StudyError(
                f"{name}: the study's function returns {value!r} by this name, which is no column"
            )
    return values, seconds, ""


def _row(item: Item, answer: JobResult, folder: Path) -> Row:
    if answer.error:
        return Row(item.varied, {}, None, answer.error)
    if answer.value is None:
        raise StudyError(
            f"{folder}: the sources of simbench have changed since the study began, or are others on a "
            "worker; finished runs are kept"
        )
    values, seconds, error = answer.value
    return Row(item.varied, values, seconds, error)
