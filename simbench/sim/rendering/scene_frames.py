"""Content of a video, frame by frame: poses of robot and equipment, and the overlay on the floor."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray


@dataclass(frozen=True)
class Balance:
    """COG, ZMP and support polygon over time, drawn on the floor."""

    cog: NDArray[np.float64]  # (F, 2): projection of the centre of gravity on the floor in the world, m.
    zmp: NDArray[np.float64]  # (F, 2): zero-moment point in the world, m; NaN where it does not exist.
    # Tuple of F (M, 2) arrays: vertices of the support polygon in order, in the world, m; with fewer than
    # three there is none.
    support: tuple[NDArray[np.float64], ...]


@dataclass(frozen=True)
class Ghost:
    """Reference pose of the robot over time, drawn as a second, half transparent figure."""

    # (F, 7): pose of its root link in the world: position, m, and quaternion x, y, z, w.
    base: NDArray[np.float64]
    joints: NDArray[np.float64]  # (F, n): joint positions in the order of `robot.joint_names`, rad.


class CameraPath(NamedTuple):
    """Motion of the camera relative to where its section puts it."""

    shift: NDArray[np.float64]  # (F, 3): displacement of the target in the world, m.
    # (F,): rotation of the camera about the vertical through its target, degrees.
    turn_deg: NDArray[np.float64]


class Figure(NamedTuple):
    """A figure of balls and of bars between them, such as the recorded person."""

    points: NDArray[np.float64]  # (F, N, 3): centres of the balls in the world, m.
    bars: tuple[tuple[int, int], ...]  # Balls that each bar connects.
    radii: tuple[float, ...]  # radius of each ball, then of each bar, m.


@dataclass(frozen=True)
class Frames:
    """Poses of robot and equipment in each frame of a video."""

    # (F, 7): pose of the robot's root link in the world: position, m, and quaternion x, y, z, w.
    base: NDArray[np.float64]
    joints: NDArray[np.float64]  # (F, n): joint positions in the order of `robot.joint_names`, rad.
    # Mapping of str to (F, J) array: joint positions of each fixture by its name, m or rad.
    fixtures: Mapping[str, NDArray[np.float64]]
    balance: Balance | None  # Overlay on the floor, if any.
    # Mapping of str to (F, 7) array: pose in the world of the frame of each fixture that stands freely, by
    # its name: position, m, and quaternion x, y, z, w.
    stands: Mapping[str, NDArray[np.float64]] = field(default_factory=dict)
    ghost: Ghost | None = None  # Half transparent reference figure, if any.
    figure: Figure | None = None  # Figure beside the robot, if any.
    camera_path: CameraPath | None = None  # Motion of the camera; None if it stands still.
