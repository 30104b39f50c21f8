"""The whole-body plan of the shipped scenarios, and refusals."""

import dataclasses
import re

import numpy as np
import pinocchio as pin
import pytest
from scipy.interpolate import CubicSpline

from simbench.balance.leg_ik import height_range
from simbench.errors import MotionError, RetargetError
from simbench.motion.human_motion import resample
from simbench.retargeting.contact.hand_plan import Equipment
from simbench.retargeting.stand.standing_plan import plan_motion
from simbench.robot.sides import SIDES
from simbench.runs.motion_source import scenario_motion
from simbench.runs.scenario.loading import load_scenario, scenario_mechanisms
from simbench.sim.equipment import describe_handles
from simbench.sim.fixtures.mechanism import handle_poses


@pytest.fixture(params=["drawer", "dance"])
def planned(request):
    return request.getfixturevalue(f"{request.param}_planned")


def placements(robot, base, joints, roles):
    """Frames by role over time {role: list of SE3}, by forward kinematics of the whole robot."""
    model, data = robot.model, robot.model.createData()
    found = {role: [] for role in roles}
    for row in np.hstack([base, joints]):
        pin.forwardKinematics(model, data, row)
        for role in roles:
            frame = model.frames[model.getFrameId(robot.frames[role])]
            found[role].append(data.oMi[frame.parentJoint] * frame.placement)
    return found


def test_in_contact_the_palms_are_where_the_actors_are(romeo, drawer_planned):
    plan = drawer_planned.plan
    trajectory = plan.trajectory
    palms = placements(romeo, trajectory.base, trajectory.q, ["left_hand", "right_hand"])
    for side in SIDES:
        touching = np.flatnonzero(plan.hands.contact[side])
        apart = [
            np.linalg.norm(palms[f"{side}_hand"][k].translation - plan.hands.actor[side][k, :3, 3])
            for k in touching
        ]
        turned = [
            np.linalg.norm(pin.log3(palms[f"{side}_hand"][k].rotation.T @ plan.hands.actor[side][k, :3, :3]))
            for k in touching
        ]
        assert max(apart) <= 0.001
        assert max(turned) <= 0.02
        # The person's own wrists, as recorded, are L8 and L9 from there.
        wrist = [palms[f"{side}_hand"][k].act(np.array([-0.09, 0, 0.02])) for k in touching]
        recorded = drawer_planned.motion.joints[f"{side}_wrist"][touching]
        assert np.linalg.norm(wrist - recorded, axis=1).max() < 0.004


def test_the_drawer_is_held_over_all_five_strokes(romeo, drawer_planned):
    """Planned palms follow the handle: on its line, and through the actor's strokes."""
    plan, strokes = drawer_planned.plan, drawer_planned.motion.strokes
    trajectory = plan.trajectory
    palms = placements(romeo, trajectory.base, trajectory.q, ["left_hand", "right_hand"])
    both = plan.hands.contact["left"] & plan.hands.contact["right"]
    assert len(strokes) == 5
    assert both[strokes[0, 0] : strokes[-1, 1] + 1].all()
    middle = 0.5 * sum(np.array([palm.translation for palm in palms[f"{side}_hand"]]) for side in SIDES)
    for first, last in strokes:
        travel = np.ptp(middle[first : last + 1, 0])
        asked = np.ptp(np.mean([plan.hands.actor[side][first : last + 1, 0, 3] for side in SIDES], axis=0))
        assert travel == pytest.approx(asked, abs=0.001)
        assert travel > 0.09
    shut = handle_poses(drawer_planned.mechanism, np.zeros((1, 1)))
    for side in SIDES:
        place = np.array([palm.translation for palm in palms[f"{side}_hand"]])[both]
        # Contact begins 15 mm off the handle.
        assert np.abs(place[:, 1:] - shut[side][0, 1:3, 3]).max() < 0.015


