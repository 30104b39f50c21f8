"""Joint torques on both feet: statics, Newton's law and the power balance, each by another route.

ZMP of a planned motion against inverse dynamics, and sway of a pendulum against closed forms.
"""

import numpy as np
import pinocchio as pin
import pytest
from scipy.integrate import cumulative_trapezoid
from scipy.linalg import null_space

from simbench.balance.ground_reaction import (
    ground_wrench,
    lipm_com_offset,
    planned_zmp,
    standing_inertia,
    standing_torques,
)
from simbench.balance.leg_ik import solve_com_ik, stand
from simbench.robot.sides import SIDES

GRAVITY = 9.81


@pytest.fixture(scope="module")
def moving(romeo):
    """Two seconds of waving with both arms and the trunk, the COG swaying by 2 cm, sampled at 200 Hz."""
    stance = stand(romeo, (0.1, 0.2), 0.3, "standing")
    time = np.arange(401) / 200.0
    joints = np.tile(stance.joints, (len(time), 1))
    waves = {
        "TrunkYaw": (0.3, 2.5),
        "LShoulderPitch": (0.6, 4.0),
        "RShoulderPitch": (0.5, 5.0),
        "LElbowYaw": (0.35, 6.0),
        "RShoulderYaw": (-0.25, 3.0),
        "RWristPitch": (0.3, 7.0),
        "NeckYaw": (0.4, 3.0),
    }
    ease = np.sin(0.5 * np.pi * time) ** 2
    for name, (amplitude, rate) in waves.items():
        joints[:, romeo.joint_names.index(name)] += amplitude * ease * np.sin(rate * time)
    sway = 0.02 * np.stack([np.sin(5 * time), np.cos(4 * time)], axis=1)
    base, joints = solve_com_ik(romeo, stance, joints, stance.target + sway)
    return stance, time, base, joints


def links(robot, base, joints):
    """Masses (L,), centres (T, L, 3) and world rotations and inertias of all links over time."""
    data = robot.model.createData()
    inertias = list(robot.model.inertias)[1:]
    centres, rotations = [], []
    for row in np.hstack([base, joints]):
        pin.forwardKinematics(robot.model, data, row)
        poses = list(data.oMi)[1:]
        centres.append([pose.act(inertia.lever) for pose, inertia in zip(poses, inertias, strict=True)])
        rotations.append([pose.rotation.copy() for pose in poses])
    return (
        np.array([inertia.mass for inertia in inertias]),
        np.array(centres),
        np.array(rotations),
        np.array([inertia.inertia for inertia in inertias]),
    )


def foot_jacobian(robot, row):
    """World velocities of both foot frames (12, nv), by central differences of their poses."""
    model, data = robot.model, robot.model.createData()
    h, columns = 1e-6, []

    def feet(q):
        pin.framesForwardKinematics(model, data, q)
        return [data.oMf[model.getFrameId(robot.frames[f"{side}_foot"])].copy() for side in SIDES]

    for unit in np.eye(model.nv):
        after, before = feet(pin.integrate(model, row, h * unit)), feet(pin.integrate(model, row, -h * unit))
        columns.append(
            np.concatenate(
                [
                    np.r_[a.translation - b.translation, pin.log3(a.rotation @ b.rotation.T)] / (2 * h)
                    for a, b in zip(after, before, strict=True)
                ]
            )
        )
    return np.array(columns).T


def legs(robot):
    return np.array([6 + robot.joint_names.index(n) for side in SIDES for n in robot.groups[f"{side}_leg"]])


def test_static_torques_hold_the_weight(romeo, moving):
    """Torques and two foot wrenches balance gravity at every joint; the wrenches add up to the weight."""
    stance, time, base, joints = moving
    pick = np.arange(0, 401, 80)
    torques = standing_torques(romeo, time, base, joints, inertia=False)
    masses, centres, _, _ = links(romeo, base[pick], joints[pick])
    model = romeo.model
    for k, sample in enumerate(pick):
        row = np.r_[base[sample], joints[sample]]
        # Gravity's generalised force: slope of the potential energy, from link heights alone.
        h, weight = 1e-6, []
        for unit in np.eye(model.nv):
            heights = []
            for sign in (1, -1):
                q = pin.integrate(model, row, sign * h * unit)
                heights.append(masses @ links(romeo, q[None, :7], q[None, 7:])[1][0, :, 2])
            weight.append(GRAVITY * (heights[0] - heights[1]) / (2 * h))
        weight = np.array(weight)
        jacobian = foot_jacobian(romeo, row)
        wrench, *_ = np.linalg.lstsq(jacobian.T, weight - np.r_[np.zeros(6), torques[sample]], rcond=None)
        # 39 equations for 12 unknowns: all hold.
        left = weight - np.r_[np.zeros(6), torques[sample]] - jacobian.T @ wrench
        assert np.abs(left).max() < 1e-4
        force, moment = wrench.reshape(2, 2, 3)[:, 0], wrench.reshape(2, 2, 3)[:, 1]
        np.testing.assert_allclose(force.sum(axis=0), [0, 0, GRAVITY * masses.sum()], atol=1e-4)
        places = np.array([stance.soles[side].translation for side in SIDES])
        about = moment.sum(axis=0) + np.cross(places, force).sum(axis=0)
        zmp = np.array([-about[1], about[0]]) / force[:, 2].sum()
        cog = masses @ centres[k] / masses.sum()
        np.testing.assert_allclose(zmp, cog[:2], atol=1e-6)
        # Of all pairs of wrenches that do so this is the least, moments counting at a lever of 5 cm.
        ease = np.tile([1.0, 1.0, 1.0, 0.05**2, 0.05**2, 0.05**2], 2)
        others = null_space(jacobian[:, :6].T)
        assert others.shape[1] == 6
        np.testing.assert_allclose(others.T @ (wrench / ease), 0, atol=1e-3)


