"""A sentence as in sign language: six signs with both arms, said five times."""

import numpy as np

from simbench.motion.actors.free.keyframes import Routine, perform_routine
from simbench.motion.actors.people import Person
from simbench.motion.actors.performance import ActorPerformance
from simbench.motion.actors.virtual_mocap import MocapErrors

# Postures of left and right arm in degrees, order of `human_model.ARM_JOINT_NAMES`. The signs belong to no
# language: they vary place and orientation of both hands as signs do.
READY = ([12, 21, 51, 91, 43, -17, -8],) * 2  # hands low before the belly, palms down
SIGNS = (
    ([43, 18, 26, 111, 10, -7, 10],) * 2,  # a roof before the face
    ([0, 6, 19, 82, -78, 10, -30], [31, 20, 60, 128, -43, 0, -19]),  # right hand to the chest, left palm up
    ([13, -4, -9, 93, -78, -9, -3],) * 2,  # palms up, apart
    ([10, 10, 32, 96, 8, -20, 18], [68, 8, 34, 48, 50, 9, -21]),  # right arm forward, left before the chest
    ([18, 9, 44, 98, 10, -46, 18],) * 2,  # palms together
    ([43, 27, -28, 99, -35, 19, -5],) * 2,  # wide at the height of the head
)
# Means, s: the movements to the six signs and back, and how long hands stay there.
MOVES = (0.60, 0.65, 0.60, 0.65, 0.65, 0.65, 0.75)
HOLDS = (0.22, 0.25, 0.22, 0.20, 0.30, 0.25, 0.40)
# Frames of the recording of Kim & Kim (ICCAS 2005).
FRAMES = 1978


def sign_sentence(
    person: Person, rng: np.random.Generator, errors: MocapErrors, source: str
) -> ActorPerformance:
    """Have a person say a sentence with both arms five times, after standing with arms forward.

    `person`: who performs: body, tempo and habits; `rng`: all variation comes from it; `errors`: errors of
    the motion capture; `source`: name of the recording. Returns 1978 frames at 60 Hz, recorded with 25
    markers.
    """
    routine = Routine(
        frames=FRAMES,
        ready=np.radians(READY),
        keyframes=np.radians(SIGNS),
        moves=MOVES,
        stops=HOLDS,
        looseness=(1.0, 1.0),
    )
    return perform_routine(routine, person, rng, errors, source)
