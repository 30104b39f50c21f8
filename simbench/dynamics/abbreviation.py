"""The abbreviated model, without insignificant terms.

Armstrong, Khatib & Burdick (1986), section 3: a term is left out if it is smaller than 1 % of the greatest
term of the same equation, or smaller than 0.1 % of the largest constant term of the same joint.
An equation is an element of A, B, C or g; its joint is its row, in A that of the upper triangle. The size of
a term is its greatest value over all angles.
"""

from simbench.dynamics.arm_symbols import MOTOR
from simbench.dynamics.explicit_model import ElementIndex, ExplicitModel, assemble_model
from simbench.dynamics.lumped import evaluate_polynomial
from simbench.dynamics.trig_ring import Polynomial, Powers, TrigRing, enumerate_forms, factor_names

OF_THE_EQUATION = 0.01
OF_THE_JOINT = 0.001


def abbreviate_model(model: ExplicitModel, of_the_joint: float = OF_THE_JOINT) -> ExplicitModel:
    """Leave out the terms that are insignificant at the arm's own parameters.

    An element may be written in another form (c² or s²) than in the full model: the form that keeps the least
    is chosen. `of_the_joint`: terms smaller than this fraction of the largest constant term of the same joint
    are left out. Returns elements of which nothing is left are zero. Constants of the full model keep their
    names; sums of them are constants of their own.
    """
    ring, joints = model.geometry.ring, range(1, model.joints + 1)
    least = {i: of_the_joint * _largest_constant(model, i) for i in joints}
    possible = {
        entry: [
            keep_significant_terms(model, entry, form, least[entry[0]])
            for form in enumerate_forms(ring, function)
        ]
        for entry, function in model.functions.items()
    }
    return assemble_model(model.geometry, model.functions, possible, model.constants)


def keep_significant_terms(
    model: ExplicitModel, entry: ElementIndex, form: Polynomial, least: float
) -> Polynomial:
    """Keep the terms of an element that are at least `least`, and at least 1 % of its greatest term.

    `model`: full model, whose parameters give each term its size; `entry`: element of A, B, C or g that
    `form` writes; `form`: the element as a polynomial in sines and cosines; `least`: smallest size that is
    kept, kg·m², or N·m in g. Returns the polynomial without its insignificant terms; zero if none is left.
    """
    sizes = _sizes(model, entry, form)
    bound = max(least, OF_THE_EQUATION * max(sizes.values()))
    kept = {powers: value for powers, value in form.terms() if sizes[powers] >= bound}
    return form.ring.from_dict(kept)


def largest_value(ring: TrigRing, powers: Powers) -> float:
    """Bound a product of sines and cosines over all angles.

    A product S C of one angle is at most a half, every other factor at most one; sliding joints count as 1 m.
    `ring`: ring in which the product is written; `powers`: exponent of each generator of the ring. Returns
    greatest absolute value of the product.
    """
    return 0.5 ** sum("S" in name and "C" in name for name in factor_names(ring, powers))


def _sizes(model: ExplicitModel, entry: ElementIndex, form: Polynomial) -> dict[Powers, float]:
    """Bound the size of each term; the motor's inertia is part of a diagonal element's constant."""
    geometry = model.geometry
    sizes = {
        powers: evaluate_polynomial(coefficient, geometry.symbols.values)
        * largest_value(geometry.ring, powers)
        for powers, coefficient in form.terms()
    }
    nothing = (0,) * form.ring.ngens
    if len(entry) == 2 and entry[0] == entry[1] and nothing in sizes:
        sizes[nothing] += geometry.symbols.motors[f"{MOTOR}{entry[0]}"]
    return {powers: abs(size) for powers, size in sizes.items()}


def _largest_constant(model: ExplicitModel, joint: int) -> float:
    """Return the constant term of a joint's own inertia, motor included, kg·m²."""
    values = model.constant_values()
    own = (term for term in model.elements.get((joint, joint), []) if not any(term.powers))
    return abs(sum(float(term.factor) * values[term.constant] for term in own) + values[f"{MOTOR}{joint}"])
