"""A study: one function, many arguments, one table; it can be killed at any time and continues later."""

import fcntl
import hashlib
import json
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from simbench.errors import StorageError, StudyError
from simbench.files.json_document import parse_json
from simbench.files.storage import is_part_of, make_folder, refuse_link, whole_file, write_whole
from simbench.files.text import read_text
from simbench.runs.execution import Execute, capture_result
from simbench.runs.provenance import fingerprint, own_source_fingerprint, sources_fingerprint
from simbench.runs.run_directory import json_text, plain_value

if TYPE_CHECKING:
    import pyarrow

TABLE, TIMING = "table.parquet", "timing.parquet"
RUNS = "runs"  # Folder for the run directories of a study that keeps them.
_MANIFEST, _ROWS, _LOCK = "study.json", "rows", "lock"
_OWN_COLUMNS = ("error", "seconds")
_LARGEST = 2**63


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


@dataclass(frozen=True)
class StudyRow:
    """Result of one job of a study."""

    varied: Mapping[str, Any]  # Values that distinguish the job from the others.
    values: Mapping[str, Any]  # Results by name; empty after an error.
    seconds: float | None = None  # Duration; None if its process died.
    error: str = ""  # Error that ended it, in one line; empty if none did.


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
    try:
        import pyarrow  # noqa: F401
    except ImportError:
        raise StudyError("a study's table needs pyarrow: pip install pyarrow") from None
    sources = sources_fingerprint()
    keys = _keys(function, items)
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
    manifest = {
        "function": getattr(function, "__qualname__", repr(function)),
        "runs": len(items),
        "varied": list(dict.fromkeys(name for item in items for name in item.varied)),
        "items": fingerprint(list(keys)),
        "sources": fingerprint((sources, own_source_fingerprint(function))),
    }
    with study_directory(folder, manifest, inputs or {}):
        found = {k: read_row(folder, key, items[k].varied) for k, key in enumerate(keys)}
        rows = {k: row for k, row in found.items() if row is not None and not (retry and row.error)}
        missing = [k for k in range(len(items)) if k not in rows]
        on_progress("runs", len(rows), len(items))
        work = [(sources, function, tuple(items[k].varied), items[k].arguments) for k in missing]
        with closing(execute(_measure, work)) as results:
            for number, result in results:
                index = missing[number]
                if not result.error and result.value is None:
                    raise StudyError(
                        f"{folder}: the sources of simbench have changed since the study began, or are "
                        "others on a worker; finished runs are kept"
                    )
                measured = ({}, None, result.error) if result.error else result.value
                rows[index] = StudyRow(items[index].varied, *measured)
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


def write_tables(rows: Sequence[StudyRow], folder: Path) -> None:
    """Write the reproducible results as `table.parquet`, and the others as `timing.parquet`.

    `rows`: rows in the order of the tables. The columns of `table.parquet` are the varied values, the results
    by name, and `error`; those of `timing.parquet` are the varied values, `seconds`, and results named
    `timing.*`. `folder`: directory of the study.
    """
    varied = list(dict.fromkeys(name for row in rows for name in row.varied))
    named = sorted({name for row in rows for name in row.values})
    timed = [name for name in named if name.startswith("timing.")]
    head = {name: [plain_value(row.varied.get(name)) for row in rows] for name in varied}
    values = {name: [row.values.get(name) for row in rows] for name in named}
    seconds, errors = [row.seconds for row in rows], [row.error or None for row in rows]
    reproducible = {name: values[name] for name in named if name not in timed}
    _write_table({**head, **reproducible, "error": errors}, folder / TABLE)
    _write_table({**head, "seconds": seconds, **{name: values[name] for name in timed}}, folder / TIMING)


def _write_table(columns: Mapping[str, list[Any]], path: Path) -> None:
    """Write columns, each of the narrowest type that holds its values; JSON for values of several kinds."""
    import pyarrow as pa
    from pyarrow import parquet

    arrays: dict[str, pyarrow.Array] = {}
    for name, values in columns.items():
        kinds = {type(value) for value in values if value is not None}
        if kinds == {str} or name == "error":
            arrays[name] = pa.array(values, pa.string())
        elif kinds == {bool}:
            arrays[name] = pa.array(values, pa.bool_())
        elif kinds == {int} and all(abs(value) < _LARGEST for value in values if value is not None):
            arrays[name] = pa.array(values, pa.int64())
        elif kinds <= {int, float}:
            numbers = [None if value is None else float(value) for value in values]
            arrays[name] = pa.array(numbers, pa.float64())
        else:
            texts = [None if value is None else json.dumps(value) for value in values]
            arrays[name] = pa.array(texts, pa.string())
    with whole_file(path) as part:
        parquet.write_table(pa.table(arrays), part)


