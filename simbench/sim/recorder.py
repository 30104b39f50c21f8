"""Samples of a run: preallocated, filled by the loop; what follows from them is computed afterwards."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pinocchio as pin
from numpy.typing import NDArray

from simbench.robot.robot import Robot
from simbench.sim.sensing import POINTS_PER_FOOT, ContactEvent


@dataclass(frozen=True)
class FixtureRecord:
    """Preallocated samples of one fixture.

    Parameters
    ----------
    position, velocity : (S, J) array
        Of its joints, m or rad, m/s or rad/s.
    stand : (S, 7) array
        Pose of its frame in the world.
    contact_wrench : (S, 6) array
        Of the robot's contacts with it, as they act on it: force (N), moment about the world's origin (N·m).
    """

    position: NDArray[np.float64]
    velocity: NDArray[np.float64]
    stand: NDArray[np.float64]
    contact_wrench: NDArray[np.float64]


class Recorder:
    """Preallocated samples of a run; `count` of them are filled.

    Parameters
    ----------
    samples : int
    robot : Robot
    joints_of_fixtures : sequence of int
        How many each fixture has.
    """

    def __init__(self, samples: int, robot: Robot, joints_of_fixtures: Sequence[int]) -> None:
        joints, feet, hands = len(robot.joint_names), len(robot.feet), len(robot.hands)
        self.count = 0
        self.time = np.zeros(samples)
        self.joint_position = np.zeros((samples, joints))
        self.joint_velocity = np.zeros((samples, joints))
        self.joint_reference = np.zeros((samples, joints))
        self.torque_requested = np.zeros((samples, joints))
        self.torque_motor = np.zeros((samples, joints))
        self.torque_joint = np.zeros((samples, joints))
        self.torque_friction = np.zeros((samples, joints))
        self.base_pose = np.zeros((samples, 7))
        self.base_velocity = np.zeros((samples, 6))
        self.cog = np.zeros((samples, 3))
        self.cog_velocity = np.zeros((samples, 3))
        self.angular_momentum = np.zeros((samples, 3))
        self.foot_wrench = np.zeros((samples, feet, 6))
        self.foot_points = np.full((samples, feet, POINTS_PER_FOOT, 2), np.nan)
        self.contact_wrench = np.zeros((samples, 6))
        self.push_wrench = np.zeros((samples, 6))
        self.palm_position = np.zeros((samples, hands, 3))
        self.grip_wrench = np.zeros((samples, hands, 6))
        self.grip_point = np.zeros((samples, hands, 3))
        self.grip_engaged = np.zeros((samples, hands), dtype=bool)
        self.fixtures = [
            FixtureRecord(
                np.zeros((samples, count)),
                np.zeros((samples, count)),
                np.zeros((samples, 7)),
                np.zeros((samples, 6)),
            )
            for count in joints_of_fixtures
        ]
        self.highest_position = np.full(joints, -np.inf)
        self.lowest_position = np.full(joints, np.inf)
        self.highest_speed = np.zeros(joints)
        self.saturated_steps = 0
        self.grips_lost = 0
        self.events: list[ContactEvent] = []
        self.wall_time = 0.0
        self.step_time = 0.0
        self.balance_time: list[float] = []
        self.steps = 0

    def take_extremes(self, q: NDArray[np.float64], v: NDArray[np.float64]) -> None:
        """Widen the extremes by the joint positions and velocities of states, (K, n)."""
        if len(q):
            speed = np.abs(v)
            np.maximum(self.highest_position, np.maximum.reduce(q), out=self.highest_position)
            np.minimum(self.lowest_position, np.minimum.reduce(q), out=self.lowest_position)
            np.maximum(self.highest_speed, np.maximum.reduce(speed), out=self.highest_speed)


def derive_motion(recorder: Recorder, robot: Robot) -> None:
    """Fill in what follows from the states: COG and its velocity, angular momentum about it, palms.

    Parameters
    ----------
    recorder : Recorder
        Its `count` samples of base and joints are used.
    robot : Robot
        Placed.
    """
    model, data = robot.model, robot.model.createData()
    palms = [model.getFrameId(robot.frames[role]) for role in robot.hands]
    roots = recorder.base_pose[:, : robot.root_q], recorder.base_velocity[:, : robot.root_v]
    positions = np.concatenate([roots[0], recorder.joint_position], axis=1)
    velocities = np.concatenate([roots[1], recorder.joint_velocity], axis=1)
    for row in range(recorder.count):
        momentum = pin.computeCentroidalMomentum(model, data, positions[row], velocities[row])
        recorder.cog[row], recorder.cog_velocity[row] = data.com[0], data.vcom[0]
        recorder.angular_momentum[row] = momentum.angular
        for column, frame in enumerate(palms):
            recorder.palm_position[row, column] = pin.updateFramePlacement(model, data, frame).translation
