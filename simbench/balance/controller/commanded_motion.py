"""From an embedding to velocities: what is planned, and what the measured COG and ZMP make of it."""

from simbench.balance.inverted_pendulum import CogZmpGains, commanded_velocity
from simbench.kinematics.arrays import Array
from simbench.kinematics.compiled import compiled


@compiled
def commanded_motion(
    response: Array,
    carried: Array,
    gains: CogZmpGains,
    planned_velocity: Array,
    planned_cog: Array,
    planned_zmp: Array,
    cog: Array,
    zmp: Array,
    rise: float,
    turn: Array,
    planned: Array,
    commanded: Array,
) -> None:
    """Find the velocity of the plan, and with what balance adds to it.

    Parameters
    ----------
    response, carried : (nv, 6), (nv,) array
        Of an `Embedding`.
    gains : CogZmpGains
    planned_velocity, planned_cog, planned_zmp, cog, zmp : (2,) array
        As in `commanded_velocity`.
    rise : float
        Vertical velocity of the COG, m/s.
    turn : (3,) array
        Angular velocity of the body, world axes, rad/s.
    planned, commanded : (nv,) array
        Overwritten, m/s and rad/s.
    """
    command = commanded_velocity(gains, planned_velocity, planned_cog, planned_zmp, cog, zmp)
    along, across = command[0] - planned_velocity[0], command[1] - planned_velocity[1]
    for row in range(len(carried)):
        to = response[row]
        planned[row] = carried[row] + (
            to[0] * planned_velocity[0]
            + to[1] * planned_velocity[1]
            + to[2] * rise
            + to[3] * turn[0]
            + to[4] * turn[1]
            + to[5] * turn[2]
        )
        commanded[row] = planned[row] + to[0] * along + to[1] * across
