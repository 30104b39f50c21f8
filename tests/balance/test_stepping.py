"""Planned gaits: ZMP inside the soles that stand, the COG a pendulum's, feet that swing smoothly."""

from dataclasses import replace
from functools import partial

import numpy as np
import pytest
from shapely import MultiPoint, Point, Polygon

from simbench.balance.gait import Command, plan_footsteps, standing_gait
from simbench.balance.inverted_pendulum import natural_frequency
from simbench.balance.leg_ik import stand
from simbench.balance.step_planning import plan_gait, sole_centres
from simbench.robot.robot import load_robot
from simbench.robot.sides import SIDES

march, forward, sideways, turn = (partial(Command, kind) for kind in ("march", "forward", "sideways", "turn"))

PLACE, HEADING = (0.3, -0.2), 0.7
TIMING = dict(single_support_s=0.7, double_support_s=0.3, lift_m=0.04, settle_s=1.5)
COMMANDS = {
    "march": [march(4)],
    "forward": [forward(0.45, 0.15)],
    "sideways": [sideways(-0.2, 0.1)],
    "turn": [turn(0.5, 0.25)],
    "all": [march(1), forward(-0.1, 0.1), turn(-0.3, 0.15), sideways(0.1, 0.1)],
}
HEIGHT = {"mahru": 0.82, "romeo": 0.67}
HALF_WIDTH = {"mahru": 0.07, "romeo": 0.034}
KINDS = [("mahru", "march"), ("romeo", "forward"), ("mahru", "sideways"), ("romeo", "turn"), ("romeo", "all")]
cases = pytest.mark.parametrize(("name", "kind"), KINDS)


@pytest.fixture(scope="module")
def robots(romeo):
    return {"mahru": load_robot("mahru"), "romeo": romeo}


@pytest.fixture(scope="module")
def stances(robots):
    return {name: stand(robot, PLACE, HEADING, "standing") for name, robot in robots.items()}


@pytest.fixture(scope="module")
def gaits(robots, stances):
    known = {}

    def gait(name, kind, timestep=0.01):
        if (name, kind, timestep) not in known:
            steps = plan_footsteps(robots[name], stances[name], COMMANDS[kind])
            omega = natural_frequency(HEIGHT[name])
            offset = sole_centres(robots[name])
            known[name, kind, timestep] = (
                plan_gait(stances[name].soles, steps, timestep, omega, offset, **TIMING),
                steps,
            )
        return known[name, kind, timestep]

    return gait


def turned(angle):
    return np.array([[np.cos(angle), -np.sin(angle)], [np.sin(angle), np.cos(angle)]])


def sole_corners(robot, gait, sample, foot):
    sole = robot.soles[f"{SIDES[foot]}_foot"][:, :2]
    return gait.foot_position[sample, foot, :2] + sole @ turned(gait.foot_yaw[sample, foot]).T


def least_margin(gait, robot):
    """Distance of the ZMP from the edge of the soles that stand, negative outside, m."""
    margins = []
    for sample in range(len(gait.zmp)):
        feet = np.flatnonzero(gait.contact[sample])
        hull = MultiPoint(np.vstack([sole_corners(robot, gait, sample, foot) for foot in feet])).convex_hull
        zmp = Point(gait.zmp[sample])
        margins.append(hull.exterior.distance(zmp) * (1.0 if hull.contains(zmp) else -1.0))
    return min(margins)


@pytest.mark.parametrize("kind", ["march", "forward", "sideways", "turn"])
@pytest.mark.parametrize("name", ["mahru", "romeo"])
def test_the_zmp_keeps_inside_the_soles_that_stand(robots, gaits, name, kind):
    gait, _ = gaits(name, kind)
    # In the middle of a sole: half its width.
    assert least_margin(gait, robots[name]) == pytest.approx(HALF_WIDTH[name], abs=1e-6)


@cases
def test_the_cog_is_an_inverted_pendulum_s(gaits, name, kind):
    gait, _ = gaits(name, kind)
    omega = natural_frequency(HEIGHT[name])
    np.testing.assert_allclose(gait.cog - gait.cog_acceleration / omega**2, gait.zmp, rtol=0, atol=1e-9)
    # Differences of position and velocity, of second order: the ZMP itself takes some ms from curve to chord.
    change = np.diff(gait.cog, 2, axis=0) / gait.timestep**2
    np.testing.assert_allclose(change, gait.cog_acceleration[1:-1], rtol=0, atol=1e-2)
    rate = (gait.cog[2:] - gait.cog[:-2]) / (2 * gait.timestep)
    np.testing.assert_allclose(rate, gait.cog_velocity[1:-1], rtol=0, atol=5e-4)
    # At rest but for what 1.5 s of standing leave of a shift of 0.09 m: exp(−5) of 0.3 m/s.
    assert np.abs(gait.cog_velocity[[0, -1]]).max() < 0.002


