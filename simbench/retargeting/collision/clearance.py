"""Clearance of links: distances of convex shapes in a posture, and how the joints change them."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace

import numpy as np
import pinocchio as pin
from numpy.typing import NDArray
from scipy.spatial import QhullError

from simbench.errors import RetargetError, RobotError
from simbench.kinematics.arrays import Array
from simbench.kinematics.compiled import compiled_entry
from simbench.kinematics.obstacles import Obstacle
from simbench.robot.collision_geometry import build_convex_geometry
from simbench.robot.robot import Robot
from simbench.robot.robot_limbs import close_hands, upper_body_locks
from simbench.robot.sides import SIDES
from simbench.robot.urdf.source import reduce_model

# Pose of a root link at the world's origin: position, m, and quaternion.
AT_ORIGIN = np.array([0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 1.0])
# Relative accuracy ε of distances. The normal is good to √(2 ε) where the search ends before the nearest
# points of two polyhedra, and would change as much with the last digit of a posture; with 1e-13, it ends
# there. Where the search for the depth of a penetration gives up at the first, the next is taken.
_TOLERANCES = (1e-13, 1e-8, 1e-6)
# Distance, m, below which that search has given up.
_DEEPEST = -1e3

# Coal makes three sides of all boxes larger by 1e-10, or of none, by whether the first direction in which a
# process looks for the support point of a box has a zero in it: what a run plans would depend on what ran
# before it. After this distance of a tilted box, every box of this process has its own size.
pin.coal.distance(
    pin.coal.Ellipsoid(1.0, 1.0, 1.0),
    pin.coal.Transform3s(),
    pin.coal.Box(1.0, 1.0, 1.0),
    pin.coal.Transform3s(pin.rpy.rpyToMatrix(0.3, 0.4, 0.5), np.array([3.0, 0.0, 0.0])),
    pin.coal.DistanceRequest(),
    pin.coal.DistanceResult(),
)


@dataclass(frozen=True)
class BodyShapes:
    """Convex collision shapes of a robot whose legs and head stay in one posture."""

    model: pin.Model  # Floating base, trunk and arms, at the robot's real size; or a robot on a fixed base.
    # Convex shapes, with the robot's own self-collision pairs; and resting obstacles with theirs.
    geometry: pin.GeometryModel


def body_shapes(robot: Robot, joints: Array, holding: Collection[str] = ()) -> BodyShapes:
    """Build the collision shapes of a robot's upper body above legs in a posture (n,), rad.

    The fingers of the hands in `holding`, sides that hold something at times, are both open and closed.
    """
    whole, locks, root = convex_shapes(robot), upper_body_locks(robot), pin.neutral(robot.model)[:7]
    model, (geometry,) = reduce_model(robot.model, locks, np.concatenate([root, joints]), [whole])
    closed = np.concatenate([root, close_hands(robot, joints, holding)])
    _, (gripping,) = reduce_model(robot.model, locks, closed, [whole])
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

    There is one shape for each collision element of the URDF.
    """
    try:
        return build_convex_geometry(robot.model, robot.urdf_text)
    except (ValueError, RuntimeError, QhullError) as error:
        raise RobotError(
            f"{robot.urdf}: a collision mesh cannot be made convex: {' '.join(str(error).split())[:200]}"
        ) from error


def link_of(shape_name: str) -> str:
    """Find the link of a URDF's shape, which Pinocchio names by the link and a number."""
    return shape_name.rpartition("_")[0]


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


