"""Barriers: links keep clear of each other and of the floor, by their convex collision shapes."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import pinocchio as pin
from numpy.typing import NDArray

from simbench.kinematics.arrays import Array
from simbench.kinematics.tree import first_joint
from simbench.retargeting.collision.clearance import (
    PairWorkspace,
    add_self_pairs,
    convex_shapes,
    pair_distance,
)
from simbench.retargeting.match.body import (
    MatchedBody,
    ancestors,
    joint_screws,
    place_points,
    point_jacobians,
)

# Distance beyond the margin up to which a pair is linearised, m.
_REACH = 0.02


class BarrierRows(NamedTuple):
    """K pairs that are near, linearised: the distance changes by `jacobian` · (step of the configuration).

    Parameters
    ----------
    frames : (K,) int array
        Frame of each.
    share : (K,) array
        How far from that frame to the next one the configuration is, 0 to 1: what is fast passes through
        something thin between two frames. Below 0 and above 1 it is where the motion would go on.
    jacobian : (K, nv) array
        Derivative of the distance, m per unit of the step.
    missing : (K,) array
        How much the distance is below the margin, m; negative for a pair that is farther apart.
    """

    frames: NDArray[np.int64]
    share: Array
    jacobian: Array
    missing: Array


@dataclass
class Barriers:
    """Shapes of a robot with its self-collision pairs and the floor.

    Parameters
    ----------
    body : MatchedBody
        The robot.
    workspace : PairWorkspace
        Shapes and pairs; the last of them with the floor.
    carrier : (G,) int array
        Body of the tree that carries each shape.
    centre : (G, 3) array
        Centre of each shape's bounding sphere on that body, m.
    on_floor : (K,) bool array
        Pairs whose second shape is the floor.
    """

    body: MatchedBody
    workspace: PairWorkspace
    carrier: NDArray[np.int64]
    centre: Array
    on_floor: NDArray[np.bool_]
    seen: tuple[Array, Array, Array] | None = None
    """Of C configurations of the last call: least distances (C, K), m, vectors between the centres of both
    shapes (C, K, 3), m, and rotations of the bodies (C, n + 1, 3, 3)."""


def make_barriers(body: MatchedBody, *, floor: bool = True) -> Barriers:
    """Collect the shapes of a robot, its own pairs, and, with a floor, each link but the feet with it."""
    robot = body.robot
    geometry = convex_shapes(robot)
    add_self_pairs(robot, geometry)
    own = len(geometry.collisionPairs)
    knees = [
        robot.model.getJointId(robot.joint_names[body.flexion[leg][0]])
        for leg in ("left_leg", "right_leg")
        if leg in body.flexion
    ]
    # Soles have targets of their own, and what is between knee and sole is above them.
    feet = {joint for knee in knees for joint in robot.model.subtrees[knee].tolist() if joint != knee}
    plane = pin.GeometryObject(
        "floor_0", 0, pin.SE3.Identity(), pin.coal.Halfspace(np.array([0.0, 0.0, 1.0]), 0.0)
    )
    shapes = len(geometry.geometryObjects)
    ground = geometry.addGeometryObject(plane)
    for shape in range(shapes if floor else 0):
        if geometry.geometryObjects[shape].parentJoint not in feet:
            geometry.addCollisionPair(pin.CollisionPair(shape, ground))
    workspace = PairWorkspace(robot.model, geometry)
    first = first_joint(robot.model)
    carrier, centre = [], []
    for number, (shape, middle) in enumerate(zip(geometry.geometryObjects, workspace.centers, strict=True)):
        carrier.append(max(0, shape.parentJoint - first + 1))
        centre.append(shape.placement.act(middle) if number != ground else np.zeros(3))
    pairs = len(geometry.collisionPairs)
    return Barriers(body, workspace, np.array(carrier), np.array(centre), np.arange(pairs) >= own)


def barrier_rows(
    barriers: Barriers, q: Array, margin: float, between: Sequence[float] = (0.5,), ahead: int = 0
) -> BarrierRows:
    """Linearise the pairs that are not much farther apart than a margin, m, at T frames and between them.

    Parameters
    ----------
    barriers : Barriers
        The shapes.
    q : (T, 7 + n) array
        Configurations.
    margin : float
        Distance to keep, m.
    between : sequence of float
        Parts of the way from each frame to the next one at which they are looked at too.
    ahead : int
        Frames before the first and after the last one that would follow at the speeds there: who has to stop
        needs room for it.

    Returns
    -------
    BarrierRows
        Pairs up to 2 cm farther apart than the margin.

    Notes
    -----
    With the witness points p_a, p_b and the normal n from a to b, the distance changes by n · (J_b − J_a) δ.
    """
    count = len(q)
    halfway = [(1.0 - share) * q[:-1] + share * q[1:] for share in between]
    outside = np.arange(1, 1 + (ahead if count > 1 else 0))
    shares = np.repeat([0.0, *between], [count, *[count - 1] * len(between)])
    shares = np.concatenate([shares, -outside, 1 + outside])
    numbers = np.concatenate([np.arange(count), np.tile(np.arange(count - 1), len(between))])
    numbers = np.concatenate([numbers, 0 * outside, 0 * outside + count - 2])
    beyond = [
        q[end] + outside[:, None] * (q[end] - q[next_to])
        for end, next_to in ((0, 1), (-1, -2))
        if len(outside)
    ]
    q = np.vstack([q, *halfway, *beyond])
    q[:, 3:7] /= np.linalg.norm(q[:, 3:7], axis=1, keepdims=True)
    body, workspace = barriers.body, barriers.workspace
    placed = place_points(body, q)
    middles = (
        placed.position[:, barriers.carrier]
        + (placed.rotation[:, barriers.carrier] @ barriers.centre[:, :, None])[..., 0]
    )
    first, second = workspace.first, workspace.second
    vector = middles[:, second] - middles[:, first]
    vector[:, barriers.on_floor] = middles[:, first[barriers.on_floor]] * [0.0, 0.0, -1.0]
    radius = np.where(barriers.on_floor, 0.0, workspace.radii[second])
    distance = np.sqrt(np.einsum("tki,tki->tk", vector, vector)) - workspace.radii[first] - radius
    distance[:, barriers.on_floor] = (
        -vector[:, barriers.on_floor, 2] - workspace.radii[first[barriers.on_floor]]
    )
    if barriers.seen is not None and len(barriers.seen[0]) == len(q):
        # A shape that turned by ΔR moved its points by ‖ΔR‖ r / √2 at most against its centre.
        before, vectors, rotations = barriers.seen
        turned = np.linalg.norm(placed.rotation - rotations, axis=(2, 3))[:, barriers.carrier] / np.sqrt(2.0)
        moved = np.sqrt(np.einsum("tki,tki->tk", vector - vectors, vector - vectors))
        moved += turned[:, first] * workspace.radii[first] + turned[:, second] * radius
        distance = np.maximum(distance, before - moved)
    looked_at = distance < margin + _REACH
    frames, bodies, grounded, normals, points, missing = [], [], [], [], [], []
    for frame in np.flatnonzero(looked_at.any(axis=1)).tolist():
        pin.updateGeometryPlacements(
            workspace.model, workspace.data, workspace.geometry, workspace.placed, q[frame]
        )
        for pair in np.flatnonzero(looked_at[frame]).tolist():
            found = distance[frame, pair] = pair_distance(workspace, pair)
            if found < margin + _REACH:
                result = workspace.results[pair]
                frames.append(frame)
                grounded.append(bool(barriers.on_floor[pair]))
                bodies.append((barriers.carrier[first[pair]], barriers.carrier[second[pair]]))
                normals.append(np.array(result.normal))
                points.append((np.array(result.getNearestPoint1()), np.array(result.getNearestPoint2())))
                missing.append(margin - found)
    barriers.seen = distance, vector, placed.rotation
    nv = 6 + len(body.joints)
    if not frames:
        return BarrierRows(np.empty(0, dtype=np.int64), np.empty(0), np.empty((0, nv)), np.empty(0))
    at, chosen = np.array(frames), np.array(bodies)
    moves = ancestors(body.tree)[:, body.joints][chosen]
    axes, moments = joint_screws(body, placed)
    jacobian = np.empty((len(at), 2, 3, nv))
    for k in range(2):
        part = point_jacobians(
            (axes[at], moments[at]), q[at, :3], np.array(points)[:, k : k + 1], np.ones((1, 1))
        )
        jacobian[:, k] = part[:, 0]
        jacobian[:, k, :, 6:] *= moves[:, k, None, :]
    # The floor stays.
    jacobian[np.array(grounded), 1] = 0.0
    difference = jacobian[:, 1] - jacobian[:, 0]
    rows = np.einsum("ki,kin->kn", np.array(normals), difference)
    return BarrierRows(numbers[at], shares[at], rows, np.array(missing))
