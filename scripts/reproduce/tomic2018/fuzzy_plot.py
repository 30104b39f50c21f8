"""The fuzzy strategy detection as pictures: the terms of its inputs and outputs, and one inference."""

from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np
from fuzzy_tuning import LabelledRecordings
from matplotlib.axes import Axes
from matplotlib.lines import Line2D
from matplotlib.patches import Patch
from numpy.typing import NDArray

from simbench.kinematics.arrays import Array
from simbench.plotting import (
    ALARM_COLOUR,
    COLOURS,
    LEFT,
    MEASURED_COLOUR,
    RIGHT,
    TOP,
    WIDTH,
    Sheet,
    add_axes,
    new_sheet,
    save_png,
)
from simbench.skills.fuzzy_rules import INPUT_TERMS, OUTPUT_TERMS, OUTPUTS, Memberships
from simbench.skills.fuzzy_strategy import DetectedStrategy, compute_membership_degrees

# Colour-blind readers can tell them apart.
TERM_COLOURS = dict(zip(OUTPUT_TERMS, ("#0072b2", "#56b4e9", "#009e73", "#e69f00", "#d55e00"), strict=True))
CRITERION_COLOURS = dict(zip(OUTPUTS, ("#0072b2", "#d55e00", "#cc79a7"), strict=True))
SHARED_COLOUR = "#7a5195"
_COLUMNS, _GAP, _HEIGHT, _SPACE = 4, 48, 120, 64
_FITNESS_HEIGHT = 200
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


def draw_inference(strategy: DetectedStrategy, title: str, path: Path) -> None:
    """Draw one recording's inputs on their terms, the strength of each rule, and the weights, as PNG.

    `strategy`: result of `detect_strategy`; `title`: title of the picture; `path`: PNG file to be written.
    Raises OSError if the file cannot be written.
    """
    by_hand = strategy.rules.by_hand
    terms = [term for term in OUTPUT_TERMS if any(term in each for each in INPUT_TERMS.values())]
    key = [*_term_key(terms), Line2D([], [], color=ALARM_COLOUR, linewidth=1.5, label="this recording")]
    sheet = new_sheet((_INPUT_ROWS + 1) * (_HEIGHT + _SPACE), title, key)
    for name, axes in zip(INPUT_TERMS, _draw_inputs(sheet, strategy.rules.memberships), strict=True):
        axes.axvline(strategy.inputs[name], color=ALARM_COLOUR, linewidth=1.5)
        axes.set_title(f"{strategy.inputs[name]:.2f}", loc="right", size=8, color=ALARM_COLOUR)
    top = TOP + _INPUT_ROWS * (_HEIGHT + _SPACE) + 16
    weights_width = _TERM_WIDTH
    rules = add_axes(sheet, LEFT, top, WIDTH - LEFT - RIGHT - weights_width - _GAP, _HEIGHT)
    colours = []
    for rule in by_hand:
        concluded = [name for name, term in zip(OUTPUTS, rule.conclusion, strict=True) if term == "XB"]
        colours.append(CRITERION_COLOURS[concluded[0]] if len(concluded) == 1 else SHARED_COLOUR)
    colours += [CRITERION_COLOURS[name] for name in OUTPUTS]
    heights = [
        *(strategy.strengths[rule.number] for rule in by_hand),
        *(strategy.examples[name] for name in OUTPUTS),
    ]
    first = len(by_hand) + 2
    positions = [*range(1, len(by_hand) + 1), *range(first, first + len(OUTPUTS))]
    rules.bar(positions, heights, color=colours, width=0.7)
    middle = first + 0.5 * (len(OUTPUTS) - 1)
    numbers = [str(rule.number) for rule in by_hand]
    rules.set_xticks([*positions[: len(by_hand)], middle], [*numbers, "examples"])
    # Examples add up to tens; rules by hand speak by less than 1.
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


def draw_fitness(
    recordings: LabelledRecordings,
    found: Array,
    ruled: Array,
    predicted: NDArray[np.int64],
    figures: Mapping[str, str],
    path: Path,
) -> None:
    """Draw each person's mean error with the weights found and with those of the rules, as PNG.

    As in the thesis without those whom manipulability dominates. `found`, `ruled` (m,): mean errors, m, with
    the weights of optimisation and of rules; infinite where the hands leave their path; `predicted` (m,) int:
    dominant criterion by rules; `figures`: tasks to draw, and the thesis's figure of each.
    """
    same = predicted == recordings.dominant
    kinds = (
        ("optimisation", MEASURED_COLOUR, found, np.ones_like(same), "o"),
        ("rules, same dominant criterion", COLOURS["right"], ruled, same, "x"),
        ("rules, another criterion", "#000000", ruled, ~same, "x"),
    )
    key = [
        Line2D([], [], color=colour, marker=marker, linestyle="none", label=label)
        for label, colour, _, _, marker in kinds
    ]
    rows = -(-len(figures) // _COLUMNS)
    sheet = new_sheet(
        rows * (_FITNESS_HEIGHT + _SPACE) - _SPACE, "Mean error of shoulders and elbows, mm", key
    )
    for k, (task, figure) in enumerate(figures.items()):
        axes = _term_axes(sheet, k, f"{task}, {figure}", _FITNESS_HEIGHT)
        chosen = (recordings.task == task) & recordings.decidable
        people = np.unique(recordings.person[chosen], return_inverse=True)[1]
        for _, colour, error, part, marker in kinds:
            shown = part[chosen]
            axes.plot(people[shown], 1e3 * error[chosen][shown], marker, color=colour, markersize=5)
        labels = [str(number) for number in recordings.actor[chosen]]
        axes.set_xticks(people, labels, size=7)
        axes.set_xlim(-0.7, people.max(initial=0) + 0.7)
        axes.set_yscale("log")
        axes.set_ylim(0.5, 300.0)
        axes.yaxis.set_major_formatter("{x:g}")
    save_png(sheet.figure, path, colours=32)


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


def _term_axes(sheet: Sheet, index: int, name: str, height: int = _HEIGHT) -> Axes:
    row, column = divmod(index, _COLUMNS)
    left, top = LEFT + column * (_TERM_WIDTH + _GAP), TOP + 16 + row * (height + _SPACE)
    axes = add_axes(sheet, left, top, _TERM_WIDTH, height)
    axes.set_title(name, loc="left", size=9)
    axes.set_xlim(0.0, 1.0)
    axes.set_ylim(0.0, 1.05)
    return axes


def _term_key(terms: Sequence[str]) -> list[Line2D | Patch]:
    return [Line2D([], [], color=TERM_COLOURS[term], label=term) for term in terms]
