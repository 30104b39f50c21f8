"""What the robot's hands are to do: the robot's own motion, the actor's path on the equipment, in between."""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import pinocchio as pin
from numpy.typing import NDArray
from scipy.signal import savgol_filter
from scipy.spatial.transform import Rotation

from simbench.motion.anatomy import transform
from simbench.motion.handles import HandlePath
from simbench.retargeting.contact.handle_path import grip_path
from simbench.retargeting.contact.phases import near_contact
from simbench.retargeting.contact.reach import arm_reach, draw_in, wrist_in_palm
from simbench.retargeting.imitation.imitation import Imitation
from simbench.retargeting.imitation.scaling import blend_lengths, robot_lengths, scale_model
from simbench.robot.robot import Robot
from simbench.robot.sides import SIDES
from simbench.robot.upper_body import upper_body

_SMOOTHING, _SMOOTHING_ORDER = 0.31, 3
"""Window, s, and polynomial order of the filter that smooths the palms' paths."""
ARRIVAL = 1.0
"""Before and after contact, s, over which the arm's reach gives way to the equipment."""


@dataclass(frozen=True)
class HandPlan:
    """What each hand has to do over time.

    Parameters
    ----------
    share : {side: (T,) array}
        0 own size, 1 the actor's hand path, in between during the transition.
    contact : {side: (T,) bool array}
        Whether the actor's hand is on the equipment.
    grip : {side: (T,) array}
        1 in contact, 0 a little before and after.
    targets : {side: (T, 4, 4) array}
        Palm poses in the world.
    actor : {side: (T, 4, 4) array}
        The actor's palm poses in the world, in contact put onto the handles: what the targets become.
    turn_axes : {side: (3,) array or None}
        Axis in the palm's axes about which a hand may turn on what it holds.
    """

    share: Mapping[str, NDArray[np.float64]]
    contact: Mapping[str, NDArray[np.bool_]]
    grip: Mapping[str, NDArray[np.float64]]
    targets: Mapping[str, NDArray[np.float64]]
    actor: Mapping[str, NDArray[np.float64]]
    turn_axes: Mapping[str, NDArray[np.float64] | None]


