"""What the joints are to do at every physics step."""

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from simbench.retargeting.contact.hand_plan import HandPlan


@dataclass(frozen=True)
class Reference:
    """What the joints are to do, at every physics step; row k holds for the end of step k.

    Parameters
    ----------
    position, velocity, feedforward : (N, n) array
        rad, rad/s, N·m, in the order of `robot.joint_names`.
    acceleration : (N, n) array
        rad/s².
    grip : (N, H) bool array
        Whether each of `robot.hands` is meant to hold.
    """

    position: NDArray[np.float64]
    velocity: NDArray[np.float64]
    feedforward: NDArray[np.float64]
    acceleration: NDArray[np.float64]
    grip: NDArray[np.bool_]


@dataclass(frozen=True)
class Timeline:
    """A reference and where the recording lies in it.

    Parameters
    ----------
    reference : Reference
    base : (7,) array
        Pose of the root link at the start.
    start : float
        Time of the recording's first sample, s.
    time : (T,) array
        Times of the recording's samples, s.
    hands : HandPlan or None
        Where the palms are to be, at these samples; None if nothing is asked of them.
    base_path : (N, 7) array
        Pose of the root link at the end of every physics step; empty for a robot with a fixed base.
    zmp : (N, 2) array
        Where the ZMP is to be then, m.
    cog, cog_velocity : (N, 3) array
        Of the planned motion then, m and m/s.
    """

    reference: Reference
    base: NDArray[np.float64]
    start: float
    time: NDArray[np.float64]
    hands: HandPlan | None = None
    base_path: NDArray[np.float64] = field(default_factory=lambda: np.empty((0, 7)))
    zmp: NDArray[np.float64] = field(default_factory=lambda: np.empty((0, 2)))
    cog: NDArray[np.float64] = field(default_factory=lambda: np.empty((0, 3)))
    cog_velocity: NDArray[np.float64] = field(default_factory=lambda: np.empty((0, 3)))
