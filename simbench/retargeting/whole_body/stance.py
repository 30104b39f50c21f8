"""Where a robot stands for a plan, where its COG goes, and whether legs and hands can do what is asked."""

from collections.abc import Callable, Mapping
from dataclasses import replace

import numpy as np
import pinocchio as pin
from numpy.typing import NDArray
from scipy.signal import savgol_filter

from simbench.balance.standing.standing import Stance, height_range, leg_columns, stand
from simbench.errors import RetargetError
from simbench.kinematics.arrays import Array
from simbench.kinematics.profiles import minimum_jerk
from simbench.motion.handles import HandlePath
from simbench.motion.human_motion import HumanMotion
from simbench.options import RetargetSection, RobotSection
from simbench.retargeting.contact.hand_plan import HandPlan
from simbench.retargeting.contact.phases import near_contact
from simbench.retargeting.imitation.imitation import Imitation
from simbench.retargeting.placement.hand_path import com_offset
from simbench.retargeting.placement.spot import BasePlacement, Placed, evaluate_placement
from simbench.retargeting.placement.spot_search import find_spot
from simbench.robot.robot import SEATED, Robot
from simbench.robot.sides import SIDES

OnProgress = Callable[[str, int, int], None]

_LEAST_SHOULDER_HEIGHT = 0.5
"""m; a recording whose floor is not at 0, or of somebody who lies, says nothing of the pelvis' height."""
_LEG_ROOM = 0.6
"""Of the heights the legs allow, what is used: the rest is for the sway that balance takes."""
_FADE_TIME = 1.0
"""In which the pelvis leaves its height and returns to it, s."""
_LEAD_TIME = 2.5
"""Before and after contact, s, over which a posture is led to another."""
_SMOOTHING = 0.31
"""Window, s, that smooths a recorded pelvis, and a guide, which goes from pose to pose of a handle's way."""


def choose_spot(
    robot: Robot,
    section: RobotSection,
    settings: RetargetSection,
    handles: Mapping[str, HandlePath],
    on_progress: OnProgress,
) -> BasePlacement:
    """Take the place a scenario gives a robot, or find the best one for its equipment.

    Parameters
    ----------
    robot : Robot
    section : RobotSection
    settings : RetargetSection
    handles : {side: HandlePath}
    on_progress : callable (stage, done, total)

    Returns
    -------
    BasePlacement

    Raises
    ------
    RetargetError
        If a place is to be found without equipment, or there is none.
    """
    given = BasePlacement(
        section.position_m,
        section.heading_rad,
        section.height_m,
        settings.pelvis_follow,
        settings.pelvis_advance,
        settings.pelvis_lean_m,
    )
    if section.place == "given":
        return given
    if not handles:
        raise RetargetError(f"{robot.name}: robot.place auto needs equipment whose handles are known")
    found = find_spot(robot, handles, given, section.posture, on_progress)
    if not found.placement.feasible:
        spot = found.spot
        raise RetargetError(
            f"{robot.name}: has no place to follow the handles from; least is missing at "
            f"({spot.position[0]:.3f}, {spot.position[1]:.3f}) m, turned {spot.heading:.3f} rad, "
            f"{spot.height:.3f} m higher: {found.placement.fault}"
        )
    return found.spot


def guide_posture(
    robot: Robot,
    spot: BasePlacement,
    section: RobotSection,
    handles: Mapping[str, HandlePath],
    time: Array,
    posture: Array,
    names: tuple[str, ...],
    hands: HandPlan,
) -> tuple[Array, Array]:
    """Lead a posture, while hands hold, to one near which all of the equipment is within reach.

    What leads are the postures that a placement found along the handles' way: their mean is to be preferred,
    since it rests; they themselves are where to start from.

    Parameters
    ----------
    robot : Robot
    spot : BasePlacement
    section : RobotSection
    handles : {side: HandlePath}
    time : (T,) array
        s.
    posture : (T, n) array
        Of the joints in `names`, rad.
    names : tuple of str
    hands : HandPlan

    Returns
    -------
    preferred, start : (T, n) array

    Raises
    ------
    RetargetError
        If the equipment is out of reach from there.
    """
    handles = _used(handles, hands)
    placed = evaluate_placement(robot, handles, spot, section.posture)
    if not placed.placement.feasible:
        raise RetargetError(f"{robot.name}: out of reach: {_out_of_reach(placed)}")
    reached = placed.placement
    order = [reached.joint_names.index(name) for name in names]
    guide = reached.postures[_places(handles, hands)][:, order]
    guide = _smooth(time, guide, order=2)
    touching = np.any(list(hands.contact.values()), axis=0)
    share = near_contact(time, touching, _LEAD_TIME)[:, None]
    resting = reached.postures[:, order].mean(axis=0)
    return posture + share * (resting - posture), posture + share * (guide - posture)


def _smooth(time: Array, values: Array, order: int) -> Array:
    """Smooth values (T, ...) over `_SMOOTHING` (Savitzky-Golay), unless they are too few."""
    window = round(_SMOOTHING * (len(time) - 1) / (time[-1] - time[0])) // 2 * 2 + 1
    if order + 1 < window <= len(time):
        return np.asarray(savgol_filter(values, window, order, axis=0))
    return values


def _out_of_reach(placed: Placed) -> str:
    return (
        f"{placed.placement.fault}; let robot.place be auto, or change robot.position_m, the fixture's place "
        "or the task"
    )


def _used(handles: Mapping[str, HandlePath], hands: HandPlan) -> dict[str, HandlePath]:
    """Leave out the ends of the handles' way where no hand went; a closed way is kept whole."""
    places = _places(handles, hands)
    part = slice(places.min(), places.max() + 1)
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