def actor_palms(imitation: Imitation, robot: Robot) -> dict[str, NDArray[np.float64]]:
    """Palm poses of the scaled model in the world.

    Returns
    -------
    dict of side to (T, 4, 4) array
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
    palms: Mapping[str, NDArray[np.float64]],
    share: Mapping[str, NDArray[np.float64]],
    contact: Mapping[str, NDArray[np.bool_]],
    handles: Mapping[str, HandlePath],
) -> dict[str, NDArray[np.float64]]:
    """Put the actor's palms onto the handles in contact, and correct their ways there and back to match.

    What the first (last) pose in contact differs from the handle's is taken off in the palm's own axes, in
    the proportion of `share`.

    Parameters
    ----------
    palms : {side: (T, 4, 4) array}
        `actor_palms`.
    share, contact : {side: (T,) array}
        `contact_phases`.
    handles : {side: HandlePath}

    Returns
    -------
    {side: (T, 4, 4) array}
    """
    held = grip_path(palms, contact, handles)
    for side, touching in contact.items():
        samples = np.flatnonzero(touching)
        if side not in handles or not len(samples):
            continue
        for edge, way in ((samples[0], slice(0, samples[0])), (samples[-1], slice(samples[-1] + 1, None))):
            before = palms[side][edge]
            turn = Rotation.from_matrix(before[:3, :3].T @ held[side][edge, :3, :3]).as_rotvec()
            shift = before[:3, :3].T @ (held[side][edge, :3, 3] - before[:3, 3])
            part = share[side][way, None]
            rotation = palms[side][way, :3, :3]
            held[side][way, :3, 3] += np.einsum("tij,tj->ti", rotation, part * shift)
            held[side][way, :3, :3] = rotation @ Rotation.from_rotvec(part * turn).as_matrix()
    return held


def plan_hands(
    robot: Robot,
    imitation: Imitation,
    posture: NDArray[np.float64],
    base: NDArray[np.float64],
    palms: Mapping[str, NDArray[np.float64]],
    held: Mapping[str, NDArray[np.float64]],
    share: Mapping[str, NDArray[np.float64]],
    contact: Mapping[str, NDArray[np.bool_]],
    handles: Mapping[str, HandlePath],
) -> HandPlan:
    """Desired palm poses of the robot (Tomić 2018, §3.7.1-3.7.3).

    Share 0: the robot's own forward kinematics of `posture`, so that joint motion has priority. Share 1, in
    contact and just before: the actor's palm pose, on its handle. In between, a model whose segment lengths,
    base and joints go from the robot's to the actor's; there, what a longer arm reached and the robot's does
    not is drawn in toward the shoulder.

    Parameters
    ----------
    robot : Robot
    imitation : Imitation
    posture : (T, n) array
        From `limited_posture`, rad.
    base : (T, 7) array
        Pose of the robot's root link in the world.
    palms, held : {side: (T, 4, 4) array}
        `actor_palms`; `approach_handles`.
    share, contact : {side: (T,) array}
        `contact_phases`.
    handles : {side: HandlePath}

    Returns
    -------
    HandPlan
    """
    real = upper_body(robot)
    data = real.createData()
    own, actor = robot_lengths(robot), imitation.actor.lengths
    frames = {side: real.getFrameId(robot.frames[f"{side}_hand"]) for side in SIDES}
    shoulders = {side: real.getFrameId(robot.frames[f"{side}_shoulder"]) for side in SIDES}
    wrists = {side: wrist_in_palm(real, robot, side) for side in SIDES}
    reaches = {side: arm_reach(real, robot, own, side) for side in SIDES}
    grip = {side: near_contact(imitation.time, contact[side], ARRIVAL) for side in SIDES}
    targets = {side: np.empty_like(held[side]) for side in SIDES}
    for sample, joints in enumerate(posture):
        q = np.concatenate([base[sample], joints])
        pin.framesForwardKinematics(real, data, q)
        for side, frame in frames.items():
            part = float(share[side][sample])
            target = pin.SE3(held[side][sample]) if part == 1.0 else data.oMf[frame].copy()
            if 0.0 < part < 1.0:
                between = scale_model(real, robot.frames, blend_lengths(own, actor, part))
                of_between = between.createData()
                pin.framesForwardKinematics(
                    between, of_between, pin.interpolate(real, q, imitation.q[sample], part)
                )
                # At full share that is the actor's palm beside the handle.
                correction = np.linalg.solve(palms[side][sample], held[side][sample])
                target = of_between.oMf[frame] * pin.SE3(correction)
            if part > 0.0 and grip[side][sample] < 1.0:
                shoulder = data.oMf[shoulders[side]].translation
                drawn = draw_in(target, shoulder, wrists[side], reaches[side], part)
                target.translation += (1.0 - grip[side][sample]) * (drawn - target.translation)
            targets[side][sample] = target.homogeneous
    targets = {side: smooth_poses(imitation.time, target) for side, target in targets.items()}
    axes = {side: handles[side].turn_axis if side in handles else None for side in SIDES}
    return HandPlan(share, contact, grip, targets, held, axes)


def smooth_poses(time: NDArray[np.float64], poses: NDArray[np.float64]) -> NDArray[np.float64]:
    """Smooth poses over time (Savitzky-Golay): no corner where a hand arrives, less noise.

    Parameters
    ----------
    time : (T,) array
        s.
    poses : (T, 4, 4) array

    Returns
    -------
    (T, 4, 4) array
    """
    longest = len(time) - 1 + len(time) % 2
    if longest <= _SMOOTHING_ORDER:
        return poses
    window = min(longest, round(_SMOOTHING * (len(time) - 1) / (time[-1] - time[0])) // 2 * 2 + 1)
    if window <= _SMOOTHING_ORDER:
        return poses
    smoothed = savgol_filter(poses, window, _SMOOTHING_ORDER, axis=0)
    left, _, right = np.linalg.svd(smoothed[:, :3, :3])
    return transform(left @ right, smoothed[:, :3, 3])
