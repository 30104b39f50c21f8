"""Self-clearance: distances between the robot's own links in a posture, and how the joints change them."""

from collections.abc import Collection
from dataclasses import dataclass

import numpy as np
import pinocchio as pin
from scipy.spatial import QhullError

from simbench.errors import RobotError
from simbench.kinematics.arrays import Array
from simbench.kinematics.path_solver import chain_step
from simbench.kinematics.profiles import minimum_jerk
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
_SHAPE_WEIGHT = 5e-7
"""Weights of a path's displacement and of its change between samples, against a squared missing metre."""
_STEP_FRACTION = 0.6
"""Fraction of a full step that is taken: nearest points go from face to face of a shape, and full steps jump
with them."""
_CONVERGED = 1e-5
"""Step, rad, below which the iteration ends."""
_AT_ORIGIN = np.array([0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 1.0])
_APPROACH_FRACTION = 0.25
"""Fraction of a path over which the margin grows from the distance at an end to the full one."""

_ONSET_FRACTION = 0.15
"""Fraction of a path at either end over which its displacement sets in."""


@dataclass(frozen=True)
class BodyShapes:
    """Convex collision shapes of a robot whose legs and head stay in one posture.

    Parameters
    ----------
    model : pinocchio.Model
        Floating base, trunk and arms, at the robot's real size.
    geometry : pinocchio.GeometryModel
        Convex shapes, with the robot's own self-collision pairs.
    """

    model: pin.Model
    geometry: pin.GeometryModel


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
    a function of the fraction of the path, whatever the number of samples. Damped Gauss-Newton over all
    samples at once.

    Parameters
    ----------
    shapes : BodyShapes
        Collision shapes of the upper body.
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
    samples, count = joints.shape
    low, high = limits if limits is not None else (np.full(count, -np.inf), np.full(count, np.inf))
    low, high = np.minimum(low - joints, 0.0), np.maximum(high - joints, 0.0)
    stiffness = np.full((samples - 1, count), _SHAPE_WEIGHT * samples**2)
    margins = np.full(samples, margin)
    fraction = np.linspace(0.0, 1.0, samples)
    for end, away in ((0, fraction), (-1, 1.0 - fraction)):
        missing = clearance_rows(workspace, joints[end], margin)[1].max(initial=0.0)
        grown = (away / _APPROACH_FRACTION).clip(0.0, 1.0)
        margins -= missing * (1.0 - grown**2 * (3.0 - 2.0 * grown))
    displacement, taken = np.zeros_like(joints), _STEP_FRACTION
    cost, blocks, gradient = _linearise_clearance(workspace, joints, displacement, margins, stiffness)
    for _ in range(rounds):
        step = chain_step(displacement, gradient, blocks, stiffness, low, high)
        trial = displacement.copy()
        trial[1:-1] = np.clip(displacement + taken * step, low, high)[1:-1]
        moved = np.abs(trial - displacement).max()
        linearised = _linearise_clearance(workspace, joints, trial, margins, stiffness)
        if linearised[0] <= cost:
            displacement, (cost, blocks, gradient) = trial, linearised
            taken = min(2.0 * taken, _STEP_FRACTION)
        else:
            taken *= 0.5
        if moved < _CONVERGED:
            break
    # A path that begins near the margin would leave its end with a jump of the velocity.
    onset = minimum_jerk(fraction, 0.0, _ONSET_FRACTION) * minimum_jerk(1.0 - fraction, 0.0, _ONSET_FRACTION)
    return joints + onset[:, None] * displacement


def _linearise_clearance(
    workspace: PairWorkspace, joints: Array, displacement: Array, margins: Array, stiffness: Array
) -> tuple[float, Array, Array]:
    """Compute the cost of a path's displacement, and the Gauss-Newton blocks and descent of all samples.

    The cost is Σ (margin − d)² over samples and pairs that are too near, with w |δ|² and s |Δδ|² of the
    displacement δ (T, n).
    """
    samples, count = joints.shape
    blocks = np.tile(_POSITION_WEIGHT * np.eye(count), (samples, 1, 1))
    gradient = -_POSITION_WEIGHT * displacement
    cost = _POSITION_WEIGHT * np.sum(displacement**2) + np.sum(stiffness * np.diff(displacement, axis=0) ** 2)
    for sample in range(1, samples - 1):
        at = joints[sample] + displacement[sample]
        jacobian, missing = clearance_rows(workspace, at, margins[sample])
        blocks[sample] += jacobian.T @ jacobian
        gradient[sample] += jacobian.T @ missing
        cost += missing @ missing
    blocks[[0, -1]] += 1e6 * np.eye(count)
    return float(cost), blocks, gradient
