"""Robot motions in every written format: they read back, and other programs find what they look for."""

import pickle
from dataclasses import replace

import numpy as np
import pinocchio as pin
import pytest
from robot_walks import link_poses, make_walks
from scipy.spatial.transform import Rotation

from simbench import JointTrajectory, load_robot
from simbench.errors import MotionError
from simbench.motion.trajectory_files import read_robot_motion
from simbench.motion.trajectory_files.stored_motion import (
    TrajectoryOptions,
    resample_trajectory,
    uniform_rate,
)
from simbench.motion.trajectory_files.write import WRITERS, choose_format, write_robot_motion
from simbench.robot.robot import placed_robot

SUFFIX = {"csv": ".csv", "unitree": ".csv", "gmr": ".pkl", "npz": ".npz", "nc": ".nc"}


def moving_arm(robot):
    time = np.arange(30) / 50.0
    q = 0.3 * np.sin(time[:, None] + np.arange(len(robot.joint_names)))
    return JointTrajectory(time, q, robot.joint_names)


@pytest.mark.parametrize("rate", [30.0, 50.0, 119.88])
@pytest.mark.parametrize("name", WRITERS)
def test_what_is_written_reads_back(g1, tmp_path, name, rate):
    rng = np.random.default_rng(4)
    walk = make_walks(g1, 1, rng=rng, rate=rate, heading=-1.0).trajectory(g1)
    base = walk.base.copy()
    base[:, :2] += [12.3, -45.6]
    walk = replace(walk, base=base)
    path = tmp_path / f"a{SUFFIX[name]}"
    write_robot_motion(walk, g1, path, name, {"source": "walk"})
    # A table without names does not say its rate.
    options = TrajectoryOptions(fps=rate if name == "unitree" else None)
    found = read_robot_motion(path, g1, options).trajectory
    np.testing.assert_allclose(found.q, walk.q, rtol=0.0, atol=1e-6)
    np.testing.assert_allclose(found.base[:, :3], walk.base[:, :3], rtol=0.0, atol=1e-6)
    turned = Rotation.from_quat(found.base[:, 3:]).inv() * Rotation.from_quat(walk.base[:, 3:])
    assert turned.magnitude().max() < 1e-6
    assert uniform_rate(found.time) == rate
    np.testing.assert_allclose(found.time, walk.time, rtol=0.0, atol=1e-9)


@pytest.mark.parametrize("name", ["csv", "npz", "nc"])
def test_an_arm_on_a_fixed_base_reads_back(tmp_path, name):
    arm = load_robot("puma560")
    moved = moving_arm(arm)
    write_robot_motion(moved, arm, tmp_path / f"a{SUFFIX[name]}", name, {})
    found = read_robot_motion(tmp_path / f"a{SUFFIX[name]}", arm).trajectory
    np.testing.assert_allclose(found.q, moved.q, rtol=0.0, atol=1e-6)
    assert found.base is None
    assert uniform_rate(found.time) == 50.0


@pytest.mark.parametrize("name", ["unitree", "gmr"])
def test_formats_of_a_floating_base_refuse_a_fixed_one(tmp_path, name):
    arm = load_robot("puma560")
    with pytest.raises(MotionError):
        write_robot_motion(moving_arm(arm), arm, tmp_path / "a", name, {})
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("name", ["unitree", "gmr", "npz"])
def test_formats_with_a_rate_refuse_uneven_samples(g1, walk, tmp_path, name):
    time = walk.time.copy()
    time[7] += 0.01
    with pytest.raises(MotionError, match="--rate HZ"):
        write_robot_motion(replace(walk, time=time), g1, tmp_path / "a", name, {})
    assert not list(tmp_path.iterdir())


def test_unitrees_table_has_seven_and_29_columns(g1, walk, body, tmp_path):
    write_robot_motion(walk, g1, tmp_path / "a.csv", "unitree", {})
    table = np.loadtxt(tmp_path / "a.csv", delimiter=",")
    assert table.shape == (len(walk.time), 36)
    np.testing.assert_allclose(table[:, :7], walk.base, atol=1e-8)
    np.testing.assert_allclose(table[:, 7:], walk.q[:, body], atol=1e-8)


def test_fingers_that_move_are_written_too(g1, walk, tmp_path):
    q = walk.q.copy()
    q[5, g1.joint_names.index("left_hand_index_0_joint")] -= 0.2
    write_robot_motion(replace(walk, q=q), g1, tmp_path / "a.csv", "unitree", {})
    assert np.loadtxt(tmp_path / "a.csv", delimiter=",").shape[1] == 7 + 43
    np.testing.assert_allclose(read_robot_motion(tmp_path / "a.csv", g1).trajectory.q, q, atol=1e-8)


def test_gmrs_pickle_has_what_gmr_reads(g1, walk, body, tmp_path):
    write_robot_motion(walk, g1, tmp_path / "a.pkl", "gmr", {})
    written = (tmp_path / "a.pkl").read_bytes()
    # Both generations of NumPy know this name.
    assert b"numpy._core" not in written
    content = pickle.loads(written)
    assert content["fps"] == 30
    assert isinstance(content["fps"], int)
    np.testing.assert_array_equal(content["root_pos"], walk.base[:, :3])
    np.testing.assert_array_equal(content["root_rot"], walk.base[:, 3:])
    np.testing.assert_array_equal(content["dof_pos"], walk.q[:, body])
    names, places, _ = link_poses(g1, walk)
    assert content["link_body_list"] == names
    turned = Rotation.from_quat(walk.base[:, 3:]).as_matrix()
    local = np.einsum("tji,tbj->tbi", turned, places - walk.base[:, None, :3])
    np.testing.assert_allclose(content["local_body_pos"], local, atol=1e-9)


