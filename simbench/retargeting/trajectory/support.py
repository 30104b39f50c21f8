"""The desired ZMP of a robot trajectory: the one its motion requires, as far as planned feet can carry it."""

import numpy as np
import pinocchio as pin
import shapely
from scipy.ndimage import binary_erosion, gaussian_filter1d

from simbench.kinematics.arrays import Array
from simbench.kinematics.foot_contact import contact_intervals
from simbench.retargeting.trajectory.curves import Flags
from simbench.retargeting.trajectory.footholds import FootPlan
from simbench.robot.robot import Robot
from simbench.robot.sides import SIDES

_SOLE_PART = 0.25
"""Part of a sole's length and width that the planned ZMP may use. The balance controller needs the rest: with
half of it the measured ZMP of G1 was on the edges of its narrow soles for 7 % of the time, now never."""
_TRANSFER_MARGIN = 0.04
"""Time before a foot leaves the floor, and after it lands, in which it is planned to carry nothing, s."""
_SMOOTHING = 0.013
"""Standard deviation of the Gaussian that rounds the corners of the desired ZMP, s: a third of that time."""


def support_zmp(robot: Robot, wanted: Array, feet: FootPlan, timestep: float) -> Array:
    """Bring the ZMP that a motion requires into the support polygon of planned feet.

    Parameters
    ----------
    robot : Robot
        Robot with two soles.
    wanted : (N, 2) array
        ZMP that the motion requires, m.
    feet : FootPlan
        Planned feet, N samples.
    timestep : float
        Time between samples, s.

    Returns
    -------
    (N, 2) array
        Desired ZMP: the nearest point of the convex hull of the middle parts of the soles in contact, with
        rounded corners. While no foot is in contact it goes straight from where one left the floor to where
        one lands.
    """
    loaded = _loaded_feet(feet.contact, round(_TRANSFER_MARGIN / timestep))
    zmp = _nearest_on(robot, wanted, feet, loaded)
    zmp = gaussian_filter1d(zmp, _SMOOTHING / timestep, axis=0, mode="nearest")
    return _nearest_on(robot, zmp, feet, feet.contact)


def nearest_supported(robot: Robot, points: Array, feet: FootPlan) -> Array:
    """Bring points to the middle parts of the soles that stand, and between them.

    Parameters
    ----------
    robot : Robot
        Robot with two soles.
    points : (N, 2) array
        Points on the floor, m.
    feet : FootPlan
        Planned feet, N samples.

    Returns
    -------
    (N, 2) array
        Nearest point of the convex hull of the middle parts of the soles in contact, m.
    """
    return _nearest_on(robot, points, feet, feet.contact)


def _loaded_feet(contact: Flags, margin: int) -> Flags:
    """Which feet carry something: not just after landing or before lifting, if the other one can, (N, 2)."""
    if margin < 1:
        return contact
    window = np.ones((2 * margin + 1, 1), bool)
    eroded = binary_erosion(contact, window, border_value=True)
    keep = ~eroded.any(axis=1)
    return np.where(keep[:, None], contact, eroded)


def _nearest_on(robot: Robot, points: Array, feet: FootPlan, loaded: Flags) -> Array:
    """Nearest points (N, 2) to given ones that the loaded feet support."""
    result = points.copy()
    changes = np.flatnonzero((np.diff(loaded, axis=0) | np.diff(feet.contact, axis=0)).any(axis=1)) + 1
    for rows in np.split(np.arange(len(points)), changes):
        standing = np.flatnonzero(loaded[rows[0]]).tolist()
        if standing:
            corners = np.vstack([_middle_part(robot, feet, foot, int(rows[0])) for foot in standing])
            result[rows] = _nearest_inside(corners, points[rows])
    flight: Flags = np.logical_not(loaded.any(axis=1))
    for first, last in contact_intervals(flight):
        ends = [max(first - 1, 0), min(last + 1, len(points) - 1)]
        for axis in (0, 1):
            result[first : last + 1, axis] = np.interp(np.arange(first, last + 1), ends, result[ends, axis])
    return result


def _middle_part(robot: Robot, feet: FootPlan, foot: int, row: int) -> Array:
    """Corners (P, 2) of the part of a sole that the ZMP may use, m."""
    corners = robot.soles[f"{SIDES[foot]}_foot"][:, :2]
    middle = 0.5 * (corners.min(axis=0) + corners.max(axis=0))
    used = middle + _SOLE_PART * (corners - middle)
    rotation = pin.utils.rotate("z", float(feet.yaw[row, foot]))[:2, :2]
    return np.asarray(used @ rotation.T + feet.position[row, foot, :2])


def _nearest_inside(corners: Array, points: Array) -> Array:
    """Nearest points (N, 2) of the convex hull of corners, m."""
    hull = shapely.MultiPoint(corners).convex_hull
    there = np.asarray(shapely.points(points))
    outside = ~shapely.covers(hull, there)
    result = points.copy()
    if outside.any():
        edge = shapely.LineString(shapely.get_coordinates(hull))
        nearest = shapely.line_interpolate_point(edge, shapely.line_locate_point(edge, there[outside]))
        result[outside] = shapely.get_coordinates(nearest)
    return result
