"""Whole motions by laws: hands, limits, given joints, own criteria, fitness."""

from dataclasses import replace

import numpy as np
import pinocchio as pin
import pytest
from single_laws import weighted_law

from simbench.errors import MotionError, SkillError
from simbench.kinematics.redundancy_body import update_body_poses
from simbench.kinematics.redundancy_criteria import CRITERIA, Quadratic, compute_weighted_sum
from simbench.kinematics.task_matrix import make_workspace
from simbench.robot.human_skeleton import BASE_JOINTS
from simbench.skills.inverse_optimal_control import compute_path_errors, make_fitness
from simbench.skills.law_motion import follow_path, observe
from simbench.skills.task_motion import build_person, prepare_romeo_motion


def pinocchio_model(motion, task):
    """The same person on the thesis's virtual joints, built anew: legs weigh nothing, the head is fixed."""
    human, _ = build_person(motion.actor, motion.initial, "test")
    source = human.robot.model
    kept = {"universe", "root_joint", *task.names}
    locks = [source.getJointId(name) for name in source.names if name not in kept]
    upper = pin.buildReducedModel(source, locks, pin.neutral(source))
    model = pin.Model()
    parent = 0
    kinds = (pin.JointModelPZ(), pin.JointModelPY(), pin.JointModelPX())
    kinds += (pin.JointModelRZ(), pin.JointModelRX(), pin.JointModelRY())
    for name, kind in zip(BASE_JOINTS, kinds, strict=True):
        parent = model.addJoint(parent, kind, pin.SE3.Identity(), name)
    ids = {1: parent}
    for joint in range(2, upper.njoints):
        ids[joint] = model.addJoint(
            ids[upper.parents[joint]], pin.JointModelRZ(), upper.jointPlacements[joint], upper.names[joint]
        )
        model.appendBodyToJoint(ids[joint], upper.inertias[joint], pin.SE3.Identity())
    return model, human


def test_body_is_the_person_on_virtual_joints(pump_motion, whole_body):
    model, human = pinocchio_model(pump_motion, whole_body)
    assert tuple(model.names)[1:] == whole_body.names
    data = model.createData()
    q = whole_body.imitated[50] + np.random.default_rng(1).normal(0.0, 0.3, model.nq)
    state = observe(whole_body.body, whole_body.constants, q)
    # Both arms of the virtual actor are equal to some millimetres of noise, which the model keeps.
    theirs = pin.crba(model, data, q)
    theirs = np.triu(theirs) + np.triu(theirs, 1).T
    pelvis = state.inertia[0, 0] - theirs[0, 0]
    assert pelvis == pytest.approx(human.body.segments["lower_trunk"].mass, rel=1e-9)
    np.testing.assert_allclose(state.inertia[6:, 6:], theirs[6:, 6:], atol=2e-3 * theirs[6:, 6:].max())
    pin.computeJointJacobians(model, data, q)
    pin.updateFramePlacements(model, data)
    for h, name in enumerate(("LWristPitch", "RWristPitch")):
        jacobian = pin.getJointJacobian(
            model, data, model.getJointId(name), pin.ReferenceFrame.LOCAL_WORLD_ALIGNED
        )
        np.testing.assert_allclose(state.jacobian[6 * h : 6 * h + 6], jacobian, atol=5e-3)


def test_inertia_is_positive_definite_without_the_legs(whole_body, states):
    for _, state, _ in states:
        assert np.linalg.eigvalsh(state.inertia).min() > 1e-5
        assert 25.0 < state.inertia[0, 0] < 60.0


@pytest.mark.parametrize("weights", [*np.eye(4), [0.4, 0.3, 0.2, 0.1]])
@pytest.mark.parametrize("name", ["whole_body", "arms"])
def test_hands_stay_on_their_path(request, name, weights):
    task = request.getfixturevalue(name)
    motion = follow_path(task, weights)
    rotation, position = poses(task, motion)
    assert np.abs(position - task.path.hand_position).max() < 1e-6
    turned = np.linalg.norm(rotation - task.path.hand_rotation, axis=(2, 3)) / np.sqrt(2.0)
    assert turned.max() < 1e-6
    told = [k for k in range(len(task.names)) if k not in task.body.resolved]
    np.testing.assert_array_equal(motion[:, told], task.imitated[:, told])


def poses(task, motion):
    """Hands by matrices of the tree's placements, one joint after the other."""
    tree, body = task.body.tree, task.body
    rotations, positions = [], []
    for q in motion:
        places = [pin.SE3.Identity()]
        for k, value in enumerate(q):
            axis = tree.axis[k] * value
            turn = pin.SE3(np.eye(3), axis) if tree.sliding[k] else pin.SE3(pin.exp3(axis), np.zeros(3))
            places.append(places[tree.parent[k]] * pin.SE3(tree.rotation[k], tree.translation[k]) * turn)
        hands = [places[b] for b in body.hand_body]
        rotations.append([hand.rotation for hand in hands])
        positions.append([hand.act(point) for hand, point in zip(hands, body.hand_point, strict=True)])
    return np.array(rotations), np.array(positions)


