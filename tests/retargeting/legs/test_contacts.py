"""Contacts of synthetic walks: when and where the feet stood, and what is refused."""

from dataclasses import replace

import numpy as np
import pytest
from walker import ANKLE, RATE, SHANK, THIGH, person, walk

from simbench.errors import RetargetError
from simbench.motion.foot_motion import find_person_contacts, measure_person_feet, with_heels
from simbench.retargeting.legs.person import observe_person


def recorded(motion):
    """Find the steps of a motion."""
    return observe_person(motion).recorded


def test_a_walk_has_its_steps_where_and_when_they_were_taken():
    steps = recorded(walk())
    assert steps.landings == 4
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
    steps = recorded(replace(motion, joints=ankles))
    assert steps.landings == 4
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
    steps = recorded(treadmill)
    assert any("treadmill" in doubt for doubt in steps.doubts)
    for foot in (0, 1):
        places = np.array([each.position for each in steps.contacts if each.foot == foot])
        assert len(places) >= 2
        np.testing.assert_allclose(places, places[:1].repeat(len(places), axis=0), atol=1e-9)


def test_stairs_are_refused_by_name():
    with pytest.raises(RetargetError, match="stairs"):
        recorded(walk(stairs=0.18, period=1.2, double=0.4))


def test_feet_that_are_missing_or_never_stand_are_refused_in_one_line():
    motion = walk()
    less = replace(motion, joints={name: at for name, at in motion.joints.items() if name != "left_ankle"})
    with pytest.raises(RetargetError, match="lacks left_ankle") as caught:
        recorded(less)
    assert "\n" not in str(caught.value)


def test_a_person_who_lies_is_refused():
    motion = walk(steps=0)
    low = (motion.time > 0.8 * motion.time[-1])[:, None]
    pelvis = np.where(low, [0.0, 0.0, 0.15], motion.joints["pelvis"])
    ankle = {side: motion.joints[f"{side}_ankle"] for side in ("left", "right")}
    with pytest.raises(RetargetError, match="not on their feet"):
        recorded(person(motion.time, pelvis, ankle))


def test_floating_and_sliding_feet_are_said():
    motion = walk(steps=0)
    lifted = replace(
        motion, joints={name: at + np.array([0.0, 0.0, 0.3]) for name, at in motion.joints.items()}
    )
    assert any("float" in doubt for doubt in recorded(lifted).doubts)
    slide = np.linspace(0.0, 0.1, len(motion.time))[:, None] * [1.0, 0.0, 0.0]
    joints = {name: at + (slide if name.startswith("left") else 0.0) for name, at in motion.joints.items()}
    doubts = recorded(replace(motion, joints=joints)).doubts
    assert any("in 1 of 2 stays, the left one at 0.00 s by 0.10 m" in doubt for doubt in doubts)


def test_feet_that_slide_fast_under_a_person_who_does_not_fall_stand():
    motion = walk(steps=0)
    slide = (1.0 * motion.time)[:, None] * [1.0, 0.0, 0.0]
    sliding = replace(motion, joints={name: at + slide for name, at in motion.joints.items()})
    steps = recorded(sliding)
    assert steps.flags.any(axis=1).all()
    assert any("must carry" in doubt for doubt in steps.doubts)
