"""`simbench convert`: what it reads, writes, prints and refuses."""

import numpy as np
import pytest
import run_by_hand as by_hand
from scipy.spatial.transform import Rotation

from simbench import JointTrajectory, read_trajectory
from simbench.cli.main import main
from simbench.cli.shared_options import FORMATS
from simbench.motion.trajectory_files.joint_order import foot_poses
from simbench.motion.trajectory_files.write import WRITERS, write_robot_motion


@pytest.fixture
def here(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.fixture(scope="module")
def romeo_motion(romeo):
    """ROMEO stands and turns by 1 rad in 2 s."""
    time = np.arange(61) / 30.0
    q = np.tile(romeo.postures["standing"], (61, 1))
    base = np.zeros((61, 7))
    base[:, 2] = -foot_poses(romeo, q).corners[..., 2].min()
    base[:, 3:] = Rotation.from_euler("z", 1.0 + 0.5 * time[:, None]).as_quat()
    return JointTrajectory(time, q, romeo.joint_names, base)


def test_the_help_names_every_format():
    assert ", ".join(WRITERS) == FORMATS


def test_a_file_is_converted_and_what_was_found_out_is_said(romeo, romeo_motion, here, capsys):
    write_robot_motion(romeo_motion, romeo, here / "a.pkl", "gmr", {})
    assert main(["convert", "a.pkl", "b.csv", "--robot", "romeo", "--rate", "60"]) == 0
    printed = capsys.readouterr()
    assert printed.err == ""
    lines = printed.out.splitlines()
    assert lines[0] == "read  a.pkl as gmr"
    assert any(line.startswith("note: quaternion xyzw") for line in lines)
    assert lines[-1] == "trajectory  b.csv  (csv, 121 samples at 60 Hz)"
    found = read_trajectory(here / "b.csv")
    np.testing.assert_allclose(found.time, np.arange(121) / 60.0, atol=1e-12)
    np.testing.assert_allclose(found.base[::2], romeo_motion.base, atol=1e-8)


def test_doubts_are_errors_output_and_a_declaration_ends_them(romeo, romeo_motion, here, capsys):
    write_robot_motion(romeo_motion, romeo, here / "a.csv", "unitree", {})
    assert main(["convert", "a.csv", "b.nc", "--robot", "romeo"]) == 0
    assert "doubt: the file does not say its rate" in capsys.readouterr().err
    assert main(["convert", "a.csv", "b.nc", "--robot", "romeo", "--fps", "25"]) == 0
    assert capsys.readouterr().err == ""
    np.testing.assert_allclose(read_trajectory(here / "b.nc").time, np.arange(61) / 25.0)


def test_tables_without_names_are_written_at_30_hz(romeo, romeo_motion, here, capsys):
    write_robot_motion(romeo_motion, romeo, here / "a.nc", "nc", {})
    words = ["convert", "a.nc", "b.csv", "--robot", "romeo", "--format", "unitree", "--fps", "15"]
    assert main(words) == 0
    assert capsys.readouterr().out.endswith("(unitree, 121 samples at 30 Hz)\n")
    assert np.loadtxt(here / "b.csv", delimiter=",").shape[0] == 121


@pytest.mark.parametrize(("options", "behind"), [([], by_hand.ERROR), (["--planned"], 0.0)])
def test_a_run_gives_what_was_measured_or_planned(here, capsys, options, behind):
    by_hand.write_puma_run(here / "run")
    assert main(["convert", "run", "a.nc", *options]) == 0
    assert capsys.readouterr().out == "trajectory  a.nc  (nc, 201 samples at 100 Hz)\n"
    found = read_trajectory(here / "a.nc")
    assert found.joint_names == by_hand.PUMA_JOINTS
    np.testing.assert_allclose(found.q, by_hand.reference(6) - behind, atol=1e-12)
    assert found.base is None


@pytest.mark.parametrize(
    ("words", "part"),
    [
        (["a.nc", "b.csv"], "a.nc: give the robot whose motion it is with --robot NAME"),
        (["a.nc", "b.csv", "--robot", "romeo", "--planned"], "a.nc: --planned needs a run directory"),
        (["run", "b.csv", "--robot", "puma560", "--planned"], "leave out --robot"),
        (["a.nc", "b.txt", "--robot", "romeo"], "b.txt: the name of a joint trajectory must end in"),
        (["a.nc", "b.txt", "--robot", "romeo", "--format", "fbx"], "format 'fbx': unknown; allowed: csv"),
        (["a.nc", "no/b.csv", "--robot", "romeo"], "no/b.csv: must be a file in a directory that exists"),
        (["no.nc", "b.csv", "--robot", "romeo"], "no.nc: no such file"),
        (["a.nc", "b.csv", "--robot", "romeo", "--rate", "0"], "--rate 0: allowed"),
        (["a.nc", "b.csv", "--robot", "puma560"], "puma560 has no joint"),
        (["a.nc", "b.csv", "--robot", "romeo", "--source-format", "fbx"], "format 'fbx': unknown"),
        (["a.nc", "b.csv", "--robot", "romeo", "--quaternion", "wzyx"], "quaternion 'wzyx'"),
        (["a.nc", "b.csv", "--robot", "romeo", "--joint-order", "no.txt"], "no.txt: no such file"),
        (["run", "b.pkl"], "format gmr holds the pose of a floating base"),
    ],
)
def test_what_is_refused_is_said_in_one_line(romeo, romeo_motion, here, capsys, words, part):
    write_robot_motion(romeo_motion, romeo, here / "a.nc", "nc", {})
    by_hand.write_puma_run(here / "run")
    before = sorted(here.iterdir())
    assert main(["convert", *words]) == 2
    printed = capsys.readouterr()
    assert printed.err.count("\n") == 1
    assert part in printed.err
    assert sorted(here.iterdir()) == before


def test_an_interrupted_or_foreign_run_directory(here, capsys):
    (here / "empty").mkdir()
    assert main(["convert", "empty", "a.nc"]) == 2
    assert "not a run directory" in capsys.readouterr().err
    assert main(["convert", "empty", "a.nc", "--robot", "puma560"]) == 2
    assert "not a run directory" in capsys.readouterr().err


def test_the_log_of_a_run_is_a_file_of_a_motion_too(here, capsys):
    by_hand.write_puma_run(here / "run")
    assert main(["convert", "run/log.nc", "a.csv", "--robot", "puma560"]) == 0
    assert "read  run/log.nc as run" in capsys.readouterr().out
    found = read_trajectory(here / "a.csv")
    np.testing.assert_allclose(found.q, by_hand.reference(6) - by_hand.ERROR, atol=1e-8)


def test_a_robots_motion_where_a_recording_is_expected_is_said(romeo, romeo_motion, here, capsys):
    write_robot_motion(romeo_motion, romeo, here / "a.csv", "unitree", {})
    assert main(["motion", "inspect", "a.csv"]) == 2
    printed = capsys.readouterr().err
    assert printed.count("\n") == 1
    assert "it looks like a robot's motion: simbench convert" in printed
    (here / "b.csv").write_text("time_s,left_hand_x_m\n")
    assert main(["motion", "inspect", "b.csv"]) == 2
    assert "robot's motion" not in capsys.readouterr().err
