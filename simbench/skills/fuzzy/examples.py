"""Fuzzy rules by example: a person who moves like one whose criteria are known minimises the same."""

import csv
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from pathlib import Path

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.optimize import minimize

from simbench.errors import SkillError
from simbench.files.storage import write_whole
from simbench.files.text import parse_finite_number
from simbench.kinematics.arrays import Array
from simbench.skills.fuzzy.rules import DISTANCES, INPUTS, OUTPUTS

WIDTHS = np.where(np.isin(INPUTS, DISTANCES), 0.08, 0.15)
"""Widths from which tuning starts: about a third of an input's variation between people of one task."""
_PULL = 0.001
"""Penalty on the squared logarithm of the ratio of a width to its start."""
_FURTHEST = 1.8
"""Greatest such logarithm."""
_SILENCE = 1e-3
"""Strength that is added for each criterion, so that it is not zero where no example is near."""
_SHIPPED = "examples.csv"
_HEAD = """\
# Recordings as rules of the fuzzy strategy detection: inputs, and the criterion that inverse optimal control
# found dominant. The first row has the widths of the Gaussian terms, the same for all recordings.
"""
_COLUMNS = ("recording", "criterion", *INPUTS)
_WIDTH = "width"


@dataclass(frozen=True)
class ExampleRules:
    """n recordings, each a rule: if every input is about as here, this criterion is minimised."""

    names: tuple[str, ...]
    values: Array  # (n, 9): values of `INPUTS`: the centres of the Gaussian terms "about as here".
    dominant: NDArray[np.int64]  # (n,) int: index of the dominant criterion in `OUTPUTS`.
    widths: Array  # (9,): widths of the terms, one for each input, the same for all examples.


def compute_example_strengths(values: Array, examples: ExampleRules) -> Array:
    """Compute how strongly the examples support each criterion.

    An example's degree is the product of its terms', exp(−½ Σᵢ ((xᵢ − cᵢ)/wᵢ)²); those of one criterion add
    up. Rules from examples are Wang & Mendel's (1992), whose defuzzifier the thesis takes; theirs have the
    terms of a grid, these are centred on the example. `values` (m, 9): values of `INPUTS`, 0 to 1. Returns
    (m, 3): strength for each of `OUTPUTS`.
    """
    away = (values[:, None] - examples.values) / examples.widths
    return np.asarray(np.exp(-0.5 * (away**2).sum(axis=2)) @ np.eye(len(OUTPUTS))[examples.dominant])


def learn_examples(
    names: tuple[str, ...], values: ArrayLike, weights: ArrayLike, people: ArrayLike
) -> ExampleRules:
    """Take recordings as examples, with the widths by which the others best predict each person.

    The widths make −mean log p least, where p is the share of the right criterion in what the examples of all
    other people say; gradient descent (L-BFGS-B) from `WIDTHS`, exact gradient. `names`: names of n
    recordings; `values` (n, 9) _like: values of `INPUTS`, 0 to 1; `weights` (n, 3) _like: weights of
    `OUTPUTS`, found by optimisation; no row is all 0; `people` (n,) _like: identifiers of the recorded
    people, at least two different ones.
    """
    rows, targets, who = np.asarray(values, float), np.asarray(weights, float), np.asarray(people)
    if rows.shape != (len(names), len(INPUTS)) or not ((rows >= 0.0) & (rows <= 1.0)).all():
        raise SkillError(f"examples: need {len(INPUTS)} numbers from 0 to 1 for each recording")
    if targets.shape != (len(names), len(OUTPUTS)) or not (targets.max(axis=1, initial=0.0) > 0.0).all():
        raise SkillError(f"examples: need {len(OUTPUTS)} weights for each recording, not all of them 0")
    if who.shape != (len(names),) or len(np.unique(who)) < 2:
        raise SkillError("examples: need recordings of at least two people")
    dominant = targets.argmax(axis=1)
    bounds = [(-_FURTHEST, _FURTHEST)] * len(INPUTS)
    found = minimize(
        lambda log: _prediction_loss(log, rows, dominant, who),
        np.zeros(len(INPUTS)),
        jac=True,
        method="L-BFGS-B",
        bounds=bounds,
    )
    return ExampleRules(names, rows, dominant, WIDTHS * np.exp(found.x))


