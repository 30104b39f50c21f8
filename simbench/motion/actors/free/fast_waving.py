"""The right arm rises beside the head, waves fast and hangs again, twice; the left arm hangs throughout."""

import numpy as np

from simbench.motion.actors.free.keyframes import Routine, perform_routine
from simbench.motion.actors.people import Person
from simbench.motion.actors.performance import ActorPerformance
from simbench.motion.actors.virtual_mocap import MocapErrors

# Arm postures in degrees, order of `human_model.ARM_JOINT_NAMES`: the palm faces forward at the height of the
# head. Fast waves turn the upper arm about itself, by less than leisurely ones.
HANGING = np.array([4.0, 8.0, 5.0, 16.0, 15.0, 0.0, 0.0])
OUTWARD = np.array([46.0, 50.0, -46.0, 96.0, 34.0, 3.0, 0.0])
INWARD = np.array([50.0, 46.0, -20.0, 116.0, 44.0, 7.0, 0.0])
# Waves each time the arm is up; there and back last 1/2 s.
WAVES, HALF_WAVE = 12, 0.25
# Means, s: the movements up and down, and how long the arm hangs in between.
RISE, DESCENT, PAUSE = 1.30, 1.30, 0.60
# So many that the movements take as long as these means at 60 Hz, in two repetitions.
FRAMES = 1273


def wave_fast(person: Person, rng: np.random.Generator, errors: MocapErrors, source: str) -> ActorPerformance:
    """Have a person raise the right arm and wave fast, two times, after standing with arms forward.

    The arms' part of the second demonstration of Kim, Choi, Oh & You (ICCAS 2005). `person`: who performs;
    `amplitude` is how widely they wave; `rng`: all variation comes from it; `errors`: errors of the motion
    capture; `source`: name of the recording. Returns 1273 frames at 60 Hz, recorded with 25 markers.
    """
    middle, half = 0.5 * (OUTWARD + INWARD), 0.5 * person.amplitude * (INWARD - OUTWARD)
    outward, inward = middle - half, middle + half
    right = np.array([outward, *[inward, outward] * WAVES])
    routine = Routine(
        frames=FRAMES,
        ready=np.radians([HANGING] * 2),
        keyframes=np.radians(np.stack([np.broadcast_to(HANGING, right.shape), right], axis=1)),
        moves=(RISE, *[HALF_WAVE] * (2 * WAVES), DESCENT),
        stops=(0.0,) * (2 * WAVES + 1) + (PAUSE,),
        looseness=(0.3, 0.5),
        repetitions=2,
    )
    return perform_routine(routine, person, rng, errors, source)
