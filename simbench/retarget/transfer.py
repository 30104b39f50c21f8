"""Transfer: the scaled model's motion on the robot's real size, free, in contact, and in between."""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import pinocchio as pin
from numpy.typing import NDArray
from scipy.signal import savgol_filter

from simbench.retarget.imitation import Imitation
from simbench.retarget.initial_configuration import elbow_joint
from simbench.retarget.inverse_kinematics import reach
from simbench.retarget.scaling import (
    SIDES,
    SegmentLengths,
    blend_lengths,
    robot_lengths,
    scale_model,
    upper_body,
)
from simbench.robot.robot import Robot

_REACH_MARGIN = 0.02
"""Distance kept from a straight and from a folded arm during transitions, m: there joints race."""


@dataclass(frozen=True)
class HandPlan:
    """What each hand has to do over time.

    Parameters
    ----------
    share : {side: (T,) array}
        0 own size, 1 the actor's hand path, in between during the transition.
    contact : {side: (T,) bool array}
        Whether the actor's hand is on the equipment.
    targets : {side: list of T pinocchio.SE3}
        Palm poses in the world.
    actor : {side: (T, 4, 4) array}
        The actor's palm poses in the world: what the targets become in contact.
    """

    share: Mapping[str, NDArray[np.float64]]
    contact: Mapping[str, NDArray[np.bool_]]
    targets: Mapping[str, list[pin.SE3]]
    actor: Mapping[str, NDArray[np.float64]]


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


def contact_phases(
    time: NDArray[np.float64],
    palm: NDArray[np.float64],
    handle_path: NDArray[np.float64],
    *,
    contact_distance: float,
    transition_distance: float,
    transition_time: float,
) -> tuple[NDArray[np.float64], NDArray[np.bool_]]:
    """When a hand is on a handle, and how far its path is the actor's, from the actor's palm.

    Contact lasts from the first to the last sample with the palm within `contact_distance` of a place the
    handle can take. Within `transition_distance` the robot's palm is on the actor's path, which avoids the
    equipment; the minimum-jerk transition to it ends there and takes `transition_time`. (In the paper it
    goes linearly, starts at that distance and ends at contact: a smaller robot's hands then come at a drawer
    through its front.)

    Parameters
    ----------
    time : (T,) array
        s.
    palm : (T, 3) array
        m, world.
    handle_path : (K, 3) array
        Positions the handle can take, m, world; empty if the hand has nothing to touch.
    contact_distance, transition_distance : float
        m.
    transition_time : float
        s.

    Returns
    -------
    share : (T,) array
        0 own size, 1 the actor's path.
    contact : (T,) bool array
    """
    share, contact = np.zeros(len(time)), np.zeros(len(time), dtype=bool)
    if len(handle_path) == 0:
        return share, contact
    distance = np.linalg.norm(palm[:, None, :] - handle_path[None, :, :], axis=2).min(axis=1)
    touching = np.flatnonzero(distance < contact_distance)
    if len(touching) == 0:
        return share, contact
    contact[touching[0] : touching[-1] + 1] = True
    near = np.flatnonzero(distance < transition_distance)
    rise = 1.0 + (time - time[near[0]]) / transition_time
    fall = 1.0 - (time - time[near[-1]]) / transition_time
    share = np.clip(np.minimum(rise, fall), 0.0, 1.0)
    return share**3 * (10.0 - 15.0 * share + 6.0 * share**2), contact


def plan_hands(
    robot: Robot,
    imitation: Imitation,
    posture: NDArray[np.float64],
    base: NDArray[np.float64],
    palms: Mapping[str, NDArray[np.float64]],
    share: Mapping[str, NDArray[np.float64]],
    contact: Mapping[str, NDArray[np.bool_]],
) -> HandPlan:
    """Desired palm poses of the robot (Tomić 2018, §3.7.1-3.7.3).

    Share 0: the robot's own forward kinematics of `posture`, so that joint motion has priority. Share 1, in
    contact and just before: the actor's palm pose. In between, a model whose segment lengths, base and joints
    go from the robot's to the actor's. There, what a longer arm reached and the robot's does not is
    drawn in toward the shoulder.

    Parameters
    ----------
    robot : Robot
    imitation : Imitation
    posture : (T, n) array
        From `limited_posture`, rad.
    base : (T, 7) array
        Pose of the robot's root link in the world.
    palms : {side: (T, 4, 4) array}
        `actor_palms`.
    share, contact : {side: (T,) array}
        `contact_phases`.

    Returns
    -------
    HandPlan
    """
    real = upper_body(robot)
    real_data = real.createData()
    own, actor = robot_lengths(robot), imitation.actor.lengths
    frames = {side: real.getFrameId(robot.frames[f"{side}_hand"]) for side in SIDES}
    shoulders = {side: real.getFrameId(robot.frames[f"{side}_shoulder"]) for side in SIDES}
    wrists = {side: _wrist_in_palm(real, robot, side) for side in SIDES}
    reaches = arm_reach(real, robot, own)
    targets: dict[str, list[pin.SE3]] = {side: [] for side in SIDES}
    for sample, joints in enumerate(posture):
        q = np.concatenate([base[sample], joints])
        pin.framesForwardKinematics(real, real_data, q)
        for side, frame in frames.items():
            part = float(share[side][sample])
            if part == 0.0:
                target = real_data.oMf[frame].copy()
            elif part == 1.0:
                target = pin.SE3(palms[side][sample])
            else:
                between = scale_model(real, robot.frames, blend_lengths(own, actor, part))
                data = between.createData()
                pin.framesForwardKinematics(
                    between, data, pin.interpolate(real, q, imitation.q[sample], part)
                )
                target = data.oMf[frame].copy()
            shoulder = real_data.oMf[shoulders[side]].translation
            # The posture's own arm may be straighter than that: the limits close in with the share.
            extent = float(np.linalg.norm(real_data.oMf[frame].act(wrists[side]) - shoulder))
            nearest = reaches[0] + (1.0 - part) * min(0.0, extent - reaches[0])
            farthest = reaches[1] + (1.0 - part) * max(0.0, extent - reaches[1])
            targets[side].append(within_reach(target, shoulder, wrists[side], (nearest, farthest)))
    return HandPlan(share, contact, targets, palms)


