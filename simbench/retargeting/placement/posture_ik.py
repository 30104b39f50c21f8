"""Inverse kinematics of the palms along a path, inside joint limits and near a nominal posture."""

from typing import NamedTuple

import numpy as np

from simbench.kinematics.arrays import Array
from simbench.kinematics.bounded_ik import Configuration, place_tree
from simbench.kinematics.box import solve_box
from simbench.kinematics.compiled import compiled
from simbench.kinematics.least_squares import DampingRule, begin, is_running, judge_step
from simbench.retargeting.placement.com_compensation import (
    CompensatedTree,
    compensated_gauss_newton,
    compute_root_sway,
)

STIFFNESS = 1e-6
_FIRST_STIFFNESS = 1e-2
"""What the square of a half range off the nominal posture costs against a square metre: at the end, and where
a path begins, so that it begins on the branch that leads from the nominal posture."""
# Steps below 10⁻⁵ rad do not matter where a palm may be off by a millimetre.
_RULE = DampingRule(
    first=1e-6,
    least=1e-9,
    greatest=2e4,
    step_tolerance=1e-5,
    gain_tolerance=-1.0,
    loss_tolerance=0.0,
    cost_tolerance=0.0,
)


class PostureRange(NamedTuple):
    """Where joints may be, and where they should be as far as the palms leave a choice.

    Parameters
    ----------
    low : (n,) array
        Lower bounds, rad or m.
    high : (n,) array
        Upper bounds, rad or m, high ≥ low.
    nominal : (n,) array
        Nominal posture, rad or m.
    stiffness : (n,) array
        What the square of a joint's distance from the nominal posture costs, m²/rad².
    """

    low: Array
    high: Array
    nominal: Array
    stiffness: Array


@compiled
def make_posture_range(box: Array, nominal: Array, cost: float) -> PostureRange:
    """Weight the joints' distances from a nominal posture by their ranges.

    Parameters
    ----------
    box : (2, n) array
        Least and greatest positions of the joints, rad or m.
    nominal : (n,) array
        Nominal posture, rad or m.
    cost : float
        What the square of a half range off the nominal posture costs, m².

    Returns
    -------
    PostureRange
        The arrays, and the weak pull towards the nominal posture.
    """
    low, high = box[0], box[1]
    stiffness = np.empty(len(low))
    for i in range(len(low)):
        half = max(0.5 * (high[i] - low[i]), 1e-3)
        stiffness[i] = cost / (half * half)
    return PostureRange(low, high, nominal, stiffness)


@compiled
def solve_posture_ik(
    hands: CompensatedTree, points: Array, posture: PostureRange, joints: Array, rounds: int
) -> float:
    """Bring joints to where points miss their targets the least, by Levenberg-Marquardt.

    Parameters
    ----------
    hands : CompensatedTree
        Trunk and arms; the workspace is left with the bodies in place and the normal equations there.
    points : (P, 3) array
        From where the root would be without swaying, root axes, m.
    posture : PostureRange
        Bounds, nominal posture and its stiffness.
    joints : (n,) array
        Where to begin, inside the bounds; overwritten with the solution, rad or m.
    rounds : int
        Most steps.

    Returns
    -------
    float
        The cost, m².
    """
    n = len(joints)
    low, high, nominal, stiffness = posture.low, posture.high, posture.nominal, posture.stiffness
    tree, tasks, compensation, work = hands.tree, hands.tasks, hands.compensation, hands.work
    shifted = np.empty(points.shape)
    matrix, vector, lowest, highest = np.empty((n, n)), np.empty(n), np.empty(n), np.empty(n)
    current = Configuration(joints, np.eye(3), np.zeros(3))
    trial = Configuration(np.empty(n), current.rotation, current.position)
    place_tree(tree, current, work)
    cost = compensated_gauss_newton(tree, tasks, compensation, points, shifted, work) + _nominal_cost(
        nominal, stiffness, joints
    )
    progress = begin(_RULE, cost)
    while is_running(_RULE, progress, rounds):
        for i in range(n):
            for j in range(i + 1):
                matrix[i, j] = work.matrix[6 + i, 6 + j]
            matrix[i, i] += stiffness[i] + progress.damping
            vector[i] = work.vector[6 + i] + stiffness[i] * (nominal[i] - joints[i])
            lowest[i], highest[i] = low[i] - joints[i], high[i] - joints[i]
        change = solve_box(matrix, vector, lowest, highest)
        largest = 0.0
        for i in range(n):
            trial.joints[i] = min(max(joints[i] + change[i], low[i]), high[i])
            largest = max(largest, abs(change[i]))
        place_tree(tree, trial, work)
        cost = compensated_gauss_newton(tree, tasks, compensation, points, shifted, work) + _nominal_cost(
            nominal, stiffness, trial.joints
        )
        progress = judge_step(_RULE, progress, cost, largest)
        if progress.accepted:
            for i in range(n):
                joints[i] = trial.joints[i]
        else:
            # The caller goes on with the bodies and the normal equations, too.
            place_tree(tree, current, work)
            compensated_gauss_newton(tree, tasks, compensation, points, shifted, work)
    return progress.cost


