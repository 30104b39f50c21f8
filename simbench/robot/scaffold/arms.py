"""Guesses about the arms: palms, hands, and postures."""

from dataclasses import dataclass, field
from itertools import product
from typing import Any

import numpy as np
import pinocchio as pin
from scipy.optimize import least_squares

from simbench.errors import RobotError
from simbench.robot.scaffold.body_roles import UP, Orientation
from simbench.robot.scaffold.collision_pairs import CLEARANCE, touching_bodies
from simbench.robot.scaffold.limb_chains import LimbChain
from simbench.robot.scaffold.palms import find_palm, palm_link
from simbench.robot.scaffold.robot_tree import Array, Guess, RobotTree
from simbench.robot.sides import SIDES

_MARGIN = 0.02  # Distance of postures from the joint limits, as a fraction of the travel.
_STARTS = 6
_READY_SAMPLES = 3000
# Angles of hanging upper arms from the vertical, rad, tried until nothing touches.
_OUTWARD = (0.25, 0.35, 0.5, 0.7)
# Forward components of hanging forearms, as parts of the downward one, tried for each of these angles.
_FORWARD = (0.9, 0.35)
_WAY = 14  # Configurations on the straight way from hanging arms to raised ones that are looked at.
# Weight of the rotation of hanging hands against the arms' directions: wrists stay off their limits.
_HAND_WEIGHT = 0.05
# Distance of hanging arms from the body, as a fraction of the robot's size: legs still bend beside them.
_CLEAR = 0.03
# Largest deviation of the arms from straight forward, rad, from which the posture is said to be poor.
_ARM_ERROR = 0.6


@dataclass(frozen=True)
class ArmGuesses:
    """Guesses about one or two arms."""

    frames: dict[str, str] = field(default_factory=dict)  # Link or new frame of each hand.
    fixed_frames: dict[str, Any] = field(default_factory=dict)  # New frames.
    hands: dict[str, Any] = field(default_factory=dict)  # Palm, fingers and joints of each hand.
    # (n,): posture with hanging arms, those of other limbs at rest.
    hanging: Array = field(default_factory=lambda: np.zeros(0))
    # `basic`, `ready` (n,) or None: posture with both arms straight forward, and posture to begin work from.
    basic: Array | None = None
    ready: Array | None = None
    guesses: tuple[Guess, ...] = ()  # Reasons.
    missing: tuple[str, ...] = ()  # What could not be found.


