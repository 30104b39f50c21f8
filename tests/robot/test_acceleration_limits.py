"""Acceleration limits that motors can give."""

import numpy as np
import pinocchio as pin
import pytest

from simbench.robot.robot import load_robot
from simbench.robot.robot_limbs import estimated_accelerations


@pytest.mark.parametrize("name", ["mahru", "puma560"])
def test_motors_can_give_the_accelerations(name):
    """Torque of one joint's acceleration against gravity, by inverse dynamics in random postures."""
    robot = load_robot(name)
    model, data = robot.model, robot.model.createData()
    names = robot.groups["right_arm"]
    limits = estimated_accelerations(robot, names)
    rng = np.random.default_rng(5)
    ids = [model.getJointId(joint) for joint in names]
    used = np.zeros(len(names))
    for _ in range(100):
        q = pin.neutral(model)
        for joint in ids:
            at = model.joints[joint].idx_q
            q[at] = rng.uniform(model.lowerPositionLimit[at], model.upperPositionLimit[at])
        for k, joint in enumerate(ids):
            at = model.joints[joint].idx_v
            for sense in (1.0, -1.0):
                acceleration = np.zeros(model.nv)
                acceleration[at] = sense * limits[k]
                torque = pin.rnea(model, data, q, np.zeros(model.nv), acceleration)[at]
                used[k] = max(used[k], abs(torque) / model.effortLimit[at])
    assert used.max() <= 1.03
    capped = limits == pytest.approx(model.velocityLimit[[model.joints[j].idx_v for j in ids]] / 0.02)
    assert capped or used.max() > 0.8


def test_acceleration_limit_of_a_pendulum_in_closed_form():
    """The direct-drive arm's second joint turns one link about a vertical axis: τ / (I + m r²)."""
    robot = load_robot("direct_drive_arm")
    inertia = robot.model.inertias[2]
    about_axis = inertia.inertia[2, 2] + inertia.mass * (inertia.lever[0] ** 2 + inertia.lever[1] ** 2)
    expected = robot.model.effortLimit[1] / about_axis
    assert estimated_accelerations(robot, ("joint2",)) == pytest.approx([expected])
