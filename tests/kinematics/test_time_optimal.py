"""Slowing down: closed form of a sinusoid's speed.

Time-optimal path parameterisation against closed forms, a linear programme and the toppra library.
"""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import linprog
from scipy.sparse import coo_array, vstack

from simbench.kinematics.time_optimal import (
    PathConstraints,
    constant_rate,
    constraint_use,
    fastest_rate,
    reduce_rate,
    smooth_rate,
    time_scaling_factor,
)


@settings(max_examples=25, deadline=None)
@given(
    amplitude=st.floats(0.2, 2.0),
    rate=st.floats(0.3, 1.5),
    limit=st.floats(0.5, 8.0),
    sampling=st.sampled_from([100.0, 200.0]),
)
def test_factor_of_a_sinusoid_is_its_greatest_speed_over_the_limit(amplitude, rate, limit, sampling):
    time = np.arange(0.0, 4.0, 1.0 / sampling)
    omega = 2 * np.pi * rate
    still = np.zeros_like(time)
    q = np.stack([still, amplitude * np.sin(omega * time), still + 1.0], axis=1)
    factor = time_scaling_factor(time, q, np.array([0.1, limit, 0.1]))
    assert factor == pytest.approx(max(1.0, amplitude * omega / limit), rel=1e-4)


def test_the_joint_nearest_its_limit_decides():
    time = np.linspace(0, 3, 301)
    q = np.stack([0.9 * np.sin(2 * time), 0.5 * np.cos(4 * time)], axis=1)
    # Speeds 1.8 and 2.0 rad/s.
    assert time_scaling_factor(time, q, np.array([0.6, 1.0])) == pytest.approx(3.0, rel=1e-4)
    assert time_scaling_factor(time, q, np.array([1.0, 0.5])) == pytest.approx(4.0, rel=1e-4)
    assert time_scaling_factor(time, q, np.array([1.9, 2.1])) == 1.0


def test_slowed_by_the_factor_the_motion_just_keeps_its_limit():
    rng = np.random.default_rng(0)
    time = np.linspace(0, 2, 101)
    q = np.cumsum(rng.normal(size=(101, 3)), axis=0) / 20
    limit = np.array([0.7, 1.1, 0.9])
    factor = time_scaling_factor(time, q, limit)
    assert factor > 1.5
    assert time_scaling_factor(time * factor, q, limit) == pytest.approx(1.0, abs=3e-4)


def test_motion_does_not_hide_between_samples_or_at_the_end():
    """Speed is that of the curve between samples, up to the last one."""
    time = np.linspace(0.0, 1.0, 11)
    q = time[:, None] ** 3
    # x³ is its own cubic spline: 3 rad/s at the end.
    assert time_scaling_factor(time, q, np.array([1.0])) == pytest.approx(3.0, rel=2e-3)


@pytest.mark.parametrize("samples", [2, 3, 4])
def test_a_few_samples_have_a_speed_too(samples):
    time = np.linspace(0.0, 0.1, samples)
    assert time_scaling_factor(time, 0.2 * time[:, None], np.array([0.1])) == pytest.approx(2.0)


SPEED, ACCELERATION = 2.0, 2.0


def duration(step, square):
    """Time of a path whose s̈ is constant between nodes, s."""
    rate = np.sqrt(square)
    return float((2.0 * step / (rate[1:] + rate[:-1])).sum())


def sines(seed, count):
    """Path of four sines: nodes, squares of the speed limits' rates, and limits of acceleration."""
    rng = np.random.default_rng(seed)
    omega, phase = rng.uniform(0.5, 3.0, 4), rng.uniform(0.0, 6.0, 4)
    s = np.linspace(0.0, 2.0 * np.pi, count)
    angle = omega * s[:, None] + phase
    first, second = omega * np.cos(angle), -(omega**2) * np.sin(angle)
    rows = PathConstraints(
        np.hstack([first, -first]) / ACCELERATION, np.hstack([second, -second]) / ACCELERATION
    )
    return s, (SPEED / np.abs(first).max(axis=1)) ** 2, rows, (omega, phase)


def no_rows(count):
    return PathConstraints(np.empty((count, 0)), np.empty((count, 0)))


def test_on_a_straight_line_the_speed_limit_sets_the_time():
    """3 rad/s recorded, 2 allowed: half as long again."""
    ceiling = np.full(101, min(1.0, (2.0 / 3.0) ** 2))
    square = fastest_rate(0.01, ceiling, no_rows(101))
    assert duration(0.01, square) == pytest.approx(1.5)


def test_from_rest_to_rest_it_accelerates_cruises_and_brakes():
    """A trapezoid of speed takes L / v + v / a."""
    count, length, v, a = 2001, 1.0, 0.8, 2.0
    ceiling = np.full(count, v**2)
    ceiling[[0, -1]] = 1e-12
    one = np.full((count, 1), 1.0 / a)
    rows = PathConstraints(np.hstack([one, -one]), np.zeros((count, 2)))
    step = length / (count - 1)
    assert duration(step, fastest_rate(step, ceiling, rows)) == pytest.approx(length / v + v / a, rel=1e-3)


