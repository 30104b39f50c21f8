"""The imitation criterion, its Jacobian, the motion that follows a recording or a stream, and its errors."""

import dataclasses
import pickle
from dataclasses import replace

import numpy as np
import pinocchio as pin
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from scipy.spatial.transform import Rotation

from simbench.errors import MotionError
from simbench.kinematics.bounded_ik import Configuration, place_tree
from simbench.kinematics.task_matrix import gauss_newton, make_workspace
from simbench.kinematics.tree import kinematic_tree
from simbench.motion.human_motion import ARM_JOINTS, ARM_SEGMENTS, HumanMotion, InitialPose
from simbench.retargeting.body_errors import rotation_angle
from simbench.retargeting.imitation.imitation import (
    INNER_JOINTS,
    METHODS,
    WRISTS,
    Imitation,
    ImitationWeights,
    first_posture,
    follow_frames,
    imitate,
    imitation_errors,
    imitation_targets,
    imitation_tasks,
    model_poses,
    segment_weights,
    smooth,
    start_imitation,
    summarise,
)
from simbench.retargeting.imitation.scaled_model import calibrate, orientation_error

TRUNK = "trunk"
UNIT = st.floats(-1.0, 1.0)


def skew(a):
    return np.array([[0, -a[2], a[1]], [a[2], 0, -a[0]], [-a[1], a[0], 0]])


def configuration(actor, motion, sample, step):
    """Near the actor's place in a frame: base within 0.2 m and 0.4 rad, joints within 1 rad of q_init."""
    q = pin.integrate(
        actor.model, actor.q, np.asarray(step) * np.r_[np.full(3, 0.2), np.full(3, 0.4), np.ones(15)]
    )
    shoulders = [
        tracks["left_shoulder"] + tracks["right_shoulder"]
        for tracks in ({k: v[sample] for k, v in motion.joints.items()}, motion.initial.joints)
    ]
    q[:3] += 0.5 * (shoulders[0] - shoulders[1])
    return q


steps = st.lists(UNIT, min_size=21, max_size=21)


def wrist_errors(imitation, motion):
    off = imitation_errors(imitation, motion)[1]
    return np.stack([off[name] for name in WRISTS], axis=1)


def criterion(actor, data, q, motion, sample, weights):
    """Error ε of one frame (recording − model, weighted) and −∂ε/∂q, row by row (Tomić 2018, eq. 3.5)."""
    model = actor.model
    pin.computeJointJacobians(model, data, q)
    pin.updateFramePlacements(model, data)
    blocks, errors = [], []

    def jacobian(frame):
        return pin.getFrameJacobian(model, data, frame, pin.ReferenceFrame.LOCAL_WORLD_ALIGNED)

    for names, weight in (
        (ARM_SEGMENTS, weights.marker),
        (INNER_JOINTS, weights.joint),
        (WRISTS, weights.hand),
    ):
        for name in names:
            frame = actor.markers[name] if name in ARM_SEGMENTS else actor.joints[name]
            recorded = motion.segments[name][:, :3, 3] if name in ARM_SEGMENTS else motion.joints[name]
            blocks.append(weight * jacobian(frame)[:3])
            errors.append(weight * (recorded[sample] - data.oMf[frame].translation))
    for name in segment_weights(actor, weights):
        frame = actor.markers[name]
        weight = weights.hand_orientation if name.endswith("hand") else weights.segment_orientation
        vector, scalar = orientation_error(motion.segments[name][sample, :3, :3], data.oMf[frame].rotation)
        blocks.append(0.5 * weight * (pin.skew(vector) + scalar * np.eye(3)) @ jacobian(frame)[3:])
        errors.append(weight * vector)
    return np.vstack(blocks), np.concatenate(errors)


