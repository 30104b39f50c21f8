"""What hands feel of equipment that they move, the COG that answers, and the height of the pelvis."""

from dataclasses import replace

import numpy as np
import pytest

from simbench.balance.ground_reaction import planned_zmp
from simbench.balance.leg_ik import solve_com_ik, stand
from simbench.errors import BalanceError
from simbench.kinematics.derivatives import minimum_jerk
from simbench.motion.actors import perform_average
from simbench.motion.human_motion import resample
from simbench.options import RobotSection
from simbench.retargeting.contact.hand_plan import Equipment, HandPlan
from simbench.retargeting.imitation.imitation import Imitation, imitate
from simbench.retargeting.imitation.scaled_model import calibrate
from simbench.retargeting.placement.placement import BasePlacement
from simbench.retargeting.stand.arms_and_legs import (
    compute_balancing_cog,
    compute_pelvis_height,
    compute_pelvis_turn,
    hand_wrenches,
    solve_legs_for_zmp,
)
from simbench.robot.robot import load_robot
from simbench.robot.sides import SIDES

RATE = 200.0
# Two hands share what they move.
BOTH = dict.fromkeys(SIDES, (1.5, 2.5, 1.25))
BOTH_RUBBING = dict.fromkeys(SIDES, (1.5, 0.0, 0.0))


def moved(time, way, contact, direction):
    """Both palms at x = 0.4 m, y = ±0.2 m, z = 1 m, going a way along a direction."""
    poses = {side: np.tile(np.eye(4), (len(time), 1, 1)) for side in SIDES}
    for side, sign in (("left", 1.0), ("right", -1.0)):
        poses[side][:, :3, 3] = [0.4, sign * 0.2, 1.0] + way[:, None] * direction
    touching = dict.fromkeys(SIDES, contact)
    share = {side: contact.astype(float) for side in SIDES}
    return HandPlan(share, touching, share, poses, poses, dict.fromkeys(SIDES))


@pytest.mark.parametrize("direction", [np.array([1.0, 0.0, 0.0]), np.array([0.0, -0.6, 0.8])])
def test_a_pull_is_opposed_by_friction_damping_and_mass(direction):
    time = np.linspace(0.0, 1.0, 1001)
    way = 0.1 * time**2
    load = sum(hand_wrenches(time, moved(time, way, np.ones(1001, dtype=bool), direction), BOTH).values())
    # Past the first millimetre, away from the ends of the differences.
    for k in range(150, 990, 60):
        force = -(3.0 + 5.0 * 0.2 * time[k] + 2.5 * 0.2) * direction
        np.testing.assert_allclose(load[k, :3], force, atol=1e-6)
        point = np.array([0.4, 0.0, 1.0]) + way[k] * direction
        np.testing.assert_allclose(load[k, 3:], np.cross(point, force), atol=1e-6)


def test_friction_stays_when_hands_rest_and_turns_round_when_they_go_back():
    time = np.linspace(0.0, 3.0, 3001)
    way = np.interp(time, [0.0, 1.0, 2.0, 3.0], [0.0, 0.1, 0.1, 0.0])
    load = sum(
        hand_wrenches(
            time, moved(time, way, np.ones(3001, dtype=bool), np.array([1.0, 0.0, 0.0])), BOTH_RUBBING
        ).values()
    )
    np.testing.assert_allclose(load[[500, 1500, 2500], 0], [-3.0, -3.0, 3.0], atol=1e-9)
    # 0.5 mm back, halfway: in between.
    np.testing.assert_allclose(load[2005, 0], -1.5, atol=1e-6)


def test_free_hands_feel_nothing():
    time = np.linspace(0.0, 1.0, 101)
    contact = (time > 0.3) & (time < 0.6)
    way = 0.1 * np.sin(5 * np.pi * time)
    load = sum(
        hand_wrenches(time, moved(time, way, contact, np.array([1.0, 0.0, 0.0])), BOTH_RUBBING).values()
    )
    assert not load[~contact].any()
    # Forth, and from 0.5 s on back.
    np.testing.assert_allclose(load[[36, 40, 48], 0], -3.0, atol=1e-9)
    np.testing.assert_allclose(load[[55, 58], 0], 3.0, atol=1e-9)


def test_the_cog_leans_against_a_pull_by_its_moment_over_the_weight(romeo):
    """Of a robot that stands still, its COG in the middle of its soles."""
    stance = stand(romeo, (0.3, -0.1), 0.0, "standing")
    base, joints = solve_com_ik(romeo, stance, np.tile(stance.joints, (201, 1)))
    time = np.linspace(0.0, 2.0, 201)
    force, height = 10.0, 0.97
    load = np.tile([force, 0.0, 0.0, 0.0, force * height, 0.0], (201, 1))
    wanted = np.tile(stance.target, (201, 1))
    weight = 9.81 * sum(inertia.mass for inertia in romeo.model.inertias)
    cog = compute_balancing_cog(romeo, time, base, joints, wanted, load)
    np.testing.assert_allclose(cog, wanted - [force * height / weight, 0.0], atol=1e-6)
    # Five times as much is more than the soles bear, and some leaning is left out.
    assert 5 * force * height / weight > 0.12
    far = compute_balancing_cog(romeo, time, base, joints, wanted, 5 * load)
    np.testing.assert_allclose(far - wanted, np.tile([-0.08, 0.0], (201, 1)), atol=0.002)