@pytest.mark.parametrize("seed", [1, 2, 3])
def test_as_fast_as_the_linear_programme_over_all_nodes_at_once(seed):
    """The greatest sum of ṡ² under the same constraints, s̈ constant between nodes, by HiGHS."""
    s, limit, rows, _ = sines(seed, 241)
    step, ceiling = s[1], np.minimum(1.0, limit)
    found = fastest_rate(step, ceiling, rows)
    node = np.arange(240)
    blocks = []
    for a, b in zip(rows.a.T, rows.b.T, strict=True):
        for end in (0, 1):
            gain = a[node + end] / (2.0 * step)
            entries = np.concatenate([-gain, gain, b[node + end]])
            columns = np.concatenate([node, node + 1, node + end])
            blocks.append(coo_array((entries, (np.tile(node, 3), columns)), shape=(240, 241)))
    matrix = vstack(blocks).tocsr()
    best = linprog(
        -np.ones(241), A_ub=matrix, b_ub=np.ones(matrix.shape[0]), bounds=[(0.0, v) for v in ceiling]
    )
    assert duration(step, found) == pytest.approx(duration(step, np.maximum(best.x, 1e-12)), rel=2e-4)
    # What is found is feasible for the programme, too.
    assert (matrix @ found).max() <= 1.0 + 1e-9


def toppra_rate(s, ceiling, rows):
    """Greatest ṡ² by the toppra library, from rest to rest."""
    linear = pytest.importorskip("toppra.constraint.linear_constraint")
    kind = pytest.importorskip("toppra.constraint").DiscretizationType
    count, number = rows.a.shape
    bounds = np.stack([np.zeros(count), ceiling], axis=1)
    each = np.tile(np.eye(number), (count, 1, 1)), np.zeros((count, number))

    class Rows(linear.LinearConstraint):
        def __init__(self):
            super().__init__()
            self.identical, self.dof, self._format_string = False, 1, ""
            self.discretization_type = kind.Interpolation

        def compute_constraint_params(self, path, gridpoints, *_):
            widest = np.tile([-1e8, 1e8], (count, 1))
            given = rows.a, rows.b, -np.ones_like(rows.a), *each, bounds, widest, gridpoints
            return (*linear.canlinear_colloc_to_interpolate(*given)[:5], None, bounds)

    class Line(pytest.importorskip("toppra.interpolator").AbstractGeometricPath):
        dof, path_interval, waypoints = 1, s[[0, -1]], None

        def __call__(self, at, order=0):
            return np.zeros((np.size(at), 1))

    algorithm = pytest.importorskip("toppra.algorithm")
    peer = algorithm.TOPPRA([Rows()], Line(), gridpoints=s, solver_wrapper="seidel")
    return peer.compute_parameterization(0.0, 0.0)[1] ** 2


def from_rest_to_rest(ceiling):
    ceiling = ceiling.copy()
    ceiling[[0, -1]] = 1e-12
    return ceiling


def zero_inertia_ceiling(step, ceiling, rows):
    """Upper bounds of ṡ² with 1 / b at both ends of an interval in which a row trades one for the other."""
    bound = ceiling.copy()
    for node, column in zip(*np.nonzero(np.abs(rows.a) < 2.0 * step * rows.b), strict=True):
        neighbour = node + int(np.sign(rows.a[node, column]))
        for end in {node, neighbour} & set(range(len(bound))):
            bound[end] = min(bound[end], 1.0 / rows.b[node, column])
    return bound


@pytest.mark.parametrize("seed", [1, 2, 3])
def test_same_rate_as_toppra_with_zero_inertia_points_bounded(seed):
    s, limit, rows, _ = sines(seed, 481)
    ceiling = from_rest_to_rest(limit)
    peer = toppra_rate(s, zero_inertia_ceiling(s[1], ceiling, rows), rows)
    assert fastest_rate(s[1], ceiling, rows) == pytest.approx(peer, abs=1e-5)


@pytest.mark.parametrize("seed", [1, 2, 3])
def test_bounds_at_zero_inertia_points_cost_less_than_the_grid_resolves(seed):
    """Against toppra without them: the difference falls with the square of the step."""
    lost = []
    for count in (121, 241, 481):
        s, limit, rows, _ = sines(seed, count)
        ceiling = from_rest_to_rest(limit)
        peer, own = toppra_rate(s, ceiling, rows), fastest_rate(s[1], ceiling, rows)
        lost.append(np.abs(own - peer).max())
    assert lost[0] <= 1e-2
    assert lost[2] <= 2e-4


def corners(seed, count=101):
    """Random path whose joints change their speed within a node, as at limits, and turn around often."""
    rng = np.random.default_rng(seed)
    step, joints = 0.01, int(rng.integers(1, 5))
    first = np.cumsum(rng.normal(0.0, 0.02, (count, joints)) * (rng.random((count, joints)) < 0.3), axis=0)
    first -= rng.choice(first.ravel(), joints)
    second = np.gradient(first, step, axis=0) + rng.normal(0.0, 0.3, (count, joints))
    # q′ = 0 exactly at some nodes.
    first[rng.random((count, joints)) < 0.05] = 0.0
    rows = PathConstraints(np.hstack([first, -first]), np.hstack([second, -second]))
    return step, rng.uniform(0.5, 1.0, count), rows


