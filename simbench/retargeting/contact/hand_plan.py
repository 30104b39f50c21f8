"""Hand plan: desired palm poses that blend the robot's own motion with the actor's path on the equipment."""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import pinocchio as pin
from numpy.typing import NDArray
from scipy.spatial.transform import Rotation

from simbench.kinematics.arrays import Array
from simbench.kinematics.savgol import savgol_filter
from simbench.motion.anatomy import transform
from simbench.motion.handles import HandlePath
from simbench.options import RetargetSection
from simbench.retargeting.contact.handle_path import grip_path
from simbench.retargeting.contact.phases import contact_phases, near_contact
from simbench.retargeting.contact.reach import arm_reach, draw_in, wrist_in_palm
from simbench.retargeting.imitation.imitation import Imitation
from simbench.retargeting.imitation.scaling import (
    SegmentLengths,
    blend_lengths,
    robot_lengths,
    scale_model,
)
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
    data = model.createData()
    frames = {side: model.getFrameId(robot.frames[f"{side}_hand"]) for side in SIDES}
    palms = {side: np.empty((len(imitation.q), 4, 4)) for side in SIDES}
    for sample, q in enumerate(imitation.q):
        pin.framesForwardKinematics(model, data, q)
        for side, frame in frames.items():
            palms[side][sample] = data.oMf[frame].homogeneous
    return palms


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
    model = upper_body(robot)
    arms = {side: _arm_geometry(robot, model, imitation, side) for side in SIDES}
    data = model.createData()
    targets = {side: np.empty_like(contact.held[side]) for side in SIDES}
    for sample, joints in enumerate(posture):
        q = np.concatenate([base[sample], joints])
        pin.framesForwardKinematics(model, data, q)
        for side, arm in arms.items():
            weight = float(contact.share[side][sample])
            held = contact.held[side][sample]
            target = pin.SE3(held) if weight == 1.0 else data.oMf[arm.palm].copy()
            if 0.0 < weight < 1.0:
                between = pin.interpolate(model, q, imitation.q[sample], weight)
                # At full weight this is the actor's palm beside the handle.
                correction = np.linalg.solve(contact.palms[side][sample], held)
                target = _blended_palm(robot, model, arm, between, weight) * pin.SE3(correction)
            if weight > 0.0 and grip[side][sample] < 1.0:
                shoulder = data.oMf[arm.shoulder].translation
                drawn = draw_in(target, shoulder, arm.wrist, arm.reaches, weight)
                target.translation += (1.0 - grip[side][sample]) * (drawn - target.translation)
            targets[side][sample] = target.homogeneous
    targets = {side: smooth_poses(imitation.time, target) for side, target in targets.items()}
    return HandPlan(contact.share, contact.contact, grip, targets, contact.held, contact.turn_axes)


@dataclass(frozen=True)
class _ArmGeometry:
    """Frames and lengths of one arm: palm and shoulder frame ids, wrist in the palm's frame, reaches, m."""

    palm: int
    shoulder: int
    wrist: Array
    reaches: tuple[float, float]
    robot_lengths: SegmentLengths
    actor_lengths: SegmentLengths


def _arm_geometry(robot: Robot, model: pin.Model, imitation: Imitation, side: str) -> _ArmGeometry:
    """Collect the frames and lengths of one arm of the robot and of its actor."""
    lengths = robot_lengths(robot)
    return _ArmGeometry(
        model.getFrameId(robot.frames[f"{side}_hand"]),
        model.getFrameId(robot.frames[f"{side}_shoulder"]),
        wrist_in_palm(model, robot, side),
        arm_reach(model, robot, lengths, side),
        lengths,
        imitation.actor.lengths,
    )


def _blended_palm(robot: Robot, model: pin.Model, arm: _ArmGeometry, q: Array, weight: float) -> pin.SE3:
    """Compute the palm pose of a model whose segment lengths lie between the robot's and the actor's."""
    lengths = blend_lengths(arm.robot_lengths, arm.actor_lengths, weight)
    scaled = scale_model(model, robot.frames, lengths)
    data = scaled.createData()
    pin.framesForwardKinematics(scaled, data, q)
    return data.oMf[arm.palm].copy()


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
