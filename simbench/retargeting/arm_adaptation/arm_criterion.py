"""The criterion that compares a person's arm with a robot's, and its least value in a box."""

from typing import NamedTuple

import numpy as np

from simbench.kinematics.arrays import Array
from simbench.kinematics.box import solve_box
from simbench.kinematics.compiled import compiled
from simbench.kinematics.tree import joint_axes, place_bodies
from simbench.retargeting.arm_adaptation.arm_chain import ArmChain

_ROUNDS = 60
_SETTLED = 1e-7
"""rad."""
_FIRST_DAMPING, _LEAST_DAMPING = 1e-6, 1e-9


class Posture(NamedTuple):
    """Arrays that `place_arm` writes to.

    Parameters
    ----------
    rotation, position : (n + 1, 3, 3), (n + 1, 3) array
        Of the bodies, m.
    point : (4, 3) array
        Hand points and elbow from the shoulder, m.
    jacobian : (4, 3, n) array
        Their derivatives, m/rad.
    """

    rotation: Array
    position: Array
    point: Array
    jacobian: Array


@compiled
def make_posture(chain: ArmChain) -> Posture:
    """Allocate what `place_arm` needs for an arm."""
    n = len(chain.tree.parent)
    return Posture(np.empty((n + 1, 3, 3)), np.empty((n + 1, 3)), np.empty((4, 3)), np.empty((4, 3, n)))


@compiled
def place_arm(chain: ArmChain, q: Array, posture: Posture) -> None:
    """Compute hand points and elbow from the shoulder, and their Jacobians.

    Parameters
    ----------
    chain : ArmChain
    q : (n,) array
        rad.
    posture : Posture
        Overwritten.
    """
    tree, n = chain.tree, len(q)
    for i in range(3):
        posture.position[0, i] = 0.0
        for j in range(3):
            posture.rotation[0, i, j] = 1.0 if i == j else 0.0
    place_bodies(tree, q, posture.rotation, posture.position)
    axes = np.empty((n, 6))
    joint_axes(tree, posture.rotation, posture.position, posture.position[0], axes)
    world = np.empty((5, 3))
    for p in range(5):
        rotation, local = posture.rotation[chain.body[p]], chain.point[p]
        for i in range(3):
            world[p, i] = posture.position[chain.body[p], i] + (
                rotation[i, 0] * local[0] + rotation[i, 1] * local[1] + rotation[i, 2] * local[2]
            )
    posture.jacobian[:] = 0.0
    for p in range(4):
        for i in range(3):
            posture.point[p, i] = world[p, i] - world[4, i]
        for end, sign in ((p, 1.0), (4, -1.0)):
            x, y, z = world[end]
            body = chain.body[end]
            while body > 0:
                k = body - 1
                vx, vy, vz, wx, wy, wz = axes[k]
                posture.jacobian[p, 0, k] += sign * (vx + wy * z - wz * y)
                posture.jacobian[p, 1, k] += sign * (vy + wz * x - wx * z)
                posture.jacobian[p, 2, k] += sign * (vz + wx * y - wy * x)
                body = tree.parent[k]


