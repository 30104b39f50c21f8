"""Motions of the paper's arm: simulated in Bullet under a law at the paper's 25 kHz, or read from a file."""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from planar_arm import RealArm, record_real
from tables import TRUE

from simbench.calibration.arm_recording import ArmMotion, Feedback
from simbench.robot.drives import Friction
from simbench.robot.robot import Robot, load_robot
from simbench.sim.driven_arm import drive_arm

Array = NDArray[np.float64]

LEARNING, EVALUATION, LENGTH, RATE = 5, 17, 210_937, 25_000.0
SEED, REACH, STOP = 2004, 2.0, 2.6
"""Seed of starts and targets, the largest angle of both, and the angle of the end stops, rad."""
STOP_FRACTION = 0.9
"""Fraction of the stop up to which the law alone may overshoot: joints also accelerate each other."""
LAW = Feedback()
CHANNELS = ("q", "velocity", "acceleration")
EVERY = 25
"""Steps of the integration to a sample, where real and virtual arm are compared."""
MEANS = 40
"""Neighbouring samples, 1.6 ms, whose means least squares take instead of them where there is noise: an angle
changes by 0.01 rad within them, so that the mean is bent by 1e-6 rad, and white noise is √40 times less."""
MODEL = RealArm(coulomb=(TRUE[2], TRUE[7]), creep=1e-12)
"""The arm without anything that the paper's model lacks."""


def shown_robot() -> Robot:
    """Load the arm with the friction that the paper identified, which is negative."""
    robot = load_robot("direct_drive_arm")
    coulomb, viscous = TRUE[[2, 7]], TRUE[[1, 6]]
    friction = Friction(coulomb=coulomb, viscous=viscous, breakaway=np.maximum(coulomb, 0.0))
    return replace(robot, friction=friction)


def reach_of(law: Feedback) -> float:
    """Compute the range of starts and targets, rad, for which the arm does not reach its stops.

    It follows from the overshoot of a joint with the largest inertia that moves from one end to the other.
    """
    inertia = TRUE[0] + TRUE[3] + 2 * 0.25 * np.hypot(TRUE[4], TRUE[5]) - law.acceleration
    damping = min(-law.velocity / (2.0 * np.sqrt(law.position * inertia)), 0.999)
    beyond = np.exp(-np.pi * damping / np.sqrt(1.0 - damping**2))
    return float(min(REACH, STOP_FRACTION * STOP / (1.0 + 2.0 * beyond)))


def draw_targets(reach: float) -> tuple[Array, Array]:
    """Draw the starts and targets of all motions, rad."""
    starts, targets = np.random.default_rng(SEED).uniform(-reach, reach, (2, LEARNING + EVALUATION, 2))
    return starts, targets


def record(law: Feedback, count: int, length: int) -> list[ArmMotion]:
    """Simulate motions of the arm in Bullet."""
    robot = shown_robot()
    starts, targets = draw_targets(reach_of(law))
    return [drive_arm(robot, law, starts[i], targets[i], 1 / RATE, length) for i in range(count)]


def integrated(
    law: Feedback, count: int, length: int, arm: RealArm = MODEL, every: int = EVERY
) -> list[ArmMotion]:
    """Integrate motions of an arm at `RATE`, `length` steps, of which some are samples."""
    starts, targets = (each[:count] for each in draw_targets(reach_of(law)))
    return record_real(TRUE, arm, law, starts, targets, RATE, every, length // every)


def recorded(path: Path) -> list[ArmMotion]:
    """Read the motions under the paper's law from a file, or simulate and store them."""
    if not path.exists():
        motions = record(LAW, LEARNING + EVALUATION, LENGTH)
        np.savez(path, **{f"{k}{i}": getattr(m, k) for i, m in enumerate(motions) for k in CHANNELS})
    _, targets = draw_targets(reach_of(LAW))
    with np.load(path) as kept:
        channels = [[kept[f"{k}{i}"] for k in CHANNELS] for i in range(LEARNING + EVALUATION)]
    return [
        ArmMotion(RATE, *each, np.broadcast_to(targets[i], each[0].shape)) for i, each in enumerate(channels)
    ]


def noisy(motions: Sequence[ArmMotion], sigma: Array | float, rng: np.random.Generator) -> list[ArmMotion]:
    """Add noise of a standard deviation, rad, to the angles, as in the paper's table 3."""
    return [replace(each, q=each.q + sigma * rng.normal(size=each.q.shape)) for each in motions]


def averaged(motions: Sequence[ArmMotion], count: int = MEANS) -> list[ArmMotion]:
    """Replace each `count` neighbouring samples by their mean."""
    return [
        ArmMotion(each.rate / count, *(block_means(getattr(each, n), count) for n in (*CHANNELS, "target")))
        for each in motions
    ]


def block_means(values: Array, count: int) -> Array:
    """Average each `count` neighbouring rows; what is left at the end is dropped."""
    rows = len(values) // count
    return np.asarray(values[: rows * count].reshape(rows, count, -1).mean(axis=1))


def fewer(motions: Sequence[ArmMotion], count: int) -> list[ArmMotion]:
    """Select at most `count` samples of all motions, equally spaced."""
    every = -(-sum(len(each.q) for each in motions) // count)
    return [
        ArmMotion(each.rate / every, *(getattr(each, name)[::every] for name in (*CHANNELS, "target")))
        for each in motions
    ]
