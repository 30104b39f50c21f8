"""The results of a study as Parquet tables."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from simbench.errors import StudyError
from simbench.files.storage import whole_file
from simbench.runs.run_directory import plain_value

if TYPE_CHECKING:
    import pyarrow

TABLE, TIMING = "table.parquet", "timing.parquet"
_LARGEST = 2**63


@dataclass(frozen=True)
class StudyRow:
    """Result of one job of a study."""

    varied: Mapping[str, Any]  # Values that distinguish the job from the others.
    values: Mapping[str, Any]  # Results by name; empty after an error.
    seconds: float | None = None  # Duration; None if its process died.
    error: str = ""  # Error that ended it, in one line; empty if none did.


def require_tables() -> None:
    """Refuse to begin a study whose table could not be written in the end."""
    try:
        import pyarrow  # noqa: F401
    except ImportError:
        raise StudyError("a study's table needs pyarrow: pip install pyarrow") from None


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
    _write(
        {**head, **{name: values[name] for name in named if name not in timed}, "error": errors},
        folder / TABLE,
    )
    _write({**head, "seconds": seconds, **{name: values[name] for name in timed}}, folder / TIMING)


def _write(columns: Mapping[str, list[Any]], path: Path) -> None:
    import pyarrow as pa
    from pyarrow import parquet

    arrays = {name: _column(values, text=name == "error") for name, values in columns.items()}
    with whole_file(path) as part:
        parquet.write_table(pa.table(arrays), part)


def _column(values: list[Any], *, text: bool) -> "pyarrow.Array":
    """Give a column the narrowest type that holds its values; values of several kinds become JSON."""
    import pyarrow as pa

    kinds = {type(value) for value in values if value is not None}
    if kinds == {str} or text:
        return pa.array(values, pa.string())
    if kinds == {bool}:
        return pa.array(values, pa.bool_())
    if kinds == {int} and all(abs(value) < _LARGEST for value in values if value is not None):
        return pa.array(values, pa.int64())
    if kinds <= {int, float}:
        return pa.array([None if value is None else float(value) for value in values], pa.float64())
    return pa.array([None if value is None else json.dumps(value) for value in values], pa.string())
