"""Damaged meshes are left out with a reason, before a reader that trusts them sees them."""

import struct
from pathlib import Path

import numpy as np
import pybullet_data
import pytest
from urdf_texts import link, mesh, write

from simbench.resources import resource_dir
from simbench.robot.robot_inspection import RobotInspection
from simbench.robot.urdf import mesh_files
from simbench.robot.urdf.mesh_files import check_mesh
from simbench.robot.urdf.source import read_urdf

CORNERS = [(x, y, z) for x in (0.0, 0.1) for y in (0.0, 0.2) for z in (0.0, 0.3)]
FACES = [(0, 1, 3), (0, 3, 2), (4, 6, 7), (4, 7, 5), (0, 4, 5), (0, 5, 1), (2, 3, 7), (2, 7, 6), (0, 2, 6)]


def stl(triangles, count=None):
    header = b"solid of a kind".ljust(80, b"\0") + struct.pack(
        "<I", len(triangles) if count is None else count
    )
    return header + b"".join(struct.pack("<12fH", 0, 0, 1, *np.ravel(each), 0) for each in triangles)


TRIANGLES = [[CORNERS[index] for index in face] for face in FACES]
STL = stl(TRIANGLES)
OBJ = "".join(f"v {x} {y} {z}\n" for x, y, z in CORNERS) + "".join(
    f"f {a + 1} {b + 1} {c + 1}\n" for a, b, c in FACES
)
SOURCE = (
    '<source id="{name}"><float_array id="{name}a" count="12">{numbers}</float_array><technique_common>'
    '<accessor source="#{name}a" count="4" stride="3"/></technique_common></source>'
)
DAE = (
    '<COLLADA xmlns="http://www.collada.org/2005/11/COLLADASchema" version="1.4.1">'
    '<asset><unit name="meter" meter="1"/><up_axis>Z_UP</up_axis></asset>'
    '<library_geometries><geometry id="g"><mesh>'
    + SOURCE.format(name="p", numbers="0 0 0 0.1 0 0 0 0.1 0 0 0 0.4")
    + SOURCE.format(name="n", numbers="0 0 1 0 0 1 0 0 1 0 0 1")
    + '<vertices id="v"><input semantic="POSITION" source="#p"/></vertices><triangles count="2">'
    '<input semantic="VERTEX" source="#v" offset="0"/><input semantic="NORMAL" source="#n" offset="1"/>'
    "<p>0 0 2 2 1 1 0 0 1 1 3 3</p></triangles></mesh></geometry></library_geometries>"
    '<library_visual_scenes><visual_scene id="s"><node id="n0"><scale>2 2 2</scale>'
    '<instance_geometry url="#g"/></node></visual_scene></library_visual_scenes></COLLADA>'
)


def obj(*lines):
    return "\n".join([OBJ, *lines])


def dae(before, after):
    assert before in DAE
    return DAE.replace(before, after)


