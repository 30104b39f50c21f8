"""Lag of a motion behind another one: where their cross-correlation is largest."""

import numpy as np

from simbench.kinematics.arrays import Array


def lag_in_samples(reference: Array, followed: Array, most: int) -> int:
    """Find by how many samples one motion lags behind another.

    The lag with the largest correlation coefficient of all signals together over the samples that both have
    at that lag, each signal less its mean there.

    Parameters
    ----------
    reference : (T, d) array
        Signals of the motion that is followed, such as positions.
    followed : (T, d) array
        The same of the one that follows.
    most : int
        Largest lag to look at, samples, less than T − 1.

    Returns
    -------
    int
        Lag, positive where the second motion is late; the smallest of equal ones, 0 if nothing moves.
    """
    count, best, found = len(reference), 0.0, 0
    for lag in sorted(range(-most, most + 1), key=abs):
        early = reference[max(0, -lag) : count - max(0, lag)]
        late = followed[max(0, lag) : count - max(0, -lag)]
        early, late = early - early.mean(axis=0), late - late.mean(axis=0)
        norm = float(np.linalg.norm(early) * np.linalg.norm(late))
        value = float(np.sum(early * late)) / norm if norm > 0.0 else 0.0
        if value > best + 1e-12:
            best, found = value, lag
    return found
