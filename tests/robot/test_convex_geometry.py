"""Collision meshes in planning: convex hulls, as in the simulation."""

import numpy as np
import pinocchio as pin
import pytest
import trimesh

from simbench.robot.collision_geometry import build_convex_geometry
from simbench.robot.urdf.source import read_urdf

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


@pytest.mark.parametrize("shape", ["plate", "disc"])
def test_meshes_that_are_flat_or_very_round_have_hulls(tmp_path, shape):
    """A hull of no volume, and a corner with more neighbours than Coal counts."""
    turn = 2.0 * np.pi * np.arange(600) / 600
    rim = np.column_stack([np.cos(turn), np.sin(turn), np.zeros(600)])
    tip = np.array([[0.0, 0.0, 0.0 if shape == "plate" else 0.5]])
    faces = [[600, k, (k + 1) % 600] for k in range(600)]
    trimesh.Trimesh(np.vstack([rim, tip]), faces, process=False).export(tmp_path / "mesh.stl")
    text = (
        '<robot name="r"><link name="base"><inertial><mass value="1"/><inertia ixx="1" iyy="1" izz="1"/>'
        '</inertial><collision><geometry><mesh filename="mesh.stl"/></geometry></collision></link></robot>'
    )
    path = tmp_path / "robot.urdf"
    path.write_text(text)
    made, _ = read_urdf(path, floating=False)
    (found,) = build_convex_geometry(pin.buildModelFromXML(made), made).geometryObjects
    points = np.array(found.geometry.points())
    np.testing.assert_allclose(points.min(axis=0)[:2], -1.0, atol=0.031)
    np.testing.assert_allclose(points.max(axis=0), [1.0, 1.0, 5e-4 if shape == "plate" else 0.5], atol=0.031)
