"""Grating: the right hand slides along the grater, palm in its plane; the left holds the grater still."""

import numpy as np

from simbench.kinematics.arrays import Array
from simbench.motion.actors.human_model import HumanModel
from simbench.motion.actors.people import Person
from simbench.motion.actors.stance import compute_comfortable_distance
from simbench.motion.actors.tasks.task import FIXED, Task, make_palm_poses, repeat_pose, stack_palms
from simbench.motion.actors.timing import Timing
from simbench.motion.anatomy import PALM_OFFSET

# The thesis gives no dimensions; a flat grater whose foot stands in a bowl on a table 0.75 m high, m.
LOWEST, STROKE = 0.90, 0.12
# It falls away from the person: on one that rose, the wrist would have to extend by the slope and by how far
# the forearm points down.
SLOPES = np.radians([20.0, 40.0])
# In the grater's plane the fingers point this far to the left of the way they slide.
CROSSWISE = np.radians([15.0, 40.0])


def place_grater(human: HumanModel, person: Person, reach: float, rng: np.random.Generator) -> Task:
    """Set a grater before a person, who slopes it as they like; food goes down along it first.

    `person`: body and habits; the tempo and amplitude are theirs; `reach`: distance from shoulder to wrist as
    a fraction of the straight arm's length; `rng`: what is the person's choice is drawn from it. Returns the
    task as the person finds it.
    """
    slope, crosswise = (float(rng.uniform(*angles)) for angles in (SLOPES, CROSSWISE))
    stroke = STROKE * person.amplitude
    middle = LOWEST + 0.5 * stroke * np.sin(slope)
    ahead = compute_comfortable_distance(human, middle, 0.10, reach) + 0.5 * PALM_OFFSET[0]
    along = np.array([np.cos(slope), 0.0, -np.sin(slope)])
    outward = np.array([np.sin(slope), 0.0, np.cos(slope)])
    fingers = np.cos(crosswise) * along + np.sin(crosswise) * np.array([0.0, 1.0, 0.0])
    start = np.array([ahead, -0.10, middle]) - 0.5 * stroke * along
    # The left hand is on the upper end, nearer to the person than the food.
    holding = make_palm_poses(
        np.array([np.cos(0.6), -np.sin(0.6), 0.0]),
        np.array([0.0, 0.0, 1.0]),
        start + np.array([-0.02, 0.16, 0.04]),
    )

    def palms(travel: Array) -> Array:
        sliding = make_palm_poses(fingers, outward, start + travel[:, None] * along)
        return stack_palms(repeat_pose(holding, len(travel)), sliding)

    return Task(
        name="grater",
        unit="m",
        palms=palms,
        timing=Timing(moves=((stroke, 0.6 * person.tempo), (0.0, 0.6 * person.tempo)), variation=0.06),
        turn_axes=FIXED,
        approach={"left": np.array([0.0, 0.0, 0.10]), "right": 0.10 * outward},
        details={"distance_m": ahead, "height_m": LOWEST, "slope_rad": slope, "stroke_m": stroke},
    )
