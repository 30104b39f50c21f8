from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest
from scipy.signal import find_peaks

from simbench.motion.actors.free_motions import FREE
from simbench.motion.actors.human_model import ARM_AXES, ARM_JOINT_NAMES, COMFORT
from simbench.motion.actors.people import AVERAGE_PERSON
from simbench.motion.actors.virtual_mocap import MocapErrors, compute_frame_poses
from simbench.motion.phases import find_phases
from simbench.robot.sides import SIDES

FRAMES = {"waving": 642, "signing": 1978, "arms_forward": 1303, "fast_waving": 1273}
REPETITIONS = {"waving": 5, "signing": 5, "arms_forward": 5, "fast_waving": 2}
SCREWED = MocapErrors(position_noise=0.0, angle_noise=0.0, skin=0.0)
# Two standard deviations of everything to both sides, a quick giant and a slow small person.
HABITS = np.radians([10.0, 8.0, 12.0, 12.0, 16.0, 8.0, 4.0])
QUICK = replace(
    AVERAGE_PERSON,
    actor=replace(AVERAGE_PERSON.actor, height=1.95),
    tempo=0.78,
    amplitude=1.22,
    comfort=COMFORT + HABITS,
)
SLOW = replace(
    AVERAGE_PERSON,
    actor=replace(AVERAGE_PERSON.actor, height=1.50),
    tempo=1.27,
    amplitude=0.82,
    comfort=COMFORT - HABITS,
)
PEOPLE = {"average": AVERAGE_PERSON, "quick": QUICK, "slow": SLOW}


def perform(name, person, seed=5, errors=None):
    errors = MocapErrors(skin=person.skin) if errors is None else errors
    return FREE[name](person, np.random.default_rng(seed), errors, f"actor:{name}")


@pytest.fixture(scope="module")
def performances():
    return {(name, who): perform(name, person) for name in FREE for who, person in PEOPLE.items()}


def hand_speed(performance, side):
    return np.linalg.norm(np.gradient(performance.palms[side][:, :3, 3], 1 / 60, axis=0), axis=1)


def in_repetitions(performance):
    return slice(performance.motion.strokes[0, 0], performance.motion.strokes[-1, 1] + 1)


def test_recordings_have_the_frames_that_are_asked_for(performances):
    for (name, _), performance in performances.items():
        motion = performance.motion
        assert len(motion.time) == len(performance.q) == len(performance.travel) == FRAMES[name]
        np.testing.assert_allclose(motion.time, np.arange(FRAMES[name]) / 60.0, atol=1e-12)
        assert motion.source == f"actor:{name}"
        assert motion.actor == performance.human.actor
        assert (performance.strategy, performance.contact_start) == (None, None)
        assert not performance.travel.any()


def test_phases_follow_each_other_and_contain_all_repetitions(performances):
    for (name, _), performance in performances.items():
        spans = [performance.phases[name] for name in ("icp", "tgp", "pmp", "rest")]
        assert spans[0] == (0, 60)
        assert [a[1] + 1 for a in spans[:-1]] == [b[0] for b in spans[1:]]
        assert spans[-1][1] == len(performance.q) - 1
        assert spans[-1][1] - spans[-1][0] > 20
        strokes = performance.motion.strokes
        assert strokes.shape == (REPETITIONS[name], 2)
        assert (strokes[0, 0], strokes[-1, 1]) == spans[2]
        middles = 0.5 * (strokes[:-1, 1] + strokes[1:, 0]) / 60.0
        np.testing.assert_allclose(performance.boundaries[1:-1], middles, atol=1 / 60)
        lengths = np.diff(performance.boundaries)
        assert 0.01 < lengths.std() / lengths.mean() < 0.10


def test_hands_move_as_often_as_there_are_waves_and_signs(performances):
    for (name, _), performance in performances.items():
        speed = np.maximum(*[hand_speed(performance, side) for side in SIDES])[in_repetitions(performance)]
        peaks = find_peaks(speed, height=0.25, prominence=0.2)[0]
        moves = {"waving": 2, "signing": 7, "arms_forward": 2, "fast_waving": 26}[name]
        assert len(peaks) == REPETITIONS[name] * moves
        # Hands stop between the movements.
        assert max(speed[a:b].min() for a, b in pairwise(peaks)) < 0.1


