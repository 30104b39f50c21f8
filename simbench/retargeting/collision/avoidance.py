"""Collision avoidance: the smallest smooth change of a joint path that keeps clear, with held palms fixed."""

from collections.abc import Mapping, Sequence
from types import MappingProxyType

import numpy as np
import pinocchio as pin
from numpy.typing import NDArray
from scipy.interpolate import BSpline
from scipy.linalg import solve, solveh_banded

from simbench.kinematics.arrays import Array
from simbench.kinematics.bounded_ik import PostureBounds, solve_damped_ik
from simbench.kinematics.obstacles import Obstacle
from simbench.retargeting.collision.clearance import (
    AT_ORIGIN,
    BodyShapes,
    ClearanceScene,
    PairWorkspace,
    clearance_rows,
)

# Squared weight of a radian away from the path, against a missing metre of clearance.
_PATH_WEIGHT = 1e-6
# Time constant τ of the displacement, s: its second derivative counts τ² times as much as itself.
_SMOOTHING_TIME = 0.1
# Time before and after a penetration of the margin in which the path may change, s.
_NEIGHBOURHOOD = 0.4
# Squared weight of a metre or radian of a held palm's error, against a missing metre of clearance.
_PALM_WEIGHT = 1e4
# Most Gauss-Newton rounds, and how many of them take their whole step; then steps shrink as 1 / round.
_MAX_ROUNDS, _FULL_STEP_ROUNDS = 60, 10
# Distance beyond the margin, m, within which a pair is part of the problem: a step may bring it too near.
_ACTIVATION_DISTANCE = 0.01
# Fraction of a full step that is taken, and the largest, rad: nearest points go from face to face of a shape,
# and full steps jump with them.
_STEP_FRACTION, _MAX_STEP = 0.6, 0.2
# Largest step, rad, after which the iteration ends: in any case, and when just the margin is kept.
_CONVERGED, _NEARLY_CONVERGED = 1e-5, 1e-3
# Integral action on the margin: fraction of the deficit that a round adds to the margin aimed at, the largest
# deficit that counts for it, and the most that is added in all, m.
_MARGIN_GAIN, _MAX_MARGIN_UPDATE, _MAX_EXTRA_MARGIN = 0.3, 1e-3, 0.01
# Distance aimed at beyond the margin, m, so that what the iteration leaves does not violate it.
_SPARE_MARGIN = 5e-4
# Distance kept from joint limits, rad, so that a step that passes it is still inside them.
_LIMIT_INSET = 3e-4
# Error at which putting a palm back ends, and the most that may be left, m and rad.
_IK_TOLERANCE, _PALM_TOLERANCE = 1e-9, 1e-5

# Squared weight of a radian beyond a limit, against a missing metre of clearance.
_LIMIT_WEIGHT = 1e4
_NEWTON_STEPS, _BISECTIONS = 20, 30

# Weights of a detour's displacement and of its control points' curvature, against a squared missing metre.
_POSITION_WEIGHT, _BENDING_WEIGHT = 1e-5, 1e-4
# Control points of the cubic spline that displaces a path.
_CONTROL_POINTS = 18
# Most Gauss-Newton steps of a detour.
_DETOUR_ROUNDS = 30
# Missing part of the margin from which on ways round are looked for.
_TOLERATED = 0.7
# Smallest and largest bend of a joint, rad, that is tried as a way round; number of trials; samples between
# two that are looked at; and number of the best that are refined.
_BENDS, _TRIALS, _EVERY, _REFINED = (0.3, 1.5), 480, 6, 16
# Missing distance, m, that a bend of 1 rad may save.
_LENGTH_WEIGHT = 0.01
# Fraction of a path over which the margin grows from the distance at an end to the full one.
_APPROACH_FRACTION = 0.25


# Poses at which palms are held by frame, and the axes in the palms' axes about which they may rotate.
_PalmPoses = dict[int, tuple[pin.SE3, Array | None]]


