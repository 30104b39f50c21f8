import numpy as np
import pytest

from simbench.motion.trajectory import JointTrajectory
from simbench.motion.trajectory_csv import write_csv


def _trajectory(base):
    time = np.linspace(0.0, 1.0, 5)
    return JointTrajectory(time, np.outer(time, [1.0, -2.0]), ("LElbowYaw", "RElbowYaw"), base)


def test_a_trajectory_reads_back_from_csv(tmp_path):
    base = np.tile([0.1, 0.2, 0.8, 0.0, 0.0, 0.0, 1.0], (5, 1))
    trajectory = _trajectory(base)
    write_csv(trajectory, tmp_path / "t.csv")
    table = np.genfromtxt(tmp_path / "t.csv", delimiter=",", names=True)
    assert table.dtype.names[0] == "time_s"
    np.testing.assert_allclose(table["RElbowYaw"], trajectory.q[:, 1], atol=1e-8)
    np.testing.assert_allclose(table["base_z_m"], 0.8)


def test_without_a_base_there_are_only_joints(tmp_path):
    write_csv(_trajectory(None), tmp_path / "t.csv")
    assert (tmp_path / "t.csv").read_text(encoding="utf-8").startswith("time_s,LElbowYaw,RElbowYaw\n")


def test_a_file_that_cannot_be_written_leaves_nothing(tmp_path):
    (tmp_path / "taken").mkdir()
    with pytest.raises(OSError, match="taken"):
        write_csv(_trajectory(None), tmp_path / "taken")
    assert [path.name for path in tmp_path.iterdir()] == ["taken"]