def test_standing_symmetrically_each_foot_carries_half(romeo):
    stance = stand(romeo, (0, 0), 0.0, "standing")
    base, joints = solve_com_ik(romeo, stance, romeo.postures["standing"][None])
    torques = dict(
        zip(
            romeo.joint_names,
            standing_torques(romeo, np.zeros(1), base, joints, inertia=False)[0],
            strict=True,
        )
    )
    for name in (n for n in romeo.joint_names if n.startswith("L")):
        sign = 1 if name.endswith("Pitch") or name == "LHand" else -1
        assert torques["R" + name[1:]] == pytest.approx(sign * torques[name], abs=0.05), name
    data = romeo.model.createData()
    pin.forwardKinematics(romeo.model, data, np.r_[base[0], joints[0]])
    masses, centres, _, _ = links(romeo, base, joints)
    names = list(romeo.model.names)[1:]
    below = [names.index(n) for n in ("LKneePitch", "LAnklePitch", "LAnkleRoll")]
    knee = data.oMi[romeo.model.getJointId("LKneePitch")].translation
    ankle_load = 0.5 * GRAVITY * masses.sum()
    centre = (masses @ centres[0] / masses.sum())[0]
    # About the knee's axis (y): the ground's force at the COG's x; shank and foot hang on the knee.
    ground = -(centre - knee[0]) * ankle_load
    hanging = sum(masses[i] * GRAVITY * (centres[0][i, 0] - knee[0]) for i in below)
    assert torques["LKneePitch"] == pytest.approx(-(ground + hanging), abs=0.05)


def test_inertial_torques_obey_newton_and_euler(romeo, moving):
    """Wrenches recovered from the torques change linear and angular momentum as finite differences say."""
    stance, time, base, joints = moving
    torques = standing_torques(romeo, time, base, joints, inertia=True)
    model, step = romeo.model, time[1]
    masses, centres, rotations, inertias = links(romeo, base, joints)
    speeds = np.gradient(centres, step, axis=0)
    momentum = np.einsum("l,tli->ti", masses, speeds)
    # Angular momentum about the world origin: r × m v + R I Rᵀ ω, with ω from differences of R.
    skews = np.einsum("tlij,tlkj->tlik", np.gradient(rotations, step, axis=0), rotations)
    turning = np.stack([skews[..., 2, 1], skews[..., 0, 2], skews[..., 1, 0]], axis=-1)
    spins = np.einsum("tlij,ljk,tlmk,tlm->tli", rotations, inertias, rotations, turning)
    angular = (np.cross(centres, masses[:, None] * speeds) + spins).sum(axis=1)
    force_needed = np.gradient(momentum, step, axis=0) + np.array([0, 0, GRAVITY * masses.sum()])
    weight_moment = np.cross(np.einsum("l,tli->ti", masses, centres), [0, 0, GRAVITY])
    moment_needed = np.gradient(angular, step, axis=0) + weight_moment

    q = np.hstack([base, joints])
    errors, sizes = [], []
    places = np.array([stance.soles[side].translation for side in SIDES])
    velocity = np.array([pin.difference(model, q[max(k - 1, 0)], q[min(k + 1, 400)]) for k in range(401)]) / (
        2 * step
    )
    acceleration = np.gradient(velocity, step, axis=0)
    data = model.createData()
    rows = legs(romeo)
    for sample in range(20, 381, 20):
        # Equation of motion by mass matrix and bias; the leg rows alone give the twelve wrench components.
        matrix = pin.crba(model, data, q[sample])
        matrix = np.triu(matrix) + np.triu(matrix, 1).T
        bias = pin.nonLinearEffects(model, data, q[sample], velocity[sample])
        left = matrix @ acceleration[sample] + bias - np.r_[np.zeros(6), torques[sample]]
        jacobian = foot_jacobian(romeo, q[sample])
        wrench = np.linalg.solve(jacobian.T[rows], left[rows]).reshape(2, 2, 3)
        force, moment = wrench[:, 0], wrench[:, 1]
        about = moment.sum(axis=0) + np.cross(places, force).sum(axis=0)
        sums, needed = (force.sum(axis=0), about), (force_needed[sample], moment_needed[sample])
        errors.append([np.abs(a - b).max() for a, b in zip(sums, needed, strict=True)])
        sizes.append([np.abs(needed[0][:2]).max(), np.abs(needed[1] - weight_moment[sample]).max()])
        # All other rows, arms with their reflected inertia included, hold with the same wrenches.
        whole = left - jacobian.T @ wrench.ravel()
        assert np.abs(whole).max() < 1e-4
    # Newtons and newton metres; the motion itself asks for twenty and more.
    assert np.max(sizes, axis=0).min() > 10
    assert np.max(errors, axis=0).max() < 0.2


