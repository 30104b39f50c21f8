"""ROMEO's built files: what is out of date is said, its size, and a panel in its hand."""

import shutil
from pathlib import Path

import numpy as np
import pinocchio as pin
import pybullet
import pytest
import yourdfpy

from simbench.resources import resource_dir
from simbench.robot.robot import Robot

ROMEO = resource_dir("robots") / "romeo"


def test_files_that_a_rebuild_would_change_are_named(build_robots, tmp_path: Path) -> None:
    copy = shutil.copytree(ROMEO, tmp_path / "romeo")
    text = (copy / "robot.yaml").read_text(encoding="utf-8")
    (copy / "robot.yaml").write_text(text.replace("mass: 9.9216", "mass: 9.9"), encoding="utf-8")
    (copy / "meshes" / "tail.obj").write_text("v 0 0 0\n", encoding="utf-8")
    assert build_robots.find_differences(copy / "robot.yaml") == ["meshes/tail.obj", "romeo.urdf"]
    build_robots.build(copy / "robot.yaml", copy)
    assert build_robots.find_differences(copy / "robot.yaml") == []


def test_size_is_the_published_one(romeo: Robot) -> None:
    urdf = yourdfpy.URDF.load(str(romeo.urdf))
    low, high = urdf.scene.bounds
    # Legs, trunk, neck and head at zero position; the arms reach forward, the shoulders are the widest part.
    assert high[2] - low[2] == pytest.approx(1.40, abs=0.01)
    assert low[2] == pytest.approx(-0.87844, abs=1e-5)
    assert high[0] == pytest.approx(0.3923 + 0.118 + 0.075, abs=0.002)


def test_a_panel_held_at_15_degrees_fits_between_thumb_and_closing_fingers(
    romeo: Robot, romeo_in_bullet
) -> None:
    bullet = romeo_in_bullet
    bullet.pose({})
    data = romeo.model.createData()
    pin.framesForwardKinematics(romeo.model, data, pin.neutral(romeo.model))
    palm = data.oMf[romeo.model.getFrameId("l_palm")].translation + np.array([0, 0, 2])
    # The panel's middle is under the palm centre, its edge just under the palm.
    shape = pybullet.createCollisionShape(
        pybullet.GEOM_BOX, halfExtents=[0.009, 0.1, 0.05], physicsClientId=bullet.client
    )
    panel = bullet.add(shape, palm - [0, 0, 0.0525], [0, 0, np.radians(15)])
    assert bullet.gap("l_wrist", "", panel) == pytest.approx(0.0025, abs=0.001)
    gaps = {}
    for grip in (0.0, 1.0, 1.3, 1.5708):
        bullet.pose({"LHand": grip})
        gaps[grip] = bullet.gap("l_fingers", "", panel)
    assert gaps[0.0] > 0.01
    assert list(gaps.values()) == sorted(gaps.values(), reverse=True)
    assert 0.0 < gaps[1.5708] < 0.005
    bullet.pose({"LHand": 1.7})
    assert bullet.gap("l_fingers", "", panel) < 0
