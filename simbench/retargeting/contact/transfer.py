"""Transfer: joint positions of trunk and arms that bring the robot's palms where they are to be."""

from collections.abc import Mapping

import numpy as np
import pinocchio as pin
from scipy.signal import savgol_filter

from simbench.kinematics.arrays import Array
from simbench.kinematics.damped_ik import solve_damped_ik
from simbench.kinematics.path_matrix import path_matrices
from simbench.kinematics.path_solver import bounded_chain_step
from simbench.kinematics.task_matrix import Tasks, make_workspace
from simbench.kinematics.tree import frame_on_body, kinematic_tree
from simbench.retargeting.contact.hand_plan import HandPlan
from simbench.robot.robot import Robot
from simbench.robot.sides import SIDES
from simbench.robot.upper_body import upper_body

_LEVER = 0.15
"""What a radian of a palm counts against a metre, m/rad: where limits leave no exact solution the palm is in
the right place and a little turned, not the other way round."""
_HAND = 1000.0
"""Weight of a metre beside the target against a radian beside the posture, rad/m."""
_LOOSE = 0.01
"""Of that weight, for hands that hold nothing: they need not be anywhere exactly."""
_TURN_SHARE = 1e-3
"""Of that weight, for the turn about a handle that leaves it free: the actor's, if nothing else matters."""
_SLUGGISHNESS = 0.6
"""How slowly the departure from the posture changes, rad: over about this part of the time in which a joint
at full speed covers a radian."""
_STIFFNESS = 0.12
"""How roundly it changes, s rad: what its second derivative counts, as part of full speed in a second."""
_FIRST_WEIGHT, _GROWTH = 0.01, 3.0
"""Of the palms' weight at the first step, and its growth a step: far targets are come to gradually."""
_ROUNDS = 60
_SETTLED = 1e-6
"""Part of its value by which the integral still changes at the last step."""


def transfer_path(
    robot: Robot,
    time: Array,
    posture: Array,
    base: Array,
    plan: HandPlan,
    lower: Array,
    upper: Array,
    start: Array | None = None,
) -> Array:
    """Bring the palms to their targets, near the imitated posture, all frames at once.

    With x the joints, d = x − posture their departure from it, and e the palms' errors,

        min ∫ W² ‖e(x)‖² + ‖d‖² + σ² ‖ḋ / v_max‖² + β² ‖d̈ / v_max‖² dt,   lower ≤ x ≤ upper.

    In every frame that is the damped least squares with the posture in the null space of Tomić 2018
    (eq. 3.16); but its choice in the null space, and the way around a joint limit, are those of the whole
    motion: a departure begins before it is needed and is C1, where frame by frame a joint that meets its
    limit stops at once and the others jump. Nothing is smoothed afterwards, so nothing leaves its target.

    Levenberg-Marquardt steps of a block-tridiagonal system in a box (`bounded_chain_step`).

    Parameters
    ----------
    robot : Robot
    time : (T,) array
        s.
    posture : (T, n) array
        Preferred posture inside the limits, rad.
    base : (T, 7) array
    plan : HandPlan
    lower, upper : (n,) array
        rad.
    start : (T, n) array, optional
        Joints to begin with, those of a similar plan, rad.

    Returns
    -------
    (T, n) array
        rad, inside the limits.
    """
    if not any(share.any() for share in plan.share.values()):
        return np.clip(posture, lower, upper)
    return follow_palms(upper_body(robot), robot.frames, time, posture, base, plan, lower, upper, start)


