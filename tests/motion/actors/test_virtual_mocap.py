import numpy as np
import pytest

from simbench.motion.actors import perform_drawer
from simbench.motion.actors.virtual_mocap import (
    MARKER_POSITIONS,
    MocapErrors,
    compute_frame_poses,
    record_mocap,
)
from simbench.robot.sides import SIDES


@pytest.fixture(scope="module")
def performance():
    return perform_drawer()


def marker_to_bone(performance, errors):
    """Marker poses in their bone's frame, per segment name."""
    human, q = performance.human, performance.q
    names = [f"{side}_{segment}" for side in SIDES for segment in MARKER_POSITIONS]
    bones = compute_frame_poses(human, q, names)
    _, markers = record_mocap(human, q, errors, np.random.default_rng(0))
    return {name: np.linalg.inv(bones[name]) @ markers[name] for name in names}


def test_without_errors_markers_are_fixed_to_the_bone(performance):
    errors = MocapErrors(position_noise=0.0, angle_noise=0.0, skin=0.0)
    for name, relative in marker_to_bone(performance, errors).items():
        np.testing.assert_allclose(relative - relative[0], 0.0, atol=1e-12)
        np.testing.assert_allclose(relative[0, :3, 3], MARKER_POSITIONS[name.partition("_")[2]], atol=1e-12)
    joints, _ = record_mocap(performance.human, performance.q, errors, np.random.default_rng(0))
    arm = np.linalg.norm(joints["left_elbow"] - joints["left_shoulder"], axis=1)
    np.testing.assert_allclose(arm, 0.186 * 1.70, atol=1e-12)


def test_noise_has_the_stated_size(performance):
    sizes = MocapErrors(position_noise=0.4e-3, angle_noise=np.radians(0.2), skin=0.0)
    for name, relative in marker_to_bone(performance, sizes).items():
        place = relative[:, :3, 3] - MARKER_POSITIONS[name.partition("_")[2]]
        np.testing.assert_allclose(place.std(axis=0), 0.4e-3, rtol=0.1)
        np.testing.assert_allclose(np.degrees(relative[:, 1, 0].std()), 0.2, rtol=0.1)


def test_skin_moves_by_millimetres_and_lags_at_the_upper_arm(performance):
    relative = marker_to_bone(performance, MocapErrors(position_noise=0.0, angle_noise=0.0))
    for side in SIDES:
        spread = {s: np.ptp(relative[f"{side}_{s}"][:, :3, 3], axis=0).max() for s in MARKER_POSITIONS}
        assert 2e-3 < spread["upper_arm"] < 15e-3
        assert 0.5e-3 < spread["forearm"] < 6e-3
        assert 1e-3 < spread["hand"] < 8e-3
        turn = np.arctan2(relative[f"{side}_upper_arm"][:, 2, 1], relative[f"{side}_upper_arm"][:, 1, 1])
        rotation = performance.q[:, performance.human.arms[side][2]]
        slope = np.polyfit(rotation, turn, 1)[0]
        assert abs(slope) == pytest.approx(0.3, abs=1e-6)
        np.testing.assert_allclose(relative[f"{side}_hand"][:, :3, :3] - np.eye(3), 0.0, atol=1e-12)


def test_the_upper_arms_skin_turns_less_than_the_bone(performance):
    errors = MocapErrors(position_noise=0.0, angle_noise=0.0)
    human = performance.human
    still = performance.q[:1].copy()
    for side in SIDES:
        turned = still.copy()
        index = human.arms[side][2]
        turned[0, index] += 0.5
        names = [f"{side}_upper_arm"]
        bone = [compute_frame_poses(human, q, names)[names[0]][0, :3, :3] for q in (still, turned)]
        skin = [
            record_mocap(human, q, errors, np.random.default_rng(0))[1][names[0]][0, :3, :3]
            for q in (still, turned)
        ]
        moved = [np.arccos((np.trace(a.T @ b) - 1) / 2) for a, b in (bone, skin)]
        assert moved[0] == pytest.approx(0.5, abs=1e-9)
        assert moved[1] == pytest.approx(0.35, abs=1e-9)
