"""The explicit model of a serial arm: each element of A, B, C and g as a function of the joint positions.

The four steps of Armstrong, Khatib & Burdick (1986): A and g symbolically; constants lumped; B and C from
derivatives of A, and which are multiples of each other; constants lumped again. The derivation needs nothing
but the arm's Denavit-Hartenberg table and which of its parameters are zero.

a_ij = Σ_k m_k v_ki · v_kj + ω_i · I_k ω_j over the links k that both joints move, where v_ki is the velocity
of link k's centre at unit speed of joint i. Written in frame i it does not depend on the joints before i.

b_ij,k = ∂a_ki/∂q_j + ∂a_kj/∂q_i − ∂a_ij/∂q_k stands in row k of B at q̇_i q̇_j (i < j), and half of b_jj,k in
row k of C at q̇_j² (Armstrong 1986, eq. 4, without its ½ in the symbol). By a_ij = a_ji (eq. 7), and as no
joint before i and j changes a_ij (eq. 8), many are zero or multiples of each other.

The abbreviated model (section 3) leaves out a term if it is smaller than 1 % of the greatest term of the same
equation, or smaller than 0.1 % of the largest constant term of the same joint. An equation is an element of
A, B, C or g; its joint is its row, in A that of the upper triangle. The size of a term is its greatest value
over all angles.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import TypeVar

import numpy as np
from armstrong_recursion import (
    ZERO_VECTOR,
    Rotation,
    Scalar,
    Vector,
    add,
    apply,
    cross,
    dot,
    product,
    scale,
    transpose,
)
from armstrong_ring import (
    Angle,
    Polynomial,
    Powers,
    Term,
    TrigRing,
    choose_forms,
    differentiate,
    enumerate_forms,
    evaluate_polynomial,
    factor_names,
    lumped_terms,
    make_ring,
    name_constants,
    primitive_parts,
    printed_operations,
    reduce_squares,
    split_content,
    split_into_named,
)

from simbench.dynamics.arm import Arm
from simbench.dynamics.explicit_model import AXES, MOTOR, ArmSymbols, round_exact
from simbench.robot.dh import HayatiRow, Sigma

IDENTITY: Rotation = ((1, 0, 0), (0, 1, 0), (0, 0, 1))
UP: Vector = (0, 0, 1)


@dataclass(frozen=True)
class Geometry:
    """Symbols of an arm's parameters and angles for the derivation."""

    arm: Arm  # Arm whose model is derived.
    symbols: ArmSymbols  # Its non-zero parameters by symbol.
    ring: TrigRing  # Polynomials in its sines and cosines.

    def constant(self, name: str) -> Scalar:
        """Return a parameter as an element of the ring, or the integer 0 if it is zero.

        `name`: name of the parameter in the paper's notation. Returns constant polynomial, or 0.
        """
        found = self.symbols.named(name)
        if found == 0:
            return 0
        constants = self.ring.constants
        return self.ring.ring.ground_new(constants.gens[list(self.symbols.values).index(str(found))])


def make_geometry(arm: Arm) -> Geometry:
    """Name an arm's parameters and angles and make the ring of its sines and cosines.

    `arm`: arm whose model is derived. Returns symbols and ring.
    """
    symbols = ArmSymbols(arm)
    slides = [i for i, joint in enumerate(arm.table.joints, start=1) if joint.sigma == Sigma.PRISMATIC]
    angles: list[Angle] = []
    for frame in range(arm.joints):
        for angle in _angles_from(arm, frame).values():
            if angle not in angles:
                angles.append(angle)
    return Geometry(arm, symbols, make_ring(list(symbols.values), sorted(angles), slides))


def derive_inertia_matrix(geometry: Geometry) -> dict[tuple[int, int], Polynomial]:
    """Derive the elements a_ij, i ≤ j, of the inertia matrix of the links alone.

    `geometry`: symbols and ring of the arm. Returns elements by row and column, counted from 1, with squares
    of sines eliminated.
    """
    arm, ring = geometry.arm, geometry.ring
    result = {}
    for i in range(1, arm.joints + 1):
        rotations, origins = _chain(geometry, i)
        centres = {k: add(origins[k], apply(rotations[k], _centre(geometry, k))) for k in rotations}
        for j in range(i, arm.joints + 1):
            total = ring.ring.zero
            for k in range(j, arm.joints + 1):
                first, second = (_unit_motion(arm, joint, rotations, origins, centres[k]) for joint in (i, j))
                back = transpose(rotations[k])
                spin = apply(_inertia(geometry, k), _reduced(ring, apply(back, second[1])))
                total += dot(_reduced(ring, apply(back, first[1])), spin)
                total += geometry.constant(f"m{k}") * dot(_reduced(ring, first[0]), _reduced(ring, second[0]))
            result[i, j] = reduce_squares(ring, ring.ring(total))
    return result


def derive_gravity_torques(geometry: Geometry) -> dict[int, Polynomial]:
    """Derive the gravity torques g_i = −Σ_k m_k v_ki · gravity.

    `geometry`: symbols and ring of the arm. Returns torques by joint, counted from 1, with squares of sines
    eliminated.
    """
    arm, ring = geometry.arm, geometry.ring
    fall = _fall(geometry)
    rotations, origins = _chain(geometry, 0)
    result = {}
    for i in range(1, arm.joints + 1):
        total = ring.ring.zero
        for k in range(i, arm.joints + 1):
            centre = add(origins[k], apply(rotations[k], _centre(geometry, k)))
            velocity, _ = _unit_motion(arm, i, rotations, origins, centre)
            total -= geometry.constant(f"m{k}") * dot(velocity, fall)
        result[i] = reduce_squares(ring, ring.ring(total))
    return result


