"""Locally stretched time: limits in the robot's time, by independent dynamics; the tempo elsewhere."""

import dataclasses

import numpy as np
import pinocchio as pin
import pytest
from scipy.interpolate import make_interp_spline

from simbench.balance.ground_reaction import planned_zmp, standing_torques, support_polygons
from simbench.balance.leg_ik import stand
from simbench.kinematics.derivatives import differentiate
from simbench.kinematics.time_optimal import PathConstraints, constant_rate, time_scaling_factor
from simbench.retargeting.timing.stretch import (
    PathLimits,
    fit_tempo,
    fixed_base_constraints,
    measure_stretch,
    path_velocity,
    slow_for_accelerations,
    slowed_by,
    standing_constraints,
)
from simbench.robot.robot import load_robot

NAMES = ("elbow", "wrist")
NO_LIMIT = np.full(2, np.inf)


def burst(rate=100.0):
    """Two joints for 8 s: slow sinusoids, and a quick turn of the wrist about 4 s."""
    time = np.arange(0.0, 8.0 + 0.5 / rate, 1.0 / rate)
    elbow = 0.4 * np.sin(1.3 * time)
    wrist = 0.3 * np.cos(0.9 * time) + 1.2 * np.tanh((time - 4.0) / 0.15)
    return time, np.stack([elbow, wrist], axis=1)


def derivatives(time, q, at):
    spline = make_interp_spline(time, q, k=5)
    return spline.derivative(1)(at), spline.derivative(2)(at), spline.derivative(3)(at)


@pytest.mark.parametrize("rate", [60.0, 100.0])
def test_speed_and_acceleration_limits_hold_in_the_robots_time(rate):
    time, q = burst(rate)
    speed, acceleration = np.array([1.0, 3.0]), np.array([5.0, 12.0])
    tempo = fit_tempo(PathLimits(time, q, speed, acceleration, NAMES))
    robot = tempo(time)
    at = np.arange(robot[0], robot[-1], 1e-3)
    v, a, _ = derivatives(robot, q, at)
    assert (np.abs(v) / speed).max() <= 1.002
    # The limit is of accelerations over five samples.
    assert (np.abs(a) / acceleration).max() <= 1.03
    # Without the limit it is far above.
    assert (np.abs(derivatives(time, q, time)[1]) / acceleration).max() > 2.0


def test_time_is_stretched_about_the_quick_turn_only_and_never_shortened():
    time, q = burst()
    speed = np.array([1.0, 3.0])
    tempo = fit_tempo(PathLimits(time, q, speed, NO_LIMIT, NAMES))
    robot = tempo(time)
    steps, recorded = np.diff(robot), np.diff(time)
    assert (steps >= recorded - 1e-12).all()
    far = np.abs(time[1:] - 4.0) > 1.0
    assert steps[far] == pytest.approx(recorded[far], abs=1e-12)
    uniform = time_scaling_factor(time, q, speed)
    assert uniform > 2.5
    # The turn takes a twentieth of the motion.
    assert 8.0 < robot[-1] < 9.0
    assert steps.max() / recorded[0] == pytest.approx(uniform, rel=0.01)


def test_the_time_law_has_no_corner():
    """Jerk by a bound from the kernel: |d³s/dt³| = ½ |x″| √x ≤ ½ π / w², w = 0.11 s, for x from 0 to 1."""
    time, q = burst()
    tempo = fit_tempo(PathLimits(time, q, np.array([1.0, 3.0]), NO_LIMIT, NAMES))
    robot = tempo(time)
    at = np.linspace(robot[3], robot[-4], 4000)
    jerk = derivatives(robot, time[:, None], at)[2]
    assert np.abs(jerk).max() <= 0.5 * np.pi / 0.11**2


def test_what_is_slow_enough_keeps_its_time():
    time, q = burst()
    tempo = fit_tempo(PathLimits(time, q, np.full(2, 50.0), NO_LIMIT, NAMES))
    assert tempo(time) is time


