"""Guesses about the arms: palms, hands, and postures."""

from dataclasses import dataclass, field
from itertools import product
from typing import Any, NamedTuple

import numpy as np
import pinocchio as pin
from scipy.optimize import least_squares

from simbench.robot.scaffold.body_roles import joint_link
from simbench.robot.scaffold.collision_pairs import CLEARANCE, CollisionModel, touching_bodies
from simbench.robot.scaffold.limb_chains import LimbChain
from simbench.robot.scaffold.palms import PalmGuess, find_palm, fitting_link, palm_link
from simbench.robot.scaffold.robot_tree import Array, Confidence, Guess, RobotTree, link_placement
from simbench.robot.scaffold.sides import UP, Orientation
from simbench.robot.sides import SIDES

_MARGIN = 0.02
"""Distance of postures from the joint limits, as a fraction of the travel."""
_STARTS = 6
_READY_SAMPLES = 3000


class ArmTarget(NamedTuple):
    """Wanted directions of an arm in the root link's frame."""

    # `upper_arm`, `forearm` (3,): unit vectors from shoulder to elbow and from elbow to wrist.
    upper_arm: Array
    forearm: Array
    palm: Array  # (3, 3): wanted rotation of the palm's frame.
    palm_weight: float  # Weight of the palm against the directions.


class ArmSolution(NamedTuple):
    """Posture of an arm."""

    q: Array  # (n,): positions of all joints of the robot, those of other limbs as they were.
    arm_error: float  # Largest angle between wanted and reached directions of upper arm and forearm, rad.
    palm_error: float  # Angle between wanted and reached palm, rad.
    cost: float  # Weighted square sum, with the nearness to limits and to zero.


def solve_arm(tree: RobotTree, limb: LimbChain, palm: pin.SE3, target: ArmTarget, q: Array) -> ArmSolution:
    """Find the posture of an arm that is nearest to wanted directions.

    `palm`: palm's frame in the frame of the arm's last body; `q` (n,): positions of all joints at the start.
    Returns the best of several descents.
    """
    index = np.array(limb.joints) - 1
    low, high = np.array([tree.limits(joint) for joint in limb.joints]).T
    span = np.maximum(high - low, 1e-6)
    low, high = low + _MARGIN * span, high - _MARGIN * span
    data, moved = tree.model.createData(), q.copy()

    def errors(values: Array) -> tuple[Array, Array]:
        moved[index] = values
        pin.forwardKinematics(tree.model, data, moved)
        shoulder, elbow, wrist = (data.oMi[j].translation for j in (limb.start, limb.middle, limb.joints[-1]))
        rotation = data.oMi[limb.joints[-1]].rotation @ palm.rotation
        arm = np.concatenate(
            [_unit(elbow - shoulder) - target.upper_arm, _unit(wrist - elbow) - target.forearm]
        )
        return arm, pin.log3(rotation.T @ target.palm)

    def residual(values: Array) -> Array:
        arm, hand = errors(values)
        return np.concatenate([arm, target.palm_weight * hand, 0.02 * (values - q[index])])

    random = np.random.default_rng(0)
    starts = [np.clip(q[index], low + 1e-6, high - 1e-6)]
    starts += [low + random.uniform(0.1, 0.9, len(index)) * (high - low) for _ in range(_STARTS)]
    found = [least_squares(residual, start, bounds=(low, high), max_nfev=60) for start in starts]
    best = min(found, key=lambda each: round(float(each.cost), 7))
    arm, hand = errors(best.x)
    margin = np.minimum(best.x - low, high - best.x) / span
    near = float(np.sum(np.maximum(0.08 - margin, 0.0)))
    return ArmSolution(
        moved.copy(),
        float(max(np.linalg.norm(arm[:3]), np.linalg.norm(arm[3:]))),
        float(np.linalg.norm(hand)),
        float(best.cost) + near,
    )


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


