import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from simbench.motion.human_motion import ARM_JOINTS, ARM_SEGMENTS, HumanMotion, InitialPose, transform

UPPER_ARM, FOREARM, WIDTH, SHOULDER = 0.30, 0.25, 0.36, 1.40


def _swinging_arms(rate=50.0, duration=1.0):
    """Both straight arms swing about the shoulders by 0.5 rad at 1 Hz: all is known in closed form."""
    time = np.arange(round(duration * rate) + 1) / rate
    angle = 0.5 * np.sin(2 * np.pi * time)
    along = np.stack([np.sin(angle), np.zeros_like(angle), -np.cos(angle)], axis=1)
    rotation = Rotation.from_rotvec(-angle[:, None] * [0.0, 1.0, 0.0]).as_matrix()
    joints, segments = {}, {}
    for side, sign in (("left", 1.0), ("right", -1.0)):
        shoulder = np.tile([0.0, sign * WIDTH / 2, SHOULDER], (len(time), 1))
        joints[f"{side}_shoulder"] = shoulder
        joints[f"{side}_elbow"] = shoulder + UPPER_ARM * along
        joints[f"{side}_wrist"] = shoulder + (UPPER_ARM + FOREARM) * along
        for segment, joint in (("upper_arm", "shoulder"), ("forearm", "elbow"), ("hand", "wrist")):
            segments[f"{side}_{segment}"] = transform(rotation, joints[f"{side}_{joint}"])
    return HumanMotion(
        time=time,
        joints={name: joints[name] for name in ARM_JOINTS},
        segments={name: segments[name] for name in ARM_SEGMENTS},
        initial=InitialPose({k: v[0] for k, v in joints.items()}, {k: v[0] for k, v in segments.items()}),
        source="swing",
        strokes=np.array([[0, len(time) // 2], [len(time) // 2, len(time) - 1]]),
    )


@pytest.fixture(scope="session")
def swinging_arms():
    return _swinging_arms


@pytest.fixture
def swing():
    return _swinging_arms()
