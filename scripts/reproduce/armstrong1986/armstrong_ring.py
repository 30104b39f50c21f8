"""Polynomials in sines and cosines of an arm's joints, and their lumped constants.

The coefficients are polynomials in the arm's parameters. Rotations about parallel axes add up: a sum such as
θ2 + θ3 is an angle of its own (S23, C23), as in the paper. The angles in an expression in frame i are then
independent of each other, and s² = 1 − c² makes the expression unique.

Every coefficient of a product of sines and cosines is a constant of the mechanism. Those of A that are not
rational multiples of each other become I1, I2, …, those of g become g1, g2, …, in descending order of size.
The forms with c² or with s² need different constants: for each element the form with the fewest new constants
is taken, then the one with the fewest operations.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import product
from typing import Any, NamedTuple, TypeVar

from armstrong_recursion import Operations

from simbench.errors import DynamicsError

Polynomial = Any
"""Element of one of sympy's sparse polynomial rings, which are untyped."""
Angle = tuple[int, ...]
"""Joints, counted from 1, whose positions the angle is the sum of."""
Powers = tuple[int, ...]
"""Exponent of each generator of the ring."""


@dataclass(frozen=True)
class TrigRing:
    """A polynomial ring in the sines and cosines of an arm's angles."""

    # Ring whose generators are cosine and sine of each angle, then the displacements of sliding joints.
    ring: Any
    constants: Any  # Ring of the coefficients, polynomials in the parameters.
    angles: tuple[Angle, ...]  # Angles in the order of the generators.
    slides: tuple[int, ...]  # Sliding joints, counted from 1.

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the generators: c2, s2, c23, s23, …, q4."""
        return tuple(str(symbol) for symbol in self.ring.symbols)

    def cosine(self, angle: Angle) -> Polynomial:
        """Return the cosine of an angle. Returns the generator."""
        return self.ring.gens[2 * self.angles.index(angle)]

    def sine(self, angle: Angle) -> Polynomial:
        """Return the sine of an angle. Returns the generator."""
        return self.ring.gens[2 * self.angles.index(angle) + 1]

    def slide(self, joint: int) -> Polynomial:
        """Return the displacement of a sliding joint. Returns the generator."""
        return self.ring.gens[2 * len(self.angles) + self.slides.index(joint)]


def make_ring(parameters: Sequence[str], angles: Sequence[Angle], slides: Sequence[int]) -> TrigRing:
    """Make the ring of some parameters and angles.

    `parameters`: symbols of the parameters; `angles`: angles whose sines and cosines are generators;
    `slides`: sliding joints, counted from 1.
    """
    try:
        from sympy import QQ
        from sympy.polys.rings import PolyRing
    except ImportError as error:
        raise DynamicsError(
            "an explicit model is derived by sympy, which is missing: pip install sympy"
        ) from error
    constants = PolyRing(parameters, QQ)
    labels = [angle_label(angle) for angle in angles]
    names = [name for label in labels for name in (f"c{label}", f"s{label}")] + [
        f"q{each}" for each in slides
    ]
    return TrigRing(PolyRing(names, constants.to_domain()), constants, tuple(angles), tuple(slides))


def angle_label(angle: Angle) -> str:
    """Write an angle as in S23, joints of more than one digit separated by underscores.

    `angle`: joints whose angles are added. Returns label such as `23`.
    """
    return ("" if max(angle) < 10 else "_").join(map(str, angle))


def factor_names(ring: TrigRing, powers: Powers) -> list[str]:
    """Name the factors of a term as the paper does: S4, C23; SS4, CC4, SC4 for products of one angle.

    `ring`: ring in which the term is written; `powers`: exponent of each generator.
    """
    names = []
    for index, angle in enumerate(ring.angles):
        c, s = powers[2 * index], powers[2 * index + 1]
        if c or s:
            names.append("S" * s + "C" * c + angle_label(angle))
    for index, joint in enumerate(ring.slides, start=2 * len(ring.angles)):
        names += [f"q{joint}"] * powers[index]
    return names


def reduce_squares(ring: TrigRing, polynomial: Polynomial) -> Polynomial:
    """Replace every s² by 1 − c², so that equal functions become equal polynomials.

    Returns its reduced form.
    """
    for index in range(len(ring.angles)):
        polynomial = _exchanged(ring, polynomial, 2 * index + 1, 2 * index)
    return polynomial


def enumerate_forms(ring: TrigRing, polynomial: Polynomial) -> Iterator[Polynomial]:
    """Yield a reduced polynomial with c² or s² of every angle that has a square, in all combinations."""
    squared = [
        index
        for index in range(len(ring.angles))
        if any(powers[2 * index] >= 2 for powers in polynomial.keys())  # noqa: SIM118
    ]
    for chosen in product((False, True), repeat=len(squared)):
        form = polynomial
        for index, by_sine in zip(squared, chosen, strict=True):
            if by_sine:
                form = _exchanged(ring, form, 2 * index, 2 * index + 1)
        yield form


def differentiate(ring: TrigRing, polynomial: Polynomial, joint: int) -> Polynomial:
    """Differentiate a polynomial with respect to a joint's position.

    `joint`: joint, counted from 1. Returns derivative in reduced form.
    """
    if joint in ring.slides:
        return polynomial.diff(ring.slide(joint))
    result = ring.ring.zero
    for angle in ring.angles:
        if joint in angle:
            c, s = ring.cosine(angle), ring.sine(angle)
            result += c * polynomial.diff(s) - s * polynomial.diff(c)
    return reduce_squares(ring, result)


def _exchanged(ring: TrigRing, polynomial: Polynomial, old: int, new: int) -> Polynomial:
    """Replace every square of one generator by one minus the square of the other."""
    terms: dict[Powers, Any] = {}
    waiting = list(polynomial.terms())
    while waiting:
        powers, coefficient = waiting.pop()
        if powers[old] >= 2:
            less = list(powers)
            less[old] -= 2
            more = less.copy()
            more[new] += 2
            waiting += [(tuple(less), coefficient), (tuple(more), -coefficient)]
        else:
            terms[powers] = terms.get(powers, ring.constants.zero) + coefficient
    return ring.ring.from_dict({powers: value for powers, value in terms.items() if value})


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