def avoid_collisions(
    shapes: BodyShapes,
    time: Array,
    joints: Array,
    base: Array,
    limits: Array,
    margin: float,
    palms: Mapping[str, tuple[NDArray[np.bool_], Array | None]] = MappingProxyType({}),
    obstacles: Sequence[Obstacle] = (),
) -> tuple[Array, Array]:
    """Change a joint path where it comes too near the robot's own links or obstacles, and only there.

    With the displacement b, the distances d and the held palms' error e the penetrations of a neighbourhood
    solve

        min Σ_t ‖b_t‖² + τ⁴‖b̈_t‖² + w_d Σ_pairs max(0, margin − d(q_t + b_t))² + w_e ‖e(q_t + b_t)‖²

    inside the limits, b and its velocity 0 at both ends. Where palms are held this moves the arms in their
    null space: elbows swivel, and hands turn on round handles. Damped Gauss-Newton over all samples at once;
    then held palms are put back exactly. An end of the whole path is free.

    `shapes`: collision shapes of the upper body, with the pairs that can collide; `time` (T,); `joints` (T,
    n): positions of trunk and arms inside the limits, rad; `base` (T, 7): pose of the root link in the world
    frame: position, m, and quaternion; `limits` (2, n): lower and upper joint limits, rad; `margin`: least
    distance of a pair, m; `palms`: of a frame, when its palm is held (T,), so that its
    pose must not change, and the unit vector (3,) in its axes about which it may rotate nevertheless;
    `obstacles`: obstacles at rest, or with a pose at each of the T samples. Returns `joints` (T, n):
    positions of trunk and arms, rad, clear as far as can be. Samples that are clear, and not near one that is
    not, are the same as before; `missing` (T,): clearance deficit: margin minus the distance of the nearest
    pair, m; 0 where all is clear.
    """
    scene = ClearanceScene(shapes, base, obstacles)
    model, data, target = scene.workspace.model, scene.workspace.data, margin + _SPARE_MARGIN
    lower, upper = limits
    deficits = [scene.rows(sample, at, margin)[1].max(initial=0.0) for sample, at in enumerate(joints)]
    missing = np.array(deficits, dtype=float)
    windows: list[tuple[int, int]] = []
    for at in time[missing > 0.0]:
        start, end = np.searchsorted(time, (at - _NEIGHBOURHOOD, at + _NEIGHBOURHOOD)).tolist()
        if windows and start <= windows[-1][1]:
            start = windows.pop()[0]
        windows.append((start, end))
    changed = joints.copy()
    for start, end in windows:
        samples, held = np.arange(start, end), []
        for sample in samples:
            pin.framesForwardKinematics(model, data, np.concatenate([base[sample], joints[sample]]))
            now = {model.getFrameId(name): axis for name, (when, axis) in palms.items() if when[sample]}
            held.append({frame: (data.oMf[frame].copy(), axis) for frame, axis in now.items()})
        smoothness = _PATH_WEIGHT * smoothness_matrix(time, start, end, _SMOOTHING_TIME)

        # The margin has integral action: it grows where clearance is missing.
        path = joints[samples]
        displacement, margins = np.zeros_like(path), np.full(len(path), target)
        blocks, descent = np.empty((*path.shape, path.shape[1])), np.empty_like(path)
        for number in range(_MAX_ROUNDS):
            at, gradients, short = path + displacement, [], []
            for row, sample in enumerate(samples):
                gradient, lacking = scene.rows(int(sample), at[row], margins[row] + _ACTIVATION_DISTANCE)
                gradients.append(gradient)
                short.append(lacking - _ACTIVATION_DISTANCE)
                jacobian, errors = _linearise_palms(model, data, held[row])
                blocks[row] = _PALM_WEIGHT * jacobian.T @ jacobian
                descent[row] = _PALM_WEIGHT * errors @ jacobian
            largest = np.array([each.max(initial=-_ACTIVATION_DISTANCE) for each in short])
            step = clearance_qp_step(
                smoothness,
                blocks,
                descent - multiply_smoothness(smoothness, displacement),
                np.repeat(np.arange(len(path)), [len(each) for each in short]),
                np.concatenate(gradients),
                np.concatenate(short),
                np.minimum(lower + _LIMIT_INSET, path) - at,
                np.maximum(upper - _LIMIT_INSET, path) - at,
            )
            largest += target - margins
            too_far = ((margins > target) & (largest < -_SPARE_MARGIN)).any()
            margins = margins + _MARGIN_GAIN * largest.clip(max=_MAX_MARGIN_UPDATE)
            margins = margins.clip(target, target + _MAX_EXTRA_MARGIN)
            fraction = _STEP_FRACTION * min(1.0, _FULL_STEP_ROUNDS / (number + 1))
            change = step * min(fraction, _MAX_STEP / max(float(np.abs(step).max()), 1e-12))
            displacement += change
            good = largest.max() <= _SPARE_MARGIN and not too_far
            if np.abs(change).max() < (_NEARLY_CONVERGED if good else _CONVERGED):
                break

        # Held palms are put back; all stays as it was if one of them would have to give way.
        cleared = np.clip(path + displacement, lower, upper)
        for row in np.flatnonzero([bool(palm) for palm in held]).tolist():
            q = np.concatenate([base[samples[row]], cleared[row]])
            pin.framesForwardKinematics(model, data, q)
            targets = {frame: _rotate_like(data.oMf[frame], *palm) for frame, palm in held[row].items()}
            bounds = PostureBounds(q[7:], lower, upper)
            q = solve_damped_ik(model, data, q, targets, bounds, iterations=20, tolerance=_IK_TOLERANCE)
            pin.forwardKinematics(model, data, q)
            if np.abs(_linearise_palms(model, data, held[row])[1]).max() > _PALM_TOLERANCE:
                cleared = path
                break
            cleared[row] = q[7:]
        changed[samples] = cleared
        for sample in samples:
            missing[sample] = scene.rows(int(sample), changed[sample], margin)[1].max(initial=0.0)
    return changed, missing