def test_joints_keep_their_limits_and_margins(romeo, planned):
    trajectory, margin = planned.plan.trajectory, planned.scenario.retarget.joint_limit_margin_rad
    lower, upper = romeo.model.lowerPositionLimit[7:], romeo.model.upperPositionLimit[7:]
    assert (trajectory.q >= lower).all()
    assert (trajectory.q <= upper).all()
    names = [*romeo.groups["trunk"], *romeo.groups["left_arm"], *romeo.groups["right_arm"]]
    columns = [romeo.joint_names.index(name) for name in names]
    np.testing.assert_array_equal(np.sort(planned.plan.upper), np.sort(columns))
    assert (trajectory.q[:, columns] >= (lower + margin)[columns] - 1e-12).all()
    assert (trajectory.q[:, columns] <= (upper - margin)[columns] + 1e-12).all()


def test_speed_limits_hold_and_are_used_up_if_slowed(romeo, planned):
    trajectory, settings = planned.plan.trajectory, planned.scenario.retarget
    limit = romeo.model.velocityLimit[6:] * settings.speed_limit_fraction
    fine = np.linspace(trajectory.time[0], trajectory.time[-1], 40000)
    ratio = np.abs(CubicSpline(trajectory.time, trajectory.q)(fine, 1)).max(axis=0) / limit
    assert ratio.max() < 1.001
    factor = planned.plan.metrics["retarget.slow_down"]
    assert factor >= 1
    if factor > 1:
        assert ratio.max() > 0.995
    np.testing.assert_allclose(trajectory.time, factor * planned.motion.time)
    assert planned.plan.metrics["retarget.duration_s"] == pytest.approx(factor * planned.motion.time[-1])


def test_feet_stay_pelvis_stays_level_and_the_cog_over_the_soles(romeo, planned):
    trajectory, stance = planned.plan.trajectory, planned.plan.stance
    pick = slice(0, None, 10)
    base, joints = trajectory.base[pick], trajectory.q[pick]
    found = placements(romeo, base, joints, ["left_foot", "right_foot"])
    for side in SIDES:
        for pose in found[f"{side}_foot"]:
            np.testing.assert_allclose(pose.homogeneous, stance.soles[side].homogeneous, atol=1e-6)
    np.testing.assert_allclose(trajectory.base[:, 3:], np.tile(stance.base[3:], (len(trajectory.base), 1)))
    data = romeo.model.createData()
    cog = np.array([pin.centerOfMass(romeo.model, data, row)[:2].copy() for row in np.hstack([base, joints])])
    corners = np.vstack(
        [stance.soles[side].act(c)[:2] for side in SIDES for c in romeo.soles[f"{side}_foot"]]
    )
    inside = np.minimum(cog - corners.min(axis=0), corners.max(axis=0) - cog)
    # Statically in the middle of the soles (half a sole is 8.5 cm), but for what follows the hands.
    assert inside.min() > 0.05


def test_metrics_are_what_they_say(romeo, planned):
    plan, motion = planned.plan, planned.motion
    model, data = plan.imitation.actor.model, plan.imitation.actor.model.createData()
    apart = []
    for sample, q in enumerate(plan.imitation.q):
        pin.forwardKinematics(model, data, q)
        for side in SIDES:
            frame = model.frames[model.getFrameId(romeo.frames[f"{side}_wrist"])]
            place = (data.oMi[frame.parentJoint] * frame.placement).translation
            apart.append(np.linalg.norm(place - motion.joints[f"{side}_wrist"][sample]))
    assert plan.metrics["imitation.hand_mean_m"] == pytest.approx(np.mean(apart), abs=1e-12)
    assert plan.metrics["imitation.hand_max_m"] == pytest.approx(np.max(apart), abs=1e-12)
    assert plan.metrics["imitation.hand_mean_m"] <= 0.003
    assert plan.metrics["imitation.hand_max_m"] <= 0.010


def test_free_motion_has_no_contact(dance_planned):
    for side in SIDES:
        assert not dance_planned.plan.hands.contact[side].any()
        assert not dance_planned.plan.hands.share[side].any()