def release_legs(
    robot: Robot, shapes: BodyShapes, base: Array, joints: Array
) -> tuple[BodyShapes, tuple[Obstacle, ...]]:
    """Take the legs out of a robot's self-collision pairs, and make them obstacles that move.

    `BodyShapes` has the legs in one posture. They bend as the COG sways: a hip moves by centimetres, more
    than hands that hang beside it may have to spare. Returned are the shapes without the pairs of a leg's
    link and one that trunk or arms move, and the legs' links of those pairs as obstacles, which other links
    may touch, with a pose at each of T samples: root pose `base` (T, 7), all joints (T, n), rad.
    """
    model, whole, geometry = robot.model, convex_shapes(robot), shapes.geometry.copy()
    moved = {model.getJointId(name) for side in SIDES for name in robot.groups[f"{side}_leg"]}
    legs = {
        frame.name
        for frame in model.frames
        if frame.type == pin.FrameType.BODY and moved & set(model.supports[frame.parentJoint])
    }
    names = [link_of(shape.name) for shape in geometry.geometryObjects]
    partners: dict[str, set[str]] = {}
    for pair in [pin.CollisionPair(pair.first, pair.second) for pair in geometry.collisionPairs]:
        leg, other = names[pair.first], names[pair.second]
        if (leg in legs) != (other in legs):
            leg, other = (leg, other) if leg in legs else (other, leg)
            partners.setdefault(leg, set()).add(other)
            geometry.removeCollisionPair(pair)
    chosen = [k for k, shape in enumerate(whole.geometryObjects) if link_of(shape.name) in partners]
    data, placed, poses = model.createData(), whole.createData(), np.empty((len(chosen), len(joints), 4, 4))
    for sample, q in enumerate(np.hstack([base, joints])):
        pin.updateGeometryPlacements(model, data, whole, placed, q)
        poses[:, sample] = np.reshape([placed.oMg[index].homogeneous for index in chosen], (-1, 4, 4))
    obstacles = []
    for index, pose in zip(chosen, poses, strict=True):
        shape, link = whole.geometryObjects[index].geometry, link_of(whole.geometryObjects[index].name)
        obstacles.append(Obstacle(link, shape, pose, frozenset(set(names) - partners[link])))
    return replace(shapes, geometry=geometry), tuple(obstacles)


class PairWorkspace:
    """Preallocated data for the distances of one geometry model's pairs; every call writes into it.

    `model`: kinematic tree that carries the shapes; `geometry`: G convex shapes and the K pairs to look at;
    `data`, `placed`: working data of both: poses of the shapes and results of the pairs; `rotations`,
    `translations`, `results`: poses of the shapes in the world frame and results of the pairs: views of
    `placed`, as an access from Python costs more than most distances; `centers`, `radii` (G, 3), (G,) array:
    centre of each shape's bounding sphere in the shape's own frame, and its radius, m; `first`, `second` (K,)
    int: the shapes of each pair; `apart` (K, nv): 1 where a coordinate moves only the second shape, -1 where
    only the first, 0 where both or none.
    """

    def __init__(self, model: pin.Model, geometry: pin.GeometryModel) -> None:
        self.model, self.data = model, model.createData()
        self.geometry, self.placed = geometry, geometry.createData()
        for request in self.placed.distanceRequests:
            request.gjk_tolerance = request.epa_tolerance = _TOLERANCES[0]
        shapes = [shape.geometry for shape in geometry.geometryObjects]
        moves = np.zeros((len(shapes), model.nv))
        for index, shape in enumerate(geometry.geometryObjects):
            shape.geometry.computeLocalAABB()
            for joint in model.supports[shape.parentJoint]:
                moves[index, model.idx_vs[joint] : model.idx_vs[joint] + model.nvs[joint]] = joint > 0
        self.rotations: list[Array] = [self.placed.oMg[index].rotation for index in range(len(shapes))]
        self.translations: list[Array] = [self.placed.oMg[index].translation for index in range(len(shapes))]
        self.results = [self.placed.distanceResults[index] for index in range(len(geometry.collisionPairs))]
        self.centers = np.array([shape.aabb_center for shape in shapes]).reshape(-1, 3)
        self.radii = np.array([shape.aabb_radius for shape in shapes])
        pairs = [(pair.first, pair.second) for pair in geometry.collisionPairs]
        self.first, self.second = np.array(pairs, dtype=np.int64).reshape(-1, 2).T.copy()
        self.apart = moves[self.second] - moves[self.first]


