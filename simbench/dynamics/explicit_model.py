"""The explicit model of a serial arm: A, B, C and g as functions of the joint angles, each by itself.

The four steps of Armstrong, Khatib & Burdick (1986): A and g symbolically (`kinetic_energy`); constants
lumped (`lumped`); B and C from derivatives of A, and what they share (`christoffel`); differentiated
and lumped again. Needs nothing but the arm's Denavit-Hartenberg table and which of its parameters are zero.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction

from simbench.dynamics.arm import Arm
from simbench.dynamics.christoffel import shared, velocity_elements
from simbench.dynamics.kinetic_energy import Geometry, gravity_torques, kinetic_energy_matrix, make_geometry
from simbench.dynamics.lumped import (
    Term,
    chosen_forms,
    evaluated,
    lumped_terms,
    named,
    shape,
    shapes_of,
    taken_apart,
)
from simbench.dynamics.term_count import printed_operations
from simbench.dynamics.trig_ring import Polynomial, TrigRing, forms

Place = tuple[int, ...]
"""(i, j) of a_ij, i ≤ j; (k, i, j) of row k of B at q̇_i q̇_j or, with i = j, of C; (i,) of g."""


@dataclass(frozen=True)
class ExplicitModel:
    """An explicit model.

    Parameters
    ----------
    geometry : Geometry
        The arm, its symbols and the ring that the terms are in.
    functions : dict of Place to polynomial
        All elements that are not zero, A without the motors, B and C, g.
    constants : dict of str to polynomial
        Lumped constants by name, in the parameters: I1, I2, … of A and g1, g2, … of g. The motors' Im1, …
        are constants too, but no polynomials.
    elements : dict of Place to list of Term
        What is written out.
    places : dict of Place to (Place, Fraction)
        All that is not zero: which element that is written out it is, and times what.
    """

    geometry: Geometry
    functions: dict[Place, Polynomial]
    constants: dict[str, Polynomial]
    elements: dict[Place, list[Term]]
    places: dict[Place, tuple[Place, Fraction]]

    @property
    def joints(self) -> int:
        """How many joints the arm has."""
        return self.geometry.arm.joints

    def constant_values(self, values: Mapping[str, float] | None = None) -> dict[str, float]:
        """Evaluate lumped constants and motors, kg·m² and N·m, of the arm's parameters or of others."""
        own = self.geometry.symbols.values | self.geometry.symbols.motors | dict(values or {})
        lumped = {name: evaluated(constant, own) for name, constant in self.constants.items()}
        return lumped | {name: own[name] for name in self.geometry.symbols.motors}


def derive_explicit_model(arm: Arm) -> ExplicitModel:
    """Derive the full explicit model of an arm.

    Parameters
    ----------
    arm : Arm

    Returns
    -------
    ExplicitModel

    Raises
    ------
    DynamicsError
        If sympy is not installed.
    """
    geometry = make_geometry(arm)
    inertia = kinetic_energy_matrix(geometry)
    gravity = {(i,): torque for i, torque in gravity_torques(geometry).items()}
    functions: dict[Place, Polynomial] = {}
    for part in (inertia, velocity_elements(geometry.ring, inertia), gravity):
        # A motor may be all that a joint moves.
        functions |= {place: each for place, each in part.items() if each or _is_diagonal(place)}
    possible = {place: list(forms(geometry.ring, function)) for place, function in functions.items()}
    return assembled_model(geometry, functions, possible, {})


def assembled_model(
    geometry: Geometry,
    functions: dict[Place, Polynomial],
    possible: Mapping[Place, list[Polynomial]],
    known: Mapping[str, Polynomial],
) -> ExplicitModel:
    """Choose forms, lump the constants, and share what is equal: steps 2 and 4.

    Parameters
    ----------
    geometry : Geometry
    functions : dict of Place to polynomial
        The elements as they are derived.
    possible : mapping of Place to list of polynomial
        Forms to write each in.
    known : mapping of str to polynomial
        Constants that have names. Without any, those of B and C that are sums of two of A's are taken apart.

    Returns
    -------
    ExplicitModel
    """
    ring, values = geometry.ring, geometry.symbols.values

    def cost(form: Polynomial) -> int:
        return _operations(ring, form)

    def chosen(order: int, known: set[Polynomial]) -> dict[Place, Polynomial]:
        found = chosen_forms({k: each for k, each in possible.items() if len(k) == order}, known, cost)
        return {place: form for place, form in found.items() if form or _is_diagonal(place)}

    def constants_of(found: Mapping[Place, Polynomial]) -> set[Polynomial]:
        return {core for form in found.values() for core in shapes_of(form)}

    names = {core: name for name, core in known.items()}
    inertia, gravity = chosen(2, set(names)), chosen(1, set(names))
    names |= named(constants_of(inertia) - set(names), "I", values, names.values())
    velocity = chosen(3, set(names))
    strange = constants_of(velocity) - set(names)
    sums = {} if known else {core: taken_apart(core, names) for core in strange}
    names |= named({core for core in strange if not sums.get(core)}, "I", values, names.values())
    names |= named(constants_of(gravity) - set(names), "g", values, names.values())
    parts = {core: ((name, Fraction(1)),) for core, name in names.items()}
    parts |= {core: each for core, each in sums.items() if each}
    owners = shared(velocity)
    written = (
        inertia | {place: form for place, form in velocity.items() if owners[place][0] == place} | gravity
    )
    return ExplicitModel(
        geometry,
        functions,
        {name: core for core, name in names.items()},
        {place: lumped_terms(form, parts) for place, form in written.items()},
        {place: (place, Fraction(1)) for place in (*inertia, *gravity)} | owners,
    )


def _is_diagonal(place: Place) -> bool:
    return len(place) == 2 and place[0] == place[1]


def _operations(ring: TrigRing, form: Polynomial) -> int:
    names: dict[Polynomial, str] = {}
    terms = []
    for powers, coefficient in form.terms():
        scale, core = shape(coefficient)
        terms.append(Term(powers, names.setdefault(core, f"I{len(names)}"), scale))
    return printed_operations(ring, terms).total
