"""Hands on equipment: phases of contact, the point of a hand that holds, palms put onto handles."""

import numpy as np
import pinocchio as pin
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.spatial.transform import Rotation

from simbench.motion.human_motion import HandlePath, transform
from simbench.options import RetargetSection
from simbench.retargeting.contact.hand_plan import contact_phases, find_held_point, grip_path, near_contact

HANDLE = np.array([[0.5, 0.2, 1.0]])


def within(contact, transition, time):
    """Settings of any size: distances of contact and transition, m, and the transition's duration, s."""
    return RetargetSection.model_construct(
        contact_distance_m=contact, transition_distance_m=transition, transition_time_s=time
    )


def phases(time, distance, contact=0.015, transition=0.1, duration=1.0, handle=HANDLE):
    """A palm that is some distance in front of a handle."""
    palm = handle[0] - np.asarray(distance)[:, None] * np.array([0.6, 0.0, 0.8])
    return contact_phases(time, palm, handle, within(contact, transition, duration))


def test_contact_lasts_from_the_arrival_to_the_departure():
    time = np.arange(1000) / 100.0
    distance = np.full(1000, 0.5)
    # It passes by at 2 s, is near from 4.0 s on, touches at 4.5, is lost for a moment, and lets go at 6.4.
    distance[200:205] = 0.005
    distance[400:700] = 0.09
    distance[450:640] = 0.01
    distance[545:555] = 0.02
    share, contact = phases(time, distance)
    # It comes and goes within a sample: at rest there from the next one on.
    np.testing.assert_array_equal(np.flatnonzero(contact), np.arange(451, 639))
    np.testing.assert_array_equal(share[400:700], 1.0)
    # One second of transition before 4.0 s and after 6.99 s, and nothing else: not where it passed by.
    np.testing.assert_array_equal(share[:301], 0.0)
    np.testing.assert_array_equal(share[799:], 0.0)
    # Half a second away the minimum-jerk blend is half way, at a quarter 0.103515625.
    assert share[350] == pytest.approx(0.5)
    assert share[749] == pytest.approx(0.5)
    assert share[325] == pytest.approx(0.103515625)
    assert share[375] == pytest.approx(1 - 0.103515625)


@settings(max_examples=50, deadline=None)
@given(
    arrival=st.floats(2.0, 4.0),
    leave=st.floats(5.0, 7.0),
    duration=st.floats(0.3, 1.8),
    speed=st.floats(0.05, 1.0),
)
def test_share_rises_once_and_falls_once(arrival, leave, duration, speed):
    time = np.arange(0.0, 10.0, 0.01)
    distance = speed * np.maximum(np.maximum(arrival - time, time - leave), 0.0)
    share, contact = phases(time, distance, duration=duration)
    assert share.min() >= 0
    assert share.max() == 1
    assert (share[contact] == 1).all()
    top = int(np.argmax(share))
    assert (np.diff(share[: top + 1]) >= 0).all()
    assert (np.diff(share[top:]) <= 0).all()
    # At rest against the handle, not merely near it.
    assert contact[np.flatnonzero(distance == 0.0)[1:-1]].all()
    assert (np.abs(np.gradient(distance, time)[contact]) <= 0.03 + 1e-9).all()
    assert not contact[distance > 0.015 + 1e-9].any()
    # Minimum jerk: its greatest slope is 15/8 of the mean one.
    assert np.abs(np.diff(share)).max() / 0.01 <= 1.876 / duration


def at_distances(distances, step, contact=0.0625, transition=0.5):
    """Contact of a palm at distances from a handle, exactly: they and the step are sums of powers of 2."""
    palm = np.zeros((len(distances), 3))
    palm[:, 0] = distances
    share, touching = contact_phases(
        step * np.arange(len(distances)), palm, np.zeros((1, 3)), within(contact, transition, step)
    )
    return share.tolist(), np.flatnonzero(touching).tolist()


def test_contact_begins_below_its_distance_and_the_transition_below_its():
    share, contact = at_distances([1.0, 0.5, 0.0625, 0.03125, 0.03125, 0.03125, 0.0625, 0.5, 1.0], 64.0)
    assert contact == [3, 4, 5]
    # A step of transition around the samples that are nearer than half a metre.
    assert share == [0.0, 0.0, 1.0, 1.0, 1.0, 1.0, 1.0, 0.0, 0.0]


def test_samples_far_apart_in_time_are_one_contact():
    """Slower than the longest gap, without a sample off the handle."""
    assert at_distances([1.0, 0.0, 0.0, 0.0, 0.0, 1.0], 64.0)[1] == [1, 2, 3, 4]


