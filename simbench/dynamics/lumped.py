"""Step 2 of the explicit model: constants that multiply the same functions, lumped and named.

Every coefficient of a product of sines and cosines is a constant of the mechanism. Those of A that are not
rational multiples of each other become I1, I2, …, those of g become g1, g2, …, in descending order of size.
The forms with c² or with s² need different constants: for each element the form with the fewest new constants
is taken, then the one with the fewest operations.
"""

from collections.abc import Callable, Iterable, Mapping
from fractions import Fraction
from typing import NamedTuple, TypeVar

from simbench.dynamics.trig_ring import Polynomial, Powers


class Term(NamedTuple):
    """A term of an element: factor × lumped constant × product of sines and cosines."""

    powers: Powers  # Exponent of each generator of the ring.
    constant: str  # Name of the lumped constant.
    factor: Fraction  # Rational factor.


NamedSum = tuple[tuple[str, Fraction], ...]
"""A constant as a sum of named constants: (name, factor) pairs."""
Key = TypeVar("Key")
FACTORS = tuple(Fraction(n, d) for n, d in ((1, 1), (-1, 1), (2, 1), (-2, 1), (1, 2), (-1, 2)))


def evaluate_polynomial(constant: Polynomial, values: Mapping[str, float]) -> float:
    """Evaluate a polynomial in the arm's parameters.

    `constant`: polynomial whose generators are parameters; `values`: values of the parameters by symbol; it
    may hold more than needed. Returns value of the polynomial.
    """
    numbers = [values[str(symbol)] for symbol in constant.ring.symbols]
    total = 0.0
    for powers, factor in constant.terms():
        term = float(factor)
        for number, power in zip(numbers, powers, strict=True):
            term *= number**power
        total += term
    return total


def split_content(constant: Polynomial) -> tuple[Fraction, Polynomial]:
    """Split a constant into a rational factor and a primitive polynomial with positive leading coefficient.

    `constant`: polynomial in the parameters.
    """
    content, primitive = constant.primitive()
    scale = Fraction(int(content.numerator), int(content.denominator))
    return (-scale, -primitive) if primitive.LC < 0 else (scale, primitive)


def primitive_parts(element: Polynomial) -> set[Polynomial]:
    """Collect the constants of an element without their rational factors.

    `element`: element of A, B, C or g. Returns primitive polynomials in the parameters.
    """
    return {split_content(coefficient)[1] for coefficient in element.coeffs()}


def name_constants(
    shapes: set[Polynomial], letter: str, values: Mapping[str, float], taken: Iterable[str] = ()
) -> dict[Polynomial, str]:
    """Name constants in descending order of size, continuing the numbers of the names that are taken.

    `shapes`: primitive polynomials to name; `letter`: `I` or `g`, with which the names begin; `values`:
    values of the parameters, which give the sizes; `taken`: names in use.
    """
    start = 1 + sum(name.startswith(letter) for name in taken)
    ordered = sorted(shapes, key=lambda each: (-abs(evaluate_polynomial(each, values)), str(each)))
    return {each: f"{letter}{number}" for number, each in enumerate(ordered, start=start)}


def lumped_terms(element: Polynomial, parts: Mapping[Polynomial, NamedSum]) -> list[Term]:
    """Write an element as a sum of factor × lumped constant × powers of sines and cosines.

    `element`: element of A, B, C or g; `parts`: sum of named constants that each primitive constant equals.
    """
    terms = []
    for powers, coefficient in element.terms():
        scale, core = split_content(coefficient)
        terms += [Term(powers, name, factor * scale) for name, factor in parts[core]]
    return terms


def split_into_named(core: Polynomial, names: Mapping[Polynomial, str]) -> NamedSum | None:
    """Write a constant as the sum of two named ones, such as I11 + I12.

    `core`: primitive constant. Returns the two names with their factors; None if no such sum exists.
    """
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


def choose_forms(
    forms: Mapping[Key, list[Polynomial]], known: set[Polynomial], cost: Callable[[Polynomial], int]
) -> dict[Key, Polynomial]:
    """Choose a form for each element so that few constants, and then few operations, are needed.

    `forms`: equivalent forms of each element; `known`: constants that are needed anyway; `cost`: number of
    operations of a form. Returns chosen form of each element.
    """
    costs = {key: [cost(form) for form in each] for key, each in forms.items()}
    needs = {key: [primitive_parts(form) - known for form in each] for key, each in forms.items()}
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
