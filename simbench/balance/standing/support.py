"""Support polygon, signed margin, and the zero-moment point on a horizontal floor."""

import numpy as np
from shapely import MultiPoint, Point, Polygon

from simbench.kinematics.arrays import Array


def support_polygon(points: Array) -> Array:
    """Find the support polygon: the convex hull of contact points, counter-clockwise.

    Parameters
    ----------
    points : (N, 2) array
        Contact points on the floor, m.

    Returns
    -------
    (M, 2) array
        Corners, m; M < 3 if the points lie on a line or there are fewer than three.
    """
    if len(points) == 0:
        return np.empty((0, 2))
    hull = MultiPoint(points).convex_hull
    if isinstance(hull, Polygon):
        return (
            np.array(hull.exterior.coords)[:0:-1]
            if not hull.exterior.is_ccw
            else np.array(hull.exterior.coords)[:-1]
        )
    return np.array(hull.coords)


def support_margin(point: Array, polygon: Array) -> float:
    """Find the distance of a point from the edge of a polygon, positive inside, negative outside.

    Parameters
    ----------
    point : (2,) array
        Point on the floor, m.
    polygon : (M, 2) array
        Corners of a convex polygon, m. With fewer than three corners nothing is inside.

    Returns
    -------
    float
        Signed distance, m; -inf without any corner.
    """
    if len(polygon) == 0:
        return float("-inf")
    where = Point(point)
    if len(polygon) < 3:
        return -float(where.distance(MultiPoint(polygon).convex_hull))
    area = Polygon(polygon)
    distance = float(where.distance(area.exterior))
    return distance if area.contains(where) else -distance


def zmp_from_wrench(force: Array, moment: Array) -> Array:
    """Compute the ZMP: the point of the floor z = 0 about which the ground reaction has no horizontal moment.

    p_x = −M_y / F_z, p_y = M_x / F_z, moment about the world origin.

    Parameters
    ----------
    force : (..., 3) array
        Force of the ground on the robot, world axes, N.
    moment : (..., 3) array
        Its moment about the world origin, N·m.

    Returns
    -------
    (..., 2) array
        ZMP in the world frame, m; NaN where the vertical force is not positive.
    """
    vertical = np.where(force[..., 2] > 0.0, force[..., 2], np.nan)
    return np.stack([-moment[..., 1] / vertical, moment[..., 0] / vertical], axis=-1)


def zmp_from_momentum(
    mass: float,
    gravity: float,
    cog: Array,
    linear_rate: Array,
    angular_rate: Array,
    other_force: Array,
    other_moment: Array,
) -> Array:
    """Compute the ZMP from the motion of the robot, independent of any contact measurement.

    Newton and Euler about the world origin give the ground reaction
    F = Ṗ + m g e_z − F_other, M = L̇ + c × Ṗ + c × m g e_z − M_other.

    Parameters
    ----------
    mass : float
        Mass of the robot, kg.
    gravity : float
        Gravitational acceleration, m/s².
    cog : (..., 3) array
        Position of the COG in the world frame, m.
    linear_rate : (..., 3) array
        Rate of the linear momentum, world axes, N.
    angular_rate : (..., 3) array
        Rate of the angular momentum about the COG, world axes, N·m.
    other_force : (..., 3) array
        External forces other than the ground's, world axes, N.
    other_moment : (..., 3) array
        Their moment about the world origin, N·m.

    Returns
    -------
    (..., 2) array
        ZMP in the world frame, m.
    """
    carried = linear_rate + np.array([0.0, 0.0, mass * gravity])
    moment = angular_rate + np.cross(cog, carried) - other_moment
    return zmp_from_wrench(carried - other_force, moment)
