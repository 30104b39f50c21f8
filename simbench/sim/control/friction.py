"""Joint friction at one time step: Coulomb while a joint moves, anything up to break-away while it rests."""

import numpy as np
from numpy.typing import NDArray

from simbench.kinematics.compiled import compiled
from simbench.kinematics.least_squares import factorise, substitute

Vector = NDArray[np.float64]


_MOST_ATTEMPTS = 100
_REST = 1e-7
"""Speed below which a joint rests, rad/s: what rounding leaves of a joint that friction holds."""


@compiled
def friction_torque(
    acceleration: Vector,
    response: Vector,
    velocity: Vector,
    timestep: float,
    coulomb: Vector,
    breakaway: Vector,
) -> Vector:
    """Find the friction torques f with which the step ends consistently.

    With a the accelerations without friction and M⁻¹ the response to joint torques, the speeds at the end of
    the step are v⁺ = v + dt (a + M⁻¹ f). A joint that slides on has v⁺ of the sign of its friction's opposite
    and |f| its Coulomb friction; a joint that rests has v⁺ = 0 and |f| at most its break-away torque. Joints
    are coupled by M⁻¹, so their states are found together: guess, solve for those that rest, and move every
    joint that contradicts its state to the other one (block principal pivoting, Júdice & Pires 1994; later
    one at a time, Murty 1974). `acceleration` (k,): accelerations that the joints with friction would have
    without it, rad/s²; `response` (k, k): their block of the inverse of the mass matrix, rotors included,
    1/(kg·m²); `velocity` (k,): at the start of the step, rad/s; `coulomb`, `breakaway` (k,): N·m. Returns
    (k,): friction torques on the joints, N·m.
    """
    count = len(velocity)
    free, torque, direction = np.empty(count), np.empty(count), np.empty(count)
    for i in range(count):
        free[i] = velocity[i] + timestep * acceleration[i]
        direction[i] = 0.0 if abs(velocity[i]) <= _REST else np.sign(velocity[i])
    for attempt in range(_MOST_ATTEMPTS):
        for i in range(count):
            torque[i] = -direction[i] * coulomb[i]
        _hold(free, response, timestep, direction, torque)
        settled = True
        for i in range(count):
            after = free[i]
            for k in range(count):
                after += timestep * response[i, k] * torque[k]
            # A joint that slides on keeps its direction; one that rests needs no more than break-away.
            if direction[i] == 0.0 and abs(torque[i]) > breakaway[i]:
                direction[i] = -np.sign(torque[i])
            elif direction[i] * after < 0.0:
                direction[i] = 0.0
            else:
                continue
            settled = False
            if attempt >= count:
                # All at once may go in circles; the first alone cannot, if break-away is Coulomb friction.
                break
        if settled:
            return torque
    return np.minimum(np.maximum(torque, -breakaway), breakaway)


@compiled
def _hold(free: Vector, response: Vector, timestep: float, direction: Vector, torque: Vector) -> None:
    """Give the joints that rest, of direction 0, what stops them."""
    count, resting = 0, np.empty(len(free), dtype=np.int64)
    for i in range(len(free)):
        if direction[i] == 0.0:
            resting[count] = i
            count += 1
    if count == 0:
        return
    rows, left = np.empty((count, count)), np.empty(count)
    for i in range(count):
        left[i] = free[resting[i]] / timestep
        for k in range(len(free)):
            left[i] += response[resting[i], k] * torque[k]
        for k in range(i + 1):
            rows[i, k] = response[resting[i], resting[k]]
    factorise(rows, count)
    substitute(rows, left, count)
    for i in range(count):
        torque[resting[i]] = -left[i]
