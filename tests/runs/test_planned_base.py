"""The reference's root, rebuilt from joints and planned contacts: the foot it stands on does not move."""

import numpy as np
import pinocchio as pin
import pytest
import xarray as xr

from simbench.robot.robot import load_robot
from simbench.runs.video import reconstruct_planned_base

COUNT = 60


@pytest.fixture(scope="module")
def mahru():
    return load_robot("mahru")


def foot_poses(robot, base, joints):
    data, poses = robot.model.createData(), []
    for pose, row in zip(base, joints, strict=True):
        pin.framesForwardKinematics(robot.model, data, np.concatenate([pose, row]))
        poses.append(
            [data.oMf[robot.model.getFrameId(robot.frames[role])].homogeneous for role in robot.feet]
        )
    return np.array(poses)


def test_the_supporting_foot_stays_while_the_other_swings(mahru):
    phases = np.linspace(0.0, 2.0 * np.pi, COUNT)[:, None]
    rates = np.random.default_rng(3).uniform(-0.3, 0.3, len(mahru.joint_names))
    joints = mahru.postures["standing"] + rates * np.sin(phases)
    contact = np.ones((COUNT, 2), dtype=bool)
    contact[20:30, 0] = contact[40:50, 1] = False
    turn = pin.Quaternion(pin.rpy.rpyToMatrix(0.0, 0.1, 0.7)).coeffs()
    start = np.concatenate([[0.3, -0.2, 0.8], turn])
    log = xr.Dataset(
        {
            "base_pose": (("time", "pose"), np.tile(start, (COUNT, 1))),
            "joint_reference": (("time", "joint"), joints),
            "contact_planned": (("time", "foot"), contact),
        },
        attrs={"seat": ""},
    )
    base = reconstruct_planned_base(mahru, log)
    np.testing.assert_allclose(base[0], start, atol=1e-12)
    poses = foot_poses(mahru, base, joints)
    # On the left foot until it lifts, then on the right one until that lifts.
    for first, last, foot in ((0, 20, 0), (20, 40, 1), (40, COUNT - 1, 0)):
        np.testing.assert_allclose(
            poses[first : last + 1, foot], np.tile(poses[first, foot], (last - first + 1, 1, 1)), atol=1e-9
        )
    # The one that swings goes somewhere.
    assert np.linalg.norm(poses[30, 0, :3, 3] - poses[20, 0, :3, 3]) > 0.01


def test_a_fixed_base_stays_where_it_was():
    robot = load_robot("puma560")
    poses = np.tile([0.1, 0.2, 0.0, 0.0, 0.0, 0.0, 1.0], (4, 1))
    log = xr.Dataset({"base_pose": (("time", "pose"), poses)})
    np.testing.assert_array_equal(reconstruct_planned_base(robot, log), poses)
