"""Feasible posture: the person's motion on the robot's joints, inside limits and at a robot's speeds."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.interpolate import make_interp_spline
from scipy.ndimage import convolve1d, maximum_filter1d

from simbench.kinematics.arrays import Array
from simbench.kinematics.path_matrix import PathEquations, make_path_equations, path_matrices
from simbench.kinematics.path_solver import bounded_chain_step, chain_step
from simbench.kinematics.savgol import savgol_filter
from simbench.kinematics.task_matrix import Targets, Tasks, Workspace, make_workspace
from simbench.kinematics.tree import KinematicTree, kinematic_tree
from simbench.motion.human_motion import HumanMotion
from simbench.retargeting.collision.clearance import BodyShapes, PairWorkspace, clearance_rows
from simbench.retargeting.imitation.imitation import Imitation, first_posture
from simbench.retargeting.imitation.tasks import ImitationWeights, imitation_targets, imitation_tasks

WEIGHTS = ImitationWeights(hand_orientation=0.3, hand=3.0, segment_orientation=0.3)
"""Weights of the limited posture: the arm's shape first, the palm's direction last."""

_SMOOTHING_WINDOW, _SMOOTHING_ORDER = 0.31, 3
"""Window, s, and polynomial order of the filter that smooths a posture."""
_KNOT_RATE = 50.0
_VELOCITY_PENALTY_SCHEDULE = (3.0, 1.0, 0.3, 0.1, *([0.08] * 10))
"""Cost of moving at a joint's speed limit, per second, by iteration: from a still posture to the motion."""
_QUADRATIC_SPEED_RANGE = 2.0
"""Multiple of a joint's speed limit up to which the cost is quadratic: a faster joint slows down the whole
motion, and costs its fourth power."""
_FASTEST = 10.0
"""Speed limit of a joint, rad/s, that counts at most: a joint without one, or with that of a motor far faster
than a person's arm, would flip between equally poor solutions at no cost."""
_BASE_SPEED = 1.0
"""Speed limit of the base's position, m/s."""
_STEP_FRACTION, _MAX_STEP = 0.6, 0.3
"""Fraction of a full step that is taken, and the largest, rad: limits and clearances switch on and off, and
full steps jump between them."""
_CLEARANCE = 0.03
_CLEARANCE_WEIGHT = 30.0
"""Margin between the robot's own links, m, and the weight of a missing metre."""
_SETTLED = 0.02
"""Root mean square of a full step, rad, below which a posture is settled."""
_LEVELS = (1.0, 0.3, 0.08)
"""Cost of moving at a joint's speed limit, per second, where the schedule does not settle."""
_CYCLES = 2
"""How often these are gone through: a few stiff steps lead from a poor minimum to a better one."""
_LEVEL_ROUNDS, _LAST_ROUNDS = 4, 100
"""Most steps with each of these costs, and with the last one: what solves the problem for a larger cost leads
into a worse minimum for the last."""
_SOLVED = 3e-4
"""Root mean square of a step, rad, at which a problem is solved."""
_FIRST_DAMPING, _LEAST_DAMPING = 1.0, 1e-4
"""Levenberg-Marquardt damping, m²/rad²."""
_PIVOTINGS = 40
"""Most rounds in which a step's coordinates on limits are found; a dozen are enough."""
_LESS, _MORE = 1.0 / 3.0, 4.0
"""Factors on it after a step that reduced the cost, and after one that did not."""
_HOLD = 1e-3
"""Stiffness towards the calibrated posture in the search for the first one: a waist that turns the one way
while the root turns the other changes nothing else."""


def rounded_posture(
    time: Array,
    joints: Array,
    lower: Array,
    upper: Array,
) -> Array:
    """Smooth a posture where a joint comes to a limit or leaves it.

    A Savitzky-Golay filter; where that would pass a limit, a mean with positive weights, which does not.

    Free motion is not smoothed: its corners are fast motions of the person. Hands that go to equipment do not
    need them.

    Parameters
    ----------
    time : (T,) array
        Time of each sample, s.
    joints : (T, n) array
        Joint positions, rad.
    lower : (n,) array
        Lower joint limits, rad.
    upper : (n,) array
        Upper joint limits, rad.

    Returns
    -------
    (T, n) array
        Joint positions inside the limits, rad.
    """
    window = round(_SMOOTHING_WINDOW * (len(time) - 1) / (time[-1] - time[0])) // 2 * 2 + 1
    if not _SMOOTHING_ORDER < window <= len(time):
        return joints
    smooth = savgol_filter(joints, window, _SMOOTHING_ORDER)
    beyond = ((smooth < lower) | (smooth > upper)).astype(float)
    weights = np.hanning(window + 2)[1:-1]
    weights /= weights.sum()
    # The filter overshoots at a limit, and to clip it would make a corner again: there a mean is used.
    weight = convolve1d(maximum_filter1d(beyond, window, axis=0), weights, axis=0, mode="nearest")
    mean = convolve1d(np.clip(joints, lower, upper), weights, axis=0, mode="nearest")
    return np.asarray(np.clip(smooth, lower, upper) * (1.0 - weight) + weight * mean)


