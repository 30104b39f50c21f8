"""All frames of a clip as one problem: a banded Gauss-Newton method inside the limits of the joints.

Barriers keep links clear of each other and of the floor, by their convex collision shapes.
"""

from collections.abc import Callable, Sequence
from typing import NamedTuple, TypeAlias

import numpy as np
import pinocchio as pin
from numpy.typing import NDArray
from scipy.linalg import cho_solve_banded, cholesky_banded

from simbench.kinematics.arrays import Array
from simbench.kinematics.tree import ancestors, first_joint
from simbench.retargeting.collision import clearance
from simbench.retargeting.imitate.problem import (
    FrameCosts,
    ImitationProblem,
    frame_costs,
    increments,
    step_from,
)
from simbench.retargeting.match.body import MatchedBody, Placed, derive_points, place_points

# Distance that links keep from each other and from the floor, m.
CLEARANCE = 0.005
# Distance beyond the margin up to which a pair is linearised, m.
_REACH = 0.02


class BarrierRows(NamedTuple):
    """K pairs that are near, linearised: the distance changes by `jacobian` · (step of the configuration)."""

    frames: NDArray[np.int64]  # (K,) int.
    # (K,): how far from that frame to the next one the configuration is, 0 to 1: what is fast passes through
    # something thin between two frames. Below 0 and above 1 it is where the motion would go on.
    share: Array
    jacobian: Array  # (K, nv): derivative of the distance, m per unit of the step.
    # (K,): how much the distance is below the margin, m; negative for a pair that is farther apart.
    missing: Array


