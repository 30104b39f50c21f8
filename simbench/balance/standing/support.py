"""Support polygon, signed margin, and the zero-moment point on a horizontal floor."""

import numpy as np
from numpy.typing import NDArray
from shapely import MultiPoint, Point, Polygon


def support_polygon(points: NDArray[np.float64]) -> NDArray[np.float64]:
    """Convex hull of contact points, counter-clockwise.

    Parameters
    ----------
    points : (N, 2) array
        m.

    Returns
    -------
    (M, 2) array
        M < 3 if the points lie on a line or there are fewer than three.
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


def support_margin(point: NDArray[np.float64], polygon: NDArray[np.float64]) -> float:
    """Distance of a point from the edge of a polygon, positive inside, negative outside.

    Parameters
    ----------
    point : (2,) array
        m.
    polygon : (M, 2) array
        Convex, m. With fewer than three corners nothing is inside.

    Returns
    -------
    float
        m; -inf without any corner.
    """
    if len(polygon) == 0:
        return float("-inf")
    where = Point(point)
    if len(polygon) < 3:
        return -float(where.distance(MultiPoint(polygon).convex_hull))
    area = Polygon(polygon)
    distance = float(where.distance(area.exterior))
    return distance if area.contains(where) else -distance


def zmp_from_wrench(force: NDArray[np.float64], moment: NDArray[np.float64]) -> NDArray[np.float64]:
    """Point of the floor z = 0 about which the ground reaction has no horizontal moment.

    p_x = −M_y / F_z, p_y = M_x / F_z, moment about the world origin.

    Parameters
    ----------
    force, moment : (..., 3) array
        Ground reaction, N and N·m about the world origin.

    Returns
    -------
    (..., 2) array
        m; NaN where the vertical force is not positive.
    """
    vertical = np.where(force[..., 2] > 0.0, force[..., 2], np.nan)
    return np.stack([-moment[..., 1] / vertical, moment[..., 0] / vertical], axis=-1)


def zmp_from_momentum(
    mass: float,
    gravity: float,
    cog: NDArray[np.float64],
    linear_rate: NDArray[np.float64],
    angular_rate: NDArray[np.float64],
    other_force: NDArray[np.float64],
    other_moment: NDArray[np.float64],
) -> NDArray[np.float64]:
    """ZMP from the motion of the robot, independent of any contact measurement.

    Newton and Euler about the world origin give the ground reaction
    F = Ṗ + m g e_z − F_other, M = L̇ + c × Ṗ + c × m g e_z − M_other.

    Parameters
    ----------
    mass : float
        kg.
    gravity : float
        m/s².
    cog : (..., 3) array
        m.
    linear_rate, angular_rate : (..., 3) array
        Rate of linear momentum (N) and of angular momentum about the COG (N·m).
    other_force, other_moment : (..., 3) array
        External forces other than the ground's, N and N·m about the world origin.

    Returns
    -------
    (..., 2) array
        m.
    """
    carried = linear_rate + np.array([0.0, 0.0, mass * gravity])
    moment = angular_rate + np.cross(cog, carried) - other_moment
    return zmp_from_wrench(carried - other_force, moment)
