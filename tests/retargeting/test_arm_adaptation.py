"""Arm adaptation: bounds, gradients, a robot's own motion, people's motions at 60 Hz, and bad input."""

from dataclasses import replace

import numpy as np
import pinocchio as pin
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import least_squares
from scipy.spatial.transform import Rotation

from simbench.errors import MotionError, RetargetError
from simbench.kinematics.path_solver import PathBounds
from simbench.motion.actors.session import perform_in_session
from simbench.motion.human_motion import HumanMotion, InitialPose
from simbench.retargeting.arm_adaptation import (
    adapt_arms,
    adapted_posture,
    arm_chain,
    arm_criterion,
    arm_joints,
    arm_targets,
    braking_speed,
    follow,
    increment_bounds,
    joint_bounds,
    minimise_criterion,
)
from simbench.robot.robot import load_robot
from simbench.robot.robot_limbs import estimated_accelerations, upper_body
from simbench.robot.sides import SIDES

WEIGHTS = np.array([1.0, 1.1, 0.9, 0.8, 0.7, 1.2, 1.3, 1.0, 0.6, 0.4])
PLACES = np.array([[0.0, 0.0, 0.025], [0.075, 0.043, 0.025], [0.075, -0.043, 0.025]])
"""Of wrist, thumb and pinky of a right hand held forward, palm down."""


@pytest.fixture(scope="module")
def robots():
    return {name: load_robot(name) for name in ("mahru", "romeo", "puma560")}


@pytest.fixture(scope="module")
def people():
    return {task: perform_in_session(2018, 1, task).motion for task in ("waving", "signing")}


def one_joint(lower, upper, speed, acceleration):
    return PathBounds(*(np.array([float(x)]) for x in (lower, upper, speed, acceleration)))


def braked_distance(speed, acceleration, period):
    """Way of a joint that moves for one sample and then brakes as hard as it may, sample by sample."""
    distance = 0.0
    while speed > 0:
        distance += period * speed
        speed -= acceleration * period
    return distance


@given(distance=st.floats(1e-6, 6.0), acceleration=st.floats(0.5, 500.0), period=st.floats(1e-3, 0.1))
@settings(max_examples=50, deadline=None)
def test_braking_speed_is_the_greatest_that_stops_in_time(distance, acceleration, period):
    speed = braking_speed(distance, acceleration, period)
    assert braked_distance(speed * (1 - 1e-9), acceleration, period) <= distance
    assert braked_distance(speed * (1 + 1e-6), acceleration, period) > distance
    assert speed < np.sqrt(2 * acceleration * distance)


def test_braking_speed_of_short_samples_is_the_textbooks():
    assert braking_speed(0.5, 20.0, 1e-6) == pytest.approx(np.sqrt(2 * 20.0 * 0.5), rel=1e-5)
    assert braking_speed(0.5, np.inf, 0.01) == pytest.approx(50.0)
    assert braking_speed(0.0, 20.0, 0.01) == 0.0


@given(
    seed=st.integers(0, 2**32 - 1),
    period=st.floats(2e-3, 0.1),
    speed=st.floats(0.1, 20.0),
    acceleration=st.floats(0.5, 2000.0),
    width=st.floats(1e-3, 5.0),
)
@settings(max_examples=50, deadline=None)
def test_no_wish_leads_out_of_the_bounds(seed, period, speed, acceleration, width):
    """Wishes jump between the limits and beyond, and increments between the ends of their interval."""
    rng = np.random.default_rng(seed)
    joints, samples = 3, 150
    bounds = PathBounds(
        np.full(joints, -width),
        np.full(joints, width),
        np.full(joints, speed),
        acceleration * np.array([1.0, 3.0, 0.2]),
    )
    q = rng.uniform(-width, width, joints)
    velocity, wish = np.zeros(joints), q
    for _ in range(samples):
        low, high = increment_bounds(bounds, q, velocity, period)
        assert (low <= high).all()
        if rng.random() < 0.1:
            wish = rng.choice([-2.0, -1.0, 0.0, 1.0, 2.0], joints) * width
        moved = q + np.clip(wish - q, low, high)
        new_velocity = (moved - q) / period
        scale = 1e-12 * (1 + width / period)
        assert (np.abs(moved) <= width + 1e-12).all()
        assert (np.abs(new_velocity) <= speed + scale).all()
        assert (np.abs(new_velocity - velocity) <= bounds.acceleration * period + scale).all()
        q, velocity = moved, new_velocity


