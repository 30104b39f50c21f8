"""Hand plan: desired palm poses that blend the robot's own motion with the actor's path on the equipment."""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import pinocchio as pin
from numpy.typing import NDArray
from scipy.spatial.transform import Rotation

from simbench.kinematics.arrays import Array
from simbench.kinematics.savgol import savgol_filter
from simbench.kinematics.task_matrix import make_workspace
from simbench.kinematics.tree import frame_on_body, frame_poses, kinematic_tree, place_bodies
from simbench.motion.anatomy import transform
from simbench.motion.handles import HandlePath
from simbench.options import RetargetSection
from simbench.retargeting.contact.handle_path import grip_path
from simbench.retargeting.contact.held_point import find_held_point
from simbench.retargeting.contact.phases import contact_phases, near_contact
from simbench.retargeting.contact.reach import arm_reach, draw_in, wrist_in_palm
from simbench.retargeting.imitation.imitation import Imitation
from simbench.retargeting.imitation.scaled_model import robot_lengths, scale_model
from simbench.robot.robot import Robot
from simbench.robot.sides import SIDES
from simbench.robot.upper_body import upper_body

_SMOOTHING_WINDOW, _SMOOTHING_ORDER = 0.31, 3
"""Window, s, and polynomial order of the Savitzky-Golay filter that smooths the palms' paths."""
ARRIVAL_TIME = 1.0
"""Time before and after contact, s, over which the handle's pose takes precedence over the arm's reach."""


@dataclass(frozen=True)
class HandPlan:
    """Desired motion of each hand.

    Parameters
    ----------
    share : {side: (T,) array}
        Blend weight: 0 the robot's own hand path, 1 the actor's, in between during the transition.
    contact : {side: (T,) bool array}
        Whether the actor's hand is on the equipment.
    grip : {side: (T,) array}
        Weight of the contact: 1 in contact, 0 from `ARRIVAL_TIME` before and after it.
    targets : {side: (T, 4, 4) array}
        Desired palm poses of the robot in the world frame, m.
    actor : {side: (T, 4, 4) array}
        Palm poses of the actor in the world frame, m, put onto the handles in contact: what the targets
        become there.
    turn_axes : {side: (3,) array or None}
        Unit vector in the palm's axes about which a hand may turn on what it holds; None if it may not.
    """

    share: Mapping[str, Array]
    contact: Mapping[str, NDArray[np.bool_]]
    grip: Mapping[str, Array]
    targets: Mapping[str, Array]
    actor: Mapping[str, Array]
    turn_axes: Mapping[str, Array | None]


@dataclass(frozen=True)
class HandContact:
    """Contact of the actor's hands with the equipment over time.

    Parameters
    ----------
    share : {side: (T,) array}
        Blend weight: 0 the robot's own hand path, 1 the actor's, in between during the transition.
    contact : {side: (T,) bool array}
        Whether the actor's hand is on the equipment.
    palms : {side: (T, 4, 4) array}
        Palm poses of the scaled model in the world frame, m.
    held : {side: (T, 4, 4) array}
        The same, put onto the handles in contact and corrected before and after it (`approach_handles`).
    turn_axes : {side: (3,) array or None}
        Unit vector in the palm's axes about which a hand may turn on what it holds; None if it may not.
    """

    share: Mapping[str, Array]
    contact: Mapping[str, NDArray[np.bool_]]
    palms: Mapping[str, Array]
    held: Mapping[str, Array]
    turn_axes: Mapping[str, Array | None]

    @property
    def any_hand(self) -> NDArray[np.bool_]:
        """Whether any hand is on the equipment, (T,)."""
        return np.asarray(np.any(list(self.contact.values()), axis=0))


def detect_contact(
    robot: Robot, imitation: Imitation, handles: Mapping[str, HandlePath], settings: RetargetSection
) -> HandContact:
    """Find when the actor's hands are on the equipment, and put them onto their handles there.

    Parameters
    ----------
    robot : Robot
        Robot whose palm frames the scaled model has.
    imitation : Imitation
        Motion of the scaled model, at T samples.
    handles : {side: HandlePath}
        Handle that each hand holds; empty for free motion.
    settings : RetargetSection
        Gives the distances of contact and transition, m, and the duration of the transition, s.

    Returns
    -------
    HandContact
        At the samples of the imitation, for both sides.
    """
    palms = actor_palms(imitation, robot)
    for side, handle in handles.items():
        offset = find_held_point(
            imitation.time,
            palms[side],
            handle,
            settings.contact_distance_m,
            _hand_length(robot, imitation, side),
        )
        palms[side][:, :3, 3] += palms[side][:, :3, :3] @ offset
    phases = {
        side: contact_phases(
            imitation.time,
            palms[side][:, :3, 3],
            handles[side].poses[:, :3, 3] if side in handles else np.empty((0, 3)),
            contact_distance=settings.contact_distance_m,
            transition_distance=settings.transition_distance_m,
            transition_time=settings.transition_time_s,
        )
        for side in SIDES
    }
    share = {side: phases[side][0] for side in SIDES}
    contact = {side: phases[side][1] for side in SIDES}
    held = approach_handles(palms, share, contact, handles)
    axes = {side: handles[side].turn_axis if side in handles else None for side in SIDES}
    return HandContact(share, contact, palms, held, axes)