def test_power_of_the_torques_is_the_change_of_energy(romeo, moving):
    """Feet stand still, so that only the joints do work: Σ τ q̇ = d/dt (T + V), rotors included."""
    _, time, base, joints = moving
    torques = standing_torques(romeo, time, base, joints, inertia=True)
    step = time[1]
    masses, centres, rotations, inertias = links(romeo, base, joints)
    speeds = np.gradient(centres, step, axis=0)
    skews = np.einsum("tlij,tlkj->tlik", np.gradient(rotations, step, axis=0), rotations)
    turning = np.stack([skews[..., 2, 1], skews[..., 0, 2], skews[..., 1, 0]], axis=-1)
    local = np.einsum("tlij,tli->tlj", rotations, turning)
    rates = np.gradient(joints, step, axis=0)
    energy = (
        0.5 * np.einsum("l,tli,tli->t", masses, speeds, speeds)
        + 0.5 * np.einsum("tli,lij,tlj->t", local, inertias, local)
        + 0.5 * (rates**2) @ romeo.motors.reflected_inertia
        + GRAVITY * centres[:, :, 2] @ masses
    )
    rotors = np.ptp(0.5 * (rates**2) @ romeo.motors.reflected_inertia)
    work = cumulative_trapezoid((torques * rates).sum(axis=1), dx=step, initial=0.0)
    error = (work - energy)[5:-5]
    assert np.ptp(energy) > 1.0
    assert np.ptp(error) < 0.003
    # Small enough to notice the rotors' share if it were missing.
    assert rotors > 0.05


def test_at_slow_speed_both_agree(romeo, moving):
    _, time, base, joints = moving
    slow = standing_torques(romeo, 1000.0 * time, base, joints, inertia=True)
    np.testing.assert_allclose(slow, standing_torques(romeo, time, base, joints, inertia=False), atol=1e-3)
    fast = standing_torques(romeo, time, base, joints, inertia=True)
    assert np.abs(fast - slow).max() > 1.0


def test_the_torque_of_an_acceleration_is_a_difference_of_torques(romeo, moving):
    """Two motions that differ by a parabola in time in one joint, so by its acceleration at one instant."""
    _, time, base, joints = moving
    columns = np.array(
        [romeo.joint_names.index(name) for name in ("TrunkYaw", "LShoulderPitch", "RElbowRoll")]
    )
    middle, acceleration = 200, 5.0
    slopes = standing_inertia(romeo, base[middle : middle + 1], joints[middle : middle + 1], columns)[0]
    near = slice(middle - 3, middle + 4)
    clock = time[near] - time[middle]
    torques = []
    for column in (None, *columns):
        moved = joints[near].copy()
        if column is not None:
            moved[:, column] += 0.5 * acceleration * clock**2
        torques.append(standing_torques(romeo, time[near], base[near], moved, inertia=True)[3])
    for slope, torque in zip(slopes.T, torques[1:], strict=True):
        np.testing.assert_allclose(acceleration * slope, torque - torques[0], rtol=1e-3, atol=2e-3)


HEIGHT = 0.67
OMEGA = np.sqrt(9.81 / HEIGHT)


@pytest.fixture(scope="module")
def wild(romeo):
    """All joints and the root's place on sines: time, position, velocity, acceleration."""
    random = np.random.default_rng(3)
    size = 3 + len(romeo.joint_names)
    rest = np.r_[0.1, -0.2, 0.7, romeo.postures["standing"]]
    reach = np.r_[np.full(3, 0.03), np.full(size - 3, 0.2)] * random.uniform(-1, 1, size)
    rate, phase = random.uniform(2.0, 8.0, size), random.uniform(0, 6, size)
    time = np.linspace(0.0, 0.3, 301)
    angle = time[:, None] * rate + phase
    return (
        time,
        rest + reach * np.sin(angle),
        reach * rate * np.cos(angle),
        -reach * rate**2 * np.sin(angle),
    )


