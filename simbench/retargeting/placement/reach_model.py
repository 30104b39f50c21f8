"""What a robot's hands reach from where its root is: handles as points, arms inside limits, no collision."""

from collections.abc import Mapping

import numpy as np
import pinocchio as pin
from numpy.typing import NDArray
from scipy.optimize import least_squares

from simbench.errors import RetargetError
from simbench.kinematics.arrays import Array
from simbench.kinematics.rotation import ROTATION_WEIGHT
from simbench.kinematics.task_matrix import Tasks, make_workspace
from simbench.kinematics.tree import first_joint, frame_on_body, kinematic_tree
from simbench.motion.human_motion import HandlePath
from simbench.retargeting.collision import clearance
from simbench.retargeting.placement.posture_ik import CompensatedTree, HandPath
from simbench.robot.robot import Robot
from simbench.robot.robot_limbs import close_hands
from simbench.robot.sides import SIDES
from simbench.robot.urdf.source import reduce_model

# A palm's direction is given by points at `ROTATION_WEIGHT` metres from its middle; they weigh so much less
# than the middle, so that a palm that cannot have both is in the right place rather than rotated right.
_DIRECTION_WEIGHT = 0.5
# Of an elbow, rad: nearer to straight the arm's joints become too fast.
_LEAST_BEND = 0.15
# Where links are separated: distance that is aimed at, m; pairs of a pose that are looked at, the deepest;
# and most steps.
_CLEARANCE, _MOST_PAIRS, _SEPARATION_ROUNDS = 0.002, 16, 40


class ReachabilityModel:
    """A robot's trunk and arms with what its hands are to hold; for one search at a time.

    `robot`: robot with the arms that hold the handles. `handles` {side: HandlePath}. `joints` (n,): posture
    of everything but trunk and those arms, and one in which the root does not sway, rad. `sway_gain`: how far
    the root goes, along its x and y, for each metre that it is to take the COG. `model`: trunk and those arms
    that hold something; all else is locked where the posture has it. `hands`: the same as a tree, whose root
    sways against the arms; its workspace is overwritten. Its tasks are the points of the palms: the middle,
    then those that show its direction. `columns` {side: slice}: the points of each hand: two if it may turn
    about its handle, else four. `boxes` tuple of (2, n) arrays: least and greatest positions of the joints,
    rad; one for each branch of the elbows. `limits` (2, n): limits of the joints themselves, rad. `pairs`:
    links that could collide. Raises RetargetError if there is no handle, or the robot has no such arm.
    """

    def __init__(
        self,
        robot: Robot,
        handles: Mapping[str, HandlePath],
        joints: Array,
        sway_gain: tuple[float, float] = (0.0, 0.0),
    ) -> None:
        if not handles:
            raise RetargetError(f"{robot.name}: no handles to reach for: the recording says of no equipment")
        sides, moving = [side for side in SIDES if side in handles], {*robot.groups.get("trunk", ())}
        for side in sides:
            lacks = [f"frame {role}" for role in _roles(side) if role not in robot.frames]
            lacks += [] if f"{side}_arm" in robot.groups else [f"group {side}_arm"]
            if lacks:
                raise RetargetError(f"{robot.name}: cannot reach with its {side} hand; it lacks {lacks[0]}")
            moving.update(robot.groups[f"{side}_arm"])
        self.robot, root, names = robot, pin.neutral(robot.model)[: robot.root_q], robot.model.names
        joint_numbers = range(first_joint(robot.model), robot.model.njoints)
        locked = [joint for joint in joint_numbers if names[joint] not in moving]
        reference = np.concatenate([root, close_hands(robot, joints, sides)])
        shapes = [clearance.convex_shapes(robot)]
        model, (geometry,) = reduce_model(robot.model, locked, reference, shapes)
        clearance.add_self_pairs(robot, geometry)
        self.model, self.pairs = model, clearance.PairWorkspace(model, geometry)
        self.limits = np.stack([model.lowerPositionLimit, model.upperPositionLimit])[:, robot.root_q :]
        self.boxes = _bent_boxes(robot, model, self.limits, sides)
        self.columns: dict[str, slice] = {}
        points: list[Array] = []
        bodies: list[int] = []
        for side in sides:
            body, rotation, middle = frame_on_body(model, model.getFrameId(robot.frames[f"{side}_hand"]))
            axes = _axes(handles[side])
            self.columns[side] = slice(len(points), len(points) + 1 + len(axes))
            points += [middle, *(middle + ROTATION_WEIGHT * rotation @ axis for axis in axes)]
            bodies += [body] * (1 + len(axes))
        weights = np.full(len(points), _DIRECTION_WEIGHT)
        weights[[part.start for part in self.columns.values()]] = 1.0
        nothing = np.empty(0, dtype=np.int64), np.empty((0, 3, 3)), np.empty(0)
        tasks = Tasks(np.array(bodies, dtype=np.int64), np.array(points), weights, *nothing)
        tree, first = kinematic_tree(model), first_joint(model)
        work = make_workspace(tree)
        work.rotation[0], work.position[0] = np.eye(3), 0.0
        inertias = [model.inertias[joint] for joint in range(first - 1, model.njoints)]
        mass, levers = np.array([each.mass for each in inertias]), np.array([each.lever for each in inertias])
        com = np.zeros(2)
        if mass.sum() > 0.0:
            own = joints[[robot.joint_names.index(name) for name in model.names[first:]]]
            com = pin.centerOfMass(model, model.createData(), np.concatenate([root, own]))[:2].copy()
        fractions, gain = mass / max(float(mass.sum()), 1e-9), np.array(sway_gain)
        self.hands = CompensatedTree(tree, tasks, work, fractions, levers, gain, com)