def test_added_constraints_count_and_are_named():
    """A torque that is ṡ² times its limit and a half, from 2 to 3 s: √1.5 slower there."""
    time, q = burst()
    coarse = time[::2]
    needed = np.where((coarse >= 2.0) & (coarse <= 3.0), 1.5, 0.2)[:, None]
    rows = PathConstraints(np.zeros_like(needed), needed)
    torques = coarse, rows, ("torque of wrist",)
    limits = PathLimits(time, q, np.full(2, 50.0), NO_LIMIT, NAMES, torques)
    tempo = fit_tempo(limits)
    rate = np.gradient(time, tempo(time))
    assert rate[205:295] == pytest.approx(1.0 / np.sqrt(1.5), abs=1e-4)
    assert rate[:175] == pytest.approx(1.0)
    metrics, note = measure_stretch(limits, tempo)
    assert metrics["retarget.slow_down_max"] == pytest.approx(np.sqrt(1.5), rel=1e-4)
    # The second that is slower, and at most 0.2 s before and after it in which the tempo changes.
    slow = np.sqrt(1.5)
    assert slow / 8.3 <= metrics["retarget.stretched_fraction"] <= 1.45 * slow / 8.3
    assert "torque of wrist (100 %)" in note


def test_a_tempo_is_slowed_further_where_new_limits_need_it():
    time, q = burst()
    free = PathLimits(time, q, np.full(2, 50.0), NO_LIMIT, NAMES)
    tempo = fit_tempo(free)
    bound = PathLimits(time, q, np.array([1.0, 3.0]), NO_LIMIT, NAMES)
    slowed = fit_tempo(bound, tempo.square)
    robot = slowed(time)
    assert time_scaling_factor(robot, q, np.array([1.0, 3.0])) <= 1.001
    assert robot[300] == pytest.approx(time[300])
    assert fit_tempo(bound, slowed.square)(time) == pytest.approx(robot, rel=1e-9)


def test_a_corner_of_the_path_is_slowed_for_as_the_robots_time_resolves_it():
    """The wrist turns by 0.2 rad within 40 ms of the recording, where its limits stretch time tenfold."""
    time, q = burst()
    q[:, 1] = 0.3 * np.cos(0.9 * time) + 0.1 * np.tanh((time - 4.0) / 0.01)
    speed, acceleration = np.array([1.0, 1.0]), np.array([5.0, 8.0])
    limits = PathLimits(time, q, speed, acceleration, NAMES)

    def use(tempo):
        return float((np.abs(differentiate(tempo(time), q).acceleration) / acceleration).max())

    first = fit_tempo(limits)
    slowed = slow_for_accelerations(limits, first, time, q, acceleration)
    assert use(first) > 1.1
    assert use(slowed) <= 1.001
    assert (slowed.square <= first.square + 1e-12).all()
    far = np.abs(slowed.recorded - 4.0) > 0.6
    assert slowed.square[far] == pytest.approx(first.square[far])


@pytest.mark.parametrize("seed", range(6))
def test_never_longer_than_one_factor_under_the_same_limits(seed):
    """A path with corners, sampled as recorded: accelerations that change from sample to sample."""
    time, q = burst()
    rng = np.random.default_rng(seed)
    q = np.maximum(q + rng.normal(0.0, 2e-4, q.shape), rng.uniform(-0.6, 0.2))
    speed, acceleration = np.array([1.0, 3.0]), rng.uniform(2.0, 6.0, 2)
    limits = PathLimits(time, q, speed, acceleration, NAMES)
    uniform, local = constant_rate(limits.ceiling, limits.constraints), fit_tempo(limits)
    assert uniform < 1.0 / time_scaling_factor(time, q, speed) ** 2
    assert local.robot[-1] <= 8.0 / np.sqrt(uniform)
    assert local.square.min() >= uniform * (1.0 - 1e-9)
    last = slow_for_accelerations(limits, local, time, q, acceleration)
    need = np.abs(differentiate(time, q).acceleration) / acceleration
    assert last.robot[-1] <= 8.0 * np.sqrt(need.max()) * (1.0 + 1e-3)