def guess_arms(
    tree: RobotTree,
    arms: tuple[LimbChain, ...],
    orientation: Orientation,
    collisions: pin.GeometryModel,
    standing: Array,
) -> ArmGuesses:
    """Guess palms and postures of the arms.

    Where geometry leaves open which side of a hand is its back, the one with which the arm can be held
    straight forward, palm down, farthest from its limits is taken. `arms`: left and right arm, or a single
    one; `orientation`: forward and left; `collisions`: shapes that must not touch in the postures; `standing`
    (n,): posture of the legs beside which the arms hang, rad. Returns frames, hands and postures.
    """
    if not arms:
        return ArmGuesses(hanging=tree.rest.copy())
    single = len(arms) == 1
    sides = SIDES[1:] if single else SIDES
    forward, left = orientation.forward, orientation.left
    ahead = np.column_stack([forward, left, UP])  # Rotation of a palm that points forward and faces down.
    basic, ready = tree.rest.copy(), tree.rest.copy()
    hanging = tree.rest.copy()
    frames: dict[str, str] = {}
    fixed: dict[str, Any] = {}
    hands: dict[str, Any] = {}
    guesses: list[Guess] = []
    missing: list[str] = []
    placed: list[tuple[LimbChain, pin.SE3, Array]] = []
    for side, arm in zip(sides, arms, strict=True):
        hand, index = arm.joints[-1], np.array(arm.joints) - 1
        candidates, sure, reason = find_palm(tree, arm, flange=single)
        said = arm.said.palm
        if said:
            if said not in tree.links[hand]:
                allowed = ", ".join(tree.links[hand])
                raise RobotError(f"{tree.path}: palm {said}: no link of the {side} hand; allowed: {allowed}")
            candidates, sure, reason = [tree.placement(said)], True, "as was said"
        if single:
            # The back of a round hand is upward in the posture to begin work from.
            postures = find_ready_postures(tree, arm, candidates[0], forward, left)
            clear = (each for each in postures if not touching_bodies(tree, collisions, each))
            ready = next(clear, postures[0])
            rotation = tree.configured(ready)[hand].rotation
            upward = [float((rotation @ each.rotation)[2, 2]) for each in candidates]
            frame = candidates[int(np.argmax(np.round(upward, 6)))]
            guesses.append(Guess("postures.ready", "found", "far from limits and singularities", "medium"))
        else:
            if placed and not said:
                # The second hand is the mirror image of the first.
                mirror = np.eye(3) - 2.0 * np.outer(left, left)
                first = tree.poses[placed[0][0].joints[-1]].rotation @ placed[0][1].rotation
                mirrored = tree.poses[hand].rotation.T @ (mirror @ first @ np.diag([1.0, -1.0, 1.0]))
                alike = [round(float(np.trace(each.rotation.T @ mirrored)), 6) for each in candidates]
                candidates = [candidates[alike.index(max(alike))]]
            side_sign = float(np.sign(tree.poses[arm.joints[0]].translation @ left))
            usual = _unit(side_sign * left + 0.5 * UP - 0.2 * forward)
            found = []
            for each in candidates:
                q, arm_error, palm_error, cost = solve_arm(tree, arm, each, forward, forward, ahead, 0.5)
                # Backs of hands look outward, up or backward at rest; this decides where the limits do not.
                back = tree.poses[hand].rotation @ each.rotation[:, 2]
                rank = round(cost - 0.05 * float(back @ usual), 4)
                found.append((rank, each, q, arm_error, palm_error))
            _, frame, q, arm_error, palm_error = min(found, key=lambda each: each[0])
            basic[index] = q[index]
            errors = np.degrees([arm_error, palm_error])
            text = f"arm {errors[0]:.0f}° and palm {errors[1]:.0f}° from straight forward, palm down"
            key = f"postures.basic ({side} arm)"
            guesses.append(Guess(key, "solved", text, "high" if errors.max() < 10.0 else "low"))
            if arm_error > _ARM_ERROR:
                missing.append(f"postures.basic: the {side} arm cannot be held forward; {text}")
        placed.append((arm, frame, left * (1.0 if side == "left" else -1.0)))
        # A link whose frame is the palm's, or a new frame.
        name, near = f"{side}_palm", 0.03 * tree.distance(arm.start, hand)
        for link in tree.links[hand]:
            offset = frame.actInv(tree.placement(link))
            turned = np.arccos(np.clip((np.trace(offset.rotation) - 1.0) / 2.0, -1.0, 1.0))
            if turned < 1e-3 and np.linalg.norm(offset.translation) < near:
                name = link
                break
        else:
            name = tree.free_name(name)
            fixed[name] = frame_entry(tree, hand, frame)
        role = f"{side}_hand"
        frames[role] = name
        guesses.append(Guess(f"frames.{role}", name, reason, "high" if sure else "medium"))
        hands[role] = {"palm": palm_link(tree, hand)}
        if arm.fingers:
            touching = [
                link
                for joint in arm.fingers
                for link in tree.links[joint]
                if any(shape.role == "collision" for shape in tree.link[link].shapes)
            ]
            hands[role]["joints"] = [tree.model.names[joint] for joint in arm.fingers]
            hands[role]["fingers"] = touching or [tree.joint_link(joint) for joint in arm.fingers]
    if not single:
        hanging = _hang_clear(tree, placed, forward, collisions, standing, basic)
        # Upper arms down, forearms forward, palms down.
        for arm, frame, out in placed:
            index = np.array(arm.joints) - 1
            ready[index] = solve_arm(tree, arm, frame, _unit(-UP + 0.3 * out), forward, ahead, 0.3)[0][index]
    return ArmGuesses(
        frames, fixed, hands, hanging, None if single else basic, ready, tuple(guesses), tuple(missing)
    )


