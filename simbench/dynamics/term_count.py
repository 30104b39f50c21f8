"""Operations of an element as it is printed: each constant times a sum of products."""

from collections.abc import Iterable, Sequence

from simbench.dynamics.lumped import Term
from simbench.dynamics.operation_count import Operations
from simbench.dynamics.trig_ring import TrigRing, factor_names


def printed_operations(ring: TrigRing, terms: Sequence[Term]) -> Operations:
    """Count the operations of an element as the paper does: nothing shared between elements, nothing nested.

    I16 (S3 C5 + C3 C4 S5): products of sines and cosines, added up, times the constant, which has its
    numerical factor in it. Products of one angle (SS4, CC4, SC4) count as given, as sines and cosines do.
    `ring`: ring in which the element is written. Returns multiplications and additions of the printed
    expression.
    """
    multiplications = 0
    for group in group_terms(terms):
        multiplications += sum(max(len(factor_names(ring, term.powers)) - 1, 0) for term in group)
        multiplications += any(any(term.powers) for term in group)
    return Operations(multiplications, max(len(terms) - 1, 0))


def group_terms(terms: Iterable[Term]) -> list[list[Term]]:
    """Group terms by constant and absolute numerical factor.

    `terms`: terms of an element. Returns groups in the order of their first term.
    """
    groups: dict[tuple[str, object], list[Term]] = {}
    for term in terms:
        groups.setdefault((term.constant, abs(term.factor)), []).append(term)
    return list(groups.values())
