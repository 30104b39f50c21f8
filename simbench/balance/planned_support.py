"""Where a gait plans to stand, and how far inside its ZMP is."""

import numpy as np
import pinocchio as pin
from numpy.typing import NDArray

from simbench.balance.gait import Gait
from simbench.balance.standing import SIDES
from simbench.balance.support import support_margin, support_polygon
from simbench.robot.robot import Robot

Array = NDArray[np.float64]


def planned_polygon(gait: Gait, sample: int, robot: Robot) -> Array:
    """Find the support polygon of a sample from the soles that are planned to stand.

    Parameters
    ----------
    gait : Gait
    sample : int
    robot : Robot

    Returns
    -------
    (M, 2) array
        Counter-clockwise, m.
    """
    corners = []
    for foot in np.flatnonzero(gait.contact[sample]):
        turn = pin.utils.rotate("z", gait.foot_yaw[sample, foot])[:2, :2]
        sole = robot.soles[f"{SIDES[foot]}_foot"][:, :2]
        corners.append(gait.foot_position[sample, foot, :2] + sole @ turn.T)
    return support_polygon(np.vstack(corners))


def planned_margins(gait: Gait, robot: Robot) -> Array:
    """Find how far inside the planned support polygon the planned ZMP is.

    Parameters
    ----------
    gait : Gait
    robot : Robot

    Returns
    -------
    (N,) array
        m, negative outside.
    """
    # Feet on the ground stand still: the polygon changes with the contacts only.
    changes = 1 + np.flatnonzero((gait.contact[1:] != gait.contact[:-1]).any(axis=1))
    margins = np.empty(len(gait.zmp))
    for samples in np.split(np.arange(len(gait.zmp)), changes):
        polygon = planned_polygon(gait, samples[0], robot)
        points, which = np.unique(gait.zmp[samples].round(12), axis=0, return_inverse=True)
        margins[samples] = np.array([support_margin(point, polygon) for point in points])[which]
    return margins
