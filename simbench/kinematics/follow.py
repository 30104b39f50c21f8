"""Follow targets over time: one bounded step, or a bounded minimum, in every frame."""

import numpy as np

from simbench.kinematics.arrays import Array
from simbench.kinematics.bounded_ik import (
    Configuration,
    TrackingModel,
    gauss_newton_step,
    integrate_step,
    place_tree,
    solve_bounded_ik,
)
from simbench.kinematics.compiled import compiled
from simbench.kinematics.rotation import matrix_to_quaternion, quaternion_to_matrix
from simbench.kinematics.task_matrix import Targets

_LONGEST_STEP = 0.3
"""Of any coordinate, rad or m: a longer one leaves the neighbourhood in which Jacobians are valid."""
_ROUNDS = 10


@compiled
def follow(
    model: TrackingModel, targets: Targets, q: Array, rounds: int, hold: float, path: Array, cost: Array
) -> None:
    """Follow targets frame by frame, each from where the last one ended.

    One step a frame goes wrong near a singularity, where it may be half a turn long, and nothing verifies
    that it reduced the error. Where it would be longer than 0.3 rad or m, ten times what motion at 100 Hz
    asks for, `solve_bounded_ik` takes its place, which rejects steps that increase the error. `model`: robot,
    tasks and bounds; its workspace is overwritten. `targets`: targets of all frames: points (T, P, 3), m, and
    rotations (T, R, 3, 3), in the world frame. `q` (7 + n,): configuration before the first frame: position
    (m), quaternion x y z w, joints (rad or m). Changed in place to the last frame's. `rounds`: 0: one
    Gauss-Newton step a frame, and `solve_bounded_ik` with at most ten only where that step is long. Else
    `solve_bounded_ik` with at most so many. It holds to the frame before. `hold`: weight of the distance from
    the previous frame, as in `solve_bounded_ik`. `path` (T, 7 + n): overwritten: the configuration in every
    frame, its quaternion continuous in sign. `cost` (T,): overwritten: ‖ε‖² in every frame; with `rounds` 0
    before its step.
    """
    n = len(model.tree.parent)
    # A constant as an argument would be a type of its own, and `solve_bounded_ik` compiled twice.
    most = rounds if rounds > 0 else _ROUNDS
    current = Configuration(np.empty(n), np.empty((3, 3)), np.empty(3))
    for k in range(n):
        current.joints[k] = q[7 + k]
    for i in range(3):
        current.position[i] = q[i]
    quaternion_to_matrix(q[3], q[4], q[5], q[6], current.rotation)
    for t in range(len(targets.points)):
        frame = Targets(targets.points[t], targets.rotations[t])
        if rounds == 0:
            place_tree(model.tree, current, model.work)
            change, cost[t] = gauss_newton_step(model, frame, current.joints, 1.0)
            longest = 0.0
            for i in range(len(change)):
                longest = max(longest, abs(change[i]))
            if longest <= _LONGEST_STEP:
                integrate_step(change, model.bounds, current)
            else:
                solve_bounded_ik(model, frame, current, most, hold)
        else:
            cost[t], _ = solve_bounded_ik(model, frame, current, most, hold)
        _write_configuration(current, q)
        # So that frames one by one give the same bits as all at once.
        quaternion_to_matrix(q[3], q[4], q[5], q[6], current.rotation)
        for i in range(7 + n):
            path[t, i] = q[i]


@compiled
def _write_configuration(configuration: Configuration, q: Array) -> None:
    """Write position, quaternion and joints (7 + n,), the quaternion with the sign of the old one."""
    for k in range(len(configuration.joints)):
        q[7 + k] = configuration.joints[k]
    for i in range(3):
        q[i] = configuration.position[i]
    x, y, z, w = matrix_to_quaternion(configuration.rotation)
    sign = 1.0 if x * q[3] + y * q[4] + z * q[5] + w * q[6] >= 0.0 else -1.0
    q[3], q[4], q[5], q[6] = sign * x, sign * y, sign * z, sign * w