def path_of(place):
    """Root poses, without a turn, and joints."""
    upright = np.tile([0.0, 0.0, 0.0, 1.0], (len(place), 1))
    return np.hstack([place[:, :3], upright]), place[:, 3:]


def test_zmp_and_wrench_are_those_of_inverse_dynamics(romeo, wild):
    time, place, velocity, acceleration = wild
    base, joints = path_of(place)
    zmp, cog = planned_zmp(romeo, time, base, joints)
    wrench, _ = ground_wrench(romeo, time, base, joints)
    model, data = romeo.model, romeo.model.createData()
    still = np.zeros(3)
    furthest = 0.0
    for k in range(5, 296, 10):
        v = np.r_[velocity[k, :3], still, velocity[k, 3:]]
        a = np.r_[acceleration[k, :3], still, acceleration[k, 3:]]
        q = np.r_[base[k], joints[k]]
        root = pin.rnea(model, data, q, v, a)[:6]
        moment = root[3:] + np.cross(base[k, :3], root[:3])
        expected = np.array([-moment[1], moment[0]]) / root[2]
        np.testing.assert_allclose(zmp[k], expected, atol=2e-5)
        np.testing.assert_allclose(wrench[k], np.r_[root[:3], moment], atol=0.03)
        np.testing.assert_allclose(cog[k], pin.centerOfMass(model, data, q), atol=1e-12)
        furthest = max(furthest, np.abs(expected - cog[k, :2]).max())
    assert furthest > 0.02


def test_where_inertia_does_not_count_the_zmp_is_below_the_cog(romeo, wild):
    time, place, _, _ = wild
    base, joints = path_of(place)
    moving = np.r_[np.zeros(100), np.ones(201)]
    zmp, cog = planned_zmp(romeo, time, base, joints, None, moving)
    np.testing.assert_allclose(zmp[:100], cog[:100, :2], atol=1e-12)
    np.testing.assert_array_equal(zmp[100:], planned_zmp(romeo, time, base, joints)[0][100:])


def test_a_pull_on_the_hand_moves_the_zmp_by_its_moment_over_the_weight(romeo):
    posture = romeo.postures["standing"]
    base, joints = np.tile([0.1, 0.2, 0.6, 0, 0, 0, 1], (4, 1)), np.tile(posture, (4, 1))
    force, point = np.array([4.0, -3.0, 20.0]), np.array([0.5, 0.3, 0.97])
    load = np.tile(np.r_[force, np.cross(point, force)], (4, 1))
    zmp, cog = planned_zmp(romeo, np.arange(4.0), base, joints, load)
    weight = 9.81 * sum(inertia.mass for inertia in romeo.model.inertias)
    # Moments about the ZMP: weight at the COG, the force at its point, and what carries both.
    carried = weight - force[2]
    expected = (weight * cog[0, :2] - force[2] * point[:2] + point[2] * force[:2]) / carried
    np.testing.assert_allclose(zmp, np.tile(expected, (4, 1)), atol=1e-12)


@pytest.mark.parametrize(("frequency", "passed"), [(0.5, 0.5**0.01), (1.0, 0.5**0.04), (5.0, 0.5)])
def test_a_swinging_zmp_is_followed_by_what_a_pendulum_gives(frequency, passed):
    """Of a cosine 1 / (1 + (2πf/ω)²) is left, and by the filter 0.5^(f²/25) of that, half at 5 Hz."""
    time = np.linspace(3.0, 5.0, 401)
    wave = np.cos(2 * np.pi * frequency * (time - 3.0))[:, None] * [0.02, -0.01]
    middle = np.array([0.001, 0.0])
    sway = lipm_com_offset(time, wave + middle, HEIGHT)
    ratio = passed / (1 + (2 * np.pi * frequency / OMEGA) ** 2)
    # Where the mirrored motion is cut off exp(−8) of it is felt.
    np.testing.assert_allclose(sway, ratio * wave + middle, atol=0.02 * np.exp(-8) + 2e-3 * ratio * 0.02)


def test_a_sway_is_at_rest_at_both_ends():
    time = np.linspace(0.0, 1.0, 401)
    step = np.where(time < 0.2, 0.03, -0.02)[:, None] * np.ones(2)
    sway = lipm_com_offset(time, step, HEIGHT)
    speed = np.gradient(sway, time, axis=0, edge_order=2)
    assert np.abs(speed[[0, -1]]).max() < 1e-3 * np.abs(speed).max()


def test_two_samples_are_enough():
    zmp = np.full((2, 2), 0.01)
    np.testing.assert_allclose(lipm_com_offset(np.array([0.0, 0.004]), zmp, HEIGHT), zmp, atol=1e-9)
