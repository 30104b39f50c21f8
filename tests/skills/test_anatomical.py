"""A person's own joints: skeleton and postures from a recording, and the law that moves them."""

from dataclasses import replace

import numpy as np
import pinocchio as pin
import pytest

from simbench.errors import MotionError
from simbench.kinematics.redundancy_body import (
    add_clavicle_jacobian,
    compute_hand_jacobian,
    compute_joint_limit_stiffness,
    compute_lower_limit,
    update_body_poses,
    update_clavicles,
)
from simbench.kinematics.redundancy_criteria import CRITERIA, Quadratic
from simbench.kinematics.redundancy_law import LawConstants, TaskPath
from simbench.kinematics.task_matrix import make_workspace
from simbench.kinematics.tree import joint_axes
from simbench.motion.actors.palm_control import (
    Manner,
    Reacher,
    compute_least_abduction,
    compute_palm_poses,
    follow_palms,
    make_hold,
)
from simbench.motion.actors.people import ActorStrategy
from simbench.motion.actors.session import perform_in_session
from simbench.motion.actors.virtual_mocap import MocapErrors, record_mocap
from simbench.motion.human_motion import InitialPose, mean_frame
from simbench.retargeting.imitation.weighted_posture import chain_coordinates
from simbench.robot.sides import SIDES
from simbench.skills.anatomical_motion import compute_postures, prepare_anatomical_motion, prepare_motion
from simbench.skills.anatomical_person import build_anatomical_body, fit_human
from simbench.skills.inverse_optimal_control import compute_path_errors
from simbench.skills.law_motion import follow_path
from simbench.skills.task_motion import TaskMotion

PERIOD = 0.01


@pytest.fixture(scope="module")
def performance(made_once):
    return made_once("paddles-performance", lambda: perform_in_session(2018, 3, "canoe_paddles"))


@pytest.fixture(scope="module")
def bare(performance):
    """The same recording by a system without noise, markers screwed to the bones."""
    joints, segments = record_mocap(
        performance.human, performance.q, MocapErrors(0.0, 0.0, 0.0), np.random.default_rng(0)
    )
    still = slice(0, performance.phases["icp"][1] + 1)
    return replace(
        performance.motion,
        joints=joints,
        segments=segments,
        initial=InitialPose(
            {name: places[still].mean(axis=0) for name, places in joints.items()},
            {name: mean_frame(frames[still]) for name, frames in segments.items()},
        ),
    )


@pytest.fixture(scope="module")
def task(performance) -> TaskMotion:
    return prepare_anatomical_motion(performance.motion, span=(3.6, 5.0))


def test_skeleton_is_the_persons(performance, bare):
    human, true = fit_human(bare), performance.human
    for part in ("upper_arm", "forearm", "shoulder_half_width"):
        assert getattr(human.proportions, part) == pytest.approx(getattr(true.proportions, part), rel=1e-3)
    assert human.shoulder_lift == pytest.approx(true.shoulder_lift, abs=0.03)


def test_postures_are_the_persons(performance, bare):
    q = compute_postures(fit_human(bare), bare)
    away = np.degrees(q - performance.q)[performance.contact_start :, 7:]
    # What is left is the initial pose, which nobody holds exactly.
    assert np.abs(away.mean(axis=0)).max() < 1.5
    assert away.std(axis=0).max() < 0.3


def test_noise_leaves_a_fraction_of_a_degree(performance):
    q = compute_postures(fit_human(performance.motion), performance.motion)
    away = np.degrees(q - performance.q)[performance.contact_start :, 7:]
    assert away.std(axis=0).max() < 0.5


def test_girdle_is_part_of_the_jacobian(task):
    """Against central differences of the wrists' places, clavicles going along."""
    body, work = task.body, make_workspace(task.body.tree)
    q = task.imitated[40] + np.random.default_rng(2).normal(0.0, 0.1, len(task.names))

    def places(x):
        x = x.copy()
        update_clavicles(body.anatomy, x)
        update_body_poses(body, x, work)
        return np.array(
            [
                work.rotation[b] @ point + work.position[b]
                for b, point in zip(body.hand_body, body.hand_point, strict=True)
            ]
        )

    step = 1e-6
    expected = np.array(
        [
            (places(q + step * unit) - places(q - step * unit)) / (2.0 * step)
            for unit in np.eye(len(q))[body.resolved]
        ]
    )
    update_clavicles(body.anatomy, q)
    update_body_poses(body, q, work)
    joint_axes(body.tree, work.rotation, work.position, work.position[0], work.axes)
    columns = np.zeros((len(body.resolved), 12))
    compute_hand_jacobian(body, work, body.resolved, columns)
    alone = columns.copy()
    add_clavicle_jacobian(body, work, q, columns)
    np.testing.assert_allclose(columns.reshape(-1, 2, 6)[:, :, :3], expected, atol=1e-8)
    assert np.abs(columns - alone).max() > 1e-3


