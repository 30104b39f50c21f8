"""Adaptation of a person's arm motion to a robot's arms inside their joints' bounds (Kim & Kim 2005)."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import pinocchio as pin
from numpy.typing import ArrayLike, NDArray

from simbench.errors import MotionError, RetargetError
from simbench.kinematics.arrays import Array
from simbench.kinematics.compiled import compiled, compiled_entry
from simbench.kinematics.least_squares import DampingRule, begin, is_running, judge_step, solve_box
from simbench.kinematics.path_solver import PathBounds
from simbench.kinematics.tree import (
    KinematicTree,
    first_joint,
    frame_on_body,
    joint_axes,
    kinematic_tree,
    place_bodies,
)
from simbench.motion.human_motion import HumanMotion, complete_arms, require_both_arms
from simbench.robot.robot import Robot
from simbench.robot.robot_limbs import estimated_accelerations, upper_body
from simbench.robot.sides import SIDES
from simbench.robot.urdf.source import reduce_model

# Weights of the criterion (eq. 2 and 3): w₁ to w₉ of the coordinates of wrist, thumb and pinky, and w₁₀ of
# the upper arm. The paper does not give its own.
WEIGHTS = np.array([*[1.0] * 9, 0.1])
# Fraction of the period by which a frame may be off the even spacing.
_UNEVEN = 0.1
_HAND_POINTS = ("wrist_marker", "thumb", "pinky")
# Where these markers would be on a hand of average size: along the fingers, toward the thumb, out of the back
# of the hand, from the wrist's centre, m.
_USUAL_POINTS = np.array([[0.0, 0.0, 0.025], [0.075, 0.043, 0.025], [0.075, -0.043, 0.025]])
# Cost of leaving the last posture, m²/rad²: a millimetre a radian. It decides where the criterion does not,
# as for humerus and forearm of a straight arm, which would otherwise follow the markers' noise. The paper has
# no such springs.
STIFFNESS = 1e-6
_STARTS = 24
# m², by which another first posture must be better than the one next to the basic posture.
_CLEARLY_BETTER = 1e-5
_ROUNDS = 59
# Steps below 10⁻⁷ rad are the last.
_RULE = DampingRule(
    0.1 * 1e-6, 1e-9, np.inf, step_tolerance=1e-7, gain_tolerance=-1.0, loss_tolerance=0.0, cost_tolerance=0.0
)


class ArmChain(NamedTuple):
    """An arm alone, in the axes of the robot's root, with the trunk's joints at zero; and its workspace."""

    tree: KinematicTree  # Kinematic tree of the arm's n joints in the model's order.
    body: NDArray[np.int64]  # (5,) int: bodies that carry the points: three of the hand, elbow, shoulder.
    local: Array  # (5, 3): positions of these points on their bodies, m.
    # `rotation`, `position` (n + 1, 3, 3) and (n + 1, 3) array: overwritten by `place_arm`: poses of the
    # bodies, m.
    rotation: Array
    position: Array
    point: Array  # (4, 3): overwritten: hand points and elbow from the shoulder, m.
    jacobian: Array  # (4, 3, n): overwritten: derivatives of `point`, m/rad.


def adapt_arms(
    robot: Robot,
    motion: HumanMotion,
    *,
    margin: float = 0.0,
    acceleration: float | None = None,
    weights: ArrayLike = WEIGHTS,
    stiffness: float = STIFFNESS,
) -> tuple[tuple[str, ...], Array, dict[str, Array], dict[str, Array]]:
    """Adapt the arms that both robot and recording have, at the recording's rate (Kim & Kim 2005).

    At each frame `arm_criterion` is least over the increments Δq that `increment_bounds` allows, from the
    posture of the frame before (`arm_path`). The first posture is the best of all, searched from the basic
    posture and from others all over the joints' range, and the robot at rest in it. The same weights serve
    both arms; each has its own ratio of lengths. Margin and acceleration are as in `joint_bounds`, whose
    bounds the motion keeps, with velocity and acceleration by backward differences from rest. The weights
    (10,) are w₁ to w₁₀, the stiffness, m²/rad², that of the springs to the last posture; with infinite
    acceleration and no stiffness it is the paper's method.

    Returns the joints' names, the left arm's, then the right arm's; their positions (T, n) at the recording's
    frames, rad; and by side what is left of the criterion: person minus stretched robot (T, 3, 3), by point
    (wrist, thumb, pinky) and coordinate, m, and the angle between the upper arms (T,), rad.
    """
    # Its import takes a third of a second of CPU time.
    from scipy.stats.qmc import Halton

    arms = [side for side in SIDES if f"{side}_arm" in robot.groups]
    if not arms:
        raise RetargetError(f"{robot.name}: has no arm to adapt a motion to (group left_arm or right_arm)")
    sides = [side for side in complete_arms(motion.joints) if side in arms]
    if not sides:
        raise MotionError(
            f"{motion.source}: holds no arm that {robot.name} has; it needs shoulder, elbow and wrist of the "
            f"{' or '.join(arms)} arm"
        )
    period = _period(motion)
    weight = np.asarray(weights, dtype=np.float64)
    if weight.shape != WEIGHTS.shape or not (weight >= 0.0).all() or not stiffness >= 0.0:
        raise RetargetError(
            f"arm adaptation: weights {weight.tolist()}, stiffness {stiffness:g}; allowed: 10, none negative"
        )
    postures = robot.postures.get("basic", np.zeros(len(robot.joint_names)))
    names: tuple[str, ...] = ()
    paths, hand_errors, upper_arm_errors = [], {}, {}
    for side in sides:
        joints = arm_joints(robot, side)
        hand, upper_arm, hand_points, length = arm_targets(motion, side)
        chain = arm_chain(robot, side, length, hand_points)
        limits = joint_bounds(robot, joints, margin=margin, acceleration=acceleration)
        spread = Halton(len(joints), scramble=False).random(_STARTS)
        basic = postures[[robot.joint_names.index(name) for name in joints]]
        starts = np.vstack([basic, limits.lower + spread * (limits.upper - limits.lower)])
        first, least = basic, np.inf
        for start in np.clip(starts, limits.lower, limits.upper):
            value = minimise_criterion(
                chain, start, hand[0], upper_arm[0], weight, 0.0, limits.lower, limits.upper
            )
            if value < least - _CLEARLY_BETTER:
                first, least = start, value
        path, hand_errors[side], upper_arm_errors[side] = arm_path(
            chain, hand, upper_arm, weight, stiffness, limits, period, first
        )
        names += joints
        paths.append(path)
    return names, np.hstack(paths), hand_errors, upper_arm_errors


def adapted_posture(robot: Robot, motion: HumanMotion, *, margin: float = 0.0) -> Array:
    """Adapt both arms and the trunk: joint positions (T, n) in the order of `upper_body`, rad.

    The arms are those of `adapt_arms`. The first joint of the trunk with a vertical axis follows the rotation
    of the person's trunk on the pelvis since the initial pose, inside the same kinds of bounds: the twist
    about the pelvis' vertical axis, continuous over time. Others, and all where trunk or pelvis were not
    recorded, stay at zero or the limit next to it.
    """
    require_both_arms(motion)
    for side in SIDES:
        arm_joints(robot, side)
    adapted, path, *_ = adapt_arms(robot, motion, margin=margin)
    model = upper_body(robot)
    names = list(model.names[2:])
    q = np.zeros((len(motion.time), len(names)))
    q[:, [names.index(name) for name in adapted]] = path
    trunk = [name for name in names if name not in adapted]
    if not trunk:
        return q
    targets = np.zeros((len(motion.time), len(trunk)))
    recorded = (motion.segments, motion.initial.segments)
    if all(name in segments for name in ("trunk", "pelvis") for segments in recorded):
        turned = np.einsum("tji,tjk->tik", _since_initial(motion, "pelvis"), _since_initial(motion, "trunk"))
        # Twist about z: of the quaternion, (z, w) normalised.
        yaw = np.unwrap(np.arctan2(turned[:, 1, 0] - turned[:, 0, 1], turned[:, 0, 0] + turned[:, 1, 1]))
        jacobian = pin.computeJointJacobians(model, model.createData(), pin.neutral(model))
        for column, name in enumerate(trunk):
            up = jacobian[5, model.joints[model.getJointId(name)].idx_v]
            if abs(up) > np.cos(np.radians(20.0)):
                targets[:, column] += np.sign(up) * yaw
                break
    limits = joint_bounds(robot, trunk, margin=margin)
    q[:, [names.index(name) for name in trunk]] = follow(targets, limits, _period(motion))
    return q


def arm_joints(robot: Robot, side: str) -> tuple[str, ...]:
    """Find an arm's joints in the model's order; refuse a robot that lacks the arm or its frames."""
    needed = [f"{side}_{part}" for part in ("shoulder", "elbow", "wrist", "hand")]
    lacks = [f"group {side}_arm"] if f"{side}_arm" not in robot.groups else []
    lacks += [f"frame {role}" for role in needed if role not in robot.frames]
    if lacks:
        raise RetargetError(f"{robot.name}: has no {side} arm to adapt a motion to: no {', '.join(lacks)}")
    return tuple(sorted(robot.groups[f"{side}_arm"], key=robot.joint_names.index))


def joint_bounds(
    robot: Robot, names: Sequence[str], *, margin: float = 0.0, acceleration: float | None = None
) -> PathBounds:
    """Take the bounds of some joints from a robot, a margin, rad, inside the position limits.

    The acceleration limit of all, rad/s², may be infinite for none as in the paper; without one, each is
    estimated (`estimated_accelerations`).
    """
    if acceleration is None:
        limits = estimated_accelerations(robot, names)
        if not np.isfinite(limits).all():
            raise RetargetError(
                f"{robot.name}: joint {names[int(np.isinf(limits).argmax())]} has no torque limit, so its "
                "acceleration limit is unknown; give acceleration limits"
            )
    elif acceleration > 0.0:
        limits = np.full(len(names), float(acceleration))
    else:
        raise RetargetError(
            f"{robot.name}: the acceleration limit of {names[0]} is {acceleration:g} rad/s²; "
            "it must be positive"
        )
    columns = np.array([robot.joint_names.index(name) for name in names], dtype=np.int64)
    speed = np.asarray(robot.model.velocityLimit)[robot.root_v + columns]
    lower = np.asarray(robot.model.lowerPositionLimit)[robot.root_q + columns] + margin
    upper = np.asarray(robot.model.upperPositionLimit)[robot.root_q + columns] - margin
    bad = np.flatnonzero(~(lower <= upper))
    if bad.size:
        raise RetargetError(
            f"{robot.name}: a margin of {margin:g} rad leaves {names[bad[0]]} no range; "
            f"it must be less than {0.5 * (upper - lower)[bad[0]] + margin:.3g} rad"
        )
    return PathBounds(lower, upper, speed, limits)


def arm_targets(motion: HumanMotion, side: str) -> tuple[Array, Array, Array, float]:
    """Take one arm out of a recording, in the axes of the trunk as it is in the initial pose.

    These axes are x forward, z up. The hand's points are the markers `wrist_marker`, `thumb` and `pinky` of
    the side where they were recorded, else three points fixed in the hand. Vectors are turned back by the
    trunk's rotation since the initial pose; where no trunk was recorded, by the rotation of the shoulders'
    line about the vertical. Returns `hand` (T, 3, 3): wrist, thumb and pinky from the shoulder, m;
    `upper_arm` (T, 3): unit vector from shoulder to elbow; `hand_points` (3, 3): the hand's points from the
    wrist in the initial pose, m; `length`: length of upper arm and forearm, m.
    """
    needed = [f"{side}_{joint}" for joint in ("shoulder", "elbow", "wrist")]
    lacks = [name for name in needed if name not in motion.joints]
    lacks += [f"{side}_hand"] if f"{side}_hand" not in motion.segments else []
    if lacks:
        raise MotionError(f"{motion.source}: the recording lacks {', '.join(lacks)}, needed to adapt the arm")
    shoulder, elbow, _ = (motion.joints[name] for name in needed)
    rest = [motion.initial.joints[name] for name in needed]
    limbs = np.linalg.norm(np.diff(rest, axis=0), axis=1)
    reach = np.linalg.norm(elbow - shoulder, axis=1)
    if not (limbs.min() > 1e-3 and reach.min() > 1e-6):
        raise MotionError(f"{motion.source}: the {side} shoulder, elbow and wrist must be apart")

    hand, start = motion.segments[f"{side}_hand"], motion.initial.segments[f"{side}_hand"]
    rotation, middle = hand[:, :3, :3], hand[:, :3, 3]
    names = [f"{side}_{point}" for point in _HAND_POINTS]
    if all(name in motion.markers for name in names):
        tracks = np.stack([motion.markers[name] for name in names], axis=1)
        local = np.einsum("tji,tpj->pi", rotation, tracks - middle[:, None]) / len(rotation)
        hand_points = local @ start[:3, :3].T + start[:3, 3] - rest[2]
    else:
        hand_points = _USUAL_POINTS * [1.0, 1.0 if side == "right" else -1.0, 1.0]
        local = (hand_points + rest[2] - start[:3, 3]) @ start[:3, :3]
        tracks = middle[:, None] + np.einsum("tij,pj->tpi", rotation, local)

    trunk = np.tile(np.eye(3), (len(motion.time), 1, 1))
    sides = ("left_shoulder", "right_shoulder")
    if "trunk" in motion.segments and "trunk" in motion.initial.segments:
        trunk = _since_initial(motion, "trunk")
    elif all(name in motion.joints for name in sides):
        now, then = (joints[sides[0]] - joints[sides[1]] for joints in (motion.joints, motion.initial.joints))
        yaw = np.arctan2(now[:, 1], now[:, 0]) - np.arctan2(then[1], then[0])
        trunk[:, 0, 0] = trunk[:, 1, 1] = np.cos(yaw)
        trunk[:, 1, 0] = np.sin(yaw)
        trunk[:, 0, 1] = -trunk[:, 1, 0]
    seen = np.einsum("tji,tpj->tpi", trunk, tracks - shoulder[:, None])
    direction = np.einsum("tji,tj->ti", trunk, (elbow - shoulder) / reach[:, None])
    bad = np.flatnonzero(~(np.isfinite(seen).all(axis=(1, 2)) & np.isfinite(direction).all(axis=1)))
    if bad.size:
        raise MotionError(
            f"{motion.source}: the {side} arm is NaN or infinite at frame {bad[0]} "
            f"({motion.time[bad[0]]:.3f} s); every sample must be a finite number"
        )
    return seen, direction, hand_points, float(limbs.sum())


def arm_chain(robot: Robot, side: str, length: float, hand_points: Array) -> ArmChain:
    """Stretch a robot's arm between shoulder and wrist by ρ = L_human / L_robot (Kim & Kim 2005, §2).

    L is the length of upper arm and forearm; `length` is the person's, m. The hand keeps the size of the
    person's: its points, (3, 3), m, are placed from the robot's wrist, along the axes of its hand frame, as
    they are from the person's wrist: wrist, thumb and pinky along the fingers, to the left and out of the
    back of a hand held forward with its palm down.
    """
    names = arm_joints(robot, side)
    locked = [
        joint
        for joint in range(first_joint(robot.model), robot.model.njoints)
        if robot.model.names[joint] not in names
    ]
    model = reduce_model(robot.model, locked, pin.neutral(robot.model))
    parts = ("shoulder", "elbow", "wrist", "hand")
    frames = {part: model.getFrameId(robot.frames[f"{side}_{part}"]) for part in parts}
    joints = {part: int(model.frames[frame].parentJoint) for part, frame in frames.items()}
    data = model.createData()
    pin.framesForwardKinematics(model, data, pin.neutral(model))
    position = {part: np.asarray(data.oMf[frame].translation) for part, frame in frames.items()}
    limbs = np.linalg.norm(
        [position["elbow"] - position["shoulder"], position["wrist"] - position["elbow"]], axis=1
    )
    if limbs.min() < 1e-3:
        raise RetargetError(f"{robot.name}: the {side} shoulder, elbow and wrist must be apart: {limbs} m")
    ratio = length / float(limbs.sum())
    rotation = data.oMi[joints["hand"]].rotation.T @ data.oMf[frames["hand"]].rotation
    wrist = data.oMi[joints["hand"]].actInv(position["wrist"])
    # Beyond the wrist the robot keeps its size.
    above = list(model.supports[joints["shoulder"]])
    stretched = [joint for joint in model.supports[joints["wrist"]] if joint not in above]
    for joint in stretched:
        placement = model.jointPlacements[joint]
        placement.translation = placement.translation * ratio
    if joints["hand"] in stretched:
        wrist = wrist * ratio
    hand_body = frame_on_body(model, frames["hand"])[0]
    elbow_body, _, elbow = frame_on_body(model, frames["elbow"])
    shoulder_body, _, shoulder = frame_on_body(model, frames["shoulder"])
    if elbow_body != shoulder_body:
        elbow = elbow * ratio
    body = np.array([hand_body] * 3 + [elbow_body, shoulder_body], dtype=np.int64)
    local = np.vstack([wrist + hand_points @ rotation.T, elbow, shoulder])
    n = len(names)
    workspace = [np.empty(shape) for shape in ((n + 1, 3, 3), (n + 1, 3), (4, 3), (4, 3, n))]
    return ArmChain(kinematic_tree(model), body, local, *workspace)


def _since_initial(motion: HumanMotion, segment: str) -> Array:
    """Rotation (T, 3, 3) of a segment since the initial pose, in world axes."""
    return np.asarray(
        motion.segments[segment][:, :3, :3] @ motion.initial.segments[segment][:3, :3].T, dtype=np.float64
    )


def _period(motion: HumanMotion) -> float:
    """Time between frames, s; backward differences mean something on an even grid only."""
    if len(motion.time) < 2:
        return 1.0
    period = float(motion.time[-1] - motion.time[0]) / (len(motion.time) - 1)
    away = np.abs(motion.time - motion.time[0] - period * np.arange(len(motion.time)))
    if not away.max() <= _UNEVEN * period:
        worst = int(away.argmax())
        raise RetargetError(
            f"{motion.source}: frame {worst} is {1e3 * away[worst]:.3g} ms off the even spacing of "
            f"{1e3 * period:.3g} ms; arm adaptation allows {1e3 * _UNEVEN * period:.3g} ms: resample it"
        )
    return period


@compiled
def place_arm(chain: ArmChain, q: Array) -> None:
    """Write hand points and elbow from the shoulder, and their Jacobians, into the chain's workspace."""
    tree, n = chain.tree, len(q)
    chain.rotation[0], chain.position[0] = np.eye(3), np.zeros(3)
    place_bodies(tree, q, chain.rotation, chain.position)
    axes, world = np.empty((n, 6)), np.empty((5, 3))
    joint_axes(tree, chain.rotation, chain.position, chain.position[0], axes)
    for p in range(5):
        turn, x = chain.rotation[chain.body[p]], chain.local[p]
        away = turn[:, 0] * x[0] + turn[:, 1] * x[1] + turn[:, 2] * x[2]
        world[p] = chain.position[chain.body[p]] + away
    chain.jacobian[:] = 0.0
    for p in range(4):
        chain.point[p] = world[p] - world[4]
        for end, sign in ((p, 1.0), (4, -1.0)):
            x, y, z = world[end]
            body = chain.body[end]
            while body > 0:
                k = body - 1
                vx, vy, vz, wx, wy, wz = axes[k]
                chain.jacobian[p, 0, k] += sign * (vx + wy * z - wz * y)
                chain.jacobian[p, 1, k] += sign * (vy + wz * x - wx * z)
                chain.jacobian[p, 2, k] += sign * (vz + wx * y - wy * x)
                body = tree.parent[k]


