"""Motions of the paper's arm: driven in Bullet under a law at the paper's 25 kHz, or as they were kept."""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from tables import TRUE

from simbench.dynamics.calibration.arm_motion import ArmMotion, Feedback
from simbench.robot.drives import Friction
from simbench.robot.robot import Robot, load_robot
from simbench.sim.experiments.driven_arm import drive_arm

Array = NDArray[np.float64]

LEARNING, EVALUATION, LENGTH, RATE = 5, 17, 210_937, 25_000.0
SEED, REACH, STOP = 2004, 2.0, 2.6
"""Starts and targets are within so many rad; the arm stops at the last."""
SHORT_OF = 0.9
"""Of the stop, where a law alone would swing to: the joints also swing each other."""
LAW = Feedback()
CHANNELS = ("q", "velocity", "acceleration")


def shown_robot() -> Robot:
    """Return the arm with the friction that the paper's identification found, negative as it is."""
    robot = load_robot("direct_drive_arm")
    coulomb, viscous = TRUE[[2, 7]], TRUE[[1, 6]]
    friction = Friction(coulomb=coulomb, viscous=viscous, breakaway=np.maximum(coulomb, 0.0))
    return replace(robot, friction=friction)


def reach_of(law: Feedback) -> float:
    """Choose within which starts and targets the arm stays short of its stops, rad.

    As a joint of the greatest inertia swings from one end to beyond the other.
    """
    inertia = TRUE[0] + TRUE[3] + 2 * 0.25 * np.hypot(TRUE[4], TRUE[5]) - law.acceleration
    damping = min(-law.velocity / (2.0 * np.sqrt(law.position * inertia)), 0.999)
    beyond = np.exp(-np.pi * damping / np.sqrt(1.0 - damping**2))
    return float(min(REACH, SHORT_OF * STOP / (1.0 + 2.0 * beyond)))


def places(reach: float) -> tuple[Array, Array]:
    """Draw starts and targets of all motions, rad."""
    starts, targets = np.random.default_rng(SEED).uniform(-reach, reach, (2, LEARNING + EVALUATION, 2))
    return starts, targets


def record(law: Feedback, count: int, length: int) -> list[ArmMotion]:
    """Drive the arm in Bullet."""
    robot = shown_robot()
    starts, targets = places(reach_of(law))
    return [drive_arm(robot, law, starts[i], targets[i], 1 / RATE, length) for i in range(count)]


def recorded(path: Path) -> list[ArmMotion]:
    """Read the motions under the paper's law, or drive the arm and keep them."""
    if not path.exists():
        motions = record(LAW, LEARNING + EVALUATION, LENGTH)
        np.savez(path, **{f"{k}{i}": getattr(m, k) for i, m in enumerate(motions) for k in CHANNELS})
    _, targets = places(reach_of(LAW))
    with np.load(path) as kept:
        channels = [[kept[f"{k}{i}"] for k in CHANNELS] for i in range(LEARNING + EVALUATION)]
    return [
        ArmMotion(RATE, *each, np.broadcast_to(targets[i], each[0].shape)) for i, each in enumerate(channels)
    ]


def noisy(motions: Sequence[ArmMotion], sigma: Array | float, rng: np.random.Generator) -> list[ArmMotion]:
    """Add noise to the angles, as the paper's table 3, rad."""
    return [replace(each, q=each.q + sigma * rng.normal(size=each.q.shape)) for each in motions]


def fewer(motions: Sequence[ArmMotion], count: int) -> list[ArmMotion]:
    """Return as many samples at even distances."""
    every = -(-sum(len(each.q) for each in motions) // count)
    return [
        ArmMotion(each.rate / every, *(getattr(each, name)[::every] for name in (*CHANNELS, "target")))
        for each in motions
    ]
