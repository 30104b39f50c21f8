"""Base placement, pelvis and ZMP target of a standing plan, and checks that legs and hands can follow it."""

from collections.abc import Callable, Mapping
from dataclasses import replace

import numpy as np
import pinocchio as pin
from numpy.typing import NDArray

from simbench.balance.standing.standing import Stance, height_range, leg_columns, stand
from simbench.errors import LegReachError, RetargetError
from simbench.kinematics.arrays import Array
from simbench.kinematics.profiles import minimum_jerk
from simbench.kinematics.savgol import savgol_filter
from simbench.motion.handles import HandlePath
from simbench.motion.human_motion import HumanMotion
from simbench.options import RetargetSection, RobotSection
from simbench.retargeting.contact.hand_plan import HandPlan, near_contact
from simbench.retargeting.imitation.imitation import Imitation
from simbench.retargeting.placement.placement import (
    BasePlacement,
    Placed,
    base_height,
    evaluate_placement,
    find_spot,
)
from simbench.retargeting.placement.reach_model import com_offset
from simbench.retargeting.placement.root_placement import Placement
from simbench.robot.robot import SEATED, Robot
from simbench.robot.sides import SIDES

OnProgress = Callable[[str, int, int], None]

_MIN_SHOULDER_HEIGHT = 0.5
"""Height, m, below which a person's shoulders say nothing of the pelvis' height: the recording's floor is not
at 0, or the person lies."""
_LEG_RANGE_FRACTION = 0.6
"""Fraction used of the heights that the legs allow: the rest is for the sway that balance takes."""
_FADE_TIME = 1.0
"""Time over which the pelvis leaves its nominal height and returns to it, s."""
_BLEND_TIME = 2.5
"""Time before and after contact, s, over which one posture is blended into another."""
_SMOOTHING_WINDOW = 0.31
"""Window, s, that smooths a recorded pelvis, and postures that step from pose to pose of a handle's path."""


def choose_placement(
    robot: Robot,
    section: RobotSection,
    settings: RetargetSection,
    handles: Mapping[str, HandlePath],
    on_progress: OnProgress,
) -> BasePlacement:
    """Take the base placement that a scenario gives a robot, or find the best one for its equipment.

    Parameters
    ----------
    robot : Robot
        Robot to be placed.
    section : RobotSection
        Given placement, and whether another one is to be found.
    settings : RetargetSection
        Gives the COG's motion with the hands.
    handles : {side: HandlePath}
        Handle that each hand holds; empty for free motion.
    on_progress : callable (stage, done, total)
        Called as the search proceeds.

    Returns
    -------
    BasePlacement
        Position, m, heading, rad, and height, m, of the robot, and how its COG moves with the hands.

    Raises
    ------
    RetargetError
        If a placement is to be found without equipment, or none is feasible.
    """
    given = given_placement(robot, section, settings)
    if section.place == "given":
        return given
    if not handles:
        raise RetargetError(f"{robot.name}: robot.place auto needs equipment whose handles are known")
    free = section.height_m is None and robot.base_height > 0.0
    found = find_spot(robot, handles, given, section.posture, on_progress, any_height=free)
    if not found.placement.feasible:
        best = found.spot
        raise RetargetError(
            f"{robot.name}: has no place to follow the handles from; least is missing at "
            f"({best.position[0]:.3f}, {best.position[1]:.3f}) m, turned {best.heading:.3f} rad, "
            f"{best.height:.3f} m higher: {found.placement.fault}"
        )
    return found.spot


def given_placement(robot: Robot, section: RobotSection, settings: RetargetSection) -> BasePlacement:
    """Take the base placement that a scenario gives.

    Parameters
    ----------
    robot : Robot
        Robot to be placed.
    section : RobotSection
        Position, heading and height.
    settings : RetargetSection
        Gives the COG's motion with the hands.

    Returns
    -------
    BasePlacement
        The placement.
    """
    height = (section.height_m or 0.0) if robot.floating else base_height(robot, section)
    motion = (settings.pelvis_follow, settings.pelvis_advance, settings.pelvis_lean_m)
    return BasePlacement(section.position_m, section.heading_rad, height, *motion)


