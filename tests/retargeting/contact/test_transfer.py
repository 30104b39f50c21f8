"""Transfer: palms where they are to be, joints inside their limits, no corners."""

from dataclasses import replace

import numpy as np
import pinocchio as pin
import pytest
from scipy.optimize import minimize

from simbench.options import RetargetSection
from simbench.retargeting.contact.hand_plan import HandPlan
from simbench.retargeting.contact.transfer import BoneAims, PreferredPath, transfer_frames, transfer_path
from simbench.retargeting.imitate.problem import BodyTargets, ImitationProblem
from simbench.retargeting.match.body import match_body, place_points
from simbench.robot.robot_limbs import upper_body
from simbench.robot.sides import SIDES

RATE = 100.0
ARM = (("shoulder", "elbow"), ("elbow", "wrist"))
BASE = np.array([-0.05, 0.0, 0.85, 0.0, 0.0, 0.0, 1.0])


def own_palms(romeo, joints):
    """Forward kinematics of the whole robot: {side: (T, 4, 4)}."""
    data, q = romeo.model.createData(), pin.neutral(romeo.model)
    names = upper_body(romeo).names[2:]
    columns = [romeo.model.joints[romeo.model.getJointId(name)].idx_q for name in names]
    palms = {side: np.empty((len(joints), 4, 4)) for side in SIDES}
    for sample, at in enumerate(joints):
        q[:7], q[columns] = BASE, at
        pin.forwardKinematics(romeo.model, data, q)
        for side in SIDES:
            frame = romeo.model.frames[romeo.model.getFrameId(romeo.frames[f"{side}_hand"])]
            palms[side][sample] = (data.oMi[frame.parentJoint] * frame.placement).homogeneous
    return palms


def limits(romeo):
    model = upper_body(romeo)
    return model.lowerPositionLimit[7:].copy(), model.upperPositionLimit[7:].copy()


@pytest.fixture(scope="module")
def elbows_bent(romeo):
    """A posture in the middle of most ranges, and a motion around it that is the goal, (400, 15)."""
    lower, upper = limits(romeo)
    names = list(upper_body(romeo).names[2:])
    posture = np.zeros(15)
    for name, angle in {
        "LShoulderPitch": 0.5,
        "LShoulderYaw": 0.3,
        "LElbowRoll": -0.6,
        "LElbowYaw": -1.0,
        "LWristRoll": -0.6,
        "RShoulderPitch": 0.5,
        "RShoulderYaw": -0.3,
        "RElbowRoll": 0.6,
        "RElbowYaw": 1.0,
        "RWristRoll": 0.6,
    }.items():
        posture[names.index(name)] = angle
    assert ((posture > lower) & (posture < upper)).all()
    time = np.arange(400) / RATE
    wave = 0.15 * np.sin(1.5 * time)[:, None] * np.cos(np.arange(15))
    return np.tile(posture, (400, 1)), posture + wave


def plan_of(palms, share=1.0, axes=None):
    count = len(palms["left"])
    shares = {side: np.full(count, share) for side in SIDES}
    contact = {side: shares[side] == 1.0 for side in SIDES}
    return HandPlan(shares, contact, shares, palms, palms, axes or dict.fromkeys(SIDES))


def apart(first, second):
    """Greatest distance, m, and angle, rad, over both hands."""
    places, turns = 0.0, 0.0
    for side in SIDES:
        places = max(places, np.linalg.norm(first[side][:, :3, 3] - second[side][:, :3, 3], axis=1).max())
        between = first[side][:, :3, :3].transpose(0, 2, 1) @ second[side][:, :3, :3]
        turns = max(turns, max(np.linalg.norm(pin.log3(turn)) for turn in between))
    return places, turns


def test_palms_come_to_their_targets_smoothly(romeo, elbows_bent):
    posture, goal = elbows_bent
    lower, upper = limits(romeo)
    base = np.tile(BASE, (len(goal), 1))
    palms = own_palms(romeo, goal)
    joints = transfer_path(
        romeo, PreferredPath(np.arange(400) / RATE, posture, base, lower, upper), plan_of(palms)
    )
    places, turns = apart(own_palms(romeo, joints), palms)
    assert places < 2e-5
    assert turns < 2e-4
    # The goal's own accelerations are up to 0.34 rad/s²; what the null space adds is of that order.
    assert np.abs(np.diff(joints, 2, axis=0)).max() * RATE**2 < 2.0


def test_a_limit_in_the_way_is_met_without_a_corner(romeo, elbows_bent):
    posture, goal = elbows_bent
    lower, upper = limits(romeo)
    base, time = np.tile(BASE, (len(goal), 1)), np.arange(400) / RATE
    palms = own_palms(romeo, goal)
    unhindered = transfer_path(romeo, PreferredPath(time, posture, base, lower, upper), plan_of(palms))
    # The joint that moves most may go only where it is two thirds of the time: others must do its work.
    column = int(np.ptp(unhindered, axis=0).argmax())
    upper[column] = max(np.quantile(unhindered[:, column], 0.67), posture[0, column])
    joints = transfer_path(romeo, PreferredPath(time, posture, base, lower, upper), plan_of(palms))
    assert (joints <= upper).all()
    assert (joints >= lower).all()
    assert (joints[:, column] == upper[column]).sum() > 20
    assert apart(own_palms(romeo, joints), palms)[0] < 2e-4
    speed = np.asarray(upper_body(romeo).velocityLimit[6:])
    jumps = np.abs(np.diff(joints, 2, axis=0)) * RATE / speed
    assert jumps.max() < 0.05


