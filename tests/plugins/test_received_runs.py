"""A run of somebody else: who reads it loads none of its code and writes through none of its links."""

import json
import shutil
from dataclasses import asdict
from pathlib import Path

import numpy as np
import pytest
import yaml

from simbench import RunError, compare, load_run, load_scenario, run_scenario
from simbench.cli.main import main
from simbench.errors import PluginError
from simbench.runs.log import open_run
from simbench.sim.fixtures.stored import describe_equipment, read_equipment
from tests.plugins.conftest import TEMPLATE

PARTS = [
    (TEMPLATE / "my_simbench_plugins" / name).read_text("utf-8") for name in ("metronome.py", "poses.py")
]
CODE = (
    "\n".join(PARTS)
    + """

def law(robot, timestep):
    def torques(now):
        return 2000.0 * (now.reference_position - now.position) - 60.0 * now.velocity + now.feedforward
    torques.implicit = np.full(len(robot.joint_names), 60.0 * timestep + 2000.0 * timestep**2)
    return torques

def reach(log):
    return float(abs(log["joint_position"].values).max())
"""
)

HOSTILE = "from pathlib import Path\nPath(__file__).with_name('loaded').touch()\nraise SystemExit(3)\n"


@pytest.fixture(scope="module")
def own(tmp_path_factory):
    """A run with a fixture, a law and a metric of the file beside its scenario."""
    folder = tmp_path_factory.mktemp("sent")
    (folder / "own.py").write_text(CODE, encoding="utf-8")
    scenario = {
        "name": "sent",
        "robot": {"name": "puma560"},
        "motion": {"source": str(TEMPLATE / "walk.poses"), "reader": "./own.py:read_poses", "end_s": 0.3},
        "fixtures": [{"type": "./own.py:Metronome", "name": "beat", "position_m": [0.0, 1.5, 0.0]}],
        "control": {"law": "./own.py:law"},
        "metrics": {"reach_rad": "./own.py:reach"},
        "checks": {"reach_rad": {"max": 4.0}},
        "camera": {"width": 64, "height": 48, "fps": 5},
        "simulation": {"settle_s": 0.05, "hold_s": 0.05},
    }
    (folder / "s.yaml").write_text(yaml.safe_dump(scenario), encoding="utf-8")
    loaded = load_scenario(folder / "s.yaml")
    run_scenario(loaded, folder / "run", on_progress=False)
    [mechanism] = [each.mechanism() for each in loaded.fixtures]
    return folder, mechanism


@pytest.fixture
def sent(own, tmp_path):
    """That run, whose code is now another."""
    run = tmp_path / "run"
    shutil.copytree(own[0] / "run", run)
    text = (run / "scenario.yaml").read_text(encoding="utf-8")
    (run / "scenario.yaml").write_text(text.replace(str(own[0]), str(run)), encoding="utf-8")
    (run / "own.py").write_text(HOSTILE, encoding="utf-8")
    return run


@pytest.mark.parametrize(
    "arguments",
    [("report", "{}", "--plots"), ("video", "{}", "--end", "0.3"), ("convert", "{}", "{}/out.csv")],
)
def test_commands_that_read_a_run_load_no_code_of_it(sent, arguments, capsys):
    assert main([each.format(sent) for each in arguments]) == 0, capsys.readouterr().err
    assert not (sent / "loaded").exists()


def test_python_reads_a_run_without_its_code(sent, own):
    assert load_run(sent).passed
    assert compare(sent, own[0] / "run").settings
    assert not (sent / "loaded").exists()


@pytest.mark.parametrize(
    "arguments",
    [
        ("run", "{}/scenario.yaml", "--out", "{}/again"),
        ("sweep", "{}/scenario.yaml", "--vary", "seed=1,2", "--out", "{}/again"),
        ("check", "{}/scenario.yaml"),
        ("schema", "scenario", "--for", "{}/scenario.yaml"),
    ],
)
def test_running_a_received_run_again_asks_first(sent, arguments, capsys):
    assert main([each.format(sent) for each in arguments]) == 2
    said = capsys.readouterr().err
    assert "own.py:" in said
    assert f"code that {sent} names" in said
    assert "simbench --plugins" in said
    assert not (sent / "loaded").exists()
    assert not (sent / "again").exists()


