"""Robot motions as other programs write them: the same walk in every layout reads back the same."""

import os
import pickle
from io import BytesIO

import numpy as np
import pytest
from robot_walks import link_poses
from scipy.spatial.transform import Rotation

from simbench.errors import MotionError
from simbench.motion.trajectory import JointTrajectory
from simbench.motion.trajectory_files import is_robot_motion, read_robot_motion
from simbench.motion.trajectory_files.joint_order import foot_poses
from simbench.motion.trajectory_files.native import read_trajectory, write_trajectory
from simbench.motion.trajectory_files.stored_motion import TrajectoryOptions
from simbench.motion.trajectory_files.write import write_robot_motion

# As Isaac Lab lists the joints of G1: level by level of the tree, left, right, waist.
ISAAC = (
    *("left_hip_pitch", "right_hip_pitch", "waist_yaw", "left_hip_roll", "right_hip_roll", "waist_roll"),
    *("left_hip_yaw", "right_hip_yaw", "waist_pitch", "left_knee", "right_knee", "left_shoulder_pitch"),
    *("right_shoulder_pitch", "left_ankle_pitch", "right_ankle_pitch", "left_shoulder_roll"),
    *("right_shoulder_roll", "left_ankle_roll", "right_ankle_roll", "left_shoulder_yaw"),
    *("right_shoulder_yaw", "left_elbow", "right_elbow", "left_wrist_roll", "right_wrist_roll"),
    *("left_wrist_pitch", "right_wrist_pitch", "left_wrist_yaw", "right_wrist_yaw"),
)
NO_RATE = "the file does not say its rate"


def w_first(base):
    return base[:, [0, 1, 2, 6, 3, 4, 5]]


def columns_of(robot, names):
    return [robot.joint_names.index(f"{name}_joint") for name in names]


def require_walk(motion, walk, *, rate=30.0, tolerance=1e-9):
    found = motion.trajectory
    assert found.joint_names == walk.joint_names
    np.testing.assert_allclose(found.q, walk.q, rtol=0.0, atol=tolerance)
    np.testing.assert_allclose(found.base[:, :3], walk.base[:, :3], rtol=0.0, atol=tolerance)
    turned = Rotation.from_quat(found.base[:, 3:]).inv() * Rotation.from_quat(walk.base[:, 3:])
    assert turned.magnitude().max() < max(tolerance, 2e-8)
    np.testing.assert_allclose(found.time, np.arange(len(walk.time)) / rate, rtol=0.0, atol=1e-12)


def write_table(path, columns, header=None, delimiter=","):
    names = {} if header is None else {"header": delimiter.join(header), "comments": ""}
    np.savetxt(path, np.hstack(columns), delimiter=delimiter, fmt="%.17g", **names)
    return path


@pytest.mark.parametrize(("order", "arrange"), [("xyzw", lambda base: base), ("wxyz", w_first)])
@pytest.mark.parametrize("delimiter", [",", " ", "\t", ";"])
def test_a_table_without_names_is_unitrees(g1, walk, body, tmp_path, order, arrange, delimiter):
    path = write_table(tmp_path / "a.csv", [arrange(walk.base), walk.q[:, body]], delimiter=delimiter)
    motion = read_robot_motion(path, g1)
    require_walk(motion, walk)
    assert motion.format == "unitree"
    assert any(note.startswith(f"quaternion {order}") for note in motion.notes)
    assert [doubt.startswith(NO_RATE) for doubt in motion.doubts] == [True]
    assert read_robot_motion(path, g1, TrajectoryOptions(fps=30.0)).doubts == ()


@pytest.mark.parametrize("first", ["frame", "time"])
def test_a_first_column_of_frames_or_times_is_found(g1, walk, body, tmp_path, first):
    column = np.arange(len(walk.time)) if first == "frame" else walk.time + 3.0
    path = write_table(tmp_path / "a.csv", [column[:, None], walk.base, walk.q[:, body]])
    motion = read_robot_motion(path, g1)
    require_walk(motion, walk)
    assert any(doubt.startswith(NO_RATE) for doubt in motion.doubts) == (first == "frame")