@compiled
def arm_criterion(
    chain: ArmChain, q: Array, hand: Array, upper_arm: Array, weights: Array, stiffness: float, start: Array
) -> tuple[float, Array, Array]:
    """Compute f of an arm, m², half its Gauss-Newton matrix (n, n), and minus half its gradient (n,).

    f = EᵀWE + w₁₀ ‖s‖² (Kim & Kim 2005, eq. 2), E the person's hand points minus the robot's. With r the
    robot's upper arm and û the direction of the person's, s = r − (ûᵀr) û, so that ‖s‖² = rᵀr − (ûᵀr)²; eq. 4
    is printed with the opposite sign. That is least, too, where r points against û. So beyond a right angle
    the measure goes on as rᵀr + (ûᵀr)², once continuously differentiable, and is greatest there. With

        ½ ∂f/∂q = (∂E)ᵀ W E + w₁₀ (∂r)ᵀ (r − |ûᵀr| û)

    Springs to the start, ‖q − q₀‖² times the stiffness, m²/rad², are added. Of the matrix, m²/rad², only the
    lower triangle is computed; the gradient is in m²/rad. The person's hand points (3, 3), m, and û (3,) are
    those of `arm_targets`; the weights (10,) are w₁ to w₁₀.
    """
    place_arm(chain, q)
    n, r, value = len(q), chain.point[3], 0.0
    matrix, descent = np.zeros((n, n)), np.zeros(n)
    for p in range(3):
        for i in range(3):
            error, weight = hand[p, i] - chain.point[p, i], weights[3 * p + i]
            value += weight * error * error
            for a in range(n):
                pull = weight * chain.jacobian[p, i, a]
                descent[a] += pull * error
                for b in range(a + 1):
                    matrix[a, b] += pull * chain.jacobian[p, i, b]
    along = upper_arm[0] * r[0] + upper_arm[1] * r[1] + upper_arm[2] * r[2]
    sense = 1.0 if along >= 0.0 else -1.0
    value -= weights[9] * sense * along * along
    turned = np.zeros(n)
    for i in range(3):
        value += weights[9] * r[i] * r[i]
        turned += upper_arm[i] * chain.jacobian[3, i]
        for a in range(n):
            pull = weights[9] * chain.jacobian[3, i, a]
            descent[a] -= pull * (r[i] - sense * along * upper_arm[i])
            for b in range(a + 1):
                matrix[a, b] += pull * chain.jacobian[3, i, b]
    for a in range(n):
        away = q[a] - start[a]
        value += stiffness * away * away
        descent[a] -= stiffness * away
        for b in range(a + 1):
            matrix[a, b] -= weights[9] * sense * turned[a] * turned[b]
        matrix[a, a] += stiffness
    return value, matrix, descent


