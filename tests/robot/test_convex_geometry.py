"""Collision meshes in planning: convex hulls, as in the simulation."""

import numpy as np
import pinocchio as pin
import pytest

from simbench.robot.collision_geometry import build_convex_geometry

DEPTH = 0.08


@pytest.fixture(scope="module")
def cup(tmp_path_factory):
    """A box of 0.2 m with a pit, 0.08 m deep, in its top, and a ball of 1 cm beside it."""
    outer = np.array([[x, y, z] for z in (-0.1, 0.1) for y in (-0.1, 0.1) for x in (-0.1, 0.1)])
    bottom = [0.0, 0.0, 0.1 - DEPTH]
    faces = ["1 3 4", "1 4 2", "1 2 6", "1 6 5", "3 7 8", "3 8 4", "1 5 7", "1 7 3", "2 4 8", "2 8 6"]
    faces += ["5 6 9", "6 8 9", "8 7 9", "7 5 9"]
    lines = [f"v {x} {y} {z}" for x, y, z in [*outer, bottom]] + [f"f {face}" for face in faces]
    mesh = tmp_path_factory.mktemp("cup") / "cup.obj"
    mesh.write_text("\n".join(lines))
    inertial = (
        '<inertial><mass value="1"/><inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/></inertial>'
    )
    return f"""<robot name="cup">
      <link name="cup">{inertial}
        <collision><geometry><mesh filename="{mesh}"/></geometry></collision></link>
      <link name="ball">{inertial}
        <collision><geometry><sphere radius="0.01"/></geometry></collision></link>
      <joint name="slide" type="prismatic"><parent link="cup"/><child link="ball"/><axis xyz="0 0 1"/>
        <limit lower="-1" upper="1" effort="1" velocity="1"/></joint></robot>"""


@pytest.mark.parametrize("height", [0.13, 0.3])
def test_a_hollow_is_closed_by_the_hull(cup, height):
    model = pin.buildModelFromXML(cup)
    geometry = build_convex_geometry(model, cup)
    corners = next(np.array(o.geometry.points()) for o in geometry.geometryObjects if "cup" in o.name)
    # The bottom of the pit is no corner: Coal would look for the farthest point along the edges to it.
    assert sorted(map(tuple, np.abs(corners).round(6))) == [(0.1, 0.1, 0.1)] * 8
    geometry.addAllCollisionPairs()
    placed = geometry.createData()
    pin.computeDistances(model, model.createData(), geometry, placed, np.array([height]))
    [result] = placed.distanceResults
    assert result.min_distance == pytest.approx(height - 0.1 - 0.01, abs=1e-6)