def _rotate_like(pose: pin.SE3, held: pin.SE3, axis: Array | None) -> pin.SE3:
    """Rotate a held pose about its axis as far as another pose is."""
    if axis is None:
        return held
    rotation = pin.Quaternion(held.rotation.T @ pose.rotation)
    angle = 2.0 * np.arctan2(axis @ rotation.coeffs()[:3], rotation.w)
    return held * pin.SE3(pin.exp3(angle * axis), np.zeros(3))


def _linearise_palms(model: pin.Model, data: pin.Data, palms: _PalmPoses) -> tuple[Array, Array]:
    """Jacobian (6 k, n) and error (6 k,) of palms, m and rad in world axes, where `data` has the joints."""
    jacobian, errors = np.empty((len(palms), 6, model.nv - 6)), np.empty((len(palms), 6))
    if palms:
        pin.computeJointJacobians(model, data)
    for rows, error, (frame, (held, axis)) in zip(jacobian, errors, palms.items(), strict=True):
        pose = pin.updateFramePlacement(model, data, frame)
        target = _rotate_like(pose, held, axis)
        rows[:] = pin.getFrameJacobian(model, data, frame, pin.ReferenceFrame.LOCAL_WORLD_ALIGNED)[:, 6:]
        error[:3] = target.translation - pose.translation
        error[3:] = pin.log3(target.rotation @ pose.rotation.T)
        if axis is not None:
            turning = pose.rotation @ axis
            rows[3:] -= np.outer(turning, turning @ rows[3:])
    return jacobian.reshape(-1, model.nv - 6), errors.ravel()


def smoothness_matrix(time: Array, start: int, end: int, smoothing_time: float) -> Array:
    """Build the matrix of ‖b‖² + τ⁴‖b̈‖² for a displacement b of samples `start` to `end` - 1; else b is 0.

    So the displacement and its velocity come from 0 and return to it, but for an end of the whole path,
    which is free. Returns the diagonal and the two below it (3, S), the same for every coordinate; the time
    (T,) of the whole path and the time constant τ are in s.
    """
    first = max(start - 2, 0)
    around = time[first : end + 2]
    before, after = np.diff(around)[:-1, None], np.diff(around)[1:, None]
    # Second derivative of the parabola through three samples.
    stencil = 2.0 * np.hstack([1.0 / before, -1.0 / before - 1.0 / after, 1.0 / after]) / (before + after)
    cost = np.zeros((3, len(around)))
    cost[0] = 1.0
    for one in range(3):
        for other in range(one, 3):
            products = smoothing_time**4 * stencil[:, one] * stencil[:, other]
            cost[other - one, one : one + len(products)] += products
    inside = cost[:, start - first : end - first].copy()
    inside[1, -1:] = 0.0
    inside[2, -2:] = 0.0
    return inside


