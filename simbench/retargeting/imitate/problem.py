"""The problem of imitation in single frames: squared errors of lines, root and soles, with derivatives."""

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.spatial.transform import Rotation

from simbench.kinematics.arrays import Array
from simbench.kinematics.rotation import turn_quaternions, turns_between
from simbench.kinematics.tree import ancestors
from simbench.retargeting.imitate.targets import BodyTargets
from simbench.retargeting.match.body import MatchedBody, derive_points, place_points

CONTACT_WEIGHT = 1e5
"""Weight of the squared depth of a sole's corner below the floor, 1/m²."""
# Weight of the squared height of a corner over the floor while its heel or toe stands, 1/m².
_FLAT_WEIGHT = 500.0
# Weight of the squared error of a swinging heel's or toe's height near the floor, 1/m².
_CLEARANCE_WEIGHT = 30.0
# Clearance at which that weight is a quarter, m: high in the air, only the directions of bones count.
_FADE = 0.1
# Weight of the squared distance of a joint from rest, 1/rad²: it settles what nothing else determines.
_REST_WEIGHT = 2e-4


class FrameCosts(NamedTuple):
    """Costs of T configurations and derivatives by root translation, root rotation, joints (nv columns)."""

    cost: Array  # (T,): half the weighted squared errors.
    gradient: Array  # (T, nv).
    hessian: Array  # (T, nv, nv): its Gauss-Newton matrix.
    feet: Array  # (T, F, 2, 2): horizontal positions of heel and toe of each foot, m.
    foot_jacobian: Array  # (T, F, 2, 2, nv).


@dataclass(frozen=True)
class ImitationProblem:
    """A matched body with the targets of T frames."""

    body: MatchedBody  # The robot.
    targets: BodyTargets  # Targets at T samples.
    moves: Array  # (P, m): 1 where a joint moves a point.
    # (F, 2, 2) int: points that are the corners of the soles: foot, heel or toe, right or left corner.
    soles: NDArray[np.int64]
    lower: Array  # `lower`, `upper` (m,): limits of the joints that follow, margin included, rad.
    upper: Array
    root_moves: bool = True  # Whether the root moves; otherwise it stays where the first guess has it.
    # (T, 4) or None: orientation of a root that does not move by itself, quaternions; None for an upright
    # one.
    root_turn: Array | None = None

    @property
    def nv(self) -> int:
        """Number of coordinates of a step: six of the root and those of the joints that follow."""
        return 6 + len(self.body.joints)


def make_problem(body: MatchedBody, targets: BodyTargets, margin: float) -> ImitationProblem:
    """Put a body and its targets together; joints keep a margin (rad) from their limits."""
    chosen = body.joints
    lower, upper = body.lower[chosen], body.upper[chosen]
    # Of a joint with a small range, half is left.
    kept = np.minimum(margin, 0.25 * (upper - lower))
    moves = ancestors(body.tree)[body.body][:, chosen]
    first = [number for number, name in enumerate(body.names) if name.endswith("_sole_0")]
    soles = np.array(first, dtype=np.int64)[:, None, None] + np.array([[0, 3], [1, 2]])
    return ImitationProblem(body, targets, moves, soles, lower + kept, upper - kept)


def line_rows(vectors: Array, targets: Array, weights: Array) -> tuple[Array, Array, Array]:
    """Errors of direction, √w (v/‖v‖ − d), and what their derivatives by v need.

    `vectors` (T, B, 3): v: lines of the robot, m; `targets` (T, B, 3): d: unit vectors; `weights` (B,): w,
    1/rad². Returns `errors` (T, B, 3); `unit` (T, B, 3): u = v/‖v‖: the derivative is (√w/‖v‖)(I − u uᵀ);
    `factor` (T, B): √w/‖v‖, 1/m.
    """
    length = np.maximum(np.linalg.norm(vectors, axis=-1), 1e-6)
    unit = vectors / length[..., None]
    root = np.sqrt(weights)
    return root[:, None] * (unit - targets), unit, root / length


