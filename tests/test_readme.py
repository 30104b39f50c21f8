"""The README's Python example runs, and its commands name what exists."""

import json
import re
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pinocchio as pin
import pybullet_data
import pytest
import xarray as xr

from simbench.cli.main import main
from simbench.motion.marker_maps.library import map_names
from simbench.motion.readers import SUFFIXES, read_motion
from simbench.robot.robot import load_robot
from simbench.runs.execution import local as processes
from simbench.runs.execution.local import capture_result
from simbench.runs.log import open_run
from simbench.runs.pipeline import run_scenario
from simbench.runs.scenario.loading import list_scenarios, load_scenario

README = Path(__file__).parents[1] / "README.md"


def blocks(language):
    return re.findall(rf"```{language}\n(.*?)```", README.read_text(encoding="utf-8"), flags=re.DOTALL)


@pytest.fixture(scope="module")
def example(tmp_path_factory):
    """What the Python example prints, and its run."""
    (code,) = (block for block in blocks("python") if "run_scenario" in block)
    folder = tmp_path_factory.mktemp("example")
    done = subprocess.run([sys.executable, "-c", code], cwd=folder, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return done.stdout, folder / "runs" / "one_stroke"


def test_the_python_example_runs(example):
    output, run = example
    ratio, *worst = output.splitlines()
    assert 0.95 <= float(ratio) <= 1.05
    # The fingers are stopped by the drawer; every other joint follows.
    assert worst[0].startswith("joint") or "Hand" in worst[0]
    assert (run / "log.nc").is_file()


def test_the_example_repeated_from_its_own_directory_is_identical_bit_for_bit(example, tmp_path):
    _, run = example
    run_scenario(load_scenario(run / "scenario.yaml"), tmp_path / "again")
    xr.testing.assert_identical(open_run(run), open_run(tmp_path / "again"))
    first, second = (
        json.loads((folder / "metrics.json").read_text()) for folder in (run, tmp_path / "again")
    )
    assert {key: value for key, value in second.items() if not key.startswith("timing.")} == {
        key: value for key, value in first.items() if not key.startswith("timing.")
    }


def test_the_streaming_example_runs(capsys):
    (code,) = (block for block in blocks("python") if "follow_frames" in block)
    names = {}
    exec(code, names)
    name, angle = capsys.readouterr().out.split()
    model, data, q = names["actor"].model, names["actor"].model.createData(), names["q"][0]
    index = model.joints[model.getJointId(name)].idx_q
    assert float(angle) == pytest.approx(q[index], abs=5e-4)
    pin.framesForwardKinematics(model, data, q)
    for side in ("left", "right"):
        wrist = data.oMf[names["actor"].joints[f"{side}_wrist"]].translation
        assert np.linalg.norm(wrist - names["motion"].joints[f"{side}_wrist"][99]) < 0.003


def test_the_example_robot_sweeps(tmp_path):
    """The Kuka arm that ships with pybullet is the URDF a user brings."""
    (example,) = blocks("yaml")
    folder = shutil.copytree(Path(pybullet_data.getDataPath()) / "kuka_iiwa", tmp_path / "my_arm")
    (folder / "robot.yaml").write_text(example, encoding="utf-8")
    robot = load_robot(folder)
    assert pin.computeTotalMass(robot.model) == pytest.approx(17.5)
    np.testing.assert_allclose(robot.motors.reflected_inertia, [0.3] * 4 + [0.1] * 3)
    lines = [line for block in blocks("sh") for line in block.splitlines()]
    (command,) = [line for line in lines if line.startswith("simbench run") and "my_arm" in line]
    arguments = command.replace("my_arm", str(folder)).split()[1:]
    assert main([*arguments, "--out", str(tmp_path / "run")]) == 0
    metrics = json.loads((tmp_path / "run" / "metrics.json").read_text(encoding="utf-8"))
    assert metrics["tracking.rms_rad"] < 0.005


def test_the_recordings_are_inspected_and_exported(tmp_path, monkeypatch, capsys):
    markers = read_motion("actor:waving").markers
    write_trc(tmp_path / "walk.trc", markers, 60.0)
    monkeypatch.chdir(tmp_path)
    lines = [line.partition("#")[0].split()[1:] for block in blocks("sh") for line in block.splitlines()]
    commands = [line for line in lines if line[:1] == ["motion"] or "take.bvh" in line]
    assert len(commands) == 6
    for command in commands:
        if "walk.trc" in command:
            assert main(command) == 0
        elif "session" not in command:
            # Nothing is wrong with what is asked for but that there is no such file.
            assert main(command) == 2
            assert "no such file" in capsys.readouterr().err
    assert (tmp_path / "walk.png").stat().st_size < 150_000
    np.testing.assert_allclose(
        read_motion("walk.c3d").joints["left_wrist"], read_motion("walk.trc").joints["left_wrist"], atol=1e-6
    )


def write_trc(path, markers, rate):
    """Write markers {name: (T, 3)} in m as OpenSim does: millimetres, y up."""
    tracks = 1000.0 * np.stack(list(markers.values()), axis=1)[:, :, [1, 2, 0]]
    count = len(tracks)
    header = f"{rate}\t{rate}\t{count}\t{len(markers)}\tmm\t{rate}\t1\t{count}"
    lines = ["PathFileType\t4\t(X/Y/Z)\twalk.trc"]
    lines += [
        "DataRate\tCameraRate\tNumFrames\tNumMarkers\tUnits\tOrigDataRate\tOrigDataStartFrame\tOrigNumFrames"
    ]
    lines += [header, "Frame#\tTime\t" + "\t\t\t".join(markers) + "\t\t"]
    lines += ["\t\t" + "\t".join(f"{axis}{k + 1}" for k in range(len(markers)) for axis in "XYZ"), ""]
    for k, frame in enumerate(tracks.reshape(count, -1)):
        lines.append(f"{k + 1}\t{k / rate:.5f}\t" + "\t".join(f"{value:.3f}" for value in frame))
    path.write_text("\n".join(lines) + "\n")


def test_the_sweep_prints_what_is_shown(tmp_path, monkeypatch, capsys):
    def run_here(function, work, jobs):
        return ((index, capture_result(function, arguments)) for index, arguments in enumerate(work))

    text = README.read_text(encoding="utf-8")
    command = re.search(r"^simbench (sweep .*)$", text, re.MULTILINE)[1]
    shown = re.search(r"commands prints\n\n```\n(.*?)\n\ntable ", text, re.DOTALL)[1]
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(processes, "run_isolated", run_here)
    # Two of the runs are beyond a speed limit.
    assert main(command.split()) == 1
    printed = [line.split() for line in capsys.readouterr().out.splitlines()[:7]]
    for line, expected in zip(printed, shown.splitlines(), strict=True):
        for said, word in zip(line, expected.split(), strict=True):
            if word[0].isdigit():
                assert float(said) == pytest.approx(float(word), rel=0.01)
            else:
                assert said == word


def test_every_marker_map_and_suffix_is_named():
    text = README.read_text(encoding="utf-8")
    for name in map_names():
        assert f"`{name}`" in text
    for suffix in SUFFIXES:
        assert suffix in {".txt"} or suffix.strip(".").upper().replace("NC", "NetCDF") in text


def test_every_scenario_is_in_the_table():
    text = README.read_text(encoding="utf-8")
    for name in list_scenarios():
        assert f"| `{name}` |" in text


@pytest.mark.parametrize("picture", re.findall(r"\]\((docs/[^)]+)\)", README.read_text(encoding="utf-8")))
def test_pictures_exist_and_are_small(picture):
    path = README.parent / picture
    assert 10_000 < path.stat().st_size < 300_000


def test_listed_commands_exist():
    done = subprocess.run(
        [sys.executable, "-m", "simbench", "--help"], capture_output=True, text=True, check=True
    )
    commands = {
        line.split()[1]
        for block in blocks("sh")
        for line in block.splitlines()
        if line.startswith("simbench ")
    }
    assert {
        "list",
        "run",
        "video",
        "retarget",
        "place",
        "robot",
        "motion",
        "skills",
        "calibrate",
        "check",
        "sweep",
        "replay",
        "report",
    } == commands
    for command in commands:
        assert re.search(rf"\b{command}\b", done.stdout)