def _bent_boxes(robot: Robot, model: pin.Model, limits: Array, sides: list[str]) -> tuple[Array, ...]:
    """Find the joint limits (2, n), rad, with every elbow bent to one side of straight, in all combinations.

    A branch that the limits hardly allow is left out. The elbow is the joint that brings the wrist nearest to
    the shoulder. A rotation by q about one axis between them makes their distance d² = a + b cos(q − q₀):
    three samples determine q₀, where the arm is straight.
    """
    boxes, data = [limits], model.createData()
    for side in sides:
        shoulder, wrist = (model.getFrameId(robot.frames[f"{side}_{part}"]) for part in ("shoulder", "wrist"))
        size, column, straight = 0.0, 0, 0.0
        for name in robot.groups[f"{side}_arm"]:
            index, squares = model.joints[model.getJointId(name)].idx_q, []
            for angle in (0.0, 0.5 * np.pi, np.pi):
                q = pin.neutral(model)
                q[index] = angle
                pin.framesForwardKinematics(model, data, q)
                apart = data.oMf[wrist].translation - data.oMf[shoulder].translation
                squares.append(float(apart @ apart))
            mean = 0.5 * (squares[0] + squares[2])
            cosine, sine = squares[0] - mean, squares[1] - mean
            if np.hypot(cosine, sine) > size:
                size, straight = float(np.hypot(cosine, sine)), float(np.arctan2(sine, cosine))
                column = index - robot.root_q
        bent = []
        for box in boxes:
            above, below = box.copy(), box.copy()
            above[0, column] = max(box[0, column], straight + _LEAST_BEND)
            below[1, column] = min(box[1, column], straight - _LEAST_BEND)
            bent += [one for one in (above, below) if one[1, column] - one[0, column] > _LEAST_BEND]
        boxes = bent
    return tuple(boxes)


def handle_path_points(handles: Mapping[str, HandlePath]) -> Array:
    """Compute where the palms' points are to be along the path of the handles (K, P, 3), m, world.

    Handles move together: pose k of one with pose k of the other; one that stands still has a single pose.
    Points are in the order of the tasks of `ReachabilityModel`.
    """
    counts = {side: len(handle.poses) for side, handle in handles.items() if len(handle.poses) > 1}
    if len(set(counts.values())) > 1:
        counted = ", ".join(f"{side} {count}" for side, count in counts.items())
        raise RetargetError(f"handles that move together need as many poses each; given: {counted}")
    count, points = max(counts.values(), default=1), []
    for side in SIDES:
        if side in handles:
            offsets = np.vstack([np.zeros((1, 3)), ROTATION_WEIGHT * _axes(handles[side])])
            poses = handles[side].poses
            placed = poses[:, None, :3, 3] + np.einsum("kij,pj->kpi", poses[:, :3, :3], offsets)
            points.append(np.broadcast_to(placed, (count, *placed.shape[1:])))
    return np.concatenate(points, axis=1)


def hand_displacement(handles: Mapping[str, HandlePath]) -> Array:
    """Add up half of what each handle moves from the middle of its path (K, 3), m, world."""
    total = np.zeros((len(handle_path_points(handles)), 3))
    for handle in handles.values():
        path = handle.poses[:, :3, 3]
        total += 0.5 * (path - 0.5 * (path.min(axis=0) + path.max(axis=0)))
    return total


