"""Positions are found among velocities and rotations, or the array is refused: nothing is misread."""

import numpy as np
import pytest
from marker_people import make_body
from motion_arrays import dart, humanml3d, omomo, save_object, six_numbers, turns, velocities
from scipy.spatial.transform import Rotation
from written_tables import joint_array

from simbench.errors import MotionError
from simbench.motion.read_options import ReadOptions
from simbench.motion.readers import read_recording
from simbench.motion.readers.joint_names import LAYOUTS
from simbench.motion.readers.motion_features import recover_joints, select_positions

SMPL24, SMPL22, _ = LAYOUTS["smpl"]


@pytest.fixture(scope="module")
def person():
    return make_body()


@pytest.fixture(scope="module")
def joints(person):
    """Joints (T, 24, 3) of a person who walks along a curve, y up."""
    body = joint_array(person, SMPL24, up="y")
    walk = np.linspace(0.0, 2.0, len(body))
    turn = Rotation.from_euler("y", 0.4 * walk[:, None]).as_matrix()
    return (
        np.einsum("tij,tkj->tki", turn, body) + np.stack([0.3 * walk, 0.0 * walk, walk**1.5], axis=1)[:, None]
    )


def read(tmp_path, array, **options):
    path = tmp_path / "motion.npy"
    np.save(path, array)
    return read_recording(str(path), ReadOptions(**options))


def flat(joints):
    return joints.reshape(len(joints), -1)


def quaternions(joints):
    return turns(len(joints), 22).as_quat().reshape(len(joints), -1)


READ = {
    "OMOMO": (24, omomo),
    "DART": (22, lambda j: dart(j[:, :22])),
    "velocities in m/s": (24, lambda j: np.hstack([flat(j), velocities(flat(j), 100.0)])),
    "velocities first": (24, lambda j: np.hstack([velocities(flat(j)), flat(j)])),
    "velocities as joints": (24, lambda j: np.concatenate([j, velocities(j)], axis=1)),
    "rotations in pairs": (22, lambda j: np.hstack([flat(j[:, :22]), six_numbers(len(j), 22, pairs=True)])),
    "matrices": (
        22,
        lambda j: np.hstack([flat(j[:, :22]), turns(len(j), 22).as_matrix().reshape(len(j), -1)]),
    ),
    "quaternions first": (22, lambda j: np.hstack([quaternions(j), flat(j[:, :22])])),
}


@pytest.mark.parametrize("kind", READ)
def test_positions_are_read_without_what_is_beside_them(tmp_path, joints, kind):
    count, arrange = READ[kind]
    recording = read(tmp_path, arrange(joints), fps=30)
    names = LAYOUTS["smpl"][0][:count]
    found = recording.positions[:, [recording.names.index(name) for name in names]]
    np.testing.assert_allclose(found, joints[:, :count], atol=1e-12)
    assert any("only the positions are read" in note for note in recording.notes)


REFUSED = {
    "velocities alone": lambda j: velocities(flat(j)),
    "rotations alone": lambda j: six_numbers(len(j), 22),
    "quaternions of joints": lambda j: quaternions(j).reshape(len(j), 22, 4),
    "a robot's coordinates": lambda j: np.hstack([j[:, 0], quaternions(j)[:, :4], 0.1 * flat(j)[:, :29]]),
    "axis-angle first": lambda j: np.hstack([turns(len(j), 22).as_rotvec().reshape(len(j), -1), flat(j)]),
    "interleaved": lambda j: np.concatenate([j, velocities(j)], axis=2).reshape(len(j), -1),
    "two blocks": lambda j: np.hstack([flat(j[:, :22]), quaternions(j), flat(j[:, :22])]),
    "normalised features": lambda j: humanml3d(j[:, :22]) * 3.0 - 0.5,
    "mirrored": lambda j: j * [-1.0, 1.0, 1.0],
    "another order": lambda j: j[:, ::-1],
    "growing": lambda j: j * np.linspace(0.3, 3.0, len(j))[:, None, None],
}  # fmt: skip


@pytest.mark.parametrize("kind", REFUSED)
def test_what_is_no_position_is_refused_with_a_way_on(tmp_path, joints, kind):
    with pytest.raises(
        MotionError, match=r"save the positions|--skeleton|multiply by|frames, joints, 3"
    ) as caught:
        read(tmp_path, REFUSED[kind](joints), fps=30)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("kind", ["walking", "standing", "far away", "relative to the pelvis"])
def test_positions_alone_stay_as_they_are(joints, kind):
    arranged = {
        "walking": joints,
        "standing": np.repeat(joints[:1], 50, axis=0),
        "far away": joints + 50.0,
        "relative to the pelvis": joints - joints[:, :1],
    }[kind]
    assert select_positions(flat(arranged), "a")[0].shape == (len(arranged), 72)


def test_features_of_humanml3d_give_back_the_joints(tmp_path, joints):
    joints = joints[:, :22]
    left = joints[0, [1, 16]].sum(axis=0) - joints[0, [2, 17]].sum(axis=0)
    turn = Rotation.from_euler("y", np.arctan2(left[2], left[0])).as_matrix()
    start = (joints - joints[0, 0] * [1.0, 0.0, 1.0]) @ turn.T
    features = humanml3d(start)
    np.testing.assert_allclose(recover_joints(features, 22), flat(start), atol=1e-12)
    recording = read(tmp_path, features)
    found = recording.positions[:, [recording.names.index(name) for name in SMPL22]]
    np.testing.assert_allclose(found, start, atol=1e-12)
    assert recording.time[1] == pytest.approx(0.05)
    assert recording.doubts[0].startswith("rate 20 Hz assumed, as HumanML3D's 22 joints have")


def test_joints_of_data_sets_have_their_rates(tmp_path, person):
    for names, rate in ((SMPL22, 20.0), (LAYOUTS["kit"][0], 12.5), (SMPL24, 30.0)):
        recording = read(tmp_path, joint_array(person, names))
        assert recording.time[1] == pytest.approx(1.0 / rate)
        assert recording.doubts[0].startswith(f"rate {rate:g} Hz assumed")


def test_windows_of_a_data_set_are_read_by_the_first(tmp_path, joints):
    path = tmp_path / "windows.npy"
    windows = {k: {"motion": omomo(joints[k:]), "seq_name": "sub1", "start_t_idx": k} for k in range(3)}
    path.write_bytes(save_object(windows))
    recording = read_recording(str(path), ReadOptions(fps=30))
    assert recording.positions.shape == joints.shape
    assert recording.notes[0] == "0, the first of 3 motions, is read"


def test_rotations_without_their_skeleton_say_what_to_save(tmp_path):
    for content in (
        {"root_pos": np.zeros((5, 3)), "root_rot": np.zeros((5, 4)), "joint_rot": np.zeros((5, 14, 4))},
        {"frames": np.zeros((5, 34)), "loop_mode": "CLAMP", "fps": 30},
    ):
        np.savez(tmp_path / "motion.npz", **content)
        with pytest.raises(MotionError, match=r"PARC or MimicKit.*positions \(frames, bodies, 3\)"):
            read_recording(str(tmp_path / "motion.npz"), ReadOptions())