def test_at_full_speed_into_a_limit():
    """The paper's three intervals alone have no point in common there; these end at rest on the limit."""
    bounds, period = one_joint(-2.0, 1.0, 4.0, 30.0), 1 / 60
    path, naive = [np.array([-2.0])], [np.array([-2.0])]
    velocity, naive_velocity, empty = np.zeros(1), np.zeros(1), False
    for _ in range(120):
        _, high = increment_bounds(bounds, path[-1], velocity, period)
        path.append(path[-1] + high)
        velocity = high / period
        change = 30.0 * period
        least = period * np.maximum(naive_velocity - change, -4.0)
        greatest = np.minimum(1.0 - naive[-1], period * np.minimum(naive_velocity + change, 4.0))
        empty = empty or bool(least > greatest)
        naive_velocity = greatest / period
        naive.append(naive[-1] + greatest)
    path = np.concatenate(path)
    speeds = np.diff(path, prepend=path[0]) / period
    assert empty
    assert speeds.max() == pytest.approx(4.0)
    assert path.max() <= 1.0
    assert path[-1] == pytest.approx(1.0, abs=1e-12)
    assert np.abs(np.diff(speeds)).max() <= 30.0 * period * (1 + 1e-12)
    # From rest to full speed, along, and to rest: v/a + d/v, within the samples of start and end.
    assert np.argmax(path > 1.0 - 1e-9) * period == pytest.approx(4 / 30 + 3 / 4, abs=2 * period)


@given(distance=st.floats(-3.0, 3.0), acceleration=st.floats(5.0, 300.0), speed=st.floats(0.5, 10.0))
@settings(max_examples=50, deadline=None)
def test_a_step_is_followed_without_overshoot(distance, acceleration, speed):
    period = 1 / 60
    wishes = np.full((600, 1), distance)
    wishes[:2] = 0.0
    path = follow(wishes, one_joint(-4, 4, speed, acceleration), period)[:, 0]
    way = abs(distance)
    fast = speed**2 / acceleration
    least = 2 * np.sqrt(way / acceleration) if way < fast else way / speed + speed / acceleration
    assert np.abs(path).max() <= way + 1e-9
    arrived = int(np.argmax(np.abs(path - distance) < 1e-9))
    assert abs(path[-1] - distance) < 1e-9
    assert arrived * period <= least + 5 * period


def test_a_wish_within_the_bounds_is_followed_exactly():
    time = np.arange(0, 4, 0.01)
    # From rest: the speed grows from zero.
    wishes = np.stack([np.sin(time) ** 2, 0.5 * (1 - np.cos(2 * time))], axis=1)
    bounds = PathBounds(np.full(2, -0.1), np.full(2, 1.1), np.full(2, 1.1), np.full(2, 2.2))
    assert np.abs(follow(wishes, bounds, 0.01) - wishes).max() < 1e-12


def test_bounds_of_a_robot():
    robot = load_robot("mahru")
    names = ("RElbowPitch", "RWristYaw")
    bounds = joint_bounds(robot, names, margin=0.01)
    assert bounds.lower == pytest.approx([-2.35619 + 0.01, -2.35619 + 0.01], abs=1e-5)
    assert bounds.upper == pytest.approx([-0.01, 0.785398 - 0.01], abs=1e-5)
    assert bounds.speed == pytest.approx([8.9, 9.9])
    np.testing.assert_array_equal(bounds.acceleration, estimated_accelerations(robot, names))
    assert joint_bounds(robot, names, acceleration=7.0).acceleration == pytest.approx([7.0, 7.0])
    # An estimate does not depend on the company it is asked for in.
    both = (*robot.groups["left_arm"], *robot.groups["right_arm"])
    assert estimated_accelerations(robot, both)[both.index("RElbowPitch")] == bounds.acceleration[0]
    assert np.isinf(joint_bounds(robot, ("RElbowPitch",), acceleration=np.inf).acceleration).all()
    with pytest.raises(RetargetError):
        joint_bounds(robot, ("RElbowPitch",), acceleration=-1.0)
    with pytest.raises(RetargetError):
        joint_bounds(robot, ("RElbowPitch",), margin=2.0)
    robot.model.effortLimit[robot.root_v + robot.joint_names.index("RElbowPitch")] = 0.0
    with pytest.raises(RetargetError):
        joint_bounds(robot, ("RElbowPitch",))


def criterion(chain, q, targets, upper_arm):
    q = np.asarray(q, dtype=float)
    value, _, descent = arm_criterion(chain, q, targets, upper_arm, WEIGHTS, 0.0, q)
    return value, -2 * descent, chain.point.copy()