def test_the_pelvis_goes_up_and_down_with_the_persons_as_far_as_legs_can(romeo, slowed_dance_planned):
    """By the ratio of shoulder heights, softly between the heights that the legs allow."""
    plan, motion = slowed_dance_planned.plan, slowed_dance_planned.motion
    height = plan.trajectory.base[:, 2] - plan.stance.base[2]
    way = motion.joints["pelvis"][:, 2] - motion.joints["pelvis"][0, 2]
    low, high = height_range(romeo, "standing")
    assert (height > low).all()
    assert (height < high).all()
    assert np.abs(height).max() > 0.005
    # Smoothing moves it by fractions of a millimetre.
    assert (height * np.sign(way) >= -0.0003).all()
    assert (np.abs(height) <= np.abs(way) + 0.0003).all()
    # At both ends it is that of the stance.
    np.testing.assert_allclose(height[[0, -1]], 0.0, atol=1e-12)
    # In between small ways are followed almost whole: the robot is 0.8 to 0.95 of the person.
    inside = (motion.time > 0.7) & (motion.time < motion.time[-1] - 0.7)
    small = (np.abs(way) < 0.005) & inside
    assert 0.6 < np.polyfit(way[small], height[small], 1)[0] < 1.0


def test_neck_head_and_grips_stay_in_the_stance(romeo, planned):
    names = [*romeo.groups["head"], *romeo.groups["left_grip"], *romeo.groups["right_grip"]]
    columns = [romeo.joint_names.index(name) for name in names]
    still = np.tile(planned.plan.stance.joints[columns], (len(planned.plan.trajectory.q), 1))
    np.testing.assert_array_equal(planned.plan.trajectory.q[:, columns], still)


@pytest.mark.parametrize("end", [0.017, 0.03])
def test_a_clip_of_a_few_samples_is_planned(romeo, end):
    """Four and seven samples, at 200 Hz."""
    scenario = load_scenario("dance", [f"motion.end_s={end}"])
    motion = scenario_motion(scenario, [])
    plan = plan_motion(romeo, motion, scenario.robot, scenario.retarget, Equipment(), lambda *_: None)
    assert len(motion.time) < 8
    speed = np.abs(np.diff(plan.trajectory.q, axis=0)) / np.diff(plan.trajectory.time)[:, None]
    assert (speed.max(axis=0) < 0.96 * romeo.model.velocityLimit[6:]).all()
    assert plan.metrics["imitation.hand_max_m"] < 0.003


def test_a_free_motion_keeps_to_the_torques_of_weak_motors(romeo):
    """Torques of the arms by inverse dynamics of the joints alone: they do not feel the floor."""
    scenario = load_scenario("dance", ["motion.end_s=0.6", "retarget.timing=uniform"])
    motion = scenario_motion(scenario, [])
    arms = [romeo.joint_names.index(name) for side in SIDES for name in romeo.groups[f"{side}_arm"]]

    def plan(robot):
        made = plan_motion(robot, motion, scenario.robot, scenario.retarget, Equipment(), lambda *_: None)
        trajectory, model, data = made.trajectory, robot.model, robot.model.createData()
        q = np.hstack([trajectory.base, trajectory.q])
        velocity = np.gradient(trajectory.q, trajectory.time, axis=0)
        acceleration = np.gradient(velocity, trajectory.time, axis=0)
        moving, still = (
            np.abs(
                [
                    pin.rnea(model, data, row, np.r_[np.zeros(6), share * v], np.r_[np.zeros(6), share * a])
                    for row, v, a in zip(q, velocity, acceleration, strict=True)
                ]
            )[:, 6:][:, arms].max(axis=0)
            for share in (1.0, 0.0)
        )
        return made.metrics, moving, still

    usual, moving, still = plan(romeo)
    weakest = int(np.where(moving > 0.1, moving / still, 0.0).argmax())
    # With such a motor 80 % of its torque is half of what the motion adds to the weight.
    limit = romeo.motors.torque_limit.copy()
    limit[arms[weakest]] = (still[weakest] + 0.5 * (moving[weakest] - still[weakest])) / 0.8
    weak = dataclasses.replace(romeo, motors=dataclasses.replace(romeo.motors, torque_limit=limit))
    changed, moved, _ = plan(weak)
    assert "retarget.smoothing_s" not in usual
    assert changed["retarget.smoothing_s"] > 0.0
    # The root's own acceleration, which is left out above, is worth some percent.
    assert moved[weakest] < 1.05 * 0.8 * limit[arms[weakest]] < moving[weakest]