def _fall(geometry: Geometry) -> Vector:
    gravity = geometry.arm.gravity
    along = np.flatnonzero(gravity)
    if len(along) == 1:
        x, y, z = (int(value) for value in np.sign(gravity))
        return scale(geometry.constant("g"), (x, y, z))
    x, y, z = (geometry.constant(f"g{axis}") for axis in AXES)
    return x, y, z


def _angles_from(arm: Arm, frame: int) -> dict[int, Angle]:
    """Find the angle of each revolute joint's link in an earlier frame, added up about parallel axes."""
    angles: dict[int, Angle] = {}
    before: Angle = ()
    for i in range(frame + 1, arm.joints + 1):
        row = arm.rows[i - 1]
        tilts = (row.alpha, row.beta if isinstance(row, HayatiRow) else row.gamma)
        if arm.table.joints[i - 1].sigma == Sigma.PRISMATIC or any(tilts):
            before = ()
        if arm.table.joints[i - 1].sigma == Sigma.REVOLUTE:
            angles[i] = before = (*before, i)
    return angles


def _chain(geometry: Geometry, frame: int) -> tuple[dict[int, Rotation], dict[int, Vector]]:
    """Compute axes and origins of the joints' frames beyond a frame, in that frame."""
    arm, ring = geometry.arm, geometry.ring
    angles = _angles_from(arm, frame)
    rotations, origins, carrier = {frame: IDENTITY}, {frame: ZERO_VECTOR}, IDENTITY
    for i in range(frame + 1, arm.joints + 1):
        row = arm.rows[i - 1]
        fixed, step = _fixed_part(geometry, i)
        if i > 1 and isinstance(arm.rows[i - 2], HayatiRow):
            step = add(step, (geometry.constant(f"l{i - 1}"), 0, 0))
        origins[i] = _reduced(ring, add(origins[i - 1], apply(rotations[i - 1], step)))
        if i not in angles:
            offset = _about_z(*_pair(geometry, "t", i, row.theta))
            rotations[i] = _rotated(ring, rotations[i - 1], product(fixed, offset))
            continue
        if len(angles[i]) == 1:
            carrier = _rotated(ring, rotations[i - 1], fixed)
        angle = angles[i]
        rotations[i] = _rotated(ring, carrier, _about_z(ring.cosine(angle), ring.sine(angle)))
    return rotations, origins


def _pair(geometry: Geometry, letter: str, i: int, angle: float) -> tuple[Scalar, Scalar]:
    """Return cosine and sine of a constant angle: numbers for multiples of a right angle, else symbols."""
    values = (round_exact(np.cos(angle)), round_exact(np.sin(angle)))
    c, s = (
        value if isinstance(value, int) else geometry.constant(f"{function}{letter}{i}")
        for function, value in zip("cs", values, strict=True)
    )
    return c, s


def _fixed_part(geometry: Geometry, i: int) -> tuple[Rotation, Vector]:
    """Compute axes and origin of a joint's frame in the previous one, without its rotation but its slide."""
    row, ring = geometry.arm.rows[i - 1], geometry.ring
    ca, sa = _pair(geometry, "a", i, row.alpha)
    tilt: Rotation = ((1, 0, 0), (0, ca, -sa), (0, sa, ca))
    along = geometry.constant(f"d{i}")
    if i in ring.slides:
        along = along + ring.slide(i)
    if isinstance(row, HayatiRow):
        cb, sb = _pair(geometry, "b", i, row.beta)
        tilt = product(((cb, 0, sb), (0, 1, 0), (-sb, 0, cb)), tilt)
        return tilt, apply(tilt, (0, 0, along))
    step = add((geometry.constant(f"a{i - 1}"), 0, 0), apply(tilt, (0, 0, along)))
    outer = _about_z(*_pair(geometry, "g", i, row.gamma))
    return product(outer, tilt), add(apply(outer, step), (0, 0, geometry.constant(f"b{i - 1}")))


def _unit_motion(
    arm: Arm, joint: int, rotations: dict[int, Rotation], origins: dict[int, Vector], point: Vector
) -> tuple[Vector, Vector]:
    """Compute the velocity of a point and the angular velocity of its link at unit speed of a joint."""
    axis = apply(rotations[joint], UP)
    if arm.table.joints[joint - 1].sigma == Sigma.PRISMATIC:
        return axis, ZERO_VECTOR
    return cross(axis, add(point, scale(-1, origins[joint]))), axis


def _centre(geometry: Geometry, k: int) -> Vector:
    x, y, z = (geometry.constant(f"{axis}{k}") for axis in AXES)
    end = geometry.constant(f"l{k}") if isinstance(geometry.arm.rows[k - 1], HayatiRow) else 0
    return x + end, y, z


def _inertia(geometry: Geometry, k: int) -> Rotation:
    x, y, z = (
        tuple(geometry.constant(f"I{min(first, second)}{max(first, second)}{k}") for second in AXES)
        for first in AXES
    )
    return x, y, z


def _about_z(c: Scalar, s: Scalar) -> Rotation:
    return (c, -s, 0), (s, c, 0), UP


def _reduced(ring: TrigRing, vector: Vector) -> Vector:
    x, y, z = (each if isinstance(each, int) else reduce_squares(ring, ring.ring(each)) for each in vector)
    return x, y, z


def _rotated(ring: TrigRing, left: Rotation, right: Rotation) -> Rotation:
    x, y, z = (_reduced(ring, row) for row in product(left, right))
    return x, y, z


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
