"""The floor under a recorded person: feet that float, drift and slide, a tilt, stairs; at any rate."""

from dataclasses import replace

import numpy as np
import pytest
from walker import walk

from simbench.errors import RetargetError
from simbench.kinematics.foot_contact import contact_intervals
from simbench.motion.foot_motion import find_person_contacts
from simbench.motion.human_motion import resample
from simbench.motion.readers import read_motion
from simbench.retargeting.legs.person import observe_person

CLIP = "deepmimic:humanoid3d_walk"


@pytest.fixture(scope="module", params=[CLIP, "walker at 24 Hz", "walker at 200 Hz", "ankles of the walker"])
def person(request):
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


def found(motion):
    return observe_person(motion).recorded


@pytest.mark.parametrize("height", [0.2, 0.5, -0.2])
def test_feet_that_float_or_sink_are_said_and_put_on_the_floor(person, height):
    usual, recorded = found(person), found(raised(person, height))
    assert recorded.landings == usual.landings
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
        "float: they stand 0.04 m above" in doubt for doubt in found(raised(read_motion(CLIP), 0.05)).doubts
    )


def test_feet_that_are_as_near_to_the_floor_as_markers_are_are_not_doubted(person):
    assert not found(raised(person, 0.01)).doubts


@pytest.mark.parametrize("rise", [0.08, -0.08, 0.3])
def test_heights_that_drift_are_said_and_taken_off(rise):
    motion = walk(steps=6)
    drifting = raised(motion, rise * motion.time / motion.time[-1])
    person = observe_person(drifting)
    assert any(f"drift by {rise:+.2f} m" in doubt for doubt in person.recorded.doubts)
    assert person.recorded.landings == 6
    back = np.concatenate([person.motion.joints[name] - motion.joints[name] for name in motion.joints])[:, 2]
    assert np.ptp(back) < 0.02


def test_a_tilted_floor_is_said_and_levelled():
    motion = walk(steps=6)
    slope = np.tan(np.radians(3.0))
    joints = {name: at + at[:, :1] * [0.0, 0.0, slope] for name, at in motion.joints.items()}
    recorded = found(replace(motion, joints=joints))
    assert any("tilted by 3.0 degrees" in doubt for doubt in recorded.doubts)
    assert recorded.landings == 6


def test_a_level_floor_is_left_as_it_is(person):
    assert observe_person(person).motion is person


@pytest.mark.parametrize("rise", [0.17, -0.17])
@pytest.mark.parametrize("period", [0.6, 1.2])
def test_stairs_at_the_tempo_of_a_walk_are_refused(rise, period):
    with pytest.raises(RetargetError, match="stairs, a step or a slope; allowed: a level floor") as caught:
        found(walk(stairs=rise, period=period, steps=5))
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("distance", [0.08, 0.2])
def test_sliding_feet_are_said_with_their_distance_in_one_line(person, distance):
    usual, recorded = found(person), found(sliding(person, distance))
    (doubt,) = (each for each in recorded.doubts if "slide on" in each)
    said = float(doubt.partition(" m;")[0].split()[-1])
    assert said == pytest.approx(distance, abs=0.025)
    assert recorded.landings == usual.landings


def test_a_slide_that_a_clean_recording_may_have_is_a_note():
    recorded = found(sliding(walk(steps=6), 0.04))
    assert not recorded.doubts
    assert any("slide on the floor by up to 0.04" in note for note in recorded.notes)


@pytest.mark.parametrize("rate", [60.0, 200.0])
def test_no_slide_is_found_in_a_walk_that_is_resampled(rate):
    assert not found(resample(read_motion(CLIP), rate)).doubts


def test_a_foot_that_stands_on_a_low_step_is_said():
    motion = walk(steps=2, rest=1.0)
    low = raised(motion, np.where(motion.time > 1.7, 0.06, 0.0))
    assert any("differ by 0.06 m" in doubt for doubt in found(low).doubts)
