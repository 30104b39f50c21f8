"""Placement against forward kinematics by Pinocchio and plain geometry."""

import numpy as np
import pinocchio as pin
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from simbench.errors import RetargetError
from simbench.motion.handles import Handle
from simbench.place import Spot, find_spot, handles_for, judge_spot
from simbench.retarget.hand_reach import arm_length, hand_reach, handle_points
from simbench.retarget.path_margin import Wanted
from simbench.retarget.place_descent import settle_place
from simbench.retarget.placement import RootPath, find_root, judge_root, require_feasible
from simbench.retarget.placement_search import seen_from
from simbench.robot.robot import load_robot


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


def at_origin(count):
    return RootPath(np.zeros(3), 0.0, np.zeros((count, 3)))


def ready(puma, handles):
    return hand_reach(puma, handles, puma.postures["ready"])


def test_a_way_the_arm_has_gone_is_feasible_with_at_least_its_margin(puma):
    first, last = puma.postures["ready"], puma.postures["ready"] + [0.5, -0.3, 0.2, 0.4, -0.3, 0.6]
    gone = np.linspace(first, last, 40)
    handles = {"right": Handle(np.array([flange(puma, q) for q in gone]))}
    found = judge_root(ready(puma, handles), handles, at_origin(40), Wanted(ample_margin=3.0))
    low, high = puma.model.lowerPositionLimit, puma.model.upperPositionLimit
    assert found.feasible
    assert found.missing == 0.0
    own = np.minimum(gone - low, high - gone).min()
    assert found.margin > own - 0.01
    assert found.margin == pytest.approx(np.minimum(found.postures - low, high - found.postures).min())
    for joints, wanted in zip(found.postures, handles["right"].poses, strict=True):
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
        handles = {"right": Handle(one[None], axis)}
        found.append(judge_root(ready(puma, handles), handles, at_origin(1), Wanted()))
    assert found[1].feasible
    assert found[1].margin == pytest.approx(found[0].margin, abs=1e-6)
    palm = flange(puma, found[1].postures[0])
    np.testing.assert_allclose(palm[:3, 3], wanted[:3, 3], atol=1e-3)
    assert np.arccos(min(1.0, palm[:3, :3] @ axis @ wanted[:3, :3] @ axis)) < np.radians(0.5)


def test_a_circle_closes(puma):
    angles = np.linspace(0.0, 2.0 * np.pi, 60)
    down = pin.exp3(np.array([0.0, 0.5 * np.pi, 0.0]))
    way = [pose(0.5 + 0.1 * np.cos(a), 0.1 + 0.1 * np.sin(a), 0.6, down) for a in angles]
    handles = {"right": Handle(np.array(way), np.array([1.0, 0.0, 0.0]))}
    found = judge_root(ready(puma, handles), handles, at_origin(60), Wanted())
    assert found.feasible
    np.testing.assert_allclose(found.postures[0], found.postures[-1], atol=1e-3)
    assert np.abs(np.diff(found.postures, axis=0)).max() < 0.3


def test_what_is_missing_to_a_handle_too_high_is_the_height(puma):
    up = pin.exp3(np.array([0.0, -0.5 * np.pi, 0.0]))
    handles = {"right": Handle(pose(0.3, 0.1, 2.0, up)[None], np.array([1.0, 0.0, 0.0]))}
    found = find_root(ready(puma, handles), handles, at_origin(1), (0.0, 0.0), Wanted(), lambda *_: None)
    # Shoulder, arm with the elbow bent by 0.15 rad, flange straight up.
    upper, fore = 0.4318, np.hypot(0.4331, 0.0203)
    top = 0.672 + np.sqrt(upper**2 + fore**2 + 2 * upper * fore * np.cos(0.15)) + 0.05625
    assert not found.feasible
    assert found.missing == pytest.approx(2.0 - top, abs=0.003)
    with pytest.raises(RetargetError, match=rf"puma560: no place.*{1000 * found.missing:.1f} mm"):
        require_feasible(puma.name, found)


def test_hands_are_not_reached_wider_than_the_arms_span(mahru):
    handles = {side: Handle(pose(0.3, y, 1.0)[None]) for side, y in (("left", 1.0), ("right", -1.0))}
    placed = judge_spot(mahru, handles, Spot((0.2, 0.0)), "standing")
    data = mahru.model.createData()
    pin.framesForwardKinematics(mahru.model, data, pin.neutral(mahru.model))
    shoulders = [data.oMf[mahru.model.getFrameId(mahru.frames[f"{s}_shoulder"])].translation for s in handles]
    reach = hand_reach(mahru, handles, mahru.postures["standing"])
    span = np.linalg.norm(shoulders[0] - shoulders[1]) + 2.0 * arm_length(reach)
    least = 0.5 * (2.0 - span)
    assert least > 0.15
    assert least < placed.placement.missing < least + 0.1
    assert not placed.placement.feasible


