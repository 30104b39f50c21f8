"""Manipulability det(JJᵀ) of the hands of a tree, and its exact gradient."""

import numpy as np

from simbench.kinematics.arrays import Array
from simbench.kinematics.box import factorise, substitute
from simbench.kinematics.compiled import compiled


@compiled
def manipulability_gradient(columns: Array, gradient: Array) -> float:
    """Compute det(JJᵀ) and its gradient ω_i = 2 det(JJᵀ) tr[(JJᵀ)⁻¹ ∂J/∂q_i Jᵀ].

    This is equation 4.8 of Tomić (2018). A joint turns and carries the axes of those beyond it: ∂J_j/∂q_i =
    J_i × J_j (the cross product of twists) if i comes before j on the way to a hand, else 0. With D =
    (JJᵀ)⁻¹J, D_j · (J_i × J_j) = J_i · (J_j ×* D_j), so that sums over the joints beyond i are enough. The
    determinant does not depend on the points that the twists are given at. `columns` (n, 6 h): row j is what
    joint j moves: velocity and angular velocity of each of h hands, world axes, each at a point of its own; 0
    for a hand that it does not carry. Parents come before children. `gradient` (n,): overwritten; 0 where JJᵀ
    has no inverse.
    """
    n, rows = columns.shape
    gram = np.zeros((rows, rows))
    largest = 0.0
    for j in range(n):
        gradient[j] = 0.0
        for a in range(rows):
            for b in range(a + 1):
                gram[a, b] += columns[j, a] * columns[j, b]
    for a in range(rows):
        largest = max(largest, gram[a, a])
    factorise(gram, rows)
    determinant = 1.0
    for a in range(rows):
        pivot = gram[a, a] * gram[a, a]
        if pivot <= 1e-15 * largest:
            return 0.0
        determinant *= pivot
    beyond = np.zeros(rows)
    dual = np.empty(rows)
    for j in range(n - 1, -1, -1):
        own = columns[j]
        total = 0.0
        for a in range(rows):
            total += own[a] * beyond[a]
            dual[a] = own[a]
        gradient[j] = 2.0 * determinant * total
        substitute(gram, dual, rows)
        for h in range(0, rows, 6):
            vx, vy, vz, wx, wy, wz = own[h], own[h + 1], own[h + 2], own[h + 3], own[h + 4], own[h + 5]
            fx, fy, fz = dual[h], dual[h + 1], dual[h + 2]
            tx, ty, tz = dual[h + 3], dual[h + 4], dual[h + 5]
            beyond[h] += wy * fz - wz * fy
            beyond[h + 1] += wz * fx - wx * fz
            beyond[h + 2] += wx * fy - wy * fx
            beyond[h + 3] += vy * fz - vz * fy + wy * tz - wz * ty
            beyond[h + 4] += vz * fx - vx * fz + wz * tx - wx * tz
            beyond[h + 5] += vx * fy - vy * fx + wx * ty - wy * tx
    return determinant
