"""Polynomials in sines and cosines of an arm's joints; coefficients are polynomials in its parameters.

Rotations about parallel axes add up: a sum such as θ2 + θ3 is an angle of its own (S23, C23), as in the
paper. The angles in an expression in frame i are then independent of each other, and s² = 1 − c² makes the
expression unique.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import product
from typing import Any

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
