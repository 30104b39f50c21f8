"""Varied robots, against mass properties put together link by link from the URDF."""

import xml.etree.ElementTree as ET

import numpy as np
import pybullet
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from script_modules import loaded_script

from simbench.robot.robot import draw_variation, load_robot, placed_robot
from simbench.sim.bullet import open_world


@pytest.fixture(scope="module", params=["romeo", "mahru", "puma560", "direct_drive_arm"])
def robot(request):
    return load_robot(request.param)


@pytest.fixture(scope="module")
def puma560():
    return load_robot("puma560")


@pytest.fixture(scope="module")
def direct_drive_arm():
    return load_robot("direct_drive_arm")


def vary(robot, seed, fraction):
    return draw_variation(seed, robot, fraction, 0.0)[0]


def masses(robot):
    found = {
        link.get("name"): float(link.find("inertial/mass").get("value"))
        for link in ET.fromstring(robot.urdf_text).iter("link")
    }
    return {name: mass for name, mass in sorted(found.items()) if mass > 0.0}


def numbers(element, attribute):
    return np.array((element.get(attribute) if element is not None else "0 0 0").split(), dtype=float)


def rotation(rpy):
    (sr, sp, sy), (cr, cp, cy) = np.sin(rpy), np.cos(rpy)
    about_x = np.array([[1, 0, 0], [0, cr, -sr], [0, sr, cr]])
    about_y = np.array([[cp, 0, sp], [0, 1, 0], [-sp, 0, cp]])
    about_z = np.array([[cy, -sy, 0], [sy, cy, 0], [0, 0, 1]])
    return about_z @ about_y @ about_x


def body_properties(robot):
    """Mass, first moment, inertia about the joint's origin of each joint's body, from the text alone."""
    root = ET.fromstring(robot.urdf_text)
    joints = {joint.find("child").get("link"): joint for joint in root.findall("joint")}
    base = "root_joint" if robot.floating else "universe"
    bodies = {name: [0.0, np.zeros(3), np.zeros((3, 3))] for name in robot.model.names}
    for link in root.findall("link"):
        inertial, matrix = link.find("inertial"), link.find("inertial/inertia")
        mass = float(inertial.find("mass").get("value"))
        turn = rotation(numbers(inertial.find("origin"), "rpy"))
        place = numbers(inertial.find("origin"), "xyz")
        xx, yy, zz, xy, xz, yz = (
            float(matrix.get(entry)) for entry in ("ixx", "iyy", "izz", "ixy", "ixz", "iyz")
        )
        tensor = turn @ np.array([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]]) @ turn.T
        name = link.get("name")
        while name in joints and joints[name].get("type") == "fixed":
            origin = joints[name].find("origin")
            turn = rotation(numbers(origin, "rpy"))
            place, tensor = numbers(origin, "xyz") + turn @ place, turn @ tensor @ turn.T
            name = joints[name].find("parent").get("link")
        body = bodies[joints[name].get("name") if name in joints else base]
        body[0] += mass
        body[1] += mass * place
        body[2] += tensor + mass * (place @ place * np.eye(3) - np.outer(place, place))
    return bodies


def test_bodies_are_their_links_put_together(robot):
    varied = vary(robot, 7, 0.1)
    for name, (mass, moment, tensor) in body_properties(varied).items():
        inertia = varied.model.inertias[varied.model.getJointId(name)]
        assert inertia.mass == pytest.approx(mass, rel=1e-12)
        np.testing.assert_allclose(inertia.mass * inertia.lever, moment, atol=1e-9)
        np.testing.assert_allclose(inertia.matrix()[3:, 3:], tensor, atol=1e-9)
    assert sum(i.mass for i in varied.model.inertias) == pytest.approx(
        sum(masses(varied).values()), rel=1e-12
    )


def test_only_masses_and_inertia_change(robot):
    varied = vary(robot, 7, 0.3)
    before, after = (ET.fromstring(each.urdf_text) for each in (robot, varied))
    for first, second in zip(before.iter(), after.iter(), strict=True):
        if first.tag not in ("mass", "inertia"):
            assert first.attrib == second.attrib
    again = varied.model.copy()
    for joint in range(again.njoints):
        again.inertias[joint] = robot.model.inertias[joint]
    assert again == robot.model
    assert varied.model != robot.model


@settings(max_examples=30, deadline=None)
@given(seed=st.integers(0, 2**32), fraction=st.floats(1e-3, 0.999))
def test_factors_are_of_links_by_name_and_within_the_fraction(mahru, seed, fraction):
    """Mass and inertia share a factor; the first draw is the floor's, the next that of the first name."""
    varied = vary(mahru, seed, fraction)
    draws = np.random.default_rng([seed, 1]).uniform(1.0 - fraction, 1.0 + fraction, 1 + len(masses(mahru)))
    ratio = np.array(list(masses(varied).values())) / np.array(list(masses(mahru).values()))
    np.testing.assert_allclose(ratio, draws[1:], rtol=1e-9)


def test_inertia_goes_with_mass(romeo):
    varied = vary(romeo, 11, 0.5)
    before, after = (ET.fromstring(each.urdf_text) for each in (romeo, varied))
    for first, second in zip(before.iter("inertial"), after.iter("inertial"), strict=True):
        old, new = (float(each.find("mass").get("value")) for each in (first, second))
        for entry, value in first.find("inertia").attrib.items():
            expected = float(value) * new / old if old else 0.0
            assert float(second.find("inertia").get(entry)) == pytest.approx(expected, rel=1e-12, abs=1e-300)


