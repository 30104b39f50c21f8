"""Bounded steps and minima: against Pinocchio and by the conditions of a minimum.

Both hands' inverse kinematics: poses reached, limits kept, redundancy used, clamped joints replaced.
"""

import numpy as np
import pinocchio as pin
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.linalg import null_space

from simbench.kinematics.bounded_ik import (
    Bounds,
    Configuration,
    PostureBounds,
    TrackingModel,
    follow,
    integrate_step,
    solve_bounded_ik,
    solve_damped_ik,
)
from simbench.kinematics.rotation import ROTATION_WEIGHT
from simbench.kinematics.task_matrix import Targets, Tasks, make_workspace
from simbench.kinematics.tree import frame_on_body, kinematic_tree
from simbench.robot.robot_limbs import upper_body
from simbench.robot.sides import SIDES

ROLES = ("LShoulderPitchLink", "LElbowYawLink", "l_wrist", "RShoulderPitchLink", "RElbowYawLink", "r_wrist")


def body_tasks(model):
    """Six points and both wrists' orientations."""
    frames = [frame_on_body(model, model.getFrameId(name)) for name in ROLES]
    turned = [frames[2], frames[5]]
    return Tasks(
        np.array([frame[0] for frame in frames]),
        np.array([frame[2] for frame in frames]),
        np.full(6, 5.0),
        np.array([frame[0] for frame in turned]),
        np.array([frame[1] for frame in turned]),
        np.full(2, 2.0),
    )


def targets(model, q):
    data = model.createData()
    pin.framesForwardKinematics(model, data, q)
    poses = [data.oMf[model.getFrameId(name)] for name in ROLES]
    points = np.array([pose.translation for pose in poses])
    return points, np.array([poses[2].rotation, poses[5].rotation])


def limits(model, moves=True, damping=1e-3):
    low, high = model.lowerPositionLimit[7:].copy(), model.upperPositionLimit[7:].copy()
    return Bounds(low, high, np.full(model.nv, damping), moves)


def test_advance_is_pinocchios_integrate(upper_romeo):
    rng = np.random.default_rng(3)
    q = pin.integrate(upper_romeo, pin.neutral(upper_romeo), rng.normal(size=upper_romeo.nv))
    change = rng.normal(size=upper_romeo.nv)
    rotation = pin.Quaternion(q[3:7]).matrix()
    local = np.concatenate([rotation.T @ change[3:6], change[6:]])
    expected = pin.integrate(upper_romeo, q, np.concatenate([np.zeros(3), local]))
    joints, at, position = q[7:].copy(), rotation.copy(), q[:3].copy()
    free = Bounds(np.full(15, -np.inf), np.full(15, np.inf), np.ones(21), True)
    integrate_step(change, free, Configuration(joints, at, position))
    np.testing.assert_allclose(position, q[:3] + change[:3], atol=1e-14)
    np.testing.assert_allclose(at, pin.Quaternion(expected[3:7]).matrix(), atol=1e-14)
    np.testing.assert_allclose(joints, expected[7:], atol=1e-14)


@settings(max_examples=15, deadline=None)
@given(seed=st.integers(0, 2**32 - 1))
def test_a_reachable_posture_is_reached(upper_romeo, seed):
    rng = np.random.default_rng(seed)
    bounds = limits(upper_romeo)
    wanted = np.concatenate(
        [rng.normal(size=3), pin.Quaternion(pin.exp3(rng.normal(size=3))).coeffs(), rng.uniform(0.2, 0.8, 15)]
    )
    wanted[7:] = bounds.low + wanted[7:] * (bounds.high - bounds.low)
    start = pin.integrate(upper_romeo, wanted, rng.uniform(-0.2, 0.2, upper_romeo.nv))
    joints = np.clip(start[7:], bounds.low, bounds.high)
    rotation, position = pin.Quaternion(start[3:7]).matrix(), start[:3].copy()
    tree = kinematic_tree(upper_romeo)
    model = TrackingModel(tree, body_tasks(upper_romeo), bounds, make_workspace(tree))
    start = Configuration(joints, rotation, position)
    cost, _ = solve_bounded_ik(model, Targets(*targets(upper_romeo, wanted)), start, 200, 0.0)
    assert cost < 1e-10


