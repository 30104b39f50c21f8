"""The pictures of a run show the moments that matter: a fall, a push, steps, a stroke, or gestures."""

import numpy as np
import pytest
import script_modules
import xarray as xr

TIME = np.arange(1000) * 0.01


@pytest.fixture(scope="module")
def moments():
    with script_modules.loaded_script("tools/strip_moments.py") as module:
        yield module


def make_log(height=None, forward=None, push=None, palms=None, lifted=None, strokes=()):
    """A log of 10 s of a robot that stands still, except for what is given."""
    still = np.zeros(len(TIME))
    base = np.zeros((len(TIME), 7))
    base[:, 6] = 1.0
    base[:, 0] = still if forward is None else forward
    base[:, 2] = 0.8 if height is None else height
    # What drops also tilts.
    base[:, 3] = np.sqrt(np.clip(0.8 - base[:, 2], 0.0, 1.0))
    cog = np.zeros((len(TIME), 3))
    cog[:, 0] = base[:, 0]
    wrench = np.zeros((len(TIME), 6))
    wrench[:, 0] = still if push is None else push
    hands = np.zeros((len(TIME), 1, 3))
    hands[:, 0, 0] = still if palms is None else palms
    planned = np.ones((len(TIME), 2), bool)
    planned[:, 0] = True if lifted is None else ~lifted
    return xr.Dataset(
        {
            "base_pose": (("time", "pose"), base),
            "cog": (("time", "xyz"), cog),
            "push_wrench": (("time", "axis6"), wrench),
            "palm_position": (("time", "hand", "xyz"), hands),
            "contact_planned": (("time", "foot"), planned),
            "strokes": (("stroke", "bound"), np.reshape(strokes, (-1, 2)).astype(float)),
        },
        coords={"time": TIME},
        attrs={"motion_start_s": 1.0},
    )


def test_a_fall_is_shown_from_before_it_begins_to_its_end(moments):
    height = 0.8 - np.clip(TIME - 6.0, 0.0, 0.5)
    before, begins, during, end = moments.choose_moments(make_log(height=height), equipped=False)
    assert before == pytest.approx(begins - moments.BEFORE_FALL)
    assert begins == pytest.approx(6.0, abs=0.05)
    assert begins < during < end == pytest.approx(TIME[-1])


def test_the_last_push_is_shown_with_what_it_causes(moments):
    push = np.where(np.abs(TIME - 2.0) < 0.05, 100.0, 0.0) + np.where(np.abs(TIME - 5.0) < 0.05, 200.0, 0.0)
    leans = 0.1 * np.exp(-(((TIME - 5.6) / 0.3) ** 2))
    acts, halfway, widest, end = moments.choose_moments(make_log(push=push, forward=leans), equipped=False)
    assert acts == pytest.approx(5.0, abs=0.02)
    assert acts < halfway < widest == pytest.approx(5.6, abs=0.02)
    assert end == pytest.approx(TIME[-1])


def test_a_walk_is_shown_at_places_apart_and_where_it_ends(moments):
    forward = 0.2 * TIME
    log = make_log(forward=forward, lifted=(TIME % 1.0) > 0.5)
    assert moments.goes_somewhere(log)
    times = moments.choose_moments(log, equipped=False)
    places = np.interp(times, TIME, forward)
    assert len(times) >= 3
    assert times[-1] == pytest.approx(TIME[-1])
    assert np.diff(places).min() >= moments.APART


def test_equipment_is_shown_before_and_in_the_first_stroke(moments):
    palms = 0.1 * np.sin(np.pi * (TIME - 4.0))
    log = make_log(palms=palms, strokes=[[4.0, 6.0], [6.0, 8.0]])
    before, *during = moments.choose_moments(log, equipped=True)
    assert before == pytest.approx(4.0 - moments.BEFORE_STROKE)
    assert len(during) == moments.PICTURES - 1
    assert min(during) >= 4.0
    assert max(during) <= 6.0
    shown = np.interp(during, TIME, palms)
    assert (shown.max(), shown.min()) == pytest.approx((0.1, -0.1), abs=0.002)


def test_gestures_are_shown_where_the_palms_are_far_apart(moments):
    palms = np.where(TIME < 5.0, 0.0, np.where(TIME < 5.2, 1.0, np.where(TIME < 8.0, 0.5, 2.0)))
    times = moments.choose_moments(make_log(palms=palms), equipped=False)
    assert sorted(np.interp(times, TIME, palms).round(3)) == [0.0, 0.5, 1.0, 2.0]


def test_steps_on_the_spot_are_shown_with_a_foot_in_the_air(moments):
    lifted = (TIME % 1.0) > 0.5
    times = moments.choose_moments(make_log(palms=np.sin(TIME), lifted=lifted), equipped=False)
    assert len(times) == moments.PICTURES
    assert np.interp(times, TIME, lifted).min() == 1.0


def test_gestures_that_repeat_are_shown_while_they_do(moments):
    palms = np.where(TIME < 4.0, 5.0, np.sin(TIME))
    times = moments.choose_moments(make_log(palms=palms, strokes=[[4.5, 6.0], [6.2, 9.0]]), equipped=False)
    assert len(times) == moments.PICTURES
    assert min(times) >= 4.5
    assert max(times) <= 9.0
