"""Transfer: joint positions of trunk and arms that bring the robot's palms to their targets."""

from collections.abc import Mapping
from typing import NamedTuple

import numpy as np
import pinocchio as pin
from numpy.typing import NDArray

from simbench.kinematics.arrays import Array
from simbench.kinematics.damped_ik import PostureBounds, solve_damped_ik
from simbench.kinematics.least_squares import DampingRule, begin, is_running, judge_step
from simbench.kinematics.path_matrix import PathEquations, make_path_equations, path_matrices
from simbench.kinematics.path_solver import bounded_chain_step
from simbench.kinematics.rotation import ROTATION_WEIGHT
from simbench.kinematics.savgol import savgol_filter
from simbench.kinematics.task_matrix import Targets, Tasks, make_workspace
from simbench.kinematics.time_grids import hold_between, interpolate_change, time_grids
from simbench.kinematics.tree import KinematicTree, frame_on_body, kinematic_tree
from simbench.retargeting.contact.hand_plan import HandPlan
from simbench.robot.robot import Robot
from simbench.robot.sides import SIDES
from simbench.robot.upper_body import upper_body

_HAND = 1000.0
"""Weight of a metre beside the target against a radian beside the posture, rad/m."""
_LOOSE = 0.01
"""Of that weight, for hands that hold nothing: they need not be anywhere exactly."""
_FREE_ROTATION_WEIGHT = 1e-3
"""Of that weight, for the rotation about a handle that leaves it free: the actor's, if all else allows."""
_VELOCITY_WEIGHT = 0.6
"""σ of the departure's velocity, rad: it changes over about this part of the time in which a joint at full
speed covers a radian."""
_ACCELERATION_WEIGHT = 0.12
"""β of the departure's acceleration, s rad: what its second derivative counts, as part of full speed in a
second."""
_FIRST_WEIGHT, _GROWTH = 0.01, 3.0
"""Of the palms' weight at the first step, and its growth a step: far targets are come to gradually."""
_ROUNDS = 60
# The integral changes by a millionth of its value at the last step; also where it would rise by that much: to
# evaluate the whole path again would cost more than it could gain. There is no step that is too short, and no
# damping that is too large.
_RULE = DampingRule(
    first=1.0,
    least=1e-6,
    greatest=np.inf,
    step_tolerance=0.0,
    gain_tolerance=1e-6,
    loss_tolerance=1e-6,
    cost_tolerance=0.0,
)
_SIMILAR_DAMPING = 1e-3
"""First damping where the joints of a similar plan are known."""


class PreferredPath(NamedTuple):
    """Preferred joints along a motion, and where they may be.

    Parameters
    ----------
    time : (T,) array
        Time, s.
    posture : (T, n) array
        Preferred posture, rad.
    base : (T, 7) array
        Pose of the root link in the world: position (m), quaternion x y z w.
    lower : (n,) or (T, n) array
        Lower joint limits, rad.
    upper : (n,) or (T, n) array
        Upper joint limits, rad.
    """

    time: Array
    posture: Array
    base: Array
    lower: Array
    upper: Array


