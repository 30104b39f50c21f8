"""What Mahru's motors must bear, standing, squatting and on one foot, and gains that its light feet bear."""

import numpy as np
import pinocchio as pin
import pytest
from numpy.typing import NDArray
from scipy.optimize import brentq

from simbench.robot.robot import Robot

GRAVITY = 9.81
LEG = ("HipYaw", "HipRoll", "HipPitch", "KneePitch", "AnklePitch", "AnkleRoll")


def posture(robot: Robot, positions: NDArray[np.float64], **changes: float) -> NDArray[np.float64]:
    """Joint positions with those of some joints, both sides, replaced; roll and yaw as on the left."""
    changed = positions.copy()
    for name, value in changes.items():
        for side in "LR":
            changed[robot.joint_names.index(side + name)] = value
    return changed


def static_torques(
    robot: Robot, positions: NDArray[np.float64], feet: tuple[str, ...]
) -> NDArray[np.float64]:
    """Joint torques (n,) that hold a posture on feet that share the weight, its centre under the COG."""
    model, data = robot.model, robot.model.createData()
    q = np.concatenate([pin.neutral(model)[:7], positions])
    cog = pin.centerOfMass(model, data, q).copy()
    load = pin.computeGeneralizedGravity(model, data, q).copy()
    weight = pin.computeTotalMass(model) * GRAVITY / len(feet)
    pin.computeJointJacobians(model, data, q)
    pin.updateFramePlacements(model, data)
    for foot in feet:
        frame = model.getFrameId(robot.frames[foot])
        lever = cog - data.oMf[frame].translation
        if len(feet) == 2:
            lever[1] = 0.0
        force = np.array([0, 0, weight])
        jacobian = pin.getFrameJacobian(model, data, frame, pin.LOCAL_WORLD_ALIGNED)
        load -= jacobian.T @ np.concatenate([force, np.cross(lever, force)])
    np.testing.assert_allclose(load[:6], 0, atol=1e-6)
    return load[6:]


def over_the_soles(robot: Robot, knee: float) -> NDArray[np.float64]:
    """`standing` with another knee angle: soles flat, trunk upright, COG over the middle of the soles."""
    model, data = robot.model, robot.model.createData()

    def lean(ankle: float) -> NDArray[np.float64]:
        bent = {"HipPitch": -knee - ankle, "KneePitch": knee, "AnklePitch": ankle}
        return posture(robot, robot.postures["standing"], **bent)

    def offset(ankle: float) -> float:
        q = np.concatenate([pin.neutral(model)[:7], lean(ankle)])
        pin.framesForwardKinematics(model, data, q)
        middle = data.oMf[model.getFrameId("l_sole")].act(robot.soles["left_foot"].mean(axis=0))
        return float(pin.centerOfMass(model, data, q)[0] - middle[0])

    return lean(brentq(offset, -1.5, 0.5))


@pytest.mark.parametrize(("drop", "share"), [(0.0, 0.2), (0.35, 0.6)])
def test_torque_limits_bear_standing_and_a_deep_squat(mahru: Robot, drop: float, share: float) -> None:
    model, data = mahru.model, mahru.model.createData()
    frame = model.getFrameId("l_sole")

    def height(positions: NDArray[np.float64]) -> float:
        pin.framesForwardKinematics(model, data, np.concatenate([pin.neutral(model)[:7], positions]))
        return -float(data.oMf[frame].translation[2])

    standing = mahru.postures["standing"]
    knee = brentq(lambda knee: height(standing) - height(over_the_soles(mahru, knee)) - drop, 0.3, 2.4)
    squat = over_the_soles(mahru, knee)
    torques = static_torques(mahru, squat, ("left_foot", "right_foot"))
    ratio = np.abs(torques) / mahru.motors.torque_limit
    assert ratio.max() < share
    low, high = model.lowerPositionLimit[7:], model.upperPositionLimit[7:]
    assert np.all((low < squat) | (low == 0))
    assert np.all(squat < high + 1e-12)

    # By hand: what is above both knees, half on each, on its lever to the knee.
    q = np.concatenate([pin.neutral(model)[:7], squat])
    pin.centerOfMass(model, data, q)
    knees = [model.getJointId(f"{side}KneePitch") for side in "LR"]
    above = data.mass[0] - sum(data.mass[knee] for knee in knees)
    below = sum(data.mass[knee] * data.oMi[knee].act(data.com[knee])[0] for knee in knees)
    centre = (data.mass[0] * data.com[0][0] - below) / above
    by_hand = 0.5 * above * GRAVITY * (centre - data.oMi[knees[0]].translation[0])
    assert torques[mahru.joint_names.index("LKneePitch")] == pytest.approx(by_hand, abs=1e-6)


def test_torque_limits_bear_standing_on_one_foot(mahru: Robot) -> None:
    model, data = mahru.model, mahru.model.createData()

    def on_left(roll: float) -> NDArray[np.float64]:
        positions = posture(mahru, mahru.postures["standing"], HipRoll=roll, AnkleRoll=-roll)
        for name, more in (("RHipPitch", -0.2), ("RKneePitch", 0.4), ("RAnklePitch", -0.2)):
            positions[mahru.joint_names.index(name)] += more
        return positions

    def offset(positions: NDArray[np.float64]) -> NDArray[np.float64]:
        q = np.concatenate([pin.neutral(model)[:7], positions])
        pin.framesForwardKinematics(model, data, q)
        return pin.centerOfMass(model, data, q) - data.oMf[model.getFrameId("l_sole")].translation

    positions = on_left(brentq(lambda roll: offset(on_left(roll))[1], -0.34, 0.0))
    assert -0.1 < offset(positions)[0] < 0.14
    ratio = np.abs(static_torques(mahru, positions, ("left_foot",))) / mahru.motors.torque_limit
    assert ratio.max() < 0.5
    assert mahru.joint_names[ratio.argmax()] == "LHipRoll"


def test_damping_of_a_leg_is_stable_where_a_free_foot_counts_as_held(mahru: Robot) -> None:
    model = mahru.model.copy()
    model.armature[:] = 0
    q = np.concatenate([pin.neutral(model)[:7], mahru.postures["standing"]])
    inertia = pin.crba(model, model.createData(), q)
    columns = [mahru.joint_names.index(f"L{name}") for name in LEG]
    leg = np.triu(inertia)[np.ix_(np.add(columns, 6), np.add(columns, 6))]
    leg = leg + np.triu(leg, 1).T
    step = 0.001
    gain = (mahru.motors.damping * step + mahru.motors.stiffness * step**2)[columns]
    assert 1.0 < np.linalg.eigvals(np.linalg.solve(leg, np.diag(gain))).real.max() < 2.0
