"""What holds for every humanoid: possible bodies, mirrored halves, balanced standing."""

import numpy as np
import pinocchio as pin
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from simbench.robot.robot import Robot

MIRROR = np.diag([1.0, -1.0, 1.0])


def left_joints(robot: Robot) -> list[str]:
    names = [name for name in robot.joint_names if name.startswith("L")]
    assert len(names) == len(robot.groups["left_leg"] + robot.groups["left_arm"] + robot.groups["left_grip"])
    return names


def test_every_link_is_physically_possible(humanoid: Robot) -> None:
    for name, inertia in list(zip(humanoid.model.names, humanoid.model.inertias, strict=True))[1:]:
        principal = np.linalg.eigvalsh(inertia.inertia)
        assert inertia.mass > 0, name
        assert principal[0] > 0, name
        assert principal[0] + principal[1] >= principal[2], name


def test_right_inertia_mirrors_the_left(humanoid: Robot) -> None:
    model = humanoid.model
    for left_name in left_joints(humanoid):
        right_name = "R" + left_name[1:]
        left, right = (model.inertias[model.getJointId(name)] for name in (left_name, right_name))
        assert right.mass == left.mass
        np.testing.assert_allclose(right.lever, MIRROR @ left.lever, atol=1e-12, err_msg=right_name)
        np.testing.assert_allclose(right.inertia, MIRROR @ left.inertia @ MIRROR, atol=1e-12)


@settings(max_examples=30, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(shares=st.lists(st.floats(0, 1), min_size=16, max_size=16))
def test_mirrored_postures_give_mirrored_frames(humanoid: Robot, placed, shares: list[float]) -> None:
    model = humanoid.model
    positions = dict.fromkeys(humanoid.joint_names, 0.0)
    for name, share in zip(left_joints(humanoid), shares, strict=False):
        left, right = (model.joints[model.getJointId(side + name[1:])] for side in "LR")
        lower, upper = model.lowerPositionLimit[left.idx_q], model.upperPositionLimit[left.idx_q]
        sign = 1 if left.shortname() == "JointModelRY" else -1
        positions[name] = lower + share * (upper - lower)
        positions["R" + name[1:]] = sign * positions[name]
        limits = model.lowerPositionLimit[right.idx_q], model.upperPositionLimit[right.idx_q]
        assert limits == ((lower, upper) if sign > 0 else (-upper, -lower))
    at = placed(humanoid, np.array(list(positions.values())))
    fingers = zip(humanoid.hands["left_hand"].fingers, humanoid.hands["right_hand"].fingers, strict=True)
    roles = [(humanoid.frames[f"left_{role}"], humanoid.frames[f"right_{role}"]) for role in ("hand", "foot")]
    for left_name, right_name in [*roles, *fingers]:
        left_at, right_at = at[left_name], at[right_name]
        np.testing.assert_allclose(right_at.translation, MIRROR @ left_at.translation, atol=1e-9)
        np.testing.assert_allclose(right_at.rotation, MIRROR @ left_at.rotation @ MIRROR, atol=1e-9)


def test_standing_is_balanced_on_flat_soles(humanoid: Robot, placed) -> None:
    standing = humanoid.postures["standing"]
    q = np.concatenate([pin.neutral(humanoid.model)[:7], standing])
    cog = pin.centerOfMass(humanoid.model, humanoid.model.createData(), q)
    at = placed(humanoid, standing)
    for foot in ("left_foot", "right_foot"):
        sole = at[humanoid.frames[foot]]
        np.testing.assert_allclose(sole.rotation, np.eye(3), atol=1e-9)
        middle = sole.act(humanoid.soles[foot].mean(axis=0))
        assert cog[0] == pytest.approx(middle[0], abs=0.001)
    assert cog[1] == pytest.approx(0, abs=1e-3)


def test_palms_of_the_basic_posture_point_forward_and_down(humanoid: Robot, placed) -> None:
    at = placed(humanoid, humanoid.postures["basic"])
    for side, sign in (("left", 1), ("right", -1)):
        palm, shoulder = at[humanoid.frames[f"{side}_hand"]], at[humanoid.frames[f"{side}_shoulder"]]
        np.testing.assert_allclose(palm.rotation, np.eye(3), atol=1e-5)
        assert sign * palm.translation[1] == pytest.approx(sign * shoulder.translation[1], abs=1e-6)
        assert palm.translation[0] - shoulder.translation[0] > 0.4


def test_every_joint_is_in_one_group(humanoid: Robot) -> None:
    grouped = [name for names in humanoid.groups.values() for name in names]
    assert sorted(grouped) == sorted(humanoid.joint_names)
    for side in ("left", "right"):
        assert humanoid.hands[f"{side}_hand"].joints == humanoid.groups[f"{side}_grip"]
