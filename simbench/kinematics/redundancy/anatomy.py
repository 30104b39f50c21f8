"""What makes a person's joints more than hinges: tissue, the trunk in the arms' way, the shoulder girdle."""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from simbench.kinematics.arrays import Array
from simbench.kinematics.compiled import compiled


class Anatomy(NamedTuple):
    """How joints of a body hang together; n coordinates, g shoulders.

    Parameters
    ----------
    easy : float
        Middle part of a range in which a joint moves freely.
    stiffening : float
        How reluctant a joint is beyond it: s = 1 + stiffening (|2q − low − high| / (high − low) − easy)².
    stopping : float
        A joint that nears a limit slows down so that it would need this long for what is left, s; 0 for none
        of that.
    low, high : (n,) array
        Ranges for this; infinite where a coordinate has none.
    flexion : (n,) int array
        For the abduction of a shoulder, whose adduction the trunk stops: the coordinate of that shoulder's
        flexion; −1 for all others.
    slack : (n,) array
        How much farther than an average trunk lets it the upper arm goes, rad.
    beside, before : float
        Least abduction of an arm beside the trunk and in front of it, rad.
    front : float
        Sine of the flexion from which the elbow is in front.
    girdle : (g, 4) int array
        Elevation and protraction of a clavicle, which no law resolves, and flexion and abduction of the
        shoulder that they follow.
    elevation, protraction : float
        Of the clavicle, rad, for an upper arm that points forward.
    """

    easy: float
    stiffening: float
    stopping: float
    low: Array
    high: Array
    flexion: NDArray[np.int64]
    slack: Array
    beside: float
    before: float
    front: float
    girdle: NDArray[np.int64]
    elevation: float
    protraction: float


def mere_hinges(coordinates: int) -> Anatomy:
    """Joints of a robot, or of the thesis's model of a person: none of this."""
    return Anatomy(
        easy=1.0,
        stiffening=0.0,
        stopping=0.0,
        low=np.full(coordinates, -np.inf),
        high=np.full(coordinates, np.inf),
        flexion=np.full(coordinates, -1),
        slack=np.zeros(coordinates),
        beside=0.0,
        before=0.0,
        front=1.0,
        girdle=np.zeros((0, 4), dtype=np.int64),
        elevation=0.0,
        protraction=0.0,
    )


@compiled
def reluctance(anatomy: Anatomy, q: Array, scale: Array) -> None:
    """Compute how reluctant joints (n,) are: speeds count this many times, effort its square.

    Parameters
    ----------
    anatomy : Anatomy
    q : (n,) array
    scale : (n,) array
        Overwritten.
    """
    for k in range(len(q)):
        scale[k] = 1.0
        if anatomy.stiffening > 0.0 and anatomy.high[k] < np.inf:
            middle, half = anatomy.low[k] + anatomy.high[k], anatomy.high[k] - anatomy.low[k]
            beyond = min(abs(2.0 * q[k] - middle) / half, 1.0) - anatomy.easy
            if beyond > 0.0:
                scale[k] += anatomy.stiffening * beyond * beyond


@compiled
def least_angle(anatomy: Anatomy, low: float, joint: int, q: Array) -> float:
    """Compute the lower limit of a joint, rad or m: that of its range, or the trunk in the arm's way."""
    other = anatomy.flexion[joint]
    if other < 0:
        return low
    forward = min(max(np.sin(q[other]) / anatomy.front, 0.0), 1.0)
    trunk = anatomy.before + (anatomy.beside - anatomy.before) * np.sqrt(1.0 - forward * forward)
    return max(low, trunk - anatomy.slack[joint])


@compiled
def follow_arms(anatomy: Anatomy, q: Array) -> None:
    """Put the clavicles of q (n,) where the upper arms put them, in place."""
    for g in range(len(anatomy.girdle)):
        up, forward, flexion, abduction = anatomy.girdle[g]
        q[up] = anatomy.elevation * (1.0 - np.cos(q[abduction]) * np.cos(q[flexion]))
        q[forward] = anatomy.protraction * np.cos(q[abduction]) * np.sin(q[flexion])


@compiled
def girdle_slopes(anatomy: Anatomy, g: int, q: Array, slopes: Array) -> None:
    """Compute the slopes (2, 2) of elevation and protraction by flexion and abduction, for shoulder g."""
    flexion, abduction = q[anatomy.girdle[g, 2]], q[anatomy.girdle[g, 3]]
    slopes[0, 0] = anatomy.elevation * np.cos(abduction) * np.sin(flexion)
    slopes[0, 1] = anatomy.elevation * np.sin(abduction) * np.cos(flexion)
    slopes[1, 0] = anatomy.protraction * np.cos(abduction) * np.cos(flexion)
    slopes[1, 1] = -anatomy.protraction * np.sin(abduction) * np.sin(flexion)