class Barriers:
    """Shapes of a robot, its own pairs, and, with a floor, each link but the feet with it.

    `workspace`: shapes and pairs, the last of them with the floor; `carrier` (G,) int: body of the tree that
    carries each shape; `moves` (G, m): 1 where a joint that follows moves a shape; `centre` (G, 3): centre of
    each shape's bounding sphere on that body, m; `on_floor` (K,) bool: pairs whose second shape is the floor;
    `seen`: of C configurations of the last call, least distances (C, K), m, vectors between the centres of
    both shapes (C, K, 3), m, and rotations of the bodies (C, n + 1, 3, 3).
    """

    def __init__(self, body: MatchedBody, *, floor: bool = True) -> None:
        robot = body.robot
        geometry = clearance.convex_shapes(robot)
        clearance.add_self_pairs(robot, geometry)
        own = len(geometry.collisionPairs)
        knees = [
            robot.model.getJointId(robot.joint_names[body.flexion[leg][0]])
            for leg in ("left_leg", "right_leg")
            if leg in body.flexion
        ]
        # Soles have targets of their own, and what is between knee and sole is above them.
        feet = {joint for knee in knees for joint in robot.model.subtrees[knee].tolist() if joint != knee}
        below = pin.coal.Halfspace(np.array([0.0, 0.0, 1.0]), 0.0)
        plane = pin.GeometryObject("floor_0", 0, pin.SE3.Identity(), below)
        shapes = len(geometry.geometryObjects)
        ground = geometry.addGeometryObject(plane)
        for shape in range(shapes if floor else 0):
            if geometry.geometryObjects[shape].parentJoint not in feet:
                geometry.addCollisionPair(pin.CollisionPair(shape, ground))
        self.body, self.workspace = body, clearance.PairWorkspace(robot.model, geometry)
        first = first_joint(robot.model)
        carrier, centre = [], []
        for number, (shape, middle) in enumerate(
            zip(geometry.geometryObjects, self.workspace.centers, strict=True)
        ):
            carrier.append(max(0, shape.parentJoint - first + 1))
            centre.append(shape.placement.act(middle) if number != ground else np.zeros(3))
        self.carrier, self.centre = np.array(carrier), np.array(centre)
        self.moves = ancestors(body.tree)[:, body.joints][carrier]
        self.on_floor = np.arange(len(geometry.collisionPairs)) >= own
        self.seen: tuple[Array, Array, Array] | None = None

    def rows(
        self,
        q: Array,
        margin: float = CLEARANCE,
        between: Sequence[float] = (0.5,),
        ahead: int = 0,
        given: int = 0,
    ) -> BarrierRows:
        """Linearise the pairs that are not much farther apart than a margin, m, at T frames and between them.

        `q` (T, 7 + n): configurations; `margin`: distance to keep, m; `between`: parts of the way from each
        frame to the next one at which they are looked at too; `ahead`: frames before the first and after the
        last one that would follow at the speeds there: who has to stop needs room for it; `given`: frames at
        the beginning that are not looked at, because they stay as they are. Returns pairs up to 2 cm farther
        apart than the margin.

        With witness points p_a, p_b and the normal n from a to b, the distance changes by n · (J_b − J_a) δ.
        """
        count = len(q)
        halfway = [(1.0 - share) * q[:-1] + share * q[1:] for share in between]
        outside = np.arange(1, 1 + (ahead if count > 1 else 0))
        shares = np.repeat([0.0, *between], [count - given, *[count - 1] * len(between)])
        shares = np.concatenate([shares, -outside, 1 + outside])
        numbers = np.concatenate([np.arange(given, count), np.tile(np.arange(count - 1), len(between))])
        numbers = np.concatenate([numbers, 0 * outside, 0 * outside + count - 2])
        beyond = [
            q[end] + outside[:, None] * (q[end] - q[next_to])
            for end, next_to in ((0, 1), (-1, -2))
            if len(outside)
        ]
        q = np.vstack([q[given:], *halfway, *beyond])
        q[:, 3:7] /= np.linalg.norm(q[:, 3:7], axis=1, keepdims=True)
        body, workspace = self.body, self.workspace
        placed = place_points(body, q)
        middles = (
            placed.position[:, self.carrier]
            + (placed.rotation[:, self.carrier] @ self.centre[:, :, None])[..., 0]
        )
        first, second = workspace.first, workspace.second
        vector = middles[:, second] - middles[:, first]
        vector[:, self.on_floor] = middles[:, first[self.on_floor]] * [0.0, 0.0, -1.0]
        radius = np.where(self.on_floor, 0.0, workspace.radii[second])
        distance = np.sqrt(np.einsum("tki,tki->tk", vector, vector)) - workspace.radii[first] - radius
        distance[:, self.on_floor] = -vector[:, self.on_floor, 2] - workspace.radii[first[self.on_floor]]
        if self.seen is not None and len(self.seen[0]) == len(q):
            # A shape that turned by ΔR moved its points by ‖ΔR‖ r / √2 at most against its centre.
            before, vectors, rotations = self.seen
            turned = np.linalg.norm(placed.rotation - rotations, axis=(2, 3))[:, self.carrier] / np.sqrt(2.0)
            moved = np.sqrt(np.einsum("tki,tki->tk", vector - vectors, vector - vectors))
            moved += turned[:, first] * workspace.radii[first] + turned[:, second] * radius
            distance = np.maximum(distance, before - moved)
        looked_at = distance < margin + _REACH
        near: list[tuple[int, int]] = []
        found: list[Array] = []
        for frame in np.flatnonzero(looked_at.any(axis=1)).tolist():
            pin.updateGeometryPlacements(
                workspace.model, workspace.data, workspace.geometry, workspace.placed, q[frame]
            )
            for pair in np.flatnonzero(looked_at[frame]).tolist():
                distance[frame, pair] = clearance.pair_distance(workspace, pair)
                if distance[frame, pair] < margin + _REACH:
                    result = workspace.results[pair]
                    near.append((frame, pair))
                    witness = result.normal, result.getNearestPoint1(), result.getNearestPoint2()
                    found.append(np.array(witness))
        self.seen = distance, vector, placed.rotation
        nv = 6 + len(body.joints)
        if not near:
            return BarrierRows(np.empty(0, dtype=np.int64), np.empty(0), np.empty((0, nv)), np.empty(0))
        at, pairs = np.array(near).T
        normals, *points = np.moveaxis(np.array(found), 1, 0)
        shapes = np.stack([first[pairs], second[pairs]], axis=1)
        there = Placed(placed.rotation[at], placed.position[at], np.stack(points, axis=1))
        everywhere = np.ones((2, len(body.joints)))
        jacobian = derive_points(body.tree, body.joints, everywhere, there)
        jacobian[..., 6:] *= self.moves[shapes][:, :, None]
        # The floor stays.
        jacobian[self.on_floor[pairs], 1] = 0.0
        rows = np.einsum("ki,kin->kn", normals, jacobian[:, 1] - jacobian[:, 0])
        return BarrierRows(numbers[at], shares[at], rows, margin - distance[at, pairs])