class _Description(BaseModel):
    """Content of `study.json`."""

    model_config = ConfigDict(strict=True, extra="forbid", frozen=True)

    function: str
    runs: int
    varied: list[str]
    items: str
    sources: str


class _Row(BaseModel):
    """Content of a row's file."""

    model_config = ConfigDict(strict=True, extra="forbid", frozen=True)

    values: dict[str, float | int | bool | str | None]
    seconds: Annotated[float, Field(ge=0.0)] | None
    error: str
    sha256: str


@contextmanager
def study_directory(folder: Path, manifest: Mapping[str, Any], inputs: Mapping[str, str]) -> Iterator[None]:
    """Make or reopen the directory of a study, and lock it while the body runs.

    `folder`: directory of the study; its parents are made. `manifest`: description of the study, ready for
    JSON. `sources` identifies the state of the code, all other entries the study; `runs` is the number of
    rows, `varied` the names of their columns. `inputs`: content of files that are written when the study
    begins, by name.
    """
    # A process that was killed at its start leaves these files; one whose directory was deleted meanwhile
    # leaves the runs that its workers were writing.
    names = [path.name for path in folder.iterdir()] if folder.is_dir() else []
    if not all(name in (_ROWS, _LOCK, RUNS) or is_part_of(name, _MANIFEST) for name in names):
        if not (folder / _MANIFEST).is_file():
            raise StudyError(f"{folder}: exists and is not the directory of a study")
        try:
            found = _Description.model_validate(
                parse_json(read_text(folder / _MANIFEST, StudyError), str(folder / _MANIFEST), StudyError)
            )
        except ValidationError as error:
            details = error.errors(include_url=False)[0]
            key = ".".join(str(step) for step in details["loc"]) or "the file"
            raise StudyError(
                f"{folder / _MANIFEST}: {key}: {details['msg']}; so {folder} is not the directory of a study"
            ) from None
        others = {name for name in manifest if getattr(found, name) != manifest[name]}
        if others == {"sources"}:
            raise StudyError(f"{folder}: this study was begun with other sources; choose another directory")
        if others:
            raise StudyError(
                f"{folder}: holds another study, {found.runs} runs over {', '.join(found.varied)}; "
                "choose another directory"
            )
    for own in (folder, folder / _ROWS):
        make_folder(own)
    refuse_link(folder / RUNS)
    with refuse_link(folder / _LOCK).open("w") as lock:
        try:
            # A lock ends with the process that holds it, however that ends.
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise StudyError(f"{folder}: another process is working on this study") from None
        for name, content in {_MANIFEST: json_text(manifest), **inputs}.items():
            if not (folder / name).exists():
                write_whole(folder / name, content)
        yield


def read_row(folder: Path, key: str, varied: Mapping[str, Any]) -> StudyRow | None:
    """Read a finished row.

    `folder`: directory of the study; `varied`: values that distinguish the row. Returns the row; None if
    there is none or it is damaged.
    """
    path = folder / _ROWS / f"{key}.json"
    if not path.is_file():
        return None
    try:
        found = _Row.model_validate(parse_json(read_text(path, StudyError), str(path), StudyError))
    except (StudyError, ValidationError):
        return None
    content = found.model_dump(exclude={"sha256"})
    return StudyRow(varied, **content) if found.sha256 == _digest(content) else None


def write_row(folder: Path, key: str, row: StudyRow) -> None:
    """Write a finished row so that it is on the disk completely or not at all, whatever ends this process.

    `folder`: directory of the study.
    """
    content = {"values": dict(row.values), "seconds": row.seconds, "error": row.error}
    write_whole(folder / _ROWS / f"{key}.json", json_text({**content, "sha256": _digest(content)}))


def _digest(content: Mapping[str, Any]) -> str:
    """Compute the SHA-256 of a row's values, time and error, by which a changed file is recognised."""
    return hashlib.sha256(json_text(content).encode(errors="surrogatepass")).hexdigest()


def finished_rows(folder: Path) -> int:
    """Count the rows of a study that are on the disk.

    `folder`: directory of the study. Returns number of rows.
    """
    return len(list((folder / _ROWS).glob("*.json")))
