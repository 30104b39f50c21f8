"""Robots whose legs have four or five joints: soles first, then trunk and COG, by Pinocchio and NumPy."""

import dataclasses

import numpy as np
import pinocchio as pin
import pytest

from simbench.balance.embedded_motion import (
    MAX_SHORT_LEG_SPEED,
    compute_embedded_motion,
    solve_in_priority_order,
)
from simbench.balance.gait import standing_gait
from simbench.balance.inverted_pendulum import CogZmpGains
from simbench.balance.leg_ik import (
    describe_lost_motions,
    pelvis_freedom,
    require_sideways_sway,
    solve_com_ik,
    stand,
    sway_projection,
)
from simbench.balance.sections import LEGS, Role, assign, limb_sections
from simbench.balance.whole_body import WholeBodyController, WholeBodyPlan
from simbench.errors import BalanceError
from simbench.robot.robot import load_robot
from simbench.robot.scaffold.scaffold import scaffold_robot
from simbench.robot.scaffold.writing import write_scaffold
from simbench.robot.sides import SIDES
from simbench.runs.preparation import complete_scenario
from simbench.runs.scenario.loading import load_scenario
from tests.robot.scaffold.synthetic import Humanoid

WORLD = pin.ReferenceFrame.LOCAL_WORLD_ALIGNED
HEADING = 0.4
# Joints that legs lack (0 hip yaw, 1 hip roll, 5 ankle roll), and what the pelvis can do then: rotations
# about x, y and z, sway along x and y.
FREEDOM = {
    (5,): (False, True, False, True, False),
    (0,): (True, True, False, True, True),
    (0, 5): (False, True, False, True, False),
    (0, 1): (False, True, False, True, False),
}
lacking = pytest.mark.parametrize("dropped", FREEDOM)


@pytest.fixture(scope="module")
def robots(tmp_path_factory):
    made = {}
    for dropped in FREEDOM:
        folder = tmp_path_factory.mktemp("invented")
        fixed = tuple(f"{side}_leg{k}" for side in SIDES for k in dropped)
        (folder / "robot.urdf").write_text(Humanoid(1.0, 23, fixed=fixed).urdf())
        made[dropped] = load_robot(write_scaffold(scaffold_robot(folder / "robot.urdf"), folder / "out"))
    return made


def sole_errors(robot, stance, q):
    """Distance and angle of each sole from its place in the stance, m and rad."""
    data = robot.model.createData()
    pin.framesForwardKinematics(robot.model, data, q)
    feet = [(side, robot.model.getFrameId(robot.frames[f"{side}_foot"])) for side in SIDES]
    return np.abs([pin.log6(stance.soles[side].actInv(data.oMf[foot])).vector for side, foot in feet])


@lacking
def test_soles_stay_and_the_cog_goes_as_far_as_the_legs_allow(robots, dropped):
    robot = robots[dropped]
    stance = stand(robot, (0.3, -0.2), HEADING, "standing")
    along = np.array([[np.cos(HEADING), np.sin(HEADING)], [-np.sin(HEADING), np.cos(HEADING)]])
    asked = np.array([[0.02, 0.0], [0.0, 0.02], [-0.02, 0.01]])
    base, joints = solve_com_ik(
        robot, stance, np.tile(stance.joints, (3, 1)), stance.target + asked @ along, np.full(3, -0.03)
    )
    data = robot.model.createData()
    for row, wanted in enumerate(asked):
        q = np.concatenate([base[row], joints[row]])
        assert sole_errors(robot, stance, q).max() < 1e-6
        assert base[row, 2] == pytest.approx(stance.base[2] - 0.03)
        np.testing.assert_allclose(base[row, 3:], stance.base[3:], atol=1e-12)
        reached = along @ (pin.centerOfMass(robot.model, data, q)[:2] - stance.target)
        free = np.array(FREEDOM[dropped][3:])
        np.testing.assert_allclose(reached[free], wanted[free], atol=1e-6)
        # The robots are not quite mirror images: the COG is not quite in the middle.
        assert np.abs(reached[~free]).max(initial=0.0) < 1e-3


