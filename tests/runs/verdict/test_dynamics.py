"""Forces that a motion needs, against other implementations and closed forms."""

from dataclasses import replace

import numpy as np
import pinocchio as pin
import pytest
from standing_motions import standing_motion

from simbench.balance.ground_reaction import planned_zmp, standing_torques, zmp_from_wrench
from simbench.balance.leg_ik import solve_com_ik, stand
from simbench.motion.trajectory import JointTrajectory
from simbench.robot.robot import load_robot
from simbench.runs.verdict.motion_state import compute_forces, examine_motion
from simbench.runs.verdict.physical_checks import check_trajectory


def test_the_zmp_is_that_of_the_momentum_of_all_bodies():
    robot, trajectory = standing_motion("romeo", 200.0)
    base = trajectory.base.copy()
    # Turning and swaying, so that every term counts; the feet do not matter here.
    sway = 0.05 * np.sin(2.0 * np.pi * trajectory.time)
    for k in range(len(base)):
        turn = pin.Quaternion(pin.rpy.rpyToMatrix(sway[k], 2.0 * sway[k], -3.0 * sway[k]))
        base[k, 3:] = (pin.Quaternion(*base[k, [6, 3, 4, 5]]) * turn).coeffs()
    base[:, 0] += sway
    forces = compute_forces(examine_motion(robot, replace(trajectory, base=base)))
    zmp, cog = planned_zmp(robot, trajectory.time, base, trajectory.q)
    found = zmp_from_wrench(forces.force, forces.moment)
    inner = slice(10, -10)
    assert np.abs(forces.cog - cog).max() < 1e-5
    assert np.ptp(zmp, axis=0).min() > 0.01
    assert np.abs(found - zmp)[inner].max() < 1e-3


def test_the_joints_carry_what_the_soles_leave():
    robot, trajectory = standing_motion("romeo", 100.0)
    forces = compute_forces(examine_motion(robot, trajectory))
    expected = standing_torques(robot, trajectory.time, trajectory.base, trajectory.q, inertia=True)
    legs = [
        robot.joint_names.index(name) for side in ("left", "right") for name in robot.groups[f"{side}_leg"]
    ]
    others = [joint for joint in range(len(robot.joint_names)) if joint not in legs]
    inner = slice(5, -5)
    assert np.abs(forces.torque[inner][:, others] - expected[inner][:, others]).max() < 0.02
    assert forces.missing[inner].max() < 1e-4
    # Of all distributions over two feet this one loads the joints less than the other.
    limits = robot.motors.torque_limit[legs]
    least = np.linalg.norm(forces.torque[inner][:, legs] / limits, axis=1)
    assert (least <= np.linalg.norm(expected[inner][:, legs] / limits, axis=1) + 1e-6).all()
    assert forces.force[inner, 2] == pytest.approx(forces.weight, rel=0.02)


def test_an_arm_on_a_fixed_base_needs_no_floor():
    robot = load_robot("puma560")
    time = np.arange(0.0, 2.0, 0.01)
    q = 0.2 * np.sin(2.0 * np.pi * time)[:, None] * np.ones(len(robot.joint_names))
    verdict = check_trajectory(robot, JointTrajectory(time, q, robot.joint_names))
    feet = ("foot skate", "floor penetration", "float", "sole angle", "ZMP", "COG", "flight", "friction")
    assert {verdict.check(name).reason for name in feet} == {"the base is fixed"}
    model, data = robot.model, robot.model.createData()
    omega = 2.0 * np.pi
    torques = [
        pin.rnea(model, data, row, omega * np.cos(omega * t) * 0.2 * np.ones(len(row)), -(omega**2) * row)
        for t, row in zip(time, q, strict=True)
    ]
    ratio = np.abs(torques) / robot.motors.torque_limit
    inner = slice(5, -5)
    assert verdict.check("joint torque").series[inner] == pytest.approx(ratio[inner].max(axis=1), rel=0.01)


def on_left_foot(cog_offset):
    """A robot at rest, its COG above the left sole, the right foot's contact left out."""
    robot, _ = standing_motion("romeo", 50.0)
    stance = stand(robot, (0.0, 0.0), 0.0, "standing", -0.04)
    sole = stance.soles["left"]
    target = sole.act(np.array([0.04, cog_offset, 0.0]))[:2]
    joints = np.tile(stance.joints, (20, 1))
    steps = np.linspace(0.0, 1.0, 20)[:, None]
    base, solved = solve_com_ik(robot, stance, joints, stance.target + steps * (target - stance.target))
    resting = JointTrajectory(
        np.arange(20) / 50.0, np.tile(solved[-1], (20, 1)), robot.joint_names, np.tile(base[-1], (20, 1))
    )
    state = examine_motion(robot, resting)
    touching = state.feet.touching.copy()
    touching[:, state.feet.roles.index("right_foot")] = False
    return robot, resting, replace(state, feet=replace(state.feet, touching=touching))


def test_one_foot_carries_everything_in_one_way():
    robot, resting, state = on_left_foot(0.0)
    # Feet that do not touch are not taken for flat ones in contact.
    forces = compute_forces(state)
    assert forces.missing[10] < 1e-4
    model, data = robot.model, robot.model.createData()
    q = np.concatenate([resting.base[0], resting.q[0]])
    effort = pin.rnea(model, data, q, np.zeros(model.nv), np.zeros(model.nv))
    frame = model.getFrameId(robot.frames["left_foot"])
    jacobian = pin.computeFrameJacobian(model, data, q, frame, pin.LOCAL_WORLD_ALIGNED)
    wrench = np.linalg.solve(jacobian[:, :6].T, effort[:6])
    assert forces.torque[10] == pytest.approx((effort - jacobian.T @ wrench)[6:], abs=1e-3)


def test_what_the_sole_cannot_give_is_missing():
    _, resting, state = on_left_foot(0.034 + 0.02)
    forces = compute_forces(state)
    # The weight is 2 cm beyond the sole's edge. Friction f at the height h of the root, where the equations
    # hold, makes up for some: the least of f² + ((0.02 − f h) / 0.1)² is 0.02² / (h² + 0.1²).
    height = resting.base[0, 2]
    assert forces.missing[10] == pytest.approx(0.02 / np.hypot(height, 0.1), rel=0.05)