# τ of the cost ½ ‖τ³ d³q/dt³‖² of each frame, s: motion below 5 Hz is left as it is.
TIME_CONSTANT = 0.02
# Weight of the squared displacement of a standing heel or toe from frame to frame, 1/m².
_SLIDE_WEIGHT = 1e5
# Time from rest to full speed, s: no data sheet gives the accelerations of a humanoid's joints.
_SHORTEST_START = 0.05
# Coefficients of the differences of samples, by order.
_DIFFERENCES = {1: (-1.0, 1.0), 2: (1.0, -2.0, 1.0), 3: (-1.0, 3.0, -3.0, 1.0)}
# Translation of the root that counts as much as a turn by 1 rad, m.
_ROOT_LENGTH = 0.3
# Weight that keeps a coordinate where it is.
_HOLD = 1e8
# Weight of the squared excess of a step between samples over a limit, 1/rad².
_EXCESS_WEIGHT = 1e3
# Weight of the squared distance by which links are too near, 1/m².
_BARRIER_WEIGHT = 3e4
# Largest change of a coordinate in an iteration, rad or m.
_LONGEST_STEP = 0.4
# Step, rad or m, and relative decrease of the cost below which the iteration ends.
_CONVERGED, _IMPROVED = 2e-4, 5e-4
# Distance from a limit that rounding makes, rad or m.
_PASSED = 1e-9
# Most halvings of a step, and most changes of the set of barriers that act in an iteration.
_HALVINGS, _ACTIVE_SETS = 3, 4
# Least and most Levenberg damping; it grows where a whole step does not lower the cost. With less than the
# first, arms that are nearly straight twist by what the last digit of a posture decides.
_DAMPING, _MOST_DAMPING = 1e-3, 10.0

# Linearises the links that are near each other in configurations (T, 7 + n).
FindBarriers = Callable[[Array], BarrierRows]
_NOTHING_NEAR = BarrierRows(np.empty(0, dtype=np.int64), np.empty(0), np.empty((0, 1)), np.empty(0))


# Order of differences between samples, and weights and residuals (T - order, nv): they cost ½ Σ w r².
_Difference: TypeAlias = tuple[int, Array, Array]
# A motion q with what costs: frames; displacements of heels and toes that stand in two frames, by weights
# (T - 1, F, 2), 1/m²; differences between samples; links that are near.
_Parts: TypeAlias = tuple[Array, FrameCosts, Array, list[_Difference], BarrierRows]


