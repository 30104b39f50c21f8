"""Displacement of recordings by as little as rounding, to see what another processor may make of them."""

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from simbench.motion.human_motion import HumanMotion
from simbench.motion.trajectory import JointTrajectory

ROUNDING = 1e-12
"""Standard deviation of a displacement, m or rad: a thousand times the spacing of numbers of some metres."""


def round_motion(motion: HumanMotion, seed: int) -> HumanMotion:
    """Displace the joint centres and segments of a recording at random by `ROUNDING`.

    A plan is a search. Where two of its candidates are nearly equal, the last digit of a matrix product
    decides between them, and libraries for different processors differ in that digit. `seed`: seed of the
    displacements: the same seed gives the same motion. Returns the recording with every joint centre and
    every segment frame moved by normally distributed amounts, m, and every segment frame also turned by such
    angles about the world's axes, rad. Handles and markers are as they were.
    """
    rng = np.random.default_rng(seed)
    return replace(
        motion,
        joints={
            name: place + ROUNDING * rng.standard_normal(place.shape) for name, place in motion.joints.items()
        },
        segments={name: _displaced(pose, rng) for name, pose in motion.segments.items()},
    )


def round_trajectory(trajectory: JointTrajectory, seed: int) -> JointTrajectory:
    """Displace the joints and the base of a robot's motion at random by `ROUNDING`.

    `seed`: seed of the displacements: the same seed gives the same motion. Returns the motion with every
    joint position, rad or m, and every position of the base, m, moved by normally distributed amounts. The
    base's quaternion is as it was.
    """
    rng = np.random.default_rng(seed)
    base = trajectory.base
    if base is not None:
        base = np.hstack([base[:, :3] + ROUNDING * rng.standard_normal((len(base), 3)), base[:, 3:]])
    return replace(trajectory, q=trajectory.q + ROUNDING * rng.standard_normal(trajectory.q.shape), base=base)


def _displaced(pose: NDArray[np.float64], rng: np.random.Generator) -> NDArray[np.float64]:
    """Move and turn frames, (T, 4, 4); rotations stay orthonormal to the square of `ROUNDING`."""
    moved = pose.copy()
    moved[:, :3, 3] += ROUNDING * rng.standard_normal((len(pose), 3))
    angles = ROUNDING * rng.standard_normal((len(pose), 1, 3))
    # Rodrigues' formula to first order: R + ω × R, column by column.
    moved[:, :3, :3] += np.cross(angles, pose[:, :3, :3], axisb=1, axisc=1)
    return moved
