"""Placement against forward kinematics by Pinocchio and plain geometry."""

from types import SimpleNamespace

import numpy as np
import pinocchio as pin
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from simbench.balance.leg_ik import stand
from simbench.motion.human_motion import HandlePath
from simbench.retargeting.placement import placement as place
from simbench.retargeting.placement.placement import BasePlacement, cog_targets, evaluate_placement, find_spot
from simbench.retargeting.placement.posture_ik import (
    STIFFNESS,
    HandPath,
    make_posture_range,
    optimise_base_pose,
)
from simbench.retargeting.placement.reach_model import (
    ReachabilityModel,
    arm_length,
    from_base,
    handle_path_points,
)
from simbench.retargeting.placement.root_placement import (
    NominalPosture,
    Placement,
    ReachProblem,
    ReachTolerances,
    evaluate_root,
    find_root,
)
from simbench.robot.robot import SEATED, load_robot


@pytest.fixture(scope="module")
def puma():
    return load_robot("puma560")


@pytest.fixture(scope="module")
def mahru():
    return load_robot("mahru")


def flange(puma, joints):
    data = puma.model.createData()
    pin.framesForwardKinematics(puma.model, data, joints)
    return data.oMf[puma.model.getFrameId("flange")].homogeneous


def pose(x, y, z, turn=None):
    made = np.eye(4)
    made[:3, 3] = x, y, z
    made[:3, :3] = np.eye(3) if turn is None else turn
    return made


ORIGIN = np.zeros(6)


def ready(puma, handles):
    return ReachabilityModel(puma, handles, puma.postures["ready"])


def test_a_way_the_arm_has_gone_is_feasible_with_at_least_its_margin(puma):
    first, last = puma.postures["ready"], puma.postures["ready"] + [0.5, -0.3, 0.2, 0.4, -0.3, 0.6]
    gone = np.linspace(first, last, 40)
    handles = {"right": HandlePath(np.array([flange(puma, q) for q in gone]))}
    found = evaluate_root(ready(puma, handles), handles, ORIGIN, ReachTolerances(ample_margin=3.0))
    low, high = puma.model.lowerPositionLimit, puma.model.upperPositionLimit
    assert found.feasible
    assert (found.errors == 0.0).all()
    own = np.minimum(gone - low, high - gone).min()
    assert found.margin > own - 0.01
    assert found.margin == pytest.approx(np.minimum(found.joints - low, high - found.joints).min())
    for joints, wanted in zip(found.joints, handles["right"].poses, strict=True):
        off = pin.SE3(wanted).actInv(pin.SE3(flange(puma, joints)))
        assert np.linalg.norm(off.translation) < 1e-3
        assert np.linalg.norm(pin.log3(off.rotation)) < np.radians(0.5)


@settings(max_examples=10, deadline=None)
@given(angle=st.floats(-3.0, 3.0), direction=st.sampled_from(np.eye(3).tolist()))
def test_a_hand_that_may_turn_about_its_handle_does(puma, angle, direction):
    """Handles that differ by a turn about the free axis ask for the same."""
    axis = np.array(direction)
    wanted = flange(puma, puma.postures["ready"])
    turned = wanted.copy()
    turned[:3, :3] = wanted[:3, :3] @ pin.exp3(angle * axis)
    found = []
    for one in (wanted, turned):
        handles = {"right": HandlePath(one[None], axis)}
        found.append(evaluate_root(ready(puma, handles), handles, ORIGIN, ReachTolerances()))
    assert found[1].feasible
    assert found[1].margin == pytest.approx(found[0].margin, abs=1e-6)
    palm = flange(puma, found[1].joints[0])
    np.testing.assert_allclose(palm[:3, 3], wanted[:3, 3], atol=1e-3)
    assert np.arccos(min(1.0, palm[:3, :3] @ axis @ wanted[:3, :3] @ axis)) < np.radians(0.5)


def test_a_circle_closes(puma):
    angles = np.linspace(0.0, 2.0 * np.pi, 60)
    down = pin.exp3(np.array([0.0, 0.5 * np.pi, 0.0]))
    way = [pose(0.5 + 0.1 * np.cos(a), 0.1 + 0.1 * np.sin(a), 0.6, down) for a in angles]
    handles = {"right": HandlePath(np.array(way), np.array([1.0, 0.0, 0.0]))}
    found = evaluate_root(ready(puma, handles), handles, ORIGIN, ReachTolerances())
    assert found.feasible
    np.testing.assert_allclose(found.joints[0], found.joints[-1], atol=1e-3)
    assert np.abs(np.diff(found.joints, axis=0)).max() < 0.3


