"""Floor, contacts and turns of a recorded person: synthetic walks and a real one, at any rate.

When and where the feet stood; feet that float, drift, slide and turn; a tilt, stairs; what is refused.
"""

from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest
from walker import ANKLE, RATE, SHANK, THIGH, person, walk

from simbench.errors import RetargetError
from simbench.kinematics.foot_contact import contact_intervals
from simbench.motion.human_motion import resample
from simbench.motion.person_body import find_person_contacts, measure_person_feet, with_heels
from simbench.motion.readers import read_motion
from simbench.retargeting.steps.recorded_person import PIVOT_SWING, find_pivots, observe_person

CLIP = "deepmimic:humanoid3d_walk"
TIME = np.arange(301) / 100.0


def count_landings(person):
    """Count the landings of a person, with the steps that replace turns on the floor."""
    return sum(bool(np.isfinite(contact.landing)) for contact in person.contacts)


def test_a_walk_has_its_steps_where_and_when_they_were_taken():
    steps = observe_person(walk())
    assert count_landings(steps) == 4
    landings = sorted((each for each in steps.contacts if np.isfinite(each.landing)), key=lambda c: c.landing)
    assert [each.foot for each in landings] == [0, 1, 0, 1]
    # Step k lands at 0.5 + 0.12 + 0.48 + 0.6 k.
    np.testing.assert_allclose([each.landing for each in landings], 1.1 + 0.6 * np.arange(4), atol=0.06)
    places = np.array([each.position for each in landings])
    np.testing.assert_allclose(places[:, 0], [0.6, 1.2, 1.8, 1.8], atol=0.01)
    np.testing.assert_allclose(places[:, 1], [0.08, -0.08, 0.08, -0.08], atol=0.01)
    np.testing.assert_allclose([each.yaw for each in landings], 0.0, atol=0.01)
    assert steps.leg == pytest.approx(THIGH + SHANK + ANKLE - 0.03, abs=0.05)
    assert not steps.doubts


def test_ankles_alone_find_the_same_steps():
    motion = walk()
    ankles = {
        name: track for name, track in motion.joints.items() if "heel" not in name and "toe" not in name
    }
    steps = observe_person(replace(motion, joints=ankles))
    assert count_landings(steps) == 4
    assert any("ankles" in note for note in steps.notes)


def test_a_heel_that_was_not_recorded_is_found_from_ankle_and_toe():
    motion = walk()
    less = replace(motion, joints={name: at for name, at in motion.joints.items() if "heel" not in name})
    for side in ("left", "right"):
        found = with_heels(less).joints[f"{side}_heel"]
        np.testing.assert_allclose(found, motion.joints[f"{side}_heel"], atol=1e-6)


def test_a_person_who_stands_on_the_toes_of_one_foot_is_in_contact():
    motion = walk(steps=0)
    joints = dict(motion.joints)
    raised = np.minimum(np.arange(len(motion.time)) / RATE, 0.1)[:, None] * [0.0, 0.0, 1.0]
    for part in ("ankle", "heel"):
        joints[f"left_{part}"] = joints[f"left_{part}"] + raised
    contacts = find_person_contacts(replace(motion, joints=joints))
    assert contacts["left"].any(axis=1).all()
    assert measure_person_feet(motion).double == 1.0


def test_a_treadmill_is_said_and_steps_stay_on_the_spot():
    motion = walk(steps=6)
    belt = np.zeros((len(motion.time), 3))
    moving = (motion.time > 0.6) & (motion.time < 4.0)
    part = slice(int(np.argmax(moving)), int(len(moving) - np.argmax(moving[::-1])))
    cut = replace(
        motion,
        time=motion.time[part] - motion.time[part][0],
        joints={name: track[part] for name, track in motion.joints.items()},
        segments={name: track[part] for name, track in motion.segments.items()},
    )
    belt = np.zeros((len(cut.time), 3))
    belt[:, 0] = cut.time * 1.0
    treadmill = replace(cut, joints={name: track - belt for name, track in cut.joints.items()})
    steps = observe_person(treadmill)
    assert any("treadmill" in doubt for doubt in steps.doubts)
    for foot in (0, 1):
        places = np.array([each.position for each in steps.contacts if each.foot == foot])
        assert len(places) >= 2
        np.testing.assert_allclose(places, places[:1].repeat(len(places), axis=0), atol=1e-9)


def test_stairs_are_refused_by_name():
    with pytest.raises(RetargetError, match="stairs"):
        observe_person(walk(stairs=0.18, period=1.2, double=0.4))


def test_feet_that_are_missing_or_never_stand_are_refused_in_one_line():
    motion = walk()
    less = replace(motion, joints={name: at for name, at in motion.joints.items() if name != "left_ankle"})
    with pytest.raises(RetargetError) as caught:
        observe_person(less)
    assert "\n" not in str(caught.value)


def test_a_person_who_lies_is_refused():
    motion = walk(steps=0)
    low = (motion.time > 0.8 * motion.time[-1])[:, None]
    pelvis = np.where(low, [0.0, 0.0, 0.15], motion.joints["pelvis"])
    ankle = {side: motion.joints[f"{side}_ankle"] for side in ("left", "right")}
    with pytest.raises(RetargetError, match="not on their feet"):
        observe_person(person(motion.time, pelvis, ankle))