HEADERS = [
    ("time_s", "base_x_m", "base_y_m", "base_z_m", "base_qx", "base_qy", "base_qz", "base_qw"),
    ("time", "root_x", "root_y", "root_z", "root_qx", "root_qy", "root_qz", "root_qw"),
    ("timestamp", *(f"root_pos_{k}" for k in range(3)), *(f"root_rot_{k}" for k in range(4))),
    ("t", *(f"base_pos_{a}" for a in "xyz"), *(f"base_quat_{a}" for a in "xyzw")),
    ("Time [s]", "x", "y", "z", "qx", "qy", "qz", "qw"),
    (
        "time",
        "pelvis_tx",
        "pelvis_ty",
        "pelvis_tz",
        "pelvis_rot_x",
        "pelvis_rot_y",
        "pelvis_rot_z",
        "pelvis_rot_w",
    ),
    (
        "time",
        "root.pos.x",
        "root.pos.y",
        "root.pos.z",
        "root.quat.x",
        "root.quat.y",
        "root.quat.z",
        "root.quat.w",
    ),
]


@pytest.mark.parametrize("header", HEADERS, ids=lambda header: header[1])
@pytest.mark.parametrize("ending", ["_joint_rad", "_joint", "_joint_dof", "_dof_pos", ""])
def test_columns_are_known_by_their_names(g1, walk, body, tmp_path, header, ending):
    shuffled = np.random.default_rng(2).permutation(body)
    names = [g1.joint_names[k].removesuffix("_joint") + ending for k in shuffled]
    path = write_table(
        tmp_path / "a.csv", [walk.time[:, None], walk.base, walk.q[:, shuffled]], [*header, *names]
    )
    motion = read_robot_motion(path, g1)
    require_walk(motion, walk)
    assert motion.doubts == ()


def test_w_first_by_name_is_read_as_named(g1, walk, body, tmp_path):
    header = ["time", "x", "y", "z", "qw", "qx", "qy", "qz", *(g1.joint_names[k] for k in body)]
    path = write_table(tmp_path / "a.csv", [walk.time[:, None], w_first(walk.base), walk.q[:, body]], header)
    require_walk(read_robot_motion(path, g1), walk)


def test_centimetres_degrees_and_three_angles_are_converted_and_said(g1, walk, body, tmp_path):
    angles = Rotation.from_quat(walk.base[:, 3:]).as_euler("xyz", degrees=True)
    frames = np.arange(len(walk.time))[:, None]
    table = [frames, 100.0 * walk.base[:, :3], angles, np.degrees(walk.q[:, body])]
    base = [f"root_{kind}{axis}" for kind in ("translate", "rotate") for axis in "XYZ"]
    header = ["Frame", *base, *(f"{g1.joint_names[k]}_dof" for k in body)]
    motion = read_robot_motion(write_table(tmp_path / "a.csv", table, header), g1)
    require_walk(motion, walk, rate=120.0)
    said = " ".join(motion.notes)
    assert "angles in degrees" in said
    assert "position is in cm" in said
    assert len(motion.doubts) == 2


def test_numbered_joints_are_taken_in_the_usual_order(g1, walk, body, tmp_path):
    names = ["time", "base_x", "base_y", "base_z", "base_qx", "base_qy", "base_qz", "base_qw"]
    header = [*names, *(f"joint_{k}" for k in range(29))]
    path = write_table(tmp_path / "a.csv", [walk.time[:, None], walk.base, walk.q[:, body]], header)
    require_walk(read_robot_motion(path, g1), walk)


