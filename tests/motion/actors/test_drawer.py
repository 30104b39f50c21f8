from dataclasses import replace

import numpy as np
import pytest
from scipy.signal import savgol_filter

from simbench.errors import MotionError
from simbench.motion.actors import perform_drawer
from simbench.motion.actors.human_model import ARM_JOINT_NAMES
from simbench.motion.actors.tasks import DrawerTask
from simbench.motion.human_motion import ARM_JOINTS, ARM_SEGMENTS, PALM_OFFSET
from simbench.motion.readers import read_motion
from simbench.robot.sides import SIDES

TASK = DrawerTask()
# As the actor finds the drawer: fingers reach that far into it.
OPENING = 0.12
# Half the length of a hand beyond the palm's centre: 0.108 of stature less 0.09 m.
FINGERS = 0.108 * 1.70 - 0.09


@pytest.fixture(scope="module")
def performance():
    return perform_drawer()


def grip_position(side, task=TASK):
    sideways = 0.5 if side == "left" else -0.5
    return np.array([task.distance, sideways * task.separation, task.height])


def on_the_wood(performance, side, task=TASK):
    return grip_position(side, task) - performance.travel[:, None] * np.array([1.0, 0.0, 0.0])


def test_recording_has_what_the_papers_protocol_says(performance):
    motion = performance.motion
    assert motion.rate == pytest.approx(100.0)
    assert set(motion.joints) == {*ARM_JOINTS, "pelvis", "neck"}
    assert set(motion.segments) == {*ARM_SEGMENTS, "trunk", "pelvis"}
    assert motion.strokes.shape == (5, 2)
    assert np.all(np.diff(motion.strokes.ravel()) > 0)
    assert motion.actor.height == 1.70
    first, last = (performance.phases[name] for name in ("icp", "rest"))
    assert first == (0, 100)
    assert last[1] == len(motion.time) - 1
    assert performance.phases["tgp"][1] + 1 == performance.phases["pmp"][0] == motion.strokes[0, 0]


def test_palms_stay_on_the_wood_and_level(performance):
    held = slice(performance.contact_start, None)
    for side in SIDES:
        palm = performance.palms[side][held]
        np.testing.assert_allclose(palm[:, :3, 3], on_the_wood(performance, side)[held], atol=1e-5)
        inward = -1.0 if side == "left" else 1.0
        fingers = [np.cos(np.radians(15.0)), inward * np.sin(np.radians(15.0)), 0.0]
        np.testing.assert_allclose(palm[:, :3, 0] - fingers, 0.0, atol=1e-5)
        np.testing.assert_allclose(palm[:, :3, 2] - [0.0, 0.0, 1.0], 0.0, atol=1e-5)


def test_measured_palms_stay_on_the_wood_within_two_millimetres(performance):
    held = slice(performance.contact_start, None)
    motion = performance.motion
    for side in SIDES:
        palm = motion.joints[f"{side}_wrist"] + motion.segments[f"{side}_hand"][:, :3, :3] @ PALM_OFFSET
        miss = np.linalg.norm(palm - on_the_wood(performance, side), axis=1)[held]
        assert np.sqrt(np.mean(miss**2)) < 1.2e-3
        assert miss.max() < 4e-3


def test_drawer_moves_by_its_stroke_five_times(performance):
    travel, strokes = performance.travel, performance.motion.strokes
    assert np.all(travel[: strokes[0, 0]] == 0.0)
    for first, last in strokes:
        assert travel[first] == pytest.approx(0.0, abs=1e-5)
        assert travel[last] == pytest.approx(0.0, abs=1e-5)
        assert travel[first:last].max() == pytest.approx(TASK.stroke, rel=2.1 * TASK.variation)
    pulls = np.array([travel[first:last].max() for first, last in strokes])
    durations = np.diff(strokes, axis=1)
    assert 0.005 < pulls.std() / pulls.mean() < 0.06
    assert 0.003 < durations.std() / durations.mean() < 0.06
    # Minimum jerk: the peak is 1.875 times the mean speed.
    assert np.abs(np.gradient(travel, performance.motion.time)).max() == pytest.approx(
        1.875 * 0.11 / 0.9, rel=0.12
    )


def test_hands_come_down_vertically_onto_the_front(performance):
    for side in SIDES:
        path = performance.palms[side][: performance.contact_start + 1]
        height = path[:, 2, 3] - TASK.height
        last = path[height < 0.08]
        np.testing.assert_allclose(
            last[:, :2, 3], np.broadcast_to(grip_position(side)[:2], (len(last), 2)), atol=1e-4
        )
        assert np.all(last[:, 2, 2] > 1 - 1e-6)
        assert np.all(np.diff(height[height < 0.1]) <= 1e-9)


def test_hands_never_pass_through_the_wood(performance):
    """Front panel below the palms' edge, and a cabinet whose top is at 1.05 m, as the papers' table says."""
    face = TASK.distance + OPENING
    for side in SIDES:
        palm = performance.palms[side]
        for reach in np.linspace(-0.09, FINGERS, 8):
            point = palm[:, :3, 3] + reach * palm[:, :3, 0]
            in_cabinet = (point[:, 0] > face) & (point[:, 2] < 1.05)
            assert not in_cabinet.any()
            front = point[:, 0] - (TASK.distance - performance.travel)
            assert not ((np.abs(front) < 0.02) & (point[:, 2] < TASK.height - 1e-3)).any()


