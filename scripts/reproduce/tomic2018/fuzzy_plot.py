"""The fuzzy strategy detection as pictures: the terms of its inputs and outputs, and one inference."""

from collections.abc import Sequence
from pathlib import Path

import numpy as np
from matplotlib.axes import Axes
from matplotlib.lines import Line2D
from matplotlib.patches import Patch

from simbench.plotting import ALARM_COLOUR, LEFT, RIGHT, TOP, WIDTH, Sheet, add_axes, new_sheet, save_png
from simbench.skills.fuzzy_rules import INPUT_TERMS, OUTPUT_TERMS, OUTPUTS, RULES, Memberships
from simbench.skills.fuzzy_strategy import DetectedStrategy, compute_membership_degrees

# Colour-blind readers can tell them apart.
TERM_COLOURS = dict(zip(OUTPUT_TERMS, ("#0072b2", "#56b4e9", "#009e73", "#e69f00", "#d55e00"), strict=True))
CRITERION_COLOURS = dict(zip(OUTPUTS, ("#0072b2", "#d55e00", "#cc79a7"), strict=True))
SHARED_COLOUR = "#7a5195"
_COLUMNS, _GAP, _HEIGHT, _SPACE = 4, 48, 120, 64
_TERM_WIDTH = (WIDTH - LEFT - RIGHT - (_COLUMNS - 1) * _GAP) / _COLUMNS
_INPUT_ROWS = -(-len(INPUT_TERMS) // _COLUMNS)


def draw_memberships(memberships: Memberships, title: str, path: Path) -> None:
    """Draw the terms of all inputs, and where those of the outputs have their peaks, as PNG.

    `memberships`: parameters of the terms; `title`: title of the picture; `path`: PNG file to be written.
    Raises OSError if the file cannot be written.
    """
    key = _term_key(OUTPUT_TERMS)
    sheet = new_sheet((_INPUT_ROWS + 1) * (_HEIGHT + _SPACE) - _SPACE, title, key)
    _draw_inputs(sheet, memberships)
    for k, name in enumerate(OUTPUTS):
        axes = _term_axes(sheet, len(INPUT_TERMS) + k, f"weight of {name}")
        for term, peak in zip(OUTPUT_TERMS, memberships.outputs[name], strict=True):
            axes.vlines(peak, 0.0, 1.0, color=TERM_COLOURS[term], linewidth=2.0)
            axes.plot(peak, 1.0, "o", color=TERM_COLOURS[term], markersize=4)
    save_png(sheet.figure, path)


def draw_inference(strategy: DetectedStrategy, memberships: Memberships, title: str, path: Path) -> None:
    """Draw one recording's inputs on their terms, the strength of each rule, and the weights, as PNG.

    `strategy`: result of `detect_strategy` with the same memberships; `memberships`: parameters of the terms;
    `title`: title of the picture; `path`: PNG file to be written. Raises OSError if the file cannot be
    written.
    """
    terms = [term for term in OUTPUT_TERMS if any(term in each for each in INPUT_TERMS.values())]
    key = [*_term_key(terms), Line2D([], [], color=ALARM_COLOUR, linewidth=1.5, label="this recording")]
    sheet = new_sheet((_INPUT_ROWS + 1) * (_HEIGHT + _SPACE), title, key)
    for name, axes in zip(INPUT_TERMS, _draw_inputs(sheet, memberships), strict=True):
        axes.axvline(strategy.inputs[name], color=ALARM_COLOUR, linewidth=1.5)
        axes.set_title(f"{strategy.inputs[name]:.2f}", loc="right", size=8, color=ALARM_COLOUR)
    top = TOP + _INPUT_ROWS * (_HEIGHT + _SPACE) + 16
    weights_width = _TERM_WIDTH
    rules = add_axes(sheet, LEFT, top, WIDTH - LEFT - RIGHT - weights_width - _GAP, _HEIGHT)
    colours = []
    for rule in RULES:
        concluded = [name for name, term in zip(OUTPUTS, rule.conclusion, strict=True) if term == "XB"]
        colours.append(CRITERION_COLOURS[concluded[0]] if len(concluded) == 1 else SHARED_COLOUR)
    colours += [CRITERION_COLOURS[name] for name in OUTPUTS]
    heights = [
        *(strategy.strengths[rule.number] for rule in RULES),
        *(strategy.examples[name] for name in OUTPUTS),
    ]
    first = len(RULES) + 2
    positions = [*range(1, len(RULES) + 1), *range(first, first + len(OUTPUTS))]
    rules.bar(positions, heights, color=colours, width=0.7)
    middle = first + 0.5 * (len(OUTPUTS) - 1)
    rules.set_xticks([*positions[: len(RULES)], middle], [*(str(rule.number) for rule in RULES), "examples"])
    # Examples add up to several; rules by hand speak by less than 1.
    rules.set_yscale("symlog", linthresh=0.1)
    rules.set_ylim(0.0, max(1.0, 1.2 * max(heights)))
    rules.set_ylabel("strength", size=9)
    rules.set_title("rules by hand, and all examples of a criterion", loc="left", size=9)
    rules.legend(
        handles=[
            *(Patch(facecolor=colour, label=name) for name, colour in CRITERION_COLOURS.items()),
            Patch(facecolor=SHARED_COLOUR, label="energy and ergonomy"),
        ],
        fontsize=8,
        frameon=False,
        ncols=2,
    )
    weights = add_axes(sheet, WIDTH - RIGHT - weights_width, top, weights_width, _HEIGHT)
    weights.bar(OUTPUTS, [strategy.weights[name] for name in OUTPUTS], color=CRITERION_COLOURS.values())
    weights.set_ylim(0.0, 1.0)
    weights.set_title(f"weights: {strategy.dominant}", loc="left", size=9)
    save_png(sheet.figure, path)


def _draw_inputs(sheet: Sheet, memberships: Memberships) -> list[Axes]:
    """Draw the curves of the inputs' terms, in the order of `INPUT_TERMS`."""
    grid = np.linspace(0.0, 1.0, 201)
    degrees = compute_membership_degrees(np.repeat(grid[:, None], len(INPUT_TERMS), axis=1), memberships)
    drawn = []
    for k, name in enumerate(INPUT_TERMS):
        axes = _term_axes(sheet, k, name)
        for term in INPUT_TERMS[name]:
            axes.plot(grid, degrees[name, term], color=TERM_COLOURS[term], linewidth=1.5)
        drawn.append(axes)
    return drawn


def _term_axes(sheet: Sheet, index: int, name: str) -> Axes:
    row, column = divmod(index, _COLUMNS)
    left, top = LEFT + column * (_TERM_WIDTH + _GAP), TOP + 16 + row * (_HEIGHT + _SPACE)
    axes = add_axes(sheet, left, top, _TERM_WIDTH, _HEIGHT)
    axes.set_title(name, loc="left", size=9)
    axes.set_xlim(0.0, 1.0)
    axes.set_ylim(0.0, 1.05)
    return axes


def _term_key(terms: Sequence[str]) -> list[Line2D | Patch]:
    return [Line2D([], [], color=TERM_COLOURS[term], label=term) for term in terms]
