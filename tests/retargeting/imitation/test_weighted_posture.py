"""ROMEO's motion by the weighted law: its body, what the law keeps and what it makes little, S, refusals."""

import numpy as np
import pinocchio as pin
import pytest

from simbench.errors import RetargetError, SkillError
from simbench.kinematics.redundancy_law import LawConstants
from simbench.retargeting.contact.hand_plan import Equipment, near_contact
from simbench.retargeting.imitation.imitation import speed_difference
from simbench.retargeting.imitation.weighted_posture import (
    GAIN,
    RETURN_TIME,
    chain_coordinates,
    follow_palms_by_law,
    palm_path,
    robot_body,
    weighted_posture,
)
from simbench.retargeting.stand.standing_plan import plan_motion
from simbench.robot.robot import load_robot
from simbench.robot.robot_limbs import upper_body
from simbench.robot.sides import SIDES
from simbench.runs.motion_source import scenario_motion
from simbench.runs.scenario.loading import load_scenario, scenario_mechanisms
from simbench.skills.law_motion import observe

ENERGY, VELOCITY = np.eye(4)[:2]


@pytest.fixture(scope="module")
def model(romeo):
    return upper_body(romeo)


@pytest.fixture(scope="module")
def stroke(model):
    """Time, configurations whose palms swing to and fro, the pelvis at rest, and limits that are not met."""
    rng, time = np.random.default_rng(8), np.linspace(0.0, 1.0, 101)
    lower, upper = model.lowerPositionLimit[7:], model.upperPositionLimit[7:]
    middle, way = 0.5 * (lower + upper), rng.normal(0.0, 0.2, len(lower))
    # Elbows bent: arms that are straight are singular.
    middle[3], middle[10] = -1.0, 1.0
    joints = middle + np.sin(2.0 * np.pi * time)[:, None] * way
    return (
        time,
        np.hstack([np.tile(pin.neutral(model)[:7], (len(time), 1)), joints]),
        (lower - 9.0, upper + 9.0),
    )


@pytest.fixture(scope="module")
def moved(romeo, model, stroke):
    time, q, (lower, upper) = stroke
    return {
        name: follow_palms_by_law(romeo, model, time, palm_path(romeo, model, q), k, lower, upper)
        for name, k in (("energy", ENERGY), ("velocity", VELOCITY))
    }


def inertias(model, q):
    data = model.createData()
    for row in q:
        matrix = np.triu(pin.crba(model, data, row))
        yield (matrix + np.triu(matrix, 1).T)[6:, 6:]


def palms(robot, model, q):
    """Jacobians (T, 12, n) and poses of the palms."""
    data, frames = model.createData(), [model.getFrameId(robot.frames[f"{side}_hand"]) for side in SIDES]
    for row in q:
        pin.computeJointJacobians(model, data, row)
        pin.updateFramePlacements(model, data)
        axes = pin.ReferenceFrame.LOCAL_WORLD_ALIGNED
        rows = [pin.getFrameJacobian(model, data, frame, axes)[:, 6:] for frame in frames]
        yield np.vstack(rows), [data.oMf[frame].copy() for frame in frames]


def test_the_body_has_the_robots_own_inertia_and_palms(romeo, model):
    lower, upper = model.lowerPositionLimit[7:], model.upperPositionLimit[7:]
    body = robot_body(romeo, model, lower, upper)
    rng = np.random.default_rng(3)
    q = np.concatenate([rng.normal(0.0, 0.3, 3), [0.0, 0.0, 0.0, 1.0], rng.uniform(lower, upper)])
    turned = pin.integrate(model, q, np.concatenate([np.zeros(3), rng.normal(0.0, 0.3, 3), np.zeros(15)]))
    state = observe(body, LawConstants(0.01, GAIN, 1.0), chain_coordinates(turned[None])[0])
    (inertia,) = inertias(model, turned[None])
    assert model.armature[6:].max() > 0.02
    np.testing.assert_allclose(state.inertia, inertia, atol=1e-12)
    ((jacobian, _),) = palms(romeo, model, turned[None])
    np.testing.assert_allclose(state.jacobian, jacobian, atol=1e-12)


def test_palms_keep_their_path_without_drift(romeo, model, stroke, moved):
    _, q, _ = stroke
    for joints in moved.values():
        by_law = np.hstack([q[:, :7], joints])
        for (_, here), (_, there) in zip(palms(romeo, model, by_law), palms(romeo, model, q), strict=True):
            for one, other in zip(here, there, strict=True):
                assert np.linalg.norm(pin.log6(one.actInv(other)).vector) < 1e-6
        np.testing.assert_array_equal(joints[0], q[0, 7:])


