"""An elbow or a wrist without a marker is estimated within the error that is said, or named."""

import re

import numpy as np
import pytest
from marker_people import MARKER_SETS, make_body, record_markers

from simbench.errors import MotionError
from simbench.motion.marker_maps import to_human_motion
from simbench.motion.marker_preparation import prepare_markers
from simbench.motion.read_options import ReadOptions


@pytest.fixture(scope="module")
def body():
    return make_body(count=200)


def without(body, lost, more=None):
    markers = {k: v for k, v in MARKER_SETS["plug_in_gait"](body).items() if k not in lost}
    return record_markers(body, markers | (more or {}))


def error_of(body, motion, joint):
    """Root mean square error of a joint relative to the shoulder, m."""
    side = joint.partition("_")[0]
    turn = body.rotations["pelvis"][0].T
    truth = (body.joints[joint] - body.joints[f"{side}_shoulder"]) @ turn.T
    found = motion.joints[joint] - motion.joints[f"{side}_shoulder"]
    return float(np.sqrt(((found - truth) ** 2).sum(axis=1).mean()))


def convert(recording, **options):
    options = ReadOptions(estimate=True, **options)
    return to_human_motion(prepare_markers(recording, options)[0], options)


def test_without_an_elbow_the_other_arm_is_used_and_the_option_named(body):
    found, _ = prepare_markers(without(body, {"RELB"}), ReadOptions())
    assert found.doubts == (
        "markers are missing (right arm: RELB): only the left arm is used; --estimate estimates an elbow or "
        "a wrist",
    )
    assert "right_elbow" in to_human_motion(found, ReadOptions()).missing


def test_an_elbow_turned_by_a_marker_of_the_upper_arm(body):
    elbow, turn = body.joints["right_elbow"], body.rotations["right_upper_arm"]
    upa = elbow + turn @ [-0.15, 0.0, 0.05]
    motion = convert(without(body, {"RELB"}, {"RUPA": upa}))
    doubt = next(doubt for doubt in motion.doubts if doubt.startswith("right elbow: not recorded"))
    assert "turned towards marker RUPA" in doubt
    assert "the left arm's" in doubt
    said = int(re.search(r"expected error (\d+) mm", doubt)[1])
    assert error_of(body, motion, "right_elbow") < 2e-3 * said
    assert "right_elbow" not in motion.missing


def test_an_elbow_by_a_swivel_that_is_stated(body):
    motion = convert(without(body, {"LELB", "RELB"}), stature=1.72)
    for side in ("left", "right"):
        doubt = next(doubt for doubt in motion.doubts if doubt.startswith(f"{side} elbow: not recorded"))
        assert "20° outward from the lowest place" in doubt
        assert "the stature of 1.72 m" in doubt
        said = int(re.search(r"expected error (\d+) mm", doubt)[1])
        assert 20 < said < 150
        assert error_of(body, motion, f"{side}_elbow") < 2e-3 * said
        bone = motion.joints[f"{side}_elbow"] - motion.joints[f"{side}_shoulder"]
        assert np.linalg.norm(bone, axis=1).mean() == pytest.approx(0.186 * 1.72, rel=0.1)


def test_a_wrist_by_the_hand_and_the_other_forearm(body):
    motion = convert(without(body, {"RWRA", "RWRB"}))
    doubt = next(doubt for doubt in motion.doubts if doubt.startswith("right wrist: not recorded"))
    assert "on the line from the elbow to RFIN" in doubt
    said = int(re.search(r"expected error (\d+) mm", doubt)[1])
    assert error_of(body, motion, "right_wrist") < 2e-3 * said
    assert error_of(body, motion, "left_wrist") < 1e-9


def test_an_arm_of_which_too_little_is_there_is_not_estimated(body):
    with pytest.raises(MotionError):
        convert(
            without(body, {f"{side}{name}" for side in "LR" for name in ("ELB", "WRA", "WRB", "FIN")}, {})
        )
