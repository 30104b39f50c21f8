"""A steering wheel is turned a quarter to one side, to the other, and back, both hands rigid on the rim."""

import numpy as np

from simbench.kinematics.arrays import Array
from simbench.motion.actors.human_model import HumanModel
from simbench.motion.actors.people import Person
from simbench.motion.actors.stance import compute_comfortable_distance
from simbench.motion.actors.tasks.task import FIXED, Task, make_palm_poses, stack_palms
from simbench.motion.actors.timing import Timing
from simbench.motion.anatomy import PALM_OFFSET
from simbench.robot.sides import SIDES

# Tomić (2018, ch. 3): 0.3 m wide, tilted 30 degrees; we take its axis to rise by that angle from the table's
# plane towards the driver, as a gaming wheel's does: hands rigid on a rim that lies flatter could not turn
# it by a quarter. The height of its centre, over a table of 0.75 m, is an estimate.
RADIUS, TILT, CENTRE_HEIGHT = 0.15, np.radians(30.0), 0.90
TURN = np.pi / 2.0
# The rim lies obliquely across the palm, by this angle: the fingers point more towards the thumb's side than
# a right angle to the rim would have them, as in any grip with the forearm behind the hand.
OBLIQUE = np.radians(18.0)
# People hold it this far above nine and three o'clock: lower, the hand that comes to the bottom would need
# more adduction of the shoulder and radial deviation of the wrist than anybody has.
ABOVE = np.radians(40.0)
# Hands come to the rim from outside, palm first, from so far, m: from the driver's side fingers would sweep
# it.
APPROACH = 0.10
# Hands that are rigid on the rim leave little choice of where to sit: the hand that comes over the top to the
# other side is about an arm's length from its shoulder (the trunk follows), give or take a quarter of what
# people's distances differ by elsewhere.
ACROSS, SHARE_OF_REACH = 0.89, 0.25


def place_steering_wheel(human: HumanModel, person: Person, reach: float, rng: np.random.Generator) -> Task:
    """Set the wheel before a seated person, who holds it at about ten and two o'clock.

    `person`: body and habits; the tempo and amplitude are theirs; `reach`: distance from shoulder to wrist as
    a fraction of the straight arm's length; `rng`: what is the person's choice is drawn from it. Returns the
    task as the person finds it.
    """
    top, across = RADIUS * np.sin(ABOVE + TURN), RADIUS * np.cos(ABOVE + TURN)
    height, stretch = CENTRE_HEIGHT + top * np.cos(TILT), ACROSS + SHARE_OF_REACH * reach
    centre = compute_comfortable_distance(human, height, across, stretch, seated=True)
    centre += PALM_OFFSET[0] - top * np.sin(TILT)
    # Into the wheel, and up along its face.
    inward = np.array([np.cos(TILT), 0.0, -np.sin(TILT)])
    upward = np.array([np.sin(TILT), 0.0, np.cos(TILT)])

    def palms(travel: Array) -> Array:
        poses = []
        for sign in (1.0, -1.0):
            # From the centre to the hand; positive travel turns to the left, as the driver sees it.
            turned = (travel - sign * ABOVE)[:, None]
            out = sign * (np.cos(turned) * np.array([0.0, 1.0, 0.0]) - np.sin(turned) * upward)
            thumb = sign * np.cross(inward, out)
            fingers = np.cos(OBLIQUE) * inward + np.sin(OBLIQUE) * thumb
            poses.append(make_palm_poses(fingers, out, np.array([centre, 0.0, CENTRE_HEIGHT]) + RADIUS * out))
        return stack_palms(*poses)

    return Task(
        name="steering_wheel",
        unit="rad",
        palms=palms,
        timing=Timing(
            moves=((TURN, 1.2 * person.tempo), (-TURN, 2.0 * person.tempo), (0.0, 1.2 * person.tempo)),
            variation=0.04,
        ),
        turn_axes=FIXED,
        approach={
            side: APPROACH * (sign * np.cos(ABOVE) * np.array([0.0, 1.0, 0.0]) + np.sin(ABOVE) * upward)
            for side, sign in zip(SIDES, (1.0, -1.0), strict=True)
        },
        seated=True,
        details={
            "centre_m": centre,
            "height_m": CENTRE_HEIGHT,
            "radius_m": RADIUS,
            "above_rad": ABOVE,
            "tilt_rad": TILT,
            "turn_rad": TURN,
        },
    )