def test_isaac_labs_order_is_found_and_said(g1, walk, tmp_path):
    path = write_table(tmp_path / "a.csv", [walk.base, walk.q[:, columns_of(g1, ISAAC)]])
    motion = read_robot_motion(path, g1)
    require_walk(motion, walk)
    assert any("level by level, as in Isaac Lab" in note for note in motion.notes)


@pytest.mark.parametrize("form", ["lines", "yaml", "json"])
def test_a_list_of_names_decides_the_order(g1, walk, tmp_path, form):
    names = [*reversed(ISAAC)]
    text = {
        "lines": "\n".join(names),
        "yaml": "".join(f"- {name}_joint\n" for name in names),
        "json": str([f"{name}_joint" for name in names]).replace("'", '"'),
    }
    (tmp_path / "order.txt").write_text(text[form])
    path = write_table(tmp_path / "a.csv", [walk.base, walk.q[:, columns_of(g1, names)]])
    options = TrajectoryOptions(joint_order=str(tmp_path / "order.txt"))
    require_walk(read_robot_motion(path, g1, options), walk)


def gmr_content(walk, body, arrange=lambda base: base):
    return {
        "fps": 30,
        "root_pos": walk.base[:, :3],
        "root_rot": arrange(walk.base)[:, 3:],
        "dof_pos": walk.q[:, body],
        "local_body_pos": None,
        "link_body_list": None,
    }


@pytest.mark.parametrize("protocol", [2, 3, 4, 5])
def test_gmrs_pickle(g1, walk, body, tmp_path, protocol):
    (tmp_path / "a.pkl").write_bytes(pickle.dumps(gmr_content(walk, body), protocol=protocol))
    motion = read_robot_motion(tmp_path / "a.pkl", g1)
    require_walk(motion, walk)
    assert motion.format == "gmr"
    assert motion.doubts == ()


def test_a_pickle_against_its_convention_is_read_right_and_said(g1, walk, body, tmp_path):
    (tmp_path / "a.pkl").write_bytes(pickle.dumps(gmr_content(walk, body, w_first)))
    motion = read_robot_motion(tmp_path / "a.pkl", g1)
    require_walk(motion, walk)
    assert any("read as wxyz" in doubt for doubt in motion.doubts)


@pytest.mark.parametrize("with_rotation", [True, False])
def test_the_first_of_several_named_motions(g1, walk, body, tmp_path, with_rotation):
    turns = np.zeros((len(walk.time), 30, 3))
    turns[:, 0] = Rotation.from_quat(walk.base[:, 3:]).as_rotvec()
    first = {
        "fps": 30,
        "root_trans_offset": walk.base[:, :3].astype(np.float32),
        "pose_aa": turns.astype(np.float32),
        "dof": walk.q[:, body].astype(np.float32)[..., None],
    }
    if with_rotation:
        first["root_rot"] = walk.base[:, 3:].astype(np.float32)
    content = {"0-walk": first, "1-run": {**first, "fps": 7}}
    (tmp_path / "a.pkl").write_bytes(pickle.dumps(content))
    motion = read_robot_motion(tmp_path / "a.pkl", g1)
    require_walk(motion, walk, tolerance=1e-6)
    assert motion.format == "phc"
    assert "motion '0-walk', the first of 2" in motion.notes


def beyond_mimic(robot, walk, columns, rate=30.0):
    """Arrays of links in the world by Pinocchio; quaternions w first."""
    _, places, turns = link_poses(robot, walk)
    quaternion = Rotation.from_matrix(turns.reshape(-1, 3, 3)).as_quat()[:, [3, 0, 1, 2]]
    return {
        "fps": np.array([rate]),
        "joint_pos": walk.q[:, columns],
        "joint_vel": np.gradient(walk.q[:, columns], 1.0 / 30.0, axis=0),
        "body_pos_w": places,
        "body_quat_w": quaternion.reshape(*places.shape[:2], 4),
    }


