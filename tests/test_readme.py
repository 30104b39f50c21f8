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

from simbench.cli import main
from simbench.robot.robot import load_robot
from simbench.scenario import list_scenarios

README = Path(__file__).parents[1] / "README.md"


def blocks(language):
    return re.findall(rf"```{language}\n(.*?)```", README.read_text(encoding="utf-8"), flags=re.DOTALL)


def test_the_python_example_runs(tmp_path):
    (example,) = blocks("python")
    done = subprocess.run(
        [sys.executable, "-c", example], cwd=tmp_path, capture_output=True, text=True, timeout=120
    )
    assert done.returncode == 0, done.stderr
    ratio, *worst = done.stdout.splitlines()
    assert 0.95 <= float(ratio) <= 1.05
    # The fingers are stopped by the drawer; every other joint follows.
    assert worst[0].startswith("joint") or "Hand" in worst[0]
    assert (tmp_path / "runs" / "one_stroke" / "log.nc").is_file()


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
    assert {"list", "run", "video", "retarget", "robot"} == commands
    for command in commands:
        assert re.search(rf"\b{command}\b", done.stdout)
