"""Step 1 of the explicit model: the kinetic energy matrix A and the gravity torques g, symbolically.

a_ij = Σ_k m_k v_ki · v_kj + ω_i · I_k ω_j over the links k that both joints move, where v_ki is the velocity
of link k's centre at unit speed of joint i. Written in frame i it does not depend on the joints before i.
"""

from dataclasses import dataclass

import numpy as np

from simbench.dynamics.arm import Arm
from simbench.dynamics.arm_symbols import AXES, ArmSymbols, arm_symbols
from simbench.dynamics.components import (
    ZERO_VECTOR,
    Rotation,
    Scalar,
    Vector,
    add,
    apply,
    cross,
    dot,
    product,
    round_exact,
    scale,
    transpose,
)
from simbench.dynamics.trig_ring import Angle, Polynomial, TrigRing, make_ring, reduce_squares
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
    symbols = arm_symbols(arm)
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