@pytest.mark.parametrize("order", ["mujoco", "isaac"])
def test_links_in_the_world_give_base_and_order(g1, walk, body, tmp_path, order):
    columns = body if order == "mujoco" else columns_of(g1, ISAAC)
    np.savez(tmp_path / "a.npz", **beyond_mimic(g1, walk, columns))
    motion = read_robot_motion(tmp_path / "a.npz", g1)
    require_walk(motion, walk)
    assert motion.doubts == ()


@pytest.mark.parametrize("order", ["wxyz", "xyzw"])
@pytest.mark.parametrize("named", [True, False])
def test_joints_that_begin_with_the_base(g1, walk, tmp_path, order, named):
    content = beyond_mimic(g1, walk, np.arange(len(g1.joint_names)))
    base = w_first(walk.base) if order == "wxyz" else walk.base
    content["joint_pos"] = np.hstack([base, walk.q])
    content["joint_vel"] = np.hstack([np.zeros((len(walk.q), 6)), content["joint_vel"]])
    # MuJoCo's first body is the world.
    content["body_pos_w"] = np.pad(content["body_pos_w"], ((0, 0), (1, 0), (0, 0)))
    content["body_quat_w"] = np.pad(content["body_quat_w"], ((0, 0), (1, 0), (0, 0)))
    content["body_quat_w"][:, 0, 0] = 1.0
    if named:
        content["joint_names"] = np.array(g1.joint_names)
    np.savez(tmp_path / "a.npz", **content)
    motion = read_robot_motion(tmp_path / "a.npz", g1)
    require_walk(motion, walk)
    assert all(doubt.startswith("the order of the joints is not certain") for doubt in motion.doubts)
    assert not (named and motion.doubts)
    assert any(note.startswith(f"quaternion {order}") for note in motion.notes)


def test_a_rate_that_the_velocities_contradict_is_doubtful(g1, walk, body, tmp_path):
    content = beyond_mimic(g1, walk, body, rate=50.0)
    np.savez(tmp_path / "a.npz", **content)
    motion = read_robot_motion(tmp_path / "a.npz", g1)
    require_walk(motion, walk, rate=50.0)
    assert motion.doubts == ("the joint velocities in the file fit 30 samples a second, not 50",)
    del content["fps"]
    np.savez(tmp_path / "b.npz", **content)
    motion = read_robot_motion(tmp_path / "b.npz", g1)
    require_walk(motion, walk)
    assert motion.doubts == ()


def test_names_in_the_file_decide_the_order(g1, walk, tmp_path):
    names = [f"{name}_joint" for name in ISAAC]
    base = w_first(walk.base)
    np.savez(
        tmp_path / "a.npz",
        dt=1.0 / 30.0,
        dof_pos=walk.q[:, columns_of(g1, ISAAC)],
        dof_names=names,
        root_pos=base[:, :3],
        root_quat=base[:, 3:],
    )
    require_walk(read_robot_motion(tmp_path / "a.npz", g1), walk)


def test_generalised_coordinates_are_mujocos(g1, walk, body, tmp_path):
    np.savez(tmp_path / "a.npz", qpos=np.hstack([w_first(walk.base), walk.q[:, body]]), fps=30.0)
    require_walk(read_robot_motion(tmp_path / "a.npz", g1), walk)
    np.save(tmp_path / "b.npy", np.hstack([walk.base, walk.q[:, body]]))
    require_walk(read_robot_motion(tmp_path / "b.npy", g1), walk)


def test_lengths_and_signs_of_quaternions_are_repaired_and_said(g1, walk, body, tmp_path):
    spoilt = walk.base.copy()
    spoilt[::2, 3:] *= -1.01
    motion = read_robot_motion(write_table(tmp_path / "a.csv", [spoilt, walk.q[:, body]]), g1)
    require_walk(motion, walk)
    inner = np.einsum("ti,ti->t", motion.trajectory.base[1:, 3:], motion.trajectory.base[:-1, 3:])
    assert inner.min() > 0.0
    said = " ".join(motion.notes)
    assert "off by up to 0.01" in said
    assert "59 jump(s) of sign" in said


