"""The COG of a gait, corrected for what a linear inverted pendulum leaves out: legs swing, arms move."""

from dataclasses import replace

import numpy as np

from simbench.balance.gait.gait import Gait
from simbench.balance.standing.standing_profile import lipm_com_offset, planned_zmp
from simbench.kinematics.arrays import Array
from simbench.robot.robot import Robot


def correct_cog(robot: Robot, gait: Gait, path: Array, height: float) -> Gait:
    """Change the COG of a gait so that the ZMP of all its bodies comes to where it is desired.

    A gait's COG is planned for a point mass at one height. The bodies of the robot need another ZMP: legs
    that swing have angular momentum. With p the desired ZMP and p_b that of the bodies, the COG is shifted by
    the bounded solution of d − d̈/ω² = p − p_b (`lipm_com_offset`), as in the dynamics filter of Kajita et
    al., ICRA 2003. `robot`: robot with two legs; `gait`: planned gait, N samples; `path` (N, nq):
    configurations of the robot in that gait: pose of the root link in the world frame (m and quaternion x, y,
    z, w), then joint positions, rad; `height`: height of the COG above the floor, m. Returns the same with
    another motion of the COG.
    """
    time: Array = gait.timestep * np.arange(len(path), dtype=np.float64)
    bodies = planned_zmp(robot, time, path[:, :7], path[:, 7:])[0]
    shift = lipm_com_offset(time, gait.zmp - bodies, height)
    velocity = np.gradient(shift, gait.timestep, axis=0)
    return replace(
        gait,
        cog=gait.cog + shift,
        cog_velocity=gait.cog_velocity + velocity,
        cog_acceleration=gait.cog_acceleration + np.gradient(velocity, gait.timestep, axis=0),
    )
