"""Transfer: joint positions of trunk and arms that bring the robot's palms to their targets."""

from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np
import pinocchio as pin
from numpy.typing import NDArray

from simbench.kinematics.arrays import Array
from simbench.kinematics.bounded_ik import PostureBounds, solve_damped_ik
from simbench.kinematics.derivatives import savgol_filter
from simbench.kinematics.least_squares import DampingRule, begin, is_running, judge_step
from simbench.kinematics.path_solver import bounded_chain_step, hold_between, interpolate_change, time_grids
from simbench.kinematics.rotation import ROTATION_WEIGHT
from simbench.kinematics.task_matrix import Targets, Tasks, make_workspace, path_matrices
from simbench.kinematics.tree import KinematicTree, frame_on_body, kinematic_tree
from simbench.retargeting.contact.hand_plan import HandPlan
from simbench.retargeting.imitate.problem import ImitationProblem, frame_costs
from simbench.robot.robot import Robot
from simbench.robot.robot_limbs import upper_body
from simbench.robot.sides import SIDES

# Weight of a metre beside the target against a radian beside the posture, rad/m.
_HAND = 1000.0
# Of that weight, for hands that hold nothing: they need not be anywhere exactly.
_LOOSE = 0.01
# Of that weight, for the rotation about a handle that leaves it free: the actor's, if all else allows.
_FREE_ROTATION_WEIGHT = 1e-3
# σ of the departure's velocity, rad: it changes over about this part of the time in which a joint at full
# speed covers a radian.
_VELOCITY_WEIGHT = 0.6
# β of the departure's acceleration, s rad: what its second derivative counts, as part of full speed in a
# second.
_ACCELERATION_WEIGHT = 0.12
# Of the palms' weight at the first step, and its growth a step: far targets are come to gradually.
_FIRST_WEIGHT, _GROWTH = 0.01, 3.0
_ROUNDS = 60
# The integral changes by a millionth of its value at the last step; also where it would rise by that much: to
# evaluate the whole path again would cost more than it could gain. There is no step that is too short, and no
# damping that is too large; the first is 1, the least a millionth.
_RULE = DampingRule(
    1.0, 1e-6, np.inf, step_tolerance=0.0, gain_tolerance=1e-6, loss_tolerance=1e-6, cost_tolerance=0.0
)
# First damping where the joints of a similar plan are known.
_SIMILAR_DAMPING = 1e-3
# Upper bound of inverse-kinematics steps a frame in `transfer_frames` (the paper takes one).
_FRAME_STEPS = 8
# What bones that are off the person's count, beside a radian beside the posture, and what of that is left
# where bones count.
_BONES, _POSTURE_BESIDE_BONES = 2.0, 0.1


class BoneAims(NamedTuple):
    """Directions for the bones of trunk and arms while palms are elsewhere than the posture has them."""

    # Body and targets at T samples; the joints that follow are those of the preferred path.
    problem: ImitationProblem
    # (N,): positions of all joints of the robot, rad, of which those that do not follow are used.
    joints: Array
    share: Array  # (T,): weight of the directions: 1 where they count, 0 where only the posture does.

    def at_samples(self, samples: NDArray[np.int64]) -> "BoneAims":
        """Keep some samples (K,)."""
        return BoneAims(self.problem.at_samples(samples), self.joints, self.share[samples])


class PreferredPath(NamedTuple):
    """Preferred joints along a motion, and where they may be."""

    time: Array  # (T,): time, s.
    posture: Array  # (T, n): preferred posture, rad.
    base: Array  # (T, 7): pose of the root link in the world: position (m), quaternion x y z w.
    lower: Array  # `lower`, `upper` (n,) or (T, n) array: joint limits, rad.
    upper: Array


def transfer_path(
    robot: Robot,
    path: PreferredPath,
    plan: HandPlan,
    start: Array | None = None,
    bones: BoneAims | None = None,
) -> Array:
    """Bring the palms of a robot with two arms to their targets (`follow_palms`), if any of them counts."""
    if not any(share.any() for share in plan.share.values()):
        return np.clip(path.posture, path.lower, path.upper)
    return follow_palms(upper_body(robot), robot.frames, path, plan, start, bones)


