"""Collision avoidance: paths clear where they were not, the same elsewhere, smooth, held palms in place."""

import coal
import numpy as np
import pinocchio as pin
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import minimize

from simbench.kinematics.bounded_ik import PostureBounds, solve_damped_ik
from simbench.kinematics.obstacles import box_obstacle, cylinder_obstacle
from simbench.motion.trajectory import JointTrajectory
from simbench.retargeting.collision.avoidance import (
    avoid_collisions,
    clearance_qp_step,
    multiply_smoothness,
    smoothness_matrix,
)
from simbench.retargeting.collision.clearance import BodyShapes, body_shapes
from simbench.retargeting.collision.interference import find_interference

RADIUS, ARM = 0.05, 0.4
MARGIN = 0.005
HANDS = ("l_palm", "r_palm")
BASE = np.array([0.2, -0.1, 0.85, 0.0, 0.0, np.sin(0.2), np.cos(0.2)])
CLEAR = [0.15, 1.75, -0.08, 1.9, -0.35, -0.05, 0.4, 0.9, 1.3, 0.35, -0.5, 1.5, 1.5, 0.36, -0.2]
ELBOW_IN_CHEST = [
    *[0.128, 1.733, -0.079, 1.989, -0.267, -0.01, 0.402, 0.908],
    *[1.281, 0.376, -0.383, 1.492, 1.372, 0.358, -0.224],
]


@pytest.fixture(scope="module")
def ball():
    """A ball of 5 cm on an arm of 0.4 m that turns about a vertical axis."""
    model = pin.Model()
    root = model.addJoint(0, pin.JointModelFreeFlyer(), pin.SE3.Identity(), "root_joint")
    joint = model.addJoint(root, pin.JointModelRZ(), pin.SE3.Identity(), "turn")
    geometry = pin.GeometryModel()
    tip = pin.SE3(np.eye(3), np.array([ARM, 0.0, 0.0]))
    geometry.addGeometryObject(pin.GeometryObject("ball_0", joint, joint, tip, coal.Sphere(RADIUS)))
    return BodyShapes(model, geometry)


def origin(samples):
    return np.tile([0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 1.0], (samples, 1))


def at(x, y, z):
    pose = np.eye(4)
    pose[:3, 3] = x, y, z
    return pose


def test_a_ball_goes_round_a_pole_by_as_little_as_it_must(ball):
    """The ball swings toward a pole and back; in closed form the nearest it may come is known."""
    time = np.arange(201) * 0.01
    pole_angle, limit = 0.3, np.array([np.pi])
    pole = cylinder_obstacle("pole", 0.03, 1.0, at(ARM * np.cos(pole_angle), ARM * np.sin(pole_angle), 0.0))
    closest = pole_angle - 2.0 * np.arcsin((RADIUS + 0.03 + MARGIN) / (2.0 * ARM))
    joints = 0.06 + closest - 0.3 * (1.0 - np.exp(-(((time - 1.0) / 0.12) ** 2)))[:, None]
    changed, missing = avoid_collisions(
        ball, time, joints, origin(201), np.stack([-limit, limit]), MARGIN, {}, (pole,)
    )
    bend = (changed - joints)[:, 0]
    assert (missing == 0.0).all()
    distance = 2.0 * ARM * np.sin(0.5 * np.abs(pole_angle - changed)) - RADIUS - 0.03
    assert MARGIN <= distance.min() < MARGIN + 0.001
    near = joints[:, 0] > closest
    window = np.abs(time - 1.0) < 0.41 + 0.5 * np.ptp(time[near])
    assert (bend[~window] == 0.0).all()
    assert (bend[window] != 0.0).sum() > 80
    # It leaves and comes back without a jump of velocity.
    speed = np.diff(bend) / 0.01
    own = np.diff(joints[:, 0], 2) / 0.01
    assert np.abs(np.diff(speed)).max() < 0.2 * np.abs(own).max()
    assert np.abs(speed[np.flatnonzero(bend)[[0, -1]] - [1, 0]]).max() < 0.02 * np.abs(speed).max()


