"""Bodies and joint axes of compiled trees, against Pinocchio."""

import numpy as np
import pinocchio as pin
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from simbench.kinematics.rotation import matrix_to_quaternion, quaternion_to_matrix
from simbench.kinematics.task_matrix import make_workspace
from simbench.kinematics.tree import (
    first_joint,
    frame_on_body,
    frame_poses,
    joint_axes,
    kinematic_tree,
    place_bodies,
)

seeds = st.integers(0, 2**32 - 1)


def slider_model():
    """A turning joint, a slider on it along a slanted axis, and a turning joint on that."""
    model = pin.Model()
    place = pin.SE3(pin.exp3(np.array([0.3, -0.5, 0.8])), np.array([0.1, 0.2, -0.3]))
    first = model.addJoint(0, pin.JointModelRY(), place, "first")
    axis = np.array([1.0, 2.0, 2.0]) / 3.0
    second = model.addJoint(first, pin.JointModelPrismaticUnaligned(*axis), place, "second")
    model.addJoint(second, pin.JointModelRevoluteUnaligned(*axis), place, "third")
    return model


def put(model, rng):
    """Place a random configuration by both; returns Pinocchio's data and ours."""
    joints = rng.uniform(-2.0, 2.0, model.nq - (7 if first_joint(model) == 2 else 0))
    root = pin.SE3.Random() if first_joint(model) == 2 else pin.SE3.Identity()
    q = np.concatenate([pin.SE3ToXYZQUAT(root), joints]) if first_joint(model) == 2 else joints
    data = model.createData()
    pin.computeJointJacobians(model, data, q)
    tree = kinematic_tree(model)
    work = make_workspace(tree)
    work.rotation[0], work.position[0] = root.rotation, root.translation
    place_bodies(tree, joints, work.rotation, work.position)
    return tree, work, data


@settings(max_examples=25, deadline=None)
@given(seed=seeds, which=st.sampled_from(["romeo", "puma", "slider"]))
def test_bodies_and_axes_are_pinocchios(upper_romeo, puma_model, seed, which):
    model = {"romeo": upper_romeo, "puma": puma_model, "slider": slider_model()}[which]
    rng = np.random.default_rng(seed)
    pin.seed(seed % 2**31)
    tree, work, data = put(model, rng)
    first = first_joint(model)
    for joint in range(first, model.njoints):
        np.testing.assert_allclose(work.rotation[joint - first + 1], data.oMi[joint].rotation, atol=1e-12)
        np.testing.assert_allclose(work.position[joint - first + 1], data.oMi[joint].translation, atol=1e-12)
    origin = rng.normal(size=3)
    joint_axes(tree, work.rotation, work.position, origin, work.axes)
    for joint in range(first, model.njoints):
        # The joint's own column, as the motion of its body, moved to the origin.
        column = pin.getJointJacobian(model, data, joint, pin.ReferenceFrame.LOCAL_WORLD_ALIGNED)[
            :, model.joints[joint].idx_v
        ]
        at_origin = column[:3] + np.cross(column[3:], origin - data.oMi[joint].translation)
        np.testing.assert_allclose(
            work.axes[joint - first], np.concatenate([at_origin, column[3:]]), atol=1e-12
        )


def test_frames_ride_on_their_bodies(upper_romeo):
    tree, work, data = put(upper_romeo, np.random.default_rng(1))
    pin.updateFramePlacements(upper_romeo, data)
    for index, frame in enumerate(upper_romeo.frames):
        if frame.name == "universe":
            continue
        body, turn, point = frame_on_body(upper_romeo, index)
        np.testing.assert_allclose(work.rotation[body] @ turn, data.oMf[index].rotation, atol=1e-12)
        place = work.position[body] + work.rotation[body] @ point
        np.testing.assert_allclose(place, data.oMf[index].translation, atol=1e-12)
    assert len(tree.parent) == 15


@settings(max_examples=50, deadline=None)
@given(seed=seeds, half_turn=st.booleans())
def test_quaternions_there_and_back(seed, half_turn):
    rng = np.random.default_rng(seed)
    axis = rng.normal(size=3)
    axis /= np.linalg.norm(axis)
    # Half turns have w = 0, where the usual formula divides by zero.
    matrix = pin.exp3(axis * (np.pi if half_turn else rng.uniform(0.0, np.pi)))
    quaternion = matrix_to_quaternion(matrix)
    assert np.linalg.norm(quaternion) == pytest.approx(1.0, abs=1e-15)
    back = np.empty((3, 3))
    quaternion_to_matrix(*quaternion, back)
    np.testing.assert_allclose(back, matrix, atol=1e-12)


def test_frames_along_a_motion_are_pinocchios(upper_romeo, romeo):
    rng = np.random.default_rng(5)
    joints = rng.uniform(-1.0, 1.0, (7, upper_romeo.nq - 7))
    path = np.hstack([[pin.SE3ToXYZQUAT(pin.SE3.Random()) for _ in joints], joints])
    frames = [upper_romeo.getFrameId(romeo.frames[role]) for role in ("left_hand", "right_shoulder")]
    data = upper_romeo.createData()
    for frame, poses in zip(frames, frame_poses(upper_romeo, frames, path), strict=True):
        for q, pose in zip(path, poses, strict=True):
            pin.framesForwardKinematics(upper_romeo, data, q)
            np.testing.assert_allclose(pose, data.oMf[frame].homogeneous, atol=1e-12)


def test_frames_of_a_fixed_arm_stand_on_the_base_that_its_motion_names(puma_model):
    rng = np.random.default_rng(3)
    base, joints = pin.SE3(pin.exp3(rng.normal(size=3)), rng.normal(size=3)), rng.uniform(-2.0, 2.0, (4, 6))
    frames = [frame for frame in range(puma_model.nframes) if puma_model.frames[frame].type == pin.BODY]
    still = np.tile(pin.SE3ToXYZQUAT(base), (len(joints), 1))
    data = puma_model.createData()
    for path, root in ((np.hstack([still, joints]), base), (joints, pin.SE3.Identity())):
        found = frame_poses(puma_model, frames, path)
        for sample, q in enumerate(joints):
            pin.framesForwardKinematics(puma_model, data, q)
            for frame, poses in zip(frames, found, strict=True):
                np.testing.assert_allclose(poses[sample], (root * data.oMf[frame]).homogeneous, atol=1e-12)
