"""Feasible posture: the person's motion on the robot's joints, inside limits and at a robot's speeds."""

import numpy as np
from scipy.interpolate import make_interp_spline
from scipy.ndimage import convolve1d, maximum_filter1d

from simbench.kinematics.arrays import Array
from simbench.kinematics.path_matrix import make_path_equations, path_matrices
from simbench.kinematics.path_solver import chain_step
from simbench.kinematics.savgol import savgol_filter
from simbench.kinematics.task_matrix import Targets, make_workspace
from simbench.kinematics.tree import kinematic_tree
from simbench.motion.human_motion import HumanMotion
from simbench.retargeting.collision.clearance import BodyShapes, clearance_rows
from simbench.retargeting.collision.pair_distances import pair_workspace
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
_MORE_ROUNDS = 40
"""Most rounds after those of the schedule, for a robot whose arms have so little room beside its body that
its posture does not settle: links come near now here, now there."""
_SETTLED = 0.02
"""Root mean square of a full step, rad, below which a posture is settled."""
_HALF_STEP_ROUNDS = 6.0
"""Number of those rounds after which steps are half as long, and the clearance weighs twice as much."""


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
    square of their deficit. Projected Gauss-Newton with a block-tridiagonal system, reweighted for p. Where
    that does not settle, further rounds have shorter steps and a larger weight of the clearance.

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
    actor = imitation.actor
    model = actor.model
    workspace = pair_workspace(shapes.model, shapes.geometry)
    stride = max(1, round(motion.rate / _KNOT_RATE))
    samples = np.unique(np.append(np.arange(0, len(motion.time), stride), len(motion.time) - 1))
    time = motion.time[samples]
    columns = np.concatenate([np.arange(3), np.arange(6, model.nv)])
    low = np.concatenate([np.full(3, -np.inf), lower])
    high = np.concatenate([np.full(3, np.inf), upper])
    speed = np.concatenate([np.full(3, _BASE_SPEED), np.minimum(model.velocityLimit[6:], _FASTEST)])

    start = first_posture(actor, motion, WEIGHTS)
    x = np.tile(np.clip(np.concatenate([start[:3], start[7:]]), low, high), (len(samples), 1))
    x[:, :3] += imitation.q[samples, :3] - imitation.q[0, :3]
    tree, tasks = kinematic_tree(model), imitation_tasks(actor, WEIGHTS)
    targets = Targets(*(target[samples] for target in imitation_targets(actor, motion, WEIGHTS)))
    point_weights = np.tile(tasks.point_weight, (len(samples), 1))
    upright = np.tile([0.0, 0.0, 0.0, 1.0], (len(samples), 1))
    work = make_workspace(tree)
    equations = make_path_equations(len(samples), model.nv - 6)
    duration = np.diff(time)[:, None]
    reweighting = np.ones((len(samples) - 1, len(speed)))
    schedule = len(_VELOCITY_PENALTY_SCHEDULE)
    for number in range(schedule + _MORE_ROUNDS):
        penalty = _VELOCITY_PENALTY_SCHEDULE[min(number, schedule - 1)]
        insistence = 1.0 + max(number + 1 - schedule, 0) / _HALF_STEP_ROUNDS
        weight = insistence * _CLEARANCE_WEIGHT**2
        path = np.hstack([x[:, :3], upright, x[:, 3:]])
        path_matrices(tree, tasks, point_weights, targets, path, work, equations)
        gradient = equations.vectors[:, columns]
        blocks = equations.blocks[:, columns[:, None], columns]
        for knot in range(len(samples)):
            jacobian, missing = clearance_rows(workspace, x[knot, 3:], _CLEARANCE)
            gradient[knot, 3:] += weight * jacobian.T @ missing
            blocks[knot, 3:, 3:] += weight * jacobian.T @ jacobian
        ratio = np.abs(np.diff(x, axis=0)) / (duration * speed * _QUADRATIC_SPEED_RANGE)
        # Half way to the new weight, in its logarithm: at the full weight fast and slow would alternate.
        reweighting = np.sqrt(reweighting * np.maximum(1.0, ratio**2))
        stiffness = penalty * reweighting / (duration * speed**2)
        step = _STEP_FRACTION * chain_step(x, gradient, blocks, stiffness, low, high)
        x = np.clip(x + step.clip(-_MAX_STEP, _MAX_STEP) / insistence, low, high)
        if number + 1 >= schedule and np.sqrt(np.mean(step[:, 3:] ** 2)) < _SETTLED:
            break
    joints = make_interp_spline(time, x[:, 3:], k=min(3, len(time) - 1))(motion.time)
    return np.clip(joints, lower, upper)
