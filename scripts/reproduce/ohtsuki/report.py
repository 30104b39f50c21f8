"""Printed rows of errors, ours and the paper's, which are also kept for the file of results."""

import sys
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from scipy.stats import norm
from scipy.stats import t as student

sys.path.insert(0, str(Path(__file__).parents[1]))
from results import Check, ResultTable

Array = NDArray[np.float64]


@dataclass
class _OpenTable:
    """Table to which rows are added as they are printed."""

    title: str
    columns: tuple[str, ...]
    source: str
    case: str = ""
    rows: list[tuple[str, ...]] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)


_TABLES: list[_OpenTable] = []
CHECKS: list[Check] = []
"""Bounds so far."""


def begin_table(title: str, columns: Sequence[str], source: str = "") -> None:
    """Print a title; the rows that follow belong to this table, first column: case, second: what."""
    print(f"\n{title}")
    _TABLES.append(_OpenTable(title, ("case", "errors of", *columns), source))


def begin_case(name: str) -> None:
    """Print the name of a case, to which the following rows belong."""
    print(f" {name}")
    _TABLES[-1].case = name


def add_note(text: str) -> None:
    """Print a line and keep it below the table."""
    print(f"    {text}")
    _TABLES[-1].notes.append(text)


def add_row(cells: Sequence[str]) -> None:
    """Keep a row, which is printed elsewhere; the name of a case stands in its first row only."""
    table = _TABLES[-1]
    table.rows.append((table.case, *cells))
    table.case = ""


def finished_tables() -> list[ResultTable]:
    """Take all tables so far."""
    return [
        ResultTable(each.title, each.columns, tuple(each.rows), each.source, note="; ".join(each.notes))
        for each in _TABLES
    ]


def check(what: str, value: float, bound: float, of: str) -> None:
    """Print a number and the bound that it is held to, and keep them."""
    text = f"{what}: {value:.4g}, at most {bound:.4g}, {of}"
    print(f"    {text}")
    CHECKS.append(Check(text, bool(value <= bound)))


def show(what: str, values: Array, digits: int = 6) -> None:
    """Print a row of numbers; NaN as a dash."""
    cells = [
        "-" if np.isnan(each) else "diverges" if np.isinf(each) else f"{each:.{digits}f}" for each in values
    ]
    print(f"  {what:<36}" + " ".join(f"{each:>10}" for each in cells))
    add_row([what.strip(), *cells])


def compare(what: str, ours: Array, paper: Array, digits: int = 6) -> list[str]:
    """Print a row of our errors and the paper's; return where ours are larger, to its last digit.

    Parameters
    ----------
    what : str
        Label of the row.
    ours : (k,) array
        Our errors.
    paper : (k,) array
        The paper's errors; NaN where it prints none.
    digits : int
        Number of decimals that the paper prints.

    Returns
    -------
    list of str
        Empty, or one line that names the columns.
    """
    show(what, np.abs(ours), digits)
    show("    paper", np.abs(paper), digits)
    greater = np.abs(ours) > np.abs(paper) + 0.5 * 10.0**-digits
    return _named(what, "greater than the paper's", greater)


def never_worse(what: str, ours: list[Array], others: dict[str, list[Array]], digits: int = 6) -> list[str]:
    """Print other methods' root mean squares over the draws; return where one is significantly smaller than
    ours.

    Significantly: in the paper's last digit, and by Student's t-test of the paired squared differences at the
    level of three standard deviations of a normal distribution.
    """
    found = []
    for name, errors in others.items():
        rest = root_mean_square(errors)
        show(f"    {name}, RMS of {len(errors)}", rest, digits)
        greater = root_mean_square(ours) > rest + 0.5 * 10.0**-digits
        if len(ours) > 1:
            apart = np.square(ours) - np.square(errors)
            level = student.ppf(norm.cdf(3.0), len(ours) - 1)
            greater &= apart.mean(axis=0) > level * apart.std(axis=0, ddof=1) / np.sqrt(len(ours))
        found += _named(what, f"worse than {name}", greater)
    return found


def root_mean_square(draws: list[Array]) -> Array:
    """Compute the root mean square of errors over draws."""
    return np.asarray(np.sqrt(np.mean(np.square(draws), axis=0)))


def _named(what: str, how: str, columns: NDArray[np.bool_]) -> list[str]:
    if not columns.any():
        return []
    line = f"{what}: {how} in column(s) {', '.join(str(each + 1) for each in np.flatnonzero(columns))}"
    print(f"      {how} in column(s) {', '.join(str(each + 1) for each in np.flatnonzero(columns))}")
    return [line]
