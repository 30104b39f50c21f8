"""Self-clearance: distances between the robot's own links in a posture, and how the joints change them."""

from collections.abc import Collection
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import pinocchio as pin
from numpy.typing import NDArray
from scipy.interpolate import BSpline
from scipy.linalg import solve
from scipy.spatial import QhullError

from simbench.errors import RobotError
from simbench.kinematics.arrays import Array
from simbench.retargeting.collision.pair_distances import (
    PairWorkspace,
    pair_distance,
    pair_workspace,
    possible_pairs,
)
from simbench.robot.convex_geometry import build_convex_geometry
from simbench.robot.grips import close_hands
from simbench.robot.robot import Robot
from simbench.robot.upper_body import upper_body_locks

_POSITION_WEIGHT = 1e-5
_BENDING_WEIGHT = 1e-4
"""Weights of a path's displacement and of its control points' curvature, against a squared missing metre."""
_CONTROL_POINTS = 18
"""Control points of the cubic spline that displaces a path."""
_TOLERATED = 0.7
"""Missing part of the margin from which on ways round are looked for."""
_BENDS, _TRIALS, _EVERY, _REFINED = (0.3, 1.5), 480, 6, 16
"""Smallest and largest bend of a joint, rad, that is tried as a way round; number of trials; samples between
two that are looked at; and number of the best that are refined."""
_LENGTH_WEIGHT = 0.01
"""Missing distance, m, that a bend of 1 rad may save."""
_STEP_FRACTION = 0.6
"""Fraction of a full step that is taken: nearest points go from face to face of a shape, and full steps jump
with them."""
_CONVERGED = 1e-5
"""Step, rad, below which the iteration ends."""
_AT_ORIGIN = np.array([0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 1.0])
_APPROACH_FRACTION = 0.25
"""Fraction of a path over which the margin grows from the distance at an end to the full one."""


@dataclass(frozen=True)
class BodyShapes:
    """Convex collision shapes of a robot whose legs and head stay in one posture.

    Parameters
    ----------
    model : pinocchio.Model
        Floating base, trunk and arms, at the robot's real size; or a robot on a fixed base.
    geometry : pinocchio.GeometryModel
        Convex shapes, with the robot's own self-collision pairs; and resting obstacles with theirs.
    """

    model: pin.Model
    geometry: pin.GeometryModel


class _Path(NamedTuple):
    """A joint path that is led round the body.

    Parameters
    ----------
    workspace : PairWorkspace
        Shapes of the robot.
    joints : (T, n) array
        Path as it was, rad.
    basis : (T, K) array
        Weight of each control point of the displacement at each sample.
    margins : (T,) array
        Least distance of a pair at each sample, m.
    base : (7,) array
        Pose of a floating root link; empty for a fixed base.
    """

    workspace: PairWorkspace
    joints: Array
    basis: Array
    margins: Array
    base: Array


def body_shapes(robot: Robot, joints: Array, holding: Collection[str] = ()) -> BodyShapes:
    """Build the collision shapes of a robot's upper body above legs in a posture.

    Parameters
    ----------
    robot : Robot
        Robot with a floating base and n joints.
    joints : (n,) array
        Posture that gives the locked joints their positions, rad.
    holding : collection of str
        Sides of the hands that hold something at times: their fingers are both open and closed.

    Returns
    -------
    BodyShapes
        Shapes of all links, on the model of trunk and arms.
    """
    whole, locks, root = convex_shapes(robot), upper_body_locks(robot), pin.neutral(robot.model)[:7]
    model, (geometry,) = pin.buildReducedModel(robot.model, [whole], locks, np.concatenate([root, joints]))
    closed = np.concatenate([root, close_hands(robot, joints, holding)])
    _, (gripping,) = pin.buildReducedModel(robot.model, [whole], locks, closed)
    closed_fingers = []
    for shape, other in zip(geometry.geometryObjects, gripping.geometryObjects, strict=True):
        if not shape.placement.isApprox(other.placement):
            other.name = f"{link_of(shape.name)}_closed{shape.name.rpartition('_')[2]}"
            closed_fingers.append(other)
    # Only now: adding moves the shapes in memory, away from under the references above.
    for other in closed_fingers:
        geometry.addGeometryObject(other)
    add_self_pairs(robot, geometry)
    return BodyShapes(model, geometry)


