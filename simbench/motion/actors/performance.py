"""The result of a virtual actor: the recording, and the ground truth that analyses are scored against."""

from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from simbench.motion.actors.human_model import HumanModel
from simbench.motion.actors.strategy import ActorStrategy
from simbench.motion.human_motion import HumanMotion


@dataclass(frozen=True)
class ActorPerformance:
    """A recording of a virtual actor with its ground truth; all samples at `motion.time`.

    Parameters
    ----------
    motion : HumanMotion
        What motion capture saw: noise and skin motion included.
    human : HumanModel
        Kinematic and inertial model of the actor.
    q : (T, nq) array
        The actor's configurations, free of noise.
    palms : mapping of side to (T, 4, 4) array
        Palm poses in the world, free of noise: x along the fingers, z dorsal.
    phases : mapping of str to (int, int)
        First and last sample of `icp` (initial configuration), `tgp` (transition and grasp), `pmp` (periodic
        motion) and `rest`.
    boundaries : (N + 1,) array
        Instants that part the repetitions, s: the start of the first, the middle of each stop between two,
        the end of the last.
    contact_start : int or None
        First sample with the hands on the equipment; they stay there to the end. None in free motion.
    travel : (T,) array
        How far the equipment has moved from where the actor found it, m (rad for what turns).
    strategy : ActorStrategy or None
        How the actor resolved redundancy; None in free motion, where the joints themselves are prescribed.
    equipment : mapping of str to float
        The equipment's numbers, SI units.
    """

    motion: HumanMotion
    human: HumanModel
    q: NDArray[np.float64]
    palms: Mapping[str, NDArray[np.float64]]
    phases: Mapping[str, tuple[int, int]]
    boundaries: NDArray[np.float64]
    contact_start: int | None
    travel: NDArray[np.float64]
    strategy: ActorStrategy | None
    equipment: Mapping[str, float] = field(default_factory=dict)
