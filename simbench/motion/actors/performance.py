"""What a virtual actor leaves behind: the recording, and the truth that later analysis is scored against."""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from simbench.motion.actors.human_model import HumanModel
from simbench.motion.human_motion import HumanMotion


@dataclass(frozen=True)
class ActorPerformance:
    """A recording of a virtual actor with its ground truth; all samples at `motion.time`.

    Parameters
    ----------
    motion : HumanMotion
        What motion capture saw: noise and skin motion included.
    human : HumanModel
    q : (T, nq) array
        The actor's configurations, free of noise.
    palms : mapping of side to (T, 4, 4) array
        Palm poses in the world, free of noise: x along the fingers, z dorsal.
    phases : mapping of str to (int, int)
        First and last sample of `icp` (initial configuration), `tgp` (transition and grasp), `pmp` (periodic
        motion) and `rest`.
    contact_start : int
        First sample with the hands on the equipment; they stay there to the end.
    travel : (T,) array
        How far the equipment has moved from where the actor found it, m (rad for what turns).
    """

    motion: HumanMotion
    human: HumanModel
    q: NDArray[np.float64]
    palms: Mapping[str, NDArray[np.float64]]
    phases: Mapping[str, tuple[int, int]]
    contact_start: int
    travel: NDArray[np.float64]