BROKEN = {
    "STL of no bytes": ("a.stl", b"", "0 bytes are no STL file"),
    "STL cut off": ("a.stl", b"x" + STL[1:-7], "an STL file of 9 triangles has 534 bytes; this one has 527"),
    "STL with 4e9 triangles": ("a.stl", b"x" + stl(TRIANGLES, 4_000_000_000)[1:], "of 4000000000 triangles"),
    "STL with NaN": ("a.stl", stl([*TRIANGLES, [(np.nan, 0, 0)] * 3]), "not a finite number"),
    "STL with a signalling NaN": (
        "a.stl",
        STL[:96] + (0x7F800001).to_bytes(4, "little") + STL[100:],
        "not a finite number",
    ),
    "STL of a planet": ("a.stl", stl([*TRIANGLES, [(1e7, 0, 0)] * 3]), "reaches 1e+07 m; allowed is 10000"),
    "STL that is an OBJ": ("a.stl", OBJ.encode(), "an STL file of"),
    "OBJ of no bytes": ("a.obj", "", "contains no triangles"),
    "OBJ with zero bytes": ("a.obj", OBJ.replace("f", "\0f", 1), "contains zero bytes"),
    "OBJ with NaN": ("a.obj", OBJ.replace("v 0.0", "v nan", 1), "not a finite number"),
    "OBJ of a planet": ("a.obj", OBJ.replace("v 0.0", "v 1e30", 1), "reaches 1e+30 m"),
    "OBJ with a short vertex": ("a.obj", "v 1 2\n" + OBJ, "line 1: v needs 3 numbers"),
    "OBJ index too high": ("a.obj", obj("f 1 2 9"), "the index 9; the lines above it have 8"),
    "OBJ index zero": ("a.obj", obj("f 0 1 2"), "the index 0"),
    "OBJ index beyond 64 bits": (
        "a.obj",
        obj("f 1 2 99999999999999999999"),
        "the index 99999999999999999999",
    ),
    "OBJ index of no texture": ("a.obj", obj("f 1/1 2/1 3/1"), "the index 1; the lines above it have 0"),
    "OBJ index is a word": ("a.obj", obj("f a b c"), "the index"),
    "OBJ face of one corner": ("a.obj", obj("f 1"), "a face of 1 corners"),
    "OBJ with a long line": ("a.obj", obj("usemtl " + "x" * 4096), "has a line of 4103 bytes"),
    "OBJ with a folder of materials": ("a.obj", obj("mtllib ."), "materials `.`: is not a file"),
    "DAE of no bytes": ("a.dae", "", "not XML"),
    "DAE with a DTD": ("a.dae", '<!DOCTYPE a [<!ENTITY b "c">]>' + DAE, "document type declaration"),
    "DAE without geometries": (
        "a.dae",
        dae("library_geometries", "library_of_geometries"),
        "has no <library_",
    ),
    "DAE without vertices": ("a.dae", dae("vertices", "points"), "has no <vertices>"),
    "DAE with a large offset": ("a.dae", dae('offset="1"', 'offset="99"'), "offset 99 is too large"),
    "DAE without a count": ("a.dae", dae(' count="2"', ""), "has no count"),
    "DAE with 1e8 triangles": ("a.dae", dae('count="2"', 'count="100000000"'), "needs 600000000 indices"),
    "DAE index too high": ("a.dae", dae("<p>0 0", "<p>4 0"), "source `p` has no vertex 4"),
    "DAE index below zero": ("a.dae", dae("<p>0 0", "<p>-1 0"), "needs 12 indices"),
    "DAE with an empty list": ("a.dae", dae("<p>0 0 2 2 1 1 0 0 1 1 3 3", "<p>"), "<p> is empty"),
    "DAE with NaN": ("a.dae", dae("0.4", "nan"), "not all are finite"),
    "DAE with other vertices": ("a.dae", dae('source="#v"', 'source="#w"'), "no input VERTEX from its"),
    "DAE with a stride of 0": ("a.dae", dae('stride="3"', 'stride="0"'), 'stride="0" is not 1 to 4'),
    "DAE with a short scale": ("a.dae", dae("2 2 2", "2 2"), "<scale> has 2 numbers"),
    "DAE of polygons without sizes": (
        "a.dae",
        dae("triangles", "polylist"),
        "<polylist> has 6 corners, and 0 in <vcount>",
    ),
    "DAE nested deeply": ("a.dae", dae('<node id="n0">', "<node>" * 60), "not XML"),
}


@pytest.fixture(autouse=True)
def own_cache(tmp_path_factory, monkeypatch):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path_factory.mktemp("cache")))


def put(folder, name, content):
    (folder / name).write_bytes(content if isinstance(content, bytes) else content.encode())
    return folder / name


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize(("name", "content", "reason"), BROKEN.values(), ids=BROKEN)
@pytest.mark.parametrize("role", ["visual", "collision"])
def test_a_broken_mesh_is_left_out_and_said(tmp_path, capfd, role, name, content, reason):
    put(tmp_path, name, content)
    path = write(tmp_path, link("base", inside=mesh(name, role)))
    made, notes = read_urdf(path, floating=True)
    assert len(notes) == 1
    assert notes[0].startswith(f"link `base`: {role} left out: mesh `{name}`: ")
    assert reason in notes[0]
    assert role not in made
    assert notes[0] in RobotInspection(path).warnings
    assert capfd.readouterr() == ("", "")


