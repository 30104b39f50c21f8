"""Operations of an element as it is printed: each constant times a sum of products."""

from collections.abc import Iterable, Sequence

from simbench.dynamics.lumped import Term
from simbench.dynamics.operation_count import Operations
from simbench.dynamics.trig_ring import TrigRing, factor_names


def printed_operations(ring: TrigRing, terms: Sequence[Term]) -> Operations:
    """Count as the paper does: explicit expressions, nothing shared between elements, nothing nested.

    I16 (S3 C5 + C3 C4 S5): products of sines and cosines, added up, times the constant, which has its
    numerical factor in it. Products of one angle (SS4, CC4, SC4) count as given, as sines and cosines do.

    Parameters
    ----------
    ring : TrigRing
    terms : sequence of Term

    Returns
    -------
    Operations
    """
    multiplications = 0
    for group in grouped(terms):
        multiplications += sum(max(len(factor_names(ring, term.powers)) - 1, 0) for term in group)
        multiplications += any(any(term.powers) for term in group)
    return Operations(multiplications, max(len(terms) - 1, 0))


def grouped(terms: Iterable[Term]) -> list[list[Term]]:
    """Collect the terms of each constant with the same numerical factor, whatever its sign."""
    groups: dict[tuple[str, object], list[Term]] = {}
    for term in terms:
        groups.setdefault((term.constant, abs(term.factor)), []).append(term)
    return list(groups.values())
