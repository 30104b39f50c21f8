"""Sums of products written with common factors taken out, each element by itself."""

from collections import Counter
from collections.abc import Sequence
from fractions import Fraction
from typing import NamedTuple

from simbench.dynamics.lumped import Term
from simbench.dynamics.operation_count import Operations
from simbench.dynamics.trig_ring import TrigRing, factor_names

Product = tuple[int, tuple[str, ...]]
"""Its sign and its factors by name."""


class FactoredExpression(NamedTuple):
    """An expression as text, and the operations that evaluate it."""

    text: str
    multiplications: int  # Number of multiplications.
    additions: int  # Number of additions and subtractions.
    negative: bool  # Whether the text begins with a minus sign.
    terms: int  # Number of summands at the outermost level.

    @property
    def operations(self) -> Operations:
        """Multiplications and additions; a change of sign counts as none."""
        return Operations(self.multiplications, self.additions)


def constant_name(name: str, factor: Fraction) -> str:
    """Name a constant times a rational number: I5, I5x2, I5x1_2.

    `factor`: number that it is multiplied by; its sign is dropped. Returns name of the product.
    """
    factor = abs(factor)
    if factor == 1:
        return name
    return f"{name}x{factor.numerator}" + (f"_{factor.denominator}" if factor.denominator != 1 else "")


def signed_products(ring: TrigRing, terms: Sequence[Term]) -> list[Product]:
    """List the products that an element is the sum of.

    `ring`: ring in which the element is written. Returns sign and factors of each term, the constant first.
    """
    return [
        (
            1 if term.factor > 0 else -1,
            (constant_name(term.constant, term.factor), *factor_names(ring, term.powers)),
        )
        for term in terms
    ]


def factor_terms(sum_of: Sequence[Product]) -> FactoredExpression:
    """Take the factor shared by most products out of them, repeatedly.

    `sum_of`: at least one product. Returns the sum in nested form.
    """
    # In the order of the terms, not of a set: the same text every time.
    uses = Counter(name for _, names in sum_of for name in dict.fromkeys(names))
    name, count = max(uses.items(), key=lambda item: item[1], default=("", 0))
    if count < 2:
        return _plain(sum_of)
    inside = [(sign, _without(names, name)) for sign, names in sum_of if name in names]
    outside = [each for each in sum_of if name not in each[1]]
    inner = factor_terms(inside)
    text = f"{name} * ({inner.text})" if inner.terms > 1 or inner.negative else f"{name} * {inner.text}"
    whole = FactoredExpression(text, inner.multiplications + 1, inner.additions, False, 1)
    if not outside:
        return whole
    rest = factor_terms(outside)
    joined = f"{whole.text} - {rest.text[1:]}" if rest.negative else f"{whole.text} + {rest.text}"
    return FactoredExpression(
        joined,
        whole.multiplications + rest.multiplications,
        whole.additions + rest.additions + 1,
        False,
        1 + rest.terms,
    )


def _plain(sum_of: Sequence[Product]) -> FactoredExpression:
    """Write products that share nothing; a positive one first."""
    ordered = sorted(sum_of, key=lambda each: -each[0])
    text = ""
    for sign, names in ordered:
        text += (" - " if sign < 0 else " + ") + (" * ".join(names) or "1")
    text = "-" + text[3:] if ordered[0][0] < 0 else text[3:]
    multiplications = sum(max(len(names) - 1, 0) for _, names in ordered)
    return FactoredExpression(text, multiplications, len(ordered) - 1, ordered[0][0] < 0, len(ordered))


def _without(names: tuple[str, ...], name: str) -> tuple[str, ...]:
    index = names.index(name)
    return names[:index] + names[index + 1 :]