@cases
def test_a_gait_starts_as_the_stance_and_ends_side_by_side(stances, gaits, name, kind):
    gait, steps = gaits(name, kind)
    stance = stances[name]
    np.testing.assert_allclose(gait.zmp[0], stance.target, rtol=0, atol=1e-6)
    np.testing.assert_allclose(gait.cog[0], stance.target, rtol=0, atol=1e-6)
    for foot, side in enumerate(SIDES):
        np.testing.assert_array_equal(gait.foot_position[0, foot], stance.soles[side].translation)
        last = next(step for step in reversed(steps) if step.side == side)
        np.testing.assert_allclose(gait.foot_position[-1, foot], [*last.position, 0.0], rtol=0, atol=1e-12)
        assert gait.foot_yaw[-1, foot] == pytest.approx(last.yaw, abs=1e-9)
    # The same point between the feet.
    middle = gait.foot_position[:, :, :2].mean(axis=1)
    np.testing.assert_allclose(
        turned(gait.pelvis_yaw[-1]).T @ (gait.zmp[-1] - middle[-1]),
        turned(gait.pelvis_yaw[0]).T @ (gait.zmp[0] - middle[0]),
        rtol=0,
        atol=1e-6,
    )
    assert gait.steps == len(steps)
    # 2 × 1.5 s standing, 1 s a step, 0.3 s back to the middle.
    assert (len(gait.zmp) - 1) * gait.timestep == pytest.approx(3.3 + len(steps), abs=0.0051)


@cases
def test_feet_stand_still_or_swing(gaits, name, kind):
    gait, steps = gaits(name, kind)
    swinging = ~gait.contact
    assert (gait.contact.sum(axis=1) >= 1).all()
    np.testing.assert_array_equal(swinging, np.isfinite(gait.in_swing))
    assert swinging.sum() * gait.timestep == pytest.approx(0.7 * len(steps), abs=0.011 * len(steps))
    assert (gait.foot_position[..., 2] > 0)[swinging].all()
    assert gait.foot_position[..., 2].max() == pytest.approx(0.04, abs=1e-5)
    for values in (gait.foot_position[..., 2], gait.foot_yaw_rate, *np.moveaxis(gait.foot_velocity, 2, 0)):
        assert (values[gait.contact] == 0).all()
    still = gait.contact[1:] & gait.contact[:-1]
    np.testing.assert_allclose(np.diff(gait.foot_position, axis=0)[still], 0, atol=1e-12)
    # The base section stands, and on the foot nearer to the ZMP.
    samples = np.arange(len(gait.zmp))
    assert gait.contact[samples, gait.support].all()


@cases
def test_the_base_section_is_the_foot_nearer_to_the_zmp(robots, gaits, name, kind):
    gait, _ = gaits(name, kind)
    soles = sole_centres(robots[name])
    distance = np.array(
        [
            [
                np.linalg.norm(position[:2] + turned(yaw) @ soles[side] - zmp)
                for side, position, yaw in zip(SIDES, positions, yaws, strict=True)
            ]
            for zmp, positions, yaws in zip(gait.zmp, gait.foot_position, gait.foot_yaw, strict=True)
        ]
    )
    both = gait.contact.all(axis=1)
    farther = distance[np.arange(len(both)), gait.support] - distance[np.arange(len(both)), 1 - gait.support]
    assert farther[both].max() < 1e-6
    # It changes once a step at most.
    assert np.count_nonzero(np.diff(gait.support)) <= gait.steps - 1


@pytest.mark.parametrize("command", [forward(0.15, 0.15), turn(-0.25, 0.25)])
def test_velocities_are_the_rates_of_positions(robots, stances, command):
    stance = stances["romeo"]
    steps = plan_footsteps(robots["romeo"], stance, [command])
    gait = plan_gait(stance.soles, steps, 2e-4, 3.83, sole_centres(robots["romeo"]), **TIMING)
    # A sinusoid's acceleration jumps at lift-off and touch-down.
    changes = np.diff(gait.contact, axis=0)
    steady = ~(changes[1:] | changes[:-1])
    rising = (gait.foot_position[..., 2], gait.foot_velocity[..., 2], steady, 1e-6)
    for values, rates, where, tolerance in (
        (gait.foot_position[..., :2], gait.foot_velocity[..., :2], slice(None), 1e-6),
        rising,
        (gait.foot_yaw, gait.foot_yaw_rate, slice(None), 1e-6),
        (gait.pelvis_yaw, gait.pelvis_yaw_rate, slice(None), 1e-6),
        (gait.cog, gait.cog_velocity, slice(None), 1e-6),
        (gait.cog_velocity, gait.cog_acceleration, slice(None), 1e-5),
    ):
        differences = (values[2:] - values[:-2]) / (2 * gait.timestep)
        assert np.abs(differences - rates[1:-1])[where].max() < tolerance