def test_a_clip_too_short_to_follow_is_refused():
    scenario = load_scenario("dance", ["motion.end_s=0.012"])
    with pytest.raises(MotionError):
        scenario_motion(scenario, [])


def test_without_embedding_legs_and_pelvis_take_the_arms_to_rest(romeo):
    scenario = load_scenario(
        "dance", ["motion.end_s=0.5", "retarget.pelvis_height_follow=0.0", "retarget.timing=uniform"]
    )
    motion = scenario_motion(scenario, [])
    aware, unaware = (
        plan_motion(
            romeo,
            motion,
            scenario.robot,
            scenario.retarget,
            Equipment(),
            lambda *_: None,
            embedding=embedding,
        )
        for embedding in (True, False)
    )
    legs = [romeo.joint_names.index(n) for side in SIDES for n in romeo.groups[f"{side}_leg"]]
    upper = np.setdiff1d(np.arange(len(romeo.joint_names)), legs)
    stance = unaware.stance
    np.testing.assert_allclose(np.ptp(unaware.trajectory.q[:, legs], axis=0), 0.0, atol=1e-8)
    np.testing.assert_array_equal(aware.trajectory.q[:, upper], unaware.trajectory.q[:, upper])
    still = np.tile(stance.joints, (len(motion.time), 1))
    still[:, legs] = unaware.trajectory.q[:, legs]
    model, data = romeo.model, romeo.model.createData()
    cog = [
        np.array(
            [
                pin.centerOfMass(model, data, np.r_[pose, row])[:2] - stance.target
                for pose, row in zip(unaware.trajectory.base, joints, strict=True)
            ]
        )
        for joints in (still, unaware.trajectory.q)
    ]
    np.testing.assert_allclose(cog[0], 0.0, atol=1e-8)
    # What they do not know of takes the COG away.
    assert np.abs(cog[1]).max() > 0.005
    assert not unaware.embedding


def test_legs_that_cannot_keep_balance_are_named(romeo, dance_motion):
    model = romeo.model.copy()
    index = model.joints[model.getJointId("LKneePitch")].idx_q
    upper = model.upperPositionLimit.copy()
    upper[index] = 0.45
    model.upperPositionLimit = upper
    robot = dataclasses.replace(romeo, model=model)
    scenario = load_scenario("dance", ["motion.end_s=0.3"])
    motion = scenario_motion(scenario, [])
    with pytest.raises(RetargetError, match=r"LKneePitch between .* its limits are .* and 0\.450"):
        plan_motion(robot, motion, scenario.robot, scenario.retarget, Equipment(), lambda *_: None)


def test_a_drawer_out_of_reach_is_refused(romeo):
    scenario = load_scenario("drawer", ["robot.position_m=[-0.45, 0.0]", "motion.task={repetitions: 1}"])
    mechanisms = scenario_mechanisms(scenario)
    motion = resample(scenario_motion(scenario, mechanisms), 50.0)
    handles = describe_handles(mechanisms)
    with pytest.raises(RetargetError, match=r"out of reach: a palm stays \d+\.\d mm") as caught:
        plan_motion(romeo, motion, scenario.robot, scenario.retarget, Equipment(handles), lambda *_: None)
    # It stands 0.41 m too far back, and had a little room.
    assert 0.30 < float(re.findall(r"stays ([\d.]+) mm", str(caught.value))[0]) / 1000 < 0.41
