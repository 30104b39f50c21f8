"""Contact of feet with the floor: synthetic steps and slides whose moments are known.

Measures of feet and jerk of motions in closed form.
"""

import numpy as np
import pytest

from simbench.kinematics.foot_contact import (
    PERSON_THRESHOLDS,
    SOLE_THRESHOLDS,
    contact_intervals,
    dimensionless_jerk,
    estimate_floor,
    find_foot_contacts,
    find_point_contacts,
    measure_feet,
    measure_foot_skate,
    measure_jerk,
    measure_sole_angle,
    point_speeds,
)

CORNERS = np.array([(-0.05, -0.03, 0.0), (0.12, -0.03, 0.0), (0.12, 0.03, 0.0), (-0.05, 0.03, 0.0)])


def smooth(time, start, end):
    s = ((time - start) / (end - start)).clip(0, 1)
    return s**3 * (10 - 15 * s + 6 * s**2)


def stepping(time, start=1.0, end=1.6, length=0.3, height=0.05):
    """A flat foot that makes one step along a cycloid."""
    phase = ((time - start) / (end - start)).clip(0, 1)
    along = length * (phase - np.sin(2 * np.pi * phase) / (2 * np.pi))
    path = np.stack([along, 0 * time, height * np.sin(np.pi * phase) ** 2], axis=1)
    return path[:, None] + CORNERS


@pytest.mark.parametrize("rate", [30.0, 50.0, 120.0, 1000.0])
@pytest.mark.parametrize("floor", [0.0, 0.4])
def test_a_step_interrupts_the_contact_of_the_foot_once(rate, floor):
    time = np.arange(0.0, 3.0, 1.0 / rate)
    points = stepping(time) + np.array([0.0, 0.0, floor])
    contact = find_foot_contacts(time, points[..., 2], point_speeds(time, points))
    (_, lift), (land, _) = contact_intervals(contact)
    high = points[:, 0, 2] - floor > SOLE_THRESHOLDS.lift_height
    first, last = np.flatnonzero(high)[[0, -1]]
    assert abs(lift + 1 - first) <= 1
    assert 0 < land - last <= 0.1 * rate
    assert 1.0 < time[lift] < time[land] < 1.6


def test_height_and_speed_have_hysteresis():
    time = np.arange(0.0, 1.0, 0.01)
    height = np.full((100, 1), 0.0075)
    height[:20], height[60:] = 0.05, 0.0
    still = np.zeros_like(height)
    # Between both thresholds it stays as it was: first in the air, later in contact.
    assert list(np.flatnonzero(find_foot_contacts(time, height, still, 0.0))) == list(range(60, 100))
    assert find_foot_contacts(time, height[::-1], still, 0.0)[:80].all()
    fast = np.full_like(height, 1.1)
    assert not find_foot_contacts(time, height, fast, 0.0).any()


def test_short_contacts_are_dropped_and_short_interruptions_closed():
    time = np.arange(0.0, 2.0, 0.01)
    height = np.where(time < 1.0, 0.0, 0.1)[:, None]
    speeds = np.zeros_like(height)
    speeds[50:53] = 5.0
    height[150:153] = 0.0
    contact = find_foot_contacts(time, height, speeds, 0.0)
    assert np.array_equal(contact, time < 1.0)


def test_a_persons_ankle_stands_at_its_own_height():
    rng = np.random.default_rng(1)
    time = np.arange(0.0, 6.0, 0.01)
    lifted = (time % 2.0) > 1.2
    swing = np.where(lifted, np.sin(np.pi * ((time % 2.0) - 1.2) / 0.8) ** 2, 0.0)
    points = np.zeros((len(time), 2, 3))
    points[:, 0, 2], points[:, 1, 2] = 0.09 + 0.15 * swing, 0.03 + 0.1 * swing
    points += 0.0005 * rng.standard_normal(points.shape)
    speeds = point_speeds(time, points)
    assert estimate_floor(points[..., 2], speeds) == pytest.approx([0.09, 0.03], abs=0.002)
    contact = find_foot_contacts(time, points[..., 2], speeds, thresholds=PERSON_THRESHOLDS)
    # Three swings; the foot lands before the end.
    assert len(contact_intervals(contact)) == 4
    assert contact[~lifted].all()
    assert not contact[swing > 0.7].any()


