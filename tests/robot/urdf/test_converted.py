"""Meshes in forms that Bullet does not read become STL files with the same surface."""

import numpy as np
import pybullet
import pytest
import trimesh

from simbench.robot.urdf.collada import load_collada_triangles
from simbench.robot.urdf.mesh_files import check_mesh, convert_mesh, load_triangles, mesh_points
from simbench.robot.urdf.source import read_urdf

QUADS = "0 1 3 2 4 6 7 5 0 4 5 1 2 3 7 6 0 2 6 4 1 5 7 3"
"""Faces of a box whose corner 4 i + 2 j + k is at (i, j, k)."""
CORNERS = np.array([[i, j, k] for i in (0, 1) for j in (0, 1) for k in (0, 1)]) * [0.1, 0.2, 0.3]


@pytest.fixture(autouse=True)
def own_cache(tmp_path_factory, monkeypatch):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path_factory.mktemp("cache")))


def collada(primitive, node="", up="Z_UP"):
    numbers = " ".join(f"{each:g}" for each in CORNERS.ravel())
    return (
        '<COLLADA xmlns="http://www.collada.org/2005/11/COLLADASchema" version="1.4.1">'
        f"<asset><up_axis>{up}</up_axis></asset><library_geometries><geometry id='g'><mesh>"
        f"<source id='p'><float_array id='a' count='24'>{numbers}</float_array><technique_common>"
        "<accessor source='#a' count='8' stride='3'/></technique_common></source>"
        "<vertices id='v'><input semantic='POSITION' source='#p'/></vertices>"
        f"{primitive}</mesh></geometry></library_geometries><library_visual_scenes><visual_scene id='s'>"
        f"<node id='n'>{node}<node id='m'><instance_geometry url='#g'/></node></node></visual_scene>"
        "</library_visual_scenes></COLLADA>"
    )


def primitive(tag, content, count=6):
    return f"<{tag} count='{count}'><input semantic='VERTEX' source='#v' offset='0'/>{content}</{tag}>"


POLYLIST = primitive("polylist", f"<vcount>4 4 4 4 4 4</vcount><p>{QUADS}</p>")
POLYGONS = primitive(
    "polygons", "".join(f"<p>{' '.join(QUADS.split()[4 * face : 4 * face + 4])}</p>" for face in range(6))
)
STRIPS = primitive("tristrips", "<p>0 1 2 3 6 7 4 5 0 1</p><p>0 2 4 6</p><p>1 5 3 7</p>", 3)
FANS = primitive(
    "trifans", "".join(f"<p>{' '.join(QUADS.split()[4 * face : 4 * face + 4])}</p>" for face in range(6))
)


def surface(triangles):
    faces = np.arange(3 * len(triangles)).reshape(-1, 3)
    return trimesh.Trimesh(triangles.reshape(-1, 3), faces, process=True)


@pytest.mark.parametrize("form", [POLYLIST, POLYGONS, STRIPS, FANS])
def test_polygons_of_a_collada_file_become_a_closed_surface(tmp_path, form):
    (tmp_path / "box.dae").write_text(collada(form))
    box = surface(load_collada_triangles(tmp_path / "box.dae"))
    assert box.is_watertight
    assert box.is_winding_consistent
    assert abs(box.volume) == pytest.approx(0.1 * 0.2 * 0.3)
    assert check_mesh(tmp_path / "box.dae").error is None


def test_transforms_of_nodes_are_applied_in_order_and_the_vertical_axis_is_not(tmp_path):
    node = "<translate>1 2 3</translate><rotate>0 0 2 90</rotate><scale>2 1 1</scale>"
    (tmp_path / "box.dae").write_text(collada(POLYLIST, node, up="Y_UP"))
    points = load_collada_triangles(tmp_path / "box.dae").reshape(-1, 3)
    np.testing.assert_allclose(points.min(axis=0), [1 - 0.2, 2, 3], atol=1e-12)
    np.testing.assert_allclose(points.max(axis=0), [1, 2.2, 3.3], atol=1e-12)
    (tmp_path / "matrix.dae").write_text(
        collada(POLYLIST, "<matrix>0 -1 0 1 2 0 0 2 0 0 1 3 0 0 0 1</matrix>")
    )
    np.testing.assert_allclose(load_collada_triangles(tmp_path / "matrix.dae").reshape(-1, 3), points)


@pytest.mark.parametrize("suffix", ["stl", "ply", "glb"])
def test_other_forms_keep_their_surface(tmp_path, suffix):
    box = trimesh.creation.box((0.1, 0.2, 0.3))
    path = tmp_path / f"box.{suffix}"
    content = trimesh.exchange.stl.export_stl_ascii(box) if suffix == "stl" else box.export(file_type=suffix)
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    check = check_mesh(path)
    assert check.error is None
    assert check.file != path
    assert check.largest == pytest.approx(0.15)
    converted = surface(load_triangles(check.file))
    assert converted.is_watertight
    np.testing.assert_allclose(converted.bounds, box.bounds, atol=1e-7)
    np.testing.assert_allclose(np.ptp(mesh_points(path), axis=0), [0.1, 0.2, 0.3], atol=1e-7)


def test_bullet_has_the_converted_shape(tmp_path):
    (tmp_path / "box.dae").write_text(collada(POLYLIST))
    (tmp_path / "robot.urdf").write_text(
        "<robot name='r'><link name='a'><inertial><mass value='1'/>"
        "<inertia ixx='1' iyy='1' izz='1' ixy='0' ixz='0' iyz='0'/></inertial>"
        "<collision><geometry><mesh filename='box.dae' scale='2 1 1'/></geometry></collision></link></robot>"
    )
    made, notes = read_urdf(tmp_path / "robot.urdf", floating=True)
    assert notes == ()
    (tmp_path / "read.urdf").write_text(made)
    client = pybullet.connect(pybullet.DIRECT)
    try:
        body = pybullet.loadURDF(str(tmp_path / "read.urdf"), physicsClientId=client)
        bounds = np.array(pybullet.getAABB(body, physicsClientId=client))
    finally:
        pybullet.disconnect(client)
    np.testing.assert_allclose(bounds, [[0, 0, 0], [0.2, 0.2, 0.3]], atol=0.005)


def test_a_conversion_is_kept_and_made_anew_when_the_file_changes(tmp_path):
    path = tmp_path / "box.dae"
    path.write_text(collada(POLYLIST))
    first = convert_mesh(path)
    changed = first.stat().st_mtime_ns
    assert convert_mesh(path) == first
    assert first.stat().st_mtime_ns == changed
    path.write_text(collada(POLYGONS))
    assert convert_mesh(path) != first


def test_without_a_cache_the_mesh_is_left_out_and_said(tmp_path, monkeypatch):
    monkeypatch.setattr("simbench.robot.urdf.mesh_files.user_cache_dir", lambda: None)
    (tmp_path / "box.dae").write_text(collada(POLYLIST))
    assert "needs a cache folder" in check_mesh(tmp_path / "box.dae").error