def blend_into_reach(
    robot: Robot,
    base_placement: BasePlacement,
    section: RobotSection,
    handles: Mapping[str, HandlePath],
    time: Array,
    posture: Array,
    names: tuple[str, ...],
    hands: HandPlan,
) -> tuple[Array, Array]:
    """Blend a posture, while hands hold, into one near which the whole handle path is within reach.

    Base placement finds a posture for each pose of the handles' path. Their mean is the new preference, since
    it does not move; they themselves are the initial guess.

    Parameters
    ----------
    robot : Robot
        Robot whose hands hold the equipment.
    base_placement : BasePlacement
        Base placement of the robot.
    section : RobotSection
        Names the posture of its legs and head.
    handles : {side: HandlePath}
        Handle that each hand holds.
    time : (T,) array
        Time of each sample, s.
    posture : (T, n) array
        Positions of the joints in `names`, rad.
    names : tuple of str
        Joints of trunk and arms.
    hands : HandPlan
        Planned hand motion at the same samples.

    Returns
    -------
    preferred : (T, n) array
        Posture to be preferred from now on, rad.
    start : (T, n) array
        Posture to start solving from, rad.

    Raises
    ------
    RetargetError
        If the equipment is out of reach from there.
    """
    handles = used_part(handles, hands)
    reached = require_reach(robot, evaluate_placement(robot, handles, base_placement, section.posture))
    return blend_into_placement(reached, handles, time, posture, names, hands)


def blend_into_placement(
    reached: Placement,
    handles: Mapping[str, HandlePath],
    time: Array,
    posture: Array,
    names: tuple[str, ...],
    hands: HandPlan,
) -> tuple[Array, Array]:
    """Blend a posture, while hands hold, into those of a placement, as `blend_into_reach`.

    Parameters
    ----------
    reached : Placement
        Postures along the handles' path.
    handles : {side: HandlePath}
        The part of the path that the hands use (`used_part`).
    time : (T,) array
        Time of each sample, s.
    posture : (T, n) array
        Positions of the joints in `names`, rad.
    names : tuple of str
        Joints of trunk and arms.
    hands : HandPlan
        Planned hand motion at the same samples.

    Returns
    -------
    preferred, start : (T, n) array
        Posture to be preferred, and posture to start solving from, rad.
    """
    # Joints that no group names, such as the fingers of a gripper, are not placed and keep their posture.
    moved = [column for column, name in enumerate(names) if name in reached.joint_names]
    order = [reached.joint_names.index(names[column]) for column in moved]
    guide = reached.joints[nearest_poses(handles, hands)][:, order]
    guide = _smooth(time, guide, order=2)
    touching = np.any(list(hands.contact.values()), axis=0)
    weight = near_contact(time, touching, _BLEND_TIME)[:, None]
    resting = reached.joints[:, order].mean(axis=0)
    preferred, start = posture.copy(), posture.copy()
    preferred[:, moved] += weight * (resting - posture[:, moved])
    start[:, moved] += weight * (guide - posture[:, moved])
    return preferred, start


def _smooth(time: Array, values: Array, order: int) -> Array:
    """Smooth values (T, ...) over `_SMOOTHING_WINDOW` (Savitzky-Golay), unless they are too few."""
    window = round(_SMOOTHING_WINDOW * (len(time) - 1) / (time[-1] - time[0])) // 2 * 2 + 1
    if order + 1 < window <= len(time):
        return np.asarray(savgol_filter(values, window, order))
    return values


def require_reach(robot: Robot, placed: Placed) -> Placement:
    """Refuse a base placement from which the handles are out of reach.

    Parameters
    ----------
    robot : Robot
        Robot that was placed.
    placed : Placed
        From `evaluate_placement`.

    Returns
    -------
    Placement
        The placement, which is feasible.

    Raises
    ------
    RetargetError
        If it is not; the message says why, and what the user can change.
    """
    if not placed.placement.feasible:
        raise RetargetError(
            f"{robot.name}: out of reach: {placed.placement.fault}; let robot.place be auto, or change "
            "robot.position_m, the fixture's place or the task"
        )
    return placed.placement