@compiled_entry("chain.tree.parent (n), q (n), hand (3, 3), upper_arm (3), weights (10), low (n), high (n)")
def minimise_criterion(
    chain: ArmChain,
    q: Array,
    hand: Array,
    upper_arm: Array,
    weights: Array,
    stiffness: float,
    low: Array,
    high: Array,
) -> float:
    """Find the least f + ‖q − q₀‖² stiffness in a box, q₀ the start (Levenberg-Marquardt, exact box steps).

    The solution overwrites q (n,), the start, rad; the bounds (n,) are in rad. Returns the least value, m².
    """
    start = q.copy()
    q[:] = np.minimum(np.maximum(q, low), high)
    value, matrix, descent = arm_criterion(chain, q, hand, upper_arm, weights, stiffness, start)
    progress = begin(_RULE, value)
    while is_running(_RULE, progress, _ROUNDS):
        damped = matrix.copy()
        for k in range(len(q)):
            damped[k, k] += progress.damping
        step = solve_box(damped, descent, low - q, high - q)
        new = np.minimum(np.maximum(q + step, low), high)
        value, new_matrix, new_descent = arm_criterion(chain, new, hand, upper_arm, weights, stiffness, start)
        progress = judge_step(_RULE, progress, value, np.abs(step).max())
        if progress.accepted:
            q[:], matrix, descent = new, new_matrix, new_descent
    return progress.cost


