"""`simbench verdict`: exit status, table, JSON, picture, and the simulated run."""

import json
from dataclasses import replace

import numpy as np
import pytest
from PIL import Image
from standing_motions import standing_motion

from simbench.cli.main import main
from simbench.motion.trajectory_files.joint_order import joint_units
from simbench.motion.trajectory_files.native import write_trajectory


def write(robot, trajectory, path):
    write_trajectory(trajectory, path, joint_units(robot), {})
    return str(path)


@pytest.fixture
def good(tmp_path):
    robot, trajectory = standing_motion("romeo", 50.0)
    return write(robot, trajectory, tmp_path / "good.csv")


@pytest.fixture
def sunk(tmp_path):
    robot, trajectory = standing_motion("romeo", 50.0)
    base = trajectory.base.copy()
    base[100:150, 2] -= 0.03
    return write(robot, replace(trajectory, base=base), tmp_path / "sunk.nc")


def test_a_possible_motion_passes(good, capsys):
    assert main(["verdict", good, "--robot", "romeo", "--no-run"]) == 0
    out = capsys.readouterr().out
    assert out.splitlines()[-1] == "passes all 14 checks"
    assert "joint torque" in out


def test_what_fails_is_said_with_its_first_moment_in_table_json_and_picture(sunk, tmp_path, capsys):
    picture, written = tmp_path / "verdict.png", tmp_path / "verdict.json"
    options = ["--no-run", "--picture", str(picture), "--json", str(written)]
    assert main(["verdict", sunk, "--robot", "romeo", *options]) == 1
    out = capsys.readouterr().out
    [row] = [line for line in out.splitlines() if line.startswith("floor penetration")]
    assert "2.00 s, frame 100" in row
    assert out.splitlines()[-1].startswith("fails 2 of 14 checks: ")
    # Both feet are as deep.
    assert "floor penetration (left_foot) from 2.00 s (frame 100)" in out.splitlines()[-1]
    found = json.loads(written.read_text())
    failing = {check["name"]: check["first"] for check in found["checks"] if check["outcome"] == "fail"}
    # The base jumps there, too.
    assert failing == {"jump": {"time": 2.0, "frame": 100}, "floor penetration": {"time": 2.0, "frame": 100}}
    with Image.open(picture) as image:
        pixels = np.asarray(image.convert("RGB")).astype(int)
        assert image.size[0] == 1200
    # Red lines mark the first failures, two fifths along the lanes.
    red = (pixels[..., 0] > 180) & (pixels[..., 1] < 60) & (pixels[..., 2] < 60)
    columns = np.flatnonzero(red.sum(axis=0) > 60)
    lanes = (columns - 124.0) / (1200 - 124 - 24)
    assert len(columns)
    assert np.abs(lanes - 2.0 / 4.98).max() < 0.01


def test_json_alone_goes_to_the_output(good, capsys):
    assert main(["verdict", good, "--robot", "romeo", "--no-run", "--json", "-"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert (found["robot"], found["frames"], found["passed"]) == ("romeo", 250, True)


def test_the_floor_may_be_declared(tmp_path, capsys):
    robot, trajectory = standing_motion("romeo", 50.0)
    base = trajectory.base + np.array([0.0, 0.0, -0.5, 0.0, 0.0, 0.0, 0.0])
    file = write(robot, replace(trajectory, base=base), tmp_path / "low.csv")
    assert main(["verdict", file, "--robot", "romeo", "--no-run"]) == 1
    assert "declare --floor -0.500" in capsys.readouterr().out
    assert main(["verdict", file, "--robot", "romeo", "--no-run", "--floor", "-0.5"]) == 0


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["missing.csv"], "missing.csv: no such file"),
        (["--floor", "nan"], "--floor nan: must be a finite height"),
        (["--picture", "p.jpg"], "p.jpg: the file's name must end in .png"),
        (["--no-run", "--out", "runs/x"], "--out keeps the simulated run"),
    ],
)
def test_bad_input_is_refused_in_one_line(arguments, message, good, capsys):
    file = [] if arguments[0].endswith(".csv") else [good]
    assert main(["verdict", *file, *arguments, "--robot", "romeo"]) == 2
    [line] = [line for line in capsys.readouterr().err.splitlines() if line.startswith("error: ")]
    assert message in line


def test_a_possible_motion_is_followed_in_a_run(tmp_path, capsys):
    robot, trajectory = standing_motion("romeo", 50.0, 1.5)
    file, run = write(robot, trajectory, tmp_path / "short.csv"), tmp_path / "run"
    assert main(["verdict", file, "--robot", "romeo", "--out", str(run), "--json", "-"]) == 0
    checks = {check["name"]: check for check in json.loads(capsys.readouterr().out)["checks"]}
    simulated = [name for name in checks if name.startswith("run: ")]
    assert len(simulated) == 7
    assert all(checks[name]["outcome"] == "pass" for name in simulated)
    assert checks["run: base"]["value"] < 0.02
    assert (run / "log.nc").exists()