def test_floating_and_sliding_feet_are_said():
    motion = walk(steps=0)
    lifted = replace(
        motion, joints={name: at + np.array([0.0, 0.0, 0.3]) for name, at in motion.joints.items()}
    )
    assert any("float" in doubt for doubt in observe_person(lifted).doubts)
    slide = np.linspace(0.0, 0.1, len(motion.time))[:, None] * [1.0, 0.0, 0.0]
    joints = {name: at + (slide if name.startswith("left") else 0.0) for name, at in motion.joints.items()}
    doubts = observe_person(replace(motion, joints=joints)).doubts
    assert any("in 1 of 2 stays, the left one at 0.00 s by 0.10 m" in doubt for doubt in doubts)


def test_feet_that_slide_fast_under_a_person_who_does_not_fall_stand():
    motion = walk(steps=0)
    slide = (1.0 * motion.time)[:, None] * [1.0, 0.0, 0.0]
    sliding = replace(motion, joints={name: at + slide for name, at in motion.joints.items()})
    steps = observe_person(sliding)
    stays = [(each.landing <= sliding.time) & (sliding.time <= each.lift) for each in steps.contacts]
    assert np.any(stays, axis=0).all()
    assert any("must carry" in doubt for doubt in steps.doubts)


@pytest.fixture(scope="module", params=[CLIP, "walker at 24 Hz", "walker at 200 Hz", "ankles of the walker"])
def walking(request):
    """A real person who walks, at 30 Hz, and a synthetic one at other rates, and with ankles alone."""
    if request.param == CLIP:
        return read_motion(CLIP)
    motion = walk(steps=6)
    if "Hz" in request.param:
        return resample(motion, float(request.param.split()[-2]))
    ankles = {name: at for name, at in motion.joints.items() if "heel" not in name and "toe" not in name}
    return replace(motion, joints=ankles)


def raised(motion, height):
    """Move everything upward by a height (T,) or a number, m."""
    up = np.broadcast_to(height, motion.time.shape)[:, None] * [0.0, 0.0, 1.0]
    return replace(motion, joints={name: at + up for name, at in motion.joints.items()})


def sliding(motion, distance):
    """Let each foot slide forward by a distance (m) in each stay, and back as it swings."""
    joints = dict(motion.joints)
    for side, touching in find_person_contacts(motion).items():
        stays = contact_intervals(touching.any(axis=1))
        at = np.concatenate([np.arange(first, last + 1) for first, last in stays])
        slid = np.concatenate([np.linspace(0.0, distance, last + 1 - first) for first, last in stays])
        moved = np.interp(np.arange(len(motion.time)), at, slid)[:, None] * [1.0, 0.0, 0.0]
        for name in joints:
            if name.startswith(side) and name.endswith(("ankle", "heel", "toe")):
                joints[name] = joints[name] + moved
    return replace(motion, joints=joints)


@pytest.mark.parametrize("height", [0.2, 0.5, -0.2])
def test_feet_that_float_or_sink_are_said_and_put_on_the_floor(walking, height):
    usual, recorded = observe_person(walking), observe_person(raised(walking, height))
    assert count_landings(recorded) == count_landings(usual)
    (doubt,) = recorded.doubts
    how, where = ("float", "above") if height > 0.0 else ("sink", "below")
    assert how in doubt
    assert where in doubt
    said = float(doubt.partition(" m ")[0].split()[-1])
    assert said == pytest.approx(abs(height), abs=0.05)
    # The scale is that of the legs, which do not grow with the height.
    assert recorded.leg == pytest.approx(usual.leg, abs=0.03)


def test_feet_that_float_by_five_centimetres_are_said():
    assert any(
        "float: they stand 0.04 m above" in doubt
        for doubt in observe_person(raised(read_motion(CLIP), 0.05)).doubts
    )


def test_feet_that_are_as_near_to_the_floor_as_markers_are_are_not_doubted(walking):
    assert not observe_person(raised(walking, 0.01)).doubts


@pytest.mark.parametrize("rise", [0.08, -0.08, 0.3])
def test_heights_that_drift_are_said_and_taken_off(rise):
    motion = walk(steps=6)
    drifting = raised(motion, rise * motion.time / motion.time[-1])
    person = observe_person(drifting)
    assert any(f"drift by {rise:+.2f} m" in doubt for doubt in person.doubts)
    assert count_landings(person) == 6
    back = np.concatenate([person.motion.joints[name] - motion.joints[name] for name in motion.joints])[:, 2]
    assert np.ptp(back) < 0.02


def test_a_tilted_floor_is_said_and_levelled():
    motion = walk(steps=6)
    slope = np.tan(np.radians(3.0))
    joints = {name: at + at[:, :1] * [0.0, 0.0, slope] for name, at in motion.joints.items()}
    recorded = observe_person(replace(motion, joints=joints))
    assert any("tilted by 3.0 degrees" in doubt for doubt in recorded.doubts)
    assert count_landings(recorded) == 6


