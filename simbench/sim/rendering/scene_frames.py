"""Content of a video, frame by frame: poses of robot and equipment, and the overlay on the floor."""

from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray


@dataclass(frozen=True)
class Balance:
    """COG, ZMP and support polygon over time, drawn on the floor.

    Parameters
    ----------
    cog : (F, 2) array
        Projection of the centre of gravity on the floor in the world, m.
    zmp : (F, 2) array
        Zero-moment point in the world, m; NaN where it does not exist.
    support : tuple of F (M, 2) arrays
        Vertices of the support polygon in order, in the world, m; with fewer than three there is none.
    """

    cog: NDArray[np.float64]
    zmp: NDArray[np.float64]
    support: tuple[NDArray[np.float64], ...]


@dataclass(frozen=True)
class Ghost:
    """Reference pose of the robot over time, drawn as a second, half transparent figure.

    Parameters
    ----------
    base : (F, 7) array
        Pose of its root link in the world: position, m, and quaternion x, y, z, w.
    joints : (F, n) array
        Joint positions in the order of `robot.joint_names`, rad.
    """

    base: NDArray[np.float64]
    joints: NDArray[np.float64]


@dataclass(frozen=True)
class Frames:
    """Poses of robot and equipment in each frame of a video.

    Parameters
    ----------
    base : (F, 7) array
        Pose of the robot's root link in the world: position, m, and quaternion x, y, z, w.
    joints : (F, n) array
        Joint positions in the order of `robot.joint_names`, rad.
    fixtures : mapping of str to (F, J) array
        Joint positions of each fixture by its name, m or rad.
    balance : Balance or None
        Overlay on the floor, if any.
    stands : mapping of str to (F, 7) array
        Pose in the world of the frame of each fixture that stands freely, by its name: position, m, and
        quaternion x, y, z, w.
    ghost : Ghost or None
        Half transparent reference figure, if any.
    """

    base: NDArray[np.float64]
    joints: NDArray[np.float64]
    fixtures: Mapping[str, NDArray[np.float64]]
    balance: Balance | None
    stands: Mapping[str, NDArray[np.float64]] = field(default_factory=dict)
    ghost: Ghost | None = None
