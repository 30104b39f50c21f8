"""Waving the right hand beside the head, the left arm hanging."""

import numpy as np

from simbench.motion.actors.free.keyframes import Routine, perform_routine
from simbench.motion.actors.people import Person
from simbench.motion.actors.performance import ActorPerformance
from simbench.motion.actors.virtual_mocap import MocapErrors

# Arm postures in degrees, order of `human_model.ARM_JOINT_NAMES`. The palm faces forward at the height of the
# head, away from it and then near it.
OUTWARD = np.array([36.0, 55.0, -63.0, 76.0, 22.0, 0.0, 6.0])
INWARD = np.array([60.0, 41.0, -2.0, 136.0, 57.0, 12.0, -7.0])
HANGING = np.array([4.0, 8.0, 5.0, 16.0, 15.0, 0.0, 0.0])
# Frames of the recording of Kim & Kim (ICCAS 2005).
FRAMES = 642


def wave_right_hand(
    person: Person, rng: np.random.Generator, errors: MocapErrors, source: str
) -> ActorPerformance:
    """Have a person wave the right hand five times, after standing with arms forward.

    `person`: who performs; `amplitude` is how widely they wave; `rng`: all variation comes from it; `errors`:
    errors of the motion capture; `source`: name of the recording. Returns 642 frames at 60 Hz, recorded with
    25 markers.
    """
    middle, half = 0.5 * (OUTWARD + INWARD), 0.5 * person.amplitude * (INWARD - OUTWARD)
    outward, inward = (np.radians([HANGING, middle + sign * half]) for sign in (-1.0, 1.0))
    routine = Routine(
        frames=FRAMES,
        ready=outward,
        keyframes=inward[None],
        moves=(0.62, 0.62),
        stops=(0.06, 0.10),
        looseness=(0.3, 1.0),
    )
    return perform_routine(routine, person, rng, errors, source)
