"""Torque and ZMP constraints of a path against inverse dynamics of the same motion at another tempo."""

import dataclasses

import numpy as np
import pinocchio as pin
import pytest

from simbench.balance.standing.ground_reaction import standing_torques
from simbench.balance.standing.standing import stand
from simbench.balance.standing.standing_profile import planned_zmp
from simbench.balance.standing.support import support_polygons
from simbench.retargeting.timing.dynamics import (
    dynamics_samples,
    fixed_base_constraints,
    path_velocity,
    standing_constraints,
)
from simbench.robot.robot import load_robot

TIME = np.arange(0.0, 3.0, 0.01)


@pytest.fixture(scope="module")
def swinging(romeo):
    """ROMEO stands, both arms swing together, and the base sways and turns a little as if it were held."""
    stance = stand(romeo, (0.1, -0.05), 0.2, "standing")
    joints = np.tile(stance.joints, (len(TIME), 1))
    for name in ("LShoulderPitch", "RShoulderPitch"):
        joints[:, romeo.joint_names.index(name)] += 0.5 * np.sin(4.0 * TIME)
    base = np.tile(stance.base, (len(TIME), 1))
    base[:, 0] += 0.01 * np.sin(3.0 * TIME)
    turn = pin.Quaternion(pin.rpy.rpyToMatrix(0.0, 0.0, 0.0))
    for row, angle in zip(base, 0.05 * np.sin(2.0 * TIME), strict=True):
        turn = pin.Quaternion(pin.rpy.rpyToMatrix(0.0, 0.0, angle)) * pin.Quaternion(*row[[6, 3, 4, 5]])
        row[3:] = turn.coeffs()
    return stance, base, joints


def test_torques_of_a_fixed_arm_are_those_of_inverse_dynamics_at_any_rate():
    arm = load_robot("puma560")
    rng = np.random.default_rng(0)
    joints = 0.5 * np.sin(rng.uniform(1.0, 3.0, 6) * TIME[:, None] + rng.uniform(0.0, 6.0, 6))
    times, rows, names = fixed_base_constraints(arm, TIME, joints)
    path = path_velocity(TIME, None, joints)
    data, limit = arm.model.createData(), arm.motors.torque_limit
    assert names[0] == f"torque of {arm.joint_names[0]}"
    for sample in (3, 70, 140):
        at = dynamics_samples(TIME)[sample]
        square, acceleration = 0.6, -0.8
        v = path.first[at] * np.sqrt(square)
        a = path.first[at] * acceleration + path.second[at] * square
        torque = pin.rnea(arm.model, data, path.q[at], v, a)
        still = pin.rnea(arm.model, data, path.q[at], 0.0 * v, 0.0 * v)
        use = rows.a[sample] * acceleration + rows.b[sample] * square
        signed = np.hstack([torque - still, still - torque])
        room = np.maximum(
            0.8 * np.hstack([limit, limit]) - np.hstack([still, -still]), 0.1 * np.hstack([limit, limit])
        )
        assert use == pytest.approx(signed / room, abs=1e-9)
    assert times[0] == TIME[0]
    assert times[-1] == TIME[-1]


@pytest.mark.parametrize("factor", [1.0, 1.7])
def test_torques_of_a_standing_robot_are_those_at_the_stretched_time(romeo, swinging, factor):
    stance, base, joints = swinging
    times, rows, _ = standing_constraints(romeo, stance, TIME, base, joints, {}, np.ones(len(TIME)))
    samples = np.searchsorted(TIME, times)
    still, moving = (
        standing_torques(romeo, factor * TIME, base, joints, inertia=inertia)[samples]
        for inertia in (False, True)
    )
    limit = romeo.motors.torque_limit
    room = np.maximum(0.8 * limit - still, 0.1 * limit)
    use = rows.b[:, : len(limit)] / factor**2
    inner = slice(5, -5)
    # Their differences are of samples 20 ms apart.
    assert use[inner] == pytest.approx(((moving - still) / room)[inner], abs=0.004)
    assert np.abs(use[inner]).max() > 0.1 / factor**2