def used_part(handles: Mapping[str, HandlePath], hands: HandPlan) -> dict[str, HandlePath]:
    """Leave out the ends of the handles' path where no hand went; a closed path is kept whole.

    Parameters
    ----------
    handles : {side: HandlePath}
        Handle that each hand holds.
    hands : HandPlan
        Planned hand motion.

    Returns
    -------
    {side: HandlePath}
        The handles with the poses that the hands use.
    """
    nearest = nearest_poses(handles, hands)
    part = slice(nearest.min(), nearest.max() + 1)
    closed = any(
        len(handle.poses) > 1 and np.allclose(handle.poses[0], handle.poses[-1])
        for handle in handles.values()
    )
    if closed:
        return dict(handles)
    return {
        side: replace(handle, poses=handle.poses[part]) if len(handle.poses) > 1 else handle
        for side, handle in handles.items()
    }


def nearest_poses(handles: Mapping[str, HandlePath], hands: HandPlan) -> NDArray[np.int64]:
    """Find the poses of the handles' common path that are nearest to the hands.

    Parameters
    ----------
    handles : {side: HandlePath}
        Handle that each hand holds.
    hands : HandPlan
        Planned hand motion at T samples.

    Returns
    -------
    (T,) int array
        Index of the nearest pose; before and after contact as at its first and last sample.
    """
    count = max(len(handle.poses) for handle in handles.values())
    total = np.zeros((len(next(iter(hands.share.values()))), count))
    for side, handle in handles.items():
        apart = hands.actor[side][:, None, :3, 3] - handle.poses[None, :, :3, 3]
        total += np.where(hands.contact[side][:, None], (apart**2).sum(axis=2), 0.0)
    nearest = total.argmin(axis=1)
    held = np.any([hands.contact[side] for side in handles], axis=0)
    samples = np.flatnonzero(held)
    # Before and after contact as at its first and last sample.
    return nearest[samples[np.searchsorted(samples, np.arange(len(held))).clip(0, len(samples) - 1)]]


def measure_grip_error(
    robot: Robot, base: Array, joints: Array, hands: HandPlan, time: Array
) -> tuple[float, float]:
    """Measure by how much the planned palms miss their handles in contact.

    Parameters
    ----------
    robot : Robot
        One with a fixed base stands where its model says (`placed_robot`).
    base : (T, 7) or (T, 0) array
        Pose of a floating root link in the world frame: position, m, and quaternion; (T, 0) for a fixed base.
    joints : (T, n) array
        Positions of all joints, rad.
    hands : HandPlan
        Planned hand motion at the same samples.
    time : (T,) array
        Time of each sample, s.

    Returns
    -------
    distance : float
        Greatest distance of a palm from its handle, m.
    when : float
        Time of that sample, s.
    """
    model, data = robot.model, robot.model.createData()
    worst, when = 0.0, 0
    for side in hands.contact:
        frame = model.getFrameId(robot.frames[f"{side}_hand"])
        for sample in np.flatnonzero(hands.contact[side]):
            pin.framesForwardKinematics(model, data, np.concatenate([base[sample], joints[sample]]))
            error = float(np.linalg.norm(data.oMf[frame].translation - hands.actor[side][sample, :3, 3]))
            if error > worst:
                worst, when = error, int(sample)
    return worst, float(time[when])


def compute_zmp_target(stance: Stance, hands: HandPlan, base_placement: BasePlacement) -> Array:
    """Compute the desired ZMP, which moves with the hands in contact as a person's does.

    Parameters
    ----------
    stance : Stance
        Gives the middle of the soles.
    hands : HandPlan
        Planned hand motion at T samples.
    base_placement : BasePlacement
        Says how far the COG moves with the hands, and leans forward.

    Returns
    -------
    (T, 2) array
        World frame, m.
    """
    moved = np.zeros((len(hands.share["left"]), 3))
    for side in SIDES:
        palm = hands.actor[side][:, :3, 3]
        touching = hands.contact[side]
        if touching.any():
            low, high = palm[touching].min(axis=0), palm[touching].max(axis=0)
            # Before and after contact as at its first and last sample.
            first, last = np.flatnonzero(touching)[[0, -1]]
            offset = palm[np.arange(len(palm)).clip(first, last)] - 0.5 * (low + high)
            moved += 0.5 * hands.share[side][:, None] * offset
    weight = np.maximum(hands.share["left"], hands.share["right"])[:, None]
    ahead = np.array([np.cos(base_placement.heading), np.sin(base_placement.heading)])
    along = com_offset(moved, base_placement.heading, base_placement.follow, base_placement.advance)
    return np.asarray(stance.target + along + weight * base_placement.lean * ahead)


