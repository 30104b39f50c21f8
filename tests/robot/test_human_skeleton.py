"""The idealised table of ROMEO's upper body against the thesis's numbers and the robot that ships."""

import numpy as np
import pinocchio as pin
import pytest
from joint_tables import model_frames, romeo_table

from simbench.robot.dh import table_frames, table_model
from simbench.robot.human_skeleton import ARM_JOINTS, HEAD_JOINTS, UpperBodyLengths
from simbench.robot.robot import load_robot

# L1 to L9 of ROMEO; L2 and L3 from the public description (NeckYaw at 0.0835 m, HeadPitch at 0.09511 m).
ROMEO = UpperBodyLengths(
    shoulder_height=0.2,
    neck_base=0.0835,
    neck=0.09511,
    shoulder_width=0.38,
    shoulder_offset=0.005,
    upper_arm=0.205,
    forearm=0.1823,
    palm_forward=0.09,
    palm_below=0.02,
)


def test_table_has_25_joints_and_two_hands() -> None:
    table = romeo_table(ROMEO)
    assert len(table.moving) == 25
    assert table.moving[6] == "TrunkYaw"
    assert table.moving[11:18] == tuple("L" + name for name in ARM_JOINTS)
    assert table.moving[18:] == tuple("R" + name for name in ARM_JOINTS)


@pytest.mark.parametrize(("hand", "sign"), [("l_hand", 1), ("r_hand", -1)])
def test_hands_at_zero_are_forward_with_the_palms_down(hand: str, sign: int) -> None:
    frame = table_frames(romeo_table(ROMEO), np.zeros(25))[hand]
    # 0.005 + 0.205 + 0.1823 + 0.09 forward, 0.2 - 0.02 up.
    np.testing.assert_allclose(frame[:3, 3], [0.4823, sign * 0.19, 0.18], atol=1e-12)
    np.testing.assert_allclose(frame[:3, :3], np.eye(3), atol=1e-12)


def test_virtual_joints_move_the_trunk_like_z_y_x_yaw_roll_pitch() -> None:
    q = np.zeros(25)
    q[:6] = 0.3, -0.2, 0.1, 0.5, -0.4, 0.7
    trunk = table_frames(romeo_table(ROMEO), q)["TrunkYaw"]
    axes = [pin.utils.rotate("z", 0.5), pin.utils.rotate("x", -0.4), pin.utils.rotate("y", 0.7)]
    np.testing.assert_allclose(trunk[:3, 3], [0.1, -0.2, 0.3], atol=1e-12)
    np.testing.assert_allclose(trunk[:3, :3], axes[0] @ axes[1] @ axes[2], atol=1e-12)


def test_pinocchio_sees_the_same_table() -> None:
    table = romeo_table(ROMEO)
    model = table_model(table)
    assert model.nv == 25
    q = np.random.default_rng(3).uniform(-1.5, 1.5, 25)
    direct = table_frames(table, q)
    for name, frame in model_frames(table, model, q).items():
        np.testing.assert_allclose(frame, direct[name], atol=1e-12, err_msg=name)


def test_table_agrees_with_the_robot_except_for_the_tilted_shoulders() -> None:
    romeo = load_robot("romeo")
    table = romeo_table(ROMEO)
    rng = np.random.default_rng(5)
    # The description tilts the axes of the shoulder pitch: there the table is an idealisation.
    moved = [name for name in table.moving[6:] if name[1:] not in ("ShoulderPitch", "ShoulderYaw")]
    values = dict(zip(moved, rng.uniform(-0.8, 0.8, len(moved)), strict=True))
    frames = table_frames(table, [values.get(name, 0.0) for name in table.moving])
    q = pin.neutral(romeo.model)
    for name, value in values.items():
        q[romeo.model.joints[romeo.model.getJointId(name)].idx_q] = value
    data = romeo.model.createData()
    pin.framesForwardKinematics(romeo.model, data, q)

    def robot_frame(link: str) -> pin.SE3:
        return data.oMf[romeo.model.getFrameId(link)]

    for name in HEAD_JOINTS:
        place = data.oMi[romeo.model.getJointId(name)].translation
        np.testing.assert_allclose(frames[name][:3, 3], place, atol=1e-6, err_msg=name)
    for side, prefix in (("left", "L"), ("right", "R")):
        for role, name in (
            ("shoulder", f"{prefix}ShoulderPitch"),
            ("elbow", f"{prefix}ElbowYaw"),
            ("wrist", f"{prefix}WristPitch"),
            ("hand", f"{prefix.lower()}_hand"),
        ):
            place = robot_frame(romeo.frames[f"{side}_{role}"]).translation
            np.testing.assert_allclose(frames[name][:3, 3], place, atol=1e-5, err_msg=name)
        hand = robot_frame(romeo.frames[f"{side}_hand"]).rotation
        np.testing.assert_allclose(frames[f"{prefix.lower()}_hand"][:3, :3], hand, atol=1e-4)
    gaze = robot_frame(romeo.frames["head"]).rotation
    # Columns of the table's last head frame: z along the roll axis, that is the robot's x.
    np.testing.assert_allclose(frames["HeadRoll"][:3, 2], gaze[:, 0], atol=1e-6)