def test_steps_are_those_of_the_quadratic_programme(romeo, model, stroke, moved):
    """The least ½ mᵀWm of all steps that move the palms as far: m = W⁻¹Jᵀ(JW⁻¹Jᵀ)⁻¹ J m."""
    _, q, _ = stroke
    for law, joints in moved.items():
        by_law, steps = np.hstack([q[:, :7], joints]), np.diff(joints, axis=0)
        apart = {"energy": [], "velocity": []}
        for step, inertia, (jacobian, _) in zip(
            steps, inertias(model, by_law), palms(romeo, model, by_law), strict=False
        ):
            for name, cost in (("energy", inertia), ("velocity", np.eye(len(step)))):
                spread = np.linalg.solve(cost, jacobian.T)
                least = spread @ np.linalg.solve(jacobian @ spread, jacobian @ step)
                apart[name].append(np.linalg.norm(step - least) / np.linalg.norm(step))
        assert max(apart.pop(law)) < 1e-9
        (other,) = apart.values()
        assert np.median(other) > 0.1


def test_the_posture_is_the_laws_in_contact_and_inside_the_limits(romeo, drawer_planned):
    plan, time = drawer_planned.plan, drawer_planned.motion.time
    held = plan.hands.contact["left"] | plan.hands.contact["right"]
    first = np.flatnonzero(held)[0]
    joints, base = plan.trajectory.q[:, plan.upper], plan.trajectory.base
    ended = held.copy()
    ended[900:] = False
    returning = near_contact(time, ended, RETURN_TIME)
    posture = weighted_posture(romeo, time, joints, base, ended, returning, VELOCITY, *plan.limits)
    assert (np.maximum(plan.limits[0] - posture, posture - plan.limits[1]) < 1e-12).all()
    # A rounding window before contact nothing has changed but by rounding, in contact it has.
    np.testing.assert_allclose(posture[: first - 20], joints[: first - 20], atol=0.01)
    apart = abs(posture - joints).max(axis=1)
    assert apart[first:900].max() > 0.05
    # After contact the posture comes back.
    assert apart[-1] < 0.02 < apart[905]


def test_similarity_is_the_mean_square_of_the_speeds_difference():
    time = np.linspace(0.0, 4.0 * np.pi, 20001)
    same = np.tile(np.cos(time)[:, None], 3)
    other = same + np.stack([0.2 * np.sin(3.0 * time), 0.0 * time, 5.0 + 0.0 * time], axis=1)
    assert speed_difference(time, same, other) == pytest.approx(0.5 * 0.6**2, rel=1e-4)
    assert speed_difference(time, same, same) == 0.0


def test_a_plan_with_weights_keeps_to_the_equipment_and_follows_the_law(romeo, model):
    scenario = load_scenario("drawer", ["motion.task.repetitions=1", "retarget.weights={energy: 1.0}"])
    motion = scenario_motion(scenario, scenario_mechanisms(scenario))
    plan = plan_motion(
        romeo, motion, scenario.robot, scenario.retarget, Equipment(motion.handles), lambda *_: None
    )
    held = plan.hands.contact["left"] | plan.hands.contact["right"]
    time, joints = motion.time[held], plan.trajectory.q[held][:, plan.upper]
    assert plan.metrics["retarget.hand_max_m"] < 0.001
    assert plan.metrics["retarget.similarity"] == speed_difference(time, plan.imitation.q[held, 7:], joints)
    path = palm_path(romeo, model, np.hstack([plan.trajectory.base[held], joints]))
    by_law = follow_palms_by_law(romeo, model, time, path, ENERGY, *plan.limits)
    assert abs(by_law - joints).max() < 0.01


def test_an_ergonomic_posture_is_known_of_romeo_only(romeo):
    nothing, weights = np.empty(0), np.array([0.0, 0.0, 1.0, 0.0])
    with pytest.raises(SkillError):
        weighted_posture(load_robot("mahru"), *[nothing] * 5, weights, nothing, nothing)


def test_a_dead_end_is_told(romeo, model, stroke):
    time, q, (lower, upper) = stroke
    stiff = np.array([lower, upper])
    stiff[:, [0, 1, 2, 3]] = q[0, 7:11]
    with pytest.raises(SkillError, match=r"romeo: at 0\.\d\d s .* retarget\.weights \(energy 1, velocity 0"):
        follow_palms_by_law(romeo, model, time, palm_path(romeo, model, q), ENERGY, *stiff)


def test_free_motion_has_nothing_to_follow(romeo, dance_motion):
    scenario = load_scenario("dance", ["retarget.weights={velocity: 1.0}"])
    with pytest.raises(RetargetError):
        plan_motion(romeo, dance_motion, scenario.robot, scenario.retarget, Equipment(), lambda *_: None)


def test_weights_are_shares():
    weights = load_scenario("drawer", ["retarget.weights={energy: 1, ergonomy: 3.0}"]).retarget.weights
    assert weights.shares == (0.25, 0.0, 0.75, 0.0)
