"""Robot's posture inside its limits: the limited posture, joint curves rescaled or rounded, and plug-ins."""

from collections.abc import Callable, Sequence
from typing import Protocol

import numpy as np
from scipy.interpolate import make_interp_spline
from scipy.ndimage import convolve1d, maximum_filter1d

from simbench.errors import PluginError, RetargetError
from simbench.kinematics.arrays import Array
from simbench.kinematics.derivatives import savgol_filter
from simbench.kinematics.path_solver import bounded_chain_step, chain_step
from simbench.kinematics.task_matrix import Targets, make_workspace, path_matrices
from simbench.kinematics.tree import first_joint, kinematic_tree
from simbench.motion.human_motion import HumanMotion
from simbench.options import RETARGETING_METHODS, RetargetSection
from simbench.plugins.declarations import plugin_maker
from simbench.retargeting.collision.clearance import BodyShapes, PairWorkspace, clearance_rows
from simbench.retargeting.imitate.plan import imitate_upper_body
from simbench.retargeting.imitation.imitation import (
    Imitation,
    ImitationWeights,
    first_posture,
    imitation_targets,
    imitation_tasks,
)
from simbench.robot.robot import Robot

# Weights of the limited posture: the arm's shape first, the palm's direction last.
WEIGHTS = ImitationWeights(hand_orientation=0.3, hand=3.0, segment_orientation=0.3)

# Window, s, and polynomial order of the filter that smooths a posture.
_SMOOTHING_WINDOW, _SMOOTHING_ORDER = 0.31, 3
# Knots of the limited posture a second, Hz.
_KNOT_RATE = 50.0
# Cost of moving at a joint's speed limit, per second, by iteration: from a still posture to the motion.
_VELOCITY_PENALTY_SCHEDULE = (3.0, 1.0, 0.3, 0.1, *([0.08] * 10))
# Multiple of a joint's speed limit up to which the cost is quadratic: a faster joint slows down the whole
# motion, and costs its fourth power.
_QUADRATIC_SPEED_RANGE = 2.0
# Speed limit of a joint, rad/s, that counts at most: a joint without one, or with that of a motor far
# faster than a person's arm, would flip between equally poor solutions at no cost. Speed limit of the base's
# position, m/s.
_FASTEST, _BASE_SPEED = 10.0, 1.0
# Fraction of a full step that is taken, and the largest, rad: limits and clearances switch on and off, and
# full steps jump between them.
_STEP_FRACTION, _MAX_STEP = 0.6, 0.3
# Margin between the robot's own links, m, and the weight of a missing metre.
_CLEARANCE, _CLEARANCE_WEIGHT = 0.03, 30.0
# Root mean square of a full step, rad, below which a posture is settled; of a step at which a problem is
# solved.
_SETTLED, _SOLVED = 0.02, 3e-4
# Cost of moving at a joint's speed limit, per second, where the schedule does not settle, and how often these
# are gone through: a few stiff steps lead from a poor minimum to a better one.
_LEVELS, _CYCLES = (1.0, 0.3, 0.08), 2
# Most steps with each of these costs, and with the last one: what solves the problem for a larger cost
# leads into a worse minimum for the last.
_LEVEL_ROUNDS, _LAST_ROUNDS = 4, 100
# Levenberg-Marquardt damping, m²/rad², and factors on it after a step that reduced the cost, and after one
# that did not.
_FIRST_DAMPING, _LEAST_DAMPING = 1.0, 1e-4
_LESS, _MORE = 1.0 / 3.0, 4.0
# Most rounds in which a step's coordinates on limits are found; a dozen are enough.
_PIVOTINGS = 40
# Stiffness towards the calibrated posture in the search for the first one: a waist that turns the one way
# while the root turns the other changes nothing else.
_HOLD = 1e-3
# A piece of a joint curve that would be scaled by less loses an extremum at its end; one beside a piece that
# loses length is a wiggle, if it is shorter than this fraction of the loss.
_MIN_SCALE, _WIGGLE_FRACTION = 0.5, 0.25


class RetargeterPlugin(Protocol):
    """A plug-in of group `simbench.retargeters`: a section with keys that has this method."""

    def retarget(self, robot: Robot, motion: HumanMotion) -> Array:
        """Convert a recording.

        Parameters
        ----------
        robot : Robot
            The robot, n joints.
        motion : HumanMotion
            The recording, T samples, m, in the world: x forward, z up.

        Returns
        -------
        (T, n) array
            Positions of all joints at the samples, rad (m of a sliding joint), in the order of
            `robot.joint_names`. simbench takes those of trunk and arms, moves them inside the limits, and
            plans contact, collisions, balance and time as for its own methods.
        """


