"""The explicit model of a serial arm: each element of A, B, C and g as a function of the joint positions.

The four steps of Armstrong, Khatib & Burdick (1986): A and g symbolically (`kinetic_energy`); constants
lumped (`lumped`); B and C from derivatives of A, and which are multiples of each other (`christoffel`);
constants lumped again. The derivation needs nothing but the arm's Denavit-Hartenberg table and which of its
parameters are zero.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction

from simbench.dynamics.arm import Arm
from simbench.dynamics.christoffel import derive_velocity_elements, find_multiples
from simbench.dynamics.kinetic_energy import (
    Geometry,
    derive_gravity_torques,
    derive_inertia_matrix,
    make_geometry,
)
from simbench.dynamics.lumped import (
    Term,
    choose_forms,
    evaluate_polynomial,
    lumped_terms,
    name_constants,
    primitive_parts,
    split_content,
    split_into_named,
)
from simbench.dynamics.term_count import printed_operations
from simbench.dynamics.trig_ring import Polynomial, TrigRing, enumerate_forms

ElementIndex = tuple[int, ...]
"""(i, j) of a_ij, i ≤ j; (k, i, j) of row k of B at q̇_i q̇_j or, with i = j, of C; (i,) of g."""


@dataclass(frozen=True)
class ExplicitModel:
    """An explicit dynamic model of an arm."""

    geometry: Geometry  # The arm, its symbols and the ring in which the elements are written.
    # All non-zero elements of A without the motors, of B and C, and of g.
    functions: dict[ElementIndex, Polynomial]
    # Lumped constants by name, in the parameters: I1, I2, … of A and g1, g2, … of g. The motors' Im1, … are
    # constants too, but no polynomials.
    constants: dict[str, Polynomial]
    elements: dict[ElementIndex, list[Term]]  # Elements that are written out.
    # For every non-zero element, the written-out element that it is a multiple of, and the factor.
    places: dict[ElementIndex, tuple[ElementIndex, Fraction]]

    @property
    def joints(self) -> int:
        """Number of joints of the arm."""
        return self.geometry.arm.joints

    def constant_values(self, values: Mapping[str, float] | None = None) -> dict[str, float]:
        """Evaluate the lumped constants and the motors' inertia.

        `values`: parameters by symbol that replace the arm's own. Returns constants by name, kg·m² and N·m.
        """
        parameters = self.geometry.symbols.values | self.geometry.symbols.motors | dict(values or {})
        lumped = {
            name: evaluate_polynomial(constant, parameters) for name, constant in self.constants.items()
        }
        return lumped | {name: parameters[name] for name in self.geometry.symbols.motors}


def derive_explicit_model(arm: Arm) -> ExplicitModel:
    """Derive the full explicit model of an arm.

    `arm`: arm whose structure and non-zero parameters the model is for. Raises DynamicsError if sympy is not
    installed.
    """
    geometry = make_geometry(arm)
    inertia = derive_inertia_matrix(geometry)
    gravity = {(i,): torque for i, torque in derive_gravity_torques(geometry).items()}
    functions: dict[ElementIndex, Polynomial] = {}
    for part in (inertia, derive_velocity_elements(geometry.ring, inertia), gravity):
        # A diagonal element may consist of the motor's inertia alone.
        functions |= {entry: each for entry, each in part.items() if each or _is_diagonal(entry)}
    possible = {
        entry: list(enumerate_forms(geometry.ring, function)) for entry, function in functions.items()
    }
    return assemble_model(geometry, functions, possible, {})


def assemble_model(
    geometry: Geometry,
    functions: dict[ElementIndex, Polynomial],
    possible: Mapping[ElementIndex, list[Polynomial]],
    known: Mapping[str, Polynomial],
) -> ExplicitModel:
    """Choose how elements are written, lump the constants and share equal elements: steps 2 and 4.

    `geometry`: the arm, its symbols and its ring. `functions`: elements as derived. `possible`: equivalent
    forms of each element to choose from. `known`: constants that have names already. Without any, constants
    of B and C that are sums of two of A's are split into these. Returns the model with its named constants.
    """
    ring, values = geometry.ring, geometry.symbols.values

    def cost(form: Polynomial) -> int:
        return _operations(ring, form)

    def chosen(order: int, known: set[Polynomial]) -> dict[ElementIndex, Polynomial]:
        found = choose_forms({k: each for k, each in possible.items() if len(k) == order}, known, cost)
        return {entry: form for entry, form in found.items() if form or _is_diagonal(entry)}

    def constants_of(found: Mapping[ElementIndex, Polynomial]) -> set[Polynomial]:
        return {core for form in found.values() for core in primitive_parts(form)}

    names = {core: name for name, core in known.items()}
    inertia, gravity = chosen(2, set(names)), chosen(1, set(names))
    names |= name_constants(constants_of(inertia) - set(names), "I", values, names.values())
    velocity = chosen(3, set(names))
    unnamed = constants_of(velocity) - set(names)
    sums = {} if known else {core: split_into_named(core, names) for core in unnamed}
    names |= name_constants({core for core in unnamed if not sums.get(core)}, "I", values, names.values())
    names |= name_constants(constants_of(gravity) - set(names), "g", values, names.values())
    parts = {core: ((name, Fraction(1)),) for core, name in names.items()}
    parts |= {core: each for core, each in sums.items() if each}
    owners = find_multiples(velocity)
    written = (
        inertia | {entry: form for entry, form in velocity.items() if owners[entry][0] == entry} | gravity
    )
    return ExplicitModel(
        geometry,
        functions,
        {name: core for core, name in names.items()},
        {entry: lumped_terms(form, parts) for entry, form in written.items()},
        {entry: (entry, Fraction(1)) for entry in (*inertia, *gravity)} | owners,
    )


def _is_diagonal(entry: ElementIndex) -> bool:
    return len(entry) == 2 and entry[0] == entry[1]


def _operations(ring: TrigRing, form: Polynomial) -> int:
    names: dict[Polynomial, str] = {}
    terms = []
    for powers, coefficient in form.terms():
        scale, core = split_content(coefficient)
        terms.append(Term(powers, names.setdefault(core, f"I{len(names)}"), scale))
    return printed_operations(ring, terms).total