@compiled_entry(
    "chain.tree.parent (n), hand (T, 3, 3), upper_arm (T, 3), weights (10), bounds.lower (n), first (n)"
)
def arm_path(
    chain: ArmChain,
    hand: Array,
    upper_arm: Array,
    weights: Array,
    stiffness: float,
    bounds: PathBounds,
    period: float,
    first: Array,
) -> tuple[Array, Array, Array]:
    """Follow an arm frame by frame: the least criterion over what joints can do from the frame before.

    With accelerations bounded, the least criterion alone makes a joint that could not keep up pass its target
    at full speed, again and again: nothing in it says that a joint has to slow down in time. So increments
    are also bounded to those that can still slow down to the speed of the target (`approach`), which is the
    solution with position and speed bounds only, the paper's.

    The person's hand (T, 3, 3), m, and upper arm (T, 3) are those of `arm_targets`, weights and stiffness
    those of `adapt_arms`; the period is in s, the first posture (n,) in rad. Returns joint
    positions (T, n), rad, the person's hand points minus the robot's (T, 3, 3), m, and the angle between the
    upper arms (T,), rad.
    """
    path, errors, angles = np.empty((len(hand), len(first))), np.empty((len(hand), 3, 3)), np.empty(len(hand))
    free = PathBounds(bounds.lower, bounds.upper, bounds.speed, np.full(len(first), np.inf))
    bounded = bool((bounds.acceleration < np.inf).any())
    q, target, velocity = first.copy(), first.copy(), np.zeros(len(first))
    for t in range(len(hand)):
        if t > 0:
            last = target.copy()
            # Without accelerations the velocity does not matter.
            low, high = increment_bounds(free, last, velocity, period)
            low, high = low + last, high + last
            minimise_criterion(chain, target, hand[t], upper_arm[t], weights, stiffness, low, high)
            if bounded:
                low, high = increment_bounds(bounds, q, velocity, period)
                for k in range(len(q)):
                    behind = last[k] - q[k]
                    change = approach(behind, target[k] - q[k], bounds.acceleration[k], period)
                    change = min(max(change, low[k]), high[k])
                    if behind > 0.0:
                        high[k] = change
                    elif behind < 0.0:
                        low[k] = change
                low, high = low + q, high + q
                minimise_criterion(chain, q, hand[t], upper_arm[t], weights, stiffness, low, high)
            q[:] = np.minimum(np.maximum(q if bounded else target, bounds.lower), bounds.upper)
            velocity = (q - path[t - 1]) / period
        path[t] = q
        place_arm(chain, q)
        r, u = chain.point[3], upper_arm[t]
        errors[t] = hand[t] - chain.point[:3]
        along = r[0] * u[0] + r[1] * u[1] + r[2] * u[2]
        length = np.sqrt(r[0] * r[0] + r[1] * r[1] + r[2] * r[2])
        angles[t] = np.arccos(min(max(along / length, -1.0), 1.0))
    return path, errors, angles


