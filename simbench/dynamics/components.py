"""Vectors and rotations written out in components, of numbers, arrays, polynomials, or numbers that count.

A component that is always zero is the integer 0: what counts operations does not count what is done with it.
"""

from typing import Any

import numpy as np
from numpy.typing import ArrayLike

Scalar = Any
"""A number, an array of numbers, a polynomial, or a number that counts."""
Vector = tuple[Scalar, Scalar, Scalar]
Rotation = tuple[Vector, Vector, Vector]

NOTHING: Vector = (0, 0, 0)


def exact(value: float) -> Scalar:
    """Return a sine or cosine with its rounding taken away where it is 0, 1 or −1."""
    nearest = round(value)
    return nearest if abs(value - nearest) < 1e-9 else float(value)


def exact_zero(value: float) -> Scalar:
    """Return a number, zero as an integer."""
    return 0 if value == 0.0 else float(value)


def sparse(values: ArrayLike) -> Vector:
    """Return three numbers, zeros as integers."""
    x, y, z = map(exact_zero, np.asarray(values, dtype=float))
    return x, y, z


def add(a: Vector, b: Vector) -> Vector:
    """Return a + b."""
    return a[0] + b[0], a[1] + b[1], a[2] + b[2]


def scaled(factor: Scalar, a: Vector) -> Vector:
    """Return a vector times a number."""
    return factor * a[0], factor * a[1], factor * a[2]


def dot(a: Vector, b: Vector) -> Scalar:
    """Return a · b."""
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2]


def cross(a: Vector, b: Vector) -> Vector:
    """Return a × b."""
    return a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]


def transposed(matrix: Rotation) -> Rotation:
    """Return a matrix by its columns."""
    x, y, z = zip(*matrix, strict=True)
    return x, y, z


def apply(matrix: Rotation, a: Vector) -> Vector:
    """Return a matrix times a vector."""
    return dot(matrix[0], a), dot(matrix[1], a), dot(matrix[2], a)


def product(left: Rotation, right: Rotation) -> Rotation:
    """Return a matrix times a matrix."""
    columns = transposed(right)
    x, y, z = (tuple(dot(row, column) for column in columns) for row in left)
    return x, y, z