def solve_arm(
    tree: RobotTree,
    limb: LimbChain,
    palm: pin.SE3,
    upper_arm: Array,
    forearm: Array,
    rotation: Array,
    weight: float,
) -> tuple[Array, float, float, float]:
    """Find the posture of an arm that is nearest to wanted directions, from the robot at rest.

    `palm`: palm's frame in the frame of the arm's last body. In the root link's frame: `upper_arm`, `forearm`
    (3,): wanted unit vectors from shoulder to elbow and from elbow to wrist; `rotation` (3, 3): wanted
    rotation of the palm's frame; `weight`: its weight against the directions. Returns the best of several
    descents: (n,) positions of all joints; largest angle between wanted and reached directions of upper arm
    and forearm, rad; that between wanted and reached palm, rad; weighted square sum, with the nearness to
    limits and to zero.
    """
    index = np.array(limb.joints) - 1
    low, high = np.array([tree.limits(joint) for joint in limb.joints]).T
    span = np.maximum(high - low, 1e-6)
    low, high = low + _MARGIN * span, high - _MARGIN * span
    data, q, moved = tree.model.createData(), tree.rest[index], tree.rest.copy()

    def errors(values: Array) -> tuple[Array, Array]:
        moved[index] = values
        pin.forwardKinematics(tree.model, data, moved)
        shoulder, elbow = (data.oMi[joint].translation for joint in (limb.start, limb.middle))
        wrist = limb.end_point(data.oMi)
        turned = data.oMi[limb.joints[-1]].rotation @ palm.rotation
        arm = np.concatenate([_unit(elbow - shoulder) - upper_arm, _unit(wrist - elbow) - forearm])
        return arm, pin.log3(turned.T @ rotation)

    def residual(values: Array) -> Array:
        arm, hand = errors(values)
        return np.concatenate([arm, weight * hand, 0.02 * (values - q)])

    random = np.random.default_rng(0)
    starts = [np.clip(q, low + 1e-6, high - 1e-6)]
    starts += [low + random.uniform(0.1, 0.9, len(index)) * (high - low) for _ in range(_STARTS)]
    found = [least_squares(residual, start, bounds=(low, high), max_nfev=60) for start in starts]
    best = min(found, key=lambda each: round(float(each.cost), 7))
    arm, hand = errors(best.x)
    margin = np.minimum(best.x - low, high - best.x) / span
    near = float(np.sum(np.maximum(0.08 - margin, 0.0)))
    arm_error = float(max(np.linalg.norm(arm[:3]), np.linalg.norm(arm[3:])))
    return moved, arm_error, float(np.linalg.norm(hand)), float(best.cost) + near


