"""A root that sways against its joints: normal equations against differences of what Pinocchio says."""

import numpy as np
import pinocchio as pin
import pytest

from simbench.motion.human_motion import HandlePath
from simbench.retargeting.placement.posture_ik import compensated_gauss_newton, compute_root_sway
from simbench.retargeting.placement.reach_model import ReachabilityModel, root_sway_path
from simbench.robot.robot import load_robot

GAIN = (1.3, 0.8)


@pytest.fixture(scope="module")
def reach():
    mahru = load_robot("mahru")
    handles = {side: HandlePath(np.eye(4)[None]) for side in ("left", "right")}
    return ReachabilityModel(mahru, handles, mahru.postures["standing"], GAIN)


def own(reach, joints):
    return np.concatenate([pin.neutral(reach.model)[:7], joints])


def sway_by_pinocchio(reach, joints):
    """How far the COG is from where it is in the standing posture, times the gain."""
    names = reach.model.names[2:]
    standing = reach.robot.postures["standing"][[reach.robot.joint_names.index(name) for name in names]]
    away = np.subtract(
        *(pin.centerOfMass(reach.model, reach.model.createData(), own(reach, q)) for q in (joints, standing))
    )
    return np.array([GAIN[0] * away[0], GAIN[1] * away[1], 0.0])


def points_from_place(reach, numbers):
    """Where the tasks' points are in the world, the root's place and heading being x, y, z, a."""
    x, y, z, heading = numbers[:4]
    joints = numbers[4:]
    data = reach.model.createData()
    pin.forwardKinematics(reach.model, data, own(reach, joints))
    turn = pin.utils.rotate("z", heading)
    sway = sway_by_pinocchio(reach, joints)
    found = [
        turn @ (data.oMi[int(body) + 1].act(point) - sway) + (x, y, z)
        for body, point in zip(reach.hands.tasks.point_body, reach.hands.tasks.point, strict=True)
    ]
    return np.array(found)


def test_the_normal_equations_are_those_of_the_swaying_points(reach):
    random = np.random.default_rng(5)
    n = len(reach.limits[0])
    for _ in range(5):
        joints = random.uniform(*reach.limits)
        numbers = np.concatenate([np.zeros(4), joints])
        here = points_from_place(reach, numbers)
        aims = here + random.normal(0.0, 0.1, here.shape)
        step = 1e-6 * np.eye(4 + n)
        slope = np.array(
            [
                (points_from_place(reach, numbers + d) - points_from_place(reach, numbers - d)).ravel() / 2e-6
                for d in step
            ]
        ).T
        weight = np.repeat(reach.hands.tasks.point_weight**2, 3)
        cost = compensated_gauss_newton(reach.hands, aims, joints)
        np.testing.assert_allclose(
            compute_root_sway(reach.hands), sway_by_pinocchio(reach, joints)[:2], atol=1e-12
        )
        off = (aims - here).ravel()
        assert cost == pytest.approx(weight @ off**2, rel=1e-10)
        rows = [0, 1, 2, 5, *range(6, 6 + n)]
        lower = np.tril(np.ones((4 + n, 4 + n), dtype=bool))
        got = reach.hands.work.matrix[np.ix_(rows, rows)]
        np.testing.assert_allclose(got[lower], (slope.T @ (weight[:, None] * slope))[lower], atol=1e-6)
        np.testing.assert_allclose(reach.hands.work.vector[rows], slope.T @ (weight * off), atol=1e-7)


def test_the_way_of_the_root_is_what_its_poses_ask_for(reach):
    random = np.random.default_rng(6)
    path = random.uniform(*reach.limits, (4, len(reach.limits[0])))
    wanted = [sway_by_pinocchio(reach, joints) for joints in path]
    np.testing.assert_allclose(root_sway_path(reach, path), wanted, atol=1e-12)
