"""Assignment of the joint columns of a file to the joints of a robot."""

import difflib
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from simbench.errors import MotionError
from simbench.robot.robot import Robot

_ENDINGS = ("_joint", "_dof", "_pos", "_position", "_rad", "_deg", "_q", "_angle")
_BEGINNINGS = ("joint_", "dof_", "q_", "pos_")


def match_joint_names(names: Sequence[str], robot: Robot, where: str) -> tuple[int, ...]:
    """Find the robot's joint of each named column of a file.

    Upper and lower case and endings such as `_joint` and `_dof` do not distinguish names.

    Parameters
    ----------
    names : sequence of str
        Names of the columns.
    robot : Robot
        The robot.
    where : str
        The file, for messages.

    Returns
    -------
    tuple of int
        Index of each column's joint in `robot.joint_names`.

    Raises
    ------
    MotionError
        A name is not that of a joint of the robot, or two columns are for the same joint.
    """
    exact = {name: index for index, name in enumerate(robot.joint_names)}
    simple: dict[str, int] = {}
    for name, index in exact.items():
        simple.setdefault(_simplify(name), index)
    found: list[int] = []
    for name in names:
        index = exact.get(name, simple.get(_simplify(name)))
        if index is None:
            close = difflib.get_close_matches(_simplify(name), list(simple), n=1, cutoff=0.0)
            nearest = f"; the nearest is {robot.joint_names[simple[close[0]]]}" if close else ""
            raise MotionError(f"{where}: {robot.name} has no joint {name!r}{nearest}")
        if index in found:
            first = names[found.index(index)]
            raise MotionError(
                f"{where}: columns {first!r} and {name!r} are both for joint {robot.joint_names[index]}; "
                "every joint must have one column"
            )
        found.append(index)
    return tuple(found)


def resting_posture(robot: Robot) -> NDArray[np.float64]:
    """Return the joint positions of a robot at rest: its standing posture, or zero within the limits.

    Parameters
    ----------
    robot : Robot
        Robot with n joints.

    Returns
    -------
    (n,) array
        Joint positions, rad or m.
    """
    if "standing" in robot.postures:
        return robot.postures["standing"].copy()
    lower, upper = joint_limits(robot)
    return np.clip(np.zeros(len(robot.joint_names)), lower, upper)


def joint_limits(robot: Robot) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return the limits of the joints' positions in the order of `robot.joint_names`.

    Parameters
    ----------
    robot : Robot
        Robot with n joints.

    Returns
    -------
    lower, upper : (n,) arrays
        Limits, rad or m.
    """
    model = robot.model
    return model.lowerPositionLimit[robot.root_q :].copy(), model.upperPositionLimit[robot.root_q :].copy()


def _simplify(name: str) -> str:
    """Reduce a name to what distinguishes joints: lower case, without endings such as `_joint`."""
    text = name.strip().lower().replace(" ", "_").replace("-", "_")
    shorter = True
    while shorter:
        shorter = False
        for ending in _ENDINGS:
            if text.endswith(ending) and len(text) > len(ending):
                text, shorter = text[: -len(ending)], True
        for beginning in _BEGINNINGS:
            if text.startswith(beginning) and len(text) > len(beginning):
                text, shorter = text[len(beginning) :], True
    return text
