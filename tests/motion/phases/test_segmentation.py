from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.signal import find_peaks
from scipy.spatial.transform import Rotation

from simbench.motion.human_motion import transform
from simbench.motion.phases import find_phases
from simbench.motion.readers import read_motion

KINDS = (
    "drawer",
    "valves",
    "valves_free_grip",
    "canoe_paddles",
    "steering_wheel",
    "pump",
    "knife",
    "grater",
    "hand_drill",
    "waving",
    "sentence",
    "uneven",
    "twist",
)


@pytest.mark.parametrize("kind", KINDS)
def test_boundaries_lie_within_30_ms_of_the_truth(record_task, kind):
    errors = []
    for seed in range(3):
        made = record_task(kind, seed)
        found = find_phases(made.motion).boundaries
        assert len(found) == 6
        errors.append(found - made.boundaries)
    assert np.abs(errors).max() < 0.030
    # Turning points between two minimum-jerk movements have no bias; extrapolated ends hardly one.
    assert np.abs(np.mean(errors, axis=0)).max() < 0.012


def test_phases_follow_each_other(record_task):
    made = record_task("drawer", 7)
    phases = find_phases(made.motion)
    assert phases.icp == pytest.approx((0.0, made.transition), abs=0.03)
    assert phases.tgp == (phases.icp[1], phases.boundaries[0])
    assert phases.pmp == (phases.boundaries[0], phases.boundaries[-1])
    assert phases.rest == (phases.boundaries[-1], made.motion.time[-1])


@pytest.mark.parametrize("repetitions", [2, 3, 9])
def test_any_number_of_repetitions_is_found(record_task, repetitions):
    for kind in ("steering_wheel", "valves", "grater"):
        made = record_task(kind, 11, repetitions=repetitions)
        found = find_phases(made.motion).boundaries
        assert found == pytest.approx(made.boundaries, abs=0.02)


def test_one_repetition_does_not_repeat(record_task):
    made = record_task("drawer", 3, repetitions=1)
    phases = find_phases(made.motion)
    assert phases.boundaries.size == 0
    assert (phases.tgp, phases.pmp, phases.rest) == (None, None, None)
    assert phases.icp == pytest.approx((0.0, made.transition), abs=0.03)


def test_stops_without_dwell_and_without_noise(record_task):
    made = record_task("steering_wheel", 5, pause=(0.0, 0.0), noise=0.0)
    assert find_phases(made.motion).boundaries == pytest.approx(made.boundaries, abs=0.004)


def test_recording_that_starts_at_the_equipment_has_no_initial_configuration(record_task):
    made = record_task("pump", 2)
    first = int(np.searchsorted(made.motion.time, made.boundaries[0] - 0.2))
    phases = find_phases(cut(made.motion, first))
    assert (phases.icp, phases.tgp) == (None, None)
    assert phases.boundaries + made.motion.time[first] == pytest.approx(made.boundaries, abs=0.01)


def test_one_arm_is_enough(record_task):
    made = record_task("knife", 4)
    motion = replace(
        made.motion,
        joints={name: track for name, track in made.motion.joints.items() if name.startswith("left")},
        segments={name: track for name, track in made.motion.segments.items() if name.startswith("left")},
    )
    assert find_phases(motion).boundaries == pytest.approx(made.boundaries, abs=0.03)


def test_sampling_that_is_not_even_changes_little(record_task):
    made = record_task("grater", 6)
    # Every seventh frame was dropped.
    kept = np.arange(len(made.motion.time)) % 7 != 3
    found = find_phases(pick(made.motion, kept)).boundaries
    assert found == pytest.approx(made.boundaries, abs=0.02)


