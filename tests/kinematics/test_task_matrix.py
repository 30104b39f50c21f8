"""Gauss-Newton matrices from moments, against rows of Pinocchio's Jacobians and central differences."""

import numpy as np
import pinocchio as pin
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from simbench.kinematics.task_matrix import Tasks, gauss_newton, make_workspace
from simbench.kinematics.tree import kinematic_tree, place_bodies


def draw(model, seed):
    """A random configuration and random tasks: root pose, joints, tasks, targets."""
    rng = np.random.default_rng(seed)
    n = model.nv - 6

    def turns(count):
        return np.array(
            [pin.exp3(rng.uniform(0, np.pi) * v / np.linalg.norm(v)) for v in rng.normal(size=(count, 3))]
        )

    tasks = Tasks(
        rng.integers(0, n + 1, 8),
        rng.normal(size=(8, 3)),
        rng.uniform(0.5, 20.0, 8),
        rng.integers(0, n + 1, 5),
        turns(5),
        rng.uniform(0.1, 10.0, 5),
    )
    root = pin.SE3(turns(1)[0], rng.normal(size=3))
    return root, rng.uniform(-1.5, 1.5, n), tasks, rng.normal(size=(8, 3)), turns(5)


def evaluate(tree, root, joints, tasks, points, turns):
    work = make_workspace(tree)
    work.rotation[0], work.position[0] = root.rotation, root.translation
    place_bodies(tree, joints, work.rotation, work.position)
    return gauss_newton(tree, tasks, points, turns, work), work


def rows(model, root, joints, tasks, points, turns):
    """Jacobian and error row by row; columns: root translation and turn in world axes, joints."""
    data = model.createData()
    pin.computeJointJacobians(model, data, np.concatenate([pin.SE3ToXYZQUAT(root), joints]))
    jacobian, error = [], []

    def body_jacobian(body):
        full = pin.getJointJacobian(model, data, int(body) + 1, pin.ReferenceFrame.LOCAL_WORLD_ALIGNED)
        to_world = np.kron(np.eye(2), root.rotation.T)
        return data.oMi[int(body) + 1], np.hstack([full[:, :6] @ to_world, full[:, 6:]])

    for body, point, weight, target in zip(
        tasks.point_body, tasks.point, tasks.point_weight, points, strict=True
    ):
        pose, full = body_jacobian(body)
        jacobian.append(weight * (full[:3] - pin.skew(pose.rotation @ point) @ full[3:]))
        error.append(weight * (target - pose.act(point)))
    for body, turn, weight, target in zip(
        tasks.rotation_body, tasks.rotation, tasks.rotation_weight, turns, strict=True
    ):
        pose, full = body_jacobian(body)
        quaternion = pin.Quaternion(target @ (pose.rotation @ turn).T).coeffs()
        quaternion = quaternion * np.copysign(1.0, quaternion[3])
        change = 0.5 * (quaternion[3] * np.eye(3) + pin.skew(quaternion[:3]))
        jacobian.append(weight * change @ full[3:])
        error.append(weight * quaternion[:3])
    return np.vstack(jacobian), np.concatenate(error)


@settings(max_examples=40, deadline=None)
@given(seed=st.integers(0, 2**32 - 1))
def test_moments_give_the_product_of_jacobians(upper_romeo, seed):
    root, joints, tasks, points, turns = draw(upper_romeo, seed)
    cost, work = evaluate(kinematic_tree(upper_romeo), root, joints, tasks, points, turns)
    jacobian, error = rows(upper_romeo, root, joints, tasks, points, turns)
    expected = jacobian.T @ jacobian
    np.testing.assert_allclose(np.tril(work.matrix), np.tril(expected), atol=1e-12 * np.abs(expected).max())
    np.testing.assert_allclose(work.vector, jacobian.T @ error, atol=1e-9)
    assert cost == pytest.approx(error @ error, rel=1e-12)


@settings(max_examples=40, deadline=None)
@given(seed=st.integers(0, 2**32 - 1))
def test_the_vector_is_half_the_costs_descent(upper_romeo, seed):
    """Jᵀε = −½ ∂‖ε‖²/∂q, by central differences."""
    root, joints, tasks, points, turns = draw(upper_romeo, seed)
    tree, h = kinematic_tree(upper_romeo), 1e-6
    _, work = evaluate(tree, root, joints, tasks, points, turns)
    scale = np.abs(work.vector).max()
    for k in range(len(work.vector)):
        costs = []
        for sign in (1.0, -1.0):
            moved, at = joints.copy(), root.copy()
            if k < 3:
                at.translation = root.translation + sign * h * np.eye(3)[k]
            elif k < 6:
                at.rotation = pin.exp3(sign * h * np.eye(3)[k - 3]) @ root.rotation
            else:
                moved[k - 6] += sign * h
            costs.append(evaluate(tree, at, moved, tasks, points, turns)[0])
        assert work.vector[k] / scale == pytest.approx(-0.25 * (costs[0] - costs[1]) / h / scale, abs=1e-6)
