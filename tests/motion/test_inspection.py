"""Numbers of a recording against bodies that are known in closed form."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.spatial.transform import Rotation

from simbench.motion.human_motion import Gap, transform
from simbench.motion.motion_inspection import (
    find_doubts,
    inspect_motion,
    measure_bone_lengths,
    measure_foot_heights,
    measure_hand_speeds,
    measure_joint_angles,
    with_doubts,
)
from simbench.motion.readers import read_motion
from simbench.motion.shipped import list_motion_sources

# From the shoulder to the palm's centre: the fixture's wrist is at 0.55 m, its hand frame points forward.
PALM_RADIUS = np.hypot(0.09, 0.57)


def with_joints(motion, **joints):
    tracks = {name: np.broadcast_to(place, (len(motion.time), 3)) for name, place in joints.items()}
    return replace(motion, joints={**motion.joints, **tracks})


def by_name(spreads):
    return {spread.name: spread for spread in spreads}


def test_bones_are_measured_between_their_joints(swing):
    hips = with_joints(
        swing,
        left_hip=[0.0, 0.1, 0.9],
        right_hip=[0.0, -0.1, 0.9],
        left_knee=[0.3, 0.1, 0.5],
        pelvis=[0, 0, 0.95],
    )
    lengths = by_name(measure_bone_lengths(hips))
    assert {name: round(length.median, 9) for name, length in lengths.items()} == {
        "left upper arm": 0.30,
        "right upper arm": 0.30,
        "left forearm": 0.25,
        "right forearm": 0.25,
        "left thigh": 0.5,
        "shoulder width": 0.36,
        "hip width": 0.2,
    }
    assert max(length.high - length.low for length in lengths.values()) < 1e-12


def test_the_change_of_a_bone_is_the_range_of_its_length(swing):
    stretch = 0.004 * np.sin(2 * np.pi * swing.time)[:, None]
    along = (swing.joints["left_wrist"] - swing.joints["left_elbow"]) / 0.25
    (forearm,) = (
        length
        for length in measure_bone_lengths(
            replace(
                swing, joints={**swing.joints, "left_wrist": swing.joints["left_wrist"] + stretch * along}
            )
        )
        if length.name == "left forearm"
    )
    # The 13th of 50 samples a period is nearest to the crest.
    crest = 0.004 * np.sin(2 * np.pi * 0.26)
    assert (forearm.low, forearm.high) == pytest.approx((0.25 - crest, 0.25 + crest), abs=1e-12)


def test_the_upper_arm_is_raised_from_the_vertical_or_from_a_leaning_trunk(swinging_arms):
    swing = swinging_arms(100.0)
    angles = by_name(measure_joint_angles(swing))
    assert angles["left shoulder elevation"].high == pytest.approx(0.5, abs=1e-12)
    assert angles["left shoulder elevation"].low == pytest.approx(0.0, abs=1e-12)
    assert angles["right elbow flexion"].high == pytest.approx(0.0, abs=1e-7)
    # Leaning forward by 0.2 turns the trunk's downward axis backward.
    lean = transform(Rotation.from_rotvec([0.0, 0.2, 0.0]).as_matrix(), np.array([0.0, 0.0, 1.2]))
    trunk = np.broadcast_to(lean, (len(swing.time), 4, 4))
    angles = by_name(measure_joint_angles(replace(swing, segments={**swing.segments, "trunk": trunk})))
    assert angles["left shoulder elevation"].high == pytest.approx(0.7, abs=1e-12)


@pytest.mark.parametrize("flexion", [0.0, 1e-4, 1.2, 3.0])
def test_elbow_flexion_is_the_angle_from_straight(swing, flexion):
    joints = {name: np.tile(track[0], (len(swing.time), 1)) for name, track in swing.joints.items()}
    bent = joints["left_elbow"] + 0.25 * np.array([np.sin(flexion), 0.0, -np.cos(flexion)])
    angles = by_name(measure_joint_angles(replace(swing, joints={**joints, "left_wrist": bent})))
    assert angles["left elbow flexion"].median == pytest.approx(flexion, abs=1e-9)


def test_the_palm_is_as_fast_as_its_radius_says(swinging_arms):
    swing = swinging_arms(100.0)
    left, right = measure_hand_speeds(swing)
    exact = PALM_RADIUS * 0.5 * 2 * np.pi * np.abs(np.cos(2 * np.pi * swing.time))
    np.testing.assert_allclose(left.values[5:-5], exact[5:-5], atol=2e-3 * exact.max())
    np.testing.assert_allclose(left.values[-5:], exact[-6], atol=2e-3 * exact.max())
    assert left.peak == pytest.approx(exact.max(), rel=2e-3)
    held = np.concatenate([np.full(5, exact[5]), exact[5:-5], np.full(5, exact[-6])])
    assert right.rms == pytest.approx(np.sqrt(np.mean(held**2)), rel=2e-3)


def test_uneven_sampling_does_not_change_the_speed(swinging_arms):
    swing = swinging_arms(200.0)
    kept = np.sort(np.random.default_rng(3).choice(np.arange(1, 200), 140, replace=False))
    kept = np.concatenate([[0], kept, [200]])
    uneven = replace(
        swing,
        time=swing.time[kept],
        joints={name: track[kept] for name, track in swing.joints.items()},
        segments={name: track[kept] for name, track in swing.segments.items()},
    )
    exact = PALM_RADIUS * np.pi * np.abs(np.cos(2 * np.pi * uneven.time))
    inside = (uneven.time > 0.06) & (uneven.time < 0.94)
    values = measure_hand_speeds(uneven)[0].values
    np.testing.assert_allclose(values[inside], exact[inside], atol=0.02 * exact.max())


def test_noise_of_markers_hardly_adds_speed(swinging_arms):
    still = swinging_arms(100.0)
    rng = np.random.default_rng(1)
    joints = {name: track[:1] + rng.normal(0.0, 0.4e-3, track.shape) for name, track in still.joints.items()}
    segments = {name: np.tile(track[:1], (len(still.time), 1, 1)) for name, track in still.segments.items()}
    hand = measure_hand_speeds(replace(still, joints=joints, segments=segments))[0]
    # A central difference would report 0.4 mm · √2 / 20 ms = 28 mm/s on each of three axes: 49 mm/s.
    assert hand.rms < 0.02
    assert hand.peak < 0.05


@pytest.mark.parametrize("count", [2, 3, 4, 5])
def test_the_shortest_recordings_have_a_speed(swing, count):
    short = replace(
        swing,
        time=swing.time[:count],
        joints={
            name: np.arange(count)[:, None] * [0.02, 0.0, 0.0] + track[0]
            for name, track in swing.joints.items()
        },
        segments={name: np.tile(track[:1], (count, 1, 1)) for name, track in swing.segments.items()},
    )
    np.testing.assert_allclose(measure_hand_speeds(short)[0].values, 1.0, rtol=1e-9)


def test_feet_are_the_lowest_point_and_stand_while_it_is_still(swing):
    time = swing.time
    # The left heel stands at 2 cm for 0.6 s, then rises at 1 m/s; the right toe falls from 0.5 m to 1 cm.
    heel = np.stack([0 * time, 0.1 + 0 * time, 0.02 + np.clip(time - 0.6, 0.0, None)], axis=1)
    toe = np.stack([0 * time, -0.1 + 0 * time, 0.5 - 0.49 * np.clip((time - 0.8) / 0.2, 0.0, 1.0)], axis=1)
    feet = measure_foot_heights(with_joints(swing, left_heel=heel, right_toe=toe, left_knee=[0.0, 0.1, -1.0]))
    assert feet.points == ("left_heel", "right_toe")
    assert feet.lowest == pytest.approx(0.01)
    assert feet.lowest_time == pytest.approx(1.0)
    assert feet.standing == pytest.approx(0.02)
    assert measure_foot_heights(swing) is None


@settings(max_examples=30, deadline=None)
@given(
    yaw=st.floats(-np.pi, np.pi),
    shift=st.lists(st.floats(-5.0, 5.0), min_size=3, max_size=3),
    slower=st.floats(0.5, 5.0),
)
def test_measures_do_not_depend_on_place_and_heading_and_speed_scales_with_time(
    swinging_arms, yaw, shift, slower
):
    swing = swinging_arms(50.0)
    frame = transform(Rotation.from_euler("z", yaw).as_matrix(), np.array(shift))
    moved = replace(
        swing,
        joints={name: track @ frame[:3, :3].T + frame[:3, 3] for name, track in swing.joints.items()},
        segments={name: frame @ track for name, track in swing.segments.items()},
    )
    for measure in (measure_bone_lengths, measure_joint_angles):
        for here, there in zip(measure(swing), measure(moved), strict=True):
            assert there.name == here.name
            assert (there.median, there.low, there.high) == pytest.approx(
                (here.median, here.low, here.high), abs=1e-9
            )
    assert measure_hand_speeds(moved)[0].peak == pytest.approx(measure_hand_speeds(swing)[0].peak, rel=1e-9)
    # Uniform to rounding, and the same samples: only the filter's width in samples may differ.
    slow = measure_hand_speeds(replace(moved, time=swing.time * slower))[0]
    assert slow.peak == pytest.approx(measure_hand_speeds(swing)[0].peak / slower, rel=0.02)


def test_a_sound_recording_has_no_warnings(swing):
    assert inspect_motion(swing).warnings == ()


def test_arms_no_human_has_are_warned_about(swing):
    shrunk = replace(swing, joints={name: 0.7 * track for name, track in swing.joints.items()})
    assert inspect_motion(shrunk).warnings == (
        "left upper arm is 0.210 m long; people have 0.22 to 0.36 m",
        "right upper arm is 0.210 m long; people have 0.22 to 0.36 m",
        "left forearm is 0.175 m long; people have 0.2 to 0.3 m",
        "right forearm is 0.175 m long; people have 0.2 to 0.3 m",
    )


def test_a_bone_that_stretches_is_warned_about(swing):
    wrist = swing.joints["left_wrist"].copy()
    wrist[20:] += 0.12 * (wrist - swing.joints["left_elbow"])[20:]
    assert inspect_motion(replace(swing, joints={**swing.joints, "left_wrist": wrist})).warnings == (
        "left forearm changes by 30 mm (11%); a bone keeps its length",
    )


def test_feet_in_the_floor_and_above_it_are_warned_about(swing):
    assert inspect_motion(with_joints(swing, left_toe=[0.0, 0.0, -0.05])).warnings == (
        "feet sink 0.050 m into the floor at 0.00 s",
    )
    assert inspect_motion(with_joints(swing, left_toe=[0.0, 0.0, 0.2])).warnings == (
        "feet stay 0.200 m or more above the floor",
    )
    assert inspect_motion(with_joints(swing, left_ankle=[0.0, 0.0, 0.08])).warnings == ()


def test_a_jump_names_marker_frames_and_speed(swing):
    track = np.zeros((len(swing.time), 3))
    track[20, 2] = 1.0
    assert inspect_motion(replace(swing, markers={"C7": 0 * track, "T10": track})).warnings == (
        "marker T10: jump between frames 19 and 21, at 50 m/s; no person is faster than 15 m/s",
    )


def test_jumps_of_many_tracks_and_many_jumps_stay_a_few_lines(swing):
    together = np.zeros((len(swing.time), 3))
    together[30:] = 2.0
    markers = {f"M{k}": together * (1 + k) for k in range(5)}
    (warning,) = inspect_motion(replace(swing, markers=markers)).warnings
    assert warning.startswith(
        "marker M4, marker M3, marker M2 and 2 more: jump between frames 29 and 30, at 866 m/s"
    )
    shaking = np.zeros((len(swing.time), 3))
    shaking[::5] = 3.0
    warnings = inspect_motion(replace(swing, markers={"LELB": shaking})).warnings
    assert len(warnings) == 6
    # Samples 0, 5, ..., 50 are off: eleven jumps, of which the first and the last have one step.
    assert warnings[-1] == "6 more jumps, the last one at frame 50"


def test_gaps_are_gathered_by_marker(swing):
    filled = (Gap("LWRA", 30, 30), Gap("C7", 0, 4), Gap("LWRA", 10, 13))
    track = np.zeros((len(swing.time), 3))
    wrist, neck = inspect_motion(replace(swing, markers={"LWRA": track, "C7": track}, filled=filled)).gaps
    assert (wrist[0], [gap.first for gap in wrist[1]]) == ("LWRA", [10, 30])
    # Four and five samples of 20 ms.
    assert wrist[2] == pytest.approx(0.08)
    assert neck[2] == pytest.approx(0.1)


def test_one_arm_is_measured_alone(swing):
    left = {
        kind: {name: track for name, track in getattr(swing, kind).items() if name.startswith("left")}
        for kind in ("joints", "segments")
    }
    inspection = inspect_motion(replace(swing, **left))
    assert [length.name for length in inspection.lengths] == ["left upper arm", "left forearm"]
    assert [hand.side for hand in inspection.hands] == ["left"]
    assert inspection.warnings == ()


def test_every_source_is_listed_with_what_its_reader_finds():
    sources = list_motion_sources()
    clips = [name for name in sources if name.startswith("deepmimic:")]
    assert len(clips) == 15
    for name in ("deepmimic:humanoid3d_walk", "deepmimic:humanoid3d_backflip", "deepmimic:humanoid3d_spin"):
        motion = read_motion(name)
        assert sources[name] == f"{motion.time[-1]:.2f} s at {motion.rate:.0f} Hz"
    assert sources["actor:drawer"]


def test_doubts_are_the_readers_and_what_looks_wrong_each_once(swing):
    told = replace(with_joints(swing, left_toe=[0.0, 0.0, 0.2]), doubts=("the unit was guessed",))
    doubts = ("the unit was guessed", "feet stay 0.200 m or more above the floor")
    assert find_doubts(told) == doubts
    assert with_doubts(told).doubts == doubts
    assert inspect_motion(with_doubts(told)).warnings == doubts