def solve_clip(
    problem: ImitationProblem,
    q: Array,
    frames: slice,
    *,
    fixed: NDArray[np.bool_] | None = None,
    rounds: int = 30,
    least_damping: float = _DAMPING,
    barriers: FindBarriers | None = None,
) -> Array:
    """Find the motion of least cost in all frames together.

    ½ Σ (costs of the frames) + ½ Σ ‖τ³ Δ³q/Δt³‖² + ½ w Σ ‖displacement of standing heels and toes‖², with
    squared penalties of speeds and accelerations over their limits and of links that are too near, inside the
    joint limits. Each iteration solves the linearised problem by a banded Cholesky factorisation; coordinates
    at a limit that the cost pushes out are held there. `problem`: body and targets; `q` (T, 7 + n): first
    guess; `frames`: the T frames of the targets; `fixed` (T,) bool: frames that stay as they are; `rounds`:
    largest number of iterations; `least_damping`: levenberg damping of the first iteration, below which it
    does not go. Returns (T, 7 + n).
    """
    fixed = np.zeros(len(q), dtype=bool) if fixed is None else fixed
    moving = np.ix_(~fixed, 7 + problem.body.joints)

    def evaluate(q: Array) -> tuple[float, _Parts]:
        """Bring a motion inside the limits; evaluate all its costs, with what their derivatives need."""
        q[moving] = np.clip(q[moving], problem.lower, problem.upper)
        count, nv = len(q), problem.nv
        costs, near = frame_costs(problem, q, frames), _NOTHING_NEAR if barriers is None else barriers(q)
        contact = problem.targets.contact[frames]
        stays = (contact[1:] & contact[:-1]).astype(float) * _SLIDE_WEIGHT
        differences: list[_Difference] = []
        if count > 1:
            time = problem.targets.time[frames]
            interval = (time[-1] - time[0]) / (count - 1)
            steps = increments(problem, q)
            if count > 3:
                weight = np.full(nv, (TIME_CONSTANT / interval) ** 6)
                weight[:3] /= _ROOT_LENGTH**2
                jerk = np.diff(steps, n=2, axis=0)
                differences.append((3, np.broadcast_to(weight, jerk.shape), jerk))
            acceleration = problem.speed / _SHORTEST_START
            for order, limit in ((1, problem.speed * interval), (2, acceleration * interval**2)):
                if count > order:
                    difference = np.diff(steps, n=order - 1, axis=0)
                    excess = difference - np.clip(difference, -limit, limit)
                    if excess.any():
                        differences.append((order, _EXCESS_WEIGHT * (excess != 0.0), excess))
        value = float(costs.cost.sum())
        value += 0.5 * _BARRIER_WEIGHT * float((np.maximum(near.missing, 0.0) ** 2).sum())
        value += 0.5 * float((stays[..., None] * np.diff(costs.feet, axis=0) ** 2).sum())
        value += sum(0.5 * float((weight * residual**2).sum()) for _, weight, residual in differences)
        return value, (q, costs, stays, differences, near)

    (value, now), damping = evaluate(q.copy()), least_damping
    for _ in range(rounds):
        step = _find_step(problem, fixed, damping, *now)
        largest = float(np.abs(step).max())
        step *= np.minimum(1.0, _LONGEST_STEP / np.maximum(np.abs(step).max(axis=1, keepdims=True), 1e-12))
        fraction = 1.0
        tried, trial = evaluate(step_from(problem, now[0], step))
        while tried >= value and fraction > 0.5**_HALVINGS:
            fraction *= 0.5
            tried, trial = evaluate(step_from(problem, now[0], fraction * step))
        if tried >= value:
            if damping > _MOST_DAMPING:
                break
            damping *= 100.0
            continue
        damping = max(least_damping, 0.3 * damping) if fraction == 1.0 else 10.0 * damping
        before, value, now = value, tried, trial
        if fraction * largest < _CONVERGED or before - value < _IMPROVED * before:
            break
    return now[0]