def test_a_clear_path_stays_as_it_is(ball):
    time = np.arange(50) * 0.02
    joints = np.sin(time)[:, None]
    limit = np.array([np.pi])
    far = box_obstacle("far", (0.1, 0.1, 0.1), at(-1.0, 0.0, 0.0))
    changed, missing = avoid_collisions(
        ball, time, joints, origin(50), np.stack([-limit, limit]), MARGIN, {}, (far,)
    )
    np.testing.assert_array_equal(changed, joints)
    np.testing.assert_array_equal(missing, np.zeros(50))


def palm_poses(model, joints, base):
    data = model.createData()
    poses = np.empty((len(joints), 2, 4, 4))
    for sample, q in enumerate(np.hstack([base, joints])):
        pin.framesForwardKinematics(model, data, q)
        for hand, frame in enumerate(HANDS):
            poses[sample, hand] = data.oMf[model.getFrameId(frame)].homogeneous
    return poses


@pytest.fixture(scope="module")
def elbow_case(romeo):
    """ROMEO holds both palms still; an elbow goes into the chest and comes back."""
    shapes = body_shapes(romeo, romeo.postures["standing"])
    model = shapes.model
    lower, upper = model.lowerPositionLimit[7:], model.upperPositionLimit[7:]
    data, frames = model.createData(), [model.getFrameId(frame) for frame in HANDS]
    bad = np.array(ELBOW_IN_CHEST)
    pin.framesForwardKinematics(model, data, np.concatenate([BASE, bad]))
    targets = [data.oMf[frame].copy() for frame in frames]
    time = np.arange(61) * 0.025
    joints = []
    for share in np.sin(np.pi * time / time[-1]) ** 2:
        wanted = np.clip((1.0 - share) * np.array(CLEAR) + share * bad, lower, upper)
        start = np.concatenate([BASE, wanted])
        found = solve_damped_ik(
            model,
            data,
            start,
            dict(zip(frames, targets, strict=True)),
            PostureBounds(wanted, lower, upper),
            iterations=40,
            tolerance=1e-10,
        )
        joints.append(found[7:])
    return shapes, time, np.array(joints), np.tile(BASE, (61, 1)), (lower, upper)


def whole(romeo, shapes, time, joints, base):
    q = np.tile(romeo.postures["standing"], (len(time), 1))
    q[:, [romeo.joint_names.index(name) for name in list(shapes.model.names)[2:]]] = joints
    return JointTrajectory(time, q, romeo.joint_names, base)


def test_romeos_elbow_swivels_out_of_its_chest_with_the_palms_held(romeo, elbow_case):
    shapes, time, joints, base, (lower, upper) = elbow_case
    before = find_interference(romeo, whole(romeo, shapes, time, joints, base))
    assert {(one.first, one.second) for one in before} == {("RElbowYawLink", "torso")}
    assert min(one.distance for one in before) < -0.007
    held = {frame: (np.ones(len(time), dtype=bool), None) for frame in HANDS}
    changed, missing = avoid_collisions(shapes, time, joints, base, np.stack([lower, upper]), MARGIN, held)
    assert (missing == 0.0).all()
    after = whole(romeo, shapes, time, changed, base)
    # Between samples a millimetre less.
    assert find_interference(romeo, after, margin=MARGIN - 0.001) == ()
    np.testing.assert_allclose(
        palm_poses(shapes.model, changed, base), palm_poses(shapes.model, joints, base), atol=1e-7
    )
    assert (changed >= lower).all()
    assert (changed <= upper).all()
    bend = changed - joints
    assert 0.1 < np.abs(bend).max() < 0.5
    # As smooth as the path itself: no jump of velocity.
    assert np.abs(np.diff(bend, 2, axis=0)).max() < 2.0 * np.abs(np.diff(joints, 2, axis=0)).max()


