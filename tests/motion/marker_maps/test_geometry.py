"""The vectorised constructions against closed forms and general-purpose solvers."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import minimize
from scipy.spatial.transform import Rotation

from simbench.motion.marker_maps.map_evaluation import (
    build_axes_frame,
    compute_chord_centre,
    compute_hinge_centre,
    compute_swung_axis,
    estimate_flexion_axis,
    fit_cluster_pose,
)
from simbench.motion.marker_maps.recorded_body import CENTRE_VARIANCE, project_to_lengths

seeds = st.integers(0, 2**32 - 1)


@settings(max_examples=100, deadline=None)
@given(seeds, st.permutations("xyz"))
def test_frames_of_two_axes_are_rotations_with_these_axes(seed, order):
    primary, secondary = np.random.default_rng(seed).normal(size=(2, 5, 3))
    rotation = build_axes_frame(order[0], primary, order[1], secondary)
    np.testing.assert_allclose(np.linalg.det(rotation), 1.0)
    np.testing.assert_allclose(
        rotation @ np.swapaxes(rotation, 1, 2), np.tile(np.eye(3), (5, 1, 1)), atol=1e-12
    )
    first = rotation[:, :, "xyz".index(order[0])]
    np.testing.assert_allclose(first * np.linalg.norm(primary, axis=1, keepdims=True), primary)
    assert np.all((rotation[:, :, "xyz".index(order[1])] * secondary).sum(axis=1) > 0)


@settings(max_examples=100, deadline=None)
@given(seeds, st.sampled_from(["left", "right"]), st.floats(0.0, 2.5))
def test_the_hinge_is_found_inside_its_lateral_marker(seed, side, flexion):
    rng = np.random.default_rng(seed)
    frame = Rotation.random(4, random_state=rng).as_matrix()
    elbow = rng.normal(size=(4, 3))
    bend = Rotation.from_rotvec([0.0, 0.0, -flexion if side == "left" else flexion]).as_matrix()
    shoulder, wrist = elbow - 0.3 * frame[:, :, 0], elbow + 0.25 * (frame @ bend)[:, :, 0]
    marker = elbow + 0.04 * frame[:, :, 2]
    np.testing.assert_allclose(compute_hinge_centre(side, shoulder, marker, wrist, 0.04), elbow, atol=1e-8)


def test_the_chord_sees_limb_and_marker_under_a_right_angle():
    hip, knee = np.zeros((1, 3)), np.array([[0.0, 0.0, -0.42]])
    marker, wand = knee + np.array([[0.0, 0.05, 0.0]]), np.array([[0.02, 0.12, -0.2]])
    found = compute_chord_centre(hip, marker, marker - wand, 0.05)
    assert np.linalg.norm(found - marker) == pytest.approx(0.05)
    assert (found - hip)[0] @ (found - marker)[0] == pytest.approx(0.0, abs=1e-12)
    assert np.linalg.det([found[0] - hip[0], marker[0] - hip[0], wand[0] - hip[0]]) == pytest.approx(
        0, abs=1e-12
    )
    assert found[0, 1] < 0.01


@settings(max_examples=50, deadline=None)
@given(seeds)
def test_a_rigid_clusters_pose_comes_back(seed):
    rng = np.random.default_rng(seed)
    model = rng.normal(size=(5, 3))
    # Four of five in a plane: a reflection would fit nearly as well.
    model[:, 2] *= 0.01
    rotation, origin = Rotation.random(6, random_state=rng).as_matrix(), rng.normal(size=(6, 3))
    markers = origin[:, None] + model @ np.swapaxes(rotation, 1, 2)
    found, place = fit_cluster_pose(markers, model)
    np.testing.assert_allclose(found, rotation, atol=1e-9)
    np.testing.assert_allclose(place, origin, atol=1e-9)


def test_bones_keep_their_length_by_the_smallest_weighted_movement():
    rng = np.random.default_rng(5)
    true = np.array([[0.0, 0.0, 0.0], [0.3, 0.0, 0.0], [0.35, 0.25, 0.0]])
    measured = true + rng.normal(0.0, 0.01, (51, 3, 3))
    kept = np.stack(project_to_lengths(*measured.transpose(1, 0, 2)), axis=1)
    lengths = np.median(np.linalg.norm(np.diff(measured, axis=1), axis=2), axis=0)
    np.testing.assert_allclose(
        np.linalg.norm(np.diff(kept, axis=1), axis=2), np.tile(lengths, (51, 1)), atol=1e-11
    )

    def cost(points, frame):
        return (((points.reshape(3, 3) - measured[frame]) ** 2).sum(axis=1) / CENTRE_VARIANCE).sum()

    for frame in (0, 17, 50):
        bones = {
            "type": "eq",
            "fun": lambda points: np.linalg.norm(np.diff(points.reshape(3, 3), axis=0), axis=1) - lengths,
        }
        other = minimize(cost, measured[frame].ravel(), (frame,), "SLSQP", constraints=[bones], tol=1e-14)
        assert cost(kept[frame].ravel(), frame) == pytest.approx(other.fun, rel=1e-6)
        np.testing.assert_allclose(kept[frame].ravel(), other.x, atol=1e-5)


def test_rigid_bones_are_left_alone():
    shoulder = np.random.default_rng(1).normal(size=(20, 3))
    elbow, wrist = shoulder + np.array([0.3, 0.0, 0.0]), shoulder + np.array([0.3, 0.25, 0.0])
    for found, given_ in zip(
        project_to_lengths(shoulder, elbow, wrist), (shoulder, elbow, wrist), strict=True
    ):
        np.testing.assert_allclose(found, given_, atol=1e-14)


def test_a_straight_arm_keeps_the_axis_it_had_when_it_bent():
    rng = np.random.default_rng(2)
    time = np.arange(300) / 100.0
    # Bent for a second, straight for another, while the arm swings about its own flexion axis, y; bent again.
    flexion = np.interp(time, [0.0, 0.8, 1.0, 2.0, 2.2, 3.0], [0.8, 0.8, 0.0, 0.0, 0.8, 0.8])
    swing = 0.5 * np.sin(2 * time)
    shoulder = np.zeros((300, 3))
    elbow = 0.3 * np.stack([np.sin(swing), 0 * time, -np.cos(swing)], axis=1)
    wrist = elbow + 0.25 * np.stack([np.sin(swing + flexion), 0 * time, -np.cos(swing + flexion)], axis=1)
    noisy = [track + rng.normal(0.0, 0.001, track.shape) for track in (shoulder, elbow, wrist)]
    axis = estimate_flexion_axis(*noisy, rate=100.0)
    # Forward flexion turns about -y.
    assert np.degrees(np.arccos(np.clip(-axis[:, 1], -1, 1))).max() < 4.0
    raw = np.cross(noisy[1] - noisy[0], noisy[2] - noisy[1])[120:180]
    assert (raw[:, 1] > 0).any()


@pytest.mark.parametrize("side", ["left", "right"])
def test_an_arm_that_never_bends_swings_without_axial_rotation(side):
    angle = np.linspace(0.0, 2.0, 60)
    trunk = np.tile(np.eye(3), (60, 1, 1))
    for turn_axis in ([0.0, -1.0, 0.0], [1.0 if side == "left" else -1.0, 0.0, 0.0]):
        swing = Rotation.from_rotvec(np.outer(angle, turn_axis)).as_matrix()
        hanging = np.array(
            [[0, -1, 0], [0, 0, 1], [-1, 0, 0.0]] if side == "left" else [[0, 1, 0], [0, 0, -1], [-1, 0, 0.0]]
        )
        along = (swing @ hanging)[:, :, 0]
        axis = estimate_flexion_axis(
            0 * along, 0.3 * along, 0.55 * along, 100.0, compute_swung_axis(along, trunk)
        )
        found = build_axes_frame("x", along, "z", -axis if side == "left" else axis)
        np.testing.assert_allclose(found, swing @ hanging, atol=1e-6)