def as_pose_of(robot, trajectory, link):
    """A table whose base is the pose of another link, by Pinocchio."""
    names, places, turns = link_poses(robot, trajectory)
    rotation = Rotation.from_matrix(turns[:, names.index(link)])
    return np.hstack([places[:, names.index(link)], rotation.as_quat()])


def test_the_pose_of_a_trunk_far_above_the_root_is_recognised(romeo, tmp_path):
    time = np.arange(40) / 30.0
    q = np.tile(romeo.postures["standing"], (40, 1))
    q[:, romeo.joint_names.index("LShoulderPitch")] += 0.3 * np.sin(time)
    feet = foot_poses(romeo, q)
    lean = Rotation.from_euler("z", 1.0) * Rotation.from_euler("y", np.zeros((40, 1)))
    base = np.zeros((40, 7))
    base[:, 2] = -feet.corners[..., 2].min()
    base[:, 3:] = lean.as_quat()
    standing = JointTrajectory(time, q, romeo.joint_names, base)
    names = ["time", "x", "y", "z", "qx", "qy", "qz", "qw", *romeo.joint_names]
    table = [time[:, None], as_pose_of(romeo, standing, "torso"), q]
    motion = read_robot_motion(write_table(tmp_path / "a.csv", table, names), romeo)
    require_walk(motion, standing, tolerance=1e-8)
    assert [doubt for doubt in motion.doubts if "taken for that of torso" in doubt]


def test_the_pose_of_a_trunk_near_the_root_is_doubtful(g1, walk, body, tmp_path):
    table = [as_pose_of(g1, walk, "torso_link"), walk.q[:, body]]
    motion = read_robot_motion(write_table(tmp_path / "a.csv", table), g1)
    assert any("44 mm above z = 0 (median): the pose may be that of torso_link" in d for d in motion.doubts)


def test_another_floor_is_doubtful(g1, walk, body, tmp_path):
    lifted = walk.base.copy()
    lifted[:, 2] += 0.4
    motion = read_robot_motion(write_table(tmp_path / "a.csv", [lifted, walk.q[:, body]]), g1)
    np.testing.assert_allclose(motion.trajectory.base[:, 2], lifted[:, 2])
    assert any("400 mm above z = 0" in doubt for doubt in motion.doubts)


def test_a_missing_base_is_derived_from_the_standing_foot(g1, walk, body, tmp_path):
    path = write_table(tmp_path / "a.csv", [walk.q[:, body]], [g1.joint_names[k] for k in body])
    motion = read_robot_motion(path, g1, TrajectoryOptions(fps=30.0))
    assert any("no pose of the base" in doubt for doubt in motion.doubts)
    found, wanted = motion.trajectory.base, walk.base
    # Up to the place and the heading of the first footprint, which nothing tells.
    np.testing.assert_allclose(found[:, 2], wanted[:, 2], atol=0.06)
    tilt = [Rotation.from_quat(each[:, 3:]).as_matrix()[:, 2, 2] for each in (found, wanted)]
    np.testing.assert_allclose(*tilt, atol=0.02)
    travelled = [np.linalg.norm(each[-1, :2] - each[0, :2]) for each in (found, wanted)]
    assert travelled[0] == pytest.approx(travelled[1], rel=0.25)


@pytest.mark.parametrize("suffix", [".csv", ".nc"])
def test_simbenchs_own_files_lose_nothing(g1, walk, tmp_path, suffix):
    write_trajectory(walk, tmp_path / f"a{suffix}", ["rad"] * len(walk.joint_names), {})
    motion = read_robot_motion(tmp_path / f"a{suffix}", g1)
    require_walk(motion, read_trajectory(tmp_path / f"a{suffix}"), tolerance=1e-12)
    assert motion.doubts == ()