def _find_step(
    problem: ImitationProblem,
    fixed: NDArray[np.bool_],
    damping: float,
    q: Array,
    costs: FrameCosts,
    stays: Array,
    differences: Sequence[_Difference],
    near: BarrierRows,
) -> Array:
    """Solve the linearised problem for the step (T, nv) of all coordinates.

    The normal equations are banded: entry (i, j) of the lower triangle stands in `band[i - j, j]`. Which
    barriers act is found by solving again with those that the last step would pass.
    """
    count, nv = costs.gradient.shape
    start = nv * np.arange(count)
    row, column = np.divmod(np.arange(nv * nv), nv)

    # The Gauss-Newton matrix but for barriers: blocks of the frames, gradient, and bands beside the blocks.
    hessian, gradient = costs.hessian.copy(), costs.gradient.copy()
    width = min(3 * nv, count * nv - 1)
    band = np.zeros((width + 1, count * nv))
    if count > 1:
        feet = costs.foot_jacobian.reshape(count, -1, nv)
        weight = np.repeat(stays.reshape(count - 1, -1), 2, axis=1)
        slide = weight * np.diff(costs.feet.reshape(count, -1), axis=0)
        later, earlier = feet[1:].transpose(0, 2, 1), feet[:-1].transpose(0, 2, 1)
        gradient[1:] += (later @ slide[..., None])[..., 0]
        gradient[:-1] -= (earlier @ slide[..., None])[..., 0]
        hessian[1:] += later @ (weight[..., None] * feet[1:])
        weighted = weight[..., None] * feet[:-1]
        hessian[:-1] += earlier @ weighted
        beside = -(later @ weighted).reshape(count - 1, -1)
        band[(nv + row - column)[:, None], column[:, None] + start[:-1]] = beside.T
    bands = band.reshape(width + 1, count, nv)
    for order, weight, residual in differences:
        factors = _DIFFERENCES[order]
        for k, factor in enumerate(factors):
            gradient[k : count - order + k] += factor * weight * residual
            for j in range(k, order + 1):
                bands[(j - k) * nv, k : count - order + k] += factor * factors[j] * weight

    lower_row, lower_column = row[row >= column], column[row >= column]
    # Frames at the beginning that stay are no unknowns.
    begin = nv * int(np.argmin(fixed))
    following = np.minimum(near.frames + 1, count - 1)
    joints = q[:, 7 + problem.body.joints]
    at_lower, at_upper = joints <= problem.lower + _PASSED, joints >= problem.upper - _PASSED
    active = near.missing > 0.0
    pinned, goal = np.zeros((count, nv), dtype=bool), np.zeros((count, nv))
    for _ in range(_ACTIVE_SETS):
        matrix, slope, solved = hessian.copy(), gradient.copy(), band.copy()
        if active.any():
            rows, at, after = near.jacobian[active], near.frames[active], following[active]
            share = near.share[active, None]
            push = _BARRIER_WEIGHT * near.missing[active, None] * rows
            square = _BARRIER_WEIGHT * rows[:, :, None] * rows[:, None, :]
            shared = np.zeros_like(matrix)
            for frame, part in ((at, 1.0 - share), (after, share)):
                _add_by_frame(slope, frame, -part * push)
                _add_by_frame(matrix, frame, part[..., None] ** 2 * square)
            if count > 1:
                _add_by_frame(shared, at, (share * (1.0 - share))[..., None] * square)
                blocks = shared[:-1].reshape(count - 1, -1).T
                solved[(nv + row - column)[:, None], column[:, None] + start[:-1]] += blocks
        held = np.zeros((count, nv), dtype=bool)
        held[:, 6:] = (at_lower & (slope[:, 6:] > 0.0)) | (at_upper & (slope[:, 6:] < 0.0))
        held |= pinned
        held[fixed] = True
        held[:, :6] |= not problem.root_moves
        solved[(lower_row - lower_column)[:, None], lower_column[:, None] + start] += matrix[
            :, lower_row, lower_column
        ].T
        solved[0] += damping + _HOLD * held.ravel()
        right = np.where(held, _HOLD * goal, -slope).ravel()
        solved = solved[: len(right) - begin, begin:]
        factor = cholesky_banded(solved, overwrite_ab=True, lower=True, check_finite=False)
        found = cho_solve_banded((factor, True), right[begin:], overwrite_b=True, check_finite=False)
        step = np.concatenate([np.zeros(begin), found]).reshape(count, nv)
        # What would pass a limit goes up to it, and the other joints make up for the rest.
        reached = joints + step[:, 6:]
        room = np.clip(reached, problem.lower, problem.upper)
        beyond = np.zeros_like(pinned)
        beyond[:, 6:] = (np.abs(reached - room) > _PASSED) & ~held[:, 6:]
        goal[:, 6:] = np.where(beyond[:, 6:], room - joints, goal[:, 6:])
        pinned |= beyond
        # A barrier acts if it would be passed with this step; one that would pull does not.
        if len(near.frames):
            share = near.share[:, None]
            moved = (1.0 - share) * step[near.frames] + share * step[following]
            passed = near.missing - (near.jacobian * moved).sum(axis=1) > 0.0
            if (passed == active).all() and not beyond.any():
                break
            active = passed
        elif not beyond.any():
            break
    return step


def _add_by_frame(total: Array, frames: NDArray[np.int64], values: Array) -> None:
    """Add values (K, ...) to the frames of a total (T, ...), those of the same frame together."""
    order = np.argsort(frames, kind="stable")
    of_frame = frames[order]
    first = np.flatnonzero(np.diff(of_frame, prepend=-1))
    total[of_frame[first]] += np.add.reduceat(values[order], first, axis=0)
