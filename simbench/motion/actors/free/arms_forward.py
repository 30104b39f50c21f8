"""Both arms are stretched forward to the horizontal, palms down, and hang again, five times."""

import numpy as np

from simbench.motion.actors.free.keyframes import Routine, perform_routine
from simbench.motion.actors.people import Person
from simbench.motion.actors.performance import ActorPerformance
from simbench.motion.actors.virtual_mocap import MocapErrors

# Arm postures in degrees, order of `human_model.ARM_JOINT_NAMES`. People do not lock their elbows when asked
# to stretch their arms.
HANGING = np.array([4.0, 8.0, 5.0, 16.0, 15.0, 0.0, 0.0])
STRETCHED = np.array([88.0, 8.0, 30.0, 5.0, 51.0, 2.0, -1.0])
# Means, s: the movements forward and back, and how long the arms stay stretched and hanging.
MOVES = (1.40, 1.40)
STOPS = (0.50, 0.45)
# So many that the movements take as long as these means at 60 Hz, in five repetitions.
FRAMES = 1303


def stretch_arms(
    person: Person, rng: np.random.Generator, errors: MocapErrors, source: str
) -> ActorPerformance:
    """Have a person stretch both arms forward five times, after standing with arms forward.

    The arms' part of the first demonstration of Kim, Choi, Oh & You (ICCAS 2005). `person`: who performs:
    body, tempo and habits; `rng`: all variation comes from it; `errors`: errors of the motion capture;
    `source`: name of the recording. Returns 1303 frames at 60 Hz, recorded with 25 markers.
    """
    routine = Routine(
        frames=FRAMES,
        ready=np.radians([HANGING] * 2),
        keyframes=np.radians([[STRETCHED] * 2]),
        moves=MOVES,
        stops=STOPS,
        looseness=(1.0, 1.0),
    )
    return perform_routine(routine, person, rng, errors, source)
