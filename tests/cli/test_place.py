"""`simbench place`: what is printed, and with which exit status."""

from dataclasses import replace

import numpy as np
import pytest

from simbench.cli.main import main
from simbench.motion import readers
from simbench.motion.human_motion import HandlePath
from simbench.motion.readers import read_motion

WALK = "deepmimic:humanoid3d_walk"


@pytest.fixture
def handle_at(monkeypatch):
    """Let every recording have one handle for the right hand, free to turn about the fingers."""
    walk = read_motion(WALK)

    def put(x, y, z):
        way = np.tile(np.eye(4), (3, 1, 1))
        way[:, :3, 3] = [[x, y, z], [x, y + 0.02, z], [x, y + 0.04, z]]
        handles = {"right": HandlePath(way, np.array([1.0, 0.0, 0.0]))}
        monkeypatch.setattr(readers, "read_motion", lambda *_: replace(walk, handles=handles))

    return put


def test_reached_from_where_it_stands(handle_at, capsys):
    handle_at(0.55, 0.1, 0.8)
    assert main(["place", WALK, "--robot", "puma560"]) == 0
    out = capsys.readouterr().out
    assert "feasible: puma560 reaches every pose from where it stands" in out
    assert "robot.position_m        [0.000, 0.000]" in out
    assert "height" not in out


def test_another_place_is_found_and_serves(handle_at, capsys):
    handle_at(3.0, -1.0, 0.8)
    assert main(["place", WALK, "--robot", "puma560"]) == 0
    out = capsys.readouterr().out
    assert out.startswith("not from where it stands: a palm stays")
    x, y = out.split("robot.position_m        [")[1].split("]")[0].split(", ")
    assert np.hypot(float(x) - 3.0, float(y) + 1.0) < 1.0
    heading = out.split("robot.heading_rad  ")[1].split()[0]
    assert main(["place", WALK, "--robot", "puma560", "--position", x, y, "--heading", heading]) == 0
    assert "from where it stands" in capsys.readouterr().out


def test_no_place_is_exit_status_1(handle_at, capsys):
    handle_at(0.5, 0.0, 2.5)
    assert main(["place", WALK, "--robot", "puma560"]) == 1
    assert "infeasible: puma560 has no place" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ([WALK], r"the recording has: no handles"),
        ([WALK, "--robot", "nobody"], r"unknown robot"),
        ([WALK, "--posture", "lying"], r"no posture `lying`"),
    ],
)
def test_bad_input_is_one_line(arguments, message, capsys):
    assert main(["place", *arguments]) == 2
    error = capsys.readouterr().err
    assert message in error
    assert error.count("\n") == 1


def test_of_a_scenario_what_each_place_and_size_brings(capsys):
    assert main(["place", "ur5_drawer", "--equipment-scale", "0.9"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert [line.split()[:2] for line in lines[1:]] == [["0.90", "auto"]]


def test_what_a_scenario_says_itself_is_no_option(capsys):
    assert main(["place", "ur5_drawer", "--heading", "1"]) == 2
    assert "a scenario says where its robot stands" in capsys.readouterr().err
    assert main(["place", "g1_wave"]) == 2
    assert "has no equipment" in capsys.readouterr().err
    for scale in ("0", "5", "nan"):
        assert main(["place", "ur5_drawer", "--equipment-scale", scale]) == 2
        captured = capsys.readouterr()
        assert "equipment_scale: must be" in captured.err
        assert not captured.out
    assert main(["place", WALK, "--equipment-scale", "0.9"]) == 2
    assert "is no scenario" in capsys.readouterr().err