class _Springs(NamedTuple):
    """What differences of the departure cost: (T - 1, n) of the first ones, (T - 2, n) of the second ones."""

    stiffness: Array
    bending: Array


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

    With x the joints, d = x − posture their departure from it, and e the palms' errors, it solves

        min ∫ W² ‖e(x)‖² + ‖d‖² + σ² ‖ḋ / v_max‖² + β² ‖d̈ / v_max‖² dt,   lower ≤ x ≤ upper.

    In every frame that is the damped least squares with the posture in the null space of Tomić 2018
    (eq. 3.16); but its choice in the null space, and the way around a joint limit, are those of the whole
    motion: a departure begins before it is needed and is C1, where frame by frame a joint that meets its
    limit stops at once and the others jump. Nothing is smoothed afterwards, so nothing leaves its target.

    Levenberg-Marquardt steps of a block-pentadiagonal system in a box (`bounded_chain_step`), first for a few
    samples a second and, from there on, for all of them (`time_grids`).

    Parameters
    ----------
    robot : Robot
        Robot with two arms.
    time : (T,) array
        Time, s.
    posture : (T, n) array
        Preferred posture inside the limits, rad.
    base : (T, 7) array
        Pose of the root link in the world: position (m), quaternion x y z w.
    plan : HandPlan
        Targets of the hands, and when they count.
    lower : (n,) array
        Lower joint limits, rad.
    upper : (n,) array
        Upper joint limits, rad.
    start : (T, n) array, optional
        Joints to begin with, those of a similar plan, rad.

    Returns
    -------
    (T, n) array
        Joint positions inside the limits, rad.
    """
    if not any(share.any() for share in plan.share.values()):
        return np.clip(posture, lower, upper)
    path = PreferredPath(time, posture, base, lower, upper)
    return follow_palms(upper_body(robot), robot.frames, path, plan, start)


def follow_palms(
    model: pin.Model,
    frames: Mapping[str, str],
    path: PreferredPath,
    plan: HandPlan,
    start: Array | None = None,
) -> Array:
    """Solve what `transfer_path` states, for any model and one hand or two.

    Parameters
    ----------
    model : pinocchio.Model
        Model with a free-flyer root or a fixed one.
    frames : mapping of str to str
        Role to frame: right_hand, ...
    path : Path
        Preferred joints, root and joint limits over time.
    plan : HandPlan
        Targets of the hands that there are.
    start : (T, n) array, optional
        Joints to begin with, those of a similar plan, rad.

    Returns
    -------
    (T, n) array
        Joint positions inside the limits, rad.
    """
    tasks, weights, points = _palm_tasks(frames, model, plan)
    problem = _PalmProblem(
        kinematic_tree(model),
        tasks,
        weights,
        points,
        path.time,
        path.base,
        path.posture,
        (path.lower - path.posture, path.upper - path.posture),
        np.asarray(model.velocityLimit[-path.posture.shape[1] :]),
    )
    low, high = problem.bounds
    departure = np.clip(np.zeros_like(path.posture) if start is None else start - path.posture, low, high)
    anew = start is None
    for samples in time_grids(path.time):
        found, on_limit = _minimise_integral(_at_samples(problem, samples), departure[samples], anew=anew)
        change = interpolate_change(path.time, samples, found - departure[samples])
        held = hold_between(len(path.time), samples, on_limit)
        departure = np.clip(departure + change, low, high)
        departure = np.where(held < 0, low, np.where(held > 0, high, departure))
        anew = False
    return np.clip(path.posture + departure, path.lower, path.upper)


class _PalmProblem(NamedTuple):
    """Constants of `follow_palms` at some samples: tasks, targets, and bounds of the departure."""

    tree: KinematicTree
    tasks: Tasks
    weights: Array
    points: Array
    time: Array
    base: Array
    posture: Array
    bounds: tuple[Array, Array]
    speed: Array


def _at_samples(problem: _PalmProblem, samples: NDArray[np.int64]) -> _PalmProblem:
    """Take some samples of a problem."""
    low, high = problem.bounds
    return problem._replace(
        weights=problem.weights[samples],
        points=problem.points[samples],
        time=problem.time[samples],
        base=problem.base[samples],
        posture=problem.posture[samples],
        bounds=(low[samples], high[samples]),
    )


def _minimise_integral(
    problem: _PalmProblem, departure: Array, *, anew: bool
) -> tuple[Array, NDArray[np.int8]]:
    """Find the departure from the posture of least cost from a given one on, and what of it is on limits."""
    work = make_workspace(problem.tree)
    equations = make_path_equations(*departure.shape)
    springs = _make_springs(problem.time, problem.speed)
    targets = Targets(problem.points, np.empty((len(departure), 0, 3, 3)))
    low, high = problem.bounds

    def evaluate(d: Array, relaxed: float) -> float:
        q = np.hstack([problem.base, problem.posture + d])
        path_matrices(problem.tree, problem.tasks, relaxed * problem.weights, targets, q, work, equations)
        return _compute_integral(equations, springs, d)

    # Far targets are approached gradually: the palms' weight grows with every accepted step, and until it is
    # whole no step is the last.
    relaxed, rule = (_FIRST_WEIGHT, _RULE) if anew else (1.0, _RULE._replace(first=_SIMILAR_DAMPING))
    growing = _RULE._replace(gain_tolerance=-1.0, loss_tolerance=-1.0)
    progress, on_limit = begin(rule, evaluate(departure, relaxed)), None
    while is_running(rule, progress, _ROUNDS):
        step, on_limit = _solve_step(equations, springs, departure, progress.damping, (low, high), on_limit)
        moved = np.clip(departure + step, low, high)
        new_cost = evaluate(moved, relaxed)
        progress = judge_step(
            _RULE if relaxed == 1.0 else growing, progress, new_cost, float(np.abs(step).max())
        )
        if progress.accepted:
            departure = moved
            if relaxed < 1.0:
                relaxed = min(1.0, _GROWTH * relaxed)
                progress = progress._replace(cost=evaluate(departure, relaxed))
        elif not progress.finished:
            evaluate(departure, relaxed)
    return departure, (departure >= high).astype(np.int8) - (departure <= low).astype(np.int8)


def _make_springs(time: Array, speed: Array) -> _Springs:
    """Weight changes of the departure by the joints' speed limits (n,), rad/s."""
    count = len(time)
    period = (time[-1] - time[0]) / (count - 1)
    return _Springs(
        _VELOCITY_WEIGHT**2 / (np.diff(time)[:, None] * speed**2) / period,
        np.tile(_ACCELERATION_WEIGHT**2 / (period**4 * speed**2), (max(count - 2, 0), 1)),
    )


