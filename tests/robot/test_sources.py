"""Where a robot's name leads: own path, shipped, plug-in, wheel, or to a message."""

import importlib.metadata
import sys
from pathlib import Path

import pytest
import urdf_texts as texts
from wheel_robots import robot_parameters

from simbench.cli.main import main
from simbench.errors import RobotError
from simbench.robot import packages, robot_sources
from simbench.robot.robot import load_robot
from simbench.robot.robot_inspection import RobotInspection
from simbench.robot.robot_sources import find_robot, find_wheel_urdfs, list_robots
from simbench.runs.provenance import describe_robot_files
from simbench.runs.scenario.loading import load_scenario, robot_files, scenario_files

ARM = (texts.link("base"), texts.joint("turn", "base", "arm", xyz="0 0 0.2"), texts.link("arm"))
DESCRIPTION = "name: {name}\nurdf: {urdf}\nbase: fixed\ngroups: {{right_arm: [turn]}}\ngains: auto\n"


def write_robot(folder: Path, name: str = "own", urdf: str = "robot.urdf") -> Path:
    """A robot.yaml and its URDF in a new folder."""
    folder.mkdir(parents=True)
    texts.write(folder, *ARM)
    path = folder / "robot.yaml"
    path.write_text(DESCRIPTION.format(name=name, urdf=urdf), encoding="utf-8")
    return path


def install(site: Path, package: str, files: dict[str, str], entry_points: str = "") -> None:
    """Write what pip writes for a package: its files, their list, and entry points."""
    info = site / f"{package.replace('-', '_')}-1.5.dist-info"
    info.mkdir(parents=True)
    (info / "METADATA").write_text(
        f"Metadata-Version: 2.1\nName: {package}\nVersion: 1.5\n", encoding="utf-8"
    )
    (info / "entry_points.txt").write_text(entry_points, encoding="utf-8")
    for name, text in files.items():
        path = site / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    (info / "RECORD").write_text("".join(f"{name},,\n" for name in files), encoding="utf-8")