@settings(max_examples=25, deadline=None)
@given(step=steps, sample=st.integers(0, 1300))
def test_jacobian_is_the_derivative_of_the_error(drawer_actor, drawer_motion, step, sample):
    model, data = drawer_actor.model, drawer_actor.model.createData()
    q = configuration(drawer_actor, drawer_motion, sample, step)
    weights = ImitationWeights(1.3, 2.1, 7.0, 11.0, 0.7)

    def error(at):
        return criterion(drawer_actor, data, at, drawer_motion, sample, weights)[1]

    jacobian, _ = criterion(drawer_actor, data, q, drawer_motion, sample, weights)
    h = 1e-6
    slopes = [
        (error(pin.integrate(model, q, h * unit)) - error(pin.integrate(model, q, -h * unit))) / (2 * h)
        for unit in np.eye(model.nv)
    ]
    # The quaternion's vector part has a kink where the error is half a turn: no posture here is near it.
    np.testing.assert_allclose(jacobian, -np.array(slopes).T, atol=1e-6)


@settings(max_examples=25, deadline=None)
@given(step=steps, sample=st.integers(0, 1300))
def test_compiled_criterion_is_that_of_the_rows(drawer_actor, drawer_motion, step, sample):
    """What the methods descend: JᵀJ, Jᵀε and ‖ε‖² of the rows above, in world axes of an upright base."""
    model = drawer_actor.model
    q = configuration(drawer_actor, drawer_motion, sample, step)
    q[3:7] = 0.0, 0.0, 0.0, 1.0
    weights = ImitationWeights(1.3, 2.1, 7.0, 11.0, 0.7)
    jacobian, error = criterion(drawer_actor, model.createData(), q, drawer_motion, sample, weights)
    tree = kinematic_tree(model)
    work = make_workspace(tree)
    place_tree(tree, Configuration(q[7:].copy(), np.eye(3), q[:3].copy()), work)
    points, turns = imitation_targets(drawer_actor, drawer_motion, weights)
    cost = gauss_newton(tree, imitation_tasks(drawer_actor, weights), points[sample], turns[sample], work)
    expected = jacobian.T @ jacobian
    np.testing.assert_allclose(np.tril(work.matrix), np.tril(expected), atol=1e-11 * np.abs(expected).max())
    np.testing.assert_allclose(work.vector, jacobian.T @ error, atol=1e-10 * (1 + np.abs(error).max()) * 1e2)
    assert cost == pytest.approx(error @ error, rel=1e-10)


@given(
    reference=st.lists(UNIT, min_size=4, max_size=4).filter(lambda q: np.linalg.norm(q) > 0.1),
    current=st.lists(UNIT, min_size=4, max_size=4).filter(lambda q: np.linalg.norm(q) > 0.1),
)
def test_orientation_error_is_the_papers_quaternion_formula(reference, current):
    e_ref, e = (Rotation.from_quat(q) for q in (reference, current))
    (*vector_ref, scalar_ref), (*vector, scalar) = e_ref.as_quat(), e.as_quat()
    vector_ref, vector = np.array(vector_ref), np.array(vector)
    # Tomić 2018, eq. 3.4: Δe = η e_ref − η_ref e − S(e_ref) e; q and −q are one orientation.
    expected = scalar * vector_ref - scalar_ref * vector - skew(vector_ref) @ vector
    cosine = scalar * scalar_ref + vector @ vector_ref
    assume(abs(cosine) > 1e-4)
    got, got_scalar = orientation_error(e_ref.as_matrix(), e.as_matrix())
    np.testing.assert_allclose(got, np.sign(cosine) * expected, atol=1e-7)
    assert got_scalar == pytest.approx(abs(cosine), abs=1e-7)


