"""Both hands' inverse kinematics: poses reached, limits kept, redundancy used, clamped joints replaced."""

import numpy as np
import pinocchio as pin
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.linalg import null_space

from simbench.kinematics.damped_ik import PostureBounds, solve_damped_ik
from simbench.kinematics.rotation import ROTATION_WEIGHT
from simbench.robot.robot_limbs import upper_body
from simbench.robot.sides import SIDES

# λ of Tomić 2018, §3.7.1.
DAMPING = 0.003
UNIT = st.floats(-1.0, 1.0)
fifteen = st.lists(UNIT, min_size=15, max_size=15).map(np.array)
BASE = np.r_[-0.1, 0.05, 0.85, 0.0, 0.0, np.sin(0.2), np.cos(0.2)]
FAR = np.full(15, 10.0)


class Arms:
    """ROMEO's upper body and what a test asks of it."""

    def __init__(self, robot):
        self.model = upper_body(robot)
        self.data = self.model.createData()
        self.frames = [self.model.getFrameId(robot.frames[f"{side}_hand"]) for side in SIDES]
        self.lower, self.upper = self.model.lowerPositionLimit[7:], self.model.upperPositionLimit[7:]

    def inside(self, shares):
        """Joints at shares −1 (lower limit) to 1 (upper limit)."""
        return 0.5 * (self.lower + self.upper) + 0.5 * shares * (self.upper - self.lower)

    def palms(self, joints):
        """Palm poses by forward kinematics, with data of their own."""
        data = self.model.createData()
        pin.forwardKinematics(self.model, data, np.r_[BASE, joints])
        return [
            data.oMi[self.model.frames[frame].parentJoint] * self.model.frames[frame].placement
            for frame in self.frames
        ]

    def solve_damped_ik(self, start, targets, posture, lower=None, upper=None, **options):
        lower = self.lower if lower is None else lower
        upper = self.upper if upper is None else upper
        q = np.r_[BASE, start]
        result = solve_damped_ik(
            self.model,
            self.data,
            q,
            dict(zip(self.frames, targets, strict=True)),
            PostureBounds(posture, lower, upper),
            **options,
        )
        np.testing.assert_array_equal(q, np.r_[BASE, start])
        np.testing.assert_array_equal(result[:7], BASE)
        return result[7:]

    def apart(self, joints, targets):
        """Greatest distance (m) and turn (rad) of the palms from their targets."""
        errors = [target.actInv(palm) for target, palm in zip(targets, self.palms(joints), strict=True)]
        return (
            max(np.linalg.norm(error.translation) for error in errors),
            max(np.linalg.norm(pin.log3(error.rotation)) for error in errors),
        )

    def jacobian(self, joints):
        """Central differences of both palms' positions and turns (12, 15), world axes."""
        h, columns = 1e-6, []
        for unit in np.eye(15):
            after, before = self.palms(joints + h * unit), self.palms(joints - h * unit)
            columns.append(
                np.concatenate(
                    [
                        np.r_[a.translation - b.translation, pin.log3(a.rotation @ b.rotation.T)]
                        for a, b in zip(after, before, strict=True)
                    ]
                )
            )
        return np.array(columns).T / (2 * h)


@pytest.fixture(scope="module")
def arms(romeo):
    return Arms(romeo)


@settings(max_examples=60, deadline=None)
@given(goal=fifteen, offset=fifteen)
def test_reaches_what_forward_kinematics_says_is_reachable(arms, goal, offset):
    goal = arms.inside(goal)
    targets = arms.palms(goal)
    start = np.clip(goal + 0.1 * offset, arms.lower, arms.upper)
    place, turn = arms.apart(arms.solve_damped_ik(start, targets, goal, iterations=300), targets)
    assert place < 2e-5
    assert turn < 1e-4


@settings(max_examples=60, deadline=None)
@given(
    start=fifteen,
    posture=fifteen,
    places=st.lists(st.floats(-0.8, 0.8), min_size=6, max_size=6),
    turns=st.lists(st.floats(-3.0, 3.0), min_size=6, max_size=6),
)
def test_never_leaves_the_limits(arms, start, posture, places, turns):
    """Whatever is asked for: targets out of reach, a posture beyond the limits."""
    targets = [
        pin.SE3(pin.exp3(np.array(turns[3 * i : 3 * i + 3])), BASE[:3] + np.array(places[3 * i : 3 * i + 3]))
        for i in range(2)
    ]
    joints = arms.solve_damped_ik(arms.inside(start), targets, arms.inside(2.0 * posture), iterations=20)
    assert (joints >= arms.lower).all()
    assert (joints <= arms.upper).all()