def test_balancing_brings_the_zmp_where_it_is_wanted_but_for_hands_that_hold(romeo):
    """Both arms swing forward and back; the ZMP by the robot's own sway counts, too."""
    stance = stand(romeo, (0.0, 0.0), 0.0, "standing")
    time = np.linspace(0.0, 2.0, 201)
    swing = minimum_jerk(time, 0.3, 1.0) - minimum_jerk(time, 1.0, 1.7)
    joints = np.tile(stance.joints, (201, 1))
    for name in ("LShoulderPitch", "RShoulderPitch"):
        joints[:, romeo.joint_names.index(name)] -= 0.8 * swing
    wanted = np.tile(stance.target, (201, 1))
    base, joints = solve_com_ik(romeo, stance, joints)
    before, _ = planned_zmp(romeo, time, base, joints)
    moved_base, moved_joints = solve_legs_for_zmp(romeo, stance, time, base, joints, wanted, np.ones(201))
    after, _ = planned_zmp(romeo, time, moved_base, moved_joints)
    assert np.abs(before - wanted).max() > 0.001
    assert np.abs(after - wanted).max() < 0.15 * np.abs(before - wanted).max()
    held_base, held_joints = solve_legs_for_zmp(romeo, stance, time, base, joints, wanted, np.zeros(201))
    np.testing.assert_allclose(held_base, base, atol=1e-8)
    np.testing.assert_allclose(held_joints, joints, atol=1e-8)


def test_the_balancing_cog_is_at_rest_at_both_ends_of_a_motion_that_is_not(romeo):
    """Arms in full swing and a pelvis that moves sideways with them, from the first sample to the last."""
    stance = stand(romeo, (0.0, 0.0), 0.0, "standing")
    time = np.linspace(0.0, 2.0, 201)
    base, joints = np.tile(stance.base, (201, 1)), np.tile(stance.joints, (201, 1))
    for name in ("LShoulderPitch", "RShoulderPitch"):
        joints[:, romeo.joint_names.index(name)] -= 0.5 * np.sin(3.0 * time)
    base[:, 1] += 0.02 * np.sin(4.0 * time)
    wanted = np.tile(stance.target, (201, 1))
    _, cog = planned_zmp(romeo, time, base, joints)
    given_speed, speed = (
        np.abs(np.diff(path, axis=0)).max(axis=1) / 0.01
        for path in (cog[:, :2], compute_balancing_cog(romeo, time, base, joints, wanted, None))
    )
    assert min(given_speed[0], given_speed[-1]) > 0.02
    assert max(speed[0], speed[-1]) < 0.001


@pytest.mark.parametrize("numbers", [(-1.0, 0.0, 0.0), (0.0, np.nan, 0.0), (0.0, 0.0, np.inf)])
def test_what_would_push_hands_on_is_refused(numbers):
    with pytest.raises(BalanceError):
        Equipment(resistance={"left": numbers})


def test_inertia_begins_and_ends_to_count_within_half_a_second(romeo, monkeypatch):
    """A minimum-jerk weight of what moves: 0.103515625 after a quarter of that time, 1 after it."""
    given = []

    def record(robot, time, base, joints, wrench, moving):
        given.append(moving)
        return np.zeros((len(time), 2)), np.ones((len(time), 3))

    monkeypatch.setattr("simbench.retargeting.stand.arms_and_legs.planned_zmp", record)
    time = 3.0 + 0.125 * np.arange(13)
    compute_balancing_cog(romeo, time, np.zeros((13, 7)), np.zeros((13, 33)), np.zeros((13, 2)), None)
    quarters = [0.0, 0.103515625, 0.5, 1.0 - 0.103515625]
    np.testing.assert_allclose(given[0], [*quarters, *[1.0] * 5, *quarters[::-1]], atol=1e-12)


@pytest.fixture(scope="module")
def mahru():
    return load_robot("mahru")


@pytest.fixture(scope="module")
def stretched(mahru):
    """Arms stretched forward twice, and how the scaled model imitates it."""
    motion = resample(perform_average("arms_forward", 0).motion, RATE)
    few = slice(0, 2000)
    motion = replace(
        motion,
        time=motion.time[few],
        joints={name: track[few] for name, track in motion.joints.items()},
        segments={name: frames[few] for name, frames in motion.segments.items()},
    )
    return motion, imitate(calibrate(mahru, motion), motion)


def height(robot, motion, imitation):
    section = RobotSection(name=robot.name, posture="standing")
    spot = BasePlacement(section.position_m, section.heading_rad)
    nowhere = np.zeros(len(motion.time))
    return compute_pelvis_height(robot, motion, imitation, spot, section, {"left": nowhere, "right": nowhere})


def with_pelvis(motion, way):
    start = motion.initial.joints["pelvis"]
    track = start + np.outer(way, [0.0, 0.0, 1.0])
    return replace(motion, joints={**motion.joints, "pelvis": track})