def test_joint_angles_and_speeds_are_a_persons(performance):
    time = performance.motion.time
    for side in SIDES:
        angles = np.degrees(performance.q[:, performance.human.arms[side]])
        named = dict(zip(ARM_JOINT_NAMES, angles.T, strict=True))
        assert 0.0 <= named["elbow_flexion"].min() < 8.0
        assert 60.0 < named["elbow_flexion"].max() < 150.0
        assert np.abs(named["wrist_flexion"]).max() < 60.0
        assert named["wrist_radial_deviation"].min() > -40.0
        assert named["forearm_pronation"].max() < 90.0
        assert np.abs(np.gradient(angles, time, axis=0)).max() < 180.0
        assert np.abs(np.gradient(np.gradient(angles, time, axis=0), time, axis=0)).max() < 800.0
        speed = np.linalg.norm(np.gradient(performance.palms[side][:, :3, 3], time, axis=0), axis=1)
        assert 0.4 < speed.max() < 1.5


def test_elbows_hang_below_the_shoulders_outside_the_trunk(performance):
    joints = performance.motion.joints
    for side, sign in (("left", 1.0), ("right", -1.0)):
        elbow = joints[f"{side}_elbow"][performance.contact_start :]
        shoulder = joints[f"{side}_shoulder"][performance.contact_start :]
        assert np.all(elbow[:, 2] < shoulder[:, 2] - 0.2)
        # Out a little: more than the shoulders, less than a hand's length further.
        assert np.all(sign * (elbow - shoulder)[:, 1] > 0.0)
        assert np.all(sign * (elbow - shoulder)[:, 1] < 0.15)
        for name in ("elbow", "wrist"):
            centre = joints[f"{side}_{name}"] - joints["neck"]
            # An elliptic trunk, 0.32 m wide and 0.24 m deep, and 0.04 m of arm around the joint.
            assert np.all((centre[:, 0] / 0.16) ** 2 + (centre[:, 1] / 0.20) ** 2 > 1.0)


def test_standing_still_means_millimetres(performance):
    still = slice(0, performance.phases["icp"][1] + 1)
    wrist = performance.motion.joints["left_wrist"][still]
    assert np.ptp(wrist, axis=0).max() < 0.02
    initial = performance.motion.initial
    np.testing.assert_allclose(initial.joints["left_wrist"], wrist.mean(axis=0), atol=1e-12)
    reach = initial.joints["left_wrist"] - initial.joints["left_shoulder"]
    assert np.degrees(np.arccos(reach[0] / np.linalg.norm(reach))) < 3.0
    assert initial.segments["left_hand"][2, 2] > 0.998


def test_recorded_speeds_are_bell_shaped(performance):
    """Between its rests the measured hand speeds up once and slows down once in every pull."""
    motion = performance.motion
    x = savgol_filter(motion.joints["left_wrist"][:, 0], 31, 5, deriv=1, delta=0.01)
    for first, _ in motion.strokes:
        pull = -x[first + 5 : first + 85]
        peak = pull.argmax()
        assert 25 < peak < 55
        assert pull[peak] > 1.6 * pull.mean()


def test_same_seed_same_recording_other_seed_another(performance):
    once = replace(TASK, repetitions=1)
    first, second, other = (perform_drawer(once, rng) for rng in (3, np.random.default_rng(3), 4))
    np.testing.assert_array_equal(first.motion.joints["left_wrist"], second.motion.joints["left_wrist"])
    np.testing.assert_array_equal(first.motion.segments["right_hand"], second.motion.segments["right_hand"])
    assert len(first.motion.time) != len(other.motion.time) or not np.array_equal(first.q, other.q)
    default = read_motion("actor:drawer")
    np.testing.assert_array_equal(default.joints["neck"], performance.motion.joints["neck"])


@pytest.mark.parametrize(
    "changes",
    [
        {"distance": 0.55, "repetitions": 1},
        {"height": 1.1, "distance": 0.5, "repetitions": 1},
        {"separation": 0.4, "stroke": 0.15, "repetitions": 1},
        {"repetitions": 3, "rate": 200.0},
    ],
)
def test_other_equipment_is_held_as_exactly(changes):
    task = replace(TASK, **changes)
    performance = perform_drawer(task)
    held = slice(performance.contact_start, None)
    for side in SIDES:
        palm = performance.palms[side][held, :3, 3]
        np.testing.assert_allclose(palm, on_the_wood(performance, side, task)[held], atol=1e-5)
    assert performance.motion.strokes.shape == (task.repetitions, 2)
    assert performance.travel.max() == pytest.approx(task.stroke, rel=0.07)


def test_a_drawer_out_of_reach_is_refused():
    with pytest.raises(MotionError):
        perform_drawer(DrawerTask(distance=1.0))
