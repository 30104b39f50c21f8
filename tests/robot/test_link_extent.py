"""Points on the surface of a turned shape, against its corners in closed form."""

from itertools import product
from pathlib import Path

import numpy as np
from scipy.spatial.transform import Rotation

from simbench.robot.urdf.elements import UrdfShape
from simbench.robot.urdf.mesh_files import shape_points


def test_a_turned_box_reaches_as_far_as_its_corners():
    """URDF's roll, pitch and yaw turn about fixed axes, one after the other."""
    size, xyz, rpy = (0.2, 0.1, 0.04), (0.3, -0.1, 0.5), (0.4, -0.7, 1.1)
    shape = UrdfShape("collision", "box", size, None, (1.0, 1.0, 1.0), xyz, rpy)
    corners = 0.5 * np.array(list(product((-1, 1), repeat=3))) * size
    placed = Rotation.from_euler("xyz", rpy).apply(corners) + xyz
    points = shape_points(shape, Path())
    np.testing.assert_allclose(points.min(axis=0), placed.min(axis=0), atol=1e-12)
    np.testing.assert_allclose(points.max(axis=0), placed.max(axis=0), atol=1e-12)