@pytest.mark.parametrize(("off", "contact"), [(1, [1, 2, 3, 4, 5, 6]), (2, [4, 5, 6, 7])])
def test_off_for_the_longest_gap_is_still_on_and_for_longer_is_not(off, contact, monkeypatch):
    """From contact to contact around one sample off are two steps: just not more than the longest gap."""
    monkeypatch.setattr("simbench.retargeting.contact.hand_plan._SHORT_GAP", 128.0)
    assert at_distances([1.0, 0.0] + [1.0] * off + [0.0, 0.0, 0.0, 0.0, 1.0], 64.0)[1] == contact


@pytest.mark.parametrize(
    ("begins", "ends", "contact"),
    [
        (True, True, range(7)),
        (False, True, range(3, 7)),
        (True, False, range(4)),
        (False, False, range(3, 4)),
    ],
)
def test_contact_in_which_a_recording_begins_or_ends_is_not_shortened_to_where_the_hand_rests(
    begins, ends, contact
):
    """A palm that moves along the handle's way, rests in the middle of it and goes on."""
    along = np.array([0.0, 1.0, 2.0, 2.0, 2.0, 3.0, 4.0])
    path = np.stack([along, np.zeros(7), np.zeros(7)], axis=1)
    palm = path.copy()
    palm[0, 1] = 0.0 if begins else 9.0
    palm[6, 1] = 0.0 if ends else 9.0
    _, touching = contact_phases(np.arange(7.0), palm, path, within(0.1, 0.2, 0.1))
    assert np.flatnonzero(touching).tolist() == list(contact)


def test_a_hand_that_never_touches_stays_free():
    time = np.arange(50) / 10.0
    for distance, handle in ((np.full(50, 0.05), HANDLE), (np.zeros(50), np.empty((0, 3)))):
        palm = np.tile(HANDLE, (50, 1)) - distance[:, None]
        share, contact = contact_phases(time, palm, handle, within(0.015, 0.1, 1.0))
        assert not share.any()
        assert not contact.any()


def test_a_handle_that_moves_is_touched_wherever_it_can_be():
    time = np.arange(60) / 10.0
    way = np.linspace(0.4, 0.5, 21)
    path = np.stack([way, np.zeros(21), np.ones(21)], axis=1)
    # It comes from the side at 1 s, goes along the handle's way from 2 to 4 s, and leaves at 5 s.
    along = np.interp(time, [2.0, 4.0], [0.4, 0.5])
    aside = np.interp(time, [0.0, 1.0, 5.0, 5.9], [0.3, 0.0, 0.0, 0.3])
    palm = np.stack([along, aside, np.ones(60)], axis=1)
    _, contact = contact_phases(time, palm, path, within(0.02, 0.1, 0.05))
    np.testing.assert_array_equal(np.flatnonzero(contact), np.arange(11, 50))


@pytest.mark.parametrize(
    "contact", [[0, 0, 1, 1, 0, 0, 0, 0], [1, 1, 0, 0, 1, 0, 0, 0], [0, 0, 0, 0, 0, 0, 0, 1]]
)
def test_weight_near_contact_falls_by_minimum_jerk_from_its_first_and_last_sample(contact):
    """10 s³ − 15 s⁴ + 6 s⁵ of the time from contact, with samples a second apart that begin at 7 s."""
    on = np.flatnonzero(contact)
    weight = near_contact(7.0 + np.arange(8.0), np.array(contact, dtype=bool), 4.0)
    for sample in range(8):
        away = max(on[0] - sample, sample - on[-1], 0)
        s = max(0.0, 1.0 - away / 4.0)
        assert weight[sample] == pytest.approx(10 * s**3 - 15 * s**4 + 6 * s**5, abs=1e-12)


def test_nothing_is_near_a_contact_that_never_comes():
    assert not near_contact(np.arange(3.0), np.zeros(3, dtype=bool), 1.0).any()


CONTACT = 0.015
RATE = 100.0


def recording(offset, rotation, reach):
    """A hand that comes from afar, rests on a handle, and pulls it along x and back; the palm's poses."""
    approach = np.linspace(0.4, 0.0, 100)[:, None] * [0.2, 0.3, 1.0]
    rest = np.zeros((50, 3))
    stroke = 0.5 * (1.0 - np.cos(np.linspace(0.0, 6.0 * np.pi, 600)))[:, None] * [-reach, 0.0, 0.0]
    held = np.concatenate([approach, rest, stroke, rest]) + np.array([0.45, 0.2, 1.0])
    palm = np.tile(np.eye(4), (len(held), 1, 1))
    palm[:, :3, :3] = rotation
    palm[:, :3, 3] = held - rotation @ offset
    return np.arange(len(held)) / RATE, palm


