"""What equipment demands, from the palms alone, in every frame with the hands on it."""

from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest

from simbench.errors import MotionError
from simbench.motion.actors.human_model import HumanModel
from simbench.motion.actors.palm_control import Reacher
from simbench.motion.actors.people import STANCES, draw_strategy, session_people
from simbench.motion.actors.perform import perform
from simbench.motion.actors.session import SESSION_TASKS
from simbench.motion.actors.tasks import PLACES
from simbench.motion.actors.virtual_mocap import MocapErrors
from simbench.robot.sides import SIDES

MILLIMETRE, HALF_A_DEGREE = 1e-3, np.radians(0.5)
UP = np.array([0.0, 0.0, 1.0])
REPETITIONS = 2
# One person each: short and tall, near and far.
WHO = dict(zip(SESSION_TASKS, (0, 4, 12, 8, 15, 3, 16, 9), strict=False))


def place(name, person, rng, extra=0.0):
    human = HumanModel(person.actor, person.proportions, person.lift)
    task = PLACES[name](human, person, STANCES[person.stance] + extra, rng)
    return replace(task, timing=replace(task.timing, repetitions=REPETITIONS))


def perform_once(name, seed=2018):
    person, rng = session_people(2018)[WHO.get(name, 0)], np.random.default_rng(seed)
    task, strategy = place(name, person, rng), draw_strategy(name, rng)
    return perform(person, task, strategy, rng, MocapErrors(), f"actor:{name}")


@pytest.fixture(scope="module")
def performances():
    return {name: perform_once(name) for name in PLACES}


def held(performance):
    """Places (2, T, 3), rotations (2, T, 3, 3) of both palms in contact, and the travel (T,)."""
    contact = slice(performance.contact_start, None)
    poses = np.stack([performance.palms[side][contact] for side in SIDES])
    return poses[..., :3, 3], poses[..., :3, :3], performance.travel[contact]


def angle_between(a, b):
    """Between directions (..., 3); exact for small angles."""
    return np.arctan2(np.linalg.norm(np.cross(a, b), axis=-1), np.sum(a * b, axis=-1))


def turned(rotation):
    """How far rotations (T, 3, 3) are from the first."""
    relative = rotation[0].T @ rotation
    return np.arccos(np.clip((np.trace(relative, axis1=1, axis2=2) - 1.0) / 2.0, -1.0, 1.0))


@pytest.mark.parametrize("name", PLACES)
def test_the_recording_tells_where_its_handles_take_the_hands(performances, name):
    """Each palm in contact is at a place of its handle, or between two, turned about the axis at most."""
    performance = performances[name]
    places, rotations, _ = held(performance)
    for hand, side in enumerate(SIDES):
        handle = performance.motion.handles[side]
        way = handle.poses[:, :3, 3]
        distance = np.linalg.norm(places[hand][:, None] - way, axis=2)
        nearest = distance.argmin(axis=1)
        spacing = np.linalg.norm(np.diff(way, axis=0), axis=1).max(initial=0.0)
        assert spacing < 4 * MILLIMETRE
        assert distance.min(axis=1).max() < 0.5 * spacing + 0.1 * MILLIMETRE
        axis = handle.turn_axis
        # What turns with a wheel turns between two places by half a step at most.
        held_by = np.eye(3) if axis is None else axis[:, None]
        wanted, found = handle.poses[nearest, :3, :3] @ held_by, rotations[hand] @ held_by
        assert angle_between(wanted.swapaxes(1, 2), found.swapaxes(1, 2)).max() < HALF_A_DEGREE
        # Nowhere does a handle go where the person does not take it.
        assert distance.min(axis=0).max() < 20 * MILLIMETRE
    still = {side for side in SIDES if len(performance.motion.handles[side].poses) == 1}
    assert still == ({"left"} if name in ("knife", "grater", "hand_drill") else set())


@pytest.mark.parametrize(
    ("name", "side"), [("valves", "left"), ("canoe_paddles", "right"), ("hand_drill", "right")]
)
def test_a_handle_that_goes_around_comes_back_to_where_it_was(performances, name, side):
    performance = performances[name]
    handle = performance.motion.handles[side]
    np.testing.assert_allclose(handle.poses[0], handle.poses[-1], atol=1e-12)
    around = 2 * np.pi * performance.equipment["radius_m"]
    assert np.linalg.norm(np.diff(handle.poses[:, :3, 3], axis=0), axis=1).sum() == pytest.approx(
        around, rel=1e-4
    )


def assert_still(places, rotation):
    np.testing.assert_allclose(places, np.broadcast_to(places[0], places.shape), atol=MILLIMETRE)
    assert turned(rotation).max() < HALF_A_DEGREE


def assert_rigid_pair(places, rotation):
    """The right palm does not move in the left one's frame."""
    seen = np.einsum("tji,tj->ti", rotation[0], places[1] - places[0])
    np.testing.assert_allclose(seen, np.broadcast_to(seen[0], seen.shape), atol=MILLIMETRE)
    assert turned(rotation[0].transpose(0, 2, 1) @ rotation[1]).max() < HALF_A_DEGREE