class _Shell:
    """A pickle of this would run a command."""

    def __init__(self, command):
        self.command = command

    def __reduce__(self):
        return os.system, (self.command,)


def test_a_pickle_that_would_run_a_command_is_refused_unexecuted(g1, walk, body, tmp_path):
    content = gmr_content(walk, body) | {"extra": _Shell(f"touch {tmp_path}/ran")}
    (tmp_path / "a.pkl").write_bytes(pickle.dumps(content))
    with pytest.raises(MotionError, match="system") as refused:
        read_robot_motion(tmp_path / "a.pkl", g1)
    assert "\n" not in str(refused.value)
    assert not (tmp_path / "ran").exists()


def archive(**arrays):
    memory = BytesIO()
    np.savez(memory, **arrays)
    return memory.getvalue()


Q = np.zeros((9, 29))
STANDING = np.tile([0.0, 0.0, 0.78, 0.0, 0.0, 0.0, 1.0], (20, 1))
NAN = np.where(np.arange(20 * 36).reshape(20, 36) == 400, np.nan, 0.1)


@pytest.mark.parametrize(
    ("name", "content", "part"),
    [
        ("a.csv", b"", "is empty"),
        ("a.csv", b"1,2,3\n4,5,6\n", "3 columns without names"),
        ("a.csv", b"1,2,3\n4,5\n", "not a table of numbers"),
        ("a.csv", b"time,left_knee_joint\n0,zero\n", "not a table of numbers"),
        ("a.csv", b"time,left_knee_joint\n", "no samples below the header"),
        ("a.csv", b"time,left_kne_joint\n0,1\n", "no joint 'left_kne_joint'; the nearest is left_knee_joint"),
        ("a.csv", b"time,left_knee_joint,left_knee\n0,1,1\n", "both for joint left_knee_joint"),
        ("a.csv", b"time,left_knee_joint\n0,1\n0,1\n", "time must increase"),
        ("a.csv", b"root_x,root_y,root_z,left_knee\n0,1,2,3\n", "no columns of the base's orientation"),
        ("a.csv", b"root_x,root_x,root_z,left_knee\n0,1,2,3\n", "two columns hold part x"),
        ("a.csv", b"root_x,root_z,left_knee\n0,1,2\n", "name the parts x, z"),
        ("a.csv", b"\xff\xfe\x00", "UTF-16"),
        ("a.npz", b"PK\x03\x04 no", "damaged archive"),
        ("a.npz", archive(poses=np.zeros((9, 156)), betas=np.zeros(10)), "simbench retarget"),
        ("a.npz", archive(nothing=np.zeros(3)), "no joint positions among nothing"),
        (
            "a.npz",
            archive(dof_pos=np.zeros((9, 23))),
            "23 joints without names; g1 has 43 joints, 29 without",
        ),
        ("a.npz", archive(dof_pos=np.zeros((9, 2)), dof_names=["a"]), "2 joints and 1 names"),
        ("a.npz", archive(dof_pos=np.zeros(9)), "of shape (9,)"),
        ("a.npz", archive(dof_pos=Q, root_pos=np.zeros((8, 3)), root_rot=np.zeros((8, 4))), "9 samples"),
        ("a.npz", archive(dof_pos=Q, root_pos=np.zeros((9, 3))), "no quaternion of the base"),
        ("a.npz", archive(dof_pos=Q, fps=-1.0), "fps is -1"),
        ("a.npz", archive(dof_pos=Q, root_pos=np.zeros((9, 3)), root_rot=np.zeros((9, 4))), "length 0"),
        ("a.npy", b"\x93NUMPY\x01", "header of an array is damaged"),
        ("a.pkl", b"cos\nsystem\n(S'true'\ntR.", "system"),
        ("a.nc", b"no", "checksum"),
        ("a.npz", archive(dof_pos=Q + 1e200), "a joint is 1e+200 at sample 0, 9 sample(s)"),
        ("a.npz", archive(dof_pos=Q, time=np.full(9, np.inf)), "time is NaN or infinite at sample 0"),
        ("a.bvh", b"HIERARCHY", "simbench retarget"),
        ("a.xyz", b"", "no reader of robot motions for .xyz"),
        ("log.nc", b"no", "log.nc"),
    ],
)
def test_bad_files_are_refused_in_one_line(g1, tmp_path, name, content, part):
    (tmp_path / name).write_bytes(content)
    with pytest.raises(MotionError) as refused:
        read_robot_motion(tmp_path / name, g1)
    assert part in str(refused.value)
    assert str(tmp_path / name) in str(refused.value)
    assert "\n" not in str(refused.value)