def test_what_cannot_be_cleared_is_said(romeo, elbow_case):
    """A post where a held palm is: neither the palm gives way nor the post."""
    shapes, time, joints, base, limits = elbow_case
    few = slice(0, 4)
    palm = palm_poses(shapes.model, joints[few], base[few])[0, 0]
    post = box_obstacle("post", (0.1, 0.1, 0.1), palm)
    held = {HANDS[0]: (np.ones(4, dtype=bool), None)}
    path = (time[few], joints[few], base[few])
    changed, missing = avoid_collisions(shapes, *path, np.stack(limits), MARGIN, held, (post,))
    assert (missing > 0.02).all()
    np.testing.assert_allclose(
        palm_poses(shapes.model, changed, base[few])[:, 0],
        palm_poses(shapes.model, joints[few], base[few])[:, 0],
        atol=1e-4,
    )
    # The fingers and the wrist may touch it: nothing is to be done.
    post = box_obstacle("post", (0.1, 0.1, 0.1), palm, ("l_wrist", "l_fingers"))
    free, missing = avoid_collisions(shapes, *path, np.stack(limits), MARGIN, held, (post,))
    assert (missing == 0.0).all()
    left = slice(1, 8)
    np.testing.assert_allclose(free[:, left], joints[few, left], atol=1e-6)


def test_a_moving_obstacle_pushes_a_free_arm_and_not_the_other(romeo):
    """A block comes at ROMEO's hanging left forearm; the right palm is held."""
    shapes = body_shapes(romeo, romeo.postures["standing"])
    model = shapes.model
    columns = [romeo.joint_names.index(name) for name in list(model.names)[2:]]
    time = np.arange(41) * 0.025
    joints, base = np.tile(romeo.postures["standing"][columns], (41, 1)), np.tile(BASE, (41, 1))
    data = model.createData()
    pin.framesForwardKinematics(model, data, np.concatenate([BASE, joints[0]]))
    palm = data.oMf[model.getFrameId("l_palm")].translation
    ahead = pin.XYZQUATToSE3(BASE).rotation[:, 0]
    near = 0.16 - 0.06 * np.exp(-(((time - 0.5) / 0.1) ** 2))
    block = box_obstacle("block", (0.1, 0.1, 0.1), np.array([at(*(palm + d * ahead)) for d in near]))
    held = {"r_palm": (np.ones(41, dtype=bool), None)}
    limits = np.stack([model.lowerPositionLimit[7:], model.upperPositionLimit[7:]])
    trajectory = whole(romeo, shapes, time, joints, base)
    before = find_interference(romeo, trajectory, (block,))
    assert {one.second for one in before} == {"block"}
    changed, missing = avoid_collisions(shapes, time, joints, base, limits, MARGIN, held, (block,))
    assert (missing == 0.0).all()
    after = whole(romeo, shapes, time, changed, base)
    assert find_interference(romeo, after, (block,), MARGIN - 0.002) == ()
    poses = palm_poses(model, changed, base)[:, 1]
    np.testing.assert_allclose(poses, palm_poses(model, joints, base)[:, 1], atol=1e-7)
    assert np.abs(changed - joints).max() > 0.01


def test_a_hand_that_may_turn_on_its_handle_does_so_out_of_the_way(romeo):
    """A block comes at the left fingers; both palms are held, the left one on a round handle across it."""
    shapes = body_shapes(romeo, romeo.postures["standing"])
    model = shapes.model
    columns = [romeo.joint_names.index(name) for name in list(model.names)[2:]]
    time, across = np.arange(41) * 0.025, np.array([0.0, 1.0, 0.0])
    joints, base = np.tile(romeo.postures["standing"][columns], (41, 1)), np.tile(BASE, (41, 1))
    elbow = list(model.names)[2:].index("LElbowYaw")
    joints[:, elbow] = -1.2
    palm = palm_poses(model, joints[:1], base[:1])[0, 0]
    tip = palm @ np.array([0.10, 0.0, 0.0, 1.0])
    near = 0.07 - 0.055 * np.exp(-(((time - 0.5) / 0.1) ** 2))
    poses = np.tile(palm, (41, 1, 1))
    poses[:, :3, 3] = tip[:3] - near[:, None] * palm[:3, 2]
    block = box_obstacle("block", (0.05, 0.10, 0.05), poses, ("l_wrist",))
    fixed = {frame: (np.ones(41, dtype=bool), None) for frame in HANDS}
    turning = fixed | {HANDS[0]: (np.ones(41, dtype=bool), across)}
    limits = np.stack([model.lowerPositionLimit[7:], model.upperPositionLimit[7:]])
    path = (time, joints, base)
    _, missing = avoid_collisions(shapes, *path, limits, MARGIN, fixed, (block,))
    assert missing.max() > 0.002
    loose, missing = avoid_collisions(shapes, *path, limits, MARGIN, turning, (block,))
    assert (missing == 0.0).all()
    turned, firmly = palm_poses(model, loose, base), palm_poses(model, joints, base)
    np.testing.assert_allclose(turned[:, :, :3, 3], firmly[:, :, :3, 3], atol=1e-5)
    np.testing.assert_allclose(turned[:, 0, :3, :3] @ across, firmly[:, 0, :3, :3] @ across, atol=1e-5)
    np.testing.assert_allclose(turned[:, 1], firmly[:, 1], atol=1e-5)
    cosine = np.einsum("ti,ti->t", turned[:, 0, :3, 0], firmly[:, 0, :3, 0])
    assert 0.02 < np.arccos(np.clip(cosine, -1.0, 1.0)).max() < 0.5