def test_arms_that_race_lead_on_and_arms_that_jump_do_not(puma):
    """A wrist beside its singularity races; one that flips comes back to the same pose by a jump."""
    limits = np.stack([puma.model.lowerPositionLimit, puma.model.upperPositionLimit])
    ready = puma.postures["ready"].copy()
    ready[3:] = 0.4, 0.3, 0.2
    raced, flipped = ready.copy(), ready.copy()
    raced[3:] = 0.9, 0.3, 0.2
    flipped[3:] = 0.4 - np.pi, -0.3, 0.2 + np.pi
    np.testing.assert_allclose(flange(puma, flipped), flange(puma, ready), atol=1e-9)
    for joints, leads in ((np.array([ready, raced]), True), (np.array([ready, flipped]), False)):
        handles = {"right": HandlePath(np.array([flange(puma, q) for q in joints]))}
        reach, points = ReachabilityModel(puma, handles, ready), handle_path_points(handles)
        # As if there were many poses: half a radian is more than one step of a way should take.
        many = np.repeat(joints, 200, axis=0)
        path = np.repeat(points, 200, axis=0)
        path[-1] += 1e-3
        still = np.zeros((400, 3))
        problem = ReachProblem(reach, HandPath(path, still, still), ReachTolerances())
        found = Placement(ORIGIN, 0.0, many, np.zeros((2, 400)), NominalPosture(0, ready), np.inf)
        assert problem.is_feasible(found, limits) == leads


def test_what_is_missing_to_a_handle_too_high_is_the_height(puma):
    up = pin.exp3(np.array([0.0, -0.5 * np.pi, 0.0]))
    handles = {"right": HandlePath(pose(0.3, 0.1, 2.0, up)[None], np.array([1.0, 0.0, 0.0]))}
    found = find_root(ready(puma, handles), handles, ORIGIN, (0.0, 0.0), ReachTolerances(), lambda *_: None)
    # Shoulder, arm with the elbow bent by 0.15 rad, flange straight up.
    upper, fore = 0.4318, np.hypot(0.4331, 0.0203)
    top = 0.672 + np.sqrt(upper**2 + fore**2 + 2 * upper * fore * np.cos(0.15)) + 0.05625
    assert not found.feasible
    assert found.errors[0].max() == pytest.approx(2.0 - top, abs=0.003)
    assert found.fault.startswith(f"a palm stays {1000 * found.errors[0].max():.1f} mm")


def test_hands_are_not_reached_wider_than_the_arms_span(mahru):
    handles = {side: HandlePath(pose(0.3, y, 1.0)[None]) for side, y in (("left", 1.0), ("right", -1.0))}
    placed = evaluate_placement(mahru, handles, BasePlacement((0.2, 0.0)), "standing")
    data = mahru.model.createData()
    pin.framesForwardKinematics(mahru.model, data, pin.neutral(mahru.model))
    shoulders = [data.oMf[mahru.model.getFrameId(mahru.frames[f"{s}_shoulder"])].translation for s in handles]
    reach = ReachabilityModel(mahru, handles, mahru.postures["standing"])
    span = np.linalg.norm(shoulders[0] - shoulders[1]) + 2.0 * arm_length(reach)
    least = 0.5 * (2.0 - span)
    assert least > 0.15
    assert least < placed.placement.errors[0].max() < least + 0.1
    assert not placed.placement.feasible


def test_a_mirror_symmetric_task_gives_a_symmetric_place(mahru):
    way = np.linspace(0.0, 0.1, 5)
    handles = {
        side: HandlePath(
            np.array(
                [pose(0.35 - x, 0.4 + 0.2 * sign, 0.9, pin.utils.rotate("z", -0.26 * sign)) for x in way]
            )
        )
        for side, sign in (("left", 1.0), ("right", -1.0))
    }
    placed = find_spot(mahru, handles, BasePlacement(), "standing", lambda *_: None)
    found = placed.placement
    assert found.margin > 0.2
    assert placed.spot.position[1] == pytest.approx(0.4, abs=0.003)
    assert placed.spot.heading == pytest.approx(0.0, abs=0.02)
    # Judged anew from the numbers that are told, with the root where balance has it.
    again = evaluate_placement(mahru, handles, placed.spot, "standing").placement
    assert again.margin == pytest.approx(found.margin, abs=0.02)
    q = pin.neutral(mahru.model)
    q[:3] = again.root_positions[2]
    for name, angle in zip(again.joint_names, again.joints[2], strict=True):
        q[mahru.model.joints[mahru.model.getJointId(name)].idx_q] = angle
    q[3:7] = pin.Quaternion(pin.utils.rotate("z", again.base[3])).coeffs()
    data = mahru.model.createData()
    pin.framesForwardKinematics(mahru.model, data, q)
    for side, handle in handles.items():
        palm = data.oMf[mahru.model.getFrameId(mahru.frames[f"{side}_hand"])]
        assert np.linalg.norm(palm.translation - handle.poses[2, :3, 3]) < 1e-3


