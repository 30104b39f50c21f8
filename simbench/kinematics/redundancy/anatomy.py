"""How a person's joints differ from plain hinges: stiff tissue, the trunk in the arms' way, the clavicles."""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from simbench.kinematics.arrays import Array
from simbench.kinematics.compiled import compiled


class Anatomy(NamedTuple):
    """How the joints of a body limit and move each other; n coordinates, g shoulders."""

    free_fraction: float  # Middle fraction of a range in which a joint moves freely.
    # How much stiffer a joint is beyond it: s = 1 + stiffening (|2q − lower − upper| / (upper − lower) −
    # free_fraction)².
    stiffening: float
    # A joint that nears a limit slows down so that it would need this long for the rest of its range, s; 0 if
    # it does not slow down.
    stopping_time: float
    # `lower`, `upper` (n,): ranges of the joints for the stiffness, rad; infinite where a coordinate has
    # none.
    lower: Array
    upper: Array
    # (n,) int: for the abduction of a shoulder, whose adduction the trunk stops: index of the same shoulder's
    # flexion; −1 for all other coordinates.
    flexion: NDArray[np.int64]
    slack: Array  # (n,): how much farther than beside an average trunk the upper arm can be adducted, rad.
    # `least_beside`, `least_before`: least abduction of an arm beside the trunk and in front of it, rad.
    least_beside: float
    least_before: float
    sine_in_front: float  # Sine of the flexion from which the elbow is in front of the trunk.
    # (g, 4) int: for each shoulder the indices of the clavicle's elevation and protraction, which no law
    # resolves, and of the shoulder's flexion and abduction, which they follow.
    clavicles: NDArray[np.int64]
    # `elevation`, `protraction`: angles of the clavicle for an upper arm that points forward, rad.
    elevation: float
    protraction: float


def make_plain_anatomy(coordinates: int) -> Anatomy:
    """Describe joints that are plain hinges: those of a robot, or of the thesis's model of a person.

    `coordinates`: number n of coordinates. Returns nothing stiffens or slows down, and no clavicle follows an
    arm.
    """
    return Anatomy(
        free_fraction=1.0,
        stiffening=0.0,
        stopping_time=0.0,
        lower=np.full(coordinates, -np.inf),
        upper=np.full(coordinates, np.inf),
        flexion=np.full(coordinates, -1),
        slack=np.zeros(coordinates),
        least_beside=0.0,
        least_before=0.0,
        sine_in_front=1.0,
        clavicles=np.zeros((0, 4), dtype=np.int64),
        elevation=0.0,
        protraction=0.0,
    )


@compiled
def compute_joint_limit_stiffness(anatomy: Anatomy, q: Array, stiffness: Array) -> None:
    """Compute how stiff joints are near the ends of their ranges.

    The speed of a joint counts s times in every criterion of effort, its square s². Passive tissue stiffens
    there, so that a joint comes to its limit gently. `anatomy`: ranges and how much joints stiffen; `q` (n,):
    coordinates, rad or m; `stiffness` (n,): s, overwritten; 1 in the middle of a range.
    """
    for k in range(len(q)):
        stiffness[k] = 1.0
        if anatomy.stiffening > 0.0 and anatomy.upper[k] < np.inf:
            middle, half = anatomy.lower[k] + anatomy.upper[k], anatomy.upper[k] - anatomy.lower[k]
            beyond = min(abs(2.0 * q[k] - middle) / half, 1.0) - anatomy.free_fraction
            if beyond > 0.0:
                stiffness[k] += anatomy.stiffening * beyond * beyond


@compiled
def compute_lower_limit(anatomy: Anatomy, lower: float, joint: int, q: Array) -> float:
    """Compute the lower limit of a joint: the end of its range, or the trunk that stops the arm.

    `anatomy`: limits that the trunk sets to the arms; `lower`: lower end of the joint's range, rad or m;
    `joint`: index of the joint in q; `q` (n,): coordinates, rad or m. Returns lower limit at this posture,
    rad or m.
    """
    flexion = anatomy.flexion[joint]
    if flexion < 0:
        return lower
    forward = min(max(np.sin(q[flexion]) / anatomy.sine_in_front, 0.0), 1.0)
    trunk = anatomy.least_before + (anatomy.least_beside - anatomy.least_before) * np.sqrt(
        1.0 - forward * forward
    )
    return max(lower, trunk - anatomy.slack[joint])


@compiled
def compute_step_bounds(
    anatomy: Anatomy,
    limits: tuple[Array, Array],
    joints: NDArray[np.int64],
    q: Array,
    fraction: float,
    bounds: tuple[Array, Array],
) -> None:
    """Compute between which bounds joints may move in one step.

    `anatomy`: limits that the trunk sets to the arms. `limits` two (n,) arrays: lower and upper limits of the
    coordinates, rad or m. `joints` (r,) int: indices in q of the coordinates that move. `q` (n,): coordinates
    before the step, rad or m. `fraction`: fraction of the distance to a limit that a joint may go in one
    step. From 1 on, a joint that begins beyond a limit may stay there, but not go farther. `bounds` two (r,)
    arrays: least and greatest displacement of the joints, rad or m; overwritten.
    """
    for a in range(len(joints)):
        joint = joints[a]
        below = compute_lower_limit(anatomy, limits[0][joint], joint, q) - q[joint]
        above = limits[1][joint] - q[joint]
        if fraction >= 1.0:
            below, above = min(below, 0.0), max(above, 0.0)
        bounds[0][a], bounds[1][a] = fraction * below, fraction * above


@compiled
def update_clavicles(anatomy: Anatomy, q: Array) -> None:
    """Set the clavicles' angles to what follows from the upper arms' directions.

    `anatomy`: which coordinates are the clavicles', and how far they follow; `q` (n,): coordinates, rad or m;
    changed in place.
    """
    for g in range(len(anatomy.clavicles)):
        up, forward, flexion, abduction = anatomy.clavicles[g]
        q[up] = anatomy.elevation * (1.0 - np.cos(q[abduction]) * np.cos(q[flexion]))
        q[forward] = anatomy.protraction * np.cos(q[abduction]) * np.sin(q[flexion])


@compiled
def compute_clavicle_slopes(anatomy: Anatomy, shoulder: int, q: Array, slopes: Array) -> None:
    """Compute the derivatives of a clavicle's angles by the angles of its shoulder.

    `anatomy`: which coordinates are the clavicles', and how far they follow; `shoulder`: row of
    `Anatomy.clavicles`; `q` (n,): coordinates, rad or m; `slopes` (2, 2): derivatives of elevation and
    protraction (rows) by flexion and abduction (columns); overwritten.
    """
    flexion, abduction = q[anatomy.clavicles[shoulder, 2]], q[anatomy.clavicles[shoulder, 3]]
    slopes[0, 0] = anatomy.elevation * np.cos(abduction) * np.sin(flexion)
    slopes[0, 1] = anatomy.elevation * np.sin(abduction) * np.cos(flexion)
    slopes[1, 0] = anatomy.protraction * np.cos(abduction) * np.cos(flexion)
    slopes[1, 1] = -anatomy.protraction * np.sin(abduction) * np.sin(flexion)
