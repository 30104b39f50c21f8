"""The results of a study as Parquet tables."""

import json
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from simbench.errors import StudyError
from simbench.runs.run_directory import plain_value

if TYPE_CHECKING:
    import pyarrow

TABLE, TIMING = "table.parquet", "timing.parquet"
_LARGEST = 2**63


@dataclass(frozen=True)
class Row:
    """What came of one piece of a study's work.

    Parameters
    ----------
    varied : mapping of str to object
        What tells it from the others.
    values : mapping of str to float, int, bool, str or None
        What it gave; empty after an error.
    seconds : float or None
        How long it took; None if its process died.
    error : str
        What ended it, in one line; empty if nothing did.
    """

    varied: Mapping[str, Any]
    values: Mapping[str, Any]
    seconds: float | None = None
    error: str = ""


def require_tables() -> None:
    """Refuse to begin what could not be written in the end.

    Raises
    ------
    StudyError
        If pyarrow is not installed.
    """
    try:
        import pyarrow  # noqa: F401
    except ImportError:
        raise StudyError(
            "a study's table needs pyarrow, which pip install 'simbench[study]' brings"
        ) from None


def write_tables(rows: Sequence[Row], folder: Path) -> None:
    """Write `table.parquet`, in which everything is reproducible, and `timing.parquet`, with the rest.

    Parameters
    ----------
    rows : sequence of Row
        A row each, in this order; the columns of `table.parquet` are what is varied, the values by name,
        and `error`. Those of `timing.parquet` are what is varied, `seconds`, and values named `timing.*`.
    folder : Path
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

    whole = path.with_name(path.name + ".tmp")
    arrays = {name: _column(values, text=name == "error") for name, values in columns.items()}
    parquet.write_table(pa.table(arrays), whole)
    os.replace(whole, path)


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