def test_factors_are_uniform(direct_drive_arm):
    """Mean 1, variance f²/3, 60 robots of few links: three standard errors."""
    fraction = 0.1
    start = np.array(list(masses(direct_drive_arm).values()))
    ratios = np.concatenate(
        [
            np.array(list(masses(vary(direct_drive_arm, seed, fraction)).values())) / start
            for seed in range(60)
        ]
    )
    deviation = fraction / np.sqrt(3.0)
    assert abs(ratios.mean() - 1.0) < 3.0 * deviation / np.sqrt(len(ratios))
    # Var of a squared uniform deviation: f⁴ (1/5 − 1/9).
    error = fraction**2 * np.sqrt((1 / 5 - 1 / 9) / len(ratios))
    assert abs(np.mean((ratios - 1.0) ** 2) - deviation**2) < 3.0 * error


def test_nothing_varies_at_fraction_zero(robot):
    varied, friction = draw_variation(5, robot, 0.0, 0.0)
    assert friction == 1.0
    assert varied.urdf_text == robot.urdf_text
    assert varied.model == robot.model


def test_same_seed_same_robot(romeo):
    first, second = (draw_variation(3, romeo, 0.1, 0.2) for _ in range(2))
    assert first[1] == second[1]
    assert first[0].urdf_text == second[0].urdf_text
    assert first[0].model == second[0].model
    other = draw_variation(4, romeo, 0.1, 0.2)
    assert other[1] != first[1]
    assert other[0].model != first[0].model


def test_draws_do_not_depend_on_each_others_fractions(direct_drive_arm):
    both, friction = draw_variation(3, direct_drive_arm, 0.1, 0.2)
    assert draw_variation(3, direct_drive_arm, 0.0, 0.2)[1] == friction
    assert draw_variation(3, direct_drive_arm, 0.1, 0.0)[0].urdf_text == both.urdf_text
    assert draw_variation(3, direct_drive_arm, 0.0, 0.4)[1] - 1.0 == pytest.approx(2.0 * (friction - 1.0))


def test_friction_factors_fill_their_range(direct_drive_arm):
    factors = np.array([draw_variation(seed, direct_drive_arm, 0.0, 0.2)[1] for seed in range(400)])
    assert factors.min() > 0.8
    assert factors.max() < 1.2
    assert abs(factors.mean() - 1.0) < 3.0 * 0.2 / np.sqrt(3.0 * 400)
    # Not the numbers that the same seed gives the actor.
    actor = [1.0 + 0.2 * np.random.default_rng(seed).uniform(-1.0, 1.0) for seed in range(400)]
    assert abs(np.corrcoef(factors, actor)[0, 1]) < 3.0 / np.sqrt(400)


def test_a_placed_arm_stays_where_it_is(puma560):
    base = np.array([1.0, 2.0, 0.5, 0.0, 0.0, 0.6, 0.8])
    placed = placed_robot(puma560, base)
    varied = vary(placed, 1, 0.2)
    for joint in range(1, varied.model.njoints):
        assert varied.model.jointPlacements[joint] == placed.model.jointPlacements[joint]


def test_bullet_takes_the_same_masses_and_moments(romeo):
    varied = vary(romeo, 2, 0.2)
    root = ET.fromstring(varied.urdf_text)
    with open_world() as world:
        base = np.array([0.0, 0.0, 1.5, 0.0, 0.0, 0.0, 1.0])
        body = world.add_robot(varied, base, np.zeros(len(varied.joint_names)))
        for link in root.iter("link"):
            mass, _, moments, *_ = pybullet.getDynamicsInfo(
                body.handle, body.links[link.get("name")], physicsClientId=world.client
            )
            assert mass == pytest.approx(float(link.find("inertial/mass").get("value")), rel=1e-9)
            matrix = link.find("inertial/inertia")
            trace = sum(float(matrix.get(entry)) for entry in ("ixx", "iyy", "izz"))
            assert sum(moments) == pytest.approx(trace, rel=1e-6)


@pytest.fixture(scope="module")
def survival():
    with loaded_script("studies/survival.py") as module:
        yield module


def cells(table):
    return list(zip(*(column.cells for column in table.columns), strict=True))


def test_survival_is_counted_by_scenario(survival):
    outcomes = [
        survival.Outcome("walk", 0, True, True, 1.0),
        survival.Outcome("walk", 1, True, False, 0.5),
        survival.Outcome("walk", 2, False, False, 0.75),
        survival.Outcome("arm", 0, True, True, np.nan),
        survival.Outcome("push", 0, True, True, 0.9),
        survival.Outcome("push", 1, True, False, 0.8),
        survival.Outcome("push", 2, False, False, np.nan, "ValueError: no"),
    ]
    assert cells(survival.survival_table(outcomes)) == [
        ("walk", "2 of 3", "1 of 3", "0.5000", "0.7500", "2"),
        ("arm", "1 of 1", "1 of 1", "", "", "0"),
        ("push", "2 of 3", "1 of 3", "0.8000", "0.8500", "2"),
    ]
    assert cells(survival.survival_table(outcomes[:2]))[0][-1] == "1"
