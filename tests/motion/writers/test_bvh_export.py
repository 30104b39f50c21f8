from dataclasses import replace

import bvhio
import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from simbench.errors import MotionError
from simbench.motion.human_motion import resample, transform
from simbench.motion.read_options import ReadOptions
from simbench.motion.readers import read_motion
from simbench.motion.readers.bvh_reader import read_bvh
from simbench.motion.writers import write_bvh, write_motion

# The file's x, y, z are ours x, z, -y, in cm.
FORWARD, LEFT, UP = 0, 2, 1


def random_frames(rng, count):
    return transform(Rotation.random(count, rng=rng).as_matrix(), rng.normal(size=(count, 3)))


@pytest.fixture
def noisy(swing):
    """All that a recording may have, every joint and frame moving on its own."""
    rng = np.random.default_rng(3)
    count = len(swing.time)
    joints = {name: track + rng.normal(scale=0.01, size=track.shape) for name, track in swing.joints.items()}
    joints |= {
        name: rng.normal(size=(count, 3)) for name in ("pelvis", "neck", "left_hip", "left_ankle", "chest")
    }
    segments = {name: random_frames(rng, count) for name in (*swing.segments, "trunk", "pelvis")}
    return replace(swing, joints=joints, segments=segments)


def assert_reads_back(motion, path):
    write_motion(motion, path)
    back = read_motion(path)
    np.testing.assert_allclose(back.time, motion.time, atol=1e-9)
    assert set(back.joints) == set(motion.joints)
    assert set(back.segments) == set(motion.segments)
    for name, track in motion.joints.items():
        np.testing.assert_allclose(back.joints[name], track, atol=1e-8)
    for name, frames in motion.segments.items():
        np.testing.assert_allclose(back.segments[name], frames, atol=1e-8)


def test_joints_and_segments_that_move_on_their_own_read_back(tmp_path, noisy):
    assert_reads_back(noisy, tmp_path / "noisy.bvh")


def test_a_recording_without_pelvis_and_trunk_reads_back(tmp_path, swing):
    assert_reads_back(swing, tmp_path / "swing.bvh")


def test_one_arm_reads_back(tmp_path, swing):
    joints = {name: track for name, track in swing.joints.items() if name.startswith("left")}
    segments = {name: frames for name, frames in swing.segments.items() if name.startswith("left")}
    assert_reads_back(replace(swing, joints=joints, segments=segments), tmp_path / "left.bvh")


def test_a_clip_with_legs_reads_back(tmp_path):
    assert_reads_back(read_motion("deepmimic:walk"), tmp_path / "walk.bvh")


def test_turns_near_the_singularity_read_back(tmp_path, swinging_arms):
    motion = swinging_arms(rate=200.0)
    rng = np.random.default_rng(5)
    first, last = rng.uniform(-np.pi, np.pi, (2, len(motion.time)))
    near = rng.choice([0.0, 1e-12, 1e-9, -1e-8, 1e-7, -1e-6, 1e-4], len(motion.time))
    second = np.pi / 2 * rng.choice([-1.0, 1.0], len(motion.time)) + near
    # Singular in the file's axes, of which y is our z.
    swap = np.array([[1.0, 0.0, 0.0], [0.0, 0.0, 1.0], [0.0, -1.0, 0.0]])
    turns = Rotation.from_euler("ZYX", np.stack([first, second, last], axis=1)).as_matrix()
    frames = transform(swap.T @ turns @ swap, motion.segments["left_upper_arm"][:, :3, 3])
    motion = replace(motion, segments={**motion.segments, "left_upper_arm": frames})
    assert_reads_back(motion, tmp_path / "singular.bvh")


def test_the_skeleton_is_a_persons(tmp_path, noisy):
    write_bvh(noisy, tmp_path / "noisy.bvh")
    recording = read_bvh(tmp_path / "noisy.bvh", ReadOptions())
    above = {
        name: recording.names[parent] if parent >= 0 else None
        for name, parent in zip(recording.names, recording.parents, strict=True)
    }
    assert above["pelvis"] is None
    for name, parent in (
        ("trunk", "pelvis"),
        ("neck", "trunk"),
        ("left_shoulder", "trunk"),
        ("right_elbow", "right_shoulder"),
        ("left_wrist", "left_elbow"),
        ("left_hand", "left_wrist"),
        ("left_upper_arm", "left_shoulder"),
        ("pelvis_segment", "pelvis"),
        ("left_hip", "pelvis"),
        # No knee in between.
        ("left_ankle", "left_hip"),
    ):
        assert above[name] == parent
    # A joint turns with the segment that begins there.
    k, upper_arm = recording.names.index("left_shoulder"), recording.names.index("left_upper_arm")
    np.testing.assert_allclose(recording.rotations[:, k], recording.rotations[:, upper_arm], atol=1e-8)


def test_places_are_centimetres_with_y_up(tmp_path, swing):
    write_bvh(swing, tmp_path / "swing.bvh")
    recording = read_bvh(tmp_path / "swing.bvh", ReadOptions())
    wrist = recording.positions[:, recording.names.index("left_wrist")]
    np.testing.assert_allclose(wrist[:, FORWARD], 100 * swing.joints["left_wrist"][:, 0], atol=1e-6)
    np.testing.assert_allclose(wrist[:, UP], 100 * swing.joints["left_wrist"][:, 2], atol=1e-6)
    np.testing.assert_allclose(wrist[:, LEFT], -100 * swing.joints["left_wrist"][:, 1], atol=1e-6)
    # Bones as programs draw them: the rest pose has the arm's lengths.
    forearm = recording.offsets[recording.names.index("left_wrist")]
    assert np.linalg.norm(forearm) == pytest.approx(25.0, abs=0.01)


def test_another_program_sees_the_same_places(tmp_path, noisy):
    short = resample(noisy, 5.0)
    write_bvh(short, tmp_path / "noisy.bvh")
    root = bvhio.readAsHierarchy(str(tmp_path / "noisy.bvh"))
    for frame in range(len(short.time)):
        root.loadPose(frame)
        places = {joint.Name: np.array(joint.PositionWorld) for joint, _, _ in root.layout()}
        for name, track in short.joints.items():
            ours = 100 * track[frame]
            # In single precision.
            np.testing.assert_allclose(places[name], [ours[0], ours[2], -ours[1]], atol=1e-3)


def test_angles_do_not_jump(tmp_path, swing):
    # About the file's z, the first of the angles, which has no singularity.
    turns = Rotation.from_euler("y", 0.3 * np.arange(len(swing.time))[:, None])
    frames = transform(turns.as_matrix(), swing.joints["left_wrist"])
    motion = replace(swing, segments={**swing.segments, "left_hand": frames})
    write_bvh(motion, tmp_path / "turning.bvh")
    lines = (tmp_path / "turning.bvh").read_text().split("Frame Time")[1].split("\n")[1:-1]
    table = np.array([line.split() for line in lines], dtype=float).reshape(len(swing.time), -1, 6)
    assert np.abs(np.diff(table[..., 3:], axis=0)).max() < 90.0


def test_uneven_time_is_refused_and_leaves_no_file(tmp_path, swing):
    time = swing.time.copy()
    time[20] += 0.005
    with pytest.raises(MotionError, match=r"swing: frame 20 is 0\.005 s off a constant rate.*resample"):
        write_motion(replace(swing, time=time), tmp_path / "uneven.bvh")
    assert list(tmp_path.iterdir()) == []
