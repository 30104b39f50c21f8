"""A retargeter: each upper arm points where the person's does, by one joint; all else stays at rest."""

import numpy as np

from simbench.motion.human_motion import HumanMotion
from simbench.options import Name, ScenarioSection
from simbench.robot.robot import Robot


class ShouldersOnly(ScenarioSection):
    """Keys: which joint of the robot raises each arm, positive downwards, 0 horizontally forward."""

    left: Name = "LShoulderPitch"
    """Joint of the left arm."""
    right: Name = "RShoulderPitch"
    """Joint of the right arm."""

    def retarget(self, robot: Robot, motion: HumanMotion) -> np.ndarray:
        """Compute positions (T, n) of all joints, rad."""
        positions = np.tile(robot.postures["standing"], (len(motion.time), 1))
        for side, joint in (("left", self.left), ("right", self.right)):
            arm = motion.joints[f"{side}_elbow"] - motion.joints[f"{side}_shoulder"]
            positions[:, robot.joint_names.index(joint)] = np.arctan2(-arm[:, 2], arm[:, 0])
        return positions