def test_a_foot_rises_before_it_moves_and_comes_down_vertically(gaits):
    gait, steps = gaits("romeo", "forward")
    foot = SIDES.index(steps[1].side)
    swing = np.flatnonzero(~gait.contact[:, foot])
    second = swing[gait.foot_position[swing, 1 - foot, 0] != gait.foot_position[0, 1 - foot, 0]]
    progress = gait.in_swing[second, foot]
    way = np.linalg.norm(
        gait.foot_position[second, foot, :2] - gait.foot_position[second[0], foot, :2], axis=1
    )
    first_swing = slice(0, np.argmax(np.diff(progress) < 0) + 1)
    progress, way = progress[first_swing], way[first_swing]
    height = gait.foot_position[second, foot, 2][first_swing]
    # The foot comes from beside: two steps of 0.15 m.
    assert way[-1] == pytest.approx(0.3, abs=1e-6)
    assert way[progress <= 0.1].max() < 1e-12
    assert way[progress >= 0.9].min() == pytest.approx(0.3, abs=1e-9)
    np.testing.assert_allclose(height, 0.04 * np.sin(np.pi * progress) ** 2, rtol=0, atol=1e-12)


@cases
def test_a_swinging_sole_does_not_pass_over_the_other_one(robots, gaits, name, kind):
    gait, _ = gaits(name, kind)
    for sample in range(0, len(gait.zmp), 10):
        soles = [Polygon(sole_corners(robots[name], gait, sample, foot)) for foot in range(2)]
        assert soles[0].distance(soles[1]) > 0.01


def test_an_inset_brings_the_zmp_towards_the_other_foot(robots, stances):
    robot, stance = robots["romeo"], stances["romeo"]
    steps = plan_footsteps(robot, stance, [march(2)])
    gait = plan_gait(stance.soles, steps, 0.005, 3.83, sole_centres(robot, 0.01), **TIMING)
    local = (gait.zmp - PLACE) @ turned(HEADING)
    # First onto the right foot, then onto the left one: 0.096 m from the middle but for the inset.
    assert local[:, 1].min() == pytest.approx(-0.086, abs=1e-6)
    assert local[:, 1].max() == pytest.approx(0.086, abs=1e-6)
    assert least_margin(gait, robot) == pytest.approx(0.024, abs=1e-6)


def test_a_full_turn_has_no_jump(robots, stances):
    stance = stances["romeo"]
    steps = plan_footsteps(robots["romeo"], stance, [turn(2 * np.pi, 0.5)])
    # The same steps, each yaw between −π and π.
    wrapped = [replace(step, yaw=np.angle(np.exp(1j * step.yaw))) for step in steps]
    gait = plan_gait(stance.soles, wrapped, 0.01, 3.83, sole_centres(robots["romeo"]), **TIMING)
    assert gait.pelvis_yaw[-1] - gait.pelvis_yaw[0] == pytest.approx(2 * np.pi, abs=1e-6)
    # Steps of 2π/13, at most 15/8 of their mean speed, in 0.56 s.
    assert np.abs(gait.foot_yaw_rate).max() == pytest.approx(1.875 * 2 * np.pi / 13 / 0.56, rel=1e-3)


def test_standing_is_a_gait_without_steps(robots, stances):
    stance = stances["mahru"]
    time = 0.01 * np.arange(500)
    sway = stance.target + 0.02 * np.sin(2.0 * time)[:, None] * [1.0, 0.0]
    gait = standing_gait(stance.soles, sway, stance.target, 0.01, 500, "right")
    assert gait.contact.all()
    assert gait.steps == 0
    assert (gait.support == 1).all()
    assert gait.pelvis_yaw == pytest.approx(HEADING, abs=1e-6)
    inside = slice(2, -2)
    np.testing.assert_allclose(
        gait.cog_velocity[inside, 0], 0.04 * np.cos(2.0 * time[inside]), rtol=0, atol=1e-5
    )
    np.testing.assert_allclose(
        gait.cog_acceleration[inside, 0], -0.08 * np.sin(2.0 * time[inside]), rtol=0, atol=2e-5
    )
    assert (gait.zmp == stance.target).all()
    still = standing_gait(stance.soles, stance.target, stance.target, 0.01, 10)
    assert (still.cog_velocity == 0).all()
    assert (still.cog_acceleration == 0).all()
