import numpy as np
import pytest

from simbench.errors import MotionError
from simbench.motion.trajectory import JointTrajectory
from simbench.motion.trajectory_files.native import read_trajectory_csv, write_trajectory_csv

BASE = np.tile([0.1, 0.2, 0.8, 0.0, 0.6, 0.0, 0.8], (5, 1))
UNITS = ("rad", "m")
BASE_HEADER = "base_x_m,base_y_m,base_z_m,base_qx,base_qy,base_qz,base_qw"


def _trajectory(base):
    time = np.linspace(0.0, 1.0, 5)
    return JointTrajectory(time, np.outer(time, [1.0 / 3.0, -2.0]), ("LElbowYaw", "lift_m"), base)


@pytest.mark.parametrize("base", [BASE, None])
def test_a_trajectory_reads_back_with_nine_digits(tmp_path, base):
    trajectory = _trajectory(base)
    write_trajectory_csv(trajectory, tmp_path / "t.csv", UNITS)
    found = read_trajectory_csv(tmp_path / "t.csv")
    assert found.joint_names == ("LElbowYaw", "lift_m")
    np.testing.assert_allclose(found.time, trajectory.time, rtol=5e-9)
    np.testing.assert_allclose(found.q, trajectory.q, rtol=5e-9)
    assert (found.base is None) == (base is None)
    if base is not None:
        np.testing.assert_array_equal(found.base, BASE)


def test_other_programs_read_the_columns_by_name(tmp_path):
    write_trajectory_csv(_trajectory(BASE), tmp_path / "t.csv", UNITS)
    table = np.genfromtxt(tmp_path / "t.csv", delimiter=",", names=True)
    assert table.dtype.names == ("time_s", *BASE_HEADER.split(","), "LElbowYaw_rad", "lift_m_m")
    np.testing.assert_allclose(table["lift_m_m"], -2.0 * np.linspace(0.0, 1.0, 5))
    np.testing.assert_allclose(table["base_z_m"], 0.8)


def test_without_a_base_there_are_only_joints(tmp_path):
    write_trajectory_csv(_trajectory(None), tmp_path / "t.csv", UNITS)
    assert (tmp_path / "t.csv").read_text(encoding="utf-8").startswith("time_s,LElbowYaw_rad,lift_m_m\n")


@pytest.mark.parametrize(
    ("text", "parts"),
    [
        ("", ["not a joint trajectory", "time_s"]),
        ("time_s,elbow\n0,0\n", ["not a joint trajectory", "LElbowRoll_rad"]),
        ("t,a_rad\n0,0\n", ["not a joint trajectory"]),
        ("time_s,a_rad\n", ["no samples below the header"]),
        ("time_s,a_rad\n0\n1\n", ["1 numbers a line below a header of 2 columns"]),
        ("time_s,a_rad\n0,0\n1\n", ["not a table of numbers"]),
        ("time_s,a_rad\n0,zero\n", ["not a table of numbers", "zero"]),
        ("time_s,a_rad,b_m\n0,0,0\n1,0,nan\n", ["joint b is NaN or infinite at sample 1"]),
        ("time_s,a_rad\n0,0\ninf,0\n", ["time is NaN or infinite at sample 1"]),
        ("time_s,a_rad\n0,0\n1,0\n1,0\n", ["sample 2 is at 1 s, after 1 s"]),
        ("time_s,a_rad,a_rad\n0,0,0\n", ["joint a is there twice"]),
        (f"time_s,{BASE_HEADER},a_rad\n0,0,0,0,0,0,0,0.9,0\n", ["quaternion at sample 0 has length 0.9"]),
    ],
)
@pytest.mark.filterwarnings("error")
def test_what_is_no_trajectory_is_refused_in_one_line(tmp_path, text, parts):
    path = tmp_path / "t.csv"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(MotionError) as refusal:
        read_trajectory_csv(path)
    for part in (str(path), *parts):
        assert part in str(refusal.value)


def test_what_cannot_be_read_is_refused(tmp_path):
    with pytest.raises(MotionError):
        read_trajectory_csv(tmp_path / "nowhere.csv")
    (tmp_path / "binary.csv").write_bytes(b"\x89HDF\xff\xfe")
    with pytest.raises(MotionError):
        read_trajectory_csv(tmp_path / "binary.csv")


def test_a_file_that_cannot_be_written_leaves_nothing(tmp_path):
    (tmp_path / "taken").mkdir()
    with pytest.raises(OSError, match="taken"):
        write_trajectory_csv(_trajectory(None), tmp_path / "taken", UNITS)
    assert [path.name for path in tmp_path.iterdir()] == ["taken"]


def test_an_interruption_leaves_the_old_file_and_nothing_else(tmp_path, monkeypatch):
    def interrupt(*_):
        raise KeyboardInterrupt

    (tmp_path / "t.csv").write_text("old")
    monkeypatch.setattr("os.replace", interrupt)
    with pytest.raises(KeyboardInterrupt):
        write_trajectory_csv(_trajectory(None), tmp_path / "t.csv", UNITS)
    assert [(path.name, path.read_text()) for path in tmp_path.iterdir()] == [("t.csv", "old")]
