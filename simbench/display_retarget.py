"""What `simbench retarget` prints: how far the model is from the person, and what the joints do."""

from collections.abc import Sequence

import numpy as np
from rich.table import Table

from simbench.retargeting.imitation.errors import ErrorSummary
from simbench.retargeting.imitation.joint_use import JointUse

# Range of a joint that stands still, rad or m: the width of rounding.
STILL = 1e-6


def error_table(summaries: Sequence[ErrorSummary]) -> Table:
    """Lay out how far the scaled model is from the recording.

    Parameters
    ----------
    summaries : sequence of ErrorSummary

    Returns
    -------
    rich.table.Table
    """
    table = _table("model against recording", "mean", "95 %", "max", "unit")
    table.columns[4].justify = "left"
    for summary in summaries:
        numbers = (summary.mean, summary.percentile_95, summary.maximum)
        shown, unit = (
            (np.multiply(numbers, 1000.0), "mm") if summary.unit == "m" else (np.degrees(numbers), "°")
        )
        table.add_row(summary.name, *(f"{value:.2f}" for value in shown), unit)
    return table


def joint_table(uses: Sequence[JointUse]) -> Table:
    """Lay out the joints that move: range and speed against their limits.

    Parameters
    ----------
    uses : sequence of JointUse

    Returns
    -------
    rich.table.Table
        In degrees; a joint that slides in mm.
    """
    table = _table("joint", "from", "to", "limits", "nearest", "speed", "limit", "of it", "unit")
    table.columns[8].justify = "left"
    for use in uses:
        if not moves(use):
            continue
        scale, unit = (180.0 / np.pi, "°, °/s") if use.unit == "rad" else (1000.0, "mm, mm/s")
        limits = f"{scale * use.lower:.0f} to {scale * use.upper:.0f}"
        table.add_row(
            use.name,
            f"{scale * use.lowest:.1f}",
            f"{scale * use.highest:.1f}",
            limits,
            f"{scale * use.clearance:.1f}",
            f"{scale * use.speed:.0f}",
            f"{scale * use.speed_limit:.0f}",
            f"{use.speed / use.speed_limit:.0%}",
            unit,
        )
    return table


def still_line(uses: Sequence[JointUse]) -> str:
    """Say how many joints the table leaves out."""
    return f"joints that stand still: {sum(not moves(use) for use in uses) or 'none'}"


def moves(use: JointUse) -> bool:
    """Whether a joint is worth a line."""
    return use.highest - use.lowest > STILL


def _table(*headings: str) -> Table:
    """Build a table of a name and numbers."""
    table = Table(*headings, box=None, pad_edge=False)
    for column in table.columns[1:]:
        column.justify, column.no_wrap = "right", True
    table.columns[0].overflow = "fold"
    return table