@pytest.mark.parametrize("seed", range(4))
def test_the_end_is_a_minimum_in_the_box(upper_romeo, seed):
    """Targets out of reach with the root held: the limits bind."""
    rng = np.random.default_rng(seed)
    bounds, tree, tasks = (
        limits(upper_romeo, moves=False),
        kinematic_tree(upper_romeo),
        body_tasks(upper_romeo),
    )
    middle = 0.5 * (bounds.low + bounds.high)
    wanted = np.concatenate([np.zeros(3), [0, 0, 0, 1], middle + rng.uniform(-1.5, 1.5, 15)])
    points, turns = targets(upper_romeo, wanted)

    def residual(x):
        at, rotations = targets(upper_romeo, np.concatenate([wanted[:7], x]))
        errors = [5.0 * (points - at).ravel()]
        for target, current in zip(turns, rotations, strict=True):
            quaternion = pin.Quaternion(target @ current.T).coeffs()
            errors.append(2.0 * np.copysign(1.0, quaternion[3]) * quaternion[:3])
        return np.concatenate(errors)

    joints, rotation = middle.copy(), np.eye(3)
    model = TrackingModel(tree, tasks, bounds, make_workspace(tree))
    start = Configuration(joints, rotation, np.zeros(3))
    cost, _ = solve_bounded_ik(model, Targets(points, turns), start, 500, 0.0)
    assert cost == pytest.approx(residual(joints) @ residual(joints), rel=1e-10)
    np.testing.assert_array_equal(rotation, np.eye(3))
    assert ((joints >= bounds.low) & (joints <= bounds.high)).all()
    # Slopes by central differences: none where a joint is free, outward where it is on a limit.
    h = 1e-6
    slope = np.array(
        [np.sum(residual(joints + e) ** 2) - np.sum(residual(joints - e) ** 2) for e in h * np.eye(15)]
    ) / (2 * h)
    at_low, at_high = joints == bounds.low, joints == bounds.high
    assert (at_low | at_high).any()
    assert np.abs(slope[~at_low & ~at_high]).max() < 1e-6
    assert slope[at_low].min(initial=0.0) > -1e-6
    assert slope[at_high].max(initial=0.0) < 1e-6


