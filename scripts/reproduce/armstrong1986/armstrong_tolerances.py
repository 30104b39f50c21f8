"""Tolerances of PUMA's lumped constants, propagated from the paper's tolerances of the measured quantities.

Link 2 was measured alone, link 3 together with the wrist (joints at zero), and the wrist's links were
estimated: an error of the estimates has the opposite effect in link 3, so that the sum stays as measured.
"""

import dataclasses
from collections.abc import Iterator, Mapping

import numpy as np
import pinocchio as pin
from armstrong_ring import Polynomial, evaluate_polynomial

from simbench.dynamics.arm import Arm, arm_model
from simbench.dynamics.explicit_model import ArmSymbols

WHOLE = (2, 3, 4, 5)
"""Indices of link 3 and the links of the wrist."""
CENTRE = 0.003
ESTIMATED_MASS_AND_CENTRE, ESTIMATED_INERTIA = 0.25, 0.5
ASSUMED_INERTIA = 0.04
"""Of links 2 and 3 with wrist: the tolerances printed in table 6 cannot be read in our copy of the paper."""


def tolerances_of(constants: Mapping[str, Polynomial], arm: Arm) -> dict[str, float]:
    """Compute each constant's root sum of squares of the changes by all tolerances, kg·m² and N·m."""
    own = ArmSymbols(arm).values
    nominal = {name: evaluate_polynomial(constant, own) for name, constant in constants.items()}
    squares = dict.fromkeys(nominal, 0.0)
    for other in varied(arm):
        values = ArmSymbols(other).values
        for name, constant in constants.items():
            squares[name] += (evaluate_polynomial(constant, values) - nominal[name]) ** 2
    return {name: value**0.5 for name, value in squares.items()}


def varied(arm: Arm) -> Iterator[Arm]:
    """Yield the arm with one measured quantity at a time changed by its tolerance."""
    inertias = [pin.Inertia(*each) for each in zip(arm.mass, arm.centre, arm.inertia, strict=True)]
    for i in (1, 3, 4, 5):
        for other in _changes(inertias[i], estimated=i != 1, is_round=i == 5):
            links = [*inertias[:i], other, *inertias[i + 1 :]]
            if i != 1:
                links[2] = _moved(inertias[2], _in_link_3(arm, i, inertias[i]), _in_link_3(arm, i, other))
            yield _with(arm, links)
    whole = sum((_in_link_3(arm, i, inertias[i]) for i in WHOLE[1:]), inertias[2])
    for other in _changes(whole, estimated=False):
        yield _with(arm, [*inertias[:2], _moved(inertias[2], other, whole), *inertias[3:]])


def _changes(body: pin.Inertia, *, estimated: bool, is_round: bool = False) -> Iterator[pin.Inertia]:
    """Yield a body with mass, centre or inertia changed by their tolerances, one number at a time."""
    mass, centre, inertia = body.mass, body.lever, body.inertia
    more = ESTIMATED_MASS_AND_CENTRE * mass if estimated else 0.01 + 0.01 * mass
    yield pin.Inertia(mass + more, centre, inertia)
    for axis in np.flatnonzero(centre):
        there = centre.copy()
        there[axis] += ESTIMATED_MASS_AND_CENTRE * there[axis] if estimated else CENTRE
        yield pin.Inertia(mass, there, inertia)
    for axes in ([0, 1], [2]) if is_round else ([0], [1], [2]):
        own = inertia.copy()
        own[axes, axes] *= 1 + (ESTIMATED_INERTIA if estimated else ASSUMED_INERTIA)
        yield pin.Inertia(mass, centre, own)


def _in_link_3(arm: Arm, i: int, body: pin.Inertia) -> pin.Inertia:
    """Transform the inertia of a link of the wrist to the frame of link 3, joints at zero."""
    model = arm_model(arm)
    data = model.createData()
    pin.forwardKinematics(model, data, np.zeros(6))
    return data.oMi[3].actInv(data.oMi[i + 1]).act(body)


def _moved(link: pin.Inertia, added: pin.Inertia, taken: pin.Inertia) -> pin.Inertia:
    """Add a body to a link and remove another; parameters that the paper does not give stay unknown."""
    moments = [each.toDynamicParameters() for each in (link, added, taken)]
    total = moments[0] + moments[1] - moments[2]
    result = pin.Inertia.FromDynamicParameters(total)
    centre = np.where(link.lever == 0.0, 0.0, result.lever)
    about = total[[4, 6, 9]] - total[0] * (centre @ centre - centre**2)
    return pin.Inertia(total[0], centre, np.diag(about))


def _with(arm: Arm, links: list[pin.Inertia]) -> Arm:
    return dataclasses.replace(
        arm,
        mass=np.array([each.mass for each in links]),
        centre=np.array([each.lever for each in links]),
        inertia=np.array([each.inertia for each in links]),
    )