def convex_shapes(robot: Robot) -> pin.GeometryModel:
    """Build the collision shapes of all of a robot's links as convex bodies, without pairs.

    Parameters
    ----------
    robot : Robot
        Robot whose URDF gives the shapes.

    Returns
    -------
    pinocchio.GeometryModel
        One shape for each collision element of the URDF.

    Raises
    ------
    RobotError
        If a collision mesh has no convex hull, such as one that is flat.
    """
    try:
        return build_convex_geometry(robot.model, robot.urdf_text)
    except (ValueError, RuntimeError, QhullError) as error:
        raise RobotError(
            f"{robot.urdf}: a collision mesh cannot be made convex: {' '.join(str(error).split())[:200]}"
        ) from error


def add_self_pairs(robot: Robot, geometry: pin.GeometryModel) -> None:
    """Add the robot's self-collision pairs to its shapes, but for links that no joint moves apart.

    Parameters
    ----------
    robot : Robot
        Robot whose links can collide.
    geometry : pinocchio.GeometryModel
        Its shapes, from `convex_shapes`; is changed.
    """
    shapes: dict[str, list[int]] = {}
    for index, shape in enumerate(geometry.geometryObjects):
        shapes.setdefault(link_of(shape.name), []).append(index)
    for first, second in robot.self_collision_pairs:
        for a in shapes.get(first, ()):
            for b in shapes.get(second, ()):
                if geometry.geometryObjects[a].parentJoint != geometry.geometryObjects[b].parentJoint:
                    geometry.addCollisionPair(pin.CollisionPair(a, b))


def link_of(shape_name: str) -> str:
    """Find the link that a shape of a URDF belongs to.

    Parameters
    ----------
    shape_name : str
        Name that Pinocchio gave the shape: the link's name and a number.

    Returns
    -------
    str
        Name of the link.
    """
    return shape_name.rpartition("_")[0]


def clearance_rows(
    workspace: PairWorkspace,
    joints: Array,
    margin: float,
    base: Array | None = None,
) -> tuple[Array, Array]:
    """Compute the clearance deficits of the pairs of shapes that are too near, and their Jacobian.

    With the witness points p_a, p_b and the normal n from a to b, the distance d changes by
    n · (J_b − J_a) dq.

    Parameters
    ----------
    workspace : PairWorkspace
        Shapes of a model with a floating base or a fixed one.
    joints : (n,) array
        Joint positions, rad.
    margin : float
        Least distance of a pair, m.
    base : (7,) array, optional
        Pose of a floating root link in the world, by default the world's origin; empty for a fixed base.

    Returns
    -------
    jacobian : (k, n) array
        Derivative of the distance of each pair nearer than the margin, m/rad.
    missing : (k,) array
        Deficit of each of these pairs, margin − d, m.
    """
    model, data = workspace.model, workspace.data
    q = np.concatenate([_AT_ORIGIN if base is None else base, joints])
    distances = {pair: pair_distance(workspace, pair) for pair in possible_pairs(workspace, q, margin)}
    near = [pair for pair, distance in distances.items() if distance < margin]
    if not near:
        return np.empty((0, len(joints))), np.empty(0)
    results = [workspace.results[pair] for pair in near]
    normals = np.array([result.normal for result in results])
    points = np.array([result.getNearestPoint1() for result in results])
    # Both witness points lie on the normal, so one line of force stands for both.
    following, preceding = [1, 2, 0], [2, 0, 1]
    moments = points[:, following] * normals[:, preceding] - points[:, preceding] * normals[:, following]
    lines = np.hstack([normals, moments])
    columns = slice(-len(joints), None)
    jacobian = pin.computeJointJacobians(model, data)[:, columns]
    missing = margin - np.array([distances[pair] for pair in near])
    return lines @ jacobian * workspace.apart[near, columns], missing