def test_a_pelvis_at_rest_stays_while_arms_rise_and_lift_the_shoulders(mahru, stretched):
    motion, imitation = stretched
    shoulders = motion.joints["left_shoulder"][:, 2]
    assert np.ptp(shoulders) > 0.025
    found = height(mahru, motion, imitation)
    # Half a millimetre of recording noise; its acceleration as recorded is some m/s².
    assert np.abs(found).max() < 5e-4
    assert np.abs(np.diff(found, 2)).max() * RATE**2 < 1.0
    np.testing.assert_array_equal(height(mahru, with_pelvis(motion, np.zeros(2000)), imitation), 0.0)


def test_a_bounce_is_followed_by_the_ratio_of_shoulder_heights(mahru, stretched):
    motion, imitation = stretched
    bounce = 1e-3 * np.sin(2.0 * np.pi * 2.0 * motion.time)
    found = height(mahru, with_pelvis(motion, bounce), imitation)
    inside = slice(200, -200)
    ratio = np.sqrt(np.mean(found[inside] ** 2) / np.mean(bounce[inside] ** 2))
    # Mahru's shoulders are 1.204 m high in this stance, those of a person of 1.70 m, arms forward, 1.422 m.
    assert ratio == pytest.approx(1.204 / 1.422, rel=0.01)


def test_without_a_recorded_pelvis_the_scaled_models_root_is_followed(mahru, stretched):
    motion, imitation = stretched
    joints = {name: track for name, track in motion.joints.items() if name != "pelvis"}
    q = np.tile(imitation.actor.q, (2000, 1))
    q[:, 2] += 1e-3 * np.sin(2.0 * np.pi * 2.0 * motion.time)
    rooted = height(mahru, replace(motion, joints=joints), Imitation(imitation.actor, motion.time, q))
    pelvic = height(mahru, with_pelvis(motion, q[:, 2] - imitation.actor.q[2]), imitation)
    # But for smoothing.
    np.testing.assert_allclose(rooted, pelvic, atol=2e-5)
    assert np.abs(rooted).max() > 7e-4


def leaning(motion, forward, left):
    """The same person with the shoulders moved forward and to the left of the hips, m, (T,)."""
    moved = np.stack([forward, left, np.zeros_like(left)], axis=1)
    names = ("left_shoulder", "right_shoulder")
    upright = {f"{side}_hip": motion.joints[f"{side}_shoulder"] - [0.0, 0.0, 0.5] for side in SIDES}
    shoulders = {name: motion.joints[name] + moved for name in names}
    return replace(motion, joints={**motion.joints, **upright, **shoulders})


def test_the_pelvis_leans_where_the_trunk_does_from_rest_to_rest(mahru, stretched):
    motion, _ = stretched
    # It stays for a while: smoothing takes nothing off its middle.
    swing = np.minimum(1.0, 2.0 * np.sin(np.pi * motion.time / motion.time[-1]) ** 2)
    found = compute_pelvis_turn(mahru, leaning(motion, 0.1 * swing, 0.05 * swing))
    middle = len(swing) // 2
    # Forward is about y, to the left is against x, of the axes of the recording.
    trunk = np.array([0.1, 0.05, 0.5]) / np.linalg.norm([0.1, 0.05, 0.5])
    lean = np.cross([0.0, 0.0, 1.0], trunk)
    # It never is beyond half a radian.
    lean *= 0.5 * np.tanh(np.linalg.norm(lean) / 0.5) / np.linalg.norm(lean)
    np.testing.assert_allclose(found[middle], lean, rtol=0.02)
    np.testing.assert_allclose(found[[0, -1]], 0.0, atol=1e-12)
    far = compute_pelvis_turn(mahru, leaning(motion, 5.0 * swing, 0.0 * swing))
    assert 0.4 < np.linalg.norm(far, axis=1).max() < 0.51


def test_a_fast_lean_is_followed_as_far_as_its_acceleration_allows(mahru, stretched):
    motion, _ = stretched
    found = compute_pelvis_turn(mahru, leaning(motion, 0.2 * np.sin(12.0 * motion.time), 0.0 * motion.time))
    acceleration = np.diff(found[:, 1], 2) * RATE**2
    assert 2.0 < np.abs(acceleration).max() < 3.2
    # 0.38 rad at 12 rad/s would take 54 rad/s².
    assert 0.01 < np.abs(found[:, 1]).max() < 0.05


def test_without_hips_it_stays_upright(mahru, stretched):
    motion, _ = stretched
    joints = {name: track for name, track in motion.joints.items() if not name.endswith("_hip")}
    assert compute_pelvis_turn(mahru, replace(motion, joints=joints)) is None


def test_what_the_waist_leans_by_itself_the_pelvis_does_not(stretched):
    motion, _ = stretched
    person = leaning(motion, 0.1 * motion.time, 0.0 * motion.time)
    # The waist of TALOS turns about z and y, that of ROMEO about z only.
    assert compute_pelvis_turn(load_robot("talos"), person) is None
    assert np.abs(compute_pelvis_turn(load_robot("romeo"), person)).max() > 0.1
