"""Step 2 of the explicit model: constants that multiply the same functions, lumped and named.

Every coefficient of a product of sines and cosines is a constant of the mechanism. Those of A that are no
rational multiples of each other become I1, I2, …, those of g become g1, g2, …, in the order of their size.
The forms with c² or with s² need different ones: for each element that with the fewest new constants is
taken, then that with the fewest operations.
"""

from collections.abc import Callable, Iterable, Mapping
from fractions import Fraction
from typing import NamedTuple, TypeVar

from simbench.dynamics.trig_ring import Polynomial, Powers


class Term(NamedTuple):
    """A factor times a lumped constant times powers of a ring's sines and cosines."""

    powers: Powers
    constant: str
    factor: Fraction


Shares = tuple[tuple[str, Fraction], ...]
"""A constant as a sum of named ones, with their factors."""
Key = TypeVar("Key")
FACTORS = tuple(Fraction(n, d) for n, d in ((1, 1), (-1, 1), (2, 1), (-2, 1), (1, 2), (-1, 2)))


def evaluated(constant: Polynomial, values: Mapping[str, float]) -> float:
    """Evaluate a polynomial in the parameters.

    Parameters
    ----------
    constant : sympy PolyElement
    values : mapping of str to float
        By parameter; may have more.

    Returns
    -------
    float
    """
    numbers = [values[str(symbol)] for symbol in constant.ring.symbols]
    total = 0.0
    for powers, factor in constant.terms():
        term = float(factor)
        for number, power in zip(numbers, powers, strict=True):
            term *= number**power
        total += term
    return total


def shape(constant: Polynomial) -> tuple[Fraction, Polynomial]:
    """Split a constant into a rational factor and a primitive polynomial."""
    content, primitive = constant.primitive()
    scale = Fraction(int(content.numerator), int(content.denominator))
    return (-scale, -primitive) if primitive.LC < 0 else (scale, primitive)


def shapes_of(element: Polynomial) -> set[Polynomial]:
    """Collect an element's constants, freed of their factors."""
    return {shape(coefficient)[1] for coefficient in element.coeffs()}


def named(
    shapes: set[Polynomial], letter: str, values: Mapping[str, float], taken: Iterable[str] = ()
) -> dict[Polynomial, str]:
    """Name constants in the order of their size, counting on from the names that are taken."""
    start = 1 + sum(name.startswith(letter) for name in taken)
    ordered = sorted(shapes, key=lambda each: (-abs(evaluated(each, values)), str(each)))
    return {each: f"{letter}{number}" for number, each in enumerate(ordered, start=start)}


def lumped_terms(element: Polynomial, parts: Mapping[Polynomial, Shares]) -> list[Term]:
    """Write an element as a sum of factor × constant × powers of sines and cosines.

    Parameters
    ----------
    element : sympy PolyElement
    parts : mapping of constant to Shares
        What each constant, freed of its factor, consists of.

    Returns
    -------
    list of Term
    """
    terms = []
    for powers, coefficient in element.terms():
        scale, core = shape(coefficient)
        terms += [Term(powers, name, factor * scale) for name, factor in parts[core]]
    return terms


def taken_apart(core: Polynomial, names: Mapping[Polynomial, str]) -> Shares | None:
    """Write a constant as the sum of two named ones, such as I11 + I12; None if it is not."""
    field = core.ring.domain
    multiples = [
        (constant * field(factor.numerator, factor.denominator), name, factor)
        for constant, name in names.items()
        for factor in FACTORS
    ]
    known = {constant: (name, factor) for constant, name, factor in multiples}
    for constant, name, factor in multiples:
        if core - constant in known:
            return (name, factor), known[core - constant]
    return None


def chosen_forms(
    forms: Mapping[Key, list[Polynomial]], known: set[Polynomial], cost: Callable[[Polynomial], int]
) -> dict[Key, Polynomial]:
    """Choose a form for each element, so that few constants are needed and then few operations.

    Parameters
    ----------
    forms : mapping of key to list of polynomial
        The forms of each element.
    known : set of polynomial
        Constants that are there anyway.
    cost : callable
        Operations of a form.

    Returns
    -------
    dict of key to polynomial
    """
    costs = {key: [cost(form) for form in each] for key, each in forms.items()}
    needs = {key: [shapes_of(form) - known for form in each] for key, each in forms.items()}
    choice = {key: min(range(len(each)), key=each.__getitem__) for key, each in costs.items()}
    while True:
        before = dict(choice)
        for key in forms:
            others = set().union(*(needs[other][choice[other]] for other in forms if other != key))
            choice[key] = min(
                range(len(costs[key])), key=lambda i: (len(needs[key][i] - others), costs[key][i])
            )
        if choice == before:
            return {key: forms[key][choice[key]] for key in forms}