def _prediction_loss(
    logarithms: Array, values: Array, dominant: NDArray[np.int64], people: NDArray[np.generic]
) -> tuple[float, Array]:
    """Compute −mean log p and its gradient, p the right criterion's share in other people's examples."""
    widths = WIDTHS * np.exp(logarithms)
    square = ((values[:, None] - values) / widths) ** 2
    degree = np.exp(-0.5 * square.sum(axis=2)) * (people[:, None] != people)
    same = dominant[:, None] == dominant
    right = (degree * same).sum(axis=1) + _SILENCE
    every = degree.sum(axis=1) + len(OUTPUTS) * _SILENCE
    value = -np.log(right / every).mean() + _PULL * float(logarithms @ logarithms)
    by_degree = (1.0 / every[:, None] - same / right[:, None]) / len(values)
    slope = np.einsum("ij,ijk->k", by_degree * degree, square)
    return float(value), slope + 2.0 * _PULL * logarithms


@cache
def read_shipped_examples() -> ExampleRules:
    """Read the examples that come with simbench; the file says where they are from.

    Returns the examples with their widths.
    """
    return _parse(files("simbench.skills.fuzzy").joinpath(_SHIPPED).read_text(encoding="utf-8"), _SHIPPED)


def read_examples(path: Path) -> ExampleRules:
    """Read a file of examples.

    `path`: CSV file, as `write_examples` writes it. Returns the examples with their widths.
    """
    try:
        text = path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise SkillError(f"{path}: cannot be read: {error}") from None
    return _parse(text, str(path))


def write_examples(examples: ExampleRules, path: Path, note: str) -> None:
    """Write a file that `read_examples` reads, rounded to 4 digits; it appears once it is whole.

    `examples`: the examples with their widths; `path`: CSV file to be written; `note`: origin of the
    examples, one line.
    """
    named = [OUTPUTS[index] for index in examples.dominant]
    rows = [(_WIDTH, "", examples.widths), *zip(examples.names, named, examples.values, strict=True)]
    lines = [",".join([name, criterion, *(f"{x:.4f}" for x in numbers)]) for name, criterion, numbers in rows]
    try:
        write_whole(path, _HEAD + f"# {note}\n" + "\n".join([",".join(_COLUMNS), *lines]) + "\n")
    except OSError as error:
        raise SkillError(f"{path}: cannot be written: {error.strerror}") from None


def _parse(text: str, source: str) -> ExampleRules:
    numbered = [(k, line) for k, line in enumerate(text.splitlines(), 1) if line and not line.startswith("#")]
    table = list(csv.reader(line for _, line in numbered))
    if not table or tuple(table[0]) != _COLUMNS:
        raise SkillError(f"{source}: must have exactly the columns {', '.join(_COLUMNS)}")
    if len(table) < 3 or table[1][0] != _WIDTH:
        raise SkillError(f"{source}: needs a first row named {_WIDTH}, and examples below")
    locations = [f"{source}: line {number}" for number, _ in numbered]
    widths = _numbers(table[1], locations[1])
    if not (widths > 0.0).all():
        raise SkillError(f"{locations[1]}: widths must be above 0")
    dominant = []
    for row, location in zip(table[2:], locations[2:], strict=True):
        if len(row) < 2 or row[1] not in OUTPUTS:
            raise SkillError(f"{location}: criterion must be one of {', '.join(OUTPUTS)}")
        dominant.append(OUTPUTS.index(row[1]))
    values = np.array(
        [_numbers(row, location) for row, location in zip(table[2:], locations[2:], strict=True)]
    )
    return ExampleRules(tuple(row[0] for row in table[2:]), values, np.array(dominant), widths)


def _numbers(row: Sequence[str], location: str) -> Array:
    parsed = [parse_finite_number(cell) for cell in row[2:]]
    if None in parsed:
        raise SkillError(f"{location}: {', '.join(row[2:])[:80]} are not numbers")
    numbers = np.array(parsed, dtype=float)
    if len(numbers) != len(INPUTS) or not ((numbers >= 0.0) & (numbers <= 1.0)).all():
        raise SkillError(f"{location}: must have {len(INPUTS)} numbers from 0 to 1")
    return numbers