def dense(smoothness):
    samples = smoothness.shape[1]
    matrix = np.diag(smoothness[0])
    for offset in range(1, min(3, samples)):
        below = np.diag(smoothness[offset, : samples - offset], -offset)
        matrix = matrix + below + below.T
    return matrix


@pytest.mark.parametrize(("start", "end"), [(0, 9), (3, 7), (1, 9), (0, 4), (4, 5)])
def test_the_cost_is_that_of_the_parabolas_through_three_samples(start, end):
    rng = np.random.default_rng(0)
    time = np.cumsum(rng.uniform(0.01, 0.03, 9))
    whole = np.zeros(9)
    whole[start:end] = rng.normal(size=end - start)
    # Outside all is 0, and so are the parabolas that touch no sample of the displacement.
    curves = [2.0 * np.polyfit(time[k : k + 3] - time[k], whole[k : k + 3], 2)[0] for k in range(7)]
    expected = (whole**2).sum() + 0.1**4 * (np.array(curves) ** 2).sum()
    smoothness = smoothness_matrix(time, start, end, 0.1)
    displacement = whole[start:end]
    assert displacement @ dense(smoothness) @ displacement == pytest.approx(expected, rel=1e-6)
    np.testing.assert_allclose(
        multiply_smoothness(smoothness, displacement[:, None])[:, 0],
        dense(smoothness) @ displacement,
        rtol=1e-9,
    )


@settings(max_examples=30, deadline=None)
@given(seed=st.integers(0, 2**31), pressing=st.booleans())
def test_a_step_costs_least(seed, pressing):
    """Against sequential quadratic programming with hard limits, the cost written out over a dense matrix."""
    rng = np.random.default_rng(seed)
    samples, count, clearances = 8, 2, 12
    smoothness = 0.1 * smoothness_matrix(np.arange(12) * 0.02, 2, 10, 0.03)
    roots = rng.normal(size=(samples, count, count))
    blocks = np.einsum("sij,skj->sik", roots, roots)
    descent = rng.normal(size=(samples, count))
    owner = np.sort(rng.integers(0, samples, clearances))
    gradient, missing = rng.normal(size=(clearances, count)), rng.normal(size=clearances)
    bound = 0.2 if pressing else 50.0
    low, high = np.full((samples, count), -bound), np.full((samples, count), bound)

    matrix = np.kron(dense(smoothness), np.eye(count))
    rows = np.zeros((clearances, samples, count))
    rows[np.arange(clearances), owner] = gradient
    rows = rows.reshape(clearances, -1)
    for sample in range(samples):
        own = slice(count * sample, count * sample + count)
        matrix[own, own] += blocks[sample]

    def cost(step):
        left = np.maximum(missing - rows @ step, 0.0)
        value = 0.5 * (step @ matrix @ step + left @ left) - descent.ravel() @ step
        return value, matrix @ step - left @ rows - descent.ravel()

    step = clearance_qp_step(smoothness, blocks, descent, owner, gradient, missing, low, high)
    assert (np.abs(step) <= bound + 1e-3).all()
    bounds = [(-bound, bound)] * (samples * count)
    options = {"ftol": 1e-14, "maxiter": 500}
    best = minimize(cost, np.zeros(samples * count), jac=True, bounds=bounds, method="SLSQP", options=options)
    # A limit gives way by a little, so the cost may be less than with hard ones, not more.
    assert cost(step.ravel())[0] <= best.fun + 1e-6
    np.testing.assert_allclose(step.ravel(), best.x, atol=2e-3)