@pytest.mark.parametrize("stiff", [False, True])
def test_place_and_postures_settle_where_a_hidden_place_was(mahru, stiff):
    """Poses of the palms at random postures from a hidden root: from 30 cm off nothing may stay missing.

    With joints that hardly move, the hidden numbers themselves must come out.
    """
    random = np.random.default_rng(3)
    handles = {side: HandlePath(np.tile(np.eye(4), (6, 1, 1))) for side in ("left", "right")}
    reach = ReachabilityModel(mahru, handles, mahru.postures["standing"])
    box = reach.boxes[0]
    gone = np.linspace(box.mean(axis=0), random.uniform(0.7 * box[0] + 0.3 * box[1], box[1]), 6)
    if stiff:
        gone[:] = gone[3]
        box = np.stack([gone[0] - 1e-6, gone[0] + 1e-6])
    hidden = np.array([0.2, -0.1, 0.8, 0.3, 0.6, -0.3])
    sway, hands = random.uniform(-0.05, 0.05, (6, 3)), random.uniform(-0.2, 0.2, (6, 3))
    data, model = reach.model.createData(), reach.model
    for number, joints in enumerate(gone):
        pin.framesForwardKinematics(model, data, np.concatenate([pin.neutral(model)[:7], joints]))
        along = 0.6 * hands[number] * (1.0, 1.0, 0.0)
        along += -0.3 * hands[number, 2] * np.array([np.cos(0.3), np.sin(0.3), 0.0])
        root = pin.SE3(pin.utils.rotate("z", 0.3), hidden[:3] + sway[number] + along)
        for side, handle in handles.items():
            palm = root * data.oMf[model.getFrameId(mahru.frames[f"{side}_hand"])]
            handle.poses[number] = palm.homogeneous
    course = HandPath(handle_path_points(handles), sway, hands)
    place, path = np.array([0.05, -0.3, 0.8, 0.3, 0.4, 0.0]), np.tile(box.mean(axis=0), (6, 1))
    low, high = place - 0.5, place + 0.5

    def missing():
        seen = from_base(place, course)
        total = 0.0
        for target, joints in zip(seen, path, strict=True):
            pin.framesForwardKinematics(model, data, np.concatenate([pin.neutral(model)[:7], joints]))
            for side, columns in reach.columns.items():
                palm = data.oMf[model.getFrameId(mahru.frames[f"{side}_hand"])]
                total = max(total, float(np.linalg.norm(palm.translation - target[columns][0])))
        return total

    posture = make_posture_range(box, box.mean(axis=0), STIFFNESS)
    held = np.stack([place, place])
    place, path = optimise_base_pose(reach.hands, course, posture, held, 60, place, path)
    np.testing.assert_array_equal(place, held[0])
    assert missing() > 0.01
    place, path = optimise_base_pose(reach.hands, course, posture, np.stack([low, high]), 60, place, path)
    assert missing() < 2e-4
    assert (path >= box[0]).all()
    assert (path <= box[1]).all()
    if stiff:
        np.testing.assert_allclose(place, hidden, atol=1e-4)


def test_the_cog_goes_its_share_of_the_hands_way_and_forward_while_they_rise(mahru):
    way = np.tile(np.eye(4), (5, 1, 1))
    way[:, 0, 3] = 0.1 * np.sin(np.linspace(0.0, 2.0 * np.pi, 5))
    way[:, 2, 3] = np.linspace(0.9, 1.1, 5)
    handles = {"left": HandlePath(way), "right": HandlePath(np.eye(4)[None])}
    heading = 0.5 * np.pi
    spot = BasePlacement((0.3, 0.2), heading, 0.0, 0.5, 0.2)
    stance = stand(mahru, spot.position, heading, "standing")
    along = [0.5 * 0.05 * x for x in (0.0, 1.0, 0.0, -1.0, 0.0)]
    ahead = [0.2 * 0.5 * z for z in (-0.1, -0.05, 0.0, 0.05, 0.1)]
    # Turned by 90 degrees the robot's forward is the world's y.
    np.testing.assert_allclose(
        cog_targets(stance, handles, spot) - stance.target, np.column_stack([along, ahead]), atol=1e-12
    )