def follow_palms(
    model: pin.Model,
    frames: Mapping[str, str],
    path: PreferredPath,
    plan: HandPlan,
    start: Array | None = None,
    bones: BoneAims | None = None,
) -> Array:
    """Bring the palms to their targets, near the imitated posture (T, n), rad, all frames at once.

    With x the joints, d = x − posture their departure from it, and e the palms' errors, it solves

        min ∫ W² ‖e(x)‖² + ‖d‖² + σ² ‖ḋ / v_max‖² + β² ‖d̈ / v_max‖² dt,   lower ≤ x ≤ upper.

    In every frame that is the damped least squares with the posture in the null space of Tomić 2018
    (eq. 3.16); but its choice in the null space, and the way around a joint limit, are those of the whole
    motion: a departure begins before it is needed and is C1, where frame by frame a joint that meets its
    limit stops at once and the others jump. Nothing is smoothed afterwards, so nothing leaves its target.

    With `bones`, the directions u(x) of the bones are to be the person's, v, while hands hold: ‖d‖² becomes
    p Σ w ‖u(x) − v‖² + ε ‖d‖², p = 2 and ε = 0.1, w the weights of the imitation, 1/rad².

    Levenberg-Marquardt steps of a block-pentadiagonal system in a box (`bounded_chain_step`), first for a few
    samples a second and, from there on, for all of them (`time_grids`).

    For any model with a free-flyer root or a fixed one and one hand or two; `frames` gives the frame of each
    role, right_hand and so on. `start` (T, n) are the joints to begin with, those of a similar plan. Returns
    joint positions inside the limits, (T, n), rad.
    """
    time, posture, base, lower, upper = path
    # Palms as four points each: the centre, and one along the turn axis and two across it, which hold the
    # rotation about it.
    bodies, corners, firmness, places = [], [], [], []
    for side, target in plan.targets.items():
        body, rotation, centre = frame_on_body(model, model.getFrameId(frames[f"{side}_hand"]))
        axis = plan.turn_axes[side]
        along = np.array([1.0, 0.0, 0.0]) if axis is None else axis
        _, _, directions = np.linalg.svd(along[None])
        directions[0] = along
        offsets = np.vstack([np.zeros(3), ROTATION_WEIGHT * directions])
        firm = _HAND * _LOOSE ** (1.0 - plan.grip[side])
        hold = firm * (1.0 if axis is None else _FREE_ROTATION_WEIGHT ** plan.share[side])
        bodies += [body] * 4
        corners.append(offsets @ rotation.T + centre)
        firmness.append(np.stack([firm, firm, hold, hold], axis=1))
        places.append(np.einsum("tij,pj->tpi", target[:, :3, :3], offsets) + target[:, None, :3, 3])
    no_rotations = np.empty(0, dtype=np.int64), np.empty((0, 3, 3)), np.empty(0)
    tasks = Tasks(np.array(bodies), np.vstack(corners), np.empty(len(bodies)), *no_rotations)
    weights, points = np.hstack(firmness), np.ascontiguousarray(np.concatenate(places, axis=1))
    tree, speed = kinematic_tree(model), np.asarray(model.velocityLimit[-posture.shape[1] :])
    low, high = lower - posture, upper - posture
    departure = np.clip(np.zeros_like(posture) if start is None else start - posture, low, high)
    anew = start is None
    for samples in time_grids(time):
        parts = [each[samples] for each in (weights, points, time, base, posture, low, high, departure)]
        aims = None if bones is None else bones.at_samples(samples)
        found, on_limit = _minimise_integral(tree, tasks, speed, parts, aims, anew)
        change = interpolate_change(time, samples, found - departure[samples])
        held = hold_between(len(time), samples, on_limit)
        departure = np.clip(departure + change, low, high)
        departure = np.where(held < 0, low, np.where(held > 0, high, departure))
        anew = False
    return np.clip(posture + departure, lower, upper)