@pytest.mark.parametrize("load", [None, (8.0, -5.0, -20.0, 3.0, 2.0, -1.0)])
@pytest.mark.parametrize("faster", [1.0, 2.5])
def test_zmp_constraints_are_used_by_what_the_zmp_moves_towards_an_edge(romeo, swinging, load, faster):
    """0 where the ZMP is as at rest, 1 where it is 2 cm inside an edge, for every edge."""
    stance, base, joints = swinging
    time = TIME / faster
    wrench = np.tile(load, (len(time), 1)) if load else None
    loads = {"left": wrench} if load else {}
    times, rows, names = standing_constraints(romeo, stance, TIME, base, joints, loads, np.ones(len(time)))
    edges = [column for column, name in enumerate(names) if name == "ZMP"]
    samples = np.searchsorted(TIME, times)[5:-5]
    moving, still = (
        planned_zmp(romeo, time, base, joints, wrench, np.full(len(time), part))[0][samples]
        for part in (1.0, 0.0)
    )
    corners = np.concatenate(
        [
            romeo.soles[f"{side}_foot"] @ sole.rotation.T + sole.translation
            for side, sole in stance.soles.items()
        ]
    )
    polygon = support_polygons(corners[None, :, :2])[0]
    polygon = polygon[np.isfinite(polygon[:, 0])]
    assert len(polygon) == len(edges)
    use = faster**2 * rows.b[5:-5][:, edges]
    for column, (first, second) in enumerate(zip(polygon, np.roll(polygon, -1, axis=0), strict=True)):
        along = (second - first) / np.linalg.norm(second - first)
        inside = np.array([-along[1], along[0]])
        room = np.maximum((still - first) @ inside - 0.02, 0.01)
        # The vertical force changes by a few percent.
        assert use[:, column] == pytest.approx((still - moving) @ inside / room, abs=0.03 * faster**2)
    assert use.max() > 0.05 * faster**2


def test_a_load_on_a_hand_needs_torque_of_the_arm(romeo, swinging):
    """A force down on the palm at rest takes Jᵀf from the room for motion."""
    stance, base, joints = swinging
    data, model = romeo.model.createData(), romeo.model
    q = np.concatenate([base[0], joints[0]])
    frame = model.getFrameId(romeo.frames["left_hand"])
    jacobian = pin.computeFrameJacobian(model, data, q, frame, pin.LOCAL_WORLD_ALIGNED)
    pin.framesForwardKinematics(model, data, q)
    palm, force = data.oMf[frame].translation, np.array([0.0, 0.0, -30.0])
    wrench = np.tile([*force, *np.cross(palm, force)], (len(TIME), 1))
    plain, loaded = (
        standing_constraints(romeo, stance, TIME, base, joints, loads, np.ones(len(TIME)))[1]
        for loads in ({}, {"left": wrench})
    )
    column = romeo.joint_names.index("LShoulderPitch")
    limit = romeo.motors.torque_limit[column]
    needed = -(jacobian[:3].T @ force)[6 + column]
    still = pin.rnea(model, data, q, np.zeros(model.nv), np.zeros(model.nv))[6 + column]
    ratio = (0.8 * limit - still) / (0.8 * limit - still - needed)
    assert loaded.b[0, column] == pytest.approx(ratio * plain.b[0, column], rel=1e-6)
    assert abs(ratio - 1.0) > 0.05


def test_a_seated_robot_has_no_zmp_to_keep(romeo, swinging):
    stance, base, joints = swinging
    seated = dataclasses.replace(stance, seated=True)
    _, rows, names = standing_constraints(romeo, seated, TIME, base, joints, {}, np.ones(len(TIME)))
    assert "ZMP" not in names
    assert rows.a.shape == (len(dynamics_samples(TIME)), len(names))