def position_limits(imitation: Imitation, settings: RetargetSection) -> tuple[Array, Array]:
    """Find the least and greatest positions (m,), rad, of trunk and arms, margin included."""
    model, margin = imitation.actor.model, settings.joint_limit_margin_rad
    lower, upper = np.asarray(model.lowerPositionLimit[7:]), np.asarray(model.upperPositionLimit[7:])
    return lower + margin, upper - margin


def preferred_posture(
    robot: Robot,
    motion: HumanMotion,
    imitation: Imitation,
    settings: RetargetSection,
    shapes: BodyShapes,
    limits: tuple[Array, Array] | None = None,
    *,
    holds: bool = False,
    lean: Array | None = None,
) -> Array:
    """Imitate a person with trunk and arms (T, m), rad, inside their limits, as if without equipment.

    Where hands hold something, `holds`, bones follow later, with the palms: the scaled model's posture is
    near enough, and takes a tenth of the time. The pelvis turns by `lean` (T, 3), rad, or not at all. The
    limits of position, rad, are those of `position_limits` by default; `shapes` are the robot's.
    """
    lower, upper = position_limits(imitation, settings) if limits is None else limits
    names = imitation.actor.model.names[first_joint(imitation.actor.model) :]
    if settings.method == "bones" and not holds:
        return imitate_upper_body(robot, motion, settings, names, lean)
    if settings.method == "arm_adaptation":
        # A paper's method, of which nothing else knows.
        from simbench.retargeting.arm_adaptation import adapted_posture

        return adapted_posture(robot, motion, margin=settings.joint_limit_margin_rad)
    if settings.method not in RETARGETING_METHODS:
        return plugged_posture(robot, motion, settings, names, (lower, upper))
    if settings.posture == "rescaled":
        return rescale_into_limits(motion.time, imitation.q[:, 7:], lower, upper)
    return limited_posture(imitation, motion, shapes, lower, upper)


def plugged_posture(
    robot: Robot,
    motion: HumanMotion,
    settings: RetargetSection,
    joints: Sequence[str],
    limits: tuple[Array, Array],
) -> Array:
    """Let a plug-in convert a recording: positions (T, m) of the joints that are wanted, inside the limits.

    Refuses what is no finite position for each joint and sample.
    """
    positions = np.asarray(plugin_maker("retargeters", settings.method, settings.options)(robot, motion))
    allowed = (len(motion.time), len(robot.joint_names))
    if positions.shape != allowed:
        raise PluginError(
            f"{settings.method}: joint positions of shape {positions.shape}; "
            f"allowed: {allowed}, samples and joints"
        )
    bad = np.argwhere(~np.isfinite(positions))
    if len(bad):
        sample, column = bad[0]
        raise PluginError(
            f"{settings.method}: position of {robot.joint_names[column]} is no finite number "
            f"at {motion.time[sample]:.4g} s"
        )
    return np.clip(positions[:, [robot.joint_names.index(name) for name in joints]], *limits)