def test_a_level_floor_is_left_as_it_is(walking):
    assert observe_person(walking).motion is walking


@pytest.mark.parametrize("rise", [0.17, -0.17])
@pytest.mark.parametrize("period", [0.6, 1.2])
def test_stairs_at_the_tempo_of_a_walk_are_refused(rise, period):
    with pytest.raises(RetargetError) as caught:
        observe_person(walk(stairs=rise, period=period, steps=5))
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("distance", [0.08, 0.2])
def test_sliding_feet_are_said_with_their_distance_in_one_line(walking, distance):
    usual, recorded = observe_person(walking), observe_person(sliding(walking, distance))
    (doubt,) = (each for each in recorded.doubts if "slide on" in each)
    said = float(doubt.partition(" m;")[0].split()[-1])
    assert said == pytest.approx(distance, abs=0.025)
    assert count_landings(recorded) == count_landings(usual)


def test_a_slide_that_a_clean_recording_may_have_is_a_note():
    recorded = observe_person(sliding(walk(steps=6), 0.04))
    assert not recorded.doubts
    assert any("slide on the floor by up to 0.04" in note for note in recorded.notes)


@pytest.mark.parametrize("rate", [60.0, 200.0])
def test_no_slide_is_found_in_a_walk_that_is_resampled(rate):
    assert not observe_person(resample(read_motion(CLIP), rate)).doubts


def test_a_foot_that_stands_on_a_low_step_is_said():
    motion = walk(steps=2, rest=1.0)
    low = raised(motion, np.where(motion.time > 1.7, 0.06, 0.0))
    assert any("differ by 0.06 m" in doubt for doubt in observe_person(low).doubts)


def standing(yaw, flags=None):
    """Feet that stay in place, the left one with a direction."""
    position = np.zeros((len(TIME), 2, 2)) + np.array([[0.0, 0.08], [0.0, -0.08]])
    flags = np.ones((len(TIME), 2), bool) if flags is None else flags
    return TIME, position, np.column_stack([yaw, np.zeros_like(TIME)]), flags


def turn(angle, when=1.5):
    """A turn within 0.2 s."""
    return angle * np.clip((TIME - when) / 0.2 + 0.5, 0.0, 1.0)


def test_a_foot_that_turns_while_both_stand_takes_one_step_then():
    ((foot, lift, landing),) = find_pivots(*standing(turn(1.0)))
    assert foot == 0
    assert 0.5 * (lift + landing) == pytest.approx(1.5, abs=0.06)
    assert landing - lift == pytest.approx(PIVOT_SWING)


def test_a_small_turn_is_no_step():
    assert not find_pivots(*standing(turn(0.3)))


def test_a_foot_that_slides_takes_a_step():
    time, position, yaw, flags = standing(np.zeros_like(TIME))
    position[:, 1, 0] += turn(0.25)
    ((foot, _, _),) = find_pivots(time, position, yaw, flags)
    assert foot == 1


def test_a_turn_on_one_foot_is_taken_while_both_stand():
    flags = np.ones((len(TIME), 2), bool)
    flags[(TIME > 1.2) & (TIME < 1.9), 1] = False
    pivots = find_pivots(*standing(turn(1.0), flags))
    assert pivots
    assert all(landing <= 1.2 or lift >= 1.9 for _, lift, landing in pivots)


def test_there_is_no_step_without_time_on_both_feet():
    flags = np.ones((len(TIME), 2), bool)
    flags[(TIME > 0.2) & (TIME < 2.8), 1] = False
    assert not find_pivots(*standing(turn(1.0), flags))


def test_steps_of_both_feet_do_not_coincide():
    time, position, yaw, flags = standing(turn(1.0))
    yaw[:, 1] = turn(0.9)
    pivots = find_pivots(time, position, yaw, flags)
    assert {foot for foot, _, _ in pivots} == {0, 1}
    assert all(lift - landing >= 0.1 - 1e-9 for (_, _, landing), (_, lift, _) in pairwise(pivots))


def test_a_turn_on_the_floor_is_among_the_persons_steps():
    motion = walk(steps=0, rest=1.5)
    joints = dict(motion.joints)
    angle = 1.0 * np.clip((motion.time - 1.5) / 0.2, 0.0, 1.0)
    for part, along in (("heel", -0.05), ("toe", 0.13)):
        moved = joints["left_ankle"].copy()
        moved += along * np.column_stack([np.cos(angle), np.sin(angle), np.zeros_like(angle)])
        moved[:, 2] = 0.0
        joints[f"left_{part}"] = moved
    motion.joints.update(joints)
    steps = observe_person(motion)
    assert (count_landings(steps), sum(each.turned for each in steps.contacts)) == (1, 1)
    landed = next(each for each in steps.contacts if each.turned)
    assert landed.yaw == pytest.approx(1.0, abs=0.02)
    assert any("steps of their own" in note for note in steps.notes)


def test_a_stay_of_one_sample_takes_no_step():
    flags = np.ones((len(TIME), 2), bool)
    flags[1:100, 0] = False
    assert not find_pivots(*standing(np.zeros_like(TIME), flags))