def drawer(start=0):
    poses = np.tile(np.eye(4), (101, 1, 1))
    poses[:, :3, 3] = np.linspace(0.0, -0.2, 101)[:, None] * [1.0, 0.0, 0.0] + [0.45, 0.2, 1.0]
    return HandlePath(poses, None, start)


@pytest.mark.parametrize("yaw", [0.0, 0.7])
@pytest.mark.parametrize("offset", [(0.0, -0.03, 0.02), (-0.05, 0.005, 0.016), (0.04, 0.0, -0.04)])
def test_offset_of_a_hand_that_rests_before_it_pulls(offset, yaw):
    time, palm = recording(np.array(offset), pin.utils.rotate("z", yaw), 0.11)
    found = find_held_point(time, palm, drawer(), CONTACT)
    np.testing.assert_allclose(found, offset, atol=2e-4)


def test_a_long_hand_holds_as_far_from_its_palm_frame_as_it_is_long():
    time, palm = recording(np.array([-0.13, 0.0, -0.02]), np.eye(3), 0.11)
    assert find_held_point(time, palm, drawer(), CONTACT)[0] == pytest.approx(0.0, abs=0.05)
    found = find_held_point(time, palm, drawer(), CONTACT, hand_length=0.21)
    np.testing.assert_allclose(found, (-0.13, 0.0, -0.02), atol=2e-4)


def test_without_a_known_start_the_offset_across_the_path_is_found():
    time, palm = recording(np.array([0.0, -0.03, 0.02]), np.eye(3), 0.11)
    found = find_held_point(time, palm, drawer(None), CONTACT)
    np.testing.assert_allclose(found, (0.0, -0.03, 0.02), atol=2e-4)


def test_a_palm_on_its_handle_stays():
    time, palm = recording(np.array([0.004, -0.003, 0.002]), np.eye(3), 0.11)
    assert not find_held_point(time, palm, drawer(), CONTACT).any()


def test_a_hand_that_never_comes_near_has_no_held_point():
    time, palm = recording(np.zeros(3), np.eye(3), 0.11)
    palm[:, 1, 3] += 0.5
    assert not find_held_point(time, palm, drawer(), CONTACT).any()


def test_the_end_of_a_circle_is_its_beginning():
    angle = np.linspace(0.0, 2.0 * np.pi, 101)
    poses = np.tile(np.eye(4), (101, 1, 1))
    poses[:, :3, 3] = np.column_stack([0.1 * np.cos(angle), np.zeros(101), 0.1 * np.sin(angle)])
    turn = np.concatenate([np.zeros(80), np.linspace(0.0, 2.0 * np.pi, 400), np.full(40, 2.0 * np.pi)])
    palm = np.tile(np.eye(4), (len(turn), 1, 1))
    offset = np.array([0.0, 0.035, 0.0])
    palm[:, :3, 3] = np.column_stack([0.1 * np.cos(turn), 0.0 * turn, 0.1 * np.sin(turn)]) - offset
    found = find_held_point(np.arange(len(turn)) / RATE, palm, HandlePath(poses, None, 0), CONTACT)
    np.testing.assert_allclose(found, offset, atol=1e-3)


RADIUS = 0.1


def on_circle(angles, sign=1.0):
    """Palms on a circle about a vertical axis, fingers along x, thumb up."""
    angles = np.asarray(angles, dtype=float)
    places = np.stack(
        [0.5 - RADIUS * np.cos(angles), sign * (0.16 + RADIUS * np.sin(angles)), np.ones(len(angles))], axis=1
    )
    upright = Rotation.from_euler("x", -90 * sign, degrees=True).as_matrix()
    return transform(np.broadcast_to(upright, (len(angles), 3, 3)), places)


def valve(sign=1.0, count=200):
    return HandlePath(on_circle(np.linspace(0.0, 2 * np.pi, count), sign), np.array([0.0, 1.0, 0.0]))