def test_trunk_and_tissue_are_those_of_people(task):
    anatomy, names = task.body.anatomy, task.names
    arm = names.index("right_shoulder_abduction")
    q = np.zeros(len(names))
    for flexion in np.linspace(-0.5, 2.5, 13):
        q[names.index("right_shoulder_flexion")] = flexion
        least = compute_lower_limit(anatomy, -np.inf, arm, q)
        assert least == pytest.approx(float(compute_least_abduction(np.array(flexion))) - anatomy.slack[arm])
    scale = np.empty(len(names))
    elbow = names.index("left_elbow_flexion")
    low, high = anatomy.lower[elbow], anatomy.upper[elbow]
    q[elbow] = 0.5 * (low + high)
    compute_joint_limit_stiffness(anatomy, q, scale)
    assert scale[elbow] == 1.0
    q[elbow] = high
    compute_joint_limit_stiffness(anatomy, q, scale)
    assert scale[elbow] == pytest.approx(1.0 + anatomy.stiffening * (1.0 - anatomy.free_fraction) ** 2)


@pytest.mark.parametrize(
    "weights",
    [(0.8, 0.1, 0.0, 0.1), (0.0, 1.0, 0.0, 0.0), (0.0, 0.1, 0.0, 0.9), (0.002, 0.002, 0.995, 0.001)],
)
def test_law_moves_as_the_virtual_person_does(performance, weights):
    """Both forms of equation 4.23 with habit, tissue and trunk: NumPy on Pinocchio, and the compiled tree."""
    human = performance.human
    first, last = performance.contact_start, performance.contact_start + 150
    reacher, start = Reacher(human), performance.q[first]
    # At rest: the compiled law counts what the pelvis's sway does through A, the virtual person does not.
    pelvis = np.tile(start[:7], (last - first, 1))
    palms = np.array([compute_palm_poses(reacher, q) for q in performance.q[first:last]])
    strategy, home = ActorStrategy(*weights, memory=0.6), np.tile(start[reacher.in_q], (last - first, 1))
    manner = Manner(make_hold(dict.fromkeys(SIDES)), strategy, PERIOD)
    q = follow_palms(reacher, start, pelvis, palms, home, manner)
    coordinates = chain_coordinates(q)
    body, names = build_anatomical_body(human, coordinates)
    model, data = human.model, human.model.createData()
    frames = [human.frames[f"{side}_wrist"] for side in SIDES]
    inner = [human.frames[f"{side}_{joint}"] for side in SIDES for joint in ("shoulder", "elbow")]
    rotation, position, points = (
        np.empty((len(q), 2, 3, 3)),
        np.empty((len(q), 2, 3)),
        np.empty((len(q), 4, 3)),
    )
    for t, at in enumerate(q):
        pin.framesForwardKinematics(model, data, at)
        rotation[t] = [data.oMf[frame].rotation for frame in frames]
        position[t] = [data.oMf[frame].translation for frame in frames]
        points[t] = [data.oMf[frame].translation for frame in inner]
    path = TaskPath(
        coordinates[0], coordinates, rotation, position, points, chain_coordinates(start[None])[0]
    )
    task = TaskMotion(
        body,
        path,
        LawConstants(PERIOD, 400.0, 10.0, 0.6),
        names,
        PERIOD * np.arange(len(q)),
        coordinates,
        "test",
    )
    assert compute_path_errors(task, weights).max() < 5e-4
    assert compute_path_errors(task, np.roll(weights, 1)).max() > 5e-3


def test_compiled_and_general_laws_agree(task):
    weights = [0.4, 0.3, 0.2, 0.1]
    still = {**CRITERIA, "none": lambda body, state: Quadratic(np.eye(len(state.q)), np.zeros_like(state.q))}
    np.testing.assert_allclose(
        follow_path(task, [*weights, 0.0], still), follow_path(task, weights), atol=1e-7
    )
    other = replace(task, constants=task.constants._replace(habit=0.0))
    assert np.abs(follow_path(other, weights) - follow_path(task, weights)).max() > 1e-3


def test_home_is_where_the_hands_arrived(performance):
    task = prepare_anatomical_motion(performance.motion)
    contact = performance.q[performance.contact_start]
    away = np.abs(task.path.home[6:] - contact[7:])
    assert np.degrees(away).max() < 3.0
    assert task.time[0] > performance.motion.time[performance.contact_start] + 0.2


def test_without_trunk_the_model_is_the_thesiss(performance):
    motion = performance.motion
    held = (motion.segments, motion.initial.segments)
    armed, initial = ({name: kept[name] for name in kept if name != "trunk"} for kept in held)
    armed = replace(motion, segments=armed, initial=replace(motion.initial, segments=initial))
    assert "TrunkYaw" in prepare_motion(armed, span=(3.6, 4.0)).names
    assert "spine_twist" in prepare_motion(motion, span=(3.6, 4.0)).names
    assert "TrunkYaw" in prepare_motion(motion, span=(3.6, 4.0), skeleton="romeo").names
    with pytest.raises(MotionError):
        prepare_anatomical_motion(armed)
    with pytest.raises(MotionError):
        prepare_anatomical_motion(replace(motion, actor=None))
    with pytest.raises(MotionError):
        prepare_anatomical_motion(motion, span=(3.6, 3.601))
