"""Free motions, without equipment: one file a motion, one registry."""

from collections.abc import Callable

import numpy as np

from simbench.motion.actors.free.arms_forward import stretch_arms
from simbench.motion.actors.free.fast_waving import wave_fast
from simbench.motion.actors.free.signing import sign_sentence
from simbench.motion.actors.free.walking import walk_straight
from simbench.motion.actors.free.waving import wave_right_hand
from simbench.motion.actors.people import Person
from simbench.motion.actors.performance import ActorPerformance
from simbench.motion.actors.virtual_mocap import MocapErrors

FreeMotion = Callable[[Person, np.random.Generator, MocapErrors, str], ActorPerformance]

FREE: dict[str, FreeMotion] = {
    "waving": wave_right_hand,
    "signing": sign_sentence,
    "arms_forward": stretch_arms,
    "fast_waving": wave_fast,
}
"""Motion to the function by which a person performs it, all variation from a generator, recorded with errors
under the name of a source. A new one is in no session, unless `SESSION_TASKS` names it."""

OUTSIDE_SESSION: dict[str, FreeMotion] = {"walking": walk_straight}
"""Free motions of the average person that are in no session, so that a session's recordings stay the same."""