def multiply_smoothness(smoothness: Array, displacement: Array) -> Array:
    """Multiply the matrix (3, S) of `smoothness_matrix` and a displacement (S, n)."""
    product = smoothness[0][:, None] * displacement
    for offset in (1, 2):
        coupling = smoothness[offset, :-offset, None]
        product[offset:] += coupling * displacement[:-offset]
        product[:-offset] += coupling * displacement[offset:]
    return product


def clearance_qp_step(
    smoothness: Array,
    blocks: Array,
    descent: Array,
    owner: NDArray[np.int64],
    gradient: Array,
    missing: Array,
    lower: Array,
    upper: Array,
) -> Array:
    """Compute the step (S, n), rad, of least cost of S samples with n coordinates under R clearances.

    The cost is convex and piecewise quadratic: Newton's method, with the exact minimum along each direction,
    ends after finitely many steps. Limits cost like clearances, so that what is cut off is smooth: the step
    is less than a milliradian beyond them where other terms press against them. `smoothness` (3, S): from
    `smoothness_matrix`: cost of the displacement itself. `blocks` (S, n, n): gauss-Newton matrix of each
    sample, of everything but smoothness and clearances. `descent` (S, n): descent direction of everything but
    the clearances. `owner` (R,) int: sample that each clearance belongs to. `gradient` (R, n): derivative of
    the distance with respect to the sample's coordinates, m/rad. `missing` (R,): deficit before the step, m.
    A clearance costs the square of its deficit after the step, nothing if that is negative. `lower`, `upper`
    (S, n): bounds of the step, rad.
    """
    samples, count = descent.shape
    squares, diagonal = gradient[:, :, None] * gradient[:, None, :], np.arange(count)
    step = np.zeros_like(descent)

    for _ in range(_NEWTON_STEPS):
        left = missing - np.einsum("ri,ri->r", gradient, step[owner])
        under, over = lower - step, step - upper
        active, beyond = left > 0.0, (under > 0.0) | (over > 0.0)
        matrix = blocks.copy()
        np.add.at(matrix, owner[active], squares[active])
        matrix[:, diagonal, diagonal] += _LIMIT_WEIGHT * beyond
        curved = multiply_smoothness(smoothness, step) + np.einsum("sij,sj->si", blocks, step)
        smooth = descent - curved
        right = smooth + _LIMIT_WEIGHT * (under.clip(0.0) - over.clip(0.0))
        np.add.at(right, owner[active], left[active, None] * gradient[active])
        # The system is block-pentadiagonal.
        banded = np.zeros((2 * count + 1, samples * count))
        for offset in range(count):
            part = matrix[:, np.arange(offset, count), np.arange(count - offset)]
            banded[offset].reshape(samples, count)[:, : count - offset] = part
        banded[0] += np.repeat(smoothness[0], count)
        for offset in (1, 2):
            banded[offset * count] = np.repeat(smoothness[offset], count)
        direction = solveh_banded(banded, right.ravel(), lower=True).reshape(samples, count)
        gain = np.einsum("ri,ri->r", gradient, direction[owner])
        start = float((direction * smooth).sum())
        curved = multiply_smoothness(smoothness, direction) + np.einsum("sij,sj->si", blocks, direction)
        loss = float((direction * curved).sum())
        # The whole step if the cost still falls at its end; else bisection.
        length, low, high = 1.0, 0.0, 1.0
        for _ in range(_BISECTIONS + 1):
            short = float((left - length * gain).clip(0.0) @ gain)
            outside = (under - length * direction).clip(0.0) - (over + length * direction).clip(0.0)
            slope = start - length * loss + short + _LIMIT_WEIGHT * float((outside * direction).sum())
            if length == 1.0 and slope > -1e-12:
                low = 1.0
                break
            low, high = (length, high) if slope > 0.0 else (low, length)
            length = 0.5 * (low + high)
        length = low
        step = step + length * direction
        inside = (step >= lower) & (step <= upper)
        if length == 1.0 and ((left - gain > 0.0) == active).all() and (inside == ~beyond).all():
            break
    return step