@lacking
def test_what_is_given_up_is_found_and_said(robots, dropped):
    robot, free = robots[dropped], np.array(FREEDOM[dropped])
    stance = stand(robot, (0.0, 0.0), HEADING, "standing")
    np.testing.assert_array_equal(pelvis_freedom(robot, stance), free)
    said = describe_lost_motions(robot, stance)
    words = ("lean sideways", "lean forward", "turn about the vertical", "sway forward", "sway sideways")
    assert said.startswith(f"legs of {6 - len(dropped)} joints: ")
    assert [word in said for word in words] == [not each for each in free]
    projection = sway_projection(stance, free)
    # A push makes it step only if it can.
    completed, notes = complete_scenario(robot, load_scenario("push"))
    assert completed.balance.recovery == ("step" if free[4] else "hips")
    assert any("does not step" in note for note in notes) is not bool(free[4])
    if free[4]:
        assert projection is None
        require_sideways_sway(robot, stance)
        return
    ahead = np.array([np.cos(HEADING), np.sin(HEADING)])
    np.testing.assert_allclose(projection, np.outer(ahead, ahead), atol=1e-12)
    # Soles 0.1 m from the middle are 0.1 m wide.
    with pytest.raises(BalanceError, match=r"cannot step: its COG would have to come 0\.050 m to the side"):
        require_sideways_sway(robot, stance)


def test_legs_of_six_joints_give_up_nothing():
    romeo = load_robot("romeo")
    stance = stand(romeo, (0.0, 0.0), 0.0, "standing")
    assert pelvis_freedom(romeo, stance).all()
    assert not describe_lost_motions(romeo, stance)
    require_sideways_sway(romeo, stance)


def tick(robot, q, rng, base=0):
    """Arguments of the kernels at a configuration, with random velocities of soles and J-busy joints."""
    model, data = robot.model, robot.model.createData()
    pin.jacobianCenterOfMass(model, data, q)
    roles = {LEGS[base]: Role.BASE, LEGS[1 - base]: Role.C_BUSY}
    sections = limb_sections(robot)
    frames, columns = assign(model, sections, roles, LEGS)
    points = np.array([pin.updateFramePlacement(model, data, frame).translation for frame in frames])
    known = np.zeros(model.nv)
    known[columns.given] = rng.normal(0.0, 1.0, len(columns.given))
    twists = rng.normal(0.0, 0.1, (len(sections), 6))
    return data, frames, (data.J, data.Jcom, points, columns, known, twists)


def test_with_six_joints_both_formulations_agree():
    romeo, rng = load_robot("romeo"), np.random.default_rng(4)
    joints = romeo.postures["standing"] + rng.uniform(-0.05, 0.05, len(romeo.joint_names))
    _, _, arguments = tick(romeo, np.concatenate([pin.neutral(romeo.model)[:7], joints]), rng)
    *_, response, carried = compute_embedded_motion(*arguments)
    missed, other_response, other_carried = solve_in_priority_order(*arguments)
    assert missed < 1e-12
    np.testing.assert_allclose(other_response, response, atol=1e-9)
    np.testing.assert_allclose(other_carried, carried, atol=1e-9)


def in_order(tasks):
    """x ← x + (A N)⁺ (b − A x), N the null space of the tasks before, by NumPy."""
    solution, null = np.zeros(tasks[0][0].shape[1]), np.eye(tasks[0][0].shape[1])
    for matrix, right in tasks:
        left, singular, rows = np.linalg.svd(matrix @ null, full_matrices=False)
        kept = singular > 1e-6
        inverse = rows[kept].T / singular[kept] @ left[:, kept].T
        solution = solution + inverse @ (right - matrix @ solution)
        null = null - rows[kept].T @ rows[kept] @ null
    return solution