def test_the_user_may_allow_the_code(sent, own, monkeypatch):
    monkeypatch.setenv("SIMBENCH_PLUGINS", "1")
    (sent / "own.py").write_text(CODE, encoding="utf-8")
    assert load_scenario(sent / "scenario.yaml").control.law == f"{sent}/own.py:law"
    monkeypatch.setenv("SIMBENCH_PLUGINS", "0")
    with pytest.raises(PluginError, match=r"code that .* names"):
        load_scenario(sent / "scenario.yaml")


def test_the_log_has_the_equipment_that_the_code_made(own):
    folder, mechanism = own
    text = str(open_run(folder / "run")["equipment"].values)
    stored = read_equipment(text, folder)["beat"]
    assert [asdict(each) for each in stored.parts] == [asdict(each) for each in mechanism.parts]
    assert stored.joints == mechanism.joints
    np.testing.assert_array_equal(stored.pose.homogeneous, mechanism.pose.homogeneous)


@pytest.mark.parametrize(
    ("key", "value", "message"),
    [
        ("pose", [[1, 0, 0, 0]] * 4, "pose must be a frame"),
        ("pose", [[2, 0, 0, 0], [0, 2, 0, 0], [0, 0, 2, 0], [0, 0, 0, 1]], "pose must be a frame"),
        ("name", "a\nb", "names must not have control characters"),
        ("name", 3, "name: Input should be a valid string"),
        ("parts", [], "must have parts of 1 to 200 shapes in all, got 0"),
        (("parts", 0, "shapes"), "many", "must have parts of 1 to 200 shapes in all, got 302"),
        (("parts", 0, "shapes", 0, "low"), [0.1, 0.1, 0.05], "shapes must have an extent"),
        (("parts", 1, "shapes", 0, "radius"), -1.0, "shapes must have an extent"),
        (("parts", 1, "shapes", 0, "radius"), "wide", r"0\.parts\.1\.shapes\.0\..*: Field required"),
        (("parts", 1, "joint"), "none", "parts must have joints that there are"),
        (("joints", 0, "parent"), "swing", "its parent before it"),
        (("joints", 0, "axis"), [0, 0, 2], "must have a unit axis"),
    ],
)
def test_an_equipment_description_of_somebody_else_is_checked(own, key, value, message):
    content = json.loads(describe_equipment([own[1]]))
    place = content[0]
    steps = key if isinstance(key, tuple) else (key,)
    for step in steps[:-1]:
        place = place[step]
    place[steps[-1]] = [*place[steps[-1]], *place[steps[-1]][:1] * 299] if value == "many" else value
    with pytest.raises(RunError, match=message):
        read_equipment(json.dumps(content), Path("sent"))


@pytest.mark.parametrize("text", ["", "[", "{}", "[1]", "[NaN]", '[{"name": "a"}]'])
def test_what_is_no_equipment_is_refused(text):
    with pytest.raises(RunError, match="sent: the equipment of its log"):
        read_equipment(text, Path("sent"))


def test_a_run_without_the_equipment_in_its_log_says_so(sent, capsys):
    from simbench.runs.log import write_log

    log = open_run(sent)
    write_log(log.drop_vars("equipment"), sent / "log.nc")
    assert main(["video", str(sent)]) == 2
    assert "the log has no shapes of beat, which" in capsys.readouterr().err
    assert not (sent / "loaded").exists()


@pytest.mark.parametrize(
    ("name", "arguments"),
    [
        ("report.html", ("report", "{}")),
        ("video.mp4", ("video", "{}", "--end", "0.3")),
        ("plots", ("report", "{}", "--plots")),
        ("plots/torque.png", ("report", "{}", "--plots")),
    ],
)
def test_links_in_a_run_are_not_written_through(sent, tmp_path, capsys, name, arguments):
    outside = tmp_path / "outside"
    outside.mkdir()
    target = outside if name == "plots" else outside / "thesis"
    if name != "plots":
        target.write_text("mine", encoding="utf-8")
    (sent / name).parent.mkdir(exist_ok=True)
    (sent / name).symlink_to(target)
    assert main([each.format(sent) for each in arguments]) == 2
    assert "is a link, and nothing is written through links; delete it" in capsys.readouterr().err
    assert [each.read_text(encoding="utf-8") for each in outside.iterdir()] == ["mine"] * (name != "plots")


def test_a_link_that_was_typed_is_followed(sent, tmp_path):
    (tmp_path / "page.html").symlink_to("real.html")
    assert main(["report", str(sent), "--out", str(tmp_path / "page.html")]) == 0
    assert (tmp_path / "page.html").is_symlink()
    assert (tmp_path / "real.html").stat().st_size > 1000
