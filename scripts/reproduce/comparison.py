"""Results that were computed again, beside the committed ones: cell by cell, to the last printed digit."""

import re
from collections.abc import Iterable, Mapping, Sequence
from decimal import Decimal
from itertools import zip_longest
from typing import Any

_NUMBER = re.compile(r"[-+−]?\d+(?:\.\d+)?(?:e[-+]?\d+)?")


def cells_agree(committed: str, again: str) -> bool:
    """Whether two cells say the same: equal words and whole numbers, others to one unit of the last digit."""
    if committed == again:
        return True
    # A sign belongs to the number: -0.00 and 0.00 are one unit of the last digit apart at most.
    words, others = (_NUMBER.sub("#", text) for text in (committed, again))
    pairs = list(zip_longest(_NUMBER.findall(committed), _NUMBER.findall(again)))
    return words == others and all(_numbers_agree(*pair) for pair in pairs)


def _numbers_agree(committed: str, again: str) -> bool:
    first, second = (Decimal(text.replace("−", "-")) for text in (committed, again))
    whole = not re.search("[.e]", committed + again)
    unit = 10 ** Decimal(max(first.as_tuple().exponent, second.as_tuple().exponent))
    return first == second if whole else abs(first - second) <= unit


def differences(
    committed: Mapping[str, Any], again: Mapping[str, Any], unsteady: Sequence[tuple[str, str, str]] = ()
) -> list[str]:
    """List where results differ: table, row, column, and both cells.

    Parameters
    ----------
    committed, again : mapping
        Content of two files of results.
    unsteady : sequence of (str, str, str)
        Cells that no other machine repeats, as in `parts.Part`.
    """
    found: list[str] = []
    tables = {each["title"]: each for each in again["tables"]}
    for table in committed["tables"]:
        title = table["title"]
        other = tables.pop(title, None)
        skipped = [each[1:] for each in unsteady if title.startswith(each[0])]
        if ("", "") in skipped:
            continue
        if other is None:
            found.append(f"{title}: is missing")
        elif other["columns"] != table["columns"] or len(other["rows"]) != len(table["rows"]):
            found.append(f"{title}: other rows or columns")
        else:
            found += _table_differences(table, other, skipped)
    found += [f"{title}: is new" for title in tables]
    return [*found, *_line_differences(committed["checks"], again["checks"])]


def _table_differences(
    table: Mapping[str, Any], other: Mapping[str, Any], skipped: Sequence[tuple[str, str]]
) -> Iterable[str]:
    name: list[str] = []
    for number, rows in enumerate(zip(table["rows"], other["rows"], strict=True), 1):
        name = row_name(rows[0], name)
        said = f"row {number} ({', '.join(name)})" if name else f"row {number}"
        for column, *cells in zip(table["columns"], *rows, strict=True):
            left_out = any(
                wanted in ("", column) and ", ".join(name).startswith(row) for wanted, row in skipped
            )
            if not left_out and not cells_agree(*cells):
                yield f"{table['title']}: {said}, column {column!r}: {cells[0]} is now {cells[1]}"


def row_name(row: Sequence[str], above: Sequence[str]) -> list[str]:
    """Name a row by its cells before the first number; empty ones are those of the row above."""
    name: list[str] = []
    for place, cell in enumerate(row):
        if _NUMBER.match(cell) or (not cell and place >= len(above)):
            break
        name.append(cell or above[place])
    return name


def _line_differences(
    committed: Sequence[Mapping[str, Any]], again: Sequence[Mapping[str, Any]]
) -> Iterable[str]:
    """Bounds whose outcome is another, or which are others."""
    said = [
        [f"{'holds' if each['holds'] else 'missed'}: {each['what']}" for each in every]
        for every in (committed, again)
    ]
    for before, now in zip_longest(*said, fillvalue="none"):
        if not cells_agree(before, now):
            yield f"bound: {before} is now {now}"