def _compute_integral(equations: PathEquations, springs: _Springs, departure: Array) -> float:
    """Compute what is minimised, a frame's time being 1."""
    return float(
        equations.cost.sum()
        + (departure**2).sum()
        + (springs.stiffness * np.diff(departure, axis=0) ** 2).sum()
        + (springs.bending * np.diff(departure, 2, axis=0) ** 2).sum()
    )


def _solve_step(
    equations: PathEquations,
    springs: _Springs,
    departure: Array,
    damping: float,
    bounds: tuple[Array, Array],
    on_limit: NDArray[np.int8] | None,
) -> tuple[Array, NDArray[np.int8]]:
    """Solve the damped normal equations of the whole path inside the bounds (T, n)."""
    matrices = equations.blocks[:, 6:, 6:].copy()
    diagonal = np.arange(departure.shape[1])
    matrices[:, diagonal, diagonal] += 1.0 + damping
    gradient = equations.vectors[:, 6:] - departure
    return bounded_chain_step(departure, gradient, matrices, *springs, bounds, on_limit)


def _palm_tasks(frames: Mapping[str, str], model: pin.Model, plan: HandPlan) -> tuple[Tasks, Array, Array]:
    """Palms as four points each: the centre, and one along the turn axis and two across it.

    Returns the tasks, the weights (T, 4 H) and the targets (T, 4 H, 3) of H hands.
    """
    bodies, corners, weights, points = [], [], [], []
    for side in plan.targets:
        body, rotation, centre = frame_on_body(model, model.getFrameId(frames[f"{side}_hand"]))
        axis = plan.turn_axes[side]
        along = np.array([1.0, 0.0, 0.0]) if axis is None else axis
        _, _, directions = np.linalg.svd(along[None])
        directions[0] = along
        offsets = np.vstack([np.zeros(3), ROTATION_WEIGHT * directions])
        target, weight = plan.targets[side], plan.share[side]
        # Two points across the axis hold the rotation about it.
        firm = _HAND * _LOOSE ** (1.0 - plan.grip[side])
        hold = firm * (1.0 if axis is None else _FREE_ROTATION_WEIGHT**weight)
        bodies += [body] * 4
        corners.append(offsets @ rotation.T + centre)
        weights.append(np.stack([firm, firm, hold, hold], axis=1))
        points.append(np.einsum("tij,pj->tpi", target[:, :3, :3], offsets) + target[:, None, :3, 3])
    tasks = Tasks(
        np.array(bodies),
        np.vstack(corners),
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
    smoothing: tuple[int, int] = (31, 5),
    iterations: int = 8,
) -> Array:
    """Bring the palms to their targets frame by frame (Tomić 2018, §3.7), then smooth (Savitzky-Golay).

    Parameters
    ----------
    robot : Robot
        Robot with two arms.
    posture : (T, n) array
        Preferred posture, rad.
    base : (T, 7) array
        Pose of the root link in the world: position (m), quaternion x y z w.
    plan : HandPlan
        Targets of the hands.
    lower : (n,) array
        Lower joint limits, rad.
    upper : (n,) array
        Upper joint limits, rad.
    smoothing : (int, int)
        Window, frames, and order of the Savitzky-Golay filter of the result.
    iterations : int
        Upper bound of inverse-kinematics steps a frame (the paper takes one).

    Returns
    -------
    (T, n) array
        Joint positions inside the limits, rad.
    """
    model = upper_body(robot)
    data = model.createData()
    frames = [model.getFrameId(robot.frames[f"{side}_hand"]) for side in SIDES]
    joints = np.empty_like(posture)
    current = posture[0]
    for sample, preferred in enumerate(posture):
        start = np.concatenate([base[sample], current])
        targets = {
            frame: pin.SE3(plan.targets[side][sample]) for side, frame in zip(SIDES, frames, strict=True)
        }
        bounds = PostureBounds(preferred, lower, upper)
        q = solve_damped_ik(model, data, start, targets, bounds, iterations=iterations)
        joints[sample] = current = q[7:]
    longest, order = smoothing
    window = min(longest, len(joints) - 1 + len(joints) % 2)
    if window > order:
        joints = savgol_filter(joints, window, order)
    return np.clip(joints, lower, upper)
