"""Content of a video, frame by frame: poses of robot and equipment, and the overlay on the floor."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import NamedTuple

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


class CameraPath(NamedTuple):
    """Motion of the camera relative to where its section puts it.

    Parameters
    ----------
    shift : (F, 3) array
        Displacement of the target in the world, m.
    turn_deg : (F,) array
        Rotation of the camera about the vertical through its target, degrees.
    """

    shift: NDArray[np.float64]
    turn_deg: NDArray[np.float64]


class Figure(NamedTuple):
    """A figure of balls and of bars between them, such as the recorded person.

    Parameters
    ----------
    points : (F, N, 3) array
        Centres of the balls in the world, m.
    bars : tuple of (int, int)
        Balls that each bar connects.
    radii : (N + B,) tuple of float
        Radius of each ball, then of each bar, m.
    """

    points: NDArray[np.float64]
    bars: tuple[tuple[int, int], ...]
    radii: tuple[float, ...]


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
    figure : Figure or None
        Figure beside the robot, if any.
    camera_path : CameraPath or None
        Motion of the camera; None if it stands still.
    """

    base: NDArray[np.float64]
    joints: NDArray[np.float64]
    fixtures: Mapping[str, NDArray[np.float64]]
    balance: Balance | None
    stands: Mapping[str, NDArray[np.float64]] = field(default_factory=dict)
    ghost: Ghost | None = None
    figure: Figure | None = None
    camera_path: CameraPath | None = None
