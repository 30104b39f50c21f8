"""Budgets of what files and scenarios may declare, checked before memory or time is spent on it.

They bound what a small file can make of itself; one that really is as large takes memory of its size.
"""

import numpy as np
from numpy.typing import NDArray

MOST_NUMBERS = 50_000_000  # Numbers of all arrays of a file, shared ones written out: 400 MB.
MOST_TEXTS = 1_000_000  # Texts of a file: each becomes an object of some hundred bytes.
MOST_SAMPLES = 2_000_000  # Samples of a motion: five hours at 100 Hz.
RATES = (1.0, 10_000.0)  # Samples per second: robots are controlled at 1 to 2 kHz.
SHORTEST_STEP = 1e-4  # Time between two samples, or physics step, s: that of the highest rate.
FASTEST_BASE = 100.0  # Speed of a robot's base, m/s: beyond it positions are not in metres.
FASTEST_TURN = 1000.0  # Angular speed of a base or a joint, rad/s: a motor without its gear.
FASTEST_SLIDE = 100.0  # Speed of a prismatic joint, m/s.
MOST_SHAPES = 200  # Shapes of one mechanism: every link of a robot is checked against each.
# Elements `link`, `joint`, `visual` and `collision` of a URDF: the largest robots have some hundred.
MOST_ELEMENTS = 2000
MOST_JOINTS = 200  # Joints of a robot that move; Bullet alone has room for fewer.
MOST_OBSERVATIONS = 1_000_000  # Numbers that a policy observes at a tick, its history included.


def require_at_most(number: float, largest: float, what: str, error: type[Exception]) -> None:
    """Refuse more of something than is allowed. `what`: its name in the plural, behind where it is."""
    if not number <= largest:
        where, _, name = what.rpartition(": ")
        raise error(f"{where}: {number:.10g} {name}; allowed: {largest:.10g}")


def require_steps(time: NDArray[np.float64], where: str, error: type[Exception]) -> None:
    """Refuse times (T,), s, that are many or too near each other; those that do not increase are others'."""
    require_at_most(len(time), MOST_SAMPLES, f"{where}: samples", error)
    steps = np.diff(time)
    # Times in a file are rounded.
    near = np.flatnonzero((steps > 0.0) & (steps < 0.9 * SHORTEST_STEP))
    if near.size:
        raise error(
            f"{where}: samples {near[0]} and {near[0] + 1} are {steps[near[0]]:.3g} s apart; "
            f"allowed: {SHORTEST_STEP:g} s or more ({RATES[1]:g} Hz)"
        )


def require_speed(
    time: NDArray[np.float64],
    moved: NDArray[np.float64],
    fastest: float,
    unit: str,
    what: str,
    error: type[Exception],
) -> None:
    """Refuse what no robot does. `moved` (T - 1,): how far `what` moves between times (T,), s, in `unit`."""
    speed = np.abs(moved) / np.diff(time)
    worst = int(speed.argmax()) if speed.size else 0
    if speed.size and not speed[worst] <= fastest:
        at = f"{speed[worst]:.3g} {unit}/s at {time[worst]:.6g} s"
        raise error(f"{what} moves at {at}; allowed: {fastest:g} {unit}/s")