def whole_turns(angle, travel):
    """An angle measured on the palms follows the travel all the way round."""
    angle = np.unwrap(angle)
    np.testing.assert_allclose(angle - angle[0], travel - travel[0], atol=0.02)
    assert angle[-1] - angle[0] == pytest.approx(REPETITIONS * 2.0 * np.pi, abs=1e-3)


def test_valves_turn_on_their_circles_between_vertical_palms(performances):
    places, rotation, travel = held(performances["valves"])
    axis = performances["valves"].equipment["axis_m"]
    for hand, sign in enumerate((1.0, -1.0)):
        arm = places[hand] - [axis, sign * 0.16, 1.15]
        np.testing.assert_allclose(np.linalg.norm(arm[:, :2], axis=1), 0.10, atol=MILLIMETRE)
        np.testing.assert_allclose(arm[:, 2], 0.0, atol=MILLIMETRE)
        assert angle_between(rotation[hand, :, :, 1], sign * UP).max() < HALF_A_DEGREE or (
            angle_between(rotation[hand, :, :, 1], -sign * UP).max() < HALF_A_DEGREE
        )
        whole_turns(np.arctan2(sign * arm[:, 1], -arm[:, 0]), travel)


def test_the_drawer_moves_only_forward_and_back(performances):
    places, rotation, travel = held(performances["drawer"])
    shift = places - places[:, :1]
    np.testing.assert_allclose(shift[..., 1:], 0.0, atol=MILLIMETRE)
    np.testing.assert_allclose(shift[..., 0], np.stack([-travel, -travel]), atol=MILLIMETRE)
    for hand in range(2):
        assert turned(rotation[hand]).max() < HALF_A_DEGREE
        assert angle_between(rotation[hand, :, :, 2], UP).max() < HALF_A_DEGREE


def test_paddles_go_round_in_vertical_planes_under_level_palms(performances):
    performance = performances["canoe_paddles"]
    places, rotation, travel = held(performance)
    arm = places - [performance.equipment["axis_m"], 0.0, 1.05]
    np.testing.assert_allclose(np.hypot(arm[..., 0], arm[..., 2]), 0.12, atol=MILLIMETRE)
    np.testing.assert_allclose(
        places[0] - places[1], np.broadcast_to([0.0, 0.42, 0.0], arm[0].shape), atol=1e-3
    )
    assert angle_between(rotation[..., 2], UP).max() < HALF_A_DEGREE
    assert_rigid_pair(places, rotation)
    whole_turns(np.arctan2(arm[0, :, 2], -arm[0, :, 0]), travel)


def test_the_wheel_turns_a_quarter_both_ways_under_hands_rigid_on_its_rim(performances):
    performance = performances["steering_wheel"]
    places, rotation, travel = held(performance)
    assert_rigid_pair(places, rotation)
    centre = np.array([performance.equipment["centre_m"], 0.0, 0.90])
    axle = np.array([np.cos(np.pi / 6), 0.0, -np.sin(np.pi / 6)])
    for hand in range(2):
        arm = places[hand] - centre
        np.testing.assert_allclose(np.linalg.norm(arm, axis=1), 0.15, atol=MILLIMETRE)
        np.testing.assert_allclose(arm @ axle, 0.0, atol=MILLIMETRE)
        # A hand that is rigid on the rim turns about the axle by as much as the wheel.
        turn = rotation[hand] @ rotation[hand, 0].T
        np.testing.assert_allclose(turn @ axle, np.broadcast_to(axle, arm.shape), atol=1e-3)
        assert np.abs(turned(rotation[hand]) - np.abs(travel)).max() < HALF_A_DEGREE
    # 90 degrees as a person does them: within the variation of their moves.
    for end in (travel.max(), -travel.min()):
        assert end == pytest.approx(np.pi / 2, rel=0.09)


def test_the_pump_goes_up_and_down(performances):
    places, rotation, travel = held(performances["pump"])
    shift = places - places[:, :1]
    np.testing.assert_allclose(shift[..., :2], 0.0, atol=MILLIMETRE)
    np.testing.assert_allclose(shift[..., 2], np.stack([travel, travel]), atol=MILLIMETRE)
    assert_rigid_pair(places, rotation)
    assert angle_between(rotation[..., 2], UP).max() < HALF_A_DEGREE


def test_the_knife_goes_straight_and_the_hand_turns_only_about_its_handle(performances):
    performance = performances["knife"]
    places, rotation, travel = held(performance)
    assert_still(places[0], rotation[0])
    heading = performance.equipment["heading_rad"]
    blade = np.array([np.cos(heading), np.sin(heading), 0.0])
    np.testing.assert_allclose(places[1] - places[1, 0], travel[:, None] * blade, atol=MILLIMETRE)
    # A stroke begins 5 cm before the hand that holds the board, 28 cm to its right.
    begin = places[1] - travel[:, None] * blade - places[0]
    np.testing.assert_allclose(begin[:, :2], np.tile([-0.05, -0.28], (len(travel), 1)), atol=MILLIMETRE)
    # The handle crosses the palm at 50 degrees from the fingers, towards the thumb.
    handle = rotation[1] @ [np.cos(np.radians(50.0)), np.sin(np.radians(50.0)), 0.0]
    assert angle_between(handle, blade).max() < HALF_A_DEGREE


