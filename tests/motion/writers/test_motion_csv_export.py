from dataclasses import replace

import numpy as np
from scipy.spatial.transform import Rotation

from simbench.motion.human_motion import transform
from simbench.motion.readers import read_motion
from simbench.motion.writers import write_motion


def test_numbers_stand_under_their_names(tmp_path, swing):
    write_motion(swing, tmp_path / "swing.csv")
    table = np.genfromtxt(tmp_path / "swing.csv", delimiter=",", names=True)
    assert table.dtype.names[:3] == ("time_s", "left_shoulder_x_m", "left_shoulder_y_m")
    np.testing.assert_allclose(table["right_wrist_z_m"], swing.joints["right_wrist"][:, 2], atol=1e-11)
    np.testing.assert_allclose(table["left_hand_x_m"], swing.segments["left_hand"][:, 0, 3], atol=1e-11)
    # The arm swings about -y: half the angle's sine and cosine.
    angle = 0.5 * np.sin(2 * np.pi * swing.time)
    np.testing.assert_allclose(
        table["left_hand_qy"] * np.sign(table["left_hand_qw"]), -np.sin(angle / 2), atol=1e-9
    )


def test_a_recording_reads_back(tmp_path, swing):
    # One segment has a joint's name, one turns all around.
    turns = Rotation.from_euler("zx", np.outer(np.arange(len(swing.time)), [0.3, 0.1]))
    segments = {**swing.segments, "left_hand": transform(turns.as_matrix(), swing.joints["left_wrist"])}
    segments["pelvis"] = transform(turns.inv().as_matrix(), np.array([0.1, 0.0, 0.9]))
    joints = {**swing.joints, "pelvis": np.tile([0.0, 0.0, 1.0], (len(swing.time), 1)) / 3}
    write_motion(replace(swing, joints=joints, segments=segments), tmp_path / "m.csv")
    back = read_motion(tmp_path / "m.csv")
    np.testing.assert_allclose(back.time, swing.time, atol=1e-11)
    assert list(back.joints) == list(joints)
    assert list(back.segments) == list(segments)
    for name, track in joints.items():
        np.testing.assert_allclose(back.joints[name], track, atol=1e-11)
    for name, frames in segments.items():
        np.testing.assert_allclose(back.segments[name], frames, atol=1e-10)
    table = np.genfromtxt(tmp_path / "m.csv", delimiter=",", names=True)
    quaternions = np.stack([table[f"left_hand_q{axis}"] for axis in "xyzw"], axis=1)
    assert (quaternions[1:] * quaternions[:-1]).sum(axis=1).min() > 0.9