def arm_reach(model: pin.Model, robot: Robot, lengths: SegmentLengths) -> tuple[float, float]:
    """Least and greatest distance of wrist and shoulder, m, inside what the elbow allows."""
    index = model.joints[elbow_joint(model, robot, "left")].idx_q
    fold = max(abs(model.lowerPositionLimit[index]), abs(model.upperPositionLimit[index]))
    a, b = lengths.upper_arm, lengths.forearm
    folded = float(np.sqrt(a * a + b * b + 2.0 * a * b * np.cos(fold)))
    return folded + _REACH_MARGIN, a + b - _REACH_MARGIN


def within_reach(
    palm: pin.SE3, shoulder: NDArray[np.float64], wrist: NDArray[np.float64], reaches: tuple[float, float]
) -> pin.SE3:
    """Move a palm pose along the line from the shoulder to the wrist until the arm can reach it.

    Parameters
    ----------
    palm : pinocchio.SE3
        Desired pose in the world.
    shoulder : (3,) array
        m, world.
    wrist : (3,) array
        The wrist in the palm's frame, m.
    reaches : (float, float)
        From `arm_reach`, m.

    Returns
    -------
    pinocchio.SE3
    """
    line = palm.act(wrist) - shoulder
    distance = float(np.linalg.norm(line))
    wanted = min(max(distance, reaches[0]), reaches[1])
    if wanted == distance or distance < 1e-9:
        return palm
    return pin.SE3(palm.rotation, palm.translation + line * (wanted / distance - 1.0))


def _wrist_in_palm(model: pin.Model, robot: Robot, side: str) -> NDArray[np.float64]:
    palm = model.frames[model.getFrameId(robot.frames[f"{side}_hand"])]
    wrist = model.frames[model.getFrameId(robot.frames[f"{side}_wrist"])]
    return np.asarray(palm.placement.actInv(wrist.placement.translation))


def transfer(
    robot: Robot,
    posture: NDArray[np.float64],
    base: NDArray[np.float64],
    plan: HandPlan,
    lower: NDArray[np.float64],
    upper: NDArray[np.float64],
    *,
    smoothing_window: int = 31,
    smoothing_order: int = 5,
    iterations: int = 8,
) -> NDArray[np.float64]:
    """Joint positions of trunk and arms that bring the palms to their targets, near the imitated posture.

    Parameters
    ----------
    robot : Robot
    posture : (T, n) array
        Preferred posture, rad.
    base : (T, 7) array
    plan : HandPlan
    lower, upper : (n,) array
        rad.
    smoothing_window, smoothing_order : int
        Savitzky-Golay filter of the result.
    iterations : int
        Upper bound of inverse-kinematics steps a frame (the paper takes one).

    Returns
    -------
    (T, n) array
        rad, inside the limits.
    """
    model = upper_body(robot)
    data = model.createData()
    frames = [model.getFrameId(robot.frames[f"{side}_hand"]) for side in SIDES]
    joints = np.empty_like(posture)
    current = posture[0]
    for sample, preferred in enumerate(posture):
        start = np.concatenate([base[sample], current])
        targets = [plan.targets[side][sample] for side in SIDES]
        q = reach(model, data, start, frames, targets, preferred, lower, upper, iterations=iterations)
        joints[sample] = current = q[7:]
    window = min(smoothing_window, len(joints) - 1 + len(joints) % 2)
    if window > smoothing_order:
        joints = savgol_filter(joints, window, smoothing_order, axis=0)
    return np.clip(joints, lower, upper)