def test_the_joint_that_binds_is_named():
    time, q = burst()
    limits = PathLimits(time, q, np.array([1.0, 3.0]), NO_LIMIT, NAMES)
    _, note = measure_stretch(limits, fit_tempo(limits))
    assert "s longer than recorded, most for speed of wrist (100 %)" in note


def test_a_recording_slowed_beforehand_counts_in_the_metrics():
    metrics = {"retarget.slow_down": 1.2, "retarget.slow_down_max": 2.0, "retarget.stretched_fraction": 0.3}
    assert slowed_by(metrics, 1.5) == pytest.approx(
        {"retarget.slow_down": 1.8, "retarget.slow_down_max": 3.0, "retarget.stretched_fraction": 1.0}
    )
    assert slowed_by(metrics, 1.0) == metrics
    assert slowed_by({"retarget.slow_down": 2.0}, 1.4) == {"retarget.slow_down": 2.8}


TIME = np.arange(0.0, 3.0, 0.01)


@pytest.fixture(scope="module")
def swinging(romeo):
    """ROMEO stands, both arms swing together, and the base sways and turns a little as if it were held."""
    stance = stand(romeo, (0.1, -0.05), 0.2, "standing")
    joints = np.tile(stance.joints, (len(TIME), 1))
    for name in ("LShoulderPitch", "RShoulderPitch"):
        joints[:, romeo.joint_names.index(name)] += 0.5 * np.sin(4.0 * TIME)
    base = np.tile(stance.base, (len(TIME), 1))
    base[:, 0] += 0.01 * np.sin(3.0 * TIME)
    turn = pin.Quaternion(pin.rpy.rpyToMatrix(0.0, 0.0, 0.0))
    for row, angle in zip(base, 0.05 * np.sin(2.0 * TIME), strict=True):
        turn = pin.Quaternion(pin.rpy.rpyToMatrix(0.0, 0.0, angle)) * pin.Quaternion(*row[[6, 3, 4, 5]])
        row[3:] = turn.coeffs()
    return stance, base, joints


def test_torques_of_a_fixed_arm_are_those_of_inverse_dynamics_at_any_rate():
    arm = load_robot("puma560")
    rng = np.random.default_rng(0)
    joints = 0.5 * np.sin(rng.uniform(1.0, 3.0, 6) * TIME[:, None] + rng.uniform(0.0, 6.0, 6))
    times, rows, names = fixed_base_constraints(arm, TIME, joints)
    samples, (q, first, second) = path_velocity(TIME, None, joints)
    data, limit = arm.model.createData(), arm.motors.torque_limit
    assert names[0] == f"torque of {arm.joint_names[0]}"
    for sample in (3, 70, 140):
        square, acceleration = 0.6, -0.8
        v = first[sample] * np.sqrt(square)
        a = first[sample] * acceleration + second[sample] * square
        torque = pin.rnea(arm.model, data, q[sample], v, a)
        still = pin.rnea(arm.model, data, q[sample], 0.0 * v, 0.0 * v)
        use = rows.a[sample] * acceleration + rows.b[sample] * square
        signed = np.hstack([torque - still, still - torque])
        room = np.maximum(
            0.8 * np.hstack([limit, limit]) - np.hstack([still, -still]), 0.1 * np.hstack([limit, limit])
        )
        assert use == pytest.approx(signed / room, abs=1e-9)
    np.testing.assert_array_equal(times, TIME[samples])
    assert times[0] == TIME[0]
    assert times[-1] == TIME[-1]
    # At most 50 Hz.
    assert np.diff(times)[:-1].min() >= 0.02 - 1e-9


@pytest.mark.parametrize("factor", [1.0, 1.7])
def test_torques_of_a_standing_robot_are_those_at_the_stretched_time(romeo, swinging, factor):
    stance, base, joints = swinging
    times, rows, _ = standing_constraints(romeo, stance, TIME, base, joints, {}, np.ones(len(TIME)))
    samples = np.searchsorted(TIME, times)
    still, moving = (
        standing_torques(romeo, factor * TIME, base, joints, inertia=inertia)[samples]
        for inertia in (False, True)
    )
    limit = romeo.motors.torque_limit
    room = np.maximum(0.8 * limit - still, 0.1 * limit)
    use = rows.b[:, : len(limit)] / factor**2
    inner = slice(5, -5)
    # Their differences are of samples 20 ms apart.
    assert use[inner] == pytest.approx(((moving - still) / room)[inner], abs=0.004)
    assert np.abs(use[inner]).max() > 0.1 / factor**2