@settings(max_examples=12, deadline=None)
@given(yaw=st.floats(-np.pi, np.pi), x=st.floats(-5, 5), y=st.floats(-5, 5))
def test_where_the_person_stands_does_not_matter(record_task, yaw, x, y):
    made = record_task("valves", 1)
    turn = transform(Rotation.from_euler("z", yaw).as_matrix(), np.array([x, y, 0.0]))
    motion = made.motion
    moved = replace(
        motion,
        joints={name: track @ turn[:3, :3].T + turn[:3, 3] for name, track in motion.joints.items()},
        segments={name: turn @ frames for name, frames in motion.segments.items()},
        initial=replace(
            motion.initial,
            joints={k: turn[:3, :3] @ v + turn[:3, 3] for k, v in motion.initial.joints.items()},
            segments={k: turn @ v for k, v in motion.initial.segments.items()},
        ),
    )
    there, here = find_phases(moved), find_phases(motion)
    assert there.boundaries == pytest.approx(here.boundaries, abs=1e-4)
    for name in ("icp", "tgp", "pmp", "rest"):
        assert getattr(there, name) == pytest.approx(getattr(here, name), abs=1e-3), name


@pytest.mark.parametrize(("clip", "cycle"), [("walk", 38 / 30), ("run", 24 / 30)])
def test_arms_of_a_real_walk_and_run_repeat_with_the_legs(clip, cycle):
    motion = looped(read_motion(f"deepmimic:{clip}"), 5)
    ahead = (motion.joints["left_ankle"] - motion.joints["right_ankle"])[:, 0]
    strides = np.diff(motion.time[find_peaks(ahead, prominence=0.2)[0]])
    assert strides == pytest.approx(np.full(len(strides), cycle), abs=0.005)
    phases = find_phases(motion)
    assert len(phases.boundaries) >= 5
    assert np.diff(phases.boundaries) == pytest.approx(strides.mean(), abs=0.05)
    assert (phases.icp, phases.tgp, phases.rest) == (None, None, None)


@pytest.mark.parametrize("clip", ["getup_faceup", "dance_b", "jump", "backflip"])
def test_movements_that_happen_once_have_no_primitives(clip):
    assert find_phases(read_motion(f"deepmimic:{clip}")).boundaries.size == 0


@settings(max_examples=50, deadline=None)
@given(
    frames=st.integers(2, 120),
    scale=st.sampled_from([0.0, 1e-6, 1e-3, 0.3]),
    rate=st.sampled_from([10.0, 30.0, 100.0, 1000.0]),
    seed=st.integers(0, 2**16),
)
def test_any_recording_has_phases_in_order(swinging_arms, frames, scale, rate, seed):
    swing = swinging_arms()
    rng = np.random.default_rng(seed)
    time = np.arange(frames) / rate
    wander = scale * rng.normal(size=(frames, 3)).cumsum(axis=0)
    joints = {name: track[:1] + wander for name, track in swing.joints.items()}
    turns = Rotation.from_rotvec(scale * rng.normal(size=(frames, 3))).as_matrix()
    segments = {
        name: transform(turns @ track[0, :3, :3], track[0, :3, 3] + wander)
        for name, track in swing.segments.items()
    }
    found = find_phases(replace(swing, time=time, joints=joints, segments=segments, strokes=None))
    assert (np.diff(found.boundaries) > 0).all()
    assert found.boundaries.size != 1
    if found.boundaries.size:
        assert 0.0 <= found.boundaries[0] < found.boundaries[-1] <= time[-1]


def pick(motion, kept):
    return replace(
        motion,
        time=motion.time[kept],
        joints={name: track[kept] for name, track in motion.joints.items()},
        segments={name: track[kept] for name, track in motion.segments.items()},
    )


def cut(motion, first):
    rest = pick(motion, slice(first, None))
    return replace(rest, time=rest.time - rest.time[0])


def looped(motion, times):
    """The clip several times, each where the last one ended; its last frame is its first."""
    shift = motion.joints["pelvis"][-1] - motion.joints["pelvis"][0]
    shift[2] = 0.0

    def repeated(track, step):
        return np.concatenate([track[:-1] + k * step for k in range(times)])

    frame_shift = np.zeros((4, 4))
    frame_shift[:3, 3] = shift
    return replace(
        motion,
        time=repeated(motion.time, motion.time[-1]),
        joints={name: repeated(track, shift) for name, track in motion.joints.items()},
        segments={name: repeated(track, frame_shift) for name, track in motion.segments.items()},
    )
