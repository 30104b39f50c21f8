"""What the hands of an arm without human form are to do: come from its posture, follow the actor, go back."""

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
from simbench.retargeting.contact.hand_plan import ARRIVAL, HandPlan, approach_handles, smooth_poses
from simbench.retargeting.contact.phases import contact_phases, near_contact

_WOBBLE = 0.005
"""By which a palm that goes straight away from a place comes nearer to it now and then, m."""


def recorded_palms(motion: HumanMotion, sides: Sequence[str]) -> dict[str, Array]:
    """Palm poses of the person as recorded: no model of theirs is in between.

    Parameters
    ----------
    motion : HumanMotion
    sides : sequence of str

    Returns
    -------
    {side: (T, 4, 4) array}
        World; origin at the palm's centre, x along the fingers, z dorsal.

    Raises
    ------
    MotionError
        If a hand was not recorded.
    """
    lacking = [side for side in sides if f"{side}_hand" not in motion.segments]
    if lacking:
        raise MotionError(f"{motion.source}: the recording lacks segment {lacking[0]}_hand")
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
    *,
    contact_distance: float,
    transition_distance: float,
    transition_time: float,
) -> HandPlan:
    """Desired hand poses of a robot whose arm is nothing like a person's.

    Only what the person's hand does on the equipment, and near it, means anything to such an arm. Share 1,
    in contact and just before: the actor's palm pose, on its handle. Share 0: the robot's own hand pose in
    its posture at rest. In between, from one to the other along a line and about one axis.

    Parameters
    ----------
    motion : HumanMotion
    handles : {side: HandlePath}
        Of the hands that the robot has.
    home : {side: (4, 4) array}
        The robot's hand poses in its posture at rest, world.
    contact_distance, transition_distance, transition_time : float
        As in `contact_phases`.

    Returns
    -------
    HandPlan
        Of the sides in `handles`.
    """
    palms = recorded_palms(motion, list(handles))
    contact = {
        side: contact_phases(
            motion.time,
            palm[:, :3, 3],
            handles[side].poses[:, :3, 3],
            contact_distance=contact_distance,
            transition_distance=transition_distance,
            transition_time=transition_time,
        )[1]
        for side, palm in palms.items()
    }
    share = {
        side: _near_the_hold(motion.time, palms[side], touching, transition_distance, transition_time)
        for side, touching in contact.items()
    }
    held = approach_handles(palms, share, contact, handles)
    return HandPlan(
        share,
        contact,
        {side: near_contact(motion.time, touching, ARRIVAL) for side, touching in contact.items()},
        {side: smooth_poses(motion.time, _between(home[side], held[side], share[side])) for side in handles},
        held,
        {side: handle.turn_axis for side, handle in handles.items()},
    )


def _near_the_hold(
    time: Array, palm: Array, contact: NDArray[np.bool_], distance: float, duration: float
) -> Array:
    """Share (T,) of the actor's path: 1 from where the palm comes straight to its hold until it has left it.

    On its way there a person's hand may come near the hold from another side, around which an arm of another
    form would not come.
    """
    if not contact.any():
        return np.zeros(len(time))
    first, last = np.flatnonzero(contact)[[0, -1]]
    position = palm[:, :3, 3]
    begin = first - _straight_away(position[first::-1], distance)
    end = last + _straight_away(position[last:], distance)
    rise, fall = 1.0 + (time - time[begin]) / duration, 1.0 - (time - time[end]) / duration
    return minimum_jerk(np.clip(np.minimum(rise, fall), 0.0, 1.0), 0.0, 1.0)


def _straight_away(path: Array, distance: float) -> int:
    """Count the samples in which a path (K, 3) goes away from its first point, as far as a distance, m."""
    away = np.linalg.norm(path - path[0], axis=1)
    farthest = np.maximum.accumulate(away)
    over = np.flatnonzero((farthest > distance) | (farthest - away > _WOBBLE))
    return int(np.argmax(away[: over[0]])) if len(over) else int(np.argmax(away))


def _between(home: Array, path: Array, share: Array) -> Array:
    """Go from a pose (4, 4) to where the full share of a path (T, 4, 4) begins, along it, and back."""
    # Before and after that the person's hand is wherever people's hands are.
    full = np.flatnonzero(share == 1.0)
    poses = path[np.arange(len(path)).clip(full[0], full[-1])] if len(full) else path
    turn = Rotation.from_matrix(home[:3, :3].T @ poses[:, :3, :3]).as_rotvec()
    rotation = home[:3, :3] @ Rotation.from_rotvec(share[:, None] * turn).as_matrix()
    return transform(rotation, home[:3, 3] + share[:, None] * (poses[:, :3, 3] - home[:3, 3]))
