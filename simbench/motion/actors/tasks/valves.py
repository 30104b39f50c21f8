"""Two valves with vertical axes are turned by their vertical handles, five turns."""

import numpy as np

from simbench.kinematics.arrays import Array
from simbench.motion.actors.human_model import HumanModel
from simbench.motion.actors.people import Person
from simbench.motion.actors.stance import compute_comfortable_distance
from simbench.motion.actors.tasks.task import HANDLE, Task, make_palm_poses, stack_palms
from simbench.motion.actors.timing import Timing
from simbench.motion.anatomy import PALM_OFFSET
from simbench.robot.sides import SIDES

# Tomić (2018, ch. 3), m.
HEIGHT, SPACING, RADIUS = 1.15, 0.32, 0.10
# Of the left hand, from outside: one that came straight from behind would push its handle with open fingers.
APPROACH = np.array([-0.05, 0.10, 0.0])


def place_valves(human: HumanModel, person: Person, reach: float, rng: np.random.Generator) -> Task:
    """Set the valves before a person: palms vertical, each hand free to turn about its handle.

    The handles start at the side of the actor and go outwards first, one valve as the mirror image of the
    other. `person`: body and habits; the tempo and amplitude are theirs; `reach`: distance from shoulder to
    wrist as a fraction of the straight arm's length; `rng`: what is the person's choice is drawn from it.
    Returns the task as the person finds it.
    """
    axis = compute_comfortable_distance(human, HEIGHT, 0.5 * SPACING, reach) + PALM_OFFSET[0]

    def palms(travel: Array) -> Array:
        poses = []
        for sign in (1.0, -1.0):
            handle = np.stack(
                [
                    axis - RADIUS * np.cos(travel),
                    sign * (0.5 * SPACING + RADIUS * np.sin(travel)),
                    np.full_like(travel, HEIGHT),
                ],
                axis=1,
            )
            poses.append(make_palm_poses(np.array([1.0, 0.0, 0.0]), np.array([0.0, sign, 0.0]), handle))
        return stack_palms(*poses)

    return Task(
        name="valves",
        unit="rad",
        palms=palms,
        timing=Timing(moves=((2.0 * np.pi, 2.0 * person.tempo),), variation=0.05),
        turn_axes=dict.fromkeys(SIDES, HANDLE),
        approach={"left": APPROACH, "right": APPROACH * (1.0, -1.0, 1.0)},
        details={"axis_m": axis, "height_m": HEIGHT, "spacing_m": SPACING, "radius_m": RADIUS},
    )