def clear_path(
    shapes: BodyShapes,
    joints: Array,
    margin: float,
    *,
    limits: tuple[Array, Array] | None = None,
    rounds: int = 30,
) -> Array:
    """Lead a joint path around the robot's own body; its ends stay.

    An end may itself be nearer than the margin, as a hand laid on the body is: there the margin begins with
    the distance at the end, so that the path leaves it gradually and not within a sample. The displacement is
    a cubic spline over the fraction of the path, whatever the number of samples, and sets in without
    acceleration. Gauss-Newton over all control points at once; a step that does not lower the cost is halved.

    Parameters
    ----------
    shapes : BodyShapes
        Collision shapes of the upper body, or of a robot on a fixed base, with what is about it.
    joints : (T, n) array
        Positions of trunk and arms, rad.
    margin : float
        Least distance of a pair, m.
    limits : ((n,) array, (n,) array) or None
        Lowest and highest positions, rad, that the displacement does not pass; a joint on its limit leaves
        the way round to the others. None for no limits.
    rounds : int
        Most Gauss-Newton steps.

    Returns
    -------
    (T, n) array
        Positions of trunk and arms, rad, clear as far as can be.
    """
    workspace = pair_workspace(shapes.model, shapes.geometry)
    base = _AT_ORIGIN[: shapes.model.nq - joints.shape[1]]
    margins, fraction = np.full(len(joints), margin), np.linspace(0.0, 1.0, len(joints))
    for end, away in ((0, fraction), (-1, 1.0 - fraction)):
        missing = clearance_rows(workspace, joints[end], margin, base)[1].max(initial=0.0)
        grown = (away / _APPROACH_FRACTION).clip(0.0, 1.0)
        margins -= missing * (1.0 - grown**2 * (3.0 - 2.0 * grown))
    knots = np.concatenate([[0.0] * 3, np.linspace(0.0, 1.0, _CONTROL_POINTS - 2), [1.0] * 3])
    # Without the first and last three control points, the displacement begins and ends without acceleration.
    basis = BSpline.design_matrix(fraction, knots, 3).toarray()[:, 3:-3]
    bounds = _bound_control_points(basis, joints, limits)
    path = _Path(workspace, joints, basis, margins, base)
    points = _clear(path, np.zeros((basis.shape[1], joints.shape[1])), bounds, rounds)
    missing = _find_missing(path, points)
    if missing.max() > _TOLERATED * margin:
        least = missing.max()
        for start in _find_detours(path, bounds, np.flatnonzero(missing > _TOLERATED * margin)):
            way = _clear(path, start, bounds, rounds)
            left = _find_missing(path, way).max()
            if left < least:
                points, least = way, left
            if least <= _TOLERATED * margin:
                break
    if limits is None:
        return joints + basis @ points
    # Between two control points, a limit that a joint nears fast is passed by a little.
    low, high = np.minimum(limits[0], joints), np.maximum(limits[1], joints)
    return np.clip(joints + basis @ points, low, high)


def is_clear(shapes: BodyShapes, joints: Array, margin: float) -> bool:
    """Whether no pair comes nearer on a joint path (T, n), rad, than a margin, m, or than at its nearer end."""
    workspace = pair_workspace(shapes.model, shapes.geometry)
    base = _AT_ORIGIN[: shapes.model.nq - joints.shape[1]]
    missing = [clearance_rows(workspace, each, margin, base)[1].max(initial=0.0) for each in joints]
    return max(missing) <= max(missing[0], missing[-1]) + 1e-4


def _clear(path: _Path, start: Array, bounds: tuple[Array, Array], rounds: int) -> Array:
    """Lower the cost of a displacement from given control points on, by damped Gauss-Newton steps."""
    (low, high), taken = bounds, _STEP_FRACTION
    points = np.clip(start, low, high)
    cost, matrix, descent = _linearise_clearance(path, points)
    for _ in range(rounds):
        fixed = ((points <= low) & (descent < 0.0)) | ((points >= high) & (descent > 0.0))
        free = ~fixed.ravel()
        step = np.zeros(points.size)
        step[free] = solve(matrix[np.ix_(free, free)], descent.ravel()[free], assume_a="pos")
        trial = np.clip(points + taken * step.reshape(points.shape), low, high)
        moved = np.abs(trial - points).max()
        linearised = _linearise_clearance(path, trial)
        if linearised[0] <= cost:
            points, (cost, matrix, descent) = trial, linearised
            taken = min(2.0 * taken, _STEP_FRACTION)
        else:
            taken *= 0.5
        if moved < _CONVERGED:
            break
    return points