def test_error_and_weights_are_those_of_the_paper(drawer_actor, drawer_motion):
    """The squared error is the sum that eq. 3.5 asks for, each term from forward kinematics by hand."""
    weights = ImitationWeights()
    assert (weights.marker, weights.joint, weights.hand_orientation, weights.hand) == (1, 2, 10, 20)
    model, sample = drawer_actor.model, 700
    q = configuration(drawer_actor, drawer_motion, sample, np.linspace(-1, 1, 21))
    placed = model.createData()
    pin.forwardKinematics(model, placed, q)
    initial = model.createData()
    pin.forwardKinematics(model, initial, drawer_actor.q)

    def marker(name):
        """Pose of a marker glued in the initial configuration to the joint that carries it."""
        joint = model.frames[drawer_actor.markers[name]].parentJoint
        glued = np.linalg.inv(initial.oMi[joint].homogeneous) @ drawer_motion.initial.segments[name]
        return placed.oMi[joint].homogeneous @ glued

    def place(name):
        frame = model.frames[drawer_actor.joints[name]]
        return (placed.oMi[frame.parentJoint] * frame.placement).translation

    def apart(name):
        return np.sum((drawer_motion.joints[name][sample] - place(name)) ** 2)

    def turned(name):
        turn = drawer_motion.segments[name][sample][:3, :3] @ marker(name)[:3, :3].T
        return np.sin(0.5 * np.arccos(0.5 * (np.trace(turn) - 1))) ** 2

    hands = ("left_hand", "right_hand")
    expected = sum(
        1**2 * np.sum((drawer_motion.segments[name][sample][:3, 3] - marker(name)[:3, 3]) ** 2)
        for name in ARM_SEGMENTS
    )
    expected += sum(2**2 * apart(name) for name in ARM_JOINTS if "wrist" not in name)
    expected += sum(10**2 * turned(name) for name in hands)
    expected += sum(20**2 * apart(name) for name in ARM_JOINTS if "wrist" in name)
    only = dataclasses.replace(weights, segment_orientation=0.0)
    _, error = criterion(drawer_actor, model.createData(), q, drawer_motion, sample, only)
    assert error @ error == pytest.approx(expected, rel=1e-9)
    # 18 + 12 + 6 + 6 rows that count, and 0 for what is not in the paper.
    assert np.count_nonzero(error) == 42

    others = ["left_upper_arm", "right_upper_arm", TRUNK]
    _, error = criterion(drawer_actor, model.createData(), q, drawer_motion, sample, weights)
    expected += weights.segment_orientation**2 * sum(turned(name) for name in others)
    assert error @ error == pytest.approx(expected, rel=1e-9)


def test_imitation_of_the_models_own_motion_recovers_it(drawer_actor, drawer_motion, performed):
    model = drawer_actor.model
    time = np.arange(301) / 100.0
    rng = np.random.default_rng(3)
    lower, upper = model.lowerPositionLimit[7:], model.upperPositionLimit[7:]
    middle, half = 0.5 * (lower + upper), 0.5 * (upper - lower)
    # Arms through half their ranges (elbows never straight), base swaying and turning; about 1 rad/s.
    phase, rate = rng.uniform(0, 2 * np.pi, 15), rng.uniform(0.2, 0.5, 15)
    swing = np.sin(2 * np.pi * rate * time[:, None] + phase)
    joints = middle + 0.5 * half * swing
    q = np.empty((len(time), model.nq))
    for sample, t in enumerate(time):
        turn = pin.exp3(np.array([0.1 * np.sin(t), 0.15 * np.sin(0.7 * t), 0.3 * np.sin(1.1 * t)]))
        place = np.array([0.1 * np.sin(t), 0.05 * np.sin(2 * t), 1.0 + 0.02 * np.sin(3 * t)])
        q[sample] = np.r_[pin.SE3ToXYZQUAT(pin.SE3(turn, place)), joints[sample]]
    motion = performed(drawer_actor, q, time, drawer_motion)
    got = imitate(drawer_actor, motion)

    # Base and trunk turn about one axis, so that only their sum shows: compare the trunk, then the arms.
    data = model.createData()
    torso = model.getJointId("TrunkYaw")
    turned, moved = [], []
    for a, b in zip(q, got.q, strict=True):
        pin.forwardKinematics(model, data, a)
        before = data.oMi[torso].copy()
        pin.forwardKinematics(model, data, b)
        turned.append(np.linalg.norm(pin.log3(before.rotation.T @ data.oMi[torso].rotation)))
        moved.append(np.linalg.norm(before.translation - data.oMi[torso].translation))
    arms = np.abs(got.q[:, 8:] - q[:, 8:])
    assert max(turned) < 0.006
    assert max(moved) < 0.0005
    assert arms.max() < 0.015
    assert wrist_errors(got, motion).max() < 0.001