def rounded_posture(time: Array, joints: Array, lower: Array, upper: Array) -> Array:
    """Smooth a posture (T, n), rad, where a joint comes to a limit or leaves it.

    A Savitzky-Golay filter; where that would pass a limit, a mean with positive weights, which does not.

    Free motion is not smoothed: its corners are fast motions of the person. Hands that go to equipment do not
    need them.
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
    imitation: Imitation, motion: HumanMotion, shapes: BodyShapes, lower: Array, upper: Array
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

    `imitation` is the unbounded motion (T, nq), `shapes` those of the robot at its real size.
    """
    stride = max(1, round(motion.rate / _KNOT_RATE))
    samples = np.unique(np.append(np.arange(0, len(motion.time), stride), len(motion.time) - 1))
    actor, time, count = imitation.actor, motion.time[samples], len(samples)
    tree, tasks = kinematic_tree(actor.model), imitation_tasks(actor, WEIGHTS)
    targets = Targets(*(target[samples] for target in imitation_targets(actor, motion, WEIGHTS)))
    near, work = PairWorkspace(shapes.model, shapes.geometry), make_workspace(tree)
    size = actor.model.nv
    matrices, vectors, costs = np.empty((count, size, size)), np.empty((count, size)), np.empty(count)
    duration = np.diff(time)[:, None]
    speed = np.concatenate([np.full(3, _BASE_SPEED), np.minimum(actor.model.velocityLimit[6:], _FASTEST)])
    box = np.concatenate([np.full(3, -np.inf), lower]), np.concatenate([np.full(3, np.inf), upper])
    # Base position and joints: the root is upright.
    columns = np.concatenate([np.arange(3), np.arange(6, vectors.shape[1])])

    def evaluate(x: Array) -> tuple[float, Array, Array]:
        """Compute half the squared errors and clearance deficits, the descent direction and JᵀJ of knots."""
        weights = np.tile(tasks.point_weight, (count, 1))
        path = np.hstack([x[:, :3], np.tile([0.0, 0.0, 0.0, 1.0], (count, 1)), x[:, 3:]])
        path_matrices(tree, tasks, weights, targets, path, work, matrices, vectors, costs)
        gradient = vectors[:, columns]
        blocks = matrices[:, columns[:, None], columns]
        cost = float(costs.sum())
        for knot in range(count):
            jacobian, missing = clearance_rows(near, x[knot, 3:], _CLEARANCE)
            gradient[knot, 3:] += _CLEARANCE_WEIGHT**2 * jacobian.T @ missing
            blocks[knot, 3:, 3:] += _CLEARANCE_WEIGHT**2 * jacobian.T @ jacobian
            cost += _CLEARANCE_WEIGHT**2 * float(missing @ missing)
        return 0.5 * cost, gradient, blocks

    def still(hold: float) -> Array:
        """Posture of the first frame, moved along with the imitation's root: x (K, 3 + n)."""
        start = first_posture(actor, motion, WEIGHTS, hold=hold)
        x = np.tile(np.clip(np.concatenate([start[:3], start[7:]]), *box), (count, 1))
        x[:, :3] += imitation.q[samples, :3] - imitation.q[0, :3]
        return x

    x = step = still(0.0)
    reweighting = np.ones((count - 1, x.shape[1]))
    for penalty in _VELOCITY_PENALTY_SCHEDULE:
        _, gradient, blocks = evaluate(x)
        ratio = np.abs(np.diff(x, axis=0)) / (duration * speed * _QUADRATIC_SPEED_RANGE)
        # Half way to the new weight, in its logarithm: at the full weight fast and slow would alternate.
        reweighting = np.sqrt(reweighting * np.maximum(1.0, ratio**2))
        stiffness = penalty * reweighting / (duration * speed**2)
        step = _STEP_FRACTION * chain_step(x, gradient, blocks, stiffness, *box)
        x = np.clip(x + step.clip(-_MAX_STEP, _MAX_STEP), *box)
    if not np.sqrt(np.mean(step[:, 3:] ** 2)) < _SETTLED:
        x = _descend(evaluate, still(_HOLD), duration, speed, box)
    joints = make_interp_spline(time, x[:, 3:], k=min(3, len(time) - 1))(motion.time)
    return np.clip(joints, lower, upper)


def _descend(
    evaluate: Callable[[Array], tuple[float, Array, Array]],
    x: Array,
    duration: Array,
    speed: Array,
    box: tuple[Array, Array],
) -> Array:
    """Go from a still posture x (K, 3 + n) to the motion of least cost nearby, by steps that reduce it.

    Every step ends inside the limits (`bounded_chain_step`): so it depends continuously on where it begins.
    """

    def add_speeds(x: Array, level: float) -> tuple[float, Array, Array, Array]:
        """Add half the cost of speeds, ρ Σ p Δt, and the stiffness of neighbours by it."""
        cost, gradient, blocks = evaluate(x)
        ratio, corner = (np.diff(x, axis=0) / (duration * speed)) ** 2, _QUADRATIC_SPEED_RANGE**2
        quartic = 0.5 * (ratio**2 / corner + corner)
        cost += 0.5 * level * float((duration * np.where(ratio < corner, ratio, quartic)).sum())
        return cost, gradient, blocks, level * np.maximum(1.0, ratio / corner) / (duration * speed**2)

    damping = _FIRST_DAMPING
    for level in _LEVELS * _CYCLES:
        if level == _LEVELS[0]:
            damping = _FIRST_DAMPING
        found = add_speeds(x, level)
        for _ in range(_LAST_ROUNDS if level == _LEVELS[-1] else _LEVEL_ROUNDS):
            cost, gradient, blocks, stiffness = found
            damped = blocks + damping * np.eye(x.shape[1])
            near = np.maximum(box[0], x - _MAX_STEP), np.minimum(box[1], x + _MAX_STEP)
            step, _ = bounded_chain_step(x, gradient, damped, stiffness, None, near, pivotings=_PIVOTINGS)
            tried = add_speeds(x + step, level)
            if tried[0] < cost:
                x, found = x + step, tried
                damping = max(_LESS * damping, _LEAST_DAMPING)
            else:
                damping *= _MORE
            if np.sqrt(np.mean(step[:, 3:] ** 2)) < _SOLVED:
                break
    return x