def test_one_step_is_damped_least_squares_with_the_posture_in_the_null_space(arms):
    rng = np.random.default_rng(5)
    weight = np.tile([1.0, 1.0, 1.0, *[ROTATION_WEIGHT] * 3], 2)
    for _ in range(5):
        joints = arms.inside(rng.uniform(-0.7, 0.7, 15))
        posture = joints + rng.uniform(-0.09, 0.09, 15)
        targets = [
            pin.SE3(
                pin.exp3(rng.uniform(-0.1, 0.1, 3)) @ palm.rotation,
                palm.translation + rng.uniform(-0.02, 0.02, 3),
            )
            for palm in arms.palms(joints)
        ]
        error = np.concatenate(
            [
                np.r_[t.translation - p.translation, pin.log3(t.rotation @ p.rotation.T)]
                for t, p in zip(targets, arms.palms(joints), strict=True)
            ]
        )
        jacobian = weight[:, None] * arms.jacobian(joints)
        damped = jacobian.T @ np.linalg.solve(jacobian @ jacobian.T + DAMPING**2 * np.eye(12), weight * error)
        # Tomić 2018, eq. 3.16.
        null = np.eye(15) - np.linalg.pinv(jacobian) @ jacobian
        expected = damped - null @ (joints - posture)
        got = arms.solve_damped_ik(joints, targets, posture, -FAR, FAR) - joints
        np.testing.assert_allclose(got, expected, atol=2e-6)


def test_redundancy_goes_to_the_posture_while_the_hands_stay(arms):
    rng = np.random.default_rng(8)
    start = arms.inside(rng.uniform(-0.6, 0.6, 15))
    posture = start + rng.uniform(-0.07, 0.07, 15)
    targets = arms.palms(start)
    before = null_space(arms.jacobian(start), rcond=1e-4).T @ (start - posture)
    joints = start
    for _ in range(20):
        joints = arms.solve_damped_ik(joints, targets, posture, -FAR, FAR)
    place, turn = arms.apart(joints, targets)
    assert place < 2e-5
    assert turn < 1e-4
    assert np.linalg.norm(joints - posture) < np.linalg.norm(start - posture)
    # At the nearest posture nothing of what is left can be gained without moving a hand.
    free = null_space(arms.jacobian(joints), rcond=1e-4)
    assert free.shape[1] == 3
    assert np.linalg.norm(before) > 0.05
    assert np.linalg.norm(free.T @ (joints - posture)) < 1e-6


@settings(max_examples=60, deadline=None)
@given(goal=fifteen, offset=fifteen, joint=st.integers(0, 14), top=st.booleans())
def test_a_joint_at_its_limit_leaves_the_others_to_reach(arms, goal, offset, joint, top):
    """The posture pulls one joint far beyond its limit; the hands get to where they can be all the same."""
    goal = arms.inside(0.8 * goal)
    goal[joint] = (arms.upper if top else arms.lower)[joint]
    targets = arms.palms(goal)
    start = np.clip(goal + 0.05 * offset, arms.lower, arms.upper)
    posture = goal.copy()
    posture[joint] += 1.0 if top else -1.0
    joints = arms.solve_damped_ik(start, targets, posture, iterations=300)
    place, turn = arms.apart(joints, targets)
    assert place < 1e-4
    assert turn < 1e-3
    assert (joints >= arms.lower).all()
    assert (joints <= arms.upper).all()


def test_a_clamped_joint_is_taken_out_of_the_problem(arms):
    """One step with a joint past its limit equals the step of the others toward what the joint leaves."""
    rng = np.random.default_rng(11)
    joints = arms.inside(rng.uniform(-0.5, 0.5, 15))
    # The left shoulder pitch may go 1 mrad further; reaching forward asks for more.
    shift = [np.array([0.03, 0.0, 0.02]), np.zeros(3)]
    targets = [pin.SE3(p.rotation, p.translation + s) for p, s in zip(arms.palms(joints), shift, strict=True)]
    free_step = arms.solve_damped_ik(joints, targets, joints, -FAR, FAR) - joints
    joint = 1
    assert abs(free_step[joint]) > 0.01
    lower, upper = -FAR.copy(), FAR.copy()
    edge = joints[joint] + 0.001 * np.sign(free_step[joint])
    (upper if free_step[joint] > 0 else lower)[joint] = edge
    weight = np.tile([1.0, 1.0, 1.0, *[ROTATION_WEIGHT] * 3], 2)
    jacobian = weight[:, None] * arms.jacobian(joints)
    others = np.delete(np.arange(15), joint)
    left = weight * np.r_[shift[0], 0, 0, 0, shift[1], 0, 0, 0] - jacobian[:, joint] * (edge - joints[joint])
    a = jacobian[:, others]
    expected = a.T @ np.linalg.solve(a @ a.T + DAMPING**2 * np.eye(12), left)
    got = arms.solve_damped_ik(joints, targets, joints, lower, upper)
    assert got[joint] == edge
    np.testing.assert_allclose(got[others] - joints[others], expected, atol=5e-6)
