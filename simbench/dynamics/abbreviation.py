"""The abbreviated model: terms left out that are insignificant beside the others.

Armstrong, Khatib & Burdick (1986), section 3: a term is left out that is less than 1 % as great as the
greatest term of the same equation, or less than 0.1 % as great as the largest constant term of the same
joint.
An equation is an element of A, B, C or g; its joint is its row, in A that of the upper triangle. A term is as
great as it becomes at any angles.
"""

from simbench.dynamics.arm_symbols import MOTOR
from simbench.dynamics.explicit_model import ExplicitModel, Place, assembled_model
from simbench.dynamics.lumped import evaluated
from simbench.dynamics.trig_ring import Polynomial, Powers, TrigRing, factor_names, forms

OF_THE_EQUATION = 0.01
OF_THE_JOINT = 0.001


def abbreviated_model(model: ExplicitModel, of_the_joint: float = OF_THE_JOINT) -> ExplicitModel:
    """Leave out what is insignificant at the arm's own parameters.

    Each element may be in another form (c² or s²) than in the full model: the one of which least is left.

    Parameters
    ----------
    model : ExplicitModel
        The full one.
    of_the_joint : float
        What is less, beside the largest constant term of the same joint, is left out.

    Returns
    -------
    ExplicitModel
        Elements of which nothing is left are zero. Constants of the full model keep their names; sums of
        them are constants of their own.
    """
    ring, joints = model.geometry.ring, range(1, model.joints + 1)
    least = {i: of_the_joint * _largest_constant(model, i) for i in joints}
    possible = {
        place: [significant(model, place, form, least[place[0]]) for form in forms(ring, function)]
        for place, function in model.functions.items()
    }
    return assembled_model(model.geometry, model.functions, possible, model.constants)


def significant(model: ExplicitModel, place: Place, form: Polynomial, least: float) -> Polynomial:
    """Keep the terms of an element that are at least `least` and at least 1 % of the greatest.

    Parameters
    ----------
    model : ExplicitModel
    place : Place
        Of the element.
    form : sympy PolyElement
    least : float
        kg·m², or N·m in g.

    Returns
    -------
    sympy PolyElement
    """
    sizes = _sizes(model, place, form)
    bound = max(least, OF_THE_EQUATION * max(sizes.values()))
    kept = {powers: value for powers, value in form.terms() if sizes[powers] >= bound}
    return form.ring.from_dict(kept)


def greatest(ring: TrigRing, powers: Powers) -> float:
    """Greatest value of a product: a half for each S C of one angle, one for all others; slides are 1 m."""
    return 0.5 ** sum("S" in name and "C" in name for name in factor_names(ring, powers))


def _sizes(model: ExplicitModel, place: Place, form: Polynomial) -> dict[Powers, float]:
    """How great each term of a form can become; the motor is part of a diagonal element's constant."""
    geometry = model.geometry
    sizes = {
        powers: evaluated(coefficient, geometry.symbols.values) * greatest(geometry.ring, powers)
        for powers, coefficient in form.terms()
    }
    nothing = (0,) * form.ring.ngens
    if len(place) == 2 and place[0] == place[1] and nothing in sizes:
        sizes[nothing] += geometry.symbols.motors[f"{MOTOR}{place[0]}"]
    return {powers: abs(size) for powers, size in sizes.items()}


def _largest_constant(model: ExplicitModel, joint: int) -> float:
    """Constant term of a joint's own inertia, motor included, kg·m²."""
    values = model.constant_values()
    own = (term for term in model.elements.get((joint, joint), []) if not any(term.powers))
    return abs(sum(float(term.factor) * values[term.constant] for term in own) + values[f"{MOTOR}{joint}"])