def test_joints_stay_within_their_ranges_and_speeds_are_human(performances):
    limits = np.radians([ARM_AXES[name][1] for name in ARM_JOINT_NAMES])
    for (name, who), performance in performances.items():
        for side in SIDES:
            angles = performance.q[:, performance.human.arms[side]]
            assert (angles >= limits[:, 0] - 1e-9).all(), (name, who)
            assert (angles <= limits[:, 1] + 1e-9).all(), (name, who)
        top = hand_speed(performance, "right")[in_repetitions(performance)].max()
        assert 1.0 < top < 2.5, (name, who, top)


def test_the_finder_finds_the_true_boundaries(performances):
    for (name, who), performance in performances.items():
        found = find_phases(performance.motion)
        assert len(found.boundaries) == REPETITIONS[name] + 1, (name, who)
        np.testing.assert_allclose(found.boundaries, performance.boundaries, atol=0.030, err_msg=name + who)
        assert found.icp[1] == pytest.approx(1.0, abs=0.05)
        assert found.rest[1] == pytest.approx(performance.motion.time[-1])


def test_the_right_hand_waves_beside_the_head_and_the_left_arm_hangs(performances):
    for who in PEOPLE:
        performance = performances["waving", who]
        motion, during = performance.motion, in_repetitions(performance)
        height = performance.human.actor.height
        joints = {name: track[during] for name, track in motion.joints.items()}
        assert (joints["left_elbow"][:, 2] < joints["left_shoulder"][:, 2] - 0.15 * height).all()
        assert (joints["left_wrist"][:, 2] < joints["left_elbow"][:, 2] - 0.11 * height).all()
        assert np.ptp(joints["left_wrist"], axis=0).max() < 0.08
        palm = performance.palms["right"][during]
        head = motion.joints["head"][during]
        assert (np.abs(palm[:, 2, 3] - head[:, 2]) < 0.2 * height).all()
        # To the right of the head throughout, and there and back.
        assert (palm[:, 1, 3] < head[:, 1] - 0.10).all()
        assert 0.2 < np.ptp(palm[:, 1, 3]) < 0.8
        # The palm faces those who are waved at.
        assert (-palm[:, 0, 2] > 0.6).all()


def test_both_arms_hang_and_stretch_forward_with_the_palms_down(performances):
    for who, person in PEOPLE.items():
        performance = performances["arms_forward", who]
        strokes = performance.motion.strokes
        names = [f"{side}_{joint}" for side in SIDES for joint in ("shoulder", "wrist")]
        frames = compute_frame_poses(performance.human, performance.q, names)
        # Habits and variation take the arm some degrees off the horizontal.
        slack = 4.0 if who == "average" else 12.0
        for side in SIDES:
            reach = frames[f"{side}_wrist"][:, :3, 3] - frames[f"{side}_shoulder"][:, :3, 3]
            length = np.linalg.norm(reach, axis=1)
            raised = np.degrees(np.arcsin(reach[:, 2] / length))
            assert (raised[strokes] < -60.0).all()
            for first, last in strokes:
                there = first + np.flatnonzero(raised[first:last] > raised[first:last].max() - 1.0)
                # They stay for a moment.
                assert 0.4 < len(there) / 60.0 < 1.5
                assert abs(raised[there].mean()) < slack + 2.0
                assert length[there].min() > 0.98 * 0.332 * person.actor.height
                assert np.abs(np.degrees(np.arctan2(reach[there, 1], reach[there, 0]))).max() < slack
                assert (performance.palms[side][there, 2, 2] > 0.93).all()
        moving = np.maximum(*[hand_speed(performance, side) for side in SIDES]) > 0.05
        first, last = strokes[0]
        edges = np.flatnonzero(np.diff(moving[first : last + 1].astype(int)))
        forward, back = np.diff(edges)[0] / 60.0, (last - first - edges[2]) / 60.0
        assert 1.0 < forward < 1.8
        assert 1.0 < back < 1.8