def follow_palms(
    model: pin.Model,
    frames: Mapping[str, str],
    time: Array,
    posture: Array,
    base: Array,
    plan: HandPlan,
    lower: Array,
    upper: Array,
    start: Array | None = None,
) -> Array:
    """Solve what `transfer_path` states, for any model and one hand or two.

    Parameters
    ----------
    model : pinocchio.Model
        With a free-flyer root or a fixed one.
    frames : mapping of str to str
        Role to frame: right_hand, ...
    time : (T,) array
        s.
    posture : (T, n) array
        rad.
    base : (T, 7) array
        Pose of the root link in the world.
    plan : HandPlan
        Of the hands that there are.
    lower, upper : (n,) or (T, n) array
        rad.
    start : (T, n) array, optional
        rad.

    Returns
    -------
    (T, n) array
        rad, inside the limits.
    """
    tree = kinematic_tree(model)
    tasks, weights, points = _palm_tasks(frames, model, plan)
    turns = np.empty((len(time), 0, 3, 3))
    work = make_workspace(tree)
    count, size = posture.shape
    full = size + 6
    blocks, vectors, cost = np.empty((count, full, full)), np.empty((count, full)), np.empty(count)
    period = (time[-1] - time[0]) / (count - 1)
    speed = np.asarray(model.velocityLimit[-size:])
    stiffness = _SLUGGISHNESS**2 / (np.diff(time)[:, None] * speed**2) / period
    bending = np.tile(_STIFFNESS**2 / (period**4 * speed**2), (max(count - 2, 0), 1))
    low, high = lower - posture, upper - posture
    departure = np.clip(np.zeros_like(posture) if start is None else start - posture, low, high)

    def evaluate(d: Array, relaxed: float) -> float:
        path = np.hstack([base, posture + d])
        path_matrices(tree, tasks, relaxed * weights, points, turns, path, work, blocks, vectors, cost)
        return float(
            cost.sum()
            + (d**2).sum()
            + (stiffness * np.diff(d, axis=0) ** 2).sum()
            + (bending * np.diff(d, 2, axis=0) ** 2).sum()
        )

    diagonal = np.arange(size)
    relaxed, damping = (_FIRST_WEIGHT, 1.0) if start is None else (1.0, 1e-3)
    value = evaluate(departure, relaxed)
    for _ in range(_ROUNDS):
        matrices = blocks[:, 6:, 6:].copy()
        matrices[:, diagonal, diagonal] += 1.0 + damping
        step = bounded_chain_step(
            departure, vectors[:, 6:] - departure, matrices, stiffness, bending, low, high
        )
        moved = np.clip(departure + step, low, high)
        new = evaluate(moved, relaxed)
        settled = relaxed == 1.0 and abs(new - value) < _SETTLED * value
        if new <= value:
            departure, damping = moved, max(0.1 * damping, 1e-6)
            if relaxed < 1.0:
                relaxed = min(1.0, _GROWTH * relaxed)
                new = evaluate(departure, relaxed)
            value = new
        else:
            damping *= 10.0
            evaluate(departure, relaxed)
        if settled:
            break
    return np.clip(posture + departure, lower, upper)


def _palm_tasks(frames: Mapping[str, str], model: pin.Model, plan: HandPlan) -> tuple[Tasks, Array, Array]:
    """Palms as four points each: the centre, and one along the turn axis and two across it.

    Returns the tasks, the weights (T, 4 H) and the targets (T, 4 H, 3) of H hands.
    """
    bodies, places, weights, points = [], [], [], []
    for side in plan.targets:
        body, turn, centre = frame_on_body(model, model.getFrameId(frames[f"{side}_hand"]))
        axis = plan.turn_axes[side]
        along = np.array([1.0, 0.0, 0.0]) if axis is None else axis
        _, _, directions = np.linalg.svd(along[None])
        directions[0] = along
        corners = np.vstack([np.zeros(3), _LEVER * directions])
        target, share = plan.targets[side], plan.share[side]
        # Two points across the axis hold the turn about it.
        firm = _HAND * _LOOSE ** (1.0 - plan.grip[side])
        hold = firm * (1.0 if axis is None else _TURN_SHARE**share)
        bodies += [body] * 4
        places.append(corners @ turn.T + centre)
        weights.append(np.stack([firm, firm, hold, hold], axis=1))
        points.append(np.einsum("tij,pj->tpi", target[:, :3, :3], corners) + target[:, None, :3, 3])
    tasks = Tasks(
        np.array(bodies),
        np.vstack(places),
        np.empty(len(bodies)),
        np.empty(0, dtype=np.int64),
        np.empty((0, 3, 3)),
        np.empty(0),
    )
    return tasks, np.hstack(weights), np.ascontiguousarray(np.concatenate(points, axis=1))


def transfer_frames(
    robot: Robot,
    posture: Array,
    base: Array,
    plan: HandPlan,
    lower: Array,
    upper: Array,
    *,
    smoothing_window: int = 31,
    smoothing_order: int = 5,
    iterations: int = 8,
) -> Array:
    """Bring the palms to their targets frame by frame (Tomić 2018, §3.7), then smooth (Savitzky-Golay).

    Parameters
    ----------
    robot : Robot
    posture : (T, n) array
        Preferred posture, rad.
    base : (T, 7) array
    plan : HandPlan
    lower, upper : (n,) array
        rad.
    smoothing_window, smoothing_order : int
        Savitzky-Golay filter of the result.
    iterations : int
        Upper bound of inverse-kinematics steps a frame (the paper takes one).

    Returns
    -------
    (T, n) array
        rad, inside the limits.
    """
    model = upper_body(robot)
    data = model.createData()
    frames = [model.getFrameId(robot.frames[f"{side}_hand"]) for side in SIDES]
    joints = np.empty_like(posture)
    current = posture[0]
    for sample, preferred in enumerate(posture):
        start = np.concatenate([base[sample], current])
        targets = [pin.SE3(plan.targets[side][sample]) for side in SIDES]
        q = solve_damped_ik(
            model, data, start, frames, targets, preferred, lower, upper, iterations=iterations
        )
        joints[sample] = current = q[7:]
    window = min(smoothing_window, len(joints) - 1 + len(joints) % 2)
    if window > smoothing_order:
        joints = savgol_filter(joints, window, smoothing_order, axis=0)
    return np.clip(joints, lower, upper)