def compute_pelvis_height(
    robot: Robot,
    motion: HumanMotion,
    imitation: Imitation,
    base_placement: BasePlacement,
    section: RobotSection,
    share: Mapping[str, Array],
) -> Array:
    """Compute the height of a pelvis that moves up and down as the person's does, within the legs' range.

    The person's displacement from their initial configuration is scaled by the ratio of shoulder heights and
    bounded smoothly by the heights that the legs allow. It is the recorded pelvis': the scaled model's root
    would lift the robot with the person's shoulder girdle, and shake it where arms are straight. Without a
    recorded pelvis it is the root's. Where hands go to equipment it fades out: there the stance is that of
    the base placement. It also fades at both ends, where the robot comes from rest and goes to it.

    Parameters
    ----------
    robot : Robot
        Robot with two legs.
    motion : HumanMotion
        Recording with T samples.
    imitation : Imitation
        Motion of the scaled model at the same samples.
    base_placement : BasePlacement
        Gives the nominal pelvis height.
    section : RobotSection
        Names the posture of the legs; a seated robot's pelvis does not move.
    share : {side: (T,) array}
        Blend weight of the hands' transition to the equipment.

    Returns
    -------
    (T,) array
        Height above that of the base placement, m.
    """
    shoulders = [motion.initial.joints[f"{side}_shoulder"][2] for side in SIDES]
    if min(shoulders) < _MIN_SHOULDER_HEIGHT or section.posture == SEATED:
        return np.zeros(len(motion.time))
    data = robot.model.createData()
    stance = stand(robot, (0.0, 0.0), 0.0, section.posture)
    pin.framesForwardKinematics(robot.model, data, np.concatenate([stance.base, stance.joints]))
    robot_shoulder = data.oMf[robot.model.getFrameId(robot.frames["left_shoulder"])].translation[2]
    low, high = (end - base_placement.height for end in height_range(robot, section.posture))
    room = _LEG_RANGE_FRACTION * np.array([low, high])
    if "pelvis" in motion.joints and "pelvis" in motion.initial.joints:
        moved = motion.joints["pelvis"][:, 2] - motion.initial.joints["pelvis"][2]
        # Of fourth order: a dance's ups and downs, of half a second, stay whole.
        moved = _smooth(motion.time, moved, order=4)
    else:
        moved = imitation.q[:, 2] - imitation.actor.q[2]
    scaled = moved * robot_shoulder / float(np.mean(shoulders))
    limit = np.maximum(np.abs(np.where(scaled < 0.0, *room)), 1e-9)
    bounded = limit * np.tanh(scaled / limit)
    time = motion.time
    fade = min(_FADE_TIME, 0.25 * float(time[-1]))
    ends = minimum_jerk(time, 0.0, fade) * minimum_jerk(time[-1] - time, 0.0, fade)
    return np.asarray(bounded * ends * (1.0 - np.maximum(share["left"], share["right"])))


def require_leg_limits(robot: Robot, joints: Array) -> None:
    """Refuse a plan whose pelvis motion is beyond the legs' joint limits.

    Parameters
    ----------
    robot : Robot
        Robot with two legs.
    joints : (T, n) array
        Positions of all joints, rad.

    Raises
    ------
    RetargetError
        If a joint of a leg leaves its limits; the message names it.
    """
    for side in SIDES:
        for column in leg_columns(robot, side):
            low = robot.model.lowerPositionLimit[7 + column]
            high = robot.model.upperPositionLimit[7 + column]
            values = joints[:, column]
            if values.min() < low or values.max() > high:
                raise LegReachError(
                    f"{robot.name}: keeping balance needs {robot.joint_names[column]} between "
                    f"{values.min():.3f} and {values.max():.3f} rad, its limits are {low:.3f} and {high:.3f}"
                )
