"""What the hand of an arm without human form is to do: from its rest to the actor's path and along it."""

from types import SimpleNamespace

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from simbench.errors import MotionError
from simbench.motion.anatomy import transform
from simbench.motion.handles import HandlePath
from simbench.options import RetargetSection
from simbench.retargeting.contact.arm_hands import plan_arm_hands, recorded_palms

RATE = 100.0
HOLD = np.array([0.6, -0.2, 1.0])
PALM = Rotation.from_euler("z", 0.3).as_matrix()
HOME = transform(Rotation.from_euler("y", 1.2).as_matrix(), np.array([0.1, 0.1, 1.3]))
SETTINGS = RetargetSection(transition_time_s=1.0)


def motion_of(palms):
    """A recording of the right hand alone, whose frame lies beside the wrist as marker frames do."""
    hand = transform(palms[:, :3, :3], palms[:, :3, 3] + [0.01, 0.02, 0.03])
    wrist = palms[:, :3, 3] - palms[:, :3, :3] @ [0.09, 0.0, -0.02]
    return SimpleNamespace(
        time=np.arange(len(palms)) / RATE,
        joints={"right_wrist": wrist},
        segments={"right_hand": hand},
        source="by hand",
    )


def passing_by():
    """Within 5 cm of the hold on its far side, back to 20 cm before it, straight to it; a second there."""
    stops = np.array([0.0, 1.0, 2.0, 3.0, 4.0, 4.9])
    ahead = np.array([0.05, 0.05, -0.20, -0.20, 0.0, 0.0])
    time = np.arange(490) / RATE
    place = HOLD + np.interp(time, stops, ahead)[:, None] * [1.0, 0.0, 0.0]
    return transform(np.broadcast_to(PALM, (490, 3, 3)), place)


@pytest.fixture(scope="module")
def planned():
    handle = HandlePath(transform(PALM, HOLD)[None])
    return plan_arm_hands(motion_of(passing_by()), {"right": handle}, {"right": HOME}, SETTINGS)


def test_palms_are_those_of_wrist_and_hand():
    palms = passing_by()
    np.testing.assert_allclose(recorded_palms(motion_of(palms), ["right"])["right"], palms, atol=1e-12)
    with pytest.raises(MotionError, match="by hand: the recording lacks segment left_hand"):
        recorded_palms(motion_of(palms), ["left", "right"])


def test_the_actor_is_followed_from_the_last_straight_way_to_the_hold(planned):
    """It is 10 cm before the hold at 3.5 s; that the hand was within 5 cm at the start is something else."""
    full = np.flatnonzero(planned.share["right"] == 1.0)
    assert full[0] == pytest.approx(350, abs=1)
    assert full[-1] == 489
    assert (planned.share["right"][:240] == 0.0).all()
    assert np.flatnonzero(planned.contact["right"])[0] >= 390


def test_the_way_there_is_a_line_from_rest_to_where_the_actor_is_followed(planned):
    targets, share = planned.targets["right"], planned.share["right"]
    np.testing.assert_allclose(targets[:200], np.broadcast_to(HOME, (200, 4, 4)), atol=1e-12)
    begin = HOLD - [0.1, 0.0, 0.0]
    way = begin - HOME[:3, 3]
    between = slice(260, 330)
    along = (targets[between, :3, 3] - HOME[:3, 3]) @ way / (way @ way)
    # A sample is 2 mm of the straight way on; smoothing takes off what is curved.
    np.testing.assert_allclose(along, share[between], atol=0.01)
    across = targets[between, :3, 3] - HOME[:3, 3] - along[:, None] * way
    assert np.abs(across).max() < 0.003
    # Beyond the corner of a hand that stops at once.
    np.testing.assert_allclose(targets[416:, :3, 3], np.broadcast_to(HOLD, (74, 3)), atol=1e-6)
    turned = Rotation.from_matrix(targets[between, :3, :3].transpose(0, 2, 1) @ PALM).magnitude()
    whole = Rotation.from_matrix(HOME[:3, :3].T @ PALM).magnitude()
    np.testing.assert_allclose(turned, (1.0 - share[between]) * whole, atol=0.02)