def test_one_step_a_frame_is_the_damped_gauss_newton_step(upper_romeo):
    rng = np.random.default_rng(5)
    tree, tasks = kinematic_tree(upper_romeo), body_tasks(upper_romeo)
    free = limits(upper_romeo)._replace(low=np.full(15, -np.inf), high=np.full(15, np.inf))
    q = np.concatenate([np.zeros(3), [0, 0, 0, 1], rng.uniform(-0.5, 0.5, 15)])
    wanted = pin.integrate(upper_romeo, q, rng.uniform(-0.05, 0.05, upper_romeo.nv))
    points, turns = (target[None] for target in targets(upper_romeo, wanted))
    path, cost, state = np.empty((1, 22)), np.empty(1), q.copy()
    model = TrackingModel(tree, tasks, free, make_workspace(tree))
    follow(model, Targets(points, turns), state, 0, 0.0, path, cost)

    # The same step from Pinocchio's Jacobians, in local coordinates of the root (it stands upright).
    data = upper_romeo.createData()
    pin.computeJointJacobians(upper_romeo, data, q)
    pin.updateFramePlacements(upper_romeo, data)
    jacobian, error = [], []
    for index, name in enumerate(ROLES):
        frame = upper_romeo.getFrameId(name)
        full = pin.getFrameJacobian(upper_romeo, data, frame, pin.ReferenceFrame.LOCAL_WORLD_ALIGNED)
        jacobian.append(5.0 * full[:3])
        error.append(5.0 * (points[0, index] - data.oMf[frame].translation))
        if name.endswith("wrist"):
            quaternion = pin.Quaternion(turns[0, index // 3] @ data.oMf[frame].rotation.T).coeffs()
            change = 0.5 * (quaternion[3] * np.eye(3) + pin.skew(quaternion[:3]))
            jacobian.append(2.0 * change @ full[3:])
            error.append(2.0 * quaternion[:3])
    stacked, errors = np.vstack(jacobian), np.concatenate(error)
    normal = stacked.T @ stacked + 1e-3 * np.eye(21)
    change = np.linalg.solve(normal, stacked.T @ errors)
    np.testing.assert_allclose(path[0, 7:], q[7:] + change[6:], atol=1e-10)
    np.testing.assert_allclose(path[0, :3], q[:3] + change[:3], atol=1e-10)
    assert cost[0] == pytest.approx(errors @ errors, rel=1e-10)


@settings(max_examples=50, deadline=None)
@given(seed=st.integers(0, 2**32 - 1), bounded=st.booleans())
def test_a_step_that_would_be_long_never_leaves_more_error_than_there_was(upper_romeo, seed, bounded):
    tree, tasks, bounds = kinematic_tree(upper_romeo), body_tasks(upper_romeo), limits(upper_romeo)
    rng = np.random.default_rng(seed)
    q, wanted = (np.r_[0, 0, 0, 0, 0, 0, 1, rng.uniform(bounds.low, bounds.high)] for _ in range(2))
    if not bounded:
        bounds = bounds._replace(low=np.full(15, -np.inf), high=np.full(15, np.inf))
    points, turns = targets(upper_romeo, wanted)
    path, cost, state = np.empty((1, 22)), np.empty(1), q.copy()
    model = TrackingModel(tree, tasks, bounds, make_workspace(tree))
    follow(model, Targets(points[None], turns[None]), state, 0, 0.0, path, cost)

    def error(q):
        at, rotations = targets(upper_romeo, q)
        angles = [pin.log3(turn.T @ there) for turn, there in zip(turns, rotations, strict=True)]
        return 25 * np.sum((at - points) ** 2) + 4 * np.sum(np.sin(0.5 * np.linalg.norm(angles, axis=1)) ** 2)

    assert cost[0] == pytest.approx(error(q), rel=1e-9)
    assert error(path[0]) < error(q)


def test_hands_pass_beside_the_wrists_singularity(upper_romeo):
    """Hands turn past the forearm's axis at 4 degrees in 20 frames; about it a wrist must turn half round."""
    tree, tasks, data = kinematic_tree(upper_romeo), body_tasks(upper_romeo), upper_romeo.createData()
    joint = {name: upper_romeo.getJointId(name) for name in upper_romeo.names[2:]}
    q = pin.neutral(upper_romeo)
    q[upper_romeo.joints[joint["LElbowYaw"]].idx_q] = -0.8
    q[upper_romeo.joints[joint["RElbowYaw"]].idx_q] = 0.8
    frames = []
    for angle in np.pi / 2 + np.linspace(-1.0, 1.0, 21):
        for side in "LR":
            q[upper_romeo.joints[joint[f"{side}WristYaw"]].idx_q] = angle
        points, turns = targets(upper_romeo, q)
        columns = pin.computeJointJacobians(upper_romeo, data, q)[3:]
        for k, side in enumerate("LR"):
            roll, yaw = (
                columns[:, upper_romeo.joints[joint[f"{side}Wrist{axis}"]].idx_v] for axis in ("Roll", "Yaw")
            )
            turns[k] = pin.exp3(np.radians(4.0) * np.cross(roll, yaw)) @ turns[k]
        frames.append((points, turns))
        if len(frames) == 1:
            state = q.copy()
    points, turns = (np.array(target) for target in zip(*frames, strict=True))
    free = limits(upper_romeo)._replace(low=np.full(15, -np.inf), high=np.full(15, np.inf))
    path, cost = np.empty((21, 22)), np.empty(21)
    model = TrackingModel(tree, tasks, free, make_workspace(tree))
    follow(model, Targets(points, turns), state, 0, 1.0, path, cost)

    for q, at, rotations in zip(path, points, turns, strict=True):
        found, turned = targets(upper_romeo, q)
        assert np.linalg.norm(found - at, axis=1).max() < 0.010
        for a, b in zip(turned, rotations, strict=True):
            assert np.linalg.norm(pin.log3(a.T @ b)) < np.radians(5.0)


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
