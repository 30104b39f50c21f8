"""How high a plan lets the pelvis go: with the recorded pelvis, whatever shoulders and arms do."""

from dataclasses import replace

import numpy as np
import pytest

from simbench.motion.actors import perform_average
from simbench.motion.human_motion import resample
from simbench.options import RobotSection
from simbench.retargeting.imitation.imitation import Imitation, imitate
from simbench.retargeting.imitation.scaled_model import calibrate
from simbench.retargeting.placement.placement import BasePlacement
from simbench.retargeting.whole_body.stance import compute_pelvis_height
from simbench.robot.robot import load_robot

RATE = 200.0


@pytest.fixture(scope="module")
def mahru():
    return load_robot("mahru")


@pytest.fixture(scope="module")
def stretched(mahru):
    """Arms stretched forward twice, and how the scaled model imitates it."""
    motion = resample(perform_average("arms_forward", 0).motion, RATE)
    few = slice(0, 2000)
    motion = replace(
        motion,
        time=motion.time[few],
        joints={name: track[few] for name, track in motion.joints.items()},
        segments={name: frames[few] for name, frames in motion.segments.items()},
    )
    return motion, imitate(calibrate(mahru, motion), motion)


def height(robot, motion, imitation):
    section = RobotSection(name=robot.name, posture="standing")
    spot = BasePlacement(section.position_m, section.heading_rad)
    nowhere = np.zeros(len(motion.time))
    return compute_pelvis_height(robot, motion, imitation, spot, section, {"left": nowhere, "right": nowhere})


def with_pelvis(motion, way):
    start = motion.initial.joints["pelvis"]
    track = start + np.outer(way, [0.0, 0.0, 1.0])
    return replace(motion, joints={**motion.joints, "pelvis": track})


def test_a_pelvis_at_rest_stays_while_arms_rise_and_lift_the_shoulders(mahru, stretched):
    motion, imitation = stretched
    shoulders = motion.joints["left_shoulder"][:, 2]
    assert np.ptp(shoulders) > 0.025
    found = height(mahru, motion, imitation)
    # Half a millimetre of recording noise; its acceleration as recorded is some m/s².
    assert np.abs(found).max() < 5e-4
    assert np.abs(np.diff(found, 2)).max() * RATE**2 < 1.0
    np.testing.assert_array_equal(height(mahru, with_pelvis(motion, np.zeros(2000)), imitation), 0.0)


def test_a_bounce_is_followed_by_the_ratio_of_shoulder_heights(mahru, stretched):
    motion, imitation = stretched
    bounce = 1e-3 * np.sin(2.0 * np.pi * 2.0 * motion.time)
    found = height(mahru, with_pelvis(motion, bounce), imitation)
    inside = slice(200, -200)
    ratio = np.sqrt(np.mean(found[inside] ** 2) / np.mean(bounce[inside] ** 2))
    # Mahru's shoulders are 1.204 m high in this stance, those of a person of 1.70 m, arms forward, 1.422 m.
    assert ratio == pytest.approx(1.204 / 1.422, rel=0.01)


def test_without_a_recorded_pelvis_the_scaled_models_root_is_followed(mahru, stretched):
    motion, imitation = stretched
    joints = {name: track for name, track in motion.joints.items() if name != "pelvis"}
    q = np.tile(imitation.actor.q, (2000, 1))
    q[:, 2] += 1e-3 * np.sin(2.0 * np.pi * 2.0 * motion.time)
    rooted = height(mahru, replace(motion, joints=joints), Imitation(imitation.actor, motion.time, q))
    pelvic = height(mahru, with_pelvis(motion, q[:, 2] - imitation.actor.q[2]), imitation)
    # But for smoothing.
    np.testing.assert_allclose(rooted, pelvic, atol=2e-5)
    assert np.abs(rooted).max() > 7e-4
