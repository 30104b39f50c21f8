"""Motions of a robot that stands on both feet and swings its arms: possible, and made without retargeting."""

from functools import lru_cache

import numpy as np

from simbench.balance.leg_ik import solve_com_ik, stand
from simbench.motion.trajectory import JointTrajectory
from simbench.robot.robot import load_robot

SWINGING = {
    "romeo": ("RShoulderPitch", "RElbowRoll"),
    "g1": ("right_shoulder_pitch_joint", "right_elbow_joint"),
}


@lru_cache
def standing_motion(robot_name, rate, duration=5.0):
    """A robot that swings its right arm, with the COG over the middle of its soles."""
    robot = load_robot(robot_name)
    stance = stand(robot, (0.0, 0.0), 0.3, "standing")
    time = np.arange(0.0, duration, 1.0 / rate)
    joints = np.tile(robot.postures["standing"], (len(time), 1))
    phase = 2.0 * np.pi * time / duration
    for name in SWINGING[robot_name]:
        joints[:, robot.joint_names.index(name)] += 0.1 * (1.0 - np.cos(2.0 * phase))
    # Away from the thighs, and from the zeros of the fingers.
    base, joints = solve_com_ik(robot, stance, joints)
    return robot, JointTrajectory(time, joints, robot.joint_names, base)