def limited_posture(
    imitation: Imitation,
    motion: HumanMotion,
    shapes: BodyShapes,
    lower: Array,
    upper: Array,
) -> Array:
    """Solve trunk and arm positions inside the robot's limits that follow a recording.

    The imitation itself is unbounded, as a person's range is larger than a robot's: where it passes the
    lateral singularity of a pitch-yaw shoulder it continues on the other branch, which no rescaling of joint
    curves (Safonova et al. 2003) brings back. So the scaled model, upright as the robot is, follows the
    recording once more with the robot's limits, all frames at once:

        min Σ_t ‖ε_t(x_t)‖² + ρ Σ_t p((x_{t+1} − x_t) / (Δt v_max)) Δt,   lower ≤ q ≤ upper,

    ε of Tomić 2018, eq. 3.5, x = (base position, trunk and arm joints), p(v) = v² of each joint up to twice
    its speed limit and v⁴/8 + 2 beyond. The second term keeps a joint from flipping between equally poor
    solutions: a short fast motion would slow down the whole one. Pairs of links nearer than 3 cm add the
    square of their deficit. Projected Gauss-Newton with a block-tridiagonal system, reweighted for p.

    That does not settle where arms have little room beside the body: links come near now here, now there, and
    the last digit of the recording would decide where it ends. Then the problem is solved anew by
    Levenberg-Marquardt, which takes only steps that reduce the cost (`_descend`).

    Parameters
    ----------
    imitation : Imitation
        Unbounded motion of the scaled model.
    motion : HumanMotion
        The recording, at the imitation's samples.
    shapes : BodyShapes
        Collision shapes of the robot at its real size.
    lower : (n,) array
        Lower limits of trunk and arms, rad.
    upper : (n,) array
        Upper limits of trunk and arms, rad.

    Returns
    -------
    (T, n) array
        Positions of trunk and arms, rad, inside the limits.
    """
    stride = max(1, round(motion.rate / _KNOT_RATE))
    samples = np.unique(np.append(np.arange(0, len(motion.time), stride), len(motion.time) - 1))
    time = motion.time[samples]
    criterion = _make_criterion(imitation, motion, shapes, samples)
    box = np.concatenate([np.full(3, -np.inf), lower]), np.concatenate([np.full(3, np.inf), upper])
    x = _follow_schedule(criterion, _still(imitation, motion, samples, box, 0.0), box)
    if x is None:
        x = _descend(criterion, _still(imitation, motion, samples, box, _HOLD), box)
    joints = make_interp_spline(time, x[:, 3:], k=min(3, len(time) - 1))(motion.time)
    return np.clip(joints, lower, upper)


@dataclass(frozen=True)
class _Criterion:
    """What a motion x (K, 3 + n) of K knots costs: base position and joints, the root upright."""

    tree: KinematicTree
    tasks: Tasks
    targets: Targets
    clearance: PairWorkspace
    duration: Array
    speed: Array
    work: Workspace
    equations: PathEquations


def _make_criterion(
    imitation: Imitation, motion: HumanMotion, shapes: BodyShapes, samples: NDArray[np.int64]
) -> _Criterion:
    """Collect what the cost of a motion at some samples of a recording depends on."""
    actor = imitation.actor
    model = actor.model
    tree = kinematic_tree(model)
    return _Criterion(
        tree,
        imitation_tasks(actor, WEIGHTS),
        Targets(*(target[samples] for target in imitation_targets(actor, motion, WEIGHTS))),
        PairWorkspace(shapes.model, shapes.geometry),
        np.diff(motion.time[samples])[:, None],
        np.concatenate([np.full(3, _BASE_SPEED), np.minimum(model.velocityLimit[6:], _FASTEST)]),
        make_workspace(tree),
        make_path_equations(len(samples), model.nv - 6),
    )


def _still(
    imitation: Imitation,
    motion: HumanMotion,
    samples: NDArray[np.int64],
    box: tuple[Array, Array],
    hold: float,
) -> Array:
    """Posture of the first frame, moved along with the imitation's root: x (K, 3 + n)."""
    start = first_posture(imitation.actor, motion, WEIGHTS, hold=hold)
    x = np.tile(np.clip(np.concatenate([start[:3], start[7:]]), *box), (len(samples), 1))
    x[:, :3] += imitation.q[samples, :3] - imitation.q[0, :3]
    return x


