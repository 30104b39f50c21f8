"""Bounded steps and minima: against Pinocchio and by the conditions of a minimum."""

import numpy as np
import pinocchio as pin
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from simbench.kinematics.bounded_ik import (
    Bounds,
    Configuration,
    TrackingModel,
    integrate_step,
    solve_bounded_ik,
)
from simbench.kinematics.follow import follow
from simbench.kinematics.task_matrix import Targets, Tasks, make_workspace
from simbench.kinematics.tree import frame_on_body, kinematic_tree

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
