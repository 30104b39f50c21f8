import numpy as np
import pinocchio as pin
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from simbench.motion.actors.human_model import (
    HumanModel,
    couple_clavicles,
    make_leaning_posture,
    update_clavicles,
)
from simbench.motion.actors.palm_control import (
    Reacher,
    compute_least_abduction,
    compute_palm_errors,
    compute_palm_jacobian,
    compute_palm_poses,
    compute_strain,
    find_nearest_posture,
    make_hold,
)
from simbench.motion.actors.people import AVERAGE_PERSON
from simbench.motion.actors.perform import compensate_sway
from simbench.robot.sides import SIDES

HUMAN = HumanModel(AVERAGE_PERSON.actor)
REACHER = Reacher(HUMAN)
HELD = make_hold({"left": None, "right": None})


def at_work(change=0.0):
    q = make_leaning_posture(HUMAN, 0.15)
    for side in SIDES:
        q[HUMAN.arms[side]] = AVERAGE_PERSON.comfort
    q[REACHER.in_q] += change
    return couple_clavicles(HUMAN, q)


def independent_palms(q):
    """Palms by Pinocchio's forward kinematics alone, with the clavicles of `q`."""
    data = HUMAN.model.createData()
    pin.framesForwardKinematics(HUMAN.model, data, q)
    return [data.oMf[HUMAN.frames[f"{side}_palm"]].copy() for side in SIDES]


changes = st.lists(st.floats(-0.3, 0.3), min_size=17, max_size=17).map(np.array)


@settings(max_examples=50, deadline=None)
@given(changes)
def test_jacobian_is_what_finite_differences_say_with_the_clavicles_following(change):
    q = at_work(change)
    poses, jacobian = compute_palm_jacobian(REACHER, q)
    before = independent_palms(q)
    np.testing.assert_allclose(poses, [palm.homogeneous for palm in before], atol=1e-12)
    step = 1e-6
    for column, index in enumerate(REACHER.in_q):
        moved = q.copy()
        moved[index] += step
        after = independent_palms(couple_clavicles(HUMAN, moved))
        twist = np.concatenate([pin.log6(a.actInv(b)).vector for a, b in zip(before, after, strict=True)])
        np.testing.assert_allclose(jacobian[:, column], twist / step, atol=2e-5)


@settings(max_examples=50, deadline=None)
@given(changes)
def test_errors_of_the_palms_are_the_logarithm_of_what_is_missing(change):
    start, goal = (compute_palm_poses(REACHER, q) for q in (at_work(), at_work(0.1 * change)))
    errors = compute_palm_errors(start, goal, HELD)
    for hand in range(2):
        turn = pin.log3(start[hand, :3, :3].T @ goal[hand, :3, :3])
        shift = start[hand, :3, :3].T @ (goal[hand, :3, 3] - start[hand, :3, 3])
        np.testing.assert_allclose(errors[6 * hand : 6 * hand + 6], [*shift, *turn], atol=1e-12)


def test_a_hand_free_about_its_handle_has_no_error_from_turning_there():
    axis = np.array([0.0, 1.0, 0.0])
    held = make_hold({"left": None, "right": 3.0 * axis})
    assert held.rows.shape == (11, 12)
    poses = compute_palm_poses(REACHER, at_work())
    turned, tilted = poses.copy(), poses.copy()
    turned[1, :3, :3] = poses[1, :3, :3] @ pin.exp3(0.7 * axis)
    np.testing.assert_allclose(compute_palm_errors(turned, poses, held), 0.0, atol=1e-12)
    tilted[1, :3, :3] = poses[1, :3, :3] @ pin.exp3(np.array([0.2, 0.0, 0.0]))
    assert np.linalg.norm(compute_palm_errors(tilted, poses, held)) == pytest.approx(np.sin(0.2))


@settings(max_examples=15, deadline=None)
@given(changes)
def test_nearest_posture_holds_the_palms_and_is_no_farther_than_where_they_came_from(change):
    preferred, other = at_work(), at_work(0.5 * change)
    goal = compute_palm_poses(REACHER, other)
    found = find_nearest_posture(REACHER, preferred, goal, HELD)
    np.testing.assert_allclose(
        compute_palm_errors(compute_palm_poses(REACHER, found), goal, HELD), 0.0, atol=1e-5
    )
    posture = found[REACHER.in_q]
    assert np.all((posture >= REACHER.lower) & (posture <= REACHER.upper))
    clavicles = found.copy()
    update_clavicles(HUMAN, clavicles)
    np.testing.assert_array_equal(clavicles, found)


def test_strain_is_nothing_in_the_middle_one_at_the_end_and_has_its_slopes():
    middle = 0.5 * (REACHER.lower + REACHER.upper)
    np.testing.assert_array_equal(compute_strain(REACHER, middle)[0], 0.0)
    np.testing.assert_allclose(compute_strain(REACHER, REACHER.upper)[0], 1.0)
    near = REACHER.lower + 0.1 * (REACHER.upper - REACHER.lower)
    slope = (compute_strain(REACHER, near + 1e-6)[0] - compute_strain(REACHER, near - 1e-6)[0]) / 2e-6
    np.testing.assert_allclose(compute_strain(REACHER, near)[1], slope, rtol=1e-6)


def test_sway_is_taken_out_of_the_palms_by_the_stated_share():
    still = np.tile(at_work(), (3, 1))
    swayed = still.copy()
    swayed[:, 0] += 0.004
    share = np.array([0.0, 0.5, 1.0])
    steady = compensate_sway(REACHER, swayed, still, share, HELD)
    where = compute_palm_poses(REACHER, still[0])[:, :3, 3]
    for q, part in zip(steady, share, strict=True):
        left = compute_palm_poses(REACHER, q)[:, :3, 3] - where
        np.testing.assert_allclose(left, np.tile([0.004 * (1.0 - part), 0.0, 0.0], (2, 1)), atol=2e-5)


def test_the_trunk_is_in_the_way_of_adduction_until_the_elbow_is_in_front_of_it():
    """Elbow and an elliptic trunk, the arm's thickness around it, in the trunk's axes at shoulder height."""
    shoulder, arm, half_width, half_depth = 0.219, 0.31, 0.205, 0.165
    for flexion in np.radians([0.0, 10.0, 20.0, 30.0, 45.0, 60.0]):
        abduction = float(compute_least_abduction(np.array(flexion)))
        elbow = arm * np.array([np.cos(abduction) * np.sin(flexion), np.sin(abduction)]) + [0.0, shoulder]
        assert np.hypot(elbow[0] / half_depth, elbow[1] / half_width) > 0.93
    assert np.degrees(compute_least_abduction(np.radians([0.0, -20.0]))) == pytest.approx([-3.0, -3.0])
    assert np.degrees(compute_least_abduction(np.radians(80.0))) == pytest.approx(-33.0)
