"""Joint friction at one time step: Coulomb while a joint moves, anything up to break-away while it rests."""

import numpy as np
from numpy.typing import NDArray

Vector = NDArray[np.float64]


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
    one at a time, Murty 1974).

    Parameters
    ----------
    acceleration : (k,) array
        Of the joints that have friction, without it, rad/s².
    response : (k, k) array
        Their block of the inverse of the mass matrix, rotors included, 1/(kg·m²).
    velocity : (k,) array
        At the start of the step, rad/s.
    timestep : float
        s.
    coulomb, breakaway : (k,) array
        N·m.

    Returns
    -------
    (k,) array
        Friction torques on the joints, N·m.
    """
    free = velocity + timestep * acceleration
    direction = np.sign(velocity)
    direction[np.abs(velocity) <= _REST] = 0.0
    for attempt in range(_MOST_ATTEMPTS):
        torque = -direction * coulomb
        resting = np.flatnonzero(direction == 0.0)
        if len(resting):
            rows = response[resting]
            left = free[resting] / timestep + rows @ torque
            torque[resting] = -np.linalg.solve(rows[:, resting], left)
        after = free + timestep * (response @ torque)
        # A joint that slides on keeps its direction; one that rests needs no more than break-away.
        wrong = np.where(direction == 0.0, np.abs(torque) > breakaway, direction * after < 0.0)
        if not wrong.any():
            return torque
        if attempt >= len(free):
            # All at once may go in circles; the first alone cannot, if break-away is Coulomb friction.
            wrong[np.argmax(wrong) + 1 :] = False
        direction[wrong] = np.where(direction == 0.0, -np.sign(torque), 0.0)[wrong]
    return np.clip(torque, -breakaway, breakaway)


_MOST_ATTEMPTS = 100
_REST = 1e-7
"""Speed below which a joint rests, rad/s: what rounding leaves of a joint that friction holds."""