@compiled
def braking_speed(distance: float, acceleration: float, period: float) -> float:
    """Compute the greatest speed, rad/s, toward a limit from which the limit is never passed.

    A joint that moves by dt v in this sample and then brakes as hard as it may, by dt (v − a dt),
    dt (v − 2a dt), ..., goes F(v) = dt Σ_j max(0, v − j a dt) before it rests. F is increasing and piecewise
    linear: with n terms above zero, F = n dt v − ½ n (n − 1) a dt². The speed is where F(v) = s; the
    textbook's √(2 a s), right for infinitely short samples, lets the joint pass the limit. The distance s to
    the limit before this sample, rad, is not negative; the acceleration a, rad/s², may be infinite.
    """
    step = acceleration * period
    if distance <= step * period:
        return max(distance, 0.0) / period
    n = np.ceil(0.5 * np.sqrt(1.0 + 8.0 * distance / (step * period)) - 0.5)
    return distance / (n * period) + 0.5 * (n - 1.0) * step


@compiled
def increment_bounds(bounds: PathBounds, q: Array, velocity: Array, period: float) -> tuple[Array, Array]:
    """Compute the least and the greatest next increment Δq (n,), rad (Kim & Kim 2005, eq. 9, 13, 14).

    With the velocity v' = Δq / dt, v that of the last sample, and s the distances to the limits:

        |v'| ≤ v_max,   |v' − v| ≤ a dt,   −b(s_low) ≤ v' ≤ b(s_up),   b = `braking_speed`.

    The paper's position bound, v' ≤ s / dt, is contained in the third, for b(s) ≤ s / dt. The interval is
    never empty, by induction. A joint at rest inside its limits is safe. Let the last increment have kept
    v ≤ b(s + dt v): then F(v) ≤ s + dt v, so that braking once, u = max(0, v − a dt), leaves
    F(u) = F(v) − dt v ≤ s, that is u ≤ b(s) (for v ≤ 0, u = 0 ≤ b(s)). Hence v − a dt ≤ b(s_up), and, by
    symmetry, −b(s_low) ≤ v + a dt. The other pairs of lower and upper ends are in order because
    −b(s_low) ≤ 0 ≤ b(s_up) and |v| ≤ v_max. Intervals of which every two meet have a point in common.

    Positions q, rad, and velocity, the last increment over the period dt, rad/s, are of the last sample.
    """
    low, high = np.empty(len(q)), np.empty(len(q))
    for k in range(len(q)):
        speed, acceleration = bounds.speed[k], bounds.acceleration[k]
        down = braking_speed(q[k] - bounds.lower[k], acceleration, period)
        up = braking_speed(bounds.upper[k] - q[k], acceleration, period)
        least = max(-speed, velocity[k] - acceleration * period, -down)
        greatest = min(speed, velocity[k] + acceleration * period, up)
        if least > greatest:
            # Rounding: the two have met.
            least = greatest = 0.5 * (least + greatest)
        low[k], high[k] = period * least, period * greatest
    return low, high


