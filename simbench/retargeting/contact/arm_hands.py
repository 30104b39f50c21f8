"""Hand plan of an arm without human form: from its rest posture onto the actor's path, and back."""

from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray
from scipy.spatial.transform import Rotation

from simbench.errors import MotionError
from simbench.kinematics.arrays import Array
from simbench.kinematics.profiles import minimum_jerk
from simbench.motion.anatomy import PALM_OFFSET, transform
from simbench.motion.handles import HandlePath
from simbench.motion.human_motion import HumanMotion
from simbench.options import RetargetSection
from simbench.retargeting.contact.hand_plan import ARRIVAL_TIME, HandPlan, approach_handles, smooth_poses
from simbench.retargeting.contact.phases import contact_phases, near_contact

_WOBBLE = 0.005
"""Distance, m, by which a palm that moves straight away from a point may come nearer to it now and then."""


def recorded_palms(motion: HumanMotion, sides: Sequence[str]) -> dict[str, Array]:
    """Compute the palm poses of the person as recorded, without a model of the person in between.

    Parameters
    ----------
    motion : HumanMotion
        Recording with T samples.
    sides : sequence of str
        Hands to look at: left, right.

    Returns
    -------
    {side: (T, 4, 4) array}
        World frame, m; origin at the palm's centre, x along the fingers, z dorsal.

    Raises
    ------
    MotionError
        If a hand was not recorded.
    """
    missing = [side for side in sides if f"{side}_hand" not in motion.segments]
    if missing:
        raise MotionError(f"{motion.source}: the recording lacks segment {missing[0]}_hand")
    palms = {}
    for side in sides:
        # The frame's origin is between the hand's markers.
        rotation = motion.segments[f"{side}_hand"][:, :3, :3]
        palms[side] = transform(rotation, motion.joints[f"{side}_wrist"] + rotation @ PALM_OFFSET)
    return palms


def plan_arm_hands(
    motion: HumanMotion,
    handles: Mapping[str, HandlePath],
    home: Mapping[str, Array],
    settings: RetargetSection,
) -> HandPlan:
    """Compute the desired hand poses of a robot whose arm is nothing like a person's.

    Such an arm reproduces only the motion of the person's hand on the equipment and near it. At blend weight
    1, in contact and just before, the target is the actor's palm pose on its handle. At weight 0 it is the
    robot's own hand pose in its rest posture. In between the target moves from one to the other along a line
    and about one axis.

    Parameters
    ----------
    motion : HumanMotion
        Recording with T samples, in the world frame of the scene.
    handles : {side: HandlePath}
        Handles of the hands that the robot has.
    home : {side: (4, 4) array}
        The robot's hand poses in its rest posture, world frame, m.
    settings : RetargetSection
        Gives the distances of contact and transition, m, and the duration of the transition, s.

    Returns
    -------
    HandPlan
        Desired motion of the sides in `handles` at the recording's samples.
    """
    palms = recorded_palms(motion, list(handles))
    contact = {
        side: contact_phases(
            motion.time,
            palm[:, :3, 3],
            handles[side].poses[:, :3, 3],
            contact_distance=settings.contact_distance_m,
            transition_distance=settings.transition_distance_m,
            transition_time=settings.transition_time_s,
        )[1]
        for side, palm in palms.items()
    }
    share = {
        side: _blend_weight(
            motion.time, palms[side], touching, settings.transition_distance_m, settings.transition_time_s
        )
        for side, touching in contact.items()
    }
    held = approach_handles(palms, share, contact, handles)
    return HandPlan(
        share,
        contact,
        {side: near_contact(motion.time, touching, ARRIVAL_TIME) for side, touching in contact.items()},
        {side: smooth_poses(motion.time, _blend(home[side], held[side], share[side])) for side in handles},
        held,
        {side: handle.turn_axis for side, handle in handles.items()},
    )


def _blend_weight(
    time: Array, palm: Array, contact: NDArray[np.bool_], distance: float, duration: float
) -> Array:
    """Weight (T,) of the actor's path: 1 from where the palm comes straight to its hold until it has left it.

    Before that a person's hand may come near the hold from another side, around which an arm of another form
    would not come.
    """
    if not contact.any():
        return np.zeros(len(time))
    first, last = np.flatnonzero(contact)[[0, -1]]
    position = palm[:, :3, 3]
    begin = first - _count_receding(position[first::-1], distance)
    end = last + _count_receding(position[last:], distance)
    rise, fall = 1.0 + (time - time[begin]) / duration, 1.0 - (time - time[end]) / duration
    return minimum_jerk(np.clip(np.minimum(rise, fall), 0.0, 1.0), 0.0, 1.0)


def _count_receding(path: Array, distance: float) -> int:
    """Count the samples in which a path (K, 3) moves away from its first point, up to a distance, m."""
    away = np.linalg.norm(path - path[0], axis=1)
    farthest = np.maximum.accumulate(away)
    over = np.flatnonzero((farthest > distance) | (farthest - away > _WOBBLE))
    return int(np.argmax(away[: over[0]])) if len(over) else int(np.argmax(away))


def _blend(home: Array, path: Array, weight: Array) -> Array:
    """Blend a pose (4, 4) with a path (T, 4, 4), which rests outside the part that is at full weight."""
    # Before and after that part the person's hand may be anywhere.
    full = np.flatnonzero(weight == 1.0)
    poses = path[np.arange(len(path)).clip(full[0], full[-1])] if len(full) else path
    rotation_vector = Rotation.from_matrix(home[:3, :3].T @ poses[:, :3, :3]).as_rotvec()
    rotation = home[:3, :3] @ Rotation.from_rotvec(weight[:, None] * rotation_vector).as_matrix()
    return transform(rotation, home[:3, 3] + weight[:, None] * (poses[:, :3, 3] - home[:3, 3]))