def test_the_grater_is_rubbed_along_its_slope_by_a_palm_in_its_plane(performances):
    performance = performances["grater"]
    places, rotation, travel = held(performance)
    assert_still(places[0], rotation[0])
    slope = performance.equipment["slope_rad"]
    assert np.radians(20.0) <= slope <= np.radians(40.0)
    along = np.array([np.cos(slope), 0.0, -np.sin(slope)])
    np.testing.assert_allclose(places[1] - places[1, 0], travel[:, None] * along, atol=MILLIMETRE)
    normal = np.array([np.sin(slope), 0.0, np.cos(slope)])
    assert angle_between(rotation[1, :, :, 2], normal).max() < HALF_A_DEGREE
    assert turned(rotation[1]).max() < HALF_A_DEGREE


def test_the_drills_crank_goes_round_while_the_left_hand_holds_it(performances):
    performance = performances["hand_drill"]
    places, rotation, travel = held(performance)
    assert_still(places[0], rotation[0])
    arm = places[1] - [performance.equipment["axis_m"], 0.0, 0.95]
    np.testing.assert_allclose(np.hypot(arm[:, 0], arm[:, 2]), 0.06, atol=MILLIMETRE)
    np.testing.assert_allclose(arm[:, 1], arm[0, 1], atol=MILLIMETRE)
    # The knob's axis lies across the person.
    assert angle_between(rotation[1, :, :, 1], rotation[1, 0, :, 1]).max() < HALF_A_DEGREE
    assert abs(rotation[1, 0, 1, 1]) > 1.0 - 1e-6
    whole_turns(np.arctan2(arm[:, 0], arm[:, 2]), travel)


@pytest.mark.parametrize("name", PLACES)
def test_joints_stay_in_their_ranges_and_move_as_a_persons(performances, name):
    performance = performances[name]
    reacher = Reacher(performance.human)
    joints = performance.q[:, reacher.in_q]
    model = performance.human.model
    lower, upper = model.lowerPositionLimit[reacher.in_q], model.upperPositionLimit[reacher.in_q]
    assert np.all((joints >= lower) & (joints <= upper))
    speed = np.degrees(np.gradient(joints, performance.motion.time, axis=0))
    assert np.abs(speed).max() < 350.0
    assert np.abs(np.gradient(speed, performance.motion.time, axis=0)).max() < 3000.0


@pytest.mark.parametrize("name", PLACES)
def test_phases_strokes_and_boundaries_say_when_the_equipment_moves(performances, name):
    performance = performances[name]
    time, travel, strokes = performance.motion.time, performance.travel, performance.motion.strokes
    assert strokes.shape == (REPETITIONS, 2)
    moving = np.abs(np.diff(travel)) > 1e-7
    for k in range(len(time) - 1):
        inside = any(first - 1 <= k <= last for first, last in strokes)
        assert inside or not moving[k]
    for first, last in strokes:
        # Minimum jerk: 2 % of the time at either end are 10 * 0.02^3 of the way.
        assert moving[first + 5 : first + 15].all()
        assert moving[last - 15 : last - 5].all()
    bounds = performance.boundaries * 100.0
    assert bounds[0] == pytest.approx(strokes[0, 0], abs=0.51)
    assert bounds[-1] == pytest.approx(strokes[-1, 1], abs=0.51)
    assert strokes[0, 1] < bounds[1] < strokes[1, 0]
    order = [performance.phases[phase] for phase in ("icp", "tgp", "pmp", "rest")]
    assert order[0][0] == 0
    assert order[-1][1] == len(time) - 1
    assert all(before[1] + 1 == after[0] for before, after in pairwise(order))
    assert performance.phases["pmp"] == (strokes[0, 0], strokes[-1, 1])
    assert performance.phases["icp"][1] < performance.contact_start < strokes[0, 0]


def test_the_seed_decides_the_recording(performances):
    again, other = perform_once("grater"), perform_once("grater", seed=2019)
    np.testing.assert_array_equal(again.q, performances["grater"].q)
    np.testing.assert_array_equal(
        again.motion.segments["left_hand"], performances["grater"].motion.segments["left_hand"]
    )
    assert len(other.q) != len(again.q) or not np.array_equal(other.q, again.q)


@pytest.mark.parametrize("name", ["valves", "knife"])
def test_equipment_too_far_away_is_refused_in_one_line(name):
    person, rng = session_people(2018)[WHO.get(name, 0)], np.random.default_rng(1)
    task = place(name, person, rng, extra=1.2)
    with pytest.raises(
        MotionError, match=r"^actor actor_\d\d: the (left|right) wrist cannot reach [^\n]*nearer"
    ):
        perform(person, task, draw_strategy(name, rng), rng, MocapErrors(), "actor")
