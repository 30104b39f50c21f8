"""One tick of balance after another: feet, COG, arms and what control adds, by Pinocchio."""

import numpy as np
import pinocchio as pin
import pytest
import scipy.linalg

from simbench.balance.gait import standing_gait
from simbench.balance.inverted_pendulum import CogZmpGains
from simbench.balance.leg_ik import stand
from simbench.balance.whole_body import WholeBodyController, WholeBodyPlan
from simbench.options import EmbeddingSection

TICK, TICKS = 0.002, 100
GAINS = CogZmpGains(cog=6.0, zmp=2.0)


@pytest.fixture(scope="module")
def robot(romeo):
    return romeo


@pytest.fixture(scope="module")
def plan(robot):
    """Stand while the left arm rises by 0.6 rad/s and the COG goes 20 mm/s forward, 10 mm/s to the left."""
    stance = stand(robot, (0.0, 0.0), 0.0, "standing")
    time = TICK * np.arange(TICKS + 1)
    joints = np.tile(stance.joints, (TICKS + 1, 1))
    joints[:, robot.joint_names.index("LShoulderPitch")] -= 0.6 * time
    start = pin.centerOfMass(
        robot.model, robot.model.createData(), np.concatenate([stance.base, stance.joints])
    ).copy()
    cog = start[:2] + time[:, None] * [0.02, 0.01]
    gait = standing_gait(stance.soles, cog, cog, TICK, TICKS + 1)
    body = np.tile(stance.base[3:], (TICKS + 1, 1))
    return WholeBodyPlan(gait, joints, stance.base, np.full(TICKS + 1, start[2]), body)


def run(whole, ticks=TICKS):
    for tick in range(ticks):
        whole.tick(tick, None, None)
    return whole


def cog_of(robot, q):
    return pin.centerOfMass(robot.model, robot.model.createData(), q).copy()


def feet_of(robot, q):
    data = robot.model.createData()
    pin.framesForwardKinematics(robot.model, data, q)
    return [
        data.oMf[robot.model.getFrameId(robot.frames[f"{side}_foot"])].copy() for side in ("left", "right")
    ]


def carried_by(robot, plan, zmp):
    """Foot wrenches of the weight, half on each foot, with the centre of both pressures at a point."""
    weight = 9.81 * pin.computeTotalMass(robot.model)
    wrench = np.zeros((2, 6))
    middle = plan.gait.foot_position[0, :, :2].mean(axis=0)
    for foot in (0, 1):
        x, y = plan.gait.foot_position[0, foot, :2] + zmp - middle
        wrench[foot] = 0.0, 0.0, 0.5 * weight, 0.5 * weight * y, -0.5 * weight * x, 0.0
    return wrench


def test_reference_follows_the_plan_and_feet_stay(robot, plan):
    whole = run(WholeBodyController(robot, plan, GAINS))
    np.testing.assert_allclose(cog_of(robot, whole.configuration)[:2], plan.gait.cog[-1], atol=1e-4)
    assert cog_of(robot, whole.configuration)[2] == pytest.approx(plan.cog_height[0], abs=1e-4)
    for foot, place in zip(feet_of(robot, whole.configuration), plan.gait.foot_position[0], strict=True):
        np.testing.assert_allclose(foot.translation, place, atol=1e-5)
        np.testing.assert_allclose(foot.rotation, np.eye(3), atol=1e-5)
    upper = np.setdiff1d(np.arange(len(robot.joint_names)), whole.legs)
    np.testing.assert_allclose(whole.configuration[7:][upper], plan.joints[-1, upper], atol=1e-12)


def test_measured_cog_and_zmp_move_the_reference_as_the_law_says(robot, plan):
    """One tick with the ZMP 10 mm ahead, as far as the filter lets it through; Pinocchio says what ċ is."""
    whole = WholeBodyController(robot, plan, GAINS)
    q = whole.configuration.copy()
    ahead = np.array([0.01, 0.0])
    # The filter's first reading takes a share of the measured moment only.
    share = 1.0 - np.exp(-2.0 * np.pi * 10.0 * TICK)
    whole.tick(0, q, carried_by(robot, plan, plan.gait.zmp[0] + ahead))
    data = robot.model.createData()
    jacobian = pin.jacobianCenterOfMass(robot.model, data, q)
    planned = np.array([0.02, 0.01])
    middle = plan.gait.foot_position[0, :, :2].mean(axis=0)
    read = middle + share * (plan.gait.zmp[0] + ahead - middle)
    expected = planned - 2.0 * (plan.gait.zmp[0] - read) + 6.0 * (plan.gait.cog[0] - cog_of(robot, q)[:2])
    np.testing.assert_allclose((jacobian @ whole.velocity)[:2], expected, atol=1e-4)


