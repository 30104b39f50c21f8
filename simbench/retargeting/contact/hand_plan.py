"""Hand plan: desired palm poses that blend the robot's own motion with the actor's path on the equipment.

First it is found when the actor's hands are on their handles and which point of a hand holds; the palms are
put onto the handles there. The plan follows for a robot of human form, or for an arm that is nothing like a
person's.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TypeAlias

import numpy as np
import pinocchio as pin
from numpy.typing import NDArray
from scipy.interpolate import CubicSpline
from scipy.spatial.transform import Rotation

from simbench.errors import BalanceError, MotionError
from simbench.kinematics.arrays import Array
from simbench.kinematics.derivatives import minimum_jerk, savgol_filter
from simbench.kinematics.obstacles import Obstacle
from simbench.kinematics.rotation import ROTATION_WEIGHT
from simbench.kinematics.task_matrix import make_workspace
from simbench.kinematics.tree import frame_on_body, frame_poses, kinematic_tree, place_bodies
from simbench.motion.human_motion import PALM_OFFSET, HandlePath, HumanMotion, transform
from simbench.options import RetargetSection
from simbench.retargeting.imitation import scaled_model
from simbench.retargeting.imitation.imitation import Imitation
from simbench.robot.robot import Robot
from simbench.robot.robot_limbs import upper_body
from simbench.robot.sides import SIDES

# Speed below which a palm rests, m/s.
_RESTING_SPEED = 0.03
# Longest time, s, for which a hand seems off its handle and is still on it.
_SHORT_GAP = 0.2
# Least distance of the held point from the palm frame up to which it may be in the hand, m: of a hand whose
# palm is at its wrist.
_HAND_LENGTH = 0.12
# Samples whose offset is tried as the one that the hand keeps.
_CANDIDATES = 200
# Part of the contact distance up to which the palm frame itself is taken for the held point.
_NEAR = 0.7
# Steps to the nearest position on a handle's path.
_NEWTON_STEPS = 4
# Window, s, and polynomial order of the Savitzky-Golay filter that smooths the palms' paths.
_SMOOTHING_WINDOW, _SMOOTHING_ORDER = 0.31, 3
# Time before and after contact, s, over which the handle's pose takes precedence over the arm's reach.
ARRIVAL_TIME = 1.0
# Distance kept from a straight and from a folded arm during transitions, m: near these singularities joints
# are fast.
_REACH_MARGIN = 0.02
# Range over which a distance approaches that limit smoothly, m.
_SOFTNESS = 0.01
# Rate at which that limit opens toward free motion, where the posture has priority, m.
_OPENING = 0.01
# Distance, m, by which a palm that moves straight away from a point may come nearer to it now and then.
_WOBBLE = 0.005

OfSides: TypeAlias = Mapping[str, Array]
Flags: TypeAlias = NDArray[np.bool_]
# Force that equipment opposes to a hand that moves it: Coulomb friction, N, viscous friction, N·s/m, and the
# mass that the hand accelerates, kg.
Resistance: TypeAlias = tuple[float, float, float]


@dataclass(frozen=True)
class HandPlan:
    """Desired motion of each hand."""

    # {side: (T,) array}: blend weight: 0 the robot's own hand path, 1 the actor's, in between during the
    # transition.
    share: OfSides
    contact: Mapping[str, Flags]  # {side: (T,) bool array}: whether the actor's hand is on the equipment.
    grip: OfSides  # {side: (T,) array}: weight of the contact: 1 in contact, 0 from 1 s before and after it.
    # {side: (T, 4, 4) array}: desired palm poses of the robot in the world frame, m; from `detect_contact`
    # those of the scaled model.
    targets: OfSides
    # {side: (T, 4, 4) array}: palm poses of the actor in the world frame, m, put onto the handles in contact
    # and corrected before and after it (`approach_handles`): what the targets become there.
    actor: OfSides
    # {side: (3,) array or None}: unit vector in the palm's axes about which a hand may turn on what it holds;
    # None if it may not.
    turn_axes: Mapping[str, Array | None]

    @property
    def any_hand(self) -> Flags:
        """Whether any hand is on the equipment, (T,)."""
        return np.asarray(np.any(list(self.contact.values()), axis=0))


def find_no_obstacles(_: HandPlan) -> Sequence[Obstacle]:
    """Return no obstacle: the robot stands in free space."""
    return ()


@dataclass(frozen=True)
class Equipment:
    """Equipment that a motion takes place on; by default there is none."""

    # {side: HandlePath}: handle that each hand holds; empty for free motion.
    handles: Mapping[str, HandlePath] = field(default_factory=dict)
    # Gives the obstacles that the robot must keep clear of while its hands move as planned.
    find_obstacles: Callable[[HandPlan], Sequence[Obstacle]] = find_no_obstacles
    # {side: Resistance}: resistance of the equipment to each hand that moves it.
    resistance: Mapping[str, Resistance] = field(default_factory=dict)

    def __post_init__(self) -> None:
        """Refuse a negative resistance: it would push the hand on."""
        for numbers in self.resistance.values():
            if not (np.isfinite(numbers).all() and min(numbers) >= 0.0):
                raise BalanceError(f"resistance of equipment: {numbers}; allowed: finite numbers from 0")


def contact_phases(
    time: Array, palm: Array, handle_path: Array, settings: RetargetSection
) -> tuple[Array, Flags]:
    """Find when the actor's palm (T, 3) is on a handle, and the blend weight (T,) of its path around that.

    Contact is the longest time for which the palm is within `contact_distance_m` of positions that the handle
    can take (K, 3), none if it has nothing to touch, from the first to the last sample at which the palm
    rests. Within `transition_distance_m` around that the robot's palm is on the actor's path, which avoids
    the equipment; the minimum-jerk transition to it ends there and takes `transition_time_s`. (In the paper
    it is linear, starts at that distance and ends at contact: a smaller robot's hands then come at a drawer
    through its front.)
    """
    contact = np.zeros(len(time), dtype=bool)
    distance = np.linalg.norm(palm[:, None, :] - handle_path[None, :, :], axis=2).min(axis=1, initial=np.inf)
    # First and last samples of the stretches in contact, and near it, those a short gap apart taken together.
    stretches = []
    for limit in (settings.contact_distance_m, settings.transition_distance_m):
        samples = np.flatnonzero(distance < limit)
        cuts = np.flatnonzero((np.diff(samples) > 1) & (np.diff(time[samples]) > _SHORT_GAP))
        if not len(samples):
            return np.zeros(len(time)), contact
        ends = samples[np.r_[0, cuts + 1]], samples[np.r_[cuts, len(samples) - 1]]
        stretches.append(list(zip(*ends, strict=True)))
    touching, near = stretches
    first, last = max(touching, key=lambda run: float(time[run[1]] - time[run[0]]))
    speed = np.linalg.norm(np.gradient(palm, time, axis=0), axis=1) if len(time) > 1 else np.zeros(1)
    resting = first + np.flatnonzero(speed[first : last + 1] < _RESTING_SPEED)
    if len(resting):
        # Until the hand rests on it the handle stands still, and the palm passes positions it may move to.
        first = resting[0] if first > 0 else first
        last = resting[-1] if last < len(time) - 1 else last
    contact[first : last + 1] = True
    begin, end = next(run for run in near if run[0] <= first <= run[1])
    beside = np.zeros(len(time), dtype=bool)
    beside[begin : end + 1] = True
    return near_contact(time, beside, settings.transition_time_s), contact


def near_contact(time: Array, contact: Flags, duration: float) -> Array:
    """Weight samples (T,) by the time from contact: 1 in contact, minimum jerk, 0 `duration` s away."""
    if not contact.any():
        return np.zeros(len(time))
    first, last = time[contact][[0, -1]]
    away = np.maximum(np.maximum(first - time, time - last), 0.0)
    return minimum_jerk(1.0 - away / duration, 0.0, 1.0)


def find_held_point(
    time: Array, palm: Array, handle: HandlePath, contact_distance: float, hand_length: float = 0.0
) -> Array:
    """Find where in the axes of a palm frame (T, 4, 4) the hand has its handle for the longest time, (3,), m.

    A robot's palm frame, scaled to the person, is not where the person's own palm is: the hand of one robot
    is longer than that of another. But a hand that holds keeps the handle at one place in its own axes.

    Along its path a handle may be anywhere, so that only the offset across the path can be seen in every
    sample. Where the hand comes to rest on the handle before it moves it, the handle is still where it was
    found: that gives the offset along the path. Offsets within half of `contact_distance`, m, are the same.
    `hand_length`, m, is the distance of the model's palm frame from its wrist: where the robot's hand is
    longer than the person's, the person's palm is nearer to the wrist. It is zero where the palm frame
    itself is on the handle's path, within 70 % of the contact distance, or the handle never is in the hand.
    """
    farthest = max(hand_length, _HAND_LENGTH)
    path, rotation, position = handle.poses[:, :3, 3], palm[:, :3, :3], palm[:, :3, 3]
    between = path[None] - position[:, None]
    nearest = np.linalg.norm(between, axis=2).argmin(axis=1)
    offset = between[np.arange(len(palm)), nearest]
    near = np.flatnonzero(np.linalg.norm(offset, axis=1) < farthest)
    if not len(near):
        return np.zeros(3)
    if len(path) > 1:
        along = np.gradient(path, axis=0)
        along /= np.maximum(np.linalg.norm(along, axis=1, keepdims=True), 1e-12)
        offset = offset - (offset * along[nearest]).sum(axis=1, keepdims=True) * along[nearest]
    across = np.einsum("tij,ti->tj", rotation, offset)
    candidates = across[near][:: -(-len(near) // _CANDIDATES)]
    same = np.linalg.norm(across[near, None] - candidates[None], axis=2) < 0.5 * contact_distance
    kept = near[same[:, same.sum(axis=0).argmax()]]
    held = across[kept].mean(axis=0)
    if np.linalg.norm(held) < _NEAR * contact_distance:
        return np.zeros(3)
    if handle.start is not None and len(time) > 1:
        speed = np.linalg.norm(np.gradient(position, time, axis=0), axis=1)
        found = np.einsum("tij,ti->tj", rotation, path[handle.start] - position)
        resting = (speed < _RESTING_SPEED) & (np.linalg.norm(found, axis=1) < farthest)
        first = kept[resting[kept]]
        held = found[first[0]] if len(first) else held
    return np.asarray(held)


def grip_path(
    palms: OfSides, contact: Mapping[str, Flags], handles: Mapping[str, HandlePath]
) -> dict[str, Array]:
    """Put the palms, {side: (T, 4, 4)}, m, in contact onto their handles, as near as they can be.

    Motion capture sees a hand some millimetres and degrees beside where the equipment holds it: skin moves,
    markers are noisy. The handle's pose is the better measurement. Handles with the same number of poses are
    taken as parts of one mechanism: while both hands hold, they are at the same position of its path. A hand
    that may rotate about its handle keeps the actor's rotation about it.
    """
    held = {side: palm.copy() for side, palm in palms.items()}
    sides, together = [side for side in palms if side in handles], np.zeros(1, dtype=bool)
    if len(sides) == 2 and len(handles[sides[0]].poses) == len(handles[sides[1]].poses):
        together = contact[sides[0]] & contact[sides[1]]
    for group, holds in (*(([side], contact[side] & ~together) for side in sides), (sides, together)):
        if not holds.any():
            continue
        curves, targets, weights, squares = [], [], [], []
        for side in group:
            handle, poses = handles[side], handles[side].poses
            values = poses[:, :3, :].reshape(len(poses), 12)
            # Of a pose its position counts, and its rotation where the hand cannot rotate on the handle.
            weight = np.tile(np.r_[np.full(3, ROTATION_WEIGHT if handle.turn_axis is None else 0.0), 1.0], 3)
            weights.append(weight)
            targets.append(palms[side][holds][:, :3, :].reshape(-1, 12) * weight)
            squares.append(((targets[-1][:, None, :] - (values * weight)[None]) ** 2).sum(axis=2))
            closed = len(poses) > 3 and bool(np.abs(poses[0] - poses[-1]).max() < 1e-9)
            if len(poses) > 1:
                values = np.vstack([values[:-1], values[:1]]) if closed else values
                kind = "periodic" if closed else "natural"
                curves.append(CubicSpline(np.arange(len(poses)), values, bc_type=kind))
        # Fractional index (T,) on their common path where the handles are nearest to the palms.
        index = np.argmin(sum(squares), axis=1).astype(float)
        for _ in range(_NEWTON_STEPS if curves else 0):
            gradient, curvature = np.zeros(len(index)), np.zeros(len(index))
            for curve, target, weight in zip(curves, targets, weights, strict=True):
                slope = curve(index, 1) * weight
                gradient += ((target - curve(index) * weight) * slope).sum(axis=1)
                curvature += (slope**2).sum(axis=1)
            index += np.clip(gradient / np.maximum(curvature, 1e-12), -1.0, 1.0)
            if curves[0].extrapolate != "periodic":
                index = index.clip(0.0, len(handles[group[0]].poses) - 1)
        for number, side in enumerate(group):
            pose, axis = np.repeat(handles[side].poses[:1, :3], len(index), axis=0), handles[side].turn_axis
            rotation, position = pose[:, :, :3], pose[:, :, 3]
            if curves:
                values = curves[number](index).reshape(-1, 3, 4)
                left, _, right = np.linalg.svd(values[:, :, :3])
                rotation, position = left @ right, values[:, :, 3]
            if axis is not None:
                turned = rotation.transpose(0, 2, 1) @ palms[side][holds][:, :3, :3]
                # Of the rotations about the axis, the nearest one.
                skew = np.array(
                    [[0.0, -axis[2], axis[1]], [axis[2], 0.0, -axis[0]], [-axis[1], axis[0], 0.0]]
                )
                outer = np.outer(axis, axis)
                cosine = np.einsum("ij,tij->t", np.eye(3) - outer, turned)
                sine = np.einsum("ij,tij->t", skew, turned)
                length = np.hypot(sine, cosine)
                # Half a turn about a perpendicular axis: no angle is nearer than another.
                safe = np.where(length < 1e-9, 1.0, length)
                s = np.where(length < 1e-9, 0.0, sine / safe)[:, None, None]
                c = np.where(length < 1e-9, 1.0, cosine / safe)[:, None, None]
                rotation = rotation @ (outer + c * (np.eye(3) - outer) + s * skew)
            held[side][holds] = transform(rotation, position)
    return held


def approach_handles(
    palms: OfSides, share: OfSides, contact: Mapping[str, Flags], handles: Mapping[str, HandlePath]
) -> dict[str, Array]:
    """Put the actor's palms onto the handles in contact, and correct their paths before and after to match.

    The difference between the actor's first (last) pose in contact and the handle's is added to the path
    before (after) it, expressed in the palm's own axes and weighted by `share`.
    """
    held = grip_path(palms, contact, handles)
    for side, touching in contact.items():
        samples = np.flatnonzero(touching)
        if side not in handles or not len(samples):
            continue
        for edge, stretch in (
            (samples[0], slice(0, samples[0])),
            (samples[-1], slice(samples[-1] + 1, None)),
        ):
            recorded = palms[side][edge]
            rotation_vector = Rotation.from_matrix(recorded[:3, :3].T @ held[side][edge, :3, :3]).as_rotvec()
            shift = recorded[:3, :3].T @ (held[side][edge, :3, 3] - recorded[:3, 3])
            weight, rotation = share[side][stretch, None], palms[side][stretch, :3, :3]
            held[side][stretch, :3, 3] += np.einsum("tij,tj->ti", rotation, weight * shift)
            turn = Rotation.from_rotvec(weight * rotation_vector).as_matrix()
            held[side][stretch, :3, :3] = rotation @ turn
    return held


def detect_contact(
    robot: Robot, imitation: Imitation, handles: Mapping[str, HandlePath], settings: RetargetSection
) -> HandPlan:
    """Find when the actor's hands are on the equipment, and put them onto their handles there.

    At the samples of the imitation, the motion of the scaled model with the robot's palm frames, for both
    sides.
    """
    time, model = imitation.time, imitation.actor.model
    roles = [f"{side}_{part}" for part in ("hand", "wrist") for side in SIDES]
    poses = frame_poses(model, [model.getFrameId(robot.frames[role]) for role in roles], imitation.q)
    palms, share, contact = dict(zip(SIDES, poses, strict=False)), {}, {}
    for (side, palm), wrist in zip(palms.items(), poses[2:], strict=True):
        path = np.empty((0, 3))
        if side in handles:
            length = float(np.linalg.norm(palm[0, :3, 3] - wrist[0, :3, 3]))
            offset = find_held_point(time, palm, handles[side], settings.contact_distance_m, length)
            palm[:, :3, 3] += palm[:, :3, :3] @ offset
            path = handles[side].poses[:, :3, 3]
        share[side], contact[side] = contact_phases(time, palm[:, :3, 3], path, settings)
    held = approach_handles(palms, share, contact, handles)
    axes = {side: handles[side].turn_axis if side in handles else None for side in SIDES}
    grip = {side: near_contact(time, touching, ARRIVAL_TIME) for side, touching in contact.items()}
    return HandPlan(share, contact, grip, palms, held, axes)


def plan_hands(
    robot: Robot, imitation: Imitation, posture: Array, base: Array, contact: HandPlan
) -> HandPlan:
    """Compute the desired palm poses of a robot with two arms (Tomić 2018, §3.7.1-3.7.3), T samples.

    At blend weight 0 they are the robot's own forward kinematics of the preferred `posture` (T, n), rad, of
    trunk and arms and of the root's pose `base` (T, 7), so that joint motion has priority. At weight 1, in
    contact and just before, they are the actor's palm poses on the handles. In between they are those of a
    model whose segment lengths, base and joints are interpolated from the robot's to the actor's; there, a
    target that a longer arm reached and the robot's does not is drawn in toward the shoulder.
    """
    grip, model, q = contact.grip, upper_body(robot), np.hstack([base, posture])
    ids = {name: model.getFrameId(frame) for name, frame in robot.frames.items()}
    # A model's joint placements are linear in its segment lengths.
    tree, lengths = kinematic_tree(model), scaled_model.robot_lengths(robot, robot.model)
    actor = kinematic_tree(scaled_model.scale_model(robot, model, imitation.actor.lengths)).translation
    work, targets = make_workspace(tree), {}
    for side in SIDES:
        share, held = contact.share[side], contact.actor[side]
        target, shoulders = frame_poses(model, [ids[f"{side}_hand"], ids[f"{side}_shoulder"]], q)
        target[share == 1.0] = held[share == 1.0]
        between = np.flatnonzero((share > 0.0) & (share < 1.0))
        body, rotation, centre = frame_on_body(model, ids[f"{side}_hand"])
        for sample, weight in zip(between, share[between], strict=True):
            at = pin.interpolate(model, q[sample], imitation.q[sample], weight)
            work.position[0], work.rotation[0] = at[:3], pin.Quaternion(at[3:7]).matrix()
            blended = tree._replace(translation=(1.0 - weight) * tree.translation + weight * actor)
            place_bodies(blended, at[7:], work.rotation, work.position)
            pose = work.rotation[body]
            target[sample] = pin.SE3(pose @ rotation, work.position[body] + pose @ centre).homogeneous
        # At full weight this is the actor's palm beside the handle.
        target[between] = target[between] @ np.linalg.solve(contact.targets[side][between], held[between])
        free = np.flatnonzero((share > 0.0) & (grip[side] < 1.0))
        palm, wrist = (model.frames[ids[f"{side}_{part}"]].placement for part in ("hand", "wrist"))
        drawn = draw_in(
            target[free],
            shoulders[free, :3, 3],
            np.asarray(palm.actInv(wrist.translation)),
            arm_reach(model, robot, lengths, side),
            share[free],
        )
        target[free, :3, 3] += (1.0 - grip[side][free, None]) * (drawn - target[free, :3, 3])
        targets[side] = _smooth_poses(imitation.time, target)
    return replace(contact, targets=targets)


def arm_reach(
    model: pin.Model, robot: Robot, lengths: scaled_model.SegmentLengths, side: str
) -> tuple[float, float]:
    """Compute the least and greatest distance, m, of wrist and shoulder, inside what the elbow allows.

    `model` is the robot's upper body with its joint limits, `lengths` are those of the arm's segments, m.
    """
    joint, straight = scaled_model.elbow_joint(model, robot, side)
    index = model.joints[joint].idx_q
    limits = model.lowerPositionLimit[index], model.upperPositionLimit[index]
    fold = min(max(abs(limit - straight) for limit in limits), np.pi)
    _, upper_arm, forearm = lengths
    a, b = upper_arm[side], forearm[side]
    folded = float(np.sqrt(a * a + b * b + 2.0 * a * b * np.cos(fold)))
    return folded + _REACH_MARGIN, a + b - _REACH_MARGIN


def draw_in(
    palms: Array, shoulders: Array, wrist: Array, reaches: tuple[float, float], weights: Array
) -> Array:
    """Draw palm targets (T, 4, 4) along the line from wrist to shoulder (T, 3) until the arm can reach them.

    The distance is brought between the reaches, m, smoothly, within a centimetre or two; toward free motion,
    at lower blend weights (T,) above 0, the reaches open. `wrist` (3,) is in the palm's frame. Returns the
    positions of the palm in the world frame, (T, 3), m.
    """
    positions = palms[:, :3, 3]
    lines = positions + palms[:, :3, :3] @ wrist - shoulders
    distance = np.linalg.norm(lines, axis=1)
    opening = _OPENING * (1.0 / weights - 1.0)
    over = (distance - reaches[1] - opening) / _SOFTNESS
    under = (reaches[0] - opening - distance) / _SOFTNESS
    bounded = distance + _SOFTNESS * (np.logaddexp(0.0, under) - np.logaddexp(0.0, over))
    return np.asarray(positions + lines * (bounded / np.maximum(distance, 1e-9) - 1.0)[:, None])


def _smooth_poses(time: Array, poses: Array) -> Array:
    """Smooth poses (T, 4, 4) over time (Savitzky-Golay): a hand arrives without a corner, with less noise.

    They are unchanged if they are too few for the filter.
    """
    window = len(time) - 1 + len(time) % 2
    if window > _SMOOTHING_ORDER:
        window = min(window, round(_SMOOTHING_WINDOW * (len(time) - 1) / (time[-1] - time[0])) // 2 * 2 + 1)
    if window <= _SMOOTHING_ORDER:
        return poses
    smoothed = savgol_filter(poses, window, _SMOOTHING_ORDER)
    left, _, right = np.linalg.svd(smoothed[:, :3, :3])
    return transform(left @ right, smoothed[:, :3, 3])


def recorded_palms(motion: HumanMotion, sides: Sequence[str]) -> dict[str, Array]:
    """Compute the palm poses, {side: (T, 4, 4)}, of the person as recorded, without a model in between.

    World frame, m; origin at the palm's centre, x along the fingers, z dorsal. Refuses hands that were not
    recorded.
    """
    palms = {}
    for side in sides:
        if f"{side}_hand" not in motion.segments:
            raise MotionError(f"{motion.source}: the recording lacks segment {side}_hand")
        # The frame's origin is between the hand's markers.
        rotation = motion.segments[f"{side}_hand"][:, :3, :3]
        palms[side] = transform(rotation, motion.joints[f"{side}_wrist"] + rotation @ PALM_OFFSET)
    return palms


def plan_arm_hands(
    motion: HumanMotion, handles: Mapping[str, HandlePath], home: OfSides, settings: RetargetSection
) -> HandPlan:
    """Compute the desired hand poses of a robot whose arm is nothing like a person's.

    Such an arm reproduces only the motion of the person's hand on the equipment and near it. At blend weight
    1, in contact and just before, the target is the actor's palm pose on its handle. At weight 0 it is the
    robot's own hand pose in its rest posture, `home`, (4, 4). In between the target moves from one to the
    other along a line and about one axis.

    The weight is 1 from where the palm comes straight to its hold until it has left it. Before that a
    person's hand may come near the hold from another side, around which an arm of another form would not
    come.
    """
    time, palms = motion.time, recorded_palms(motion, list(handles))
    share, contact, targets, distance = {}, {}, {}, settings.transition_distance_m
    for side, palm in palms.items():
        position, path = palm[:, :3, 3], handles[side].poses[:, :3, 3]
        _, touching = contact_phases(time, position, path, settings)
        share[side], contact[side] = np.zeros(len(time)), touching
        if touching.any():
            first, last = np.flatnonzero(touching)[[0, -1]]
            begin = first - _count_receding(position[first::-1], distance)
            end = last + _count_receding(position[last:], distance)
            beside = np.zeros(len(time), dtype=bool)
            beside[begin : end + 1] = True
            share[side] = near_contact(time, beside, settings.transition_time_s)
    held = approach_handles(palms, share, contact, handles)
    for side, path in held.items():
        weight, full, rest = share[side][:, None], np.flatnonzero(share[side] == 1.0), home[side]
        # Outside the part at full weight the path rests: before and after it the person's hand may be
        # anywhere.
        poses = path[np.arange(len(path)).clip(full[0], full[-1])] if len(full) else path
        turn = Rotation.from_matrix(rest[:3, :3].T @ poses[:, :3, :3]).as_rotvec()
        rotation = rest[:3, :3] @ Rotation.from_rotvec(weight * turn).as_matrix()
        blended = transform(rotation, rest[:3, 3] + weight * (poses[:, :3, 3] - rest[:3, 3]))
        targets[side] = _smooth_poses(time, blended)
    axes = {side: handle.turn_axis for side, handle in handles.items()}
    grip = {side: near_contact(time, touching, ARRIVAL_TIME) for side, touching in contact.items()}
    return HandPlan(share, contact, grip, targets, held, axes)


def _count_receding(path: Array, distance: float) -> int:
    """Count the samples in which a path (K, 3) moves away from its first point, up to a distance, m."""
    away = np.linalg.norm(path - path[0], axis=1)
    farthest = np.maximum.accumulate(away)
    over = np.flatnonzero((farthest > distance) | (farthest - away > _WOBBLE))
    return int(np.argmax(away[: over[0]])) if len(over) else int(np.argmax(away))
