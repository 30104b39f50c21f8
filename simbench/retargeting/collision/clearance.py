"""Self-clearance: how near a posture brings the robot's own links, and which way is out."""

from collections.abc import Collection
from dataclasses import dataclass

import numpy as np
import pinocchio as pin
from numpy.typing import NDArray

from simbench.kinematics.path_solver import chain_step
from simbench.retargeting.collision.pair_distances import (
    PairWorkspace,
    pair_distance,
    pair_workspace,
    possible_pairs,
)
from simbench.robot.grips import close_hands
from simbench.robot.robot import Robot
from simbench.robot.upper_body import upper_body_locks

_PATH_HOLD = 1e-5
_PATH_STIFFNESS = 5e-7
"""How a bent path holds to its place and to its shape, against the square of a missing metre."""
_PATH_STEP_SHARE = 0.6
"""Of a full step: nearest points go from face to face of a shape, and full steps jump with them."""
_PATH_SETTLED = 1e-5
"""Step, rad, below which a path has got where it goes."""
_AT_ORIGIN = np.array([0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 1.0])
_APPROACH = 0.25
"""Part of a path over which the margin grows from what an end has to the full one."""


@dataclass(frozen=True)
class BodyShapes:
    """Convex collision shapes of a robot whose legs and head stay in one posture.

    Parameters
    ----------
    model : pinocchio.Model
        Floating base, trunk and arms, at the robot's real size.
    geometry : pinocchio.GeometryModel
        With the robot's own self-collision pairs.
    """

    model: pin.Model
    geometry: pin.GeometryModel


def body_shapes(robot: Robot, joints: NDArray[np.float64], holding: Collection[str] = ()) -> BodyShapes:
    """Collision shapes of a robot's upper body above legs in a posture.

    Parameters
    ----------
    robot : Robot
    joints : (n,) array
        Posture that gives the locked joints their positions, rad.
    holding : collection of str
        Sides of the hands that hold something at times: their fingers are both open and closed.

    Returns
    -------
    BodyShapes
    """
    whole, locks, root = convex_shapes(robot), upper_body_locks(robot), pin.neutral(robot.model)[:7]
    model, (geometry,) = pin.buildReducedModel(robot.model, [whole], locks, np.concatenate([root, joints]))
    closed = np.concatenate([root, close_hands(robot, joints, holding)])
    _, (gripping,) = pin.buildReducedModel(robot.model, [whole], locks, closed)
    for shape, other in zip(geometry.geometryObjects.tolist(), gripping.geometryObjects, strict=True):
        if not shape.placement.isApprox(other.placement):
            other.name = f"{link_of(shape.name)}_closed{shape.name.rpartition('_')[2]}"
            geometry.addGeometryObject(other)
    add_self_pairs(robot, geometry)
    return BodyShapes(model, geometry)


def convex_shapes(robot: Robot) -> pin.GeometryModel:
    """Collision shapes of all of a robot's links as convex bodies, without pairs."""
    geometry = pin.buildGeomFromUrdfString(robot.model, robot.urdf_text, pin.GeometryType.COLLISION)
    for shape in geometry.geometryObjects:
        if hasattr(shape.geometry, "buildConvexRepresentation"):
            shape.geometry.buildConvexRepresentation(False)
            shape.geometry = shape.geometry.convex
    return geometry


def add_self_pairs(robot: Robot, geometry: pin.GeometryModel) -> None:
    """Add the robot's self-collision pairs to its shapes, but for links that no joint moves apart."""
    shapes: dict[str, list[int]] = {}
    for index, shape in enumerate(geometry.geometryObjects):
        shapes.setdefault(link_of(shape.name), []).append(index)
    for first, second in robot.self_collision_pairs:
        for a in shapes.get(first, ()):
            for b in shapes.get(second, ()):
                if geometry.geometryObjects[a].parentJoint != geometry.geometryObjects[b].parentJoint:
                    geometry.addCollisionPair(pin.CollisionPair(a, b))


def link_of(shape_name: str) -> str:
    """Name of the link that a shape of a URDF belongs to."""
    return shape_name.rpartition("_")[0]


def clearance_rows(
    workspace: PairWorkspace,
    joints: NDArray[np.float64],
    margin: float,
    base: NDArray[np.float64] | None = None,
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Find what is missing to a margin between the pairs of shapes, and how the joints change it.

    With the witness points p_a, p_b and the normal n from a to b, the distance d changes by
    n · (J_b − J_a) dq.

    Parameters
    ----------
    workspace : PairWorkspace
        Of the shapes of a model with a floating base or a fixed one.
    joints : (n,) array
        rad.
    margin : float
        m.
    base : (7,) array, optional
        Pose of a floating root link in the world, by default the world's origin; empty for a fixed base.

    Returns
    -------
    jacobian : (k, n) array
        One row for each pair nearer than the margin.
    missing : (k,) array
        margin − d, m.
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
    turned, back = [1, 2, 0], [2, 0, 1]
    moments = points[:, turned] * normals[:, back] - points[:, back] * normals[:, turned]
    lines = np.hstack([normals, moments])
    own = slice(-len(joints), None)
    jacobian = pin.computeJointJacobians(model, data)[:, own]
    missing = margin - np.array([distances[pair] for pair in near])
    return lines @ jacobian * workspace.apart[near, own], missing


def clear_path(
    shapes: BodyShapes, joints: NDArray[np.float64], margin: float, *, rounds: int = 30
) -> NDArray[np.float64]:
    """Bend a joint path around the robot's own body; its ends stay.

    An end may itself be nearer than the margin, as a hand laid on the body is: there the margin begins with
    what the end has, so that the path leaves it gradually and not within a sample. The bend is a function of
    the share of the path, whatever the number of samples.

    Parameters
    ----------
    shapes : BodyShapes
    joints : (T, n) array
        Trunk and arms, rad.
    margin : float
        m.
    rounds : int

    Returns
    -------
    (T, n) array
    """
    workspace = pair_workspace(shapes.model, shapes.geometry)
    samples, count = joints.shape
    unbounded = np.full(count, np.inf)
    stiffness = np.full((samples - 1, count), _PATH_STIFFNESS * samples**2)
    margins = np.full(samples, margin)
    share = np.linspace(0.0, 1.0, samples)
    for end, part in ((0, share), (-1, 1.0 - share)):
        missing = clearance_rows(workspace, joints[end], margin)[1].max(initial=0.0)
        grown = (part / _APPROACH).clip(0.0, 1.0)
        margins -= missing * (1.0 - grown**2 * (3.0 - 2.0 * grown))
    bend = np.zeros_like(joints)
    for _ in range(rounds):
        blocks = np.tile(_PATH_HOLD * np.eye(count), (samples, 1, 1))
        gradient = -_PATH_HOLD * bend
        for sample in range(1, samples - 1):
            away, missing = clearance_rows(workspace, joints[sample] + bend[sample], margins[sample])
            blocks[sample] += away.T @ away
            gradient[sample] += away.T @ missing
        blocks[[0, -1]] += 1e6 * np.eye(count)
        step = _PATH_STEP_SHARE * chain_step(bend, gradient, blocks, stiffness, -unbounded, unbounded)
        bend[1:-1] += step[1:-1]
        if np.abs(step).max() < _PATH_SETTLED:
            break
    return joints + bend