def test_without_control_what_is_measured_does_not_matter(robot, plan):
    alone = run(WholeBodyController(robot, plan, GAINS, control=False))
    pushed = WholeBodyController(robot, plan, GAINS, control=False)
    for tick in range(TICKS):
        off = pushed.configuration.copy()
        off[7 + pushed.legs] += 0.02
        pushed.tick(tick, off, carried_by(robot, plan, plan.gait.zmp[0] + [0.04, -0.02]))
    np.testing.assert_allclose(pushed.configuration, alone.configuration, atol=1e-12)


NOWHERE = EmbeddingSection(jacobian=False, cog=False, feedforward=False, plan=False)


def test_without_embedding_the_legs_do_not_know_of_the_arm(robot, plan):
    whole = run(WholeBodyController(robot, plan, GAINS, embedding=NOWHERE))
    still = WholeBodyPlan(
        plan.gait, np.tile(plan.joints[0], (TICKS + 1, 1)), plan.base, plan.cog_height, plan.body
    )
    ignorant = run(WholeBodyController(robot, still, GAINS, embedding=NOWHERE))
    legs = 7 + whole.legs
    np.testing.assert_allclose(whole.configuration[legs], ignorant.configuration[legs], atol=1e-12)
    # So the COG is off by what the arm does to it.
    error = np.abs(cog_of(robot, whole.configuration)[:2] - plan.gait.cog[-1]).max()
    assert error > 5e-4


def test_without_the_jacobians_term_the_cog_is_off_by_what_the_arm_moves(robot, plan):
    """By Pinocchio: the legs alone give the planned ċ; nobody compensates what the arm adds."""
    whole = WholeBodyController(robot, plan, GAINS, embedding=EmbeddingSection(jacobian=False))
    q = whole.configuration.copy()
    whole.tick(0, None, None)
    jacobian = pin.jacobianCenterOfMass(robot.model, robot.model.createData(), q)
    arm = 6 + robot.joint_names.index("LShoulderPitch")
    assert whole.velocity[arm] == pytest.approx(-0.6)
    moved = (jacobian @ whole.velocity)[:2]
    np.testing.assert_allclose(moved - jacobian[:2, arm] * -0.6, [0.02, 0.01], atol=1e-4)
    assert np.abs(moved - [0.02, 0.01]).max() > 5e-4


def test_each_place_of_embedding_is_left_out_alone(robot, plan):
    """The measured COG and the legs' torques with the arm raised, by Pinocchio with it raised or at rest."""
    raised = run(WholeBodyController(robot, plan, GAINS)).configuration
    wrench = carried_by(robot, plan, plan.gait.zmp[TICKS])
    rested = raised.copy()
    upper = np.setdiff1d(np.arange(len(robot.joint_names)), WholeBodyController(robot, plan, GAINS).legs)
    rested[7 + upper] = plan.joints[0, upper]
    legs = np.setdiff1d(np.arange(len(robot.joint_names)), upper)
    measured, torques = {}, {}
    for part in ("jacobian", "cog", "feedforward", "nothing"):
        embedding = EmbeddingSection(**({} if part == "nothing" else {part: False}))
        whole = run(WholeBodyController(robot, plan, GAINS, embedding=embedding), TICKS - 1)
        whole.tick(TICKS - 1, raised, wrench)
        measured[part], torques[part] = whole.cog[TICKS - 1], whole.torque[legs]
    for part in measured:
        posture = rested if part == "cog" else raised
        # Relative to the soles, which lie where the gait has them.
        sole = feet_of(robot, posture)[int(plan.gait.support[TICKS - 1])].translation
        place = plan.gait.foot_position[0, int(plan.gait.support[TICKS - 1])]
        expected = cog_of(robot, posture)[:2] - sole[:2] + place[:2]
        np.testing.assert_allclose(measured[part], expected, atol=1e-6)
    # Virtual work: floor forces do none while the soles stay: the legs' torques lack the arm's gravity.
    data, nv = robot.model.createData(), robot.model.nv
    jacobians = [
        pin.computeFrameJacobian(robot.model, data, raised, robot.model.getFrameId(robot.frames[foot]))
        for foot in ("left_foot", "right_foot")
    ]
    columns = np.concatenate([np.arange(6), 6 + legs])
    moves = scipy.linalg.null_space(np.vstack(jacobians)[:, columns])
    gravity = [pin.rnea(robot.model, data, q, np.zeros(nv), np.zeros(nv))[columns] for q in (rested, raised)]
    lacking = moves[6:].T @ (torques["feedforward"] - torques["nothing"])
    expected = moves.T @ (gravity[0] - gravity[1])
    assert np.abs(expected).max() > 0.1
    np.testing.assert_allclose(lacking, expected, atol=0.02)


def test_a_robot_that_lies_is_left_alone(robot, plan):
    whole = WholeBodyController(robot, plan, GAINS)
    lying = whole.configuration.copy()
    lying[3:7] = [0.0, np.sin(0.35), 0.0, np.cos(0.35)]
    whole.tick(0, lying, carried_by(robot, plan, plan.gait.zmp[0]))
    assert whole.gave_up == 0
    assert not whole.velocity.any()
