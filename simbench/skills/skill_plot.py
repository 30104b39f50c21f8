"""The analysis of a person's skill as one picture."""

from pathlib import Path

import numpy as np
from matplotlib.lines import Line2D
from matplotlib.patches import Patch

from simbench.kinematics.redundancy_criteria import CRITERIA
from simbench.plotting import LEFT, RIGHT, TOP, WIDTH, add_axes, new_sheet, save_png, set_time_axis
from simbench.skills.analysis import SkillAnalysis

# Colour-blind readers can tell them apart.
COLOURS = dict(zip(CRITERIA, ("#0072b2", "#d55e00", "#cc79a7", "#009e73"), strict=True))
_MIXTURE, _RULES = "#222222", "#b0b0b0"
_HEIGHT, _SPACE, _GAP = 190, 62, 70
_NAMES = tuple(CRITERIA)


def draw_skill(analysis: SkillAnalysis, path: Path) -> None:
    """Draw weights with their ranges, errors of each criterion alone, and errors over time, as PNG.

    `analysis`: the analysis of a recording; `path`: PNG file to be written. Raises OSError if the file cannot
    be written.
    """
    mixture, flat, time = analysis.mixture, analysis.flatness, analysis.task.time
    key: list[Line2D | Patch] = [
        *(Patch(facecolor=colour, label=name) for name, colour in COLOURS.items()),
        Line2D([], [], color=_MIXTURE, label="mixture, and mixtures about as good"),
        Line2D([], [], ls="", marker="D", mfc="white", mec=_MIXTURE, label="what it counts for"),
        Patch(facecolor=_RULES, label="fuzzy rules"),
    ]
    sheet = new_sheet(2 * _HEIGHT + _SPACE, f"{analysis.task.source}: {mixture.dominant}", key)
    width = (WIDTH - LEFT - RIGHT - _GAP) / 2
    weights = add_axes(sheet, LEFT, TOP, width, _HEIGHT)
    positions, colours = np.arange(len(_NAMES)), list(COLOURS.values())
    weights.bar(positions - 0.2, mixture.weights, 0.38, color=colours)
    ends = np.clip([mixture.weights - flat.lowest, flat.highest - mixture.weights], 0.0, None)
    weights.errorbar(positions - 0.2, mixture.weights, ends, fmt="none", ecolor=_MIXTURE, capsize=4)
    weights.plot(positions - 0.2, mixture.shares, "D", color="white", mec=_MIXTURE, ms=7)
    by_rules = [analysis.strategy.weights.get(name, 0.0) for name in _NAMES]
    weights.bar(positions + 0.2, by_rules, 0.38, color=_RULES)
    weights.set_xticks(positions, _NAMES)
    weights.set_ylim(0.0, 1.05)
    weights.set_title("weights", loc="left", size=10)

    alone = add_axes(sheet, LEFT + width + _GAP, TOP, width, _HEIGHT)
    bars = 1e3 * np.where(np.isfinite(mixture.single), mixture.single, 0.0)
    alone.bar(positions, bars, 0.6, color=colours)
    for index in np.flatnonzero(~np.isfinite(mixture.single)):
        alone.text(
            float(index),
            0.02,
            "cannot follow",
            ha="center",
            va="bottom",
            size=8,
            transform=alone.get_xaxis_transform(),
        )
    alone.axhline(1e3 * mixture.fitness, color=_MIXTURE)
    alone.set_yscale("log")
    alone.set_xticks(positions, _NAMES)
    alone.set_title("mean error of shoulders and elbows, each criterion alone (mm)", loc="left", size=10)

    errors = add_axes(sheet, LEFT, TOP + _HEIGHT + _SPACE, WIDTH - LEFT - RIGHT, _HEIGHT)
    for part, rows in zip(analysis.parts, analysis.errors, strict=True):
        for colour, row in zip((_MIXTURE, *colours), rows, strict=True):
            # Where a law starts it is where the person was.
            seen = np.where(np.isfinite(row) & (row > 0.0), row, np.nan)
            errors.plot(part.time, 1e3 * seen, color=colour, linewidth=1.2)
    set_time_axis(errors, time)
    errors.set_yscale("log")
    errors.set_ylim(bottom=0.1)
    errors.set_title("error over time, from the start of each repetition on (mm; s)", loc="left", size=10)
    save_png(sheet.figure, path)