def test_first_step_is_the_law(arms):
    """Without correction and shortening a step is Δt q̇ of eq. 4.23; what is added is of second order."""
    weights = np.array([0.4, 0.3, 0.2, 0.1])
    motion = follow_path(arms, weights)
    steps = np.abs(np.diff(motion, axis=0)).max(axis=1)
    t = int(np.argmin(np.abs(steps - 4e-3)))
    q = motion[t].copy()
    told = np.setdiff1d(np.arange(len(q)), arms.body.resolved)
    q[told] = arms.imitated[t + 1, told]
    state = observe(arms.body, arms.constants, q)
    rotation, position = poses(arms, [q])
    twist = [
        np.concatenate(
            [
                arms.path.hand_position[t + 1, h] - position[0, h],
                pin.log3(arms.path.hand_rotation[t + 1, h] @ rotation[0, h].T),
            ]
        )
        for h in range(2)
    ]
    forms = [criterion(arms.body, state) for criterion in CRITERIA.values()]
    speed = weighted_law(
        compute_weighted_sum(forms, weights), state.jacobian, np.concatenate(twist) / arms.constants.period
    )
    moved = (motion[t + 1] - motion[t])[arms.body.resolved]
    assert steps[t] == pytest.approx(4e-3, rel=0.1)
    np.testing.assert_allclose(moved, arms.constants.period * speed, atol=1e-4)


def test_compiled_and_general_rollout_agree(arms):
    weights = [0.4, 0.3, 0.2, 0.1]

    def rest(body, state):
        """Come to zero: a criterion of one's own."""
        return Quadratic(np.eye(len(state.q)), state.q)

    compiled = follow_path(arms, weights)
    general = follow_path(arms, [*weights, 0.0], {**CRITERIA, "rest": rest})
    np.testing.assert_allclose(general, compiled, atol=1e-7)
    other = follow_path(arms, [*(0.5 * np.array(weights)), 0.5], {**CRITERIA, "rest": rest})
    assert np.abs(other - compiled).max() > 1e-3


def test_own_motion_has_no_error(arms, whole_body):
    rng = np.random.default_rng(4)
    for task in (arms, whole_body):
        for weights in rng.dirichlet(np.ones(4), 3):
            motion = follow_path(task, weights)
            own = replace(task, path=task.path._replace(points=points(task, motion)))
            fitness = make_fitness(own)
            exact, other = fitness([weights, rng.dirichlet(np.ones(4))]) / own.duration
            assert exact < 1e-9
            assert other > 1e-5


def points(task, motion):
    work = make_workspace(task.body.tree)
    found = np.empty((len(motion), 4, 3))
    for t, q in enumerate(motion):
        update_body_poses(task.body, q, work)
        for p, b in enumerate(task.body.point_body):
            found[t, p] = work.rotation[b] @ task.body.point[p] + work.position[b]
    return found


def test_fitness_is_the_trapezoidal_integral(arms):
    weights = np.array([[0.1, 0.7, 0.1, 0.1], [0.0, 1.0, 0.0, 0.0]])
    errors = compute_path_errors(arms, weights)
    motion = follow_path(arms, weights[0])
    away = (points(arms, motion) - arms.path.points).reshape(len(motion), 12)
    np.testing.assert_allclose(errors[0], np.linalg.norm(away, axis=1), atol=1e-12)
    fitness = make_fitness(arms)(weights)
    inner = errors[:, 1:-1].sum(axis=1) + 0.5 * (errors[:, 0] + errors[:, -1])
    np.testing.assert_allclose(fitness, arms.constants.period * inner, rtol=1e-12)
    assert arms.duration == pytest.approx(arms.time[-1] - arms.time[0])
    np.testing.assert_array_equal(make_fitness(arms)(weights[1]), fitness[1:])


def test_joint_limits_are_kept(arms):
    weights = [0.3, 0.4, 0.2, 0.1]
    free = follow_path(arms, weights)
    ranges = np.ptp(free[:, arms.body.resolved], axis=0)
    joint = int(arms.body.resolved[np.argmax(ranges)])
    upper = arms.body.upper.copy()
    upper[joint] = 0.3 * free[:, joint].min() + 0.7 * free[:, joint].max()
    limited = replace(arms, body=arms.body._replace(upper=upper))
    motion = follow_path(limited, weights)
    assert (motion[:, joint] <= upper[joint] + 1e-12).all()
    assert 10 < np.isclose(motion[:, joint], upper[joint], rtol=0, atol=1e-12).sum() < len(motion)
    _, position = poses(limited, motion)
    assert np.abs(position - limited.path.hand_position).max() < 1e-6


def test_a_corner_without_a_way_out_is_named(pump_motion):
    task = prepare_romeo_motion(pump_motion, span=(3.4, 8.0), limited=True)
    with pytest.raises(SkillError):
        follow_path(task, [0.0, 0.0, 1.0, 0.0])
    fitness = make_fitness(task)([[0.0, 0.0, 1.0, 0.0], [0.0, 1.0, 0.0, 0.0]])
    assert np.isinf(fitness[0])
    assert np.isfinite(fitness[1])


def test_one_hand(pump_motion):
    task = prepare_romeo_motion(pump_motion, span=(3.4, 5.0), hands=("right",))
    motion = follow_path(task, [0.0, 1.0, 0.0, 0.0])
    _, position = poses(task, motion)
    assert np.abs(position - task.path.hand_position).max() < 1e-6
    left = [task.names.index(name) for name in task.names if name.startswith("L")]
    np.testing.assert_array_equal(np.ptp(motion[:, left], axis=0), 0.0)


def test_unknown_coordinates_and_motions_without_repetition_are_refused(pump_motion):
    with pytest.raises(MotionError, match="Tail: unknown"):
        prepare_romeo_motion(pump_motion, given=("Tail",))
    still = replace(
        pump_motion,
        joints={name: np.repeat(p[:1], len(p), axis=0) for name, p in pump_motion.joints.items()},
        segments={name: np.repeat(p[:1], len(p), axis=0) for name, p in pump_motion.segments.items()},
    )
    with pytest.raises(MotionError):
        prepare_romeo_motion(still)
    with pytest.raises(MotionError):
        prepare_romeo_motion(pump_motion, span=(3.4, 3.401))
