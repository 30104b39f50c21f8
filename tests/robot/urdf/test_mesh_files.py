"""Mesh files: where they are found, and that Bullet reads what is said to be readable."""

import xml.etree.ElementTree as ET
from pathlib import Path

import numpy as np
import pybullet
import pybullet_data
import pytest
import urdf_texts as texts

from simbench.robot.urdf.source import read_urdf

link, joint, mesh, robot, write = texts.link, texts.joint, texts.mesh, texts.robot, texts.write

BULLET_DATA = Path(pybullet_data.getDataPath())


def folder_of(tmp_path, *parts):
    folder = tmp_path.joinpath(*parts)
    folder.mkdir(parents=True, exist_ok=True)
    return folder


@pytest.mark.parametrize(
    ("name", "place"),
    [
        ("meshes/a b.obj", "robots/arm_description/urdf/meshes/a b.obj"),
        ("../meshes/a.obj", "robots/arm_description/meshes/a.obj"),
        ("file://{root}/else/a%20b.obj", "else/a b.obj"),
        ("{root}/else/a.obj", "else/a.obj"),
        ("package://arm_description/meshes/a.obj", "robots/arm_description/meshes/a.obj"),
        ("package://hand_description/meshes/a.obj", "robots/hand_description/meshes/a.obj"),
        ("package://sensors/meshes/a.obj", "ros/share/sensors/meshes/a.obj"),
        ("package://itself/meshes/a.obj", "ros/itself/meshes/a.obj"),
        ("package://lidar/meshes/a.obj", "ament/share/lidar/meshes/a.obj"),
        ("package://renamed/meshes/a.obj", "robots/meshes/a.obj"),
        ("model://arm_description/meshes/a.obj", "robots/arm_description/meshes/a.obj"),
    ],
)
def test_meshes_are_found(tmp_path, monkeypatch, load_text, name, place):
    monkeypatch.setenv("ROS_PACKAGE_PATH", f"{tmp_path}/ros/share:{tmp_path}/ros/itself")
    monkeypatch.setenv("AMENT_PREFIX_PATH", f"{tmp_path}/nothing:{tmp_path}/ament")
    urdf = write(
        folder_of(tmp_path, "robots", "arm_description", "urdf"),
        link("base", inside=mesh(name.format(root=tmp_path))),
    )
    file = tmp_path / place
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_bytes((BULLET_DATA / "cube.obj").read_bytes())
    made, notes = read_urdf(urdf, floating=True)
    assert notes == ()
    assert ET.fromstring(made).find(".//mesh").get("filename") == str(file.resolve())
    body, client = load_text(made)
    (shape,) = pybullet.getVisualShapeData(body, physicsClientId=client)
    assert shape[4].decode() == str(file.resolve())


def test_every_format_said_to_be_readable_is_read_by_bullet(tmp_path, load_text):
    trimesh = pytest.importorskip("trimesh")
    box = trimesh.creation.box((0.2, 0.4, 0.6))
    for name, form in (("a.obj", "obj"), ("a.STL", "stl"), ("a.dae", "dae")):
        box.export(tmp_path / name, file_type=form)
        made, notes = read_urdf(write(tmp_path, link("base", inside=mesh(name, "collision"))), floating=True)
        assert notes == ()
        body, client = load_text(made)
        low, high = pybullet.getAABB(body, physicsClientId=client)
        np.testing.assert_allclose(np.subtract(high, low), [0.2, 0.4, 0.6], atol=0.01)