@lacking
@pytest.mark.parametrize("base", [0, 1])
def test_a_tick_solves_the_tasks_in_their_order(robots, dropped, base):
    """Also with soles that would have to go where the legs cannot: the error is the least squares'."""
    robot, rng = robots[dropped], np.random.default_rng(5)
    stance = stand(robot, (0.0, 0.0), 0.0, "standing")
    data, frames, arguments = tick(robot, np.concatenate([stance.base, stance.joints]), rng, base)
    _, cog_jacobian, _, columns, known, twists = arguments
    task = rng.normal(0.0, 0.1, 6)
    missed, response, carried = solve_in_priority_order(*arguments)
    velocity = carried + response @ task
    unknown = np.setdiff1d(np.arange(robot.model.nv), columns.given)
    feet = np.vstack([pin.getFrameJacobian(robot.model, data, frame, WORLD) for frame in frames])
    wanted = np.concatenate([twists[end] for end in columns.ends])
    turn = pin.getJointJacobian(robot.model, data, 1, WORLD)[3:]
    rows = (feet, wanted), (turn, task[3:]), (cog_jacobian[:2], task[:2]), (cog_jacobian[2:], task[2:3])
    expected = in_order([(matrix[:, unknown], right - matrix @ known) for matrix, right in rows])
    np.testing.assert_allclose(velocity[columns.given], known[columns.given])
    np.testing.assert_allclose(velocity[unknown], expected, atol=1e-7)
    assert missed == pytest.approx(np.abs(feet @ velocity - wanted).max())
    assert np.abs(velocity).max() < 10.0 * MAX_SHORT_LEG_SPEED


@lacking
def test_soles_stay_while_the_arms_move(robots, dropped):
    """The controller's reference for a second, and what the COG can follow of a sway of 1 cm."""
    robot = robots[dropped]
    stance = stand(robot, (0.0, 0.0), 0.0, "standing")
    count, timestep = 201, 0.005
    time = timestep * np.arange(count)
    joints = np.tile(stance.joints, (count, 1))
    upper = np.setdiff1d(
        np.arange(len(robot.joint_names)),
        [robot.joint_names.index(name) for leg in LEGS for name in robot.groups[leg]],
    )
    swing = 0.5 * (1.0 - np.cos(2.0 * np.pi * time))
    low, high = (
        limit[7 + upper] for limit in (robot.model.lowerPositionLimit, robot.model.upperPositionLimit)
    )
    middle = 0.5 * (low + high)
    joints[:, upper] += swing[:, None] * 0.3 * (middle - joints[:, upper])
    q = np.concatenate([stance.base, stance.joints])
    cog = pin.centerOfMass(robot.model, robot.model.createData(), q).copy()
    path = cog[:2] + 0.01 * swing[:, None]
    gait = standing_gait(stance.soles, path, cog[:2], timestep, count)
    body = np.tile(stance.base[3:], (count, 1))
    plan = WholeBodyPlan(gait, joints, stance.base, np.full(count, cog[2]), body)
    whole = WholeBodyController(robot, plan, CogZmpGains(cog=10.0, zmp=0.0))
    data, fastest = robot.model.createData(), 0.0
    for number in range(count - 1):
        before = whole.velocity.copy()
        whole.tick(number, None, None)
        assert whole.gave_up is None
        fastest = max(fastest, float(np.abs(whole.velocity - before)[6 + whole.legs].max()))
        assert sole_errors(robot, stance, whole.configuration).max() < 1e-6
        assert np.abs(pin.log3(pin.Quaternion(whole.configuration[3:7]).matrix())).max() < 1e-6
        reached = pin.centerOfMass(robot.model, data, whole.configuration)
        assert reached[0] == pytest.approx(path[number + 1, 0], abs=2e-3)
        assert reached[2] == pytest.approx(cog[2], abs=1e-4)
    # Joints of the legs never jump: 20 rad/s² at most.
    assert fastest < 20.0 * timestep


def test_a_leg_of_three_joints_is_no_base(robots):
    robot = robots[(0, 5)]
    groups = {name: joints[-3:] if name in LEGS else joints for name, joints in robot.groups.items()}
    short = dataclasses.replace(robot, groups=groups)
    with pytest.raises(
        BalanceError, match=r"left_leg has 3 joints and an end; allowed: .* at least 4 joints"
    ):
        assign(robot.model, limb_sections(short), {"left_leg": Role.BASE, "right_leg": Role.C_BUSY}, LEGS)