def make_hand_path(
    reach: ReachabilityModel, handles: Mapping[str, HandlePath], sway: Array | None = None
) -> HandPath:
    """Prepare the path of the hands along their handles, in the axes of the world.

    What the COG goes with the hands, the root goes a little farther, as the feet stay. The sway (K, 3), m,
    world, is what else balance asks of the root; None for nothing.
    """
    hands = float(reach.hands.gain.mean()) * hand_displacement(handles)
    return HandPath(handle_path_points(handles), np.zeros_like(hands) if sway is None else sway, hands)


def select_poses(hand_path: HandPath, poses: NDArray[np.int64]) -> HandPath:
    """Keep the poses of a path with these indices (S,) only."""
    return HandPath(*(np.ascontiguousarray(values[poses]) for values in hand_path))


def com_offset(hands: Array, heading: float, follow: float, advance: float) -> Array:
    """Compute how far the root, or the COG, goes with the hands' displacement (K, 3): (K, 2), m, world.

    `follow` is the part of the hands' horizontal displacement, `advance` the displacement forward, m, for
    each metre that the hands rise.
    """
    ahead = np.array([np.cos(heading), np.sin(heading)])
    return np.asarray(follow * hands[:, :2] + advance * hands[:, 2:] * ahead)


def base_displacement(base: Array, hand_path: HandPath) -> Array:
    """Compute where a root with base parameters (6,) is in each pose of a path (K, 3), m, in its axes."""
    root = base[:3] + hand_path.sway
    root[:, :2] += com_offset(hand_path.hands, *base[3:])
    return np.asarray(root)


def from_base(base: Array, hand_path: HandPath) -> Array:
    """Express the points of a path (K, P, 3), m, in the axes of a root with base parameters (6,)."""
    apart = hand_path.points - base_displacement(base, hand_path)[:, None]
    return np.asarray(apart @ rotation_about_z(base[3]))


def rotation_about_z(angle: float) -> Array:
    """Compute the rotation matrix (3, 3) of an angle about z."""
    c, s = np.cos(angle), np.sin(angle)
    return np.array([[c, -s, 0.0], [s, c, 0.0], [0.0, 0.0, 1.0]])


def least_clearance(reach: ReachabilityModel, joints: Array) -> float:
    """Find the least distance, m, between links that could collide along a path (K, n), rad.

    Negative: the depth of penetration. Infinite where no links come near each other.
    """
    root, least = pin.neutral(reach.model)[: reach.robot.root_q], np.inf
    for q in joints:
        near = clearance.possible_pairs(reach.pairs, np.concatenate([root, q]), min(least, 0.0))
        least = min([least, *(clearance.pair_distance(reach.pairs, pair) for pair in near)])
    return least


def separate_links(
    reach: ReachabilityModel, hand_path: HandPath, base: Array, path: Array, box: Array, bounds: Array
) -> tuple[Array, Array]:
    """Find the base pose (6,) and the postures (K, n) where points and clearances together miss the least.

        min Σ_k Σ_p w_p² ‖p_k,p - p(q_k)‖² + Σ_k Σ_pairs max(0, 2 mm - d(q_k))²

    Unlike the placement's other problems it is solved by scipy's trust region: the base and the joints of all
    poses are unknowns together, as the links of one pose may have to be separated by moving the base. It
    begins with the given ones, inside `bounds` (2, 6) and `box` (2, n).
    """
    count, n = path.shape
    least = np.concatenate([bounds[0], np.tile(box[0], count)]) - 1e-9
    most = np.concatenate([bounds[1], np.tile(box[1], count)]) + 1e-9
    start = np.concatenate([base, path.ravel()]).clip(least + 1e-10, most - 1e-10)
    last: list[Array] = []

    def residuals(unknowns: Array) -> list[Array]:
        # Value and derivative are asked for one after the other.
        if not last or not np.array_equal(last[0], unknowns):
            last[:] = unknowns.copy(), *_residuals(reach, hand_path, unknowns.copy())
        return last

    solved = least_squares(
        lambda unknowns: residuals(unknowns)[1],
        start,
        lambda unknowns: residuals(unknowns)[2],
        bounds=(least, most),
        max_nfev=_SEPARATION_ROUNDS,
    ).x
    return solved[:6].clip(*bounds), solved[6:].reshape(count, n).clip(*box)


