"""Canoe paddles: both hands turn the handles of a U-shaped frame about one horizontal axis."""

import numpy as np

from simbench.kinematics.arrays import Array
from simbench.motion.actors.human_model import HumanModel
from simbench.motion.actors.people import Person
from simbench.motion.actors.stance import compute_comfortable_distance
from simbench.motion.actors.tasks.task import FIXED, Task, make_palm_poses, stack_palms
from simbench.motion.actors.timing import Timing
from simbench.motion.anatomy import PALM_OFFSET
from simbench.robot.sides import SIDES

# The thesis gives no dimensions; a frame on a table 0.75 m high, m.
AXIS_HEIGHT, RADIUS, SPACING = 1.05, 0.12, 0.42
# The hands lie level on their handles, fingertips towards each other by this angle: elbows are at the side.
CONVERGENCE = np.radians(15.0)


def place_canoe_paddles(human: HumanModel, person: Person, reach: float, rng: np.random.Generator) -> Task:
    """Set the paddles before a person: palms stay parallel to the floor and at the same distance.

    The handles start nearest to the actor and go over the top, away from the actor. `person`: body and
    habits; the tempo and amplitude are theirs; `reach`: distance from shoulder to wrist as a fraction of the
    straight arm's length; `rng`: what is the person's choice is drawn from it. Returns the task as the person
    finds it.
    """
    axis = compute_comfortable_distance(human, AXIS_HEIGHT, 0.5 * SPACING, reach) + PALM_OFFSET[0]

    def palms(travel: Array) -> Array:
        poses = []
        for sign in (1.0, -1.0):
            handle = np.stack(
                [
                    axis - RADIUS * np.cos(travel),
                    np.full_like(travel, sign * 0.5 * SPACING),
                    AXIS_HEIGHT + RADIUS * np.sin(travel),
                ],
                axis=1,
            )
            fingers = np.array([np.cos(CONVERGENCE), -sign * np.sin(CONVERGENCE), 0.0])
            poses.append(make_palm_poses(fingers, np.array([0.0, 0.0, 1.0]), handle))
        return stack_palms(*poses)

    return Task(
        name="canoe_paddles",
        unit="rad",
        palms=palms,
        timing=Timing(moves=((2.0 * np.pi, 2.0 * person.tempo),), variation=0.05),
        turn_axes=FIXED,
        approach=dict.fromkeys(SIDES, np.array([-0.06, 0.0, 0.10])),
        details={"axis_m": axis, "height_m": AXIS_HEIGHT, "spacing_m": SPACING, "radius_m": RADIUS},
    )