def test_the_right_arm_rises_waves_at_2_hz_and_hangs_again_while_the_left_arm_hangs(performances):
    for who, person in PEOPLE.items():
        performance = performances["fast_waving", who]
        motion, height = performance.motion, person.actor.height
        names = [f"{side}_{joint}" for side in SIDES for joint in ("shoulder", "wrist")]
        frames = compute_frame_poses(performance.human, performance.q, names)
        wrist = frames["right_wrist"][:, :3, 3]
        speed = np.linalg.norm(np.gradient(wrist, 1 / 60, axis=0), axis=1)
        for first, last in motion.strokes:
            assert (wrist[[first, last], 2] < frames["right_shoulder"][[first, last], 2, 3] - 0.25).all()
            # The arm is up as long as the hand is near its highest place.
            up = first + np.flatnonzero(wrist[first:last, 2] > wrist[first:last, 2].max() - 0.06)
            palm = performance.palms["right"][up]
            # 12 waves of 1/2 s, and the slow ends of rise and descent.
            assert 5.8 < (up[-1] - up[0]) / 60.0 < 7.2
            assert len(up) == up[-1] - up[0] + 1
            sideways = palm[:, 1, 3] - palm[:, 1, 3].mean()
            spectrum = np.abs(np.fft.rfft(sideways * np.hanning(len(up)), 4096))
            assert np.fft.rfftfreq(4096, 1 / 60)[spectrum.argmax()] == pytest.approx(2.0, rel=0.05)
            turns = sideways[find_peaks(np.abs(sideways), distance=10)[0]]
            low, high = {"slow": (0.11, 0.15), "average": (0.15, 0.19), "quick": (0.19, 0.25)}[who]
            assert low < np.median(np.abs(np.diff(turns))) < high
            assert 0.9 < speed[up].max() < 1.8
            head = motion.joints["head"][up]
            assert (np.abs(palm[:, 2, 3] - head[:, 2]) < 0.1 * height).all()
            assert (palm[:, 1, 3] < head[:, 1] - 0.15).all()
            assert (-palm[:, 0, 2] > 0.85).all()
        during = in_repetitions(performance)
        left = (frames["left_wrist"] - frames["left_shoulder"])[during, :3, 3]
        assert (left[:, 2] < -0.25 * height).all()
        # It sways with the trunk.
        assert np.ptp(left, axis=0).max() < 0.04


def test_signs_differ_in_place_and_orientation_and_hands_do_not_cross(performances):
    for who in PEOPLE:
        performance = performances["signing", who]
        left, right = (performance.palms[side][in_repetitions(performance)] for side in SIDES)
        assert (left[:, 1, 3] > right[:, 1, 3]).all()
        # Before the chest: the sternum is about 0.1 m before the trunk's middle.
        assert min(left[:, 0, 3].min(), right[:, 0, 3].min()) > 0.12
    performance = performances["signing", "average"]
    speed = np.maximum(hand_speed(performance, "left"), hand_speed(performance, "right"))
    first, last = performance.motion.strokes[0]
    peaks = first + find_peaks(speed[first : last + 1], height=0.25, prominence=0.2)[0]
    holds = [a + int(speed[a:b].argmin()) for a, b in pairwise(peaks)]
    assert len(holds) == 6
    poses = [[performance.palms[side][k] for side in SIDES] for k in holds]
    for number, pose in enumerate(poses):
        for other in poses[:number]:
            moved = max(np.linalg.norm(a[:3, 3] - b[:3, 3]) for a, b in zip(pose, other, strict=True))
            assert moved > 0.12
    normals = np.array([pose[0][:3, 2] for pose in poses])
    assert np.degrees(np.arccos(np.clip(normals @ normals.T, -1, 1))).max() > 90
    # The fifth sign: palms together, facing each other.
    together = poses[4]
    assert np.linalg.norm(together[0][:3, 3] - together[1][:3, 3]) < 0.15
    assert together[0][:3, 2] @ together[1][:3, 2] < -0.8


def test_repetitions_vary_and_begin_in_nearly_the_same_place(performances):
    for who in PEOPLE:
        performance = performances["signing", who]
        angles = np.degrees(performance.q[:, performance.human.arms["right"]])
        strokes = performance.motion.strokes
        assert (angles[strokes[:, 0]].std(axis=0) < 1.5).all()
        highest = np.array([angles[first : last + 1].max(axis=0) for first, last in strokes])
        assert highest.std(axis=0).max() > 0.7


def test_there_are_25_markers_on_the_bones(performances):
    performance = perform("waving", AVERAGE_PERSON, errors=SCREWED)
    markers = performance.motion.markers
    assert len(markers) == 25
    assert set(markers) == set(performances["signing", "quick"].motion.markers)
    names = [f"{side}_{segment}" for side in SIDES for segment in ("upper_arm", "hand")]
    bones = compute_frame_poses(
        performance.human, performance.q, [*names, "left_wrist", "left_elbow", "trunk"]
    )
    carriers = {
        "left_biceps": "left_upper_arm",
        "right_elbow_marker": "right_upper_arm",
        "left_wrist_marker": "left_hand",
        "right_thumb": "right_hand",
        "c7": "trunk",
        "left_front_head": "trunk",
    }
    for marker, bone in carriers.items():
        relative = np.einsum("tji,tj->ti", bones[bone][:, :3, :3], markers[marker] - bones[bone][:, :3, 3])
        np.testing.assert_allclose(np.ptp(relative, axis=0), 0.0, atol=1e-9, err_msg=marker)
    wrist = np.linalg.norm(markers["left_wrist_marker"] - bones["left_wrist"][:, :3, 3], axis=1)
    np.testing.assert_allclose(wrist, 0.025, atol=1e-9)
    elbow = markers["left_elbow_marker"] - bones["left_elbow"][:, :3, 3]
    np.testing.assert_allclose(np.linalg.norm(elbow, axis=1), 0.040, atol=1e-9)
    # On the outside of the hanging arm.
    assert (elbow[in_repetitions(performance), 1] > 0.030).all()
    palm_width = np.linalg.norm(markers["right_thumb"] - markers["right_pinky"], axis=1)
    np.testing.assert_allclose(palm_width, 0.08, atol=1e-9)