_OUTWARD = (0.25, 0.35, 0.5, 0.7)
"""Angles of hanging upper arms from the vertical, rad, tried until nothing touches."""
_FORWARD = (0.9, 0.35)
"""Forward components of hanging forearms, as parts of the downward one, tried for each of these angles."""
_WAY = 14
"""Configurations on the straight way from hanging arms to raised ones that are looked at."""
_HAND_WEIGHT = 0.05
"""Weight of the rotation of hanging hands against the arms' directions: wrists stay off their limits."""
_CLEAR = 0.03
"""Distance of hanging arms from the body, as a fraction of the robot's size: legs still bend beside them."""
_ARM_ERROR = 0.6
"""Largest deviation of the arms from straight forward, rad, from which the posture is said to be poor."""


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
    collisions: CollisionModel,
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
    sides = SIDES if len(arms) == 2 else SIDES[1:]
    single = len(arms) == 1
    palms = [find_palm(tree, arm, flange=single) for arm in arms]
    basic, ready = tree.rest.copy(), tree.rest.copy()
    frames: dict[str, str] = {}
    fixed: dict[str, Any] = {}
    hands: dict[str, Any] = {}
    guesses: list[Guess] = []
    missing: list[str] = []
    chosen: list[pin.SE3] = []
    for side, arm, palm in zip(sides, arms, palms, strict=True):
        if single:
            frame, ready = _single_arm(tree, arm, palm, orientation, collisions)
            guesses.append(Guess("postures.ready", "found", "far from limits and singularities", "medium"))
        else:
            frame, solution = _choose_back(tree, arm, palm, orientation, chosen, palms)
            basic[np.array(arm.joints) - 1] = solution.q[np.array(arm.joints) - 1]
            errors = np.degrees([solution.arm_error, solution.palm_error])
            text = f"arm {errors[0]:.0f}° and palm {errors[1]:.0f}° from straight forward, palm down"
            arm_sure: Confidence = "high" if errors.max() < 10.0 else "low"
            guesses.append(Guess(f"postures.basic ({side} arm)", "solved", text, arm_sure))
            if solution.arm_error > _ARM_ERROR:
                missing.append(f"postures.basic: the {side} arm cannot be held forward; {text}")
        chosen.append(frame)
        role = f"{side}_hand"
        name, entry = _frame_entry(tree, arm, frame, f"{side}_palm")
        frames[role] = name
        if entry is not None:
            fixed[name] = entry
        palm_sure: Confidence = "high" if palm.sure else "medium"
        guesses.append(Guess(f"frames.{role}", name, palm.reason, palm_sure))
        hands[role] = _hand(tree, arm)
    palm_of = list(zip(arms, chosen, sides, strict=True))
    hanging = (
        tree.rest.copy() if single else _hang_clear(tree, palm_of, orientation, collisions, (standing, basic))
    )
    if not single:
        ready = _forearms_forward(tree, palm_of, orientation)
    return ArmGuesses(
        frames, fixed, hands, hanging, None if single else basic, ready, tuple(guesses), tuple(missing)
    )


def _single_arm(
    tree: RobotTree, arm: LimbChain, palm: PalmGuess, orientation: Orientation, collisions: CollisionModel
) -> tuple[pin.SE3, Array]:
    """Palm and ready posture of a single arm; the back of a round hand is upward there."""
    candidates = find_ready_postures(tree, arm, palm.frames[0], orientation.forward, orientation.left)
    q = next((each for each in candidates if not touching_bodies(collisions, each)), candidates[0])
    pose = tree.configured(q)[arm.joints[-1]]
    upward = [float((pose.rotation @ frame.rotation)[2, 2]) for frame in palm.frames]
    return palm.frames[int(np.argmax(np.round(upward, 6)))], q


def _choose_back(
    tree: RobotTree,
    arm: LimbChain,
    palm: PalmGuess,
    orientation: Orientation,
    chosen: list[pin.SE3],
    palms: list[PalmGuess],
) -> tuple[pin.SE3, ArmSolution]:
    """Palm with which the arm is best held forward; the second arm takes the mirror image of the first's."""
    frames = palm.frames
    if chosen:
        mirrored = _mirrored_rotation(tree, palms[0].body, chosen[0], palm.body, orientation.left)
        frames = (max(frames, key=lambda frame: round(float(np.trace(frame.rotation.T @ mirrored)), 6)),)
    target = _forward_target(orientation)
    solutions = [(frame, solve_arm(tree, arm, frame, target, tree.rest)) for frame in frames]
    side = float(np.sign(tree.poses[arm.joints[0]].translation @ orientation.left))
    usual = _unit(side * orientation.left + 0.5 * UP - 0.2 * orientation.forward)

    def rank(candidate: tuple[pin.SE3, ArmSolution]) -> float:
        # Backs of hands look outward, up or backward at rest; this decides where the limits do not.
        back = tree.poses[arm.joints[-1]].rotation @ candidate[0].rotation[:, 2]
        return round(candidate[1].cost - 0.05 * float(back @ usual), 4)

    return min(solutions, key=rank)


def _mirrored_rotation(tree: RobotTree, body: int, frame: pin.SE3, other: int, left: Array) -> Array:
    """Rotation of the mirror image of a palm in the frame of the other hand's body."""
    mirror = np.eye(3) - 2.0 * np.outer(left, left)
    world = tree.poses[body].rotation @ frame.rotation
    image = mirror @ world @ np.diag([1.0, -1.0, 1.0])
    return tree.poses[other].rotation.T @ image


def _forward_target(orientation: Orientation) -> ArmTarget:
    """Arm straight forward, palm down."""
    forward = orientation.forward
    return ArmTarget(forward, forward, np.column_stack([forward, orientation.left, UP]), 0.5)


