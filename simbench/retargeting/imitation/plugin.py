"""Retargeters of plug-ins (group `simbench.retargeters`): a person's motion as a robot's joint positions."""

from collections.abc import Sequence
from typing import Protocol

import numpy as np

from simbench.errors import PluginError
from simbench.kinematics.arrays import Array
from simbench.motion.human_motion import HumanMotion
from simbench.options import RetargetSection
from simbench.plugins.options import plugin_maker
from simbench.retargeting.imitation.imitation import METHODS
from simbench.robot.robot import Robot


class RetargeterPlugin(Protocol):
    """A plug-in of group `simbench.retargeters`: a section with keys that has this method."""

    def retarget(self, robot: Robot, motion: HumanMotion) -> Array:
        """Convert a recording.

        Parameters
        ----------
        robot : Robot
            The robot, n joints.
        motion : HumanMotion
            The recording, T samples, m, in the world: x forward, z up.

        Returns
        -------
        (T, n) array
            Positions of all joints at the samples, rad (m of a sliding joint), in the order of
            `robot.joint_names`. simbench takes those of trunk and arms, moves them inside the limits, and
            plans contact, collisions, balance and time as for its own methods.
        """


def scaled_model_method(settings: RetargetSection) -> str:
    """Choose the method by which the scaled model follows a recording.

    Parameters
    ----------
    settings : RetargetSection
        Method of the scenario.

    Returns
    -------
    str
        The same if it is one of the scaled model; else `analytical`: hands that hold something follow the
        scaled model's even where the arms are adapted, or come from a plug-in.
    """
    return settings.method if settings.method in METHODS else "analytical"


def plugged_posture(
    robot: Robot,
    motion: HumanMotion,
    settings: RetargetSection,
    joints: Sequence[str],
    limits: tuple[Array, Array],
) -> Array:
    """Let a plug-in convert a recording.

    Parameters
    ----------
    robot : Robot
        The robot.
    motion : HumanMotion
        The recording, T samples.
    settings : RetargetSection
        Plug-in and its options.
    joints : sequence of str
        The m joints of trunk and arms that are wanted.
    limits : (lower, upper)
        Limits (m,) of their positions, rad.

    Returns
    -------
    (T, m) array
        Positions, rad, inside the limits.

    Raises
    ------
    PluginError
        If the plug-in fails, or returns no finite position for each joint and sample.
    """
    make = plugin_maker("retargeters", settings.method, settings.options)
    positions = np.asarray(make(robot, motion))
    allowed = (len(motion.time), len(robot.joint_names))
    if positions.shape != allowed:
        raise PluginError(
            f"{settings.method}: joint positions of shape {positions.shape}; "
            f"allowed: {allowed}, samples and joints"
        )
    finite = np.isfinite(positions)
    if not finite.all():
        sample, column = np.argwhere(~finite)[0]
        raise PluginError(
            f"{settings.method}: position of {robot.joint_names[column]} is no finite number "
            f"at {motion.time[sample]:.4g} s"
        )
    columns = [robot.joint_names.index(name) for name in joints]
    return np.clip(positions[:, columns], *limits)
