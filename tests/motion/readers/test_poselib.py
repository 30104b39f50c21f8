"""Skeleton states and motions of poselib have the joints that their rotations and their tree give."""

import contextlib
import random

import numpy as np
import pytest
from motion_arrays import poselib, save_object

from simbench.errors import MotionError
from simbench.motion.read_options import ReadOptions
from simbench.motion.readers import read_motion, read_recording


def read(path, content, **options):
    path.write_bytes(save_object(content))
    return read_recording(str(path), ReadOptions(**options))


@pytest.mark.parametrize("is_local", [True, False])
def test_joints_are_where_the_rotations_put_them(tmp_path, is_local):
    content, positions = poselib(is_local=is_local)
    recording = read(tmp_path / "walk.npy", content)
    np.testing.assert_allclose(recording.positions, positions, atol=1e-9)
    assert recording.names == tuple(content["skeleton_tree"]["node_names"])
    assert recording.time[-1] == pytest.approx(29 / 30)
    motion = read_motion(tmp_path / "walk.npy")
    arm = np.linalg.norm(motion.joints["left_elbow"] - motion.joints["left_shoulder"], axis=1)
    np.testing.assert_allclose(arm, 0.275, atol=1e-6)


def test_a_state_without_a_rate_is_doubted(tmp_path):
    content, _ = poselib(fps=None)
    assert read(tmp_path / "walk.npy", content).doubts[0].startswith("rate 30 Hz assumed")
    assert read(tmp_path / "walk.npy", content, fps=60).doubts == ()
    with pytest.raises(MotionError):
        read(tmp_path / "walk.npy", content, strict=True)


def spoilt(change):
    content, _ = poselib()
    change(content)
    return content


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (spoilt(lambda c: c["skeleton_tree"].pop("node_names")), "node_names"),
        (spoilt(lambda c: c["skeleton_tree"]["node_names"].__setitem__(1, "pelvis")), "must differ"),
        (spoilt(lambda c: c["skeleton_tree"]["parent_indices"]["arr"].__setitem__(2, 9)), "earlier joints"),
        (spoilt(lambda c: c["rotation"]["arr"].__setitem__((3, 1), 0.4)), "rotation of torso at frame 3"),
        (spoilt(lambda c: c["rotation"].update(arr=c["rotation"]["arr"][:, :-1])), "shape .frames, 15, 4."),
        (spoilt(lambda c: c["root_translation"]["arr"].__setitem__((3, 1), np.nan)), "NaN"),
        (spoilt(lambda c: c.update(fps="fast")), "fps is nan; allowed: 1 to"),
        (spoilt(lambda c: c.pop("root_translation")), "root_translation must be an array"),
    ],
)
def test_what_cannot_be_is_refused_in_one_line(tmp_path, content, words):
    with pytest.raises(MotionError, match=words) as caught:
        read(tmp_path / "walk.npy", content)
    assert "\n" not in str(caught.value)


def test_damaged_files_give_our_error_only(tmp_path):
    rng = random.Random(3)
    good = save_object(poselib(frames=4)[0])
    path = tmp_path / "walk.npy"
    for _ in range(300):
        content = bytearray(good)
        for _ in range(rng.choice((1, 3, 8))):
            content[rng.randrange(len(content))] = rng.randrange(256)
        path.write_bytes(bytes(content[: rng.randrange(len(content)) if rng.random() < 0.1 else None]))
        with contextlib.suppress(MotionError):
            read_recording(str(path), ReadOptions())