def random_arm(robot, side, rng):
    chain = arm_chain(robot, side, 0.6, PLACES)
    bounds = [
        [limit[robot.root_q + robot.joint_names.index(name)] for name in arm_joints(robot, side)]
        for limit in (robot.model.lowerPositionLimit, robot.model.upperPositionLimit)
    ]
    return chain, np.array(bounds), rng.uniform(*bounds)


@pytest.mark.parametrize("name", ["mahru", "romeo", "puma560"])
def test_gradient_against_central_differences(robots, name):
    rng, angles = np.random.default_rng(1), []
    for _ in range(40):
        chain, _, q = random_arm(robots[name], "right", rng)
        targets, upper_arm = rng.normal(scale=0.3, size=(3, 3)), rng.normal(size=3)
        upper_arm /= np.linalg.norm(upper_arm)
        _, gradient, point = criterion(chain, q, targets, upper_arm)
        step = 1e-5
        numeric = [
            (
                criterion(chain, q + step * unit, targets, upper_arm)[0]
                - criterion(chain, q - step * unit, targets, upper_arm)[0]
            )
            / (2 * step)
            for unit in np.eye(len(q))
        ]
        assert np.abs(gradient - numeric).max() < 1e-8
        angles.append(point[3] @ upper_arm)
    # Both branches of the upper arm's term were there.
    assert min(angles) < -0.1
    assert max(angles) > 0.1


def test_the_upper_arm_term_is_least_along_and_greatest_against_the_persons(robots):
    """W10 |r|² (1 − cos|cos|): the printed sign, or its square, would put the least value elsewhere."""
    chain, _, q = random_arm(robots["mahru"], "right", np.random.default_rng(2))
    point = criterion(chain, q, np.zeros((3, 3)), np.array([1.0, 0, 0]))[2]
    r, targets = point[3], point[:3]
    axis = np.cross(r, [0.3, 0.5, 0.7])
    values = []
    for angle in np.radians([0, 30, 60, 90, 120, 150, 180]):
        upper_arm = Rotation.from_rotvec(angle * axis / np.linalg.norm(axis)).apply(r / np.linalg.norm(r))
        values.append(criterion(chain, q, targets, upper_arm)[0] / (WEIGHTS[9] * (r @ r)))
    assert values == pytest.approx([0, 0.25, 0.75, 1, 1.25, 1.75, 2], abs=1e-12)


@pytest.mark.parametrize("name", ["mahru", "romeo"])
@pytest.mark.parametrize("side", SIDES)
def test_stretched_arm_against_the_robots_own_kinematics(robots, name, side):
    """All between shoulder and wrist is ρ times as long, the hand as large as the person's."""
    robot = robots[name]
    model, data = robot.model, robot.model.createData()
    chain, _, joints = random_arm(robot, side, np.random.default_rng(3))
    q = pin.neutral(model)
    for joint, angle in zip(arm_joints(robot, side), joints, strict=True):
        q[model.joints[model.getJointId(joint)].idx_q] = angle
    pin.framesForwardKinematics(model, data, q)
    shoulder, elbow, wrist, hand = (
        data.oMf[model.getFrameId(robot.frames[f"{side}_{part}"])]
        for part in ("shoulder", "elbow", "wrist", "hand")
    )
    upper, fore = elbow.translation - shoulder.translation, wrist.translation - elbow.translation
    ratio = 0.6 / (np.linalg.norm(upper) + np.linalg.norm(fore))
    point = criterion(chain, joints, np.zeros((3, 3)), np.array([1.0, 0, 0]))[2]
    assert point[3] == pytest.approx(ratio * upper, abs=1e-12)
    assert point[:3] == pytest.approx(ratio * (upper + fore) + PLACES @ hand.rotation.T, abs=1e-9)