@compiled
def arm_criterion(
    posture: Posture, targets: Array, upper_arm: Array, weights: Array, matrix: Array, descent: Array
) -> float:
    """Compute f of an arm in place, half its Gauss-Newton matrix and minus half its gradient.

    f = EᵀWE + w₁₀ ‖s‖² (Kim & Kim 2005, eq. 2), E the person's hand points minus the robot's. With r the
    robot's upper arm and û the direction of the person's, s = r − (ûᵀr) û, so that ‖s‖² = rᵀr − (ûᵀr)²; eq. 4
    is printed with the opposite sign. That is least, too, where r points against û. So beyond a right angle
    the measure goes on as rᵀr + (ûᵀr)², once continuously differentiable, and is greatest there. With

        ½ ∂f/∂q = (∂E)ᵀ W E + w₁₀ (∂r)ᵀ (r − |ûᵀr| û)

    Parameters
    ----------
    posture : Posture
        From `place_arm`.
    targets : (3, 3) array
        The person's hand points from the shoulder, m.
    upper_arm : (3,) array
        û.
    weights : (4,) array
        Of wrist, thumb, pinky, upper arm.
    matrix : (n, n) array
        Overwritten.
    descent : (n,) array
        Overwritten.

    Returns
    -------
    float
        f, m².
    """
    matrix[:] = 0.0
    descent[:] = 0.0
    n = len(descent)
    value = 0.0
    for p in range(3):
        for i in range(3):
            error = targets[p, i] - posture.point[p, i]
            value += weights[p] * error * error
            for a in range(n):
                pull = weights[p] * posture.jacobian[p, i, a]
                descent[a] += pull * error
                for b in range(a + 1):
                    matrix[a, b] += pull * posture.jacobian[p, i, b]
    along = 0.0
    for i in range(3):
        along += upper_arm[i] * posture.point[3, i]
    sense = 1.0 if along >= 0.0 else -1.0
    value -= weights[3] * sense * along * along
    for i in range(3):
        aside = posture.point[3, i] - sense * along * upper_arm[i]
        value += weights[3] * posture.point[3, i] * posture.point[3, i]
        for a in range(n):
            pull = weights[3] * posture.jacobian[3, i, a]
            descent[a] -= pull * aside
            for b in range(a + 1):
                matrix[a, b] += pull * posture.jacobian[3, i, b]
    for a in range(n):
        turned = 0.0
        for i in range(3):
            turned += upper_arm[i] * posture.jacobian[3, i, a]
        for b in range(a + 1):
            other = 0.0
            for i in range(3):
                other += upper_arm[i] * posture.jacobian[3, i, b]
            matrix[a, b] -= weights[3] * sense * turned * other
    return value


@compiled
def minimise(
    chain: ArmChain,
    posture: Posture,
    targets: Array,
    upper_arm: Array,
    weights: Array,
    rest: float,
    low: Array,
    high: Array,
    q: Array,
) -> float:
    """Find the least f + ‖q − q₀‖² rest in a box, q₀ the start (Levenberg-Marquardt, exact box steps).

    Parameters
    ----------
    chain : ArmChain
    posture : Posture
        Overwritten.
    targets, upper_arm, weights
        As in `arm_criterion`.
    rest : float
        What a radian from the start costs, m²/rad².
    low, high : (n,) array
        rad.
    q : (n,) array
        The start, rad, overwritten with the solution.

    Returns
    -------
    float
        The least value found, m².
    """
    n = len(q)
    start, new, below, above = q.copy(), np.empty(n), np.empty(n), np.empty(n)
    matrix, new_matrix = np.empty((n, n)), np.empty((n, n))
    descent, new_descent = np.empty(n), np.empty(n)
    value, damping = np.inf, _FIRST_DAMPING
    for k in range(n):
        new[k] = min(max(q[k], low[k]), high[k])
    change = np.inf
    for _ in range(_ROUNDS):
        place_arm(chain, new, posture)
        new_value = arm_criterion(posture, targets, upper_arm, weights, new_matrix, new_descent)
        for k in range(n):
            away = new[k] - start[k]
            new_value += rest * away * away
            new_descent[k] -= rest * away
            new_matrix[k, k] += rest
        if new_value <= value:
            value = new_value
            matrix, new_matrix = new_matrix, matrix
            descent, new_descent = new_descent, descent
            for k in range(n):
                q[k] = new[k]
            damping = max(0.1 * damping, _LEAST_DAMPING)
        else:
            damping *= 10.0
        if change < _SETTLED:
            break
        for k in range(n):
            below[k], above[k] = low[k] - q[k], high[k] - q[k]
            for other in range(k + 1):
                new_matrix[k, other] = matrix[k, other]
            new_matrix[k, k] += damping
        step = solve_box(new_matrix, descent, below, above)
        change = 0.0
        for k in range(n):
            change = max(change, abs(step[k]))
            new[k] = min(max(q[k] + step[k], low[k]), high[k])
    return value