def _residuals(reach: ReachabilityModel, hand_path: HandPath, unknowns: Array) -> tuple[Array, Array]:
    """Compute what is missing and its derivatives, the pairs' rows filled up with zeros."""
    model, data, hands, tasks = reach.model, reach.pairs.data, reach.hands, reach.hands.tasks
    base, joints = unknowns[:6], unknowns[6:].reshape(len(hand_path.points), -1)
    n, root, first = joints.shape[1], pin.neutral(model)[: reach.robot.root_q], first_joint(model) - 1
    targets, rotation = from_base(base, hand_path), rotation_about_z(base[3])
    # How the base parameters move the root, in its own axes.
    moves = np.zeros((3, 6))
    moves[:, :3] = rotation.T
    errors, slopes = [], []
    for pose, posture in enumerate(joints):
        q = np.concatenate([root, posture])
        columns = slice(6 + pose * n, 6 + (pose + 1) * n)
        x, y, z = hand_path.hands[pose]
        moves[:, 3] = rotation.T @ (base[5] * z * np.array([-np.sin(base[3]), np.cos(base[3]), 0.0]))
        moves[:, 4], moves[:, 5] = rotation.T @ (x, y, 0.0), (z, 0.0, 0.0)
        sway, sway_slope = np.zeros(3), np.zeros((3, n))
        com_jacobian = pin.jacobianCenterOfMass(model, data, q)[:2, -n:]
        sway[:2] = hands.gain * (data.com[0][:2] - hands.reference)
        sway_slope[:2] = hands.gain[:, None] * com_jacobian
        for target, body, point, weight in zip(
            targets[pose], tasks.point_body.tolist(), tasks.point, tasks.point_weight, strict=True
        ):
            axes, placed = pin.ReferenceFrame.LOCAL_WORLD_ALIGNED, data.oMi[first + body]
            jacobian = pin.getJointJacobian(model, data, first + body, axes)[:, -n:]
            arm = placed.rotation @ point
            slope = np.zeros((3, len(unknowns)))
            slope[:, columns] = jacobian[:3] - pin.skew(arm) @ jacobian[3:] - sway_slope
            slope[:, :6] = moves
            # The rotation of the root moves the targets in its axes, too.
            slope[:2, 3] += (-target[1], target[0])
            errors.append(weight * (placed.translation + arm - sway - target))
            slopes.append(weight * slope)
        away, missing = clearance.clearance_rows(reach.pairs, posture, _CLEARANCE, root)
        deepest = np.argsort(-missing)[:_MOST_PAIRS]
        rows, short = np.zeros((_MOST_PAIRS, len(unknowns))), np.zeros(_MOST_PAIRS)
        rows[: len(deepest), columns], short[: len(deepest)] = -away[deepest], missing[deepest]
        errors.append(short)
        slopes.append(rows)
    return np.concatenate(errors), np.vstack(slopes)


def arm_length(reach: ReachabilityModel) -> float:
    """Measure the longer arm from its shoulder along it to its palm, m."""
    model, data = reach.model, reach.model.createData()
    pin.framesForwardKinematics(model, data, pin.neutral(model))
    lengths = []
    for side in reach.columns:
        frames = [model.getFrameId(reach.robot.frames[role]) for role in _roles(side)]
        positions = [data.oMf[frame].translation for frame in frames]
        lengths.append(float(np.linalg.norm(np.diff(positions, axis=0), axis=1).sum()))
    return max(lengths)


def root_sway_path(reach: ReachabilityModel, joints: Array) -> Array:
    """Compute how far joints (K, n) take the COG, in the root's axes, times what the root goes against it.

    (K, 3), m; zero for a root that does not sway.
    """
    model, data, root = reach.model, reach.model.createData(), pin.neutral(reach.model)[: reach.robot.root_q]
    coms = np.array([pin.centerOfMass(model, data, np.concatenate([root, q]))[:2] for q in joints])
    displacement = np.zeros((len(joints), 3))
    displacement[:, :2] = reach.hands.gain * (coms - reach.hands.reference)
    return displacement


def _roles(side: str) -> list[str]:
    """Roles of the frames along an arm."""
    return [f"{side}_{part}" for part in ("shoulder", "elbow", "wrist", "hand")]


def _axes(handle: HandlePath) -> Array:
    """Directions in the palm that the handle determines (p, 3)."""
    return np.eye(3) if handle.turn_axis is None else handle.turn_axis[None]