@pytest.mark.parametrize("name", ["drawer", "dance"])
def test_hands_follow_real_recordings(request, name):
    imitation = request.getfixturevalue(f"{name}_imitation")
    motion = request.getfixturevalue(f"{name}_motion")
    model = imitation.actor.model
    # Wrist positions by another route: one homogeneous transform a joint, multiplied up the arm.
    apart = np.empty((len(imitation.q), 2))
    data = model.createData()
    for sample, q in enumerate(imitation.q):
        pin.forwardKinematics(model, data, q)
        for column, side in enumerate(("left", "right")):
            frame = model.frames[imitation.actor.joints[f"{side}_wrist"]]
            pose = frame.placement.homogeneous
            joint = frame.parentJoint
            while joint:
                pose = data.liMi[joint].homogeneous @ pose
                joint = model.parents[joint]
            apart[sample, column] = np.linalg.norm(pose[:3, 3] - motion.joints[f"{side}_wrist"][sample])
    np.testing.assert_allclose(wrist_errors(imitation, motion), apart, atol=1e-12)
    assert apart.mean() <= 0.003
    assert apart.max() <= 0.010
    np.testing.assert_allclose(np.linalg.norm(imitation.q[:, 3:7], axis=1), 1.0, atol=1e-12)


@pytest.mark.parametrize("name", ["drawer", "dance"])
def test_first_posture_is_a_minimum_on_the_recording(request, name):
    actor, motion = request.getfixturevalue(f"{name}_actor"), request.getfixturevalue(f"{name}_motion")
    model, data = actor.model, actor.model.createData()
    weights = ImitationWeights()
    q = first_posture(actor, motion, weights)

    def cost(step):
        _, error = criterion(actor, data, pin.integrate(model, q, step), motion, 0, weights)
        return error @ error

    still = cost(np.zeros(model.nv))
    for direction in np.vstack([np.eye(model.nv), -np.eye(model.nv)]):
        assert cost(1e-3 * direction) > still - 1e-12
    pin.framesForwardKinematics(model, data, q)
    for side in ("left", "right"):
        wrist = data.oMf[actor.joints[f"{side}_wrist"]].translation
        assert np.linalg.norm(wrist - motion.joints[f"{side}_wrist"][0]) < 0.003


@settings(max_examples=30, deadline=None)
@given(
    coefficients=st.lists(st.lists(UNIT, min_size=6, max_size=6), min_size=4, max_size=4),
    samples=st.integers(31, 80),
)
def test_smoothing_keeps_polynomials_of_its_order(coefficients, samples):
    time = np.linspace(-1, 1, samples)
    curves = np.array([np.polyval(c, time) for c in coefficients]).T
    q = np.hstack([curves[:, :3], np.tile([0.0, 0.0, 0.0, 1.0], (samples, 1)), curves[:, 3:]])
    np.testing.assert_allclose(smooth(q, 31, 5), q, atol=1e-10)


def test_smoothing_removes_noise_and_keeps_a_turn():
    time = np.arange(400) / 100.0
    rng = np.random.default_rng(1)
    noise = 1e-3 * rng.standard_normal((len(time), 3))
    angle = 2 * np.pi * time / time[-1]
    # Through a whole turn the quaternion changes sign continuously.
    quaternion = np.stack(
        [np.zeros_like(time), np.zeros_like(time), np.sin(angle / 2), np.cos(angle / 2)], axis=1
    )
    q = np.hstack([noise, quaternion + 1e-3 * rng.standard_normal(quaternion.shape)])
    result = smooth(q, 31, 5)
    turned = Rotation.from_quat(result[:, 3:7]) * Rotation.from_rotvec(angle[:, None] * [0, 0, 1]).inv()
    np.testing.assert_allclose(np.linalg.norm(result[:, 3:7], axis=1), 1.0, atol=1e-12)
    assert turned.magnitude().max() < 0.004
    # The centre weight of the quintic filter of 31 points is its noise gain squared.
    basis = np.polynomial.legendre.legvander(np.linspace(-1, 1, 31), 5)
    gain = np.sqrt((basis @ np.linalg.pinv(basis))[15, 15])
    assert result[20:-20, :3].std() == pytest.approx(1e-3 * gain, rel=0.15)