def test_the_least_value_in_a_box_is_scipys(robots):
    rng = np.random.default_rng(4)
    at_bounds = same = 0
    for _ in range(15):
        chain, limits, q = random_arm(robots["romeo"], "left", rng)
        goal = criterion(chain, rng.uniform(*limits), np.zeros((3, 3)), np.array([1.0, 0, 0]))[2]
        targets, upper_arm = goal[:3], goal[3] / np.linalg.norm(goal[3])
        low, high = np.maximum(q - 0.15, limits[0]), np.minimum(q + 0.15, limits[1])

        def residual(x, chain=chain, targets=targets, upper_arm=upper_arm, start=q):
            point = criterion(chain, x, targets, upper_arm)[2]
            along = upper_arm @ point[3]
            aside = point[3] - along * upper_arm
            against = np.sqrt(2) * min(along, 0.0)
            term = np.sqrt(WEIGHTS[9]) * np.append(aside, against)
            hand = np.sqrt(WEIGHTS[:9]) * (targets - point[:3]).ravel()
            return np.concatenate([hand, term, 1e-3 * (x - start)])

        found = q.copy()
        value = minimise_criterion(chain, found, targets, upper_arm, WEIGHTS, 1e-6, low, high)
        # A box may hold several minima: SciPy cannot improve ours, and comes to the same from the same start.
        costs = [
            least_squares(residual, x, bounds=(low, high), xtol=1e-14, ftol=1e-14, gtol=1e-14).cost
            for x in (np.clip(found, low + 1e-9, high - 1e-9), q)
        ]
        assert value == pytest.approx(2 * costs[0], rel=1e-5, abs=1e-12)
        same += value == pytest.approx(2 * costs[1], rel=1e-5, abs=1e-12)
        at_bounds += int(np.sum((found == low) | (found == high)))
    assert at_bounds > 15
    assert same >= 14


def recorded(robot, q, time, base):
    """What would be seen of a person whose arms are 1.2 times the robot's, moving by q on a moving base."""
    model, data = robot.model, robot.model.createData()

    def seen(joints, root):
        full = pin.neutral(model)
        full[7:] = joints
        pin.framesForwardKinematics(model, data, full)
        trunk = root * data.oMf[model.getFrameId(robot.frames["trunk"])]
        places, frames = {}, {"trunk": trunk.homogeneous, "pelvis": root.homogeneous}
        for side in SIDES:
            at = {
                part: data.oMf[model.getFrameId(robot.frames[f"{side}_{part}"])]
                for part in ("shoulder", "elbow", "wrist", "hand")
            }
            start = at["shoulder"].translation
            for part in ("shoulder", "elbow", "wrist"):
                places[f"{side}_{part}"] = root.act(start + 1.2 * (at[part].translation - start))
            # Markers sit on a hand as they please.
            fixed = pin.SE3(pin.exp3(np.array([0.3, -0.5, 0.8])), np.array([0.05, 0.01, 0.02]))
            hand = pin.SE3(at["hand"].rotation, start + 1.2 * (at["wrist"].translation - start))
            frames[f"{side}_hand"] = (root * hand * fixed).homogeneous
        return places, frames

    tracks = [seen(joints, root) for joints, root in zip(q, base, strict=True)]
    joints, segments = (
        {name: np.array([track[kind][name] for track in tracks]) for name in tracks[0][kind]}
        for kind in (0, 1)
    )
    initial = InitialPose(*seen(robot.postures["basic"], pin.SE3.Identity()))
    return HumanMotion(time, joints, segments, initial, "robot")


@pytest.fixture(scope="module")
def own_motion(robots):
    """Mahru's own motion, slow, from rest, on a base that walks and turns; and its joints over time."""
    robot = robots["mahru"]
    time = np.arange(0, 2, 1 / 60)
    share = 0.5 - 0.5 * np.cos(np.pi * time / 2)
    q = np.tile(robot.postures["basic"], (len(time), 1))
    goal = {
        "ShoulderPitch": 0.5,
        "ShoulderRoll": 0.6,
        "ShoulderYaw": 0.5,
        "ElbowPitch": -1.2,
        "WristYaw": 0.6,
        "WristPitch": 0.5,
    }
    for side, sign in (("L", 1.0), ("R", -1.0)):
        for name, by in goal.items():
            mirrored = sign if name.endswith(("Roll", "Yaw")) else 1.0
            q[:, robot.joint_names.index(side + name)] += mirrored * by * share
        # An elbow that is not straight leaves no choice.
        q[:, robot.joint_names.index(side + "ElbowPitch")] -= 0.3
    q[:, robot.joint_names.index("WaistYaw")] = 0.4 * share
    base = [
        pin.SE3(pin.rpy.rpyToMatrix(0.1 * s, 0.2 * s, 2.5 * s), np.array([2.0 * s, s, 0.9])) for s in share
    ]
    return recorded(robot, q, time, base), q


