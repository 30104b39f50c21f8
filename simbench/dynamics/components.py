"""Vectors and rotations written out in components, of numbers, arrays, polynomials, or numbers that count.

A component that is always zero is the integer 0, so that operations on it are not counted.
"""

from typing import Any

import numpy as np
from numpy.typing import ArrayLike

Scalar = Any
"""A number, an array of numbers, a polynomial, or a number that counts."""
Vector = tuple[Scalar, Scalar, Scalar]
Rotation = tuple[Vector, Vector, Vector]

ZERO_VECTOR: Vector = (0, 0, 0)


def round_exact(value: float) -> Scalar:
    """Round a sine or cosine to 0, 1 or −1 where only rounding errors separate them.

    Returns the integer, or the value itself.
    """
    nearest = round(value)
    return nearest if abs(value - nearest) < 1e-9 else float(value)


def exact_zero(value: float) -> Scalar:
    """Return a number, a zero as the integer 0.

    `value`: any number. Returns the integer 0, or the value itself.
    """
    return 0 if value == 0.0 else float(value)


def sparse(values: ArrayLike) -> Vector:
    """Return a vector with its zeros as the integer 0.

    `values` (3,) _like: components. Returns the same components.
    """
    x, y, z = map(exact_zero, np.asarray(values, dtype=float))
    return x, y, z


def add(a: Vector, b: Vector) -> Vector:
    """Return a + b. `a`, `b`: vectors in the same axes."""
    return a[0] + b[0], a[1] + b[1], a[2] + b[2]


def scale(factor: Scalar, a: Vector) -> Vector:
    """Multiply a vector by a scalar. Returns factor · a."""
    return factor * a[0], factor * a[1], factor * a[2]


def dot(a: Vector, b: Vector) -> Scalar:
    """Return a · b. `a`, `b`: vectors in the same axes."""
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2]


def cross(a: Vector, b: Vector) -> Vector:
    """Return a × b. `a`, `b`: vectors in the same axes."""
    return a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]


def transpose(matrix: Rotation) -> Rotation:
    """Transpose a matrix. `matrix`: matrix by its rows."""
    x, y, z = zip(*matrix, strict=True)
    return x, y, z


def apply(matrix: Rotation, a: Vector) -> Vector:
    """Multiply a vector by a matrix. `matrix`: matrix by its rows. Returns matrix · a."""
    return dot(matrix[0], a), dot(matrix[1], a), dot(matrix[2], a)


def product(left: Rotation, right: Rotation) -> Rotation:
    """Multiply two matrices.

    `left`: left factor by its rows; `right`: right factor by its rows. Returns left · right.
    """
    columns = transpose(right)
    x, y, z = (tuple(dot(row, column) for column in columns) for row in left)
    return x, y, z