def _find_detours(path: _Path, bounds: tuple[Array, Array], blocked: NDArray[np.int64]) -> list[Array]:
    """Find ways round what a path cannot leave in small steps: random bends of the joints that are blocked.

    Returns control points (K, n) of the bends with the least missing distance and the least displacement.
    """
    fraction = np.linspace(0.0, 1.0, len(path.joints))
    bump = np.linalg.lstsq(path.basis, 16.0 * (fraction * (1.0 - fraction)) ** 2, rcond=None)[0]
    moving = np.zeros(path.joints.shape[1], dtype=bool)
    for sample in blocked:
        jacobian, _ = clearance_rows(path.workspace, path.joints[sample], path.margins[sample], path.base)
        moving |= (jacobian != 0.0).any(axis=0)
    generator = np.random.default_rng(0)
    found = []
    for amplitude in np.linspace(*_BENDS, _TRIALS):
        bend = np.where(moving, generator.uniform(-amplitude, amplitude, len(moving)), 0.0)
        points = np.clip(bump[:, None] * bend, *bounds)
        missing = _find_missing(path, points, every=_EVERY).max()
        found.append((missing + _LENGTH_WEIGHT * np.linalg.norm(bend), points))
    return [points for _, points in sorted(found, key=lambda each: each[0])[:_REFINED]]


def _find_missing(path: _Path, points: Array, every: int = 1) -> Array:
    """Find how far the nearest pair of each sample, or of every so manieth, is from its margin, m."""
    displaced = path.joints + path.basis @ points
    rows = (
        clearance_rows(path.workspace, displaced[sample], path.margins[sample], path.base)[1].max(initial=0.0)
        for sample in range(0, len(displaced), every)
    )
    return np.fromiter(rows, dtype=float)


def _bound_control_points(
    basis: Array, joints: Array, limits: tuple[Array, Array] | None
) -> tuple[Array, Array]:
    """Bound the control points of a displacement by what the samples about them have left to the limits."""
    if limits is None:
        return np.array(-np.inf), np.array(np.inf)
    share = basis / basis.sum(axis=0)
    low = share.T @ np.minimum(limits[0] - joints, 0.0)
    high = share.T @ np.maximum(limits[1] - joints, 0.0)
    return low, high


def _linearise_clearance(path: _Path, points: Array) -> tuple[float, Array, Array]:
    """Compute the cost of a path's displacement, its Gauss-Newton matrix, and its descent.

    With the displacement δ = B c of control points c (K, n), and the curvature D c of the control points,
    the cost is the mean of Σ (margin − d)² over all samples, with w |c|² / K and s |D c|².
    """
    basis, (samples, count), number = path.basis, path.joints.shape, len(points)
    bend = np.diff(np.eye(number + 4)[:, 2:-2], 2, axis=0)
    regular = _POSITION_WEIGHT / number * np.eye(number) + _BENDING_WEIGHT * bend.T @ bend
    matrix = np.einsum("ab,ij->aibj", regular, np.eye(count))
    descent = -regular @ points
    cost = -np.sum(points * descent)
    displaced, joint = path.joints + basis @ points, np.arange(count)
    for sample in range(1, samples - 1):
        jacobian, missing = clearance_rows(path.workspace, displaced[sample], path.margins[sample], path.base)
        if len(missing):
            acting = np.flatnonzero(basis[sample])
            weight = basis[sample, acting]
            block = (jacobian.T @ jacobian)[None, :, None, :] / samples
            matrix[np.ix_(acting, joint, acting, joint)] += np.outer(weight, weight)[:, None, :, None] * block
            descent[acting] += weight[:, None] * (jacobian.T @ missing) / samples
            cost += missing @ missing / samples
    size = number * count
    return float(cost), matrix.reshape(size, size), descent