def find_ready_postures(
    tree: RobotTree, limb: LimbChain, palm: pin.SE3, forward: Array, left: Array
) -> list[Array]:
    """Find postures of an arm before its base, away from limits and singularities, the best first.

    Of many configurations within the limits, those with the hand in front, at medium distance and pointing
    forward or down are compared by manipulability (Yoshikawa 1985), relative to the largest found, and by the
    distance from the limits. `palm`: palm's frame in the frame of the arm's last body; `forward`, `left`
    (3,): directions in the root link's frame. Returns list of (n,) array: positions of all joints, those of
    others at rest; the best fifty.
    """
    index = np.array(limb.joints) - 1
    low, high = np.array([tree.limits(joint) for joint in limb.joints]).T
    low, high = np.maximum(low, -np.pi), np.minimum(high, np.pi)
    random = np.random.default_rng(0)
    samples = low + random.uniform(0.12, 0.88, (_READY_SAMPLES, len(index))) * (high - low)
    data, q = tree.model.createData(), tree.rest.copy()
    shoulder = tree.poses[limb.start].translation
    scores, measures, margins = [], [], []
    for values in samples:
        q[index] = values
        pin.computeJointJacobians(tree.model, data, q)
        hand = data.oMi[limb.joints[-1]] * palm
        jacobian = pin.getJointJacobian(tree.model, data, limb.joints[-1], pin.LOCAL)[:, index]
        singular = np.linalg.svd(jacobian)[1][: min(6, len(index))]
        measures.append(float(np.prod(singular)))
        span = np.minimum(values - low, high - values) / np.maximum(high - low, 1e-6)
        margins.append(float(span.min()))
        offset = hand.translation - shoulder
        pointing = hand.rotation[:, 0]
        elbow = data.oMi[limb.middle].translation - shoulder
        scores.append(
            1.0 * _unit(offset) @ forward
            - abs(float(_unit(offset) @ left))
            + max(float(pointing @ forward), 0.8 * float(-pointing[2]))
            + 0.3 * float(np.clip(_unit(elbow)[2], -1, 1))
        )
    measure = np.array(measures) / max(max(measures), 1e-12)
    total = np.array(scores) + 1.5 * np.sqrt(measure) + 3.0 * np.array(margins)
    total -= 0.5 * np.abs(samples - np.clip(0.0, low, high)).mean(axis=1)
    postures = []
    for best in np.argsort(-np.round(total, 9), kind="stable")[:50]:
        q[index] = np.round(samples[best], 3)
        postures.append(q.copy())
    return postures


def _hang_clear(
    tree: RobotTree,
    arms: list[tuple[LimbChain, pin.SE3, Array]],
    forward: Array,
    collisions: pin.GeometryModel,
    standing: Array,
    raised: Array,
) -> Array:
    """Arms hanging so far outward that forearms and hands touch nothing, nor on the way to raised arms.

    They are bent forward, the backs of the hands outward. `arms`: each arm with its palm and the direction
    outward; `standing`, `raised` (n,): postures of the legs and of the raised arms.
    """
    moved = [joint - 1 for arm, _, _ in arms for joint in arm.joints]
    lower = {joint for arm, _, _ in arms for joint in arm.joints if joint >= arm.middle}
    lower |= {joint for arm, _, _ in arms for joint in arm.fingers}

    def touches(q: Array, clearance: float) -> bool:
        beside = standing.copy()
        beside[moved] = q[moved]
        return any(lower & set(pair) for pair in touching_bodies(tree, collisions, beside, clearance))

    found: list[tuple[int, Array]] = []
    for outward, ahead in product(_OUTWARD, _FORWARD):
        q = tree.rest.copy()
        for arm, palm, out in arms:
            upper = _unit(-UP + np.tan(outward) * out)
            fore = _unit(-UP + ahead * forward + 0.3 * np.tan(outward) * out)
            back = _unit(out - fore * float(out @ fore))
            rotation = np.column_stack([fore, np.cross(back, fore), back])
            index = np.array(arm.joints) - 1
            q[index] = solve_arm(tree, arm, palm, upper, fore, rotation, _HAND_WEIGHT)[0][index]
        if touches(q, _CLEAR * tree.size):
            continue
        way = np.linspace(0.0, 1.0, _WAY)[1:-1, None]
        touched = sum(touches(each, CLEARANCE) for each in q + way * (raised - q))
        if not touched:
            return q
        found.append((touched, q))
    return min(found, key=lambda each: each[0])[1] if found else q


def frame_entry(tree: RobotTree, body: int, frame: pin.SE3) -> dict[str, Any]:
    """Describe a new frame that is fixed to a body's link. `frame`: pose in the frame of the body."""
    parent = tree.joint_link(body)
    local = tree.placement(parent).actInv(frame)
    rpy = pin.rpy.matrixToRpy(local.rotation)
    return {
        "parent": parent,
        "xyz": [float(value) for value in np.round(local.translation, 6) + 0.0],
        "rpy": [float(value) for value in np.round(rpy, 9) + 0.0],
    }


def _unit(vector: Array) -> Array:
    return vector / max(float(np.linalg.norm(vector)), 1e-9)