def test_skin_moves_by_millimetres_and_noise_by_less():
    silent = MocapErrors(position_noise=0.0, angle_noise=0.0)
    still, moving, noisy = (
        perform("waving", AVERAGE_PERSON, errors=errors).motion.markers
        for errors in (SCREWED, silent, MocapErrors())
    )
    for side in SIDES:
        for name, (low, high) in {
            "biceps": (5e-3, 25e-3),
            "elbow_marker": (1e-3, 15e-3),
            "shoulder_marker": (1e-3, 20e-3),
            "wrist_marker": (0.2e-3, 8e-3),
        }.items():
            slid = np.linalg.norm(moving[f"{side}_{name}"] - still[f"{side}_{name}"], axis=1)
            assert low < slid.max() < high, (side, name, slid.max())
    np.testing.assert_allclose(moving["c7"], still["c7"], atol=1e-12)
    for name in ("c7", "left_thumb"):
        # The recording's axes are those of its first, noisy frame: they turn by some milliradians.
        noise = np.diff(noisy[name] - moving[name], axis=0).std(axis=0) / np.sqrt(2)
        np.testing.assert_allclose(noise, 0.4e-3, rtol=0.15)


def test_joints_and_frames_are_near_the_bones(performances):
    centres = [f"{side}_{joint}" for side in SIDES for joint in ("shoulder", "elbow", "wrist")]
    segments = [f"{side}_{segment}" for side in SIDES for segment in ("forearm", "hand")]
    for (name, who), performance in performances.items():
        truth = compute_frame_poses(performance.human, performance.q, [*centres, *segments, "pelvis", "neck"])
        for joint in (*centres, "pelvis", "neck"):
            error = performance.motion.joints[joint] - truth[joint][:, :3, 3]
            rms = np.sqrt((error**2).sum(axis=1).mean())
            # Elbow and wrist widths of the map are those of a person of 1.7 m.
            assert rms < (2e-3 if joint in ("pelvis", "neck") else 12e-3), (name, who, joint, rms)
        for segment in segments:
            found = performance.motion.segments[segment][:, :3, :3]
            cosine = (np.einsum("tij,tij->t", truth[segment][:, :3, :3], found) - 1.0) / 2.0
            turned = np.degrees(np.arccos(np.clip(cosine, -1.0, 1.0)))
            assert np.sqrt((turned**2).mean()) < 3.0, (name, who, segment)
    average = performances["signing", "average"]
    truth = compute_frame_poses(average.human, average.q, centres)
    for joint in centres:
        error = average.motion.joints[joint] - truth[joint][:, :3, 3]
        assert np.linalg.norm(error.mean(axis=0)) < 4e-3, joint


def test_the_recording_begins_in_the_initial_configuration(performances):
    for performance in performances.values():
        motion = performance.motion
        assert any(note.startswith("initial posture: held") for note in motion.notes)
        for side in SIDES:
            initial = motion.initial.joints
            reach = initial[f"{side}_wrist"] - initial[f"{side}_shoulder"]
            assert reach[0] > 0.99 * np.linalg.norm(reach)
            # The palm faces down.
            assert motion.initial.segments[f"{side}_hand"][2, 2] > 0.99
        assert motion.missing == ("left_knee", "left_ankle", "right_knee", "right_ankle")


@pytest.mark.parametrize("name", FREE)
def test_a_seed_gives_the_same_bytes(performances, name):
    known = performances[name, "average"].motion
    again, other = (perform(name, PEOPLE["average"], seed).motion for seed in (5, 6))
    for kind in ("joints", "segments", "markers"):
        for key, track in getattr(known, kind).items():
            assert getattr(again, kind)[key].tobytes() == track.tobytes()
    assert np.abs(other.joints["right_wrist"] - known.joints["right_wrist"]).max() > 0.02