def test_noise_beside_a_circle_goes_and_the_turn_about_the_handle_stays():
    rng = np.random.default_rng(1)
    angles = np.linspace(0.0, 9.0, 300)
    turn = Rotation.from_rotvec(np.outer(0.4 * np.sin(angles), [0.0, 1.0, 0.0]))
    true = on_circle(angles)
    true[:, :3, :3] = true[:, :3, :3] @ turn.as_matrix()
    seen = true.copy()
    seen[:, :3, 3] += rng.normal(scale=0.003, size=(300, 3))
    seen[:, :3, :3] = (
        seen[:, :3, :3] @ Rotation.from_rotvec(rng.normal(scale=0.02, size=(300, 3))).as_matrix()
    )
    held = grip_path({"left": seen}, {"left": np.ones(300, bool)}, {"left": valve()})["left"]
    radius = np.hypot(held[:, 0, 3] - 0.5, held[:, 1, 3] - 0.16)
    # The spline through 200 places of the circle is a circle to a micrometre, all around.
    np.testing.assert_allclose(radius, RADIUS, atol=1e-6)
    np.testing.assert_allclose(held[:, 2, 3], 1.0, atol=1e-9)
    # The place is the foot of the perpendicular from the palm that was seen.
    out = np.stack([seen[:, 0, 3] - 0.5, seen[:, 1, 3] - 0.16], axis=1)
    foot = RADIUS * out / np.linalg.norm(out, axis=1, keepdims=True)
    np.testing.assert_allclose(held[:, :2, 3] - [0.5, 0.16], foot, atol=2e-5)
    # The axis stands upright again, and the turn about it is the actor's to the noise.
    np.testing.assert_allclose(held[:, :3, 1], np.tile([0.0, 0.0, -1.0], (300, 1)), atol=1e-6)
    apart = Rotation.from_matrix(held[:, :3, :3].transpose(0, 2, 1) @ true[:, :3, :3]).as_rotvec()
    assert np.abs(apart[:, 1]).max() < 0.08
    assert np.abs(apart[:, [0, 2]]).max() < 1e-6


def test_hands_on_one_mechanism_are_at_the_same_place_of_its_way():
    way = np.linspace(0.0, 0.3, 101)
    turned = Rotation.from_rotvec(np.radians([[0, 0, 15], [0, 0, -15]])).as_matrix()
    poses = {
        side: transform(
            np.broadcast_to(turned[k], (101, 3, 3)),
            np.stack([0.6 - way, np.full(101, y), np.full(101, 0.97)], axis=1),
        )
        for k, (side, y) in enumerate((("left", 0.2), ("right", -0.2)))
    }
    handles = {side: HandlePath(pose) for side, pose in poses.items()}
    travel = 0.15 - 0.1 * np.cos(np.linspace(0.0, 6.0, 80))
    palms, contact = {}, {side: np.arange(80) >= 20 for side in poses}
    for side, ahead in (("left", 0.004), ("right", -0.002)):
        palms[side] = np.tile(poses[side][0], (80, 1, 1))
        palms[side][:, 0, 3] = 0.6 - travel + ahead
    held = grip_path(palms, contact, handles)
    both = contact["left"]
    # Their mean difference, once for both: no squeezing of what they hold.
    for side in poses:
        np.testing.assert_allclose(held[side][both, 0, 3], 0.6 - travel[both] + 0.001, atol=1e-9)
        np.testing.assert_allclose(held[side][both, :3, :3], poses[side][:60, :3, :3], atol=1e-9)
        np.testing.assert_array_equal(held[side][~both], palms[side][~both])


def test_ways_end_and_still_handles_stay():
    poses = np.tile(np.eye(4), (5, 1, 1))
    poses[:, 0, 3] = np.linspace(0.0, 0.1, 5)
    palm = np.tile(np.eye(4), (3, 1, 1))
    palm[:, 0, 3] = (-0.02, 0.06, 0.13)
    touching = {"right": np.ones(3, bool)}
    held = grip_path({"right": palm}, touching, {"right": HandlePath(poses)})["right"]
    np.testing.assert_allclose(held[:, 0, 3], (0.0, 0.06, 0.1), atol=1e-9)
    held = grip_path({"right": palm}, touching, {"right": HandlePath(poses[2:3])})["right"]
    np.testing.assert_allclose(held[:, 0, 3], 0.05)


@pytest.mark.parametrize("angle", [0.0, 1.0, 2.0 * np.pi - 0.01])
def test_a_closed_way_has_no_end(angle):
    seen = on_circle([angle])
    held = grip_path({"left": seen}, {"left": np.ones(1, bool)}, {"left": valve()})["left"]
    np.testing.assert_allclose(held, seen, atol=1e-6)
