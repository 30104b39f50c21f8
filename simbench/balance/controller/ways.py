"""Ways that feet and body still have to go, and points as seen from a sole that stands flat."""

import numpy as np

from simbench.kinematics.arrays import Array
from simbench.kinematics.compiled import compiled
from simbench.kinematics.rotation import matrix_to_quaternion, quaternion_to_matrix


@compiled
def ways(
    ease: float,
    rate: float,
    left_turn: Array,
    left_place: Array,
    right_turn: Array,
    right_place: Array,
    before: Array,
    place: Array,
    yaw: Array,
    body_turn: Array,
    body: Array,
    ends: Array,
    turn: Array,
) -> None:
    """Find the velocities that take both soles and the body to where they are to be.

    Parameters
    ----------
    ease : float
        Rate at which what they are off their aims comes back, 1/s.
    rate : float
        1 / the time in which their aims move, 1/s.
    left_turn, left_place, right_turn, right_place : (3, 3), (3,) array
        Of the sole frames, world, m.
    before, place : (2, 3) array
        Where they were to lie, and where they are to lie in the end, left and right, m.
    yaw : (2,) array
        How they are to be turned, flat, rad.
    body_turn : (3, 3) array
        Of the body.
    body : (4,) array
        What it is to be, quaternion x, y, z, w.
    ends : (2, 6) array
        Overwritten: linear (m/s) and angular velocity (rad/s) of the soles, world axes.
    turn : (3,) array
        Overwritten: angular velocity of the body, world axes, rad/s.
    """
    wanted = np.zeros((3, 3))
    wanted[2, 2] = 1.0
    for foot in range(2):
        at = left_place if foot == 0 else right_place
        wanted[0, 0] = wanted[1, 1] = np.cos(yaw[foot])
        wanted[1, 0] = np.sin(yaw[foot])
        wanted[0, 1] = -wanted[1, 0]
        for i in range(3):
            way = place[foot, i] - before[foot, i]
            ends[foot, i] = ease * (place[foot, i] - at[i]) + (rate - ease) * way
        _turn(wanted, left_turn if foot == 0 else right_turn, ease, ends[foot, 3:])
    quaternion_to_matrix(body[0], body[1], body[2], body[3], wanted)
    _turn(wanted, body_turn, ease, turn)


@compiled
def seen_from_sole(
    turn: Array, place: Array, point: Array, flat_place: Array, flat_yaw: float
) -> tuple[float, float]:
    """Find where a point would be if a sole lay flat.

    Parameters
    ----------
    turn, place : (3, 3), (3,) array
        Of the sole frame, world, m.
    point : (3,) array
        World, m.
    flat_place : (3,) array
        Where the sole is taken to be, m.
    flat_yaw : float
        rad.

    Returns
    -------
    (float, float)
        x and y, m.
    """
    x = y = 0.0
    for i in range(3):
        away = point[i] - place[i]
        x += turn[i, 0] * away
        y += turn[i, 1] * away
    cosine, sine = np.cos(flat_yaw), np.sin(flat_yaw)
    return flat_place[0] + cosine * x - sine * y, flat_place[1] + sine * x + cosine * y


@compiled
def _turn(wanted: Array, now: Array, rate: float, velocity: Array) -> None:
    """Write the angular velocity, world axes, that takes one orientation to another."""
    missing = np.zeros((3, 3))
    for i in range(3):
        for j in range(3):
            for k in range(3):
                missing[i, j] += wanted[i, k] * now[j, k]
    x, y, z, w = matrix_to_quaternion(missing)
    size = np.sqrt(x * x + y * y + z * z)
    # Of the two quaternions of a turn the one that goes the short way; 2 is the limit of a small turn.
    angle = 2.0 * np.arctan2(size, abs(w)) / size if size > 0.0 else 2.0
    angle = -rate * angle if w < 0.0 else rate * angle
    velocity[0], velocity[1], velocity[2] = angle * x, angle * y, angle * z