def test_a_robots_own_motion_is_found_wherever_it_walks(robots, own_motion):
    motion, q = own_motion
    robot = robots["mahru"]
    adapted, path, hand_errors, upper_arm_errors = adapt_arms(robot, motion)
    columns = [robot.joint_names.index(name) for name in adapted]
    assert np.abs(path - q[:, columns]).max() < 1e-5
    for side in SIDES:
        assert np.abs(hand_errors[side]).max() < 1e-6
        assert upper_arm_errors[side].max() < 1e-5
    posture = adapted_posture(robot, motion)
    names = list(upper_body(robot).names)[2:]
    assert posture == pytest.approx(q[:, [robot.joint_names.index(name) for name in names]], abs=1e-5)


def violations(q, bounds, period):
    """How often position, speed and acceleration are passed, by backward differences from rest."""
    speed = np.diff(q, axis=0, prepend=q[:1]) / period
    acceleration = np.diff(speed, axis=0, prepend=0 * speed[:1]) / period
    return (
        int(np.sum((q > bounds.upper + 1e-9) | (q < bounds.lower - 1e-9))),
        int(np.sum(np.abs(speed) > bounds.speed + 1e-9)),
        int(np.sum(np.abs(acceleration) > bounds.acceleration + 1e-9)),
    )


@pytest.mark.parametrize(
    ("name", "task", "mean", "worst"),
    [("mahru", "waving", 0.004, 0.02), ("mahru", "signing", 0.010, 0.03), ("romeo", "waving", 0.11, 0.25)],
)
def test_people_at_60_hz_within_all_bounds(robots, people, name, task, mean, worst):
    names, q, hand_errors, _ = adapt_arms(robots[name], people[task])
    assert len(q) == {"waving": 642, "signing": 1978}[task]
    assert violations(q, joint_bounds(robots[name], names), 1 / 60) == (0, 0, 0)
    errors = np.concatenate([hand_errors[side] for side in SIDES])
    distance = np.linalg.norm(errors, axis=2)
    assert distance.mean() < mean
    assert distance.max() < worst


def test_the_papers_own_bounds_leave_accelerations_open(robots, people):
    """What bounding them costs a hand point of a wave: less than a millimetre on the mean."""
    names, _, *bounded = adapt_arms(robots["mahru"], people["waving"])
    _, q, *free = adapt_arms(robots["mahru"], people["waving"], acceleration=np.inf)
    position, speed, accelerations = violations(q, joint_bounds(robots["mahru"], names), 1 / 60)
    assert (position, speed) == (0, 0)
    assert accelerations > 50
    cost = [np.linalg.norm(each["right"], axis=2).mean() for each, _ in (bounded, free)]
    assert 0 <= cost[0] - cost[1] < 1e-3


def test_without_springs_each_frame_is_the_papers_optimum(robots, people):
    """Eq. 2 with nine weights and w₁₀, inside eq. 9 and 13, solved frame by frame by SciPy."""
    mahru, motion = robots["mahru"], held(people["waving"], np.arange(100, 190, 15), 1)
    names, path, *_ = adapt_arms(mahru, motion, acceleration=np.inf, weights=WEIGHTS, stiffness=0.0)
    hand, upper_arm, local, length = arm_targets(motion, "right")
    chain, joints = arm_chain(mahru, "right", length, local), arm_joints(mahru, "right")
    bounds = joint_bounds(mahru, joints, acceleration=np.inf)
    q = path[:, [names.index(name) for name in joints]]

    def residual(x, t):
        point = criterion(chain, x, hand[t], upper_arm[t])[2]
        aside = point[3] - (upper_arm[t] @ point[3]) * upper_arm[t]
        return np.append(np.sqrt(WEIGHTS[:9]) * (hand[t] - point[:3]).ravel(), np.sqrt(WEIGHTS[9]) * aside)

    on_bound = 0
    for t in range(1, len(q)):
        low = np.maximum(bounds.lower, q[t - 1] - bounds.speed / 60)
        high = np.minimum(bounds.upper, q[t - 1] + bounds.speed / 60)
        assert ((q[t] >= low - 1e-12) & (q[t] <= high + 1e-12)).all()
        inside = np.clip(q[t - 1], low + 1e-9, high - 1e-9)
        best = least_squares(residual, inside, bounds=(low, high), args=(t,), xtol=1e-12, ftol=1e-12)
        # Targets jump: one frame ends 2e-5 above the optimum, after the greatest number of steps.
        assert np.sum(residual(q[t], t) ** 2) <= 2 * best.cost * (1 + 5e-5) + 1e-12
        on_bound += int(np.sum((q[t] < low + 1e-9) | (q[t] > high - 1e-9)))
    assert on_bound > 5
    # Stiff springs hold the arm back.
    sprung = adapt_arms(mahru, motion, acceleration=np.inf, weights=WEIGHTS, stiffness=100.0)[1]
    assert np.ptp(sprung, axis=0).max() < 0.2 * np.ptp(path, axis=0).max()