def possible_pairs(workspace: PairWorkspace, q: Array, margin: float) -> list[int]:
    """Put the shapes where a configuration (nq,) has them; find pairs that may be nearer than a margin, m.

    They are those whose bounding spheres are nearer.
    """
    pin.updateGeometryPlacements(workspace.model, workspace.data, workspace.geometry, workspace.placed, q)
    near = _spheres_near(
        np.array(workspace.rotations).reshape(-1, 3, 3),
        np.array(workspace.translations).reshape(-1, 3),
        workspace.centers,
        workspace.radii + 0.5 * margin,
        workspace.first,
        workspace.second,
    )
    return near.nonzero()[0].tolist()


@compiled_entry("radii (s), rotations (s, 3, 3), translations (s, 3), centers (s, 3), first (K), second (K)")
def _spheres_near(
    rotations: Array,
    translations: Array,
    centers: Array,
    radii: Array,
    first: NDArray[np.int64],
    second: NDArray[np.int64],
) -> NDArray[np.bool_]:
    """Whether the bounding spheres of each pair (K,) overlap."""
    middles = np.empty_like(translations)
    for shape in range(len(radii)):
        for axis in range(3):
            middles[shape, axis] = translations[shape, axis]
            for along in range(3):
                middles[shape, axis] += rotations[shape, axis, along] * centers[shape, along]
    near = np.empty(len(first), dtype=np.bool_)
    for pair in range(len(first)):
        reach = radii[first[pair]] + radii[second[pair]]
        squared = 0.0
        for axis in range(3):
            squared += (middles[second[pair], axis] - middles[first[pair], axis]) ** 2
        near[pair] = reach > 0.0 and squared < reach * reach
    return near


def pair_distance(workspace: PairWorkspace, pair: int) -> float:
    """Compute the distance, m, of a pair of placed shapes; negative: the depth of penetration.

    Nearest points and the normal from the first to the second shape are then in `workspace.results[pair]`.
    """
    pin.computeDistance(workspace.geometry, workspace.placed, pair)
    distance = float(workspace.results[pair].min_distance)
    if not distance > _DEEPEST:
        request = workspace.placed.distanceRequests[pair]
        for tolerance in _TOLERANCES[1:]:
            request.gjk_tolerance = request.epa_tolerance = tolerance
            pin.computeDistance(workspace.geometry, workspace.placed, pair)
            distance = float(workspace.results[pair].min_distance)
            if distance > _DEEPEST:
                break
        request.gjk_tolerance = request.epa_tolerance = _TOLERANCES[0]
    return distance


def clearance_rows(
    workspace: PairWorkspace, joints: Array, margin: float, base: Array = AT_ORIGIN
) -> tuple[Array, Array]:
    """Compute the clearance deficits of the pairs that are nearer than a margin, and their Jacobian.

    With the witness points p_a, p_b and the normal n from a to b, the distance d changes by
    n · (J_b − J_a) dq. Joints (n,), rad; `base` is the pose of a floating root link in the world, empty for a
    fixed base. Of k pairs: derivatives of d (k, n), m/rad, and deficits margin − d (k,), m.
    """
    q, columns = np.concatenate([base, joints]), slice(-len(joints), None)
    distances = {pair: pair_distance(workspace, pair) for pair in possible_pairs(workspace, q, margin)}
    near = [pair for pair, distance in distances.items() if distance < margin]
    if not near:
        return np.empty((0, len(joints))), np.empty(0)
    results = [workspace.results[pair] for pair in near]
    normals = np.array([result.normal for result in results])
    # Both witness points lie on the normal, so one line of force stands for both.
    points = np.array([result.getNearestPoint1() for result in results])
    following, preceding = [1, 2, 0], [2, 0, 1]
    moments = points[:, following] * normals[:, preceding] - points[:, preceding] * normals[:, following]
    jacobian = pin.computeJointJacobians(workspace.model, workspace.data)[:, columns]
    missing = margin - np.array([distances[pair] for pair in near])
    return np.hstack([normals, moments]) @ jacobian * workspace.apart[near, columns], missing