def test_a_hand_that_may_turn_about_its_handle_keeps_the_posture_instead(romeo, elbows_bent):
    posture, goal = elbows_bent
    lower, upper = limits(romeo)
    axis = np.array([0.0, 1.0, 0.0])
    palms = own_palms(romeo, posture)
    turned = {side: palm.copy() for side, palm in palms.items()}
    for palm in turned.values():
        palm[:, :3, :3] = palm[:, :3, :3] @ pin.exp3(0.3 * axis)
    base, time = np.tile(BASE, (len(goal), 1)), np.arange(400) / RATE
    free = transfer_path(
        romeo,
        PreferredPath(time, posture, base, lower, upper),
        plan_of(turned, axes=dict.fromkeys(SIDES, axis)),
    )
    # Nothing asks for more than the small pull of the actor's own turn.
    assert apart(own_palms(romeo, free), turned)[0] < 1e-4
    fixed = transfer_path(romeo, PreferredPath(time, posture, base, lower, upper), plan_of(turned))
    assert apart(own_palms(romeo, fixed), turned)[1] < 2e-3
    assert np.abs(free - posture).max() < 0.5 * np.abs(fixed - posture).max()


def test_free_hands_leave_the_posture_alone(romeo, elbows_bent):
    posture, goal = elbows_bent
    lower, upper = limits(romeo)
    base = np.tile(BASE, (len(goal), 1))
    plan = plan_of(own_palms(romeo, posture), share=0.0)
    joints = transfer_path(romeo, PreferredPath(np.arange(400) / RATE, posture, base, lower, upper), plan)
    np.testing.assert_array_equal(joints, posture)


def test_frame_by_frame_reaches_the_same_targets(romeo, elbows_bent):
    posture, goal = elbows_bent
    lower, upper = limits(romeo)
    base, time = np.tile(BASE, (len(goal), 1)), np.arange(400) / RATE
    palms = own_palms(romeo, goal)
    joints = transfer_frames(romeo, PreferredPath(time, posture, base, lower, upper), plan_of(palms))
    assert apart(own_palms(romeo, joints), palms)[0] < 0.001
    narrow = np.minimum(upper, posture.max(axis=0) + 0.02)
    joints = transfer_frames(romeo, PreferredPath(time, posture, base, lower, narrow), plan_of(palms))
    assert (joints <= narrow).all()


def test_bones_come_as_near_to_the_persons_as_held_palms_allow(romeo, elbows_bent):
    """Beside an optimum of SLSQP for the same palms, in a frame away from both ends."""
    posture, goal = elbows_bent
    lower, upper = limits(romeo)
    columns = np.array([romeo.joint_names.index(name) for name in upper_body(romeo).names[2:]])
    body = replace(match_body(romeo), joints=columns)
    bones = [(f"{side}_{a}", f"{side}_{b}") for side in SIDES for a, b in ARM]
    lines = np.array([[(name == b) - float(name == a) for name in body.names] for a, b in bones])

    def directions(joints):
        q = np.tile(np.concatenate([BASE, romeo.postures["standing"]]), (len(joints), 1))
        q[:, 7 + columns] = joints
        found = lines @ place_points(body, q).points
        return found / np.linalg.norm(found, axis=-1, keepdims=True)

    # A person whose elbows are lifted, by the same amount at all times.
    lifted = posture.copy()
    for name, angle in {"LShoulderYaw": 0.9, "RShoulderYaw": -0.9}.items():
        lifted[:, list(upper_body(romeo).names[2:]).index(name)] = angle
    wanted, count, time = directions(lifted), len(goal), np.arange(400) / RATE
    targets = BodyTargets(
        time, ("bone",) * 4, lines, np.ones(4), wanted, np.zeros(len(body.names)), np.zeros((count, 3)),
        np.zeros(3), np.zeros((count, 0, 2)), np.zeros((count, 0, 2), dtype=bool), 1.0, (),
    )  # fmt: skip
    exact = RetargetSection(joint_limit_margin_rad=0.0)
    aims = BoneAims(ImitationProblem(body, targets, exact), romeo.postures["standing"], np.ones(count))
    palms, axes = own_palms(romeo, posture), dict.fromkeys(SIDES, np.array([0.0, 1.0, 0.0]))
    path = PreferredPath(time, posture, np.tile(BASE, (count, 1)), lower, upper)
    plan = plan_of(palms, axes=axes)
    joints = transfer_path(romeo, path, plan, bones=aims)
    assert apart(own_palms(romeo, joints), palms)[0] < 1e-3
    assert (joints >= lower).all()
    assert (joints <= upper).all()
    error = ((directions(joints) - wanted) ** 2).sum(axis=(1, 2))[200]
    before = ((directions(transfer_path(romeo, path, plan)) - wanted) ** 2).sum(axis=(1, 2))[200]

    def missed(x):
        here = own_palms(romeo, x[None])
        pairs = [(here[side][0], palms[side][200]) for side in SIDES]
        return np.concatenate([[*(a[:3, 3] - b[:3, 3]), *(0.1 * (a[:3, 1] - b[:3, 1]))] for a, b in pairs])

    best = minimize(
        lambda x: float(((directions(x[None])[0] - wanted[200]) ** 2).sum()),
        joints[200],
        method="SLSQP",
        bounds=list(zip(lower, upper, strict=True)),
        constraints={"type": "eq", "fun": missed},
        options={"maxiter": 1000},
    )
    assert np.abs(missed(best.x)).max() < 1e-5
    assert best.fun < 0.9 * before
    # The pull to the preferred posture, and to the actor's turn, is left.
    assert error < best.fun + 0.25 * (before - best.fun)
