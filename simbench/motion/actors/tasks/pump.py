"""A mattress pump: both hands move its horizontal handle up and down."""

import numpy as np

from simbench.kinematics.arrays import Array
from simbench.motion.actors.human_model import HumanModel
from simbench.motion.actors.people import Person
from simbench.motion.actors.stance import compute_comfortable_distance
from simbench.motion.actors.tasks.task import FIXED, Task, make_palm_poses, stack_palms
from simbench.motion.actors.timing import Timing
from simbench.motion.anatomy import PALM_OFFSET
from simbench.robot.sides import SIDES

# The thesis gives no dimensions; a pump that stands on the floor before a chair, handle down, m.
HANDLE_HEIGHT, SPACING, STROKE = 0.72, 0.22, 0.28


def place_pump(human: HumanModel, person: Person, reach: float, rng: np.random.Generator) -> Task:
    """Set the pump before a seated person: palms down on the handle, their distance fixed by it.

    `person`: body and habits; the tempo and amplitude are theirs; `reach`: distance from shoulder to wrist as
    a fraction of the straight arm's length; `rng`: what is the person's choice is drawn from it. Returns the
    task as the person finds it.
    """
    middle = HANDLE_HEIGHT + 0.5 * STROKE
    ahead = compute_comfortable_distance(human, middle, 0.5 * SPACING, reach, seated=True) + PALM_OFFSET[0]
    stroke = STROKE * person.amplitude

    def palms(travel: Array) -> Array:
        poses = []
        for sign in (1.0, -1.0):
            handle = np.stack(
                [
                    np.full_like(travel, ahead),
                    np.full_like(travel, sign * 0.5 * SPACING),
                    HANDLE_HEIGHT + travel,
                ],
                axis=1,
            )
            poses.append(make_palm_poses(np.array([1.0, 0.0, 0.0]), np.array([0.0, 0.0, 1.0]), handle))
        return stack_palms(*poses)

    return Task(
        name="pump",
        unit="m",
        palms=palms,
        # Pulling is quick; the air's resistance makes pushing slow.
        timing=Timing(moves=((stroke, 0.8 * person.tempo), (0.0, 1.3 * person.tempo)), variation=0.05),
        turn_axes=FIXED,
        approach=dict.fromkeys(SIDES, np.array([0.0, 0.0, 0.10])),
        seated=True,
        details={"distance_m": ahead, "height_m": HANDLE_HEIGHT, "spacing_m": SPACING, "stroke_m": stroke},
    )
