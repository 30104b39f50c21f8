"""Cutting: the right hand saws with a knife and may turn about its handle, the left holds a box still."""

import numpy as np
from scipy.spatial.transform import Rotation

from simbench.kinematics.arrays import Array
from simbench.motion.actors.human_model import HumanModel
from simbench.motion.actors.people import Person
from simbench.motion.actors.stance import compute_comfortable_distance
from simbench.motion.actors.tasks.task import Task, make_palm_poses, repeat_pose, stack_palms
from simbench.motion.actors.timing import Timing
from simbench.motion.anatomy import PALM_OFFSET

# The thesis gives no dimensions; a board on a table 0.75 m high, m.
HANDLE_HEIGHT, BOX_HEIGHT, STROKE = 0.88, 0.90, 0.09
# A tool's handle crosses the palm obliquely, towards the thumb, by this angle from the fingers.
OBLIQUE = np.radians(50.0)
HANDLE_AXIS = np.array([np.cos(OBLIQUE), np.sin(OBLIQUE), 0.0])


def place_knife(human: HumanModel, person: Person, reach: float, rng: np.random.Generator) -> Task:
    """Set a board before a person; which way the knife points is theirs.

    `person`: body and habits; the tempo and amplitude are theirs; `reach`: distance from shoulder to wrist as
    a fraction of the straight arm's length; `rng`: what is the person's choice is drawn from it. Returns the
    task as the person finds it.
    """
    ahead = compute_comfortable_distance(human, HANDLE_HEIGHT, 0.12, reach) + 0.5 * PALM_OFFSET[0]
    heading = np.radians(float(rng.uniform(5.0, 25.0)))
    stroke = STROKE * person.amplitude
    blade = np.array([np.cos(heading), np.sin(heading), 0.0])
    # The palm looks to the left; its thumb side is up, its fingers go down and forward.
    dorsal = np.array([np.sin(heading), -np.cos(heading), 0.0])
    fingers = Rotation.from_rotvec(OBLIQUE * dorsal).inv().apply(blade)
    start = np.array([ahead - 0.05, -0.14, HANDLE_HEIGHT])
    box = make_palm_poses(
        np.array([np.cos(0.5), -np.sin(0.5), 0.0]),
        np.array([0.0, 0.0, 1.0]),
        np.array([ahead, 0.14, BOX_HEIGHT]),
    )

    def palms(travel: Array) -> Array:
        knife = make_palm_poses(fingers, dorsal, start + travel[:, None] * blade)
        return stack_palms(repeat_pose(box, len(travel)), knife)

    return Task(
        name="knife",
        unit="m",
        palms=palms,
        timing=Timing(moves=((stroke, 0.55 * person.tempo), (0.0, 0.55 * person.tempo)), variation=0.06),
        turn_axes={"left": None, "right": HANDLE_AXIS},
        approach={"left": np.array([0.0, 0.04, 0.10]), "right": np.array([-0.03, -0.03, 0.10])},
        details={
            "distance_m": ahead,
            "height_m": HANDLE_HEIGHT,
            "heading_rad": heading,
            "stroke_m": stroke,
        },
    )