def rescale_into_limits(time: Array, joints: Array, lower: Array, upper: Array) -> Array:
    """Bring joint curves (T, n), rad, inside their limits, with their extrema where they were.

    Local scaling, not clipping: between two neighbouring extrema a curve is mapped linearly such that extrema
    outside come to lie on the limit and those inside stay (Pollard et al. 2002; Safonova, Pollard & Hodgins
    2003; Tomić 2018, sec. 3.7.2). The velocity at extrema is zero, so the pieces join smoothly. Every piece
    is scaled by a positive factor of at most 1: rising pieces still rise, falling ones still fall, and from
    sample to sample neither the speed nor its change is greater than before. Only the pieces on both sides of
    an excursion change. A curve that nowhere comes far enough inside moves there as a whole, half as wide or
    filling the joint's range. A joint that cannot move stands still. A limit is infinite where there is none.
    """
    bad = np.argwhere(~np.isfinite(joints))
    if bad.size:
        sample, joint = bad[0]
        raise RetargetError(
            f"joint {joint} is {joints[sample, joint]} at {time[sample]:.3f} s; every angle must be finite"
        )
    crossed = np.flatnonzero(~(lower <= upper))
    if crossed.size:
        joint = crossed[0]
        raise RetargetError(
            f"joint {joint} has limits {lower[joint]} to {upper[joint]} rad; "
            "the lower must not be above the upper"
        )
    inside = joints.copy()
    for joint in np.flatnonzero(((joints < lower) | (joints > upper)).any(axis=0)):
        curve, low, high = joints[:, joint], float(lower[joint]), float(upper[joint])
        steps = np.diff(curve)
        moving = np.flatnonzero(steps)
        # Samples at which the curve begins, has an extremum, and ends; on a plateau the last.
        turning = moving[1:][(steps[moving[1:]] > 0) != (steps[moving[:-1]] > 0)]
        at = np.concatenate([[0], turning, [len(curve) - 1]]).astype(np.intp)
        at = at[_remove_wiggles(curve[at].tolist(), low, high)]
        knots = curve[at]
        targets, spans = np.clip(knots, low, high), np.diff(knots)
        if len(knots) == 2 and _lost(knots[0], knots[1], low, high) > (1.0 - _MIN_SCALE) * abs(spans[0]):
            # Mostly outside on one side: the lowest and the highest value move inside.
            span = min(_MIN_SCALE * float(np.ptp(knots)), high - low)
            if knots.max() > high:
                targets = np.where(knots == knots.max(), high, high - span)
            else:
                targets = np.where(knots == knots.min(), low, low + span)
        scales = np.divide(np.diff(targets), spans, out=np.zeros_like(spans), where=spans != 0.0)
        # Samples before the first and after the last of them belong to the piece beside them.
        piece = np.searchsorted(at[1:-1], np.arange(len(curve)), side="right")
        same = (targets == knots)[:-1] & (targets == knots)[1:]
        scaled = targets[piece] + (curve - knots[piece]) * scales[piece]
        # Rounding may miss a limit by a last digit.
        inside[:, joint] = np.where(same[piece], curve, np.clip(scaled, low, high))
    return inside


def _remove_wiggles(heights: list[float], lower: float, upper: float) -> list[int]:
    """Choose the extrema that stay, at least two: their indices in `heights`.

    Noise has extrema of its own: a piece between one of them and a far higher extremum would be squeezed
    flat, or get a corner where the person's motion has none. Such wiggles are removed, and the next true
    extremum takes their place, as in the rainflow counting of load cycles (Matsuishi & Endo 1968). Two
    neighbours are removed together, if the piece between them is no longer than the pieces before and after
    it: the three become one, which spans all their values. At an end the outermost is removed alone.
    """

    def length(piece: int) -> float:
        return abs(heights[piece + 1] - heights[piece])

    kept, piece = list(range(len(heights))), 0
    while len(kept) > 2 and piece < len(kept) - 1:
        lost, wiggle = _lost(heights[piece], heights[piece + 1], lower, upper), piece
        while lost > 0.0:
            # To ever shorter neighbours until none is shorter.
            shortest = min((k for k in (wiggle - 1, wiggle + 1) if 0 <= k < len(kept) - 1), key=length)
            if length(shortest) >= length(wiggle):
                break
            wiggle = shortest
        if lost <= (1.0 - _MIN_SCALE) * length(piece) and length(wiggle) >= _WIGGLE_FRACTION * lost:
            piece += 1
            continue
        last = len(kept) - 2
        removed = slice(wiggle + (wiggle == last), wiggle + 1 + (wiggle > 0))
        del heights[removed], kept[removed]
        piece = max(0, min(piece, wiggle - 1) - 1)
    return kept


def _lost(first: float, second: float, lower: float, upper: float) -> float:
    """Length that limits take from the piece between two extrema; 0 if it then fills the range."""
    low, high = min(first, second), max(first, second)
    if low <= lower and high >= upper:
        return 0.0
    return max(0.0, min(lower, high) - low) + max(0.0, high - max(upper, low))
