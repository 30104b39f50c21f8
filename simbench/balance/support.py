"""Support polygon, signed margin, and the zero-moment point on a horizontal floor."""

import numpy as np
import shapely
from numpy.typing import NDArray

from simbench.kinematics.arrays import Array


def support_polygons(points: Array) -> Array:
    """Find the support polygons of samples: the convex hulls of contact points, counter-clockwise.

    `points` (T, N, 2): contact points on the floor, m; NaN where a sample has fewer. Returns (T, N, 2):
    corners, m, and NaN after the last; fewer than three if the points lie on a line.
    """
    hulls = _convex_hulls(points)
    # Polygons, rather than lines, points or none.
    areas = shapely.get_type_id(hulls) == shapely.GeometryType.POLYGON
    clockwise = areas & ~shapely.is_ccw(shapely.get_exterior_ring(hulls))
    hulls[clockwise] = shapely.reverse(hulls[clockwise])
    corners, samples = shapely.get_coordinates(hulls, return_index=True)
    first = np.searchsorted(samples, samples)
    columns = np.arange(len(samples)) - first
    # A ring ends where it begins.
    count = np.bincount(samples, minlength=len(points)) - areas
    kept = columns < count[samples]
    polygons = np.full_like(points, np.nan)
    polygons[samples[kept], columns[kept]] = corners[kept]
    return polygons


def support_margins(points: Array, polygons: Array) -> Array:
    """Find the distances of points from the edges of polygons, positive inside, negative outside.

    `points` (T, 2): points on the floor, m; NaN for none. `polygons` (T, M, 2): corners of convex polygons,
    m, and NaN after the last. Nothing is inside fewer than three. Returns (T,): signed distances, m; -inf
    without any corner or without a point.
    """
    hulls = _convex_hulls(polygons)
    where = np.full(len(points), None)
    given = ~np.isnan(points[:, 0])
    where[given] = shapely.points(points[given])
    areas = shapely.get_type_id(hulls) == shapely.GeometryType.POLYGON
    edges = np.where(areas, shapely.get_exterior_ring(hulls), hulls)
    distances = shapely.distance(where, edges)
    margins = np.where(areas & shapely.contains(hulls, where), distances, -distances)
    return np.where(np.isnan(margins), -np.inf, margins)


def _convex_hulls(points: Array) -> NDArray[np.object_]:
    """Make the convex hull of each sample's points (T, N, 2), NaN where there are fewer; None without any."""
    present = ~np.isnan(points[..., 0])
    found = present.any(axis=1)
    hulls = np.full(len(points), None)
    if found.any():
        first = points[np.arange(len(points)), present.argmax(axis=1)]
        # A line through the points: one geometry a sample, where a multipoint has one for each of its points.
        # At least two points make a line.
        lines = np.where(present[..., None], points, first[:, None])[found]
        hulls[found] = shapely.convex_hull(shapely.linestrings(np.concatenate([lines, lines[:, :1]], axis=1)))
    return hulls


def support_polygon(points: Array) -> Array:
    """Find the support polygon: the convex hull of contact points, counter-clockwise.

    `points` (N, 2): contact points on the floor, m. Returns (M, 2): corners, m; M < 3 if the points lie on a
    line or there are fewer than three.
    """
    [polygon] = support_polygons(np.asarray(points)[None])
    return np.asarray(polygon[~np.isnan(polygon[:, 0])])


def support_margin(point: Array, polygon: Array) -> float:
    """Find the distance of a point from the edge of a polygon, positive inside, negative outside.

    `point` (2,): point on the floor, m. `polygon` (M, 2): corners of a convex polygon, m. With fewer than
    three corners nothing is inside. Returns signed distance, m; -inf without any corner.
    """
    return float(support_margins(np.asarray(point)[None], np.asarray(polygon)[None])[0])


def zmp_from_wrench(force: Array, moment: Array) -> Array:
    """Compute the ZMP: the point of the floor z = 0 about which the ground reaction has no horizontal moment.

    p_x = −M_y / F_z, p_y = M_x / F_z, moment about the world origin. `force` (..., 3): force of the ground on
    the robot, world axes, N; `moment` (..., 3): its moment about the world origin, N·m. Returns (..., 2): ZMP
    in the world frame, m; NaN where the vertical force is not positive.
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

    Newton and Euler about the world origin give the ground reaction F = Ṗ + m g e_z − F_other, M = L̇ + c × Ṗ
    + c × m g e_z − M_other. `mass`: mass of the robot, kg; `gravity`: gravitational acceleration, m/s²; `cog`
    (..., 3): position of the COG in the world frame, m; `linear_rate` (..., 3): rate of the linear momentum,
    world axes, N; `angular_rate` (..., 3): rate of the angular momentum about the COG, world axes, N·m;
    `other_force` (..., 3): external forces other than the ground's, world axes, N; `other_moment` (..., 3):
    their moment about the world origin, N·m. Returns (..., 2): ZMP in the world frame, m.
    """
    carried = linear_rate + np.array([0.0, 0.0, mass * gravity])
    moment = angular_rate + np.cross(cog, carried) - other_moment
    return zmp_from_wrench(carried - other_force, moment)