@settings(max_examples=20, deadline=None)
@given(seed=st.integers(0, 10_000))
def test_same_rate_as_toppra_on_random_paths_with_zero_inertia_points(seed):
    step, ceiling, rows = corners(seed)
    ceiling = from_rest_to_rest(ceiling)
    peer = toppra_rate(step * np.arange(len(ceiling)), zero_inertia_ceiling(step, ceiling, rows), rows)
    assert fastest_rate(step, ceiling, rows) == pytest.approx(peer, abs=1e-6)


@settings(max_examples=60, deadline=None)
@given(seed=st.integers(0, 10_000))
def test_never_slower_anywhere_than_one_factor_for_all(seed):
    step, ceiling, rows = corners(seed)
    square, constant = fastest_rate(step, ceiling, rows), constant_rate(ceiling, rows)
    assert constant == pytest.approx(1.0 / max((1.0 / ceiling).max(), rows.b.max()))
    assert square.min() >= constant * (1.0 - 1e-9)
    assert (square <= ceiling).all()
    acceleration = np.diff(square)[:, None] / (2.0 * step)
    for end in (slice(0, -1), slice(1, None)):
        assert (rows.a[end] * acceleration + rows.b[end] * square[end, None]).max() <= 1.0 + 1e-7
    smooth = reduce_rate(step, smooth_rate(square, 10), ceiling, rows, 10)
    assert duration(step, smooth) <= duration(step, np.full(len(square), constant)) * (1.0 + 1e-9)
    assert constraint_use(step, smooth, ceiling, rows).max() <= 1.0 + 1e-5


def test_a_zero_inertia_point_does_not_stop_the_motion_as_it_does_with_toppra():
    """q′ crosses zero between two nodes, with curvature at the first: toppra takes all of its x."""
    step, count = 0.01, 41
    a, b = np.full((count, 1), -0.02), np.full((count, 1), 0.1)
    a[20:], b[20], a[20] = 0.03, 2.2, 0.0005
    rows, ceiling = PathConstraints(a, b), np.ones(count)
    s = step * np.arange(count)
    stopped = toppra_rate(s, from_rest_to_rest(ceiling), rows)
    assert stopped[1:-1].min() < 1e-3
    assert fastest_rate(step, ceiling, rows).min() == pytest.approx(1.0 / 2.2)


@settings(max_examples=30, deadline=None)
@given(seed=st.integers(0, 10_000))
def test_never_above_the_ceiling_and_inside_all_constraints(seed):
    rng = np.random.default_rng(seed)
    rows = PathConstraints(rng.normal(size=(60, 5)), rng.normal(size=(60, 5)))
    ceiling = rng.uniform(0.1, 1.0, 60)
    square = fastest_rate(0.05, ceiling, rows)
    assert (square > 0.0).all()
    assert (square <= ceiling).all()
    acceleration = np.diff(square)[:, None] / 0.1
    for end in (slice(0, 59), slice(1, 60)):
        use = rows.a[end] * acceleration + rows.b[end] * square[end, None]
        assert use.max() <= 1.0 + 1e-7


def test_smoothing_lowers_only_and_bounds_the_second_derivative():
    rng = np.random.default_rng(0)
    step, half = 0.01, 10
    square = np.where(np.arange(400) // 37 % 2, 1.0, rng.uniform(0.1, 1.0, 400))
    smooth = smooth_rate(square, half)
    assert (smooth <= square + 1e-12).all()
    assert smooth.min() == pytest.approx(square.min(), rel=0.2)
    width = (half + 1) * step
    assert np.abs(np.diff(smooth, 2)).max() / step**2 <= np.pi / width**2 * np.ptp(square) * 1.01
    assert smooth_rate(square, 0) is square


def test_a_rate_is_reduced_where_it_breaks_a_constraint_and_nowhere_else():
    count, step = 400, 0.01
    b = np.full((count, 1), 0.5)
    b[200:210] = 4.0
    rows, ceiling = PathConstraints(np.full((count, 1), 0.01), b), np.ones(count)
    reduced = reduce_rate(step, np.ones(count), ceiling, rows, 10)
    assert constraint_use(step, reduced, ceiling, rows).max() <= 1.0 + 1e-6
    assert (reduced[200:210] <= 0.25 + 1e-9).all()
    assert (reduced[:170] == 1.0).all()
    assert (reduced[240:] == 1.0).all()


def test_what_holds_already_is_not_reduced():
    rows = PathConstraints(np.full((50, 1), 0.01), np.full((50, 1), 0.5))
    square = np.full(50, 0.9)
    assert (reduce_rate(0.01, square, np.ones(50), rows, 5) == square).all()
