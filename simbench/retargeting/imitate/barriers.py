"""Barriers: links keep clear of each other and of the floor, by their convex collision shapes."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import pinocchio as pin
from numpy.typing import NDArray

from simbench.kinematics.arrays import Array
from simbench.kinematics.tree import ancestors, first_joint
from simbench.retargeting.collision.clearance import (
    PairWorkspace,
    add_self_pairs,
    convex_shapes,
    pair_distance,
)
from simbench.retargeting.match.body import MatchedBody, Placed, derive_points, place_points

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


@dataclass
class Barriers:
    """Shapes of a robot with its self-collision pairs and the floor."""

    body: MatchedBody
    workspace: PairWorkspace  # Shapes and pairs; the last of them with the floor.
    carrier: NDArray[np.int64]  # (G,) int: body of the tree that carries each shape.
    moves: Array  # (G, m): 1 where a joint that follows moves a shape.
    centre: Array  # (G, 3): centre of each shape's bounding sphere on that body, m.
    on_floor: NDArray[np.bool_]  # (K,) bool: pairs whose second shape is the floor.
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
    moves = ancestors(body.tree)[:, body.joints][carrier]
    return Barriers(body, workspace, np.array(carrier), moves, np.array(centre), np.arange(pairs) >= own)


def barrier_rows(
    barriers: Barriers,
    q: Array,
    margin: float,
    between: Sequence[float] = (0.5,),
    ahead: int = 0,
    given: int = 0,
) -> BarrierRows:
    """Linearise the pairs that are not much farther apart than a margin, m, at T frames and between them.

    `barriers`: the shapes; `q` (T, 7 + n): configurations; `margin`: distance to keep, m; `between`: parts of
    the way from each frame to the next one at which they are looked at too; `ahead`: frames before the first
    and after the last one that would follow at the speeds there: who has to stop needs room for it; `given`:
    frames at the beginning that are not looked at, because they stay as they are. Returns pairs up to 2 cm
    farther apart than the margin.

    With the witness points p_a, p_b and the normal n from a to b, the distance changes by n · (J_b − J_a) δ.
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
    near: list[tuple[int, int]] = []
    found: list[Array] = []
    for frame in np.flatnonzero(looked_at.any(axis=1)).tolist():
        pin.updateGeometryPlacements(
            workspace.model, workspace.data, workspace.geometry, workspace.placed, q[frame]
        )
        for pair in np.flatnonzero(looked_at[frame]).tolist():
            distance[frame, pair] = pair_distance(workspace, pair)
            if distance[frame, pair] < margin + _REACH:
                result = workspace.results[pair]
                near.append((frame, pair))
                witness = result.normal, result.getNearestPoint1(), result.getNearestPoint2()
                found.append(np.array(witness))
    barriers.seen = distance, vector, placed.rotation
    nv = 6 + len(body.joints)
    if not near:
        return BarrierRows(np.empty(0, dtype=np.int64), np.empty(0), np.empty((0, nv)), np.empty(0))
    at, pairs = np.array(near).T
    normals, *points = np.moveaxis(np.array(found), 1, 0)
    shapes = np.stack([first[pairs], second[pairs]], axis=1)
    there = Placed(placed.rotation[at], placed.position[at], np.stack(points, axis=1))
    everywhere = np.ones((2, len(body.joints)))
    jacobian = derive_points(body.tree, body.joints, everywhere, there)
    jacobian[..., 6:] *= barriers.moves[shapes][:, :, None]
    # The floor stays.
    jacobian[barriers.on_floor[pairs], 1] = 0.0
    rows = np.einsum("ki,kin->kn", normals, jacobian[:, 1] - jacobian[:, 0])
    missing = margin - distance[at, pairs]
    return BarrierRows(numbers[at], shares[at], rows, missing)
