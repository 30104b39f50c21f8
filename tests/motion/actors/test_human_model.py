import numpy as np
import pinocchio as pin
import pytest

from simbench.motion.actors.human_model import HumanModel, make_leaning_posture
from simbench.motion.human_motion import HANGING_LIMB, PALM_OFFSET, Actor

HUMAN = HumanModel(Actor("test", 1.70, 70.0))


def poses(**degrees):
    """Frames of the standing actor with some joints turned."""
    q = make_leaning_posture(HUMAN, 0.0)
    for name, angle in degrees.items():
        q[HUMAN.model.joints[HUMAN.model.getJointId(name)].idx_q] = np.radians(angle)
    data = HUMAN.model.createData()
    pin.framesForwardKinematics(HUMAN.model, data, q)
    return {frame.name: data.oMf[i] for i, frame in enumerate(HUMAN.model.frames)}


def test_proportions_of_a_standing_person():
    stand = poses()
    assert stand["pelvis"].translation[2] == pytest.approx(0.530 * 1.70)
    for side, sign in (("left", 1), ("right", -1)):
        np.testing.assert_allclose(
            stand[f"{side}_shoulder"].translation, [0, sign * 0.2193, 1.3906], atol=1e-9
        )
        # Winter's elbow height is 0.630 and wrist height 0.485 of stature.
        assert stand[f"{side}_elbow"].translation[2] / 1.70 == pytest.approx(0.630, abs=0.005)
        assert stand[f"{side}_wrist"].translation[2] / 1.70 == pytest.approx(0.485, abs=0.005)


def test_mass_and_centre_of_mass():
    assert pin.computeTotalMass(HUMAN.model) == pytest.approx(70.0, rel=2e-3)
    data = HUMAN.model.createData()
    centre = pin.centerOfMass(HUMAN.model, data, make_leaning_posture(HUMAN, 0.0))
    # Standing adults: 0.55 to 0.58 of stature.
    assert 0.54 < centre[2] / 1.70 < 0.59
    np.testing.assert_allclose(centre[:2], 0.0, atol=1e-9)


def test_twenty_seven_degrees_of_freedom():
    assert HUMAN.model.nv == 6 + 3 + 2 * 9


@pytest.mark.parametrize(("side", "outward"), [("left", 1.0), ("right", -1.0)])
def test_positive_angles_have_their_anatomical_sense(side, outward):
    forward, up = np.array([1.0, 0.0, 0.0]), np.array([0.0, 0.0, 1.0])
    out = np.array([0.0, outward, 0.0])

    def wrist(**angles):
        return (
            poses(**{f"{side}_{name}": value for name, value in angles.items()})[f"{side}_wrist"].translation
            - poses()[f"{side}_wrist"].translation
        )

    def hand(**angles):
        return poses(**{f"{side}_{name}": value for name, value in angles.items()})[f"{side}_hand"].rotation

    assert wrist(shoulder_flexion=30) @ forward > 0.2
    assert wrist(shoulder_abduction=30) @ out > 0.2
    assert wrist(elbow_flexion=30) @ forward > 0.1
    assert wrist(clavicle_elevation=20) @ up > 0.03
    assert wrist(clavicle_protraction=20) @ forward > 0.03
    bent = wrist(elbow_flexion=90, shoulder_internal_rotation=40) - wrist(elbow_flexion=90)
    assert bent @ out < -0.1
    # Columns of the hand: x along the fingers, z out of the back of the hand.
    np.testing.assert_allclose(hand(), HANGING_LIMB[side], atol=1e-12)
    np.testing.assert_allclose(hand()[:, 2], out, atol=1e-12)
    np.testing.assert_allclose(hand(elbow_flexion=90, forearm_pronation=90)[:, 2], up, atol=1e-12)
    np.testing.assert_allclose(hand(elbow_flexion=90, forearm_pronation=90)[:, 0], forward, atol=1e-12)
    assert hand(wrist_flexion=45)[:, 0] @ out < -0.6
    assert hand(wrist_radial_deviation=20)[:, 0] @ forward > 0.3


def test_spine_senses():
    assert poses(spine_flexion=20)["neck"].translation[0] > 0.1
    assert poses(spine_twist=20)["left_shoulder"].translation[0] < -0.05
    assert poses(spine_bend=20)["neck"].translation[1] < -0.05


def test_palm_lies_as_the_robots_does():
    frames = poses(left_shoulder_flexion=50, left_wrist_flexion=20)
    offset = frames["left_hand"].actInv(frames["left_palm"])
    np.testing.assert_allclose(offset.translation, PALM_OFFSET, atol=1e-12)
    np.testing.assert_allclose(offset.rotation, np.eye(3), atol=1e-12)