def add_obstacles(
    geometry: pin.GeometryModel, obstacles: Sequence[Obstacle], first_joint: int = 0
) -> list[int]:
    """Append obstacles to a geometry model, fixed to the world; return the indices of their shapes.

    Each gets a pair with every shape that `first_joint` or a later joint carries, but for links that may
    touch it, and open fingers beside what their hand holds.
    """
    moved = [
        (index, link_of(shape.name))
        for index, shape in enumerate(geometry.geometryObjects)
        if shape.parentJoint >= first_joint
    ]
    closed = {link_of(shape.name) for shape in geometry.geometryObjects if "_closed" in shape.name}
    placed = []
    for number, obstacle in enumerate(obstacles):
        pose = pin.SE3(obstacle.pose if obstacle.pose.ndim == 2 else obstacle.pose[0])
        # Names of shapes are unique; obstacles' need not be.
        shape = pin.GeometryObject(f"obstacle_{number}", 0, 0, pose, obstacle.shape.clone())
        placed.append(geometry.addGeometryObject(shape))
        for index, link in moved:
            open_finger = link in closed and "_closed" not in geometry.geometryObjects[index].name
            if link not in obstacle.touching and not (obstacle.grasped_beside and open_finger):
                geometry.addCollisionPair(pin.CollisionPair(index, placed[-1]))
    return placed


class ClearanceScene:
    """Pairs that can come near each other while obstacles move, and where the root is at each of T samples.

    `shapes`: collision shapes of the robot, with its own pairs. `base` (T, k): the first k coordinates of the
    configuration at each sample, such as the pose of the root link in the world frame: position, m, and
    quaternion x, y, z, w. `obstacles`: obstacles at rest, or with a pose at each of the T samples.
    `robot_name`: name of the robot for error messages. `first_joint`: joint from which on shapes are paired
    with obstacles. By default the first one after a floating root: legs and pelvis stay as they are. Raises
    RetargetError if a moving obstacle has another number of poses than there are samples, or a link that may
    touch an obstacle is not the robot's.
    """

    def __init__(
        self,
        shapes: BodyShapes,
        base: Array,
        obstacles: Sequence[Obstacle] = (),
        robot_name: str = "the robot",
        first_joint: int = 2,
    ) -> None:
        links = {frame.name for frame in shapes.model.frames if frame.type == pin.FrameType.BODY}
        for obstacle in obstacles:
            if obstacle.pose.ndim == 3 and len(obstacle.pose) != len(base):
                raise RetargetError(
                    f"obstacle `{obstacle.name}`: {len(obstacle.pose)} poses for a trajectory of {len(base)} "
                    "samples; allowed: one pose, or one a sample"
                )
            unknown = sorted(obstacle.touching - links)
            if unknown:
                raise RetargetError(
                    f"obstacle `{obstacle.name}`: {robot_name} has no link `{unknown[0]}` that could touch it"
                )
        geometry = shapes.geometry.copy()
        placed = add_obstacles(geometry, obstacles, first_joint)
        self.workspace, self.base = PairWorkspace(shapes.model, geometry), base
        # References into the model: nothing may be added to it any more.
        self._moving = [
            (geometry.geometryObjects[index], obstacle.pose)
            for index, obstacle in zip(placed, obstacles, strict=True)
            if obstacle.pose.ndim == 3
        ]
        # A wheel's rim is made of many parts, and avoidance asks for the same samples again and again.
        self._poses: dict[float, list[pin.SE3]] = {}

    def place_obstacles(self, sample: float) -> None:
        """Move the obstacles to where they are at a sample, or along a screw between two."""
        before, poses = int(sample), self._poses.get(sample)
        if poses is None:
            poses = [pin.SE3(pose[before]) for _, pose in self._moving]
            if sample > before:
                ends = zip(poses, [pin.SE3(pose[before + 1]) for _, pose in self._moving], strict=True)
                poses = [pin.SE3.Interpolate(start, end, sample - before) for start, end in ends]
            else:
                self._poses[sample] = poses
        for (shape, _), pose in zip(self._moving, poses, strict=True):
            shape.placement = pose

    def rows(self, sample: int, joints: Array, margin: float) -> tuple[Array, Array]:
        """Compute the clearance deficits at a sample, which says where root and obstacles are.

        Joints (n,) of trunk and arms, rad, the least distance of a pair, m, and both results as in
        `clearance_rows`.
        """
        self.place_obstacles(sample)
        return clearance_rows(self.workspace, joints, margin, self.base[sample])
