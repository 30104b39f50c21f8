"""What a video shows, frame by frame: where things are, and what is drawn on the floor."""

from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray


@dataclass(frozen=True)
class Balance:
    """What is drawn on the floor over time.

    Parameters
    ----------
    cog : (F, 2) array
        Projection of the centre of gravity, m, world.
    zmp : (F, 2) array
        m, world; NaN where it does not exist.
    support : tuple of F (M, 2) arrays
        Corners of the support polygon in order, m, world; fewer than three: none.
    """

    cog: NDArray[np.float64]
    zmp: NDArray[np.float64]
    support: tuple[NDArray[np.float64], ...]


@dataclass(frozen=True)
class Ghost:
    """A second figure of the robot that the first is seen through: where it was to be.

    Parameters
    ----------
    base : (F, 7) array
        Pose of its root link: x, y, z (m), quaternion x, y, z, w.
    joints : (F, n) array
        In the order of `robot.joint_names`, rad.
    """

    base: NDArray[np.float64]
    joints: NDArray[np.float64]


@dataclass(frozen=True)
class Frames:
    """What moves, at the rate of the video.

    Parameters
    ----------
    base : (F, 7) array
        Pose of the robot's root link: x, y, z (m), quaternion x, y, z, w.
    joints : (F, n) array
        In the order of `robot.joint_names`, rad.
    fixtures : mapping of str to (F, J) array
        Fixture name to the position of its joints, m or rad.
    balance : Balance or None
        Drawn on the floor if given.
    stands : mapping of str to (F, 7) array
        Fixture name to the pose of its frame, of those that stand freely.
    ghost : Ghost or None
        Drawn half transparent if given.
    """

    base: NDArray[np.float64]
    joints: NDArray[np.float64]
    fixtures: Mapping[str, NDArray[np.float64]]
    balance: Balance | None
    stands: Mapping[str, NDArray[np.float64]] = field(default_factory=dict)
    ghost: Ghost | None = None