def held(motion, samples, frames):
    """Jump to a sample of a motion and stay there for some frames, sample after sample."""
    index = np.repeat(samples, frames)
    parts = [
        {name: track[index] for name, track in part.items()} for part in (motion.joints, motion.segments)
    ]
    markers = {name: track[index] for name, track in motion.markers.items()}
    return replace(
        motion, time=np.arange(len(index)) / 60, joints=parts[0], segments=parts[1], markers=markers
    )


def test_jumps_stay_feasible_and_end_at_rest(robots, people):
    """The least criterion alone would swing about the aim for as long as it stays."""
    jumps = held(people["signing"], [0, 500, 1000, 1500], 90)
    names, q, *_ = adapt_arms(robots["mahru"], jumps)
    bounds = joint_bounds(robots["mahru"], names)
    assert violations(q, bounds, 1 / 60) == (0, 0, 0)
    speed = np.diff(q, axis=0) * 60
    acceleration = np.diff(speed, axis=0) * 60
    # Driven to the bounds they keep.
    assert (np.abs(acceleration).max(axis=0) > 0.99 * bounds.acceleration).sum() > 4
    for jump in range(90, 360, 90):
        assert np.abs(speed[jump - 6 : jump - 1]).max() < 0.01


def test_three_fixed_points_stand_in_for_markers(robots, people):
    """Without the hand's markers the three usual places on the hand give the same motion."""
    motion = people["waving"]
    _, seen, *_ = adapt_arms(robots["mahru"], motion)
    _, unseen, *_ = adapt_arms(robots["mahru"], replace(motion, markers={}))
    assert np.sqrt(np.mean((seen - unseen) ** 2)) < 0.05
    # Without a trunk the line of the shoulders shows where the person faces.
    segments = {name: track for name, track in motion.segments.items() if name != "trunk"}
    _, turned, *_ = adapt_arms(robots["mahru"], replace(motion, segments=segments))
    assert np.sqrt(np.mean((seen - turned) ** 2)) < 0.1


def test_one_arm_and_one_frame(robots, people):
    first = held(people["waving"], [0], 1)
    names, q, hand_errors, _ = adapt_arms(robots["puma560"], first)
    assert q.shape == (1, 6)
    assert list(hand_errors) == ["right"]
    assert violations(q, joint_bounds(robots["puma560"], names), 1 / 60) == (0, 0, 0)


def without(motion, *names):
    def kept(part):
        return {name: track for name, track in part.items() if name not in names}

    return replace(motion, joints=kept(motion.joints), segments=kept(motion.segments))


def test_bad_input(robots, people):
    motion, mahru = people["waving"], robots["mahru"]
    with pytest.raises(MotionError):
        adapt_arms(mahru, without(motion, "right_hand"))
    with pytest.raises(MotionError):
        adapt_arms(robots["puma560"], without(motion, "right_elbow"))
    assert list(adapt_arms(mahru, without(held(motion, [0], 2), "left_elbow"))[2]) == ["right"]
    with pytest.raises(MotionError):
        adapted_posture(mahru, without(motion, "left_elbow"))
    armless = replace(mahru, groups={"trunk": mahru.groups["trunk"]})
    with pytest.raises(RetargetError):
        adapt_arms(armless, motion)
    with pytest.raises(RetargetError):
        adapted_posture(robots["puma560"], motion)
    same = {**motion.joints, "right_elbow": motion.joints["right_shoulder"]}
    with pytest.raises(MotionError):
        adapt_arms(mahru, replace(motion, joints=same))
    far = motion.markers["left_thumb"].copy()
    far[7] = np.inf
    with pytest.raises(MotionError, match=r"left arm is NaN or infinite at frame 7 \(0.117 s\)"):
        adapt_arms(mahru, replace(motion, markers={**motion.markers, "left_thumb": far}))
    with pytest.raises(RetargetError, match=r"stiffness 1e-06; allowed: 10, none negative"):
        adapt_arms(mahru, motion, weights=[1.0, 1.0, 1.0, 0.1])
    uneven = motion.time.copy()
    uneven[5] += 0.005
    with pytest.raises(RetargetError, match=r"frame 5 is 5 ms off the even spacing of 16.7 ms"):
        adapt_arms(mahru, replace(motion, time=uneven))
