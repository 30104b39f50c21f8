"""When a person moves: minimum-jerk progress and slow bodily sway."""

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]


def minimum_jerk(time: Array, start: float, duration: float) -> Array:
    """Progress of a minimum-jerk movement (Flash & Hogan 1985): 10 s³ − 15 s⁴ + 6 s⁵.

    Parameters
    ----------
    time : (T,) array
        s.
    start, duration : float
        s, duration positive.

    Returns
    -------
    (T,) array
        0 before the start, 1 after the end, speed and acceleration zero at both.
    """
    s = np.clip((time - start) / duration, 0.0, 1.0)
    return s**3 * (10.0 - 15.0 * s + 6.0 * s**2)


def sway(time: Array, amplitude: float, rng: np.random.Generator) -> Array:
    """Slow random motion of a body that tries to stand still, as a sum of sinusoids.

    Parameters
    ----------
    time : (T,) array
        s.
    amplitude : float
        Root mean square over a long time, in the unit of the result.
    rng : numpy.random.Generator

    Returns
    -------
    (T,) array
    """
    # Quiet standing sways mostly below 0.5 Hz, less the faster (Winter et al. 1998).
    frequency = np.linspace(0.05, 0.5, 10) * rng.uniform(0.9, 1.1, 10)
    weight = 1.0 / (1.0 + (frequency / 0.2) ** 2)
    weight *= amplitude * np.sqrt(2.0 / np.sum(weight**2))
    phase = rng.uniform(0.0, 2.0 * np.pi, 10)
    return np.sin(2.0 * np.pi * frequency * time[:, None] + phase) @ weight
