"""A URDF without a description is loaded with a guessed one, which is kept."""

import shutil

import pytest

from simbench.resources import resource_dir
from simbench.robot.robot import load_robot
from simbench.robot.scaffold import writing


@pytest.fixture
def arm(tmp_path, monkeypatch):
    """The URDF of an arm in a folder of its own, and an empty cache folder."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    source = resource_dir("robots") / "puma560"
    shutil.copy(source / "puma560.urdf", tmp_path / "arm.urdf")
    shutil.copytree(source / "meshes", tmp_path / "meshes")
    return tmp_path / "arm.urdf"


def test_it_has_groups_frames_and_postures(arm):
    robot, puma = load_robot(arm), load_robot("puma560")
    assert not robot.floating
    assert robot.groups["right_arm"] == puma.groups["right_arm"]
    assert robot.postures
    assert robot.source is not None
    assert robot.source.guessed
    assert "description guessed" in str(robot.source)
    assert str(arm) in str(robot.source)


def test_it_is_guessed_once_until_the_urdf_changes(arm, monkeypatch):
    first = load_robot(arm)
    guess = writing.scaffold_robot
    monkeypatch.setattr(writing, "scaffold_robot", lambda urdf: pytest.fail("guessed again"))
    assert load_robot(arm).groups == first.groups
    arm.write_text(arm.read_text(encoding="utf-8").replace("</robot>", "<!-- changed --></robot>"))
    calls = []
    monkeypatch.setattr(writing, "scaffold_robot", lambda urdf: calls.append(urdf) or guess(urdf))
    load_robot(arm)
    assert calls == [arm]
