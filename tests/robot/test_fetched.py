"""Robots of the package `robot_descriptions`, here a fake one: nothing is cloned."""

import shutil
import sys

import pytest

from simbench.cli.main import main
from simbench.resources import resource_dir
from simbench.robot.robot_sources import find_description, find_robot


@pytest.fixture
def package(tmp_path, monkeypatch):
    """A package with an arm, one that cannot be cloned, and one in another format."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    source = resource_dir("robots") / "puma560"
    shutil.copy(source / "puma560.urdf", tmp_path / "arm.urdf")
    shutil.copytree(source / "meshes", tmp_path / "meshes")
    folder = tmp_path / "site" / "robot_descriptions"
    folder.mkdir(parents=True)
    for name, text in {
        "__init__": "",
        "fake_arm_description": f"URDF_PATH = {str(tmp_path / 'arm.urdf')!r}\n",
        "far_arm_description": "raise OSError('could not resolve host:\\n  github.com')\n",
        "other_description": "SRDF_PATH = 'a.srdf'\n",
        "legged_mj_description": f"MJCF_PATH = {str(tmp_path / 'legged.xml')!r}\n",
        "macro_description": "XACRO_PATH = 'macro.xacro'\n",
        "_xacro": f"def get_urdf_path(module):\n    return {str(tmp_path / 'arm.urdf')!r}\n",
    }.items():
        (folder / f"{name}.py").write_text(text)
    monkeypatch.syspath_prepend(str(tmp_path / "site"))
    yield tmp_path
    for name in [each for each in sys.modules if each.startswith("robot_descriptions")]:
        del sys.modules[name]


@pytest.mark.parametrize(
    "name",
    [
        "fake_arm",
        "fake_arm_description",
        "robot_descriptions:fake_arm",
        "robot_descriptions:fake_arm_description",
    ],
)
def test_a_robot_is_found_by_its_name(package, name):
    found = find_robot(name)
    assert found.origin == "robot_descriptions"
    assert found.path == package / "arm.urdf"


@pytest.mark.parametrize(
    ("name", "file"),
    [
        ("legged", "legged.xml"),
        ("legged_mj", "legged.xml"),
        ("robot_descriptions:legged_mj_description", "legged.xml"),
        ("macro", "arm.urdf"),
    ],
)
def test_mjcf_and_xacro_are_found_by_name(package, name, file):
    found = find_robot(name)
    assert (found.origin, found.path) == ("robot_descriptions", package / file)


@pytest.fixture
def menagerie(tmp_path, monkeypatch):
    """A package `mujoco-menagerie` with one robot, and one that cannot be downloaded."""
    site = tmp_path / "menagerie"
    (site / "mujoco_menagerie").mkdir(parents=True)
    (site / "mujoco_menagerie" / "__init__.py").write_text(
        "class MenagerieError(Exception): pass\n"
        "class Robot:\n"
        "    default_model = 'legs'\n"
        "    def __init__(self, name): self.name = name\n"
        "    def xml(self, entry):\n"
        "        if self.name == 'far_robot': raise MenagerieError('no network\\nat all')\n"
        f"        return {str(tmp_path)!r} + '/' + entry + '.xml'\n"
        "def names(): return ['far_robot', 'own_robot']\n"
        "get = Robot\n"
    )
    info = site / "mujoco_menagerie-2026.1.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: mujoco-menagerie\nVersion: 2026.1\n")
    monkeypatch.syspath_prepend(str(site))
    yield tmp_path
    sys.modules.pop("mujoco_menagerie", None)


@pytest.mark.parametrize(
    ("name", "entry"),
    [
        ("own_robot", "legs"),
        ("mujoco_menagerie:own_robot", "legs"),
        ("mujoco_menagerie:own_robot/hands", "hands"),
    ],
)
def test_a_robot_of_mujoco_menagerie_is_found_by_its_name(menagerie, name, entry):
    found = find_robot(name)
    assert found.path == menagerie / f"{entry}.xml"
    assert found.origin == "mujoco_menagerie"
    assert found.package == ("mujoco_menagerie", "2026.1")


@pytest.mark.parametrize(
    ("name", "message"),
    [
        (
            "far_robot",
            "mujoco_menagerie:far_robot: cannot be fetched: no network at all; it needs the network",
        ),
        (
            "mujoco_menagerie:own_robo",
            "unknown robot (did you mean `own_robot`?); allowed: far_robot, own_robot",
        ),
    ],
)
def test_what_the_menagerie_lacks_is_one_line(menagerie, capsys, name, message):
    assert main(["robot", "inspect", name]) == 2
    (line,) = capsys.readouterr().err.splitlines()
    assert message in line


def test_it_is_looked_for_last_and_nothing_is_imported_before(package):
    folder = package / "site" / "robot_descriptions"
    (folder / "mahru_description.py").write_text("raise OSError('cloned')\n")
    assert find_robot("mahru").origin == "shipped"
    assert find_description("far_arm") == "robot_descriptions.far_arm_description"
    assert "robot_descriptions.far_arm_description" not in sys.modules


@pytest.mark.parametrize(
    ("name", "message"),
    [
        (
            "far_arm",
            "robot_descriptions:far_arm: cannot be fetched: could not resolve host: github.com; it needs git",
        ),
        ("robot_descriptions:other", "has no URDF, xacro or MJCF of it"),
        ("robot_descriptions:none", "robot_descriptions has no module none_description or none"),
        ("robot_descriptions:a.b", "robot_descriptions has no module"),
    ],
)
def test_what_cannot_be_fetched_is_one_line(package, capsys, name, message):
    assert main(["robot", "inspect", name]) == 2
    error = capsys.readouterr().err.splitlines()
    assert len(error) == 1
    assert message in error[0]