def _evaluate(criterion: _Criterion, x: Array) -> tuple[float, Array, Array]:
    """Compute half the squared errors and clearance deficits, the descent direction and JᵀJ of every knot."""
    knots = len(x)
    upright = np.tile([0.0, 0.0, 0.0, 1.0], (knots, 1))
    weights = np.tile(criterion.tasks.point_weight, (knots, 1))
    path = np.hstack([x[:, :3], upright, x[:, 3:]])
    equations = criterion.equations
    path_matrices(
        criterion.tree, criterion.tasks, weights, criterion.targets, path, criterion.work, equations
    )
    columns = np.concatenate([np.arange(3), np.arange(6, equations.vectors.shape[1])])
    gradient = equations.vectors[:, columns]
    blocks = equations.blocks[:, columns[:, None], columns]
    cost = float(equations.cost.sum())
    for knot in range(knots):
        jacobian, missing = clearance_rows(criterion.clearance, x[knot, 3:], _CLEARANCE)
        gradient[knot, 3:] += _CLEARANCE_WEIGHT**2 * jacobian.T @ missing
        blocks[knot, 3:, 3:] += _CLEARANCE_WEIGHT**2 * jacobian.T @ jacobian
        cost += _CLEARANCE_WEIGHT**2 * float(missing @ missing)
    return 0.5 * cost, gradient, blocks


def _follow_schedule(criterion: _Criterion, x: Array, box: tuple[Array, Array]) -> Array | None:
    """Go from a still posture to the motion while the cost of speeds falls; None if that does not settle."""
    step = np.zeros_like(x)
    reweighting = np.ones((len(x) - 1, x.shape[1]))
    for penalty in _VELOCITY_PENALTY_SCHEDULE:
        _, gradient, blocks = _evaluate(criterion, x)
        ratio = np.abs(np.diff(x, axis=0)) / (criterion.duration * criterion.speed * _QUADRATIC_SPEED_RANGE)
        # Half way to the new weight, in its logarithm: at the full weight fast and slow would alternate.
        reweighting = np.sqrt(reweighting * np.maximum(1.0, ratio**2))
        stiffness = penalty * reweighting / (criterion.duration * criterion.speed**2)
        step = _STEP_FRACTION * chain_step(x, gradient, blocks, stiffness, *box)
        x = np.clip(x + step.clip(-_MAX_STEP, _MAX_STEP), *box)
    return x if np.sqrt(np.mean(step[:, 3:] ** 2)) < _SETTLED else None


def _descend(criterion: _Criterion, x: Array, box: tuple[Array, Array]) -> Array:
    """Go from a still posture to the motion of least cost nearby.

    Every step ends inside the limits (`bounded_chain_step`): so it depends continuously on where it begins.
    """
    for _ in range(_CYCLES):
        damping = _FIRST_DAMPING
        for level in _LEVELS:
            rounds = _LAST_ROUNDS if level == _LEVELS[-1] else _LEVEL_ROUNDS
            x, damping = _reduce_cost(criterion, x, box, level, rounds, damping)
    return x


def _reduce_cost(
    criterion: _Criterion, x: Array, box: tuple[Array, Array], level: float, rounds: int, damping: float
) -> tuple[Array, float]:
    """Take at most so many steps that reduce the cost at a cost of speeds; return the damping, too."""
    found = _evaluate_motion(criterion, x, level)
    for _ in range(rounds):
        cost, gradient, blocks, stiffness = found
        damped = blocks + damping * np.eye(x.shape[1])
        near = np.maximum(box[0], x - _MAX_STEP), np.minimum(box[1], x + _MAX_STEP)
        step, _ = bounded_chain_step(x, gradient, damped, stiffness, None, near, pivotings=_PIVOTINGS)
        tried = _evaluate_motion(criterion, x + step, level)
        if tried[0] < cost:
            x, found = x + step, tried
            damping = max(_LESS * damping, _LEAST_DAMPING)
        else:
            damping *= _MORE
        if np.sqrt(np.mean(step[:, 3:] ** 2)) < _SOLVED:
            break
    return x, damping


def _evaluate_motion(criterion: _Criterion, x: Array, level: float) -> tuple[float, Array, Array, Array]:
    """Add half the cost of speeds, ρ Σ p Δt, to `_evaluate`, and the stiffness of neighbours by it."""
    cost, gradient, blocks = _evaluate(criterion, x)
    duration, speed = criterion.duration, criterion.speed
    ratio = (np.diff(x, axis=0) / (duration * speed)) ** 2
    corner = _QUADRATIC_SPEED_RANGE**2
    quartic = 0.5 * (ratio**2 / corner + corner)
    cost += 0.5 * level * float((duration * np.where(ratio < corner, ratio, quartic)).sum())
    return cost, gradient, blocks, level * np.maximum(1.0, ratio / corner) / (duration * speed**2)