def clear_path(
    shapes: BodyShapes,
    joints: Array,
    margin: float,
    limits: tuple[Array, Array],
    ways: list[Array] | None = None,
) -> Array:
    """Lead a joint path (T, n), rad, around the robot's own body, clear as far as can be; its ends stay.

    An end may itself be nearer than the margin, m, as a hand laid on the body is: there the margin begins
    with the distance at the end, so that the path leaves it gradually and not within a sample. The
    displacement is a cubic spline over the fraction of the path, whatever the number of samples, and sets in
    without acceleration. Gauss-Newton over all control points at once; a step that does not lower the cost is
    halved. The displacement does not pass the lowest and highest positions (n,), rad; a joint on its limit
    leaves the way round to the others. The shapes are those of the upper body, or of a robot on
    a fixed base, with what is about it. `ways` are control points found for a similar path: they are taken
    instead of a search, whose result is added to them.
    """
    detour = _Detour(shapes, joints, margin, limits)
    points = detour.descend(np.zeros((detour.basis.shape[1], joints.shape[1])))
    missing = detour.missing(points)
    if missing.max() > _TOLERATED * margin:
        least = missing.max()
        known = ways or detour.find_starts(np.flatnonzero(missing > _TOLERATED * margin))
        for start in known:
            way = detour.descend(start)
            left = detour.missing(way).max()
            if left < least:
                points, least = way, left
            if least <= _TOLERATED * margin:
                break
        if ways is not None and not ways:
            ways.append(points)
    # Between two control points, a limit that a joint nears fast is passed by a little.
    low, high = np.minimum(limits[0], joints), np.maximum(limits[1], joints)
    return np.clip(joints + detour.basis @ points, low, high)


def is_clear(shapes: BodyShapes, joints: Array, margin: float) -> bool:
    """Whether no pair is nearer on a joint path (T, n), rad, than a margin, m, or than at its nearer end."""
    workspace = PairWorkspace(shapes.model, shapes.geometry)
    base = AT_ORIGIN[: shapes.model.nq - joints.shape[1]]
    missing = [clearance_rows(workspace, each, margin, base)[1].max(initial=0.0) for each in joints]
    return max(missing) <= max(missing[0], missing[-1]) + 1e-4