@pytest.mark.parametrize("heading", [0.0, 1.2])
def test_the_cog_is_taken_no_farther_than_2_cm_from_the_soles_edges(mahru, heading, monkeypatch):
    """What the search may choose, from the soles themselves."""
    asked = []

    def find_root(*arguments, nearby):
        asked.append(arguments[-2:])
        raise KeyboardInterrupt

    monkeypatch.setattr(place, "find_root", find_root)
    q = np.concatenate([pin.neutral(mahru.model)[:7], mahru.postures["standing"]])
    data = mahru.model.createData()
    pin.framesForwardKinematics(mahru.model, data, q)
    corners = np.array(
        [
            data.oMf[mahru.model.getFrameId(mahru.frames[foot])].act(corner)[:2]
            for foot, sole in mahru.soles.items()
            for corner in sole
        ]
    )
    room = 0.5 * np.ptp(corners, axis=0).min() - 0.02
    for half, rise, follow, advance in (
        (0.5 * room, 0.0, 1.0, 1.0),
        (2.0 * room, 0.3, 0.5, 0.0),
        (0.5 * room, 2.0 * room, 1.0, 0.25),
    ):
        way = np.tile(np.eye(4), (5, 1, 1))
        way[:, :3, 3] = np.sin(np.linspace(0.0, 2.0 * np.pi, 5))[:, None] * (half, 0.0, rise)
        handles = {side: HandlePath(way) for side in ("left", "right")}
        with pytest.raises(KeyboardInterrupt):
            find_spot(mahru, handles, BasePlacement((0.3, -0.2), heading), "standing", lambda *_: None)
        assert asked.pop() == pytest.approx((follow, advance), abs=1e-6)


def test_a_cog_beyond_the_soles_is_no_place(mahru, monkeypatch):
    handles = {
        side: HandlePath(pose(0.35, 0.2 * sign, 0.9, pin.utils.rotate("z", -0.26 * sign))[None])
        for side, sign in (("left", 1.0), ("right", -1.0))
    }
    spot = BasePlacement(lean=0.02)
    assert evaluate_placement(mahru, handles, spot, "standing").placement.feasible
    # As if its feet were 16 mm long.
    monkeypatch.setattr(place, "half_soles", lambda robot, stance: np.array([0.008, 0.1]))
    found = evaluate_placement(mahru, handles, spot, "standing").placement
    assert found.fault == "the COG would go 12 mm beyond the soles"


def test_the_soles_are_measured_in_the_stances_axes(mahru):
    stance = stand(mahru, (0.3, -0.2), 0.7, "standing")
    length = np.ptp(mahru.soles["left_foot"][:, 0])
    apart = np.linalg.norm(stance.soles["left"].translation - stance.soles["right"].translation)
    width = apart + np.ptp(mahru.soles["left_foot"][:, 1])
    np.testing.assert_allclose(place.half_soles(mahru, stance), [0.5 * length, 0.5 * width], atol=1e-6)


@pytest.mark.parametrize("heading", [0.0, 0.8, -2.0])
def test_a_root_that_stays_leaves_the_robot_where_it_is(romeo, monkeypatch, heading):
    """A root that is not above the base placement: their difference turns with the robot."""

    def stay(reach, handles, base, *arguments):
        return SimpleNamespace(base=base)

    beside, joints = np.array([0.4, -0.55, 0.9]), next(iter(romeo.postures.values()))
    monkeypatch.setattr(place, "find_root", stay)
    monkeypatch.setattr(place, "fixed_root", lambda *_: (beside, joints))
    handles = {"right": HandlePath(np.array([pose(0.4, -0.2, 1.0)]))}
    start = BasePlacement((0.3, -0.5), heading)
    found = find_spot(romeo, handles, start, SEATED, lambda *_: None)
    np.testing.assert_allclose(found.spot.position, start.position, atol=1e-12)
    assert found.spot.heading == heading
