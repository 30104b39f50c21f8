"""Step 3 of the explicit model: B and C from Christoffel symbols of A, and which of them are unique.

b_ij,k = ∂a_ki/∂q_j + ∂a_kj/∂q_i − ∂a_ij/∂q_k stands in row k of B at q̇_i q̇_j (i < j), and half of b_jj,k in
row k of C at q̇_j² (Armstrong 1986, eq. 4, without its ½ in the symbol). By a_ij = a_ji (eq. 7), and as no
joint before i and j changes a_ij (eq. 8), many are zero or multiples of each other.
"""

from collections.abc import Iterable, Mapping
from fractions import Fraction
from typing import TypeVar

from simbench.dynamics.trig_ring import Polynomial, TrigRing, differentiate

ChristoffelIndex = tuple[int, int, int]
"""Index (k, i, j): row k of B or C, and the speeds i ≤ j whose product it multiplies, counted from 1."""
DerivativeSum = dict[tuple[int, int, int], Fraction]
"""A sum of derivatives ∂a_ij/∂q_k: factor by (i, j, k), i ≤ j."""
Key = TypeVar("Key")


def christoffel_indices(joints: int) -> list[ChristoffelIndex]:
    """List the indices of all elements of B and C, of which there are n² (n + 1) / 2.

    `joints`: number of joints n. Returns indices (k, i, j), i ≤ j.
    """
    span = range(1, joints + 1)
    return [(k, i, j) for k in span for i in span for j in range(i, joints + 1)]


def christoffel_symbol(entry: ChristoffelIndex, lost: Iterable[int] = ()) -> DerivativeSum:
    """Write an element of B or C as a sum of those derivatives of A that eq. 7 and 8 leave non-zero.

    `lost`: joints on whose angle no element of A depends: those of a last link that is symmetric about its
    joint's axis (eq. 9). Returns derivatives with their factors.
    """
    k, i, j = entry
    whole: DerivativeSum = {}
    for first, second, by, sign in ((k, i, j, 1), (k, j, i, 1), (i, j, k, -1)):
        low, high = sorted((first, second))
        if by > low and by not in lost:
            key = (low, high, by)
            whole[key] = whole.get(key, Fraction(0)) + (Fraction(sign, 2) if i == j else Fraction(sign))
    return {key: factor for key, factor in whole.items() if factor}


def derive_velocity_elements(
    ring: TrigRing, inertia: Mapping[tuple[int, int], Polynomial]
) -> dict[ChristoffelIndex, Polynomial]:
    """Derive the non-zero elements of B and C.

    `ring`: ring in which A is written; `inertia`: A, from `kinetic_energy_matrix`. Returns the elements, with
    squares of sines eliminated.
    """
    slopes: dict[tuple[int, int, int], Polynomial] = {}
    result = {}
    for entry in christoffel_indices(max(inertia)[0]):
        total = ring.ring.zero
        for key, factor in christoffel_symbol(entry).items():
            if key not in slopes:
                slopes[key] = differentiate(ring, inertia[key[:2]], key[2])
            total += slopes[key] * ring.ring.domain.convert(_rational(ring, factor))
        if total:
            result[entry] = total
    return result


def find_multiples(elements: Mapping[Key, Polynomial]) -> dict[Key, tuple[Key, Fraction]]:
    """Find which elements are rational multiples of an earlier one.

    `elements`: non-zero elements in reduced form. Returns for every element the first element that it is a
    multiple of, and the factor; itself and 1 if there is none.
    """
    found: dict[Polynomial, tuple[Key, Fraction]] = {}
    result: dict[Key, tuple[Key, Fraction]] = {}
    for key, element in elements.items():
        scale, shape = split_rational_factor(element)
        first, other = found.setdefault(shape, (key, scale))
        result[key] = (first, scale / other)
    return result


def split_rational_factor(element: Polynomial) -> tuple[Fraction, Polynomial]:
    """Split a non-zero polynomial into a rational factor and a normalised polynomial.

    `element`: element in reduced form. Returns factor, and the polynomial that all multiples of the element
    have in common.
    """
    content, primitive = element.LC.primitive()
    scale = Fraction(int(content.numerator), int(content.denominator)) * (1 if primitive.LC > 0 else -1)
    numbers = element.ring.domain.ring.domain
    inverse = numbers(scale.denominator) / numbers(scale.numerator)
    return scale, element * element.ring.domain.convert(inverse)


def count_unique(sums: Iterable[DerivativeSum]) -> int:
    """Count sums of derivatives that are neither zero nor multiples of each other.

    Returns how many differ by more than a factor.
    """
    unique = set()
    for each in sums:
        if each:
            lead = each[min(each)]
            unique.add(frozenset((key, factor / lead) for key, factor in each.items()))
    return len(unique)


def _rational(ring: TrigRing, factor: Fraction) -> Polynomial:
    domain = ring.constants.domain
    return ring.constants.ground_new(domain(factor.numerator) / domain(factor.denominator))
