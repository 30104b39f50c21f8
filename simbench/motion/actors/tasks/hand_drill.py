"""A hand drill: the right hand turns the crank, the left holds the drill still."""

import numpy as np

from simbench.kinematics.arrays import Array
from simbench.motion.actors.human_model import HumanModel
from simbench.motion.actors.people import Person
from simbench.motion.actors.stance import compute_comfortable_distance
from simbench.motion.actors.tasks.task import HANDLE, Task, make_palm_poses, repeat_pose, stack_palms
from simbench.motion.actors.timing import Timing
from simbench.motion.anatomy import PALM_OFFSET

# The thesis gives no dimensions; a drill that stands on a workpiece on a table 0.75 m high, m.
AXIS_HEIGHT, RADIUS, TOP = 0.95, 0.06, 0.16


def place_hand_drill(human: HumanModel, person: Person, reach: float, rng: np.random.Generator) -> Task:
    """Set the drill before a person: the crank turns in a vertical plane, the hand is free about its knob.

    The knob starts at the top and goes away from the person first. `person`: body and habits; the tempo and
    amplitude are theirs; `reach`: distance from shoulder to wrist as a fraction of the straight arm's length;
    `rng`: what is the person's choice is drawn from it. Returns the task as the person finds it.
    """
    axis = compute_comfortable_distance(human, AXIS_HEIGHT, 0.12, reach) + PALM_OFFSET[0] - 0.5 * RADIUS
    drill = np.array([axis, 0.02, AXIS_HEIGHT])
    holding = make_palm_poses(
        np.array([np.cos(0.6), -np.sin(0.6), 0.0]),
        np.array([0.0, 0.0, 1.0]),
        drill + np.array([0.0, 0.0, TOP]),
    )

    def palms(travel: Array) -> Array:
        knob = np.stack(
            [
                axis + RADIUS * np.sin(travel),
                np.full_like(travel, -0.12),
                AXIS_HEIGHT + RADIUS * np.cos(travel),
            ],
            axis=1,
        )
        crank = make_palm_poses(np.array([1.0, 0.0, 0.0]), np.array([0.0, 0.0, 1.0]), knob)
        return stack_palms(repeat_pose(holding, len(travel)), crank)

    return Task(
        name="hand_drill",
        unit="rad",
        palms=palms,
        timing=Timing(moves=((2.0 * np.pi, 1.4 * person.tempo),), variation=0.05),
        turn_axes={"left": None, "right": HANDLE},
        # Straight down: the left thumb passes beside the grip, the right fingers before the knob.
        approach={"left": np.array([0.0, 0.0, 0.10]), "right": np.array([0.0, 0.0, 0.10])},
        details={"axis_m": axis, "height_m": AXIS_HEIGHT, "radius_m": RADIUS},
    )
