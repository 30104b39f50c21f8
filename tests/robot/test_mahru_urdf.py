"""Mahru's built files: its published height, and hands that close around bars and hook behind a panel."""

import numpy as np
import pybullet
import pytest
import yourdfpy

from simbench.robot.robot import Robot

CLOSING = 0.01  # rad, the step in which a hand is closed
FINGERS = {"LThumb": "l_thumb", "LIndex": "l_index", "LMiddle": "l_middle", "LLittle": "l_little"}


@pytest.fixture
def basic(mahru: Robot) -> dict[str, float]:
    return dict(zip(mahru.joint_names, mahru.postures["basic"], strict=True))


@pytest.fixture
def palm(mahru: Robot, placed) -> np.ndarray:
    """Palm centre of the left hand in the posture `basic`, in Bullet's world."""
    centre = placed(mahru, mahru.postures["basic"])["l_palm"].translation
    return centre + np.array([0, 0, 2])


def closed_on(bullet, body: int, basic: dict[str, float]) -> dict[str, float]:
    """Joint positions at which each digit of the left hand, closing from open, first touches a body."""
    touching = {}
    for joint, link in FINGERS.items():
        limit = bullet.closed[joint]
        for position in np.sign(limit) * np.arange(0, abs(limit), CLOSING):
            bullet.pose(basic | {joint: position})
            if bullet.gap(link, "", body) <= 0:
                touching[joint] = float(position)
                break
    return touching


def test_height_is_the_published_one(mahru: Robot) -> None:
    urdf = yourdfpy.URDF.load(str(mahru.urdf))
    low, high = urdf.scene.bounds
    assert high[2] - low[2] == pytest.approx(1.50, abs=0.001)
    # The soles 0.76 m under the hips; the arms hang beside the widest part, the shoulders.
    assert low[2] == pytest.approx(-0.76, abs=1e-5)
    assert 0.56 < high[1] - low[1] < 0.60


@pytest.mark.parametrize("diameter", [0.025, 0.030, 0.035])
def test_hand_closes_around_a_bar_across_the_palm(
    mahru_in_bullet, basic: dict[str, float], palm: np.ndarray, diameter: float
) -> None:
    bullet = mahru_in_bullet
    shape = pybullet.createCollisionShape(
        pybullet.GEOM_CYLINDER, radius=diameter / 2, height=0.2, physicsClientId=bullet.client
    )
    centre = palm - [0, 0, diameter / 2 + 0.001]
    bar = bullet.add(shape, centre, [np.pi / 2, 0, 0])
    # Wide open: postures keep fingers a little inside their limits.
    bullet.pose(basic | dict.fromkeys(FINGERS, 0.0))
    assert bullet.gap("l_hand", "", bar) == pytest.approx(0.001, abs=1e-4)
    assert all(bullet.gap(link, "", bar) > 0.003 for link in FINGERS.values())

    closed = closed_on(bullet, bar, basic)
    assert set(closed) == set(FINGERS)
    # Palm above it, fingers in front of it, thumb behind it, and the fingers reach under its middle.
    bullet.pose(basic | closed)
    for joint, link in FINGERS.items():
        index = bullet.links[link]
        low, _ = pybullet.getAABB(bullet.body, index, physicsClientId=bullet.client)
        x = pybullet.getLinkState(bullet.body, index, 0, 1, physicsClientId=bullet.client)[4][0]
        assert (x < centre[0]) == (joint == "LThumb")
        assert low[2] < centre[2] - diameter / 2


@pytest.mark.parametrize("degrees", [-15, 0, 15])
def test_fingers_and_thumb_take_a_panel_between_them(
    mahru_in_bullet, basic: dict[str, float], palm: np.ndarray, degrees: float
) -> None:
    bullet = mahru_in_bullet
    shape = pybullet.createCollisionShape(
        pybullet.GEOM_BOX, halfExtents=[0.009, 0.1, 0.05], physicsClientId=bullet.client
    )
    # The panel's middle is under the palm centre, its edge just under the palm.
    panel = bullet.add(shape, palm - [0, 0, 0.0525], [0, 0, np.radians(degrees)])
    bullet.pose(basic)
    assert bullet.gap("l_hand", "", panel) == pytest.approx(0.0025, abs=0.001)
    assert all(bullet.gap(link, "", panel) > 0.005 for link in FINGERS.values())
    closed = closed_on(bullet, panel, basic)
    # The fingers stand nearly upright behind it.
    assert all(1.2 < closed[joint] < 1.6 for joint in ("LIndex", "LMiddle", "LLittle"))
    assert -0.4 < closed["LThumb"] < -0.1


def test_thumb_and_fingers_pass_each_other(mahru_in_bullet) -> None:
    bullet = mahru_in_bullet
    for thumb in np.linspace(0, bullet.closed["LThumb"], 13):
        for finger in np.linspace(0, bullet.closed["LIndex"], 21):
            bullet.pose({"LThumb": thumb, "LIndex": finger, "LMiddle": finger, "LLittle": finger})
            assert bullet.gap("l_thumb", "l_index") > 0.0005
            assert bullet.gap("l_thumb", "l_middle") > 0.0005
            assert bullet.gap("l_middle", "l_little") > 0.0005