class _Detour:
    """Displacement δ = B c of a joint path (T, n) by control points c (K, n), to lead it round the body."""

    def __init__(self, shapes: BodyShapes, joints: Array, margin: float, limits: tuple[Array, Array]) -> None:
        self.workspace, self.joints = PairWorkspace(shapes.model, shapes.geometry), joints
        self.base = AT_ORIGIN[: shapes.model.nq - joints.shape[1]]
        self.fraction = np.linspace(0.0, 1.0, len(joints))
        self.margins = np.full(len(joints), margin)
        for end, away in ((0, self.fraction), (-1, 1.0 - self.fraction)):
            missing = clearance_rows(self.workspace, joints[end], margin, self.base)[1].max(initial=0.0)
            grown = (away / _APPROACH_FRACTION).clip(0.0, 1.0)
            self.margins -= missing * (1.0 - grown**2 * (3.0 - 2.0 * grown))
        knots = np.concatenate([[0.0] * 3, np.linspace(0.0, 1.0, _CONTROL_POINTS - 2), [1.0] * 3])
        # Without the first and last three control points, it begins and ends without acceleration.
        self.basis = BSpline.design_matrix(self.fraction, knots, 3).toarray()[:, 3:-3]
        # What the samples about a control point have left to the limits.
        share = self.basis / self.basis.sum(axis=0)
        self.low = share.T @ np.minimum(limits[0] - joints, 0.0)
        self.high = share.T @ np.maximum(limits[1] - joints, 0.0)

    def missing(self, points: Array, every: int = 1) -> Array:
        """How far the nearest pair of each sample, or of every so manieth, is from its margin, m."""
        displaced = self.joints + self.basis @ points
        found = np.empty(len(range(0, len(displaced), every)))
        for row, (joints, margin) in enumerate(zip(displaced[::every], self.margins[::every], strict=True)):
            found[row] = clearance_rows(self.workspace, joints, margin, self.base)[1].max(initial=0.0)
        return found

    def descend(self, start: Array) -> Array:
        """Lower the cost from given control points on, by damped Gauss-Newton steps.

        With the curvature D c of the control points, the cost is the mean of Σ (margin − d)² over all
        samples, with w |c|² / K and s |D c|².
        """
        taken, cost, moved = _STEP_FRACTION, np.inf, np.inf
        points = trial = np.clip(start, self.low, self.high)
        (samples, count), number = self.joints.shape, len(points)
        bend = np.diff(np.eye(number + 4)[:, 2:-2], 2, axis=0)
        regular = _POSITION_WEIGHT / number * np.eye(number) + _BENDING_WEIGHT * bend.T @ bend
        for _ in range(_DETOUR_ROUNDS + 1):
            # Cost of the trial, its Gauss-Newton matrix, and its descent.
            blocks = np.einsum("ab,ij->aibj", regular, np.eye(count))
            fall = -regular @ trial
            trial_cost = -np.sum(trial * fall)
            displaced, joint = self.joints + self.basis @ trial, np.arange(count)
            for sample in range(1, samples - 1):
                at, margin = displaced[sample], self.margins[sample]
                jacobian, missing = clearance_rows(self.workspace, at, margin, self.base)
                if len(missing):
                    acting = np.flatnonzero(self.basis[sample])
                    weight = self.basis[sample, acting]
                    block = (jacobian.T @ jacobian)[None, :, None, :] / samples
                    weights = np.outer(weight, weight)[:, None, :, None]
                    blocks[np.ix_(acting, joint, acting, joint)] += weights * block
                    fall[acting] += weight[:, None] * (jacobian.T @ missing) / samples
                    trial_cost += missing @ missing / samples
            if trial_cost <= cost:
                points, cost, descent = trial, float(trial_cost), fall
                matrix = blocks.reshape(number * count, -1)
                taken = min(2.0 * taken, _STEP_FRACTION)
            else:
                taken *= 0.5
            if moved < _CONVERGED:
                break
            fixed = ((points <= self.low) & (descent < 0.0)) | ((points >= self.high) & (descent > 0.0))
            free = ~fixed.ravel()
            step = np.zeros(points.size)
            step[free] = solve(matrix[np.ix_(free, free)], descent.ravel()[free], assume_a="pos")
            trial = np.clip(points + taken * step.reshape(points.shape), self.low, self.high)
            moved = np.abs(trial - points).max()
        return points

    def find_starts(self, blocked: NDArray[np.int64]) -> list[Array]:
        """Find ways round what small steps cannot leave: random bends of the joints that are blocked.

        Returns control points of the bends with the least missing distance and the least displacement.
        """
        hump = 16.0 * (self.fraction * (1.0 - self.fraction)) ** 2
        bump = np.linalg.lstsq(self.basis, hump, rcond=None)[0]
        moving = np.zeros(self.joints.shape[1], dtype=bool)
        for at, margin in zip(self.joints[blocked], self.margins[blocked], strict=True):
            moving |= (clearance_rows(self.workspace, at, margin, self.base)[0] != 0.0).any(axis=0)
        generator, found = np.random.default_rng(0), []
        for amplitude in np.linspace(*_BENDS, _TRIALS):
            bend = np.where(moving, generator.uniform(-amplitude, amplitude, len(moving)), 0.0)
            points = np.clip(bump[:, None] * bend, self.low, self.high)
            missing = self.missing(points, _EVERY).max()
            found.append((missing + _LENGTH_WEIGHT * np.linalg.norm(bend), points))
        return [points for _, points in sorted(found, key=lambda each: each[0])[:_REFINED]]
