"""When a person moves: the schedule of a recording, minimum-jerk progress, slow bodily sway."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from simbench.kinematics.arrays import Array
from simbench.kinematics.derivatives import minimum_jerk

# The descent onto the equipment starts before the approach ends, as people blend movements, by this
# fraction of its duration: a third of the approach is then done.
OVERLAP = 0.40


def draw_sway(time: Array, amplitude: float, rng: np.random.Generator) -> Array:
    """Draw the slow random motion of a body that tries to stand still, a sum of sinusoids.

    `time` (T,): sample times, s; `amplitude`: root mean square over a long time, in the unit of the result;
    `rng`: all variation comes from it. Returns (T,): displacement over time, in the unit of `amplitude`.
    """
    # Quiet standing sways mostly below 0.5 Hz, less the faster (Winter et al. 1998).
    frequency = np.linspace(0.05, 0.5, 10) * rng.uniform(0.9, 1.1, 10)
    weight = 1.0 / (1.0 + (frequency / 0.2) ** 2)
    weight *= amplitude * np.sqrt(2.0 / np.sum(weight**2))
    phase = rng.uniform(0.0, 2.0 * np.pi, 10)
    return np.sin(2.0 * np.pi * frequency * time[:, None] + phase) @ weight


@dataclass(frozen=True)
class Timing:
    """How long the parts of a recording last, and how the equipment is moved.

    Parameters
    ----------
    moves : tuple of (float, float)
        Movements of one repetition: travel of the equipment at their end (m or rad from where the repetition
        began), and mean duration, s.
    repetitions : int
        How often the movements are repeated.
    variation : float
        Relative standard deviation of durations and of travels, over the repetitions.
    pause : float
        Mean stop between two moves, s.
    initial, transition, descent, grasp, rest : float
        Durations, s, of standing with arms forward, moving from there to before the equipment, moving onto
        it, closing the fingers, and standing still at the end.
    rate : float
        Sampling rate of the recording, Hz.
    """

    moves: tuple[tuple[float, float], ...]
    repetitions: int = 5
    variation: float = 0.03
    pause: float = 0.10
    initial: float = 1.0
    transition: float = 1.5
    descent: float = 0.9
    grasp: float = 0.4
    rest: float = 0.5
    rate: float = 100.0


@dataclass(frozen=True)
class Schedule:
    """What happens when in one recording."""

    time: Array  # (T,): sample times, s.
    # `approach`, `descent` (T,): progress of the transition and of the descent onto the equipment, 0 to 1.
    approach: Array
    descent: Array
    travel: Array  # (T,): travel of the equipment, m or rad.
    strokes: NDArray[np.int64]  # (N, 2) int: first and last sample of each repetition.
    # (N + 1,): instants that part the repetitions, s: the start of the first, the middle of each stop between
    # two, the end of the last.
    boundaries: Array
    phases: dict[str, tuple[int, int]]  # First and last sample of `icp`, `tgp`, `pmp` and `rest`.
    contact_start: int  # First sample with the hands on the equipment.


def draw_schedule(timing: Timing, rng: np.random.Generator) -> Schedule:
    """Draw the schedule of a recording with natural variation.

    `timing`: mean durations and how much they vary; `rng`: all variation comes from it. Returns progress and
    travel at every sample, phases and repetitions.
    """

    def varied(mean: float) -> float:
        return mean * (1.0 + timing.variation * float(np.clip(rng.normal(), -2.0, 2.0)))

    transition, descent = varied(timing.transition), varied(timing.descent)
    descent_start = timing.initial + transition - OVERLAP * descent
    contact = descent_start + descent
    clock, position, base = contact + timing.grasp, 0.0, 0.0
    moves, ends = [], []
    for _ in range(timing.repetitions):
        first = clock
        for k, (end, mean) in enumerate(timing.moves):
            # What a repetition ends with is given by the equipment: the drawer is shut, the turn is whole.
            target = base + (end if k == len(timing.moves) - 1 else varied(end))
            duration = varied(mean)
            moves.append((clock, duration, target - position))
            last, position = clock + duration, target
            clock = last + varied(timing.pause)
        base = position
        ends.append((first, last))
    time = np.arange(round((last + timing.rest) * timing.rate) + 1) / timing.rate
    bounds = np.array(ends)
    strokes = np.rint(bounds * timing.rate).astype(np.int64)
    still = round(timing.initial * timing.rate)
    return Schedule(
        time=time,
        approach=minimum_jerk(time, timing.initial, transition),
        descent=minimum_jerk(time, descent_start, descent),
        travel=np.sum(
            [distance * minimum_jerk(time, start, length) for start, length, distance in moves], axis=0
        ),
        strokes=strokes,
        boundaries=np.concatenate([bounds[:1, 0], 0.5 * (bounds[:-1, 1] + bounds[1:, 0]), bounds[-1:, 1]]),
        phases={
            "icp": (0, still),
            "tgp": (still + 1, int(strokes[0, 0]) - 1),
            "pmp": (int(strokes[0, 0]), int(strokes[-1, 1])),
            "rest": (int(strokes[-1, 1]) + 1, len(time) - 1),
        },
        contact_start=int(np.ceil(contact * timing.rate)),
    )