def contact_at_samples(contact: HandContact, samples: NDArray[np.int64]) -> HandContact:
    """Take some samples of the contact of hands.

    Parameters
    ----------
    contact : HandContact
        Contact at T samples.
    samples : (S,) int array
        Samples to take.

    Returns
    -------
    HandContact
        Contact at these samples.
    """
    return HandContact(
        {side: values[samples] for side, values in contact.share.items()},
        {side: values[samples] for side, values in contact.contact.items()},
        {side: values[samples] for side, values in contact.palms.items()},
        {side: values[samples] for side, values in contact.held.items()},
        contact.turn_axes,
    )


def actor_palms(imitation: Imitation, robot: Robot) -> dict[str, Array]:
    """Compute the palm poses of the scaled model over time.

    Parameters
    ----------
    imitation : Imitation
        Motion of the scaled model, at T samples.
    robot : Robot
        Robot whose palm frames the scaled model has.

    Returns
    -------
    {side: (T, 4, 4) array}
        World frame, m.
    """
    model = imitation.actor.model
    frames = [model.getFrameId(robot.frames[f"{side}_hand"]) for side in SIDES]
    return dict(zip(SIDES, frame_poses(model, frames, imitation.q), strict=True))


def _hand_length(robot: Robot, imitation: Imitation, side: str) -> float:
    """Distance of the scaled model's palm frame from its wrist, m."""
    model = imitation.actor.model
    frames = [model.getFrameId(robot.frames[f"{side}_{part}"]) for part in ("wrist", "hand")]
    wrist, palm = frame_poses(model, frames, imitation.q[:1])
    return float(np.linalg.norm(palm[0, :3, 3] - wrist[0, :3, 3]))


def approach_handles(
    palms: Mapping[str, Array],
    share: Mapping[str, Array],
    contact: Mapping[str, NDArray[np.bool_]],
    handles: Mapping[str, HandlePath],
) -> dict[str, Array]:
    """Put the actor's palms onto the handles in contact, and correct their paths before and after to match.

    The difference between the actor's first (last) pose in contact and the handle's is added to the path
    before (after) it, expressed in the palm's own axes and weighted by `share`.

    Parameters
    ----------
    palms : {side: (T, 4, 4) array}
        Palm poses of the actor in the world frame, m.
    share : {side: (T,) array}
        Blend weight of the actor's path, from `contact_phases`.
    contact : {side: (T,) bool array}
        Whether the hand is on its handle, from `contact_phases`.
    handles : {side: HandlePath}
        Handle that each hand holds.

    Returns
    -------
    {side: (T, 4, 4) array}
        Corrected palm poses in the world frame, m.
    """
    held = grip_path(palms, contact, handles)
    for side, touching in contact.items():
        samples = np.flatnonzero(touching)
        if side not in handles or not len(samples):
            continue
        before, after = slice(0, samples[0]), slice(samples[-1] + 1, None)
        for edge, stretch in ((samples[0], before), (samples[-1], after)):
            recorded = palms[side][edge]
            rotation_vector = Rotation.from_matrix(recorded[:3, :3].T @ held[side][edge, :3, :3]).as_rotvec()
            shift = recorded[:3, :3].T @ (held[side][edge, :3, 3] - recorded[:3, 3])
            weight = share[side][stretch, None]
            rotation = palms[side][stretch, :3, :3]
            held[side][stretch, :3, 3] += np.einsum("tij,tj->ti", rotation, weight * shift)
            held[side][stretch, :3, :3] = (
                rotation @ Rotation.from_rotvec(weight * rotation_vector).as_matrix()
            )
    return held