def test_a_recording_shorter_than_the_window_is_smoothed_as_far_as_it_goes():
    time = np.linspace(-1, 1, 12)
    q = np.zeros((12, 8))
    q[:, 6] = 1.0
    q[:, 7] = time**5 - time**2
    np.testing.assert_allclose(smooth(q, 31, 5), q, atol=1e-12)
    rough = q.copy()
    rough[:, 7] += 0.1 * (-1.0) ** np.arange(12)
    assert np.abs(smooth(rough, 31, 5)[:, 7] - q[:, 7]).mean() < 0.05
    assert (smooth(rough[:5], 31, 5) == rough[:5]).all()


def frames(actor, motion, stream, count):
    return tuple(target[:count] for target in imitation_targets(actor, motion, stream.weights))


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("limited", [False, True])
def test_frame_by_frame_is_all_at_once(drawer_actor, drawer_motion, method, limited):
    one = start_imitation(drawer_actor, drawer_motion, method=method, limited=limited)
    other = start_imitation(drawer_actor, drawer_motion, method=method, limited=limited)
    points, turns = frames(drawer_actor, drawer_motion, one, 150)
    together, _ = follow_frames(one, points, turns)
    single = [follow_frames(other, points[t : t + 1], turns[t : t + 1])[0][0] for t in range(150)]
    np.testing.assert_array_equal(np.array(single), together)
    np.testing.assert_allclose(np.linalg.norm(together[:, 3:7], axis=1), 1.0, atol=1e-12)
    if limited:
        model = drawer_actor.model
        assert (together[:, 7:] >= model.lowerPositionLimit[7:]).all()
        assert (together[:, 7:] <= model.upperPositionLimit[7:]).all()


@pytest.mark.parametrize(
    ("spoil", "message"),
    [
        (lambda points, turns: (points[:, :5], turns), r"points \(1, 5, 3\) and rotations"),
        (lambda points, turns: (points * np.nan, turns), r"frame 0: targets must be finite"),
        (lambda points, turns: (points + np.inf, turns), r"within 1000 m"),
        (lambda points, turns: (points + 5000.0, turns), r"within 1000 m"),
        (lambda points, turns: (points, turns * np.nan), r"finite rotations"),
    ],
)
def test_a_frame_that_cannot_be_is_refused_and_forgotten(drawer_actor, drawer_motion, spoil, message):
    stream = start_imitation(drawer_actor, drawer_motion)
    points, turns = frames(drawer_actor, drawer_motion, stream, 1)
    before = stream.q.copy()
    with pytest.raises(MotionError, match=message):
        follow_frames(stream, *spoil(points, turns))
    np.testing.assert_array_equal(stream.q, before)
    assert np.isfinite(follow_frames(stream, points, turns)[0]).all()


def test_a_long_stream_keeps_no_more_than_a_short_one(drawer_actor, drawer_motion):
    """The whole stream, with its workspace, written out: it is all that one frame leaves to the next."""
    stream = start_imitation(drawer_actor, drawer_motion)
    points, turns = frames(drawer_actor, drawer_motion, stream, 1000)
    sizes = []
    for t in range(1000):
        follow_frames(stream, points[t][None], turns[t][None])
        if t in (0, 10, 999):
            sizes.append(len(pickle.dumps(stream)))
    assert sizes == [sizes[0]] * 3


@pytest.fixture(scope="module")
def swing(drawer_actor):
    """Forty configurations all over the place."""
    rng = np.random.default_rng(5)
    steps = rng.uniform(-1.0, 1.0, (40, drawer_actor.model.nv))
    return np.array([pin.integrate(drawer_actor.model, drawer_actor.q, step) for step in steps])


@pytest.fixture(scope="module")
def seen(drawer_actor, performed, drawer_motion, swing):
    return performed(drawer_actor, swing, np.arange(40) / 100.0, drawer_motion)


