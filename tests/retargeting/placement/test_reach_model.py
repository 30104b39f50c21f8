"""Links that are inside each other part while the palms stay on their handles."""

import numpy as np
import pinocchio as pin
import pytest

from simbench.motion.human_motion import HandlePath
from simbench.retargeting.placement import reach_model as module
from simbench.retargeting.placement.reach_model import (
    ReachabilityModel,
    from_base,
    least_clearance,
    make_hand_path,
)
from simbench.robot.robot import load_robot


@pytest.fixture(scope="module")
def mahru():
    return load_robot("mahru")


def crossed(mahru, random) -> tuple[ReachabilityModel, dict[str, HandlePath], np.ndarray]:
    """A posture that brings links 5 to 30 mm into each other, and handles where its palms are."""
    free = {side: HandlePath(np.eye(4)[None], np.array([1.0, 0.0, 0.0])) for side in ("left", "right")}
    reach = ReachabilityModel(mahru, free, mahru.postures["standing"], (1.3, 1.2))
    low, high = reach.boxes[0]
    while True:
        joints = random.uniform(low + 0.2, high - 0.2)
        if -0.03 < least_clearance(reach, joints[None]) < -0.005:
            break
    data = reach.model.createData()
    pin.framesForwardKinematics(reach.model, data, np.concatenate([pin.neutral(reach.model)[:7], joints]))
    for side, handle in free.items():
        handle.poses[0] = data.oMf[reach.model.getFrameId(mahru.frames[f"{side}_hand"])].homogeneous
    return reach, free, joints


def test_links_part_and_palms_stay(mahru):
    random = np.random.default_rng(1)
    parted = 0
    for _ in range(4):
        reach, handles, joints = crossed(mahru, random)
        course = make_hand_path(reach, handles, np.zeros((1, 3)))
        before = -least_clearance(reach, joints[None])
        low, high = np.full(6, -0.3), np.full(6, 0.3)
        place, path = module.separate_links(
            reach, course, np.zeros(6), joints[None], reach.boxes[0], np.stack([low, high])
        )
        assert (path >= reach.boxes[0][0]).all()
        assert (path <= reach.boxes[0][1]).all()
        assert (np.abs(place) <= 0.3).all()
        assert -least_clearance(reach, path) < before
        wrong, _ = module._residuals(reach, course, np.concatenate([place, path.ravel()]))
        parted += least_clearance(reach, path) >= 0.0 and np.abs(wrong).max() < 1e-3
    assert parted >= 3


def test_the_derivatives_are_those_of_what_is_missing(mahru):
    reach, handles, joints = crossed(mahru, np.random.default_rng(2))
    course = make_hand_path(reach, handles, np.full((1, 3), 0.02))
    course.hands[:] = (0.1, -0.2, 0.3)
    unknowns = np.concatenate([[0.1, 0.2, 0.05, 0.4, 0.5, -0.6], joints])
    wrong, slopes = module._residuals(reach, course, unknowns)
    assert np.abs(wrong[-16:]).max() > 0.005
    step = 1e-6 * np.eye(len(unknowns))
    palms = slice(0, -16)
    differences = np.array(
        [
            (
                module._residuals(reach, course, unknowns + d)[0]
                - module._residuals(reach, course, unknowns - d)[0]
            )
            / 2e-6
            for d in step
        ]
    ).T
    np.testing.assert_allclose(slopes[palms], differences[palms], atol=1e-8)
    # Witness points move on their shapes: the deepest pair's distance itself is smooth enough.
    np.testing.assert_allclose(slopes[-16], differences[-16], atol=1e-3)


def test_what_is_missing_is_seen_from_the_swaying_root(mahru):
    """The palms of a posture, put where that posture and the place have them, miss nothing."""
    reach, handles, joints = crossed(mahru, np.random.default_rng(3))
    course = make_hand_path(reach, handles, np.zeros((1, 3)))
    unknowns = np.concatenate([np.zeros(6), joints])
    wrong, _ = module._residuals(reach, course, unknowns)
    sway = reach.hands.gain * (
        pin.centerOfMass(
            reach.model, reach.model.createData(), np.concatenate([pin.neutral(reach.model)[:7], joints])
        )[:2]
        - reach.hands.reference
    )
    points = from_base(unknowns[:6], course)
    # The handles stand where the palms are without swaying: all are off by the sway alone.
    weights = reach.hands.tasks.point_weight
    expected = weights[:, None] * np.append(-sway, 0.0)
    np.testing.assert_allclose(wrong[:-16].reshape(points.shape[1], 3), expected, atol=1e-9)
