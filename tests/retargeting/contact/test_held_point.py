"""The point of a hand that holds a handle, found in hands whose palm frame is elsewhere."""

import numpy as np
import pinocchio as pin
import pytest

from simbench.motion.handles import HandlePath
from simbench.retargeting.contact.held_point import find_held_point

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