def test_the_archive_has_links_in_the_world_and_names(g1, walk, tmp_path):
    write_robot_motion(walk, g1, tmp_path / "a.npz", "npz", {"source": "walk"})
    names, places, turns = link_poses(g1, walk)
    with np.load(tmp_path / "a.npz") as stored:
        assert stored["fps"].tolist() == [30]
        assert stored["joint_names"].tolist() == list(g1.joint_names)
        assert stored["body_names"].tolist() == names
        np.testing.assert_allclose(stored["body_pos_w"], places, atol=1e-9)
        quaternion = stored["body_quat_w"][..., [1, 2, 3, 0]].reshape(-1, 4)
        np.testing.assert_allclose(
            Rotation.from_quat(quaternion).as_matrix(), turns.reshape(-1, 3, 3), atol=1e-9
        )
        np.testing.assert_allclose(stored["joint_vel"][1:-1], (walk.q[2:] - walk.q[:-2]) * 15.0, atol=1e-9)


def test_velocities_of_a_turntable_are_exact(g1, tmp_path):
    """The whole robot turns about the vertical at 0.8 rad/s: so does every link."""
    time = np.arange(40) / 60.0
    base = np.zeros((40, 7))
    base[:, 2] = 0.8
    base[:, 3:] = Rotation.from_euler("z", 3.0 + 0.8 * time[:, None]).as_quat()
    q = np.tile(g1.postures["standing"], (40, 1))
    write_robot_motion(JointTrajectory(time, q, g1.joint_names, base), g1, tmp_path / "a.npz", "npz", {})
    with np.load(tmp_path / "a.npz") as stored:
        turning = stored["body_ang_vel_w"]
        np.testing.assert_allclose(turning, np.broadcast_to([0.0, 0.0, 0.8], turning.shape), atol=1e-9)
        # v = ω × r, up to the chord of the central difference.
        across = np.cross([0.0, 0.0, 0.8], stored["body_pos_w"])
        np.testing.assert_allclose(stored["body_lin_vel_w"][1:-1], across[1:-1], atol=1e-4)


def test_resampling_interpolates_joints_and_turns_evenly():
    time = np.array([0.0, 0.1, 0.3, 0.5])
    turns = Rotation.from_euler("z", 2.0 * time[:, None])
    base = np.hstack([np.outer(time, [1.0, 2.0, 3.0]), -turns.as_quat()])
    moved = JointTrajectory(time, np.outer(time, [4.0, -5.0]), ("a", "b"), base)
    found = resample_trajectory(moved, 40.0)
    np.testing.assert_allclose(found.time, np.arange(21) / 40.0, atol=1e-12)
    np.testing.assert_allclose(found.q, np.outer(found.time, [4.0, -5.0]), atol=1e-12)
    np.testing.assert_allclose(found.base[:, :3], np.outer(found.time, [1.0, 2.0, 3.0]), atol=1e-12)
    headings = Rotation.from_quat(found.base[:, 3:]).as_rotvec()[:, 2]
    np.testing.assert_allclose(headings, 2.0 * found.time, atol=1e-12)


@pytest.mark.parametrize("rate", [0.0, -3.0, float("nan"), 1e6])
def test_a_rate_that_is_none_is_refused(walk, rate):
    with pytest.raises(MotionError):
        resample_trajectory(walk, rate)


def test_the_suffix_or_the_name_chooses_the_format(tmp_path):
    assert choose_format(tmp_path / "a.PKL", None) == "gmr"
    assert choose_format(tmp_path / "a.csv", "unitree") == "unitree"
    with pytest.raises(MotionError):
        choose_format(tmp_path / "a.txt", None)
    with pytest.raises(MotionError):
        choose_format(tmp_path / "a.csv", "fbx")


@pytest.mark.parametrize(
    ("name", "format"),
    # A pickle holds no robot on a fixed base.
    [
        *((name, "npz") for name in ("puma560", "ur5", "panda", "g1", "talos")),
        ("g1", "gmr"),
        ("talos", "gmr"),
    ],
)
def test_written_links_are_where_pinocchio_has_them(tmp_path, name, format):
    """With a base that is fixed, shifted and turned, and with a free one."""
    robot = load_robot(name)
    if not robot.floating:
        robot = placed_robot(robot, np.array([0.4, -0.3, 0.5, 0.0, 0.0, 0.6, 0.8]))
    moved = moving_arm(robot)
    base = np.tile([0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 1.0], (30, 1))
    if robot.floating and format == "npz":
        base[:] = [0.4, -0.3, 0.5, 0.48, 0.36, 0.64, 0.48]
        base[:, 0] += 0.1 * moved.time
    if robot.floating:
        moved = replace(moved, base=base)
    path = tmp_path / f"a{SUFFIX[format]}"
    write_robot_motion(moved, robot, path, format, {})
    if format == "npz":
        with np.load(path) as stored:
            names, places = stored["body_names"].tolist(), stored["body_pos_w"]
    else:
        content = pickle.loads(path.read_bytes())
        names, places = content["link_body_list"], content["local_body_pos"]
    data = robot.model.createData()
    ids = [robot.model.getFrameId(link, pin.FrameType.BODY) for link in names]
    for sample in (0, 17, 29):
        q = moved.q[sample] if moved.base is None else np.hstack([base[sample], moved.q[sample]])
        pin.framesForwardKinematics(robot.model, data, q)
        expected = np.array([data.oMf[frame].translation for frame in ids])
        np.testing.assert_allclose(places[sample], expected, rtol=0.0, atol=1e-9)
