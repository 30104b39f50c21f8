"""Step 3 of the explicit model: B and C from Christoffel symbols of A, and what is unique among them.

b_ij,k = ∂a_ki/∂q_j + ∂a_kj/∂q_i − ∂a_ij/∂q_k stands in row k of B at q̇_i q̇_j (i < j), and half of b_jj,k in
row k of C at q̇_j² (Armstrong 1986, eq. 4, without its ½ in the symbol). By a_ij = a_ji (eq. 7), and as no
joint before i and j changes a_ij (eq. 8), many are zero or each other's.
"""

from collections.abc import Iterable, Mapping
from fractions import Fraction
from typing import TypeVar

from simbench.dynamics.trig_ring import Polynomial, TrigRing, derivative

Place = tuple[int, int, int]
"""Row k of B or C, and the speeds i ≤ j that it is multiplied by; joints counted from 1."""
Slopes = dict[tuple[int, int, int], Fraction]
"""A sum of ∂a_ij/∂q_k, by i ≤ j and k, with their factors."""
Key = TypeVar("Key")


def christoffel_places(joints: int) -> list[Place]:
    """List all places of B and C: n² (n + 1) / 2."""
    span = range(1, joints + 1)
    return [(k, i, j) for k in span for i in span for j in range(i, joints + 1)]


def slopes_of(place: Place, lost: Iterable[int] = ()) -> Slopes:
    """Write an element of B or C in the derivatives of A that can differ from zero, by eq. 7 and 8.

    Parameters
    ----------
    place : Place
    lost : iterable of int
        Joints whose angle no element of A depends on: of a last link that is symmetric about its joint's
        axis (eq. 9).

    Returns
    -------
    Slopes
    """
    k, i, j = place
    whole: Slopes = {}
    for first, second, by, sign in ((k, i, j, 1), (k, j, i, 1), (i, j, k, -1)):
        low, high = sorted((first, second))
        if by > low and by not in lost:
            key = (low, high, by)
            whole[key] = whole.get(key, Fraction(0)) + (Fraction(sign, 2) if i == j else Fraction(sign))
    return {key: factor for key, factor in whole.items() if factor}


def velocity_elements(
    ring: TrigRing, inertia: Mapping[tuple[int, int], Polynomial]
) -> dict[Place, Polynomial]:
    """Derive the elements of B and C that are not zero.

    Parameters
    ----------
    ring : TrigRing
    inertia : mapping of (i, j) to polynomial
        A, from `kinetic_energy_matrix`.

    Returns
    -------
    dict of Place to polynomial
        Reduced.
    """
    slopes: dict[tuple[int, int, int], Polynomial] = {}
    result = {}
    for place in christoffel_places(max(inertia)[0]):
        total = ring.ring.zero
        for key, factor in slopes_of(place).items():
            if key not in slopes:
                slopes[key] = derivative(ring, inertia[key[:2]], key[2])
            total += slopes[key] * ring.ring.domain.convert(_rational(ring, factor))
        if total:
            result[place] = total
    return result


def shared(elements: Mapping[Key, Polynomial]) -> dict[Key, tuple[Key, Fraction]]:
    """Find which elements are multiples of an earlier one.

    Parameters
    ----------
    elements : mapping of key to polynomial
        Reduced, none zero.

    Returns
    -------
    dict of key to (key, Fraction)
        For every element the first that it is a multiple of, and the factor; itself and 1 if there is none.
    """
    found: dict[Polynomial, tuple[Key, Fraction]] = {}
    result: dict[Key, tuple[Key, Fraction]] = {}
    for key, element in elements.items():
        scale, shape = scale_and_shape(element)
        first, other = found.setdefault(shape, (key, scale))
        result[key] = (first, scale / other)
    return result


def scale_and_shape(element: Polynomial) -> tuple[Fraction, Polynomial]:
    """Split a polynomial that is not zero into a rational factor and what it shares with its multiples."""
    content, primitive = element.LC.primitive()
    scale = Fraction(int(content.numerator), int(content.denominator)) * (1 if primitive.LC > 0 else -1)
    numbers = element.ring.domain.ring.domain
    inverse = numbers(scale.denominator) / numbers(scale.numerator)
    return scale, element * element.ring.domain.convert(inverse)


def count_unique(sums: Iterable[Slopes]) -> int:
    """Count sums of derivatives that are neither zero nor multiples of each other."""
    unique = set()
    for each in sums:
        if each:
            lead = each[min(each)]
            unique.add(frozenset((key, factor / lead) for key, factor in each.items()))
    return len(unique)


def _rational(ring: TrigRing, factor: Fraction) -> Polynomial:
    domain = ring.constants.domain
    return ring.constants.ground_new(domain(factor.numerator) / domain(factor.denominator))