def _places(handles: Mapping[str, HandlePath], hands: HandPlan) -> NDArray[np.int64]:
    """Index of the poses of the handles' common way that is nearest to the hands, sample by sample (T,)."""
    count = max(len(handle.poses) for handle in handles.values())
    total = np.zeros((len(next(iter(hands.share.values()))), count))
    for side, handle in handles.items():
        way = hands.actor[side][:, None, :3, 3] - handle.poses[None, :, :3, 3]
        total += np.where(hands.contact[side][:, None], (way**2).sum(axis=2), 0.0)
    nearest = total.argmin(axis=1)
    held = np.any([hands.contact[side] for side in handles], axis=0)
    samples = np.flatnonzero(held)
    # Before and after contact as at its first and last sample.
    return nearest[samples[np.searchsorted(samples, np.arange(len(held))).clip(0, len(samples) - 1)]]


def missed_grip(
    robot: Robot, base: Array, joints: Array, hands: HandPlan, time: Array
) -> tuple[float, float]:
    """Measure by how much the planned palms miss their handles in contact.

    Parameters
    ----------
    robot : Robot
    base, joints : (T, 7), (T, n) array
        The first (T, 0) for a robot with a fixed base, which stands where its model says (`placed_robot`).
    hands : HandPlan
    time : (T,) array
        s.

    Returns
    -------
    distance : float
        Greatest, m.
    when : float
        s.
    """
    model, data = robot.model, robot.model.createData()
    worst, when = 0.0, 0
    for side in hands.contact:
        frame = model.getFrameId(robot.frames[f"{side}_hand"])
        for sample in np.flatnonzero(hands.contact[side]):
            pin.framesForwardKinematics(model, data, np.concatenate([base[sample], joints[sample]]))
            miss = float(np.linalg.norm(data.oMf[frame].translation - hands.actor[side][sample, :3, 3]))
            if miss > worst:
                worst, when = miss, int(sample)
    return worst, float(time[when])


def follow_hands(stance: Stance, hands: HandPlan, spot: BasePlacement) -> Array:
    """Let the COG target (T, 2), m, go along with the hands in contact, as a person's does."""
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
    share = np.maximum(hands.share["left"], hands.share["right"])[:, None]
    ahead = np.array([np.cos(spot.heading), np.sin(spot.heading)])
    along = com_offset(moved, spot.heading, spot.follow, spot.advance)
    return np.asarray(stance.target + along + share * spot.lean * ahead)


def pelvis_height(
    robot: Robot,
    motion: HumanMotion,
    imitation: Imitation,
    spot: BasePlacement,
    section: RobotSection,
    share: Mapping[str, Array],
) -> Array:
    """Let the pelvis go up and down as the person's does, as far as standing legs can follow.

    The person's way from their initial configuration, by the ratio of shoulder heights, is brought softly
    between the heights the legs allow. It is the recorded pelvis': the scaled model's root would lift the
    robot with the person's shoulder girdle, and shake it where arms are straight. Without a recorded pelvis
    it is the root's. Where hands go to equipment it fades: there the stance is the spot's; so it does at both
    ends, where the robot comes from rest and goes to it.

    Parameters
    ----------
    robot : Robot
    motion : HumanMotion
    imitation : Imitation
    spot : BasePlacement
    section : RobotSection
    share : {side: (T,) array}
        Of the transition to the equipment.

    Returns
    -------
    (T,) array
        m from the spot's height.
    """
    shoulders = [motion.initial.joints[f"{side}_shoulder"][2] for side in SIDES]
    if min(shoulders) < _LEAST_SHOULDER_HEIGHT or section.posture == SEATED:
        return np.zeros(len(motion.time))
    data = robot.model.createData()
    stance = stand(robot, (0.0, 0.0), 0.0, section.posture)
    pin.framesForwardKinematics(robot.model, data, np.concatenate([stance.base, stance.joints]))
    own = data.oMf[robot.model.getFrameId(robot.frames["left_shoulder"])].translation[2]
    low, high = (end - spot.height for end in height_range(robot, section.posture))
    room = _LEG_ROOM * np.array([low, high])
    if "pelvis" in motion.joints and "pelvis" in motion.initial.joints:
        gone = motion.joints["pelvis"][:, 2] - motion.initial.joints["pelvis"][2]
        # Of fourth order: a dance's ups and downs, of half a second, stay whole.
        gone = _smooth(motion.time, gone, order=4)
    else:
        gone = imitation.q[:, 2] - imitation.actor.q[2]
    way = gone * own / float(np.mean(shoulders))
    limit = np.maximum(np.abs(np.where(way < 0.0, *room)), 1e-9)
    soft = limit * np.tanh(way / limit)
    time = motion.time
    fade = min(_FADE_TIME, 0.25 * float(time[-1]))
    ends = minimum_jerk(time, 0.0, fade) * minimum_jerk(time[-1] - time, 0.0, fade)
    return np.asarray(soft * ends * (1.0 - np.maximum(share["left"], share["right"])))


def check_legs(robot: Robot, joints: Array) -> None:
    """Refuse a plan whose pelvis motion is beyond the legs' joint limits.

    Raises
    ------
    RetargetError
    """
    for side in SIDES:
        for column in leg_columns(robot, side):
            low = robot.model.lowerPositionLimit[7 + column]
            high = robot.model.upperPositionLimit[7 + column]
            values = joints[:, column]
            if values.min() < low or values.max() > high:
                raise RetargetError(
                    f"{robot.name}: keeping balance needs {robot.joint_names[column]} between "
                    f"{values.min():.3f} and {values.max():.3f} rad, its limits are {low:.3f} and {high:.3f}"
                )
