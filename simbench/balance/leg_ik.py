"""Standing on both feet: legs and pelvis that keep the COG over the soles while the upper body moves.

A seated robot's legs and pelvis stay as they are: the seat carries the body. Newton's method works for
legs and pelvis of many frames at once: feet in place, COG over its target.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
import pinocchio as pin
from numpy.typing import NDArray

from simbench.balance.sections import FULL_LEG, SOLE_TOLERANCE
from simbench.errors import BalanceError, LegReachError, RetargetError, RobotError
from simbench.kinematics.arrays import Array
from simbench.kinematics.rotation import turn_quaternions
from simbench.kinematics.task_matrix import body_masses
from simbench.kinematics.tree import frame_on_body, kinematic_tree, place_path
from simbench.robot.robot import SEATED, Robot
from simbench.robot.sides import SIDES

_MAX_ITERATIONS = 40  # Newton steps of a frame.
_FURTHEST = 2.0 * np.pi  # Angle of a leg's joint that none has, rad.
# Error of feet and COG before the last Newton step, m or rad; it leaves about the square. The remaining error
# changes from frame to frame and shows, differentiated twice, in the planned torque.
_TOLERANCE = 1e-5
# Parts of the largest singular value below which legs of fewer than six joints do not move feet, and COG.
_LEAST_FEET, _LEAST_COG = 0.01, 0.05
_LEAST_HEIGHT = 0.05  # Least height of a pelvis above the floor in which lengths are measured, m.
# Rotation, rad, and shift, m, of the pelvis by which it is found out whether such legs allow them.
_TRIED_TURN, _TRIED_SWAY = 0.1, 0.02
_MIN_KNEE_BEND = 0.1  # Least bend of the knees, rad, at another pelvis height: straight legs cannot move it.
_HEIGHT_STEP = 0.01  # Step from pelvis height to pelvis height, m.
_HEIGHT_RESOLUTION = 1e-4  # Resolution of the ends of the range of pelvis heights, m.
# Heights of the pelvis that are tried in turn, as parts of the leg's length above the posture's.
_LOWER = (0.0, -0.025, -0.05, -0.075, -0.1, -0.15, -0.2)
_DIGITS = 4  # Digits of a height after the point, m.


class LegModel:
    """Kinematics and masses of a robot on two legs, taken out of its model.

    `legs`: two (k,) int arrays, the joints of each leg among the n of `tree`; `feet`: body that carries each
    foot's frame, and the frame's rotation (3, 3) and position (3,) on it, m; `carried` (n, n + 1) bool:
    whether a joint carries a body.
    """

    def __init__(self, robot: Robot) -> None:
        model = robot.model
        self.legs = [leg_columns(robot, side) for side in SIDES]
        self.feet = [frame_on_body(model, model.getFrameId(robot.frames[f"{side}_foot"])) for side in SIDES]
        self.tree, self.masses = kinematic_tree(model), body_masses(model)
        parent = self.tree.parent
        self.carried = np.zeros((len(parent), len(parent) + 1), dtype=bool)
        for joint in reversed(range(len(parent))):
            self.carried[joint, joint + 1] = True
            if parent[joint] > 0:
                self.carried[parent[joint] - 1] |= self.carried[joint]


@dataclass(frozen=True)
class Stance:
    """Both feet flat on the floor, pelvis upright at a fixed height."""

    # {side: pinocchio.SE3}: pose of each foot frame in the world frame, by side (left, right).
    soles: dict[str, pin.SE3]
    # (7,): nominal pose of the root link in the world frame: position, m, and quaternion x, y, z, w.
    base: Array
    # (n,): joint positions of the posture it comes from, in the order of `robot.joint_names`, rad.
    joints: Array
    target: Array  # (2,): target of the COG in the world frame, m: the middle of the support polygon.
    # Whether the thighs lie on a seat: pelvis and legs then stay as they are, whatever the COG does.
    seated: bool = False


def stand(
    robot: Robot, position: tuple[float, float], heading: float, posture: str, height: float = 0.0
) -> Stance:
    """Place a robot on the floor in a posture, standing or seated, at the posture's or another pelvis height.

    `robot`: robot with two legs; `position`: middle between the feet in the world frame, m; `heading`:
    direction of the robot's x axis in the world frame, rad about z; `posture`: name in `robot.postures` of a
    posture with both soles flat; `height`: height of the pelvis above its height in the posture, m: the legs
    bend or stretch, the soles stay where they are, the COG over the middle of their polygon. Returns soles,
    root pose, joint positions and the target of the COG.
    """
    missing = [f"soles.{side}_foot" for side in SIDES if f"{side}_foot" not in robot.soles]
    if missing:
        raise RobotError(
            f"{robot.name}: {' and '.join(missing)} missing: to stand, a robot needs a flat sole under each "
            "foot"
        )
    if posture not in robot.postures:
        raise RobotError(f"{robot.name}: no posture {posture!r}; allowed: {', '.join(robot.postures)}")
    joints = robot.postures[posture]
    data = robot.model.createData()
    frames = {side: robot.model.getFrameId(robot.frames[f"{side}_foot"]) for side in SIDES}
    rotation = pin.utils.rotate("z", heading)
    upright = pin.SE3(rotation, np.zeros(3))
    pin.framesForwardKinematics(robot.model, data, np.concatenate([pin.SE3ToXYZQUAT(upright), joints]))
    feet = {side: data.oMf[frame].copy() for side, frame in frames.items()}
    tilt = max(float(np.arccos(np.clip(foot.rotation[2, 2], -1, 1))) for foot in feet.values())
    uneven = abs(feet["left"].translation[2] - feet["right"].translation[2])
    if tilt > 1e-3 or uneven > 1e-4:
        raise RobotError(
            f"{robot.name}: posture {posture!r} does not stand: soles tilted {tilt:.4f} rad, "
            f"{1000 * uneven:.2f} mm uneven (allowed 0.001 rad, 0.1 mm)"
        )
    middle = 0.5 * (feet["left"].translation + feet["right"].translation)
    shift = np.array([*position, 0.0]) - middle
    soles = {}
    for side, foot in feet.items():
        yaw = float(np.arctan2(foot.rotation[1, 0], foot.rotation[0, 0]))
        on_floor = foot.translation + shift
        on_floor[2] = 0.0
        soles[side] = pin.SE3(pin.utils.rotate("z", yaw), on_floor)
    corners = np.vstack(
        [(soles[side].act(corner)) for side in SIDES for corner in robot.soles[f"{side}_foot"]]
    )
    target = 0.5 * (corners[:, :2].min(axis=0) + corners[:, :2].max(axis=0))
    base = pin.SE3ToXYZQUAT(pin.SE3(rotation, shift))
    stance = Stance(soles, base, joints.copy(), target, posture == SEATED)
    if stance.seated and height != 0.0:
        raise RetargetError(
            f"{robot.name}: sits with its pelvis at one height; allowed: robot.height_m 0, got {height:g}"
        )
    if height == 0.0:
        return stance
    if abs(height) > abs(_height_limit(robot, stance, np.sign(height))):
        # Rounded toward the posture's, so that what is allowed is.
        low, high = (np.trunc(1e3 * _height_limit(robot, stance, sign)) / 1e3 for sign in (-1.0, 1.0))
        raise LegReachError(
            f"{robot.name}: its legs do not allow a pelvis {height:+.3f} m from the posture's height; "
            f"allowed: {low:+.3f} to {high:+.3f} m"
        )
    count, model = 1 + int(abs(height) / _HEIGHT_STEP), LegModel(robot)
    for _ in range(count):
        q = np.concatenate([stance.base, stance.joints])[None]
        q[0, 2] += height / count
        _iterate(robot.name, model, stance, q, stance.target[None])
        stance = replace(stance, base=q[0, :7], joints=q[0, 7:])
    return stance


def height_range(robot: Robot, posture: str) -> tuple[float, float]:
    """Find the range of pelvis heights that the legs allow, upright, with the COG over the feet.

    `robot`: robot with two legs; `posture`: name in `robot.postures` of a posture with both soles flat.
    Returns `low`, `high`: height relative to the posture's, m, low ≤ 0 ≤ high: the leg joints stay inside
    their limits and the knees bent by at least 0.1 rad. Raises RobotError as `stand`.
    """
    stance = stand(robot, (0.0, 0.0), 0.0, posture)
    return _height_limit(robot, stance, -1.0), _height_limit(robot, stance, 1.0)


def solve_com_ik(
    robot: Robot,
    stance: Stance,
    joints: Array,
    target: Array | None = None,
    height: Array | None = None,
    *,
    turn: Array | None = None,
    start: Array | None = None,
    embedding: bool = True,
) -> tuple[Array, Array]:
    """Solve the inverse kinematics of the legs that keeps the COG over a target, feet fixed, in all frames.

    The pelvis has a given orientation and height; its horizontal shift d and the leg joints dq follow
    together by Newton's method from both feet's pose errors e and the COG's distance from its target:

        J_leg dq + J_base d = e,   J_c,leg dq + J_c,base d = c_target − c(q).

    Legs of fewer than six joints keep the feet in place, and the COG over its target only as far as they can.
    In a seated stance pelvis and legs stay as they are.

    `robot`: robot with two legs. `stance`: poses of the soles, and root pose and joint positions to start
    from. `joints` (T, n): joint positions; those of the legs are replaced, rad. `target` (T, 2): target of
    the COG in the world frame, m; the stance's target by default. `height` (T,): height of the pelvis above
    its height in the stance, m; 0 by default. `turn` (T, 3): rotation of the pelvis from its orientation in
    the stance, a rotation vector in world axes, rad; 0 by default. `start` (T, 7): pose of the root link from
    which to solve, with the legs of `joints`: that of a similar motion. By default pelvis and legs start from
    the stance. `embedding`: whether the COG is that of the upper body's motion. Otherwise trunk, arms and
    head are taken to be at rest as in the stance, and the legs do not react to them. Returns `base` (T, 7):
    pose of the root link in the world frame: position, m, and quaternion x, y, z, w; `joints` (T, n): joint
    positions, those of the legs solved, rad. Raises RetargetError if the legs cannot reach a pelvis position
    that balances the motion, or are straight.
    """
    both = np.concatenate([leg_columns(robot, side) for side in SIDES])
    if stance.seated:
        still = joints.copy()
        still[:, both] = stance.joints[both]
        return np.tile(stance.base, (len(joints), 1)), still
    targets = np.broadcast_to(stance.target if target is None else target, (len(joints), 2))
    known = joints if embedding else np.broadcast_to(stance.joints, joints.shape)
    q = np.hstack([np.tile(stance.base, (len(joints), 1)) if start is None else start, known])
    q[:, 7 + both] = stance.joints[both] if start is None else joints[:, both]
    q[:, 2] = stance.base[2] + (0.0 if height is None else height)
    if turn is not None:
        turn_quaternions(np.tile(stance.base[3:], (len(joints), 1)), turn, q[:, 3:7])
    _iterate(robot.name, LegModel(robot), stance, q, targets)
    # Newton's method may pass a straight leg and come to its end turns away.
    turned = np.abs(q[:, 7 + both]).max(axis=1) > _FURTHEST
    if turned.any():
        raise LegReachError(f"{robot.name}: the legs cannot balance frame {int(turned.argmax())}")
    balanced = joints.copy()
    balanced[:, both] = q[:, 7 + both]
    return q[:, :7].copy(), balanced


def _iterate(name: str, model: LegModel, stance: Stance, configurations: Array, targets: Array) -> None:
    """Take Newton steps until soles and COG are where they should be in every frame.

    `configurations` (T, 7 + n): root position (m), quaternion x y z w, joints (rad); horizontal position and
    legs are changed in place; `targets` (T, 2): targets of the COG in the world frame, m.
    """
    tree, masses, left = model.tree, model.masses, np.arange(len(configurations))
    full = all(len(leg) == FULL_LEG for leg in model.legs)
    height = max(float(stance.base[2] - stance.soles["left"].translation[2]), _LEAST_HEIGHT)
    for _ in range(_MAX_ITERATIONS):
        q = configurations[left]
        bodies = len(tree.parent) + 1
        rotation, position = np.empty((len(q), bodies, 3, 3)), np.empty((len(q), bodies, 3))
        place_path(tree, q, rotation, position)
        moments = masses.mass[:, None] * (position + (rotation @ masses.centre[:, :, None])[..., 0])
        missing = targets[left] - moments.sum(axis=1)[:, :2] / masses.mass.sum()
        # Of the legs: the step that mends the feet (last column), those that a metre of the pelvis undoes.
        right = np.zeros((len(q), 6, 3))
        right[:, [0, 1], [0, 1]] = 1.0
        steps, feet, slope, sway = [], np.zeros(len(q)), np.tile(np.eye(2), (len(q), 1, 1)), missing
        parts: list[tuple[Array, Array, Array]] = []
        for side, leg, (body, frame, centre) in zip(SIDES, model.legs, model.feet, strict=True):
            foot, sole = position[:, body] + rotation[:, body] @ centre, stance.soles[side]
            right[:, :3, 2] = sole.translation - foot
            error = sole.rotation @ (rotation[:, body] @ frame).transpose(0, 2, 1)
            twice_sine = error[:, [2, 0, 1], [1, 2, 0]] - error[:, [1, 2, 0], [2, 0, 1]]
            length = np.linalg.norm(twice_sine, axis=1)
            angle = np.arctan2(length, np.trace(error, axis1=1, axis2=2) - 1.0)
            scale = np.where(length > 1e-12, angle / np.maximum(length, 1e-12), 0.5)
            right[:, 3:, 2] = scale[:, None] * twice_sine
            feet = np.maximum(feet, np.abs(right[:, :, 2]).max(axis=1))
            # Jacobians of the foot at its position (T, 6, 6) and of the COG (T, 2, 6) of the leg, world axes.
            origins, sliding = position[:, leg + 1], tree.sliding[leg, None]
            axes = (rotation[:, leg + 1] @ tree.axis[leg, :, None])[..., 0]
            carried = model.carried[leg].astype(float)
            weight = (carried @ masses.mass)[:, None]
            moment = np.cross(axes, carried @ moments - weight * origins)
            cog_moved = np.where(sliding, weight * axes, moment) / masses.mass.sum()
            cog_jacobian = cog_moved[:, :, :2].transpose(0, 2, 1)
            linear = np.where(sliding, axes, np.cross(axes, foot[:, None] - origins))
            turning = np.where(sliding, 0.0, axes)
            jacobian = np.ascontiguousarray(np.concatenate([linear, turning], axis=2).transpose(0, 2, 1))
            if not full:
                parts.append((jacobian, cog_jacobian, right[:, :, 2].copy()))
                continue
            try:
                solved = np.linalg.solve(jacobian, right)
            except np.linalg.LinAlgError:
                singular = left[int(np.linalg.matrix_rank(jacobian).argmin())]
                raise LegReachError(
                    f"{name}: a leg is singular in frame {singular}, as with straight knees: "
                    "the pelvis cannot move; stand in a posture with bent knees"
                ) from None
            along = cog_jacobian @ solved
            slope, sway = slope - along[:, :, :2], sway - along[:, :, 2]
            steps.append(solved)
        cog = np.linalg.norm(missing, axis=1)
        if full:
            moved = np.linalg.solve(slope, sway[:, :, None])
            q[:, :2] += moved[:, :, 0]
            for leg, solved in zip(model.legs, steps, strict=True):
                q[:, 7 + leg] += solved[:, :, 2] - (solved[:, :, :2] @ moved)[:, :, 0]
            errors = np.maximum(feet, cog)
        else:
            step = _feet_first_step(parts, missing, height)
            q[:, :2] += step[:, :2]
            q[:, 7 + np.concatenate(model.legs)] += step[:, 2:]
            # What is left of the errors when nothing moves any more is what the legs cannot do.
            errors = np.where(feet < SOLE_TOLERANCE, np.abs(step).max(axis=1), feet)
        configurations[left] = q
        # The errors before the step; comparisons with NaN are false.
        unsettled = ~(errors < _TOLERANCE)
        left = left[unsettled]
        if not len(left):
            return
    raise LegReachError(
        f"{name}: the legs cannot balance frame {left[0]}: feet {feet[unsettled][0]:.2g} m or rad off their "
        f"place, COG {1000 * cog[unsettled][0]:.2g} mm off its target"
    )


def _feet_first_step(parts: Sequence[tuple[Array, Array, Array]], missing: Array, height: float) -> Array:
    """Find the step of legs with fewer than six joints: feet in place first, then the COG as far as they can.

    x = J⁺ e + N (J_c N)⁺ (e_c − J_c J⁺ e), N = I − J⁺ J, of pelvis and leg joints together. `parts`: of each
    leg the Jacobians (T, 6, k) of the foot and (T, 2, k) of the COG, and the pose error e (T, 6) of the foot;
    `missing` (T, 2): error e_c of the COG, m; `height`: that of the pelvis, m, by which lengths are made
    comparable with angles. Returns (T, 2 + k + k): pelvis, m, and joints, rad.
    """
    count = 2 + sum(foot.shape[2] for foot, _, _ in parts)
    feet, cog = np.zeros((len(missing), 12, count)), np.zeros((len(missing), 2, count))
    cog[:, :, :2] = np.eye(2)
    first = 2
    for row, (foot, sway, _) in zip((0, 6), parts, strict=True):
        columns = slice(first, first + foot.shape[2])
        feet[:, row : row + 2, :2] = np.eye(2)
        feet[:, row : row + 6, columns], cog[:, :, columns] = foot, sway / height
        feet[:, row : row + 3, columns] /= height
        first = columns.stop
    inverse = np.linalg.pinv(feet, rcond=_LEAST_FEET)
    errors = np.concatenate([error for _, _, error in parts], axis=1)[:, :, None]
    errors[:, [0, 1, 2, 6, 7, 8]] /= height
    step = inverse @ errors
    free = np.eye(count) - inverse @ feet
    step += free @ np.linalg.pinv(cog @ free, rcond=_LEAST_COG) @ (missing[:, :, None] / height - cog @ step)
    step[:, :2] *= height
    return np.asarray(step[:, :, 0])


def pelvis_freedom(robot: Robot, stance: Stance) -> NDArray[np.bool_]:
    """Find out which motions of the pelvis the legs allow while both soles stay flat on the floor.

    Each is tried by itself: a rotation of 0.1 rad, and a sway that takes the COG 2 cm, at least by half.
    `robot`: robot with two legs; `stance`: where it stands. Returns (5,) of bool: rotations about x, y and z,
    then sway along x and y, in the axes of the stance's root link; all true with legs of six joints.
    """
    free = np.ones(5, dtype=bool)
    if stance.seated or all(len(leg_columns(robot, side)) >= FULL_LEG for side in SIDES):
        return free
    axes = pin.XYZQUATToSE3(stance.base).rotation
    for row in range(5):
        turn, sway = np.zeros((1, 3)), np.zeros((1, 2))
        if row < 3:
            turn[0] = _TRIED_TURN * axes[:, row]
        else:
            sway[0] = _TRIED_SWAY * axes[:2, row - 3]
        try:
            base, _ = solve_com_ik(robot, stance, stance.joints[None], stance.target + sway, turn=turn)
        except LegReachError:
            free[row] = False
            continue
        if row >= 3:
            free[row] = (base[0, :2] - stance.base[:2]) @ sway[0] > 0.5 * _TRIED_SWAY**2
    return free


def require_sideways_sway(robot: Robot, stance: Stance) -> None:
    """Refuse to step where the COG cannot come over one sole, for the pelvis does not sway sideways.

    `robot`: robot with two legs; `stance`: where it stands.
    """
    if pelvis_freedom(robot, stance)[4]:
        return
    left = pin.XYZQUATToSE3(stance.base).rotation[:2, 1]
    corners = {side: robot.soles[f"{side}_foot"] for side in SIDES}
    least = min(
        abs(left @ (stance.soles[side].act(corner)[:2] - stance.target))
        for side in SIDES
        for corner in corners[side]
    )
    raise BalanceError(
        f"{robot.name}: cannot step: its COG would have to come {least:.3f} m to the side, over one sole, "
        f"and legs of {len(leg_columns(robot, SIDES[0]))} joints do not let the pelvis sway sideways while "
        "the soles are flat; allowed: motions on both feet"
    )


def sway_projection(stance: Stance, free: NDArray[np.bool_]) -> Array | None:
    """Project horizontal vectors (..., 2) in the world frame onto the directions in which the pelvis sways.

    `stance`: where the robot stands; `free` (5,): from `pelvis_freedom`. Returns (2, 2), symmetric, or None
    if it sways in all directions.
    """
    if free[3:].all():
        return None
    axes = pin.XYZQUATToSE3(stance.base).rotation[:2, :2]
    return np.asarray(axes * free[3:] @ axes.T)


def describe_lost_motions(robot: Robot, stance: Stance) -> str:
    """Say in one line what the pelvis cannot do on legs of fewer than six joints; empty if it can do all.

    `robot`: robot with two legs; `stance`: where it stands.
    """
    words = ("lean sideways", "lean forward", "turn about the vertical", "sway forward", "sway sideways")
    lost = [word for word, free in zip(words, pelvis_freedom(robot, stance), strict=True) if not free]
    if not lost:
        return ""
    counts = sorted({len(leg_columns(robot, side)) for side in SIDES})
    listed = " or ".join([", ".join(lost[:-1]), lost[-1]] if len(lost) > 1 else lost)
    return (
        f"legs of {' and '.join(map(str, counts))} joints: while both soles are flat, the pelvis does not "
        f"{listed}; that part of the motion is given up"
    )


def leg_columns(robot: Robot, side: str) -> NDArray[np.int64]:
    """Find the positions of a leg's joints in `robot.joint_names`.

    `robot`: robot with two legs; `side`: the leg: left or right. Returns (k,) of int: indices, from hip to
    ankle.
    """
    return np.array([robot.joint_names.index(name) for name in robot.groups[f"{side}_leg"]])


def least_knee_bend(robot: Robot, joints: Array) -> float:
    """Find the bend of the straightest knee.

    `robot`: robot with two legs; `joints` (T, n): joint positions in the order of `robot.joint_names`, rad.
    Returns angle between thigh and shank about the knee's axis, from joint to joint, rad; 0 is straight.
    """
    model, data = robot.model, robot.model.createData()
    legs = [[model.getJointId(name) for name in robot.groups[f"{side}_leg"]] for side in SIDES]
    least = np.pi
    for q in joints:
        axes = pin.computeJointJacobians(model, data, np.concatenate([pin.neutral(model)[:7], q]))[3:]
        for leg in legs:
            positions = np.array([data.oMi[joint].translation for joint in leg])
            # The knee is the joint in the middle of the leg.
            ends = np.linalg.norm(positions[:, None] - positions[[0, -1]], axis=2).min(axis=1)
            middle = int(ends.argmax())
            thigh, shank = positions[middle] - positions[0], positions[-1] - positions[middle]
            # A knee that is outward of hip and ankle is not bent by that.
            axis = axes[:, model.joints[leg[middle]].idx_v]
            thigh, shank = thigh - (thigh @ axis) * axis, shank - (shank @ axis) * axis
            bend = np.arctan2(np.linalg.norm(np.cross(thigh, shank)), thigh @ shank)
            least = min(least, float(bend))
    return least


def _height_limit(robot: Robot, stance: Stance, sign: float) -> float:
    """Find the last height, m, that the legs allow upwards (1) or downwards (-1), step by step."""
    height, step, model = 0.0, _HEIGHT_STEP, LegModel(robot)
    legs = np.concatenate([leg_columns(robot, side) for side in SIDES])
    while step > _HEIGHT_RESOLUTION:
        # The pelvis a little higher or lower, the COG over its target.
        q = np.concatenate([stance.base, stance.joints])[None]
        q[0, 2] += sign * step
        try:
            _iterate(robot.name, model, stance, q, stance.target[None])
        except RetargetError:
            step *= 0.5
            continue
        # The legs have to be inside their limits, with bent knees.
        moved = replace(stance, base=q[0, :7], joints=q[0, 7:])
        low, high = robot.model.lowerPositionLimit[7 + legs], robot.model.upperPositionLimit[7 + legs]
        inside = ((low <= moved.joints[legs]) & (moved.joints[legs] <= high)).all()
        if inside and least_knee_bend(robot, moved.joints[None]) >= _MIN_KNEE_BEND:
            height, stance = height + sign * step, moved
        else:
            step *= 0.5
    return height


def leg_length(robot: Robot) -> float:
    """Measure the length of a leg from its first joint to its sole, along its segments.

    `robot`: robot with two legs. Returns length, m; the longer leg's.
    """
    model, data = robot.model, robot.model.createData()
    pin.framesForwardKinematics(model, data, pin.neutral(model))
    lengths = []
    for side in SIDES:
        joints = [data.oMi[model.getJointId(name)].translation for name in robot.groups[f"{side}_leg"]]
        sole = data.oMf[model.getFrameId(robot.frames[f"{side}_foot"])].translation
        lengths.append(float(np.linalg.norm(np.diff([*joints, sole], axis=0), axis=1).sum()))
    return max(lengths)


def pelvis_heights(robot: Robot, given: float | None) -> tuple[float, ...]:
    """List the heights of the pelvis that are to be tried, the posture's first, then lower ones.

    `robot`: robot with two legs; `given`: height above the posture's, m, if it is given. Returns heights
    above the posture's, m; the given one alone.
    """
    if given is not None:
        return (given,)
    length = leg_length(robot)
    return tuple(round(part * length, _DIGITS) for part in _LOWER)