def test_poses_are_pinocchios(drawer_actor, seen, swing):
    poses = model_poses(drawer_actor, swing)
    assert set(poses) == {*ARM_JOINTS, *drawer_actor.markers}
    for name in ARM_JOINTS:
        np.testing.assert_allclose(poses[name][:, :3, 3], seen.joints[name], atol=1e-12)
    for name in drawer_actor.markers:
        np.testing.assert_allclose(poses[name], seen.segments[name], atol=1e-12)


def test_what_was_moved_is_found_where_it_was_moved(drawer_actor, seen, swing):
    """A wrist by 3, 4, 12 mm; a marker by a ramp; a hand by a turn; nothing else."""
    ramp = np.linspace(0.0, 0.02, 40)
    turn = Rotation.from_rotvec(np.outer(np.linspace(-0.5, 0.5, 40), [0.6, 0.0, 0.8])).as_matrix()
    segments = {name: poses.copy() for name, poses in seen.segments.items()}
    segments["right_forearm"][:, 1, 3] += ramp
    segments["left_hand"][:, :3, :3] = turn @ segments["left_hand"][:, :3, :3]
    joints = {**seen.joints, "left_wrist": seen.joints["left_wrist"] + [0.003, 0.004, 0.012]}
    initial = InitialPose(
        {
            **seen.initial.joints,
            "left_shoulder": model_poses(drawer_actor, drawer_actor.q[None])["left_shoulder"][0, :3, 3]
            + [0.0, 0.0, 0.007],
        },
        seen.initial.segments,
    )
    motion = replace(seen, joints=joints, segments=segments, initial=initial)
    errors = imitation_errors(Imitation(drawer_actor, seen.time, swing), motion)

    assert errors[0]["left_shoulder"] == pytest.approx(0.007, abs=1e-12)
    for name in ARM_JOINTS:
        expected = 0.013 if name == "left_wrist" else 0.0
        np.testing.assert_allclose(errors[1][name], expected, atol=1e-12)
    for name in ARM_SEGMENTS:
        expected = ramp if name == "right_forearm" else 0.0
        np.testing.assert_allclose(errors[2][name], expected, atol=1e-12)
    np.testing.assert_allclose(errors[3]["left_hand"], np.abs(np.linspace(-0.5, 0.5, 40)), atol=1e-7)
    np.testing.assert_allclose(errors[3]["right_hand"], 0.0, atol=1e-7)
    assert set(errors[3]) == {"left_hand", "right_hand"}


def test_the_initial_configuration_is_measured_at_its_own_posture(drawer_actor, seen, swing):
    """By Pinocchio at q_init; the paper reports less than 2 mm on average, up to 12 mm at the shoulders."""
    data = drawer_actor.model.createData()
    pin.framesForwardKinematics(drawer_actor.model, data, drawer_actor.q)
    errors = imitation_errors(Imitation(drawer_actor, seen.time, swing), seen)
    for name in ARM_JOINTS:
        place = data.oMf[drawer_actor.joints[name]].translation
        apart = float(np.linalg.norm(seen.initial.joints[name] - place))
        assert errors[0][name] == pytest.approx(apart, abs=1e-12)
    assert np.mean(list(errors[0].values())) < 0.002
    assert max(errors[0].values()) < 0.012


def test_summaries_are_over_both_sides_and_all_samples(drawer_actor, seen, swing):
    """Left wrist 1 to 40 mm off, right wrist not: half of the samples are 0, the rest a ramp."""
    off = np.linspace(0.001, 0.040, 40)
    left = seen.joints["left_wrist"] + np.outer(off, [0.0, 0.6, -0.8])
    motion = replace(seen, joints={**seen.joints, "left_wrist": left})
    errors = imitation_errors(Imitation(drawer_actor, seen.time, swing), motion)
    found = {summary.quantity: summary for summary in summarise(errors)}
    hands = found["hands (wrists)"]
    assert hands.unit == "m"
    assert hands.mean == pytest.approx(0.01025, abs=1e-12)
    assert hands.maximum == pytest.approx(0.040, abs=1e-12)
    # The 80 values in order: 40 zeros, then 1 to 40 mm; 0.95 × 79 = 75.05, between the 36th and the 37th mm.
    assert hands.percentile_95 == pytest.approx(0.03605, abs=1e-12)
    assert found["elbows"].maximum < 1e-12
    assert found["hand orientation"].unit == "rad"
    initial = list(errors[0].values())
    assert found["initial configuration"].mean == pytest.approx(sum(initial) / 6, rel=1e-12)
    assert found["  shoulders"].maximum == max(errors[0]["left_shoulder"], errors[0]["right_shoulder"])