def _hang_clear(
    tree: RobotTree,
    arms: list[tuple[LimbChain, pin.SE3, str]],
    orientation: Orientation,
    collisions: CollisionModel,
    postures: tuple[Array, Array],
) -> Array:
    """Arms hanging so far outward that forearms and hands touch nothing, nor on the way to raised arms.

    `postures` are that of the legs, and that of the raised arms.
    """
    standing, raised = postures
    moved = [joint - 1 for arm, _, _ in arms for joint in arm.joints]
    lower = {joint for arm, _, _ in arms for joint in arm.joints[arm.joints.index(arm.middle) :]}
    lower |= {joint for arm, _, _ in arms for joint in arm.fingers}

    def touches(q: Array, clearance: float) -> bool:
        beside = standing.copy()
        beside[moved] = q[moved]
        return any(lower & set(pair) for pair in touching_bodies(collisions, beside, clearance))

    found: list[tuple[int, Array]] = []
    for outward, forward in product(_OUTWARD, _FORWARD):
        q = _hang(tree, arms, orientation, outward, forward)
        if touches(q, _CLEAR * tree.size):
            continue
        way = np.linspace(0.0, 1.0, _WAY)[1:-1, None]
        touched = sum(touches(each, CLEARANCE) for each in q + way * (raised - q))
        if not touched:
            return q
        found.append((touched, q))
    return min(found, key=lambda each: each[0])[1] if found else q


def _hang(
    tree: RobotTree,
    arms: list[tuple[LimbChain, pin.SE3, str]],
    orientation: Orientation,
    outward: float,
    forward: float,
) -> Array:
    """Arms hanging, bent forward, backs of the hands outward."""
    q = tree.rest.copy()
    for arm, palm, side in arms:
        out = orientation.left * (1.0 if side == "left" else -1.0)
        upper = _unit(-UP + np.tan(outward) * out)
        fore = _unit(-UP + forward * orientation.forward + 0.3 * np.tan(outward) * out)
        back = _unit(out - fore * float(out @ fore))
        target = ArmTarget(upper, fore, np.column_stack([fore, np.cross(back, fore), back]), _HAND_WEIGHT)
        index = np.array(arm.joints) - 1
        q[index] = solve_arm(tree, arm, palm, target, tree.rest).q[index]
    return q


def _forearms_forward(
    tree: RobotTree, arms: list[tuple[LimbChain, pin.SE3, str]], orientation: Orientation
) -> Array:
    """Upper arms down, forearms forward, palms down."""
    q = tree.rest.copy()
    for arm, palm, side in arms:
        out = orientation.left * (1.0 if side == "left" else -1.0)
        target = ArmTarget(
            _unit(-UP + 0.3 * out), orientation.forward, _forward_target(orientation).palm, 0.3
        )
        index = np.array(arm.joints) - 1
        q[index] = solve_arm(tree, arm, palm, target, tree.rest).q[index]
    return q


def _frame_entry(
    tree: RobotTree, arm: LimbChain, frame: pin.SE3, name: str
) -> tuple[str, dict[str, Any] | None]:
    """Name of a palm's frame, and its entry under `fixed_frames` if the URDF has no such link."""
    body = arm.joints[-1]
    length = float(np.linalg.norm(tree.poses[body].translation - tree.poses[arm.start].translation))
    link = fitting_link(tree, body, frame, 0.03 * length)
    return (link, None) if link is not None else (name, frame_entry(tree, body, frame))


def frame_entry(tree: RobotTree, body: int, frame: pin.SE3) -> dict[str, Any]:
    """Describe a new frame that is fixed to a body's link. `frame`: pose in the frame of the body."""
    parent = joint_link(tree, body)
    local = link_placement(tree, parent).actInv(frame)
    rpy = pin.rpy.matrixToRpy(local.rotation)
    return {
        "parent": parent,
        "xyz": [float(value) for value in np.round(local.translation, 6) + 0.0],
        "rpy": [float(value) for value in np.round(rpy, 9) + 0.0],
    }


def _hand(tree: RobotTree, arm: LimbChain) -> dict[str, Any]:
    """Palm, fingers and joints of a hand."""
    known = {link.name: link for link in tree.urdf.links}
    hand: dict[str, Any] = {"palm": palm_link(tree, arm.joints[-1])}
    if arm.fingers:
        fingers = [
            link
            for joint in arm.fingers
            for link in tree.links[joint]
            if any(shape.role == "collision" for shape in known[link].shapes)
        ]
        hand["joints"] = [tree.model.names[joint] for joint in arm.fingers]
        hand["fingers"] = fingers or [joint_link(tree, joint) for joint in arm.fingers]
    return hand


def _unit(vector: Array) -> Array:
    return vector / max(float(np.linalg.norm(vector)), 1e-9)