@compiled
def _nominal_cost(nominal: Array, stiffness: Array, joints: Array) -> float:
    """Compute what the distance from the nominal posture costs."""
    cost = 0.0
    for i in range(len(joints)):
        cost += stiffness[i] * (joints[i] - nominal[i]) ** 2
    return cost


@compiled
def solve_path_ik(
    hands: CompensatedTree,
    points: Array,
    posture: PostureRange,
    rounds: int,
    give_up: float,
    path: Array,
    found: Array,
) -> None:
    """Follow points pose by pose, each from where the last one ended; the root sways about the origin.

    In every pose least is

        Σ w² ‖p − p(q)‖² + 10⁻⁶ Σ ((q − nominal) / half range)²,   low ≤ q ≤ high.

    The second term makes the posture a function of the pose alone, so that closed paths close.

    Parameters
    ----------
    hands : CompensatedTree
        Trunk and arms; the workspace is overwritten.
    points : (K, P, 3) array
        From where the root would be without swaying, root axes, m.
    posture : PostureRange
        Its nominal posture is where to begin, too; its stiffness is for a half range to cost 1.
    rounds : int
        Most steps a pose; the first one may take six times as many.
    give_up : float
        Distance of a point from its target, m, beyond which the path is not followed any further.
    path : (K, n) array
        Overwritten: the joints in every pose, rad or m.
    found : (K, P, 3) array
        Overwritten: where the points are then, in the axes of `points`, m; infinite after giving up.
    """
    low, high, nominal = posture.low, posture.high, posture.nominal
    n = len(nominal)
    joints = np.empty(n)
    for i in range(n):
        joints[i] = min(max(nominal[i], low[i]), high[i])
    cost = _FIRST_STIFFNESS
    while cost > 1.5 * STIFFNESS:
        stiffer = PostureRange(low, high, nominal, cost * posture.stiffness)
        solve_posture_ik(hands, points[0], stiffer, joints, rounds)
        cost *= 0.1
    near = PostureRange(low, high, nominal, STIFFNESS * posture.stiffness)
    lost = False
    for t in range(len(points)):
        if not lost:
            solve_posture_ik(hands, points[t], near, joints, 2 * rounds if t == 0 else rounds)
        for i in range(n):
            path[t, i] = joints[i]
        lost = _find_points(hands, points[t], give_up, lost, found[t])


@compiled
def _find_points(hands: CompensatedTree, targets: Array, give_up: float, lost: bool, found: Array) -> bool:
    """Compute where the points of bodies in place are, the root swaying; and whether one is too far off."""
    tasks, work = hands.tasks, hands.work
    sway_x, sway_y = compute_root_sway(hands.compensation, work)
    sway = (sway_x, sway_y, 0.0)
    for k in range(len(tasks.point_body)):
        body = tasks.point_body[k]
        square = 0.0
        for i in range(3):
            x = work.position[body, i] - sway[i]
            for j in range(3):
                x += work.rotation[body, i, j] * tasks.point[k, j]
            found[k, i] = np.inf if lost else x
            square += (x - targets[k, i]) ** 2
        if not lost and square > give_up * give_up:
            lost = True
    return lost
