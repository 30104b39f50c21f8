"""The writer of robots writes nothing outside the folder it is given, whatever the names in `robot.yaml`."""

import json

import pytest

from simbench.errors import RobotError
from simbench.resources import resource_dir
from simbench.robot.description import read_description
from simbench.robot.urdf.urdf_writer import write_urdf


@pytest.fixture(scope="module")
def description():
    return read_description(resource_dir("robots") / "puma560" / "robot.yaml")


@pytest.mark.parametrize("urdf", ["../outside.urdf", "meshes/../../outside.urdf", "/tmp/outside.urdf"])
def test_a_urdf_outside_the_folder_is_refused(description, tmp_path, urdf):
    folder = tmp_path / "robot"
    folder.mkdir()
    with pytest.raises(RobotError):
        write_urdf(description.model_copy(update={"urdf": urdf}), folder)
    assert list(tmp_path.rglob("*")) == [folder]


def test_a_link_or_colour_cannot_lead_meshes_outside(description, tmp_path):
    folder = tmp_path / "robot"
    folder.mkdir()
    link, shells = next(iter(description.visual.items()))
    shells = tuple(shell.model_copy(update={"color": "/../../../outside"}) for shell in shells)
    with pytest.raises(RobotError):
        write_urdf(description.model_copy(update={"visual": {link: shells}}), folder)
    assert list(tmp_path.rglob("*")) == [folder]


@pytest.mark.parametrize("name", ["a/b", "../a", "", "a\nb", "\x1b[2Ja", "a\u202eb"])
def test_a_robot_has_a_plain_name(tmp_path, name):
    source = (resource_dir("robots") / "puma560" / "robot.yaml").read_text(encoding="utf-8")
    changed = source.replace("name: puma560", f"name: {json.dumps(name)}", 1)
    assert changed != source
    (tmp_path / "robot.yaml").write_text(changed, encoding="utf-8")
    with pytest.raises(RobotError):
        read_description(tmp_path / "robot.yaml")