@pytest.mark.parametrize(
    ("name", "content", "largest"),
    [
        ("a.stl", STL, 0.3),
        ("a.STL", STL, 0.3),
        ("a.obj", OBJ, 0.3),
        ("a.obj", OBJ.replace("\n", "\r\n"), 0.3),
        ("a.obj", OBJ.rstrip(), 0.3),
        ("a.obj", obj("o a", "g", "s off", "usemtl b", "f -1 -2 -3 -4", "l 1 2", "f 1 2"), 0.3),
        ("a.obj", "vt 0 1\nvn 0 0 1\n" + obj("f 1/1/1 2/1/1 3/-1/-1", "f 1//1 2//1 3//1"), 0.3),
        ("a.obj", "mtllib none.mtl\n" + OBJ, 0.3),
        ("a.dae", DAE, 0.8),
    ],
)
def test_a_sound_mesh_is_kept_with_its_size(tmp_path, name, content, largest):
    put(tmp_path, name, content)
    assert read_urdf(write(tmp_path, link("base", inside=mesh(name))), floating=True)[1] == ()
    error, measured, file = check_mesh(tmp_path / name)
    assert (error, file) == (None, tmp_path / name)
    assert measured == pytest.approx(largest, rel=1e-6)


def test_materials_of_an_obj_file_are_looked_at_too(tmp_path):
    put(tmp_path, "a.mtl", "newmtl " + "x" * 5000)
    path = put(tmp_path, "a.obj", "mtllib a.mtl\n" + OBJ)
    assert check_mesh(path).error == "materials `a.mtl`: has a line of 5007 bytes; allowed are 4000"


def test_a_file_that_changes_is_looked_at_again(tmp_path):
    path = put(tmp_path, "a.obj", OBJ)
    assert check_mesh(path).error is None
    put(tmp_path, "a.obj", OBJ + "f 1 2 10\n")
    assert "index 10" in check_mesh(path).error
    path.unlink()
    assert check_mesh(path).error.startswith("cannot be read: ")


def test_sizes_are_bounded(tmp_path, monkeypatch):
    path = put(tmp_path, "a.stl", STL)
    monkeypatch.setattr(mesh_files, "MOST_TRIANGLES", 8)
    assert check_mesh(path).error == "has 9 triangles; allowed are 8"
    monkeypatch.setattr(mesh_files, "LARGEST_FILE", 500)
    path = put(tmp_path, "b.stl", STL)
    assert check_mesh(path).error.startswith("larger than ")


def test_a_folder_and_an_endless_name_are_no_meshes(tmp_path):
    (tmp_path / "a.obj").mkdir()
    for name in ("a.obj", "x" * 5000 + ".obj", "a" * 300 + "/b.stl", "package://" + "y" * 5000 + "/a.dae"):
        (note,) = read_urdf(write(tmp_path, link("base", inside=mesh(name))), floating=True)[1]
        assert "not found" in note


def test_meshes_that_ship_are_sound():
    paths = sorted(resource_dir("robots").glob("*/meshes/*"))
    assert len(paths) > 50
    assert [path for path in paths if check_mesh(path).error] == []


@pytest.mark.parametrize(
    "name", ["duck.dae", "duck.obj", "cube.obj", "racecar/meshes/cone.dae", "pr2_gripper"]
)
def test_meshes_of_others_are_sound(name):

    data = Path(pybullet_data.getDataPath())
    paths = [data / name] if "." in name else sorted(data.glob(f"{name}*/**/*.stl"))
    assert [check_mesh(path).error for path in paths] == [None] * len(paths)