def _minimise_integral(
    tree: KinematicTree, tasks: Tasks, speed: Array, parts: Sequence[Array], aims: BoneAims | None, anew: bool
) -> tuple[Array, NDArray[np.int8]]:
    """Find the departure from the posture of least cost from a given one on, and what of it is on limits.

    `parts` are the palms' weights and points, time, base, posture, bounds of the departure, and where it
    begins.
    """
    weights, points, time, base, posture, low, high, departure = parts
    work = make_workspace(tree)
    count, size = len(departure), 6 + departure.shape[1]
    blocks, vectors, cost = np.empty((count, size, size)), np.empty((count, size)), np.empty(count)
    targets = Targets(points, np.empty((len(departure), 0, 3, 3)))
    # What first and second differences of the departure cost, (T - 1, n) and (T - 2, n); a frame's time is 1.
    period = (time[-1] - time[0]) / (len(time) - 1)
    stiffness = _VELOCITY_WEIGHT**2 / (np.diff(time)[:, None] * speed**2) / period
    bending = np.tile(_ACCELERATION_WEIGHT**2 / (period**4 * speed**2), (max(len(time) - 2, 0), 1))
    near = np.ones(len(time))
    if aims is not None:
        near -= (1.0 - _POSTURE_BESIDE_BONES) * aims.share
        share, columns = _BONES * aims.share, 7 + aims.problem.body.joints
        whole = np.tile(np.concatenate([np.empty(7), aims.joints]), (len(time), 1))

    def evaluate(d: Array, relaxed: float) -> float:
        q = np.hstack([base, posture + d])
        path_matrices(tree, tasks, relaxed * weights, targets, q, work, blocks, vectors, cost)
        if aims is not None:
            whole[:, :7], whole[:, columns] = base, posture + d
            costs = frame_costs(aims.problem, whole, slice(None))
            cost[:] += 2.0 * share * costs.cost
            vectors[:] -= share[:, None] * costs.gradient
            blocks[:] += share[:, None, None] * costs.hessian
        return float(
            cost.sum()
            + (near[:, None] * d**2).sum()
            + (stiffness * np.diff(d, axis=0) ** 2).sum()
            + (bending * np.diff(d, 2, axis=0) ** 2).sum()
        )

    # Far targets are approached gradually: the palms' weight grows with every accepted step, and until it is
    # whole no step is the last.
    relaxed, rule = (_FIRST_WEIGHT, _RULE) if anew else (1.0, _RULE._replace(first=_SIMILAR_DAMPING))
    growing = _RULE._replace(gain_tolerance=-1.0, loss_tolerance=-1.0)
    progress, on_limit = begin(rule, evaluate(departure, relaxed)), None
    diagonal = np.arange(departure.shape[1])
    while is_running(rule, progress, _ROUNDS):
        # Damped normal equations of the whole path inside the bounds.
        matrices = blocks[:, 6:, 6:].copy()
        matrices[:, diagonal, diagonal] += near[:, None] + progress.damping
        gradient = vectors[:, 6:] - near[:, None] * departure
        step, on_limit = bounded_chain_step(
            departure, gradient, matrices, stiffness, bending, (low, high), on_limit
        )
        moved = np.clip(departure + step, low, high)
        new_cost, now = evaluate(moved, relaxed), _RULE if relaxed == 1.0 else growing
        progress = judge_step(now, progress, new_cost, float(np.abs(step).max()))
        if progress.accepted:
            departure = moved
            if relaxed < 1.0:
                relaxed = min(1.0, _GROWTH * relaxed)
                progress = progress._replace(cost=evaluate(departure, relaxed))
        elif not progress.finished:
            evaluate(departure, relaxed)
    return departure, (departure >= high).astype(np.int8) - (departure <= low).astype(np.int8)


def transfer_frames(
    robot: Robot, path: PreferredPath, plan: HandPlan, smoothing: tuple[int, int] = (31, 5)
) -> Array:
    """Bring the palms to their targets frame by frame (Tomić 2018, §3.7), then smooth (Savitzky-Golay).

    `smoothing` is window, frames, and order of the filter. Returns positions inside the limits, (T, n), rad.
    """
    model = upper_body(robot)
    data, joints, current = model.createData(), np.empty_like(path.posture), path.posture[0]
    frames = {side: model.getFrameId(robot.frames[f"{side}_hand"]) for side in SIDES}
    for sample, preferred in enumerate(path.posture):
        targets = {frame: pin.SE3(plan.targets[side][sample]) for side, frame in frames.items()}
        bounds = PostureBounds(preferred, path.lower, path.upper)
        at = np.concatenate([path.base[sample], current])
        q = solve_damped_ik(model, data, at, targets, bounds, iterations=_FRAME_STEPS)
        joints[sample] = current = q[7:]
    longest, order = smoothing
    window = min(longest, len(joints) - 1 + len(joints) % 2)
    if window > order:
        joints = savgol_filter(joints, window, order)
    return np.clip(joints, path.lower, path.upper)
