"""Distances of links at frames, between them, and where the motion would go on, against Pinocchio's."""

import numpy as np
import pinocchio as pin
import pytest

from simbench.retargeting.imitate.clip import Barriers
from simbench.retargeting.match.body import match_body

MARGIN = 0.1


@pytest.fixture(scope="module")
def two_frames(mahru):
    """Two configurations, the arms on their way to the body."""
    body = match_body(mahru)
    first = np.r_[0.0, 0.0, 0.75, 0.0, 0.0, 0.0, 1.0, mahru.postures["standing"]]
    second = first.copy()
    for side, sign in (("L", 1.0), ("R", -1.0)):
        second[7 + mahru.joint_names.index(f"{side}ShoulderRoll")] -= sign * 0.02
        second[7 + mahru.joint_names.index(f"{side}ShoulderPitch")] -= 0.03
    return body, np.stack([first, second])


def missing_at(barriers, q):
    """Deficits of all pairs of a configuration (7 + n,), largest first."""
    workspace = barriers.workspace
    data = workspace.geometry.createData()
    pin.updateGeometryPlacements(workspace.model, workspace.model.createData(), workspace.geometry, data, q)
    distances = [
        pin.computeDistance(workspace.geometry, data, pair).min_distance
        for pair in range(len(workspace.geometry.collisionPairs))
    ]
    return np.sort(MARGIN - np.array([each for each in distances if each < MARGIN]))[::-1]


@pytest.mark.parametrize(("share", "frame"), [(0.0, 0), (0.5, 0), (-2, 0), (2, 0), (3, 0)])
def test_pairs_are_found_where_the_motion_was_is_and_goes(two_frames, share, frame):
    body, q = two_frames
    barriers = Barriers(body, floor=False)
    near = barriers.rows(q, MARGIN, (0.5,), ahead=2)
    rows = (near.frames == frame) & (near.share == share) & (near.missing > 0.0)
    expected = missing_at(barriers, (1.0 - share) * q[0] + share * q[1])
    assert len(expected) > 3
    np.testing.assert_allclose(np.sort(near.missing[rows])[::-1], expected, atol=1e-5)


@pytest.mark.parametrize("share", [-2.0, 3.0])
def test_rows_are_the_slopes_of_the_distances_there(two_frames, share):
    body, q = two_frames
    q = np.stack([q[0], q[0] + 5.0 * (q[1] - q[0])])
    barriers = Barriers(body, floor=False)
    near = barriers.rows(q, MARGIN, (), ahead=2)
    rows = near.share == share
    slopes = np.empty_like(near.jacobian[rows, 6:])
    for k, column in enumerate(body.joints):
        sides = []
        for step in (1e-4, -1e-4):
            moved = q.copy()
            moved[:, 7 + column] += step
            barriers.seen = None
            after = barriers.rows(moved, MARGIN, (), ahead=2)
            sides.append(after.missing[after.share == share])
        slopes[:, k] = (sides[1] - sides[0]) / 2e-4
    assert (np.abs(slopes).max(axis=1) > 0.05).all()
    np.testing.assert_allclose(slopes, near.jacobian[rows, 6:], atol=2e-3)