@pytest.fixture
def site(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty folder of packages, first in the search path."""
    folder = tmp_path / "site"
    folder.mkdir()
    monkeypatch.syspath_prepend(folder)
    return folder


@pytest.fixture
def no_wheel(monkeypatch: pytest.MonkeyPatch) -> None:
    """As if no package with robots were installed."""
    monkeypatch.setattr(packages, "_find_share_folder", lambda *_: None)


def plug_in(site: Path, name: str, value: str) -> None:
    install(
        site, "their-robots", {"their_robots.py": value}, f"[simbench.robots]\n{name} = their_robots:PATH\n"
    )
    sys.modules.pop("their_robots", None)


def test_a_path_is_a_path_and_a_name_never_means_a_file_beside(tmp_path: Path, monkeypatch) -> None:
    written = write_robot(tmp_path / "romeo")
    monkeypatch.chdir(tmp_path)
    assert (find_robot("romeo").origin, find_robot("./romeo").origin) == ("shipped", "own path")
    for text in ("./romeo", "romeo/robot.yaml", str(written), str(written.parent)):
        assert find_robot(text).path.resolve() == written
    assert load_robot("romeo/robot.urdf").joint_names == ("turn",)
    assert load_robot("./romeo").source.description == Path("romeo/robot.yaml")


def test_own_folder_before_plug_in_before_wheel(tmp_path: Path, site: Path, monkeypatch) -> None:
    theirs = write_robot(tmp_path / "theirs", "theirs")
    plug_in(site, "arm", f"PATH = {str(theirs.parent)!r}")
    urdf = (theirs.parent / "robot.urdf").read_text(encoding="utf-8")
    install(site, "example-robot-data", {"share/example-robot-data/arm.urdf": urdf})
    monkeypatch.chdir(tmp_path)
    assert set(find_wheel_urdfs()) >= {"arm"}
    robot = load_robot("arm")
    assert (robot.name, robot.source.origin, robot.source.package) == (
        "theirs",
        "plug-in",
        ("their-robots", "1.5"),
    )
    own = write_robot(tmp_path / "arm")
    assert load_robot("arm").source.description.resolve() == own
    own.unlink()
    monkeypatch.setattr(robot_sources, "find_plug_ins", dict)
    robot = load_robot("arm")
    assert (robot.source.origin, robot.source.package) == ("wheel", ("example-robot-data", "1.5"))
    assert (robot.floating, robot.groups) == (False, {})


@pytest.mark.parametrize(
    ("value", "message"),
    [
        ("import nothing_at_all", r"plug-in `arm` \(their_robots:PATH\): cannot be imported: No module"),
        ("", r"plug-in `arm` .*: cannot be imported: module 'their_robots' has no attribute 'PATH'"),
        ("PATH = 3", r"plug-in `arm` .*: must be the path of a robot\.yaml or of its folder, not 3"),
        ("PATH = '/nowhere'", r"plug-in `arm` .*: there is no file /nowhere"),
    ],
)
def test_a_broken_plug_in_is_named(site: Path, value: str, message: str) -> None:
    plug_in(site, "arm", value)
    with pytest.raises(RobotError, match=message):
        load_robot("arm")
    assert next(each for each in list_robots() if each.name == "arm").summary.startswith("plug-in `arm`")


@pytest.mark.parametrize("name", ["romoe", "Romeo", "mahruu"])
def test_an_unknown_name_is_answered_with_the_nearest(name: str) -> None:
    nearest = "mahru" if "m" in name[:1] else "romeo"
    with pytest.raises(
        RobotError, match=rf"`{name}`; known: .*did you mean `{nearest}`\?.*simbench robot list"
    ):
        load_robot(name)


def test_without_the_wheel_its_robots_are_listed_with_what_to_install(no_wheel, monkeypatch, capsys) -> None:
    command = r"needs example-robot-data: pip install example-robot-data, or in a clone .* \"\.\[robots\]\""
    with pytest.raises(RobotError, match=rf"g1.robot\.yaml: urdf: `package://.*` not found: {command}"):
        load_robot("g1")
    with pytest.raises(RobotError):
        load_robot("tiago")
    assert {each.name for each in list_robots() if each.missing} >= {"g1", "talos", "panda", "ur5"}
    assert main(["robot", "list"]) == 0
    assert 'pip install -e ".[robots]"' in capsys.readouterr().out
    assert main(["list", "robots"]) == 0
    monkeypatch.setattr(packages, "EXTRAS", {})
    with pytest.raises(RobotError):
        load_robot("g1")


def test_a_urdf_and_its_meshes_are_found_in_a_wheel(tmp_path: Path, site: Path) -> None:
    cube = "v 0 0 0\nv 1 0 0\nv 0 1 0\nv 0 0 1\nf 1 3 2\nf 1 2 4\nf 1 4 3\nf 2 3 4\n"
    texts.write(tmp_path, texts.link("base", inside=texts.mesh("package://parts/meshes/cube.obj")))
    urdf = (tmp_path / "robot.urdf").read_text(encoding="utf-8")
    install(
        site,
        "their-parts",
        {"cmeel.prefix/share/parts/a.urdf": urdf, "cmeel.prefix/share/parts/meshes/cube.obj": cube},
    )
    own = tmp_path / "robot.yaml"
    own.write_text(
        "name: a\nurdf: package://parts/a.urdf\nbase: fixed\ngroups: {}\ngains: auto\n", encoding="utf-8"
    )
    robot = load_robot(own)
    share = site / "cmeel.prefix/share/parts"
    assert (robot.urdf, robot.urdf_notes) == (share / "a.urdf", ())
    assert str(share / "meshes/cube.obj") in robot.urdf_text
    assert robot_files(str(own)) == [own, share / "a.urdf", share / "meshes/cube.obj"]
    own.write_text(own.read_text(encoding="utf-8").replace("a.urdf", "b.urdf"), encoding="utf-8")
    with pytest.raises(RobotError):
        load_robot(own)


@pytest.mark.parametrize("name", robot_parameters("panda"))
def test_the_source_is_recorded_and_said(name: str, capsys) -> None:
    version = importlib.metadata.version("example-robot-data")
    source = load_robot(name).source
    described = describe_robot_files(source)
    assert {key: described[key] for key in ("origin", "package", "urdf_package", "urdf_version")} == {
        "origin": "shipped",
        "package": None,
        "urdf_package": "example-robot-data",
        "urdf_version": version,
    }
    assert list(described["files"]) == [str(source.description), str(source.urdf)]
    assert RobotInspection(name).source == source
    assert main(["robot", "inspect", name]) == 0
    assert main(["robot", "list", "anda"]) == 0
    assert main(["robot", "list", "no such robot"]) == 2
    line = f"source              shipped with simbench, URDF from example-robot-data {version}\n"
    assert line in capsys.readouterr().out
    scenario = load_scenario("puma560_sweep", ["robot.name=panda"])
    files = scenario_files(scenario)
    assert source.urdf in files
    assert source.description not in files
    assert sum(path.suffix in (".stl", ".dae") for path in files) > 10


@pytest.mark.parametrize("name", robot_parameters("ur5"))
def test_every_robot_is_listed_once_with_licence_and_kind(name: str) -> None:
    entries = {each.name: each for each in list_robots()}
    assert len(entries) == len(list_robots())
    kinds = {key: (each.origin, each.kind, each.license) for key, each in entries.items()}
    assert kinds["romeo"] == ("shipped", "humanoid", "MIT")
    assert kinds["talos"] == ("shipped", "humanoid", "Apache-2.0")
    assert kinds[name] == ("shipped", "arm", "BSD")
    assert kinds["kinova"] == ("wheel", "6 joints", "BSD")
    assert not any(each.missing for each in entries.values())
