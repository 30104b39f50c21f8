"""Support polygon, margin and zero-moment point against scipy and closed forms."""

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from scipy.spatial import ConvexHull

from simbench.balance.ground_reaction import (
    support_margin,
    support_polygon,
    zmp_from_momentum,
    zmp_from_wrench,
)

COORDINATE = st.floats(-1.0, 1.0)
UP = np.array([0.0, 0.0, 1.0])
three = st.lists(COORDINATE, min_size=3, max_size=3).map(np.array)
# Counter-clockwise, 0.4 m × 0.2 m, its middle at (0.1, 0).
RECTANGLE = np.array([[-0.1, -0.1], [0.3, -0.1], [0.3, 0.1], [-0.1, 0.1]])


def area(polygon):
    """Shoelace formula: positive if counter-clockwise."""
    x, y = polygon.T
    return 0.5 * np.sum(x * np.roll(y, -1) - np.roll(x, -1) * y)


@settings(max_examples=100)
@given(seed=st.integers(0, 10**6), count=st.integers(3, 30))
def test_polygon_is_the_convex_hull_counter_clockwise(seed, count):
    points = np.random.default_rng(seed).uniform(-1, 1, (count, 2))
    hull = ConvexHull(points)
    polygon = support_polygon(points)
    assert len(polygon) == len(hull.vertices)
    assert {tuple(corner) for corner in polygon} == {tuple(points[i]) for i in hull.vertices}
    assert area(polygon) == pytest.approx(hull.volume)


@settings(max_examples=100)
@given(seed=st.integers(0, 10**6), x=st.floats(-1.5, 1.5), y=st.floats(-1.5, 1.5))
def test_margin_is_the_least_distance_to_an_edge(seed, x, y):
    points = np.random.default_rng(seed).uniform(-1, 1, (8, 2))
    polygon, point = support_polygon(points), np.array([x, y])
    inside = (ConvexHull(points).equations @ [x, y, 1.0]).max() < 0
    distances = []
    for start, end in zip(polygon, np.roll(polygon, -1, axis=0), strict=True):
        along = np.clip((point - start) @ (end - start) / np.sum((end - start) ** 2), 0, 1)
        distances.append(np.linalg.norm(start + along * (end - start) - point))
    expected = min(distances) if inside else -min(distances)
    assert support_margin(point, polygon) == pytest.approx(expected, abs=1e-9)


@pytest.mark.parametrize(
    ("point", "margin"),
    [
        ((0.1, 0.0), 0.1),
        ((0.28, 0.05), 0.02),
        ((-0.07, -0.02), 0.03),
        ((0.3, 0.0), 0.0),
        ((0.1, 0.15), -0.05),
        ((0.33, 0.14), -0.05),
        ((-0.5, 0.0), -0.4),
    ],
)
def test_margin_of_a_rectangle(point, margin):
    assert support_margin(np.array(point), RECTANGLE) == pytest.approx(margin, abs=1e-12)


def test_both_soles_of_a_standing_robot(romeo):
    """Feet 0.2 m apart: the hull of both soles is a rectangle with the outer edges of the feet."""
    soles = np.vstack(
        [romeo.soles[f"{side}_foot"][:, :2] + [0, y] for side, y in (("left", 0.1), ("right", -0.1))]
    )
    polygon = support_polygon(soles)
    np.testing.assert_allclose(polygon.min(axis=0), [-0.04, -0.134])
    np.testing.assert_allclose(polygon.max(axis=0), [0.13, 0.134])
    assert area(polygon) == pytest.approx(0.17 * 0.268)


@pytest.mark.parametrize("count", [0, 1, 2, 3, 5])
def test_less_than_a_triangle_holds_nothing(count):
    points = np.array([[0.1 * k, 0.2 * k] for k in range(count)]).reshape(-1, 2)
    polygon = support_polygon(points)
    assert len(polygon) == min(count, 2)
    # The point of the line's extension that is 0.3 · √5 m off its first end.
    margin = support_margin(np.array([-0.3, -0.6]), polygon)
    assert margin == (pytest.approx(-0.3 * np.sqrt(5)) if count else -np.inf)
    if count > 1:
        assert support_margin(np.array([0.05, 0.1]), polygon) == pytest.approx(0.0, abs=1e-12)


@given(
    places=st.lists(st.tuples(COORDINATE, COORDINATE), min_size=1, max_size=6),
    forces=st.lists(st.floats(1.0, 200.0), min_size=6, max_size=6),
    sideways=st.lists(three, min_size=6, max_size=6),
)
def test_zmp_of_point_forces_on_the_floor_is_their_weighted_mean(places, forces, sideways):
    places, vertical = np.array(places), np.array(forces[: len(places)])
    force, moment = np.zeros(3), np.zeros(3)
    for (x, y), up, friction in zip(places, vertical, sideways, strict=False):
        one = np.array([30 * friction[0], 30 * friction[1], up])
        force += one
        # r × F written out, with z = 0.
        moment += [y * one[2], -x * one[2], x * one[1] - y * one[0]]
    expected = (vertical[:, None] * places).sum(axis=0) / vertical.sum()
    np.testing.assert_allclose(zmp_from_wrench(force, moment), expected, atol=1e-9)


def test_without_vertical_force_there_is_no_zmp():
    force = np.array([[0.0, 0.0, 400.0], [1.0, 0.0, 0.0], [0.0, 0.0, -3.0]])
    moment = np.array([[4.0, -8.0, 0.0]] * 3)
    zmp = zmp_from_wrench(force, moment)
    np.testing.assert_allclose(zmp[0], [0.02, 0.01])
    assert np.isnan(zmp[1:]).all()


@given(cog=three, acceleration=three)
def test_zmp_of_an_accelerating_point_mass_is_the_carts(cog, acceleration):
    mass, gravity = 40.5, 9.81
    cog = cog + 1.5 * UP
    none = np.zeros(3)
    zmp = zmp_from_momentum(mass, gravity, cog, mass * acceleration, none, none, none)
    # Cart on a table: p = c − z c̈ / (g + z̈).
    expected = cog[:2] - cog[2] * acceleration[:2] / (gravity + acceleration[2])
    np.testing.assert_allclose(zmp, expected, atol=1e-9)


@given(cog=three, acceleration=three, spin=three, where=three, push=three)
def test_ground_reaction_at_the_zmp_carries_the_motion_and_a_push(cog, acceleration, spin, where, push):
    """A force through the ZMP and a moment about z alone explain the motion."""
    mass, gravity = 40.5, 9.81
    cog, push, spin = cog + 1.5 * UP, 40 * push, 5 * spin
    assume(mass * (gravity + acceleration[2]) - push[2] > 10)
    zmp = zmp_from_momentum(mass, gravity, cog, mass * acceleration, spin, push, np.cross(where, push))
    ground = mass * (acceleration + gravity * UP) - push
    place = np.array([*zmp, 0.0])
    # Euler's law about the ZMP, without what the push and the weight do: nothing horizontal is left.
    needed = (
        spin
        + np.cross(cog - place, mass * acceleration)
        - np.cross(where - place, push)
        - np.cross(cog - place, -mass * gravity * UP)
    )
    np.testing.assert_allclose(needed[:2], 0, atol=1e-9)
    assert ground[2] > 0


def test_zmp_takes_samples_at_once():
    rng = np.random.default_rng(0)
    force, moment = rng.uniform(1, 2, (4, 3)), rng.uniform(-1, 1, (4, 3))
    np.testing.assert_array_equal(
        zmp_from_wrench(force, moment), [zmp_from_wrench(f, m) for f, m in zip(force, moment, strict=True)]
    )
