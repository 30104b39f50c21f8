"""An explicit model's equations as text in the paper's notation, and its operations counted three ways."""

import re
from collections.abc import Iterable, Sequence
from typing import NamedTuple

from simbench.dynamics.arm_symbols import MOTOR
from simbench.dynamics.explicit_model import ElementIndex, ExplicitModel
from simbench.dynamics.factored import factor_terms, signed_products
from simbench.dynamics.model_code import (
    code_terms,
    configuration_lines,
    element_name,
    torque_lines,
)
from simbench.dynamics.operation_count import Operations, count_operations
from simbench.dynamics.term_count import printed_operations

KINDS = {2: "A", 3: "B and C", 1: "g"}
NOTHING = Operations(0, 0)


class Counts(NamedTuple):
    """Operations of a model's parts."""

    # A, B and C, g: each element by itself, constants times sums of products, as the paper counts.
    expanded: dict[str, Operations]
    factored: dict[str, Operations]  # Each element by itself, common factors taken out.
    # After common-subexpression elimination among the elements of each part, products of one angle (SS4)
    # included; and among all (`all`).
    shared: dict[str, Operations]
    torque: Operations  # The torques from the elements: the part that depends on speeds and accelerations.

    def total(self, elements: dict[str, Operations]) -> Operations:
        """Add up the operations for all torques, the elements counted in one of the three ways.

        `elements`: `expanded`, `factored` or `shared`. Returns elements and torques together.
        """
        parts = [elements["all"]] if "all" in elements else list(elements.values())
        parts.append(self.torque)
        return Operations(*(sum(column) for column in zip(*parts, strict=True)))


def count_model(model: ExplicitModel) -> Counts:
    """Count the arithmetic operations of an explicit model in three ways.

    `model`: full or abbreviated model. Returns operations of each part. Sines, cosines, changes of sign and
    the computation of the constants are not counted. Elements that are multiples of another count in
    `torque`.
    """
    expanded, nested = dict.fromkeys(KINDS.values(), NOTHING), dict.fromkeys(KINDS.values(), NOTHING)
    for entry in model.elements:
        kind, terms = KINDS[len(entry)], code_terms(model, entry)
        if terms:
            expanded[kind] = _sum(expanded[kind], printed_operations(model.geometry.ring, terms))
            written = factor_terms(signed_products(model.geometry.ring, terms))
            nested[kind] = _sum(nested[kind], written.operations)
    shared = {
        kind: count_lines(model, [entry for entry in model.elements if len(entry) == order])
        for order, kind in KINDS.items()
    }
    shared["all"] = count_lines(model, list(model.elements))
    return Counts(expanded, nested, shared, _count_text(line.text for line in torque_lines(model)))


def count_lines(model: ExplicitModel, places: Sequence[ElementIndex]) -> Operations:
    """Count the operations of the code of some elements by running it on counting numbers.

    `model`: model that the elements belong to. Returns operations after common-subexpression elimination
    among these elements.
    """
    return _count_text(line.text for line in configuration_lines(model, places))


def equations(model: ExplicitModel) -> list[str]:
    """Write a model's equations as text in the paper's notation.

    `model`: full or abbreviated model. Returns one equation for each element, such as `a22 = Im2 + I1 + 2 I5
    S3 + …`; elements that are multiples of others come last.
    """
    lines = []
    for entry, terms in model.elements.items():
        text = factor_terms(signed_products(model.geometry.ring, terms)).text if terms else ""
        if len(entry) == 2 and entry[0] == entry[1]:
            motor = f"{MOTOR}{entry[0]}"
            text = motor + (f" - {text[1:]}" if text.startswith("-") else f" + {text}" if text else "")
        lines.append(f"{element_name(entry)} = {_in_paper(text)}")
    for entry, (owner, factor) in model.places.items():
        if owner != entry:
            times = {"1": "", "-1": "-"}.get(str(factor), f"{factor} ")
            lines.append(f"{element_name(entry)} = {times}{element_name(owner)}")
    return lines


def _in_paper(text: str) -> str:
    """Write I5x2 as 2 I5, and products without a sign."""
    text = re.sub(r"\b([Ig]\d+)x(\d+)_(\d+)\b", r"\2/\3 \1", text)
    return re.sub(r"\b([Ig]\d+)x(\d+)\b", r"\2 \1", text).replace(" * ", " ")


def _count_text(lines: Iterable[str]) -> Operations:
    """Count the operations of assignments' texts, evaluated with a counting number for every name."""
    codes = [compile(re.sub(r"\[(\d+)\]", r"\1", text), "<element>", "eval") for text in lines]
    names = sorted({name for code in codes for name in code.co_names})

    def run(values: Sequence[object]) -> None:
        known = dict(zip(names, values, strict=True))
        for code in codes:
            eval(code, {}, known)

    return count_operations(run, len(names))


def _sum(first: Operations, second: Operations) -> Operations:
    return Operations(first.multiplications + second.multiplications, first.additions + second.additions)