@pytest.mark.parametrize("load", [None, (8.0, -5.0, -20.0, 3.0, 2.0, -1.0)])
@pytest.mark.parametrize("faster", [1.0, 2.5])
def test_zmp_constraints_are_used_by_what_the_zmp_moves_towards_an_edge(romeo, swinging, load, faster):
    """0 where the ZMP is as at rest, 1 where it is 2 cm inside an edge, for every edge."""
    stance, base, joints = swinging
    time = TIME / faster
    wrench = np.tile(load, (len(time), 1)) if load else None
    loads = {"left": wrench} if load else {}
    times, rows, names = standing_constraints(romeo, stance, TIME, base, joints, loads, np.ones(len(time)))
    edges = [column for column, name in enumerate(names) if name == "ZMP"]
    samples = np.searchsorted(TIME, times)[5:-5]
    moving, still = (
        planned_zmp(romeo, time, base, joints, wrench, np.full(len(time), part))[0][samples]
        for part in (1.0, 0.0)
    )
    corners = np.concatenate(
        [
            romeo.soles[f"{side}_foot"] @ sole.rotation.T + sole.translation
            for side, sole in stance.soles.items()
        ]
    )
    polygon = support_polygons(corners[None, :, :2])[0]
    polygon = polygon[np.isfinite(polygon[:, 0])]
    assert len(polygon) == len(edges)
    use = faster**2 * rows.b[5:-5][:, edges]
    for column, (first, second) in enumerate(zip(polygon, np.roll(polygon, -1, axis=0), strict=True)):
        along = (second - first) / np.linalg.norm(second - first)
        inside = np.array([-along[1], along[0]])
        room = np.maximum((still - first) @ inside - 0.02, 0.01)
        # The vertical force changes by a few percent.
        assert use[:, column] == pytest.approx((still - moving) @ inside / room, abs=0.03 * faster**2)
    assert use.max() > 0.05 * faster**2


def test_a_load_on_a_hand_needs_torque_of_the_arm(romeo, swinging):
    """A force down on the palm at rest takes Jᵀf from the room for motion."""
    stance, base, joints = swinging
    data, model = romeo.model.createData(), romeo.model
    q = np.concatenate([base[0], joints[0]])
    frame = model.getFrameId(romeo.frames["left_hand"])
    jacobian = pin.computeFrameJacobian(model, data, q, frame, pin.LOCAL_WORLD_ALIGNED)
    pin.framesForwardKinematics(model, data, q)
    palm, force = data.oMf[frame].translation, np.array([0.0, 0.0, -30.0])
    wrench = np.tile([*force, *np.cross(palm, force)], (len(TIME), 1))
    plain, loaded = (
        standing_constraints(romeo, stance, TIME, base, joints, loads, np.ones(len(TIME)))[1]
        for loads in ({}, {"left": wrench})
    )
    column = romeo.joint_names.index("LShoulderPitch")
    limit = romeo.motors.torque_limit[column]
    needed = -(jacobian[:3].T @ force)[6 + column]
    still = pin.rnea(model, data, q, np.zeros(model.nv), np.zeros(model.nv))[6 + column]
    ratio = (0.8 * limit - still) / (0.8 * limit - still - needed)
    assert loaded.b[0, column] == pytest.approx(ratio * plain.b[0, column], rel=1e-6)
    assert abs(ratio - 1.0) > 0.05


def test_a_seated_robot_has_no_zmp_to_keep(romeo, swinging):
    stance, base, joints = swinging
    seated = dataclasses.replace(stance, seated=True)
    times, rows, names = standing_constraints(romeo, seated, TIME, base, joints, {}, np.ones(len(TIME)))
    assert "ZMP" not in names
    assert rows.a.shape == (len(times), len(names))