@compiled
def approach(behind: float, ahead: float, acceleration: float, period: float) -> float:
    """Compute an increment, rad, that catches up with a moving target and can still slow down to its speed.

    The last target is `behind` the position and this one `ahead` of it, both target minus position, rad.
    """
    catch_up = period * braking_speed(abs(behind), acceleration, period)
    return ahead - behind + min(max(behind, -catch_up), catch_up)


@compiled_entry("bounds.lower (n), targets (T, n)")
def follow(targets: Array, bounds: PathBounds, period: float) -> Array:
    """Follow targets (T, n), rad, as bounds allow, from rest, and come to rest at a target that stays.

    The first target is the start, moved into the position limits.
    """
    result = np.empty_like(targets)
    result[0] = np.minimum(np.maximum(targets[0], bounds.lower), bounds.upper)
    velocity = np.zeros(targets.shape[1])
    for t in range(1, len(targets)):
        q = result[t - 1]
        low, high = increment_bounds(bounds, q, velocity, period)
        for k in range(len(q)):
            behind, ahead = targets[t - 1, k] - q[k], targets[t, k] - q[k]
            change = approach(behind, ahead, bounds.acceleration[k], period)
            position = q[k] + min(max(change, low[k]), high[k])
            result[t, k] = min(max(position, bounds.lower[k]), bounds.upper[k])
        velocity = (result[t] - q) / period
    return result