def frame_costs(
    problem: ImitationProblem, q: Array, frames: slice, *, derivatives: bool = True
) -> FrameCosts:
    """Evaluate the costs of configurations in frames of a problem.

    `problem`: body and targets; `q` (T, 7 + n); `frames`: the T frames of the targets; `derivatives`: whether
    derivatives are computed; otherwise they are empty. Returns costs and derivatives.
    """
    body, targets = problem.body, problem.targets
    placed = place_points(body, q)
    points, count, nv = placed.points, len(q), problem.nv
    lines = targets.lines @ points
    errors, unit, factor = line_rows(lines, targets.directions[frames], targets.weights)
    root_weight = np.sqrt(targets.root_weight)
    root_error = root_weight * (targets.root_point @ points - targets.root[frames])
    feet = targets.contact.shape[1]
    soles = problem.soles[:feet]
    corners = points[:, soles.ravel()].reshape(count, feet, 2, 2, 3)
    # Axis 2 is heel or toe, axis 3 its two corners.
    standing = targets.contact[frames]
    height = corners[..., 2]
    # A standing sole may stand on an edge where the ankle's range ends.
    press = np.where(height < 0.0, np.sqrt(CONTACT_WEIGHT), np.sqrt(_FLAT_WEIGHT) * standing[..., None])
    below = press * height
    middle = 0.5 * (corners[:, :, :, 0] + corners[:, :, :, 1])
    clearance = targets.clearance[frames]
    height_weight = np.where(standing, 0.0, np.sqrt(_CLEARANCE_WEIGHT) / (1.0 + clearance / _FADE))
    height_error = height_weight * (middle[..., 2] - clearance)
    joints = q[:, 7 + body.joints]
    away = joints - body.rest[body.joints]
    cost = 0.5 * (
        (errors**2).sum(axis=(1, 2))
        + (root_error**2).sum(axis=1)
        + (below**2).sum(axis=(1, 2, 3))
        + (height_error**2).sum(axis=(1, 2))
        + _REST_WEIGHT * (away**2).sum(axis=1)
    )
    if not derivatives:
        empty = np.empty(0)
        return FrameCosts(cost, empty, empty, middle[..., :2], empty)
    jacobian = derive_points(body.tree, body.joints, problem.moves, placed)
    flat = jacobian.reshape(count, len(body.names), 3 * nv)
    along = (targets.lines @ flat).reshape(count, -1, 3, nv)
    along -= unit[..., None] * np.einsum("tbi,tbin->tbn", unit, along)[:, :, None]
    along *= factor[..., None, None]
    corner_rows = jacobian[:, soles.ravel()].reshape(count, feet, 2, 2, 3, nv)
    middle_rows = 0.5 * (corner_rows[:, :, :, 0] + corner_rows[:, :, :, 1])
    rows = np.concatenate(
        [
            along.reshape(count, -1, nv),
            root_weight[:, None] * (targets.root_point @ flat).reshape(count, 3, nv),
            (press[..., None] * corner_rows[..., 2, :]).reshape(count, -1, nv),
            (height_weight[..., None] * middle_rows[..., 2, :]).reshape(count, -1, nv),
        ],
        axis=1,
    )
    residual = np.concatenate(
        [errors.reshape(count, -1), root_error, below.reshape(count, -1), height_error.reshape(count, -1)],
        axis=1,
    )
    transposed = rows.transpose(0, 2, 1)
    gradient = (transposed @ residual[..., None])[..., 0]
    hessian = transposed @ rows
    gradient[:, 6:] += _REST_WEIGHT * away
    hessian[:, np.arange(6, nv), np.arange(6, nv)] += _REST_WEIGHT
    return FrameCosts(cost, gradient, hessian, middle[..., :2], middle_rows[..., :2, :])


def step_from(problem: ImitationProblem, q: Array, step: Array) -> Array:
    """Move configurations (T, 7 + n) by steps (T, nv): root translation and rotation in the world, joints."""
    moved = q.copy()
    moved[:, :3] += step[:, :3]
    turn_quaternions(q[:, 3:7], step[:, 3:6], moved[:, 3:7])
    moved[:, 7 + problem.body.joints] += step[:, 6:]
    return moved


def increments(problem: ImitationProblem, q: Array) -> Array:
    """Find the steps (T - 1, nv) that lead from each configuration to the next."""
    steps = np.empty((len(q) - 1, problem.nv))
    steps[:, :3], steps[:, 6:] = np.diff(q[:, :3], axis=0), np.diff(q[:, 7 + problem.body.joints], axis=0)
    turns_between(q[:, 3:7], steps[:, 3:6])
    return steps


def initial_configuration(problem: ImitationProblem) -> Array:
    """Guess a configuration (7 + n,) for the first frame: at rest, turned and placed as the person is."""
    body, targets = problem.body, problem.targets
    q = np.concatenate([np.zeros(6), [1.0], body.rest])
    for column, sign in body.flexion.values():
        # A straight limb could bend either way.
        bent = body.rest[column] if sign * body.rest[column] > _BENT else sign * _BENT
        q[7 + column] = np.clip(bent, body.lower[column], body.upper[column])
    if not problem.root_moves:
        return q
    direction = dict(zip(targets.parts, targets.directions[0], strict=True))
    left = direction.get("hips", direction.get("shoulders", np.array([0.0, 1.0, 0.0])))
    up = direction.get("trunk", np.array([0.0, 0.0, 1.0]))
    forward = np.cross(left, up)
    forward /= np.linalg.norm(forward)
    left = np.cross(up, forward)
    q[3:7] = Rotation.from_matrix(np.column_stack([forward, left / np.linalg.norm(left), up])).as_quat()
    points = place_points(body, q[None]).points[0]
    if targets.root_weight.any():
        q[:3] = targets.root[0] - targets.root_point @ points
    elif targets.contact.shape[1]:
        q[2] -= points[problem.soles.ravel(), 2].min()
    return q


# Least bend of elbows and knees in the first guess, rad.
_BENT = 0.4
