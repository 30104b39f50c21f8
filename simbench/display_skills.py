"""What `simbench skills` prints: criteria with weights, how surely, and what the fuzzy rules say."""

from collections.abc import Iterator

import numpy as np
from rich.table import Table

from simbench.kinematics.redundancy.criteria import CRITERIA
from simbench.motion.actors.human_model import SPINE_JOINTS
from simbench.skills.analysis import SkillAnalysis, point_spread

_NAMES = tuple(CRITERIA)


def opening_lines(analysis: SkillAnalysis) -> Iterator[str]:
    """Lay out what was analysed.

    Parameters
    ----------
    analysis : SkillAnalysis

    Yields
    ------
    str
    """
    task = analysis.task
    yield f"recording  {task.source}"
    parts = f", {len(analysis.parts)} repetitions" if len(analysis.parts) > 1 else ""
    own = SPINE_JOINTS[0] in task.names
    joints = "the person's own, fitted to the recording" if own else "ROMEO's, at the person's size"
    yield f"joints     {joints}"
    yield f"span       {task.time[0]:.2f} s to {task.time[-1]:.2f} s, {len(task.time)} samples{parts}"


def criteria_table(analysis: SkillAnalysis) -> Table:
    """Lay out a line for each criterion.

    Parameters
    ----------
    analysis : SkillAnalysis

    Returns
    -------
    rich.table.Table
    """
    mixture, flat = analysis.mixture, analysis.flatness
    table = Table(
        "criterion",
        "weight",
        "about as good",
        "counts for",
        "alone, mm",
        "by fuzzy rules",
        box=None,
        pad_edge=False,
    )
    for column in table.columns[1:]:
        column.justify = "right"
    for k, name in enumerate(_NAMES):
        ruled = analysis.strategy.weights.get(name)
        table.add_row(
            name,
            f"{mixture.weights[k]:.3f}",
            f"{flat.lowest[k]:.2f} to {flat.highest[k]:.2f}",
            f"{mixture.shares[k]:.2f}",
            _millimetres(mixture.single[k]),
            "-" if ruled is None else f"{ruled:.3f}",
        )
    return table


def closing_lines(analysis: SkillAnalysis) -> Iterator[str]:
    """Say what can be concluded, and what cannot.

    Parameters
    ----------
    analysis : SkillAnalysis

    Yields
    ------
    str
    """
    mixture, flat = analysis.mixture, analysis.flatness
    best = int(np.argmin(mixture.single))
    yield (
        f"error      {_millimetres(mixture.fitness)} mm a sample with the mixture, "
        f"{_millimetres(mixture.single[best])} mm with {_NAMES[best]} alone"
    )
    spread = point_spread(analysis.task)
    yield (
        f"motion     shoulders and elbows are {_millimetres(spread)} mm from their mean places: "
        f"the mixture leaves {mixture.fitness / spread:.0%} of that unexplained"
    )
    yield f"dominant   {mixture.dominant}; by fuzzy rules {analysis.strategy.dominant}"
    rivals = flat.dominant[1:]
    if rivals:
        yield (
            f"not sure   {', '.join(rivals)} could as well be dominant: "
            f"within {1e3 * flat.tolerance:g} mm of the best"
        )
    for first, second in flat.confused:
        yield f"not told   {first} from {second}: one can give way to the other"


def _millimetres(value: float) -> str:
    return f"{1e3 * value:.1f}" if np.isfinite(value) else "cannot"