def test_a_slide_is_measured_over_the_contact_and_a_step_is_not():
    time = np.arange(0.0, 3.0, 0.01)
    points = stepping(time)
    points[..., 0] += 0.05 * ((time - 2.0) / 0.25).clip(0, 1)[:, None]
    touching = find_point_contacts(time, points[..., 2], point_speeds(time, points), 0.0)
    displacement, speed, worst = measure_foot_skate(time, points, touching)
    assert displacement[time < 1.9].max() < 0.01
    assert displacement[-1] - displacement[199] == pytest.approx(0.05, abs=1e-9)
    slid = np.flatnonzero(displacement > displacement[199] + 0.001)
    assert slid[slid > 199][0] == 201
    assert speed[210] == pytest.approx(0.2)
    assert worst[0] > 140
    assert worst[1] == 299


def test_a_foot_that_jumps_on_the_floor_slides():
    time = np.arange(0.0, 1.0, 0.02)
    points = np.tile(CORNERS, (50, 1, 1))
    points[25:, :, 0] += 0.05
    touching = find_point_contacts(time, points[..., 2], point_speeds(time, points), 0.0)
    displacement, _, _ = measure_foot_skate(time, points, touching)
    assert np.array_equal(displacement > 0.0, time > 0.49)
    assert displacement.max() == pytest.approx(0.05)


def test_rolling_over_the_toe_is_no_slide_and_turning_is():
    time = np.arange(0.0, 1.0, 0.01)
    pitch = 0.6 * smooth(time, 0.2, 0.8)
    lever = np.array([0.12, 0.0, 0.0])
    about_toe = CORNERS - lever
    rolled = np.stack(
        [
            np.outer(np.cos(pitch), about_toe[:, 0]),
            np.tile(about_toe[:, 1], (100, 1)),
            -np.outer(np.sin(pitch), about_toe[:, 0]),
        ],
        axis=-1,
    )
    touching = find_point_contacts(time, rolled[..., 2], point_speeds(time, rolled), 0.0)
    assert touching[:, 1:3].all()
    assert measure_foot_skate(time, rolled, touching)[0].max() < 0.001
    turned = np.stack(
        [
            np.outer(np.cos(pitch), CORNERS[:, 0]) - np.outer(np.sin(pitch), CORNERS[:, 1]),
            np.outer(np.sin(pitch), CORNERS[:, 0]) + np.outer(np.cos(pitch), CORNERS[:, 1]),
            np.zeros((100, 4)),
        ],
        axis=-1,
    )
    displacement, _, _ = measure_foot_skate(time, turned, np.ones((100, 4), bool))
    assert displacement[-1] == pytest.approx(2 * np.sin(0.3) * np.hypot(0.12, 0.03))


def test_the_tilt_counts_in_contact():
    contact = np.array([True, True, False])
    normal = np.array([[np.sin(0.2), 0.0, np.cos(0.2)]] * 3)
    assert measure_sole_angle(normal, contact) == pytest.approx([0.2, 0.2, 0.0])


def test_jerk_of_known_motions():
    time = np.linspace(0.0, 2.0, 2001)
    motion = np.stack([0.5 * smooth(time, 0.0, 2.0), 0.3 * np.sin(3.0 * time), 0 * time], axis=1)
    # Minimum jerk from rest to rest: ∫ jerk² dt = 720 L² / D⁵, peak speed 1.875 L / D; without the ends some
    # of the integral is lost.
    assert dimensionless_jerk(time, motion)[0] == pytest.approx(720 / 1.875**2, rel=0.03)
    assert dimensionless_jerk(2.0 * time, 3.0 * motion)[0] == pytest.approx(
        dimensionless_jerk(time, motion)[0]
    )
    assert np.isnan(dimensionless_jerk(time, motion)[2])


RATE = 100.0
TIME = np.arange(401) / RATE
MEASURED_CORNERS = np.array([[0.1, 0.05, 0.0], [0.1, -0.05, 0.0], [-0.1, 0.05, 0.0], [-0.1, -0.05, 0.0]])


def foot(height, forward=0.0):
    """Corners (T, 4, 3) of a sole at a height, and moved forward."""
    corners = np.tile(MEASURED_CORNERS, (len(TIME), 1, 1))
    corners[..., 2] += np.broadcast_to(height, TIME.shape)[:, None]
    corners[..., 0] += np.broadcast_to(forward, TIME.shape)[:, None]
    return corners


def hop(start, end, height):
    """A half sine from one time to another, so steep that it leaves the floor within a sample or two."""
    inside = (start < TIME) & (end > TIME)
    return np.where(inside, height * np.sin(np.pi * (TIME - start) / (end - start)), 0.0)


