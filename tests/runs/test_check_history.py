import numpy as np
import pytest

from simbench.runs.check_history import FALSE_ALARM_RATE, FEWEST, find_changes

COUNT = 20


def noise(seed, size=1.0):
    return size * np.random.default_rng(seed).normal(size=COUNT)


@pytest.mark.parametrize("seed", range(5))
def test_a_step_in_noise_is_found_where_it_is(seed):
    values = 10.0 + noise(seed) + np.where(np.arange(COUNT) >= 11, 8.0, 0.0)
    (change,) = find_changes(values, 0.0, series=300)
    assert (change.kind, change.first, change.last) == ("step", 11, COUNT - 1)
    assert change.before == pytest.approx(values[:11].mean())
    assert change.after == pytest.approx(values[11:].mean())
    assert change.chance <= FALSE_ALARM_RATE


@pytest.mark.parametrize("seed", range(5))
def test_a_drift_in_noise_is_one_drift_and_no_step(seed):
    values = 10.0 + noise(seed) + 0.6 * np.arange(COUNT)
    (change,) = find_changes(values, 0.0, series=300)
    assert (change.kind, change.last) == ("drift", COUNT - 1)
    assert change.first <= 4
    assert change.after - change.before == pytest.approx(0.6 * (COUNT - 1 - change.first), rel=0.4)


def test_a_step_and_its_return_are_two_steps():
    values = noise(1) + np.where((np.arange(COUNT) >= 8) & (np.arange(COUNT) < 13), 9.0, 0.0)
    first, second = find_changes(values, 0.0, series=100)
    assert (first.kind, first.first, first.last) == ("step", 8, 12)
    assert (second.kind, second.first, second.last) == ("step", 13, COUNT - 1)
    assert second.after == pytest.approx(0.0, abs=1.0)


def test_noise_is_marked_as_rarely_as_is_promised():
    """Of 100 pages of 100 metrics, two or more with a false mark have a probability of at most 0.5 %."""
    generator = np.random.default_rng(2026)
    pages = generator.normal(size=(100, 100, COUNT))
    marked = sum(any(find_changes(series, 0.0, series=100) for series in page) for page in pages)
    assert marked <= 1
    # The correction is what keeps them out: alone, more of the series are marked by chance.
    alone = sum(bool(find_changes(series, 0.0)) for page in pages for series in page)
    assert 0 < alone <= 2 * FALSE_ALARM_RATE * pages.shape[0] * pages.shape[1]


def test_values_without_noise_are_marked_beyond_the_tolerance_and_not_for_rounding():
    level = np.full(COUNT, 1.0)
    assert find_changes(level, 0.01) == ()
    assert find_changes(level + noise(3, 1e-15), 0.01) == ()
    rounding = np.where(np.arange(COUNT) >= 9, 1e-9, 0.0)
    assert find_changes(level + rounding, 0.01, series=5000) == ()
    (change,) = find_changes(level + 2e7 * rounding, 0.01, series=5000)
    assert (change.first, change.before, change.after) == (9, pytest.approx(1.0), pytest.approx(1.02))


def test_one_value_off_is_no_step():
    values = np.zeros(COUNT)
    values[12] = 5.0
    assert find_changes(values, 0.0) == ()


def test_too_few_values_are_not_looked_at_and_long_series_to_their_end():
    step = np.repeat([0.0, 1.0], FEWEST // 2)
    assert find_changes(step[1:], 0.0) == ()
    assert [change.first for change in find_changes(step, 0.0)] == [FEWEST // 2]
    long = np.concatenate((np.zeros(700), np.ones(100)))
    assert [(change.first, change.last) for change in find_changes(long, 0.0)] == [(700, 799)]


def test_nothing_is_found_in_nothing():
    assert find_changes([], 0.0) == ()