def test_what_both_readings_allow_is_asked_for(g1, body, tmp_path):
    q = np.tile(g1.postures["standing"][body], (20, 1))
    path = write_table(tmp_path / "a.csv", [STANDING, q])
    with pytest.raises(MotionError):
        read_robot_motion(path, g1)
    for order, heading in (("xyzw", 0.0), ("wxyz", np.pi)):
        motion = read_robot_motion(path, g1, TrajectoryOptions(quaternion=order))
        turned = Rotation.from_quat(motion.trajectory.base[:, 3:]).magnitude()
        np.testing.assert_allclose(turned, heading, atol=1e-9)


def test_a_joint_that_is_not_a_number_is_named_by_its_sample(g1, tmp_path):
    with pytest.raises(MotionError, match="NaN or infinite at sample 11, 1 sample"):
        read_robot_motion(write_table(tmp_path / "a.csv", [NAN]), g1)


@pytest.mark.parametrize(
    ("text", "part"),
    [
        ("", "not a list"),
        ("- 1\n- 2\n", "not a list"),
        ("a\na\n", "there twice"),
        ("a\nb\n", "names 2 joints, which needs 9"),
    ],
)
def test_bad_lists_of_names(g1, walk, body, tmp_path, text, part):
    (tmp_path / "order.txt").write_text(text)
    path = write_table(tmp_path / "a.csv", [walk.base, walk.q[:, body]])
    options = TrajectoryOptions(joint_order=str(tmp_path / "order.txt"))
    with pytest.raises(MotionError, match=part):
        read_robot_motion(path, g1, options)


@pytest.mark.parametrize(
    ("options", "part"),
    [({"quaternion": "wzyx"}, "wzyx"), ({"fps": 0.0}, "fps 0"), ({"fps": float("nan")}, "fps nan")],
)
def test_bad_declarations(options, part):
    with pytest.raises(MotionError, match=part):
        TrajectoryOptions(**options)


@pytest.mark.parametrize("name", ["unitree", "gmr", "npz", "csv", "nc"])
def test_a_robots_motion_is_recognised(g1, walk, tmp_path, name):
    suffix = {"unitree": ".csv", "gmr": ".pkl"}.get(name, f".{name}")
    write_robot_motion(walk, g1, tmp_path / f"a{suffix}", name, {})
    assert is_robot_motion(tmp_path / f"a{suffix}")


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("a.csv", b""),
        ("a.csv", b"time_s,left_hand_x_m,left_hand_y_m,left_hand_z_m\n0,0,0,0\n"),
        ("a.csv", b"1,2,3,4,5\n"),
        ("a.npz", archive(poses=np.zeros((9, 156)), trans=np.zeros((9, 3)))),
        ("a.npz", archive(joints=np.zeros((9, 22, 3)))),
        ("a.npz", b"PK\x03\x04"),
        ("a.nc", b"no"),
        ("a.trc", b"PathFileType"),
    ],
)
def test_other_files_are_not_taken_for_a_robots_motion(tmp_path, name, content):
    (tmp_path / name).write_bytes(content)
    assert not is_robot_motion(tmp_path / name)
    assert not is_robot_motion(tmp_path)
