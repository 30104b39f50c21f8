"""What a recording shows of a person whose steps a robot follows: floor, body, and contacts of the feet."""

import numpy as np

from simbench.errors import RetargetError
from simbench.motion.human_motion import HumanMotion
from simbench.retargeting.legs.body import PersonBody, measure_body
from simbench.retargeting.legs.contacts import find_recorded_steps
from simbench.retargeting.legs.floor import leg_segments, on_level_floor
from simbench.retargeting.legs.task import Person
from simbench.robot.sides import SIDES

_LOW_PELVIS = 0.2
"""Height of the pelvis above the lower ankle as a part of the leg's length below which nobody is on their
feet: in the deepest squat, the hips on the heels, it is a quarter."""


def observe_person(motion: HumanMotion) -> Person:
    """Find out about a person what a robot needs to follow their steps.

    Parameters
    ----------
    motion : HumanMotion
        The recording, with arms and hips.

    Returns
    -------
    Person
        The recording over a level floor, its body, and the contacts of the feet with all notes and doubts.

    Raises
    ------
    MotionError
        If the heading is not recorded.
    RetargetError
        If legs or feet are not recorded, no foot ever stands, the person climbs stairs, or is not on their
        feet.
    """
    _require_legs(motion)
    _require_upright(motion, measure_body(motion))
    motion, notes, doubts = on_level_floor(motion)
    body = measure_body(motion)
    recorded = find_recorded_steps(motion, body)
    recorded = recorded._replace(notes=(*notes, *recorded.notes), doubts=(*doubts, *recorded.doubts))
    return Person(motion, body, recorded)


def _require_legs(motion: HumanMotion) -> None:
    """Refuse a recording without the joints of both legs."""
    needed = [f"{side}_{joint}" for joint in ("hip", "knee", "ankle") for side in SIDES]
    absent = [name for name in needed if name not in motion.joints]
    if absent:
        raise RetargetError(
            f"retarget.physics: steps: {motion.source}: the recording lacks "
            f"{', '.join(absent)}; allowed: stand"
        )


def _require_upright(motion: HumanMotion, body: PersonBody) -> None:
    """Refuse a person who lies, rolls or stands on their hands."""
    lowest = np.min([motion.joints[f"{side}_ankle"][:, 2] for side in SIDES], axis=0)
    low = body.pelvis[:, 2] - lowest < _LOW_PELVIS * leg_segments(motion)
    down = low | body.inverted
    if down.any():
        frame = int(down.argmax())
        what = (
            "the shoulders are below the pelvis"
            if body.inverted[frame]
            else f"the pelvis is {body.pelvis[frame, 2] - lowest[frame]:.2f} m above the ankles"
        )
        raise RetargetError(
            f"retarget.physics: steps: {motion.source}: the person is not on their feet at "
            f"{motion.time[frame]:.2f} s, {what}; allowed: stand, or another part of it (motion.start_s, "
            "motion.end_s)"
        )
