"""How the reference moves in a tick: from where feet, body and COG are to go to all joints' velocities."""

import numpy as np
from numpy.typing import NDArray

from simbench.balance.controller.commanded_motion import commanded_motion
from simbench.balance.controller.embedded_motion import embedded_motion, singular_section
from simbench.balance.controller.sections import Layout
from simbench.balance.controller.ways import ways
from simbench.balance.inverted_pendulum import CogZmpGains
from simbench.kinematics.arrays import Array
from simbench.kinematics.compiled import compiled

Indices = NDArray[np.int64]


@compiled
def reference_motion(
    now: int,
    then: int,
    ease: float,
    rate: float,
    configuration: Array,
    before: Array,
    place: Array,
    yaw: Array,
    body: Array,
    planned: Array,
    commanded: Array,
    free: Indices,
    given: Indices,
    busy: Indices,
    start: Indices,
    ends: Indices,
    moves: NDArray[np.bool_],
    jacobian: Array,
    cog_jacobian: Array,
    cog: Array,
    body_turn: Array,
    left_turn: Array,
    left: Array,
    right_turn: Array,
    right: Array,
    joints: Array,
    height: Array,
    planned_cog: Array,
    planned_velocity: Array,
    planned_zmp: Array,
    measured_cog: Array,
    measured_zmp: Array,
    cog_gain: float,
    zmp_gain: float,
) -> bool:
    """Find the velocities that a tick needs, in one call: `ways`, `embedded_motion`, `commanded_motion`.

    Parameters
    ----------
    now, then : int
        Rows of the tick's start and end.
    ease, rate : float
        As in `ways`, the COG's height coming back like feet and body.
    configuration : (nq,) array
        The reference's.
    before, place, yaw, body
        As in `ways`.
    planned, commanded : (nv,) array
        Overwritten with the velocity of the plan and that which balance asks for.
    free, given, busy, start, ends, moves : array
        Of a `Layout`: one leg the base section, the other C-busy, all else J-busy.
    jacobian, cog_jacobian, cog : (6, nv), (3, nv), (3,) array
        Of the reference: Pinocchio's `data.J`, `data.Jcom`, `data.com[0]`.
    body_turn, left_turn, right_turn : (3, 3) array
        Of its root and soles.
    left, right : (3,) array
        Where its soles are, m.
    joints, height : (N, n), (N,) array
        Planned joint positions and height of the COG, rad and m.
    planned_cog, planned_velocity, planned_zmp, measured_cog, measured_zmp : (N, 2) array
        m and m/s.
    cog_gain, zmp_gain : float
        1/s.

    Returns
    -------
    bool
        False, with nothing overwritten, if a leg is singular.
    """
    ways_to_go, turn = np.zeros((2, 6)), np.zeros(3)
    ways(
        ease,
        rate,
        left_turn,
        left,
        right_turn,
        right,
        before,
        place,
        yaw,
        body_turn,
        body,
        ways_to_go,
        turn,
    )
    rise = ease * (height[then] - cog[2]) + (rate - ease) * (height[then] - height[now])
    layout = Layout(free, given, busy, start, ends, moves)
    points, known = np.empty((2, 3)), np.zeros(jacobian.shape[1])
    for row in range(2):
        for i in range(3):
            points[row, i] = left[i] if ends[row] == 0 else right[i]
    for column in given:
        known[column] = rate * (joints[then, column - 6] - configuration[column + 1])
    speeds, _, response, carried = embedded_motion(jacobian, cog_jacobian, points, layout, known, ways_to_go)
    if singular_section(speeds) >= 0:
        return False
    commanded_motion(
        response,
        carried,
        CogZmpGains(cog_gain, zmp_gain),
        planned_velocity[now],
        planned_cog[now],
        planned_zmp[now],
        measured_cog[now],
        measured_zmp[now],
        rise,
        turn,
        planned,
        commanded,
    )
    return True
