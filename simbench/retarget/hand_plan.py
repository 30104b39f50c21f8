"""What the robot's hands are to do: the robot's own motion, the actor's path on the equipment, in between."""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import pinocchio as pin
from numpy.typing import NDArray
from scipy.signal import savgol_filter
from scipy.spatial.transform import Rotation

from simbench.motion.anatomy import transform
from simbench.motion.handles import Handle
from simbench.retarget.grip_path import grip_path
from simbench.retarget.imitation import Imitation
from simbench.retarget.initial_configuration import elbow_joint
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
_SOFTNESS = 0.01
"""Over which a distance bends into that limit, m."""
_OPENING = 0.01
"""How fast that limit opens toward free motion, where the posture rules, m."""
_SMOOTHING, _SMOOTHING_ORDER = 0.31, 3
"""Window, s, and polynomial order of the filter that smooths the palms' paths."""
_ARRIVAL = 1.0
"""Before and after contact, s, over which the limit gives way to the equipment."""
_RESTING_SPEED = 0.03
"""Below which a palm rests, m/s."""
_SHORT_GAP = 0.2
"""Longest time, s, that a hand seems off a handle and is still on it."""


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

    Contact lasts while the palm is within `contact_distance` of places the handle can take, the longest time
    it is, from the first to the last sample at which it rests. Within `transition_distance` around that the
    robot's palm is on the actor's path, which avoids the equipment; the minimum-jerk transition to it ends
    there and takes `transition_time`. (In the paper it goes linearly, starts at that distance and ends at
    contact: a smaller robot's hands then come at a drawer through its front.)

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
    runs = _runs(time, distance < contact_distance)
    if not runs:
        return share, contact
    first, last = max(runs, key=lambda run: float(time[run[1]] - time[run[0]]))
    speed = np.linalg.norm(np.gradient(palm, time, axis=0), axis=1) if len(time) > 1 else np.zeros(1)
    resting = first + np.flatnonzero(speed[first : last + 1] < _RESTING_SPEED)
    if len(resting):
        # Until the hand rests on it the handle stands still, and the palm passes by places it may go to.
        first = resting[0] if first > 0 else first
        last = resting[-1] if last < len(time) - 1 else last
    contact[first : last + 1] = True
    near = _runs(time, distance < transition_distance)
    begin, end = next(run for run in near if run[0] <= first <= run[1])
    rise = 1.0 + (time - time[begin]) / transition_time
    fall = 1.0 - (time - time[end]) / transition_time
    share = np.clip(np.minimum(rise, fall), 0.0, 1.0)
    return minimum_jerk(share), contact


def approach_handles(
    palms: Mapping[str, NDArray[np.float64]],
    share: Mapping[str, NDArray[np.float64]],
    contact: Mapping[str, NDArray[np.bool_]],
    handles: Mapping[str, Handle],
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
    handles : {side: Handle}

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


def _runs(time: NDArray[np.float64], inside: NDArray[np.bool_]) -> list[tuple[int, int]]:
    """First and last samples of the stretches that are inside, those a short gap apart taken together."""
    samples = np.flatnonzero(inside)
    if not len(samples):
        return []
    cuts = np.flatnonzero((np.diff(samples) > 1) & (np.diff(time[samples]) > _SHORT_GAP))
    return list(zip(samples[np.r_[0, cuts + 1]], samples[np.r_[cuts, len(samples) - 1]], strict=True))


def plan_hands(
    robot: Robot,
    imitation: Imitation,
    posture: NDArray[np.float64],
    base: NDArray[np.float64],
    palms: Mapping[str, NDArray[np.float64]],
    held: Mapping[str, NDArray[np.float64]],
    share: Mapping[str, NDArray[np.float64]],
    contact: Mapping[str, NDArray[np.bool_]],
    handles: Mapping[str, Handle],
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
    handles : {side: Handle}

    Returns
    -------
    HandPlan
    """
    real = upper_body(robot)
    data = real.createData()
    own, actor = robot_lengths(robot), imitation.actor.lengths
    frames = {side: real.getFrameId(robot.frames[f"{side}_hand"]) for side in SIDES}
    shoulders = {side: real.getFrameId(robot.frames[f"{side}_shoulder"]) for side in SIDES}
    wrists = {side: _wrist_in_palm(real, robot, side) for side in SIDES}
    reaches = arm_reach(real, robot, own)
    grip = {side: near_contact(imitation.time, contact[side], _ARRIVAL) for side in SIDES}
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
                drawn = draw_in(target, shoulder, wrists[side], reaches, part)
                target.translation += (1.0 - grip[side][sample]) * (drawn - target.translation)
            targets[side][sample] = target.homogeneous
    targets = {side: _smooth(imitation.time, target) for side, target in targets.items()}
    axes = {side: handles[side].turn_axis if side in handles else None for side in SIDES}
    return HandPlan(share, contact, grip, targets, held, axes)


def arm_reach(model: pin.Model, robot: Robot, lengths: SegmentLengths) -> tuple[float, float]:
    """Least and greatest distance of wrist and shoulder, m, inside what the elbow allows."""
    index = model.joints[elbow_joint(model, robot, "left")].idx_q
    fold = max(abs(model.lowerPositionLimit[index]), abs(model.upperPositionLimit[index]))
    a, b = lengths.upper_arm, lengths.forearm
    folded = float(np.sqrt(a * a + b * b + 2.0 * a * b * np.cos(fold)))
    return folded + _REACH_MARGIN, a + b - _REACH_MARGIN


def draw_in(
    palm: pin.SE3,
    shoulder: NDArray[np.float64],
    wrist: NDArray[np.float64],
    reaches: tuple[float, float],
    part: float,
) -> NDArray[np.float64]:
    """Find where a palm is when it comes along the line from wrist to shoulder until the arm can reach it.

    The distance is brought between the reaches smoothly, within a centimetre or two; toward free motion the
    reaches open.

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
    part : float
        Share of the transition that is done, above 0.

    Returns
    -------
    (3,) array
        m, world.
    """
    line = palm.act(wrist) - shoulder
    distance = float(np.linalg.norm(line))
    opening = _OPENING * (1.0 / part - 1.0)
    over = (distance - reaches[1] - opening) / _SOFTNESS
    under = (reaches[0] - opening - distance) / _SOFTNESS
    wanted = distance + _SOFTNESS * float(np.logaddexp(0.0, under) - np.logaddexp(0.0, over))
    return np.asarray(palm.translation + line * (wanted / max(distance, 1e-9) - 1.0))


def _smooth(time: NDArray[np.float64], poses: NDArray[np.float64]) -> NDArray[np.float64]:
    """Smooth poses (T, 4, 4) over time (Savitzky-Golay): no corner where a hand arrives, less noise."""
    longest = len(time) - 1 + len(time) % 2
    if longest <= _SMOOTHING_ORDER:
        return poses
    window = min(longest, round(_SMOOTHING * (len(time) - 1) / (time[-1] - time[0])) // 2 * 2 + 1)
    if window <= _SMOOTHING_ORDER:
        return poses
    smoothed = savgol_filter(poses, window, _SMOOTHING_ORDER, axis=0)
    left, _, right = np.linalg.svd(smoothed[:, :3, :3])
    return transform(left @ right, smoothed[:, :3, 3])


def near_contact(
    time: NDArray[np.float64], contact: NDArray[np.bool_], duration: float
) -> NDArray[np.float64]:
    """Rate samples (T,): 1 in contact, 0 a duration, s, before and after; minimum jerk in between."""
    if not contact.any():
        return np.zeros(len(time))
    first, last = time[contact][[0, -1]]
    away = np.maximum(np.maximum(first - time, time - last), 0.0)
    return minimum_jerk(1.0 - np.minimum(away / duration, 1.0))


def minimum_jerk(share: NDArray[np.float64]) -> NDArray[np.float64]:
    """Smooth a share of time, 0 to 1: 10 s³ − 15 s⁴ + 6 s⁵."""
    return np.asarray(share**3 * (10.0 - 15.0 * share + 6.0 * share**2))


def _wrist_in_palm(model: pin.Model, robot: Robot, side: str) -> NDArray[np.float64]:
    palm = model.frames[model.getFrameId(robot.frames[f"{side}_hand"])]
    wrist = model.frames[model.getFrameId(robot.frames[f"{side}_wrist"])]
    return np.asarray(palm.placement.actInv(wrist.placement.translation))
