"""The criterion that compares a person's arm with a robot's, and its least value in a box."""

from typing import NamedTuple

import numpy as np

from simbench.kinematics.arrays import Array
from simbench.kinematics.box import solve_box
from simbench.kinematics.compiled import compiled
from simbench.kinematics.least_squares import DampingRule, begin, is_running, judge_step
from simbench.kinematics.tree import joint_axes, place_bodies
from simbench.retargeting.arm_adaptation.arm_chain import ArmChain

_ROUNDS = 59
# Steps below 10⁻⁷ rad are the last.
_RULE = DampingRule(
    first=0.1 * 1e-6,
    least=1e-9,
    greatest=np.inf,
    step_tolerance=1e-7,
    gain_tolerance=-1.0,
    loss_tolerance=0.0,
    cost_tolerance=0.0,
)


class Posture(NamedTuple):
    """Arrays that `place_arm` writes to.

    Parameters
    ----------
    rotation : (n + 1, 3, 3) array
        Rotations of the bodies in the axes of the robot's root.
    position : (n + 1, 3) array
        Positions of the bodies there, m.
    point : (4, 3) array
        Hand points and elbow from the shoulder, m.
    jacobian : (4, 3, n) array
        Their derivatives, m/rad.
    """

    rotation: Array
    position: Array
    point: Array
    jacobian: Array


class ArmProblem(NamedTuple):
    """What an arm's posture is compared with in one frame.

    Parameters
    ----------
    chain : ArmChain
        The stretched arm.
    posture : Posture
        Overwritten.
    targets : (3, 3) array
        The person's hand points from the shoulder, m.
    upper_arm : (3,) array
        Direction û of the person's upper arm.
    weights : (4,) array
        Weights of wrist, thumb, pinky and upper arm.
    """

    chain: ArmChain
    posture: Posture
    targets: Array
    upper_arm: Array
    weights: Array


@compiled
def make_posture(chain: ArmChain) -> Posture:
    """Allocate what `place_arm` needs for an arm.

    Parameters
    ----------
    chain : ArmChain
        Arm of n joints.

    Returns
    -------
    Posture
        Posture with undefined values.
    """
    n = len(chain.tree.parent)
    return Posture(np.empty((n + 1, 3, 3)), np.empty((n + 1, 3)), np.empty((4, 3)), np.empty((4, 3, n)))


@compiled
def place_arm(chain: ArmChain, q: Array, posture: Posture) -> None:
    """Compute hand points and elbow from the shoulder, and their Jacobians.

    Parameters
    ----------
    chain : ArmChain
        The stretched arm.
    q : (n,) array
        Joint positions, rad.
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
def arm_criterion(problem: ArmProblem, matrix: Array, descent: Array) -> float:
    """Compute f of an arm in place, half its Gauss-Newton matrix and minus half its gradient.

    f = EᵀWE + w₁₀ ‖s‖² (Kim & Kim 2005, eq. 2), E the person's hand points minus the robot's. With r the
    robot's upper arm and û the direction of the person's, s = r − (ûᵀr) û, so that ‖s‖² = rᵀr − (ûᵀr)²; eq. 4
    is printed with the opposite sign. That is least, too, where r points against û. So beyond a right angle
    the measure goes on as rᵀr + (ûᵀr)², once continuously differentiable, and is greatest there. With

        ½ ∂f/∂q = (∂E)ᵀ W E + w₁₀ (∂r)ᵀ (r − |ûᵀr| û)

    Parameters
    ----------
    problem : ArmProblem
        Problem, with the arm in place (`place_arm`).
    matrix : (n, n) array
        Overwritten with half the Gauss-Newton matrix, m²/rad²; its lower triangle only.
    descent : (n,) array
        Overwritten with minus half the gradient, m²/rad.

    Returns
    -------
    float
        f, m².
    """
    matrix[:] = 0.0
    descent[:] = 0.0
    posture, weights = problem.posture, problem.weights
    n = len(descent)
    value = 0.0
    for p in range(3):
        for i in range(3):
            error = problem.targets[p, i] - posture.point[p, i]
            value += weights[p] * error * error
            for a in range(n):
                pull = weights[p] * posture.jacobian[p, i, a]
                descent[a] += pull * error
                for b in range(a + 1):
                    matrix[a, b] += pull * posture.jacobian[p, i, b]
    return _add_upper_arm(posture, problem.upper_arm, weights[3], value, matrix, descent)


@compiled
def _add_upper_arm(
    posture: Posture, upper_arm: Array, weight: float, value: float, matrix: Array, descent: Array
) -> float:
    """Add the upper arm's term to the value, the matrix and the descent."""
    n = len(descent)
    along = 0.0
    for i in range(3):
        along += upper_arm[i] * posture.point[3, i]
    sense = 1.0 if along >= 0.0 else -1.0
    value -= weight * sense * along * along
    for i in range(3):
        aside = posture.point[3, i] - sense * along * upper_arm[i]
        value += weight * posture.point[3, i] * posture.point[3, i]
        for a in range(n):
            pull = weight * posture.jacobian[3, i, a]
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
            matrix[a, b] -= weight * sense * turned * other
    return value


@compiled
def minimise_criterion(problem: ArmProblem, stiffness: float, low: Array, high: Array, q: Array) -> float:
    """Find the least f + ‖q − q₀‖² stiffness in a box, q₀ the start (Levenberg-Marquardt, exact box steps).

    Parameters
    ----------
    problem : ArmProblem
        Arm, targets and weights; its posture is overwritten.
    stiffness : float
        Cost of the squared distance from the start, m²/rad².
    low : (n,) array
        Lower bounds, rad.
    high : (n,) array
        Upper bounds, rad.
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
    for k in range(n):
        q[k] = min(max(q[k], low[k]), high[k])
    progress = begin(_RULE, _evaluate(problem, stiffness, start, q, matrix, descent))
    while is_running(_RULE, progress, _ROUNDS):
        for k in range(n):
            below[k], above[k] = low[k] - q[k], high[k] - q[k]
            for other in range(k + 1):
                new_matrix[k, other] = matrix[k, other]
            new_matrix[k, k] += progress.damping
        step = solve_box(new_matrix, descent, below, above)
        largest = 0.0
        for k in range(n):
            largest = max(largest, abs(step[k]))
            new[k] = min(max(q[k] + step[k], low[k]), high[k])
        value = _evaluate(problem, stiffness, start, new, new_matrix, new_descent)
        progress = judge_step(_RULE, progress, value, largest)
        if progress.accepted:
            matrix, new_matrix = new_matrix, matrix
            descent, new_descent = new_descent, descent
            for k in range(n):
                q[k] = new[k]
    return progress.cost


@compiled
def _evaluate(
    problem: ArmProblem, stiffness: float, start: Array, q: Array, matrix: Array, descent: Array
) -> float:
    """Compute the criterion, its matrix and its descent at q, with springs to the start."""
    place_arm(problem.chain, q, problem.posture)
    value = arm_criterion(problem, matrix, descent)
    for k in range(len(q)):
        away = q[k] - start[k]
        value += stiffness * away * away
        descent[k] -= stiffness * away
        matrix[k, k] += stiffness
    return value