def plan_hands(
    robot: Robot, imitation: Imitation, posture: Array, base: Array, contact: HandContact
) -> HandPlan:
    """Compute the desired palm poses of the robot (Tomić 2018, §3.7.1-3.7.3).

    At blend weight 0 they are the robot's own forward kinematics of `posture`, so that joint motion has
    priority. At weight 1, in contact and just before, they are the actor's palm poses on the handles. In
    between they are those of a model whose segment lengths, base and joints are interpolated from the
    robot's to the actor's; there, a target that a longer arm reached and the robot's does not is drawn in
    toward the shoulder.

    Parameters
    ----------
    robot : Robot
        Robot with two arms.
    imitation : Imitation
        Motion of the scaled model, at T samples.
    posture : (T, n) array
        Preferred positions of trunk and arms, rad.
    base : (T, 7) array
        Pose of the robot's root link in the world frame: position, m, and quaternion.
    contact : HandContact
        From `detect_contact`, at the same samples.

    Returns
    -------
    HandPlan
        Desired motion of both hands at the same samples.
    """
    grip = {side: near_contact(imitation.time, contact.contact[side], ARRIVAL_TIME) for side in SIDES}
    model, q = upper_body(robot), np.hstack([base, posture])
    ids = {name: model.getFrameId(frame) for name, frame in robot.frames.items()}
    lengths = robot_lengths(robot, robot.model)
    targets = {}
    for side in SIDES:
        share, held = contact.share[side], contact.held[side]
        target, shoulders = frame_poses(model, [ids[f"{side}_hand"], ids[f"{side}_shoulder"]], q)
        target[share == 1.0] = held[share == 1.0]
        between = np.flatnonzero((share > 0.0) & (share < 1.0))
        if len(between):
            blended = _blended_palms(robot, model, imitation, side, q[between], share[between], between)
            # At full weight this is the actor's palm beside the handle.
            target[between] = blended @ np.linalg.solve(contact.palms[side][between], held[between])
        free = np.flatnonzero((share > 0.0) & (grip[side] < 1.0))
        drawn = draw_in(
            target[free],
            shoulders[free, :3, 3],
            wrist_in_palm(model, robot, side),
            arm_reach(model, robot, lengths, side),
            share[free],
        )
        target[free, :3, 3] += (1.0 - grip[side][free, None]) * (drawn - target[free, :3, 3])
        targets[side] = smooth_poses(imitation.time, target)
    return HandPlan(contact.share, contact.contact, grip, targets, contact.held, contact.turn_axes)


def _blended_palms(
    robot: Robot,
    model: pin.Model,
    imitation: Imitation,
    side: str,
    q: Array,
    weights: Array,
    samples: NDArray[np.int64],
) -> Array:
    """Compute the palm poses (S, 4, 4) of models whose segments, base and joints are between robot and actor.

    A model's joint placements are linear in its segment lengths.
    """
    tree = kinematic_tree(model)
    actor = kinematic_tree(scale_model(robot, model, imitation.actor.lengths)).translation
    body, rotation, centre = frame_on_body(model, model.getFrameId(robot.frames[f"{side}_hand"]))
    work = make_workspace(tree)
    palms = np.empty((len(samples), 4, 4))
    for number, (sample, weight) in enumerate(zip(samples, weights, strict=True)):
        at = pin.interpolate(model, q[number], imitation.q[sample], weight)
        work.position[0], work.rotation[0] = at[:3], pin.Quaternion(at[3:7]).matrix()
        blended = tree._replace(translation=(1.0 - weight) * tree.translation + weight * actor)
        place_bodies(blended, at[7:], work.rotation, work.position)
        pose = work.rotation[body]
        palms[number] = pin.SE3(pose @ rotation, work.position[body] + pose @ centre).homogeneous
    return palms


def smooth_poses(time: Array, poses: Array) -> Array:
    """Smooth poses over time (Savitzky-Golay), so that a hand arrives without a corner and with less noise.

    Parameters
    ----------
    time : (T,) array
        Time of each sample, s.
    poses : (T, 4, 4) array
        Homogeneous poses in any fixed frame, m.

    Returns
    -------
    (T, 4, 4) array
        Smoothed poses in the same frame; unchanged if they are too few for the filter.
    """
    longest = len(time) - 1 + len(time) % 2
    if longest <= _SMOOTHING_ORDER:
        return poses
    window = min(longest, round(_SMOOTHING_WINDOW * (len(time) - 1) / (time[-1] - time[0])) // 2 * 2 + 1)
    if window <= _SMOOTHING_ORDER:
        return poses
    smoothed = savgol_filter(poses, window, _SMOOTHING_ORDER)
    left, _, right = np.linalg.svd(smoothed[:, :3, :3])
    return transform(left @ right, smoothed[:, :3, 3])