@settings(max_examples=50, deadline=None)
@given(
    angle=st.floats(0.0, np.pi),
    numbers=st.lists(st.floats(-1.0, 1.0).filter(lambda x: abs(x) > 0.01), min_size=7, max_size=7),
)
def test_the_angle_of_a_turn_is_found_small_or_large(angle, numbers):
    axis = np.array(numbers[:3]) / np.linalg.norm(numbers[:3])
    start = Rotation.from_quat(numbers[3:])
    turned = Rotation.from_rotvec(angle * axis) * start
    # Near π the sine is flat: an error of rounding is an angle of its square root.
    found = rotation_angle(turned.as_matrix()[None], start.as_matrix()[None])
    assert found[0] == pytest.approx(angle, abs=1e-13 if angle < 1.0 else 1e-7)


# Of the recorded upper arm and forearm; real skeletons differ by 5 %.
STRETCH = {"left": (0.94, 0.97), "right": (1.05, 1.06)}
RAISED = {"left": np.array([0.008, 0.005, 0.012]), "right": np.zeros(3)}


def uneven(joints, segments):
    """Arms stretched and a shoulder moved; (..., 3) joints and (..., 4, 4) segments, directions kept."""
    joints, segments = dict(joints), {name: pose.copy() for name, pose in segments.items()}
    for side, (upper, fore) in STRETCH.items():
        old = [joints[f"{side}_{name}"] for name in ("shoulder", "elbow", "wrist")]
        shoulder = old[0] + RAISED[side]
        elbow = shoulder + upper * (old[1] - old[0])
        new = [shoulder, elbow, elbow + fore * (old[2] - old[1])]
        for at, (name, segment) in enumerate(
            (("shoulder", "upper_arm"), ("elbow", "forearm"), ("wrist", "hand"))
        ):
            joints[f"{side}_{name}"] = new[at]
            segments[f"{side}_{segment}"][..., :3, 3] += new[at] - old[at]
    return joints, segments


@pytest.fixture(scope="module")
def motion(drawer_motion):
    initial = InitialPose(*uneven(drawer_motion.initial.joints, drawer_motion.initial.segments))
    joints, segments = uneven(drawer_motion.joints, drawer_motion.segments)
    return HumanMotion(drawer_motion.time, joints, segments, initial, "uneven")


@pytest.fixture(scope="module")
def actor(romeo, motion):
    return calibrate(romeo, motion)


def test_each_arm_is_stretched_as_the_persons_is(actor, drawer_actor):
    for side, (upper, fore) in STRETCH.items():
        assert actor.lengths[1][side] == pytest.approx(upper * drawer_actor.lengths[1][side])
        assert actor.lengths[2][side] == pytest.approx(fore * drawer_actor.lengths[2][side])


def test_the_initial_configuration_is_met(romeo, actor, motion):
    data = actor.model.createData()
    pin.framesForwardKinematics(actor.model, data, actor.q)
    apart = [
        np.linalg.norm(
            data.oMf[actor.model.getFrameId(romeo.frames[name])].translation - motion.initial.joints[name]
        )
        for name in ARM_JOINTS
    ]
    assert np.mean(apart) < 0.0005
    assert max(apart) < 0.001


def test_both_hands_follow_as_those_of_even_arms_do(actor, motion, drawer_imitation, drawer_motion):
    even = imitation_errors(drawer_imitation, drawer_motion)[1]
    errors = imitation_errors(imitate(actor, motion), motion)[1]
    for side in STRETCH:
        assert errors[f"{side}_wrist"].mean() < even[f"{side}_wrist"].mean() + 5e-5
        assert errors[f"{side}_wrist"].max() < 0.003
