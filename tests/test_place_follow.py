"""Which shares of the hands' motion are tried for the COG; the search itself is stood in for."""

from types import SimpleNamespace

import numpy as np
import pinocchio as pin
import pytest

from simbench import place_follow
from simbench.motion.handles import Handle
from simbench.place import Spot, cog_targets
from simbench.robot.robot import load_robot


@pytest.fixture(scope="module")
def mahru():
    return load_robot("mahru")


def to_and_fro(half):
    """Both hands go `half` m ahead and back from the middle."""
    way = np.tile(np.eye(4), (5, 1, 1))
    way[:, 0, 3] = half * np.sin(np.linspace(0.0, 2.0 * np.pi, 5))
    return {side: Handle(way.copy()) for side in ("left", "right")}


@pytest.fixture
def tried(monkeypatch):
    """Searches that succeed with a share of 0 only, and the shares that were asked for."""
    asked = []

    def find_spot(robot, handles, start, posture, on_progress, *, follow):
        asked.append(follow)
        return SimpleNamespace(spot=start, placement=SimpleNamespace(feasible=follow == 0.0))

    monkeypatch.setattr(place_follow, "find_spot", find_spot)
    return asked


def soles_half_length(mahru):
    q, data = (
        np.concatenate([pin.neutral(mahru.model)[:7], mahru.postures["standing"]]),
        mahru.model.createData(),
    )
    pin.framesForwardKinematics(mahru.model, data, q)
    foot = data.oMf[mahru.model.getFrameId(mahru.frames["left_foot"])]
    ahead = [foot.act(corner)[0] for corner in mahru.soles["left_foot"]]
    return 0.5 * (max(ahead) - min(ahead))


@pytest.mark.parametrize("heading", [0.0, 1.2])
def test_a_greater_share_takes_the_cog_no_farther_than_2_cm_from_the_soles_edges(mahru, tried, heading):
    c, s = np.cos(heading), np.sin(heading)
    turn = np.array([[c, -s, 0.0], [s, c, 0.0], [0.0, 0.0, 1.0]])
    most = (soles_half_length(mahru) - 0.02) / 0.7
    for half, shares in (
        (most - 1e-4, [0.4, 0.7, 0.0]),
        (most * 0.7 / 0.555, [0.4, 0.55, 0.0]),
        (most * 0.7 / 0.39, [0.4, 0.0]),
    ):
        handles = to_and_fro(half)
        for handle in handles.values():
            handle.poses[:, :3, 3] = handle.poses[:, :3, 3] @ turn.T
        tried.clear()
        start = Spot((0.3, -0.2), heading)
        _, share = place_follow.find_spot_and_share(mahru, handles, start, "standing", lambda *_: None)
        assert tried == pytest.approx(shares)
        assert share == 0.0


def test_the_cog_goes_its_share_of_the_hands_mean_way():
    stance = SimpleNamespace(target=np.array([0.1, 0.2]))
    handles = to_and_fro(0.1) | {"right": Handle(np.eye(4)[None])}
    np.testing.assert_allclose(
        cog_targets(stance, handles, 0.5),
        [[0.1 + x, 0.2] for x in (0.0, 0.025, 0.0, -0.025, 0.0)],
        atol=1e-12,
    )
