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
    """A recording of a virtual actor with its ground truth; all samples at `motion.time`."""

    motion: HumanMotion  # What motion capture saw: noise and skin motion included.
    human: HumanModel  # Kinematic and inertial model of the actor.
    q: NDArray[np.float64]  # (T, nq): the actor's configurations, free of noise.
    # Mapping of side to (T, 4, 4) array: palm poses in the world, free of noise: x along the fingers, z
    # dorsal.
    palms: Mapping[str, NDArray[np.float64]]
    # First and last sample of `icp` (initial configuration), `tgp` (transition and grasp), `pmp` (periodic
    # motion) and `rest`.
    phases: Mapping[str, tuple[int, int]]
    # (N + 1,): instants that part the repetitions, s: the start of the first, the middle of each stop between
    # two, the end of the last.
    boundaries: NDArray[np.float64]
    # First sample with the hands on the equipment; they stay there to the end. None in free motion.
    contact_start: int | None
    # (T,): how far the equipment has moved from where the actor found it, m (rad for what turns).
    travel: NDArray[np.float64]
    # How the actor resolved redundancy; None in free motion, where the joints themselves are prescribed.
    strategy: ActorStrategy | None
    equipment: Mapping[str, float] = field(default_factory=dict)  # The equipment's numbers, SI units.
