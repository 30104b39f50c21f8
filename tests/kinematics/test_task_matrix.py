"""Gauss-Newton matrices from moments, against rows of Pinocchio's Jacobians and central differences.

Joint-space inertia and manipulability gradient against Pinocchio and differences.
"""

import numpy as np
import pinocchio as pin
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from simbench.kinematics.redundancy_step import manipulability_gradient
from simbench.kinematics.task_matrix import (
    Tasks,
    bias_torque,
    body_masses,
    body_moments,
    gauss_newton,
    joint_inertia,
    make_workspace,
)
from simbench.kinematics.tree import joint_axes, kinematic_tree, place_bodies


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


@pytest.mark.parametrize("robot", ["upper_romeo", "puma_model"])
def test_inertia_of_the_joints_is_crba(robot, request):
    model = request.getfixturevalue(robot).copy()
    model.armature[:] = 0.0
    first = model.nv - len(kinematic_tree(model).parent)
    rng = np.random.default_rng(1)
    tree, masses = kinematic_tree(model), body_masses(model)
    work = make_workspace(tree)
    for _ in range(5):
        joints = rng.uniform(-1.5, 1.5, model.nv - first)
        root = pin.SE3.Random() if first else pin.SE3.Identity()
        work.rotation[0], work.position[0] = root.rotation, root.translation
        place_bodies(tree, joints, work.rotation, work.position)
        joint_inertia(tree, masses, work)
        ours = np.tril(work.matrix)
        ours += np.tril(ours, -1).T
        q = np.concatenate([pin.SE3ToXYZQUAT(root), joints]) if first else joints
        theirs = pin.crba(model, model.createData(), q)
        theirs = np.triu(theirs) + np.triu(theirs, 1).T
        np.testing.assert_allclose(ours[6:, 6:], theirs[first:, first:], rtol=0, atol=1e-12 * theirs.max())
        if first:
            # Pinocchio's root coordinates are in the root's own axes.
            turn = np.kron(np.eye(2), root.rotation)
            np.testing.assert_allclose(ours[:6, :6], turn @ theirs[:6, :6] @ turn.T, atol=1e-12 * 100)
            np.testing.assert_allclose(ours[6:, :6], theirs[6:, :6] @ turn.T, atol=1e-12 * 100)


def hands(model, data, q):
    pin.computeJointJacobians(model, data, q)
    frames = [model.getFrameId(name) for name in ("l_wrist", "r_wrist")]
    return np.vstack(
        [pin.getFrameJacobian(model, data, f, pin.ReferenceFrame.LOCAL_WORLD_ALIGNED)[:, 6:] for f in frames]
    )


def test_manipulability_gradient_is_that_of_the_determinant(upper_romeo):
    model, data = upper_romeo, upper_romeo.createData()
    rng = np.random.default_rng(2)

    def determinant(q):
        jacobian = hands(model, data, q)
        return np.linalg.det(jacobian @ jacobian.T)

    for _ in range(5):
        q = pin.neutral(model)
        q[7:] = rng.uniform(-1.0, 1.0, model.nq - 7)
        gradient = np.empty(model.nv - 6)
        found = manipulability_gradient(np.ascontiguousarray(hands(model, data, q).T), gradient)
        assert found == pytest.approx(determinant(q), rel=1e-9)
        differences = np.empty_like(gradient)
        for i in range(len(gradient)):
            step = np.zeros(model.nq)
            step[7 + i] = 1e-4
            # Two central differences, their error of second order taken away.
            near, far = (determinant(q + k * step) - determinant(q - k * step) for k in (1.0, 2.0))
            differences[i] = (8.0 * near - far) / (12.0 * 1e-4)
        np.testing.assert_allclose(gradient, differences, rtol=0, atol=1e-6 * abs(gradient).max())


def test_manipulability_gradient_by_kinematic_hessians(upper_romeo):
    """The thesis's own formula, with Pinocchio's Hessians (eq. 4.8)."""
    model, data = upper_romeo, upper_romeo.createData()
    q = pin.neutral(model)
    q[7:] = np.random.default_rng(3).uniform(-1.0, 1.0, model.nq - 7)
    jacobian = hands(model, data, q)
    pin.computeJointKinematicHessians(model, data, q)
    slopes = []
    for name in ("l_wrist", "r_wrist"):
        joint = model.frames[model.getFrameId(name)].parentJoint
        hessian = pin.getJointKinematicHessian(model, data, joint, pin.ReferenceFrame.LOCAL_WORLD_ALIGNED)
        # The binding hands out the tensor's memory, by columns, as if it were by rows.
        slopes.append(hessian.ravel().reshape(hessian.shape, order="F")[:, 6:, 6:])
    change = np.concatenate(slopes)
    gram = jacobian @ jacobian.T
    inverse, determinant = np.linalg.inv(gram), np.linalg.det(gram)
    expected = [
        determinant * np.trace(inverse @ (change[:, :, i] @ jacobian.T + jacobian @ change[:, :, i].T))
        for i in range(model.nv - 6)
    ]
    gradient = np.empty(model.nv - 6)
    manipulability_gradient(np.ascontiguousarray(jacobian.T), gradient)
    np.testing.assert_allclose(gradient, expected, rtol=0, atol=1e-9 * np.abs(expected).max())


@pytest.mark.parametrize("robot", ["upper_romeo", "puma_model"])
def test_bias_torque_is_newton_eulers(robot, request):
    """Of the joints, with a root that rests."""
    model = request.getfixturevalue(robot)
    first = model.nv - len(kinematic_tree(model).parent)
    rng = np.random.default_rng(3)
    tree, masses = kinematic_tree(model), body_masses(model)
    work, n = make_workspace(tree), len(tree.parent)
    found, root = np.empty(n), pin.SE3.Identity()
    for _ in range(5):
        joints, speed = rng.uniform(-1.5, 1.5, n), rng.normal(size=n)
        if first:
            root = pin.SE3.Random()
        work.rotation[0], work.position[0] = root.rotation, root.translation
        place_bodies(tree, joints, work.rotation, work.position)
        # About any point.
        origin = rng.normal(size=3)
        joint_axes(tree, work.rotation, work.position, origin, work.axes)
        body_moments(masses, work.rotation, work.position, origin, work.moment)
        twist, effort = np.empty((n + 1, 12)), np.empty((n + 1, 6))
        bias_torque(tree, work.axes, work.moment, speed, 9.81, twist, effort, found)
        q = np.concatenate([pin.SE3ToXYZQUAT(root), joints]) if first else joints
        v = np.concatenate([np.zeros(first), speed])
        expected = pin.nonLinearEffects(model, model.createData(), q, v)[first:]
        np.testing.assert_allclose(found, expected, rtol=0, atol=1e-12 * np.abs(expected).max())
