"""Plans whose legs leave their limits are refused; the error says which joint, in which step, and when."""

import re
from dataclasses import replace

import numpy as np
import pinocchio as pin
import pytest

from simbench.balance.gait import Command, plan_footsteps
from simbench.balance.inverted_pendulum import CogZmpGains, natural_frequency
from simbench.balance.leg_ik import stand
from simbench.balance.step_planning import plan_gait, sole_centres
from simbench.balance.whole_body import WholeBodyController, WholeBodyPlan, check_gait_feasibility
from simbench.errors import BalanceError
from simbench.robot.robot import load_robot

TICK, SETTLE = 0.01, 1.2
TIMING = dict(single_support_s=0.6, double_support_s=0.2, lift_m=0.03, settle_s=SETTLE)


@pytest.fixture(scope="module")
def mahru():
    return load_robot("mahru")


def walking(robot, command, height=-0.05):
    """A plan of still arms, and the gait of one command."""
    stance = stand(robot, (0.0, 0.0), 0.0, "standing", height)
    q = np.concatenate([stance.base, stance.joints])
    cog = pin.centerOfMass(robot.model, robot.model.createData(), q).copy()
    steps = plan_footsteps(robot, stance, [command])
    gait = plan_gait(stance.soles, steps, TICK, natural_frequency(cog[2]), sole_centres(robot), **TIMING)
    count = len(gait.zmp)
    upright = np.tile([0.0, 0.0, 0.0, 1.0], (count, 1))
    return WholeBodyPlan(
        gait, np.tile(stance.joints, (count, 1)), stance.base, np.full(count, cog[2]), upright
    )


@pytest.fixture(scope="module")
def plan(mahru):
    return walking(mahru, Command("march", 2))


@pytest.fixture(scope="module")
def course(mahru, plan):
    """Joint positions of the plan walked through, one row a tick."""
    whole = WholeBodyController(mahru, plan, CogZmpGains(cog=10.0, zmp=0.0))
    rows = [whole.configuration[7:].copy()]
    for tick in range(len(plan.gait.zmp) - 1):
        whole.tick(tick, None, None)
        rows.append(whole.configuration[7:].copy())
    return np.array(rows)


def limited(robot, **limits):
    """A robot with other limits of the left knee."""
    model, row = robot.model.copy(), robot.joint_names.index("LKneePitch")
    for name, value in limits.items():
        values = np.array(getattr(model, name))
        values[row + (6 if name == "velocityLimit" else 7)] = value
        setattr(model, name, values)
    return replace(robot, model=model)


def refusal(robot, plan):
    with pytest.raises(BalanceError) as caught:
        check_gait_feasibility(robot, plan)
    message = str(caught.value)
    assert "\n" not in message
    return message


def test_what_the_legs_can_do_is_let_through(mahru, plan, course):
    check_gait_feasibility(mahru, plan)
    # The walk is one: COG and feet are where the gait has them.
    data = mahru.model.createData()
    whole = WholeBodyController(mahru, plan, CogZmpGains(cog=10.0, zmp=0.0))
    for tick in range(len(course) - 1):
        whole.tick(tick, None, None)
        if tick % 20 == 0:
            pin.centerOfMass(mahru.model, data, whole.configuration)
            pin.updateFramePlacements(mahru.model, data)
            np.testing.assert_allclose(data.com[0][:2], plan.gait.cog[tick + 1], atol=1e-3)
            for column, side in enumerate(("left", "right")):
                foot = data.oMf[mahru.model.getFrameId(mahru.frames[f"{side}_foot"])].translation
                np.testing.assert_allclose(foot, plan.gait.foot_position[tick + 1, column], atol=1e-3)


def test_a_joint_that_would_pass_its_limit_is_named_with_step_time_and_range(mahru, plan, course):
    """The left knee bends most in the first step, when its foot is high."""
    knee = course[:, mahru.joint_names.index("LKneePitch")]
    limit = 0.5 * (knee[0] + knee.max())
    first = np.flatnonzero(knee > limit)[0]
    message = refusal(limited(mahru, upperPositionLimit=limit), plan)
    found = re.fullmatch(
        r"mahru: step 1 \(left\) is out of reach at (\S+) s: LKneePitch would go to (\S+) rad, "
        r"\S+ rad beyond its limit; allowed: \S+ to (\S+) rad",
        message,
    )
    assert found, message
    assert float(found[1]) == pytest.approx(TICK * first, abs=TICK + 0.005)
    assert float(found[2]) == pytest.approx(knee[first], abs=6e-4)
    assert float(found[3]) == pytest.approx(limit, abs=6e-4)


def test_a_joint_that_would_be_too_fast_is_named_with_step_time_and_speed(mahru, plan, course):
    speed = np.abs(np.diff(course[:, mahru.joint_names.index("LKneePitch")])) / TICK
    limit = 0.7 * speed.max()
    first = np.flatnonzero(speed > limit)[0]
    message = refusal(limited(mahru, velocityLimit=limit), plan)
    found = re.fullmatch(
        r"mahru: step 1 \(left\) is out of reach at (\S+) s: LKneePitch would turn at (\S+) rad/s; "
        r"allowed: (\S+) rad/s",
        message,
    )
    assert found, message
    assert float(found[1]) == pytest.approx(TICK * first, abs=0.006)
    assert float(found[2]) == pytest.approx(speed[first], abs=0.006)
    assert float(found[3]) == pytest.approx(limit, abs=0.006)


def test_what_is_wrong_before_any_foot_is_lifted_is_no_step_s_fault(mahru, plan, course):
    knee = course[0, mahru.joint_names.index("LKneePitch")]
    message = refusal(limited(mahru, upperPositionLimit=knee - 0.01), plan)
    assert message.startswith("mahru: at 0.00 s, before the first step: LKneePitch would go to ")


def test_a_step_that_geometry_allows_and_legs_at_that_height_do_not_is_refused(mahru):
    """Footsteps are checked for straight legs; on the way there, knees near straight turn too fast."""
    plan = walking(mahru, Command("forward", 0.6, 0.3), height=0.0)
    message = refusal(mahru, plan)
    assert re.match(r"mahru: step [12] \((left|right)\) is out of reach at \S+ s: ", message), message