def test_a_mirror_symmetric_task_gives_a_symmetric_place(mahru):
    way = np.linspace(0.0, 0.1, 5)
    handles = {
        side: Handle(
            np.array(
                [pose(0.35 - x, 0.4 + 0.2 * sign, 0.9, pin.utils.rotate("z", -0.26 * sign)) for x in way]
            )
        )
        for side, sign in (("left", 1.0), ("right", -1.0))
    }
    placed = find_spot(mahru, handles, Spot(), "standing", lambda *_: None)
    found = placed.placement
    assert found.margin > 0.2
    assert placed.spot.position[1] == pytest.approx(0.4, abs=0.003)
    assert placed.spot.heading == pytest.approx(0.0, abs=0.02)
    # Judged anew from the numbers that are told, with the root where balance has it.
    again = judge_spot(mahru, handles, placed.spot, "standing").placement
    assert again.margin == pytest.approx(found.margin, abs=0.02)
    q = pin.neutral(mahru.model)
    q[:3] = again.root.position + again.root.sway[2]
    for name, angle in zip(again.joint_names, again.postures[2], strict=True):
        q[mahru.model.joints[mahru.model.getJointId(name)].idx_q] = angle
    q[3:7] = pin.Quaternion(pin.utils.rotate("z", again.root.heading)).coeffs()
    data = mahru.model.createData()
    pin.framesForwardKinematics(mahru.model, data, q)
    for side, handle in handles.items():
        palm = data.oMf[mahru.model.getFrameId(mahru.frames[f"{side}_hand"])]
        assert np.linalg.norm(palm.translation - handle.poses[2, :3, 3]) < 1e-3


def test_handles_that_do_not_fit_are_refused_in_a_line(puma, mahru):
    still, moving = Handle(np.eye(4)[None]), Handle(np.tile(np.eye(4), (3, 1, 1)))
    with pytest.raises(RetargetError, match=r"no handles"):
        hand_reach(puma, {}, puma.postures["ready"])
    with pytest.raises(RetargetError, match=r"left hand.*left_shoulder"):
        hand_reach(puma, {"left": still}, puma.postures["ready"])
    with pytest.raises(RetargetError, match=r"as many poses.*left 3, right 2"):
        judge_spot(mahru, {"left": moving, "right": Handle(moving.poses[:2])}, Spot(), "standing")
    with pytest.raises(RetargetError, match=r"a handle for the right hand; the recording has: left"):
        handles_for(puma, {"left": still}, "right")
    assert list(handles_for(puma, {"left": still}, "left")) == ["right"]
    assert list(handles_for(mahru, {"left": still, "right": still}, "left")) == ["left"]
    with pytest.raises(RetargetError, match=r"allowed: left, right"):
        handles_for(puma, {"left": still}, "both")


def test_place_and_postures_settle_where_a_hidden_place_was(mahru):
    """Poses of the palms at random postures from a hidden root: from 30 cm off nothing may stay missing."""
    random = np.random.default_rng(3)
    handles = {side: Handle(np.tile(np.eye(4), (6, 1, 1))) for side in ("left", "right")}
    reach = hand_reach(mahru, handles, mahru.postures["standing"])
    box = reach.boxes[0]
    gone = np.linspace(box.mean(axis=0), random.uniform(0.7 * box[0] + 0.3 * box[1], box[1]), 6)
    hidden = pin.SE3(pin.utils.rotate("z", 0.3), np.array([0.2, -0.1, 0.8]))
    data, model = reach.model.createData(), reach.model
    for number, joints in enumerate(gone):
        pin.framesForwardKinematics(model, data, np.concatenate([pin.neutral(model)[:7], joints]))
        for side, handle in handles.items():
            palm = hidden * data.oMf[model.getFrameId(mahru.frames[f"{side}_hand"])]
            handle.poses[number] = palm.homogeneous
    points, sway = handle_points(handles), np.zeros((6, 3))
    place, path = np.array([0.05, -0.3, 0.8, 0.3]), np.tile(box.mean(axis=0), (6, 1))
    low, high = place - 0.5, place + 0.5

    def missing():
        seen = seen_from(place, points, sway)
        total = 0.0
        for target, joints in zip(seen, path, strict=True):
            pin.framesForwardKinematics(model, data, np.concatenate([pin.neutral(model)[:7], joints]))
            for side, columns in reach.columns.items():
                palm = data.oMf[model.getFrameId(mahru.frames[f"{side}_hand"])]
                total = max(total, float(np.linalg.norm(palm.translation - target[columns][0])))
        return total

    tree, tasks, rest = reach.tree, reach.tasks, box.mean(axis=0)
    held = (place.copy(), place.copy())
    settle_place(tree, tasks, points, sway, *box, rest, *held, reach.work, 60, place, path)
    np.testing.assert_array_equal(place, held[0])
    assert missing() > 0.01
    settle_place(tree, tasks, points, sway, *box, rest, low, high, reach.work, 60, place, path)
    assert missing() < 2e-4
    assert (path >= box[0]).all()
    assert (path <= box[1]).all()