def test_fractions_of_support_are_those_of_the_steps():
    """The left foot is up from 0.5 to 1.5 s, the right from 1 to 2 s and from 3 to 3.5 s: 0.5 s on none."""
    feet = {"left": foot(hop(0.5, 1.5, 0.3)), "right": foot(hop(1.0, 2.0, 0.3) + hop(3.0, 3.5, 0.2))}
    found = measure_feet(TIME, feet, SOLE_THRESHOLDS, floor=0.0)
    # A foot counts as lifted beyond 1 cm, which takes it a few samples on both sides.
    assert found.flight == pytest.approx(0.5 / 4.0, abs=0.02)
    assert found.single == pytest.approx(1.5 / 4.0, abs=0.03)
    assert found.double == pytest.approx(2.0 / 4.0, abs=0.03)
    assert found.double + found.single + found.flight == pytest.approx(1.0)
    # In the middle between both highest points, where they are equally high.
    assert found.float_height.value == pytest.approx(0.3 * np.sin(0.75 * np.pi), abs=0.01)
    assert TIME[found.float_height.sample] == pytest.approx(1.25, abs=0.011)
    assert found.skate.value == 0.0
    assert found.penetration.value == 0.0


def test_sliding_and_depth_are_found_when_they_are_worst():
    slide = 0.05 * np.clip((TIME - 1.0) / 1.0, 0.0, 1.0)
    sink = -0.03 * np.exp(-(((TIME - 3.0) / 0.1) ** 2))
    found = measure_feet(TIME, {"left": foot(sink), "right": foot(0.0, slide)}, SOLE_THRESHOLDS, floor=0.0)
    assert found.skate.value == pytest.approx(0.05, abs=1e-12)
    assert TIME[found.skate.sample] == pytest.approx(2.0, abs=0.011)
    assert found.penetration.value == pytest.approx(0.03, abs=1e-12)
    assert TIME[found.penetration.sample] == pytest.approx(3.0)
    assert found.double == 1.0


def test_ankles_stand_at_their_own_height():
    """Without a given floor, a point 9 cm above it stands there."""
    feet = {"left": foot(0.09)[:, :1], "right": foot(0.09 + hop(1.0, 2.0, 0.2))[:, :1]}
    found = measure_feet(TIME, feet, SOLE_THRESHOLDS)
    assert found.flight == 0.0
    assert found.single == pytest.approx(0.25, abs=0.02)


def test_jerk_of_a_sine_and_of_a_minimum_jerk_movement():
    omega = np.pi
    sine = 0.2 * np.sin(omega * TIME)[:, None] * np.array([0.6, 0.0, 0.8])
    found = measure_jerk(TIME, sine)
    assert found[0].value == pytest.approx(0.2 * omega**3, rel=0.02)
    tau = TIME / TIME[-1]
    smooth = (10 * tau**3 - 15 * tau**4 + 6 * tau**5)[:, None] * np.array([0.3, 0.4, 0.0])
    # 720 / 1.875² (Hogan and Sternad 2009), without three samples at both ends: the jerk there is 60 A / D³,
    # so that they make 2 × 3600 / 720 of their fraction of the duration.
    expected = 720.0 / 1.875**2 * (1.0 - 10.0 * 3.0 / 400.0)
    assert measure_jerk(TIME, smooth)[1] == pytest.approx(expected, rel=0.01)
    assert measure_jerk(3.0 * TIME, 5.0 * smooth)[1] == pytest.approx(expected, rel=0.01)
    # A stop in the middle, and the way back: more than one movement.
    there_and_back = np.concatenate([smooth[::2], smooth[-2::-2]])
    assert measure_jerk(TIME, there_and_back)[1] > 3.0 * 204.8


def test_a_jump_is_the_peak_and_noise_is_not():
    rng = np.random.default_rng(0)
    path = 0.2 * np.sin(np.pi * TIME)[:, None] * np.ones(3)
    path[250:] += 0.05
    noisy = path + 5e-4 * rng.standard_normal(path.shape)
    found = measure_jerk(TIME, noisy)
    assert abs(found[0].sample - 250) < 10
    raw = np.abs(np.diff(5e-4 * rng.standard_normal(path.shape), 3, axis=0) * RATE**3).max()
    assert measure_jerk(TIME[:240], noisy[:240])[0].value < 0.1 * raw


def test_a_point_at_rest_has_no_dimensionless_jerk_and_few_samples_have_none():
    rest = measure_jerk(TIME, 1e-9 * np.sin(TIME)[:, None] * np.ones(3))
    assert np.isnan(rest[1])
    assert rest[0].value < 1e-6
    assert measure_jerk(TIME[:8], np.zeros((8, 3))) is None
